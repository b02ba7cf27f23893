// Training steps and rank programs packet by packet: against flow fidelity where nothing queues, what wires bear, by
// hand against built in, and what is refused; and the run's side of it against transfers that have their links alone.
#include <math.h>
#include <string.h>

#include "models/network/messages/packet_carrier.h"
#include "scenarios/program/program.h"
#include "sim/base/list.h"
#include "sim/base/random.h"
#include "sim/packet/packet.h"
#include "sim/run.h"
#include "tests/jobs.h"
#include "tests/script.h"
#include "tests/systems.h"
#include "tests/test.h"

#define ALIKE 0.03 // of flow fidelity, where nothing queues

// ---- A carrier that takes for each transfer what it takes alone.
typedef struct Twin {
    const System *system;
    struct {
        CarriedEnd *items;
        int count, room;
    } waiting;
    CarriedEnd given;
    Arena *arena;
    int sent;
} Twin;

// As run.c has it with its links to itself: the slowest link, or the limit of its rate.
static SimTime alone(const System *system, const Plan *plan) {
    double seconds = plan->rate_limit > 0 ? plan->bytes / plan->rate_limit : 0;
    for (int u = 0; u < plan->use_count; u++)
        seconds =
            fmax(seconds, plan->bytes * plan->uses[u].weight / system->links[plan->uses[u].link].bytes_per_second);
    return plan->latency + (SimTime)ceil(seconds * 1e12);
}

static void twin_send(void *owner, int32_t channel, int32_t plan, SimTime now) {
    Twin *twin = owner;
    SimTime end = now + alone(twin->system, &twin->system->channels[channel].plans[plan]);
    LIST_PUSH(twin->arena, &twin->waiting, ((CarriedEnd){end, channel}));
    twin->sent++;
}

static int first_waiting(const Twin *twin) {
    int first = -1;
    for (int i = 0; i < twin->waiting.count; i++)
        if (first < 0 || twin->waiting.items[i].time < twin->waiting.items[first].time) first = i;
    return first;
}

static SimTime twin_next(void *owner) {
    const Twin *twin = owner;
    return twin->waiting.count ? twin->waiting.items[first_waiting(twin)].time : SIM_TIME_NEVER;
}

static bool twin_advance(void *owner, const CarriedEnd **ends, int *count) {
    Twin *twin = owner;
    int first = first_waiting(twin);
    twin->given = twin->waiting.items[first];
    twin->waiting.items[first] = twin->waiting.items[--twin->waiting.count];
    *ends = &twin->given;
    *count = 1;
    return true;
}

TEST(a_run_whose_transfers_are_carried_takes_what_the_carrier_takes) {
    int sent = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        Twin twin = {.system = system, .arena = arena};
        int32_t *sender = ARENA_ARRAY(arena, int32_t, system->channel_count + 1);
        Carrier carrier = {&twin, sender, twin_send, twin_next, twin_advance, 0};
        RunResult by_carrier = run_system(arena, system, &(RunOptions){.carrier = &carrier, .chain = seed & 1});
        RunResult by_links = run_system(arena, system, &(RunOptions){.uncontended = true});
        double apart = (double)(by_carrier.end - by_links.end); // of rounding, a tick a transfer
        if (fabs(apart) > 1 + twin.sent)
            test_fail(__FILE__, __LINE__, "seed %llu: %g ticks apart", (unsigned long long)seed, apart);
        EXPECT_INT(by_carrier.deadlocked_count, 0);
        sent += twin.sent;
        arena_close(arena);
    }
    EXPECT(sent > 1000);
}

// ---- Steps.
static double step_of(Case *c, const char *fidelity, uint64_t *digest) {
    c->training.by_messages = strcmp(fidelity, "fluid") != 0;
    c->training.as_packets = strcmp(fidelity, "packet") == 0;
    SimulatedStep step =
        simulate_step(c->arena, c->cluster, &c->training, &(SimulationOptions){.assume_fits = true}, c->problems);
    if (problem_count(c->problems)) test_fail(__FILE__, __LINE__, "%s", problem_at(c->problems, 0)->text);
    if (digest) *digest = step.digest;
    return step.step_p50_s;
}

static int draw_below(RandomStream *random, int count) { return (int)(random_uniform(random) * count); }

// Layouts of a small model; where each rank has its own rail, what a step sends between nodes finds it free.
TEST(drawn_steps_take_as_packets_what_they_do_by_flows_where_nothing_queues) {
    static const struct {
        int tp, pp, zero;
    } layouts[] = {{1, 1, 0}, {2, 1, 0}, {4, 1, 1}, {4, 2, 0}, {2, 4, 1}, {1, 1, 3}, {2, 2, 1}};
    RandomStream random = random_stream(1, "steps as packets", 0);
    int apart = 0;
    for (int i = 0; i < 14; i++) {
        Case c;
        bool h100 = draw_below(&random, 2);
        case_open_on(&c, h100 ? "dgx-h100" : "dgx-a100", h100 ? "ib-ndr400" : "ib-hdr200",
                     8 * (2 + draw_below(&random, 3)), draw_below(&random, 2) ? "gpt2-124m" : "gpt2-355m");
        int l = i % (int)(sizeof layouts / sizeof *layouts);
        c.training.layout.tp = layouts[l].tp;
        c.training.layout.pp = layouts[l].pp;
        c.training.layout.zero = layouts[l].zero;
        double flow = step_of(&c, "flow", NULL), packet = step_of(&c, "packet", NULL);
        if (!(fabs(packet / flow - 1) <= ALIKE))
            test_fail(__FILE__, __LINE__, "draw %d: %.6g s as packets, %.6g s by flows", i, packet, flow);
        apart += packet != flow;
        arena_close(c.arena);
    }
    EXPECT(apart > 7); // or nothing left a node
}

// Tensor parallel traffic of a node is one transfer a collective, as long as its messages.
TEST(collectives_inside_a_node_take_in_a_step_as_packets_what_their_messages_take) {
    static const char *const machines[][2] = {{"dgx-a100", "ib-hdr200"}, {"dgx-h100", "ib-ndr400"}};
    for (int m = 0; m < 2; m++) {
        Case c;
        case_open_on(&c, machines[m][0], machines[m][1], 8, "gpt2-355m");
        c.training.layout.tp = 8;
        EXPECT_NEAR(step_of(&c, "packet", NULL), step_of(&c, "flow", NULL), 1e-6);
        arena_close(c.arena);
    }
}

TEST(a_step_as_packets_is_the_same_twice_and_another_with_another_transport) {
    Case c;
    case_open_on(&c, "dgx-a100", "roce-200", 32, "gpt2-355m");
    uint64_t digests[3];
    double seconds[3];
    for (int i = 0; i < 3; i++) {
        c.training.transport = i < 2 ? 0 : 1 + PACKET_HPCC;
        seconds[i] = step_of(&c, "packet", &digests[i]);
    }
    EXPECT(digests[0] == digests[1]);
    EXPECT(digests[0] != digests[2]);
    EXPECT_NEAR(seconds[0], seconds[1], 0);
    EXPECT(seconds[0] != seconds[2]);
    arena_close(c.arena);
}

// ---- Programs.
#define PROGRAM(settings, body)                                                                                        \
    "sim.program { on = sim.cluster { node = 'dgx-h100', gpus = 64, fabric = 'ib-ndr400' }, " settings                 \
    " rank = function(r)\n" body "\nend }"

static double program_runs(const char *expression, uint64_t *digest, PacketsCarried *carried) {
    Loaded loaded = load_returning(expression, NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    double seconds = NAN;
    const ProgramSpec *program = loaded.scenario ? loaded.scenario->items[0].program : NULL;
    const System *system = program ? program_system(loaded.arena, program, loaded.problems) : NULL;
    if (system) {
        RunOptions options = {0};
        if (program->as_packets) options.carrier = program_carrier(loaded.arena, program, system, loaded.problems);
        RunResult result = run_system(loaded.arena, system, &options);
        EXPECT_INT(result.deadlocked_count, 0);
        seconds = step_seconds(result.end);
        if (digest) *digest = result.digest;
        if (carried) *carried = *packets_carried(loaded.arena, options.carrier, seconds);
    }
    EXPECT_TEXT(first_problem(&loaded), "");
    unload(&loaded);
    return seconds;
}

static double program_seconds(const char *expression, uint64_t *digest) {
    return program_runs(expression, digest, NULL);
}

#define INCAST                                                                                                         \
    "if r.id == 0 then for n = 1, 7 do r:recv { from = 8 * n, stream = 's' .. n } end "                                \
    "elseif r.id % 8 == 0 then r:send { to = 0, bytes = '8 MB' } end"
#define LONE "if r.id == 0 then r:send { to = 8, bytes = '8 MB' } elseif r.id == 8 then r:recv { from = 0 } end"
#define RING "r:all_reduce { bytes = '32 MiB' }"

TEST(a_program_as_packets_takes_what_it_does_by_flows_and_what_its_wires_bear) {
    double nic = 50e9; // NDR, with all its headers
    double lone[] = {program_seconds(PROGRAM("fidelity = 'flow',", LONE), NULL),
                     program_seconds(PROGRAM("fidelity = 'packet',", LONE), NULL)};
    EXPECT(fabs(lone[1] / lone[0] - 1) <= ALIKE);
    EXPECT(lone[1] >= 8e6 / nic);
    double ring[] = {program_seconds(PROGRAM("fidelity = 'flow',", RING), NULL),
                     program_seconds(PROGRAM("fidelity = 'packet',", RING), NULL)};
    EXPECT(fabs(ring[1] / ring[0] - 1) <= ALIKE);
    double incast = program_seconds(PROGRAM("fidelity = 'packet',", INCAST), NULL);
    EXPECT(incast >= 7 * 8e6 / nic);
    EXPECT(incast <= 1.3 * 7 * 8e6 / nic);
}

// Over one leaf each packet and its acknowledgement cross two cables.
TEST(a_program_as_packets_counts_what_it_sent) {
    PacketsCarried carried = {0};
    program_runs(PROGRAM("fidelity = 'packet',", INCAST), NULL, &carried);
    EXPECT_INT(carried.messages, 7);
    EXPECT_NEAR(carried.bytes, 7 * 8e6, 0);
    EXPECT_NEAR(carried.bytes_there, 7 * 8e6, 0);
    EXPECT_INT(carried.packets % 7, 0);
    EXPECT_NEAR((double)carried.packets, 7 * 8e6 / 4096, 0.01); // with what the protocol adds
    EXPECT_INT(carried.hops, 4 * carried.packets);
    EXPECT_INT(carried.drops + carried.trims + carried.resent, 0);
    EXPECT(carried.queue_most >= 6 * 4096);
}

// Each packet crosses two cables: 1 - (1 - p)^2 of them are lost, and sent again.
#define LOSSY(transport) PROGRAM("fidelity = 'packet', packet_loss = 1e-3, transport = '" transport "',", INCAST)

TEST(a_program_as_packets_loses_what_it_is_told_to_and_sends_it_again) {
    static const char *const programs[] = {LOSSY("window"), LOSSY("dcqcn"), LOSSY("eqds"), LOSSY("nscc")};
    double p = 1e-3;
    for (int i = 0; i < 4; i++) {
        PacketsCarried carried = {0};
        EXPECT(program_runs(programs[i], NULL, &carried) >= 7 * 8e6 / 50e9);
        double mean = (double)carried.packets * (1 - (1 - p) * (1 - p));
        EXPECT(fabs((double)carried.lost - mean) < 4 * sqrt(mean));
        EXPECT_NEAR(carried.bytes_there, 7 * 8e6, 0);
        EXPECT(carried.resent >= carried.lost);
    }
}

TEST(the_answer_of_a_step_as_packets_has_their_counts) {
    static char output[1 << 20];
    bool wrote;
    EXPECT_INT(run_script_text("local sim = require 'lockstep'\nreturn " PROGRAM("fidelity = 'packet',", INCAST) "\n",
                               "--json", output, sizeof output, &wrote),
               0);
    EXPECT_CONTAINS(output, "\"packets\": {");
    EXPECT_CONTAINS(output, "\"flows\": 7,");
    EXPECT_CONTAINS(output, "\"hottest\": \"switch to node0.nic0\"");
}

TEST(a_program_as_packets_is_the_same_twice) {
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) program_seconds(PROGRAM("fidelity = 'packet',", RING "\n" INCAST), &digests[i]);
    EXPECT(digests[0] == digests[1]);
}

static void expect_refused(const char *expression, const char *sentence) {
    Loaded loaded = load_returning(expression, NULL);
    const ProgramSpec *program = loaded.scenario ? loaded.scenario->items[0].program : NULL;
    const System *system = program ? program_system(loaded.arena, program, loaded.problems) : NULL;
    if (system) EXPECT(program_carrier(loaded.arena, program, system, loaded.problems) == NULL);
    EXPECT_CONTAINS(first_problem(&loaded), sentence);
    unload(&loaded);
}

TEST(what_a_program_has_no_packets_for_is_said) {
    expect_refused(PROGRAM("transport = 'ndp', fidelity = 'flow',", RING), "a transport belongs to packets");
    expect_refused(PROGRAM("packet_loss = 0.01,", RING), "packet_loss belongs to packets");
    expect_refused(
        "sim.program { on = sim.cluster { node = 'dgx-h100', gpus = 64, fabric = 'ib-ndr400:torus:dims=4x2' }, "
        "fidelity = 'packet', rank = function(r) r:all_reduce { bytes = '1 MB' } end }",
        "a torus routes by dimension");
}
