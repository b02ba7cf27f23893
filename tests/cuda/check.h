// What the checks of tests/cuda share: lockstep-bench in a process of its own with dials of its own, single cases, and
// counting.
#pragma once

#include <string>
#include <vector>

#include "calibrate/gpu/bench/cuda_layer.h"
#include "tests/cuda/emulator.h"

// Counts as passed or failed; says `what` when it failed.
void check(bool holds, const char *what, ...) __attribute__((format(printf, 2, 3)));

struct Rows {
    int measured = 0, skipped = 0, failed = 0, exit_code = 0;
    std::vector<std::string> reasons; // of rows that were not measured
    std::string file;                 // with the rows
};
// Runs lockstep-bench with the arguments (words with spaces between).
Rows run_bench(const EmulatorDials &dials, const std::string &arguments);

extern int most_cases_of_section; // of the plan, evenly over it; 0: all

struct Outcome {
    BenchStatus status;
    char text[512];
};
void read_rows(const std::string &file, Rows *rows);
// One case through the device layer, in a process of its own; `launches` of it before its result is looked at.
Outcome run_case(const EmulatorDials &dials, const BenchCase &of, int launches);
Outcome run_here(Device *device, const BenchCase &of, int launches);
int wait_for_child(int pid);
int child_of(void (*what)(void *), void *with);

// ---- The checks.
void check_small_floats();
void check_wrong_kernels();
void check_plans();
void check_edges();
void check_schedules();
void check_processes();
void check_fit();
void check_mutants();
void check_lost_work();
void check_failing_calls();
