// The answer of `lockstep goodput`, and the calendar of one life.
#include <math.h>
#include <stdio.h>

#include "results/answer/frame.h"
#include "scenarios/questions/goodput.h"
#include "sim/base/text.h"

// ---- The calendar of one life.

#define HOUR_S 3600.0
#define DAY_S 86400.0

static double seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_LIFE); }

// ---- The calendar.

static const struct {
    double seconds;
    const char *name;
} stretches[] = {{HOUR_S, "hour"}, {DAY_S, "day"}, {7 * DAY_S, "week"}, {365 * DAY_S, "year"}};

// "week 3"; of stretches without a name of their own when they begin: "day 28".
static const char *stretch_name(Arena *arena, const LifeCalendar *calendar, int index) {
    double width = seconds(calendar->width);
    for (int i = 0; i < (int)(sizeof stretches / sizeof *stretches); i++)
        if (width == stretches[i].seconds) return arena_printf(arena, "%s %d", stretches[i].name, index + 1);
    double from = index * width;
    return width < DAY_S ? arena_printf(arena, "from hour %g", from / HOUR_S)
                         : arena_printf(arena, "from day %g", from / DAY_S);
}

static double unit_of(const LifeCalendar *calendar) { return seconds(calendar->width) > DAY_S ? DAY_S : HOUR_S; }

static double sum_of(const LifeStretch *stretch) {
    SimTime sum = 0;
    for (int i = 0; i < LIFE_TIME_COUNT; i++) sum += stretch->spent[i];
    return seconds(sum);
}

static const char *end_text(Arena *arena, const LifeStretch *stretch) {
    double all = sum_of(stretch), training = seconds(stretch->spent[LIFE_TRAINING]);
    const char *share = text_percent(arena, all > 0 ? training / all : 0);
    if (stretch->stops == 0) return share;
    return arena_printf(arena, "%s, %d stop%s", share, stretch->stops, stretch->stops == 1 ? "" : "s");
}

static const char *calendar_title(Arena *arena, const LifeCalendar *calendar) {
    const LifeRun *run = &calendar->run;
    return arena_printf(arena, "Simulated run %d, of the median goodput (%s): what its time goes to",
                        calendar->life + 1,
                        text_percent(arena, seconds(run->spent[LIFE_TRAINING]) / seconds(run->wall)));
}

void calendar_chart(Arena *arena, const LifeCalendar *calendar, Chart *chart) {
    StackRow *rows = ARENA_ARRAY(arena, StackRow, calendar->count);
    double unit = unit_of(calendar);
    for (int i = 0; i < calendar->count; i++) {
        const LifeStretch *stretch = &calendar->stretches[i];
        NamedValue *parts = ARENA_ARRAY(arena, NamedValue, LIFE_TIME_COUNT);
        for (int k = 0; k < LIFE_TIME_COUNT; k++)
            parts[k] = (NamedValue){life_time_names[k], life_time_titles[k], seconds(stretch->spent[k]) / unit};
        rows[i] = (StackRow){stretch_name(arena, calendar, i), end_text(arena, stretch), parts, LIFE_TIME_COUNT};
    }
    stack_chart(arena, rows, calendar->count, chart);
    chart->bars.title = calendar_title(arena, calendar);
    chart->bars.x_title = unit == DAY_S ? "days" : "hours";
}

// ---- Where it goes.

bool goodput_draw(const Asking *asking, const GoodputAsked *asked, const LifeStudy *study) {
    if (!frame_plots(asking) || study->runs == 0) return true;
    LifeCalendar calendar = life_calendar(asked->arena, &asked->spec, study, asked->seed);
    Chart *chart = ARENA_NEW(asked->arena, Chart);
    calendar_chart(asked->arena, &calendar, chart);
    return frame_draw(asking, asking->answer, "goodput", "calendar", chart);
}

// ---- The answer.

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define SHOWN 0.0005 // of all time: less is 0.0 %

static const char *span(const GoodputAsked *asked, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(asked->arena, 64), 64);
}

static double mtbf(const GoodputAsked *asked) {
    double rate = life_unplanned_rate(&asked->spec);
    return rate > 0 ? 1 / rate : 0;
}

// "16 x superpod-storage"
static const char *storage_text(const GoodputAsked *asked) {
    const char *name = asked->storage->name;
    return asked->storage_units > 1 ? arena_printf(asked->arena, "%d x %s", asked->storage_units, name) : name;
}

static StorageLack lack_of(const GoodputAsked *asked) {
    if (asked->bytes <= 0) return (StorageLack){0};
    return storage_lack(&asked->spec.checkpoint, asked->bytes, asked->spec.nodes, asked->node, asked->storage,
                        asked->storage_units, mtbf(asked));
}

// ---- The job.

static void add_job(Answer *answer, const GoodputAsked *asked) {
    const LifeSpec *spec = &asked->spec;
    answer_say(answer, "Job", "%s GPUs in %d x %s, %d spare node%s; %s%s; %s simulated runs",
               text_count(asked->arena, asked->gpus, true), spec->nodes, asked->node->name, spec->spares,
               spec->spares == 1 ? "" : "s", span(asked, spec->horizon_s + spec->work_s),
               spec->work_s > 0 ? " of training to do" : " of calendar", text_count(asked->arena, asked->runs, true));
    answer_say(answer, "Failures", "%s: %s%s", asked->rates->name, asked->rates->title,
               asked->own_mtbf ? "; scaled to the --node-mtbf given" : "");
    if (spec->least_replicas > 0)
        answer_say(answer, "Elastic", "%d to %d replicas of %d nodes", spec->least_replicas,
                   spec->nodes / spec->nodes_per_replica, spec->nodes_per_replica);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "gpus", "GPUs", AS_WHOLE, asked->gpus);
    answer_number(answer, "nodes", "nodes", AS_WHOLE, spec->nodes);
    answer_number(answer, "spares", "spare nodes", AS_WHOLE, spec->spares);
    answer_text(answer, "node", "node", asked->node->name);
    answer_text(answer, "rates", "failure rates", asked->rates->name);
    answer_close(answer);
}

void goodput_rates(Answer *answer, const FaultRates *rates) {
    static const AnswerColumn columns[] = {
        {"name", "Assumed", AS_TEXT, 0}, {"value", "value", AS_NUMBER, 0}, {"unit", "unit", AS_TEXT, 0},
        {"kind", "kind", AS_TEXT, 2},    {"source", "source", AS_TEXT, 0}, {"relative_sigma", NULL, AS_NUMBER, 0},
    };
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "assumptions", NULL, columns, COUNT_OF(columns));
    const Fact *facts = facts_of(rates->facts, rates->fact_count);
    for (int i = 0; i < rates->fact_count; i++) {
        const Fact *fact = &facts[i];
        ANSWER_CELLS(answer, fact->name, answer_of(AS_NUMBER, fact->value), fact->unit, fact_kind_name(fact->kind),
                     fact->source, answer_of(fact->sigma > 0 ? AS_NUMBER : AS_NOTHING, fact->sigma));
    }
    answer_close(answer);
}

// ---- Checkpoints.

static void add_storage(Answer *answer, const GoodputAsked *asked, const StorageLack *lack) {
    answer_text(answer, "storage", "storage", asked->storage->name);
    answer_number(answer, "storage_units", "units of storage", AS_WHOLE, asked->storage_units);
    answer_number(answer, "storage_bytes_per_second", "written at", AS_BANDWIDTH, lack->bytes_per_second);
    answer_number(answer, "least_loss", "least that checkpoints and rework take", AS_SHARE, lack->loss);
    if (lack->needed > 0 && isfinite(lack->needed))
        answer_number(answer, "storage_lacks_bytes_per_second", "storage lacks", AS_BANDWIDTH, lack->needed);
}

static void add_checkpoint(Answer *answer, const GoodputAsked *asked, const StorageLack *lack) {
    const CheckpointPlan *plan = &asked->spec.checkpoint;
    bool sync = plan->mode == CHECKPOINT_SYNC, timed = mtbf(asked) > 0 && plan->stall_s > 0;
    answer_say(answer, "Checkpoint", "%s, every %s%s; training stands still %s%s%s", checkpoint_mode_names[plan->mode],
               span(asked, plan->every_s), asked->interval_found ? " (the best, by simulation)" : "",
               span(asked, plan->stall_s),
               sync ? ""
                    : arena_printf(asked->arena, ", written in %s behind it%s", span(asked, plan->write_s),
                                   plan->mode == CHECKPOINT_MEMORY
                                       ? arena_printf(asked->arena, "; to storage every %s (--storage-every)",
                                                      span(asked, plan->storage_every_s))
                                       : ""),
               asked->bytes > 0 ? arena_printf(asked->arena, "; %s to %s", text_bytes(asked->arena, asked->bytes),
                                               storage_text(asked))
                                : "");
    answer_open(answer, "checkpoint", NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_text(answer, "mode", NULL, checkpoint_mode_names[plan->mode]);
    answer_number(answer, "every_s", NULL, AS_SECONDS, plan->every_s);
    answer_number(answer, "stall_s", NULL, AS_SECONDS, plan->stall_s);
    answer_number(answer, "write_s", NULL, AS_SECONDS, sync ? plan->stall_s : plan->write_s);
    answer_number(answer, "reload_s", "read back in", AS_SECONDS, plan->reload_s);
    if (asked->bytes > 0) answer_number(answer, "bytes", NULL, AS_BYTES, asked->bytes);
    if (asked->best_s > 0) answer_number(answer, "best_every_s", NULL, AS_SECONDS, asked->best_s);
    if (asked->bytes > 0) add_storage(answer, asked, lack);
    if (timed) {
        answer_number(answer, "young_s", "interval after Young", AS_SECONDS,
                      young_interval(plan->stall_s, mtbf(asked)));
        answer_number(answer, "daly_s", "interval after Daly", AS_SECONDS, daly_interval(plan->stall_s, mtbf(asked)));
    }
    answer_close(answer);
}

// How often one may be written is a matter of how long storage takes over it.
void goodput_checkpoint_fact(Answer *answer, const GoodputAsked *asked) {
    const CheckpointPlan *plan = &asked->spec.checkpoint;
    answer_text(answer, NULL, "Checkpoints", checkpoint_mode_names[plan->mode]);
    answer_note(answer, "every %s, training stands still %s", span(asked, plan->every_s), span(asked, plan->stall_s));
    if (!asked->held || asked->bytes <= 0) return;
    CheckpointPlan beside =
        checkpoint_plan(CHECKPOINT_ASYNC, asked->bytes, asked->spec.nodes, asked->node, asked->gpu, asked->held);
    answer_number(answer, NULL, "Size of a checkpoint", AS_BYTES, asked->bytes);
    answer_note(answer, "%s%s%s takes it in %s, while training goes on", asked->model ? asked->model : "",
                asked->model ? "; " : "", storage_text(asked), span(asked, beside.write_s));
}

// ---- Results.

// "restart 3.1 %, lost and trained again 2.9 %", the largest first.
static const char *losses(const GoodputAsked *asked, const LifeStudy *study) {
    const char *text = "";
    unsigned taken = 0;
    for (int found = 0; found >= 0;) {
        found = -1;
        for (int i = LIFE_CHECKPOINT; i < LIFE_TIME_COUNT; i++)
            if (!(taken >> i & 1) && study->share[i] >= SHOWN && (found < 0 || study->share[i] > study->share[found]))
                found = i;
        if (found < 0) break;
        taken |= 1U << found;
        text = arena_printf(asked->arena, "%s%s%s %s", text, *text ? ", " : "", life_time_titles[found],
                            text_percent(asked->arena, study->share[found]));
    }
    if (!*text) return "hardly anything";
    return asked->spec.work_s > 0 ? arena_printf(asked->arena, "in the mean of the runs %s of their time: %s",
                                                 text_percent(asked->arena, 1 - study->share[LIFE_TRAINING]), text)
                                  : text;
}

static void add_lead(Answer *answer, const GoodputAsked *asked, const LifeStudy *study) {
    Arena *arena = asked->arena;
    if (asked->spec.work_s > 0 && life_mostly_unfinished(study))
        answer_say(answer, NULL, "%s of training are not done in %s, %d times as long: %s of the time is training.",
                   span(asked, asked->spec.work_s), text_days(arena, study->days.p50), LIFE_GIVES_UP,
                   text_percent(arena, study->goodput.p50));
    else if (asked->spec.work_s > 0)
        answer_say(answer, NULL,
                   "%s of training are done in %s in the median run (nine runs of ten: %s): %s of its time is "
                   "training.",
                   span(asked, asked->spec.work_s), text_days(arena, study->days.p50),
                   answer_range_text(arena, answer, AS_DAYS, study->days.p5, study->days.p95),
                   text_percent(arena, study->goodput.p50));
    else
        answer_say(answer, NULL, "%s of the time is training (nine runs of ten: %s).",
                   text_percent(arena, study->goodput.mean),
                   answer_range_text(arena, answer, AS_SHARE, study->goodput.p5, study->goodput.p95));
}

void goodput_date(Answer *answer, const GoodputAsked *asked, const LifeStudy *study) {
    if (!(asked->by_s > 0) || study->runs == 0) return;
    answer_number(answer, "chance_by", arena_printf(asked->arena, "By %s", goodput_by_text(asked)), AS_SHARE,
                  life_chance_by(study, asked->by_s));
    answer_note(answer, "of runs are done");
}

static void add_figures(Answer *answer, const GoodputAsked *asked, const LifeStudy *study) {
    answer_number(answer, "runs", NULL, AS_WHOLE, study->runs);
    answer_number(answer, "unfinished", NULL, AS_WHOLE, study->unfinished);
    answer_range(answer, "goodput", "Goodput", AS_SHARE, answer_range_of(&study->goodput));
    answer_note(answer, "mean of the runs; half of them have more than %s",
                text_percent(asked->arena, study->goodput.p50));
    bool differs = study->share[LIFE_SLOW] + study->share[LIFE_SHRUNK] > 0.00005;
    answer_range(answer, "effective_training_time", differs ? "Effective" : NULL, AS_SHARE,
                 answer_range_of(&study->ettr));
    answer_note(answer, "with slow nodes and missing replicas counted as training");
    answer_median(answer, "days", asked->spec.work_s > 0 ? "Done after" : NULL, AS_DAYS, answer_range_of(&study->days));
    goodput_date(answer, asked, study);
    answer_range(answer, "unplanned_stops", "Stops", AS_NUMBER, answer_range_of(&study->stops));
    answer_note(answer, "unplanned%s",
                study->mttf_s > 0 ? arena_printf(asked->arena, ", one in %s", span(asked, study->mttf_s)) : "");
    if (study->mttf_s > 0) answer_number(answer, "mttf_s", NULL, AS_SECONDS, study->mttf_s);
    answer_say(answer, "Lost", "%s", losses(asked, study));
}

static void add_causes(Answer *answer, const LifeStudy *study) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0},
                                           {NULL, "What stops the job", AS_TEXT, 0},
                                           {"planned", NULL, AS_BOOL, 0},
                                           {"stops", "per run", AS_NUMBER, 0},
                                           {"lost_share", "time lost", AS_SHARE, 0}};
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_open(answer, "time", "Where time goes, in the mean of the runs");
    for (int i = 0; i < LIFE_TIME_COUNT; i++)
        answer_number(answer, life_time_names[i], study->share[i] >= 0.00005 ? life_time_titles[i] : NULL, AS_SHARE,
                      study->share[i]);
    answer_close(answer);
    answer_table(answer, "causes", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++) {
        if (!(study->stops_mean[i] > 0)) continue;
        ANSWER_CELLS(answer, life_cause_name(i), life_cause_title(i), answer_of(AS_BOOL, i >= LIFE_UNPLANNED_COUNT),
                     answer_of(AS_NUMBER, study->stops_mean[i]), answer_of(AS_SHARE, study->lost_share[i]));
    }
    answer_close(answer);
}

void goodput_doubts(Answer *answer, const GoodputAsked *asked, const LifeStudy *study) {
    double spread = asked->spec.fleet_spread;
    StorageLack lack = lack_of(asked);
    const char *lacks = storage_lack_text(asked->arena, &lack, asked->storage);
    if (asked->spec.spares > asked->spec.nodes)
        answer_caution(answer, "%d nodes stand by for %d that work", asked->spec.spares, asked->spec.nodes);
    if (study->unfinished > 0)
        answer_caution(answer, "%s of %s runs had not finished after %s, %d times the work, and count as that long",
                       text_count(asked->arena, study->unfinished, true), text_count(asked->arena, study->runs, true),
                       text_days(asked->arena, study->days.max), LIFE_GIVES_UP);
    double every_s = asked->spec.checkpoint.every_s;
    if (every_s > life_length(&asked->spec) && !asked->interval_found)
        answer_caution(answer,
                       "A checkpoint every %s is longer than all that is looked at, %s: none is written, and each "
                       "failure begins anew; --checkpoint-every best finds an interval",
                       span(asked, every_s), span(asked, life_length(&asked->spec)));
    if (asked->bytes <= 0)
        answer_caution(answer, "A checkpoint is assumed to take 30 s: --model and --storage, or --checkpoint-stall.");
    if (lacks) answer_caution(answer, "%s", lacks);
    if (spread > 0)
        answer_caution(answer,
                       "Rates of another fleet (%s): fleets differ by a factor of about %.1f either way, which the "
                       "ranges hold. Yours: --node-mtbf, or --fleet-spread 0.",
                       asked->rates->name, 1 + spread + spread * spread / 2);
}

void goodput_answer(Answer *answer, const GoodputAsked *asked, const LifeStudy *study) {
    StorageLack lack = lack_of(asked);
    answer_one_row(answer);
    add_lead(answer, asked, study);
    add_job(answer, asked);
    add_checkpoint(answer, asked, &lack);
    add_figures(answer, asked, study);
    add_causes(answer, study);
    goodput_doubts(answer, asked, study);
    answer_next(answer, arena_printf(asked->arena, "lockstep hw show %s -v", asked->rates->name),
                "where each rate is from");
    goodput_rates(answer, asked->rates);
    answer_digest(answer, study->digest);
}

void goodput_answer_nothing(Answer *answer, const GoodputAsked *asked, const char *why) {
    answer_one_row(answer);
    answer_say(answer, NULL, "0 %% of the time is training: %s", why);
    add_job(answer, asked);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "runs", NULL, AS_WHOLE, 0);
    answer_range(answer, "goodput", NULL, AS_SHARE, (AnswerRange){0});
    answer_text(answer, "why", NULL, why);
    goodput_rates(answer, asked->rates);
}
