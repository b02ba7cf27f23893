// Plain convolutional networks, one layer after the other, with fully connected layers at the end: AlexNet
// (Krizhevsky 2014, one tower) and VGG (Simonyan and Zisserman 2014, without batch norm).
#include <string.h>

#include "models/workload/model_internal.h"
#include "sim/check.h"

#define MOST_CONVOLUTIONS 16
#define CONNECTED_WIDTH 4096

typedef struct Step {
    int channels, kernel, stride, pad;
    bool pool; // with stride 2 after it
} Step;

typedef struct Net {
    const char *name, *source;
    int pool_kernel;
    Step steps[MOST_CONVOLUTIONS];
} Net;

#define C3(channels)                                                                                                   \
    { channels, 3, 1, 1, false }
#define C3P(channels)                                                                                                  \
    { channels, 3, 1, 1, true }
static const Net nets[] = {
    {"alexnet",
     "Krizhevsky 2014 (one tower)",
     3,
     {{64, 11, 4, 2, true}, {192, 5, 1, 2, true}, C3(384), C3(256), C3P(256)}},
    {"vgg-11",
     "Simonyan and Zisserman 2014",
     2,
     {C3P(64), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)}},
    {"vgg-13",
     "Simonyan and Zisserman 2014",
     2,
     {C3(64), C3P(64), C3(128), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)}},
    {"vgg-16",
     "Simonyan and Zisserman 2014",
     2,
     {C3(64), C3P(64), C3(128), C3P(128), C3(256), C3(256), C3P(256), C3(512), C3(512), C3P(512), C3(512), C3(512),
      C3P(512)}},
};
#define NET_COUNT ((int)(sizeof nets / sizeof *nets))

static const Net *net_named(const char *name) {
    for (int i = 0; i < NET_COUNT; i++)
        if (strcmp(nets[i].name, name) == 0) return &nets[i];
    return NULL;
}

bool convnet_known(const char *name) { return net_named(name) != NULL; }

static int shrunk(int size, int kernel, int stride, int pad) { return (size + 2 * pad - kernel) / stride + 1; }

static void add_connected(Arena *arena, ConvLayer *layer, int number, int in, int out, int block) {
    *layer = (ConvLayer){.name = arena_printf(arena, "fc%d", number),
                         .in_channels = in,
                         .out_channels = out,
                         .kernel = 1,
                         .stride = 1,
                         .groups = 1,
                         .in_size = 1,
                         .out_size = 1,
                         .linear = true,
                         .block = block};
}

const Model *convnet_build(Arena *arena, const char *name, int image_size, int classes) {
    const Net *net = net_named(name);
    CHECK(net);
    ConvLayer *layers = ARENA_ARRAY(arena, ConvLayer, MOST_CONVOLUTIONS + 3);
    int count = 0, channels = 3, size = image_size;
    for (; count < MOST_CONVOLUTIONS && net->steps[count].channels; count++) {
        const Step *step = &net->steps[count];
        int out = shrunk(size, step->kernel, step->stride, step->pad);
        layers[count] = (ConvLayer){.name = arena_printf(arena, "conv%d", count + 1),
                                    .in_channels = channels,
                                    .out_channels = step->channels,
                                    .kernel = step->kernel,
                                    .stride = step->stride,
                                    .groups = 1,
                                    .in_size = size,
                                    .out_size = out,
                                    .relu = true,
                                    .max_pool_after = step->pool,
                                    .block = count};
        channels = step->channels;
        size = step->pool ? shrunk(out, net->pool_kernel, 2, 0) : out;
    }
    int first = count;
    add_connected(arena, &layers[count], 1, channels * size * size, CONNECTED_WIDTH, count);
    count++;
    add_connected(arena, &layers[count], 2, CONNECTED_WIDTH, CONNECTED_WIDTH, count);
    count++;
    add_connected(arena, &layers[count], 3, CONNECTED_WIDTH, classes, count);
    CHECK(count == first + 2);

    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){.name = net->name,
                     .family = strcmp(net->name, "alexnet") == 0 ? "alexnet" : "vgg",
                     .source = net->source,
                     .kind = MODEL_CNN,
                     .block_count = count + 1,
                     .image_size = image_size,
                     .classes = classes,
                     .conv = layers,
                     .conv_count = count + 1};
    return model;
}
