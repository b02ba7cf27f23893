// Plain convolutional networks, one layer after the other, with fully connected layers at the end: AlexNet
// (Krizhevsky 2014, one tower; and as MXNet has it, with the widths of 2012) and VGG (Simonyan and Zisserman 2014),
// also with batch norm.
#include "models/workload/model/image_layers.h"

#define MOST_CONVOLUTIONS 16
#define CONNECTED_WIDTH 4096

typedef struct Step {
    int channels, kernel, stride, pad;
    bool pool; // with stride 2 after it
} Step;

typedef struct Net {
    int pool_kernel;
    bool batch_norm;
    Step steps[MOST_CONVOLUTIONS];
} Net;

// clang-format off
#define C3(channels) {channels, 3, 1, 1, false}
#define C3P(channels) {channels, 3, 1, 1, true}
#define VGG_11 C3P(64), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)
#define VGG_13 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)
#define VGG_16 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3(256), C3P(256), C3(512), C3(512), C3P(512), C3(512), \
               C3(512), C3P(512)
#define VGG_19 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3(256), C3(256), C3P(256), C3(512), C3(512), C3(512), \
               C3P(512), C3(512), C3(512), C3(512), C3P(512)
// In the order of the rows of image_models.c.
static const Net nets[] = {
    {3, false, {{64, 11, 4, 2, true}, {192, 5, 1, 2, true}, C3(384), C3(256), C3P(256)}},
    {3, false, {{96, 11, 4, 0, true}, {256, 5, 1, 2, true}, C3(384), C3(384), C3P(256)}},
    {2, false, {VGG_11}}, {2, false, {VGG_13}}, {2, false, {VGG_16}}, {2, false, {VGG_19}},
    {2, true, {VGG_11}}, {2, true, {VGG_13}}, {2, true, {VGG_16}}, {2, true, {VGG_19}},
};
// clang-format on

static int shrunk(int size, int kernel, int stride, int pad) { return (size + 2 * pad - kernel) / stride + 1; }

void build_convnet(ImageBuilder *builder, int variant, int classes) {
    const Net *net = &nets[variant];
    for (int i = 0; i < MOST_CONVOLUTIONS && net->steps[i].channels; i++) {
        const Step *step = &net->steps[i];
        int out = shrunk(builder->size, step->kernel, step->stride, step->pad);
        NetLayer *layer = image_conv(builder, "conv", step->channels, step->kernel, step->stride);
        layer->out_size = out;
        layer->batch_norm = net->batch_norm;
        layer->bias = true;
        layer->max_pool_after = step->pool;
        builder->size = step->pool ? shrunk(out, net->pool_kernel, 2, 0) : out;
        image_next_block(builder);
    }
    image_linear(builder, "fc1", builder->channels * builder->size * builder->size, CONNECTED_WIDTH);
    image_next_block(builder);
    image_linear(builder, "fc2", CONNECTED_WIDTH, CONNECTED_WIDTH);
    image_next_block(builder);
    image_linear(builder, "fc3", CONNECTED_WIDTH, classes);
}
