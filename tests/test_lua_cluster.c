// Fabrics and imported nodes as scenarios say them.
#include "models/workload/cluster/cluster.h"
#include "tests/script.h"
#include "tests/test.h"

#define STUDY_ON(cluster)                                                                                              \
    "local sim = require 'lockstep'\n"                                                                                 \
    "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 32, " cluster " },\n"                             \
    "  run = sim.training { model = 'gpt2-124m', batch = { global = 64, micro = 1 } } }\n"

static const FabricShape *layout_in(const Loaded *loaded) {
    return loaded->scenario ? loaded->scenario->items[0].study->cluster->layout : NULL;
}

static void expect_problem(const char *script, const char *part) {
    Loaded loaded = load_script(script, NULL);
    EXPECT(!loaded.scenario);
    EXPECT_CONTAINS(first_problem(&loaded), part);
    unload(&loaded);
}

TEST(a_fabric_is_a_table_a_function_or_a_text) {
    static const char *const ways[] = {
        STUDY_ON("fabric = { kind = 'torus', link = 'ib-hdr200', dims = { 2, 2 }, cable = '400 Gb/s' }"),
        STUDY_ON("fabric = sim.fabric { kind = 'torus', link = 'ib-hdr200', dims = { 2, 2 }, cable = '400 Gb/s' }"),
        STUDY_ON("fabric = 'ib-hdr200:torus:dims=2x2:cable=400 Gb/s'")};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Loaded loaded = load_script(ways[i], NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        const FabricShape *layout = layout_in(&loaded);
        EXPECT(layout && layout->kind == FABRIC_TORUS && layout->dim_count == 2 && layout->dims[1] == 2);
        if (layout) EXPECT_NEAR(layout->cable_bytes_per_second, 50e9, 1e-12);
        unload(&loaded);
    }
}

TEST(a_graph_has_the_switches_that_its_links_and_nodes_name) {
    Loaded loaded =
        load_script(STUDY_ON("fabric = { kind = 'graph', link = 'ib-hdr200',\n"
                             "links = { { from = 'a', to = 'b', bandwidth = '1.6 Tb/s', latency = '1 us' } },\n"
                             "nodes = { { switch = 'a', count = 3 }, { switch = 'b' } } }"),
                    NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    const FabricShape *layout = layout_in(&loaded);
    EXPECT(layout && layout->graph);
    if (layout && layout->graph) {
        EXPECT_INT(layout->graph->switch_count, 2);
        EXPECT_INT(layout->graph->node_count, 4);
        EXPECT_INT(layout->graph->switch_of_nic[3], 1);
        EXPECT_NEAR(layout->graph->cables[0].bytes_per_second, 200e9, 1e-12);
    }
    unload(&loaded);
}

TEST(a_field_that_the_kind_of_fabric_does_not_take_is_refused_at_its_line) {
    expect_problem(STUDY_ON("\n fabric = { kind = 'torus', link = 'ib-hdr200',\n dims = { 4 },\n groups = 3 }"),
                   "5: a fabric of kind \"torus\" has no field \"groups\"");
    expect_problem(STUDY_ON("\n fabric = { kind = 'dragonfly', link = 'ib-hdr200' }"), "needs groups");
    expect_problem(STUDY_ON("fabric = { kind = 'graph', link = 'ib-hdr200',\n links = { { from = 'a', to = 'a', "
                            "bandwidth = '1 Gb/s' } }, nodes = { { switch = 'a' } } }"),
                   "3: this link joins switch \"a\" to itself");
}

TEST(a_scenario_runs_on_an_imported_node) {
    char output[4096] = "";
    FILE *pipe = popen("$LOCKSTEP run tests/data/topo/imported.lua --plain 2>&1", "r");
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    EXPECT_INT(pclose(pipe), 0);
    EXPECT_CONTAINS(output, "gpt2-124m on 32 × V100-SXM2-32GB in 4 nodes");
}

TEST(a_node_file_outside_the_scenarios_folder_is_refused) {
    expect_problem(
        "local sim = require 'lockstep'\nlocal n = sim.node { file = '/etc/passwd', gpu = 'A100' }\nreturn n",
        "2: \"/etc/passwd\" is no file in the scenario's folder");
    expect_problem("local sim = require 'lockstep'\nlocal n = sim.node { file = '../x.txt', gpu = 'A100' }\nreturn n",
                   "2: \"../x.txt\" is no file in the scenario's folder");
}

TEST(equal_nodes_said_one_by_one_are_told_together) {
    Loaded loaded = load_script("local sim = require 'lockstep'\n"
                                "local nodes = {}\n"
                                "for i = 1, 8 do nodes[i] = { node = 'dgx-a100', gpus = 8 } end\n"
                                "nodes[9] = { node = 'dgx-h100', gpus = 8 }\n"
                                "return sim.study { on = sim.cluster { nodes = nodes, fabric = 'ib-hdr200' },\n"
                                "  run = sim.training { model = 'gpt2-124m', batch = { micro = 1 } } }\n",
                                NULL);
    EXPECT(loaded.scenario != NULL);
    if (loaded.scenario)
        EXPECT_TEXT(cluster_nodes_text(loaded.arena, loaded.scenario->items[0].study->cluster),
                    "8 × dgx-a100-80gb + 1 × dgx-h100");
    unload(&loaded);
}
