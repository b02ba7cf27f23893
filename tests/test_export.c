// Scripts that run a job: what goes out comes in as the same job, in every software and for every launcher.
#include <stdlib.h>

#include "models/hardware/hardware.h"
#include "scenarios/export/export.h"
#include "scenarios/import/import.h"
#include "scenarios/study/study.h"
#include "scenarios/study/study_options.h"
#include "sim/base/random.h"
#include "sim/system/file.h"
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

// The job that a text says, with these options in place of what it says; NULL after problems.
static const StudySpec *study_again(Arena *arena, const char *name, const char *text, const char *options,
                                    Problems *problems) {
    OptionWords words = words_of_text(arena, options);
    ImportAsked asked = {0};
    for (int i = 0; i + 1 < words.count; i++) {
        if (strcmp(words.items[i], "--node") == 0) asked.node = words.items[i + 1];
        if (strcmp(words.items[i], "--gpus") == 0) asked.gpus = words.items[i + 1];
    }
    const Import *import = import_text(arena, name, text, strlen(text), &asked, problems);
    for (int i = 0; import && i < import->words.count; i++) {
        const char *option = import->words.items[i].option;
        bool typed = false;
        for (int w = 1; w < words.count; w++) {
            size_t letters = strcspn(words.items[w], "=");
            typed = typed || (strncmp(words.items[w], "--", 2) == 0 && strlen(option) == letters - 2 &&
                              strncmp(words.items[w] + 2, option, letters - 2) == 0);
        }
        if (!typed)
            option_words_add(arena, &words, arena_printf(arena, "--%s=%s", option, import->words.items[i].value));
    }
    return import ? study_of(arena, &words, problems) : NULL;
}

// The digest of the job that the file says.
static uint64_t digest_again(Arena *arena, const ExportFile *file, Problems *problems) {
    const StudySpec *study = study_again(arena, file->name, file->text, "", problems);
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
    OptionWords words = words_of_text(arena, "--model llama-2-7b --node dgx-b200 --gpus 8 --seq 4096 --global-batch 64 "
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

// ---- What is lost is told.

#define STAGED "--model llama-3-8b --node dgx-h100 --gpus 16 --fabric ib-ndr400 --global-batch 64 --micro-batch 1 "

static bool is_said_in(const char *options, const char *flag) {
    char option[80];
    snprintf(option, sizeof option, "--%s ", flag);
    return strstr(options, option) != NULL;
}

static bool tells(const ExportFile *file, const char *key) {
    for (int i = 0; i < file->lost.count; i++)
        if (strcmp(file->lost.items[i].key, key) == 0) return true;
    return false;
}

// Every setting of a job, by its example, in all software: what is read in again is the same job, or the setting is
// named.
LONG_TEST(8, no_setting_is_lost_on_the_way_out_unsaid) {
    static const char *const bases[][2] = {{"megatron", STAGED "--zero 1 --tp 2 --pp 4"},
                                           {"nemo", STAGED "--zero 1 --tp 2 --pp 4"},
                                           {"bridge", STAGED "--zero 1 --tp 2 --pp 4"},
                                           {"torchtitan", STAGED "--zero 0 --tp 2 --pp 4"},
                                           {"accelerate", STAGED "--zero 3"}};
    int tried = 0, lost = 0, exported = 0;
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
        for (int o = 0; o < JOB_OBJECT_COUNT; o++)
            for (int f = 0; f < job_objects[o].field_count; f++) {
                const Field *field = &job_objects[o].fields[f];
                const char *flag = field->flag, *example = field->example;
                if (!flag || !example || strcmp(flag, "software") == 0 || strcmp(flag, "fidelity") == 0 ||
                    is_said_in(bases[b][1], flag))
                    continue;
                Arena *arena = arena_open();
                Problems *problems = problems_create(arena);
                char *plain = arena_copy_text(arena, example), *to = plain;
                for (const char *at = example; *at; at++)
                    if (!strchr("\"{} ", *at)) *to++ = *at;
                *to = '\0';
                OptionWords words = words_of_text(arena, arena_printf(arena, "%s --%s=%s", bases[b][1], flag, plain));
                const StudySpec *study = study_of(arena, &words, problems);
                ExportFiles files = {0};
                tried++;
                if (study && export_job(arena, study, NULL, bases[b][0], &files, problems)) {
                    exported++;
                    bool same = digest_again(arena, &files.items[0], problems) == files.items[0].point.digest;
                    bool world = o == JOB_ROUTING || o == JOB_DATA || o == JOB_CHECKPOINT ||
                                 strcmp(flag, "jitter") == 0 || strcmp(flag, "straggler") == 0 ||
                                 strcmp(flag, "expert-skew") == 0;
                    lost += files.items[0].lost.count > 0;
                    const ExportFile *file = &files.items[0];
                    bool told = b == 0 ? tells(file, flag) : file->lost.count > 0; // in others more is lost
                    if (!same && !world && !(told && file->again.digest != file->point.digest))
                        test_fail(__FILE__, __LINE__, "--%s=%s as %s: another job comes in, and it is not said", flag,
                                  plain, bases[b][0]);
                    bool as_much = file->again.memory_peak_bytes == file->point.memory_peak_bytes;
                    if (same && as_much && file->again.ran)
                        test_fail(__FILE__, __LINE__, "--%s=%s as %s: another job is said to come in", flag, plain,
                                  bases[b][0]);
                }
                arena_close(arena);
            }
    EXPECT(tried > 200 && exported > 100 && lost > 20);
}

static const char *problem_of_export(Arena *arena, const char *job, const char *kinds) {
    Problems *problems = problems_create(arena);
    OptionWords words = words_of_text(arena, job);
    ExportFiles files = {0};
    const StudySpec *study = study_of(arena, &words, problems);
    if (study) export_job(arena, study, NULL, kinds, &files, problems);
    return problem_count(problems) ? problem_at(problems, 0)->text : "";
}

// A degree that the file cannot say makes another job, and stages that it leaves unequal none at all.
TEST(a_layout_that_software_cannot_start_is_not_written) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(problem_of_export(arena, STAGED "--zero 1 --tp 1 --pp 4", "accelerate"), "has no word for pp=4");
    EXPECT_CONTAINS(problem_of_export(arena, STAGED "--zero 1 --tp 2 --pp 4", "deepspeed"), "has no word for ");
    const char *uneven = arena_printf(arena, "%s --zero 1 --tp 2 --pp 2 --vpp 3", STAGED);
    EXPECT_CONTAINS(problem_of_export(arena, uneven, "megatron"), "32 layers do not divide by 2 stages of 3 parts");
    EXPECT_CONTAINS(problem_of_export(arena, uneven, "nemo"), "32 layers do not divide by 2 stages of 3 parts");
    arena_close(arena);
}

// Adapters on weights of 4 bits: both are told, and that the file as it stands needs more than there is.
TEST(what_a_file_leaves_out_is_told_where_it_does_not_run_without_it) {
    char out[1 << 14];
    EXPECT_INT(test_shell("folder=$(mktemp -d) && $LOCKSTEP export --model llama-2-70b --seq 2048 --global-batch 32 "
                          "--micro-batch 1 --zero 3 --recompute full --lora-rank 16 --nf4-weights --node rtx4090-8gpu "
                          "--gpus 8 --export accelerate --software transformers --into $folder; rm -r $folder",
                          out, sizeof out),
               0);
    EXPECT_CONTAINS(out, "lora-rank=16");
    EXPECT_CONTAINS(out, "nf4-weights=true");
    EXPECT_CONTAINS(out, "and does not run");
}

// No file says how machines and data behave.
TEST(what_is_of_machines_and_data_is_to_be_typed_beside_the_file) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    OptionWords words = words_of_text(arena, STAGED "--zero 1 --tp 2 --jitter 0.1 --straggler 1.3");
    ExportFiles files = {0};
    EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, "megatron", &files, problems));
    EXPECT_INT(files.items[0].lost.count, 0);
    EXPECT_INT(files.items[0].beside.count, 2);
    arena_close(arena);
}

TEST(a_schedule_that_software_has_not_is_told_with_the_step_that_comes_instead) {
    static const char *const schedules[] = {"dualpipe", "zb-v", "zb-h1"};
    char out[1 << 14];
    Arena *arena = arena_open();
    for (int i = 0; i < 3; i++) {
        Problems *problems = problems_create(arena);
        const char *job = arena_printf(arena, "%s --zero 1 --tp 2 --pp 4 --schedule ", STAGED);
        OptionWords words = words_of_text(arena, arena_printf(arena, "%s%s", job, schedules[i])),
                    usual = words_of_text(arena, arena_printf(arena, "%s1f1b --software megatron-lm", job));
        ExportFiles files = {0};
        EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, "megatron", &files, problems));
        EXPECT(tells(&files.items[0], "schedule"));
        EXPECT_INT(files.items[0].lost.count, 1);
        uint64_t instead = digest_of(arena, study_of(arena, &usual, problems), problems);
        EXPECT(instead && files.items[0].again.digest == instead);
    }
    EXPECT_INT(test_shell("folder=$(mktemp -d) && $LOCKSTEP export " STAGED
                          "--tp 2 --pp 4 --schedule dualpipe --export megatron --into $folder; rm -r $folder",
                          out, sizeof out),
               0);
    EXPECT_CONTAINS(out, "! megatron.sh does not say schedule=dualpipe: set it by hand; as it stands a\n  step takes");
    arena_close(arena);
}

TEST(a_restart_of_what_is_written_goes_on_where_the_last_checkpoint_was) {
    static const char *const pairs[][2] = {{"megatron", "--save checkpoints\n    --load checkpoints\n"},
                                           {"bridge", "checkpoint.load=checkpoints\n"},
                                           {"nemo", "resume_if_exists: true\n"}};
    Arena *arena = arena_open();
    for (int i = 0; i < 3; i++) {
        Problems *problems = problems_create(arena);
        OptionWords words = words_of_text(arena, STAGED "--tp 2");
        ExportFiles files = {0};
        EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, pairs[i][0], &files, problems));
        EXPECT_CONTAINS(files.items[0].text, pairs[i][1]);
    }
    arena_close(arena);
}

// 12 GPUs on nodes of 8 are 8 and 4: no launcher starts as many ranks on each, though 2 x 6 are 12.
TEST(gpus_that_do_not_fill_their_nodes_are_refused_as_such) {
    static const char *const gpus[][2] = {{"60", "60 GPUs do not fill nodes of 8: the last would have 4"},
                                          {"12", "12 GPUs do not fill nodes of 8: the last would have 4"}};
    Arena *arena = arena_open();
    for (int i = 0; i < 2; i++) {
        Problems *problems = problems_create(arena);
        OptionWords words = words_of_text(
            arena, arena_printf(arena, "--model llama-2-7b --node dgx-h100 --gpus %s --global-batch 60", gpus[i][0]));
        ExportFiles files = {0};
        EXPECT(!export_job(arena, study_of(arena, &words, problems), NULL, "megatron", &files, problems));
        EXPECT_CONTAINS(problem_at(problems, 0)->text, gpus[i][1]);
    }
    Problems *problems = problems_create(arena);
    OptionWords words = words_of_text(arena, "--model gpt2-1.5b --node dgx-h100 --gpus 4 --global-batch 64");
    ExportFiles files = {0};
    EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, "megatron", &files, problems));
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

// ---- Scripts as people have them: arguments in arrays, in a text of many lines, and in one whose lines go on.

#define CHANGES "tests/data/change/"

typedef struct Change {
    const char *file, *options, *changes[4], *gone[3]; // "old -> new", or what is there; lines that are no longer
} Change;

static const Change made[] = {
    {"array.sbatch", "--precision fp8", {"    --bf16\n", "    --fp8-format hybrid\n"}, {"trainer.precision"}},
    {"array.sbatch",
     "--precision fp8 --fp8-recipe mxfp8",
     {"    --bf16\n", "    --fp8-format hybrid\n", "    --fp8-recipe mxfp8\n"},
     {0}},
    {"array.sbatch", "--precision fp16", {"    --fp16\n"}, {"--bf16"}},
    {"array.sbatch", "--gpus 128", {"#SBATCH --nodes=16\n", "--nnodes $SLURM_NNODES\n"}, {"--nodes=8"}},
    {"array.sbatch", "--gpus 32 --tp 8 --pp 1", {"#SBATCH --nodes=4\n", "model-parallel-size 8\n"}, {"--nodes=8"}},
    {"array.sbatch",
     "--recompute selective",
     {"    --recompute-granularity selective\n"},
     {"recompute-method", "recompute-num-layers"}},
    {"array.sbatch",
     "--recompute selective --recompute-modules core_attn,mlp",
     {"    --recompute-modules core_attn mlp\n"},
     {"recompute-method"}},
    {"array.sbatch", "--vpp 5", {"    --num-virtual-stages-per-pipeline-rank 5\n"}, {0}},
    {"array.sbatch", "--zero 0 --overlap-grad-reduce=false", {0}, {"distributed-optimizer", "--overlap-grad-reduce"}},
    {"quoted.sbatch", "--recompute none", {"    --bf16\n    --use-distributed-optimizer\n"}, {"recompute"}},
    {"quoted.sbatch", "--recompute selective", {"granularity selective\n"}, {"recompute-method", "num-layers 1"}},
    {"quoted.sbatch", "--micro-batch 1", {"\nMICRO_BATCH=1\n", "--micro-batch-size $MICRO_BATCH\n"}, {0}},
    {"quoted.sbatch", "--tp 8", {"\nTP=8\n", "--tensor-model-parallel-size $TP\n"}, {0}},
    {"quoted.sbatch", "--tp 1", {"\nTP=1\n"}, {"--sequence-parallel"}},
    {"quoted.sbatch", "--seq 2048", {"\nSEQ_LEN=2048\n"}, {0}},
    {"quoted.sbatch", "--precision fp8", {"    --bf16\n", "    --fp8-format hybrid\n"}, {0}},
    {"quoted.sbatch", "--gpus 128", {"#SBATCH --nodes=16\n", "\nNNODES=16\n"}, {"=8\n#SBATCH"}},
    {"continued.sh", "--tp 4", {"TP_SIZE=${TP_SIZE:-4}\nTP=$TP_SIZE\n"}, {0}},
    {"continued.sh", "--gpus 32", {"\nNNODES=${NNODES:-4}\n"}, {0}},
    {"continued.sh", "--pp 1 --vpp 1", {"--split 949,50,1\"\n"}, {"virtual-pipeline"}},
    {"continued.sh", "--vpp 2", {"--num-layers-per-virtual-pipeline-stage 6\"\n"}, {0}},
    {"continued.sh", "--pp 4", {"--pipeline-model-parallel-size 4 \\\n", "pipeline-stage 1"}, {0}},
    {"continued.sh",
     "--recompute full",
     {"    --recompute-granularity full \\\n", "    --recompute-method uniform \\\n", "--recompute-num-layers 1 \\\n"},
     {"--recompute-activations"}},
    {"continued.sh", "--zero 0", {"    --distributed-backend nccl\necho done\n"}, {"distributed-optimizer"}},
    {"continued.sh", "--precision bf16", {"    --bf16 \\\n", "    --recompute-activations \\\n\"\n"}, {"--fp16"}},
};

static const char *text_of_file(Arena *arena, const char *name) {
    size_t bytes;
    const char *text =
        file_read(arena, arena_printf(arena, CHANGES "%s", name), 1 << 16, &bytes, problems_create(arena));
    return text ? text : "";
}

// Each is sound to a shell, and is read in again as the job that it said with the options in place.
TEST(a_script_is_changed_where_it_says_it_and_is_the_job_that_was_asked_for) {
    char out[1 << 12], folder[] = "/tmp/lockstep-change-XXXXXX";
    EXPECT(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const Change *c = &made[i];
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const char *before = text_of_file(arena, c->file), *text = changed(arena, before, c->options, c->file);
        const char *options = arena_printf(arena, "--node dgx-h100 %s", c->options);
        const StudySpec *wanted = study_again(arena, c->file, before, options, problems),
                        *now = study_again(arena, c->file, text, "--node dgx-h100", problems);
        bool same = wanted && now && digest_of(arena, wanted, problems) == digest_of(arena, now, problems);
        if (!same) test_fail(c->file, 0, "%s: another job: %s", c->options, text);
        for (int k = 0; k < 4 && c->changes[k]; k++) EXPECT_CONTAINS(text, c->changes[k]);
        for (int k = 0; k < 3 && c->gone[k]; k++)
            if (strstr(text, c->gone[k])) test_fail(c->file, 0, "%s: %s is still there", c->options, c->gone[k]);
        FILE *file = fopen(arena_printf(arena, "%s/a.sh", folder), "w");
        fputs(text, file);
        fclose(file);
        EXPECT_INT(test_shell(arena_printf(arena, "bash -n %s/a.sh", folder), out, sizeof out), 0);
        arena_close(arena);
    }
    char remove[80];
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    EXPECT_INT(test_shell(remove, out, sizeof out), 0);
}

TEST(what_cannot_be_changed_is_refused_with_its_line_and_why) {
    Arena *arena = arena_open();
    const char *quoted = text_of_file(arena, "quoted.sbatch"), *array = text_of_file(arena, "array.sbatch");
    EXPECT_CONTAINS(changed(arena, array, "--gpus 100", "a.sbatch"),
                    "a.sbatch:3: error: --nodes cannot be changed: with 100 GPUs in place of 64");
    EXPECT_CONTAINS(changed(arena, array, "--schedule dualpipe", "a.sbatch"), "--schedule dualpipe cannot be said");
    char *computed = arena_copy_text(arena, quoted), *tp = strstr(computed, "$TP\n");
    memcpy(tp, "$PP\n", 4); // one variable says two degrees
    EXPECT_CONTAINS(changed(arena, computed, "--tp 8", "a.sbatch"), "--pp would change with it");
    arena_close(arena);
}

// Words of an array in quotes of their own, a text of one option, and what is left of a line.
TEST(options_come_and_go_with_their_quotes) {
    static const char
        head[] = "#!/bin/bash\n",
        rest[] =
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
            "--seq-length 1024 --vocab-size 50304 --micro-batch-size 2 --global-batch-size 64 ";
    static const struct {
        const char *before, *call, *options, *after;
    } rows[] = {
        {"A=(\"--bf16\" \"--tensor-model-parallel-size\" \"2\")\n", "\"${A[@]}\"", "--tp 4",
         "A=(\"--bf16\" \"--tensor-model-parallel-size\" \"4\")\n"},
        {"A=(\"--bf16\" '--recompute-granularity' 'selective' \"--swiglu\")\n", "\"${A[@]}\"", "--recompute none",
         "A=(\"--bf16\" \"--swiglu\")\n"},
        {"A=(\"--bf16\" \"--recompute-granularity=selective\")\n", "\"${A[@]}\"", "--recompute none",
         "A=(\"--bf16\")\n"},
        {"A=(\"--bf16\" \"--overlap-grad-reduce\")\n", "\"${A[@]}\"", "--overlap-grad-reduce=false",
         "A=(\"--bf16\")\n"},
        {"A=\"--recompute-activations\"\n", "--bf16 $A", "--recompute none", "A=\n"},
        {"A=(\"--bf16\")\n", "\"${A[@]}\"", "--precision fp16", "A=()\n"},
        {"# TP=2 is for small ones\nTP=2\n", "--bf16 --tensor-model-parallel-size $TP", "--tp 4",
         "# TP=2 is for small ones\nTP=4\n"},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *script = arena_printf(arena, "%s%s%s%s\n", head, rows[i].before, rest, rows[i].call);
        EXPECT_CONTAINS(changed(arena, script, rows[i].options, "a.sh"), rows[i].after);
    }
    arena_close(arena);
}

// A list of Python is no text of a shell.
TEST(a_launcher_in_python_is_left_alone_where_words_would_come_or_go) {
    Arena *arena = arena_open();
    static const char script[] =
        "import subprocess\nargs = [\"--num-layers\", \"24\", \"--hidden-size\", \"1024\", \"--num-attention-heads\", "
        "\"16\", \"--seq-length\", \"1024\", \"--micro-batch-size\", \"2\", \"--bf16\", \"--recompute-activations\"]\n"
        "subprocess.run([\"torchrun\", \"--nproc_per_node\", \"8\", \"pretrain_gpt.py\"] + args)\n";
    EXPECT_CONTAINS(changed(arena, script, "--recompute none", "a.py"), "it would have to go");
    EXPECT_CONTAINS(changed(arena, script, "--tp 2", "a.py"), "it does not say tensor_model_parallel_size");
    arena_close(arena);
}

// What a plan answers is what it writes: its GPUs too.
TEST(a_plan_writes_a_file_for_the_gpus_of_its_answer) {
    char out[1 << 14];
    EXPECT_INT(test_shell("folder=$(mktemp -d) && $LOCKSTEP plan " CHANGES
                          "array.sbatch --node dgx-h100 --gpus 128 --precision fp8 --export change --into $folder "
                          ">/dev/null && cat $folder/array.sbatch; rm -r $folder",
                          out, sizeof out),
               0);
    EXPECT_CONTAINS(out, "#SBATCH --nodes=16\n");
    EXPECT_CONTAINS(out, "    --bf16\n");
    EXPECT_CONTAINS(out, "    --fp8-format hybrid\n");
    EXPECT_INT(test_shell("folder=$(mktemp -d) && $LOCKSTEP plan " CHANGES
                          "array.sbatch --node dgx-h100 --gpus 64 --pp 1 --recompute none --export change --into "
                          "$folder >/dev/null && cat $folder/array.sbatch; rm -r $folder",
                          out, sizeof out),
               0);
    EXPECT_CONTAINS(out, "--pipeline-model-parallel-size 1\n");
    EXPECT(!strstr(out, "--recompute"));
}

// Its own script, too.
TEST(a_script_that_was_written_is_changed_in_the_words_of_its_software) {
    static const char *const targets[][2] = {{"megatron", "    --fp8-format hybrid\n"},
                                             {"bridge", "mixed_precision=bf16_with_fp8_current_scaling_mixed\n"}};
    Arena *arena = arena_open();
    for (int i = 0; i < 2; i++) {
        Problems *problems = problems_create(arena);
        OptionWords words = words_of_text(arena, STAGED "--tp 2 --recompute full");
        ExportFiles files = {0};
        const char *kinds = arena_printf(arena, "%s,sbatch", targets[i][0]);
        EXPECT(export_job(arena, study_of(arena, &words, problems), NULL, kinds, &files, problems));
        const char *options = "--precision fp8 --fp8-recipe tensorwise --recompute none --gpus 32";
        const char *text = changed(arena, files.items[0].text, options, "a.sbatch");
        EXPECT_CONTAINS(text, targets[i][1]);
        EXPECT_CONTAINS(text, "#SBATCH --nodes=4\n");
        EXPECT_CONTAINS(text, "--nnodes 4 ");
        EXPECT(!strstr(text, "recompute"));
    }
    arena_close(arena);
}

// 94 layers over 8 stages: Megatron starts them where the embedding and the head count as a layer each, and a plan for
// it offers them so.
LONG_TEST(2, layers_divide_with_the_embedding_and_the_head) {
    static char said[1 << 12];
    static const char asked[] =
        "DIR=$(mktemp -d); ON='--node dgx-h200 --fabric ib-ndr400'; "
        "JOB=\"--model qwen3-235b-a22b --seq 4096 --gpus 256 --software megatron --global-batch 512\"; "
        "CHOSEN='--pp 8 --vpp 6 --cp 2 --ep 8 --zero 1 --micro-batch 1'; "
        "$LOCKSTEP export $JOB $ON $CHOSEN --export megatron --into $DIR 2>&1; "
        "ENDS='--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split'; "
        "$LOCKSTEP export $JOB $ON $CHOSEN $ENDS --export megatron --into $DIR >$DIR/told; "
        "for asked in \"$JOB $CHOSEN $ENDS\" $DIR/megatron.sh; do "
        "$LOCKSTEP run $asked $ON --json | grep -o '\"p50\": [0-9.e-]*' | head -1; done; rm -r $DIR; "
        "echo PLANNED $($LOCKSTEP plan $JOB $ON $CHOSEN --tokens 1B -j 1 --json | grep -o -e --account-for-emb[a-z-]*)";
    EXPECT_INT(test_shell(asked, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "94 layers do not divide by 8 stages of 6 parts");
    EXPECT_CONTAINS(said,
                    "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split divides them");
    const char *first = strstr(said, "\"p50\""), *second = first ? strchr(first, '\n') : NULL;
    EXPECT(second && strncmp(first, second + 1, (size_t)(second - first)) == 0); // one step
    EXPECT_CONTAINS(said, "PLANNED --account-for-embedding-in-pipeline-split");
}
