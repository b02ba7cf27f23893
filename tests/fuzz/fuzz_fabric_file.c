// Any bytes as a file that shows a fabric: refused with a sentence that names it, or switches, cables and nodes within
// what there is.
//     make fuzz FUZZERS=fuzz_fabric_file
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_graph(const FabricGraph *graph) {
    CHECK(graph->nics >= 1 && graph->node_count >= 1);
    for (int n = 0; n < graph->node_count * graph->nics; n++)
        CHECK(graph->switch_of_nic[n] >= 0 && graph->switch_of_nic[n] < graph->switch_count);
    for (int c = 0; c < graph->cable_count; c++) {
        const GraphCable *cable = &graph->cables[c];
        CHECK(cable->from >= 0 && cable->from < graph->switch_count && cable->to >= 0);
        CHECK(cable->to < graph->switch_count && cable->from != cable->to);
        CHECK((cable->bytes_per_second > 0) != (cable->node_rates > 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = arena_alloc(arena, bytes + 1);
    memcpy(text, data, bytes);
    FabricFile file = {.path = "f", .text = text};
    FabricShown shown = fabric_file_read(arena, &file, problems);
    CHECK((shown.shape == NULL) == (problem_count(problems) > 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, "f") == 0);
    if (shown.shape && shown.shape->kind == FABRIC_GRAPH)
        check_graph(shown.shape->graph);
    else if (shown.shape)
        CHECK(shown.shape->nodes_per_leaf >= 1 && shown.shape->places >= 1 && !shown.rate_word);
    arena_close(arena);
    return 0;
}
