// Speech and translation: counts that were published or done by hand, layers that go step by step, and how long the
// samples of public data sets are.
#include <math.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "models/workload/model/model_internal.h"
#include "tests/jobs.h"
#include "tests/script.h"
#include "tests/test.h"

TEST(speech_models_have_their_published_parameters) {
    static const struct {
        const char *name;
        double parameters, within;
    } known[] = {
        {"Jasper-10x5", 333e6, 2e-3}, // Li et al. 2019, table 4
        {"QuartzNet", 18.9e6, 2e-3},  // Kriman et al. 2019, table 5
        {"Tacotron2", 28193153, 0},   // layer by layer in PyTorch
        {"GNMT-v2", 160671297, 0},    // by hand, below
    };
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_parameters(bench_model(&bench, known[i].name)), known[i].parameters, known[i].within);
    arena_close(bench.arena);
}

static double lstm(double in, double hidden) { return 4 * hidden * (in + hidden) + 8 * hidden; }

// Words of both languages share a table; two directions and three layers read, four write, the last three of them see
// the attention beside what the layer before says.
TEST(gnmt_holds_what_its_layers_do) {
    Bench bench = bench_open();
    const Model *model = bench_model(&bench, "gnmt");
    double words = 32320.0 * 1024, encoder = 2 * lstm(1024, 1024) + lstm(2048, 1024) + 2 * lstm(1024, 1024);
    double attention = 2 * 1024.0 * 1024 + 2 * 1024 + 1, decoder = lstm(1024, 1024) + 3 * lstm(2048, 1024);
    EXPECT_NEAR(model_parameters(model), words + encoder + attention + decoder + words + 32320, 0);
    double each = 4096 * (2 * 2048.0 + 3072 + 2 * 2048) + 4096 * (2048 + 3 * 3072.0) + 2 * 1024.0 * 1024 + words;
    EXPECT_NEAR(model_forward_flops_per_sample(model, 1), 2 * 50 * each, 1e-12);
    arena_close(bench.arena);
}

// 267,200 samples are 1,671 columns of 10 ms, padded to 1,680, halved by the first layer.
TEST(jasper_multiplies_what_its_layers_do) {
    static const double channels[] = {256, 384, 512, 640, 768}, kernels[] = {11, 13, 17, 21, 25};
    double macs = 64 * 256 * 11.0, in = 256, before = 256;
    for (int group = 0; group < 5; group++)
        for (int block = 0; block < 2; block++) {
            double out = channels[group];
            macs += kernels[group] * out * (in + 4 * out) + before * out;
            in = out;
            before += out;
        }
    macs += 768 * 896 * 29.0 + 896 * 1024.0 + 1024 * 29.0;
    Bench bench = bench_open();
    EXPECT_NEAR(model_forward_flops_per_sample(bench_model(&bench, "jasper"), 1), 2 * 840 * macs, 1e-12);
    arena_close(bench.arena);
}

// ---- Layers that go step by step.

typedef struct Times {
    double seconds, kernels, macs;
} Times;

static Times times_of(NetLayer layer, double samples, const Gpu *gpu) {
    layer.name = "layer";
    layer.dimensions = 1;
    layer.in_size = layer.out_size;
    Model model = {.name = "one",
                   .kind = MODEL_CNN,
                   .block_count = 1,
                   .dimensions = 1,
                   .net_layers = &layer,
                   .net_layer_count = 1};
    TrainingSpec training = {.model = &model,
                             .layout = {.tp = 1, .pp = 1, .vpp = 1},
                             .precision = FP16,
                             .framework = FRAMEWORK_EAGER,
                             .optimizer = OPTIMIZER_SGD};
    BlockCost cost = block_cost(&model, 0, &training, samples, gpu);
    return (Times){list_seconds(&cost.forward) + list_seconds(&cost.backward),
                   cost.kernels_forward + cost.kernels_backward, layer_macs(&layer)};
}

static NetLayer recurrent(int steps) {
    return (NetLayer){.kind = LAYER_RECURRENT, .in_channels = 1024, .out_channels = 1024, .out_size = steps};
}

static NetLayer product(int steps, bool sequential) {
    NetLayer layer = {.kind = LAYER_LINEAR, .in_channels = 1024, .out_channels = 4096, .out_size = steps};
    layer.sequential = sequential;
    return layer;
}

TEST(a_recurrent_layer_takes_longer_than_the_same_products_at_once) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "A100");
    for (double samples = 8; samples <= 512; samples *= 8) {
        Times short_one = times_of(recurrent(50), samples, gpu), long_one = times_of(recurrent(100), samples, gpu);
        EXPECT_NEAR(long_one.macs, 100 * 4 * 1024 * 2048.0, 0);
        EXPECT(long_one.seconds > 1.7 * short_one.seconds && long_one.seconds < 2.05 * short_one.seconds);
        EXPECT(long_one.seconds > 1.5 * times_of(product(100, false), samples, gpu).seconds); // input alone
    }
    arena_close(bench.arena);
}

// Few samples leave the GPU idle: the host sets the pace, whatever they are; many do not.
TEST(a_loop_of_kernels_waits_for_its_host) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "A100");
    Times one = times_of(product(100, true), 1, gpu), few = times_of(product(100, true), 32, gpu);
    EXPECT_NEAR(one.kernels, 100 * (1 + 3), 0);
    EXPECT_NEAR(few.seconds, one.seconds, 0.02);
    EXPECT(one.seconds > one.kernels * 20e-6 && one.seconds < one.kernels * 30e-6);
    EXPECT(times_of(product(100, true), 32768, gpu).seconds > 10 * one.seconds);
    EXPECT(one.seconds > 20 * times_of(product(100, false), 1, gpu).seconds);
    arena_close(bench.arena);
}

// Channels apart are one filter each: their time is that of their multiply-adds, not of what they read.
TEST(filters_along_time_cost_by_their_length) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "A100");
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        NetLayer layers[2];
        for (int j = 0; j < 2; j++)
            layers[j] = (NetLayer){.name = "apart",
                                   .in_channels = 512,
                                   .out_channels = 512,
                                   .conv = {.kernel = i ? 76 : 38, .stride = 1, .groups = 512},
                                   .in_size = 840,
                                   .out_size = 840,
                                   .dimensions = 1};
        Model model = {.name = "two",
                       .kind = MODEL_CNN,
                       .block_count = 1,
                       .dimensions = 1,
                       .net_layers = layers,
                       .net_layer_count = 2};
        TrainingSpec training = {.model = &model, .layout = {.tp = 1, .pp = 1, .vpp = 1}, .precision = FP16};
        BlockCost cost = block_cost(&model, 0, &training, 48, gpu);
        seconds[i] = list_seconds(&cost.forward);
    }
    EXPECT_NEAR(seconds[1], 2 * seconds[0], 0.05);
    arena_close(bench.arena);
}

// ---- Lengths.

TEST(one_sample_is_as_long_as_the_mean_and_many_nearly_the_longest) {
    const SampleLengths *lengths = sample_lengths("Tacotron2");
    EXPECT_NEAR(longest_of(lengths, 1), lengths->mean, 1e-12);
    double before = 0;
    for (double n = 1; n <= 4096; n *= 2) {
        EXPECT(longest_of(lengths, n) > before && longest_of(lengths, n) < lengths->most);
        before = longest_of(lengths, n);
    }
    EXPECT(before > 0.999 * lengths->most);
    EXPECT_NEAR(longest_of(sample_lengths("Jasper-10x5"), 32), 267200, 1e-12);
    EXPECT(!sample_lengths("ResNet-50") && !sample_lengths("GPT"));
}

// The mean of the longest of n is the integral of 1 - F^n, by small steps.
TEST(the_longest_of_n_is_what_an_integral_says) {
    const SampleLengths *lengths = sample_lengths("tacotron");
    double range = lengths->most - lengths->least, mean = (lengths->mean - lengths->least) / range;
    for (int n = 1; n <= 64; n *= 4) {
        double integral = 0, steps = 20000;
        for (int i = 0; i < steps; i++) integral += (1 - pow((i + 0.5) / steps, n * mean / (1 - mean))) / steps;
        EXPECT_NEAR(longest_of(lengths, n), lengths->least + range * integral, 1e-4);
    }
}

// ---- A recurrent model of one's own.

TEST(an_lstm_of_ones_own_is_words_layers_and_logits) {
    Bench bench = bench_open();
    const Model *model =
        model_lstm(bench.arena, NULL, (LstmShape){.layers = 3, .hidden = 256, .vocab = 1000, .words = 20});
    EXPECT_INT(model->block_count, 5);
    EXPECT_NEAR(model_parameters(model), 1000 * 256 + 3 * lstm(256, 256) + 1000 * 257, 0);
    EXPECT_NEAR(model_forward_flops_per_sample(model, 1), 2 * 20 * (3 * 4 * 256 * 512 + 256 * 1000.0), 1e-12);
    const Model *longer = model_resized(bench.arena, model, 40, 0);
    EXPECT_NEAR(model_forward_flops_per_sample(longer, 1), 2 * model_forward_flops_per_sample(model, 1), 1e-12);
    EXPECT_NEAR(model_parameters(longer), model_parameters(model), 0);
    EXPECT_INT(least_image_size(model), 1);
    arena_close(bench.arena);
}

// More samples at once: each step's product is larger, and there are no more steps.
TEST(a_scenario_may_train_an_lstm) {
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        char text[640], output[16384];
        bool wrote;
        snprintf(text, sizeof text,
                 "local sim = require 'lockstep'\n"
                 "local cluster = sim.cluster { nodes = { { node = 'dgx-a100', gpus = 8 } } }\n"
                 "local job = sim.training { model = sim.model.lstm { layers = 4, hidden = 1024 }, strategy = 'ddp',\n"
                 "  framework = 'eager', batch = { global = %d } }\n"
                 "return sim.study { on = cluster, run = job }\n",
                 i ? 1024 : 128);
        EXPECT_INT(run_script_text(text, "--json --wall=off", output, sizeof output, &wrote), 0);
        const char *found = strstr(output, "\"p50\":");
        EXPECT(found && sscanf(found + strlen("\"p50\":"), "%lf", &seconds[i]) == 1);
    }
    EXPECT(seconds[1] > seconds[0] && seconds[1] < 7 * seconds[0]);
}
