// The benchmark's command line. Without a GPU layer it prints the plan; lockstep-bench measures.
#include "calibrate/gpu/bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 2
#define EXIT_WORLD 1
#define QUICK_SECONDS 90.0
#define FULL_SECONDS 480.0 // with nvcc's minute before it, less than ten minutes

static const char usage[] =
    "usage: lockstep-bench [--quick] [--only SECTION,…] [--budget SECONDS] [-o FILE] [--dry-run]\n"
    "\n"
    "Measures this machine's GPUs: JSON lines on standard output or in FILE, progress on standard error.\n"
    "\n"
    "  --quick           a smaller plan: 90 s instead of 480 s\n"
    "  --only SECTION,…  these sections only\n"
    "  --budget SECONDS  for everything; what does not fit is left out and said so, and 20 s later all is ended\n"
    "  -o, --output FILE where the measurements go (default: standard output)\n"
    "  --dry-run         print the plan and its duration, and touch no GPU\n"
    "\nSections:\n";

typedef struct Asked {
    BenchSettings settings;
    const char *output;
    bool dry_run, help;
} Asked;

static void print_usage(FILE *out) {
    fputs(usage, out);
    for (int s = 0; s < BENCH_SECTION_COUNT; s++)
        fprintf(out, "  %-13s %s\n", bench_section_name((BenchSection)s), bench_section_help((BenchSection)s));
}

static bool read_only(const char *only) {
    for (const char *at = only;; at++) {
        size_t length = strcspn(at, ",");
        bool known = false;
        for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
            const char *name = bench_section_name((BenchSection)s);
            known |= strlen(name) == length && strncmp(name, at, length) == 0;
        }
        if (!known) {
            fprintf(stderr, "error: no section is called \"%.*s\"\n  hint: lockstep-bench --help lists them\n",
                    (int)length, at);
            return false;
        }
        at += length;
        if (!*at) return true;
    }
}

static bool read_budget(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && !*end && *seconds >= 1 && *seconds <= 86400) return true;
    fprintf(stderr, "error: --budget is \"%s\", expected seconds from 1 to 86400\n", text);
    return false;
}

static bool read_arguments(int argc, char **argv, Asked *asked) {
    *asked = (Asked){.help = false};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool takes_value = strcmp(word, "--only") == 0 || strcmp(word, "--budget") == 0 || strcmp(word, "-o") == 0 ||
                           strcmp(word, "--output") == 0;
        if (takes_value && !value) {
            fprintf(stderr, "error: %s needs a value\n", word);
            return false;
        }
        i += takes_value;
        if (strcmp(word, "--quick") == 0) {
            asked->settings.quick = true;
        } else if (strcmp(word, "--dry-run") == 0) {
            asked->dry_run = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            asked->help = true;
        } else if (strcmp(word, "--only") == 0) {
            asked->settings.only = value;
            if (!read_only(value)) return false;
        } else if (strcmp(word, "--budget") == 0) {
            if (!read_budget(value, &asked->settings.budget_seconds)) return false;
        } else if (takes_value) {
            asked->output = value;
        } else {
            fprintf(stderr, "error: no option is called \"%s\"\n  hint: lockstep-bench --help lists them\n", word);
            return false;
        }
    }
    if (asked->settings.budget_seconds == 0)
        asked->settings.budget_seconds = asked->settings.quick ? QUICK_SECONDS : FULL_SECONDS;
    return true;
}

static int dry_run(const Asked *asked) {
    BenchMachine machine = bench_supposed_machine();
    BenchPlan plan = bench_plan_open(&asked->settings, &machine);
    printf("plan for %s; nothing is measured\n", machine.gpu);
    bench_print_plan(&asked->settings, &plan, stdout);
    bench_plan_close(&plan);
    return 0;
}

static void join_words(int argc, char **argv, char *text, size_t text_bytes) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < argc && length < text_bytes; i++)
        length += (size_t)snprintf(text + length, text_bytes - length, "%s%s", i ? " " : "", argv[i]);
}

static int measure(const BenchLayer *layer, void *device, const Asked *asked, int argc, char **argv) {
    BenchMachine machine;
    BenchFault fault = {""};
    char command[512];
    if (bench_probe(layer, device, &asked->settings, &machine, &fault)) {
        fprintf(stderr, "error: no GPU to measure: %s\n  hint: --dry-run prints the plan without one\n", fault.text);
        return EXIT_WORLD;
    }
    FILE *out = asked->output ? fopen(asked->output, "w") : stdout;
    if (!out) {
        fprintf(stderr, "error: %s: %s\n", asked->output, strerror(errno));
        return EXIT_WORLD;
    }
    join_words(argc, argv, command, sizeof command);
    BenchPlan plan = bench_plan_open(&asked->settings, &machine);
    bench_write_header(out, &machine, &asked->settings, command);
    fprintf(stderr, "%s, driver %s: %d cases in at most %.0f s\n", machine.gpu, machine.driver, plan.count,
            asked->settings.budget_seconds);
    BenchTally tally = bench_run(layer, device, &asked->settings, &plan, out, stderr);
    bench_plan_close(&plan);
    bool is_written = fflush(out) == 0 && !ferror(out);
    if (asked->output) is_written = fclose(out) == 0 && is_written;
    fprintf(stderr, "%d measured, %d skipped, %d failed\n", tally.measured, tally.skipped, tally.failed);
    if (!is_written) fprintf(stderr, "error: the measurements could not be written\n");
    return is_written && tally.measured > 0 && tally.failed == 0 ? 0 : EXIT_WORLD;
}

// ---- Finds and executes lockstep-bench, a separate program, since lockstep itself contains no CUDA. Both link this
// file, which depends on nothing of sim.

#define BENCH "lockstep-bench"

static const char *const places[] = {BENCH, "cuda/" BENCH}; // relative to this program: as installed, as built

// The folder of the running program, with its last slash; empty if unknown.
static void own_folder(char *folder, size_t bytes) {
    ssize_t length = readlink("/proc/self/exe", folder, bytes - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = '\0';
}

// Replaces this process by lockstep-bench with these arguments: the one in this program's folder, in its cuda/, or on
// the PATH. Returns an exit code only if none was found, with an error message.
static int bench_elsewhere(char **argv) {
    char folder[PATH_MAX], path[PATH_MAX + sizeof "cuda/" BENCH];
    own_folder(folder, sizeof folder);
    fflush(NULL);
    for (size_t i = 0; i < sizeof places / sizeof *places && folder[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, X_OK) != 0) continue;
        execv(path, argv);
        fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
        return EXIT_WORLD;
    }
    execvp(BENCH, argv);
    if (errno != ENOENT)
        fprintf(stderr, "error: " BENCH ": %s\n", strerror(errno));
    else
        fprintf(stderr, "error: " BENCH ", which measures, is neither beside this program nor on the PATH\n"
                        "  hint: make cuda builds it where nvcc is found; --dry-run prints the plan here\n");
    return EXIT_WORLD;
}

// ---- The command.

int bench_command(const BenchLayer *layer, void *device, int argc, char **argv) {
    Asked asked;
    if (!read_arguments(argc, argv, &asked)) return EXIT_USAGE;
    if (asked.help) {
        print_usage(stdout);
        return 0;
    }
    if (asked.dry_run) return dry_run(&asked);
    return layer ? measure(layer, device, &asked, argc, argv) : bench_elsewhere(argv);
}
