// Estimated cost of simulating a life: its number of events from the rates, and detection of jobs that fail so often
// that they make no progress.
#include <math.h>

#include "models/workload/life/life.h"
#include "models/workload/life/life_internal.h"
#include "sim/base/quantity.h"

// ---- Events.

// Expected failures of one component over `seconds` of calendar time (Crow, 1974, where they grow with age).
static double faults_in(const LifeSpec *spec, double node_rate, double seconds) {
    double k = spec->shape;
    if (k == 1 || !(node_rate > 0)) return spec->nodes * node_rate * seconds;
    double scale = 1 / (node_rate * tgamma(1 + 1 / k));
    return spec->nodes * (pow((spec->age_s + seconds) / scale, k) - pow(spec->age_s / scale, k));
}

static double down_time(const LifeSpec *spec) {
    return spec->crash_detection_s + spec->restart_s + spec->checkpoint.reload_s;
}

// Until the work is done, or given up (Daly, 2006).
static double calendar(const LifeSpec *spec, double rate) {
    const CheckpointPlan *plan = &spec->checkpoint;
    double most = life_patience(spec) * spec->work_s, every = plan->every_s > 0 ? plan->every_s : spec->work_s;
    if (spec->horizon_s > 0) return spec->horizon_s;
    if (!(rate > 0)) return spec->work_s * (1 + plan->stall_s / every);
    double wall = daly_wall_time(spec->work_s, every, plan->stall_s, down_time(spec), 1 / rate);
    return wall < most ? wall : most; // also where it is not a number
}

// Events of a failure: itself, its detection, the restart, and the return from repair.
double life_events(const LifeSpec *spec) {
    double rate = life_unplanned_rate(spec), seconds = calendar(spec, rate), events = 0, faults = 0, repaired = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        double count = faults_in(spec, spec->faults[i].node_rate, seconds);
        faults += count;
        if (spec->faults[i].needs_repair) repaired += count;
    }
    int racks = spec->rack_nodes > 0 ? (spec->nodes + spec->rack_nodes - 1) / spec->rack_nodes : 0;
    int batch = spec->spot_batch > 0 ? spec->spot_batch : 1;
    double rack = spec->rack_rate * racks * seconds, spot = spec->spot_rate * spec->nodes / batch * seconds;
    double stops = fmin(faults + rack + spot, seconds / (spec->crash_detection_s + 1 / rate));
    double survived = exp(-rate * (spec->restart_s + spec->checkpoint.reload_s));
    double up = seconds / (1 + rate * down_time(spec)), every = spec->checkpoint.every_s;
    events += faults + fmin(repaired, stops) + stops * (1 + survived);
    events += rack * (1 + fmin(spec->rack_nodes, spec->nodes)) + spot * (2 + batch);
    events += (3 * spec->slow_rate * spec->nodes + 2 * spec->flap_rate + 2 * spec->planned_rate) * seconds;
    if (every > 0) events += 2 * up / (every + spec->checkpoint.stall_s);
    return events;
}

// ---- Jobs that get nowhere.

#define CERTAIN 1e-6      // expected exceptions, over all lives
#define WORTH_KNOWING 5e7 // events, some seconds: shorter lives are simulated, and show where their time goes
#define NOTHING 1e-3      // of the calendar or the work: progress possible in the first span

// Failures per second that stop the job even when its fleet is far better than most and only good nodes are left.
static double least_rate(const LifeSpec *spec) {
    double rate = 0, nodes = spec->least_replicas > 0 ? spec->least_replicas * spec->nodes_per_replica : spec->nodes;
    double good = 1 / (1 + spec->bad_share * (spec->bad_factor - 1));
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        double sigma = sqrt(spec->fleet_spread * spec->fleet_spread + spec->faults[i].sigma * spec->faults[i].sigma);
        if (!spec->faults[i].is_silent) rate += spec->faults[i].node_rate * nodes * good * exp(-6 * sigma);
    }
    return rate;
}

const char *life_goes_nowhere(Arena *arena, const LifeSpec *spec, int runs) {
    double rate = least_rate(spec), length = spec->horizon_s + spec->work_s, most = life_patience(spec) * length;
    const CheckpointPlan *plan = &spec->checkpoint;
    bool to_memory = plan->mode == CHECKPOINT_MEMORY;
    double again =
        spec->restart_s * exp(-6 * spec->restart_sigma) + (to_memory ? plan->memory_reload_s : plan->reload_s);
    double kept = plan->every_s > 0 ? fmin(plan->every_s + plan->stall_s, length) : length;
    if (spec->shape != 1 || !(rate > 0) || life_events(spec) * runs < WORTH_KNOWING) return NULL;
    // After each failure one more try to start again and to train until the next checkpoint.
    double kept_later = runs * rate * most * exp(-rate * (again + kept));
    double kept_at_first = runs * exp(-rate * NOTHING * length);
    if (kept_later > CERTAIN || kept_at_first > CERTAIN) return NULL;
    char mtbf[32], start[32];
    quantity_format(1 / life_unplanned_rate(spec), QUANTITY_TIME, mtbf, sizeof mtbf);
    quantity_format(spec->restart_s + (to_memory ? plan->memory_reload_s : plan->reload_s), QUANTITY_TIME, start,
                    sizeof start);
    return arena_printf(arena, "the job fails every %s and takes %s to start again: it never gets anything done", mtbf,
                        start);
}
