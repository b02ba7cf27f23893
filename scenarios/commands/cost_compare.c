// The difference between two designs' costs, attributed to what differs; its screen, JSON and CSV.
#include "scenarios/commands/cost_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/quote.h"
#include "models/workload/cluster/rent_options.h"
#include "sim/csv.h"
#include "sim/envelope.h"
#include "sim/json.h"
#include "sim/list.h"
#include "sim/text.h"

enum { DONE = 0, BAD_USAGE = 2, BAD_INPUT = 4 };

#define HOUR 3600.0

static const char *const forms[] = {"a", "b"};

// clang-format off
const OptionSpec compare_options[] = {
    {"a", OPTION_TEXT, "DESIGN", .of = OF_RUN, .help = "the first of two designs to compare: options of lockstep run in quotes, or FILE.lua with some"},
    {"b", OPTION_TEXT, "DESIGN", .of = OF_RUN, .help = "the second"},
    {"both", OPTION_TEXT, "OPTIONS", .of = OF_RUN, .help = "options of lockstep run that both designs have: \"--model llama-2-70b --tokens 1T\""},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "the rows of --a and --b as CSV"},
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

// The Shapley weight of a set of so many of the other three: |S|! (3 - |S|)! / 4!.
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

typedef struct RowList {
    CompareRow *items;
    int count, room;
} RowList;

static const DesignRow *row_called(const DesignRows *rows, const char *name) {
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].name, name) == 0) return &rows->items[i];
    return NULL;
}

static void add_row(Arena *arena, RowList *list, const char *group, const char *name, const char *title, double a,
                    double b, double worth) {
    CompareRow row = {group, name, title, a, b, (b - a) * worth};
    if (a != 0 || b != 0) LIST_PUSH(arena, list, row);
}

static void add_rows(Arena *arena, RowList *list, const char *group, const DesignRows *a, const DesignRows *b,
                     double worth) {
    for (int i = 0; i < a->count; i++) {
        const DesignRow *row = &a->items[i], *other = row_called(b, row->name);
        add_row(arena, list, group, row->name, row->title, row->value, other ? other->value : 0, worth);
    }
    for (int i = 0; i < b->count; i++) {
        const DesignRow *row = &b->items[i];
        if (!row_called(a, row->name)) add_row(arena, list, group, row->name, row->title, 0, row->value, worth);
    }
}

Comparison designs_compare(Arena *arena, const Design *a, const Design *b) {
    double of_a[FACTOR_COUNT], of_b[FACTOR_COUNT], worth[FACTOR_COUNT];
    Comparison comparison = {.a = *a, .b = *b};
    RowList list = {0};
    factors_of(a, of_a);
    factors_of(b, of_b);
    for (int f = 0; f < FACTOR_COUNT; f++) worth[f] = worth_of(f, of_a, of_b);
    add_row(arena, &list, NULL, "samples", "Length of the run, samples", a->samples, b->samples, worth[FACTOR_SAMPLES]);
    add_rows(arena, &list, "GPU-seconds a sample", &comparison.a.seconds, &comparison.b.seconds,
             worth[FACTOR_SECONDS] / HOUR);
    add_row(arena, &list, NULL, "longer", "Failures and checkpoints, time over work", a->longer, b->longer,
            worth[FACTOR_LONGER]);
    add_rows(arena, &list, "price of a GPU-hour", &comparison.a.prices, &comparison.b.prices, worth[FACTOR_PRICE]);
    add_row(arena, &list, NULL, "rest", "Minimum billing, and what is paid once", a->rest, b->rest, 1);
    comparison.rows = list.items;
    comparison.row_count = list.count;
    return comparison;
}

// ---- The screen.

static const char *figure(Arena *arena, double value) { return text_figures(arena, value, 4); }

static void print_settings(Arena *arena, const Comparison *comparison, const Style *style) {
    const Design *a = &comparison->a, *b = &comparison->b;
    Table *table = table_create(arena);
    table_column(table, "setting", false);
    table_column(table, "a", true);
    table_column(table, "b", true);
    for (int i = 0; i < a->settings.count && i < b->settings.count; i++) {
        if (a->settings.items[i].value == b->settings.items[i].value) continue;
        table_cell(table, "%s", a->settings.items[i].title);
        table_cell(table, "%s", figure(arena, a->settings.items[i].value));
        table_cell(table, "%s", figure(arena, b->settings.items[i].value));
        table_end_row(table);
    }
    table_cell(table, "days");
    table_cell(table, "%s", figure(arena, a->days));
    table_cell(table, "%s", figure(arena, b->days));
    table_end_row(table);
    table_cell(table, "cost of the run");
    table_cell(table, "%s", text_money(arena, a->cost, a->currency));
    table_cell(table, "%s", text_money(arena, b->cost, b->currency));
    table_end_row(table);
    table_print(table, stdout, style);
}

static const char *signed_money(Arena *arena, double amount, const char *currency) {
    const char *text = text_money(arena, amount, currency);
    return amount > 0 ? arena_printf(arena, "+%s", text) : text;
}

static void print_rows(Arena *arena, const Comparison *comparison, const Style *style) {
    Table *table = table_create(arena);
    double sum = 0;
    table_column(table, "difference", false);
    table_column(table, "a", true);
    table_column(table, "b", true);
    table_column(table, "costs", true);
    for (int i = 0; i < comparison->row_count; i++) {
        const CompareRow *row = &comparison->rows[i];
        sum += row->cost;
        if (row->a == row->b) continue;
        table_cell(table, "%s%s%s", row->title, row->group ? ", " : "", row->group ? row->group : "");
        table_cell(table, "%s", figure(arena, row->a));
        table_cell(table, "%s", figure(arena, row->b));
        table_cell(table, "%s", signed_money(arena, row->cost, comparison->a.currency));
        table_end_row(table);
    }
    table_cell(table, "All");
    table_cell(table, "%s", text_money(arena, comparison->a.cost, comparison->a.currency));
    table_cell(table, "%s", text_money(arena, comparison->b.cost, comparison->a.currency));
    table_cell(table, "%s", signed_money(arena, sum, comparison->a.currency));
    table_end_row(table);
    table_print(table, stdout, style);
}

static void print_screen(Arena *arena, const Comparison *comparison, const char *price, const Style *style) {
    const Design *a = &comparison->a, *b = &comparison->b;
    printf("a           %s\nb           %s\n\n", a->name, b->name);
    print_settings(arena, comparison, style);
    printf("\nFrom a to b\n");
    print_rows(arena, comparison, style);
    if (*price) printf("No price was said:%s. --price or --provider in --both says yours.\n", price);
    printf("Each row is the mean over all orders in which length, speed, failures and price could have changed.\n");
}

// ---- For other programs.

static void design_json(JsonWriter *json, const char *key, const Design *design) {
    json_key(json, key);
    json_begin_object(json);
    json_key(json, "design");
    json_write_text(json, design->name);
    json_key(json, "cost_per_run");
    json_write_number(json, design->cost);
    json_key(json, "days");
    json_write_number(json, design->days);
    json_key(json, "settings");
    json_begin_object(json);
    for (int i = 0; i < design->settings.count; i++) {
        json_key(json, design->settings.items[i].name);
        json_write_number(json, design->settings.items[i].value);
    }
    json_end_object(json);
    json_end_object(json);
}

static void print_json(const Comparison *comparison) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "cost-comparison");
    json_key(&json, "currency");
    json_write_text(&json, comparison->a.currency);
    design_json(&json, "a", &comparison->a);
    design_json(&json, "b", &comparison->b);
    json_key(&json, "difference");
    json_write_number(&json, comparison->b.cost - comparison->a.cost);
    json_key(&json, "rows");
    json_begin_list(&json);
    for (int i = 0; i < comparison->row_count; i++) {
        const CompareRow *row = &comparison->rows[i];
        json_begin_object(&json);
        json_key(&json, "name");
        json_write_text(&json, row->name);
        json_key(&json, "unit");
        json_write_text(&json, row->group);
        json_key(&json, "a");
        json_write_number(&json, row->a);
        json_key(&json, "b");
        json_write_number(&json, row->b);
        json_key(&json, "cost");
        json_write_number(&json, row->cost);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static void print_csv(Arena *arena, const Comparison *comparison) {
    csv_titles(stdout, "row,unit,a,b,cost,currency");
    CsvWriter csv = csv_writer(stdout);
    for (int i = 0; i < comparison->row_count; i++) {
        const CompareRow *row = &comparison->rows[i];
        csv_text(&csv, row->name);
        csv_text(&csv, row->group);
        csv_figures(&csv, "%s,%s,%s", text_exact(arena, row->a), text_exact(arena, row->b),
                    text_exact(arena, row->cost));
        csv_text(&csv, comparison->a.currency);
        csv_end_row(&csv);
    }
}

// ---- The command.

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

// Like with like: where no design says a price, the median over the providers that have the GPUs of both.
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
        problem_hint(problems,
                     "--a=\"--node dgx-h100 --gpus 64\" --b=\"--node dgx-h200 --gpus 32\" --both=\"--model …\"");
        return false;
    }
    return true;
}

int compare_designs(Arena *arena, const Options *options, const Style *style, Problems *problems) {
    if (!sound_request(options, problems)) return BAD_USAGE;
    Design designs[2];
    const char *both = option_text(options, "both", ""), *words[2];
    for (int i = 0; i < 2; i++) words[i] = arena_printf(arena, "%s %s", option_text(options, forms[i], ""), both);
    const char *price = price_of_both(arena, words[0], words[1]);
    for (int i = 0; i < 2; i++) {
        int status;
        const char *line = arena_printf(arena, "%s%s", words[i], price);
        if (!design_simulate(arena, line, &designs[i], &status, problems)) return status;
        snprintf(designs[i].name, sizeof designs[i].name, "%s", option_text(options, forms[i], ""));
    }
    if (strcmp(designs[0].currency, designs[1].currency) != 0) {
        problem_add(problems, (Where){0}, "one design is paid in %s, the other in %s", designs[0].currency,
                    designs[1].currency);
        problem_hint(problems, "add --currency USD to both");
        return BAD_INPUT;
    }
    Comparison comparison = designs_compare(arena, &designs[0], &designs[1]);
    if (option_flag(options, "json"))
        print_json(&comparison);
    else if (option_flag(options, "csv"))
        print_csv(arena, &comparison);
    else
        print_screen(arena, &comparison, price, style);
    return DONE;
}
