// Uncertainty of a collective's time: the model's error on machines that it was not fitted on, and properties of the
// machine that are unspecified. Standard deviations of logarithms, which add as squares.
#include <math.h>
#include <string.h>

#include "models/network/loads.h"
#include "models/network/network_constants.h"

typedef struct Unsaid {
    const char *start;        // of the assumption's text
    NetworkConstantId spread; // of large collectives; that of small ones is the next constant
} Unsaid;

static const Unsaid unsaid[] = {
    {"launch", UNSAID_LAUNCH},
    {"nccl_version", UNSAID_NCCL_VERSION},
    {"gdr", UNSAID_GDR},
    {"nic_gbps", UNSAID_NIC_RATE},
    {"nics_per_node", UNSAID_NICS},
    {"transport", UNSAID_TRANSPORT},
    {"gpus_per_pcie_switch", UNSAID_SWITCH_GPUS},
    {"cpu_sockets", UNSAID_SOCKETS},
    {"GPU", UNSAID_GPU},
};

static double square_of(NetworkConstantId id) { return network_constant(id) * network_constant(id); }

static double square_of_network(const Group *group, bool large) {
    switch (group->network->fabric.transport) {
    case NET_INFINIBAND:
        return 0;
    case NET_SLINGSHOT:
        return square_of(SLINGSHOT_SPREAD);
    case NET_TCP:
        return square_of(SOCKET_SPREAD);
    case NET_ROCE:
    case NET_EFA:
    case NET_TCPX:
        break;
    }
    return square_of(large ? ETHERNET_SPREAD : ETHERNET_SPREAD_SMALL);
}

// What machines of that kind leave open, by how they were predicted when they were left out.
static double square_of_kind(const Group *group, bool large) {
    bool inside = group->most > 1, between = group->block_count > 1;
    double sum = between ? square_of_network(group, large) : 0;
    if (large && inside && group->medium == MEDIUM_HOST) sum += square_of(HOST_MEMORY);
    if (large && inside && group->medium == MEDIUM_PCIE) sum += square_of(PEER_SPREAD);
    bool bounced = between && !group->rdma && group->network->fabric.transport != NET_TCP;
    return large && bounced ? sum + square_of(BOUNCED_SPREAD) : sum;
}

double collective_spread(const Network *network, const CollectiveRequest *request, const char *const *assumed,
                         int assumed_count) {
    bool large = request->bytes >= network_constant(LARGE_BYTES),
         lengthy = request->bytes >= network_constant(LONG_BYTES);
    double sum = square_of(lengthy ? MODEL_LONG : large ? MODEL_LARGE : MODEL_SMALL);
    if (request->rank_count < 2) return 0;
    Arena *scratch = arena_open();
    Group group = group_create(scratch, network, request->ranks, request->rank_count);
    sum += square_of_kind(&group, large);
    arena_close(scratch);
    for (int i = 0; i < assumed_count; i++)
        for (size_t r = 0; r < sizeof unsaid / sizeof *unsaid; r++) {
            double spread = network_constant(unsaid[r].spread + (large ? 0 : 1));
            if (strncmp(assumed[i], unsaid[r].start, strlen(unsaid[r].start)) == 0) sum += spread * spread;
        }
    return sqrt(sum);
}
