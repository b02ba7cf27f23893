// liblockstep: a question is answered by a child process, which communicates through unnamed files.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/library/lockstep.h"

enum { ANSWERED = 0, ANSWER_IS_NO = 3, FAILED = 1 };

// ---- The program.

// Beside the library, in ../bin, in ../../bin (Debian's libraries lie in /usr/lib/x86_64-linux-gnu), or as PATH has it.
static const char *find_program(char path[PATH_MAX]) {
    static const char *const places[] = {"lockstep", "../bin/lockstep", "../../bin/lockstep"};
    Dl_info library;
    if (!dladdr((void *)(size_t)lockstep_ask, &library) || !library.dli_fname) return "lockstep";
    const char *slash = strrchr(library.dli_fname, '/');
    int folder = slash ? (int)(slash - library.dli_fname) + 1 : 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(path, PATH_MAX, "%.*s%s", folder, library.dli_fname, places[i]);
        if (length > 0 && length < PATH_MAX && strchr(path, '/') && access(path, X_OK) == 0) return path;
    }
    return "lockstep";
}

typedef struct Ending {
    int why;    // it did not start: an errno; 0: it did
    int status; // of exit
    int signal; // that ended it; 0: none
} Ending;

static Ending run_program(int question, int answer, int mistakes) {
    char path[PATH_MAX];
    char name[] = "lockstep", ask[] = "ask", input[] = "-", *line[] = {name, ask, input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t process;
    Ending ending = {.why = posix_spawn_file_actions_init(&actions)};
    if (ending.why) return ending;
    const int from[] = {question, answer, mistakes};
    for (int to = 0; to < 3 && !ending.why; to++) ending.why = posix_spawn_file_actions_adddup2(&actions, from[to], to);
    if (!ending.why) ending.why = posix_spawnp(&process, find_program(path), &actions, NULL, line, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    while (!ending.why && waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return (Ending){.status = FAILED}; // already waited for elsewhere
    if (ending.why) return ending;
    ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ending.status = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
    return ending;
}

// ---- Texts in files.

static bool write_all(int file, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t written = write(file, text, left);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text += written, left -= (size_t)written;
    }
    return lseek(file, 0, SEEK_SET) == 0;
}

static char *read_all(int file) {
    off_t bytes = lseek(file, 0, SEEK_END);
    char *text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    size_t have = 0;
    while (text && have < (size_t)bytes) {
        ssize_t some = pread(file, text + have, (size_t)bytes - have, (off_t)have);
        if (some == 0) break;
        if (some > 0) have += (size_t)some;
        if (some < 0 && errno != EINTR) break;
    }
    if (text) text[have] = '\0';
    return text;
}

static void put_quoted(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    }
}

static char *error_answer(const Ending *ending, char *mistakes) {
    char *answer = NULL;
    size_t bytes;
    FILE *out = open_memstream(&answer, &bytes);
    size_t length = strlen(mistakes);
    while (length > 0 && mistakes[length - 1] == '\n') mistakes[--length] = '\0';
    if (!out) return NULL;
    fprintf(out, "{\"kind\": \"error\", \"exit\": %d, \"error\": \"", ending->why ? FAILED : ending->status);
    if (ending->why)
        put_quoted(out, "the program lockstep is not found: neither beside the library nor in PATH");
    else if (ending->signal)
        fprintf(out, "the program was ended by signal %d", ending->signal);
    else
        put_quoted(out, mistakes);
    fputs("\"}\n", out);
    return fclose(out) == 0 ? answer : NULL;
}

char *lockstep_ask(const char *question) {
    int files[3] = {-1, -1, -1};
    char *answer = NULL;
    bool opened = true;
    for (int i = 0; i < 3; i++) opened = (files[i] = memfd_create("lockstep", MFD_CLOEXEC)) >= 0 && opened;
    if (opened && write_all(files[0], question)) {
        Ending ending = run_program(files[0], files[1], files[2]);
        bool answered = !ending.why && !ending.signal && (ending.status == ANSWERED || ending.status == ANSWER_IS_NO);
        char *said = ending.why && ending.why != ENOENT ? NULL : read_all(files[answered ? 1 : 2]);
        answer = answered || !said ? said : error_answer(&ending, said);
        if (answer != said) free(said);
    }
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0) close(files[i]);
    return answer;
}

void lockstep_free(char *answer) { free(answer); }
