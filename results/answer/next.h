// The line at the end of an answer on a terminal that names the next useful command, where that is the same for all
// answers of a command; in place of one that the answer has itself (answer_next).
#ifndef LOCKSTEP_RESULTS_NEXT_H
#define LOCKSTEP_RESULTS_NEXT_H

// What is worth asking after a question: the first row of its command that fits.
typedef struct NextCommand {
    const char *after;  // "goodput"
    const char *unless; // nothing where the question says this already; NULL: always
    const char *line;   // "lockstep goodput --last --checkpoint-every best"
    const char *why;
} NextCommand;
extern const NextCommand next_commands[];
extern const int next_command_count;

// argv[0] is the command. NULL: nothing.
const NextCommand *next_after(int argc, char **argv);

#endif
