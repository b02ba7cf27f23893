// Fits constants of the network model to measured collectives: those of the model, and those of one machine from its
// logs, as a profile.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

// ---- Fits constants of the network model to measured collectives.

#define NOISE 0.15        // of a logarithm: protocol switches make curves step by as much
#define SMALL_WEIGHT 0.7  // of sizes that latency decides, against the others
#define MACHINES_ENOUGH 4 // for conclusions about other machines
#define ROWS_OF_A_LOG 12  // taken of a log, evenly: errors of neighbouring sizes are correlated

#define FIRST_STEP 1e6 // of rates of long payloads, bytes
#define LAST_STEP 4e9
#define STEP_RATIO 1.19 // four to a doubling

// What a log's rows were predicted to take at one x.
typedef struct Known {
    double *x, *logarithms; // [id_count], [rows_taken]; NULL: nothing yet
} Known;

typedef struct Task {
    Arena *arena;
    const Measurements *logs;
    const double *weights;
    const ConstantId *ids;
    int id_count;
    const NcclConstants *start;
    double *spreads; // [id_count] of the priors
    Known *known;    // [logs->count]
} Task;

static NcclConstants constants_at(const Task *task, const double *x) {
    NcclConstants constants = *task->start;
    for (int p = 0; p < task->id_count; p++) constants.values[task->ids[p]] *= exp(x[p]);
    return constants;
}

static int rows_taken(const MeasuredCollective *measured) {
    return measured->log->row_count < ROWS_OF_A_LOG ? measured->log->row_count : ROWS_OF_A_LOG;
}

static const NcclRow *row_taken(const MeasuredCollective *measured, int i) {
    int taken = rows_taken(measured);
    return &measured->log->rows[(i * 2 + 1) * measured->log->row_count / (2 * taken)];
}

static void predict_rows(const MeasuredCollective *measured, const NcclConstants *constants, double *logarithms) {
    for (int i = 0; i < rows_taken(measured); i++) {
        const NcclRow *row = row_taken(measured, i);
        logarithms[i] = log(collective_price_seconds(measured->price, row->bytes, constants) / row->seconds);
    }
}

// Most constants have no effect on most logs, and a search that moves one of those need not predict the log again. A
// constant matters if any row's time changes with a third more or less of it, from its prior or from its shipped
// value. A platform's constant may come to matter during the search.
void find_what_matters(Arena *arena, MeasuredCollective *measured, const bool *without) {
    NcclConstants starts[] = {nccl_constants_prior(), nccl_constants_shipped()};
    double usual[ROWS_OF_A_LOG], other[ROWS_OF_A_LOG];
    size_t size = (size_t)rows_taken(measured) * sizeof *usual;
    measured->matters = ARENA_ARRAY(arena, bool, CONSTANT_COUNT);
    for (int id = 0; id < CONSTANT_COUNT; id++) measured->matters[id] = constant_rows[id].scope == SCOPE_PLATFORM;
    for (int s = 0; s < 2; s++) {
        if (without) memcpy(starts[s].without, without, sizeof starts[s].without);
        predict_rows(measured, &starts[s], usual);
        for (int id = 0; id < CONSTANT_COUNT; id++)
            for (int more = 0; more < 2 && !measured->matters[id]; more++) {
                NcclConstants moved = starts[s];
                moved.values[id] *= more ? 4.0 / 3 : 3.0 / 4;
                predict_rows(measured, &moved, other);
                measured->matters[id] = memcmp(usual, other, size) != 0;
            }
    }
}

// Where one constant differs, a search feels its way around x; where several do, it has gone on.
static const double *rows_at(const Task *task, int log, const double *x, const NcclConstants *constants,
                             double *scratch) {
    const MeasuredCollective *measured = &task->logs->items[log];
    Known *known = &task->known[log];
    int differing = 0;
    for (int p = 0; known->x && p < task->id_count; p++)
        differing += known->x[p] != x[p] && measured->matters[task->ids[p]];
    if (known->x && differing == 0) return known->logarithms;
    if (known->x && differing == 1) {
        predict_rows(measured, constants, scratch);
        return scratch;
    }
    if (!known->x)
        *known =
            (Known){ARENA_ARRAY(task->arena, double, task->id_count), ARENA_ARRAY(task->arena, double, ROWS_OF_A_LOG)};
    predict_rows(measured, constants, known->logarithms);
    memcpy(known->x, x, (size_t)task->id_count * sizeof *x);
    return known->logarithms;
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    NcclConstants constants = constants_at(task, x);
    double scratch[ROWS_OF_A_LOG];
    int at = 0;
    for (int l = 0; l < task->logs->count; l++) {
        if (task->weights[l] <= 0) continue;
        const MeasuredCollective *measured = &task->logs->items[l];
        int taken = rows_taken(measured);
        double weight = sqrt(task->weights[l] * ROWS_OF_A_LOG / taken / 4) / NOISE;
        const double *logarithms = rows_at(task, l, x, &constants, scratch);
        for (int i = 0; i < taken; i++) {
            double half = row_taken(measured, i)->bytes < LARGE_BYTES ? SMALL_WEIGHT : 1;
            out[at++] = half * weight * soften_residual(logarithms[i], NOISE);
        }
    }
    for (int p = 0; p < task->id_count; p++) out[at++] = x[p] / task->spreads[p];
}

int constants_of_scope(ConstantScope scope, ConstantId *ids) {
    int count = 0;
    for (int i = 0; i < CONSTANT_COUNT; i++)
        if (constant_rows[i].scope == scope) ids[count++] = (ConstantId)i;
    return count;
}

int machines_that_tell(const Measurements *logs, const double *weights, ConstantId id) {
    int machines = 0;
    for (int i = 0; i < logs->count; i++) {
        bool counts = weights[i] > 0 && logs->items[i].matters[id];
        for (int j = 0; j < i && counts; j++)
            counts = weights[j] <= 0 || !logs->items[j].matters[id] ||
                     strcmp(logs->items[i].machine, logs->items[j].machine) != 0;
        machines += counts;
    }
    return machines;
}

// Constants measured on few machines have a tighter prior: a few machines need not represent others.
static double spread_of(const Task *task, ConstantId id) {
    double evidence = sqrt(fmax(machines_that_tell(task->logs, task->weights, id), 1) / MACHINES_ENOUGH);
    return constant_rows[id].prior_spread * (constant_rows[id].scope == SCOPE_SHARED ? fmin(evidence, 1) : 1);
}

// From the x given.
static double search(Arena *arena, Task *task, int rows, double *x, double *sigma) {
    LeastSquares problem = {.parameter_count = task->id_count,
                            .residual_count = rows + task->id_count,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-3,
                            .most_iterations = 30,
                            .tolerance = 1e-3};
    task->known = ARENA_ARRAY(arena, Known, task->logs->count);
    return least_squares_solve(arena, &problem, x, sigma);
}

// Some machines carry long payloads at another rate than shorter ones. The step is searched for, and kept when it pays
// for its two parameters (Schwarz's criterion: a logarithm of the number of rows each).
static void find_step(Arena *arena, Task *task, int rows, NcclConstants *start, double *x) {
    double *step = &start->values[PLATFORM_LONG_BYTES], none = *step, best = none;
    double squares = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count) - 2 * log(rows);
    size_t size = (size_t)task->id_count * sizeof *x;
    for (double bytes = FIRST_STEP; bytes < LAST_STEP; bytes *= STEP_RATIO) {
        *step = bytes;
        memset(x, 0, size);
        double found = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count);
        if (found >= squares) continue;
        squares = found;
        best = bytes;
    }
    *step = best;
    memset(x, 0, size);
}

// The same of those constants alone, each log with the same weight.
static double fit_these(Arena *arena, const Measurements *logs, const ConstantId *ids, int count,
                        NcclConstants *constants, double *sigma) {
    NcclConstants start = *constants;
    double *weights = ARENA_ARRAY(arena, double, logs->count), *x = ARENA_ARRAY(arena, double, count);
    Task task = {arena, logs, weights, ids, count, &start, ARENA_ARRAY(arena, double, count), NULL};
    int rows = 0;
    for (int p = 0; p < count; p++) task.spreads[p] = constant_rows[ids[p]].prior_spread;
    for (int l = 0; l < logs->count; l++) {
        weights[l] = 1;
        rows += rows_taken(&logs->items[l]);
    }
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}

double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, const NcclConstants *near, double *sigma) {
    NcclConstants start = *constants;
    ConstantId ids[CONSTANT_COUNT];
    Task task = {arena, logs, weights, ids, constants_of_scope(scope, ids), &start, NULL, NULL};
    double *x = ARENA_ARRAY(arena, double, task.id_count);
    int rows = 0;
    task.spreads = ARENA_ARRAY(arena, double, task.id_count);
    for (int p = 0; p < task.id_count; p++) task.spreads[p] = spread_of(&task, ids[p]);
    for (int p = 0; near && p < task.id_count; p++) x[p] = log(near->values[ids[p]] / start.values[ids[p]]);
    for (int l = 0; l < logs->count; l++)
        if (weights[l] > 0) rows += rows_taken(&logs->items[l]);
    CHECK(rows > 0);
    if (scope == SCOPE_PLATFORM) find_step(arena, &task, rows, &start, x);
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}

// ---- Fit to the logs of one machine: each is priced on a cluster of catalogue parts, so that every fitted factor
// belongs to a part.

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
        return problem_hint(fit->problems, "add a line \"# op: all_reduce\"");
    }
    const Cluster *cluster = cluster_of_log(fit, log, &count);
    if (!cluster) return false;
    int nodes = nodes_of_log(fit, log);
    if (count < 2 || log->row_count == 0)
        return problem_add(fit->problems, (Where){path, 0}, "%s",
                           count < 2 ? "one rank exchanges nothing" : "no result is in this");
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
        return problem_hint(fit->problems, "fit them one after the other");
    }
    int rows = 0;
    for (int l = 0; l < fit->logs.count; l++) rows += fit->logs.items[l].log->row_count;
    if (rows >= FEWEST_ROWS) return true;
    problem_add(fit->problems, (Where){paths[0], 0}, "%d sizes are too few: a fit takes %d", rows, FEWEST_ROWS);
    return problem_hint(fit->problems, "all_reduce_perf -b 8 -e 8G -f 2 measures 31");
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
