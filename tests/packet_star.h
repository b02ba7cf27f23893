// Hosts on one switch, and what tests of packets let them send.
#pragma once

#include "sim/packet/packet.h"

#define PAYLOAD 1438 // with its header 1,500 bytes
#define WIRE 1500
#define LONG 1000000000000 // bytes: without end
#define HOSTS_MOST 256

typedef struct Star { // hosts on one switch
    PacketNetwork network;
    PacketCable cables[HOSTS_MOST];
} Star;

// Star *star: all hosts with cables of that rate (bytes per second) and latency (seconds).
void star(Star *star, int hosts, double rate, double latency, PacketTransportId transport);
PacketResult run_until(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count, SimTime until);
PacketResult run_all(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count);
// Every host but the last sends to it.
PacketResult incast(Arena *arena, const PacketNetwork *network, int64_t bytes, SimTime until);
const PacketPort *last_port(const PacketNetwork *network, const PacketResult *result); // down to the last host
// Bytes that wait for the last host in the mean of an incast without end, without its start.
double steady_waiting(const PacketNetwork *network, double start, double end);
// Two levels: as many spines as hosts on a leaf, so that a permutation could have the whole line.
PacketResult permutation(Arena *arena, PacketRouting routing, PacketTransportId transport, int leaves, int wide,
                         int packets, uint64_t seed);
