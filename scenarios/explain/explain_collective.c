// What decides the time of one collective at one size: its latency or a link, at which sizes that changes, what other
// algorithms and protocols would take, and the same collective on machines of which one resource is twice as quick.
#include "scenarios/explain/explain_collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/commands/collective_asked.h"
#include "results/screen.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/file.h"
#include "sim/list.h"
#include "sim/text.h"
#include "sim/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, BAD_INPUT = 4 };

#define MATTERS 0.005        // of the time: what gains less is said not to help
#define SMALLEST 8.0         // bytes: between these sizes changes of the choice are looked for
#define LARGEST 17179869184. // 16 GiB
#define CLOSE_ENOUGH 1.01    // a size at which something changes is known to a hundredth
#define LARGEST_BALANCE 1e15 // bytes

static const char usage[] = "lockstep explain collective OP --node NAME --sizes SIZE [OPTIONS of lockstep collective]";
static const char about[] =
    "Says what decides the time of a collective at one size: latency, a link inside or between nodes, the NICs; at\n"
    "which sizes algorithm, protocol or what decides change; what each other algorithm and protocol would take; and\n"
    "what it would take on a machine with one resource twice as quick, simulated again.\n\n"
    "  lockstep explain collective all_reduce --node dgx-h100 --nodes 4 --fabric ib-ndr --sizes 64M\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

// Of the network, NICs and links by themselves, and with what is inside nodes; the rest is in resources[].
static const Resource halves[] = {
    {"nic", "NICs alone", false, {{PART_NODE, "nic_bandwidth"}}},
    {"fabric", "links of the fabric alone", false, {{PART_FABRIC, "line_rate"}}},
    {"links",
     "network and the NVLink",
     false,
     {{PART_FABRIC, "line_rate"},
      {PART_NODE, "nic_bandwidth"},
      {PART_GPU, "nvlink_bandwidth"},
      {PART_GPU, "nvlink_link_bandwidth"}}},
};
enum { HALVES = sizeof halves / sizeof *halves };

typedef struct Priced { // one collective
    const char *algorithm, *protocol, *limit;
    int channels;
    double seconds, latency_s, bytes_s; // the first is the sum of the others
} Priced;

typedef struct Trial { // another way, or another machine
    const char *name, *title;
    Priced priced;
    double gain_s;
} Trial;

typedef struct Trials {
    Trial *items;
    int count, room;
} Trials;

typedef struct Choice { // from this size on
    double bytes;
    Priced priced;
} Choice;

typedef struct Choices {
    Choice *items;
    int count, room;
} Choices;

typedef struct Explained {
    Arena *arena;
    const Options *options;
    CollectiveAsked asked;
    double bytes, low_s, high_s; // 90 % range
    Priced now;
    Trials ways, machines; // quickest first
    Choices choices;
    double balance_bytes; // latency and bytes take as long there, this way; NAN: nowhere
} Explained;

// ---- One price.

static Priced price(Arena *arena, const CollectiveAsked *asked, const CollectiveRequest *request) {
    CollectivePlan plan = collective_plan(arena, asked->cluster->network, request);
    double bytes_s = fmin(plan.moving_seconds, plan.alone_seconds);
    return (Priced){.algorithm = plan.algorithm,
                    .protocol = plan.protocol < PROTOCOL_COUNT ? protocol_names[plan.protocol] : "-",
                    .limit = arena_copy_text(arena, collective_limit(asked, &plan)),
                    .channels = plan.channels,
                    .seconds = plan.alone_seconds,
                    .latency_s = plan.alone_seconds - bytes_s,
                    .bytes_s = bytes_s};
}

static CollectiveRequest request_of(const CollectiveAsked *asked, double bytes) {
    CollectiveRequest request = asked->request;
    request.bytes = floor(bytes + 0.5);
    request.pair_bytes = collective_pairs(asked, request.bytes);
    return request;
}

static Priced price_size(Arena *arena, const CollectiveAsked *asked, double bytes) {
    CollectiveRequest request = request_of(asked, bytes);
    return price(arena, asked, &request);
}

static bool same_way(const Priced *one, const Priced *other) {
    return strcmp(one->algorithm, other->algorithm) == 0 && strcmp(one->protocol, other->protocol) == 0;
}

static int by_seconds(const void *a, const void *b) {
    const Trial *one = a, *other = b;
    if (one->priced.seconds != other->priced.seconds) return one->priced.seconds < other->priced.seconds ? -1 : 1;
    return strcmp(one->title, other->title);
}

static void sort_trials(Trials *list) {
    if (list->count > 0) qsort(list->items, (size_t)list->count, sizeof *list->items, by_seconds);
}

static void add_trial(Explained *all, Trials *list, const char *name, const char *title, const Priced *priced) {
    LIST_PUSH(all->arena, list, ((Trial){name, title, *priced, all->now.seconds - priced->seconds}));
}

// ---- Other algorithms and protocols, asked for by name.

static const char *way_text(Arena *arena, const Priced *priced) {
    return *priced->protocol == '-' ? priced->algorithm
                                    : arena_printf(arena, "%s %s", priced->algorithm, priced->protocol);
}

// NCCL takes collnet only where switches reduce, which nothing here knows.
static const char *title_of_way(Arena *arena, const Priced *priced) {
    const char *way = way_text(arena, priced);
    return strcmp(priced->algorithm, "collnet") == 0 ? arena_printf(arena, "%s (switches that reduce)", way) : way;
}

static void try_way(Explained *all, const char *algorithm, int protocol) {
    CollectiveRequest request = request_of(&all->asked, all->bytes);
    Protocol wanted = (Protocol)protocol;
    request.algorithm = algorithm;
    request.protocol = protocol < PROTOCOL_COUNT ? &wanted : NULL;
    CollectivePlan plan = collective_plan(all->arena, all->asked.cluster->network, &request);
    if (!collective_is_as_asked(&request, &plan)) return;
    Priced priced = price(all->arena, &all->asked, &request);
    if (same_way(&priced, &all->now)) return;
    for (int i = 0; i < all->ways.count; i++)
        if (same_way(&all->ways.items[i].priced, &priced)) return;
    add_trial(all, &all->ways, priced.algorithm, title_of_way(all->arena, &priced), &priced);
}

static void try_ways(Explained *all) {
    for (int a = 0; a < COLLECTIVE_FLUID_ALGORITHMS && watch_goes_on(0); a++)
        for (int p = 0; p <= PROTOCOL_COUNT; p++) try_way(all, collective_algorithms[a], p);
    sort_trials(&all->ways);
}

// ---- Sizes at which something changes.

// The first size above `low`, to a hundredth, from which it is not done as at `low`; at `high` it is done otherwise.
static double size_of_change(const Explained *all, const Priced *as, double low, double high) {
    Arena *scratch = arena_open();
    while (high / low > CLOSE_ENOUGH && high - low > 1) {
        double middle = floor(sqrt(low * high) + 0.5);
        Priced priced = price_size(scratch, &all->asked, middle);
        if (same_way(as, &priced))
            low = middle;
        else
            high = middle;
    }
    arena_close(scratch);
    return high;
}

static void list_choices(Explained *all) {
    double before = SMALLEST;
    LIST_PUSH(all->arena, &all->choices, ((Choice){before, price_size(all->arena, &all->asked, before)}));
    for (double bytes = 2 * before; bytes <= LARGEST && watch_goes_on(0); bytes *= 2) {
        const Priced *last = &all->choices.items[all->choices.count - 1].priced;
        Priced here = price_size(all->arena, &all->asked, bytes);
        // Between two sizes there may be several changes; each is looked for from the one before.
        while (!same_way(last, &here)) {
            double at = size_of_change(all, last, before, bytes);
            LIST_PUSH(all->arena, &all->choices, ((Choice){at, price_size(all->arena, &all->asked, at)}));
            last = &all->choices.items[all->choices.count - 1].priced;
            before = at;
        }
        before = bytes;
    }
}

// Done as it is now, below this size latency is more than half of it.
static double balance_of(const Explained *all) {
    CollectiveAsked asked = all->asked;
    Protocol protocol = PROTOCOL_COUNT;
    for (int p = 0; p < PROTOCOL_COUNT; p++)
        if (strcmp(protocol_names[p], all->now.protocol) == 0) protocol = (Protocol)p;
    asked.request.algorithm = all->now.algorithm;
    asked.request.protocol = protocol < PROTOCOL_COUNT ? &protocol : NULL;
    double low = 1, high = LARGEST_BALANCE;
    Arena *scratch = arena_open();
    Priced least = price_size(scratch, &asked, low), most = price_size(scratch, &asked, high);
    bool crosses = least.bytes_s < least.latency_s && most.bytes_s > most.latency_s;
    while (crosses && high / low > CLOSE_ENOUGH && high - low > 1) {
        double middle = sqrt(low * high);
        Priced priced = price_size(scratch, &asked, middle);
        if (priced.bytes_s < priced.latency_s)
            low = middle;
        else
            high = middle;
    }
    arena_close(scratch);
    return crosses ? high : NAN;
}

// ---- Other machines.

static void try_machine(Explained *all, const char *name, const char *title, const Resource *resource, bool flat) {
    CollectiveAsked asked = all->asked;
    asked.problems = problems_create(all->arena);
    asked.resource = resource;
    asked.quicker = 2;
    asked.flat = flat;
    collective_build(&asked, all->options);
    if (problem_count(asked.problems) || !watch_goes_on(0)) return;
    Priced priced = price_size(all->arena, &asked, all->bytes);
    add_trial(all, &all->machines, name, title, &priced);
}

static void try_resource(Explained *all, const Resource *resource) {
    const Gpu *gpu = all->asked.cluster->gpu_of[0];
    if (!part_can_be_quicker(PART_GPU, gpu, resource, 2)) return;
    const char *title = arena_printf(all->arena, resource->is_time ? "half the %s" : "twice the %s", resource->title);
    try_machine(all, resource->name, title, resource, false);
}

static bool concerns_collectives(const Resource *resource) {
    static const char *const others[] = {"matrix", "storage"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(resource->name, others[i]) == 0) return false;
    return true;
}

static void try_machines(Explained *all) {
    bool between = all->asked.cluster->node_count > 1;
    for (int r = 0; r < resource_count; r++)
        if (concerns_collectives(&resources[r])) try_resource(all, &resources[r]);
    for (int r = 0; r < HALVES && between; r++) try_resource(all, &halves[r]);
    if (between) try_machine(all, "tiers", "one switch in place of the fabric's tiers", NULL, true);
    sort_trials(&all->machines);
}

// ---- In words.

static const char *size_text(Arena *arena, double bytes) {
    char text[32];
    return arena_copy_text(arena, quantity_format(bytes, QUANTITY_BYTES, text, sizeof text));
}

// What kind of link it is, by its name: links inside nodes are called after the node, those of NICs after them.
static const char *kind_of_limit(const char *link) {
    if (strstr(link, ".nic")) return "a NIC";
    if (strstr(link, "nvlink") || strstr(link, "nvswitch")) return "NVLink";
    if (strstr(link, "pcie") || strstr(link, "socket") || strstr(link, "host")) return "inside a node";
    return "between nodes";
}

static void say_time(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Priced *now = &all->now;
    const Cluster *cluster = all->asked.cluster;
    say(arena, words,
        arena_printf(arena, "It takes %s (90 %% range %s to %s) on %d GPUs of %d node%s: %s on %d channel%s.",
                     text_time(arena, now->seconds), text_time(arena, all->low_s), text_time(arena, all->high_s),
                     cluster->gpu_count, cluster->node_count, cluster->node_count == 1 ? "" : "s", way_text(arena, now),
                     now->channels, now->channels == 1 ? "" : "s"));
}

static void say_decides(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Priced *now = &all->now;
    const char *latency = text_percent(arena, now->latency_s / now->seconds),
               *bytes = text_percent(arena, now->bytes_s / now->seconds);
    const char *over = strcmp(now->limit, "latency") == 0
                           ? "as fast as software moves them"
                           : arena_printf(arena, "over %s (%s)", now->limit, kind_of_limit(now->limit));
    if (now->bytes_s >= now->latency_s)
        say(arena, words, arena_printf(arena, "Bytes decide it: %s, %s; latency is %s.", bytes, over, latency));
    else
        say(arena, words, arena_printf(arena, "Latency decides it: %s; bytes, %s, are %s.", latency, over, bytes));
    if (!isnan(all->balance_bytes))
        say(arena, words,
            arena_printf(arena, "With %s both take as long at %s.", way_text(arena, now),
                         size_text(arena, all->balance_bytes)));
}

static void say_choices(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Choices *choices = &all->choices;
    if (all->asked.request.algorithm && all->asked.request.protocol) return;
    if (choices->count == 1) {
        say(arena, words,
            arena_printf(arena, "From %s to %s it is %s.", size_text(arena, SMALLEST), size_text(arena, LARGEST),
                         way_text(arena, &choices->items[0].priced)));
        return;
    }
    for (int i = 1; i < choices->count; i++) {
        const Choice *next = &choices->items[i];
        if (next->bytes <= all->bytes && i + 1 < choices->count && choices->items[i + 1].bytes <= all->bytes) continue;
        bool below = next->bytes <= all->bytes;
        say(arena, words,
            below ? arena_printf(arena, "Below %s it would be %s.", size_text(arena, next->bytes),
                                 way_text(arena, &choices->items[i - 1].priced))
                  : arena_printf(arena, "From %s on it would be %s.", size_text(arena, next->bytes),
                                 way_text(arena, &next->priced)));
        if (!below) break;
    }
}

static void say_ways(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    if (all->ways.count == 0) {
        say(arena, words, "There is no other algorithm or protocol for it on this machine.");
        return;
    }
    const Trial *best = &all->ways.items[0];
    if (best->gain_s > 0)
        say(arena, words,
            arena_printf(arena, "%s would save %s (%s): ask for it by name, and measure.", best->title,
                         text_time(arena, best->gain_s), text_percent(arena, best->gain_s / all->now.seconds)));
    else
        say(arena, words,
            arena_printf(arena, "No other algorithm or protocol is quicker; %s would take %s.", best->title,
                         text_time(arena, best->priced.seconds)));
}

static void say_machines(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const char *helps = "", *useless = "";
    for (int i = 0; i < all->machines.count; i++) {
        const Trial *trial = &all->machines.items[i];
        double part = trial->gain_s / all->now.seconds;
        if (part >= MATTERS)
            helps = listed(arena, helps,
                           arena_printf(arena, "%s saves %s (%s)", trial->title, text_time(arena, trial->gain_s),
                                        text_percent(arena, part)));
        else if (part > -MATTERS)
            useless = listed(arena, useless, trial->title);
    }
    if (*helps) say(arena, words, arena_printf(arena, "Of the machine, %s.", helps));
    if (*useless)
        say(arena, words, arena_printf(arena, "What would not help, below half a percent each: %s.", useless));
}

// ---- As tables.

static const RecordColumn time_columns[] = {
    {"part", "part", RECORD_TEXT}, {"seconds", "time", RECORD_SECONDS}, {"share", "share", RECORD_SHARE}};

static RecordTable time_table(const Explained *all) {
    Cells cells = {0};
    const Priced *now = &all->now;
    const double parts[] = {now->latency_s, now->bytes_s};
    static const char *const names[] = {"latency", "bytes"};
    for (int i = 0; i < 2; i++) {
        text_cell(all->arena, &cells, names[i]);
        number_cell(all->arena, &cells, parts[i]);
        number_cell(all->arena, &cells, parts[i] / now->seconds);
    }
    return table_of("time", "Where the time goes", COLUMNS(time_columns), &cells);
}

// On the screen ways are called by what they are, machines by what they save: as much as fits a line.
static const RecordColumn way_columns[] = {
    {"name", NULL, RECORD_TEXT},         {"title", "asked for", RECORD_TEXT},      {"seconds", "takes", RECORD_SECONDS},
    {"gain_s", "saves", RECORD_SECONDS}, {"gain_share", "of it", RECORD_SHARE},    {"latency_s", NULL, RECORD_SECONDS},
    {"done_by", NULL, RECORD_TEXT},      {"limited_by", "limited by", RECORD_TEXT}};

static const RecordColumn machine_columns[] = {
    {"name", NULL, RECORD_TEXT},         {"title", "machine", RECORD_TEXT},        {"seconds", NULL, RECORD_SECONDS},
    {"gain_s", "saves", RECORD_SECONDS}, {"gain_share", "of it", RECORD_SHARE},    {"latency_s", NULL, RECORD_SECONDS},
    {"done_by", "done by", RECORD_TEXT}, {"limited_by", "limited by", RECORD_TEXT}};

static RecordTable trials_table(const Explained *all, const Trials *list, const char *name, const char *title,
                                const RecordColumn *columns, int column_count) {
    Cells cells = {0};
    for (int i = 0; i < list->count; i++) {
        const Trial *trial = &list->items[i];
        text_cell(all->arena, &cells, trial->name);
        text_cell(all->arena, &cells, trial->title);
        number_cell(all->arena, &cells, trial->priced.seconds);
        number_cell(all->arena, &cells, trial->gain_s);
        number_cell(all->arena, &cells, trial->gain_s / all->now.seconds);
        number_cell(all->arena, &cells, trial->priced.latency_s);
        text_cell(all->arena, &cells, way_text(all->arena, &trial->priced));
        text_cell(all->arena, &cells, trial->priced.limit);
    }
    return table_of(name, title, columns, column_count, &cells);
}

static const RecordColumn choice_columns[] = {
    {"from_bytes", NULL, RECORD_NUMBER},        {"from", "from", RECORD_TEXT},
    {"done_by", "done by", RECORD_TEXT},        {"seconds", "takes there", RECORD_SECONDS},
    {"latency_share", "latency", RECORD_SHARE}, {"limited_by", "limited by", RECORD_TEXT}};

static RecordTable choices_table(const Explained *all) {
    Cells cells = {0};
    for (int i = 0; i < all->choices.count; i++) {
        const Choice *choice = &all->choices.items[i];
        number_cell(all->arena, &cells, choice->bytes);
        text_cell(all->arena, &cells, size_text(all->arena, choice->bytes));
        text_cell(all->arena, &cells, way_text(all->arena, &choice->priced));
        number_cell(all->arena, &cells, choice->priced.seconds);
        number_cell(all->arena, &cells, choice->priced.latency_s / choice->priced.seconds);
        text_cell(all->arena, &cells, choice->priced.limit);
    }
    return table_of("choices", "How it is done, by size", COLUMNS(choice_columns), &cells);
}

enum { TABLES = 4 };

static Record record_of(const Explained *all) {
    Words words = {0};
    say_time(all, &words);
    say_decides(all, &words);
    say_choices(all, &words);
    say_ways(all, &words);
    say_machines(all, &words);
    RecordTable *tables = ARENA_ARRAY(all->arena, RecordTable, TABLES);
    tables[0] = time_table(all);
    tables[1] =
        trials_table(all, &all->ways, "ways", "Other algorithms and protocols, at this size", COLUMNS(way_columns));
    tables[2] = choices_table(all);
    tables[3] = trials_table(all, &all->machines, "machines", "Other machines, simulated again, the choice made anew",
                             COLUMNS(machine_columns));
    const char *op = collective_op_name(all->asked.request.op), *backend = backend_name(all->asked.request.backend);
    bool sized = all->asked.request.op != COLLECTIVE_BARRIER;
    return (Record){
        .title = sized ? arena_printf(all->arena, "%s of %s over %s", op, size_text(all->arena, all->bytes), backend)
                       : arena_printf(all->arena, "%s over %s", op, backend),
        .scenario = "lockstep explain collective",
        .notes = words.items,
        .note_count = words.count,
        .tables = tables,
        .table_count = TABLES};
}

// ---- The command.

// Of machines that gain nothing, which stand behind those that gain, a sentence tells.
static int idle_machines(const Explained *all) {
    int count = 0;
    while (count < all->machines.count && all->machines.items[all->machines.count - 1 - count].gain_s <= 0) count++;
    return count;
}

static void print_answer(const Explained *all, const Record *record) {
    Style style = style_for(stdout, NULL, false);
    Screen screen = {stdout, arena_open(), record, &style, false, NULL, 0};
    print_title(stdout, record, &style);
    for (int i = 0; i < record->table_count; i++) {
        RecordTable table = record->tables[i];
        if (strcmp(table.name, "machines") == 0) table.row_count = all->machines.count - idle_machines(all);
        if (table.row_count > 0) screen_table(&screen, &table);
    }
    arena_close(screen.arena);
}

static void find_out(Explained *all) {
    CollectiveAsked *asked = &all->asked;
    CollectiveRequest request = request_of(asked, all->bytes);
    CollectivePlan plan = collective_plan(all->arena, asked->cluster->network, &request);
    collective_refuse_another(asked, &plan);
    if (problem_count(asked->problems)) return;
    all->now = price(all->arena, asked, &request);
    double spread = collective_spread(asked->cluster->network, &request, asked->assumed, asked->assumed_count);
    all->low_s = all->now.seconds * exp(-RANGE_90 * spread);
    all->high_s = all->now.seconds * exp(RANGE_90 * spread);
    all->balance_bytes = NAN;
    try_ways(all);
    if (asked->request.op != COLLECTIVE_BARRIER) {
        list_choices(all);
        all->balance_bytes = balance_of(all);
    }
    try_machines(all);
    watch_tells((Where){0}, asked->problems);
}

static void check_size(Explained *all) {
    const CollectiveAsked *asked = &all->asked;
    all->bytes = asked->first;
    bool said = option_given(all->options, "sizes") || option_given(all->options, "matrix");
    if (asked->request.op == COLLECTIVE_BARRIER || (said && asked->first == asked->last)) return;
    if (!said && problem_count(asked->problems)) return;
    if (option_given(all->options, "matrix") && !option_given(all->options, "sizes")) return;
    problem_add(asked->problems, (Where){0}, "explain takes a collective of one size");
    problem_hint(asked->problems, "say which, in bytes or with K, M, G: --sizes 64M");
}

static int explain(Explained *all) {
    Problems *problems = all->asked.problems;
    collective_ask(&all->asked, all->options);
    check_size(all);
    if (problem_count(problems)) return problems_print(problems, stderr), BAD_USAGE;
    watch_open_from(all->options, option_quantity(all->options, "time-limit", WATCH_USUAL_SECONDS));
    collective_build(&all->asked, all->options);
    all->bytes = floor(all->asked.first + 0.5);
    if (!problem_count(problems)) find_out(all);
    int status = watch_status(BAD_INPUT);
    watch_close();
    if (problem_count(problems)) return problems_print(problems, stderr), status;
    Record record = record_of(all);
    if (option_flag(all->options, "json"))
        explain_write_json(stdout, &record, "explain-collective");
    else
        print_answer(all, &record);
    return DONE;
}

int explain_collective(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, collective_rows, collective_row_count, argc, argv, problems);
    Explained *all = ARENA_NEW(arena, Explained);
    *all = (Explained){.arena = arena, .options = options, .asked = {.arena = arena, .problems = problems}};
    int status = DONE;
    if (option_help(options))
        options_print_help(collective_rows, collective_row_count, usage, about, stdout);
    else
        status = explain(all);
    arena_close(arena);
    return status;
}
