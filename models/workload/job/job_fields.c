// The tables of a training job's fields.
#include "models/workload/job/job_fields.h"

#include <string.h>

#include "models/workload/job/field_rows.h"
#include "models/workload/job/needs.h"
#include "models/workload/job/recompute.h"
#include "models/workload/job/strategy_words.h"
#include "models/workload/job/training.h"
#include "models/workload/life/checkpoint.h"
#include "sim/base/check.h"
#include "sim/packet/packet.h"

const char *const precision_choices[10] = {"fp64", "fp32", "tf32", "fp16", "bf16",
                                           "fp8",  "fp4",  "int8", "amp",  "mixed"};
const char *const backend_choices[3] = {"nccl", "gloo", "mpi"};
const char *const fidelity_choices[3] = {"fluid", "flow", "packet"};
static const char *const jitter_by_names[JITTER_BY_COUNT] = {"gpu", "class"};

#define SWITCH .kind = FIELD_FLAG
#define INT(member_) .stored = STORED_INT, .at = offsetof(TrainingSpec, member_)
#define DOUBLE(member_) .stored = STORED_DOUBLE, .at = offsetof(TrainingSpec, member_)
#define BOOL(member_) .stored = STORED_FLAG, .at = offsetof(TrainingSpec, member_)
#define NEEDS(need_) .needs = 1u << NEED_##need_
#define NEEDS_2(need_, other_) .needs = 1u << NEED_##need_ | 1u << NEED_##other_
#define LONG_SPAN .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = 1, .most = 1e11

// clang-format off
static const Field training_fields[] = {
    {"model", VALUE(HANDLE_MODEL), .named = true, .required = true, .example = "\"gpt2-124m\"",
     .help = "a model by name, or from sim.model"},
    {"software", .kind = FIELD_TEXT, .example = "\"nemo 24.07\"", .flag = "software", .varied = "software",
     .help = "framework, version or date: how its kernels run, what it overlaps (lockstep job software); \"own\": a training loop of one's own; when left out: Megatron for transformers, eager PyTorch for others"},
    {"strategy", CHOICE(strategy_words, STRATEGY_WORDS), .fallback = "\"auto\"", .example = "\"ddp\"", .flag = "strategy",
     .varied = "strategy", .help = "how the model is spread over GPUs; also in the words of Lightning, accelerate, FairScale and TensorFlow"},
    {"parallel", TABLE(JOB_PARALLEL), .example = "{ tp = 1, dp = \"fill\" }", .help = "degrees of parallelism"},
    {"batch", TABLE(JOB_BATCH), .example = "{ global = 256, micro = 4 }", .help = "samples of an optimizer step"},
    {"schedule", CHOICE(schedule_names, SCHEDULE_COUNT), .example = "\"gpipe\"", .flag = "schedule", .varied = "schedule",
     INT(schedule), NEEDS(PIPELINE), .help = "order of micro-batches in a pipeline; when left out: 1f1b, or interleaved with vpp"},
    {"fidelity", CHOICE(fidelity_choices, 3), .fallback = "\"fluid\"", .example = "\"flow\"", .flag = "fidelity",
     .help = "fluid: a collective is one transfer; flow: all the messages it is made of; packet: what leaves a node of these as packets (docs/packets.md)"},
    {"transport", CHOICE(packet_transport_names, PACKET_TRANSPORTS), .example = "\"hpcc\"", .flag = "transport",
     .help = "of those packets: what senders do about congestion; when left out: as the fabric is used to"},
    {"packet_loss", NUMBER(0, 0.5), .fallback = "0", .example = "1e-5", .flag = "packet-loss", .varied = "packet_loss",
     DOUBLE(packet_loss), .help = "share of those packets that each cable loses"},
    {"zero", COUNT(0, 3), .fallback = "0", .example = "1", .others = "zero-stage|fsdp", .flag = "zero", .varied = "zero", INT(layout.zero),
     NEEDS(REPLICAS), .help = "1: optimizer state is spread over the replicas, 2: gradients too, 3: weights too (FSDP)"},
    {"seq_len", COUNT(1, MOST_SIZE), .example = "1024", .others = "max-seq-length|sequence-length|context-length|block-size", .flag = "seq", .alias = "seq-length", .varied = "seq_len",
     DOUBLE(seq_len), .in_1024 = true, .help = "tokens of a sample, 4k being 4096; when left out: as it was trained, else the model's longest"},
    {"pack_length", COUNT(1, MOST_SIZE), .example = "512", .flag = "pack-length", DOUBLE(pack_length),
     NEEDS(TRANSFORMER), .help = "tokens of the samples that are packed into one, which see only themselves in flash attention: the mean of their squares over their mean; when left out: all see all"},
    {"tokens", COUNT(1, 9e15), .example = "\"300B\"", .flag = "tokens", DOUBLE(tokens), .help = "tokens to train on in all"},
    {"samples", COUNT(1, 9e15), .example = "\"1.28M\"", .flag = "samples", DOUBLE(samples), .help = "samples of the data set"},
    {"epochs", NUMBER(ABOVE_ZERO, 1e9), .fallback = "1", .example = "90", .others = "num-train-epochs|num-epochs", .flag = "epochs", DOUBLE(epochs),
     .help = "passes over the samples"},
    {"precision", CHOICE(precision_choices, 10), .example = "\"fp16\"", .others = "dtype|torch-dtype", .flag = "precision", .varied = "precision",
     .help = "of matrix multiplications; when left out: bf16, fp16 or fp32, the first that the GPUs have"},
    {"mixed_precision", SWITCH, .example = "true", .flag = "mixed-precision", BOOL(mixed_precision),
     .help = "fp32 master weights beside; when left out: true below 32 bits"},
    {"recompute", CHOICE(recompute_names, RECOMPUTE_COUNT), .example = "\"selective\"", .others = "gradient-checkpointing|activation-checkpointing|activation-checkpoint", .flag = "recompute",
     .alias = "recompute-granularity", .varied = "recompute", INT(recompute),
     .help = "activations computed again in backward, to save memory; when left out: none, or what those below need"},
    {"recompute_modules", CHOICE(recompute_module_names, RECOMPUTE_MODULE_COUNT), .list = true, .flag = "recompute-modules",
     .example = "{ \"moe_act\", \"layernorm\" }",
     .help = "what \"selective\" recomputes of a layer, by Megatron-Core's names; when left out: core_attn"},
    {"recompute_keeps", CHOICE(kept_output_names, KEPT_OUTPUT_COUNT), .list = true, .flag = "recompute-keeps",
     .example = "{ \"qkv\", \"proj\" }",
     .help = "operators whose outputs \"operations\" keeps, the rest of a layer being computed again (JAX's policies); when left out: torchtitan's"},
    {"recompute_layers", COUNT(1, 1e5), .example = "4", .flag = "recompute-num-layers", INT(recompute_layers),
     .help = "only the first so many layers of each pipeline chunk are recomputed; when left out: all"},
    {"recompute_every", COUNT(2, 1e5), .example = "2", .flag = "recompute-every", INT(recompute_every),
     .help = "only every second, third, … layer of each pipeline chunk is recomputed (torchtitan's selective layers); when left out: all"},
    {"attention", CHOICE(attention_names, ATTENTION_COUNT), .example = "\"flash\"", .others = "attn-implementation|use-flash-attn|flash-attention", .flag = "attention", .varied = "attention",
     INT(attention), NEEDS(TRANSFORMER), .help = "attention kernel; when left out: flash on GPUs since 2020, else plain"},
    {"framework", CHOICE(framework_names, FRAMEWORK_COUNT), .example = "\"megatron\"", .flag = "framework",
     .varied = "framework", INT(framework), .help = "how kernels are run; when left out: megatron for transformers, else eager"},
    {"image_layout", CHOICE(image_layout_names, IMAGE_LAYOUT_COUNT), .fallback = "\"usual\"", .example = "\"nhwc\"",
     .flag = "image-layout", .varied = "image_layout", INT(image_layout),
     NEEDS(CONVOLUTIONS), .help = "how images lie in memory; usual: as the framework has it"},
    {"optimizer", CHOICE(optimizer_names, OPTIMIZER_COUNT), .example = "\"adam\"", .flag = "optimizer", .varied = "optimizer",
     INT(optimizer), .help = "optimizer, own: in Python of one's own, tensor by tensor; when left out: adam for transformers, else sgd"},
    {"backend", CHOICE(backend_choices, 3), .fallback = "\"nccl\"", .example = "\"nccl\"", .flag = "backend",
     .varied = "backend", NEEDS(GPUS), .help = "library of collectives"},
    {"bucket", BYTES(ABOVE_ZERO), .fallback = "\"25 MiB\"", .example = "\"25 MiB\"", .flag = "bucket", .varied = "bucket",
     DOUBLE(bucket_bytes), NEEDS(REPLICAS), .help = "gradients reduced in one go"},
    {"overlap", TABLE(JOB_OVERLAP), .example = "{ grad_reduce = true }", .help = "what communication hides behind compute"},
    {"fp32_grad_reduce", SWITCH, .fallback = "false", .example = "true", .flag = "fp32-grad-reduce", BOOL(fp32_grad_reduce),
     NEEDS(REPLICAS), .help = "gradients travel as fp32 whatever the precision"},
    {"expert_skew", NUMBER(0, 10), .fallback = "0", .example = "0.5", .flag = "expert-skew", .varied = "expert_skew",
     DOUBLE(expert_skew), NEEDS(EXPERTS), .help = "the k-th most chosen expert gets a share of tokens as k^-skew; 0: all alike"},
    {"capacity_factor", NUMBER(ABOVE_ZERO, 1e6), .example = "1.25", .flag = "capacity-factor",
     .alias = "moe-expert-capacity-factor", .varied = "capacity_factor", DOUBLE(capacity_factor),
     NEEDS(EXPERTS), .help = "experts drop what exceeds this multiple of an even share; when left out: nothing"},
    {"expert_loop", SWITCH, .fallback = "false", .example = "true", .flag = "expert-loop", BOOL(expert_loop),
     NEEDS(EXPERTS), .help = "experts one after the other in a loop in Python (Hugging Face), each asking the GPU for its tokens"},
    {"fused_dispatch", SWITCH, .fallback = "false", .example = "true", .flag = "fused-dispatch", BOOL(fused_dispatch),
     NEEDS_2(EXPERTS, EXPERT_PARALLEL), .help = "experts' tokens are sorted inside the exchange, a copy per rank, over a network per node (DeepEP, HybridEP)"},
    {"cuda_graphs", SWITCH, .fallback = "false", .example = "true", .flag = "cuda-graphs", BOOL(cuda_graphs),
     .help = "layers' kernels are replayed as CUDA graphs: the CPU issues none of them"},
    {"lora_rank", COUNT(1, 65536), .example = "16", .others = "lora|lora-r", .flag = "lora-rank", .varied = "lora_rank", INT(lora_rank),
     .help = "train adapters of this rank beside attention's products and nothing else; when left out: all weights"},
    {"lora_embeddings", SWITCH, .fallback = "false", .example = "true", .flag = "lora-embeddings", BOOL(lora_embeddings),
     .help = "embedding and head are trained beside the adapters, as copies of their own (PEFT's modules_to_save)"},
    {"lora_everywhere", SWITCH, .fallback = "false", .example = "true", .flag = "lora-everywhere", BOOL(lora_everywhere),
     NEEDS(TRANSFORMER), .help = "adapters beside every product, each by itself (PEFT's all-linear)"},
    {"nf4_weights", SWITCH, .fallback = "false", .example = "true", .others = "load-in-4bit|qlora", .flag = "nf4-weights", BOOL(nf4_weights),
     .help = "frozen weights lie in 4 bits (NormalFloat), dequantised for each product (QLoRA); needs lora_rank"},
    {"gptq_weights", SWITCH, .fallback = "false", .example = "true", .flag = "gptq-weights", BOOL(gptq_weights),
     .help = "the same in 4 bits of GPTQ, unpacked by elementary operators (AutoGPTQ while training)"},
    {"zero_quantized_weights", SWITCH, .fallback = "false", .example = "true", .flag = "zero-quantized-weights",
     .varied = "zero_quantized_weights", BOOL(zero_quantized_weights),
     .help = "ZeRO 3 gathers weights in 8 bits and dequantises them where they arrive (ZeRO++, qwZ)"},
    {"fp8_recipe", CHOICE(fp8_recipe_names, FP8_RECIPE_COUNT), .fallback = "\"delayed\"", .example = "\"mxfp8\"",
     .flag = "fp8-recipe", .varied = "fp8_recipe", INT(fp8_recipe),
     NEEDS(FP8), .help = "precision fp8: what shares a scale, and where that comes from"},
    {"half_weights", SWITCH, .fallback = "false", .example = "true", .flag = "half-weights", BOOL(half_weights),
     .help = "eager software: the model is cast to 16 bits, there is no autocast"},
    {"scatter_gather", SWITCH, .fallback = "false", .example = "true", .flag = "scatter-gather", BOOL(scatter_gather),
     NEEDS_2(TENSOR_PARALLEL, PIPELINE), .help = "tensor-parallel ranks send slices to the next stage, gathered there (Megatron before sequence parallelism)"},
    {"fused_loss", SWITCH, .fallback = "false", .example = "true", .flag = "fused-loss", BOOL(fused_loss),
     NEEDS(TRANSFORMER), .help = "softmax and cross entropy in few kernels that keep logits in 16 bits"},
    {"tuned_products", SWITCH, .fallback = "false", .example = "true", .flag = "tuned-products", BOOL(tuned_products),
     .help = "kernels of products are found by timing them (XLA's autotuner), not by cuBLAS's rules"},
    {"fused_optimizer", SWITCH, .fallback = "false", .example = "true", .flag = "fused-optimizer", BOOL(fused_optimizer),
     NEEDS_2(ADAM, EAGER), .help = "eager software's Adam reads and writes each weight once (AdamW(fused=True), apex, DeepSpeed); when left out: operation by operation, PyTorch's default"},
    {"fused_norms", SWITCH, .fallback = "false", .example = "true", .flag = "fused-norms", BOOL(fused_norms),
     NEEDS_2(TRANSFORMER, EAGER), .help = "eager software: RMSNorm and rotary embedding are kernels of their own (apex, Liger, flash-attn)"},
    {"loss_chunks", COUNT(2, 1e5), .example = "8", .flag = "loss-chunks", INT(loss_chunks),
     NEEDS(TRANSFORMER), .help = "logits and loss are made for this many parts of the tokens in turn (torchtune: 8; Liger's fused linear cross entropy: vocabulary / hidden size); when left out: at once"},
    {"gathers_logits", SWITCH, .fallback = "false", .example = "true", .flag = "gathers-logits", BOOL(gathers_logits),
     NEEDS_2(TRANSFORMER, TENSOR_PARALLEL), .help = "tensor-parallel GPUs gather logits for the loss (PyTorch's plans without loss_parallel); else each keeps its part of the vocabulary"},
    {"optimizer_in_backward", SWITCH, .fallback = "false", .example = "true", .flag = "optimizer-in-backward",
     BOOL(optimizer_in_backward), .help = "a weight is updated, and its gradient dropped, as soon as it is there (one GPU, one micro-batch a step)"},
    {"composed_gelu", SWITCH, .fallback = "false", .example = "true", .flag = "composed-gelu", BOOL(composed_gelu),
     NEEDS_2(TRANSFORMER, EAGER), .help = "GELU by tanh from eight elementary operators, and plain attention's mask by two more (Hugging Face's GPT-2)"},
    {"whole_head", SWITCH, .fallback = "false", .example = "true", .flag = "whole-head", BOOL(whole_head),
     NEEDS_2(TRANSFORMER, ENCODER), .help = "an encoder's logits at every position, not at masked ones only"},
    {"classifies", SWITCH, .fallback = "false", .example = "true", .flag = "classifies", BOOL(classifies),
     NEEDS(TRANSFORMER), .help = "a transformer's head gives a few classes or numbers, no logits over the vocabulary (GLUE, SQuAD, reward models)"},
    {"tp_waits", SWITCH, .fallback = "false", .example = "true", .flag = "tp-waits", BOOL(tp_waits),
     NEEDS_2(TRANSFORMER, TENSOR_PARALLEL), .help = "backward too waits for all tensor-parallel traffic (Megatron before 2022)"},
    {"recompute_stops_early", SWITCH, .fallback = "false", .example = "true", .flag = "recompute-stops-early",
     BOOL(recompute_stops_early), NEEDS(RECOMPUTATION), .help = "recomputation leaves out a layer's last product (PyTorch since 2.1)"},
    {"accumulation_bytes", NUMBER(0, 1e6), .fallback = "0", .example = "24", .flag = "accumulation-bytes",
     DOUBLE(accumulation_bytes), .help = "bytes moved per parameter and micro-batch beyond the framework's usual (DeepSpeed's ZeRO)"},
    {"reduce_cycle", SECONDS(0), .fallback = "0", .example = "\"5 ms\"", .flag = "reduce-cycle", DOUBLE(reduce_cycle_seconds),
     NEEDS(REPLICAS), .help = "how often a background thread looks for gradients to reduce; 0: at once"},
    {"offload", TABLE(JOB_OFFLOAD), .example = "{ optimizer = \"host\" }",
     .help = "what lies outside the GPU (ZeRO-Offload, ZeRO-Infinity)"},
    {"horovod", TABLE(JOB_HOROVOD), .example = "{ cycle = \"5 ms\", fusion = \"64 MiB\" }",
     .help = "of strategy \"horovod\": how gradients are fused"},
    {"no_sync", SWITCH, .fallback = "true", .example = "false", .flag = "no-sync",
     NEEDS_2(REPLICAS, ACCUMULATION), .help = "gradients are reduced once a step; false: after every micro-batch"},
    {"prefetch", COUNT(0, 1e5), .fallback = "1", .example = "2", .flag = "prefetch",
     NEEDS(ZERO_3), .help = "zero 2 and 3: blocks whose weights are gathered ahead of the one that computes"},
    {"routing", TABLE(JOB_ROUTING), .example = "{ dirichlet = 0.5 }", .help = "how tokens spread over experts, instead of expert_skew"},
    {"data", TABLE(JOB_DATA), .example = "{ sample_bytes = \"110 kB\" }", .help = "loading of samples"},
    {"checkpoint", TABLE(JOB_CHECKPOINT), .example = "{ every = \"30 min\" }",
     .help = "how the state is saved; when left out: as Daly's formula has it where machines fail"},
    {"cpu_per_kernel", SECONDS(0), .fallback = "0", .example = "\"20 us\"", .flag = "cpu-per-kernel", .varied = "cpu_per_kernel",
     DOUBLE(cpu_seconds_per_kernel), .help = "host time to issue a kernel, with the Python around it; 0: the framework's usual"},
    {"module_hooks", SWITCH, .fallback = "false", .example = "true", .flag = "module-hooks", BOOL(module_hooks),
     NEEDS(ZERO_3), .help = "zero 3 fetches and frees weights by hooks in Python around every module (DeepSpeed)"},
    {"cpu_per_step", SECONDS(0), .fallback = "0", .example = "\"2 ms\"", .flag = "cpu-per-step", .varied = "cpu_per_step",
     DOUBLE(cpu_seconds_per_step), .help = "host work of a step that nothing hides"},
    {"jitter", NUMBER(0, 2), .fallback = "0", .example = "0.02", .flag = "jitter", .varied = "jitter", DOUBLE(jitter),
     .help = "sigma of the log of each kernel's time"},
    {"jitter_by", CHOICE(jitter_by_names, JITTER_BY_COUNT), .fallback = "\"gpu\"", .example = "\"class\"", .flag = "jitter-by",
     INT(jitter_by), NEEDS(JITTER), .help = "gpu: each GPU draws its own times, as in explain and trace always; class: the slowest of those that do alike, drawn at once, for any number of GPUs"},
    {"straggler", NUMBER(1, 1000), .example = "1.2", .flag = "straggler", .varied = "straggler", DOUBLE(straggler),
     .help = "one rank is this many times slower"},
    {"unread_options", COUNT(0, 1e4), .fallback = "0", .example = "3", .flag = "unread-options", INT(unread_options),
     .help = "options of its launch file that would matter and are not understood: each widens the range of a step"},
};

static const Field batch_fields[] = {
    {"global", COUNT(1, 1e12), .example = "256", .others = "train-batch-size|total-batch-size", .flag = "global-batch", .alias = "global-batch-size", .varied = "global_batch",
     DOUBLE(global_batch), .help = "samples of an optimizer step, all GPUs together"},
    {"micro", COUNT(1, 1e9), .example = "4", .others = "batch-size|per-device-train-batch-size|per-gpu-batch-size|train-micro-batch-size-per-gpu", .flag = "micro-batch", .alias = "micro-batch-size", .varied = "micro_batch",
     DOUBLE(micro_batch), .help = "samples that one replica takes at a time"},
    {"accumulation", COUNT(1, 1e9), .example = "8", .flag = "grad-accumulation", .alias = "gradient-accumulation-steps",
     .varied = "accumulation", DOUBLE(grad_accumulation), .help = "micro-batches of a replica before gradients are reduced"},
};

static const Field parallel_fields[] = {
    {"tp", COUNT(1, 1e5), .fallback = "1", .example = "2", .flag = "tp", .alias = "tensor-model-parallel-size", .varied = "tp",
     INT(layout.tp), .help = "tensor parallelism: GPUs that share each layer"},
    {"pp", COUNT(1, 1e5), .example = "2", .flag = "pp", .alias = "pipeline-model-parallel-size", .varied = "pp", INT(layout.pp),
     .help = "pipeline stages; when left out: 1, or all GPUs for strategy \"layers\""},
    {"vpp", COUNT(1, 1e4), .fallback = "1", .example = "2", .flag = "vpp", .alias = "virtual-pipeline-model-parallel-size",
     .varied = "vpp", INT(layout.vpp), NEEDS(PIPELINE), .help = "virtual stages per GPU of an interleaved pipeline"},
    {"dp", COUNT(1, MOST_GPUS), .word = "fill", .fallback = "\"fill\"", .example = "4", .flag = "dp",
     .alias = "data-parallel-size", .varied = "dp", INT(layout.dp), .help = "replicas; \"fill\": as many as the GPUs allow"},
    {"zero", COUNT(0, 3), .fallback = "0", .example = "1", INT(layout.zero), NEEDS(REPLICAS), .help = "the same as zero beside parallel"},
    {"shard", COUNT(1, MOST_GPUS), .example = "8", .flag = "zero-shard", .varied = "zero_shard", INT(layout.shard),
     NEEDS_2(REPLICAS, ZERO), .help = "ranks over which zero spreads, then replicated; when left out: all of dp x cp"},
    {"cp", COUNT(1, 1e5), .fallback = "1", .example = "2", .flag = "cp", .alias = "context-parallel-size", .varied = "cp",
     INT(layout.cp), .help = "context parallelism: GPUs that share each sequence"},
    {"cp_exchange", CHOICE(context_exchange_names, CONTEXT_COUNT), .fallback = "\"ring\"", .example = "\"ulysses\"",
     .flag = "cp-exchange", .alias = "cp-comm-type", .varied = "cp_exchange", INT(layout.context),
     NEEDS(CONTEXT_PARALLEL), .help = "how they get each other's keys and values: round a ring, all at once, or heads for tokens"},
    {"ep", COUNT(1, 1e5), .fallback = "1", .example = "8", .flag = "ep", .alias = "expert-model-parallel-size", .varied = "ep",
     INT(layout.ep), .help = "expert parallelism: GPUs over which experts are spread, of dp x cp, with etp = 1 of tp x dp x cp"},
    {"etp", COUNT(1, 1e5), .example = "1", .flag = "etp", .alias = "expert-tensor-parallel-size", .varied = "etp", INT(layout.etp),
     NEEDS(EXPERTS), .help = "GPUs that share each expert: as many as tp, or 1, then tensor-parallel GPUs hold experts of their own; when left out: tp"},
    {"sequence_parallel", SWITCH, .example = "false", .flag = "sequence-parallel", BOOL(layout.sequence_parallel),
     NEEDS(TENSOR_PARALLEL), .help = "norms and dropout are split over the tensor-parallel GPUs; when left out: as the software has it, Megatron-LM since 2022 wherever tp is above 1"},
    {"layers", COUNT(0, 1e5), .list = true, .example = "{ 3, 3, 3, 3 }", .flag = "stage-layers",
     NEEDS(PIPELINE), .help = "layers of each pipeline chunk (pp x vpp), in the model's order; when left out: even"},
    {"embedding_counts", SWITCH, .fallback = "false", .example = "true", .flag = "account-for-embedding-in-pipeline-split",
     BOOL(layout.embedding_counts), NEEDS(PIPELINE), .help = "the embedding counts as a layer where layers are spread evenly"},
    {"head_counts", SWITCH, .fallback = "false", .example = "true", .flag = "account-for-loss-in-pipeline-split",
     BOOL(layout.head_counts), NEEDS(PIPELINE), .help = "the head counts as a layer where layers are spread evenly"},
};

static const Field overlap_fields[] = {
    {"grad_reduce", SWITCH, .fallback = "true", .example = "true", .flag = "overlap-grad-reduce", BOOL(overlap_grad_reduce),
     NEEDS(REPLICAS), .help = "gradients are reduced while backward runs"},
    {"param_gather", SWITCH, .fallback = "false", .example = "true", .flag = "overlap-param-gather", BOOL(overlap_param_gather),
     NEEDS_2(REPLICAS, ZERO_1), .help = "with zero = 1: weights are gathered while the next forward runs"},
    {"tp", SWITCH, .fallback = "false", .example = "true", .flag = "tp-comm-overlap", BOOL(tp_overlap),
     NEEDS(TENSOR_PARALLEL), .help = "tensor-parallel traffic passes in pieces beside the products next to it (user buffers, async TP)"},
};

static const Field offload_fields[] = {
    {"optimizer", CHOICE(offload_names, OFFLOAD_COUNT), .fallback = "\"gpu\"", .example = "\"host\"", .flag = "offload-optimizer",
     .varied = "offload_optimizer", INT(offload_optimizer),
     .help = "where its state lies: host, or disks of the node; the CPU updates the weights then"},
    {"parameters", CHOICE(offload_names, OFFLOAD_COUNT), .fallback = "\"gpu\"", .example = "\"nvme\"", .flag = "offload-parameters",
     .varied = "offload_parameters", INT(offload_parameters), .help = "where weights lie until their block needs them (zero = 3)"},
    {"activations", CHOICE(offload_names, OFFLOAD_NVME), .fallback = "\"gpu\"", .example = "\"host\"", .flag = "offload-activations",
     .varied = "offload_activations", INT(offload_activations),
     .help = "where layers' inputs lie until backward needs them (recompute = \"full\"); their copies hide behind the layers"},
};

static const Field horovod_fields[] = {
    {"cycle", SECONDS(ABOVE_ZERO), .fallback = "\"1 ms\"", .example = "\"5 ms\"", .flag = "horovod-cycle",
     DOUBLE(horovod_cycle_seconds), NEEDS(HOROVOD), .help = "how often its thread looks for gradients (HOROVOD_CYCLE_TIME)"},
    {"fusion", BYTES(ABOVE_ZERO), .fallback = "\"128 MiB\"", .example = "\"64 MiB\"", .flag = "horovod-fusion",
     DOUBLE(horovod_fusion_bytes), NEEDS(HOROVOD), .help = "most that is reduced in one go (HOROVOD_FUSION_THRESHOLD)"},
};

static const Field routing_fields[] = {
    {"zipf", NUMBER(0, 10), .example = "0.5", DOUBLE(expert_skew), .help = "the k-th most chosen expert gets a share as k^-zipf"},
    {"dirichlet", NUMBER(ABOVE_ZERO, 1e6), .example = "0.5", .flag = "expert-dirichlet", DOUBLE(routing.concentration),
     .help = "shares of each layer are drawn; the smaller the number, the less even (1: any shares are as likely)"},
    {"seed", .kind = FIELD_SEED, .fallback = "1", .example = "7", .flag = "expert-seed", .stored = STORED_UINT64,
     .at = offsetof(TrainingSpec, routing.seed), NEEDS(DRAWN_ROUTING), .help = "of those draws"},
    {"histogram", NUMBER(0, 1e18), .list = true, .example = "{ 120, 80, 95, 105 }", .flag = "expert-histogram",
     .help = "tokens that each expert got in a recorded run, in the order of experts"},
};

static const Field data_fields[] = {
    {"storage", PART(FIELD_STORAGE), .example = "\"nfs-1gbe\"", .flag = "data-storage",
     NEEDS(DATA), .help = "where samples lie; when left out: disks of the node"},
    {"sample_bytes", BYTES(ABOVE_ZERO), .example = "\"110 kB\"", .flag = "sample-bytes", DOUBLE(sample_bytes),
     .help = "read for each sample; when left out: nothing is read, only decoded"},
    {"workers", COUNT(0, 1e4), .fallback = "4", .example = "8", .flag = "loader-workers", DOUBLE(loader_workers),
     NEEDS(DECODING), .help = "loader processes per GPU"},
    {"samples_per_second_per_worker", NUMBER(ABOVE_ZERO, 1e9), .example = "120", .flag = "samples-per-worker",
     DOUBLE(samples_per_second_per_worker), .help = "that one process decodes and augments; when left out: not limited"},
};

static const Field checkpoint_fields[] = {
    {"every", LONG_SPAN, .example = "\"30 min\"",
     .help = "training between checkpoints; when left out: the interval that Daly's formula calls best"},
    {"mode", CHOICE(checkpoint_mode_names, CHECKPOINT_MODE_COUNT), .fallback = "\"sync\"", .example = "\"async\"",
     .help = "training waits for storage, for a copy in host memory, or for one that a peer keeps"},
    {"storage", PART(FIELD_STORAGE), .example = "\"lustre\"",
     .help = "where checkpoints go; when left out: the cluster's shared storage"},
    {"storage_units", COUNT(1, 10000), .example = "4",
     .help = "units of it side by side; when left out: as many as it is sized for (one, where nobody says)"},
};
// clang-format on

#define FIELDS(rows) rows, COUNT_OF(rows)
const JobObjectType job_objects[JOB_OBJECT_COUNT] = {
    [JOB_TRAINING] = {"training", "training", "a training job", FIELDS(training_fields)},
    [JOB_BATCH] = {"training.batch", "batch", "samples of an optimizer step", FIELDS(batch_fields)},
    [JOB_PARALLEL] = {"training.parallel", "parallel", "degrees of parallelism", FIELDS(parallel_fields)},
    [JOB_OVERLAP] = {"training.overlap", "overlap", "what communication hides behind compute", FIELDS(overlap_fields)},
    [JOB_ROUTING] = {"training.routing", "routing", "how tokens spread over experts", FIELDS(routing_fields)},
    [JOB_HOROVOD] = {"training.horovod", "horovod", "how Horovod fuses gradients", FIELDS(horovod_fields)},
    [JOB_OFFLOAD] = {"training.offload", "offload", "what lies outside the GPU", FIELDS(offload_fields)},
    [JOB_DATA] = {"training.data", "data", "loading of samples", FIELDS(data_fields)},
    [JOB_CHECKPOINT] = {"training.checkpoint", "checkpoint", "how the state is saved", FIELDS(checkpoint_fields)},
};

int job_field_index(JobObject object, const char *name) {
    const JobObjectType *type = &job_objects[object];
    int i = 0;
    while (i < type->field_count && strcmp(type->fields[i].name, name) != 0) i++;
    CHECK(i < type->field_count);
    return i;
}

const Field *job_field_varied(const char *name, JobObject *object) {
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (!field->varied || strcmp(field->varied, name) != 0) continue;
            *object = (JobObject)o;
            return field;
        }
    return NULL;
}

static bool is_called(const char *word, const char *name, size_t length) {
    return word && strlen(word) == length && strncmp(word, name, length) == 0;
}

static const char *option_of(const char *name, size_t length) {
    if (is_called("gpus", name, length)) return "gpus";
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (field->flag && (is_called(field->name, name, length) || is_called(field->varied, name, length)))
                return field->flag;
        }
    return NULL;
}

const char *job_words(Arena *arena, bool scripted, const char *text) {
    if (scripted) return text;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    const char *said = "";
    while (*text) {
        size_t name = strspn(text, letters), rest = name + strcspn(text + name, letters);
        const char *option = strncmp(text + name, " = ", 3) == 0 ? option_of(text, name) : NULL;
        if (!option) {
            said = arena_printf(arena, "%s%.*s", said, (int)rest, text);
            text += rest;
            continue;
        }
        bool quoted = text[name + 3] == '"';
        const char *value = text + name + 3 + quoted;
        size_t length = strcspn(value, quoted ? "\"" : " ,;");
        bool is_true = length == 4 && strncmp(value, "true", 4) == 0;
        said = is_true ? arena_printf(arena, "%s--%s", said, option)
                       : arena_printf(arena, "%s--%s %.*s", said, option, (int)length, value);
        text = value + length + quoted;
    }
    return said;
}

void job_hint(Problems *problems, bool scripted, const char *format, ...) {
    Arena *scratch = arena_open();
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(scratch, format, arguments);
    va_end(arguments);
    problem_hint(problems, "%s", job_words(scratch, scripted, text));
    arena_close(scratch);
}
