// What must work: numbers of few bits, the emulated GPU itself, every case of the plan, edges, schedules, processes.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "small_float.h"
#include "wrong_kernels.h"

// ---- Half, BFloat16, FP8: every code, and the numbers between neighbours.

static void check_format(const char *name, SmallFormat format) {
    unsigned codes = 1u << (format.exponent_bits + format.mantissa_bits); // without the sign
    unsigned largest = codes - (format.is_finite ? 2 : (1u << format.mantissa_bits) + 1);
    int wrong = 0;
    for (unsigned code = 0; code <= largest; code++) {
        double value = float_from_small(format, code), next = float_from_small(format, code + 1);
        wrong += small_from_float(format, (float)value) != code;
        wrong += small_from_float(format, (float)-value) != (code | codes);
        if (code == largest) break;
        float middle = (float)((value + next) / 2);
        if ((double)middle != (value + next) / 2) continue; // of BFloat16's smallest
        wrong += small_from_float(format, middle) != (code % 2 ? code + 1 : code);
        wrong += small_from_float(format, nextafterf(middle, 0)) != code;
        wrong += small_from_float(format, nextafterf(middle, INFINITY)) != code + 1;
    }
    check(wrong == 0, "%s: %d of %u numbers are rounded wrongly", name, wrong, codes);
    float most = float_from_small(format, largest),
          infinite = float_from_small(format, small_from_float(format, INFINITY));
    check(format.is_finite ? infinite == most : isinf(infinite), "%s: infinity became %g", name, (double)infinite);
    check(isnan(float_from_small(format, small_from_float(format, NAN))), "%s: NaN became a number", name);
    check(small_from_float(format, -0.0f) == codes, "%s: a zero lost its sign", name);
}

void check_small_floats() {
    check_format("half", half_format);
    check_format("bfloat16", bfloat16_format);
    check_format("e4m3", e4m3_format);
    check(float_from_small(half_format, 0x7bff) == 65504 && float_from_small(e4m3_format, 0x7e) == 448 &&
              float_from_small(half_format, 1) == ldexpf(1, -24) && float_from_small(e4m3_format, 1) == ldexpf(1, -9) &&
              float_from_small(bfloat16_format, 0x3f80) == 1,
          "the largest, the smallest or one is not what the formats' tables say");
}

// ---- The emulated GPU finds what is wrong with kernels that are wrong, whatever the order of their threads.

static void run_wrong_kernel(void *with) {
    const WrongKernel *of = (const WrongKernel *)with;
    float *memory;
    cudaMalloc((void **)&memory, wrong_kernel_bytes);
    cudaMemset(memory, 0, wrong_kernel_bytes);
    of->launch(of->kernel, memory);
    cudaError_t error = cudaGetLastError();
    if (!error) error = cudaDeviceSynchronize();
    if (error == of->error && strstr(cudaGetErrorString(error), of->text)) _exit(0);
    printf("  %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    fflush(stdout);
    _exit(1);
}

void check_wrong_kernels() {
    for (int i = 0; i < wrong_kernel_count; i++)
        for (emulator.seed = 1; emulator.seed <= 8; emulator.seed++) {
            int code = wait_for_child(child_of(run_wrong_kernel, (void *)&wrong_kernels[i]));
            check(code == 0, "a kernel that %s: not told as it should be (seed %d)", wrong_kernels[i].name,
                  (int)emulator.seed);
        }
    emulator.seed = 1;
}

// ---- Every case of the plan, made small.

static void check_all_measured(const EmulatorDials &dials, const char *arguments, int least) {
    Rows rows = run_bench(dials, arguments);
    check(rows.measured >= least,
          "lockstep-bench %s on %d GPUs of capability %d measured %d cases, expected %d at least", arguments,
          dials.gpus, dials.capability, rows.measured, least);
    check(rows.exit_code == 0, "lockstep-bench %s ended with %d", arguments, rows.exit_code);
    for (int i = 0; i < rows.measured; i++) check(true, "%s", "");
    for (std::string &reason : rows.reasons) check(false, "not measured: %s", reason.c_str());
}

void check_plans() {
    EmulatorDials dials;
    check_all_measured(dials, "", 400);
    dials.capability = 75, dials.multiprocessors = 16;
    check_all_measured(dials, "--only gemm,attention,interference,sustained,launch", 60);
    dials.capability = 90, dials.multiprocessors = 1; // loops over the grid go round more than once
    check_all_measured(dials, "--only memory,kernels", 26);
    for (int gpus : {2, 3, 8}) {
        dials.gpus = gpus;
        check_all_measured(dials, "--only nccl,transfer", 100);
    }
    dials.has_peers = false;
    check_all_measured(dials, "--only transfer", 50);
}

// ---- Sizes at the edges, and what is refused.

static const char fits[] = "", refused[] = "refused";

static const struct {
    BenchSection section;
    const char *operation, *type, *variant;
    int64_t batch, m, n, k, bytes;
    int ranks, blocks;
    const char *outcome; // fits, refused or a part of the reason
} edges[] = {
    {BENCH_KERNELS, "layernorm", "bf16", "", 0, 1, 8, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "layernorm", "fp32", "", 0, 3, 8192, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "softmax", "bf16", "", 0, 2, 2056, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "softmax", "fp32", "", 0, 2, 8192, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "softmax", "fp32", "", 0, 2, 8200, 0, 0, 0, 0, "8200 elements"},
    {BENCH_KERNELS, "gelu", "bf16", "", 0, 2, 12, 0, 0, 0, 0, "12 elements"},
    {BENCH_KERNELS, "row_sum", "fp32", "", 0, 5, 24, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "adam", "fp32", "", 0, 1, 8, 0, 0, 0, 0, fits},
    {BENCH_KERNELS, "cast", "fp32", "", 0, 1, 8, 0, 0, 0, 0, fits},
    {BENCH_MEMORY, "copy", "fp32", "", 0, 0, 0, 0, 4096, 0, 0, fits},
    {BENCH_MEMORY, "read", "fp32", "", 0, 0, 0, 0, 4128, 0, 0, fits},
    {BENCH_MEMORY, "strided", "fp32", "", 0, 0, 0, 0, 4128, 0, 0, fits},
    {BENCH_MEMORY, "triad", "fp32", "", 0, 0, 0, 0, 4112, 0, 0, fits},
    {BENCH_MEMORY, "write", "fp32", "", 0, 0, 0, 0, 4112, 0, 0, fits},
    {BENCH_MEMORY, "copy", "fp32", "", 0, 0, 0, 0, (int64_t)60 << 30, 0, 0, "no room"},
    {BENCH_GEMM, "gemm", "bf16", "", 1, 1, 1, 1, 0, 0, 0, fits},
    {BENCH_GEMM, "gemm", "fp32", "untransposed", 3, 5, 7, 3, 0, 0, 0, fits},
    {BENCH_GEMM, "gemm", "fp16", "", 2, 33, 17, 65, 0, 0, 0, fits},
    {BENCH_GEMM, "gemm", "fp8", "", 1, 16, 17, 16, 0, 0, 0, refused},
    {BENCH_GEMM, "gemm", "fp8", "untransposed", 1, 16, 16, 16, 0, 0, 0, refused},
    {BENCH_GEMM, "gemm", "int8", "", 1, 3, 8, 12, 0, 0, 0, fits},
    {BENCH_GEMM, "gemm", "int8", "", 1, 3, 8, 10, 0, 0, 0, refused},
    {BENCH_GEMM, "gemm", "fp64", "", 1, 8, 8, 8, 0, 0, 0, "no type is called fp64"},
    {BENCH_ATTENTION, "attention", "fp16", "unfused", 2, 1, 8, 8, 0, 0, 0, fits},
    {BENCH_ATTENTION, "attention", "bf16", "unfused", 3, 5, 24, 16, 0, 0, 0, fits},
    {BENCH_ATTENTION, "attention", "fp16", "unfused", 2, 4, 12, 8, 0, 0, 0, "12 elements"},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "ring ll", 0, 0, 0, 0, 64, 4, 1, fits},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "ring ll", 0, 0, 0, 0, 48, 4, 1, "less than 16 bytes"},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "ring simple", 0, 0, 0, 0, 4112, 3, 5, fits},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "tree ll", 0, 0, 0, 0, 20016, 5, 2, fits},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "tree simple", 0, 0, 0, 0, 80, 5, 4, fits},
    {BENCH_VIRTUAL, "all_to_all", "fp32", "pairs ll", 0, 0, 0, 0, 12304, 3, 1, fits},
    {BENCH_VIRTUAL, "all_to_all", "fp32", "pairs simple", 0, 0, 0, 0, 40016, 5, 3, fits},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "ring simple", 0, 0, 0, 0, 4096, 16, 2, "cudaErrorCooperativeLaunchTooLarge"},
    {BENCH_VIRTUAL, "all_reduce", "fp32", "ring simple", 0, 0, 0, 0, 4096, 1, 2, "fewer than two"},
    {BENCH_TRANSFER, "transfer", "", "both ways pinned", 0, 0, 0, 0, 4, 0, 0, fits},
    {BENCH_TRANSFER, "transfer", "", "h2d pageable", 0, 0, 0, 0, 4, 0, 0, fits},
};

void check_edges() {
    EmulatorDials dials;
    for (auto &edge : edges) {
        BenchCase of = {};
        char name[256];
        of.section = edge.section, of.operation = edge.operation, of.type = edge.type, of.variant = edge.variant;
        of.batch = edge.batch, of.m = edge.m, of.n = edge.n, of.k = edge.k, of.bytes = edge.bytes;
        of.ranks = edge.ranks, of.blocks = edge.blocks, of.moved_bytes = 60e3;
        bench_case_name(&of, name, sizeof name);
        Outcome outcome = run_case(dials, of, 1);
        if (edge.outcome == fits)
            check(outcome.status == BENCH_DONE, "%s: %s", name, outcome.text);
        else if (edge.outcome == refused)
            check(outcome.status == BENCH_SKIPPED && strstr(outcome.text, "no kernel"), "%s is to be refused: %s", name,
                  outcome.text);
        else
            check(outcome.status != BENCH_DONE && strstr(outcome.text, edge.outcome), "%s is to end with \"%s\": %s",
                  name, edge.outcome, outcome.text);
    }
}

// ---- The protocols among virtual ranks, in orders drawn from seeds, several launches one after the other.

#define SEEDS 12

static void run_schedules(void *) {
    static const struct {
        const char *variant;
        int ranks, blocks;
        int64_t bytes;
    } cases[] = {{"ring ll", 2, 1, 9232},     {"ring ll", 4, 2, 10000},     {"ring simple", 3, 2, 30016},
                 {"ring simple", 5, 1, 4112}, {"tree ll", 7, 1, 9216},      {"tree simple", 4, 2, 40016},
                 {"pairs ll", 4, 1, 33024},   {"pairs simple", 3, 2, 60000}};
    static Device device;
    BenchMachine machine;
    BenchFault fault = {""};
    int wrong = cuda_layer.open(&device, &machine, &fault) != BENCH_DONE;
    for (auto &one : cases)
        for (int seed = 1; seed <= SEEDS; seed++) {
            BenchCase of = {};
            of.section = BENCH_VIRTUAL, of.operation = "all_reduce", of.type = "fp32", of.variant = one.variant;
            of.ranks = one.ranks, of.blocks = one.blocks, of.bytes = one.bytes;
            emulated_reseed((uint64_t)seed);
            Outcome outcome = run_here(&device, of, 3);
            wrong += outcome.status != BENCH_DONE;
            if (outcome.status) printf("  %s, seed %d: %s\n", one.variant, seed, outcome.text);
        }
    fflush(stdout);
    _exit(wrong > 0);
}

void check_schedules() {
    check(wait_for_child(child_of(run_schedules, NULL)) == 0, "a protocol fails in some order of threads");
}

// ---- Many processes that meet through a file.

int lockstep_bench_main(int argc, char **argv);

struct Process {
    int rank, ranks;
    const char *meet, *output;
};

static void run_process(void *with) {
    Process *of = (Process *)with;
    std::string rank = std::to_string(of->rank), ranks = std::to_string(of->ranks);
    std::vector<std::string> words = {"lockstep-bench", "--rendezvous", of->meet,   "--rank", rank, "--ranks", ranks,
                                      "--most-bytes",   "512",          "--budget", "60",     "-o", of->output};
    std::vector<char *> pointers;
    for (std::string &word : words) pointers.push_back(&word[0]);
    emulator.gpus = of->ranks;
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    _exit(lockstep_bench_main((int)pointers.size(), pointers.data()));
}

void check_processes() {
    for (int ranks : {2, 3, 8}) {
        std::string folder = getenv("CUDA_CHECK_FOLDER"), meet = folder + "/meet", output = folder + "/meet.json";
        int children[8];
        unlink(meet.c_str());
        for (int rank = 0; rank < ranks; rank++) {
            Process of = {rank, ranks, meet.c_str(), output.c_str()};
            children[rank] = child_of(run_process, &of);
        }
        for (int rank = 0; rank < ranks; rank++)
            check(wait_for_child(children[rank]) == 0, "rank %d of %d processes failed", rank, ranks);
        FILE *in = fopen(output.c_str(), "r");
        char line[8192];
        int measured = 0;
        while (in && fgets(line, sizeof line, in)) measured += strstr(line, "\"status\": \"measured\"") != NULL;
        if (in) fclose(in);
        check(measured >= 20, "%d processes measured only %d collectives", ranks, measured);
        check(access(meet.c_str(), F_OK) != 0, "the file to meet at was left behind");
    }
}

// ---- What it writes is what `lockstep calibrate` reads.

void check_fit() {
    EmulatorDials dials;
    Rows rows = run_bench(dials, "--quick");
    check(rows.measured >= 150 && rows.exit_code == 0, "lockstep-bench --quick measured only %d cases", rows.measured);
    const char *lockstep = getenv("LOCKSTEP");
    if (!lockstep || access(lockstep, X_OK) != 0) {
        printf("           (the fit is left out: make build/lockstep first)\n");
        return;
    }
    std::string command = std::string(lockstep) + " calibrate fit " + rows.file + " --gpu H100-SXM5 -o " + rows.file +
                          ".profile >" + rows.file + ".log 2>&1";
    int code = system(command.c_str());
    check(code == 0, "%s ended with %d", command.c_str(), code);
}
