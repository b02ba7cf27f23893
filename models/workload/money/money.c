// From the price book and what the user says to what an hour of a cluster costs.
#include "models/workload/money/money.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/date.h"
#include "sim/list.h"

static const Where nowhere = {NULL, 0};

// ---- Renting: a line of the price book for each type of node.

static bool fits(const Offer *offer, const NodeType *node, const Gpu *gpu, const RentSpec *rent) {
    if (!offer_is_for(offer, node, gpu)) return false;
    // A price for any machine with such GPUs holds for a node only when somebody asks for it.
    bool asked = rent && (rent->provider || rent->terms >= 0);
    if (offer->gpu && !asked) return false;
    if (rent && rent->provider && !same_part_name(rent->provider, offer->provider)) return false;
    if (rent && rent->region && offer->region && !same_part_name(rent->region, offer->region)) return false;
    return offer->terms == (rent && rent->terms >= 0 ? (Terms)rent->terms : TERMS_ON_DEMAND);
}

static int64_t first_day(const char *date) {
    Date read;
    return date_parse(date, &read) ? date_first_day(read) : 0;
}

const Offer *offer_for(const Catalogue *catalogue, const NodeType *node, const Gpu *gpu, const RentSpec *rent) {
    if (rent && rent->offer) return rent->offer;
    const Offer *newest = NULL;
    for (int i = 0; i < catalogue->offer_count; i++) {
        const Offer *offer = &catalogue->offers[i];
        if (!fits(offer, node, gpu, rent)) continue;
        bool own_price = newest && newest->gpu && !offer->gpu; // the node's own goes before its GPU's
        bool same_kind = newest && !newest->gpu == !offer->gpu;
        if (!newest || own_price || (same_kind && first_day(offer->date) > first_day(newest->date))) newest = offer;
    }
    return newest;
}

static const Gpu *gpu_of_group(const Catalogue *catalogue, const NodeGroup *group) {
    return group->gpu ? group->gpu : node_gpu(catalogue, group->type, 0);
}

static const char *offers_of(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu) {
    const char *list = NULL;
    for (int i = 0; i < catalogue->offer_count; i++) {
        const Offer *offer = &catalogue->offers[i];
        if (!offer_is_for(offer, node, gpu)) continue;
        list = arena_printf(arena, "%s%s%s (%s)", list ? list : "", list ? ", " : "", offer->name,
                            terms_names[offer->terms]);
    }
    return list;
}

static void refuse_offer(Arena *arena, const Catalogue *catalogue, const NodeGroup *group, const RentSpec *rent,
                         Problems *problems) {
    const Gpu *gpu = gpu_of_group(catalogue, group);
    problem_add(problems, rent->where, "the price book has no %s price for %s%s%s%s%s",
                terms_titles[rent->terms >= 0 ? rent->terms : TERMS_ON_DEMAND], group->type->name,
                rent->provider ? " at " : "", rent->provider ? rent->provider : "", rent->region ? " in " : "",
                rent->region ? rent->region : "");
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

static bool asks(const RentSpec *rent) {
    return rent && (rent->offer || rent->provider || rent->terms >= 0 || rent->region);
}

// Free, or not known: nobody says, so neither do we.
static void check_services(const RentSpec *rent, const Offer *offer, Problems *problems) {
    bool storage = rent->storage_bytes > 0 && !(offer && offer->storage_per_gb_month > 0);
    bool egress = rent->egress_bytes > 0 && !(offer && offer->egress_per_gigabyte > 0);
    if (!storage && !egress) return;
    problem_add(problems, rent->where, "%s does not say what %s costs", offer ? offer->name : "a price that is stated",
                storage ? "storage" : "egress");
    problem_hint(problems, "leave it out, or give it in a price of your own (--profile): \"%s\"",
                 storage ? "storage_per_gb_month" : "egress_per_gb");
}

static void set_rent(Arena *arena, const Cluster *cluster, ClusterMoney *money, Problems *problems) {
    const ClusterSpec *spec = cluster->spec;
    if (spec->price_per_gpu_hour >= 0) {
        if (spec->rent) check_services(spec->rent, NULL, problems);
        money->rent_per_hour = spec->price_per_gpu_hour * cluster->gpu_count;
        return;
    }
    const Offer **offers = ARENA_ARRAY(arena, const Offer *, spec->group_count);
    money->offers = offers;
    double sum = 0;
    bool known = true;
    for (int g = 0; g < spec->group_count; g++) {
        const NodeGroup *group = &spec->groups[g];
        const Gpu *gpu = gpu_of_group(money->catalogue, group);
        offers[g] = offer_for(money->catalogue, group->type, gpu, spec->rent);
        if (offers[g] && !offer_is_comparable(money->catalogue, offers[g], group->type, gpu))
            refuse_book(spec->rent, group, gpu, problems);
        if (!offers[g] && asks(spec->rent)) refuse_offer(arena, money->catalogue, group, spec->rent, problems);
        known = known && offers[g];
        if (!offers[g]) continue;
        if (!spec->currency) money->currency = offers[0] ? offers[0]->currency : money->currency;
        double rate = exchange_rate(money->catalogue, offers[g]->currency, money->currency);
        if (rate <= 0) {
            problem_add(problems, spec->where, "no rate is known from %s to \"%s\"", offers[g]->currency,
                        money->currency);
            problem_hint(problems, "see: lockstep hw list currency; or state the price in that currency");
            return;
        }
        sum += rate * offer_gpu_hour(offers[g]) * group->gpus;
    }
    if (known && spec->rent) check_services(spec->rent, offers[0], problems);
    if (known) money->rent_per_hour = sum;
}

// ---- Buying.

static double stated_or_usd(const ClusterMoney *money, double stated, double usd) {
    return isnan(stated) ? usd * exchange_rate(money->catalogue, "USD", money->currency) : stated;
}

static void need(Problems *problems, const OwnSpec *own, const char *what, const char *field) {
    problem_add(problems, own->where, "nobody says what %s costs to buy", what);
    problem_hint(problems, "state it: %s = …, in the currency of the cluster (0: you have it already)", field);
}

// A node comes with NICs, but a faster fabric needs faster ones; and who says what a NIC costs buys some.
static int nics_that_lack(const Cluster *cluster, const OwnSpec *own, const NodeType *type) {
    const FabricLink *link = cluster->spec->link;
    if (!link || cluster->node_count < 2) return 0;
    bool comes_with = type->nic_count > 0 && type->nic_bytes_per_second > 0.99 * link->line_bytes_per_second;
    int wanted = cluster->spec->nics > 0 ? cluster->spec->nics : type->nic_count > 0 ? type->nic_count : 1;
    return comes_with && !(own->nic_price > 0) ? 0 : wanted;
}

static void set_machines(const Cluster *cluster, ClusterMoney *money, OwnSpec *own, Problems *problems) {
    for (int n = 0; n < cluster->node_count; n++) {
        const NodeType *type = cluster->node_of[n];
        bool missing = isnan(own->node_price) && type->price_usd <= 0;
        if (missing) need(problems, own, type->name, "node_price");
        if (missing) return;
        money->node_price += stated_or_usd(money, own->node_price, type->price_usd);
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
        const char *field, *what;
        double *price, usd;
        bool needed;
    } parts[] = {{"switch_price", "switch", &own->switch_price, link->switch_price_usd, true},
                 {"cable_price", "cable", &own->cable_price, link->cable_price_usd, true},
                 {"nic_price", "NIC", &own->nic_price, link->nic_price_usd, money->nics_to_buy > 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (isnan(*parts[i].price) && parts[i].usd <= 0 && parts[i].needed) {
            char what[128];
            snprintf(what, sizeof what, "a %s of %s", parts[i].what, link->name);
            need(problems, own, what, parts[i].field);
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

const ClusterMoney *cluster_money_create(Arena *arena, const Catalogue *catalogue, const Cluster *cluster,
                                         Problems *problems) {
    const ClusterSpec *spec = cluster->spec;
    int before = problems_added(problems);
    ClusterMoney *money = ARENA_NEW(arena, ClusterMoney);
    *money =
        (ClusterMoney){.catalogue = catalogue, .currency = spec->currency ? spec->currency : "USD", .grid = spec->grid};
    if (!money->grid) money->grid = find_grid(arena, catalogue, "world", nowhere, problems);
    money->site = spec->site ? spec->site : find_site(arena, catalogue, "colocation", nowhere, problems);
    const FabricLink *link = spec->link;
    if (link && link->switch_ports > 0) money->fabric = fabric_bill(cluster->network, link->switch_ports);
    if (!spec->own || spec->price_per_gpu_hour >= 0 || asks(spec->rent)) set_rent(arena, cluster, money, problems);
    if (spec->own) set_own(arena, cluster, money, problems);
    return problems_added(problems) == before ? money : NULL;
}

// ---- The bill.

typedef struct LineList {
    NamedValue *items;
    int count, room;
} LineList;

typedef struct PriceList {
    DatedPrice *items;
    int count, room;
} PriceList;

static void add_line(Arena *arena, LineList *list, const char *name, const char *title, double per_hour) {
    if (per_hour > 0) LIST_PUSH(arena, list, ((NamedValue){name, title, per_hour}));
}

static void add_price(Arena *arena, PriceList *list, const char *name, const char *title, const char *date,
                      const Fact *fact) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return;
    DatedPrice price = {name, title, date, fact ? fact->source : NULL, fact ? fact_kind_name(fact->kind) : "assumed"};
    LIST_PUSH(arena, list, price);
}

static const Fact *offer_fact(const Offer *offer) {
    const Fact *fact = fact_find(offer->facts, offer->fact_count, "price_per_hour");
    return fact ? fact : fact_find(offer->facts, offer->fact_count, "price_per_month");
}

static void add_currency(Arena *arena, PriceList *list, const ClusterMoney *money, const char *from) {
    if (strcmp(from, money->currency) == 0) return;
    const char *names[] = {from, money->currency};
    for (int i = 0; i < 2; i++) {
        const Currency *currency =
            part_find(PART_CURRENCY, money->catalogue->currencies, money->catalogue->currency_count, names[i]);
        if (!currency || strcmp(currency->name, "USD") == 0) continue;
        add_price(arena, list, currency->name, currency->title, currency->date,
                  fact_find(currency->facts, currency->fact_count, "per_usd"));
    }
}

static void bill_rent(Arena *arena, const Cluster *cluster, ClusterBill *bill, LineList *lines, PriceList *prices) {
    const ClusterMoney *money = cluster->money;
    const RentSpec *rent = cluster->spec->rent;
    add_line(arena, lines, "machines", "Rent of the machines", money->rent_per_hour);
    for (int g = 0; money->offers && g < cluster->spec->group_count; g++) {
        const Offer *offer = money->offers[g];
        double rate = exchange_rate(money->catalogue, offer->currency, money->currency);
        add_price(arena, prices, offer->name, offer->title, offer->date, offer_fact(offer));
        add_currency(arena, prices, money, offer->currency);
        bill->minimum_hours = fmax(bill->minimum_hours, offer->minimum_seconds / 3600);
        bill->step_hours = fmax(bill->step_hours, offer->step_seconds / 3600);
        bill->interruptions_per_hour = fmax(bill->interruptions_per_hour, offer_interruptions_per_hour(offer));
        if (g > 0 || !rent) continue;
        add_line(arena, lines, "storage", "Storage at the provider",
                 rate * offer->storage_per_gb_month * rent->storage_bytes / 1e9 / HOURS_PER_MONTH);
        bill->once += rate * offer->egress_per_gigabyte * rent->egress_bytes / 1e9;
    }
}

static void set_break_even(ClusterBill *bill, const ClusterMoney *money, const OwnCost *cost) {
    if (!(money->rent_per_hour > 0)) return;
    bill->rent_per_hour = money->rent_per_hour;
    bill->break_even_utilisation = break_even_utilisation(cost, money->rent_per_hour);
    bill->payback_months = own_payback_months(cost, money->rent_per_hour);
}

static void bill_own(Arena *arena, const Cluster *cluster, const ClusterPower *power, ClusterBill *bill,
                     LineList *lines, PriceList *prices) {
    const ClusterMoney *money = cluster->money;
    const OwnSpec *own = money->own;
    OwnCost cost = own_cost(cluster, power);
    set_break_even(bill, money, &cost);
    double hours = HOURS_PER_YEAR * own->utilisation;
    for (int i = 0; i < cost.capital_count; i++) {
        const CapitalLine *line = &cost.capital[i];
        add_line(arena, lines, line->name, line->title,
                 annuity(line->amount, line->residual_share, own->interest, line->years) / hours);
    }
    add_line(arena, lines, "maintenance", "Maintenance and spares", cost.maintenance_per_year / hours);
    add_line(arena, lines, "staff", "Staff", cost.staff_per_year / hours);
    add_line(arena, lines, "colocation", "Colocation", cost.colocation_per_year / hours);
    add_line(arena, lines, "energy", "Electricity", cost.idle_energy_per_year / hours + cost.energy_per_hour);
    for (int n = 0; n < cluster->node_count && isnan(cluster->spec->own->node_price); n++) {
        const NodeType *type = cluster->node_of[n];
        add_price(arena, prices, type->name, type->price_basis, type->price_date,
                  fact_find(type->facts, type->fact_count, "price_usd"));
    }
    const FabricLink *link = cluster->spec->link;
    if (link && link->price_date && money->fabric.switches > 0 && isnan(cluster->spec->own->switch_price))
        add_price(arena, prices, link->name, link->title, link->price_date,
                  fact_find(link->facts, link->fact_count, "switch_price_usd"));
    add_price(arena, prices, own->site->name, own->site->title, own->site->date, NULL);
    add_currency(arena, prices, money, "USD");
}

ClusterBill cluster_bill(Arena *arena, const Cluster *cluster, const ActivityMix *mix) {
    const ClusterMoney *money = cluster->money;
    ClusterPower power = cluster_power(cluster, mix);
    ClusterBill bill = {.owned = money->own != NULL,
                        .known = money->own || money->rent_per_hour > 0,
                        .currency = money->currency,
                        .wall_watts = power_at_wall(&power),
                        .peak_wall_watts = peak_power_at_wall(&power),
                        .rent_per_hour = NAN,
                        .break_even_utilisation = NAN,
                        .payback_months = NAN};
    bill.carbon_kg_per_hour = bill.wall_watts / 1000 * money->grid->carbon_grams_per_kwh / 1000;
    LineList lines = {0};
    PriceList prices = {0};
    if (bill.owned)
        bill_own(arena, cluster, &power, &bill, &lines, &prices);
    else if (bill.known)
        bill_rent(arena, cluster, &bill, &lines, &prices);
    bill.per_hour = bill.known ? 0 : NAN;
    for (int i = 0; i < lines.count; i++) bill.per_hour += lines.items[i].value;
    bill.per_month = bill.per_hour * HOURS_PER_MONTH * (bill.owned ? money->own->utilisation : 1);
    bill.lines = lines.items;
    bill.line_count = lines.count;
    bill.prices = prices.items;
    bill.price_count = prices.count;
    return bill;
}

double bill_of_run(const ClusterBill *bill, double hours) {
    double billed = hours;
    if (bill->step_hours > 0) billed = bill->step_hours * ceil(billed / bill->step_hours * (1 - 1e-12));
    billed = fmax(billed, bill->minimum_hours);
    return (isnan(hours) ? NAN : billed) * bill->per_hour + bill->once;
}
