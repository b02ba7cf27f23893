// Models from config.json: sizes against the totals that the hub shows, one file for each trap in reading them.
#include "models/workload/model/model.h"

#include <string.h>

#include "tests/script.h"
#include "tests/test.h"

#define HUB "tests/data/hf/"

typedef struct PublishedTotal {
    const char *file;
    double parameters;
} PublishedTotal;

TEST(models_from_config_json_have_the_published_number_of_parameters) {
    static const PublishedTotal models[] = {
        {"llama-2-7b", 6738415616},        {"llama-3-8b", 8030261248},
        {"mistral-7b", 7241732096},        {"mixtral-8x7b", 46702792704},
        {"qwen2.5-7b", 7615616512},        {"qwen3-0.6b", 596049920},
        {"qwen3-30b-a3b", 30532122624},    {"gpt2", 124439808},
        {"deepseek-v2-lite", 15706484224}, {"qwen1.5-moe-a2.7b", 14315784192},
        {"gpt-neox-20b", 20554567680},     {"mpt-7b", 6649286656},
        {"bert-base", 109514298},          {"deepseek-v3", 671026419200 - 58 * 256}, // without the router's biases
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const char *path = arena_printf(arena, HUB "%s.json", models[i].file);
        const Model *model = hf_model_read_file(arena, path, NULL, problems);
        problems_print(problems, stdout);
        EXPECT(model != NULL);
        if (model && model_parameters(model) != models[i].parameters)
            test_fail(__FILE__, __LINE__, "%s has %.0f parameters, published are %.0f", models[i].file,
                      model_parameters(model), models[i].parameters);
        arena_close(arena);
    }
}

TEST(the_librarys_mixtures_have_the_published_totals_and_active_parameters) {
    static const struct {
        const char *name;
        double total, active; // in billions
    } models[] = {{"mixtral-8x7b", 46.7, 12.9},      {"mixtral-8x22b", 140.6, 39.1}, {"deepseek-v2", 236, 21.4},
                  {"qwen3-30b-a3b", 30.5, 3.35},     {"qwen3-235b-a22b", 235, 22.2}, {"deepseek-v3", 671 + 11.6, 37.5},
                  {"gpt-oss-120b", 116.83, 5.71},    {"gpt-oss-20b", 20.9, 4.19},    {"llama-4-scout", 107.8, 17.17},
                  {"llama-4-maverick", 400.7, 17.18}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Arena *arena = arena_open();
        const Model *model = find_model(arena, models[i].name, (Where){0}, problems_create(arena));
        EXPECT(model != NULL);
        EXPECT_NEAR(model_parameters(model) / 1e9, models[i].total, 2e-3 * models[i].total);
        EXPECT_NEAR(model_active_parameters(model) / 1e9, models[i].active, 5e-3 * models[i].active);
        arena_close(arena);
    }
}

static const Model *model_of(Arena *arena, Problems *problems, const char *text, const char *as) {
    const Json *json = json_read_text(arena, "config.json", text, strlen(text), problems);
    return hf_model_from_json(arena, json, as, problems);
}

TEST(absent_and_null_keys_have_the_values_of_their_class) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Model *llama = model_of(arena, problems, "{\"model_type\":\"llama\"}", NULL);
    const Model *mistral = model_of(arena, problems, "{\"model_type\":\"mistral\",\"num_key_value_heads\":null}", NULL);
    const Model *neox = model_of(arena, problems, "{\"hidden_size\": 512, \"num_attention_heads\": 8}", "gpt_neox");
    EXPECT_INT(llama->kv_heads, 32);
    EXPECT_INT(mistral->kv_heads, 8);
    EXPECT_INT(neox->ffn, 24576);
    EXPECT(!neox->tied_embedding && neox->biases && !neox->learned_positions && !neox->gated_mlp);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(a_latent_without_query_rank_differs_from_one_that_does_not_say) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Model *none = model_of(arena, problems, "{\"model_type\":\"deepseek_v3\",\"q_lora_rank\":null}", NULL);
    const Model *usual = model_of(arena, problems, "{\"model_type\":\"deepseek_v3\"}", NULL);
    EXPECT_INT(none->latent.query_rank, 0);
    EXPECT_INT(usual->latent.query_rank, 1536);
    EXPECT_INT(usual->head_dim, 192);
    EXPECT(model_parameters(none) > model_parameters(usual));
    arena_close(arena);
}

TEST(commands_and_scenarios_read_a_config_json) {
    char text[20000];
    EXPECT_INT(test_shell("$LOCKSTEP params --model " HUB "mixtral-8x7b.json", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "46,702,792,704");
    EXPECT_CONTAINS(text, "12,879,925,248");
    EXPECT_INT(test_shell("$LOCKSTEP model show " HUB "llava-like.json", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "the language model alone");
    EXPECT_INT(test_shell("$LOCKSTEP model show " HUB "gpt2.json --as llama", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "6,887,976,960"); // Llama's own sizes, and GPT-2's vocabulary
    EXPECT_INT(test_shell("$LOCKSTEP params --model no-such.json", text, sizeof text), 4);
    EXPECT_INT(run_script_text("local sim = require \"lockstep\"\nlocal m = sim.model.hf \"../config.json\"", "", text,
                               sizeof text, NULL),
               4);
    EXPECT_CONTAINS(text, "\"../config.json\" is no file in the scenario's folder");
}

TEST(a_config_that_cannot_be_read_says_which_key) {
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"{}", "model_type"},
        {"[]", "is an object"},
        {"{\"model_type\":\"lama\"}", "model_type \"lama\" is not one that can be read"},
        {"{\"model_type\":\"t5\"}", "model_type \"t5\""},
        {"{\"model_type\":\"vit\"}", "model_type \"vit\""},
        {"{\"model_type\":\"llama\",\"hidden_size\":\"big\"}", "\"hidden_size\" is no whole number"},
        {"{\"model_type\":\"llama\",\"hidden_size\":-4}", "\"hidden_size\" is no whole number"},
        {"{\"model_type\":\"llama\",\"hidden_size\":4097}", "hidden 4097 does not divide by 32 heads"},
        {"{\"model_type\":\"llama\",\"tie_word_embeddings\":3}", "\"tie_word_embeddings\" is neither"},
        {"{\"model_type\":\"mixtral\",\"num_experts_per_tok\":9}", "a token takes 9 experts, but a layer has 8"},
        {"{\"model_type\":\"qwen3_moe\",\"mlp_only_layers\":[3]}", "mlp_only_layers"},
        {"{\"model_type\":\"deepseek_v3\",\"num_nextn_predict_layers\":4}", "num_nextn_predict_layers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        EXPECT(model_of(arena, problems, cases[i].text, NULL) == NULL);
        EXPECT(problem_count(problems) > 0);
        if (problem_count(problems)) EXPECT_CONTAINS(problem_at(problems, 0)->text, cases[i].problem);
        arena_close(arena);
    }
}
