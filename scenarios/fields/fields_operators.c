// The fields of a user-defined model of operators.
#include "models/workload/model/operators.h"
#include "scenarios/fields/field_rows.h"

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
