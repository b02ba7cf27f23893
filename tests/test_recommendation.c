// What an answer ends with: the same four things on the screen and in JSON.
#include "sim/base/check.h"
#include "sim/data/json.h"
#include "sim/data/record.h"
#include "tests/child.h"
#include "tests/test.h"

static char screen[1 << 16], text[1 << 20];

// The words under the table are those of the JSON answer.
static void expect_same(const char *command) {
    static const char *const titles[] = {"Recommended", "how surely", "weakest assumption", "measure first"};
    static const char *const keys[] = {"choice", "chance", "weakest_assumption", "measure_first"};
    char line[1024];
    snprintf(line, sizeof line, "LC_ALL=C.UTF-8 COLUMNS=1000 $LOCKSTEP %s%s", command, " -v");
    int status = test_shell(line, screen, sizeof screen);
    EXPECT(status == 0 || status == 3);
    snprintf(line, sizeof line, "LC_ALL=C.UTF-8 $LOCKSTEP %s --json", command);
    status = test_shell(line, text, sizeof text);
    EXPECT(status == 0 || status == 3);
    Arena *arena = arena_open();
    const Json *answer = json_read_text(arena, "answer", text, strlen(text), problems_create(arena));
    CHECK(answer);
    const Json *recommendation = json_get(answer, "recommendation");
    CHECK(recommendation);
    for (int i = 0; i < 4; i++) {
        const Json *value = json_get(recommendation, keys[i]);
        CHECK(value);
        EXPECT((strstr(screen, titles[i]) != NULL) == (value->text != NULL) || (i == 0 && strstr(screen, titles[0])));
        if (value->text) EXPECT(strstr(screen, value->text) != NULL);
    }
    arena_close(arena);
}

TEST(plans_and_lives_end_in_a_recommendation) {
    expect_same("plan --model gpt3-1.3b --tokens 20B --seq 2048 --global-batch 256 --node dgx-a100-80gb,dgx-h100 "
                "--fabric ib-hdr200 --gpus 8,16 --by 20d --budget 20k --date 2026-11-21");
    expect_same("plan --model gpt3-1.3b --tokens 20B --seq 2048 --global-batch 256 --node dgx-h100 "
                "--gpus 8 --by 20d --budget 10 --date 2026-11-21");
    expect_same("goodput --gpus 1024 --work 5 --by 6d --checkpoint-size 1TB --best --runs 20");
}
