#include "tests/fuzz/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check.h"

static char folder[64];
static pid_t owner; // children that are forked leave the folder alone

void fuzz_folder_empty(void) {
    char path[512];
    DIR *entries = opendir(fuzz_folder());
    CHECK(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) unlink(path);
    }
    closedir(entries);
}

static void remove_folder(void) {
    if (owner != getpid()) return;
    fuzz_folder_empty();
    rmdir(folder);
}

const char *fuzz_folder(void) {
    if (folder[0]) return folder;
    // In memory where that is possible: a fuzzer writes a file for each input.
    snprintf(folder, sizeof folder, "%s/lockstep-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(folder));
    owner = getpid();
    atexit(remove_folder);
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t bytes) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path, "w");
    CHECK(file);
    CHECK(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    CHECK(fclose(file) == 0);
    return path;
}

size_t first_line(const void *data, size_t bytes, char *line, size_t room) {
    const char *text = data, *end = bytes ? memchr(data, '\n', bytes) : NULL;
    size_t length = end ? (size_t)(end - text) : bytes;
    snprintf(line, room, "%.*s", (int)(length < room ? length : room - 1), bytes ? text : "");
    return end ? length + 1 : bytes;
}
