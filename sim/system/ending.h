// How a program of ours begins and ends. What it prints is printed or it fails, and what it leaves half done is
// removed.
#pragma once

// First thing in main. A standard stream that is closed becomes one that refuses, so that no file of ours takes its
// place; a stack that is too small is made larger, or the program ends with 1 and a sentence; a file that grows too
// large is an error instead of a signal; signals that end the program remove temporaries.
void program_begin(void);

// Last thing in main: the exit status. 1 with a sentence where standard output was refused and nobody has failed yet.
// A reader that has gone (`| head`) ends the program as SIGPIPE does: quietly.
int program_end(int status);
