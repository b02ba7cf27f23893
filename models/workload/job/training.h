// A training job's fields, and the properties of software that decide its speed.
#pragma once

#include "models/hardware/hardware.h"
#include "models/network/network.h"
#include "models/workload/model/model.h"
#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef enum Strategy {
    STRATEGY_AUTO,          // ddp when more than one replica, hybrid when tp or pp is given
    STRATEGY_SINGLE,        // one GPU
    STRATEGY_DATA_PARALLEL, // torch.nn.DataParallel: one process, scatter, broadcast every step, gather to GPU 0
    STRATEGY_DDP,           // DistributedDataParallel and every hybrid of dp with tp, pp, zero
    STRATEGY_HOROVOD,       // DDP whose gradients are fused by a thread that looks for them once a cycle
    STRATEGY_MIRRORED,      // tf.distribute.MirroredStrategy: one node, all gradients reduced at once after backward
    STRATEGY_MULTI_WORKER,  // tf.distribute.MultiWorkerMirroredStrategy: the same on any number of nodes
    STRATEGY_LAYERS,        // layer-wise model parallel: blocks spread over GPUs, one at a time, no micro-batches
    STRATEGY_COUNT
} Strategy;

// Orders of micro-batches in a pipeline (layout.h): zero bubble with backward split in two, and DualPipe, which feeds
// it from both ends.
typedef enum Schedule {
    SCHEDULE_GPIPE,
    SCHEDULE_1F1B,
    SCHEDULE_INTERLEAVED,
    SCHEDULE_ZB_H1,
    SCHEDULE_ZB_V,
    SCHEDULE_DUALPIPE,
    SCHEDULE_COUNT
} Schedule;
// What backward computes again: nothing, parts of layers (below), whole layers, or all but the outputs of some
// operators (JAX's policies; torchtitan's selective default: every second matrix product and the attention core).
typedef enum Recompute {
    RECOMPUTE_NONE,
    RECOMPUTE_SELECTIVE,
    RECOMPUTE_FULL,
    RECOMPUTE_OPERATIONS,
    RECOMPUTE_COUNT
} Recompute;
// Flash attention by generation of its kernels; plain "flash" is the newest that the GPU has: 2 on Ampere, 3 or cuDNN's
// since Hopper. 3 is Hopper's and 4 Blackwell's; elsewhere they are as "flash".
typedef enum Attention {
    ATTENTION_PLAIN,
    ATTENTION_FLASH,
    ATTENTION_FLASH_1, // also the Triton kernel of 2022
    ATTENTION_FLASH_2,
    ATTENTION_FLASH_3,
    ATTENTION_FLASH_4,
    ATTENTION_COUNT
} Attention;
// How kernels are run: tuned (fused, NHWC, MLPerf-like), Megatron fused, eager PyTorch, graph (XLA, torch.compile).
typedef enum Framework {
    FRAMEWORK_EAGER,
    FRAMEWORK_MEGATRON,
    FRAMEWORK_TUNED,
    FRAMEWORK_GRAPH,
    FRAMEWORK_FUSED,     // eager PyTorch with fused norms and attention (MPT under Composer)
    FRAMEWORK_COMPOSED,  // a graph that is not fused: norms, GELU and dropout from many elementary kernels (TF1 without
                         // XLA)
    FRAMEWORK_OPERATORS, // a graph whose every operator is one kernel (MXNet, OneFlow, PaddlePaddle since 2021)
    FRAMEWORK_TENSORFLOW, // XLA, whose element-wise kernels stay in 32 bits under automatic mixed precision
    FRAMEWORK_COUNT
} Framework;
// How images lie in memory. Matrix units want channels last; "usual" is what the framework's convolutions are given.
typedef enum ImageLayout { IMAGE_LAYOUT_USUAL, IMAGE_LAYOUT_NCHW, IMAGE_LAYOUT_NHWC, IMAGE_LAYOUT_COUNT } ImageLayout;
// How ranks that share a sequence exchange keys and values: round a ring during attention (Liu et al. 2023), all
// before attention (Llama 3), or heads instead of tokens, exchanged before and after (DeepSpeed-Ulysses).
typedef enum ContextExchange { CONTEXT_RING, CONTEXT_ALL_GATHER, CONTEXT_ULYSSES, CONTEXT_COUNT } ContextExchange;
// What 8-bit numbers share a scale: a tensor, whose largest is that of earlier steps or looked for at once, a row, a
// block of 128 or of 32.
typedef enum Fp8Recipe { FP8_DELAYED, FP8_TENSORWISE, FP8_ROWWISE, FP8_BLOCKWISE, FP8_MX, FP8_RECIPE_COUNT } Fp8Recipe;
// Where the optimizer's state, or weights that are not at work, lie.
typedef enum OffloadPlace { OFFLOAD_GPU, OFFLOAD_HOST, OFFLOAD_NVME, OFFLOAD_COUNT } OffloadPlace;
// ADAM_8BIT: both moments in 8 bits (Dettmers et al. 2022); ADAFACTOR: no first moment, row and column sums of the
// second (Shazeer and Stern 2018); OWN: Adam-like, in custom Python, tensor by tensor.
typedef enum Optimizer {
    OPTIMIZER_SGD,
    OPTIMIZER_ADAM,
    OPTIMIZER_NONE,
    OPTIMIZER_ADAM_8BIT,
    OPTIMIZER_ADAFACTOR,
    OPTIMIZER_OWN,
    OPTIMIZER_COUNT
} Optimizer;

const char *strategy_name(Strategy strategy);
const char *schedule_name(Schedule schedule);
const char *recompute_name(Recompute recompute);
const char *attention_name(Attention attention);
const char *framework_name(Framework framework);
const char *optimizer_name(Optimizer optimizer);
const char *image_layout_name(ImageLayout layout);
// Name tables for lookups and did-you-mean: index = enum value.
extern const char *const strategy_names[STRATEGY_COUNT],
    *const schedule_names[SCHEDULE_COUNT], *const recompute_names[RECOMPUTE_COUNT],
                                               *const attention_names[ATTENTION_COUNT],
                                                   *const framework_names[FRAMEWORK_COUNT],
                                                       *const optimizer_names[OPTIMIZER_COUNT],
                                                           *const image_layout_names[IMAGE_LAYOUT_COUNT];
extern const char *const context_exchange_names[CONTEXT_COUNT], *const offload_names[OFFLOAD_COUNT],
                                                                    *const fp8_recipe_names[FP8_RECIPE_COUNT];

typedef struct Layout {
    int tp, pp, vpp, dp; // vpp: virtual stages per pipeline rank (interleaved); dp 0: fill
    int zero;            // 0 plain, 1 optimizer state sharded, 2 gradients too, 3 weights too (FSDP)
    bool sequence_parallel;
    int cp; // ranks that share each sequence; 0: 1
    ContextExchange context;
    int ep;                  // ranks over which the experts of a layer are spread, etp apart; 0: 1
    int etp;                 // ranks that share each expert: all tensor-parallel ones or 1; 0: tp
    int shard;               // ranks over which ZeRO shards, then replicated (hybrid sharding); 0: all of dp x cp
    const int *stage_layers; // layers of each chunk in the model's order, or NULL: even
    int stage_layers_count;
    bool embedding_counts, head_counts; // as a layer each, where layers are spread evenly
} Layout;

static inline int ranks_of_an_expert(const Layout *layout) {
    return layout->etp > 0 ? layout->etp : layout->tp > 1 ? layout->tp : 1;
}

// What ZeRO spreads over ranks (Rajbhandari et al. 2020).
static inline bool shards_optimizer(const Layout *layout) { return layout->zero >= 1; }
static inline bool shards_gradients(const Layout *layout) { return layout->zero >= 2; }
static inline bool shards_weights(const Layout *layout) { return layout->zero >= 3; }

// Between the micro-batches of a pipeline nothing is gathered or reduced again: weights stay whole for the step, and
// gradients add up whole until the last micro-batch (torchtitan, parallelize.py: reshard_after_forward "default";
// PyTorch's pipeline stages: set_is_last_backward).
static inline bool stays_gathered(const Layout *layout) { return shards_gradients(layout) && layout->pp > 1; }

// Shares of the tokens by expert.
typedef enum RoutingKind { ROUTING_ZIPF, ROUTING_DIRICHLET, ROUTING_HISTOGRAM } RoutingKind;
typedef struct Routing {
    RoutingKind kind;     // ZIPF: by expert_skew
    double concentration; // DIRICHLET: of the draws, one for each layer
    uint64_t seed;        // of them
    const double *tokens; // HISTOGRAM: by expert
    int token_count;
} Routing;

typedef enum JitterBy { JITTER_BY_GPU, JITTER_BY_CLASS, JITTER_BY_COUNT } JitterBy;

// A setting that was made otherwise than usual, as its user writes it, and what it needs (job.h).
typedef struct NeedySetting {
    const char *name;
    unsigned needs;
} NeedySetting;

typedef struct TrainingSpec {
    Where where;
    bool scripted; // said in Lua, so hints are in fields; else in options
    const NeedySetting *needy;
    int needy_count;
    const Model *model;
    Strategy strategy;
    Layout layout;
    Schedule schedule;
    double seq_len;           // transformer: tokens per sample
    double global_batch;      // samples per optimizer step; 0: micro_batch x dp x grad_accumulation
    double micro_batch;       // samples per forward on one replica; 0: derived from the global batch
    double grad_accumulation; // 0: derived
    double samples;           // in all, or 0 (for run length: days, cost)
    double tokens;            // in all, or 0
    double epochs;            // times `samples`; 0: 1
    Precision precision;      // of matrix multiplications; weights: mixed precision keeps an fp32 master copy
    bool mixed_precision;     // fp16/bf16 compute with fp32 master weights (AMP, Megatron)
    Fp8Recipe fp8_recipe;     // of precision fp8
    bool half_weights;        // the model itself is in 16 bits: no casts of weights, 16-bit norms and gradients
    int lora_rank; // low-rank adapters of attention's products are trained, all else is frozen (Hu et al. 2021); 0: all
    bool lora_embeddings;        // embedding and head are trained too, as copies (PEFT's modules_to_save)
    bool lora_everywhere;        // adapters at every product, each by itself (PEFT's "all-linear")
    bool zero_quantized_weights; // ZeRO 3 gathers them in 8 bits (qwZ of ZeRO++; Wang et al. 2023)
    bool nf4_weights;  // frozen weights of layers lie in 4 bits, dequantised for each product (QLoRA, Dettmers et al.
                       // 2023)
    bool gptq_weights; // the same by GPTQ (Frantar et al. 2023), unpacked by elementary operators (AutoGPTQ)
    Recompute recompute;
    unsigned recompute_modules; // bits by RecomputeModule; 0: the attention core alone
    unsigned recompute_keeps;   // bits by KeptOutput, of RECOMPUTE_OPERATIONS; 0: as torchtitan does
    int recompute_layers;       // the first N of each pipeline chunk; 0: all
    int recompute_every;        // every N-th of each pipeline chunk; 0: all
    Attention attention;
    bool software_assumed;           // neither it nor the framework was given
    int unread_options;              // of its launch file: relevant, but not supported
    bool own_code;                   // no software whose makers tuned the whole step is stated
    const struct Software *software; // the stack that was named (software.h), or NULL
    Framework framework;
    bool whole_head;      // an encoder's logits at every position, not at masked ones only
    bool classifies;      // no logits over the vocabulary: a few classes or numbers
    bool tuned_products;  // which kernel does a product is found by timing it (XLA's autotuner), not by cuBLAS's rules
    bool fused_optimizer; // eager software whose Adam reads and writes each weight once (AdamW(fused=True), apex)
    bool fused_norms;     // eager software whose RMSNorm and rotary embedding are kernels of their own (apex, Liger)
    bool composed_gelu;   // GELU by tanh from eight operators, scores masked by two more: Hugging Face's GPT-2
    ImageLayout image_layout;
    Optimizer optimizer;
    Backend backend;
    double bucket_bytes;         // DDP buckets; 25 MiB as PyTorch does
    double reduce_cycle_seconds; // how often a background thread looks for gradients to reduce (Horovod); 0: at once
    bool overlap_grad_reduce;
    bool overlap_param_gather;  // ZeRO 1: weights are gathered while the next forward runs
    bool tp_overlap;            // tensor-parallel traffic overlaps its products in pieces (user buffers)
    bool tp_waits;              // and backward waits for all of it: Megatron before 2022, frameworks like it
    bool scatter_gather;        // to the next stage each tensor-parallel rank sends its slice of the common tensor
    bool fused_loss;            // softmax and cross entropy in few kernels that keep logits in 16 bits
    bool gathers_logits;        // every tensor-parallel rank has the whole vocabulary's logits for the loss
    double pack_length;         // tokens of samples packed into one, mean square over mean; 0: one sample
    int loss_chunks;            // logits and loss are computed in so many chunks of the tokens, in turn; 0: at once
    bool optimizer_in_backward; // a weight is updated, and its gradient dropped, as soon as that is there
    OffloadPlace offload_optimizer, offload_parameters;
    OffloadPlace offload_activations; // layers' inputs, all that full recomputation keeps: their copies hide behind it
    bool syncs_always;                // gradients are reduced after every micro-batch (DDP without no_sync)
    int prefetch;                     // blocks whose weights are gathered ahead; 0: 1 as FSDP does, -1: none
    double horovod_cycle_seconds, horovod_fusion_bytes; // of strategy HOROVOD; 0: its defaults
    bool by_messages;           // fidelity = "flow" or "packet": collectives are all their messages
    bool as_packets;            // fidelity = "packet": traffic between nodes is packets
    double packet_loss;         // share of those packets that each cable loses
    int transport;              // of those packets: a PacketTransportId and 1; 0: as the fabric is used to
    bool fp32_grad_reduce;      // gradients travel as fp32 whatever the precision
    bool recompute_stops_early; // once all that backward needs is there: not a layer's last product (PyTorch since 2.1)
    double accumulation_bytes;  // moved per parameter and micro-batch beyond the framework's usual; 0 none
    bool expert_loop; // a loop in Python goes from expert to expert (Hugging Face's), each asking which tokens are its
                      // own
    bool fused_dispatch; // experts' tokens sorted inside the exchange, a copy per rank, over a network per node
                         // (DeepEP, HybridEP)
    bool cuda_graphs;    // layers' kernels are replayed as CUDA graphs: the CPU issues none of them
    double expert_skew;  // routing: the k-th most chosen expert gets a share ~ k^-skew of the tokens; 0 even
    Routing routing;
    double capacity_factor; // an expert takes at most this multiple of its even share, the rest is dropped; 0: all
    double cpu_seconds_per_kernel; // host time to issue one, with the Python around it; 0: the framework's usual
    bool module_hooks; // ZeRO 3 goes through Python before and after each module (DeepSpeed), not each layer (FSDP)
    double cpu_seconds_per_step; // host work that nothing hides (Python, logging): 0 unless the user knows
    // Data loading
    double sample_bytes;                     // read per sample; 0: from memory (no loading simulated)
    const char *storage;                     // catalogue name, or NULL: local disks of the node
    double loader_workers;                   // processes per GPU
    double samples_per_second_per_worker;    // decode and augment on one core; 0: not limited
    const struct CheckpointSpec *checkpoint; // or NULL: none are counted
    const struct Anchors *anchors;           // the user's measured steps that correct this one, or NULL
    double jitter;                           // sigma of log of each kernel's time
    JitterBy jitter_by;
    double straggler; // one rank this much slower (1.2); 0 or 1 none
} TrainingSpec;

// ---- Activation recomputation: which parts of a layer, and which layers.

// Parts of a layer by Megatron-Core's names (--recompute-modules): the attention core; both norms; the up-projections
// of latent attention's queries, keys and values; the dense feed-forward part; all of the experts with router and
// exchanges; only the activation between their products; the shared experts.
typedef enum RecomputeModule {
    MODULE_CORE_ATTN,
    MODULE_LAYERNORM,
    MODULE_MLA_UP_PROJ,
    MODULE_MLP,
    MODULE_MOE,
    MODULE_MOE_ACT,
    MODULE_SHARED_EXPERTS,
    RECOMPUTE_MODULE_COUNT
} RecomputeModule;
extern const char *const recompute_module_names[RECOMPUTE_MODULE_COUNT];

// Outputs of operators, by the names of operators.h, that may be kept where all else of a layer is computed again: the
// products of queries, keys and values; the attention core; its output product; the products into the MLP, and out of
// it, whose output the next layer keeps. JAX's policies by name (MaxText, decoders.py): save_qkv_proj is qkv,
// save_dot_except_mlp qkv and proj, save_dot_except_mlpwi mlp_down too, minimal all products, minimal_flash core_attn
// too.
typedef enum KeptOutput {
    KEEPS_QKV,
    KEEPS_CORE_ATTN,
    KEEPS_PROJ,
    KEEPS_MLP_UP,
    KEEPS_MLP_DOWN,
    KEPT_OUTPUT_COUNT
} KeptOutput;
extern const char *const kept_output_names[KEPT_OUTPUT_COUNT];

// Whether the job names what RECOMPUTE_OPERATIONS keeps, and whether this is of it.
bool names_kept_outputs(const TrainingSpec *training);
bool keeps_output(const TrainingSpec *training, KeptOutput output);

// Whether this part is computed again by itself: under RECOMPUTE_SELECTIVE, when named or, with none named, the
// attention core.
bool recomputes(const TrainingSpec *training, RecomputeModule module);

// Whether some layers of a chunk are not recomputed, and whether this one, from 0, is recomputed.
bool recomputes_some_layers(const TrainingSpec *training);
bool recomputes_layer(const TrainingSpec *training, int layer);

// The job as the layer-th layer of a pipeline chunk (from 0) sees it: beyond recompute_layers, and between those that
// recompute_every counts, nothing is recomputed. Returns `training` itself where that changes nothing, else a copy in
// `room`.
const TrainingSpec *training_of_layer(const TrainingSpec *training, int layer, TrainingSpec *room);

// Floating-point operations of a sample's forward that backward repeats, in matrix products; of whole layers only.
double recomputed_flops_per_sample(const TrainingSpec *training);

// "none", "full (the first 4 layers of each chunk)", "selective (core_attn moe_act)".
const char *recompute_text(Arena *arena, const TrainingSpec *training);

// Parts that this model does not have, or that the choice of `recompute` makes no use of.
void recompute_check(const TrainingSpec *training, Problems *problems);
