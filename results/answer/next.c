#include "results/answer/next.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const NextCommand next_commands[] = {
    {"plan", NULL, "lockstep report --last -o plan.html", "the same with charts, as one page"},
    {"memory", "--over-time", "lockstep memory --last --over-time", "when it is full, pass by pass"},
    {"goodput", "--checkpoint-every", "lockstep goodput --last --checkpoint-every best",
     "the interval that loses least"},
    {"queue", "--plot", "lockstep queue --last --plot", "waiting times as curves"},
};
const int next_command_count = sizeof next_commands / sizeof *next_commands;

static bool says(int argc, char **argv, const char *option) {
    size_t length = strlen(option);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, length) == 0 && (argv[i][length] == '\0' || argv[i][length] == '=')) return true;
    return false;
}

const NextCommand *next_after(int argc, char **argv) {
    for (int i = 0; argc > 0 && i < next_command_count; i++) {
        const NextCommand *next = &next_commands[i];
        if (strcmp(next->after, argv[0]) == 0 && !(next->unless && says(argc, argv, next->unless))) return next;
    }
    return NULL;
}
