// --last: the question before, asked again with other options.
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "tests/test.h"

static char said[1 << 16], folder[64];

// With a state folder of the test's own, in which every question is kept.
static int asked(const char *line) {
    char command[1024];
    snprintf(command, sizeof command, "cd %s && export XDG_STATE_HOME=%s/state LOCKSTEP_LAST=always && %s", folder,
             folder, line);
    return test_shell(command, said, sizeof said);
}

static void open_folder(const char *name) {
    char program[512];
    snprintf(folder, sizeof folder, "/tmp/lockstep-last-%s-XXXXXX", name);
    EXPECT(mkdtemp(folder) != NULL);
    // The program's path may be relative to where the tests run.
    snprintf(program, sizeof program, "ln -s $(realpath $LOCKSTEP) %s/lockstep", folder);
    EXPECT_INT(test_shell(program, said, sizeof said), 0);
}

static void remove_folder(void) { asked("rm -r $PWD"); }

TEST(a_question_is_asked_again_with_other_options) {
    open_folder("again");
    EXPECT_INT(asked("./lockstep memory --model gpt2-124m --gpu A100 --micro-batch 1 --json -o first.json"), 0);
    EXPECT_INT(asked("./lockstep memory --last --micro-batch=4 --csv 2>&1 >/dev/null"), 0);
    EXPECT_CONTAINS(said, "lockstep memory --model gpt2-124m --gpu A100 --micro-batch=4 --csv\n");
    EXPECT_CONTAINS(said, "! Asked again, of 20");
    // The same as when it is said in full; and what was asked again is the last question now.
    EXPECT_INT(asked("./lockstep memory --last -q --plain >again; ./lockstep memory --model gpt2-124m --gpu A100 "
                     "--micro-batch 4 --plain | cmp - again && echo same"),
               0);
    EXPECT_TEXT(said, "same\n");
    EXPECT_INT(asked("./lockstep diff --last 2>&1"), 2); // two answers are named, not the last
    EXPECT_CONTAINS(said, "no option is called \"--last\"");
    remove_folder();
}

TEST(each_command_has_a_last_question_of_its_own) {
    open_folder("own");
    EXPECT_INT(asked("./lockstep memory --model gpt2-124m --gpu A100 --micro-batch 1 >/dev/null"), 0);
    EXPECT_INT(asked("./lockstep power --node dgx-a100 >/dev/null"), 0);
    EXPECT_INT(asked("./lockstep memory --last 2>&1 >/dev/null"), 0);
    EXPECT_CONTAINS(said, "memory --model gpt2-124m");
    EXPECT_INT(asked("./lockstep power --last --nodes 2 2>&1"), 0);
    EXPECT_CONTAINS(said, "power --node dgx-a100 --nodes 2");
    EXPECT_CONTAINS(said, "2 x dgx-a100");
    EXPECT_INT(asked("./lockstep cost --last 2>&1"), 2);
    EXPECT_CONTAINS(said, "--last: no question of lockstep cost is kept");
    remove_folder();
}

TEST(what_is_not_understood_and_what_must_not_be_is_not_kept) {
    open_folder("not");
    EXPECT_INT(asked("./lockstep power --nodee dgx-a100 2>/dev/null"), 2);
    EXPECT_INT(asked("./lockstep power --help >/dev/null"), 0);
    EXPECT_INT(asked("./lockstep power --node dgx-a100 --no-last >/dev/null"), 0);
    EXPECT_INT(asked("LOCKSTEP_LAST=never ./lockstep power --node dgx-a100 >/dev/null"), 0);
    EXPECT_INT(asked("unset LOCKSTEP_LAST; ./lockstep power --node dgx-a100 2>/dev/null >&2"), 0); // no terminal
    EXPECT_INT(asked("test ! -e state"), 0);
    EXPECT_INT(asked("touch state; ./lockstep power --node dgx-a100"), 0); // no folder can be made: no error
    EXPECT_INT(asked("rm state; mkdir -p state/lockstep; echo '{ nonsense' >state/lockstep/last.json; ./lockstep power "
                     "--node dgx-a100 2>&1 >/dev/null"),
               0);
    EXPECT_TEXT(said, "");
    EXPECT_INT(asked("./lockstep power --last 2>/dev/null"), 0); // mended by being written anew
    remove_folder();
}

TEST(a_script_is_found_from_another_folder_and_its_own_options_are_kept) {
    open_folder("script");
    EXPECT_INT(asked("printf 'local sim = require \"lockstep\"\\nlocal opt = sim.options { n = { default = 8, help = "
                     "\"GPUs\" } }\\nreturn sim.study { on = sim.cluster { node = \"dgx-a100\", fabric = "
                     "\"ib-hdr200\", gpus = opt.n }, run = "
                     "sim.training { model = \"gpt2-124m\", seq_len = 1024, batch = { micro = 1, global = 64 } } }\\n' "
                     ">mine.lua; ./lockstep run mine.lua --n 16 >/dev/null"),
               0);
    EXPECT_INT(
        asked("mkdir there; cd there; ../lockstep run --last --csv 2>said | sed -n 2p | cut -d, -f1,2; cat said"), 0);
    EXPECT_CONTAINS(said, "16,2\n");
    EXPECT_CONTAINS(said, "/mine.lua --n 16 --csv");
    EXPECT_INT(asked("./lockstep report --last -o page.html 2>&1 && grep -c '<html' page.html"), 0);
    EXPECT_CONTAINS(said, "lockstep report run ");
    EXPECT_INT(asked("cd there; ../lockstep run --last --n 8 2>&1"), 2); // what it means only the script knows
    EXPECT_CONTAINS(said, "--n is given twice");
    remove_folder();
}

#define JOB "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 16 --seq 1024"

TEST(explain_asks_why_of_the_last_question_of_any_kind_that_it_explains) {
    open_folder("why");
    EXPECT_INT(asked("./lockstep " JOB
                     " --plain >/dev/null && ./lockstep queue --gpus 64 --load 0.9 --jobs 300 --seeds "
                     "1 --policy fifo >/dev/null"),
               0);
    EXPECT_INT(asked("./lockstep explain --last 2>&1"), 0);
    EXPECT_CONTAINS(said, "lockstep explain queue --gpus 64");
    EXPECT_CONTAINS(said, "under fifo on 64 GPUs");
    EXPECT_INT(asked("./lockstep goodput --gpus 64 --days 3 --runs 20 >/dev/null; ./lockstep explain queue --last "
                     "--policy easy 2>&1"),
               0);
    EXPECT_CONTAINS(said, "under easy on 64 GPUs");
    EXPECT_INT(asked("./lockstep explain goodput --last 2>&1 && ./lockstep " JOB
                     " >/dev/null && ./lockstep explain --last "
                     "--why-only 2>&1"),
               0);
    EXPECT_CONTAINS(said, "lockstep explain goodput --gpus 64");
    EXPECT_CONTAINS(said, "lockstep explain --model gpt2-124m");
    EXPECT_INT(asked("./lockstep explain collective --last 2>&1"), 2);
    EXPECT_CONTAINS(said, "--last: no question of lockstep collective is kept");
    remove_folder();
}

// ---- The line that names the next command.

static const struct {
    const char *command, *line;
} questions[] = {
    {"plan", "plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100 --gpus 8 --global-batch 64 --price 2 -j 1"},
    {"memory", "memory --model gpt2-124m --gpu A100 --micro-batch 1"},
    {"goodput", "goodput --node dgx-h100 --gpus 64 --days 3d --runs 20"},
    {"queue", "queue --gpus 64 --load 0.5 --jobs 200 --policy fifo"},
};

TEST(the_next_command_is_one_that_runs) {
    char line[1024];
    open_folder("next");
    for (int i = 0; i < next_command_count; i++) {
        const char *question = NULL;
        for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
            if (strcmp(questions[q].command, next_commands[i].after) == 0) question = questions[q].line;
        if (!question) test_fail(__FILE__, __LINE__, "no question of %s is here", next_commands[i].after);
        if (!question) continue;
        snprintf(line, sizeof line, "LOCKSTEP_NEXT=always ./lockstep %s 2>/dev/null | tail -1", question);
        EXPECT_INT(asked(line), 0);
        EXPECT_CONTAINS(said, next_commands[i].line);
        snprintf(line, sizeof line, "./%s -q 2>&1 >/dev/null", next_commands[i].line);
        if (asked(line) != 0) test_fail(__FILE__, __LINE__, "%s: %s", next_commands[i].line, said);
    }
    remove_folder();
}

#define ASKED "queue --gpus 64 --load 0.5 --jobs 200 --policy fifo"

TEST(only_answers_for_people_name_the_next_command) {
    static const char *const others[] = {"--json", "--csv", "--plain", "-q", "-o file", "--no-last"};
    char line[512];
    open_folder("others");
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line, "LOCKSTEP_NEXT=always ./lockstep " ASKED " %s | grep -c Next", others[i]);
        EXPECT_INT(asked(line), 1);
    }
    EXPECT_INT(asked("./lockstep " ASKED " | grep -c Next"), 1); // no terminal
    EXPECT_INT(asked("LOCKSTEP_NEXT=always ./lockstep " ASKED " --plot | grep -c Next"), 1);
    EXPECT_INT(asked("LOCKSTEP_NEXT=always ./lockstep " ASKED " | grep -c '^Next '"), 0);
    EXPECT_INT(asked("LOCKSTEP_NEXT=always ./lockstep goodput --node dgx-h100 --gpus 64 --days 3d --runs 20 | "
                     "grep -c '^Next '"),
               0);
    EXPECT_TEXT(said, "1\n"); // this one, in place of the answer's own
    remove_folder();
}
