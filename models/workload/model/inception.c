// Inception-v3 (Szegedy et al. 2015) without its auxiliary head, Inception-v4 (2016), and Xception (Chollet 2016):
// parallel branches, and convolutions of one row or one column.
#include "models/workload/model/model_internal.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// What every branch of a module begins with, and the channels that have come out of its branches.
typedef struct Module {
    ImageBuilder *builder;
    Feature in;
    int out_channels;
} Module;

static Module begin_module(ImageBuilder *builder) {
    image_next_block(builder);
    return (Module){builder, feature_now(builder), 0};
}

static void begin_branch(Module *module) { look_back(module->builder, module->in); }

static void end_branch(Module *module) { module->out_channels += module->builder->channels; }

static void end_module(Module *module) { image_concatenated(module->builder, module->out_channels); }

static void conv_wide(Module *module, int channels, int high, int wide) {
    image_conv(module->builder, "conv", channels, high, 1)->conv.kernel_wide = wide;
}

typedef struct Step { // channels 0: the end of the branch
    int channels, high, wide;
} Step;
#define MOST_STEPS 5

static void branch(Module *module, const Step *steps) {
    begin_branch(module);
    for (int i = 0; i < MOST_STEPS && steps[i].channels; i++)
        conv_wide(module, steps[i].channels, steps[i].high, steps[i].wide);
    end_branch(module);
}

// The last convolution of the branch halves the image, without padding.
static void shrinking_branch(Module *module, const Step *steps, int last_channels) {
    begin_branch(module);
    for (int i = 0; i < MOST_STEPS && steps[i].channels; i++)
        conv_wide(module, steps[i].channels, steps[i].high, steps[i].wide);
    image_conv_valid(module->builder, "conv", last_channels, 3, 2);
    end_branch(module);
}

static void pooled_branch(Module *module, int channels) {
    begin_branch(module);
    image_elements(module->builder, "pool", 3, 1);
    conv_wide(module, channels, 1, 1);
    end_branch(module);
}

static void shrink_by_pool(ImageBuilder *builder) {
    int out = (builder->size - 3) / 2 + 1;
    image_elements(builder, "pool", 3, 2)->out_size = out;
    builder->size = out;
}

static void shrinking_pool(Module *module) {
    begin_branch(module);
    shrink_by_pool(module->builder);
    end_branch(module);
}

// Two branches that share their first steps.
static void forked_branch(Module *module, const Step *shared, int channels) {
    begin_branch(module);
    for (int i = 0; i < MOST_STEPS && shared[i].channels; i++)
        conv_wide(module, shared[i].channels, shared[i].high, shared[i].wide);
    int from = module->builder->channels;
    conv_wide(module, channels, 1, 3);
    module->builder->channels = from;
    conv_wide(module, channels, 3, 1);
    module->out_channels += 2 * channels;
}

// ---- Version 3.

static void module_35(ImageBuilder *builder, int pool_channels) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{64, 1, 1}});
    branch(&m, (Step[MOST_STEPS]){{48, 1, 1}, {64, 5, 5}});
    branch(&m, (Step[MOST_STEPS]){{64, 1, 1}, {96, 3, 3}, {96, 3, 3}});
    pooled_branch(&m, pool_channels);
    end_module(&m);
}

static void module_17(ImageBuilder *builder, int c) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{192, 1, 1}});
    branch(&m, (Step[MOST_STEPS]){{c, 1, 1}, {c, 1, 7}, {192, 7, 1}});
    branch(&m, (Step[MOST_STEPS]){{c, 1, 1}, {c, 7, 1}, {c, 1, 7}, {c, 7, 1}, {192, 1, 7}});
    pooled_branch(&m, 192);
    end_module(&m);
}

static void module_8(ImageBuilder *builder) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{320, 1, 1}});
    forked_branch(&m, (Step[MOST_STEPS]){{384, 1, 1}}, 384);
    forked_branch(&m, (Step[MOST_STEPS]){{448, 1, 1}, {384, 3, 3}}, 384);
    pooled_branch(&m, 192);
    end_module(&m);
}

static void shrink_35_v3(ImageBuilder *builder) {
    Module m = begin_module(builder);
    shrinking_branch(&m, (Step[MOST_STEPS]){{0}}, 384);
    shrinking_branch(&m, (Step[MOST_STEPS]){{64, 1, 1}, {96, 3, 3}}, 96);
    shrinking_pool(&m);
    end_module(&m);
}

static void shrink_17_v3(ImageBuilder *builder) {
    Module m = begin_module(builder);
    shrinking_branch(&m, (Step[MOST_STEPS]){{192, 1, 1}}, 320);
    shrinking_branch(&m, (Step[MOST_STEPS]){{192, 1, 1}, {192, 1, 7}, {192, 7, 1}}, 192);
    shrinking_pool(&m);
    end_module(&m);
}

void build_inception_v3(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 32, 3, 1);
    image_conv(builder, "conv3", 64, 3, 1);
    shrink_by_pool(builder);
    image_conv_valid(builder, "conv4", 80, 1, 1);
    image_conv_valid(builder, "conv5", 192, 3, 1);
    shrink_by_pool(builder);
    static const int pools[] = {32, 64, 64}, widths[] = {128, 160, 160, 192};
    for (int i = 0; i < COUNT_OF(pools); i++) module_35(builder, pools[i]);
    shrink_35_v3(builder);
    for (int i = 0; i < COUNT_OF(widths); i++) module_17(builder, widths[i]);
    shrink_17_v3(builder);
    module_8(builder);
    module_8(builder);
    image_classifier(builder, classes);
}

// ---- Version 4.

static void stem_v4(ImageBuilder *builder) {
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 32, 3, 1);
    image_conv(builder, "conv3", 64, 3, 1);
    Module m = begin_module(builder);
    shrinking_pool(&m);
    shrinking_branch(&m, (Step[MOST_STEPS]){{0}}, 96);
    end_module(&m);
    m = begin_module(builder);
    begin_branch(&m);
    conv_wide(&m, 64, 1, 1);
    image_conv_valid(builder, "conv", 96, 3, 1);
    end_branch(&m);
    begin_branch(&m);
    conv_wide(&m, 64, 1, 1);
    conv_wide(&m, 64, 1, 7);
    conv_wide(&m, 64, 7, 1);
    image_conv_valid(builder, "conv", 96, 3, 1);
    end_branch(&m);
    end_module(&m);
    m = begin_module(builder);
    shrinking_branch(&m, (Step[MOST_STEPS]){{0}}, 192);
    shrinking_pool(&m);
    end_module(&m);
}

static void module_35_v4(ImageBuilder *builder) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{96, 1, 1}});
    branch(&m, (Step[MOST_STEPS]){{64, 1, 1}, {96, 3, 3}});
    branch(&m, (Step[MOST_STEPS]){{64, 1, 1}, {96, 3, 3}, {96, 3, 3}});
    pooled_branch(&m, 96);
    end_module(&m);
}

static void module_17_v4(ImageBuilder *builder) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{384, 1, 1}});
    branch(&m, (Step[MOST_STEPS]){{192, 1, 1}, {224, 1, 7}, {256, 7, 1}});
    branch(&m, (Step[MOST_STEPS]){{192, 1, 1}, {192, 7, 1}, {224, 1, 7}, {224, 7, 1}, {256, 1, 7}});
    pooled_branch(&m, 128);
    end_module(&m);
}

static void module_8_v4(ImageBuilder *builder) {
    Module m = begin_module(builder);
    branch(&m, (Step[MOST_STEPS]){{256, 1, 1}});
    forked_branch(&m, (Step[MOST_STEPS]){{384, 1, 1}}, 256);
    forked_branch(&m, (Step[MOST_STEPS]){{384, 1, 1}, {448, 3, 1}, {512, 1, 3}}, 256);
    pooled_branch(&m, 256);
    end_module(&m);
}

void build_inception_v4(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    stem_v4(builder);
    for (int i = 0; i < 4; i++) module_35_v4(builder);
    Module m = begin_module(builder);
    shrinking_branch(&m, (Step[MOST_STEPS]){{0}}, 384);
    shrinking_branch(&m, (Step[MOST_STEPS]){{192, 1, 1}, {224, 3, 3}}, 256);
    shrinking_pool(&m);
    end_module(&m);
    for (int i = 0; i < 7; i++) module_17_v4(builder);
    m = begin_module(builder);
    shrinking_branch(&m, (Step[MOST_STEPS]){{192, 1, 1}}, 192);
    shrinking_branch(&m, (Step[MOST_STEPS]){{256, 1, 1}, {256, 1, 7}, {320, 7, 1}}, 320);
    shrinking_pool(&m);
    end_module(&m);
    for (int i = 0; i < 3; i++) module_8_v4(builder);
    image_classifier(builder, classes);
}

// ---- Xception: depthwise convolutions without a norm, each followed by one over channels with a norm.

static void add_separable(ImageBuilder *builder, int channels) {
    NetLayer *apart = image_conv_depthwise(builder, "depthwise", 3, 1);
    apart->batch_norm = apart->relu = false;
    image_conv(builder, "pointwise", channels, 1, 1);
}

static void separable_block(ImageBuilder *builder, const int *channels, int count, int stride) {
    Feature in = feature_now(builder);
    image_next_block(builder);
    if (stride > 1) image_conv(builder, "downsample", channels[count - 1], 1, stride)->relu = false;
    look_back(builder, in);
    for (int i = 0; i < count; i++) add_separable(builder, channels[i]);
    if (stride > 1) image_elements(builder, "pool", 3, stride);
    builder->layers.items[builder->layers.count - 1].residual_add = true;
}

void build_xception(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    static const int shrinking[][2] = {{128, 128}, {256, 256}, {728, 728}}, middle[] = {728, 728, 728},
                     last[] = {728, 1024};
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 64, 3, 1);
    for (int i = 0; i < COUNT_OF(shrinking); i++) separable_block(builder, shrinking[i], 2, 2);
    for (int i = 0; i < 8; i++) separable_block(builder, middle, 3, 1);
    separable_block(builder, last, 2, 2);
    image_next_block(builder);
    add_separable(builder, 1536);
    add_separable(builder, 2048);
    image_classifier(builder, classes);
}
