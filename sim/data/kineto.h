// Streaming reader of torch.profiler traces (Kineto's Chrome JSON, plain or gzip), one event at a time: files may be
// gigabytes. Events are the objects of the root's list "traceEvents"; other members are skipped.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/problem.h"

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
