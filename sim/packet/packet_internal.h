// What the files of the packet engine share.
#pragma once

#include "sim/base/list.h"
#include "sim/packet/packet.h"

// ---- The word: flow 24 bits, number 26, kind 4, marked, short, load 8.
typedef enum PacketKind { // first those that travel; of these the first are for the flow's receiver
    KIND_DATA,
    KIND_HEADER, // of a packet whose payload was cut off
    KIND_ACK,
    KIND_NACK, // go-back-N: the number that is waited for; trimming: the one that was cut
    KIND_NOTIFY,
    KIND_PULL,
    KIND_FREE, // a port (the number) may send again
    KIND_PAUSE,
    KIND_RESUME,
    KIND_SEND, // a flow may send (again)
    KIND_TIMEOUT,
    KIND_PULLING, // a host's next pull
    KIND_CREDIT,  // room for so many bytes (the number) of a lane (the flow)
    KIND_MESSAGE, // a connection has another message to send
    KIND_NEXT     // that came by a port (the number) may leave its switch
} PacketKind;

#define PACKET_FLOWS_MOST (1 << 24)
#define PACKET_NUMBERS_MOST (1 << 26)
#define WORD_MARKED (UINT64_C(1) << 54)
#define WORD_SHORT (UINT64_C(1) << 55)
#define WORD_LOAD_AT 56
#define WORD_BROUGHT_BACK (WORD_MARKED | UINT64_C(255) << WORD_LOAD_AT)
// A load of so many thousandths times a power: 0.01 to 5.4 in eight bits, as PINT has it (Ben Basat et al. 2020).
#define LOAD_LEAST 0.01
#define LOAD_STEP 1.025
static inline uint64_t word_of(PacketKind kind, int32_t flow, int64_t number) {
    return (uint64_t)flow | (uint64_t)number << 24 | (uint64_t)kind << 50;
}
static inline int32_t word_flow(uint64_t word) { return (int32_t)(word & 0xffffff); }
static inline int32_t word_number(uint64_t word) { return (int32_t)(word >> 24 & 0x3ffffff); }
static inline int word_load(uint64_t word) { return (int)(word >> WORD_LOAD_AT); }
static inline PacketKind word_kind(uint64_t word) { return (PacketKind)(word >> 50 & 15); }
static inline uint64_t word_as(uint64_t word, PacketKind kind) {
    return (word & ~(UINT64_C(15) << 50)) | (uint64_t)kind << 50;
}

typedef struct PacketEvent {
    SimTime time;
    uint64_t word;
    SimTime sent;  // the packet, or the one that it answers
    int32_t where; // port by which it comes, or that pauses or has credits
    int32_t node;  // at which it happens
} PacketEvent;

// ---- Windows (packet_windows.c).
#define WINDOW_MOST ((SimTime)1 << 20)
typedef struct PacketWindows PacketWindows;
PacketWindows *windows_create(Arena *arena, SimTime length, int node_count);
PacketEvent *windows_add(PacketWindows *windows,
                         SimTime time);             // to be filled in; not before the end of the one under way
SimTime windows_next_begin(PacketWindows *windows); // of the next one that has anything; NEVER: there is none
// That one, by node, those of a node as they were added. False: there is none.
typedef struct PacketWindow {
    PacketEvent *events;
    int count;
    SimTime end;
} PacketWindow;
bool windows_next(PacketWindows *windows, PacketWindow *window);
// Events of one node of it by time, there or elsewhere, until the next ones are asked for.
const PacketEvent *windows_by_time(PacketWindows *windows, PacketEvent *events, int count);

// ---- Hosts.
typedef enum PacketState { STATE_UNSENT, STATE_SENT, STATE_LOST, STATE_ACKNOWLEDGED } PacketState;

typedef struct FlowMessage { // packets of a flow in order, the last with what is left
    int32_t end, last_payload, missing;
} FlowMessage;

typedef struct Messages { // of a connection
    FlowMessage *items;
    int32_t in_all, known, ready; // that there will be; that were handed over; that may be sent
    int32_t packets;              // in all
    double least_ticks_per_byte;
    SimTime handed_at; // the last of them
} Messages;

typedef struct Marks { // a byte for each packet of those that are under way, in a ring
    uint8_t *items;
    int32_t room;
} Marks;

typedef struct FlowState {
    int32_t from, lane;
    int32_t packets, last_payload; // known of so far; where it is one message
    Messages *messages;            // NULL: it is one
    Marks states;                  // of the sender: those from the first missing to the highest sent
    Marks there;                   // of the receiver: those from the expected on
    // The sender.
    int32_t next, lost_from, lost, flying, acknowledged, highest, scanned, recover, missing;
    double window, threshold, rate;                              // packets; bytes a second
    SimTime next_send, timeout_at, timer_at, smoothed, variance; // timer_at: of the event that tells
    int backoff;
    bool ready, timing, pacing;
    double alpha;
    int32_t seen, marked, round, cut_until; // DCTCP: since the round began; when so many are acknowledged it ends
    double target_rate;                     // DCQCN
    SimTime alpha_due, increase_due;
    double bytes_since;
    int by_timer, by_bytes;
    double peak, before, friendly, plateau; // CUBIC: W_max, cwnd_prior, W_est, K in seconds
    SimTime epoch;                          // CUBIC: since when it avoids congestion; 0: it has not begun
    double load, reference;                 // HPCC: what the last acknowledgement told; the window W^c, in packets
    int stage;                              // HPCC
    double rising;                          // TIMELY: round trips, by the segment, in ticks
    SimTime before_trip, least_trip;        // TIMELY
    SimTime last_cut;                       // SWIFT
    int32_t credit;                         // NDP, EQDS, RCCC: may be sent
    double late;                            // NSCC: seconds in queues, the mean of late
    SimTime epoch_end;                      // NSCC: when it is looked at what arrived
    bool hurt;                              // NSCC: something was trimmed or very late since it began
    // The receiver.
    int32_t expected, received;
    bool asked_again;
    SimTime notified;
    int32_t granted, again; // EQDS, RCCC: packets for which there was credit; that need it once more
} FlowState;

// What a transport does about an acknowledgement, a loss found, a timeout, a congestion notification, a packet sent.
// Where it has nothing to do but start: NULL.
typedef struct TransportActs {
    void (*start)(const PacketSim *sim, FlowState *flow, SimTime now);
    void (*acknowledged)(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now);
    void (*lost)(FlowState *flow);
    void (*timed_out)(FlowState *flow);
    void (*notified)(const PacketSim *sim, FlowState *flow, SimTime now);
    void (*sent)(const PacketSim *sim, FlowState *flow, double wire_bytes, SimTime now);
    bool pulled;
    bool by_backlog; // and asked for no more than the sender has
    bool slows;      // and the more slowly, the more of it comes marked
} TransportActs;
const TransportActs *transport_acts(PacketTransportId id);

// ---- All of it.
typedef struct Waiting {
    uint64_t word;
    SimTime sent;
    int32_t in; // port by which it came; -1: made here
} Waiting;

typedef struct Queue { // a ring
    Waiting *items;
    int head, count, room;
} Queue;

typedef struct Port { // what every packet looks at stands together
    int32_t from, to;
    SimTime free_at, full_ticks, control_ticks, latency;
    bool told, paused, pauses; // its FREE is on the way; it may not send; its sender has been told not to
    bool loses, starved;       // it waits for credits
    const Queue *waits;        // by lane: its data, or its host's flows
    Queue control, data[PACKET_LANES];
    Queue
        behind;  // where switches queue at inputs: that came by this port and wait for the first of them, `in` where to
    bool leaves; // that first one
    int8_t lane; // that sent last
    int64_t credit[PACKET_LANES];
    SimTime since;
    int64_t waiting, from_here; // bytes of data that wait here; that came by this port and wait in its switch
    double ticks_per_byte;
    SimTime paused_since;
    double load;
    SimTime load_at;
    uint64_t draws;
    int64_t passed; // data packets, where it loses some at even distances
    PacketPort counted;
} Port;

typedef struct Host {
    int32_t port;
    Queue ready[PACKET_LANES], pulls; // flows
    SimTime next_pull;
    bool pulling;
    double marked; // of what came lately, a share
} Host;

typedef struct Ways {
    int32_t first;
    int32_t count;
} Ways;

typedef struct SoonEvent {
    SimTime time;
    uint64_t word;
} SoonEvent;

struct PacketSim {
    Arena *arena;
    const PacketNetwork *network;
    const TransportActs *acts;
    const PacketTransportRow *row;
    Port *ports;
    Host *hosts;
    FlowState *flows;
    PacketEnd *ends;
    int64_t *used;          // [switch] bytes of its buffer
    int32_t *leaf, *down;   // [host] its switch (or the other host), and the port down to it
    int32_t (*hosts_of)[2]; // [flow] the sender's, the receiver's
    Ways *ways;             // [switch * switches + switch]
    struct {
        int32_t *items;
        int count, room;
    } way_ports;
    int32_t *first, *port_of; // [switch], [first[switch] … first[switch + 1]] its ports
    int64_t full_bytes, control_bytes;
    bool by_credits;
    PacketWindows *windows;
    SimTime window_end;
    struct { // of the node at work, within the window: the earliest first
        SoonEvent *items;
        int begin, count, room;
    } soon;
    int left; // flows of packet_run
    int flow_count;
    struct { // of the window worked off last
        PacketArrival *items;
        int count, room;
    } arrivals;
    PacketResult result;
};

static inline const PacketNetwork *sim_network(const PacketSim *sim) { return sim->network; }
static inline double sim_line_rate(const PacketSim *sim, int32_t host) {
    return 1e12 / sim->ports[sim->hosts[host].port].ticks_per_byte;
}

// Behind those of the same time; fewer move up where it is late, or down where it is early.
static inline void sim_soon(PacketSim *sim, SimTime time, uint64_t word) {
    SoonEvent *soon = sim->soon.items;
    int begin = sim->soon.begin, place;
    if (begin > 0 && soon[(begin + sim->soon.count) / 2].time > time) {
        place = sim->soon.begin = begin - 1;
        for (; soon[place + 1].time <= time; place++) soon[place] = soon[place + 1];
    } else {
        LIST_PUSH(sim->arena, &sim->soon, (SoonEvent){0});
        soon = sim->soon.items;
        place = sim->soon.count - 1;
        for (; place > begin && soon[place - 1].time > time; place--) soon[place] = soon[place - 1];
    }
    soon[place].time = time;
    soon[place].word = word;
}

// Written where it is to stand, field by field: a copy made on the stack would be waited for.
static inline void sim_at(PacketSim *sim, SimTime time, uint64_t word, SimTime sent, int32_t where, int32_t node) {
    PacketEvent *event = windows_add(sim->windows, time);
    event->time = time;
    event->word = word;
    event->sent = sent;
    event->where = where;
    event->node = node;
}

// At the node at work.
static inline void sim_here(PacketSim *sim, SimTime time, uint64_t word, int32_t node) {
    if (time < sim->window_end)
        sim_soon(sim, time, word);
    else
        sim_at(sim, time, word, 0, 0, node);
}

static inline void sim_at_host(PacketSim *sim, int32_t host, SimTime time, PacketKind kind, int32_t flow) {
    sim_here(sim, time, word_of(kind, flow, 0), host);
}

// ---- Nodes (packet_nodes.c). False: it is to stop.
bool nodes_run_window(PacketSim *sim, const PacketWindow *window);

// ---- Ways (packet_ways.c): ports too, the smallest latency in *least. NULL, or what cannot be.
const char *ways_lay(PacketSim *sim, SimTime *least);
bool ways_reach(const PacketSim *sim, int32_t from, int32_t to);
