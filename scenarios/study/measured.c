// Measured values, and the job they belong to.
#include "scenarios/study/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "scenarios/fields/fields.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"

typedef struct Measuring {
    Arena *arena;
    Problems *problems;
} Measuring;

// ---- What was measured, in words.

static void set(const Measuring *reading, MeasuredStep *step, const char *name, const char *text) {
    int most;
    study_vary_names(&most);
    if (step->settings.count == most) {
        problem_add(reading->problems, step->where, "this says more than the %d settings of a job", most);
        problem_hint(reading->problems, "say only what this run had otherwise than the job");
    }
    const char **texts = ARENA_NEW(reading->arena, const char *);
    double *number = ARENA_NEW(reading->arena, double);
    char *end, *field = arena_copy_text(reading->arena, name);
    for (char *c = field; *c; c++)
        if (*c == '-') *c = '_';
    *texts = text;
    *number = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !isfinite(*number)) *number = NAN;
    LIST_PUSH(reading->arena, &step->settings, ((Variation){field, step->where, texts, number, 1}));
}

static void set_seconds(const Measuring *reading, MeasuredStep *step, const char *name, const char *text, double unit) {
    char why[QUANTITY_WHY];
    double number = unit > 0 ? strtod(text, NULL) * unit : 0;
    bool good = unit > 0 || quantity_read(name, text, QUANTITY_TIME, "0.412 s", &number, why);
    if (good && number > 0 && isfinite(number)) {
        step->seconds = number;
        return;
    }
    problem_add(reading->problems, step->where, good ? "%s = %s is not the time of a step" : "%s = %s: %s", name, text,
                why);
    problem_hint(reading->problems, "for example 0.412s or 412ms");
}

// "16,tp=8,global_batch=64=9.1s": the first may be the number of GPUs alone.
MeasuredStep measured_of_words(Arena *arena, const char *words, Problems *problems) {
    Measuring all = {arena, problems}, *reading = &all;
    MeasuredStep step = {.where = {arena_printf(arena, "--measured %s", words), 0}};
    const char *equals = strrchr(words, '=');
    if (!equals || equals == words) {
        problem_add(problems, step.where, "this names no run and its time");
        problem_hint(problems, "for example --measured 8=0.412s: on 8 GPUs a step of this job took 0.412 s");
        return step;
    }
    set_seconds(reading, &step, "the step time", equals + 1, 0);
    for (const char *at = words; at < equals;) {
        size_t length = strcspn(at, ",");
        if (length > (size_t)(equals - at)) length = (size_t)(equals - at);
        char *setting = arena_printf(reading->arena, "%.*s", (int)length, at), *value = strchr(setting, '=');
        if (value) *value++ = '\0';
        set(reading, &step, value ? setting : "gpus", value ? value : setting);
        at += length + (at[length] == ',');
    }
    return step;
}

static const struct {
    const char *name;
    double unit; // in seconds; 0: in the cells
} time_columns[] = {{"step_time", 0}, {"step_time_s", 1}, {"iter_time_s", 1}, {"step_time_ms", 1e-3}};
enum { TIME_COLUMNS = sizeof time_columns / sizeof *time_columns };

static int time_column(const char *name) {
    for (int t = 0; t < TIME_COLUMNS; t++)
        if (strcmp(time_columns[t].name, name) == 0) return t;
    return -1;
}

// "Global Batch" and "global-batch" are global_batch.
static const char *column_word(Arena *arena, const char *name) {
    char *word = arena_copy_text(arena, name);
    for (char *c = word; *c; c++) *c = *c == ' ' || *c == '-' ? '_' : (char)tolower((unsigned char)*c);
    return word;
}

#define ROWS_LOOK_SO "the first line is gpus,step_time, the next one like 8,0.412s; other columns are settings, as tp"

// Every column is the time of a step or a setting of a job, and one is a time.
static bool columns_are_known(const Measuring *reading, const Csv *csv) {
    int settings, unknown = 0;
    bool timed = false;
    const char *const *names = study_vary_names(&settings);
    for (int c = 0; c < csv->column_count; c++) {
        const char *name = column_word(reading->arena, csv->columns[c]);
        bool is_time = time_column(name) >= 0;
        timed |= is_time;
        if (is_time || name_is_among(names, settings, name) || unknown++) continue;
        problem_add(reading->problems, (Where){csv->file, 1}, "\"%s\" names no setting of a job and no time of a step",
                    csv->columns[c]);
        if (timed || c == 0) problem_hint_near(reading->problems, name, names, settings);
        problem_hint(reading->problems, ROWS_LOOK_SO);
    }
    if (unknown > 0 || (timed && csv->row_count > 0)) return unknown == 0;
    problem_add(reading->problems, (Where){csv->file, timed ? 2 : 1},
                timed ? "no row follows the names of the columns" : "no column is called \"step_time\"");
    return problem_hint(reading->problems, ROWS_LOOK_SO);
}

static MeasuredStep step_of_row(const Measuring *reading, const Csv *csv, int row) {
    MeasuredStep step = {.where = csv_where(csv, row)};
    for (int c = 0; c < csv->column_count; c++) {
        const char *name = column_word(reading->arena, csv->columns[c]), *cell = csv_cell(csv, row, c);
        int time = time_column(name);
        if (time >= 0)
            set_seconds(reading, &step, name, cell, time_columns[time].unit);
        else if (*cell)
            set(reading, &step, name, cell);
    }
    return step;
}

static void read_rows(const Measuring *reading, const Csv *csv, MeasuredSteps *steps) {
    if (!columns_are_known(reading, csv)) return;
    if (!anchors_may_be(csv->row_count, (Where){csv->file, 0}, reading->problems)) return;
    for (int row = 0; row < csv->row_count; row++) {
        MeasuredStep step = step_of_row(reading, csv, row);
        LIST_PUSH(reading->arena, steps, step);
    }
}

static MeasuredStep step_of_log(const Measuring *reading, const TrainerLog *log) {
    MeasuredStep step = {.where = {log->path, 0}, .log = log};
    for (int i = 0; i < log->settings.count; i++)
        set(reading, &step, log->settings.items[i].name, log->settings.items[i].value);
    return step;
}

bool measured_read_file(Arena *arena, const char *path, MeasuredSteps *steps, Problems *problems) {
    Measuring reading = {arena, problems};
    int before = problems_added(problems);
    const TrainerLog *log = file_ends_in(path, ".csv") ? NULL : trainer_log_read(arena, path, problems);
    if (problems_added(problems) > before) return true;
    if (log) {
        MeasuredStep step = step_of_log(&reading, log);
        LIST_PUSH(arena, steps, step);
        return true;
    }
    const Csv *csv = csv_read_file(arena, path, problems);
    if (csv && csv->column_count < 2) {
        problem_add(problems, (Where){path, 1}, "no line of it says how long a step took, and it has no columns");
        problem_hint(problems, "logs are read of %s; of rows " ROWS_LOOK_SO, trainer_log_words(arena));
    }
    if (problems_added(problems) > before) return true;
    if (csv_find(csv, "model") >= 0 || csv_find(csv, "row_id") >= 0) return false;
    read_rows(&reading, csv, steps);
    return true;
}

// ---- The job.

static bool says(const MeasuredStep *step, const char *name) {
    for (int i = 0; i < step->settings.count; i++)
        if (strcmp(step->settings.items[i].name, name) == 0) return true;
    return false;
}

#define MOST_ASKED 8

// What was not said of it: what is asked, and what varies. False: all is.
static bool open_names(const StudySpec *study, const MeasuredStep *step, const char *const *asked, const char **names,
                       int *count) {
    bool varies = false;
    for (*count = 0; asked && *asked; asked++)
        if (!says(step, *asked)) names[(*count)++] = *asked;
    for (int v = 0; v < study->vary_count; v++) {
        const char *name = study->vary[v].name;
        if (says(step, name) || study->vary[v].count < 2 || name_is_among(names, *count, name)) continue;
        names[(*count)++] = name;
        varies = true;
    }
    return varies;
}

// "--measured 16=24s" becomes "--measured 16,tp=8=24s"; rows get columns.
static void hint_open(const Measuring *reading, const MeasuredStep *step, const char *list, const char *settings) {
    const char *said = step->where.file, *equals = strrchr(said, '=');
    if (step->log)
        problem_hint(reading->problems, "in place of the log, for example --measured 16%s=9.1s", settings);
    else if (strncmp(said, "--measured ", 11) == 0)
        problem_hint(reading->problems, "for example %.*s%s%s", (int)(equals - said), said, settings, equals);
    else
        problem_hint(reading->problems, "a column of the file for each: %s", list);
}

static void ask_what_is_open(const Measuring *reading, const StudySpec *study, const MeasuredStep *step,
                             const char *const *asked) {
    const char *names[MOST_VARIED + MOST_ASKED], *list = "", *settings = "";
    int count;
    bool varies = open_names(study, step, asked, names, &count);
    for (int i = 0; i < count; i++) {
        const char *example = field_find(OBJECT_VARY, names[i])->example;
        example += *example == '"';
        list = arena_printf(reading->arena, "%s%s%s", list, i == 0 ? "" : i == count - 1 ? " and " : ", ", names[i]);
        settings = arena_printf(reading->arena, "%s,%s=%.*s", settings, names[i], (int)strcspn(example, "\""), example);
    }
    if (count == 0) return;
    problem_add(reading->problems, step->where, "the %s of the run that was measured %s not said%s", list,
                count > 1 ? "are" : "is", varies ? ", and this varies it" : "");
    hint_open(reading, step, list, settings);
}

// Variations that are not given must have one value.
bool measured_place(Arena *arena, const StudySpec *of, MeasuredStep *step, const char *const *asked, StudySpec *study,
                    StudyPlace *place, Problems *problems) {
    static const int first[MOST_VARIED];
    Measuring reading = {arena, problems};
    int before = problems_added(problems);
    *study = *of;
    ask_what_is_open(&reading, of, step, asked);
    for (int v = 0; v < of->vary_count; v++)
        if (!says(step, of->vary[v].name)) LIST_PUSH(arena, &step->settings, of->vary[v]);
    study->vary = step->settings.items;
    study->vary_count = step->settings.count;
    study->training.anchors = NULL;
    if (problems_added(problems) > before || !study_check(study, problems)) return false;
    *place = study_place(arena, study, first, problems);
    return place->cluster && problems_added(problems) == before;
}

void measured_settle(MeasuredStep *step, const TrainingSpec *training, double global_batch, double micro_batches,
                     int gpus) {
    if (!step->log) return;
    StepOfLog one = {.samples = global_batch,
                     .tokens = global_batch * training->seq_len,
                     .micro_batches = micro_batches,
                     .gpus = gpus};
    step->seconds = step->log->seconds * trainer_log_per_step(step->log, one);
}
