// Runs a piece of code in a child process: for tests of what ends the program.
#pragma once

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef HAS_ADDRESS_SANITIZER
#define HAS_ADDRESS_SANITIZER 0
#endif

// Repetitions that are many: a build with sanitizers looks for wrong memory, not for rare cases.
#define MANY(count) (HAS_ADDRESS_SANITIZER ? (count) / 4 : (count))

// The exit status, or 128 + the signal that ended it; what it said on stderr lands in `said`.
static inline int run_in_child(void (*act)(void), char *said, size_t said_bytes) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    char spill[512];
    while ((got = read(ends[0], spill, sizeof spill)) > 0)
        for (ssize_t i = 0; i < got; i++)
            if (length + 1 < said_bytes) said[length++] = spill[i];
    said[length] = '\0';
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Whether a CHECK stops it.
static inline int is_our_mistake(void (*act)(void)) {
    char said[512];
    return run_in_child(act, said, sizeof said) == 128 + SIGABRT && strstr(said, "lockstep broke its own rule");
}
