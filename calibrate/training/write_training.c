// Every row of a validation as CSV, for programs: predicted ones with their errors, skipped ones with the reason.
#include <math.h>
#include <stdio.h>

#include "calibrate/training/print_training.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"

static void write_positive(CsvWriter *csv, double value) { csv_number(csv, "%.9g", value > 0 ? value : NAN); }

static void write_row(CsvWriter *csv, const PredictedRun *run, double factor) {
    const MeasuredRun *measured = run->run;
    bool predicted = !run->skipped || (measured->unmeasured && run->step_s > 0);
    double step_s = predicted ? factor * run->step_s : 0;
    csv_text(csv, measured->row_id);
    csv_text(csv, measured->family);
    csv_text(csv, predicted ? "ok" : "skipped");
    csv_text(csv, predicted ? (measured->unmeasured ? measured->unmeasured : measured->rule) : run->skipped);
    write_positive(csv, measured->measured_step_s);
    write_positive(csv, step_s);
    bool compares = predicted && measured->measured_step_s > 0;
    csv_number(csv, "%.4f", compares ? 100 * (step_s / measured->measured_step_s - 1) : NAN);
    write_positive(csv, measured->measured_memory_bytes);
    write_positive(csv, predicted ? run->memory_bytes : 0);
    csv_figures(csv, "%.6f", run->seconds_to_predict);
    csv_end_row(csv);
}

bool write_training_rows(Arena *arena, const char *path, const PredictedRun *runs, int count, const double *factors,
                         Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    csv_titles(file.stream, ROW_COLUMNS);
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < count; i++) write_row(&csv, &runs[i], factors ? factors[i] : 1);
    return file_commit(&file, problems);
}
