// A list of layers as it grows.
#include "models/workload/model/image_layers.h"

#include "models/workload/model/model_internal.h"

#include "sim/list.h"

ImageBuilder image_builder(Arena *arena, int image_size) {
    return (ImageBuilder){.arena = arena, .channels = 3, .size = image_size};
}

int image_halved(int size, int stride) { return (size - 1) / stride + 1; }

static ConvLayer *add(ImageBuilder *builder, const char *name, ConvLayer layer) {
    layer.name = arena_printf(builder->arena, "block%d.%s", builder->block, name);
    layer.block = builder->block;
    layer.in_channels = builder->channels;
    layer.in_size = builder->size;
    LIST_PUSH(builder->arena, &builder->layers, layer);
    ConvLayer *added = &builder->layers.items[builder->layers.count - 1];
    builder->channels = added->out_channels;
    builder->size = added->out_size;
    return added;
}

ConvLayer *image_conv(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride) {
    return add(builder, name,
               (ConvLayer){.out_channels = out_channels,
                           .kernel = kernel,
                           .stride = stride,
                           .groups = 1,
                           .out_size = image_halved(builder->size, stride),
                           .batch_norm = true,
                           .relu = true});
}

ConvLayer *image_conv_valid(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride) {
    int out_size = (builder->size - kernel) / stride + 1;
    ConvLayer *layer = image_conv(builder, name, out_channels, kernel, stride);
    layer->out_size = builder->size = out_size;
    return layer;
}

ConvLayer *image_conv_depthwise(ImageBuilder *builder, const char *name, int kernel, int stride) {
    ConvLayer *layer = image_conv(builder, name, builder->channels, kernel, stride);
    layer->groups = layer->in_channels;
    return layer;
}

ConvLayer *image_elements(ImageBuilder *builder, const char *name, int pool_kernel, int stride) {
    return add(builder, name,
               (ConvLayer){.kind = LAYER_ELEMENTS,
                           .out_channels = builder->channels,
                           .kernel = pool_kernel,
                           .stride = stride,
                           .groups = 1,
                           .out_size = image_halved(builder->size, stride)});
}

ConvLayer *image_linear(ImageBuilder *builder, const char *name, int in, int out) {
    builder->channels = in;
    builder->size = 1;
    return add(builder, name,
               (ConvLayer){.kind = LAYER_LINEAR,
                           .out_channels = out,
                           .kernel = 1,
                           .stride = 1,
                           .groups = 1,
                           .out_size = 1,
                           .bias = true});
}

void image_concatenated(ImageBuilder *builder, int channels) {
    builder->channels = channels;
    image_elements(builder, "concatenated", 0, 1)->copied = true;
}

void image_next_block(ImageBuilder *builder) { builder->block++; }

void image_classifier(ImageBuilder *builder, int classes) {
    image_next_block(builder);
    image_linear(builder, "classifier", builder->channels, classes);
}

// ---- What a layer holds and multiplies.

static double taps(const ConvLayer *layer) {
    return (double)layer->kernel * (layer->kernel_wide ? layer->kernel_wide : layer->kernel);
}

double conv_taps(const ConvLayer *layer) { return layer->kind == LAYER_TRANSPOSED ? 1 : taps(layer); }

static double weights(const ConvLayer *layer) {
    if (layer->kind == LAYER_ELEMENTS || layer->kind == LAYER_ATTENTION) return 0;
    return (double)layer->in_channels / layer->groups * taps(layer) * layer->out_channels;
}

double conv_parameters(const ConvLayer *layer) {
    double out = layer->out_channels, parameters = weights(layer);
    if (layer->bias) parameters += out;
    if (layer->batch_norm || layer->layer_norm) parameters += 2 * out;
    if (layer->scaled) parameters += out;
    if (layer->squeeze) parameters += 2 * out * layer->squeeze + out + layer->squeeze;
    if (layer->window) { // biases by relative place: (2w - 1)^2 for each head
        double side = 2.0 * layer->window - 1;
        parameters += side * side * layer->heads;
    }
    return parameters;
}

double conv_macs(const ConvLayer *layer) {
    double pixels = (double)layer->out_size * layer->out_size, out = layer->out_channels;
    double squeeze = 2.0 * out * layer->squeeze;
    if (layer->kind == LAYER_ATTENTION) return 2 * pixels * layer->window * layer->window * out;
    if (layer->kind == LAYER_ELEMENTS) return squeeze;
    return pixels * out * layer->in_channels / layer->groups * conv_taps(layer) + squeeze;
}
