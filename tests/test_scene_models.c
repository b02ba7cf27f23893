// Networks that find objects, give every pixel a class or take noise away: published counts, and laws of what sets
// their layers apart (more dimensions, regions, weights shared or kept).
#include "models/workload/cost/cost.h"
#include "models/workload/model/model_internal.h"
#include "tests/test.h"

static const Where nowhere = {NULL, 0};

typedef struct Bench {
    Arena *arena;
    Problems *problems;
    const Gpu *gpu;
} Bench;

static Bench bench_open(void) {
    Bench bench = {.arena = arena_open()};
    bench.problems = problems_create(bench.arena);
    bench.gpu = find_gpu(bench.arena, catalogue_builtin(bench.arena), "A100", nowhere, bench.problems);
    return bench;
}

static const Model *named(const Bench *bench, const char *name) {
    return find_model(bench->arena, name, nowhere, bench->problems);
}

// torchvision (retinanet_resnet50_fpn, fasterrcnn_resnet50_fpn, maskrcnn_resnet50_fpn) and diffusers (UNet2DCondition
// models of both versions), to the parameter. V-Net as its users count it
// (65.2 M), nnU-Net's volumes 31.2 M, MLPerf's RetinaNet 37 M and SSD 20 M are published in millions.
TEST(detectors_volumes_and_diffusion_have_their_published_parameters) {
    static const struct {
        const char *name;
        double parameters, within;
    } known[] = {
        {"retinanet-resnet50-fpn", 34014999, 0},
        {"fasterrcnn-resnet50-fpn", 41755286, 0},
        {"Mask R-CNN R50-FPN", 44401393, 0},
        {"keypointrcnn-resnet50-fpn", 59137258, 0}, // torchvision too
        {"Mask R-CNN R101-FPN", 63e6, 0.01},        // published checkpoints of Detectron2, in millions
        {"Mask R-CNN X101-FPN", 107e6, 0.01},
        {"Faster R-CNN R50-C4", 33.8e6, 0.01},
        {"Faster R-CNN R50-DC5", 165.7e6, 0.01},
        {"Panoptic FPN R50-FPN", 46e6, 0.02},
        {"unet", 31030658, 0},
        {"unet-industrial-wide", 36950273, 0},
        {"V-Net", 65.2e6, 2e-3},
        {"UNet-3D", 31.2e6, 2e-3},
        {"RetinaNet (ResNeXt50_32x4d)", 37e6, 5e-3},
        {"SSD300-ResNet34", 20e6, 5e-3},
        {"stable-diffusion-1.5", 859520964, 0},
        {"StableDiffusion-v2", 865910724, 0},
        {"WaveGlow", 268.29e6, 5e-5}, // WaveFlow's comparison (Ping et al. 2019), 512 and 256 channels
        {"waveglow-256", 87.88e6, 5e-5},
    };
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_parameters(named(&bench, known[i].name)), known[i].parameters, known[i].within);
    EXPECT_INT(problem_count(bench.problems), 0);
    arena_close(bench.arena);
}

static double macs_of(const Model *model) { return model_forward_flops_per_sample(model, 1) / 2; }

// torchvision: 151.54 GMAC at 800 x 800; 134.38 with 1000 regions on a square image, where training has 512 and COCO's
// images are 1.36 times as long. MLPerf's RetinaNet sees squares, and 264 classes in place of 91 on 13,343 places; its
// ResNeXt takes 0.15 GMAC more at 224 x 224.
TEST(detectors_multiply_what_was_published) {
    Bench bench = bench_open();
    EXPECT_NEAR(macs_of(named(&bench, "retinanet-resnet-50")), 1.36 * 151.54e9, 2e-3);
    double classes = 9.0 * (264 - 91) * 256 * 9 * 13343, backbone = 0.15e9 * (800.0 * 800) / (224 * 224);
    EXPECT_NEAR(macs_of(named(&bench, "retinanet-resnext-50-32x4d")), 151.54e9 + classes + backbone, 5e-3);
    double region = 1024.0 * (256 * 49 + 1024 + 5 * 91);
    double square = (macs_of(named(&bench, "faster-rcnn-resnet-50")) - 512 * region) / 1.36;
    EXPECT_NEAR(square + 1000 * region, 134.38e9, 0.01);
    arena_close(bench.arena);
}

// Masks are made for a quarter of the 512 regions, joints for those of people: COCO's images for joints have 2.65 of
// its 7.3 objects. Eight convolutions of 512 channels on 14 x 14 places and one that goes up, by hand.
TEST(joints_are_looked_for_in_the_regions_that_hold_people) {
    Bench bench = bench_open();
    double first = 196 * 9 * 256.0 * 512, others = 7 * 196 * 9 * 512.0 * 512, up = 196 * 16 * 512.0 * 17;
    double without = macs_of(named(&bench, "faster-rcnn-resnet-50")),
           with = macs_of(named(&bench, "keypoint-rcnn-resnet-50"));
    double classes = 512 * 1024.0 * 5 * (91 - 2); // people and what is none: fewer outputs of the boxes
    double regions = (with - without + classes) / (first + others + up);
    EXPECT_NEAR(regions, 128 * 2.65 / 7.3, 0.02);
    arena_close(bench.arena);
}

// By hand, for 1,000 groups of eight samples: 12 steps of 8 layers (3 x 512 x 1024 along time, 640 x 1024 of the
// spectrogram, 512 x 1024 out, in the last 512 x 512), what enters and leaves 512 channels, the mix of 8, 6 and 4, and
// 80 x 80 x 1024 of each of 32 columns going up.
TEST(waveglow_multiplies_what_its_layers_do) {
    Bench bench = bench_open();
    double layer = 3 * 512.0 * 1024 + 640.0 * 1024 + 512.0 * 1024, step = 8 * layer - 512.0 * 512;
    double narrow = 4 * (512 * (4 + 8) + 64 + 512 * (3 + 6) + 36 + 512 * (2 + 4) + 16), up = 80 * 80 * 1024.0 * 32;
    EXPECT_NEAR(macs_of(named(&bench, "waveglow")), 1000 * (12 * step + narrow) + up, 1e-9);
    arena_close(bench.arena);
}

// ---- A single layer, and the same with one thing changed.

static const NetLayer square = {.name = "conv",
                                .in_channels = 64,
                                .out_channels = 128,
                                .conv = {.kernel = 3, .stride = 1, .groups = 1},
                                .in_size = 64,
                                .out_size = 64,
                                .batch_norm = true,
                                .relu = true,
                                .block = 1};

typedef struct Seconds {
    double forward, backward;
} Seconds;

static double total(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

static Seconds seconds_with(const Bench *bench, NetLayer layer, Framework framework, Attention attention) {
    const NetLayer layers[] = {{.name = "first",
                                .in_channels = 8,
                                .out_channels = 8,
                                .conv = {.kernel = 1, .stride = 1, .groups = 1},
                                .in_size = 1,
                                .out_size = 1},
                               layer};
    Model model = {.name = "one", .kind = MODEL_CNN, .block_count = 2, .net_layers = layers, .net_layer_count = 2};
    TrainingSpec training = {
        .model = &model, .precision = FP16, .mixed_precision = true, .framework = framework, .attention = attention};
    BlockCost cost = block_cost(&model, 1, &training, 4, bench->gpu);
    return (Seconds){total(&cost.forward), total(&cost.backward)};
}

static Seconds seconds_of(const Bench *bench, NetLayer layer, Framework framework) {
    return seconds_with(bench, layer, framework, ATTENTION_PLAIN);
}

// A kind without a row would stop here; twice the samples take no less time and keep at least twice as much.
TEST(every_kind_of_layer_has_an_operator_seconds_and_memory) {
    Bench bench = bench_open();
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        NetLayer layers[] = {square, square};
        layers[0].block = 0;
        layers[1].kind = (LayerKind)kind;
        layers[1].attention = (PlaceAttention){.heads = 2, .keys = 77};
        Model model = {.name = "one", .kind = MODEL_CNN, .block_count = 2, .net_layers = layers, .net_layer_count = 2};
        TrainingSpec training = {.model = &model, .layout = {.tp = 1, .pp = 1, .vpp = 1}, .precision = FP16};
        BlockCost one = block_cost(&model, 1, &training, 8, bench.gpu);
        BlockCost two = block_cost(&model, 1, &training, 16, bench.gpu);
        EXPECT(total(&one.forward) > 0 && total(&two.forward) >= total(&one.forward));
        EXPECT(total(&one.backward) > 0 && total(&two.backward) >= total(&one.backward));
        EXPECT(one.activation_bytes > 0 && two.activation_bytes >= 2 * one.activation_bytes);
        EXPECT_NEAR(two.output_bytes, 2.0 * 2 * 8 * 128 * 64 * 64, 0);
        EXPECT_NEAR(two.late_bytes, 2 * one.late_bytes, 0);
    }
    arena_close(bench.arena);
}

TEST(a_volume_costs_what_a_square_with_as_many_places_and_taps_does) {
    Bench bench = bench_open();
    NetLayer volume = square, flat = square;
    volume.dimensions = 3;
    volume.conv.kernel = 3;
    volume.in_size = volume.out_size = 16; // 4096 places, 27 taps
    flat.conv.kernel = 9;
    flat.conv.kernel_wide = 3;
    flat.in_size = flat.out_size = 64;
    EXPECT_NEAR(layer_macs(&volume), layer_macs(&flat), 0);
    EXPECT_NEAR(layer_parameters(&volume), layer_parameters(&flat), 0);
    Seconds a = seconds_of(&bench, volume, FRAMEWORK_EAGER), b = seconds_of(&bench, flat, FRAMEWORK_EAGER);
    EXPECT_NEAR(a.forward, b.forward, 1e-12);
    EXPECT_NEAR(a.backward, b.backward, 1e-12);
    arena_close(bench.arena);
}

TEST(regions_count_like_images) {
    Bench bench = bench_open();
    NetLayer regions = square, whole = square;
    regions.regions = 16;
    regions.in_size = regions.out_size = 16;
    EXPECT_NEAR(layer_macs(&regions), layer_macs(&whole), 0);
    EXPECT_NEAR(layer_parameters(&regions), layer_parameters(&whole), 0);
    Seconds a = seconds_of(&bench, regions, FRAMEWORK_EAGER), b = seconds_of(&bench, whole, FRAMEWORK_EAGER);
    EXPECT_NEAR(a.forward, b.forward, 1e-12);
    EXPECT_NEAR(a.backward, b.backward, 1e-12);
    arena_close(bench.arena);
}

TEST(what_does_not_learn_has_less_backward_and_shared_weights_count_once) {
    Bench bench = bench_open();
    NetLayer fixed = square, never = square, shared = square;
    fixed.learning = LEARNS_NOT;
    never.learning = LEARNS_NEVER;
    shared.shared = true;
    Seconds learns = seconds_of(&bench, square, FRAMEWORK_TUNED);
    EXPECT_NEAR(seconds_of(&bench, fixed, FRAMEWORK_TUNED).forward, learns.forward, 0);
    EXPECT(seconds_of(&bench, fixed, FRAMEWORK_TUNED).backward < 0.8 * learns.backward);
    EXPECT_NEAR(seconds_of(&bench, never, FRAMEWORK_TUNED).backward, 0, 0);
    EXPECT_NEAR(layer_parameters(&shared), 0, 0);
    EXPECT_NEAR(seconds_of(&bench, shared, FRAMEWORK_TUNED).backward, learns.backward, 0.02); // fewer casts
    arena_close(bench.arena);
}

// A frozen norm is arithmetic that tuned software fuses; batch norms have to look at all images first.
TEST(fixed_norms_cost_less_than_those_of_a_batch) {
    Bench bench = bench_open();
    NetLayer fixed = square;
    fixed.batch_norm = false;
    fixed.fixed_norm = true;
    EXPECT_NEAR(layer_parameters(&square) - layer_parameters(&fixed), 2 * 128, 0);
    for (int framework = FRAMEWORK_EAGER; framework <= FRAMEWORK_TUNED; framework++) {
        Seconds a = seconds_of(&bench, fixed, (Framework)framework);
        Seconds b = seconds_of(&bench, square, (Framework)framework);
        EXPECT(a.forward + a.backward < b.forward + b.backward);
    }
    arena_close(bench.arena);
}

// Work on single images is launched for each of them, unless tuned software does it for the batch.
TEST(work_on_single_images_is_launched_for_each) {
    Bench bench = bench_open();
    NetLayer boxes = square;
    boxes.kernels_per_image = 1000;
    double eager = seconds_of(&bench, boxes, FRAMEWORK_EAGER).forward,
           tuned = seconds_of(&bench, boxes, FRAMEWORK_TUNED).forward;
    EXPECT(eager > 4000 * bench.gpu->launch_seconds);
    EXPECT(tuned < 0.4 * eager);
    arena_close(bench.arena);
}

// Of n places on m keys in heads of so many channels: 4 n m c FLOP, and flash kernels spare the n m scores.
TEST(attention_of_places_multiplies_each_with_each_key) {
    Bench bench = bench_open();
    NetLayer attention = square;
    attention.kind = LAYER_ATTENTION;
    attention.batch_norm = attention.relu = false;
    attention.attention.heads = 2;
    attention.attention.keys = 64 * 64;
    EXPECT_NEAR(layer_macs(&attention), 2.0 * 4096 * 4096 * 128, 0);
    EXPECT_NEAR(layer_parameters(&attention), 0, 0);
    Seconds plain = seconds_with(&bench, attention, FRAMEWORK_EAGER, ATTENTION_PLAIN);
    Seconds flash = seconds_with(&bench, attention, FRAMEWORK_EAGER, ATTENTION_FLASH);
    EXPECT(flash.forward < 0.5 * plain.forward && flash.backward < 0.5 * plain.backward);
    attention.attention.keys = 77;
    Seconds few = seconds_with(&bench, attention, FRAMEWORK_TUNED, ATTENTION_FLASH);
    EXPECT(few.forward < 0.5 * flash.forward);
    NetLayer window = attention; // one window over all is attention on all, but for the cutting
    window.attention.keys = 0;
    window.attention.window = 64;
    EXPECT_NEAR(layer_macs(&window), 2.0 * 4096 * 4096 * 128, 0);
    EXPECT_NEAR(seconds_of(&bench, window, FRAMEWORK_EAGER).forward, plain.forward, 0.05);
    arena_close(bench.arena);
}
