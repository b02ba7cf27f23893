// What ports and switches (packet_nodes.c) and hosts (packet_hosts.c) of the packet engine share.
#pragma once

#include "sim/packet/packet_internal.h"

// ---- Queues.
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

static inline int64_t wire_bytes(const PacketSim *sim, uint64_t word) {
    if (word_kind(word) != KIND_DATA) return sim->control_bytes;
    return word & WORD_SHORT ? packet_short_bytes(sim, word) : sim->full_bytes;
}

static inline int lane_of(const PacketSim *sim, uint64_t word) { return sim->ends[word_flow(word)].lane; }

// ---- Ports.
// Sends the next packet that waits at a port, or at its host, if the port may send.
void port_go(PacketWorker *w, Port *port, SimTime now);
void port_send_data(PacketWorker *w, Port *port, uint64_t word, SimTime sent, int64_t bytes, SimTime now);
// Sends a control packet (acknowledgement, pull, ...) at once or after what is being sent.
void port_send_control(PacketWorker *w, Port *port, uint64_t word, SimTime sent, SimTime now);
// Returns the credits of a packet that has left a buffer to the sender at the far end of the cable.
void port_give_credit(PacketWorker *w, const Port *back, uint64_t word, SimTime now);

// ---- Hosts.
// Sends the next packet of a lane's flows that may send. False: none may.
bool host_sends(PacketWorker *w, Host *host, int lane, SimTime now);
void host_receives(PacketWorker *w, Host *host, const Flight *flight);
// An event of a host's own: a flow may send again, has a message, has timed out, or its next pull is due.
void host_event(PacketWorker *w, int32_t host, uint64_t word, SimTime now);
