// Matching by sorting: calls that can match are sorted next to each other, then paired in the order they were made.
#include "scenarios/program/program.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/quantity.h"

#define PROBLEMS_OF_A_KIND 5
#define LINKS_MOST (NETWORK_ROUTE_LIMIT + 2)

// One call: its position, and its matching key.
typedef struct Entry {
    int32_t rank, stream, index, order;
    int32_t a, b; // SEND, RECV: from, to; COLLECTIVE: group, number of the stream's name
    int64_t tag;
    const RecordedOp *op;
} Entry;

typedef LIST_OF(Entry) EntryList;

typedef struct PlanKey { // of one plan of one channel
    uint8_t op;
    int32_t root;
    double bytes;
    const double *pairs;
} PlanKey;

typedef struct OpenChannel { // a channel that still gets plans
    int32_t channel;
    LIST_OF(Plan) plans;
    LIST_OF(PlanKey) keys;
} OpenChannel;

typedef struct Matcher {
    Arena *arena;
    const ProgramSpec *program;
    Problems *problems;
    Matched *matched;
    EntryList sends, receives, collectives;
    LIST_OF(const char *) stream_names;
    int32_t shared_storage_link, *disk_links;
    LinkBook *book; // of a program by messages
} Matcher;

// ---- Sentences.

const char *rank_list(Arena *arena, const int *ranks, int count) {
    enum { SHOWN = 8 };
    CHECK(count > 0);
    if (count == 1) return arena_printf(arena, "rank %d", ranks[0]);
    if (count > 2 && ranks[count - 1] - ranks[0] == count - 1)
        return arena_printf(arena, "ranks %d to %d", ranks[0], ranks[count - 1]);
    const char *list = "ranks";
    int shown = count <= SHOWN ? count : SHOWN;
    for (int i = 0; i < shown; i++)
        list = arena_printf(arena, "%s%s %d", list,
                            i == 0                             ? ""
                            : i == shown - 1 && shown == count ? " and"
                                                               : ",",
                            ranks[i]);
    return shown == count ? list : arena_printf(arena, "%s and %d more", list, count - shown);
}

static Where place_of(const Matcher *m, const RecordedOp *op) {
    const Label *label = &m->program->labels[op->label];
    return label->line > 0 ? (Where){label->file, label->line} : m->program->where;
}

// "at line 12"; of a trace, whose nodes have no lines, by name: `in "ncclAllReduce"`.
static const char *spot_of(const Matcher *m, const RecordedOp *op) {
    const Label *label = &m->program->labels[op->label];
    return label->line > 0 ? arena_printf(m->arena, "at line %d", label->line)
                           : arena_printf(m->arena, "in \"%.60s\"", label->name);
}

static const char *call_text(const Matcher *m, const RecordedOp *op) {
    char bytes[32];
    const char *name = m->program->labels[op->label].name, *kind = collective_op_name((CollectiveOp)op->op);
    const char *quoted = strcmp(name, kind) == 0 ? "" : arena_printf(m->arena, " \"%.40s\"", name);
    if (op->algorithm) quoted = arena_printf(m->arena, "%s by %s", quoted, op->algorithm);
    if (op->op == COLLECTIVE_BARRIER) return arena_printf(m->arena, "%s%s", kind, quoted);
    return arena_printf(m->arena, "%s%s of %s", kind, quoted,
                        quantity_format(op->bytes, QUANTITY_BYTES, bytes, sizeof bytes));
}

// ---- Collecting.

static int stream_name_number(Matcher *m, const char *name) {
    for (int i = 0; i < m->stream_names.count; i++)
        if (strcmp(m->stream_names.items[i], name) == 0) return i;
    LIST_PUSH(m->arena, &m->stream_names, name);
    return m->stream_names.count - 1;
}

static void collect_op(Matcher *m, Entry entry, int stream_name) {
    const RecordedOp *op = entry.op;
    entry.order = op->order;
    entry.tag = op->tag;
    if (op->kind == RECORDED_SEND) {
        entry.a = entry.rank;
        entry.b = op->peer;
        LIST_PUSH(m->arena, &m->sends, entry);
    } else if (op->kind == RECORDED_RECV) {
        entry.a = op->peer;
        entry.b = entry.rank;
        LIST_PUSH(m->arena, &m->receives, entry);
    } else if (op->kind == RECORDED_COLLECTIVE) {
        entry.a = op->group;
        entry.b = stream_name;
        LIST_PUSH(m->arena, &m->collectives, entry);
    }
}

static void collect(Matcher *m) {
    int ranks = m->program->cluster->gpu_count;
    m->matched->of = ARENA_ARRAY(m->arena, Meeting **, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        const RecordedRank *recorded = &m->program->ranks[rank];
        m->matched->of[rank] = ARENA_ARRAY(m->arena, Meeting *, recorded->count);
        for (int stream = 0; stream < recorded->count; stream++) {
            const RecordedStream *ops = &recorded->items[stream];
            Meeting *meetings = ARENA_ARRAY(m->arena, Meeting, ops->count);
            int name = stream_name_number(m, ops->name);
            m->matched->of[rank][stream] = meetings;
            for (int i = 0; i < ops->count; i++) {
                meetings[i] = (Meeting){-1, -1};
                collect_op(m, (Entry){.rank = rank, .stream = stream, .index = i, .op = &ops->items[i]}, name);
            }
        }
    }
}

// ---- Channels and plans.

static OpenChannel open_channel(Matcher *m, int member_count, int32_t label) {
    Channel channel = {.member_count = member_count, .label = label};
    LIST_PUSH(m->arena, &m->matched->channels, channel);
    return (OpenChannel){.channel = m->matched->channels.count - 1};
}

static void close_channel(Matcher *m, const OpenChannel *open) {
    Channel *channel = &m->matched->channels.items[open->channel];
    channel->plans = open->plans.items;
    channel->plan_count = open->plans.count;
}

static int32_t known_plan(const OpenChannel *open, PlanKey key) {
    for (int i = 0; i < open->keys.count; i++) {
        const PlanKey *known = &open->keys.items[i];
        if (known->op == key.op && known->root == key.root && known->bytes == key.bytes && known->pairs == key.pairs)
            return i;
    }
    return -1;
}

static int32_t add_plan(Matcher *m, OpenChannel *open, PlanKey key, Plan plan) {
    LIST_PUSH(m->arena, &open->plans, plan);
    LIST_PUSH(m->arena, &open->keys, key);
    return open->plans.count - 1;
}

static int32_t collective_plan_of(Matcher *m, OpenChannel *open, PlanKey key, const int *ranks, int rank_count) {
    int32_t known = known_plan(open, key);
    if (known >= 0) return known;
    CollectiveRequest request = {.op = (CollectiveOp)key.op,
                                 .backend = m->program->backend,
                                 .ranks = ranks,
                                 .rank_count = rank_count,
                                 .root = key.root,
                                 .bytes = key.bytes,
                                 .pair_bytes = key.pairs};
    return add_plan(m, open, key, collective_plan(m->arena, m->program->cluster->network, &request).plan);
}

// A message of a collective, or of a back end whose collectives are made of such messages.
static int32_t message_plan_of(Matcher *m, OpenChannel *open, const RecordedOp *op, const int *ranks) {
    PlanKey key = {COLLECTIVE_SEND_RECV, 0, op->bytes, NULL};
    const Network *network = m->program->cluster->network;
    if (!m->program->by_messages || (!op->flow && m->program->backend == BACKEND_NCCL))
        return collective_plan_of(m, open, key, ranks, 2);
    int32_t known = known_plan(open, key);
    if (known >= 0) return known;
    if (!op->flow)
        return add_plan(
            m, open, key,
            flow_lone_message(m->arena, network, m->book, m->program->backend, ranks[0], ranks[1], op->bytes));
    const FlowPlan *flow = m->program->flows[op->flow - 1];
    Channel *channel = &m->matched->channels.items[open->channel];
    channel->piped = flow_is_piped(flow);
    channel->lane = op->lane;
    return add_plan(m, open, key,
                    flow_message(m->arena, flow, m->book, flow_place(flow, ranks[0]), flow_place(flow, ranks[1]),
                                 op->way, op->bytes));
}

static void meet(Matcher *m, const Entry *entry, int32_t channel, int32_t plan) {
    m->matched->of[entry->rank][entry->stream][entry->index] = (Meeting){channel, plan};
}

// ---- Sends and receives: the i-th send of (from, to, tag) meets the i-th receive.

static int compare_keys(const Entry *x, const Entry *y) {
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static int order_calls(const void *x, const void *y) {
    const Entry *a = x, *b = y;
    int by_key = compare_keys(a, b);
    if (by_key) return by_key;
    if (a->rank != b->rank) return a->rank - b->rank;
    return a->order - b->order;
}

static void sort_entries(EntryList *list, int (*order)(const void *, const void *)) {
    if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, order);
}

static void report_unmatched(Matcher *m, const Entry *entry, bool is_send, int earlier, int *reported) {
    if (++*reported > PROBLEMS_OF_A_KIND) return;
    const char *before =
        earlier ? arena_printf(m->arena, " more than %d time%s", earlier, earlier == 1 ? "" : "s") : "";
    if (is_send)
        problem_add(m->problems, place_of(m, entry->op),
                    "deadlock: rank %d sends to rank %d with tag %lld, and rank %d never receives it%s", entry->a,
                    entry->b, (long long)entry->tag, entry->b, before);
    else
        problem_add(m->problems, place_of(m, entry->op),
                    "deadlock: rank %d waits in recv for rank %d with tag %lld, and rank %d never sends it%s", entry->b,
                    entry->a, (long long)entry->tag, entry->a, before);
    problem_hint(m->problems,
                 "every send needs a recv of the same two ranks and the same tag, and the other way round");
}

static bool check_sizes(Matcher *m, const Entry *send, const Entry *receive, int *reported) {
    char sent[32], expected[32];
    if (receive->op->bytes == 0 || receive->op->bytes == send->op->bytes) return true;
    if (++*reported > PROBLEMS_OF_A_KIND) return false;
    quantity_format(send->op->bytes, QUANTITY_BYTES, sent, sizeof sent);
    quantity_format(receive->op->bytes, QUANTITY_BYTES, expected, sizeof expected);
    problem_add(m->problems, place_of(m, receive->op),
                "rank %d expects %s from rank %d with tag %lld, which sends %s %s", receive->rank, expected, send->rank,
                (long long)send->tag, sent, spot_of(m, send->op));
    return problem_hint(m->problems, "leave bytes out of the recv to take what comes");
}

typedef struct Pair {
    const Entry *send, *receive;
    int index;
} Pair;

// Pairs of the same two ranks and streams share a channel.
static int order_pairs(const void *x, const void *y) {
    const Pair *a = x, *b = y;
    int by_key = compare_keys(a->send, b->send);
    if (by_key) return by_key;
    if (a->send->stream != b->send->stream) return a->send->stream - b->send->stream;
    if (a->receive->stream != b->receive->stream) return a->receive->stream - b->receive->stream;
    return a->index - b->index;
}

static bool same_channel(const Pair *a, const Pair *b) {
    return compare_keys(a->send, b->send) == 0 && a->send->stream == b->send->stream &&
           a->receive->stream == b->receive->stream;
}

static void join_pairs(Matcher *m, Pair *pairs, int count) {
    if (count) qsort(pairs, (size_t)count, sizeof *pairs, order_pairs);
    for (int first = 0, next; first < count; first = next) {
        int ranks[2] = {pairs[first].send->rank, pairs[first].receive->rank};
        OpenChannel open = open_channel(m, 2, pairs[first].receive->op->label);
        for (next = first; next < count && same_channel(&pairs[first], &pairs[next]); next++) {
            int32_t plan = message_plan_of(m, &open, pairs[next].send->op, ranks);
            meet(m, pairs[next].send, open.channel, plan);
            meet(m, pairs[next].receive, open.channel, plan);
        }
        close_channel(m, &open);
    }
}

static void match_messages(Matcher *m) {
    const Entry *sends = m->sends.items, *receives = m->receives.items;
    int s = 0, r = 0, count = 0, matched_before = 0, reported = 0;
    Pair *pairs = ARENA_ARRAY(m->arena, Pair, m->sends.count);
    while (s < m->sends.count || r < m->receives.count) {
        int side = s == m->sends.count ? 1 : r == m->receives.count ? -1 : compare_keys(&sends[s], &receives[r]);
        const Entry *last = count ? pairs[count - 1].send : NULL;
        const Entry *lone = side < 0 ? &sends[s] : side > 0 ? &receives[r] : NULL;
        if (lone) {
            bool same = last && compare_keys(last, lone) == 0;
            report_unmatched(m, lone, side < 0, same ? matched_before : 0, &reported);
            side < 0 ? s++ : r++;
            continue;
        }
        matched_before = last && compare_keys(last, &sends[s]) == 0 ? matched_before + 1 : 1;
        check_sizes(m, &sends[s], &receives[r], &reported);
        pairs[count] = (Pair){&sends[s++], &receives[r++], count};
        count++;
    }
    if (reported > PROBLEMS_OF_A_KIND)
        problem_add(m->problems, m->program->where, "and %d more sends and receives do not match",
                    reported - PROBLEMS_OF_A_KIND);
    if (reported == 0) join_pairs(m, pairs, count);
}

// ---- Collectives: the i-th call of every rank of the group, on streams of the same name.

typedef struct Calls { // of one rank
    const Entry *first;
    int count;
} Calls;

static void report_different(Matcher *m, const Entry *a, const Entry *b, int number) {
    const RankGroup *group = &m->program->groups[a->op->group];
    const char *roots = "";
    if (a->op->op == b->op->op && a->op->bytes == b->op->bytes)
        roots = arena_printf(m->arena, ", with root %d here and root %d there", group->ranks[b->op->peer],
                             group->ranks[a->op->peer]);
    problem_add(m->problems, place_of(m, b->op),
                "ranks of a group call different things: call %d is %s on rank %d, and %s on rank %d %s%s", number + 1,
                call_text(m, b->op), b->rank, call_text(m, a->op), a->rank, spot_of(m, a->op), roots);
    problem_hint(m->problems,
                 "all ranks of a group make the same calls in the same order, with the same bytes and root");
}

static void report_missing(Matcher *m, const RankGroup *group, const Calls *calls, int number) {
    int *waiting = ARENA_ARRAY(m->arena, int, group->count), *missing = ARENA_ARRAY(m->arena, int, group->count);
    int waiting_count = 0, missing_count = 0;
    const Entry *call = NULL;
    for (int i = 0; i < group->count; i++) {
        if (calls[i].count > number) {
            waiting[waiting_count++] = group->ranks[i];
            if (!call) call = &calls[i].first[number];
        } else {
            missing[missing_count++] = group->ranks[i];
        }
    }
    CHECK(call);
    problem_add(m->problems, place_of(m, call->op), "deadlock: %s wait%s in %s, which %s never call%s",
                rank_list(m->arena, waiting, waiting_count), waiting_count == 1 ? "s" : "", call_text(m, call->op),
                rank_list(m->arena, missing, missing_count), missing_count == 1 ? "s" : "");
    problem_hint(m->problems,
                 "all ranks of a group make the same calls in the same order, on streams of the same name");
}

// False after a problem: one for each group and stream.
static bool check_calls(Matcher *m, const RankGroup *group, const Calls *calls) {
    int longest = 0;
    for (int i = 0; i < group->count; i++) longest = calls[i].count > longest ? calls[i].count : longest;
    for (int number = 0; number < longest; number++) {
        const Entry *first = NULL;
        bool all = true;
        for (int i = 0; i < group->count; i++) {
            const Entry *call = calls[i].count > number ? &calls[i].first[number] : NULL;
            all = all && call;
            if (!first) first = call;
            if (!call || same_collective(first->op, call->op)) continue;
            report_different(m, first, call, number);
            return false;
        }
        if (all) continue;
        report_missing(m, group, calls, number);
        return false;
    }
    return true;
}

static void join_calls(Matcher *m, const RankGroup *group, const Calls *calls) {
    OpenChannel open = open_channel(m, group->count, calls[0].first->op->label);
    for (int number = 0; number < calls[0].count; number++) {
        const RecordedOp *op = calls[0].first[number].op;
        PlanKey key = {op->op, op->peer, op->bytes, op->pairs};
        int32_t plan = collective_plan_of(m, &open, key, group->ranks, group->count);
        for (int i = 0; i < group->count; i++) meet(m, &calls[i].first[number], open.channel, plan);
    }
    close_channel(m, &open);
}

// The calls of one rank among entries that are sorted by rank.
static Calls calls_of(const Entry *entries, int count, int rank) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (entries[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    Calls calls = {entries + low, 0};
    while (low + calls.count < count && entries[low + calls.count].rank == rank) calls.count++;
    return calls;
}

// The entries are those of one group and stream, by rank and then order.
static void match_group(Matcher *m, const Entry *entries, int count) {
    const RankGroup *group = &m->program->groups[entries->a];
    Calls *members = ARENA_ARRAY(m->arena, Calls, group->count);
    for (int i = 0; i < group->count; i++) members[i] = calls_of(entries, count, group->ranks[i]);
    if (check_calls(m, group, members)) join_calls(m, group, members);
}

static void match_collectives(Matcher *m) {
    for (int i = 0; i < m->collectives.count; i++) m->collectives.items[i].tag = 0;
    sort_entries(&m->collectives, order_calls);
    for (int first = 0, next; first < m->collectives.count; first = next) {
        for (next = first + 1; next < m->collectives.count; next++)
            if (compare_keys(&m->collectives.items[first], &m->collectives.items[next]) != 0) break;
        match_group(m, &m->collectives.items[first], next - first);
    }
}

// ---- Copies and reads: channels of one member.

static void make_links(Matcher *m) {
    int count, nodes = m->program->cluster->node_count;
    const Cluster *cluster = m->program->cluster;
    const StorageType *storage = cluster->storage;
    const Link *network = network_links(cluster->network, &count);
    Link *links = ARENA_ARRAY(m->arena, Link, count + nodes + 1);
    if (count) memcpy(links, network, (size_t)count * sizeof *links);
    m->disk_links = ARENA_ARRAY(m->arena, int32_t, nodes);
    m->shared_storage_link = count;
    if (storage && storage->shared) links[count++] = (Link){"storage server", storage->read_bytes_per_second};
    for (int node = 0; node < nodes; node++) {
        double speed = storage && !storage->shared ? storage->read_bytes_per_second
                                                   : cluster->node_of[node]->local_read_bytes_per_second;
        m->disk_links[node] = count;
        if (speed > 0 && !(storage && storage->shared))
            links[count++] = (Link){arena_printf(m->arena, "node%d.disk", node), speed};
    }
    if (m->program->by_messages) m->book = link_book_create(m->arena, cluster->network, links, count);
    m->matched->links = links;
    m->matched->link_count = count;
}

static Plan lone_plan(Matcher *m, int rank, const RecordedOp *op) {
    const Network *network = m->program->cluster->network;
    const StorageType *storage = m->program->cluster->storage;
    int32_t links[LINKS_MOST];
    double latency = 0;
    int count = 0;
    if (op->kind == RECORDED_COPY_TO_HOST) count = network_route_to_host(network, rank, links, &latency);
    if (op->kind == RECORDED_COPY_FROM_HOST) count = network_route_from_host(network, rank, links, &latency);
    if (op->kind == RECORDED_READ && storage && storage->shared) {
        count = network_route_from_outside(network, rank, links, &latency);
        links[count++] = m->shared_storage_link;
    } else if (op->kind == RECORDED_READ) {
        links[count++] = m->disk_links[network_node_of(network, rank)];
    }
    if (op->kind == RECORDED_READ && storage) latency += storage->latency_seconds;
    LinkUse *uses = ARENA_ARRAY(m->arena, LinkUse, count);
    for (int i = 0; i < count; i++) uses[i] = (LinkUse){links[i], weight_round(1)};
    return (Plan){.latency = step_ticks(latency), .bytes = op->bytes, .fairness = 1, .uses = uses, .use_count = count};
}

static void match_lone(Matcher *m, int rank, int stream, RecordedKind kind) {
    const RecordedStream *ops = &m->program->ranks[rank].items[stream];
    OpenChannel open = {.channel = -1};
    for (int i = 0; i < ops->count; i++) {
        const RecordedOp *op = &ops->items[i];
        if (op->kind != (uint8_t)kind) continue;
        if (open.channel < 0) open = open_channel(m, 1, op->label);
        PlanKey key = {op->kind, 0, op->bytes, NULL};
        int32_t plan = known_plan(&open, key);
        if (plan < 0) plan = add_plan(m, &open, key, lone_plan(m, rank, op));
        m->matched->of[rank][stream][i] = (Meeting){open.channel, plan};
    }
    if (open.channel >= 0) close_channel(m, &open);
}

static void match_copies_and_reads(Matcher *m) {
    static const RecordedKind kinds[] = {RECORDED_COPY_TO_HOST, RECORDED_COPY_FROM_HOST, RECORDED_READ};
    for (int rank = 0; rank < m->program->cluster->gpu_count; rank++)
        for (int stream = 0; stream < m->program->ranks[rank].count; stream++)
            for (int kind = 0; kind < 3; kind++) match_lone(m, rank, stream, kinds[kind]);
}

const Matched *match_program(Arena *arena, const ProgramSpec *program, Problems *problems) {
    int before = problems_added(problems);
    Matcher m = {.arena = arena, .program = program, .problems = problems, .matched = ARENA_NEW(arena, Matched)};
    collect(&m);
    sort_entries(&m.sends, order_calls);
    sort_entries(&m.receives, order_calls);
    make_links(&m);
    match_messages(&m);
    match_collectives(&m);
    match_copies_and_reads(&m);
    if (m.book) m.matched->links = link_book_links(m.book, &m.matched->link_count);
    return problems_added(problems) == before ? m.matched : NULL;
}
