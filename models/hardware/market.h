// Prices and energy in the catalogue: dated rental offers, currencies, grids, and sites for owned machines. An
// unknown number is 0.
#pragma once

#include "models/hardware/hardware.h"

typedef enum Terms {
    TERMS_ON_DEMAND,
    TERMS_RESERVED_1_YEAR,
    TERMS_RESERVED_3_YEARS,
    TERMS_SPOT,
    TERMS_MONTHLY,
    TERMS_BLOCK, // blocks of whole days, booked ahead
    TERMS_COUNT
} Terms;
extern const char *const terms_names[TERMS_COUNT];  // "on_demand", …: in files, options and scenarios
extern const char *const terms_titles[TERMS_COUNT]; // "on demand", "reserved for 1 year", …

// One line of a price list: the price of `gpus` GPUs, by the hour or by the month.
typedef struct Offer {
    const char *name; // "aws-p5-on-demand"
    const char *title;
    const char *const *aliases;
    int alias_count;
    const char *provider, *region; // region NULL: unspecified, or all
    const char *const *nodes;      // types of node with this price
    int node_count;
    const char *gpu;  // of any machine with such GPUs, instead of nodes; or NULL
    bool is_own_book; // of the user's price book: goes before all others
    bool is_survey;   // a market survey: not for sale at this price
    Terms terms;
    const char *currency, *date;
    int gpus;
    double price_per_hour, price_per_month;           // one of the two
    double minimum_seconds, step_seconds;             // billed at least, and in whole steps of
    double interruptions_per_month;                   // share of instances that are taken away
    double storage_per_gb_month, egress_per_gigabyte; // in its currency; 0: free, or not known
    const Fact *facts;
    int fact_count;
} Offer;

typedef struct Currency {
    const char *name; // "EUR"
    const char *title;
    const char *const *aliases;
    int alias_count;
    const char *date;
    double per_usd; // units of it for one US dollar
    const Fact *facts;
    int fact_count;
} Currency;

// Electricity of a country or region.
typedef struct Grid {
    const char *name; // "france", "us-california"
    const char *title;
    const char *const *aliases;
    int alias_count;
    const char *date;
    double carbon_grams_per_kwh;
    const Fact *facts;
    int fact_count;
} Grid;

// A site for owned machines, and its prices or costs.
typedef struct Site {
    const char *name; // "colocation"
    const char *title;
    const char *const *aliases;
    int alias_count;
    const char *date;
    double power_usage_effectiveness;
    double electricity_usd_per_kwh;     // 0: part of the colocation price
    double colocation_usd_per_kw_month; // of the machines' greatest draw; 0: own building
    double building_usd_per_kw;         // power and cooling plant, of the machines' greatest draw
    double building_years;              // over which that is written off
    double rack_watts;                  // that a rack may draw
    int rack_units;
    double rack_usd;
    double breaker_volts, breaker_amperes;
    int breaker_phases;        // 1 or 3
    int feeds;                 // of each rack: 2 where each half carries all
    double staff_usd_per_year; // of one person
    double nodes_per_person;   // 0: no paid staff
    double maintenance_share;  // of the machines' price, per year
    const Fact *facts;
    int fact_count;
} Site;

#define BREAKER_SHARE 0.8 // of a breaker's current that may flow all day (NEC 210.20: 125 % of the continuous load)
#define HOURS_PER_YEAR 8760.0
#define HOURS_PER_MONTH 730.0

bool terms_are_paid_unused(Terms terms);   // for all hours, whether or not a job runs
double terms_years(Terms terms);           // of that; 0: none
double offer_gpu_hour(const Offer *offer); // per GPU and hour, in its currency
// For other machines with the same GPUs it is at least a price to compare with.
bool offer_is_comparable(const Catalogue *catalogue, const Offer *offer, const NodeType *node, const Gpu *gpu);
bool offer_is_for(const Offer *offer, const NodeType *node, const Gpu *gpu);
// Hazard per hour of one machine.
double offer_interruptions_per_hour(const Offer *offer);
double breaker_watts(const Site *site); // that one breaker feeds all day
// Units of `to` for one of `from`; 0 when one of them is not in the catalogue and they are not the same.
double exchange_rate(const Catalogue *catalogue, const char *from, const char *to);

const Offer *find_offer(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems);
const Grid *find_grid(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems);
const Site *find_site(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems);

// ---- A user's own prices: a CSV file whose rows take precedence over the catalogue's.

// The catalogue with the rows of a book in front; `base` itself when `path` is NULL. NULL after problems, which name
// the row's line and its column. Columns, in any order, by their header words:
//     provider, date ("2026-04"), source             required in every row
//     node, or gpu                                   the node by its name, or any node with such GPUs
//     gpus                                           that the prices are for; left out: the node's, or 1
//     on_demand, reserved_1y, reserved_3y, spot, block   an hour of these GPUs; monthly: a month; empty: not offered
//     currency                                       left out or empty: USD
//     region, storage_per_gb_month, egress_per_gb, interruptions_per_month
//     per_usd                                        the user's exchange rate, in a row with a currency and no price
const Catalogue *catalogue_with_prices(Arena *arena, const Catalogue *base, const char *path, Problems *problems);

// ---- Price quotes of a GPU-hour: one offer per provider, at equal terms.  A node that only one provider rents out
// costs what that provider asks. Any other node costs the median over all providers of such GPUs at the same terms, and
// the quote gives the range: prices of one GPU differ more between providers than those of two GPUs at one provider.
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
