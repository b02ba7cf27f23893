#include "scenarios/whatif/whatif.h"

#include <math.h>

#include "models/workload/life/life.h"
#include "sim/base/text.h"

#define FEW 3
#define LIKELY 0.8

const char *const move_kind_names[MOVE_KIND_COUNT] = {"resource", "setting", "fault"};

const Move *move_of_resource(Arena *arena, const Resource *resource) {
    Move *move = ARENA_NEW(arena, Move);
    *move = (Move){.kind = MOVE_RESOURCE,
                   .name = resource->name,
                   .value = resource->is_time ? "/ 2" : "x 2",
                   .title = arena_printf(arena, resource->is_time ? "half the %s" : "twice the %s", resource->title),
                   .resource = resource};
    return move;
}

static int by_gain(const WhatIf *one, const WhatIf *other) {
    if (one->ran != other->ran) return one->ran ? -1 : 1;
    if (one->ran && one->gain.mean != other->gain.mean) return one->gain.mean < other->gain.mean ? 1 : -1;
    return (one->move->kind > other->move->kind) - (one->move->kind < other->move->kind);
}

void whatif_rank(WhatIfs *list) {
    list->ran = 0;
    for (int i = 0; i < list->count; i++) {
        WhatIf moved = list->items[i];
        int at = i;
        for (; at > 0 && by_gain(&list->items[at - 1], &moved) > 0; at--) list->items[at] = list->items[at - 1];
        list->items[at] = moved;
        list->ran += moved.ran;
    }
}

Verdict whatif_verdict(const Move *move, const Gain *gain, double matters) {
    double half = isnan(gain->half) ? 0 : gain->half;
    if (gain->mean == 0 && half == 0) return VERDICT_SAME;
    if (gain->mean < -half) return VERDICT_WORSE;
    if (gain->mean <= half) return gain->mean >= matters && gain->chance >= LIKELY ? VERDICT_MAYBE : VERDICT_CHANCE;
    if (gain->mean < matters) return VERDICT_LITTLE;
    return move->given ? VERDICT_IF : move->but ? VERDICT_BUT : VERDICT_HELPS;
}

static bool is_machine(const WhatIf *whatif) { return whatif->move->kind == MOVE_RESOURCE; }

const WhatIf *whatif_first(const WhatIfs *list, bool machines) {
    for (int i = 0; i < list->count; i++)
        if (is_machine(&list->items[i]) == machines && list->items[i].verdict == VERDICT_HELPS) return &list->items[i];
    return NULL;
}

// ---- In words.

void whatif_add_others(Answer *answer, Arena *arena, const WhatIfs *list, bool machines, WhatIfSays *then) {
    const WhatIf *first = whatif_first(list, false);
    const char *text = "";
    for (int i = 0, listed = 0; i < list->count && listed < FEW; i++) {
        const WhatIf *whatif = &list->items[i];
        if (is_machine(whatif) != machines || whatif == first || whatif->verdict != VERDICT_HELPS) continue;
        text = arena_printf(arena, "%s%s%s %s", text, *text ? "; " : "",
                            whatif->move->option ? whatif->move->option : whatif->title, then(arena, whatif->then));
        listed++;
    }
    if (*text) answer_say(answer, machines ? "Machines" : "Or", "%s (each alone)", text);
}

const char *whatif_saves(Arena *arena, const WhatIfs *list, double whole, int most) {
    const char *text = "";
    for (int i = 0, listed = 0; i < list->ran && listed < most; i++) {
        const WhatIf *whatif = &list->items[i];
        if (!is_machine(whatif) || whatif->gain.mean < WHATIF_MATTERS * whole) continue;
        text = arena_printf(arena, "%s%s%s saves %s (%s)", text, *text ? ", " : "", whatif->title,
                            text_time(arena, whatif->gain.mean), text_percent(arena, whatif->gain.mean / whole));
        listed++;
    }
    return text;
}

const char *whatif_below(Arena *arena, const WhatIfs *list, double whole) {
    const char *text = "";
    for (int i = 0; i < list->ran; i++)
        if (is_machine(&list->items[i]) && list->items[i].gain.mean < WHATIF_MATTERS * whole)
            text = text_listed(arena, text, list->items[i].title);
    return text;
}

void whatif_add_useless(Answer *answer, Arena *arena, const WhatIfs *list, const char *const says[VERDICT_COUNT]) {
    const char *text = "";
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        const char *titles = "";
        for (int i = 0; i < list->count && says[verdict]; i++)
            if (list->items[i].verdict == (Verdict)verdict)
                titles = arena_printf(arena, "%s%s%s", titles, *titles ? "; " : "", list->items[i].title);
        if (*titles) text = arena_printf(arena, "%s%s%s: %s", text, *text ? ". " : "", says[verdict], titles);
    }
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    if (*text) answer_say(answer, "No help", "%s", text);
    answer_close(answer);
}

void whatif_add_cells(Answer *answer, const WhatIf *whatif) {
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_HELPS] = "helps",       [VERDICT_IF] = "helps, if",     [VERDICT_BUT] = "not advised",
        [VERDICT_HARMS] = "not advised", [VERDICT_MAYBE] = "perhaps",    [VERDICT_SAME] = "the same",
        [VERDICT_FREES] = "pays less",   [VERDICT_CHANCE] = "by chance", [VERDICT_LITTLE] = "too little",
        [VERDICT_DEARER] = "too dear",   [VERDICT_WORSE] = "worse"};
    const Move *move = whatif->move;
    ANSWER_CELLS(answer, move->name, whatif->title, move->option ? move->value : whatif->title,
                 move->option ? move->option : "", names[whatif->verdict]);
}

// ---- Conditions of a long job.

static bool fewer_failures(LifeNow *life) {
    life_scale_failures(&life->spec, 0.5);
    return life_unplanned_rate(&life->spec) > 0;
}

static bool quicker_detection(LifeNow *life) {
    life->spec.crash_detection_s /= 2;
    life->spec.hang_detection_s /= 2;
    life->spec.silent_detection_s /= 2;
    return true;
}

static bool quicker_restart(LifeNow *life) {
    life->spec.restart_s /= 2;
    return life->spec.restart_s > 0;
}

static bool quicker_repair(LifeNow *life) {
    life->spec.repair_s /= 2;
    life->spec.rack_repair_s /= 2;
    return life->spec.repair_s > 0;
}

static bool fewer_slow_nodes(LifeNow *life) {
    life->spec.slow_rate /= 2;
    return life->spec.slow_rate > 0;
}

static bool no_bad_nodes(LifeNow *life) {
    bool has = life->spec.bad_share > 0 && life->spec.bad_factor > 1;
    life->spec.bad_share = 0;
    return has;
}

static bool fewer_taken_back(LifeNow *life) {
    life->spec.spot_rate /= 2;
    return life->spec.spot_rate > 0;
}

// Of a checkpoint of unspecified size, halves the times that were assumed or given.
static bool quicker_storage(LifeNow *life) {
    CheckpointPlan *plan = &life->spec.checkpoint;
    if (!life->held) {
        if (plan->mode == CHECKPOINT_SYNC) plan->stall_s /= 2;
        plan->write_s /= 2;
        plan->reload_s /= 2;
        return true;
    }
    StorageType quicker = *life->held;
    quicker.read_bytes_per_second *= 2;
    quicker.write_bytes_per_second *= 2;
    double before = life_checkpoint(life, plan->mode).stall_s;
    life->held = &quicker;
    CheckpointPlan again = life_checkpoint(life, plan->mode);
    life->held = NULL;
    if (before > 0) plan->stall_s *= again.stall_s / before; // --checkpoint-stall goes its way too
    plan->write_s = again.write_s;
    plan->reload_s = again.reload_s;
    return true;
}

#define MACHINE(called, says)                                                                                          \
    { .kind = MOVE_RESOURCE, .name = (called), .title = (says) }

const LifeMove life_machines[] = {
    {MACHINE("failures", "half as many failures"), fewer_failures},
    {MACHINE("detection", "failures seen in half the time"), quicker_detection},
    {MACHINE("restart", "restarts in half the time"), quicker_restart},
    {MACHINE("repair", "repairs in half the time"), quicker_repair},
    {MACHINE("slow-nodes", "half as many slow nodes"), fewer_slow_nodes},
    {MACHINE("bad-nodes", "failures spread evenly over nodes"), no_bad_nodes},
    {MACHINE("spot", "nodes taken back half as often"), fewer_taken_back},
    {MACHINE("storage", "storage twice as fast"), quicker_storage},
};
const int life_machine_count = sizeof life_machines / sizeof *life_machines;

const char *const life_mode_titles[CHECKPOINT_MODE_COUNT] = {"checkpoints that training waits for",
                                                             "checkpoints written while training goes on",
                                                             "checkpoints copied to another node's memory"};

CheckpointPlan life_checkpoint(const LifeNow *now, CheckpointMode mode) {
    CheckpointPlan plan = checkpoint_plan(mode, now->bytes, now->spec.nodes, now->node, now->gpu, now->held);
    plan.every_s = now->spec.checkpoint.every_s;
    plan.storage_every_s = now->spec.checkpoint.storage_every_s;
    return plan;
}
