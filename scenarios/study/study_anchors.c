// Anchors of a study: whole jobs from files, and runs of its own job with some settings changed.
#include "scenarios/study/study_anchors.h"

#include <math.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "results/answer/answer.h"
#include "scenarios/study/measured.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

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
