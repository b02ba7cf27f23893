// Simulated steps of a training job on a few nodes under a few leaf switches, cached by placement.
#include "models/workload/queue/queue.h"

#include <string.h>

#include "models/workload/step/simulate.h"

typedef struct Simulated { // by placement and oversubscription of its leaves
    Spread spread;
    int step; // of the ladder below
    double seconds;
} Simulated;

typedef struct Demand {
    Spread spread;
    double uplink; // share of the NIC bandwidth of one leaf's nodes
} Demand;

struct QueueNetwork {
    Arena *arena;
    const Catalogue *catalogue;
    ClusterSpec cluster;
    TrainingSpec training;
    int nodes_per_leaf;
    double oversubscription;
    LIST_OF(Simulated) steps;
    LIST_OF(Demand) demands;
    LIST_OF(int) refused; // GPUs
};

// Oversubscriptions that are simulated; between them the step is taken along a straight line, as the time of a transfer
// is that grows with the inverse of its bandwidth.
static const double ladder[] = {1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
#define LADDER_COUNT ((int)(sizeof ladder / sizeof *ladder))

QueueNetwork *queue_network_create(Arena *arena, const Catalogue *catalogue, const ClusterSpec *cluster,
                                   const TrainingSpec *training) {
    QueueNetwork *network = ARENA_NEW(arena, QueueNetwork);
    *network = (QueueNetwork){.arena = arena, .catalogue = catalogue, .cluster = *cluster, .training = *training};
    bool tree = cluster->layout ? cluster->layout->kind == FABRIC_FAT_TREE : cluster->fabric == FABRIC_FAT_TREE;
    int nodes = cluster->layout ? cluster->layout->nodes_per_leaf : cluster->nodes_per_leaf;
    double share = cluster->layout ? cluster->layout->oversubscription : cluster->oversubscription;
    network->nodes_per_leaf = tree ? (nodes > 0 ? nodes : 32) : 0;
    network->oversubscription = share > 0 ? share : 1;
    network->cluster.rail_optimised = cluster->layout ? cluster->layout->rail_optimised : cluster->rail_optimised;
    network->cluster.layout = NULL;
    network->cluster.faults = NULL;
    network->cluster.link_speed = NULL;
    return network;
}

int queue_network_nodes_per_leaf(const QueueNetwork *network) { return network->nodes_per_leaf; }

double queue_network_uplink(const QueueNetwork *network) { return network->nodes_per_leaf / network->oversubscription; }

// ---- One placement.

static int nodes_on_leaf(Spread spread) { return (spread.nodes + spread.leaves - 1) / spread.leaves; }

// The job's GPUs, evenly over its nodes.
static void set_groups(Arena *arena, const QueueNetwork *network, ClusterSpec *spec, Spread spread) {
    const NodeGroup *like = &network->cluster.groups[0];
    bool packed = (spread.gpus + like->type->gpu_count - 1) / like->type->gpu_count == spread.nodes;
    int count = packed ? 1 : spread.nodes;
    NodeGroup *groups = ARENA_ARRAY(arena, NodeGroup, count);
    for (int i = 0; i < count; i++) {
        groups[i] = *like;
        groups[i].gpus = spread.gpus / count + (i < spread.gpus % count);
    }
    spec->groups = groups;
    spec->group_count = count;
}

static const Cluster *cluster_for(Arena *arena, const QueueNetwork *network, Spread spread, double oversubscription,
                                  Problems *problems) {
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *spec = network->cluster;
    set_groups(arena, network, spec, spread);
    spec->fabric = FABRIC_FAT_TREE;
    spec->nodes_per_leaf = nodes_on_leaf(spread);
    spec->oversubscription = oversubscription;
    return cluster_create(arena, network->catalogue, spec, problems);
}

static double simulate_spread(const QueueNetwork *network, Spread spread, double oversubscription) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    SimulationOptions options = {.assume_fits = true};
    const Cluster *cluster = cluster_for(arena, network, spread, oversubscription, problems);
    SimulatedStep step = {0};
    if (cluster) step = simulate_step(arena, cluster, &network->training, &options, problems);
    double seconds = step.ran ? step.step_p50_s : 0;
    arena_close(arena);
    return seconds;
}

static double step_on_ladder(QueueNetwork *network, Spread spread, int step) {
    for (int i = 0; i < network->steps.count; i++) {
        const Simulated *known = &network->steps.items[i];
        if (known->step == step && memcmp(&known->spread, &spread, sizeof spread) == 0) return known->seconds;
    }
    Simulated fresh = {spread, step, simulate_spread(network, spread, ladder[step])};
    LIST_PUSH(network->arena, &network->steps, fresh);
    return fresh.seconds;
}

static double step_seconds_of(QueueNetwork *network, Spread spread, double oversubscription) {
    int step = 0;
    while (step + 1 < LADDER_COUNT && ladder[step + 1] < oversubscription) step++;
    double low = step_on_ladder(network, spread, step);
    if (oversubscription <= ladder[step] || step + 1 == LADDER_COUNT) return low;
    double high = step_on_ladder(network, spread, step + 1);
    return low + (high - low) * (oversubscription - ladder[step]) / (ladder[step + 1] - ladder[step]);
}

// ---- Slowdown.

static Spread side_by_side(const QueueNetwork *network, int gpus) {
    int per_node = network->cluster.groups[0].type->gpu_count;
    return (Spread){gpus, (gpus + per_node - 1) / per_node, 1};
}

static bool is_refused(QueueNetwork *network, int gpus) {
    for (int i = 0; i < network->refused.count; i++)
        if (network->refused.items[i] == gpus) return true;
    if (step_on_ladder(network, side_by_side(network, gpus), 0) > 0) return false;
    LIST_PUSH(network->arena, &network->refused, gpus);
    return true;
}

double queue_network_slowdown(QueueNetwork *network, Spread spread, double uplink) {
    Spread best = side_by_side(network, spread.gpus);
    if (spread.nodes == best.nodes && spread.leaves == 1) return 1;
    if (is_refused(network, spread.gpus)) return 1;
    double oversubscription = spread.leaves > 1 ? fmax(1, nodes_on_leaf(spread) / uplink) : 1;
    double seconds = step_seconds_of(network, spread, oversubscription);
    return seconds > 0 ? fmax(1, seconds / step_on_ladder(network, best, 0)) : 1;
}

// ---- Demand.

static void add_channel_bytes(const Channel *channel, int plan, double *bytes) {
    const Plan *used = &channel->plans[plan];
    for (int i = 0; i < used->use_count; i++)
        bytes[used->uses[i].link] += used->bytes * used->uses[i].weight / channel->member_count;
}

// Every member of a channel joins each of its transfers once, and counts for its part of it.
static void add_traffic(const System *system, double *bytes) {
    for (int a = 0; a < system->actor_count; a++) {
        const Actor *actor = &system->actors[a];
        const Program *program = &system->programs[actor->program];
        for (int s = 0; s < program->stream_count; s++) {
            OpWalk walk = {.program = program, .stream = &program->streams[s]};
            for (Op op; walk_ops(&walk, &op);)
                if (op.kind == OP_TRANSFER)
                    add_channel_bytes(&system->channels[actor->channels[op.slot]], op.id, bytes);
        }
    }
}

// The busiest way up from a leaf: part of the step for which it is busy when leaves are not oversubscribed.
static double busiest_uplink(const System *system, double step_s) {
    Arena *arena = arena_open();
    double *bytes = ARENA_ARRAY(arena, double, system->link_count), busiest = 0;
    add_traffic(system, bytes);
    for (int i = 0; i < system->link_count; i++) {
        const char *name = system->links[i].name;
        if (!name || strncmp(name, "leaf", 4) != 0 || !strstr(name, ".up")) continue;
        double share = bytes[i] / system->links[i].bytes_per_second / step_s;
        if (share > busiest) busiest = share;
    }
    arena_close(arena);
    return busiest;
}

static double measure_demand(const QueueNetwork *network, Spread spread) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    SimulationOptions options = {.assume_fits = true, .keeps_system = true};
    const Cluster *cluster = cluster_for(arena, network, spread, 1, problems);
    double demand = 0;
    if (cluster) {
        TrainingSpec training = network->training;
        training.by_messages = training.as_packets =
            false; // bytes per link are the same, and whole transfers name them
        SimulatedStep step = simulate_step(arena, cluster, &training, &options, problems);
        if (step.ran) demand = busiest_uplink(step.lowered->system, step.step_p50_s) * nodes_on_leaf(spread);
    }
    arena_close(arena);
    return demand;
}

double queue_network_demand(QueueNetwork *network, Spread spread) {
    if (spread.leaves < 2) return 0;
    for (int i = 0; i < network->demands.count; i++)
        if (memcmp(&network->demands.items[i].spread, &spread, sizeof spread) == 0)
            return network->demands.items[i].uplink;
    Demand fresh = {spread, is_refused(network, spread.gpus) ? 0 : measure_demand(network, spread)};
    LIST_PUSH(network->arena, &network->demands, fresh);
    return fresh.uplink;
}

// ---- Results.

int queue_network_simulated(const QueueNetwork *network) { return network->steps.count; }

const char *queue_network_refused(const QueueNetwork *network) {
    const char *text = "";
    for (int i = 0; i < network->refused.count; i++)
        text = arena_printf(network->arena, "%s%s%d", text, i ? ", " : "", network->refused.items[i]);
    return text;
}
