// The table of pipeline schedules: each writes a stage's order of passes; GPipe to interleaved 1F1B after Narayanan
// et al. 2021, zero bubble after Qi et al. 2023 and 2024, DualPipe after DeepSeek-V3 (2024) and its code.
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"

#include "sim/base/check.h"

typedef struct Writer {
    Arena *arena;
    const Pipeline *pipeline;
    int stage;
    PassList passes;
    int forwards[2], backwards[2], weights[2]; // micro-batches passed so far, by part
    const double *kept, *late;                 // [part] for the peak only, or NULL: see pipeline_peak
    double now, peak;
} Writer;

typedef struct ScheduleRow {
    int parts;            // chunks on a GPU; 0: as in the job
    bool twice;           // every chunk is held by two GPUs
    bool turns;           // V: the second half of the chunks lies on the stages in opposite order
    bool splits;          // some backwards compute gradients of weights later
    int fewest_per_stage; // micro-batches for each stage
    int fullest_after;    // micro-batches until a stage's memory peaks; 0: after all of them
    void (*write)(Writer *writer);
    int (*ahead)(const Pipeline *pipeline, int stage); // forwards before backwards take turns with them; NULL: not so
} ScheduleRow;

static void write_gpipe(Writer *writer);
static void write_1f1b(Writer *writer);
static void write_interleaved(Writer *writer);
static void write_zb_h1(Writer *writer);
static void write_zb_v(Writer *writer);
static void write_dualpipe(Writer *writer);
static int ahead_of_1f1b(const Pipeline *pipeline, int stage);
static int ahead_of_interleaved(const Pipeline *pipeline, int stage);

static const ScheduleRow rows[SCHEDULE_COUNT] = {
    [SCHEDULE_GPIPE] = {.parts = 1, .write = write_gpipe},
    [SCHEDULE_1F1B] = {.parts = 1, .fullest_after = 1, .write = write_1f1b, .ahead = ahead_of_1f1b},
    [SCHEDULE_INTERLEAVED] = {.parts = 0,
                              .fullest_after = 3,
                              .write = write_interleaved,
                              .ahead = ahead_of_interleaved},
    [SCHEDULE_ZB_H1] = {.parts = 1, .splits = true, .fullest_after = 6, .write = write_zb_h1},
    [SCHEDULE_ZB_V] = {.parts = 2, .turns = true, .splits = true, .fullest_after = 6, .write = write_zb_v},
    [SCHEDULE_DUALPIPE] =
        {.parts = 2, .twice = true, .splits = true, .fewest_per_stage = 2, .fullest_after = 6, .write = write_dualpipe},
};

bool schedule_splits_backward(Schedule schedule) { return rows[schedule].splits; }

// ---- What lies where.

Pipeline pipeline_of(Schedule schedule, int pp, int vpp, int micro_batches) {
    if (vpp < 1) vpp = 1;
    if (pp <= 1) schedule = SCHEDULE_1F1B;
    if (vpp > 1 && rows[schedule].parts <= 1 && !rows[schedule].splits) schedule = SCHEDULE_INTERLEAVED;
    if (vpp == 1 && schedule == SCHEDULE_INTERLEAVED) schedule = SCHEDULE_1F1B;
    const ScheduleRow *row = &rows[schedule];
    int parts = row->parts > 0 && pp > 1 ? row->parts : vpp;
    return (Pipeline){.schedule = schedule,
                      .pp = pp,
                      .vpp = row->twice ? 1 : parts,
                      .micro_batches = micro_batches,
                      .parts = parts,
                      .chunks = row->twice ? pp : pp * parts};
}

bool pipeline_possible(const Pipeline *pipeline, const TrainingSpec *training, Problems *problems) {
    const Layout *layout = &training->layout;
    Where where = training->where;
    const ScheduleRow *row = &rows[pipeline->schedule];
    const char *name = schedule_name(pipeline->schedule);
    int pp = pipeline->pp, micro_batches = pipeline->micro_batches, before = problems_added(problems);
    if (row->splits && shards_gradients(layout)) {
        problem_add(problems, where, "schedule \"%s\" computes gradients of weights late, and zero %d frees them early",
                    name, layout->zero);
        job_hint(problems, training->scripted, "use zero = 1, or schedule = \"1f1b\"");
    }
    if (layout->vpp > 1 && layout->vpp != pipeline->vpp) {
        problem_add(problems, where, "schedule \"%s\" has %d chunk%s of the model per stage, not vpp %d", name,
                    pipeline->vpp, pipeline->vpp == 1 ? "" : "s", layout->vpp);
        job_hint(problems, training->scripted, "leave vpp out, or use schedule = \"interleaved\"");
    }
    if (row->twice && pp % 2) {
        problem_add(problems, where, "schedule \"%s\" feeds the pipeline from both ends, and pp %d is odd", name, pp);
        job_hint(problems, training->scripted, "use an even pp, or schedule = \"zb-v\"");
    }
    if (row->twice && micro_batches % 2) {
        problem_add(problems, where, "schedule \"%s\" sends half of the micro-batches each way, and there are %d", name,
                    micro_batches);
        problem_hint(problems, "use an even number of micro-batches");
    }
    if (micro_batches < row->fewest_per_stage * pp) {
        problem_add(problems, where, "schedule \"%s\" on %d stages needs at least %d micro-batches, and there are %d",
                    name, pp, row->fewest_per_stage * pp, micro_batches);
        problem_hint(problems, "use a smaller micro-batch or a larger global batch");
    }
    return problems_added(problems) == before;
}

bool pipeline_returns(const Pipeline *pipeline, int part) {
    const ScheduleRow *row = &rows[pipeline->schedule];
    return part == 1 && (row->twice || row->turns);
}

int pipeline_chunk(const Pipeline *pipeline, int stage, int part) {
    if (!pipeline_returns(pipeline, part)) return part * pipeline->pp + stage;
    return pipeline->chunks - 1 - stage;
}

int pipeline_next_stage(const Pipeline *pipeline, int stage, int part) {
    int chunk = pipeline_chunk(pipeline, stage, part);
    if (chunk == pipeline->chunks - 1) return -1;
    if (pipeline_returns(pipeline, part)) return stage - 1;
    if (rows[pipeline->schedule].turns && stage == pipeline->pp - 1) return stage;
    return (stage + 1) % pipeline->pp;
}

int pipeline_previous_stage(const Pipeline *pipeline, int stage, int part) {
    if (pipeline_chunk(pipeline, stage, part) == 0) return -1;
    if (!pipeline_returns(pipeline, part)) return (stage + pipeline->pp - 1) % pipeline->pp;
    if (rows[pipeline->schedule].turns && stage == pipeline->pp - 1) return stage;
    return stage + 1;
}

int pipeline_twin_stage(const Pipeline *pipeline, int stage) {
    return rows[pipeline->schedule].twice ? pipeline->pp - 1 - stage : stage;
}

int pipeline_copies(const Pipeline *pipeline) { return rows[pipeline->schedule].twice ? 2 : 1; }

int pipeline_first_micro_batch(const Pipeline *pipeline, int part) {
    return rows[pipeline->schedule].twice && part == 1 ? pipeline->micro_batches / 2 : 0;
}

int pipeline_end_micro_batch(const Pipeline *pipeline, int part) {
    return rows[pipeline->schedule].twice && part == 0 ? pipeline->micro_batches / 2 : pipeline->micro_batches;
}

bool ends_lie_apart(const Pipeline *pipeline) {
    const ScheduleRow *row = &rows[pipeline->schedule];
    return pipeline->pp > 1 && !row->twice && !row->turns;
}

// ---- Shorter.

// Of periods of up to four rounds, and of six, twelve fit in.
#define ROUNDS_LEFT_OUT 12

int pipeline_round(const Pipeline *pipeline) {
    return pipeline->schedule == SCHEDULE_INTERLEAVED ? pipeline->pp : pipeline_copies(pipeline);
}

Pipeline pipeline_shortened(const Pipeline *pipeline) {
    // 0: it repeats in two places, or comes to repeat late.
    static const int fewest_per_stage[SCHEDULE_COUNT] = {
        [SCHEDULE_1F1B] = 2, [SCHEDULE_INTERLEAVED] = 6, [SCHEDULE_DUALPIPE] = 5};
    Pipeline shorter = *pipeline;
    int stages = fewest_per_stage[pipeline->schedule], rounds = ROUNDS_LEFT_OUT * pipeline_round(pipeline);
    int fewest = stages * pipeline->pp + (pipeline->schedule == SCHEDULE_INTERLEAVED ? 0 : 4);
    if (stages == 0 || pipeline->micro_batches - fewest < rounds) return shorter;
    shorter.left_out = (pipeline->micro_batches - fewest) / rounds * rounds;
    shorter.micro_batches -= shorter.left_out;
    return shorter;
}

// ---- Writing.

static void count_kept(Writer *writer, PassKind kind, int part) {
    double kept = writer->kept[part], late = writer->late[part];
    if (kind == PASS_FORWARD) writer->now += kept;
    if (writer->now > writer->peak) writer->peak = writer->now;
    if (kind == PASS_BACKWARD) writer->now -= kept;
    if (kind == PASS_BACKWARD_INPUT) writer->now += late - kept;
    if (kind == PASS_BACKWARD_WEIGHT) writer->now -= late;
}

static void add(Writer *writer, PassKind kind, int part, int micro_batch) {
    if (writer->kept) {
        count_kept(writer, kind, part);
        return;
    }
    PipelinePass pass = {.kind = (uint8_t)kind, .part = (int16_t)part, .micro_batch = micro_batch};
    LIST_PUSH(writer->arena, &writer->passes, pass);
}

// The next micro-batch of a part. Those beyond the last are left out: orders are written for as many as fill the
// pipeline.
static void next(Writer *writer, PassKind kind, int part) {
    int *count = kind == PASS_FORWARD           ? &writer->forwards[part]
                 : kind == PASS_BACKWARD_WEIGHT ? &writer->weights[part]
                                                : &writer->backwards[part];
    int micro_batch = pipeline_first_micro_batch(writer->pipeline, part) + *count;
    *count += 1;
    if (kind == PASS_BACKWARD) writer->weights[part]++;
    if (micro_batch < pipeline_end_micro_batch(writer->pipeline, part)) add(writer, kind, part, micro_batch);
}

static void next_split(Writer *writer, int part) {
    next(writer, PASS_BACKWARD_INPUT, part);
    next(writer, PASS_BACKWARD_WEIGHT, part);
}

static int at_most(int value, int limit) { return value < limit ? value : limit; }

// ---- One chunk per GPU.

static void write_gpipe(Writer *writer) {
    for (int m = 0; m < writer->pipeline->micro_batches; m++) next(writer, PASS_FORWARD, 0);
    for (int m = 0; m < writer->pipeline->micro_batches; m++) next(writer, PASS_BACKWARD, 0);
}

// Forwards before the first backward.
static int ahead_of_1f1b(const Pipeline *pipeline, int stage) {
    return at_most(pipeline->pp - 1 - stage, pipeline->micro_batches);
}

static void write_1f1b(Writer *writer) {
    int count = writer->pipeline->micro_batches;
    int ahead = ahead_of_1f1b(writer->pipeline, writer->stage);
    for (int m = 0; m < count + ahead; m++) {
        if (m < count) next(writer, PASS_FORWARD, 0);
        if (m >= ahead) next(writer, PASS_BACKWARD, 0);
    }
}

// 1F1B, with gradients of weights `stage` micro-batches later: every stage keeps as many as the first.
static void write_zb_h1(Writer *writer) {
    int count = writer->pipeline->micro_batches;
    int ahead = at_most(writer->pipeline->pp - 1 - writer->stage, count);
    for (int m = 0; m < count + ahead; m++) {
        if (m < count) next(writer, PASS_FORWARD, 0);
        if (m < ahead) continue;
        next(writer, PASS_BACKWARD_INPUT, 0);
        if (m - ahead >= writer->stage) next(writer, PASS_BACKWARD_WEIGHT, 0);
    }
    while (writer->weights[0] < count) next(writer, PASS_BACKWARD_WEIGHT, 0);
}

// ---- Several chunks per GPU.

typedef struct Turn {        // through the rounds
    int part, first, within; // micro-batch `within` of the round that begins with `first`
} Turn;

// Rounds of pp micro-batches through one chunk after the other; backward takes chunks the other way.
static void add_interleaved(Writer *writer, PassKind kind, Turn *turn) {
    const Pipeline *p = writer->pipeline;
    add(writer, kind, kind == PASS_FORWARD ? turn->part : p->vpp - 1 - turn->part, turn->first + turn->within);
    if (++turn->within < p->pp) return;
    turn->within = 0;
    if (++turn->part < p->vpp) return;
    turn->part = 0;
    turn->first += p->pp;
}

static int ahead_of_interleaved(const Pipeline *p, int stage) {
    int passes = p->micro_batches * p->vpp, after = p->pp - 1 - stage;
    return p->micro_batches == p->pp ? passes : at_most(2 * after + (p->vpp - 1) * p->pp, passes);
}

static void write_interleaved(Writer *writer) {
    const Pipeline *p = writer->pipeline;
    int passes = p->micro_batches * p->vpp, ahead = ahead_of_interleaved(p, writer->stage);
    Turn forward = {0}, backward = {0};
    for (int k = 0; k < passes + ahead; k++) {
        if (k < passes) add_interleaved(writer, PASS_FORWARD, &forward);
        if (k >= ahead) add_interleaved(writer, PASS_BACKWARD, &backward);
    }
}

// Qi et al. 2024, and PyTorch's ScheduleZBVZeroBubble. For fewer micro-batches than fill the pipeline it is the order
// of those that fill it, with the others left out.
static void write_zb_v(Writer *writer) {
    int pp = writer->pipeline->pp, stage = writer->stage, fill = 2 * pp - 1;
    int count = writer->pipeline->micro_batches > fill ? writer->pipeline->micro_batches : fill;
    for (int i = 0; i < 2 * (pp - stage) - 1; i++) next(writer, PASS_FORWARD, 0);
    for (int i = 0; i < stage; i++) {
        next(writer, PASS_FORWARD, 1);
        next(writer, PASS_FORWARD, 0);
    }
    for (int i = 0; i < pp - stage; i++) {
        next(writer, PASS_FORWARD, 1);
        next_split(writer, 1);
    }
    while (writer->forwards[1] < writer->forwards[0] || writer->forwards[0] < count) {
        if (writer->forwards[0] < count) next(writer, PASS_FORWARD, 0);
        next_split(writer, 0);
        next(writer, PASS_FORWARD, 1);
        next_split(writer, 1);
    }
    for (int i = 0; i < stage; i++) {
        next(writer, PASS_BACKWARD_INPUT, 0);
        next(writer, PASS_BACKWARD_INPUT, 1);
    }
    for (int i = 0; i < pp - stage; i++) next_split(writer, 0);
    while (writer->weights[1] < writer->backwards[1]) next(writer, PASS_BACKWARD_WEIGHT, 1);
    while (writer->weights[0] < writer->backwards[0]) next(writer, PASS_BACKWARD_WEIGHT, 0);
}

// ---- DualPipe: half of the micro-batches enters at each end. `near` is the part whose micro-batches enter at the
// nearer end, `far` the other.

typedef struct Delayed { // gradients of weights to come, in order: part of each
    int *parts;
    int first, end;
} Delayed;

static void delayed_backward(Writer *writer, Delayed *delayed, int part, bool delay) {
    next(writer, delay ? PASS_BACKWARD_INPUT : PASS_BACKWARD, part);
    if (delay) delayed->parts[delayed->end++] = part;
}

static void delayed_weights(Writer *writer, Delayed *delayed) {
    CHECK(delayed->first < delayed->end);
    next(writer, PASS_BACKWARD_WEIGHT, delayed->parts[delayed->first++]);
}

static void forward_overlaps_backward(Writer *writer, int forward, int backward) {
    next(writer, PASS_FORWARD, forward);
    if (writer->passes.count) writer->passes.items[writer->passes.count - 1].overlaps_next = true;
    next(writer, PASS_BACKWARD, backward);
}

static void write_dualpipe(Writer *writer) {
    int pp = writer->pipeline->pp, half = pp / 2, far_end = pp - 1 - writer->stage;
    int near = writer->stage < half ? 0 : 1, far = 1 - near, depth = near == 0 ? writer->stage : far_end;
    bool middle = depth == half - 1;
    Delayed delayed = {.parts = ARENA_ARRAY(writer->arena, int, writer->pipeline->micro_batches)};

    for (int i = 0; i < 2 * (half - depth - 1); i++) next(writer, PASS_FORWARD, near);
    for (int i = 0; i < depth + 1; i++) {
        next(writer, PASS_FORWARD, near);
        next(writer, PASS_FORWARD, far);
    }
    for (int i = 0; i < half - depth - 1; i++) {
        delayed_backward(writer, &delayed, far, true);
        delayed_weights(writer, &delayed);
        next(writer, PASS_FORWARD, far);
    }
    for (int i = 0; i < writer->pipeline->micro_batches / 2 - pp + depth + 1; i++) {
        if (i == 0 && middle) { // not overlapped: the neighbour waits for the forward
            next(writer, PASS_FORWARD, near);
            next(writer, PASS_BACKWARD, far);
        } else {
            forward_overlaps_backward(writer, near, far);
        }
        forward_overlaps_backward(writer, far, near);
    }
    for (int i = 0; i < half - depth - 1; i++) {
        next(writer, PASS_BACKWARD, far);
        forward_overlaps_backward(writer, far, near);
    }
    bool delay = false;
    for (int i = 0; i < depth + 1; i++) {
        bool turn = i == (depth + 1) / 2;
        if (turn && depth % 2 == 1) delay = true;
        delayed_backward(writer, &delayed, far, delay);
        if (turn && depth % 2 == 0) delay = true;
        delayed_backward(writer, &delayed, near, delay);
    }
    for (int i = 0; i < half - depth - 1; i++) {
        delayed_weights(writer, &delayed);
        delayed_backward(writer, &delayed, near, true);
    }
    while (delayed.first < delayed.end) delayed_weights(writer, &delayed);
}

PassList pipeline_order(Arena *arena, const Pipeline *pipeline, int stage) {
    Writer writer = {.arena = arena, .pipeline = pipeline, .stage = stage};
    int kinds = schedule_splits_backward(pipeline->schedule) ? PASS_KINDS : 2;
    writer.passes.room = kinds * pipeline->parts * pipeline->micro_batches;
    writer.passes.items = arena_room(arena, (size_t)writer.passes.room, sizeof *writer.passes.items);
    rows[pipeline->schedule].write(&writer);
    return writer.passes;
}

// ---- What is kept.

static Pipeline long_enough(const Pipeline *pipeline) {
    Pipeline shorter = *pipeline;
    int enough = rows[pipeline->schedule].fullest_after * pipeline->pp;
    if (enough > 0 && pipeline->micro_batches > enough) shorter.micro_batches = enough;
    return shorter;
}

// So many forwards, then backwards and forwards by turns, of parts that keep the same: once a turn ends as it began, so
// do all others. The same sums in the same order as of all passes.
static double peak_of_turns(int ahead, int passes, double kept) {
    double now = 0, peak = 0;
    for (int k = 0; k < passes; k++) {
        double before = now;
        now += kept;
        if (now > peak) peak = now;
        if (k < ahead) continue;
        now -= kept;
        if (now == before) break;
    }
    return peak;
}

static bool keep_alike(const Pipeline *pipeline, const double *kept) {
    for (int part = 1; part < pipeline->parts; part++)
        if (kept[part] != kept[0]) return false;
    return true;
}

double pipeline_peak(Arena *arena, const Pipeline *pipeline, int stage, const double *kept, const double *late) {
    Pipeline shorter = long_enough(pipeline);
    const ScheduleRow *row = &rows[pipeline->schedule];
    if (row->ahead && keep_alike(pipeline, kept))
        return peak_of_turns(row->ahead(&shorter, stage), shorter.micro_batches * shorter.parts, kept[0]);
    Writer writer = {.arena = arena, .pipeline = &shorter, .stage = stage, .kept = kept, .late = late};
    row->write(&writer);
    return writer.peak;
}
