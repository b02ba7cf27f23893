// Networks that find objects: SSD300 (Liu et al. 2015) on a ResNet, RetinaNet (Lin et al. 2017) and Faster and Mask
// R-CNN (Ren et al. 2015, He et al. 2017) on a ResNet with a feature pyramid (Lin et al. 2016). What is done box by box
// on one image (matching, suppression, sampling) is counted as launches.
#include "models/workload/model/image_layers.h"

#define MOST_LEVELS 6

// Rows of resnet.c's table.
enum { RESNET_34 = 1, RESNET_50 = 2, RESNEXT_50 = 8 };

// ---- SSD300: the ResNet's first three stages, the third of them without its stride, then five that shrink.

#define BOX_NUMBERS 4
#define LOSS_FORWARD 10.0 // passes over the classes of all boxes: softmax, sorting of negatives
#define LOSS_BACKWARD 4.0
#define LOSS_KERNELS 41
#define SSD_LEVELS 6

typedef struct Extra {
    int middle, channels, stride, pad;
} Extra;

typedef struct Ssd {
    int resnet;
    bool batch_norm; // in the extra layers
} Ssd;
static const Ssd ssds[] = {{RESNET_34, false}, {RESNET_50, true}};
static const Extra extras[SSD_LEVELS - 1] = {
    {256, 512, 2, 1}, {256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 1, 0}, {128, 256, 1, 0}};
static const int boxes_per_place[SSD_LEVELS] = {4, 6, 6, 6, 4, 4};

static NetLayer *extra_layer(NetLayer *layer, bool batch_norm) {
    layer->batch_norm = batch_norm;
    layer->bias = !batch_norm;
    return layer;
}

static void add_extra(ImageBuilder *builder, const Extra *extra, bool batch_norm) {
    extra_layer(image_conv(builder, "narrow", extra->middle, 1, 1), batch_norm);
    NetLayer *layer = extra->pad ? image_conv(builder, "shrink", extra->channels, 3, extra->stride)
                                 : image_conv_valid(builder, "shrink", extra->channels, 3, extra->stride);
    extra_layer(layer, batch_norm);
}

// Kernels over the outputs of all boxes: what the loss is made of.
static void box_loss(ImageBuilder *builder, int classes, double boxes) {
    Feature before = feature_now(builder);
    look_back(builder, (Feature){classes, 1});
    builder->regions = boxes;
    image_passes(builder, "loss", classes, LOSS_FORWARD, LOSS_BACKWARD, LOSS_KERNELS, LOSS_KERNELS);
    builder->regions = 0;
    look_back(builder, before);
}

void build_ssd(ImageBuilder *builder, int variant, int classes) {
    const Ssd *net = &ssds[variant];
    Feature features[SSD_LEVELS];
    resnet_stem(builder, net->resnet);
    for (int stage = 0; stage < 3; stage++) resnet_stage(builder, net->resnet, stage, stage == 1 ? 2 : 1);
    features[0] = feature_now(builder);
    for (int i = 1; i < SSD_LEVELS; i++) {
        image_next_block(builder);
        add_extra(builder, &extras[i - 1], net->batch_norm);
        features[i] = feature_now(builder);
    }
    double boxes = 0;
    image_next_block(builder);
    for (int i = 0; i < SSD_LEVELS; i++) {
        look_back(builder, features[i]);
        image_conv_plain(builder, "boxes", boxes_per_place[i] * BOX_NUMBERS, 3, 1);
        look_back(builder, features[i]);
        image_conv_plain(builder, "classes", boxes_per_place[i] * classes, 3, 1);
        boxes += (double)boxes_per_place[i] * features[i].size * features[i].size;
    }
    box_loss(builder, classes, boxes);
}

// ---- A ResNet whose stem and first stage are kept as trained before, its norms fixed, and a pyramid of its stages.

#define WIDTH 256

static int add_backbone(ImageBuilder *builder, int resnet, Feature *stages) {
    builder->fixed_norms = true;
    builder->learning = LEARNS_NEVER;
    resnet_stem(builder, resnet);
    for (int stage = 0; stage < 4; stage++) {
        resnet_stage(builder, resnet, stage, stage > 0 ? 2 : 1);
        stages[stage] = feature_now(builder);
        builder->learning = LEARNS;
    }
    builder->fixed_norms = false;
    return 4;
}

// Stages `first` to the last get the pyramid's width, from the top down each with what stands above it.
static void add_pyramid(ImageBuilder *builder, const Feature *stages, int first, int count, Feature *levels) {
    image_next_block(builder);
    for (int i = count - 1; i >= first; i--) {
        look_back(builder, stages[i]);
        NetLayer *inner = image_conv_plain(builder, "inner", WIDTH, 1, 1);
        inner->residual_add = i < count - 1;
        image_conv_plain(builder, "level", WIDTH, 3, 1);
        levels[i - first] = feature_now(builder);
    }
}

// The same head works on every level: its weights count once.
static NetLayer *head_conv(ImageBuilder *builder, const char *name, int channels, int kernel, bool relu, bool shared) {
    NetLayer *layer = image_conv_plain(builder, name, channels, kernel, 1);
    layer->relu = relu;
    layer->shared = shared;
    return layer;
}

// ---- RetinaNet: four convolutions before the classes and four before the boxes, on five levels.

#define RETINA_LEVELS 5
#define RETINA_BOXES 9
#define HEAD_DEPTH 4
#define MATCHING_KERNELS 60 // of each image: overlaps with the true boxes, the best of them, what they ask for

static const int retina_backbones[] = {RESNET_50, RESNEXT_50};

static void retina_head(ImageBuilder *builder, Feature level, int channels, bool shared) {
    look_back(builder, level);
    for (int i = 0; i < HEAD_DEPTH; i++) head_conv(builder, "head", WIDTH, 3, true, shared);
    head_conv(builder, "out", channels, 3, false, shared);
}

void build_retinanet(ImageBuilder *builder, int variant, int classes) {
    Feature stages[4], levels[RETINA_LEVELS];
    int count = add_backbone(builder, retina_backbones[variant], stages);
    add_pyramid(builder, stages, 1, count, levels);
    look_back(builder, levels[2]);
    for (int i = 3; i < RETINA_LEVELS; i++) {
        image_conv_plain(builder, "further", WIDTH, 3, 2)->relu = i + 1 < RETINA_LEVELS;
        levels[i] = feature_now(builder);
    }
    double boxes = 0;
    image_next_block(builder);
    for (int i = 0; i < RETINA_LEVELS; i++) {
        retina_head(builder, levels[i], RETINA_BOXES * classes, i > 0);
        retina_head(builder, levels[i], RETINA_BOXES * BOX_NUMBERS, i > 0);
        boxes += (double)RETINA_BOXES * levels[i].size * levels[i].size;
    }
    box_loss(builder, classes, boxes);
    builder->layers.items[builder->layers.count - 1].kernels_per_image = MATCHING_KERNELS;
}

// ---- Faster R-CNN: proposals on five levels, of which 512 are looked at again; Mask R-CNN draws those with objects.

#define LONG_SIDE (1088.0 / 800) // of COCO's images (4:3) once their short side is 800, in whole steps of the stride
#define PROPOSAL_BOXES 3
#define REGIONS 512
#define MASK_REGIONS 128 // a quarter of them
#define BOX_SIDE 7
#define MASK_SIDE 14
#define BOX_WIDTH 1024
#define PROPOSAL_KERNELS 300 // of each image: sorting, decoding and suppressing on five levels, two rounds of sampling
#define ALIGN_FORWARD 5.0    // four samples of four pixels each, mostly in the L2
#define ALIGN_BACKWARD 8.0   // added atomically

static void add_proposals(ImageBuilder *builder, const Feature *levels) {
    image_next_block(builder);
    for (int i = 0; i < RETINA_LEVELS; i++) {
        look_back(builder, levels[i]);
        head_conv(builder, "proposals", WIDTH, 3, true, i > 0);
        head_conv(builder, "objects", PROPOSAL_BOXES, 1, false, i > 0);
        look_back(builder, levels[i]);
        head_conv(builder, "boxes", PROPOSAL_BOXES * BOX_NUMBERS, 1, false, i > 0);
    }
}

static void align_regions(ImageBuilder *builder, double regions, int side) {
    image_next_block(builder);
    builder->regions = regions;
    builder->size = side;
    image_passes(builder, "align", WIDTH, ALIGN_FORWARD, ALIGN_BACKWARD, 1, 1);
}

static void add_boxes(ImageBuilder *builder, int classes) {
    align_regions(builder, REGIONS, BOX_SIDE);
    builder->layers.items[builder->layers.count - 1].kernels_per_image = PROPOSAL_KERNELS;
    image_linear(builder, "fc6", WIDTH * BOX_SIDE * BOX_SIDE, BOX_WIDTH);
    image_linear(builder, "fc7", BOX_WIDTH, BOX_WIDTH);
    image_linear(builder, "classes", BOX_WIDTH, classes);
    image_linear(builder, "boxes", BOX_WIDTH, BOX_NUMBERS * classes);
}

static void add_masks(ImageBuilder *builder, int classes) {
    align_regions(builder, MASK_REGIONS, MASK_SIDE);
    for (int i = 0; i < HEAD_DEPTH; i++) head_conv(builder, "mask", WIDTH, 3, true, false);
    image_conv_up(builder, "up", WIDTH, 2, 2)->relu = true;
    image_conv_plain(builder, "mask_classes", classes, 1, 1);
}

void build_faster_rcnn(ImageBuilder *builder, int variant, int classes) {
    Feature stages[4], levels[RETINA_LEVELS];
    builder->regions = LONG_SIDE;
    int count = add_backbone(builder, RESNET_50, stages);
    add_pyramid(builder, stages, 0, count, levels);
    levels[4] = (Feature){WIDTH, image_halved(levels[3].size, 2)};
    add_proposals(builder, levels);
    add_boxes(builder, classes);
    if (variant == 1) add_masks(builder, classes);
}
