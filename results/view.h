// Presentation of a record: which parameters vary, labels of points, the unit of throughput, and colour and short
// name of each cause.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/data/record.h"

// Names of the parameters whose text differs between points, in their order in the record.
const char **varied_parameters(Arena *arena, const Record *record, int *count);
const RecordParameter *point_parameter(const RecordPoint *point, const char *name); // NULL when it has none so called
// "8", or "8 · ib-ndr400" where two parameters vary; `without` (or NULL) is left out.
const char *point_label(Arena *arena, const Record *record, const RecordPoint *point, const char *without);
const char *point_label_title(Arena *arena, const Record *record, const char *without); // "GPUs · fabric"
const char *point_settings(Arena *arena, const Record *record,
                           const RecordPoint *point); // "GPUs = 8, fabric = eth-10g"

// Throughput in what the users of this model count: tokens where points have them, else samples by their name.
double point_rate(const Record *record, const RecordPoint *point); // NAN when there is none
const char *rate_unit(Arena *arena, const Record *record);         // "images/s"
// A sentence for configurations where more GPUs are slower than fewer, or hardly faster, with the causes. NULL: more
// GPUs help, or unknown.
const char *more_gpus_say(Arena *arena, const Record *record, const RecordPoint *point);
// "expert_skew has no effect here: the model has no experts": of each setting that has none at any point.
const char *const *without_effect(Arena *arena, const RecordPoint *points, int point_count, int *count);
// Whether memory is sure to hold it: it runs out with a chance of 5 % at most, or it was said to have run. What does
// not has this mark in tables, with this note below them, and is never the best.
bool point_fits(const RecordPoint *point);
#define MAY_NOT_FIT " ?"
#define MAY_NOT_FIT_NOTE "? does not surely fit: memory runs out with a chance above 5 %%."
// About the baseline on fewer GPUs: its batch, and that it may not fit where the job itself may not.
const char *baseline_batch_say(const RecordPoint *point);
// "4 in 4 × rtx3060-workstation over eth-1g (1 Gb/s Ethernet)"; "" where nothing is known of them.
const char *machine_text(Arena *arena, const RecordPoint *point);
double sum_of_values(const NamedValue *values, int count); // of those that are known
bool same_name(const char *a, const char *b);              // ignoring case, '-', '_' and spaces

// NAN for what a point that did not run cannot know.
double if_ran(const RecordPoint *point, double value);

// How a cause or a class of memory looks.
typedef struct Look {
    const char *brief; // "DP"; NULL: no short name of its own
    uint32_t color;    // 0xRRGGBB
    bool is_work;      // progress with the job, not a price paid for distributing it
} Look;

Look look_of_cause(const char *name, int index); // index chooses the colour of a cause that has none
Look look_of_memory(const char *name, int index);
const char *brief_cause(const char *name); // "DP" for "dp"; the name when it has no short one
bool color_is_dark(uint32_t color);        // text on it is white

bool is_gpu_axis(const char *parameter); // whether it counts GPUs: "gpus"

// ---- The numbers of a point that are columns, in files and in the store of a sweep.

enum { POINT_COLUMNS = 34 };
extern const char *const point_columns[POINT_COLUMNS]; // SI units in the names

double point_number(const RecordPoint *point, int column); // NAN when unknown
bool point_takes_number(int column, double number);        // whole numbers have their limits
void point_set_number(RecordPoint *point, int column, double number);
