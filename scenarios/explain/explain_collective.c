// Explanation of one collective's time at one size: its latency or a link, the sizes at which that changes, the times
// of other algorithms and protocols, and the same collective on machines of which one resource is twice as fast.
#include "scenarios/explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/questions/collective_asked.h"
#include "scenarios/whatif/whatif.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"

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

// Parts of the network: NICs and links separately, and with links inside nodes; the rest is in resources[].
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

typedef struct Choice { // from this size on
    double bytes;
    Priced priced;
} Choice;

typedef LIST_OF(Choice) Choices;

typedef struct Explained {
    Arena *arena;
    const Options *options;
    CollectiveAsked asked;
    double bytes, low_s, high_s; // 90 % range
    Priced now;
    WhatIfs ways, machines; // quickest first
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

static void add_trial(Explained *all, WhatIfs *list, const Move *move, const Priced *priced) {
    Priced *price = ARENA_NEW(all->arena, Priced);
    *price = *priced;
    Gain gain = {all->now.seconds - priced->seconds, NAN, NAN, NAN, NAN};
    LIST_PUSH(all->arena, list,
              ((WhatIf){.move = move,
                        .title = move->title,
                        .ran = true,
                        .then = priced->seconds,
                        .gain = gain,
                        .cost = NAN,
                        .price = price}));
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
        if (same_way(all->ways.items[i].price, &priced)) return;
    Move *move = ARENA_NEW(all->arena, Move);
    *move = (Move){.kind = MOVE_SETTING, .name = priced.algorithm, .title = title_of_way(all->arena, &priced)};
    add_trial(all, &all->ways, move, &priced);
}

static void try_ways(Explained *all) {
    for (int a = 0; a < COLLECTIVE_FLUID_ALGORITHMS && watch_goes_on(0); a++)
        for (int p = 0; p <= PROTOCOL_COUNT; p++) try_way(all, collective_algorithms[a], p);
    whatif_rank(&all->ways);
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

static const Move one_switch = {
    .kind = MOVE_RESOURCE, .name = "tiers", .title = "one switch in place of the fabric's tiers"};

static void try_machine(Explained *all, const Move *move) {
    CollectiveAsked asked = all->asked;
    asked.problems = problems_create(all->arena);
    asked.resource = move->resource;
    asked.quicker = 2;
    asked.flat = move == &one_switch;
    collective_build(&asked, all->options);
    if (problem_count(asked.problems) || !watch_goes_on(0)) return;
    Priced priced = price_size(all->arena, &asked, all->bytes);
    add_trial(all, &all->machines, move, &priced);
}

static void try_resource(Explained *all, const Resource *resource) {
    const Gpu *gpu = all->asked.cluster->gpu_of[0];
    if (part_can_be_quicker(PART_GPU, gpu, resource, 2)) try_machine(all, move_of_resource(all->arena, resource));
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
    if (between) try_machine(all, &one_switch);
    whatif_rank(&all->machines);
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

// Who decides: latency, or bytes over which link.
static const char *decides(const Explained *all) {
    Arena *arena = all->arena;
    const Priced *now = &all->now;
    const char *over = arena_printf(arena, "over %s (%s)", now->limit, kind_of_limit(now->limit));
    if (strcmp(now->limit, "latency") == 0) over = "as fast as software moves them";
    if (strcmp(now->limit, SOCKETS_LIMIT) == 0)
        over = "as fast as the host's sockets move them, so that faster cards are no help";
    const char *balance = isnan(all->balance_bytes)
                              ? ""
                              : arena_printf(arena, "; with %s both take as long at %s", way_text(arena, now),
                                             size_text(arena, all->balance_bytes));
    const char *bytes = arena_printf(arena, "%s bytes, %s", text_percent(arena, now->bytes_s / now->seconds), over),
               *latency = arena_printf(arena, "%s latency", text_percent(arena, now->latency_s / now->seconds));
    bool most_bytes = now->bytes_s >= now->latency_s;
    return arena_printf(arena, "%s; %s%s", most_bytes ? bytes : latency, most_bytes ? latency : bytes, balance);
}

static void add_lead(Answer *answer, const Explained *all) {
    Arena *arena = all->arena;
    const Priced *now = &all->now;
    const Cluster *cluster = all->asked.cluster;
    answer_say(answer, NULL, "%s takes %s (nine times in ten %s to %s): %s.", answer_heading(answer),
               text_time(arena, now->seconds), text_time(arena, all->low_s), text_time(arena, all->high_s),
               now->bytes_s >= now->latency_s ? "bytes decide it" : "latency decides it");
    answer_say(answer, "On", "%d GPUs of %d node%s: %s on %d channel%s", cluster->gpu_count, cluster->node_count,
               cluster->node_count == 1 ? "" : "s", way_text(arena, now), now->channels, now->channels == 1 ? "" : "s");
    answer_say(answer, "Why", "%s", decides(all));
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "seconds", NULL, AS_SECONDS, now->seconds);
    answer_number(answer, "low_s", NULL, AS_SECONDS, all->low_s);
    answer_number(answer, "high_s", NULL, AS_SECONDS, all->high_s);
    answer_text(answer, "done_by", NULL, way_text(arena, now));
    answer_text(answer, "limited_by", NULL, now->limit);
    answer_number(answer, "balance_bytes", NULL, AS_BYTES, all->balance_bytes);
    answer_close(answer);
}

static void add_sizes(Answer *answer, const Explained *all) {
    Arena *arena = all->arena;
    const Choices *choices = &all->choices;
    if ((all->asked.request.algorithm && all->asked.request.protocol) || choices->count == 0) return;
    const char *text = choices->count > 1
                           ? ""
                           : arena_printf(arena, "from %s to %s it is %s", size_text(arena, SMALLEST),
                                          size_text(arena, LARGEST), way_text(arena, &choices->items[0].priced));
    for (int i = 1; i < choices->count; i++) {
        const Choice *next = &choices->items[i];
        if (next->bytes <= all->bytes && i + 1 < choices->count && choices->items[i + 1].bytes <= all->bytes) continue;
        bool below = next->bytes <= all->bytes;
        text = arena_printf(arena, "%s%s%s %s it would be %s", text, *text ? ", " : "", below ? "below" : "from",
                            arena_printf(arena, below ? "%s" : "%s on", size_text(arena, next->bytes)),
                            way_text(arena, below ? &choices->items[i - 1].priced : &next->priced));
        if (!below) break;
    }
    answer_say(answer, "Sizes", "%s", text);
}

static void add_change(Answer *answer, const Explained *all) {
    Arena *arena = all->arena;
    const WhatIf *best = all->ways.count > 0 ? &all->ways.items[0] : NULL;
    if (!best)
        answer_say(answer, "Change", "nothing: there is no other algorithm or protocol for it on this machine");
    else if (best->gain.mean > 0)
        answer_say(answer, "Change", "%s would save %s (%s): ask for it by name, and measure", best->title,
                   text_time(arena, best->gain.mean), text_percent(arena, best->gain.mean / all->now.seconds));
    else
        answer_say(answer, "Change", "nothing: no other algorithm or protocol is quicker; %s would take %s",
                   best->title, text_time(arena, best->then));
}

static void add_machines(Answer *answer, const Explained *all) {
    const char *helps = whatif_saves(all->arena, &all->machines, all->now.seconds, all->machines.count),
               *useless = whatif_below(all->arena, &all->machines, all->now.seconds);
    if (*helps) answer_say(answer, "Machine", "%s", helps);
    if (*useless) answer_say(answer, "No help", "below half a percent each: %s", useless);
}

// ---- As tables.

static void add_time_table(Answer *answer, const Explained *all) {
    static const AnswerColumn columns[] = {
        {"part", "part", AS_TEXT, 0}, {"seconds", "time", AS_SECONDS, 0}, {"share", "share", AS_SHARE, 0}};
    const double parts[] = {all->now.latency_s, all->now.bytes_s};
    answer_table(answer, "time", "Where the time goes", COLUMNS(columns));
    for (int i = 0; i < 2; i++) {
        ANSWER_ROW(answer, i ? "bytes" : "latency", parts[i], parts[i] / all->now.seconds);
    }
}

// Displayed columns: alternatives by their names, machines by their savings. JSON has all columns.
static const AnswerColumn way_columns[] = {
    {"name", NULL, AS_TEXT, 0},         {"title", "asked for", AS_TEXT, 0},      {"seconds", "takes", AS_SECONDS, 0},
    {"gain_s", "saves", AS_SECONDS, 0}, {"gain_share", "of it", AS_SHARE, 2},    {"latency_s", NULL, AS_SECONDS, 0},
    {"done_by", NULL, AS_TEXT, 0},      {"limited_by", "limited by", AS_TEXT, 1}};

static const AnswerColumn machine_columns[] = {
    {"name", NULL, AS_TEXT, 0},         {"title", "machine", AS_TEXT, 0},        {"seconds", NULL, AS_SECONDS, 0},
    {"gain_s", "saves", AS_SECONDS, 0}, {"gain_share", "of it", AS_SHARE, 0},    {"latency_s", NULL, AS_SECONDS, 0},
    {"done_by", "done by", AS_TEXT, 2}, {"limited_by", "limited by", AS_TEXT, 1}};

static void add_trials(Answer *answer, const Explained *all, const WhatIfs *list, const char *key, const char *title,
                       const AnswerColumn *columns, int column_count) {
    answer_table(answer, key, title, columns, column_count);
    for (int i = 0; i < list->count; i++) {
        const WhatIf *trial = &list->items[i];
        ANSWER_CELLS(answer, trial->move->name, trial->title, answer_of(AS_SECONDS, trial->then),
                     answer_of(AS_SECONDS, trial->gain.mean), answer_of(AS_SHARE, trial->gain.mean / all->now.seconds),
                     answer_of(AS_SECONDS, trial->price->latency_s), way_text(all->arena, trial->price),
                     trial->price->limit);
    }
}

static void add_choices(Answer *answer, const Explained *all) {
    static const AnswerColumn columns[] = {
        {"from_bytes", NULL, AS_NUMBER, 0},        {"from", "from", AS_TEXT, 0},
        {"done_by", "done by", AS_TEXT, 0},        {"seconds", "takes there", AS_SECONDS, 0},
        {"latency_share", "latency", AS_SHARE, 0}, {"limited_by", "limited by", AS_TEXT, 1}};
    answer_table(answer, "choices", "How it is done, by size", COLUMNS(columns));
    for (int i = 0; i < all->choices.count; i++) {
        const Choice *choice = &all->choices.items[i];
        ANSWER_ROW(answer, choice->bytes, size_text(all->arena, choice->bytes), way_text(all->arena, &choice->priced),
                   choice->priced.seconds, choice->priced.latency_s / choice->priced.seconds, choice->priced.limit);
    }
}

static void explained(Answer *answer, const Explained *all) {
    const char *op = collective_op_name(all->asked.request.op), *backend = backend_name(all->asked.request.backend);
    bool sized = all->asked.request.op != COLLECTIVE_BARRIER;
    answer_rename(answer, "explain-collective");
    answer_title(answer,
                 sized ? arena_printf(all->arena, "%s of %s over %s", op, size_text(all->arena, all->bytes), backend)
                       : arena_printf(all->arena, "%s over %s", op, backend));
    add_lead(answer, all);
    add_sizes(answer, all);
    add_change(answer, all);
    add_machines(answer, all);
    answer_detail(answer, FOR_VERBOSE);
    add_time_table(answer, all);
    add_trials(answer, all, &all->ways, "ways", "Other algorithms and protocols, at this size", COLUMNS(way_columns));
    add_choices(answer, all);
    add_trials(answer, all, &all->machines, "machines", "Other machines, simulated again, the choice made anew",
               COLUMNS(machine_columns));
}

// ---- The command.

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

static int ask(Asking *asking) {
    Explained *all = ARENA_NEW(asking->arena, Explained);
    *all = (Explained){.arena = asking->arena,
                       .options = asking->options,
                       .asked = {.arena = asking->arena, .problems = asking->problems}};
    collective_ask(&all->asked, all->options);
    check_size(all);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    collective_build(&all->asked, all->options);
    all->bytes = floor(all->asked.first + 0.5);
    if (!problem_count(asking->problems)) find_out(all);
    if (problem_count(asking->problems)) return watch_status(EXIT_BAD_INPUT);
    explained(asking->answer, all);
    return EXIT_DONE;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    static const char *const of_the_frame[] = {"json", "csv", "plain", "verbose"};
    return options_without(arena, collective_rows, collective_row_count, of_the_frame, 4, count);
}

const Question explain_collective_question = {
    .name = "collective", .usage = usage, .about = about, .rows = rows, .positional = 1, .ask = ask};
