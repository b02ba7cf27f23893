// The whole program as a function: a child of the test's process answers without a shell, without reading the catalogue
// anew, and as build/lockstep does.
#include "tests/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int program_main(int argc, char **argv);
#define main program_main
#include "main.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define MOST_WORDS 200

// Words end at spaces, but for those in double quotes; "$DIR" is the folder.
static int split_line(const char *line, const char *folder, char *room, char **words) {
    int count = 0;
    bool quoted = false, inside = false;
    for (; *line; line++) {
        if (*line == ' ' && !quoted) {
            if (inside) *room++ = '\0';
            inside = false;
            continue;
        }
        if (!inside && count < MOST_WORDS - 1) words[count++] = room;
        inside = true;
        if (*line == '"') {
            quoted = !quoted;
        } else if (strncmp(line, "$DIR", 4) == 0) {
            room = stpcpy(room, folder);
            line += 3;
        } else {
            *room++ = *line;
        }
    }
    *room = '\0';
    words[count] = NULL;
    return count;
}

static void answer_as_child(const char *line, const char *folder, FILE *out, FILE *complaints) {
    static char room[16384], *words[MOST_WORDS], name[] = "lockstep";
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(complaints), STDERR_FILENO);
    words[0] = name;
    int count = split_line(line, folder, room, words + 1);
    exit(program_main(count + 1, words)); // as after main: what a program counts of itself is written
}

static void read_back(FILE *file, char *text, size_t bytes) {
    rewind(file);
    if (text) text[fread(text, 1, bytes - 1, file)] = '\0';
    fclose(file);
}

int program_answers(const char *line, const char *folder, ProgramSaid *said) {
    FILE *out = tmpfile(), *complaints = said->complaints ? tmpfile() : out;
    int status = 0;
    if (!out || !complaints) return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) answer_as_child(line, folder, out, complaints);
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    if (complaints != out) read_back(complaints, said->complaints, said->bytes);
    read_back(out, said->screen, said->bytes);
    return !ended ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
