// Properties of a transport, independent of the links below it. Private to this folder.
#pragma once

#include "models/network/network.h"

typedef struct TransportRow {
    const char *name;
    double header_bytes, mtu;           // of a packet on the wire: all that is not payload, and payload and IP headers
    double mtu_headers;                 // of these inside the MTU
    double cpu_seconds_per_byte;        // of one core that sends; 0: the NIC does it
    double connection_bytes_per_second; // of one connection at most; 0: a NIC's whole rate
    int connections;                    // per NIC
    double window_bytes;                // in flight per connection; 0: as much as it takes
    double first_window_bytes;          // slow start; 0: full speed at once
    double eager_bytes;                 // sent at once at most; longer messages agree first; 0: any
    bool hashed;                        // flows choose among equal ways by hash unless switches are adaptive
} TransportRow;

const TransportRow *transport_row(Transport transport);
// Share of the line rate that is payload.
double transport_payload_share(const TransportRow *row, double mtu);
// Rate limit of the connections of that many NICs over such a round trip; 0: no limit.
double transport_rate(Transport transport, double round_trip_seconds, int nics);
// Time that a message waits for its window to open, beyond one round trip's worth that is always open.
double transport_start_seconds(Transport transport, double round_trip_seconds, double bytes, int nics);
