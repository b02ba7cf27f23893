// Translation by recurrent layers: GNMT v2 (Wu et al. 2016, as NVIDIA's DeepLearningExamples have it). The decoder's
// first layer asks for attention and the others get its answer with their input, so all of it is done for all words at
// once. Its size is the words (subwords) of a padded sentence; source and target are padded alike.
#include "models/workload/model/image_layers.h"

#define HIDDEN 1024
#define ENCODER_LAYERS 4
#define DECODER_LAYERS 4
#define DROPOUT_PASSES 2.25 // read, written, and a byte for each element
// Sums of queries and keys at every pair of words, operator by operator: add, add a bias, tanh, weigh; backward: of the
// weighing, tanh, and three sums.
#define SCORE_FORWARD 6
#define SCORE_BACKWARD 8
// Over the logits: logarithm of softmax in 32 bits, mean; backward: of both, their sum, and of the softmax.
#define LOSS_FORWARD 4
#define LOSS_BACKWARD 10

static ConvLayer *elements(ImageBuilder *builder, const char *name, int channels, double forward, double backward,
                           int forward_kernels, int backward_kernels) {
    builder->channels = channels;
    ConvLayer *layer = image_elements(builder, name, 0, 1);
    layer->passes[0] = forward;
    layer->passes[1] = backward;
    layer->kernels[0] = forward_kernels - 1;
    layer->kernels[1] = backward_kernels - 1;
    return layer;
}

static void dropped_out(ImageBuilder *builder) {
    elements(builder, "dropout", builder->channels, DROPOUT_PASSES, DROPOUT_PASSES, 1, 1);
}

static void lstm(ImageBuilder *builder, int in, bool shortcut) {
    image_next_block(builder);
    dropped_out(builder);
    builder->channels = in;
    image_recurrent(builder, "lstm", HIDDEN);
    if (shortcut) elements(builder, "shortcut", HIDDEN, 3, 3, 1, 1);
}

static void product(ImageBuilder *builder, const char *name, int in, int out, bool bias) {
    builder->channels = in;
    ConvLayer *layer = image_conv_plain(builder, name, out, 1, 1);
    layer->kind = LAYER_LINEAR;
    layer->bias = bias;
}

static void encoder(ImageBuilder *builder, int vocabulary) {
    elements(builder, "words", HIDDEN, 2, 4, 1, 6)->table = (double)vocabulary * HIDDEN;
    for (int direction = 0; direction < 2; direction++) {
        builder->channels = HIDDEN;
        image_recurrent(builder, "lstm", HIDDEN);
    }
    image_concatenated(builder, 2 * HIDDEN);
    for (int i = 1; i < ENCODER_LAYERS; i++) lstm(builder, i == 1 ? 2 * HIDDEN : HIDDEN, i > 1);
}

static void attention(ImageBuilder *builder) {
    int words = builder->size;
    product(builder, "queries", HIDDEN, HIDDEN, false);
    product(builder, "keys", HIDDEN, HIDDEN, false);
    elements(builder, "scores", words * HIDDEN, SCORE_FORWARD, SCORE_BACKWARD, 8, 12)->table = 2 * HIDDEN + 1;
    elements(builder, "softmax", words, 6, 6, 4, 3);
    elements(builder, "context", HIDDEN, 3, 6, 1, 3); // products too small to count but for what they move
}

void build_gnmt(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    encoder(builder, classes);
    image_next_block(builder);
    elements(builder, "target words", HIDDEN, 2, 4, 1, 6);
    builder->channels = HIDDEN;
    image_recurrent(builder, "lstm", HIDDEN);
    attention(builder);
    for (int i = 1; i < DECODER_LAYERS; i++) {
        image_concatenated(builder, 2 * HIDDEN);
        lstm(builder, 2 * HIDDEN, i > 1);
    }
    image_next_block(builder);
    product(builder, "words", HIDDEN, classes, true);
    elements(builder, "loss", classes, LOSS_FORWARD, LOSS_BACKWARD, 6, 8);
}
