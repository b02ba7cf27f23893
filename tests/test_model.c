// Models: parameters and FLOPs against closed forms and published counts.
#include "models/workload/model/model.h"
#include "tests/test.h"

static const Where nowhere = {NULL, 0};

static const Model *named(Arena *arena, const char *name) {
    Problems *problems = problems_create(arena);
    const Model *model = find_model(arena, name, nowhere, problems);
    if (problem_count(problems)) test_fail(__FILE__, __LINE__, "%s: %s", name, problem_at(problems, 0)->text);
    return model;
}

// The newest sentence and its hint about a shape that cannot be.
static const char *shape_refusal(Arena *arena, TransformerShape shape) {
    Problems *problems = problems_create(arena);
    const Model *model = model_transformer(arena, &shape, nowhere, problems);
    EXPECT(!model && problem_count(problems) > 0);
    if (problem_count(problems) == 0) return "(taken)";
    const Problem *problem = problem_at(problems, problem_count(problems) - 1);
    return arena_printf(arena, "%s; %s", problem->text, problem->hint ? problem->hint : "(no hint)");
}

// Counts as the reference implementations print them.
TEST(parameters_of_known_models_are_exact) {
    static const struct {
        const char *name;
        double parameters;
    } known[] = {
        {"gpt2-124m", 124439808},
        {"gpt2-355m", 354823168},
        {"gpt2-774m", 774030080},
        {"gpt2-1.5b", 1557611200},
        {"bert-large", 335174458},
        {"bert-base", 109514298},
        {"llama-2-7b", 6738415616},
        {"llama-2-13b", 13015864320},
        {"llama-2-70b", 68976648192},
        {"llama-3-8b", 8030261248},
        {"llama-3-70b", 70553706496},
        {"resnet-18", 11689512},
        {"resnet-34", 21797672},
        {"resnet-50", 25557032},
        {"resnet-101", 44549160},
        {"resnet-152", 60192808},
        {"llama-33b", 32528943616},
        {"llama-65b", 65285660672},
        {"mistral-7b", 7241732096},
        {"qwen2.5-7b", 7615616512},
        {"qwen2.5-32b", 32763876352},
        {"qwen3-8b", 8190735360},
        {"qwen2.5-72b", 72706203648},
        {"qwen3-14b", 14768307200},
        {"mpt-7b", 6649286656},
        {"qwen3-32b", 32762123264},
        {"llama-3.1-405b", 405853388800},
        {"mistral-large-123b", 122610069504},
        {"llama-3.2-1b", 1235814400},
        {"llama-3.2-3b", 3212749824},
        {"codellama-34b", 33743970304},
        {"tinyllama-1.1b", 1100048384},
        {"yi-34b", 34388917248},
        {"mistral-nemo-12b", 12247782400},
        {"mistral-small-24b", 23572403200},
        {"phi-3-mini", 3821079552},
        {"phi-3-medium", 13960238080},
        {"phi-4", 14659507200},
        {"gemma-2b", 2506172416},
        {"gemma-7b", 8537680896},
        {"smollm2-135m", 134515008},
        {"smollm2-1.7b", 1711376384},
        {"smollm3-3b", 3075098624},
        {"qwen2.5-0.5b", 494032768},
        {"qwen2.5-1.5b", 1543714304},
        {"qwen2.5-3b", 3085938688},
        {"qwen2.5-14b", 14770033664},
        {"qwen3-0.6b", 596049920},
        {"qwen3-1.7b", 1720574976},
        {"qwen3-4b", 4022468096},
        {"starcoder-15b", 15517456384},
        {"pythia-1.4b", 1414647808},
        {"pythia-6.9b", 6857302016},
        {"pythia-12b", 11846072320},
        {"gpt-neox-20b", 20554567680},
        {"falcon-40b", 41303293952},
        {"falcon-180b", 179522565120},
        {"deepseek-moe-16b", 16375728128},
        {"deepseek-v2-lite", 15706484224},
        {"qwen1.5-moe-a2.7b", 14315784192},
        {"dbrx", 131596523520},
        {"yi-9b", 8829407232},
        {"solar-10.7b", 10731524096},
        {"ministral-8b", 8019808256},
        {"open-llama-3b", 3426473600},
        {"phi-4-mini", 3836021760},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_parameters(named(arena, known[i].name)), known[i].parameters, 0);
    arena_close(arena);
}

// What the shapes leave out: OPT's two positions more, a norm after BLOOM's embedding, one norm for both of Falcon's
// branches, biases of Phi's experts and head, norms of all of OLMoE's queries; GLM's layer for a further token.
TEST(parameters_of_known_models_are_near) {
    static const struct {
        const char *name;
        double parameters, tolerance;
    } known[] = {
        {"opt-1.3b", 1315758080, 1e-5},
        {"distilgpt2", 81.9e6, 0.001},
        {"distilbert-base", 66.4e6, 0.02},
        {"roberta-base", 124.6e6, 0.01},
        {"roberta-large", 355.4e6, 0.01},
        {"xlm-roberta-base", 278.0e6, 0.01},
        {"llama-3.1-8b", 8030261248, 0},
        {"llama-3.1-70b", 70553706496, 0},
        {"codellama-7b", 6738546688, 0},
        {"codellama-13b", 13016028160, 0},
        {"yi-6b", 6061035520, 0},
        {"deepseek-7b", 6910365696, 0},
        {"deepseek-coder-6.7b", 6740512768, 0},
        {"deepseek-coder-33b", 33342991360, 0},
        {"mistral-small-22b", 22247282688, 0},
        {"phi-1.5", 1418270720, 0.002},
        {"phi-2", 2779683840, 0.001},
        {"gemma-2-2b", 2614341888, 1e-3},
        {"gemma-2-9b", 9241705984, 1e-3},
        {"gemma-2-27b", 27227128320, 1e-3},
        {"gemma-3-1b", 999885952, 1e-3},
        {"gemma-3-4b", 3.88e9, 0.005},
        {"gemma-3-12b", 11.77e9, 0.005},
        {"gemma-3-27b", 27.0e9, 0.005},
        {"internlm2-7b", 7737708544, 0},
        {"internlm2-20b", 19861149696, 0},
        {"baichuan2-7b", 7505973248, 0},
        {"baichuan2-13b", 13896668160, 1e-3},
        {"chatglm3-6b", 6243584000, 1e-3},
        {"glm-4-9b", 9399951360, 1e-3},
        {"olmo-7b", 6888095744, 1e-3},
        {"olmo-2-7b", 7298617344, 1e-3},
        {"olmo-2-13b", 13716198400, 1e-3},
        {"olmo-2-32b", 32234279936, 1e-3},
        {"qwen1.5-7b", 7721324544, 0},
        {"qwen1.5-14b", 14167290880, 0},
        {"qwen1.5-72b", 72287920128, 0},
        {"smollm2-360m", 361821120, 0},
        {"opt-125m", 125239296, 1e-4},
        {"opt-2.7b", 2651596800, 1e-4},
        {"gpt-neo-1.3b", 1315575808, 1e-3},
        {"gpt-neo-2.7b", 2651307520, 1e-3},
        {"starcoder2-3b", 3030371328, 1e-4},
        {"starcoder2-7b", 7173923840, 1e-4},
        {"starcoder2-15b", 15957889024, 1e-4},
        {"bloom-560m", 559214592, 1e-4},
        {"bloom-1b7", 1722408960, 1e-4},
        {"bloom-3b", 3002557440, 1e-4},
        {"pythia-70m", 70426624, 1e-4},
        {"pythia-160m", 162322944, 1e-4},
        {"pythia-410m", 405334016, 1e-4},
        {"pythia-1b", 1011781632, 1e-4},
        {"pythia-2.8b", 2775208960, 1e-4},
        {"gpt-j-6b", 6050882784, 2e-3},
        {"opt-6.7b", 6658473984, 1e-5},
        {"opt-13b", 12853473280, 1e-5},
        {"opt-30b", 29974540288, 1e-5},
        {"opt-66b", 66e9, 0.01},
        {"opt-175b", 175e9, 0.01},
        {"bloom-7b1", 7069016064, 1e-5},
        {"bloom-176b", 176247271424, 1e-6},
        {"falcon-7b", 6921720704, 1e-4},
        {"nemotron-4-15b", 15.6e9, 0.01},
        {"nemotron-4-340b", 341e9, 0.001},
        {"deepseek-67b", 67424727040, 1e-5},
        {"phi-3.5-moe", 41873153344, 1e-4},
        {"olmoe-1b-7b", 6919161856, 1e-5},
        {"kimi-k2", 1026e9, 0.001},
        {"grok-1", 314e9, 0.01},
        {"glm-4.5", 355e9, 0.01},
        {"glm-4.5-air", 106e9, 0.01},
        {"moonlight-16b-a3b", 15.96e9, 0.001},
        {"qwen2-57b-a14b", 57.41e9, 0.001},
        {"xlm-roberta-large", 560e6, 0.01},
        {"distilroberta-base", 82.1e6, 0.01},
        {"bert-base-multilingual", 178e6, 0.01},
        {"deberta-v3-xsmall", 70.7e6, 0.01},
        {"deberta-v3-small", 141.3e6, 0.01},
        {"deberta-v3-base", 184e6, 0.01},
        {"deberta-v3-large", 434e6, 0.01},
        {"deberta-base", 139e6, 0.12}, // the rest are the projections of its relative positions
        {"deberta-v2-xlarge", 885e6, 0.02},
        {"mpnet-base", 109.5e6, 0.01},
        {"minilm-l6", 22.7e6, 0.02},
        {"minilm-l12", 33.4e6, 0.02},
        {"falcon-3-1b", 1.67e9, 0.002},
        {"falcon-3-3b", 3.23e9, 0.002},
        {"falcon-3-7b", 7.46e9, 0.002},
        {"falcon-3-10b", 10.31e9, 0.002},
        {"granite-3-2b", 2.534e9, 0.001},
        {"granite-3-8b", 8.171e9, 0.001},
        {"stablelm-3b", 2795443200, 1e-3},
        {"stablelm-2-1.6b", 1644417024, 1e-3},
        {"stablelm-2-12b", 12.14e9, 0.001},
        {"gemma-3-270m", 268.1e6, 0.001},
        {"olmo-1b", 1176764416, 1e-3},
        {"olmo-2-1b", 1484916736, 1e-3},
        {"gpt-neo-125m", 125198592, 1e-3},
        {"opt-350m", 331196416, 0.08}, // its embedding is half as wide
        {"starcoderbase-1b", 1137207296, 1e-3},
        {"starcoderbase-3b", 3.04e9, 0.01},
        {"bloom-1b1", 1065314304, 1e-4},
        {"pythia-14m", 14067712, 1e-3},
        {"pythia-31m", 30494720, 1e-3},
        {"codegen-350m", 356711424, 0.001},
        {"codegen-2b", 2.779e9, 0.001},
        {"codegen-6b", 7.069e9, 0.001},
        {"codegen-16b", 16.03e9, 0.002},
        {"mt5-small", 300.2e6, 0.001},
        {"mt5-base", 582.4e6, 0.001},
        {"mt5-large", 1.2296e9, 0.001},
        {"mt5-xl", 3.7426e9, 0.001},
        {"bart-base", 139420416, 0.01},
        {"bart-large", 406291456, 0.005},
        {"mbart-large", 610.9e6, 0.005},
        {"nllb-200-600m", 615e6, 0.005},
        {"m2m100-418m", 483.9e6, 0.005},
        {"pegasus-large", 568.7e6, 0.01},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_parameters(named(arena, known[i].name)), known[i].parameters, known[i].tolerance);
    arena_close(arena);
}

// P = 12 L h^2 (1 + 13/12h + (V + s)/12Lh) and the final norm (Narayanan et al. 2021, equation 2).
TEST(megatron_parameters_follow_the_closed_form) {
    Arena *arena = arena_open();
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        const Model *m = named(arena, names[i]);
        if (strcmp(m->family, "gpt") != 0) continue;
        double l = m->layers, h = m->hidden, v = m->vocab, s = m->max_positions;
        double closed = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h)) + 2 * h;
        EXPECT_NEAR(model_parameters(m), closed, 1e-12);
    }
    arena_close(arena);
}

TEST(megatron_models_have_the_size_in_their_name) {
    static const struct {
        const char *name;
        double billions;
    } sizes[] = {
        {"megatron-1.7b", 1.7},     {"megatron-3.6b", 3.6},   {"megatron-7.5b", 7.5},   {"megatron-18.4b", 18.4},
        {"megatron-22b", 22},       {"megatron-39.1b", 39.1}, {"megatron-76.1b", 76.1}, {"megatron-145.6b", 145.6},
        {"megatron-310.1b", 310.1}, {"megatron-530b", 529.6}, {"megatron-1t", 1008},    {"gpt3-175b", 175},
        {"gpt3-13b", 13},           {"gpt3-1.3b", 1.3},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        EXPECT_NEAR(model_parameters(named(arena, sizes[i].name)), 1e9 * sizes[i].billions, 0.03);
    arena_close(arena);
}

// F = 72 B s l h^2 (1 + s/6h + V/12lh) without recomputation (Narayanan et al. 2021, appendix).
TEST(training_flops_follow_megatrons_formula) {
    Arena *arena = arena_open();
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        const Model *m = named(arena, names[i]);
        if (strcmp(m->family, "gpt") != 0) continue;
        for (int s = 128; s <= 8192; s *= 4) {
            double l = m->layers, h = m->hidden, v = m->vocab;
            double formula = 72.0 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
            EXPECT_NEAR(model_flops_per_sample(m, s), formula, 1e-12);
            EXPECT_NEAR(model_forward_flops_per_sample(m, s), formula / 3, 1e-12);
        }
    }
    arena_close(arena);
}

TEST(resnet_multiply_adds_are_the_published_ones) {
    static const struct {
        const char *name;
        double gmac;
    } known[] = {
        {"resnet-18", 1.81}, {"resnet-34", 3.66}, {"resnet-50", 4.09}, {"resnet-101", 7.8}, {"resnet-152", 11.51},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_NEAR(model_forward_flops_per_sample(named(arena, known[i].name), 1), 2e9 * known[i].gmac, 0.005);
    arena_close(arena);
}

TEST(resnet_layers_chain_and_images_may_have_any_size) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    for (int size = 8; size <= 300; size += 7) {
        const Model *model = model_resnet(arena, 50, size, 10, nowhere, problems);
        EXPECT_INT(model->net_layer_count, 54);
        EXPECT_INT(model->block_count, 18);
        for (int i = 0; i < model->net_layer_count; i++) {
            const NetLayer *layer = &model->net_layers[i];
            EXPECT(layer->out_size >= 1 && layer->out_size <= layer->in_size);
            EXPECT(layer->block >= 0 && layer->block < model->block_count);
        }
        const Model *again = model_resized(arena, named(arena, "resnet-50"), size, 10);
        EXPECT_NEAR(model_flops_per_sample(again, 1), model_flops_per_sample(model, 1), 0);
        EXPECT_NEAR(model_parameters(model), 25557032 - 990 * 2049, 0); // fewer classes, nothing else
    }
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(an_mlp_has_a_weight_and_a_bias_for_each_width) {
    Arena *arena = arena_open();
    static const int widths[] = {3, 5, 2};
    const Model *model = model_mlp(arena, "tiny", widths, 3, nowhere, problems_create(arena));
    EXPECT_NEAR(model_parameters(model), 3 * 5 + 5 + 5 * 2 + 2, 0);
    EXPECT_NEAR(model_forward_flops_per_sample(model, 1), 2 * (3 * 5 + 5 * 2), 0);
    EXPECT_INT(model->block_count, 2);
    arena_close(arena);
}

TEST(every_model_is_found_by_its_name_and_its_blocks_add_up) {
    Arena *arena = arena_open();
    int count = 0;
    const char *const *names = model_names(&count);
    EXPECT(count > 30);
    for (int i = 0; i < count; i++) {
        const Model *model = named(arena, names[i]);
        EXPECT_TEXT(model->name, names[i]);
        EXPECT(model->source && strlen(model->source) > 0);
        double sum = 0;
        for (int block = 0; block < model->block_count; block++) {
            sum += block_parameters(model, block);
            EXPECT(strlen(block_name(arena, model, block)) > 0);
        }
        EXPECT_NEAR(model_parameters(model), sum, 0);
    }
    arena_close(arena);
}

TEST(case_dashes_and_aliases_do_not_matter_in_names) {
    Arena *arena = arena_open();
    EXPECT_TEXT(named(arena, "ResNet50")->name, "resnet-50");
    EXPECT_TEXT(named(arena, "GPT-2")->name, "gpt2-124m");
    EXPECT_TEXT(named(arena, "bert_large")->name, "bert-large");
    EXPECT_TEXT(named(arena, "llama3 8b")->name, "llama-3-8b");
    EXPECT_TEXT(named(arena, "Megatron-1008B")->name, "megatron-1t");
    arena_close(arena);
}

TEST(a_name_that_is_nearly_right_is_suggested) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(!find_model(arena, "resent-50", (Where){"job.lua", 3}, problems));
    EXPECT_TEXT(problem_at(problems, 0)->text, "no model is called \"resent-50\"");
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "did you mean \"resnet-50\"?");
    EXPECT_INT(problem_at(problems, 0)->where.line, 3);
    EXPECT(!find_model(arena, "transmogrifier", nowhere, problems));
    EXPECT_CONTAINS(problem_at(problems, 1)->hint, "lockstep model list");
    arena_close(arena);
}

TEST(a_name_of_a_hub_is_known_with_its_owner_and_suggested_without) {
    static const char *const pairs[][2] = {{"meta-llama/Llama-3.1-8B", "llama-3.1-8b"},
                                           {"meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"},
                                           {"Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"},
                                           {"google/flan-t5-xl", "t5-v1.1-xl"}};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) EXPECT_TEXT(named(arena, pairs[i][0])->name, pairs[i][1]);
    Problems *problems = problems_create(arena);
    EXPECT(!find_model(arena, "llama-3.1-8b-instruct", nowhere, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "did you mean \"llama-3.1-8b\"?");
    EXPECT(!find_model(arena, "own/granite-9000b", nowhere, problems)); // no size of the library's
    EXPECT(!find_model(arena, "llama-3.1-8b/", nowhere, problems));
    arena_close(arena);
}

TEST(a_users_transformer_takes_the_usual_values_for_what_it_leaves_out) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    TransformerShape shape = {
        .layers = 12, .hidden = 768, .heads = 12, .vocab = 50257, .max_positions = 1024, .causal = true};
    const Model *model = model_transformer(arena, &shape, nowhere, problems);
    EXPECT_NEAR(model_parameters(model), 124439808, 0);
    TransformerShape llama = {.layers = 32,
                              .hidden = 4096,
                              .heads = 32,
                              .kv_heads = 8,
                              .ffn = 14336,
                              .vocab = 128256,
                              .gated_mlp = true,
                              .untied_embedding = true,
                              .causal = true,
                              .rms_norm = true};
    EXPECT_NEAR(model_parameters(model_transformer(arena, &llama, nowhere, problems)), 8030261248, 0);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(latent_attention_is_said_whole_or_not_at_all) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    TransformerShape shape = {.layers = 27, .hidden = 2048, .heads = 16, .latent = {.key_rank = 512}};
    const Model *model = model_transformer(arena, &shape, nowhere, problems);
    EXPECT(model && model->head_dim == 192 && model->kv_heads == 16 && model->latent.value_dim == 128);
    shape.head_dim = 128;
    EXPECT(!model_transformer(arena, &shape, nowhere, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "a key of 192 for each of the 16 heads");
    shape = (TransformerShape){.layers = 27, .hidden = 2048, .heads = 16, .latent = {.query_rank = 1536}};
    EXPECT(!model_transformer(arena, &shape, nowhere, problems));
    EXPECT_CONTAINS(problem_at(problems, 1)->hint, "say kv_lora_rank = 512");
    arena_close(arena);
}

TEST(shapes_that_cannot_be_are_refused_with_a_remedy) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(shape_refusal(arena, (TransformerShape){.layers = 2, .hidden = 100, .heads = 3}),
                    "100 does not divide by 3 heads");
    EXPECT_CONTAINS(shape_refusal(arena, (TransformerShape){.layers = 2, .hidden = 96, .heads = 12, .kv_heads = 5}),
                    "5 kv_heads");
    EXPECT_CONTAINS(shape_refusal(arena, (TransformerShape){.hidden = 96, .heads = 12}), "layers must be at least 1");
    EXPECT_CONTAINS(shape_refusal(arena, (TransformerShape){.layers = 1, .hidden = 96, .heads = 12, .vocab = -1}),
                    "vocab cannot be -1");
    Problems *problems = problems_create(arena);
    EXPECT(!model_resnet(arena, 51, 224, 1000, nowhere, problems));
    EXPECT(!model_resnet(arena, 50, 2, 0, nowhere, problems));
    EXPECT_INT(problem_count(problems), 3);
    arena_close(arena);
}

TEST(model_commands_print_counts_and_refuse_what_they_do_not_know) {
    char text[60000];
    EXPECT_INT(test_shell("$LOCKSTEP params --model resnet-50", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "25,557,032");
    EXPECT_INT(test_shell("$LOCKSTEP flops --model gpt2 --json", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "\"format_version\": 2");
    EXPECT_INT(test_shell("$LOCKSTEP model show bert-large --json", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "\"parameters\": 335174458");
    EXPECT_INT(test_shell("$LOCKSTEP model list", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "resnet-152");
    EXPECT_INT(test_shell("$LOCKSTEP flops --model gpt9", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "no model is called \"gpt9\"");
    EXPECT_INT(test_shell("$LOCKSTEP flops --modle gpt2", text, sizeof text), 2);
    EXPECT_CONTAINS(text, "did you mean \"--model\"?");
    EXPECT_INT(test_shell("$LOCKSTEP params", text, sizeof text), 2);
    EXPECT_INT(test_shell("$LOCKSTEP model show", text, sizeof text), 2);
    EXPECT_INT(test_shell("$LOCKSTEP model show mixtral-8x7b --operators --seq 4096", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "8 of 1024 x 28672 x 4096");
    EXPECT_INT(test_shell("$LOCKSTEP model show resnet-50 --operators --json", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "\"block0.conv\"");
    EXPECT_INT(test_shell("$LOCKSTEP flops --model gpt2 >/dev/full", text, sizeof text), 1);
}

// 131,072 tokens are what it was stretched to at the end: trained on throughout they would cost half as much again.
TEST(a_model_is_trained_on_sequences_as_long_as_it_was_published) {
    static const struct {
        const char *name;
        int tokens;
    } rows[] = {{"llama-3.1-405b", 8192}, {"mistral-nemo-12b", 8192}, {"kimi-k2", 4096},  {"qwen3-8b", 4096},
                {"llama-2-70b", 4096},    {"gpt3-175b", 2048},        {"bert-large", 512}};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Model *model = find_model(arena, rows[i].name, (Where){0}, problems);
        const char *source = NULL;
        EXPECT_INT(usual_tokens(model, &source), rows[i].tokens);
        EXPECT(source && *source);
    }
    TransformerShape shape = {
        .name = "kimi-k2", .layers = 2, .hidden = 64, .heads = 4, .vocab = 100, .max_positions = 9000};
    const char *source;
    EXPECT_INT(usual_tokens(model_transformer(arena, &shape, (Where){0}, problems), &source), 9000); // a user's own
    char text[4096];
    EXPECT_INT(test_shell("$LOCKSTEP plan --model llama-3.1-405b --node dgx-h100 --gpus 1024 --tokens 1T --tp 8 --pp 8 "
                          "--global-batch 512 --micro-batch 1 --fabric ib-ndr400 --csv",
                          text, sizeof text),
               0);
    EXPECT_INT(test_shell("$LOCKSTEP run --model kimi-k2 --node dgx-h100 --gpus 8 --global-batch 8 --plain", text,
                          sizeof text),
               3);
    EXPECT_CONTAINS(text, "4096 tokens");
    arena_close(arena);
}
