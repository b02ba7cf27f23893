// The benchmark plan: a table of sections, and the designed set of cases of each. The most informative cases of a
// section come first, so that an exhausted budget costs the least.
#include "calibrate/gpu/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((int64_t)1 << 10)
#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)
#define MOST_VIRTUAL_RANKS 16
#define START_SECONDS 1.5 // of a section's process: the driver, the context, the libraries
#define SETUP_SECONDS 0.08

typedef struct Planner {
    BenchPlan *plan;
    const BenchMachine *machine;
    bool quick;
    BenchSection section;
} Planner;

static void add(Planner *planner, BenchCase of) {
    BenchPlan *plan = planner->plan;
    if (plan->count == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 256;
        BenchCase *larger = realloc(plan->cases, (size_t)plan->room * sizeof *larger);
        if (!larger) {
            fprintf(stderr, "out of memory\n");
            exit(1);
        }
        plan->cases = larger;
    }
    of.section = planner->section;
    if (!of.type) of.type = "";
    if (!of.variant) of.variant = "";
    plan->cases[plan->count++] = of;
}

// ---- GEMM.

typedef struct Shape {
    int64_t batch, m, n, k;
} Shape;

static const struct {
    const char *name;
    int stored_bytes, least_capability;
} gemm_types[] = {{"bf16", 2, 80}, {"fp16", 2, 70}, {"fp8", 1, 89}, {"tf32", 4, 80}, {"fp32", 4, 70}, {"int8", 1, 75}};
enum { GEMM_TYPES = sizeof gemm_types / sizeof *gemm_types };

// Large, as in transformers, skinny, batched: enough to fit a GPU with.
static const Shape first_shapes[] = {
    {1, 4096, 4096, 4096},  {1, 8192, 8192, 8192}, {1, 2048, 2048, 2048}, {1, 1024, 1024, 1024},
    {1, 512, 512, 512},     {1, 16, 4096, 4096},   {1, 128, 12288, 4096}, {1, 4096, 12288, 4096},
    {1, 4096, 4096, 16384}, {1, 4096, 4096, 256},  {96, 1024, 1024, 64},  {1, 2048, 50304, 1024},
    {1, 256, 256, 16384},   {1, 1, 8192, 8192},    {32, 512, 512, 128},   {1, 2304, 2304, 2304},
};
// Tile edges (just past a multiple of 128), wave edges (a row of tiles more each time), a sweep of K, more batches.
static const Shape more_shapes[] = {
    {1, 8192, 28672, 8192}, {1, 16384, 4096, 4096}, {1, 4112, 4112, 4112},  {1, 4080, 4080, 4080},
    {1, 2064, 2064, 4096},  {1, 4096, 4096, 64},    {1, 4096, 4096, 128},   {1, 4096, 4096, 512},
    {1, 4096, 4096, 1024},  {1, 4096, 4096, 2048},  {1, 4096, 4096, 8192},  {1, 2048, 1024, 4096},
    {1, 2048, 1536, 4096},  {1, 2048, 2048, 4096},  {1, 2048, 2560, 4096},  {1, 2048, 3072, 4096},
    {1, 2048, 4096, 4096},  {1, 2048, 4352, 4096},  {1, 2048, 4608, 4096},  {1, 2048, 8448, 4096},
    {1, 8, 8192, 8192},     {1, 32, 8192, 8192},    {1, 64, 8192, 8192},    {1, 256, 8192, 8192},
    {1, 512, 8192, 8192},   {1, 1024, 8192, 8192},  {1, 1, 4096, 11008},    {1, 64, 64, 65536},
    {1, 1024, 768, 768},    {1, 8192, 768, 3072},   {1, 8192, 3072, 768},   {1, 8192, 2304, 768},
    {1, 4096, 1600, 6400},  {1, 4096, 11008, 4096}, {1, 4096, 4096, 11008}, {1, 4096, 32000, 4096},
    {12, 1024, 64, 1024},   {192, 512, 512, 64},    {32, 2048, 2048, 128},  {32, 2048, 128, 2048},
    {8, 4096, 4096, 128},   {64, 256, 256, 256},    {256, 128, 128, 128},   {4, 2048, 2048, 2048},
};

// FP32 alone: matrix units do not care how operands lie, nor how long K is. As stored: W is k x n, as in a product of
// activations.
#define UNTRANSPOSED "untransposed"
static const struct {
    Shape shape;
    const char *type, *variant;
    bool in_quick;
} lying_shapes[] = {
    {{1, 4096, 4096, 4096}, "fp32", UNTRANSPOSED, true},
    {{96, 1024, 64, 1024}, "fp32", UNTRANSPOSED, true},
    {{1, 2049, 2047, 2051}, "fp32", "", true},
    {{1, 4096, 4097, 4096}, "fp32", "", true},
    {{1, 2048, 2048, 2048}, "fp32", UNTRANSPOSED, false},
    {{64, 512, 512, 256}, "fp32", UNTRANSPOSED, false},
    {{1, 8192, 1024, 4096}, "fp32", UNTRANSPOSED, false},
    {{1, 4096, 30523, 768}, "fp32", "", false},
    {{1, 1025, 1023, 8193}, "fp32", "", false},
    {{1, 8192, 3072, 767}, "fp32", "", false},
    {{1, 2048, 1024, 50304}, "fp32", "", true}, // long: the gradient of a vocabulary's projection
    {{1, 1024, 2048, 30528}, "fp32", "", false},
    {{1, 4096, 1024, 65536}, "fp32", "", false},
    {{1, 8192, 50257, 768}, "bf16", "", false},
    {{1, 8192, 50257, 768}, "fp16", "", false},
    {{1, 8192, 50257, 768}, "tf32", "", false},
};

static void add_gemm(Planner *planner, const Shape *shape, int type, const char *variant) {
    double inputs = (double)shape->batch * (double)(shape->m * shape->k + shape->k * shape->n);
    double outputs = (double)shape->batch * (double)(shape->m * shape->n);
    // FP8 leaves as BF16, INT8 as INT32; the others as they came.
    int stored = gemm_types[type].stored_bytes, left = stored > 1                             ? stored
                                                       : strcmp(gemm_types[type].name, "fp8") ? 4
                                                                                              : 2;
    double bytes = inputs * stored + outputs * left;
    if (bytes > 0.25 * (double)planner->machine->memory_bytes) return;
    add(planner, (BenchCase){.operation = "gemm",
                             .type = gemm_types[type].name,
                             .variant = variant,
                             .batch = shape->batch,
                             .m = shape->m,
                             .n = shape->n,
                             .k = shape->k,
                             .flops = 2 * outputs * (double)shape->k,
                             .moved_bytes = bytes});
}

static void plan_gemm(Planner *planner) {
    for (size_t i = 0; i < sizeof first_shapes / sizeof *first_shapes; i++)
        for (int t = 0; t < GEMM_TYPES; t++)
            if (planner->machine->capability >= gemm_types[t].least_capability)
                add_gemm(planner, &first_shapes[i], t, "");
    for (size_t i = 0; i < sizeof lying_shapes / sizeof *lying_shapes; i++)
        for (int t = 0; t < GEMM_TYPES; t++) {
            if (planner->quick && !lying_shapes[i].in_quick) continue;
            if (strcmp(gemm_types[t].name, lying_shapes[i].type) != 0) continue;
            if (planner->machine->capability >= gemm_types[t].least_capability)
                add_gemm(planner, &lying_shapes[i].shape, t, lying_shapes[i].variant);
        }
    if (planner->quick) return;
    for (size_t i = 0; i < sizeof more_shapes / sizeof *more_shapes; i++)
        for (int t = 0; t < GEMM_TYPES; t++)
            if (planner->machine->capability >= gemm_types[t].least_capability)
                add_gemm(planner, &more_shapes[i], t, "");
}

// ---- Memory: arrays of float, from the L2 to the HBM.

static const struct {
    const char *name;
    int arrays; // of `bytes` each, read or written once
} streams[] = {{"copy", 2}, {"read", 1}, {"write", 1}, {"triad", 3}, {"strided", 2}};

static void plan_memory(Planner *planner) {
    int64_t most = planner->machine->memory_bytes / 8;
    for (int64_t bytes = planner->quick ? 256 * MIB : 4 * GIB; bytes >= 256 * KIB; bytes /= planner->quick ? 8 : 2) {
        if (bytes > most) continue;
        for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
            add(planner, (BenchCase){.operation = streams[i].name,
                                     .type = "fp32",
                                     .bytes = bytes,
                                     .moved_bytes = (double)bytes * streams[i].arrays});
    }
}

// ---- Kernels that move bytes: m rows of n, in the type given.

static const struct {
    const char *name, *type;
    double bytes_per_element; // read and written
} kernels[] = {{"add", "bf16", 6},     {"gelu", "bf16", 4},      {"layernorm", "bf16", 4}, {"softmax", "bf16", 4},
               {"row_sum", "fp32", 4}, {"adam", "fp32", 28},     {"cast", "fp32", 6},      {"add", "fp32", 12},
               {"gelu", "fp32", 8},    {"layernorm", "fp32", 8}, {"softmax", "fp32", 8}};

static void plan_kernels(Planner *planner) {
    static const int64_t rows[] = {16384, 2048, 256, 65536, 8192, 1024, 32};
    for (size_t r = 0; r < (planner->quick ? 3 : sizeof rows / sizeof *rows); r++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            int64_t width = 4096;
            double bytes = kernels[i].bytes_per_element * (double)(rows[r] * width);
            if (bytes > 0.25 * (double)planner->machine->memory_bytes) continue;
            add(planner, (BenchCase){.operation = kernels[i].name,
                                     .type = kernels[i].type,
                                     .m = rows[r],
                                     .n = width,
                                     .moved_bytes = bytes});
        }
}

// ---- Launches.

static void plan_launch(Planner *planner) {
    add(planner, (BenchCase){.operation = "launch", .variant = "stream"});
    add(planner, (BenchCase){.operation = "launch", .variant = "graph"});
    add(planner, (BenchCase){.operation = "launch", .variant = "issue", .clock = BENCH_ISSUE});
    add(planner, (BenchCase){.operation = "launch", .variant = "issue 16 arguments", .clock = BENCH_ISSUE});
    add(planner, (BenchCase){.operation = "launch", .variant = "and wait", .clock = BENCH_WALL});
    add(planner, (BenchCase){.operation = "launch", .variant = "cooperative", .clock = BENCH_EVENTS});
    add(planner, (BenchCase){.operation = "copy", .variant = "issue 4 KiB", .bytes = 4 * KIB, .clock = BENCH_ISSUE});
}

// ---- Transfers.

static void plan_transfer(Planner *planner) {
    static const char *const variants[] = {"h2d pinned", "d2h pinned", "both ways pinned", "h2d pageable",
                                           "d2h pageable"};
    for (int64_t bytes = 256 * MIB; bytes >= 4 * KIB; bytes /= planner->quick ? 64 : 4)
        for (int i = 0; i < 5; i++)
            add(planner, (BenchCase){.operation = "transfer",
                                     .variant = variants[i],
                                     .bytes = bytes,
                                     .moved_bytes = (double)bytes * (i == 2 ? 2 : 1),
                                     .clock = i >= 3 ? BENCH_WALL : BENCH_EVENTS});
    for (int64_t bytes = 256 * MIB; bytes >= 4 * KIB; bytes /= planner->quick ? (int64_t)1 << 20 : 64)
        for (int from = 0; from < planner->machine->gpu_count; from++)
            for (int to = 0; to < planner->machine->gpu_count; to++) {
                if (from == to) continue;
                add(planner, (BenchCase){.operation = "peer_copy",
                                         .variant = "one way",
                                         .bytes = bytes,
                                         .from = from,
                                         .to = to,
                                         .moved_bytes = (double)bytes});
                if (from < to)
                    add(planner, (BenchCase){.operation = "peer_copy",
                                             .variant = "both ways",
                                             .bytes = bytes,
                                             .from = from,
                                             .to = to,
                                             .moved_bytes = 2.0 * (double)bytes});
            }
}

// ---- Attention as a chain of kernels: scores, softmax, values. batch counts heads of all samples, k is a head's
// width.

static void plan_attention(Planner *planner) {
    static const Shape shapes[] = {{32, 2048, 2048, 128}, {96, 1024, 1024, 64}, {32, 4096, 4096, 128},
                                   {192, 512, 512, 64},   {16, 2048, 2048, 64}, {128, 1024, 1024, 128}};
    static const char *const types[] = {"bf16", "fp16"};
    for (size_t i = 0; i < (planner->quick ? 2 : sizeof shapes / sizeof *shapes); i++)
        for (int t = 0; t < 2; t++) {
            const Shape *shape = &shapes[i];
            double scores = (double)(shape->batch * shape->m * shape->n);
            if (t == 0 && planner->machine->capability < 80) continue;
            if (4 * scores > 0.25 * (double)planner->machine->memory_bytes) continue;
            add(planner, (BenchCase){.operation = "attention",
                                     .type = types[t],
                                     .variant = "unfused",
                                     .batch = shape->batch,
                                     .m = shape->m,
                                     .n = shape->n,
                                     .k = shape->k,
                                     .flops = 4 * scores * (double)shape->k});
        }
}

// ---- NCCL over all GPUs of the machine.

static const char *const collectives[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                          "broadcast",  "reduce",     "sendrecv"};

// Cases with in-place buffers too. For operations other than all_reduce a few sizes show whether it matters.
static bool has_in_place(const Planner *planner, int operation, int64_t bytes) {
    const char *name = collectives[operation];
    if (planner->quick || strcmp(name, "alltoall") == 0 || strcmp(name, "sendrecv") == 0) return false;
    for (int64_t size = 8 * GIB; size >= 32; size /= 16)
        if (bytes == size) return true;
    return operation == 0;
}

static void plan_nccl(Planner *planner) {
    int ranks = planner->machine->gpu_count;
    int64_t most = planner->machine->memory_bytes / 5;
    if (ranks < 2) return;
    for (int i = 0; i < 7; i++) {
        for (int64_t bytes = 8 * GIB; bytes >= 8; bytes /= planner->quick ? 16 : 2) {
            if (bytes > most || (planner->quick && bytes > 512 * MIB)) continue;
            if (bytes / 4 / ranks == 0) continue;
            for (int in_place = 0; in_place < (has_in_place(planner, i, bytes) ? 2 : 1); in_place++)
                add(planner, (BenchCase){.operation = collectives[i],
                                         .type = "fp32",
                                         .variant = in_place ? "nccl in place" : "nccl",
                                         .bytes = bytes,
                                         .ranks = ranks,
                                         .clock = BENCH_WALL});
        }
    }
}

// ---- Collectives among virtual ranks: groups of blocks of one GPU that pass data through its memory.

static void add_virtual(Planner *planner, const char *operation, const char *variant, int ranks, int blocks,
                        int64_t bytes) {
    if (ranks * blocks > planner->machine->multiprocessors || blocks < 1) return;
    add(planner, (BenchCase){.operation = operation,
                             .type = "fp32",
                             .variant = variant,
                             .bytes = bytes,
                             .ranks = ranks,
                             .blocks = blocks});
}

static void plan_virtual(Planner *planner) {
    static const struct {
        const char *operation, *variant;
    } kinds[] = {{"all_reduce", "ring ll"},     {"all_reduce", "ring simple"}, {"all_reduce", "tree ll"},
                 {"all_reduce", "tree simple"}, {"all_to_all", "pairs ll"},    {"all_to_all", "pairs simple"}};
    static const int rank_counts[] = {8, 2, 4, 16, 3};
    static const int64_t sizes[] = {64 * MIB, 4 * KIB, 1 * MIB, 64 * KIB, 16 * MIB, 256 * KIB, 512, 256 * MIB};
    int multiprocessors = planner->machine->multiprocessors;
    int rank_kinds = planner->quick ? 3 : 5, size_kinds = planner->quick ? 3 : 8;
    for (int s = 0; s < size_kinds; s++)
        for (int r = 0; r < rank_kinds; r++)
            for (int i = 0; i < 6; i++) {
                int ranks = rank_counts[r];
                bool is_ll = strstr(kinds[i].variant, "ll") != NULL;
                if (is_ll && sizes[s] > 16 * MIB) continue; // LL is for small messages
                if ((double)sizes[s] * 2 * ranks > 0.25 * (double)planner->machine->memory_bytes) continue;
                // One channel measures a channel; the whole GPU measures the memory behind all of them.
                add_virtual(planner, kinds[i].operation, kinds[i].variant, ranks, 1, sizes[s]);
                int whole = multiprocessors / ranks < 16 ? multiprocessors / ranks : 16;
                if (sizes[s] >= 1 * MIB && whole > 1)
                    add_virtual(planner, kinds[i].operation, kinds[i].variant, ranks, whole, sizes[s]);
            }
}

// ---- Interference: a GEMM alone, and concurrent with other work.

static void plan_interference(Planner *planner) {
    static const char *const variants[] = {"alone", "beside a copy", "beside h2d", "beside a virtual ring of 4 blocks",
                                           "beside a virtual ring of 16 blocks"};
    static const int64_t sizes[] = {4096, 8192, 2048};
    for (int s = 0; s < (planner->quick ? 1 : 3); s++)
        for (int i = 0; i < 5; i++) {
            double size = (double)sizes[s];
            const char *type = planner->machine->capability >= 80 ? "bf16" : "fp16";
            add(planner, (BenchCase){.operation = "gemm",
                                     .type = type,
                                     .variant = variants[i],
                                     .batch = 1,
                                     .m = sizes[s],
                                     .n = sizes[s],
                                     .k = sizes[s],
                                     .flops = 2 * size * size * size,
                                     .moved_bytes = 6 * size * size});
        }
}

// ---- What minutes of load leave of the rate of short runs: a GEMM and a copy in turn, as in a training step, timed as
// all else is and again after seconds of it.

#define SOAK_SECONDS 12.0

static void plan_sustained(Planner *planner) {
    static const char *const variants[] = {"in short runs", "after a soak"};
    double size = 8192;
    if (planner->quick) return; // a few seconds do not show throttling over minutes
    for (int i = 0; i < 2; i++)
        add(planner, (BenchCase){.operation = "gemm_and_copy",
                                 .type = planner->machine->capability >= 80 ? "bf16" : "fp16",
                                 .variant = variants[i],
                                 .batch = 1,
                                 .m = (int64_t)size,
                                 .n = (int64_t)size,
                                 .k = (int64_t)size,
                                 .flops = 2 * size * size * size,
                                 .moved_bytes = 6 * size * size,
                                 .soak_seconds = i ? SOAK_SECONDS : 0});
}

// ---- The table.

static const struct {
    const char *name, *help;
    void (*plan)(Planner *planner);
    double share; // of the budget, among the sections that have cases
} sections[BENCH_SECTION_COUNT] = {
    [BENCH_GEMM] = {"gemm", "matrix products through cuBLASLt by type and shape", plan_gemm, 37},
    [BENCH_MEMORY] = {"memory", "streams through L2 and HBM by size", plan_memory, 9},
    [BENCH_KERNELS] = {"kernels", "element-wise and row kernels", plan_kernels, 9},
    [BENCH_LAUNCH] = {"launch", "launch cost in stream and graph, issue rate of the host", plan_launch, 2},
    [BENCH_TRANSFER] = {"transfer", "host to device and back, peer copies of all pairs", plan_transfer, 7},
    [BENCH_ATTENTION] = {"attention", "scores, softmax and values as three kernels", plan_attention, 3},
    [BENCH_NCCL] = {"nccl", "NCCL's collectives over all GPUs", plan_nccl, 25},
    [BENCH_VIRTUAL] = {"virtual", "collectives among virtual ranks on one GPU (no link is measured)", plan_virtual, 26},
    [BENCH_INTERFERENCE] = {"interference", "a GEMM beside copies and collectives", plan_interference, 3},
    [BENCH_SUSTAINED] = {"sustained", "what a soak of load leaves of the rate of short runs", plan_sustained, 4},
};

const char *bench_section_name(BenchSection section) { return sections[section].name; }

const char *bench_section_help(BenchSection section) { return sections[section].help; }

static bool bench_section_wanted(const BenchSettings *settings, BenchSection section) {
    const char *name = sections[section].name, *at = settings->only;
    if (!at) return true;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (length == strlen(name) && strncmp(at, name, length) == 0) return true;
        if (!at[length]) return false;
        at += length + 1;
    }
}

BenchPlan bench_plan_open(const BenchSettings *settings, const BenchMachine *machine) {
    BenchPlan plan = {.cases = NULL};
    Planner planner = {.plan = &plan, .machine = machine, .quick = settings->quick};
    for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
        plan.first[s] = plan.count;
        planner.section = (BenchSection)s;
        if (bench_section_wanted(settings, planner.section)) sections[s].plan(&planner);
    }
    plan.first[BENCH_SECTION_COUNT] = plan.count;
    return plan;
}

void bench_plan_close(BenchPlan *plan) {
    free(plan->cases);
    *plan = (BenchPlan){.cases = NULL};
}

static int case_count(const BenchPlan *plan, int section) { return plan->first[section + 1] - plan->first[section]; }

double bench_section_budget(const BenchSettings *settings, const BenchPlan *plan, BenchSection section) {
    double shares = 0;
    for (int s = 0; s < BENCH_SECTION_COUNT; s++)
        if (case_count(plan, s) > 0) shares += sections[s].share;
    return case_count(plan, section) > 0 ? settings->budget_seconds * sections[section].share / shares : 0;
}

double bench_section_expected(const BenchSettings *settings, const BenchPlan *plan, BenchSection section) {
    BenchRules rules = bench_rules(settings);
    double budget = bench_section_budget(settings, plan, section);
    double wanted = START_SECONDS;
    for (int i = plan->first[section]; i < plan->first[section + 1]; i++)
        wanted += SETUP_SECONDS + fmax(rules.warm_up_seconds, plan->cases[i].soak_seconds) + rules.seconds;
    return budget > 0 ? fmin(budget, wanted) : 0;
}

BenchRules bench_rules(const BenchSettings *settings) {
    return settings->quick ? (BenchRules){.seconds = 0.08,
                                          .sample_seconds = 0.5e-3,
                                          .warm_up_seconds = 0.02,
                                          .least_samples = 5,
                                          .most_samples = 64}
                           : (BenchRules){.seconds = 0.30,
                                          .sample_seconds = 1e-3,
                                          .warm_up_seconds = 0.05,
                                          .least_samples = 9,
                                          .most_samples = 256};
}

BenchMachine bench_supposed_machine(void) {
    return (BenchMachine){.gpu = "one GPU of compute capability 9.0, 80 GB, 132 multiprocessors (supposed)",
                          .gpu_count = 1,
                          .capability = 90,
                          .multiprocessors = 132,
                          .memory_bytes = 80 * GIB,
                          .l2_bytes = 50 * MIB};
}

void bench_print_plan(const BenchSettings *settings, const BenchPlan *plan, FILE *out) {
    double expected = 0;
    fprintf(out, "%-13s %6s %10s %10s  %s\n", "section", "cases", "budget s", "expected s", "what");
    for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
        double seconds = bench_section_expected(settings, plan, (BenchSection)s);
        if (!bench_section_wanted(settings, (BenchSection)s)) continue;
        fprintf(out, "%-13s %6d %10.0f %10.0f  %s%s\n", sections[s].name, case_count(plan, s),
                bench_section_budget(settings, plan, (BenchSection)s), seconds, sections[s].help,
                s == BENCH_NCCL && case_count(plan, s) == 0 ? " (needs two GPUs)" : "");
        expected += seconds;
    }
    fprintf(out, "%-13s %6d %10.0f %10.0f\n", "all", plan->count, settings->budget_seconds, expected);
}

void bench_case_name(const BenchCase *of, char *name, size_t name_bytes) {
    int length = snprintf(name, name_bytes, "%s", of->operation);
#define APPEND(...)                                                                                                    \
    if (length >= 0 && (size_t)length < name_bytes)                                                                    \
    length += snprintf(name + length, name_bytes - (size_t)length, __VA_ARGS__)
    if (of->type[0]) APPEND(" %s", of->type);
    if (of->variant[0]) APPEND(" %s", of->variant);
    if (of->batch > 1) APPEND(" %lld x", (long long)of->batch);
    if (of->m > 0) APPEND(" %lld", (long long)of->m);
    if (of->n > 0) APPEND(" x %lld", (long long)of->n);
    if (of->k > 0) APPEND(" x %lld", (long long)of->k);
    if (of->from != of->to) APPEND(" %d to %d", of->from, of->to);
    if (of->bytes > 0) APPEND(" %lld bytes", (long long)of->bytes);
    if (of->ranks > 0) APPEND(" %d ranks", of->ranks);
    if (of->blocks > 0) APPEND(" x %d blocks", of->blocks);
#undef APPEND
}
