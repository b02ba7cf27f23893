// Command-line options of a plan.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/hardware/market.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/job.h"
#include "models/workload/life/life.h"
#include "scenarios/export/export.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/study/study_anchors.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

#define MOST_GPUS 1000000

static const Where command_line = {NULL, 0};

// clang-format off
const OptionSpec plan_options[] = {
    {"node", OPTION_TEXT, "A,B", .of = OF_QUESTION, .help = "types of node to consider (lockstep hw list node), also in words or as a FILE; A@F goes with fabric F only"},
    NODE_FILE_GPU,
    {"fabric", OPTION_TEXT, "A,B", .of = OF_QUESTION, .help = "networks between nodes to consider (lockstep hw list fabric), with :kind:name=value… or :FILE behind it"},
    {"gpus", OPTION_TEXT, "N,M or LO:HI", .of = OF_QUESTION, .help = "numbers of GPUs to consider; LO:HI doubles from LO (default: what --by asks for)"},
    {"global-batches", OPTION_TEXT, "N,M or LO:HI", .of = OF_QUESTION, .help = "global batches to consider, instead of one --global-batch"},
    {"critical-batch", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "samples: steps to the same result are S (1 + N / batch)"},
    {"reference-batch", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "the batch at which tokens or epochs were counted, and --learning-rate found"},
    {"least-steps", OPTION_COUNT, "S", .of = OF_QUESTION, .help = "steps of the largest batch, instead of tokens or samples"},
    {"steps-curve", OPTION_TEXT, "FILE.csv", .of = OF_QUESTION, .help = "steps to the same result by batch: columns batch and steps"},
    {"learning-rate", OPTION_QUANTITY, "X", .of = OF_QUESTION, .help = "of the reference batch; printed for others as two rules have it", .quantity = QUANTITY_NUMBER},
    {"by", OPTION_TEXT, "TIME|DAY", .of = OF_QUESTION, .help = "deadline: 30d, or the end of 2027-02-01 or of 2027-02, counted from --date"},
    {"budget", OPTION_COUNT, "MONEY", .of = OF_QUESTION, .help = "most that the run may cost: 2M"},
    {"confidence", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "with which date and budget are kept: 80% (default)", .quantity = QUANTITY_NUMBER},
    {"fit", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "chance at least that a layout fits in memory: 95% (default)", .quantity = QUANTITY_NUMBER},
    {"start", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "when the machines are there: 2027-01-15 (default --date); days to the deadline count from --date"},
    {"start-spread", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "nine times in ten they are no more than so much later (default never)", .quantity = QUANTITY_TIME},
    {"miss-cost", OPTION_COUNT, "MONEY", .of = OF_QUESTION, .help = "that a missed date or budget is worth (default: the cost of the run once more)"},
    {"oversubscription", OPTION_TEXT, "N,M or LO:HI", .of = OF_QUESTION, .help = "of the fabric's leaf switches, capacity down over up, to consider (default 1)"},
    {"offload", OPTION_FLAG, .of = OF_QUESTION, .help = "look at layouts too that keep the optimizer's state in host memory"},
    {"split-backward", OPTION_FLAG, .of = OF_QUESTION, .help = "look at schedules too that split the backward pass (zero bubble)"},
    {"own", OPTION_FLAG, .of = OF_QUESTION, .help = "machines are bought, not rented (lockstep cost --own says what that is made of)"},
    {"own-or-rent", OPTION_FLAG, .of = OF_QUESTION, .help = "machines are bought and rented, each a plan of its own, with the break-even"},
    {"site", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where owned machines stand (lockstep hw list site; default colocation)"},
    {"node-price", OPTION_TEXT, "MONEY or NODE=MONEY,…", .of = OF_QUESTION, .help = "of an owned node with its GPUs; 0: you have it already (default: the catalogue's)"},
    {"years", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "that owned machines are used (default 4)", .quantity = QUANTITY_NUMBER, .usual = "4"},
    {"utilisation", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "of all hours in which owned machines have a job (default 0.8)", .quantity = QUANTITY_NUMBER, .alias = "utilization"},
    {"electricity", OPTION_QUANTITY, "MONEY", .of = OF_QUESTION, .help = "of a kWh for owned machines (default: the site's)", .quantity = QUANTITY_NUMBER, .usual = "0.12"},
    {"objective", OPTION_CHOICE, .of = OF_QUESTION, .help = "what to keep low (default cost)", .choices = plan_objective_names, .choice_count = PLAN_OBJECTIVE_COUNT},
    {"faults", OPTION_TEXT, "NAME", .of = OF_QUESTION, .alias = "rates", .help = "count failures in, at these rates (lockstep hw list faults)"},
    {"node-mtbf", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "count failures in, at your own mean time between them", .quantity = QUANTITY_TIME, .usual = "300d"},
    {"spot-mtbf", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "with spot: mean time until the provider takes a node back (default: as the offers say)", .quantity = QUANTITY_TIME, .usual = "90d"},
    {"spares", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "with failures: nodes that stand by (default 5 %)"},
    {"checkpoint-every", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "count checkpoints in (default with failures: as Daly has it)", .quantity = QUANTITY_TIME, .usual = "30min"},
    {"checkpoint", OPTION_CHOICE, .of = OF_QUESTION, .help = "how they are written (default sync)", .choices = checkpoint_mode_names, .choice_count = CHECKPOINT_MODE_COUNT},
    {"storage", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where they go (default superpod-storage)"},
    {"storage-units", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "of it side by side (default as many as it is sized for, one where nobody says)"},
    {"exhaustive", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate every layout that fits, to prove that the search lost nothing"},
    PIECES_OPTION,
    ANCHOR_OPTIONS,
    EXPORT_OPTIONS,
    {"grid", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where the electricity is from (lockstep hw list grid; default world)"},
    {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "prices of more than a year before are pointed out (default: today)"},
    {"all", OPTION_FLAG, .of = OF_QUESTION, .help = "every plan on the first screen, not the best five only"},
    WATCH_OPTIONS,
};
// clang-format on
const int plan_option_count = sizeof plan_options / sizeof *plan_options;

const OptionSpec *plan_rows(Arena *arena, int *count) {
    int rent_rows;
    const OptionSpec *rent = rent_options_with_lists(arena, &rent_rows);
    const OptionSpec *rows = options_join(arena, plan_options, plan_option_count, rent, rent_rows, count);
    return options_with_job(arena, rows, *count, count);
}

// ---- Lists: "A,B", "8,16", "8:64".

typedef LIST_OF(const char *) TextList;

static TextList split_commas(Arena *arena, const char *text) {
    TextList list = {0};
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (length) LIST_PUSH(arena, &list, arena_printf(arena, "%.*s", (int)length, text));
        text += length + (text[length] == ',');
    }
    return list;
}

typedef LIST_OF(double) Counts;

static bool read_count(const char *option, const char *thing, const char *text, const char *whole, double *count,
                       Problems *problems) {
    const char *why;
    if (quantity_parse(text, QUANTITY_COUNT, count, &why) && *count >= 1 && *count <= MOST_GPUS) return true;
    problem_add(problems, command_line, "--%s %s is no number of %s from 1 to 1,000,000", option, whole, thing);
    return problem_hint(problems, "for example --%s 2,4 or --%s 1:16", option, option);
}

static Counts read_counts(Arena *arena, const Options *options, const char *option, const char *thing,
                          Problems *problems) {
    const char *text = option_text(options, option, ""), *colon = strchr(text, ':');
    Counts list = {0};
    double low, high;
    if (colon) {
        const char *from = arena_printf(arena, "%.*s", (int)(colon - text), text);
        if (!read_count(option, thing, from, text, &low, problems) ||
            !read_count(option, thing, colon + 1, text, &high, problems))
            return list;
        for (double value = low; value <= high; value *= 2) LIST_PUSH(arena, &list, value);
        if (low > high) {
            problem_add(problems, command_line, "--%s %s goes down", option, text);
            problem_hint(problems, "the smaller number comes first");
        }
        return list;
    }
    TextList parts = split_commas(arena, text);
    for (int i = 0; i < parts.count; i++)
        if (read_count(option, thing, parts.items[i], text, &low, problems)) LIST_PUSH(arena, &list, low);
    return list;
}

// ---- Clusters.

static bool read_fabric(Arena *arena, const PlanRequest *request, const char *text, PlanFabric *fabric,
                        Problems *problems) {
    *fabric = (PlanFabric){.name = text};
    if (!fabric_from_text(arena, request->catalogue, text, command_line, &fabric->link, &fabric->shape, problems))
        return false;
    if (!fabric->shape) fabric->name = fabric->link->name;
    return true;
}

static const PlanFabric *fabric_of_link(Arena *arena, const FabricLink *link) {
    PlanFabric *fabric = ARENA_NEW(arena, PlanFabric);
    *fabric = (PlanFabric){.link = link, .name = link ? link->name : NULL};
    return link ? fabric : NULL;
}

// "dgx-h100", or "aws-p5.48xlarge@efa-100" with its own fabric.
static void read_nodes(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    TextList names = split_commas(arena, option_text(options, "node", ""));
    const NodeType **nodes = ARENA_ARRAY(arena, const NodeType *, names.count);
    const char *gpu = option_text(options, "gpu", NULL);
    bool from_file = false;
    const PlanFabric **fabrics = ARENA_ARRAY(arena, const PlanFabric *, names.count);
    for (int i = 0; i < names.count; i++) {
        size_t length = strcspn(names.items[i], "@");
        const char *name = arena_printf(arena, "%.*s", (int)length, names.items[i]);
        const NodeType *node = node_from_text(arena, request->catalogue, name, gpu, command_line, problems);
        PlanFabric *own = names.items[i][length] ? ARENA_NEW(arena, PlanFabric) : NULL;
        if (own && !read_fabric(arena, request, names.items[i] + length + 1, own, problems)) own = NULL;
        if (!node) continue;
        from_file = from_file || node->interior;
        nodes[request->node_count] = node;
        fabrics[request->node_count++] = own;
    }
    if (request->node_count == names.count) node_gpu_needs_a_file(options, from_file, problems);
    request->nodes = nodes;
    request->node_fabric = fabrics;
}

static void read_fabrics(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    TextList names = split_commas(arena, option_text(options, "fabric", ""));
    PlanFabric *fabrics = ARENA_ARRAY(arena, PlanFabric, names.count);
    for (int i = 0; i < names.count; i++)
        if (read_fabric(arena, request, names.items[i], &fabrics[request->fabric_count], problems))
            request->fabric_count++;
    request->fabrics = fabrics;
}

// A provider's machine goes on its provider's network: its own where none of those that are looked at is.
static void read_own_fabrics(Arena *arena, PlanRequest *request, Problems *problems) {
    const PlanFabric **fabrics = ARENA_ARRAY(arena, const PlanFabric *, request->node_count);
    bool *assumed = ARENA_ARRAY(arena, bool, request->node_count);
    for (int n = 0; n < request->node_count; n++) {
        const NodeType *node = request->nodes[n];
        const PlanFabric *asked = request->node_fabric[n];
        bool takes = false;
        for (int l = 0; l < request->fabric_count; l++)
            takes = takes || node_takes_link(request->catalogue, node, request->fabrics[l].link);
        fabrics[n] = asked;
        bool refused = asked ? !node_takes_link(request->catalogue, node, asked->link)
                             : request->fabric_count > 0 && !takes && request->node_count == 1;
        if (refused) {
            problem_add(problems, command_line, "%s has no %s: %s puts it on %s", node->name,
                        asked ? asked->name : request->fabrics[0].name, node->provider, node_fabrics(arena, node));
            problem_hint(problems, "--node %s@%s, or leave the fabric out", node->name, node->fabrics[0]);
        } else if (!asked && !takes && node->fabric_count > 0) {
            const char *own = node->fabrics[0];
            fabrics[n] = fabric_of_link(arena, find_link(arena, request->catalogue, own, command_line, problems));
        } else if (!asked && request->fabric_count == 0) {
            fabrics[n] = fabric_of_link(arena, node_usual_link(request->catalogue, node));
            assumed[n] = true;
        }
    }
    request->node_fabric = fabrics;
    request->fabric_assumed = assumed;
}

// Machines without an offer of their own are compared over the providers that have the GPUs of all of them.
static const RentSpec *compared_alike(Arena *arena, const PlanRequest *request, const RentSpec *said) {
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = *said;
    PriceWish wish = {.provider = rent->provider,
                      .region = rent->region,
                      .terms = rent->terms >= 0 ? (Terms)rent->terms : TERMS_ON_DEMAND};
    if (!rent->provider && !rent->among)
        rent->among = quote_common_providers(arena, request->catalogue, request->nodes, request->node_count, &wish,
                                             &rent->among_count);
    return rent;
}

static void read_rent(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    ClusterSpec spec = {0};
    int count;
    const RentSpec *const *said = rents_from_options(arena, request->catalogue, options, &spec, &count, problems);
    const RentSpec **rents = ARENA_ARRAY(arena, const RentSpec *, count);
    for (int i = 0; i < count; i++) rents[i] = compared_alike(arena, request, said[i]);
    rent_concerns(rents[0], request->nodes, request->node_count, problems);
    request->rent = rents[0];
    request->rents = rents;
    request->rent_count = count;
    request->price_per_gpu_hour = spec.price_per_gpu_hour;
    request->currency = spec.currency;
    request->bill = spec.bill;
    if (count > 1 && !request->currency) request->currency = "USD"; // amounts of all ways are compared
    if (count > 1 && request->own && !request->own_or_rent) {
        problem_add(problems, command_line, "--own buys the machines, and several providers or terms rent them");
        problem_hint(problems, "keep one of them, or compare both with --own-or-rent");
    }
}

static double samples_asked(const TrainingSpec *training) {
    if (training->tokens > 0) return training->tokens / training->seq_len;
    return training->samples * (training->epochs > 0 ? training->epochs : 1);
}

// The number that the date requires, if the user gives none.
static Counts gpus_by_date(Arena *arena, PlanRequest *request, Problems *problems) {
    Counts list = {0};
    double samples = samples_asked(&request->training);
    if (!request->training.model || request->node_count == 0 || samples <= 0 || !(request->deadline_s > 0)) return list;
    PlanRange range = plan_usual_gpus(request, samples);
    for (double gpus = range.least; gpus <= range.most && gpus <= MOST_GPUS; gpus *= 2) LIST_PUSH(arena, &list, gpus);
    request->gpus_assumed = true;
    if (list.count > 0) return list;
    problem_add(problems, command_line, "--by: more than a million GPUs would be needed, at two thirds of their peak");
    problem_hint(problems, "a later date, or fewer tokens");
    return list;
}

static void read_gpus(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    Counts list = option_given(options, "gpus") ? read_counts(arena, options, "gpus", "GPUs", problems)
                                                : gpus_by_date(arena, request, problems);
    int *gpus = ARENA_ARRAY(arena, int, list.count);
    for (int i = 0; i < list.count; i++) gpus[i] = (int)list.items[i];
    request->gpus = gpus;
    request->gpus_count = list.count;
}

// ---- The job. Settings not given are searched: 0 in the request.

static bool says(const JobSaid *said, const char *field) { return job_says(said, JOB_PARALLEL, field); }

static void read_fixed(const JobSaid *said, PlanRequest *request) {
    TrainingSpec *training = &request->training;
    if (!says(said, "tp")) training->layout.tp = 0;
    if (!says(said, "pp")) training->layout.pp = 0;
    if (!says(said, "vpp")) training->layout.vpp = 0;
    if (!says(said, "dp")) training->layout.dp = 0;
    if (!says(said, "cp")) training->layout.cp = 0;
    if (!says(said, "ep")) training->layout.ep = 0;
    request->recompute_fixed = job_says(said, JOB_TRAINING, "recompute") ||
                               job_says(said, JOB_TRAINING, "recompute_modules") ||
                               job_says(said, JOB_TRAINING, "recompute_keeps");
    request->seq_given = job_says(said, JOB_TRAINING, "seq_len");
    request->zero_fixed = job_says(said, JOB_TRAINING, "zero");
    request->said = job_layout_said(said);
    request->schedule_fixed = job_says(said, JOB_TRAINING, "schedule");
}

// NULL after problems.
static const JobSaid *read_job(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    const Model *model = model_from_options(arena, options, problems);
    if (!model || request->node_count == 0) return NULL;
    const Gpu *gpu = node_gpu(request->catalogue, request->nodes[0], 0);
    JobSaid *said = ARENA_NEW(arena, JobSaid);
    *said = job_from_options(arena, options, request->catalogue, model, problems);
    request->training = job_make(arena, said, (GpuTypes){&gpu, 1}, problems);
    read_fixed(said, request);
    TrainingSpec *training = &request->training;
    if (training->recompute_layers > 0) {
        problem_add(problems, command_line, "plan looks at all layers recomputed or none, not at the first %d",
                    training->recompute_layers);
        problem_hint(problems, "leave --recompute-num-layers out; lockstep memory and scenarios take it");
    }
    if (training->recompute_every > 0) {
        problem_add(problems, command_line, "plan looks at all layers recomputed or none, not at every %d",
                    training->recompute_every);
        problem_hint(problems, "leave --recompute-every out; lockstep memory and scenarios take it");
    }
    if (training->tokens > 0 && !counts_tokens(model)) {
        problem_add(problems, command_line, "%s reads no tokens", model->name);
        problem_hint(problems, "say --samples and --epochs");
    }
    return said;
}

// Open settings are chosen for the GPUs of each type of node separately.
static void read_node_jobs(Arena *arena, const JobSaid *said, PlanRequest *request) {
    if (!said || request->node_count < 2) return;
    TrainingSpec *jobs = ARENA_ARRAY(arena, TrainingSpec, request->node_count);
    for (int i = 0; i < request->node_count; i++) {
        const Gpu *gpu = node_gpu(request->catalogue, request->nodes[i], 0);
        jobs[i] = job_make(arena, said, (GpuTypes){&gpu, 1}, problems_create(arena)); // reported for the first node
        jobs[i].layout = request->training.layout;
        jobs[i].grad_accumulation = request->training.grad_accumulation;
        jobs[i].checkpoint = request->training.checkpoint;
        jobs[i].anchors = request->training.anchors;
        jobs[i].by_messages = request->training.by_messages;
        jobs[i].as_packets = request->training.as_packets;
    }
    request->node_training = jobs;
}

// Packets would take a minute a layout: all are compared as one transfer a collective.
static void leave_packets_for_the_end(PlanRequest *request) {
    request->as_packets = request->training.as_packets;
    if (request->as_packets) request->training.as_packets = request->training.by_messages = false;
}

// The batch that GPT-3's family had says nothing of images.
static bool has_usual_batch(const Model *model) { return counts_tokens(model) && !model->patch; }

// The batch that a job's micro-batches add up to on the fewest GPUs asked for, whatever layout the plan chooses then.
static double accumulated_batch(PlanRequest *request) {
    TrainingSpec *training = &request->training;
    const Layout *layout = &training->layout;
    double gpus = request->gpus_count > 0 ? request->gpus[0] : request->nodes[0]->gpu_count;
    double replica = fmax(1, layout->tp) * fmax(1, layout->pp) * fmax(1, layout->cp);
    double dp = layout->dp > 0 ? layout->dp : fmax(1, floor(gpus / replica));
    request->accumulated_on = (int)dp;
    return training->micro_batch * training->grad_accumulation * dp;
}

static bool accumulates(const TrainingSpec *training) {
    return training->model && training->micro_batch > 0 && training->grad_accumulation > 0;
}

static void read_batches(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    Counts list = {0};
    if (option_given(options, "global-batches")) {
        list = read_counts(arena, options, "global-batches", "samples", problems);
        if (option_given(options, "global-batch")) {
            problem_add(problems, command_line, "--global-batch and --global-batches are both given");
            problem_hint(problems, "keep one of them");
        }
    } else if (option_given(options, "global-batch")) {
        if (request->training.model) LIST_PUSH(arena, &list, request->training.global_batch); // else it was not read
    } else if (accumulates(&request->training)) {
        LIST_PUSH(arena, &list, accumulated_batch(request));
        request->accumulation = request->training.grad_accumulation;
        request->training.grad_accumulation = 0; // the plan chooses
    } else if (request->training.model && has_usual_batch(request->training.model)) {
        LIST_PUSH(arena, &list, plan_usual_batch(request->training.model, request->training.seq_len));
        request->batch_assumed = true;
    } else if (request->training.model) {
        problem_add(problems, command_line, "--global-batch is missing, and only models of text have a usual one");
        problem_hint(problems, "for example --global-batch 1024");
    }
    for (int i = 0; i < list.count; i++) {
        if (list.items[i] >= 1) continue;
        problem_add(problems, command_line, "a global batch of %g samples is none", list.items[i]);
        problem_hint(problems, "for example --global-batch 1024");
    }
    request->batches = list.items;
    request->batch_count = list.count;
}

// ---- Runs that were measured.

static Variation names_of_nodes(Arena *arena, const PlanRequest *request) {
    const char **names = ARENA_ARRAY(arena, const char *, request->node_count);
    double *numbers = ARENA_ARRAY(arena, double, request->node_count);
    for (int i = 0; i < request->node_count; i++) {
        names[i] = request->nodes[i]->name;
        numbers[i] = NAN;
    }
    return (Variation){"node", command_line, names, numbers, request->node_count};
}

static Variation names_of_fabrics(Arena *arena, const PlanRequest *request) {
    const char **names = ARENA_ARRAY(arena, const char *, request->fabric_count);
    double *numbers = ARENA_ARRAY(arena, double, request->fabric_count);
    for (int i = 0; i < request->fabric_count; i++) {
        names[i] = request->fabrics[i].name;
        numbers[i] = NAN;
    }
    return (Variation){"fabric", command_line, names, numbers, request->fabric_count};
}

// The job as a study of its own, for measured runs: the plan's variables are its variations.
static StudySpec study_of_plan(Arena *arena, const PlanRequest *request, const JobSaid *said) {
    ClusterSpec *cluster = ARENA_NEW(arena, ClusterSpec);
    Variation *vary = ARENA_ARRAY(arena, Variation, 2);
    PlanRow first = {.node = request->nodes[0],
                     .fabric = request->fabric_count > 0 ? &request->fabrics[0] : request->node_fabric[0],
                     .gpus = request->nodes[0]->gpu_count};
    *cluster = plan_cluster_spec(arena, request, &first, NULL);
    vary[0] = names_of_nodes(arena, request);
    if (request->fabric_count > 1) vary[1] = names_of_fabrics(arena, request);
    return (StudySpec){.catalogue = request->catalogue,
                       .cluster = cluster,
                       .said = said,
                       .training = request->training,
                       .vary = vary,
                       .vary_count = request->fabric_count > 1 ? 2 : 1,
                       .seeds = 1,
                       .seed = 1};
}

// A plan chooses layout and batch, so a measured run has to state its own.
static void read_anchors(Arena *arena, const Options *options, const JobSaid *said, PlanRequest *request,
                         Problems *problems) {
    if (!said || !study_has_anchors(options)) return;
    bool tokens = counts_tokens(said->model), tp_said = says(said, "tp");
    bool batch_said = job_says(said, JOB_BATCH, "global") && request->batch_count == 1;
    const char *asked[4] = {"gpus"}; // what the plan chooses itself
    int count = 1;
    if (tokens && !tp_said) asked[count++] = "tp";
    if (!batch_said) asked[count++] = "global_batch";
    StudySpec study = study_of_plan(arena, request, said);
    const Anchors *anchors = study_anchors(arena, options, request->catalogue, &study, asked, "", problems);
    for (int i = 0; i < request->node_count; i++)
        anchors_will_hear(anchors, node_gpu(request->catalogue, request->nodes[i], 0), &request->training);
    anchors_tell_unheard(anchors);
    request->training.anchors = anchors;
}

// ---- How long the run is.

static void check_curve(const PlanRequest *request, const char *path, Problems *problems) {
    const BatchLaw *law = &request->law;
    for (int i = 0; i < request->batch_count && law->point_count > 0; i++) {
        if (!isnan(batch_law_steps(law, request->batches[i]))) continue;
        problem_add(problems, command_line, "%s says nothing of a batch of %g: it goes from %g to %g", path,
                    request->batches[i], law->points[0].batch, law->points[law->point_count - 1].batch);
        problem_hint(problems, "steps are not guessed beyond what was measured");
    }
}

static void read_law(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    double critical = (double)option_count(options, "critical-batch", 0), samples = samples_asked(&request->training);
    double reference = (double)option_count(options, "reference-batch", 0);
    double least = (double)option_count(options, "least-steps", 0);
    const char *curve = option_text(options, "steps-curve", NULL);
    BatchLaw *law = &request->law;
    if (curve) {
        *law = batch_law_read(arena, curve, problems);
        check_curve(request, curve, problems);
    } else if (least > 0) {
        *law = (BatchLaw){.critical_batch = critical, .least_steps = least};
    } else if (critical > 0 && reference > 0 && samples > 0) {
        *law = batch_law_from_run(critical, reference, samples);
    }
    if (critical > 0 && !curve && least <= 0 && reference <= 0) {
        problem_add(problems, command_line, "--critical-batch needs a run that is known");
        problem_hint(problems,
                     "say at which --reference-batch the tokens or epochs reach the result, or --least-steps");
    }
    if ((curve != NULL) + (least > 0) + (samples > 0) > 1) {
        problem_add(problems, command_line, "the length of the run is said more than once");
        problem_hint(problems, "keep one of --tokens, --samples, --least-steps, --steps-curve");
    }
    bool length_said = option_given(options, "tokens") || option_given(options, "samples");
    if (!curve && least <= 0 && samples <= 0 && request->training.model && !length_said) {
        problem_add(problems, command_line, "how long is the run? neither --tokens nor --samples is given");
        problem_hint(problems, "for example --tokens 2T, or --samples 1.28M --epochs 90");
    }
    law->reference_batch = reference;
    law->learning_rate = option_quantity(options, "learning-rate", 0);
    if (option_given(options, "learning-rate") && (!(law->learning_rate > 0) || reference <= 0)) {
        problem_add(problems, command_line, "--learning-rate is that of a batch, and above 0");
        problem_hint(problems, "for example --learning-rate 3e-4 --reference-batch 512");
    }
}

// ---- Failures and checkpoints.

static bool too_short(const Options *options, const char *name, Problems *problems) {
    if (!option_given(options, name) || option_quantity(options, name, 1) >= 1) return false;
    problem_add(problems, command_line, "--%s is below a second", name);
    problem_hint(problems, "for example --%s 300d", name);
    return true;
}

static void read_spot(const Options *options, PlanRequest *request, Problems *problems) {
    if (!option_given(options, "spot-mtbf") || too_short(options, "spot-mtbf", problems)) return;
    bool spot = false;
    for (int way = 0; way < request->rent_count; way++) spot = spot || request->rents[way]->terms == TERMS_SPOT;
    request->spot_mtbf_s = option_quantity(options, "spot-mtbf", 0);
    if (spot) return;
    problem_add(problems, command_line, "--spot-mtbf is of no use while nothing is rented on spot");
    problem_hint(problems, "add --terms spot, or --terms spot,on_demand");
}

static void read_faults(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    bool has_mtbf = option_given(options, "node-mtbf"), has_rates = option_given(options, "faults");
    if (option_given(options, "spares") && !has_mtbf && !has_rates) {
        problem_add(problems, command_line, "--spares is of no use while nothing fails");
        problem_hint(problems, "add --faults " FAULTS_USUAL ", or --node-mtbf 300d");
    }
    if (too_short(options, "node-mtbf", problems) || (!has_mtbf && !has_rates)) return;
    FaultsSpec *faults = ARENA_NEW(arena, FaultsSpec);
    int64_t spares = option_count(options, "spares", 0);
    *faults = (FaultsSpec){.node_mtbf_s = option_quantity(options, "node-mtbf", 0),
                           .spares = spares < MOST_GPUS ? (int)spares : MOST_GPUS,
                           .spares_given = option_given(options, "spares")};
    faults->rates =
        find_faults(arena, request->catalogue, option_text(options, "faults", FAULTS_USUAL), command_line, problems);
    request->faults = faults;
}

static void read_checkpoint(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    bool said = option_given(options, "checkpoint-every") || option_given(options, "checkpoint") ||
                option_given(options, "storage") || option_given(options, "storage-units");
    if (!said || too_short(options, "checkpoint-every", problems)) return;
    CheckpointSpec *checkpoint = ARENA_NEW(arena, CheckpointSpec);
    checkpoint->every_s = option_quantity(options, "checkpoint-every", 0);
    checkpoint->mode = (CheckpointMode)option_choice(options, "checkpoint", CHECKPOINT_SYNC);
    const char *storage = option_text(options, "storage", NULL);
    if (storage) checkpoint->storage = find_storage(arena, request->catalogue, storage, command_line, problems);
    if (option_given(options, "storage-units")) {
        int64_t units = option_count(options, "storage-units", 0);
        const StorageType *of = storage ? checkpoint->storage : catalogue_storage(request->catalogue, STORAGE_USUAL);
        if (of && storage_takes_units(of, units, command_line, problems)) checkpoint->storage_units = (int)units;
    }
    request->training.checkpoint = checkpoint;
}

// ---- Owning.

static void read_own(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    static const char *const names[] = {"site", "node-price", "years", "utilisation", "electricity"};
    bool both = option_flag(options, "own-or-rent"), owns = both || option_flag(options, "own");
    for (size_t i = 0; i < sizeof names / sizeof *names && !owns; i++) {
        if (!option_given(options, names[i])) continue;
        problem_add(problems, command_line, "--%s is of machines that are bought", names[i]);
        problem_hint(problems, "add --own, or leave it out");
    }
    if (!owns) return;
    const Site *site =
        find_site(arena, request->catalogue, option_text(options, "site", "colocation"), command_line, problems);
    if (!site) return;
    OwnSpec *own = ARENA_NEW(arena, OwnSpec);
    *own = own_spec_usual(site);
    own->where = command_line;
    own->years = option_within(options, "years", own->years, 0.1, 50, problems);
    own->utilisation = option_within(options, "utilisation", own->utilisation, 0.001, 1, problems);
    node_prices_from_options(arena, request->catalogue, options, own, problems);
    own_concerns(own, request->nodes, request->node_count, problems);
    own->electricity_per_kwh = option_within(options, "electricity", NAN, 0, 1e12, problems);
    request->own = own;
    request->own_or_rent = both;
    if (!both && option_given(options, "price")) {
        problem_add(problems, command_line, "--price is of rented machines, and --own buys them");
        problem_hint(problems, "keep one of them, or compare both with --own-or-rent");
    }
}

// ---- How sure.

static double read_share(const Options *options, const char *name, double usual, Problems *problems) {
    double share = option_quantity(options, name, usual);
    if (share > 0 && share < 1) return share;
    problem_add(problems, command_line, "--%s is a chance above 0 and below 100 %%", name);
    problem_hint(problems, "for example --%s %.0f%%", name, 100 * usual);
    return usual;
}

static void read_start(const Options *options, PlanRequest *request, Problems *problems) {
    const char *text = option_text(options, "start", NULL), *plan_day = option_text(options, "date", NULL);
    request->start_spread_s = option_quantity(options, "start-spread", 0);
    Date start, today;
    if (!text || (plan_day && !date_parse(plan_day, &today))) return; // the invalid day is reported elsewhere
    if (!plan_day) today = date_or_today(NULL, problems);
    if (!date_parse(text, &start)) {
        problem_add(problems, command_line, "--start %s is no day", text);
        problem_hint(problems, "for example --start 2027-01-15");
        return;
    }
    int64_t days = date_first_day(start) - date_first_day(today);
    if (days < 0) {
        problem_add(problems, command_line, "--start %s lies before the day of the plan", text);
        problem_hint(problems, "the day of the plan is today's, or --date");
        return;
    }
    request->start_s = (double)days * 86400;
}

static void read_chances(const Options *options, PlanRequest *request, Problems *problems) {
    request->confidence = read_share(options, "confidence", PLAN_CONFIDENCE, problems);
    request->fit = read_share(options, "fit", PLAN_FIT, problems);
    request->miss_cost = (double)option_count(options, "miss-cost", 0);
    read_start(options, request, problems);
    if (request->deadline_s > 0 && request->start_s >= request->deadline_s) {
        problem_add(problems, command_line, "the machines are there only after the date by which all is to be done");
        problem_hint(problems, "an earlier --start, or a later --by");
    }
}

// ---- All of it.

static void read_oversubscriptions(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    if (!option_given(options, "oversubscription")) return;
    Counts list = read_counts(arena, options, "oversubscription", "oversubscription", problems);
    for (int i = 0; i < request->fabric_count; i++)
        fabric_leaves_said_once(request->fabrics[i].name, request->fabrics[i].shape, true, command_line, problems);
    request->oversubscriptions = list.items;
    request->oversubscription_count = list.count;
}

// A day counts from the plan's date, which the answer states.
void plan_read_deadline(const Options *options, PlanRequest *request, Problems *problems) {
    const char *text = option_text(options, "by", NULL);
    char why[QUANTITY_WHY];
    if (!text) return;
    Date today = date_or_today(option_text(options, "date", NULL), problems);
    if (!deadline_parse(text, today, &request->deadline_s, why)) {
        problem_add(problems, command_line, "--by: %s", why);
        problem_hint(problems, "for example --by 30d, or --by 2027-02-01 for the end of that day");
    } else if (request->deadline_s <= 0) {
        problem_add(problems, command_line, "--by %s leaves no time", text);
        problem_hint(problems, "for example --by 30d");
    }
    if (strchr(text, '-')) {
        request->deadline_day = text;
        request->deadline_from = today;
    }
}

void plan_read_request(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    read_nodes(arena, options, request, problems);
    read_fabrics(arena, options, request, problems);
    read_own_fabrics(arena, request, problems);
    const JobSaid *said = read_job(arena, options, request, problems);
    read_gpus(arena, options, request, problems);
    read_batches(arena, options, request, problems);
    read_law(arena, options, request, problems);
    read_faults(arena, options, request, problems);
    read_checkpoint(arena, options, request, problems);
    read_own(arena, options, request, problems);
    read_oversubscriptions(arena, options, request, problems);
    read_chances(options, request, problems);
    request->offloads = option_flag(options, "offload");
    request->splits_backward = option_flag(options, "split-backward");
    read_rent(arena, options, request, problems);
    read_spot(options, request, problems);
    request->budget = (double)option_count(options, "budget", 0);
    request->objective = (PlanObjective)option_choice(options, "objective", PLAN_COST);
    request->grid = find_grid(arena, request->catalogue, option_text(options, "grid", "world"), command_line, problems);
    read_anchors(arena, options, said, request, problems);
    leave_packets_for_the_end(request);
    read_node_jobs(arena, said, request);
    request->exhaustive = option_flag(options, "exhaustive") || anchors_speed_up(request->training.anchors);
    request->jobs = pieces_jobs_wanted(options, "jobs", problems);
}

// ---- Defaults of a plan: the global batch, the numbers of GPUs, and the source of prices.

// ---- The batch: tokens by size of model, the powers of two next to those of GPT-3's family (Brown et al. 2020,
// arXiv:2005.14165, table 2.1: 0.5 M up to 760 M parameters, 1 M up to 2.7 B, 2 M up to 13 B, 3.2 M of 175 B).

static const struct {
    double parameters_below, tokens;
} usual_batches[] = {{1e9, 1 << 19}, {5e9, 1 << 20}, {40e9, 1 << 21}, {INFINITY, 1 << 22}};

double plan_usual_batch(const Model *model, double seq_len) {
    int row = 0;
    while (model_parameters(model) >= usual_batches[row].parameters_below) row++;
    return fmax(1, floor(usual_batches[row].tokens / seq_len));
}

// ---- The numbers of GPUs that can meet a date: from those that would need two thirds of the peak to those for which a
// quarter is enough, and one more doubling.

#define BEST_UTILISATION 0.65
#define POOR_UTILISATION 0.25

static double doubled_until(double gpus, double enough) {
    while (gpus < enough && gpus <= MOST_GPUS) gpus *= 2;
    return gpus;
}

static double peak_of(const PlanRequest *request, const NodeType *node) {
    const Gpu *gpu = node_gpu(request->catalogue, node, 0);
    double peak = gpu->peak_flops[request->training.precision];
    return peak > 0 ? peak : gpu->peak_flops[FP32];
}

PlanRange plan_usual_gpus(const PlanRequest *request, double samples) {
    PlanRange range = {INFINITY, 0};
    double flops = training_flops_per_sample(&request->training) * samples;
    for (int i = 0; i < request->node_count; i++) {
        const NodeType *node = request->nodes[i];
        double at_peak = flops / (peak_of(request, node) * request->deadline_s), whole = node->gpu_count;
        range.least = fmin(range.least, doubled_until(whole, at_peak / BEST_UTILISATION));
        range.most = fmax(range.most, 2 * doubled_until(whole, at_peak / POOR_UTILISATION));
    }
    return range;
}

// ---- The price: of a node without an offer, the price of its GPUs elsewhere.

Quote plan_quote(Arena *arena, const PlanRequest *request, const NodeType *node) {
    if (request->price_per_gpu_hour >= 0) return (Quote){0};
    RentSpec rent = request->rent ? *request->rent : (RentSpec){.terms = -1};
    for (int i = 0; i < rent.price_count; i++)
        if (rent.prices[i].node == node) return (Quote){0};
    rent.market = true;
    const Gpu *gpu = node_gpu(request->catalogue, node, 0);
    return rent_quote(arena, request->catalogue, node, gpu, &rent, request->currency);
}
