// Memory: who shares more holds less.
#include "models/workload/cost/cost.h"
#include "tests/laws_internal.h"
#include "tests/test.h"

#define COMMUNICATOR_BYTES 268435456.0 // of one group of ranks (models/workload/cost/memory.c)

static Answer estimate(const DrawnStudy *study, bool second) {
    return law_answer_of(study, "", (AnswerOptions){.memory_only = true, .second = second});
}

static double held(const Memory *memory) {
    return memory->bytes[MEMORY_WEIGHTS] + memory->bytes[MEMORY_GRADIENTS] + memory->bytes[MEMORY_OPTIMIZER];
}

// What is gathered and what is yet to be reduced lies in buffers beside the rank's own shard of it (PyTorch's FSDP), so
// each stage of ZeRO may hold as much more than the one before: of one block's gradients in stage 2, of the gathered
// weights in stage 3. Buffers are there all the time, gradients once backward has made them: at the peak of a step that
// may be few. It shows where few blocks are most of the model. And what nothing shards is followed through a
// step of one micro-batch (memory_time.c), with what backward needs for itself at the very moment; the estimate of all
// others adds the most of that to the most of all else, which it need not meet. Adapters beside weights in 16 bits have
// no copies in 32 bits unless ZeRO makes them: of these stage 1 says nothing.
static double meets_nothing(const Answer *less, const Answer *more) {
    double most = 0;
    for (int c = MEMORY_ACTIVATIONS; c <= MEMORY_WORKING; c++)
        most += fmax(0, more->memory.bytes[c] - less->memory.bytes[c]);
    return most;
}

Verdict law_zero(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    DrawnStudy with = *study;
    int stage = (int)(seed % 3);
    if (stage > 0 && drawn_count(study, "training.parallel.pp", 1) > 1) return LAW_SILENT; // stays whole beside shards
    drawn_set_count(&with, "training.zero", stage);
    Answer less = estimate(&with, false);
    drawn_set_count(&with, "training.zero", stage + 1);
    Answer more = estimate(&with, true);
    Verdict verdict = LAW_SILENT;
    const char *half = drawn_value(study, "training.half_weights");
    bool widens = stage == 0 && drawn_count(study, "training.lora_rank", 0) > 0 && half && strcmp(half, "true") == 0;
    if (less.lowered && more.lowered && !widens) {
        double grown = fmax(0, more.memory.bytes[MEMORY_BUFFERS] - less.memory.bytes[MEMORY_BUFFERS]);
        bool shards = more.lowered->resolved.shard > 1;
        snprintf(finding->sets, sizeof finding->sets, "training.zero = %d, then %d", stage, stage + 1);
        double slack = stage == 0 ? meets_nothing(&less, &more) : shards ? grown : 0;
        verdict = at_most(more.memory.peak, less.memory.peak + slack, "memory", finding);
    }
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}

// Twice the GPUs, and each holds a half of what it shares with another.
static bool double_degree(DrawnStudy *study, const char *path) {
    int degree = drawn_count(study, path, 1), gpus = drawn_count(study, "cluster.gpus", 0);
    if (gpus == 0 || drawn_value(study, "fabric.dims") || drawn_value(study, "fabric.links.1.from")) return false;
    drawn_set_count(study, path, 2 * degree);
    drawn_set_count(study, "cluster.gpus", 2 * gpus);
    return true;
}

// Tensor parallelism splits all that a rank holds, for one more communicator. Of a pipeline it is true of parameters
// alone, and where layers are alike and divide evenly: its first stage holds as many activations, and the embedding's
// more often. Of experts too: the fullest rank gets more than its share of the tokens; and ZeRO 2 and 3 shard experts
// only where they are not spread.
static bool divides_evenly(const Answer *answer, int stages) {
    const TrainingSpec *training = answer->lowered->training;
    int chunks = stages * (training->layout.vpp > 1 ? training->layout.vpp : 1);
    return counts_tokens(training->model) && (training->model->block_count - 2) % chunks == 0;
}

Verdict law_shards(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    static const char *const paths[] = {"training.parallel.tp", "training.parallel.pp", "training.parallel.ep"};
    const char *path = paths[seed % 3];
    bool tp = seed % 3 == 0, pp = seed % 3 == 1, ep = seed % 3 == 2;
    DrawnStudy with = *study;
    int before = drawn_count(study, path, 1);
    if (pp && before < 2) drawn_set_count(&with, path, before = 2);
    if (ep && drawn_count(study, "training.zero", 0) > 1) return LAW_SILENT;
    Answer less = estimate(&with, false);
    bool possible = ep || double_degree(&with, path);
    if (ep) drawn_set_count(&with, path, 2 * before);
    Answer more = estimate(&with, true);
    Verdict verdict = LAW_SILENT;
    if (pp && less.lowered) possible = possible && divides_evenly(&less, 2 * before);
    if (possible && less.lowered && more.lowered) {
        snprintf(finding->sets, sizeof finding->sets, "%s = %d, then %d%s", path, before, 2 * before,
                 ep ? "" : " with twice the GPUs");
        double group = before == 1 ? COMMUNICATOR_BYTES : 0;
        verdict = tp ? at_most(more.memory.peak, less.memory.peak + group, "memory", finding)
                     : at_most(held(&more.memory), held(&less.memory), "what a rank holds", finding);
    }
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}

// Where backward is split, what the weights' pass needs is kept whatever is recomputed: of small stages that can be
// less than the one layer that recomputation rebuilds at a time.
static double rebuilt(const Answer *less, const Answer *more) {
    if (!schedule_splits_backward(less->lowered->resolved.schedule)) return 0;
    return fmax(more->memory.bytes[MEMORY_WORKING] - less->memory.bytes[MEMORY_WORKING], 0);
}

Verdict law_recompute(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    static const char *const kinds[] = {"\"none\"", "\"selective\"", "\"full\""};
    DrawnStudy with = *study;
    int kind = (int)(seed % 2);
    drawn_set(&with, "training.recompute_modules", NULL);
    drawn_set(&with, "training.recompute_keeps", NULL);
    drawn_set(&with, "training.recompute_layers", NULL);
    drawn_set(&with, "training.recompute_every", NULL);
    drawn_set(&with, "training.recompute", kinds[kind]);
    Answer less = estimate(&with, false);
    drawn_set(&with, "training.recompute", kinds[kind + 1]);
    Answer more = estimate(&with, true);
    Verdict verdict = LAW_SILENT;
    if (less.lowered && more.lowered) {
        snprintf(finding->sets, sizeof finding->sets, "training.recompute = %s, then %s", kinds[kind], kinds[kind + 1]);
        verdict = at_most(more.memory.peak, less.memory.peak + rebuilt(&less, &more), "memory", finding);
    }
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}

Verdict law_micro_batch(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)seed;
    DrawnStudy with = *study;
    int micro = drawn_count(study, "training.batch.micro", 0);
    if (micro < 2 || micro % 2) return LAW_SILENT;
    Answer less = estimate(&with, false);
    int global = drawn_count(study, "training.batch.global", 0); // as many micro-batches: one alone drops its gradients
    drawn_set_count(&with, "training.batch.micro", micro / 2);
    if (global) drawn_set_count(&with, "training.batch.global", global / 2);
    Answer more = estimate(&with, true);
    Verdict verdict = LAW_SILENT;
    if (less.lowered && more.lowered) {
        snprintf(finding->sets, sizeof finding->sets, "training.batch.micro = %d, then %d, of as many", micro,
                 micro / 2);
        verdict = at_most(more.memory.peak, less.memory.peak, "memory", finding);
    }
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}
