#include "sim/sample.h"

static int copies_for(const System *folded, const Crowd *crowds, int most) {
    double ranks = 1;
    for (int c = 0; c < folded->channel_count; c++)
        if (crowds[c].crosses && crowds[c].ranks / folded->channels[c].member_count > ranks)
            ranks = crowds[c].ranks / folded->channels[c].member_count;
    return ranks < most ? (int)ranks : most;
}

// With the links of `count` copies from the first one on.
static Channel copy_channel(Arena *arena, const System *folded, int channel, const Crowd *crowd, int first, int count) {
    Channel copy = folded->channels[channel];
    Plan *plans = ARENA_ARRAY(arena, Plan, copy.plan_count);
    for (int p = 0; p < copy.plan_count; p++) {
        const Plan *plan = &copy.plans[p];
        LinkUse *uses = ARENA_ARRAY(arena, LinkUse, plan->use_count * count);
        for (int i = 0; i < plan->use_count * count; i++)
            uses[i] =
                (LinkUse){plan->uses[i % plan->use_count].link + (first + i / plan->use_count) * folded->link_count,
                          plan->uses[i % plan->use_count].weight};
        plans[p] = *plan;
        plans[p].uses = uses;
        plans[p].use_count = plan->use_count * count;
    }
    copy.plans = plans;
    copy.member_count *= count;
    copy.ranks = crowd->ranks;
    copy.crosses = crowd->crosses;
    return copy;
}

System sample_system(Arena *arena, const System *folded, const Crowd *crowds, int most, double jitter) {
    int copies = copies_for(folded, crowds, most), channel_count = 0;
    int32_t *place = ARENA_ARRAY(arena, int32_t, folded->channel_count * copies); // [channel * copies + copy]
    Channel *channels = ARENA_ARRAY(arena, Channel, folded->channel_count * copies);
    for (int c = 0; c < folded->channel_count; c++)
        for (int k = 0; k < copies; k++) {
            bool is_made = k > 0 && crowds[c].crosses;
            place[c * copies + k] = is_made ? place[c * copies] : channel_count;
            if (!is_made)
                channels[channel_count++] =
                    copy_channel(arena, folded, c, &crowds[c], k, crowds[c].crosses ? copies : 1);
        }
    Actor *actors = ARENA_ARRAY(arena, Actor, folded->actor_count * copies);
    for (int a = 0; a < folded->actor_count * copies; a++) {
        const Actor *actor = &folded->actors[a % folded->actor_count];
        int slots = folded->programs[actor->program].slot_count;
        int32_t *own = ARENA_ARRAY(arena, int32_t, slots);
        for (int s = 0; s < slots; s++)
            own[s] = actor->channels[s] < 0 ? -1 : place[actor->channels[s] * copies + a / folded->actor_count];
        actors[a] = *actor;
        actors[a].channels = own;
        actors[a].jitter = jitter;
        actors[a].multiplicity /= copies;
    }
    Link *links = ARENA_ARRAY(arena, Link, folded->link_count * copies);
    for (int l = 0; l < folded->link_count * copies; l++) links[l] = folded->links[l % folded->link_count];
    System sampled = *folded;
    sampled.actors = actors;
    sampled.actor_count *= copies;
    sampled.channels = channels;
    sampled.channel_count = channel_count;
    sampled.links = links;
    sampled.link_count *= copies;
    sampled.samples = copies;
    return sampled;
}
