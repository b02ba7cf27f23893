// The answer of `lockstep cost`: a screen and JSON.
#include <math.h>
#include <stdio.h>

#include "models/hardware/parts.h"
#include "scenarios/commands/cost_answer.h"
#include "sim/envelope.h"
#include "sim/json.h"
#include "sim/text.h"

static const char *money(const CostAnswer *answer, double amount) {
    return text_money(answer->arena, amount, answer->bill.currency);
}

static const char *percent(const CostAnswer *answer, double share) { return text_percent(answer->arena, share); }

static const char *count_of(const CostAnswer *answer, double count) { return text_count(answer->arena, count, true); }

// ---- The screen.

static bool is_assumed(const Offer *offer) {
    const Fact *fact = fact_find(offer->facts, offer->fact_count, "price_per_hour");
    if (!fact) fact = fact_find(offer->facts, offer->fact_count, "price_per_month");
    return fact && fact->kind == FACT_ASSUMED;
}

static void print_quote(const CostAnswer *answer, const Quote *quote) {
    const Offer *offer = quote->offers[0];
    if (quote->count == 1) {
        printf("Rented      %s (%s, %s, price of %s%s)\n", offer->title, offer->provider, terms_titles[offer->terms],
               offer->date, is_assumed(offer) ? ", an assumption" : "");
        return;
    }
    printf("Rented      %s %s a GPU-hour, the median %s of ", quote_text(answer->arena, quote), quote->currency,
           terms_titles[offer->terms]);
    for (int i = 0; i < quote->count; i++) printf("%s%s", i ? ", " : "", quote->offers[i]->provider);
    printf("; --provider takes one\n");
}

static void print_head(const CostAnswer *answer) {
    const Cluster *cluster = answer->cluster;
    const ClusterMoney *paid = cluster->money;
    printf("Cluster     %d x %s, %d GPU%s", cluster->node_count, cluster->node_of[0]->name, cluster->gpu_count,
           cluster->gpu_count == 1 ? "" : "s");
    if (cluster->spec->link && cluster->node_count > 1) {
        printf(", %s", cluster->spec->link->name);
        if (answer->bill.owned)
            printf(": %s switch%s, %s cables", count_of(answer, (double)paid->fabric.switches),
                   paid->fabric.switches == 1 ? "" : "es",
                   count_of(answer, (double)(paid->fabric.node_cables + paid->fabric.switch_cables)));
    }
    printf("\n");
    if (answer->bill.owned)
        printf("Owned       %g years at %s interest, then sold for %s; a job runs %s of all hours; site %s\n",
               paid->own->years, percent(answer, paid->own->interest), percent(answer, paid->own->residual_share),
               percent(answer, paid->own->utilisation), paid->own->site->name);
    else if (paid->quotes)
        print_quote(answer, &paid->quotes[0]);
    else
        printf("Rented      at the price stated\n");
}

static void print_capital(const CostAnswer *answer, const Style *style) {
    const OwnCost *own = &answer->own;
    Table *table = table_create(answer->arena);
    printf("\nWhat is bought\n");
    table_column(table, "part", false);
    table_column(table, "count", true);
    table_column(table, "each", true);
    table_column(table, "in all", true);
    table_column(table, "a year", true);
    for (int i = 0; i < own->capital_count; i++) {
        const CapitalLine *line = &own->capital[i];
        double interest = answer->cluster->money->own->interest;
        table_cell(table, "%s", line->title);
        table_cell(table, "%s", count_of(answer, line->count));
        table_cell(table, "%s", money(answer, line->unit_price));
        table_cell(table, "%s", money(answer, line->amount));
        table_cell(table, "%s", money(answer, annuity(line->amount, line->residual_share, interest, line->years)));
        table_end_row(table);
    }
    table_print(table, stdout, style);
    printf("Capital %s, %s a GPU; of its yearly cost %s is interest\n", money(answer, own->capital_amount),
           money(answer, own->capital_amount / answer->cluster->gpu_count),
           money(answer, own->capital_per_year - own->straight_per_year));
}

static void print_hour(const CostAnswer *answer, const Style *style) {
    const ClusterBill *bill = &answer->bill;
    Table *table = table_create(answer->arena);
    printf("\nAn hour in which a job runs\n");
    table_column(table, "part", false);
    table_column(table, "an hour", true);
    table_column(table, "per GPU", true);
    table_column(table, "share", true);
    for (int i = 0; i <= bill->line_count; i++) {
        double amount = i < bill->line_count ? bill->lines[i].value : bill->per_hour;
        table_cell(table, "%s", i < bill->line_count ? bill->lines[i].title : "All");
        table_cell(table, "%s", money(answer, amount));
        table_cell(table, "%s", money(answer, amount / answer->cluster->gpu_count));
        table_cell(table, "%s", percent(answer, amount / bill->per_hour));
        table_end_row(table);
    }
    table_print(table, stdout, style);
    if (bill->once > 0) printf("Once a run, for data carried out: %s\n", money(answer, bill->once));
    printf("A month %s, a year %s", money(answer, bill->per_month), money(answer, 12 * bill->per_month));
    if (answer->run_hours > 0)
        printf("; a run of %s %s", text_days(answer->arena, answer->run_hours / 24),
               money(answer, bill_of_run(bill, answer->run_hours)));
    printf("\n");
    const ClusterMoney *paid = answer->cluster->money;
    if (!bill->owned && bill->most_per_hour > bill->least_per_hour)
        printf("Between providers %s to %s an hour, for as many such GPUs\n", money(answer, bill->least_per_hour),
               money(answer, bill->most_per_hour));
    double term = !bill->owned && paid->quotes ? terms_years(paid->quotes[0].offers[0]->terms) : 0;
    if (term > 0)
        printf("! paid for the whole term, used or not: %s in all\n", money(answer, 12 * bill->per_month * term));
    if (bill->interruptions_per_hour > 0)
        printf("! spot: one of these machines is taken away every %s; price checkpoints and restarts with "
               "lockstep goodput\n",
               text_days(answer->arena, 1 / (bill->interruptions_per_hour * answer->cluster->node_count) / 24));
}

static void print_power(const CostAnswer *answer) {
    const ClusterBill *bill = &answer->bill;
    printf("\nPower %s on average at the wall, %s at most (PUE %.2f); %s CO2e an hour on the grid of %s\n",
           text_power(answer->arena, bill->wall_watts), text_power(answer->arena, bill->peak_wall_watts),
           answer->power.power_usage_effectiveness, text_mass(answer->arena, bill->carbon_kg_per_hour),
           answer->cluster->money->grid->title);
}

static const char *cheaper_from(const CostAnswer *answer, double utilisation) {
    if (utilisation > 1) return "no";
    return utilisation > 0 ? arena_printf(answer->arena, "from %s use", percent(answer, utilisation)) : "yes";
}

static const char *paid_back(const CostAnswer *answer, double months) {
    if (months > 12 * answer->cluster->money->own->years) return "not in its life";
    return arena_printf(answer->arena, "%.1f months", months);
}

// Matrix work in BF16 (FP16 where it has none) that kernels reach, in PFLOP/s of one GPU; NAN: nobody says.
static double effective_petaflops(const CostAnswer *answer) {
    const Gpu *gpu = node_gpu(answer->cluster->money->catalogue, answer->cluster->node_of[0], 0);
    Precision precision = gpu->peak_flops[BF16] > 0 ? BF16 : FP16;
    double flops = gpu->peak_flops[precision] * gpu->gemm_efficiency[precision];
    return flops > 0 ? flops / 1e15 : NAN;
}

// The machine that an offer is of, and what it is on.
static const NodeType *node_of_offer(const CostAnswer *answer, const Offer *offer) {
    return offer->node_count > 0 ? catalogue_node(answer->cluster->money->catalogue, offer->nodes[0]) : NULL;
}

static void rival_columns(const CostAnswer *answer, Table *table) {
    table_column(table, "price", false);
    if (answer->all_offers) table_column(table, "machine", false);
    if (answer->all_offers) table_column(table, "fabric", false);
    table_column(table, "terms", false);
    table_column(table, "of", false);
    if (answer->all_offers) table_column(table, "known", false);
    table_column(table, "a GPU-hour", true);
    if (answer->all_offers) table_column(table, "a PFLOP/s-hour", true);
    if (!answer->bill.owned && !answer->all_offers) table_column(table, "an hour", true);
    if (answer->bill.owned) table_column(table, "owning cheaper", true);
    if (answer->bill.owned) table_column(table, "paid back in", true);
}

static void rival_row(const CostAnswer *answer, const Rival *rival, Table *table) {
    double gpu_hour = rival->per_hour / answer->cluster->gpu_count;
    const NodeType *node = node_of_offer(answer, rival->offer);
    table_cell(table, "%s", rival->offer->name);
    if (answer->all_offers) table_cell(table, "%s", node ? node->name : "any");
    if (answer->all_offers) table_cell(table, "%s", node ? node_fabrics(answer->arena, node) : TEXT_UNKNOWN);
    table_cell(table, "%s", terms_titles[rival->offer->terms]);
    table_cell(table, "%s", rival->offer->date);
    if (answer->all_offers) table_cell(table, "%s", is_assumed(rival->offer) ? "assumed" : "quoted");
    table_cell(table, "%s", money(answer, gpu_hour));
    if (answer->all_offers) table_cell(table, "%s", money(answer, gpu_hour / effective_petaflops(answer)));
    if (!answer->bill.owned && !answer->all_offers) table_cell(table, "%s", money(answer, rival->per_hour));
    if (answer->bill.owned) table_cell(table, "%s", cheaper_from(answer, rival->break_even_utilisation));
    if (answer->bill.owned) table_cell(table, "%s", paid_back(answer, rival->payback_months));
    table_end_row(table);
}

static void print_rivals(const CostAnswer *answer, const Style *style) {
    if (answer->rival_count == 0) return;
    Table *table = table_create(answer->arena);
    printf(answer->all_offers ? "\nOffers of such GPUs, the cheapest first\n" : "\nRenting as many such GPUs\n");
    rival_columns(answer, table);
    for (int i = 0; i < answer->rival_count; i++) rival_row(answer, &answer->rivals[i], table);
    table_print(table, stdout, style);
}

// The rates that amounts were converted at, with their days.
static void print_rates(const CostAnswer *answer) {
    const Catalogue *catalogue = answer->cluster->money->catalogue;
    for (int i = 0; i < answer->bill.price_count; i++) {
        const Currency *currency = part_find(catalogue, PART_CURRENCY, answer->bill.prices[i].name);
        if (!currency || currency->date != answer->bill.prices[i].date) continue;
        printf("Rate        1 USD = %g %s on %s\n", currency->per_usd, currency->name, currency->date);
    }
}

static const DatedPrice *all_prices(const CostAnswer *answer, int *count) {
    const ClusterBill *bill = &answer->bill;
    DatedPrice *prices = ARENA_ARRAY(answer->arena, DatedPrice, bill->price_count + answer->rival_count);
    NameIndex *names = name_index_create(answer->arena, strcmp);
    *count = 0;
    for (int i = 0; i < bill->price_count; i++) {
        name_index_add(names, bill->prices[i].name, i);
        prices[(*count)++] = bill->prices[i];
    }
    for (int i = 0; i < answer->rival_count; i++) {
        const Offer *offer = answer->rivals[i].offer;
        if (name_index_find(names, offer->name) < 0)
            prices[(*count)++] = (DatedPrice){offer->name, offer->title, offer->date, NULL, NULL};
    }
    return prices;
}

void cost_print(const CostAnswer *answer, const Style *style) {
    int count;
    print_head(answer);
    print_rates(answer);
    if (answer->bill.owned) print_capital(answer, style);
    if (!answer->all_offers) print_hour(answer, style);
    if (!answer->all_offers) print_power(answer);
    print_rivals(answer, style);
    printf("\n");
    const DatedPrice *prices = all_prices(answer, &count);
    results_print_old_prices(stdout, prices, count, style);
    printf("lockstep hw show NAME says where each price is from.\n");
}

// ---- JSON.

static void number(JsonWriter *json, const char *key, double value) {
    json_key(json, key);
    json_write_number(json, value);
}

static void text(JsonWriter *json, const char *key, const char *value) {
    json_key(json, key);
    json_write_text(json, value);
}

static void capital_json(JsonWriter *json, const CostAnswer *answer) {
    const OwnCost *own = &answer->own;
    json_key(json, "own");
    json_begin_object(json);
    number(json, "capital", own->capital_amount);
    number(json, "capital_per_year", own->capital_per_year);
    number(json, "interest_per_year", own->capital_per_year - own->straight_per_year);
    number(json, "maintenance_per_year", own->maintenance_per_year);
    number(json, "staff_per_year", own->staff_per_year);
    number(json, "colocation_per_year", own->colocation_per_year);
    number(json, "fixed_per_year", own->fixed_per_year);
    number(json, "utilisation", own->utilisation);
    json_key(json, "bought");
    json_begin_list(json);
    for (int i = 0; i < own->capital_count; i++) {
        json_begin_object(json);
        text(json, "name", own->capital[i].name);
        number(json, "count", own->capital[i].count);
        number(json, "each", own->capital[i].unit_price);
        number(json, "amount", own->capital[i].amount);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
}

static void rivals_json(JsonWriter *json, const CostAnswer *answer) {
    json_key(json, "rents");
    json_begin_list(json);
    for (int i = 0; i < answer->rival_count; i++) {
        const Rival *rival = &answer->rivals[i];
        json_begin_object(json);
        text(json, "name", rival->offer->name);
        text(json, "provider", rival->offer->provider);
        text(json, "terms", terms_names[rival->offer->terms]);
        text(json, "date", rival->offer->date);
        text(json, "node", rival->offer->node_count > 0 ? rival->offer->nodes[0] : NULL);
        const NodeType *node = node_of_offer(answer, rival->offer);
        text(json, "fabric", node && node->fabric_count > 0 ? node->fabrics[0] : NULL);
        text(json, "known", is_assumed(rival->offer) ? "assumed" : "quoted");
        number(json, "per_gpu_hour", rival->per_hour / answer->cluster->gpu_count);
        number(json, "per_pflops_hour", rival->per_hour / answer->cluster->gpu_count / effective_petaflops(answer));
        number(json, "per_hour", rival->per_hour);
        if (answer->bill.owned) number(json, "break_even_utilisation", rival->break_even_utilisation);
        if (answer->bill.owned) number(json, "payback_months", rival->payback_months);
        json_end_object(json);
    }
    json_end_list(json);
}

static void cost_json(JsonWriter *json, const CostAnswer *answer) {
    const ClusterBill *bill = &answer->bill;
    json_key(json, "cost");
    json_begin_object(json);
    text(json, "currency", bill->currency);
    number(json, "per_hour", bill->per_hour);
    number(json, "per_gpu_hour", bill->per_hour / answer->cluster->gpu_count);
    number(json, "per_month", bill->per_month);
    number(json, "per_year", 12 * bill->per_month);
    if (answer->run_hours > 0) number(json, "per_run", bill_of_run(bill, answer->run_hours));
    json_key(json, "lines_per_hour");
    json_begin_object(json);
    for (int i = 0; i < bill->line_count; i++) number(json, bill->lines[i].name, bill->lines[i].value);
    json_end_object(json);
    json_key(json, "prices");
    json_begin_list(json);
    for (int i = 0; i < bill->price_count; i++) {
        json_begin_object(json);
        text(json, "name", bill->prices[i].name);
        text(json, "date", bill->prices[i].date);
        text(json, "kind", bill->prices[i].kind);
        text(json, "source", bill->prices[i].source);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
}

void cost_print_json(const CostAnswer *answer) {
    JsonWriter json = json_writer(stdout, 2);
    const FabricBill *fabric = &answer->cluster->money->fabric;
    json_begin_object(&json);
    envelope_write(&json, "cost");
    text(&json, "node", answer->cluster->node_of[0]->name);
    number(&json, "nodes", answer->cluster->node_count);
    number(&json, "gpus", answer->cluster->gpu_count);
    number(&json, "switches", (double)fabric->switches);
    number(&json, "cables", (double)(fabric->node_cables + fabric->switch_cables));
    cost_json(&json, answer);
    if (answer->bill.owned) capital_json(&json, answer);
    number(&json, "power_watts", answer->bill.wall_watts);
    number(&json, "peak_watts", answer->bill.peak_wall_watts);
    number(&json, "carbon_kg_per_hour", answer->bill.carbon_kg_per_hour);
    rivals_json(&json, answer);
    json_end_object(&json);
    printf("\n");
}
