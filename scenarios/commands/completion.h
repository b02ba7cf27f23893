// lockstep completion: a shell's completions at TAB, from the same tables that parse the command line.
#pragma once

typedef struct CommandNames {
    const char *const *names;
    int count;
    int (*run)(int argc, char **argv); // as if it had been typed: argv[1] is a command
} CommandNames;

// argv[1]: bash, zsh or fish prints what that shell reads at its start; words, followed by a line's words after
// "lockstep" (the last may be unfinished or ""), prints what may stand in the last one's place, a line each.
int completion_command(int argc, char **argv, const CommandNames *commands);
