// The bars of a step: passes of each stage, and its transfers under them.
#include <math.h>
#include <string.h>

#include "tests/jobs.h"
#include "tests/test.h"

static SimulatedStep timed(Case *c, bool unfolded) {
    SimulationOptions options = {.unfolded = unfolded, .assume_fits = true, .timeline = true};
    return simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
}

static int count_bars(const Timeline *timeline, int row, const char *cause) {
    int count = 0;
    for (int i = 0; i < timeline->bar_count; i++)
        count += timeline->bars[i].row == row && strcmp(timeline->bars[i].cause, cause) == 0;
    return count;
}

static double seconds_of(const Timeline *timeline, int row, const char *cause) {
    double sum = 0;
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        if (bar->row == row && strcmp(bar->cause, cause) == 0) sum += (bar->end_s - bar->start_s) * bar->share;
    }
    return sum;
}

static void a_pipeline(Case *c) {
    case_open(c, 32, "gpt3-2.7b");
    c->training.layout = (Layout){.tp = 2, .pp = 4, .vpp = 1};
    c->training.micro_batch = 1;
    c->training.global_batch = 4.0 * 8;
}

TEST(a_timeline_has_the_passes_of_each_stage_and_its_transfers_by_purpose) {
    Case c;
    a_pipeline(&c);
    SimulatedStep step = timed(&c, false);
    EXPECT(step.ran && step.timeline && step.timeline->has_transfer_rows);
    const Timeline *timeline = step.timeline;
    EXPECT_INT(timeline->row_count, 8);
    EXPECT_TEXT(timeline->row_names[2], "stage 1");
    EXPECT_TEXT(timeline->row_names[3], "stage 1 transfers");
    for (int p = 0; p < 4; p++) {
        EXPECT_INT(count_bars(timeline, 2 * p, "forward"), 8);
        int backward = count_bars(timeline, 2 * p, "backward"); // one that waits within is two
        EXPECT(backward == 8 || backward == 9);
        EXPECT(count_bars(timeline, 2 * p + 1, "tp") >= 16); // one for each pass
        EXPECT(count_bars(timeline, 2 * p + 1, "dp") > 0);
        int neighbours = (p > 0) + (p < 3); // each takes 8 activations and gives 8 gradients, or the other way round
        int tied = p == 0 || p == 3;        // the embedding's gradients
        EXPECT_INT(count_bars(timeline, 2 * p + 1, "pp"), 16 * neighbours + tied);
        EXPECT_INT(count_bars(timeline, 2 * p, "dp") + count_bars(timeline, 2 * p, "tp"), 0);
    }
    arena_close(c.arena);
}

// Shares and lanes are those of a row, bars are within the step, and what a stage computes is one thing at a time.
TEST(bars_of_a_step_lie_within_it_and_within_their_rows) {
    Case c;
    a_pipeline(&c);
    c.training.recompute = RECOMPUTE_FULL;
    SimulatedStep step = timed(&c, false);
    const Timeline *timeline = step.timeline;
    double last[8] = {0};
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        EXPECT(bar->start_s >= 0 && bar->end_s > bar->start_s && bar->end_s <= step.step_p50_s * (1 + 1e-9));
        EXPECT(bar->share > 0 && bar->share + bar->below <= 1 + 1e-12);
        EXPECT_INT(bar->lanes, bar->row % 2 ? 3 : 0);
        EXPECT(bar->lane >= 0 && bar->lane < 3);
        if (bar->row % 2 || bar->is_part) continue;
        EXPECT(bar->start_s >= last[bar->row] - 1e-12);
        last[bar->row] = bar->end_s;
    }
    // A pass computes again what it did forward: about as long.
    EXPECT_INT(count_bars(timeline, 0, "recompute"), 8);
    EXPECT_NEAR(seconds_of(timeline, 2, "recompute") / seconds_of(timeline, 2, "forward"), 0.9, 0.2);
    arena_close(c.arena);
}

TEST(folded_and_whole_steps_have_the_same_timeline) {
    Case c;
    a_pipeline(&c);
    const Timeline *folded = timed(&c, false).timeline, *whole = timed(&c, true).timeline;
    EXPECT_INT(folded->bar_count, whole->bar_count);
    EXPECT_NEAR(folded->idle_share, whole->idle_share, 1e-12);
    for (int i = 0; i < folded->bar_count; i++) {
        const TimelineBar *a = &folded->bars[i], *b = &whole->bars[i];
        EXPECT(a->row == b->row && a->lane == b->lane && a->start_s == b->start_s && a->end_s == b->end_s &&
               a->share == b->share && strcmp(a->cause, b->cause) == 0);
    }
    arena_close(c.arena);
}

// Formula: without overlap gradients go when the last backward is done, and the optimizer starts when they are there.
TEST(gradients_that_nothing_hides_stand_between_backward_and_optimizer) {
    Case c;
    case_open(&c, 8, "gpt2-124m");
    c.training.overlap_grad_reduce = false;
    c.training.global_batch = 16;
    const Timeline *timeline = timed(&c, false).timeline;
    double backward_ends = 0, first = INFINITY, last = 0, optimizer = INFINITY;
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        if (strcmp(bar->cause, "backward") == 0) backward_ends = fmax(backward_ends, bar->end_s);
        if (strcmp(bar->cause, "optimizer") == 0) optimizer = fmin(optimizer, bar->start_s);
        if (strcmp(bar->cause, "dp") != 0) continue;
        first = fmin(first, bar->start_s);
        last = fmax(last, bar->end_s);
    }
    EXPECT_NEAR(first, backward_ends, 1e-12);
    EXPECT_NEAR(last, optimizer, 1e-12);
    EXPECT(last > first);
    arena_close(c.arena);
}

TEST(one_gpu_alone_has_no_row_of_transfers) {
    Case c;
    case_open(&c, 1, "gpt2-124m");
    c.training.global_batch = 4;
    const Timeline *timeline = timed(&c, false).timeline;
    EXPECT(!timeline->has_transfer_rows);
    EXPECT_INT(timeline->row_count, 1);
    EXPECT_TEXT(timeline->row_names[0], "GPU 0");
    EXPECT_INT(count_bars(timeline, 0, "forward"), 2);
    arena_close(c.arena);
}
