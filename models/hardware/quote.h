// Price quotes of a GPU-hour: one offer per provider, at equal terms.
//
// A node that only one provider rents out costs what that provider asks. Any other node costs the median over all
// providers of such GPUs at the same terms, and the quote gives the range: prices of one GPU differ more between
// providers than those of two GPUs at one provider.
#pragma once

#include "models/hardware/market.h"

typedef struct PriceWish {
    const char *provider, *region; // or NULL: any
    Terms terms;
    const char *machine_of;   // whose machine it is: his offers, and those of the user's own book; NULL: anybody's
    const char *const *among; // only these providers; NULL: all
    int among_count;
} PriceWish;

typedef struct Quote {
    const Offer *const *offers; // one of each provider, by rising price
    int count;                  // 0: no offer of such GPUs at those terms
    bool is_own; // of the node by name, or of its GPUs in the user's own book; false: of nodes with the same GPUs
    const char *currency;
    double gpu_hour, least, most; // median, least and most of a GPU and hour, in that currency
    double log_sigma;             // sd between providers of the logarithm of the price; 0 of one
} Quote;

// `currency` NULL: the offer's if there is one, else USD. Offers more than a year older than the newest are left out
// if there are three newer ones, surveys if there is any offer. An offer whose currency has no rate to `currency`
// makes the amounts NAN.
Quote quote_find(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu, const PriceWish *wish,
                 const char *currency);

// For comparing several nodes: the providers that offer the GPUs of all nodes that are not one provider's, for
// PriceWish.among. NULL where nobody has them all: then each node is compared over all of its providers.
const char *const *quote_common_providers(Arena *arena, const Catalogue *catalogue, const NodeType *const *nodes,
                                          int node_count, const PriceWish *wish, int *count);

// Hazard per hour of a spot machine: the mean of the quote's offers, or of all spot offers of the price book with
// such a number. 0: unknown.
double quote_interruptions_per_hour(const Quote *quote);
double book_interruptions_per_hour(const Catalogue *catalogue);

// The machine with such GPUs that a provider rents out, one with as many of them if there is; NULL: none by name.
const NodeType *provider_node(const Catalogue *catalogue, const char *provider, const Gpu *gpu, int gpu_count);

// Whether a node goes on a network: one that its provider has, or plain Ethernet no faster than its NICs.
bool node_takes_link(const Catalogue *catalogue, const NodeType *node, const FabricLink *link);
// The default network: the provider's, or the fastest that keeps up with the node's NICs, InfiniBand if there is one.
const FabricLink *node_usual_link(const Catalogue *catalogue, const NodeType *node);
// Whether that many of its GPUs span several nodes, and no NVLink domain contains them.
bool node_needs_link(const NodeType *node, int gpus);
// "efa-100" or "ib-ndr400 or roce-400"; "any fabric" where unspecified.
const char *node_fabrics(Arena *arena, const NodeType *node);

// "4.29 (2.49 to 12.29 at 9 providers)", or the price alone of one.
const char *quote_text(Arena *arena, const Quote *quote);
