// Warnings about a comparison of policies: a run that is too short, a cluster that is too small, differences that are
// not significant.
#include <math.h>

#include "scenarios/queue/queue_answer.h"
#include "sim/base/quantity.h"

static const char *const figure_words[QUEUE_FIGURE_COUNT] = {
    [QUEUE_WAIT_MEAN] = "the mean wait", [QUEUE_WAIT_P50] = "the median wait", [QUEUE_WAIT_P95] = "the p95 wait",
    [QUEUE_IN_USE] = "what is in use",   [QUEUE_FAIRNESS] = "the fairness",
};

static const char *time_text(Arena *arena, double seconds) {
    char text[64];
    return arena_copy_text(arena, quantity_format(seconds, QUANTITY_TIME, text, sizeof text));
}

static bool is_drawn(const QueueStudy *study) { return !study->trace && !study->list; }

// ---- More work than the cluster can do. Who comes after a time t finds work for load * t, of which t is done.

static const char *overload(Arena *arena, const QueueStudy *study, const PolicyAnswer *answer) {
    double load = is_drawn(study) && study->load > 0 ? study->load : answer->load;
    double gpus = (double)study->spec.nodes * study->spec.gpus_per_node;
    if (load < 1) return NULL;
    double jobs_per_day = answer->days > 0 ? queue_study_job_count(study) / answer->days : 0;
    return arena_printf(
        arena,
        "%.0f %% of what %.0f GPUs can do comes: every day the queue grows by %.3g GPU-hours, about %.3g "
        "jobs, and after a week jobs wait about %s; figures here grow with the length of the run",
        100 * load, gpus, (load - 1) * gpus * 24, jobs_per_day * (1 - 1 / load),
        time_text(arena, (load - 1) * 7 * 86400));
}

// ---- Too short.

static const char *still_filling(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *first = &answers[0];
    double used = 0, offered = demand_gpus(&study->demand) / ((double)study->spec.nodes * study->spec.gpus_per_node);
    for (int p = 0; p < study->policy_count; p++) used = fmax(used, answers[p].utilisation);
    if (!is_drawn(study) || !queue_still_filling(study, answers)) return NULL;
    return arena_printf(
        arena,
        "too short to say: %.1f %% is in use where %.1f %% is offered; jobs come for %s, and the longest "
        "runs for %s; %s",
        100 * used, 100 * offered, time_text(arena, first->days * 86400), time_text(arena, first->longest_days * 86400),
        study->lengthens ? "say --within P, or give more --jobs" : "without --jobs the run lengthens by itself");
}

// Names of the policies for which it holds, "fifo, easy"; NULL: none.
static const char *names_of(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers,
                            bool (*holds)(const QueueStudy *, const PolicyAnswer *)) {
    const char *names = NULL;
    for (int p = 0; p < study->policy_count; p++)
        if (holds(study, &answers[p]))
            names = names ? arena_printf(arena, "%s, %s", names, answers[p].name) : answers[p].name;
    return names;
}

static bool unsettled(const QueueStudy *study, const PolicyAnswer *answer) {
    (void)study;
    return !answer->warm_up.settled;
}

static const char *beginning(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    int jobs = queue_study_job_count(study), counted = (int)(study->spec.warm_up * jobs), cut = 0;
    for (int p = 0; p < study->policy_count; p++)
        if (answers[p].warm_up.cut > cut) cut = answers[p].warm_up.cut;
    if (jobs < QUEUE_BATCHES * QUEUE_LEAST_BATCH) return NULL; // too few for statistics
    const char *names = names_of(arena, study, answers, unsettled);
    if (names)
        return arena_printf(arena,
                            "under %s the second half of the run is not like the first (MSER-5 finds no end of the "
                            "beginning): figures depend on how long it runs",
                            names);
    if (cut <= counted + 1) return NULL;
    return arena_printf(
        arena,
        "the first %d jobs find an emptier cluster than those after them (MSER-5), and %d of them count: "
        "--warm-up %.2g leaves them out",
        cut, cut - counted, fmin(0.9, (double)cut / jobs + 0.005));
}

// What a policy leaves undone although all GPUs together could do it.
static bool falls_behind(const QueueStudy *study, const PolicyAnswer *answer) {
    double offered = is_drawn(study) ? demand_gpus(&study->demand) / answer->gpus : 0;
    return answer->utilisation + answer->in_use_half + 0.01 < offered;
}

static const char *behind(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const char *names = names_of(arena, study, answers, falls_behind);
    return names ? arena_printf(arena,
                                "%s cannot keep up: less is in use than comes, and waiting grows with the length "
                                "of the run",
                                names)
                 : NULL;
}

static const char *imprecise(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    int policy = 0, jobs = queue_study_job_count(study);
    QueueFigure figure = QUEUE_WAIT_MEAN;
    double excess = queue_worst_excess(study, answers, &policy, &figure);
    if (answers[0].sample_count < 2)
        return arena_printf(arena, "%d jobs are too few for an interval: how sure the figures are is not known", jobs);
    if (!(excess > 1)) return NULL;
    const char *what = figure_words[figure], *name = answers[policy].name;
    double half = answers[policy].of[figure].half, mean = queue_figure(&answers[policy], figure);
    const char *known = figure == QUEUE_FAIRNESS || figure == QUEUE_IN_USE
                            ? arena_printf(arena, "%.2g ± %.2g", mean, half)
                            : arena_printf(arena, "%s ± %s", time_text(arena, mean), time_text(arena, half));
    if (!is_drawn(study))
        return arena_printf(
            arena, "%s under %s is %s (90 %%): known to within %.0f %% it would take about %.2g times the jobs", what,
            name, known, 100 * study->precision, excess * excess);
    return arena_printf(arena, "%s under %s is %s (90 %%): to within %.0f %% it takes about %s jobs a run%s", what,
                        name, known, 100 * study->precision, arena_printf(arena, "%.2g", excess * excess * jobs),
                        study->lengthens ? "; --within P allows longer runs" : "");
}

static bool no_job_waits(const QueueStudy *study, const PolicyAnswer *answers) {
    for (int p = 0; p < study->policy_count; p++)
        if (answers[p].waited_share > 0) return false;
    return true;
}

void queue_doubts(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, AddNote *add, void *notes) {
    const char *over = overload(arena, study, &answers[0]);
    const char *filling = over ? NULL : still_filling(arena, study, answers);
    const char *doubts[] = {over, filling, over || filling ? NULL : beginning(arena, study, answers),
                            over || filling ? NULL : behind(arena, study, answers),
                            over || filling ? NULL : imprecise(arena, study, answers)};
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
        if (doubts[i]) add(arena, notes, doubts[i]);
    if (no_job_waits(study, answers)) add(arena, notes, "no job waits: this run cannot tell one policy from another");
}

// ---- Policies by pairs.

static const char *verdict(const QueueSample *a, const QueueSample *b, int count, QueueInterval difference) {
    bool same = true;
    for (int i = 0; i < count; i++) same = same && a[i].figures[QUEUE_WAIT_MEAN] == b[i].figures[QUEUE_WAIT_MEAN];
    if (same) return "the same wait";
    if (!(fabs(difference.mean) > difference.half)) return "no difference that this run can show";
    return difference.mean < 0 ? "shorter wait" : "longer wait";
}

RecordTable queue_differences(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *base = &answers[0];
    static const QueueFigure figures[] = {QUEUE_WAIT_MEAN, QUEUE_WAIT_P95, QUEUE_IN_USE};
    static const RecordColumn columns[] = {
        {"policy", "policy", RECORD_TEXT},
        {"wait_mean_difference_s", "wait mean", RECORD_SECONDS},
        {"wait_mean_difference_half_s", "± 90 %", RECORD_SECONDS},
        {"wait_p95_difference_s", "p95", RECORD_SECONDS},
        {"wait_p95_difference_half_s", "± 90 %", RECORD_SECONDS},
        {"utilisation_difference", "in use", RECORD_SHARE},
        {"utilisation_difference_half", "± 90 %", RECORD_SHARE},
        {"verdict", "", RECORD_TEXT},
    };
    int count = (int)(sizeof columns / sizeof *columns);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count * study->policy_count), *cell = cells;
    for (int p = 1; p < study->policy_count; p++) {
        QueueInterval wait = {0};
        *cell++ = (RecordCell){answers[p].name, NAN};
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            QueueInterval difference =
                queue_difference(answers[p].samples, base->samples, base->sample_count, figures[f], base->in_a_row);
            if (f == 0) wait = difference;
            *cell++ = (RecordCell){NULL, difference.mean};
            *cell++ = (RecordCell){NULL, difference.half};
        }
        *cell++ = (RecordCell){verdict(answers[p].samples, base->samples, base->sample_count, wait), NAN};
    }
    return (RecordTable){"differences", arena_printf(arena, "Against %s, on the same jobs", base->name),
                         columns,       count,
                         cells,         study->policy_count - 1,
                         NULL};
}
