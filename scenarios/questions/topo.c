// lockstep topo: a catalogue node, or nodes on a fabric, in nvidia-smi's format, as DOT or JSON.
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "results/answer/frame.h"
#include "sim/system/file.h"

static const OptionSpec topo_rows[] = {
    {"node", OPTION_TEXT, "NAME",
     .help = "type of node (see: lockstep hw list node), or a file with the output of nvidia-smi topo -m or NCCL's "
             "topology XML"},
    NODE_FILE_GPU,
    {"gpus", OPTION_COUNT, "N", .help = "GPUs in all; when left out: one whole node"},
    {"fabric", OPTION_TEXT, "NAME",
     .help = "link between nodes, with :kind:name=value… or :FILE behind it (see: lockstep hw list fabric)"},
    {"profile", OPTION_TEXT, "FILE.json", .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"dot", OPTION_FLAG,
     .help = "the whole network for Graphviz: lockstep topo --node dgx-a100 --dot | dot -Tsvg > node.svg"},
};

static const Cluster *read_cluster(Arena *arena, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return NULL;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = node_from_options(arena, catalogue, options, "", problems)};
    *spec = (ClusterSpec){.groups = group, .group_count = 1, .price_per_gpu_hour = -1};
    if (option_given(options, "fabric"))
        fabric_from_text(arena, catalogue, option_text(options, "fabric", ""), (Where){0}, &spec->link, &spec->layout,
                         problems);
    if (problem_count(problems)) return NULL;
    int64_t gpus = option_count(options, "gpus", group->type->gpu_count);
    if (gpus < 1 || gpus > 1000000) problem_add(problems, (Where){0}, "--gpus must lie between 1 and 1,000,000");
    group->gpus = (int)gpus;
    return problem_count(problems) ? NULL : cluster_create(arena, catalogue, spec, problems);
}

static void add_matrix(Answer *answer, const Cluster *cluster) {
    const Network *network = cluster->network;
    int gpus = 0; // of the first node
    while (gpus < cluster->gpu_count && network_node_of(network, gpus) == 0) gpus++;
    answer_open_list(answer, "matrix", NULL);
    for (int a = 0; a < gpus; a++) {
        answer_open_list(answer, NULL, NULL);
        for (int b = 0; b < gpus; b++) answer_text(answer, NULL, NULL, network_path_name(network, a, b));
        answer_close(answer);
    }
    answer_close(answer);
}

static void add_links(Answer *answer, const Cluster *cluster) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0}, {"bytes_per_second", NULL, AS_BANDWIDTH, 0}};
    int count;
    const Link *links = network_links(cluster->network, &count);
    answer_table(answer, "links", NULL, columns, 2);
    for (int l = 0; l < count; l++) {
        ANSWER_CELLS(answer, links[l].name, answer_of(AS_BANDWIDTH, links[l].bytes_per_second));
    }
}

static void check_request(const Options *options, Problems *problems) {
    static const char *const forms[] = {"json", "csv", "plain"};
    if (!option_given(options, "node")) {
        problem_add(problems, (Where){0}, "topo needs a node");
        problem_hint(problems, "for example: lockstep topo --node dgx-a100");
    }
    for (int i = 0; i < 3; i++)
        options_refuse_both(options, "dot", forms[i], "an answer has one form: leave one out", problems);
}

static int ask(Asking *asking) {
    Answer *answer = asking->answer;
    check_request(asking->options, asking->problems);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    const Cluster *cluster = read_cluster(asking->arena, asking->options, asking->problems);
    if (!cluster) return EXIT_BAD_INPUT;
    TextStream text = text_stream_open();
    if (option_flag(asking->options, "dot"))
        network_print_dot(cluster->network, text.stream);
    else
        network_print_matrix(cluster->network, 0, text.stream);
    answer_verbatim(answer, text_stream_close(asking->arena, &text));
    answer_number(answer, "gpus", NULL, AS_WHOLE, cluster->gpu_count);
    answer_number(answer, "nodes", NULL, AS_WHOLE, cluster->node_count);
    add_matrix(answer, cluster);
    add_links(answer, cluster);
    return EXIT_DONE;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    (void)arena;
    *count = (int)(sizeof topo_rows / sizeof *topo_rows);
    return topo_rows;
}

static const Question topo = {.name = "topo",
                              .usage = "lockstep topo --node NAME [--gpus N --fabric NAME] [--dot]",
                              .about = "Prints the first node in the shape of nvidia-smi topo -m.",
                              .rows = rows,
                              .ask = ask};

int command_topo(int argc, char **argv);
int command_topo(int argc, char **argv) { return frame_run(&topo, argc, argv); }
