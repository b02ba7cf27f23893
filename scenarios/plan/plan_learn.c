
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/step/step_constants.h"
#include "scenarios/plan/plan_chance.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"

#define ROUNDING 1e-9 // of a mean over all worlds, summed in another order
#define TRIFLE 1e-3   // of the loss expected: a measurement that saves less changes no choice worth the name
#define SEED 2
#define BINS 32
#define RIVALS_MOST 16 // candidates of a choice: those of least expected cost

// ---- The penalty of a miss.

// Expected cost + penalty x (1 - both) is a line in the penalty for each plan; the least of them over all plans is
// followed from 0 up until the plan on it keeps both as surely as is wished.
double plan_implied_miss_cost(const double *cost, const double *both, int count, double confidence) {
    int at = -1;
    double penalty = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(cost[i]) && (at < 0 || cost[i] < cost[at] || (cost[i] == cost[at] && both[i] > both[at]))) at = i;
    while (at >= 0 && both[at] < confidence) {
        int next = -1;
        double crossing = INFINITY;
        for (int i = 0; i < count; i++) {
            if (isnan(cost[i]) || both[i] <= both[at]) continue;
            double meets = (cost[i] - cost[at]) / (both[i] - both[at]);
            if (meets < crossing || (meets == crossing && both[i] > both[next])) crossing = meets, next = i;
        }
        if (next < 0) return INFINITY;
        penalty = fmax(penalty, crossing);
        at = next;
    }
    return at < 0 ? INFINITY : penalty;
}

// ---- The worth of knowing.

static double mean_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum / count;
}

// Losses of the plan with the least expected loss: the choice without further knowledge.
static const double *least_plan(const PlanLosses *losses) {
    const double *best = losses->values;
    for (int p = 1; p < losses->plan_count; p++) {
        const double *other = &losses->values[(int64_t)p * losses->count];
        if (mean_of(other, losses->count) < mean_of(best, losses->count)) best = other;
    }
    return best;
}

double plan_worth_of_all(const PlanLosses *losses) {
    double sum = 0;
    for (int d = 0; d < losses->count; d++) {
        double least = INFINITY;
        for (int p = 0; p < losses->plan_count; p++)
            least = fmin(least, losses->values[(int64_t)p * losses->count + d]);
        sum += least;
    }
    double now = mean_of(least_plan(losses), losses->count), saved = now - sum / losses->count;
    return saved > ROUNDING * now ? saved : 0;
}

typedef struct Ordered {
    double signal;
    int world;
} Ordered;

static int by_signal(const void *a, const void *b) {
    const Ordered *x = a, *y = b;
    if (x->signal != y->signal) return x->signal < y->signal ? -1 : 1;
    return x->world - y->world;
}

// Worlds in the order of the signal: bin b has those from count b / BINS on.
static const Ordered *in_order(Arena *arena, const double *signal, int count) {
    Ordered *order = ARENA_ARRAY(arena, Ordered, count);
    for (int i = 0; i < count; i++) order[i] = (Ordered){signal[i], i};
    qsort(order, (size_t)count, sizeof *order, by_signal);
    return order;
}

// Mean over worlds first, first + 2, … of a bin.
static double half_mean(const double *values, const Ordered *bin, int count, int first) {
    double sum = 0;
    int n = 0;
    for (int i = first; i < count; i += 2, n++) sum += values[bin[i].world];
    return n ? sum / n : 0;
}

static int best_of_half(const PlanLosses *losses, const Ordered *bin, int count, int first) {
    int best = 0;
    double least = INFINITY;
    for (int p = 0; p < losses->plan_count; p++) {
        double mean = half_mean(&losses->values[(int64_t)p * losses->count], bin, count, first);
        if (mean < least) least = mean, best = p;
    }
    return best;
}

// Mean saving over the worlds; 0 unless it exceeds its standard error by two sigma.
static double beyond_noise(const double *saved, int count, double now) {
    double mean = mean_of(saved, count), squares = 0;
    for (int i = 0; i < count; i++) squares += (saved[i] - mean) * (saved[i] - mean);
    double error = sqrt(squares / count / count);
    return mean > TRIFLE * now && mean > 2 * error ? mean : 0;
}

double plan_worth_of(Arena *arena, const PlanLosses *losses, const double *signal) {
    const Ordered *order = in_order(arena, signal, losses->count);
    const double *today = least_plan(losses);
    double *saved = ARENA_ARRAY(arena, double, losses->count);
    for (int b = 0; b < BINS; b++) {
        int begin = (int)((int64_t)losses->count * b / BINS), end = (int)((int64_t)losses->count * (b + 1) / BINS);
        for (int half = 0; half < 2; half++) {
            int best = best_of_half(losses, &order[begin], end - begin, half);
            const double *charged = &losses->values[(int64_t)best * losses->count];
            for (int i = begin + 1 - half; i < end; i += 2) {
                int world = order[i].world;
                saved[world] = today[world] - charged[world];
            }
        }
    }
    return beyond_noise(saved, losses->count, mean_of(today, losses->count));
}

// ---- Swings.

#define Z95 1.6448536269514722

static double factor_at(PlanFactor factor, double p) { return factor == FACTOR_START ? p : normal_quantile(p); }

static double swing_of(const PlanSwing *swing, bool by_cost) {
    return by_cost ? fabs(swing->high.cost - swing->low.cost) : fabs(swing->high.days - swing->low.days);
}

static void find_swings(const PlanRequest *request, const PlanRow *row, PlanUnknowns *unknowns) {
    PlanSpread spread = plan_spread_of(request, row);
    bool by_cost = !isnan(row->point.cost_per_run);
    double days = 0, cost = 0;
    for (int f = 0; f < FACTOR_COUNT; f++) {
        double factors[FACTOR_COUNT];
        PlanSwing swing = {.factor = (PlanFactor)f};
        plan_factors_as_planned(factors);
        factors[f] = factor_at((PlanFactor)f, 0.05);
        swing.low = plan_outcome(&spread, &row->point, factors);
        factors[f] = factor_at((PlanFactor)f, 0.95);
        swing.high = plan_outcome(&spread, &row->point, factors);
        if (swing_of(&swing, false) < 1e-9 * row->point.days && !(swing_of(&swing, true) > 0)) continue;
        swing.days_share = pow(log(swing.high.days / swing.low.days), 2);
        swing.cost_share = by_cost ? pow(log(swing.high.cost / swing.low.cost), 2) : 0;
        days += swing.days_share;
        cost += swing.cost_share;
        int k = unknowns->swing_count++;
        for (; k > 0 && swing_of(&unknowns->swings[k - 1], by_cost) < swing_of(&swing, by_cost); k--)
            unknowns->swings[k] = unknowns->swings[k - 1];
        unknowns->swings[k] = swing;
    }
    for (int i = 0; i < unknowns->swing_count; i++) {
        if (days > 0) unknowns->swings[i].days_share /= days;
        if (cost > 0) unknowns->swings[i].cost_share /= cost;
    }
}

// ---- The plans between which one chooses.

typedef struct Rivals {
    Arena *arena;
    const PlanRequest *request;
    const PlanResult *result;
    PlanDraws *draws;
    int rows[RIVALS_MOST], count; // by expected loss; the first is today's choice
    int front;                    // the plan in front, among the rows
    const PlanOutcome *of_front;
    PlanLosses losses;
    double *kept; // [rival x world] 1 where date and budget are kept
    double miss_cost;
} Rivals;

static double expected_loss(const PlanRow *row, double miss_cost) {
    double missed = miss_cost > 0 ? miss_cost * (1 - row->chance.both) : 0;
    return row->point.cost_per_run + missed;
}

static bool is_rival(const PlanRow *row) {
    return row->point.ran && row->chance.known && !isnan(row->point.cost_per_run);
}

// Default cost of a miss: the run's cost once more, and at least the amount implied by the confidence.
static double miss_cost_of(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    if (!(request->deadline_s > 0) && !(request->budget > 0)) return 0;
    if (request->miss_cost > 0) return request->miss_cost;
    double *cost = ARENA_ARRAY(arena, double, result->row_count), *both = ARENA_ARRAY(arena, double, result->row_count);
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        cost[i] = is_rival(row) ? row->point.cost_per_run : NAN;
        both[i] = row->chance.both;
    }
    double implied = plan_implied_miss_cost(cost, both, result->row_count, request->confidence);
    double again = is_rival(&result->rows[0]) ? result->rows[0].point.cost_per_run : 0;
    return isfinite(implied) ? fmax(implied, again) : again;
}

static void pick_rivals(Rivals *rivals) {
    const PlanRow *rows = rivals->result->rows;
    for (int i = 0; i < rivals->result->row_count; i++) {
        if (!is_rival(&rows[i])) continue;
        double loss = expected_loss(&rows[i], rivals->miss_cost);
        int k = rivals->count; // its place
        while (k > 0 && expected_loss(&rows[rivals->rows[k - 1]], rivals->miss_cost) > loss) k--;
        if (k == RIVALS_MOST) continue;
        if (rivals->count < RIVALS_MOST) rivals->count++;
        for (int n = rivals->count - 1; n > k; n--) rivals->rows[n] = rivals->rows[n - 1];
        rivals->rows[k] = i;
    }
}

static void draw_losses(Rivals *rivals) {
    int worlds = plan_draws_count(rivals->draws);
    double *values = ARENA_ARRAY(rivals->arena, double, (int64_t)worlds * rivals->count);
    rivals->kept = ARENA_ARRAY(rivals->arena, double, (int64_t)worlds * rivals->count);
    for (int r = 0; r < rivals->count; r++) {
        Arena *scratch = arena_open();
        const PlanOutcome *outcomes = plan_outcomes_of(scratch, rivals->draws, &rivals->result->rows[rivals->rows[r]]);
        for (int d = 0; d < worlds; d++) {
            bool kept =
                plan_keeps_date(rivals->request, &outcomes[d]) && plan_keeps_budget(rivals->request, &outcomes[d]);
            int64_t at = (int64_t)r * worlds + d;
            rivals->kept[at] = kept;
            values[at] = outcomes[d].cost + (kept ? 0 : rivals->miss_cost);
        }
        arena_close(scratch);
    }
    rivals->losses = (PlanLosses){values, rivals->count, worlds};
}

// ---- What can be measured: a sum of factors as a machine or a seller shows them, and with what error.

typedef struct Signal {
    const PlanRow *row; // on whose machines
    bool factors[FACTOR_COUNT];
    double error; // 1 sigma, of the log of a step
} Signal;

static const double *signal_of(const Rivals *rivals, const Signal *signal) {
    int worlds = plan_draws_count(rivals->draws);
    PlanSpread spread = plan_spread_of(rivals->request, signal->row);
    const double sigma[FACTOR_COUNT] = {spread.step[0], spread.step[1], spread.step[2],
                                        spread.step[3], spread.step[4], spread.fleet,
                                        spread.luck,    spread.price,   1};
    double *values = ARENA_ARRAY(rivals->arena, double, worlds);
    RandomStream noise = random_stream(SEED, "error of a measurement", (uint64_t)signal->row->number);
    for (int d = 0; d < worlds && signal->error > 0; d++) values[d] = signal->error * random_normal(&noise);
    for (int f = 0; f < FACTOR_COUNT; f++) {
        if (!signal->factors[f]) continue;
        const double *draws = plan_draws_of(rivals->arena, rivals->draws, signal->row, (PlanFactor)f);
        for (int d = 0; d < worlds; d++) values[d] += sigma[f] * draws[d];
    }
    return values;
}

static double width_of(Arena *arena, const PlanOutcome *outcomes, const Ordered *bin, int count, bool of_cost) {
    double *values = ARENA_ARRAY(arena, double, count);
    if (of_cost && isnan(outcomes[0].cost)) return NAN; // unknown price
    for (int i = 0; i < count; i++) {
        const PlanOutcome *outcome = &outcomes[bin ? bin[i].world : i];
        values[i] = of_cost ? outcome->cost : outcome->days;
    }
    Summary summary = summarise(arena, values, count);
    return summary.p95 - summary.p5;
}

static double width_within_bins(const Rivals *rivals, const Ordered *order, bool of_cost) {
    int worlds = plan_draws_count(rivals->draws);
    double sum = 0;
    for (int b = 0; b < BINS; b++) {
        Arena *scratch = arena_open();
        int begin = (int)((int64_t)worlds * b / BINS), end = (int)((int64_t)worlds * (b + 1) / BINS);
        sum += width_of(scratch, rivals->of_front, &order[begin], end - begin, of_cost) * (end - begin);
        arena_close(scratch);
    }
    return sum / worlds;
}

// Share of worlds with date and budget kept by the plan that each half of a bin chooses for the other half.
static double both_within_bins(const Rivals *rivals, const Ordered *order) {
    int worlds = plan_draws_count(rivals->draws);
    double sum = 0;
    for (int b = 0; b < BINS; b++) {
        int begin = (int)((int64_t)worlds * b / BINS), end = (int)((int64_t)worlds * (b + 1) / BINS);
        for (int half = 0; half < 2; half++) {
            int best = best_of_half(&rivals->losses, &order[begin], end - begin, half);
            sum += half_mean(&rivals->kept[(int64_t)best * worlds], &order[begin], end - begin, 1 - half) *
                   (end - begin) / 2;
        }
    }
    return sum / worlds;
}

static void add_measurement(Rivals *rivals, PlanUnknowns *unknowns, const char *what, const char *how, double price,
                            const Signal *signal) {
    if (unknowns->measurement_count == PLAN_MEASUREMENTS_MOST) return;
    const double *values = signal_of(rivals, signal);
    const Ordered *order = in_order(rivals->arena, values, plan_draws_count(rivals->draws));
    PlanMeasurement measurement = {.what = what, .how = how, .price = price};
    bool to_choose = rivals->request->objective == PLAN_COST && rivals->count > 1;
    if (to_choose) measurement.worth = plan_worth_of(rivals->arena, &rivals->losses, values);
    // What changes no choice leaves the plan in front, and its chance.
    measurement.both =
        measurement.worth > 0 ? both_within_bins(rivals, order) : rivals->result->rows[unknowns->row].chance.both;
    measurement.cost_width = width_within_bins(rivals, order, true);
    measurement.days_width = width_within_bins(rivals, order, false);
    int k = unknowns->measurement_count++;
    for (; k > 0 && unknowns->measurements[k - 1].worth < measurement.worth; k--)
        unknowns->measurements[k] = unknowns->measurements[k - 1];
    unknowns->measurements[k] = measurement;
}

// ---- The measurements.

#define TRIAL_NODES 2
#define TRIAL_HOURS 2.0

static bool seen_before(const Rivals *rivals, int r, bool same_price) {
    const PlanRow *row = &rivals->result->rows[rivals->rows[r]];
    for (int i = 0; i < r; i++) {
        const PlanRow *other = &rivals->result->rows[rivals->rows[i]];
        if (other->node == row->node && (!same_price || (other->owned == row->owned && other->way == row->way)))
            return true;
    }
    return false;
}

// ---- A trial: whole replicas of the plan's layout, on as few machines as they fit in.

static TrainingSpec trial_of(const PlanRow *row, int nodes) {
    TrainingSpec training = row->training;
    Layout *layout = &training.layout;
    int replica = row->gpus / (row->point.dp > 1 ? row->point.dp : 1), dp = nodes * row->node->gpu_count / replica;
    training.global_batch *= (double)dp / (row->point.dp > 1 ? row->point.dp : 1);
    layout->dp = dp;
    if (layout->shard > dp) layout->shard = 0;
    return training;
}

static bool trial_runs(const Rivals *rivals, const PlanRow *row, int nodes) {
    TrainingSpec trial = trial_of(row, nodes);
    const Gpu *gpu = catalogue_gpu(rivals->request->catalogue, row->node->gpu_names[0]);
    int gpus = nodes * row->node->gpu_count, dp = trial.layout.dp, ep = row->point.ep > 1 ? row->point.ep : 1;
    if (dp < 1 || gpus * row->point.dp != row->gpus * dp || gpus % (ep * row->point.pp) != 0) return false;
    Memory memory = memory_of_job(&trial, gpus, gpu, NULL);
    return 1 - chance_to_run_out(&memory) >= PLAN_FIT;
}

static int trial_nodes(const Rivals *rivals, const PlanRow *row) {
    int nodes = TRIAL_NODES;
    while (nodes < row->point.node_count && !trial_runs(rivals, row, nodes)) nodes *= 2;
    return nodes < row->point.node_count ? nodes : row->point.node_count;
}

static double trial_price(const PlanRow *row, int nodes) {
    return row->point.cost_per_hour * nodes / row->point.node_count * TRIAL_HOURS;
}

// What is not said would be as the question has it, not as the plan: the whole layout is said.
static const char *trial_words(Arena *arena, const PlanRow *row, int nodes) {
    const RecordPoint *point = &row->point;
    const struct {
        const char *name;
        int value, usual;
    } parts[] = {{"tp", point->tp, 1}, {"pp", point->pp, 1}, {"vpp", point->vpp, 1},
                 {"cp", point->cp, 1}, {"ep", point->ep, 1}, {"zero", point->zero, 0}};
    const char *text = arena_printf(arena, "--measured %d", nodes * row->node->gpu_count);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value > parts[i].usual)
            text = arena_printf(arena, "%s,%s=%d", text, parts[i].name, parts[i].value);
    if (row->training.recompute != RECOMPUTE_NONE)
        text = arena_printf(arena, "%s,recompute=%s", text, recompute_name(row->training.recompute));
    if (point->pp <= 1 || point->micro_batch > 1) // 1 is a pipeline's usual
        text = arena_printf(arena, "%s,micro_batch=%g", text, point->micro_batch);
    return arena_printf(arena, "%s,global_batch=%.0f=TIME", text, trial_of(row, nodes).global_batch);
}

// The user's own steps on few machines: they measure the software and the GPU's kernels. Another layout differs.
static void add_trials(Arena *arena, Rivals *rivals, PlanUnknowns *unknowns) {
    for (int r = 0; r < rivals->count; r++) {
        const PlanRow *row = &rivals->result->rows[rivals->rows[r]];
        if (seen_before(rivals, r, false)) continue;
        Signal signal = {.row = row, .error = step_constant(OTHER_LAYOUT_SIGMA)};
        signal.factors[FACTOR_UNSAID] = signal.factors[FACTOR_SOFTWARE] = signal.factors[FACTOR_KERNELS] = true;
        int nodes = trial_nodes(rivals, row);
        const char *what = arena_printf(arena, "two hours of this job on %d x %s", nodes, row->node->name);
        add_measurement(rivals, unknowns, what, trial_words(arena, row, nodes), trial_price(row, nodes), &signal);
    }
}

static void add_quotes(Arena *arena, Rivals *rivals, PlanUnknowns *unknowns) {
    for (int r = 0; r < rivals->count; r++) {
        const PlanRow *row = &rivals->result->rows[rivals->rows[r]];
        if (!(row->price_sigma > 0) || seen_before(rivals, r, true)) continue;
        Signal signal = {.row = row};
        signal.factors[FACTOR_PRICE] = true;
        const char *way = plan_paid_text(arena, rivals->request, row);
        const char *what = arena_printf(arena, "a quote for %s%s%s", row->node->name, *way ? ", " : "", way);
        add_measurement(rivals, unknowns, what, "--price", 0, &signal);
    }
}

static void add_others(Arena *arena, Rivals *rivals, PlanUnknowns *unknowns) {
    const PlanRow *front = &rivals->result->rows[rivals->front];
    PlanSpread spread = plan_spread_of(rivals->request, front);
    if (spread.step[FACTOR_UNSAID] > 0) {
        Signal signal = {.row = front};
        signal.factors[FACTOR_UNSAID] = true;
        bool unread = rivals->request->training.unread_options > 0 && !rivals->request->training.software_assumed;
        add_measurement(rivals, unknowns,
                        unread ? "what the options do that are not understood" : "which software runs it",
                        unread ? "--unread-options 0" : "--software", 0, &signal);
    }
    if (spread.fleet > 0 && spread.lost > 0) {
        Signal signal = {.row = front};
        signal.factors[FACTOR_FLEET] = true;
        add_measurement(rivals, unknowns, "a log of failures of these machines", "--node-mtbf", 0, &signal);
    }
    if (spread.late_s > 0) {
        Signal signal = {.row = front};
        signal.factors[FACTOR_START] = true;
        add_measurement(rivals, unknowns, "the day of delivery", "--start", 0, &signal);
    }
    if (front->fabric && front->point.node_count > 1) {
        Signal signal = {.row = front};
        signal.factors[FACTOR_TRAFFIC] = true;
        const char *what =
            arena_printf(arena, "collectives on %d x %s %s", TRIAL_NODES, front->node->name, front->fabric->name);
        add_measurement(rivals, unknowns, what, "lockstep calibrate, --profile FILE", trial_price(front, TRIAL_NODES),
                        &signal);
    }
}

// ---- All of it.

PlanUnknowns plan_unknowns(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanUnknowns unknowns = {.row = 0, .measurements = ARENA_ARRAY(arena, PlanMeasurement, PLAN_MEASUREMENTS_MOST)};
    if (result->row_count == 0 || !result->rows[0].chance.known) return unknowns;
    find_swings(request, &result->rows[0], &unknowns);
    Arena *scratch = arena_open();
    Rivals rivals = {.arena = scratch,
                     .request = request,
                     .result = result,
                     .draws = plan_draws_create(scratch, request, PLAN_DRAWS),
                     .miss_cost = miss_cost_of(scratch, request, result)};
    rivals.of_front = plan_outcomes_of(scratch, rivals.draws, &result->rows[0]);
    pick_rivals(&rivals);
    draw_losses(&rivals);
    unknowns.miss_cost = rivals.miss_cost;
    unknowns.cost_width = width_of(scratch, rivals.of_front, NULL, PLAN_DRAWS, true);
    unknowns.days_width = width_of(scratch, rivals.of_front, NULL, PLAN_DRAWS, false);
    if (rivals.count > 1 && request->objective == PLAN_COST) unknowns.all = plan_worth_of_all(&rivals.losses);
    add_trials(arena, &rivals, &unknowns);
    add_quotes(arena, &rivals, &unknowns);
    add_others(arena, &rivals, &unknowns);
    arena_close(scratch);
    return unknowns;
}
