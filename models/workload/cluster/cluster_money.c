// Prices of a cluster: from the price book, the catalogue and the user's options.
#include "models/workload/cluster/cluster_money.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "models/workload/cluster/cluster.h"

static const Where nowhere = {NULL, 0};

// ---- Renting: a line of the price book for each type of node, or what all providers of its GPUs ask.

static bool asks(const RentSpec *rent) {
    return rent && (rent->offer || rent->provider || rent->terms >= 0 || rent->region || rent->market);
}

static bool asks_for_a_price(const RentSpec *rent) { return asks(rent) || (rent && rent->price_count > 0); }

static Terms terms_of(const RentSpec *rent) { return rent && rent->terms >= 0 ? (Terms)rent->terms : TERMS_ON_DEMAND; }

static Quote quote_of_offer(Arena *arena, const Catalogue *catalogue, const Offer *offer, const char *currency) {
    const Offer **offers = ARENA_ARRAY(arena, const Offer *, 1);
    offers[0] = offer;
    Quote quote = {.offers = offers, .count = 1, .currency = currency ? currency : offer->currency};
    double rate = exchange_rate(catalogue, offer->currency, quote.currency);
    quote.gpu_hour = quote.least = quote.most = rate > 0 ? rate * offer_gpu_hour(offer) : NAN;
    return quote;
}

Quote rent_quote(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu, const RentSpec *rent,
                 const char *currency) {
    if (rent && rent->offer) return quote_of_offer(arena, catalogue, rent->offer, currency);
    PriceWish wish = {.terms = terms_of(rent), .machine_of = node->provider};
    if (rent) {
        wish.provider = rent->provider;
        wish.region = rent->region;
        wish.among = node->provider ? NULL : rent->among;
        wish.among_count = node->provider ? 0 : rent->among_count;
    }
    Quote quote = quote_find(arena, catalogue, node, gpu, &wish, currency);
    // Other providers' offers of such GPUs are used only on request.
    return quote.is_own || asks(rent) ? quote : (Quote){.currency = quote.currency};
}

static const Gpu *gpu_of_group(const Catalogue *catalogue, const NodeGroup *group) {
    return group->gpu ? group->gpu : node_gpu(catalogue, group->type, 0);
}

#define MOST_TOLD 40

static const char *offers_of(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu) {
    const char *list = NULL;
    int told = 0;
    for (int i = 0; i < catalogue->offer_count && told <= MOST_TOLD; i++) {
        const Offer *offer = &catalogue->offers[i];
        bool of_others = node->provider && !offer->is_own_book && !same_part_name(offer->provider, node->provider);
        if (of_others || !offer_is_for(offer, node, gpu)) continue;
        if (told++ == MOST_TOLD) return arena_printf(arena, "%s, and others", list);
        list = arena_printf(arena, "%s%s%s (%s)", list ? list : "", list ? ", " : "", offer->name,
                            terms_names[offer->terms]);
    }
    return list;
}

static void refuse_offer(Arena *arena, const Catalogue *catalogue, const NodeGroup *group, const RentSpec *rent,
                         Problems *problems) {
    const Gpu *gpu = gpu_of_group(catalogue, group);
    problem_add(problems, rent->where, "the price book has no price of %s, %s%s%s%s%s", group->type->name,
                terms_titles[terms_of(rent)], rent->provider ? " at " : "", rent->provider ? rent->provider : "",
                rent->region ? " in " : "", rent->region ? rent->region : "");
    const char *list = offers_of(arena, catalogue, group->type, gpu);
    if (list)
        problem_hint(problems, "it has %s", list);
    else
        problem_hint(problems,
                     "say what a GPU costs an hour: price = { gpu_hour = 2.49 }; or see: lockstep hw list price");
}

static void refuse_book(const RentSpec *rent, const NodeGroup *group, const Gpu *gpu, Problems *problems) {
    const Offer *offer = rent->offer;
    problem_add(problems, rent->where, "the price \"%s\" is of %s, and %s has %s", offer->name,
                offer->gpu ? offer->gpu : offer->nodes[0], group->type->name, gpu->name);
    problem_hint(problems, "take a price for such GPUs (lockstep hw list price), or state one: gpu_hour = 2.49");
}

// Refuses storage and egress without a price: an offer that lists none may be free or unknown.
static void check_services(const RentSpec *rent, const Offer *offer, bool is_stated, Problems *problems) {
    bool storage = rent->storage_bytes > 0 && !(offer && offer->storage_per_gb_month > 0);
    bool egress = rent->egress_bytes > 0 && !(offer && offer->egress_per_gigabyte > 0);
    if (!storage && !egress) return;
    const char *what = storage ? "storage" : "egress", *key = storage ? "storage_per_gb_month" : "egress_per_gb";
    if (!offer && !is_stated) {
        problem_add(problems, rent->where, "a median of several providers does not say what %s costs", what);
        problem_hint(problems, "one of them may: --provider aws");
        return;
    }
    problem_add(problems, rent->where, "%s does not say what %s costs", offer ? offer->name : "a price that is stated",
                what);
    problem_hint(problems, "leave it out, or give it in a price of your own (--profile): \"%s\"", key);
}

static double stated_price(const ClusterSpec *spec, const NodeType *type) {
    const RentSpec *rent = spec->rent;
    for (int i = 0; rent && i < rent->price_count; i++)
        if (strcmp(rent->prices[i].node->name, type->name) == 0) return rent->prices[i].amount;
    return spec->price_per_gpu_hour;
}

static bool is_all_stated(const ClusterSpec *spec) {
    for (int g = 0; g < spec->group_count; g++)
        if (stated_price(spec, spec->groups[g].type) < 0) return false;
    return true;
}

// A provider's own machine type cannot be rented elsewhere, and a rented machine has its provider's network.
static void check_provider(Arena *arena, const Cluster *cluster, const ClusterMoney *money, const NodeGroup *group,
                           Problems *problems) {
    const RentSpec *rent = cluster->spec->rent;
    const FabricLink *link = cluster->spec->link;
    const Catalogue *catalogue = money->catalogue;
    if (!rent || !rent->provider) return;
    const Gpu *gpu = gpu_of_group(catalogue, group);
    const NodeType *other = provider_node(catalogue, rent->provider, gpu, group->type->gpu_count);
    const char *instead =
        other ? arena_printf(arena, "--node %s, whose network is %s", other->name, node_fabrics(arena, other))
              : "leave out one of the two";
    if (group->type->provider && !same_part_name(group->type->provider, rent->provider)) {
        problem_add(problems, rent->where, "%s is a machine of %s, and the provider asked for is %s", group->type->name,
                    group->type->provider, rent->provider);
        problem_hint(problems, "%s", instead);
    } else if (!group->type->provider && other && link && cluster->node_count > 1 &&
               !node_takes_link(catalogue, other, link)) {
        problem_add(problems, rent->where, "%s rents %s as %s on %s, not on %s", rent->provider, gpu->name, other->name,
                    node_fabrics(arena, other), link->name);
        problem_hint(problems, "%s", instead);
    }
}

static bool is_in_currency(const Quote *quote, const ClusterSpec *spec, Problems *problems) {
    if (quote->count == 0 || !isnan(quote->gpu_hour)) return true;
    problem_add(problems, spec->where, "no rate is known from %s to \"%s\"", quote->offers[0]->currency,
                quote->currency);
    return problem_hint(problems, "see: lockstep hw list currency; or state the price in that currency");
}

static void add_rent(ClusterMoney *money, double gpus, const Quote *quote) {
    money->rent_per_hour += quote->gpu_hour * gpus;
    money->rent_least += quote->least * gpus;
    money->rent_most += quote->most * gpus;
    money->rent_log_sigma += quote->log_sigma * quote->gpu_hour * gpus; // of the whole in the end
}

static Quote quote_of_group(Arena *arena, const Cluster *cluster, const ClusterMoney *money, const NodeGroup *group) {
    double stated = stated_price(cluster->spec, group->type);
    if (stated >= 0) return (Quote){.gpu_hour = stated, .least = stated, .most = stated, .currency = money->currency};
    return rent_quote(arena, money->catalogue, group->type, gpu_of_group(money->catalogue, group), cluster->spec->rent,
                      money->currency);
}

// Amounts are in the user's currency, else that of the first price, else USD.
static const char *rent_currency(Arena *arena, const Cluster *cluster, const ClusterMoney *money) {
    const ClusterSpec *spec = cluster->spec;
    const NodeGroup *first = &spec->groups[0];
    if (spec->currency || stated_price(spec, first->type) >= 0) return money->currency;
    return rent_quote(arena, money->catalogue, first->type, gpu_of_group(money->catalogue, first), spec->rent, NULL)
        .currency;
}

static void set_rent(Arena *arena, const Cluster *cluster, ClusterMoney *money, Problems *problems) {
    const ClusterSpec *spec = cluster->spec;
    const Offer **offers = ARENA_ARRAY(arena, const Offer *, spec->group_count);
    Quote *quotes = ARENA_ARRAY(arena, Quote, spec->group_count);
    bool known = true, stated = is_all_stated(spec);
    money->currency = rent_currency(arena, cluster, money);
    for (int g = 0; g < spec->group_count; g++) {
        const NodeGroup *group = &spec->groups[g];
        const Gpu *gpu = gpu_of_group(money->catalogue, group);
        quotes[g] = quote_of_group(arena, cluster, money, group);
        offers[g] = quotes[g].count == 1 ? quotes[g].offers[0] : NULL;
        bool is_stated = stated_price(spec, group->type) >= 0;
        if (!is_stated && offers[g] && !offer_is_comparable(money->catalogue, offers[g], group->type, gpu))
            refuse_book(spec->rent, group, gpu, problems);
        bool wished =
            spec->rent && (spec->rent->offer || spec->rent->provider || spec->rent->region || spec->rent->terms >= 0);
        bool elsewhere = group->type->provider && spec->rent && spec->rent->provider &&
                         !same_part_name(group->type->provider, spec->rent->provider);
        if (!is_stated && quotes[g].count == 0 && wished && !elsewhere)
            refuse_offer(arena, money->catalogue, group, spec->rent, problems);
        if (!is_stated) check_provider(arena, cluster, money, group, problems);
        if (!is_in_currency(&quotes[g], spec, problems)) return;
        known = known && (is_stated || quotes[g].count > 0);
        add_rent(money, rented_gpus(group->type, group->gpus), &quotes[g]);
    }
    money->quotes = stated ? NULL : quotes;
    money->offers = stated ? NULL : offers;
    if (known && spec->rent) check_services(spec->rent, offers[0], stated, problems);
    money->rent_log_sigma = known && money->rent_per_hour > 0 ? money->rent_log_sigma / money->rent_per_hour : 0;
    if (!known) money->rent_per_hour = money->rent_least = money->rent_most = 0;
}

// ---- Buying.

double resale_share(double years) { return pow(0.3, years / 3); }

OwnSpec own_spec_usual(const Site *site) {
    return (OwnSpec){.site = site,
                     .years = OWN_YEARS,
                     .residual_share = NAN,
                     .interest = OWN_INTEREST,
                     .utilisation = OWN_UTILISATION,
                     .node_price = NAN,
                     .switch_price = NAN,
                     .nic_price = NAN,
                     .cable_price = NAN,
                     .storage_price = NAN,
                     .electricity_per_kwh = NAN,
                     .colocation_per_kw_month = NAN,
                     .staff_per_year = NAN,
                     .maintenance_share = NAN};
}

static double stated_or_usd(const ClusterMoney *money, double stated, double usd) {
    return isnan(stated) ? usd * exchange_rate(money->catalogue, "USD", money->currency) : stated;
}

// `machine`: "node", whose price is asked for as its user says prices.
static void need(Problems *problems, const OwnSpec *own, const char *what, const char *machine) {
    bool in_script = own->where.line > 0;
    problem_add(problems, own->where, "no list has what %s costs to buy", what);
    problem_hint(problems, "state it: %s%s%s, in the currency of the cluster (0: you have it already)",
                 in_script ? "" : "--", machine, in_script ? "_price = 400e3" : "-price 400k");
}

// A node comes with NICs, but a faster fabric needs faster ones; and a stated NIC price implies a purchase.
static int nics_that_lack(const Cluster *cluster, const OwnSpec *own, const NodeType *type) {
    const FabricLink *link = cluster->spec->link;
    if (!link || cluster->node_count < 2) return 0;
    bool comes_with = type->nic_count > 0 && type->nic_bytes_per_second > 0.99 * link->line_bytes_per_second;
    int wanted = cluster->spec->nics > 0 ? cluster->spec->nics : type->nic_count > 0 ? type->nic_count : 1;
    return comes_with && !(own->nic_price > 0) ? 0 : wanted;
}

double own_node_price(const OwnSpec *own, const NodeType *type) {
    for (int i = 0; i < own->node_price_count; i++)
        if (own->node_prices[i].node == type) return own->node_prices[i].amount;
    return own->node_price;
}

static void set_machines(const Cluster *cluster, ClusterMoney *money, OwnSpec *own, Problems *problems) {
    for (int n = 0; n < cluster->node_count; n++) {
        const NodeType *type = cluster->node_of[n];
        double stated = own_node_price(own, type);
        bool missing = isnan(stated) && type->price_usd <= 0;
        if (missing) need(problems, own, type->name, "node");
        if (missing) return;
        money->node_price += stated_or_usd(money, stated, type->price_usd);
        money->nics_to_buy += nics_that_lack(cluster, own, type);
    }
}

static void set_fabric(const Cluster *cluster, ClusterMoney *money, OwnSpec *own, Problems *problems) {
    const FabricLink *link = cluster->spec->link;
    if (!link || cluster->node_count < 2) {
        own->switch_price = own->cable_price = own->nic_price = 0;
        return;
    }
    struct {
        const char *machine, *what;
        double *price, usd;
        bool needed;
    } parts[] = {{"switch", "switch", &own->switch_price, link->switch_price_usd, true},
                 {"cable", "cable", &own->cable_price, link->cable_price_usd, true},
                 {"nic", "NIC", &own->nic_price, link->nic_price_usd, money->nics_to_buy > 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (isnan(*parts[i].price) && parts[i].usd <= 0 && parts[i].needed) {
            char what[128];
            snprintf(what, sizeof what, "a %s of %s", parts[i].what, link->name);
            need(problems, own, what, parts[i].machine);
        }
        *parts[i].price = stated_or_usd(money, *parts[i].price, parts[i].usd);
    }
}

static void set_own(Arena *arena, const Cluster *cluster, ClusterMoney *money, Problems *problems) {
    OwnSpec *own = ARENA_NEW(arena, OwnSpec);
    *own = *cluster->spec->own;
    const Site *site = money->site = own->site;
    if (exchange_rate(money->catalogue, "USD", money->currency) <= 0) {
        problem_add(problems, own->where, "no rate is known from USD to \"%s\"", money->currency);
        problem_hint(problems, "see: lockstep hw list currency; a profile may add one");
        return;
    }
    if (isnan(own->residual_share)) own->residual_share = resale_share(own->years);
    if (isnan(own->storage_price)) own->storage_price = 0;
    if (isnan(own->maintenance_share)) own->maintenance_share = site->maintenance_share;
    own->electricity_per_kwh = stated_or_usd(money, own->electricity_per_kwh, site->electricity_usd_per_kwh);
    own->colocation_per_kw_month =
        stated_or_usd(money, own->colocation_per_kw_month, site->colocation_usd_per_kw_month);
    double persons = site->nodes_per_person > 0 ? cluster->node_count / site->nodes_per_person : 0;
    own->staff_per_year = stated_or_usd(money, own->staff_per_year, site->staff_usd_per_year * persons);
    set_machines(cluster, money, own, problems);
    set_fabric(cluster, money, own, problems);
    money->own = own;
}

// ---- Rows of a bill.

const BillRow bill_rows[] = {
    {"machines", "Rent of the machines", "the provider's price"},
    {"discount", "Discount", "of the rent, off it"},
    {"storage", "Storage", "the provider's by the month, where its price is known; or bought: annuity"},
    {"egress", "Data carried out", "once in a run"},
    {"nodes", "Nodes with their GPUs", "bought: annuity"},
    {"nics", "NICs", "bought: annuity"},
    {"switches", "Switches", "bought: annuity"},
    {"cables", "Cables and optics", "bought: annuity"},
    {"racks", "Racks", "bought: annuity"},
    {"building", "Power and cooling plant, per kW", "bought: annuity"},
    {"maintenance", "Maintenance and spares", "a share of the machines' price a year"},
    {"staff", "Staff", "a year"},
    {"colocation", "Colocation", "by kW and month"},
    {"energy", "Electricity", "of owned machines"},
    {"idle", "Hours without a job", "bought: what the other rows cost meanwhile"},
    {"support", "Support", "a share of the rent"},
    {"tax", "Tax", "a share of everything"},
    {NULL, NULL, NULL},
};

const char *bill_row_title(const char *name) {
    for (const BillRow *row = bill_rows; row->name; row++)
        if (strcmp(row->name, name) == 0) return row->title;
    return name;
}

bool bill_leaves_out(const BillSpec *bill, const char *row) {
    size_t wanted = strlen(row);
    for (const char *at = bill ? bill->without : NULL; at && *at;) {
        size_t length = strcspn(at, ",");
        if (length == wanted && strncmp(at, row, length) == 0) return true;
        at += length + (at[length] == ',');
    }
    return false;
}

// A problem for each word of `without` that is no row.
static void bill_check(Arena *arena, const BillSpec *bill, Problems *problems) {
    const char *known[sizeof bill_rows / sizeof *bill_rows];
    int count = 0;
    for (const BillRow *row = bill_rows; row->name; row++)
        if (strcmp(row->name, "machines") != 0 && strcmp(row->name, "idle") != 0) known[count++] = row->name;
    for (const char *at = bill->without; at && *at;) {
        size_t length = strcspn(at, ",");
        const char *word = arena_printf(arena, "%.*s", (int)length, at);
        bool is_known = false;
        for (int i = 0; i < count; i++) is_known = is_known || strcmp(known[i], word) == 0;
        if (!is_known) {
            problem_add(problems, bill->where, "\"%s\" is no row that a bill could do without", word);
            problem_hint_names(problems, word, known, count);
        }
        at += length + (at[length] == ',');
    }
}

const ClusterMoney *cluster_money_create(Arena *arena, const Catalogue *catalogue, const Cluster *cluster,
                                         Problems *problems) {
    const ClusterSpec *spec = cluster->spec;
    int before = problems_added(problems);
    if (spec->bill) bill_check(arena, spec->bill, problems);
    ClusterMoney *money = ARENA_NEW(arena, ClusterMoney);
    *money =
        (ClusterMoney){.catalogue = catalogue, .currency = spec->currency ? spec->currency : "USD", .grid = spec->grid};
    if (!money->grid) money->grid = find_grid(arena, catalogue, "world", nowhere, problems);
    money->site = spec->site ? spec->site : find_site(arena, catalogue, "colocation", nowhere, problems);
    const FabricLink *link = spec->link;
    if (link && link->switch_ports > 0) money->fabric = fabric_bill(cluster->network, link->switch_ports);
    if (!spec->own || spec->price_per_gpu_hour >= 0 || asks_for_a_price(spec->rent))
        set_rent(arena, cluster, money, problems);
    if (spec->own) set_own(arena, cluster, money, problems);
    return problems_added(problems) == before ? money : NULL;
}
