// lockstep model show NAME --operators: each layer's forward operators, on one sample and one GPU.
#include "models/workload/model/model_internal.h"
#include "scenarios/questions/models.h"

#define ELEMENT_BYTES 2 // of weights and activations, as in mixed precision

// With flash attention, fused kernels and a stream of 16 bits; other software keeps more.
static double kept_bytes(const Operator *one) {
    static const double bytes[KEPT_AS_COUNT] = {
        [KEPT_ELEMENTS] = ELEMENT_BYTES,
        [KEPT_INPUT] = ELEMENT_BYTES,
        [KEPT_NORMED] = ELEMENT_BYTES,
        [KEPT_STREAM] = ELEMENT_BYTES,
        [KEPT_SORTED] = ELEMENT_BYTES,
        [KEPT_PIXELS] = ELEMENT_BYTES,
        [KEPT_MASK] = 1,
        [KEPT_LOGARITHMS] = 4,
    };
    double kept = 0;
    for (int i = 0; i < 3; i++) kept += one->kept[i].elements * bytes[one->kept[i].as];
    return kept;
}

static double moved_bytes(const Operator *one) { return ELEMENT_BYTES * (one->read + one->written); }

static double parameters_of(const Operator *one) {
    return one->weights.split + one->weights.routed + one->weights.whole;
}

static const char *product_text(Arena *arena, const Operator *one) {
    if (!(one->k > 0)) return "";
    const char *times = one->batch > 1 ? arena_printf(arena, "%.0f of ", one->batch) : "";
    return arena_printf(arena, "%s%.0f x %.0f x %.0f", times, one->m, one->n, one->k);
}

static AnswerValue or_none(AnswerUnit unit, double value) { return answer_shown(unit, value, value > 0 ? NULL : "-"); }

static void fill_row(const Asking *asking, const Operator *one) {
    AnswerUnit size = one->k > 0 ? AS_WHOLE : AS_NOTHING;
    ANSWER_ROW(asking->answer, one->name, operator_kind_names[one->kind], answer_of(AS_WHOLE, one->times),
               answer_of(size, one->batch), answer_of(size, one->m), answer_of(size, one->n), answer_of(size, one->k),
               product_text(asking->arena, one), or_none(AS_FLOPS, one->flops), or_none(AS_BYTES, moved_bytes(one)),
               or_none(AS_MANY, parameters_of(one)), or_none(AS_BYTES, kept_bytes(one)));
}

// ---- Blocks, equal ones once.

static int count_alike(const Model *model, int block) { // 0: listed before
    int count = 1;
    for (int other = 1; other < model->block_count; other++) {
        if (other == block || !layers_alike(model, block, other)) continue;
        if (other < block) return 0;
        count++;
    }
    return count;
}

static void add_block(const Asking *asking, const char *name, int count, const OperatorList *operators) {
    static const AnswerColumn columns[] = {
        {"name", "operator", AS_TEXT, 0},
        {"kind", "kind", AS_TEXT, 2},
        {"times", NULL, AS_WHOLE, 0},
        {"batch", NULL, AS_WHOLE, 0},
        {"m", NULL, AS_WHOLE, 0},
        {"n", NULL, AS_WHOLE, 0},
        {"k", NULL, AS_WHOLE, 0},
        {NULL, "m x n x k", AS_TEXT, 0},
        {"flops", "FLOP", AS_FLOPS, 0},
        {"bytes", "read+write", AS_BYTES, 3},
        {"parameters", "holds", AS_MANY, 1},
        {"kept_bytes", "kept", AS_BYTES, 0},
    };
    Answer *answer = asking->answer;
    answer_open(answer, NULL, count > 1 ? arena_printf(asking->arena, "%s, and %d alike", name, count - 1) : name);
    answer_text(answer, "name", NULL, name);
    answer_number(answer, "blocks", NULL, AS_WHOLE, count);
    answer_table(answer, "operators", NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < operators->count; i++) fill_row(asking, &operators->items[i]);
    answer_close(answer);
}

void add_operators(const Asking *asking, const Model *model, double seq_len) {
    answer_open_list(asking->answer, "operators", NULL);
    for (int block = 0; block < model->block_count; block++) {
        int count = count_alike(model, block);
        if (count == 0) continue;
        OperatorList operators;
        Portion portion = portion_of_sample(model, block, seq_len);
        block_operators(model, block, &portion, &operators);
        add_block(asking, block_name(asking->arena, model, block), count, &operators);
    }
    answer_close(asking->answer);
    answer_say(asking->answer, NULL,
               "Forward of one sample%s. An element has %d bytes; attention is flash, and kept is what backward needs.",
               counts_tokens(model) ? arena_printf(asking->arena, " of %.0f tokens", seq_len) : "", ELEMENT_BYTES);
}
