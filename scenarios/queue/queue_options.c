// Options of `lockstep queue`, with quotas of groups and the preparation of jobs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/job/job.h"
#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- Quotas of groups from user input, and preparation of jobs before they run: groups, elastic jobs, MIG slices.

#define MOST_QUOTA 100000000

static const char *group_name(Arena *arena, const QueueStudy *study, int group) {
    if (study->trace) return study->trace->jobs->group_names[group];
    if (study->list) return study->list->user_names[group];
    return arena_printf(arena, "%d", group + 1); // drawn jobs: the k-th user
}

const char *queue_group_name(Arena *arena, const QueueStudy *study, int group) {
    const char *name = group_name(arena, study, group);
    return study->trace || study->list ? name : arena_printf(arena, "user %s", name);
}

int queue_study_groups(const QueueStudy *study) {
    if (study->trace) return study->trace->jobs->group_count;
    return study->list ? study->list->user_count : study->demand.users;
}

static bool bad_quota(const QueueStudy *study, const char *text, const char *hint, Problems *problems) {
    problem_add(problems, study->where, "\"%.60s\" is no quota", text);
    return problem_hint(problems, "%s", hint);
}

static bool set_quota(Arena *arena, const QueueStudy *study, const char *said, int32_t *quotas, Problems *problems) {
    const char *colon = strrchr(said, ':');
    char *end;
    long gpus = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end || gpus < 1 || gpus > MOST_QUOTA)
        return bad_quota(study, said, "a group and its GPUs, such as research:128; *:32 is for all that are not named",
                         problems);
    const char *name = arena_printf(arena, "%.*s", (int)(colon - said), said);
    int groups = queue_study_groups(study);
    for (int i = 0; i < groups; i++)
        if (strcmp(group_name(arena, study, i), name) == 0) {
            quotas[i] = (int32_t)gpus;
            return true;
        }
    if (strcmp(name, "*") == 0) {
        for (int i = 0; i < groups; i++)
            if (quotas[i] == 0) quotas[i] = (int32_t)gpus;
        return true;
    }
    const char **names = ARENA_ARRAY(arena, const char *, groups);
    for (int i = 0; i < groups; i++) names[i] = group_name(arena, study, i);
    problem_add(problems, study->where, "no group is called \"%.40s\"", name);
    problem_hint_names(problems, name, names, groups);
    return false;
}

// A job that no quota lets start would wait for ever.
static bool quotas_suffice(Arena *arena, const QueueStudy *study, const int32_t *quotas, Problems *problems) {
    const QueueJobs *jobs = study->trace ? study->trace->jobs : study->list;
    for (int i = 0; jobs && i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        int group = study->trace ? job->group : job->user;
        if (job->gpus <= quotas[group]) continue;
        problem_add(problems, study->where, "a job of %s wants %d GPUs, and its quota is %d",
                    group_name(arena, study, group), job->gpus, quotas[group]);
        return problem_hint(problems, "raise the quota: no job waits for ever");
    }
    for (int i = 0; !jobs && i < study->demand.sizes.count; i++)
        for (int g = 0; g < queue_study_groups(study); g++) {
            if (study->demand.sizes.items[i].gpus <= quotas[g]) continue;
            problem_add(problems, study->where, "jobs may want %d GPUs, and the quota of %s is %d",
                        study->demand.sizes.items[i].gpus, group_name(arena, study, g), quotas[g]);
            return problem_hint(problems, "raise the quota, or leave such jobs out with --sizes");
        }
    return true;
}

bool queue_set_quotas(Arena *arena, QueueStudy *study, const char *text, Problems *problems) {
    int groups = queue_study_groups(study);
    int32_t *quotas = ARENA_ARRAY(arena, int32_t, groups);
    bool sound = true;
    for (const char *at = text; sound;) {
        size_t length = strcspn(at, ",");
        sound = set_quota(arena, study, arena_printf(arena, "%.*s", (int)length, at), quotas, problems);
        if (at[length] == '\0') break;
        at += length + 1;
    }
    for (int i = 0; i < groups; i++)
        if (quotas[i] == 0) quotas[i] = INT32_MAX;
    if (!sound || !quotas_suffice(arena, study, quotas, problems)) return false;
    study->spec.quotas = quotas;
    return true;
}

// ---- Jobs as the study has them.

const QueueJobs *queue_prepare(Arena *arena, const QueueStudy *study, const QueueJobs *jobs) {
    bool own_groups = study->spec.quotas && !study->trace;
    if (!(study->elastic > 0) && !study->mig && !own_groups) return jobs;
    QueueJobs *prepared = ARENA_NEW(arena, QueueJobs);
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, jobs->count);
    *prepared = *jobs;
    prepared->items = items;
    if (own_groups) prepared->group_count = queue_study_groups(study);
    for (int i = 0; i < jobs->count; i++) {
        items[i] = jobs->items[i];
        if (own_groups) items[i].group = items[i].user;
        if (study->mig) queue_share_by_mig(&items[i]);
        if (study->elastic > 0 && items[i].gpus > 1)
            items[i].least_gpus = (int32_t)fmax(1, ceil(study->elastic * items[i].gpus));
    }
    return prepared;
}

// ---- Weights: "age:1,share:2,size:0.5,priority:1".

bool queue_weights_from_text(const char *text, Where where, QueueWeights *weights, Problems *problems) {
    static const char *const names[] = {"age", "share", "size", "priority"};
    double *const values[] = {&weights->age, &weights->fair_share, &weights->size, &weights->priority};
    *weights = (QueueWeights){0};
    double sum = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ":");
        int factor = -1;
        char *end = NULL;
        for (int i = 0; i < 4; i++)
            if (strlen(names[i]) == length && strncmp(names[i], at, length) == 0) factor = i;
        double value = at[length] == ':' ? strtod(at + length + 1, &end) : -1;
        bool read = end && end != at + length + 1 && (*end == ',' || *end == '\0');
        if (factor < 0 || !read || !(value >= 0 && value <= 1e6)) break;
        *values[factor] = value;
        sum += value;
        if (*end == '\0' && sum > 0) return true;
        if (*end == '\0') break;
        at = end + 1;
    }
    problem_add(problems, where, "\"%.60s\" says no weights", text);
    return problem_hint(problems,
                        "of age, share, size and priority, such as age:1,share:2,size:0,priority:1; not all 0");
}

// ---- Options of `lockstep queue`.

#define MOST_NODES 200000
#define MOST_SEEDS 1000
#define FIND_SEEDS 20 // a chance is counted
#define MOST_USERS 100000
#define USUAL_JOBS 10000
#define USUAL_MIX "gavel"

static const Where command_line = {NULL, 0};

const GoalRow queue_goals[] = {
    {"wait-mean", "wait_mean", -1, "jobs wait so long in the mean"},
    {"wait-p50", "wait_p50", 0.50, "half of all jobs wait no longer"},
    {"wait-p90", "wait_p90", 0.90, "90 % of all jobs wait no longer"},
    {"wait-p95", "wait_p95", 0.95, "95 % of all jobs wait no longer"},
    {"wait-p99", "wait_p99", 0.99, "99 % of all jobs wait no longer"},
};
const int queue_goal_count = (int)(sizeof queue_goals / sizeof *queue_goals);

#define SPAN(name_, help_)                                                                                             \
    { name_, OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = help_, .quantity = QUANTITY_TIME, .usual = "12h" }
#define NUMBER(name_, help_)                                                                                           \
    { name_, OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = help_, .quantity = QUANTITY_NUMBER }
// clang-format off
static const OptionSpec own[] = {
    {"gpus", OPTION_TEXT, "N,…", .of = OF_QUESTION, .help = "GPUs of the cluster, in whole nodes; several to compare: 512,640 or 512,0.8x,1.2x"},
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "type of node (lockstep hw list node), or a file that shows one; default dgx-h100"},
    NODE_FILE_GPU,
    {"fabric", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "link between nodes, with :kind:name=value… behind it; default ib-ndr400"},
    {"nodes-per-leaf", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "nodes on a leaf switch; default 32"},
    NUMBER("oversubscription", "capacity below a leaf switch over that above it; default 1"),
    {"policy", OPTION_TEXT, "NAME,…", .of = OF_QUESTION, .help = "fifo, first-fit, easy, conservative, fair-share, priority, shortest, multifactor; default all"},
    {"placement", OPTION_CHOICE, .of = OF_QUESTION, .help = "where jobs go; default pack-leaves", .choices = queue_placement_names, .choice_count = QUEUE_PLACEMENT_COUNT},
    {"depth", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "starts that conservative backfill reserves; default 32"},
    SPAN("half-life", "of usage, for fair-share; default 7d"),
    {"weights", OPTION_TEXT, "FACTOR:X,…", .of = OF_QUESTION, .help = "of multifactor: age, share, size, priority; default age:1,share:1,size:0,priority:1"},
    {"quota", OPTION_TEXT, "GROUP:N,…", .of = OF_QUESTION, .help = "GPUs that a group of the trace (or a drawn user, by number) holds at most; * is all others"},
    NUMBER("elastic", "jobs start on a half, a quarter, … of their GPUs, no less than this part; default they do not"),
    NUMBER("scaling", "with --elastic: speed on n of N GPUs is (n/N)^this; default 0.9"),
    {"mig", OPTION_FLAG, .of = OF_QUESTION, .help = "jobs on a part of a GPU get a MIG slice: 1, 2, 3, 4 or 7 sevenths"},
    {"trace", OPTION_TEXT, "FILE.csv", .of = OF_QUESTION, .help = "jobs of a trace or of sacct -P, instead of drawn ones (docs/queue.md)"},
    {"mix", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "gavel, helios, philly, supercloud (--mixes says more); default gavel"},
    {"mixes", OPTION_FLAG, .of = OF_QUESTION, .help = "print the published mixes with their sources, and end"},
    {"sizes", OPTION_TEXT, "N:SHARE,…", .of = OF_QUESTION, .help = "GPUs of jobs instead of the mix's: 1:0.7,8:0.3"},
    {"durations", OPTION_TEXT, "KIND:…", .of = OF_QUESTION, .help = "exponential:1h, fixed:1h, lognormal:MEDIAN:MEAN, instead of the mix's"},
    {"jobs", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "jobs to draw; default: 10000, then more until --within is met"},
    NUMBER("within", "half of a 90 % interval over its figure, sought by longer runs; default 5 %"),
    NUMBER("load", "work that comes over what all GPUs can do: 0.9"),
    NUMBER("jobs-per-hour", "arrivals, instead of --load"),
    NUMBER("burstiness", "squared coefficient of variation of the time between arrivals; default 1, Poisson"),
    {"users", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "users, some busier than others; default 20"},
    NUMBER("urgent-share", "part of the jobs with a higher priority; default 0"),
    NUMBER("estimate-error", "users say 1 to 1 + N times the truth; default 0"),
    {"rates", OPTION_TEXT, "NAME", .of = OF_QUESTION, .alias = "faults", .help = "nodes fail, at these rates (lockstep hw list faults)"},
    SPAN("node-mtbf", "nodes fail, with this mean time between failures"),
    SPAN("repair", "mean time until a node is back"),
    SPAN("checkpoint-every", "jobs save their state after so much work; default never"),
    SPAN("checkpoint-cost", "of one, and before a job makes room for an urgent one; default 30s"),
    SPAN("restart", "of a stopped job before it works again; default from the rates"),
    {"find-gpus", OPTION_FLAG, .of = OF_QUESTION, .help = "how many GPUs are needed, for one of:"},
    SPAN("wait-mean", "jobs wait so long in the mean"),
    SPAN("wait-p50", "half of all jobs wait no longer"),
    SPAN("wait-p90", "90 % of all jobs wait no longer"),
    SPAN("wait-p95", "95 % of all jobs wait no longer"),
    SPAN("wait-p99", "99 % of all jobs wait no longer"),
    NUMBER("chance", "with --find-gpus: that a run meets the goal; default 90 %"),
    {"most-gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "with --find-gpus; default 100000"},
    {"seeds", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "repetitions with other jobs; default 5, with --find-gpus 20"},
    {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of all chance; default 1"},
    NUMBER("warm-up", "part of the jobs that come first and are not counted; default by MSER-5, at least 0.1; of a trace 0"),
    {"outcomes", OPTION_TEXT, "FILE.csv", .of = OF_FORM, .help = "every job's arrival, start and end, of the first seed"},
    {"plot", OPTION_FLAG, .of = OF_QUESTION, .help = "GPUs in use, jobs that wait and waiting times, as curves"},
    PLOT_FILE_OPTIONS,
    PIECES_OPTION_CALLED("processes"),
    WATCH_OPTIONS,
};
// clang-format on

const OptionSpec *queue_option_rows(Arena *arena, int *count) {
    return options_with_job(arena, own, (int)(sizeof own / sizeof *own), count);
}

static void complain(Problems *problems, const char *what, const char *hint) {
    problem_add(problems, command_line, "%s", what);
    problem_hint(problems, "%s", hint);
}

static void complain_twice(Problems *problems, const char *what, const char *hint) {
    complain(problems, what, hint);
    problem_is_usage(problems);
}

// ---- The cluster.

typedef struct Machines {
    const Catalogue *catalogue;
    const NodeType *node;
    ClusterSpec *cluster;
} Machines;

static void read_fabric(Arena *arena, Machines *machines, const Options *options, Problems *problems) {
    ClusterSpec *cluster = machines->cluster;
    fabric_from_text(arena, machines->catalogue, option_text(options, "fabric", "ib-ndr400"), command_line,
                     &cluster->link, &cluster->layout, problems);
    cluster->fabric = FABRIC_FAT_TREE;
    cluster->nodes_per_leaf = option_count_within(options, "nodes-per-leaf", 32, 1, MOST_NODES, problems);
    cluster->oversubscription = option_within(options, "oversubscription", 1, 0.1, 1000, problems);
    bool apart = option_given(options, "nodes-per-leaf") || option_given(options, "oversubscription");
    fabric_leaves_said_once(option_text(options, "fabric", ""), cluster->layout, apart, command_line, problems);
}

#define MOST_SIZES_ASKED 16

typedef struct GpuCounts {
    double items[MOST_SIZES_ASKED];
    int count;
} GpuCounts;

// "512", "512,640", "512,0.8x,1.2x": whole numbers, and parts of the first.
static GpuCounts read_gpus(const Options *options, Problems *problems) {
    GpuCounts counts = {.count = 0};
    const char *text = option_text(options, "gpus", NULL);
    for (const char *at = text; at;) {
        char *end;
        double number = strtod(at, &end), gpus = number;
        bool is_part = *end == 'x' && counts.count > 0;
        if (is_part) gpus = round(number * counts.items[0]), end++;
        bool sound =
            end != at && (*end == ',' || *end == '\0') && number > 0 && gpus <= 1e9 && gpus == floor(gpus) && gpus >= 1;
        if (!sound || counts.count == MOST_SIZES_ASKED) {
            problem_add(problems, command_line, "--gpus cannot be \"%.40s\"", text);
            problem_hint(problems,
                         "a whole number from 1 on, such as 512; or up to %d of them, of which parts of the first: "
                         "512,0.8x,1.2x",
                         MOST_SIZES_ASKED);
            return (GpuCounts){.items = {1}, .count = 1};
        }
        counts.items[counts.count++] = gpus;
        at = *end ? end + 1 : NULL;
    }
    return counts;
}

static int nodes_for(double gpus, int per_node) { return (int)ceil(fmin(gpus, 1e9) / per_node); }

static void read_other_sizes(QueueStudy *study, const Options *options, Problems *problems) {
    GpuCounts counts = read_gpus(options, problems);
    int nodes[MOST_SIZES_ASKED];
    for (int i = 0; i < counts.count; i++) {
        nodes[i] = nodes_for(counts.items[i], study->spec.gpus_per_node);
        if (nodes[i] > MOST_NODES) complain(problems, "these are more than 200,000 nodes", "fewer GPUs");
        QueueSpec spec = study->spec;
        spec.nodes = nodes[i];
        if (!queue_job_fits(&spec, queue_largest_job(study))) {
            problem_add(problems, command_line, "a job wants %d GPUs, and one of the sizes is %.0f",
                        queue_largest_job(study), counts.items[i]);
            problem_hint(problems, "leave that size out, or the largest jobs");
        }
        for (int k = 0; k < i; k++)
            if (nodes[k] == nodes[i]) complain(problems, "--gpus has the same number of nodes twice", "leave one out");
    }
    if (counts.count > 1 && problem_count(problems) == 0) queue_add_sizes(study, nodes, counts.count, problems);
}

// Nodes are whole: 510 GPUs are 512 in nodes of 8.
static void note_whole_nodes(Arena *arena, QueueStudy *study, double gpus) {
    int per_node = study->spec.gpus_per_node;
    double whole = (double)nodes_for(gpus, per_node) * per_node;
    if (whole == gpus) return;
    const char **notes = ARENA_ARRAY(arena, const char *, study->note_count + 1);
    for (int i = 0; i < study->note_count; i++) notes[i] = study->notes[i];
    notes[study->note_count++] = arena_printf(arena, "%s GPUs are %s in whole nodes of %d, which the cluster has",
                                              text_count(arena, gpus, true), text_count(arena, whole, true), per_node);
    study->notes = notes;
}

static Machines read_machines(Arena *arena, QueueStudy *study, const Options *options, Problems *problems) {
    Machines machines = {.cluster = ARENA_NEW(arena, ClusterSpec)};
    machines.catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!machines.catalogue) return machines;
    machines.node = node_from_options(arena, machines.catalogue, options, "dgx-h100", problems);
    read_fabric(arena, &machines, options, problems);
    if (!machines.node) return machines;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    int per_node = machines.node->gpu_count;
    GpuCounts counts = read_gpus(options, problems);
    double gpus = counts.count > 0 ? counts.items[0] : 0;
    *group = (NodeGroup){.type = machines.node, .gpus = per_node};
    machines.cluster->groups = group;
    machines.cluster->group_count = 1;
    study->node_name = machines.node->name;
    study->spec.gpus_per_node = per_node;
    study->spec.nodes = nodes_for(gpus, per_node);
    if (per_node > QUEUE_MOST_GPUS_PER_NODE)
        complain(problems, "such a node has too many GPUs to be shared by jobs", "at most 64");
    if (study->find && gpus > 0)
        complain_twice(problems, "--find-gpus asks for what --gpus says", "leave one of them out");
    if (!study->find &&
        option_require(options, "how many GPUs?", "gpus", "for example --gpus 512; or --find-gpus --wait-p95 1h",
                       problems) &&
        gpus == 0)
        complain(problems, "--gpus 0: no job could ever start", "for example --gpus 512");
    if (gpus > (int64_t)MOST_NODES * per_node) complain(problems, "these are more than 200,000 nodes", "fewer GPUs");
    if (gpus > 0) note_whole_nodes(arena, study, gpus);
    return machines;
}

static void read_faults(Arena *arena, QueueStudy *study, const Machines *machines, const Options *options,
                        Problems *problems) {
    const char *name = option_text(options, "rates", NULL);
    FaultsSpec said = {.node_mtbf_s = option_within(options, "node-mtbf", 0, 1, 1e11, problems),
                       .repair_s = option_within(options, "repair", 0, 1, 1e9, problems)};
    if (name || said.node_mtbf_s > 0)
        study->rates = find_faults(arena, machines->catalogue, name ? name : FAULTS_USUAL, command_line, problems);
    else if (option_given(options, "repair"))
        complain(problems, "--repair is of no use while nothing fails", "add --rates NAME or --node-mtbf TIME");
    if (machines->node) study->spec.faults = queue_faults(arena, &said, study->rates, machines->node);
    study->spec.checkpoint_every_s = option_within(options, "checkpoint-every", 0, 1, 1e9, problems);
    study->spec.checkpoint_s = option_within(options, "checkpoint-cost", 30, 0, 1e6, problems);
    double restart_s = study->spec.faults ? study->spec.faults->restart_s : 0;
    study->spec.restart_s = option_within(options, "restart", restart_s, 0, 1e7, problems);
}

// A transformer whose state does not fit on one GPU is sharded (ZeRO 3), unless the user gives a layout.
static void read_model(Arena *arena, QueueStudy *study, const Machines *machines, const Options *options,
                       Problems *problems) {
    if (!option_given(options, "model") || !machines->node) return;
    const Gpu *gpu = node_gpu(machines->catalogue, machines->node, 0);
    const Model *model = model_from_options(arena, options, problems);
    if (!model) return;
    JobSaid said = job_from_options(arena, options, machines->catalogue, model, problems);
    TrainingSpec training = job_make(arena, &said, (GpuTypes){&gpu, 1}, problems);
    if (training.micro_batch == 0 && training.global_batch == 0) training.micro_batch = 1;
    if (!job_says(&said, JOB_TRAINING, "zero") && 16 * model_parameters(model) > 0.7 * gpu->memory_bytes)
        training.layout.zero = 3;
    study->model = model->name;
    study->spec.network = queue_network_create(arena, machines->catalogue, machines->cluster, &training);
}

// ---- The jobs.

static void read_demand(QueueStudy *study, const Options *options, Problems *problems) {
    QueueDemand *demand = &study->demand;
    const char *sizes = option_text(options, "sizes", NULL), *durations = option_text(options, "durations", NULL);
    if (!sizes || !durations) {
        study->mix = find_queue_mix(option_text(options, "mix", USUAL_MIX), command_line, problems);
        if (!study->mix) return;
        demand->sizes = mix_sizes(study->mix);
        demand->durations = mix_durations(study->mix);
    } else if (option_given(options, "mix")) {
        complain(problems, "--sizes and --durations leave nothing to take from --mix", "leave one of them out");
    }
    if (sizes) sizes_from_text(sizes, command_line, &demand->sizes, problems);
    if (durations) durations_from_text(durations, command_line, &demand->durations, problems);
    demand->jobs = option_count_within(options, "jobs", USUAL_JOBS, 1, QUEUE_MOST_JOBS, problems);
    study->lengthens = !option_given(options, "jobs") && !study->find;
    demand->users = option_count_within(options, "users", 20, 1, MOST_USERS, problems);
    demand->burstiness = option_within(options, "burstiness", 1, 0, 1e4, problems);
    demand->urgent_share = option_within(options, "urgent-share", 0, 0, 1, problems);
    demand->estimate_error = option_within(options, "estimate-error", 0, 0, 1000, problems);
    study->load = option_within(options, "load", 0, 1e-6, 100, problems);
    demand->per_second = option_within(options, "jobs-per-hour", 0, 1e-6, 1e9, problems) / 3600;
    if (study->load > 0 && demand->per_second > 0)
        complain_twice(problems, "--load and --jobs-per-hour say the same", "give one of them");
}

static void read_jobs(Arena *arena, QueueStudy *study, const Options *options, Problems *problems) {
    static const char *const drawn[] = {"mix",   "sizes",      "durations",    "jobs",           "load",
                                        "users", "burstiness", "urgent-share", "estimate-error", "jobs-per-hour"};
    const char *path = option_text(options, "trace", NULL);
    study->spec.warm_up = option_within(options, "warm-up", path ? 0 : 0.1, 0, 0.9, problems);
    study->warm_up_said = option_given(options, "warm-up");
    study->precision = option_within(options, "within", QUEUE_USUAL_PRECISION, 1e-4, 1, problems);
    study->most_runs = option_given(options, "within") ? QUEUE_MOST_RUNS : QUEUE_USUAL_RUNS;
    if (option_given(options, "within") && (option_given(options, "jobs") || option_flag(options, "find-gpus")))
        complain(problems,
                 option_flag(options, "find-gpus") ? "--find-gpus does not lengthen its runs: --within is of no use"
                                                   : "--jobs fixes the length that --within would find",
                 "leave one of them out");
    if (!path) {
        read_demand(study, options, problems);
        return;
    }
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (option_given(options, drawn[i])) {
            problem_add(problems, command_line, "--%s is about drawn jobs, and --trace has its own", drawn[i]);
            problem_hint(problems, "leave one of them out");
        }
    study->trace = queue_read_trace(arena, path, problems);
}

static void read_goal(QueueStudy *study, const Options *options, Problems *problems) {
    int given = 0;
    for (int i = 0; i < queue_goal_count; i++) {
        if (!option_given(options, queue_goals[i].option)) continue;
        given++;
        study->goal.quantile = queue_goals[i].quantile;
        study->goal.wait_s = option_within(options, queue_goals[i].option, 1, 0, 1e9, problems);
    }
    study->find = option_flag(options, "find-gpus");
    if (study->find && given != 1)
        complain(problems, given ? "two goals are one too many" : "--find-gpus needs a goal",
                 "for example --wait-p95 1h");
    if (!study->find && given)
        complain(problems, "a goal for waiting is of no use without --find-gpus", "add --find-gpus, leave --gpus out");
}

QueueStudy *queue_study_from_options(Arena *arena, const Options *options, Problems *problems) {
    QueueStudy *study = ARENA_NEW(arena, QueueStudy);
    read_goal(study, options, problems);
    Machines machines = read_machines(arena, study, options, problems);
    study->spec.placement = (QueuePlacement)option_choice(options, "placement", QUEUE_PACK_LEAVES);
    study->spec.depth = option_count_within(options, "depth", QUEUE_USUAL_DEPTH, 1, 1000, problems);
    study->spec.half_life_s = option_within(options, "half-life", 0, 1, 1e9, problems);
    study->seeds = option_count_within(options, "seeds", study->find ? FIND_SEEDS : 5, 1, MOST_SEEDS, problems);
    study->seed = option_seed(options, "seed", 1);
    queue_policies_from_text(arena, option_text(options, "policy", study->find ? "easy" : "all"), study, problems);
    if (machines.catalogue) {
        read_faults(arena, study, &machines, options, problems);
        read_model(arena, study, &machines, options, problems);
    }
    read_jobs(arena, study, options, problems);
    study->elastic = option_within(options, "elastic", 0, 1e-3, 1, problems);
    study->spec.scaling = option_within(options, "scaling", QUEUE_USUAL_SCALING, 0.01, 1, problems);
    study->mig = option_flag(options, "mig");
    if (option_given(options, "scaling") && !option_given(options, "elastic"))
        complain(problems, "--scaling is of jobs that run on fewer GPUs", "add --elastic 0.25");
    if (study->mig && study->trace && study->trace->shares == 0)
        complain(problems, "no job of the trace asks for a part of a GPU: --mig is of no use", "leave it out");
    if (study->mig && !option_given(options, "trace"))
        complain(problems, "drawn jobs ask for whole GPUs: --mig is of no use", "leave it out, or give a --trace");
    const char *weights = option_text(options, "weights", NULL), *quota = option_text(options, "quota", NULL);
    if (weights) queue_weights_from_text(weights, command_line, &study->spec.weights, problems);
    if (quota && problem_count(problems) == 0) queue_set_quotas(arena, study, quota, problems);
    const FabricShape *layout = machines.cluster->layout;
    study->spec.nodes_per_leaf = layout ? layout->nodes_per_leaf : machines.cluster->nodes_per_leaf;
    int per_node = study->spec.gpus_per_node > 0 ? study->spec.gpus_per_node : 1;
    study->goal.most_nodes = option_count_within(options, "most-gpus", 100000, 1, MOST_NODES * 8, problems) / per_node;
    study->goal.chance = option_within(options, "chance", QUEUE_USUAL_CHANCE, 0.01, 0.999, problems);
    if (option_given(options, "chance") && !study->find)
        complain(problems, "--chance is of a goal that --find-gpus seeks", "add --find-gpus --wait-p95 1h");
    if (problem_count(problems) == 0 && queue_study_ready(study, problems)) read_other_sizes(study, options, problems);
    return study;
}
