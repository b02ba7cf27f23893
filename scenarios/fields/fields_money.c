// The fields of a cluster's cost: rented, or owned.
#include "models/hardware/market.h"
#include "scenarios/fields/field_rows.h"

#define MONEY NUMBER(0, 1e12)

const Field price_fields[] = {
    {"gpu_hour", NUMBER(0, 1e6), .example = "2.49",
     .help = "price of one GPU for one hour; when left out: a line of the price book"},
    {"nodes", .kind = FIELD_TEXT, .example = "\"dgx-h100=2.49\"",
     .help = "price of a GPU-hour in nodes of these types, before all else: \"dgx-h100=2.49,dgx-h200=3.10\""},
    {"currency", .kind = FIELD_TEXT, .example = "\"EUR\"",
     .help = "of all amounts; when left out: USD, or the price book's"},
    {"book", .kind = FIELD_TEXT, .example = "\"azure-h100-1y\"",
     .help = "this line of the price book (see: lockstep hw list price)"},
    {"provider", .kind = FIELD_TEXT, .example = "\"runpod\"", .help = "whose newest price for these machines or GPUs"},
    {"region", .kind = FIELD_TEXT, .example = "\"us-east-1\"", .help = "of the provider"},
    {"terms", CHOICE(terms_names, TERMS_COUNT), .example = "\"reserved_1y\"",
     .help = "how it is rented; when left out: on demand"},
    {"storage", BYTES(0), .example = "\"100 TB\"", .help = "kept at the provider all the time"},
    {"egress", BYTES(0), .example = "\"2 TB\"", .help = "carried out of the provider's network once in a run"},
    {"discount", NUMBER(0, 0.99), .example = "0.15", .help = "share of the rent that is taken off"},
    {"support", NUMBER(0, 1), .example = "0.03", .help = "share of the rent that support costs"},
    {"tax", NUMBER(0, 1), .example = "0.19", .help = "share of everything"},
    {"without", .kind = FIELD_TEXT, .example = "\"staff,energy\"",
     .help = "rows of the bill that somebody else pays for"},
    LAST_FIELD,
};

const Field own_fields[] = {
    {"site", .kind = FIELD_TEXT, .fallback = "\"colocation\"", .example = "\"enterprise\"",
     .help = "where the machines stand (see: lockstep hw list site)"},
    {"years", NUMBER(0.1, 50), .fallback = "4", .example = "4", .help = "of use, after which they are sold"},
    {"interest", NUMBER(0, 1), .fallback = "0.08", .example = "0.08", .help = "per year"},
    {"residual", NUMBER(0, 1), .example = "0.2",
     .help = "share of the price they are sold for; when left out: 0.3 after 3 years, falling by that factor"},
    {"utilisation", NUMBER(0.001, 1), .fallback = "0.8", .example = "0.8",
     .help = "share of all hours in which a job runs"},
    {"currency", .kind = FIELD_TEXT, .example = "\"INR\"", .help = "of all amounts; when left out: USD"},
    {"node_price", MONEY, .example = "350000", .help = "of a node with its GPUs; 0: you have it already"},
    {"node_prices", .kind = FIELD_TEXT, .example = "\"dgx-h100=240k\"",
     .help = "of nodes of these types, before node_price: \"dgx-h100=240k,dgx-h200=310k\""},
    {"switch_price", MONEY, .example = "17000", .help = "of a switch"},
    {"nic_price", MONEY, .example = "8000",
     .help = "of a NIC; when stated nodes get new ones, else only where theirs are slower than the fabric"},
    {"cable_price", MONEY, .example = "400", .help = "of a cable with what stands at its ends"},
    {"storage_price", MONEY, .fallback = "0", .example = "250000", .help = "of shared storage, all of it"},
    {"electricity", MONEY, .example = "0.08", .help = "of a kWh; when left out: the site's"},
    {"colocation", MONEY, .example = "180", .help = "of a kW and month; when left out: the site's"},
    {"staff", MONEY, .example = "90000", .help = "a year, all together; when left out: the site's, by nodes"},
    {"maintenance", NUMBER(0, 1), .example = "0.03", .help = "share of the machines' price a year"},
    {"tax", NUMBER(0, 1), .example = "0.19", .help = "share of everything"},
    {"without", .kind = FIELD_TEXT, .example = "\"staff,energy\"",
     .help = "rows of the bill that somebody else pays for"},
    LAST_FIELD,
};

const Field cost_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster"},
    {"time", .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = 0, .most = 1e10, .example = "\"30 d\"",
     .help = "of a run, for cost_per_run"},
    LAST_FIELD,
};
