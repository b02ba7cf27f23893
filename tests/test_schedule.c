// Schedules: every order is complete and can run, bubbles and memory are those of the papers.
#include "models/workload/job/layout.h"

#include "models/workload/cost/cost_internal.h"
#include "models/workload/lower/stage.h"
#include "models/workload/step/simulate.h"
#include "sim/base/random.h"
#include "tests/test.h"

// ---- Orders, timed by a slow twin of the simulator: a pass starts when its stage is free and its input is there.

typedef struct Times {
    double forward, input, weight; // of a micro-batch in a chunk
} Times;

#define STAGES 16
#define PARTS 4
#define MOST 200
typedef struct Twin {
    const Pipeline *pipeline;
    Times times;
    PassList order[STAGES];
    int at[STAGES];
    double start[STAGES], now[STAGES], busy[STAGES];
    double forward_end[STAGES * PARTS][MOST], input_end[STAGES * PARTS][MOST]; // by chunk and micro-batch; -1 not yet
} Twin;

static double pass_time(const Times *times, int kind) {
    if (kind == PASS_FORWARD) return times->forward;
    if (kind == PASS_BACKWARD_WEIGHT) return times->weight;
    return times->input + (kind == PASS_BACKWARD ? times->weight : 0);
}

// When the pass's input is there, or -1.
static double ready_at(const Twin *twin, int chunk, const PipelinePass *pass) {
    int m = pass->micro_batch;
    if (pass->kind == PASS_FORWARD) return chunk == 0 ? 0 : twin->forward_end[chunk - 1][m];
    if (pass->kind == PASS_BACKWARD_WEIGHT) return twin->input_end[chunk][m];
    if (twin->forward_end[chunk][m] < 0) return -1;
    return chunk == twin->pipeline->chunks - 1 ? twin->forward_end[chunk][m] : twin->input_end[chunk + 1][m];
}

// A pass, or two that run beside each other: they start when both inputs are there and end together.
static bool step_stage(Twin *twin, int stage) {
    if (twin->at[stage] == twin->order[stage].count) return false;
    const PipelinePass *pass = &twin->order[stage].items[twin->at[stage]];
    int count = pass->overlaps_next ? 2 : 1;
    double time = 0, ready = 0;
    for (int i = 0; i < count; i++) {
        double input = ready_at(twin, pipeline_chunk(twin->pipeline, stage, pass[i].part), &pass[i]);
        if (input < 0) return false;
        ready = fmax(ready, input);
        time += pass_time(&twin->times, pass[i].kind);
    }
    if (twin->at[stage] == 0) twin->start[stage] = ready;
    twin->now[stage] = fmax(twin->now[stage], ready) + time;
    twin->busy[stage] += time;
    for (int i = 0; i < count; i++) {
        int chunk = pipeline_chunk(twin->pipeline, stage, pass[i].part);
        if (pass[i].kind == PASS_FORWARD) twin->forward_end[chunk][pass[i].micro_batch] = twin->now[stage];
        if (pass[i].kind == PASS_BACKWARD || pass[i].kind == PASS_BACKWARD_INPUT)
            twin->input_end[chunk][pass[i].micro_batch] = twin->now[stage];
    }
    twin->at[stage] += count;
    return true;
}

// Idle time of the stage that idles most, from its first pass to its last; -1 when the order cannot run.
static double bubble(const Pipeline *pipeline, Times times) {
    static Twin twin;
    Arena *arena = arena_open();
    twin = (Twin){.pipeline = pipeline, .times = times};
    for (int c = 0; c < STAGES * PARTS; c++)
        for (int m = 0; m < MOST; m++) twin.forward_end[c][m] = twin.input_end[c][m] = -1;
    for (int s = 0; s < pipeline->pp; s++) twin.order[s] = pipeline_order(arena, pipeline, s);
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < pipeline->pp; s++)
            while (step_stage(&twin, s)) moved = true;
    }
    double most = 0;
    for (int s = 0; s < pipeline->pp; s++) {
        if (twin.at[s] < twin.order[s].count) most = INFINITY;
        most = fmax(most, twin.now[s] - twin.start[s] - twin.busy[s]);
    }
    arena_close(arena);
    return isinf(most) ? -1 : most;
}

static bool possible(const Pipeline *pipeline) {
    Arena *arena = arena_open();
    bool yes = pipeline_possible(pipeline, &(TrainingSpec){.layout = {.vpp = pipeline->vpp}}, problems_create(arena));
    if (pipeline->schedule == SCHEDULE_INTERLEAVED) yes = pipeline->micro_batches % pipeline->pp == 0;
    arena_close(arena);
    return yes;
}

// Every micro-batch goes once forward and once back through every chunk that takes it, its weights' gradients last.
static void expect_complete(const Pipeline *pipeline) {
    Arena *arena = arena_open();
    for (int stage = 0; stage < pipeline->pp; stage++) {
        PassList order = pipeline_order(arena, pipeline, stage);
        int *done = ARENA_ARRAY(arena, int, pipeline->parts * pipeline->micro_batches), wanted = 0;
        for (int i = 0; i < order.count; i++) {
            const PipelinePass *pass = &order.items[i];
            int *state = &done[pass_number(pipeline, pass)];
            static const int before[PASS_KINDS] = {0, 1, 1, 2}, after[PASS_KINDS] = {1, 3, 2, 3};
            EXPECT_INT(*state, before[pass->kind]);
            *state = after[pass->kind];
        }
        for (int part = 0; part < pipeline->parts; part++)
            for (int m = pipeline_first_micro_batch(pipeline, part); m < pipeline_end_micro_batch(pipeline, part);
                 m++) {
                EXPECT_INT(done[part * pipeline->micro_batches + m], 3);
                wanted++;
            }
        EXPECT_INT(wanted * pipeline_copies(pipeline), pipeline->parts * pipeline->micro_batches);
    }
    arena_close(arena);
}

TEST(every_order_of_every_schedule_is_complete_and_can_run) {
    int ran = 0;
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
        for (int pp = 2; pp <= 8; pp++)
            for (int m = 1; m <= 3 * pp + 2; m++) {
                Pipeline pipeline = pipeline_of((Schedule)schedule, pp, schedule == SCHEDULE_INTERLEAVED ? 3 : 1, m);
                EXPECT_INT(pipeline.schedule, schedule);
                if (!possible(&pipeline)) continue;
                expect_complete(&pipeline);
                EXPECT(bubble(&pipeline, (Times){1, 1.5, 0.75}) >= 0);
                ran++;
            }
    EXPECT(ran > 400);
}

TEST(chunks_lie_on_one_stage_each_or_on_two_and_neighbours_agree) {
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
        for (int pp = 2; pp <= 8; pp += 2) {
            Pipeline p = pipeline_of((Schedule)schedule, pp, schedule == SCHEDULE_INTERLEAVED ? 3 : 1, 4 * pp);
            int held[64] = {0};
            for (int stage = 0; stage < pp; stage++)
                for (int part = 0; part < p.parts; part++) {
                    int chunk = pipeline_chunk(&p, stage, part), next = pipeline_next_stage(&p, stage, part);
                    EXPECT(chunk >= 0 && chunk < p.chunks);
                    held[chunk]++;
                    EXPECT((next < 0) == (chunk == p.chunks - 1));
                    EXPECT((pipeline_previous_stage(&p, stage, part) < 0) == (chunk == 0));
                    if (next < 0) continue;
                    bool found = false;
                    for (int other = 0; other < p.parts; other++)
                        found = found || (pipeline_chunk(&p, next, other) == chunk + 1 &&
                                          pipeline_previous_stage(&p, next, other) == stage);
                    EXPECT(found);
                }
            for (int chunk = 0; chunk < p.chunks; chunk++) EXPECT_INT(held[chunk], pipeline_copies(&p));
        }
}

// Idle time in the papers' terms: F forward, B backward of inputs, W of weights. 1F1B (p-1)(F+B+W); ZB-H1
// (p-1)(F+B-W) (Qi et al. 2023, section 2.3); ZB-V none while the three are alike (2024, section 4). Interleaved: a
// vpp-th of 1F1B's.
TEST(bubbles_are_those_of_the_papers) {
    for (int p = 2; p <= 8; p++)
        for (int m = 2 * p; m <= 4 * p; m += p) {
            Times t = {1, 1, 1}, uneven = {1, 1.25, 0.75};
            Pipeline one = pipeline_of(SCHEDULE_1F1B, p, 1, m), gpipe = pipeline_of(SCHEDULE_GPIPE, p, 1, m);
            Pipeline h1 = pipeline_of(SCHEDULE_ZB_H1, p, 1, m), v = pipeline_of(SCHEDULE_ZB_V, p, 1, m);
            Pipeline interleaved = pipeline_of(SCHEDULE_1F1B, p, 2, m);
            EXPECT_NEAR(bubble(&one, uneven), (p - 1) * 3.0, 1e-12);
            EXPECT_NEAR(bubble(&gpipe, uneven), (p - 1) * 3.0, 1e-12);
            EXPECT_NEAR(bubble(&interleaved, t), (p - 1) * 3.0, 1e-12); // chunks of half the size
            EXPECT_NEAR(bubble(&h1, t), (p - 1) * (1 + 1 - 1.0), 1e-12);
            EXPECT_NEAR(bubble(&h1, uneven), (p - 1) * (1 + 1.25 - 0.75), 1e-12);
            EXPECT_NEAR(bubble(&v, t), 0, 1e-12);
        }
}

// DeepSeek-V3, table 2: (p/2 - 1)(F&B + B - 3W), where B is a whole backward and F&B both beside each other; here
// nothing overlaps, so F&B is their sum.
TEST(dualpipes_bubble_is_the_papers) {
    for (int p = 2; p <= 16; p += 2)
        for (int m = 2 * p; m <= 6 * p; m += 2 * p) {
            Pipeline dual = pipeline_of(SCHEDULE_DUALPIPE, p, 1, m);
            for (double weight = 0.75; weight <= 1; weight += 0.25) {
                Times t = {1, 1, weight};
                double both = t.forward + t.input + weight, backward = t.input + weight;
                EXPECT_NEAR(bubble(&dual, t), (p / 2 - 1) * (both + backward - 3 * weight), 1e-12);
            }
        }
}

// Micro-batches kept: 1F1B p on the first stage; ZB-H1 p on every stage; ZB-V p in chunks of half a stage's size, 2p;
// DualPipe p + 1 (Qi et al.; DeepSeek-V3, table 2).
TEST(micro_batches_in_flight_are_those_of_the_papers) {
    Arena *arena = arena_open();
    const double one[] = {1, 1, 1, 1};
    for (int p = 2; p <= 16; p += 2) {
        int m = 4 * p;
        Pipeline gpipe = pipeline_of(SCHEDULE_GPIPE, p, 1, m), early = pipeline_of(SCHEDULE_1F1B, p, 1, m);
        Pipeline h1 = pipeline_of(SCHEDULE_ZB_H1, p, 1, m), v = pipeline_of(SCHEDULE_ZB_V, p, 1, m);
        Pipeline interleaved = pipeline_of(SCHEDULE_1F1B, p, 3, m), dual = pipeline_of(SCHEDULE_DUALPIPE, p, 1, m);
        for (int s = 0; s < p; s++) {
            EXPECT_INT(pipeline_peak(arena, &gpipe, s, one, one), m);
            EXPECT_INT(pipeline_peak(arena, &early, s, one, one), p - s);
            EXPECT_INT(pipeline_peak(arena, &interleaved, s, one, one), 2 * (p - s - 1) + 2 * p + 1);
            EXPECT_INT(pipeline_peak(arena, &h1, s, one, one), p);
            EXPECT_INT(pipeline_peak(arena, &v, s, one, one), 2 * p);
            EXPECT_INT(pipeline_peak(arena, &dual, s, one, one), p + 1);
        }
    }
    arena_close(arena);
}

// All passes one after the other.
static double peak_of_all(Arena *arena, const Pipeline *pipeline, int stage, const double *kept, const double *late) {
    PassList order = pipeline_order(arena, pipeline, stage);
    double now = 0, peak = 0;
    for (int i = 0; i < order.count; i++) {
        int part = order.items[i].part;
        if (order.items[i].kind == PASS_FORWARD) now += kept[part];
        if (now > peak) peak = now;
        if (order.items[i].kind == PASS_BACKWARD) now -= kept[part];
        if (order.items[i].kind == PASS_BACKWARD_INPUT) now += late[part] - kept[part];
        if (order.items[i].kind == PASS_BACKWARD_WEIGHT) now -= late[part];
    }
    return peak;
}

TEST(what_a_stage_keeps_at_most_is_the_sum_over_its_passes_to_the_last_bit) {
    FOR_SEEDS (seed, 1, 2000) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "kept", 0);
        Schedule schedule = (Schedule)random_below(&random, SCHEDULE_COUNT);
        int pp = 2 + 2 * (int)random_below(&random, 6),
            vpp = schedule == SCHEDULE_INTERLEAVED ? 2 + (int)(seed % 4) : 1;
        // As few as there may be, up to so many that nothing more is ever kept.
        Pipeline pipeline = pipeline_of(schedule, pp, vpp, pp * (2 + (int)random_below(&random, 2)));
        double kept[8], late[8];
        for (int part = 0; part < pipeline.parts; part++) {
            kept[part] = part > 0 && seed % 3 ? kept[0] : 1e9 * random_uniform(&random);
            late[part] = kept[part] * random_uniform(&random);
        }
        int stage = (int)random_below(&random, (uint64_t)pp);
        EXPECT_SAME(pipeline_peak(arena, &pipeline, stage, kept, late),
                    peak_of_all(arena, &pipeline, stage, kept, late));
        arena_close(arena);
    }
}
