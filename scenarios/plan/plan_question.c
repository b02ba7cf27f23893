// lockstep plan: number of GPUs, node and network, layout, cost and date.
#include "scenarios/plan/plan_question.h"

#include "models/workload/cluster/cluster_money.h"
#include "results/answer/frame.h"
#include "scenarios/export/export.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/system/watch.h"

static const Where command_line = {NULL, 0};

static const char usage[] = "lockstep plan --model NAME --node A,B --gpus N,M --tokens N --global-batch N [options]";
static const char about[] =
    "Finds the best layout on every cluster that comes into question and ranks the clusters.\n\n"
    "  lockstep plan --model llama-2-70b --tokens 2T --global-batch 1024 --node dgx-h100 --fabric ib-ndr400 \\\n"
    "                --gpus 512,1024,2048 --by 30d --budget 2M --price 2.49\n\n"
    "What the options below fix is not searched. Exit codes: 3 no plan keeps date and budget, 130 interrupted.";

// Puts the plan's defaults before the study's assumptions.
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

// The best plan once more as a study, for its list of assumptions.
static const Record *record_of_first(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    if (result->row_count == 0 || !result->rows[0].point.ran) return NULL;
    const PlanRow *row = &result->rows[0];
    Problems *problems = problems_create(arena);
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems);
    if (!cluster) return NULL;
    StudySpec study = {.scenario = "lockstep plan",
                       .catalogue = request->catalogue,
                       .cluster = cluster->spec,
                       .training = row->training,
                       .seeds = 1};
    return with_assumed(arena, request, row, study_run(arena, &study, problems));
}

// Computes the unknowns of the answer, alternatives, and conditions that would change it.
static void ask_further(PlanStudy *plan) {
    Arena *arena = plan->arena;
    plan->ranges = plan_ranges(arena, plan->request, plan->result);
    plan->unknowns = plan_unknowns(arena, plan->request, plan->result);
    plan->settings = plan_settings(arena, plan->request, plan->result);
    plan->shifts = plan_shifts(arena, plan->request, plan->result);
    plan->reaches = plan_reaches(arena, plan->request, plan->result);
    if (!watch_is_over()) plan->chosen = record_of_first(arena, plan->request, plan->result);
    if (!watch_is_over() && plan->request->as_packets && plan->result->row_count > 0)
        plan->packets = plan_step_as_packets(arena, plan->request, &plan->result->rows[0]);
}

// EXIT_DONE, or with problems the status: nothing is to be searched.
static int read_request(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    option_require(options, NULL, "model", "for example --model llama-2-70b", problems);
    option_require(options, NULL, "node", "for example --node dgx-h100,dgx-a100", problems);
    bool by_date = option_given(options, "by") && (option_given(options, "tokens") || option_given(options, "samples"));
    if (!by_date)
        option_require(options, NULL, "gpus",
                       "for example --gpus 64:1024, or --by 30d with --tokens, which say how many", problems);
    plan_read_deadline(options, request, problems);
    if (problem_count(problems)) return EXIT_USAGE;
    request->catalogue = catalogue_with_options(arena, options, problems);
    if (request->catalogue) plan_read_request(arena, options, request, problems);
    return problem_count(problems) ? EXIT_BAD_INPUT : EXIT_DONE;
}

typedef struct Hire { // in place of processes of our own
    PlanRunner *runner;
    void *context;
} Hire;

static PlanResult search(Asking *asking, const PlanRequest *request) {
    const Hire *hire = asking->context;
    PlanParts parts = plan_parts(asking->arena, request, hire || request->jobs > 1);
    return hire ? hire->runner(hire->context, asking->arena, &parts, asking->problems)
                : plan_search_parts(asking->arena, &parts, NULL, asking->problems);
}

static int status_of(Asking *asking, const PlanResult *result) {
    if (result->searched == result->cluster_count) return result->chosen >= 0 ? EXIT_DONE : EXIT_NO;
    problem_add(asking->problems, command_line, "stopped early: the answer is of %d of %d clusters", result->searched,
                result->cluster_count);
    asking->part = true;
    return watch_status(EXIT_BAD_INPUT);
}

// Exports the chosen plan as scripts, from its `run` command line. False after problems.
static bool export(Asking *asking, const PlanStudy *plan) {
    static const OptionSpec beside[] = {
        ANCHOR_OPTIONS,
        {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = ""},
        {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = ""},
        {"unfolded", OPTION_FLAG, .of = OF_QUESTION, .help = ""},
    };
    Arena *arena = asking->arena;
    int count, row_count;
    const char *const *words = plan_run_words(plan, &plan->result->rows[plan->result->chosen], &count);
    const OptionSpec *rows = options_with_study(arena, beside, sizeof beside / sizeof *beside, &row_count);
    char **argv = ARENA_ARRAY(arena, char *, count + 1);
    for (int i = 0; i < count; i++) argv[i] = arena_copy_text(arena, words[i]);
    const Options *options = options_parse(arena, rows, row_count, count, argv, asking->problems);
    if (problem_count(asking->problems)) return false;
    const StudySpec *study =
        study_from_options(arena, options, plan->request->catalogue, "lockstep plan", asking->problems);
    return study && export_asked(asking, study, options, true) == EXIT_DONE;
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    Problems *problems = asking->problems;
    const Options *options = asking->options;
    PlanRequest *request = ARENA_NEW(arena, PlanRequest);
    int status = read_request(arena, options, request, problems);
    Date today = status == EXIT_DONE ? date_or_today(option_text(options, "date", NULL), problems) : (Date){0};
    if (problem_count(problems)) return status == EXIT_DONE ? EXIT_BAD_INPUT : status;
    PlanResult *result = ARENA_NEW(arena, PlanResult);
    *result = search(asking, request);
    if (problem_count(problems)) return watch_is_over() ? watch_status(EXIT_BAD_INPUT) : EXIT_FAILED;
    PlanStudy plan = {.arena = arena,
                      .request = request,
                      .result = result,
                      .profile = option_text(options, "profile", NULL),
                      .today = today,
                      .all_rows = option_flag(options, "all")};
    for (int i = 1; i < asking->argc; i++) option_words_add(arena, &plan.words, asking->argv[i]);
    ask_further(&plan);
    if (watch_is_over()) {
        watch_tells(command_line, problems);
        return watch_status(EXIT_BAD_INPUT);
    }
    plan_answer(asking->answer, &plan);
    if (option_given(options, "export") && result->chosen >= 0 && !export(asking, &plan)) return EXIT_BAD_INPUT;
    return status_of(asking, result);
}

const Question plan_question = {.name = "plan", .usage = usage, .about = about, .rows = plan_rows, .ask = ask};

const OptionSpec *plan_option_rows(Arena *arena, int *count);
const OptionSpec *plan_option_rows(Arena *arena, int *count) { return frame_rows(arena, &plan_question, count); }

int command_plan(int argc, char **argv) { return frame_run(&plan_question, argc, argv); }

int command_plan_with(int argc, char **argv, PlanRunner *runner, void *context) {
    Hire hire = {runner, context};
    Question question = plan_question;
    question.context = &hire;
    return frame_run(&question, argc, argv);
}

PlanParts *plan_of_command_line(Arena *arena, int argc, char **argv) {
    Asking asking = {.arena = arena, .problems = problems_create(arena), .argc = argc, .argv = argv};
    frame_read(&plan_question, &asking);
    PlanRequest *request = ARENA_NEW(arena, PlanRequest);
    if (option_help(asking.options) || problem_count(asking.problems)) return NULL;
    if (read_request(arena, asking.options, request, asking.problems) != EXIT_DONE) return NULL;
    PlanParts *parts = ARENA_NEW(arena, PlanParts);
    *parts = plan_parts(arena, request, true);
    return parts;
}
