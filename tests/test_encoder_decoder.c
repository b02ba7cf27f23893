// Models with an encoder and a decoder: published counts, what a decoder's second attention costs, and where it may
// run.
#include "models/workload/model/model_internal.h"
#include "tests/jobs.h"
#include "tests/test.h"

static void open_t5(Case *c, const char *model, int gpus) {
    case_open(c, gpus, model);
    c->training.seq_len = c->model.max_positions;
    c->training.micro_batch = 4;
    c->training.attention = ATTENTION_PLAIN;
}

static const Gpu *gpu_of(const Case *c) { return c->cluster->gpu_of[0]; }

// Of the published checkpoints (Hugging Face counts the shared table once).
TEST(t5_has_its_published_parameters) {
    static const struct {
        const char *name;
        double parameters;
    } known[] = {{"t5-small", 60506624},      {"T5-base", 222903552},       {"t5-large", 737668096},
                 {"t5-3b", 2851598336},       {"t5-11b", 11307321344},      {"T5-v1.1-small", 76961152},
                 {"t5-v1.1-base", 247577856}, {"t5-v1.1-large", 783150080}, {"t5-v1.1-xl", 2849757184},
                 {"t5-v1.1-xxl", 11135332352}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        Case c;
        open_t5(&c, known[i].name, 8);
        EXPECT_NEAR(model_parameters(c.training.model), known[i].parameters, 0);
        arena_close(c.arena);
    }
}

// 2 FLOP for each weight and token that meets it: the encoder's meet the source, the decoder's the target, its keys and
// values of the source again the source; and the products of scores.
TEST(encoder_and_decoder_multiply_their_own_tokens) {
    Case c;
    open_t5(&c, "t5-base", 8);
    const Model *m = c.training.model;
    double s = 512, t = 114, h = 768, ffn = 3072, attention = 4 * h * h, mlp = 2 * h * ffn;
    double encoder = 2 * s * (attention + mlp) + 4 * s * s * h;
    double decoder = 2 * t * (attention + mlp) + 4 * t * t * h;
    double cross = 2 * t * 2 * h * h + 2 * s * 2 * h * h + 4 * t * s * h;
    double flops = 12 * (encoder + decoder + cross) + 2 * t * m->vocab * h;
    EXPECT_NEAR(model_forward_flops_per_sample(m, 512), flops, 1e-12);
    double blocks = 0;
    for (int block = 0; block < m->block_count; block++) blocks += block_matmul_flops(m, block, &c.training, 4);
    EXPECT_NEAR(blocks, 4 * flops, 1e-12);
    arena_close(c.arena);
}

TEST(a_decoders_layer_has_a_second_attention_and_passes_the_source_on) {
    Case c;
    open_t5(&c, "t5-large", 8);
    const Model *m = c.training.model;
    Model alike = *m; // the same with nothing to look at: the target is as long, its layers are the encoder's
    alike.target_share = 1;
    BlockCost encoder = block_cost(&alike, 1, &c.training, 4, gpu_of(&c));
    BlockCost decoder = block_cost(&alike, m->encoder_layers + 1, &c.training, 4, gpu_of(&c));
    double h = m->hidden;
    EXPECT_NEAR(decoder.parameters - encoder.parameters, 4 * h * h + h, 0);
    double ratio = block_matmul_flops(&alike, m->encoder_layers + 1, &c.training, 4) /
                   block_matmul_flops(&alike, 1, &c.training, 4);
    EXPECT(ratio > 1.3 && ratio < 1.5); // 16 h^2 against 12 h^2, and scores twice
    double slower = list_seconds(&decoder.forward) / list_seconds(&encoder.forward);
    EXPECT(slower > 1.2 && slower < 2);
    EXPECT_NEAR(decoder.output_bytes, 2 * encoder.output_bytes, 0);
    EXPECT(decoder.activation_bytes > 1.2 * encoder.activation_bytes);
    BlockCost shorter = block_cost(m, m->encoder_layers + 1, &c.training, 4, gpu_of(&c));
    EXPECT(list_seconds(&shorter.forward) < list_seconds(&decoder.forward));
    EXPECT_NEAR(shorter.parameters, decoder.parameters, 0);
    arena_close(c.arena);
}

TEST(tensor_parallelism_shares_out_both_attentions) {
    Case c;
    open_t5(&c, "t5-3b", 8);
    const Model *m = c.training.model;
    int block = m->encoder_layers + 1;
    double whole = block_matmul_flops(m, block, &c.training, 4);
    for (c.training.layout.tp = 2; c.training.layout.tp <= 8; c.training.layout.tp *= 2)
        EXPECT_NEAR(c.training.layout.tp * block_matmul_flops(m, block, &c.training, 4), whole, 1e-12);
    arena_close(c.arena);
}

TEST(layouts_of_encoder_and_decoder_fold_to_the_tick) {
    static const Layout layouts[] = {{.tp = 1, .pp = 1, .vpp = 1},
                                     {.tp = 2, .pp = 2, .vpp = 1, .sequence_parallel = true},
                                     {.tp = 1, .pp = 4, .vpp = 1},
                                     {.tp = 1, .pp = 1, .vpp = 1, .zero = 3}};
    for (int i = 0; i < 4; i++) {
        Case c;
        open_t5(&c, "t5-base", 8);
        c.training.layout = layouts[i];
        c.training.global_batch = 64;
        SimulationOptions folded = {.assume_fits = true}, whole = {.assume_fits = true, .unfolded = true};
        SimulatedStep a = simulate_step(c.arena, c.cluster, &c.training, &folded, c.problems);
        SimulatedStep b = simulate_step(c.arena, c.cluster, &c.training, &whole, c.problems);
        EXPECT(a.ran && b.ran && a.digest == b.digest);
        EXPECT(a.step_p50_s > 3 * 64 / 8 * model_forward_flops_per_sample(c.training.model, 512) / 312e12);
        arena_close(c.arena);
    }
}

TEST(what_encoder_and_decoder_cannot_do_is_said) {
    char text[4096];
    EXPECT_INT(test_shell("$LOCKSTEP memory --model t5-base --gpu A100 --gpus 8 --cp 2", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "context parallelism cannot be combined with t5-base");
    EXPECT_INT(test_shell("$LOCKSTEP memory --model vit-base-patch16 --gpu A100 --seq 512", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "197 tokens");
    EXPECT_INT(test_shell("$LOCKSTEP memory --model vgg-16 --image-size 16 --gpu A100", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "32 to 8192 pixels");
    EXPECT_INT(test_shell("$LOCKSTEP memory --model t5-base --gpu A100 --gpus 8", text, sizeof text), 0);
}
