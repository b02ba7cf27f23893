// The roofline of a step's operators (Williams, Waterman and Patterson, 2009): arithmetic intensity of each, and its
// distance from the GPU's rates. Forward of one micro-batch on one GPU, in the seconds that the step has for each;
// launches and waiting between them are in the step, not here.
#include <string.h>

#include "models/hardware/kernel.h"
#include "scenarios/explain/explain.h"
#include "sim/base/list.h"

typedef struct RooflineList {
    RooflineRow *items;
    int count, room;
} RooflineList;

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

static void add_block(Arena *arena, const Explanation *now, int block, RooflineList *list) {
    const TrainingSpec *training = now->job.step.lowered->training;
    const Gpu *gpu = now->job.cluster->gpu_of[0];
    int count;
    const OperatorWork *work =
        block_operator_work(arena, block, training, now->job.step.lowered->resolved.micro_batch, gpu, &count);
    for (int i = 0; i < count; i++) {
        const OperatorWork *one = &work[i];
        double peak = gpu_peak(gpu, one->precision), each = one->seconds / one->times;
        RooflineRow row = {.name = one->name,
                           .kind = one->kind,
                           .times = one->times,
                           .flops = one->flops,
                           .bytes = one->bytes,
                           .seconds = one->seconds,
                           .ridge = peak / gpu->memory_bytes_per_second,
                           .of_peak = each > 0 ? one->flops / each / peak : 0,
                           .of_bandwidth = each > 0 ? one->bytes / each / gpu->memory_bytes_per_second : 0};
        if (one->bytes > 0 || one->flops > 0) add_row(arena, list, &row);
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
