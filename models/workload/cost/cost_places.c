// Layers in which places or samples meet one another. Attention between the places of an image: queries, keys and
// values of a window meet only one another; `keys` are met by all places.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

#define WINDOW_PASSES 6.0 // cutting into windows, shifting, and putting together again

static int direction_count(const NetLayer *layer) { return layer->learning == LEARNS_NEVER ? 1 : 2; }

static void plain_attention(const Work *work, const NetLayer *layer, Pass *const passes[2], double groups,
                            double queries) {
    double keys = attention_keys(layer), width = (double)layer->out_channels / layer->attention.heads;
    double scores = groups * queries * keys, elements = groups * queries * width;
    double moved = 2 * 4 + (layer->attention.keys ? 0 : WINDOW_PASSES);
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        Pass *pass = passes[direction];
        for (int i = 0; i < (direction == BACKWARD ? 2 : 1); i++) {
            pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, groups, queries, keys, width);
            pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, groups, queries, width, keys);
        }
        double bytes = work->traits->scores[direction] * scores + moved * elements;
        pass_bytes(work, pass, CAUSE_ATTENTION, work->element_bytes * bytes);
        pass_kernels(pass, direction == FORWARD ? 14 : 22);
    }
}

static void flash_attention(const Work *work, const NetLayer *layer, Pass *const passes[2]) {
    double queries = places_out(layer), keys = attention_keys(layer), heads = layer->attention.heads;
    double flops = 2 * work->samples * layer_macs(layer);
    double bytes = work->element_bytes * work->samples * layer->out_channels * 2 * (queries + keys);
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        flash_kernel(work, passes[direction], flops, bytes, layer->out_channels / heads, direction);
        pass_kernels(passes[direction], direction == FORWARD ? 8 : 16);
    }
}

void place_attention(const Work *work, const NetLayer *layer, Pass *forward, Pass *backward) {
    Pass *const passes[2] = {forward, backward};
    if (layer->attention.keys && work->training->attention != ATTENTION_PLAIN) {
        flash_attention(work, layer, passes);
    } else if (layer->attention.keys) {
        plain_attention(work, layer, passes, work->samples * layer->attention.heads, places_out(layer));
    } else {
        double along = ceil((double)layer->out_size / layer->attention.window);
        plain_attention(work, layer, passes, work->samples * along * along * layer->attention.heads,
                        attention_keys(layer));
    }
}

// ---- Contrast (CLIP): a GPU's images against the texts of all and the other way round; what was gathered from the
// others gets its gradient back.

#define LOSS_FORWARD 6.0 // passes over the similarities in 32 bits: scale, maximum, exponentials, sum
#define LOSS_BACKWARD 4.0
#define CONTRAST_KERNELS 16

double contrast_pairs(const Work *work) {
    const TrainingSpec *training = work->training;
    double steps = training->grad_accumulation > 1 ? training->grad_accumulation : 1;
    double replicas = training->layout.dp > 1 ? training->layout.dp : 1;
    return training->global_batch > 0 ? training->global_batch / steps : work->samples * replicas;
}

void contrast_cost(const Work *work, const NetLayer *layer, Pass *forward, Pass *backward) {
    double own = work->samples, all = contrast_pairs(work), width = layer->out_channels;
    double gathered = 2 * work->element_bytes * all * width, similarities = 2 * 4 * own * all;
    if (all > own) pass_among_replicas(forward, COLLECTIVE_ALL_GATHER, gathered);
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 2, own, all, width);
    pass_bytes(work, forward, CAUSE_MEMORY, LOSS_FORWARD * similarities);
    pass_kernels(forward, CONTRAST_KERNELS);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, own, width, all);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, all, width, own);
    pass_bytes(work, backward, CAUSE_MEMORY, LOSS_BACKWARD * similarities);
    pass_kernels(backward, CONTRAST_KERNELS);
    if (all > own) pass_among_replicas(backward, COLLECTIVE_REDUCE_SCATTER, gathered);
}
