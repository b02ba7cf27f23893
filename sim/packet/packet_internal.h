// What the files of the packet engine share.
#pragma once

#include <stdatomic.h>

#include "sim/base/list.h"
#include "sim/base/memory_line.h"
#include "sim/event.h"
#include "sim/packet/packet.h"

// ---- The word: flow 24 bits, number 26, kind 4, marked, short, load 8.
typedef enum PacketKind { // first those that travel; of these the first are for the flow's receiver
    KIND_DATA,
    KIND_HEADER, // of a packet whose payload was cut off
    KIND_ACK,
    KIND_NACK, // go-back-N: the number that is waited for; trimming: the one that was cut
    KIND_NOTIFY,
    KIND_PULL,
    KIND_NEXT, // that came by a port (the number) may leave its switch
    KIND_FREE, // a port (the number) may send again
    KIND_PAUSE,
    KIND_RESUME,
    KIND_SEND, // a flow may send (again)
    KIND_TIMEOUT,
    KIND_PULLING, // a host's next pull
    KIND_CREDIT,  // room for so many bytes (the number) of a lane (the flow)
    KIND_MESSAGE  // a connection has another message to send
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

// ---- Wires (packet_windows.c): what is under way on a cable one way, in order of time.
typedef struct Flight {
    SimTime time; // when it is there
    uint64_t word;
    SimTime sent; // the packet, or the one that it answers
} Flight;

// One thread writes and another may read: what was there before a window stays where it is, also when the ring grows.
typedef struct Wire {
    _Atomic uintptr_t ring;      // of flights, a power of two of them, which its last bits say: one word, so one look
    _Atomic uint32_t head, tail; // read, written so far
} Wire;

static inline uint32_t ring_room(uintptr_t ring) { return 1u << (ring % MEMORY_LINE); }
static inline Flight *ring_flight(uintptr_t ring, uint32_t at) {
    return (Flight *)(ring & ~(uintptr_t)(MEMORY_LINE - 1)) + (at & (ring_room(ring) - 1));
}

// ---- Windows (packet_windows.c): a worker has some nodes. A place is a node for what happens there by itself, or a
// cable's end at it; places of a worker are next to each other, those of a node too, in the order of their cables.
#define WINDOW_MOST ((SimTime)1 << 20)
#define WINDOWS 64 // that are kept apart; what comes later waits in a queue
#define FACTOR_BITS 48

typedef struct Place {
    int32_t node, port; // by which it comes; -1: by itself
} Place;

typedef struct SoonEvent {
    SimTime time;
    uint64_t word;
} SoonEvent;

typedef struct Node {
    SoonEvent *soon; // what happens there by itself, the earliest first
    int32_t begin, end, room;
    int32_t place;
    // Of a switch:
    int32_t backlog_count, pausing; // senders that it has told not to send
    int32_t *backlog;               // ports at which something waits
    int64_t used;                   // bytes of its buffer
} Node;

// ---- Hosts.
typedef enum PacketState { STATE_UNSENT, STATE_SENT, STATE_LOST, STATE_ACKNOWLEDGED } PacketState;

typedef struct FlowMessage { // packets of a flow in order, the last with what is left
    int32_t end, last_payload, missing;
} FlowMessage;

typedef struct Messages { // of a connection
    FlowMessage *items;
    int32_t sending, arriving;    // where it is looked first
    int32_t in_all, known, ready; // that there will be; that were handed over; that may be sent
    int32_t packets;              // in all
    SimTime least_full_ticks;     // from one packet to the next
    double least_ticks_per_byte;
    SimTime handed_at; // the last of them
} Messages;

typedef struct Marks { // a byte for each packet of those that are under way, in a ring
    uint8_t *items;
    int32_t room;
} Marks;

typedef struct FlowEnds { // what all who see its packets look at: of the sender, the receiver
    int32_t leaf[2];      // its host's switch (or the other host)
    int32_t down[2];      // and the port down to it
    int32_t lane;
    int32_t last_payload; // where it is one message
} FlowEnds;

typedef struct FlowState { // of the sender
    int32_t from, packets; // packets: known of so far
    int32_t next, lost_from, lost, flying, acknowledged, highest, scanned, recover, missing;
    int backoff;
    bool ready, timing, pacing;
    Marks states;                                                // those from the first missing to the highest sent
    Messages *messages;                                          // NULL: it is one
    double window, threshold, rate;                              // packets; bytes a second
    SimTime next_send, timeout_at, timer_at, smoothed, variance; // timer_at: of the event that tells
    int64_t resent, timeouts;
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
    SimTime last_cut;                       // SWIFT, NSCC
    int32_t cables;                         // SWIFT: of its way
    int32_t credit;                         // NDP, EQDS, RCCC: may be sent
    double late;                            // NSCC: seconds in queues, the mean of late
    SimTime epoch_end;                      // NSCC: when it is looked at what arrived
    bool hurt;                              // NSCC: something was trimmed or very late since it began
    // EQDS, RCCC, of sender and receiver, which one thread works off: packets for which there was credit; that need it
    // once more.
    int32_t granted, again;
} FlowState;

typedef struct FlowThere { // of the receiver
    Messages *messages;    // NULL: it is one
    int32_t packets;       // in all
    int32_t expected, received;
    bool asked_again;
    Marks marks; // those from the expected on
    SimTime notified;
    SimTime end; // its last byte is there
} FlowThere;

// What a transport does about an acknowledgement, a loss found, a timeout, a congestion notification, a packet sent.
// Where it has nothing to do but start: NULL.
typedef struct TransportActs {
    void (*start)(const PacketSim *sim, FlowState *flow, SimTime now);
    void (*acknowledged)(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now);
    void (*lost)(FlowState *flow);
    void (*timed_out)(FlowState *flow);
    void (*notified)(const PacketSim *sim, FlowState *flow, SimTime now);
    void (*sent)(const PacketSim *sim, FlowState *flow, double wire_bytes, SimTime now);
    bool takes_time; // hosts do, at random, after an acknowledgement
    bool pulled;
    bool by_backlog; // and asked for no more than the sender has
    bool slows;      // and the more slowly, the more of it comes marked
} TransportActs;
const TransportActs *transport_acts(PacketTransportId id);

// ---- All of it.
typedef struct Waiting {
    uint64_t word;
    SimTime sent;
    int32_t port; // by which it came; -1: made here
} Waiting;

typedef struct Queue { // a ring
    Waiting *items;
    int head, count, room;
} Queue;

typedef struct Port { // two lines of memory: what every packet looks at
    SimTime free_at, full_ticks, control_ticks, latency;
    int32_t number, from, to, place; // place: where it arrives
    int64_t waiting;                 // bytes of data that wait here
    bool told, paused;               // its FREE is on the way; it may not send
    bool listed;                     // in its switch's backlog
    bool loses, starved;             // it waits for credits
    int8_t lane;                     // that sent last
    int64_t packets, bytes, most_waiting;
    double waited; // byte-ticks
    SimTime since;
    Queue data[PACKET_LANES];
    const Queue *waits; // by lane: its data, or its host's flows
    double ticks_per_byte;
    int64_t drops, marks, trims;
    SimTime paused_since, paused_ticks;
    int64_t credit[PACKET_LANES];
    double load;
    SimTime load_at;
    uint64_t draws;
    int64_t passed; // data packets, where it loses some at even distances
} Port;

// What came by a cable and waits in its switch, where pauses, credits or queues at inputs make something of it.
typedef struct Inlet {
    int64_t bytes;
    bool pauses; // its sender has been told not to send
    bool leaves; // queues at inputs: the first of those that wait
    Queue queue; // the others, `port` where to
} Inlet;

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

typedef struct FarEvent {
    int32_t place;
    uint64_t word;
} FarEvent;

// Whoever works off some of the nodes of a window, beside others.
typedef struct PacketWorker {
    PacketSim *sim;
    int32_t first_word, end_word; // of 64 places each: those of its nodes
    int32_t *ports;               // by which something comes to the node at work
    Place *work;                  // of the window
    uint64_t *noted[WINDOWS];     // a bit for each place of all workers, by window: something happens there
    bool any[WINDOWS];
    EventQueue *far; // item: of far_events
    LIST_OF(FarEvent) far_events;
    LIST_OF(int32_t) far_free;
    struct { // what arrives at the node at work within the window, by time
        uint64_t *items, *sorted;
        int count, room;
    } keys;
    LIST_OF(PacketArrival) arrivals; // of the window
    int64_t hops, sent, delivered, dropped, lost, duplicates, flows_there;
    SimTime end;    // the last byte that is there
    char apart[64]; // from what another one writes
} PacketWorker;

struct PacketSim {
    Arena *arena;
    const PacketNetwork *network;
    const TransportActs *acts;
    const PacketTransportRow *row;
    Port *ports;
    Inlet *inlets; // [port by which it came]
    Wire *wires;   // [2 * port] of packets, and 1 more of pauses and credits, which overtake what is being sent
    Host *hosts;
    Node *nodes;
    Place *places;
    FlowEnds *ends;
    FlowState *flows;
    FlowThere *there;
    int32_t *leaf, *down; // [host] its switch (or the other host), and the port down to it
    Ways *ways;           // [switch * switches + switch]
    LIST_OF(int32_t) way_ports;
    int32_t *first, *port_of; // [switch], [first[switch] … first[switch + 1]] its ports
    int64_t full_bytes, control_bytes;
    bool by_credits, by_inlet, plain;                 // by_inlet: inlets count; plain: who finds a port idle passes
    bool late;                                        // what leaves a switch is worked out when somebody asks
    SimTime timeout_least, timer_ticks, notify_ticks; // of the transport
    SimTime window_length, window_end;                // of the one under way
    int64_t window_number;
    uint64_t window_factor; // 2^FACTOR_BITS / length
    uint64_t windows_reach; // how long after the one under way what comes is kept by windows
    int64_t window_hops;    // of the window worked off last
    PacketWorker *workers;
    int worker_count, flow_count;
    bool one_lane;                   // that flows use, the first
    LIST_OF(PacketArrival) arrivals; // of the window worked off last
    PacketResult result;
};

static inline const PacketNetwork *sim_network(const PacketSim *sim) { return sim->network; }
static inline double sim_line_rate(const PacketSim *sim, int32_t host) {
    return 1e12 / sim->ports[sim->hosts[host].port].ticks_per_byte;
}
void *worker_room(PacketWorker *worker, size_t count, size_t item_bytes); // zeros, in the arena

// ---- What is under way and what is to come.
void windows_lay(PacketSim *sim); // when ports are; nodes, places and wires too
void windows_far(PacketWorker *worker, SimTime time, FarEvent event);
void windows_make_room(PacketWorker *worker, Node *node);
uintptr_t wire_grow(PacketWorker *worker, Wire *wire);
SimTime windows_next_begin(const PacketSim *sim); // of the next one that has anything; NEVER: there is none
bool windows_next(PacketSim *sim);                // it is under way. False: there is none
// What comes by ports to a node within the window, by time and port: time within it << 32 | 2 * which of the ports, and
// 1 more for a frame. Until they are asked for again.
const uint64_t *windows_keys(PacketWorker *worker, const int32_t *ports, int count, int *key_count);

// Something happens at a place, after the window under way. False: too late to be kept by windows.
static inline bool windows_note(PacketWorker *worker, SimTime time, int32_t place) {
    const PacketSim *sim = worker->sim;
    uint64_t after = (uint64_t)(time - sim->window_end);
    if (after >= sim->windows_reach) return false;
    uint64_t number = (uint64_t)sim->window_number + 1 + (after * sim->window_factor >> FACTOR_BITS);
    worker->noted[number % WINDOWS][place >> 6] |= UINT64_C(1) << (place & 63);
    worker->any[number % WINDOWS] = true;
    return true;
}

static inline SimTime wire_next(const Wire *wire) { // when the first of what is under way is there; NEVER: nothing is
    uint32_t head = atomic_load_explicit(&wire->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&wire->tail, memory_order_acquire)) return SIM_TIME_NEVER;
    return ring_flight(atomic_load_explicit(&wire->ring, memory_order_acquire), head)->time;
}

static inline Flight wire_take(Wire *wire) {
    uint32_t head = atomic_load_explicit(&wire->head, memory_order_relaxed);
    Flight flight = *ring_flight(atomic_load_explicit(&wire->ring, memory_order_acquire), head);
    atomic_store_explicit(&wire->head, head + 1, memory_order_release);
    return flight;
}

static inline void wire_put(PacketWorker *worker, Wire *wire, int32_t place, SimTime time, uint64_t word,
                            SimTime sent) {
    uintptr_t ring = atomic_load_explicit(&wire->ring, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&wire->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&wire->head, memory_order_acquire) == ring_room(ring))
        ring = wire_grow(worker, wire);
    Flight *flight = ring_flight(ring, tail);
    flight->time = time;
    flight->word = word;
    flight->sent = sent;
    atomic_store_explicit(&wire->tail, tail + 1, memory_order_release);
    if (!windows_note(worker, time, place)) windows_far(worker, time, (FarEvent){place, 0});
}

// Of the same time by what it is, whenever it was put there. Fewer move up where it is late, or down where it is early.
static inline bool is_after(const SoonEvent *event, SimTime time, uint64_t word) {
    return event->time > time || (event->time == time && event->word > word);
}

static inline void node_soon(PacketWorker *worker, Node *node, SimTime time, uint64_t word) {
    if (node->end == node->room) windows_make_room(worker, node);
    SoonEvent *soon = node->soon;
    int place;
    if (node->begin > 0 && is_after(&soon[(node->begin + node->end) / 2], time, word)) {
        place = --node->begin;
        for (; !is_after(&soon[place + 1], time, word); place++) soon[place] = soon[place + 1];
    } else {
        place = node->end++;
        for (; place > node->begin && is_after(&soon[place - 1], time, word); place--) soon[place] = soon[place - 1];
    }
    soon[place] = (SoonEvent){time, word};
}

// By itself at a node: of the worker, or between windows.
static inline void sim_here(PacketWorker *worker, SimTime time, uint64_t word, int32_t number) {
    Node *node = &worker->sim->nodes[number];
    if (time >= worker->sim->window_end && !windows_note(worker, time, node->place))
        windows_far(worker, time, (FarEvent){node->place, word});
    else
        node_soon(worker, node, time, word);
}

static inline void sim_at_host(PacketWorker *worker, int32_t host, SimTime time, PacketKind kind, int32_t flow) {
    sim_here(worker, time, word_of(kind, flow, 0), host);
}

// ---- Nodes (packet_nodes.c).
void nodes_run_window(PacketWorker *worker);

// ---- What ports and switches (packet_nodes.c) and hosts (packet_hosts.c) share: queues.
void queue_grow(PacketWorker *w, Queue *queue);

static inline void queue_push(PacketWorker *w, Queue *queue, Waiting waiting) {
    if (queue->count == queue->room) queue_grow(w, queue);
    queue->items[(queue->head + queue->count++) & (queue->room - 1)] = waiting;
}

static inline Waiting queue_pop(Queue *queue) {
    Waiting waiting = queue->items[queue->head];
    queue->head = --queue->count ? (queue->head + 1) & (queue->room - 1) : 0; // where memory is near
    return waiting;
}

// ---- Packets.
int64_t packet_short_bytes(const PacketSim *sim, uint64_t word); // on the wire, of the last packet of a message

static inline int64_t data_bytes(const PacketSim *sim, uint64_t word) {
    return word & WORD_SHORT ? packet_short_bytes(sim, word) : sim->full_bytes;
}

static inline int lane_of(const PacketSim *sim, uint64_t word) { return sim->ends[word_flow(word)].lane; }

// ---- Ports.
// Sends the next packet that waits at a port, or at its host, if the port may send.
void port_go(PacketWorker *w, Port *port, SimTime now);
void port_send_data(PacketWorker *w, Port *port, uint64_t word, SimTime sent, int64_t bytes, SimTime now);
// Sends a control packet (acknowledgement, pull, ...) at once or after what is being sent and control before it. Of a
// host, or of a switch that works off each event when it happens.
void port_send_control(PacketWorker *w, Port *port, uint64_t word, SimTime sent, SimTime now);
// Where there are credits: returns those of a packet that has left a buffer to the sender at the far end of the cable.
void port_give_credit(PacketWorker *w, const Port *back, uint64_t word, SimTime now);

// ---- Hosts.
// Sends the next packet of a lane's flows that may send. False: none may.
bool host_sends(PacketWorker *w, Host *host, int lane, SimTime now);
void host_receives(PacketWorker *w, Host *host, const Flight *flight);
// An event of a host's own: a flow may send again, has a message, has timed out, or its next pull is due.
void host_event(PacketWorker *w, int32_t host, uint64_t word, SimTime now);
