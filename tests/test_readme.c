// What README.md shows must work: its command lines, and its scenario.
#include <unistd.h>

#include "tests/script.h"
#include "tests/test.h"

static char *readme(void) {
    FILE *file = fopen("README.md", "r");
    static char text[65536];
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[bytes] = '\0';
    return text;
}

LONG_TEST(8, every_command_line_of_the_readme_runs) { EXPECT(test_page("README.md", "\n") >= 15); }

TEST(the_scenario_of_the_readme_runs_and_its_expectations_hold) {
    static char output[1 << 16];
    char *text = readme(), *begin = strstr(text, "```lua\n"), *end = begin ? strstr(begin + 7, "```") : NULL;
    EXPECT(begin && end);
    if (!begin || !end) return;
    char path[64], command[128];
    snprintf(path, sizeof path, "/tmp/lockstep-readme-%d.lua", (int)getpid());
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fwrite(begin + 7, 1, (size_t)(end - begin - 7), file);
    fclose(file);
    snprintf(command, sizeof command, "$LOCKSTEP run %s", path);
    int status = test_shell(command, output, sizeof output);
    if (status != 0) test_fail(__FILE__, __LINE__, "exit %d: %.1500s", status, output);
    remove(path);
}

TEST(every_lesson_runs) {
    static const char *const names[] = {
        "gpipe_by_hand", "ring_all_reduce",  "ddp_by_hand",      "halving_doubling",    "ddp_twin",
        "fsdp_twin",     "one_f_one_b_twin", "interleaved_twin", "ring_attention_twin", "expert_parallel_twin"};
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[256];
        snprintf(command, sizeof command, "$LOCKSTEP run scenarios/lessons/%s.lua --plain", names[i]);
        EXPECT_INT(test_shell(command, output, sizeof output), 0);
    }
}

// A job that is too large for its GPUs, and the same when it is known to have run.
TEST(a_run_that_is_known_to_have_run_is_simulated_when_it_is_assumed_to_fit) {
    static char output[1 << 16];
    for (int assume_fits = 0; assume_fits <= 1; assume_fits++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "local sim = require \"lockstep\"\n"
                 "return sim.study { on = sim.cluster { node = \"dgx-a100\", gpus = 8 }, assume_fits = %s,\n"
                 "  run = sim.training { model = \"gpt3-13b\", batch = { global = 8 } },\n"
                 "  published = { { step_time = \"1 s\", source = \"nobody\" } } }\n",
                 assume_fits ? "true" : "false");
        EXPECT_INT(run_script_text(script, "--json --wall=off", output, sizeof output, NULL), assume_fits ? 0 : 3);
        EXPECT_CONTAINS(output, assume_fits ? "\"ran\": true" : "\"ran\": false");
        if (!assume_fits) EXPECT_CONTAINS(output, "\"simulated\": null");
    }
}
