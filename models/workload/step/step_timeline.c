#include "models/workload/step/simulate.h"

#include <stdlib.h>

#include "sim/base/list.h"

// ---- An open bar: spans of one stream that are shown as one.

typedef struct OpenBar {
    int32_t label;
    Cause cause;
    bool is_open;
    SimTime start, end, busy;
    SimTime recomputed; // of a pass
} OpenBar;

typedef struct Stage {
    int32_t actor;
    SimTime busy;       // of the main stream
    OpenBar main;       // of its computation
    OpenBar *transfers; // [stream x cause]
    int transfer_count;
    LIST_OF(TimelineBar) bars; // their rows: 0 computation, 1 transfers
} Stage;

struct StepTimeline {
    Arena *arena;
    const Lowered *lowered;
    const System *system;
    Stage *stages;           // [pp]
    int32_t *stage_of;       // [actor] -1: it is not looked at
    bool moves[CAUSE_COUNT]; // something was transferred for it
};

static const char *const pass_causes[] = {"forward", "backward", "weight-gradient"};

static TimelineBar *push_bar(StepTimeline *timeline, Stage *stage, int row, const OpenBar *open, SimTime busy,
                             const char *cause) {
    TimelineBar bar = {.row = row,
                       .start_s = step_seconds(open->start),
                       .end_s = step_seconds(open->end),
                       .cause = cause,
                       .name = timeline->system->labels[open->label].name,
                       .share = (double)busy / (double)(open->end - open->start)};
    LIST_PUSH(timeline->arena, &stage->bars, bar);
    return &stage->bars.items[stage->bars.count - 1];
}

// ---- What a stage computes.

static void close_main(StepTimeline *timeline, Stage *stage) {
    OpenBar *open = &stage->main;
    if (open->is_open && open->end > open->start) {
        bool is_pass = open->label > 0;
        const char *cause =
            is_pass ? pass_causes[(open->label - 1) / timeline->lowered->label_per_kind] : cause_names[open->cause];
        TimelineBar *bar = push_bar(timeline, stage, 0, open, open->end - open->start - open->recomputed, cause);
        bar->below = 1 - bar->share;
        if (open->recomputed > 0)
            push_bar(timeline, stage, 0, open, open->recomputed, cause_names[CAUSE_RECOMPUTE])->is_part = true;
    }
    open->is_open = false;
}

// A pass is many kernels and the transfers they wait for; kernels slowed by a collective (work that counts as the
// collective's) still belong to the pass.
static bool goes_on(const StepTimeline *timeline, const OpenBar *open, const RunSpan *span) {
    if (!open->is_open) return false;
    bool touches = span->start <= open->end;
    if (open->label > 0 && span->label == open->label) return touches || timeline->lowered->training->by_messages;
    bool slowed = span->kind == OP_WORK && span->cause >= CAUSE_TP && span->cause <= CAUSE_DP;
    if (open->label > 0) return slowed && span->label == 0 && touches;
    return span->label == 0 && (Cause)span->cause == open->cause && touches;
}

static void add_main_span(StepTimeline *timeline, Stage *stage, const RunSpan *span) {
    stage->busy += span->end - span->begun;
    OpenBar *open = &stage->main;
    bool goes = goes_on(timeline, open, span);
    if (!goes && span->kind == OP_TRANSFER && span->label == 0) return; // its row is the other one
    if (!goes) {
        close_main(timeline, stage);
        *open = (OpenBar){.label = span->label, .cause = (Cause)span->cause, .is_open = true, .start = span->begun};
    }
    open->end = span->end;
    if (span->cause == CAUSE_RECOMPUTE && open->label > 0) open->recomputed += span->end - span->begun;
}

// ---- Transfers of a stage: those of one stream and purpose within one pass are one bar, with the share of its time
// that they take.

static void close_transfers(StepTimeline *timeline, Stage *stage, OpenBar *open) {
    if (open->is_open && open->end > open->start)
        push_bar(timeline, stage, 1, open, open->busy, cause_names[open->cause]);
    open->is_open = false;
}

static void add_transfer_span(StepTimeline *timeline, Stage *stage, const RunSpan *span) {
    OpenBar *open = &stage->transfers[span->stream * CAUSE_COUNT + span->cause];
    bool goes = open->is_open && span->label == open->label && (span->label > 0 || span->begun <= open->end);
    if (!goes) {
        close_transfers(timeline, stage, open);
        *open = (OpenBar){.label = span->label, .cause = (Cause)span->cause, .is_open = true, .start = span->begun};
    }
    open->end = span->end;
    open->busy += span->end - span->begun;
    timeline->moves[span->cause] = true;
}

static void on_span(void *owner, const RunSpan *span) {
    StepTimeline *timeline = owner;
    int32_t p = timeline->stage_of[span->actor];
    if (p < 0 || span->kind == OP_WAIT) return;
    Stage *stage = &timeline->stages[p];
    if (span->kind == OP_TRANSFER) add_transfer_span(timeline, stage, span);
    if (span->stream == 0) add_main_span(timeline, stage, span);
}

// ---- Before and after.

StepTimeline *step_timeline_begin(Arena *arena, const Lowered *lowered, const System *system, const int32_t *class_of,
                                  RunOptions *options) {
    const Resolved *r = &lowered->resolved;
    StepTimeline *timeline = ARENA_NEW(arena, StepTimeline);
    *timeline = (StepTimeline){.arena = arena, .lowered = lowered, .system = system};
    timeline->stages = ARENA_ARRAY(arena, Stage, r->pp);
    timeline->stage_of = ARENA_ARRAY(arena, int32_t, system->actor_count);
    for (int32_t a = 0; a < system->actor_count; a++) timeline->stage_of[a] = -1;
    for (int p = 0; p < r->pp; p++) {
        int rank = layout_rank(r, 0, 0, p);
        Stage *stage = &timeline->stages[p];
        stage->actor = class_of ? class_of[rank] : rank;
        stage->transfer_count = CAUSE_COUNT * system->programs[system->actors[stage->actor].program].stream_count;
        stage->transfers = ARENA_ARRAY(arena, OpenBar, stage->transfer_count);
        if (timeline->stage_of[stage->actor] < 0) timeline->stage_of[stage->actor] = p;
    }
    options->tell = on_span;
    options->owner = timeline;
    return timeline;
}

// Purposes that something is transferred for have a lane of the row each, in their own order.
static int lanes_of(const StepTimeline *timeline, int lane[static CAUSE_COUNT]) {
    int lanes = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        lane[c] = lanes;
        lanes += timeline->moves[c];
    }
    return lanes;
}

static int lane_of(const char *cause, const int lane[static CAUSE_COUNT]) {
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (cause_names[c] == cause) return lane[c];
    return 0;
}

static int by_row_and_lane(const void *a, const void *b) {
    const TimelineBar *one = a, *other = b;
    if (one->row != other->row) return one->row - other->row;
    if (one->lane != other->lane) return one->lane - other->lane;
    if (one->start_s != other->start_s) return one->start_s < other->start_s ? -1 : 1;
    if (one->is_part != other->is_part) return other->is_part - one->is_part;
    return (one->end_s > other->end_s) - (one->end_s < other->end_s);
}

typedef LIST_OF(TimelineBar) Bars;

// Its bars, from row `first` on.
static void take_bars(StepTimeline *timeline, Stage *stage, int first, const int lane[static CAUSE_COUNT], int lanes,
                      Bars *bars) {
    close_main(timeline, stage);
    for (int i = 0; i < stage->transfer_count; i++) close_transfers(timeline, stage, &stage->transfers[i]);
    for (int i = 0; i < stage->bars.count; i++) {
        TimelineBar bar = stage->bars.items[i];
        if (bar.row == 1) bar.lane = lane_of(bar.cause, lane), bar.lanes = lanes;
        bar.row += first;
        LIST_PUSH(timeline->arena, bars, bar);
    }
}

const Timeline *step_timeline_end(StepTimeline *timeline, const RunResult *result) {
    Arena *arena = timeline->arena;
    int pp = timeline->lowered->resolved.pp, lane[CAUSE_COUNT], lanes = lanes_of(timeline, lane);
    int rows_each = lanes > 0 ? 2 : 1;
    const char **rows = ARENA_ARRAY(arena, const char *, (size_t)rows_each *(size_t)pp);
    Bars bars = {0};
    double busy = 0;
    for (int p = 0; p < pp; p++) {
        Stage *stage = &timeline->stages[timeline->stage_of[timeline->stages[p].actor]]; // of folded ones the first
        const char *name = pp > 1 ? arena_printf(arena, "stage %d", p) : "GPU 0";
        rows[rows_each * p] = name;
        if (lanes > 0) rows[rows_each * p + 1] = arena_printf(arena, "%s transfers", name);
        take_bars(timeline, stage, rows_each * p, lane, lanes, &bars);
        busy += step_seconds(stage->busy);
    }
    if (bars.count) qsort(bars.items, (size_t)bars.count, sizeof *bars.items, by_row_and_lane);
    double end = step_seconds(result->end);
    Timeline *result_timeline = ARENA_NEW(arena, Timeline);
    *result_timeline = (Timeline){.row_names = rows,
                                  .row_count = rows_each * pp,
                                  .bars = bars.items,
                                  .bar_count = bars.count,
                                  .idle_share = end > 0 ? 1 - busy / (end * pp) : 0,
                                  .has_transfer_rows = lanes > 0};
    return result_timeline;
}
