// Rank programs written in Lua: what they become, how long it takes, and what is said when ranks do not meet.
#include <string.h>

#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/script.h"
#include "tests/test.h"

#define PROGRAM(settings, body) "sim.program { on = cluster, " settings " rank = function(r)\n" body "\nend }"
#define FIRST_LINE 5 // of a body

typedef struct Built {
    Loaded loaded;
    const ProgramSpec *program;
    const System *system; // NULL after problems
    RunResult result;
} Built;

static Built build(const char *expression) {
    Built built = {.loaded = load_returning(expression, NULL)};
    const Scenario *scenario = built.loaded.scenario;
    built.program = scenario ? scenario->items[0].program : NULL;
    if (built.program) built.system = program_system(built.loaded.arena, built.program, built.loaded.problems);
    if (!built.system) return built;
    const char *wrong = system_check(built.loaded.arena, built.system);
    if (wrong) test_fail(__FILE__, __LINE__, "%s", wrong);
    built.result = run_system(built.loaded.arena, built.system, &(RunOptions){.seed = 1});
    return built;
}

static double seconds(const Built *built) {
    EXPECT_TEXT(first_problem(&built->loaded), "");
    EXPECT_INT(built->result.deadlocked_count, 0);
    return step_seconds(built->result.end);
}

static double alone(const Built *built, CollectiveOp op, int ranks, double bytes) {
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CollectiveRequest request = {.op = op, .backend = BACKEND_NCCL, .ranks = all, .rank_count = ranks, .bytes = bytes};
    return collective_plan(built->loaded.arena, built->program->cluster->network, &request).alone_seconds;
}

// ---- Times against formulas.

TEST(a_compute_of_known_time_takes_that_time_in_each_step) {
    Built built = build(PROGRAM("steps = 3,", "r:compute { seconds = '2 ms' }"));
    EXPECT_NEAR(seconds(&built), 6e-3, 1e-12);
    unload(&built.loaded);
}

TEST(a_message_takes_what_the_network_says_after_both_are_there) {
    Built built =
        build(PROGRAM("", "if r.id == 0 then r:compute { seconds = 1 } r:send { to = 1, bytes = '64 MiB' } end\n"
                          "if r.id == 1 then r:recv { from = 0 } end"));
    EXPECT_NEAR(seconds(&built), 1 + alone(&built, COLLECTIVE_SEND_RECV, 2, 64 << 20), 1e-9);
    unload(&built.loaded);
}

TEST(a_timeline_shows_what_moves_beside_the_main_stream) {
    Built built = build(PROGRAM("", "local comm = r:stream 'comm'\nr:record 'ready' comm:wait 'ready'\n"
                                    "comm:all_reduce { bytes = '64 MiB' } comm:record 'done'\n"
                                    "r:compute { seconds = 1 } r:wait 'done'"));
    StudySpec study = {.want_timeline = true, .seed = 1};
    const Timeline *timeline =
        simulate_program(built.loaded.arena, built.program, built.system, &study, built.loaded.problems).timeline;
    EXPECT_INT(timeline->row_count, 2 * built.system->actor_count);
    EXPECT_TEXT(timeline->row_names[3], "rank 1 transfers");
    EXPECT_INT(timeline->bar_count, 2 * built.system->actor_count);
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        EXPECT_TEXT(bar->cause, bar->row % 2 ? "dp" : "gemm");
        EXPECT(bar->row % 2 ? bar->end_s < 1 : bar->end_s == 1);
    }
    unload(&built.loaded);
}

TEST(a_collective_takes_what_the_network_says) {
    Built built =
        build(PROGRAM("", "r:all_reduce { bytes = '64 MiB' } r:all_gather { group = r.world_group, bytes = '1 MiB' }"));
    EXPECT_NEAR(seconds(&built),
                alone(&built, COLLECTIVE_ALL_REDUCE, 8, 64 << 20) + alone(&built, COLLECTIVE_ALL_GATHER, 8, 1 << 20),
                1e-8);
    unload(&built.loaded);
}

TEST(what_runs_on_another_stream_is_hidden_until_it_is_waited_for) {
    Built hidden = build(PROGRAM(
        "", "local comm = r:stream 'comm'\n"
            "comm:all_reduce { bytes = '1 MiB' } comm:record 'reduced'\nr:compute { seconds = 1 }\nr:wait 'reduced'"));
    EXPECT_NEAR(seconds(&hidden), 1, 1e-12);
    unload(&hidden.loaded);
    Built after = build(PROGRAM(
        "",
        "r:compute { seconds = 1 } r:record 'ready'\nlocal comm = r:stream 'comm'\n"
        "comm:wait 'ready' r:all_reduce { bytes = '1 MiB', stream = comm } comm:record 'reduced'\nr:wait 'reduced'"));
    EXPECT_NEAR(seconds(&after), 1 + alone(&after, COLLECTIVE_ALL_REDUCE, 8, 1 << 20), 1e-9);
    unload(&after.loaded);
}

TEST(events_are_new_in_every_step) {
    Built built = build(
        PROGRAM("steps = 4,",
                "r:compute { seconds = 1 } r:record 'a'\nlocal s = r:stream 's'\ns:wait 'a' s:compute { seconds = 1 }\n"
                "s:record 'b' r:wait 'b'"));
    EXPECT_NEAR(seconds(&built), 8, 1e-12);
    unload(&built.loaded);
}

TEST(a_pipeline_by_hand_takes_m_plus_p_minus_1_slots) {
    // GPipe forward of 4 stages and 6 micro-batches, each 10 ms, with messages of one byte: (6 + 3) x 10 ms.
    Built built = build("sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 4 }, rank = function(r)\n"
                        "for m = 1, 6 do\n"
                        "  if r.id > 0 then r:recv { from = r.id - 1, tag = m, stream = 'in' } "
                        "r:stream('in'):record('got' .. m) r:wait('got' .. m) end\n"
                        "  r:compute { seconds = '10 ms', name = 'F' .. m }\n"
                        "  if r.id < r.world - 1 then\n"
                        "    r:record('done' .. m) r:stream('out'):wait('done' .. m)\n"
                        "    r:send { to = r.id + 1, bytes = 1, tag = m, stream = 'out' }\n"
                        "  end\nend end }");
    EXPECT_NEAR(seconds(&built), 0.09, 1e-3);
    unload(&built.loaded);
}

TEST(copies_and_reads_take_time) {
    Built built = build(
        "sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 8, storage = 'nfs-1gbe' }, rank = function(r)\n"
        "r:copy { to = 'host', bytes = '1 GiB' } r:copy { to = 'device', bytes = '1 GiB' }\n"
        "if r.id == 0 then r:read { bytes = '100 MB' } end end }");
    double nfs = catalogue_storage(test_catalogue(), "nfs-1gbe")->read_bytes_per_second;
    EXPECT(seconds(&built) >= 100e6 / nfs);
    EXPECT(seconds(&built) < 100e6 / nfs + 2);
    unload(&built.loaded);
}

// ---- Structure.

TEST(ranks_that_do_the_same_share_a_program_and_fold) {
    Built built = build(PROGRAM("", "r:compute { flops = 1e12 } r:all_reduce { bytes = '64 MiB' }"));
    EXPECT_INT(built.system->program_count, 1);
    EXPECT_INT(built.system->channel_count, 1);
    Folded folded = fold_system(built.loaded.arena, built.system);
    RunResult result = run_system(built.loaded.arena, &folded.system, &(RunOptions){.seed = 1});
    EXPECT_INT(result.end, built.result.end);
    EXPECT(folded.system.actor_count < 8);
    unload(&built.loaded);
}

TEST(plans_of_a_channel_are_made_once) {
    Built built =
        build(PROGRAM("", "for i = 1, 10 do r:all_reduce { bytes = 1024 } r:all_reduce { bytes = 2048 } end"));
    EXPECT_INT(built.system->channel_count, 1);
    EXPECT_INT(built.system->channels[0].plan_count, 2);
    unload(&built.loaded);
}

TEST(operations_carry_their_line_and_cause) {
    Built built = build(PROGRAM("", "r:compute { bytes = 1e6 }\nr:all_reduce { bytes = 8, name = 'norm' }"));
    const Op *ops = built.system->programs[0].streams[0].ops;
    EXPECT_INT(built.system->labels[ops[0].label].line, FIRST_LINE);
    EXPECT_TEXT(built.system->labels[ops[1].label].name, "norm");
    EXPECT_INT(built.system->labels[ops[1].label].line, FIRST_LINE + 1);
    EXPECT_CONTAINS(built.system->labels[ops[1].label].file, "s.lua");
    EXPECT_INT(ops[0].cause, CAUSE_MEMORY);
    EXPECT_INT(ops[1].cause, CAUSE_DP);
    unload(&built.loaded);
}

TEST(the_same_program_gives_the_same_digest) {
    const char *program = PROGRAM("", "for i = 1, 20 do r:compute { flops = math.random(1e9) } end r:barrier()");
    Built a = build(program), b = build(program);
    EXPECT_SAME(a.result.digest, b.result.digest);
    unload(&a.loaded);
    unload(&b.loaded);
}

TEST(groups_of_equal_ranks_are_one_group) {
    Built built = build(PROGRAM(
        "", "local low = sim.group { 0, 1, 2, 3 }\nif r.id < 4 then r:all_reduce { group = low, bytes = 8 } end"));
    EXPECT_INT(built.program->group_count, 2); // and all ranks
    EXPECT_INT(built.system->channel_count, 1);
    EXPECT_INT(built.system->channels[0].member_count, 4);
    unload(&built.loaded);
}

// ---- Ranks that do not meet: found before anything is simulated.

static void expect_problem(const char *expression, const char *expected) {
    Built built = build(expression);
    EXPECT(!built.system);
    EXPECT_CONTAINS(first_problem(&built.loaded), expected);
    EXPECT(problem_count(built.loaded.problems) && problem_at(built.loaded.problems, 0)->hint);
    unload(&built.loaded);
}

TEST(a_collective_that_a_rank_never_calls_is_a_deadlock_that_names_it) {
    expect_problem(
        PROGRAM("", "if r.id ~= 3 then r:all_reduce { bytes = '4 MiB', name = 'grads' } end"),
        "5: deadlock: ranks 0, 1, 2, 4, 5, 6 and 7 wait in all_reduce \"grads\" of 4 MiB, which rank 3 never calls");
    expect_problem(PROGRAM("", "r:barrier()\nif r.id == 0 then r:barrier() end"),
                   "6: deadlock: rank 0 waits in barrier, which ranks 1 to 7 never call");
    expect_problem(PROGRAM("", "r:barrier { stream = r.id == 0 and 'a' or 'b' }"),
                   "5: deadlock: rank 0 waits in barrier");
}

TEST(different_calls_of_one_group_are_named_with_their_lines) {
    expect_problem(PROGRAM("", "if r.id == 2 then\n r:all_gather { bytes = 8 }\nelse\n r:all_reduce { bytes = 8 } end"),
                   "6: ranks of a group call different things: call 1 is all_gather of 8 B on rank 2, and all_reduce "
                   "of 8 B on rank 0 at line 8");
    expect_problem(PROGRAM("", "r:barrier()\nr:all_reduce { bytes = 8 + r.id // 7 }"),
                   "6: ranks of a group call different things: call 2 is all_reduce of 9 B on rank 7");
    expect_problem(PROGRAM("", "r:broadcast { bytes = 8, root = r.id // 4 }"), "with root 1 here and root 0 there");
}

TEST(messages_without_a_partner_are_named) {
    expect_problem(PROGRAM("", "if r.id == 0 then r:send { to = 1, bytes = 8, tag = 5 } end"),
                   "5: deadlock: rank 0 sends to rank 1 with tag 5, and rank 1 never receives it");
    expect_problem(PROGRAM("", "if r.id == 0 then\nr:recv { from = 1 } end"),
                   "6: deadlock: rank 0 waits in recv for rank 1 with tag 0, and rank 1 never sends it");
    expect_problem(PROGRAM("", "if r.id == 0 then for i = 1, 2 do r:send { to = 1, bytes = 8 } end end\nif r.id == 1 "
                               "then r:recv { from = 0 } end"),
                   "rank 1 never receives it more than 1 time");
    expect_problem(
        PROGRAM(
            "",
            "if r.id == 0 then r:send { to = 1, bytes = 8 } end\nif r.id == 1 then r:recv { from = 0, bytes = 9 } end"),
        "6: rank 1 expects 9 B from rank 0 with tag 0, which sends 8 B at line 5");
}

TEST(many_messages_without_a_partner_are_counted) {
    Built built =
        build(PROGRAM("", "if r.id == 0 then for i = 1, 100 do r:send { to = 1, bytes = 8, tag = i } end end"));
    EXPECT(any_problem_contains(&built.loaded, "and 95 more sends and receives do not match"));
    unload(&built.loaded);
}

// ---- Ranks that wait for each other in a circle: found by running.

static const char *stuck_report(Built *built) {
    EXPECT(built->system && built->result.deadlocked_count > 0);
    if (built->system)
        report_deadlock(built->loaded.arena, built->system, &built->result, built->program->where,
                        built->loaded.problems);
    return first_problem(&built->loaded);
}

TEST(two_that_receive_first_wait_for_each_other) {
    Built built = build(PROGRAM("", "if r.id > 1 then return end\nr:recv { from = 1 - r.id, name = 'swap in' }\nr:send "
                                    "{ to = 1 - r.id, bytes = 8, name = 'swap out' }"));
    EXPECT_CONTAINS(
        stuck_report(&built),
        "6: deadlock: ranks 0 and 1 wait in \"swap in\"; rank 0 for rank 1, which waits in \"swap in\" at line 6");
    unload(&built.loaded);
}

TEST(collectives_in_another_order_are_a_deadlock) {
    Built built = build(PROGRAM("", "local pair = sim.group { 0, 1 }\nif r.id == 0 then\nr:barrier { group = pair "
                                    "}\nr:barrier()\nelse\nr:barrier()\n"
                                    "if r.id == 1 then r:barrier { group = pair } end end"));
    EXPECT_CONTAINS(stuck_report(&built),
                    "7: deadlock: rank 0 waits in \"barrier\" for rank 1, which waits in \"barrier\" at line 10");
    unload(&built.loaded);
}

TEST(a_deadlock_exits_with_4) {
    char output[4096] = "";
    EXPECT_INT(run_script_text("local sim = require 'lockstep'\nreturn sim.program { on = sim.cluster { node = "
                               "'dgx-a100', gpus = 2 }, rank = function(r)\n"
                               "r:recv { from = 1 - r.id }\nr:send { to = 1 - r.id, bytes = 8 } end }",
                               "", output, sizeof output, NULL),
               4);
    EXPECT_CONTAINS(output, "s.lua:3: error: deadlock: ranks 0 and 1 wait in \"recv\"");
}

// ---- Calls that cannot be.

TEST(impossible_calls_are_refused_at_their_line) {
    static const struct {
        const char *body, *problem;
    } cases[] = {
        {"\nr:send { to = r.id, bytes = 8 }", "6: rank 0 would send to itself"},
        {"r:send { to = 8, bytes = 8 }", "5: there is no rank 8: the cluster has 8"},
        {"r:send { to = 1, bytes = 8, tag = 0.5 }", "5: a tag is a whole number, not 0.5"},
        {"r:compute {}", "5: this compute says no work"},
        {"r:compute { seconds = 1, flops = 1 }", "5: this compute says its work twice"},
        {"r:compute { flops = 1, precision = 'fp8' }", "5: the A100"},
        {"r:compute { flops = 1e24 }", "5: this compute would take"},
        {"r:all_reduce {}", "5: all_reduce needs bytes"},
        {"r:barrier { bytes = 8 }", "5: a barrier moves no data"},
        {"r:broadcast { bytes = 8 }", "5: broadcast needs root"},
        {"r:all_reduce { bytes = 8, root = 0 }", "5: all_reduce has no root"},
        {"r:broadcast { bytes = 8, root = 9 }", "5: the root of broadcast, rank 9, is not in the group"},
        {"r:all_reduce { group = sim.group { 1, 2 }, bytes = 8 }",
         "5: rank 0 calls all_reduce of a group it is not in"},
        {"r:all_reduce { group = sim.group { 0, 99 }, bytes = 8 }",
         "5: the group has rank 99, but the cluster has 8 ranks"},
        {"sim.group { 0, 0 }", "5: rank 0 is in this group twice"},
        {"sim.group { 0.5 }", "5: ranks are whole numbers from 0, and entry 1 is not"},
        {"sim.group {}", "5: sim.group takes a list of ranks"},
        {"r:wait 'x'", "5: rank 0 waits for the event \"x\", which nothing has recorded"},
        {"r:stream(3)", "5: stream takes a name, not a number"},
        {"r.compute { flops = 1 }", "5: compute belongs to a rank | write r:compute, with a colon"},
        {"r:all_redcue { bytes = 8 }", "5: a rank has no \"all_redcue\" | did you mean \"all_reduce\"?"},
        {"return r.wrold", "5: a rank has no \"wrold\" | did you mean \"world\"?"},
        {"keep = keep or r\nif r.id == 1 then keep:barrier() end", "6: rank 0 is not the one being recorded"},
        {"s = s or r:stream 'x'\nr:barrier { stream = s }", "6: this stream belongs to rank 0, and rank 1 uses it"},
        {"", "no rank of this program does anything"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expression[512];
        snprintf(expression, sizeof expression, "(function(keep, s) return " PROGRAM("", "%s") " end)(false, false)",
                 cases[i].body);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT(!loaded.scenario);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].problem);
        unload(&loaded);
    }
}

TEST(a_back_end_refuses_what_the_real_one_cannot_do) {
    for (int backend = 0; backend < BACKEND_COUNT; backend++)
        for (int op = 0; op < COLLECTIVE_OP_COUNT; op++)
            for (int variant = 0; variant < 4; variant++) {
                bool on_gpu = variant & 1, cuda_aware = variant & 2;
                char expression[512], call[128];
                const char *name = collective_op_name((CollectiveOp)op), *why;
                bool rooted = op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE || op == COLLECTIVE_GATHER ||
                              op == COLLECTIVE_SCATTER;
                snprintf(call, sizeof call, "r:%s { %s%s }", name, op == COLLECTIVE_BARRIER ? "" : "bytes = 8, ",
                         rooted ? "root = 0" : "");
                if (op == COLLECTIVE_SEND_RECV)
                    snprintf(
                        call, sizeof call,
                        "if r.id == 0 then r:send { to = 1, bytes = 8 } elseif r.id == 1 then r:recv { from = 0 } end");
                snprintf(expression, sizeof expression,
                         "sim.program { on = cluster, backend = '%s', tensors = '%s', cuda_aware_mpi = %s, rank = "
                         "function(r)\n%s\nend }",
                         backend_name((Backend)backend), on_gpu ? "gpu" : "cpu", cuda_aware ? "true" : "false", call);
                Loaded loaded = load_returning(expression, NULL);
                bool supported = backend_supports((Backend)backend, (CollectiveOp)op, on_gpu, cuda_aware, &why);
                EXPECT((loaded.scenario != NULL) == supported);
                if (!supported) EXPECT_CONTAINS(first_problem(&loaded), "5: ");
                if (!supported) EXPECT(any_problem_contains(&loaded, why));
                unload(&loaded);
            }
}
