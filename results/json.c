// The record as JSON, format_version 1. A study of one point has its keys at the top as well as in "points".
// Nothing here depends on the machine that simulates: the same input gives the same bytes.
#include "sim/json.h"
#include "sim/envelope.h"

#include <math.h>
#include <string.h>

#include "results/results.h"
#include "results/tables.h"
#include "results/view.h"
#include "sim/seed.h"

void results_json_digest(JsonWriter *json, uint64_t digest) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    json_text_member(json, "digest", text);
}

// A key stands once in an object: of names that repeat the first is written.
static bool is_repeated(const NamedValue *values, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(values[i].name, values[index].name) == 0) return true;
    return false;
}

static void named_values_member(JsonWriter *json, const char *key, const NamedValue *values, int count) {
    json_key(json, key);
    json_begin_object(json);
    for (int i = 0; i < count; i++)
        if (!is_repeated(values, i)) json_number_member(json, values[i].name, values[i].value);
    json_end_object(json);
}

static void parameters_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "parameters");
    json_begin_object(json);
    for (int i = 0; i < point->parameter_count; i++) {
        const RecordParameter *parameter = &point->parameters[i];
        if (point_parameter(point, parameter->name) != parameter) continue;
        if (isfinite(parameter->number))
            json_number_member(json, parameter->name, parameter->number);
        else
            json_text_member(json, parameter->name, parameter->text);
    }
    json_end_object(json);
}

static void step_time_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "step_time_s");
    json_begin_object(json);
    json_number_member(json, "p5", if_ran(point, point->step_p5_s));
    json_number_member(json, "p50", if_ran(point, point->step_p50_s));
    json_number_member(json, "p95", if_ran(point, point->step_p95_s));
    json_end_object(json);
}

static void memory_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "memory_bytes");
    json_begin_object(json);
    json_number_member(json, "peak", point->memory_peak_bytes);
    json_number_member(json, "capacity", point->memory_capacity_bytes);
    json_number_member(json, "chance_to_run_out", point->chance_to_run_out);
    if (point->memory_peak_at) json_text_member(json, "peak_at", point->memory_peak_at);
    named_values_member(json, "by_class", point->memory, point->memory_count);
    json_end_object(json);
}

static void prices_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "prices");
    json_begin_list(json);
    for (int i = 0; i < point->price_count; i++) {
        const DatedPrice *price = &point->prices[i];
        json_begin_object(json);
        json_text_member(json, "name", price->name);
        json_text_member(json, "date", price->date);
        json_text_member(json, "kind", price->kind);
        json_text_member(json, "source", price->source);
        json_end_object(json);
    }
    json_end_list(json);
}

// "amount" is the whole run's where its length is known.
static void cost_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "cost");
    json_begin_object(json);
    json_number_member(json, "amount", if_ran(point, point->cost_per_run));
    json_text_member(json, "currency", point->currency);
    json_number_member(json, "per_hour", point->cost_per_hour);
    json_number_member(json, "per_month", point->cost_per_month);
    json_number_member(json, "per_run", if_ran(point, point->cost_per_run));
    json_number_member(json, "per_step", if_ran(point, point->cost_per_step));
    named_values_member(json, "lines_per_hour", point->cost_lines, point->cost_line_count);
    if (point->price_of_gpu_hour) {
        json_text_member(json, "price_of_gpu_hour", point->price_of_gpu_hour);
        json_number_member(json, "per_hour_least", point->cost_per_hour_least);
        json_number_member(json, "per_hour_most", point->cost_per_hour_most);
    }
    if (point->rent_per_hour > 0) {
        json_number_member(json, "rent_per_hour", point->rent_per_hour);
        json_number_member(json, "break_even_utilisation", point->break_even_utilisation);
        json_number_member(json, "payback_months", point->payback_months);
    }
    prices_member(json, point);
    json_end_object(json);
}

static void layout_member(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "layout");
    if (point->tp == 0) { // written by hand, or never laid out
        json_write_text(json, NULL);
        return;
    }
    json_begin_object(json);
    json_integer_member(json, "tp", point->tp);
    json_integer_member(json, "pp", point->pp);
    json_integer_member(json, "vpp", point->vpp);
    json_integer_member(json, "dp", point->dp);
    json_integer_member(json, "cp", point->cp);
    json_integer_member(json, "ep", point->ep);
    json_integer_member(json, "zero", point->zero);
    json_number_member(json, "micro_batch", point->micro_batch);
    json_number_member(json, "global_batch", point->global_batch);
    json_end_object(json);
}

// Only where failures or checkpoints were counted in.
static void life_members(JsonWriter *json, const RecordPoint *point) {
    if (!(if_ran(point, point->goodput) > 0)) return;
    json_number_member(json, "goodput", point->goodput);
    if (!isfinite(point->days_p5)) return;
    json_key(json, "days_range");
    json_begin_object(json);
    json_number_member(json, "p5", point->days_p5);
    json_number_member(json, "p95", point->days_p95);
    json_end_object(json);
}

// Everything of a point but its digest.
static void point_members(JsonWriter *json, const RecordPoint *point) {
    parameters_member(json, point);
    json_key(json, "ran");
    json_write_bool(json, point->ran);
    if (!point->ran) {
        json_text_member(json, "why_not", point->why_not);
        json_text_member(json, "smallest_change", point->smallest_change);
    }
    json_integer_member(json, "gpus", point->gpu_count);
    json_integer_member(json, "nodes", point->node_count);
    step_time_member(json, point);
    if (if_ran(point, point->samples_per_s) > 0) json_number_member(json, "samples_per_s", point->samples_per_s);
    if (if_ran(point, point->tokens_per_s) > 0) json_number_member(json, "tokens_per_s", point->tokens_per_s);
    json_number_member(json, "mfu", if_ran(point, point->mfu));
    json_number_member(json, "hfu", if_ran(point, point->hfu));
    json_number_member(json, "scaling_efficiency", if_ran(point, point->efficiency_vs_one_gpu));
    if (if_ran(point, point->baseline_samples_per_s) > 0) {
        json_integer_member(json, "baseline_gpus", point->baseline_gpus);
        json_number_member(json, "baseline_samples_per_s", point->baseline_samples_per_s);
    }
    json_number_member(json, "efficiency_vs_ideal", if_ran(point, point->efficiency_vs_ideal));
    json_number_member(json, "flops_per_step", if_ran(point, point->flops_per_step));
    memory_member(json, point);
    named_values_member(json, "exposed_s", point->exposed, point->ran ? point->exposed_count : 0);
    cost_member(json, point);
    json_number_member(json, "days", if_ran(point, point->days));
    life_members(json, point);
    json_number_member(json, "steps", point->steps);
    json_number_member(json, "energy_kwh", if_ran(point, point->energy_kwh));
    json_number_member(json, "power_watts", if_ran(point, point->power_watts));
    json_number_member(json, "peak_watts", if_ran(point, point->peak_watts));
    json_number_member(json, "carbon_kg", if_ran(point, point->carbon_kg));
    layout_member(json, point);
    json_integer_member(json, "event_count", point->event_count);
}

static void points_member(JsonWriter *json, const Record *record) {
    json_key(json, "points");
    json_begin_list(json);
    for (int i = 0; i < record->point_count; i++) {
        json_begin_object(json);
        point_members(json, &record->points[i]);
        results_json_digest(json, record->points[i].digest);
        json_end_object(json);
    }
    json_end_list(json);
}

static void published_member(JsonWriter *json, const Record *record) {
    json_key(json, "published");
    json_begin_list(json);
    for (int i = 0; i < record->published_count; i++) {
        const Published *figure = &record->published[i];
        json_begin_object(json);
        json_text_member(json, "name", figure->name);
        json_text_member(json, "unit", figure->unit);
        json_number_member(json, "published", figure->published);
        json_number_member(json, "simulated", figure->simulated);
        json_number_member(json, "error", figure->simulated / figure->published - 1);
        json_text_member(json, "source", figure->source);
        json_end_object(json);
    }
    json_end_list(json);
}

// The value is a number where it is one, else its text.
void results_json_assumptions(JsonWriter *json, const Record *record) {
    json_key(json, "assumptions");
    json_begin_list(json);
    for (int i = 0; i < record->assumption_count; i++) {
        const Assumption *assumption = &record->assumptions[i];
        json_begin_object(json);
        json_text_member(json, "name", assumption->name);
        if (isfinite(assumption->value))
            json_number_member(json, "value", assumption->value);
        else
            json_text_member(json, "value", assumption->text);
        json_text_member(json, "unit", assumption->unit);
        json_text_member(json, "source", assumption->source);
        json_text_member(json, "kind", assumption->kind);
        json_end_object(json);
    }
    json_end_list(json);
}

static void texts_member(JsonWriter *json, const char *key, const char *const *texts, int count) {
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < count; i++) json_write_text(json, texts[i]);
    json_end_list(json);
}

void results_write_json(FILE *out, const Record *record) {
    JsonWriter json = json_writer(out, 2);
    json_begin_object(&json);
    envelope_write(&json, NULL);
    json_text_member(&json, "title", record->title);
    json_text_member(&json, "scenario", record->scenario);
    json_seed_member(&json, record->seed);
    results_json_digest(&json, record->digest);
    if (record->point_count == 1) point_members(&json, &record->points[0]);
    points_member(&json, record);
    tables_write_json(&json, record);
    published_member(&json, record);
    texts_member(&json, "notes", record->notes, record->note_count);
    if (record->expects) texts_member(&json, "unmet", record->unmet, record->unmet_count);
    if (record->recommendation) recommendation_write(&json, record->recommendation);
    results_json_assumptions(&json, record);
    json_end_object(&json);
    fputc('\n', out);
}
