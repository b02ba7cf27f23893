// "NODES FABRIC" in the first line, in which "@" is a JSON file of the rest: refused with a problem, or a network whose
// collectives take a time. What --fabric of every command and `fabric` of a cluster read.
//     make fuzz FUZZERS=fuzz_fabric
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_NODES 40

// The path in place of the "@".
static const char *with_file(Arena *arena, const char *text, const char *path) {
    const char *at = strchr(text, '@');
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, path, at + 1) : text;
}

static void check_collectives(Arena *arena, const Cluster *cluster) {
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_BROADCAST};
    int *ranks = ARENA_ARRAY(arena, int, cluster->gpu_count);
    for (int i = 0; i < cluster->gpu_count; i++) ranks[i] = i;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        CollectiveRequest request = {.op = ops[i], .ranks = ranks, .rank_count = cluster->gpu_count, .bytes = 1e6};
        CollectivePlan plan = collective_plan(arena, cluster->network, &request);
        CHECK(isfinite(plan.alone_seconds) && plan.alone_seconds >= 0);
    }
}

static void build(Arena *arena, int nodes, const FabricLink *link, const FabricShape *shape, Problems *problems) {
    const Catalogue *catalogue = kept_catalogue();
    const NodeGroup group = {.type = catalogue_node(catalogue, "r750-a100x2"), .gpus = 2 * nodes};
    const ClusterSpec spec = {.groups = &group,
                              .group_count = 1,
                              .link = link,
                              .fabric = FABRIC_SINGLE_SWITCH,
                              .oversubscription = 1,
                              .layout = shape,
                              .price_per_gpu_hour = -1};
    const Cluster *cluster = cluster_create(arena, catalogue, &spec, problems);
    CHECK(!cluster == (problem_count(problems) > 0));
    if (cluster) check_collectives(arena, cluster);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char line[1024];
    size_t used = first_line(data, bytes, line, sizeof line);
    char *text = line;
    int nodes = (int)(strtoul(line, &text, 10) % MOST_NODES) + 1;
    text += strspn(text, " ");
    const char *path = fuzz_file("fabric.json", data + used, bytes - used);
    const FabricLink *link = NULL;
    const FabricShape *shape = NULL;
    bool read =
        fabric_from_text(arena, kept_catalogue(), with_file(arena, text, path), (Where){0}, &link, &shape, problems);
    CHECK(read == (problem_count(problems) == 0));
    if (read) build(arena, nodes, link, shape, problems);
    arena_close(arena);
    return 0;
}
