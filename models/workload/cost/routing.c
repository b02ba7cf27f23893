// Routing of tokens to experts: each expert's share of a layer's tokens, and the most loaded rank.
#include <math.h>

#include "models/workload/cost/cost_internal.h"
#include "sim/base/random.h"

static void zipf_shares(const TrainingSpec *training, int count, double *shares) {
    for (int e = 0; e < count; e++) shares[e] = pow(e + 1, -training->expert_skew);
}

// A Dirichlet draw as gamma draws over their sum. Shares that underflow are 0.
static void dirichlet_shares(const Routing *routing, int block, int count, double *shares) {
    RandomStream stream = random_stream(routing->seed, "routing", (uint64_t)block);
    for (int e = 0; e < count; e++) shares[e] = random_gamma(&stream, routing->concentration, 1);
}

static void to_shares(int count, double *shares) {
    double sum = 0;
    for (int e = 0; e < count; e++) sum += shares[e];
    for (int e = 0; e < count; e++) shares[e] = sum > 0 ? shares[e] / sum : 1.0 / count;
}

// Shares by Zipf's law are dealt to ranks in order of popularity, like cards; others by expert number, in blocks of
// equal size.
static int rank_of(const Routing *routing, int expert, int count, int ranks) {
    return routing->kind == ROUTING_ZIPF ? expert % ranks : expert / (count / ranks);
}

#define MOST_EXPERTS 4096 // of a layer

RoutedShares expert_load(const TrainingSpec *training, int block, double ep) {
    const Routing *routing = &training->routing;
    int count = training->model->experts.count, ranks = (int)ep;
    double shares[MOST_EXPERTS], of_rank[MOST_EXPERTS] = {0};
    double limit = training->capacity_factor > 0 ? training->capacity_factor / count : 1;
    if (count < 1 || count > MOST_EXPERTS || count % ranks) return (RoutedShares){1 / ep, 1}; // refused with the layout
    if (routing->kind == ROUTING_DIRICHLET)
        dirichlet_shares(routing, block, count, shares);
    else if (routing->kind == ROUTING_HISTOGRAM)
        for (int e = 0; e < count; e++) shares[e] = e < routing->token_count ? routing->tokens[e] : 0;
    else
        zipf_shares(training, count, shares);
    to_shares(count, shares);
    RoutedShares load = {0, 0};
    for (int e = 0; e < count; e++) {
        double share = fmin(shares[e], limit);
        load.kept += share;
        of_rank[rank_of(routing, e, count, ranks)] += share;
    }
    for (int rank = 0; rank < ranks; rank++) load.fullest = fmax(load.fullest, of_rank[rank]);
    return load;
}

void work_on_block(Work *work, int block) {
    work->in_4_bits = block_in_4_bits(work->training, block);
    if (work->model->experts.count == 0) return;
    work->load = expert_load(work->training, block, work->ep);
}

RoutedShares routed_shares(const TrainingSpec *training) {
    RoutedShares mean = {0, 0};
    int layers = 0;
    const Model *model = training->model;
    for (int block = first_layer(model); block < model->block_count - first_layer(model); block++) {
        if (!has_experts(model, block)) continue;
        RoutedShares load = expert_load(training, block, training->layout.ep > 1 ? training->layout.ep : 1);
        mean.fullest += load.fullest;
        mean.kept += load.kept;
        layers++;
    }
    if (layers == 0) return (RoutedShares){1, 1};
    return (RoutedShares){mean.fullest / layers, mean.kept / layers};
}
