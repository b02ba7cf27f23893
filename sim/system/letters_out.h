// All text output of the program: standard output, standard error, and text files. The output is valid UTF-8 without
// terminal control characters, whatever its source: each such character is shown as '?'. Line breaks and tabs pass,
// since they are part of the format; which of them a name may contain is up to the writer of each format (text_clean,
// csv_text, json_write_text, html_text), and readers of data refuse them (json_read_file, csv_read_file). The filter
// is on the streams, not in the commands, so that new commands have it too.
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
