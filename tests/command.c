// Standard output and error go to files while the command runs.
#include "tests/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/frame.h"

#define MOST_WORDS 64

static int split(char *line, char **words) {
    int count = 0;
    for (char *word = strtok(line, " "); word && count < MOST_WORDS - 1; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static void read_back(FILE *file, char *text, size_t room) {
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

static void put_back(int kept, int stream) {
    dup2(kept, stream);
    close(kept);
}

const Ended *run_command(int (*command)(int argc, char **argv), const char *line) {
    static Ended ended;
    char copy[4096], *words[MOST_WORDS];
    snprintf(copy, sizeof copy, "%s", line);
    int count = split(copy, words);

    fflush(NULL);
    FILE *out = tmpfile(), *err = tmpfile();
    int kept_out = dup(STDOUT_FILENO), kept_err = dup(STDERR_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    ended.code = command(count, words);
    fflush(NULL);
    put_back(kept_out, STDOUT_FILENO);
    put_back(kept_err, STDERR_FILENO);
    read_back(out, ended.out, sizeof ended.out);
    read_back(err, ended.err, sizeof ended.err);
    return &ended;
}

static const Question *asked;

static int ask(int argc, char **argv) { return frame_run(asked, argc, argv); }

const Ended *run_asked(const Question *question, const char *line) {
    asked = question;
    return run_command(ask, line);
}

const Ended *run_wide(int (*command)(int argc, char **argv), const char *line) {
    setenv("COLUMNS", "1000", 1);
    const Ended *ended = run_command(command, line);
    unsetenv("COLUMNS");
    return ended;
}

// Lines from one that begins a member, through the one that ends it.
static void drop_lines(char *json, const char *first, const char *last) {
    for (char *from = json; (from = strstr(from, first)) != NULL;) {
        char *end = strstr(from, last);
        if (!end) return;
        end += strlen(last);
        memmove(from, end, strlen(end) + 1);
    }
}

void drop_envelopes(char *json) {
    drop_lines(json, "  \"format\": \"lockstep-answer\",\n", "\n");
    drop_lines(json, "  \"program\": {\n", "  },\n");
    drop_lines(json, "  \"command\": [\n", "  ],\n");
    for (char *at = json; (at = strstr(at, "  \"format_version\": 2,\n  \"kind\": \"")) != NULL;) {
        char *kind = strchr(at, '\n') + 1, *end = strchr(kind, '\n') + 1;
        memmove(kind, end, strlen(end) + 1);
        at = kind;
    }
}
