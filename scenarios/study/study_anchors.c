// Anchors of a study: whole jobs from files, and runs of its own job with some settings changed.
#include "scenarios/study/study_anchors.h"

#include <math.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "scenarios/study/study_point.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

AnchorsReader *anchors_reader = NULL;

#define FAR 4.0            // times the variance that constants allow: two sigmas
#define MOST_TIMES_OFF 5.0 // further off it is more likely another job (1 in 400 of all published steps)

// A measured run of the study's own job.
typedef struct MeasuredStep {
    Where where;
    struct {
        Variation *items;
        int count, room;
    } settings; // one value each
    double seconds;
} MeasuredStep;

typedef struct Reading {
    Arena *arena;
    const StudySpec *study;
    const char *const *asked; // NULL-ended, or NULL
    Problems *problems;
    struct {
        Anchor *items;
        int count, room;
    } anchors;
} Reading;

// ---- What was measured, in words.

static void set(Reading *reading, MeasuredStep *step, const char *name, const char *text) {
    int most;
    study_vary_names(&most);
    if (step->settings.count > most) return;
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

static void set_seconds(Reading *reading, MeasuredStep *step, const char *name, const char *text, double unit) {
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
static MeasuredStep step_of_words(Reading *reading, const char *words) {
    MeasuredStep step = {.where = {arena_printf(reading->arena, "--measured %s", words), 0}};
    const char *equals = strrchr(words, '=');
    if (!equals || equals == words) {
        problem_add(reading->problems, step.where, "this names no run and its time");
        problem_hint(reading->problems, "for example --measured 8=0.412s: on 8 GPUs a step of this job took 0.412 s");
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
    double unit; // in seconds; 0: cells say it
} time_columns[] = {{"step_time", 0}, {"step_time_s", 1}, {"iter_time_s", 1}, {"step_time_ms", 1e-3}};
enum { TIME_COLUMNS = sizeof time_columns / sizeof *time_columns };

static int find_column(const Csv *csv, const char *name) {
    for (int c = 0; c < csv->column_count; c++)
        if (strcmp(csv->columns[c], name) == 0) return c;
    return -1;
}

static MeasuredStep step_of_row(Reading *reading, const Csv *csv, int row) {
    MeasuredStep step = {.where = csv_where(csv, row)};
    for (int c = 0; c < csv->column_count; c++) {
        const char *name = csv->columns[c], *cell = csv_cell(csv, row, c);
        int time = 0;
        while (time < TIME_COLUMNS && strcmp(time_columns[time].name, name) != 0) time++;
        if (time < TIME_COLUMNS)
            set_seconds(reading, &step, name, cell, time_columns[time].unit);
        else if (*cell)
            set(reading, &step, name, cell);
    }
    return step;
}

static bool has_time_column(const Csv *csv) {
    for (int t = 0; t < TIME_COLUMNS; t++)
        if (find_column(csv, time_columns[t].name) >= 0) return true;
    return false;
}

// ---- Simulated.

static bool says(const MeasuredStep *step, const char *name) {
    for (int i = 0; i < step->settings.count; i++)
        if (strcmp(step->settings.items[i].name, name) == 0) return true;
    return false;
}

static void ask(Reading *reading, const MeasuredStep *step, const char *name, const char *of) {
    problem_add(reading->problems, step->where, "the %s of the run that was measured is not said%s", name, of);
    problem_hint(reading->problems, "add it: --measured 8,%s=…=0.412s, or a column \"%s\" in the file", name, name);
}

static void ask_what_is_open(Reading *reading, const MeasuredStep *step) {
    const StudySpec *study = reading->study;
    for (const char *const *name = reading->asked; name && *name; name++)
        if (!says(step, *name)) ask(reading, step, *name, "");
    for (int v = 0; v < study->vary_count; v++)
        if (!says(step, study->vary[v].name) && study->vary[v].count > 1)
            ask(reading, step, study->vary[v].name, ", and this varies it");
}

// What is varied and was not said has one value.
static StudySpec measured_study(Reading *reading, MeasuredStep *step) {
    StudySpec study = *reading->study;
    for (int v = 0; v < study.vary_count; v++)
        if (!says(step, study.vary[v].name)) LIST_PUSH(reading->arena, &step->settings, study.vary[v]);
    study.vary = step->settings.items;
    study.vary_count = step->settings.count;
    study.training.anchors = NULL;
    return study;
}

static bool is_the_job(Reading *reading, const MeasuredStep *step, const Anchor *anchor) {
    if (fabs(log(anchor->measured_s / anchor->step_s)) <= log(MOST_TIMES_OFF)) return true;
    problem_add(reading->problems, step->where, "%.4g s measured and %.4g s simulated are further apart than %g times",
                anchor->measured_s, anchor->step_s, MOST_TIMES_OFF);
    problem_hint(reading->problems, "is it this model, batch, length, precision and number of GPUs? a step has all "
                                    "micro-batches of its global batch");
    return false;
}

static void say_degree(const char *name, int degree) {
    if (degree > 1) fprintf(stderr, "%s %d, ", name, degree);
}

// What stays as the job has it is not in the words: so all that decides is said.
static void say_what_it_is(const MeasuredStep *step, const Resolved *r, int gpus, double simulated_s) {
    char simulated[32], measured[32];
    if (step->where.line > 0) fprintf(stderr, "note: %s:%d: ", step->where.file, step->where.line);
    if (step->where.line == 0) fprintf(stderr, "note: %s: ", step->where.file);
    fprintf(stderr, "%d GPUs, ", gpus);
    say_degree("TP", r->tp);
    say_degree("PP", r->pp);
    say_degree("CP", r->cp);
    say_degree("EP", r->ep);
    fprintf(stderr, "DP %d, micro-batch %g, global batch %g: simulated %s, measured %s\n", r->dp, r->micro_batch,
            r->global_batch, quantity_format(simulated_s, QUANTITY_TIME, simulated, sizeof simulated),
            quantity_format(step->seconds, QUANTITY_TIME, measured, sizeof measured));
}

static void simulate_measured(Reading *reading, MeasuredStep *step) {
    static const int first[MOST_VARIED];
    Arena *arena = reading->arena;
    int before = problems_added(reading->problems);
    ask_what_is_open(reading, step);
    StudySpec study = measured_study(reading, step);
    if (problems_added(reading->problems) > before || !study_check(&study, reading->problems)) return;
    StudyPlace place = study_place(arena, &study, first, reading->problems);
    if (!place.cluster || problems_added(reading->problems) > before) return;
    SimulationOptions options = {.runs = study.seeds, .seed = study.seed, .assume_fits = true}; // it ran
    SimulatedStep simulated = simulate_step(arena, place.cluster, place.training, &options, reading->problems);
    if (!simulated.ran) return;
    Anchor anchor = step_as_anchor(arena, &simulated, place.cluster, place.training, simulated.step_p50_s);
    anchor.measured_s = step->seconds;
    say_what_it_is(step, &simulated.lowered->resolved, place.cluster->gpu_count, anchor.step_s);
    if (is_the_job(reading, step, &anchor)) LIST_PUSH(arena, &reading->anchors, anchor);
}

// ---- Told.

// Of anchors alike, the first.
static bool is_first_of_its_like(const Anchors *anchors, int i) {
    for (int j = 0; j < i; j++)
        if (anchor_speaks_of(&anchors->items[j], &anchors->items[i])) return false;
    return true;
}

static void say_what_of(const Anchors *anchors) {
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
        fprintf(stderr, "note: anchored on measured steps of %s in %s, %s software: %.2f", anchor->gpu->name,
                precision_name(anchor->training->precision), framework_name(anchor->training->framework), least);
        if (most > least) fprintf(stderr, " to %.2f", most);
        fprintf(stderr, " times what is simulated%s\n",
                anchors->surprise[i] > FAR ? ", more than its constants allow; believed all the same" : "");
    }
}

// ---- Options.

static void read_words(Reading *reading, const Options *options) {
    int count = 0;
    const char *const *words = option_texts(options, "measured", &count);
    if (!anchors_may_be(reading->anchors.count + count, (Where){"--measured", 0}, reading->problems)) return;
    for (int i = 0; i < count; i++) {
        int before = problems_added(reading->problems);
        MeasuredStep step = step_of_words(reading, words[i]);
        if (problems_added(reading->problems) == before) simulate_measured(reading, &step);
    }
}

static void read_rows(Reading *reading, const Csv *csv) {
    if (!anchors_may_be(reading->anchors.count + csv->row_count, (Where){csv->file, 0}, reading->problems)) return;
    for (int row = 0; row < csv->row_count; row++) {
        int before = problems_added(reading->problems);
        MeasuredStep step = step_of_row(reading, csv, row);
        if (problems_added(reading->problems) == before && !(step.seconds > 0)) ask(reading, &step, "step_time", "");
        if (problems_added(reading->problems) == before) simulate_measured(reading, &step);
    }
}

// Files whose rows say their model describe whole jobs; rows of others are of the study's.
static const Anchors *read_files(Reading *reading, const Options *options, const Catalogue *catalogue) {
    int count = 0, whole = 0, before = problems_added(reading->problems);
    const char *const *paths = option_texts(options, "anchor", &count);
    const char **jobs = ARENA_ARRAY(reading->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        const Csv *csv = csv_read_file(reading->arena, paths[i], reading->problems);
        if (!csv) continue;
        if (reading->study && has_time_column(csv) && find_column(csv, "model") < 0)
            read_rows(reading, csv);
        else
            jobs[whole++] = paths[i];
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
    say_what_of(all);
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
