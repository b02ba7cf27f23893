// lockstep completion: a shell's completions at TAB, from the same tables that parse the command line.
#pragma once

typedef struct CommandNames {
    const char *const *names;
    int count;
    int (*run)(int argc, char **argv); // as if it had been typed: argv[1] is a command
} CommandNames;

// argv[1]: bash, zsh or fish prints that shell's start-up script; words, followed by a line's words after "lockstep"
// (the last may be unfinished or ""), prints the completions of the last one, one per line.
int completion_command(int argc, char **argv, const CommandNames *commands);
