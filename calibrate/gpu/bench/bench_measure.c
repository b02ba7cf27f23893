// Timing of one case: correctness check, warm-up, then repeats until the time is spent.
#include "calibrate/gpu/bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
