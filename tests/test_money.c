// Money: formulas by hand, laws, the price book, what is bought for a fabric, and published figures that it must meet.
#include "models/workload/money/money.h"

#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/date.h"
#include "tests/test.h"

// ---- A cluster to pay for.

typedef struct Bench {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    NodeGroup group;
    ClusterSpec spec;
    OwnSpec own;
    RentSpec rent;
} Bench;

static Bench bench_open(const char *node, int nodes, const char *link) {
    Bench bench = {.arena = arena_open()};
    bench.problems = problems_create(bench.arena);
    bench.catalogue = catalogue_builtin(bench.arena);
    const NodeType *type = catalogue_node(bench.catalogue, node);
    bench.group = (NodeGroup){.type = type, .gpus = nodes * type->gpu_count};
    bench.spec = (ClusterSpec){.group_count = 1,
                               .link = link ? catalogue_link(bench.catalogue, link) : NULL,
                               .fabric = FABRIC_FAT_TREE,
                               .rail_optimised = true,
                               .oversubscription = 1,
                               .price_per_gpu_hour = -1};
    bench.own = own_spec_usual(find_site(bench.arena, bench.catalogue, "colocation", (Where){0}, bench.problems));
    bench.rent = (RentSpec){.terms = -1};
    return bench;
}

static const Cluster *build(Bench *bench, bool owned) {
    bench->spec.groups = &bench->group;
    bench->spec.own = owned ? &bench->own : NULL;
    bench->spec.rent = &bench->rent;
    ClusterSpec *spec = ARENA_NEW(bench->arena, ClusterSpec);
    *spec = bench->spec;
    return cluster_create(bench->arena, bench->catalogue, spec, bench->problems);
}

static double owned_per_hour(Bench *bench) {
    const Cluster *cluster = build(bench, true);
    return cluster_bill(bench->arena, cluster, &activity_usual).per_hour;
}

static const char *refusal(Bench *bench, bool owned) {
    EXPECT(build(bench, owned) == NULL);
    return problem_count(bench->problems) ? problem_at(bench->problems, 0)->text : "";
}

// ---- Formulas.

TEST(an_annuity_is_the_textbooks) {
    // 100,000 at 10 % over 5 years: 100,000 x 0.2637975.
    EXPECT_NEAR(annuity(100000, 0, 0.10, 5), 26379.748, 1e-7);
    // A fifth comes back at the end: its present value, 20,000 / 1.1^5, is not to be paid for.
    EXPECT_NEAR(annuity(100000, 0.2, 0.10, 5), (100000 - 20000 / 1.61051) * 0.26379748, 1e-7);
    EXPECT_NEAR(annuity(100000, 0.2, 0, 4), 20000, 1e-12); // straight line
    EXPECT_NEAR(annuity(100000, 0.2, 1e-9, 4), 20000, 1e-6);
}

// Paying the annuity off month by month leaves nothing: the twin of the formula.
TEST(yearly_annuities_pay_capital_and_interest_off) {
    double debt = 7e6, paid = annuity(7e6, 0.15, 0.08, 4);
    for (int year = 0; year < 4; year++) debt = debt * 1.08 - paid;
    EXPECT_NEAR(debt, 0.15 * 7e6, 1e-9);
}

TEST(payback_counts_months_with_and_without_interest) {
    EXPECT_NEAR(payback_months(120000, 10000, 0), 12, 1e-12);
    double debt = 120000, monthly = pow(1.08, 1.0 / 12);
    double months = payback_months(120000, 10000, 0.08);
    for (int month = 0; month < 12; month++) debt = debt * monthly - 10000;
    EXPECT(debt > 0 && months > 12 && months < 13); // a year of savings leaves a part of the interest
    EXPECT_NEAR(months, 12.526, 1e-3);
    EXPECT(isinf(payback_months(120000, 0, 0.08)) && isinf(payback_months(120000, 700, 0.08)));
    EXPECT_SAME(payback_months(0, -5, 0.08), 0);
}

// Without interest, a resale of 30 % leaves 70 % to pay back: 0.7 x 400,000 at 10,000 a month are 28 months.
TEST(what_the_sale_brings_back_need_not_be_paid_back) {
    OwnCost cost = {.capital_amount = 400000, .years = 4, .utilisation = 1};
    cost.capital_per_year = cost.fixed_per_year = annuity(400000, 0.3, 0, 4);
    EXPECT_NEAR(own_payback_months(&cost, 10000 / HOURS_PER_MONTH), 28, 1e-9);
    cost.interest = 0.08;
    cost.capital_per_year = cost.fixed_per_year = annuity(400000, 0.3, 0.08, 4);
    double net = 400000 - 0.3 * 400000 / pow(1.08, 4);
    EXPECT_NEAR(own_payback_months(&cost, 10000 / HOURS_PER_MONTH), payback_months(net, 10000, 0.08), 1e-9);
}

// One answer cannot say that owning is cheaper and that it is not paid back.
TEST(what_is_cheaper_to_own_has_paid_for_itself_in_its_life) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    const Cluster *cluster = build(&bench, true);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    OwnCost cost = own_cost(cluster, &power);
    double even = own_cost_per_hour(&cost, cost.utilisation);
    for (double rent = 0.9 * even; rent < 2 * even; rent *= 1.01)
        if (rent >= even) EXPECT(own_payback_months(&cost, rent) <= 12 * cost.years);
    EXPECT(own_payback_months(&cost, 0.9 * even) > 12 * cost.years);
    arena_close(bench.arena);
}

TEST(at_the_break_even_utilisation_an_hour_costs_what_renting_costs) {
    OwnCost cost = {.fixed_per_year = 876000, .energy_per_hour = 20};
    double utilisation = break_even_utilisation(&cost, 220);
    EXPECT_NEAR(utilisation, 0.5, 1e-12);
    EXPECT_NEAR(own_cost_per_hour(&cost, utilisation), 220, 1e-12);
    EXPECT(isinf(break_even_utilisation(&cost, 15)));
}

TEST(machines_sell_for_thirty_percent_after_three_years) {
    EXPECT_NEAR(resale_share(3), 0.3, 1e-12);
    EXPECT_NEAR(resale_share(6), 0.09, 1e-12);
    EXPECT(resale_share(4) < resale_share(3));
}

TEST(dates_are_read_counted_and_refused) {
    Date date;
    EXPECT(date_parse("1970-01-01", &date) && date_first_day(date) == 0);
    EXPECT(date_parse("2000-02-29", &date) && date_first_day(date) == 11016);
    EXPECT(date_parse("2026", &date) && date_first_day(date) == 20454);
    static const char *const bad[] = {"", "26", "2026-13", "2026-02-29", "2026-1", "2026-01-01x", "1899", "20a6"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) EXPECT(!date_parse(bad[i], &date));
    Date today = {2026, 11, 21};
    EXPECT(date_is_a_year_before((Date){2025, 0, 0}, today)); // it may have been January
    EXPECT(date_is_a_year_before((Date){2025, 11, 20}, today) && !date_is_a_year_before((Date){2025, 11, 21}, today));
    EXPECT(!date_is_a_year_before((Date){2026, 0, 0}, today));
}

// ---- What a fabric is built of.

static FabricBill bill_of(const char *node, int nodes, const char *link, double oversubscription) {
    Bench bench = bench_open(node, nodes, link);
    bench.spec.oversubscription = oversubscription;
    bench.rent.terms = -1;
    const Cluster *cluster = build(&bench, false);
    FabricBill bill = fabric_bill(cluster->network, bench.spec.link->switch_ports);
    arena_close(bench.arena);
    return bill;
}

// The public sheet of August 2024: 128 nodes of 8 NICs on 64-port switches without oversubscription are 48 switches.
TEST(a_hundred_and_twenty_eight_h100_nodes_need_forty_eight_switches) {
    FabricBill bill = bill_of("dgx-h100", 128, "ib-ndr400", 1);
    EXPECT_INT(bill.switches, 48);
    EXPECT_INT(bill.node_cables, 1024);
    EXPECT_INT(bill.switch_cables, 1024);
}

TEST(a_small_cluster_needs_one_switch_and_no_uplinks) {
    FabricBill bill = bill_of("dgx-h100", 8, "ib-ndr400", 1);
    EXPECT_INT(bill.switches, 1);
    EXPECT_INT(bill.node_cables, 64);
    EXPECT_INT(bill.switch_cables, 0);
    EXPECT_INT(bill_of("dgx-h100", 1, "ib-ndr400", 1).switches, 0);
}

TEST(oversubscription_saves_uplinks_and_spines) {
    FabricBill whole = bill_of("dgx-h100", 128, "ib-ndr400", 1), half = bill_of("dgx-h100", 128, "ib-ndr400", 2);
    EXPECT_INT(half.switch_cables, whole.switch_cables / 2);
    EXPECT_INT(half.switches, 32 + 8);
    EXPECT_INT(half.node_cables, whole.node_cables);
}

// Every switch has ports enough, and every cable two ends: over all sizes, not only those that divide.
TEST(the_ports_of_what_is_bought_hold_all_cables) {
    for (int nodes = 2; nodes <= 300; nodes += 7) {
        FabricBill bill = bill_of("dgx-h100", nodes, "ib-ndr400", 1);
        EXPECT_INT(bill.node_cables, 8 * nodes);
        EXPECT(64 * bill.switches >= bill.node_cables + 2 * bill.switch_cables);
        EXPECT(64 * bill.switches <= 2 * (bill.node_cables + 2 * bill.switch_cables) + 2 * 64);
    }
}

// ---- Against published figures.

// Sheet of August 2024 at 128 nodes: 49,200 USD per H100 with network and storage; network 11 % of the nodes' price.
TEST(capital_per_gpu_meets_the_public_sheet) {
    Bench bench = bench_open("dgx-h100", 128, "ib-ndr400");
    const Cluster *cluster = build(&bench, true);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    OwnCost cost = own_cost(cluster, &power);
    EXPECT_NEAR(cost.capital_amount / 1024, 49200, 0.04);
    EXPECT_NEAR((cost.capital[1].amount + cost.capital[2].amount) / cost.capital[0].amount, 0.11, 0.15);
    // 49.2 k over 4 years in a straight line at 90 % use: 1.56 an hour.
    EXPECT_NEAR(annuity(49200, 0, 0, 4) / (HOURS_PER_YEAR * 0.9), 1.56, 1e-3);
    // Three years of an 8-GPU node all in: 450 to 650 thousand.
    bench.own.years = 3;
    cluster = build(&bench, true);
    cost = own_cost(cluster, &power);
    double three_years = cost.capital_amount + 3 * (cost.fixed_per_year - cost.capital_per_year);
    EXPECT(three_years / 128 > 450e3 && three_years / 128 < 650e3);
    arena_close(bench.arena);
}

// The textbook's table: 3 an hour and 2,200 a month for one, 25 and 18,000 for 8, 200 and 144,000 for 64, 1,600 and
// 1,150,000 for 512; reserved 30 to 40 % and spot 60 to 70 % cheaper.
TEST(the_textbooks_table_of_costs_comes_out) {
    static const struct {
        int gpus;
        double hour, month;
    } rows[] = {{1, 3, 2200}, {8, 25, 18000}, {64, 200, 144000}, {512, 1600, 1150000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench = bench_open("dgx-a100-40gb", 1, "roce-100");
        bench.group.gpus = rows[i].gpus;
        bench.rent.provider = "textbook";
        double hour[TERMS_COUNT];
        for (int terms = 0; terms <= TERMS_MONTHLY; terms++) {
            if (terms == TERMS_RESERVED_3_YEARS) continue;
            bench.rent.terms = terms;
            const Cluster *cluster = build(&bench, false);
            hour[terms] = cluster_bill(bench.arena, cluster, &activity_usual).per_hour;
        }
        EXPECT_NEAR(hour[TERMS_ON_DEMAND], rows[i].hour, 0.041);
        EXPECT_NEAR(hour[TERMS_MONTHLY] * HOURS_PER_MONTH, rows[i].month, 0.025);
        EXPECT_NEAR(hour[TERMS_RESERVED_1_YEAR] / hour[TERMS_ON_DEMAND], 0.65, 0.08);
        EXPECT_NEAR(hour[TERMS_SPOT] / hour[TERMS_ON_DEMAND], 0.35, 0.15);
        arena_close(bench.arena);
    }
}

// The report's upgrade: a 5-port switch for 17,000 Rs and three NICs at 8,000 Rs are 41,000 Rs.
TEST(the_students_upgrade_costs_forty_one_thousand_rupees) {
    Bench bench = bench_open("rtx3060-workstation", 3, "eth-5g");
    bench.spec.fabric = FABRIC_SINGLE_SWITCH;
    bench.spec.currency = "INR";
    bench.own.site = find_site(bench.arena, bench.catalogue, "office", (Where){0}, bench.problems);
    bench.own.node_price = 0, bench.own.switch_price = 17000, bench.own.nic_price = 8000, bench.own.cable_price = 0;
    const Cluster *cluster = build(&bench, true);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    EXPECT_NEAR(own_cost(cluster, &power).capital_amount, 41000, 1e-12);
    arena_close(bench.arena);
}

// ---- Laws.

TEST(the_lines_of_a_bill_sum_to_its_hour) {
    for (int owned = 0; owned < 2; owned++) {
        Bench bench = bench_open(owned ? "dgx-h100" : "aws-p5.48xlarge", 4, owned ? "ib-ndr400" : "efa-100");
        bench.rent.storage_bytes = 100e12;
        const Cluster *cluster = build(&bench, owned);
        ClusterBill bill = cluster_bill(bench.arena, cluster, &activity_usual);
        double sum = 0;
        for (int i = 0; i < bill.line_count; i++) sum += bill.lines[i].value;
        EXPECT(bill.known && bill.line_count > 1);
        EXPECT_NEAR(bill.per_hour, sum, 1e-12);
        if (owned) EXPECT_NEAR(bill.per_hour, own_cost_per_hour(&(OwnCost){0}, 1) + sum, 1e-12);
        arena_close(bench.arena);
    }
}

TEST(an_owners_bill_is_fixed_costs_over_hours_used_plus_energy) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    bench.own.site = find_site(bench.arena, bench.catalogue, "enterprise", (Where){0}, bench.problems);
    const Cluster *cluster = build(&bench, true);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    OwnCost cost = own_cost(cluster, &power);
    ClusterBill bill = cluster_bill(bench.arena, cluster, &activity_usual);
    EXPECT(cost.energy_per_hour > 0 && cost.idle_energy_per_year > 0);
    EXPECT_NEAR(bill.per_hour, own_cost_per_hour(&cost, 0.8), 1e-12);
    // All the electricity of a year, at 80 % use: 0.8 of the hours at work, the rest idle.
    double kwh = HOURS_PER_YEAR * (0.8 * power_at_wall(&power) + 0.2 * idle_power_at_wall(&power)) / 1000;
    EXPECT_NEAR(cost.idle_energy_per_year + 0.8 * HOURS_PER_YEAR * cost.energy_per_hour, 0.09 * kwh, 1e-12);
    arena_close(bench.arena);
}

TEST(what_makes_owning_dearer_makes_it_dearer) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    bench.own.site = find_site(bench.arena, bench.catalogue, "enterprise", (Where){0}, bench.problems);
    double usual = owned_per_hour(&bench);
    OwnSpec own = bench.own;
#define DEARER(field_, value_)                                                                                         \
    do {                                                                                                               \
        bench.own.field_ = (value_);                                                                                   \
        EXPECT(owned_per_hour(&bench) > usual);                                                                        \
        bench.own = own;                                                                                               \
    } while (0)
    DEARER(interest, 0.12);
    DEARER(residual_share, 0.1);
    DEARER(utilisation, 0.5);
    DEARER(years, 2);
    DEARER(node_price, 400000);
    DEARER(switch_price, 60000);
    DEARER(cable_price, 3000);
    DEARER(nic_price, 2000);
    DEARER(storage_price, 1e6);
    DEARER(electricity_per_kwh, 0.15);
    DEARER(colocation_per_kw_month, 50);
    DEARER(staff_per_year, 400000);
    DEARER(maintenance_share, 0.1);
    bench.spec.power_usage_effectiveness = 1.9;
    EXPECT(owned_per_hour(&bench) > usual);
    arena_close(bench.arena);
}

TEST(amounts_in_another_currency_differ_by_its_rate_alone) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    double dollars = owned_per_hour(&bench);
    bench.spec.currency = "INR";
    double rupees = owned_per_hour(&bench);
    EXPECT_NEAR(rupees / dollars, exchange_rate(bench.catalogue, "USD", "INR"), 1e-12);
    EXPECT_NEAR(exchange_rate(bench.catalogue, "EUR", "GBP") * exchange_rate(bench.catalogue, "GBP", "EUR"), 1, 1e-12);
    EXPECT_SAME(exchange_rate(bench.catalogue, "USD", "shells"), 0);
    arena_close(bench.arena);
}

// ---- The price book.

TEST(every_line_of_the_price_book_says_of_what_since_when_and_whence) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    EXPECT(catalogue->offer_count >= 60 && catalogue->currency_count >= 10 && catalogue->grid_count >= 30);
    int seen[TERMS_COUNT] = {0};
    for (int i = 0; i < catalogue->offer_count; i++) {
        const Offer *offer = &catalogue->offers[i];
        Date date;
        EXPECT(date_parse(offer->date, &date) && date.year >= 2024);
        EXPECT(offer_gpu_hour(offer) > 0.05 && offer_gpu_hour(offer) < 20);
        seen[offer->terms]++;
    }
    for (int terms = 0; terms < TERMS_COUNT; terms++) EXPECT(seen[terms] > 0);
    arena_close(arena);
}

TEST(the_newest_price_of_the_nodes_own_is_taken) {
    Bench bench = bench_open("aws-p5.48xlarge", 2, "efa-100");
    const Cluster *cluster = build(&bench, false);
    EXPECT_TEXT(cluster->money->offers[0]->name, "aws-p5"); // not that of 2025, nor somebody's price for an H100
    EXPECT_NEAR(cluster->money->rent_per_hour, 2 * 55.04, 1e-12);
    bench.rent.terms = TERMS_BLOCK;
    EXPECT_TEXT(build(&bench, false)->money->offers[0]->name, "aws-p5-block");
    bench.rent = (RentSpec){.terms = -1, .provider = "runpod"};
    EXPECT_CONTAINS(refusal(&bench, false), "aws-p5.48xlarge is a machine of aws");
    arena_close(bench.arena);
    bench = bench_open("dgx-h100", 2, "ib-ndr400");
    bench.rent.provider = "runpod";
    EXPECT_TEXT(build(&bench, false)->money->offers[0]->name, "runpod-h100");
    arena_close(bench.arena);
    bench = bench_open("aws-p5.48xlarge", 2, "efa-100");
    bench.rent.terms = TERMS_MONTHLY;
    EXPECT_CONTAINS(refusal(&bench, false), "no price of aws-p5.48xlarge, by the month");
    arena_close(bench.arena);
    bench = bench_open("rtx3060-workstation", 1, NULL); // which nobody rents out
    EXPECT(build(&bench, false) != NULL);
    bench.rent.terms = TERMS_ON_DEMAND; // who asks for the usual terms asks for a price too
    EXPECT_CONTAINS(refusal(&bench, false), "no price of rtx3060-workstation, on demand");
    arena_close(bench.arena);
}

TEST(nobody_rents_a_machine_of_ones_own_unasked) {
    Bench bench = bench_open("dgx-h100", 2, "ib-ndr400");
    const Cluster *cluster = build(&bench, false);
    ClusterBill bill = cluster_bill(bench.arena, cluster, &activity_usual);
    EXPECT(!bill.known && isnan(bill.per_hour) && isnan(bill_of_run(&bill, 10)));
    EXPECT(bill.wall_watts > 0 && bill.carbon_kg_per_hour > 0);
    arena_close(bench.arena);
}

TEST(runs_are_billed_in_steps_with_a_minimum_and_their_egress) {
    ClusterBill bill = {.per_hour = 10, .minimum_hours = 24, .step_hours = 24, .once = 7};
    EXPECT_NEAR(bill_of_run(&bill, 1), 247, 1e-12);
    EXPECT_NEAR(bill_of_run(&bill, 24), 247, 1e-12);
    EXPECT_NEAR(bill_of_run(&bill, 24.5), 487, 1e-12);
    bill.step_hours = bill.minimum_hours = 0;
    EXPECT_NEAR(bill_of_run(&bill, 24.5), 252, 1e-12);
}

TEST(storage_and_egress_are_on_the_bill) {
    Bench bench = bench_open("aws-p5.48xlarge", 2, "efa-100");
    double bare = cluster_bill(bench.arena, build(&bench, false), &activity_usual).per_hour;
    bench.rent.storage_bytes = 100e12, bench.rent.egress_bytes = 2e12;
    ClusterBill bill = cluster_bill(bench.arena, build(&bench, false), &activity_usual);
    EXPECT_NEAR(bill.per_hour - bare, 0.023 * 100e3 / 730, 1e-9);
    EXPECT_NEAR(bill.once, 0.09 * 2000, 1e-12);
    arena_close(bench.arena);
}

TEST(spot_says_how_often_it_is_taken_away) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Offer *spot = find_offer(arena, catalogue, "aws-p5-spot", (Where){0}, problems_create(arena));
    // After a month at this hazard the share that was left alone is 1 - 0.175.
    EXPECT_NEAR(exp(-730 * offer_interruptions_per_hour(spot)), 0.825, 1e-12);
    arena_close(arena);
}

// ---- Rows that are set or left out.

// 100,000 a year of rent by hand: 10 % off, 5 % support on the rest, 20 % tax on all.
TEST(discount_support_and_tax_are_rows_that_sum_to_the_hour) {
    Bench bench = bench_open("aws-p5.48xlarge", 2, "efa-100");
    BillSpec rows = {.discount = 0.10, .support = 0.05, .tax = 0.20};
    bench.spec.bill = &rows;
    bench.rent.egress_bytes = 1e12;
    ClusterBill bill = cluster_bill(bench.arena, build(&bench, false), &activity_usual);
    double sum = 0;
    for (int i = 0; i < bill.line_count; i++) sum += bill.lines[i].value;
    EXPECT_NEAR(bill.per_hour, sum, 1e-9);
    EXPECT_NEAR(bill.per_hour, 110.08 * 0.90 * 1.05 * 1.20, 1e-9);
    EXPECT_NEAR(bill.once, 0.09 * 1000 * 1.20, 1e-9);
    EXPECT_INT(bill.line_count, 4);
    rows.without = "tax,egress";
    bill = cluster_bill(bench.arena, build(&bench, false), &activity_usual);
    EXPECT_NEAR(bill.per_hour, 110.08 * 0.90 * 1.05, 1e-9);
    EXPECT_NEAR(bill.once, 0, 0);
    arena_close(bench.arena);
}

// All hours are paid for; those without a job are a row, of which there is none where jobs always run.
TEST(hours_without_a_job_are_a_row_of_what_is_owned) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    double always = 0;
    static const double shares[] = {1, 0.8, 0.5, 0.1};
    for (int i = 0; i < 4; i++) {
        bench.own.utilisation = shares[i];
        const Cluster *cluster = build(&bench, true);
        ClusterBill bill = cluster_bill(bench.arena, cluster, &activity_usual);
        ClusterPower power = cluster_power(cluster, &activity_usual);
        OwnCost cost = own_cost(cluster, &power);
        double idle = 0;
        for (int k = 0; k < bill.line_count; k++)
            if (!strcmp(bill.lines[k].name, "idle")) idle = bill.lines[k].value;
        if (i == 0) always = bill.per_hour;
        EXPECT_NEAR(idle, cost.fixed_per_year / 8760 * (1 / shares[i] - 1), 1e-9);
        EXPECT_NEAR(bill.per_hour, always + idle, 1e-9);
    }
    arena_close(bench.arena);
}

TEST(leaving_a_row_out_takes_what_it_was_off_the_bill) {
    Bench bench = bench_open("dgx-h100", 16, "ib-ndr400");
    bench.own.storage_price = 1e6;
    bench.own.staff_per_year = 1e5;
    ClusterBill whole = cluster_bill(bench.arena, build(&bench, true), &activity_usual);
    EXPECT(whole.line_count >= 6);
    for (int i = 0; i < whole.line_count; i++) {
        if (!strcmp(whole.lines[i].name, "idle")) continue; // of the others
        BillSpec rows = {.without = whole.lines[i].name};
        bench.spec.bill = &rows;
        ClusterBill less = cluster_bill(bench.arena, build(&bench, true), &activity_usual);
        EXPECT(less.per_hour < whole.per_hour);
        for (int k = 0; k < less.line_count; k++) EXPECT(strcmp(less.lines[k].name, whole.lines[i].name) != 0);
        // Maintenance is a share of the machines, so it goes down with them.
        bool machines = !strcmp(rows.without, "nodes") || !strcmp(rows.without, "nics") ||
                        !strcmp(rows.without, "switches") || !strcmp(rows.without, "cables") ||
                        !strcmp(rows.without, "storage");
        // So do hours without a job, in which electricity is the little that idle machines draw.
        double hour = whole.lines[i].value, idle = (whole.per_hour - less.per_hour) / hour - 1;
        bool energy = !strcmp(rows.without, "energy");
        if (energy) EXPECT(idle > 0 && idle < 0.25);
        if (!machines && !energy) EXPECT_NEAR(idle, 1 / 0.8 - 1, 1e-9);
    }
    arena_close(bench.arena);
}

TEST(a_price_of_one_type_of_node_goes_before_that_of_all) {
    Bench bench = bench_open("rtx3060-workstation", 4, "eth-1g");
    NodePrice prices[] = {{catalogue_node(bench.catalogue, "rtx3060-workstation"), 1200}};
    bench.own.node_price = 3200;
    EXPECT_NEAR(build(&bench, true)->money->node_price, 4 * 3200, 0);
    bench.own.node_prices = prices, bench.own.node_price_count = 1;
    EXPECT_NEAR(build(&bench, true)->money->node_price, 4 * 1200, 0);
    prices[0].node = catalogue_node(bench.catalogue, "rtx4090-workstation");
    EXPECT_NEAR(build(&bench, true)->money->node_price, 4 * 3200, 0);
    arena_close(bench.arena);
}

TEST(desktops_on_a_faster_network_than_their_boards_have_are_charged_nics) {
    Bench bench = bench_open("rtx3060-workstation", 4, "eth-5g");
    bench.own.node_price = 0;
    const Cluster *cluster = build(&bench, true);
    EXPECT_NEAR(cluster->money->nics_to_buy, 4, 0);
    EXPECT_NEAR(cluster->money->own->nic_price, 80, 0); // the catalogue's, of a 5 GbE NIC
    EXPECT_INT(cluster->money->fabric.switches, 1);
    EXPECT_INT(cluster->money->fabric.node_cables, 4);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    EXPECT_NEAR(own_cost(cluster, &power).capital_amount, 4 * 80 + 250 + 4 * 5, 1e-9);
    bench.spec.link = catalogue_link(bench.catalogue, "eth-1g");
    EXPECT_NEAR(build(&bench, true)->money->nics_to_buy, 0, 0);
    arena_close(bench.arena);
    bench = bench_open("rtx3060-workstation", 4, "eth-5g");
    NodeType bare = *bench.group.type; // without a NIC of its own
    bare.nic_count = 0;
    bench.group.type = &bare;
    bench.own.node_price = 0;
    EXPECT_NEAR(build(&bench, true)->money->nics_to_buy, 4, 0);
    arena_close(bench.arena);
    bench = bench_open("rtx3060-workstation", 1, "eth-5g"); // a machine by itself is on no network
    bench.own.node_price = 0;
    EXPECT_NEAR(build(&bench, true)->money->nics_to_buy, 0, 0);
    arena_close(bench.arena);
}

// ---- What cannot be.

TEST(a_row_that_no_bill_has_is_refused) {
    Bench bench = bench_open("dgx-h100", 1, NULL);
    BillSpec rows = {.without = "energy,stuff"};
    bench.spec.bill = &rows;
    EXPECT_CONTAINS(refusal(&bench, true), "\"stuff\" is no row that a bill could do without");
    EXPECT_CONTAINS(problem_at(bench.problems, 0)->hint, "staff");
    arena_close(bench.arena);
}

TEST(machines_that_are_for_sale_nowhere_are_refused) {
    Bench bench = bench_open("dgx-b200", 2, "ib-ndr400");
    EXPECT_CONTAINS(refusal(&bench, true), "no list has what dgx-b200 costs to buy");
    arena_close(bench.arena);
    bench = bench_open("dgx-h100", 2, "efa-400");
    EXPECT_CONTAINS(refusal(&bench, true), "no list has what a switch of efa-400 costs");
    arena_close(bench.arena);
    bench = bench_open("dgx-h100", 2, "ib-ndr400");
    bench.spec.currency = "shells";
    EXPECT_CONTAINS(refusal(&bench, true), "no rate is known from USD to \"shells\"");
    arena_close(bench.arena);
}
