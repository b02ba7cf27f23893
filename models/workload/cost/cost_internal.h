// Shared by the files that compute a block's cost: how a framework runs kernels, and a pass while it is added up.
#pragma once

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/layout.h"
#include "models/workload/model/operators.h"

// How kernels are run. A pass reads or writes a whole tensor once; "forward, backward".
typedef struct FrameworkTraits {
    double traffic;            // bytes moved by element-wise kernels, as a multiple of the passes' bytes
    double issue_seconds;      // CPU time to issue one kernel
    double layer_seconds[2];   // CPU time of a transformer layer's modules without issuing their kernels
    double collective_seconds; // CPU time to issue one collective
    double step_seconds;       // CPU time between steps
    bool in_graphs;            // its kernels are launched as CUDA graphs
    double hidden_bytes;       // of an element of those passes in mixed precision: autocast keeps them in fp32
    double hidden[2];          // transformer layer: norms, residuals, dropout, biases; passes over h
    double gelu[2], gated[2];  // passes over the FFN's width
    double scores[2];          // plain attention: scale, mask, softmax, dropout; passes over s x s
    bool copies_logits;        // a loss of eager operators holds gradients before and after its softmax
    double logit_bytes[2];     // per logit: 32-bit loss over 16-bit logits; eager software copies to 32 bits first
    int layer_kernels[2];      // of a transformer layer with plain attention
    double rms_bytes[2]; // of Llama's two norms and two sums, operator by operator and in 32 bits within, per element
                         // of the hidden state; 0: fused, as the passes say
    double rotary_bytes[2];                // of turning queries and keys, per element of theirs
    int rms_kernels[2], rotary_kernels[2]; // more than a layer of GPT's has
    double weight_cast_bytes[2]; // per parameter and micro-batch in mixed precision: casts, gradient accumulation
    double wire_bytes;           // of one gradient of mixed precision
    double gradient_bytes;       // of one gradient of mixed precision in memory
    bool wide_scores;            // autocast's softmax is in 32 bits, and what lies about it
    double wide_bytes; // of an element of the FFN's and the scores' passes in mixed precision; 0: as products have them
    bool keeps_casts;  // 8-bit inputs of products are kept for backward (Transformer Engine), instead of their
                       // sources
    bool plain_cublas; // its products go to cuBLAS as PyTorch calls it, not through Transformer Engine
    bool keeps_gates;  // SiLU of the gate is a separate tensor, kept for the product that it gates
    bool drops_gradients; // a step's gradients are made in its backward and dropped after it (zero_grad in PyTorch 2)
    double adam_bytes;    // moved by the optimizer per parameter when it is made of elementary operators; 0: fused
} FrameworkTraits;

// Half a byte; of 64 weights a scale of 8 bits; of 256 scales one of 32 (Dettmers et al. 2023, section 3).
#define NF4_BYTES (0.5 + 1.0 / 64 + 4.0 / (64 * 256))
// Half a byte; of 128 weights a scale of 16 bits and a zero of 4 (Frantar et al. 2023; AutoGPTQ).
#define GPTQ_BYTES (0.5 + (2 + 0.5) / 128)

const FrameworkTraits *framework_traits(Framework framework);
enum { FORWARD, BACKWARD };
// Bytes moved per parameter and micro-batch in mixed precision: casts, gradients copied and added.
double weight_traffic(const TrainingSpec *training, int direction);

// Compute between two collectives, then the collective that ends it (bytes 0: none).
typedef struct Stretch {
    double seconds[CAUSE_COUNT];
    double kernels;
    bool recomputed; // all its time counts as recomputation
    Cause for_what;  // TP, CP or EP
    CollectiveOp collective;
    double bytes;
    CollectiveOp overlapped;
    double overlapped_bytes; // of the collective that overlaps this stretch; 0 none
    Cause overlapped_cause;  // CP: keys and values around the ring; TP: during products
} Stretch;

typedef struct Ledger Ledger; // of operators

#define PASS_STRETCHES 64
typedef struct Pass {
    Ledger *ledger; // NULL: shares are not recorded
    Stretch stretches[PASS_STRETCHES];
    int count;
    double host_seconds; // of the CPU, without issuing kernels
} Pass;

// One block on one GPU: the common properties of its kernels.
typedef struct Work {
    const Model *model;
    const TrainingSpec *training;
    const Gpu *gpu;
    const FrameworkTraits *traits;
    Precision precision;      // of matrix multiplications
    Precision safe_precision; // of those kept in 16 bits or more (attention, logits)
    double element_bytes;     // of an activation
    double samples, tokens;   // per micro-batch
    double tp, cp, ep, etp;
    double parameters; // of the block, on this GPU
    RoutedShares load; // of the block
    bool sequence_parallel;
    double share;      // of the tokens between tensor-parallel regions: 1/tp with sequence parallelism, else 1
    bool in_4_bits;    // of the block: its weights are dequantised to 16 bits for its products
    double source_len; // tokens of the source that a decoder's layer looks at; 0 none
    const OperatorList *operators; // of the block
    Pass *weight_pass;             // where gradients of weights go that are computed later; NULL: with those of inputs
} Work;

Work work_of(const Model *model, const TrainingSpec *training, double micro_batch, const Gpu *gpu);
// Sets the block, since routing may differ from layer to layer.
void work_on_block(Work *work, int block);
// One of its experts as the mean rank has it; any other operator as it is.
Operator operator_of_mean(const Work *work, const Operator *one);
// Costs an expert operator: the mean rank's time by cause, the rest of the time as waiting for the most loaded rank.
typedef void OperatorCost(const Work *work, Pass *pass, const Operator *one, int direction);
void cost_of_fullest(const Work *work, Pass *pass, const Operator *one, int direction, OperatorCost *cost);

// What one block works on: a decoder's sees the target, as if that were the model's and the training's sequence.
typedef struct BlockView {
    Work work;
    Model model;
    TrainingSpec training;
} BlockView;
const Work *block_view(BlockView *view, int block, const Work *work);

typedef struct GpuParameters {
    double held, spread; // after tensor parallelism; the part spread by expert parallelism, counted apart
} GpuParameters;

// One block as one GPU sees it: its own clock, its operators, its parameters.
typedef struct BlockWalk {
    Gpu hot;
    Work work;
    BlockView view;
    OperatorList operators;
    const Work *seen; // of `work`, by a decoder's block
    GpuParameters of_gpu;
} BlockWalk;
void block_walk(BlockWalk *walk, const Model *model, int block, const TrainingSpec *training, double micro_batch,
                const Gpu *gpu);
bool steps_by_operation(const TrainingSpec *training); // Adam or Adafactor, in eager software that does not fuse it
void cost_of_block(const Work *work, int block, Pass *forward, Pass *backward);
// A stretch's time as a share of its kernels' own seconds, and its launch time in addition.
typedef struct StretchTime {
    double share, launch;
} StretchTime;
void pass_times(const Work *work, const Pass *pass, StretchTime *times); // one for each stretch
void pass_stretch_ends(Pass *pass);                                      // before the next is opened

// What comes from here on is this operator's, or what else it is called.
void pass_by(Pass *pass, const char *name);
// The pass of gradients of weights that belongs to this backward: itself, unless they are computed later.
Pass *weights_of(const Work *work, Pass *backward);
Stretch *pass_now(Pass *pass);                                                     // the stretch being filled
void pass_recompute(Pass *pass, bool recomputed);                                  // from here on
void pass_collective(const Work *work, Pass *pass, CollectiveOp op, double bytes); // nothing without tensor parallelism
void pass_exchange(const Work *work, Pass *pass, double bytes); // all-to-all; nothing without expert parallelism
// Keys and values of all ranks of a sequence, or heads for tokens; nothing without context parallelism.
void pass_context(const Work *work, Pass *pass, CollectiveOp op, double bytes);
// Over all data ranks; `bytes` of all of them together.
void pass_among_replicas(Pass *pass, CollectiveOp op, double bytes);
// Beside the stretch that begins here, until it ends.
void pass_overlap(Pass *pass, Cause cause, CollectiveOp op, double bytes);
void pass_overlap_end(Pass *pass);
Gemm gemm_of(Precision precision, double batch, double m, double n, double k); // each rounded, 1 at least
void pass_one_gemm(const Work *work, Pass *pass, Cause cause, Gemm gemm);
void pass_gemm(const Work *work, Pass *pass, Cause cause, Precision precision, double batch, double m, double n,
               double k);
// The same, of a second operand that is stored k x n.
void pass_gemm_as_stored(const Work *work, Pass *pass, Cause cause, Precision precision, double batch, double m,
                         double n, double k);
// So many passes of element-wise kernels over a tensor.
void pass_bytes(const Work *work, Pass *pass, Cause cause, double passes, double tensor_bytes);
double passes_seconds(const Gpu *gpu, double passes, double tensor_bytes);
void pass_kernels(Pass *pass, double kernels);
void pass_layer_issued(const Work *work, Pass *pass, int direction); // the CPU has gone through a layer's modules
CostList pass_finish(const Work *work, const Pass *pass);            // launches added, merged by cause

double hidden_tensor_bytes(const Work *work);
double hidden_pass_count(const Work *work, int direction); // of a layer's norms, residuals and dropout
bool norms_elementary(const Work *work);                   // Llama's norms and rotary embedding operator by operator
double score_pass_count(const Work *work, int direction);  // of plain attention
double activation_pass_count(const Work *work, int direction);   // of an MLP, over its width
double activation_kernels_more(const Work *work, int direction); // than one
double activation_bytes(const Work *work);                       // of an element of those passes
bool composes_gelu(const Work *work);
bool casts_operators(const Work *work); // weights in 32 bits, cast operator by operator
double wide_bytes(const Work *work);    // of an element of the FFN's and the scores' passes

// A block's operators, forward in their order and backward in reverse (cost_operators.c).
void operators_forward(const Work *work, Pass *pass, int first, int end);
void operators_backward(const Work *work, Pass *pass, int first, int end);
// One of them without what passes between GPUs, and parts of that.
void operator_cost(const Work *work, Pass *pass, const Operator *one, int direction);
void norm_cost(const Work *work, Pass *pass, const Operator *norm, int direction);
Precision precision_of(const Work *work, const Operator *one); // of its arithmetic
void product_forward(const Work *work, Pass *pass, const Operator *one);
void product_input_backward(const Work *work, Pass *pass, const Operator *one);
void product_weight_backward(const Work *work, Pass *pass, const Operator *one);
// The weights' casts, and gradients added to those of earlier micro-batches.
void weight_passes(const Work *work, Pass *pass, int direction);
void adapter_cost(const Work *work, Pass *pass, const Operator *one, int direction); // LoRA's, of a product
void half_kernels(const Work *work, Pass *pass, int direction);                      // of half a layer
void leave_region(const Work *work, Pass *pass);                                     // a tensor-parallel one
void gather_slices(const Work *work, Pass *pass, double bytes); // nothing without sequence parallelism
double product_input_bytes(const Work *work); // of an element that goes into a product, as it is kept and gathered

void loss_cost(const Work *work, Pass *pass, const Operator *loss, int direction);
// Flash attention with `flops` and `bytes` counted forward.
void flash_kernel(const Work *work, Pass *pass, double flops, double bytes, double head_dim, int direction);
#define FLASH_KERNELS_SAVED 6 // softmax, mask, dropout and two batched products become one
void attention_cost(const Work *work, Pass *pass, const Operator *core, int direction);
double attention_flops_done(const Work *work, const Operator *core); // forward, without what is masked and left out

// Experts in place of an MLP (cost_experts.c).
void route_cost(const Work *work, Pass *pass, const Operator *router, int direction);
// The choice behind a router's product, and all kernels of the experts.
void choose_experts(const Work *work, Pass *pass, double tokens, int direction);
void exchange_cost(const Work *work, Pass *pass, const Operator *one, int direction);
void expert_activation(const Work *work, Pass *pass, const Operator *one, int direction);
// Tokens, with repeats, of the most loaded rank's experts, for which every layer waits.
double routed_tokens(const Work *work);

double contrast_pairs(const Work *work); // samples that each one is held against

void transformer_cost(const Work *work, int block, Pass *forward, Pass *backward);
void written_cost(const Work *work, int block, Pass *forward, Pass *backward);
void net_cost(const Work *work, int block, Pass *forward, Pass *backward); // (cost_layers.c)

void operators_of(const Work *work, int block, OperatorList *operators); // what of them this GPU runs
GpuParameters parameters_per_gpu(const TrainingSpec *training, int block, const OperatorList *operators);
double block_activation_bytes(const Work *work, int block,
                              const OperatorList *operators); // kept per micro-batch until backward
// From backward of inputs to that of weights, where a schedule splits it.
double block_late_bytes(const Work *work, int block, const OperatorList *operators);
double block_working_bytes(const Work *work, int block, const OperatorList *operators);
double forward_bytes(const TrainingSpec *training, int block, double micro_batch); // needed only while forward runs
double block_output_bytes(const Work *work, int block, const OperatorList *operators);

// ---- Memory: shared by the files that compute a job's.

// Memory of one block on one GPU; equal blocks have the same.
typedef struct BlockMemory {
    int block; // 0: none, or the embedding, which is like no other
    GpuParameters parameters;
    double activations, late, working; // bytes
} BlockMemory;
// What has been looked at last, of a job on a GPU.
typedef struct MemorySeen {
    BlockMemory block;
    int count; // of consecutive blocks like it, none at an end of the model; 0: none yet
    int dp;
    Memory blocks; // of these
} MemorySeen;
// memory_estimate of one micro-batch; `seen` is of this or of an earlier call for the same job.
Memory memory_of_blocks(const TrainingSpec *training, int first_block, int last_block, double micro_batch, int dp,
                        const Gpu *gpu, MemorySeen *seen);

typedef struct Stages { // of a job
    const TrainingSpec *training;
    Pipeline pipeline;
    const int *first; // block of each chunk; NULL: there is no such pipeline
    int dp;
    double micro_batch;
    const Gpu *gpu;
    MemorySeen *seen;
} Stages;

// Memory of the optimizer's step in addition to `memory`: roots of all second moments at once, where it works on
// lists of tensors (PyTorch, torch/optim/adam.py: _multi_tensor_adam).
double list_step_bytes(const TrainingSpec *training, const Memory *memory);

Stages stages_of(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu);
Memory stage_memory(Arena *arena, const Stages *stages, int stage);
Memory stage_memory_whole(Arena *arena, const Stages *stages, int stage); // all that is ever held, as if at once
bool gradients_come_and_go(const Stages *stages); // within the step, so that they never meet all activations
void stage_memory_at_its_peak(Arena *arena, const Stages *stages, int stage, Memory *memory); // given the whole
