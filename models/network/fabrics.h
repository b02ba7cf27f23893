// The table of fabrics: a kind is a row and the file with its functions. Private to this folder.
#pragma once

#include "models/network/topology.h"

typedef struct FabricRow {
    const char *name;                                                        // in messages
    void (*check)(const NetworkSpec *spec, Where where, Problems *problems); // NULL: always valid
    void (*lay)(Arena *arena, Network *network);                             // sets the number of links, names them
    int (*leaf)(const Network *network, int node, int nic);                  // NULL: one switch
    int (*switches)(const Network *network, int from, int to);               // crossed, from == to included
    void (*cross)(const Network *network, int from, int to, double share, const Crossing *crossing); // NULL: no links
    double (*line_seconds)(const Network *network, int from, int to);          // NULL: no long lines
    void (*enter)(const Network *network, int leaf, const Crossing *crossing); // NULL: nothing above the leaves
    // Links up (or down) from a leaf to the top, which nothing crosses but through NICs beneath. NULL: no such links.
    void (*above)(const Network *network, int leaf, bool down, const Crossing *crossing);
    bool (*is_even)(const Network *network, int senders); // see network_is_even: of the fabric alone. NULL: never
} FabricRow;

extern const FabricRow single_switch_row, tree_row, rail_only_row, dragonfly_row, dragonfly_plus_row, torus_row,
    graph_row;

// Room for the links of a fabric, in pairs, after those of the nodes.
void fabric_make_room(Arena *arena, Network *network, int switches, int planes, int pairs);
// Fills one pair; the names are the arena's.
void fabric_set_pair(Network *network, int pair, double bytes_per_second, const char *forth, const char *back,
                     const char *from, const char *to);
void fabric_set_name(Network *network, int number, const char *name);
// Payload bandwidth of a shared line of that line rate: the share that NICs attain, but over TCP what the wire allows.
// There the CPUs of each host hold its NICs back, and hosts share the line.
double fabric_line_rate(const Network *network, double line_bytes_per_second);
// Bandwidth of the lines above that many nodes, whose line rates add up to the NICs' over `oversubscription`.
double fabric_rate_above(const Network *network, int nodes, double oversubscription);
// Effective share of parallel links when flows choose among them by hash (fabric_loads.c).
double fabric_hash_share(double flows, double links);

static inline void cross_link(const Crossing *crossing, const Network *network, int link, double share) {
    crossing->add(crossing->context, network->first_fabric_link + link, share);
}
static inline double or_one(double number) { return number > 0 ? number : 1; }

// A fat tree's tiers from the leaves up: units of one tier have one bundle of links up to the next.
#define TREE_TIER_LIMIT 3
typedef struct TreeTier {
    const char *word; // "leaf", "pod", "site"
    int units;        // per plane
    int nodes;        // per unit
    double bytes_per_second;
    double hashed;  // the share of it that is left where flows choose by hash
    double seconds; // of the line between two units, when they are joined by a line and not by switches
    bool line;
    int first_pair;
} TreeTier;

typedef struct Tree {
    TreeTier tiers[TREE_TIER_LIMIT];
    int tier_count;
    bool rails;
} Tree;

int tree_unit(const Network *network, int leaf, int tier);
int64_t graph_cable_cost(const FabricShape *fabric, const GraphCable *cable); // routes have the least sum
