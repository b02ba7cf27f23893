// Search for the best layout of one cluster and global batch: the layouts there are, in a fixed order; memory, then the
// bound, then the simulation. And how many steps a batch takes.
#include <math.h>
#include <stdlib.h>

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/software.h"
#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/plan_bound.h"
#include "scenarios/plan/plan_chance.h"
#include "scenarios/study/study.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

bool batch_law_given(const BatchLaw *law) { return law->point_count > 0 || law->least_steps > 0; }

// Between two points of a curve in logarithms: a law of powers there.
static double steps_on_curve(const BatchLaw *law, double batch) {
    const BatchPoint *points = law->points;
    int last = law->point_count - 1, below = 0, at = last;
    if (batch < points[0].batch || batch > points[last].batch) return NAN;
    if (last == 0) return points[0].steps;
    while (at - below > 1) { // batches rise
        int middle = below + (at - below) / 2;
        if (points[middle].batch < batch)
            below = middle;
        else
            at = middle;
    }
    const BatchPoint *a = &points[at - 1], *b = &points[at];
    double share = log(batch / a->batch) / log(b->batch / a->batch);
    return a->steps * pow(b->steps / a->steps, share);
}

double batch_law_steps(const BatchLaw *law, double batch) {
    double steps =
        law->point_count > 0 ? steps_on_curve(law, batch) : law->least_steps * (1 + law->critical_batch / batch);
    return ceil(steps - 1e-9 * steps); // a whole number that rounding left a hair above is not one step more
}

BatchLaw batch_law_from_run(double critical_batch, double batch, double samples) {
    return (BatchLaw){.critical_batch = critical_batch,
                      .least_steps = samples / batch / (1 + critical_batch / batch),
                      .reference_batch = batch};
}

static void check_rising(const Csv *csv, const BatchPoint *points, int count, Problems *problems) {
    for (int i = 1; i < count; i++) {
        if (points[i].batch > points[i - 1].batch) continue;
        problem_add(problems, csv_where(csv, i), "batch %g comes after batch %g", points[i].batch, points[i - 1].batch);
        problem_hint(problems, "batches rise from row to row");
    }
}

BatchLaw batch_law_read(Arena *arena, const char *path, Problems *problems) {
    BatchLaw law = {0};
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return law;
    int batch = csv_column(csv, "batch", problems), steps = csv_column(csv, "steps", problems);
    if (batch < 0 || steps < 0) return law;
    BatchPoint *points = ARENA_ARRAY(arena, BatchPoint, csv->row_count);
    for (int i = 0; i < csv->row_count; i++)
        points[i] = (BatchPoint){csv_positive(csv, i, batch, problems), csv_positive(csv, i, steps, problems)};
    if (csv->row_count == 0) {
        problem_add(problems, (Where){path, 0}, "no row says how many steps a batch needs");
        problem_hint(problems, "a header \"batch,steps\", then for example \"256,450000\"");
    }
    if (problems_added(problems) == before) check_rising(csv, points, csv->row_count, problems);
    law.points = points;
    law.point_count = csv->row_count;
    return law;
}

double learning_rate_at(const BatchLaw *law, LearningRateRule rule, double batch) {
    double times = batch / law->reference_batch;
    return law->learning_rate * (rule == RATE_LINEAR ? times : sqrt(times));
}

#define MOST_TP 128 // no framework splits a product further
#define MOST_CP 64
#define CP_PIECE_TOKENS 1024 // smaller pieces of a sequence pay more for the ring than they save
#define MOST_MICRO 16        // sequences: larger micro-batches give GEMMs nothing more

typedef LIST_OF(int) Numbers;

typedef struct Enumeration {
    Arena *arena;
    const PlanRequest *request;
    const Model *model;
    double global_batch;
    int gpus;
    Numbers divisors; // of the GPUs, rising
    PlanSpace space;
} Enumeration;

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static Numbers divisors_of(Arena *arena, int number) {
    Numbers list = {0};
    for (int d = 1; (int64_t)d * d <= number; d++) {
        if (number % d) continue;
        LIST_PUSH(arena, &list, d);
        if (number / d != d) LIST_PUSH(arena, &list, number / d);
    }
    qsort(list.items, (size_t)list.count, sizeof *list.items, by_number);
    return list;
}

static bool fixed_or(int fixed, int value, bool possible) { return fixed > 0 ? value == fixed : possible; }

static bool starts(const Enumeration *e, const char *field, int value) {
    return software_starts(e->request->training.software, field, value);
}

// By the software that is stated, of stages that nobody fills by hand.
static bool divides_as(const Enumeration *e, int layers, int pp, int vpp) {
    const TrainingSpec *training = &e->request->training;
    return training->layout.stage_layers || software_divides(training->software, layers, pp, vpp);
}

// Where the layers do not divide but do with the embedding and the head as one each, these count (94 of Qwen3 235B).
static bool ends_count(const Enumeration *e, int pp, int vpp) {
    int layers = layers_counted(&e->request->training);
    return layers == layers_to_spread(e->model) && !divides_as(e, layers, pp, vpp) &&
           divides_as(e, layers + 2, pp, vpp);
}

static bool divides(const Enumeration *e, int pp, int vpp) {
    return divides_as(e, layers_counted(&e->request->training), pp, vpp) || ends_count(e, pp, vpp);
}

static bool tp_possible(const Enumeration *e, int tp) {
    const Model *model = e->model;
    if (!fixed_or(e->request->training.layout.tp, tp, tp <= MOST_TP && starts(e, "tp", tp))) return false;
    if (model->heads == 0) return tp == 1;
    bool experts = model->experts.count == 0 || model->experts.ffn % tp == 0;
    return model->heads % tp == 0 && model->kv_heads % tp == 0 && model->ffn % tp == 0 && experts;
}

static bool cp_possible(const Enumeration *e, int cp) {
    if (cp == 1) return fixed_or(e->request->training.layout.cp, cp, true);
    double seq_len = e->request->training.seq_len;
    if (e->model->heads == 0 || fmod(seq_len, 2.0 * cp) != 0) return false;
    bool usual = (cp & (cp - 1)) == 0 && cp <= MOST_CP && seq_len / cp >= CP_PIECE_TOKENS && starts(e, "cp", cp);
    return fixed_or(e->request->training.layout.cp, cp, usual);
}

static bool ep_possible(const Enumeration *e, int ep, int data_ranks) {
    int experts = e->model->experts.count;
    if (data_ranks % ep || (ep > 1 && (experts == 0 || experts % ep))) return false;
    return fixed_or(e->request->training.layout.ep, ep, starts(e, "ep", ep));
}

// A stage's layers divide by vpp, so that interleaving makes no chunk of it fuller than the others need be.
static bool vpp_possible(const Enumeration *e, int pp, int vpp, double micro_batches) {
    int layers = layers_to_spread(e->model);
    if (vpp == 1) return fixed_or(e->request->training.layout.vpp, vpp, true);
    if (pp == 1 || pp * vpp > layers || fmod(micro_batches, pp) != 0) return false;
    return fixed_or(e->request->training.layout.vpp, vpp,
                    (layers + pp - 1) / pp % vpp == 0 && starts(e, "vpp", vpp) && divides(e, pp, vpp));
}

// A schedule that the user names is the one; interleaving comes with vpp.
static Schedule schedule_with(const Enumeration *e, int vpp) {
    if (e->request->schedule_fixed) return e->request->training.schedule;
    return vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
}

static bool goes_with_schedule(const Enumeration *e, int vpp) {
    Schedule schedule = schedule_with(e, vpp);
    if (schedule_splits_backward(schedule)) return vpp == 1; // they have chunks of their own
    return vpp == 1 || (schedule != SCHEDULE_GPIPE && schedule != SCHEDULE_1F1B);
}

static bool zero_possible(const Enumeration *e, const Layout *layout, int zero) {
    int cp = layout->cp > 1 ? layout->cp : 1, shard = e->request->training.layout.shard;
    if (zero > 0 && shard > 0 && layout->dp * cp % shard != 0) return false;
    if (e->request->zero_fixed) return zero == e->request->training.layout.zero;
    if (layout->dp * cp == 1) return zero == 0;
    if (!starts(e, "zero", zero)) return false;
    if (zero == 0) return true;
    bool adam = e->request->training.optimizer == OPTIMIZER_ADAM;
    if (!adam && starts(e, "zero", 0)) return false;
    return layout_zero_is_usual(zero, layout->pp, layout->ep);
}

static void add_recomputations(Enumeration *e, PlanCandidate candidate) {
    const PlanRequest *request = e->request;
    bool searched = !request->recompute_fixed && names_parts(e->model);
    Recompute first = searched ? RECOMPUTE_NONE : request->training.recompute;
    Recompute last = searched ? RECOMPUTE_FULL : request->training.recompute;
    for (int recompute = (int)first; recompute <= (int)last; recompute++) {
        candidate.recompute = (Recompute)recompute;
        candidate.number = e->space.count;
        LIST_PUSH(e->arena, &e->space, candidate);
    }
}

// With the optimizer's state at the job's place, and in host memory.
static void add_places(Enumeration *e, PlanCandidate candidate) {
    candidate.optimizer = e->request->training.offload_optimizer;
    add_recomputations(e, candidate);
    bool adam = e->request->training.optimizer == OPTIMIZER_ADAM;
    if (!e->request->offloads || !adam || candidate.optimizer != OFFLOAD_GPU) return;
    candidate.optimizer = OFFLOAD_HOST;
    add_recomputations(e, candidate);
}

// In addition to 1F1B, schedules with later weight gradients that can order that many micro-batches.
static void add_split_schedules(Enumeration *e, PlanCandidate candidate, double micro_batches) {
    if (!e->request->splits_backward || e->request->schedule_fixed || candidate.layout.pp == 1) return;
    Problems *unsaid = problems_create(e->arena);
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++) {
        if (!schedule_splits_backward((Schedule)schedule) || !starts(e, "schedule", schedule)) continue;
        Pipeline pipeline = pipeline_of((Schedule)schedule, candidate.layout.pp, 1, (int)micro_batches);
        bool layers = pipeline.chunks <= layers_to_spread(e->model);
        if (!layers || !pipeline_possible(&pipeline, &(TrainingSpec){.layout = candidate.layout}, unsaid)) continue;
        candidate.schedule = (Schedule)schedule;
        add_places(e, candidate);
    }
}

static void add_batches(Enumeration *e, PlanCandidate candidate) {
    double replica = e->global_batch / candidate.layout.dp, fixed = e->request->training.micro_batch;
    double most = counts_tokens(e->model) ? fmin(replica, MOST_MICRO) : replica;
    for (double micro = fixed > 0 ? fixed : 1; micro <= (fixed > 0 ? fmin(fixed, replica) : most); micro++) {
        if (fmod(replica, micro) != 0) continue;
        candidate.micro_batch = micro;
        for (int vpp = 1; vpp * candidate.layout.pp <= layers_to_spread(e->model) || vpp == 1; vpp++) {
            if (!vpp_possible(e, candidate.layout.pp, vpp, replica / micro) || !goes_with_schedule(e, vpp)) continue;
            bool counted = ends_count(e, candidate.layout.pp, vpp);
            candidate.layout.vpp = vpp;
            candidate.layout.embedding_counts = e->request->training.layout.embedding_counts || counted;
            candidate.layout.head_counts = e->request->training.layout.head_counts || counted;
            candidate.schedule = schedule_with(e, vpp);
            add_places(e, candidate);
            if (vpp == 1) add_split_schedules(e, candidate, replica / micro);
        }
    }
}

static void add_groups(Enumeration *e, int tp, int cp, int pp) {
    int dp = e->gpus / (tp * cp * pp);
    if (fmod(e->global_batch, dp) != 0) return;
    if (!fixed_or(e->request->training.layout.dp, dp, true)) return;
    PlanCandidate candidate = {.layout = e->request->training.layout};
    candidate.layout.tp = tp;
    candidate.layout.cp = cp;
    candidate.layout.pp = pp;
    candidate.layout.dp = dp;
    int most_ep = e->model->experts.count > 1 ? e->model->experts.count : 1;
    for (int ep = 1; ep <= most_ep; ep++) {
        if (!ep_possible(e, ep, dp * cp)) continue;
        candidate.layout.ep = ep;
        for (int zero = 0; zero <= 3; zero++) {
            candidate.layout.zero = zero;
            if (zero_possible(e, &candidate.layout, zero)) add_batches(e, candidate);
        }
    }
}

PlanSpace plan_space(Arena *arena, const PlanRequest *request, double global_batch, int gpus) {
    Enumeration e = {.arena = arena,
                     .request = request,
                     .model = request->training.model,
                     .global_batch = global_batch,
                     .gpus = gpus,
                     .divisors = divisors_of(arena, gpus)};
    const Numbers *divisors = &e.divisors;
    for (int t = 0; t < divisors->count; t++) {
        int tp = divisors->items[t];
        if (!tp_possible(&e, tp)) continue;
        for (int c = 0; c < divisors->count; c++) {
            int cp = divisors->items[c];
            if (gpus / tp % cp || !cp_possible(&e, cp)) continue;
            for (int p = 0; p < divisors->count; p++) {
                int pp = divisors->items[p];
                if (gpus / tp / cp % pp || pp > layers_to_spread(e.model)) continue;
                if (fixed_or(request->training.layout.pp, pp, starts(&e, "pp", pp) && divides(&e, pp, 1)))
                    add_groups(&e, tp, cp, pp);
            }
        }
    }
    return e.space;
}

TrainingSpec plan_training(const PlanRequest *request, const PlanCandidate *candidate, double global_batch) {
    TrainingSpec training = request->training;
    training.layout = candidate->layout;
    training.schedule = candidate->schedule;
    training.recompute = candidate->recompute;
    training.offload_optimizer = candidate->optimizer;
    training.micro_batch = candidate->micro_batch;
    training.global_batch = global_batch;
    job_settle_layout(&training, request->said);
    if (batch_law_given(&request->law)) {
        training.tokens = 0;
        training.epochs = 1;
        training.samples = batch_law_steps(&request->law, global_batch) * global_batch;
    }
    return training;
}

// ---- The best layout.

// ---- What is kept low, of one step: seconds, or joules. On one cluster with one batch the quickest layout is also the
// cheapest, and one that takes the least energy emits the least carbon.

static bool saves_energy(const PlanRequest *request) {
    return request->objective == PLAN_ENERGY || request->objective == PLAN_CARBON;
}

static double joules(const Cluster *cluster, const double spent[CAUSE_COUNT], double step_s) {
    ActivityMix mix = activity_of_step(spent);
    ClusterPower power = cluster_power(cluster, &mix);
    return power_at_wall(&power) * step_s;
}

static double objective_of_step(const PlanRequest *request, const Cluster *cluster, const SimulatedStep *step) {
    if (!saves_energy(request)) return step->step_p50_s;
    return joules(cluster, step->spent, step->step_p50_s);
}

// ---- Candidates: layouts that fit, and their bounds.

double plan_fit_asked(const PlanRequest *request) { return request->fit > 0 ? request->fit : PLAN_FIT; }

// With what chance, on the type of GPU on which it is least.
static double chance_to_fit(const TrainingSpec *training, int gpus, const GpuTypes *types) {
    double least = 1;
    for (int i = 0; i < types->count; i++) {
        Memory memory = memory_of_job(training, gpus, types->items[i], NULL);
        least = fmin(least, 1 - chance_to_run_out(&memory));
    }
    return least;
}

static int by_bound(const void *a, const void *b) {
    const PlanCandidate *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    return x->number - y->number;
}

// Candidates that differ by recomputation only are consecutive, least first.
void plan_judge_candidates(const PlanRequest *request, const Cluster *cluster, double batch, PlanSpace *space,
                           PlanCount *count) {
    Arena *arena = arena_open();
    PlanCosts *costs = plan_costs_create(arena, cluster, request->training.model);
    GpuTypes types = cluster_gpus_in_turn(arena, cluster);
    Recompute last = RECOMPUTE_NONE;
    bool fitted = false;
    for (int i = 0; i < space->count; i++) {
        PlanCandidate *candidate = &space->items[i];
        TrainingSpec training = plan_training(request, candidate, batch);
        if (i == 0 || candidate->recompute <= last) fitted = false;
        last = candidate->recompute;
        double chance = chance_to_fit(&training, cluster->gpu_count, &types);
        count->best_fit = fmax(count->best_fit, chance);
        candidate->fits = chance >= plan_fit_asked(request);
        candidate->plain = candidate->fits && (!fitted || training.layout.pp > 1);
        fitted = fitted || candidate->fits;
        count->candidates++;
        count->too_large += !candidate->fits;
        count->dominated += candidate->fits && !candidate->plain;
        candidate->bound = INFINITY;
        if (!(request->exhaustive ? candidate->fits : candidate->plain)) continue; // is not simulated
        PlanBound bound = plan_bound(costs, &training);
        candidate->bound = bound.step_s;
        if (saves_energy(request) && isfinite(bound.step_s))
            candidate->bound = joules(cluster, bound.spent, bound.step_s);
    }
    if (space->count) qsort(space->items, (size_t)space->count, sizeof *space->items, by_bound);
    arena_close(arena);
}

// ---- The search.

static void try_candidate(const PlanRequest *request, const Cluster *cluster, StepBook *book,
                          const PlanCandidate *candidate, double batch, PlanFound *found) {
    Arena *scratch = arena_open();
    TrainingSpec training = plan_training(request, candidate, batch);
    SimulationOptions options = {.runs = 1, .book = book};
    if (!request->exhaustive && found->ran && !saves_energy(request)) options.give_up_s = found->value;
    SimulatedStep step = simulate_step(scratch, cluster, &training, &options, problems_create(scratch));
    found->count.refused += step.refused;
    if (step.ran) {
        double value = objective_of_step(request, cluster, &step);
        found->count.simulated++;
        found->count.events += step.event_count;
        if (!found->ran || value < found->value || (value == found->value && candidate->number < found->number)) {
            found->ran = true;
            found->value = value;
            found->number = candidate->number;
        }
    }
    arena_close(scratch);
}

PlanFound plan_search_row(const PlanRequest *request, const PlanRow *row, int slice, int slices) {
    PlanFound found = {.ran = false};
    Arena *arena = arena_open();
    PlanRequest paid = plan_for_row(request, row);
    if (request->rent_count > 1) paid.rent = NULL; // the layout does not depend on the provider
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems_create(arena));
    if (cluster && gpu_supports(cluster->gpu_of[0], row->training.precision)) {
        double batch = row->training.global_batch;
        PlanSpace space = plan_space(arena, &paid, batch, row->gpus);
        StepBook *book = step_book_create(arena, cluster);
        PlanCount count = {0};
        plan_judge_candidates(&paid, cluster, batch, &space, &count);
        if (slice == 0) found.count = count;
        for (int i = slice; i < space.count; i += slices) {
            const PlanCandidate *candidate = &space.items[i];
            if (!request->exhaustive && found.ran && candidate->bound >= found.value) break;
            if (candidate->plain || (candidate->fits && request->exhaustive))
                try_candidate(&paid, cluster, book, candidate, batch, &found);
        }
    }
    arena_close(arena);
    return found;
}

void plan_live_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    job_live(arena, request->catalogue, cluster, &row->training, PLAN_SEED, &row->point, problems_create(arena));
    plan_pay_spares(cluster, row);
    plan_pay_storage(request, cluster, row);
}

RecordPoint plan_undisturbed(const PlanRow *row) {
    const RecordPoint *point = &row->point;
    RecordPoint before = *point;
    if (!(point->days_undisturbed > 0)) return before;
    before.cost_per_run -= row->spares_cost + row->storage_cost;
    job_bill_days(&before, point->days_undisturbed);
    before.energy_kwh *= before.days / point->days;
    before.carbon_kg *= before.days / point->days;
    return before;
}

void plan_simulate_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    StudySpec study = {.catalogue = request->catalogue, .cluster = cluster->spec};
    row->point = simulate_training(arena, cluster, &row->training, &study, problems_create(arena));
    plan_live_row(arena, request, cluster, row);
}

RecordPoint plan_step_as_packets(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    Problems *problems = problems_create(arena);
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems);
    if (!cluster) return (RecordPoint){.why_not = problem_at(problems, 0)->text};
    StudySpec study = {.catalogue = paid.catalogue, .cluster = cluster->spec};
    TrainingSpec training = row->training;
    training.as_packets = training.by_messages = true;
    return simulate_training(arena, cluster, &training, &study, problems);
}
