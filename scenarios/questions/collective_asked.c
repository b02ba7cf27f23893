// Parses the options of a collective, and builds its machine.
#include "scenarios/questions/collective_asked.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/job/job.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

const char *const collective_backends[] = {"nccl", "gloo", "mpi"};
const char *const collective_algorithms[] = {"ring",
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
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define ALGORITHMS COUNT_OF(collective_algorithms)

const OptionSpec collective_rows[] = {
    {"op", OPTION_TEXT, "NAME", .of = OF_QUESTION,
     .help = "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, …"},
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION,
     .help = "type of node (see: lockstep hw list node), or a file with the output of nvidia-smi topo -m or NCCL's "
             "topology XML"},
    NODE_FILE_GPU,
    {"nodes", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "how many whole nodes; when left out: 1"},
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs in all, instead of --nodes"},
    {"fabric", OPTION_TEXT, "NAME", .of = OF_QUESTION,
     .help = "link between nodes, with :kind:name=value… or :FILE behind it (see: lockstep hw list fabric)"},
    {"sizes", OPTION_TEXT, "FIRST:LAST:FACTOR", .of = OF_QUESTION,
     .help = "sizes in bytes, K M G binary: 8:8G:2, or one: 64M"},
    {"algo", OPTION_CHOICE, .of = OF_QUESTION, .help = "instead of the back end's own choice",
     .choices = collective_algorithms, .choice_count = ALGORITHMS},
    {"matrix", OPTION_TEXT, "FILE", .of = OF_QUESTION,
     .help = "all_to_all_v: bytes of each sender (row) for each receiver, or one row for all; sizes scale it"},
    {"uneven", OPTION_QUANTITY, "N", .of = OF_QUESTION,
     .help = "all_to_all: rank 0 gets N times as much as each other; 1", .quantity = QUANTITY_NUMBER},
    {"proto", OPTION_CHOICE, .of = OF_QUESTION, .help = "instead of the back end's own choice",
     .choices = protocol_names, .choice_count = PROTOCOL_COUNT},
    {"version", OPTION_TEXT, "2.N", .of = OF_QUESTION, .help = "NCCL's version; when left out: one usual with the GPU"},
    {"gpus-per-process", OPTION_COUNT, "N", .of = OF_QUESTION,
     .help = "nccl-tests' -g: one process launches for so many GPUs; 1"},
    {"backend", OPTION_CHOICE, .of = OF_QUESTION, .help = "nccl, gloo or mpi", .choices = collective_backends,
     .choice_count = COUNT_OF(collective_backends)},
    PROFILE_OPTION,
    {"cpu", OPTION_FLAG, .of = OF_QUESTION, .help = "arrays in CPU memory (gloo and mpi)"},
    THREADS_OPTION,
    WATCH_OPTIONS,
};
const int collective_row_count = COUNT_OF(collective_rows);

// ---- Options.
// nccl-tests' own spelling: K, M and G are binary, and so are k, m and g.
static bool read_size(const char *text, double *bytes) {
    char *end;
    *bytes = strtod(text, &end);
    if (end == text || !(*bytes > 0)) return false;
    static const char letters[] = "KMGT";
    const char *letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    if (letter) *bytes *= pow(1024, (double)(letter - letters + 1)), end++;
    return *end == '\0';
}

// Rows that not every command has that asks of a collective.
static bool is_given(const Options *options, const char *name) {
    return option_known(options, name) && option_given(options, name);
}

static double read_bound(const Options *options, const char *name, double fallback, Problems *problems) {
    const char *text = is_given(options, name) ? option_text(options, name, NULL) : NULL;
    double bytes = fallback;
    if (!text || read_size(text, &bytes)) return bytes;
    problem_add(problems, (Where){0}, "--%s \"%s\" is no size", name, text);
    problem_hint(problems, "bytes, or with K, M or G as nccl-tests has them: 64M");
    return fallback;
}

// "8:8G:2"; missing parts default to one size, or times 2.
static bool read_list(CollectiveAsked *asked, const char *sizes) {
    char *copy = arena_copy_text(asked->arena, sizes), *rest;
    const char *first = strtok_r(copy, ":", &rest), *last = strtok_r(NULL, ":", &rest),
               *factor = strtok_r(NULL, ":", &rest);
    if (!first || !read_size(first, &asked->first)) return false;
    asked->last = asked->first;
    if (last && !read_size(last, &asked->last)) return false;
    if (factor && !read_size(factor, &asked->factor)) return false;
    return !strtok_r(NULL, ":", &rest);
}

static void read_sizes(CollectiveAsked *asked, const Options *options, Problems *problems) {
    const char *sizes = option_text(options, "sizes", NULL);
    asked->first = read_bound(options, "begin", 8, problems);
    asked->last = read_bound(options, "end", 8.0 * 1024 * 1024 * 1024, problems);
    asked->factor = is_given(options, "factor") ? option_quantity(options, "factor", 2) : 2;
    if (sizes && !read_list(asked, sizes)) {
        problem_add(problems, (Where){0}, "--sizes \"%s\" is not FIRST:LAST:FACTOR", sizes);
        problem_hint(problems, "for example --sizes 8:8G:2, or one size: --sizes 64M");
        return;
    }
    if (asked->first < 1 || asked->last > 1e15 || asked->last < asked->first || !(asked->factor > 1) ||
        log(asked->last / asked->first) / log(asked->factor) > COLLECTIVE_SIZES - 2) {
        problem_add(problems, (Where){0}, "sizes from %g to %g times %g are no list of at most %d sizes", asked->first,
                    asked->last, asked->factor, COLLECTIVE_SIZES);
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

static void ask_op(CollectiveAsked *asked, const Options *options, Problems *problems) {
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

void collective_ask(CollectiveAsked *asked, const Options *options) {
    Problems *problems = asked->problems;
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
    if (algorithm >= 0) request->algorithm = collective_algorithms[algorithm];
    if (protocol >= 0) asked->protocol = (Protocol)protocol, request->protocol = &asked->protocol;
    request->backend = (Backend)option_choice(options, "backend", BACKEND_NCCL);
    request->nccl_version = read_version(option_text(options, "version", NULL), problems);
    request->gpus_per_process = (int)option_count(options, "gpus-per-process", 1);
    if (!request->nccl_version) asked->assumed[asked->assumed_count++] = "nccl_version";
    if (!option_given(options, "gpus-per-process")) asked->assumed[asked->assumed_count++] = "launch";
    request->on_host = option_flag(options, "cpu");
    request->shift = request->op == COLLECTIVE_SEND_RECV;
    if (is_given(options, "fidelity")) asked->fidelity = (CollectiveFidelity)option_choice(options, "fidelity", 0);
    asked->by_messages = asked->fidelity != AS_FLUID;
    if (is_given(options, "steps")) {
        asked->by_messages = true;
        if (algorithm >= 0 || (is_given(options, "fidelity") && asked->fidelity == AS_FLUID))
            problem_add(problems, (Where){0},
                        "--steps is an algorithm message by message; leave --algo and --fidelity fluid out");
    }
    bool open = option_known(options, "fidelity") && !option_given(options, "fidelity"); // then the algorithm decides
    if (algorithm >= COLLECTIVE_FLUID_ALGORITHMS && open) asked->by_messages = true;
    if (algorithm >= COLLECTIVE_FLUID_ALGORITHMS && !asked->by_messages) {
        problem_add(problems, (Where){0}, "--algo %s is simulated message by message only", request->algorithm);
        problem_hint(problems, option_known(options, "fidelity") ? "add --fidelity flow"
                                                                 : "lockstep collective has --fidelity flow");
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

static void read_matrix(CollectiveAsked *asked, const Options *options, Problems *problems) {
    int ranks = asked->request.rank_count;
    asked->pairs = pair_matrix_read(asked->arena, option_text(options, "matrix", ""), ranks, problems);
    if (!asked->pairs || option_given(options, "sizes") || is_given(options, "begin") || is_given(options, "end"))
        return;
    asked->first = asked->last = pair_matrix_mean(asked->pairs, ranks);
}

// Whoever sends, rank 0 gets `uneven` times as much of it as each other rank.
const double *collective_pairs(const CollectiveAsked *asked, double bytes) {
    int n = asked->request.rank_count;
    if (asked->uneven == 1 && !asked->pairs) return NULL;
    double *pairs = ARENA_ARRAY(asked->arena, double, (size_t)n *(size_t)n), share = bytes / (n - 1 + asked->uneven);
    double scale = asked->pairs ? bytes / pair_matrix_mean(asked->pairs, n) : 1;
    for (int i = 0; i < n * n; i++)
        pairs[i] = asked->pairs ? scale * asked->pairs[i] : share * (i % n == 0 ? asked->uneven : 1);
    return pairs;
}

const FlowPlan *collective_messages(Arena *arena, const CollectiveAsked *asked, const CollectiveRequest *request,
                                    Problems *problems) {
    const char *why, *remedy;
    const FlowPlan *plan = flow_plan(arena, asked->cluster->network, request, &why, &remedy);
    if (plan) return plan;
    problem_add(problems, (Where){0}, "%s", why);
    return problem_hint(problems, "%s", remedy), NULL;
}

// The modified machine: a resource of all its parts faster, or no tiers of switches.
static const Catalogue *change_machine(const CollectiveAsked *asked, const Catalogue *base, NodeGroup *group,
                                       ClusterSpec *spec) {
    if (asked->flat) spec->layout = NULL;
    if (!asked->resource) return base;
    Arena *arena = asked->arena;
    const Resource *resource = asked->resource;
    const Catalogue *changed = catalogue_quicker(arena, base, resource, asked->quicker);
    group->type = part_in_place(arena, PART_NODE, base, changed, group->type, resource, asked->quicker);
    spec->link = part_in_place(arena, PART_FABRIC, base, changed, spec->link, resource, asked->quicker);
    return changed;
}

void collective_build(CollectiveAsked *asked, const Options *options) {
    Problems *problems = asked->problems;
    Arena *arena = asked->arena;
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = node_from_options(arena, catalogue, options, "", problems)};
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
    catalogue = change_machine(asked, catalogue, group, spec);
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
        collective_messages(arena, asked, &asked->request, problems);
    if (option_given(options, "matrix") && !problem_count(problems)) read_matrix(asked, options, problems);
    if (is_given(options, "steps") && !problem_count(problems))
        asked->steps = lua_steps_open(arena, option_text(options, "steps", ""),
                                      (WallMode)option_choice(options, "wall", WALL_AUTO), problems);
}

// ---- The limit of a collective, and whether it is as requested.
const char *collective_limit(const CollectiveAsked *asked, const CollectivePlan *plan) {
    int links;
    const Link *all = network_links(asked->cluster->network, &links);
    if (plan->limiting_link < 0) return "latency";
    // Bytes move as fast as the narrower of link and software lets them.
    bool by_software =
        plan->plan.rate_limit > 0 && plan->moving_seconds > plan->plan.bytes / plan->plan.rate_limit * (1 - 1e-9);
    const FabricLink *link = asked->cluster->spec->link;
    bool by_sockets = link && link->transport == TRANSPORT_TCP && asked->cluster->node_count > 1;
    return by_software && by_sockets ? SOCKETS_LIMIT : all[plan->limiting_link].name;
}

// Otherwise another algorithm's time would be shown under the requested name.
bool collective_is_as_asked(const CollectiveRequest *request, const CollectivePlan *plan) {
    if (!plan->algorithm) return false; // no result
    bool other = request->algorithm && strcmp(request->algorithm, plan->algorithm) != 0;
    return !other && !(request->protocol && plan->protocol != *request->protocol);
}

void collective_refuse_another(const CollectiveAsked *asked, const CollectivePlan *plan) {
    const CollectiveRequest *request = &asked->request;
    const char *op = collective_op_name(request->op), *backend = collective_backends[request->backend];
    bool refused = !plan->algorithm; // the plan has its own problem
    if (asked->steps || refused || strcmp(plan->algorithm, "none") == 0) return;
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
