// Builds a cluster with its price or its costs from options.
#include "scenarios/questions/cluster_options.h"

#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cluster/fabric_kinds.h"

#define MOST_GPUS 1000000

static const Where command_line = {NULL, 0};

// clang-format off
const OptionSpec cluster_options[] = {
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "type of node (lockstep hw list node), or a file that shows one"},
    NODE_FILE_GPU,
    {"nodes", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "how many (default 1)"},
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs in all, instead of nodes"},
    {"fabric", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "network between nodes: ib-ndr400, roce-400:leaf_spine:… (default: as fast as the node's NICs)"},
    {"oversubscription", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "of the leaf switches, capacity down over up, where --fabric names a link alone: rails on InfiniBand, a fat tree else (default 1)", .quantity = QUANTITY_NUMBER},
    {"power-cap", OPTION_QUANTITY, "POWER", .of = OF_QUESTION, .help = "power limit of each GPU", .quantity = QUANTITY_POWER},
    {"site", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where the machines stand (lockstep hw list site; default colocation)"},
    {"pue", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "watts at the wall per watt of the machines (default: the site's)", .quantity = QUANTITY_NUMBER, .usual = "1.3"},
    {"grid", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where the electricity is from (lockstep hw list grid; default world)"},
    {"mix", OPTION_TEXT, "SHARES", .of = OF_QUESTION, .help = "what GPUs do: matrix=0.6,memory-bound=0.15,communication=0.2,waiting=0.05 (the default)"},
    {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts and prices of your own, in place of the catalogue's"},
    {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "prices of more than a year before are pointed out (default: today)"},
};
const int cluster_option_count = sizeof cluster_options / sizeof *cluster_options;

#define SUM(name_, help_) {name_, OPTION_QUANTITY, "MONEY", .of = OF_QUESTION, .help = help_, .quantity = QUANTITY_NUMBER}
const OptionSpec money_options[] = {
    {"book", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "this line of the price book (lockstep hw list price)"},
    {"storage", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "kept at the provider all the time", .quantity = QUANTITY_BYTES, .usual = "100TB"},
    {"egress", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "carried out of its network once in a run", .quantity = QUANTITY_BYTES, .usual = "2TB"},
    {"own", OPTION_FLAG, .of = OF_QUESTION, .help = "bought, not rented"},
    {"years", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "of use, after which the machines are sold (default 4)", .quantity = QUANTITY_NUMBER, .usual = "4"},
    {"interest", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "per year (default 0.08)", .quantity = QUANTITY_NUMBER},
    {"residual", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "of the price they are sold for (default: 0.3 to the years / 3)", .quantity = QUANTITY_NUMBER},
    {"utilisation", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "of all hours in which a job runs (default 0.8)", .quantity = QUANTITY_NUMBER, .alias = "utilization"},
    {"node-price", OPTION_TEXT, "MONEY or NODE=MONEY,…", .of = OF_QUESTION, .help = "of a node with its GPUs; 0: you have it already"},
    SUM("switch-price", "of a switch"),
    SUM("nic-price", "of a NIC; when left out nodes get new ones only where theirs are too slow"),
    SUM("cable-price", "of a cable with what stands at its ends"),
    SUM("storage-price", "of shared storage, all of it (default 0)"),
    SUM("electricity", "of a kWh (default: the site's)"),
    SUM("colocation", "of a kW and month (default: the site's)"),
    SUM("staff", "a year, all together (default: the site's, by nodes)"),
    {"maintenance", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "of the machines' price a year (default: the site's)", .quantity = QUANTITY_NUMBER},
};
// clang-format on
const int money_option_count = sizeof money_options / sizeof *money_options;

// ---- Numbers within limits.

static double amount(const Options *options, const char *name, Problems *problems) {
    return option_within(options, name, NAN, 0, 1e12, problems);
}

// ---- Payment.

static void read_rent(Arena *arena, const Catalogue *catalogue, const Options *options, ClusterSpec *spec,
                      Problems *problems) {
    rent_from_options(arena, catalogue, options, spec, problems);
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = *spec->rent;
    rent->market = !option_flag(options, "own") || rent_is_said(options);
    rent->storage_bytes = option_quantity(options, "storage", 0);
    rent->egress_bytes = option_quantity(options, "egress", 0);
    const char *book = option_text(options, "book", NULL);
    if (book) rent->offer = find_offer(arena, catalogue, book, command_line, problems);
    if (spec->group_count == 1 && spec->groups[0].type) rent_concerns(rent, &spec->groups[0].type, 1, problems);
    spec->rent = rent;
    if (!book || !rent_is_said(options)) return;
    problem_add(problems, command_line, "--book names one line of the price book, and more is said of the price");
    problem_hint(problems, "leave out --book, or --price, --provider, --region and --terms");
}

static void read_own(Arena *arena, const Catalogue *catalogue, const Site *site, const Options *options,
                     ClusterSpec *spec, Problems *problems) {
    OwnSpec *own = ARENA_NEW(arena, OwnSpec);
    *own = own_spec_usual(site);
    own->where = command_line;
    own->years = option_within(options, "years", own->years, 0.1, 50, problems);
    own->interest = option_within(options, "interest", own->interest, 0, 1, problems);
    own->residual_share = option_within(options, "residual", NAN, 0, 1, problems);
    own->utilisation = option_within(options, "utilisation", own->utilisation, 0.001, 1, problems);
    node_prices_from_options(arena, catalogue, options, own, problems);
    own->switch_price = amount(options, "switch-price", problems);
    own->nic_price = amount(options, "nic-price", problems);
    own->cable_price = amount(options, "cable-price", problems);
    own->storage_price = amount(options, "storage-price", problems);
    own->electricity_per_kwh = amount(options, "electricity", problems);
    own->colocation_per_kw_month = amount(options, "colocation", problems);
    own->staff_per_year = amount(options, "staff", problems);
    own->maintenance_share = option_within(options, "maintenance", NAN, 0, 1, problems);
    if (spec->group_count == 1 && spec->groups[0].type) own_concerns(own, &spec->groups[0].type, 1, problems);
    spec->own = own;
}

// What only an owner pays for is a mistake where nothing is bought.
static void refuse_own_options(const Options *options, Problems *problems) {
    static const char *const names[] = {"years",         "interest",  "residual",    "utilisation", "node-price",
                                        "switch-price",  "nic-price", "cable-price", "electricity", "colocation",
                                        "storage-price", "staff",     "maintenance"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!option_given(options, names[i])) continue;
        problem_add(problems, command_line, "--%s is of machines that are bought", names[i]);
        problem_hint(problems, "add --own, or leave it out");
    }
}

// ---- The cluster.

static const NodeType *read_node(Arena *arena, const Catalogue *catalogue, const Options *options, Problems *problems) {
    if (!option_require(options, "which machines?", "node", "for example --node dgx-h100 --nodes 16 --fabric ib-ndr400",
                        problems))
        return NULL;
    return node_from_options(arena, catalogue, options, NULL, problems);
}

static int read_gpus(const Options *options, const NodeType *node, Problems *problems) {
    int64_t nodes = option_count(options, "nodes", 1), gpus = option_count(options, "gpus", nodes * node->gpu_count);
    if (option_given(options, "nodes") && option_given(options, "gpus")) {
        problem_is_usage(problems);
        problem_add(problems, command_line, "--nodes and --gpus say the same thing twice");
        problem_hint(problems, "leave one out");
    } else if (nodes < 1 || gpus < 1 || gpus > MOST_GPUS || nodes > MOST_GPUS) {
        problem_add(problems, command_line, "a cluster has 1 to 1,000,000 GPUs");
        problem_hint(problems, "for example --nodes 16");
    }
    return (int)gpus;
}

const Cluster *cluster_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, bool paid,
                                    Problems *problems) {
    int before = problems_added(problems);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    const NodeType *node = read_node(arena, catalogue, options, problems);
    const Site *site = find_site(arena, catalogue, option_text(options, "site", "colocation"), command_line, problems);
    const char *fabric = option_text(options, "fabric", NULL);
    *spec = (ClusterSpec){.where = command_line,
                          .groups = group,
                          .group_count = 1,
                          .fabric = FABRIC_FAT_TREE,
                          .price_per_gpu_hour = -1,
                          .oversubscription = option_within(options, "oversubscription", 1, 1, 1000, problems),
                          .power_cap_watts = option_quantity(options, "power-cap", 0),
                          .power_usage_effectiveness = option_within(options, "pue", 0, 1, 5, problems)};
    if (fabric)
        fabric_from_text(arena, catalogue, fabric, command_line, &spec->link, &spec->layout, problems);
    else if (node)
        spec->link = node_usual_link(catalogue, node);
    fabric_leaves_said_once(fabric, spec->layout, option_given(options, "oversubscription"), command_line, problems);
    spec->rail_optimised = spec->link && spec->link->transport == TRANSPORT_INFINIBAND;
    spec->grid = find_grid(arena, catalogue, option_text(options, "grid", "world"), command_line, problems);
    spec->site = site;
    if (node) *group = (NodeGroup){.where = command_line, .type = node, .gpus = read_gpus(options, node, problems)};
    if (paid) read_rent(arena, catalogue, options, spec, problems);
    if (paid && option_flag(options, "own"))
        read_own(arena, catalogue, site, options, spec, problems);
    else if (paid)
        refuse_own_options(options, problems);
    return problems_added(problems) > before ? NULL : cluster_create(arena, catalogue, spec, problems);
}

Date day_from_options(const Options *options, Problems *problems) {
    int before = problems_added(problems);
    Date day = date_or_today(option_text(options, "date", NULL), problems);
    if (problems_added(problems) > before) problem_is_usage(problems);
    return day;
}

// ---- What the GPUs do.

static bool set_share(ActivityMix *mix, const char *text, size_t length) {
    for (int a = 0; a < ACTIVITY_COUNT; a++) {
        size_t name = strlen(activity_names[a]);
        if (length <= name + 1 || strncmp(text, activity_names[a], name) != 0 || text[name] != '=') continue;
        char number[32];
        const char *why;
        if (length - name - 1 >= sizeof number) return false;
        memcpy(number, text + name + 1, length - name - 1);
        number[length - name - 1] = '\0';
        return quantity_parse(number, QUANTITY_NUMBER, &mix->share[a], &why) && mix->share[a] >= 0;
    }
    return false;
}

ActivityMix mix_from_options(const Options *options, Problems *problems) {
    const char *text = option_text(options, "mix", NULL);
    if (!text) return activity_usual;
    ActivityMix mix = {{0}};
    double sum = 0;
    bool sound = true;
    for (const char *at = text; *at && sound;) {
        size_t length = strcspn(at, ",");
        sound = set_share(&mix, at, length);
        at += length + (at[length] == ',');
    }
    for (int a = 0; a < ACTIVITY_COUNT; a++) sum += mix.share[a];
    if (sound && fabs(sum - 1) < 1e-6) return mix;
    problem_add(problems, command_line, "the shares of --mix are not understood, or sum to %g and not to 1", sum);
    problem_hint(problems, "for example --mix matrix=0.6,memory-bound=0.15,communication=0.2,waiting=0.05 (or idle)");
    return activity_usual;
}
