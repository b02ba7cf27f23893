// What must not work: mistakes put into the suite, work that does nothing or loses its end, kernels that reach past
// memory or never end, calls that fail. The suite must report each as failed, with the place and the meaning.
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Mistakes in its own code (mutants.sed), each found by the section that runs it.

static const char wrong[] = "wrong result", race[] = "a race", any[] = "";

static const struct {
    int number;
    const char *section;
    int gpus;
    const char *reason; // that one of the failed rows gives, beside its place
} mutants[] = {
    {1, "virtual", 1, any},           {2, "virtual", 1, race},
    {3, "virtual", 1, race},          {4, "virtual", 1, race},
    {5, "virtual", 1, race},          {6, "virtual", 1, race},
    {7, "virtual", 1, any},           {8, "virtual", 1, any},
    {9, "virtual", 1, any},           {10, "virtual", 1, "gave up waiting"},
    {11, "virtual", 1, wrong},        {20, "kernels", 1, race},
    {21, "kernels", 1, race},         {22, "kernels", 1, wrong},
    {23, "memory", 1, wrong},         {24, "kernels", 1, wrong},
    {25, "kernels", 1, wrong},        {30, "gemm", 1, any},
    {31, "gemm", 1, "INVALID_VALUE"}, {32, "gemm", 1, wrong},
    {33, "attention", 1, wrong},      {34, "gemm", 1, wrong},
    {40, "launch", 1, wrong},         {41, "transfer", 1, wrong},
    {42, "transfer", 3, wrong},       {50, "nccl", 3, any},
    {51, "nccl", 2, wrong},
};

static Rows run_mutant(int number, const char *section, int gpus, int seed) {
    Rows rows;
    std::string folder = getenv("CUDA_CHECK_FOLDER");
    rows.file = folder + "/mutant.json";
    unlink(rows.file.c_str());
    std::string command = "EMULATED_SMS=" + std::string(strcmp(section, "memory") == 0 ? "1" : "24") +
                          " EMULATED_CASES=24 EMULATED_SEED=" + std::to_string(seed) +
                          " EMULATED_GPUS=" + std::to_string(gpus) + " " + folder + "/mutants " +
                          std::to_string(number) + " --quick --budget 1000 --only " + section + " -o " + rows.file +
                          " 2>/dev/null";
    rows.exit_code = system(command.c_str());
    read_rows(rows.file, &rows);
    return rows;
}

void check_mutants() {
    Rows whole = run_mutant(999, "virtual,kernels,memory,gemm,attention,launch,transfer,nccl", 3, 1);
    check(whole.exit_code == 0 && whole.measured > 100, "the suite with no mistake made fails: %d measured",
          whole.measured);
    for (auto &mutant : mutants) {
        Rows rows;
        for (int seed = 1; seed <= 4 && rows.failed == 0; seed++)
            rows = run_mutant(mutant.number, mutant.section, mutant.gpus, seed);
        bool is_told = false, has_place = true;
        for (std::string &reason : rows.reasons) {
            if (reason.find("\"status\": \"failed\"") == std::string::npos) continue;
            is_told |= reason.find(mutant.reason) != std::string::npos;
            has_place &= reason.find(".cu:") != std::string::npos || reason.find(".c:") != std::string::npos;
        }
        check(rows.failed > 0 && rows.exit_code != 0,
              "mistake %d of mutants.sed is not found by section %s: %d measured", mutant.number, mutant.section,
              rows.measured);
        check(rows.failed == 0 || (is_told && has_place), "mistake %d: none of %d failed rows says \"%s\": %s",
              mutant.number, rows.failed, mutant.reason, rows.reasons.empty() ? "" : rows.reasons[0].c_str());
    }
}

// ---- Work that is not done, in whole or at its end, and kernels that fault.

static const struct {
    const char *work;
    BenchSection section;
    const char *operation, *type, *variant;
    int64_t m, n, k, bytes;
} works[] = {
    {"copy_stream", BENCH_MEMORY, "copy", "fp32", "", 0, 0, 0, 69632},
    {"read_stream", BENCH_MEMORY, "read", "fp32", "", 0, 0, 0, 69632},
    {"write_stream", BENCH_MEMORY, "write", "fp32", "", 0, 0, 0, 69632},
    {"triad_stream", BENCH_MEMORY, "triad", "fp32", "", 0, 0, 0, 69632},
    {"strided_stream", BENCH_MEMORY, "strided", "fp32", "", 0, 0, 0, 69632},
    {"fill_kernel", BENCH_MEMORY, "copy", "fp32", "", 0, 0, 0, 69632},
    {"add_kernel<T>", BENCH_KERNELS, "add", "bf16", "", 9, 4096, 0, 0},
    {"gelu_kernel<T>", BENCH_KERNELS, "gelu", "fp32", "", 9, 4096, 0, 0},
    {"layernorm_kernel<T>", BENCH_KERNELS, "layernorm", "bf16", "", 9, 4096, 0, 0},
    {"softmax_kernel<T>", BENCH_KERNELS, "softmax", "fp32", "", 9, 4096, 0, 0},
    {"row_sum_kernel", BENCH_KERNELS, "row_sum", "fp32", "", 9, 4096, 0, 0},
    {"adam_kernel", BENCH_KERNELS, "adam", "fp32", "", 9, 4096, 0, 0},
    {"cast_kernel", BENCH_KERNELS, "cast", "fp32", "", 9, 4096, 0, 0},
    {"count_kernel", BENCH_LAUNCH, "launch", "", "stream", 0, 0, 0, 0},
    {"count_kernel", BENCH_LAUNCH, "launch", "", "graph", 0, 0, 0, 0},
    {"count_with_arguments", BENCH_LAUNCH, "launch", "", "issue 16 arguments", 0, 0, 0, 0},
    {"count_together", BENCH_LAUNCH, "launch", "", "cooperative", 0, 0, 0, 0},
    {"memcpy", BENCH_LAUNCH, "copy", "", "issue 4 KiB", 0, 0, 0, 4096},
    {"memcpy", BENCH_TRANSFER, "transfer", "", "h2d pinned", 0, 0, 0, 65536},
    {"memcpy", BENCH_TRANSFER, "transfer", "", "d2h pageable", 0, 0, 0, 65536},
    {"memcpy", BENCH_TRANSFER, "transfer", "", "both ways pinned", 0, 0, 0, 65536},
    {"memcpy", BENCH_TRANSFER, "peer_copy", "", "one way", 0, 0, 0, 65536},
    {"memcpy", BENCH_TRANSFER, "peer_copy", "", "both ways", 0, 0, 0, 65536},
    {"gemm", BENCH_GEMM, "gemm", "bf16", "", 33, 48, 64, 0},
    {"gemm", BENCH_GEMM, "gemm", "int8", "", 32, 48, 64, 0},
    {"gemm", BENCH_ATTENTION, "attention", "fp16", "unfused", 32, 48, 16, 0},
    {"gemm", BENCH_INTERFERENCE, "gemm", "bf16", "beside a copy", 32, 32, 32, 0},
    {"gemm", BENCH_SUSTAINED, "gemm_and_copy", "bf16", "in short runs", 32, 32, 32, 0},
    {"softmax_kernel<__half>", BENCH_ATTENTION, "attention", "fp16", "unfused", 32, 48, 16, 0},
    {"collective_kernel", BENCH_VIRTUAL, "all_reduce", "fp32", "ring simple", 0, 0, 0, 8208},
    {"collective_kernel", BENCH_VIRTUAL, "all_reduce", "fp32", "tree ll", 0, 0, 0, 8208},
    {"collective_kernel", BENCH_VIRTUAL, "all_to_all", "fp32", "pairs simple", 0, 0, 0, 8208},
};

static BenchCase case_of(size_t i) {
    BenchCase of = {};
    of.section = works[i].section, of.operation = works[i].operation, of.type = works[i].type;
    of.variant = works[i].variant, of.m = works[i].m, of.n = works[i].n, of.k = works[i].k, of.bytes = works[i].bytes;
    of.batch = works[i].k > 0 ? 2 : 0, of.moved_bytes = 60e3;
    if (of.section == BENCH_VIRTUAL) of.ranks = 4, of.blocks = 2;
    if (strcmp(of.operation, "peer_copy") == 0) of.to = 1;
    return of;
}

static void check_found(const EmulatorDials &dials, const BenchCase &of, const char *work, const char *does,
                        const char *reason) {
    char name[256];
    bench_case_name(&of, name, sizeof name);
    Outcome outcome = run_case(dials, of, 1);
    check(outcome.status == BENCH_FAILED && strstr(outcome.text, reason) && strchr(outcome.text, ':'),
          "%s: %s %s, and that is told as \"%s\"", name, work, does, outcome.text);
}

void check_lost_work() {
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        BenchCase of = case_of(i);
        EmulatorDials dials;
        dials.gpus = 2;
        Outcome right = run_case(dials, of, 1);
        check(right.status == BENCH_DONE, "%s %s: %s", of.operation, of.variant, right.text);
        dials.idle = works[i].work;
        check_found(dials, of, works[i].work, "does nothing", "wrong result");
        dials.idle = "";
        dials.loses_last = works[i].work; // of memory: a virtual rank's highest are its counters
        if (of.section != BENCH_VIRTUAL)
            check_found(dials, of, works[i].work, "leaves its last bytes unwritten", "wrong result");
        dials.loses_last = "";
        dials.wild = works[i].work;
        if (dials.wild != "gemm" && dials.wild != "memcpy")
            check_found(dials, of, works[i].work, "reaches past memory", "an illegal memory access");
    }
}

// ---- Calls that fail: every call of every kind of case in turn, up to where its results are in.

static bool is_finishing;
static void finish_quietly(void *device) {
    is_finishing = true;
    emulator.failing_call = 0;
    cuda_layer.finish(device);
}

static int count_untold(Device *device, const BenchCase &of) {
    BenchLayer layer = cuda_layer;
    BenchRules rules = {0, 1e-9, 0, 1, 1};
    BenchResult result;
    int untold = 0;
    layer.finish = finish_quietly;
    for (int n = 1; n < 3000; n++) {
        emulator.failing_call = n;
        emulator.failed_call = "";
        bench_measure(&layer, device, &of, &rules, &result);
        if (emulator.failed_call.empty()) return untold; // there were fewer calls
        bool is_told = result.status == BENCH_FAILED && strstr(result.fault.text, ".cu:");
        untold += !is_told;
        if (!is_told)
            printf("  %s %s: call %d, %s, fails: %d %s\n", of.operation, of.variant, n, emulator.failed_call.c_str(),
                   result.status, result.fault.text);
    }
    return untold + 1;
}

static void fail_calls_of_case(void *with) {
    static Device device;
    BenchMachine machine;
    BenchFault fault = {""};
    emulator.gpus = 2;
    cuda_layer.open(&device, &machine, &fault);
    BenchCase of = *(const BenchCase *)with;
    of.moved_bytes = 1e9; // one set of buffers
    int untold = count_untold(&device, of);
    fflush(stdout);
    _exit(untold > 0);
}

static void fail_calls_of_open(void *with) {
    static Device device;
    BenchMachine machine;
    BenchFault fault = {""};
    emulator.failing_call = *(int *)with;
    BenchStatus status = cuda_layer.open(&device, &machine, &fault);
    if (emulator.failed_call.empty()) _exit(2); // there were fewer calls
    _exit(status != BENCH_FAILED || !strstr(fault.text, ".cu:"));
}

// Kernels of a section are launched by the same calls, but for those whose results are looked at in their own way.
static bool calls_like_the_last(size_t i) {
    BenchSection section = works[i].section;
    bool is_alike = section == BENCH_MEMORY || section == BENCH_KERNELS || section == BENCH_VIRTUAL;
    bool is_own = strcmp(works[i].operation, "read") == 0 || strcmp(works[i].operation, "adam") == 0;
    return i > 0 && works[i - 1].section == section && is_alike && !is_own;
}

void check_failing_calls() {
    for (int n = 1, code = 0; n < 100 && code != 2; n++) {
        code = wait_for_child(child_of(fail_calls_of_open, &n));
        check(code != 1, "call %d of opening the device fails, and that is not told", n);
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        BenchCase of = case_of(i);
        if (calls_like_the_last(i)) continue;
        check(wait_for_child(child_of(fail_calls_of_case, &of)) == 0, "a call that fails in %s %s is not told",
              of.operation, of.variant);
    }
    static const char *const collectives[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                              "broadcast",  "reduce",     "sendrecv"};
    for (const char *operation : collectives) {
        BenchCase of = {};
        of.section = BENCH_NCCL, of.operation = operation, of.type = "fp32", of.variant = "nccl", of.bytes = 4096,
        of.ranks = 2;
        check(wait_for_child(child_of(fail_calls_of_case, &of)) == 0, "a call that fails in NCCL's %s is not told",
              operation);
    }
}
