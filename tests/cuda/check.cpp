// make cuda-check: lockstep-bench with every kernel and its whole device layer, on an emulated GPU. What it shows:
// results, protocols and what becomes of errors. What it cannot show: any time.
#include "check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 120

int lockstep_bench_main(int argc, char **argv);

static int passed, failed;

void check(bool holds, const char *what, ...) {
    va_list arguments;
    (holds ? passed : failed)++;
    if (holds) return;
    fputs("FAILED ", stdout);
    va_start(arguments, what);
    vprintf(what, arguments);
    va_end(arguments);
    puts("");
    fflush(stdout);
}

// ---- Processes: a device that is lost is lost to its process only.

int child_of(void (*what)(void *), void *with) {
    fflush(stdout);
    int child = fork();
    if (child != 0) return child;
    alarm(CHILD_SECONDS);
    what(with);
    _exit(0);
}

int wait_for_child(int pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct BenchRun {
    EmulatorDials dials;
    std::vector<std::string> words;
};

static void bench_in_child(void *with) {
    BenchRun *run = (BenchRun *)with;
    std::vector<char *> words;
    for (std::string &word : run->words) words.push_back(&word[0]);
    words.push_back(NULL);
    emulator = run->dials;
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    _exit(lockstep_bench_main((int)words.size() - 1, words.data()));
}

static std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> words;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find(' ', at);
        if (end == std::string::npos) end = text.size();
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

void read_rows(const std::string &file, Rows *rows) {
    static char line[8192];
    FILE *in = fopen(file.c_str(), "r");
    while (in && fgets(line, sizeof line, in)) {
        if (!strstr(line, "\"record\": \"case\"")) continue;
        rows->measured += strstr(line, "\"status\": \"measured\"") != NULL;
        rows->skipped += strstr(line, "\"status\": \"skipped\"") != NULL;
        rows->failed += strstr(line, "\"status\": \"failed\"") != NULL;
        if (strstr(line, "\"reason\"")) rows->reasons.push_back(strstr(line, "\"section\""));
    }
    if (in) fclose(in);
}

Rows run_bench(const EmulatorDials &dials, const std::string &arguments) {
    Rows rows;
    static int number;
    rows.file = std::string(getenv("CUDA_CHECK_FOLDER")) + "/rows-" + std::to_string(number++) + ".json";
    BenchRun run = {dials, split("lockstep-bench --budget 1000 -o " + rows.file + " " + arguments)};
    rows.exit_code = wait_for_child(child_of(bench_in_child, &run));
    read_rows(rows.file, &rows);
    return rows;
}

// ---- Single cases.

Outcome run_here(Device *device, const BenchCase &of, int launches) {
    Outcome outcome = {};
    BenchFault fault = {""};
    BenchCheck found = {0, 0};
    int sets = 1;
    BenchStatus status = cuda_layer.prepare(device, &of, &sets, &fault);
    if (!status) status = cuda_layer.begin(device, launches, &fault);
    if (!status) status = cuda_layer.launch(device, launches, &fault);
    if (!status) status = cuda_layer.wait(device, &fault);
    if (!status) status = cuda_layer.check(device, &found, &fault);
    if (!status && !(found.error <= found.tolerance))
        status = bench_fail(&fault, __FILE__, __LINE__, "wrong result: error %.3g, at most %.3g is right", found.error,
                            found.tolerance);
    cuda_layer.finish(device);
    outcome.status = status;
    memcpy(outcome.text, fault.text, sizeof outcome.text);
    return outcome;
}

struct CaseRun {
    EmulatorDials dials;
    BenchCase of;
    int launches;
    Outcome *outcome; // shared with the child
};

static void case_in_child(void *with) {
    CaseRun *run = (CaseRun *)with;
    static Device device;
    BenchMachine machine;
    BenchFault fault = {""};
    emulator = run->dials;
    if (cuda_layer.open(&device, &machine, &fault)) {
        run->outcome->status = BENCH_FAILED;
        memcpy(run->outcome->text, fault.text, sizeof fault.text);
        return;
    }
    *run->outcome = run_here(&device, run->of, run->launches);
}

Outcome run_case(const EmulatorDials &dials, const BenchCase &of, int launches) {
    static Outcome *shared =
        (Outcome *)mmap(NULL, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CaseRun run = {dials, of, launches, shared};
    *shared = {BENCH_FAILED, "its process ended early"};
    wait_for_child(child_of(case_in_child, &run));
    return *shared;
}

// ---- All of them.

static const struct {
    const char *name;
    void (*run)();
} checks[] = {{"floats", check_small_floats},
              {"kernels", check_wrong_kernels},
              {"plans", check_plans},
              {"edges", check_edges},
              {"schedules", check_schedules},
              {"processes", check_processes},
              {"fit", check_fit},
              {"mutants", check_mutants},
              {"lost", check_lost_work},
              {"calls", check_failing_calls}};

// check NAME…: some of them. check bench …: lockstep-bench itself, with EMULATED_GPUS, EMULATED_SMS and EMULATED_SEED
// from the environment. mutants N …: lockstep-bench with mistake N of mutants.sed.
int main(int argc, char **argv) {
    if (argc > 1 && (strcmp(argv[1], "bench") == 0 || atoi(argv[1]) > 0)) {
        emulator.mutant = atoi(argv[1]);
        if (getenv("EMULATED_GPUS")) emulator.gpus = atoi(getenv("EMULATED_GPUS"));
        if (getenv("EMULATED_SEED")) emulator.seed = strtoull(getenv("EMULATED_SEED"), NULL, 10);
        if (getenv("EMULATED_CASES")) most_cases_of_section = atoi(getenv("EMULATED_CASES"));
        if (getenv("EMULATED_SMS")) emulator.multiprocessors = atoi(getenv("EMULATED_SMS"));
        return lockstep_bench_main(argc - 1, argv + 1);
    }
    for (auto &row : checks) {
        bool is_wanted = argc == 1;
        for (int i = 1; i < argc; i++) is_wanted |= strcmp(argv[i], row.name) == 0;
        if (!is_wanted) continue;
        int before = passed + failed;
        double begin = cuda_layer.host_seconds(NULL);
        row.run();
        printf("%-10s %5d checks %6.1f s\n", row.name, passed + failed - before, cuda_layer.host_seconds(NULL) - begin);
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
