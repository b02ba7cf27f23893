// Random draws of a life, and the machines that they hit.
#include <math.h>

#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"

// ---- Random draws of a life: times of failures, bad nodes, deviation of the rates from the published ones.

SimTime life_ticks(double seconds) {
    SimTime ticks;
    return ticks_from_seconds(seconds, TICKS_PER_SECOND_LIFE, &ticks) ? ticks : SIM_TIME_NEVER;
}

bool arrivals_next(Arrivals *arrivals, SimTime *at) {
    if (!(arrivals->rate > 0)) return false;
    double wait = random_exponential(&arrivals->stream, 1);
    if (arrivals->shape == 1) {
        arrivals->last_s += wait / arrivals->rate;
    } else {
        // Expected failures until age t are n (t/scale)^shape; the next comes when they have grown by `wait`.
        double k = arrivals->shape, n = arrivals->rate * arrivals->scale_s * tgamma(1 + 1 / k);
        double grown = pow((arrivals->age_s + arrivals->last_s) / arrivals->scale_s, k) + wait / n;
        arrivals->last_s = arrivals->scale_s * pow(grown, 1 / k) - arrivals->age_s;
    }
    *at = life_ticks(arrivals->last_s);
    return *at < SIM_TIME_NEVER;
}

static const LifeEvent event_of_arrivals[ARRIVALS_COUNT] = {
    [ARRIVALS_RACK] = EVENT_RACK,       [ARRIVALS_SLOW] = EVENT_SLOW,        [ARRIVALS_FLAP] = EVENT_FLAP,
    [ARRIVALS_PLANNED] = EVENT_PLANNED, [ARRIVALS_SPOT] = EVENT_SPOT_NOTICE,
};

// What comes after the calendar's end need not wait in the queue.
void life_schedule_arrivals(Life *life, int which) {
    SimTime at;
    if (!arrivals_next(&life->arrivals[which], &at) || at >= life->horizon) return;
    bool is_fault = which < FAULT_COMPONENT_COUNT;
    event_schedule(life->queue, at, is_fault ? EVENT_FAULT : event_of_arrivals[which], is_fault ? which : 0);
}

void life_schedule_bad(Life *life, int node) {
    SimTime at;
    if (arrivals_next(&life->bad[node], &at) && at < life->horizon)
        event_schedule(life->queue, at, EVENT_BAD_NODE, node);
}

// With mean 1, so that the published rates stay the mean.
static double uncertain(RandomStream *stream, double sigma) {
    double z = random_normal(stream);
    return exp(sigma * z - sigma * sigma / 2);
}

static void start_arrivals(Life *life, int which, const char *purpose, double rate, double node_rate, double shape) {
    Arrivals *arrivals = &life->arrivals[which];
    *arrivals = (Arrivals){.stream = random_stream(life->seed, purpose, (uint64_t)which), .rate = rate, .shape = shape};
    arrivals->age_s = life->spec->age_s;
    if (shape != 1 && node_rate > 0) arrivals->scale_s = 1 / (node_rate * tgamma(1 + 1 / shape));
}

static void draw_rates(Life *life) {
    const LifeSpec *spec = life->spec;
    RandomStream stream = random_stream(life->seed, "rates", 0);
    double fleet = uncertain(&stream, spec->fleet_spread);
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        life->rate_factor[i] = fleet * uncertain(&stream, spec->faults[i].sigma);
    life->restart_factor = uncertain(&stream, spec->restart_sigma);
    life->repair_factor = uncertain(&stream, spec->repair_sigma);
}

// Rates are those of the fleet, so good nodes fail less often than its mean.
static double good_share(const LifeSpec *spec) { return 1 / (1 + spec->bad_share * (spec->bad_factor - 1)); }

static void start_faults(Life *life) {
    const LifeSpec *spec = life->spec;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        double rate = spec->faults[i].node_rate * life->rate_factor[i];
        if (spec->faults[i].needs_repair) {
            rate *= good_share(spec);
            life->hardware_rate += rate;
        }
        start_arrivals(life, i, "faults", rate * spec->nodes, rate, spec->shape);
    }
}

static void start_bad_nodes(Life *life) {
    const LifeSpec *spec = life->spec;
    RandomStream stream = random_stream(life->seed, "bad nodes", 0);
    if (!(spec->bad_share > 0)) return;
    for (int i = 0; i < life->node_count; i++) {
        life->nodes[i].is_bad = random_uniform(&stream) < spec->bad_share;
        if (!life->nodes[i].is_bad) continue;
        life->bad[i] = (Arrivals){.stream = random_stream(life->seed, "bad node", (uint64_t)i),
                                  .rate = life->hardware_rate * (spec->bad_factor - 1),
                                  .shape = 1};
        life_schedule_bad(life, i);
    }
}

void life_draw_world(Life *life) {
    const LifeSpec *spec = life->spec;
    life->place = random_stream(life->seed, "place", 0);
    life->detail = random_stream(life->seed, "detail", 0);
    life->mend = random_stream(life->seed, "repair", 0);
    draw_rates(life);
    start_faults(life);
    int racks = spec->rack_nodes > 0 ? (spec->nodes + spec->rack_nodes - 1) / spec->rack_nodes : 0;
    int batch = spec->spot_batch > 0 ? spec->spot_batch : 1;
    start_arrivals(life, ARRIVALS_RACK, "rack", racks * spec->rack_rate, 0, 1);
    start_arrivals(life, ARRIVALS_SLOW, "slow", spec->nodes * spec->slow_rate, 0, 1);
    start_arrivals(life, ARRIVALS_FLAP, "flap", spec->flap_rate, 0, 1);
    start_arrivals(life, ARRIVALS_PLANNED, "planned", spec->planned_rate, 0, 1);
    start_arrivals(life, ARRIVALS_SPOT, "spot", spec->nodes * spec->spot_rate / batch, 0, 1);
    for (int i = 0; i < ARRIVALS_COUNT; i++) life_schedule_arrivals(life, i);
    start_bad_nodes(life);
}

int life_bad_component(Life *life) {
    double at = random_uniform(&life->detail) * life->hardware_rate, share = good_share(life->spec);
    int last = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        const LifeFault *fault = &life->spec->faults[i];
        if (!fault->needs_repair || !(fault->node_rate > 0)) continue;
        last = i;
        at -= fault->node_rate * life->rate_factor[i] * share;
        if (at < 0) break;
    }
    return last;
}

SimTime life_repair_time(Life *life, double mean_s) {
    return life_ticks(random_exponential(&life->mend, mean_s * life->repair_factor));
}

// ---- The machines of a life: nodes in the job's slots, spares, and nodes under repair.

void life_place_nodes(Life *life) {
    for (int i = 0; i < life->node_count; i++) {
        bool in_job = i < life->spec->nodes;
        life->nodes[i] = (Node){.slot = in_job ? i : IN_SPARES};
        if (in_job)
            life->node_of_slot[i] = i;
        else
            life->spares[life->spare_count++] = i;
    }
    life->active = life->spec->nodes;
}

int life_random_node(Life *life) { return life->node_of_slot[random_below(&life->place, (uint64_t)life->spec->nodes)]; }

static void forget_slow(Life *life, int node) {
    if (!life->nodes[node].is_slow) return;
    life->nodes[node].is_slow = false;
    life->slow_count--;
    for (int i = 0; i < life->seen_slow_count; i++)
        if (life->seen_slow[i] == node) life->seen_slow[i--] = life->seen_slow[--life->seen_slow_count];
}

void life_remove_node(Life *life, int node, SimTime wait) {
    Node *removed = &life->nodes[node];
    CHECK(removed->slot >= 0);
    forget_slow(life, node);
    life->node_of_slot[removed->slot] = -1;
    life->active--;
    removed->slot = IN_REPAIR;
    removed->strikes++;
    bool exchanged = life->spec->strikes > 0 && removed->strikes >= life->spec->strikes;
    if (exchanged) removed->is_bad = false, removed->strikes = 0;
    removed->back = time_later(event_now(life->queue), wait);
    event_schedule(life->queue, removed->back, EVENT_REPAIRED, node);
}

void life_remove_slow_nodes(Life *life) {
    while (life->seen_slow_count > 0)
        life_remove_node(life, life->seen_slow[0], life_repair_time(life, life->spec->repair_s));
}

void life_fill_slots(Life *life) {
    for (int slot = 0; slot < life->spec->nodes && life->spare_count > 0 && life->active < life->spec->nodes; slot++) {
        if (life->node_of_slot[slot] >= 0) continue;
        int node = life->spares[--life->spare_count];
        life->node_of_slot[slot] = node;
        life->nodes[node].slot = slot;
        life->active++;
    }
}

void life_node_back(Life *life, int node) {
    life->nodes[node].slot = IN_SPARES;
    life->spares[life->spare_count++] = node;
}
