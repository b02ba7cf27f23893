// Streaming reader of files of any size, plain or, if they begin with gzip's magic number (RFC 1952), decompressed.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/problem.h"

// What is packed may become so large. Traces become 10 to 50 times as large as they are packed; the ratio holds from a
// size on that could be meant.
#define GUNZIP_MOST_BYTES 17179869184.0
#define GUNZIP_MOST_RATIO 200.0
#define GUNZIP_RATIO_FROM 67108864.0

typedef struct Gunzip Gunzip;

Gunzip *gunzip_open(FILE *file); // from the file's position; the caller keeps the file
// Reads at most `bytes`; 0: end of data, or the compressed data are corrupt or beyond the limits.
size_t gunzip_read(Gunzip *gunzip, void *room, size_t bytes);
// After the last bytes: false after a problem at `path`, where it was broken or beyond the limits.
bool gunzip_is_whole(const Gunzip *gunzip, const char *path, Problems *problems);
void gunzip_close(Gunzip *gunzip);
