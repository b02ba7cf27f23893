// Rental price options, common to all commands that price a cluster.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "sim/base/options.h"

// --price, --provider, --region, --terms, --price-book, --discount, --support, --tax, --without, --currency
#define PRICE_BOOK_OPTION                                                                                              \
    {                                                                                                                  \
        "price-book", OPTION_TEXT, "FILE.csv",                                                                         \
            .of = OF_QUESTION,                                                                                         \
            .help = "prices of your own, before the catalogue's: provider, date, source, node or gpu, on_demand …"   \
    }
extern const OptionSpec rent_options[];
// The catalogue with --profile and --price-book; NULL after problems. Options must hold both rows.
const Catalogue *catalogue_with_options(Arena *arena, const Options *options, Problems *problems);
extern const int rent_option_count;

// "2.49", or "dgx-h100=2.49,dgx-h200=3.10": a GPU-hour of any node into *gpu_hour (else untouched), of some into
// `rent`.
void prices_from_text(Arena *arena, const Catalogue *catalogue, const char *text, Where where, double *gpu_hour,
                      RentSpec *rent, Problems *problems);
// Option "node-price" of owned machines, in the same format; node_price is NAN without a price for all nodes.
void node_prices_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, OwnSpec *own,
                              Problems *problems);
// The same if another field has the price of all nodes: NODE=AMOUNT,… only. False after problems.
bool rents_of_nodes(Arena *arena, const Catalogue *catalogue, const char *text, Where where, RentSpec *rent,
                    Problems *problems);
bool prices_of_own_nodes(Arena *arena, const Catalogue *catalogue, const char *text, Where where, OwnSpec *own,
                         Problems *problems);
// Sets the spec's rent, bill, price_per_gpu_hour and currency. Options must hold rent_options.
void rent_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, ClusterSpec *spec,
                       Problems *problems);
// --terms and --provider as lists, for a command whose rows rent_options_with_lists has made so: every provider with
// all terms, the first of which the spec has. At most RENT_WAYS_MOST; 1 where neither is a list.
#define RENT_WAYS_MOST 64
const OptionSpec *rent_options_with_lists(Arena *arena, int *count);
const RentSpec *const *rents_from_options(Arena *arena, const Catalogue *catalogue, const Options *options,
                                          ClusterSpec *spec, int *count, Problems *problems);
// A problem for each price in `rent` that is of none of these nodes.
void own_concerns(const OwnSpec *own, const NodeType *const *nodes, int node_count, Problems *problems);
void rent_concerns(const RentSpec *rent, const NodeType *const *nodes, int node_count, Problems *problems);
// How many GPUs are paid for where so many of a node are used.
double rented_gpus(const NodeType *type, double gpus);
// Whether any price option was given.
bool rent_is_said(const Options *options);
