// lockstep plan: how many GPUs, which node and network, which layout, what cost, by when.
#include "scenarios/plan/command_plan.h"

#include "models/workload/cluster/rent_options.h"
#include "models/workload/job/job_options.h"
#include "scenarios/plan/plan_answer.h"
#include "sim/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

static const char *const color_modes[] = {"auto", "always", "never"};
static const Where command_line = {NULL, 0};

static const char usage[] = "lockstep plan --model NAME --node A,B --gpus N,M --tokens N --global-batch N [options]";
static const char about[] =
    "Finds the best layout on every cluster that comes into question and ranks the clusters.\n\n"
    "  lockstep plan --model llama-2-70b --tokens 2T --global-batch 1024 --node dgx-h100 --fabric ib-ndr400 \\\n"
    "                --gpus 512,1024,2048 --by 30d --budget 2M --price 2.49\n\n"
    "What the options below fix is not searched. Exit codes: 3 no plan keeps date and budget, 130 interrupted.";

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return problems_status(problems, status);
}

// What the user left open and the plan filled in stands before what the study assumes.
static const Record *with_assumed(Arena *arena, const PlanRequest *request, const PlanRow *row, const Record *record) {
    if (!record) return NULL;
    Record *more = ARENA_NEW(arena, Record);
    Assumption *list = ARENA_ARRAY(arena, Assumption, record->assumption_count + 2);
    int count = 0;
    Quote quote = {0};
    PlanRequest paid = plan_for_row(request, row);
    if (!row->owned) quote = plan_quote(arena, &paid, row->node);
    if (request->batch_assumed)
        list[count++] = (Assumption){.name = "global batch",
                                     .unit = "samples",
                                     .source = "GPT-3's models of this size (Brown et al. 2020, table 2.1)",
                                     .kind = "assumed",
                                     .value = row->training.global_batch};
    if (quote.count > 0 && !quote.is_own)
        list[count++] = (Assumption){.name = "price of a GPU-hour",
                                     .unit = quote.currency,
                                     .source = arena_printf(arena, "%s: nobody in the price book rents %s by its name",
                                                            quote_text(arena, &quote), row->node->name),
                                     .kind = "assumed",
                                     .value = quote.gpu_hour};
    for (int i = 0; i < record->assumption_count; i++) list[count++] = record->assumptions[i];
    *more = *record;
    more->assumptions = list;
    more->assumption_count = count;
    return more;
}

// The plan in front once more as a study: it lists what the answer stands on.
static const Record *record_of_first(Arena *arena, const PlanRequest *request, const PlanResult *result,
                                     bool with_timeline) {
    if (result->row_count == 0 || !result->rows[0].point.ran) return NULL;
    const PlanRow *row = &result->rows[0];
    Problems *problems = problems_create(arena);
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row->node, row->link, row->gpus, NULL, problems);
    if (!cluster) return NULL;
    StudySpec study = {.scenario = "lockstep plan",
                       .catalogue = request->catalogue,
                       .cluster = cluster->spec,
                       .training = row->training,
                       .want_timeline = with_timeline,
                       .seeds = 1};
    return with_assumed(arena, request, row, study_run(arena, &study, problems));
}

// What is not known of the answer and what else could be done, beside what would change it.
static void ask_further(Arena *arena, PlanAnswer *answer) {
    PlanWhatIfs *what_if = ARENA_NEW(arena, PlanWhatIfs);
    PlanUnknowns *unknowns = ARENA_NEW(arena, PlanUnknowns);
    PlanSettings *settings = ARENA_NEW(arena, PlanSettings);
    PlanShifts *shifts = ARENA_NEW(arena, PlanShifts);
    PlanReaches *reaches = ARENA_NEW(arena, PlanReaches);
    *what_if = plan_what_if(arena, answer->request, answer->result);
    *unknowns = plan_unknowns(arena, answer->request, answer->result);
    *settings = plan_settings(arena, answer->request, answer->result);
    *shifts = plan_shifts(answer->request, answer->result);
    answer->what_if = what_if;
    answer->unknowns = unknowns;
    answer->settings = settings;
    answer->shifts = shifts;
    *reaches = plan_reaches(answer->request, answer->result);
    answer->reaches = reaches;
}

// False when it was stopped before anything was shown.
static bool show(Arena *arena, const Options *options, Date today, PlanAnswer *answer) {
    if (option_flag(options, "csv")) {
        plan_write_csv(arena, answer);
        return true;
    }
    ask_further(arena, answer);
    if (watch_is_over()) return false;
    if (option_flag(options, "json")) {
        answer->chosen = record_of_first(arena, answer->request, answer->result, false);
        if (watch_is_over()) return false;
        plan_write_json(arena, answer);
        return true;
    }
    Style style = style_for(stdout, color_modes[option_choice(options, "color", 0)], option_flag(options, "plain"));
    style.today = today;
    if (style.width < 160) style.width = 160; // its table is wide; a terminal that is narrower folds it
    plan_print(arena, answer, &style);
    return true;
}

typedef struct Asked {
    const Options *options;
    PlanRequest request;
    Date today;
} Asked;

// False with the exit code in *status: nothing is to be searched.
static bool read_line(Arena *arena, int argc, char **argv, Asked *asked, int *status) {
    Problems *problems = problems_create(arena);
    int count = 0;
    const OptionSpec *specs = plan_option_rows(arena, &count);
    Options *options = options_parse(arena, specs, count, argc, argv, problems);
    *status = DONE;
    if (option_help(options)) {
        options_print_help(specs, count, usage, about, stdout);
        return false;
    }
    options_refuse_positional(options, 0, problems);
    option_require(options, NULL, "model", "for example --model llama-2-70b", problems);
    option_require(options, NULL, "node", "for example --node dgx-h100,dgx-a100", problems);
    bool by_date = option_given(options, "by") && (option_given(options, "tokens") || option_given(options, "samples"));
    if (!by_date)
        option_require(options, NULL, "gpus",
                       "for example --gpus 64:1024, or --by 30d with --tokens, which say how many", problems);
    plan_read_deadline(options, &asked->request, problems);
    if (problem_count(problems)) *status = fail(problems, BAD_USAGE);
    if (*status != DONE) return false;
    asked->options = options;
    asked->request.catalogue = catalogue_with_options(arena, options, problems);
    if (asked->request.catalogue) {
        plan_read_request(arena, options, &asked->request, problems);
        asked->today = date_or_today(option_text(options, "date", NULL), problems);
    }
    if (problem_count(problems)) *status = fail(problems, BAD_INPUT);
    return *status == DONE;
}

typedef struct Ways { // in which a plan is made and shown other than usual
    PlanRunner *runner;
    PlanShow *show;
    void *context;
} Ways;

// The same, by another's hand: everything that a plan knows is in the answer.
static bool show_otherwise(Arena *arena, const Ways *ways, PlanAnswer *answer, Problems *problems) {
    ask_further(arena, answer);
    if (!watch_is_over()) answer->chosen = record_of_first(arena, answer->request, answer->result, true);
    return !watch_is_over() && ways->show(ways->context, arena, answer, problems);
}

static int run_plan(Arena *arena, int argc, char **argv, const Ways *ways) {
    Problems *problems = problems_create(arena);
    Asked asked = {0};
    int status;
    if (!read_line(arena, argc, argv, &asked, &status)) return status;
    watch_open_from(asked.options, option_quantity(asked.options, "time-limit", WATCH_USUAL_SECONDS));
    PlanParts parts = plan_parts(arena, &asked.request, ways->runner || asked.request.jobs > 1);
    PlanResult result = ways->runner ? ways->runner(ways->context, arena, &parts, problems)
                                     : plan_search_parts(arena, &parts, NULL, problems);
    if (problem_count(problems)) return fail(problems, watch_is_over() ? watch_status(BAD_INPUT) : FAILED);
    PlanAnswer answer = {.request = &asked.request,
                         .result = &result,
                         .profile = option_text(asked.options, "profile", NULL),
                         .all_rows = option_flag(asked.options, "all")};
    for (int i = 1; i < argc; i++) option_words_add(arena, &answer.words, argv[i]);
    bool shown = !watch_is_over() && (ways->show ? show_otherwise(arena, ways, &answer, problems)
                                                 : show(arena, asked.options, asked.today, &answer));
    if (!shown && problem_count(problems)) return fail(problems, FAILED);
    if (!shown) {
        watch_tells(command_line, problems);
        return fail(problems, watch_status(BAD_INPUT));
    }
    if (result.searched < result.cluster_count) {
        problem_add(problems, command_line, "stopped early: the answer is of %d of %d clusters", result.searched,
                    result.cluster_count);
        return fail(problems, watch_status(BAD_INPUT));
    }
    return result.chosen >= 0 ? DONE : ANSWER_IS_NO;
}

static int command_in(int argc, char **argv, const Ways *ways) {
    Arena *arena = arena_open();
    int status = run_plan(arena, argc, argv, ways);
    watch_close();
    arena_close(arena);
    return status;
}

int command_plan_with(int argc, char **argv, PlanRunner *runner, void *context) {
    return command_in(argc, argv, &(Ways){.runner = runner, .context = context});
}

int command_plan_shown(int argc, char **argv, PlanShow *shown, void *context) {
    return command_in(argc, argv, &(Ways){.show = shown, .context = context});
}

int command_plan(int argc, char **argv) { return command_in(argc, argv, &(Ways){.show = NULL}); }

PlanParts *plan_of_command_line(Arena *arena, int argc, char **argv, int *status) {
    Asked *asked = ARENA_NEW(arena, Asked);
    if (!read_line(arena, argc, argv, asked, status)) return NULL;
    PlanParts *parts = ARENA_NEW(arena, PlanParts);
    *parts = plan_parts(arena, &asked->request, true);
    return parts;
}
