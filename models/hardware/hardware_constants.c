// The table. Products in FP32 on vector units: NeuSight's, of V100, P100, P4, T4, L4, H100 and both A100 PCIe
// (calibrate/measurements/gemm.csv). They were fitted by hand: each sigma is a judgement of how far the number may be
// moved before these products show it.
#include "models/hardware/hardware_constants.h"

#define NEUSIGHT "FP32 products of NeuSight's data set"
#define NEUSIGHT_ROWS "8 types of GPU, 917 rows"
#define USUAL "usual of servers; order of magnitude"
#define NOTHING "nothing measured"

// clang-format off
const Constant hardware_constants[HARDWARE_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [L2_BYTES]            = {"what a kernel moves in the L2, per clock and SM", "B", 18, 0.2, CONSTANT_MEASURED, "casts of 16 to 8 bits that fit it: L40S and RTX PRO 6000 16, H100 and H200 20, B200 and GB300 25; beyond the memory's rate 9, 5, 1.7, 1.2 and 1 times", "6 types of GPU"},
    [VECTOR_FEED_BYTES] = {"operands of tiles on vector units, per clock and SM", "B", 64, 0.3, CONSTANT_ASSUMED, "an SM's port to L2; fitted per GPU it does not carry over to others", "which products were tried is not on record"},
    [LONG_L2_BYTES]       = {"L2 per element of K where half of a long product's cost is paid", "B", 160, 0.3, CONSTANT_FITTED, NEUSIGHT, NEUSIGHT_ROWS},
    [LONG_L2_MOST]        = {"L2 beyond which a long product gains nothing", "B", 8.0 * 1024 * 1024, 0.5, CONSTANT_FITTED, NEUSIGHT, NEUSIGHT_ROWS},
    [LOADED_FLOPS]        = {"FLOP per clock and SM and element of a load, where rows do not begin at 16 bytes", "", 570, 0.15, CONSTANT_FITTED, "cuBLAS's kernels for 1 and 2 elements: logits of 50257, 50265 and 30522 words at 95 to 150 and 240 to 267 TFLOP/s in BF16, 119 to 132 in TF32", "1 type of GPU (H100)"},
    [LOOP_CLOCKS]         = {"clocks of an SM per element of K of a tile on vector units", "", 8, 0.2, CONSTANT_FITTED, NEUSIGHT, NEUSIGHT_ROWS},
    [SPLIT_K_LEAST]       = {"elements of K that a split keeps at least", "", 256, 0.5, CONSTANT_ASSUMED, "shorter parts do not pay for their start; order of magnitude", NOTHING},
    [SPLIT_SMS]           = {"share of SMs filled below which every GPU splits K", "", 0.25, 0.3, CONSTANT_FITTED, "skinny " NEUSIGHT, NEUSIGHT_ROWS},
    [HEATING_SECONDS]     = {"work within which a GPU's clock sinks to what its power limit leaves", "s", 3e-3, 0.7, CONSTANT_ASSUMED, "products of 10 to 30 ms run slower than those of 0.3 to 1; 1 ms explains them as well", "8 types of GPU"},
    [QUIET_SHARE]         = {"of what power takes from long products, spared where operands have few values", "", 0.82, 0.05, CONSTANT_FITTED, "weights left as memory was found against random ones", "8 types of GPU, two campaigns each"},
    [SCALING_8_SECONDS]   = {"kernels beside an 8-bit product and the cast of its input", "s", 1.5e-6, 0.2, CONSTANT_FITTED, "lockstep calibrate fit on calibrate/measurements/kernels/gemm.csv", "6 types of GPU"},
    [SCALING_4_SECONDS]   = {"the same of 4-bit products", "s", 3.3e-6, 0.2, CONSTANT_FITTED, "lockstep calibrate fit on calibrate/measurements/kernels/gemm.csv", "4 types of GPU"},
    [VECTOR_SPLIT_SECONDS] = {"second kernel of a product split on vector units, which adds the parts", "s", 1e-6, 0.5, CONSTANT_ASSUMED, "a kernel right behind another; order of magnitude", NOTHING},
    [EXCHANGE_NIC_SHARE] = {"of a NIC's rate, where it carries tokens to experts of other nodes", "", 0.95, 0.05, CONSTANT_MEASURED, "DeepEP on H100 over 4 nodes, dispatch and combine with 16 to 24 SMs: 47.5 of 50 GB/s", "1 type of GPU, 1 campaign"},
    [RANGE_IN_NODE]       = {"range of the best products of a node's eight GPUs", "", 0.05, 0.3, CONSTANT_MEASURED, "stas00/ml-engineering, MAMF", "1 node, 8 GPUs"},
    [REPLICA_SPREAD] = {"sigma of a replica's step where hosts feed it", "", 0.047, 0.1, CONSTANT_MEASURED, "one GPU against several of the same runs: MXNet, TensorFlow, PyTorch, OneFlow, MLPerf", "120 pairs of 2 to 128 GPUs"},
    [THROTTLED_SHARE]     = {"draw of matrix work of a throttled GPU, of its TDP", "", 1, 0.03, CONSTANT_ASSUMED, "a GPU slows down at its limit", NOTHING},
    [MATRIX_SHARE]        = {"draw of matrix work, of TDP", "", 0.9, 0.1, CONSTANT_ASSUMED, "where the catalogue does not say", NOTHING},
    [MEMORY_SHARE]        = {"draw of memory-bound work, of TDP", "", 0.85, 0.15, CONSTANT_ASSUMED, "where the catalogue does not say", NOTHING},
    [COMMUNICATION_SHARE] = {"draw of communication, of TDP", "", 0.45, 0.25, CONSTANT_ASSUMED, "where the catalogue does not say", NOTHING},
    [WAITING_IDLES]       = {"draw of waiting, of idle", "", 2, 0.3, CONSTANT_ASSUMED, "clocks stay up while kernels may come; order of magnitude", NOTHING},
    [IDLE_SHARE]          = {"draw of an idle GPU, of TDP", "", 0.11, 0.25, CONSTANT_MEASURED, "attested of H200, taken where the catalogue does not say", "1 type of GPU"},
    [LEAST_VOLTAGE]       = {"voltage at low clocks, of that at the whole clock", "", 0.6, 0.15, CONSTANT_ASSUMED, "draw goes with f V^2 (Mei, Wang and Chu, 2017); floor assumed", "3 pairs of parts on one die agree within 5 %"},
    [GPU_LEAST_CAP]       = {"least power limit, of TDP", "", 0.25, 0.3, CONSTANT_ASSUMED, "100 W of A100's 400, 200 W of H100's 700, as quoted from memory", NOTHING},
    [HOST_BUSY_SHARE]     = {"draw of a host while its GPUs work, of what the node's rating leaves it", "", 2.0 / 3, 0.2, CONSTANT_ASSUMED, USUAL, NOTHING},
    [HOST_IDLE_SHARE]     = {"draw of a host without work, of what the node's rating leaves it", "", 1.0 / 3, 0.3, CONSTANT_ASSUMED, USUAL, NOTHING},
    [HOST_UNRATED_SHARE]  = {"host of a node without a rating, of its GPUs' TDP", "", 0.25, 0.3, CONSTANT_ASSUMED, USUAL, NOTHING},
    [HOST_UNRATED_WATTS]  = {"the same, besides", "W", 100, 0.5, CONSTANT_ASSUMED, USUAL, NOTHING},
};
