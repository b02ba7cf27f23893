// The library's image networks by name, with their usual training image size.
#include <fnmatch.h>
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

#define HE "He et al. 2015, v1.5"
#define REGNET "Radosavovic et al. 2020"
#define ZOO "Detectron2 model zoo"
#define SWIN_2 "Liu et al. 2022 (Swin v2); torchvision"
#define NNUNET "Isensee et al. 2021 (nnU-Net), plans 2.1"
#define DETECTRON "Detectron model zoo"
#define MMDETECTION "mmdetection model zoo"
#define VGG "Simonyan and Zisserman 2014"

// clang-format off
static const ImageModel models[] = {
    {"resnet-18", "resnet", HE, 224, 8, build_resnet, 0},
    {"resnet-34", "resnet", HE, 224, 8, build_resnet, 1},
    {"resnet-50", "resnet", HE, 224, 8, build_resnet, 2},
    {"resnet-101", "resnet", HE, 224, 8, build_resnet, 3},
    {"resnet-152", "resnet", HE, 224, 8, build_resnet, 4},
    {"resnet-50-d", "resnet", "He et al. 2018", 224, 8, build_resnet, 5},
    {"wide-resnet-50-2", "resnet", "Zagoruyko and Komodakis 2016", 224, 8, build_resnet, 6},
    {"wide-resnet-101-2", "resnet", "Zagoruyko and Komodakis 2016", 224, 8, build_resnet, 7},
    {"resnext-50-32x4d", "resnext", "Xie et al. 2016", 224, 8, build_resnet, 8},
    {"resnext-101-32x4d", "resnext", "Xie et al. 2016", 224, 8, build_resnet, 9},
    {"resnext-101-32x8d", "resnext", "Xie et al. 2016", 224, 8, build_resnet, 10},
    {"se-resnet-50", "resnet", "Hu et al. 2017", 224, 8, build_resnet, 11},
    {"se-resnext-50-32x4d", "resnext", "Hu et al. 2017", 224, 8, build_resnet, 12},
    {"se-resnext-101-32x4d", "resnext", "Hu et al. 2017", 224, 8, build_resnet, 13},
    {"resnet-50-v1", "resnet", "He et al. 2015", 224, 8, build_resnet, 14},
    {"resnet-101-v1", "resnet", "He et al. 2015", 224, 8, build_resnet, 15},
    {"resnet-152-v1", "resnet", "He et al. 2015", 224, 8, build_resnet, 16},
    {"resnext-101-64x4d", "resnext", "Xie et al. 2016; torchvision", 224, 8, build_resnet, 17},
    {"resnet-200", "resnet", "He et al. 2016 (identity mappings), as v1.5", 224, 8, build_resnet, 18},
    {"regnety-016", "regnet", REGNET, 224, 8, build_regnet, 0},
    {"regnety-032", "regnet", REGNET, 224, 8, build_regnet, 1},
    {"regnety-040", "regnet", REGNET, 224, 8, build_regnet, 2},
    {"regnety-080", "regnet", REGNET, 224, 8, build_regnet, 3},
    {"regnety-160", "regnet", REGNET, 224, 8, build_regnet, 4},
    {"regnety-320", "regnet", REGNET, 224, 8, build_regnet, 5},
    {"regnetx-032", "regnet", REGNET, 224, 8, build_regnet, 6},
    {"regnetx-160", "regnet", REGNET, 224, 8, build_regnet, 7},
    {"alexnet", "alexnet", "Krizhevsky 2014 (one tower)", 224, 63, build_convnet, 0},
    {"alexnet-mxnet", "alexnet", "Krizhevsky et al. 2012 (one tower)", 224, 67, build_convnet, 1},
    {"vgg-11", "vgg", VGG, 224, 32, build_convnet, 2},
    {"vgg-13", "vgg", VGG, 224, 32, build_convnet, 3},
    {"vgg-16", "vgg", VGG, 224, 32, build_convnet, 4},
    {"vgg-19", "vgg", VGG, 224, 32, build_convnet, 5},
    {"vgg-11-bn", "vgg", VGG ", with batch norm", 224, 32, build_convnet, 6},
    {"vgg-13-bn", "vgg", VGG ", with batch norm", 224, 32, build_convnet, 7},
    {"vgg-16-bn", "vgg", VGG ", with batch norm", 224, 32, build_convnet, 8},
    {"vgg-19-bn", "vgg", VGG ", with batch norm", 224, 32, build_convnet, 9},
    {"inception-v3", "inception", "Szegedy et al. 2015", 299, 75, build_inception_v3, 0},
    {"inception-v4", "inception", "Szegedy et al. 2016", 299, 75, build_inception_v4, 0},
    {"xception", "inception", "Chollet 2016", 299, 32, build_xception, 0},
    {"mobilenet-v2", "mobilenet", "Sandler et al. 2018", 224, 8, build_mobilenet, 0},
    {"efficientnet-b0", "efficientnet", "Tan and Le 2019", 224, 8, build_efficientnet, 0},
    {"efficientnet-b1", "efficientnet", "Tan and Le 2019", 240, 8, build_efficientnet, 1},
    {"efficientnet-b2", "efficientnet", "Tan and Le 2019", 260, 8, build_efficientnet, 2},
    {"efficientnet-b3", "efficientnet", "Tan and Le 2019", 300, 8, build_efficientnet, 3},
    {"efficientnet-b4", "efficientnet", "Tan and Le 2019", 380, 8, build_efficientnet, 4},
    {"efficientnet-b5", "efficientnet", "Tan and Le 2019", 456, 8, build_efficientnet, 5},
    {"efficientnet-b6", "efficientnet", "Tan and Le 2019", 528, 8, build_efficientnet, 6},
    {"efficientnet-b7", "efficientnet", "Tan and Le 2019", 600, 8, build_efficientnet, 7},
    {"efficientnet-v2-s", "efficientnet", "Tan and Le 2021", 384, 8, build_efficientnet_v2, 0},
    {"densenet-121", "densenet", "Huang et al. 2016", 224, 32, build_densenet, 0},
    {"densenet-161", "densenet", "Huang et al. 2016", 224, 32, build_densenet, 1},
    {"densenet-169", "densenet", "Huang et al. 2016", 224, 32, build_densenet, 2},
    {"densenet-201", "densenet", "Huang et al. 2016", 224, 32, build_densenet, 3},
    {"convnext-tiny", "convnext", "Liu et al. 2022", 224, 32, build_convnext, 0},
    {"convnext-small", "convnext", "Liu et al. 2022", 224, 32, build_convnext, 1},
    {"convnext-base", "convnext", "Liu et al. 2022", 224, 32, build_convnext, 2},
    {"convnext-large", "convnext", "Liu et al. 2022", 224, 32, build_convnext, 3},
    {"convnext-xlarge", "convnext", "Liu et al. 2022", 224, 32, build_convnext, 4},
    {"swin-tiny", "swin", "Liu et al. 2021", 224, 32, build_swin, 0},
    {"swin-small", "swin", "Liu et al. 2021", 224, 32, build_swin, 1},
    {"swin-base", "swin", "Liu et al. 2021", 224, 32, build_swin, 2},
    {"swin-large", "swin", "Liu et al. 2021", 224, 32, build_swin, 3},
    {"swin-v2-tiny", "swin", SWIN_2, 256, 64, build_swin_v2, 0},
    {"swin-v2-small", "swin", SWIN_2, 256, 64, build_swin_v2, 1},
    {"swin-v2-base", "swin", SWIN_2, 256, 64, build_swin_v2, 2},
    {"deeplabv3-resnet-50", "segmenter", "Chen et al. 2017; torchvision", 520, 64, build_segmenter, 0},
    {"deeplabv3-resnet-101", "segmenter", "Chen et al. 2017; torchvision", 520, 64, build_segmenter, 1},
    {"pspnet-resnet-50", "segmenter", "Zhao et al. 2016; mmsegmentation", 512, 64, build_segmenter, 2},
    {"pspnet-resnet-101", "segmenter", "Zhao et al. 2016; mmsegmentation", 512, 64, build_segmenter, 3},
    {"unet", "unet", "Ronneberger et al. 2015", 572, 188, build_unet, 0},
    {"unet-industrial", "unet", "NVIDIA DeepLearningExamples (TinyUNet)", 512, 16, build_unet_industrial, 0},
    {"unet-industrial-wide", "unet", "NVIDIA DeepLearningExamples (original)", 512, 16, build_unet_industrial, 1},
    {"unet-3d", "unet", "Isensee et al. 2018 (nnU-Net); NVIDIA DeepLearningExamples", 128, 32, build_unet_3d, 0},
    {"nnunet-2d-320x256", "unet", NNUNET ", heart", 256, 256, build_nnunet, 0},
    {"nnunet-2d-512x512", "unet", NNUNET ", liver", 512, 512, build_nnunet, 1},
    {"nnunet-2d-320x320", "unet", NNUNET ", prostate", 320, 320, build_nnunet, 2},
    {"nnunet-3d-80x192x160", "unet", NNUNET ", heart", 160, 160, build_nnunet, 3},
    {"nnunet-3d-128x128x128", "unet", NNUNET ", liver", 128, 128, build_nnunet, 4},
    {"nnunet-3d-20x320x256", "unet", NNUNET ", prostate", 256, 256, build_nnunet, 5},
    {"v-net", "unet", "Milletari et al. 2016", 128, 16, build_vnet, 0},
    {"ssd300-resnet-34", "ssd", "Liu et al. 2015; MLPerf Training 0.6", 300, 264, build_ssd, 0},
    {"ssd300-resnet-50", "ssd", "Liu et al. 2015; NVIDIA DeepLearningExamples", 300, 264, build_ssd, 1},
    {"ssd300-vgg-16", "ssd", "Liu et al. 2015; torchvision", 300, 264, build_ssd_vgg, 0},
    {"ssd512-vgg-16", "ssd", "Liu et al. 2015; mmdetection", 512, 448, build_ssd_vgg, 1},
    {"retinanet-resnet-50", "retinanet", "Lin et al. 2017; torchvision", 800, 64, build_retinanet, RESNET_50},
    {"retinanet-resnext-50-32x4d", "retinanet", "Lin et al. 2017; MLPerf Training 2.0", 800, 64, build_retinanet, RESNEXT_50},
    {"retinanet-resnet-101", "retinanet", "Lin et al. 2017; Detectron2", 800, 64, build_retinanet, RESNET_101},
    {"retinanet-resnext-101-32x4d", "retinanet", MMDETECTION, 800, 64, build_retinanet, RESNEXT_101_32X4D},
    {"retinanet-resnext-101-32x8d", "retinanet", DETECTRON, 800, 64, build_retinanet, RESNEXT_101},
    {"retinanet-resnext-101-64x4d", "retinanet", DETECTRON, 800, 64, build_retinanet, RESNEXT_101_64X4D},
    {"detr-resnet-50", "detr", "Carion et al. 2020", 800, 64, build_detr, 0},
    {"faster-rcnn-resnet-50", "rcnn", "Ren et al. 2015; torchvision", 800, 64, build_rcnn, RESNET_50 | FASTER},
    {"mask-rcnn-resnet-50", "rcnn", "He et al. 2017; torchvision", 800, 64, build_rcnn, RESNET_50 | MASKED},
    {"faster-rcnn-resnet-101", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | FASTER},
    {"faster-rcnn-resnext-101-32x8d", "rcnn", ZOO, 800, 64, build_rcnn, RESNEXT_101 | FASTER},
    {"faster-rcnn-resnet-50-c4", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | NECK_C4 | FASTER},
    {"faster-rcnn-resnet-101-c4", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | NECK_C4 | FASTER},
    {"faster-rcnn-resnet-50-dc5", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | NECK_DC5 | FASTER},
    {"faster-rcnn-resnet-101-dc5", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | NECK_DC5 | FASTER},
    {"mask-rcnn-resnet-101", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | MASKED},
    {"mask-rcnn-resnext-101-32x8d", "rcnn", ZOO, 800, 64, build_rcnn, RESNEXT_101 | MASKED},
    {"mask-rcnn-resnet-50-c4", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | NECK_C4 | MASKED},
    {"mask-rcnn-resnet-101-c4", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | NECK_C4 | MASKED},
    {"mask-rcnn-resnet-50-dc5", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | NECK_DC5 | MASKED},
    {"mask-rcnn-resnet-101-dc5", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | NECK_DC5 | MASKED},
    {"mask-rcnn-resnet-50-lvis", "rcnn", ZOO ", LVIS 0.5", 800, 64, build_rcnn, RESNET_50 | MASKED},
    {"mask-rcnn-resnet-101-lvis", "rcnn", ZOO ", LVIS 0.5", 800, 64, build_rcnn, RESNET_101 | MASKED},
    {"mask-rcnn-resnext-101-32x8d-lvis", "rcnn", ZOO ", LVIS 0.5", 800, 64, build_rcnn, RESNEXT_101 | MASKED},
    {"rpn-resnet-50", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | HEAD_PROPOSALS},
    {"rpn-resnet-50-c4", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | NECK_C4 | HEAD_PROPOSALS},
    {"fast-rcnn-resnet-50", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | HEAD_BOXES},
    {"keypoint-rcnn-resnet-50", "rcnn", ZOO "; torchvision", 800, 64, build_rcnn, RESNET_50 | FASTER | HEAD_JOINTS},
    {"keypoint-rcnn-resnet-101", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | FASTER | HEAD_JOINTS},
    {"keypoint-rcnn-resnext-101-32x8d", "rcnn", ZOO, 800, 64, build_rcnn, RESNEXT_101 | FASTER | HEAD_JOINTS},
    {"panoptic-fpn-resnet-50", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | MASKED | HEAD_STUFF},
    {"panoptic-fpn-resnet-101", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_101 | MASKED | HEAD_STUFF},
    {"cascade-mask-rcnn-resnet-50", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | MASKED | HEAD_CASCADE},
    {"mask-rcnn-resnet-50-norms", "rcnn", ZOO ", GN or SyncBN", 800, 64, build_rcnn, RESNET_50 | MASKED | HEAD_NORMS},
    {"mask-rcnn-resnet-50-deformable", "rcnn", ZOO, 800, 64, build_rcnn, RESNET_50 | MASKED | HEAD_DEFORMS},
    {"rpn-resnet-101", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNET_101 | HEAD_PROPOSALS},
    {"rpn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | HEAD_PROPOSALS},
    {"rpn-resnext-101-64x4d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101_64X4D | HEAD_PROPOSALS},
    {"rpn-resnext-101-32x8d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101 | HEAD_PROPOSALS},
    {"fast-rcnn-resnet-101", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNET_101 | HEAD_BOXES},
    {"fast-rcnn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | HEAD_BOXES},
    {"fast-rcnn-resnext-101-64x4d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101_64X4D | HEAD_BOXES},
    {"fast-rcnn-resnext-101-32x8d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101 | HEAD_BOXES},
    {"fast-rcnn-resnet-50-c4", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNET_50 | NECK_C4 | HEAD_BOXES},
    {"faster-rcnn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | FASTER},
    {"faster-rcnn-resnext-101-64x4d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101_64X4D | FASTER},
    {"mask-rcnn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | MASKED},
    {"mask-rcnn-resnext-101-64x4d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101_64X4D | MASKED},
    {"keypoint-rcnn-resnext-101-64x4d", "rcnn", DETECTRON, 800, 64, build_rcnn, RESNEXT_101_64X4D | FASTER | HEAD_JOINTS},
    {"cascade-rcnn-resnet-50", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNET_50 | FASTER | HEAD_CASCADE},
    {"cascade-rcnn-resnet-101", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNET_101 | FASTER | HEAD_CASCADE},
    {"cascade-rcnn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | FASTER | HEAD_CASCADE},
    {"cascade-rcnn-resnext-101-64x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_64X4D | FASTER | HEAD_CASCADE},
    {"cascade-mask-rcnn-resnet-101", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNET_101 | MASKED | HEAD_CASCADE},
    {"cascade-mask-rcnn-resnext-101-32x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_32X4D | MASKED | HEAD_CASCADE},
    {"cascade-mask-rcnn-resnext-101-64x4d", "rcnn", MMDETECTION, 800, 64, build_rcnn, RESNEXT_101_64X4D | MASKED | HEAD_CASCADE},
    {"stable-diffusion-1.5", "diffusion", "Rombach et al. 2022", 512, 64, build_diffusion, 0},
    {"stable-diffusion-2", "diffusion", "Rombach et al. 2022", 512, 64, build_diffusion, 1},
    {"clip-vit-base-patch32", "clip", "Radford et al. 2021", 224, 32, build_clip, 0},
    {"clip-vit-base-patch16", "clip", "Radford et al. 2021", 224, 16, build_clip, 1},
    {"clip-vit-large-patch14", "clip", "Radford et al. 2021", 224, 14, build_clip, 2},
    {"waveglow", "waveglow", "Prenger et al. 2018; NVIDIA DeepLearningExamples", 8000, 256, build_waveglow, 0},
    {"waveglow-256", "waveglow", "Prenger et al. 2018", 16000, 256, build_waveglow, 1},
    {"jasper-10x5", "jasper", "Li et al. 2019; NVIDIA DeepLearningExamples", 267200, 16000, build_speech, 0},
    {"quartznet-15x5", "jasper", "Kriman et al. 2019; NVIDIA DeepLearningExamples", 267200, 16000, build_speech, 1},
    {"tacotron-2", "tacotron", "Shen et al. 2018; NVIDIA DeepLearningExamples", 222705, 1024, build_tacotron, 0},
    {"gnmt-v2", "gnmt", "Wu et al. 2016; NVIDIA DeepLearningExamples", 50, 1, build_gnmt, 0},
};
// clang-format on
const int image_model_count = (int)(sizeof models / sizeof *models);
#define COLOURS 3
#define SUBWORDS 32320 // 32,317 padded to a multiple of eight
#define LETTERS 29     // of English, with apostrophe, space and blank

// Classes and dimensions (0: 2) by name (fnmatch), the first that fits. Detectron2's models know COCO's 80 classes and
// the background, persons only, or LVIS's classes.
typedef struct Kind {
    const char *names;
    int classes, dimensions;
} Kind;
static const Kind kinds[] = {
    {"deeplabv3-*", 21, 0},
    {"pspnet-*", 19, 0},
    {"unet", 2, 0},
    {"unet-industrial*", 1, 0},
    {"unet-3d", 4, 3},
    {"nnunet-2d-320x256", 2, 0},
    {"nnunet-2d-*", 3, 0},
    {"nnunet-3d-80x192x160", 2, 3},
    {"nnunet-3d-*", 3, 3},
    {"v-net", 2, 3},
    {"ssd*", 81, 0},
    {"retinanet-resnet-50", 91, 0},
    {"retinanet-resnext-50-32x4d", 264, 0},
    {"retinanet-*", 80, 0},
    {"detr-*", 91, 0},
    {"faster-rcnn-resnet-50", 91, 0},
    {"mask-rcnn-resnet-50", 91, 0},
    {"*-lvis", 1231, 0},
    {"keypoint-*", 2, 0},
    {"*rcnn-*", 81, 0},
    {"rpn-*", 81, 0},
    {"panoptic-*", 81, 0},
    {"stable-diffusion-*", 1, 0},
    {"clip-*", 1, 0},
    {"waveglow*", 1, 1},
    {"jasper-*", LETTERS, 1},
    {"quartznet-*", LETTERS, 1},
    {"tacotron-*", 1, 1},
    {"gnmt-*", SUBWORDS, 1},
    {"*", 1000, 0}, // ImageNet's
};

static const Kind *kind_of(const char *name) {
    const Kind *kind = kinds;
    while (fnmatch(kind->names, name, 0) != 0) kind++;
    return kind;
}

const char *image_model_name(int index) {
    CHECK(index >= 0 && index < image_model_count);
    return models[index].name;
}

int image_model_index(const char *name) {
    for (int i = 0; i < image_model_count; i++)
        if (strcmp(models[i].name, name) == 0) return i;
    return -1;
}

const Model *image_model(Arena *arena, int index, int image_size, int classes) {
    CHECK(index >= 0 && index < image_model_count);
    const ImageModel *row = &models[index];
    if (!image_size) image_size = row->image_size;
    const Kind *kind = kind_of(row->name);
    if (!classes) classes = kind->classes;
    ImageBuilder builder = image_builder(arena, image_size);
    builder.dimensions = kind->dimensions;
    row->build(&builder, row->variant, classes);

    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = row->name,
        .family = row->family,
        .source = row->source,
        .kind = MODEL_CNN,
        .block_count = builder.block + 1,
        .image_size = image_size,
        .classes = classes,
        .dimensions = kind->dimensions,
        .of_words = row->build == build_gnmt,
        .net_layers = builder.layers.items,
        .net_layer_count = builder.layers.count,
    };
    return model;
}

double sample_values(const Model *model) {
    CHECK(takes_images(model));
    double size = model->image_size;
    return model->dimensions == 1 ? size : model->dimensions == 3 ? size * size * size : COLOURS * size * size;
}

int least_image_size(const Model *model) {
    CHECK(takes_images(model));
    if (is_lstm(model)) return 1;
    return model->patch ? model->patch : models[image_model_index(model->name)].least_size;
}

const Model *model_resized(Arena *arena, const Model *model, int image_size, int classes) {
    CHECK(takes_images(model));
    if (!image_size) image_size = model->image_size;
    if (!classes) classes = model->classes;
    if (model->patch) return vision_transformer(arena, vision_transformer_index(model->name), image_size, classes);
    if (is_lstm(model)) return lstm_resized(arena, model, image_size, classes);
    return image_model(arena, image_model_index(model->name), image_size, classes);
}
