// The table: what is known of each stack, per framework, version and date, never per model or per measured row. Three
// were settled by looking at a family's residuals, not by reading its source: DeepSpeed's 24 bytes per parameter,
// FlashAttention-2 in NeMo 24.03, and recomputation that stops early in Composer.
#include "models/workload/job/software.h"

#include <ctype.h>
#include <string.h>

#define EVER 9999
#define EXAMPLES "README of DeepLearningExamples" // the row comes from NVIDIA itself
#define HOROVOD_CYCLE 5e-3                        // HOROVOD_CYCLE_TIME's default until 2020
#define WRAPPED_PYTHON 15e-6 // host time of a kernel where Hugging Face's modules stand around it: Qwen's finetuning on
                             // A100 takes 14 to 16 us, the loop of Tacotron 22
#define HOST_DECODING 120.0 // JPEGs of ImageNet per second and core: hosts of 2017 to 2020 gave 6,900 to 7,700 in all

// clang-format off
static const Software stacks[] = {
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
    {.word = "pytorch train_steps", .also = "compiled", .until_year = EVER, .framework = FRAMEWORK_GRAPH,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recompute_stops_early = true, .whole_head = true,
     .because = "calibrate/gpu/train_steps.py under torch.compile: logits at every position, checkpoints that stop early"},
    {.word = "pytorch train_steps", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recompute_stops_early = true, .whole_head = true,
     .because = "calibrate/gpu/train_steps.py: eager PyTorch, logits at every position, checkpoints that stop early"},
    {.word = "pytorch fsdp + qlora", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .lora_everywhere = true, .half_weights = true,
     .because = "fsdp_qlora: Hugging Face Llama in bf16, FlashAttention-2 through PyTorch, adapters beside every product"},
    {.word = "pytorch fsdp", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true,
     .because = "IBM's FSDP: torch.compile, FlashAttention-2 through PyTorch, 16-bit gradient reduction"},
    {.word = "zero-3", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "DeepSpeed ZeRO-3 with Megatron's layers"},
    {.word = "accelerate", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN, .tp_waits = true,
     .because = "Megatron's layers under accelerate: plain attention, gradients after backward"},
    {.word = "megatron-bridge", .also = "26.06", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .fused_loss = true, .fused_dispatch = true, .cuda_graphs = true, .recipes_keep_activations = true, .shards_optimizer = true, .because = "Megatron-Bridge since June 2026: experts exchanged by fused kernels"},
    {.word = "megatron-bridge", .also = "26.08", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .fused_loss = true, .fused_dispatch = true, .cuda_graphs = true, .recipes_keep_activations = true, .shards_optimizer = true, .because = "Megatron-Bridge since June 2026: experts exchanged by fused kernels"},
    {.word = "megatron-bridge", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .fused_loss = true, .recipes_keep_activations = true, .shards_optimizer = true, .because = "Megatron-Bridge: as NeMo"},
    {.word = "nemo megatron", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .sequence_parallel = true, .interleaves = true,
     .because = "NeMo Megatron of 2022: plain attention, overlapped 16-bit gradient reduction"},
    {.word = "nemo", .also = "24.03", .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_FLASH_2, .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true,
     .interleaves = true, .tp_overlap = true, .recipes_keep_activations = true, .shards_optimizer = true,
     .because = "NeMo before mid-2024: as later, with FlashAttention-2 or cuDNN's kernels before version 9"},
    {.word = "nemo", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .sequence_parallel = true, .interleaves = true,
     .tp_overlap = true, .fused_loss = true, .recipes_keep_activations = true, .shards_optimizer = true,
     .because = "NeMo since 2023: flash attention, overlapped 16-bit gradient reduction and tensor-parallel traffic"},
    {.word = "megatron-core", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .overlap_param_gather = true, .bucket_parameters = 40e6, .fp32_grad_reduce = true, .sequence_parallel = true, .interleaves = true,
     .because = "Megatron-Core: flash attention, overlapped fp32 gradient reduction, sequence parallel"},
    {.word = "megatron-deepspeed", .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_PLAIN, .sharded_accumulation_bytes = 24, .tp_waits = true, .scatter_gather = true,
     .because = "Megatron-DeepSpeed: plain attention; its ZeRO copies gradients into buckets every micro-batch"},
    {.word = "megatron", .from_year = 2022, .until_year = EVER, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_FLASH, .bucket_parameters = 40e6, .fp32_grad_reduce = true, .sequence_parallel = true,
     .interleaves = true,
     .because = "Megatron-LM on GPUs since Hopper: as Megatron-Core, where overlap is off until it is asked for"},
    {.word = "megatron", .also = "| 2022", .until_year = 2022, .framework = FRAMEWORK_MEGATRON,
     .attention = ATTENTION_PLAIN, .interleaves = true, .scatter_gather = true,
     .because = "Megatron-LM of 2022: plain attention, tensor-parallel traffic of backward beside products"},
    {.word = "megatron", .until_year = 2022, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_PLAIN,
     .interleaves = true, .tp_waits = true, .scatter_gather = true,
     .because = "Megatron-LM and Megatron-DeepSpeed of 2020 to 2022: plain attention, 16-bit gradients after backward"},
    {.word = "libai", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .tp_waits = true, .because = "OneFlow compiles the graph: fused kernels, overlapped gradients"},
    {.word = "oneflow-gpt", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .tp_waits = true, .because = "OneFlow since 2021: scale, mask, softmax and dropout are one kernel"},
    {.word = "oneflow", .until_year = EVER, .framework = FRAMEWORK_OPERATORS, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .tuned_images = true, .tp_waits = true,
     .because = "OneFlow runs a graph of operators; batch norm, sums and ReLU are fused, NHWC"},
    {.word = "internevo", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .half_weights = true, .fused_norms = true, .bucket_parameters = 512 * 1048576.0,
     .because = "InternEvo: flash attention, RMSNorm of apex, rotary embedding of flash-attn, eager SwiGLU, overlapped 16-bit ZeRO-1"},
    {.word = "llm.c", .until_year = EVER, .framework = FRAMEWORK_TUNED, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .because = "llm.c: fused CUDA kernels, cuDNN flash attention, 16-bit gradients"},
    {.word = "flash-attn", .until_year = EVER, .framework = FRAMEWORK_MEGATRON, .attention = ATTENTION_FLASH_1, .fused_loss = true,
     .overlap_grad_reduce = true, .because = "fused layers and flash attention"},
    {.word = "hf model", .also = "deepspeed", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .cpu_seconds_per_kernel = WRAPPED_PYTHON, .module_hooks = true, .overlap_grad_reduce = true, .lora_everywhere = true,
     .half_weights = true, .composed_gelu = true, .whole_head = true, .recipes_keep_activations = true,
     .because = "Hugging Face models under DeepSpeed: in 16 bits, hooks in Python around every module with ZeRO 3"},
    {.word = "hf model", .also = "peft", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .cpu_seconds_per_kernel = WRAPPED_PYTHON, .overlap_grad_reduce = true, .lora_everywhere = true, .half_weights = true,
     .composed_gelu = true, .whole_head = true, .recipes_keep_activations = true,
     .because = "Hugging Face models under PEFT: frozen weights in 16 bits, adapters beside every product"},
    {.word = "hf model", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .cpu_seconds_per_kernel = WRAPPED_PYTHON, .overlap_grad_reduce = true, .composed_gelu = true, .whole_head = true,
     .recipes_keep_activations = true,
     .because = "Hugging Face models run eagerly, GPT-2's GELU operator by operator, and give logits at every position"},
    {.word = "parameter server", .until_year = EVER, .framework = FRAMEWORK_TUNED, .parameter_server = true,
     .overlap_grad_reduce = true, .because = "MXNet before Horovod: dist_device_sync, while backward runs"},
    {.word = "mxnet", .also = EXAMPLES, .until_year = EVER, .framework = FRAMEWORK_TUNED,
     .overlap_grad_reduce = true, .reduce_cycle_seconds = HOROVOD_CYCLE,
     .because = "NVIDIA's MXNet: fused batch norm, NHWC, 16-bit gradients through Horovod"},
    {.word = "ngc mxnet", .until_year = EVER, .framework = FRAMEWORK_TUNED, .overlap_grad_reduce = true,
     .reduce_cycle_seconds = HOROVOD_CYCLE,
     .because = "NVIDIA's MXNet: fused batch norm, NHWC, 16-bit gradients through Horovod"},
    {.word = "mxnet", .until_year = EVER, .framework = FRAMEWORK_OPERATORS, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .images_per_core = HOST_DECODING,
     .because = "MXNet as released: a graph of operators, NCHW, images decoded by the host"},
    {.word = "tensorflow 1", .also = "xla", .until_year = EVER, .framework = FRAMEWORK_TENSORFLOW,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recipes_keep_activations = true,
     .reduce_cycle_seconds = HOROVOD_CYCLE,
     .because = "TensorFlow 1 with XLA fuses; element-wise math stays in 32 bits; Horovod"},
    {.word = "tensorflow 1", .until_year = EVER, .framework = FRAMEWORK_COMPOSED, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .images_per_core = HOST_DECODING,
     .reduce_cycle_seconds = HOROVOD_CYCLE,
     .because = "TensorFlow 1 without XLA: norms and GELU from elementary kernels in 32 bits; Horovod"},
    {.word = "tensorflow", .also = EXAMPLES, .until_year = EVER, .framework = FRAMEWORK_TENSORFLOW,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recipes_keep_activations = true,
     .reduce_cycle_seconds = HOROVOD_CYCLE,
     .because = "NVIDIA's TensorFlow examples: XLA, DALI, Horovod"},
    {.word = "tensorflow", .until_year = EVER, .framework = FRAMEWORK_TENSORFLOW, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .images_per_core = HOST_DECODING,
     .because = "TensorFlow runs a graph; NCCL overlaps gradients; images decoded by the host"},
    {.word = "paddle", .also = "dali", .until_year = EVER, .framework = FRAMEWORK_COMPOSED,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recipes_keep_activations = true,
     .because = "PaddlePaddle of 2020 with DALI"},
    {.word = "paddle", .also = "2020", .until_year = EVER, .framework = FRAMEWORK_COMPOSED,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recipes_keep_activations = true,
     .images_per_core = HOST_DECODING,
     .because = "PaddlePaddle of 2020: norms and GELU from elementary kernels"},
    {.word = "paddle", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .because = "PaddlePaddle runs a graph"},
    {.word = "pax", .also = "te ", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .because = "Paxml with Transformer Engine: XLA and cuDNN's attention of 2023"},
    {.word = "pax", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "Paxml through XLA alone: plain attention"},
    {.word = "jax", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH,
     .overlap_grad_reduce = true, .because = "JAX compiles through XLA"},
    {.word = "torchtune", .also = "compiled", .until_year = EVER, .framework = FRAMEWORK_GRAPH, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .loss_chunks = 8,
     .because = "torchtune with torch.compile: the loss in 8 parts (modules/loss/cross_entropy.py, default since 0.4)"},
    {.word = "torchtune", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_FLASH_2,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .loss_chunks = 8,
     .because = "torchtune: the loss in 8 parts (modules/loss/cross_entropy.py, default since 0.4)"},
    {.word = "pytorch", .also = EXAMPLES, .until_year = EVER, .framework = FRAMEWORK_EAGER,
     .attention = ATTENTION_PLAIN, .overlap_grad_reduce = true, .recipes_keep_activations = true, .nhwc_16_bits = true,
     .because = "NVIDIA's PyTorch examples: eager, channels last in 16 bits"},
    {.word = "ngc pytorch", .until_year = 2018, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recipes_keep_activations = true, .whole_head = true,
     .because = "NVIDIA's PyTorch BERT of early 2020 gives logits at every position"},
    {.word = "pytorch", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .recipes_keep_activations = true,
     .because = "PyTorch runs eagerly; DDP overlaps fp32 gradients; nothing is recomputed unless asked for"},
    {.word = "", .until_year = EVER, .framework = FRAMEWORK_EAGER, .attention = ATTENTION_PLAIN,
     .overlap_grad_reduce = true, .because = "an unknown framework: as eager PyTorch"},
};
// clang-format on
#define STACKS ((int)(sizeof stacks / sizeof *stacks))

// Whatever the case; "-" and "_" are blanks.
static char folded(char letter) { return letter == '-' || letter == '_' ? ' ' : (char)tolower((unsigned char)letter); }

static bool begins(const char *text, const char *word) {
    for (; *word; word++, text++)
        if (folded(*text) != folded(*word)) return false;
    return true;
}

static bool contains(const char *text, const char *word) {
    for (; *text; text++)
        if (begins(text, word)) return true;
    return !*word;
}

const Software *software_of(const char *text, int gpu_year) {
    const Software *row = stacks;
    while (!contains(text, row->word) || (row->also && !contains(text, row->also)) || gpu_year < row->from_year ||
           gpu_year >= row->until_year)
        row++;
    return row;
}

const Software *software_at(int index) { return index >= 0 && index < STACKS - 1 ? &stacks[index] : NULL; }

const Software *find_software(const char *text, int gpu_year, Where where, Problems *problems) {
    const char *names[STACKS];
    const Software *found = software_of(text, gpu_year);
    if (found->word[0]) return found;
    for (int i = 0; i < STACKS - 1; i++) names[i] = stacks[i].word;
    const char *near = nearest_name(text, names, STACKS - 1);
    problem_add(problems, where, "no software is known by the words \"%.60s\"", text);
    if (near)
        problem_hint(problems, "did you mean \"%s\"?", near);
    else
        problem_hint(problems, "see: lockstep job software; or leave it out and say framework, attention, overlap, …");
    return NULL;
}

void software_apply(const Software *software, TrainingSpec *training) {
    const Model *model = training->model;
    bool images = convolves(model);
    training->framework = images && software->tuned_images ? FRAMEWORK_TUNED : software->framework;
    training->attention = software->attention;
    training->overlap_grad_reduce = software->overlap_grad_reduce;
    training->fp32_grad_reduce = software->fp32_grad_reduce;
    training->half_weights = software->half_weights;
    training->overlap_param_gather = software->overlap_param_gather;
    training->tp_overlap = software->tp_overlap;
    training->scatter_gather = software->scatter_gather;
    training->layout.zero = software->shards_optimizer;
    training->lora_everywhere = software->lora_everywhere;
    training->fused_dispatch = software->fused_dispatch;
    training->cuda_graphs = software->cuda_graphs;
    training->fused_loss = software->fused_loss;
    if (names_parts(model) && model->vocab > 0) training->loss_chunks = software->loss_chunks;
    training->tp_waits = software->tp_waits;
    training->recompute_stops_early = software->recompute_stops_early;
    training->accumulation_bytes = software->sharded_accumulation_bytes;
    training->cpu_seconds_per_kernel = software->cpu_seconds_per_kernel;
    training->module_hooks = software->module_hooks;
    training->fused_norms = software->fused_norms;
    training->composed_gelu = software->composed_gelu && contains(model->name, "gpt");
    training->whole_head = software->whole_head;
    training->reduce_cycle_seconds = software->reduce_cycle_seconds;
    if (software->parameter_server) training->backend = BACKEND_MPI;
    if (software->bucket_parameters > 0)
        training->bucket_bytes = software->bucket_parameters * (software->fp32_grad_reduce ? 4 : 2);
}
