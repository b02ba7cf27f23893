// lockstep model show NAME --operators: what each layer runs in forward, on one sample and one GPU.
#include "models/workload/commands/command_internal.h"
#include "models/workload/model/model_internal.h"

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

static const char *or_none(double value, QuantityKind kind, char text[32]) {
    return value > 0 ? quantity_format(value, kind, text, 32) : "-";
}

static void print_operator(const Operator *one) {
    char shape[96] = "", flops[32], moved[32], parameters[32], kept[32];
    if (one->k > 0) snprintf(shape, sizeof shape, "%.0f x %.0f x %.0f", one->m, one->n, one->k);
    if (one->batch > 1) snprintf(shape, sizeof shape, "%.0f of %.0f x %.0f x %.0f", one->batch, one->m, one->n, one->k);
    printf("  %-26s  %-11s  %-26s  %12s  %10s  %10s", one->name, operator_kind_names[one->kind], shape,
           or_none(one->flops, QUANTITY_FLOPS, flops), or_none(moved_bytes(one), QUANTITY_BYTES, moved),
           or_none(parameters_of(one), QUANTITY_COUNT, parameters));
    printf("  %10s\n", or_none(kept_bytes(one), QUANTITY_BYTES, kept));
}

static void write_operator(JsonWriter *json, const Operator *one) {
    json_begin_object(json);
    write_text(json, "name", one->name);
    write_text(json, "kind", operator_kind_names[one->kind]);
    write_number(json, "times", one->times);
    if (one->k > 0) {
        write_number(json, "batch", one->batch);
        write_number(json, "m", one->m);
        write_number(json, "n", one->n);
        write_number(json, "k", one->k);
    }
    write_number(json, "flops", one->flops);
    write_number(json, "bytes", moved_bytes(one));
    write_integer(json, "parameters", (int64_t)parameters_of(one));
    write_number(json, "kept_bytes", kept_bytes(one));
    json_end_object(json);
}

// ---- Blocks, those that are alike once.

static int count_alike(const Model *model, int block) { // 0: told before
    int count = 1;
    for (int other = 1; other < model->block_count; other++) {
        if (other == block || !layers_alike(model, block, other)) continue;
        if (other < block) return 0;
        count++;
    }
    return count;
}

static void print_block(const char *name, int count, const OperatorList *operators) {
    printf("%s", name);
    if (count > 1) printf(", and %d alike", count - 1);
    printf("\n");
    for (int i = 0; i < operators->count; i++) print_operator(&operators->items[i]);
}

static void write_block(JsonWriter *json, const char *name, int count, const OperatorList *operators) {
    json_begin_object(json);
    write_text(json, "name", name);
    write_integer(json, "blocks", count);
    json_key(json, "operators");
    json_begin_list(json);
    for (int i = 0; i < operators->count; i++) write_operator(json, &operators->items[i]);
    json_end_list(json);
    json_end_object(json);
}

static void tell_blocks(Arena *arena, const Model *model, double seq_len, JsonWriter *json) {
    for (int block = 0; block < model->block_count; block++) {
        int count = count_alike(model, block);
        if (count == 0) continue;
        OperatorList operators;
        Portion portion = portion_of_sample(model, block, seq_len);
        block_operators(model, block, &portion, &operators);
        if (json)
            write_block(json, block_name(arena, model, block), count, &operators);
        else
            print_block(block_name(arena, model, block), count, &operators);
    }
}

void print_operators(Arena *arena, const Model *model, double seq_len) {
    bool tokens = counts_tokens(model);
    printf("%-28s  %-11s  %-26s  %12s  %10s  %10s  %10s\n", "Forward of one sample", "kind", "m x n x k", "FLOP",
           "read+write", "parameters", "kept");
    tell_blocks(arena, model, seq_len, NULL);
    if (tokens) printf("A sample has %.0f tokens. ", seq_len);
    printf("An element has %d bytes; attention is flash, and kept is what backward needs.\n", ELEMENT_BYTES);
}

void write_operators(JsonWriter *json, Arena *arena, const Model *model, double seq_len) {
    json_key(json, "operators");
    json_begin_list(json);
    tell_blocks(arena, model, seq_len, json);
    json_end_list(json);
}
