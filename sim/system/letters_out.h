// The one door for text out of the program: standard output, standard error, and text files. What passes is valid UTF-8
// without a letter that commands a terminal, whoever printed it: each such letter is shown as '?'. Line breaks and tabs
// pass, for they are the form of what is printed; which of them may stand within a name is for the writer who knows the
// form (text_clean, csv_text, json_write_text, html_text), and readers of data refuse them (json_read_file,
// csv_read_file). It stands at the streams and not at the commands, so that it holds for the next command, too.
#pragma once

#include <stdio.h>

// From here on standard output and standard error are such streams. Where descriptors are led makes no difference.
void letters_out_begin(void);

// A stream that writes to the descriptor and closes it with itself; NULL with errno.
FILE *letters_out_open(int descriptor);

// Passes as it is: a colour, or another command of the program's own; a file of the user's that is written back. Out of
// band, since any mark within the text could be written by data.
void letters_out_as_is(FILE *stream, const char *text);

// Such streams are not known to fileno.
int letters_out_descriptor(FILE *stream);
