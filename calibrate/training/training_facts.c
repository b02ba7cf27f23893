// The defaults, in one place: what is known of each stack, per framework, version and date, never per row or per model.
// Three were settled by looking at a family's residuals, not by reading its source: DeepSpeed's 24 bytes per parameter,
// FlashAttention-2 in NeMo 24.03, and recomputation that stops early in Composer.
#include "calibrate/training/training_facts.h"

#include <string.h>

#define EVER 9999

// clang-format off
static const SoftwareFacts facts[] = {
    {.word = "mlperf", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .sequence_parallel = true, .interleaves = true,
     .because = "MLPerf submissions are tuned: fused kernels, NHWC, CUDA graphs, 16-bit gradients"},
    {.word = "composer", .until_year = EVER, .framework = FRAMEWORK_FUSED, .attention = ATTENTION_FLASH_1,
     .overlap_grad_reduce = true, .recompute_stops_early = true,
     .because = "Composer with MPT: eager with fused norms, the Triton flash attention of 2022 and 2023"},
    {.word = "torchtitan", .also = "compiled", .until_year = EVER, .framework = FRAMEWORK_GRAPH,
     .attention = ATTENTION_FLASH_2, .overlap_grad_reduce = true, .fp32_grad_reduce = true,
     .because = "torchtitan with torch.compile: FlashAttention-2 through PyTorch, fp32 gradient reduction"},
    {.word = "torchtitan", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .fp32_grad_reduce = true,
     .because = "torchtitan: FlashAttention-2 through PyTorch, fp32 gradient reduction"},
    {.word = "pytorch fsdp + qlora", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .because = "Hugging Face Llama with FlashAttention-2 through PyTorch"},
    {.word = "pytorch fsdp", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true,
     .because = "IBM's FSDP: torch.compile, FlashAttention-2 through PyTorch, 16-bit gradient reduction"},
    {.word = "zero-3", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "DeepSpeed ZeRO-3 with Megatron's layers"},
    {.word = "accelerate", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .because = "Megatron's layers under accelerate: plain attention, gradients after backward"},
    {.word = "nemo megatron", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .sequence_parallel = true, .interleaves = true,
     .because = "NeMo Megatron of 2022: plain attention, overlapped 16-bit gradient reduction"},
    {.word = "nemo", .also = "24.03", .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_FLASH_2, .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true,
     .interleaves = true, .tp_overlap = true, .recipes_keep_activations = true,
     .because = "NeMo before mid-2024: as later, with FlashAttention-2 or cuDNN's kernels before version 9"},
    {.word = "nemo", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .recipes_keep_activations = true,
     .because = "NeMo since 2023: flash attention, overlapped 16-bit gradient reduction and tensor-parallel traffic"},
    {.word = "megatron-bridge", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .recipes_keep_activations = true, .because = "Megatron-Bridge: as NeMo"},
    {.word = "megatron-core", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .fp32_grad_reduce = true, .sequence_parallel = true, .interleaves = true,
     .because = "Megatron-Core: flash attention, overlapped fp32 gradient reduction, sequence parallel"},
    {.word = "megatron-deepspeed", .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_PLAIN, .interleaves = false, .sharded_accumulation_bytes = 24,
     .because = "Megatron-DeepSpeed: plain attention; its ZeRO copies gradients into buckets every micro-batch"},
    {.word = "megatron", .from_year = 2022, .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_FLASH, .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .fp32_grad_reduce = true, .sequence_parallel = true,
     .interleaves = true,
     .because = "Megatron-LM on GPUs since Hopper: as Megatron-Core"},
    {.word = "megatron", .until_year = 2022, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .interleaves = true,
     .because = "Megatron-LM and Megatron-DeepSpeed of 2020 to 2022: plain attention, 16-bit gradients after backward"},
    {.word = "libai", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "OneFlow compiles the graph: fused kernels, overlapped gradients"},
    {.word = "oneflow", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "OneFlow compiles the graph: fused kernels, overlapped gradients"},
    {.word = "internevo", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .because = "InternEvo: flash attention, eager rotary embedding and SwiGLU, overlapped 16-bit ZeRO-1"},
    {.word = "llm.c", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .because = "llm.c: fused CUDA kernels, cuDNN flash attention, 16-bit gradients"},
    {.word = "flash-attn", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH_1,
     .overlap_grad_reduce = true, .because = "fused layers and flash attention"},
    {.word = "hf model", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .whole_head = true,
     .because = "Hugging Face models run eagerly and give logits at every position"},
    {.word = "parameter server", .until_year = EVER, .framework = FRAMEWORK_TUNED, .parameter_server = true,
     .because = "MXNet before Horovod: dist_device_sync"},
    {.word = "mxnet", .until_year = EVER, .framework = FRAMEWORK_TUNED, .overlap_grad_reduce = true,
     .because = "NVIDIA's MXNet: fused batch norm, NHWC, 16-bit gradients"},
    {.word = "tensorflow 1", .also = "xla", .until_year = EVER, .framework = FRAMEWORK_GRAPH,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .because = "TensorFlow 1 with XLA fuses"},
    {.word = "tensorflow 1", .until_year = EVER, .framework = FRAMEWORK_COMPOSED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "TensorFlow 1 without XLA: norms and GELU from elementary kernels"},
    {.word = "tensorflow", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "TensorFlow runs a graph; Horovod or NCCL overlaps gradients"},
    {.word = "paddle", .also = "2020", .until_year = EVER, .framework = FRAMEWORK_COMPOSED,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true,
     .because = "PaddlePaddle of 2020: norms and GELU from elementary kernels"},
    {.word = "paddle", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "PaddlePaddle runs a graph"},
    {.word = "pax", .also = "te ", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .because = "Paxml with Transformer Engine: XLA and cuDNN's attention of 2023"},
    {.word = "pax", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "Paxml through XLA alone: plain attention"},
    {.word = "jax", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .because = "JAX compiles through XLA"},
    {.word = "pytorch", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "PyTorch runs eagerly; DDP overlaps fp32 gradients"},
    {.word = "", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "an unknown framework: as eager PyTorch"},
};

const AssumedFact assumed_facts[ASSUMED_COUNT] = {
    [ASSUMED_SOFTWARE] = {"software", "kernels, attention and gradient reduction as usual for the framework and date",
                          0.075},
    [ASSUMED_FRAMEWORK] = {"framework", "not known: as eager PyTorch", 0.25},
    [ASSUMED_HEADS] = {"heads", "head size 64 up to hidden 1024, 96 below 4096, else 128 (GPT-3 and Megatron tables)",
                       0.03},
    [ASSUMED_VOCABULARY] = {"vocabulary", "51,200, an encoder's 30,522", 0.03},
    [ASSUMED_MICRO_BATCH] = {"micro-batch", "the fastest of 1, 2, 4, 8, 16 whose memory fits", 0.06},
    [ASSUMED_INTERLEAVING] = {"virtual stages", "the fastest of those that divide the layers", 0.06},
    [ASSUMED_RECOMPUTE] = {"recomputation", "the fastest of none, selective, full whose memory fits", 0.08},
    [ASSUMED_SEQUENCE_PARALLEL] = {"sequence parallel", "as usual for the framework", 0.02},
    [ASSUMED_GPU_LINKS] = {"GPU links", "NVLink switch for SXM since Ampere, cube mesh for V100 and P100, else PCIe",
                           0.03},
    [ASSUMED_NICS] = {"network", "one NIC per GPU: 200 Gb/s before Hopper, 400 Gb/s since", 0.05},
    [ASSUMED_SHARD_GROUP] = {"ZeRO group", "optimizer state sharded over all replicas", 0.04},
    [ASSUMED_SERVERS] = {"parameter servers", "gradients summed in host memory, as an all-reduce of MPI does", 0.08},
    [ASSUMED_GPU_NAME] = {"GPU name", "the nearest catalogue entry that the name contains", 0.03},
    [ASSUMED_IMAGE_SIZE] = {"image size", "as usual for the model (224 pixels)", 0.05},
    [ASSUMED_EXPERTS] = {"experts", "tokens sorted by kernels of their own and exchanged by NCCL, nothing beside it; even routing",
                         0.2},
    [ASSUMED_MEMORY] = {"memory", "the estimate exceeds the card; predicted all the same", 0.05},
};
// clang-format on

static bool contains(const char *text, const char *word) { return !word[0] || strcasestr(text, word) != NULL; }

const SoftwareFacts *software_facts(const char *framework, int gpu_year) {
    const SoftwareFacts *row = facts;
    while (!contains(framework, row->word) || (row->also && !contains(framework, row->also)) ||
           gpu_year < row->from_year || gpu_year >= row->until_year)
        row++;
    return row;
}

int usual_head_size(int hidden) { return hidden <= 1024 ? 64 : hidden < 4096 ? 96 : 128; }
