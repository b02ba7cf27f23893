// A user-defined model: validation, and its blocks as lists of operators. Whether an operator's input matches the
// previous output is not checked: queries, keys and values, gates and sums read earlier outputs.
#include "models/workload/model/operators.h"

#include "models/workload/model/model_internal.h"

const char *const written_kind_names[WRITTEN_KIND_COUNT] = {
    "gemm", "attention", "norm", "elementwise", "lookup", "dispatch", "combine", "loss",
};
const char *const tensor_split_names[TENSOR_SPLIT_COUNT] = {"none", "columns", "rows"};

#define MOST_BLOCKS 100000
#define MOST_EXCHANGES 10 // operators of a block for which GPUs exchange something

const char *written_name(const WrittenOperator *one) { return one->name ? one->name : written_kind_names[one->kind]; }

static double key_heads(const WrittenOperator *one) { return one->kv_heads ? one->kv_heads : one->heads; }

static double query_and_keys(const WrittenOperator *one) { return (one->heads + 2 * key_heads(one)) * one->head_dim; }

double written_in(const WrittenOperator *one) {
    if (one->kind == WRITTEN_GEMM) return one->k;
    if (one->kind == WRITTEN_ATTENTION) return query_and_keys(one);
    return one->kind == WRITTEN_LOOKUP ? 0 : one->gated ? 2.0 * one->width : one->width;
}

double written_out(const WrittenOperator *one) {
    if (one->kind == WRITTEN_GEMM) return one->n;
    return one->kind == WRITTEN_ATTENTION ? (double)one->heads * one->head_dim : one->width;
}

// ---- Which sizes an operator has.

typedef struct Size {
    const char *name;
    int value;
    unsigned needed, may; // by kinds
} Size;

#define OF(kind) (1u << WRITTEN_##kind)
#define HAVE_WIDTH (OF(NORM) | OF(ELEMENTWISE) | OF(LOOKUP) | OF(DISPATCH) | OF(COMBINE) | OF(LOSS))

static void check_sizes(const WrittenOperator *one, Problems *problems) {
    const Size sizes[] = {
        {"n", one->n, OF(GEMM), 0},
        {"k", one->k, OF(GEMM), 0},
        {"rows", one->rows, OF(LOOKUP), 0},
        {"width", one->width, HAVE_WIDTH, 0},
        {"heads", one->heads, OF(ATTENTION), 0},
        {"kv_heads", one->kv_heads, 0, OF(ATTENTION)},
        {"head_dim", one->head_dim, OF(ATTENTION), 0},
        {"causal", one->causal, 0, OF(ATTENTION)},
        {"bias", one->bias, 0, OF(GEMM) | OF(NORM)},
        {"gated", one->gated, 0, OF(ELEMENTWISE)},
        {"passes", one->passes[0] > 0, 0, OF(ELEMENTWISE)},
        {"tp", one->split, 0, OF(GEMM) | OF(LOOKUP)},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool needed = sizes[i].needed >> one->kind & 1, may = sizes[i].may >> one->kind & 1;
        if (needed && sizes[i].value <= 0) {
            problem_add(problems, one->where, "%s, of kind %s, has no %s", written_name(one),
                        written_kind_names[one->kind], sizes[i].name);
            problem_hint(problems, "say %s = …", sizes[i].name);
        } else if (!needed && !may && sizes[i].value != 0) {
            problem_add(problems, one->where, "%s says %s, which operators of kind %s do not have", written_name(one),
                        sizes[i].name, written_kind_names[one->kind]);
            problem_hint(problems, "leave %s out", sizes[i].name);
        }
    }
    if (one->kind == WRITTEN_LOOKUP && one->split == SPLIT_COLUMNS) {
        problem_add(problems, one->where, "%s is split by columns, and tables are split by rows", written_name(one));
        problem_hint(problems, "tp = \"rows\"");
    }
}

// ---- Valid orders of operators.

typedef struct Scan { // of a block
    const WrittenModel *written;
    const WrittenOperator *columns, *dispatch; // that are not closed yet
    int exchanges;
    Problems *problems;
} Scan;

static void scan_experts(Scan *scan, const WrittenOperator *one) {
    bool routes = one->kind == WRITTEN_DISPATCH || one->kind == WRITTEN_COMBINE;
    if (routes && scan->written->experts == 0) {
        problem_add(scan->problems, one->where, "%s is for experts, and the model has none", written_name(one));
        problem_hint(scan->problems, "say experts and per_token beside blocks");
    } else if (routes && (one->kind == WRITTEN_DISPATCH) == (scan->dispatch != NULL)) {
        problem_add(scan->problems, one->where, "%s has no %s before it", written_name(one),
                    scan->dispatch ? "combine" : "dispatch");
        problem_hint(scan->problems, "dispatch, the experts' operators, combine");
    }
    if (one->kind == WRITTEN_DISPATCH) scan->dispatch = one;
    if (one->kind == WRITTEN_COMBINE) scan->dispatch = NULL;
    bool runs = one->kind == WRITTEN_ATTENTION || one->kind == WRITTEN_LOOKUP || one->kind == WRITTEN_LOSS;
    if (scan->dispatch && runs) {
        problem_add(scan->problems, one->where, "%s cannot stand between dispatch and combine", written_name(one));
        problem_hint(scan->problems, "experts have products, norms and element-wise operators");
    }
}

static void scan_split(Scan *scan, const WrittenOperator *one, bool splits) {
    if (one->kind == WRITTEN_GEMM && one->split == SPLIT_ROWS && !scan->columns) {
        problem_add(scan->problems, one->where, "%s is split by rows, and nothing before it gives parts of its input",
                    written_name(one));
        problem_hint(scan->problems, "split an earlier product of the block by columns");
    } else if (one->kind == WRITTEN_GEMM && one->split == SPLIT_NOT && (scan->columns || (scan->dispatch && splits))) {
        problem_add(scan->problems, one->where, "%s is whole on every GPU, and %s", written_name(one),
                    scan->columns ? "reads parts of its input" : "experts are split with the other products");
        problem_hint(scan->problems, "say tp = \"columns\" or tp = \"rows\"");
    } else if (scan->columns && (one->kind == WRITTEN_DISPATCH || one->kind == WRITTEN_COMBINE)) {
        problem_add(scan->problems, one->where, "%s moves whole tokens, and %s before it gives parts",
                    written_name(one), written_name(scan->columns));
        problem_hint(scan->problems, "close it with a product split by rows");
    }
}

// What follows from its place.
static void place_operator(Scan *scan, WrittenOperator *one, const WrittenOperator *before) {
    bool columns = one->kind == WRITTEN_GEMM && one->split == SPLIT_COLUMNS;
    one->routed = scan->dispatch && one->kind != WRITTEN_DISPATCH;
    one->enters = columns && !scan->columns && !one->routed;
    one->in_part = scan->columns != NULL;
    bool same = before && columns && before->kind == WRITTEN_GEMM && before->split == SPLIT_COLUMNS;
    bool attended = before && before->kind == WRITTEN_ATTENTION, sent = before && before->kind == WRITTEN_DISPATCH;
    one->input = attended ? KEPT_CAST : sent || (same && before->k == one->k) ? KEPT_NOT : KEPT_INPUT;
    if (columns) scan->columns = one;
    if (one->kind == WRITTEN_GEMM && one->split == SPLIT_ROWS) scan->columns = NULL;
    if (one->kind == WRITTEN_LOSS) scan->columns = NULL;
    scan->exchanges += one->enters || one->split == SPLIT_ROWS || one->kind == WRITTEN_LOSS ||
                       one->kind == WRITTEN_DISPATCH || one->kind == WRITTEN_COMBINE;
}

static void check_block(const WrittenModel *written, WrittenBlock *block, Problems *problems) {
    Scan scan = {.written = written, .problems = problems};
    if (block->count > OPERATORS_ROOM) {
        problem_add(problems, block->where, "a block has %d operators", block->count);
        problem_hint(problems, "at most %d; make it several blocks", OPERATORS_ROOM);
        return;
    }
    for (int i = 0; i < block->count; i++) {
        WrittenOperator *one = &block->operators[i];
        check_sizes(one, problems);
        scan_split(&scan, one, written->splits);
        scan_experts(&scan, one);
        place_operator(&scan, one, i > 0 ? one - 1 : NULL);
        if (one->kind == WRITTEN_ATTENTION && !written->tokens) {
            problem_add(problems, one->where, "%s looks at other tokens, and samples have none", written_name(one));
            problem_hint(problems, "samples = \"sequences\"");
        }
        if (one->kind == WRITTEN_ATTENTION && one->kv_heads > 0 && one->heads % one->kv_heads) {
            problem_add(problems, one->where, "%d heads of %s do not share %d key-value heads evenly", one->heads,
                        written_name(one), one->kv_heads);
            problem_hint(problems, "heads must be a multiple of kv_heads");
        }
    }
    const WrittenOperator *open = scan.columns ? scan.columns : scan.dispatch;
    if (open) {
        problem_add(problems, open->where, "the block ends before what %s began is closed", written_name(open));
        problem_hint(problems,
                     scan.columns ? "by a product with tp = \"rows\", or by a loss" : "by an operator of kind combine");
    }
    if (scan.exchanges > MOST_EXCHANGES) {
        problem_add(problems, block->where, "GPUs exchange something %d times in a block", scan.exchanges);
        problem_hint(problems, "at most %d times; make it several blocks", MOST_EXCHANGES);
    }
}

// ---- The model.

static int count_blocks(const WrittenModel *written, Where where, Problems *problems) {
    double count = 0;
    for (int b = 0; b < written->count; b++) count += written->blocks[b].times;
    if (count <= MOST_BLOCKS) return (int)count;
    problem_add(problems, where, "the model has %.0f blocks", count);
    problem_hint(problems, "at most %d", MOST_BLOCKS);
    return 0;
}

static const int *blocks_in_order(Arena *arena, const WrittenModel *written, int count) {
    int *block_of = ARENA_ARRAY(arena, int, count), next = 0;
    for (int b = 0; b < written->count; b++)
        for (int i = 0; i < written->blocks[b].times; i++) block_of[next++] = b;
    return block_of;
}

static bool any_split(const WrittenModel *written) {
    for (int b = 0; b < written->count; b++)
        for (int i = 0; i < written->blocks[b].count; i++)
            if (written->blocks[b].operators[i].split != SPLIT_NOT) return true;
    return false;
}

static void check_experts(const WrittenModel *written, Where where, Problems *problems) {
    if ((written->experts > 0) == (written->per_token > 0) && written->per_token <= written->experts) return;
    problem_add(problems, where, "a token cannot go to %d of %d experts", written->per_token, written->experts);
    problem_hint(problems, "say both, for example experts = 8, per_token = 2");
}

static const WrittenOperator *last_operator(const WrittenModel *written) {
    const WrittenBlock *last = &written->blocks[written->count - 1];
    return &last->operators[last->count - 1];
}

static bool has_ends(const WrittenModel *written, int count) {
    const WrittenBlock *first = written->blocks, *last = &written->blocks[written->count - 1];
    return count > 2 && first->times == 1 && last->times == 1 && first->operators->kind == WRITTEN_LOOKUP &&
           last_operator(written)->kind == WRITTEN_LOSS;
}

static bool any_is(const WrittenModel *written, WrittenKind kind, bool (*so)(const WrittenOperator *one)) {
    for (int b = 0; b < written->count; b++)
        for (int i = 0; i < written->blocks[b].count; i++)
            if (written->blocks[b].operators[i].kind == kind && so(&written->blocks[b].operators[i])) return true;
    return false;
}

static bool is_causal(const WrittenOperator *one) { return one->causal; }

static bool has_bias(const WrittenOperator *one) { return one->bias; }

const Model *model_written(Arena *arena, WrittenModel *written, Where where, Problems *problems) {
    int before = problems_added(problems), count = count_blocks(written, where, problems);
    written->splits = any_split(written);
    check_experts(written, where, problems);
    for (int b = 0; b < written->count; b++) check_block(written, &written->blocks[b], problems);
    if (problems_added(problems) > before) return NULL;
    written->block_of = blocks_in_order(arena, written, count);
    written->ends = has_ends(written, count);
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = written->name,
        .family = "operators",
        .source = "as given",
        .kind = MODEL_OPERATORS,
        .block_count = count,
        .layers = written->ends ? count - 2 : count,
        .hidden = written->ends ? written->blocks[0].operators[0].width : 0,
        .vocab = written->ends ? last_operator(written)->width : 0,
        .max_positions = written->max_positions,
        .causal = any_is(written, WRITTEN_ATTENTION, is_causal),
        .rms_norm = !any_is(written, WRITTEN_NORM, has_bias),
        .experts = {.count = written->experts, .per_token = written->per_token},
        .head_share = 1,
        .written = written,
    };
    return model;
}

const WrittenBlock *written_block(const Model *model, int block) {
    return &model->written->blocks[model->written->block_of[block]];
}

bool written_has_experts(const Model *model, int block) {
    const WrittenBlock *here = written_block(model, block);
    for (int i = 0; i < here->count; i++)
        if (here->operators[i].kind == WRITTEN_DISPATCH) return true;
    return false;
}

const WrittenOperator *written_undivided(const Model *model, int tp) {
    for (int b = 0; b < model->written->count; b++)
        for (int i = 0; i < model->written->blocks[b].count; i++) {
            const WrittenOperator *one = &model->written->blocks[b].operators[i];
            int in = one->kind == WRITTEN_LOOKUP ? one->rows : one->k;
            bool divides = one->split == SPLIT_COLUMNS ? one->n % tp == 0 : one->split != SPLIT_ROWS || in % tp == 0;
            if (one->in_part && one->kind == WRITTEN_ATTENTION)
                divides = one->heads % tp == 0 && (int)key_heads(one) % tp == 0;
            if (!divides) return one;
        }
    return NULL;
}

// ---- As operators.

static const OperatorKind kind_of[WRITTEN_KIND_COUNT] = {
    [WRITTEN_GEMM] = OPERATOR_GEMM,           [WRITTEN_ATTENTION] = OPERATOR_ATTENTION,
    [WRITTEN_NORM] = OPERATOR_NORM,           [WRITTEN_ELEMENTWISE] = OPERATOR_ELEMENTWISE,
    [WRITTEN_LOOKUP] = OPERATOR_LOOKUP,       [WRITTEN_DISPATCH] = OPERATOR_ELEMENTWISE,
    [WRITTEN_COMBINE] = OPERATOR_ELEMENTWISE, [WRITTEN_LOSS] = OPERATOR_LOSS,
};

// A column's bias is split with it; one that is added to a sum is whole.
static LayerWeights product_weights(const Model *model, const WrittenOperator *one) {
    double matrix = (double)one->n * one->k, bias = one->bias ? one->n : 0;
    if (one->routed) return (LayerWeights){.routed = (matrix + bias) * model->experts.count};
    if (one->split == SPLIT_NOT) return (LayerWeights){.whole = matrix + bias};
    if (one->split == SPLIT_COLUMNS) return (LayerWeights){.split = matrix + bias};
    return (LayerWeights){.split = matrix, .whole = bias};
}

static Operator product(const Model *model, const WrittenOperator *one, const Portion *portion, double tokens) {
    double batch = one->routed ? model->experts.count / portion->ep : 1;
    double n = one->split == SPLIT_COLUMNS ? one->n / portion->tp : one->n;
    double k = one->split == SPLIT_ROWS ? one->k / portion->tp : one->k;
    return (Operator){.batch = batch,
                      .m = tokens / batch,
                      .n = n,
                      .k = k,
                      .flops = 2 * tokens * n * k,
                      .weights = product_weights(model, one),
                      .kept = {{one->input, tokens * k}}};
}

// Scores over the whole square, masked or not, as the library's models have them.
static Operator attention(const WrittenOperator *one, const Portion *portion) {
    double part = one->in_part ? portion->tp : 1, wide = written_out(one) / part, heads = one->heads / part;
    double keys = 2 * key_heads(one) * one->head_dim / part;
    return (Operator){.m = portion->tokens,
                      .n = portion->seq_len,
                      .flops = 4 * portion->tokens * portion->seq_len * wide,
                      .read = portion->tokens * (wide + keys),
                      .written = portion->tokens * wide,
                      .kept = {{KEPT_ELEMENTS, portion->tokens * (2 * wide + keys)},
                               {KEPT_SCORES, portion->tokens * heads * portion->seq_len}}};
}

static Operator written_operator(const Model *model, const WrittenOperator *one, const Portion *portion) {
    double tokens = one->routed ? portion->routed : portion->tokens, part = one->in_part ? portion->tp : 1;
    double elements = tokens * one->width / part;
    switch (one->kind) {
    case WRITTEN_GEMM:
        return product(model, one, portion, tokens);
    case WRITTEN_ATTENTION:
        return attention(one, portion);
    case WRITTEN_NORM: {
        double weights = one->bias ? 2.0 * one->width : one->width;
        return (Operator){.read = elements + weights,
                          .written = elements,
                          .weights.whole = weights,
                          .half = HALF_PASSES,
                          .kept = {{KEPT_STREAM, elements}, {one->bias ? KEPT_MASK : KEPT_NOT, elements}}};
    }
    case WRITTEN_ELEMENTWISE: {
        double read = one->gated ? 2 * elements : elements;
        return (Operator){.read = read,
                          .written = elements,
                          .kept = {{KEPT_ELEMENTS, read}, {one->gated ? KEPT_GATE : KEPT_NOT, elements}}};
    }
    case WRITTEN_LOOKUP: {
        double table = (double)one->rows * one->width;
        double split = one->split == SPLIT_ROWS ? table : 0;
        return (Operator){.read = elements, .written = elements, .weights = {.split = split, .whole = table - split}};
    }
    case WRITTEN_DISPATCH: {
        double routed = portion->routed * one->width;
        return (Operator){
            .read = routed, .written = routed, .kept = {{KEPT_INPUT, routed}}, .region = REGION_DISPATCHES};
    }
    case WRITTEN_COMBINE: {
        double routed = portion->routed * one->width;
        return (Operator){.read = routed,
                          .written = portion->tokens * one->width,
                          .kept = {{KEPT_SORTED, routed}},
                          .region = REGION_COMBINES};
    }
    case WRITTEN_LOSS:
        return (Operator){.read = elements, .written = elements, .kept = {{KEPT_LOGARITHMS, elements}}};
    case WRITTEN_KIND_COUNT:
        break;
    }
    CHECK(false);
    return (Operator){0};
}

void written_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    const WrittenBlock *here = written_block(model, block);
    bool logits = here->operators[here->count - 1].kind == WRITTEN_LOSS;
    for (int i = 0; i < here->count; i++) {
        const WrittenOperator *one = &here->operators[i];
        Operator made = written_operator(model, one, portion);
        made.name = written_name(one);
        made.kind = kind_of[one->kind];
        made.in_16_bits =
            one->kind == WRITTEN_GEMM && (logits || (i + 1 < here->count && one[1].kind == WRITTEN_DISPATCH));
        if (one->kept >= 0) {
            double tokens = one->routed ? portion->routed : portion->tokens;
            made.kept[0] = (Kept){KEPT_ELEMENTS, tokens * one->kept / (one->in_part ? portion->tp : 1)};
            made.kept[1] = (Kept){0};
        }
        add_operator(operators, made);
    }
}
