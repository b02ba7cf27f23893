// The table of transports. Framing is arithmetic on header sizes: Ethernet 38 B a packet on the wire (preamble 8,
// header 14, FCS 4, gap 12), IP 20, TCP 32 with time stamps, UDP 8, BTH 12, ICRC 4; InfiniBand LRH 8, BTH 12, ICRC 4,
// VCRC 2. Windows are Linux's defaults: tcp_wmem 4 MiB, ten segments at first (RFC 6928).
#include "models/network/transports.h"

#include <math.h>

#include "sim/base/check.h"

static const TransportRow rows[] = {
    // A core of a current server moves about 40 Gb/s of TCP with segmentation offload; one connection 20 to 30 Gb/s.
    [NET_INFINIBAND] = {"InfiniBand", 26, 4096, 0, 0, 0, 1, 0, 0, 0, false},
    [NET_ROCE] = {"RoCE", 38 + 20 + 8 + 12 + 4, 4096, 0, 0, 0, 1, 0, 0, 0, true},
    [NET_EFA] = {"EFA", 38 + 20 + 8 + 24, 8928, 0, 0, 0, 1, 0, 0, 0, false}, // SRD sprays packets over ways
    // libfabric's cxi provider: eager up to its threshold, then a rendezvous.
    [NET_SLINGSHOT] = {"Slingshot", 38 + 20 + 8 + 24, 2048, 0, 0, 0, 1, 0, 0, 4096, false},
    [NET_TCP] = {"TCP", 38, 1500, 52, 0.2e-9, 3e9, 2, 4194304, 14480, 0, true},
    // Google's TCP into GPU memory: jumbo frames, and no core touches the payload.
    [NET_TCPX] = {"TCPX", 38, 8244, 52, 0, 0, 2, 4194304, 14480, 0, true},
};

const TransportRow *transport_row(Transport transport) {
    CHECK((size_t)transport < sizeof rows / sizeof *rows);
    return &rows[transport];
}

double transport_payload_share(const TransportRow *row, double mtu) {
    return (mtu - row->mtu_headers) / (mtu + row->header_bytes);
}

// A connection has a core that sends, a limit of its own, and a window's worth of bytes a round trip.
double transport_rate(Transport transport, double round_trip_seconds, int nics) {
    const TransportRow *row = transport_row(transport);
    double each = INFINITY;
    if (row->connection_bytes_per_second > 0) each = row->connection_bytes_per_second;
    if (row->cpu_seconds_per_byte > 0) each = fmin(each, 1 / row->cpu_seconds_per_byte);
    if (row->window_bytes > 0 && round_trip_seconds > 0) each = fmin(each, row->window_bytes / round_trip_seconds);
    return isinf(each) ? 0 : each * row->connections * (nics > 0 ? nics : 1);
}

// The window doubles each round trip until it holds the message or is full; each round trip sends one window.
double transport_start_seconds(Transport transport, double round_trip_seconds, double bytes, int nics) {
    const TransportRow *row = transport_row(transport);
    double window = row->first_window_bytes, left = bytes / ((nics > 0 ? nics : 1) * row->connections), seconds = 0;
    if (window <= 0) return 0;
    while (window < left && window < row->window_bytes) {
        left -= window;
        window *= 2;
        seconds += round_trip_seconds;
    }
    return seconds;
}
