// Stand-ins for what the web build lacks: processes, other programs, databases, terminals. Each reports an error.
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/training/training.h"
#include "models/network/interior.h"
#include "results/store/store.h"
#include "sim/base/check.h"
#include "sim/data/json.h"
#include "sim/data/kineto.h"
#include "sim/system/letters_out.h"
#include "sim/system/process.h"
#include "sim/system/wall.h"
#include "sim/system/workers.h"

enum { FAILED = 1 };

static void only_installed(Problems *problems, const char *what) {
    problem_add(problems, (Where){0}, "%s: not in a page", what);
    problem_hint(problems, "the installed program does it");
    problem_is_fault(problems);
}

// ---- Commands.

static int no_command(const char *name) {
    fprintf(stderr, "error: %s: not in a page\n  hint: the installed program does it\n", name);
    return FAILED;
}

#define NO_COMMAND(name_)                                                                                              \
    int command_##name_(int argc, char **argv);                                                                        \
    int command_##name_(int argc, char **argv) {                                                                       \
        (void)argc, (void)argv;                                                                                        \
        return no_command(#name_);                                                                                     \
    }

NO_COMMAND(sweep)
NO_COMMAND(merge)
NO_COMMAND(calibrate)
NO_COMMAND(validate)
NO_COMMAND(doctor)

const OptionSpec *sweep_option_rows(Arena *arena, int *count);
const OptionSpec *sweep_option_rows(Arena *arena, int *count) {
    *count = 0;
    return ARENA_NEW(arena, OptionSpec);
}

// ---- Readers of files next to the scenario.

Anchors *anchors_read(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                      Problems *problems) {
    (void)arena, (void)catalogue, (void)paths, (void)count;
    only_installed(problems, "steps that were measured");
    return NULL;
}

const Json *yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems) {
    (void)arena, (void)name, (void)text, (void)bytes;
    only_installed(problems, "launch files in YAML");
    return NULL;
}

const Json *json_or_yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems) {
    return yaml_read(arena, name, text, bytes, problems);
}

bool json_stream_read(FILE *file, const char *path, const JsonStream *stream, void *context, Problems *problems) {
    (void)file, (void)path, (void)stream, (void)context;
    only_installed(problems, "traces of a profiler");
    return false;
}

bool nsys_is_export(const char *path) {
    (void)path;
    return false;
}

bool nsys_read(const char *path, const KinetoReader *reader, void *context, Problems *problems) {
    (void)path, (void)reader, (void)context;
    only_installed(problems, "traces of a profiler");
    return false;
}

const NodeInterior *interior_from_xml(Arena *arena, const char *name, const char *text, size_t bytes,
                                      Problems *problems) {
    (void)arena, (void)name, (void)text, (void)bytes;
    only_installed(problems, "NCCL's XML of a node");
    return NULL;
}

Store *store_open(Arena *arena, const char *path, StoreMode mode, Problems *problems, StoreRefusal *refusal) {
    (void)arena, (void)path, (void)mode;
    *refusal = STORE_REFUSED_BY_SYSTEM;
    only_installed(problems, "stores of a sweep");
    return NULL;
}

void store_close(Store *store) { (void)store; }

const Record *const *store_records(Store *store, int *count) {
    (void)store;
    *count = 0;
    return NULL;
}

// ---- Processes: the work is done here, one piece after another (workers.c).

WorkerPool *worker_pool_open(int size, PoolWork *work, void *context, Problems *problems) {
    (void)size, (void)work, (void)context;
    only_installed(problems, "several processes");
    return NULL;
}

void worker_pool_close(WorkerPool *pool) { (void)pool; }
bool worker_pool_has_idle(const WorkerPool *pool) { return (void)pool, false; }
int worker_pool_busy(const WorkerPool *pool) { return (void)pool, 0; }
void worker_pool_give(WorkerPool *pool, int64_t item) { (void)pool, (void)item; }

bool worker_pool_wait(WorkerPool *pool, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    (void)pool, (void)arena, (void)timeout_ms, (void)answer;
    return false;
}

Hands hands_of_pool(WorkerPool *pool) { return (Hands){.who = pool}; }

double other_program_patience_s, other_program_most_s;
void other_program_end(void) {}

OtherEnd other_program_run(char *const arguments[], int in, int out, int errors) {
    (void)arguments, (void)in, (void)out, (void)errors;
    return OTHER_MISSING;
}

int memfd_create(const char *name, unsigned flags);
int memfd_create(const char *name, unsigned flags) {
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

// The page ends a worker that takes too long.
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    (void)clock, (void)event, (void)timer;
    errno = ENOSYS;
    return -1;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *before) {
    (void)timer, (void)flags, (void)value, (void)before;
    errno = ENOSYS;
    return -1;
}

// What a worker of a page does it does for one question, whose processor time begins with the first look at it.
int clock_gettime(clockid_t clock, struct timespec *time) {
    static double begin_ms = -1;
    double ms = clock == CLOCK_REALTIME ? emscripten_date_now() : emscripten_get_now();
    if (clock == CLOCK_PROCESS_CPUTIME_ID) {
        if (begin_ms < 0) begin_ms = ms;
        ms -= begin_ms;
    }
    *time = (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(1e6 * fmod(ms, 1000))};
    return 0;
}

// ---- The wall is the browser's own: WebAssembly reaches nothing but what the page gives it.

const char *wall_guard_files(Arena *arena, const WallRules *rules) { return (void)arena, (void)rules, NULL; }
const char *wall_guard_calls(Arena *arena, const WallRules *rules) { return (void)arena, (void)rules, NULL; }

// ---- A page has no terminal that letters could command: it shows text as text.

void letters_out_begin(void) {}
FILE *letters_out_open(int descriptor) { return fdopen(descriptor, "w"); }
void letters_out_as_is(FILE *stream, const char *text) { fputs(text, stream); }
int letters_out_descriptor(FILE *stream) { return fileno(stream); }
