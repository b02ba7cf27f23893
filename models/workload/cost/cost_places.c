// What the places of an image or a sound have to do with one another: attention, and recurrence.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

#define WINDOW_PASSES 6.0 // cutting into windows, shifting, and putting together again

// ---- Attention. Queries, keys and values of a window meet only one another; `keys` are met by all places.

static void attention_products(const Work *work, Pass *pass, double batch, double queries, double keys, double width) {
    pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, batch, queries, keys, width);
    pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, batch, queries, width, keys);
}

void place_attention(const Work *work, const ConvLayer *layer, Pass *forward, Pass *backward) {
    bool flash = layer->keys && work->training->attention != ATTENTION_PLAIN;
    double keys = conv_keys(layer), queries = layer->keys ? conv_out_places(layer) : keys;
    double along = layer->keys ? 1 : ceil((double)layer->out_size / layer->window); // windows
    double groups = work->samples * along * along * layer->heads, width = (double)layer->out_channels / layer->heads;
    double elements = groups * queries * width, scores = groups * queries * keys;
    for (int direction = FORWARD; direction <= BACKWARD; direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        if (layer->learning == LEARNS_NEVER && direction == BACKWARD) break;
        for (int i = 0; i < (direction == BACKWARD ? 2 : 1); i++)
            attention_products(work, pass, groups, queries, keys, width);
        if (flash && direction == BACKWARD) // the scores once more
            pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, groups, queries, keys, width);
        double passes = flash ? 0 : work->traits->scores[direction] * scores;
        double bytes = passes + (2 * 4 + (layer->keys ? 0 : WINDOW_PASSES)) * elements;
        pass_bytes(work, pass, CAUSE_ATTENTION, work->element_bytes * bytes);
        int kernels = direction == FORWARD ? 14 : 22;
        pass_kernels(pass, flash ? kernels - FLASH_KERNELS_SAVED : kernels);
    }
}

// ---- Recurrence (an LSTM). What comes in is multiplied for all steps at once; what goes round, step after step.

#define GATES 4
#define CELL_PASSES 12.0 // of the hidden width at each step: four gates read and kept, the cell and what it gives
#define STEP_KERNELS 2   // a product and the cell

void recurrent_cost(const Work *work, const ConvLayer *layer, Pass *forward, Pass *backward) {
    double steps = conv_out_places(layer), rows = work->samples, in = layer->in_channels, out = layer->out_channels;
    linear_forward(work, forward, 1, rows * steps, GATES * out, in);
    Gemm round = {work->precision, 1, (int64_t)rows, (int64_t)(GATES * out), (int64_t)out};
    Gemm back = {work->precision, 1, (int64_t)rows, (int64_t)out, (int64_t)(GATES * out)};
    double cell = memory_seconds(work->gpu, CELL_PASSES * work->element_bytes * rows * out);
    pass_now(forward)->seconds[CAUSE_GEMM] += steps * gemm_seconds(work->gpu, &round);
    pass_now(forward)->seconds[CAUSE_MEMORY] += steps * cell;
    pass_kernels(forward, STEP_KERNELS * steps);
    if (layer->learning == LEARNS_NEVER) return;
    pass_now(backward)->seconds[CAUSE_GEMM] += steps * gemm_seconds(work->gpu, &back);
    pass_now(backward)->seconds[CAUSE_MEMORY] += steps * cell;
    pass_kernels(backward, STEP_KERNELS * steps);
    linear_backward(work, backward, 1, rows * steps, GATES * out, in);
    linear_weight_backward(work, weights_of(work, backward), 1, rows * steps, GATES * out, out); // of what goes round
}
