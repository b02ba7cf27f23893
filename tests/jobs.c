// Training jobs on small clusters, for tests of layouts.
#include "tests/jobs.h"

#include <math.h>

#include "tests/test.h"

static const Where nowhere = {NULL, 0};

void case_build(Case *c) { c->cluster = cluster_create(c->arena, c->catalogue, &c->spec, c->problems); }

void case_open_on(Case *c, const char *node, const char *link, int gpus, const char *model) {
    *c = (Case){.arena = arena_open()};
    c->problems = problems_create(c->arena);
    c->catalogue = catalogue_builtin(c->arena);
    c->group = (NodeGroup){.type = catalogue_node(c->catalogue, node), .gpus = gpus};
    c->spec = (ClusterSpec){.groups = &c->group,
                            .group_count = 1,
                            .link = catalogue_link(c->catalogue, link),
                            .fabric = FABRIC_FAT_TREE,
                            .rail_optimised = true,
                            .oversubscription = 1,
                            .price_per_gpu_hour = -1};
    case_build(c);
    c->model = *find_model(c->arena, model, nowhere, c->problems);
    c->training = (TrainingSpec){.model = &c->model,
                                 .layout = {.tp = 1, .pp = 1, .vpp = 1},
                                 .schedule = SCHEDULE_1F1B,
                                 .seq_len = 512,
                                 .micro_batch = 2,
                                 .precision = BF16,
                                 .mixed_precision = true,
                                 .framework = FRAMEWORK_MEGATRON,
                                 .attention = ATTENTION_FLASH,
                                 .optimizer = OPTIMIZER_ADAM,
                                 .bucket_bytes = 25 << 20,
                                 .overlap_grad_reduce = true};
}

void case_open(Case *c, int gpus, const char *model) { case_open_on(c, "dgx-a100", "ib-hdr200", gpus, model); }

SimulatedStep simulate(Case *c, bool unfolded) {
    SimulationOptions options = {.unfolded = unfolded, .assume_fits = true};
    return simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
}

SimulatedStep case_folds(Case *c) {
    SimulatedStep folded = simulate(c, false), whole = simulate(c, true);
    const Layout *l = &c->training.layout;
    if (!folded.ran) problems_print(c->problems, stdout);
    EXPECT(folded.ran && whole.ran);
    if (folded.digest != whole.digest)
        test_fail(__FILE__, __LINE__,
                  "%s, gpus %d tp %d pp %d vpp %d cp %d (%s) ep %d zero %d shard %d: folded %.17g, unfolded %.17g",
                  schedule_name(c->training.schedule), c->group.gpus, l->tp, l->pp, l->vpp, l->cp,
                  context_exchange_names[l->context], l->ep, l->zero, l->shard, folded.step_p50_s, whole.step_p50_s);
    return folded;
}

Moved moved(const Lowered *lowered, int slot) {
    Moved sum = {0};
    const System *system = lowered->system;
    const Program *program = &system->programs[system->actors[0].program];
    for (int s = 0; s < program->stream_count; s++) {
        OpWalk walk = {.program = program, .stream = &program->streams[s]};
        for (Op op; walk_ops(&walk, &op);) {
            if (op.kind != OP_TRANSFER || op.slot != slot) continue;
            double bytes = system->channels[system->actors[0].channels[slot]].plans[op.id].bytes;
            sum.count++;
            sum.bytes += bytes;
            sum.largest = fmax(sum.largest, bytes);
        }
    }
    return sum;
}

double list_seconds(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

Bench bench_open(void) {
    Bench bench = {.arena = arena_open()};
    bench.catalogue = catalogue_builtin(bench.arena);
    bench.problems = problems_create(bench.arena);
    return bench;
}

const Gpu *bench_gpu(const Bench *bench, const char *name) {
    return find_gpu(bench->arena, bench->catalogue, name, nowhere, bench->problems);
}

const Model *bench_model(const Bench *bench, const char *name) {
    return find_model(bench->arena, name, nowhere, bench->problems);
}
