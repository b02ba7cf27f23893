// lockstep cost: what a cluster costs to rent or to own, and from when on owning is cheaper.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/hardware/parts.h"
#include "models/workload/cluster/rent_options.h"
#include "results/answer.h"
#include "scenarios/commands/cluster_options.h"
#include "scenarios/commands/command_cost.h"
#include "scenarios/commands/cost_answer.h"
#include "scenarios/commands/cost_compare.h"
#include "sim/list.h"

enum { DONE = 0, BAD_USAGE = 2, BAD_INPUT = 4 };

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
    "  lockstep cost --both=\"--model llama-2-7b --tokens 100B --fabric ib-ndr400 --micro-batch 1\" \\\n"
    "                --a=\"--node dgx-h100 --gpus 64\" --b=\"--node dgx-h200 --gpus 32\"";

// ---- Every price for as many such GPUs.

typedef struct RivalList {
    Rival *items;
    int count, room;
} RivalList;

static Rival rival_of(const CostAnswer *answer, const Offer *offer) {
    const ClusterMoney *money = answer->cluster->money;
    double rate = exchange_rate(money->catalogue, offer->currency, money->currency);
    Rival rival = {offer, rate * offer_gpu_hour(offer) * answer->cluster->gpu_count, NAN, NAN};
    if (!answer->bill.owned) return rival;
    // What is paid for all hours costs more for each that is used.
    double used = terms_are_paid_unused(offer->terms) ? rival.per_hour / answer->own.utilisation : rival.per_hour;
    bool all_hours = terms_are_paid_unused(offer->terms);
    bool cheaper = own_cost_per_hour(&answer->own, answer->own.utilisation) < used;
    rival.break_even_utilisation =
        all_hours ? (cheaper ? 0 : INFINITY) : break_even_utilisation(&answer->own, rival.per_hour);
    rival.payback_months = own_payback_months(&answer->own, used);
    return rival;
}

// With --offers those that --provider and --terms leave.
static bool is_wanted(const CostAnswer *answer, const Offer *offer) {
    const RentSpec *rent = answer->cluster->spec->rent;
    if (!answer->all_offers || !rent) return true;
    if (rent->provider && !same_part_name(rent->provider, offer->provider)) return false;
    return rent->terms < 0 || offer->terms == (Terms)rent->terms;
}

// Of two that are alike the first of the book.
static int by_hour(const void *a, const void *b) {
    const Rival *x = a, *y = b;
    if (x->per_hour != y->per_hour) return x->per_hour < y->per_hour ? -1 : 1;
    return (x->offer > y->offer) - (x->offer < y->offer); // offers of one array: by index
}

static void find_rivals(CostAnswer *answer) {
    const Catalogue *catalogue = answer->cluster->money->catalogue;
    const NodeType *node = answer->cluster->node_of[0];
    RivalList list = {0};
    for (int i = 0; i < catalogue->offer_count; i++)
        if (is_wanted(answer, &catalogue->offers[i]) &&
            offer_is_comparable(catalogue, &catalogue->offers[i], node, node_gpu(catalogue, node, 0)))
            LIST_PUSH(answer->arena, &list, rival_of(answer, &catalogue->offers[i]));
    if (list.count) qsort(list.items, (size_t)list.count, sizeof *list.items, by_hour);
    answer->rivals = list.items;
    answer->rival_count = list.count;
}

// ---- The command.

static int fails(const Problems *problems, int code) {
    problems_print(problems, stderr);
    return problems_status(problems, code);
}

static void ask(CostAnswer *answer, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_options(answer->arena, options, problems);
    options_refuse_positional(options, 0, problems);
    answer->mix = mix_from_options(options, problems);
    answer->all_offers = option_flag(options, "offers");
    answer->run_hours = option_quantity(options, "run", 0) / 3600;
    if (catalogue) answer->cluster = cluster_from_options(answer->arena, catalogue, options, true, problems);
    if (!answer->cluster) return;
    answer->bill = cluster_bill(answer->arena, answer->cluster, &answer->mix);
    answer->power = cluster_power(answer->cluster, &answer->mix);
    if (answer->bill.owned) answer->own = own_cost(answer->cluster, &answer->power);
    find_rivals(answer);
    if (answer->bill.known) return;
    problem_add(problems, (Where){0}, "the price book has no price on demand for %s",
                answer->cluster->node_of[0]->name);
    problem_hint(problems, "say --price, --own, or a --provider, --terms or --book of: lockstep hw list price");
}

const OptionSpec *cost_option_rows(Arena *arena, int *count);
const OptionSpec *cost_option_rows(Arena *arena, int *count) {
    const OptionSpec *rows =
        options_join(arena, cluster_options, cluster_option_count, money_options, money_option_count, count);
    rows = options_join(arena, rows, *count, rent_options, rent_option_count, count);
    rows = options_join(arena, rows, *count, own_options, (int)(sizeof own_options / sizeof *own_options), count);
    return options_join(arena, rows, *count, compare_options, compare_option_count, count);
}

int command_cost(int argc, char **argv) {
    CostAnswer answer = {.arena = arena_open()};
    Problems *problems = problems_create(answer.arena);
    int count, end = DONE;
    const OptionSpec *specs = cost_option_rows(answer.arena, &count);
    Options *options = options_parse(answer.arena, specs, count, argc, argv, problems);
    Style style = style_for(stdout, "auto", option_flag(options, "plain"));
    style.today = date_or_today(option_text(options, "date", NULL), problems);
    if (option_help(options)) {
        options_print_help(specs, count, usage, about, stdout);
    } else if (problem_count(problems)) {
        end = fails(problems, BAD_USAGE);
    } else if (compare_is_asked(options)) {
        end = compare_designs(answer.arena, options, &style, problems);
        problems_print(problems, stderr);
    } else {
        ask(&answer, options, problems);
        if (option_flag(options, "csv")) answer_by_json(options, problems);
        if (problem_count(problems))
            end = fails(problems, BAD_INPUT);
        else if (option_flag(options, "json"))
            cost_print_json(&answer);
        else
            cost_print(&answer, &style);
    }
    arena_close(answer.arena);
    return end;
}
