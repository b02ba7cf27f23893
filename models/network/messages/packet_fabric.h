// A fabric as hosts (NICs), switches and cables of the packet engine. Private to this folder.
#pragma once

#include "models/network/topology.h"
#include "sim/base/list.h"
#include "sim/packet/packet.h"

typedef struct PacketHost {
    int32_t node, nic;
    double bytes_per_second; // of payload
} PacketHost;

typedef struct PacketFabric {
    const Network *network;
    const PacketHost *hosts;
    int host_count, switch_count;
    const char **switch_names;
    LIST_OF(PacketCable) cables;  // first one for each host
    double host_latency, latency; // of a host's cable, of one between switches without its own
    int most_ports;               // of a switch
} PacketFabric;

// A sentence and a remedy where packets do not know its ways; else NULL.
const char *packet_fabric_refused(const Network *network, const char **remedy);
// `stretch`: bytes on the wire per byte of payload.
PacketFabric packet_fabric(Arena *arena, const Network *network, const PacketHost *hosts, int host_count,
                           double stretch);
// One way between two hosts, with as many cables on it; and what a host's cable carries.
double packet_fabric_seconds(const Network *network, const PacketHost *from, const PacketHost *to, int *cables);
double packet_fabric_host_rate(const Network *network, const PacketHost *host, double stretch);
// So much passes between a message's beginning and its first packet at least: windows are as long, or shorter.
double packet_fabric_window(const Network *network);
// Of what leaves by an end of a cable, as packets number them.
const char *packet_fabric_port_name(Arena *arena, const PacketFabric *fabric, int port);
