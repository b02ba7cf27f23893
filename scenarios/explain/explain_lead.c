// What to change first, in a sentence and as a tile: what the step becomes, with its range, in throughput and money,
// and what the change takes away. The reason is what such a setting does; the figures are what its simulation spends
// less.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/model/model.h"
#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_moves.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

#define SEEN 0.002 // of the step: what falls by less is not worth a clause

// ---- Why a change helps.

typedef enum Direction { ANY_WAY, MORE, LESS } Direction;

typedef struct Reason {
    const char *name;
    Direction direction; // of a number; true of a flag is more
    const char *what;
} Reason;

static const Reason reasons[] = {
    {"gpus", LESS, "fewer replicas exchange gradients less often for the same samples"},
    {"recompute", ANY_WAY, "less of the forward pass is computed a second time"},
    {"tp", LESS, "layers are cut less, so products are larger and traffic within layers shrinks"},
    {"tp", MORE, "more GPUs share each layer, so there are fewer stages or replicas to wait for"},
    {"pp", LESS, "a shorter pipeline fills and drains faster"},
    {"pp", MORE, "each GPU holds fewer layers and exchanges fewer gradients"},
    {"vpp", MORE, "smaller chunks of the model let the pipeline fill and drain faster"},
    {"vpp", LESS, "fewer chunks send fewer messages between stages"},
    {"cp", LESS, "sequences are cut less, so attention exchanges less"},
    {"cp", MORE, "more GPUs share each sequence, so each pass is shorter"},
    {"ep", LESS, "tokens travel to fewer GPUs"},
    {"ep", MORE, "each GPU holds fewer experts, which see more tokens each"},
    {"micro_batch", MORE, "larger kernels and fewer messages for the same samples"},
    {"micro_batch", LESS, "more and smaller micro-batches fill the pipeline better"},
    {"sequence_parallel", MORE, "norms and element-wise kernels are shared among tensor-parallel ranks"},
    {"zero", ANY_WAY, "gradients and weights travel in shards, each GPU updates only its own"},
    {"schedule", ANY_WAY, "another order of passes leaves less idle between them"},
    {"attention", ANY_WAY, "another kernel computes attention"},
    {"framework", ANY_WAY, "compiled kernels are fused, and fewer are launched"},
    {"image_layout", ANY_WAY, "convolutions read channels-last without transposing"},
    {"backend", ANY_WAY, "NCCL moves data between GPUs without the host"},
    {"strategy", ANY_WAY, "each GPU has a process of its own, and gradients overlap the backward pass"},
    {"bucket", LESS, "smaller messages of gradients start earlier"},
    {"bucket", MORE, "fewer, larger messages of gradients use the network better"},
    {"no_sync", MORE, "gradients travel once a step, not after every micro-batch"},
    {"cuda_graphs", MORE, "kernels are launched as one graph, not one by one"},
    {"fused_loss", MORE, "the loss reads the logits once"},
    {"fused_norms", MORE, "norms read their input once"},
    {"fused_optimizer", MORE, "the optimizer reads and writes each weight once"},
    {"fused_dispatch", MORE, "tokens are permuted and sent by one kernel"},
    {"scatter_gather", MORE, "stages send each activation once over the network, and spread it inside the node"},
    {"fp32_grad_reduce", LESS, "half as many bytes of gradients"},
    {"overlap.grad_reduce", MORE, "gradients travel while the backward pass computes"},
    {"overlap.grad_reduce", LESS, "no traffic slows kernels of the backward pass"},
    {"overlap.param_gather", MORE, "weights travel while the forward pass computes"},
    {"overlap.param_gather", LESS, "no traffic slows kernels of the forward pass"},
    {"overlap.tp", MORE, "traffic within layers runs beside the products that it belongs to"},
    {"offload.optimizer", ANY_WAY, "the optimizer's state stays on the GPU, off the PCIe lanes"},
    {"offload.parameters", ANY_WAY, "weights stay on the GPU, off the PCIe lanes"},
    {"workers", MORE, "the data loader keeps up with the GPU"},
    {"straggler", ANY_WAY, "all others wait for the slowest rank"},
    {"jitter", ANY_WAY, "ranks that differ from step to step wait for each other"},
    {"link_speed", ANY_WAY, "all others wait for what crosses the slow links"},
    {"oversubscription", ANY_WAY, "links between leaves carry all that the nodes send"},
    {"power_cap", ANY_WAY, "the limit lowers the clock of every GPU"},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

// Whether a number grows, as far as the job says what it was.
static Direction direction_of(const Explanation *now, const Change *change) {
    const RecordPoint *point = &now->point;
    const struct {
        const char *name;
        double value;
    } known[] = {{"gpus", point->gpu_count},         {"tp", point->tp}, {"pp", point->pp},
                 {"vpp", fmax(point->vpp, 1)},       {"cp", point->cp}, {"ep", point->ep},
                 {"micro_batch", point->micro_batch}};
    if (strcmp(change->value, "true") == 0) return MORE;
    if (strcmp(change->value, "false") == 0) return LESS;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, change->name) == 0) return strtod(change->value, NULL) > known[i].value ? MORE : LESS;
    if (strcmp(change->name, "bucket") != 0) return MORE;
    double bytes;
    const char *why;
    bool is_read = quantity_parse(change->value, QUANTITY_BYTES, &bytes, &why);
    return is_read && bytes > now->study->training.bucket_bytes ? MORE : LESS;
}

static const char *reason_of(const Explanation *now, const Change *change) {
    if (strcmp(change->name, "gpus") == 0 && strcmp(change->value, "1") == 0) return "one GPU exchanges no gradients";
    Direction direction = direction_of(now, change);
    for (int i = 0; i < REASONS; i++)
        if (strcmp(reasons[i].name, change->name) == 0 &&
            (reasons[i].direction == ANY_WAY || reasons[i].direction == direction))
            return reasons[i].what;
    return NULL;
}

static double fall_of(const Explanation *now, const Change *change, int cause) {
    return now->point.exposed[cause].value - change->spent[cause];
}

static int most_fallen(const Explanation *now, const Change *change, int but) {
    int most = -1;
    for (int c = 0; c < CAUSE_COUNT && c < now->point.exposed_count; c++)
        if (c != but && (most < 0 || fall_of(now, change, c) > fall_of(now, change, most))) most = c;
    return most;
}

static const char *cause_title(Arena *arena, const Explanation *now, int cause) {
    return text_lower_first(arena, now->point.exposed[cause].title);
}

static const Change *change_titled(const Explanation *now, const char *title) {
    for (int i = 0; i < now->ran_count; i++)
        if (strcmp(now->changes[i].title, title) == 0) return &now->changes[i];
    return NULL;
}

// What each of several changes does.
static const char *reasons_together(Arena *arena, const Explanation *now, const Combination *some) {
    const char *text = NULL;
    for (int i = 0; i < some->count; i++) {
        const Change *alone = change_titled(now, some->parts[i]->title);
        const char *what = alone ? reason_of(now, alone) : NULL;
        if (what) text = text ? arena_printf(arena, "%s; %s", text, what) : what;
    }
    return text;
}

// " Why: …; time in recomputation falls from 11.19 s to 0 s"; where more is saved than that, what falls with it.
static const char *why_of(Arena *arena, const Explanation *now, const Change *change, const char *what) {
    const char *text = "";
    int most = most_fallen(now, change, -1), next = most_fallen(now, change, most);
    double step = now->point.step_p50_s;
    if (what) text = arena_printf(arena, " Why: %s", what);
    if (most >= 0 && fall_of(now, change, most) > SEEN * step) {
        double before = now->point.exposed[most].value;
        text = arena_printf(arena, "%s%s time in %s falls from %s to %s (it is %s of a step now)", text,
                            *text ? ";" : " Why:", cause_title(arena, now, most), text_time(arena, before),
                            text_time(arena, fmax(change->spent[most], 0)), text_percent(arena, before / step));
        if (change->gain_s > 1.02 * fall_of(now, change, most) && fall_of(now, change, next) > SEEN * step)
            text = arena_printf(arena, "%s, and in %s by %s%s", text, cause_title(arena, now, next),
                                text_time(arena, fall_of(now, change, next)),
                                next > CAUSE_OPTIMIZER ? ", whose traffic or waits came with it" : "");
    }
    return *text ? arena_printf(arena, "%s.", text) : "";
}

const char *explain_reason(Arena *arena, const Explanation *now, const Change *change) {
    return why_of(arena, now, change, reason_of(now, change));
}

// ---- What it gives.

static double rate_of(const Explanation *now, double step_s) {
    double samples = now->point.global_batch / step_s;
    return now->point.tokens_per_s > 0 ? samples * now->study->training.seq_len : samples;
}

static const char *rate_unit_of(const Explanation *now) {
    return now->point.tokens_per_s > 0 ? "tokens" : sample_name(now->study->training.model);
}

// "; 57,767 tokens/s instead of 56,337"
static const char *throughput_of(Arena *arena, const Explanation *now, const Change *change) {
    return arena_printf(arena, "%s %s/s instead of %s", text_rate(arena, rate_of(now, change->step_s)),
                        rate_unit_of(now), text_rate(arena, rate_of(now, now->point.step_p50_s)));
}

// What is known to tens of percent needs no more.
static double three_figures(double amount) {
    if (!(amount >= 1000)) return amount; // cents are text_money's affair
    double unit = pow(10, floor(log10(amount)) - 2);
    return round(amount / unit) * unit;
}

const char *explain_money(Arena *arena, const Explanation *now, const Change *change) {
    double saved = now->point.cost_per_step - change->step_cost;
    if (!isfinite(saved) || now->point.cost_per_step <= 0) return "";
    bool run = isfinite(now->point.cost_per_run) && now->point.steps > 0;
    double amount = run ? now->point.cost_per_run * saved / now->point.cost_per_step : 1000 * saved;
    return arena_printf(arena, ", %s %s per %s", text_money(arena, three_figures(fabs(amount)), now->point.currency),
                        amount >= 0 ? "less" : "more", run ? "run" : "thousand steps");
}

static const char *share_range(Arena *arena, const Explanation *now, const Change *change) {
    double step = now->point.step_p50_s;
    double one = change->gain_low_s / step, other = change->gain_high_s / step;
    return arena_printf(arena, "90 %% range %s to %s", text_percent(arena, change->gain_s < 0 ? -other : one),
                        text_percent(arena, change->gain_s < 0 ? -one : other));
}

#define RISK_SEEN 0.01 // of the chance to run out: more than that is said where it fits all the same

const char *explain_risk(Arena *arena, const Explanation *now, const Change *change) {
    double chance = change->chance_to_run_out, today = now->point.chance_to_run_out;
    if (explain_fits(chance) && explain_fits(today) && !(chance - today > RISK_SEEN)) return "";
    return arena_printf(arena, "memory then runs out with a chance of %s instead of %s", text_percent(arena, chance),
                        text_percent(arena, today));
}

static const char *with_risk(Arena *arena, const Explanation *now, const Change *change, const char *before) {
    const char *risk = explain_risk(arena, now, change);
    return *risk ? arena_printf(arena, "%s%s", before, risk) : "";
}

const char *explain_becomes(Arena *arena, const Explanation *now, const Change *change) {
    double step = now->point.step_p50_s;
    return arena_printf(arena, "%s instead of %s: %s %s (%s), %s%s", text_time(arena, change->step_s),
                        text_time(arena, step), text_percent(arena, fabs(change->gain_s) / step),
                        change->gain_s < 0 ? "more" : "less", share_range(arena, now, change),
                        throughput_of(arena, now, change), explain_money(arena, now, change));
}

#define FAR_BETTER 1.5 // times the gain of the best single change
#define WORTH_TWO 0.02 // of the step, more than that

// So much better than the best single change that it is to be done first.
const Combination *explain_leading_pair(const Explanation *now) {
    double first = now->first ? now->first->gain_s : 0;
    if (now->must_fit || now->fitting) return NULL;
    for (int i = 0; i < now->together.count; i++) {
        const Combination *pair = &now->together.items[i];
        if (pair->count != 2) continue;
        double gain = pair->whole.gain_s;
        return gain >= FAR_BETTER * first && gain - first >= WORTH_TWO * now->point.step_p50_s ? pair : NULL;
    }
    return NULL;
}

#define ALIKE 0.015 // of the step: gains that differ by less are nearly the same

// Another pair that saves nearly as much, and is surer to fit by more than a point: the surest. NULL: there is none.
static const Combination *surer_pair(const Explanation *now, const Combination *than) {
    const Combination *best = NULL;
    for (int i = 0; i < now->together.count; i++) {
        const Combination *one = &now->together.items[i];
        double chance = one->whole.chance_to_run_out;
        if (one->count != than->count || than->whole.gain_s - one->whole.gain_s > ALIKE * now->point.step_p50_s ||
            !(than->whole.chance_to_run_out - chance > RISK_SEEN))
            continue;
        if (!best || chance < best->whole.chance_to_run_out) best = one;
    }
    return best;
}

const char *explain_surer_pair(Arena *arena, const Explanation *now, const Combination *pair) {
    const Combination *surer = surer_pair(now, pair);
    if (!surer) return NULL;
    return arena_printf(
        arena, "nearly as much, and surer to fit: %s, which save %s; memory runs out with a chance of %s",
        surer->whole.title, text_time(arena, surer->whole.gain_s), text_percent(arena, surer->whole.chance_to_run_out));
}

// Others may save more alone, but do not fit or train otherwise.
const char *explain_best_alone(Arena *arena, const Explanation *now) {
    const Change *first = now->first;
    if (!first) return "no single setting that fits saves 0.5 % of a step";
    return arena_printf(arena, "of changes that %s and train the same %s saves most alone, %s of a step",
                        explain_fits(first->chance_to_run_out) ? "surely fit" : "are no less sure to fit", first->title,
                        text_percent(arena, first->gain_s / now->point.step_p50_s));
}

const char *explain_first_pair(Arena *arena, const Explanation *now, const Combination *pair) {
    const Change *whole = &pair->whole;
    return arena_printf(arena, "both together, %s. A step then takes %s%s.%s", whole->title,
                        explain_becomes(arena, now, whole), with_risk(arena, now, whole, "; "),
                        why_of(arena, now, whole, reasons_together(arena, now, pair)));
}

const char *explain_first(Arena *arena, const Explanation *now) {
    const Change *first = now->first;
    return arena_printf(arena, "%s. A step then takes %s%s.%s", first->title, explain_becomes(arena, now, first),
                        with_risk(arena, now, first, "; "), explain_reason(arena, now, first));
}

bool explain_lead(Arena *arena, const Explanation *now, Lead *lead) {
    const Combination *pair = explain_leading_pair(now), *fitting = fitting_together(now);
    const Change *change = fitting ? &fitting->whole : now->fitting ? now->fitting : pair ? &pair->whole : now->first;
    if (!change && !(now->change_count && now->step.lowered)) return false;
    if (!change)
        *lead = (Lead){"Change first", "nothing alone", "no single setting that was tried saves 0.5 % of a step"};
    else if (change != now->first && (!pair || change != &pair->whole))
        *lead = (Lead){
            explain_fits(change->chance_to_run_out) ? "Make it fit first" : "Make it likelier to fit", change->title,
            arena_printf(arena, "memory then runs out with a chance of %s; a step takes %s",
                         text_percent(arena, change->chance_to_run_out), explain_becomes(arena, now, change))};
    else
        *lead = (Lead){pair ? "Change first, together" : "Change first", change->title,
                       arena_printf(arena, "a step takes %s%s", explain_becomes(arena, now, change),
                                    with_risk(arena, now, change, "; "))};
    return true;
}
