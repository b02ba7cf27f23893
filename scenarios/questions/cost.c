// lockstep cost: the cost of a cluster, rented or owned, and the break-even of owning.
#include "scenarios/questions/cost.h"

#include <math.h>
#include <stdlib.h>

#include "models/hardware/parts.h"
#include "models/workload/cluster/rent_options.h"
#include "results/answer/frame.h"
#include "scenarios/questions/cluster_options.h"
#include "scenarios/questions/cost_compare.h"
#include "sim/base/list.h"

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

typedef struct RivalList {
    Rival *items;
    int count, room;
} RivalList;

static Rival rival_of(const CostFound *found, const Offer *offer) {
    const ClusterMoney *money = found->cluster->money;
    double rate = exchange_rate(money->catalogue, offer->currency, money->currency);
    const NodeType *machine = offer->node_count > 0 ? catalogue_node(money->catalogue, offer->nodes[0]) : NULL;
    double gpus = found->cluster->gpu_count, paid = machine ? rented_gpus(machine, gpus) : gpus;
    Rival rival = {offer, rate * offer_gpu_hour(offer) * paid, NAN, NAN};
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
