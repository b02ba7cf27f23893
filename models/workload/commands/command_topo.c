// lockstep topo: a node of the catalogue, or nodes joined by a fabric, as nvidia-smi prints them, as DOT or JSON.
#include <stdio.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/cluster/imported_node.h"
#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/commands.h"
#include "sim/envelope.h"

static const OptionSpec specs[] = {
    {"node", OPTION_TEXT, "NAME",
     .help = "type of node (see: lockstep hw list node), or a file with the output of nvidia-smi topo -m or NCCL's "
             "topology XML"},
    {"gpu", OPTION_TEXT, "NAME", .help = "GPU of an imported node (see: lockstep hw list gpu)"},
    {"gpus", OPTION_COUNT, "N", .help = "GPUs in all; when left out: one whole node"},
    {"fabric", OPTION_TEXT, "NAME",
     .help = "link between nodes, with :kind:name=value… or :FILE.json behind it (see: lockstep hw list fabric)"},
    {"profile", OPTION_TEXT, "FILE.json", .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"dot", OPTION_FLAG,
     .help = "the whole network for Graphviz: lockstep topo --node dgx-a100 --dot | dot -Tsvg > node.svg"},
    {"json", OPTION_FLAG, .help = "the matrix, and every link with its capacity, as JSON"},
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static void write_json(const Cluster *cluster) {
    int link_count;
    const Link *links = network_links(cluster->network, &link_count);
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "topo");
    write_integer(&json, "gpus", cluster->gpu_count);
    write_integer(&json, "nodes", cluster->node_count);
    json_key(&json, "matrix");
    json_begin_list(&json);
    for (int a = 0; a < cluster->gpu_count && network_node_of(cluster->network, a) == 0; a++) {
        json_begin_list(&json);
        for (int b = 0; b < cluster->gpu_count && network_node_of(cluster->network, b) == 0; b++)
            json_write_text(&json, network_path_name(cluster->network, a, b));
        json_end_list(&json);
    }
    json_end_list(&json);
    json_key(&json, "links");
    json_begin_list(&json);
    for (int l = 0; l < link_count; l++) {
        json_begin_object(&json);
        write_text(&json, "name", links[l].name);
        write_number(&json, "bytes_per_second", links[l].bytes_per_second);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

int command_topo(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    int end = EXIT_DONE;
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, "lockstep topo --node NAME [--gpus N --fabric NAME] [--dot|--json]",
                           "Prints the first node in the shape of nvidia-smi topo -m.", stdout);
        goto out;
    }
    options_refuse_positional(options, 0, problems);
    if (!option_given(options, "node")) {
        problem_add(problems, (Where){0}, "topo needs a node");
        problem_hint(problems, "for example: lockstep topo --node dgx-a100");
    }
    static const char *const forms[] = {"json", "csv", "plain"};
    for (int i = 0; i < 3; i++)
        options_refuse_both(options, "dot", forms[i], "an answer has one form: leave one out", problems);
    if (problem_count(problems)) {
        end = command_fails(problems, EXIT_USAGE);
        goto out;
    }
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) {
        end = command_fails(problems, EXIT_BAD_INPUT);
        goto out;
    }
    NodeGroup group = {.type = node_from_text(arena, catalogue, option_text(options, "node", ""),
                                              option_text(options, "gpu", NULL), (Where){0}, problems)};
    ClusterSpec spec = {.groups = &group, .group_count = 1, .price_per_gpu_hour = -1};
    if (option_given(options, "fabric"))
        fabric_from_text(arena, catalogue, option_text(options, "fabric", ""), (Where){0}, &spec.link, &spec.layout,
                         problems);
    const Cluster *cluster = NULL;
    if (problem_count(problems) == 0) {
        int64_t gpus = option_count(options, "gpus", group.type->gpu_count);
        if (gpus < 1 || gpus > 1000000) problem_add(problems, (Where){0}, "--gpus must lie between 1 and 1,000,000");
        group.gpus = (int)gpus;
        if (problem_count(problems) == 0) cluster = cluster_create(arena, catalogue, &spec, problems);
    }
    if (!cluster) {
        end = command_fails(problems, EXIT_BAD_INPUT);
        goto out;
    }
    if (option_flag(options, "json"))
        write_json(cluster);
    else if (option_flag(options, "dot"))
        network_print_dot(cluster->network, stdout);
    else
        network_print_matrix(cluster->network, 0, stdout);
out:
    arena_close(arena);
    return end;
}
