// Measures one case, and writes what was measured as a JSON line.
#include "calibrate/gpu/bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- Timing of one case: correctness check, warm-up, then repeats until the time is spent.

#define MOST_SAMPLES 256
#define MOST_ITERATIONS 1024
#define SENSOR_SECONDS 0.02 // between two looks at the sensors

BenchStatus bench_fail(BenchFault *fault, const char *file, int line, const char *format, ...) {
    va_list arguments;
    int length = snprintf(fault->text, sizeof fault->text, "%s:%d: ", file, line);
    va_start(arguments, format);
    vsnprintf(fault->text + length, sizeof fault->text - (size_t)length, format, arguments);
    va_end(arguments);
    return BENCH_FAILED;
}

BenchStatus bench_skip(BenchFault *fault, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return BENCH_SKIPPED;
}

// ---- Statistics.

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *sorted, int count, double q) {
    double at = q * (count - 1);
    int below = (int)at;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

BenchSpread bench_spread(double *values, int count) {
    BenchSpread spread = {.count = count};
    if (count == 0) return spread;
    double *distance = malloc((size_t)count * sizeof *distance);
    qsort(values, (size_t)count, sizeof *values, by_size);
    spread.median = sorted_quantile(values, count, 0.5);
    spread.low = sorted_quantile(values, count, 0.1);
    spread.high = sorted_quantile(values, count, 0.9);
    spread.least = values[0];
    if (!distance) return spread;
    for (int i = 0; i < count; i++) distance[i] = fabs(values[i] - spread.median);
    qsort(distance, (size_t)count, sizeof *distance, by_size);
    spread.sigma = 1.4826 * sorted_quantile(distance, count, 0.5);
    // Times that are all but equal would make an outlier of every other one.
    double limit = 5 * fmax(spread.sigma, 0.005 * fabs(spread.median));
    for (int i = 0; i < count; i++) spread.outliers += distance[i] > limit;
    free(distance);
    return spread;
}

// ---- The timing loop.

typedef struct Loop {
    const BenchLayer *layer;
    void *device;
    const BenchCase *of;
    BenchFault *fault;
} Loop;

// Seconds of `count` iterations.
static BenchStatus time_once(const Loop *loop, int count, BenchSensors *sensors, double *seconds) {
    const BenchLayer *layer = loop->layer;
    void *device = loop->device;
    BenchFault *fault = loop->fault;
    BenchStatus status = layer->begin(device, count, fault);
    double begin = layer->host_seconds(device);
    if (!status) status = layer->record(device, 0, fault);
    if (!status) status = layer->launch(device, count, fault);
    double issued = layer->host_seconds(device);
    if (!status) status = layer->record(device, 1, fault);
    // A look at the sensors takes the host milliseconds: while the device is at work where events keep the time, and
    // afterwards where the host's clock does.
    bool by_events = loop->of->clock == BENCH_EVENTS;
    if (!status && sensors && by_events) layer->sensors(device, sensors);
    if (!status && by_events) return layer->elapsed(device, seconds, fault);
    if (!status) status = layer->wait(device, fault);
    *seconds = (loop->of->clock == BENCH_ISSUE ? issued : layer->host_seconds(device)) - begin;
    if (!status && sensors) layer->sensors(device, sensors);
    return status;
}

static BenchStatus check_once(const Loop *loop, BenchCheck *check) {
    BenchStatus status = loop->layer->begin(loop->device, 1, loop->fault);
    if (!status) status = loop->layer->launch(loop->device, 1, loop->fault);
    if (!status) status = loop->layer->wait(loop->device, loop->fault);
    if (!status) status = loop->layer->check(loop->device, check, loop->fault);
    if (!status && !(check->error <= check->tolerance))
        return bench_fail(loop->fault, __FILE__, __LINE__, "wrong result: error %.3g, at most %.3g is right",
                          check->error, check->tolerance);
    return status;
}

static int round_up(double count, int sets) {
    double most = sets > MOST_ITERATIONS ? sets : MOST_ITERATIONS;
    count = ceil(fmin(fmax(count, 1), most) / sets) * sets;
    return (int)count;
}

// Runs until warm and gives the iterations that one sample takes.
static BenchStatus warm_up(const Loop *loop, const BenchRules *rules, int sets, int *iterations) {
    double begin = loop->layer->host_seconds(loop->device), seconds = 0, spent;
    *iterations = sets;
    do {
        BenchStatus status = time_once(loop, *iterations, NULL, &seconds);
        if (status) return status;
        double each = fmax(seconds / *iterations, 1e-9);
        *iterations = round_up(rules->sample_seconds / each, sets);
        spent = loop->layer->host_seconds(loop->device) - begin;
    } while (spent < rules->warm_up_seconds);
    return BENCH_DONE;
}

typedef struct Samples {
    double seconds[MOST_SAMPLES], sm_mhz[MOST_SAMPLES], memory_mhz[MOST_SAMPLES], watts[MOST_SAMPLES],
        celsius[MOST_SAMPLES];
    int count, looks;
    uint64_t throttle;
} Samples;

static void keep_look(Samples *samples, const BenchSensors *sensors) {
    int at = samples->looks++;
    samples->sm_mhz[at] = sensors->sm_mhz;
    samples->memory_mhz[at] = sensors->memory_mhz;
    samples->watts[at] = sensors->watts;
    samples->celsius[at] = sensors->celsius;
    samples->throttle |= sensors->throttle;
}

static BenchStatus repeat(const Loop *loop, const BenchRules *rules, int iterations, Samples *samples) {
    double begin = loop->layer->host_seconds(loop->device), looked = -1, now = begin;
    int most = rules->most_samples < MOST_SAMPLES ? rules->most_samples : MOST_SAMPLES;
    while (samples->count < most && (samples->count < rules->least_samples || now - begin < rules->seconds)) {
        BenchSensors sensors = {0};
        bool looks = looked < 0 || now - looked >= SENSOR_SECONDS;
        double seconds = 0;
        BenchStatus status = time_once(loop, iterations, looks ? &sensors : NULL, &seconds);
        if (status) return status;
        if (looks) {
            looked = now;
            keep_look(samples, &sensors);
        }
        samples->seconds[samples->count++] = seconds / iterations;
        now = loop->layer->host_seconds(loop->device);
        // A case so slow that not even the fewest samples fit ends early, but never with less than three.
        if (samples->count >= 3 && now - begin > 2 * rules->seconds) break;
    }
    return BENCH_DONE;
}

static void summarise_samples(Samples *samples, BenchResult *result) {
    result->time = bench_spread(samples->seconds, samples->count);
    result->sensors = (BenchSensors){.sm_mhz = bench_spread(samples->sm_mhz, samples->looks).median,
                                     .memory_mhz = bench_spread(samples->memory_mhz, samples->looks).median,
                                     .watts = bench_spread(samples->watts, samples->looks).median,
                                     .celsius = bench_spread(samples->celsius, samples->looks).median,
                                     .throttle = samples->throttle};
}

void bench_measure(const BenchLayer *layer, void *device, const BenchCase *of, const BenchRules *rules,
                   BenchResult *result) {
    Loop loop = {layer, device, of, &result->fault};
    Samples samples = {.count = 0};
    *result = (BenchResult){.sets = 1};
    result->status = layer->prepare(device, of, &result->sets, &result->fault);
    if (!result->status) result->status = check_once(&loop, &result->check);
    if (!result->status) result->status = warm_up(&loop, rules, result->sets, &result->iterations);
    if (!result->status) result->status = repeat(&loop, rules, result->iterations, &samples);
    if (!result->status) summarise_samples(&samples, result);
    layer->finish(device);
}

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
