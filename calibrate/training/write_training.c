// Every row of a validation as CSV, for programs: predicted ones with their errors, skipped ones with the reason.
#include <stdio.h>

#include "calibrate/training/print_training.h"
#include "sim/file.h"

// Quoted (RFC 4180), since reasons have commas.
static void write_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void write_positive(FILE *out, double value) {
    if (value > 0)
        fprintf(out, ",%.9g", value);
    else
        fputc(',', out);
}

static void write_row(FILE *out, const PredictedRun *run, double factor) {
    const MeasuredRun *measured = run->run;
    bool predicted = !run->skipped || (measured->unmeasured && run->step_s > 0);
    double step_s = predicted ? factor * run->step_s : 0;
    write_text(out, measured->row_id);
    fputc(',', out);
    write_text(out, measured->family);
    fprintf(out, ",%s,", predicted ? "ok" : "skipped");
    write_text(out, predicted ? (measured->unmeasured ? measured->unmeasured : measured->rule) : run->skipped);
    write_positive(out, measured->measured_step_s);
    write_positive(out, step_s);
    if (predicted && measured->measured_step_s > 0)
        fprintf(out, ",%.4f", 100 * (step_s / measured->measured_step_s - 1));
    else
        fputc(',', out);
    write_positive(out, measured->measured_memory_bytes);
    write_positive(out, predicted ? run->memory_bytes : 0);
    fprintf(out, ",%.6f\n", run->seconds_to_predict);
}

bool write_training_rows(Arena *arena, const char *path, const PredictedRun *runs, int count, const double *factors,
                         Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    fputs(ROW_COLUMNS "\n", file.stream);
    for (int i = 0; i < count; i++) write_row(file.stream, &runs[i], factors ? factors[i] : 1);
    return file_commit(&file, problems);
}
