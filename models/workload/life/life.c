// Event simulation of one life. The job is always in one phase; an event that ends it early counts its time.
#include "models/workload/life/life.h"

#include <math.h>

#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/system/watch.h"

#define EVENTS_PER_LOOK 4096 // at the watch

const char *const life_time_names[LIFE_TIME_COUNT] = {"training", "checkpoint", "rework", "detection", "waiting",
                                                      "restart",  "slow",       "shrunk", "flap"};
const char *const life_time_titles[LIFE_TIME_COUNT] = {
    "training",   "checkpoints",      "work done twice", "failure not yet seen", "waiting for nodes", "starting again",
    "slow nodes", "replicas missing", "link flaps"};

static const char *const cause_names[][2] = {
    {"rack", "rack (switch, power)"}, {"spot", "spot nodes taken back"}, {"long_flap", "link flap beyond timeout"},
    {"planned", "planned"},           {"swap", "slow node taken out"},   {"resize", "grown again"},
};

const char *life_cause_name(int cause) {
    return cause < FAULT_COMPONENT_COUNT ? fault_components[cause].name : cause_names[cause - FAULT_COMPONENT_COUNT][0];
}

const char *life_cause_title(int cause) {
    return cause < FAULT_COMPONENT_COUNT ? fault_components[cause].title
                                         : cause_names[cause - FAULT_COMPONENT_COUNT][1];
}

static SimTime now(const Life *life) { return event_now(life->queue); }

// ---- Time.

static SimTime share_of(SimTime time, double share) {
    return share >= 1 ? time : (SimTime)llround((double)time * share);
}

static double replica_share(const Life *life) { return (double)life->replicas / life->most_replicas; }
static double slow_share(const Life *life) { return life->slow_count > 0 ? 1 / life->spec->slow_factor : 1; }

// What so long a phase of training is worth, `times` over. Rounded once each, so that the parts sum to the whole.
static LifeParts settle_training(Life *life, SimTime passed, SimTime times) {
    SimTime of_replicas = share_of(passed, replica_share(life)), useful = share_of(of_replicas, slow_share(life));
    life->result.spent[LIFE_SHRUNK] += times * (passed - of_replicas);
    life->result.spent[LIFE_SLOW] += times * (of_replicas - useful);
    life->result.spent[LIFE_TRAINING] += times * useful;
    life->progress += times * useful;
    return (LifeParts){of_replicas - useful, passed - of_replicas};
}

// What the phase was worth until `time`.
static void settle(Life *life, SimTime time) {
    SimTime from = life->phase_start, passed = time - from, *spent = life->result.spent;
    life->phase_start = time;
    if (life->phase != LIFE_TRAINING) {
        spent[life->phase] += passed;
        if (life->calendar) calendar_spend(life->calendar, from, time, life->phase);
        if (life->phase == LIFE_DETECTION || life->phase == LIFE_WAITING || life->phase == LIFE_RESTART)
            life->result.lost[life->cause] += passed;
        return;
    }
    LifeParts parts = settle_training(life, passed, 1);
    if (life->calendar) calendar_train(life->calendar, from, time, parts);
}

static void enter(Life *life, LifeTime phase, SimTime length) {
    settle(life, now(life));
    event_cancel(life->queue, life->phase_end);
    life->phase = phase;
    life->phase_end = (EventId){0};
    SimTime end = time_later(now(life), length);
    if (end < SIM_TIME_NEVER) life->phase_end = event_schedule(life->queue, end, EVENT_PHASE, 0);
}

// Trains until the next checkpoint or the end of the work, whichever comes first.
static void train(Life *life) {
    settle(life, now(life));
    SimTime length = life->due - now(life);
    if (life->work > 0) {
        double speed = replica_share(life) * slow_share(life);
        SimTime rest = ticks_up((double)(life->work - life->progress) / speed);
        if (rest < length) length = rest;
    }
    enter(life, LIFE_TRAINING, length > 0 ? length : 0);
}

static void train_until_next_checkpoint(Life *life) {
    double every = life->spec->checkpoint.every_s;
    life->due = every > 0 ? time_later(now(life), life_ticks(every)) : SIM_TIME_NEVER;
    train(life);
}

// ---- Checkpoints.

static void arrive(Saved *saved, SimTime time) {
    if (saved->comes_at > time) return;
    saved->progress = saved->coming;
    saved->comes_at = SIM_TIME_NEVER;
}

static SimTime still_coming(const Saved *saved, SimTime time) {
    return saved->comes_at == SIM_TIME_NEVER || saved->comes_at < time ? 0 : saved->comes_at - time;
}

static void send(Saved *saved, SimTime progress, SimTime at) {
    saved->coming = progress;
    saved->comes_at = at;
}

// A copy that has not arrived when the next is due is waited for, as real ones do.
static void begin_checkpoint(Life *life) {
    const CheckpointPlan *plan = &life->spec->checkpoint;
    bool to_memory = plan->mode == CHECKPOINT_MEMORY;
    SimTime time = now(life);
    settle(life, time);
    arrive(&life->storage, time);
    arrive(&life->memory, time);
    SimTime stall =
        time_later(life_ticks(plan->stall_s), still_coming(to_memory ? &life->memory : &life->storage, time));
    bool to_storage = !to_memory || (time - life->last_storage >= life_ticks(plan->storage_every_s) &&
                                     still_coming(&life->storage, time) == 0);
    // What was still on its way arrives during the stall; the new copy follows it.
    SimTime begins = time_later(time, stall);
    arrive(to_memory ? &life->memory : &life->storage, begins);
    if (to_memory) send(&life->memory, life->progress, time_later(begins, life_ticks(plan->copy_s)));
    if (to_storage) {
        send(&life->storage, life->progress, time_later(begins, life_ticks(plan->write_s)));
        life->last_storage = time;
    }
    enter(life, LIFE_CHECKPOINT, stall);
}

// ---- Undisturbed stretches.

// How many times the job will repeat training and saving before any other event or the end of its work.
static SimTime count_alike(Life *life, SimTime every, SimTime stall) {
    SimTime next = event_next_time(life->queue);
    if (life->horizon < next) next = life->horizon;
    SimTime count = (next - 1 - now(life)) / (every + stall);
    if (life->work == 0) return count;
    SimTime useful = share_of(share_of(every, replica_share(life)), slow_share(life));
    SimTime until_near = useful > 0 ? (life->work - life->progress) / useful - 2 : count;
    return until_near < count ? until_near : count;
}

// At the end of a checkpoint. What happens again and again needs no events: the same state is reached at once. Copies
// of two kinds follow no such rule, nor do those that are still on their way when the next one is due.
static void pass_alike(Life *life) {
    const CheckpointPlan *plan = &life->spec->checkpoint;
    SimTime every = life_ticks(plan->every_s), stall = life_ticks(plan->stall_s), write = life_ticks(plan->write_s);
    if (life->one_by_one || plan->mode == CHECKPOINT_MEMORY || every <= 0 || write > every) return;
    SimTime count = count_alike(life, every, stall);
    if (count < 1) return;
    SimTime progress = life->progress, time = now(life) + count * (every + stall);
    settle_training(life, every, count);
    life->result.spent[LIFE_CHECKPOINT] += count * stall;
    life->result.events += 2 * count;
    life->storage.progress = progress + (life->progress - progress) / count * (count - 1); // the last but one
    send(&life->storage, life->progress, time_later(time, write));
    life->last_storage = time - stall;
    life->phase_start = time;
    event_advance(life->queue, time);
}

// ---- Stops.

static bool is_up(const Life *life) { return life->phase != LIFE_DETECTION && life->phase != LIFE_WAITING; }

static SimTime reload_time(const Life *life) {
    const CheckpointPlan *plan = &life->spec->checkpoint;
    return life_ticks(life->read_from_memory ? plan->memory_reload_s : plan->reload_s);
}

static void start_job(Life *life) {
    const LifeSpec *spec = life->spec;
    life_fill_slots(life);
    int needed = spec->least_replicas > 0 ? spec->least_replicas * spec->nodes_per_replica : spec->nodes;
    if (life->active < needed) {
        enter(life, LIFE_WAITING, SIM_TIME_NEVER);
        return;
    }
    if (spec->least_replicas > 0) life->replicas = life->active / spec->nodes_per_replica;
    const Saved *source = life->read_from_memory ? &life->memory : &life->storage;
    SimTime begins = time_later(still_coming(source, now(life)), life_ticks(spec->restart_s * life->restart_factor));
    enter(life, LIFE_RESTART, time_later(begins, reload_time(life)));
}

// Back to the newest state that is left. Copies in memory survive one node, not several.
static void roll_back(Life *life, int cause, bool several) {
    SimTime time = now(life);
    settle(life, time);
    arrive(&life->storage, time);
    arrive(&life->memory, time);
    life->storage.comes_at = life->memory.comes_at = SIM_TIME_NEVER;
    if (several || life->memory.progress < life->storage.progress) life->memory.progress = life->storage.progress;
    life->read_from_memory = life->spec->checkpoint.mode == CHECKPOINT_MEMORY && !several;
    SimTime back = life->read_from_memory ? life->memory.progress : life->storage.progress;
    SimTime lost = life->progress - back;
    CHECK(lost >= 0 && lost <= life->result.spent[LIFE_TRAINING]);
    life->result.spent[LIFE_TRAINING] -= lost;
    life->result.spent[LIFE_REWORK] += lost;
    life->result.lost[cause] += lost;
    life->progress = back;
    if (life->calendar) calendar_lose(life->calendar, time, lost);
}

// While the job is down already, more loss is only more to wait for.
static void stop(Life *life, int cause, SimTime detection, bool several) {
    roll_back(life, cause, several);
    if (!is_up(life)) return;
    life->result.stops[cause]++;
    if (life->calendar) calendar_stop(life->calendar, now(life));
    life->cause = cause;
    enter(life, LIFE_DETECTION, detection);
}

// At a checkpoint, with nothing lost but the time to start again.
static void stop_in_order(Life *life) {
    life->cause = life->planned_due ? LIFE_PLANNED : life->swap_due ? LIFE_SWAP : LIFE_RESIZE;
    life->result.stops[life->cause]++;
    life->planned_due = life->swap_due = life->grow_due = false;
    life->read_from_memory = life->spec->checkpoint.mode == CHECKPOINT_MEMORY;
    life_remove_slow_nodes(life);
    start_job(life);
}

static void on_phase_end(Life *life) {
    life->phase_end = (EventId){0};
    switch (life->phase) {
    case LIFE_TRAINING:
        settle(life, now(life));
        if (life->work > 0 && life->progress >= life->work)
            life->result.finished = true;
        else
            begin_checkpoint(life);
        break;
    case LIFE_CHECKPOINT:
        settle(life, now(life));
        if (life->planned_due || life->swap_due || life->grow_due)
            stop_in_order(life);
        else {
            pass_alike(life);
            train_until_next_checkpoint(life);
        }
        break;
    case LIFE_DETECTION:
        life_remove_slow_nodes(life);
        life->swap_due = false;
        start_job(life);
        break;
    case LIFE_FLAP:
        train(life);
        break;
    case LIFE_REWORK:
    case LIFE_WAITING:
    case LIFE_RESTART:
    case LIFE_SLOW:
    case LIFE_SHRUNK:
    case LIFE_TIME_COUNT:
        train_until_next_checkpoint(life);
    }
}

// ---- What happens to machines. Every event draws the same numbers whatever the job is at, so that the failures stay
// the same when it is run in another way.

static void corrupt(Life *life, int node) {
    if (life->clean >= 0 || life->phase == LIFE_WAITING) return;
    arrive(&life->storage, now(life));
    life->clean = life->storage.progress;
    life->silent_node = node;
    event_schedule(life->queue, time_later(now(life), life_ticks(life->spec->silent_detection_s)), EVENT_SILENT_SEEN,
                   0);
}

static void fail_node(Life *life, int component, int node) {
    const LifeSpec *spec = life->spec;
    bool hangs = random_uniform(&life->detail) < spec->hang_share;
    SimTime repair = life_repair_time(life, spec->repair_s);
    SimTime detection = life_ticks(hangs ? spec->hang_detection_s : spec->crash_detection_s);
    if (node < 0 || life->nodes[node].slot < 0) return;
    if (spec->faults[component].is_silent) {
        corrupt(life, node);
        return;
    }
    if (spec->faults[component].needs_repair) life_remove_node(life, node, repair);
    stop(life, component, detection, false);
}

static void on_silent_seen(Life *life) {
    SimTime repair = life_repair_time(life, life->spec->repair_s);
    if (life->nodes[life->silent_node].slot >= 0) life_remove_node(life, life->silent_node, repair);
    life->storage.comes_at = life->memory.comes_at = SIM_TIME_NEVER;
    life->storage.progress = life->memory.progress = life->clean;
    life->clean = -1;
    stop(life, FAULT_SILENT, 0, true);
}

static void on_rack(Life *life) {
    int node = life_random_node(life), size = life->spec->rack_nodes;
    SimTime repair = life_repair_time(life, life->spec->rack_repair_s);
    if (node < 0) return;
    int first = node / size * size;
    for (int i = first; i < first + size && i < life->node_count; i++)
        if (life->nodes[i].slot >= 0) life_remove_node(life, i, repair);
    stop(life, LIFE_RACK, life_ticks(life->spec->crash_detection_s), size > 1);
}

static void on_spot(Life *life) {
    int batch = life->spec->spot_batch > 0 ? life->spec->spot_batch : 1, taken = 0;
    for (int i = 0; i < batch; i++) {
        int node = life_random_node(life);
        SimTime wait = life_ticks(random_exponential(&life->mend, life->spec->spot_wait_s));
        if (node < 0) continue;
        life_remove_node(life, node, wait);
        taken++;
    }
    if (taken > 0) stop(life, LIFE_SPOT, 0, taken > 1);
}

static void on_spot_notice(Life *life) {
    event_schedule(life->queue, time_later(now(life), life_ticks(life->spec->spot_notice_s)), EVENT_SPOT, 0);
    if (life->phase == LIFE_TRAINING && life->spec->checkpoint.every_s > 0) begin_checkpoint(life);
}

static void on_slow(Life *life) {
    int node = life_random_node(life);
    SimTime seen = life_ticks(random_exponential(&life->detail, life->spec->slow_detection_s));
    if (node < 0 || life->nodes[node].is_slow) return;
    settle(life, now(life));
    life->nodes[node].is_slow = true;
    life->slow_count++;
    event_schedule(life->queue, time_later(now(life), seen), EVENT_SLOW_SEEN, node);
    if (life->phase == LIFE_TRAINING) train(life);
}

static void on_slow_seen(Life *life, int node) {
    if (!life->nodes[node].is_slow) return;
    for (int i = 0; i < life->seen_slow_count; i++)
        if (life->seen_slow[i] == node) return;
    life->seen_slow[life->seen_slow_count++] = node;
    life->swap_due = true;
}

static void on_flap(Life *life) {
    SimTime stall = life_ticks(random_exponential(&life->detail, life->spec->flap_stall_s));
    SimTime timeout = life_ticks(life->spec->hang_detection_s);
    if (life->phase != LIFE_TRAINING) return;
    if (stall > timeout) {
        stop(life, LIFE_LONG_FLAP, timeout, false);
        return;
    }
    enter(life, LIFE_FLAP, stall);
    life->due = time_later(life->due, stall);
}

static void on_repaired(Life *life, int node) {
    const LifeSpec *spec = life->spec;
    life_node_back(life, node);
    if (life->phase == LIFE_WAITING)
        start_job(life);
    else if (spec->least_replicas > 0 && life->replicas < life->most_replicas)
        life->grow_due = (life->active + life->spare_count) / spec->nodes_per_replica > life->replicas;
}

static void on_event(Life *life, const Event *event) {
    switch ((LifeEvent)event->kind) {
    case EVENT_PHASE:
        on_phase_end(life);
        break;
    case EVENT_FAULT:
        life_schedule_arrivals(life, event->item);
        fail_node(life, event->item, life_random_node(life));
        break;
    case EVENT_BAD_NODE:
        if (!life->nodes[event->item].is_bad) break;
        life_schedule_bad(life, event->item);
        fail_node(life, life_bad_component(life), event->item);
        break;
    case EVENT_SILENT_SEEN:
        on_silent_seen(life);
        break;
    case EVENT_REPAIRED:
        on_repaired(life, event->item);
        break;
    case EVENT_RACK:
        life_schedule_arrivals(life, ARRIVALS_RACK);
        on_rack(life);
        break;
    case EVENT_SLOW:
        life_schedule_arrivals(life, ARRIVALS_SLOW);
        on_slow(life);
        break;
    case EVENT_SLOW_SEEN:
        on_slow_seen(life, event->item);
        break;
    case EVENT_FLAP:
        life_schedule_arrivals(life, ARRIVALS_FLAP);
        on_flap(life);
        break;
    case EVENT_PLANNED:
        life_schedule_arrivals(life, ARRIVALS_PLANNED);
        life->planned_due = true;
        break;
    case EVENT_SPOT_NOTICE:
        life_schedule_arrivals(life, ARRIVALS_SPOT);
        on_spot_notice(life);
        break;
    case EVENT_SPOT:
    case EVENT_COUNT:
        on_spot(life);
    }
}

// ---- The whole.

static void check_spec(const LifeSpec *spec) {
    CHECK(spec->nodes > 0 && spec->spares >= 0 && spec->shape > 0);
    CHECK((spec->horizon_s > 0) != (spec->work_s > 0));
    CHECK(spec->least_replicas == 0 || (spec->nodes_per_replica > 0 && spec->nodes % spec->nodes_per_replica == 0));
    CHECK(spec->slow_rate == 0 || spec->slow_factor >= 1);
}

static Life *begin(Arena *arena, const LifeSpec *spec, uint64_t seed) {
    Life *life = ARENA_NEW(arena, Life);
    life->spec = spec;
    life->queue = event_queue_create(arena, 256);
    life->node_count = spec->nodes + spec->spares;
    life->nodes = ARENA_ARRAY(arena, Node, life->node_count);
    life->bad = ARENA_ARRAY(arena, Arrivals, spec->bad_share > 0 ? life->node_count : 0);
    life->node_of_slot = ARENA_ARRAY(arena, int32_t, spec->nodes);
    life->spares = ARENA_ARRAY(arena, int32_t, life->node_count);
    life->seen_slow = ARENA_ARRAY(arena, int32_t, life->node_count);
    life->seed = seed;
    life->work = life_ticks(spec->work_s);
    life->horizon = spec->work_s > 0 ? life_ticks(life_patience(spec) * spec->work_s) : life_ticks(spec->horizon_s);
    life->storage.comes_at = life->memory.comes_at = SIM_TIME_NEVER;
    life->clean = -1;
    life->most_replicas = spec->least_replicas > 0 ? spec->nodes / spec->nodes_per_replica : 1;
    life->replicas = life->most_replicas;
    return life;
}

static LifeRun live(const LifeSpec *spec, uint64_t seed, bool one_by_one, LifeCalendar *calendar) {
    check_spec(spec);
    Arena *arena = arena_open();
    Life *life = begin(arena, spec, seed);
    life->one_by_one = one_by_one;
    life->calendar = calendar;
    life_place_nodes(life);
    life_draw_world(life);
    train_until_next_checkpoint(life);
    Event event;
    SimTime end = life->horizon;
    int64_t looked = 0; // at the watch
    uint64_t digest = DIGEST_START;
    while (event_next(life->queue, &event) && event.time < life->horizon) {
        on_event(life, &event);
        life->result.events++;
        if (event.kind != EVENT_PHASE) {
            digest = digest_u64(digest, (uint64_t)event.time);
            digest = digest_u64(digest, (uint64_t)life->progress << 8 | (uint64_t)event.kind);
        }
        if (life->result.events - looked >= EVENTS_PER_LOOK) {
            if (!watch_goes_on((double)(life->result.events - looked))) break;
            looked = life->result.events;
        }
        if (!life->result.finished) continue;
        end = event.time;
        break;
    }
    watch_goes_on((double)(life->result.events - looked));
    settle(life, end);
    life->result.wall = end;
    if (spec->work_s == 0) life->result.finished = true;
    for (int i = 0; i < LIFE_TIME_COUNT; i++) digest = digest_u64(digest, (uint64_t)life->result.spent[i]);
    life->result.digest = digest_u64(digest, (uint64_t)life->result.events);
    LifeRun result = life->result;
    arena_close(arena);
    return result;
}

LifeRun life_run(const LifeSpec *spec, uint64_t seed) { return live(spec, seed, false, NULL); }

LifeRun life_run_one_by_one(const LifeSpec *spec, uint64_t seed) { return live(spec, seed, true, NULL); }

LifeRun life_run_kept(const LifeSpec *spec, uint64_t seed, LifeCalendar *calendar) {
    return live(spec, seed, true, calendar);
}
