// A study from options instead of a script.
#include "scenarios/study/study_options.h"

#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/job/job.h"
#include "sim/data/vary.h"

static const Where command_line = {NULL, 0};

// clang-format off
static const OptionSpec cluster_rows[] = {
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "type of node (lockstep hw list node), or a file that shows one: nvidia-smi topo -m, NCCL's XML, lstopo's"},
    {"gpu", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "GPU in place of the node's own, or of a node whose file does not say it (lockstep hw list gpu)"},
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs in the cluster"},
    {"fabric", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "network between nodes: ib-ndr400, roce-400:leaf_spine:… (lockstep hw list fabric); ib-ndr400:topology.conf, ibnetdiscover.txt"},
    {"oversubscription", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "of the leaf switches, capacity down over up, where --fabric names a link alone: rails on InfiniBand, a fat tree else (default 1)", .quantity = QUANTITY_NUMBER},
};
// clang-format on
const OptionSpec *study_option_rows(Arena *arena, int *count) {
    const OptionSpec *rows =
        options_join(arena, cluster_rows, COUNT_OF(cluster_rows), rent_options, rent_option_count, count);
    return options_with_job(arena, rows, *count, count);
}

static bool has_row(const OptionSpec *rows, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return true;
    return false;
}

const OptionSpec *options_with_study(Arena *arena, const OptionSpec *own, int own_count, int *count) {
    int study_count;
    const OptionSpec *study = study_option_rows(arena, &study_count);
    OptionSpec *rows = ARENA_ARRAY(arena, OptionSpec, own_count + study_count);
    if (own_count) memcpy(rows, own, sizeof *own * (size_t)own_count);
    *count = own_count;
    for (int i = 0; i < study_count; i++)
        if (!has_row(own, own_count, study[i].name)) rows[(*count)++] = study[i];
    return rows;
}

bool options_name_a_script(const Options *options) {
    bool says_job = option_given(options, "model") || option_given(options, "node") || option_given(options, "gpus");
    int count = option_positional_count(options);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(option_positional(options, i), '.');
        if (dot && strcmp(dot, ".lua") == 0) return true;
    }
    return count > 0 && !says_job;
}

// The values that --vary puts in the place of an option that is not given; NULL: it does not vary.
static const Variation *varied(Arena *arena, const Options *options, const char *name) {
    int count = 0;
    bool open = option_known(options, "vary") && !option_given(options, name);
    const char *const *written = open ? option_texts(options, "vary", &count) : NULL;
    Variation *vary = ARENA_NEW(arena, Variation);
    for (int i = 0; i < count; i++)
        if (vary_read(arena, written[i], vary, problems_create(arena)) && strcmp(vary->name, name) == 0) return vary;
    return NULL;
}

static const ClusterSpec *cluster_from_options(Arena *arena, const Options *options, const Catalogue *catalogue,
                                               Problems *problems) {
    const char *fabric = option_text(options, "fabric", NULL);
    const Variation *nodes = varied(arena, options, "node"), *sizes = varied(arena, options, "gpus");
    if (!nodes && !option_require(options, "which nodes?", "node",
                                  "for example --node dgx-h100; lockstep hw list node shows all", problems))
        return NULL;
    if (!sizes && !option_require(options, "how many GPUs?", "gpus", "for example --gpus 64", problems)) return NULL;
    double most = 1; // of varied sizes, for the assumption about the network
    for (int i = 0; sizes && i < sizes->count; i++) most = fmax(most, fmin(sizes->numbers[i], 1e9));
    int64_t gpus = sizes ? llrint(most) : option_count(options, "gpus", 0);
    const char *name = option_text(options, "node", nodes ? nodes->texts[0] : "");
    const NodeType *node =
        node_from_text(arena, catalogue, name, option_text(options, "gpu", NULL), command_line, problems);
    const FabricLink *link = NULL;
    const FabricShape *shape = NULL;
    if (fabric && !fabric_from_text(arena, catalogue, fabric, command_line, &link, &shape, problems)) return NULL;
    bool apart = option_given(options, "oversubscription");
    if (!node || !fabric_leaves_said_once(fabric, shape, apart, command_line, problems)) return NULL;
    const char *instead = node->interior ? NULL : option_text(options, "gpu", NULL);
    const Gpu *gpu = instead ? find_gpu(arena, catalogue, instead, command_line, problems) : NULL;
    if (instead && !gpu) return NULL;
    if (gpus < 1 || gpus > 1000000) {
        problem_add(problems, command_line, "--gpus %lld is no number of GPUs from 1 to 1,000,000", (long long)gpus);
        return problem_hint(problems, "for example --gpus 64"), NULL;
    }
    if (!fabric && node_needs_link(node, (int)gpus)) link = node_usual_link(catalogue, node);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    *group = (NodeGroup){.where = command_line, .type = node, .gpus = (int)gpus, .gpu = gpu};
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *spec = (ClusterSpec){.groups = group,
                          .group_count = 1,
                          .link = link,
                          .layout = shape,
                          .fabric = FABRIC_FAT_TREE,
                          .rail_optimised = link && link->transport == TRANSPORT_INFINIBAND,
                          .oversubscription = option_quantity(options, "oversubscription", 1),
                          .price_per_gpu_hour = -1};
    rent_from_options(arena, catalogue, options, spec, problems);
    rent_concerns(spec->rent, &group->type, 1, problems);
    if (spec->oversubscription >= 1) return spec;
    problem_add(problems, command_line, "--oversubscription is below 1");
    return problem_hint(problems, "1 means none, 2 that leaves have twice as much bandwidth down as up"), NULL;
}

StudySpec *study_from_options(Arena *arena, const Options *options, const Catalogue *catalogue, const char *command,
                              Problems *problems) {
    int before = problems_added(problems);
    const Model *model = model_from_options(arena, options, problems);
    const ClusterSpec *cluster = cluster_from_options(arena, options, catalogue, problems);
    if (!model || !cluster) return NULL;
    StudySpec *study = ARENA_NEW(arena, StudySpec);
    JobSaid *said = ARENA_NEW(arena, JobSaid);
    *said = job_from_options(arena, options, catalogue, model, problems);
    GpuTypes gpus = cluster_gpu_types(arena, catalogue, cluster);
    *study = (StudySpec){.scenario = command,
                         .catalogue = catalogue,
                         .cluster = cluster,
                         .said = said,
                         .training = job_make(arena, said, gpus, problems),
                         .seeds = 1,
                         .seed = option_seed(options, "seed", 1),
                         .fabric_assumed = !option_given(options, "fabric"),
                         .rails_by_link = cluster->layout == NULL,
                         .unfolded = option_flag(options, "unfolded")};
    return problems_added(problems) == before ? study : NULL;
}
