// The best change of a step, as a sentence and as a tile: the new step time with its range, throughput and money, and
// side effects. The reason is the setting's known effect; the figures are the savings in its simulation.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/model/model.h"
#include "scenarios/whatif/whatif_step.h"
#include "sim/base/text.h"

#define SEEN 0.002 // of the step: smaller reductions are not mentioned

// ---- Why a change helps.

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

// ---- What it gives.

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
