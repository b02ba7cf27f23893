// Measurements that no constant of the simulator uses: their number, best figures, and the reason.
#pragma once

#include "calibrate/gpu/bench/bench.h"
#include "models/hardware/kernel.h"
#include "models/network/network.h"

enum { MOST_UNTAKEN = 12 };

typedef struct Untaken {
    const char *what, *why;
    int count;
    double least_seconds, most_rate; // bytes per second; 0 where nothing moves
    bool is_link;                    // its rate is one of the GPU's links
} Untaken;

typedef struct UntakenList {
    Untaken items[MOST_UNTAKEN];
    int count;
} UntakenList;

// ---- Measurements for fits and plots: JSON lines of one GPU, written by lockstep-bench or an import; and the
// simulator's own prediction of each.

typedef enum MeasuredKind {
    MEASURED_GEMM,
    MEASURED_BYTES,      // a kernel that moves bytes
    MEASURED_LAUNCH,     // a kernel that does nothing
    MEASURED_GRAPH,      // one of a CUDA graph
    MEASURED_ATTENTION,  // scores, softmax and values as three kernels: batch heads of m queries, n keys, width k
    MEASURED_ISSUE,      // what the host takes to hand over a kernel
    MEASURED_COPY,       // between pinned host memory and GPU
    MEASURED_BESIDE,     // a GEMM concurrent with a collective
    MEASURED_SUSTAINED,  // a GEMM and a copy in turn, after a soak of them
    MEASURED_POWER,      // watts (in place of seconds) during large GEMMs, or streams through the memory
    MEASURED_COLLECTIVE, // NCCL among the GPUs of a node
    MEASURED_CHANNEL,    // a collective among virtual ranks with one block each
    MEASURED_KINDS
} MeasuredKind;

typedef enum ChannelAlgorithm { CHANNEL_START, CHANNEL_RING, CHANNEL_TREE, CHANNEL_PAIRS } ChannelAlgorithm;

typedef struct Measured {
    MeasuredKind kind;
    const char *operation; // "gemm bf16", "copy fp32": residuals are grouped by it
    Gemm gemm;
    double bytes;
    double seconds;
    int line;
    bool cold;            // the data were not in the L2
    bool watched;         // predicted and reported, not fitted
    double noise;         // relative, from repeats of the measurement
    double raw_rate;      // COPY: of the slot, bytes per second
    double alone_seconds; // BESIDE: without concurrent work; SUSTAINED: without a soak
    ChannelAlgorithm algorithm;
    bool is_ll;
    int ranks;
    bool of_memory; // POWER: of streams
    const CollectivePrice *price;
} Measured;

// What a channel of a collective takes when no link is in its way: a step of LL or Simple, however small, and bytes
// through one block that adds up or only passes on. No constant of the simulator: links come on top of it.
enum { CHANNEL_LL, CHANNEL_SIMPLE, CHANNEL_PROTOCOLS };
typedef struct BlockChannel {
    double start_seconds; // of a cooperative launch
    double step_seconds[CHANNEL_PROTOCOLS];
    double reduce_rate[CHANNEL_PROTOCOLS], copy_rate[CHANNEL_PROTOCOLS]; // bytes per second
} BlockChannel;
BlockChannel block_channel_usual(void); // where a search begins

// All constants that measurements can determine.
typedef struct Constants {
    Gpu gpu;
    BlockChannel channel;
} Constants;

typedef struct MeasuredFile {
    const char *path, *gpu_name, *date, *driver;
    const Gpu *gpu; // of the catalogue
    Measured *rows;
    int count;
    int failed, skipped; // cases that the measuring program could not measure
    int other;           // measured, but no cost function here predicts it
    UntakenList untaken; // the kinds of these
    bool is_import;
    double pcie_rate;              // raw, of the slot; 0: as the GPU's generation
    double large_mhz, max_mhz;     // SM clock in large GEMMs (median) and its maximum; 0 unknown
    int large_count, capped_count; // of them, and how many of these the power cap slowed down
} MeasuredFile;

// Whether a file contains JSON lines, by its first character (a CSV begins with a letter).
bool measured_is_json(const char *path);
// gpu_name names the GPU where the file's own name is not in the catalogue; NULL takes the file's. NULL after problems.
const MeasuredFile *measured_read(Arena *arena, const Catalogue *catalogue, const char *path, const char *gpu_name,
                                  Problems *problems);
// The same of a text, whose lines it cuts; problems name the path.
const MeasuredFile *measured_read_text(Arena *arena, const Catalogue *catalogue, const char *path, char *text,
                                       const char *gpu_name, Problems *problems);

// Converts a case of the benchmark's plan to a measurement; false if no cost function applies.
bool measured_from_case(Arena *arena, const Catalogue *catalogue, const Gpu *gpu, const BenchCase *of, Measured *row);
// Measurements that determine power: GEMMs limited by arithmetic, streams far larger than the L2, both long enough.
bool measured_is_large(const Gpu *gpu, const Measured *row);
Measured measured_power(const Measured *of, double watts);

// Sets the reference time of relative measurements to the simulator's prediction.
void measured_suppose_alone(const Gpu *gpu, Measured *row);

// Seconds (watts), by the simulator's own cost functions.
double measured_prediction(const Gpu *gpu, const Measured *row); // channels as usual
double constants_prediction(const Constants *constants, const Measured *row);
// "gemm bf16 4096 x 4096 x 4096"
const char *measured_name(Arena *arena, const Measured *row);
