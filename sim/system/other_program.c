#include "sim/system/process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PAUSE_MS 20

double other_program_patience_s = 30, other_program_most_s = 600;

static volatile pid_t running; // its process group, too; 0: none

void other_program_end(void) {
    if (running > 0) kill(-running, SIGKILL);
}

static int spawn(char *const arguments[], int in, int out, int errors, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        sigemptyset(&usual);
        sigaddset(&usual, SIGXFSZ);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
        error = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
        if (!error) error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static double seconds(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + 1e-9 * (double)time.tv_nsec : 0;
}

static double worked_seconds(pid_t child) {
    clockid_t clock;
    return clock_getcpuclockid(child, &clock) == 0 ? seconds(clock) : 0;
}

// What grows while it does something.
static double progress(pid_t child, int out) {
    struct stat about;
    return worked_seconds(child) + (fstat(out, &about) == 0 ? (double)about.st_size : 0);
}

static OtherEnd wait_for(pid_t child, int out) {
    double before = -1, since = 0;
    int status = 0;
    for (int pause_ms = 1;; pause_ms = pause_ms < LONGEST_PAUSE_MS ? 2 * pause_ms : LONGEST_PAUSE_MS) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) break;
        if (ended < 0 && errno != EINTR) return OTHER_ENDED_BADLY;
        double now = progress(child, out), clock = seconds(CLOCK_MONOTONIC);
        if (now != before) since = clock;
        before = now;
        if (clock - since > other_program_patience_s || worked_seconds(child) > other_program_most_s) {
            kill(-child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
            return OTHER_STUCK;
        }
        usleep((useconds_t)pause_ms * 1000);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? OTHER_ENDED_WELL : OTHER_ENDED_BADLY;
}

OtherEnd other_program_run(char *const arguments[], int in, int out, int errors) {
    pid_t child = 0;
    int error = spawn(arguments, in, out, errors, &child);
    if (error == ENOENT || error == EACCES || error == ENOTDIR) return OTHER_MISSING;
    errno = error;
    if (error) return OTHER_NOT_STARTED;
    running = child;
    OtherEnd end = wait_for(child, out);
    running = 0;
    return end;
}
