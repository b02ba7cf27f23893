// A collective chunk by chunk: every message with its content, and the data of every rank after its arrival.
#include <stdlib.h>

#include "scenarios/step/step_film.h"
#include "sim/base/list.h"
#include "sim/program.h"
#include "sim/system/watch.h"

#define MESSAGES_MOST 20000
#define SENDS 0x2f5c9e
#define GETS 0x8ab4e0
#define BEGINS 0x9aa3ad

typedef struct Message { // of a channel, in order
    const FlowStep *send, *receive;
    SimTime begun, arrives;
    int from, to;
    const char *link;
    uint64_t *parts; // that it carries, of each piece: as they were when it left
} Message;

typedef struct Messages {
    Message *items;
    int count, room;
    int reported; // so far
} Messages;

typedef struct Shooting {
    Arena *arena;
    const FlowPlan *plan;
    const System *system;
    CollectiveOp op;
    int ranks, root, pieces;
    Party *parties;     // [place]
    Messages *channels; // [channel]
    Film *film;
    LinkBook *latencies;
    int links; // that are of the network: those behind are of software
} Shooting;

// ---- What a rank has of a piece at first, and what the operation promises it.

static uint64_t everyone(int n) { return n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }

static uint64_t at_first(const Shooting *s, int rank, int piece) {
    uint64_t own = UINT64_C(1) << rank;
    switch (s->op) {
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SEND_RECV:
        return piece % s->ranks == rank ? own : 0;
    case COLLECTIVE_SCATTER:
    case COLLECTIVE_BROADCAST:
        return rank == s->root ? own : 0;
    case COLLECTIVE_ALL_TO_ALL:
        return piece / s->ranks == rank ? own : 0;
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    return own;
}

static uint64_t promised(const Shooting *s, int rank, int piece) {
    int n = s->ranks;
    switch (s->op) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_BARRIER:
        return everyone(n);
    case COLLECTIVE_REDUCE:
        return rank == s->root ? everyone(n) : 0;
    case COLLECTIVE_REDUCE_SCATTER:
        return piece % n == rank ? everyone(n) : 0;
    case COLLECTIVE_BROADCAST:
        return UINT64_C(1) << s->root;
    case COLLECTIVE_SCATTER:
        return piece == rank ? UINT64_C(1) << s->root : 0;
    case COLLECTIVE_ALL_GATHER:
        return UINT64_C(1) << piece % n;
    case COLLECTIVE_GATHER:
        return rank == s->root ? UINT64_C(1) << piece : 0;
    case COLLECTIVE_ALL_TO_ALL:
        return piece % n == rank ? UINT64_C(1) << piece / n : 0;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    return piece == (rank + n - 1) % n ? UINT64_C(1) << piece : 0;
}

// Of an all-to-all a row shows the chunks for it, a column for each sender; -1: not shown.
static int column_of(const Shooting *s, int rank, int piece) {
    if (s->op != COLLECTIVE_ALL_TO_ALL) return piece;
    return piece % s->ranks == rank ? piece / s->ranks : -1;
}

// ---- Messages by channel: the i-th send of a tag meets its i-th receive.

static void list_messages(Shooting *s, const MessageBook *book, int channel) {
    int from, to, tag, received = 0;
    Messages *messages = &s->channels[channel];
    message_ends(book, channel, &from, &to, &tag);
    for (int l = 0; l < s->parties[from].lanes.count; l++) {
        const Lane *lane = &s->parties[from].lanes.items[l];
        for (int i = 0; i < lane->count; i++) {
            if (lane->items[i].to != to || lane->items[i].tag != tag) continue;
            Message message = {.send = &lane->items[i], .from = from, .to = to};
            message.parts = ARENA_ARRAY(s->arena, uint64_t, message.send->send_count);
            LIST_PUSH(s->arena, messages, message);
        }
    }
    for (int l = 0; l < s->parties[to].lanes.count; l++) {
        const Lane *lane = &s->parties[to].lanes.items[l];
        for (int i = 0; i < lane->count && received < messages->count; i++)
            if (lane->items[i].from == from && lane->items[i].tag == tag)
                messages->items[received++].receive = &lane->items[i];
    }
}

// "chunk 3", "chunks 4 to 7"; "" for the pair's own chunk.
static const char *carries(const Shooting *s, const Message *message) {
    const int32_t *pieces = message->send->send;
    int count = message->send->send_count;
    if (s->op == COLLECTIVE_BARRIER) return "a token";
    if (s->op == COLLECTIVE_ALL_TO_ALL && count == 1 && pieces[0] == message->from * s->ranks + message->to) return "";
    if (count == 1) return arena_printf(s->arena, "chunk %d", pieces[0]);
    bool in_order = true;
    for (int i = 1; i < count; i++) in_order = in_order && pieces[i] == pieces[i - 1] + 1;
    return in_order && s->op != COLLECTIVE_ALL_TO_ALL
               ? arena_printf(s->arena, "chunks %d to %d", pieces[0], pieces[count - 1])
               : arena_printf(s->arena, "%d chunks", count);
}

// ---- Bars from the run's spans.

static void add_message(Shooting *s, const RunSpan *span) {
    Messages *messages = &s->channels[span->channel];
    if (span->first) messages->reported++;
    Message *message = &messages->items[messages->reported - 1];
    const Plan *plan = &s->system->channels[span->channel].plans[span->plan];
    bool sends = span->actor == message->from;
    const char *what = carries(s, message), *link = share_fullest_link(s->system->links, s->links, plan);
    message->begun = span->begun;
    message->link = link;
    message->arrives = time_later(
        span->end, flow_latency_behind(s->plan, s->latencies, message->from, message->to, message->send->way));
    const char *gap = *what ? " " : "";
    const char *says = sends ? arena_printf(s->arena, "sends%s%s to %d", gap, what, message->to)
                             : arena_printf(s->arena, "gets%s%s from %d", gap, what, message->from);
    FilmBar bar = {.row = span->actor,
                   .track = span->stream,
                   .kind = FILM_TRANSFER,
                   .leads = span->first,
                   .color = sends ? SENDS : GETS,
                   .name = "",
                   .says = says,
                   .event = arena_printf(s->arena, "%s%s%d to %d", what, *what ? ", " : "", message->from, message->to),
                   .link = link,
                   .plan = plan,
                   .start = span->start,
                   .begun = span->begun,
                   .flows = time_later(span->begun, plan->latency),
                   .end = span->end,
                   .meeting = span->meeting};
    LIST_PUSH(s->arena, &s->film->bars, bar);
}

static void on_span(void *owner, const RunSpan *span) {
    Shooting *s = owner;
    if (span->end > s->film->end) s->film->end = span->end;
    if (span->kind == OP_TRANSFER) {
        add_message(s, span);
        return;
    }
    bool launch = span->start == 0 && span->kind == OP_WORK;
    FilmBar bar = {.row = span->actor,
                   .track = span->stream,
                   .kind = span->kind == OP_WAIT ? FILM_WAIT : FILM_WORK,
                   .is_side = !launch || span->stream > 0,
                   .color = BEGINS,
                   .name = "",
                   .says = launch ? "begins the collective" : "the last byte is under way",
                   .start = span->start,
                   .begun = span->start,
                   .flows = span->start,
                   .end = span->end};
    LIST_PUSH(s->arena, &s->film->bars, bar);
}

// ---- Chunks of each rank: messages carry the parts present at their start, and deliver them.

typedef struct Event {
    SimTime time;
    bool leaves; // after arrivals of the same time
    int number;
    Message *message;
} Event;

static int by_event(const void *a, const void *b) {
    const Event *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? -1 : 1;
    if (one->leaves != other->leaves) return one->leaves ? 1 : -1;
    return (one->number > other->number) - (one->number < other->number);
}

static void arrive(Shooting *s, uint64_t *held, const Message *message) {
    for (int i = 0; i < message->receive->receive_count; i++) {
        int piece = message->receive->receive[i], column = column_of(s, message->to, piece);
        uint64_t *there = &held[message->to * s->pieces + piece];
        *there = (message->receive->add ? *there : 0) | message->parts[i];
        if (column < 0) continue;
        FilmArrival arrival = {.time = message->arrives,
                               .row = message->to,
                               .chunk = column,
                               .parts = *there,
                               .from = message->from,
                               .link = message->link,
                               .left = message->begun};
        LIST_PUSH(s->arena, &s->film->arrivals, arrival);
    }
}

static void follow_pieces(Shooting *s) {
    Film *film = s->film;
    Arena *scratch = arena_open();
    int count = 0, number = 0, cells = s->ranks * film->chunk_count;
    uint64_t *held = ARENA_ARRAY(scratch, uint64_t, s->ranks * s->pieces);
    uint64_t *shown = ARENA_ARRAY(s->arena, uint64_t, cells), *wanted = ARENA_ARRAY(s->arena, uint64_t, cells);
    for (int rank = 0; rank < s->ranks; rank++)
        for (int piece = 0; piece < s->pieces; piece++) {
            int column = column_of(s, rank, piece);
            held[rank * s->pieces + piece] = at_first(s, rank, piece);
            if (column < 0) continue;
            shown[rank * film->chunk_count + column] = held[rank * s->pieces + piece];
            wanted[rank * film->chunk_count + column] = promised(s, rank, piece);
        }
    for (int c = 0; c < s->system->channel_count; c++) count += 2 * s->channels[c].count;
    Event *events = ARENA_ARRAY(scratch, Event, count);
    for (int c = 0; c < s->system->channel_count; c++)
        for (int i = 0; i < s->channels[c].count; i++, number += 2) {
            Message *message = &s->channels[c].items[i];
            events[number] = (Event){message->begun, true, number, message};
            events[number + 1] = (Event){message->arrives, false, number + 1, message};
        }
    if (count) qsort(events, (size_t)count, sizeof *events, by_event);
    for (int e = 0; e < count; e++) {
        Message *message = events[e].message;
        for (int i = 0; events[e].leaves && i < message->send->send_count; i++)
            message->parts[i] = held[message->from * s->pieces + message->send->send[i]];
        if (!events[e].leaves) arrive(s, held, message);
    }
    film->held = shown;
    film->promised = wanted;
    arena_close(scratch);
}

// ---- All of it.

bool film_has_room(int rows, const char *remedy, Where where, Problems *problems) {
    if (rows <= FILM_ROWS_MOST) return true;
    problem_add(problems, where, "%d rows are more than can be walked through; %d are the most", rows, FILM_ROWS_MOST);
    return problem_hint(problems, "%s", remedy);
}

static const char *const *name_ranks(Arena *arena, const FlowPlan *plan, int ranks) {
    const char **names = ARENA_ARRAY(arena, const char *, ranks);
    for (int place = 0; place < ranks; place++) names[place] = arena_printf(arena, "rank %d", flow_rank(plan, place));
    return names;
}

const Film *film_of_collective(Arena *arena, const FlowPlan *plan, const CollectiveRequest *request,
                               const Network *network, const char *title, Problems *problems) {
    int ranks = request->rank_count;
    double bytes;
    int links;
    network_links(network, &links);
    if (!film_has_room(ranks, "ask for fewer GPUs: --gpus 8 shows the same steps", (Where){0}, problems)) return NULL;
    FlowSystem flows = flow_system(arena, plan);
    if (!flows.stopped && flows.message_count > MESSAGES_MOST) {
        problem_add(problems, (Where){0}, "%lld messages are more than can be walked through; %d are the most",
                    (long long)flows.message_count, MESSAGES_MOST);
        return problem_hint(problems, "ask for fewer GPUs, or a smaller size"), NULL;
    }
    Film *film = ARENA_NEW(arena, Film);
    Shooting s = {.arena = arena,
                  .plan = plan,
                  .system = &flows.system,
                  .op = request->op,
                  .ranks = ranks,
                  .pieces = flow_pieces(plan, &bytes),
                  .film = film,
                  .latencies = link_book_create(arena, network, NULL, 0),
                  .links = links};
    *film = (Film){.arena = arena, .title = title, .rows = name_ranks(arena, plan, ranks), .row_count = ranks};
    s.parties = ARENA_ARRAY(arena, Party, ranks);
    for (int place = 0; place < ranks; place++) s.parties[place] = flow_party(arena, plan, place);
    s.root = s.parties[0].root;
    s.channels = ARENA_ARRAY(arena, Messages, flows.system.channel_count);
    for (int c = 0; c < flows.system.channel_count && !flows.stopped; c++) list_messages(&s, flows.messages, c);
    RunOptions options = {.tell = on_span, .owner = &s, .chain = true};
    RunResult result = {.stopped = true};
    if (!flows.stopped) result = run_system(arena, &flows.system, &options);
    if (result.stopped) {
        watch_tells((Where){0}, problems);
        return NULL;
    }
    if (result.beyond_clock) {
        problem_beyond_clock(problems, (Where){0}, "this collective", &flows.system);
        return NULL;
    }
    film->links = flows.system.links;
    film->link_count = flows.system.link_count;
    film->chunk_count = s.op == COLLECTIVE_ALL_TO_ALL ? ranks : s.pieces;
    follow_pieces(&s);
    film_mark_path(film, result.chain, result.chain_count);
    film_finish(film);
    return film;
}
