// The process has one watch: it counts this process's work, and signals end that work.
#include "sim/system/watch.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

#define USUAL_PIECE_SECONDS 60
#define MOST_MEMORY 17179869184.0
#define MOST_SECONDS 1e9
#define EXIT_INTERRUPTED 130
#define EXIT_BAD_INPUT 4

WatchShow *watch_screen;

static const struct {
    const char *name;
    double seconds; // that one takes on a usual core, about
} units[WATCH_UNIT_COUNT] = {
    [WATCH_NO_LIMIT] = {"", 0}, [WATCH_EVENT] = {"events", 3e-7}, [WATCH_OPERATION] = {"operations", 4e-8}};

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct {
    bool open, quiet;
    WatchLimits limits;
    WatchPiece *piece;           // the innermost
    WatchStop stopped, wound_up; // wound_up: the state before watch_wind_up
    const char *stopped_what;
    WatchUnit stopped_unit;
    double stopped_share;
    double elsewhere_s; // processor time of other processes that work for this one
    struct sigaction before[SIGNALS];
    bool catches[SIGNALS];
} watch;

static volatile sig_atomic_t signal_came;

// ---- Signals: caught while there is a piece, unless they are ignored. A second one has its previous effect.

static void on_signal(int number) {
    signal_came = number;
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i] == number) sigaction(number, &watch.before[i], NULL);
}

static void catch_signals(void) {
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(signals[i], NULL, &watch.before[i]);
        watch.catches[i] = watch.before[i].sa_handler != SIG_IGN;
        if (watch.catches[i]) sigaction(signals[i], &action, NULL);
    }
}

static void release_signals(void) {
    for (int i = 0; i < SIGNALS; i++)
        if (watch.catches[i]) sigaction(signals[i], &watch.before[i], NULL);
}

// ---- Open and close.

void watch_open(const WatchLimits *limits) {
    CHECK(!watch.piece);
    watch.open = true;
    watch.quiet = false;
    watch.elsewhere_s = 0;
    watch.limits = *limits;
    watch.stopped = watch.wound_up = WATCH_GOES_ON;
    signal_came = 0;
}

// ---- The clock before the first piece.

static struct {
    bool is_permitted, is_made;
    timer_t timer;
    double seconds;
    char said[2][512]; // the handler may come while the other one is written
    volatile sig_atomic_t newest;
} alarm_clock;

static void on_time_over(int number) {
    (void)number;
    const char *said = alarm_clock.said[alarm_clock.newest];
    temporaries_remove();
    (void)!write(STDERR_FILENO, said, strlen(said));
    _exit(EXIT_BAD_INPUT);
}

static void set_clock(double seconds) {
    struct itimerspec over = {.it_value = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * fmod(seconds, 1))}};
    if (seconds > 0 && over.it_value.tv_sec == 0 && over.it_value.tv_nsec == 0) over.it_value.tv_nsec = 1;
    timer_settime(alarm_clock.timer, TIMER_ABSTIME, &over, NULL);
}

static void stop_clock(void) {
    if (alarm_clock.is_made) set_clock(0);
}

void watch_permit_clock(void) { alarm_clock.is_permitted = true; }

void watch_start_clock(const Options *options) {
    bool has_limit = option_known(options, "time-limit");
    double seconds = has_limit ? option_quantity(options, "time-limit", WATCH_USUAL_SECONDS) : 0;
    if (!alarm_clock.is_permitted || !(seconds > 0 && seconds < MOST_SECONDS)) return;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
    if (!alarm_clock.is_made && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &alarm_clock.timer) != 0) return;
    alarm_clock.is_made = true;
    alarm_clock.seconds = seconds;
    watch_reads(NULL);
    sigaction(SIGVTALRM, &(struct sigaction){.sa_handler = on_time_over}, NULL);
    set_clock(seconds);
}

void watch_reads(const char *path) {
    if (!alarm_clock.is_made) return;
    char name[256] = "";
    int next = 1 - alarm_clock.newest;
    if (path) snprintf(name, sizeof name, "%s", path);
    snprintf(alarm_clock.said[next], sizeof alarm_clock.said[next],
             "%s%serror: more than %g s of processor time: stopped with about 0 %% of the work done%s\n"
             "  hint: %s, or raise --time-limit\n",
             letters_make_harmless(name, ""), path ? ": " : "", alarm_clock.seconds,
             path ? ", while files were read" : "", path ? "give smaller files" : "ask for less");
    alarm_clock.newest = next;
}

void watch_quiet(void) { watch.quiet = true; }

static ArenaLimit memory_before; // what --simulation-memory took the place of; {0}: it was not given

void watch_close(void) {
    CHECK(!watch.piece);
    stop_clock();
    watch.open = false;
    if (memory_before.bytes) arenas_limit(memory_before);
    memory_before = (ArenaLimit){0};
}

bool watch_is_open(void) { return watch.open; }

// ---- Pieces.

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double watch_cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double watch_clock_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

void watch_spent_elsewhere(double seconds) { watch.elsewhere_s += seconds; }

// What lies within a piece is a part of the next thing that the piece counts.
static double share_done(const WatchPiece *piece) {
    double within = 0;
    for (; piece; piece = piece->outer) {
        double done = piece->done + within;
        within = piece->expected > 0 ? done / piece->expected : 0;
        if (within > 1) within = 1;
    }
    return within;
}

static const WatchPiece *outermost(void) {
    const WatchPiece *piece = watch.piece;
    while (piece && piece->outer) piece = piece->outer;
    return piece;
}

static void show(double share) {
    if (watch_screen && !watch.quiet) watch_screen(outermost()->what, share);
}

// A stop by the limit of events is over, unless it belongs to the piece about to begin.
static void forget_events(void) {
    if (watch.stopped == WATCH_EVENTS && !(watch.piece && watch.piece->unit != WATCH_NO_LIMIT))
        watch.stopped = WATCH_GOES_ON;
}

void watch_begin(WatchPiece *piece, const char *what, double expected, WatchUnit unit) {
    if (!watch.open) return;
    *piece = (WatchPiece){.what = what, .expected = expected, .unit = unit, .outer = watch.piece};
    stop_clock();
    if (!watch.piece) catch_signals();
    forget_events();
    watch.piece = piece;
}

static bool stop(WatchStop why) {
    const WatchPiece *piece = why == WATCH_EVENTS ? watch.piece : outermost();
    watch.stopped = why;
    watch.stopped_what = piece->what;
    watch.stopped_unit = piece->unit;
    watch.stopped_share = why == WATCH_EVENTS ? piece->done / piece->expected : share_done(watch.piece);
    return false;
}

// That one piece may count.
static double most_of(WatchUnit unit) {
    if (watch.limits.events > 0) return watch.limits.events;
    return watch.limits.piece_seconds > 0 ? floor(watch.limits.piece_seconds / units[unit].seconds) : INFINITY;
}

bool watch_goes_on(double done) {
    WatchPiece *piece = watch.piece;
    if (!piece) return true;
    piece->done += done;
    if (watch.stopped == WATCH_EVENTS && piece->unit == WATCH_NO_LIMIT) return true;
    if (watch.stopped) return false;
    if (signal_came) return stop(WATCH_SIGNAL);
    if (piece->unit != WATCH_NO_LIMIT && piece->done > most_of(piece->unit)) return stop(WATCH_EVENTS);
    if (watch.limits.cpu_seconds > 0 && watch_cpu_seconds() + watch.elsewhere_s > watch.limits.cpu_seconds)
        return stop(WATCH_SECONDS);
    show(share_done(piece));
    return true;
}

double watch_operations_as_events(double operations) {
    return operations * units[WATCH_OPERATION].seconds / units[WATCH_EVENT].seconds;
}

void watch_spares(double events) {
    if (watch.piece) watch.piece->expected -= events;
}

void watch_end(WatchPiece *piece) {
    if (!watch.open) return;
    CHECK(watch.piece == piece);
    if (!piece->outer) {
        show(-1);
        release_signals();
    }
    watch.piece = piece->outer;
}

// ---- What came of it.

WatchStop watch_stopped(void) { return watch.open ? watch.stopped : WATCH_GOES_ON; }

bool watch_is_over(void) { return watch_stopped() == WATCH_SECONDS || watch_stopped() == WATCH_SIGNAL; }

int watch_status(int status) {
    bool signalled = watch.open && (watch.stopped == WATCH_SIGNAL || watch.wound_up == WATCH_SIGNAL);
    return signalled ? EXIT_INTERRUPTED : status;
}

void watch_wind_up(void) {
    CHECK(!watch.piece);
    watch.wound_up = watch.stopped;
    watch.stopped = WATCH_GOES_ON;
    watch.limits = (WatchLimits){0};
    signal_came = 0;
}

static const char *bytes_text(char text[32], double bytes) {
    quantity_format(bytes, QUANTITY_BYTES, text, 32);
    return text;
}

static int percent_done(void) {
    int percent = (int)(100 * watch.stopped_share);
    return percent > 99 ? 99 : percent;
}

bool watch_tells_part(Where where, Problems *problems) {
    if (watch_stopped() != WATCH_SIGNAL) return false;
    problem_add(problems, where, "interrupted with about %d %% of %s done; the answer is of that part", percent_done(),
                watch.stopped_what);
    return true;
}

bool watch_tells(Where where, Problems *problems) {
    int percent = percent_done();
    switch (watch_stopped()) {
    case WATCH_EVENTS:
        problem_add(problems, where, "more than %.4g %s: stopped with about %d %% of %s done",
                    most_of(watch.stopped_unit), units[watch.stopped_unit].name, percent, watch.stopped_what);
        problem_hint(problems, "ask for less, or raise --event-limit");
        return true;
    case WATCH_SECONDS:
        problem_add(problems, where, "more than %g s of processor time: stopped with about %d %% of %s done",
                    watch.limits.cpu_seconds, percent, watch.stopped_what);
        problem_hint(problems, "ask for less, or raise --time-limit");
        return true;
    case WATCH_SIGNAL:
        problem_add(problems, where, "interrupted with about %d %% of %s done; nothing was written", percent,
                    watch.stopped_what);
        return true;
    case WATCH_GOES_ON:
        break;
    }
    return false;
}

static const char *seconds_text(char text[32], double seconds) {
    quantity_format(seconds, QUANTITY_TIME, text, 32);
    return text;
}

static bool allows_count(WatchUnit unit, double count, const char *what, const char *remedy, Where where,
                         Problems *problems) {
    char needed[32], limit[32];
    if (count <= most_of(unit)) return true;
    if (watch.limits.events > 0)
        problem_add(problems, where, "%s: about %.2g %s, and %.4g are the limit", what, count, units[unit].name,
                    watch.limits.events);
    else
        problem_add(problems, where, "%s: about %s of a core's time (%.2g %s), and %s are the limit", what,
                    seconds_text(needed, count * units[unit].seconds), count, units[unit].name,
                    seconds_text(limit, watch.limits.piece_seconds));
    return problem_hint(problems, "%s; or raise --event-limit", remedy);
}

static bool allows(WatchUnit unit, double count, double memory_bytes, const char *what, const char *remedy, Where where,
                   Problems *problems) {
    char needed[32], limit[32];
    if (!watch.open) return true;
    forget_events();
    if (!allows_count(unit, count, what, remedy, where, problems)) return false;
    if (watch.limits.memory_bytes > 0 && memory_bytes > watch.limits.memory_bytes) {
        problem_add(problems, where, "%s: about %s of memory, and %s are the limit", what,
                    bytes_text(needed, memory_bytes), bytes_text(limit, watch.limits.memory_bytes));
        return problem_hint(problems, "%s; or raise --simulation-memory", remedy);
    }
    return true;
}

bool watch_allows(double events, double memory_bytes, const char *what, const char *remedy, Where where,
                  Problems *problems) {
    return allows(WATCH_EVENT, events, memory_bytes, what, remedy, where, problems);
}

bool watch_allows_operations(double operations, double memory_bytes, const char *what, const char *remedy, Where where,
                             Problems *problems) {
    return allows(WATCH_OPERATION, operations, memory_bytes, what, remedy, where, problems);
}

// ---- From options.

static double usual_memory(void) {
    double half = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
    return half > 0 && half < MOST_MEMORY ? half : MOST_MEMORY;
}

void watch_open_from(const Options *options, double seconds) {
    double memory = option_quantity(options, "simulation-memory", usual_memory());
    if (option_given(options, "simulation-memory"))
        memory_before = simulation_memory_limit(memory > 0 && memory < 0x1p60 ? (size_t)memory : SIZE_MAX);
    watch_open(&(WatchLimits){.events = (double)option_count(options, "event-limit", 0),
                              .piece_seconds = USUAL_PIECE_SECONDS,
                              .memory_bytes = memory,
                              .cpu_seconds = seconds});
}

// ---- A limit on all arenas that ends the program with a sentence.

enum { FAILED = 1, BAD_INPUT = 4 };

typedef struct Most {
    size_t bytes;
    int status; // to end with
} Most;

static Most of_machine = {.status = FAILED}, asked_for = {.status = BAD_INPUT};

static void end_for_memory(void *context) {
    const Most *most = context;
    char text[32];
    quantity_format((double)most->bytes, QUANTITY_BYTES, text, sizeof text);
    fprintf(stderr,
            "error: this simulation takes more than %s of memory\n"
            "  hint: simulate fewer GPUs, steps or points at once; lockstep run takes --simulation-memory BYTES\n",
            text);
    exit(most->status);
}

ArenaLimit simulation_memory_limit(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    Most *most = bytes ? &asked_for : &of_machine;
    if (bytes == 0 && pages > 0 && page > 0) bytes = (size_t)pages / 4 * 3 * (size_t)page;
    if (bytes == 0) bytes = SIZE_MAX;
    most->bytes = bytes;
    size_t used = arenas_bytes_used();
    return arenas_limit((ArenaLimit){bytes < SIZE_MAX - used ? used + bytes : SIZE_MAX, end_for_memory, most});
}
