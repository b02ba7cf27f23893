// Streaming reader of torch.profiler traces (Kineto's Chrome JSON, plain or gzip), one event at a time: files may be
// gigabytes. Events are the objects of the root's list "traceEvents"; other members are skipped.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/problem.h"

#define KINETO_NAME 256

typedef struct KinetoEvent {
    char name[KINETO_NAME], category[32]; // cut where they are longer
    double start_us, duration_us;         // NAN, and -1: not said
} KinetoEvent;

// What is done with them; NULL: nothing. `key` is an argument's name, depth in how many lists its value stands (0: in
// none). Texts do not end in 0.
typedef struct KinetoReader {
    void (*begin_event)(void *context);
    void (*argument_number)(void *context, const char *key, int depth, double value);
    void (*argument_text)(void *context, const char *key, int depth, const unsigned char *text, size_t length);
    void (*argument_list_end)(void *context, const char *key, int depth); // a list in so many others
    void (*end_event)(void *context, const KinetoEvent *event);
    void (*device_name)(void *context, const unsigned char *text, size_t length); // of "deviceProperties"
} KinetoReader;

// From where the file stands to its end. False after a problem at `path`: it is no whole JSON document.
bool kineto_read(FILE *file, const char *path, const KinetoReader *reader, void *context, Problems *problems);

// By what stands near its beginning, and in no answer of ours.
bool kineto_is_trace(const char *path);

// On the GPU: kernels, copies, memory that is set.
bool kineto_is_on_gpu(const KinetoEvent *event);

// As much of a text as there is room for, with a 0 behind it.
void kineto_keep(char *place, size_t room, const unsigned char *text, size_t length);
