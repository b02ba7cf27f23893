// Rank programs at fidelity flow: an algorithm written by hand against the library's, calls in and beside each other,
// and what is said when it cannot be.
#include "models/network/messages/flows.h"
#include "scenarios/program/program.h"
#include "sim/fold.h"
#include "sim/run.h"
#include "sim/system/file.h"
#include "tests/script.h"
#include "tests/test.h"

static SimTime run_program(const Loaded *loaded, int number) {
    const ProgramSpec *program = loaded->scenario->items[number].program;
    const System *system = program_system(loaded->arena, program, loaded->problems);
    EXPECT_TEXT(first_problem(loaded), "");
    if (!system) return -1;
    const char *wrong = system_check(loaded->arena, system);
    if (wrong) test_fail(__FILE__, __LINE__, "%s", wrong);
    RunResult whole = run_system(loaded->arena, system, &(RunOptions){0});
    EXPECT_INT(whole.deadlocked_count, 0);
    System folded = fold_system(loaded->arena, system).system;
    EXPECT_INT(run_system(loaded->arena, &folded, &(RunOptions){0}).end, whole.end);
    return whole.end;
}

TEST(halving_and_doubling_by_hand_takes_the_librarys_time_to_the_picosecond) {
    static char text[8192], script[8192];
    FILE *file = fopen("scenarios/lessons/halving_doubling.lua", "r");
    EXPECT(file != NULL);
    if (!file) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    static const int cases[][2] = {{2, 1}, {4, 3}, {8, 64}, {16, 7}, {32, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nodes = strstr(text, "default = 8"), *mib = strstr(text, "default = 64");
        EXPECT(nodes && mib);
        if (!nodes || !mib) return;
        snprintf(script, sizeof script, "%.*sdefault = %d%.*sdefault = %d%s", (int)(nodes - text), text, cases[i][0],
                 (int)(mib - nodes) - 11, nodes + 11, cases[i][1], mib + 12);
        Loaded loaded = load_script(script, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (loaded.scenario) {
            SimTime by_hand = run_program(&loaded, 0), library = run_program(&loaded, 1);
            EXPECT(by_hand > 0);
            EXPECT_INT(by_hand, library);
        }
        unload(&loaded);
    }
}

#define PROGRAM(settings, body)                                                                                        \
    "sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 16, fabric = 'ib-hdr200' }, fidelity = "               \
    "'flow', " settings " rank = function(r)\n" body "\nend }"

static SimTime time_of(const char *expression) {
    Loaded loaded = load_returning(expression, NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    SimTime time = loaded.scenario ? run_program(&loaded, 0) : -1;
    unload(&loaded);
    return time;
}

TEST(a_collective_of_a_program_takes_the_time_of_the_collective_command) {
    static const char *const names[] = {"ring", "tree", "hierarchical", "halving_doubling", NULL};
    for (int i = 0; names[i]; i++) {
        char expression[512];
        snprintf(expression, sizeof expression, PROGRAM("", "r:all_reduce { bytes = '64 MiB', algorithm = '%s' }"),
                 names[i]);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (loaded.scenario) {
            int ranks[16];
            for (int r = 0; r < 16; r++) ranks[r] = r;
            CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                         .ranks = ranks,
                                         .rank_count = 16,
                                         .bytes = 64 << 20,
                                         .algorithm = names[i]};
            const char *why, *remedy;
            const Network *network = loaded.scenario->items[0].program->cluster->network;
            const FlowPlan *plan = flow_plan(loaded.arena, network, &request, &why, &remedy);
            FlowSystem flows = flow_system(loaded.arena, plan);
            EXPECT_INT(run_program(&loaded, 0), run_system(loaded.arena, &flows.system, &(RunOptions){0}).end);
        }
        unload(&loaded);
    }
}

TEST(calls_follow_each_other_in_all_steps_and_groups_do_not_mix) {
    SimTime once = time_of(PROGRAM("", "r:all_gather { bytes = '8 MiB' }"));
    EXPECT_INT(time_of(PROGRAM("steps = 3,", "r:all_gather { bytes = '8 MiB' }")), 3 * once);
    EXPECT_INT(time_of(PROGRAM("", "r:all_gather { bytes = '8 MiB' } r:all_gather { bytes = '8 MiB' }")), 2 * once);
    SimTime late = time_of(PROGRAM("", "r:compute { seconds = '1 ms' } r:all_gather { bytes = '8 MiB' }"));
    EXPECT_INT(late, once + 1000000000);
    // Two groups in nodes of their own, at once.
    SimTime halves =
        time_of(PROGRAM("", "local first = r.id // 8 * 8\nlocal g = {}\nfor i = 0, 7 do g[i + 1] = first + i end\n"
                            "r:all_gather { group = sim.group(g), bytes = '8 MiB' }"));
    EXPECT(halves > 0 && halves < once);
}

TEST(a_collective_on_another_stream_hides_behind_work) {
    SimTime time =
        time_of(PROGRAM("", "local comm = r:stream 'comm'\ncomm:all_reduce { bytes = '1 MiB' } comm:record 'done'\n"
                            "r:compute { seconds = 1 } r:wait 'done'"));
    EXPECT_INT(time, 1000000000000);
}

static void expect_problem(const char *expression, const char *text, const char *hint) {
    Loaded loaded = load_returning(expression, NULL);
    if (loaded.scenario && loaded.scenario->items[0].program)
        program_system(loaded.arena, loaded.scenario->items[0].program, loaded.problems);
    EXPECT_CONTAINS(first_problem(&loaded), text);
    EXPECT_CONTAINS(first_problem(&loaded), hint);
    unload(&loaded);
}

TEST(what_cannot_be_done_message_by_message_is_said) {
    expect_problem(PROGRAM("", "r:all_reduce { bytes = '1 MiB', algorithm = 'rings' }"),
                   "no algorithm of all_reduce is called \"rings\"", "did you mean \"ring\"?");
    expect_problem(PROGRAM("backend = 'gloo',", "r:all_reduce { bytes = '1 MiB' }"), "only for arrays in CPU memory",
                   "tensors = \"cpu\"");
    expect_problem("sim.program { on = sim.cluster { node = 'dgx-a100' }, rank = function(r)\n"
                   "r:all_reduce { bytes = '1 MiB', algorithm = 'ring' }\nend }",
                   "an algorithm is chosen message by message only", "fidelity = \"flow\"");
    expect_problem(PROGRAM("", "r:all_reduce { bytes = '1 MiB', algorithm = r.id == 3 and 'ring' or 'tree' }"),
                   "ranks of a group call different things: call 1 is all_reduce by ring of 1 MiB on rank 3",
                   "all ranks of a group make the same calls");
}

#define UNEVEN(fidelity, matrix)                                                                                       \
    "(function() local m, own = {}, {}\nfor i = 0, 15 do own[i + 1] = i * 1e6; for j = 0, 15 do "                      \
    "m[#m + 1] = 1e6 * ((7 * i + 13 * j) % 100) end end\n"                                                             \
    "return sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 16, fabric = 'ib-hdr200' }, fidelity = "        \
    "'" fidelity "', rank = function(r) r:all_to_all { matrix = " matrix " } end } end)()"

TEST(an_uneven_all_to_all_of_a_program_takes_the_time_of_the_request) {
    for (int flow = 0; flow < 2; flow++) {
        Loaded loaded = load_returning(flow ? UNEVEN("flow", "m") : UNEVEN("fluid", "m"), NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (loaded.scenario) {
            int ranks[16];
            double pairs[256], sum = 0;
            for (int i = 0; i < 256; i++) sum += pairs[i] = 1e6 * ((7 * (i / 16) + 13 * (i % 16)) % 100);
            for (int r = 0; r < 16; r++) ranks[r] = r;
            CollectiveRequest request = {
                .op = COLLECTIVE_ALL_TO_ALL, .ranks = ranks, .rank_count = 16, .bytes = sum / 16, .pair_bytes = pairs};
            const char *why, *remedy;
            const Network *network = loaded.scenario->items[0].program->cluster->network;
            double seconds = collective_plan(loaded.arena, network, &request).alone_seconds;
            if (flow) {
                const FlowPlan *plan = flow_plan(loaded.arena, network, &request, &why, &remedy);
                FlowSystem flows = flow_system(loaded.arena, plan);
                seconds = flow_run(loaded.arena, plan, &flows, false).seconds;
            }
            EXPECT_NEAR(step_seconds(run_program(&loaded, 0)), seconds, flow ? 0 : 1e-6);
        }
        unload(&loaded);
    }
}

TEST(a_matrix_that_does_not_fit_its_call_is_refused) {
    expect_problem(UNEVEN("fluid", "{ 1, 2, 3 }"), "the matrix has 3 numbers; 16 ranks need 256, or 16 for all",
                   "its own bytes among them");
    expect_problem(UNEVEN("fluid", "m, bytes = 5"), "a matrix belongs to all_to_all, in place of bytes",
                   "r:all_to_all");
    expect_problem(UNEVEN("fluid", "r.id == 3 and own or m"), "ranks of a group call different things",
                   "all ranks of a group make the same calls");
    EXPECT(time_of(UNEVEN("fluid", "own")) > 0);
}
