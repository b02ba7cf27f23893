#include "scenarios/questions/goodput.h"

#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster_money.h"
#include "sim/base/text.h"

static const Where command_line = {NULL, 0};

// ---- Options.

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
    wish.runs = asked->runs;
    return wish;
}

// ---- The answer.

static const char *span(const GoodputAsked *asked, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(asked->arena, 64), 64);
}

static const char *money(const GoodputAsked *asked, double amount) { return text_money(asked->arena, amount, "USD"); }

static const char *storage_of_way(const GoodputAsked *asked, const LifeWay *way) {
    return arena_printf(asked->arena, "%d x %s", way->units, way->storage->name);
}

static const char *words_of_way(const GoodputAsked *asked, const LifeWay *way) {
    return arena_printf(asked->arena, "%d spare node%s, a checkpoint every %s, %s", way->spares,
                        way->spares == 1 ? "" : "s", span(asked, way->checkpoint.every_s), storage_of_way(asked, way));
}

static void add_head(Answer *answer, const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                     const LifeChoice *choice) {
    const Quote quote = goodput_quote(asked, catalogue);
    const char *price = asked->price_given
                            ? arena_printf(asked->arena, "%.2f", wish->node_price / asked->node->gpu_count)
                            : quote_text(asked->arena, &quote);
    const LifeSpec *spec = &asked->spec;
    answer_say(answer, "Job", "%s GPUs in %d x %s; %s%s%s", text_count(asked->arena, asked->gpus, true), spec->nodes,
               asked->node->name, span(asked, spec->horizon_s + spec->work_s),
               spec->work_s > 0 ? " of training to do" : " of calendar",
               wish->by_s > 0 ? arena_printf(asked->arena, ", by %s", goodput_by_text(asked)) : "");
    answer_say(answer, "Checkpoint", "%s, %s", checkpoint_mode_names[wish->mode],
               text_bytes(asked->arena, asked->bytes));
    answer_spare(answer);
    answer_say(answer, "Prices", "$%s a GPU and hour%s, spares too; storage $%.2f a GB/s and hour", price,
               asked->price_given ? "" : " on demand",
               1e9 * choice->best.storage->unit_usd_per_hour / choice->best.storage->write_bytes_per_second);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(answer, "Looked at", "%d ways, under the same failures; the best in %d simulated runs each",
               choice->tried, wish->runs);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "gpus", NULL, AS_WHOLE, asked->gpus);
    answer_number(answer, "nodes", NULL, AS_WHOLE, spec->nodes);
    answer_text(answer, "node", NULL, asked->node->name);
    answer_text(answer, "rates", NULL, asked->rates->name);
    answer_number(answer, "runs", NULL, AS_WHOLE, wish->runs);
    answer_number(answer, "tried", NULL, AS_WHOLE, choice->tried);
    answer_bool(answer, "keeps_date", NULL, choice->keeps_date);
    answer_close(answer);
}

// ---- Candidates: one displayed table; in JSON each in its object.

static void add_way(Answer *answer, const GoodputAsked *asked, const LifeWay *way) {
    bool has_work = asked->spec.work_s > 0;
    answer_number(answer, "spares", NULL, AS_WHOLE, way->spares);
    answer_text(answer, "storage", NULL, way->storage->name);
    answer_number(answer, "storage_units", NULL, AS_WHOLE, way->units);
    answer_number(answer, "every_s", NULL, AS_SECONDS, way->checkpoint.every_s);
    answer_number(answer, "stall_s", NULL, AS_SECONDS, way->checkpoint.stall_s);
    answer_number(answer, "usd_per_hour", NULL, AS_MONEY, way->price_per_hour);
    answer_range(answer, "goodput", NULL, AS_SHARE, answer_range_of(&way->goodput));
    if (has_work) answer_range(answer, "days", NULL, AS_DAYS, answer_range_of(&way->days));
    if (isfinite(way->cost))
        answer_range(answer, has_work ? "cost_usd" : "cost_usd_per_training_day", NULL, AS_MONEY,
                     (AnswerRange){way->cost, way->cost_p5, way->cost_p50, way->cost_p95});
    if (!isnan(way->by_chance)) answer_number(answer, "chance_by", NULL, AS_SHARE, way->by_chance);
}

static void add_way_called(Answer *answer, const char *key, const GoodputAsked *asked, const LifeWay *way) {
    answer_open(answer, key, NULL);
    add_way(answer, asked, way);
    answer_close(answer);
}

static void add_ways(Answer *answer, const GoodputAsked *asked, const LifeChoice *choice) {
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    add_way_called(answer, "best", asked, &choice->best);
    answer_open_list(answer, "others", NULL);
    for (int i = 0; i < choice->other_count; i++) {
        answer_open(answer, NULL, NULL);
        answer_text(answer, "what", NULL, choice->others[i].what);
        add_way(answer, asked, &choice->others[i].way);
        answer_close(answer);
    }
    answer_close(answer);
    add_way_called(answer, "failures_twice", asked, &choice->twice);
    add_way_called(answer, "best_of_failures_twice", asked, &choice->best_twice);
    answer_close(answer);
}

static void add_row(Answer *answer, const GoodputAsked *asked, const char *what, const LifeWay *way,
                    const LifeWay *best) {
    bool has_work = asked->spec.work_s > 0, has_date = !isnan(way->by_chance);
    ANSWER_CELLS(answer, what, answer_of(AS_WHOLE, way->spares), storage_of_way(asked, way),
                 answer_of(AS_SECONDS, way->checkpoint.every_s),
                 answer_of(AS_SHARE, has_work ? way->goodput.p50 : way->goodput.mean),
                 answer_of(has_work ? AS_NUMBER : AS_NOTHING, way->days.p50));
    answer_cell(answer,
                answer_of_text(
                    has_work ? answer_range_text(asked->arena, answer, AS_NUMBER, way->days.p5, way->days.p95) : NULL));
    ANSWER_CELLS(answer, answer_of(has_date ? AS_PERCENT : AS_NOTHING, way->by_chance), answer_of(AS_MONEY, way->cost));
    const char *sign = way->cost < best->cost ? "-" : "+";
    answer_cell(answer, answer_of_text(way == best ? ""
                                                   : arena_printf(asked->arena, "%s%s", sign,
                                                                  money(asked, fabs(way->cost - best->cost)))));
}

static void add_table(Answer *answer, const GoodputAsked *asked, const LifeChoice *choice) {
    static const AnswerColumn columns[] = {
        {NULL, "way", AS_TEXT, 0},      {NULL, "spares", AS_WHOLE, 0},  {NULL, "storage", AS_TEXT, 2},
        {NULL, "every", AS_SECONDS, 0}, {NULL, "goodput", AS_SHARE, 0}, {NULL, "days", AS_NUMBER, 0},
        {NULL, "90 %", AS_NUMBER, 3},   {NULL, "in time", AS_SHARE, 0}, {NULL, "mean cost", AS_MONEY, 0},
        {NULL, "more", AS_MONEY, 4},
    };
    static AnswerColumn of_a_day[sizeof columns / sizeof *columns];
    memcpy(of_a_day, columns, sizeof columns);
    of_a_day[8].title = "mean cost/day";
    const LifeWay *best = &choice->best;
    answer_table(answer, NULL, NULL, asked->spec.work_s > 0 ? columns : of_a_day, sizeof columns / sizeof *columns);
    add_row(answer, asked, "best", best, best);
    answer_mark(answer);
    for (int i = 0; i < choice->other_count; i++)
        add_row(answer, asked, choice->others[i].what, &choice->others[i].way, best);
    add_row(answer, asked, "failures twice", &choice->twice, best);
    add_row(answer, asked, "  best then", &choice->best_twice, best);
}

// ---- Words.

static void add_lead(Answer *answer, const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    const LifeWay *best = &choice->best;
    bool dated = wish->by_s > 0 && asked->spec.work_s > 0;
    answer_say(answer, NULL, "%s: %s%s %s (nine runs of ten: %s to %s), %s in the mean, the least of the ways.",
               words_of_way(asked, best),
               asked->spec.work_s > 0 ? arena_printf(asked->arena, "%s and ", text_days(asked->arena, best->days.p50))
                                      : "",
               money(asked, best->cost_p50), asked->spec.work_s > 0 ? "for the work" : "for a day's worth of training",
               money(asked, best->cost_p5), money(asked, best->cost_p95), money(asked, best->cost));
    if (dated)
        answer_say(answer, NULL, "%.0f %% of runs are done by %s%s.", 100 * best->by_chance, goodput_by_text(asked),
                   choice->keeps_date
                       ? ""
                       : arena_printf(asked->arena, ": no way keeps the date with %.0f %%", 100 * wish->confidence));
}

static void add_notes(Answer *answer, const GoodputAsked *asked, const LifeChoice *choice) {
    const LifeWay *twice = &choice->twice, *other = &choice->best_twice;
    double dearer = twice->cost - other->cost;
    if (dearer > 0.005 * twice->cost)
        answer_caution(answer,
                       "With twice the failures %d spares, every %s, %s would be best: %s less than with the "
                       "choice above.",
                       other->spares, span(asked, other->checkpoint.every_s), storage_of_way(asked, other),
                       money(asked, dearer));
    else
        answer_say(answer, "Failures", "twice as many, and the choice is still within 0.5 %% of the best");
    if (!(choice->best.storage->unit_usd_per_hour > 0)) return;
    answer_caution(answer, "What storage costs is assumed (lockstep hw show %s); --storage and --storage-units fix it.",
                   choice->best.storage->name);
    answer_spare(answer);
}

static Recommendation recommended(const GoodputAsked *asked, const LifeWish *wish, const LifeChoice *choice) {
    const LifeWay *best = &choice->best;
    Arena *arena = asked->arena;
    bool dated = wish->by_s > 0 && asked->spec.work_s > 0;
    return (Recommendation){
        .choice = words_of_way(asked, best),
        .chance = dated ? arena_printf(arena, "done by %s with %.0f %%", goodput_by_text(asked), 100 * best->by_chance)
                        : arena_printf(arena, "goodput %.1f %%, in nine runs of ten %.1f to %.1f %%",
                                       100 * best->goodput.mean, 100 * best->goodput.p5, 100 * best->goodput.p95),
        .weakest = arena_printf(arena, "how often your machines fail (rates of %s): twice as often costs %s more",
                                asked->rates->name, money(asked, choice->twice.cost - best->cost)),
        .measure = "a log of failures of these machines: --node-mtbf TIME, --rates NAME with --profile FILE.json",
    };
}

void goodput_best_answer(Answer *answer, const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                         const LifeChoice *choice) {
    answer_rename(answer, "goodput-best");
    add_lead(answer, asked, wish, choice);
    add_head(answer, asked, catalogue, wish, choice);
    add_ways(answer, asked, choice);
    add_table(answer, asked, choice);
    add_notes(answer, asked, choice);
    Recommendation recommendation = recommended(asked, wish, choice);
    answer_recommend(answer, &recommendation);
    if (!(wish->by_s > 0)) answer_say(answer, "Ask", "--by TIME with --work: the chance to be done by then");
}
