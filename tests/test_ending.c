// How the program ends: what it printed is printed or it fails with a sentence, and nothing half done stays.
#include <dirent.h>
#include <fcntl.h>

#include "sim/system/file.h"
#include "sim/system/process.h"
#include "tests/child.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

static const char *const printing[] = {
    "--help",
    "--version",
    "hw list",
    "hw show H100",
    "run --print-api",
    "run --help",
    "model list",
    "calibrate recovery --trials 1",
    "cost --node dgx-h100 --price 2 --nodes 2 --fabric ib-ndr400",
    "power --node dgx-h100",
    "power --node dgx-h100 --json",
    "power --help",
    "queue --mixes",
    "memory --model gpt2-124m --gpu H100",
    "flops --model gpt2-124m",
    "params --model gpt2-124m",
    "topo --node dgx-h100",
    "packets incast --hosts 4 --size 20kB",
    "collective all_reduce --node dgx-h100 --gpus 8",
    "sweep --help",
    "merge --help",
};
enum { PRINTING = sizeof printing / sizeof *printing };

static int run_line(const char *before, const char *command, const char *behind) {
    char line[512];
    snprintf(line, sizeof line, "%s$LOCKSTEP %s %s", before, command, behind);
    return shell(line);
}

TEST(a_standard_output_that_is_full_or_closed_is_a_sentence_and_exit_1) {
    for (int i = 0; i < PRINTING; i++) {
        int full = run_line("", printing[i], "> /dev/full");
        if (full != 1 || !strstr(output, "error: standard output cannot be written: No space left on device"))
            test_fail(__FILE__, __LINE__, "%s > /dev/full: exit %d, %.200s", printing[i], full, output);
        int closed = run_line("", printing[i], ">&-");
        if (closed != 1 || !strstr(output, "error: standard output cannot be written"))
            test_fail(__FILE__, __LINE__, "%s >&-: exit %d, %.200s", printing[i], closed, output);
    }
    clear();
}

TEST(a_reader_that_goes_away_ends_the_program_quietly) {
    for (int i = 0; i < PRINTING; i++) {
        int status =
            run_line("bash -c '(trap \"\" PIPE; exec ", printing[i], ") 2>&3 | true; exit ${PIPESTATUS[0]}' 3>&1");
        bool quiet = (status == 0 || status == 141) && !*output;
        if (!quiet) test_fail(__FILE__, __LINE__, "%s | true: exit %d, %.200s", printing[i], status, output);
    }
    // More than a pipe holds: a shorter answer may be out before the reader has gone.
    EXPECT_INT(shell("bash -c '$LOCKSTEP hw list --json 2>&3 | true; exit ${PIPESTATUS[0]}' 3>&1"), 141);
    EXPECT_TEXT(output, "");
    clear();
}

TEST(no_command_fails_without_a_word) {
    static const char *const commands[] = {"run",       "plan",   "sweep",  "merge", "memory",     "flops",
                                           "params",    "hw",     "model",  "topo",  "collective", "goodput",
                                           "constants", "cost",   "power",  "queue", "calibrate",  "validate",
                                           "packets",   "lesson", "nothing"};
    static const char *const wrongs[] = {"",
                                         "--nothing",
                                         "/nowhere.lua",
                                         "show nothing",
                                         "--node nothing",
                                         "--model nothing --node dgx-h100",
                                         "--node dgx-h100 --gpus -3",
                                         "--node dgx-h100 --profile /nowhere.json",
                                         "--date nothing --node dgx-h100",
                                         "fit /nowhere.json",
                                         "reliability /nowhere.csv",
                                         "all_reduce --node dgx-h100 --gpus 0"};
    clear();
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        for (size_t w = 0; w < sizeof wrongs / sizeof *wrongs; w++) {
            char line[512];
            snprintf(line, sizeof line,
                     "cd {DIR} && $(realpath $OLDPWD/$LOCKSTEP 2> /dev/null || echo $LOCKSTEP) %s %s > /dev/null",
                     commands[c], wrongs[w]);
            int status = shell(line);
            bool silent = status != 0 && status != 3 && !*output;
            if (silent || status > 4)
                test_fail(__FILE__, __LINE__, "%s %s: exit %d, %.200s", commands[c], wrongs[w], status, output);
        }
    clear();
}

TEST(a_file_that_grows_beyond_its_limit_is_a_sentence_and_leaves_nothing) {
    clear();
    put_text("s.lua",
             "local sim = require 'lockstep'\n"
             "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 2 },\n"
             "  run = sim.training { model = 'mlp-mnist', batch = { micro = 8 } }, vary = { gpus = { 1, 2, 4 } } }\n");
    EXPECT_INT(shell("ulimit -f 1; $LOCKSTEP run {DIR}/s.lua -q -o {DIR}/out.json"), 1);
    EXPECT_CONTAINS(output, "cannot be written: File too large");
    EXPECT_INT(shell("ls {DIR}"), 0);
    EXPECT_TEXT(output, "s.lua\n");
    EXPECT_INT(shell("ulimit -f 8; $LOCKSTEP sweep {DIR}/s.lua -q -o {DIR}/s.db"), 1);
    EXPECT_CONTAINS(output, "error: ");
    EXPECT_INT(shell("$LOCKSTEP sweep {DIR}/s.lua -q -o {DIR}/s.db >{DIR}/said && rm {DIR}/said && ls {DIR}"), 0);
    EXPECT_TEXT(output, "s.db\ns.lua\n");
    clear();
}

#define JOB "--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"

TEST(a_stack_that_is_too_small_is_a_sentence_and_one_that_may_grow_is_made_larger) {
    static const char *const commands[] = {"memory --model gpt2-124m --gpu A100 --micro-batch 1", "run " JOB,
                                           "explain " JOB " --why-only", "run scenarios/lessons/ddp_twin.lua -q",
                                           "sweep " JOB " --vary tp=1,2 -j 2 -q -o {DIR}/s.db"};
    static const int refused[] = {64, 128, 256, 512}, *const end = refused + 4;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char before[64];
        for (const int *kib = refused; kib < end; kib++) {
            snprintf(before, sizeof before, "ulimit -c 0; ulimit -s %d; ", *kib);
            EXPECT_INT(run_line(before, commands[i], ""), 1);
            EXPECT_CONTAINS(output, "KiB here, and lockstep needs 1024 KiB\n  hint: allow more (ulimit -s 8192");
            snprintf(before, sizeof before, "ulimit -S -s %d; ", *kib); // its hard limit is as it was
            EXPECT_INT(run_line(before, commands[i], ">/dev/null"), 0);
        }
        if (!HAS_ADDRESS_SANITIZER) EXPECT_INT(run_line("ulimit -s 1024; ", commands[i], ">/dev/null"), 0);
    }
    clear();
}

TEST(files_do_not_take_the_place_of_streams_that_are_closed) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 -q -o {DIR}/whole.db"), 0);
    EXPECT_INT(shell("(" CHEAP "--vary gpus=1:8:1 -v -o {DIR}/s.db) <&- >&- 2>&-"), 1); // what it prints goes nowhere
    expect_same_store(in_folder("s.db"), in_folder("whole.db"));
    clear();
}

// ---- Temporaries.

static char temporary_folder[64];

static int files_in(const char *path) {
    int count = 0;
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list));) count += entry->d_name[0] != '.';
    if (list) closedir(list);
    return count;
}

static void write_half(void) {
    static OutputFile file;
    char path[128];
    Arena *arena = arena_open();
    program_begin();
    snprintf(path, sizeof path, "%s/out.json", temporary_folder);
    if (!file_create(arena, path, &file, problems_create(arena))) _exit(9);
    fprintf(file.stream, "{ half");
    fflush(file.stream);
    if (files_in(temporary_folder) != 1) _exit(8);
}

static void half_and_terminated(void) {
    write_half();
    raise(SIGTERM);
}

static void half_and_interrupted(void) {
    write_half();
    raise(SIGINT);
}

static void half_and_out_of_memory(void) {
    write_half();
    out_of_memory(1);
}

static void half_in_a_child(void) { // whose end is not its parent's
    write_half();
    if (fork() == 0) exit(1);
    wait(NULL);
    if (files_in(temporary_folder) != 1) _exit(7);
    exit(1);
}

TEST(whatever_ends_the_program_its_temporary_files_are_gone) {
    static const struct {
        void (*act)(void);
        int status;
    } cases[] = {{half_and_terminated, 128 + SIGTERM},
                 {half_and_interrupted, 128 + SIGINT},
                 {half_and_out_of_memory, 1},
                 {half_in_a_child, 1}};
    snprintf(temporary_folder, sizeof temporary_folder, "%s", folder());
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char said[1024];
        clear();
        EXPECT_INT(run_in_child(cases[c].act, said, sizeof said), cases[c].status);
        EXPECT_INT(files_in(temporary_folder), 0);
    }
    clear();
}
