// sim.packets: the answer of lockstep packets, flows of a script's own, and what a script may do with both.
#include <stdio.h>
#include <string.h>

#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

int command_packets(int argc, char **argv);
int command_collective(int argc, char **argv);

#define BEGIN "local sim = require \"lockstep\"\n"

static char said[1 << 20];

static const Json *json_said(Arena *arena, const char *text) {
    const Json *json = json_read_text(arena, "out", text, strlen(text), problems_create(arena));
    EXPECT(json != NULL);
    return json;
}

// From the first member that is the question's on: before it stands the command line.
static const char *from_pattern(const char *text) {
    const char *found = strstr(text, "\"pattern\":");
    EXPECT(found != NULL);
    return found ? found : "";
}

static const char *script_says(const char *fields, const char *arguments) {
    char script[1024], line[256];
    bool wrote;
    snprintf(script, sizeof script, BEGIN "return sim.packets { %s }\n", fields);
    snprintf(line, sizeof line, "--json --wall=off %s", arguments);
    EXPECT_INT(run_script_text(script, line, said, sizeof said, &wrote), 0);
    return from_pattern(said);
}

TEST(a_script_of_packets_gives_the_answer_of_the_command) {
    static const struct {
        const char *options, *fields, *arguments;
    } cases[] = {
        {"incast", "pattern = 'incast'", ""},
        {"incast --hosts 9 --size 100kB --transport reno --loss 0.001 --seed 7",
         "pattern = 'incast', hosts = 9, size = '100 kB', transport = 'reno', loss = 0.001", "--seed 7"},
        {"permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport ndp --routing spray --seed 3",
         "pattern = 'permutation', hosts = 32, hosts_per_leaf = 4, size = '200 kB', transport = 'ndp', "
         "routing = 'spray', seed = 3",
         "--seed 7"},
        {"all_to_all --hosts 8 --size 50kB --rate 10Gb/s --latency 5us --payload 1438B --buffer 200kB --transport "
         "swift "
         "--each-flow",
         "pattern = 'all_to_all', hosts = 64, size = '50 kB', rate = '10 Gb/s', latency = '5 us', payload = '1438 B', "
         "buffer = '200 kB', transport = 'dctcp', each_flow = true",
         "--set packets.hosts=8 --set packets.transport=swift"},
        {"incast --hosts 9 --window 40 --timeout 2ms --target 30us --transport swift --queue 60kB --mark-from 9kB",
         "pattern = 'incast', hosts = 9, window = 40, timeout = '2 ms', target = '30 us', transport = 'swift', "
         "queue = '60 kB', mark_from = '9 kB'",
         ""},
        {"incast --hosts 9 --mark-from 20kB --mark-to 30kB --mark-most 0.5 --pause 50kB",
         "pattern = 'incast', hosts = 9, mark_from = '20 kB', mark_to = '30 kB', mark_most = 0.5, pause = '50 kB'", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, "packets %s --json", cases[i].options);
        const char *command = from_pattern(run_command(command_packets, line)->out);
        EXPECT_TEXT(script_says(cases[i].fields, cases[i].arguments), command);
    }
}

// The digest is of every port and every message.
TEST(a_collective_of_a_script_is_the_commands_packet_by_packet) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *answer = json_said(
        arena, (script_says("collective = 'all_to_all', algorithm = 'linear', size = '1048576 B', transport = 'swift', "
                            "on = sim.cluster { node = 'dgx-h100', gpus = 16, fabric = 'roce-400' }",
                            ""),
                said));
    const char *line = "collective all_to_all --node dgx-h100 --nodes 2 --fabric roce-400 --algo linear --sizes 1M "
                       "--fidelity packet --transport swift --json";
    const Json *command = json_said(arena, run_command(command_collective, line)->out);
    EXPECT(answer && command);
    if (answer && command) {
        const Json *row = &json_get(command, "packets")->items[0];
        EXPECT_TEXT(json_text(answer, "digest", problems), json_text(command, "digest", problems));
        EXPECT_NEAR(json_number(answer, "fct_p99_s", problems), json_number(row, "fct_p99_s", problems), 0);
        EXPECT_NEAR(1e6 * json_number(answer, "end_s", problems),
                    json_number(&json_get(command, "results")->items[0], "time_us", problems), 1e-9);
        EXPECT_INT((int)json_number(answer, "flows", problems), 2 * 8 * 8);
    }
    arena_close(arena);
}

TEST(a_collective_of_a_script_needs_a_cluster_and_no_hosts) {
    static const char *const cases[][2] = {
        {"collective = 'all_to_all'", "a collective needs a cluster"},
        {"collective = 'all_to_most', on = sim.cluster { node = 'dgx-h100' }", "no collective is called"},
        {"collective = 'all_to_all', hosts = 9, on = sim.cluster { node = 'dgx-h100' }", "hosts belongs to flows"},
        {"collective = 'all_reduce', algorithm = 'bruck', on = sim.cluster { node = 'dgx-h100' }",
         "is not known message by message"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[512];
        bool wrote;
        snprintf(script, sizeof script, BEGIN "return sim.packets { %s }\n", cases[i][0]);
        EXPECT_INT(run_script_text(script, "--wall=off", said, sizeof said, &wrote), 4);
        EXPECT_CONTAINS(said, cases[i][1]);
    }
}

TEST(a_collective_of_a_script_is_estimated_before_its_messages_are_laid) {
    bool wrote;
    EXPECT_INT(run_script_text(BEGIN "return sim.packets { collective = 'all_to_all', "
                                     "on = sim.cluster { node = 'dgx-h100', gpus = 64, fabric = 'ib-ndr400' } }\n",
                               "--wall=off --event-limit 10", said, sizeof said, &wrote),
               4);
    EXPECT_CONTAINS(said, "the messages of the collective");
}

// Host 0 sends 100 packets, host 1 as many 40 us later: 100 of 0.33264 us take 33.264 us of the line, so that they do
// not meet, and each takes its bytes, a packet more at the switch, and two cables.
TEST(flows_of_a_script_start_when_it_says) {
    Arena *arena = arena_open();
    const Json *answer = json_said(
        arena, (script_says("hosts = 3, transport = 'window', flows = { { from = 0, to = 2, bytes = 409600 }, "
                            "{ from = 1, to = 2, bytes = 409600, start = '40 us' } }",
                            ""),
                said));
    double packet = (4096 + 62) / 12.5e9, takes = 101 * packet + 2e-6;
    const Json *flows = json_get(answer, "completions");
    EXPECT_INT(flows->count, 2);
    for (int i = 0; i < flows->count; i++) EXPECT_NEAR(json_get(&flows->items[i], "fct_s")->number, takes, 1e-6);
    EXPECT_NEAR(json_get(answer, "end_s")->number, 40e-6 + takes, 1e-6);
    EXPECT_NEAR(json_get(answer, "fct_mean_s")->number, takes, 1e-6);
    EXPECT_NEAR(json_get(answer, "fairness")->number, 1, 1e-9);
    EXPECT_NEAR(json_get(answer, "ideal_s")->number, 200 * packet, 1e-6);
    arena_close(arena);
}

// A pattern written flow by flow is the pattern; with both, the pattern's flows come first.
TEST(a_list_of_flows_stands_beside_the_pattern_or_in_its_place) {
    char script[512];
    bool wrote;
    snprintf(script, sizeof script,
             BEGIN "local flows = {}\nfor host = 0, 7 do flows[#flows + 1] = { from = host, to = 8 } end\n"
                   "return { sim.packets { hosts = 9, flows = flows }, sim.packets { hosts = 9, pattern = 'incast', "
                   "flows = { { from = 8, to = 0, bytes = 5000 } } } }\n");
    Arena *arena = arena_open();
    EXPECT_INT(run_script_text(script, "--json --wall=off", said, sizeof said, &wrote), 0);
    const Json *answers = json_said(arena, said), *first = &answers->items[0], *second = &answers->items[1];
    const Json *command = json_said(arena, run_command(command_packets, "packets incast --hosts 9 --json")->out);
    EXPECT_TEXT(json_get(first, "digest")->text, json_get(command, "digest")->text);
    EXPECT_TEXT(json_get(first, "pattern")->text, "flows");
    EXPECT_INT(json_get(second, "completions")->count, 9);
    EXPECT_TEXT(json_get(second, "pattern")->text, "incast");
    arena_close(arena);
}

TEST(a_list_of_flows_is_a_table_in_csv_and_on_the_screen_for_who_asks) {
    static const char script[] = BEGIN
        "return sim.packets { hosts = 4, title = 'two', flows = { { from = 0, to = 3 }, { from = 1, to = 3 } } }\n";
    bool wrote;
    EXPECT_INT(run_script_text(script, "--csv --wall=off", said, sizeof said, &wrote), 0);
    EXPECT_CONTAINS(said, "from,to,bytes,start_s,fct_s,resent,timeouts\n0,3,1000000,0,");
    EXPECT_INT(run_script_text(script, "--wall=off", said, sizeof said, &wrote), 0);
    EXPECT_CONTAINS(said, "two\n");
    EXPECT(!strstr(said, "Flow by flow"));
    EXPECT_INT(run_script_text(script, "-v --wall=off", said, sizeof said, &wrote), 0);
    EXPECT_CONTAINS(said, "Flow by flow");
}

TEST(a_script_reads_what_its_packets_took) {
    static const char script[] =
        BEGIN "local packets = sim.packets { pattern = 'incast', hosts = 5, each_flow = true }\n"
              "local found = sim.simulate(packets)\n"
              "local slowest = 0\n"
              "for _, flow in ipairs(found.completions) do slowest = math.max(slowest, flow.fct_s) end\n"
              "assert(found.flows == 4 and #found.completions == 4 and slowest == found.end_s)\n"
              "assert(found.pattern == 'incast' and #found.digest == 16)\n"
              "return packets\n";
    bool wrote;
    EXPECT_INT(run_script_text(script, "--wall=off", said, sizeof said, &wrote), 0);
}

static double figure(Arena *arena, const char *options, const char *key) {
    const char *line = arena_printf(arena, "packets incast --hosts 9 --size 200kB %s --json", options);
    return json_get(json_said(arena, run_command(command_packets, line)->out), key)->number;
}

TEST(a_switch_is_set_as_one_says) {
    Arena *arena = arena_open();
    EXPECT(figure(arena, "--transport window --window 1000 --buffer 400kB --timeout 1ms", "dropped") > 0);
    EXPECT_INT((int)figure(arena, "--transport window --window 1000 --buffer 400kB --pause 10kB", "dropped"), 0);
    EXPECT(figure(arena, "--transport window --window 1000 --buffer 400kB --pause 10kB", "paused_s") > 0);
    EXPECT(figure(arena, "--buffer 1MB", "paused_s") > 0);
    EXPECT_INT((int)figure(arena, "--buffer 1MB --pause 0B --timeout 1ms", "paused_s"), 0);
    EXPECT_INT((int)figure(arena, "--transport reno --queue 10kB --timeout 1ms", "queue_most_bytes"), 2 * 4158);
    // Beyond the first two windows' ends all would be marked; of a queue that stays below the threshold none is.
    EXPECT_INT((int)figure(arena, "--transport dctcp --mark-from 10MB", "marked"), 0);
    EXPECT(figure(arena, "--transport dctcp --mark-from 10kB", "marked") >
           2 * figure(arena, "--transport dctcp --mark-from 10kB --mark-most 0.1 --mark-to 10MB", "marked"));
    EXPECT(figure(arena, "--transport swift --target 15us", "queue_mean_bytes") <
           figure(arena, "--transport swift --target 40us", "queue_mean_bytes"));
    arena_close(arena);
}

TEST(what_is_wrong_with_packets_is_said_at_its_line) {
    static const struct {
        const char *fields, *says;
    } cases[] = {
        {"", "4: sim.packets needs a pattern, flows or a collective | for example: pattern = \"incast\""},
        {"pattern = 'incast',\nhosts = 10,\nhosts_per_leaf = 4", "6: 10 hosts do not fill two or more leaves of 4"},
        {"pattern = 'all_to_all',\nhosts = 4096", "5: all_to_all of 4096 hosts has more than 1000000 flows"},
        {"hosts = 4,\nflows = { { from = 0, to = 1 },\n{ from = 1,\nto = 4 } }",
         "7: there is no host 4: they are 0 to 3"},
        {"hosts = 4,\nflows = { { from = 0, to = 1 },\n{ from = 1, to = 1 } }", "6: a flow from host 1 to itself"},
        {"flows = { { from = 0, to = 1,\nbytes = '1 TB', } },\npayload = '64 B'",
         "5: a flow of more than 60,000,000 packets"},
        {"flows = { { from = 0 } }", "4: packets.flows needs to, host that receives"},
        {"pattern = 'incast', target = '5 us'", "4: dcqcn has no target"},
        {"pattern = 'incast',\nwindow = 5", "5: dcqcn has no window"},
        {"pattern = 'incast', mark_from = '9 kB', mark_to = '8 kB'", "4: marks end at 8000 bytes, before they begin"},
        {"pattern = 'outcast'", "4: pattern of sim.packets cannot be \"outcast\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expression[512];
        snprintf(expression, sizeof expression, "sim.packets { %s }", cases[i].fields);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT(!loaded.scenario);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].says);
        unload(&loaded);
    }
    EXPECT_CONTAINS(run_command(command_packets, "packets incast --hosts 1")->err,
                    "--hosts 1: error: hosts of packets must be a whole count from 2 to 32768, not \"1\"");
    EXPECT_CONTAINS(run_command(command_packets, "packets incast --hosts 10 --hosts-per-leaf 4")->err,
                    "--hosts-per-leaf 4: error: 10 hosts do not fill two or more leaves of 4");
}

// ---- Threads.
static void expect_same_by_threads(int (*ask)(int, char **), const char *line) {
    static char first[1 << 16];
    char asked[512];
    for (int threads = 1; threads <= 4; threads *= 2) {
        snprintf(asked, sizeof asked, "%s --threads %d", line, threads);
        const char *answer = run_command(ask, asked)->out;
        if (threads == 1) snprintf(first, sizeof first, "%s", answer);
        EXPECT_TEXT(answer, first);
    }
    EXPECT(strlen(first) > 200);
}

TEST(threads_do_not_change_what_packets_answer) {
    expect_same_by_threads(command_packets, "packets permutation --hosts 256 --hosts-per-leaf 16 --size 100kB");
    expect_same_by_threads(command_packets, "packets permutation --hosts 256 --hosts-per-leaf 16 --size 100kB "
                                            "--transport dctcp --routing spray");
    expect_same_by_threads(command_collective, "collective all_to_all --node dgx-h100 --nodes 8 --fabric "
                                               "roce-400:fat_tree:nodes_per_leaf=2 -b 16M -e 16M --fidelity packet");
}
