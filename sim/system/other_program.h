// Runs another program (gnuplot) that may hang, crash or be missing.
#pragma once

#include <stdbool.h>

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
