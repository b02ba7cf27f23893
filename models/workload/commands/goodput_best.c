#include "models/workload/commands/goodput_best.h"

#include <math.h>
#include <stdio.h>

#include "models/workload/cluster/cluster_money.h"
#include "models/workload/commands/command_internal.h"
#include "sim/envelope.h"
#include "sim/recommendation.h"

static const Where command_line = {NULL, 0};

// ---- What is asked.

Quote goodput_quote(const GoodputAsked *asked, const Catalogue *catalogue) {
    const RentSpec on_demand = {.terms = -1, .market = true};
    return rent_quote(asked->arena, catalogue, asked->node, node_gpu(catalogue, asked->node, 0), &on_demand, "USD");
}

// In USD for a node and hour; 0 after a problem.
static double node_price(const GoodputAsked *asked, const Catalogue *catalogue, const Options *options,
                         Problems *problems) {
    double price = option_quantity(options, "price", 0);
    if (asked->price_given && !(price > 0)) {
        problem_add(problems, command_line, "--price must be above 0");
        problem_hint(problems, "of a GPU for an hour, in USD: --price 2.49");
        return 0;
    }
    if (price > 0) return price * asked->node->gpu_count;
    Quote quote = goodput_quote(asked, catalogue);
    if (quote.count > 0 && quote.gpu_hour > 0) return quote.gpu_hour * asked->node->gpu_count;
    problem_add(problems, command_line, "the price book has no price of %s, by which spares are weighed",
                asked->node->name);
    problem_hint(problems, "of a GPU for an hour, in USD: --price 2.49");
    return 0;
}

LifeWish goodput_best_wish(const GoodputAsked *asked, const Catalogue *catalogue, const Options *options,
                           Problems *problems) {
    LifeWish wish = {.spec = asked->spec,
                     .mode = asked->spec.checkpoint.mode,
                     .storage_every_s = asked->spec.checkpoint.storage_every_s,
                     .bytes = asked->bytes,
                     .node = asked->node,
                     .gpu = node_gpu(catalogue, asked->node, 0),
                     .storage_units = option_given(options, "storage-units") ? asked->storage_units : 0,
                     .spares = asked->spares_given ? asked->spec.spares : -1,
                     .storage_price = 1,
                     .by_s = asked->by_s,
                     .confidence = asked->confidence,
                     .seed = asked->seed};
    if (option_given(options, "checkpoint-every") && !asked->interval_found)
        wish.every_s = asked->spec.checkpoint.every_s;
    if (asked->bytes <= 0 || option_given(options, "checkpoint-stall")) {
        problem_add(problems, command_line, "--best weighs storage by what a checkpoint takes on it");
        problem_hint(problems,
                     "say whose state is saved, --model or --checkpoint-size, and leave --checkpoint-stall out");
        return wish;
    }
    wish.node_price = node_price(asked, catalogue, options, problems);
    const StorageType **storage = ARENA_NEW(asked->arena, const StorageType *);
    *storage = asked->storage;
    wish.storages = storage;
    wish.storage_count = 1;
    wish.runs = option_given(options, "runs") ? asked->runs : life_choice_runs(&wish, BEST_WAY_RUNS);
    return wish;
}

// ---- The screen.

static const char *span(const GoodputAsked *asked, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(asked->arena, 64), 64);
}

static const char *money(const GoodputAsked *asked, double amount) {
    if (!isfinite(amount)) return "-";
    if (fabs(amount) < 1e4) return arena_printf(asked->arena, "$%.0f", amount);
    return arena_printf(asked->arena, fabs(amount) < 1e6 ? "$%.1f k" : "$%.3f M",
                        amount / (fabs(amount) < 1e6 ? 1e3 : 1e6));
}

static const char *more(const GoodputAsked *asked, double amount) {
    if (!isfinite(amount)) return "-";
    return arena_printf(asked->arena, "%s%s", amount < 0 ? "-" : "+", money(asked, fabs(amount)));
}

static const char *storage_of_way(const GoodputAsked *asked, const LifeWay *way) {
    return arena_printf(asked->arena, "%d x %s", way->units, way->storage->name);
}

static void print_way(const GoodputAsked *asked, const char *what, const LifeWay *way, const LifeWay *best) {
    bool has_work = asked->spec.work_s > 0, has_date = !isnan(way->by_chance);
    const char *days = has_work ? arena_printf(asked->arena, "%.2f", way->days.mean) : "";
    const char *range = has_work ? arena_printf(asked->arena, "%.1f-%.1f", way->days.p5, way->days.p95) : "";
    const char *chance = has_date ? arena_printf(asked->arena, "%.0f %%", 100 * way->by_chance) : "";
    printf("  %-22s %6d  %-22s %9s %7.1f %%  %7s %13s %6s  %10s %10s\n", what, way->spares, storage_of_way(asked, way),
           span(asked, way->checkpoint.every_s), 100 * way->goodput.mean, days, range, chance, money(asked, way->cost),
           way == best ? "" : more(asked, way->cost - best->cost));
}

static void print_head(const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                       const LifeChoice *choice) {
    const Quote quote = goodput_quote(asked, catalogue);
    const char *price = asked->price_given
                            ? arena_printf(asked->arena, "%.2f", wish->node_price / asked->node->gpu_count)
                            : quote_text(asked->arena, &quote);
    const LifeSpec *spec = &asked->spec;
    printf("Job         %d GPUs in %d %s; %s%s", asked->gpus, spec->nodes, asked->node->name,
           span(asked, spec->horizon_s + spec->work_s), spec->work_s > 0 ? " of training to do" : " of calendar");
    if (wish->by_s > 0) printf(", by %s", span(asked, wish->by_s));
    printf("\nCheckpoint  %s, %s\n", checkpoint_mode_names[wish->mode],
           quantity_format(asked->bytes, QUANTITY_BYTES, arena_alloc(asked->arena, 64), 64));
    printf("Prices      $%s a GPU and hour%s, spares too; storage $%.2f a GB/s and hour\n", price,
           asked->price_given ? "" : " on demand",
           1e9 * choice->best.storage->unit_usd_per_hour / choice->best.storage->write_bytes_per_second);
    printf("Looked at   %d ways, under the same failures; the best in %d simulated runs each\n\n", choice->tried,
           wish->runs);
}

static void print_best(const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    const LifeWay *best = &choice->best;
    const char *of = asked->spec.work_s > 0 ? "of the work" : "of a day's worth of training";
    printf("\nBest        %d spare node%s, a checkpoint every %s, %s\n", best->spares, best->spares == 1 ? "" : "s",
           span(asked, best->checkpoint.every_s), storage_of_way(asked, best));
    printf("Cost        %s %s   90 %% of runs: %s to %s\n", money(asked, best->cost), of, money(asked, best->cost_p5),
           money(asked, best->cost_p95));
    if (wish->by_s > 0 && asked->spec.work_s > 0)
        printf("By %-8s %.0f %% of runs are done%s\n", span(asked, wish->by_s), 100 * best->by_chance,
               choice->keeps_date
                   ? ""
                   : arena_printf(asked->arena, ": no way keeps the date with %.0f %%", 100 * wish->confidence));
}

static void print_notes(const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    const LifeWay *twice = &choice->twice, *other = &choice->best_twice;
    double dearer = twice->cost - other->cost;
    if (dearer > 0.005 * twice->cost)
        printf("! With twice the failures %d spares, every %s, %s would be best: %s less than with the choice above.\n",
               other->spares, span(asked, other->checkpoint.every_s), storage_of_way(asked, other),
               money(asked, dearer));
    else
        printf("With twice the failures the choice is still within 0.5 %% of the best.\n");
    if (choice->best.storage->unit_usd_per_hour > 0)
        printf("! What storage costs is assumed (lockstep hw show %s); --storage and --storage-units fix it.\n",
               choice->best.storage->name);
    if (!(wish->by_s > 0)) printf("Next: --by TIME gives the chance to be done by then, with --work.\n");
}

static Recommendation recommended(const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    const LifeWay *best = &choice->best;
    Arena *arena = asked->arena;
    bool dated = wish->by_s > 0 && asked->spec.work_s > 0;
    return (Recommendation){
        .choice = arena_printf(arena, "%d spare node%s, a checkpoint every %s, %s", best->spares,
                               best->spares == 1 ? "" : "s", span(asked, best->checkpoint.every_s),
                               storage_of_way(asked, best)),
        .chance = dated ? arena_printf(arena, "done by %s with %.0f %%", span(asked, wish->by_s), 100 * best->by_chance)
                        : arena_printf(arena, "goodput %.1f %%, in nine runs of ten %.1f to %.1f %%",
                                       100 * best->goodput.mean, 100 * best->goodput.p5, 100 * best->goodput.p95),
        .weakest = arena_printf(arena, "how often your machines fail (rates of %s): twice as often costs %s more",
                                asked->rates->name, money(asked, choice->twice.cost - best->cost)),
        .measure = "a log of failures of these machines: --node-mtbf TIME, --rates NAME with --profile FILE.json",
    };
}

void goodput_best_print(const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                        const LifeChoice *choice) {
    const LifeWay *best = &choice->best;
    print_head(asked, catalogue, wish, choice);
    bool has_work = asked->spec.work_s > 0;
    printf("  %-22s %6s  %-22s %9s %9s  %7s %13s %6s  %10s %10s\n", "way", "spares", "storage", "interval", "goodput",
           has_work ? "days" : "", has_work ? "90 %" : "", wish->by_s > 0 && has_work ? "chance" : "",
           has_work ? "cost" : "cost/day", "more");
    print_way(asked, "best", best, best);
    for (int i = 0; i < choice->other_count; i++)
        print_way(asked, choice->others[i].what, &choice->others[i].way, best);
    print_way(asked, "failures twice", &choice->twice, best);
    print_way(asked, "  best then", &choice->best_twice, best);
    print_best(asked, wish, choice);
    print_notes(asked, wish, choice);
    Recommendation recommendation = recommended(asked, wish, choice);
    recommendation_print(&recommendation, stdout);
}

// ---- JSON.

static void range(JsonWriter *json, const char *key, double mean, double low, double high) {
    json_key(json, key);
    json_begin_object(json);
    write_number(json, "mean", mean);
    write_number(json, "p5", low);
    write_number(json, "p95", high);
    json_end_object(json);
}

static void way_members(JsonWriter *json, const GoodputAsked *asked, const LifeWay *way) {
    write_integer(json, "spares", way->spares);
    write_text(json, "storage", way->storage->name);
    write_integer(json, "storage_units", way->units);
    write_number(json, "every_s", way->checkpoint.every_s);
    write_number(json, "stall_s", way->checkpoint.stall_s);
    write_number(json, "usd_per_hour", way->price_per_hour);
    range(json, "goodput", way->goodput.mean, way->goodput.p5, way->goodput.p95);
    if (asked->spec.work_s > 0) range(json, "days", way->days.mean, way->days.p5, way->days.p95);
    if (isfinite(way->cost))
        range(json, asked->spec.work_s > 0 ? "cost_usd" : "cost_usd_per_training_day", way->cost, way->cost_p5,
              way->cost_p95);
    if (!isnan(way->by_chance)) write_number(json, "chance_by", way->by_chance);
}

static void way_object(JsonWriter *json, const GoodputAsked *asked, const char *key, const LifeWay *way) {
    json_key(json, key);
    json_begin_object(json);
    way_members(json, asked, way);
    json_end_object(json);
}

void goodput_best_print_json(const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "goodput-best");
    write_integer(&json, "gpus", asked->gpus);
    write_integer(&json, "nodes", asked->spec.nodes);
    write_text(&json, "node", asked->node->name);
    write_text(&json, "rates", asked->rates->name);
    write_integer(&json, "runs", wish->runs);
    write_integer(&json, "tried", choice->tried);
    write_bool(&json, "keeps_date", choice->keeps_date);
    way_object(&json, asked, "best", &choice->best);
    json_key(&json, "others");
    json_begin_list(&json);
    for (int i = 0; i < choice->other_count; i++) {
        json_begin_object(&json);
        write_text(&json, "what", choice->others[i].what);
        way_members(&json, asked, &choice->others[i].way);
        json_end_object(&json);
    }
    json_end_list(&json);
    way_object(&json, asked, "failures_twice", &choice->twice);
    way_object(&json, asked, "best_of_failures_twice", &choice->best_twice);
    Recommendation recommendation = recommended(asked, wish, choice);
    recommendation_write(&json, &recommendation);
    json_end_object(&json);
    printf("\n");
}
