// Object detectors: SSD (Liu et al. 2015) on a ResNet or VGG-16, RetinaNet (Lin et al. 2017), and the family of
// Faster and Mask R-CNN (Ren et al. 2015, He et al. 2017) on a ResNet with a feature pyramid (Lin et al. 2016), its
// fourth stage (C4) or its dilated fifth (DC5), as in torchvision and Detectron2. Per-box work on one image
// (matching, suppression, sampling) is counted as launches.
#include "models/workload/model/model_internal.h"

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

// Loss kernels over the outputs of all boxes.
static void box_loss(ImageBuilder *builder, int classes, double boxes) {
    Feature before = feature_now(builder);
    look_back(builder, (Feature){classes, 1});
    builder->regions = boxes;
    image_passes(builder, "loss", classes, LOSS_FORWARD, LOSS_BACKWARD, LOSS_KERNELS, LOSS_KERNELS);
    builder->regions = 0;
    look_back(builder, before);
}

static void box_outputs_of(ImageBuilder *builder, const Feature *features, const int *boxes, int levels, int classes) {
    double all = 0;
    image_next_block(builder);
    for (int i = 0; i < levels; i++) {
        look_back(builder, features[i]);
        image_conv_plain(builder, "boxes", boxes[i] * BOX_NUMBERS, 3, 1);
        look_back(builder, features[i]);
        image_conv_plain(builder, "classes", boxes[i] * classes, 3, 1);
        all += (double)boxes[i] * features[i].size * features[i].size;
    }
    box_loss(builder, classes, all);
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
    box_outputs_of(builder, features, boxes_per_place, SSD_LEVELS, classes);
}

// ---- SSD on VGG-16 (Liu et al. 2015): its last pooling keeps the size, its first two linear layers are convolutions,
// and what the fourth block gives is the first level. Images of 300 pixels have six levels, of 512 seven.

#define VGG_BLOCKS 5
#define VGG_MOST_LEVELS 7
static const int vgg_convolutions[VGG_BLOCKS] = {2, 2, 3, 3, 3}, vgg_channels[VGG_BLOCKS] = {64, 128, 256, 512, 512};

typedef struct VggSsd {
    int levels, last_kernel; // of the last downsampling layer, padded by one on each side where it is 4
    Extra extras[VGG_MOST_LEVELS - 2];
    int boxes[VGG_MOST_LEVELS];
} VggSsd;
static const VggSsd vgg_ssds[] = {
    {6, 3, {{256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 1, 0}, {128, 256, 1, 0}}, {4, 6, 6, 6, 4, 4}},
    {7,
     4,
     {{256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 2, 1}, {128, 256, 2, 1}, {128, 256, 2, 1}},
     {4, 6, 6, 6, 6, 4, 4}},
};

static Feature add_vgg(ImageBuilder *builder) {
    Feature fourth = {0};
    for (int i = 0; i < VGG_BLOCKS; i++) {
        if (i > 0) image_next_block(builder);
        for (int k = 0; k < vgg_convolutions[i]; k++)
            extra_layer(image_conv(builder, "conv", vgg_channels[i], 3, 1), false);
        if (i == 3) fourth = feature_now(builder);
        image_elements(builder, "pool", i == 4 ? 3 : 2, i == 4 ? 1 : 2);
    }
    extra_layer(image_conv(builder, "fc6", 1024, 3, 1), false);
    extra_layer(image_conv(builder, "fc7", 1024, 1, 1), false);
    return fourth;
}

void build_ssd_vgg(ImageBuilder *builder, int variant, int classes) {
    const VggSsd *net = &vgg_ssds[variant];
    Feature features[VGG_MOST_LEVELS];
    features[0] = add_vgg(builder);
    features[1] = feature_now(builder);
    for (int i = 2; i < net->levels; i++) {
        image_next_block(builder);
        add_extra(builder, &net->extras[i - 2], false);
        NetLayer *last = &builder->layers.items[builder->layers.count - 1];
        if (i == net->levels - 1) last->conv.kernel = net->last_kernel;
        features[i] = feature_now(builder);
    }
    box_outputs_of(builder, features, net->boxes, net->levels, classes);
}

// ---- A ResNet whose stem and first stage are kept as trained before, its norms fixed, and a pyramid of its stages.

#define WIDTH 256
#define LONG_SIDE (1088.0 / 800) // of COCO's images (4:3) once their short side is 800, in whole steps of the stride

static void keep_as_trained(ImageBuilder *builder, bool norms) {
    builder->fixed_norms = !norms;
    builder->learning = LEARNS_NEVER;
}

// Stages up to `count`, the last without its stride where it is dilated instead; `norms`: of batches, that learn.
static int add_stages(ImageBuilder *builder, int resnet, int count, bool dilated, bool norms, Feature *stages) {
    keep_as_trained(builder, norms);
    resnet_stem(builder, resnet);
    for (int stage = 0; stage < count; stage++) {
        resnet_stage(builder, resnet, stage, stage > 0 && !(dilated && stage == 3) ? 2 : 1);
        stages[stage] = feature_now(builder);
        builder->learning = LEARNS;
    }
    builder->fixed_norms = false;
    return count;
}

static int add_backbone(ImageBuilder *builder, int resnet, Feature *stages) {
    return add_stages(builder, resnet, 4, false, false, stages);
}

// Stages `first` to the last are projected to the pyramid's width and added, top-down.
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
#define MATCHING_KERNELS 60 // of each image: overlaps with the true boxes, the best of them, regression targets

// Of the focal loss made of operators (fvcore and torchvision, sigmoid_focal_loss): probabilities, targets, their
// complements, the true class's probability, its power, the entropy, the weights and the product of these.
#define FOCAL_TENSORS 9

static void retina_head(ImageBuilder *builder, Feature level, int channels, bool shared) {
    look_back(builder, level);
    for (int i = 0; i < HEAD_DEPTH; i++) head_conv(builder, "head", WIDTH, 3, true, shared);
    head_conv(builder, "out", channels, 3, false, shared);
}

void build_retinanet(ImageBuilder *builder, int variant, int classes) {
    Feature stages[4], levels[RETINA_LEVELS];
    double long_side = variant == RESNEXT_50 ? 1 : LONG_SIDE; // MLPerf's images are squares
    builder->regions = long_side;
    int count = add_backbone(builder, variant, stages);
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
        boxes += long_side * RETINA_BOXES * levels[i].size * levels[i].size;
    }
    box_loss(builder, classes, boxes);
    NetLayer *loss = &builder->layers.items[builder->layers.count - 1];
    loss->kernels_per_image = MATCHING_KERNELS;
    loss->tensors = FOCAL_TENSORS;
}

// ---- Faster R-CNN: proposals on five levels or on one, of which 512 are looked at again; Mask R-CNN draws those with
// objects, Keypoint R-CNN finds their joints, Cascade R-CNN looks three times (Cai and Vasconcelos 2017), and Panoptic
// FPN gives every place of the image a class (Kirillov et al. 2019).

#define PROPOSAL_BOXES 3 // on each level; all sizes on the one level of C4 and DC5:
#define PROPOSAL_BOXES_ON_ONE 15
#define REGIONS 512
#define MASK_REGIONS 128 // a quarter of them
// Regions that hold a person whose joints are told: COCO has 2.65 of these on an image of its 56,599 for joints
// (149,813 in train2017), and 7.3 objects on one for boxes and masks (860,001 on 117,266).
#define JOINT_REGIONS 46
#define BOX_SIDE 7
#define MASK_SIDE 14
#define BOX_WIDTH 1024
#define JOINTS 17
#define JOINT_WIDTH 512
#define JOINT_DEPTH 8
#define STUFF_CLASSES 54 // of COCO, things together
#define STUFF_WIDTH 128
#define CASCADE 3
#define PROPOSAL_KERNELS 300 // of each image: sorting, decoding and suppressing on five levels, two rounds of sampling
#define ALIGN_FORWARD 5.0    // four samples of four pixels each, mostly in the L2
#define ALIGN_BACKWARD 8.0   // added atomically

// What proposals and boxes look at: the pyramid's levels, or one.
typedef struct Levels {
    Feature items[RETINA_LEVELS];
    int count;
} Levels;

static void add_proposals(ImageBuilder *builder, const Levels *levels) {
    int boxes = levels->count > 1 ? PROPOSAL_BOXES : PROPOSAL_BOXES_ON_ONE;
    image_next_block(builder);
    for (int i = 0; i < levels->count; i++) {
        look_back(builder, levels->items[i]);
        head_conv(builder, "proposals", levels->items[i].channels, 3, true, i > 0);
        head_conv(builder, "objects", boxes, 1, false, i > 0);
        look_back(builder, levels->items[i]);
        head_conv(builder, "boxes", boxes * BOX_NUMBERS, 1, false, i > 0);
    }
}

static void align_regions(ImageBuilder *builder, double regions, int side, int channels) {
    image_next_block(builder);
    builder->regions = regions;
    builder->size = side;
    image_passes(builder, "align", channels, ALIGN_FORWARD, ALIGN_BACKWARD, 1, 1);
}

static void box_outputs(ImageBuilder *builder, int in, int classes, int boxes) {
    image_linear(builder, "classes", in, classes);
    image_linear(builder, "boxes", in, BOX_NUMBERS * boxes);
}

static void add_boxes(ImageBuilder *builder, int net, int channels, int classes) {
    bool norms = net & HEAD_NORMS, cascade = net & HEAD_CASCADE;
    align_regions(builder, REGIONS, BOX_SIDE, channels);
    for (int i = 0; i < HEAD_DEPTH && norms; i++) image_conv(builder, "box_conv", WIDTH, 3, 1);
    image_linear(builder, "fc6", builder->channels * BOX_SIDE * BOX_SIDE, BOX_WIDTH);
    if (!norms) image_linear(builder, "fc7", BOX_WIDTH, BOX_WIDTH);
    box_outputs(builder, BOX_WIDTH, classes, cascade ? 1 : classes);
}

// Of C4: the ResNet's last stage on each region, then the mean over its places.
static void add_boxes_by_stage(ImageBuilder *builder, int net, int channels, int classes) {
    align_regions(builder, REGIONS, MASK_SIDE, channels);
    builder->fixed_norms = true;
    resnet_stage(builder, net & RESNET_ROW, 3, 2);
    builder->fixed_norms = false;
    Feature last = feature_now(builder);
    image_next_block(builder);
    box_outputs(builder, last.channels, classes, classes);
    look_back(builder, last);
}

static void mask_outputs(ImageBuilder *builder, int classes) {
    image_conv_up(builder, "up", WIDTH, 2, 2)->relu = true;
    image_conv_plain(builder, "mask_classes", classes, 1, 1);
}

static void add_masks(ImageBuilder *builder, int net, int channels, int classes) {
    align_regions(builder, MASK_REGIONS, MASK_SIDE, channels);
    for (int i = 0; i < HEAD_DEPTH; i++) {
        if (net & HEAD_NORMS)
            image_conv(builder, "mask", WIDTH, 3, 1);
        else
            head_conv(builder, "mask", WIDTH, 3, true, false);
    }
    mask_outputs(builder, classes);
}

static void add_joints(ImageBuilder *builder, int channels) {
    align_regions(builder, JOINT_REGIONS, MASK_SIDE, channels);
    for (int i = 0; i < JOINT_DEPTH; i++) head_conv(builder, "joint", JOINT_WIDTH, 3, true, false);
    image_conv_up(builder, "up", JOINTS, 4, 2);
    builder->size *= 2;
    image_passes(builder, "heat", JOINTS, 2, 2, 2, 2); // twice as large by interpolation, then softmax
}

// Each level is brought to the finest one's size, a factor of two after each convolution.
static void add_stuff(ImageBuilder *builder, const Levels *levels) {
    image_next_block(builder);
    for (int i = 0; i < 4; i++) {
        look_back(builder, levels->items[i]);
        for (int k = 0; k < (i > 0 ? i : 1); k++) {
            image_conv(builder, "stuff", STUFF_WIDTH, 3, 1);
            if (i == 0) continue;
            builder->size *= 2;
            image_passes(builder, "up", STUFF_WIDTH, 1.25, 1.25, 1, 1);
        }
    }
    look_back(builder, (Feature){STUFF_WIDTH, levels->items[0].size});
    image_conv_plain(builder, "stuff_classes", STUFF_CLASSES, 1, 1);
    builder->size *= 4;
    image_passes(builder, "loss", STUFF_CLASSES, LOSS_FORWARD, LOSS_BACKWARD, LOSS_KERNELS, LOSS_KERNELS);
}

static Levels levels_of(ImageBuilder *builder, int net) {
    Feature stages[4];
    bool norms = net & HEAD_NORMS;
    Levels levels = {.count = 1};
    builder->deformable = net & HEAD_DEFORMS;
    int count = add_stages(builder, net & RESNET_ROW, net & NECK_C4 ? 3 : 4, net & NECK_DC5, norms, stages);
    builder->deformable = false;
    if (net & (NECK_C4 | NECK_DC5)) {
        levels.items[0] = stages[count - 1];
        return levels;
    }
    add_pyramid(builder, stages, 0, count, levels.items);
    levels.items[4] = (Feature){WIDTH, image_halved(levels.items[3].size, 2)};
    levels.count = RETINA_LEVELS;
    return levels;
}

void build_rcnn(ImageBuilder *builder, int net, int classes) {
    builder->regions = LONG_SIDE;
    Levels levels = levels_of(builder, net);
    int channels = levels.items[0].channels;
    if (net & HEAD_STUFF) add_stuff(builder, &levels);
    if (net & HEAD_PROPOSALS) add_proposals(builder, &levels);
    int proposed = builder->layers.count - 1;
    builder->layers.items[proposed].kernels_per_image = PROPOSAL_KERNELS;
    for (int times = 0; times < (net & HEAD_CASCADE ? CASCADE : 1) && net & HEAD_BOXES; times++)
        (net & NECK_C4 ? add_boxes_by_stage : add_boxes)(builder, net, channels, classes);
    if (net & HEAD_MASKS && net & NECK_C4) {
        builder->regions = MASK_REGIONS; // pooled from the last stage's output
        mask_outputs(builder, classes);
    } else if (net & HEAD_MASKS) {
        add_masks(builder, net, channels, classes);
    }
    if (net & HEAD_JOINTS) add_joints(builder, channels);
}

// ---- DETR (Carion et al. 2020): a ResNet's last stage as the tokens of an encoder, and a decoder whose hundred
// queries look at them; each query gives a class and a box. The matching of queries with true boxes is counted as
// launches.

#define HEADS 8
#define FFN 2048
#define LAYERS 6 // of the encoder, and of the decoder
#define QUERY_SIDE 10
#define NO_OBJECT 1
#define MATCHING_KERNELS 60 // of each image and each decoder layer's loss together

// What follows works on the image's places, or on the queries.
typedef struct Tokens {
    Feature feature;
    double regions;
} Tokens;

static void work_on(ImageBuilder *builder, const Tokens *tokens) {
    look_back(builder, tokens->feature);
    builder->regions = tokens->regions;
}

static int count_of(const Tokens *tokens) {
    double side = tokens->feature.size;
    return (int)(side * side * (tokens->regions > 0 ? tokens->regions : 1) + 0.5);
}

static void attend(ImageBuilder *builder, int keys) {
    builder->channels = WIDTH;
    image_attention(builder, (PlaceAttention){.keys = keys, .heads = HEADS});
    image_conv_plain(builder, "projection", WIDTH, 1, 1)->residual_add = true;
    image_layer_norm(builder);
}

static void attend_to_self(ImageBuilder *builder, const Tokens *tokens) {
    image_conv_plain(builder, "qkv", 3 * WIDTH, 1, 1);
    attend(builder, count_of(tokens));
}

static void attend_to_image(ImageBuilder *builder, const Tokens *queries, const Tokens *image) {
    work_on(builder, image);
    image_conv_plain(builder, "keys_values", 2 * WIDTH, 1, 1);
    work_on(builder, queries);
    image_conv_plain(builder, "query", WIDTH, 1, 1);
    attend(builder, count_of(image));
}

static void feed_forward(ImageBuilder *builder) {
    image_conv_plain(builder, "widen", FFN, 1, 1)->relu = true;
    image_conv_plain(builder, "narrow", WIDTH, 1, 1)->residual_add = true;
    image_layer_norm(builder);
}

static void add_detr_backbone(ImageBuilder *builder) {
    builder->regions = LONG_SIDE;
    builder->fixed_norms = true;
    builder->learning = LEARNS_NEVER;
    resnet_stem(builder, RESNET_50);
    for (int stage = 0; stage < 4; stage++) {
        resnet_stage(builder, RESNET_50, stage, stage > 0 ? 2 : 1);
        builder->learning = LEARNS;
    }
    builder->fixed_norms = false;
}

static void add_outputs(ImageBuilder *builder, int classes) {
    image_next_block(builder);
    image_product(builder, "classes", WIDTH, classes + NO_OBJECT, true);
    for (int i = 0; i < 2; i++) image_product(builder, "box", WIDTH, WIDTH, true)->relu = true;
    image_product(builder, "boxes", WIDTH, BOX_NUMBERS, true)->kernels_per_image = LAYERS * MATCHING_KERNELS;
}

void build_detr(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    add_detr_backbone(builder);
    image_next_block(builder);
    image_conv_plain(builder, "narrow", WIDTH, 1, 1);
    Tokens image = {feature_now(builder), LONG_SIDE}, queries = {{WIDTH, QUERY_SIDE}, 0};
    for (int i = 0; i < LAYERS; i++) {
        image_next_block(builder);
        attend_to_self(builder, &image);
        feed_forward(builder);
    }
    work_on(builder, &queries);
    image_passes(builder, "queries", WIDTH, 1, 1, 1, 1)->table = (double)WIDTH * QUERY_SIDE * QUERY_SIDE;
    for (int i = 0; i < LAYERS; i++) {
        image_next_block(builder);
        attend_to_self(builder, &queries);
        attend_to_image(builder, &queries, &image);
        feed_forward(builder);
    }
    image_layer_norm(builder);
    add_outputs(builder, classes);
}
