// The fields of fabrics.
#include "models/workload/cluster/fabric_kinds.h"
#include "scenarios/fields/field_rows.h"

#define FABRIC_LINK_FIELD                                                                                              \
    {                                                                                                                  \
        "link", PART(FIELD_LINK), .required = true, .example = "\"ib-ndr400\"",                                        \
                                  .help = "link of one port (see: lockstep hw list fabric)"                            \
    }
const Field single_switch_fields[] = {FABRIC_LINK_FIELD, LAST_FIELD};
const Field fat_tree_fields[] = {
    FABRIC_LINK_FIELD,
    {"oversubscription", NUMBER(1, 1000), .fallback = "1", .example = "2",
     .help = "capacity towards nodes over capacity towards the spine; 1: none"},
    {"nodes_per_leaf", COUNT(1, 1e5), .fallback = "32", .example = "16", .help = "nodes that share a leaf switch"},
    LAST_FIELD,
};

#define TREE_SHARE NUMBER(1e-3, 1e4)
const Field fabric_table_fields[] = {
    {"kind", CHOICE(fabric_words, FABRIC_WORD_COUNT), .required = true, .example = "\"dragonfly\"",
     .help = "how switches are joined"},
    FABRIC_LINK_FIELD,
    {"nodes_per_leaf", COUNT(1, 1e5), .example = "16", .help = "nodes that share a leaf switch; when left out: 32"},
    {"oversubscription", TREE_SHARE, .example = "2", .help = "of leaves: capacity down over capacity up; 1: none"},
    {"nodes_per_pod", COUNT(1, 1e6), .example = "128", .help = "makes a tree of three levels"},
    {"pod_oversubscription", TREE_SHARE, .example = "7", .help = "above the pods, on top of that of the leaves"},
    {"planes", COUNT(1, 64), .example = "2", .help = "equal networks side by side, each NIC on all of them"},
    {"hashed_flows", NUMBER(1, 4096), .example = "16",
     .help = "flows of a NIC that choose their ways up by hash (ECMP); when left out: spread evenly"},
    {"groups", COUNT(1, 256), .example = "8", .help = "of a dragonfly"},
    {"switches_per_group", COUNT(1, 256), .example = "4", .help = "of a dragonfly; its leaves in a dragonfly_plus"},
    {"nodes_per_switch", COUNT(1, 1e5), .example = "2", .help = "of a dragonfly"},
    {"group_oversubscription", TREE_SHARE, .example = "2", .help = "within a group; 1: none"},
    {"global_oversubscription", TREE_SHARE, .example = "2", .help = "between groups; 1: none"},
    {"dims", COUNT(1, 128), .list = true, .example = "{ 4, 4, 4 }", .help = "nodes along each side of a torus"},
    {"cable", BANDWIDTH, .example = "\"100 Gb/s\"", .help = "of a torus, each way; when left out: as the link"},
    {"uplink", BANDWIDTH, .example = "\"10 Gb/s\"", .help = "of a switch in a LAN, each way"},
    {"nodes_per_site", COUNT(1, 1e6), .example = "64", .help = "nodes in one place"},
    {"site_bandwidth", BANDWIDTH, .example = "\"100 Gb/s\"", .help = "of a site's line, each way"},
    {"site_latency", SECONDS(0), .example = "\"5 ms\"", .help = "from site to site, one way"},
    {"links", TABLE(OBJECT_FABRIC_LINK), .list = true,
     .example = "{ { from = \"a\", to = \"b\", bandwidth = \"400 Gb/s\" } }",
     .help = "of a graph: its cables; switches are what these and nodes name"},
    {"nodes", TABLE(OBJECT_FABRIC_NODES), .list = true, .example = "{ { switch = \"a\", count = 4 } }",
     .help = "of a graph: the switches of the cluster's nodes, in order"},
    LAST_FIELD,
};

const Field fabric_cable_fields[] = {
    {"from", .kind = FIELD_TEXT, .required = true, .example = "\"a\"", .help = "a switch"},
    {"to", .kind = FIELD_TEXT, .required = true, .example = "\"b\"", .help = "another"},
    {"bandwidth", BANDWIDTH, .required = true, .example = "\"400 Gb/s\"", .help = "each way"},
    {"latency", SECONDS(0), .fallback = "0", .example = "\"5 ms\"", .help = "one way, without the switches"},
    LAST_FIELD,
};

const Field fabric_nodes_fields[] = {
    {"switch", .kind = FIELD_TEXT, .required = true, .example = "\"a\"", .help = "that the nodes hang on"},
    {"count", COUNT(1, 1e6), .fallback = "1", .example = "4", .help = "nodes"},
    LAST_FIELD,
};

const Field node_fields[] = {
    {"file", .kind = FIELD_TEXT, .required = true, .example = "\"machine.txt\"",
     .help = "what nvidia-smi topo -m printed there, or NCCL's topology XML"},
    {"gpu", PART(FIELD_GPU), .example = "\"A100\"", .help = "its GPUs; XML may say it by itself"},
    {"like", PART(FIELD_NODE), .example = "\"dgx-a100\"",
     .help = "node whose host it has (memory, CPUs, disks); when left out: the nearest with such GPUs"},
    {"peer_to_peer", .kind = FIELD_FLAG, .example = "false",
     .help = "GPUs read each other over PCIe; when left out: as in the node it is like"},
    LAST_FIELD,
};
