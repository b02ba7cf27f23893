// Files that are written atomically, and read with a size limit.
#include "sim/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/system/gate.h"
#include "sim/system/letters_out.h"
#include "sim/system/watch.h"

// ---- Reading.

static void cannot_read(const char *path, Problems *problems) {
    problem_add(problems, (Where){path, 0}, "cannot be read: %s", strerror(errno));
}

static void too_large(const char *path, size_t limit_bytes, Problems *problems) {
    char limit[32];
    quantity_format((double)limit_bytes, QUANTITY_BYTES, limit, sizeof limit);
    problem_add(problems, (Where){path, 0}, "is larger than %s, the most that is read", limit);
}

// One byte more than the size from fstat, so that a file of that size is read in one call.
static size_t first_room(FILE *stream, size_t limit_bytes) {
    struct stat about;
    size_t known_size = fstat(fileno(stream), &about) == 0 && about.st_size > 0 ? (size_t)about.st_size : 4095;
    return (known_size < limit_bytes ? known_size : limit_bytes) + 1;
}

static char *read_stream(Arena *arena, FILE *stream, const char *path, size_t limit_bytes, size_t *bytes,
                         Problems *problems) {
    size_t room = first_room(stream, limit_bytes), length = 0, got;
    char *text = arena_alloc(arena, room + 1);
    while ((got = fread(text + length, 1, room - length, stream)) > 0) {
        length += got;
        if (length > limit_bytes) {
            too_large(path, limit_bytes, problems);
            return NULL;
        }
        if (length < room) continue;
        char *larger = arena_alloc(arena, 2 * room + 1);
        memcpy(larger, text, length);
        text = larger;
        room *= 2;
    }
    if (ferror(stream)) {
        cannot_read(path, problems);
        return NULL;
    }
    *bytes = length;
    return text;
}

char *file_read_open(Arena *arena, int descriptor, const char *path, size_t limit_bytes, size_t *bytes,
                     Problems *problems) {
    FILE *stream = fdopen(descriptor, "rb");
    if (!stream) {
        cannot_read(path, problems);
        close(descriptor);
        return NULL;
    }
    watch_reads(path);
    char *text = read_stream(arena, stream, path, limit_bytes, bytes, problems);
    fclose(stream);
    return text;
}

// ---- Opening.

static struct {
    const ReadGate *gate;
    const char *const *typed;
    int typed_count;
} through;

void file_read_through(const ReadGate *gate, const char *const *typed, int typed_count) {
    through.gate = gate;
    through.typed = typed;
    through.typed_count = typed_count;
}

// "p.json", "--profile=p.json", "x:graph:file=p.json", "a.xml,b.xml"
static bool names(const char *word, const char *path) {
    static const char between[] = "=:,";
    size_t length = strlen(path);
    for (const char *at = word; length && (at = strstr(at, path)) != NULL; at++)
        if ((at == word || strchr(between, at[-1])) && (!at[length] || strchr(between, at[length]))) return true;
    return false;
}

static bool is_typed(const char *path) {
    for (int i = 0; i < through.typed_count; i++)
        if (names(through.typed[i], path)) return true;
    return false;
}

bool file_may_read(const char *path) { return !through.gate || is_typed(path) || gate_holds(through.gate, path); }

// Descriptors that are open already, by the names that Linux gives them.
static bool is_opened_by_shell(const char *path) {
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/self/fd/", 14) == 0;
}

static int refuse_kind(const char *path, mode_t mode, Problems *problems) {
    const char *kind = S_ISDIR(mode)    ? "folder"
                       : S_ISBLK(mode)  ? "disk"
                       : S_ISFIFO(mode) ? "pipe with a name"
                       : S_ISCHR(mode)  ? "device"
                                        : "socket";
    problem_add(problems, (Where){path, 0}, "is a %s, not a file", kind);
    problem_hint(problems, S_ISFIFO(mode) ? "nobody may ever write to it: lockstep … /dev/stdin < %s" : "name a file",
                 path);
    return -1;
}

bool file_is_regular_or_none(const char *path, Problems *problems) {
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode) || refuse_kind(path, about.st_mode, problems) == 0;
}

int file_open(const char *path, Problems *problems) {
    struct stat about;
    if (through.gate && !is_typed(path)) return gate_open(through.gate, path, (Where){0}, problems);
    bool is_open = is_opened_by_shell(path);
    int descriptor = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | (is_open ? 0 : O_NONBLOCK));
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        cannot_read(path, problems);
        if (descriptor >= 0) close(descriptor);
        return -1;
    }
    if (S_ISREG(about.st_mode) || (is_open && !S_ISDIR(about.st_mode) && !S_ISBLK(about.st_mode))) return descriptor;
    close(descriptor);
    return refuse_kind(path, about.st_mode, problems);
}

FILE *file_open_stream(const char *path, Problems *problems) {
    int descriptor = file_open(path, problems);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (descriptor >= 0 && !stream) {
        cannot_read(path, problems);
        close(descriptor);
    }
    return stream;
}

FILE *file_peek(const char *path) {
    Arena *arena = arena_open();
    FILE *stream = file_open_stream(path, problems_create(arena));
    struct stat found;
    if (stream && (fstat(fileno(stream), &found) != 0 || !S_ISREG(found.st_mode))) {
        fclose(stream); // data read from a pipe would be lost
        stream = NULL;
    }
    arena_close(arena);
    return stream;
}

char *file_read(Arena *arena, const char *path, size_t limit_bytes, size_t *bytes, Problems *problems) {
    int descriptor = file_open(path, problems);
    return descriptor < 0 ? NULL : file_read_open(arena, descriptor, path, limit_bytes, bytes, problems);
}

// ---- Writing.

static void cannot_write(const char *path, Problems *problems) {
    int why = errno;
    if (strcmp(path, "-") == 0 && why == EPIPE) return; // the reader is gone: no message (sim/system/ending.c)
    if (strcmp(path, "-") == 0)
        problem_add(problems, (Where){NULL, 0}, "standard output cannot be written: %s", strerror(why));
    else
        problem_add(problems, (Where){path, 0}, "cannot be written: %s", strerror(why));
    if (why == ENOENT) problem_hint(problems, "its folder does not exist; make it first");
    if (why == ENOSPC) problem_hint(problems, "the disk is full; free some room or write elsewhere");
}

// Creates a file of an unused name in the same folder; two writers of one path never share it.
static int create_temporary(Arena *arena, OutputFile *file) {
    for (int attempt = 0; attempt < 100; attempt++) {
        file->temporary = arena_printf(arena, "%s.%ld-%d.tmp", file->path, (long)getpid(), attempt);
        int descriptor = temporary_open(file->temporary, O_WRONLY);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

// Through links, to the file itself: a link stays a link. The new file keeps the old one's permissions.
static int replace_file(Arena *arena, OutputFile *file, mode_t permissions) {
    if (access(file->path, W_OK) != 0) return -1;
    char *target = realpath(file->path, NULL);
    if (!target) return -1;
    file->path = arena_copy_text(arena, target);
    free(target);
    int descriptor = create_temporary(arena, file);
    if (descriptor >= 0) (void)!fchmod(descriptor, permissions); // where the filesystem knows permissions
    return descriptor;
}

// Devices and pipes are written as they are: renaming over one would remove it.
static int open_for_writing(Arena *arena, OutputFile *file) {
    struct stat about;
    if (stat(file->path, &about) != 0) return create_temporary(arena, file);
    if (S_ISREG(about.st_mode)) return replace_file(arena, file, about.st_mode & 07777);
    return open(file->path, O_WRONLY | O_CLOEXEC);
}

typedef FILE *OpenStream(int descriptor);

static bool create(Arena *arena, const char *path, OpenStream *open_stream, OutputFile *file, Problems *problems) {
    *file = (OutputFile){.path = arena_copy_text(arena, path)};
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    int descriptor = open_for_writing(arena, file);
    if (descriptor < 0) {
        cannot_write(path, problems);
        *file = (OutputFile){0};
        return false;
    }
    file->stream = open_stream(descriptor);
    if (file->stream) return true;
    cannot_write(path, problems);
    close(descriptor);
    file_abandon(file);
    return false;
}

bool file_create(Arena *arena, const char *path, OutputFile *file, Problems *problems) {
    return create(arena, path, letters_out_open, file, problems);
}

static FILE *open_bytes(int descriptor) { return fdopen(descriptor, "wb"); }

bool file_create_bytes(Arena *arena, const char *path, OutputFile *file, Problems *problems) {
    return create(arena, path, open_bytes, file, problems);
}

// Why the stream was refused earlier, which leaves no errno: most likely it would be again.
static int earlier_refusal(FILE *stream) {
    struct pollfd polled = {letters_out_descriptor(stream), POLLOUT, 0};
    if (write(polled.fd, "", 0) < 0) return errno;
    return poll(&polled, 1, 0) > 0 && polled.revents & POLLERR ? EPIPE : EIO; // the reader has gone
}

// Everything handed over and none of it refused, now or earlier.
static bool flush_all(FILE *stream) {
    bool refused = ferror(stream);
    errno = 0;
    bool flushed = fflush(stream) == 0;
    if (refused && errno == 0) errno = earlier_refusal(stream);
    return flushed && !refused;
}

bool file_commit(OutputFile *file, Problems *problems) {
    CHECK(file->stream);
    bool ok = flush_all(file->stream);
    if (ok && file->temporary) ok = fsync(letters_out_descriptor(file->stream)) == 0;
    int why = errno;
    if (file->stream != stdout && fclose(file->stream) != 0 && ok) {
        ok = false;
        why = errno;
    }
    file->stream = NULL;
    if (ok && file->temporary && rename(file->temporary, file->path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        errno = why;
        cannot_write(file->path, problems);
        file_abandon(file);
        errno = why;
    }
    if (file->temporary) temporary_drop(file->temporary);
    file->temporary = NULL;
    return ok;
}

void file_abandon(OutputFile *file) {
    if (file->stream && file->stream != stdout) fclose(file->stream);
    if (file->temporary) {
        unlink(file->temporary);
        temporary_drop(file->temporary);
    }
    file->stream = NULL;
    file->temporary = NULL;
}

// ---- Into memory.

TextStream text_stream_open(void) {
    TextStream text = {.end = memory_or_end(sizeof *text.end)};
    text.stream = open_memstream(&text.end->text, &text.end->bytes);
    if (!text.stream) out_of_memory(BUFSIZ);
    return text;
}

char *text_stream_close(Arena *arena, TextStream *text) {
    bool refused = ferror(text->stream);
    if (fclose(text->stream) != 0 || refused || !text->end->text) out_of_memory(BUFSIZ);
    char *kept = arena_copy_text(arena, text->end->text);
    free(text->end->text);
    free(text->end);
    return kept;
}

bool file_ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

// ---- A table of fixed size that a signal handler may read at any time: a name counts once its owner is set.

#define MOST_TEMPORARIES 16

static struct {
    volatile pid_t owner; // 0: unused
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

const char *file_folder(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return slash == path ? "/" : arena_printf(arena, "%.*s", (int)(slash - path), path);
}

// ---- What is installed with the program, and files of a folder.
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

void paths_add(Arena *arena, const char *path, const char *ending, Names *paths, Problems *problems) {
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
