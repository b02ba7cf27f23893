#include "calibrate/tcp/netbench.h"

#include <math.h>

#include "models/network/network.h"
#include "sim/base/check.h"
#include "sim/run.h"

#define SEGMENT_HEADERS 52         // IP and TCP with timestamps
#define FRAME_HEADER 14            // Ethernet, as tbf counts it
#define ACK_BYTES 66.0             // one for every second packet, the other way
#define DRAINED_BYTES (64 << 10)   // as in netbench.c: a longer send is over when all has left
#define NANOSECONDS 1e9            // cores are links that carry nanoseconds
#define WIDE_BYTES_PER_SECOND 1e13 // inside a host, never the limit

enum { SLOT_CPU, SLOT_WIRE };

typedef struct Message {
    int from, to, turn; // the turn-th from this one to that
    int32_t channel;    // on which the receiver waits for it
    int from_slot, to_slot;
    int64_t bytes;
    double wire_bytes, end; // end: of all wire bytes of the sender up to this message
    int posted, due, sent;  // marks of the sender: handed to the kernel; may arrive; the sender may go on (-1: at once)
} Message;

typedef LIST_OF(Message) Messages;

typedef struct Cut { // of a host's sending: a mark at a number of bytes
    double at;
    int mark;
} Cut;

typedef LIST_OF(Cut) Cuts;

typedef LIST_OF(Op) Ops;

typedef LIST_OF(Stream) Streams;

typedef LIST_OF(Plan) Plans;

typedef LIST_OF(int32_t) Slots;

typedef struct Host {
    Schedule steps;
    int *sends, *receives; // [step] message, or -1
    int marks;
    Cuts cuts;
    Plans cpu_plans, wire_plans;
    Slots slots;
    Streams streams;
} Host;

typedef struct Box {
    Arena *arena;
    const HostCost *cost;
    const Cable *cable;
    BenchOp op;
    int host_count;
    int64_t bytes;
    Network *network;
    int first_core; // link
    Host *hosts;
    Messages messages;
} Box;

int packets_of(int64_t bytes, int mtu) {
    int segment = mtu - SEGMENT_HEADERS;
    return (int)((bytes + segment - 1) / segment);
}

static Network *build_network(Arena *arena, const Cable *cable, int host_count) {
    NodeShape shape = {.name = "host",
                       .gpu_count = 1, // a rank
                       .gpu_fabric = GPU_FABRIC_NONE,
                       .sockets = 1,
                       .pcie_bytes_per_second = WIDE_BYTES_PER_SECOND,
                       .host_memory_bytes_per_second = WIDE_BYTES_PER_SECOND,
                       .nic_count = 1,
                       .gpudirect_rdma = true};
    FabricShape fabric = {.kind = FABRIC_SINGLE_SWITCH,
                          .transport = NET_TCP,
                          .nic_bytes_per_second = cable->bytes_per_second,
                          .efficiency = cable->efficiency};
    NetworkSpec spec = {.shapes = &shape,
                        .node_shape = ARENA_ARRAY(arena, int, host_count),
                        .node_count = host_count,
                        .fabric = fabric};
    Problems *problems = problems_create(arena);
    Network *network = network_create(arena, &spec, (Where){0}, problems);
    CHECK(network);
    return network;
}

// ---- Senders and receivers.

static Message *find_message(Box *box, int from, int to, int turn) {
    for (int i = 0; i < box->messages.count; i++) {
        Message *message = &box->messages.items[i];
        if (message->from == from && message->to == to && message->turn == turn) return message;
    }
    CHECK(!"a receive without its send");
    return NULL;
}

static int new_slot(Box *box, int rank, int32_t channel) {
    LIST_PUSH(box->arena, &box->hosts[rank].slots, channel);
    return box->hosts[rank].slots.count - 1;
}

static void add_message(Box *box, int rank, int step, int *turns) {
    Host *host = &box->hosts[rank];
    const Step *what = &host->steps.items[step];
    Message message = {.from = rank, .to = what->to, .turn = turns[what->to]++, .bytes = what->send_bytes};
    int packets = packets_of(message.bytes, box->cable->mtu);
    message.wire_bytes = (double)message.bytes + (double)packets * (SEGMENT_HEADERS + FRAME_HEADER);
    message.end = message.wire_bytes;
    for (int i = box->messages.count - 1; i >= 0; i--)
        if (box->messages.items[i].from == rank) {
            message.end += box->messages.items[i].end;
            break;
        }
    message.channel = 2 * box->host_count + box->messages.count;
    message.from_slot = new_slot(box, rank, message.channel);
    message.posted = host->marks++;
    message.due = host->marks++;
    // A token bucket lets bytes go ahead by as many as it holds.
    LIST_PUSH(box->arena, &host->cuts, ((Cut){message.end - box->cable->burst_bytes, message.due}));
    message.sent = message.bytes >= DRAINED_BYTES ? message.due : -1;
    host->sends[step] = box->messages.count;
    LIST_PUSH(box->arena, &box->messages, message);
}

static void match_messages(Box *box) {
    int n = box->host_count, *turns = ARENA_ARRAY(box->arena, int, 2 * n * n);
    for (int rank = 0; rank < n; rank++) {
        Host *host = &box->hosts[rank];
        host->sends = ARENA_ARRAY(box->arena, int, host->steps.count);
        host->receives = ARENA_ARRAY(box->arena, int, host->steps.count);
        for (int step = 0; step < host->steps.count; step++) {
            host->sends[step] = host->receives[step] = -1;
            if (host->steps.items[step].to >= 0) add_message(box, rank, step, turns + rank * n);
        }
    }
    turns += n * n;
    for (int rank = 0; rank < n; rank++)
        for (int step = 0; step < box->hosts[rank].steps.count; step++) {
            int from = box->hosts[rank].steps.items[step].from;
            if (from < 0) continue;
            Message *message = find_message(box, from, rank, turns[rank * n + from]++);
            CHECK(message->bytes == box->hosts[rank].steps.items[step].receive_bytes);
            message->to_slot = new_slot(box, rank, message->channel);
            box->hosts[rank].receives[step] = (int)(message - box->messages.items);
        }
}

// ---- What each host does, as streams of operations.

static void push(Box *box, Ops *ops, OpKind kind, int slot, int32_t id) {
    LIST_PUSH(box->arena, ops, ((Op){.kind = (uint8_t)kind, .slot = (uint16_t)slot, .id = id}));
}

static void add_stream(Box *box, Host *host, const char *name, const Ops *ops) {
    LIST_PUSH(box->arena, &host->streams, ((Stream){name, ops->items, ops->count}));
}

// A weight of nothing is none: at least the smallest.
static double cpu_weight(double nanoseconds) { return fmax(weight_round(nanoseconds), 0x1p-24); }

static LinkUse *new_uses(Box *box, int rank, double cpu_nanoseconds) {
    LinkUse *uses = ARENA_ARRAY(box->arena, LinkUse, 2 * NETWORK_ROUTE_LIMIT + 2);
    uses[0] = (LinkUse){box->first_core + rank % box->cost->core_count, cpu_weight(cpu_nanoseconds)};
    return uses;
}

static void use_cpu(Box *box, int rank, Ops *ops, double seconds) {
    Plans *plans = &box->hosts[rank].cpu_plans;
    Plan plan = {.bytes = seconds * NANOSECONDS, .fairness = 1, .uses = new_uses(box, rank, 1), .use_count = 1};
    push(box, ops, OP_TRANSFER, SLOT_CPU, plans->count);
    LIST_PUSH(box->arena, plans, plan);
}

static void main_stream(Box *box, int rank) {
    Host *host = &box->hosts[rank];
    Ops ops = {0};
    for (int s = 0; s < host->steps.count; s++) {
        const Message *sends = host->sends[s] < 0 ? NULL : &box->messages.items[host->sends[s]];
        const Message *receives = host->receives[s] < 0 ? NULL : &box->messages.items[host->receives[s]];
        double message_seconds = sends && receives ? box->cost->exchange_seconds : box->cost->message_seconds;
        if (sends) {
            use_cpu(box, rank, &ops, message_seconds / 2);
            push(box, &ops, OP_RECORD, 0, sends->posted);
        }
        if (receives) {
            push(box, &ops, OP_TRANSFER, receives->to_slot, 0);
            double adding = host->steps.items[s].add ? (double)receives->bytes / box->cost->adding_bytes_per_second : 0;
            use_cpu(box, rank, &ops, message_seconds / 2 + adding);
        }
        if (sends && sends->sent >= 0) push(box, &ops, OP_WAIT, 0, sends->sent);
    }
    add_stream(box, host, "main", &ops);
}

// The wire bytes of a message between two cuts: on the sender's cable and the receiver's, with acknowledgements the
// other way, and work for both cores.
static void use_wire(Box *box, const Message *message, Ops *ops, double bytes) {
    Plans *plans = &box->hosts[message->from].wire_plans;
    double packets = packets_of(message->bytes, box->cable->mtu), latency;
    double paced = fmax(0, 1 - box->cable->burst_bytes / message->wire_bytes); // the rest goes with the bucket
    double packet_seconds = box->cost->packet_seconds + paced * box->cost->paced_seconds;
    double cpu = (box->cost->byte_seconds * (double)message->bytes + packet_seconds * (packets - 1)) /
                 message->wire_bytes * NANOSECONDS;
    double packet_bytes = box->cable->mtu + FRAME_HEADER;
    int cores = box->cost->core_count, count = 1;
    bool same_core = message->from % cores == message->to % cores;
    LinkUse *uses = new_uses(box, message->from, same_core ? cpu : cpu / 2);
    if (!same_core) uses[count++] = (LinkUse){box->first_core + message->to % cores, cpu_weight(cpu / 2)};
    int32_t links[NETWORK_ROUTE_LIMIT];
    int link_count = network_route(box->network, message->from, message->to, links, &latency);
    for (int i = 0; i < link_count; i++) uses[count++] = (LinkUse){links[i], 1};
    link_count = network_route(box->network, message->to, message->from, links, &latency);
    for (int i = 0; i < link_count; i++)
        uses[count++] = (LinkUse){links[i], weight_round(ACK_BYTES / 2 / packet_bytes)};
    push(box, ops, OP_TRANSFER, SLOT_WIRE, plans->count);
    LIST_PUSH(box->arena, plans, ((Plan){.bytes = bytes, .fairness = 1, .uses = uses, .use_count = count}));
}

static void sort_cuts(Cuts *cuts) { // nearly in order as it is
    for (int i = 1; i < cuts->count; i++)
        for (int k = i; k > 0 && cuts->items[k].at < cuts->items[k - 1].at; k--) {
            Cut moved = cuts->items[k];
            cuts->items[k] = cuts->items[k - 1];
            cuts->items[k - 1] = moved;
        }
}

// All that a host sends, first come first served, reaching the marks on its way.
static void wire_stream(Box *box, int rank) {
    Host *host = &box->hosts[rank];
    Ops ops = {0};
    int cut = 0;
    double at = 0;
    sort_cuts(&host->cuts);
    for (; cut < host->cuts.count && host->cuts.items[cut].at <= 0; cut++)
        push(box, &ops, OP_RECORD, 0, host->cuts.items[cut].mark);
    for (int i = 0; i < box->messages.count; i++) {
        const Message *message = &box->messages.items[i];
        if (message->from != rank) continue;
        push(box, &ops, OP_WAIT, 0, message->posted);
        for (; cut < host->cuts.count && host->cuts.items[cut].at <= message->end; cut++) {
            if (host->cuts.items[cut].at > at) use_wire(box, message, &ops, host->cuts.items[cut].at - at);
            at = host->cuts.items[cut].at;
            push(box, &ops, OP_RECORD, 0, host->cuts.items[cut].mark);
        }
        if (message->end > at) use_wire(box, message, &ops, message->end - at);
        at = message->end;
    }
    add_stream(box, host, "wire", &ops);
}

// Each message arrives when it has been sent and its last byte is due.
static void message_streams(Box *box, int rank) {
    for (int i = 0; i < box->messages.count; i++) {
        const Message *message = &box->messages.items[i];
        if (message->from != rank) continue;
        Ops ops = {0};
        push(box, &ops, OP_WAIT, 0, message->posted);
        push(box, &ops, OP_WAIT, 0, message->due);
        push(box, &ops, OP_TRANSFER, message->from_slot, 0);
        add_stream(box, &box->hosts[rank], "message", &ops);
    }
}

// ---- The system, and its run.

static const Link *list_links(Box *box, int *count) {
    const Link *links = network_links(box->network, count);
    Link *all = ARENA_ARRAY(box->arena, Link, *count + box->cost->core_count);
    memcpy(all, links, (size_t)*count * sizeof *links);
    box->first_core = *count;
    for (int core = 0; core < box->cost->core_count; core++)
        all[(*count)++] = (Link){arena_printf(box->arena, "core%d", core), NANOSECONDS};
    return all;
}

static const Channel *list_channels(Box *box, int *count) {
    *count = 2 * box->host_count + box->messages.count;
    Channel *channels = ARENA_ARRAY(box->arena, Channel, *count);
    for (int rank = 0; rank < box->host_count; rank++) {
        const Host *host = &box->hosts[rank];
        channels[2 * rank] =
            (Channel){.plans = host->cpu_plans.items, .plan_count = host->cpu_plans.count, .member_count = 1};
        channels[2 * rank + 1] =
            (Channel){.plans = host->wire_plans.items, .plan_count = host->wire_plans.count, .member_count = 1};
    }
    for (int i = 0; i < box->messages.count; i++) {
        const Message *message = &box->messages.items[i];
        int32_t links[NETWORK_ROUTE_LIMIT];
        double latency;
        network_route(box->network, message->from, message->to, links, &latency);
        Plan *plan = ARENA_NEW(box->arena, Plan);
        int cores = box->cost->core_count;
        if (message->from % cores != message->to % cores) latency += box->cost->wake_seconds;
        if (message->wire_bytes > box->cable->burst_bytes) latency += box->cost->timer_seconds;
        *plan = (Plan){.latency = step_ticks(latency), .fairness = 1};
        channels[message->channel] = (Channel){.plans = plan, .plan_count = 1, .member_count = 2};
    }
    return channels;
}

static System build_system(Box *box) {
    static const char *const causes[] = {"time"};
    static const Label labels[] = {{.name = ""}};
    System system = {.causes = causes, .cause_count = 1, .labels = labels, .label_count = 1};
    int n = box->host_count;
    box->hosts = ARENA_ARRAY(box->arena, Host, n);
    system.links = list_links(box, &system.link_count);
    for (int rank = 0; rank < n; rank++) {
        new_slot(box, rank, 2 * rank);
        new_slot(box, rank, 2 * rank + 1);
        box->hosts[rank].steps = schedule_create(box->arena, box->op, rank, n, box->bytes);
    }
    match_messages(box);
    Program *programs = ARENA_ARRAY(box->arena, Program, n);
    Actor *actors = ARENA_ARRAY(box->arena, Actor, n);
    for (int rank = 0; rank < n; rank++) {
        Host *host = &box->hosts[rank];
        main_stream(box, rank);
        wire_stream(box, rank);
        message_streams(box, rank);
        programs[rank] = (Program){.streams = host->streams.items,
                                   .stream_count = host->streams.count,
                                   .mark_count = host->marks,
                                   .slot_count = host->slots.count};
        actors[rank] = (Actor){.program = rank, .channels = host->slots.items, .slowness = 1, .multiplicity = 1};
    }
    system.programs = programs;
    system.program_count = n;
    system.actors = actors;
    system.actor_count = n;
    system.channels = list_channels(box, &system.channel_count);
    return system;
}

double predict_network(const HostCost *cost, const Cable *cable, BenchOp op, int host_count, int64_t bytes) {
    Arena *arena = arena_open();
    Box box = {.arena = arena, .cost = cost, .cable = cable, .op = op, .host_count = host_count, .bytes = bytes};
    box.network = build_network(arena, cable, host_count);
    System system = build_system(&box);
    const char *wrong = system_check(arena, &system);
    CHECK(!wrong);
    RunResult result = run_system(arena, &system, &(RunOptions){0});
    CHECK(result.beyond_clock || result.deadlocked_count == 0);
    // Time spent by programs: the wires may still pay back when all have ended.
    double seconds = 0;
    for (int rank = 0; rank < host_count; rank++) seconds = fmax(seconds, step_seconds(result.spent[rank]));
    if (op == BENCH_PING_PONG) seconds /= 2;
    if (result.beyond_clock) seconds = INFINITY;
    arena_close(arena);
    return seconds;
}
