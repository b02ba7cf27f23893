// Limits, progress and cancellation of a process's simulations. A command opens the watch; every long loop reports
// its progress now and then and asks whether to go on. Without a watch all go on. Results do not depend on the watch,
// and it does no terminal output.
//
// A piece is work that can be counted beforehand: the points of a study, the events of a job's life. Pieces may be
// nested. The limit is on the count of one piece, so that the same input stops at the same event on every machine:
// about a minute's work of a typical core. CPU time and signals end all pieces.
#pragma once

#include "sim/base/arena.h"
#include "sim/base/options.h"

typedef enum WatchStop { WATCH_GOES_ON, WATCH_EVENTS, WATCH_SECONDS, WATCH_SIGNAL } WatchStop;

// What a piece counts that is limited. An event is one of a job's life or of a queue; an operation one of a simulated
// step or collective.
typedef enum WatchUnit { WATCH_NO_LIMIT, WATCH_EVENT, WATCH_OPERATION, WATCH_UNIT_COUNT } WatchUnit;

typedef struct WatchLimits { // 0: none
    double events;           // of one piece, or operations
    double piece_seconds;    // of one piece, estimated on a typical core, if `events` is 0
    double memory_bytes;     // of one piece, as estimated before it begins
    double cpu_seconds;      // of the process, from its start
} WatchLimits;

// Shows the share (0 to 1) of the outermost piece that is done; below 0: there is nothing to show any more.
typedef void WatchShow(const char *what, double share);
extern WatchShow *watch_screen; // main.c puts it there; NULL: nothing is shown

void watch_open(const WatchLimits *limits);
void watch_quiet(void); // nothing is shown from here on
void watch_close(void);
bool watch_is_open(void);

typedef struct WatchPiece {
    const char *what; // "points of the study"
    double expected, done;
    WatchUnit unit;
    struct WatchPiece *outer;
} WatchPiece;

// While there is a piece, SIGINT and SIGTERM end it; a second one ends the process.
void watch_begin(WatchPiece *piece, const char *what, double expected, WatchUnit unit);
// So much more is done of the innermost piece. False: no further.
bool watch_goes_on(double done);
double watch_operations_as_events(double operations); // that take as long
// So much of the innermost piece need not be done: it does not count towards its limit.
void watch_spares(double events);
double watch_cpu_seconds(void);             // of this process, from its start
double watch_clock_seconds(void);           // on a clock that is never set back
void watch_spent_elsewhere(double seconds); // by processes that work for this one: they count towards the limit
void watch_end(WatchPiece *piece);

// Why the newest piece ended early. What was stopped for its events is over with it: the next point may begin.
WatchStop watch_stopped(void);
bool watch_is_over(void); // by seconds or a signal: nothing more is to begin
// Adds a problem with what was stopped, its progress and the remedy. False: nothing was stopped.
bool watch_tells(Where where, Problems *problems);
// The same if the work done before a signal is an answer by itself, and is printed. True only then.
bool watch_tells_part(Where where, Problems *problems);
int watch_status(int status); // the exit code: 130 after a signal
// After a stop: results found so far are completed and shown, without further limits. Another signal ends that too;
// watch_status still reports the first.
void watch_wind_up(void);

// Before a piece begins. False after a problem, when it would be too much; `remedy` is what else could be asked.
bool watch_allows(double events, double memory_bytes, const char *what, const char *remedy, Where where,
                  Problems *problems);
bool watch_allows_operations(double operations, double memory_bytes, const char *what, const char *remedy, Where where,
                             Problems *problems);

// ---- From options.
#define WATCH_EVENT_OPTIONS                                                                                            \
    {.name = "event-limit",                                                                                            \
     .kind = OPTION_COUNT,                                                                                             \
     .metavar = "N",                                                                                                   \
     .is_limit = true,                                                                                                 \
     .help = "of one simulation, in events (default: as many as a usual core does in a minute)"},                      \
    {                                                                                                                  \
        .name = "simulation-memory", .kind = OPTION_QUANTITY, .quantity = QUANTITY_BYTES, .metavar = "BYTES",          \
        .usual = "4GB", .is_limit = true,                                                                              \
        .help = "of one simulation (default: as estimated half of the machine's and at most 16 GiB, in fact three "    \
                "quarters)"                                                                                            \
    }
#define WATCH_OPTIONS                                                                                                  \
    WATCH_EVENT_OPTIONS, {                                                                                             \
        .name = "time-limit", .kind = OPTION_QUANTITY, .quantity = QUANTITY_TIME, .usual = "5min", .metavar = "TIME",  \
        .is_limit = true, .help = "of all, in processor time (default 1h)"                                             \
    }
#define WATCH_USUAL_SECONDS 3600
// `seconds`: of processor time; 0: no limit.
void watch_open_from(const Options *options, double seconds);

// ---- Files are read before the first piece begins, when no loop asks: a timer ends the process with an error
// message and exit code 4 after --time-limit, with nothing written. From the first piece on loops ask. Signals end
// the process as usual until then.
void watch_permit_clock(void);                  // main.c: this process is one command
void watch_start_clock(const Options *options); // where the command has --time-limit, and the process may be ended
void watch_reads(const char *path);             // for the sentence

// Memory limit of a simulation, at which the program ends with a message before the machine ends it.

// Allows that many more bytes in all arenas, from now on; beyond, the program ends with 4, as at any limit set by the
// user; 0: three quarters of the machine's memory, beyond which it ends with 1. Returns the previous limit.
ArenaLimit simulation_memory_limit(size_t bytes);
