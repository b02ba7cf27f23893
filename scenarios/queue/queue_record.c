// Tables, curves, assumptions and notes of an answer about a shared cluster.
#include "scenarios/queue/queue_study.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/digest.h"
#include "sim/base/text.h"

#define BINS 240

// ---- Curves.

static int order_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The share of jobs that have waited no longer, at 200 quantiles.
static RecordCurve waits_curve(Arena *arena, const char *name, const QueueJobs *jobs, const QueueRun *run) {
    int count = jobs->count - run->first, points = count < 200 ? count : 200;
    Arena *scratch = arena_open();
    double *waits = ARENA_ARRAY(scratch, double, count);
    double *x = ARENA_ARRAY(arena, double, points), *y = ARENA_ARRAY(arena, double, points);
    for (int i = 0; i < count; i++)
        waits[i] = 1e-9 * (double)(run->outcomes[run->first + i].start - jobs->items[run->first + i].arrival);
    qsort(waits, (size_t)count, sizeof *waits, order_numbers);
    int kept = 0;
    for (int i = 0; i < points; i++) {
        int last = (int)((int64_t)(i + 1) * count / points) - 1;
        if (kept > 0 && x[kept - 1] == waits[last]) kept--; // of equal waits the last
        x[kept] = waits[last];
        y[kept++] = (double)(last + 1) / count;
    }
    arena_close(scratch);
    return (RecordCurve){.name = name, .x = x, .y = y, .count = kept};
}

// Means over equal stretches of the run, in hours.
void add_curves(Arena *arena, PolicyAnswer *answer, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run) {
    double *x = ARENA_ARRAY(arena, double, BINS), *busy = ARENA_ARRAY(arena, double, BINS);
    double *queue = ARENA_ARRAY(arena, double, BINS), gpus = (double)spec->nodes * spec->gpus_per_node;
    const QueueMoment *history = run->history;
    SimTime end = run->history_count > 0 ? history[run->history_count - 1].time : 0;
    double width = (double)end / BINS;
    for (int i = 0; i < BINS; i++) x[i] = (i + 0.5) * width / 3.6e12;
    for (int i = 0; i + 1 < run->history_count && width > 0; i++) {
        double from = (double)history[i].time / width, to = (double)history[i + 1].time / width;
        for (int bin = (int)from; bin < BINS && bin < to; bin++) {
            double part = fmin(to, bin + 1) - fmax(from, bin);
            busy[bin] += part * history[i].busy_gpus / gpus;
            queue[bin] += part * history[i].waiting_jobs;
        }
    }
    const char *name = spec->policy->name;
    answer->busy = (RecordCurve){.name = name, .x = x, .y = busy, .count = BINS};
    answer->queue = (RecordCurve){.name = name, .x = x, .y = queue, .count = BINS};
    answer->waits = waits_curve(arena, name, jobs, run);
}

static void set_charts(Arena *arena, Record *record, const QueueStudy *study, const PolicyAnswer *answers) {
    static const struct {
        const char *name, *title, *x_title, *y_title;
        size_t offset;
        bool log_x;
        double y_max;
    } rows[] = {
        {"utilisation", "GPUs in use", "time (h)", "share of all GPUs", offsetof(PolicyAnswer, busy), false, 1},
        {"queue", "jobs that wait", "time (h)", "jobs", offsetof(PolicyAnswer, queue), false, NAN},
        {"waiting", "how long jobs wait", "waiting time (s)", "share of jobs", offsetof(PolicyAnswer, waits), true, 1},
    };
    int count = (int)(sizeof rows / sizeof *rows);
    RecordChart *charts = ARENA_ARRAY(arena, RecordChart, count);
    for (int i = 0; i < count; i++) {
        RecordCurve *curves = ARENA_ARRAY(arena, RecordCurve, study->policy_count);
        for (int p = 0; p < study->policy_count; p++)
            curves[p] = *(const RecordCurve *)(const void *)((const char *)&answers[p] + rows[i].offset);
        const char *draw =
            study->seeds > 1 ? arena_printf(arena, ", first of %d draws (tables have all)", study->seeds) : "";
        charts[i] = (RecordChart){.name = rows[i].name,
                                  .title = arena_printf(arena, "%s: %s%s", record->title, rows[i].title, draw),
                                  .x_title = rows[i].x_title,
                                  .y_title = rows[i].y_title,
                                  .curves = curves,
                                  .curve_count = study->policy_count,
                                  .log_x = rows[i].log_x,
                                  .y_max = rows[i].y_max};
    }
    record->charts = charts;
    record->chart_count = count;
}

// ---- Tables. A row has the offset of a column's number.

typedef struct Figure {
    const char *name, *title;
    RecordUnit unit;
    size_t offset; // of a double of a PolicyAnswer
} Figure;

#define OF(member_) offsetof(PolicyAnswer, member_)
static const Figure policy_figures[] = {
    {"jobs", NULL, RECORD_COUNT, OF(all.jobs)},
    {"wait_mean_s", "wait mean", RECORD_SECONDS, OF(all.wait_mean_s)},
    {"wait_mean_half_s", "± 90 %", RECORD_SECONDS, OF(wait_mean_half_s)},
    {"wait_p50_s", "p50", RECORD_SECONDS, OF(all.wait_p50_s)},
    {"wait_p50_half_s", NULL, RECORD_SECONDS, OF(wait_p50_half_s)},
    {"wait_p90_s", NULL, RECORD_SECONDS, OF(all.wait_p90_s)},
    {"wait_p95_s", "p95", RECORD_SECONDS, OF(all.wait_p95_s)},
    {"wait_p95_half_s", NULL, RECORD_SECONDS, OF(wait_p95_half_s)},
    {"wait_max_s", "max", RECORD_SECONDS, OF(all.wait_max_s)},
    {"waited_share", "waited", RECORD_SHARE, OF(waited_share)},
    {"slowdown_mean", "slowdown", RECORD_NUMBER, OF(all.slowdown_mean)},
    {"slowdown_p95", NULL, RECORD_NUMBER, OF(all.slowdown_p95)},
    {"utilisation", "in use", RECORD_SHARE, OF(utilisation)},
    {"utilisation_half", NULL, RECORD_SHARE, OF(in_use_half)},
    {"goodput", "goodput", RECORD_SHARE, OF(goodput)},
    {"stranded", "stranded", RECORD_SHARE, OF(stranded)},
    {"fragmentation", "fragments", RECORD_SHARE, OF(fragmentation)},
    {"fairness", "fairness", RECORD_NUMBER, OF(fairness)},
    {"fairness_half", NULL, RECORD_NUMBER, OF(fairness_half)},
    {"waiting_jobs_mean", NULL, RECORD_COUNT, OF(waiting_mean)},
    {"crossing_share", NULL, RECORD_SHARE, OF(crossing_share)},
    {"placement_slowdown", NULL, RECORD_NUMBER, OF(mean_slowdown)},
    {"preemptions", NULL, RECORD_COUNT, OF(preemptions)},
    {"node_failures", NULL, RECORD_COUNT, OF(node_failures)},
    {"failure_stops", NULL, RECORD_COUNT, OF(failure_stops)},
    {"down_share", NULL, RECORD_SHARE, OF(down)},
    {"makespan_s", NULL, RECORD_SECONDS, OF(makespan_s)},
};
#define FIGURES ((int)(sizeof policy_figures / sizeof *policy_figures))

static double figure_at(const PolicyAnswer *answer, const Figure *figure) {
    return *(const double *)(const void *)((const char *)answer + figure->offset);
}

// Columns without information are not displayed: intervals of one seed, stops without failures.
static const char *title_of(const QueueStudy *study, const PolicyAnswer *answers, const Figure *figure) {
    if (figure->offset == OF(wait_mean_half_s) && answers[0].sample_count < 2) return NULL;
    if (figure->offset == OF(mean_slowdown) && study->spec.network) return "spread";
    if (figure->offset == OF(failure_stops) && study->spec.faults) return "failed";
    if (figure->offset == OF(down) && study->spec.faults) return "down";
    for (int i = 0; i < study->policy_count && figure->offset == OF(preemptions); i++)
        if (study->policies[i]->preempts && study->demand.urgent_share > 0) return "preempted";
    return figure->title;
}

static RecordTable policy_table(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    int columns = FIGURES + 1;
    RecordColumn *column = ARENA_ARRAY(arena, RecordColumn, columns);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, columns * study->policy_count), *cell = cells;
    column[0] = (RecordColumn){"policy", "policy", RECORD_TEXT};
    for (int i = 0; i < FIGURES; i++)
        column[i + 1] = (RecordColumn){policy_figures[i].name, title_of(study, answers, &policy_figures[i]),
                                       policy_figures[i].unit};
    for (int p = 0; p < study->policy_count; p++) {
        *cell++ = (RecordCell){answers[p].name, NAN};
        for (int i = 0; i < FIGURES; i++) *cell++ = (RecordCell){NULL, figure_at(&answers[p], &policy_figures[i])};
    }
    const char *means =
        study->seeds > 1 ? arena_printf(arena, "Means of %d runs, of each one's p50 and p95 too", study->seeds) : "";
    return (RecordTable){"policies", means, column, columns, cells, study->policy_count, NULL};
}

// Displayed table: one column per size class.
static RecordTable size_table(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    static const char *const names[QUEUE_CLASS_COUNT] = {"gpus_part", "gpus_1",          "gpus_below_node",
                                                         "gpus_node", "gpus_to_8_nodes", "gpus_above_8_nodes"};
    QueueClass classes[QUEUE_CLASS_COUNT];
    int columns = QUEUE_CLASS_COUNT + 1;
    RecordColumn *column = ARENA_ARRAY(arena, RecordColumn, columns);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, columns * study->policy_count), *cell = cells;
    queue_classes(arena, study->spec.gpus_per_node, classes);
    column[0] = (RecordColumn){"policy", "policy", RECORD_TEXT};
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
        bool any = false;
        for (int p = 0; p < study->policy_count; p++) any = any || answers[p].by_class[c].seeds > 0;
        column[c + 1] = (RecordColumn){names[c], any ? classes[c].name : NULL, RECORD_SECONDS};
    }
    for (int p = 0; p < study->policy_count; p++) {
        *cell++ = (RecordCell){answers[p].name, NAN};
        for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
            const WaitsMean *waits = &answers[p].by_class[c];
            *cell++ = (RecordCell){NULL, waits->seeds > 0 ? waits->wait_p95_s : NAN};
        }
    }
    return (RecordTable){"wait_p95_s_by_size",
                         "Waiting time (p95) by GPUs of the job",
                         column,
                         columns,
                         cells,
                         study->policy_count,
                         NULL};
}

// For programs: a row a policy and class.
static RecordTable class_table(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    static const RecordColumn columns[] = {
        {"policy", "policy", RECORD_TEXT},
        {"gpus", "GPUs", RECORD_TEXT},
        {"jobs", "jobs", RECORD_COUNT},
        {"wait_mean_s", "mean wait", RECORD_SECONDS},
        {"wait_p50_s", "p50", RECORD_SECONDS},
        {"wait_p90_s", "p90", RECORD_SECONDS},
        {"wait_p95_s", "p95", RECORD_SECONDS},
        {"wait_max_s", "longest", RECORD_SECONDS},
        {"slowdown_mean", "slowdown", RECORD_NUMBER},
        {"slowdown_p95", "slowdown p95", RECORD_NUMBER},
    };
    QueueClass classes[QUEUE_CLASS_COUNT];
    int count = (int)(sizeof columns / sizeof *columns), rows = 0;
    queue_classes(arena, study->spec.gpus_per_node, classes);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count * study->policy_count * QUEUE_CLASS_COUNT), *cell = cells;
    for (int p = 0; p < study->policy_count; p++)
        for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
            const WaitsMean *w = &answers[p].by_class[c];
            if (w->seeds == 0) continue;
            const double numbers[] = {w->jobs,       w->wait_mean_s, w->wait_p50_s,    w->wait_p90_s,
                                      w->wait_p95_s, w->wait_max_s,  w->slowdown_mean, w->slowdown_p95};
            *cell++ = (RecordCell){answers[p].name, NAN};
            *cell++ = (RecordCell){classes[c].name, NAN};
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *cell++ = (RecordCell){NULL, numbers[i]};
            rows++;
        }
    return (RecordTable){"classes", NULL, columns, count, cells, rows, NULL};
}

// A trace's own waits, compared with those of each policy: one row per size class.
static void measured_waits(Arena *arena, const QueueStudy *study, int least, int most, bool parts, int *count,
                           Summary *waits) {
    const QueueJobs *jobs = study->trace->jobs;
    Arena *scratch = arena_open();
    double *known = ARENA_ARRAY(scratch, double, jobs->count);
    *count = 0;
    for (int i = (int)(study->spec.warm_up * jobs->count); i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        double wait_s = study->trace->waits_s[job->row];
        if (job->gpus < least || job->gpus > most || (job->share > 0) != parts || isnan(wait_s)) continue;
        known[(*count)++] = wait_s;
    }
    *waits = summarise(arena, known, *count);
    arena_close(scratch);
}

static RecordTable measured_table(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    static const RecordColumn columns[] = {
        {"gpus", "GPUs", RECORD_TEXT},         {"source", "", RECORD_TEXT},
        {"jobs", "jobs", RECORD_COUNT},        {"wait_mean_s", "wait mean", RECORD_SECONDS},
        {"wait_p50_s", "p50", RECORD_SECONDS}, {"wait_p90_s", "p90", RECORD_SECONDS},
        {"wait_max_s", "max", RECORD_SECONDS},
    };
    int count = (int)(sizeof columns / sizeof *columns), rows = 0;
    QueueClass classes[QUEUE_CLASS_COUNT];
    queue_classes(arena, study->spec.gpus_per_node, classes);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count * QUEUE_CLASS_COUNT * (study->policy_count + 1)),
               *cell = cells;
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
        int jobs = 0;
        Summary waits;
        measured_waits(arena, study, classes[c].least, classes[c].most, classes[c].parts, &jobs, &waits);
        for (int p = -1; p < study->policy_count && jobs > 0; p++) {
            const WaitsMean *of = p < 0 ? NULL : &answers[p].by_class[c];
            *cell++ = (RecordCell){classes[c].name, NAN};
            *cell++ = (RecordCell){of ? answers[p].name : "measured", NAN};
            *cell++ = (RecordCell){NULL, of ? of->jobs : jobs};
            *cell++ = (RecordCell){NULL, of ? of->wait_mean_s : waits.mean};
            *cell++ = (RecordCell){NULL, of ? of->wait_p50_s : waits.p50};
            *cell++ = (RecordCell){NULL, of ? of->wait_p90_s : waits.p90};
            *cell++ = (RecordCell){NULL, of ? of->wait_max_s : waits.max};
            rows++;
        }
    }
    return (RecordTable){"measured", "Beside the waits that the trace measured", columns, count, cells, rows, NULL};
}

// ---- Assumptions and notes.

typedef struct Words {
    LIST_OF(Assumption) assumptions;
    LIST_OF(const char *) notes;
} Words;

static void assume(Arena *arena, Words *words, Assumption assumption) {
    LIST_PUSH(arena, &words->assumptions, assumption);
}

static void note(Arena *arena, Words *words, const char *text) { LIST_PUSH(arena, &words->notes, text); }

static Assumption number(const char *name, double value, const char *unit, const char *kind, const char *source) {
    return (Assumption){name, unit, source, kind, NULL, value};
}

static void assume_demand(Arena *arena, Words *words, const QueueStudy *study) {
    const QueueDemand *demand = &study->demand;
    const char *source = study->mix ? study->mix->source : "as asked";
    const char *kind = study->mix ? "measured" : "assumed";
    assume(arena, words, number("mean_gpus", sizes_mean(&demand->sizes), "GPUs", kind, source));
    assume(arena, words, number("mean_duration", durations_mean(&demand->durations), "s", kind, source));
    if (study->mix)
        assume(arena, words,
               (Assumption){"mix", NULL, arena_printf(arena, "%s: %s", study->mix->title, study->mix->assumed),
                            "assumed", study->mix->name, NAN});
    assume(arena, words, number("arrivals", 3600 * demand->per_second, "/h", "stated", "as asked"));
    assume(arena, words,
           number("burstiness", demand->burstiness, "", "assumed",
                  "squared coefficient of variation of the time between arrivals; 1 is Poisson"));
    assume(arena, words, number("users", demand->users, "", "assumed", "the k-th submits in proportion to 1/k"));
    assume(arena, words,
           number("estimate_error", demand->estimate_error, "", "assumed",
                  "estimates are 1 to 1 + this times the truth (Mu'alem and Feitelson, 2001)"));
}

static void assume_weights(Arena *arena, Words *words, const QueueWeights *given) {
    bool none = given->age + given->fair_share + given->size + given->priority == 0;
    const QueueWeights *weights = none ? &queue_usual_weights : given;
    assume(arena, words,
           (Assumption){"weights", NULL, "age over 7 days, fair share, GPUs over all, priority (Slurm's multifactor)",
                        "assumed",
                        arena_printf(arena, "age:%g,share:%g,size:%g,priority:%g", weights->age, weights->fair_share,
                                     weights->size, weights->priority),
                        NAN});
}

static void assume_quotas(Arena *arena, Words *words, const QueueStudy *study) {
    double sum = 0;
    int limited = 0, groups = queue_study_groups(study);
    for (int i = 0; i < groups; i++)
        if (study->spec.quotas[i] < INT32_MAX) sum += study->spec.quotas[i], limited++;
    assume(arena, words,
           number("quotas", sum, "GPUs", "assumed",
                  arena_printf(arena, "of %d of %d groups together, as asked", limited, groups)));
}

static void assume_machines(Arena *arena, Words *words, const QueueStudy *study) {
    const QueueSpec *spec = &study->spec;
    const LifeSpec *faults = spec->faults;
    assume(arena, words,
           (Assumption){"placement", NULL, "as asked", "stated", queue_placement_names[spec->placement], NAN});
    if (faults) {
        double rate = 0;
        for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) rate += faults->faults[i].node_rate;
        assume(arena, words,
               number("node_mtbf", rate > 0 ? 1 / rate / 3600 : NAN, "h", "measured", study->rates->title));
        assume(arena, words, number("repair", faults->repair_s / 3600, "h", "measured", study->rates->title));
    }
    if (spec->checkpoint_every_s > 0) {
        assume(arena, words, number("checkpoint_every", spec->checkpoint_every_s, "s", "stated", "as asked"));
        assume(arena, words, number("checkpoint_cost", spec->checkpoint_s, "s", "stated", "as asked"));
    }
    if (study->elastic > 0) {
        assume(arena, words,
               number("elastic", study->elastic, "", "assumed", "least part of its GPUs that a job starts on"));
        assume(arena, words, number("scaling", spec->scaling, "", "assumed", "speed on n of N GPUs is (n / N)^this"));
    }
    for (int p = 0; p < study->policy_count; p++)
        if (study->policies[p]->order == QUEUE_BY_FACTORS) assume_weights(arena, words, &spec->weights);
    if (spec->quotas) assume_quotas(arena, words, study);
    if (study->lengthens)
        assume(arena, words,
               number("within", study->precision, "", "assumed",
                      "half of the 90 % interval over its figure, sought by lengthening the run"));
    if (!study->find)
        assume(arena, words,
               number("warm_up", spec->warm_up, "", "assumed",
                      study->warm_up_said || study->trace || study->list
                          ? "part of the jobs that come first, not counted"
                          : "part of the jobs that come first, not counted: MSER-5, at least 0.1"));
    if (faults || spec->checkpoint_every_s > 0)
        assume(arena, words, number("restart", spec->restart_s, "s", "assumed", "as asked, else the rates'"));
}

static void note_trace(Arena *arena, Words *words, const QueueTrace *trace) {
    if (trace->without_gpus > 0)
        note(arena, words,
             arena_printf(arena, "%d rows of the trace ask for no GPU and are left out", trace->without_gpus));
    if (trace->never_ran > 0)
        note(arena, words, arena_printf(arena, "%d rows of the trace never ran and are left out", trace->never_ran));
    if (trace->steps > 0)
        note(arena, words,
             arena_printf(arena, "%d rows are steps of jobs and are left out (sacct -X has none)", trace->steps));
    if (!trace->has_estimates)
        note(arena, words, "the trace has no estimates of users: the scheduler knows how long each job runs");
}

static void note_all(Arena *arena, Words *words, const QueueStudy *study) {
    for (int i = 0; i < study->note_count; i++) note(arena, words, study->notes[i]);
    if (study->trace) note_trace(arena, words, study->trace);
    QueueNetwork *network = study->spec.network;
    if (!network) {
        note(arena, words, "a job is as fast wherever it runs: --model NAME simulates its step on what it gets");
        return;
    }
    note(arena, words,
         arena_printf(arena, "jobs are as sensitive to their placement as %s: %d placements of its step were simulated",
                      study->model, queue_network_simulated(network)));
    if (*queue_network_refused(network))
        note(arena, words,
             arena_printf(arena, "%s cannot run on %s GPUs: such jobs are as fast wherever they are", study->model,
                          queue_network_refused(network)));
}

static const char *title_of_study(Arena *arena, const QueueStudy *study) {
    const QueueSpec *spec = &study->spec;
    if (study->title) return study->title;
    const char *jobs = arena_printf(arena, "%s jobs%s%s", text_count(arena, queue_study_job_count(study), true),
                                    study->trace ? " of a trace"
                                    : study->mix ? " of the mix "
                                                 : "",
                                    study->mix ? study->mix->name : "");
    if (study->find) return arena_printf(arena, "How many GPUs for %s", jobs);
    const char *others = study->nodes[0] > 0 ? " and other sizes" : "";
    return arena_printf(arena, "%s on %s GPUs (%d x %s)%s", jobs,
                        text_count(arena, (double)spec->nodes * spec->gpus_per_node, true), spec->nodes,
                        study->node_name, others);
}

static Record *record_of(Arena *arena, const QueueStudy *study) {
    Record *record = ARENA_NEW(arena, Record);
    Words words = {0};
    if (!study->trace && !study->list) assume_demand(arena, &words, study);
    assume_machines(arena, &words, study);
    note_all(arena, &words, study);
    *record = (Record){.title = title_of_study(arena, study),
                       .scenario = study->scenario,
                       .sample_name = "jobs",
                       .assumptions = words.assumptions.items,
                       .assumption_count = words.assumptions.count,
                       .notes = words.notes.items,
                       .note_count = words.notes.count,
                       .seed = study->seed,
                       .digest = DIGEST_START};
    return record;
}

static void add_note(Arena *arena, void *to, const char *text) {
    Record *record = to;
    const char **notes = ARENA_ARRAY(arena, const char *, record->note_count + 1);
    for (int i = 0; i < record->note_count; i++) notes[i] = record->notes[i];
    notes[record->note_count++] = text;
    record->notes = notes;
}

const Record *policies_record(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, const char *stopped) {
    Record *record = record_of(arena, study);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, 5);
    int given_up = 0;
    bool too_long = false;
    tables[0] = policy_table(arena, study, answers);
    tables[1] = size_table(arena, study, answers);
    tables[2] = class_table(arena, study, answers);
    record->tables = tables;
    record->table_count = 3;
    bool differ = study->policy_count > 1 && answers[0].sample_count > 1;
    if (differ) tables[record->table_count++] = queue_differences(arena, study, answers);
    if (study->trace && study->trace->has_waits) tables[record->table_count++] = measured_table(arena, study, answers);
    if (stopped) add_note(arena, record, stopped);
    for (int p = 0; p < study->policy_count; p++) {
        record->digest = digest_u64(record->digest, answers[p].digest);
        given_up += answers[p].given_up;
        too_long = too_long || answers[p].too_long;
    }
    if (given_up > 0)
        add_note(arena, record,
                 arena_printf(arena, "%d jobs were stopped 1,000 times and given up: checkpoint more often", given_up));
    if (too_long) add_note(arena, record, "some jobs would end after 146 years: their times are cut there");
    queue_doubts(arena, study, answers, add_note, record);
    set_charts(arena, record, study, answers);
    return record;
}

// ---- How many GPUs.

static double chance_of(const QueueSizing *sizing, int nodes) {
    for (int i = 0; i < sizing->try_count; i++)
        if (sizing->tries[i].nodes == nodes && nodes > 0) return sizing->tries[i].chance;
    return NAN;
}

// The fewest that meet the goal with the wanted probability; if the runs are too few for that, in the mean.
static int answer_of(const QueueSizing *sizing) {
    return sizing->likely_nodes > 0 ? sizing->likely_nodes : sizing->nodes;
}

static RecordTable answer_table(Arena *arena, const QueueStudy *study, const QueueSizing *sizes) {
    static const RecordColumn columns[] = {
        {"policy", "policy", RECORD_TEXT},
        {"gpus", "GPUs", RECORD_COUNT},
        {"nodes", "nodes", RECORD_COUNT},
        {"chance", "chance", RECORD_SHARE},
        {"mean_gpus", "enough in the mean", RECORD_COUNT},
        {"sure_gpus", "mean, 95 % sure", RECORD_COUNT},
    };
    const int columns_each = (int)(sizeof columns / sizeof *columns);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, columns_each * study->policy_count), *cell = cells;
    for (int p = 0; p < study->policy_count; p++) {
        double per_node = study->spec.gpus_per_node, nodes = answer_of(&sizes[p]);
        double mean = sizes[p].nodes, sure = sizes[p].sure_nodes;
        *cell++ = (RecordCell){study->policies[p]->name, NAN};
        *cell++ = (RecordCell){NULL, nodes > 0 ? nodes * per_node : NAN};
        *cell++ = (RecordCell){NULL, nodes > 0 ? nodes : NAN};
        *cell++ = (RecordCell){NULL, study->seeds > 1 ? chance_of(&sizes[p], (int)nodes) : NAN};
        *cell++ = (RecordCell){NULL, mean > 0 ? mean * per_node : NAN};
        *cell++ = (RecordCell){NULL, sure > 0 ? sure * per_node : NAN};
    }
    return (RecordTable){"answers", "", columns, columns_each, cells, study->policy_count, NULL};
}

static RecordTable tries_table(Arena *arena, const QueueStudy *study, const QueueSizing *sizes) {
    static const RecordColumn columns[] = {
        {"policy", "policy", RECORD_TEXT},  {"gpus", "GPUs", RECORD_COUNT},
        {"nodes", "nodes", RECORD_COUNT},   {"wait_s", "wait", RECORD_SECONDS},
        {"low_s", "from", RECORD_SECONDS},  {"high_s", "to (90 %)", RECORD_SECONDS},
        {"load", "load", RECORD_SHARE},     {"utilisation", "in use", RECORD_SHARE},
        {"chance", "chance", RECORD_SHARE}, {"meets", "meets the goal", RECORD_TEXT},
    };
    int count = (int)(sizeof columns / sizeof *columns), rows = 0;
    for (int p = 0; p < study->policy_count; p++) rows += sizes[p].try_count;
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count * rows), *cell = cells;
    for (int p = 0; p < study->policy_count; p++)
        for (int i = 0; i < sizes[p].try_count; i++) {
            const QueueTry *one = &sizes[p].tries[i];
            bool in_the_mean = one->wait_s <= study->goal.wait_s, told = sizes[p].likely_nodes > 0;
            bool as_asked = told ? one->chance >= study->goal.chance : in_the_mean;
            *cell++ = (RecordCell){study->policies[p]->name, NAN};
            *cell++ = (RecordCell){NULL, (double)one->nodes * study->spec.gpus_per_node};
            *cell++ = (RecordCell){NULL, one->nodes};
            *cell++ = (RecordCell){NULL, one->wait_s};
            *cell++ = (RecordCell){NULL, one->low_s};
            *cell++ = (RecordCell){NULL, one->high_s};
            *cell++ = (RecordCell){NULL, one->load};
            *cell++ = (RecordCell){NULL, one->utilisation};
            *cell++ = (RecordCell){NULL, study->seeds > 1 ? one->chance : NAN};
            *cell++ = (RecordCell){as_asked ? "yes" : in_the_mean ? "in the mean" : "no", NAN};
        }
    return (RecordTable){"sizes", "Sizes that were simulated", columns, count, cells, rows, NULL};
}

// The purchase, its certainty, the weakest assumption, and the measurement to make first.
static const Recommendation *recommend(Arena *arena, const QueueStudy *study, const QueueSizing *sizes) {
    Recommendation *recommendation = ARENA_NEW(arena, Recommendation);
    int best = -1;
    for (int p = 0; p < study->policy_count; p++)
        if (sizes[p].likely_nodes > 0 && (best < 0 || sizes[p].likely_nodes < sizes[best].likely_nodes)) best = p;
    const char *what = study->goal.quantile < 0 ? "the mean" : arena_printf(arena, "%g %%", 100 * study->goal.quantile);
    if (best >= 0) {
        recommendation->choice =
            arena_printf(arena, "%s GPUs under %s",
                         text_count(arena, (double)sizes[best].likely_nodes * study->spec.gpus_per_node, true),
                         study->policies[best]->name);
        recommendation->chance = arena_printf(
            arena, "%s of the waits %s within %s with a chance of %.0f %%%s", what,
            study->goal.quantile < 0 ? "is" : "are", quantity_text(arena, study->goal.wait_s, QUANTITY_TIME),
            100 * chance_of(&sizes[best], sizes[best].likely_nodes),
            study->trace ? ", if the next such time is like the trace, day by day" : "");
    } else if (study->seeds > 1) {
        recommendation->chance = arena_printf(
            arena, "no size was found with a chance of %.0f %%: more --seeds show more, or raise --most-gpus",
            100 * study->goal.chance);
    } else {
        recommendation->chance = "one run tells no chance: more --seeds do";
    }
    recommendation->weakest =
        study->trace ? "demand as in the trace; users who wait less will ask for more"
                     : "an open stream of jobs, whose users do not hold back when they wait: published groups had "
                       "smaller backlogs (lockstep validate queue)";
    recommendation->measure =
        study->trace ? "the estimates (sacct's Timelimit) that the scheduler will go by, and a second month"
                     : "a month of one's own jobs, by sacct -P or a CSV, and give it as --trace";
    return recommendation;
}

const Record *sizing_record(Arena *arena, const QueueStudy *study, const QueueSizing *sizes) {
    Record *record = record_of(arena, study);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, 2);
    tables[0] = answer_table(arena, study, sizes);
    tables[1] = tries_table(arena, study, sizes);
    record->tables = tables;
    record->table_count = 2;
    for (int p = 0; p < study->policy_count; p++)
        for (int i = 0; i < sizes[p].try_count; i++) {
            record->digest = digest_u64(record->digest, (uint64_t)sizes[p].tries[i].nodes);
            record->digest = digest_bytes(record->digest, &sizes[p].tries[i].wait_s, sizeof(double));
        }
    record->recommendation = recommend(arena, study, sizes);
    return record;
}
