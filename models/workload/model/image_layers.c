// A list of layers under construction.

#include "models/workload/model/model_internal.h"
#include "sim/base/list.h"

ImageBuilder image_builder(Arena *arena, int image_size) {
    return (ImageBuilder){.arena = arena, .channels = 3, .size = image_size};
}

int image_halved(int size, int stride) { return (size - 1) / stride + 1; }

static NetLayer *add(ImageBuilder *builder, const char *name, NetLayer layer) {
    layer.name = arena_printf(builder->arena, "block%d.%s", builder->block, name);
    layer.block = builder->block;
    layer.in_channels = builder->channels;
    layer.in_size = builder->size;
    layer.dimensions = builder->dimensions;
    layer.regions = builder->regions;
    layer.learning = builder->learning;
    layer.smooth = builder->smooth;
    LIST_PUSH(builder->arena, &builder->layers, layer);
    NetLayer *added = &builder->layers.items[builder->layers.count - 1];
    builder->channels = added->out_channels;
    builder->size = added->out_size;
    return added;
}

NetLayer *image_conv(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride) {
    return add(builder, name,
               (NetLayer){.out_channels = out_channels,
                          .conv = {.kernel = kernel, .stride = stride, .groups = 1},
                          .out_size = image_halved(builder->size, stride),
                          .batch_norm = !builder->fixed_norms,
                          .fixed_norm = builder->fixed_norms,
                          .relu = true});
}

NetLayer *image_conv_valid(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride) {
    int out_size = (builder->size - kernel) / stride + 1;
    NetLayer *layer = image_conv(builder, name, out_channels, kernel, stride);
    layer->out_size = builder->size = out_size;
    return layer;
}

NetLayer *image_conv_depthwise(ImageBuilder *builder, const char *name, int kernel, int stride) {
    NetLayer *layer = image_conv(builder, name, builder->channels, kernel, stride);
    layer->conv.groups = layer->in_channels;
    return layer;
}

NetLayer *image_conv_plain(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride) {
    NetLayer *layer = image_conv(builder, name, out_channels, kernel, stride);
    layer->batch_norm = layer->fixed_norm = layer->relu = false;
    layer->bias = true;
    return layer;
}

NetLayer *image_conv_up(ImageBuilder *builder, const char *name, int out_channels, int kernel, int times) {
    int out = builder->size * times;
    NetLayer *layer = image_conv_plain(builder, name, out_channels, kernel, 1);
    layer->conv.transposed = true;
    layer->out_size = builder->size = out;
    return layer;
}

NetLayer *image_elements(ImageBuilder *builder, const char *name, int pool_kernel, int stride) {
    return add(builder, name,
               (NetLayer){.kind = LAYER_ELEMENTS,
                          .out_channels = builder->channels,
                          .pool_kernel = pool_kernel,
                          .out_size = image_halved(builder->size, stride)});
}

NetLayer *image_linear(ImageBuilder *builder, const char *name, int in, int out) {
    builder->channels = in;
    builder->size = 1;
    return add(builder, name, (NetLayer){.kind = LAYER_LINEAR, .out_channels = out, .out_size = 1, .bias = true});
}

NetLayer *image_passes(ImageBuilder *builder, const char *name, int channels, double forward, double backward,
                       int forward_kernels, int backward_kernels) {
    builder->channels = channels;
    NetLayer *layer = image_elements(builder, name, 0, 1);
    layer->passes[0] = forward;
    layer->passes[1] = backward;
    layer->kernels[0] = forward_kernels - 1;
    layer->kernels[1] = backward_kernels - 1;
    return layer;
}

#define DROPOUT_PASSES 2.25 // read, written, and a byte for each element
void image_dropout(ImageBuilder *builder) {
    image_passes(builder, "dropout", builder->channels, DROPOUT_PASSES, DROPOUT_PASSES, 1, 1);
}

NetLayer *image_lookup(ImageBuilder *builder, const char *name, int entries, int width) {
    NetLayer *layer = image_passes(builder, name, width, 2, 4, 1, 6); // backward sorts them and adds up
    layer->table = (double)entries * width;
    return layer;
}

NetLayer *image_product(ImageBuilder *builder, const char *name, int in, int out, bool bias) {
    builder->channels = in;
    return add(builder, name,
               (NetLayer){.kind = LAYER_LINEAR, .out_channels = out, .out_size = builder->size, .bias = bias});
}

// Over the logits: logarithm of softmax in 32 bits, mean; backward: of both, their sum, and of the softmax.
#define LOSS_FORWARD 4
#define LOSS_BACKWARD 10
void image_logits(ImageBuilder *builder, int in, int entries) {
    image_product(builder, "logits", in, entries, true);
    image_passes(builder, "loss", entries, LOSS_FORWARD, LOSS_BACKWARD, 6, 8);
}

NetLayer *image_recurrent(ImageBuilder *builder, const char *name, int hidden) {
    NetLayer *layer = image_elements(builder, name, 0, 1);
    layer->kind = LAYER_RECURRENT;
    builder->channels = layer->out_channels = hidden;
    return layer;
}

NetLayer *image_layer_norm(ImageBuilder *builder) {
    NetLayer *layer = image_elements(builder, "norm", 0, 1);
    layer->layer_norm = true;
    return layer;
}

void image_attention(ImageBuilder *builder, PlaceAttention attention) {
    NetLayer *layer = image_elements(builder, "attention", 0, 1);
    layer->kind = LAYER_ATTENTION;
    layer->attention = attention;
}

void image_contrast(ImageBuilder *builder, const char *name) {
    NetLayer *layer = image_elements(builder, name, 0, 1);
    layer->kind = LAYER_CONTRAST;
    layer->table = 1; // the temperature
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

// ---- Its places and taps.

static int dimensions(const NetLayer *layer) { return layer->dimensions ? layer->dimensions : 2; }

// A product instead of pow, for speed.
static double along(double size, int dimensions) {
    double product = size;
    for (int i = 1; i < dimensions; i++) product *= size;
    return product;
}

static double places(const NetLayer *layer, double size) {
    return along(size, dimensions(layer)) * (layer->regions > 0 ? layer->regions : 1);
}

double places_in(const NetLayer *layer) { return places(layer, layer->in_size); }
double places_out(const NetLayer *layer) { return places(layer, layer->out_size); }

double attention_keys(const NetLayer *layer) {
    const PlaceAttention *attention = &layer->attention;
    return attention->keys ? attention->keys : (double)attention->window * attention->window;
}

double kernel_taps(const NetLayer *layer) {
    const ConvShape *conv = &layer->conv;
    if (conv->kernel_wide) return (double)conv->kernel * conv->kernel_wide;
    return along(conv->kernel, dimensions(layer));
}

// Backwards each pixel that comes in meets all taps, each that goes out those of its place in the stride.
double taps_forward(const NetLayer *layer) {
    if (!layer->conv.transposed) return kernel_taps(layer);
    return kernel_taps(layer) / along((double)layer->out_size / layer->in_size, dimensions(layer));
}

double taps_backward(const NetLayer *layer) {
    if (layer->conv.transposed) return kernel_taps(layer);
    return kernel_taps(layer) / along(layer->conv.stride, dimensions(layer));
}
