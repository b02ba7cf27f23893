// lockstep collective: nccl-tests' table for a cluster of the catalogue, and what decides each row.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/network/flows.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/cluster/imported_node.h"
#include "models/workload/cluster/pair_matrix.h"
#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/commands.h"
#include "sim/envelope.h"
#include "sim/watch.h"

#define SIZE_LIMIT 256
#define ELEMENT_BYTES 4 // nccl-tests' float

static const char *const backend_names[] = {"nccl", "gloo", "mpi"};
#define FLUID_ALGORITHMS 6 // the others exist message by message only
static const char *const algorithm_choices[] = {"ring",
                                                "tree",
                                                "nvls",
                                                "nvls_tree",
                                                "collnet",
                                                "pat",
                                                "hierarchical",
                                                "direct",
                                                "rabenseifner",
                                                "halving_doubling",
                                                "recursive_doubling",
                                                "binomial",
                                                "bruck",
                                                "pairwise",
                                                "linear",
                                                "dissemination"};
static const char *const fidelity_names[] = {"fluid", "flow"};

static const OptionSpec specs[] = {
    {"op", OPTION_TEXT, "NAME", .help = "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, …"},
    {"node", OPTION_TEXT, "NAME",
     .help = "type of node (see: lockstep hw list node), or a file with the output of nvidia-smi topo -m or NCCL's "
             "topology XML"},
    {"gpu", OPTION_TEXT, "NAME", .help = "GPU of an imported node (see: lockstep hw list gpu)"},
    {"nodes", OPTION_COUNT, "N", .help = "how many whole nodes; when left out: 1"},
    {"gpus", OPTION_COUNT, "N", .help = "GPUs in all, instead of --nodes"},
    {"fabric", OPTION_TEXT, "NAME",
     .help = "link between nodes, with :kind:name=value… or :FILE.json behind it (see: lockstep hw list fabric)"},
    {"begin", OPTION_TEXT, "SIZE", .help = "first size; 8", .letter = 'b'},
    {"end", OPTION_TEXT, "SIZE", .help = "last size; 8G", .letter = 'e'},
    {"factor", OPTION_QUANTITY, "N", .help = "each size times the one before; 2", .letter = 'f',
     .quantity = QUANTITY_NUMBER},
    {"sizes", OPTION_TEXT, "FIRST:LAST:FACTOR", .help = "the same three in one, K M G binary: 8:8G:2"},
    {"algo", OPTION_CHOICE, .help = "instead of the back end's own choice", .choices = algorithm_choices,
     .choice_count = COUNT_OF(algorithm_choices)},
    {"fidelity", OPTION_CHOICE, .help = "fluid: all of it at once; flow: message by message; fluid",
     .choices = fidelity_names, .choice_count = COUNT_OF(fidelity_names)},
    {"steps", OPTION_TEXT, "FILE.lua", .help = "an algorithm of your own: what each rank sends and receives, by step"},
    WALL_OPTION,
    {"matrix", OPTION_TEXT, "FILE",
     .help = "all_to_all_v: bytes of each sender (row) for each receiver, or one row for all; sizes scale it"},
    {"uneven", OPTION_QUANTITY, "N", .help = "all_to_all: rank 0 gets N times as much as each other; 1",
     .quantity = QUANTITY_NUMBER},
    {"proto", OPTION_CHOICE, .help = "instead of the back end's own choice", .choices = protocol_names,
     .choice_count = PROTOCOL_COUNT},
    {"version", OPTION_TEXT, "2.N", .help = "NCCL's version; when left out: one usual with the GPU"},
    {"gpus-per-process", OPTION_COUNT, "N", .help = "nccl-tests' -g: one process launches for so many GPUs; 1"},
    {"backend", OPTION_CHOICE, .help = "nccl, gloo or mpi", .choices = backend_names,
     .choice_count = COUNT_OF(backend_names)},
    {"profile", OPTION_TEXT, "FILE.json", .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"cpu", OPTION_FLAG, .help = "arrays in CPU memory (gloo and mpi)"},
    {"json", OPTION_FLAG, .help = "print JSON instead of a table"},
    {"verbose", OPTION_FLAG, .help = "also the times between which it lies nine times in ten", .letter = 'v'},
    {"csv", OPTION_FLAG, .help = "print CSV instead of a table"},
    WATCH_OPTIONS,
};

static const char usage[] =
    "lockstep collective OP --node NAME [--nodes N --fabric NAME] [--sizes 8:8G:2] [--algo NAME]";
static const char about[] =
    "Prints nccl-tests' columns for a simulated cluster, with algorithm, protocol, channels, and the\n"
    "link that limits (\"latency\" where none does). Sizes are whole arrays as nccl-tests counts them.\n"
    "Exit codes: 0 done, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Asked {
    Arena *arena;
    const Cluster *cluster;
    CollectiveRequest request;
    Protocol protocol; // that it asks for
    double first, last, factor;
    bool verbose;
    const char *assumed[2]; // what was not said about the machine
    int assumed_count;
    double uneven;       // all_to_all: what rank 0 gets against the others
    const double *pairs; // all_to_all: [from][to], or NULL
    bool by_messages;
    const StepSource *source;
    StepReader *steps; // of the user's own, or NULL
    Problems *problems;
} Asked;

typedef struct Row {
    double bytes, seconds, low, high, algorithm_rate, bus_rate; // nine times in ten it takes low to high seconds
    CollectivePlan plan;
    const char *limited_by;
} Row;

// ---- What is asked.
// nccl-tests' own spelling: K, M and G are binary.
static bool read_size(const char *text, double *bytes) {
    char *end;
    *bytes = strtod(text, &end);
    if (end == text || !(*bytes > 0)) return false;
    static const char letters[] = "KMGT";
    const char *letter = *end ? strchr(letters, *end) : NULL;
    if (letter) *bytes *= pow(1024, (double)(letter - letters + 1)), end++;
    return *end == '\0';
}

static double read_bound(const Options *options, const char *name, double fallback, Problems *problems) {
    const char *text = option_text(options, name, NULL);
    double bytes = fallback;
    if (!text || read_size(text, &bytes)) return bytes;
    problem_add(problems, (Where){0}, "--%s \"%s\" is no size", name, text);
    problem_hint(problems, "bytes, or with K, M or G as nccl-tests has them: 64M");
    return fallback;
}

// "8:8G:2"; what is left out of it stays at one size, or times 2.
static bool read_list(Asked *asked, const char *sizes) {
    char *copy = arena_copy_text(asked->arena, sizes), *rest;
    const char *first = strtok_r(copy, ":", &rest), *last = strtok_r(NULL, ":", &rest),
               *factor = strtok_r(NULL, ":", &rest);
    if (!first || !read_size(first, &asked->first)) return false;
    asked->last = asked->first;
    if (last && !read_size(last, &asked->last)) return false;
    if (factor && !read_size(factor, &asked->factor)) return false;
    return !strtok_r(NULL, ":", &rest);
}

static void read_sizes(Asked *asked, const Options *options, Problems *problems) {
    const char *sizes = option_text(options, "sizes", NULL);
    asked->first = read_bound(options, "begin", 8, problems);
    asked->last = read_bound(options, "end", 8.0 * 1024 * 1024 * 1024, problems);
    asked->factor = option_quantity(options, "factor", 2);
    if (sizes && !read_list(asked, sizes)) {
        problem_add(problems, (Where){0}, "--sizes \"%s\" is not FIRST:LAST:FACTOR", sizes);
        problem_hint(problems, "for example --sizes 8:8G:2, or one size: --sizes 64M");
        return;
    }
    if (asked->first < 1 || asked->last > 1e15 || asked->last < asked->first || !(asked->factor > 1) ||
        log(asked->last / asked->first) / log(asked->factor) > SIZE_LIMIT - 2) {
        problem_add(problems, (Where){0}, "sizes from %g to %g times %g are no list of at most %d sizes", asked->first,
                    asked->last, asked->factor, SIZE_LIMIT);
        problem_hint(problems, "the first is 1 or more, the last not below it, the factor above 1");
    }
}

static int read_version(const char *text, Problems *problems) {
    int part[3] = {0}, used = 0;
    if (!text) return 0;
    int parts = sscanf(text, "%d.%d%n.%d%n", &part[0], &part[1], &used, &part[2], &used);
    if (parts >= 2 && text[used] == '\0' && part[0] == 2 && part[1] >= 4 && part[1] < 100 && part[2] >= 0 &&
        part[2] < 100)
        return part[0] * 10000 + part[1] * 100 + part[2];
    problem_add(problems, (Where){0}, "\"%s\" is no version of NCCL that is known here", text);
    problem_hint(problems, "2.4 and later, for example --version 2.21");
    return 0;
}

static bool read_op(const char *name, CollectiveOp *op) {
    static const struct {
        const char *name;
        CollectiveOp op;
    } others[] = {{"alltoall", COLLECTIVE_ALL_TO_ALL},  {"all_to_all_v", COLLECTIVE_ALL_TO_ALL},
                  {"alltoallv", COLLECTIVE_ALL_TO_ALL}, {"sendrecv", COLLECTIVE_SEND_RECV},
                  {"send", COLLECTIVE_SEND_RECV},       {"recv", COLLECTIVE_SEND_RECV}};
    for (int i = 0; i < COUNT_OF(others); i++)
        if (strcmp(name, others[i].name) == 0) return *op = others[i].op, true;
    return collective_op_from_name(name, op);
}

static void ask_op(Asked *asked, const Options *options, Problems *problems) {
    const char *names[COLLECTIVE_OP_COUNT];
    const char *name =
        option_positional_count(options) > 0 ? option_positional(options, 0) : option_text(options, "op", NULL);
    for (int i = 0; i < COLLECTIVE_OP_COUNT; i++) names[i] = collective_op_name((CollectiveOp)i);
    if (!name) {
        problem_add(problems, (Where){0}, "collective needs an operation");
        problem_hint(problems, "for example: lockstep collective all_reduce --node dgx-h100");
    } else if (!read_op(name, &asked->request.op)) {
        problem_add(problems, (Where){0}, "no collective is called \"%s\"", name);
        problem_hint_names(problems, name, names, COLLECTIVE_OP_COUNT);
    }
}

static void ask(Asked *asked, const Options *options, Problems *problems) {
    options_refuse_positional(options, 1, problems);
    ask_op(asked, options, problems);
    if (!option_given(options, "node")) {
        problem_add(problems, (Where){0}, "collective needs a node");
        problem_hint(problems, "for example: lockstep collective all_reduce --node dgx-h100");
    }
    if (option_given(options, "nodes") && option_given(options, "gpus"))
        problem_add(problems, (Where){0}, "--nodes and --gpus say the same; give one of them");
    read_sizes(asked, options, problems);
    int algorithm = option_choice(options, "algo", -1), protocol = option_choice(options, "proto", -1);
    CollectiveRequest *request = &asked->request;
    if (algorithm >= 0) request->algorithm = algorithm_choices[algorithm];
    if (protocol >= 0) asked->protocol = (Protocol)protocol, request->protocol = &asked->protocol;
    request->backend = (Backend)option_choice(options, "backend", BACKEND_NCCL);
    request->nccl_version = read_version(option_text(options, "version", NULL), problems);
    request->gpus_per_process = (int)option_count(options, "gpus-per-process", 1);
    if (!request->nccl_version) asked->assumed[asked->assumed_count++] = "nccl_version";
    if (!option_given(options, "gpus-per-process")) asked->assumed[asked->assumed_count++] = "launch";
    request->on_host = option_flag(options, "cpu");
    request->shift = request->op == COLLECTIVE_SEND_RECV;
    asked->by_messages = option_choice(options, "fidelity", 0) == 1;
    if (option_given(options, "steps")) {
        asked->by_messages = true;
        if (algorithm >= 0 || (option_given(options, "fidelity") && option_choice(options, "fidelity", 0) == 0))
            problem_add(problems, (Where){0},
                        "--steps is an algorithm message by message; leave --algo and --fidelity out");
    }
    if (algorithm >= FLUID_ALGORITHMS && !asked->by_messages) {
        problem_add(problems, (Where){0}, "--algo %s is simulated message by message only", request->algorithm);
        problem_hint(problems, "add --fidelity flow");
    }
    asked->uneven = option_quantity(options, "uneven", 1);
    if (option_given(options, "uneven") && (request->op != COLLECTIVE_ALL_TO_ALL || !(asked->uneven > 0)))
        problem_add(problems, (Where){0}, "--uneven takes a factor above 0 and belongs to all_to_all");
    const char *named = option_positional_count(options) > 0 ? option_positional(options, 0) : "";
    bool varies = strcmp(named, "all_to_all_v") == 0 || strcmp(named, "alltoallv") == 0;
    if (varies && !option_given(options, "matrix") && !option_given(options, "uneven")) {
        problem_add(problems, (Where){0}, "%s needs to know who sends how much to whom", named);
        problem_hint(problems, "--matrix FILE, or --uneven N");
    }
    if (option_given(options, "matrix") && (request->op != COLLECTIVE_ALL_TO_ALL || option_given(options, "uneven")))
        problem_add(problems, (Where){0}, "--matrix belongs to all_to_all, without --uneven");
}

static void read_matrix(Asked *asked, const Options *options, Problems *problems) {
    int ranks = asked->request.rank_count;
    asked->pairs = pair_matrix_read(asked->arena, option_text(options, "matrix", ""), ranks, problems);
    if (!asked->pairs || option_given(options, "sizes") || option_given(options, "begin") ||
        option_given(options, "end"))
        return;
    asked->first = asked->last = pair_matrix_mean(asked->pairs, ranks);
}

// Whoever sends, rank 0 gets `uneven` times as much of it as each other rank.
static const double *uneven_bytes(const Asked *asked, double bytes) {
    int n = asked->request.rank_count;
    if (asked->uneven == 1 && !asked->pairs) return NULL;
    double *pairs = ARENA_ARRAY(asked->arena, double, (size_t)n *(size_t)n), share = bytes / (n - 1 + asked->uneven);
    double scale = asked->pairs ? bytes / pair_matrix_mean(asked->pairs, n) : 1;
    for (int i = 0; i < n * n; i++)
        pairs[i] = asked->pairs ? scale * asked->pairs[i] : share * (i % n == 0 ? asked->uneven : 1);
    return pairs;
}

static const FlowPlan *plan_messages(Arena *arena, const Asked *asked, const CollectiveRequest *request,
                                     Problems *problems) {
    const char *why, *remedy;
    const FlowPlan *plan = flow_plan(arena, asked->cluster->network, request, &why, &remedy);
    if (plan) return plan;
    problem_add(problems, (Where){0}, "%s", why);
    problem_hint(problems, "%s", remedy);
    return NULL;
}

static void build_cluster(Asked *asked, const Options *options, Problems *problems) {
    Arena *arena = asked->arena;
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = node_from_text(arena, catalogue, option_text(options, "node", ""),
                                                option_text(options, "gpu", NULL), (Where){0}, problems)};
    *spec = (ClusterSpec){.groups = group, .group_count = 1, .price_per_gpu_hour = -1};
    if (option_given(options, "fabric"))
        fabric_from_text(arena, catalogue, option_text(options, "fabric", ""), (Where){0}, &spec->link, &spec->layout,
                         problems);
    if (problem_count(problems)) return;
    double whole = (double)option_count(options, "nodes", 1) * group->type->gpu_count;
    double gpus = (double)option_count(options, "gpus", (int64_t)whole);
    if (gpus < 2 || gpus > 100000) {
        problem_add(problems, (Where){0}, "%.0f GPUs cannot be asked for", gpus);
        problem_hint(problems, "a collective joins 2 to 100,000 GPUs: say --gpus or --nodes");
        return;
    }
    group->gpus = (int)gpus;
    asked->cluster = cluster_create(arena, catalogue, spec, problems);
    if (!asked->cluster) return;
    int *ranks = ARENA_ARRAY(arena, int, group->gpus);
    for (int i = 0; i < group->gpus; i++) ranks[i] = i;
    asked->request.ranks = ranks;
    asked->request.rank_count = group->gpus;
    const char *why = "";
    if (!backend_supports(asked->request.backend, asked->request.op, !asked->request.on_host, true, &why))
        problem_add(problems, (Where){0}, "%s", why);
    else if (asked->by_messages)
        plan_messages(arena, asked, &asked->request, problems);
    if (option_given(options, "matrix") && !problem_count(problems)) read_matrix(asked, options, problems);
    if (option_given(options, "steps") && !problem_count(problems))
        asked->steps = asked->source->open(arena, option_text(options, "steps", ""),
                                           (WallMode)option_choice(options, "wall", WALL_AUTO), problems);
}

// ---- What comes out.
// nccl-tests' factor from algorithm to bus bandwidth (its doc/PERFORMANCE.md).
static double bus_factor(CollectiveOp op, int ranks) {
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (ranks - 1.0) / ranks;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
        return (ranks - 1.0) / ranks;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    return 1;
}

static bool reduces(CollectiveOp op) {
    return op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_REDUCE || op == COLLECTIVE_REDUCE_SCATTER;
}

// nccl-tests counts elements of one rank's part where the parts are spread.
static double count_of(CollectiveOp op, int ranks, double bytes) {
    bool parts = op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER || op == COLLECTIVE_ALL_TO_ALL ||
                 op == COLLECTIVE_GATHER || op == COLLECTIVE_SCATTER;
    return floor(bytes / ELEMENT_BYTES / (parts ? ranks : 1));
}

static const char *fluid_limit(const Asked *asked, const CollectivePlan *plan) {
    int links;
    const Link *all = network_links(asked->cluster->network, &links);
    return plan->limiting_link < 0 ? "latency" : all[plan->limiting_link].name;
}

// False after a problem.
static bool read_steps(const Asked *asked, Arena *scratch, CollectiveRequest *request) {
    const NodeType *node = asked->cluster->node_of[0];
    int per_node = node->gpu_count < request->rank_count ? node->gpu_count : request->rank_count;
    if (!asked->steps) return true;
    request->steps = asked->source->read(asked->steps, scratch, request->rank_count, per_node, request->bytes);
    return request->steps != NULL;
}

static bool is_allowed(const Asked *asked, Arena *scratch, const FlowPlan *plan) {
    FlowEstimate estimate = flow_estimate(plan);
    const char *what = arena_printf(scratch, "%s of %d GPUs message by message", collective_op_name(asked->request.op),
                                    asked->request.rank_count);
    return watch_allows(estimate.ops, estimate.bytes, what, "use fidelity fluid, or fewer GPUs", (Where){0},
                        asked->problems);
}

static void compute_row(const Asked *asked, CollectiveRequest *request, Row *row) {
    if (!asked->by_messages) {
        row->plan = collective_plan(asked->arena, asked->cluster->network, request);
        row->limited_by = fluid_limit(asked, &row->plan);
        return;
    }
    Arena *scratch = arena_open();
    if (!read_steps(asked, scratch, request)) {
        arena_close(scratch);
        return;
    }
    const FlowPlan *plan = plan_messages(scratch, asked, request, NULL);
    FlowSystem flows = {.stopped = true};
    FlowResult result = {.stopped = true};
    if (is_allowed(asked, scratch, plan)) flows = flow_system(scratch, plan);
    if (!flows.stopped) result = flow_run(scratch, plan, &flows, true);
    if (result.stopped) {
        watch_tells((Where){0}, asked->problems);
        arena_close(scratch);
        return;
    }
    row->plan = (CollectivePlan){.alone_seconds = result.seconds,
                                 .algorithm = asked->steps ? "written" : result.algorithm,
                                 .protocol = result.protocol,
                                 .channels = result.channels};
    if (isinf(result.seconds)) {
        problem_add(asked->problems, (Where){0},
                    "%.0f bytes take longer than 106 days of simulated time, the most its clock holds", request->bytes);
        problem_hint(asked->problems, "ask for smaller sizes, or for a faster fabric");
    }
    row->limited_by = result.limited_by ? arena_copy_text(asked->arena, result.limited_by) : "latency";
    arena_close(scratch);
}

// What was asked for by name and is not there would be another's time under its name.
static void refuse_another(const Asked *asked, const CollectivePlan *plan) {
    const CollectiveRequest *request = &asked->request;
    const char *op = collective_op_name(request->op), *backend = backend_names[request->backend];
    if (asked->steps || strcmp(plan->algorithm, "none") == 0) return;
    bool other_protocol = request->protocol && plan->protocol != *request->protocol;
    if (request->algorithm && strcmp(request->algorithm, plan->algorithm) != 0) {
        problem_add(asked->problems, (Where){0}, "%s does not run %s on these %d GPUs; %s would run %s",
                    request->algorithm, op, request->rank_count, backend, plan->algorithm);
        problem_hint(asked->problems, "leave --algo out, or ask for --algo %s", plan->algorithm);
    } else if (other_protocol && plan->protocol < PROTOCOL_COUNT) {
        problem_add(asked->problems, (Where){0}, "%s of %s has no protocol %s on these %d GPUs; %s would run %s",
                    plan->algorithm, op, protocol_names[*request->protocol], request->rank_count, backend,
                    protocol_names[plan->protocol]);
        problem_hint(asked->problems, "leave --proto out, or ask for --proto %s", protocol_names[plan->protocol]);
    } else if (other_protocol) {
        problem_add(asked->problems, (Where){0}, "%s has no protocols to choose from", backend);
        problem_hint(asked->problems, "leave --proto out");
    }
}

static double size_count(const Asked *asked) {
    double count = floor(log(asked->last / asked->first * (1 + 1e-9)) / log(asked->factor)) + 1;
    return asked->request.op == COLLECTIVE_BARRIER ? 1 : fmin(count, SIZE_LIMIT);
}

static int compute_rows(Asked *asked, Row *rows) {
    int count = 0;
    CollectiveRequest request = asked->request;
    WatchPiece piece;
    watch_begin(&piece, "the sizes", size_count(asked), false);
    for (double bytes = asked->first; bytes <= asked->last * (1 + 1e-9) && count < SIZE_LIMIT; bytes *= asked->factor) {
        request.bytes = floor(bytes + 0.5);
        Row *row = &rows[count++];
        request.pair_bytes = uneven_bytes(asked, request.bytes);
        compute_row(asked, &request, row);
        refuse_another(asked, &row->plan);
        if (problem_count(asked->problems) || !watch_goes_on(1)) break;
        row->bytes = request.bytes;
        row->seconds = row->plan.alone_seconds;
        double spread = collective_spread(asked->cluster->network, &request, asked->assumed, asked->assumed_count);
        row->low = row->seconds * exp(-RANGE_90 * spread);
        row->high = row->seconds * exp(RANGE_90 * spread);
        row->algorithm_rate = row->bytes / row->seconds;
        row->bus_rate = row->algorithm_rate * bus_factor(request.op, request.rank_count);
        if (request.op == COLLECTIVE_BARRIER) break;
    }
    watch_end(&piece);
    if (!watch_stopped()) return count;
    count--; // the one that was under way
    if (count == 0 || !watch_tells_part((Where){0}, asked->problems)) watch_tells((Where){0}, asked->problems);
    return count;
}

static void print_table(const Asked *asked, const Row *rows, int count) {
    const CollectiveRequest *request = &asked->request;
    const char *redop = reduces(request->op) ? "sum" : "none";
    bool rooted = request->op == COLLECTIVE_BROADCAST || request->op == COLLECTIVE_REDUCE ||
                  request->op == COLLECTIVE_GATHER || request->op == COLLECTIVE_SCATTER;
    printf("# %s over %s on %d GPUs of %d node%s, simulated%s\n", collective_op_name(request->op),
           backend_name(request->backend), asked->cluster->gpu_count, asked->cluster->node_count,
           asked->cluster->node_count == 1 ? "" : "s", asked->by_messages ? " message by message" : "");
    printf("# %10s %12s %8s %6s %5s %10s%s %8s %8s  %-18s %-7s %3s  %s\n", "size", "count", "type", "redop", "root",
           "time", asked->verbose ? "    time p5   time p95" : "", "algbw", "busbw", "algorithm", "proto", "ch",
           "limited by");
    printf("# %10s %12s %8s %6s %5s %10s%s %8s %8s\n", "(B)", "(elements)", "", "", "", "(us)",
           asked->verbose ? "       (us)       (us)" : "", "(GB/s)", "(GB/s)");
    for (int i = 0; i < count; i++) {
        const Row *row = &rows[i];
        char range[32] = "";
        if (asked->verbose) snprintf(range, sizeof range, " %10.2f %10.2f", 1e6 * row->low, 1e6 * row->high);
        printf("%12.0f %12.0f %8s %6s %5d %10.2f%s %8.2f %8.2f  %-18s %-7s %3d  %s\n", row->bytes,
               count_of(request->op, request->rank_count, row->bytes), "float", redop, rooted ? 0 : -1,
               1e6 * row->seconds, range, row->algorithm_rate / 1e9, row->bus_rate / 1e9, row->plan.algorithm,
               row->plan.protocol == PROTOCOL_COUNT ? "-" : protocol_names[row->plan.protocol], row->plan.channels,
               row->limited_by);
    }
}

static void print_csv(const Row *rows, int count) {
    printf("size,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol,channels,limited_by\n");
    for (int i = 0; i < count; i++)
        printf("%.0f,%.6g,%.6g,%.6g,%s,%s,%d,%s\n", rows[i].bytes, 1e6 * rows[i].seconds, rows[i].algorithm_rate / 1e9,
               rows[i].bus_rate / 1e9, rows[i].plan.algorithm, protocol_names[rows[i].plan.protocol],
               rows[i].plan.channels, rows[i].limited_by);
}

static void print_json(const Asked *asked, const Row *rows, int count) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "collective");
    write_text(&json, "op", collective_op_name(asked->request.op));
    write_text(&json, "backend", backend_name(asked->request.backend));
    write_integer(&json, "gpus", asked->cluster->gpu_count);
    write_integer(&json, "nodes", asked->cluster->node_count);
    json_key(&json, "results");
    json_begin_list(&json);
    for (int i = 0; i < count; i++) {
        json_begin_object(&json);
        write_number(&json, "size", rows[i].bytes);
        write_number(&json, "time_us", 1e6 * rows[i].seconds);
        write_number(&json, "time_us_p5", 1e6 * rows[i].low);
        write_number(&json, "time_us_p95", 1e6 * rows[i].high);
        write_number(&json, "algbw_gb_per_s", rows[i].algorithm_rate / 1e9);
        write_number(&json, "busbw_gb_per_s", rows[i].bus_rate / 1e9);
        write_text(&json, "algorithm", rows[i].plan.algorithm);
        write_text(&json, "protocol", protocol_names[rows[i].plan.protocol]);
        write_integer(&json, "channels", rows[i].plan.channels);
        write_text(&json, "limited_by", rows[i].limited_by);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static int print_rows(Asked *asked, const Options *options) {
    asked->verbose = option_flag(options, "verbose");
    Row *rows = ARENA_ARRAY(asked->arena, Row, SIZE_LIMIT);
    int count = compute_rows(asked, rows);
    bool part = count > 0 && watch_stopped() == WATCH_SIGNAL;
    if (problem_count(asked->problems) && !part) return command_fails(asked->problems, watch_status(EXIT_BAD_INPUT));
    if (option_flag(options, "json"))
        print_json(asked, rows, count);
    else if (option_flag(options, "csv"))
        print_csv(rows, count);
    else
        print_table(asked, rows, count);
    return part ? command_fails(asked->problems, watch_status(EXIT_DONE)) : EXIT_DONE;
}

int collective_with_steps(int argc, char **argv, const StepSource *source) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Options *options = options_parse(arena, specs, COUNT_OF(specs), argc, argv, problems);
    Asked asked = {.arena = arena, .problems = problems, .source = source};
    int end = EXIT_DONE;
    if (option_help(options)) {
        options_print_help(specs, COUNT_OF(specs), usage, about, stdout);
    } else {
        ask(&asked, options, problems);
        if (problem_count(problems)) {
            end = command_fails(problems, EXIT_USAGE);
        } else {
            build_cluster(&asked, options, problems);
            watch_open_from(options, option_quantity(options, "time-limit", WATCH_USUAL_SECONDS));
            end = problem_count(problems) ? command_fails(problems, EXIT_BAD_INPUT) : print_rows(&asked, options);
            watch_close();
            if (asked.steps) source->close(asked.steps);
        }
    }
    arena_close(arena);
    return end;
}
