// How each kind of software runs kernels. Passes are counted from what the kernels read and write; where a framework is
// not fused each operation reads and writes by itself. From fits over 695 published CNN and encoder steps: traffic (1.1
// to 1.25 eager, 0.93 tuned, 1.33 graph), the CNN passes, and the scores of eager and tuned. From fits over 291
// Megatron steps: 11 h and 19 h, 8.5 and 10.5 bytes per 16-bit score, 26 and 40 kernels. Megatron's loss, operation by
// operation in 32 bits (copy, maximum, subtract, exp, sum, divide; back: scale, copy), moves 38 and 14 bytes per logit.
// Llama's RMSNorm in eager PyTorch is cast, square, mean, product, cast back, weight: 36 bytes of an element, 72 back,
// and a sum 6; turning queries and keys is two products, halves negated and joined, a sum: 20 and 26. Against
// torch.compile, a step of Llama 3.2 3B on A100 with torchtune says half as much again (one pair).
// Counted by PyTorch's profiler on H100: a layer of eager GPT-2, BERT, ViT and OPT has 62 to 69 kernels with flash
// attention, of Llama, SmolLM2 and Qwen2.5 117 to 127. Counted by hand from what each framework fuses, and not
// measured: the other kernel counts and h passes. Issue times: 14 us a kernel of eager PyTorch (15 to 23 on a host that
// takes 2.96 us for an empty one, 76 models; Qwen's finetuning on A100 14 to 16, the loop of Tacotron 22). A layer of
// Megatron's is a dozen modules and autograd functions of Transformer Engine in Python, of 0.1 to 0.2 ms each whatever
// they launch: 2 ms in all, and 0.1 ms a collective, are what 12-layer models on B200 need beyond tp 4, where nothing
// but the CPU is left to wait for. Between steps its loop reads the loss and the gradients' norm, logs and draws a
// batch while the GPU is idle: 14 to 30 ms are left when the same models' steps of 4, 8 and 32 micro-batches are
// extrapolated to none.
#include "models/workload/cost/cost_internal.h"
#include "sim/base/check.h"

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
