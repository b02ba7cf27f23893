// The cost difference of two designs, attributed to their differing properties.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/hardware/market.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/questions/cost.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define HOUR 3600.0

static const char *const forms[] = {"a", "b"};

// clang-format off
const OptionSpec compare_options[] = {
    {"a", OPTION_TEXT, "DESIGN", .of = OF_RUN, .help = "the first of two designs to compare: options of lockstep run in quotes, or FILE.lua with some"},
    {"b", OPTION_TEXT, "DESIGN", .of = OF_RUN, .help = "the second"},
    {"both", OPTION_TEXT, "OPTIONS", .of = OF_RUN, .help = "options of lockstep run that both designs have: \"--model llama-2-70b --tokens 1T\""},
};
// clang-format on
const int compare_option_count = sizeof compare_options / sizeof *compare_options;

bool compare_is_asked(const Options *options) {
    return option_given(options, "a") || option_given(options, "b") || option_given(options, "both");
}

// ---- Attribution.

enum { FACTOR_SAMPLES, FACTOR_SECONDS, FACTOR_LONGER, FACTOR_PRICE, FACTOR_COUNT };

static double sum_of(const DesignRows *rows) {
    double sum = 0;
    for (int i = 0; i < rows->count; i++) sum += rows->items[i].value;
    return sum;
}

static void factors_of(const Design *design, double factors[FACTOR_COUNT]) {
    factors[FACTOR_SAMPLES] = design->samples;
    factors[FACTOR_SECONDS] = sum_of(&design->seconds) / HOUR;
    factors[FACTOR_LONGER] = design->longer;
    factors[FACTOR_PRICE] = sum_of(&design->prices);
}

// The Shapley weight of a set S of the other three: |S|! (3 - |S|)! / 4!.
static double weight_of(int others) {
    static const double weights[] = {6.0 / 24, 2.0 / 24, 2.0 / 24, 6.0 / 24};
    return weights[others];
}

// What a unit of one factor is worth: the mean product of the others over all orders of changing.
static double worth_of(int factor, const double a[FACTOR_COUNT], const double b[FACTOR_COUNT]) {
    double worth = 0;
    for (int set = 0; set < 1 << FACTOR_COUNT; set++) {
        if (set >> factor & 1) continue;
        double product = 1;
        int changed = 0;
        for (int other = 0; other < FACTOR_COUNT; other++) {
            if (other == factor) continue;
            bool is_changed = set >> other & 1;
            product *= is_changed ? b[other] : a[other];
            changed += is_changed;
        }
        worth += weight_of(changed) * product;
    }
    return worth;
}

typedef LIST_OF(CompareRow) RowList;

static const DesignRow *row_called(const DesignRows *rows, const char *name) {
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].name, name) == 0) return &rows->items[i];
    return NULL;
}

static void add_row(Arena *arena, RowList *list, CompareRow row, double worth) {
    row.cost = (row.b - row.a) * worth;
    if (row.a != 0 || row.b != 0) LIST_PUSH(arena, list, row);
}

static void add_rows(Arena *arena, RowList *list, CompareRow row, const DesignRows *a, const DesignRows *b,
                     double worth) {
    for (int i = 0; i < a->count; i++) {
        const DesignRow *own = &a->items[i], *other = row_called(b, own->name);
        row.name = own->name, row.title = own->title, row.a = own->value, row.b = other ? other->value : 0;
        add_row(arena, list, row, worth);
    }
    for (int i = 0; i < b->count; i++) {
        const DesignRow *own = &b->items[i];
        if (row_called(a, own->name)) continue;
        row.name = own->name, row.title = own->title, row.a = 0, row.b = own->value;
        add_row(arena, list, row, worth);
    }
}

static int by_cost(const void *a, const void *b) {
    const CompareRow *x = a, *y = b;
    double more = fabs(y->cost) - fabs(x->cost);
    return more != 0 ? (more > 0) - (more < 0) : strcmp(x->name, y->name);
}

Comparison designs_compare(Arena *arena, const Design *a, const Design *b) {
    double of_a[FACTOR_COUNT], of_b[FACTOR_COUNT], worth[FACTOR_COUNT];
    Comparison comparison = {.a = *a, .b = *b};
    RowList list = {0};
    factors_of(a, of_a);
    factors_of(b, of_b);
    for (int f = 0; f < FACTOR_COUNT; f++) worth[f] = worth_of(f, of_a, of_b);
    const CompareRow samples = {NULL, "samples", "Length of the run", "samples", a->samples, b->samples, 0},
                     longer = {NULL, "longer", "Failures, checkpoints", "time/work", a->longer, b->longer, 0},
                     rest = {NULL, "rest", "Minimum billing, whole terms, once", "money", a->rest, b->rest, 0},
                     seconds = {.group = "GPU-seconds a sample", .unit = "GPU-s/sample"},
                     prices = {.group = "price of a GPU-hour", .unit = "GPU-hour"};
    add_row(arena, &list, samples, worth[FACTOR_SAMPLES]);
    add_rows(arena, &list, seconds, &comparison.a.seconds, &comparison.b.seconds, worth[FACTOR_SECONDS] / HOUR);
    add_row(arena, &list, longer, worth[FACTOR_LONGER]);
    add_rows(arena, &list, prices, &comparison.a.prices, &comparison.b.prices, worth[FACTOR_PRICE]);
    add_row(arena, &list, rest, 1);
    if (list.count > 0) qsort(list.items, (size_t)list.count, sizeof *list.items, by_cost);
    comparison.rows = list.items;
    comparison.row_count = list.count;
    return comparison;
}

// ---- The answer.

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define FIRST_SETTINGS 4 // on the first screen, with what the runs cost and how long they are
#define FIRST_ROWS 5     // on the first screen

static const char *figure(Arena *arena, double value) { return text_figures(arena, value, 4); }

static void add_figures(Arena *arena, Answer *answer, double a, double b) {
    ANSWER_CELLS(answer, answer_shown(AS_NUMBER, a, figure(arena, a)), answer_shown(AS_NUMBER, b, figure(arena, b)));
    answer_cell(answer,
                answer_shown(AS_NUMBER, b - a, arena_printf(arena, "%s%s", b > a ? "+" : "", figure(arena, b - a))));
}

static AnswerValue more_money(Arena *arena, double amount, const char *currency) {
    const char *text = text_money(arena, amount, currency);
    return answer_shown(AS_MONEY, amount, amount > 0 ? arena_printf(arena, "+%s", text) : text);
}

static void add_settings(Arena *arena, Answer *answer, const Comparison *comparison) {
    static const AnswerColumn columns[] = {{NULL, "setting", AS_TEXT, 0},
                                           {NULL, "a", AS_NUMBER, 0},
                                           {NULL, "b", AS_NUMBER, 0},
                                           {NULL, "difference", AS_NUMBER, 0}};
    const Design *a = &comparison->a, *b = &comparison->b;
    answer_table(answer, NULL, NULL, columns, COUNT_OF(columns));
    ANSWER_CELLS(answer, "cost of the run", answer_of(AS_MONEY, a->cost), answer_of(AS_MONEY, b->cost),
                 more_money(arena, b->cost - a->cost, a->currency), "days");
    add_figures(arena, answer, a->days, b->days);
    for (int i = 0; i < a->settings.count && i < b->settings.count; i++) {
        const DesignRow *row = &a->settings.items[i], *other = &b->settings.items[i];
        if (row->value == other->value) continue;
        answer_cell(answer, answer_of_text(row->title));
        add_figures(arena, answer, row->value, other->value);
    }
    answer_first_rows(answer, FIRST_SETTINGS);
}

static void add_rows_of(Arena *arena, Answer *answer, const Comparison *comparison) {
    static const AnswerColumn columns[] = {
        {"name", NULL, AS_TEXT, 0},         {NULL, "what differs", AS_TEXT, 0}, {"unit", NULL, AS_TEXT, 0},
        {NULL, "unit", AS_TEXT, 0},         {"a", "a", AS_NUMBER, 0},           {"b", "b", AS_NUMBER, 0},
        {NULL, "difference", AS_NUMBER, 1}, {"cost", "costs", AS_MONEY, 0},
    };
    int differ = 0;
    answer_table(answer, "rows", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < comparison->row_count; i++) {
        const CompareRow *row = &comparison->rows[i];
        differ += row->cost != 0;
        ANSWER_CELLS(answer, row->name, row->title, row->group, row->unit);
        add_figures(arena, answer, row->a, row->b);
        answer_cell(answer, more_money(arena, row->cost, comparison->a.currency));
    }
    answer_first_rows(answer, differ == 0 ? 1 : differ < FIRST_ROWS ? differ : FIRST_ROWS);
}

static void add_design(Answer *answer, const char *key, const char *words, const Design *design) {
    answer_open(answer, key, NULL);
    answer_text(answer, "design", key, words);
    answer_number(answer, "cost_per_run", NULL, AS_MONEY, design->cost);
    answer_number(answer, "days", NULL, AS_NUMBER, design->days);
    answer_open(answer, "settings", NULL);
    for (int i = 0; i < design->settings.count; i++)
        answer_number(answer, design->settings.items[i].name, NULL, AS_WHOLE, design->settings.items[i].value);
    answer_close(answer);
    answer_close(answer);
}

static void add_lead(Arena *arena, Answer *answer, const Comparison *comparison) {
    double a = comparison->a.cost, b = comparison->b.cost;
    const char *currency = comparison->a.currency;
    if (a == b)
        answer_say(answer, NULL, "A run of either costs %s.", text_money(arena, a, currency));
    else
        answer_say(answer, NULL, "A run of b costs %s, %s %s than one of a, %s (%+.0f %%).",
                   text_money(arena, b, currency), text_money(arena, fabs(b - a), currency), b > a ? "more" : "less",
                   text_money(arena, a, currency), 100 * (b / a - 1));
}

// `words`: of each design, as the user wrote them.
static void add_comparison(Arena *arena, Answer *answer, const Comparison *comparison, const char *const words[2]) {
    answer_rename(answer, "cost-comparison");
    answer_currency(answer, arena_copy_text(arena, comparison->a.currency));
    add_lead(arena, answer, comparison);
    answer_text(answer, "currency", NULL, arena_copy_text(arena, comparison->a.currency));
    add_design(answer, "a", words[0], &comparison->a);
    add_design(answer, "b", words[1], &comparison->b);
    answer_number(answer, "difference", NULL, AS_MONEY, comparison->b.cost - comparison->a.cost);
    add_settings(arena, answer, comparison);
    add_rows_of(arena, answer, comparison);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(answer, "Each row",
               "is the mean over all orders in which length, speed, failures and price could have "
               "changed; all rows add up to the difference.");
    answer_close(answer);
}

// ---- The question.

static const char *const price_words[] = {"--price", "--provider", "--terms", "--among", "--region"};

static bool says_price(const char *words) {
    for (size_t i = 0; i < sizeof price_words / sizeof *price_words; i++)
        if (strstr(words, price_words[i])) return true;
    return false;
}

// The node that the words name, after the last --node; NULL: none.
static const NodeType *node_of(Arena *arena, const Catalogue *catalogue, const char *words) {
    const NodeType *node = NULL;
    for (const char *at = strstr(words, "--node"); at; at = strstr(at, "--node")) {
        at += strlen("--node");
        if (*at != ' ' && *at != '=') continue;
        at += strspn(at, " =");
        node = catalogue_node(catalogue, arena_printf(arena, "%.*s", (int)strcspn(at, " "), at));
    }
    return node;
}

// Comparable prices: if no design has a price, the median over the providers that have the GPUs of both.
static const char *price_of_both(Arena *arena, const char *a, const char *b) {
    const Catalogue *catalogue = catalogue_builtin(arena);
    const NodeType *nodes[] = {node_of(arena, catalogue, a), node_of(arena, catalogue, b)};
    if (says_price(a) || says_price(b) || !nodes[0] || !nodes[1]) return "";
    const PriceWish wish = {.terms = TERMS_ON_DEMAND};
    int count;
    const char *const *common = quote_common_providers(arena, catalogue, nodes, 2, &wish, &count);
    const char *words = " --terms on_demand";
    for (int i = 0; i < count; i++) words = arena_printf(arena, "%s%s%s", words, i ? "," : " --among ", common[i]);
    return words;
}

static bool sound_request(const Options *options, Problems *problems) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (option_given(options, forms[i])) continue;
        problem_add(problems, (Where){0}, "--%s is missing: two designs are compared", forms[i]);
        return problem_hint(problems,
                            "--a=\"--node dgx-h100 --gpus 64\" --b=\"--node dgx-h200 --gpus 32\" --both=\"--model …\"");
    }
    return true;
}

int compare_designs(Asking *asking) {
    Arena *arena = asking->arena;
    Problems *problems = asking->problems;
    const Options *options = asking->options;
    if (!sound_request(options, problems)) return EXIT_USAGE;
    Design designs[2];
    const char *both = option_text(options, "both", ""), *words[2], *said[2];
    for (int i = 0; i < 2; i++) {
        said[i] = option_text(options, forms[i], "");
        words[i] = arena_printf(arena, "%s %s", said[i], both);
    }
    const char *price = price_of_both(arena, words[0], words[1]);
    for (int i = 0; i < 2; i++) {
        int status;
        words[i] = arena_printf(arena, "%s%s", words[i], price);
        if (!design_simulate(arena, words[i], &designs[i], &status, problems)) return status;
    }
    if (strcmp(designs[0].currency, designs[1].currency) != 0) {
        problem_add(problems, (Where){0}, "one design is paid in %s, the other in %s", designs[0].currency,
                    designs[1].currency);
        problem_hint(problems, "add --currency USD to both");
        return EXIT_BAD_INPUT;
    }
    Comparison *comparison = ARENA_NEW(arena, Comparison); // rows of it are in the answer
    *comparison = designs_compare(arena, &designs[0], &designs[1]);
    add_comparison(arena, asking->answer, comparison, said);
    if (*price)
        answer_say(asking->answer, "Price", "none was said: on demand, %s; --price or --provider in --both says yours",
                   strstr(price, "--among") ? "of providers that have both"
                                            : "each of all its own providers, for nobody has both");
    if (designs[0].cost != designs[1].cost)
        answer_next(asking->answer,
                    arena_printf(arena, "lockstep run %s", words[designs[1].cost < designs[0].cost ? 1 : 0]),
                    "the cheaper one");
    return EXIT_DONE;
}

// ---- One design's run.

// From `lockstep run` in a child process: a script's sandbox holds for that process alone, and two designs are
// simulated concurrently on two cores.

static void put_text(char *into, const char *text) { snprintf(into, DESIGN_TEXT, "%s", text ? text : ""); }

static void put_row(DesignRows *rows, const char *name, const char *title, double value) {
    if (rows->count == DESIGN_ROWS) return;
    DesignRow *row = &rows->items[rows->count++];
    put_text(row->name, name);
    put_text(row->title, title ? title : name);
    row->value = value;
}

static void put_settings(Design *design, const RecordPoint *point) {
    const struct {
        const char *name;
        double value;
    } rows[] = {{"GPUs", point->gpu_count},
                {"nodes", point->node_count},
                {"tp", point->tp},
                {"pp", point->pp},
                {"vpp", point->vpp},
                {"dp", point->dp},
                {"cp", point->cp},
                {"ep", point->ep},
                {"zero", point->zero},
                {"micro-batch", point->micro_batch},
                {"global batch", point->global_batch}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put_row(&design->settings, rows[i].name, NULL, rows[i].value);
}

// Parts of a step are means over GPUs; a difference from the step is reported, too.
static void add_seconds(Design *design, const RecordPoint *point) {
    double per_sample = point->gpu_count / point->global_batch;
    for (int i = 0; i < point->exposed_count; i++)
        put_row(&design->seconds, point->exposed[i].name, point->exposed[i].title,
                point->exposed[i].value * per_sample);
    double all = point->step_p50_s * per_sample, missing = all - sum_of(&design->seconds);
    if (fabs(missing) > 1e-9 * all) put_row(&design->seconds, "other", "Anything else", missing);
}

static void set_design(Design *design, const RecordPoint *point) {
    double work_s = point->steps * point->step_p50_s, hours = point->days * 24;
    snprintf(design->currency, sizeof design->currency, "%s", point->currency ? point->currency : "USD");
    design->samples = point->steps * point->global_batch;
    double longer = hours * HOUR / work_s;
    design->longer = fabs(longer - 1) < 1e-9 ? 1 : longer;
    design->days = point->days;
    design->gpus = point->gpu_count;
    design->cost = point->cost_per_run;
    add_seconds(design, point);
    for (int i = 0; i < point->cost_line_count; i++)
        put_row(&design->prices, point->cost_lines[i].name, point->cost_lines[i].title,
                point->cost_lines[i].value / point->gpu_count);
    double hourly = design->samples * design->longer * sum_of(&design->seconds) / HOUR * sum_of(&design->prices);
    design->rest = design->cost - hourly;
    if (fabs(design->rest) < 1e-9 * fabs(design->cost)) design->rest = 0;
    put_settings(design, point);
}

// ---- The run.

typedef struct DesignResult {
    Design design;
    char why_not[512], hint[256]; // "" where there is a design
} DesignResult;

typedef struct Asked {
    DesignResult *result;
} Asked;

static void refuse(DesignResult *result, const char *why_not, const char *hint) {
    snprintf(result->why_not, sizeof result->why_not, "%s", why_not);
    snprintf(result->hint, sizeof result->hint, "%s", hint);
}

static bool take_point(void *context, const Asking *asking) {
    const RunAnswer *answer = asking->found;
    DesignResult *result = ((Asked *)context)->result;
    int points = 0;
    const RecordPoint *point = NULL;
    for (int i = 0; i < answer->record_count; i++)
        for (int k = 0; k < answer->records[i]->point_count; k++, points++) point = &answer->records[i]->points[k];
    if (points != 1)
        refuse(result, arena_printf(asking->arena, "it has %d configurations, and one is compared", points),
               "name one of them: leave out what it varies");
    else if (!point->ran)
        refuse(result, arena_printf(asking->arena, "it does not run: %s", point->why_not), "lockstep memory says more");
    else if (!isfinite(point->days) || point->days <= 0)
        refuse(result, "it does not say how long its run is", "add --tokens 1T, or samples and epochs");
    else if (!isfinite(point->cost_per_run))
        refuse(result, "nobody says what its machines cost", "add --price 2.49, --provider NAME or --terms on_demand");
    else
        set_design(&result->design, point);
    return true;
}

typedef LIST_OF(char *) Words;

// "run", then the words between spaces.
static Words words_of(Arena *arena, const char *text) {
    Words words = {0};
    LIST_PUSH(arena, &words, arena_copy_text(arena, "run"));
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        size_t length = strcspn(at, " \t\n");
        LIST_PUSH(arena, &words, arena_printf(arena, "%.*s", (int)length, at));
        at += length;
    }
    LIST_PUSH(arena, &words, NULL);
    words.count--;
    return words;
}

static int run_in_child(const Words *words, FILE *into) {
    DesignResult *result = calloc(1, sizeof *result);
    if (!result) return EXIT_FAILED;
    Asked asked = {result};
    int status = frame_show(&run_question, words->count, words->items, take_point, &asked);
    bool answered = status == EXIT_DONE || status == EXIT_NO; // EXIT_NO: it does not run, which is an answer
    bool written = !answered || fwrite(result, sizeof *result, 1, into) == 1;
    free(result);
    return fflush(into) == 0 && written ? status : EXIT_FAILED;
}

bool design_simulate(Arena *arena, const char *words, Design *design, int *status, Problems *problems) {
    Words list = words_of(arena, words);
    FILE *answer = tmpfile();
    DesignResult *result = ARENA_NEW(arena, DesignResult);
    *status = EXIT_FAILED;
    if (!answer) return problem_add(problems, (Where){0}, "no temporary file can be opened");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(run_in_child(&list, answer));
    int ended = 0;
    bool sound = child > 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended);
    *status = sound ? WEXITSTATUS(ended) : EXIT_FAILED;
    rewind(answer);
    bool is_complete = (*status == EXIT_DONE || *status == EXIT_NO) && fread(result, sizeof *result, 1, answer) == 1;
    fclose(answer);
    if (!is_complete) {
        problem_add(problems, (Where){0}, "the design \"%s\" was not simulated", words);
        problem_hint(problems, "try it alone: lockstep run %s", words);
        if (*status == EXIT_DONE || *status == EXIT_NO) *status = EXIT_FAILED;
        return false;
    }
    *design = result->design;
    if (!result->why_not[0]) return true;
    *status = EXIT_BAD_INPUT;
    problem_add(problems, (Where){0}, "the design \"%s\" cannot be compared: %s", words, result->why_not);
    return problem_hint(problems, "%s", result->hint);
}
