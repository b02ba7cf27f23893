// The fields of objects with a table of their own.
#include "scenarios/fields/field_rows.h"

#include "models/hardware/market.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/model/operators.h"
#include "models/workload/queue/queue.h"
#include "sim/packet/packet.h"

// ---- Expectations: job:expect { … }.

const Field expect_fields[] = {
    {"memory", BOUND(QUANTITY_BYTES), .example = "\"< 76 GiB\"", .help = "of the fullest GPU"},
    {"step_time", BOUND(QUANTITY_TIME), .example = "\"< 1.5 s\"", .help = "median time of a step"},
    {"mfu", BOUND(QUANTITY_NUMBER), .example = "\"> 0.35\"", .help = "model FLOP utilisation"},
    {"hfu", BOUND(QUANTITY_NUMBER), .example = "\"> 0.35\"",
     .help = "hardware FLOP utilisation, recomputation included"},
    {"efficiency", BOUND(QUANTITY_NUMBER), .example = "\"> 0.8\"", .help = "against as many single GPUs"},
    {"samples_per_s", BOUND(QUANTITY_NUMBER), .example = "\"> 4000\"", .help = "samples per second of the cluster"},
    {"tokens_per_s", BOUND(QUANTITY_NUMBER), .example = "\"> 1e6\"", .help = "tokens per second of the cluster"},
    {"total_time", BOUND(QUANTITY_TIME), .example = "\"< 30 d\"", .help = "of the whole run"},
    {"days", BOUND(QUANTITY_NUMBER), .example = "\"< 30\"", .help = "of the whole run"},
    {"goodput", BOUND(QUANTITY_NUMBER), .example = "\"> 0.9\"", .help = "share of the time that is training"},
    {"cost_per_hour", BOUND(QUANTITY_NUMBER), .example = "\"< 200\"", .help = "of the cluster, in its currency"},
    {"cost_per_month", BOUND(QUANTITY_NUMBER), .example = "\"< 150000\"", .help = "of the cluster, in its currency"},
    {"cost_per_run", BOUND(QUANTITY_NUMBER), .example = "\"< 2e6\"",
     .help = "of the whole run, in the cluster's currency"},
    {"energy", BOUND(QUANTITY_NUMBER), .example = "\"< 5000\"", .help = "of the whole run, in kWh"},
    {"carbon", BOUND(QUANTITY_NUMBER), .example = "\"< 2000\"", .help = "of the whole run, in kg CO2e"},
    {"power", BOUND(QUANTITY_NUMBER), .example = "\"< 50000\"", .help = "average at the wall, in watts"},
    LAST_FIELD,
};

// ---- Fabrics.

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

// ---- Models of operators.

static const char *const counted[] = {"sequences", "samples"};

#define ONE_OPERATOR "{ op = \"gemm\", n = 512, k = 784 }"

const Field operators_fields[] = {
    {"name", .kind = FIELD_TEXT, .fallback = "\"operators\"", .example = "\"my-moe\"", .help = "name in tables"},
    {"samples", CHOICE(counted, 2), .fallback = "\"sequences\"", .example = "\"samples\"",
     .help = "what sizes are of: each token of sequences, or each sample"},
    {"max_positions", COUNT(1, MOST_SIZE), .fallback = "2048", .example = "4096", .help = "longest sequence"},
    {"experts", COUNT(1, 4096), .example = "8", .help = "experts of a layer, between dispatch and combine"},
    {"per_token", COUNT(1, 4096), .example = "2", .help = "experts that each token goes to"},
    {"blocks", TABLE(OBJECT_OPERATORS_BLOCK), .list = true, .required = true,
     .example = "{ { name = \"linear\", operators = { " ONE_OPERATOR " } } }",
     .help = "in order; pipelines and layer-wise splits cut between them"},
    LAST_FIELD,
};

const Field operators_block_fields[] = {
    {"name", .kind = FIELD_TEXT, .example = "\"layer\"", .help = "name in tables; when left out: its number"},
    {"times", COUNT(1, 1e5), .fallback = "1", .example = "32", .help = "so many of it, one after the other"},
    {"operators", TABLE(OBJECT_OPERATOR), .list = true, .required = true, .example = "{ " ONE_OPERATOR " }",
     .help = "in the order in which forward runs them"},
    LAST_FIELD,
};

const Field operator_fields[] = {
    {"op", CHOICE(written_kind_names, WRITTEN_KIND_COUNT), .required = true, .example = "\"gemm\"",
     .help = "its kind; a norm comes with the sum and the dropout beside it, dispatch and combine enclose experts"},
    {"name", .kind = FIELD_TEXT, .example = "\"qkv\"", .help = "name in messages; when left out: its kind"},
    {"n", COUNT(1, MOST_SIZE), .example = "12288", .help = "gemm: numbers that come out, all GPUs together"},
    {"k", COUNT(1, MOST_SIZE), .example = "4096", .help = "gemm: numbers that go in, all GPUs together"},
    {"rows", COUNT(1, MOST_SIZE), .example = "32000", .help = "lookup: entries of the table"},
    {"width", COUNT(1, MOST_SIZE), .example = "4096",
     .help = "norm, elementwise, lookup, dispatch, combine, loss: numbers that come out, all GPUs together"},
    {"heads", COUNT(1, 1e5), .example = "32", .help = "attention: heads of queries"},
    {"kv_heads", COUNT(1, 1e5), .example = "8", .help = "attention: heads of keys and values; when left out: heads"},
    {"head_dim", COUNT(1, 1e6), .example = "128", .help = "attention: width of a head"},
    {"causal", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "attention: looks at earlier tokens only"},
    {"bias", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "gemm: adds a learned bias; norm: is LayerNorm, and not RMSNorm without bias and dropout"},
    {"gated", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "elementwise: reads two of its width, as SwiGLU does"},
    {"tp", CHOICE(tensor_split_names, TENSOR_SPLIT_COUNT), .fallback = "\"none\"", .example = "\"columns\"",
     .help = "gemm, lookup: how tensor parallelism splits its weights; from columns to rows GPUs work on parts"},
    {"passes", NUMBER(0.1, 1000), .list = true, .example = "{ 3, 5 }",
     .help = "elementwise: tensors of its width read and written, forward and backward; when left out: as an "
             "activation's"},
    {"kept", NUMBER(0, 1e12), .example = "4096",
     .help = "numbers of each token kept for backward; when left out: what its kind reads"},
    LAST_FIELD,
};

// ---- A cluster's cost: rented, or owned.

#define MONEY NUMBER(0, 1e12)

const Field price_fields[] = {
    {"gpu_hour", NUMBER(0, 1e6), .example = "2.49",
     .help = "price of one GPU for one hour; when left out: a line of the price book"},
    {"nodes", .kind = FIELD_TEXT, .example = "\"dgx-h100=2.49\"",
     .help = "price of a GPU-hour in nodes of these types, before all else: \"dgx-h100=2.49,dgx-h200=3.10\""},
    {"currency", .kind = FIELD_TEXT, .example = "\"EUR\"",
     .help = "of all amounts; when left out: USD, or the price book's"},
    {"book", .kind = FIELD_TEXT, .example = "\"azure-h100-1y\"",
     .help = "this line of the price book (see: lockstep hw list price)"},
    {"provider", .kind = FIELD_TEXT, .example = "\"runpod\"", .help = "whose newest price for these machines or GPUs"},
    {"region", .kind = FIELD_TEXT, .example = "\"us-east-1\"", .help = "of the provider"},
    {"terms", CHOICE(terms_names, TERMS_COUNT), .example = "\"reserved_1y\"",
     .help = "how it is rented; when left out: on demand"},
    {"storage", BYTES(0), .example = "\"100 TB\"", .help = "kept at the provider all the time"},
    {"egress", BYTES(0), .example = "\"2 TB\"", .help = "carried out of the provider's network once in a run"},
    {"discount", NUMBER(0, 0.99), .example = "0.15", .help = "share of the rent that is taken off"},
    {"support", NUMBER(0, 1), .example = "0.03", .help = "share of the rent that support costs"},
    {"tax", NUMBER(0, 1), .example = "0.19", .help = "share of everything"},
    {"without", .kind = FIELD_TEXT, .example = "\"staff,energy\"",
     .help = "rows of the bill that somebody else pays for"},
    LAST_FIELD,
};

const Field own_fields[] = {
    {"site", .kind = FIELD_TEXT, .fallback = "\"colocation\"", .example = "\"enterprise\"",
     .help = "where the machines stand (see: lockstep hw list site)"},
    {"years", NUMBER(0.1, 50), .fallback = "4", .example = "4", .help = "of use, after which they are sold"},
    {"interest", NUMBER(0, 1), .fallback = "0.08", .example = "0.08", .help = "per year"},
    {"residual", NUMBER(0, 1), .example = "0.2",
     .help = "share of the price they are sold for; when left out: 0.3 after 3 years, falling by that factor"},
    {"utilisation", NUMBER(0.001, 1), .fallback = "0.8", .example = "0.8",
     .help = "share of all hours in which a job runs"},
    {"currency", .kind = FIELD_TEXT, .example = "\"INR\"", .help = "of all amounts; when left out: USD"},
    {"node_price", MONEY, .example = "350000", .help = "of a node with its GPUs; 0: you have it already"},
    {"node_prices", .kind = FIELD_TEXT, .example = "\"dgx-h100=240k\"",
     .help = "of nodes of these types, before node_price: \"dgx-h100=240k,dgx-h200=310k\""},
    {"switch_price", MONEY, .example = "17000", .help = "of a switch"},
    {"nic_price", MONEY, .example = "8000",
     .help = "of a NIC; when stated nodes get new ones, else only where theirs are slower than the fabric"},
    {"cable_price", MONEY, .example = "400", .help = "of a cable with what stands at its ends"},
    {"storage_price", MONEY, .fallback = "0", .example = "250000", .help = "of shared storage, all of it"},
    {"electricity", MONEY, .example = "0.08", .help = "of a kWh; when left out: the site's"},
    {"colocation", MONEY, .example = "180", .help = "of a kW and month; when left out: the site's"},
    {"staff", MONEY, .example = "90000", .help = "a year, all together; when left out: the site's, by nodes"},
    {"maintenance", NUMBER(0, 1), .example = "0.03", .help = "share of the machines' price a year"},
    {"tax", NUMBER(0, 1), .example = "0.19", .help = "share of everything"},
    {"without", .kind = FIELD_TEXT, .example = "\"staff,energy\"",
     .help = "rows of the bill that somebody else pays for"},
    LAST_FIELD,
};

const Field cost_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster"},
    {"time", .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = 0, .most = 1e10, .example = "\"30 d\"",
     .help = "of a run, for cost_per_run"},
    LAST_FIELD,
};

// ---- Failures and checkpoints.

#define LONG_SPAN .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = 1, .most = 1e11

const Field faults_fields[] = {
    {"rates", .kind = FIELD_TEXT, .fallback = "\"llama3-h100\"", .example = "\"rsc-1\"",
     .help = "whose failure rates (see: lockstep hw list faults)"},
    {"node_mtbf", LONG_SPAN, .example = "\"20000 h\"",
     .help = "your own mean time between failures of a node, all causes; the rates then say the mix"},
    {"repair", LONG_SPAN, .example = "\"6 h\"", .help = "mean time until a node is back; when left out: the rates'"},
    {"spares", COUNT(0, 1e5), .example = "4", .help = "nodes that stand by; when left out: 5 %"},
    {"restart", LONG_SPAN, .example = "\"5 min\"", .help = "of the job, without reading the checkpoint"},
    LAST_FIELD,
};

// ---- A shared cluster.

#define SPAN(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = (least_), .most = (most_)

const Field queue_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster, of one type of node"},
    {"title", .kind = FIELD_TEXT, .example = "\"our cluster\"", .help = "headline of tables and plots"},
    {"policy", CHOICE(queue_policy_names, QUEUE_POLICY_COUNT), .list = true, .example = "{ \"fifo\", \"easy\" }",
     .help = "who goes first and who may pass; when left out: all, side by side"},
    {"placement", CHOICE(queue_placement_names, QUEUE_PLACEMENT_COUNT), .fallback = "\"pack-leaves\"",
     .example = "\"spread\"", .help = "where jobs go"},
    {"demand", TABLE(OBJECT_QUEUE_DEMAND), .example = "{ mix = \"gavel\", load = 0.9 }", .help = "jobs to be drawn"},
    {"jobs", TABLE(OBJECT_QUEUE_JOB), .list = true, .example = "{ { gpus = 8, duration = \"2 h\" } }",
     .help = "jobs one by one, instead of demand"},
    {"trace", .kind = FIELD_TEXT, .example = "\"jobs.csv\"",
     .help = "a trace beside the scenario, instead of demand (see docs/queue.md)"},
    {"run", VALUE(HANDLE_TRAINING), .example = "job",
     .help = "whose step says how a job suffers from being spread; when left out: not at all"},
    {"goal", TABLE(OBJECT_QUEUE_GOAL), .example = "{ wait_p95 = \"1 h\" }",
     .help = "how many GPUs are needed; the cluster's own number is of no matter then"},
    {"half_life", SPAN(1, 1e9), .example = "\"7 d\"", .help = "of usage, for fair-share; when left out: 7 days"},
    {"depth", COUNT(1, 1000), .fallback = "32", .example = "64", .help = "starts that conservative backfill reserves"},
    {"checkpoint_every", SPAN(1, 1e9), .example = "\"30 min\"",
     .help = "jobs save their state after so much work; when left out: never"},
    {"checkpoint_cost", SPAN(0, 1e9), .fallback = "\"30 s\"", .example = "\"1 min\"",
     .help = "of one, and before a job makes room for an urgent one"},
    {"restart", SPAN(0, 1e9), .example = "\"5 min\"",
     .help = "of a stopped job before it works again; when left out: as the rates of failures have it"},
    {"warm_up", NUMBER(0, 0.9), .example = "0.1",
     .help =
         "part of the jobs that come first and are not counted; when left out: by MSER-5, at least 0.1, of drawn jobs"},
    {"within", NUMBER(1e-4, 1), .example = "0.05",
     .help = "half of a 90 % interval over its figure, sought by longer runs; when left out: 0.05 within two seconds"},
    {"quota", .kind = FIELD_TEXT, .example = "\"research:128,*:32\"",
     .help = "GPUs that a group of the trace, a user of the list or a drawn user by number holds at most"},
    {"weights", .kind = FIELD_TEXT, .example = "\"age:1,share:1\"",
     .help = "of the policy multifactor: age, share, size, priority"},
    {"elastic", NUMBER(1e-3, 1), .example = "0.25",
     .help = "jobs start on as little as this part of their GPUs; when left out: on all"},
    {"scaling", NUMBER(0.01, 1), .fallback = "0.9", .example = "0.8",
     .help = "with elastic: speed on n of N GPUs is (n/N)^this"},
    {"seeds", COUNT(1, 1000), .fallback = "5", .example = "10", .help = "repetitions with other jobs"},
    {"notes", .kind = FIELD_TEXT, .list = true, .example = "{ \"the mix is a guess\" }",
     .help = "sentences for beside the answer"},
    LAST_FIELD,
};

const Field queue_demand_fields[] = {
    {"mix", CHOICE(queue_mix_names, 4), .fallback = "\"gavel\"", .example = "\"helios\"",
     .help = "a published mix of jobs (see: lockstep queue --mixes)"},
    {"count", COUNT(1, 2e6), .fallback = "10000", .example = "20000",
     .help = "jobs to draw; when left out: as many as `within` needs"},
    {"load", NUMBER(1e-6, 100), .example = "0.9", .help = "work that comes over what all GPUs can do"},
    {"per_hour", NUMBER(1e-6, 1e9), .example = "20", .help = "arrivals, instead of load"},
    {"sizes", .kind = FIELD_TEXT, .example = "\"1:0.7,8:0.3\"", .help = "GPUs and shares, instead of the mix's"},
    {"durations", .kind = FIELD_TEXT, .example = "\"exponential:1h\"",
     .help = "exponential:MEAN, fixed:TIME or lognormal:MEDIAN:MEAN, instead of the mix's"},
    {"burstiness", NUMBER(0, 1e4), .fallback = "1", .example = "4",
     .help = "squared coefficient of variation of the time between arrivals; 1 is Poisson"},
    {"users", COUNT(1, 1e5), .fallback = "20", .example = "50", .help = "users, some busier than others"},
    {"urgent_share", NUMBER(0, 1), .fallback = "0", .example = "0.1",
     .help = "part of the jobs with a higher priority"},
    {"estimate_error", NUMBER(0, 1000), .fallback = "0", .example = "2",
     .help = "users say 1 to 1 + this times the truth"},
    LAST_FIELD,
};

const Field queue_job_fields[] = {
    {"gpus", COUNT(1, MOST_GPUS), .required = true, .example = "8", .help = "GPUs, all at once"},
    {"duration", SPAN(1e-3, 1e9), .required = true, .example = "\"2 h\"", .help = "undisturbed, on GPUs side by side"},
    {"submit", SPAN(0, 1e9), .fallback = "0", .example = "\"10 min\"", .help = "when it comes"},
    {"estimate", SPAN(1e-3, 1e9), .example = "\"4 h\"",
     .help = "of the duration, by its user; when left out: the truth"},
    {"user", .kind = FIELD_TEXT, .fallback = "\"\"", .example = "\"ada\"", .help = "whose it is"},
    {"share", NUMBER(1e-3, 0.999), .example = "0.5",
     .help = "of its one GPU, shared with others; when left out: all of it"},
    {"priority", COUNT(0, 1e6), .fallback = "0", .example = "1", .help = "larger goes first under priority"},
    LAST_FIELD,
};

const Field queue_goal_fields[] = {
    {"wait_mean", SPAN(0, 1e9), .example = "\"10 min\"", .help = "jobs wait so long in the mean"},
    {"wait_p50", SPAN(0, 1e9), .example = "\"1 min\"", .help = "half of all jobs wait no longer"},
    {"wait_p90", SPAN(0, 1e9), .example = "\"1 h\"", .help = "90 % of all jobs wait no longer"},
    {"wait_p95", SPAN(0, 1e9), .example = "\"1 h\"", .help = "95 % of all jobs wait no longer"},
    {"wait_p99", SPAN(0, 1e9), .example = "\"1 d\"", .help = "99 % of all jobs wait no longer"},
    {"chance", NUMBER(0.01, 0.999), .fallback = "0.9", .example = "0.8", .help = "that a run meets it"},
    {"most_gpus", COUNT(1, MOST_GPUS), .fallback = "100000", .example = "4096", .help = "no more are tried"},
    LAST_FIELD,
};

// ---- Packets: sim.packets, and the options of lockstep packets.

#define SIZE(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_BYTES, .least = (least_), .most = (most_)

const char *const packets_patterns[PACKETS_PATTERNS] = {"incast", "permutation", "all_to_all"};
static const char *const routings[] = {"ecmp", "spray", "adaptive"};
static const char *const queue_places[] = {"outputs", "inputs"};

#define USUAL "; when left out: as the transport is used to"

const Field packets_fields[] = {
    {"pattern", CHOICE(packets_patterns, PACKETS_PATTERNS), .example = "\"incast\"",
     .help = "who sends to whom: all to the last host, each to one other, all to all; when left out: flows alone"},
    {"flows", TABLE(OBJECT_PACKETS_FLOW), .list = true, .most = PACKETS_FLOWS_MOST,
     .example = "{ { from = 3, to = 0, bytes = \"500 kB\" } }", .help = "flows one by one, beside the pattern's"},
    {"collective", .kind = FIELD_TEXT, .example = "\"all_to_all\"",
     .help =
         "of all GPUs of `on`, instead of pattern and flows, over that cluster's own fabric: as lockstep collective "
         "--fidelity packet"},
    {"on", VALUE(HANDLE_CLUSTER), .example = "cluster", .help = "the cluster of a collective"},
    {"algorithm", .kind = FIELD_TEXT, .example = "\"pairwise\"",
     .help = "of a collective; when left out: the back end's own choice"},
    {"transport", CHOICE(packet_transport_names, PACKET_TRANSPORTS), .flag = "transport", .fallback = "\"dcqcn\"",
     .example = "\"dctcp\"", .help = "what senders do about congestion"},
    {"hosts", COUNT(2, 32768), .flag = "hosts", .fallback = "64", .example = "33", .help = "how many"},
    {"hosts_per_leaf", COUNT(2, 256), .flag = "hosts-per-leaf", .example = "8",
     .help = "as many spines above them; when left out: all on one switch"},
    {"size", SIZE(1, 1e12), .flag = "size", .fallback = "\"1 MB\"", .example = "\"500 kB\"", .help = "of each flow"},
    {"rate", .kind = FIELD_QUANTITY, .quantity = QUANTITY_BANDWIDTH, .least = 1e6, .most = 1e12, .flag = "rate",
     .fallback = "\"100 Gb/s\"", .example = "\"400 Gb/s\"", .help = "of each cable, one direction"},
    {"latency", SPAN(1e-9, 1), .flag = "latency", .fallback = "\"1 us\"", .example = "\"500 ns\"",
     .help = "of each cable with what is at its ends"},
    {"payload", SIZE(64, 65536), .flag = "payload", .fallback = "\"4096 B\"", .example = "\"1438 B\"",
     .help = "of a packet"},
    {"routing", CHOICE(routings, 3), .flag = "routing", .fallback = "\"ecmp\"", .example = "\"spray\"",
     .help = "ecmp: one way a flow, by hash; spray, adaptive: a way a packet"},
    {"queues", CHOICE(queue_places, 2), .flag = "queues", .fallback = "\"outputs\"", .example = "\"inputs\"",
     .help = "where packets wait in a switch: outputs; inputs: one queue a cable, whose first packet alone may leave"},
    {"buffer", SIZE(1e4, 1e12), .flag = "buffer", .fallback = "\"32 MB\"", .example = "\"4 MB\"",
     .help = "of a switch, shared by its ports; when left out: so much for each 128 ports, where there are more"},
    {"loss", NUMBER(0, 0.5), .flag = "loss", .fallback = "0", .example = "0.001",
     .help = "share of packets that each cable loses"},
    {"window", NUMBER(0.01, 1e7), .flag = "window", .example = "64",
     .help = "packets that a flow may have under way at first (of ndp: unasked, of window: always)" USUAL},
    {"timeout", SPAN(1e-6, 100), .flag = "timeout", .example = "\"1 ms\"",
     .help = "after which a packet is sent again at the soonest" USUAL},
    {"target", SPAN(1e-9, 1), .flag = "target", .example = "\"25 us\"",
     .help = "round trip: swift's base, timely's T_low, hpcc's; when left out: one without waiting, 50 us, one"},
    {"hop_target", SPAN(0, 1), .flag = "hop-target", .example = "\"2 us\"",
     .help = "swift's target: more for each cable of a way; when left out: a round trip without waiting, divided among "
             "those of the longest"},
    {"fs_range", SPAN(0, 1), .flag = "fs-range", .example = "\"60 us\"",
     .help = "swift's target: most that flow scaling adds, to small windows; when left out: 5 round trips without "
             "waiting"},
    {"fs_min_cwnd", NUMBER(0.01, 1e6), .flag = "fs-min-cwnd", .example = "0.1",
     .help = "swift: packets, a window to which all of fs_range is added; when left out: 0.1"},
    {"fs_max_cwnd", NUMBER(0.01, 1e6), .flag = "fs-max-cwnd", .example = "100",
     .help = "swift: packets, a window to which nothing is added; when left out: 100"},
    {"mark_from", SIZE(1, 1e12), .flag = "mark-from", .example = "\"100 kB\"",
     .help = "that wait at a port: from then on packets are marked" USUAL},
    {"mark_to", SIZE(1, 1e12), .flag = "mark-to", .example = "\"400 kB\"",
     .help = "above which all are; when left out: mark_from, with pauses four times that"},
    {"mark_most", NUMBER(0, 1), .flag = "mark-most", .example = "0.2",
     .help = "share that is marked just below mark_to; when left out: 1, with pauses 0.2"},
    {"pause", SIZE(0, 1e12), .flag = "pause", .example = "\"200 kB\"",
     .help = "that came by one cable and wait: above it its sender is paused; 0 B: never" USUAL},
    {"credits", SIZE(1, 1e12), .flag = "credits", .example = "\"64 kB\"",
     .help = "room for each lane at the far end of a cable: who has none waits, as on InfiniBand; when left out: a "
             "port's part of the buffer there, none elsewhere"},
    {"queue", SIZE(1, 1e12), .flag = "queue", .example = "\"64 kB\"",
     .help = "that may wait at one port, where nothing pauses" USUAL},
    {"seed", .kind = FIELD_SEED, .flag = "seed", .example = "7",
     .help = "of hashes, marks and losses; when left out: 1, or what lockstep run --seed says"},
    {"each_flow", .kind = FIELD_FLAG, .flag = "each-flow", .example = "true",
     .help = "a row for each flow (-v, --json, --csv); when left out: where flows are written one by one"},
    {"title", .kind = FIELD_TEXT, .example = "\"a burst of 32\"", .help = "headline of the answer"},
    LAST_FIELD,
};

const Field packets_flow_fields[] = {
    {"from", COUNT(0, 32767), .required = true, .example = "3", .help = "host that sends, from 0"},
    {"to", COUNT(0, 32767), .required = true, .example = "0", .help = "host that receives"},
    {"bytes", SIZE(1, 1e12), .example = "\"500 kB\"", .help = "of payload; when left out: the size of the others"},
    {"lane", COUNT(0, PACKET_LANES - 1), .fallback = "0", .example = "1",
     .help = "virtual lane: lanes take turns on each cable, and have credits of their own"},
    {"start", SPAN(0, 1e6), .fallback = "\"0 s\"", .example = "\"10 us\"", .help = "when its first packet may be sent"},
    LAST_FIELD,
};
