#include "sim/system/shipped.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/list.h"
#include "sim/system/file.h"

// The program's folder, without "/lockstep"; NULL if unknown.
static const char *program_folder(Arena *arena) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    while (length > 0 && path[length - 1] != '/') length--;
    return length > 1 ? arena_printf(arena, "%.*s", (int)length - 1, path) : NULL;
}

const char *shipped_file(Arena *arena, const char *path) {
    static const char *const folders[] = {"../share/lockstep/measurements", "../" SHIPPED_MEASUREMENTS};
    const char *program = program_folder(arena), *within = path + strlen(SHIPPED_MEASUREMENTS);
    if (access(path, R_OK) == 0 || !program || strncmp(path, SHIPPED_MEASUREMENTS, strlen(SHIPPED_MEASUREMENTS)) != 0)
        return path;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *there = arena_printf(arena, "%s/%s%s", program, folders[i], within);
        if (access(there, R_OK) == 0) return there;
    }
    return path;
}

const char *program_in_path(Arena *arena, const char *name) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        const char *path = arena_printf(arena, "%.*s/%s", (int)length, at, name);
        if (length > 0 && access(path, X_OK) == 0) return path;
        at += length + (at[length] == ':');
    }
    return NULL;
}

const char *shipped_program(Arena *arena, const char *name) {
    static const char *const below[] = {"", "cuda/"};
    const char *folder = program_folder(arena);
    for (size_t i = 0; folder && i < sizeof below / sizeof *below; i++) {
        const char *path = arena_printf(arena, "%s/%s%s", folder, below[i], name);
        if (access(path, X_OK) == 0) return path;
    }
    return program_in_path(arena, name);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

void paths_add(Arena *arena, const char *path, const char *ending, PathList *paths, Problems *problems) {
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        LIST_PUSH(arena, paths, path);
        return;
    }
    DIR *folder = opendir(path);
    if (!folder) {
        problem_add(problems, (Where){path, 0}, "cannot be read: %s", strerror(errno));
        return;
    }
    int first = paths->count;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (file_ends_in(entry->d_name, ending))
            LIST_PUSH(arena, paths, arena_printf(arena, "%.*s/%s", (int)length, path, entry->d_name));
    closedir(folder);
    int found = paths->count - first;
    if (found) qsort(paths->items + first, (size_t)found, sizeof *paths->items, by_name); // no two names are equal
    if (found) return;
    problem_add(problems, (Where){path, 0}, "has no file whose name ends in %s", ending);
    problem_hint(problems, "name the files, or another folder");
}
