// Speech recognition and synthesis networks.
#include "models/workload/model/model_internal.h"

// ---- Recognition of speech by convolutions along time: Jasper 10x5 (Li et al. 2019) and QuartzNet 15x5 (Kriman et
// al. 2019), from columns of a spectrogram every 10 ms to letters. Element-wise work is counted as NVIDIA's
// DeepLearningExamples run it: padding after a recording's end is zeroed before each convolution, and dropout follows
// each activation.

#define SPEECH_HOP 160      // samples of sound, at 16 kHz, from one column to the next
#define ALIGNED 16          // columns are padded to a multiple
#define REPEATED 5          // layers of a block
#define MASK_PASSES 4.0     // filling: copied, then filled in place; backward the same
#define MASK_KERNELS 8      // lengths, their comparison with places, and the filling
#define DROPOUT_PASSES 2.25 // read, written, and a byte for each element
#define SUM_PASSES 3.0

// A block, or a layer alone in front or at the end (one repetition without shortcut).
typedef struct SpeechBlock {
    int channels, kernel;
} SpeechBlock;

typedef struct SpeechShape {
    int features;
    bool apart;              // each convolution in two: along time channel by channel, then across channels
    bool shortcuts_from_all; // earlier blocks; else only from what came into the block
    int first_channels, first_kernel;
    SpeechBlock groups[5];
    int group_blocks; // equal blocks of each group
    int last_channels, last_kernel;
} SpeechShape;

static const SpeechShape shapes[] = {
    {64, false, true, 256, 11, {{256, 11}, {384, 13}, {512, 17}, {640, 21}, {768, 25}}, 2, 896, 29},
    {64, true, false, 256, 33, {{256, 33}, {256, 39}, {512, 51}, {512, 63}, {512, 75}}, 3, 512, 87},
};
#define GROUPS 5
#define MOST_BLOCKS 15
#define WIDE_CHANNELS 1024

static void add_kernels(NetLayer *layer, int forward, int backward) {
    layer->kernels[0] += forward;
    layer->kernels[1] += backward;
}

static void masked(NetLayer *layer) {
    double fed = (double)layer->in_channels * layer->in_size / layer->out_channels / layer->out_size;
    layer->passes[0] += MASK_PASSES * fed;
    layer->passes[1] += MASK_PASSES * fed;
    add_kernels(layer, MASK_KERNELS, 2);
}

static void dropped_out(NetLayer *layer) {
    layer->passes[0] += DROPOUT_PASSES;
    layer->passes[1] += DROPOUT_PASSES;
    add_kernels(layer, 1, 1);
}

static void activated(NetLayer *layer, bool by_relu) {
    layer->relu = by_relu;
    if (by_relu) dropped_out(layer);
}

static NetLayer *conv_layer(ImageBuilder *builder, const SpeechShape *shape, int channels, int kernel, int stride,
                            bool by_relu) {
    if (shape->apart && kernel > 1) {
        NetLayer *along = image_conv_depthwise(builder, "along", kernel, stride);
        along->batch_norm = along->relu = false;
        masked(along);
        kernel = stride = 1;
    }
    NetLayer *layer = image_conv(builder, "conv", channels, kernel, stride);
    masked(layer);
    activated(layer, by_relu);
    return layer;
}

// Each shortcut is a convolution of one column with a norm, added to the block's own output; an output read by
// several blocks gets the sum of their gradients.
static void shortcuts(ImageBuilder *builder, const int *from, int count, int channels) {
    for (int i = 0; i < count; i++) {
        builder->channels = from[i];
        NetLayer *layer = image_conv(builder, "shortcut", channels, 1, 1);
        layer->relu = false;
        layer->residual_add = true;
        layer->passes[1] += SUM_PASSES * from[i] / channels;
        add_kernels(layer, 0, 1);
        masked(layer);
    }
    activated(image_elements(builder, "sum", 0, 1), true);
}

void build_speech(ImageBuilder *builder, int variant, int classes) {
    const SpeechShape *shape = &shapes[variant];
    int columns = builder->size / SPEECH_HOP + 1, from[MOST_BLOCKS + 1], from_count = 0;
    builder->channels = shape->features;
    builder->size = (columns + ALIGNED - 1) / ALIGNED * ALIGNED;
    conv_layer(builder, shape, shape->first_channels, shape->first_kernel, 2, true);
    from[from_count++] = shape->first_channels;
    for (int i = 0; i < GROUPS * shape->group_blocks; i++) {
        const SpeechBlock *block = &shape->groups[i / shape->group_blocks];
        image_next_block(builder);
        for (int j = 0; j < REPEATED; j++)
            conv_layer(builder, shape, block->channels, block->kernel, 1, j < REPEATED - 1);
        int first = shape->shortcuts_from_all ? 0 : from_count - 1;
        shortcuts(builder, from + first, from_count - first, block->channels);
        from[from_count++] = block->channels;
    }
    image_next_block(builder);
    conv_layer(builder, shape, shape->last_channels, shape->last_kernel, 1, true)->conv.dilated = true;
    conv_layer(builder, shape, WIDE_CHANNELS, 1, 1, true);
    image_conv_plain(builder, "letters", classes, 1, 1);
}

// ---- WaveGlow (Prenger et al. 2018): sound from a mel spectrogram by twelve steps; in each, half of the channels
// determine the scale and shift of the other half. Trained on segments of recordings. Element-wise work is counted as
// NVIDIA's DeepLearningExamples run it: sums and gates are kernels, and autograd pads sliced gradients.

#define MELS 80
#define UP_KERNEL 1024
#define HOP 256 // samples, at 22,050 Hz, of a column of the spectrogram; of Tacotron 2, too
#define GROUP 8 // consecutive samples that become channels
#define FLOWS 12
#define EARLY 4 // steps after which two channels are output
#define LAYERS 8
#define HALVES_PUT_BACK 14.0 // passes of half the channels: two halves filled up with zeros, then added
#define HALVES_KERNELS 5
#define SMALL_KERNELS 20 // of a step's 1x1 convolution, its determinant, scale and shift

static const int widths[] = {512, 256};

static NetLayer *conv(ImageBuilder *builder, const char *name, int in, int out, int kernel) {
    builder->channels = in;
    return image_conv_plain(builder, name, out, kernel, 1);
}

// Weights as directions and lengths: a length for each output.
static NetLayer *normed(NetLayer *layer) {
    layer->table = layer->out_channels;
    return layer;
}

static void dilated_layer(ImageBuilder *builder, int width, int layer, bool last) {
    normed(conv(builder, "dilated", width, 2 * width, 3))->conv.dilated = layer > 0; // by 2^layer
    NetLayer *condition = normed(conv(builder, "spectrogram", MELS * GROUP, 2 * width, 1));
    condition->passes[1] = 3.0 * MELS * GROUP / (2 * width); // its gradients of all layers are added up
    image_passes(builder, "gate", width, 5, 5 + HALVES_PUT_BACK, 1, 2 + HALVES_KERNELS);
    normed(conv(builder, "out", width, last ? width : 2 * width, 1));
    if (last)
        image_passes(builder, "sums", width, 3, 0, 1, 1);
    else
        image_passes(builder, "sums", width, 6, HALVES_PUT_BACK + 3, 1, 2 + HALVES_KERNELS);
}

static void flow_step(ImageBuilder *builder, int width, int channels) {
    image_next_block(builder);
    NetLayer *mix = conv(builder, "mix", channels, channels, 1);
    mix->bias = false;
    mix->kernels[0] = mix->kernels[1] = SMALL_KERNELS;
    normed(conv(builder, "start", channels / 2, width, 1));
    for (int i = 0; i < LAYERS; i++) dilated_layer(builder, width, i, i == LAYERS - 1);
    conv(builder, "end", width, channels, 1);
}

void build_waveglow(ImageBuilder *builder, int variant, int classes) {
    (void)classes;
    int samples = builder->size, channels = GROUP;
    builder->channels = MELS;
    builder->size = samples / HOP + 1;
    image_conv_up(builder, "up", MELS, UP_KERNEL, 1)->out_size = samples;
    builder->size = samples / GROUP;
    for (int i = 0; i < FLOWS; i++) {
        if (i > 0 && i % EARLY == 0) channels -= 2;
        flow_step(builder, widths[variant], channels);
    }
}

// ---- Tacotron 2 (Shen et al. 2018, as NVIDIA's DeepLearningExamples have it): a spectrogram from letters, column by
// column. Its decoder is a loop in Python: each column asks for attention, and each operation on it is a kernel of its
// own, forward and backward.

#define LETTERS_PER_COLUMN 0.1765 // LJSpeech: 1,308,678 letters and 7.41 million columns
#define SYMBOLS 148
#define EMBEDDED 512
#define ENCODED 512
#define ATTENTION 128
#define FILTERS 32 // over where the attention was
#define FILTER_KERNEL 31
#define PRENET 256
#define CELL 1024
#define POSTNET 512
#define KERNEL 5
#define CELL_FORWARD 15.0 // passes over an LSTM's cell in one step
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

// Two products, a kernel of gates, dropout; inputs are concatenated, and gradients of a tensor used three times are
// summed.
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

// ---- Translation models of LSTMs.

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

static void sentence_encoder(ImageBuilder *builder, int vocabulary) {
    image_lookup(builder, "words", vocabulary, HIDDEN);
    for (int direction = 0; direction < 2; direction++) {
        builder->channels = HIDDEN;
        image_recurrent(builder, "lstm", HIDDEN);
    }
    image_concatenated(builder, 2 * HIDDEN);
    for (int i = 1; i < ENCODER_LAYERS; i++) lstm(builder, i == 1 ? 2 * HIDDEN : HIDDEN, i > 1);
}

static void word_attention(ImageBuilder *builder) {
    int words = builder->size;
    image_product(builder, "queries", HIDDEN, HIDDEN, false);
    image_product(builder, "keys", HIDDEN, HIDDEN, false);
    image_passes(builder, "scores", words * HIDDEN, SCORE_FORWARD, SCORE_BACKWARD, 8, 12)->table = 2 * HIDDEN + 1;
    image_passes(builder, "softmax", words, 6, 6, 4, 3);
    image_passes(builder, "context", HIDDEN, 3, 6, 1, 3); // products so small that only their bytes count
}

void build_gnmt(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    sentence_encoder(builder, classes);
    image_next_block(builder);
    image_passes(builder, "target words", HIDDEN, 2, 4, 1, 6);
    builder->channels = HIDDEN;
    image_recurrent(builder, "lstm", HIDDEN);
    word_attention(builder);
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
