// A table of fixed size that a signal handler may read at any time: a name counts once its owner is set.
#include "sim/temporaries.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEMPORARIES 16

static struct {
    volatile pid_t owner; // 0: nobody
    char path[PATH_MAX];
} table[MOST_TEMPORARIES];

void temporary_add(const char *path) {
    if (strlen(path) >= PATH_MAX) return; // no file has such a name
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (table[i].owner == getpid()) continue;
        table[i].owner = 0;
        strcpy(table[i].path, path);
        table[i].owner = getpid();
        return;
    }
}

int temporary_open(const char *path, int flags) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); // between the file and its place in the table
    int descriptor = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) temporary_add(path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return descriptor;
}

void temporary_drop(const char *path) {
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (table[i].owner == getpid() && strcmp(table[i].path, path) == 0) table[i].owner = 0;
}

void temporaries_remove(void) {
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (table[i].owner != getpid()) continue;
        unlink(table[i].path);
        table[i].owner = 0;
    }
}
