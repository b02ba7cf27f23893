// Memory of a whole job: blocks on stages, micro-batches in flight, and remedies if it does not fit.
#include <stdarg.h>

#include "models/workload/cost/cost_internal.h"
#include "models/workload/cost/memory_internal.h"
#include "models/workload/job/job_fields.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/recompute.h"
#include "models/workload/job/software.h"
#include "models/workload/model/written.h"
#include "sim/base/quantity.h"

#define MOST_MICRO_BATCHES 100000.0 // of a step
#define MOST_TP 8                   // beyond a node's GPUs tensor parallelism does not pay

// ---- The fullest stage.

// Parameters and activations of another chunk on the same GPU; working memory is used in turn, the rest is there once.
static void add_chunk(Memory *memory, const Memory *chunk) {
    memory->host += chunk->host;
    memory->disk += chunk->disk;
    memory->outside = fmax(memory->outside, chunk->outside);
    memory->bytes[MEMORY_WEIGHTS] += chunk->bytes[MEMORY_WEIGHTS];
    memory->bytes[MEMORY_GRADIENTS] += chunk->bytes[MEMORY_GRADIENTS];
    memory->bytes[MEMORY_OPTIMIZER] += chunk->bytes[MEMORY_OPTIMIZER];
    memory->bytes[MEMORY_ACTIVATIONS] += chunk->bytes[MEMORY_ACTIVATIONS];
    memory->bytes[MEMORY_WORKING] = fmax(memory->bytes[MEMORY_WORKING], chunk->bytes[MEMORY_WORKING]);
    memory->bytes[MEMORY_BUFFERS] = fmax(memory->bytes[MEMORY_BUFFERS], chunk->bytes[MEMORY_BUFFERS]);
    memory->bytes[MEMORY_RESERVE] = fmax(memory->bytes[MEMORY_RESERVE], chunk->bytes[MEMORY_RESERVE]);
}

// With one micro-batch backward makes them; further ones add to what the first left. ZeRO keeps them in buffers or as
// parts of its own (DeepSpeed's stage_1_and_2.py does both stages, Megatron's distributed optimizer one buffer), and
// its weights in 16 bits are no casts of whole ones in 32.
bool gradients_come_and_go(const Stages *s) {
    const TrainingSpec *training = s->training;
    bool offloaded = training->offload_optimizer != OFFLOAD_GPU || training->offload_parameters != OFFLOAD_GPU;
    bool whole = !optimizer_is_sharded(training, s->dp) && !offloaded;
    return whole && s->pipeline.pp == 1 && s->pipeline.micro_batches == 1 &&
           framework_traits(training->framework)->drops_gradients;
}

// Chunks that two stages hold are sharded over the ranks of both.
Memory stage_memory_whole(Arena *arena, const Stages *s, int stage) {
    const Pipeline *pipeline = &s->pipeline;
    Memory memory = {.capacity = s->gpu->memory_bytes};
    double *kept = ARENA_ARRAY(arena, double, pipeline->parts), *late = ARENA_ARRAY(arena, double, pipeline->parts);
    for (int part = 0; part < pipeline->parts; part++) {
        int chunk = pipeline_chunk(pipeline, stage, part), first = s->first[chunk], last = s->first[chunk + 1] - 1;
        Memory held = memory_of_blocks(s->training, first, last, s->micro_batch, s->dp * pipeline_copies(pipeline),
                                       s->gpu, s->seen);
        kept[part] = held.bytes[MEMORY_ACTIVATIONS];
        late[part] = held.late;
        add_chunk(&memory, &held);
    }
    memory.bytes[MEMORY_ACTIVATIONS] = pipeline_peak(arena, pipeline, stage, kept, late);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory.peak += memory.bytes[i];
    return memory;
}

// With one stage the moments of a micro-batch are those of all; a pipeline's stages hold several at once.
Memory stage_memory(Arena *arena, const Stages *s, int stage) {
    Memory memory = stage_memory_whole(arena, s, stage);
    if (s->pipeline.pp == 1 && framework_traits(s->training->framework)->drops_gradients)
        stage_memory_at_its_peak(arena, s, stage, &memory);
    return memory;
}

static int at_least_one(int value) { return value > 1 ? value : 1; }

// Stages of a job; a layer-wise split is a pipeline with one micro-batch.
static int stage_count(const TrainingSpec *training, int gpus) {
    if (training->strategy != STRATEGY_LAYERS || training->layout.pp > 0) return at_least_one(training->layout.pp);
    int stages = at_least_one(gpus / replicas_of_job(training, gpus)), layers = layers_to_spread(training->model);
    return stages < layers ? stages : layers;
}

Stages stages_of(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu) {
    Stages s = {.training = training, .dp = replicas_of_job(training, gpus), .gpu = gpu};
    s.seen = ARENA_NEW(arena, MemorySeen);
    Schedule schedule = training->strategy == STRATEGY_LAYERS ? SCHEDULE_GPIPE : training->schedule;
    s.micro_batch = micro_batch_of_job(training, s.dp);
    s.pipeline = pipeline_of(schedule, stage_count(training, gpus), training->layout.vpp,
                             (int)fmin(micro_batches_of_job(training, s.dp), MOST_MICRO_BATCHES));
    int *first = ARENA_ARRAY(arena, int, s.pipeline.chunks + 1);
    Problems *unseen = problems_create(arena);
    if (pipeline_possible(&s.pipeline, training, unseen) &&
        blocks_to_chunks(training, s.pipeline.chunks, first, unseen))
        s.first = first;
    return s;
}

Memory memory_of_job(const TrainingSpec *training, int gpus, const Gpu *gpu, int *fullest) {
    Arena *arena = arena_open();
    Stages stages = stages_of(arena, training, gpus, gpu);
    Memory most = {.peak = -1};
    if (!stages.first) most = (Memory){.peak = INFINITY, .capacity = gpu->memory_bytes}; // no such pipeline
    for (int stage = 0; stage < stages.pipeline.pp && stages.first; stage++) {
        Memory memory = stage_memory(arena, &stages, stage);
        if (memory.peak <= most.peak) continue;
        most = memory;
        if (fullest) *fullest = stage;
    }
    arena_close(arena);
    return most;
}

// ---- What is left open.

static bool leaves_micro_batch_open(const TrainingSpec *training) {
    bool says = training->micro_batch > 0 || training->grad_accumulation > 0 || training->global_batch <= 0;
    return !says && training->strategy != STRATEGY_LAYERS && training->layout.pp <= 1;
}

double micro_batch_assumed(const TrainingSpec *training, int gpus, const Gpu *gpu) {
    double share = training->global_batch / replicas_of_job(training, gpus);
    if (!leaves_micro_batch_open(training)) return 0;
    if (share != floor(share)) return share; // refused elsewhere
    TrainingSpec so = *training;
    for (double pieces = 1; pieces <= share && pieces <= MOST_MICRO_BATCHES; pieces++) {
        so.micro_batch = share / pieces;
        if (fmod(share, pieces) != 0) continue;
        Memory memory = memory_of_job(&so, gpus, gpu, NULL);
        if (memory.peak <= memory.capacity) return so.micro_batch;
    }
    return 1;
}

// ---- What to change.

// Each turns one knob by one notch; false when it is at its end.
static bool halve_micro_batch(TrainingSpec *training, int gpus) {
    double micro_batch = micro_batch_of_job(training, replicas_of_job(training, gpus));
    if (micro_batch < 2) return false;
    if (training->global_batch <= 0) // the step keeps its samples
        training->global_batch = micro_batch * replicas_of_job(training, gpus) * micro_batches_of_job(training, 1);
    training->micro_batch = floor(micro_batch / 2);
    training->grad_accumulation = 0;
    return true;
}

static bool recompute_more(TrainingSpec *training, int gpus) {
    (void)gpus;
    bool all = training->recompute == RECOMPUTE_FULL && !recomputes_some_layers(training);
    if (!names_parts(training->model) || all) return false;
    training->recompute = training->recompute == RECOMPUTE_NONE ? RECOMPUTE_SELECTIVE : RECOMPUTE_FULL;
    training->recompute_modules = training->recompute_keeps = 0;
    training->recompute_layers = training->recompute_every = 0;
    return true;
}

static bool shard_optimizer(TrainingSpec *training, int gpus) {
    if (shards_optimizer(&training->layout) || replicas_of_job(training, gpus) == 1) return false;
    training->layout.zero = 1;
    return true;
}

// More GPUs to a replica; the micro-batch stays, so fewer replicas do more micro-batches each.
static bool regroup(TrainingSpec *training, int gpus, int tp, int pp) {
    if (training->strategy != STRATEGY_AUTO && training->strategy != STRATEGY_DDP) return false;
    if (tp * pp > gpus || gpus % (tp * pp) != 0) return false;
    if (pp * at_least_one(training->layout.vpp) > layers_to_spread(training->model)) return false;
    training->micro_batch = micro_batch_of_job(training, replicas_of_job(training, gpus));
    training->grad_accumulation = 0;
    training->layout.tp = tp;
    training->layout.pp = pp;
    training->layout.dp = gpus / (tp * pp);
    training->layout.stage_layers = NULL;
    return true;
}

static bool double_tp(TrainingSpec *training, int gpus) {
    const Model *model = training->model;
    int tp = 2 * at_least_one(training->layout.tp);
    if (!splits_products(model) || tp > MOST_TP || model->heads % tp != 0) return false;
    if (model->written && written_undivided(model, tp)) return false;
    return regroup(training, gpus, tp, at_least_one(training->layout.pp));
}

static bool double_pp(TrainingSpec *training, int gpus) {
    return regroup(training, gpus, at_least_one(training->layout.tp), 2 * at_least_one(training->layout.pp));
}

// Where frameworks shard so.
static bool shard_more(TrainingSpec *training, int gpus) {
    Layout *layout = &training->layout;
    int next = layout->zero < 1 ? 2 : layout->zero + 1;
    if (next > 3 || replicas_of_job(training, gpus) == 1 || !layout_zero_is_usual(next, layout->pp, layout->ep) ||
        !software_starts(training->software, "zero", next))
        return false;
    layout->zero = next;
    return true;
}

// Frozen weights in 4 bits: what adapters are trained on where a card is small (QLoRA).
static bool quantise_frozen(TrainingSpec *training, int gpus) {
    (void)gpus;
    if (training->lora_rank < 1 || training->nf4_weights) return false;
    return training->nf4_weights = true;
}

// By what they cost of a step, the least first: an optimizer in shards travels as gradients did, small micro-batches
// are worse kernels, recomputation is a third more work, and tensors and stages wait for each other.
typedef bool Knob(TrainingSpec *training, int gpus);
static Knob *const knobs[] = {shard_optimizer, halve_micro_batch, shard_more, quantise_frozen,
                              recompute_more,  double_tp,         double_pp};
enum { OPTIMIZER = 1, MICRO_BATCH = 2, SHARDS = 4, FROZEN = 8, RECOMPUTE = 16, TENSORS = 32, STAGES = 64 }; // their bits
#define KNOB_COUNT ((int)(sizeof knobs / sizeof *knobs))

typedef struct Fitting {
    Arena *arena;
    const TrainingSpec *before;
    const Gpu *gpu;
    int gpus; // that it would have
    bool surely;
} Fitting;

// A change is one only if the job runs with it.
static bool fits(const Fitting *f, const TrainingSpec *training) {
    Resolved resolved;
    Memory memory = memory_of_job(training, f->gpus, f->gpu, NULL);
    bool has_room = f->surely ? chance_to_run_out(&memory) <= 1 - MEMORY_FITS : memory.peak <= memory.capacity;
    return has_room && resolve_layout(f->arena, training, f->gpus, &resolved, problems_create(f->arena));
}

static const char *with(const Fitting *f, const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *setting = job_words(f->arena, f->before->scripted, arena_vprintf(f->arena, format, arguments));
    va_end(arguments);
    return arena_printf(f->arena, "%s%s%s", text, *text ? f->before->scripted ? ", " : " " : "", setting);
}

static const char *describe_change(const Fitting *f, const TrainingSpec *after, int gpus) {
    const TrainingSpec *before = f->before;
    const char *text = "", *risk = "";
    double micro_batch = micro_batch_of_job(after, replicas_of_job(after, f->gpus));
    Memory memory = memory_of_job(after, f->gpus, f->gpu, NULL);
    char bytes[32];
    if (f->gpus != gpus) text = with(f, text, "gpus = %d", f->gpus);
    if (micro_batch != micro_batch_of_job(before, replicas_of_job(before, gpus)))
        text = with(f, text, "micro_batch = %.0f", micro_batch);
    if (after->recompute != before->recompute)
        text = with(f, text, "recompute = \"%s\"", recompute_name(after->recompute));
    if (after->layout.zero != before->layout.zero) text = with(f, text, "zero = %d", after->layout.zero);
    if (after->nf4_weights != before->nf4_weights) text = with(f, text, "nf4_weights = true");
    if (after->layout.tp != before->layout.tp) text = with(f, text, "tp = %d", after->layout.tp);
    if (after->layout.pp != before->layout.pp) text = with(f, text, "pp = %d", after->layout.pp);
    if (!f->surely) risk = arena_printf(f->arena, ", with %.0f %%", 100 * (1 - chance_to_run_out(&memory)));
    quantity_format(memory.peak, QUANTITY_BYTES, bytes, sizeof bytes);
    return arena_printf(f->arena, "%s (%s%s)", text, bytes, risk);
}

// Turns the knob until the job fits.
static bool turn_until_fits(const Fitting *f, Knob *knob, TrainingSpec *training) {
    while (knob(training, f->gpus))
        if (fits(f, training)) return true;
    return false;
}

// What is turned together, one after the other: with stages weights are not sharded.
static const unsigned together[] = {OPTIMIZER | MICRO_BATCH | FROZEN | RECOMPUTE | TENSORS | STAGES,
                                    OPTIMIZER | MICRO_BATCH | SHARDS | FROZEN | RECOMPUTE};

// One knob alone, then several.
static bool find_change(const Fitting *f, TrainingSpec *changed) {
    *changed = *f->before;
    if (fits(f, changed)) return true;
    for (int i = 0; i < KNOB_COUNT; i++) {
        *changed = *f->before;
        if (turn_until_fits(f, knobs[i], changed)) return true;
    }
    for (size_t t = 0; t < sizeof together / sizeof *together; t++) {
        *changed = *f->before;
        for (int i = 0; i < KNOB_COUNT; i++)
            if (together[t] >> i & 1 && turn_until_fits(f, knobs[i], changed)) return true;
    }
    return false;
}

#define MOST_GPUS 16384

const char *smallest_change_that_fits(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu) {
    Arena *scratch = arena_open();
    const char *change = NULL;
    TrainingSpec changed;
    Fitting f = {scratch, training, gpu, gpus, true};
    f.surely = false;
    bool fits_on_paper = fits(&f, training); // then only what makes it surer is a change
    f.surely = true;
    for (int may = 0; may < (fits_on_paper ? 1 : 2) && !change; may++, f.surely = false)
        if (find_change(&f, &changed)) change = describe_change(&f, &changed, gpus);
    f.surely = true;
    for (f.gpus = 2 * gpus; f.gpus <= MOST_GPUS && !change; f.gpus *= 2)
        if (find_change(&f, &changed)) change = describe_change(&f, &changed, gpus);
    change = change ? arena_copy_text(arena, change) : NULL;
    arena_close(scratch);
    return change;
}
