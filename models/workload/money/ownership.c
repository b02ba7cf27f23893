// Owning a cluster: purchase price, yearly cost, and the break-even with renting.
#include <math.h>

#include "models/workload/money/money.h"
#include "sim/base/check.h"

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

double own_payback_months(const OwnCost *cost, double rent_per_hour) {
    double used = HOURS_PER_MONTH * cost->utilisation;
    double running = (cost->fixed_per_year - cost->capital_per_year) / 12 + cost->energy_per_hour * used;
    return payback_months(cost->capital_amount, rent_per_hour * used - running, cost->interest);
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
    OwnCost cost = {.utilisation = own->utilisation, .interest = own->interest};
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
