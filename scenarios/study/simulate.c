// One point of a study: simulates a step and records its time, memory, money and energy.
#include <math.h>
#include <time.h>

#include "models/network/messages/packet_carrier.h"
#include "models/workload/cost/memory_time.h"
#include "models/workload/job/needs.h"
#include "models/workload/job/recompute.h"
#include "models/workload/money/money.h"
#include "models/workload/step/plausible.h"
#include "models/workload/step/simulate.h"
#include "models/workload/step/step_constants.h"
#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/fold.h"
#include "sim/longest.h"
#include "sim/run.h"
#include "sim/system/watch.h"

static const char *gib(Arena *arena, double bytes) { return arena_printf(arena, "%.1f GiB", bytes / 1073741824.0); }

// ---- From times to what a user asks.

static NamedValue *named(Arena *arena, const char *const *names, const char *const *titles, const double *values,
                         int count) {
    NamedValue *list = ARENA_ARRAY(arena, NamedValue, count);
    for (int i = 0; i < count; i++) list[i] = (NamedValue){names[i], titles ? titles[i] : names[i], values[i]};
    return list;
}

const char *program_title(int cause) {
    switch (cause) {
    case CAUSE_GEMM:
        return "Compute";
    case CAUSE_PP:
        return "Sends and receives";
    case CAUSE_DP:
        return "Collectives";
    default:
        return cause < CAUSE_COUNT ? cause_titles[cause] : "Idle";
    }
}

static double steps_of_run(const TrainingSpec *training, double global_batch) {
    double epochs = training->epochs > 0 ? training->epochs : 1;
    if (training->tokens > 0 && training->seq_len > 0)
        return ceil(training->tokens / (training->seq_len * global_batch));
    if (training->samples > 0) return ceil(training->samples / global_batch) * epochs;
    return NAN;
}

static void set_speed(RecordPoint *point, const Cluster *cluster, const TrainingSpec *training, double global_batch) {
    double peak = peak_flops_of(cluster, training->precision);
    point->samples_per_s = global_batch / point->step_p50_s;
    bool tokens = counts_tokens(training->model);
    point->tokens_per_s = tokens ? point->samples_per_s * training->seq_len : 0;
    double flops = training_flops_per_sample(training) * global_batch;
    double again = recomputed_flops_per_sample(training) * global_batch;
    // MFU counts attention as if nothing were masked and convolutions as plain products (PaLM, 2022): more than the
    // peak where these are most of a step.
    point->counts_done = peak > 0 && flops + again > peak * point->step_p50_s;
    if (point->counts_done) {
        double done = least_flops_per_sample(training, cluster) * global_batch;
        again *= done / flops;
        flops = done;
    }
    point->flops_per_step = flops;
    point->mfu = peak > 0 ? flops / (peak * point->step_p50_s) : NAN;
    point->hfu = peak > 0 ? (flops + again) / (peak * point->step_p50_s) : NAN;
}

// Where the price is a median, between which prices.
static void set_price_range(Arena *arena, RecordPoint *point, const Cluster *cluster, const ClusterBill *bill) {
    const Quote *quotes = cluster->money->quotes;
    if (bill->owned || !quotes || cluster->spec->group_count > 1 || quotes[0].count < 2) return;
    point->price_of_gpu_hour = quote_text(arena, &quotes[0]);
    point->cost_per_hour_least = bill->least_per_hour;
    point->cost_per_hour_most = bill->most_per_hour;
}

static void set_cost(RecordPoint *point, const ClusterBill *bill) {
    point->cost_per_hour = bill->per_hour;
    point->cost_per_month = bill->per_month;
    point->cost_lines = bill->lines;
    point->cost_line_count = bill->line_count;
    point->prices = bill->prices;
    point->price_count = bill->price_count;
    point->rent_per_hour = bill->rent_per_hour;
    point->break_even_utilisation = bill->break_even_utilisation;
    point->payback_months = bill->payback_months;
    point->capital = bill->capital;
}

static void set_bill(Arena *arena, RecordPoint *point, const Cluster *cluster, const ClusterBill *bill) {
    set_cost(point, bill);
    set_price_range(arena, point, cluster, bill);
    point->cost_per_step = bill->per_hour * point->step_p50_s / 3600;
    point->cost_per_run = bill_of_run(bill, point->days * 24);
    point->term_days = bill->term_hours / 24;
    point->unused_cost = bill_unused_of_run(bill, point->days * 24);
}

// What is rented costs the same whatever it does.
void price_training(Arena *arena, const Cluster *cluster, RecordPoint *point) {
    CHECK(!cluster->money->own);
    ClusterBill bill = cluster_bill(arena, cluster, &(ActivityMix){0});
    point->currency = bill.currency;
    point->price_of_gpu_hour = NULL;
    point->cost_per_hour_least = point->cost_per_hour_most = NAN;
    set_bill(arena, point, cluster, &bill);
}

static void set_money_and_energy(Arena *arena, RecordPoint *point, const Cluster *cluster, const TrainingSpec *training,
                                 const double *spent) {
    ActivityMix mix = activity_of_step(spent);
    ClusterBill bill = cluster_bill(arena, cluster, &mix);
    point->steps = steps_of_run(training, point->global_batch);
    point->days = point->steps * point->step_p50_s / 86400;
    set_bill(arena, point, cluster, &bill);
    point->power_watts = bill.wall_watts;
    point->peak_watts = bill.peak_wall_watts;
    point->energy_kwh = bill.wall_watts / 1000 * point->days * 24;
    point->carbon_kg = bill.carbon_kg_per_hour * point->days * 24;
}

static void set_layout(RecordPoint *point, const Resolved *r, const TrainingSpec *training) {
    point->tp = r->tp;
    point->pp = r->pp;
    point->vpp = r->vpp;
    point->dp = r->dp;
    point->cp = r->cp;
    point->ep = r->ep;
    point->zero = training->layout.zero;
    point->micro_batch = r->micro_batch;
    point->global_batch = r->global_batch;
}

#define LONGEST_CURVE 4096 // micro-batches

// When most memory is in use on the fullest GPU.
static const char *peak_moment(Arena *arena, const Lowered *lowered, const Gpu *gpu, int gpus) {
    if (lowered->resolved.micro_batches > LONGEST_CURVE) return NULL;
    Arena *scratch = arena_open();
    MemoryCurve curve = memory_over_time(scratch, lowered->training, gpus, gpu, lowered->fullest_stage, NULL);
    const char *text = NULL;
    if (curve.count) text = memory_moment_text(arena, lowered->training->model, &curve.items[curve.peak]);
    arena_close(scratch);
    return text;
}

// With the smallest remedy when it does not surely fit.
static void set_memory(Arena *arena, RecordPoint *point, const Lowered *lowered, const Cluster *cluster,
                       const TrainingSpec *training) {
    point->memory_peak_bytes = lowered->memory.peak;
    point->memory_capacity_bytes = lowered->memory.capacity;
    point->memory = named(arena, memory_class_names, NULL, lowered->memory.bytes, MEMORY_CLASS_COUNT);
    point->memory_count = MEMORY_CLASS_COUNT;
    const Gpu *gpu = cluster->gpu_of[layout_rank(&lowered->resolved, 0, 0, lowered->fullest_stage)];
    point->memory_peak_at = peak_moment(arena, lowered, gpu, cluster->gpu_count);
    point->chance_to_run_out = chance_to_run_out(&lowered->memory);
    if (!may_fit(&lowered->memory))
        point->why_not = arena_printf(arena, "needs %s of %s on %s", gib(arena, lowered->memory.peak),
                                      gib(arena, lowered->memory.capacity), gpu->name);
    if (point->chance_to_run_out <= 1 - MEMORY_FITS) return;
    TrainingSpec asked = *training;
    asked.layout.dp = 0;
    asked.micro_batch = lowered->resolved.micro_batch;
    asked.global_batch = lowered->resolved.global_batch;
    point->smallest_change = smallest_change_that_fits(arena, &asked, cluster->gpu_count, gpu);
}

static RecordPoint blank_point(Arena *arena, const Cluster *cluster) {
    return (RecordPoint){.gpu_count = cluster->gpu_count,
                         .node_count = cluster->node_count,
                         .nodes = cluster_nodes_text(arena, cluster->spec),
                         .fabric = cluster_fabric_text(arena, cluster->spec),
                         .efficiency_vs_one_gpu = NAN,
                         .efficiency_vs_ideal = NAN,
                         .mfu = NAN,
                         .hfu = NAN,
                         .cost_per_hour = NAN,
                         .cost_per_month = NAN,
                         .cost_per_run = NAN,
                         .cost_per_step = NAN,
                         .days = NAN,
                         .days_p5 = NAN,
                         .days_p95 = NAN,
                         .goodput = NAN,
                         .steps = NAN,
                         .energy_kwh = NAN,
                         .power_watts = NAN,
                         .peak_watts = NAN,
                         .carbon_kg = NAN,
                         .rent_per_hour = NAN,
                         .currency = cluster->money->currency};
}

static const char *newest_problem(const Problems *problems) {
    int count = problem_count(problems);
    return count ? problem_at(problems, count - 1)->text : "the layout is not possible";
}

// What more GPUs add to the step of one, as sure as such traffic is known.
static double traffic_sigma(const double *spent, double seconds) {
    double variance = 0;
    for (int c = CAUSE_TP; c <= CAUSE_DP; c++) {
        double part = spent[c] / seconds * step_constant(CAUSE_SIGMA + (StepConstantId)c);
        variance += part * part;
    }
    return sqrt(variance);
}

RecordPoint simulate_training(Arena *arena, const Cluster *cluster, const TrainingSpec *training,
                              const StudySpec *study, Problems *problems) {
    RecordPoint point = blank_point(arena, cluster);
    double started = watch_cpu_seconds();
    SimulationOptions options = {.runs = study->seeds,
                                 .seed = study->seed,
                                 .unfolded = study->unfolded,
                                 .book = study->book,
                                 .assume_fits = study->assume_fits,
                                 .surely_fits = study->surely_fits,
                                 .timeline = study->want_timeline,
                                 .step_sigma = study->noise};
    SimulatedStep step = simulate_step(arena, cluster, training, &options, problems);
    if (!step.lowered) {
        point.why_not = newest_problem(problems);
        return point;
    }
    set_layout(&point, &step.lowered->resolved, training);
    point.effects = job_effects(arena, training, &step.lowered->resolved, &point.effect_count);
    set_memory(arena, &point, step.lowered, cluster, training);
    point.known_to_fit = study->assume_fits;
    point.beyond_limits = step.beyond_limits;
    if (step.refused || step.beyond_limits) point.why_not = newest_problem(problems);
    if (!step.ran) return point;

    double busy = 0;
    for (int c = CAUSE_GEMM; c <= CAUSE_OPTIMIZER; c++) busy += step.spent[c];
    point.ran = true;
    point.why_not = NULL; // exceeds the GPU's memory, but assume_fits
    point.step_p5_s = step.step_p5_s;
    point.step_p50_s = step.step_p50_s;
    point.step_p95_s = step.step_p95_s;
    point.exposed = named(arena, cause_names, cause_titles, step.spent, CAUSE_COUNT);
    point.exposed_count = CAUSE_COUNT;
    double seconds = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) seconds += step.spent[c];
    point.efficiency_vs_ideal = busy / seconds;
    point.anchored = step.anchored;
    point.efficiency_sigma = traffic_sigma(step.spent, seconds);
    set_speed(&point, cluster, training, step.lowered->resolved.global_batch);
    set_money_and_energy(arena, &point, cluster, training, step.spent);
    point.timeline = step.timeline;
    point.packets = step.packets;
    point.digest = step.digest;
    point.event_count = step.event_count;
    point.simulate_seconds = watch_cpu_seconds() - started;
    return point;
}

// ---- Programs written by hand.

// What moves while the main stream goes on.
static bool is_side_transfer(const Interval *interval, int ranks) {
    return interval->actor < ranks && interval->stream != 0 && interval->kind == OP_TRANSFER &&
           interval->end > interval->start;
}

static Timeline *program_timeline(Arena *arena, const System *system, const RunResult *result) {
    struct {
        TimelineBar *items;
        int count, room;
    } bars = {0};
    Timeline *timeline = ARENA_NEW(arena, Timeline);
    int ranks = system->actor_count < 16 ? system->actor_count : 16, rows_each = 1;
    double busy = 0, end = step_seconds(result->end);
    for (int64_t i = 0; i < result->interval_count; i++)
        if (is_side_transfer(&result->intervals[i], ranks)) rows_each = 2;
    const char **names = ARENA_ARRAY(arena, const char *, (size_t)rows_each *(size_t)ranks);
    for (int a = 0; a < ranks; a++) {
        names[rows_each * a] = arena_printf(arena, "rank %d", a);
        if (rows_each == 2) names[2 * a + 1] = arena_printf(arena, "rank %d transfers", a);
    }
    for (int64_t i = 0; i < result->interval_count; i++) {
        const Interval *interval = &result->intervals[i];
        if (interval->actor >= ranks || interval->end <= interval->start) continue;
        bool on_side = is_side_transfer(interval, ranks);
        if (interval->stream != 0 && !on_side) continue;
        TimelineBar bar = {.row = rows_each * interval->actor + on_side,
                           .start_s = step_seconds(interval->start),
                           .end_s = step_seconds(interval->end),
                           .cause = system->causes[interval->cause],
                           .name = system->labels[interval->label].name};
        LIST_PUSH(arena, &bars, bar);
        if (interval->kind == OP_WORK) busy += bar.end_s - bar.start_s;
    }
    *timeline = (Timeline){.row_names = names,
                           .row_count = rows_each * ranks,
                           .bars = bars.items,
                           .bar_count = bars.count,
                           .idle_share = end > 0 ? 1 - busy / (end * ranks) : 0};
    return timeline;
}

// As packets each rank goes its own way, and links are those of the network.
static Folded program_as_run(Arena *arena, const ProgramSpec *program, const System *system, bool unfolded) {
    if (program->as_packets) return (Folded){*system, NULL};
    return unfolded ? (Folded){merge_equal_links(arena, system), NULL} : fold_system(arena, system);
}

RecordPoint simulate_program(Arena *arena, const ProgramSpec *program, const System *system, const StudySpec *study,
                             Problems *problems) {
    const Cluster *cluster = program->cluster;
    RecordPoint point = blank_point(arena, cluster);
    double started = watch_cpu_seconds(), steps = program->steps;
    Folded folded = program_as_run(arena, program, system, study->unfolded || study->want_timeline);
    RunOptions options = {.seed = study->seed, .timeline = study->want_timeline};
    if (program->as_packets) options.carrier = program_carrier(arena, program, system, problems);
    if (program->as_packets && !options.carrier) {
        point.why_not = newest_problem(problems);
        return point;
    }
    RunResult result = {.stopped = true};
    if (watch_allows_operations(system_op_count(&folded.system), 0, "this program", "fewer operations or ranks",
                                study->where, problems))
        result = run_system(arena, &folded.system, &options);
    if (result.beyond_clock && !result.stopped) {
        problem_beyond_clock(problems, study->where, steps > 1 ? "this program" : "this step", &folded.system);
        point.why_not = newest_problem(problems);
        return point;
    }
    if (result.stopped) {
        watch_tells(study->where, problems);
        point.beyond_limits = true;
        point.why_not = newest_problem(problems);
        return point;
    }
    if (result.deadlocked_count) {
        RunResult whole = program->as_packets ? result : run_system(arena, system, &options);
        report_deadlock(arena, system, &whole, study->where, problems);
        point.why_not = "deadlock";
        return point;
    }
    double ranks = 0, *spent = ARENA_ARRAY(arena, double, system->cause_count + 1);
    const char **names = ARENA_ARRAY(arena, const char *, system->cause_count + 1);
    const char **titles = ARENA_ARRAY(arena, const char *, system->cause_count + 1);
    point.digest = DIGEST_START;
    for (int rank = 0; rank < system->actor_count; rank++) {
        int a = folded.class_of ? folded.class_of[rank] : rank;
        SimTime accounted = 0;
        for (int c = 0; c < system->cause_count; c++) {
            SimTime time = result.spent[(int64_t)a * system->cause_count + c];
            spent[c] += step_seconds(time) / steps;
            accounted += time;
            point.digest = digest_u64(point.digest, (uint64_t)time);
        }
        spent[system->cause_count] += step_seconds(result.end - accounted) / steps;
        point.digest = digest_u64(point.digest, (uint64_t)result.actor_end[a]);
        ranks++;
    }
    for (int c = 0; c <= system->cause_count; c++) {
        spent[c] /= ranks;
        names[c] = c < system->cause_count ? system->causes[c] : "idle";
        titles[c] = program_title(c < system->cause_count ? c : CAUSE_COUNT);
    }
    point.ran = true;
    point.step_p50_s = step_seconds(result.end) / steps;
    point.step_p5_s = point.step_p50_s * exp(-1.645 * 0.1);
    point.step_p95_s = point.step_p50_s * exp(1.645 * 0.1);
    point.exposed = named(arena, names, titles, spent, system->cause_count + 1);
    point.exposed_count = system->cause_count + 1;
    ClusterBill bill = cluster_bill(arena, cluster, &activity_idle); // of unknown activity
    set_cost(&point, &bill);
    if (study->want_timeline) point.timeline = program_timeline(arena, system, &result);
    if (options.carrier) point.packets = packets_carried(arena, options.carrier, step_seconds(result.end));
    point.event_count = result.event_count;
    point.simulate_seconds = watch_cpu_seconds() - started;
    return point;
}
