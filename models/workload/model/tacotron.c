// Tacotron 2 (Shen et al. 2018, as NVIDIA's DeepLearningExamples have it): a spectrogram from letters, column by
// column. Its decoder is a loop in Python: each column asks for attention, and each operation on it is a kernel of its
// own, forward and backward.
#include "models/workload/model/image_layers.h"

#define HOP 256                   // samples of sound, at 22,050 Hz, from one column to the next
#define LETTERS_PER_COLUMN 0.1765 // LJSpeech: 1,308,678 letters and 7.41 million columns
#define SYMBOLS 148
#define EMBEDDED 512
#define ENCODED 512
#define ATTENTION 128
#define FILTERS 32 // over where the attention was
#define FILTER_KERNEL 31
#define PRENET 256
#define CELL 1024
#define MELS 80
#define POSTNET 512
#define KERNEL 5
#define DROPOUT_PASSES 2.25 // read, written, and a byte for each element
#define CELL_FORWARD 15.0   // passes over an LSTM's cell in one step
#define CELL_BACKWARD 14.0

static void convolution(ImageBuilder *builder, int out) {
    image_conv(builder, "conv", out, KERNEL, 1)->bias = true;
    image_dropout(builder);
}

static void encoder(ImageBuilder *builder) {
    image_lookup(builder, "letters", SYMBOLS, EMBEDDED);
    for (int i = 0; i < 3; i++) convolution(builder, EMBEDDED);
    for (int direction = 0; direction < 2; direction++) {
        builder->channels = EMBEDDED;
        image_recurrent(builder, "lstm", ENCODED / 2);
    }
    image_product(builder, "memory", ENCODED, ATTENTION, false);
}

// ---- The decoder's loop.

static void in_turn(NetLayer *layer, double regions) {
    layer->sequential = true;
    layer->regions = regions;
}

static void loop_elements(ImageBuilder *builder, const char *name, int channels, double regions, double forward,
                          double backward, int forward_kernels, int backward_kernels) {
    in_turn(image_passes(builder, name, channels, forward, backward, forward_kernels, backward_kernels), regions);
}

static void loop_product(ImageBuilder *builder, const char *name, int in, int out, double regions, bool bias) {
    in_turn(image_product(builder, name, in, out, bias), regions);
}

// Two products, a kernel of gates, dropout; what went in was laid side by side, and gradients of what is used in three
// places are added up.
static void cell(ImageBuilder *builder, int in) {
    loop_elements(builder, "side by side", in, 0, 2, 2, 1, 2);
    loop_product(builder, "input", in, 4 * CELL, 0, true);
    loop_product(builder, "state", CELL, 4 * CELL, 0, true);
    loop_elements(builder, "gates", CELL, 0, CELL_FORWARD, CELL_BACKWARD, 1, 1);
    loop_elements(builder, "dropout", CELL, 0, DROPOUT_PASSES, DROPOUT_PASSES + 6, 1, 3);
}

// Per letter: the filters over the attention so far, their product, sums with query and memory, tanh, weighing;
// backward also the gradients of memory, added up from column to column.
static void attention(ImageBuilder *builder, double letters) {
    loop_product(builder, "query", CELL, ATTENTION, 0, false);
    loop_elements(builder, "attention so far", 2, letters, 2, 4, 1, 3);
    loop_product(builder, "filters", 2 * FILTER_KERNEL, FILTERS, letters, false);
    loop_elements(builder, "turned", FILTERS, letters, 2, 2, 1, 2);
    loop_product(builder, "filtered", FILTERS, ATTENTION, letters, false);
    loop_elements(builder, "sums", ATTENTION, letters, 3 + 3 + 2, 3 + 1 + 1 + 3, 3, 4);
    loop_product(builder, "energies", ATTENTION, 1, letters, false);
    loop_elements(builder, "softmax", 1, letters, 7, 9, 3, 4);
    loop_elements(builder, "context", ENCODED, letters, 1, 1 + 1 + 3, 1, 3);
}

static void decoder(ImageBuilder *builder, double letters) {
    cell(builder, PRENET + ENCODED);
    attention(builder, letters);
    cell(builder, CELL + ENCODED);
    loop_elements(builder, "side by side", CELL + ENCODED, 0, 2, 4, 1, 2);
    loop_product(builder, "column", CELL + ENCODED, MELS, 0, true);
    loop_product(builder, "gate", CELL + ENCODED, 1, 0, true);
}

void build_tacotron(ImageBuilder *builder, int variant, int classes) {
    (void)variant, (void)classes;
    int columns = builder->size / HOP + 1, letters = (int)(columns * LETTERS_PER_COLUMN) + 1;
    builder->size = letters;
    encoder(builder);
    builder->size = columns;
    image_next_block(builder);
    image_product(builder, "prenet", MELS, PRENET, false);
    image_dropout(builder);
    image_product(builder, "prenet", PRENET, PRENET, false);
    image_dropout(builder);
    image_next_block(builder);
    decoder(builder, letters);
    image_next_block(builder);
    builder->channels = MELS;
    for (int i = 0; i < 4; i++) convolution(builder, POSTNET);
    NetLayer *last = image_conv(builder, "conv", MELS, KERNEL, 1);
    last->bias = true;
    last->relu = false;
    image_passes(builder, "loss", MELS, 10, 10, 12, 12);
}
