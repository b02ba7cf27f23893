// Cost of one block of a model on one GPU for one micro-batch: a short list of kernels grouped by cause, with the
// tensor-parallel collectives between them; its parameters; the activations it keeps for backward.
#pragma once

#include "models/hardware/power.h"
#include "models/workload/job/layout.h"
#include "sim/base/list.h"

// What a stretch of time counts as. The order is that of tables and plots.
typedef enum Cause {
    CAUSE_GEMM,
    CAUSE_ATTENTION,
    CAUSE_MEMORY,
    CAUSE_LAUNCH,
    CAUSE_RECOMPUTE,
    CAUSE_OPTIMIZER,
    CAUSE_TP,
    CAUSE_CP,
    CAUSE_EP,
    CAUSE_PP,
    CAUSE_DP,
    CAUSE_COPY,
    CAUSE_DATA,
    CAUSE_HOST,
    CAUSE_OTHER,
    CAUSE_COUNT
} Cause;
extern const char *const cause_names[CAUSE_COUNT];  // "gemm", "attention", "memory-bound", … as JSON keys spell them
extern const char *const cause_titles[CAUSE_COUNT]; // "Matrix multiplication", … for tables and plots
Activity activity_of_cause(Cause cause);            // for a GPU's power draw

typedef struct CostItem {
    Cause cause;
    double seconds;          // of work; 0 for a collective
    CollectiveOp collective; // if bytes > 0: the stream waits for it, unless overlapped
    double bytes;
    bool overlapped; // with the items that follow, until
    bool join;       // an item at which the stream waits for it
} CostItem;

#define COST_ITEMS 160
typedef struct CostList {
    CostItem items[COST_ITEMS];
    int count;
} CostList;

typedef struct BlockCost {
    CostList forward, backward; // backward holds the recomputation too (cause RECOMPUTE, with its collectives)
    CostList backward_input, backward_weight; // backward in two, for schedules that split it; else empty
    double parameters;                        // held by this GPU (after tensor parallelism), and
    double expert_parameters;                 // those that expert parallelism spreads, which other ranks reduce
    double activation_bytes;                  // kept per micro-batch in flight until backward
    double late_bytes;    // of them and of gradients: kept until those of the weights, when they come later
    double working_bytes; // needed only while this block runs (largest transient)
    double output_bytes;  // passed on to the next block: sent by a pipeline stage
    int kernels_forward, kernels_backward;
} BlockCost;

// micro_batch in samples on one replica. The GPU must support the precision (checked earlier).
BlockCost block_cost(const Model *model, int block, const TrainingSpec *training, double micro_batch, const Gpu *gpu);

// Attribution of a block's time to operators (cost_operators.c), in parts that sum to block_cost by cause: forward and
// backward, weight gradients separate if the schedule splits them; recomputation under CAUSE_RECOMPUTE. Norms include
// the software's passes around them: residuals, dropout, biases of their half of a layer. Some parts belong to no
// operator: casts of weights, adapters, the launches of a layer's kernels, which are counted by half layers.
enum { WAY_FORWARD, WAY_BACKWARD, WAY_WEIGHTS, PASS_WAYS };
typedef struct OperatorTime {
    const char *name; // as Operator.name
    double seconds[PASS_WAYS][CAUSE_COUNT];
    int blocks; // that have it
} OperatorTime;
typedef LIST_OF(OperatorTime) OperatorTimes;
// Adds those of one more block. micro_batch in samples on one replica.
void block_operator_times(Arena *arena, int block, const TrainingSpec *training, double micro_batch, const Gpu *gpu,
                          OperatorTimes *times);
// Forward of a block's operators as one GPU does them: of those with experts the mean rank's part.
typedef struct OperatorWork {
    const char *name, *kind;
    double times;        // equal calls
    Precision precision; // of its arithmetic
    double flops, bytes; // of one
    double seconds;      // of all: GEMM, attention and memory of block_operator_times; 0: counted with another
} OperatorWork;
OperatorWork *block_operator_work(Arena *arena, int block, const TrainingSpec *training, double micro_batch,
                                  const Gpu *gpu, int *count);
// Of the arithmetic of 8-bit products, as a share of those with one scale for a tensor.
double fp8_recipe_rate(const Gpu *gpu, Fp8Recipe recipe);
// FLOPs of its products, forward, on one GPU.
double block_matmul_flops(const Model *model, int block, const TrainingSpec *training, double micro_batch);
bool same_block(const TrainingSpec *training, int a, int b); // they surely cost the same

// One optimizer step over `parameters` parameters on this GPU (memory-bound), seconds; kernel launches included.
double optimizer_seconds(const TrainingSpec *training, double parameters, const Gpu *gpu);
double host_seconds_per_step(const TrainingSpec *training, const Gpu *gpu); // exposed
double optimizer_state_bytes(const TrainingSpec *training); // per parameter, a 32-bit copy of the weight counted in
bool sends_slices(const TrainingSpec *training);            // stages pass on a tp-th of activations, gathered there
int blocks_ahead(const TrainingSpec *training);             // whose weights are prefetched
double trained_share(const TrainingSpec *training);         // of the parameters: 1, or what LoRA's adapters add
double gradient_bytes(const TrainingSpec *training);        // per parameter on the wire, frozen ones counted in
// Of a sample's tokens those that each sees, which are its own sample's where several are packed: a causal one half of
// them.
double attended_share(const TrainingSpec *training);
// FLOPs of forward and backward, as model_flops_per_sample counts them; frozen weights have no gradients to compute.
double training_flops_per_sample(const TrainingSpec *training);
double weight_bytes(const TrainingSpec *training);                     // the same when gathered
bool block_in_4_bits(const TrainingSpec *training, int block);         // its weights are kept and gathered in 4 bits
double stored_weight_bytes(const TrainingSpec *training, int block);   // weight_bytes, or of NF4 with its scales
double gathered_weight_bytes(const TrainingSpec *training, int block); // as ZeRO 3 passes them between GPUs

// Of the tokens routed to experts, mean over the layers with experts: the share of the most loaded rank, and the
// share not dropped by capacity limits.
typedef struct RoutedShares {
    double fullest, kept;
} RoutedShares;
RoutedShares routed_shares(const TrainingSpec *training);

// ---- Memory of one rank by class, bytes.
typedef enum MemoryClass {
    MEMORY_WEIGHTS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_ACTIVATIONS,
    MEMORY_WORKING,
    MEMORY_BUFFERS,
    MEMORY_RESERVE,
    MEMORY_CLASS_COUNT
} MemoryClass;
extern const char *const memory_class_names[MEMORY_CLASS_COUNT]; // "weights", "gradients", …

typedef struct Memory {
    double bytes[MEMORY_CLASS_COUNT];
    double peak;       // their sum
    double capacity;   // of the GPU
    double host, disk; // of a rank, offloaded
    double late;       // of one chunk's micro-batch: from backward of inputs to that of weights
    double outside;    // of the peak, not from the framework's allocator: context, its slack, NCCL's buffers
} Memory;

// What the framework's allocator holds at the peak, unused room between blocks counted in, where the GPU has as much:
// it gives that back before it runs out. This is what nvidia-smi and PyTorch's reserved memory show.
double reserved_bytes(const Memory *memory);
double reserved_bytes_varied(const Memory *memory); // where batches are of many sizes, and this the largest
// The chance that the peak is beyond what the GPU has, and where it lies nine times in ten, from how far measured peaks
// lay from such estimates.
double chance_to_run_out(const Memory *memory);
#define MEMORY_FITS 0.95            // chance to fit that is enough to recommend a job, by default
bool may_fit(const Memory *memory); // that chance is below 95 %
// Nine times in ten it lies within; weights, gradients and the optimizer's state are counted, and no peak is below
// them.
void peak_range(const Memory *memory, double *low, double *high);

// Stage `stage` of pp (0 based) holds the blocks first … last; in_flight micro-batches are kept at once.
Memory memory_estimate(const Model *model, const TrainingSpec *training, int first_block, int last_block,
                       double micro_batch, double in_flight, int dp, const Gpu *gpu);
// Memory of the most loaded rank of a whole job, over all pipeline stages. The layout must divide the GPUs and the
// model have a layer for each chunk (checked earlier). *stage (or NULL): that rank's stage.
Memory memory_of_job(const TrainingSpec *training, int gpus, const Gpu *gpu, int *stage);
// Of a job that states its global batch alone: samples that a replica takes at a time. All of its share, as trainers do
// that accumulate nothing, where that fits; else the most that divide the share and fit; 1 where none do. 0: nothing is
// left open.
double micro_batch_assumed(const TrainingSpec *training, int gpus, const Gpu *gpu);
// The smallest change with which the job runs and fits on this GPU as surely as MEMORY_FITS, in the words in which it
// was said: `recompute = "selective" (61 GiB)`, "--recompute selective (61 GiB)". In the order of what they usually
// cost of a step: zero 1, smaller micro-batch, zero 2 and 3, frozen weights in 4 bits, recompute, more tp, more pp, one
// alone, then one after the other; then those that fit on paper only, with their chance; then the same on more GPUs.
// NULL: nothing of these fits.
const char *smallest_change_that_fits(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu);

// ---- Memory of a rank over the passes of a step, and its peak.

// The highest point of one pass, or of the optimizer's step, which ends the curve.
typedef struct MemoryMoment {
    PipelinePass pass;
    bool optimizer;
    int block; // of the model, where the pass is highest
    double bytes[MEMORY_CLASS_COUNT], total;
} MemoryMoment;

typedef struct MemoryCurve {
    MemoryMoment *items;
    int count, peak; // the moment when most is in use, the first of equals
} MemoryCurve;

// Of the given stage. Micro-batches after which the order repeats are left out: *left_out (or NULL) of them.
MemoryCurve memory_over_time(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu, int stage,
                             int *left_out);

// "backward of micro-batch 1 at the head", "forward of micro-batch 3 at layer 12 (chunk 2)".
const char *memory_moment_text(Arena *arena, const Model *model, const MemoryMoment *moment);
