// What-ifs of a step: each move is the whole study simulated again with one thing changed; and the move to make
// first.
#include "scenarios/whatif/whatif_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/model/model.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"

#define TWICE 2.0
#define A_TENTH 1.1
#define WITHOUT_END 1e6   // times as quick
#define WORTH_ASKING 1e-3 // of the step: resources that gain less, twice as quick, are not asked further

RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems) {
    int before = problems_added(problems);
    RecordPoint point = {.why_not = NULL};
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *spec = variant->cluster;
    const Cluster *cluster =
        variant->built ? variant->built : cluster_create(arena, variant->catalogue, spec, problems);
    if (cluster)
        *training = job_make(arena, &variant->said, cluster_gpu_types(arena, variant->catalogue, spec), problems);
    training->anchors = study->training.anchors;
    if (problems_added(problems) == before) point = simulate_training(arena, cluster, training, study, problems);
    if (!point.ran && !point.why_not)
        point.why_not = problem_count(problems) ? problem_at(problems, problem_count(problems) - 1)->text
                                                : "the cluster is not possible";
    return point;
}

Variant variant_of(const JobNow *now) {
    const StudySpec *study = now->study;
    return (Variant){study->catalogue, *study->cluster, now->cluster, *study->said};
}

// ---- Resources.

static Variant quicker_variant(Arena *arena, const StudySpec *study, const Resource *resource, double factor) {
    const Catalogue *base = study->catalogue;
    Variant variant = {catalogue_quicker(arena, base, resource, factor), *study->cluster, NULL, *study->said};
    NodeGroup *groups = ARENA_ARRAY(arena, NodeGroup, variant.cluster.group_count);
    for (int g = 0; g < variant.cluster.group_count; g++) {
        groups[g] = variant.cluster.groups[g];
        groups[g].type = part_in_place(arena, PART_NODE, base, variant.catalogue, groups[g].type, resource, factor);
        groups[g].gpu = part_in_place(arena, PART_GPU, base, variant.catalogue, groups[g].gpu, resource, factor);
        if (strcmp(resource->name, "pcie") == 0) groups[g].pcie_bytes_per_second *= factor;
    }
    variant.cluster.groups = groups;
    variant.cluster.link =
        part_in_place(arena, PART_FABRIC, base, variant.catalogue, variant.cluster.link, resource, factor);
    variant.cluster.storage =
        part_in_place(arena, PART_STORAGE, base, variant.catalogue, variant.cluster.storage, resource, factor);
    return variant;
}

RecordPoint simulate_quicker(Arena *arena, const StudySpec *study, const Resource *resource, double factor,
                             Problems *problems) {
    Variant variant = quicker_variant(arena, study, resource, factor);
    return simulate_variant(arena, study, &variant, problems);
}

static bool resource_can(const StudySpec *study, const Resource *resource, double factor) {
    for (int g = 0; g < study->cluster->group_count; g++) {
        const NodeGroup *group = &study->cluster->groups[g];
        const Gpu *gpu = group->gpu ? group->gpu : node_gpu(study->catalogue, group->type, 0);
        if (!part_can_be_quicker(PART_GPU, gpu, resource, factor)) return false;
    }
    return true;
}

// ---- What came of it.

static void spent_of(const RecordPoint *point, double factor, double *spent) {
    for (int c = 0; c < CAUSE_COUNT && c < point->exposed_count; c++) spent[c] = factor * point->exposed[c].value;
}

// Of a difference of two steps, the second of `seconds`. Where measured steps speak more of one than of the other, that
// is in doubt as well.
static double gain_sigma(const JobNow *now, const double *before, double before_anchored, const StepThen *after,
                         double gain, double seconds) {
    double apart = after->anchored > 0 && before_anchored > 0 ? log(after->anchored / before_anchored) : 0;
    return hypot(step_gain_sigma(&now->study->training, before, after->spent, gain), apart * seconds);
}

void weigh_step(Arena *arena, const JobNow *now, const RecordPoint *point, WhatIf *whatif) {
    double factor = now->point.global_batch / point->global_batch, before[CAUSE_COUNT];
    StepThen *step = ARENA_NEW(arena, StepThen);
    *step = (StepThen){.memory_bytes = point->memory_peak_bytes,
                       .chance_to_run_out = point->chance_to_run_out,
                       .digest = point->digest,
                       .anchored = point->anchored,
                       .tenth_s = NAN,
                       .limit_s = NAN};
    whatif->step = step;
    whatif->ran = point->ran;
    whatif->cost = NAN;
    if (!point->ran) {
        whatif->why_not = arena_copy_text(arena, point->why_not);
        return;
    }
    whatif->then = point->step_p50_s * factor;
    whatif->cost = point->cost_per_step * factor;
    spent_of(point, factor, step->spent);
    spent_of(&now->point, 1, before);
    double gain = now->point.step_p50_s - whatif->then;
    double sigma = gain_sigma(now, before, now->point.anchored, step, gain, whatif->then);
    double most = now->point.step_p50_s - point->step_p5_s * factor; // the remaining step takes time, too
    whatif->gain = (Gain){gain, NAN, gain - 1.645 * sigma, fmin(gain + 1.645 * sigma, most), NAN};
}

// Frees the variant's simulation, except for the kept results.
static WhatIf try_variant(Arena *arena, const JobNow *now, const Variant *variant, const Move *move) {
    WhatIf whatif = {.move = move, .title = move->title};
    Arena *scratch = arena_open();
    RecordPoint point = simulate_variant(scratch, now->study, variant, problems_create(scratch));
    weigh_step(arena, now, &point, &whatif);
    arena_close(scratch);
    return whatif;
}

static void try_move(Arena *arena, JobNow *now, const Move *move) {
    Arena *scratch = arena_open();
    Variant variant = variant_of(now);
    make_move(scratch, now, move, &variant);
    LIST_PUSH(arena, &now->tried, try_variant(arena, now, &variant, move));
    arena_close(scratch);
}

// ---- Resources tried.

static double gain_of(const JobNow *now, const Resource *resource, double factor) {
    if (!resource_can(now->study, resource, factor)) return NAN;
    Arena *scratch = arena_open();
    RecordPoint point = simulate_quicker(scratch, now->study, resource, factor, problems_create(scratch));
    double gain = point.ran ? now->point.step_p50_s - point.step_p50_s : NAN;
    arena_close(scratch);
    return gain;
}

static void try_resource(Arena *arena, JobNow *now, const Resource *resource) {
    if (!resource_can(now->study, resource, TWICE)) return;
    Arena *scratch = arena_open();
    Variant twice = quicker_variant(scratch, now->study, resource, TWICE);
    WhatIf whatif = try_variant(arena, now, &twice, move_of_resource(arena, resource));
    arena_close(scratch);
    if (whatif.ran && whatif.gain.mean > WORTH_ASKING * now->point.step_p50_s) {
        whatif.step->tenth_s = gain_of(now, resource, A_TENTH);
        whatif.step->limit_s = gain_of(now, resource, WITHOUT_END);
    }
    LIST_PUSH(arena, &now->tried, whatif);
}

static bool goes_on(void) { return watch_goes_on(1) && !watch_is_over(); }

static bool is_asked(const JobNow *now, const Move *move) {
    if (move->needs) return false;
    if (!move->further) return true;
    const WhatIf *newest = &now->tried.items[now->tried.count - 1];
    return newest->move == move - 1 && newest->ran && !fits_surely(newest->step->chance_to_run_out);
}

static void try_alone(Arena *arena, JobNow *now) {
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count + now->moves.count, WATCH_NO_LIMIT);
    for (int i = 0; i < resource_count && goes_on(); i++) try_resource(arena, now, &resources[i]);
    for (int i = 0; i < now->moves.count && goes_on(); i++)
        if (is_asked(now, &now->moves.items[i])) try_move(arena, now, &now->moves.items[i]);
    watch_end(&piece);
    whatif_rank(&now->tried);
}

// ---- What to change first.

bool fits_surely(double chance_to_run_out) { return chance_to_run_out <= 1 - MEMORY_FITS + 1e-12; }

#define EASES 0.02 // of the probability to run out of memory: the least that helps

// It is the user's to change and leaves the result as it is.
bool step_is_free(const Move *move) { return move->kind != MOVE_RESOURCE && !move->note; }

bool fits_no_worse(const JobNow *now, const WhatIf *whatif) {
    double chance = whatif->step->chance_to_run_out, today = now->point.chance_to_run_out;
    return fits_surely(chance) || (!now->must_fit && !fits_surely(today) && chance <= today);
}

static bool is_advice(const JobNow *now, const WhatIf *whatif) {
    return step_is_free(whatif->move) && fits_no_worse(now, whatif) &&
           whatif->gain.mean >= WHATIF_MATTERS * now->point.step_p50_s;
}

// Of a job that may run out of memory: the quickest move with which it surely fits, else the one that helps most.
static const WhatIf *find_fitting(const JobNow *now) {
    const WhatIf *easiest = NULL;
    double least = now->point.chance_to_run_out - EASES;
    for (int i = 0; i < now->tried.ran && !fits_surely(now->point.chance_to_run_out); i++) {
        const WhatIf *whatif = &now->tried.items[i];
        if (!step_is_free(whatif->move) || whatif->step->chance_to_run_out > least) continue;
        if (fits_surely(whatif->step->chance_to_run_out)) return whatif;
        easiest = whatif;
        least = whatif->step->chance_to_run_out;
    }
    return easiest;
}

// The chance that one move is better than another: both err with the causes they have in common.
static double better_chance(const JobNow *now, const WhatIf *best, const WhatIf *next) {
    double apart = best->gain.mean - next->gain.mean;
    double sigma = gain_sigma(now, next->step->spent, next->step->anchored, best->step, apart, best->then);
    return sigma > 0 ? 0.5 * erfc(-apart / sigma / sqrt(2)) : apart > 0 ? 1 : 0.5;
}

static void choose_advice(JobNow *now) {
    now->first = now->next = NULL;
    for (int i = 0; i < now->tried.ran && !now->next; i++) {
        const WhatIf *whatif = &now->tried.items[i];
        if (!is_advice(now, whatif)) continue;
        if (now->first && whatif->step->digest == now->first->step->digest) continue; // two words for the same
        if (now->first)
            now->next = whatif;
        else
            now->first = whatif;
    }
    if (now->next) now->better_chance = better_chance(now, now->first, now->next);
    now->fitting = find_fitting(now);
}

void whatif_try_step(Arena *arena, JobNow *now, int64_t pairs) {
    now->moves = list_moves(arena, now);
    try_alone(arena, now);
    now->must_fit = !fits_surely(now->point.chance_to_run_out);
    choose_advice(now);
    now->together = try_together_with(arena, now, pairs);
    bool nothing_fits = !now->together.count && !(now->fitting && fits_surely(now->fitting->step->chance_to_run_out));
    if (now->must_fit && !now->lacks && nothing_fits) { // then faster changes that are no less certain
        now->must_fit = false;
        choose_advice(now);
        now->together = try_together_with(arena, now, pairs);
    }
}

// ---- The best change, as a sentence and as a tile.

// The new step time with its range, throughput and money, and side effects. The reason is the setting's known effect;
// the figures are the savings in its simulation.

#define SEEN 0.002 // of the step: smaller reductions are not mentioned

static double fall_of(const JobNow *now, const WhatIf *change, int cause) {
    return now->point.exposed[cause].value - change->step->spent[cause];
}

static int most_fallen(const JobNow *now, const WhatIf *change, int but) {
    int most = -1;
    for (int c = 0; c < CAUSE_COUNT && c < now->point.exposed_count; c++)
        if (c != but && (most < 0 || fall_of(now, change, c) > fall_of(now, change, most))) most = c;
    return most;
}

static const char *cause_title(Arena *arena, const JobNow *now, int cause) {
    return text_lower_first(arena, now->point.exposed[cause].title);
}

// What each of several changes does.
static const char *reasons_together(Arena *arena, const Combination *some) {
    const char *text = NULL;
    for (int i = 0; i < some->count; i++) {
        const char *what = some->parts[i]->reason;
        if (what) text = text ? arena_printf(arena, "%s; %s", text, what) : what;
    }
    return text;
}

// " Why: …; time in recomputation falls from 11.19 s to 0 s"; if more is saved, the next cause. If it is long, the
// first only.
static const char *why_of(Arena *arena, const JobNow *now, const WhatIf *change, const char *what, bool is_long) {
    const char *text = "";
    int most = most_fallen(now, change, -1), next = most_fallen(now, change, most);
    double step = now->point.step_p50_s;
    if (what) text = arena_printf(arena, " Why: %s", what);
    if (most >= 0 && !is_long && fall_of(now, change, most) > SEEN * step) {
        double before = now->point.exposed[most].value;
        text = arena_printf(arena, "%s%s time in %s falls from %s (%s of the step) to %s", text,
                            *text ? ";" : " Why:", cause_title(arena, now, most), text_time(arena, before),
                            text_percent(arena, before / step), text_time(arena, fmax(change->step->spent[most], 0)));
        if (change->gain.mean > 1.02 * fall_of(now, change, most) && fall_of(now, change, next) > SEEN * step)
            text = arena_printf(arena, "%s, and in %s by %s%s", text, cause_title(arena, now, next),
                                text_time(arena, fall_of(now, change, next)),
                                next > CAUSE_OPTIMIZER ? ", whose traffic or waits came with it" : "");
    }
    return *text ? arena_printf(arena, "%s.", text) : "";
}

const char *step_reason(Arena *arena, const JobNow *now, const WhatIf *change) {
    return why_of(arena, now, change, change->move->reason, false);
}

static double rate_of(const JobNow *now, double step_s) {
    double samples = now->point.global_batch / step_s;
    return now->point.tokens_per_s > 0 ? samples * now->study->training.seq_len : samples;
}

static const char *rate_unit_of(const JobNow *now) {
    return now->point.tokens_per_s > 0 ? "tokens" : sample_name(now->study->training.model);
}

// "; 57,767 tokens/s instead of 56,337"
static const char *throughput_of(Arena *arena, const JobNow *now, const WhatIf *change) {
    return arena_printf(arena, "%s %s/s instead of %s", text_rate(arena, rate_of(now, change->then)), rate_unit_of(now),
                        text_rate(arena, rate_of(now, now->point.step_p50_s)));
}

// What is known to tens of percent needs no more.
static double three_figures(double amount) {
    if (!(amount >= 1000)) return amount; // cents are text_money's affair
    double unit = pow(10, floor(log10(amount)) - 2);
    return round(amount / unit) * unit;
}

static const char *step_money(Arena *arena, const JobNow *now, const WhatIf *change) {
    double saved = now->point.cost_per_step - change->cost;
    bool is_reserved = now->point.term_days > 0; // paid for whole terms, however short the step
    if (!isfinite(saved) || now->point.cost_per_step <= 0 || is_reserved) return "";
    bool run = now->point.steps > 0;
    double amount = run ? now->point.cost_per_run * saved / now->point.cost_per_step : 1000 * saved;
    return arena_printf(arena, ", %s %s per %s", text_money(arena, three_figures(fabs(amount)), now->point.currency),
                        amount >= 0 ? "less" : "more", run ? "run" : "thousand steps");
}

static const char *share_range(Arena *arena, const JobNow *now, const WhatIf *change) {
    double step = now->point.step_p50_s;
    double one = change->gain.low / step, other = change->gain.high / step;
    return arena_printf(arena, "90 %% range %s to %s", text_percent(arena, change->gain.mean < 0 ? -other : one),
                        text_percent(arena, change->gain.mean < 0 ? -one : other));
}

#define RISK_SEEN 0.01 // of the probability to run out: mentioned above this, even if it fits

const char *step_risk(Arena *arena, const JobNow *now, const WhatIf *change) {
    double chance = change->step->chance_to_run_out, today = now->point.chance_to_run_out;
    if (fits_surely(chance) && fits_surely(today) && !(chance - today > RISK_SEEN)) return "";
    return arena_printf(arena, "; memory then runs out with a chance of %s instead of %s", text_percent(arena, chance),
                        text_percent(arena, today));
}

const char *step_becomes(Arena *arena, const JobNow *now, const WhatIf *change) {
    double step = now->point.step_p50_s;
    return arena_printf(arena, "%s instead of %s: %s %s (%s), %s%s", text_time(arena, change->then),
                        text_time(arena, step), text_percent(arena, fabs(change->gain.mean) / step),
                        change->gain.mean < 0 ? "more" : "less", share_range(arena, now, change),
                        throughput_of(arena, now, change), step_money(arena, now, change));
}

#define FAR_BETTER 1.5 // times the gain of the best single change
#define WORTH_TWO 0.02 // of the step, more than that

// So much better than the best single change that they are to be made first: those that save most.
const Combination *step_leading(const JobNow *now) {
    double first = now->first ? now->first->gain.mean : 0;
    if (now->must_fit || now->fitting || !now->together.count) return NULL;
    const Combination *best = &now->together.items[0];
    double gain = best->whole.gain.mean;
    return gain >= FAR_BETTER * first && gain - first >= WORTH_TWO * now->point.step_p50_s ? best : NULL;
}

#define ALIKE 0.015 // of the step: gains that differ by less are nearly the same

// Others that save nearly as much, and are surer to fit by more than a point: the surest. NULL: there is none.
static const Combination *surer_than(const JobNow *now, const Combination *than) {
    const Combination *best = NULL;
    for (int i = 0; i < now->together.count; i++) {
        const Combination *one = &now->together.items[i];
        double chance = one->whole.step->chance_to_run_out;
        if (one == than || than->whole.gain.mean - one->whole.gain.mean > ALIKE * now->point.step_p50_s ||
            !(than->whole.step->chance_to_run_out - chance > RISK_SEEN))
            continue;
        if (!best || chance < best->whole.step->chance_to_run_out) best = one;
    }
    return best;
}

const char *step_surer(Arena *arena, const JobNow *now, const Combination *some) {
    const Combination *surer = surer_than(now, some);
    if (!surer) return NULL;
    return arena_printf(arena,
                        "nearly as much, and surer to fit: %s, which save %s; memory runs out with a chance of %s",
                        surer->whole.title, text_time(arena, surer->whole.gain.mean),
                        text_percent(arena, surer->whole.step->chance_to_run_out));
}

// Others may save more alone, but do not fit or train otherwise.
const char *step_best_alone(Arena *arena, const JobNow *now) {
    const WhatIf *first = now->first;
    if (!first) return "no single setting that fits saves 0.5 % of a step";
    return arena_printf(arena, "of changes that %s and train the same %s saves most alone, %s of a step",
                        fits_surely(first->step->chance_to_run_out) ? "surely fit" : "are no less sure to fit",
                        first->title, text_percent(arena, first->gain.mean / now->point.step_p50_s));
}

const char *step_first(Arena *arena, const JobNow *now) {
    const Combination *some = step_leading(now);
    const WhatIf *first = some ? &some->whole : now->first;
    const char *all = !some ? "" : some->count == 2 ? "both together, " : "all three together, ";
    return arena_printf(arena, "%s%s. A step then takes %s%s.%s", all, first->title, step_becomes(arena, now, first),
                        step_risk(arena, now, first),
                        some ? why_of(arena, now, first, reasons_together(arena, some), some->count > 2)
                             : step_reason(arena, now, first));
}

bool step_lead(Arena *arena, const JobNow *now, Lead *lead) {
    const Combination *some = step_leading(now), *fitting = fitting_together(now);
    const WhatIf *change = fitting ? &fitting->whole : now->fitting ? now->fitting : some ? &some->whole : now->first;
    if (!change && !(now->tried.count && now->step.lowered)) return false;
    if (!change)
        *lead = (Lead){"Change first", "nothing alone", "no single setting that was tried saves 0.5 % of a step"};
    else if (change != now->first && (!some || change != &some->whole))
        *lead = (Lead){fits_surely(change->step->chance_to_run_out) ? "Make it fit first" : "Make it likelier to fit",
                       change->title,
                       arena_printf(arena, "memory then runs out with a chance of %s; a step takes %s",
                                    text_percent(arena, change->step->chance_to_run_out),
                                    step_becomes(arena, now, change))};
    else
        *lead = (Lead){
            some ? "Change first, together" : "Change first", change->title,
            arena_printf(arena, "a step takes %s%s", step_becomes(arena, now, change), step_risk(arena, now, change))};
    return true;
}
