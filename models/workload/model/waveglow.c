// WaveGlow (Prenger et al. 2018): sound from a mel spectrogram by twelve steps, in each of which half of the channels
// tell how the other half is scaled and shifted. It learns from segments of recordings. Element-wise work is counted as
// NVIDIA's DeepLearningExamples run it: sums and gates are kernels, and autograd fills up what was sliced.
#include "models/workload/model/image_layers.h"

#define MELS 80
#define UP_KERNEL 1024
#define HOP 256 // samples that a column of the spectrogram stands for
#define GROUP 8 // samples that lie side by side as channels
#define FLOWS 12
#define EARLY 4 // after so many steps two channels are done
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
