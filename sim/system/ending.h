// Start and end of main: signals, a check that all output was written, and removal of unfinished files.
#pragma once

// First thing in main. A standard stream that is closed becomes one that refuses, so that no file of ours takes its
// place; a stack that is too small is made larger, or the program ends with 1 and a sentence; a file that grows too
// large is an error instead of a signal; signals that end the program remove temporaries.
void program_begin(void);

// Called last in main; returns the exit status: 1 with an error message if standard output could not be written and
// no error was reported yet. A closed reader (`| head`) ends the program quietly, as SIGPIPE does.
int program_end(int status);
