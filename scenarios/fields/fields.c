// The fields, object by object. A new field is a row here and a line in the builder that reads it.
#include "scenarios/fields/fields.h"

#include <string.h>

#include "results/view.h"
#include "scenarios/fields/field_rows.h"
#include "sim/base/check.h"
#include "sim/packet/packet.h"

static const char *const plot_choices[] = {"scaling", "breakdown", "gantt", "memory", "pareto"};
static const char *const copy_ends[] = {"host", "device"};
static const char *const tensor_places[] = {"gpu", "cpu"};

// ---- The cluster.

static const Field cluster_fields[] = {
    {"node", PART(FIELD_NODE), .example = "\"dgx-a100\"", .help = "type of node (see: lockstep hw list node)"},
    {"gpus", COUNT(1, MOST_GPUS), .example = "64", .help = "GPUs in the cluster; when left out: one whole node"},
    {"gpu", PART(FIELD_GPU), .example = "\"A100\"", .help = "GPU put in place of the node's own"},
    {"pcie", BANDWIDTH, .example = "\"3.9 GB/s\"",
     .help = "of a GPU's slot, one direction; when left out: all its lanes at full speed"},
    {"nodes", TABLE(OBJECT_NODE_GROUP), .list = true, .example = "{ { node = \"dgx-a100\", gpus = 8 } }",
     .help = "nodes of several types, instead of node and gpus"},
    {"fabric", PART(FIELD_LINK), .handle = HANDLE_FABRIC, .inner = OBJECT_FABRIC, .example = "\"ib-ndr400\"",
     .help = "network between nodes: a link by name (one switch), { kind = …, link = …, … }, or sim.fat_tree { … }"},
    {"nics", COUNT(1, 64), .example = "1",
     .help = "NICs of a node that are on this fabric; when left out: all that the catalogue gives it"},
    {"storage", PART(FIELD_STORAGE), .example = "\"nfs-1gbe\"",
     .help = "shared storage (see: lockstep hw list storage)"},
    {"storage_units", COUNT(1, 10000), .example = "4",
     .help = "units of it side by side; when left out: as many as it is sized for (one, where nobody says)"},
    {"price", TABLE(OBJECT_PRICE), .example = "{ gpu_hour = 2.49, currency = \"USD\" }",
     .help = "what the cluster costs to rent; when left out: the price book's newest price on demand"},
    {"own", TABLE(OBJECT_OWN), .example = "{ site = \"colocation\", years = 4 }", .help = "bought instead of rented"},
    {"power_cap", WATTS, .example = "\"500 W\"", .help = "power limit of each GPU; when left out: none below its TDP"},
    {"grid", .kind = FIELD_TEXT, .fallback = "\"world\"", .example = "\"france\"",
     .help = "where its electricity is from, for carbon (see: lockstep hw list grid)"},
    {"faults", TABLE(OBJECT_FAULTS), .example = "{ node_mtbf = \"20000 h\", spares = 4 }",
     .help = "how machines fail; when left out: they do not"},
    {"pue", NUMBER(1, 5), .example = "1.3",
     .help =
         "power usage effectiveness: watts at the wall per watt of the machines; when left out: 1.3, or the site's"},
    {"link_speed", NUMBER(1e-18, 1), .list = true, .example = "{ 1, 0.5 }",
     .help = "a factor on each node's network, in order: 0.5 is a cable at half speed; one alone: of the first node"},
};

static const Field node_group_fields[] = {
    {"node", PART(FIELD_NODE), .required = true, .example = "\"dgx-a100\"", .help = "type of node"},
    {"gpus", COUNT(1, MOST_GPUS), .required = true, .example = "8", .help = "GPUs in nodes of this type, all together"},
    {"gpu", PART(FIELD_GPU), .example = "\"A100\"", .help = "GPU put in place of the node's own"},
    {"pcie", BANDWIDTH, .example = "\"3.9 GB/s\"",
     .help = "of a GPU's slot, one direction; when left out: all its lanes at full speed"},
};

// ---- Models.

static const Field transformer_fields[] = {
    {"name", .kind = FIELD_TEXT, .fallback = "\"transformer\"", .example = "\"my-gpt\"", .help = "name in tables"},
    {"layers", COUNT(1, 1e5), .required = true, .example = "12", .help = "transformer layers"},
    {"hidden", COUNT(1, MOST_SIZE), .required = true, .example = "768", .help = "width of the model (d_model)"},
    {"heads", COUNT(1, 1e5), .required = true, .example = "12", .help = "attention heads"},
    {"kv_heads", COUNT(1, 1e5), .example = "4", .help = "key and value heads; when left out: as many as heads"},
    {"head_dim", COUNT(1, 1e6), .example = "64", .help = "width of a head; when left out: hidden / heads"},
    {"ffn", COUNT(1, MOST_SIZE), .example = "3072", .help = "inner width of the MLP; when left out: 4 x hidden"},
    {"vocab", COUNT(1, MOST_SIZE), .fallback = "50304", .example = "50257", .help = "entries of the vocabulary"},
    {"max_positions", COUNT(1, MOST_SIZE), .fallback = "2048", .example = "1024", .help = "longest sequence"},
    {"gated_mlp", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "SwiGLU: three matrices in the MLP"},
    {"untied_embedding", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "output head with weights of its own"},
    {"causal", .kind = FIELD_FLAG, .fallback = "true", .example = "true",
     .help = "decoder: attends to earlier tokens only"},
    {"rms_norm", .kind = FIELD_FLAG, .fallback = "false", .example = "true", .help = "RMSNorm instead of LayerNorm"},
    {"experts", COUNT(1, 4096), .example = "8", .help = "experts of a layer (mixture of experts); when left out: none"},
    {"experts_per_token", COUNT(1, 4096), .example = "2", .help = "experts that each token goes to"},
    {"expert_ffn", COUNT(1, MOST_SIZE), .example = "1408", .help = "inner width of an expert; when left out: ffn"},
    {"shared_expert_ffn", COUNT(1, MOST_SIZE), .example = "2816",
     .help = "inner width of the experts that every token passes, together; when left out: none"},
    {"dense_layers", COUNT(0, 1e5), .example = "1", .help = "first layers, which have one MLP; when left out: none"},
    {"expert_every", COUNT(1, 1e5), .example = "2", .help = "of so many layers the last has experts; when left out: 1"},
    {"qk_norm", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "a norm of each head's queries and keys"},
    {"q_lora_rank", COUNT(1, MOST_SIZE), .example = "1536",
     .help = "latent attention (MLA): width of the queries' latent; when left out: queries without one"},
    {"kv_lora_rank", COUNT(1, MOST_SIZE), .example = "512",
     .help = "width of the latent of keys and values; when left out: plain attention"},
    {"qk_nope_head_dim", COUNT(1, 1e6), .example = "128", .help = "of a key without its position; when left out: 128"},
    {"qk_rope_head_dim", COUNT(1, 1e6), .example = "64", .help = "of a key that has its position; when left out: 64"},
    {"v_head_dim", COUNT(1, 1e6), .example = "128", .help = "of a value; when left out: 128"},
    {"mtp_layers", COUNT(0, 1), .example = "1", .help = "layers that predict a token further on; when left out: none"},
};

static const Field resnet_fields[] = {
    {"depth", COUNT(1, 1e4), .fallback = "50", .example = "152", .help = "18, 34, 50, 101 or 152"},
    {"image_size", COUNT(1, 1e5), .fallback = "224", .example = "224", .help = "side of the square images"},
    {"classes", COUNT(1, MOST_SIZE), .fallback = "1000", .example = "10", .help = "classes to tell apart"},
};

static const Field mlp_fields[] = {
    {"name", .kind = FIELD_TEXT, .fallback = "\"mlp\"", .example = "\"digits\"", .help = "name in tables"},
    {"widths", COUNT(1, MOST_SIZE), .list = true, .required = true, .example = "{ 784, 512, 10 }",
     .help = "inputs, then the width of each layer"},
};

static const Field lstm_fields[] = {
    {"name", .kind = FIELD_TEXT, .fallback = "\"lstm\"", .example = "\"my-lstm\"", .help = "name in tables"},
    {"layers", COUNT(1, 1000), .required = true, .example = "4", .help = "recurrent layers"},
    {"hidden", COUNT(1, 1e6), .required = true, .example = "1024", .help = "width of each"},
    {"vocab", COUNT(1, MOST_SIZE), .fallback = "32000", .example = "32000", .help = "entries of the vocabulary"},
    {"words", COUNT(1, 1e6), .fallback = "50", .example = "50", .help = "words of a sample, one step for each"},
};

// ---- The study.

static const Field study_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster"},
    {"run", VALUE(HANDLE_TRAINING), .required = true, .example = "job", .help = "the job"},
    {"title", .kind = FIELD_TEXT, .example = "\"ResNet-50 on DGX A100\"", .help = "headline of tables and plots"},
    {"vary", TABLE(OBJECT_VARY), .example = "{ gpus = { 1, 8, 64 } }",
     .help = "what to try; all combinations are simulated"},
    {"keep", CHOICE(point_columns, POINT_COLUMNS), .list = true, .example = "{ \"step_p50_s\", \"mfu\" }",
     .help = "the numbers that lockstep sweep stores of each point; when left out: all"},
    {"seeds", COUNT(1, 1e6), .fallback = "1", .example = "5", .help = "repetitions with other random draws"},
    {"plot", CHOICE(plot_choices, COUNT_OF(plot_choices)), .list = true, .example = "{ \"scaling\" }",
     .help = "plots to draw"},
    {"published", TABLE(OBJECT_PUBLISHED), .list = true,
     .example = "{ { gpus = 8, samples_per_s = 700, source = \"a book\" } }",
     .help = "figures to print beside the simulated ones"},
    {"notes", .kind = FIELD_TEXT, .list = true, .example = "{ \"the data set is not stated\" }",
     .help = "sentences for beside the answer"},
    {"noise", NUMBER(0, 1), .example = "0.03",
     .help = "relative sigma of a step time; when left out: from the calibration"},
    {"assume_fits", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "simulate what is estimated not to fit into memory too: a run that is known to have run"},
    {"timeline", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "keep a timeline of the last point"},
};

// Names that a study varies, and that a published figure is matched by: these, and what the job's fields are varied by.
static const Field cluster_variables[] = {
    {"gpus", COUNT(1, MOST_GPUS), .list = true, .example = "8", .help = "GPUs in the cluster"},
    {"node", PART(FIELD_NODE), .list = true, .example = "\"dgx-a100\"", .help = "type of node"},
    {"gpu", PART(FIELD_GPU), .list = true, .example = "\"A100\"", .help = "GPU put in place of the node's own"},
    {"fabric", PART(FIELD_LINK), .list = true, .example = "\"ib-ndr400\"", .help = "link between nodes"},
    {"storage", PART(FIELD_STORAGE), .list = true, .example = "\"nfs-1gbe\"", .help = "where samples lie"},
    {"oversubscription", NUMBER(1, 1000), .list = true, .example = "2",
     .help = "of the leaf switches, where the fabric is a link alone"},
    {"power_cap", WATTS, .list = true, .example = "\"500 W\"", .help = "power limit of each GPU"},
};

static const Field published_fields[] = {
    {"source", .kind = FIELD_TEXT, .required = true, .example = "\"Table 1\"", .help = "who published it, and where"},
    {"name", .kind = FIELD_TEXT, .example = "\"training time\"",
     .help = "what to call the figure; when left out: its field's name"},
    {"step_time", .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = ABOVE_ZERO, .most = 1e12,
     .example = "\"0.3 s\"", .help = "time of a step"},
    {"total_time", .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = ABOVE_ZERO, .most = 1e12,
     .example = "\"18 d\"", .help = "time of the whole run"},
    {"samples_per_s", NUMBER(ABOVE_ZERO, 1e15), .example = "700", .help = "samples per second of the cluster"},
    {"tokens_per_s", NUMBER(ABOVE_ZERO, 1e15), .example = "1e6", .help = "tokens per second of the cluster"},
    {"efficiency", NUMBER(ABOVE_ZERO, 10), .example = "0.875", .help = "against as many single GPUs"},
    {"mfu", NUMBER(ABOVE_ZERO, 1), .example = "0.44", .help = "model FLOP utilisation"},
    {"hfu", NUMBER(ABOVE_ZERO, 1), .example = "0.48", .help = "hardware FLOP utilisation"},
    {"memory", BYTES(ABOVE_ZERO), .example = "\"60 GiB\"", .help = "of the fullest GPU"},
    {"cost_per_hour", NUMBER(ABOVE_ZERO, 1e15), .example = "25", .help = "of the cluster"},
    {"cost_per_month", NUMBER(ABOVE_ZERO, 1e15), .example = "18000", .help = "of the cluster"},
    {"cost_per_run", NUMBER(ABOVE_ZERO, 1e15), .example = "4.6e6", .help = "of the whole run"},
    {"days", NUMBER(ABOVE_ZERO, 1e9), .example = "34", .help = "of the whole run"},
    {"energy", NUMBER(ABOVE_ZERO, 1e15), .example = "1287000", .help = "of the whole run, in kWh"},
};

static const Field option_fields[] = {
    {"default", .kind = FIELD_SCALAR, .required = true, .example = "8",
     .help = "value when the flag is not given; tells the type"},
    {"min", .kind = FIELD_QUANTITY, .quantity = QUANTITY_NUMBER, .example = "1", .help = "smallest number taken"},
    {"max", .kind = FIELD_QUANTITY, .quantity = QUANTITY_NUMBER, .example = "512", .help = "largest number taken"},
    {"help", .kind = FIELD_TEXT, .fallback = "\"\"", .example = "\"GPUs in the cluster\"",
     .help = "one line for --help"},
    {"values", .kind = FIELD_SCALAR, .list = true, .example = "{ 8, 16 }", .help = "the only values taken"},
};

// ---- What scripts work out for themselves.

static const Field unknown_fields[] = {
    {"start", NUMBER(ABOVE_ZERO, 1e30), .required = true, .example = "0.1", .help = "where the search starts"},
    {"min", NUMBER(ABOVE_ZERO, 1e30), .required = true, .example = "0.001", .help = "smallest value it may take"},
    {"max", NUMBER(ABOVE_ZERO, 1e30), .required = true, .example = "10", .help = "largest value it may take"},
};

static const Field report_fields[] = {
    {"title", .kind = FIELD_TEXT, .example = "\"A course, simulated\"", .help = "headline"},
    {"rows", TABLE(OBJECT_REPORT_ROW), .list = true, .required = true,
     .example = "{ { name = \"time\", published = 32, simulated = 31, unit = \"s\", source = \"a paper\" } }",
     .help = "figures somebody published beside simulated ones"},
    {"notes", .kind = FIELD_TEXT, .list = true, .example = "{ \"the data set is not stated\" }",
     .help = "sentences for beside the answer"},
};

static const Field report_row_fields[] = {
    {"name", .kind = FIELD_TEXT, .required = true, .example = "\"training time\"", .help = "what the figure is"},
    {"published", NUMBER(-1e30, 1e30), .required = true, .example = "32", .help = "as published"},
    {"simulated", NUMBER(-1e30, 1e30), .required = true, .example = "31", .help = "as simulated"},
    {"unit", .kind = FIELD_TEXT, .example = "\"s\"", .help = "of both"},
    {"source", .kind = FIELD_TEXT, .required = true, .example = "\"Table 1\"", .help = "who published it, and where"},
};

// ---- Rank programs.

static const Field program_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster; one rank per GPU"},
    {"rank", .kind = FIELD_FUNCTION, .example = "function(r) r:compute { flops = 1e12 } end",
     .help = "called once for each rank; says what the rank does in one step"},
    {"file", .kind = FIELD_TEXT, .example = "\"ring.goal\"",
     .help = "in place of rank: a file beside the scenario that says it of each, in GOAL (LogGOPSim); layers, as "
             "ASTRA-sim 1 and SimAI take them; or one of a Chakra trace, of which each rank has its own: trace.0.et, "
             "trace.1.et, …"},
    {"communicators", .kind = FIELD_TEXT, .example = "\"groups.json\"",
     .help = "with a Chakra trace: a file {\"NAME\": [rank, …]} that says who is in each of its communicators"},
    {"steps", COUNT(1, 1e6), .fallback = "1", .example = "3", .help = "how many times every rank does it"},
    {"title", .kind = FIELD_TEXT, .example = "\"GPipe by hand\"", .help = "headline of tables and plots"},
    {"backend", CHOICE(backend_choices, 3), .fallback = "\"nccl\"", .example = "\"nccl\"",
     .help = "library of collectives; refuses what the real one does not support"},
    {"tensors", CHOICE(tensor_places, COUNT_OF(tensor_places)), .fallback = "\"gpu\"", .example = "\"gpu\"",
     .help = "where the tensors of collectives lie"},
    {"fidelity", CHOICE(fidelity_choices, 3), .fallback = "\"fluid\"", .example = "\"flow\"",
     .help = "fluid: a collective is one transfer; flow: all the messages it is made of; packet: what leaves a node of "
             "these as packets (docs/packets.md)"},
    {"transport", CHOICE(packet_transport_names, PACKET_TRANSPORTS), .example = "\"hpcc\"",
     .help = "of those packets: what senders do about congestion; when left out: as the fabric is used to"},
    {"packet_loss", NUMBER(0, 0.5), .fallback = "0", .example = "1e-5",
     .help = "share of those packets that each cable loses"},
    {"cuda_aware_mpi", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "MPI was built with CUDA support"},
    {"precision", CHOICE(precision_choices, 10), .fallback = "\"bf16\"", .example = "\"fp16\"",
     .help = "of compute operations that name none"},
    {"notes", .kind = FIELD_TEXT, .list = true, .example = "{ \"written by hand\" }",
     .help = "sentences for beside the answer"},
};

#define OPERATION_FIELDS                                                                                               \
    {"name", .kind = FIELD_TEXT, .example = "\"grads\"", .help = "name on timelines and in messages"}, {               \
        "stream", VALUE(HANDLE_STREAM), .named = true, .example = "\"comm\"",                                          \
                                        .help = "stream; when left out: the main one"                                  \
    }

static const Field compute_fields[] = {
    {"flops", FLOP_AMOUNT, .example = "2e12", .help = "arithmetic"},
    {"bytes", BYTES(ABOVE_ZERO), .example = "\"40 MB\"", .help = "moved to and from GPU memory"},
    {"gemm", TABLE(OBJECT_GEMM), .example = "{ m = 4096, n = 4096, k = 4096 }",
     .help = "a matrix multiplication, instead of flops"},
    {"seconds", SECONDS(0), .example = "\"3 ms\"", .help = "a time known already, instead of flops and bytes"},
    {"precision", CHOICE(precision_choices, 10), .example = "\"fp16\"", .help = "when left out: the program's"},
    OPERATION_FIELDS,
};

static const Field gemm_fields[] = {
    {"m", COUNT(1, MOST_SIZE), .required = true, .example = "4096", .help = "rows of the result"},
    {"n", COUNT(1, MOST_SIZE), .required = true, .example = "4096", .help = "columns of the result"},
    {"k", COUNT(1, MOST_SIZE), .required = true, .example = "4096", .help = "length of the sums"},
    {"batch", COUNT(1, MOST_SIZE), .fallback = "1", .example = "8", .help = "independent products"},
};

static const Field send_fields[] = {
    {"to", COUNT(0, MOST_GPUS), .required = true, .example = "1", .help = "rank that receives"},
    {"bytes", BYTES(ABOVE_ZERO), .required = true, .example = "\"64 MiB\"", .help = "size of the message"},
    {"tag", NUMBER(-1e9, 1e9), .fallback = "0", .example = "1",
     .help = "sends and receives with the same tag meet in order"},
    OPERATION_FIELDS,
};

static const Field recv_fields[] = {
    {"from", COUNT(0, MOST_GPUS), .required = true, .example = "1", .help = "rank that sends"},
    {"bytes", BYTES(ABOVE_ZERO), .example = "\"64 MiB\"", .help = "size expected; when left out: what is sent"},
    {"tag", NUMBER(-1e9, 1e9), .fallback = "0", .example = "1",
     .help = "sends and receives with the same tag meet in order"},
    OPERATION_FIELDS,
};

static const Field copy_fields[] = {
    {"to", CHOICE(copy_ends, COUNT_OF(copy_ends)), .required = true, .example = "\"host\"",
     .help = "direction of the copy"},
    {"bytes", BYTES(ABOVE_ZERO), .required = true, .example = "\"1 GiB\"", .help = "size of the copy"},
    OPERATION_FIELDS,
};

static const Field read_fields[] = {
    {"bytes", BYTES(ABOVE_ZERO), .required = true, .example = "\"110 MB\"", .help = "read from storage"},
    OPERATION_FIELDS,
};

static const Field collective_fields[] = {
    {"group", VALUE(HANDLE_GROUP), .example = "r.world_group", .help = "ranks that take part; when left out: all"},
    {"bytes", BYTES(ABOVE_ZERO), .example = "\"64 MiB\"", .help = "size as nccl-tests counts it; not for barrier"},
    {"root", COUNT(0, MOST_GPUS), .example = "0", .help = "rank that has or gets the data, for rooted operations"},
    {"matrix", NUMBER(0, 1e15), .list = true, .example = "{ 0, 8e6, 4e6, 0 }",
     .help = "all_to_all: bytes of each rank for each, sender by sender; or for each, the same from all"},
    {"algorithm", .kind = FIELD_TEXT, .example = "\"halving_doubling\"",
     .help = "instead of the back end's own choice; with fidelity flow"},
    OPERATION_FIELDS,
};

#define FIELDS(array) array, COUNT_OF(array)

static const ObjectType own_types[OBJECT_COUNT] = {
    [OBJECT_CLUSTER] = {"cluster", "sim.cluster", "cluster", "nodes joined by a network", FIELDS(cluster_fields), true},
    [OBJECT_NODE_GROUP] = {"cluster.nodes", NULL, "nodes", "nodes of one type", FIELDS(node_group_fields), false},
    [OBJECT_NODE] = {"node", "sim.node", "node", "a node as a real machine shows it", ENDED(node_fields), true},
    [OBJECT_PRICE] = {"cluster.price", NULL, "price", "what the cluster costs to rent", ENDED(price_fields), true},
    [OBJECT_OWN] = {"cluster.own", NULL, "own", "what the cluster costs to own", ENDED(own_fields), true},
    [OBJECT_COST] = {"cost", "sim.cost", "cost", "what a cluster costs, draws and emits", ENDED(cost_fields), false},
    [OBJECT_FAULTS] = {"cluster.faults", NULL, "faults", "how machines fail", ENDED(faults_fields), true},
    [OBJECT_SINGLE_SWITCH] = {"single_switch", "sim.single_switch", "single_switch", "all nodes on one switch",
                              ENDED(single_switch_fields), true},
    [OBJECT_FAT_TREE] = {"fat_tree", "sim.fat_tree", "fat_tree", "leaf and spine switches", ENDED(fat_tree_fields),
                         true},
    [OBJECT_RAIL_FAT_TREE] = {"rail_fat_tree", "sim.rail_fat_tree", "rail_fat_tree",
                              "a fat tree in which the i-th NIC of every node meets on one leaf",
                              ENDED(fat_tree_fields), true},
    [OBJECT_FABRIC] = {"fabric", "sim.fabric", "fabric", "switches joined in some way", ENDED(fabric_table_fields),
                       true},
    [OBJECT_FABRIC_LINK] = {"fabric.links", NULL, "links", "a cable between two switches", ENDED(fabric_cable_fields),
                            false},
    [OBJECT_FABRIC_NODES] = {"fabric.nodes", NULL, "nodes", "nodes on a switch", ENDED(fabric_nodes_fields), false},
    [OBJECT_TRANSFORMER] = {"transformer", "sim.model.transformer", "transformer", "a transformer of your own",
                            FIELDS(transformer_fields), true},
    [OBJECT_RESNET] = {"resnet", "sim.model.resnet", "resnet", "a ResNet (He et al., 2015)", FIELDS(resnet_fields),
                       true},
    [OBJECT_MLP] = {"mlp", "sim.model.mlp", "mlp", "linear layers", FIELDS(mlp_fields), true},
    [OBJECT_LSTM] = {"lstm", "sim.model.lstm", "lstm", "a language model of recurrent layers", FIELDS(lstm_fields),
                     true},
    [OBJECT_OPERATORS] = {"operators", "sim.model.operators", "operators", "a model written as operators",
                          ENDED(operators_fields), false},
    [OBJECT_OPERATORS_BLOCK] = {"operators.blocks", NULL, "blocks", "operators that lie on one GPU of a pipeline",
                                ENDED(operators_block_fields), false},
    [OBJECT_OPERATOR] = {"operators.blocks.operators", NULL, "operators", "one operator of a block",
                         ENDED(operator_fields), false},
    [OBJECT_EXPECT] = {"expect", "job:expect", "expect", "what must hold; exit status 3 when it does not",
                       ENDED(expect_fields), false},
    [OBJECT_STUDY] = {"study", "sim.study", "study", "a job on a cluster, and what is varied", FIELDS(study_fields),
                      true},
    [OBJECT_OPTION] = {"option", NULL, "options", "a flag of this scenario", FIELDS(option_fields), false},
    [OBJECT_UNKNOWN] = {"unknown", NULL, "unknowns", "an unknown of sim.fit", FIELDS(unknown_fields), false},
    [OBJECT_REPORT] = {"report", "sim.report", "report", "published figures beside simulated ones",
                       FIELDS(report_fields), false},
    [OBJECT_REPORT_ROW] = {"report.rows", NULL, "rows", "a published figure and its simulated twin",
                           FIELDS(report_row_fields), false},
    [OBJECT_PROGRAM] = {"program", "sim.program", "program", "what every rank does, written by hand",
                        FIELDS(program_fields), true},
    [OBJECT_COMPUTE] = {"compute", "r:compute", "compute", "work of the GPU", FIELDS(compute_fields), false},
    [OBJECT_GEMM] = {"compute.gemm", NULL, "gemm", "a matrix multiplication", FIELDS(gemm_fields), false},
    [OBJECT_SEND] = {"send", "r:send", "send", "a message to another rank", FIELDS(send_fields), false},
    [OBJECT_RECV] = {"recv", "r:recv", "recv", "a message from another rank", FIELDS(recv_fields), false},
    [OBJECT_COPY] = {"copy", "r:copy", "copy", "a copy between GPU and host memory", FIELDS(copy_fields), false},
    [OBJECT_READ] = {"read", "r:read", "read", "samples from storage", FIELDS(read_fields), false},
    [OBJECT_COLLECTIVE] = {"collective", "a collective", "all_reduce", "an operation that all ranks of a group join",
                           FIELDS(collective_fields), false},
    [OBJECT_QUEUE] = {"queue", "sim.queue", "queue", "jobs that share a cluster", ENDED(queue_fields), true},
    [OBJECT_QUEUE_DEMAND] = {"queue.demand", NULL, "demand", "jobs to be drawn", ENDED(queue_demand_fields), true},
    [OBJECT_QUEUE_JOB] = {"queue.jobs", NULL, "jobs", "a job of a list", ENDED(queue_job_fields), false},
    [OBJECT_QUEUE_GOAL] = {"queue.goal", NULL, "goal", "how long jobs may wait: how many GPUs does it take?",
                           ENDED(queue_goal_fields), true},
    [OBJECT_PACKETS] = {"packets", "sim.packets", "packets", "flows as packets", ENDED(packets_fields), true},
    [OBJECT_PACKETS_FLOW] = {"packets.flows", NULL, "flows", "a flow of a list", ENDED(packets_flow_fields), false},
};

// ---- All objects: these, those of a training job, and the two of variable parameters.

static ObjectType types[OBJECT_COUNT];
static Field vary_fields[FIELDS_MOST], published_or_varied[FIELDS_MOST];

static Field variable(const Field *field, const char *name, const char *help, bool many) {
    Field made = *field;
    made.name = name;
    made.help = help;
    made.list = many;
    made.required = false;
    made.fallback = made.word = NULL;
    return made;
}

static int add_variables(Field *fields, int count, bool many) {
    for (int i = 0; i < COUNT_OF(cluster_variables); i++)
        fields[count++] = variable(&cluster_variables[i], cluster_variables[i].name, cluster_variables[i].help, many);
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (!field->varied) continue;
            CHECK(count < FIELDS_MOST);
            fields[count++] = variable(field, field->varied, field->help, many);
        }
    return count;
}

static int rows_until_last(const Field *fields) {
    int count = 0;
    while (fields && fields[count].name) count++;
    return count;
}

static void join_types(void) {
    memcpy(types, own_types, sizeof types);
    for (int o = 0; o < OBJECT_COUNT; o++)
        if (types[o].field_count == 0) types[o].field_count = rows_until_last(types[o].fields);
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++) {
        const JobObjectType *job = &job_objects[o];
        types[o] = (ObjectType){.name = job->name,
                                .call = o == JOB_TRAINING ? "sim.training" : NULL,
                                .word = job->word,
                                .help = job->help,
                                .fields = job->fields,
                                .field_count = job->field_count,
                                .settable = true};
    }
    memcpy(published_or_varied, published_fields, sizeof published_fields);
    types[OBJECT_VARY] =
        (ObjectType){"study.vary", NULL, "vary", "what to try", vary_fields, add_variables(vary_fields, 0, true), true};
    types[OBJECT_PUBLISHED] = (ObjectType){"study.published",
                                           NULL,
                                           "published",
                                           "a figure somebody measured",
                                           published_or_varied,
                                           add_variables(published_or_varied, COUNT_OF(published_fields), false),
                                           false};
}

const ObjectType *object_type(ObjectId id) {
    if (!types[OBJECT_CLUSTER].name) join_types();
    return &types[id];
}

const Field *field_find(ObjectId object, const char *name) {
    const ObjectType *type = object_type(object);
    for (int i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    return NULL;
}

int field_index(ObjectId object, const char *name) {
    const Field *field = field_find(object, name);
    CHECK(field);
    return (int)(field - object_type(object)->fields);
}

int field_names(ObjectId object, const char *names[FIELDS_MOST]) {
    const ObjectType *type = object_type(object);
    CHECK(type->field_count <= FIELDS_MOST);
    for (int i = 0; i < type->field_count; i++) names[i] = type->fields[i].name;
    return type->field_count;
}

// Options have '-' where fields have '_'.
static bool is_called(const char *word, const char *name) {
    size_t i = 0;
    while (word && word[i] && (word[i] == name[i] || (word[i] == '-' && name[i] == '_'))) i++;
    return word && !word[i] && !name[i];
}

static const char *place_in(Arena *arena, ObjectId object, const char *name) {
    const ObjectType *type = object_type(object);
    for (int i = 0; i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        bool is_it = is_called(field->name, name) || is_called(field->flag, name) || is_called(field->alias, name) ||
                     is_called(field->varied, name);
        if (is_it && field->example) return arena_printf(arena, "%s = %s", field->name, field->example);
    }
    for (int i = 0; i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        bool says = field->kind == FIELD_TABLE && field->inner != OBJECT_VARY && field->inner != OBJECT_PUBLISHED;
        const char *inside = says ? place_in(arena, (ObjectId)field->inner, name) : NULL;
        if (inside) return arena_printf(arena, "%s = { %s }", field->name, inside);
    }
    return NULL;
}

const char *field_elsewhere(Arena *arena, ObjectId object, const char *name) {
    static const ObjectId others[] = {OBJECT_TRAINING, OBJECT_CLUSTER, OBJECT_STUDY, OBJECT_EXPECT};
    const char *place = place_in(arena, object, name);
    for (int i = 0; i < COUNT_OF(others) && !place; i++) {
        const char *inside = others[i] == object ? NULL : place_in(arena, others[i], name);
        if (inside) place = arena_printf(arena, "%s { %s }", object_type(others[i])->call, inside);
    }
    return place;
}
