// Logs of trainers, and what was measured beside what is simulated.
#include <math.h>
#include <stdlib.h>

#include "sim/data/json.h"
#include "sim/data/trainer_log.h"
#include "tests/test.h"

#define JOB                                                                                                            \
    "--model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 1 --global-batch 64 --seq 1024 --software megatron"

static const TrainerLog *log_of(Arena *arena, const char *text) {
    return trainer_log_of_text(arena, "x.log", text, strlen(text));
}

// ---- What lines say.

TEST(lines_of_each_software_say_what_a_step_takes) {
    static const struct {
        const char *software, *line;
        double step_s, memory;
    } rows[] = {
        {"Megatron-LM",
         " [2026-08-20 10:11:12.123456] iteration       50/    1000 | consumed samples:        51200 | elapsed time "
         "per "
         "iteration (ms): 6123.4 | throughput per GPU (TFLOP/s/GPU): 712.3 | global batch size:  1024 | lm loss: "
         "2.345678E+00 |\n[Rank 0] (after 2 iterations) memory (MB) | allocated: 41234.50 | max allocated: 61234.50 | "
         "reserved: 65000.00 | max reserved: 65000.00\n",
         6.1234, 61234.5 * 1048576},
        {"Megatron-Bridge", "Step Time : 6.12s GPU utilization: 712.3MODEL_TFLOP/s/GPU\n", 6.12, 0},
        {"NeMo",
         "Training epoch 0, iteration 49/999 | lr: 0.00015 | global_batch_size: 1024 | global_step: 49 | "
         "reduced_train_loss: 2.346 | train_step_timing in s: 6.123 | TFLOPS_per_GPU: 712.3\n",
         6.123, 0},
        {"torchtitan",
         "[titan] 2026-08-20 10:11:12,345 - root - INFO - \033[31mstep: 10  \033[32mloss:  4.56789  \033[33mmemory: "
         "47.80GiB(60.12%)  \033[34mtps: 5,762  \033[36mtflops: 333.67  \033[35mmfu: 33.74%\033[39m\n",
         64 * 1024 / 8 / 5762.0, 47.8 * 1073741824},
        {"DeepSpeed",
         "[INFO] epoch=0/micro_step=100/global_step=10, RunningAvgSamplesPerSec=61.2, CurrSamplesPerSec=61.9, "
         "MemAllocated=12.34GB, MaxMemAllocated=45.67GB\n",
         64 / 61.9, 45.67 * 1073741824},
        {"DeepSpeed", "steps: 10 loss: 2.3457 iter time (s): 6.123 samples/sec: 167.238\n", 6.123, 0},
        {"Hugging Face Trainer",
         "{'train_runtime': 123.4567, 'train_samples_per_second': 41.234, 'train_steps_per_second': 0.644, "
         "'train_loss': 2.3457, 'epoch': 1.0}\n",
         1 / 0.644, 0},
        {"Hugging Face Trainer",
         "Loading checkpoint shards: 100%|####| 4/4 [00:05<00:00, 1.30s/it]\r\n  0%| | 0/1000 [00:00<?, ?it/s]\r  1%| "
         "| "
         "10/1000 [00:35<57:45, 3.50s/it]\r  2%| | 20/1000 [01:10<57:10, 3.50s/it]\r",
         3.5, 0},
        {"Lightning", "Epoch 0:  12%|#         | 12/1000 [00:34<47:00, 2.85s/it, v_num=0]\n", 8 * 2.85, 0},
        {"MaxText", "completed step: 10, seconds: 6.123, TFLOP/s/device: 300.1, Tokens/s/device: 8000.1, loss: 3.2\n",
         6.123, 0},
        {"nanoGPT", "iter 100: loss 3.2012, time 320.11ms, mfu 35.20%\n", 0.32011, 0},
        {"nanochat", "step 00010/21400 (0.05%) | loss: 3.2 | dt: 524.11ms | tok/sec: 1,000,123 | mfu: 47.3\n", 0.52411,
         0},
    };
    Arena *arena = arena_open();
    StepOfLog step = {.samples = 64, .tokens = 64 * 1024, .micro_batches = 8, .gpus = 8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const TrainerLog *log = log_of(arena, rows[i].line);
        EXPECT(log != NULL);
        if (!log) continue;
        EXPECT_TEXT(log->software, rows[i].software);
        EXPECT_NEAR(log->seconds * trainer_log_per_step(log, step), rows[i].step_s, 1e-9);
        EXPECT_NEAR(log->memory_bytes, rows[i].memory, 1e-3);
    }
    EXPECT(!log_of(arena, "nothing of the kind, iter 3, elapsed time per iteration (ms): soon\n"));
    arena_close(arena);
}

TEST(what_warms_up_is_left_out_and_what_stalls_is_counted) {
    Arena *arena = arena_open();
    static const double ms[] = {9000, 2000, 1000, 1010, 990, 1000, 4000, 1000};
    const char *text = "";
    for (int i = 0; i < 8; i++)
        text = arena_printf(arena, "%s iteration %d/ 8 | elapsed time per iteration (ms): %g |\n", text, i + 1, ms[i]);
    const TrainerLog *log = log_of(arena, text);
    EXPECT_INT(log->lines, 8);
    EXPECT_INT(log->left_out, 2);
    EXPECT_NEAR(log->seconds, 1, 1e-12);
    EXPECT_INT(log->stalls, 1);
    EXPECT_NEAR(log->stall_share, 3.0 / 20, 1e-12);
    EXPECT_NEAR(log->warm_share, 9.0 / 20, 1e-12);
    arena_close(arena);
}

// What a line says of its FLOP/s counts where its time does: neither while it warms up nor without a time.
TEST(a_logs_rates_are_those_of_the_lines_whose_times_count) {
    static const char *const ms[] = {"9000", "1000", "1000", "nan", "1000", "1000", "nan"};
    static const double rates[] = {10, 90, 92, 20, 94, 96, 30};
    Arena *arena = arena_open();
    const char *text = "";
    for (int i = 0; i < 7; i++)
        text = arena_printf(arena,
                            "%s iteration %d/ 7 | elapsed time per iteration (ms): %s | throughput per GPU "
                            "(TFLOP/s/GPU): %g |\n",
                            text, i + 1, ms[i], rates[i]);
    const TrainerLog *log = log_of(arena, text);
    EXPECT_INT(log->lines, 5);
    EXPECT_INT(log->left_out, 1);
    EXPECT_NEAR(log->tflops, 93, 1e-12);
    arena_close(arena);
}

TEST(the_arguments_that_a_log_lists_are_its_settings) {
    Arena *arena = arena_open();
    const TrainerLog *log = log_of(arena, "------------------------ arguments ------------------------\n"
                                          "  encoder_seq_length .............................. 4096\n"
                                          "  seq_length ...................................... 2048\n"
                                          "  tensor_model_parallel_size ...................... 4\n"
                                          "-------------------- end of arguments ---------------------\n"
                                          "  world_size ...................................... 8\n"
                                          " iteration 1/ 8 | elapsed time per iteration (ms): 100 |\n");
    EXPECT_INT(log->settings.count, 2);
    EXPECT_TEXT(log->settings.items[0].name, "seq_len");
    EXPECT_TEXT(log->settings.items[0].value, "2048");
    EXPECT_TEXT(log->settings.items[1].name, "tp");
    arena_close(arena);
}

// ---- The command.

static double number_at(const Json *json, const char *object, const char *key) {
    const Json *inner = json && object ? json_get(json, object) : json, *value = inner ? json_get(inner, key) : NULL;
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

// What `lockstep ARGUMENTS --json` answers; *status its exit code.
static const Json *answer_of(Arena *arena, const char *arguments, int *status) {
    char *out = arena_alloc(arena, 1 << 20);
    *status = test_shell(arena_printf(arena, "$LOCKSTEP %s --json 2>/dev/null", arguments), out, 1 << 20);
    return json_read_text(arena, "out", out, strlen(out), problems_create(arena));
}

// Five lines that say so, in a folder that goes with the command that reads them.
static const Json *answer_with_log(Arena *arena, const char *question, double step_s, int *status) {
    char folder[] = "/tmp/lockstep-check-XXXXXX", out[64];
    EXPECT(mkdtemp(folder) != NULL);
    FILE *file = fopen(arena_printf(arena, "%s/x.log", folder), "w");
    for (int i = 1; i <= 5; i++)
        fprintf(file, " iteration %d/ 5 | elapsed time per iteration (ms): %.9g |\n", i, 1e3 * step_s);
    fclose(file);
    const Json *answer = answer_of(arena, arena_printf(arena, "%s %s/x.log", question, folder), status);
    test_shell(arena_printf(arena, "rm -r %s", folder), out, sizeof out);
    return answer;
}

TEST(a_step_as_predicted_is_inside_and_one_far_off_is_a_no) {
    Arena *arena = arena_open();
    int status;
    double step = number_at(answer_of(arena, "run " JOB, &status), "step_time_s", "p50");
    const Json *same = answer_with_log(arena, "check " JOB " --log", step, &status);
    EXPECT_INT(status, 0);
    EXPECT(json_get(same, "within")->boolean);
    EXPECT_INT(json_get(same, "explanations") ? json_get(same, "explanations")->count : 0, 0);
    EXPECT_NEAR(number_at(same, "lost", "share"), 0, 1e-6);
    const Json *slow = answer_with_log(arena, "check " JOB " --log", 4 * step, &status);
    EXPECT_INT(status, 3);
    EXPECT(!json_get(slow, "within")->boolean);
    EXPECT_NEAR(number_at(slow, "lost", "slower_steps"), 0.75, 1e-6);
    answer_of(arena, "check " JOB " --log README.md", &status);
    EXPECT_INT(status, 4);
    arena_close(arena);
}

TEST(the_setting_that_differs_is_found) {
    static const struct {
        const char *other, *what;
    } cases[] = {{"--attention plain", "attention without FlashAttention"},
                 {"--recompute full", "all activations computed again"}};
    Arena *arena = arena_open();
    int status;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *base =
            "--model gpt3-6.7b --node dgx-h100 --gpus 8 --micro-batch 4 --global-batch 64 --tp 2 --zero 1 "
            "--software \"megatron 2024-06\"";
        const Json *run = answer_of(arena, arena_printf(arena, "run %s %s", base, cases[i].other), &status);
        double step = number_at(run, "step_time_s", "p50");
        const Json *check = answer_with_log(arena, arena_printf(arena, "check %s --log", base), step, &status);
        const Json *tried = json_get(check, "explanations");
        EXPECT(tried && tried->count > 0);
        if (!tried || tried->count == 0) continue;
        EXPECT_TEXT(json_get(&tried->items[0], "what")->text, cases[i].what);
        EXPECT_NEAR(number_at(&tried->items[0], NULL, "step_s") / step, 1, 0.02);
    }
    arena_close(arena);
}

TEST(a_log_anchors_as_its_median_typed_does) {
    Arena *arena = arena_open();
    int status;
    const Json *by_log = answer_with_log(arena, "run " JOB " --anchor", 0.4, &status),
               *typed = answer_of(arena, "run " JOB " --measured 8=0.4s", &status);
    EXPECT_NEAR(number_at(by_log, "step_time_s", "p50"), number_at(typed, "step_time_s", "p50"), 0);
    EXPECT_NEAR(number_at(by_log, "step_time_s", "p50"), 0.4, 0.01);
    arena_close(arena);
}
