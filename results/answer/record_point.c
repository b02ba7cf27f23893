// The answer for one simulated configuration: step time and utilisation, breakdown of time and memory, cost.
#include <math.h>
#include <string.h>

#include "results/answer/record_answer.h"
#include "results/view.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

#define SURE 0.95             // that it does
#define SMALLEST_SHARE 0.0005 // of the whole, to be worth a line

static const char *count_text(Arena *arena, double count) { return text_count(arena, count, true); }

static void number(Answer *answer, const char *key, AnswerUnit unit, double value) {
    answer_number(answer, key, NULL, unit, value);
}

// With a title where it is known.
static void figure(Answer *answer, const char *key, const char *title, AnswerUnit unit, double value) {
    answer_number(answer, key, isfinite(value) ? title : NULL, unit, value);
}

static void line(Answer *answer, const char *label, const char *text) {
    if (*text) answer_say(answer, label, "%s", text);
}

// ---- Named numbers. A key is unique in an object: of repeated names the first is kept.

static bool is_repeated(const NamedValue *values, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(values[i].name, values[index].name) == 0) return true;
    return false;
}

static void named_members(Answer *answer, const char *key, const NamedValue *values, int count, AnswerUnit unit) {
    answer_open(answer, key, NULL);
    for (int i = 0; i < count; i++)
        if (!is_repeated(values, i)) answer_number(answer, values[i].name, NULL, unit, values[i].value);
    answer_close(answer);
}

// What is neither work nor traffic has a row of its own, also where it is nothing.
static bool is_idle(const NamedValue *value) { return strcmp(value->name, "idle") == 0; }

// The same as a displayed table, with each value's share of the whole.
static void add_shares(const RecordTelling *telling, const char *heading, const char *what, AnswerUnit unit,
                       const NamedValue *values, int count, double whole) {
    AnswerColumn *columns = ARENA_ARRAY(telling->arena, AnswerColumn, 3);
    columns[0] = (AnswerColumn){NULL, what, AS_TEXT, 0};
    columns[1] = (AnswerColumn){NULL, "share", AS_SHARE, 0};
    columns[2] = (AnswerColumn){NULL, unit == AS_BYTES ? "bytes" : unit == AS_MONEY ? "an hour" : "time", unit, 0};
    answer_table(telling->answer, NULL, heading, columns, 3);
    for (int i = 0; i < count; i++) {
        const NamedValue *value = &values[i];
        if (!isfinite(value->value) || (value->value < SMALLEST_SHARE * whole && !is_idle(value))) continue;
        ANSWER_ROW(
            telling->answer, value->title ? value->title : value->name, answer_of(AS_SHARE, value->value / whole),
            answer_shown(unit, value->value, unit == AS_SECONDS ? text_time(telling->arena, value->value) : NULL));
    }
}

const char *record_largest(Arena *arena, const NamedValue *values, int count, int most) {
    double whole = sum_of_values(values, count), below = INFINITY;
    const char *text = "";
    for (int n = 0; n < most && whole > 0; n++) {
        const NamedValue *next = NULL;
        for (int i = 0; i < count; i++)
            if (values[i].value < below && (!next || values[i].value > next->value)) next = &values[i];
        if (!next || next->value < 0.01 * whole) break;
        text = arena_printf(arena, "%s%s%s %.0f %%", text, n ? ", " : "", next->title ? next->title : next->name,
                            100 * next->value / whole);
        below = next->value;
    }
    return text;
}

// ---- Speed.

static void add_step_time(const RecordTelling *telling, const RecordPoint *point) {
    answer_open(telling->answer, "step_time_s", NULL);
    number(telling->answer, "p5", AS_SECONDS, if_ran(point, point->step_p5_s));
    number(telling->answer, "p50", AS_SECONDS, if_ran(point, point->step_p50_s));
    number(telling->answer, "p95", AS_SECONDS, if_ran(point, point->step_p95_s));
    answer_close(telling->answer);
}

static const char *samples_called(const Record *record) {
    return record->sample_name ? record->sample_name : "samples";
}

static void add_rate(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Answer *answer = telling->answer;
    double samples = if_ran(point, point->samples_per_s), tokens = if_ran(point, point->tokens_per_s),
           rate = point_rate(telling->record, point);
    const char *side =
        point->gpu_count > 1 ? arena_printf(arena, "%s per GPU", count_text(arena, rate / point->gpu_count)) : "";
    if (tokens > 0 && samples > 0)
        side = text_joined(arena, side,
                           arena_printf(arena, "%s %s/s", count_text(arena, samples), samples_called(telling->record)));
    const char *text = arena_printf(arena, "%s %s", count_text(arena, rate), rate_unit(arena, telling->record));
    bool of_tokens = isfinite(rate) && rate == tokens;
    if (samples > 0)
        answer_fact(answer, "samples_per_s", isfinite(rate) && !of_tokens ? "Throughput" : NULL,
                    answer_shown(AS_NUMBER, samples, text));
    if (samples > 0 && !of_tokens) answer_note(answer, "%s", side);
    if (!(tokens > 0)) return;
    answer_fact(answer, "tokens_per_s", of_tokens ? "Throughput" : NULL, answer_shown(AS_NUMBER, tokens, text));
    if (of_tokens) answer_note(answer, "%s", side);
}

static const char *flops_text(Arena *arena, const RecordPoint *point) {
    double rate = point->flops_per_step / point->step_p50_s / (point->gpu_count > 0 ? point->gpu_count : 1);
    if (!isfinite(rate) || rate <= 0) return "";
    return arena_printf(arena, "%s per GPU", quantity_text(arena, rate, QUANTITY_FLOPS_RATE));
}

static void add_utilisation(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Answer *answer = telling->answer;
    double mfu = if_ran(point, point->mfu), hfu = if_ran(point, point->hfu);
    const char *side = "of dense peak";
    if (isfinite(hfu)) side = text_joined(arena, side, arena_printf(arena, "HFU %s", text_percent(arena, hfu)));
    if (point->counts_done) side = text_joined(arena, side, "without what masks and Winograd's convolutions save");
    figure(answer, "mfu", "MFU", AS_SHARE, mfu);
    if (isfinite(mfu)) answer_note(answer, "%s", text_joined(arena, side, flops_text(arena, point)));
    number(answer, "hfu", AS_SHARE, hfu);
}

static void add_efficiency(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Answer *answer = telling->answer;
    double of_one = if_ran(point, point->efficiency_vs_one_gpu), of_ideal = if_ran(point, point->efficiency_vs_ideal);
    bool has_baseline = if_ran(point, point->baseline_samples_per_s) > 0 && point->baseline_gpus > 1;
    const char *ideal =
        isfinite(of_ideal) ? arena_printf(arena, "%s of the step is compute", text_percent(arena, of_ideal)) : "";
    const char *baseline = has_baseline
                               ? arena_printf(arena, "%s of the throughput per GPU on %s GPUs, %s",
                                              text_percent(arena, point->samples_per_s * point->baseline_gpus /
                                                                      point->gpu_count / point->baseline_samples_per_s),
                                              count_text(arena, point->baseline_gpus), baseline_batch_say(point))
                               : "";
    figure(answer, "scaling_efficiency", "Efficiency", AS_SHARE, of_one);
    if (isfinite(of_one))
        answer_note(answer, "%s",
                    text_joined(arena, "of one GPU's throughput times the GPUs", text_joined(arena, baseline, ideal)));
    else
        line(answer, "Efficiency", text_joined(arena, baseline, ideal));
    if (if_ran(point, point->baseline_samples_per_s) > 0) {
        number(answer, "baseline_gpus", AS_WHOLE, point->baseline_gpus);
        number(answer, "baseline_samples_per_s", AS_NUMBER, point->baseline_samples_per_s);
    }
    number(answer, "efficiency_vs_ideal", AS_SHARE, of_ideal);
    number(answer, "flops_per_step", AS_FLOPS, if_ran(point, point->flops_per_step));
}

// ---- Memory and time by what takes them.

static const char *memory_note(Arena *arena, const RecordPoint *point) {
    if (!(point->memory_capacity_bytes > 0)) return "per GPU";
    const char *risk = "";
    if (point->ran && point->chance_to_run_out >= SURE)
        risk = ", more than it has; simulated all the same";
    else if (point->ran && !point_fits(point))
        risk = arena_printf(arena, ", may not fit: %.0f %% chance to run out", 100 * point->chance_to_run_out);
    return arena_printf(arena, "per GPU (%s)%s",
                        text_percent(arena, point->memory_peak_bytes / point->memory_capacity_bytes), risk);
}

static void add_memory(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Answer *answer = telling->answer;
    bool known = point->memory_peak_bytes > 0;
    answer_open(answer, "memory_bytes", NULL);
    answer_fact(answer, "peak", known ? "Memory" : NULL,
                answer_shown(AS_BYTES, point->memory_peak_bytes,
                             text_bytes_of(arena, point->memory_peak_bytes, point->memory_capacity_bytes)));
    answer_note(answer, "%s", memory_note(arena, point));
    number(answer, "capacity", AS_BYTES, point->memory_capacity_bytes);
    number(answer, "chance_to_run_out", AS_SHARE, point->chance_to_run_out);
    if (point->memory_peak_at) answer_text(answer, "peak_at", NULL, point->memory_peak_at);
    named_members(answer, "by_class", point->memory, point->memory_count, AS_BYTES);
    answer_close(answer);
}

// ---- Money.

static const char *price_text(Arena *arena, const RecordPoint *point) {
    if (!point->price_of_gpu_hour) return "";
    const char *text = arena_printf(arena, "%s %s a GPU-hour", point->price_of_gpu_hour, point->currency);
    double run = if_ran(point, point->cost_per_run);
    double hours = 24 * point->days + (point->term_days > 0 ? point->unused_cost / point->cost_per_hour : 0);
    if (!isfinite(run) || !isfinite(hours)) return text;
    double least = run - (point->cost_per_hour - point->cost_per_hour_least) * hours;
    double most = run + (point->cost_per_hour_most - point->cost_per_hour) * hours;
    return text_joined(arena, text,
                       arena_printf(arena, "the run %s to %s", text_money(arena, least, point->currency),
                                    text_money(arena, most, point->currency)));
}

static const char *break_even_text(Arena *arena, const RecordPoint *point) {
    if (!(point->rent_per_hour > 0)) return "";
    const char *rent =
        arena_printf(arena, "renting is %s an hour", text_money(arena, point->rent_per_hour, point->currency));
    const char *months =
        isfinite(point->payback_months)
            ? arena_printf(arena, "owning has paid for itself after %.1f months", point->payback_months)
            : "owning never pays for itself";
    const char *use =
        point->break_even_utilisation <= 1
            ? arena_printf(arena, "cheaper from %s use on", text_percent(arena, point->break_even_utilisation))
            : "cheaper at no use";
    return text_joined(arena, text_joined(arena, rent, months), use);
}

static const char *cost_text(Arena *arena, const RecordPoint *point) {
    const struct {
        double amount;
        const char *per;
    } parts[] = {{point->cost_per_hour, "an hour"},
                 {point->cost_per_month, "a month"},
                 {if_ran(point, point->cost_per_run), "the run"}};
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (isfinite(parts[i].amount))
            text = text_joined(
                arena, text,
                arena_printf(arena, "%s %s", text_money(arena, parts[i].amount, point->currency), parts[i].per));
    return text;
}

static void add_prices(const RecordTelling *telling, const RecordPoint *point) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0},
                                           {"date", NULL, AS_TEXT, 0},
                                           {"kind", NULL, AS_TEXT, 0},
                                           {"source", NULL, AS_TEXT, 0}};
    answer_table(telling->answer, "prices", NULL, columns, 4);
    for (int i = 0; i < point->price_count; i++) {
        const DatedPrice *price = &point->prices[i];
        ANSWER_ROW(telling->answer, price->name, price->date, price->kind, price->source);
    }
}

// "amount" is the whole run's where its length is known.
static void add_cost(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    line(answer, "Cost", cost_text(telling->arena, point));
    line(answer, "Price", price_text(telling->arena, point));
    if (point->price_of_gpu_hour) answer_spare(answer);
    line(answer, "Break-even", break_even_text(telling->arena, point));
    answer_open(answer, "cost", NULL);
    number(answer, "amount", AS_MONEY, if_ran(point, point->cost_per_run));
    answer_text(answer, "currency", NULL, point->currency);
    number(answer, "per_hour", AS_MONEY, point->cost_per_hour);
    number(answer, "per_month", AS_MONEY, point->cost_per_month);
    number(answer, "per_run", AS_MONEY, if_ran(point, point->cost_per_run));
    number(answer, "per_step", AS_MONEY, if_ran(point, point->cost_per_step));
    if (point->term_days > 0) {
        number(answer, "term_days", AS_NUMBER, point->term_days);
        number(answer, "unused_cost", AS_MONEY, if_ran(point, point->unused_cost));
    }
    if (point->price_of_gpu_hour) {
        answer_text(answer, "price_of_gpu_hour", NULL, point->price_of_gpu_hour);
        number(answer, "per_hour_least", AS_MONEY, point->cost_per_hour_least);
        number(answer, "per_hour_most", AS_MONEY, point->cost_per_hour_most);
    }
    if (point->rent_per_hour > 0) {
        number(answer, "rent_per_hour", AS_MONEY, point->rent_per_hour);
        number(answer, "break_even_utilisation", AS_SHARE, point->break_even_utilisation);
        number(answer, "payback_months", AS_NUMBER, point->payback_months);
    }
    named_members(answer, "lines_per_hour", point->cost_lines, point->cost_line_count, AS_MONEY);
    add_prices(telling, point);
    answer_close(answer);
}

// ---- The whole run.

// Goodput only where failures or checkpoints were counted in.
static void add_run(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    double days = if_ran(point, point->days);
    figure(answer, "days", point->ran ? "Run" : NULL, AS_DAYS, days);
    if (isfinite(point->steps)) answer_note(answer, "%s steps", count_text(telling->arena, point->steps));
    if (if_ran(point, point->goodput) > 0) {
        bool has_range = isfinite(point->days_p5);
        answer_number(answer, "goodput", "Goodput", AS_SHARE, point->goodput);
        answer_note(answer, "of the time is training%s",
                    has_range ? arena_printf(
                                    telling->arena, " · %s in 90 %% of runs",
                                    answer_range_text(telling->arena, answer, AS_DAYS, point->days_p5, point->days_p95))
                              : "");
        if (has_range) {
            answer_open(answer, "days_range", NULL);
            number(answer, "p5", AS_DAYS, point->days_p5);
            number(answer, "p95", AS_DAYS, point->days_p95);
            answer_close(answer);
        }
    }
    number(answer, "steps", AS_COUNT, point->steps);
}

static void add_energy(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Answer *answer = telling->answer;
    double energy = if_ran(point, point->energy_kwh), power = if_ran(point, point->power_watts),
           peak = if_ran(point, point->peak_watts), carbon = if_ran(point, point->carbon_kg);
    const char *text = energy > 0 ? text_energy(arena, energy) : "";
    if (power > 0) {
        text = text_joined(arena, text, arena_printf(arena, "%s on average at the wall", text_power(arena, power)));
        if (peak > 0) text = text_joined(arena, text, arena_printf(arena, "%s at most", text_power(arena, peak)));
        if (carbon > 0) text = text_joined(arena, text, arena_printf(arena, "%s CO2e", text_mass(arena, carbon)));
    }
    line(answer, "Energy", text);
    if (*text) answer_spare(answer);
    number(answer, "energy_kwh", AS_KWH, energy);
    number(answer, "power_watts", AS_WATTS, power);
    number(answer, "peak_watts", AS_WATTS, peak);
    number(answer, "carbon_kg", AS_KILOGRAMS, carbon);
}

// ---- The machine and the layout.

static const char *gpus_text(Arena *arena, const RecordPoint *point) {
    if (point->nodes || point->node_count <= 0) return machine_text(arena, point);
    return arena_printf(arena, "%s in %s node%s", count_text(arena, point->gpu_count),
                        count_text(arena, point->node_count), point->node_count == 1 ? "" : "s");
}

static const struct {
    const char *key, *title;
    size_t offset;
    int hidden_up_to;
} degrees[] = {
    {"tp", "TP", offsetof(RecordPoint, tp), 1},       {"pp", "PP", offsetof(RecordPoint, pp), 1},
    {"vpp", "VPP", offsetof(RecordPoint, vpp), 1},    {"dp", "DP", offsetof(RecordPoint, dp), 0},
    {"cp", "CP", offsetof(RecordPoint, cp), 1},       {"ep", "EP", offsetof(RecordPoint, ep), 1},
    {"zero", "ZeRO", offsetof(RecordPoint, zero), 0},
};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static int degree(const RecordPoint *point, int d) { return *(const int *)((const char *)point + degrees[d].offset); }

static const char *layout_text(Arena *arena, const RecordPoint *point) {
    const char *text = "";
    for (int d = 0; d < DEGREES; d++)
        if (degree(point, d) > degrees[d].hidden_up_to)
            text = text_joined(arena, text, arena_printf(arena, "%s %d", degrees[d].title, degree(point, d)));
    const struct {
        const char *title;
        double value;
    } batches[] = {{"micro-batch", point->micro_batch}, {"global batch", point->global_batch}};
    for (int b = 0; b < 2; b++)
        if (batches[b].value > 0)
            text = text_joined(arena, text,
                               arena_printf(arena, "%s %s", batches[b].title, count_text(arena, batches[b].value)));
    return text;
}

static void add_layout(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    line(answer, "Layout", layout_text(telling->arena, point));
    if (point->tp == 0) { // written by hand, or never laid out
        answer_text(answer, "layout", NULL, NULL);
        return;
    }
    answer_open(answer, "layout", NULL);
    for (int d = 0; d < DEGREES; d++) number(answer, degrees[d].key, AS_WHOLE, degree(point, d));
    number(answer, "micro_batch", AS_NUMBER, point->micro_batch);
    number(answer, "global_batch", AS_NUMBER, point->global_batch);
    answer_close(answer);
}

static void add_parameters(const RecordTelling *telling, const RecordPoint *point) {
    answer_open(telling->answer, "parameters", NULL);
    answer_detail(telling->answer, FOR_PROGRAMS);
    for (int i = 0; i < point->parameter_count; i++) {
        const RecordParameter *parameter = &point->parameters[i];
        if (point_parameter(point, parameter->name) != parameter) continue;
        if (isfinite(parameter->number))
            number(telling->answer, parameter->name, AS_NUMBER, parameter->number);
        else
            answer_text(telling->answer, parameter->name, NULL, parameter->text);
    }
    answer_close(telling->answer);
}

// ---- Packets.

void packets_counted_members(Answer *answer, const PacketsCarried *packets) {
    answer_number(answer, "queue_most_bytes", "Longest queue", AS_BYTES, packets->queue_most);
    answer_number(answer, "queue_mean_bytes", "Fullest queue on average", AS_BYTES, packets->queue_mean);
    answer_number(answer, "paused_s", "Paused, all ports", AS_SECONDS, packets->paused_seconds);
    answer_number(answer, "marked", "Packets marked", AS_COUNT, (double)packets->marks);
    answer_number(answer, "dropped", "Dropped by switches", AS_COUNT, (double)packets->drops);
    answer_number(answer, "trimmed", "Trimmed", AS_COUNT, (double)packets->trims);
    answer_number(answer, "lost", "Lost by cables", AS_COUNT, (double)packets->lost);
    answer_number(answer, "resent", "Sent again", AS_COUNT, (double)packets->resent);
    answer_number(answer, "timeouts", "Timeouts", AS_COUNT, (double)packets->timeouts);
}

void packets_carried_members(Answer *answer, const PacketsCarried *packets) {
    answer_number(answer, "flows", "Messages between nodes", AS_COUNT, (double)packets->messages);
    answer_number(answer, "packets", "Packets", AS_COUNT, (double)packets->packets);
    answer_number(answer, "fct_mean_s", "A message takes", AS_SECONDS, packets->mean_seconds);
    answer_number(answer, "fct_p99_s", "The slowest in a hundred", AS_SECONDS, packets->p99_seconds);
    packets_counted_members(answer, packets);
    answer_text(answer, "hottest", "Hottest cable", packets->hottest);
    answer_number(answer, "hottest_share", "Of the time it is busy", AS_PERCENT, packets->hottest_share);
    answer_number(answer, "packet_hops", NULL, AS_WHOLE, (double)packets->hops);
}

// A line of it, and all of it with -v.
static void add_packets(const RecordTelling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    const PacketsCarried *packets = point->ran ? point->packets : NULL;
    if (!packets) return;
    const char *text = arena_printf(arena, "%s between nodes", count_text(arena, (double)packets->packets));
    if (packets->marks)
        text = text_joined(arena, text, arena_printf(arena, "%s marked", count_text(arena, (double)packets->marks)));
    if (packets->drops + packets->trims)
        text = text_joined(
            arena, text,
            arena_printf(arena, "%s dropped", count_text(arena, (double)(packets->drops + packets->trims))));
    if (packets->lost)
        text = text_joined(arena, text, arena_printf(arena, "%s lost", count_text(arena, (double)packets->lost)));
    if (packets->paused_seconds > 0)
        text = text_joined(arena, text, arena_printf(arena, "paused %s", text_time(arena, packets->paused_seconds)));
    line(telling->answer, "Packets",
         text_joined(arena, text, arena_printf(arena, "%s of queue at most", text_bytes(arena, packets->queue_most))));
    answer_open(telling->answer, "packets", "What went between nodes as packets");
    answer_detail(telling->answer, FOR_VERBOSE);
    packets_carried_members(telling->answer, packets);
    answer_close(telling->answer);
}

// ---- The whole answer, in display order.

void record_point_members(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    add_parameters(telling, point);
    answer_bool(answer, "ran", NULL, point->ran);
    if (!point->ran) answer_text(answer, "why_not", NULL, point->why_not);
    if (point->smallest_change) answer_text(answer, "smallest_change", "Fits with", point->smallest_change);
    number(answer, "gpus", AS_WHOLE, point->gpu_count);
    number(answer, "nodes", AS_WHOLE, point->node_count);
    add_step_time(telling, point);
    add_rate(telling, point);
    add_efficiency(telling, point);
    add_utilisation(telling, point);
    add_memory(telling, point);
    named_members(answer, "exposed_s", point->exposed, point->ran ? point->exposed_count : 0, AS_SECONDS);
    add_run(telling, point);
    add_cost(telling, point);
    add_energy(telling, point);
    line(answer, "GPUs", gpus_text(telling->arena, point));
    add_layout(telling, point);
    add_packets(telling, point);
    number(answer, "event_count", AS_COUNT, (double)point->event_count);
}

// If the study has a timeline: each row's bars, for programs that draw them.
static void add_timeline(const RecordTelling *telling, const RecordPoint *point) {
    static const AnswerColumn columns[] = {{"row", NULL, AS_TEXT, 0},
                                           {"start_s", NULL, AS_SECONDS, 0},
                                           {"end_s", NULL, AS_SECONDS, 0},
                                           {"cause", NULL, AS_TEXT, 0},
                                           {"name", NULL, AS_TEXT, 0}};
    const Timeline *timeline = point->ran ? point->timeline : NULL;
    if (!timeline) return;
    answer_table(telling->answer, "timeline", NULL, columns, 5);
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        const char *row = timeline->row_names[bar->row];
        ANSWER_ROW(telling->answer, row ? row : "", answer_of(AS_SECONDS, bar->start_s),
                   answer_of(AS_SECONDS, bar->end_s), bar->cause, bar->name);
    }
}

static void add_parts(const RecordTelling *telling, const RecordPoint *point) {
    double step = point->ran ? sum_of_values(point->exposed, point->exposed_count) : 0;
    double memory = sum_of_values(point->memory, point->memory_count);
    bool has_capacity = point->memory_capacity_bytes > 0;
    if (step > 0)
        add_shares(telling, "Where the step goes (exposed time, mean over ranks)", "cause", AS_SECONDS, point->exposed,
                   point->exposed_count, step);
    if (memory > 0)
        add_shares(telling,
                   has_capacity ? "Memory of the fullest GPU (share of its capacity)" : "Memory of the fullest GPU",
                   "class", AS_BYTES, point->memory, point->memory_count,
                   has_capacity ? point->memory_capacity_bytes : memory);
    if (point->cost_line_count > 1)
        add_shares(telling, "What an hour costs", "part", AS_MONEY, point->cost_lines, point->cost_line_count,
                   point->cost_per_hour);
}

// What decides before all figures: that fewer GPUs do as well.
static void add_more_gpus(const RecordTelling *telling, const RecordPoint *point) {
    const char *says = more_gpus_say(telling->arena, telling->record, point);
    if (says) answer_caution(telling->answer, "%s", says);
}

// Pages show the first sentence's value as a figure.
static void add_step(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    if (!point->ran) return;
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PAGES);
    answer_fact(answer, NULL, "Time of a step",
                answer_shown(AS_SECONDS, point->step_p50_s, text_time(telling->arena, point->step_p50_s)));
    if (point->step_p95_s > point->step_p5_s)
        answer_note(answer, "90 %% range %s to %s", text_time(telling->arena, point->step_p5_s),
                    text_time(telling->arena, point->step_p95_s));
    answer_close(answer);
}

void record_one_point(const RecordTelling *telling, const RecordPoint *point) {
    Answer *answer = telling->answer;
    add_step(telling, point);
    add_more_gpus(telling, point);
    record_point_members(telling, point);
    add_timeline(telling, point);
    line(answer, "Settings", record_settings(telling, point));
    if (point->ran) line(answer, "Why", record_largest(telling->arena, point->exposed, point->exposed_count, 5));
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_parts(telling, point);
    answer_close(answer);
}
