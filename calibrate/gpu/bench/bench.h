// The benchmark program lockstep-bench: its cases, its timing, and the interface to the GPU
// (calibrate/gpu/bench/cuda_layer.cu) or, in tests, to a fake. Plain C with only the C library, so that it builds
// wherever a CUDA toolkit is.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum BenchSection {
    BENCH_GEMM,
    BENCH_MEMORY,
    BENCH_KERNELS,
    BENCH_LAUNCH,
    BENCH_TRANSFER,
    BENCH_ATTENTION,
    BENCH_NCCL,
    BENCH_VIRTUAL,
    BENCH_INTERFERENCE,
    BENCH_SUSTAINED,
    BENCH_SECTION_COUNT
} BenchSection;

typedef enum BenchClock {
    BENCH_EVENTS, // between two events on the device
    BENCH_ISSUE,  // on the host, until everything is handed over
    BENCH_WALL    // on the host, until everything is done
} BenchClock;

// One case to measure. Numbers that do not apply are 0, words are "".
typedef struct BenchCase {
    BenchSection section;
    const char *operation; // "gemm", "copy", "all_reduce"
    const char *type;      // "bf16"
    const char *variant;   // "ring ll", "pinned", "beside a copy"
    int64_t batch, m, n, k;
    int64_t bytes; // of the message or of each array
    int ranks, blocks;
    int from, to;              // GPUs of a peer copy; equal elsewhere
    double flops, moved_bytes; // of one iteration
    BenchClock clock;
    double soak_seconds; // of load before the clock starts, where that is longer than the usual warm-up
} BenchCase;

typedef enum BenchStatus { BENCH_DONE, BENCH_SKIPPED, BENCH_FAILED } BenchStatus;

// Why a case was skipped or failed.
typedef struct BenchFault {
    char text[512];
} BenchFault;

// Writes "FILE:LINE: TEXT" and returns BENCH_FAILED, or TEXT alone and returns BENCH_SKIPPED.
BenchStatus bench_fail(BenchFault *fault, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
BenchStatus bench_skip(BenchFault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct BenchMachine {
    char gpu[96], driver[32], runtime[32], versions[256];
    int gpu_count, capability; // 90 is 9.0
    int multiprocessors;
    int64_t memory_bytes, l2_bytes;
    int max_sm_mhz, max_memory_mhz;
    double power_limit_watts;
    int pcie_generation, pcie_lanes; // the maximum that GPU and slot support; 0: unknown
} BenchMachine;

// Readings of the device's sensors. 0: not available.
typedef struct BenchSensors {
    double sm_mhz, memory_mhz, watts, celsius;
    uint64_t throttle; // bits as NVML gives them
} BenchSensors;

typedef struct BenchCheck {
    double error, tolerance; // relative, as the root of the sum of squares; or a count of wrong elements against 0
} BenchCheck;

// The device. Every function gets `device`; those that can fail give the reason in the fault.
typedef struct BenchLayer {
    BenchStatus (*open)(void *device, BenchMachine *machine, BenchFault *fault);
    void (*close)(void *device);
    // Allocates and fills. *sets: how many sets of buffers the launches rotate through, so that no launch finds its
    // data in the L2 where that would flatter it.
    BenchStatus (*prepare)(void *device, const BenchCase *of, int *sets, BenchFault *fault);
    BenchStatus (*begin)(void *device, int count, BenchFault *fault);  // before the clock starts: starts the background
    BenchStatus (*launch)(void *device, int count, BenchFault *fault); // hands over `count` iterations
    BenchStatus (*record)(void *device, int event, BenchFault *fault); // 0 begins, 1 ends
    BenchStatus (*elapsed)(void *device, double *seconds, BenchFault *fault);
    BenchStatus (*wait)(void *device, BenchFault *fault);
    BenchStatus (*check)(void *device, BenchCheck *check, BenchFault *fault); // after one launch and a wait
    void (*finish)(void *device);                                             // frees what prepare allocated
    void (*sensors)(void *device, BenchSensors *sensors);
    double (*host_seconds)(void *device);
    // After a case that failed: whether this process can do no more with the device, as after a fault of its memory.
    bool (*is_lost)(void *device);
} BenchLayer;

// ---- Statistics of repeats.
typedef struct BenchSpread {
    int count, outliers; // outliers: further than 5 robust sigmas from the median; counted, not dropped
    double median, sigma, low, high, least; // sigma: 1.4826 median absolute deviations; low, high: 10 and 90 %
} BenchSpread;

BenchSpread bench_spread(double *values, int count); // sorts the values

// ---- One case.
typedef struct BenchRules {
    double seconds;        // for the repeats of this case
    double sample_seconds; // a sample lasts at least this long
    double warm_up_seconds;
    int least_samples, most_samples;
} BenchRules;

typedef struct BenchResult {
    BenchStatus status;
    BenchFault fault;
    BenchSpread time; // of one iteration, seconds
    BenchCheck check;
    BenchSensors sensors; // medians over the samples
    int iterations;       // in one sample
    int sets;
} BenchResult;

void bench_measure(const BenchLayer *layer, void *device, const BenchCase *of, const BenchRules *rules,
                   BenchResult *result);

// ---- The plan.
typedef struct BenchPlan {
    BenchCase *cases; // by section
    int count, room;
    int first[BENCH_SECTION_COUNT + 1]; // section s is cases first[s] … first[s + 1] - 1
} BenchPlan;

typedef struct BenchSettings {
    bool quick;
    double budget_seconds; // for everything
    const char *only;      // names of sections with commas, or NULL for all
    double grace_seconds;  // beyond its budget, before a section's process is ended; 0: 20 s
} BenchSettings;

const char *bench_section_name(BenchSection section);
const char *bench_section_help(BenchSection section);
// Seconds that a section may take: a share of the whole, more when others have nothing to do.
double bench_section_budget(const BenchSettings *settings, const BenchPlan *plan, BenchSection section);
double bench_section_expected(const BenchSettings *settings, const BenchPlan *plan, BenchSection section);
BenchRules bench_rules(const BenchSettings *settings);
BenchPlan bench_plan_open(const BenchSettings *settings, const BenchMachine *machine);
void bench_plan_close(BenchPlan *plan);
BenchMachine bench_supposed_machine(void); // for a plan without a GPU
void bench_print_plan(const BenchSettings *settings, const BenchPlan *plan, FILE *out);
// "gemm bf16 4096 x 4096 x 4096"
void bench_case_name(const BenchCase *of, char *name, size_t name_bytes);

// ---- Running: each section in its own process, so that a crash, a lost context or a hang costs one case.
typedef struct BenchTally {
    int measured, skipped, failed;
} BenchTally;

BenchTally bench_run(const BenchLayer *layer, void *device, const BenchSettings *settings, const BenchPlan *plan,
                     FILE *out, FILE *progress);
// What the machine is, found out in a process of its own.
BenchStatus bench_probe(const BenchLayer *layer, void *device, const BenchSettings *settings, BenchMachine *machine,
                        BenchFault *fault);

// ---- JSON lines: a header, a line per case, an end.
void bench_write_header(FILE *out, const BenchMachine *machine, const BenchSettings *settings, const char *command);
void bench_write_case(FILE *out, const BenchCase *of, const BenchResult *result);
void bench_write_end(FILE *out, const BenchTally *tally, double seconds);

// ---- The command line, shared by lockstep-bench (with a layer) and `lockstep calibrate run` (without).
int bench_command(const BenchLayer *layer, void *device, int argc, char **argv);

#ifdef __cplusplus
}
#endif
