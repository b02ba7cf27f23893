// Start and end of this process: signals, a check that all output was written, removal of unfinished files. And other
// programs that it runs.
#pragma once

#include <stdbool.h>

// First thing in main. A standard stream that is closed becomes one that refuses, so that no file of ours takes its
// place; a stack that is too small is made larger, or the program ends with 1 and a sentence; a file that grows too
// large is an error instead of a signal; signals that end the program remove temporaries.
void program_begin(void);

// Called last in main; returns the exit status: 1 with an error message if standard output could not be written and
// no error was reported yet. A closed reader (`| head`) ends the program quietly, as SIGPIPE does.
int program_end(int status);

// ---- Another program (gnuplot), which may hang, crash or be missing.
typedef enum OtherEnd {
    OTHER_ENDED_WELL,
    OTHER_ENDED_BADLY, // with an exit status or by a signal
    OTHER_STUCK,       // it did nothing for so long that it was ended, and its children with it
    OTHER_MISSING,
    OTHER_NOT_STARTED // errno has the reason
} OtherEnd;

// Looks for arguments[0] in PATH, without a shell; the three descriptors become its standard streams, and waits for it.
// It is stuck when it neither uses the processor nor writes to `out`, a file, for other_program_patience_s, or has used
// the processor for other_program_most_s.
OtherEnd other_program_run(char *const arguments[], int in, int out, int errors);
extern double other_program_patience_s, other_program_most_s;

void other_program_end(void); // the one that runs now, if any; safe in a signal handler
