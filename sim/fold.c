// Colour refinement (1-dimensional Weisfeiler-Leman) over actors, channels and links, then the quotient. Actors of one
// colour run the same program, meet equally coloured partners in every slot, over equally loaded links: by induction
// over time they do the same at the same time, so one of them stands for all.
//
// Nodes of two GPUs: 0 1, 2 3 and 4 5. Each pair has a channel of its own (tensor parallelism), 0 2 4 have one, and
// 1 3 5 (data parallelism). All run one program; GPU 5 is slower.
//     First colours, by program and slowness: {0 1 2 3 4} {5}. The pairs' channels have one colour, the other two one.
//     Round 1, a channel's colour takes in its members': the channels of 5 differ from their like.
//     Round 2, a GPU's colour takes in its channels': {0 2} {1 3} {4} {5}.
//     Round 3 changes nothing: four GPUs are simulated for six.
#include "sim/fold.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/system/watch.h"

#define ROUNDS_PER_LOOK 16 // most systems take fewer

static uint64_t mix(uint64_t a, uint64_t b) { // a strong 64-bit mixer of two words (finaliser of SplitMix64)
    uint64_t x = a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t bits(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

typedef struct Colours {
    uint64_t *hash;
    int32_t *colour;     // dense, in order of first appearance
    const int32_t *only; // [count] those that have a colour; NULL: all
    int count, colour_count;
} Colours;

static int coloured(const Colours *colours, int number) { return colours->only ? colours->only[number] : number; }

static Colours colours_create(Arena *arena, int count) {
    return (Colours){
        .hash = ARENA_ARRAY(arena, uint64_t, count), .colour = ARENA_ARRAY(arena, int32_t, count), .count = count};
}

// Hashes become dense colours, numbered in order of index so that no hash decides an order.
static void number_colours(Colours *colours) {
    int room = 16;
    while (room < 2 * colours->count) room *= 2;
    Arena *scratch = arena_open();
    int32_t *table = ARENA_ARRAY(scratch, int32_t, room); // index + 1 of the first with this hash
    int count = 0;
    for (int k = 0; k < colours->count; k++) {
        int i = coloured(colours, k);
        uint32_t at = (uint32_t)(colours->hash[i] >> 17) & (uint32_t)(room - 1);
        while (table[at] && colours->hash[table[at] - 1] != colours->hash[i]) at = (at + 1) & (uint32_t)(room - 1);
        if (!table[at]) {
            table[at] = i + 1;
            colours->colour[i] = count++;
        } else {
            colours->colour[i] = colours->colour[table[at] - 1];
        }
    }
    colours->colour_count = count;
    arena_close(scratch);
}

static void first_colours(const System *system, Colours *actors, Colours *channels, Colours *links) {
    for (int a = 0; a < system->actor_count; a++) {
        const Actor *actor = &system->actors[a];
        uint64_t hash = mix(1, (uint64_t)actor->program);
        hash = mix(mix(hash, bits(actor->slowness)), bits(actor->multiplicity));
        for (int s = 0; s < system->programs[actor->program].slot_count; s++)
            if (actor->channels[s] < 0) hash = mix(hash, (uint64_t)s);
        actors->hash[a] = actor->jitter > 0 ? mix(hash, (uint64_t)a + 1) : hash; // random times are each actor's own
    }
    for (int c = 0; c < system->channel_count; c++) {
        uint64_t hash = mix(2, (uint64_t)system->channels[c].plan_count);
        for (int p = 0; p < system->channels[c].plan_count; p++) {
            const Plan *plan = &system->channels[c].plans[p];
            hash = mix(mix(hash, (uint64_t)plan->latency), bits(plan->bytes));
            hash = mix(mix(hash, bits(plan->rate_limit)), bits(plan->fairness));
        }
        channels->hash[c] = hash;
    }
    for (int k = 0; k < links->count; k++)
        links->hash[links->only[k]] = mix(3, bits(system->links[links->only[k]].bytes_per_second));
}

// Most links of a large cluster are no channel's.
static void leave_out_idle(Arena *arena, const System *system, Colours *links) {
    int32_t *used = ARENA_ARRAY(arena, int32_t, system->link_count);
    bool *is_used = ARENA_ARRAY(arena, bool, system->link_count);
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++)
            for (int u = 0; u < system->channels[c].plans[p].use_count; u++)
                is_used[system->channels[c].plans[p].uses[u].link] = true;
    links->count = 0;
    for (int l = 0; l < system->link_count; l++)
        if (is_used[l]) used[links->count++] = l;
    links->only = used;
}

// The load of a channel on a link; the hash is of plans and weights.
typedef struct Touch {
    int32_t link;
    uint64_t hash;
} Touch;

typedef struct Touches {
    Touch *items;
    int64_t *first; // [channel + 1]
} Touches;

// Plans that use the same links in the same order, as most of a channel do, are one touch of each link.
static int64_t touch_links(const Channel *channel, Touch *touches) {
    int64_t count = 0;
    for (int p = 0; p < channel->plan_count; p++) {
        const Plan *plan = &channel->plans[p];
        bool same = p > 0 && plan->use_count == channel->plans[0].use_count;
        for (int u = 0; u < plan->use_count && same; u++) same = plan->uses[u].link == touches[u].link;
        Touch *into = touches + (same ? 0 : count);
        for (int u = 0; u < plan->use_count; u++) {
            uint64_t before = same ? into[u].hash : 16;
            into[u] = (Touch){plan->uses[u].link, mix(mix(before, (uint64_t)p), bits(plan->uses[u].weight))};
        }
        if (!same) count += plan->use_count;
    }
    return count;
}

static Touches find_touches(Arena *arena, const System *system) {
    int64_t most = 0;
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++) most += system->channels[c].plans[p].use_count;
    Touches touches = {ARENA_ARRAY(arena, Touch, most), ARENA_ARRAY(arena, int64_t, system->channel_count + 1)};
    for (int c = 0; c < system->channel_count; c++)
        touches.first[c + 1] = touches.first[c] + touch_links(&system->channels[c], &touches.items[touches.first[c]]);
    return touches;
}

// One round: everything looks at the colours around it. Neighbours are summed, so their order does not count.
static void refine(const System *system, const Colours *actors, const Colours *channels, const Colours *links,
                   const Touches *touches, uint64_t *actor_hash, uint64_t *channel_hash, uint64_t *link_hash) {
    for (int c = 0; c < system->channel_count; c++) channel_hash[c] = mix(12, (uint64_t)channels->colour[c]);
    for (int k = 0; k < links->count; k++) link_hash[links->only[k]] = mix(13, (uint64_t)links->colour[links->only[k]]);
    for (int a = 0; a < system->actor_count; a++) {
        const Program *program = &system->programs[system->actors[a].program];
        uint64_t hash = mix(11, (uint64_t)actors->colour[a]), as_member = mix(14, (uint64_t)actors->colour[a]);
        for (int s = 0; s < program->slot_count; s++) {
            int32_t channel = system->actors[a].channels[s];
            if (channel < 0) continue; // decided by the first colours
            hash = mix(hash, (uint64_t)channels->colour[channel]);
            channel_hash[channel] += mix(as_member, (uint64_t)s);
        }
        actor_hash[a] = hash;
    }
    for (int c = 0; c < system->channel_count; c++) {
        uint64_t from_channel = mix(15, (uint64_t)channels->colour[c]), around = 0;
        for (int64_t t = touches->first[c]; t < touches->first[c + 1]; t++) {
            const Touch *touch = &touches->items[t];
            link_hash[touch->link] += mix(from_channel, touch->hash);
            around += mix(touch->hash, (uint64_t)links->colour[touch->link]);
        }
        channel_hash[c] += around;
    }
}

// Gives every item its own colour: no folding.
static void separate_all(Colours *colours) {
    for (int k = 0; k < colours->count; k++) colours->colour[coloured(colours, k)] = k;
    colours->colour_count = colours->count;
}

// A chain of n has n colours, and a round finds only the next of them.
static void refine_until_stable(Arena *arena, const System *system, Colours *actors, Colours *channels,
                                Colours *links) {
    leave_out_idle(arena, system, links);
    first_colours(system, actors, channels, links);
    number_colours(actors);
    number_colours(channels);
    number_colours(links);
    Touches touches = find_touches(arena, system);
    uint64_t *actor_hash = ARENA_ARRAY(arena, uint64_t, system->actor_count);
    uint64_t *channel_hash = ARENA_ARRAY(arena, uint64_t, system->channel_count);
    uint64_t *link_hash = ARENA_ARRAY(arena, uint64_t, system->link_count);
    int rounds = 0;
    for (;;) {
        int before = actors->colour_count + channels->colour_count + links->colour_count;
        refine(system, actors, channels, links, &touches, actor_hash, channel_hash, link_hash);
        memcpy(actors->hash, actor_hash, (size_t)system->actor_count * sizeof *actor_hash);
        memcpy(channels->hash, channel_hash, (size_t)system->channel_count * sizeof *channel_hash);
        memcpy(links->hash, link_hash, (size_t)system->link_count * sizeof *link_hash);
        number_colours(actors);
        number_colours(channels);
        number_colours(links);
        if (actors->colour_count + channels->colour_count + links->colour_count == before) return;
        if (++rounds % ROUNDS_PER_LOOK || watch_goes_on(0)) continue;
        separate_all(actors);
        separate_all(channels);
        separate_all(links);
        return;
    }
}

// Every class by its first member.
static int32_t *representatives(Arena *arena, const Colours *colours) {
    int32_t *first = ARENA_ARRAY(arena, int32_t, colours->colour_count);
    for (int k = colours->count - 1; k >= 0; k--) first[colours->colour[coloured(colours, k)]] = coloured(colours, k);
    return first;
}

// The plans of a channel over classes of links. seen[link]: the last visit to a plan that uses it.
static const Plan *merge_uses(Arena *arena, const Channel *channel, const Colours *links, int32_t *seen,
                              int32_t *visit) {
    Plan *plans = ARENA_ARRAY(arena, Plan, channel->plan_count);
    for (int p = 0; p < channel->plan_count; p++) {
        const Plan *plan = &channel->plans[p];
        LinkUse *uses = ARENA_ARRAY(arena, LinkUse, plan->use_count);
        int kept = 0;
        ++*visit;
        for (int u = 0; u < plan->use_count; u++) {
            int32_t link = links->colour[plan->uses[u].link];
            if (seen[link] == *visit) continue;
            seen[link] = *visit;
            uses[kept++] = (LinkUse){link, plan->uses[u].weight};
        }
        plans[p] = *plan;
        plans[p].uses = uses;
        plans[p].use_count = kept;
    }
    return plans;
}

// Links that carry the same share of the same plans are one constraint: the narrowest of them.
static int merge_links(Arena *arena, Channel *channels, int channel_count, Link *links, int link_count) {
    uint64_t *hash = ARENA_ARRAY(arena, uint64_t, link_count);
    for (int c = 0; c < channel_count; c++)
        for (int p = 0; p < channels[c].plan_count; p++)
            for (int u = 0; u < channels[c].plans[p].use_count; u++) {
                const LinkUse *use = &channels[c].plans[p].uses[u];
                hash[use->link] += mix(mix((uint64_t)c + 1, (uint64_t)p), bits(use->weight));
            }
    Colours colours = {.hash = hash, .colour = ARENA_ARRAY(arena, int32_t, link_count), .count = link_count};
    number_colours(&colours);
    Link *merged = ARENA_ARRAY(arena, Link, colours.colour_count);
    for (int l = 0; l < link_count; l++) {
        Link *into = &merged[colours.colour[l]];
        if (!into->name || links[l].bytes_per_second < into->bytes_per_second) *into = links[l];
    }
    memcpy(links, merged, (size_t)colours.colour_count * sizeof *merged);
    int32_t *seen = ARENA_ARRAY(arena, int32_t, colours.colour_count);
    int32_t visit = 0;
    for (int c = 0; c < channel_count; c++) channels[c].plans = merge_uses(arena, &channels[c], &colours, seen, &visit);
    return colours.colour_count;
}

// Weights of the quotient: the load of all channels of a class on one link of a class, for each plan.
static void fold_channels(Arena *arena, const System *system, const FoldClasses *classes, Channel *folded) {
    int class_count = classes->channels.count;
    const int32_t *first_channel = classes->channels.first, *first_link = classes->links.first;
    int32_t *next =
        ARENA_ARRAY(arena, int32_t, system->channel_count); // the next channel of the same class, -1 at the end
    int32_t *head = ARENA_ARRAY(arena, int32_t, class_count);
    for (int k = 0; k < class_count; k++) head[k] = -1;
    for (int c = system->channel_count - 1; c >= 0; c--) {
        next[c] = head[classes->channels.of[c]];
        head[classes->channels.of[c]] = c;
    }
    int32_t *place = ARENA_ARRAY(arena, int32_t, classes->links.count); // index of a link class in the plan's list
    int32_t *seen = ARENA_ARRAY(arena, int32_t, classes->links.count);
    int32_t visit = 0;
    for (int k = 0; k < class_count; k++) {
        const Channel *whole = &system->channels[first_channel[k]];
        Plan *plans = ARENA_ARRAY(arena, Plan, whole->plan_count);
        for (int p = 0; p < whole->plan_count; p++) {
            Plan *into = &plans[p];
            LinkUse *uses = ARENA_ARRAY(arena, LinkUse, whole->plans[p].use_count);
            *into = whole->plans[p];
            into->uses = uses;
            into->use_count = 0;
            visit++;
            for (int32_t c = head[k]; c >= 0; c = next[c]) {
                const Plan *plan = &system->channels[c].plans[p];
                for (int u = 0; u < plan->use_count; u++) {
                    int32_t link_class = classes->links.of[plan->uses[u].link];
                    if (first_link[link_class] != plan->uses[u].link) continue;
                    if (seen[link_class] != visit) {
                        seen[link_class] = visit;
                        CHECK(into->use_count < whole->plans[p].use_count);
                        place[link_class] = into->use_count;
                        uses[into->use_count++] = (LinkUse){link_class, 0};
                    }
                    uses[place[link_class]].weight += plan->uses[u].weight;
                }
            }
        }
        folded[k] = *whole;
        folded[k].plans = plans;
    }
}

FoldClasses fold_classes(Arena *arena, const System *system) {
    Colours actors = colours_create(arena, system->actor_count),
            channels = colours_create(arena, system->channel_count), links = colours_create(arena, system->link_count);
    refine_until_stable(arena, system, &actors, &channels, &links);
    return (FoldClasses){.actors = {actors.colour, representatives(arena, &actors), actors.colour_count},
                         .channels = {channels.colour, representatives(arena, &channels), channels.colour_count},
                         .links = {links.colour, representatives(arena, &links), links.colour_count}};
}

const Actor *fold_actors(Arena *arena, const System *system, const FoldClasses *classes) {
    Actor *folded = ARENA_ARRAY(arena, Actor, classes->actors.count);
    for (int k = 0; k < classes->actors.count; k++) {
        const Actor *whole = &system->actors[classes->actors.first[k]];
        int slots = system->programs[whole->program].slot_count;
        int32_t *slot_channels = ARENA_ARRAY(arena, int32_t, slots);
        for (int s = 0; s < slots; s++)
            slot_channels[s] = whole->channels[s] < 0 ? -1 : classes->channels.of[whole->channels[s]];
        folded[k] = *whole;
        folded[k].channels = slot_channels;
        folded[k].multiplicity = 0;
    }
    for (int a = 0; a < system->actor_count; a++)
        folded[classes->actors.of[a]].multiplicity += system->actors[a].multiplicity;
    return folded;
}

void fold_count_members(Arena *arena, const System *folded, Channel *channels) {
    int *members = ARENA_ARRAY(arena, int, folded->channel_count);
    for (int a = 0; a < folded->actor_count; a++)
        for (int s = 0; s < folded->programs[folded->actors[a].program].slot_count; s++)
            if (folded->actors[a].channels[s] >= 0) members[folded->actors[a].channels[s]]++;
    for (int c = 0; c < folded->channel_count; c++) channels[c].member_count = members[c];
}

Folded fold_system(Arena *arena, const System *system) {
    FoldClasses classes = fold_classes(arena, system);
    Channel *channels = ARENA_ARRAY(arena, Channel, classes.channels.count);
    fold_channels(arena, system, &classes, channels);
    Link *links = ARENA_ARRAY(arena, Link, classes.links.count);
    for (int k = 0; k < classes.links.count; k++) links[k] = system->links[classes.links.first[k]];

    System folded = *system;
    folded.actors = fold_actors(arena, system, &classes);
    folded.actor_count = classes.actors.count;
    folded.channels = channels;
    folded.channel_count = classes.channels.count;
    folded.links = links;
    fold_count_members(arena, &folded, channels);
    folded.link_count = merge_links(arena, channels, folded.channel_count, links, classes.links.count);
    return (Folded){folded, classes.actors.of};
}

System merge_equal_links(Arena *arena, const System *system) {
    Channel *channels = ARENA_ARRAY(arena, Channel, system->channel_count);
    for (int c = 0; c < system->channel_count; c++) channels[c] = system->channels[c];
    Link *links = ARENA_ARRAY(arena, Link, system->link_count);
    for (int l = 0; l < system->link_count; l++) links[l] = system->links[l];
    System merged = *system;
    merged.channels = channels;
    merged.links = links;
    merged.link_count = merge_links(arena, channels, system->channel_count, links, system->link_count);
    return merged;
}

// ---- Sampling.
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
