// Kind-dependent properties of models, a row for each kind. No other file depends on the kind, except those that
// build and price operators.
#include "models/workload/model/model.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/model/written.h"

static const struct {
    const char *name, *samples;
    const char *first, *layer, *last; // blocks; no first: all are layers
    bool tokens, convolves, parts, bare_ends;
    MakeOperators *operators;
} kinds[] = {
    [MODEL_TRANSFORMER] = {"transformer", "sequences", "embedding", "layer", "head", .tokens = true, .parts = true,
                           .bare_ends = true, .operators = transformer_operators},
    [MODEL_CNN] = {"cnn", "images", "stem", "block", "classifier", .convolves = true, .operators = image_operators},
    [MODEL_MLP] = {"mlp", "samples", NULL, "linear", NULL, .operators = image_operators},
    [MODEL_OPERATORS] = {"operators", "sequences", NULL, NULL, NULL, .operators = written_operators},
};

const char *model_kind_name(const Model *model) { return kinds[model->kind].name; }

const char *sample_name(const Model *model) {
    if (model->written && !model->written->tokens) return "samples";
    return model->dimensions == 1 ? "samples" : kinds[model->kind].samples; // sounds, sentences
}

bool counts_tokens(const Model *model) { return model->written ? model->written->tokens : kinds[model->kind].tokens; }

bool convolves(const Model *model) { return kinds[model->kind].convolves; }

bool takes_images(const Model *model) { return convolves(model) || model->patch > 0; }

bool names_parts(const Model *model) { return kinds[model->kind].parts; }

// ---- Blocks.

int first_layer(const Model *model) {
    return (model->written ? model->written->ends : kinds[model->kind].first != NULL) ? 1 : 0;
}

int layers_to_spread(const Model *model) { return model->block_count - 2 * first_layer(model); }

bool ends_stand_alone(const Model *model) { return kinds[model->kind].bare_ends; }

bool splits_products(const Model *model) { return model->written ? model->written->splits : model->heads > 0; }

// The block as it is called, with its number where there are several of it.
static const char *written_block_name(Arena *arena, const Model *model, int block) {
    const WrittenBlock *here = written_block(model, block);
    int number = 1;
    if (here->times == 1) return here->name;
    while (number <= block && written_block(model, block - number) == here) number++;
    return arena_printf(arena, "%s %d", here->name, number);
}

const char *block_name(Arena *arena, const Model *model, int block) {
    CHECK(block >= 0 && block < model->block_count);
    int first = first_layer(model);
    if (model->written) return written_block_name(arena, model, block);
    if (first && block == 0) return kinds[model->kind].first;
    if (first && block == model->block_count - 1) return kinds[model->kind].last;
    return arena_printf(arena, "%s %d", kinds[model->kind].layer, block - first + 1);
}

void block_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    CHECK(block >= 0 && block < model->block_count);
    operators->count = 0;
    kinds[model->kind].operators(model, block, portion, operators);
}

// ---- Samples.

#define FLOAT_BYTES 4.0
#define TOKEN_BYTES 8.0 // ids are of 64 bits

double sample_bytes(const Model *model, double seq_len) {
    if (takes_images(model)) return sample_values(model) * FLOAT_BYTES;
    if (counts_tokens(model)) return seq_len * TOKEN_BYTES;
    return (model->written ? written_in(model->written->blocks[0].operators) : model->widths[0]) * FLOAT_BYTES;
}

static double written_answer(const Model *model) {
    const WrittenBlock *last = &model->written->blocks[model->written->count - 1];
    return written_out(&last->operators[last->count - 1]);
}

double answer_bytes(const Model *model, double seq_len, double element) {
    if (takes_images(model)) return model->classes * FLOAT_BYTES;
    if (model->written) return seq_len * written_answer(model) * element;
    if (counts_tokens(model)) return seq_len * model->vocab * element;
    return model->widths[model->width_count - 1] * FLOAT_BYTES;
}
