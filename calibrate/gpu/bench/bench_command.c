// The command line of lockstep-bench, and what it writes.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/gpu/bench/bench.h"

// ---- Writes the measurements as JSON lines.

static void text(FILE *out, const char *key, const char *value) {
    fprintf(out, ", \"%s\": \"", key);
    for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at > 0x7e) // names of devices and messages are ASCII
            fprintf(out, *at < 0x20 ? "\\u%04x" : "?", *at);
        else
            fputc(*at, out);
    }
    fputc('"', out);
}

static void number(FILE *out, const char *key, double value) {
    char shortest[40];
    if (!isfinite(value)) {
        fprintf(out, ", \"%s\": null", key);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        if (strtod(shortest, NULL) == value) break;
    }
    fprintf(out, ", \"%s\": %s", key, shortest);
}

static void write_known(FILE *out, const char *key, double value) {
    if (value != 0) number(out, key, value);
}

void bench_write_header(FILE *out, const BenchMachine *machine, const BenchSettings *settings, const char *command) {
    char date[32], host[128] = "";
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    gethostname(host, sizeof host - 1);
    fprintf(out, "{\"record\": \"header\", \"format\": \"lockstep-bench\", \"format_version\": 1");
    text(out, "date", date);
    text(out, "command", command);
    text(out, "host", host);
    text(out, "gpu", machine->gpu);
    number(out, "gpu_count", machine->gpu_count);
    number(out, "capability", machine->capability);
    number(out, "multiprocessors", machine->multiprocessors);
    number(out, "memory_bytes", (double)machine->memory_bytes);
    number(out, "l2_bytes", (double)machine->l2_bytes);
    write_known(out, "max_sm_mhz", machine->max_sm_mhz);
    write_known(out, "max_memory_mhz", machine->max_memory_mhz);
    write_known(out, "power_limit_watts", machine->power_limit_watts);
    write_known(out, "pcie_generation", machine->pcie_generation);
    write_known(out, "pcie_lanes", machine->pcie_lanes);
    text(out, "driver", machine->driver);
    text(out, "runtime", machine->runtime);
    text(out, "versions", machine->versions);
    number(out, "budget_seconds", settings->budget_seconds);
    text(out, "plan", settings->quick ? "quick" : "full");
    if (machine->gpu_count < 2)
        text(out, "note", "one GPU: collectives ran among virtual ranks in its own memory; no link was measured");
    fprintf(out, "}\n");
}

static void write_times(FILE *out, const BenchCase *of, const BenchResult *result) {
    const BenchSpread *time = &result->time;
    number(out, "seconds", time->median);
    number(out, "sigma_seconds", time->sigma);
    number(out, "p10_seconds", time->low);
    number(out, "p90_seconds", time->high);
    number(out, "least_seconds", time->least);
    number(out, "samples", time->count);
    number(out, "outliers", time->outliers);
    number(out, "iterations", result->iterations);
    number(out, "sets", result->sets);
    if (of->flops > 0) number(out, "tflops", of->flops / time->median / 1e12);
    if (of->moved_bytes > 0) number(out, "gbs", of->moved_bytes / time->median / 1e9);
    number(out, "error", result->check.error);
    number(out, "tolerance", result->check.tolerance);
    write_known(out, "sm_mhz", result->sensors.sm_mhz);
    write_known(out, "memory_mhz", result->sensors.memory_mhz);
    write_known(out, "watts", result->sensors.watts);
    write_known(out, "celsius", result->sensors.celsius);
    write_known(out, "throttle", (double)result->sensors.throttle);
}

void bench_write_case(FILE *out, const BenchCase *of, const BenchResult *result) {
    static const char *const clocks[] = {"events", "issue", "wall"}, *const statuses[] = {"measured", "skipped",
                                                                                          "failed"};
    fprintf(out, "{\"record\": \"case\"");
    text(out, "section", bench_section_name(of->section));
    text(out, "operation", of->operation);
    if (of->type[0]) text(out, "type", of->type);
    if (of->variant[0]) text(out, "variant", of->variant);
    write_known(out, "batch", (double)of->batch);
    write_known(out, "m", (double)of->m);
    write_known(out, "n", (double)of->n);
    write_known(out, "k", (double)of->k);
    write_known(out, "bytes", (double)of->bytes);
    write_known(out, "ranks", of->ranks);
    write_known(out, "blocks", of->blocks);
    if (of->from != of->to) {
        number(out, "from", of->from);
        number(out, "to", of->to);
    }
    write_known(out, "flops", of->flops);
    write_known(out, "moved_bytes", of->moved_bytes);
    text(out, "clock", clocks[of->clock]);
    text(out, "status", statuses[result->status]);
    if (result->status == BENCH_DONE)
        write_times(out, of, result);
    else
        text(out, "reason", result->fault.text);
    fprintf(out, "}\n");
}

void bench_write_end(FILE *out, const BenchTally *tally, double seconds) {
    fprintf(out, "{\"record\": \"end\"");
    number(out, "measured", tally->measured);
    number(out, "skipped", tally->skipped);
    number(out, "failed", tally->failed);
    number(out, "seconds", seconds);
    fprintf(out, "}\n");
}

// ---- The benchmark's command line. Without a GPU layer it prints the plan; lockstep-bench measures.

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
