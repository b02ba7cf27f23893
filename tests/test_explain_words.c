// What a step's explanation says first: whether fewer GPUs do as well, what to change, and what each figure means.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/explain/explain.h"
#include "sim/base/text.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

#define SLOW_NETWORK "--model resnet-152 --node rtx3060-workstation --fabric eth-1g --micro-batch 64 --framework eager"

// The number behind "key": in an answer's JSON; NAN: it is not there.
static double member(const char *json, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static double run_member(const char *options, const char *key) {
    char line[512];
    snprintf(line, sizeof line, "run --json %s", options);
    const Ended *ended = run_command(command_run, line);
    EXPECT_INT(ended->code, 0);
    return member(ended->out, key);
}

// ---- Fewer GPUs.

TEST(what_more_gpus_are_measured_against_is_a_run_on_the_fewer) {
    EXPECT_SAME(run_member("--gpus 4 " SLOW_NETWORK, "baseline_gpus"), 1);
    EXPECT_SAME(run_member("--gpus 4 " SLOW_NETWORK, "baseline_samples_per_s"),
                run_member("--gpus 1 " SLOW_NETWORK, "samples_per_s"));
#define LLAMA "--model llama-2-7b --node dgx-h100 --tp 2 --zero 1 --micro-batch 1 "
    EXPECT_SAME(run_member(LLAMA "--gpus 8 --global-batch 32", "baseline_gpus"), 4); // 2 may not hold it
    EXPECT(run_member(LLAMA "--gpus 2 --global-batch 8", "chance_to_run_out") > 0.05);
    EXPECT_SAME(run_member(LLAMA "--gpus 8 --global-batch 32", "baseline_samples_per_s"),
                run_member(LLAMA "--gpus 4 --global-batch 16", "samples_per_s"));
}

TEST(what_does_not_fit_on_one_gpu_is_measured_against_the_fewest_that_hold_it) {
#define SHARDED "--model llama-2-7b --node dgx-h100 --zero 3 --micro-batch 1 --recompute full "
    double gpus = run_member(SHARDED "--gpus 8", "baseline_gpus");
    char line[512];
    EXPECT(gpus == 2 || gpus == 4);
    snprintf(line, sizeof line, "run " SHARDED "--gpus %.0f", gpus);
    EXPECT_INT(run_command(command_run, line)->code, 0);
    snprintf(line, sizeof line, "run --json " SHARDED "--gpus %.0f", gpus / 2);
    EXPECT(member(run_command(command_run, line)->out, "chance_to_run_out") > 0.05);
}

// It may run out of memory itself, and so may the fewer GPUs that it is measured against.
TEST(a_step_that_may_not_fit_is_said_to_be_one_if_it_fits) {
#define UNSURE "run --model llama-2-7b --node dgx-a100 --fabric ib-hdr200 --gpus 16 --tp 2 --micro-batch 1 --zero "
    const Ended *ended = run_wide(command_run, UNSURE "0 --global-batch 128");
    EXPECT_CONTAINS(ended->out, "; if it fits, a step takes ");
    EXPECT_CONTAINS(ended->out, "same batch per replica (may not fit");
    ended = run_command(command_run, UNSURE "1 --global-batch 128");
    EXPECT(!strstr(ended->out, "if it fits") && !strstr(ended->out, "may not fit"));
    EXPECT_CONTAINS(ended->out, "same batch per replica");
}

// Rarely is the best advice free: where memory fits less surely after it, both chances are said.
TEST(advice_that_raises_the_chance_to_run_out_says_from_what_to_what) {
    const Ended *ended =
        run_wide(command_explain, "explain -v --model gpt3-175b --node dgx-a100-80gb --gpus 512 "
                                  "--fabric ib-hdr200 --tp 8 --sequence-parallel=false --pp 8 --micro-batch 1 "
                                  "--global-batch 512 --recompute full");
    EXPECT_CONTAINS(ended->out, "; memory then runs out with a chance of 4.");
    EXPECT_CONTAINS(ended->out, " % instead of 1.");
    EXPECT_CONTAINS(ended->out, "of changes that surely fit and train the same --vpp 2 saves most alone");
}

TEST(machines_slower_than_one_are_said_first_with_the_network_and_what_one_does) {
    const Ended *ended = run_command(command_run, "run --gpus 4 " SLOW_NETWORK);
    EXPECT_CONTAINS(ended->out, "resnet-152 on 4 × RTX3060-12GB in 4 nodes over eth-1g");
    const char *says = strstr(ended->out, "! 4 GPUs are slower than 1"), *figures = strstr(ended->out, "Throughput");
    EXPECT(says && figures && says < figures);
    EXPECT_CONTAINS(ended->out, "over eth-1g (1 Gb/s Ethernet");
    ended = run_wide(command_explain, "explain --gpus 4 " SLOW_NETWORK);
    says = strstr(ended->out, "4 GPUs are slower than 1"), figures = strstr(ended->out, "Change first");
    EXPECT(says && figures && says < figures);
    ended = run_command(command_run, "run --gpus 8 --model resnet-50 --node dgx-a100-80gb --micro-batch 64");
    EXPECT(!strstr(ended->out, "slower than") && !strstr(ended->out, "hardly faster"));
}

TEST(fewer_gpus_as_a_change_are_a_run_on_so_many_with_the_same_global_batch) {
    const Ended *ended =
        run_command(command_explain, "explain --csv --table settings --gpus 4 --global-batch 256 " SLOW_NETWORK);
    const char *row = strstr(ended->out, "--gpus 1,");
    EXPECT(row != NULL);
    double step = row ? strtod(row + strlen("--gpus 1,"), NULL) : NAN;
    EXPECT_SAME(step, run_member("--gpus 1 --global-batch 256 " SLOW_NETWORK, "p50"));
}

// ---- Money.

TEST(without_a_price_explain_and_pages_take_the_list_price_and_say_so) {
#define GPT2 "--model gpt2-124m --node dgx-h100 --gpus 16 --fabric ib-ndr400 --micro-batch 4"
    const Ended *ended = run_command(command_run, "run --json --terms on_demand " GPT2);
    double hour = member(ended->out, "per_hour"), step = member(ended->out, "p50");
    ended = run_command(command_explain, "explain --csv --table settings " GPT2);
    const char *row = strstr(ended->out, "--gpus 8 --global-batch 64,");
    EXPECT(hour > 0 && row);
    double fields[6] = {NAN};
    for (int i = 0; row && i < 6; i++) {
        row = strchr(row, ',') + 1;
        fields[i] = strtod(row, NULL);
    }
    EXPECT_NEAR(fields[5], hour / 2 * fields[0] / 3600, 1e-12); // half the GPUs cost half
    ended = run_wide(command_explain, "explain -v " GPT2);
    char says[64];
    snprintf(says, sizeof says, "a step costs $%.2f", hour * step / 3600);
    if (hour * step / 3600 >= 0.01) EXPECT_CONTAINS(ended->out, says);
    EXPECT_CONTAINS(ended->out, "the price book's median of list prices on demand");
    ended = run_wide(command_explain, "explain -v --price 2 " GPT2);
    EXPECT(!strstr(ended->out, "which is assumed") && strstr(ended->out, "a step costs $"));
    ended = run_wide(command_explain, "explain -v --gpus 4 " SLOW_NETWORK);
    EXPECT_CONTAINS(ended->out, "not counted: the price book has no price on demand for RTX3060-12GB");
}

// ---- What leads, and what tables leave out.

static const char slow_network[] =
    "local sim = require \"lockstep\"\n"
    "return sim.study { on = sim.cluster { node = \"rtx3060-workstation\", fabric = \"eth-1g\", gpus = 4 },\n"
    "  run = sim.training { model = \"resnet-152\", batch = { micro = 64 }, framework = \"eager\" } }\n";

static const Explanation *explain_slow_network(Loaded *loaded) {
    *loaded = load_script(slow_network, NULL);
    ExplainRequest request = {.study = loaded->scenario->items[0].study};
    return explain_study(loaded->arena, &request, loaded->problems);
}

static Answer *answered(const Loaded *loaded, const Explanation *now) {
    Answer *answer = answer_create(loaded->arena, "explain");
    explain_step_answer(answer, loaded->arena, now, EXPLAIN_WITH_CHAIN);
    return answer;
}

static const char *shown(const Loaded *loaded, const Answer *answer, bool verbose) {
    char *room = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&room, &bytes);
    answer_as_text(loaded->arena, out, answer, &(Style){.unicode = true, .width = 1000}, verbose);
    fclose(out);
    const char *text = arena_copy_text(loaded->arena, room);
    free(room);
    return text;
}

TEST(the_first_change_is_told_with_what_the_step_becomes_and_what_it_takes_away) {
    Loaded loaded;
    const Explanation *now = explain_slow_network(&loaded);
    Lead lead;
    EXPECT(now->job.first && step_lead(loaded.arena, &now->job, &lead));
    EXPECT_TEXT(lead.value, now->job.first->title);
    const char *first = step_first(loaded.arena, &now->job);
    EXPECT_CONTAINS(first, text_time(loaded.arena, now->job.first->then));
    EXPECT_CONTAINS(lead.note, text_time(loaded.arena, now->job.first->then));
    EXPECT_CONTAINS(first, text_percent(loaded.arena, now->job.first->gain.mean / now->job.point.step_p50_s));
    EXPECT_CONTAINS(first, "time in data parallel falls from");
    EXPECT_CONTAINS(first, text_time(loaded.arena, now->job.point.exposed[CAUSE_DP].value));
    EXPECT(now->job.first->gain.mean >= now->job.next->gain.mean);
    unload(&loaded);
}

#define RECOMPUTING                                                                                                    \
    "--model gpt3-175b --node dgx-a100-80gb --gpus 512 --fabric ib-hdr --tp 8 --pp 8 --micro-batch 1 "                 \
    "--global-batch 1024 "

// Changes lead where they give far more than one; the step promised is that of a run with all of them.
TEST(changes_that_give_far_more_together_lead_with_the_step_of_a_run_with_all) {
    const Ended *ended =
        run_wide(command_explain, "explain -v " RECOMPUTING "--sequence-parallel=false --recompute full");
    EXPECT_CONTAINS(ended->out,
                    "Change first  all three together, --sequence-parallel, --recompute none and --schedule zb-v. ");
    Arena *arena = arena_open();
    const char *step =
        text_time(arena, run_member(RECOMPUTING "--recompute none --sequence-parallel --schedule zb-v", "p50"));
    ended = run_wide(command_explain, "explain -v " RECOMPUTING "--sequence-parallel=false --recompute full");
    EXPECT_CONTAINS(ended->out, arena_printf(arena, "A step then takes %s instead of", step));
    ended = run_wide(command_explain, "explain -v --pairs 0 " RECOMPUTING "--sequence-parallel=false --recompute full");
    EXPECT_CONTAINS(ended->out, "Change first  --vpp 2. ");
    arena_close(arena);
}

// What more is saved than the largest cause falls by is told with the cause that falls next.
TEST(a_saving_beyond_its_own_cause_says_what_else_falls) {
    const Ended *ended = run_wide(
        command_explain,
        "explain -v --model gpt3-175b --node dgx-a100-80gb --gpus 128 "
        "--fabric ib-hdr --tp 8 --sequence-parallel=false --pp 8 --micro-batch 1 --global-batch 96 --recompute full");
    EXPECT_CONTAINS(ended->out, "--recompute none would save");
    EXPECT_CONTAINS(ended->out, "whose traffic or waits came with it");
}

TEST(the_first_screen_has_the_changes_that_help_most_and_verbose_all) {
    Loaded loaded;
    const Explanation *now = explain_slow_network(&loaded);
    const Answer *answer = answered(&loaded, now);
    const char *first = shown(&loaded, answer, false), *all = shown(&loaded, answer, true);
    int rows = 0;
    for (int i = 0; i < now->job.tried.ran; i++) {
        if (now->job.tried.items[i].move->kind == MOVE_RESOURCE) continue;
        const char *row = arena_printf(loaded.arena, "\n%s ", now->job.tried.items[i].title);
        EXPECT(strstr(all, row) != NULL);
        EXPECT((strstr(first, row) != NULL) ==
               (rows < 4 && now->job.tried.items[i].gain.mean >= 0.005 * now->job.point.step_p50_s));
        rows++;
    }
    EXPECT(rows > 4 && strstr(first, "-v shows all"));
    unload(&loaded);
}

TEST(a_value_that_says_its_unit_has_no_other_beside_it) {
    const Ended *ended = run_command(command_run, "run -v --gpus 4 " SLOW_NETWORK);
    EXPECT_CONTAINS(ended->out, " 30 us  assumed\n");
}

TEST(people_see_twenty_operators_of_a_network_of_convolutions_and_their_kinds) {
    Loaded loaded;
    const Explanation *now = explain_slow_network(&loaded);
    const char *all = shown(&loaded, answered(&loaded, now), true);
    const char *kinds = strstr(all, "by kind of operator"), *operators = strstr(all, "The passes on the critical path");
    EXPECT(now->operator_count > 20 && kinds && operators && kinds < operators);
    int lines = 0;
    for (const char *at = operators; at && *at && strncmp(at, "\nThe largest 20;", 16) != 0; at++) lines += *at == '\n';
    EXPECT_INT(lines, 2 + 20 - 1); // the heading, the titles
    const RecordChart *chart = &explain_roofline_chart(loaded.arena, now)->lines;
    const RecordCurve *roof = &chart->curves[0];
    EXPECT(chart->curve_count <= 9);
    for (int c = 1; c < chart->curve_count; c++)
        for (int i = 0; i < chart->curves[c].count; i++) { // no point on the plot's edge
            EXPECT(chart->curves[c].x[i] > roof->x[0] && chart->curves[c].x[i] < roof->x[roof->count - 1]);
            EXPECT(chart->curves[c].y[i] < chart->y_max);
        }
    unload(&loaded);
}
