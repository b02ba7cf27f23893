// The command line of lockstep run that simulates the job of a plan's row: the job's words of the question, and the
// chosen cluster and layout.
#include <math.h>
#include <string.h>

#include "models/workload/job/layout.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_words.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/text.h"

static const OptionSpec beside_a_study[] = {
    ANCHOR_OPTIONS,
    {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "as of lockstep run"},
};

static const char *const chosen[] = {
    "node", "fabric", "gpus", "oversubscription", "tp",        "pp",          "vpp",          "cp",
    "ep",   "dp",     "zero", "schedule",         "recompute", "micro-batch", "global-batch", "offload-optimizer",
};
static const char *const of_price[] = {"price", "provider", "region", "terms", "among", "currency"};

static void say(Arena *arena, OptionWords *line, const char *option, const char *value) {
    option_words_add(arena, line, arena_printf(arena, "--%s", option));
    option_words_add(arena, line, value);
}

static void say_degree(Arena *arena, OptionWords *line, const char *option, int degree) {
    if (degree > 1) say(arena, line, option, arena_printf(arena, "%d", degree));
}

static void say_cluster(Arena *arena, OptionWords *line, const PlanRow *row) {
    say(arena, line, "node", row->node->name);
    say(arena, line, "gpus", arena_printf(arena, "%d", row->gpus));
    if (row->fabric) say(arena, line, "fabric", row->fabric->name);
    if (row->oversubscription > 1) say(arena, line, "oversubscription", text_exact(arena, row->oversubscription));
}

// The plan's price, a median as an amount: run has no default price.
static void say_price(Arena *arena, OptionWords *line, const PlanRequest *request, const PlanRow *row) {
    Quote quote = plan_quote_of_way(arena, request, row->node, row->way);
    const RentSpec *rent = request->rent_count > 1 ? request->rents[row->way] : request->rent;
    const char *provider = rent ? rent->provider : NULL;
    if (!provider && quote.is_own && quote.count == 1) provider = quote.offers[0]->provider;
    if (!(quote.count > 0) || !isfinite(quote.gpu_hour)) return;
    if (provider) {
        say(arena, line, "provider", provider);
        if (rent && rent->region) say(arena, line, "region", rent->region);
        if (rent && rent->terms >= 0) say(arena, line, "terms", terms_names[rent->terms]);
    } else {
        say(arena, line, "price", text_exact(arena, quote.gpu_hour));
    }
    if (strcmp(quote.currency, "USD") != 0) say(arena, line, "currency", quote.currency);
}

static void say_layout(Arena *arena, OptionWords *line, const PlanRow *row) {
    const TrainingSpec *training = &row->training;
    const Layout *layout = &training->layout;
    bool usual = training->schedule == (layout->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B);
    say_degree(arena, line, "tp", layout->tp);
    say_degree(arena, line, "pp", layout->pp);
    say_degree(arena, line, "vpp", layout->vpp);
    say_degree(arena, line, "cp", layout->cp);
    say_degree(arena, line, "ep", layout->ep);
    say(arena, line, "zero", arena_printf(arena, "%d", layout->zero));
    if (!usual) say(arena, line, "schedule", schedule_name(training->schedule));
    if (training->recompute != RECOMPUTE_NONE) say(arena, line, "recompute", recompute_name(training->recompute));
    if (training->offload_optimizer != OFFLOAD_GPU)
        say(arena, line, "offload-optimizer", offload_names[training->offload_optimizer]);
    say(arena, line, "micro-batch", text_exact(arena, training->micro_batch));
    say(arena, line, "global-batch", text_exact(arena, training->global_batch));
}

const char *const *plan_run_words(const PlanStudy *plan, const PlanRow *row, int *count) {
    Arena *arena = plan->arena;
    const PlanRequest *request = plan->request;
    bool priced = !row->owned && !plan_is_stated(request, row->node); // by the price book
    const char *replaced[COUNT_OF(chosen) + COUNT_OF(of_price)];
    int row_count;
    memcpy(replaced, chosen, sizeof chosen);
    memcpy(replaced + COUNT_OF(chosen), of_price, sizeof of_price);
    int replaced_count = COUNT_OF(chosen) + (priced ? COUNT_OF(of_price) : 0);
    const OptionSpec *rows = options_with_study(arena, beside_a_study, COUNT_OF(beside_a_study), &row_count);
    OptionWords line = {0};
    option_words_add(arena, &line, "run");
    option_words_keep(arena, rows, row_count, &plan->words, replaced, replaced_count, &line, NULL);
    say_cluster(arena, &line, row);
    if (priced) say_price(arena, &line, request, row);
    say_layout(arena, &line, row);
    *count = line.count;
    return line.items;
}
