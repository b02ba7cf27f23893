// Assigns messages to channels: one for all messages of one collective and tag from one rank to another.
#include <string.h>

#include "models/network/messages/flow_plan.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"

typedef struct Connection { // has the number of its channel, counted from the first
    int32_t collective, from, to, tag;
    int32_t next;       // with the same hash
    int sent, received; // messages
} Connection;

struct MessageBook {
    Arena *arena;
    LinkBook *links;
    LIST_OF(Connection) connections;
    LIST_OF(Channel) channels;
    int32_t *table; // connection + 1 by hash
    int table_room;
};

MessageBook *message_book_create(Arena *arena, LinkBook *links, int places) {
    MessageBook *book = ARENA_NEW(arena, MessageBook);
    *book = (MessageBook){.arena = arena, .links = links, .table_room = 1024};
    while (book->table_room < 32 * places) book->table_room *= 2;
    book->table = ARENA_ARRAY(arena, int32_t, book->table_room);
    return book;
}

void message_book_expect(MessageBook *book, int places) {
    int connections = book->connections.count;
    if (connections > INT32_MAX / places) return;
    connections = connections * places / 2; // both ends see each
    LIST_ROOM(book->arena, &book->connections, connections);
    LIST_ROOM(book->arena, &book->channels, connections);
}

const Channel *message_book_channels(const MessageBook *book, int *count) {
    for (int c = 0; c < book->connections.count; c++)
        CHECK(book->connections.items[c].sent == book->connections.items[c].received);
    *count = book->channels.count;
    return book->channels.items;
}

int32_t message_channel(MessageBook *book, int collective, int from, int to, int tag) {
    uint64_t hash = digest_u64(digest_u64(digest_u64(DIGEST_START, (uint64_t)from), (uint64_t)to), (uint64_t)tag);
    if (collective) hash = digest_u64(hash, (uint64_t)collective);
    int32_t *head = &book->table[hash & (uint64_t)(book->table_room - 1)];
    for (int32_t i = *head; i; i = book->connections.items[i - 1].next) {
        const Connection *known = &book->connections.items[i - 1];
        if (known->from == from && known->to == to && known->tag == tag && known->collective == collective)
            return i - 1;
    }
    LIST_PUSH(book->arena, &book->connections,
              ((Connection){.collective = collective, .from = from, .to = to, .tag = tag, .next = *head}));
    LIST_PUSH(book->arena, &book->channels, ((Channel){.member_count = 2, .lane = message_lane(collective, tag)}));
    *head = book->connections.count;
    return book->connections.count - 1;
}

void message_ends(const MessageBook *book, int32_t channel, int *from, int *to, int *tag) {
    const Connection *known = &book->connections.items[channel];
    *from = known->from, *to = known->to, *tag = known->tag;
}

// The plans of a channel differ in bytes alone, and are few.
static int32_t plan_of(MessageBook *book, const FlowPlan *flow, int32_t channel, int way, double bytes) {
    Channel *known = &book->channels.items[channel];
    const Connection *connection = &book->connections.items[channel];
    for (int p = 0; p < known->plan_count; p++)
        if (known->plans[p].bytes == bytes) return p;
    Plan *plans = ARENA_ARRAY(book->arena, Plan, known->plan_count + 1);
    if (known->plan_count) memcpy(plans, known->plans, (size_t)known->plan_count * sizeof *plans);
    plans[known->plan_count] =
        flow_message(book->arena, flow, book->links, connection->from, connection->to, way, bytes);
    known->plans = plans;
    known->piped = flow_is_piped(flow);
    if (flow->request.steps) known->lane = message_lane(connection->collective, 0);
    return known->plan_count++;
}

int32_t message_plan_number(MessageBook *book, const FlowPlan *flow, int32_t channel, const FlowOp *op, int times) {
    Connection *connection = &book->connections.items[channel];
    *(op->kind == FLOW_SEND ? &connection->sent : &connection->received) += times;
    return plan_of(book, flow, channel, op->way, op->bytes);
}

const Plan *message_book_plan(const MessageBook *book, int32_t channel, int32_t plan) {
    return &book->channels.items[channel].plans[plan];
}
