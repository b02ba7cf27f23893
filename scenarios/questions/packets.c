// lockstep packets: what congestion does to a pattern of flows, by transport, routing and switch.
#include <math.h>
#include <string.h>

#include "results/answer/frame.h"
#include "sim/base/statistics.h"
#include "sim/packet/packet.h"
#include "sim/system/watch.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define HOSTS_MOST 4096
#define FLOWS_MOST 1000000
#define HEADER_BYTES 62   // Ethernet, IP, UDP, RoCE, gap and preamble, about
#define CONTROL_BYTES 84  // the smallest frame, with gap and preamble
#define LINE_SECONDS 8e-6 // of the line may wait before a mark, assumed: about the bare round trip of two tiers
#define MARKS_MOST 0.2    // DCQCN's Pmax, as HPCC's public configuration has it (Li et al. 2019)
#define TRIMMED_QUEUE 8   // packets (Handley et al. 2017)
#define EVENTS_A_HOP 3    // about, with those of acknowledgements
#define BYTES_A_PACKET 4  // of memory, and
#define BYTES_A_FLOW 400  // of one that nothing is sent on

enum { INCAST, PERMUTATION, ALL_TO_ALL, PATTERNS };
static const char *const patterns[PATTERNS] = {"incast", "permutation", "all_to_all"};
static const char *const routings[] = {"ecmp", "spray", "adaptive"};

static const OptionSpec own_rows[] = {
    {"transport", OPTION_CHOICE, .of = OF_QUESTION, .help = "what senders do about congestion; dcqcn",
     .choices = packet_transport_names, .choice_count = PACKET_TRANSPORTS},
    {"hosts", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "how many; 64"},
    {"hosts-per-leaf", OPTION_COUNT, "N", .of = OF_QUESTION,
     .help = "as many spines above them; when left out: all on one switch"},
    {"size", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "of each flow; 1 MB", .quantity = QUANTITY_BYTES},
    {"rate", OPTION_QUANTITY, "RATE", .of = OF_QUESTION, .help = "of each cable, one direction; 100 Gb/s",
     .quantity = QUANTITY_BANDWIDTH},
    {"latency", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "of each cable with what is at its ends; 1 us",
     .quantity = QUANTITY_TIME, .usual = "1us"},
    {"payload", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "of a packet; 4096 B", .quantity = QUANTITY_BYTES},
    {"routing", OPTION_CHOICE, .of = OF_QUESTION,
     .help = "ecmp: one way a flow, by hash; spray, adaptive: a way a packet; ecmp", .choices = routings,
     .choice_count = COUNT_OF(routings)},
    {"buffer", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "of a switch, shared by its ports; 32 MB",
     .quantity = QUANTITY_BYTES},
    {"loss", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "of packets that each cable loses; 0",
     .quantity = QUANTITY_NUMBER},
    {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of hashes, marks and losses; 1"},
    WATCH_OPTIONS,
};

typedef struct Asked {
    int pattern, hosts, leaf_hosts;
    double size, rate, latency;
    PacketNetwork network;
    PacketFlow *flows;
    int flow_count;
} Asked;

// ---- What is asked.
static void ask_pattern(Asked *asked, const Options *options, Problems *problems) {
    options_refuse_positional(options, 1, problems);
    const char *name = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    while (name && asked->pattern < PATTERNS && strcmp(name, patterns[asked->pattern]) != 0) asked->pattern++;
    if (!name) {
        problem_add(problems, (Where){0}, "packets needs a pattern");
        problem_hint(problems, "incast, permutation or all_to_all; for example: lockstep packets incast");
    } else if (asked->pattern == PATTERNS) {
        problem_add(problems, (Where){0}, "no pattern is called \"%s\"", name);
        problem_hint_names(problems, name, patterns, PATTERNS);
    }
}

static void ask_numbers(Asked *asked, const Options *options, Problems *problems) {
    asked->hosts = option_count_within(options, "hosts", 64, 2, HOSTS_MOST, problems);
    asked->leaf_hosts = asked->hosts;
    if (option_given(options, "hosts-per-leaf")) {
        asked->leaf_hosts = option_count_within(options, "hosts-per-leaf", 2, 2, 256, problems);
        if (asked->hosts % asked->leaf_hosts || asked->hosts == asked->leaf_hosts) {
            problem_add(problems, (Where){0}, "%d hosts do not fill two or more leaves of %d", asked->hosts,
                        asked->leaf_hosts);
            problem_hint(problems, "make --hosts a multiple of --hosts-per-leaf");
        }
    }
    asked->size = floor(option_within(options, "size", 1e6, 1, 1e12, problems));
    asked->rate = option_within(options, "rate", 12.5e9, 1e6, 1e12, problems);
    asked->latency = option_within(options, "latency", 1e-6, 1e-9, 1, problems);
    PacketNetwork *network = &asked->network;
    network->payload_bytes = (int)option_within(options, "payload", 4096, 64, 65536, problems);
    network->header_bytes = HEADER_BYTES;
    network->control_bytes = CONTROL_BYTES;
    network->seed = option_seed(options, "seed", 1);
    network->switches.buffer_bytes = option_within(options, "buffer", 32e6, 1e4, 1e12, problems);
    network->switches.routing = (PacketRouting)option_choice(options, "routing", PACKET_ECMP);
    network->transport = packet_transports[option_choice(options, "transport", PACKET_DCQCN)].usual;
    if (ceil(asked->size / network->payload_bytes) > 6e7) {
        problem_add(problems, (Where){0}, "a flow of more than 60,000,000 packets");
        problem_hint(problems, "ask for a smaller --size, or a larger --payload");
    }
}

// As the transport is used to it: windows of a bandwidth-delay product, marks by rate, pauses, trimmed queues.
static void set_switches(Asked *asked) {
    PacketNetwork *network = &asked->network;
    const PacketTransportRow *row = &packet_transports[network->transport.id];
    PacketSwitch *rules = &network->switches;
    double packet = network->payload_bytes + network->header_bytes;
    int hops = asked->leaf_hosts < asked->hosts ? 4 : 2;
    double bare = 2 * hops * asked->latency + hops * packet / asked->rate;
    rules->alpha = 1;
    if (network->transport.id == PACKET_DCTCP || row->pauses) {
        rules->mark_from_bytes = fmax(asked->rate * LINE_SECONDS, 2 * packet);
        rules->mark_to_bytes = rules->mark_from_bytes * (row->pauses ? 4 : 1);
        rules->mark_most = row->pauses ? MARKS_MOST : 1;
    }
    // What comes after the pause was sent needs room: the rest is divided among all ports.
    int leaves = asked->hosts / asked->leaf_hosts, ports = asked->hosts;
    if (leaves > 1) ports = leaves > 2 * asked->leaf_hosts ? leaves : 2 * asked->leaf_hosts; // of a spine or a leaf
    if (row->pauses)
        rules->pause_bytes =
            fmax(rules->buffer_bytes / ports - 2 * asked->rate * asked->latency - 3 * packet, 2 * packet);
    rules->trim = network->transport.id == PACKET_NDP;
    if (rules->trim) rules->queue_bytes = TRIMMED_QUEUE * packet;
    if (network->transport.id == PACKET_SWIFT) network->transport.target_seconds = 2 * bare;
    if (network->transport.id == PACKET_WINDOW || network->transport.id == PACKET_NDP)
        network->transport.window_packets = ceil(bare * asked->rate / packet);
}

static void lay_cables(Arena *arena, Asked *asked, double loss) {
    PacketNetwork *network = &asked->network;
    int hosts = asked->hosts, wide = asked->leaf_hosts, leaves = hosts / wide, count = 0;
    PacketCable *cables = ARENA_ARRAY(arena, PacketCable, 2 * hosts);
    for (int h = 0; h < hosts; h++)
        cables[count++] = (PacketCable){h, hosts + h / wide, asked->rate, asked->latency, loss};
    for (int l = 0; l < leaves && leaves > 1; l++)
        for (int u = 0; u < wide; u++)
            cables[count++] = (PacketCable){hosts + l, hosts + leaves + u, asked->rate, asked->latency, loss};
    network->host_count = hosts;
    network->switch_count = leaves > 1 ? leaves + wide : 1;
    network->cables = cables;
    network->cable_count = count;
}

static void lay_flows(Arena *arena, Asked *asked) {
    int n = asked->hosts;
    asked->flow_count = asked->pattern == ALL_TO_ALL ? n * (n - 1) : asked->pattern == INCAST ? n - 1 : n;
    asked->flows = ARENA_ARRAY(arena, PacketFlow, asked->flow_count);
    int step = asked->leaf_hosts < n ? asked->leaf_hosts : 1; // to the same place on the next leaf
    for (int f = 0; f < asked->flow_count; f++) {
        PacketFlow *flow = &asked->flows[f];
        *flow = (PacketFlow){f, n - 1, (int64_t)asked->size, 0};
        if (asked->pattern == PERMUTATION) flow->to = (f + step) % n;
        if (asked->pattern == ALL_TO_ALL) flow->from = f % n, flow->to = (f % n + 1 + f / n) % n;
    }
}

static bool is_allowed(const Asked *asked, Problems *problems) {
    double packets = ceil(asked->size / asked->network.payload_bytes) * asked->flow_count;
    double hops = packets * 2 * (asked->leaf_hosts < asked->hosts ? 4 : 2);
    return watch_allows(EVENTS_A_HOP * hops, BYTES_A_PACKET * packets + (double)BYTES_A_FLOW * asked->flow_count,
                        "the packets of the pattern", "ask for smaller flows or fewer hosts", (Where){0}, problems);
}

// ---- The answer.
static double ideal_seconds(const Asked *asked) { // the fullest cable
    const PacketNetwork *network = &asked->network;
    double packets = ceil(asked->size / network->payload_bytes);
    double flows = asked->pattern == PERMUTATION ? 1 : asked->hosts - 1;
    return flows * (asked->size + packets * network->header_bytes) / asked->rate;
}

static void add_ports(Answer *answer, const Asked *asked, const PacketResult *result) {
    double most = 0, mean = 0, paused = 0;
    int64_t marks = 0, trims = 0;
    for (int p = 0; p < 2 * asked->network.cable_count; p++) {
        const PacketPort *port = &result->ports[p];
        most = fmax(most, (double)port->most_waiting);
        mean = fmax(mean, port->waited / step_seconds(result->end));
        paused += step_seconds(port->paused);
        marks += port->marks;
        trims += port->trims;
    }
    answer_number(answer, "queue_most_bytes", "Longest queue", AS_BYTES, most);
    answer_number(answer, "queue_mean_bytes", "Fullest queue on average", AS_BYTES, mean);
    answer_number(answer, "paused_s", "Paused, all ports", AS_SECONDS, paused);
    answer_number(answer, "marked", "Packets marked", AS_COUNT, (double)marks);
    answer_number(answer, "dropped", "Dropped by switches", AS_COUNT, (double)result->dropped);
    answer_number(answer, "trimmed", "Trimmed", AS_COUNT, (double)trims);
    answer_number(answer, "lost", "Lost by cables", AS_COUNT, (double)result->lost);
}

static void add_answer(Arena *arena, Answer *answer, const Asked *asked, const PacketResult *result) {
    double *ends = ARENA_ARRAY(arena, double, asked->flow_count), sum = 0, squares = 0, mean = 0;
    int64_t resent = 0, timeouts = 0;
    for (int f = 0; f < asked->flow_count; f++) {
        double rate;
        ends[f] = step_seconds(result->flows[f].end);
        rate = asked->size / ends[f];
        mean += ends[f] / asked->flow_count;
        sum += rate;
        squares += rate * rate;
        resent += result->flows[f].resent;
        timeouts += result->flows[f].timeouts;
    }
    double end = step_seconds(result->end), ideal = ideal_seconds(asked);
    answer_one_row(answer);
    answer_text(answer, "pattern", NULL, patterns[asked->pattern]);
    answer_text(answer, "transport", NULL, packet_transports[asked->network.transport.id].name);
    answer_text(answer, "routing", NULL, routings[asked->network.switches.routing]);
    answer_number(answer, "hosts", NULL, AS_WHOLE, asked->hosts);
    answer_number(answer, "flows", "Flows", AS_COUNT, asked->flow_count);
    answer_number(answer, "end_s", "All have arrived after", AS_SECONDS, end);
    answer_number(answer, "ideal_s", "The fullest host cable alone takes", AS_SECONDS, ideal);
    answer_number(answer, "fct_mean_s", "A flow takes", AS_SECONDS, mean);
    answer_number(answer, "fct_p99_s", "The slowest in a hundred", AS_SECONDS,
                  quantile(arena, ends, asked->flow_count, 0.99));
    answer_number(answer, "fairness", "Fairness of rates (Jain)", AS_NUMBER, sum * sum / squares / asked->flow_count);
    answer_number(answer, "goodput_bytes_per_s", "Payload, all flows", AS_BANDWIDTH,
                  asked->size * asked->flow_count / end);
    add_ports(answer, asked, result);
    answer_number(answer, "resent", "Sent again", AS_COUNT, (double)resent);
    answer_number(answer, "timeouts", "Timeouts", AS_COUNT, (double)timeouts);
    answer_number(answer, "packet_hops", NULL, AS_WHOLE, (double)result->hops);
    answer_seed(answer, asked->network.seed);
    answer_digest(answer, result->digest);
}

static int ask(Asking *asking) {
    Asked asked = {0};
    Problems *problems = asking->problems;
    ask_pattern(&asked, asking->options, problems);
    ask_numbers(&asked, asking->options, problems);
    double loss = option_within(asking->options, "loss", 0, 0, 0.5, problems);
    if (problem_count(problems)) return EXIT_USAGE;
    set_switches(&asked);
    if (asked.pattern == ALL_TO_ALL && asked.hosts > 1000) {
        problem_add(problems, (Where){0}, "all_to_all of %d hosts has more than %d flows", asked.hosts, FLOWS_MOST);
        problem_hint(problems, "ask for at most 1000 --hosts");
        return EXIT_BAD_INPUT;
    }
    lay_cables(asking->arena, &asked, loss);
    lay_flows(asking->arena, &asked);
    if (!is_allowed(&asked, problems)) return EXIT_BAD_INPUT;
    const char *wrong = NULL;
    WatchPiece piece;
    watch_begin(&piece, "events of packets", 0, WATCH_EVENT);
    PacketResult result =
        packet_run(asking->arena, &asked.network, asked.flows, asked.flow_count, SIM_TIME_NEVER, &wrong);
    watch_end(&piece);
    if (wrong) problem_add(problems, (Where){0}, "%s", wrong);
    if (result.stopped) watch_tells((Where){0}, problems);
    if (problem_count(problems)) return watch_status(EXIT_BAD_INPUT);
    add_answer(asking->arena, asking->answer, &asked, &result);
    return EXIT_DONE;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    (void)arena;
    *count = COUNT_OF(own_rows);
    return own_rows;
}

static const Question packets = {
    .name = "packets",
    .usage = "lockstep packets incast|permutation|all_to_all [--transport NAME --hosts N --size BYTES]",
    .about = "Sends a pattern of flows as packets through queues, and says when they arrive and what waited, was\n"
             "marked, paused, trimmed, dropped and sent again. Switches are set as the transport is used to.\n"
             "Exit codes: 0 done, 2 usage, 4 beyond a limit, 130 interrupted.",
    .rows = rows,
    .positional = 1,
    .ask = ask};

int command_packets(int argc, char **argv);
int command_packets(int argc, char **argv) { return frame_run(&packets, argc, argv); }
