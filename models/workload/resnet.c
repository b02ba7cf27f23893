// ResNets (He et al. 2015) in the v1.5 form that everybody measures: the stride sits in the 3x3 convolution.
#include <string.h>

#include "models/workload/model_internal.h"
#include "sim/check.h"

#define STAGES 4

typedef struct Depth {
    int depth;
    bool bottleneck;
    int blocks[STAGES];
} Depth;

static const Depth depths[] = {
    {18, false, {2, 2, 2, 2}},  {34, false, {3, 4, 6, 3}},  {50, true, {3, 4, 6, 3}},
    {101, true, {3, 4, 23, 3}}, {152, true, {3, 8, 36, 3}},
};
#define DEPTH_COUNT ((int)(sizeof depths / sizeof *depths))

// What is being built: the list of layers so far and the shape of the data that has come out.
typedef struct Builder {
    Arena *arena;
    ConvLayer *layers;
    int count;
    int channels, size; // of the newest output
    int block;
} Builder;

static int halved(int size, int stride) { return (size - 1) / stride + 1; } // "same" padding

static ConvLayer *add_conv(Builder *builder, const char *name, int in_channels, int in_size, int out_channels,
                           int kernel, int stride) {
    ConvLayer *layer = &builder->layers[builder->count++];
    *layer = (ConvLayer){
        .name = arena_printf(builder->arena, "block%d.%s", builder->block, name),
        .in_channels = in_channels,
        .out_channels = out_channels,
        .kernel = kernel,
        .stride = stride,
        .groups = 1,
        .in_size = in_size,
        .out_size = halved(in_size, stride),
        .batch_norm = true,
        .relu = true,
        .block = builder->block,
    };
    builder->channels = out_channels;
    builder->size = layer->out_size;
    return layer;
}

static void add_stem(Builder *builder) {
    ConvLayer *stem = add_conv(builder, "conv", 3, builder->size, 64, 7, 2);
    stem->max_pool_after = true;
    builder->size = halved(stem->out_size, 2);
}

static void add_residual_block(Builder *builder, bool bottleneck, int width, int stride) {
    int in_channels = builder->channels, in_size = builder->size;
    int out_channels = bottleneck ? 4 * width : width;
    builder->block++;
    if (stride != 1 || in_channels != out_channels)
        add_conv(builder, "downsample", in_channels, in_size, out_channels, 1, stride)->relu = false;

    ConvLayer *last;
    if (bottleneck) {
        add_conv(builder, "conv1", in_channels, in_size, width, 1, 1);
        add_conv(builder, "conv2", width, in_size, width, 3, stride);
        last = add_conv(builder, "conv3", width, builder->size, out_channels, 1, 1);
    } else {
        add_conv(builder, "conv1", in_channels, in_size, width, 3, stride);
        last = add_conv(builder, "conv2", width, builder->size, width, 3, 1);
    }
    last->residual_add = true;
}

static void add_classifier(Builder *builder, int classes) {
    ConvLayer *layer = &builder->layers[builder->count++];
    *layer = (ConvLayer){
        .name = "classifier",
        .in_channels = builder->channels,
        .out_channels = classes,
        .kernel = 1,
        .stride = 1,
        .groups = 1,
        .in_size = 1,
        .out_size = 1,
        .linear = true,
        .block = ++builder->block,
    };
}

static const Depth *find_depth(int depth) {
    for (int i = 0; i < DEPTH_COUNT; i++)
        if (depths[i].depth == depth) return &depths[i];
    return NULL;
}

static const Model *build(Arena *arena, const Depth *depth, int image_size, int classes) {
    Builder builder = {.arena = arena, .layers = ARENA_ARRAY(arena, ConvLayer, 3 * depth->depth), .size = image_size};
    add_stem(&builder);
    for (int stage = 0; stage < STAGES; stage++) {
        for (int i = 0; i < depth->blocks[stage]; i++)
            add_residual_block(&builder, depth->bottleneck, 64 << stage, stage > 0 && i == 0 ? 2 : 1);
    }
    add_classifier(&builder, classes);

    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = arena_printf(arena, "resnet-%d", depth->depth),
        .family = "resnet",
        .source = "He et al. 2015, v1.5",
        .kind = MODEL_CNN,
        .block_count = builder.block + 1,
        .image_size = image_size,
        .classes = classes,
        .conv = builder.layers,
        .conv_count = builder.count,
    };
    return model;
}

const Model *model_resnet(Arena *arena, int depth, int image_size, int classes, Where where, Problems *problems) {
    int problems_before = problem_count(problems);
    const Depth *row = find_depth(depth);
    if (!row) {
        problem_add(problems, where, "there is no ResNet with %d layers", depth);
        problem_hint(problems, "known: 18, 34, 50, 101, 152");
    }
    if (image_size < 8 || image_size > 8192) {
        problem_add(problems, where, "an image of %d x %d pixels cannot be worked with", image_size, image_size);
        problem_hint(problems, "8 to 8192; ImageNet is trained at 224");
    }
    if (classes < 1 || classes > 10000000) {
        problem_add(problems, where, "a classifier cannot have %d classes", classes);
        problem_hint(problems, "ImageNet has 1000");
    }
    if (problem_count(problems) > problems_before) return NULL;
    return build(arena, row, image_size, classes);
}

bool resnet_depth(const char *name, int *depth) {
    for (int i = 0; i < DEPTH_COUNT; i++) {
        char text[16];
        snprintf(text, sizeof text, "resnet-%d", depths[i].depth);
        if (strcmp(text, name) != 0) continue;
        *depth = depths[i].depth;
        return true;
    }
    return false;
}

const Model *model_resized(Arena *arena, const Model *model, int image_size, int classes) {
    CHECK(model->kind == MODEL_CNN);
    int depth = 0;
    if (!image_size) image_size = model->image_size;
    if (!classes) classes = model->classes;
    if (convnet_known(model->name)) return convnet_build(arena, model->name, image_size, classes);
    CHECK(resnet_depth(model->name, &depth));
    return build(arena, find_depth(depth), image_size, classes);
}

double conv_parameters(const ConvLayer *layer) {
    double weights = (double)layer->in_channels / layer->groups * layer->kernel * layer->kernel * layer->out_channels;
    if (layer->linear) return weights + layer->out_channels;
    return weights + (layer->batch_norm ? 2.0 * layer->out_channels : 0);
}

double conv_macs(const ConvLayer *layer) {
    double outputs = (double)layer->out_size * layer->out_size * layer->out_channels;
    return outputs * layer->in_channels / layer->groups * layer->kernel * layer->kernel;
}
