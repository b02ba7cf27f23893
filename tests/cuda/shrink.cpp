// The real plan made small enough for an emulated GPU: every operation, type, variant, number of ranks and of blocks
// stays; sides and messages become short ones that are as even or odd, and cases that are then alike become one. The
// linker puts these functions in place of bench_plan.c's own (--wrap), so that all of lockstep-bench runs on them.
#include "calibrate/gpu/bench/bench.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FLOPS 2e7
#define MOST_BYTES (256 << 10)
#define MOST_MOVED 60e3 // three sets of buffers, for an L2 of 48 KiB

extern "C" {
BenchPlan __real_bench_plan_open(const BenchSettings *settings, const BenchMachine *machine);
BenchPlan __wrap_bench_plan_open(const BenchSettings *settings, const BenchMachine *machine);
BenchRules __wrap_bench_rules(const BenchSettings *settings);
}

// Short, of the same remainder by 16, and of a few lengths so that no side is taken for another.
static int64_t short_side(int64_t side) { return side <= 48 ? side : 16 + side % 16 + side / 1024 % 3 * 16; }

// Of an odd number of vectors of 16 bytes where there are many, so that ranks and blocks do not divide it.
static int64_t short_message(int64_t bytes, int64_t most) {
    return bytes <= most ? bytes : most - 16 * (bytes >> 20 & 3);
}

static int64_t most_message(const BenchCase *of) {
    switch (of->section) {
    case BENCH_MEMORY:
        return 69632; // more than once through the grid of one multiprocessor
    case BENCH_VIRTUAL:
        return 24 << 10;
    case BENCH_NCCL:
        return 8 << 10;
    default:
        return 64 << 10;
    }
}

static void shrink(BenchCase *of) {
    double flops = of->flops, before = (double)(of->batch * of->m * of->n * of->k);
    of->batch = of->batch > 3 ? 3 : of->batch;
    if (of->section == BENCH_KERNELS) {
        of->m = of->m % 11 + 1; // rows of their own width: a thread holds a fixed part of a row
    } else {
        of->m = short_side(of->m), of->n = short_side(of->n), of->k = short_side(of->k);
    }
    if (before > 0) of->flops = flops / before * (double)(of->batch * of->m * of->n * of->k);
    of->bytes = short_message(of->bytes, most_message(of));
    if (of->moved_bytes > MOST_MOVED) of->moved_bytes = MOST_MOVED;
    if (of->soak_seconds > 0) of->soak_seconds = 0.01;
}

static bool is_small(const BenchCase *of) {
    return of->flops <= MOST_FLOPS && of->bytes <= MOST_BYTES && (double)of->m * (double)of->n * 4 <= MOST_BYTES;
}

static bool is_there(const BenchPlan *plan, int first, int end, const BenchCase *of) {
    char name[256], other[256];
    bench_case_name(of, name, sizeof name);
    for (int i = first; i < end; i++) {
        bench_case_name(&plan->cases[i], other, sizeof other);
        if (plan->cases[i].clock == of->clock && strcmp(name, other) == 0) return true;
    }
    return false;
}

int most_cases_of_section;

// Of a section's cases in [first, count), as many as are wanted; returns their new end.
static int thin_out(BenchPlan *plan, int first, int count) {
    int cases = count - first, most = most_cases_of_section;
    if (most == 0 || cases <= most) return count;
    for (int i = 0; i < most; i++) plan->cases[first + i] = plan->cases[first + (int)((int64_t)i * cases / most)];
    return first + most;
}

BenchPlan __wrap_bench_plan_open(const BenchSettings *settings, const BenchMachine *machine) {
    BenchPlan plan = __real_bench_plan_open(settings, machine);
    int kept = 0, end = 0;
    for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
        int first = kept, from = end;
        end = plan.first[s + 1];
        plan.first[s] = first;
        for (int i = from; i < end; i++) {
            BenchCase of = plan.cases[i];
            shrink(&of);
            if (!is_small(&of)) {
                fprintf(stderr, "tests/cuda: a case of section %s cannot be made small: say how in shrink.cpp\n",
                        bench_section_name((BenchSection)s));
                exit(3);
            }
            if (!is_there(&plan, first, kept, &of)) plan.cases[kept++] = of;
        }
        kept = thin_out(&plan, first, kept);
    }
    plan.first[BENCH_SECTION_COUNT] = plan.count = kept;
    return plan;
}

BenchRules __wrap_bench_rules(const BenchSettings *) {
    BenchRules rules = {};
    rules.seconds = 1e-6, rules.sample_seconds = 1e-6, rules.least_samples = 1, rules.most_samples = 1;
    return rules;
}
