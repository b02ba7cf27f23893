// lockstep cost: the cost of a cluster, rented or owned, and the break-even of owning.
#include "scenarios/questions/cost.h"

#include <math.h>
#include <stdlib.h>

#include "models/hardware/parts.h"
#include "models/workload/cluster/cluster_money.h"
#include "results/answer/frame.h"
#include "results/results.h"
#include "scenarios/questions/cluster_options.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *money(const CostFound *found, double amount) {
    return text_money(found->arena, amount, found->bill.currency);
}

static const char *percent(const CostFound *found, double share) { return text_percent(found->arena, share); }

static double gpu_hour_of(const CostFound *found, const Rival *rival) {
    return rival->per_hour / found->cluster->gpu_count;
}

// ---- Of what.

#define MOST_NAMED 16 // of providers

static bool is_assumed(const Offer *offer) {
    const Fact *fact = fact_find(offer->facts, offer->fact_count, "price_per_hour");
    if (!fact) fact = fact_find(offer->facts, offer->fact_count, "price_per_month");
    return fact && fact->kind == FACT_ASSUMED;
}

static void add_quote(Answer *answer, const CostFound *found, const Quote *quote) {
    const Offer *offer = quote->offers[0];
    if (quote->count == 1) {
        answer_say(answer, "Rented", "%s (%s, %s, price of %s%s)", offer->title, offer->provider,
                   terms_titles[offer->terms], offer->date, is_assumed(offer) ? ", an assumption" : "");
        return;
    }
    const char *names = "";
    for (int i = 0; i < quote->count && i < MOST_NAMED; i++)
        names = arena_printf(found->arena, "%s%s%s", names, i ? ", " : "", quote->offers[i]->provider);
    if (quote->count > MOST_NAMED)
        names = arena_printf(found->arena, "%s and %d more", names, quote->count - MOST_NAMED);
    answer_say(answer, "Rented", "%s %s a GPU-hour, the median %s of %s; --provider takes one",
               quote_text(found->arena, quote), quote->currency, terms_titles[offer->terms], names);
}

// A provider rents out whole machines.
static const char *of_whole_machines(const CostFound *found) {
    const Cluster *cluster = found->cluster;
    double paid = rented_gpus(cluster->node_of[0], cluster->gpu_count);
    const char *plural = cluster->gpu_count == 1 ? "" : "s";
    if (found->bill.owned || paid <= cluster->gpu_count) return plural;
    return arena_printf(found->arena, "%s of the %.0f that are rented", plural, paid);
}

static void add_cluster(Answer *answer, const CostFound *found) {
    const Cluster *cluster = found->cluster;
    const FabricBill *fabric = &cluster->money->fabric;
    const char *network = cluster_network_text(found->arena, cluster->spec);
    answer_say(answer, "Cluster", "%d x %s, %d GPU%s%s%s", cluster->node_count, cluster->node_of[0]->name,
               cluster->gpu_count, of_whole_machines(found), *network ? ", " : "", network);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_text(answer, "node", NULL, cluster->node_of[0]->name);
    answer_number(answer, "nodes", NULL, AS_WHOLE, cluster->node_count);
    answer_number(answer, "gpus", NULL, AS_WHOLE, cluster->gpu_count);
    answer_number(answer, "switches", NULL, AS_WHOLE, (double)fabric->switches);
    answer_number(answer, "cables", NULL, AS_WHOLE, (double)(fabric->node_cables + fabric->switch_cables));
    answer_close(answer);
}

static const char *cheaper_from(const CostFound *found, double utilisation) {
    if (utilisation > 1) return "no";
    return utilisation > 0 ? arena_printf(found->arena, "from %s use", percent(found, utilisation)) : "yes";
}

static const char *paid_back(const CostFound *found, double months) {
    if (months > 12 * found->cluster->money->own->years) return "not in its life";
    return arena_printf(found->arena, "%.1f months", months);
}

// The rent that the user named.
static void add_against_rent(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    double use = bill->break_even_utilisation;
    bool pays = bill->payback_months <= 12 * found->cluster->money->own->years;
    const char *back = pays ? arena_printf(found->arena, ", paid back in %.1f months", bill->payback_months)
                            : ", not paid back in its life";
    const char *cheaper = use > 1 ? "never cheaper" : use > 0 ? "cheaper " : "always cheaper";
    answer_say(answer, "Against", "renting at %s: owning is %s%s%s",
               money(found, bill->rent_per_hour / found->cluster->gpu_count), cheaper,
               use > 0 && use <= 1 ? cheaper_from(found, use) : "", use > 1 ? "" : back);
}

static void add_payment(Answer *answer, const CostFound *found) {
    const ClusterMoney *paid = found->cluster->money;
    if (!found->bill.owned && paid->quotes)
        add_quote(answer, found, &paid->quotes[0]);
    else if (!found->bill.owned)
        answer_say(answer, "Rented", "at the price stated");
    else
        answer_say(answer, "Owned", "%g years at %s interest, then sold for %s; a job runs %s of all hours; site %s",
                   paid->own->years, percent(found, paid->own->interest), percent(found, paid->own->residual_share),
                   percent(found, paid->own->utilisation), paid->own->site->name);
    if (found->bill.owned && found->bill.rent_per_hour > 0) add_against_rent(answer, found);
    for (int i = 0; i < found->bill.price_count; i++) {
        const DatedPrice *price = &found->bill.prices[i];
        const Currency *currency = part_find(paid->catalogue, PART_CURRENCY, price->name);
        if (currency && currency->date == price->date)
            answer_say(answer, "Rate", "1 USD = %g %s on %s", currency->per_usd, currency->name, currency->date);
    }
}

// ---- What is bought.

static void add_bought(Answer *answer, const CostFound *found) {
    static const AnswerColumn columns[] = {
        {"name", NULL, AS_TEXT, 0},    {NULL, "part", AS_TEXT, 0},        {"count", "count", AS_COUNT, 0},
        {"each", "each", AS_MONEY, 0}, {"amount", "in all", AS_MONEY, 0}, {NULL, "a year", AS_MONEY, 0},
    };
    double interest = found->cluster->money->own->interest;
    answer_table(answer, "bought", "What is bought", columns, COUNT_OF(columns));
    for (int i = 0; i < found->own.capital_count; i++) {
        const CapitalLine *line = &found->own.capital[i];
        ANSWER_CELLS(answer, line->name, line->title, answer_of(AS_COUNT, line->count),
                     answer_of(AS_MONEY, line->unit_price), answer_of(AS_MONEY, line->amount),
                     answer_of(AS_MONEY, annuity(line->amount, line->residual_share, interest, line->years)));
    }
}

static void add_capital(Answer *answer, const CostFound *found) {
    const OwnCost *own = &found->own;
    answer_say(answer, "Capital", "%s, %s a GPU; of its yearly cost %s is interest", money(found, own->capital_amount),
               money(found, own->capital_amount / found->cluster->gpu_count),
               money(found, own->capital_per_year - own->straight_per_year));
    answer_open(answer, "own", NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_number(answer, "capital", NULL, AS_MONEY, own->capital_amount);
    answer_number(answer, "capital_per_year", NULL, AS_MONEY, own->capital_per_year);
    answer_number(answer, "interest_per_year", NULL, AS_MONEY, own->capital_per_year - own->straight_per_year);
    answer_number(answer, "maintenance_per_year", NULL, AS_MONEY, own->maintenance_per_year);
    answer_number(answer, "staff_per_year", NULL, AS_MONEY, own->staff_per_year);
    answer_number(answer, "colocation_per_year", NULL, AS_MONEY, own->colocation_per_year);
    answer_number(answer, "fixed_per_year", NULL, AS_MONEY, own->fixed_per_year);
    answer_number(answer, "utilisation", NULL, AS_SHARE, own->utilisation);
    add_bought(answer, found);
    answer_close(answer);
}

// ---- What an hour costs.

static void add_lead(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    const char *run = "", *range = "";
    if (found->run_hours > 0)
        run = arena_printf(found->arena, "; a run of %s %s", text_days(found->arena, found->run_hours / 24),
                           money(found, bill_of_run(bill, found->run_hours)));
    if (!bill->owned && bill->most_per_hour > bill->least_per_hour)
        range =
            arena_printf(found->arena, " Providers ask %s an hour.",
                         answer_range_text(found->arena, answer, AS_MONEY, bill->least_per_hour, bill->most_per_hour));
    answer_say(answer, NULL, "An hour%s costs %s, %s a GPU; a month %s, a year %s%s.%s",
               bill->owned ? " in which a job runs" : "", money(found, bill->per_hour),
               money(found, bill->per_hour / found->cluster->gpu_count), money(found, bill->per_month),
               money(found, 12 * bill->per_month), run, range);
}

// "Rent of the machines 80.0 %, Tax 16.0 %", the largest first.
static void add_shares(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    const char *text = "";
    bool *taken = ARENA_ARRAY(found->arena, bool, bill->line_count + 1);
    for (int i = 0; i < bill->line_count; i++) {
        int most = -1;
        for (int k = 0; k < bill->line_count; k++)
            if (!taken[k] && (most < 0 || bill->lines[k].value > bill->lines[most].value)) most = k;
        taken[most] = true;
        text = arena_printf(found->arena, "%s%s%s %s", text, i ? ", " : "", bill->lines[most].title,
                            percent(found, bill->lines[most].value / bill->per_hour));
    }
    if (bill->line_count > 1) answer_say(answer, "Parts", "%s", text);
}

static void add_lines(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    answer_open(answer, "lines_per_hour", "An hour in which a job runs");
    answer_detail(answer, FOR_VERBOSE);
    for (int i = 0; i < bill->line_count; i++) {
        const NamedValue *line = &bill->lines[i];
        answer_number(answer, line->name, line->title, AS_MONEY, line->value);
        answer_note(answer, "%s a GPU, %s", money(found, line->value / found->cluster->gpu_count),
                    percent(found, line->value / bill->per_hour));
    }
    answer_close(answer);
}

static void add_prices(Answer *answer, const ClusterBill *bill) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0},
                                           {"date", NULL, AS_TEXT, 0},
                                           {"kind", NULL, AS_TEXT, 0},
                                           {"source", NULL, AS_TEXT, 0}};
    answer_table(answer, "prices", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < bill->price_count; i++) {
        ANSWER_CELLS(answer, bill->prices[i].name, bill->prices[i].date, bill->prices[i].kind, bill->prices[i].source);
    }
}

static void add_cost(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    answer_open(answer, "cost", NULL);
    answer_text(answer, "currency", NULL, bill->currency);
    answer_number(answer, "per_hour", NULL, AS_MONEY, bill->per_hour);
    answer_number(answer, "per_gpu_hour", NULL, AS_MONEY, bill->per_hour / found->cluster->gpu_count);
    answer_number(answer, "per_month", NULL, AS_MONEY, bill->per_month);
    answer_number(answer, "per_year", NULL, AS_MONEY, 12 * bill->per_month);
    if (found->run_hours > 0) answer_number(answer, "per_run", NULL, AS_MONEY, bill_of_run(bill, found->run_hours));
    if (found->run_hours > 0 && bill->term_hours > 0) {
        answer_number(answer, "term_days", NULL, AS_NUMBER, bill->term_hours / 24);
        answer_number(answer, "unused_cost", NULL, AS_MONEY, bill_unused_of_run(bill, found->run_hours));
    }
    add_shares(answer, found);
    if (bill->once > 0) answer_say(answer, "Once a run", "for data carried out: %s", money(found, bill->once));
    add_lines(answer, found);
    add_prices(answer, bill);
    answer_close(answer);
}

static void add_power(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    answer_open(answer, NULL, "Power at the wall");
    answer_detail(answer, FOR_VERBOSE);
    answer_number(answer, "power_watts", "on average", AS_WATTS, bill->wall_watts);
    answer_note(answer, "PUE %.2f", found->power.power_usage_effectiveness);
    answer_number(answer, "peak_watts", "at most", AS_WATTS, bill->peak_wall_watts);
    answer_number(answer, "carbon_kg_per_hour", "CO2e an hour", AS_KILOGRAMS, bill->carbon_kg_per_hour);
    answer_note(answer, "on the grid of %s", found->cluster->money->grid->title);
    answer_close(answer);
}

// ---- What others ask.

static void add_owning(Answer *answer, const CostFound *found, const Rival *rival) {
    if (!found->bill.owned) {
        ANSWER_CELLS(answer, answer_of(AS_NOTHING, NAN), answer_of(AS_NOTHING, NAN));
        return;
    }
    ANSWER_CELLS(
        answer,
        answer_shown(AS_SHARE, rival->break_even_utilisation, cheaper_from(found, rival->break_even_utilisation)),
        answer_shown(AS_NUMBER, rival->payback_months, paid_back(found, rival->payback_months)));
}

// Attainable matrix rate in BF16 (FP16 without BF16), in PFLOP/s of one GPU; NAN: unknown.
static double effective_petaflops(const CostFound *found) {
    const Gpu *gpu = node_gpu(found->cluster->money->catalogue, found->cluster->node_of[0], 0);
    Precision precision = gpu->peak_flops[BF16] > 0 ? BF16 : FP16;
    double flops = gpu->peak_flops[precision] * gpu->gemm_efficiency[precision];
    return flops > 0 ? flops / 1e15 : NAN;
}

static void add_rival(Answer *answer, const CostFound *found, const Rival *rival) {
    const Offer *offer = rival->offer;
    const NodeType *node =
        offer->node_count > 0 ? catalogue_node(found->cluster->money->catalogue, offer->nodes[0]) : NULL;
    ANSWER_CELLS(answer, offer->name, offer->provider, offer->node_count > 0 ? offer->nodes[0] : NULL,
                 node ? node->name : "any", node && node->fabric_count > 0 ? node->fabrics[0] : NULL,
                 node ? node_fabrics(found->arena, node) : NULL, terms_names[offer->terms], offer->date,
                 is_assumed(offer) ? "assumed" : "quoted", answer_of(AS_MONEY, gpu_hour_of(found, rival)),
                 answer_of(AS_MONEY, gpu_hour_of(found, rival) / effective_petaflops(found)),
                 answer_of(AS_MONEY, rival->per_hour));
    add_owning(answer, found, rival);
}

static void add_rivals(Answer *answer, const CostFound *found) {
    static const AnswerColumn columns[] = {
        {"name", "price", AS_TEXT, 0},
        {"provider", NULL, AS_TEXT, 0},
        {"node", NULL, AS_TEXT, 0},
        {NULL, "machine", AS_TEXT, 2},
        {"fabric", NULL, AS_TEXT, 0},
        {NULL, "fabric", AS_TEXT, 3},
        {"terms", "terms", AS_TEXT, 0},
        {"date", "of", AS_TEXT, 1},
        {"known", "known", AS_TEXT, 4},
        {"per_gpu_hour", "a GPU-hour", AS_MONEY, 0},
        {"per_pflops_hour", "a PFLOP/s-hour", AS_MONEY, 5},
        {"per_hour", "an hour", AS_MONEY, 6},
        {"break_even_utilisation", "owning cheaper", AS_SHARE, 0},
        {"payback_months", "paid back in", AS_NUMBER, 0},
    };
    answer_open(answer, NULL, NULL);
    if (!found->all_offers) answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "rents",
                 found->all_offers ? "Offers of such GPUs, the cheapest first" : "Renting as many such GPUs", columns,
                 COUNT_OF(columns));
    for (int i = 0; i < found->rival_count; i++) add_rival(answer, found, &found->rivals[i]);
    answer_close(answer);
}

// Of each kind of terms the cheapest offer, and up to what others ask.
static void add_cheapest(Answer *answer, const CostFound *found) {
    static const AnswerColumn columns[] = {
        {NULL, "terms", AS_TEXT, 0},           {NULL, "cheapest", AS_TEXT, 0},       {NULL, "of", AS_TEXT, 3},
        {NULL, "a GPU-hour", AS_MONEY, 0},     {NULL, "dearest", AS_MONEY, 2},       {NULL, "offers", AS_COUNT, 1},
        {NULL, "owning cheaper", AS_SHARE, 0}, {NULL, "paid back in", AS_NUMBER, 0},
    };
    answer_table(answer, NULL, "Renting as many such GPUs, by terms", columns, COUNT_OF(columns));
    for (int terms = 0; terms < TERMS_COUNT; terms++) {
        const Rival *cheapest = NULL, *dearest = NULL;
        int offers = 0;
        for (int i = 0; i < found->rival_count; i++) {
            if ((int)found->rivals[i].offer->terms != terms) continue;
            dearest = &found->rivals[i];
            if (offers++ == 0) cheapest = dearest;
        }
        if (!cheapest) continue;
        ANSWER_CELLS(answer, terms_names[terms], cheapest->offer->name, cheapest->offer->date,
                     answer_of(AS_MONEY, gpu_hour_of(found, cheapest)),
                     answer_of(AS_MONEY, gpu_hour_of(found, dearest)), answer_of(AS_COUNT, offers));
        add_owning(answer, found, cheapest);
    }
}

// ---- What to beware of, and what to ask next.

static void add_cautions(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    double days = found->run_hours / 24, run = bill_of_run(bill, found->run_hours);
    const char *terms = days > 0 ? results_whole_terms(found->arena, bill->term_hours / 24, run - bill->once,
                                                       bill_unused_of_run(bill, found->run_hours), days, bill->currency)
                                 : NULL;
    if (terms)
        answer_caution(answer, "%s", terms);
    else if (bill->term_hours > 0)
        answer_caution(answer, "Paid for the whole term, used or not: %s in all",
                       money(found, bill->term_hours * bill->per_hour));
    if (bill->interruptions_per_hour > 0)
        answer_caution(answer, "Spot: one of these machines is taken away every %s",
                       text_days(found->arena, 1 / (bill->interruptions_per_hour * found->cluster->node_count) / 24));
    const char *old = results_old_prices(found->arena, bill->prices, bill->price_count, found->today);
    const char *doubted = results_doubted_prices(found->arena, bill->prices, bill->price_count);
    if (doubted) answer_caution(answer, "%s", doubted);
    if (old) answer_caution(answer, "%s", old);
}

static void add_next(Answer *answer, const CostFound *found) {
    const ClusterBill *bill = &found->bill;
    const char *node = found->cluster->node_of[0]->name;
    if (bill->interruptions_per_hour > 0)
        answer_next(answer,
                    arena_printf(found->arena, "lockstep goodput --gpus %d --node %s --days 30 --spot-mtbf %.0fh",
                                 found->cluster->gpu_count, node, 1 / bill->interruptions_per_hour),
                    "checkpoints and restarts");
    const Quote *quotes = found->cluster->money->quotes;
    bool of_one = bill->owned || (quotes && quotes[0].count == 1 && !quotes[0].offers[0]->is_own_book);
    if (bill->price_count > 0 && of_one)
        answer_next(answer, arena_printf(found->arena, "lockstep hw show %s -v", bill->prices[0].name),
                    "where the price is from");
    else if (!found->all_offers)
        answer_next(
            answer,
            arena_printf(found->arena, "lockstep cost --node %s --gpus %d --offers", node, found->cluster->gpu_count),
            "what others ask for such GPUs");
}

static void cost_answer(Answer *answer, const CostFound *found) {
    answer_currency(answer, found->bill.currency);
    add_lead(answer, found);
    add_cluster(answer, found);
    add_payment(answer, found);
    if (found->all_offers)
        add_rivals(answer, found); // its CSV: the first table
    else
        answer_one_row(answer);
    if (found->bill.owned) add_capital(answer, found);
    add_cost(answer, found);
    if (!found->all_offers) add_cheapest(answer, found);
    if (!found->all_offers) add_rivals(answer, found);
    add_power(answer, found);
    add_cautions(answer, found);
    add_next(answer, found);
}

// ---- The command.

static const OptionSpec own_options[] = {
    {"offers", OPTION_FLAG, .of = OF_QUESTION,
     .help = "list all offers of such GPUs with their machines, fabrics and dates; --provider and --terms choose among "
             "them"},
    {"run", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = "also the cost of a run of that length: 30d",
     .quantity = QUANTITY_TIME},
};

static const char usage[] = "lockstep cost --node NAME [--nodes N] [--fabric NAME] [--own] [OPTIONS]";
static const char about[] =
    "What a cluster costs by the hour, month and year: rented after the dated price book, or owned (capital, "
    "interest,\n"
    "power, space, staff), with the use and the months from which owning is cheaper than each price for such GPUs.\n\n"
    "  lockstep cost --node aws-p5.48xlarge --nodes 8\n"
    "  lockstep cost --node azure-nd96isr-h100-v5 --nodes 8 --terms reserved_3y --run 30d\n"
    "  lockstep cost --node dgx-h100 --nodes 16 --fabric ib-ndr400 --own --years 4 --utilisation 0.7\n"
    "  lockstep cost --node rtx3060-workstation --nodes 3 --fabric eth-5g --own --site office --currency INR \\\n"
    "                --node-price 0 --switch-price 17000 --nic-price 8000 --cable-price 0\n\n"
    "Two designs side by side, every difference of what a run costs a row (designs are options of lockstep run, or\n"
    "FILE.lua; a design that begins with dashes is written after =):\n\n"
    "  lockstep cost --both=\"--model llama-2-7b --tokens 100B --micro-batch 1 --fabric ib-ndr400\" \\\n"
    "                --a=\"--node dgx-h100 --gpus 64 --zero 2\" --b=\"--node dgx-h200 --gpus 32 --zero 1\"";

// ---- Every price for as many such GPUs.

typedef LIST_OF(Rival) RivalList;

static Rival rival_of(const CostFound *found, const Offer *offer) {
    const ClusterMoney *money = found->cluster->money;
    double rate = exchange_rate(money->catalogue, offer->currency, money->currency);
    Rival rival = {offer, rate * offer_gpu_hour(offer) * found->cluster->gpu_count, NAN, NAN};
    if (!found->bill.owned) return rival;
    // What is paid for all hours costs more for each that is used.
    double used = terms_are_paid_unused(offer->terms) ? rival.per_hour / found->own.utilisation : rival.per_hour;
    bool all_hours = terms_are_paid_unused(offer->terms);
    bool cheaper = own_cost_per_hour(&found->own, found->own.utilisation) < used;
    rival.break_even_utilisation =
        all_hours ? (cheaper ? 0 : INFINITY) : break_even_utilisation(&found->own, rival.per_hour);
    rival.payback_months = own_payback_months(&found->own, used);
    return rival;
}

// With --offers those that --provider and --terms leave.
static bool is_wanted(const CostFound *found, const Offer *offer) {
    const RentSpec *rent = found->cluster->spec->rent;
    if (!found->all_offers || !rent) return true;
    if (rent->provider && !same_part_name(rent->provider, offer->provider)) return false;
    return rent->terms < 0 || offer->terms == (Terms)rent->terms;
}

// Of equal prices the first of the book.
static int by_hour(const void *a, const void *b) {
    const Rival *x = a, *y = b;
    if (x->per_hour != y->per_hour) return x->per_hour < y->per_hour ? -1 : 1;
    return (x->offer > y->offer) - (x->offer < y->offer); // offers of one array: by index
}

static void find_rivals(CostFound *found) {
    const Catalogue *catalogue = found->cluster->money->catalogue;
    const NodeType *node = found->cluster->node_of[0];
    RivalList list = {0};
    for (int i = 0; i < catalogue->offer_count; i++)
        if (is_wanted(found, &catalogue->offers[i]) &&
            offer_is_comparable(catalogue, &catalogue->offers[i], node, node_gpu(catalogue, node, 0)))
            LIST_PUSH(found->arena, &list, rival_of(found, &catalogue->offers[i]));
    if (list.count) qsort(list.items, (size_t)list.count, sizeof *list.items, by_hour);
    found->rivals = list.items;
    found->rival_count = list.count;
}

// ---- The question.

static void find(CostFound *found, const Options *options, Problems *problems) {
    found->today = day_from_options(options, problems);
    const Catalogue *catalogue = catalogue_with_options(found->arena, options, problems);
    found->mix = mix_from_options(options, problems);
    found->all_offers = option_flag(options, "offers");
    found->run_hours = option_quantity(options, "run", 0) / 3600;
    if (catalogue) found->cluster = cluster_from_options(found->arena, catalogue, options, true, problems);
    if (!found->cluster) return;
    found->bill = cluster_bill(found->arena, found->cluster, &found->mix);
    found->power = cluster_power(found->cluster, &found->mix);
    if (found->bill.owned) found->own = own_cost(found->cluster, &found->power);
    find_rivals(found);
    if (found->bill.known) return;
    problem_add(problems, (Where){0}, "the price book has no price on demand for %s", found->cluster->node_of[0]->name);
    problem_hint(problems, "say --price, --own, or a --provider, --terms or --book of: lockstep hw list price");
}

static int ask(Asking *asking) {
    if (compare_is_asked(asking->options)) return compare_designs(asking);
    CostFound found = {.arena = asking->arena};
    find(&found, asking->options, asking->problems);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    cost_answer(asking->answer, &found);
    return EXIT_DONE;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    const OptionSpec *rows =
        options_join(arena, cluster_options, cluster_option_count, money_options, money_option_count, count);
    rows = options_join(arena, rows, *count, rent_options, rent_option_count, count);
    rows = options_join(arena, rows, *count, own_options, (int)(sizeof own_options / sizeof *own_options), count);
    return options_join(arena, rows, *count, compare_options, compare_option_count, count);
}

static const Question cost = {.name = "cost", .usage = usage, .about = about, .rows = rows, .ask = ask};

const OptionSpec *cost_option_rows(Arena *arena, int *count);
const OptionSpec *cost_option_rows(Arena *arena, int *count) { return frame_rows(arena, &cost, count); }

int command_cost(int argc, char **argv) { return frame_run(&cost, argc, argv); }
