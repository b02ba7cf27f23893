// More of a resource never slows a step down, but for what `contention` says.
#include "models/workload/cost/cost.h"
#include "tests/laws_internal.h"

#include "sim/base/check.h"
#include "sim/base/quantity.h"
#include "sim/fluid.h"
#include "tests/script.h"
#include "tests/test.h"

typedef enum Kind { KIND_LINKS, KIND_NVLINK, KIND_NICS, KIND_KERNELS, KIND_OTHER } Kind; // of a resource

// ---- Parts of the catalogue, faster by a factor.

typedef enum PartKind { PART_GPU, PART_NODE, PART_FABRIC, PART_STORAGE } PartKind;

typedef struct Part {
    const char *name;
    const Fact *facts;
    int fact_count;
} Part;

static const char *const list_names[] = {"gpus", "nodes", "fabrics", "storages"};

typedef struct Scaled { // fields that are one resource
    const char *what;
    PartKind kind;
    const char *fields[9];
    bool is_time; // less of it is more
    Kind resource;
} Scaled;

static const Scaled scaled[] = {
    {"line rate", PART_FABRIC, {"line_rate"}, false, KIND_LINKS},
    {"latency of the network", PART_FABRIC, {"latency", "switch_latency"}, true, KIND_LINKS},
    {"rate of NICs", PART_NODE, {"nic_bandwidth"}, false, KIND_LINKS},
    {"NVLink", PART_GPU, {"nvlink_bandwidth", "nvlink_link_bandwidth"}, false, KIND_NVLINK},
    {"memory bandwidth", PART_GPU, {"memory_bandwidth"}, false, KIND_KERNELS},
    {"matrix rate", PART_GPU, {"peak_fp16", "peak_bf16", "peak_tf32", "peak_fp8"}, false, KIND_KERNELS},
    {"vector rate", PART_GPU, {"vector_fp32", "vector_fp16", "peak_fp32"}, false, KIND_KERNELS},
    {"all arithmetic",
     PART_GPU,
     {"peak_fp16", "peak_bf16", "peak_tf32", "peak_fp8", "peak_int8", "vector_fp64", "vector_fp32", "vector_fp16"},
     false,
     KIND_KERNELS},
    {"launch time", PART_GPU, {"launch_time"}, true, KIND_KERNELS},
    {"issue time", PART_GPU, {"issue_time"}, true, KIND_KERNELS},
    {"host memory", PART_NODE, {"host_memory_bandwidth"}, false, KIND_OTHER},
    {"between sockets", PART_NODE, {"socket_bandwidth"}, false, KIND_OTHER},
    {"local disks", PART_NODE, {"local_read_bandwidth"}, false, KIND_OTHER},
    {"storage network", PART_NODE, {"storage_nic_bandwidth"}, false, KIND_OTHER},
    {"storage", PART_STORAGE, {"read_bandwidth"}, false, KIND_OTHER},
};
#define SCALED_COUNT ((int)(sizeof scaled / sizeof *scaled))

static bool part_of(const Answer *answer, PartKind kind, Part *part) {
    const ClusterSpec *spec = answer->cluster->spec;
    const StorageType *storage = spec->storage;
    switch (kind) {
    case PART_GPU: {
        const Gpu *gpu = catalogue_gpu(test_catalogue(), answer->cluster->gpu_of[0]->name);
        if (gpu) *part = (Part){gpu->name, gpu->facts, gpu->fact_count};
        return gpu; // not a slice of one
    }
    case PART_NODE:
        *part = (Part){spec->groups[0].type->name, spec->groups[0].type->facts, spec->groups[0].type->fact_count};
        return true;
    case PART_FABRIC:
        if (spec->link) *part = (Part){spec->link->name, spec->link->facts, spec->link->fact_count};
        return spec->link;
    case PART_STORAGE:
        break;
    }
    if (storage) *part = (Part){storage->name, storage->facts, storage->fact_count};
    return storage;
}

// Where the part has none of the fields: false.
static bool scaled_profile(const Scaled *what, const Part *part, double factor, char *text, size_t bytes) {
    int at = snprintf(text, bytes,
                      "{\"format\":\"lockstep-hardware\",\"format_version\":1,\"sources\":{\"x\":\"a law\"},\n"
                      "\"%s\":[{\"name\":\"%s\",\"like\":\"%s\",\"from\":[\"assumed\",\"x\"]",
                      list_names[what->kind], part->name, part->name);
    bool any = false;
    for (int i = 0; what->fields[i]; i++) {
        const Fact *fact = fact_find(part->facts, part->fact_count, what->fields[i]);
        if (!fact || fact->value <= 0) continue;
        any = true;
        at += snprintf(text + at, bytes - (size_t)at, ",\"%s\":\"%.9g %s\"", what->fields[i],
                       what->is_time ? fact->value / factor : fact->value * factor, fact->unit);
    }
    snprintf(text + at, bytes - (size_t)at, "}]}\n");
    return any;
}

// ---- The law.

// Steps are compared with every transfer alone on its links, where the law holds to rounding. Streams that share links
// may take longer when one of them comes sooner (as lists of jobs do when one of them shrinks: Graham, 1969); by how
// much, law_contention says. What is left are four exceptions, each with a bound of its own.

static double own_work(const System *system, int number) {
    const Program *program = &system->programs[number];
    double seconds = 0;
    for (int s = 0; s < program->stream_count; s++) {
        OpWalk walk = {.program = program, .stream = &program->streams[s]};
        for (Op op; walk_ops(&walk, &op);)
            if (op.kind == OP_WORK && op.cause != CAUSE_LAUNCH) seconds += step_seconds(op.time);
    }
    return seconds;
}

// 1. Where the CPU issues kernels more slowly than they run, a block takes as long as it issues, and what exceeds the
// kernels' own work is shared out evenly among them. A kernel that gets quicker beside a collective, which hides it,
// leaves the ones before the collective a larger share of that, and the collective starts later: by no more than the
// kernels became quicker.
static double kernels_gain(const Answer *less, const Answer *more) {
    double gain = 0;
    for (int p = 0; p < less->system.program_count && p < more->system.program_count; p++)
        gain += fmax(0, own_work(&less->system, p) - own_work(&more->system, p));
    return gain;
}

// 2. NCCL opens two channels for each NIC. Each doubling of channels lengthens a hop by up to a quarter (constants
// RAMP_TIME and NETWORK_RAMP_TIME against HOP_TIME and NETWORK_HOP_TIME), and twice as many chunks fill a tree's
// levels, at the same pace where the GPUs' links are what is slow: a collective's latency doubles at most.
// Seconds of all transfers of the actor that has most: of their latency alone, or of their bytes too.
static double most_transfers(const System *system, const Fluid *bytes_too) {
    double most = 0;
    for (int a = 0; a < system->actor_count; a++) {
        const Program *program = &system->programs[system->actors[a].program];
        double seconds = 0;
        for (int s = 0; s < program->stream_count; s++) {
            OpWalk walk = {.program = program, .stream = &program->streams[s]};
            for (Op op; walk_ops(&walk, &op);) {
                if (op.kind != OP_TRANSFER) continue;
                const Plan *plan = &system->channels[system->actors[a].channels[op.slot]].plans[op.id];
                seconds += step_seconds(plan->latency);
                if (bytes_too) seconds += step_seconds(fluid_time_alone(bytes_too, plan));
            }
        }
        most = fmax(most, seconds);
    }
    return most;
}

// 3. At two nodes a tree sends half of what a ring does, but before Hopper NCCL believes so only where there is one NIC
// or NVSwitch (nccl.c, tree_is_underrated): with two NICs it takes rings, which send at most twice the bytes.
static bool takes_rings(const Answer *answer) {
    return answer->cluster->node_count == 2 && answer->spec->training.backend == BACKEND_NCCL &&
           answer->cluster->gpu_of[0]->year < 2022;
}

// 4. Within one NVLink domain NCCL (2.18 on) chooses by a table of latencies and rates of its own (nccl.c,
// believed_ring_seconds), and with faster NVLink it may leave LL for a protocol that is slower there: transfers took up
// to a quarter longer, half is allowed.
#define BELIEF_COSTS 0.5
static double belief_costs(const Answer *answer) {
    if (answer->spec->training.backend != BACKEND_NCCL) return 0;
    Arena *arena = arena_open();
    double seconds = BELIEF_COSTS * most_transfers(&answer->system, fluid_create(arena, &answer->system));
    arena_close(arena);
    return seconds;
}

// Where NCCL chooses by what it believes and the network is slower than that (posts over Slingshot), a choice that it
// believes better may be worse: the law says nothing of fabrics there. Nor of NICs on rails, where GPUs that met on one
// rail lie on two with more of them, and cross the spine.
static bool says_nothing(const Answer *answer, Kind kind) {
    const ClusterSpec *spec = answer->cluster->spec;
    return kind == KIND_NICS && (spec->rail_optimised || (spec->layout && spec->layout->kind == FABRIC_RAIL_ONLY));
}

static double allowance(const Answer *less, const Answer *more, Kind kind) {
    switch (kind) {
    case KIND_KERNELS:
        return kernels_gain(less, more);
    case KIND_NVLINK:
        return belief_costs(less);
    case KIND_NICS:
        return most_transfers(&less->system, NULL) + (takes_rings(less) ? less->alone_s : 0);
    case KIND_LINKS:
    case KIND_OTHER:
        break;
    }
    return 0;
}

// A thread that looks for gradients once a cycle may find them a cycle later when they come earlier.
static double cycle_of(const Answer *answer) { return answer->spec->training.reduce_cycle_seconds; }

static Verdict judge_pair(const Answer *less, const Answer *more, Kind kind, const char *what, Finding *finding) {
    if (!less->ran || !more->ran || says_nothing(less, kind)) return LAW_SILENT;
    double bound = less->alone_s + allowance(less, more, kind) + cycle_of(less);
    finding->excess = more->alone_s / bound - 1;
    if (finding->excess <= ROUNDING) return LAW_HOLDS;
    snprintf(finding->why, sizeof finding->why, "%s: %.9g s, with more of it %.9g s: %+.3g %%, more than %+.3g %%",
             what, less->alone_s, more->alone_s, 100 * (more->alone_s / less->alone_s - 1),
             100 * (bound / less->alone_s - 1));
    return LAW_BROKEN;
}

static const double factors[] = {1.0625, 1.25, 1.5, 2, 4};

Verdict law_faster_parts(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    const Scaled *what = &scaled[seed % SCALED_COUNT];
    double factor = factors[seed / SCALED_COUNT % (sizeof factors / sizeof *factors)];
    Verdict verdict = LAW_SILENT;
    Answer less = law_answer_of(study, "", (AnswerOptions){.unfolded = true});
    Part part = {0};
    if (less.ran && part_of(&less, what->kind, &part) &&
        scaled_profile(what, &part, factor, finding->profile, sizeof finding->profile)) {
        Answer more = law_answer_of(study, finding->profile, (AnswerOptions){.unfolded = true, .second = true});
        verdict = judge_pair(&less, &more, what->resource, what->what, finding);
        law_answer_close(&more);
    }
    law_answer_close(&less);
    return verdict;
}

// ---- Settings.

typedef struct Step { // of a setting, from less to more
    const char *path, *less, *more;
    Kind kind;
} Step;

static const Step steps[] = {
    {"cluster.nics", "1", "2", KIND_NICS},
    {"cluster.nics", "2", "4", KIND_NICS},
    {"cluster.nics", "4", "8", KIND_NICS},
    {"cluster.pcie", "\"8 GB/s\"", "\"16 GB/s\"", KIND_LINKS},
    {"cluster.pcie", "\"16 GB/s\"", "\"64 GB/s\"", KIND_LINKS},
    {"cluster.power_cap", "\"150 W\"", "\"200 W\"", KIND_KERNELS},
    {"cluster.power_cap", "\"250 W\"", "\"300 W\"", KIND_KERNELS},
    {"cluster.power_cap", "\"350 W\"", "\"400 W\"", KIND_KERNELS},
    {"cluster.power_cap", "\"400 W\"", "\"700 W\"", KIND_KERNELS},
    {"cluster.power_cap", "\"500 W\"", "\"1000 W\"", KIND_KERNELS},
    {"cluster.power_cap", "\"300 W\"", NULL, KIND_KERNELS},
    {"training.data.workers", "2", "4", KIND_OTHER},
    {"training.data.samples_per_second_per_worker", "100", "150", KIND_OTHER},
    {"fat_tree.oversubscription", "4", "2", KIND_LINKS},
    {"fabric.oversubscription", "3", "1", KIND_LINKS},
    {"cluster.link_speed", "{ 0.5 }", "{ 0.75 }", KIND_LINKS},
    {"cluster.link_speed", "{ 0.5 }", NULL, KIND_LINKS},
};
#define STEP_COUNT ((int)(sizeof steps / sizeof *steps))

// A part of a table that the study does not have would make another study of it.
static bool is_of_study(const DrawnStudy *study, const char *path) {
    if (strcmp(path, "fat_tree.oversubscription") == 0) return drawn_value(study, "fat_tree.link");
    if (strcmp(path, "fabric.oversubscription") == 0) return drawn_value(study, "fabric.link");
    if (strncmp(path, "training.data.", 14) == 0) return drawn_value(study, "training.data.sample_bytes");
    return true;
}

Verdict law_more_of_a_setting(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    const Step *step = &steps[seed % STEP_COUNT];
    if (!is_of_study(study, step->path)) return LAW_SILENT;
    DrawnStudy with = *study;
    drawn_set(&with, step->path, step->less);
    Answer less = law_answer_of(&with, "", (AnswerOptions){.unfolded = true});
    if (!less.ran) {
        law_answer_close(&less);
        return LAW_SILENT;
    }
    drawn_set(&with, step->path, step->more);
    Answer more = law_answer_of(&with, "", (AnswerOptions){.unfolded = true, .second = true});
    snprintf(finding->sets, sizeof finding->sets, "%s = %s, then %s", step->path, step->less,
             step->more ? step->more : "left out");
    Verdict verdict = judge_pair(&less, &more, step->kind, step->path, finding);
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}

// ---- Fabrics of one family.

static bool is_more(const FabricLink *more, const FabricLink *less) {
    return more->transport == less->transport && more->line_bytes_per_second > less->line_bytes_per_second &&
           more->latency_seconds <= less->latency_seconds &&
           more->switch_latency_seconds <= less->switch_latency_seconds;
}

// Of the faster ones of its family; NULL: there is none.
static const FabricLink *more_of(const FabricLink *less, uint64_t draw) {
    const Catalogue *catalogue = test_catalogue();
    int count = 0;
    for (int i = 0; i < catalogue->link_count; i++) count += is_more(&catalogue->links[i], less);
    if (count == 0) return NULL;
    for (int i = 0, left = (int)(draw % (uint64_t)count);; i++)
        if (is_more(&catalogue->links[i], less) && left-- == 0) return &catalogue->links[i];
}

static void set_link(DrawnStudy *study, const char *path, const FabricLink *link) {
    char text[64];
    snprintf(text, sizeof text, "\"%s\"", link->name);
    drawn_set(study, path, text);
}

// Cables of a graph that say their own rate keep it, and attain of it what the link does.
static bool cables_attain_less(const DrawnStudy *study, const FabricLink *more, const FabricLink *less) {
    return more->efficiency < less->efficiency && drawn_value(study, "fabric.links.1.bandwidth");
}

// As it was drawn, or nodes two to a leaf of a tree that has less above than below.
static const char *link_path(DrawnStudy *study, uint64_t draw) {
    static const char *const paths[] = {"cluster.fabric", "fabric.link", "fat_tree.link", "rail_fat_tree.link"};
    static const char *const ratios[] = {"2", "4", "8"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths && draw % 2; i++)
        if (drawn_value(study, paths[i])) return paths[i];
    drawn_drop(study, "fabric");
    drawn_drop(study, "fat_tree");
    drawn_drop(study, "rail_fat_tree");
    drawn_drop(study, "single_switch");
    drawn_set(study, "cluster.fabric", NULL);
    drawn_set(study, "fat_tree.nodes_per_leaf", draw % 4 ? "2" : "1");
    drawn_set(study, "fat_tree.oversubscription", ratios[draw / 4 % 3]);
    return "fat_tree.link";
}

Verdict law_faster_fabric(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    const Catalogue *catalogue = test_catalogue();
    const FabricLink *link = &catalogue->links[seed % (uint64_t)catalogue->link_count];
    const FabricLink *faster = more_of(link, seed / 64);
    DrawnStudy with = *study;
    const char *path = link_path(&with, seed / 4096);
    if (!faster || cables_attain_less(&with, faster, link)) return LAW_SILENT;
    set_link(&with, path, link);
    Answer less = law_answer_of(&with, "", (AnswerOptions){.unfolded = true});
    set_link(&with, path, faster);
    Answer more = law_answer_of(&with, "", (AnswerOptions){.unfolded = true, .second = true});
    snprintf(finding->sets, sizeof finding->sets, "%s = %s, then %s", path, link->name, faster->name);
    Verdict verdict = judge_pair(&less, &more, KIND_LINKS, path, finding);
    law_answer_close(&less);
    law_answer_close(&more);
    return verdict;
}
