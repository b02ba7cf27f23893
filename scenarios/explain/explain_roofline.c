// The roofline of a step's operators (Williams, Waterman and Patterson, 2009): arithmetic intensity of each, and its
// distance from the GPU's rates by the kernel models. Forward of one micro-batch on one GPU, each operator as a
// kernel by itself; software overheads between them are in the step, not here.
#include <math.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "models/workload/model/model.h"
#include "models/workload/model/operators.h"
#include "scenarios/explain/explain.h"
#include "sim/base/list.h"

typedef struct RooflineList {
    RooflineRow *items;
    int count, room;
} RooflineList;

static double kernel_seconds(const Gpu *gpu, Precision precision, const Operator *one, double bytes) {
    if (one->flops <= 0) return cold_memory_seconds(gpu, bytes);
    if (one->kind != OPERATOR_GEMM || one->k < 1 || one->m < 1 || one->n < 1)
        return roofline_seconds(gpu, precision, one->flops, bytes);
    Gemm gemm = {.precision = precision,
                 .batch = (int64_t)fmax(1, round(one->batch)),
                 .m = (int64_t)round(one->m),
                 .n = (int64_t)round(one->n),
                 .k = (int64_t)round(one->k)};
    return gemm_seconds(gpu, &gemm);
}

// Operators of the same name and size in equal layers are one row.
static void add_row(Arena *arena, RooflineList *list, const RooflineRow *row) {
    for (int i = 0; i < list->count; i++) {
        RooflineRow *known = &list->items[i];
        if (strcmp(known->name, row->name) != 0 || known->flops != row->flops || known->bytes != row->bytes) continue;
        known->times += row->times;
        known->seconds += row->seconds;
        return;
    }
    LIST_PUSH(arena, list, *row);
}

static Portion portion_of(const Explanation *now, int block) {
    const Resolved *r = &now->job.step.lowered->resolved;
    const TrainingSpec *training = now->job.step.lowered->training;
    Portion portion = portion_of_sample(training->model, block, training->seq_len);
    bool counts = counts_tokens(training->model);
    portion.samples = r->micro_batch;
    portion.tokens *= r->micro_batch / (counts ? r->cp : 1);
    portion.routed *= r->micro_batch / r->cp / (r->ep > 1 ? r->ep : 1);
    portion.tp = r->tp;
    portion.ep = r->ep > 1 ? r->ep : 1;
    portion.etp = r->etp > 0 ? r->etp : r->tp;
    portion.share = training->layout.sequence_parallel ? 1.0 / r->tp : 1;
    return portion;
}

static void add_block(Arena *arena, const Explanation *now, int block, RooflineList *list) {
    const TrainingSpec *training = now->job.step.lowered->training;
    const Gpu *gpu = now->job.cluster->gpu_of[0];
    Precision precision = training->precision;
    double peak = gpu_peak(gpu, precision), element = precision_bytes(precision);
    OperatorList *operators = ARENA_NEW(arena, OperatorList);
    Portion portion = portion_of(now, block);
    block_operators(training->model, block, &portion, operators);
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        double bytes = element * (one->read + one->written);
        double seconds = kernel_seconds(gpu, precision, one, bytes);
        RooflineRow row = {.name = one->name,
                           .kind = operator_kind_names[one->kind],
                           .times = one->times,
                           .flops = one->flops,
                           .bytes = bytes,
                           .seconds = seconds * one->times,
                           .ridge = peak / gpu->memory_bytes_per_second,
                           .of_peak = seconds > 0 ? one->flops / seconds / peak : 0,
                           .of_bandwidth = seconds > 0 ? bytes / seconds / gpu->memory_bytes_per_second : 0};
        if (bytes > 0 || one->flops > 0) add_row(arena, list, &row);
    }
}

// Of the blocks that one GPU of the first stage holds; the head is the last stage's.
void list_roofline(Arena *arena, Explanation *now) {
    const Resolved *r = &now->job.step.lowered->resolved;
    RooflineList list = {0};
    int chunks = r->pipeline.chunks, blocks = r->first_block[chunks];
    for (int block = 0; block < blocks; block++) add_block(arena, now, block, &list);
    now->roofline = list.items;
    now->roofline_count = list.count;
}

// ---- Kinds of operators, in words.

// The common name of a kind of operator.
static const char *kind_title(const char *kind) {
    static const char *const titles[][2] = {{"gemm", "matrix product"},
                                            {"norm", "normalization"},
                                            {"elementwise", "element-wise"},
                                            {"lookup", "embedding"},
                                            {"contrast", "loss"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], kind) == 0) return titles[i][1];
    return kind;
}

const char *explain_operator_kind(const Explanation *now, const char *name) {
    for (int i = 0; i < now->roofline_count; i++)
        if (strcmp(now->roofline[i].name, name) == 0) return kind_title(now->roofline[i].kind);
    return "other";
}
