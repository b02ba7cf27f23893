// Reads logs of nccl-tests together with the clusters that a table describes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/collectives/validation.h"
#include "sim/base/list.h"
#include "sim/base/name_index.h"
#include "sim/system/shipped.h"

// Logs whose descriptions agree in these are of one machine with one NCCL, or of one network.
static const char *const setup_columns[] = {"gpu",      "intra_link", "nvlink_links_per_gpu",
                                            "pcie_gen", "cpu_vendor", "nccl_version"};
static const char *const network_columns[] = {"transport", "nics_per_node", "nic_gbps", "gdr"};
enum {
    SETUP_COLUMNS = sizeof setup_columns / sizeof *setup_columns,
    NETWORK_COLUMNS = sizeof network_columns / sizeof *network_columns
};

static const char *cell_of(const Csv *clusters, int row, const char *column) {
    for (int i = 0; i < clusters->column_count; i++)
        if (strcmp(clusters->columns[i], column) == 0) return csv_cell(clusters, row, i);
    return "";
}

static const char *key_of(Arena *arena, const Csv *clusters, int row, const char *const *columns, int count) {
    const char *key = "";
    for (int c = 0; c < count; c++) key = arena_printf(arena, "%s|%s", key, cell_of(clusters, row, columns[c]));
    return key;
}

// The machine's name, or a key of its hardware without the NCCL version.
static const char *machine_of(Arena *arena, const Csv *described) {
    const char *name = cell_of(described, 0, "machine");
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
        const char *log = cell_of(csv, row, "log");
        if (name_index_add(clusters.logs, log, row) >= 0)
            problem_add(problems, csv_where(csv, row), "a second row for the log \"%s\"", log);
        if (atoi(cell_of(csv, row, "nodes")) > 1)
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
        .gpu = gpu_of(arena, cell_of(described, 0, "gpu")),
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
    PathList paths = {0};
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
