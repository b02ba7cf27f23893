// The table.
#include "models/workload/cost/cost_constants.h"

#define IMAGES "470 published steps of image networks, twelve families"

// clang-format off
const Constant cost_constants[COST_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [ISSUE_SHARPNESS] = {"how sharply the slower of host and GPU sets a block's time", "", 4, 0.3, CONSTANT_ASSUMED, "a queue of kernels is full or empty, with little in between: a nearly hard maximum", "nothing measured"},
    [USUAL_ISSUE_SECONDS] = {"an empty kernel on the hosts that frameworks' issue times are of", "s", 2.2e-6, 0.2, CONSTANT_ASSUMED, "what the catalogue takes where a host is not known", "nothing measured"},
    [FSDP_BYTES_32] = {"FSDP, bytes moved per gradient of 32 bits and micro-batch", "B", 13, 0.1, CONSTANT_FITTED, "18 B by counting, times 0.72", "154 runs"},
    [FSDP_BYTES_16] = {"FSDP, bytes moved per gradient of 16 bits and micro-batch", "B", 5.8, 0.1, CONSTANT_FITTED, "8 B by counting, times 0.72", "154 runs"},
    [PLAIN_CUBLAS_ON_HOPPER] = {"products as PyTorch and XLA call them, of Transformer Engine's, on Hopper", "", 0.88, 0.04, CONSTANT_FITTED, "runs of Composer, IBM's FSDP, torchtitan and Lambda were 5 to 12 % too fast where NeMo's were right; the cause is not verified", "1 type of GPU (H100), 70 runs"},
    [FLASH_BEFORE_HOPPER] = {"cuDNN's attention and FlashAttention-3 against products, before Hopper", "", 0.82, 0.1, CONSTANT_FITTED, "0.6 of the dense peak", "kernel tables and long-sequence runs on A100"},
    [FLASH_ON_HOPPER] = {"cuDNN's attention and FlashAttention-3 against products, Hopper", "", 0.79, 0.1, CONSTANT_FITTED, "0.6 of the dense peak", "kernel tables and long-sequence runs on H100"},
    [FLASH_ON_BLACKWELL] = {"cuDNN's attention and FlashAttention-3 against products, Blackwell", "", 0.98, 0.1, CONSTANT_FITTED, "0.52 of the dense peak", "kernel tables and long-sequence runs on B200"},
    [FLASH_1_BEFORE_HOPPER] = {"FlashAttention 1 against products, before Hopper", "", 0.46, 0.1, CONSTANT_FITTED, "0.34 of the dense peak", "154 training runs on A100 and H100"},
    [FLASH_1_SINCE_HOPPER] = {"FlashAttention 1 against products, since Hopper", "", 0.28, 0.15, CONSTANT_FITTED, "0.21 of the dense peak", "154 training runs on A100 and H100"},
    [FLASH_2_BEFORE_HOPPER] = {"FlashAttention 2 against products, before Hopper", "", 0.78, 0.1, CONSTANT_FITTED, "0.58 of the dense peak", "kernel tables on A100"},
    [FLASH_2_SINCE_HOPPER] = {"FlashAttention 2 against products, since Hopper", "", 0.55, 0.1, CONSTANT_FITTED, "0.42 of the dense peak", "kernel tables on H100"},
    [FLASH_BACKWARD_SHARE] = {"flash attention's backward, of the rate of its forward", "", 0.85, 0.1, CONSTANT_FITTED, "2.5 times the FLOPs at a lower rate", "the kernel tables of the forward rates"},
    [FLASH_KEYS] = {"keys more that a tile of queries costs, before Blackwell", "keys", 128, 0.3, CONSTANT_FITTED, "one tile; FlashAttention-3 at 1,024 tokens reaches 0.87 of its rate at 16,384", "1 type of GPU (H100)"},
    [FLASH_KEYS_ON_BLACKWELL] = {"keys more that a tile of queries costs, Blackwell", "keys", 512, 0.3, CONSTANT_FITTED, "runs of 8,192 to 1,048,576 tokens", "1 model, eight runs"},
    [MIXED_VECTOR_SHARE] = {"heads not of 8 elements, of what 32-bit products of their shape reach", "", 0.72, 0.15, CONSTANT_FITTED, "heads of 108 and 150 elements against 144 and 216 in otherwise equal steps of BLOOM's prototypes", "1 type of GPU (A100), two pairs of steps"},
    [CONV_SHARE_BEFORE_AMPERE] = {"convolutions against products, matrix units before Ampere", "", 0.89, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARE_SINCE_AMPERE] = {"convolutions against products, matrix units since Ampere", "", 0.98, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARE_VECTOR] = {"convolutions against products, vector units", "", 1.12, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARE_DILATED] = {"dilated convolutions against others", "", 0.58, 0.15, CONSTANT_FITTED, "WaveGlow", "1 model, twelve types of GPU"},
    [CONV_PEAK_KEPLER] = {"convolutions on Kepler, of the peak in 32 bits", "", 0.80, 0.15, CONSTANT_FITTED, "cuDNN 5 and 6: a long ramp, algorithms that spare products", IMAGES},
    [CONV_PEAK_PASCAL] = {"convolutions on Pascal, of the peak in 32 bits", "", 1.24, 0.15, CONSTANT_FITTED, "cuDNN 5 and 6: a long ramp, algorithms that spare products", IMAGES},
    [CONV_PEAK_HOPPER] = {"convolutions on Hopper, of the peak in 16 bits", "", 0.78, 0.1, CONSTANT_FITTED, "H100 and H200 agree", IMAGES},
    [CONV_PEAK_BLACKWELL] = {"convolutions on Blackwell, of the peak in 16 bits", "", 0.60, 0.1, CONSTANT_FITTED, "B200 and GB200 agree", IMAGES},
    [K_RAMP] = {"elements of K that a tile of a convolution loses to its start and end", "", 114, 0.2, CONSTANT_FITTED, "one value for every network", IMAGES},
    [K_RAMP_CUDNN_5] = {"the same, cuDNN 5 and 6", "", 900, 0.3, CONSTANT_FITTED, "Kepler and Pascal", IMAGES},
    [LAYOUT_PASSES] = {"channels first to channels last and back, passes on matrix units", "", 2.05, 0.1, CONSTANT_FITTED, "one value for every network", IMAGES},
    [CONV_SHARPNESS] = {"how sharply the slower of arithmetic and memory sets a convolution's time", "", 3, 0.3, CONSTANT_FITTED, "one value for every network", IMAGES},
    [BYTES_PER_CLOCK_AND_SM] = {"strided loads of image kernels, per clock and SM", "B", 13, 0.15, CONSTANT_FITTED, "H100 and A100 have 13 and 11 to give to each, V100 6, cards with GDDR less", IMAGES},
    [MEMORY_SHARE_CUDNN_5] = {"passes of cuDNN 5 and 6 against the catalogue's rate of memory", "", 1.3, 0.15, CONSTANT_FITTED, "Kepler and Pascal", IMAGES},
    [WIDE_GROUP_SHARE] = {"groups of more than 32 channels, channels last, of the vector units", "", 0.1, 0.3, CONSTANT_FITTED, "PyTorch of 2022 with cuDNN 8.3", "1 family, two networks"},
    [DRAIN_SECONDS] = {"an image kernel beyond an empty one: first bytes, last tile", "s", 1.2e-6, 0.3, CONSTANT_FITTED, "one value for every network", IMAGES},
    [APART_BYTES] = {"channels apart, bytes against passes over all that goes in and out", "", 1.2, 0.2, CONSTANT_FITTED, "caches help", IMAGES},
    [APART_FLOPS] = {"channels apart, of the vector units' peak", "", 0.25, 0.2, CONSTANT_FITTED, "one value for every network", IMAGES},
    [APART_ALONG_TIME_SLOTS] = {"channels apart along time, issue slots of a multiply-add", "", 38, 0.1, CONSTANT_FITTED, "PyTorch's own kernels; Volta and Ampere agree within 7 %", "1 model (QuartzNet)"},
    [LOOP_HOST_SECONDS] = {"a loop in Python, the host for each kernel beyond issuing it", "s", 15e-6, 0.3, CONSTANT_FITTED, "modules and views around operations that do next to nothing", "1 model (Tacotron 2)"},
    [EAGER_STEP_SECONDS] = {"eager software, the host between steps while the GPU waits", "s", 5e-3, 0.5, CONSTANT_ASSUMED, "loss and norm of the gradients are read, logged, gradients cleared, a batch drawn: TensorFlow's sessions leave 3 to 9 ms, Megatron's loop 14 to 30", "two other loops"},
    [GPTQ_UNPACK_BYTES] = {"GPTQ weights unpacked by elementary operators, bytes moved per weight", "B", 30, 0.25, CONSTANT_FITTED, "16.5 to 22.5 B by counting, at half to all of the memory's rate: kernels of bytes, strided", "1 family (Qwen on A100, AutoGPTQ), four sizes"},
    [HOOK_SECONDS] = {"a hook in Python around a module of ZeRO 3", "s", 0.1e-3, 0.5, CONSTANT_ASSUMED, "what Megatron's modules and collectives take each on the host; Qwen's steps of 256 tokens under DeepSpeed leave as much", "1 family, two sizes"},
    [FP8_ROWWISE_SHARE] = {"8-bit products with a scale for each row, of those with one for all", "", 0.85, 0.15, CONSTANT_ASSUMED, "CUTLASS's kernels against cuBLASLt's, order of magnitude", "nothing measured"},
    [FP8_BLOCK_SHARE] = {"8-bit products with a scale for each block, of those with one for all", "", 0.95, 0.05, CONSTANT_ASSUMED, "0.52 to 0.65 of the peak in MXFP8 where others reach 0.7 (torchao's tables for B200)", "1 table"},
    [RESERVE_BYTES] = {"CUDA's context, libraries' handles and the allocator's slack", "B", 1073741824, 0.3, CONSTANT_ASSUMED, "about half of it each", "nothing measured"},
    [COMMUNICATOR_BYTES] = {"NCCL's buffers of one group of GPUs", "B", 268435456, 0.5, CONSTANT_ASSUMED, "channels times their buffers, order of magnitude", "nothing measured"},
    [CONV_WORKSPACE_BYTES] = {"cuDNN's workspace", "B", 268435456, 0.5, CONSTANT_ASSUMED, "what its algorithms of convolution usually ask for", "nothing measured"},
};
// clang-format on
