#include "models/workload/money/money.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/check.h"

// ---- Power of a cluster: GPUs by activity, hosts, switches and optics; racks and breakers for the peak.

ActivityMix activity_of_step(const double spent[CAUSE_COUNT]) {
    double seconds = 0;
    ActivityMix mix = {{0}};
    for (int c = 0; c < CAUSE_COUNT; c++) seconds += spent[c];
    if (!(seconds > 0)) return activity_idle;
    for (int c = 0; c < CAUSE_COUNT; c++) mix.share[activity_of_cause((Cause)c)] += spent[c] / seconds;
    return mix;
}

// GPUs of a node that are used; the first of them is `rank`.
static int gpus_of_node(const Cluster *cluster, int rank, int node) {
    int used = 0;
    while (rank + used < cluster->gpu_count && network_node_of(cluster->network, rank + used) == node) used++;
    return used;
}

static double machines_watts(const Cluster *cluster, const ActivityMix *mix) {
    double watts = 0, each = 0;
    for (int rank = 0; rank < cluster->gpu_count; rank++) {
        const Gpu *gpu = cluster->gpu_of[rank];
        if (rank == 0 || gpu != cluster->gpu_of[rank - 1]) each = gpu_mix_watts(gpu, mix);
        watts += each;
    }
    int rank = 0;
    for (int n = 0; n < cluster->node_count; n++) {
        const NodeType *type = cluster->node_of[n];
        int used = gpus_of_node(cluster, rank, n);
        const Gpu *gpu = cluster->gpu_of[rank];
        watts += host_mix_watts(type, gpu, mix);
        watts += (type->gpu_count - used) * gpu_activity_watts(gpu, ACTIVITY_OFF);
        rank += used;
    }
    return watts;
}

static double network_watts(const Cluster *cluster) {
    const FabricLink *link = cluster->spec->link;
    const FabricBill *bill = &cluster->money->fabric;
    if (!link) return 0;
    double ends = 2.0 * (double)(bill->node_cables + bill->switch_cables);
    return (double)bill->switches * link->switch_power_watts + ends * link->port_power_watts;
}

// As many nodes as a rack has power and room for.
static void set_racks(ClusterPower *power, const Cluster *cluster, const Site *site) {
    power->rack_watts = site->rack_watts;
    power->breaker_watts = breaker_watts(site);
    power->node_exceeds_breaker = power->node_peak_watts > power->breaker_watts;
    power->node_exceeds_rack = site->rack_watts > 0 && power->node_peak_watts > site->rack_watts;
    double by_power = site->rack_watts > 0 ? floor(site->rack_watts / power->node_peak_watts)
                                           : floor(power->breaker_watts / power->node_peak_watts);
    int units = cluster->node_of[0]->rack_units;
    if (site->rack_units > 0 && units > 0) by_power = fmin(by_power, floor((double)site->rack_units / units));
    power->nodes_per_rack = by_power < 1 ? 1 : by_power > cluster->node_count ? cluster->node_count : (int)by_power;
    int places = (cluster->node_count + power->nodes_per_rack - 1) / power->nodes_per_rack;
    power->racks = site->rack_watts > 0 ? places : 0;
    double per_place = ceil(power->nodes_per_rack * power->node_peak_watts / power->breaker_watts - 1e-9);
    power->breakers = places * site->feeds * (int)per_place;
}

ClusterPower cluster_power(const Cluster *cluster, const ActivityMix *mix) {
    ClusterPower power = {.node_watts = machines_watts(cluster, mix), .network_watts = network_watts(cluster)};
    double pue = cluster->spec->power_usage_effectiveness;
    power.idle_watts = machines_watts(cluster, &activity_idle) + power.network_watts;
    power.peak_watts = power.network_watts;
    for (int n = 0, rank = 0; n < cluster->node_count; rank += gpus_of_node(cluster, rank, n), n++) {
        double peak = node_peak_watts(cluster->node_of[n], cluster->gpu_of[rank]);
        power.peak_watts += peak;
        power.node_peak_watts = fmax(power.node_peak_watts, peak);
    }
    power.power_usage_effectiveness = pue > 0 ? pue : cluster->money->site->power_usage_effectiveness;
    set_racks(&power, cluster, cluster->money->site);
    return power;
}

double power_at_wall(const ClusterPower *power) {
    return (power->node_watts + power->network_watts) * power->power_usage_effectiveness;
}

double idle_power_at_wall(const ClusterPower *power) { return power->idle_watts * power->power_usage_effectiveness; }

double peak_power_at_wall(const ClusterPower *power) { return power->peak_watts * power->power_usage_effectiveness; }

// ---- Formulas.

double annuity(double amount, double residual_share, double interest, double years) {
    double after = pow(1 + interest, years);
    if (after - 1 < 1e-12) return amount * (1 - residual_share) / years;
    double present = amount - amount * residual_share / after;
    return present * interest * after / (after - 1);
}

// capital = saved (1 - (1 + i)^-m) / i, with i of a month, solved for m.
double payback_months(double capital, double saved_per_month, double interest) {
    if (capital <= 0) return 0;
    if (saved_per_month <= 0) return INFINITY;
    double monthly = pow(1 + interest, 1.0 / 12) - 1;
    if (monthly < 1e-12) return capital / saved_per_month;
    double share = capital * monthly / saved_per_month;
    return share < 1 ? -log1p(-share) / log1p(monthly) : INFINITY;
}

double break_even_utilisation(const OwnCost *cost, double rent_per_hour) {
    double saved = rent_per_hour - cost->energy_per_hour;
    return saved > 0 ? cost->fixed_per_year / (HOURS_PER_YEAR * saved) : INFINITY;
}

// What capital_per_year pays for in the machines' life: of a building that stands longer the part that they use up.
static double capital_to_pay_back(const OwnCost *cost) {
    double interest = cost->interest;
    if (interest < 1e-12) return cost->capital_per_year * cost->years;
    return cost->capital_per_year * -expm1(-cost->years * log1p(interest)) / interest;
}

double own_payback_months(const OwnCost *cost, double rent_per_hour) {
    double used = HOURS_PER_MONTH * cost->utilisation;
    double running = (cost->fixed_per_year - cost->capital_per_year) / 12 + cost->energy_per_hour * used;
    return payback_months(capital_to_pay_back(cost), rent_per_hour * used - running, cost->interest);
}

double own_cost_per_hour(const OwnCost *cost, double utilisation) {
    return cost->fixed_per_year / (HOURS_PER_YEAR * utilisation) + cost->energy_per_hour;
}

// ---- What is bought.

static void add_capital(OwnCost *cost, const BillSpec *bill, CapitalLine line) {
    if (bill_leaves_out(bill, line.name)) return;
    line.amount = line.count * line.unit_price;
    if (!(line.amount > 0)) return;
    CHECK(cost->capital_count < CAPITAL_LINES);
    cost->capital[cost->capital_count++] = line;
    cost->capital_amount += line.amount;
}

static void add_machines(OwnCost *cost, const Cluster *cluster, const char *name, double count, double unit_price) {
    const OwnSpec *own = cluster->money->own;
    add_capital(cost, cluster->spec->bill,
                (CapitalLine){name, bill_row_title(name), count, unit_price, 0, own->years, own->residual_share, true});
}

static double in_own_money(const ClusterMoney *money, double usd) {
    return usd > 0 ? usd * exchange_rate(money->catalogue, "USD", money->currency) : 0;
}

static void list_capital(OwnCost *cost, const Cluster *cluster, const ClusterPower *power) {
    const ClusterMoney *money = cluster->money;
    const OwnSpec *own = money->own;
    const BillSpec *bill = cluster->spec->bill;
    const FabricBill *fabric = &money->fabric;
    double cables = (double)(fabric->node_cables + fabric->switch_cables);
    double node_price = money->node_price / cluster->node_count;
    add_machines(cost, cluster, "nodes", cluster->node_count, node_price);
    add_machines(cost, cluster, "nics", money->nics_to_buy, own->nic_price);
    add_machines(cost, cluster, "switches", (double)fabric->switches, own->switch_price);
    add_machines(cost, cluster, "cables", cables, own->cable_price);
    add_machines(cost, cluster, "storage", 1, own->storage_price);
    const Site *site = own->site;
    double rack_price = in_own_money(money, site->rack_usd), plant = in_own_money(money, site->building_usd_per_kw);
    add_capital(cost, bill,
                (CapitalLine){"racks", bill_row_title("racks"), power->racks, rack_price, 0, own->years, 0, false});
    add_capital(cost, bill,
                (CapitalLine){"building", bill_row_title("building"), power->peak_watts / 1000, plant, 0,
                              fmax(site->building_years, 1), 0, false});
}

// ---- What it costs a year.

static double machines_price(const OwnCost *cost) {
    double price = 0;
    for (int i = 0; i < cost->capital_count; i++)
        if (cost->capital[i].is_machine) price += cost->capital[i].amount;
    return price;
}

OwnCost own_cost(const Cluster *cluster, const ClusterPower *power) {
    const OwnSpec *own = cluster->money->own;
    CHECK(own);
    OwnCost cost = {.utilisation = own->utilisation, .interest = own->interest, .years = own->years};
    list_capital(&cost, cluster, power);
    for (int i = 0; i < cost.capital_count; i++) {
        const CapitalLine *line = &cost.capital[i];
        cost.capital_per_year += annuity(line->amount, line->residual_share, own->interest, line->years);
        cost.straight_per_year += annuity(line->amount, line->residual_share, 0, line->years);
    }
    const BillSpec *bill = cluster->spec->bill;
    double kwh_price = bill_leaves_out(bill, "energy") ? 0 : own->electricity_per_kwh,
           idle_kw = idle_power_at_wall(power) / 1000;
    cost.maintenance_per_year =
        bill_leaves_out(bill, "maintenance") ? 0 : own->maintenance_share * machines_price(&cost);
    cost.staff_per_year = bill_leaves_out(bill, "staff") ? 0 : own->staff_per_year;
    cost.colocation_per_year =
        bill_leaves_out(bill, "colocation") ? 0 : own->colocation_per_kw_month * 12 * power->peak_watts / 1000;
    cost.idle_energy_per_year = kwh_price * idle_kw * HOURS_PER_YEAR;
    cost.fixed_per_year = cost.capital_per_year + cost.maintenance_per_year + cost.staff_per_year +
                          cost.colocation_per_year + cost.idle_energy_per_year;
    cost.energy_per_hour = kwh_price * (power_at_wall(power) / 1000 - idle_kw);
    return cost;
}

// ---- The bill.

typedef LIST_OF(NamedValue) LineList;

typedef struct PriceList {
    DatedPrice *items;
    int count, room;
    NameIndex *names;
} PriceList;

static void add_line(Arena *arena, LineList *list, const char *name, double per_hour) {
    if (per_hour != 0) LIST_PUSH(arena, list, ((NamedValue){name, bill_row_title(name), per_hour}));
}

static double sum_of(const LineList *list) {
    double sum = 0;
    for (int i = 0; i < list->count; i++) sum += list->items[i].value;
    return sum;
}

static double share_of(const BillSpec *spec, const char *row, double share) {
    return spec && !bill_leaves_out(spec, row) ? share : 0;
}

static double discount_of(const BillSpec *spec) { return share_of(spec, "discount", spec ? spec->discount : 0); }
static double support_of(const BillSpec *spec) { return share_of(spec, "support", spec ? spec->support : 0); }
static double tax_of(const BillSpec *spec) { return share_of(spec, "tax", spec ? spec->tax : 0); }

static void add_price(Arena *arena, PriceList *list, const char *name, const char *title, const char *date,
                      const Fact *fact) {
    if (name_index_add(list->names, name, list->count) >= 0) return;
    DatedPrice price = {name, title, date, fact ? fact->source : NULL, fact ? fact_kind_name(fact->kind) : "assumed",
                        NULL};
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
        const Currency *currency = part_find(money->catalogue, PART_CURRENCY, names[i]);
        if (!currency || strcmp(currency->name, "USD") == 0) continue;
        add_price(arena, list, currency->name, currency->title, currency->date,
                  fact_find(currency->facts, currency->fact_count, "per_usd"));
    }
}

// Bill of one offer: its minimum time, its billing steps, its other charges.
static void bill_offer(Arena *arena, const ClusterMoney *money, const ClusterSpec *spec, const RentSpec *rent,
                       const Offer *offer, ClusterBill *bill, LineList *lines) {
    double rate = exchange_rate(money->catalogue, offer->currency, money->currency);
    bill->minimum_hours = fmax(bill->minimum_hours, offer->minimum_seconds / 3600);
    bill->step_hours = fmax(bill->step_hours, offer->step_seconds / 3600);
    bill->interruptions_per_hour = fmax(bill->interruptions_per_hour, offer_interruptions_per_hour(offer));
    if (!rent) return;
    if (!bill_leaves_out(spec->bill, "storage"))
        add_line(arena, lines, "storage",
                 rate * offer->storage_per_gb_month * rent->storage_bytes / 1e9 / HOURS_PER_MONTH);
    if (!bill_leaves_out(spec->bill, "egress"))
        bill->once += rate * offer->egress_per_gigabyte * rent->egress_bytes / 1e9;
}

static void bill_rent(Arena *arena, const Cluster *cluster, ClusterBill *bill, LineList *lines, PriceList *prices) {
    const ClusterMoney *money = cluster->money;
    const ClusterSpec *spec = cluster->spec;
    double discount = discount_of(spec->bill), support = support_of(spec->bill);
    double paid = (1 - discount) * (1 + support) * (1 + tax_of(spec->bill)); // of a unit of rent
    add_line(arena, lines, "machines", money->rent_per_hour);
    add_line(arena, lines, "discount", -discount * money->rent_per_hour);
    bill->least_per_hour = paid * (money->rent_least - money->rent_per_hour);
    bill->most_per_hour = paid * (money->rent_most - money->rent_per_hour);
    bill->log_sigma = money->rent_log_sigma;
    for (int g = 0; money->quotes && g < cluster->spec->group_count; g++) {
        const Quote *quote = &money->quotes[g];
        for (int i = 0; i < quote->count; i++) {
            const Offer *offer = quote->offers[i];
            bill->term_hours = fmax(bill->term_hours, HOURS_PER_YEAR * terms_years(offer->terms));
            add_price(arena, prices, offer->name, offer->title, offer->date, offer_fact(offer));
            add_currency(arena, prices, money, offer->currency);
        }
        if (money->offers[g]) bill_offer(arena, money, spec, g ? NULL : spec->rent, money->offers[g], bill, lines);
    }
    add_line(arena, lines, "support", support * sum_of(lines));
}

// Tax is on both, so it decides nothing.
static void set_break_even(ClusterBill *bill, const Cluster *cluster, const OwnCost *cost) {
    const BillSpec *spec = cluster->spec->bill;
    double rent = cluster->money->rent_per_hour * (1 - discount_of(spec)) * (1 + support_of(spec));
    if (!(rent > 0)) return;
    bill->rent_per_hour = rent;
    bill->break_even_utilisation = break_even_utilisation(cost, rent);
    bill->payback_months = own_payback_months(cost, rent);
}

#define USUAL_USD_PER_KWH 0.1 // of a site whose rent has the electricity in it

// What is stated and more than ten times off the usual may be in another unit. 0: it is paid for already.
static void doubt_price(Arena *arena, PriceList *list, const ClusterMoney *money, const char *name, const char *unit,
                        double stated, double usual_usd) {
    double usual = usual_usd * exchange_rate(money->catalogue, "USD", money->currency);
    bool far = stated > 10 * usual || stated < usual / 10; // of NAN neither
    if (!far || !(stated > 0 && usual > 0) || name_index_add(list->names, name, list->count) >= 0) return;
    const char *doubt = arena_printf(arena, "%s for %s %s%s is stated, and %.6g %s is usual", name,
                                     quantity_exact(arena, stated), money->currency, unit, usual, money->currency);
    LIST_PUSH(arena, list, ((DatedPrice){.name = name, .title = name, .kind = "stated", .doubt = doubt}));
}

static void bill_own(Arena *arena, const Cluster *cluster, const ClusterPower *power, ClusterBill *bill,
                     LineList *lines, PriceList *prices) {
    const ClusterMoney *money = cluster->money;
    const OwnSpec *own = money->own;
    OwnCost cost = own_cost(cluster, power);
    bill->capital = cost.capital_amount;
    set_break_even(bill, cluster, &cost);
    for (int i = 0; i < cost.capital_count; i++) {
        const CapitalLine *line = &cost.capital[i];
        add_line(arena, lines, line->name,
                 annuity(line->amount, line->residual_share, own->interest, line->years) / HOURS_PER_YEAR);
    }
    add_line(arena, lines, "maintenance", cost.maintenance_per_year / HOURS_PER_YEAR);
    add_line(arena, lines, "staff", cost.staff_per_year / HOURS_PER_YEAR);
    add_line(arena, lines, "colocation", cost.colocation_per_year / HOURS_PER_YEAR);
    add_line(arena, lines, "energy", cost.idle_energy_per_year / HOURS_PER_YEAR + cost.energy_per_hour);
    add_line(arena, lines, "idle", own_cost_per_hour(&cost, own->utilisation) - own_cost_per_hour(&cost, 1));
    for (int n = 0; n < cluster->node_count; n++) {
        const NodeType *type = cluster->node_of[n];
        double stated = own_node_price(cluster->spec->own, type);
        doubt_price(arena, prices, money, type->name, "", stated, type->price_usd);
        if (!isnan(stated)) continue;
        add_price(arena, prices, type->name, type->price_basis, type->price_date,
                  fact_find(type->facts, type->fact_count, "price_usd"));
    }
    const FabricLink *link = cluster->spec->link;
    if (link && link->price_date && money->fabric.switches > 0 && isnan(cluster->spec->own->switch_price))
        add_price(arena, prices, link->name, link->title, link->price_date,
                  fact_find(link->facts, link->fact_count, "switch_price_usd"));
    doubt_price(arena, prices, money, "electricity", " a kWh", cluster->spec->own->electricity_per_kwh,
                own->site->electricity_usd_per_kwh > 0 ? own->site->electricity_usd_per_kwh : USUAL_USD_PER_KWH);
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
    PriceList prices = {.names = name_index_create(arena, strcmp)};
    if (bill.owned)
        bill_own(arena, cluster, &power, &bill, &lines, &prices);
    else if (bill.known)
        bill_rent(arena, cluster, &bill, &lines, &prices);
    double tax = bill.known ? tax_of(cluster->spec->bill) : 0;
    add_line(arena, &lines, "tax", tax * sum_of(&lines));
    bill.once *= 1 + tax;
    bill.per_hour = bill.known ? sum_of(&lines) : NAN;
    bill.per_month = bill.per_hour * HOURS_PER_MONTH * (bill.owned ? money->own->utilisation : 1);
    bill.least_per_hour += bill.per_hour;
    bill.most_per_hour += bill.per_hour;
    bill.lines = lines.items;
    bill.line_count = lines.count;
    bill.prices = prices.items;
    bill.price_count = prices.count;
    return bill;
}

double storage_bill_per_hour(const Cluster *cluster, const StorageType *unit, double units) {
    const ClusterMoney *money = cluster->money;
    const BillSpec *spec = cluster->spec->bill;
    bool is_bought = money->own && money->own->storage_price > 0;
    if (bill_leaves_out(spec, "storage") || is_bought || !(unit->unit_usd_per_hour > 0)) return 0;
    double rate = exchange_rate(money->catalogue, "USD", money->currency);
    double support = money->own ? 0 : support_of(spec);
    return rate > 0 ? rate * units * unit->unit_usd_per_hour * (1 + support) * (1 + tax_of(spec)) : NAN;
}

static double whole_steps(double hours, double step) { return step * ceil(hours / step * (1 - 1e-12)); }

double bill_whole_terms(double hours, double term_hours) {
    return term_hours > 0 ? fmax(term_hours, whole_steps(hours, term_hours)) : hours;
}

static double billed_hours(const ClusterBill *bill, double hours) {
    if (isnan(hours)) return NAN;
    return fmax(bill->step_hours > 0 ? whole_steps(hours, bill->step_hours) : hours, bill->minimum_hours);
}

double bill_unused_of_run(const ClusterBill *bill, double hours) {
    double billed = billed_hours(bill, hours);
    return bill->term_hours > 0 ? (bill_whole_terms(billed, bill->term_hours) - billed) * bill->per_hour : 0;
}

double bill_of_run(const ClusterBill *bill, double hours) {
    return billed_hours(bill, hours) * bill->per_hour + bill_unused_of_run(bill, hours) + bill->once;
}
