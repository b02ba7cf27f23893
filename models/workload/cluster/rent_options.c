// The price options, and which of them conflict.
#include "models/workload/cluster/cluster_money.h"

#include <math.h>
#include <string.h>

#include "models/hardware/market.h"
#include "models/hardware/parts.h"
#include "sim/base/list.h"

#define MOST_RENT 1e6 // of a GPU-hour, in any currency
#define MOST_NODE_PRICE 1e12

static const Where command_line = {NULL, 0};

// clang-format off
const OptionSpec rent_options[] = {
    {"price", OPTION_TEXT, "MONEY or NODE=MONEY,…", .of = OF_QUESTION, .help = "rent of one GPU for one hour, of all nodes or of some, instead of the price book"},
    {"provider", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "whose prices (lockstep cost --offers lists them; default: the node's own, else the median of all)"},
    PRICE_BOOK_OPTION,
    {"among", OPTION_TEXT, "NAMES", .of = OF_QUESTION, .help = "where a price is a median: of these providers only, aws,azure,oci"},
    {"region", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "of the provider"},
    {"terms", OPTION_CHOICE, .of = OF_QUESTION, .help = "how they are rented (default on_demand)", .choices = terms_names, .choice_count = TERMS_COUNT},
    {"discount", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "off the rent: 0.15 or 15%", .quantity = QUANTITY_NUMBER},
    {"support", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "that support costs of the rent", .quantity = QUANTITY_NUMBER},
    {"tax", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "on everything", .quantity = QUANTITY_NUMBER},
    {"without", OPTION_TEXT, "ROWS", .of = OF_QUESTION, .help = "rows of the bill that somebody else pays: staff,energy (lockstep cost shows them)"},
    {"currency", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "of all amounts (default USD; lockstep hw list currency)"},
};
// clang-format on
const int rent_option_count = sizeof rent_options / sizeof *rent_options;

const Catalogue *catalogue_with_options(Arena *arena, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    return catalogue_with_prices(arena, catalogue, option_text(options, "price-book", NULL), problems);
}

bool rent_is_said(const Options *options) {
    return option_given(options, "price") || option_given(options, "provider") || option_given(options, "region") ||
           option_given(options, "terms");
}

typedef LIST_OF(NodePrice) NodePrices;

// The unit of a price, and its range.
typedef struct PriceKind {
    const char *option, *of; // "--price", "a GPU-hour"
    double least, most;      // with `least`, unless it is 0: above 0
    const char *one, *many;
} PriceKind;

static const PriceKind rent_kind = {"--price", "a GPU-hour", 0, MOST_RENT, "2.49", "dgx-h100=2.49,dgx-h200=3.10"};
static const PriceKind node_kind = {"--node-price",  "a node", -1,
                                    MOST_NODE_PRICE, "240k",   "dgx-h100=240k,dgx-h200=310k"};

// "2.49", or thousands and millions: "240k".
static bool parse_amount(const char *text, double *amount) {
    const char *why;
    return quantity_parse(text, QUANTITY_NUMBER, amount, &why) || quantity_parse(text, QUANTITY_COUNT, amount, &why);
}

static bool read_amount(const char *text, const PriceKind *kind, Where where, double *amount, Problems *problems) {
    if (parse_amount(text, amount) && *amount > kind->least && *amount >= 0 && *amount <= kind->most) return true;
    problem_add(problems, where, "%s: \"%s\" is no price of %s", kind->option, text, kind->of);
    return problem_hint(problems, "an amount%s, such as %s, or one for each node: %s",
                        kind->least < 0 ? "" : " above 0", kind->one, kind->many);
}

static void add_node_price(Arena *arena, const Catalogue *catalogue, const char *part, const PriceKind *kind,
                           Where where, NodePrices *list, Problems *problems) {
    size_t length = strcspn(part, "=");
    const char *name = arena_printf(arena, "%.*s", (int)length, part);
    const NodeType *node = find_node(arena, catalogue, name, where, problems);
    NodePrice price = {.node = node};
    if (!node || !read_amount(part + length + 1, kind, where, &price.amount, problems)) return;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].node != node) continue;
        problem_add(problems, where, "the price of %s is given twice", node->name);
        problem_hint(problems, "keep one of them");
        return;
    }
    LIST_PUSH(arena, list, price);
}

// One amount for all nodes into *general, the others into the list.
static NodePrices read_prices(Arena *arena, const Catalogue *catalogue, const char *text, const PriceKind *kind,
                              Where where, double *general, Problems *problems) {
    NodePrices list = {0};
    bool said = false;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        const char *part = arena_printf(arena, "%.*s", (int)length, at);
        double amount;
        if (strchr(part, '=')) {
            add_node_price(arena, catalogue, part, kind, where, &list, problems);
        } else if (said) {
            problem_add(problems, where, "two prices are given for every node: %s", text);
            problem_hint(problems, "say which is whose: %s", kind->many);
            return list;
        } else if (read_amount(part, kind, where, &amount, problems)) {
            *general = amount;
            said = true;
        }
        at += length + (at[length] == ',');
    }
    if (!*text) read_amount(text, kind, where, general, problems);
    return list;
}

void node_prices_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, OwnSpec *own,
                              Problems *problems) {
    own->node_price = NAN;
    if (!option_given(options, "node-price")) return;
    NodePrices list = read_prices(arena, catalogue, option_text(options, "node-price", ""), &node_kind, command_line,
                                  &own->node_price, problems);
    own->node_prices = list.items;
    own->node_price_count = list.count;
}

// A price for all is another field's.
static bool read_of_nodes(Arena *arena, const Catalogue *catalogue, const char *text, const PriceKind *kind,
                          Where where, const char *general, NodePrices *list, Problems *problems) {
    double of_all = -1;
    int before = problem_count(problems);
    *list = read_prices(arena, catalogue, text, kind, where, &of_all, problems);
    if (of_all >= 0) {
        problem_add(problems, where, "\"%s\" does not say which node costs that", text);
        problem_hint(problems, "write %s, or for all nodes %s", kind->many, general);
    }
    return problem_count(problems) == before;
}

bool rents_of_nodes(Arena *arena, const Catalogue *catalogue, const char *text, Where where, RentSpec *rent,
                    Problems *problems) {
    static const PriceKind kind = {"nodes", "a GPU-hour", 0, MOST_RENT, "dgx-h100=2.49", "dgx-h100=2.49,dgx-h200=3.10"};
    NodePrices list;
    bool sound = read_of_nodes(arena, catalogue, text, &kind, where, "gpu_hour = 2.49", &list, problems);
    rent->prices = list.items;
    rent->price_count = list.count;
    return sound;
}

bool prices_of_own_nodes(Arena *arena, const Catalogue *catalogue, const char *text, Where where, OwnSpec *own,
                         Problems *problems) {
    static const PriceKind kind = {"node_prices",   "a node",        -1,
                                   MOST_NODE_PRICE, "dgx-h100=240k", "dgx-h100=240k,dgx-h200=310k"};
    NodePrices list;
    bool sound = read_of_nodes(arena, catalogue, text, &kind, where, "node_price = 240e3", &list, problems);
    own->node_prices = list.items;
    own->node_price_count = list.count;
    return sound;
}

static void concerns(const NodePrice *prices, int price_count, Where where, const NodeType *const *nodes,
                     int node_count, Problems *problems) {
    for (int i = 0; i < price_count; i++) {
        bool there = false;
        for (int n = 0; n < node_count; n++) there = there || nodes[n] == prices[i].node;
        if (there) continue;
        problem_add(problems, where, "a price is given of %s, and no such node is asked for", prices[i].node->name);
        problem_hint(problems, "leave it out, or add the node");
    }
}

void rent_concerns(const RentSpec *rent, const NodeType *const *nodes, int node_count, Problems *problems) {
    concerns(rent->prices, rent->price_count, rent->where, nodes, node_count, problems);
}

void own_concerns(const OwnSpec *own, const NodeType *const *nodes, int node_count, Problems *problems) {
    concerns(own->node_prices, own->node_price_count, own->where, nodes, node_count, problems);
}

static Names split_commas(Arena *arena, const char *text) {
    Names list = {0};
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        LIST_PUSH(arena, &list, arena_printf(arena, "%.*s", (int)length, at));
        at += length + (at[length] == ',');
    }
    return list;
}

// "aws,azure": each a provider that offers something.
static Names read_providers(Arena *arena, const Catalogue *catalogue, const char *option, const char *text,
                            Problems *problems) {
    Names list = split_commas(arena, text);
    for (int n = 0; n < list.count; n++) {
        const char **names = ARENA_ARRAY(arena, const char *, catalogue->offer_count);
        bool known = false;
        for (int i = 0; i < catalogue->offer_count; i++) {
            names[i] = catalogue->offers[i].provider;
            known = known || same_part_name(names[i], list.items[n]);
        }
        if (known) continue;
        problem_add(problems, command_line, "--%s: no provider is called \"%s\"", option, list.items[n]);
        if (!problem_hint_near(problems, list.items[n], names, catalogue->offer_count))
            problem_hint(problems, "lockstep hw list price shows all");
    }
    return list;
}

// A provider's machine is rented whole, whether or not all of its GPUs are used; other nodes by the GPU, for some rent
// out parts of them.
double rented_gpus(const NodeType *type, double gpus) {
    return type->provider ? ceil(gpus / type->gpu_count) * type->gpu_count : gpus;
}

// A region that no price is of, in the catalogue or the user's book.
static void check_region(Arena *arena, const Catalogue *catalogue, const char *region, Problems *problems) {
    const char **names = ARENA_ARRAY(arena, const char *, catalogue->offer_count + 1);
    NameIndex *seen = name_index_create(arena, part_name_order);
    int count = 0;
    for (int i = 0; i < catalogue->offer_count && region; i++) {
        const char *name = catalogue->offers[i].region;
        if (name && name_index_add(seen, name, count) < 0) names[count++] = name;
    }
    if (!region || name_index_find(seen, region) >= 0) return;
    problem_add(problems, command_line, "--region: no price is of a region called \"%s\"", region);
    problem_hint_names(problems, region, names, count);
}

static int terms_of_text(const char *text, Problems *problems) {
    for (int i = 0; i < TERMS_COUNT; i++)
        if (strcmp(text, terms_names[i]) == 0) return i;
    problem_add(problems, command_line, "--terms: there is no \"%s\"", text);
    problem_hint_names(problems, text, terms_names, TERMS_COUNT);
    return -1;
}

static double share(const Options *options, const char *name, double most, Problems *problems) {
    double value = option_quantity(options, name, 0);
    if (value >= 0 && value <= most) return value;
    problem_add(problems, command_line, "--%s %g is no share from 0 to %g", name, value, most);
    problem_hint(problems, "for example --%s 0.15", name);
    return 0;
}

static const BillSpec *bill_from_options(Arena *arena, const Options *options, Problems *problems) {
    BillSpec *bill = ARENA_NEW(arena, BillSpec);
    *bill = (BillSpec){.where = command_line,
                       .discount = share(options, "discount", 0.99, problems),
                       .support = share(options, "support", 1, problems),
                       .tax = share(options, "tax", 1, problems),
                       .without = option_text(options, "without", NULL)};
    return bill;
}

static RentSpec *read_rent(Arena *arena, const Catalogue *catalogue, const Options *options, const char *provider,
                           int terms, ClusterSpec *spec, Problems *problems) {
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = (RentSpec){
        .where = command_line, .provider = provider, .region = option_text(options, "region", NULL), .terms = terms};
    check_region(arena, catalogue, rent->region, problems);
    if (option_given(options, "among")) {
        Names among = read_providers(arena, catalogue, "among", option_text(options, "among", ""), problems);
        rent->among = among.items;
        rent->among_count = among.count;
    }
    spec->rent = rent;
    spec->bill = bill_from_options(arena, options, problems);
    spec->price_per_gpu_hour = -1;
    spec->currency = option_text(options, "currency", NULL);
    if (option_given(options, "price")) {
        NodePrices list = read_prices(arena, catalogue, option_text(options, "price", ""), &rent_kind, command_line,
                                      &spec->price_per_gpu_hour, problems);
        rent->prices = list.items;
        rent->price_count = list.count;
    }
    bool of_book = rent->provider || rent->region || rent->terms >= 0;
    if (spec->price_per_gpu_hour < 0 || !of_book) return rent;
    problem_add(problems, command_line, "a price is either stated (--price) or of the price book");
    problem_hint(problems, "leave out --price, or --provider, --region and --terms");
    return rent;
}

void rent_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, ClusterSpec *spec,
                       Problems *problems) {
    int terms = option_given(options, "terms") ? option_choice(options, "terms", 0) : -1;
    const char *provider = option_text(options, "provider", NULL);
    read_providers(arena, catalogue, "provider", provider, problems);
    read_rent(arena, catalogue, options, provider, terms, spec, problems);
}

// ---- Several providers and terms compared.

const OptionSpec *rent_options_with_lists(Arena *arena, int *count) {
    OptionSpec *rows = ARENA_ARRAY(arena, OptionSpec, rent_option_count);
    for (int i = 0; i < rent_option_count; i++) {
        rows[i] = rent_options[i];
        if (strcmp(rows[i].name, "terms") == 0) {
            rows[i].kind = OPTION_TEXT;
            rows[i].metavar = "A,B";
            rows[i].help =
                "how they are rented, each a plan of its own: on_demand (default), reserved_1y, reserved_3y, "
                "spot, monthly, block";
        } else if (strcmp(rows[i].name, "provider") == 0) {
            rows[i].metavar = "A,B";
            rows[i].help = "whose prices, each a plan of its own (lockstep cost --offers lists them; default: the "
                           "node's own, else the median of all)";
        }
    }
    *count = rent_option_count;
    return rows;
}

static void refuse_twice(const Names *names, const char *option, Problems *problems) {
    for (int i = 0; i < names->count; i++)
        for (int k = 0; k < i; k++) {
            if (!same_part_name(names->items[i], names->items[k])) continue;
            problem_add(problems, command_line, "--%s names %s twice", option, names->items[i]);
            problem_hint(problems, "keep one of them");
        }
}

const RentSpec *const *rents_from_options(Arena *arena, const Catalogue *catalogue, const Options *options,
                                          ClusterSpec *spec, int *count, Problems *problems) {
    Names terms = split_commas(arena, option_text(options, "terms", NULL));
    Names providers = read_providers(arena, catalogue, "provider", option_text(options, "provider", NULL), problems);
    refuse_twice(&terms, "terms", problems);
    refuse_twice(&providers, "provider", problems);
    if (terms.count * providers.count > RENT_WAYS_MOST) {
        problem_add(problems, command_line, "--provider and --terms make %d ways to rent, more than %d",
                    terms.count * providers.count, RENT_WAYS_MOST);
        problem_hint(problems, "ask for fewer providers at a time");
    }
    int first = terms.count ? terms_of_text(terms.items[0], problems) : -1;
    const RentSpec *of_first =
        read_rent(arena, catalogue, options, providers.count ? providers.items[0] : NULL, first, spec, problems);
    int provider_count = providers.count ? providers.count : 1, terms_count = terms.count ? terms.count : 1;
    const RentSpec **rents = ARENA_ARRAY(arena, const RentSpec *, (size_t)provider_count *(size_t)terms_count);
    *count = 0;
    for (int t = 0; t < terms_count; t++) {
        int now = t == 0 ? first : terms_of_text(terms.items[t], problems);
        for (int i = 0; i < provider_count; i++) {
            RentSpec *rent = ARENA_NEW(arena, RentSpec);
            *rent = *of_first;
            rent->provider = providers.count ? providers.items[i] : NULL;
            rent->terms = now;
            rents[(*count)++] = rent;
        }
    }
    return rents;
}
