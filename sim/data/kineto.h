// Traces of GPU profilers, read as a stream, since files may be gigabytes: torch.profiler's (Kineto's Chrome JSON,
// plain or gzip) and exports of Nsight Systems, one event at a time.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/problem.h"

// ---- torch.profiler. Events are the objects of the root's list "traceEvents"; other members are skipped.
#define KINETO_NAME 256

typedef struct KinetoEvent {
    char name[KINETO_NAME], category[32]; // truncated if longer
    double start_us, duration_us;         // NAN, and -1: missing
} KinetoEvent;

// Callbacks; NULL: ignored. `key` is an argument's name, `depth` the number of lists around its value (0: none).
// Texts are not terminated by 0.
typedef struct KinetoReader {
    void (*begin_event)(void *context);
    void (*argument_number)(void *context, const char *key, int depth, double value);
    void (*argument_text)(void *context, const char *key, int depth, const unsigned char *text, size_t length);
    void (*argument_list_end)(void *context, const char *key, int depth); // a list nested at that depth
    void (*end_event)(void *context, const KinetoEvent *event);
    void (*device_name)(void *context, const unsigned char *text, size_t length); // of "deviceProperties"
} KinetoReader;

// Reads from the file's position to its end. False after a problem at `path`: not a whole JSON document.
bool kineto_read(FILE *file, const char *path, const KinetoReader *reader, void *context, Problems *problems);

// Recognises a trace by its beginning, which no answer of this program has.
bool kineto_is_trace(const char *path);

// On the GPU: kernels, copies, memory that is set.
bool kineto_is_on_gpu(const KinetoEvent *event);

// As much of a text as there is room for, with a 0 behind it.
void kineto_keep(char *place, size_t room, const unsigned char *text, size_t length);

// ---- Files of any size, plain or, if they begin with gzip's magic number (RFC 1952), decompressed.

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

// ---- JSON of gigabytes: events only, no tree is kept. Small files are parsed by json.h.

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

// ---- SQLite exports of Nsight Systems (nsys export --type sqlite), as events of a Kineto trace: kernels, copies, and
// ranges that mark a step. An export of several GPUs is read for its first GPU, with the ranges of the process that
// used that GPU.

// Each range that marks a step is an annotation of this name, whatever NVTX called it.
#define NSYS_STEP "ProfilerStep#"

bool nsys_is_export(const char *path); // by its first bytes and its tables

// False after a problem at `path`.
bool nsys_read(const char *path, const KinetoReader *reader, void *context, Problems *problems);

// Whether a range's name marks a step: "step 12", "train_step", "Iteration#3", "ProfilerStep#7".
bool nsys_marks_step(const char *name);
