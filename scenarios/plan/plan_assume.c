// What a plan takes where the user says nothing: the global batch, the numbers of GPUs, and whose price.
#include <math.h>

#include "models/hardware/market.h"
#include "models/workload/cost/cost.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_answer.h"
#include "sim/list.h"

// ---- The batch: tokens by size of model, the powers of two next to those of GPT-3's family (Brown et al. 2020,
// arXiv:2005.14165, table 2.1: 0.5 M up to 760 M parameters, 1 M up to 2.7 B, 2 M up to 13 B, 3.2 M of 175 B).

static const struct {
    double parameters_below, tokens;
} usual_batches[] = {{1e9, 1 << 19}, {5e9, 1 << 20}, {40e9, 1 << 21}, {INFINITY, 1 << 22}};

double plan_usual_batch(const Model *model, double seq_len) {
    int row = 0;
    while (model_parameters(model) >= usual_batches[row].parameters_below) row++;
    return fmax(1, floor(usual_batches[row].tokens / seq_len));
}

// ---- The numbers of GPUs that can meet a date: from those that would need two thirds of the peak to those for which a
// quarter is enough, and one more doubling.

#define BEST_UTILISATION 0.65
#define POOR_UTILISATION 0.25
#define MOST_GPUS 1e6

static double doubled_until(double gpus, double enough) {
    while (gpus < enough && gpus <= MOST_GPUS) gpus *= 2;
    return gpus;
}

static double peak_of(const PlanRequest *request, const NodeType *node) {
    const Gpu *gpu = node_gpu(request->catalogue, node, 0);
    double peak = gpu->peak_flops[request->training.precision];
    return peak > 0 ? peak : gpu->peak_flops[FP32];
}

PlanRange plan_usual_gpus(const PlanRequest *request, double samples) {
    PlanRange range = {INFINITY, 0};
    double flops = training_flops_per_sample(&request->training) * samples;
    for (int i = 0; i < request->node_count; i++) {
        const NodeType *node = request->nodes[i];
        double at_peak = flops / (peak_of(request, node) * request->deadline_s), whole = node->gpu_count;
        range.least = fmin(range.least, doubled_until(whole, at_peak / BEST_UTILISATION));
        range.most = fmax(range.most, 2 * doubled_until(whole, at_peak / POOR_UTILISATION));
    }
    return range;
}

// ---- The price: of a node that nobody offers by its name, what its GPUs cost elsewhere.

Quote plan_quote(Arena *arena, const PlanRequest *request, const NodeType *node) {
    if (request->price_per_gpu_hour >= 0) return (Quote){0};
    RentSpec rent = request->rent ? *request->rent : (RentSpec){.terms = -1};
    for (int i = 0; i < rent.price_count; i++)
        if (rent.prices[i].node == node) return (Quote){0};
    rent.market = true;
    const Gpu *gpu = node_gpu(request->catalogue, node, 0);
    return rent_quote(arena, request->catalogue, node, gpu, &rent, request->currency);
}
