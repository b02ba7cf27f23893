// Measured values, and the job they belong to.
#include "scenarios/study/study_anchors.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "results/answer/answer.h"
#include "scenarios/fields/fields.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/base/text.h"
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
static MeasuredStep measured_of_words(Arena *arena, const char *words, Problems *problems) {
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

// ---- Anchors of a study.

AnchorsReader *anchors_reader = NULL;

#define FAR 4.0            // times the variance that constants allow: two sigmas
#define MOST_TIMES_OFF 5.0 // further off it is more likely another job (1 in 400 of all published steps)

typedef struct Reading {
    Arena *arena;
    const StudySpec *study;
    const char *const *asked; // NULL-ended, or NULL
    Problems *problems;
    LIST_OF(Anchor) anchors;
} Reading;

// ---- Simulated.

static bool is_the_job(Reading *reading, const MeasuredStep *step, const Anchor *anchor) {
    if (fabs(log(anchor->measured_s / anchor->step_s)) <= log(MOST_TIMES_OFF)) return true;
    problem_add(reading->problems, step->where, "%.4g s measured and %.4g s simulated are further apart than %g times",
                anchor->measured_s, anchor->step_s, MOST_TIMES_OFF);
    return problem_hint(reading->problems,
                        "is it this model, batch, length, precision and number of GPUs? a step has all "
                        "micro-batches of its global batch");
}

static const char *degree(Arena *arena, const char *before, const char *name, int degree) {
    return degree > 1 ? arena_printf(arena, "%s%s %d, ", before, name, degree) : before;
}

static void say_note(Arena *arena, const char *text) {
    text = arena_printf(arena, "note: %s", text);
    text_say(stderr, text);
    answer_shares_screen(text_width(text));
}

// The words have only changed settings: this prints all decisive ones.
static void say_what_it_is(Arena *arena, const MeasuredStep *step, const Resolved *r, int gpus, double simulated_s,
                           double of_job) {
    char simulated[32], measured[32];
    const char *line = step->where.line > 0 ? arena_printf(arena, ":%d", step->where.line) : "";
    const char *layout = degree(arena, "", "TP", r->tp), *own = "";
    layout = degree(arena, layout, "PP", r->pp);
    layout = degree(arena, layout, "CP", r->cp);
    layout = degree(arena, layout, "EP", r->ep);
    if (of_job > 0 && of_job != r->global_batch) own = arena_printf(arena, " (not the job's %g)", of_job);
    say_note(arena,
             arena_printf(arena, "%s%s: %d GPUs, %sDP %d, micro-batch %g, global batch %g%s: simulated %s, measured %s",
                          step->where.file, line, gpus, layout, r->dp, r->micro_batch, r->global_batch, own,
                          quantity_format(simulated_s, QUANTITY_TIME, simulated, sizeof simulated),
                          quantity_format(step->seconds, QUANTITY_TIME, measured, sizeof measured)));
}

static void simulate_measured(Reading *reading, MeasuredStep *step) {
    Arena *arena = reading->arena;
    StudySpec study;
    StudyPlace place;
    if (!measured_place(arena, reading->study, step, reading->asked, &study, &place, reading->problems)) return;
    SimulationOptions options = {.runs = study.seeds, .seed = study.seed, .assume_fits = true}; // it ran
    SimulatedStep simulated = simulate_step(arena, place.cluster, place.training, &options, reading->problems);
    if (!simulated.ran) return;
    const Resolved *resolved = &simulated.lowered->resolved;
    measured_settle(step, place.training, resolved->global_batch, resolved->micro_batches, place.cluster->gpu_count);
    Anchor anchor = step_as_anchor(arena, &simulated, place.cluster, place.training, simulated.step_p50_s);
    anchor.measured_s = step->seconds;
    say_what_it_is(arena, step, resolved, place.cluster->gpu_count, anchor.step_s,
                   reading->study->training.global_batch);
    if (is_the_job(reading, step, &anchor)) LIST_PUSH(arena, &reading->anchors, anchor);
}

// ---- Told.

// Of similar anchors, the first.
static bool is_first_of_its_like(const Anchors *anchors, int i) {
    for (int j = 0; j < i; j++)
        if (anchor_speaks_of(&anchors->items[j], &anchors->items[i])) return false;
    return true;
}

static void say_what_of(Arena *arena, const Anchors *anchors) {
    for (int i = 0; i < anchors->count; i++) {
        const Anchor *anchor = &anchors->items[i];
        double least = INFINITY, most = 0;
        if (!is_first_of_its_like(anchors, i)) continue;
        for (int j = i; j < anchors->count; j++) {
            if (!anchor_speaks_of(&anchors->items[j], anchor)) continue;
            double times = anchors->items[j].measured_s / anchors->items[j].step_s;
            least = fmin(least, times);
            most = fmax(most, times);
        }
        const char *to = most > 1.005 * least ? arena_printf(arena, " to %.2f", most) : "";
        say_note(arena,
                 arena_printf(arena, "steps of %s in %s (%s) take %.2f%s times what is simulated%s", anchor->gpu->name,
                              precision_name(anchor->training->precision), framework_name(anchor->training->framework),
                              least, to, anchors->surprise[i] > FAR ? ", more than constants allow" : ""));
    }
}

// ---- Options.

static void read_words(Reading *reading, const Options *options) {
    int count = 0;
    const char *const *words = option_texts(options, "measured", &count);
    if (!anchors_may_be(reading->anchors.count + count, (Where){"--measured", 0}, reading->problems)) return;
    for (int i = 0; i < count; i++) {
        int before = problems_added(reading->problems);
        MeasuredStep step = measured_of_words(reading->arena, words[i], reading->problems);
        if (problems_added(reading->problems) == before) simulate_measured(reading, &step);
    }
}

// Files whose rows name a model describe whole jobs; rows of others, and logs, are of the study's job.
static const Anchors *read_files(Reading *reading, const Options *options, const Catalogue *catalogue) {
    int count = 0, whole = 0, before = problems_added(reading->problems);
    const char *const *paths = option_texts(options, "anchor", &count);
    const char **jobs = ARENA_ARRAY(reading->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        int added = problems_added(reading->problems);
        MeasuredSteps steps = {0};
        if (!reading->study || !measured_read_file(reading->arena, paths[i], &steps, reading->problems))
            jobs[whole++] = paths[i];
        for (int k = 0; k < steps.count && problems_added(reading->problems) == added; k++)
            simulate_measured(reading, &steps.items[k]);
    }
    if (whole == 0 || problems_added(reading->problems) > before) return NULL;
    CHECK(anchors_reader);
    return anchors_reader(reading->arena, catalogue, jobs, whole, reading->problems);
}

bool study_has_anchors(const Options *options) {
    return option_given(options, "anchor") || option_given(options, "measured");
}

const Anchors *study_anchors(Arena *arena, const Options *options, const Catalogue *catalogue, const StudySpec *study,
                             const char *const *asked, const char *why_none, Problems *problems) {
    if (!study_has_anchors(options)) return NULL;
    int before = problems_added(problems);
    Reading reading = {.arena = arena, .study = study, .asked = asked, .problems = problems};
    const Anchors *files = read_files(&reading, options, catalogue);
    if (study) {
        read_words(&reading, options);
    } else if (option_given(options, "measured")) {
        problem_add(problems, (Where){0}, "--measured: %s", why_none);
        problem_hint(problems,
                     "--anchor FILE.csv takes runs that say their job (calibrate/measurements/training/README.md)");
    }
    int all_count = reading.anchors.count + (files ? files->count : 0);
    if (problems_added(problems) > before || !anchors_may_be(all_count, (Where){"--anchor", 0}, problems)) return NULL;
    for (int i = 0; files && i < files->count; i++) LIST_PUSH(arena, &reading.anchors, files->items[i]);
    Anchors *all = ARENA_NEW(arena, Anchors);
    *all = (Anchors){.items = reading.anchors.items, .count = reading.anchors.count};
    anchors_solve(arena, all);
    say_what_of(arena, all);
    return all;
}

void anchors_tell_unheard(const Anchors *anchors) {
    for (int i = 0; anchors && i < anchors->count; i++) {
        const Anchor *anchor = &anchors->items[i];
        bool heard = false;
        for (int j = i; j < anchors->count; j++)
            heard |= anchors->heard[j] && anchor_speaks_of(&anchors->items[j], anchor);
        if (heard || !is_first_of_its_like(anchors, i)) continue;
        fprintf(stderr,
                "note: nothing is simulated on %s in %s with %s software: what was measured there corrects nothing\n",
                anchor->gpu->name, precision_name(anchor->training->precision),
                framework_name(anchor->training->framework));
    }
}

void anchors_will_hear(const Anchors *anchors, const Gpu *gpu, const TrainingSpec *training) {
    Anchor step = {.gpu = gpu, .training = training};
    for (int i = 0; anchors && i < anchors->count; i++)
        anchors->heard[i] |= anchor_speaks_of(&anchors->items[i], &step);
}
