// Packets: hosts and switches joined by cables, flows between hosts, queues, marks, pauses and losses, and what a
// transport does about them. It knows no GPUs and no collectives.
//
// A packet is one 64-bit word. All that arrives within a window as long as the smallest latency is known when the
// window begins, and nodes of a window are independent: it is sorted by counting and worked off node by node (the
// lookahead of DONS, Gao et al. 2023, and Unison, Bai et al. 2024). There is no queue of all events.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/clock.h"

typedef struct PacketCable { // as much each way
    int32_t a, b;            // hosts from 0, switches behind them
    double bytes_per_second, latency_seconds;
    double loss;        // share of data packets that it loses, at random
    int64_t loses_each; // or one of so many, at even distances; 0: none
    int64_t length;     // ways are those of the least sum of these; 0: 1
} PacketCable;

typedef enum PacketRouting {
    PACKET_ECMP,    // one of the shortest ways per flow, by hash
    PACKET_SPRAY,   // per packet, by hash
    PACKET_ADAPTIVE // per packet, where fewest bytes wait
} PacketRouting;

#define PACKET_LANES 2 // virtual lanes

typedef struct PacketSwitch { // all switches are alike
    PacketRouting routing;
    double buffer_bytes; // shared by all ports; 0: without end
    double queue_bytes;  // of one port, of data; 0: as much as `alpha` allows
    double alpha;        // dynamic threshold: a queue may grow to alpha times what is free (Choudhury and Hahne 1998)
    double mark_from_bytes, mark_to_bytes, mark_most; // ECN by depth; 0, 0, 0: none; from = to: all above
    double pause_bytes;                               // PFC: of one ingress; above it the sender pauses. 0: no PFC
    // Credits (InfiniBand): room at the far end of a cable for each lane; who has none for a full packet waits. 0: none
    double credit_bytes;
    bool trim;      // what finds no room loses its payload instead (NDP)
    bool at_inputs; // packets queue where they come in, and of each cable the first alone may leave
} PacketSwitch;

// What the senders do.
typedef enum PacketTransportId {
    PACKET_WINDOW,
    PACKET_RENO,
    PACKET_CUBIC,
    PACKET_DCTCP,
    PACKET_DCQCN,
    PACKET_SWIFT,
    PACKET_TIMELY,
    PACKET_HPCC,
    PACKET_NDP,
    PACKET_EQDS,
    PACKET_NSCC,
    PACKET_RCCC,
    PACKET_TRANSPORTS
} PacketTransportId;

typedef struct PacketTransport {
    PacketTransportId id;
    double window_packets; // at first; WINDOW: always; NDP, EQDS, RCCC: sent unasked; NSCC: at most
    double timeout_least;  // seconds: of retransmission
    double gain;           // DCTCP's and DCQCN's g
    double increase;       // bytes a second, DCQCN's R_AI, ten times as much after as many stages again; TIMELY's delta
    double
        target_seconds;   // NSCC: round trip aimed at; SWIFT: its base; TIMELY: T_low; HPCC: round trip without waiting
    double hop_seconds;   // SWIFT: of the target, for each cable of a way
    double range_seconds; // SWIFT: of the target, most that a small window adds
    double range_from_packets, range_to_packets; // SWIFT: windows that add all of it, and nothing
    double bare_seconds;                         // NSCC: round trip without waiting
    double load;                                 // HPCC: of the fullest port, aimed at
    double notify_seconds;                       // DCQCN: a CNP at most once in
    double timer_seconds;                        // DCQCN: of increase, and of alpha
    double counter_bytes;                        // DCQCN: of increase
} PacketTransport;

typedef struct PacketTransportRow {
    const char *name;
    bool pauses;    // meant for a fabric without loss
    bool told_load; // data packets carry the load of the fullest port on their way, acknowledgements bring it back
    bool in_order;  // the receiver drops what comes out of order, the sender goes back (RoCE's go-back-N)
    bool trims;     // meant for switches that trim
    bool inside;    // marks of the last cable before the receiver are of no use
    double queue_packets;                // of a port, where switches trim; 0: a bandwidth-delay product
    double mark_from_part, mark_to_part; // of that queue; 0, 0: not as a part of it
    PacketTransport usual;
} PacketTransportRow;
extern const PacketTransportRow packet_transports[PACKET_TRANSPORTS];
extern const char *const packet_transport_names[PACKET_TRANSPORTS];

typedef struct PacketFlow {
    int32_t from, to; // hosts
    int64_t bytes;    // of payload
    SimTime start;
    int32_t lane; // below PACKET_LANES: lanes take turns and have credits of their own
} PacketFlow;

typedef struct PacketNetwork {
    int host_count, switch_count; // a host has one cable
    const PacketCable *cables;
    int cable_count;
    PacketSwitch switches;
    PacketTransport transport;
    int payload_bytes, header_bytes, control_bytes; // of a full packet; beside it on the wire; of an acknowledgement
    double loss; // share of data packets that each cable loses at random, beside its own
    uint64_t seed;
    double window_seconds; // of time worked off at once, at most; 0: the smallest latency
    int threads; // at work, at most; 0: as many as are wanted (sim/system/workers.h). What comes of it is the same
} PacketNetwork;

typedef struct PacketPort { // what leaves by one end of a cable: 2 * cable from a to b, and 1 more for the way back
    int64_t packets, bytes;
    int64_t most_waiting; // bytes, without the packet on the wire
    double waited;        // byte-seconds: over a time, the mean depth
    int64_t drops, marks, trims;
    SimTime paused; // in all; or waiting for credits
} PacketPort;

typedef struct PacketEnd {
    SimTime end; // its last byte (of the last message) is there; SIM_TIME_NEVER: it is not
    int64_t resent, timeouts;
    int64_t acknowledged; // packets
} PacketEnd;

typedef struct PacketResult {
    const PacketEnd *flows;
    const PacketPort *ports;
    SimTime end;
    int64_t hops, sent, delivered, dropped, lost, duplicates; // packets; delivered: payload, first copies
    uint64_t digest;
    bool stopped; // by the watch
} PacketResult;

// What a run takes, about, so that it can be known before it begins. A hop of a packet or an acknowledgement: 75 ns,
// where another event takes 300; transports and routings are within a factor of 2 of it.
#define PACKET_EVENTS_A_HOP 0.25
#define PACKET_WAY_MEMORY 8 // bytes, of a pair of switches

// Until all has arrived, or until a time. NULL in *wrong: done; else what cannot be.
PacketResult packet_run(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int flow_count,
                        SimTime until, const char **wrong);

// ---- The same step by step, for whoever knows only as time goes on what is sent.

typedef struct PacketConnection { // carries messages one after the other
    int32_t from, to;             // hosts
    int64_t packets;              // of all its messages; packet_count says how many one has
    int32_t messages;
    double most_bytes_per_second; // on the wire; 0: as the transport likes
} PacketConnection;

typedef struct PacketArrival {
    SimTime time;
    int32_t connection, message; // the how-manieth sent, from 0
} PacketArrival;

typedef struct PacketSim PacketSim;
PacketSim *packet_open(Arena *arena, const PacketNetwork *network, const PacketConnection *connections, int count,
                       const char **wrong);
int64_t packet_count(const PacketNetwork *network, int64_t bytes);
// In order of time for each connection, and as many messages as were said; what would be within the window worked off
// last is at its end.
void packet_send(PacketSim *sim, int32_t connection, int64_t bytes, SimTime time);
SimTime packet_next(PacketSim *sim); // when the next window begins in which anything happens; NEVER: there is none
// Works it off: which messages arrived, as they did by host.
const PacketArrival *packet_advance(PacketSim *sim, int *count);
PacketResult packet_close(PacketSim *sim);
