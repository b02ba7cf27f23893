// How a job is spread over GPUs: degrees, overlap, the routing of experts.
#include "models/workload/job/training.h"
#include "scenarios/fields/field_rows.h"

const Field parallel_fields[] = {
    {"tp", COUNT(1, 1e5), .fallback = "1", .example = "2", .help = "tensor parallelism: GPUs that share each layer"},
    {"pp", COUNT(1, 1e5), .example = "2",
     .help = "pipeline stages; when left out: 1, or all GPUs for strategy \"layers\""},
    {"vpp", COUNT(1, 1e4), .fallback = "1", .example = "2",
     .help = "virtual stages per GPU of an interleaved pipeline"},
    {"dp", COUNT(1, MOST_GPUS), .word = "fill", .fallback = "\"fill\"", .example = "\"fill\"",
     .help = "replicas; \"fill\": as many as the GPUs allow"},
    {"zero", COUNT(0, 3), .fallback = "0", .example = "1", .help = "the same as zero beside parallel"},
    {"shard", COUNT(1, MOST_GPUS), .example = "8",
     .help = "ranks over which zero spreads, then replicated; when left out: all of dp x cp"},
    {"cp", COUNT(1, 1e5), .fallback = "1", .example = "2",
     .help = "context parallelism: GPUs that share each sequence"},
    {"cp_exchange", CHOICE(context_exchange_names, CONTEXT_COUNT), .fallback = "\"ring\"", .example = "\"ulysses\"",
     .help = "how they get each other's keys and values: round a ring, all at once, or heads for tokens"},
    {"ep", COUNT(1, 1e5), .fallback = "1", .example = "8",
     .help = "expert parallelism: GPUs of dp x cp over which experts are spread"},
    {"sequence_parallel", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "norms and dropout are split over the tensor-parallel GPUs"},
    {"layers", COUNT(0, 1e5), .list = true, .example = "{ 3, 3, 3, 3 }",
     .help = "layers of each pipeline chunk (pp x vpp), in the model's order; when left out: even"},
    {"embedding_counts", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "the embedding counts as a layer where layers are spread evenly"},
    {"head_counts", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "the head counts as a layer where layers are spread evenly"},
};

const Field overlap_fields[] = {
    {"grad_reduce", .kind = FIELD_FLAG, .fallback = "true", .example = "true",
     .help = "gradients are reduced while backward runs"},
    {"param_gather", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "with zero = 1: weights are gathered while the next forward runs"},
    {"tp", .kind = FIELD_FLAG, .fallback = "false", .example = "true",
     .help = "tensor-parallel traffic passes in pieces beside the products next to it (user buffers, async TP)"},
};

const Field offload_fields[] = {
    {"optimizer", CHOICE(offload_names, OFFLOAD_COUNT), .fallback = "\"gpu\"", .example = "\"host\"",
     .help = "where its state lies: host, or disks of the node; the CPU updates the weights then"},
    {"parameters", CHOICE(offload_names, OFFLOAD_COUNT), .fallback = "\"gpu\"", .example = "\"nvme\"",
     .help = "where weights lie until their block needs them (zero = 3)"},
};

const Field horovod_fields[] = {
    {"cycle", SECONDS(ABOVE_ZERO), .fallback = "\"1 ms\"", .example = "\"5 ms\"",
     .help = "how often its thread looks for gradients (HOROVOD_CYCLE_TIME)"},
    {"fusion", BYTES(ABOVE_ZERO), .fallback = "\"128 MiB\"", .example = "\"64 MiB\"",
     .help = "most that is reduced in one go (HOROVOD_FUSION_THRESHOLD)"},
};

const Field routing_fields[] = {
    {"zipf", NUMBER(0, 10), .example = "0.5", .help = "the k-th most chosen expert gets a share as k^-zipf"},
    {"dirichlet", NUMBER(ABOVE_ZERO, 1e6), .example = "0.5",
     .help = "shares of each layer are drawn; the smaller the number, the less even (1: any shares are as likely)"},
    {"seed", COUNT(0, 9e15), .fallback = "1", .example = "7", .help = "of those draws"},
    {"histogram", NUMBER(0, 1e18), .list = true, .example = "{ 120, 80, 95, 105 }",
     .help = "tokens that each expert got in a recorded run, in the order of experts"},
};
