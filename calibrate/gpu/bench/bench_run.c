// Runs the plan: each section in a process of its own.
#include "calibrate/gpu/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
