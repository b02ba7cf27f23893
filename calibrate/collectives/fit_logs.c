// Fit to the logs of one machine: each is priced on a cluster of catalogue parts, so that every fitted factor belongs
// to a part.
#include "calibrate/collectives/fit_logs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/collectives/measured_collective.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

#define FEWEST_ROWS 6

// As the parts of a profile call them, in the order of measured_factors.
static const char *const factor_words[MEASURED_FACTORS] = {"collective_floor", "collective_hop", "collective_fill",
                                                           "collective_rate",  "collective_hop", "collective_rate",
                                                           "collective_pair"};
static const char *const factor_meanings[MEASURED_FACTORS] = {
    "start of a collective", "a step in a node",   "filling its pipeline",    "rate in a node",
    "a step between nodes",  "rate between nodes", "rate of one pair of NICs"};

typedef struct LogFit {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    const LogMachine *machine;
    Measurements logs;
    const Gpu *gpu;
    const FabricLink *link; // of those between nodes, or NULL
    bool inside, between;   // whether the logs cover either
} LogFit;

bool is_nccl_log(const char *path) {
    char head[4096] = "";
    FILE *file = file_peek(path);
    if (!file) return false;
    size_t length = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    head[length] = '\0';
    bool says = strcasestr(head, "nccl") || strstr(head, "busbw") || strstr(head, "nThread");
    return says && !strstr(head, "lockstep-bench");
}

// ---- The machine of a log.

static const char *fact_of(const NcclLog *log, const char *column) {
    for (int i = 0; i < log->fact_count; i++)
        if (strcmp(log->facts[i].column, column) == 0) return log->facts[i].value;
    return NULL;
}

static const NodeType *node_of_gpu(const LogFit *fit, const Gpu *gpu, int gpus, Where where) {
    const NodeType *found = node_with_gpus(fit->catalogue, gpu, gpus);
    if (found) return found;
    problem_add(fit->problems, where, "no node of the catalogue has %d %s", gpus, gpu->name);
    problem_hint(fit->problems,
                 "--node NAME says what the log was measured on; lockstep hw list node knows their names");
    return NULL;
}

static const NodeType *node_of_log(LogFit *fit, const NcclLog *log) {
    Where where = {log->path, 0};
    const char *gpu_name = fit->machine->gpu ? fit->machine->gpu : fact_of(log, "gpu");
    const char *slots = fact_of(log, "gpus_per_node");
    if (fit->machine->node) return find_node(fit->arena, fit->catalogue, fit->machine->node, where, fit->problems);
    if (!gpu_name || !slots) {
        problem_add(fit->problems, where, "the log does not say what it was measured on");
        problem_hint(fit->problems, "keep nccl-tests' list of ranks (\"#  Rank  0 … Pid … on … device …\"), or say "
                                    "--node NAME, and --nodes N --fabric NAME where there are several");
        return NULL;
    }
    const Gpu *gpu = find_gpu(fit->arena, fit->catalogue, gpu_name, where, fit->problems);
    return gpu ? node_of_gpu(fit, gpu, atoi(slots), where) : NULL;
}

static int nodes_of_log(const LogFit *fit, const NcclLog *log) {
    const char *said = fact_of(log, "nodes");
    return said ? atoi(said) : fit->machine->nodes > 0 ? fit->machine->nodes : 1;
}

static const Cluster *cluster_of_log(LogFit *fit, const NcclLog *log, int *ranks) {
    const NodeType *node = node_of_log(fit, log);
    int nodes = nodes_of_log(fit, log);
    if (!node) return NULL;
    const char *said = fact_of(log, "ranks");
    *ranks = said ? atoi(said) : nodes * node->gpu_count;
    Where where = {log->path, 0};
    if (*ranks > nodes * node->gpu_count || *ranks % nodes) {
        problem_add(fit->problems, where, "%d ranks do not fit evenly on %d nodes of %d GPUs (%s)", *ranks, nodes,
                    node->gpu_count, node->name);
        return NULL;
    }
    const FabricLink *link = NULL;
    if (nodes > 1 && !fit->machine->fabric) {
        problem_add(fit->problems, where, "the log is of %d nodes, and nothing says over which network", nodes);
        problem_hint(fit->problems, "for example --fabric ib-ndr400; lockstep hw list fabric knows their names");
        return NULL;
    }
    if (nodes > 1) link = find_link(fit->arena, fit->catalogue, fit->machine->fabric, where, fit->problems);
    if (nodes > 1 && !link) return NULL;
    NodeGroup *group = ARENA_NEW(fit->arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(fit->arena, ClusterSpec);
    *group = (NodeGroup){.where = where, .type = node, .gpus = nodes * node->gpu_count};
    *spec = (ClusterSpec){.where = where, .groups = group, .group_count = 1, .link = link, .price_per_gpu_hour = -1};
    fit->gpu = node_gpu(fit->catalogue, node, 0);
    if (link) fit->link = link;
    return cluster_create(fit->arena, fit->catalogue, spec, fit->problems);
}

// As many ranks of each node.
static int *ranks_of(Arena *arena, const Cluster *cluster, int nodes, int count) {
    int *ranks = ARENA_ARRAY(arena, int, count), each = count / nodes, slots = cluster->gpu_count / nodes;
    for (int i = 0; i < count; i++) ranks[i] = i / each * slots + i % each;
    return ranks;
}

static bool add_log(LogFit *fit, const char *path) {
    const NcclLog *log = nccl_log_read(fit->arena, path, fit->problems);
    CollectiveOp op;
    int count = 0;
    if (!log) return false;
    if (!nccl_op_from_name(*log->op ? log->op : log->name, &op)) {
        problem_add(fit->problems, (Where){path, 0}, "the log does not say its operation");
        problem_hint(fit->problems, "add a line \"# op: all_reduce\"");
        return false;
    }
    const Cluster *cluster = cluster_of_log(fit, log, &count);
    if (!cluster) return false;
    int nodes = nodes_of_log(fit, log);
    if (count < 2 || log->row_count == 0) {
        problem_add(fit->problems, (Where){path, 0}, "%s",
                    count < 2 ? "one rank exchanges nothing" : "no result is in this");
        return false;
    }
    CollectiveRequest request = {.op = op,
                                 .backend = BACKEND_NCCL,
                                 .ranks = ranks_of(fit->arena, cluster, nodes, count),
                                 .rank_count = count,
                                 .shift = op == COLLECTIVE_SEND_RECV,
                                 .nccl_version = log->nccl_version,
                                 .gpus_per_process = log->gpus_per_process > 0 ? log->gpus_per_process : 1};
    MeasuredCollective measured = {.log = log,
                                   .op = op,
                                   .price = collective_price_create(fit->arena, cluster->network, &request),
                                   .predicted = ARENA_ARRAY(fit->arena, double, log->row_count)};
    find_what_matters(fit->arena, &measured, NULL);
    LIST_PUSH(fit->arena, &fit->logs, measured);
    fit->inside |= count / nodes > 1;
    fit->between |= nodes > 1;
    return true;
}

// ---- The fit.

// The factors that the logs can determine: indices in measured_factors.
static int chosen_factors(const LogFit *fit, int *places, ConstantId *ids) {
    int count = 0;
    for (int i = 0; i < MEASURED_FACTORS; i++) {
        bool of_a_node = i == 1 || i == 3;
        if ((of_a_node && !fit->inside) || (i >= NODE_FACTORS && !fit->between)) continue;
        places[count] = i;
        ids[count++] = measured_factors[i];
    }
    return count;
}

// Median of |predicted / measured - 1| over the rows of a log from the first in steps.
static double median_error(Arena *arena, const MeasuredCollective *measured, const NcclConstants *constants, int first,
                           int step) {
    const NcclLog *log = measured->log;
    double *errors = ARENA_ARRAY(arena, double, log->row_count);
    int count = 0;
    for (int r = first; r < log->row_count; r += step)
        errors[count++] =
            fabs(collective_price_seconds(measured->price, log->rows[r].bytes, constants) / log->rows[r].seconds - 1);
    return count ? quantile(arena, errors, count, 0.5) : NAN;
}

// Every other size of each log, as logs of their own.
static Measurements half_of(Arena *arena, const Measurements *logs) {
    Measurements half = {.items = ARENA_ARRAY(arena, MeasuredCollective, logs->count)};
    for (int l = 0; l < logs->count; l++) {
        NcclLog *log = ARENA_NEW(arena, NcclLog);
        *log = *logs->items[l].log;
        log->rows = ARENA_ARRAY(arena, NcclRow, log->row_count);
        log->row_count = 0;
        for (int r = 0; r < logs->items[l].log->row_count; r += 2)
            log->rows[log->row_count++] = logs->items[l].log->rows[r];
        half.items[half.count] = logs->items[l];
        half.items[half.count++].log = log;
    }
    return half;
}

static void add_errors(Answer *answer, const LogFit *fit, const NcclConstants *before, const NcclConstants *after,
                       const NcclConstants *of_half) {
    static const AnswerColumn columns[] = {{"log", "median error, %", AS_TEXT, 0},
                                           {"sizes", "sizes", AS_WHOLE, 0},
                                           {"catalogue_pct", "catalogue", AS_NUMBER, 0},
                                           {"fitted_pct", "fitted", AS_NUMBER, 0},
                                           {"held_out_pct", "held out", AS_NUMBER, 0}};
    answer_table(answer, "errors", NULL, COLUMNS(columns));
    for (int l = 0; l < fit->logs.count; l++) {
        const MeasuredCollective *measured = &fit->logs.items[l];
        ANSWER_ROW(answer, measured->log->name, measured->log->row_count,
                   100 * median_error(fit->arena, measured, before, 0, 1),
                   100 * median_error(fit->arena, measured, after, 0, 1),
                   100 * median_error(fit->arena, measured, of_half, 1, 2));
    }
    answer_first_rows(answer, 9);
    answer_note(answer, "Held out: every other size, predicted by a fit to the rest.");
}

// ---- The profile.

static void write_factor(JsonWriter *json, const char *key, double value, double sigma, const char *source) {
    json_key(json, key);
    json_begin_list(json);
    json_write_number(json, round(value * 1e4) / 1e4);
    json_write_text(json, "measured");
    json_write_text(json, source);
    json_write_number(json, round(sigma * 1e4) / 1e4);
    json_end_list(json);
}

typedef struct Part {
    const char *list, *name;
    int from, to; // of measured_factors
} Part;

static void write_part(JsonWriter *json, const Part *part, const double *values, const double *sigmas,
                       const char *source) {
    json_key(json, part->list);
    json_begin_list(json);
    json_begin_object(json);
    json_key(json, "name");
    json_write_text(json, part->name);
    json_key(json, "like");
    json_write_text(json, part->name);
    for (int i = part->from; i < part->to; i++)
        if (values[i] > 0) write_factor(json, factor_words[i], values[i], sigmas[i], source);
    json_end_object(json);
    json_end_list(json);
}

static bool write_profile(const LogFit *fit, const double *values, const double *sigmas, const char *path) {
    OutputFile file;
    if (!file_create(fit->arena, path, &file, fit->problems)) return false;
    JsonWriter json = json_writer(file.stream, 2);
    const char *source = arena_printf(fit->arena, "lockstep calibrate fit on %d log%s of nccl-tests", fit->logs.count,
                                      fit->logs.count > 1 ? "s" : "");
    Part gpu = {"gpus", fit->gpu->name, 0, NODE_FACTORS};
    json_begin_object(&json);
    json_key(&json, "format");
    json_write_text(&json, "lockstep-hardware");
    json_key(&json, "format_version");
    json_write_number(&json, 1);
    write_part(&json, &gpu, values, sigmas, source);
    if (fit->between) {
        Part link = {"fabrics", fit->link->name, NODE_FACTORS, MEASURED_FACTORS};
        write_part(&json, &link, values, sigmas, source);
    }
    json_end_object(&json);
    fprintf(file.stream, "\n");
    return file_commit(&file, fit->problems);
}

// ---- The command.

static bool read_all(LogFit *fit, const char *const *paths, int count) {
    for (int i = 0; i < count; i++) {
        const Gpu *gpu = fit->gpu;
        if (!add_log(fit, paths[i])) return false;
        if (!gpu || gpu == fit->gpu) continue;
        problem_add(fit->problems, (Where){paths[i], 0}, "logs of %s and of %s are of two machines", gpu->name,
                    fit->gpu->name);
        problem_hint(fit->problems, "fit them one after the other");
        return false;
    }
    int rows = 0;
    for (int l = 0; l < fit->logs.count; l++) rows += fit->logs.items[l].log->row_count;
    if (rows >= FEWEST_ROWS) return true;
    problem_add(fit->problems, (Where){paths[0], 0}, "%d sizes are too few: a fit takes %d", rows, FEWEST_ROWS);
    problem_hint(fit->problems, "all_reduce_perf -b 8 -e 8G -f 2 measures 31");
    return false;
}

int fit_logs(Asking *asking, const Catalogue *catalogue, const char *const *paths, int count,
             const LogMachine *machine) {
    static const AnswerColumn columns[] = {{"factor", "factor, usual is 1", AS_TEXT, 0},
                                           {"value", "value", AS_NUMBER, 0},
                                           {"sigma_pct", "one sigma, %", AS_NUMBER, 0}};
    Arena *arena = asking->arena;
    Answer *answer = asking->answer;
    LogFit fit = {.arena = arena, .problems = asking->problems, .catalogue = catalogue, .machine = machine};
    if (!read_all(&fit, paths, count)) return EXIT_BAD_INPUT;
    int places[MEASURED_FACTORS];
    ConstantId ids[MEASURED_FACTORS];
    int chosen = chosen_factors(&fit, places, ids);
    NcclConstants before = nccl_constants_shipped(), after = before, of_half = before;
    double *sigma = ARENA_ARRAY(arena, double, chosen), values[MEASURED_FACTORS] = {0}, sigmas[MEASURED_FACTORS] = {0};
    Measurements half = half_of(arena, &fit.logs);
    fit_these(arena, &half, ids, chosen, &of_half, sigma);
    fit_these(arena, &fit.logs, ids, chosen, &after, sigma);
    answer_rename(answer, "calibrate-fit-nccl");
    answer_say(answer, NULL, "%s%s%s: %d log%s of nccl-tests.", fit.gpu->name, fit.link ? " over " : "",
               fit.link ? fit.link->name : "", fit.logs.count, fit.logs.count > 1 ? "s" : "");
    answer_text(answer, "gpu", NULL, fit.gpu->name);
    if (fit.link) answer_text(answer, "link", NULL, fit.link->name);
    answer_table(answer, "factors", NULL, COLUMNS(columns));
    for (int i = 0; i < chosen; i++) {
        values[places[i]] = after.values[ids[i]] / before.values[ids[i]];
        sigmas[places[i]] = sigma[i];
        ANSWER_ROW(answer, factor_meanings[places[i]], values[places[i]], 100 * sigma[i]);
    }
    add_errors(answer, &fit, &before, &after, &of_half);
    const char *output = option_text(asking->options, "output", NULL);
    return !output || write_profile(&fit, values, sigmas, output) ? EXIT_DONE : EXIT_FAILED;
}
