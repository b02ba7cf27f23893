// What software holds that no formula of a layer knows: losses, optimizers that step through lists, hooks, frozen
// weights, allocators of libraries. Each against a formula or against the same job without it.
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/job.h"
#include "models/workload/job/software.h"
#include "tests/jobs.h"
#include "tests/test.h"

typedef struct Setup {
    Bench bench;
    const Gpu *gpu;
    TrainingSpec training;
} Setup;

// BF16 throughout, on one GPU, as the words of a library say; weights in 32 bits where `mixed`.
static Setup setup(const char *model, const char *software, bool mixed) {
    Setup s = {.bench = bench_open()};
    s.gpu = bench_gpu(&s.bench, "H100");
    SoftwareQuery query = {.text = software, .gpu_year = 2022, .model = bench_model(&s.bench, model)};
    s.training = (TrainingSpec){
        .model = query.model,
        .layout = {.tp = 1, .pp = 1, .vpp = 1, .dp = 1},
        .schedule = SCHEDULE_1F1B,
        .seq_len = 512,
        .micro_batch = 2,
        .precision = BF16,
        .mixed_precision = mixed,
        .optimizer = OPTIMIZER_ADAM,
        .software = software_of(s.bench.arena, &query),
    };
    software_apply(s.training.software, &s.training);
    s.training.layout.zero = 0;
    s.training.attention = ATTENTION_FLASH_2;
    return s;
}

static Memory memory_of(const Setup *s, int gpus) { return memory_of_job(&s->training, gpus, s->gpu, NULL); }
static double state_of(const Memory *memory) {
    return memory->bytes[MEMORY_WEIGHTS] + memory->bytes[MEMORY_GRADIENTS] + memory->bytes[MEMORY_OPTIMIZER];
}

// ---- The loss.

static double bytes_of_a_logit(const Setup *s) {
    const Model *model = s->training.model;
    Model wider = *model;
    TrainingSpec training = s->training;
    wider.vocab += 1000;
    training.model = &wider;
    BlockCost one = block_cost(model, model->block_count - 1, &s->training, 1, s->gpu),
              other = block_cost(&wider, model->block_count - 1, &training, 1, s->gpu);
    double more = other.activation_bytes + other.working_bytes - one.activation_bytes - one.working_bytes;
    return more / (1000 * training.seq_len);
}

// Eager: logarithms, and gradients before and after the softmax, all of 32 bits. A kernel that works in place leaves
// logits and their gradient in 16 bits, of Hugging Face's in 32, copied once. So does a compiled loss, which FSDP's
// compiled blocks do not have, and torchtitan's have since 2025.
TEST(a_loss_holds_so_many_bytes_of_each_logit) {
    static const struct {
        const char *software;
        bool fused;
        double bytes;
    } cases[] = {
        {"PyTorch 2.5", false, 12},
        {"PyTorch 2.5", true, 4},
        {"HF Trainer", false, 12},
        {"HF Trainer", true, 8},
        {"NeMo 24.07", false, 4},
        {"PyTorch 2.5 compiled", false, 4},
        {"PyTorch FSDP2 2025-06 compiled", false, 12},
        {"torchtitan 2024-12 compiled", false, 12},
        {"torchtitan 2025-05 compiled", false, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Setup s = setup("llama-3.1-8b", cases[i].software, false);
        s.training.fused_loss |= cases[i].fused;
        EXPECT_NEAR(bytes_of_a_logit(&s), cases[i].bytes, 1e-9);
        arena_close(s.bench.arena);
    }
}

// ---- The optimizer.

// Weights, gradients, two moments and, where it goes through lists, the roots of the second: 10 bytes of 16-bit weights
// and no activations. A fused step needs no more than the four.
TEST(an_optimizer_that_steps_through_lists_needs_one_moment_more) {
    Setup lists = setup("gpt2-1.5b", "PyTorch 2.5", false),
          fused = setup("gpt2-1.5b", "PyTorch 2.5, fused AdamW", false);
    Setup old = setup("gpt2-1.5b", "PyTorch 1.13", false), second = setup("gpt2-1.5b", "PyTorch FSDP2 2.5", false);
    Setup *all[] = {&lists, &fused, &old, &second};
    double parameters = model_parameters(lists.training.model), peaks[4];
    for (int i = 0; i < 4; i++) {
        all[i]->training.seq_len = 16;
        all[i]->training.micro_batch = 1;
        Memory memory = memory_of(all[i], 1);
        peaks[i] = memory.peak - memory.outside - memory.bytes[MEMORY_BUFFERS];
    }
    EXPECT_NEAR(peaks[0], 10 * parameters, 1e-9);
    EXPECT(peaks[1] < 8.5 * parameters);
    EXPECT_NEAR(peaks[1], peaks[2], 1e-12);
    EXPECT_NEAR(peaks[0], peaks[3], 1e-12); // distributed tensors, too: their kernels on an H100 are those of lists
    lists.training.optimizer_in_backward = true; // of one tensor at a time
    Memory memory = memory_of(&lists, 1);
    EXPECT(memory.peak - memory.outside - memory.bytes[MEMORY_BUFFERS] < 7 * parameters);
    for (int i = 0; i < 4; i++) arena_close(all[i]->bench.arena);
}

TEST(moments_of_8_bits_and_sums_of_rows_and_columns_take_less) {
    Setup s = setup("gpt2-1.5b", "PyTorch 2.5, fused AdamW", true);
    double parameters = model_parameters(s.training.model), adam = memory_of(&s, 1).bytes[MEMORY_OPTIMIZER];
    EXPECT_NEAR(adam, 12 * parameters, 1e-12);
    s.training.optimizer = OPTIMIZER_ADAM_8BIT; // a byte each, and a scale of four bytes for 256
    EXPECT_NEAR(memory_of(&s, 1).bytes[MEMORY_OPTIMIZER], (4 + 2 * (1 + 4 / 256.0)) * parameters, 1e-12);
    s.training.optimizer = OPTIMIZER_ADAFACTOR;
    EXPECT_NEAR(memory_of(&s, 1).bytes[MEMORY_OPTIMIZER], 4 * parameters, 1e-12);
    s.training.mixed_precision = false;
    EXPECT_NEAR(memory_of(&s, 1).bytes[MEMORY_OPTIMIZER], 0, 0);
    arena_close(s.bench.arena);
}

// DeepSpeed's BF16_Optimizer: 6 bytes more than its fp16.
TEST(megatron_deepspeed_adds_bf16_gradients_in_32_bits) {
    Setup s = setup("gpt3-1.3b", "Megatron-DeepSpeed 2022-02", true);
    double parameters = model_parameters(s.training.model), bf16 = state_of(&(Memory){0});
    Memory memory = memory_of(&s, 1);
    bf16 = state_of(&memory);
    s.training.precision = FP16;
    memory = memory_of(&s, 1);
    EXPECT_NEAR(bf16 - state_of(&memory), 6 * parameters, 1e-9);
    arena_close(s.bench.arena);
}

// ---- Frozen weights.

// Autocast and FSDP cast copies of them; Hugging Face's PEFT loads them in 16 bits, and what it trains beside them has
// no other copy.
TEST(frozen_weights_lie_in_32_bits_unless_the_model_is_cast) {
    Setup wide = setup("gpt2-1.5b", "PyTorch 2.5", true), cast = setup("gpt2-1.5b", "HF Trainer, PEFT", true);
    double parameters = model_parameters(wide.training.model);
    wide.training.lora_rank = cast.training.lora_rank = 1;
    double share = trained_share(&cast.training);
    EXPECT(!wide.training.half_weights && cast.training.half_weights);
    EXPECT_NEAR(memory_of(&wide, 1).bytes[MEMORY_WEIGHTS], 4 * parameters, 1e-12);
    EXPECT_NEAR(memory_of(&cast, 1).bytes[MEMORY_WEIGHTS], 2 * parameters, 1e-12);
    EXPECT_NEAR(memory_of(&cast, 1).bytes[MEMORY_OPTIMIZER], 4 * share * parameters, 1e-12);
    arena_close(wide.bench.arena);
    arena_close(cast.bench.arena);
}

// Beside each of 8 experts' three products, and the router's none.
TEST(adapters_everywhere_are_beside_every_expert) {
    Setup s = setup("mixtral-8x7b", "HF Trainer, PEFT", true);
    const Model *model = s.training.model;
    s.training.lora_rank = 4;
    s.training.lora_everywhere = true;
    double h = model->hidden, ffn = model->experts.ffn, keys = 1024, layers = model->layers;
    double attention = 2 * (h + h) + 2 * (h + keys), experts = 8 * 3 * (h + ffn); // each its input's and output's width
    EXPECT_NEAR(trained_share(&s.training) * model_parameters(model), 4 * layers * (attention + experts), 1e-3);
    arena_close(s.bench.arena);
}

// Of 22 layers all inputs but that of the first and of the one at work, with their gradients: FSDP of two forms.
TEST(fsdp_holds_gradients_of_the_inputs_of_frozen_layers) {
    Setup first = setup("tinyllama-1.1b", "PyTorch FSDP 2.5, fused AdamW", false),
          second = setup("tinyllama-1.1b", "PyTorch FSDP2 2.5, fused AdamW", false);
    Setup *both[] = {&first, &second};
    double peaks[2];
    for (int i = 0; i < 2; i++) {
        TrainingSpec *training = &both[i]->training;
        training->layout.zero = 3;
        training->layout.dp = 8;
        training->lora_rank = 8;
        training->recompute = RECOMPUTE_FULL;
        training->loss_chunks = 64; // so that layers have the peak
        peaks[i] = memory_of(both[i], 8).peak;
    }
    const Model *model = first.training.model;
    EXPECT_NEAR(peaks[0] - peaks[1], (model->layers - 2) * 2.0 * 512 * 2 * model->hidden, 1e-9);
    first.training.lora_rank = second.training.lora_rank = 0; // all are trained
    EXPECT_NEAR(memory_of(&first, 8).peak, memory_of(&second, 8).peak, 1e-12);
    arena_close(first.bench.arena);
    arena_close(second.bench.arena);
}

// ---- DeepSpeed, Liger.

// stage3_max_live_parameters, 2 GB of 16-bit ones, beside the blocks at work, or all there are.
TEST(deepspeeds_zero_3_holds_a_billion_gathered_parameters) {
    for (int i = 0; i < 2; i++) {
        Setup s = setup(i ? "gpt2-355m" : "llama-3.1-8b", "HF Trainer, DeepSpeed", true);
        s.training.layout.zero = 3;
        s.training.layout.dp = 8;
        EXPECT(s.training.module_hooks);
        double with = memory_of(&s, 8).peak;
        s.training.module_hooks = false;
        double more = with - memory_of(&s, 8).peak, table = (50257 + 1024) * 1024.0;
        EXPECT_NEAR(more, i ? 2 * (model_parameters(s.training.model) - 2 * table) : 2e9, 1e-9);
        arena_close(s.bench.arena);
    }
    Setup s = setup("llama-3.1-8b", "DeepSpeed", true); // which stage is not said
    EXPECT(software_does(s.training.software, SHARDS_OPTIMIZER));
    arena_close(s.bench.arena);
}

// Gate, up and their product, not the gate's activation; of each of two norms nothing in 32 bits and no product.
TEST(kernels_for_swiglu_and_norms_keep_less) {
    Setup plain = setup("tinyllama-1.1b", "HF Trainer", false),
          liger = setup("tinyllama-1.1b", "HF Trainer, Liger", false);
    double kept[2];
    Setup *both[] = {&plain, &liger};
    for (int i = 0; i < 2; i++)
        kept[i] = block_cost(both[i]->training.model, 1, &both[i]->training, 1, both[i]->gpu).activation_bytes;
    const Model *m = plain.training.model;
    EXPECT_NEAR(kept[0] - kept[1], 512.0 * (2.0 * m->ffn + 2 * 4 * m->hidden), 1e-9);
    arena_close(plain.bench.arena);
    arena_close(liger.bench.arena);
}

// All that full recomputation keeps: on the GPU are the inputs of the layer at work and of the next.
TEST(activations_in_host_memory_leave_the_gpu_two_layers) {
    Setup s = setup("llama-2-7b", "PyTorch FSDP2 2.5, fused AdamW", true);
    s.training.layout.zero = 3;
    s.training.layout.dp = 8;
    s.training.recompute = RECOMPUTE_FULL;
    s.training.loss_chunks = 64;
    Memory here = memory_of(&s, 8);
    s.training.offload_activations = OFFLOAD_HOST;
    Memory away = memory_of(&s, 8);
    double input = 2.0 * 512 * 2 * s.training.model->hidden;
    EXPECT_NEAR(here.peak - away.peak, (s.training.model->layers - 2) * input, 1e-9);
    EXPECT_NEAR(away.host, s.training.model->layers * input, 1e-12);
    job_check(&s.training, s.bench.problems);
    EXPECT_INT(problem_count(s.bench.problems), 0);
    s.training.recompute = RECOMPUTE_NONE;
    job_check(&s.training, s.bench.problems);
    EXPECT_CONTAINS(problem_at(s.bench.problems, 0)->hint, "--recompute full");
    arena_close(s.bench.arena);
}

// ---- Moments.

// The slow twin: of each block in backward what was kept by all up to it, and what it works in.
static double highest_moment(const TrainingSpec *training, const Gpu *gpu) {
    double kept = 0, highest = 0;
    for (int block = 0; block < training->model->block_count; block++) {
        BlockCost cost = block_cost(training->model, block, training, training->micro_batch, gpu);
        kept += cost.activation_bytes;
        highest = fmax(highest, kept + cost.working_bytes);
    }
    return highest;
}

TEST(a_sharded_step_is_as_high_as_its_highest_moment) {
    static const char *const models[] = {"tinyllama-1.1b", "gpt2-1.5b", "llama-2-7b"};
    for (int i = 0; i < 3; i++)
        for (int recompute = 0; recompute < 2; recompute++) {
            Setup s = setup(models[i], "PyTorch FSDP2 2.5, fused AdamW", true);
            s.training.layout.zero = 3;
            s.training.layout.dp = 8;
            s.training.recompute = recompute ? RECOMPUTE_FULL : RECOMPUTE_NONE;
            s.training.grad_accumulation = 1 + recompute;
            Memory memory = memory_of(&s, 8);
            double moment = memory.bytes[MEMORY_ACTIVATIONS] + memory.bytes[MEMORY_WORKING];
            EXPECT_NEAR(moment, highest_moment(&s.training, s.gpu), 1e-9);
            arena_close(s.bench.arena);
        }
}

// ---- Images.

typedef void Change(NetLayer *layer);
static void be_sharp(NetLayer *layer) { layer->smooth = false; }
static void lose_tensors(NetLayer *layer) { layer->tensors = 0; }
static void keep_before_norms(NetLayer *layer) { layer->norm_keeps = layer->fixed_norm; }

static double kept_by(const Model *model, const Setup *s) {
    TrainingSpec training = s->training;
    double kept = 0;
    training.model = model;
    for (int block = 0; block < model->block_count; block++)
        kept += block_cost(model, block, &training, 1, s->gpu).activation_bytes;
    return kept;
}

static double kept_after(Setup *s, Change *change) {
    Model changed = *s->training.model;
    NetLayer *layers = ARENA_ARRAY(s->bench.arena, NetLayer, changed.net_layer_count);
    for (int i = 0; i < changed.net_layer_count; i++) {
        layers[i] = changed.net_layers[i];
        change(&layers[i]);
    }
    changed.net_layers = layers;
    return kept_by(&changed, s);
}

static double elements_of(const NetLayer *layer) {
    double places = (double)layer->out_size * layer->out_size * (layer->regions > 0 ? layer->regions : 1);
    return layer->out_channels * places;
}

// SiLU and GELU keep what they are given beside what they give; the focal loss, operator by operator, nine numbers of
// 32 bits for each class of each box; a norm that does not learn nothing, or its input.
TEST(layers_of_images_keep_what_their_operators_need) {
    static const struct {
        const char *model;
        Change *change;
    } cases[] = {{"efficientnet-b0", be_sharp},
                 {"convnext-tiny", be_sharp},
                 {"retinanet-resnet-50", lose_tensors},
                 {"retinanet-resnet-50", keep_before_norms}};
    for (int i = 0; i < 4; i++) {
        Setup s = setup(cases[i].model, "PyTorch 2.5", false);
        s.training.precision = FP32;
        const Model *model = s.training.model;
        double expected = 0;
        for (int l = 0; l < model->net_layer_count; l++) {
            const NetLayer *layer = &model->net_layers[l];
            if (layer->learning == LEARNS_NEVER) continue;
            double elements = elements_of(layer);
            if (i < 2 && layer->relu) expected += 4 * elements;
            if (i == 2 && layer->tensors > 0) expected += 9 * 4 * elements;
            if (i == 3 && layer->fixed_norm) expected -= 4 * elements;
        }
        EXPECT(expected != 0);
        EXPECT_NEAR(kept_by(model, &s) - kept_after(&s, cases[i].change), expected, 1e-9);
        arena_close(s.bench.arena);
    }
}
