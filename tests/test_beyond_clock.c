// Times that a clock cannot hold, and rates that no fair share was made for: an outcome that is told, never a wrapped
// number and never the program's end.

#include "sim/program.h"
#include "sim/run.h"
#include "tests/script.h"
#include "tests/test.h"

#define PRINTED 65536

static const char dense[] =
    "local sim = require \"lockstep\"\n"
    "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = sim.fat_tree { link = \"ib-ndr400\" },\n"
    "  faults = { rates = \"llama3-h100\" }, storage = \"nfs-1gbe\", link_speed = { 1 } }\n"
    "return sim.study { on = c, run = sim.training { model = \"gpt2-medium\", seq_len = 1024, tokens = \"10B\",\n"
    "  parallel = { tp = 2, pp = 2 }, batch = { micro = 2, global = 32 }, data = { sample_bytes = \"4 KB\" } } }\n";

static const char experts[] =
    "local sim = require \"lockstep\"\n"
    "local c = sim.cluster { node = \"dgx-h200\", gpus = 16,\n"
    "  fabric = sim.fabric { kind = \"leaf_spine\", link = \"ib-ndr400\" } }\n"
    "return sim.study { on = c, run = sim.training { model = \"mixtral-8x7b\", seq_len = 1024,\n"
    "  parallel = { ep = 8 }, batch = { micro = 1, global = 16 }, zero = 1 } }\n";

static char printed[PRINTED];

static int run(const char *script, const char *arguments) {
    return run_script_text(script, arguments, printed, sizeof printed, NULL);
}

static double number(const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(printed, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

TEST(a_step_longer_than_the_clock_is_told_with_what_makes_it_so) {
    EXPECT_INT(run(dense, "--set cluster.pcie=1B/s --set training.batch.global=4096"), 4);
    EXPECT_CONTAINS(printed, "this step takes longer than 106 days of simulated time, the most its clock holds");
    EXPECT_CONTAINS(printed, "pcie");
    EXPECT_INT(run(dense, "--set cluster.pcie=0.001B/s"), 4);
    static const char *const slow[] = {"1e-15", "1e-18", "9e-19", "2.2250738585072014e-308"};
    for (int i = 0; i < 4; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--set cluster.link_speed=%s", slow[i]);
        EXPECT_INT(run(dense, arguments), 4);
        EXPECT_CONTAINS(printed, i < 2 ? "the most its clock holds" : "must be a number from 1e-18 to 1");
    }
}

TEST(a_plan_has_no_layout_whose_shards_do_not_divide_its_replicas) {
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt2-124m --tokens 1B --global-batch 64 --node dgx-a100 --gpus 8"
                          " --zero-shard 7",
                          printed, PRINTED),
               0);
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt2-124m --tokens 1B --global-batch 64 --node dgx-a100 --gpus 8"
                          " --zero 1 --zero-shard 1000000",
                          printed, PRINTED),
               3);
}

TEST(a_slower_link_is_never_faster_down_to_the_end_of_the_clock) {
    static const char slow[] =
        "local sim = require \"lockstep\"\n"
        "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = \"ib-ndr400\", link_speed = { 1 } }\n"
        "return sim.study { on = c, run = sim.training { model = \"gpt2-124m\", batch = { micro = 1 } } }\n";
    double before = 0;
    bool ended = false;
    for (int power = 0; power <= 12; power++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--json --set cluster.link_speed=1e-%d", power);
        int code = run(slow, arguments);
        EXPECT(code == 0 || code == 4);
        EXPECT(!(ended && code == 0));
        ended = code == 4;
        if (code != 0) continue;
        EXPECT(number("p50") >= before);
        before = number("p50");
    }
    EXPECT(ended && before > 1000);
}

TEST(of_several_points_those_longer_than_the_clock_say_so) {
    static const char program[] =
        "local sim = require \"lockstep\"\n"
        "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = \"ib-hdr200\", link_speed = 1e-6 }\n"
        "return sim.study { on = c, vary = { gpus = { 8, 16 } }, run = sim.training { model = \"llama-2-70b\",\n"
        "  batch = { micro = 1, accumulation = 64 }, no_sync = false }, assume_fits = true }\n";
    EXPECT_INT(run(program, "--plain"), 0);
    EXPECT_CONTAINS(printed, "takes longer than 106 days");
}

TEST(work_by_hand_adds_up_beyond_the_clock_without_wrapping) {
    static const char program[] =
        "local sim = require \"lockstep\"\n"
        "return sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 2 }, steps = 20,\n"
        "  rank = function(r) r:compute { seconds = 1e6 } r:all_reduce { bytes = 1 } end }\n";
    EXPECT_INT(run(program, ""), 4);
    EXPECT_CONTAINS(printed, "takes longer than 106 days of simulated time");
    EXPECT_CONTAINS(printed, "gemm");
}

TEST(leaves_of_many_nodes_and_slots_of_a_petabyte_are_as_fast_as_wide_ones) {
    EXPECT_INT(run(experts, "--json"), 0);
    double wide = number("p50");
    const char *const sets[] = {"fabric.nodes_per_leaf=300", "fabric.oversubscription=0.1",
                                "fabric.nodes_per_leaf=100000 --set fabric.oversubscription=0.001"};
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "--json --set %s", sets[i]);
        EXPECT_INT(run(experts, arguments), 0);
        EXPECT_NEAR(number("p50"), wide, 1e-12);
    }
    EXPECT_INT(run(dense, "--json --set cluster.pcie='1 PB/s'"), 0);
    double fastest = number("p50");
    EXPECT_INT(run(dense, "--json --set cluster.pcie='1 TB/s'"), 0);
    EXPECT(fastest <= number("p50"));
}

TEST(a_sequence_of_a_billion_tokens_does_not_fit_and_does_not_end_the_program) {
    EXPECT_INT(run(experts, "--set training.seq_len=1e9"), 3);
    EXPECT_CONTAINS(printed, "does not run:\n  needs");
}

TEST(horovod_fuses_the_same_gradients_on_gpus_of_two_types) {
    static const char mixed[] =
        "local sim = require \"lockstep\"\n"
        "local c = sim.cluster { nodes = { { node = \"dgx-a100\", gpus = 8 }, { node = \"dgx-1\", gpus = 8 } },\n"
        "  fabric = \"ib-hdr200\" }\n"
        "return sim.study { on = c, run = sim.training { model = \"resnet50\", batch = { micro = 32 },\n"
        "  strategy = \"horovod\", horovod = { cycle = \"2 ms\" } } }\n";
    EXPECT_INT(run(mixed, ""), 0);
}

TEST(a_run_of_decades_is_lived_to_its_end) {
    EXPECT_INT(run(dense, "--json --set training.tokens=200T"), 0);
    EXPECT(number("days") > 5000 && number("days") < 10000);
    EXPECT(number("goodput") > 0.9 && number("goodput") < 1);
    EXPECT_INT(test_shell("$LOCKSTEP goodput --gpus 64 --work 3650 --runs 3 --model gpt2-124m", printed, PRINTED), 0);
    EXPECT(!strstr(printed, "had not finished"));
}

TEST(jobs_and_estimates_of_centuries_are_cut_and_told) {
    static const char estimates[] =
        "local sim = require \"lockstep\"\n"
        "return sim.queue { on = sim.cluster { node = \"dgx-a100\", gpus = 64 }, seeds = 1,\n"
        "  demand = { load = 0.8, count = 10, durations = \"fixed:1000d\", estimate_error = 1000 },\n"
        "  policy = { \"easy\" } }\n";
    static const char jobs[] =
        "local sim = require \"lockstep\"\n"
        "local jobs = {}\n"
        "for i = 1, 20 do jobs[i] = { gpus = 64, duration = \"1e9 s\", submit = i .. \" s\" } end\n"
        "return sim.queue { on = sim.cluster { node = \"dgx-a100\", gpus = 64 }, jobs = jobs,\n"
        "  policy = { \"fifo\" } }\n";
    EXPECT_INT(run(estimates, ""), 0);
    EXPECT_INT(run(jobs, ""), 0);
    EXPECT_CONTAINS(printed, "some jobs would end after 146 years");
}

TEST(many_values_to_vary_are_counted_and_not_listed) {
    EXPECT_INT(test_shell("$LOCKSTEP sweep scenarios/lessons/pieces.lua --vary gpus=1:1000000000:1 -o /dev/null",
                          printed, PRINTED),
               4);
    EXPECT_CONTAINS(printed, "this names 1000000000 values, and a name has at most 1000000");
}

TEST(messages_longer_than_the_clock_are_told) {
    EXPECT_INT(test_shell("$LOCKSTEP collective all_reduce --node dgx-a100 --nodes 2 --fidelity flow --sizes 100000G"
                          " --fabric ib-hdr200:sites:nodes_per_site=1:site_bandwidth=8b/s:site_latency=0",
                          printed, PRINTED),
               4);
    EXPECT_CONTAINS(printed, "take longer than 106 days of simulated time");
}

// ---- The engine itself.

TEST(a_run_says_that_it_is_beyond_the_clock_however_it_gets_there) {
    static const char *const causes[] = {"work"};
    static const Label labels[] = {{"", NULL, 0}};
    const SimTime long_time = SIM_TIME_NEVER / 2 + 1;
    Op twice[] = {{.kind = OP_WORK, .time = long_time}, {.kind = OP_WORK, .time = long_time}};
    Op transfer[] = {{.kind = OP_WORK, .time = 5}, {.kind = OP_TRANSFER}, {.kind = OP_WORK, .time = 5}};
    LinkUse use = {0, 1};
    Link links[] = {{"slow", 1e-9}};
    Plan slow = {.bytes = 1e12, .fairness = 1, .uses = &use, .use_count = 1},
         late = {.latency = SIM_TIME_NEVER, .fairness = 1};
    const Plan *plans[] = {NULL, &slow, &late};
    for (int way = 0; way < 3; way++)
        for (int options = 0; options < 3; options++) {
            Arena *arena = arena_open();
            Channel channel = {.plans = plans[way], .plan_count = 1, .member_count = 1};
            int32_t slots[] = {0};
            Stream stream = {"main", way ? transfer : twice, way ? 3 : 2};
            Program program = {.streams = &stream, .stream_count = 1, .slot_count = way ? 1 : 0};
            Actor actor = {.program = 0, .channels = slots, .slowness = 1, .multiplicity = 1};
            System system = {.programs = &program,
                             .program_count = 1,
                             .actors = &actor,
                             .actor_count = 1,
                             .channels = &channel,
                             .channel_count = way ? 1 : 0,
                             .links = links,
                             .link_count = 1,
                             .causes = causes,
                             .cause_count = 1,
                             .labels = labels,
                             .label_count = 1};
            RunResult result =
                run_system(arena, &system, &(RunOptions){.uncontended = options == 1, .all_meet = options == 2});
            EXPECT(result.beyond_clock);
            EXPECT(way != 1 || (longest_operation(&system).link && longest_operation(&system).seconds > 1e20));
            twice[1].time = 7;
            transfer[1].kind = OP_RECORD;
            program.mark_count = 1;
            EXPECT(!run_system(arena, &system, &(RunOptions){.all_meet = options == 2}).beyond_clock || way == 0);
            twice[1].time = long_time;
            transfer[1].kind = OP_TRANSFER;
            arena_close(arena);
        }
}
