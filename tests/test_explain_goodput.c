// Why not all of a long job's time is training: hours that are lost sum, and what explain says of other settings and
// machines is what lockstep goodput prints of them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "scenarios/questions/goodput.h"
#include "sim/data/json.h"
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
        EXPECT_NEAR(sum_of(lost, "hours"), sum_of(lost, "share") * 24 * number(json_get(plain, "days"), "p50"), 1e-9);
        double brought = 0;
        static const char *const times[] = {"rework", "detection", "waiting", "restart"};
        for (int t = 0; t < 4; t++) brought += number(time, times[t]);
        EXPECT_NEAR(sum_of(json_get(answer, "stops"), "share"), brought, 1e-9);
        arena_close(arena);
    }
}

// Of a calendar, at as many spares: training that is gained, on all GPUs of the job.
TEST(gpu_hours_given_back_are_the_points_gained_times_all_gpu_hours_of_a_calendar) {
    Arena *arena = arena_open();
    const Json *rows = json_get(answer_to(arena, command_explain, "explain goodput " JOB " --json"), "settings");
    int checked = 0;
    for (int i = 0; i < rows->count; i++) {
        const Json *row = &rows->items[i];
        if (strstr(json_get(row, "title")->text, "spare")) continue;
        double all = 24 * number(row, "days") * 1024;
        EXPECT(fabs(number(row, "gpu_hours") - all * number(row, "gain")) <= 1);
        EXPECT_NEAR(number(row, "gpu_hours_half"), all * number(row, "half"), 1e-6);
        EXPECT(fabs(number(row, "given_back_s") - 86400 * number(row, "days") * number(row, "gain")) <= 1);
        checked += number(row, "gain") != 0;
    }
    EXPECT(checked >= 3);
    arena_close(arena);
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
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 40 -v");
    EXPECT_INT(ended->code, 0);
    EXPECT(strstr(ended->out, "Change first: ") == ended->out);
    EXPECT_CONTAINS(ended->out, "points more (mean ");
    EXPECT_CONTAINS(ended->out, " of 480 h");
    EXPECT_CONTAINS(ended->out, "half as many failures 9");
    EXPECT_CONTAINS(ended->out, "\nNo help ");
    EXPECT_CONTAINS(ended->out, "\nAssumed ");
}

// The first row that helps is what is advised.
static const char *advised(Arena *arena, const Json *answer) {
    const Json *settings = json_get(answer, "settings"), *first = json_get(answer, "change_first");
    for (int i = 0; i < settings->count; i++) {
        const Json *row = &settings->items[i];
        if (strcmp(json_get(row, "verdict")->text, "helps") != 0) continue;
        EXPECT_TEXT(json_get(first, "option")->text, json_get(row, "option")->text);
        return arena_copy_text(arena, json_get(row, "option")->text);
    }
    return "";
}

// The line less those of its options that `said` says anew; all of them have a value.
static const char *without(Arena *arena, const char *line, const char *said) {
    const char *kept = "", *from = line;
    while (*from) {
        size_t name = strcspn(from, " "), value = name + 1 + strcspn(from + name + 1, " ");
        if (!strstr(said, arena_printf(arena, "%.*s ", (int)name, from)))
            kept = arena_printf(arena, "%s%.*s ", kept, (int)value, from);
        from += value + strspn(from + value, " ");
    }
    return kept;
}

#define SHORT_JOB "--gpus 256 --work 3 --node-mtbf 20d --spares 1 --model llama-2-7b --runs 60"

TEST(the_advised_change_run_as_its_own_command_gives_the_goodput_that_was_promised) {
    static const char *const lines[] = {JOB, JOB " --checkpoint-every best",
                                        JOB " --model llama-2-70b --checkpoint async",
                                        SHORT_JOB " --checkpoint memory --checkpoint-every 60s",
                                        "--gpus 2048 --work 9 --spares 0 --node-mtbf 200d --runs 25 --seed 9"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Arena *arena = arena_open();
        const Json *answer =
            answer_to(arena, command_explain, arena_printf(arena, "explain goodput %s --json", lines[i]));
        const char *said = advised(arena, answer);
        EXPECT(*said);
        const Json *twin = answer_to(arena, command_goodput,
                                     arena_printf(arena, "goodput %s%s --json", without(arena, lines[i], said), said));
        double promised = NAN;
        const Json *settings = json_get(answer, "settings");
        for (int k = 0; k < settings->count; k++)
            if (strcmp(json_get(&settings->items[k], "option")->text, said) == 0)
                promised = number(&settings->items[k], "goodput");
        EXPECT_NEAR(number(json_get(twin, "goodput"), "mean"), promised, 1e-12);
        EXPECT_NEAR(number(json_get(answer, "change_first"), "goodput"), promised, 1e-12);
        arena_close(arena);
    }
}

// A calendar: what is trained more, less the hours of more spare nodes. Work: what is paid for less long.
TEST(gpu_hours_given_back_are_those_trained_more_less_those_paid_more) {
    static const char *const lines[] = {JOB " --spares 4", "--gpus 1024 --work 20 --runs 30 --seed 3 --spares 4"};
    for (int w = 0; w < 2; w++) {
        Arena *arena = arena_open();
        const Json *answer =
            answer_to(arena, command_explain, arena_printf(arena, "explain goodput %s --json", lines[w]));
        const Json *plain = answer_to(arena, command_goodput, arena_printf(arena, "goodput %s --json", lines[w]));
        double days = number(json_get(plain, "days"), "mean");
        static const struct {
            const char *name;
            int spares;
        } rows[] = {{"strikes", 4}, {"spares", 5}, {"spares-half", 2}, {"spares-twice", 8}};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const Json *row = row_called(json_get(answer, "settings"), "name", rows[i].name);
            double then = number(row, "days"), gained = w == 0 ? number(row, "gain") * days * 24 * 1024 : 0;
            double paid = 24 * 8 * ((128 + rows[i].spares) * then - (128 + 4) * days);
            EXPECT_NEAR(number(row, "gpu_hours"), gained - paid, 0.51);
        }
        arena_close(arena);
    }
}

// 2.29 days of 512 GPUs are not 22,300 GPU-hours unless the spare node is said to be paid for.
TEST(gpu_hours_say_what_more_spare_nodes_took_of_them) {
    const Ended *ended =
        run_wide(command_explain, "explain goodput --gpus 512 --days 30 --spares 0 --model llama-2-70b --runs 60");
    EXPECT_CONTAINS(ended->out, "on 512 GPUs, less the 5,760 GPU-hours of 1 more spare node");
}

TEST(where_no_setting_helps_the_words_say_so_and_what_is_lost) {
    Arena *arena = arena_open();
    const Json *answer =
        answer_to(arena, command_explain,
                  "explain goodput --gpus 256 --days 10 --runs 60 --model llama-2-7b --checkpoint memory "
                  "--checkpoint-every 60s --node-mtbf 300d --strikes 3 --json");
    EXPECT_INT(json_get(json_get(answer, "change_first"), "option")->kind, JSON_NULL);
    const Json *settings = json_get(answer, "settings");
    for (int i = 0; i < settings->count; i++)
        EXPECT(strcmp(json_get(&settings->items[i], "verdict")->text, "helps") != 0);
    arena_close(arena);
}

TEST(a_price_of_ones_own_is_no_assumption) {
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 40 --price 2");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "; $");
    EXPECT(strstr(ended->out, "Assumed ") == NULL);
    ended = run_command(command_explain, "explain goodput --gpus 16 --node rtx4090-8gpu --days 20 --runs 10");
    EXPECT_CONTAINS(ended->out, "$0.53 a GPU-hour"); // below one too it is a price
    ended = run_command(command_explain, "explain goodput --gpus 1024 --days 20 --runs 40 --price 0");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "--price must be above 0");
}

TEST(explain_goodput_refuses_what_it_does_not_weigh_and_jobs_that_never_end) {
    const Ended *ended = run_command(command_explain, "explain goodput --gpus 64 --work 3 --best");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--best is for lockstep goodput");
    ended = run_command(command_explain, "explain goodput --gpus 64 --work 3 --by 4d --runs 20");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "By 4 days");
    ended = run_command(command_explain, "explain goodput --gpus 64");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "for how long? say --days or --work");
    ended = run_command(command_explain, "explain goodput --gpus 100000 --work 300 --node-mtbf 10h");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "0 % of the time is training");
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
