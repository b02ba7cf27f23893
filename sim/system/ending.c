#include "sim/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"

enum { FAILED = 1 };

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGUSR1, SIGUSR2};

static void leave_nothing(void) {
    other_program_end();
    temporaries_remove();
}

static void on_ending_signal(int number) {
    leave_nothing();
    raise(number); // by now with its usual meaning
}

// A descriptor that can be had, but not used in the direction that the stream has.
static void fill_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0) continue;
        (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); // takes the lowest that is free
    }
}

#define USUAL_STACK ((rlim_t)8 << 20)
#define LEAST_STACK ((rlim_t)1 << 20) // the deepest scripts and files that are not refused take half of it

// The stack grows up to the soft limit: with a small one the process would die of a signal, without a message.
static void make_room_on_stack(void) {
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= USUAL_STACK) return;
    stack.rlim_cur = stack.rlim_max < USUAL_STACK ? stack.rlim_max : USUAL_STACK;
    bool is_raised = setrlimit(RLIMIT_STACK, &stack) == 0 || getrlimit(RLIMIT_STACK, &stack) == 0;
    if (is_raised && stack.rlim_cur >= LEAST_STACK) return;
    fprintf(stderr,
            "error: the stack may have %llu KiB here, and lockstep needs %llu KiB\n"
            "  hint: allow more (ulimit -s 8192, the job's or container's limit)\n",
            (unsigned long long)stack.rlim_cur >> 10, (unsigned long long)LEAST_STACK >> 10);
    _exit(FAILED);
}

void program_begin(void) {
    fill_standard_streams();
    make_room_on_stack();
    letters_out_begin();
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); // if it is ignored, a child's exit status is lost
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        struct sigaction before, action = {.sa_handler = on_ending_signal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL); // one that is ignored stays so: nohup
    }
    atexit(leave_nothing);
}

int program_end(int status) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    OutputFile out;
    bool written = file_create(arena, "-", &out, problems) && file_commit(&out, problems);
    if (!written && errno == EPIPE) {
        leave_nothing();
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    // A failed command has reported its error, most likely this one.
    if (!written && status != FAILED) problems_print(problems, stderr);
    arena_close(arena);
    return written || (status != 0 && status != 3) ? status : FAILED;
}
