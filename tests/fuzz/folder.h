// Files for code that reads files: in a folder of the process's own, which goes when it ends.
#pragma once

#include <stddef.h>

// Writes the file anew; its path, good until the next call of that name.
const char *fuzz_file(const char *name, const void *data, size_t bytes);
const char *fuzz_folder(void);
// Takes away all files of the folder.
void fuzz_folder_empty(void);

// The first line of an input, cut at `room`, and where the rest of it begins.
size_t first_line(const void *data, size_t bytes, char *line, size_t room);
