// Cost of attention between the positions of an image: queries, keys and values of a window attend to each other
// only; `keys` are attended to by all positions.
#include "models/workload/cost/cost_layers.h"
#include "models/workload/model/model_internal.h"

#define WINDOW_PASSES 6.0 // cutting into windows, shifting, and putting together again

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
        pass_bytes(work, pass, CAUSE_ATTENTION, bytes / scores, work->element_bytes * scores);
        pass_kernels(pass, direction == FORWARD ? 14 : 22);
    }
}

static void flash_attention(const Work *work, const NetLayer *layer, const Operator *one, Pass *const passes[2]) {
    double queries = places_out(layer), keys = attention_keys(layer), heads = layer->attention.heads;
    double bytes = work->element_bytes * work->samples * layer->out_channels * 2 * (queries + keys);
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        flash_kernel(work, passes[direction], one->flops, bytes, layer->out_channels / heads, direction);
        pass_kernels(passes[direction], direction == FORWARD ? 8 : 16);
    }
}

void place_attention_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    Pass *const passes[2] = {forward, backward};
    if (layer->attention.keys && work->training->attention != ATTENTION_PLAIN) {
        flash_attention(work, layer, one, passes);
    } else if (layer->attention.keys) {
        plain_attention(work, layer, passes, work->samples * layer->attention.heads, places_out(layer));
    } else {
        double along = ceil((double)layer->out_size / layer->attention.window);
        plain_attention(work, layer, passes, work->samples * along * along * layer->attention.heads,
                        attention_keys(layer));
    }
    elements_cost(work, layer, one, forward, backward);
}
