// Lessons that rebuild a built-in strategy as a rank program: both take the same time, to the picosecond.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/fold.h"
#include "tests/script.h"
#include "tests/test.h"

static SimTime time_by_hand(Loaded *loaded) {
    const System *system = program_system(loaded->arena, loaded->scenario->items[0].program, loaded->problems);
    EXPECT(system != NULL);
    if (!system) return -1;
    const ProgramSpec *program = loaded->scenario->items[0].program;
    RunOptions options = {.seed = 1};
    System run = program->as_packets ? *system : fold_system(loaded->arena, system).system;
    if (program->as_packets) options.carrier = program_carrier(loaded->arena, program, system, loaded->problems);
    RunResult folded = run_system(loaded->arena, &run, &options);
    EXPECT_INT(folded.deadlocked_count, 0);
    return folded.end;
}

static SimTime time_built_in(Loaded *loaded) {
    const StudySpec *study = loaded->scenario->items[1].study;
    const Record *record = study_run(loaded->arena, study, loaded->problems);
    EXPECT(record && record->points[0].ran);
    return record ? step_ticks(record->points[0].step_p50_s) : -1;
}

// `arguments` are the script's own options, up to eight.
static void expect_equal(const char *lesson, const char *const *arguments, int count) {
    Loaded loaded = {.arena = arena_open()};
    char file[128], *argv[9] = {arena_copy_text(loaded.arena, "lockstep")};
    snprintf(file, sizeof file, "scenarios/lessons/%s_twin.lua", lesson);
    for (int i = 0; i < count; i++) argv[1 + i] = arena_copy_text(loaded.arena, arguments[i]);
    loaded.problems = problems_create(loaded.arena);
    loaded.usage = problems_create(loaded.arena);
    ScenarioRequest request = {.file = file, .argc = count + 1, .argv = argv};
    loaded.scenario = scenario_load(loaded.arena, test_catalogue(), &request, loaded.problems, loaded.usage);
    problems_print(loaded.problems, stdout);
    problems_print(loaded.usage, stdout);
    EXPECT(loaded.scenario && loaded.scenario->item_count == 2);
    if (loaded.scenario && loaded.scenario->item_count == 2) {
        SimTime by_hand = time_by_hand(&loaded), built_in = time_built_in(&loaded);
        EXPECT(by_hand > 0);
        EXPECT_INT(by_hand, built_in);
    }
    arena_close(loaded.arena);
}

#define EQUAL(lesson, ...)                                                                                             \
    do {                                                                                                               \
        const char *const arguments_[] = {__VA_ARGS__};                                                                \
        expect_equal(lesson, arguments_, (int)(sizeof arguments_ / sizeof *arguments_));                               \
    } while (0)

TEST(ddp_by_hand_is_the_built_in_to_the_picosecond) {
    EQUAL("ddp", "--gpus=16");
    EQUAL("ddp", "--gpus=7", "--bucket-mib=3", "--batches=1");
    EQUAL("ddp", "--gpus=2", "--bucket-mib=1000", "--batches=3");
    EQUAL("ddp", "--gpus=24", "--model=gpt2-355m");
}

TEST(fsdp_by_hand_is_the_built_in_to_the_picosecond) {
    EQUAL("fsdp", "--gpus=16");
    EQUAL("fsdp", "--gpus=2", "--zero=2");
    EQUAL("fsdp", "--gpus=12", "--model=gpt2-124m");
}

TEST(pipelines_by_hand_are_the_built_in_to_the_picosecond) {
    EQUAL("one_f_one_b", "--stages=4");
    EQUAL("one_f_one_b", "--stages=2", "--batches=1");
    EQUAL("one_f_one_b", "--stages=10", "--batches=13");
    EQUAL("interleaved", "--stages=4");
    EQUAL("interleaved", "--stages=2", "--chunks=6", "--rounds=1");
    EQUAL("interleaved", "--stages=10", "--chunks=2", "--rounds=3");
}

TEST(ring_attention_by_hand_is_the_built_in_to_the_picosecond) {
    EQUAL("ring_attention", "--gpus=16");
    EQUAL("ring_attention", "--gpus=4", "--cp=2", "--seq-len=4096");
    EQUAL("ring_attention", "--gpus=16", "--cp=16", "--seq-len=16384");
}

TEST(experts_by_hand_are_the_built_in_to_the_picosecond) {
    EQUAL("expert_parallel", "--gpus=16");
    EQUAL("expert_parallel", "--gpus=8", "--skew=1.5");
    EQUAL("expert_parallel", "--gpus=32", "--ep=8", "--skew=0.3");
}

TEST(strategies_by_hand_are_the_built_in_message_by_message_too) {
    EQUAL("ddp", "--gpus=16", "--fidelity=flow");
    EQUAL("ddp", "--gpus=16", "--fidelity=packet");
    EQUAL("fsdp", "--gpus=12", "--fidelity=flow");
    EQUAL("ring_attention", "--gpus=8", "--fidelity=flow");
    EQUAL("expert_parallel", "--gpus=8", "--fidelity=flow");
}

// The check can fail: a pipeline by hand with another order takes another time.
TEST(another_bucket_size_takes_another_time) {
    SimTime times[2];
    static const char *const sizes[] = {"--bucket-mib=1", "--bucket-mib=1000"};
    for (int i = 0; i < 2; i++) {
        Loaded loaded = {.arena = arena_open()};
        loaded.problems = problems_create(loaded.arena);
        loaded.usage = problems_create(loaded.arena);
        char *argv[] = {arena_copy_text(loaded.arena, "lockstep"), arena_copy_text(loaded.arena, sizes[i])};
        ScenarioRequest request = {.file = "scenarios/lessons/ddp_twin.lua", .argc = 2, .argv = argv};
        loaded.scenario = scenario_load(loaded.arena, test_catalogue(), &request, loaded.problems, loaded.usage);
        EXPECT(loaded.scenario != NULL);
        times[i] = loaded.scenario ? time_by_hand(&loaded) : 0;
        arena_close(loaded.arena);
    }
    EXPECT(times[0] != times[1]);
}

// ---- sim.blocks.

TEST(blocks_say_what_a_job_does_and_refuse_what_cannot_be) {
    Loaded loaded = load_returning(
        "(function() local c = sim.cluster { node = 'dgx-a100' }\n"
        "local j = sim.training { model = 'gpt2-124m', batch = { micro = 1, accumulation = 4 }, parallel = { pp = 4 }, "
        "schedule = 'zb-h1' }\n"
        "local b = sim.blocks { on = c, run = j }\n"
        "assert(#b == 14 and #b.chunks == 4 and b.chunks[4][2] == 14 and b.micro_batches == 4 and b.dp == 2)\n"
        "assert(b[2].forward.seconds > 0 and b[2].backward_input.seconds < b[2].backward.seconds)\n"
        "assert(b.optimizer(1e9) > b.optimizer(1e6))\n"
        "return sim.study { on = c, run = j } end)()",
        NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    unload(&loaded);
    loaded = load_returning("sim.blocks { on = sim.cluster { node = 'dgx-a100' }, run = sim.training { model = "
                            "'gpt2-124m', batch = { micro = 1 }, parallel = { tp = 5 } } }",
                            NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "do not divide by tp 5");
    unload(&loaded);
    loaded = load_returning("sim.blocks { on = sim.cluster { nodes = { { node = 'dgx-a100', gpus = 8 }, { node = "
                            "'dgx-h100', gpus = 8 } }, fabric = 'ib-ndr400' }, run = sim.training { model = "
                            "'gpt2-124m', batch = { micro = 1 } } }",
                            NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "several types");
    unload(&loaded);
}

// ---- Fields of parallelism, as a job holds them.

TEST(what_a_script_says_of_parallelism_reaches_the_job) {
    Loaded loaded = load_returning(
        "sim.study { on = sim.cluster { node = 'dgx-a100' }, run = sim.training { model = 'mixtral-8x7b', batch = { "
        "micro "
        "= 1 }, schedule = 'dualpipe', strategy = 'horovod', horovod = { cycle = '5 ms', fusion = '64 MiB' }, no_sync "
        "= "
        "false, prefetch = 0, parallel = { pp = 2, layers = { 15, 17 }, head_counts = true, cp_exchange = 'ulysses' }, "
        "offload = { optimizer = 'nvme', parameters = 'host' }, routing = { histogram = { 1, 2, 3 } } } }",
        NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    const TrainingSpec *job = loaded.scenario ? &loaded.scenario->items[0].study->training : NULL;
    EXPECT(job != NULL);
    if (job) {
        EXPECT_INT(job->schedule, SCHEDULE_DUALPIPE);
        EXPECT_INT(job->strategy, STRATEGY_HOROVOD);
        EXPECT_NEAR(job->horovod_cycle_seconds, 5e-3, 1e-12);
        EXPECT_NEAR(job->horovod_fusion_bytes, 64 << 20, 0);
        EXPECT(job->syncs_always && job->layout.head_counts && !job->layout.embedding_counts);
        EXPECT_INT(job->prefetch, -1);
        EXPECT_INT(job->layout.stage_layers_count, 2);
        EXPECT_INT(job->layout.stage_layers[1], 17);
        EXPECT_INT(job->layout.context, CONTEXT_ULYSSES);
        EXPECT_INT(job->offload_optimizer, OFFLOAD_NVME);
        EXPECT_INT(job->offload_parameters, OFFLOAD_HOST);
        EXPECT_INT(job->routing.kind, ROUTING_HISTOGRAM);
        EXPECT_INT(job->routing.token_count, 3);
    }
    unload(&loaded);
    loaded = load_returning("sim.training { model = 'mixtral-8x7b', batch = { micro = 1 }, routing = { zipf = 1, "
                            "dirichlet = 1 } }",
                            NULL);
    EXPECT(any_problem_contains(&loaded, "in one way"));
    unload(&loaded);
}

TEST(run_and_plan_take_the_schedules_and_refuse_with_4) {
    static char text[20000];
    EXPECT_INT(
        test_shell("$LOCKSTEP plan --model gpt3-1.3b --tokens 1B --node dgx-a100 --fabric ib-hdr200 --gpus 8 --pp 4 "
                   "--global-batch 64 --schedule zb-v --json",
                   text, sizeof text),
        0);
    EXPECT_CONTAINS(text, "\"vpp\": 2");
    EXPECT_INT(
        run_script_text("local sim = require 'lockstep'\nreturn sim.study { on = sim.cluster { node = 'dgx-a100' },\n"
                        "run = sim.training { model = 'gpt2-124m', batch = { micro = 1, accumulation = 3 },\n"
                        "schedule = 'dualpipe', parallel = { pp = 4 } } }\n",
                        "", text, sizeof text, NULL),
        4);
    EXPECT_CONTAINS(text, "half of the micro-batches each way");
}

// What its heading says of p stages and m micro-batches, the simulation shows.
TEST(the_pipeline_by_hand_idles_as_its_lesson_says) {
    static const int batches[] = {4, 16, 64};
    static char said[1 << 16];
    for (int i = 0; i < 3; i++) {
        char command[128];
        snprintf(command, sizeof command, "$LOCKSTEP run scenarios/lessons/gpipe_by_hand.lua --batches %d --json",
                 batches[i]);
        EXPECT_INT(test_shell(command, said, sizeof said), 0);
        const char *step = strstr(said, "\"p50\": "), *gemm = strstr(said, "\"gemm\": ");
        EXPECT(step && gemm);
        double idle = step && gemm ? 1 - atof(gemm + 8) / atof(step + 7) : 0;
        EXPECT(fabs(idle - 3.0 / (batches[i] + 3)) < 0.005);
    }
}

TEST(networks_are_compared_in_one_table_in_the_order_in_which_they_are_said) {
    static char said[1 << 14];
    static const char *const orders[] = {"eth-1g,eth-10g", "eth-10g,eth-1g"};
    for (int i = 0; i < 2; i++) {
        char command[256];
        snprintf(
            command, sizeof command,
            "$LOCKSTEP run --model gpt2-124m --node dgx-a100 --gpus 16 --micro-batch 4 --seq 1024 --vary fabric=%s",
            orders[i]);
        EXPECT_INT(test_shell(command, said, sizeof said), 0);
        const char *slow = strstr(said, "\neth-1g "), *quick = strstr(said, "\neth-10g "),
                   *head = strstr(said, "\nfabric ");
        EXPECT(head && slow && quick && head < slow && head < quick && !strstr(head + 1, "\nfabric "));
        EXPECT((slow < quick) == (i == 0));
    }
}

TEST(the_efficiency_of_one_gpu_has_no_band) {
    Loaded loaded = load_returning(
        "sim.study { on = sim.cluster { node = 'dgx-a100', fabric = 'ib-hdr200' }, vary = { gpus = { 1, 16 "
        "} }, run = sim.training { model = 'gpt2-124m', batch = { micro = 4 } } }",
        NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    const Record *record =
        loaded.scenario ? study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems) : NULL;
    EXPECT(record && record->point_count == 2);
    if (record && record->point_count == 2) {
        EXPECT(record->points[0].efficiency_sigma == 0);
        EXPECT(record->points[1].efficiency_sigma > 0);
    }
    unload(&loaded);
}
