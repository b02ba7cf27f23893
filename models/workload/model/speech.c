// Recognition of speech by convolutions along time: Jasper 10x5 (Li et al. 2019) and QuartzNet 15x5 (Kriman et al.
// 2019), from columns of a spectrogram every 10 ms to letters. Element-wise work is counted as NVIDIA's
// DeepLearningExamples run it: what lies behind a recording's end is filled with zeros before each convolution, and
// dropout follows each activation.
#include "models/workload/model/image_layers.h"

#define HOP 160             // samples of sound, at 16 kHz, from one column to the next
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

// Each shortcut is a convolution of one column with a norm, added to the block's own result; what several blocks look
// at gets its gradient as a sum.
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
    int columns = builder->size / HOP + 1, from[MOST_BLOCKS + 1], from_count = 0;
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
