// Tables of cost: fitted and assumed numbers, how each kind of software runs kernels, names.
#include "models/workload/cost/cost_constants.h"

#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_internal.h"
#include "sim/base/check.h"

#define IMAGES "470 published steps of image networks, twelve families"

// clang-format off
const Constant cost_constants[COST_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [ISSUE_SHARPNESS] = {"how sharply the slower of host and GPU sets a block's time", "", 4, 0.3, CONSTANT_ASSUMED, "a queue of kernels is full or empty, with little in between: a nearly hard maximum", "nothing measured"},
    [USUAL_ISSUE_SECONDS] = {"an empty kernel on the hosts that frameworks' issue times are of", "s", 2.2e-6, 0.2, CONSTANT_ASSUMED, "what the catalogue takes where a host is not known", "nothing measured"},
    [FSDP_BYTES_32] = {"FSDP, bytes moved per gradient of 32 bits and micro-batch", "B", 13, 0.1, CONSTANT_FITTED, "18 B by counting, times 0.72", "154 runs"},
    [FSDP_BYTES_16] = {"FSDP, bytes moved per gradient of 16 bits and micro-batch", "B", 5.8, 0.1, CONSTANT_FITTED, "8 B by counting, times 0.72", "154 runs"},
    [PLAIN_CUBLAS_ON_HOPPER] = {"products as PyTorch calls them, of Transformer Engine's, on Hopper", "", 0.88, 0.04, CONSTANT_FITTED, "runs of Composer, IBM's FSDP, torchtitan and Lambda were 5 to 12 % too fast where NeMo's were right; the cause is not verified", "1 type of GPU (H100), 70 runs"},
    [FLASH_BEFORE_HOPPER] = {"cuDNN's attention and FlashAttention-3 against products, before Hopper", "", 0.82, 0.1, CONSTANT_FITTED, "0.6 of the dense peak", "kernel tables and long-sequence runs on A100"},
    [FLASH_ON_HOPPER] = {"cuDNN's attention and FlashAttention-3 against products, Hopper", "", 0.79, 0.1, CONSTANT_FITTED, "0.6 of the dense peak", "kernel tables and long-sequence runs on H100"},
    [FLASH_ON_BLACKWELL] = {"cuDNN's attention and FlashAttention-3 against products, Blackwell", "", 0.98, 0.1, CONSTANT_FITTED, "0.52 of the dense peak", "kernel tables and long-sequence runs on B200"},
    [FLASH_1_BEFORE_HOPPER] = {"FlashAttention 1 against products, before Hopper", "", 0.46, 0.1, CONSTANT_FITTED, "0.34 of the dense peak", "154 training runs on A100 and H100"},
    [FLASH_1_SINCE_HOPPER] = {"FlashAttention 1 against products, since Hopper", "", 0.28, 0.15, CONSTANT_FITTED, "0.21 of the dense peak", "154 training runs on A100 and H100"},
    [FLASH_2_BEFORE_HOPPER] = {"FlashAttention 2 against products, before Hopper", "", 0.78, 0.1, CONSTANT_FITTED, "0.58 of the dense peak", "kernel tables on A100"},
    [FLASH_2_KEYS] = {"keys more that a tile of queries costs FlashAttention 2, on Hopper's and Blackwell's servers", "keys", 210, 0.3, CONSTANT_FITTED, "197 to 2,048 tokens", "25 training steps of GPT-2, Llama, BERT and ViT on H100"},
    [FLASH_2_ON_HOPPER] = {"FlashAttention 2 against products, Hopper, beside its exponentials", "", 0.58, 0.1, CONSTANT_FITTED, "0.42 of products with heads of 128, 0.36 with 64: the difference is exponentials that wait for products", "25 training steps of GPT-2, Llama, BERT and ViT on H100"},
    [FLASH_2_ON_BLACKWELL] = {"FlashAttention 2 against products, Blackwell, beside its exponentials", "", 0.29, 0.15, CONSTANT_MEASURED, "340 to 380 TFLOP/s forward on B200, with heads of 128, by the products of earlier GPUs", "Dao-AILab/flash-attention, issue 1589"},
    [FLASH_3_ON_HOPPER] = {"FlashAttention-3 against products, Hopper", "", 0.97, 0.07, CONSTANT_FITTED, "0.74 of the dense peak before what power takes: 640 to 740 TFLOP/s forward in its paper; long sequences of Llama 8B", "1 table, 1 family (H200)"},
    [FLASH_4_ON_BLACKWELL] = {"FlashAttention-4 against products, Blackwell", "", 1.3, 0.1, CONSTANT_FITTED, "0.7 of the dense peak before what power takes, as its authors say; long sequences of Llama 8B", "1 family (B200)"},
    [FLASH_BACKWARD_SHARE] = {"flash attention's backward, of the rate of its forward", "", 0.85, 0.1, CONSTANT_FITTED, "2.5 times the FLOPs at a lower rate", "the kernel tables of the forward rates"},
    [EFFICIENT_ATTENTION_SHARE] = {"memory-efficient attention in 32 bits against products on vector units", "", 0.55, 0.15, CONSTANT_FITTED, "forward 0.49, backward 0.6, a mask of causal attention's tiles counted (fmha_cutlassF_f32_aligned_64x64, heads of 64)", "GPT-2 in FP32 and TF32 on H100"},
    [FLASH_KEYS] = {"keys more that a tile of queries costs, before Blackwell", "keys", 128, 0.3, CONSTANT_FITTED, "one tile; FlashAttention-3 at 1,024 tokens reaches 0.87 of its rate at 16,384", "1 type of GPU (H100)"},
    [FLASH_KEYS_ON_BLACKWELL] = {"keys more that a tile of queries costs, Blackwell", "keys", 512, 0.3, CONSTANT_FITTED, "runs of 8,192 to 1,048,576 tokens", "1 model, eight runs"},
    [MIXED_VECTOR_SHARE] = {"heads not of 8 elements, of what 32-bit products of their shape reach", "", 0.72, 0.15, CONSTANT_FITTED, "heads of 108 and 150 elements against 144 and 216 in otherwise equal steps of BLOOM's prototypes", "1 type of GPU (A100), two pairs of steps"},
    [CONV_SHARE_BEFORE_AMPERE] = {"convolutions against products, matrix units before Ampere", "", 0.89, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARE_SINCE_AMPERE] = {"convolutions against products, matrix units since Ampere", "", 0.98, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARE_VECTOR] = {"convolutions against products, vector units", "", 1.18, 0.1, CONSTANT_FITTED, "one value for every network, V100's peak where K is long; 1.28 would fit better", "14 families, of which 11 were nearer for it than for 1.12"},
    [CONV_SHARE_DILATED] = {"dilated convolutions against others", "", 0.58, 0.15, CONSTANT_FITTED, "WaveGlow", "1 model, twelve types of GPU"},
    [CONV_SHARE_GUESSED] = {"convolutions of varied sizes by cuDNN's guess, of those by timed kernels", "", 0.83, 0.15, CONSTANT_FITTED, "10 to 30 % is what timing is said to gain; Detectron2's zoo leaves 0.8", "1 family, 42 networks"},
    [CONV_PEAK_KEPLER] = {"convolutions on Kepler, of the peak in 32 bits", "", 0.80, 0.15, CONSTANT_FITTED, "cuDNN 5 and 6: a long ramp, algorithms that spare products", IMAGES},
    [CONV_PEAK_PASCAL] = {"convolutions on Pascal, of the peak in 32 bits", "", 1.24, 0.15, CONSTANT_FITTED, "cuDNN 5 and 6: a long ramp, algorithms that spare products", IMAGES},
    [CONV_PEAK_HOPPER] = {"convolutions on Hopper, of the peak in 16 bits", "", 0.78, 0.1, CONSTANT_FITTED, "H100 and H200 agree", IMAGES},
    [CONV_PEAK_BLACKWELL] = {"convolutions on Blackwell, of the peak in 16 bits", "", 0.60, 0.1, CONSTANT_FITTED, "B200 and GB200 agree", IMAGES},
    [K_RAMP] = {"elements of K that a tile of a convolution loses to its start and end", "", 114, 0.2, CONSTANT_FITTED, "one value for every network", IMAGES},
    [K_RAMP_CUDNN_5] = {"the same, cuDNN 5 and 6", "", 900, 0.3, CONSTANT_FITTED, "Kepler and Pascal", IMAGES},
    [LAYOUT_PASSES] = {"channels first to channels last and back, passes on matrix units", "", 1.3, 0.2, CONSTANT_FITTED, "1.06 on H100, where kernels were timed; 2 on V100", IMAGES},
    [CONV_SHARPNESS] = {"how sharply the slower of arithmetic and memory sets a convolution's time", "", 3, 0.3, CONSTANT_FITTED, "one value for every network", IMAGES},
    [BYTES_PER_CLOCK_AND_SM] = {"strided loads of image kernels, per clock and SM", "B", 13, 0.15, CONSTANT_FITTED, "H100 and A100 have 13 and 11 to give to each, V100 6, cards with GDDR less", IMAGES},
    [MEMORY_SHARE_CUDNN_5] = {"passes of cuDNN 5 and 6 against the catalogue's rate of memory", "", 1.3, 0.15, CONSTANT_FITTED, "Kepler and Pascal", IMAGES},
    [WIDE_GROUP_SHARE] = {"groups of more than 32 channels, channels last, of the vector units", "", 0.1, 0.3, CONSTANT_FITTED, "PyTorch of 2022 with cuDNN 8.3", "1 family, two networks"},
    [NORM_BYTES_CUDNN] = {"a channel's norm by cuDNN, channels first, per clock", "B", 12, 0.2, CONSTANT_FITTED, "one block of threads for a channel: ResNets, DenseNet and detectors in 32 bits, 12 networks", "1 type of GPU (H100)"},
    [NORM_BYTES_OWN] = {"the same by PyTorch's own kernel, in 16 bits", "B", 2.9, 0.2, CONSTANT_FITTED, "networks of timm in BF16, 12 of them", "1 type of GPU (H100)"},
    [DRAIN_SECONDS] = {"an image kernel beyond an empty one: first bytes, last tile", "s", 1.2e-6, 0.3, CONSTANT_FITTED, "one value for every network", IMAGES},
    [APART_BYTES] = {"channels apart, bytes against passes over all that goes in and out", "", 1.2, 0.2, CONSTANT_FITTED, "caches help", IMAGES},
    [APART_FLOPS] = {"channels apart, of the vector units' peak", "", 0.25, 0.2, CONSTANT_FITTED, "one value for every network", IMAGES},
    [APART_ALONG_TIME_SLOTS] = {"channels apart along time, issue slots of a multiply-add", "", 38, 0.1, CONSTANT_FITTED, "PyTorch's own kernels; Volta and Ampere agree within 7 %", "1 model (QuartzNet)"},
    [LOOP_HOST_SECONDS] = {"a loop in Python, the host for each kernel beyond issuing it", "s", 15e-6, 0.3, CONSTANT_FITTED, "modules and views around operations that do next to nothing", "1 model (Tacotron 2)"},
    [CHECKPOINT_SECONDS] = {"the host, of a block that PyTorch's checkpoint computes again, beside issuing it", "s", 0.5e-3, 0.4, CONSTANT_FITTED, "what steps that wait for the host take more than their kernels are issued in", "5 models on one host (GPT-2, Llama, Qwen)"},
    [EAGER_STEP_SECONDS] = {"eager software, the host between steps while the GPU waits", "s", 1e-3, 0.5, CONSTANT_ASSUMED, "loss and norm of the gradients are read, logged, gradients cleared, a batch drawn: TensorFlow's sessions leave 3 to 9 ms, Megatron's loop 14 to 30", "two other loops"},
    [GPTQ_UNPACK_BYTES] = {"GPTQ weights unpacked by elementary operators, bytes moved per weight", "B", 30, 0.25, CONSTANT_FITTED, "16.5 to 22.5 B by counting, at half to all of the memory's rate: kernels of bytes, strided", "1 family (Qwen on A100, AutoGPTQ), four sizes"},
    [HOOK_SECONDS] = {"a hook in Python around a module of ZeRO 3", "s", 0.1e-3, 0.5, CONSTANT_ASSUMED, "what Megatron's modules and collectives take each on the host; Qwen's steps of 256 tokens under DeepSpeed leave as much", "1 family, two sizes"},
    [DTENSOR_SECONDS] = {"an operator on a sharded tensor of PyTorch (DTensor), the host beyond issuing it", "s", 45e-6, 0.3, CONSTANT_ASSUMED, "the shard is unwrapped, its layout looked up, the result wrapped, in Python; an optimizer of twenty operators for each of six tensors leaves 7.4 ms a layer, and tensor parallelism steps that wait for the host", "1 family, 6 sizes of 21 to 36 layers"},
    [FSDP_UNIT_SECONDS] = {"a unit of FSDP, the host in a pass through it", "s", 1e-3, 0.5, CONSTANT_ASSUMED, "a few hooks in Python, a collective, streams and events: 0.5 to 1 ms; QLoRA of Llama 2 7B at 512 tokens, with 15 units a layer, leaves 1.3", "1 family, two rows"},
    [ANSWER_SECONDS] = {"the GPU idle while the host waits for a number and issues again", "s", 30e-6, 0.5, CONSTANT_ASSUMED, "a small copy (6 us), an event and the first kernels after it, order of magnitude", "nothing measured"},
    [FP8_ROWWISE_SHARE] = {"8-bit products with a scale for each row, of those with one for all, on servers' GPUs", "", 0.85, 0.15, CONSTANT_ASSUMED, "CUTLASS's kernels against cuBLASLt's, order of magnitude", "nothing measured"},
    [FP8_BLOCK_SHARE] = {"8-bit products with a scale for each block, of those with one for all", "", 0.95, 0.05, CONSTANT_ASSUMED, "0.52 to 0.65 of the peak in MXFP8 where others reach 0.7 (torchao's tables for B200)", "1 table"},
    [FP8_BLOCK_SHARE_OF_CARDS] = {"the same on graphics cards", "", 0.6, 0.15, CONSTANT_FITTED, "sums of a block are scaled by the threads that feed the matrix units one warp at a time", "2 types of GPU (L40S, RTX PRO 6000)"},
    [RESERVE_BYTES] = {"CUDA's context, libraries' handles and kernels", "B", 1073741824, 0.3, CONSTANT_ASSUMED, "0.4 GiB with kernels loaded lazily (CUDA 11.7), more than 1 before; 0.7 to 1.4 on H200 and B200", "users' reports of six types of GPU"},
    [COMMUNICATOR_BYTES] = {"NCCL's buffers of one group of GPUs", "B", 268435456, 0.5, CONSTANT_ASSUMED, "channels times their buffers, order of magnitude", "nothing measured"},
    [ALLOCATOR_SLACK] = {"what PyTorch's allocator reserves beyond tensors that come and go, of these", "", 0.1, 0.5, CONSTANT_ASSUMED, "fragmentation of 5 to 30 % (arXiv 2502.07846); reserved memory of torchtitan, BLOOM's prototypes, Qwen's fine-tuning and image encoders lies 5 to 20 % above what is counted", "four families"},
    [ALLOCATOR_SLACK_VARIED] = {"the same where batches are of many sizes, as detectors' images", "", 0.35, 0.4, CONSTANT_FITTED, "blocks of one size seldom fit the next: reserved memory of mmdetection leaves 0.40, torchvision's detectors 0.33", "two families"},
    [MEMORY_SPREAD] = {"sigma of the log of a peak of memory against its estimate", "", 0.18, 0.3, CONSTANT_FITTED, "what was reserved or allocated lay 0.02 to 0.29 off by family, 0.53 for image encoders whose allocator fills the card; the middle of ten", "ten families of training runs"},
    [CONV_WORKSPACE_BYTES] = {"cuDNN's workspace", "B", 268435456, 0.5, CONSTANT_ASSUMED, "what its algorithms of convolution usually ask for", "nothing measured"},
    [HOST_ADAM_SHARE] = {"CPU-Adam, of the host memory's rate", "", 0.29, 0.4, CONSTANT_MEASURED, "Ren et al. 2021, table 4, as quoted from memory: 1e10 parameters in 2.57 s at 28 B each and 256 GB/s (0.43); eight ranks of DeepSpeed on hosts of H200 and B200, what is left of their shortest steps: 0.19", "3 machines"},
};
// clang-format on

// ---- How each kind of software runs kernels. Passes are counted from what the kernels read and write; where a
// framework is not fused each operation reads and writes by itself. From fits over 695 published CNN and encoder steps:
// traffic (1.1 to 1.25 eager, 0.93 tuned, 1.33 graph), the CNN passes, and the scores of eager and tuned. From fits
// over 291 Megatron steps: 11 h and 19 h, 8.5 and 10.5 bytes per 16-bit score, 26 and 40 kernels. Megatron's loss,
// operation by operation in 32 bits (copy, maximum, subtract, exp, sum, divide; back: scale, copy), moves 38 and 14
// bytes per logit. Llama's RMSNorm in eager PyTorch is cast, square, mean, product, cast back, weight: 36 bytes of an
// element, 72 back, and a sum 6; turning queries and keys is two products, halves negated and joined, a sum: 20 and 26.
// Against torch.compile, a step of Llama 3.2 3B on A100 with torchtune says half as much again (one pair). Counted by
// PyTorch's profiler on H100: a layer of eager GPT-2, BERT, ViT and OPT has 62 to 69 kernels with flash attention, of
// Llama, SmolLM2 and Qwen2.5 117 to 127. Counted by hand from what each framework fuses, and not measured: the other
// kernel counts and h passes. Issue times: 14 us a kernel of eager PyTorch (15 to 23 on a host that takes 2.96 us for
// an empty one, 76 models; Qwen's finetuning on A100 14 to 16, the loop of Tacotron 22). A layer of Megatron's is a
// dozen modules and autograd functions of Transformer Engine in Python, of 0.1 to 0.2 ms each whatever they launch: 2
// ms in all, and 0.1 ms a collective, are what 12-layer models on B200 need beyond tp 4, where nothing but the CPU is
// left to wait for. Between steps its loop reads the loss and the gradients' norm, logs and draws a batch while the GPU
// is idle: 14 to 30 ms are left when the same models' steps of 4, 8 and 32 micro-batches are extrapolated to none.

// What a step of TensorFlow takes whatever its batch, beyond its kernels: published U-Nets of 1 and 8 images, and of 2,
// 4 and 8 volumes, by two versions, two GPUs and two precisions leave 3 to 9 ms.
#define SESSION_SECONDS 5e-3

// clang-format off
static const FrameworkTraits traits[FRAMEWORK_COUNT] = {
    [FRAMEWORK_EAGER] = {
        .traffic = 1.25, .issue_seconds = 14e-6,
        .hidden_bytes = 4, .hidden = {15, 19}, .gelu = {3, 5}, .gated = {5, 8}, .scores = {6.5, 7.5},
        .layer_kernels = {30, 49}, .copies_logits = true, .logit_bytes = {14, 20},
        .rms_bytes = {84, 156}, .rotary_bytes = {20, 26}, .rms_kernels = {8, 14}, .rotary_kernels = {12, 18},
        .weight_cast_bytes = {6, 6}, .wire_bytes = 4, .gradient_bytes = 4, .wide_scores = true, .plain_cublas = true,
        .keeps_gates = true, .drops_gradients = true,
    },
    [FRAMEWORK_MEGATRON] = {
        .traffic = 1, .issue_seconds = 5e-6, .layer_seconds = {0.8e-3, 1.2e-3}, .collective_seconds = 100e-6,
        .step_seconds = 20e-3,
        .hidden_bytes = 2, .hidden = {11, 19}, .gelu = {2, 3}, .gated = {3, 5}, .scores = {4.25, 5.25},
        .layer_kernels = {26, 40}, .logit_bytes = {38, 14},
        .weight_cast_bytes = {0, 6}, .wire_bytes = 2, .gradient_bytes = 4, .keeps_casts = true,
    },
    [FRAMEWORK_TUNED] = {
        .traffic = 0.93, .issue_seconds = 2.5e-6, .in_graphs = true,
        .hidden_bytes = 2, .hidden = {10, 14}, .gelu = {2, 3}, .gated = {3, 5}, .scores = {2.5, 4},
        .layer_kernels = {20, 32}, .logit_bytes = {8, 10},
        .weight_cast_bytes = {0, 0}, .wire_bytes = 2, .gradient_bytes = 2, .keeps_casts = true,
    },
    [FRAMEWORK_GRAPH] = {
        .traffic = 1.45, .issue_seconds = 2.5e-6,
        .hidden_bytes = 2, .hidden = {10, 14}, .gelu = {2, 3}, .gated = {3, 5}, .scores = {2.5, 4},
        .layer_kernels = {22, 36}, .copies_logits = true, .logit_bytes = {8, 10},
        .weight_cast_bytes = {6, 6}, .wire_bytes = 2, .gradient_bytes = 4, .plain_cublas = true,
        .drops_gradients = true,
    },
    [FRAMEWORK_FUSED] = {
        .traffic = 1.1, .issue_seconds = 14e-6,
        .hidden_bytes = 2, .hidden = {11, 19}, .gelu = {2, 3}, .gated = {3, 5}, .scores = {4.25, 5.25},
        .layer_kernels = {26, 40}, .copies_logits = true, .logit_bytes = {14, 20},
        .weight_cast_bytes = {0, 6}, .wire_bytes = 2, .gradient_bytes = 4, .plain_cublas = true,
        .drops_gradients = true,
    },
    [FRAMEWORK_COMPOSED] = {
        .traffic = 1.33, .issue_seconds = 2.5e-6, .step_seconds = SESSION_SECONDS,
        .hidden_bytes = 4, .hidden = {50, 70}, .gelu = {10, 15}, .gated = {15, 25}, .scores = {12.5, 20},
        .layer_kernels = {100, 160}, .logit_bytes = {14, 20},
        .weight_cast_bytes = {6, 6}, .wire_bytes = 2, .gradient_bytes = 2, .wide_bytes = 4, .adam_bytes = 180,
    },
    [FRAMEWORK_OPERATORS] = {
        .traffic = 1, .issue_seconds = 2.5e-6,
        .hidden_bytes = 4, .hidden = {15, 19}, .gelu = {3, 5}, .gated = {5, 8}, .scores = {6.5, 7.5},
        .layer_kernels = {36, 60}, .logit_bytes = {14, 20},
        .weight_cast_bytes = {6, 6}, .wire_bytes = 2, .gradient_bytes = 2,
    },
    [FRAMEWORK_TENSORFLOW] = {
        .traffic = 1.45, .issue_seconds = 2.5e-6, .step_seconds = SESSION_SECONDS,
        .hidden_bytes = 4, .hidden = {10, 14}, .gelu = {2, 3}, .gated = {3, 5}, .scores = {2.5, 4},
        .layer_kernels = {22, 36}, .logit_bytes = {8, 10},
        .weight_cast_bytes = {6, 6}, .wire_bytes = 2, .gradient_bytes = 2, .wide_bytes = 4, .adam_bytes = 180,
    },
};
// clang-format on

const FrameworkTraits *framework_traits(Framework framework) {
    CHECK((int)framework >= 0 && framework < FRAMEWORK_COUNT);
    return &traits[framework];
}

// ---- Names of causes of time and classes of memory, in tables and files.

const char *const cause_names[CAUSE_COUNT] = {
    "gemm", "attention", "memory-bound", "launch", "recompute", "optimizer", "tp",    "cp",
    "ep",   "pp",        "dp",           "copy",   "data",      "host",      "other",
};
const char *const cause_titles[CAUSE_COUNT] = {
    "Matrix multiplication",
    "Attention",
    "Memory-bound kernels",
    "Kernel launches",
    "Recomputation",
    "Optimizer",
    "Tensor parallel",
    "Context parallel",
    "Expert parallel",
    "Pipeline",
    "Data parallel",
    "Copies",
    "Data loading",
    "Host",
    "Other",
};
// Kernels of a few microseconds leave the GPU waiting for the next, so launches draw like communication.
Activity activity_of_cause(Cause cause) {
    static const Activity activities[CAUSE_COUNT] = {
        [CAUSE_GEMM] = ACTIVITY_MATRIX,      [CAUSE_ATTENTION] = ACTIVITY_MATRIX,
        [CAUSE_RECOMPUTE] = ACTIVITY_MATRIX, [CAUSE_MEMORY] = ACTIVITY_MEMORY,
        [CAUSE_OPTIMIZER] = ACTIVITY_MEMORY, [CAUSE_LAUNCH] = ACTIVITY_COMMUNICATION,
        [CAUSE_TP] = ACTIVITY_COMMUNICATION, [CAUSE_CP] = ACTIVITY_COMMUNICATION,
        [CAUSE_EP] = ACTIVITY_COMMUNICATION, [CAUSE_PP] = ACTIVITY_COMMUNICATION,
        [CAUSE_DP] = ACTIVITY_COMMUNICATION, [CAUSE_COPY] = ACTIVITY_COMMUNICATION,
        [CAUSE_DATA] = ACTIVITY_WAITING,     [CAUSE_HOST] = ACTIVITY_WAITING,
        [CAUSE_OTHER] = ACTIVITY_WAITING,
    };
    return activities[cause];
}

const char *const memory_class_names[MEMORY_CLASS_COUNT] = {
    "weights", "gradients", "optimizer", "activations", "working", "buffers", "reserve",
};
