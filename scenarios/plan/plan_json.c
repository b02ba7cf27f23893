// A plan for other programs: JSON with the chosen plan's numbers on top and all plans below; CSV with a plan a row.
#include <math.h>
#include <string.h>

#include "models/workload/job/software.h"
#include "results/results.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_screen.h"
#include "sim/csv.h"
#include "sim/envelope.h"
#include "sim/json.h"

static void index_member(JsonWriter *json, const char *key, int index) {
    json_key(json, key);
    if (index >= 0)
        json_write_integer(json, index);
    else
        json_write_text(json, NULL);
}

static void named_members(JsonWriter *json, const char *key, const NamedValue *values, int count) {
    json_key(json, key);
    json_begin_object(json);
    for (int i = 0; i < count; i++) json_number_member(json, values[i].name, values[i].value);
    json_end_object(json);
}

static void layout_member(JsonWriter *json, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    json_key(json, "layout");
    json_begin_object(json);
    json_integer_member(json, "tp", point->tp);
    json_integer_member(json, "pp", point->pp);
    json_integer_member(json, "vpp", point->vpp);
    json_integer_member(json, "cp", point->cp);
    json_integer_member(json, "ep", point->ep);
    json_integer_member(json, "dp", point->dp);
    json_integer_member(json, "zero", point->zero);
    json_number_member(json, "micro_batch", point->micro_batch);
    json_number_member(json, "global_batch", point->global_batch);
    json_text_member(json, "recompute", recompute_name(row->training.recompute));
    json_text_member(json, "schedule", schedule_name(row->training.schedule));
    json_bool_member(json, "sequence_parallel", row->training.layout.sequence_parallel);
    json_end_object(json);
}

static void time_members(JsonWriter *json, const RecordPoint *point) {
    json_key(json, "step_time_s");
    json_begin_object(json);
    json_number_member(json, "p5", point->step_p5_s);
    json_number_member(json, "p50", point->step_p50_s);
    json_number_member(json, "p95", point->step_p95_s);
    json_end_object(json);
    if (point->tokens_per_s > 0) json_number_member(json, "tokens_per_s", point->tokens_per_s);
    json_number_member(json, "samples_per_s", point->samples_per_s);
    json_number_member(json, "mfu", point->mfu);
    json_number_member(json, "hfu", point->hfu);
    json_number_member(json, "scaling_efficiency", point->efficiency_vs_ideal);
    json_number_member(json, "steps", point->steps);
    json_number_member(json, "days", point->days);
    if (point->goodput > 0) {
        json_number_member(json, "goodput", point->goodput);
        json_number_member(json, "days_p5", point->days_p5);
        json_number_member(json, "days_p95", point->days_p95);
    }
}

static void run_members(JsonWriter *json, const PlanAnswer *answer, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    layout_member(json, row);
    time_members(json, point);
    json_number_member(json, "energy_kwh", point->energy_kwh);
    json_key(json, "cost");
    json_begin_object(json);
    json_number_member(json, "amount", point->cost_per_run);
    json_text_member(json, "currency", point->currency);
    json_key(json, "prices");
    json_begin_list(json);
    for (int i = 0; i < point->price_count; i++) {
        json_begin_object(json);
        json_text_member(json, "name", point->prices[i].name);
        json_text_member(json, "date", point->prices[i].date);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
    json_number_member(json, "carbon_kg", point->carbon_kg);
    json_key(json, "memory_bytes");
    json_begin_object(json);
    json_number_member(json, "peak", point->memory_peak_bytes);
    json_number_member(json, "capacity", point->memory_capacity_bytes);
    named_members(json, "by_class", point->memory, point->memory_count);
    json_end_object(json);
    named_members(json, "exposed_s", point->exposed, point->exposed_count);
    const BatchLaw *law = &answer->request->law;
    if (law->learning_rate > 0) {
        json_key(json, "learning_rate");
        json_begin_object(json);
        json_number_member(json, "linear", learning_rate_at(law, RATE_LINEAR, point->global_batch));
        json_number_member(json, "square_root", learning_rate_at(law, RATE_SQUARE_ROOT, point->global_batch));
        json_end_object(json);
    }
}

// ---- Chances, and what is not known.

static void range_member(JsonWriter *json, const char *key, const PlanRange90 *range) {
    json_key(json, key);
    json_begin_object(json);
    json_number_member(json, "p5", range->p5);
    json_number_member(json, "p50", range->p50);
    json_number_member(json, "p95", range->p95);
    json_end_object(json);
}

static void chance_members(JsonWriter *json, const PlanAnswer *answer, const PlanRow *row) {
    json_number_member(json, "chance_to_fit", 1 - row->point.chance_to_run_out);
    if (!row->chance.known) return;
    json_key(json, "chance");
    json_begin_object(json);
    if (answer->request->deadline_s > 0) json_number_member(json, "by_date", row->chance.by_date);
    if (answer->request->budget > 0) json_number_member(json, "in_budget", row->chance.in_budget);
    json_number_member(json, "both", row->chance.both);
    json_end_object(json);
    range_member(json, "days_range", &row->chance.days);
    range_member(json, "cost_range", &row->chance.cost);
}

static void swings_member(JsonWriter *json, const PlanUnknowns *unknowns) {
    json_key(json, "unknowns");
    json_begin_list(json);
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        json_begin_object(json);
        json_text_member(json, "name", plan_factor_names[swing->factor]);
        json_number_member(json, "days_p5", swing->low.days);
        json_number_member(json, "days_p95", swing->high.days);
        json_number_member(json, "cost_p5", swing->low.cost);
        json_number_member(json, "cost_p95", swing->high.cost);
        json_number_member(json, "share_of_days_variance", swing->days_share);
        json_number_member(json, "share_of_cost_variance", swing->cost_share);
        json_end_object(json);
    }
    json_end_list(json);
}

static void measurements_member(JsonWriter *json, const PlanUnknowns *unknowns) {
    json_key(json, "measurements");
    json_begin_list(json);
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *measurement = &unknowns->measurements[i];
        json_begin_object(json);
        json_text_member(json, "what", measurement->what);
        json_text_member(json, "how", measurement->how);
        json_number_member(json, "price", measurement->price);
        json_number_member(json, "worth", measurement->worth);
        json_number_member(json, "chance_then", measurement->both);
        json_number_member(json, "cost_width", measurement->cost_width);
        json_number_member(json, "days_width", measurement->days_width);
        json_end_object(json);
    }
    json_end_list(json);
    json_number_member(json, "worth_of_knowing_all", unknowns->all);
    json_number_member(json, "miss_cost", unknowns->miss_cost);
}

static void settings_member(JsonWriter *json, const PlanSettings *settings) {
    json_key(json, "settings");
    json_begin_list(json);
    for (int i = 0; i < settings->count; i++) {
        const PlanSetting *setting = &settings->items[i];
        json_begin_object(json);
        json_text_member(json, "what", setting->what);
        if (setting->parts) json_text_member(json, "parts", setting->parts);
        json_number_member(json, "days", setting->days);
        json_number_member(json, "goodput", setting->goodput);
        json_number_member(json, "cost", setting->cost);
        json_number_member(json, "chance", setting->both);
        json_end_object(json);
    }
    json_end_list(json);
    index_member(json, "best_setting", settings->best);
    index_member(json, "first_setting", settings->first > 0 ? settings->first : -1);
}

static void shifts_member(JsonWriter *json, const PlanShifts *shifts) {
    json_key(json, "shifts");
    json_begin_list(json);
    for (int i = 0; i < shifts->count; i++) {
        const PlanShift *shift = &shifts->items[i];
        json_begin_object(json);
        json_text_member(json, "what", shift->what);
        index_member(json, "chosen", shift->chosen);
        index_member(json, "first", shift->best);
        json_number_member(json, "chance", shift->both);
        json_number_member(json, "days", shift->days);
        json_number_member(json, "cost", shift->cost);
        json_end_object(json);
    }
    json_end_list(json);
}

static void reach_member(JsonWriter *json, const PlanReaches *reaches) {
    json_key(json, "reach");
    json_begin_list(json);
    for (int i = 0; i < reaches->count; i++) {
        const PlanReach *reach = &reaches->items[i];
        json_begin_object(json);
        json_text_member(json, "what", plan_reach_names[reach->kind]);
        index_member(json, "plan", reach->row);
        json_number_member(json, "value", reach->value);
        json_number_member(json, "chance", reach->chance);
        json_end_object(json);
    }
    json_end_list(json);
}

static void paid_members(JsonWriter *json, const PlanRequest *request, const PlanRow *row) {
    json_text_member(json, "provider", plan_provider_of(request, row));
    json_text_member(json, "terms", plan_terms_name(request, row));
    if (row->spares_cost > 0) json_number_member(json, "spares_cost", row->spares_cost);
    if (row->storage_cost > 0) json_number_member(json, "storage_cost", row->storage_cost);
    if (row->term_days > 0) {
        json_number_member(json, "term_days", row->term_days);
        json_number_member(json, "unused_cost", row->unused_cost);
    }
}

static void run_line_member(JsonWriter *json, Arena *arena, const PlanAnswer *answer, const PlanRow *row) {
    int count;
    const char *const *words = plan_run_words(arena, answer, row, &count);
    json_key(json, "run_command");
    json_begin_list(json);
    json_write_text(json, "lockstep");
    for (int i = 0; i < count; i++) json_write_text(json, words[i]);
    json_end_list(json);
}

static void software_member(JsonWriter *json, const PlanRequest *request) {
    const Software *software = request->training.software;
    json_key(json, "software");
    json_begin_object(json);
    json_bool_member(json, "stated", !request->training.software_assumed);
    json_text_member(json, "name", software && software->word[0] ? software->word : NULL);
    json_text_member(json, "layouts", software && software->reach ? software->reach->layouts : NULL);
    json_end_object(json);
}

static void advice_member(JsonWriter *json, const PlanAdvice *advice) {
    json_key(json, "recommended");
    json_begin_object(json);
    index_member(json, "plan", advice->row);
    index_member(json, "setting", advice->setting);
    json_number_member(json, "days", advice->days);
    json_number_member(json, "cost", advice->cost);
    json_number_member(json, "chance", advice->both);
    json_end_object(json);
}

static void row_members(JsonWriter *json, Arena *arena, const PlanAnswer *answer, const PlanRow *row) {
    json_integer_member(json, "gpus", row->gpus);
    json_text_member(json, "node", row->node->name);
    json_text_member(json, "fabric", row->link ? row->link->name : NULL);
    json_bool_member(json, "ran", row->point.ran);
    json_number_member(json, "oversubscription", row->oversubscription);
    json_bool_member(json, "owned", row->owned);
    paid_members(json, answer->request, row);
    const char *misses = plan_verdict(arena, answer->request, row);
    if (*misses) json_text_member(json, "misses", misses);
    if (!row->point.ran) return;
    json_bool_member(json, "pareto", row->on_front);
    if (isfinite(row->point.break_even_utilisation))
        json_number_member(json, "break_even_utilisation", row->point.break_even_utilisation);
    run_members(json, answer, row);
    chance_members(json, answer, row);
    run_line_member(json, arena, answer, row);
}

static void what_if_member(JsonWriter *json, const PlanWhatIfs *what_if) {
    json_key(json, "what_if");
    json_begin_list(json);
    for (int i = 0; i < what_if->count; i++) {
        json_begin_object(json);
        json_text_member(json, "what", what_if->items[i].what);
        index_member(json, "chosen", what_if->items[i].chosen);
        json_number_member(json, "days", what_if->items[i].point.days);
        json_number_member(json, "cost", what_if->items[i].point.cost_per_run);
        json_end_object(json);
    }
    json_end_list(json);
    json_number_member(json, "price_margin", what_if->price_margin);
    index_member(json, "price_rival", what_if->price_rival);
}

void plan_write_json(Arena *arena, const PlanAnswer *answer) {
    const PlanResult *result = answer->result;
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "plan");
    json_text_member(&json, "model", answer->request->training.model->name);
    json_text_member(&json, "objective", plan_objective_names[answer->request->objective]);
    json_integer_member(&json, "clusters", result->cluster_count);
    json_integer_member(&json, "clusters_searched", result->searched);
    json_integer_member(&json, "candidates", result->count.candidates);
    json_integer_member(&json, "too_large", result->count.too_large);
    json_integer_member(&json, "dominated", result->count.dominated);
    json_integer_member(&json, "simulated", result->count.simulated);
    json_integer_member(&json, "events", result->count.events);
    json_number_member(&json, "confidence", answer->request->confidence);
    json_number_member(&json, "fit", plan_fit_asked(answer->request));
    software_member(&json, answer->request);
    index_member(&json, "chosen", result->chosen);
    index_member(&json, "knee", result->knee);
    if (answer->chosen) { // of the plan chosen, or of the nearest miss
        row_members(&json, arena, answer, &result->rows[0]);
        results_json_assumptions(&json, answer->chosen);
        results_json_digest(&json, answer->chosen->digest);
    }
    what_if_member(&json, answer->what_if);
    if (answer->unknowns) {
        swings_member(&json, answer->unknowns);
        measurements_member(&json, answer->unknowns);
        settings_member(&json, answer->settings);
        shifts_member(&json, answer->shifts);
        reach_member(&json, answer->reaches);
    }
    const Screen screen = {.arena = arena, .answer = answer, .request = answer->request, .result = result};
    Recommendation recommendation;
    if (plan_recommend(&screen, &recommendation)) {
        PlanAdvice advice = plan_advice(&screen);
        recommendation_write(&json, &recommendation);
        advice_member(&json, &advice);
    }
    json_key(&json, "plans");
    json_begin_list(&json);
    for (int i = 0; i < result->row_count; i++) {
        json_begin_object(&json);
        row_members(&json, arena, answer, &result->rows[i]);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

// ---- CSV.

static void csv_chances(CsvWriter *csv, const PlanRow *row) {
    const PlanChance *chance = &row->chance;
    const double numbers[] = {chance->by_date,  chance->in_budget, chance->both,     chance->days.p5, chance->days.p50,
                              chance->days.p95, chance->cost.p5,   chance->cost.p50, chance->cost.p95};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        csv_number(csv, "%.9g", chance->known ? numbers[i] : NAN);
    csv_number(csv, "%.9g", 1 - row->point.chance_to_run_out);
}

static void csv_row(Arena *arena, CsvWriter *csv, const PlanAnswer *answer, int index) {
    const PlanRow *row = &answer->result->rows[index];
    const RecordPoint *point = &row->point;
    csv_figures(csv, "%d,%d", index == answer->result->chosen, row->gpus);
    csv_text(csv, row->node->name);
    csv_text(csv, row->link ? row->link->name : NULL);
    csv_text(csv, plan_verdict(arena, answer->request, row));
    if (!point->ran) {
        csv_figures(csv, "%g,,,,,,,,,,,,,,,,,,,,,,,%d,%g,,,,,,,,,,,,,", row->training.global_batch, row->owned,
                    row->oversubscription);
        csv_end_row(csv);
        return;
    }
    csv_figures(csv, "%g,%d,%d,%d,%d,%d,%d,%d,%g", point->global_batch, point->tp, point->pp, point->vpp, point->cp,
                point->ep, point->dp, point->zero, point->micro_batch);
    csv_text(csv, recompute_name(row->training.recompute));
    const double numbers[] = {point->step_p50_s,    point->step_p5_s,         point->step_p95_s,  point->mfu,
                              point->samples_per_s, point->memory_peak_bytes, point->steps,       point->days,
                              point->goodput,       point->energy_kwh,        point->cost_per_run};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) csv_number(csv, "%.9g", numbers[i]);
    csv_text(csv, isnan(point->cost_per_run) ? NULL : point->currency);
    csv_figures(csv, "%d,%d,%g,%s", row->on_front, row->owned, row->oversubscription,
                schedule_name(row->training.schedule));
    csv_chances(csv, row);
    csv_text(csv, plan_provider_of(answer->request, row));
    csv_text(csv, plan_terms_name(answer->request, row));
    csv_end_row(csv);
}

void plan_write_csv(Arena *arena, const PlanAnswer *answer) {
    CsvWriter csv = csv_writer(stdout);
    csv_titles(
        stdout,
        "chosen,gpus,node,fabric,misses,global_batch,tp,pp,vpp,cp,ep,dp,zero,micro_batch,recompute,step_s,step_p5_s,"
        "step_p95_s,mfu,samples_per_s,memory_bytes,steps,days,goodput,energy_kwh,cost,currency,pareto,owned,"
        "oversubscription,schedule,chance_by_date,chance_in_budget,chance_both,days_p5,days_p50,days_p95,cost_p5,"
        "cost_p50,cost_p95,chance_to_fit,provider,terms");
    for (int i = 0; i < answer->result->row_count; i++) csv_row(arena, &csv, answer, i);
}
