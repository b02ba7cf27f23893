// Collectives alone: a further node never makes one shorter.
#include "models/network/network.h"
#include "sim/base/random.h"
#include "tests/laws_internal.h"
#include "tests/script.h"

// A job of which the cluster alone is looked at: `nodes` whole ones of the type, over the link.
static DrawnStudy cluster_of(const NodeType *node, const FabricLink *link, int nodes) {
    char text[64];
    DrawnStudy study = {0};
    snprintf(text, sizeof text, "\"%s\"", node->name);
    drawn_set(&study, "cluster.node", text);
    drawn_set_count(&study, "cluster.gpus", nodes * node->gpu_count);
    snprintf(text, sizeof text, "\"%s\"", link->name);
    drawn_set(&study, "cluster.fabric", text);
    drawn_set(&study, "training.model", "\"mlp-mnist\"");
    drawn_set(&study, "training.batch.micro", "1");
    drawn_set(&study, "study.assume_fits", "true");
    return study;
}

typedef struct Chosen {
    char algorithm[32], how[64];
    Protocol protocol;
} Chosen;

// Below 0: there is no such cluster. `as`: what is to be run, where it can be; NULL: the back end's own choice.
static double seconds_on(const DrawnStudy *study, CollectiveOp op, double bytes, const Chosen *as, Chosen *chosen) {
    double seconds = -1;
    Answer answer = law_answer_of(study, "", (AnswerOptions){.memory_only = true});
    if (answer.lowered) {
        int count = answer.cluster->gpu_count, *ranks = ARENA_ARRAY(answer.arena, int, count);
        for (int r = 0; r < count; r++) ranks[r] = r;
        CollectiveRequest request = {
            .op = op, .backend = BACKEND_NCCL, .ranks = ranks, .rank_count = count, .bytes = bytes};
        if (as) request.algorithm = as->algorithm, request.protocol = &as->protocol;
        CollectivePlan plan = collective_plan(answer.arena, answer.cluster->network, &request);
        seconds = plan.alone_seconds;
        *chosen = (Chosen){.protocol = plan.protocol};
        snprintf(chosen->algorithm, sizeof chosen->algorithm, "%s", plan.algorithm);
        snprintf(chosen->how, sizeof chosen->how, "%s %s", plan.algorithm, protocol_names[plan.protocol]);
    }
    law_answer_close(&answer);
    return seconds;
}

static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER,
                                   COLLECTIVE_BROADCAST, COLLECTIVE_ALL_TO_ALL};

// A switch that reduces lets each GPU of its NVLink domain send and receive the array and 1/g of it (NCCL's NVLS),
// which is less where the domain has more GPUs.
static double nvls_gain(const NodeType *node, int nodes, const char *before, const char *after) {
    double gpus = nodes * (double)node->gpu_count, more = gpus + node->gpu_count;
    bool reduces = strncmp(before, "nvls ", 5) == 0 && strncmp(after, "nvls ", 5) == 0;
    return reduces ? (1 + 1 / gpus) / (1 + 1 / more) : 1;
}

// In a ring through nodes that fills every NIC each GPU sends to its NIC what it sends to a neighbour in a node that is
// alone: of 8 GPUs the NVLinks carry 7/8.
static double ring_gain(const NodeType *node, int nodes, const char *before, const char *after) {
    bool rings = strncmp(before, "ring ", 5) == 0 && strncmp(after, "ring ", 5) == 0;
    double gpus = node->gpu_count;
    return rings && nodes == 1 && gpus > 1 && node->nvlink_domain_nodes == 1 ? gpus / (gpus - 1) : 1;
}

static double gain(const NodeType *node, int nodes, const char *before, const char *after) {
    return fmax(nvls_gain(node, nodes, before, after), ring_gain(node, nodes, before, after));
}

// GPUs that meet over PCIe (as do those of a cube mesh that no NVLink joins) send each other less where half of them
// are in another node, and a NIC may be quicker than the way between their sockets. In one NVLink domain NCCL halves
// the channels of a message until those of all peers fit 32 (enqueue.cc, from 2.22 on): 12 GPUs use 24 of them, 16 all.
static bool says_nothing(const NodeType *node, CollectiveOp op) {
    return op == COLLECTIVE_ALL_TO_ALL && (node->gpu_links <= GPU_LINK_BRIDGE ||
                                           node->gpu_links == GPU_LINK_CUBE_MESH || node->nvlink_domain_nodes > 1);
}

// Of arrays of the same size. The study lends nothing: type of node, link, size and number of nodes are drawn.
Verdict law_further_node(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)study;
    const Catalogue *catalogue = test_catalogue();
    RandomStream random = random_stream(seed, "further node", 0);
    const NodeType *node = &catalogue->nodes[random_below(&random, (uint64_t)catalogue->node_count)];
    const FabricLink *link = &catalogue->links[random_below(&random, (uint64_t)catalogue->link_count)];
    CollectiveOp op = ops[random_below(&random, sizeof ops / sizeof *ops)];
    int nodes = 1 + (int)random_below(&random, random_below(&random, 2) ? 1 : 6);
    double bytes = ldexp(1, 3 + (int)random_below(&random, 30));
    Chosen before, after, same;
    DrawnStudy few = cluster_of(node, link, nodes), more = cluster_of(node, link, nodes + 1);
    double less_s = seconds_on(&few, op, bytes, NULL, &before);
    double more_s = seconds_on(&more, op, bytes, NULL, &after);
    if (says_nothing(node, op) || less_s <= 0 || more_s < 0) return LAW_SILENT;
    less_s /= gain(node, nodes, before.how, after.how);
    // NCCL chooses by a model of its own, and may choose what is slower: what it runs on more is tried on fewer. Where
    // switches reduce on more alone (four GPUs of one node are too few for NVLS) nothing is to be said.
    if (strcmp(before.how, after.how) != 0) {
        double same_s = seconds_on(&few, op, bytes, &after, &same) / gain(node, nodes, same.how, after.how);
        if (strncmp(after.how, "nvls", 4) == 0 && strncmp(same.how, "nvls", 4) != 0) return LAW_SILENT;
        less_s = fmin(less_s, same_s);
    }
    more_s /= 1 + law_forgery;
    finding->excess = less_s / more_s - 1;
    if (finding->excess <= ROUNDING) return LAW_HOLDS;
    snprintf(finding->why, sizeof finding->why,
             "%s of %.0f B on %d x %s over %s: %.6g s (%s), on %d: %.6g s (%s), %+.3g %%", collective_op_name(op),
             bytes, nodes, node->name, link->name, less_s, before.how, nodes + 1, more_s, after.how,
             100 * finding->excess);
    return LAW_BROKEN;
}
