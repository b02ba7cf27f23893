// Traffic of a job between GPUs and their hosts: samples read from storage and copied, and offloading to host memory
// and disks. Channels of one member each.
#include <math.h>
#include <string.h>

#include "models/workload/lower/lower_internal.h"

int ranks_of_node(const Lowering *l, int node) {
    int count = l->cluster->node_of[node]->gpu_count, all = l->cluster->gpu_count;
    return count < 1 ? 1 : count < all ? count : all;
}

void join_channel(Lowering *l, int rank, int slot, int channel) {
    l->actor_channels[rank * SLOT_COUNT + slot] = channel;
}

static void add_use(LinkUse *uses, int *count, int32_t link) {
    int at = 0;
    while (at < *count && uses[at].link != link) at++;
    if (at == *count) uses[(*count)++] = (LinkUse){link, 0};
    uses[at].weight += 1;
}

static Plan own_plan(Lowering *l, double latency, double bytes, const int32_t *links, int count) {
    LinkUse *uses = ARENA_ARRAY(l->arena, LinkUse, count);
    int kept = 0;
    for (int i = 0; i < count; i++) add_use(uses, &kept, links[i]); // a route may cross host memory twice
    return (Plan){.latency = step_ticks(latency), .bytes = bytes, .fairness = 1, .uses = uses, .use_count = kept};
}

static void own_channel(Lowering *l, int rank, int slot, double latency, double bytes, const int32_t *links,
                        int count) {
    Plan *plan = ARENA_NEW(l->arena, Plan);
    *plan = own_plan(l, latency, bytes, links, count);
    Channel channel = {.plans = plan, .plan_count = 1, .member_count = 1};
    LIST_PUSH(l->arena, &l->channels, channel);
    join_channel(l, rank, slot, l->channels.count - 1);
}

void make_data_channels(Lowering *l) {
    for (int rank = 0; rank < l->cluster->gpu_count; rank++) {
        if (rank >= l->r.tp * l->r.data_ranks) break; // only the first stage reads
        StageRequest request = stage_request(l, rank, 0);
        int32_t links[NETWORK_ROUTE_LIMIT + 1];
        double latency = 0;
        if (request.storage_bytes > 0) {
            int count = 0, node = network_node_of(l->cluster->network, rank);
            if (l->storage && l->storage->shared) {
                count = network_route_from_outside(l->cluster->network, rank, links, &latency);
                links[count++] = l->shared_storage_link;
            } else if (l->disk_links[node] >= 0) {
                links[count++] = l->disk_links[node];
            }
            double open = l->storage ? l->storage->latency_seconds : 0;
            own_channel(l, rank, SLOT_STORAGE, latency + open, request.storage_bytes, links, count);
        }
        if (request.host_to_gpu_bytes > 0) {
            int count = network_route_from_host(l->cluster->network, rank, links, &latency);
            latency += l->cluster->gpu_of[rank]->copy_seconds;
            own_channel(l, rank, SLOT_HOST, latency, request.host_to_gpu_bytes, links, count);
        }
    }
}

static bool uses_disks(const TrainingSpec *training) {
    return training->offload_optimizer == OFFLOAD_NVME || training->offload_parameters == OFFLOAD_NVME;
}

// A rank's way to and from its host's memory and its node's disks.
static void offload_channel(Lowering *l, int rank, int slot, const ShapeList *shapes) {
    int32_t links[NETWORK_ROUTE_LIMIT + 1];
    double latency = 0;
    int count = 1;
    if (shapes->count == 0) return;
    links[0] = l->scratch_links[network_node_of(l->cluster->network, rank)];
    if (slot == SLOT_TO_HOST) count = network_route_to_host(l->cluster->network, rank, links, &latency);
    if (slot == SLOT_FROM_HOST) count = network_route_from_host(l->cluster->network, rank, links, &latency);
    if (slot == SLOT_TO_HOST || slot == SLOT_FROM_HOST) latency += l->cluster->gpu_of[rank]->copy_seconds;
    Plan *plans = ARENA_ARRAY(l->arena, Plan, shapes->count);
    for (int i = 0; i < shapes->count; i++) plans[i] = own_plan(l, latency, shapes->items[i].bytes, links, count);
    Channel channel = {.plans = plans, .plan_count = shapes->count, .member_count = 1};
    LIST_PUSH(l->arena, &l->channels, channel);
    join_channel(l, rank, slot, l->channels.count - 1);
}

void make_offload_channels(Lowering *l) {
    for (int rank = 0; rank < l->cluster->gpu_count; rank++) {
        int stage = rank / (l->r.tp * l->r.data_ranks);
        for (int slot = SLOT_TO_HOST; slot <= SLOT_DISK_WRITE; slot++)
            offload_channel(l, rank, slot, &l->shapes[stage].slot[slot]);
    }
}

// Links of the network, then the storage server, then the nodes' disks.
void make_links(Lowering *l) {
    int count;
    const Link *network = network_links(l->cluster->network, &count);
    int nodes = l->cluster->node_count;
    l->links = ARENA_ARRAY(l->arena, Link, count + 2 * nodes + 1);
    if (count) memcpy(l->links, network, (size_t)count * sizeof *network);
    l->network_link_count = l->link_count = count;
    l->disk_links = ARENA_ARRAY(l->arena, int32_t, nodes);
    l->scratch_links = ARENA_ARRAY(l->arena, int32_t, nodes);
    l->shared_storage_link = -1;
    if (l->storage && l->storage->shared) {
        l->shared_storage_link = l->link_count;
        l->links[l->link_count++] = (Link){"storage server", l->storage->read_bytes_per_second};
    }
    for (int n = 0; n < nodes; n++) {
        double speed = l->storage && !l->storage->shared ? l->storage->read_bytes_per_second
                                                         : l->cluster->node_of[n]->local_read_bytes_per_second;
        l->disk_links[n] = -1;
        if (speed <= 0 || (l->storage && l->storage->shared)) continue;
        l->disk_links[n] = l->link_count;
        l->links[l->link_count++] = (Link){arena_printf(l->arena, "node%d.disk", n), speed};
    }
    for (int n = 0; n < nodes && uses_disks(l->training); n++) {
        l->scratch_links[n] = l->disk_links[n];
        if (l->disk_links[n] >= 0) continue;
        l->scratch_links[n] = l->link_count;
        l->links[l->link_count++] =
            (Link){arena_printf(l->arena, "node%d.nvme", n), l->cluster->node_of[n]->local_read_bytes_per_second};
    }
}

// Checks host memory and disks for offloading. Every node is treated as if its ranks were of the fullest stage.
void check_hosts(const Lowering *l, const Memory *memory, Problems *problems) {
    for (int n = 0; n < l->cluster->node_count; n++) {
        const NodeType *node = l->cluster->node_of[n];
        double needed = memory->host * ranks_of_node(l, n);
        if (n > 0 && node == l->cluster->node_of[n - 1]) continue;
        if (uses_disks(l->training) && node->local_read_bytes_per_second <= 0) {
            problem_add(problems, l->training->where, "nodes of type %s have no known disks to offload to", node->name);
            problem_hint(problems, "use \"host\" instead of \"nvme\"");
        } else if (node->host_memory_bytes > 0 && needed > node->host_memory_bytes) {
            problem_add(problems, l->training->where,
                        "what is offloaded needs %.0f GB of host memory, and %s has %.0f GB", needed / 1e9, node->name,
                        node->host_memory_bytes / 1e9);
            problem_hint(problems, "use more nodes, or \"nvme\" for the optimizer");
        }
    }
}
