// Runs the plan case by case, and times each.
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/gpu/bench/bench.h"

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

// ---- Runs the plan. A section runs in its own process, which sends its lines through a pipe: "#N" before case N, then
// the row. So a crash, a lost CUDA context or a hanging kernel costs only the case it happened in: the process is
// ended and another continues after that case.

#define MOST_RESTARTS 5
#define GRACE_SECONDS 20.0 // beyond its budget, before a section's process is ended: start, one slow case, end
#define LEAST_SECONDS 1.0  // with less left no process is begun: it takes that long to start
#define REAP_SECONDS 5.0   // for a process that was ended to be gone: one that a driver holds may never be
#define PROBE_SECONDS 60.0 // for a first look at the GPU: a driver that does not answer by then will not
#define EXIT_LOST 9        // of a section's process that cannot use the device any more, and wrote that case's row

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// ---- The child.

static void skip_case(FILE *out, const BenchCase *of, const char *why) {
    BenchResult result = {.status = BENCH_SKIPPED};
    snprintf(result.fault.text, sizeof result.fault.text, "%s", why);
    bench_write_case(out, of, &result);
}

static void fail_case(FILE *out, const BenchCase *of, const char *why) {
    BenchResult result = {.status = BENCH_FAILED};
    snprintf(result.fault.text, sizeof result.fault.text, "%s", why);
    bench_write_case(out, of, &result);
}

// The repeats of a case get a share of the remaining time, so that one slow case does not use it all.
static BenchRules rules_for(const BenchRules *rules, const BenchCase *of, double left, int cases_left) {
    BenchRules own = *rules;
    own.seconds = fmin(rules->seconds, 2 * left / cases_left);
    own.warm_up_seconds = fmax(rules->warm_up_seconds, of->soak_seconds);
    return own;
}

static int run_cases(const BenchLayer *layer, void *device, const BenchSettings *settings, const BenchPlan *plan,
                     int first, int end, double seconds, FILE *out) {
    BenchMachine machine;
    BenchResult result = {.status = BENCH_DONE};
    BenchRules rules = bench_rules(settings);
    double begin = now();
    result.status = layer->open(device, &machine, &result.fault);
    for (int i = first; i < end; i++) {
        const BenchCase *of = &plan->cases[i];
        double left = seconds - (now() - begin);
        fprintf(out, "#%d\n", i);
        fflush(out);
        if (result.status && i == first) {
            bench_write_case(out, of, &result); // opening failed, and so does all that needs it
            continue;
        }
        if (result.status) {
            skip_case(out, of, result.fault.text);
        } else if (left <= 0) {
            skip_case(out, of, "the section's time was spent");
        } else if (left < of->soak_seconds) { // half a soak would show no throttling
            skip_case(out, of, "the section's time is too short for its soak");
        } else {
            BenchResult own;
            BenchRules own_rules = rules_for(&rules, of, left, end - i);
            bench_measure(layer, device, of, &own_rules, &own);
            bench_write_case(out, of, &own);
            if (fflush(out) != 0) return 1;
            if (own.status == BENCH_FAILED && layer->is_lost(device)) return EXIT_LOST;
        }
        if (fflush(out) != 0) return 1;
    }
    if (!result.status) layer->close(device);
    return 0;
}

// ---- The parent.

typedef struct Run {
    const BenchLayer *layer;
    void *device;
    const BenchSettings *settings;
    const BenchPlan *plan;
    FILE *out, *progress;
    bool on_terminal;
    double begin, end; // of everything: whatever happens, nothing is waited for beyond the end
    BenchTally tally;
    int at;      // the last case begun by its process, -1 before the first
    int written; // rows of the plan written, the index of the next
} Run;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal) { interrupted = signal; }

static double expected_after(const Run *run, int at) {
    double seconds = 0;
    for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
        int first = run->plan->first[s], end = run->plan->first[s + 1];
        if (end <= at || end == first) continue;
        double whole = bench_section_expected(run->settings, run->plan, (BenchSection)s);
        seconds += first >= at ? whole : whole * (end - at) / (end - first);
    }
    return seconds;
}

static void show_progress(const Run *run, int at) {
    char name[128];
    if (!run->progress || at < 0 || at >= run->plan->count) return;
    const BenchCase *of = &run->plan->cases[at];
    int first = run->plan->first[of->section], end = run->plan->first[of->section + 1];
    if (!run->on_terminal && at != first) return;
    bench_case_name(of, name, sizeof name);
    fprintf(run->progress, "%s%s %d of %d, %.0f s done, about %.0f s to go: %.60s%s",
            run->on_terminal ? "\r\033[K" : "", bench_section_name(of->section), at - first + 1, end - first,
            now() - run->begin, expected_after(run, at), name, run->on_terminal ? "" : "\n");
    fflush(run->progress);
}

static void count_row(Run *run, const char *line) {
    run->tally.measured += strstr(line, "\"status\": \"measured\"") != NULL;
    run->tally.skipped += strstr(line, "\"status\": \"skipped\"") != NULL;
    run->tally.failed += strstr(line, "\"status\": \"failed\"") != NULL;
}

static void take_line(Run *run, const char *line) {
    if (line[0] == '#') {
        run->at = atoi(line + 1);
        show_progress(run, run->at);
    } else if (line[0] == '{') {
        fprintf(run->out, "%s\n", line);
        fflush(run->out);
        count_row(run, line);
        run->written = run->at + 1;
    }
}

// A row that the child did not live to write.
static void write_for_child(Run *run, int at, const char *why, bool failed) {
    (failed ? fail_case : skip_case)(run->out, &run->plan->cases[at], why);
    if (failed)
        run->tally.failed++;
    else
        run->tally.skipped++;
    run->written = at + 1;
}

// Takes lines until the child closes the pipe; false when the deadline has passed before, or nothing was heard for so
// long that the case at hand will never end.
static bool take_lines(Run *run, int end_of_pipe, double deadline, double most_silence) {
    static char line[8192];
    size_t length = 0;
    char chunk[4096];
    double heard = now();
    for (;;) {
        double left = fmin(deadline, heard + most_silence) - now();
        if (left <= 0 || interrupted) return false;
        struct pollfd ready = {.fd = end_of_pipe, .events = POLLIN};
        int got = poll(&ready, 1, left < 1 ? (int)(left * 1000) + 1 : 1000);
        if (got < 0 && errno != EINTR) return false;
        if (got <= 0) continue;
        ssize_t bytes = read(end_of_pipe, chunk, sizeof chunk);
        if (bytes <= 0) return true;
        heard = now();
        for (ssize_t i = 0; i < bytes; i++) {
            if (chunk[i] == '\n') {
                line[length] = '\0';
                take_line(run, line);
                length = 0;
            } else if (length + 1 < sizeof line) {
                line[length++] = chunk[i];
            }
        }
    }
}

static const char *how_it_ended(int status, bool in_time, char *text, size_t text_bytes) {
    if (!in_time)
        snprintf(text, text_bytes, "%s",
                 interrupted ? "interrupted" : "it did not end in time, and its process was ended");
    else if (WIFSIGNALED(status))
        snprintf(text, text_bytes, "its process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, text_bytes, "its process ended early with exit code %d", WEXITSTATUS(status));
    return text;
}

static double grace_of(const BenchSettings *settings) {
    return settings->grace_seconds > 0 ? settings->grace_seconds : GRACE_SECONDS;
}

// The child has closed its pipe or was killed, so it is gone at once or never.
static void reap(pid_t child, int *status) {
    for (double begin = now(); now() - begin < REAP_SECONDS; usleep(2000)) {
        pid_t gone = waitpid(child, status, WNOHANG);
        if (gone == child || (gone < 0 && errno != EINTR)) return;
    }
    kill(child, SIGKILL);
}

// Runs cases [first, end) in a process; afterwards run->written is the number of rows written. Returns whether the
// next case is to blame for the process's end: not if the previous one lost the device.
static bool run_in_process(Run *run, int first, int end, double seconds, char *why, size_t why_bytes) {
    int ends[2], status = 0;
    run->at = -1;
    run->written = first;
    fflush(run->out);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) {
        snprintf(why, why_bytes, "no process could be started: %s", strerror(errno));
        return true;
    }
    if (child == 0) {
        close(ends[0]);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        FILE *out = fdopen(ends[1], "w");
        int code = out ? run_cases(run->layer, run->device, run->settings, run->plan, first, end, seconds, out) : 1;
        if (out) fclose(out);
        _exit(code);
    }
    close(ends[1]);
    double grace = grace_of(run->settings);
    bool in_time = take_lines(run, ends[0], fmin(now() + seconds + grace, run->end), 1.5 * grace);
    if (!in_time) kill(child, SIGKILL);
    close(ends[0]);
    reap(child, &status);
    how_it_ended(status, in_time, why, why_bytes);
    return !(in_time && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LOST && run->written > first);
}

static void run_section(Run *run, BenchSection section, double seconds) {
    int next = run->plan->first[section], end = run->plan->first[section + 1];
    double begin = now();
    char why[256];
    int tries = 0;
    for (; next < end && !interrupted; tries++) {
        double left = seconds - (now() - begin);
        if (tries > MOST_RESTARTS || left < fmin(LEAST_SECONDS, 0.1 * run->settings->budget_seconds)) break;
        bool is_at_fault = run_in_process(run, next, end, left, why, sizeof why);
        next = run->written;
        if (next < end && is_at_fault) write_for_child(run, next++, why, true);
    }
    const char *spent = tries > MOST_RESTARTS ? "its section was given up after failures" : "the time was spent";
    for (; next < end; next++) write_for_child(run, next, interrupted ? "interrupted" : spent, false);
}

BenchTally bench_run(const BenchLayer *layer, void *device, const BenchSettings *settings, const BenchPlan *plan,
                     FILE *out, FILE *progress) {
    Run run = {.layer = layer,
               .device = device,
               .settings = settings,
               .plan = plan,
               .out = out,
               .progress = progress,
               .on_terminal = progress && isatty(fileno(progress)),
               .begin = now()};
    run.end = run.begin + settings->budget_seconds + grace_of(settings);
    struct sigaction stop = {.sa_handler = on_interrupt}, on_int, on_term;
    interrupted = 0;
    sigaction(SIGINT, &stop, &on_int);
    sigaction(SIGTERM, &stop, &on_term);
    for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
        if (plan->first[s] == plan->first[s + 1]) continue;
        // Unused time of earlier sections is not redistributed; overruns reduce the later ones.
        double left = settings->budget_seconds - (now() - run.begin);
        double budget = fmin(bench_section_budget(settings, plan, (BenchSection)s), left);
        run_section(&run, (BenchSection)s, fmax(budget, 0));
    }
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGTERM, &on_term, NULL);
    if (run.on_terminal) fprintf(progress, "\r\033[K");
    bench_write_end(out, &run.tally, now() - run.begin);
    fflush(out);
    return run.tally;
}

// ---- Probing.

typedef struct Probe {
    BenchStatus status;
    BenchMachine machine;
    BenchFault fault;
} Probe;

// As much of the probe as comes before the child ends or the time is up.
static size_t read_probe(int end_of_pipe, double most_seconds, Probe *probe) {
    size_t length = 0;
    for (double begin = now(), left; (left = most_seconds - (now() - begin)) > 0 && length < sizeof *probe;) {
        struct pollfd ready = {.fd = end_of_pipe, .events = POLLIN};
        if (poll(&ready, 1, (int)(1000 * left) + 1) <= 0) continue;
        ssize_t got = read(end_of_pipe, (char *)probe + length, sizeof *probe - length);
        if (got <= 0) break;
        length += (size_t)got;
    }
    return length;
}

BenchStatus bench_probe(const BenchLayer *layer, void *device, const BenchSettings *settings, BenchMachine *machine,
                        BenchFault *fault) {
    Probe probe;
    int ends[2], status = 0;
    double most = settings->grace_seconds > 0 ? settings->grace_seconds : PROBE_SECONDS, begin = now();
    memset(&probe, 0, sizeof probe);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) return bench_fail(fault, __FILE__, __LINE__, "no process could be started: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        probe.status = layer->open(device, &probe.machine, &probe.fault);
        ssize_t written = write(ends[1], &probe, sizeof probe);
        _exit(written != sizeof probe);
    }
    close(ends[1]);
    size_t length = read_probe(ends[0], most, &probe);
    bool in_time = length == sizeof probe || now() - begin < most;
    if (!in_time) kill(child, SIGKILL);
    close(ends[0]);
    reap(child, &status);
    if (!in_time) return bench_fail(fault, __FILE__, __LINE__, "the driver did not answer within %.0f s", most);
    if (length < sizeof probe)
        return bench_fail(fault, __FILE__, __LINE__, "the process that looked at the GPU ended early");
    *machine = probe.machine;
    *fault = probe.fault;
    return probe.status;
}
