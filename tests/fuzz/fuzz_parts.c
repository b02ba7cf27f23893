// Any bytes as a file of parts (hw check, --profile): refused with problems that have a place, or a catalogue whose new
// GPUs and nodes can be simulated: a step that takes a time, or a reason why not.
//     make fuzz FUZZERS=fuzz_parts
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "scenarios/study/study.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

// A small job on two nodes of the type, with another GPU and link where the file has them.
static void simulate_on(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu,
                        const FabricLink *link) {
    Problems *problems = problems_create(arena);
    const NodeGroup group = {.type = node, .gpus = node->gpu_count > 8 ? 2 : 2 * node->gpu_count, .gpu = gpu};
    const ClusterSpec cluster = {.groups = &group,
                                 .group_count = 1,
                                 .link = link,
                                 .fabric = FABRIC_SINGLE_SWITCH,
                                 .oversubscription = 1,
                                 .price_per_gpu_hour = -1};
    const StudySpec study = {.catalogue = catalogue,
                             .cluster = &cluster,
                             .assume_fits = true,
                             .training = {.model = find_model(arena, "gpt2-124m", (Where){0}, problems),
                                          .layout = {.tp = 1, .pp = 1, .vpp = 1},
                                          .seq_len = 128,
                                          .micro_batch = 1,
                                          .precision = FP32,
                                          .framework = FRAMEWORK_EAGER,
                                          .attention = ATTENTION_PLAIN,
                                          .optimizer = OPTIMIZER_ADAM,
                                          .bucket_bytes = 25 << 20}};
    const Record *record = study_run(arena, &study, problems);
    CHECK(record || problem_count(problems) > 0);
    if (!record || !record->points[0].ran) return;
    CHECK(isfinite(record->points[0].step_p50_s) && record->points[0].step_p50_s > 0);
}

static void check_new_parts(Arena *arena, const Catalogue *with) {
    const Catalogue *base = kept_catalogue();
    const NodeType *node = catalogue_node(base, "dgx-a100");
    const FabricLink *link = catalogue_link(base, "ib-hdr200");
    const Gpu *gpu = with->gpu_count > base->gpu_count ? &with->gpus[with->gpu_count - 1] : NULL;
    if (with->node_count > base->node_count) node = &with->nodes[with->node_count - 1];
    if (with->link_count > base->link_count) link = &with->links[with->link_count - 1];
    simulate_on(arena, with, node, gpu, link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *path = fuzz_file("parts.json", data, bytes);
    const Catalogue *catalogue = catalogue_with_file(arena, kept_catalogue(), path, problems);
    CHECK(!catalogue == (problem_count(problems) > 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(problem_at(problems, i)->where.file);
    if (catalogue) check_new_parts(arena, catalogue);
    arena_close(arena);
    return 0;
}
