// Folding of a step before it is priced: a draft, in which channels have symbolic costs, is folded first; then only
// the remaining actors are priced. Which ranks do the same depends on the layout and the operations of its groups,
// not on their sizes, so a search over sizes folds once per layout.
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/lower/lower_internal.h"
#include "sim/fluid.h"
#include "sim/fold.h"

// Simulated replicas of those that differ by chance: at least so many, and more if they have few actors.
enum { FEWEST_REPLICAS = 8, SAMPLED_ACTORS = 128 };

// A load of one size, on any link.
typedef struct LoadKind {
    double inside, between;
} LoadKind;

// Fabric links that are never contended: all their traffic also crosses, with at least the same load, one of the NICs
// below, which together bring no more than the link carries. Ranks that differ by such links take the same time.
typedef struct Ample {
    const int32_t *above; // links above NICs, those of one NIC after the other
    int32_t *first;       // [link + 1] where a NIC's begin
    bool *is;             // [link]
    LoadKind *most;       // [link] of the NICs beneath, in the plan at hand
    int32_t *seen;        // [link] the plan that has written there
    int32_t plan;
} Ample;

typedef struct Draft {
    struct {
        LoadKind *items;
        int count, room;
    } kinds;
    Ample *ample; // NULL: all links of the fabric are, as long as it is even
    bool uneven;  // some of them may be contended
    struct {
        struct DraftPlan {
            Plan *plan;
            LinkUse *uses;
        } * items;
        int count, room;
    } plans; // of all channels
} Draft;

// Load of all channels of a class on the links of a class: number of loads of each kind.
typedef struct ClassLoad {
    int use; // the link's place among those of the channel
    LoadKind kind;
    double count;
} ClassLoad;

typedef struct ClassFamily { // of operations
    CollectivePrice *price;
    const ClassLoad *loads;
    int load_count;
    const int32_t *links; // [use]
    int use_count;
} ClassFamily;

typedef struct ChannelClass {
    int stage, slot; // of its shapes
    double ranks;    // of one of its channels
    ClassFamily families[COLLECTIVE_OP_COUNT];
} ChannelClass;

// All that which ranks do the same depends on.
typedef struct LayoutKey {
    int numbers[14];
    const uint16_t *operations; // [pp x SLOT_COUNT] families of operations, a bit each
} LayoutKey;

typedef struct KnownLayout {
    struct KnownLayout *next;
    LayoutKey key;
    FoldClass actor_classes;
    const Actor *actors;
    const ChannelClass *channels;
    int channel_count;
    const Link *links;
    int link_count;
    EvenPart part; // that actor_classes are of; ranks 0: of all ranks
} KnownLayout;

struct StepBook {
    Arena *arena;
    const Cluster *cluster;
    KnownLayout *layouts; // newest first
};

StepBook *step_book_create(Arena *arena, const Cluster *cluster) {
    StepBook *book = ARENA_NEW(arena, StepBook);
    *book = (StepBook){.arena = arena, .cluster = cluster};
    return book;
}

// ---- Which layout it is.

static uint16_t operations_of(const ShapeList *shapes) {
    unsigned bits = 0;
    for (int i = 0; i < shapes->count; i++) bits |= 1U << collective_family(shapes->items[i].op);
    return (uint16_t)bits;
}

static LayoutKey key_of(Arena *arena, const Lowering *l) {
    const Resolved *r = &l->r;
    bool fused = l->training->fused_dispatch;
    LayoutKey key = {.numbers = {r->tp, r->cp, r->pp, r->dp, r->ep, r->etp, r->shard, r->reduce_ranks, r->expert_ranks,
                                 (int)ends_lie_apart(&r->pipeline), pipeline_twin_stage(&r->pipeline, 0),
                                 (int)l->training->backend, fused ? l->training->model->experts.per_token : 0,
                                 fused ? l->training->model->hidden : 0}};
    uint16_t *operations = ARENA_ARRAY(arena, uint16_t, r->pp * SLOT_COUNT);
    for (int stage = 0; stage < r->pp; stage++)
        for (int slot = 0; slot < SLOT_COUNT; slot++)
            operations[stage * SLOT_COUNT + slot] = operations_of(&l->shapes[stage].slot[slot]);
    key.operations = operations;
    return key;
}

static bool same_key(const LayoutKey *a, const LayoutKey *b, int pp) {
    return memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0 &&
           memcmp(a->operations, b->operations, (size_t)pp * SLOT_COUNT * sizeof *a->operations) == 0;
}

// ---- The draft.

static int stage_of_shapes(const Lowering *l, const ShapeList *shapes) {
    size_t bytes = (size_t)((const char *)shapes - (const char *)l->shapes); // all stages' are one array
    return (int)(bytes / sizeof *l->shapes);
}

static int kind_number(Lowering *l, const LinkLoad *load) {
    Draft *draft = l->draft;
    for (int i = draft->kinds.count - 1; i >= 0; i--)
        if (draft->kinds.items[i].inside == load->inside && draft->kinds.items[i].between == load->between) return i;
    LIST_PUSH(l->arena, &draft->kinds, ((LoadKind){load->inside, load->between}));
    return draft->kinds.count - 1;
}

static CollectivePrice *price_of(Arena *arena, const Lowering *l, int family, const ChannelGroup *group) {
    CollectiveRequest request = {.op = (CollectiveOp)family,
                                 .backend = l->training->backend,
                                 .ranks = group->ranks,
                                 .rank_count = group->count,
                                 .tokens = tokens_sent(arena, l, (CollectiveOp)family),
                                 .repeats = group->repeats,
                                 .stride = l->part ? l->part->ranks : 0};
    return collective_price_create(arena, l->cluster->network, &request);
}

// Those that could carry all that the NICs beneath them bring, in the whole numbers that fair shares are made of.
static Ample *ample_links(Arena *arena, const Network *network) {
    int count, pairs;
    const Link *links = network_links(network, &count);
    const LinkAbove *above = network_links_above(arena, network, &pairs);
    Ample *ample = ARENA_NEW(arena, Ample);
    int32_t *by_nic = ARENA_ARRAY(arena, int32_t, pairs), *end = ARENA_ARRAY(arena, int32_t, count + 1);
    *ample = (Ample){.above = by_nic,
                     .first = ARENA_ARRAY(arena, int32_t, count + 1),
                     .is = ARENA_ARRAY(arena, bool, count),
                     .most = ARENA_ARRAY(arena, LoadKind, count),
                     .seen = ARENA_ARRAY(arena, int32_t, count)};
    Load *left = ARENA_ARRAY(arena, Load, count);
    for (int i = 0; i < count; i++) left[i] = load_from_rate(links[i].bytes_per_second);
    for (int i = 0; i < pairs; i++) {
        left[above[i].above] -= load_from_rate(links[above[i].nic].bytes_per_second);
        ample->is[above[i].above] = true;
        ample->first[above[i].nic + 1]++;
    }
    for (int i = 0; i < count; i++) {
        ample->is[i] = ample->is[i] && left[i] >= 0;
        end[i + 1] = ample->first[i + 1] += ample->first[i];
    }
    for (int i = pairs - 1; i >= 0; i--) by_nic[--end[above[i].nic + 1]] = above[i].above;
    return ample;
}

static bool is_lighter(const LoadKind *load, const LoadKind *most) {
    return load->inside <= most->inside && load->between <= most->between;
}

// What one NIC bears for all links above it; a link that bears more than each of those beneath is not ample.
static void weigh_ample(Ample *ample, const LinkLoad *loads, int count) {
    ample->plan++;
    for (int i = 0; i < count; i++)
        for (int32_t a = ample->first[loads[i].link]; a < ample->first[loads[i].link + 1]; a++) {
            int32_t link = ample->above[a];
            LoadKind load = {loads[i].inside, loads[i].between};
            if (ample->seen[link] != ample->plan || is_lighter(&ample->most[link], &load)) ample->most[link] = load;
            ample->seen[link] = ample->plan;
        }
    for (int i = 0; i < count; i++) {
        int32_t link = loads[i].link;
        LoadKind load = {loads[i].inside, loads[i].between};
        if (ample->is[link] && (ample->seen[link] != ample->plan || !is_lighter(&load, &ample->most[link])))
            ample->is[link] = false;
    }
}

static void leave_out_ample(const Lowering *l) {
    for (int i = 0; i < l->draft->plans.count && l->draft->ample; i++) {
        struct DraftPlan *made = &l->draft->plans.items[i];
        int kept = 0;
        for (int u = 0; u < made->plan->use_count; u++)
            if (!l->draft->ample->is[made->uses[u].link]) made->uses[kept++] = made->uses[u];
        made->plan->use_count = kept;
    }
}

static int nodes_of(const Lowering *l, int ranks) { return ranks / (l->cluster->gpu_count / l->cluster->node_count); }

// The same link among those of the part's nodes; -1: it is the fabric's.
static int32_t link_of_part(const Lowering *l, int32_t link) {
    int links = network_node_links(l->cluster->network), node = link / links;
    int nodes = nodes_of(l, l->part->ranks), stage_nodes = nodes_of(l, l->part->stage_ranks);
    if (node >= l->cluster->node_count) return -1;
    return (node / stage_nodes * nodes + node % stage_nodes) * links + link % links;
}

// And back.
static int32_t link_in_cluster(const Lowering *l, int32_t link) {
    int links = network_node_links(l->cluster->network), node = link / links;
    int nodes = nodes_of(l, l->part->ranks), stage_nodes = nodes_of(l, l->part->stage_ranks);
    return (node / nodes * stage_nodes + node % nodes) * links + link % links;
}

// A draft plan, which folds like all plans of a family: their distinguishing properties are stored as its numbers.
static void draft_plan(Lowering *l, Plan *plan, int place, int family, const ChannelGroup *group) {
    Arena *scratch = arena_open();
    CollectivePrice *price = price_of(scratch, l, family, group);
    int found, count = 0;
    const LinkLoad *loads = collective_price_loads(price, &found);
    if (l->draft->ample)
        weigh_ample(l->draft->ample, loads, found);
    else if (!network_is_even(l->cluster->network, collective_price_senders(price)) ||
             (group->repeats > 1 && family == COLLECTIVE_ALL_TO_ALL))
        l->draft->uneven = true;
    LinkUse *uses = ARENA_ARRAY(l->arena, LinkUse, found);
    for (int i = 0; i < found; i++) {
        int32_t link = l->part ? link_of_part(l, loads[i].link) : loads[i].link;
        if (link >= 0) uses[count++] = (LinkUse){link, 1 + kind_number(l, &loads[i])};
    }
    *plan = (Plan){.latency = (SimTime)collective_price_likeness(price),
                   .bytes = place,
                   .fairness = family,
                   .uses = uses,
                   .use_count = count};
    LIST_PUSH(l->arena, &l->draft->plans, ((struct DraftPlan){plan, uses}));
    arena_close(scratch);
}

static const int *in_cluster(const Lowering *l, const int *ranks, int count) {
    if (!l->part) return ranks;
    int *all = ARENA_ARRAY(l->arena, int, count);
    for (int i = 0; i < count; i++) all[i] = rank_of_part(l->part, ranks[i]);
    return all;
}

int draft_channel(Lowering *l, const ShapeList *shapes, const int *ranks, int rank_count, int repeats) {
    int stage = stage_of_shapes(l, shapes), place = stage * SLOT_COUNT + (int)(shapes - l->shapes[stage].slot);
    unsigned operations = operations_of(shapes);
    Plan *plans = ARENA_ARRAY(l->arena, Plan, __builtin_popcount(operations));
    Channel channel = {.plans = plans, .member_count = rank_count};
    keep_group(l, shapes, in_cluster(l, ranks, rank_count), rank_count, repeats);
    for (int family = 0; family < COLLECTIVE_OP_COUNT; family++)
        if (operations >> family & 1)
            draft_plan(l, &plans[channel.plan_count++], place, family, &l->groups.items[l->groups.count - 1]);
    LIST_PUSH(l->arena, &l->channels, channel);
    return l->channels.count - 1;
}

// ---- Converts the draft's classes to the cached layout.

typedef struct Gathering { // of a class of channels
    const System *system;
    const FoldClasses *classes;
    const LoadKind *kinds;
    int32_t *next;  // [channel] the next of its class, -1 at the end
    int32_t *seen;  // [class of links] the visit that saw it last
    int32_t *place; // [class of links] its use
    int32_t visit;
} Gathering;

typedef struct ClassLoads {
    ClassLoad *items;
    int count, room;
} ClassLoads;

static void add_class_load(Arena *arena, ClassLoads *loads, int use, const LoadKind *kind) {
    for (int i = 0; i < loads->count; i++) {
        ClassLoad *load = &loads->items[i];
        if (load->use != use || load->kind.inside != kind->inside || load->kind.between != kind->between) continue;
        load->count++;
        return;
    }
    LIST_PUSH(arena, loads, ((ClassLoad){use, *kind, 1}));
}

// What the class's channels put on one link of each class.
static void gather_loads(Arena *arena, Gathering *g, int32_t first, int plan, ClassFamily *family) {
    ClassLoads loads = {0};
    struct {
        int32_t *items;
        int count, room;
    } links = {0};
    g->visit++;
    for (int32_t c = first; c >= 0; c = g->next[c]) {
        const Plan *draft = &g->system->channels[c].plans[plan];
        for (int u = 0; u < draft->use_count; u++) {
            int32_t link = g->classes->links.of[draft->uses[u].link];
            if (g->classes->links.first[link] != draft->uses[u].link) continue;
            if (g->seen[link] != g->visit) {
                g->seen[link] = g->visit;
                g->place[link] = links.count;
                LIST_PUSH(arena, &links, link);
            }
            add_class_load(arena, &loads, g->place[link], &g->kinds[(int)draft->uses[u].weight - 1]);
        }
    }
    family->loads = loads.items;
    family->load_count = loads.count;
    family->links = links.items;
    family->use_count = links.count;
}

static int32_t *chain_channels(Arena *arena, const System *system, const FoldClass *channels) {
    int32_t *next = ARENA_ARRAY(arena, int32_t, system->channel_count);
    int32_t *head = ARENA_ARRAY(arena, int32_t, channels->count);
    for (int k = 0; k < channels->count; k++) head[k] = -1;
    for (int c = system->channel_count - 1; c >= 0; c--) {
        next[c] = head[channels->of[c]];
        head[channels->of[c]] = c;
    }
    return next;
}

static const ChannelClass *classes_of_channels(Arena *arena, const Lowering *l, const System *system,
                                               const FoldClasses *classes) {
    ChannelClass *made = ARENA_ARRAY(arena, ChannelClass, classes->channels.count);
    Gathering g = {.system = system,
                   .classes = classes,
                   .kinds = l->draft->kinds.items,
                   .next = chain_channels(l->arena, system, &classes->channels),
                   .seen = ARENA_ARRAY(l->arena, int32_t, classes->links.count),
                   .place = ARENA_ARRAY(l->arena, int32_t, classes->links.count)};
    for (int k = 0; k < classes->channels.count; k++) {
        int32_t first = classes->channels.first[k];
        const ChannelGroup *group = &l->groups.items[first];
        made[k].stage = stage_of_shapes(l, group->shapes);
        made[k].slot = (int)(group->shapes - l->shapes[made[k].stage].slot);
        made[k].ranks = (double)group->count * group->repeats;
        for (int p = 0; p < system->channels[first].plan_count; p++) {
            int number = (int)system->channels[first].plans[p].fairness;
            ClassFamily *family = &made[k].families[number];
            ChannelGroup kept = *group;
            int *ranks = ARENA_ARRAY(arena, int, group->count);
            memcpy(ranks, group->ranks, (size_t)group->count * sizeof *ranks);
            kept.ranks = ranks;
            family->price = price_of(arena, l, number, &kept);
            gather_loads(arena, &g, first, p, family);
        }
    }
    return made;
}

static FoldClass kept_class(Arena *arena, const FoldClass *found, int items) {
    int32_t *of = ARENA_ARRAY(arena, int32_t, items), *first = ARENA_ARRAY(arena, int32_t, found->count);
    memcpy(of, found->of, (size_t)items * sizeof *of);
    memcpy(first, found->first, (size_t)found->count * sizeof *first);
    return (FoldClass){of, first, found->count};
}

// Rates of the part's links. Only representatives of a class have names.
static const Link *links_of_part(Arena *arena, const Lowering *l, int *count) {
    const Network *network = l->cluster->network;
    *count = l->r.pp * nodes_of(l, l->part->ranks) * network_node_links(network);
    Link *made = ARENA_ARRAY(arena, Link, *count);
    for (int i = 0; i < *count; i++) made[i].bytes_per_second = network_link_rate(network, link_in_cluster(l, i));
    return made;
}

// NULL: it takes a look at all ranks, not only at those of a part.
static KnownLayout *find_out(StepBook *book, const Lowering *lowering, const EvenPart *part) {
    Arena *scratch = arena_open();
    Draft draft = {.ample = part ? NULL : ample_links(scratch, lowering->cluster->network)};
    Lowering l = *lowering;
    l.arena = scratch;
    l.draft = &draft;
    if (part) {
        l.part = part;
        l.whole = &lowering->r;
        l.r = layout_of_part(&lowering->r, part);
        l.rank_count = part->ranks * l.r.pp;
    }
    make_actors(&l);
    make_group_channels(&l);
    make_pass_channels(&l);
    if (draft.uneven) {
        arena_close(scratch);
        return NULL;
    }
    leave_out_ample(&l);
    System system = {.programs = l.programs,
                     .program_count = l.program_count,
                     .actors = l.actors,
                     .actor_count = l.rank_count,
                     .channels = l.channels.items,
                     .channel_count = l.channels.count};
    system.links =
        part ? links_of_part(scratch, &l, &system.link_count) : network_links(l.cluster->network, &system.link_count);
    FoldClasses classes = fold_classes(scratch, &system);
    KnownLayout *known = ARENA_NEW(book->arena, KnownLayout);
    known->key = key_of(book->arena, lowering);
    if (part) known->part = *part;
    known->actor_classes = kept_class(book->arena, &classes.actors, system.actor_count);
    known->actors = fold_actors(book->arena, &system, &classes);
    known->channels = classes_of_channels(book->arena, &l, &system, &classes);
    known->channel_count = classes.channels.count;
    Link *links = ARENA_ARRAY(book->arena, Link, classes.links.count);
    for (int k = 0; k < classes.links.count; k++)
        links[k] = part ? network_link(book->arena, l.cluster->network, link_in_cluster(&l, classes.links.first[k]))
                        : system.links[classes.links.first[k]];
    known->links = links;
    known->link_count = classes.links.count;
    known->next = book->layouts;
    book->layouts = known;
    arena_close(scratch);
    return known;
}

static const KnownLayout *known_layout(StepBook *book, const Lowering *l) {
    LayoutKey key = key_of(l->arena, l);
    for (const KnownLayout *known = book->layouts; known; known = known->next)
        if (same_key(&known->key, &key, l->r.pp)) return known;
    EvenPart part;
    const KnownLayout *found = find_even_part(l, &part) ? find_out(book, l, &part) : NULL;
    return found ? found : find_out(book, l, NULL);
}

// ---- Pricing.

static Plan plan_of(Arena *arena, const ClassFamily *family, const Shape *shape) {
    double inside, between;
    Plan plan = collective_price_plan(family->price, shape->op, shape->bytes, &inside, &between);
    LinkUse *uses = ARENA_ARRAY(arena, LinkUse, family->use_count);
    for (int u = 0; u < family->use_count; u++) uses[u].link = family->links[u];
    for (int i = 0; i < family->load_count; i++) {
        const ClassLoad *load = &family->loads[i];
        uses[load->use].weight += load->count * load_weight(load->kind.inside, load->kind.between, inside, between);
    }
    for (int u = 0; u < family->use_count; u++)
        if (uses[u].weight > 0) uses[plan.use_count++] = uses[u];
    plan.uses = uses;
    return plan;
}

static Channel *priced_channels(const Lowering *l, const KnownLayout *known) {
    Channel *channels = ARENA_ARRAY(l->arena, Channel, known->channel_count);
    for (int k = 0; k < known->channel_count; k++) {
        const ShapeList *shapes = &l->shapes[known->channels[k].stage].slot[known->channels[k].slot];
        Plan *plans = ARENA_ARRAY(l->arena, Plan, shapes->count);
        for (int i = 0; i < shapes->count; i++)
            plans[i] = plan_of(l->arena, &known->channels[k].families[collective_family(shapes->items[i].op)],
                               &shapes->items[i]);
        channels[k] = (Channel){.plans = plans, .plan_count = shapes->count};
    }
    return channels;
}

// ---- Random times of classes.

// Replicas exchange gradients and shards; all else is within one.
static bool crosses_replicas(int slot) {
    return slot == SLOT_SHARD || slot == SLOT_DP || slot == SLOT_EXPERT_DP || slot == SLOT_REPLICAS;
}

// Each rank as one of a class; ranks of a class are those of the copies in turn.
static Folded sampled_system(const Lowering *l, const System *system, const KnownLayout *known,
                             const int32_t *class_of) {
    Crowd *crowds = ARENA_ARRAY(l->arena, Crowd, known->channel_count);
    for (int k = 0; k < known->channel_count; k++)
        crowds[k] = (Crowd){known->channels[k].ranks, crosses_replicas(known->channels[k].slot)};
    int most = SAMPLED_ACTORS / system->actor_count;
    System sampled =
        sample_system(l->arena, system, crowds, most > FEWEST_REPLICAS ? most : FEWEST_REPLICAS, l->training->jitter);
    int32_t *of = ARENA_ARRAY(l->arena, int32_t, l->cluster->gpu_count);
    int *seen = ARENA_ARRAY(l->arena, int, system->actor_count);
    for (int rank = 0; rank < l->cluster->gpu_count; rank++)
        of[rank] = class_of[rank] + seen[class_of[rank]]++ % sampled.samples * system->actor_count;
    return (Folded){sampled, of};
}

// Sizes that happen to be equal may make more ranks equal than the layout does: the result is folded again.
static Folded priced_system(Lowering *l, const KnownLayout *known) {
    System *system = start_system(l);
    Channel *channels = priced_channels(l, known);
    system->actors = known->actors;
    system->actor_count = known->actor_classes.count;
    system->channels = channels;
    system->channel_count = known->channel_count;
    system->links = known->links;
    system->link_count = known->link_count;
    fold_count_members(l->arena, system, channels);
    bool by_class = l->training->jitter > 0;
    Folded again = {*system, NULL};
    if (!by_class) again = fold_system(l->arena, system);
    int32_t *class_of = ARENA_ARRAY(l->arena, int32_t, l->cluster->gpu_count);
    int repeats = known->part.ranks ? known->part.repeats : 1, rank = 0;
    int ranks = known->part.ranks ? known->part.ranks : l->cluster->gpu_count;
    for (int32_t *to = class_of, *end = class_of + l->cluster->gpu_count; to < end; rank += ranks)
        for (int i = 0; i < repeats; i++)
            for (int k = 0; k < ranks; k++) {
                int32_t class = known->actor_classes.of[rank + k];
                *to++ = by_class ? class : again.class_of[class];
            }
    return by_class ? sampled_system(l, system, known, class_of) : (Folded){again.system, class_of};
}

// ---- A step.

bool lowering_is_plain(const Lowering *l) {
    bool draws_alone = l->training->jitter > 0 && l->training->jitter_by == JITTER_BY_GPU;
    return !why_not_by_class(l->training) && !draws_alone && l->r.strategy != STRATEGY_DATA_PARALLEL;
}

const Lowered *lower_shortened(Arena *arena, const Cluster *cluster, const TrainingSpec *training, StepBook *book,
                               Folded *folded, bool *is_shorter, Problems *problems) {
    Lowering l = {.arena = arena, .cluster = cluster, .training = training, .may_shorten = is_shorter != NULL};
    if (!start_lowering(&l, problems)) return NULL;
    if (is_shorter) *is_shorter = l.as_programmed->pipeline.left_out > 0;
    if (lowering_is_plain(&l)) {
        *folded = priced_system(
            &l, known_layout(book && book->cluster == cluster ? book : step_book_create(arena, cluster), &l));
        return finish_lowering(&l, NULL, problems);
    }
    const System *system = whole_system(&l);
    if (training->by_messages && l.may_shorten && training->jitter == 0) {
        system = fold_messages(&l, system, folded, problems);
        return system ? finish_lowering(&l, system, problems) : NULL;
    }
    if (training->by_messages) system = lower_to_messages(&l, system, problems);
    if (!system) return NULL;
    *folded = fold_system(arena, system);
    return finish_lowering(&l, system, problems);
}

const Lowered *lower_folded(Arena *arena, const Cluster *cluster, const TrainingSpec *training, StepBook *book,
                            Folded *folded, Problems *problems) {
    return lower_shortened(arena, cluster, training, book, folded, NULL, problems);
}
