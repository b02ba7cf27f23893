// How a cluster is paid for, rented or bought: the user's settings, and the prices found when the cluster is made.
// models/workload/money/money.h computes the bill.
#pragma once

#include "models/hardware/market.h"
#include "models/network/network.h"
#include "models/workload/cluster/cluster.h"
#include "sim/base/options.h"

struct Cluster;

// ---- The user's settings.

// The user's price of one node type, which overrides the catalogue: rent of a GPU-hour, or price of a node.
typedef struct NodePrice {
    const NodeType *node;
    double amount;
} NodePrice;

typedef struct RentSpec {
    Where where;
    const Offer *offer;            // this line of the price book; NULL: found by the other fields (market.h)
    const char *provider, *region; // or NULL: any
    int terms;                     // one of Terms; -1: on demand
    bool market;                   // a node without an offer costs the median of nodes with its GPUs
    const char *const *among;      // of these providers only (quote_common_providers); NULL: all
    int among_count;
    const NodePrice *prices; // override all others
    int price_count;
    double storage_bytes; // kept at the provider all the time
    double egress_bytes;  // carried out once in a run
} RentSpec;

// Amounts in the cluster's currency; NAN: the catalogue's and the site's.
typedef struct OwnSpec {
    Where where;
    const Site *site;
    double years;                 // of use, then sold
    double residual_share;        // of the machines' price that they are then sold for; NAN: resale_share(years)
    double interest;              // per year
    double utilisation;           // share of all hours in which a job runs
    const NodePrice *node_prices; // these go before node_price
    int node_price_count;
    double node_price, switch_price, nic_price, cable_price, storage_price;
    double electricity_per_kwh, colocation_per_kw_month, staff_per_year, maintenance_share;
} OwnSpec;

#define OWN_YEARS 4.0
#define OWN_INTEREST 0.08
#define OWN_UTILISATION 0.8
OwnSpec own_spec_usual(const Site *site);
double own_node_price(const OwnSpec *own, const NodeType *type); // as stated; NAN: the catalogue's
// Machines sell for 25 to 35 % of their price after 36 months: 0.3 to the power of years / 3.
double resale_share(double years);

// Surcharges and discounts on a price, and excluded rows. Shares of 1.
typedef struct BillSpec {
    Where where;
    double discount;     // off the machines' rent
    double support;      // of rent, storage and discount together
    double tax;          // of everything
    const char *without; // rows paid for elsewhere: "staff,energy"; or NULL
} BillSpec;

typedef struct BillRow {
    const char *name, *title, *what;
} BillRow;
extern const BillRow bill_rows[]; // that a bill may have, in its order; the last has no name
const char *bill_row_title(const char *name);
bool bill_leaves_out(const BillSpec *bill, const char *row); // bill may be NULL

// ---- Made with the cluster (cluster.c); const after.

typedef struct ClusterMoney {
    const Catalogue *catalogue;
    const Quote *quotes;                          // [group] of the price book, each perhaps of no offer; NULL: stated
    const Offer *const *offers;                   // [group] the one offer that a quote is of; NULL: none, or several
    double rent_per_hour;                         // of the whole cluster in `currency`; 0: unknown
    double rent_least, rent_most, rent_log_sigma; // the same at the cheapest provider and the dearest; sd of its log
    const char *currency;
    const OwnSpec *own; // every NAN filled in; or NULL
    FabricBill fabric;  // of owned machines
    double nics_to_buy; // not included with the nodes
    double node_price;  // of all nodes
    const Grid *grid;
    const Site *site;
} ClusterMoney;

// NULL after problems: a price book without that line, machines for sale nowhere.
const ClusterMoney *cluster_money_create(Arena *arena, const Catalogue *catalogue, const struct Cluster *cluster,
                                         Problems *problems);
// The price book's quote of a GPU-hour of this node for `rent` (NULL: its own on-demand price). Without an offer if
// there is none, without a problem. `currency` as in quote_find.
Quote rent_quote(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu, const RentSpec *rent,
                 const char *currency);

// ---- Rental price options, common to all commands that price a cluster.

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

// Option "node-price" of owned machines, "2.49" or "dgx-h100=2.49,dgx-h200=3.10"; node_price is NAN without a price for
// all nodes.
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
