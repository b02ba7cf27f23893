// Runs a command of the program as a function and keeps what it printed.
#pragma once

typedef struct Ended {
    int code;
    char out[65536], err[8192]; // cut at their ends
} Ended;

// `line` is split at spaces: "hw show H100". The answer is good until the next run.
const Ended *run_command(int (*command)(int argc, char **argv), const char *line);
struct Question;
const Ended *run_asked(const struct Question *question, const char *line);
// On a screen so wide that nothing is folded.
const Ended *run_wide(int (*command)(int argc, char **argv), const char *line);

// Takes out what answers say of their command line and program (sim/data/answer.h), so that equal answers to
// different command lines are equal texts.
void drop_envelopes(char *json);
