// Image networks: the counts that were published, how layers fit together, and laws of what they cost.
#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/model/model_internal.h"
#include "tests/jobs.h"
#include "tests/test.h"

static const Where nowhere = {NULL, 0};

// Of torchvision and timm; U-Net's with one colour in and two classes out.
TEST(image_networks_have_their_published_parameters) {
    static const struct {
        const char *name;
        double parameters;
    } known[] = {
        {"resnet50d", 25576264},
        {"wide_resnet50_2", 68883240},
        {"wide_resnet101_2", 126886696},
        {"resnext50_32x4d", 25028904},
        {"resnext101_32x4d", 44177704},
        {"resnext101_32x8d", 88791336},
        {"seresnet50", 28088024},
        {"seresnext50_32x4d", 27559896},
        {"SE-ResNeXt101-32x4d", 48955416},
        {"resnet-50-v1", 25557032},
        {"regnety_016", 11202430},
        {"regnety_032", 19436338},
        {"regnety_040", 20646656},
        {"regnety_080", 39180068},
        {"regnety_160", 83590140},
        {"regnety_320", 145046770},
        {"regnetx_032", 15296552},
        {"regnetx_160", 54278536},
        {"alexnet", 61100840},
        {"vgg11", 132863336},
        {"vgg13", 133047848},
        {"VGG16", 138357544},
        {"vgg19", 143667240},
        {"vgg16_bn", 138365992},
        {"InceptionV3", 23834568},
        {"inception_v4", 42679816},
        {"xception", 22855952},
        {"mobilenetv2_100", 3504872},
        {"efficientnet_b0", 5288548},
        {"efficientnet_b2", 9109994},
        {"efficientnet_b4", 19341616},
        {"efficientnet_b7", 66347960},
        {"EfficientNetV2-S", 21458488},
        {"densenet121", 7978856},
        {"densenet161", 28681000},
        {"densenet169", 14149480},
        {"densenet201", 20013928},
        {"convnext_tiny", 28589128},
        {"convnext_small", 50223688},
        {"convnext_xlarge", 350196968},
        {"swin_tiny", 28288354},
        {"swin_base", 87768224},
        {"unet", 31030658},
        {"vit-tiny-patch16", 5717416},
        {"vit-small-patch16", 22050664},
        {"deit_base_patch16", 86567656},
        {"vit-base-patch32", 88224232},
        {"vit-large-patch16", 304326632},
        {"vit-huge-patch14", 632045800},
    };
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_parameters(bench_model(&bench, known[i].name)), known[i].parameters, 0);
    // MXNet publishes its AlexNet's size: 203 MB of 32-bit weights.
    EXPECT_NEAR(4e-6 * model_parameters(bench_model(&bench, "alexnet-mxnet")), 203, 0.005);
    EXPECT_INT(problem_count(bench.problems), 0);
    arena_close(bench.arena);
}

// timm's and torchvision's tables; they count norms or leave out what is small, so 2 %.
TEST(image_networks_multiply_what_was_published) {
    static const struct {
        const char *name;
        int image_size;
        double gmac;
    } known[] = {
        {"resnet50d", 224, 4.35},
        {"resnext101_32x8d", 224, 16.48},
        {"SE-ResNeXt101-32x4d", 224, 8.02},
        {"wide_resnet50_2", 224, 11.43},
        {"regnety_040", 224, 4.0},
        {"regnety_160", 224, 15.96},
        {"vgg11", 224, 7.61},
        {"vgg16", 224, 15.47},
        {"vgg19", 224, 19.63},
        {"inception_v3", 299, 5.73},
        {"inception_v4", 299, 12.28},
        {"xception", 299, 8.40},
        {"densenet121", 224, 2.87},
        {"densenet201", 224, 4.34},
        {"convnext_small", 224, 8.71},
        {"swin_tiny", 224, 4.51},
        {"swin_base", 224, 15.47},
        {"vit-base-patch16", 224, 17.58},
        {"vit-base-patch32", 384, 13.06},
        {"vit-large-patch16", 384, 191.2},
        {"resnet-50-v1", 224, 3.86},
        {"efficientnet_b0", 224, 0.39},
        {"EfficientNetV2-S", 384, 8.37},
        {"mobilenet-v2", 224, 0.301},
    };
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const Model *model = model_resized(bench.arena, bench_model(&bench, known[i].name), known[i].image_size, 0);
        double flops = model_forward_flops_per_sample(model, model->max_positions);
        EXPECT_NEAR(flops, 2e9 * known[i].gmac, 0.02);
    }
    arena_close(bench.arena);
}

static bool shapes_chain(const Model *model) {
    int block = 0;
    for (int i = 0; i < model->net_layer_count; i++) {
        const NetLayer *layer = &model->net_layers[i];
        bool grows = layer->conv.transposed;
        if (layer->out_size < 1 || (layer->out_size > layer->in_size && !grows)) return false;
        if (layer->in_channels < 1 || layer->out_channels < 1) return false;
        int groups = layer->kind == LAYER_CONVOLUTION ? layer->conv.groups : 1;
        if (groups < 1 || layer->in_channels % groups != 0 || layer->out_channels % groups != 0) return false;
        if (layer->block < block || layer->block > block + 1) return false; // blocks in order, none empty
        block = layer->block;
    }
    return !convolves(model) || block == model->block_count - 1;
}

static TrainingSpec amp(const Model *model) {
    return (TrainingSpec){
        .model = model,
        .layout = {.tp = 1, .pp = 1, .vpp = 1},
        .seq_len = model->max_positions,
        .precision = FP16,
        .mixed_precision = true,
        .framework = FRAMEWORK_EAGER,
        .optimizer = OPTIMIZER_SGD,
    };
}

static double step_seconds_of(const TrainingSpec *training, double batch, const Gpu *gpu, double *flops) {
    double seconds = 0;
    *flops = 0;
    for (int block = 0; block < training->model->block_count; block++) {
        BlockCost cost = block_cost(training->model, block, training, batch, gpu);
        seconds += list_seconds(&cost.forward) + list_seconds(&cost.backward);
        *flops += block_matmul_flops(training->model, block, training, batch);
    }
    return seconds;
}

// Every network of the library, at its usual and its least size: layers fit together, blocks multiply what the model
// multiplies, no time is below what the peak allows, and memory is kept for what backward needs.
TEST(every_image_network_can_be_trained_at_any_size) {
    Bench bench = bench_open();
    const Gpu *gpu = find_gpu(bench.arena, bench.catalogue, "A100", nowhere, bench.problems);
    int count = 0, images = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        const Model *usual = bench_model(&bench, names[i]);
        if (!takes_images(usual)) continue;
        images++;
        int least = least_image_size(usual);
        const Model *small = model_resized(bench.arena, usual, least, 10);
        EXPECT(shapes_chain(usual) && shapes_chain(small));
        EXPECT_INT(small->classes, 10);
        TrainingSpec training = amp(usual);
        double flops, seconds = step_seconds_of(&training, 4, gpu, &flops);
        EXPECT_NEAR(flops, 4 * model_forward_flops_per_sample(usual, usual->max_positions), 1e-12);
        EXPECT(seconds > 3 * flops / gpu->peak_flops[FP16] && seconds < 10);
        Memory memory = memory_estimate(usual, &training, 0, usual->block_count - 1, 4, 1, 1, gpu);
        EXPECT(memory.bytes[MEMORY_ACTIVATIONS] > 0 && memory.peak < gpu->memory_bytes);
    }
    EXPECT(images > 60);
    arena_close(bench.arena);
}

TEST(images_channels_last_spare_matrix_units_a_change_of_layout) {
    static const char *const names[] = {"resnet-50", "vgg-16", "inception-v3", "densenet-121"};
    Bench bench = bench_open();
    const Gpu *gpu = find_gpu(bench.arena, bench.catalogue, "RTX3090", nowhere, bench.problems);
    for (int i = 0; i < 4; i++) {
        TrainingSpec training = amp(bench_model(&bench, names[i]));
        double flops, usual = step_seconds_of(&training, 64, gpu, &flops);
        training.image_layout = IMAGE_LAYOUT_NCHW;
        EXPECT_NEAR(step_seconds_of(&training, 64, gpu, &flops), usual, 0); // PyTorch's
        training.image_layout = IMAGE_LAYOUT_NHWC;
        EXPECT(step_seconds_of(&training, 64, gpu, &flops) < 0.99 * usual);
        training.precision = FP32; // vector units take either, norms a block of threads for each channel
        training.mixed_precision = false;
        double last = step_seconds_of(&training, 64, gpu, &flops);
        training.image_layout = IMAGE_LAYOUT_NCHW;
        double first = step_seconds_of(&training, 64, gpu, &flops);
        EXPECT(first >= last && first < 1.03 * last);
    }
    arena_close(bench.arena);
}

// One layer, then the same with one thing changed: what a convolution's groups, shape and place must do.
static double layer_seconds(const Gpu *gpu, NetLayer layer, Precision precision) {
    NetLayer layers[2] = {{.name = "first",
                           .in_channels = 8,
                           .out_channels = 8,
                           .conv = {.kernel = 1, .stride = 1, .groups = 1},
                           .in_size = 1,
                           .out_size = 1}};
    layers[1] = layer;
    layers[1].block = 1;
    Model model = {.name = "one", .kind = MODEL_CNN, .block_count = 2, .net_layers = layers, .net_layer_count = 2};
    TrainingSpec training = amp(&model);
    training.precision = precision;
    training.mixed_precision = precision == FP16;
    training.framework = FRAMEWORK_TUNED;
    BlockCost cost = block_cost(&model, 1, &training, 64, gpu);
    return list_seconds(&cost.forward) + list_seconds(&cost.backward);
}

TEST(convolutions_cost_what_their_shape_says) {
    Bench bench = bench_open();
    const Gpu *gpu = find_gpu(bench.arena, bench.catalogue, "A100", nowhere, bench.problems);
    NetLayer dense = {.name = "conv",
                      .in_channels = 256,
                      .out_channels = 256,
                      .conv = {.kernel = 3, .stride = 1, .groups = 1},
                      .in_size = 28,
                      .out_size = 28};
    NetLayer wide = dense, tall = dense, grouped = dense, apart = dense, squeezed = dense;
    wide.conv.kernel = 1;
    wide.conv.kernel_wide = 7;
    tall.conv.kernel = 7;
    tall.conv.kernel_wide = 1;
    EXPECT_NEAR(layer_seconds(gpu, wide, FP16), layer_seconds(gpu, tall, FP16), 0);
    EXPECT_NEAR(layer_parameters(&wide), 7.0 * 256 * 256, 0);
    EXPECT(layer_seconds(gpu, wide, FP16) < layer_seconds(gpu, dense, FP16)); // 7 taps against 9
    // Groups of 64 divide the products by four without padding; of those of 4 padding leaves little.
    grouped.conv.groups = 4;
    double quarter = layer_seconds(gpu, grouped, FP16) / layer_seconds(gpu, dense, FP16);
    EXPECT(quarter > 0.25 && quarter < 0.75);
    grouped.conv.groups = 64;
    EXPECT(layer_seconds(gpu, grouped, FP16) > 0.5 * layer_seconds(gpu, dense, FP16));
    apart.conv.groups = 256;
    EXPECT_NEAR(layer_macs(&apart), layer_macs(&dense) / 256, 0);
    EXPECT(layer_seconds(gpu, apart, FP16) < layer_seconds(gpu, dense, FP16));
    squeezed.squeeze = 16;
    EXPECT_NEAR(layer_parameters(&squeezed) - layer_parameters(&dense), 2 * 256 * 16 + 256 + 16, 0);
    EXPECT(layer_seconds(gpu, squeezed, FP16) > layer_seconds(gpu, dense, FP16));
    // Winograd spares vector units products of square 3x3 alone.
    double per_tap = layer_seconds(gpu, dense, FP32) / 9, per_row_tap = layer_seconds(gpu, wide, FP32) / 7;
    EXPECT(per_tap < 0.7 * per_row_tap);
    arena_close(bench.arena);
}

TEST(vision_transformers_follow_the_size_of_their_images) {
    Bench bench = bench_open();
    const Model *vit = bench_model(&bench, "vit-base-patch16");
    EXPECT_INT(vit->max_positions, 14 * 14 + 1);
    const Model *larger = model_resized(bench.arena, vit, 384, 21843);
    EXPECT_INT(larger->max_positions, 24 * 24 + 1);
    double more = (577 - 197) * 768.0 + (21843 - 1000) * (768 + 1);
    EXPECT_NEAR(model_parameters(larger) - model_parameters(vit), more, 0);
    EXPECT(!model_resized(bench.arena, vit, 0, 0)->causal);
    arena_close(bench.arena);
}

// Published: torchvision (resnext101_64x4d; ssd300_vgg16 with 91 classes less the 512 factors of its norm), timm
// (resnet200, vit_gigantic_patch14_224), mmdetection's 69.17 M of Cascade R-CNN on ResNet-50.
TEST(networks_of_ordinary_code_have_their_published_parameters) {
    Arena *arena = arena_open();
    EXPECT_INT(model_parameters(find_model(arena, "resnext-101-64x4d", nowhere, NULL)), 83455272);
    EXPECT_INT(model_parameters(find_model(arena, "resnet-200", nowhere, NULL)), 64673832);
    EXPECT_INT(model_parameters(find_model(arena, "vit_gigantic_patch14", nowhere, NULL)), 1844440680);
    const Model *ssd = find_model(arena, "SSD300-VGG16", nowhere, NULL);
    EXPECT_INT(model_parameters(model_resized(arena, ssd, 0, 91)), 35641826 - 512);
    EXPECT_NEAR(model_parameters(find_model(arena, "Cascade R-CNN R50-FPN", nowhere, NULL)), 69.17e6, 0.3e6);
    arena_close(arena);
}

// Of torchvision, with the products that it counts (in G) at the size of images that it says; mmsegmentation's 48.97 M
// of PSPNet have a stem of three convolutions.
TEST(segmenters_and_windows_by_angles_have_their_published_size) {
    static const struct {
        const char *name;
        double parameters, products;
    } known[] = {{"deeplabv3-resnet-50", 42004074, 178.72e9},
                 {"deeplabv3-resnet-101", 60996202, 258.74e9},
                 {"swin-v2-tiny", 28351570, 5.94e9},
                 {"swin-v2-small", 49737442, 11.55e9},
                 {"swin-v2-base", 87930848, 20.32e9}};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const Model *model = find_model(arena, known[i].name, nowhere, NULL);
        EXPECT_NEAR(model_parameters(model), known[i].parameters, 0);
        EXPECT_NEAR(model_forward_flops_per_sample(model, 1) / 2, known[i].products, 0.02 * known[i].products);
    }
    EXPECT_NEAR(model_parameters(find_model(arena, "PSPNet R50-D8", nowhere, NULL)), 48.97e6, 0.03e6);
    arena_close(arena);
}

// Carion et al. 2020, table 1: 41 M, and 86 G products at the mean size of COCO's images.
TEST(detr_has_its_published_size) {
    Arena *arena = arena_open();
    const Model *detr = find_model(arena, "DETR R50", nowhere, NULL);
    EXPECT_NEAR(model_parameters(detr), 41.3e6, 0.3e6);
    EXPECT_NEAR(model_forward_flops_per_sample(detr, 1) / 2, 86e9, 5e9);
    arena_close(arena);
}

// What a plan says of a patch: a dimension is halved while four places are left, and the whole patch is worked on.
TEST(nnunet_works_on_the_patch_that_it_planned) {
    Arena *arena = arena_open();
    const Model *heart = find_model(arena, "nnU-Net 3d_fullres patch 80x192x160", nowhere, NULL);
    const Model *liver = find_model(arena, "nnU-Net 3d_fullres patch 128x128x128", nowhere, NULL);
    EXPECT_NEAR(places_out(&heart->net_layers[0]), 80.0 * 192 * 160, 1);
    EXPECT_NEAR(places_out(&heart->net_layers[10]), 5.0 * 6 * 5, 1e-6);
    EXPECT_NEAR(model_flops_per_sample(heart, 1) / model_flops_per_sample(liver, 1), 80.0 * 192 * 160 / (128 << 14),
                0.02);
    const Model *prostate = find_model(arena, "nnunet-3d-20x320x256", nowhere, NULL);
    EXPECT_NEAR(kernel_taps(&prostate->net_layers[0]), 9, 0);
    EXPECT_NEAR(kernel_taps(&prostate->net_layers[4]), 27, 0);
    EXPECT_NEAR(places_out(&prostate->net_layers[4]), 20.0 * 80 * 64, 1);
    arena_close(arena);
}
