// From measurements of GPUs to constants: the files of measurements, fits of one kernel, of GEMMs over GPUs and their
// generations, and of one GPU by all that was measured on it.
#pragma once

#include "calibrate/gpu/bench/bench.h"
#include "models/hardware/hardware.h"
#include "models/hardware/kernel.h"
#include "models/network/network.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

// ---- Measurements that no constant of the simulator uses: their number, best figures, and the reason.

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

// ---- Fit of attention, grouped-expert and token-exchange kernels, each of a library on a generation of GPUs: reading
// of a table's line, its predicted time, and the fit of a kernel's few constants to lines: least squares on the log of
// time, with priors, and hold-out errors on halves.

typedef struct KernelLine {
    Arena *arena;
    const Catalogue *catalogue;
    const Csv *csv;
    int row;
    Problems *problems;
} KernelLine;

bool kernel_columns_are_in(const Csv *csv, const char *const *columns, int count);
// Whether the file has such a header; false too where it cannot be read.
bool kernel_table_has(const char *path, const char *const *columns, int count);

const char *line_text(const KernelLine *line, const char *column); // "": there is no such column
bool line_says(const KernelLine *line, const char *column, const char *word);
double line_number(const KernelLine *line, const char *column); // above 0, or a problem
int line_size(const KernelLine *line, const char *column);      // from 1 to 1e9, or a problem
// The columns' words with what the line has in them: "tokens 128 hidden 4096".
const char *line_tells(const KernelLine *line, const char *const *columns, int count);
// Why products in such a type are not predicted on this GPU.
const char *line_no_type(const KernelLine *line);
const char *line_no_units(const KernelLine *line, const Gpu *gpu, Precision precision);

// ---- The fit.

// What a line timed.
typedef struct KernelPoint {
    const Gpu *gpu;
    const void *shape; // of the form's own
    double seconds;
} KernelPoint;

// What a kind of kernel provides to the fit; kernels are rows of models/hardware/{flash,grouped,exchange}.h.
typedef struct KernelForm {
    const char *const *columns; // by which a table is known
    int column_count;
    const char *const *shape_columns; // that identify a line's case in output
    int shape_column_count;
    int fewest_lines;                       // of a kernel, for a fit
    int constants;                          // of which the first has its error printed
    const double *prior_mean, *prior_sigma; // of their logs
    size_t kernel_bytes;
    // NULL, or why the line cannot be predicted; fills the point's shape, and the kernel's identifying members.
    const char *(*read)(const KernelLine *line, KernelPoint *point, void *kernel);
    bool (*is_named)(const void *kernel, const void *other);  // same kernel
    const void *(*known)(const Gpu *gpu, const void *kernel); // the program's own row of it; NULL: there is none
    uint64_t (*digest)(const void *shape);                    // divides shapes into halves
    void (*take)(void *kernel, const double *logs);
    double (*seconds)(const KernelPoint *point, const void *kernel);
} KernelForm;
extern const KernelForm attention_form, experts_form, exchange_form;

typedef struct KernelGroup {
    void *kernel; // as fitted
    const char *architecture;
    KernelPoint *items;
    int count, room;
    double sigma;                         // of the first constant's log
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half from the other; bias is signed
} KernelGroup;

typedef struct KernelFit {
    KernelGroup *items;
    int count, room, left_out;
} KernelFit;

bool kernel_table_is_of(const KernelForm *form, const char *path);
// The line's point and kernel, which has kernel_bytes; NULL, or why it cannot be predicted. Problems where a cell
// cannot be read.
const char *kernel_line_read(const KernelForm *form, const KernelLine *line, KernelPoint *point, void *kernel);
// NULL after adding problems.
const KernelFit *kernel_fit(Arena *arena, const KernelForm *form, const Catalogue *catalogue, const char *path,
                            Problems *problems);

// ---- Fit of a GPU's GEMM constants (models/hardware/kernel.h) to measured GEMMs.

typedef struct GemmPoint {
    Gemm gemm;
    double seconds;
} GemmPoint;

// A row of the table. `gpu` is NULL, with the reason in `why_not`, if it cannot be predicted.
typedef struct GemmRow {
    const char *gpu_name, *why_not;
    const Gpu *gpu;
    GemmPoint point;
    int line;
} GemmRow;

typedef LIST_OF(GemmRow) GemmRows;

// All points of one GPU and precision: they share an efficiency, a memory efficiency and a launch time.
typedef struct GemmGroup {
    const Gpu *gpu;
    Precision precision;
    GemmPoint *items;
    int count, room;
} GemmGroup;

typedef struct GemmData {
    GemmGroup *groups;
    int group_count;
    int used, best_shapes, unknown_gpus, too_few; // rows, and why the others were left out
    const char *unknown_names;                    // "MI325X, MI355X"
} GemmData;

// From CSV columns gpu, dtype, op, batch, M, N, K, latency_ms: all rows, or groups large enough for a fit.
// NULL after adding problems.
const GemmRows *gemm_rows_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
const GemmData *gemm_data_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
bool gemm_row_has_depth_as_n(const Csv *csv, int row);

typedef struct Estimate {
    double value, sigma; // sigma is relative
} Estimate;

Estimate share_estimate(double x, double sigma); // of a share, from its logit

typedef struct GroupFit {
    const Gpu *gpu;
    Precision precision;
    int count;
    Estimate compute_efficiency, memory_efficiency, launch_seconds;
    // Zero where they do not apply to these units, or no shape determines them.
    Estimate long_rate, untransposed_gain, odd_rate;
    // |predicted / measured - 1|, each half of the shapes predicted from the other; bias: median of the signed
    double median_error, p90_error, bias;
} GroupFit;

typedef struct GemmFit {
    Estimate ramp, wave_weight, sharpness; // shared by all GPUs with tensor cores; the others are fitted with these
    GroupFit *groups;
    int group_count;
} GemmFit;

// Errors come from fits to halves of the shapes, values from all; the halves are drawn from streams named by the seed.
GemmFit gemm_fit(Arena *arena, const GemmData *data, uint64_t seed);

// Assumed for every GPU, since no single table determines them.
#define GEMM_FIT_FEED_BYTES 64
#define GEMM_FIT_SPLIT_SECONDS 1e-6

bool gemm_fit_on_tensor_cores(const Gpu *gpu, Precision precision);

// A launch this long is the measuring program's, not the GPU's: it is fitted, but no constant of the GPU.
#define HARNESS_LAUNCH_SECONDS 10e-6

// ---- Splits of GEMMs for a fit: halves of the shapes, each predicted from the other, and blocks for the jackknife.

#define SPLIT_BLOCKS 8

// For each point of each group the half it is in (0 or 1) and its block.
typedef struct Split {
    int **half, **block;
} Split;

// Halves are stratified: a group's shapes are sorted by batched or not and by FLOP, and of each two neighbours a coin
// sends one to either side; GPUs with the same shapes have the same split. Errors of points of one weight matrix are
// correlated, so they share a block.
Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed);

// ---- Joint fit of the GEMM constants of many types of GPU, to tables of kernels replayed as CUDA graphs (columns gpu,
// dtype, framework, weights, m, n, k, latency_us, cast_us) and to our own GEMMs: common values, deviations by
// generation, deviations by type. Types and generations are shrunk towards the common values, so that one without
// measurements has a prediction and one with few rows stays near it.

// What a GPU's generation has in common. Server parts and graphics parts of one name are not kin: their SMs differ.
typedef enum KinConstant { KIN_WAVE, KIN_HEATING, KIN_L2_GAIN, KIN_GRAPH_LAUNCH, KIN_CONSTANTS } KinConstant;

typedef struct Kin {
    const char *name; // "Blackwell, servers"
    Architecture generation;
    bool of_servers;
    Estimate constants[KIN_CONSTANTS];
    int gpu_count, count; // types that were measured, and rows
} Kin;

// Rows of one GPU, type of number and campaign.
typedef struct Campaign {
    const Gpu *gpu;
    const char *dtype, *framework, *weights;
    Precision precision;
    bool in_graph;
    GemmPoint *items;
    int count, room;
    int kin;
    // |predicted / measured - 1|, each half of the pairs of n and k predicted from the other, and all with no row of
    // this type of GPU seen
    double median_error, p90_error, bias, out_median_error, out_p90_error, out_bias;
} Campaign;

typedef struct TypeOfGpu {
    const Gpu *gpu;
    Precision precision; // BF16: of both 16-bit types
    Estimate efficiency;
} TypeOfGpu;

typedef struct GenerationFit {
    LIST_OF(Campaign) campaigns;
    LIST_OF(Kin) kins;
    LIST_OF(TypeOfGpu) types;
    int unknown_gpus, left_out;
    Estimate feed_bytes, split_seconds, quiet, scaling_seconds[PRECISION_COUNT];
} GenerationFit;

bool kernel_table_is_of_gemms(const char *path);
// `without_types`: also scored on each type of GPU with none of its rows seen, a fit more for each. NULL after adding
// problems.
const GenerationFit *generation_fit(Arena *arena, const Catalogue *catalogue, const char *path, bool without_types,
                                    Problems *problems);
int generation_fit_kin(const GenerationFit *fit, const Gpu *gpu); // -1: none of its kin was measured
// What is known of how a row was timed: by which framework's program, over what weights.
void gemm_in_a_loop(Gemm *gemm, const char *framework, const char *weights);

// ---- Fit of one GPU's constants to its own measurements, with the simulator's cost functions.

#define MOST_DEVICE_PARAMETERS (PRECISION_COUNT + 29)
#define ADVICES 3

typedef struct DeviceParameter {
    const char *key;         // of the catalogue: "gemm_efficiency_bf16", "launch_time"
    const char *unit;        // of the output: "us"
    double scale;            // of the unit
    Precision precision;     // of an efficiency
    double value, low, high; // low and high: the 95 % interval
    double sigma;            // relative
    bool identified;         // by the measurements; otherwise the catalogue's value was kept
    bool in_catalogue;       // a constant that the simulator uses; else output only
} DeviceParameter;

typedef struct OperationError {
    const char *operation;
    int count;
    bool watched;             // predicted from the constants of others
    double median, p90, bias; // of |predicted / measured - 1|; bias: median of the signed
} OperationError;

typedef struct Outlier {
    const Measured *row;
    double error; // predicted / measured - 1
} Outlier;

// Advised measurements, the best first; each assumes that those before it have been made.
typedef struct Advice {
    Measured what;
    double stray; // of predictions afterwards; 0: no advice
} Advice;

typedef struct DeviceFit {
    Constants constants; // fitted, and the start's where not identified
    DeviceParameter parameters[MOST_DEVICE_PARAMETERS];
    int count;
    double *correlation;               // count squared; zero where a parameter was not identified
    double noise;                      // root mean square of the log residuals
    OperationError *errors, *held_out; // on all rows; on the half that a fit to the other half had not seen
    int error_count, held_out_count;
    Outlier *outliers; // further than 4 robust sigmas of their group and 15 %, largest first
    int outlier_count;
    double stray; // one sigma of a prediction of the plan's cases, as far as the constants' uncertainty goes
    Advice advice[ADVICES];
} DeviceFit;

// With a seed, hold-out errors on random halves are computed; `brief` leaves out all but the parameters. The
// catalogue (or NULL) is used to advise the next measurements.
DeviceFit device_fit(Arena *arena, const Catalogue *catalogue, const Gpu *start, const Measured *rows, int count,
                     uint64_t seed, bool brief);

// Errors of given constants, without a fit, in the order of first mention.
OperationError *device_errors(Arena *arena, const Constants *constants, const Measured *rows, int count,
                              int *error_count);

// ---- Advice.
typedef struct Belief {
    const struct Free *frees;
    const double *x; // on the whole line
    double *covariance;
    int count;
    const double *noise; // by group
} Belief;
void advise(Arena *arena, const Catalogue *catalogue, const Constants *constants, const Belief *belief, DeviceFit *fit);

// ---- The parameters that measurements of one GPU can determine: a table of constants, the measurements that inform
// each, and its mapping to the unconstrained line that fits search. Private to the fit.

// Groups share no constant, so each is a fit of its own.
typedef enum FitGroup {
    GROUP_COMPUTE,
    GROUP_HOST,
    GROUP_COPY,
    GROUP_BESIDE,
    GROUP_CLOCK,
    GROUP_POWER,
    GROUP_COLLECTIVE,
    GROUP_CHANNEL,
    GROUP_COUNT
} FitGroup;

typedef enum Curve { CURVE_SHARE, CURVE_POSITIVE, CURVE_ABOVE_ONE } Curve;

typedef struct ParameterRow {
    const char *key;
    Curve curve;
    FitGroup group;
    size_t offset; // in Constants
    int fewest;    // measurements that inform it
    bool per_precision, in_catalogue;
    MeasuredKind kind, also; // whose measurements inform it
    int protocol;            // of a channel, or -1
    ChannelAlgorithm algorithm;
    const char *unit;
    double scale; // of the unit
} ParameterRow;

extern const ParameterRow parameter_rows[];
extern const int parameter_row_count;

// One unknown of a fit.
typedef struct Free {
    const ParameterRow *row;
    Precision precision;
} Free;

double *free_place(Constants *constants, const Free *free);
double value_of(const Free *free, double x); // from the whole line
double line_of(const Free *free, double value);
const char *free_key(Arena *arena, const Free *free);

// All unknowns that a GPU has; returns how many.
int list_frees(const Gpu *gpu, Free *frees);

// ---- Recovery test of one GPU's fit: are known constants found within the stated intervals?

typedef struct RecoveryRow {
    char key[40];
    int identified, held; // trials in which it was identified, and those whose interval held the truth
    double error;         // sum over them of the relative error
} RecoveryRow;

typedef struct Recovery {
    RecoveryRow parameters[MOST_DEVICE_PARAMETERS];
    int count, rows;
} Recovery;

// On the shapes of the full plan, and NCCL's collectives over a node of the catalogue with this GPU.
Recovery recovery_run(const Catalogue *catalogue, const Gpu *gpu, int trials, double noise, uint64_t seed);
