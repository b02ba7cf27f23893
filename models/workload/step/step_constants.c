// The table.
#include "models/workload/step/step_constants.h"

// clang-format off
const Constant step_constants[STEP_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [HOST_ADAM_SHARE] = {"CPU-Adam, of the host memory's rate", "", 0.43, 0.2, CONSTANT_MEASURED, "Ren et al. 2021, table 4, as quoted from memory: 1e10 parameters in 2.57 s at 28 B each and 256 GB/s", "1 machine (two Xeon 8168), 1 row"},
    [RUN_TO_RUN_SIGMA] = {"sigma from run to run", "", 0.02, 0.5, CONSTANT_MEASURED, "same configuration, same cluster: 0.4 to 5 %", "repeated runs among the measured training rows"},
    [CAUSE_SIGMA + CAUSE_GEMM] = {"sigma of unmeasured parts: matrix products", "", 0.08, 0.3, CONSTANT_ASSUMED, "near held-out errors of products", "halves of calibrate/measurements/gemm.csv"},
    [CAUSE_SIGMA + CAUSE_ATTENTION] = {"sigma of unmeasured parts: attention", "", 0.15, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_MEMORY] = {"sigma of unmeasured parts: memory-bound kernels", "", 0.12, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_LAUNCH] = {"sigma of unmeasured parts: launches", "", 0.3, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_RECOMPUTE] = {"sigma of unmeasured parts: recomputation", "", 0.1, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_OPTIMIZER] = {"sigma of unmeasured parts: optimizer", "", 0.15, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_TP] = {"sigma of unmeasured parts: tensor parallel traffic", "", 0.15, 0.3, CONSTANT_ASSUMED, "near held-out errors of collectives", "all logs of calibrate/measurements/nccl"},
    [CAUSE_SIGMA + CAUSE_CP] = {"sigma of unmeasured parts: context parallel traffic", "", 0.2, 0.3, CONSTANT_ASSUMED, "near held-out errors of collectives", "all logs of calibrate/measurements/nccl"},
    [CAUSE_SIGMA + CAUSE_EP] = {"sigma of unmeasured parts: expert parallel traffic", "", 0.2, 0.3, CONSTANT_ASSUMED, "near held-out errors of collectives", "all logs of calibrate/measurements/nccl"},
    [CAUSE_SIGMA + CAUSE_PP] = {"sigma of unmeasured parts: pipeline traffic and bubbles", "", 0.1, 0.3, CONSTANT_ASSUMED, "near held-out errors of collectives", "all logs of calibrate/measurements/nccl"},
    [CAUSE_SIGMA + CAUSE_DP] = {"sigma of unmeasured parts: data parallel traffic", "", 0.2, 0.3, CONSTANT_ASSUMED, "near held-out errors of collectives", "all logs of calibrate/measurements/nccl"},
    [CAUSE_SIGMA + CAUSE_COPY] = {"sigma of unmeasured parts: copies", "", 0.2, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_DATA] = {"sigma of unmeasured parts: input data", "", 0.25, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_HOST] = {"sigma of unmeasured parts: host", "", 0.2, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [CAUSE_SIGMA + CAUSE_OTHER] = {"sigma of unmeasured parts: the rest", "", 0.2, 0.3, CONSTANT_ASSUMED, "judged beside those of products and collectives", "nothing measured"},
    [KERNELS_OF_GPU] = {"sigma of corrections by anchors: kernels, shared by GPU, precision and software", "", 0.06, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [KERNELS_OF_MODEL] = {"sigma of corrections by anchors: kernels, shared by model", "", 0.04, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [KERNELS_OF_BATCH] = {"sigma of corrections by anchors: kernels, shared by micro-batch", "", 0.08, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.4 points", "over 600 steps"},
    [ATTENTION_SIGMA] = {"sigma of corrections by anchors: attention", "", 0.15, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [MEMORY_SIGMA] = {"sigma of corrections by anchors: memory traffic", "", 0.15, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [TRAFFIC_SIGMA] = {"sigma of corrections by anchors: communication", "", 0.15, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [PECULIAR_SIGMA] = {"sigma of corrections by anchors: what is peculiar to a run", "", 0.04, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [OTHER_LAYOUT_SIGMA] = {"sigma of corrections by anchors: what stays open however well the like was measured", "", 0.08, 0.5, CONSTANT_FITTED, "published steps anchored on others: halving or doubling it changes the mean error by 0.2 points at most", "over 600 steps"},
    [PECULIAR_FREEDOM] = {"degrees of freedom of what is peculiar to a run (Student)", "", 3.0, 0.5, CONSTANT_ASSUMED, "fat tails: a slow node, a cell misread", "nothing measured"},
};
