// The fields of a pattern of packet flows, of sim.packets and of the options of lockstep packets.
#include "scenarios/fields/field_rows.h"
#include "sim/packet/packet.h"

#define SPAN(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = (least_), .most = (most_)
#define SIZE(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_BYTES, .least = (least_), .most = (most_)

const char *const packets_patterns[PACKETS_PATTERNS] = {"incast", "permutation", "all_to_all"};
static const char *const routings[] = {"ecmp", "spray", "adaptive"};
static const char *const queue_places[] = {"outputs", "inputs"};

#define USUAL "; when left out: as the transport is used to"

const Field packets_fields[] = {
    {"pattern", CHOICE(packets_patterns, PACKETS_PATTERNS), .example = "\"incast\"",
     .help = "who sends to whom: all to the last host, each to one other, all to all; when left out: flows alone"},
    {"flows", TABLE(OBJECT_PACKETS_FLOW), .list = true, .most = PACKETS_FLOWS_MOST,
     .example = "{ { from = 3, to = 0, bytes = \"500 kB\" } }", .help = "flows one by one, beside the pattern's"},
    {"collective", .kind = FIELD_TEXT, .example = "\"all_to_all\"",
     .help =
         "of all GPUs of `on`, instead of pattern and flows, over that cluster's own fabric: as lockstep collective "
         "--fidelity packet"},
    {"on", VALUE(HANDLE_CLUSTER), .example = "cluster", .help = "the cluster of a collective"},
    {"algorithm", .kind = FIELD_TEXT, .example = "\"pairwise\"",
     .help = "of a collective; when left out: the back end's own choice"},
    {"transport", CHOICE(packet_transport_names, PACKET_TRANSPORTS), .flag = "transport", .fallback = "\"dcqcn\"",
     .example = "\"dctcp\"", .help = "what senders do about congestion"},
    {"hosts", COUNT(2, 32768), .flag = "hosts", .fallback = "64", .example = "33", .help = "how many"},
    {"hosts_per_leaf", COUNT(2, 256), .flag = "hosts-per-leaf", .example = "8",
     .help = "as many spines above them; when left out: all on one switch"},
    {"size", SIZE(1, 1e12), .flag = "size", .fallback = "\"1 MB\"", .example = "\"500 kB\"", .help = "of each flow"},
    {"rate", .kind = FIELD_QUANTITY, .quantity = QUANTITY_BANDWIDTH, .least = 1e6, .most = 1e12, .flag = "rate",
     .fallback = "\"100 Gb/s\"", .example = "\"400 Gb/s\"", .help = "of each cable, one direction"},
    {"latency", SPAN(1e-9, 1), .flag = "latency", .fallback = "\"1 us\"", .example = "\"500 ns\"",
     .help = "of each cable with what is at its ends"},
    {"payload", SIZE(64, 65536), .flag = "payload", .fallback = "\"4096 B\"", .example = "\"1438 B\"",
     .help = "of a packet"},
    {"routing", CHOICE(routings, 3), .flag = "routing", .fallback = "\"ecmp\"", .example = "\"spray\"",
     .help = "ecmp: one way a flow, by hash; spray, adaptive: a way a packet"},
    {"queues", CHOICE(queue_places, 2), .flag = "queues", .fallback = "\"outputs\"", .example = "\"inputs\"",
     .help = "where packets wait in a switch: outputs; inputs: one queue a cable, whose first packet alone may leave"},
    {"buffer", SIZE(1e4, 1e12), .flag = "buffer", .fallback = "\"32 MB\"", .example = "\"4 MB\"",
     .help = "of a switch, shared by its ports; when left out: so much for each 128 ports, where there are more"},
    {"loss", NUMBER(0, 0.5), .flag = "loss", .fallback = "0", .example = "0.001",
     .help = "share of packets that each cable loses"},
    {"window", NUMBER(0.01, 1e7), .flag = "window", .example = "64",
     .help = "packets that a flow may have under way at first (of ndp: unasked, of window: always)" USUAL},
    {"timeout", SPAN(1e-6, 100), .flag = "timeout", .example = "\"1 ms\"",
     .help = "after which a packet is sent again at the soonest" USUAL},
    {"target", SPAN(1e-9, 1), .flag = "target", .example = "\"25 us\"",
     .help = "round trip: swift's base, timely's T_low, hpcc's; when left out: one without waiting, 50 us, one"},
    {"hop_target", SPAN(0, 1), .flag = "hop-target", .example = "\"2 us\"",
     .help = "swift's target: more for each cable of a way; when left out: a round trip without waiting, divided among "
             "those of the longest"},
    {"fs_range", SPAN(0, 1), .flag = "fs-range", .example = "\"60 us\"",
     .help = "swift's target: most that flow scaling adds, to small windows; when left out: 5 round trips without "
             "waiting"},
    {"fs_min_cwnd", NUMBER(0.01, 1e6), .flag = "fs-min-cwnd", .example = "0.1",
     .help = "swift: packets, a window to which all of fs_range is added; when left out: 0.1"},
    {"fs_max_cwnd", NUMBER(0.01, 1e6), .flag = "fs-max-cwnd", .example = "100",
     .help = "swift: packets, a window to which nothing is added; when left out: 100"},
    {"mark_from", SIZE(1, 1e12), .flag = "mark-from", .example = "\"100 kB\"",
     .help = "that wait at a port: from then on packets are marked" USUAL},
    {"mark_to", SIZE(1, 1e12), .flag = "mark-to", .example = "\"400 kB\"",
     .help = "above which all are; when left out: mark_from, with pauses four times that"},
    {"mark_most", NUMBER(0, 1), .flag = "mark-most", .example = "0.2",
     .help = "share that is marked just below mark_to; when left out: 1, with pauses 0.2"},
    {"pause", SIZE(0, 1e12), .flag = "pause", .example = "\"200 kB\"",
     .help = "that came by one cable and wait: above it its sender is paused; 0 B: never" USUAL},
    {"credits", SIZE(1, 1e12), .flag = "credits", .example = "\"64 kB\"",
     .help = "room for each lane at the far end of a cable: who has none waits, as on InfiniBand; when left out: a "
             "port's part of the buffer there, none elsewhere"},
    {"queue", SIZE(1, 1e12), .flag = "queue", .example = "\"64 kB\"",
     .help = "that may wait at one port, where nothing pauses" USUAL},
    {"seed", .kind = FIELD_SEED, .flag = "seed", .example = "7",
     .help = "of hashes, marks and losses; when left out: 1, or what lockstep run --seed says"},
    {"each_flow", .kind = FIELD_FLAG, .flag = "each-flow", .example = "true",
     .help = "a row for each flow (-v, --json, --csv); when left out: where flows are written one by one"},
    {"title", .kind = FIELD_TEXT, .example = "\"a burst of 32\"", .help = "headline of the answer"},
    LAST_FIELD,
};

const Field packets_flow_fields[] = {
    {"from", COUNT(0, 32767), .required = true, .example = "3", .help = "host that sends, from 0"},
    {"to", COUNT(0, 32767), .required = true, .example = "0", .help = "host that receives"},
    {"bytes", SIZE(1, 1e12), .example = "\"500 kB\"", .help = "of payload; when left out: the size of the others"},
    {"lane", COUNT(0, PACKET_LANES - 1), .fallback = "0", .example = "1",
     .help = "virtual lane: lanes take turns on each cable, and have credits of their own"},
    {"start", SPAN(0, 1e6), .fallback = "\"0 s\"", .example = "\"10 us\"", .help = "when its first packet may be sent"},
    LAST_FIELD,
};
