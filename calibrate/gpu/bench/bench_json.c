// Writes the measurements as JSON lines.
#include "calibrate/gpu/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
