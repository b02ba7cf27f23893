// Scripts that run a job: what goes out comes in as the same job, in every software and for every launcher.
#include <stdlib.h>

#include "models/hardware/hardware.h"
#include "scenarios/export/export.h"
#include "scenarios/import/import.h"
#include "scenarios/study/study_options.h"
#include "scenarios/study/study_point.h"
#include "sim/base/random.h"
#include "tests/test.h"

static const StudySpec *study_of(Arena *arena, const OptionWords *words, Problems *problems) {
    static const OptionSpec own[] = {{"seed", OPTION_SEED, "N", .help = ""}, {"unfolded", OPTION_FLAG, .help = ""}};
    int count;
    const OptionSpec *rows = options_with_study(arena, own, 2, &count);
    char **argv = ARENA_ARRAY(arena, char *, words->count + 1);
    for (int i = 0; i < words->count; i++) argv[i] = arena_copy_text(arena, words->items[i]);
    const Options *options = options_parse(arena, rows, count, words->count, argv, problems);
    if (problem_count(problems)) return NULL;
    return study_from_options(arena, options, catalogue_builtin(arena), "test", problems);
}

static OptionWords words_of_text(Arena *arena, const char *text) {
    OptionWords words = {0};
    option_words_add(arena, &words, "run");
    char *copy = arena_copy_text(arena, text), *next = NULL;
    for (char *word = strtok_r(copy, " ", &next); word; word = strtok_r(NULL, " ", &next))
        option_words_add(arena, &words, word);
    return words;
}

static uint64_t digest_of(Arena *arena, const StudySpec *study, Problems *problems) {
    static const int first[MOST_VARIED];
    StudyPlace place = study_place(arena, study, first, problems);
    if (!place.cluster) return 0;
    RecordPoint point = simulate_training(arena, place.cluster, place.training, study, problems);
    return point.ran ? point.digest : 0;
}

// The digest of the job that the file says.
static uint64_t digest_again(Arena *arena, const ExportFile *file, Problems *problems) {
    const ImportAsked nothing = {0};
    const Import *import = import_text(arena, file->name, file->text, strlen(file->text), &nothing, problems);
    OptionWords words = {0};
    if (!import) return 0;
    option_words_add(arena, &words, "run");
    for (int i = 0; i < import->words.count; i++)
        option_words_add(arena, &words,
                         arena_printf(arena, "--%s=%s", import->words.items[i].option, import->words.items[i].value));
    const StudySpec *study = study_of(arena, &words, problems);
    return study ? digest_of(arena, study, problems) : 0;
}

static const char *pick(RandomStream *stream, const char *const *of, int count) {
    return of[random_below(stream, count)];
}

// A job that the software can be told.
static const char *draw(Arena *arena, RandomStream *stream, const char *target) {
    static const char *const plain[] = {"llama-2-7b", "llama-3-8b", "gpt3-6.7b", "qwen2.5-7b"}, *const titan[] = {
                                                                                                    "llama-3-8b"};
    static const char *const recompute[] = {"none", "selective", "full"}, *const layered[] = {"none", "full",
                                                                                              "operations"};
    bool megatron = strcmp(target, "megatron") == 0 || strcmp(target, "nemo") == 0 || strcmp(target, "bridge") == 0,
         is_titan = strcmp(target, "torchtitan") == 0;
    int tp = megatron || is_titan ? 1 << random_below(stream, 3) : 1,
        pp = megatron || is_titan ? 1 << random_below(stream, 2) : 1;
    int dp = 2 << random_below(stream, 2), micro = 1 << random_below(stream, 2),
        steps = pp * (1 << random_below(stream, 2));
    int vpp = pp > 1 && random_below(stream, 2) ? 2 : 1;
    int gpus = tp * pp * dp;
    if (gpus < 8) dp *= 8 / gpus, gpus = 8;
    const char *model = is_titan ? titan[0] : pick(stream, plain, megatron ? 3 : 4);
    int zero = megatron ? (int)random_below(stream, 2) : is_titan ? (pp > 1 ? 0 : 3) : 3 - (int)random_below(stream, 2);
    const char *text = arena_printf(
        arena,
        "--model %s --node dgx-h100 --gpus %d --fabric ib-ndr400 --tp %d --pp %d --vpp %d --zero %d --micro-batch %d "
        "--global-batch %d --seq %d --recompute %s",
        model, gpus, tp, pp, vpp, zero, micro, micro * dp * steps, 1024 << random_below(stream, 2),
        megatron   ? pick(stream, recompute, 3)
        : is_titan ? pick(stream, layered, 3)
                   : pick(stream, layered, 2));
    if (megatron && random_below(stream, 2)) text = arena_printf(arena, "%s --overlap-grad-reduce false", text);
    if (megatron && tp > 1 && random_below(stream, 2)) text = arena_printf(arena, "%s --sequence-parallel false", text);
    return text;
}

TEST(what_goes_out_comes_in_with_the_same_digest) {
    static const char *const targets[] = {"megatron", "nemo", "torchtitan", "deepspeed", "accelerate", "bridge"},
                             *const launchers[] = {"torchrun", "sbatch", "k8s", "skypilot"};
    int same = 0, drawn = 0;
    FOR_SEEDS (seed, 1, 240) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        RandomStream stream = random_stream(seed, "exports", 0);
        const char *target = targets[seed % 6], *launcher = pick(&stream, launchers, 4),
                   *job = draw(arena, &stream, target);
        OptionWords words = words_of_text(arena, job);
        const StudySpec *study = study_of(arena, &words, problems);
        ExportFiles files = {0};
        const char *kinds = arena_printf(arena, "%s,%s", target, launcher);
        if (study && export_job(arena, study, NULL, kinds, &files, problems)) {
            drawn++;
            uint64_t digest = digest_again(arena, &files.items[0], problems);
            same += digest == files.items[0].point.digest;
            if (digest != files.items[0].point.digest)
                test_fail(__FILE__, __LINE__, "%s as %s: another job comes in (%s)", job, kinds,
                          problem_count(problems) ? problem_at(problems, 0)->text : "no problem");
            for (int i = 0; i < files.items[0].lost.count; i++)
                test_fail(__FILE__, __LINE__, "%s as %s: %s=%s is lost", job, kinds, files.items[0].lost.items[i].key,
                          files.items[0].lost.items[i].value);
        } else if (problem_count(problems) && !strstr(problem_at(problems, 0)->text, "does not run")) {
            test_fail(__FILE__, __LINE__, "%s as %s: %s", job, kinds, problem_at(problems, 0)->text);
        }
        arena_close(arena);
    }
    EXPECT(drawn >= 200);
    EXPECT_INT(same, drawn);
}

TEST(scripts_are_sound_to_shells_and_never_written_over) {
    char out[1 << 14], folder[] = "/tmp/lockstep-export-XXXXXX";
    Arena *arena = arena_open();
    EXPECT(mkdtemp(folder) != NULL);
    const char *export = arena_printf(
        arena,
        "$LOCKSTEP export --model llama-3-8b --node dgx-h100 --gpus 32 --zero 3 --micro-batch 1 --global-batch 64 "
        "--export torchtitan,deepspeed,accelerate,sbatch,torchrun,k8s --into %s -q >/dev/null; "
        "$LOCKSTEP export --model llama-2-7b --node dgx-h100 --gpus 8 --tp 2 --micro-batch 1 --global-batch 64 "
        "--export megatron,bridge,nemo,sbatch,torchrun,k8s,skypilot --into %s",
        folder, folder);
    EXPECT_INT(test_shell(export, out, sizeof out), 0);
    const char *check = arena_printf(arena,
                                     "cd %s; ls | wc -l; for f in *.sh *.sbatch; do bash -n $f || exit 1; done; "
                                     "! command -v shellcheck >/dev/null || shellcheck *.sh *.sbatch",
                                     folder);
    EXPECT_INT(test_shell(check, out, sizeof out), 0);
    EXPECT_TEXT(out, "21\n");
    EXPECT_INT(test_shell(export, out, sizeof out), 1);
    EXPECT_CONTAINS(out, "is not written over");
    test_shell(arena_printf(arena, "rm -r %s", folder), out, sizeof out);
    arena_close(arena);
}

// A recipe has degrees of its own: what is 1 is said too.
TEST(a_recipe_of_megatron_bridge_is_told_all_degrees) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    OptionWords words = words_of_text(arena, "--model llama-2-7b --node dgx-h100 --gpus 8 --seq 4096 --global-batch 64 "
                                             "--precision fp8 --fp8-recipe mxfp8 --recompute full --zero 3");
    ExportFiles files = {0};
    EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, "bridge", &files, problems));
    static const char *const said[] = {"run_recipe.py --recipe llama3_8b_pretrain_config --dataset mock",
                                       "model.tensor_model_parallel_size=1\n",
                                       "model.pipeline_model_parallel_size=1\n",
                                       "model.context_parallel_size=1\n",
                                       "dataset.sequence_length=4096\n",
                                       "mixed_precision=bf16_with_mxfp8_mixed\n",
                                       "dist.use_megatron_fsdp=true\n",
                                       "ddp.data_parallel_sharding_strategy=optim_grads_params\n",
                                       "model.recompute_num_layers=1\n",
                                       "model.position_embedding_type=rope\n"};
    for (size_t i = 0; files.count && i < sizeof said / sizeof *said; i++)
        EXPECT_CONTAINS(files.items[0].text, said[i]);
    EXPECT_INT(files.items[0].lost.count, 0);
    EXPECT(digest_again(arena, &files.items[0], problems) == files.items[0].point.digest);
    arena_close(arena);
}

// Software that takes a folder asks for it, one that lists its models refuses, and no name gets to a shell.
TEST(a_model_of_ones_own_goes_out_as_its_shape_or_as_a_folder) {
    static const char *const targets[] = {"megatron", "nemo", "bridge", "deepspeed", "accelerate"};
    char out[1 << 14], folder[] = "/tmp/lockstep-export-XXXXXX";
    Arena *arena = arena_open();
    EXPECT(mkdtemp(folder) != NULL);
    const char *config = arena_printf(arena, "%s/config.json", folder);
    FILE *file = fopen(config, "w");
    fputs("{\"model_type\": \"llama\", \"hidden_size\": 2048, \"num_hidden_layers\": 16, \"num_attention_heads\": 16, "
          "\"intermediate_size\": 5632, \"vocab_size\": 32000, \"_name_or_path\": \"acme/$(touch pwned)\"}",
          file);
    fclose(file);
    const char *job = arena_printf(arena, "--model %s --node dgx-h100 --gpus 16 --seq 2048 --global-batch 64", config);
    for (int i = 0; i < 5; i++) {
        Problems *problems = problems_create(arena);
        OptionWords words = words_of_text(arena, job), again = words_of_text(arena, "");
        ExportFiles files = {0};
        EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, targets[i], &files, problems));
        EXPECT_INT(files.count, 1);
        const ImportAsked asked = {.model = i < 3 ? NULL : config};
        const Import *import =
            import_text(arena, files.items[0].name, files.items[0].text, strlen(files.items[0].text), &asked, problems);
        for (int w = 0; import && w < import->words.count; w++)
            option_words_add(
                arena, &again,
                arena_printf(arena, "--%s=%s", import->words.items[w].option, import->words.items[w].value));
        if (asked.model) option_words_add(arena, &again, arena_printf(arena, "--model=%s", config));
        const StudySpec *study = study_of(arena, &again, problems);
        EXPECT(study && digest_of(arena, study, problems) == files.items[0].point.digest);
        for (const char *name = files.items[0].text; (name = strstr(name, "$(touch")) != NULL; name++) {
            const char *line = name;
            while (line > files.items[0].text && line[-1] != '\n') line--;
            EXPECT(*line == '#');
        }
    }
    EXPECT_INT(
        test_shell(arena_printf(arena, "$LOCKSTEP export %s --export torchtitan --into %s/out 2>&1", job, folder), out,
                   sizeof out),
        4);
    EXPECT_CONTAINS(out, "starts the models that it lists");
    EXPECT_CONTAINS(out, "--export megatron\n");
    test_shell(arena_printf(arena, "rm -r %s", folder), out, sizeof out);
    arena_close(arena);
}

// ---- The user's own file.

// What the file becomes with these options; the problem's first line where it is refused.
static const char *changed(Arena *arena, const char *script, const char *options, const char *name) {
    char folder[] = "/tmp/lockstep-change-XXXXXX", *out = arena_alloc(arena, 1 << 14);
    EXPECT(mkdtemp(folder) != NULL);
    FILE *file = fopen(arena_printf(arena, "%s/%s", folder, name), "w");
    fputs(script, file);
    fclose(file);
    test_shell(arena_printf(
                   arena,
                   "cd %s; $(cd - >/dev/null; realpath $LOCKSTEP) export %s --node dgx-h100 --export change "
                   "--into new %s --plain >/dev/null 2>said; cat new/%s 2>/dev/null || grep error said; cd /; rm -r %s",
                   folder, name, options, name, folder),
               out, 1 << 14);
    return out;
}

TEST(only_what_changes_is_changed_in_a_users_own_file) {
    Arena *arena = arena_open();
    static const char script[] =
        "#!/bin/bash\n# my own\nPP=${PP:-2}   # stages\nMBS=1; GBS=64\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 \\\n"
        "  --num-attention-heads 16 --seq-length 1024 --bf16 --tensor-model-parallel-size 2 \\\n"
        "  --pipeline-model-parallel-size $PP --micro-batch-size ${MBS} --global-batch-size=\"$GBS\" \\\n"
        "  --use-distributed-optimizer --recompute-activations   # last\n";
    const char *text = changed(arena, script, "--tp 4 --pp 1 --micro-batch 2 --recompute none --vpp 1", "a.sh");
    EXPECT_CONTAINS(text,
                    "# my own\nPP=${PP:-1}   # stages\nMBS=2; GBS=64\ntorchrun --nproc_per_node 8 pretrain_gpt.py "
                    "--num-layers 24");
    EXPECT_CONTAINS(text, "--bf16 --tensor-model-parallel-size 4 \\\n  --pipeline-model-parallel-size $PP");
    EXPECT_CONTAINS(text, "--use-distributed-optimizer # last\n");
    EXPECT_CONTAINS(changed(arena, script, "--tp 2", "a.sh"), "nothing is to be changed");
    EXPECT_CONTAINS(changed(arena, script, "--lora-rank 8", "a.sh"), "--lora-rank 8 cannot be said there");
    EXPECT_CONTAINS(changed(arena, script, "--fused-loss", "a.sh"), "--cross-entropy-loss-fusion --num-layers 24");
    arena_close(arena);
}

TEST(a_value_that_is_computed_or_says_two_things_is_not_changed) {
    Arena *arena = arena_open();
    static const char script[] =
        "#!/bin/bash\nN=2; TP=$((2 * N))\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 1024 --tensor-model-parallel-size $TP "
        "--micro-batch-size $N --pipeline-model-parallel-size $N --global-batch-size 64 --fp16\n";
    EXPECT_CONTAINS(changed(arena, script, "--tp 2", "a.sh"),
                    "a.sh:3: error: $TP cannot be changed: its value is computed");
    EXPECT_CONTAINS(changed(arena, script, "--micro-batch 1", "a.sh"), "would change with it");
    arena_close(arena);
}

TEST(a_configuration_is_changed_in_place) {
    Arena *arena = arena_open();
    const char *toml =
        "[model]\nname = \"llama3\"\nflavor = \"8B\" # whole\n[training]\nlocal_batch_size = 2\nseq_len = 8192\n"
        "[parallelism]\ntensor_parallel_degree = 2\n[activation_checkpoint]\nmode = \"full\"\n";
    const char *text = changed(arena, toml, "--gpus 64 --tp 4 --recompute none --global-batch 32", "a.toml");
    EXPECT_CONTAINS(text, "flavor = \"8B\" # whole\n[training]\nlocal_batch_size = 2\n");
    EXPECT_CONTAINS(text, "tensor_parallel_degree = 4\n[activation_checkpoint]\nmode = \"none\"\n");
    arena_close(arena);
}
