// Cost of mixture-of-experts layers: router, tokens sorted and exchanged with the ranks that hold their experts,
// grouped products, and the way back (Lepikhin et al. 2021; Megatron-Core's dispatcher). Each layer waits for the
// rank whose experts got the most tokens, so every rank gets that rank's time: the mean rank's work as work, and the
// rest as waiting (CAUSE_EP).
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "sim/base/random.h"

// ---- Routing of tokens to experts: each expert's share of a layer's tokens, and the most loaded rank.

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

static RoutedShares expert_load(const TrainingSpec *training, int block, double ep) {
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

// ---- A layer of experts.

// Counted from what the kernels read and write, not measured: each routed token is copied once into the order of its
// experts and, where several experts of a rank receive from several ranks, once more; the same on the way back.
#define SORT_PASSES 2
#define SORT_AGAIN_PASSES 2
#define ROUTER_BYTES 24 // per token and expert: 32-bit scores, softmax, the choice, counts
#define ROUTER_KERNELS 12
#define EXPERT_KERNELS 14     // sorting, counting, exchanging
#define PRODUCT_KERNELS 1     // each expert's product is launched by itself; in 8 bits its two inputs' scales are laid
#define FP8_PRODUCT_KERNELS 4 // out anew and an input is cast

// Biases keep the grouped MLP from its fused kernels: the gate is made of elementary ones (two clamps, sigmoid unit,
// offset, two products, casts), and the second product's bias times the token's weight is added expert by expert in 32
// bits. Bytes per element of the gate's width and of the hidden state in 16 bits, counted; launches per expert.
static const double elementary_gate_bytes[] = {34, 72}, expert_bias_bytes[] = {28, 40};
static const double expert_bias_kernels[] = {2, 5};

// Tensor-parallel ranks that share experts gather what each of them got for its slice of the tokens.
static double gathered_slices(const Work *work) { return work->etp == work->tp ? 1 : work->share; }

// A loop over experts: which tokens are its own (two kernels, and the host waits for the answer), they and their
// weights picked, an activation apart from its product, the sum put back; counted (transformers, modeling_mixtral.py).
static const double loop_kernels[] = {9, 14};

static void loop_over_experts(const Work *work, Pass *pass, int direction) {
    if (!work->training->expert_loop) return;
    double experts = work->model->experts.count / work->ep;
    pass_kernels(pass, loop_kernels[direction] * experts);
    if (direction == FORWARD) pass_now(pass)->seconds[CAUSE_LAUNCH] += experts * cost_constant(ANSWER_SECONDS);
}

double routed_tokens(const Work *work) {
    return work->tokens * gathered_slices(work) * work->model->experts.per_token * work->ep * work->load.fullest;
}

// ---- What the mean rank does of the fullest rank's work.

// Tokens of the mean rank as a share of the most loaded rank's; 1: balanced.
static double even_share(const Work *work) {
    if (work->model->experts.count == 0) return 1;
    double share = work->load.kept / (work->ep * work->load.fullest);
    return share < 1 - 1e-9 ? share : 1;
}

static bool is_of_experts(const Operator *one) {
    return one->weights.routed > 0 || (one->kind == OPERATOR_ELEMENTWISE && one->part == PART_EXPERTS);
}

// As it would be were tokens spread evenly.
Operator operator_of_mean(const Work *work, const Operator *one) {
    Operator even = *one;
    double share = is_of_experts(one) ? even_share(work) : 1;
    even.m *= share;
    even.read *= share;
    even.written *= share;
    even.flops *= share;
    return even;
}

static void wait_for_fullest(Stretch *stretch, const double *before, const Stretch *even) {
    for (int c = 0; c < CAUSE_COUNT; c++) {
        double waits = c == CAUSE_EP ? 0 : stretch->seconds[c] - before[c] - even->seconds[c];
        if (!(waits > 0)) continue;
        stretch->seconds[c] -= waits;
        stretch->seconds[CAUSE_EP] += waits;
    }
}

void cost_of_fullest(const Work *work, Pass *pass, const Operator *one, int direction, OperatorCost *cost) {
    double share = even_share(work);
    if (share == 1 || !is_of_experts(one)) {
        cost(work, pass, one, direction);
        return;
    }
    Pass *weights = weights_of(work, pass), even = {.count = 0}, even_weights = {.count = 0};
    double before[CAUSE_COUNT], before_weights[CAUSE_COUNT];
    memcpy(before, pass_now(pass)->seconds, sizeof before);
    memcpy(before_weights, pass_now(weights)->seconds, sizeof before_weights);
    cost(work, pass, one, direction);
    Work evenly = *work;
    Operator of_mean = operator_of_mean(work, one);
    if (work->weight_pass) evenly.weight_pass = &even_weights;
    cost(&evenly, &even, &of_mean, direction);
    wait_for_fullest(pass_now(pass), before, pass_now(&even));
    if (weights != pass) wait_for_fullest(pass_now(weights), before_weights, pass_now(&even_weights));
}

// What goes over the tokens that the fullest rank gets.
static void pass_routed_bytes(const Work *work, Pass *pass, double passes, double tensor_bytes) {
    double share = even_share(work), before = pass_now(pass)->seconds[CAUSE_MEMORY];
    pass_bytes(work, pass, CAUSE_MEMORY, passes, tensor_bytes);
    double waits = share == 1 ? 0 : (1 - share) * (pass_now(pass)->seconds[CAUSE_MEMORY] - before);
    pass_now(pass)->seconds[CAUSE_MEMORY] -= waits;
    pass_now(pass)->seconds[CAUSE_EP] += waits;
}

// ---- Steps of a layer.

typedef struct Dispatch {
    double sent, received; // tokens with repeats, of all slices of the tokens; on the slices that its experts get
    double local_experts;
    double copies; // of a token that travel, as a share of its experts: one per rank with fused dispatch
} Dispatch;

// Mean number of distinct ranks of a token's k experts, for uniform choices.
static double ranks_of_token(double ep, double k) { return ep * (1 - pow(1 - 1 / ep, k)); }

static Dispatch dispatch_of(const Work *work) {
    const ExpertShape *experts = &work->model->experts;
    return (Dispatch){
        .sent = work->tokens * experts->per_token * work->load.kept,
        .received = routed_tokens(work),
        .local_experts = experts->count / work->ep,
        .copies =
            work->training->fused_dispatch ? ranks_of_token(work->ep, experts->per_token) / experts->per_token : 1,
    };
}

static void sort_tokens(const Work *work, Pass *pass, double tokens, int passes) {
    if (work->training->fused_dispatch) passes = 0;
    pass_bytes(work, pass, CAUSE_MEMORY, passes, work->element_bytes * tokens * work->model->hidden);
}

static void sort_received(const Work *work, Pass *pass, const Dispatch *dispatch) {
    if (work->training->fused_dispatch) return;
    pass_routed_bytes(work, pass, SORT_AGAIN_PASSES, work->element_bytes * dispatch->received * work->model->hidden);
}

static bool sorts_again(const Work *work, const Dispatch *dispatch) {
    return work->ep > 1 && dispatch->local_experts > 1;
}

// Routed tokens to the ranks of their experts, or back: slices are exchanged, then put together for tensor parallelism.
static void exchange_tokens(const Work *work, Pass *pass, const Dispatch *dispatch, bool to_experts) {
    double row = work->model->hidden * work->element_bytes;
    double arriving = dispatch->received / gathered_slices(work); // were it of all slices
    double exchanged = fmax(dispatch->sent, arriving) * work->share * dispatch->copies * row;
    bool gathers = work->sequence_parallel && work->etp == work->tp;
    CollectiveOp slices = to_experts ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER;
    if (!to_experts && sorts_again(work, dispatch)) sort_received(work, pass, dispatch);
    if (!to_experts && gathers) pass_collective(work, pass, slices, dispatch->received * row);
    pass_exchange(work, pass, exchanged);
    if (to_experts && gathers) pass_collective(work, pass, slices, dispatch->received * row);
    if (to_experts && sorts_again(work, dispatch)) sort_received(work, pass, dispatch);
}

static bool adds_biases(const Work *work) { return work->model->experts.biases && !work->training->fused_dispatch; }

static void expert_biases(const Work *work, Pass *pass, const Dispatch *dispatch, int direction) {
    if (!adds_biases(work)) return;
    double elements = dispatch->received * work->model->hidden;
    pass_routed_bytes(work, pass, expert_bias_bytes[direction] / 2, work->element_bytes * elements);
    pass_kernels(pass, expert_bias_kernels[direction] * dispatch->local_experts);
}

void expert_activation(const Work *work, Pass *pass, const Operator *one, int direction) {
    double passes = activation_pass_count(work, direction);
    if (adds_biases(work)) passes = elementary_gate_bytes[direction] / 2;
    pass_bytes(work, pass, CAUSE_MEMORY, passes, work->element_bytes * one->written);
}

void choose_experts(const Work *work, Pass *pass, double tokens, int direction) {
    pass_bytes(work, pass, CAUSE_MEMORY, ROUTER_BYTES / 4.0, 4 * tokens * work->model->experts.count);
    loop_over_experts(work, pass, direction);
    int products = direction == BACKWARD ? 4 : 2;
    int each = work->precision == work->safe_precision ? PRODUCT_KERNELS : FP8_PRODUCT_KERNELS;
    if (!work->training->fused_dispatch)
        pass_kernels(pass, ROUTER_KERNELS + EXPERT_KERNELS * (direction == BACKWARD ? 2 : 1));
    pass_kernels(pass, products * each * work->model->experts.count / work->ep);
}

// In backward tokens leave the region where, without slices, they entered it.
void route_cost(const Work *work, Pass *pass, const Operator *router, int direction) {
    double tokens = router->m, experts = router->n;
    pass_gemm(work, pass, CAUSE_GEMM, work->safe_precision, 1, tokens, experts, router->k);
    if (direction == BACKWARD && work->training->lora_rank == 0) {
        Pass *weights = weights_of(work, pass);
        pass_by(weights, router->name);
        pass_gemm(work, weights, CAUSE_GEMM, work->safe_precision, 1, experts, router->k, tokens);
    }
    choose_experts(work, pass, tokens, direction);
    if (direction == BACKWARD && !work->sequence_parallel) leave_region(work, pass);
}

// What is dispatched forward is combined in backward, and the other way round. Second products' biases are added, and
// their gradients made, on the experts' side.
void exchange_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    Dispatch dispatch = dispatch_of(work);
    bool to_experts = (one->region == REGION_DISPATCHES) == (direction == FORWARD);
    if (to_experts) sort_tokens(work, pass, dispatch.sent * work->share, SORT_PASSES);
    if (one->region == REGION_COMBINES && !to_experts) expert_biases(work, pass, &dispatch, direction);
    exchange_tokens(work, pass, &dispatch, to_experts);
    if (one->region == REGION_COMBINES && to_experts) expert_biases(work, pass, &dispatch, direction);
    if (!to_experts) sort_tokens(work, pass, dispatch.sent * work->share, SORT_PASSES);
}
