// Streaming JSON parser for files of gigabytes: events only, no tree is kept. Small files are parsed by json.h.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/problem.h"

// What is met, in the order of the file. Texts do not end in 0; numbers are as they are written. Each gives 1 to go on.
typedef struct JsonStream {
    int (*on_map_start)(void *context);
    int (*on_map_end)(void *context);
    int (*on_list_start)(void *context);
    int (*on_list_end)(void *context);
    int (*on_key)(void *context, const unsigned char *text, size_t length);
    int (*on_text)(void *context, const unsigned char *text, size_t length);
    int (*on_number)(void *context, const char *text, size_t length);
} JsonStream;

// To the end of the file, which may be packed with gzip. False after a problem at `path`: it is no whole JSON document.
bool json_stream_read(FILE *file, const char *path, const JsonStream *stream, void *context, Problems *problems);
