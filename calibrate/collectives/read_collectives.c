// The cluster of a measured log, from a row's description: a node type, a link and a cluster.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "calibrate/collectives/validation.h"
#include "sim/system/file.h"

// ---- Builds a node type, a link and a cluster from a row's description.

#define LOOPBACK_GIGABITS 100 // more than sockets move

typedef struct Description {
    Arena *arena;
    const Catalogue *catalogue;
    const Csv *csv;
    int row;
    Problems *problems;
    LIST_OF(const char *) assumptions;
    const Gpu *gpu;
    NodeType *node;
    FabricLink *link;
    const char *intra_link;
} Description;

static void assume(Description *description, const char *text) {
    LIST_PUSH(description->arena, &description->assumptions, text);
}

// ---- Cells. A column that the file does not have is an empty cell, save the few that are needed.
static const char *text_of(const Description *description, const char *column) {
    return csv_named(description->csv, description->row, column);
}

static bool is(const char *cell, const char *word) { return strcasecmp(cell, word) == 0; }
static bool unknown(const char *cell) { return *cell == '\0' || is(cell, "unknown"); }

// A whole number, or the fallback where the cell is empty.
static double number_of(const Description *description, const char *column, double fallback) {
    const char *cell = text_of(description, column);
    char *end;
    if (unknown(cell)) return fallback;
    double value = strtod(cell, &end);
    if (*end == '\0' && value >= 0 && value < 1e6) return value;
    problem_add(description->problems, csv_where(description->csv, description->row), "\"%s\" is no number of %s", cell,
                column);
    return fallback;
}

static double need_number(const Description *description, const char *column) {
    double value = number_of(description, column, 0);
    if (value < 1)
        problem_add(description->problems, csv_where(description->csv, description->row),
                    "a log needs its %s, 1 or more", column);
    return value;
}

static double default_number(Description *description, const char *column, double value, const char *unit) {
    if (unknown(text_of(description, column)))
        assume(description, arena_printf(description->arena, "%s not stated: %g%s", column, value, unit));
    return number_of(description, column, value);
}

// ---- The GPU.
// A GPU that the catalogue lacks is taken as one with the same links and slot.
static const char *stand_in(int nvlink, int pcie) {
    static const char *const by_nvlink[] = {
        NULL, "P100-SXM2-16GB", "V100-SXM2-32GB", "A100-SXM4-80GB", "H100-SXM5-80GB", "B200-SXM-180GB"};
    if (nvlink >= 1 && nvlink <= 5) return by_nvlink[nvlink];
    return pcie >= 5 ? "RTX5090" : pcie == 4 ? "RTX4090" : "T4";
}

static void describe_gpu(Description *description) {
    const char *name = text_of(description, "gpu");
    int nvlink = (int)number_of(description, "nvlink_gen", 0);
    double links = number_of(description, "nvlink_links_per_gpu", 0);
    const Gpu *known = catalogue_gpu(description->catalogue, name);
    if (!known) {
        const char *other = stand_in(nvlink, (int)number_of(description, "pcie_gen", 4));
        known = catalogue_gpu(description->catalogue, other);
        assume(description,
               arena_printf(description->arena, "GPU \"%s\" is not in the catalogue: links of a %s", name, other));
    }
    Gpu *gpu = ARENA_NEW(description->arena, Gpu);
    *gpu = *known;
    // 25 GB/s per link and direction since NVLink2, 50 since NVLink5 (NVIDIA's data sheets).
    double each = gpu->nvlink_link_bytes_per_second > 0 ? gpu->nvlink_link_bytes_per_second : nvlink >= 5 ? 50e9 : 25e9;
    if (links > 0) gpu->nvlink_bytes_per_second = links * each, gpu->nvlink_link_bytes_per_second = each;
    description->gpu = gpu;
}

// ---- The node.
static const struct {
    const char *word;
    GpuLinkKind kind;
    bool peer_to_peer;
} intra_links[] = {{"none", GPU_LINK_NONE, true},
                   {"nvswitch", GPU_LINK_SWITCH, true},
                   {"nvlink-mesh", GPU_LINK_MESH, true},
                   {"nvlink-cube-mesh", GPU_LINK_CUBE_MESH, true},
                   {"pcie-p2p", GPU_LINK_NONE, true},
                   {"pcie-host", GPU_LINK_NONE, false},
                   {"nvlink-bridge", GPU_LINK_BRIDGE, true},
                   {"nic-loopback", GPU_LINK_NONE, false}};

// Boards of four have their NVLinks in pairs, larger ones a switch; before Ampere eight were a cube.
static const char *usual_link(const Description *description) {
    const Gpu *gpu = description->gpu;
    int slots = description->node->gpu_count;
    if (slots < 2) return "none";
    if (gpu->nvlink_bytes_per_second <= 0) return gpu->year >= 2022 ? "pcie-host" : "pcie-p2p";
    return slots <= 4 ? "nvlink-mesh" : gpu->year < 2020 ? "nvlink-cube-mesh" : "nvswitch";
}

static void describe_links(Description *description) {
    const char *word = text_of(description, "intra_link");
    NodeType *node = description->node;
    description->intra_link = word;
    if (unknown(word)) {
        word = usual_link(description);
        description->intra_link = word;
        assume(description, arena_printf(description->arena, "intra_link not stated: %s", word));
    }
    for (size_t i = 0; i < sizeof intra_links / sizeof *intra_links; i++) {
        if (!is(word, intra_links[i].word)) continue;
        node->gpu_links = intra_links[i].kind;
        node->peer_to_peer = intra_links[i].peer_to_peer && !is(text_of(description, "p2p_disabled"), "yes");
        return;
    }
    problem_add(description->problems, csv_where(description->csv, description->row), "\"%s\" is no intra_link", word);
    problem_hint(
        description->problems,
        "known: none, nvswitch, nvlink-mesh, nvlink-cube-mesh, nvlink-bridge, pcie-p2p, pcie-host, nic-loopback");
}

static bool in_switch_reduction(const Description *description) {
    return description->node->gpu_links == GPU_LINK_SWITCH && description->gpu->year >= 2022 &&
           !strstr(text_of(description, "algo_env"), "NCCL_NVLS_ENABLE=0");
}

// Defaults that no row states come from the usual servers of the slot's generation: two sockets with memory and links
// as in the catalogue's nodes.
static void describe_host(Description *description) {
    NodeType *node = description->node;
    int generation = (int)default_number(description, "pcie_gen", description->gpu->pcie_generation, "");
    node->pcie_generation = generation;
    node->sockets = (int)default_number(description, "cpu_sockets", node->gpu_count > 2 ? 2 : 1, "");
    if (node->sockets < 1) node->sockets = 1;
    node->socket_bytes_per_second = generation <= 3 ? 38.4e9 : generation == 4 ? 96e9 : 128e9;
    node->host_memory_bytes_per_second = (generation <= 3   ? 70.4e9
                                          : generation == 4 ? 204.8e9
                                                            : 307.2e9) *
                                         node->sockets;
    bool one = node->gpu_count < 2;
    double per_switch = node->gpu_links == GPU_LINK_SWITCH && !one ? 2 : 0;
    node->gpus_per_pcie_switch = (int)(one ? number_of(description, "gpus_per_pcie_switch", 0)
                                           : default_number(description, "gpus_per_pcie_switch", per_switch, ""));
}

// ---- The network.
static const struct {
    const char *word;
    LinkTransport transport;
    const char *like; // the link of the catalogue, if the transport is not enough
} transports[] = {{"infiniband", TRANSPORT_INFINIBAND, NULL},
                  {"roce", TRANSPORT_ROCE, NULL},
                  {"efa", TRANSPORT_EFA, NULL},
                  {"slingshot", TRANSPORT_SLINGSHOT, NULL},
                  {"tcp", TRANSPORT_TCP, NULL},
                  {"gpudirect-tcpx", TRANSPORT_TCPX, "tcpx-200"},
                  {"gpudirect-tcpxo", TRANSPORT_TCPX, "tcpxo-200"}};

// The catalogue's link of that transport with the nearest line rate.
static const FabricLink *nearest_link(const Catalogue *catalogue, LinkTransport transport, double bytes_per_second) {
    const FabricLink *best = NULL;
    for (int i = 0; i < catalogue->link_count; i++) {
        const FabricLink *link = &catalogue->links[i];
        if (link->transport != transport) continue;
        if (!best || fabs(log(link->line_bytes_per_second / bytes_per_second)) <
                         fabs(log(best->line_bytes_per_second / bytes_per_second)))
            best = link;
    }
    return best;
}

static double usual_gigabits(const Description *description, bool tcp) {
    int year = description->gpu->year;
    return tcp ? 10 : year >= 2022 ? 400 : year >= 2020 ? 200 : 100;
}

static void describe_network(Description *description, bool one_host) {
    const char *word = text_of(description, "transport");
    NodeType *node = description->node;
    if (unknown(word) || is(word, "none")) {
        if (unknown(word)) assume(description, "transport not stated: infiniband");
        word = "infiniband";
    }
    int at = -1, count = sizeof transports / sizeof *transports;
    for (int i = 0; i < count; i++)
        if (is(word, transports[i].word)) at = i;
    if (at < 0) {
        problem_add(description->problems, csv_where(description->csv, description->row), "\"%s\" is no transport",
                    word);
        problem_hint(description->problems,
                     "known: infiniband, roce, efa, slingshot, tcp, gpudirect-tcpx, gpudirect-tcpxo, none");
        return;
    }
    bool tcp = transports[at].transport == TRANSPORT_TCP;
    // Ranks that share a GPU share its host: their sockets loop back through memory, and no NIC holds them up.
    double usual = one_host ? LOOPBACK_GIGABITS : usual_gigabits(description, tcp);
    double rate = 1e9 / 8 * default_number(description, "nic_gbps", usual, " Gb/s");
    FabricLink *link = ARENA_NEW(description->arena, FabricLink);
    *link = transports[at].like ? *catalogue_link(description->catalogue, transports[at].like)
                                : *nearest_link(description->catalogue, transports[at].transport, rate);
    link->line_bytes_per_second = rate;
    description->link = link;

    double nics = node->gpu_links == GPU_LINK_SWITCH ? node->gpu_count : 1;
    node->nic_count = (int)default_number(description, "nics_per_node", nics, "");
    if (node->nic_count < 1) node->nic_count = 1;
    node->nic_bytes_per_second = rate;
    const char *rdma = text_of(description, "gdr");
    node->gpudirect_rdma = unknown(rdma) ? !tcp : is(rdma, "yes");
    node->nics_across_sockets = is(text_of(description, "nic_distance"), "sys");
    if (unknown(rdma))
        assume(description, tcp ? "gdr not stated: no, as usual of sockets" : "gdr not stated: yes, as usual of RDMA");
}

// ---- The environment: "NCCL_ALGO=Ring NCCL_PROTO=Simple".
static const char *value_in(Arena *arena, const char *text, const char *key) {
    const char *found = strstr(text, key);
    if (!found || found[strlen(key)] != '=') return NULL;
    found += strlen(key) + 1;
    char *value = arena_copy_text(arena, found);
    value[strcspn(value, " \t;,")] = '\0';
    return value;
}

static void describe_environment(Description *description, DescribedCluster *result) {
    static const char *const algorithms[][2] = {
        {"Ring", "ring"}, {"Tree", "tree"}, {"NVLS", "nvls"}, {"NVLSTree", "nvls_tree"}, {"CollnetChain", "collnet"}};
    static const Protocol protocols[] = {PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE};
    const char *env = text_of(description, "algo_env");
    const char *algorithm = value_in(description->arena, env, "NCCL_ALGO");
    const char *protocol = value_in(description->arena, env, "NCCL_PROTO");
    for (size_t i = 0; algorithm && i < sizeof algorithms / sizeof *algorithms; i++)
        if (is(algorithm, algorithms[i][0])) result->algorithm = algorithms[i][1];
    for (size_t i = 0; protocol && i < sizeof protocols / sizeof *protocols; i++)
        if (is(protocol, protocol_names[protocols[i]])) result->protocol = &protocols[i];
    result->gpus_per_process = gpus_per_process_in(text_of(description, "note"));
    const char *note = text_of(description, "note");
    bool threads = strstr(note, "thread per GPU") || strstr(note, "thread for each GPU");
    result->threads_per_process = threads ? result->rank_count : 0;
    int part[3] = {0};
    if (sscanf(text_of(description, "nccl_version"), "%d.%d.%d", &part[0], &part[1], &part[2]) >= 2 && part[0] == 2)
        result->nccl_version = part[0] * 10000 + part[1] * 100 + part[2];
    else
        assume(description, "nccl_version not stated: one usual with the GPU's generation");
    result->do_not_fit = text_of(description, "do_not_fit");
}

// ---- All of it.
static const char *family_of(const Description *description, int nodes) {
    const char *inside = description->intra_link, *between = text_of(description, "transport");
    bool rack = nodes > 1 && is(between, "none");
    return arena_printf(description->arena, "%s %s%s%s", description->gpu->architecture,
                        is(inside, "none") ? "single" : inside, nodes > 1 ? ", " : "",
                        nodes < 2          ? ""
                        : rack             ? "rack"
                        : unknown(between) ? "NIC unstated"
                                           : between);
}

static int *choose_ranks(const Description *description, const Network *network, int ranks, int nodes) {
    int *chosen = ARENA_ARRAY(description->arena, int, ranks), count = 0, all = network_rank_count(network);
    int per_node = ranks / nodes, on_node = 0;
    for (int rank = 0; rank < all && count < ranks; rank++) {
        if (rank > 0 && network_node_of(network, rank) != network_node_of(network, rank - 1)) on_node = 0;
        if (on_node++ < per_node) chosen[count++] = rank;
    }
    return chosen;
}

static const char *stated(const NcclLog *log, const char *column) {
    for (int i = 0; i < log->fact_count; i++)
        if (is(log->facts[i].column, column)) return log->facts[i].value;
    return "";
}

// A table of one row: that row (none: -1; clusters may be NULL), completed with the log's facts.
static const Csv *clusters_row_with(Arena *arena, const Csv *clusters, int row, const NcclLog *log) {
    Csv *one = ARENA_NEW(arena, Csv);
    int known = clusters && row >= 0 ? clusters->column_count : 0, most = known + log->fact_count;
    const char **columns = ARENA_ARRAY(arena, const char *, most), **cells = ARENA_ARRAY(arena, const char *, most);
    int *line = ARENA_ARRAY(arena, int, 1);
    int count = 0;
    for (int c = 0; c < known; c++, count++) {
        columns[count] = clusters->columns[c];
        cells[count] = csv_cell(clusters, row, c);
        const char *said = stated(log, columns[count]);
        if (unknown(cells[count]) && *said) cells[count] = said;
    }
    for (int i = 0; i < log->fact_count; i++) {
        bool there = false;
        for (int c = 0; c < known && !there; c++) there = is(clusters->columns[c], log->facts[i].column);
        if (there) continue;
        columns[count] = log->facts[i].column;
        cells[count++] = log->facts[i].value;
    }
    *line = known ? clusters->lines[row] : 0;
    *one = (Csv){known ? clusters->file : log->path, count, 1, columns, cells, line};
    return one;
}

const DescribedCluster *describe_cluster(Arena *arena, const Catalogue *catalogue, const Csv *clusters, int row,
                                         Problems *problems) {
    int before = problems_added(problems);
    Description description = {
        .arena = arena, .catalogue = catalogue, .csv = clusters, .row = row, .problems = problems};
    Where where = csv_where(clusters, row);
    int ranks = (int)need_number(&description, "ranks"), nodes = (int)need_number(&description, "nodes");
    int slots = (int)need_number(&description, "gpus_per_node");
    if (problems_added(problems) > before) return NULL;
    // More ranks than GPUs: NCCL takes the ranks of one GPU for hosts of their own, which take turns on it.
    int ranks_per_gpu = ranks > nodes * slots && ranks % (nodes * slots) == 0 ? ranks / (nodes * slots) : 1;
    if (ranks_per_gpu > 1) nodes = ranks, slots = 1;
    if (ranks < 2 || ranks % nodes || ranks / nodes > slots) {
        problem_add(problems, where, "%d ranks do not fit evenly on %d nodes of %d GPUs", ranks, nodes, slots);
        return NULL;
    }
    NodeType *node = ARENA_NEW(arena, NodeType);
    description.node = node;
    describe_gpu(&description);
    *node = (NodeType){.name = arena_copy_text(arena, text_of(&description, "log")), .gpu_count = slots};
    describe_links(&description);
    bool rack = is(text_of(&description, "fabric"), "nvl72") && node->gpu_links == GPU_LINK_SWITCH;
    node->nvlink_domain_nodes = rack ? 18 : 1;
    // With peer access and shared memory switched off every hop goes through a NIC, as if each GPU were a node.
    if (is(description.intra_link, "nic-loopback")) nodes = ranks, slots = 1;
    node->gpu_count = slots;
    node->mesh_links_per_pair = node->gpu_links == GPU_LINK_MESH && slots > 1
                                    ? (int)number_of(&description, "nvlink_links_per_gpu", 0) / (slots - 1)
                                    : 0;
    node->in_switch_reduction = in_switch_reduction(&description);
    describe_host(&description);
    bool joined = nodes > 1 && !(rack && nodes <= 18);
    if (joined) describe_network(&description, ranks_per_gpu > 1);
    if (problems_added(problems) > before) return NULL;

    DescribedCluster *result = ARENA_NEW(arena, DescribedCluster);
    *result =
        (DescribedCluster){.op = text_of(&description, "op"), .rank_count = ranks, .ranks_per_gpu = ranks_per_gpu};
    describe_environment(&description, result);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.where = where, .type = node, .gpus = nodes * slots, .gpu = description.gpu};
    *spec = (ClusterSpec){
        .where = where, .groups = group, .group_count = 1, .link = description.link, .price_per_gpu_hour = 0};
    result->cluster = cluster_create(arena, catalogue, spec, problems);
    if (!result->cluster) return NULL;
    result->family = family_of(&description, nodes);
    result->ranks = choose_ranks(&description, result->cluster->network, ranks, nodes);
    result->assumptions = description.assumptions.items;
    result->assumption_count = description.assumptions.count;
    return result;
}

// ---- Reads logs of nccl-tests together with the clusters that a table describes.

// Logs whose descriptions agree in these are of one machine with one NCCL, or of one network.
static const char *const setup_columns[] = {"gpu",      "intra_link", "nvlink_links_per_gpu",
                                            "pcie_gen", "cpu_vendor", "nccl_version"};
static const char *const network_columns[] = {"transport", "nics_per_node", "nic_gbps", "gdr"};
enum {
    SETUP_COLUMNS = sizeof setup_columns / sizeof *setup_columns,
    NETWORK_COLUMNS = sizeof network_columns / sizeof *network_columns
};

static const char *key_of(Arena *arena, const Csv *clusters, int row, const char *const *columns, int count) {
    const char *key = "";
    for (int c = 0; c < count; c++) key = arena_printf(arena, "%s|%s", key, csv_named(clusters, row, columns[c]));
    return key;
}

// The machine's name, or a key of its hardware without the NCCL version.
static const char *machine_of(Arena *arena, const Csv *described) {
    const char *name = csv_named(described, 0, "machine");
    if (*name) return name;
    return arena_printf(arena, "%s%s", key_of(arena, described, 0, setup_columns, SETUP_COLUMNS - 1),
                        key_of(arena, described, 0, network_columns, NETWORK_COLUMNS));
}

// "A100" of any board and memory.
static const char *gpu_of(Arena *arena, const char *name) {
    return arena_printf(arena, "%.*s", (int)strcspn(name, "-"), name);
}

// clusters.csv, with the rows of its logs and the set-ups of those on several nodes. Without a file all are empty.
typedef struct Clusters {
    const Csv *csv; // or NULL
    NameIndex *logs, *on_nodes;
} Clusters;

static Clusters find_rows(Arena *arena, const Csv *csv, Problems *problems) {
    Clusters clusters = {csv, name_index_create(arena, strcmp), name_index_create(arena, strcmp)};
    for (int row = 0; csv && row < csv->row_count; row++) {
        const char *log = csv_named(csv, row, "log");
        if (name_index_add(clusters.logs, log, row) >= 0)
            problem_add(problems, csv_where(csv, row), "a second row for the log \"%s\"", log);
        if (atoi(csv_named(csv, row, "nodes")) > 1)
            name_index_add(clusters.on_nodes, key_of(arena, csv, row, setup_columns, SETUP_COLUMNS), row);
    }
    return clusters;
}

bool spans_nodes(const DescribedCluster *cluster) {
    const Network *network = cluster->cluster->network;
    return network_node_of(network, cluster->ranks[0]) !=
           network_node_of(network, cluster->ranks[cluster->rank_count - 1]);
}

// A description whose assumptions are other ones: without those that begin so, and with one more (or NULL).
static DescribedCluster *assume_otherwise(Arena *arena, const DescribedCluster *described, const char *without,
                                          const char *more) {
    DescribedCluster *other = ARENA_NEW(arena, DescribedCluster);
    const char **kept = ARENA_ARRAY(arena, const char *, described->assumption_count + 1);
    *other = *described;
    other->assumption_count = 0;
    for (int i = 0; i < described->assumption_count; i++)
        if (strncmp(described->assumptions[i], without, strlen(without)) != 0)
            kept[other->assumption_count++] = described->assumptions[i];
    if (more) kept[other->assumption_count++] = more;
    other->assumptions = kept;
    return other;
}

// nccl-tests' README runs one node with -g GPUs, several with mpirun and a process per GPU: the default if neither
// log nor description states it. Measurers of several nodes are assumed to have measured one node in the same way.
static int launched_together(Arena *arena, const NcclLog *log, bool on_nodes_too, const DescribedCluster **cluster) {
    const DescribedCluster *described = *cluster;
    if (log->gpus_per_process) return log->gpus_per_process;
    if (described->gpus_per_process) return described->gpus_per_process;
    if (log->threads_per_process > 1 || described->threads_per_process > 1 || spans_nodes(described) ||
        described->ranks_per_gpu > 1)
        return 1;
    *cluster = assume_otherwise(arena, described, "launch",
                                on_nodes_too ? "launch not stated: a process for each GPU, as on several nodes"
                                             : "launch not stated: one process for all GPUs of the node");
    return on_nodes_too ? 1 : described->rank_count;
}

// Threads launch ahead of their GPUs, which hides the launch cost unless only few launches were timed: nccl-tests
// times 20 by default.
static int threads_that_show(const NcclLog *log, int ranks) {
    if (log->iterations == 0 || log->iterations >= 20) return 0;
    return log->threads_per_process < ranks ? log->threads_per_process : ranks;
}

// The log may complete the description.
static int version_of(Arena *arena, const NcclLog *log, const DescribedCluster **cluster) {
    if ((*cluster)->nccl_version || !log->nccl_version) return (*cluster)->nccl_version;
    *cluster = assume_otherwise(arena, *cluster, "nccl_version", NULL);
    return log->nccl_version;
}

// Empty lists choose all.
static bool is_chosen(const Options *options, CollectiveOp op, const char *family) {
    int ops, words;
    const char *const *op_names = option_texts(options, "op", &ops);
    const char *const *families = option_texts(options, "family", &words);
    bool op_chosen = ops == 0, family_chosen = words == 0;
    for (int i = 0; i < ops; i++) {
        CollectiveOp named;
        op_chosen = op_chosen || (nccl_op_from_name(op_names[i], &named) && named == op);
    }
    for (int i = 0; i < words; i++) family_chosen = family_chosen || strcasestr(family, families[i]);
    return op_chosen && family_chosen;
}

static double spread_at(const CollectiveRequest *request, const DescribedCluster *cluster, double bytes) {
    CollectiveRequest asked = *request;
    asked.bytes = bytes;
    return collective_spread(cluster->cluster->network, &asked, cluster->assumptions, cluster->assumption_count);
}

// nccl-tests' list of ranks is enough: GPUs, and how many on how many hosts.
static bool states_machine(const NcclLog *log) {
    int found = 0;
    for (int i = 0; i < log->fact_count; i++)
        found += strcmp(log->facts[i].column, "ranks") == 0 || strcmp(log->facts[i].column, "gpu") == 0;
    return found == 2;
}

static void say_what_is_missing(Problems *problems, const Csv *clusters, const NcclLog *log) {
    if (clusters)
        problem_add(problems, (Where){log->path, 0}, "%s has no row for the log \"%s\"", clusters->file, log->name);
    else
        problem_add(problems, (Where){log->path, 0}, "the log does not say what it was measured on");
    problem_hint(problems, clusters ? "add one: the log has no list of ranks (\"#  Rank  0 … Pid … on … device …\")"
                                    : "keep nccl-tests' list of ranks (\"#  Rank  0 … Pid … on … device …\"), or add "
                                      "--clusters clusters.csv with a row for each log");
}

static void add_log(Validation *validation, const Options *options, const Clusters *clusters, const char *path) {
    Arena *arena = validation->arena;
    const NcclLog *log = nccl_log_read(arena, path, validation->problems);
    if (!log) return;
    int row = name_index_find(clusters->logs, log->name);
    if (row < 0 && !states_machine(log)) {
        say_what_is_missing(validation->problems, clusters->csv, log);
        return;
    }
    const Csv *described = clusters_row_with(arena, clusters->csv, row, log);
    CollectiveOp op;
    const DescribedCluster *cluster =
        describe_cluster(arena, catalogue_builtin(arena), described, 0, validation->problems);
    if (!cluster) return;
    const char *name = *log->op ? log->op : cluster->op;
    if (!nccl_op_from_name(name, &op)) {
        const char *why = *name ? arena_printf(arena, "\"%s\" is no operation of NCCL or nccl-tests", name)
                                : "the log does not say its operation: add a line \"# op: all_reduce\"";
        Skipped skipped = {log->name, why};
        LIST_PUSH(arena, &validation->skipped, skipped);
        return;
    }
    if (!is_chosen(options, op, cluster->family)) return;
    int version = version_of(arena, log, &cluster);
    const char *setup = key_of(arena, described, 0, setup_columns, SETUP_COLUMNS);
    int together = launched_together(arena, log, name_index_find(clusters->on_nodes, setup) >= 0, &cluster);
    CollectiveRequest request = {.op = op,
                                 .backend = BACKEND_NCCL,
                                 .ranks = cluster->ranks,
                                 .rank_count = cluster->rank_count,
                                 .algorithm = cluster->algorithm,
                                 .protocol = cluster->protocol,
                                 .shift = op == COLLECTIVE_SEND_RECV,
                                 .ranks_per_gpu = cluster->ranks_per_gpu,
                                 .nccl_version = version,
                                 .threads_per_process = threads_that_show(log, cluster->rank_count),
                                 .gpus_per_process = together};
    MeasuredCollective measured = {
        .log = log,
        .cluster = cluster,
        .op = op,
        .price = collective_price_create(arena, cluster->cluster->network, &request),
        .predicted = ARENA_ARRAY(arena, double, log->row_count),
        .machine = machine_of(arena, described),
        .gpu = gpu_of(arena, csv_named(described, 0, "gpu")),
        .setup = setup,
        .network_kind = spans_nodes(cluster) ? key_of(arena, described, 0, network_columns, NETWORK_COLUMNS) : ""};
    measured.small_spread = spread_at(&request, cluster, 1);
    measured.large_spread = spread_at(&request, cluster, LARGE_BYTES);
    measured.long_spread = spread_at(&request, cluster, LENGTHY_BYTES);
    LIST_PUSH(arena, &validation->logs, measured);
}

// Adds the logs of a table of clusters, from the table's folder.
static void add_described(Validation *validation, const Options *options, const Clusters *clusters, const char *file) {
    const Csv *csv = clusters->csv;
    int column = csv_column(csv, "log", validation->problems);
    size_t folder = strlen(file);
    while (folder > 0 && file[folder - 1] != '/') folder--;
    for (int row = 0; row < csv->row_count && column >= 0; row++)
        add_log(validation, options, clusters,
                arena_printf(validation->arena, "%.*s%s.txt", (int)folder, file, csv_cell(csv, row, column)));
}

// A folder's clusters.csv, when it has one.
static const char *table_within(Arena *arena, const char *path) {
    const char *table = arena_printf(arena, "%s/clusters.csv", path);
    return access(table, R_OK) == 0 ? table : NULL;
}

void read_logs(Validation *validation, const Options *options) {
    Arena *arena = validation->arena;
    int count = option_positional_count(options);
    const char *file = option_text(options, "clusters", NULL);
    Names paths = {0};
    if (!file && count == 1) file = table_within(arena, option_positional(options, 0));
    if (!file && count == 0) file = shipped_file(arena, SHIPPED_FOLDER "/clusters.csv");
    const Csv *csv = file ? csv_read_file(arena, file, validation->problems) : NULL;
    const Clusters clusters = find_rows(arena, csv, validation->problems);
    if (file && (!csv || problem_count(validation->problems))) return;
    for (int i = 0; i < count; i++)
        paths_add(arena, option_positional(options, i), ".txt", &paths, validation->problems);
    for (int i = 0; i < paths.count; i++) add_log(validation, options, &clusters, paths.items[i]);
    if (count == 0) add_described(validation, options, &clusters, file);
}
