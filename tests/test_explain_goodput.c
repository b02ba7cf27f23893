// Why not all of a long job's time is training: hours that are lost sum, and what explain says of other settings and
// machines is what lockstep goodput prints of them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/commands/commands.h"
#include "scenarios/commands/command_goodput.h"
#include "scenarios/explain/command_explain.h"
#include "sim/json.h"
#include "tests/command.h"
#include "tests/test.h"

static const Json *answer_to(Arena *arena, int (*command)(int, char **), const char *line) {
    const Ended *ended = run_command(command, line);
    EXPECT_INT(ended->code, 0);
    Problems *problems = problems_create(arena);
    const Json *answer = json_read_text(arena, "answer", ended->out, strlen(ended->out), problems);
    EXPECT_INT(problem_count(problems), 0);
    return answer;
}

static double number(const Json *object, const char *key) { return json_get(object, key)->number; }

static const Json *row_called(const Json *rows, const char *key, const char *name) {
    for (int i = 0; i < rows->count; i++)
        if (strcmp(json_get(&rows->items[i], key)->text, name) == 0) return &rows->items[i];
    return NULL;
}

static double sum_of(const Json *rows, const char *key) {
    double sum = 0;
    for (int i = 0; i < rows->count; i++) sum += number(&rows->items[i], key);
    return sum;
}

#define JOB "--gpus 1024 --days 20 --runs 30 --seed 3"

TEST(hours_that_are_lost_sum_to_all_but_training_and_stops_to_what_they_bring) {
    static const char *const lines[] = {JOB, JOB " --spot-mtbf 30d --spares 0",
                                        "--gpus 256 --work 5 --runs 20 --node-mtbf 20d --checkpoint memory"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Arena *arena = arena_open();
        const Json *answer =
            answer_to(arena, command_explain, arena_printf(arena, "explain goodput %s --json", lines[i]));
        const Json *plain = answer_to(arena, command_goodput, arena_printf(arena, "goodput %s --json", lines[i]));
        const Json *time = json_get(plain, "time"), *lost = json_get(answer, "lost");
        EXPECT_NEAR(sum_of(lost, "share"), 1 - number(time, "training"), 1e-9);
        EXPECT_NEAR(sum_of(lost, "lost_share"), 1, 1e-12);
        EXPECT_NEAR(sum_of(lost, "hours"), sum_of(lost, "share") * 24 * number(json_get(plain, "days"), "mean"), 1e-9);
        double brought = 0;
        static const char *const times[] = {"rework", "detection", "waiting", "restart"};
        for (int t = 0; t < 4; t++) brought += number(time, times[t]);
        EXPECT_NEAR(sum_of(json_get(answer, "stops"), "share"), brought, 1e-9);
        arena_close(arena);
    }
}

TEST(what_explain_says_of_another_life_is_what_goodput_prints_of_it) {
    static const struct {
        const char *table, *name, *said, *twin;
    } rows[] = {
        {"settings", "checkpoint-every", "", "--checkpoint-every best"},
        {"settings", "strikes", "", "--strikes 3"},
        {"settings", "spares", "--spares 2", "--spares 3"},
        {"settings", "spares-twice", "--spares 2", "--spares 4"},
        {"settings", "checkpoint-async", "", "--checkpoint async"},
        {"settings", "checkpoint-memory-often", "--model llama-2-7b",
         "--model llama-2-7b --checkpoint memory "
         "--checkpoint-every 60s"},
        {"machines", "restart", "--restart 10min", "--restart 5min"},
        {"machines", "repair", "--repair 2d", "--repair 1d"},
        {"machines", "bad-nodes", "", "--bad-share 0"},
        {"machines", "spot", "--spot-mtbf 30d", "--spot-mtbf 60d"},
        {"machines", "storage", "--checkpoint-size 20TB --storage-units 2", "--checkpoint-size 20TB --storage-units 4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_open();
        const Json *answer =
            answer_to(arena, command_explain, arena_printf(arena, "explain goodput " JOB " %s --json", rows[i].said));
        const Json *plain =
            answer_to(arena, command_goodput, arena_printf(arena, "goodput " JOB " %s --json", rows[i].said));
        const Json *twin =
            answer_to(arena, command_goodput, arena_printf(arena, "goodput " JOB " %s --json", rows[i].twin));
        const Json *row = row_called(json_get(answer, rows[i].table), "name", rows[i].name);
        double goodput = number(json_get(twin, "goodput"), "mean"), before = number(json_get(plain, "goodput"), "mean");
        if (!row || fabs(number(row, "goodput") - goodput) > 1e-9)
            test_fail(__FILE__, __LINE__, "%s: explain has %g, goodput %s has %g", rows[i].name,
                      row ? number(row, "goodput") : NAN, rows[i].twin, goodput);
        if (row) EXPECT_NEAR(number(row, "gain") + 1, goodput - before + 1, 1e-9);
        arena_close(arena);
    }
}

TEST(half_as_many_failures_give_time_back_and_stop_the_job_half_as_often) {
    Arena *arena = arena_open();
    const Json *answer = answer_to(arena, command_explain, "explain goodput " JOB " --fleet-spread 0 --json");
    const Json *row = row_called(json_get(answer, "machines"), "name", "failures");
    EXPECT(number(row, "gain") > 2 * number(row, "half"));
    arena_close(arena);
}

TEST(explain_goodput_says_in_words_what_is_lost_and_what_helps) {
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 40");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "of the time is training (90 % of lives:");
    EXPECT_CONTAINS(ended->out, "Of 480.0 h, ");
    EXPECT_CONTAINS(ended->out, "Change first: ");
    EXPECT_CONTAINS(ended->out, "half as many failures makes it");
}

TEST(explain_goodput_refuses_what_it_does_not_weigh_and_jobs_that_never_end) {
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 64 --work 3 --by 4d");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--by is for lockstep goodput");
    ended = run_command(command_explain, "explain goodput --gpus 64");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "for how long? say --days or --work");
    ended = run_command(command_explain, "explain goodput --gpus 100000 --work 300 --node-mtbf 10h");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->err, "the job never gets done: ");
}

TEST(an_explained_goodput_is_the_same_for_any_number_of_processes) {
    char alone[65536];
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 60 -j 1");
    EXPECT_INT(ended->code, 0);
    snprintf(alone, sizeof alone, "%s", ended->out);
    ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 60 -j 3");
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->out, alone);
}
