// The table of point columns, in the order of files.
#include "results/columns.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "results/view.h"

typedef enum ColumnKind {
    COLUMN_WHOLE,   // an int
    COLUMN_ALWAYS,  // known whether or not the point ran
    COLUMN_RAN,     // only when it ran
    COLUMN_POSITIVE // only when it ran, and 0 means that it does not apply
} ColumnKind;

typedef struct Column {
    ColumnKind kind;
    size_t offset;
} Column;

// clang-format off
const char *const point_columns[POINT_COLUMNS] = {
    "gpus", "nodes", "step_p5_s", "step_p50_s", "step_p95_s", "samples_per_s", "tokens_per_s", "scaling_efficiency",
    "efficiency_vs_ideal", "mfu", "hfu", "flops_per_step", "memory_peak_bytes", "memory_capacity_bytes",
    "cost_per_hour", "cost_per_month", "cost_per_run", "cost_per_step", "days", "steps", "energy_kwh", "power_watts",
    "peak_watts", "carbon_kg",
    "tp", "pp", "vpp", "dp", "cp", "ep", "zero", "micro_batch", "global_batch",
};

#define AT(field) offsetof(RecordPoint, field)
static const Column columns[POINT_COLUMNS] = {
    {COLUMN_WHOLE, AT(gpu_count)}, {COLUMN_WHOLE, AT(node_count)}, {COLUMN_RAN, AT(step_p5_s)},
    {COLUMN_RAN, AT(step_p50_s)}, {COLUMN_RAN, AT(step_p95_s)}, {COLUMN_POSITIVE, AT(samples_per_s)},
    {COLUMN_POSITIVE, AT(tokens_per_s)}, {COLUMN_RAN, AT(efficiency_vs_one_gpu)},
    {COLUMN_RAN, AT(efficiency_vs_ideal)}, {COLUMN_RAN, AT(mfu)}, {COLUMN_RAN, AT(hfu)},
    {COLUMN_RAN, AT(flops_per_step)}, {COLUMN_ALWAYS, AT(memory_peak_bytes)},
    {COLUMN_ALWAYS, AT(memory_capacity_bytes)}, {COLUMN_ALWAYS, AT(cost_per_hour)},
    {COLUMN_ALWAYS, AT(cost_per_month)}, {COLUMN_RAN, AT(cost_per_run)}, {COLUMN_RAN, AT(cost_per_step)},
    {COLUMN_RAN, AT(days)}, {COLUMN_ALWAYS, AT(steps)}, {COLUMN_RAN, AT(energy_kwh)}, {COLUMN_RAN, AT(power_watts)},
    {COLUMN_RAN, AT(peak_watts)}, {COLUMN_RAN, AT(carbon_kg)},
    {COLUMN_WHOLE, AT(tp)}, {COLUMN_WHOLE, AT(pp)}, {COLUMN_WHOLE, AT(vpp)}, {COLUMN_WHOLE, AT(dp)},
    {COLUMN_WHOLE, AT(cp)}, {COLUMN_WHOLE, AT(ep)}, {COLUMN_WHOLE, AT(zero)}, {COLUMN_ALWAYS, AT(micro_batch)},
    {COLUMN_ALWAYS, AT(global_batch)},
};
// clang-format on

double point_number(const RecordPoint *point, int column) {
    const void *field = (const char *)point + columns[column].offset;
    switch (columns[column].kind) {
    case COLUMN_WHOLE:
        return *(const int *)field;
    case COLUMN_ALWAYS:
        return *(const double *)field;
    case COLUMN_RAN:
        return if_ran(point, *(const double *)field);
    case COLUMN_POSITIVE:
        return if_ran(point, *(const double *)field) > 0 ? *(const double *)field : NAN;
    }
    return NAN;
}

bool point_takes_number(int column, double number) {
    return columns[column].kind != COLUMN_WHOLE || isnan(number) || fabs(number) <= INT_MAX;
}

void point_set_number(RecordPoint *point, int column, double number) {
    void *field = (char *)point + columns[column].offset;
    bool is_zero = columns[column].kind == COLUMN_POSITIVE && isnan(number);
    if (columns[column].kind == COLUMN_WHOLE)
        *(int *)field = isnan(number) ? 0 : (int)number;
    else
        *(double *)field = is_zero ? 0 : number;
}
