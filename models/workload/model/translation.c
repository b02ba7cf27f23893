// Translation models of LSTMs.
#include "models/workload/model/image_layers.h"
#include "models/workload/model/model_internal.h"

// ---- Translation by recurrent layers: GNMT v2 (Wu et al. 2016, as in NVIDIA's DeepLearningExamples). The decoder's
// first layer queries the attention and the others get its output with their input, so all of it is done for all
// words at once. Its size is the words (subwords) of a padded sentence; source and target are padded equally.

#define HIDDEN 1024
#define ENCODER_LAYERS 4
#define DECODER_LAYERS 4
// Sums of queries and keys at every pair of words, operator by operator: add, add a bias, tanh, weigh; backward: of the
// weighing, tanh, and three sums.
#define SCORE_FORWARD 6
#define SCORE_BACKWARD 8

static void lstm(ImageBuilder *builder, int in, bool shortcut) {
    image_next_block(builder);
    image_dropout(builder);
    builder->channels = in;
    image_recurrent(builder, "lstm", HIDDEN);
    if (shortcut) image_passes(builder, "shortcut", HIDDEN, 3, 3, 1, 1);
}

static void encoder(ImageBuilder *builder, int vocabulary) {
    image_lookup(builder, "words", vocabulary, HIDDEN);
    for (int direction = 0; direction < 2; direction++) {
        builder->channels = HIDDEN;
        image_recurrent(builder, "lstm", HIDDEN);
    }
    image_concatenated(builder, 2 * HIDDEN);
    for (int i = 1; i < ENCODER_LAYERS; i++) lstm(builder, i == 1 ? 2 * HIDDEN : HIDDEN, i > 1);
}

static void attention(ImageBuilder *builder) {
    int words = builder->size;
    image_product(builder, "queries", HIDDEN, HIDDEN, false);
    image_product(builder, "keys", HIDDEN, HIDDEN, false);
    image_passes(builder, "scores", words * HIDDEN, SCORE_FORWARD, SCORE_BACKWARD, 8, 12)->table = 2 * HIDDEN + 1;
    image_passes(builder, "softmax", words, 6, 6, 4, 3);
    image_passes(builder, "context", HIDDEN, 3, 6, 1, 3); // products so small that only their bytes count
}

void build_gnmt(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    encoder(builder, classes);
    image_next_block(builder);
    image_passes(builder, "target words", HIDDEN, 2, 4, 1, 6);
    builder->channels = HIDDEN;
    image_recurrent(builder, "lstm", HIDDEN);
    attention(builder);
    for (int i = 1; i < DECODER_LAYERS; i++) {
        image_concatenated(builder, 2 * HIDDEN);
        lstm(builder, 2 * HIDDEN, i > 1);
    }
    image_next_block(builder);
    image_logits(builder, HIDDEN, classes);
}

// ---- A language model of recurrent layers: words looked up, layers of LSTM with dropout before each, logits at every
// word.

const Model *model_lstm(Arena *arena, const char *name, LstmShape shape) {
    ImageBuilder builder = image_builder(arena, shape.words);
    builder.dimensions = 1;
    image_lookup(&builder, "words", shape.vocab, shape.hidden);
    for (int i = 0; i < shape.layers; i++) {
        image_next_block(&builder);
        image_dropout(&builder);
        image_recurrent(&builder, "lstm", shape.hidden);
    }
    image_next_block(&builder);
    image_logits(&builder, shape.hidden, shape.vocab);
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = name ? arena_copy_text(arena, name) : "lstm",
        .family = "lstm",
        .source = "as given",
        .kind = MODEL_CNN,
        .block_count = builder.block + 1,
        .layers = shape.layers,
        .hidden = shape.hidden,
        .image_size = shape.words,
        .classes = shape.vocab,
        .dimensions = 1,
        .of_words = true,
        .net_layers = builder.layers.items,
        .net_layer_count = builder.layers.count,
    };
    return model;
}

bool is_lstm(const Model *model) { return model->of_words && model->layers > 0; }

const Model *lstm_resized(Arena *arena, const Model *model, int words, int vocab) {
    return model_lstm(arena, model->name, (LstmShape){model->layers, model->hidden, vocab, words});
}
