// The machines of a life: nodes in the job's slots, spares, and nodes under repair.
#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"

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
