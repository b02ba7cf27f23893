// How far a collective's time may be from what is predicted: the model's own error on machines that it was not fitted
// on, and what nobody said about the machine. Standard deviations of logarithms, so they add up as squares.
#include <math.h>
#include <string.h>

#include "models/network/loads.h"
#include "models/network/network_constants.h"

typedef struct Unsaid {
    const char *start;        // of what is assumed
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

double collective_spread(const Network *network, const CollectiveRequest *request, const char *const *assumed,
                         int assumed_count) {
    bool large = request->bytes >= network_constant(LARGE_BYTES);
    double own = network_constant(large ? MODEL_LARGE : MODEL_SMALL), sum = own * own;
    if (request->rank_count < 2) return 0;
    Arena *scratch = arena_open();
    Group group = group_create(scratch, network, request->ranks, request->rank_count);
    bool staged = (group.most > 1 && group.medium == MEDIUM_HOST) || (group.block_count > 1 && !group.rdma);
    arena_close(scratch);
    if (large && staged) sum += network_constant(HOST_MEMORY) * network_constant(HOST_MEMORY);
    for (int i = 0; i < assumed_count; i++)
        for (size_t r = 0; r < sizeof unsaid / sizeof *unsaid; r++) {
            double spread = network_constant(unsaid[r].spread + (large ? 0 : 1));
            if (strncmp(assumed[i], unsaid[r].start, strlen(unsaid[r].start)) == 0) sum += spread * spread;
        }
    return sqrt(sum);
}
