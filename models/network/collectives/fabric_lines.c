// Latency of long lines between switches (between sites, or drawn by a user) for each candidate of a collective.
#include <math.h>

#include "models/network/collectives/candidates.h"
#include "models/network/transports.h"

// A ring that goes round twice crosses each of its lines twice. Over the longest of them a transport with a window
// sends no more than that per round trip.
void count_lines(const Group *group, const Loads *loads, const CollectiveRequest *request, Candidate *candidate) {
    bool twice = request->op == COLLECTIVE_ALL_REDUCE || request->op == COLLECTIVE_BARRIER;
    Transport transport = group->network->fabric.transport;
    double round_trip = 2 * loads->longest_line_seconds;
    if (loads->line_seconds <= 0) return;
    candidate->latency += (twice ? 2 : 1) * loads->line_seconds;
    candidate->latency += transport_start_seconds(transport, round_trip, request->bytes, group->nics);
    double rate = transport_rate(transport, round_trip, group->nics);
    if (rate > 0) candidate->between_limit = candidate->between_limit > 0 ? fmin(candidate->between_limit, rate) : rate;
}
