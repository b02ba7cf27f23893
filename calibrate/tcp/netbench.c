// netbench: collectives between real processes over TCP, timed and checked.
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/tcp/netbench.h"
#include "sim/base/options.h"

// ---- Ranks joined by one TCP connection per pair: send and receive at once, barrier, agreement. After a failed
// connection later calls do nothing; `failed` gives the reason.

typedef struct Wire {
    int rank, rank_count;
    int *sockets;       // [rank_count], of this rank itself -1
    const char *failed; // a sentence, or NULL
    Arena *arena;
} Wire;

// Every rank is given the same list of addresses; rank i listens on its own at `port + i`. Waits up to `patience`
// seconds for the others.
Wire wire_open(Arena *arena, int rank, const char *const *hosts, int rank_count, int port, double patience);
void wire_close(Wire *wire);

// Sends to one rank and receives from one, both at once; -1 for neither. Returns when all is received and what
// was sent is in the kernel's hands, or, if long, with the peer.
void wire_exchange(Wire *wire, int to, const void *out, size_t out_bytes, int from, void *in, size_t in_bytes);
void wire_barrier(Wire *wire);                                            // returns when all ranks have come
void wire_tell(Wire *wire, void *data, size_t bytes);                     // rank 0's bytes to all
void wire_collect(Wire *wire, const void *mine, size_t bytes, void *all); // to rank 0; `all` only used there

double wire_clock(void); // seconds, monotonic

#define SILENCE_MILLISECONDS 60000 // a peer this quiet is gone
#define RETRY_MILLISECONDS 20
// Unsent bytes that the kernel may hold. Without a limit a send would return with megabytes still waiting, and the
// next one would share the wire with it.
#define UNSENT_BYTES (16 << 10)
// After sending a message this long, and receiving none, the sender waits until all of it is acknowledged. Else up to a
// millisecond of it would wait in the cable's queue while the next message, to another peer, overtakes its tail.
#define DRAINED_BYTES (64 << 10)
#define DRAIN_NANOSECONDS 50000

double wire_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(Wire *wire, const char *what, int peer, const char *why) {
    if (!wire->failed) wire->failed = arena_printf(wire->arena, "rank %d: %s rank %d: %s", wire->rank, what, peer, why);
}

// ---- Connecting: each rank calls those below it and is called by those above.

static struct addrinfo *look_up(Wire *wire, const char *host, int port) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int status = getaddrinfo(host, arena_printf(wire->arena, "%d", port), &hints, &found);
    if (status != 0 && !wire->failed)
        wire->failed = arena_printf(wire->arena, "no address \"%s\": %s", host, gai_strerror(status));
    return status == 0 ? found : NULL;
}

static int listen_at(Wire *wire, const char *host, int port) {
    struct addrinfo *address = look_up(wire, host, port);
    if (!address) return -1;
    int on = 1, listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool listens = listener >= 0 && bind(listener, address->ai_addr, address->ai_addrlen) == 0 &&
                   listen(listener, wire->rank_count) == 0;
    freeaddrinfo(address);
    if (listens) return listener;
    wire->failed =
        arena_printf(wire->arena, "rank %d cannot listen on %s port %d: %s", wire->rank, host, port, strerror(errno));
    if (listener >= 0) close(listener);
    return -1;
}

static void set_up(int peer) {
    int on = 1, unsent = UNSENT_BYTES;
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(peer, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    fcntl(peer, F_SETFL, fcntl(peer, F_GETFL) | O_NONBLOCK);
}

static void call(Wire *wire, int peer, const char *host, int port, double deadline) {
    struct addrinfo *address = look_up(wire, host, port);
    while (address && !wire->failed) {
        int caller = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int32_t mine = wire->rank;
        if (caller >= 0 && connect(caller, address->ai_addr, address->ai_addrlen) == 0 &&
            write(caller, &mine, sizeof mine) == (ssize_t)sizeof mine) {
            set_up(caller);
            wire->sockets[peer] = caller;
            break;
        }
        if (wire_clock() > deadline) fail(wire, "cannot reach", peer, strerror(errno));
        if (caller >= 0) close(caller);
        poll(NULL, 0, RETRY_MILLISECONDS);
    }
    if (address) freeaddrinfo(address);
}

static void answer(Wire *wire, int listener, double deadline) {
    int caller = -1;
    struct pollfd waiting = {listener, POLLIN, 0};
    double left = deadline - wire_clock();
    if (left > 0 && poll(&waiting, 1, (int)(1e3 * left)) == 1) caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int32_t rank = -1;
    if (caller >= 0 && recv(caller, &rank, sizeof rank, MSG_WAITALL) == (ssize_t)sizeof rank && rank > wire->rank &&
        rank < wire->rank_count && wire->sockets[rank] < 0) {
        set_up(caller);
        wire->sockets[rank] = caller;
        return;
    }
    if (caller >= 0) close(caller);
    if (!wire->failed)
        wire->failed = arena_printf(wire->arena, "rank %d waited in vain for all ranks above it", wire->rank);
}

Wire wire_open(Arena *arena, int rank, const char *const *hosts, int rank_count, int port, double patience) {
    Wire wire = {.rank = rank, .rank_count = rank_count, .arena = arena};
    wire.sockets = ARENA_ARRAY(arena, int, rank_count);
    for (int i = 0; i < rank_count; i++) wire.sockets[i] = -1;
    double deadline = wire_clock() + patience;
    int listener = listen_at(&wire, hosts[rank], port + rank);
    for (int peer = 0; peer < rank; peer++)
        if (!wire.failed) call(&wire, peer, hosts[peer], port + peer, deadline);
    for (int peer = rank + 1; peer < rank_count; peer++)
        if (!wire.failed) answer(&wire, listener, deadline);
    if (listener >= 0) close(listener);
    return wire;
}

void wire_close(Wire *wire) {
    for (int i = 0; i < wire->rank_count; i++)
        if (wire->sockets[i] >= 0) close(wire->sockets[i]);
}

// ---- Moving bytes.

typedef struct Side { // one direction of an exchange
    int peer;
    const char *out; // data to send
    char *in;        // or receive buffer
    size_t left;
} Side;

static bool try_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static void move_out(Wire *wire, Side *side) {
    ssize_t moved = send(wire->sockets[side->peer], side->out, side->left, MSG_NOSIGNAL);
    if (moved < 0 && !try_again()) fail(wire, "sending to", side->peer, strerror(errno));
    if (moved > 0) side->out += moved, side->left -= (size_t)moved;
}

static void move_in(Wire *wire, Side *side) {
    ssize_t moved = recv(wire->sockets[side->peer], side->in, side->left, 0);
    if (moved < 0 && !try_again()) fail(wire, "receiving from", side->peer, strerror(errno));
    if (moved == 0) fail(wire, "receiving from", side->peer, "it has closed the connection");
    if (moved > 0) side->in += moved, side->left -= (size_t)moved;
}

// At once, instead of up to 40 ms later.
static void acknowledge(Wire *wire, int peer) {
    int on = 1;
    setsockopt(wire->sockets[peer], IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

static void drain(Wire *wire, int peer) {
    int left = 1;
    while (!wire->failed && ioctl(wire->sockets[peer], SIOCOUTQ, &left) == 0 && left > 0) {
        struct pollfd state = {wire->sockets[peer], 0, 0};
        if (poll(&state, 1, 0) > 0) fail(wire, "sending to", peer, "it has closed the connection");
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_NANOSECONDS}, NULL);
    }
}

void wire_exchange(Wire *wire, int to, const void *out, size_t out_bytes, int from, void *in, size_t in_bytes) {
    Side sending = {.peer = to, .out = out, .left = to >= 0 ? out_bytes : 0};
    Side receiving = {.peer = from, .in = in, .left = from >= 0 ? in_bytes : 0};
    if (sending.left && !wire->failed) move_out(wire, &sending);
    while ((sending.left || receiving.left) && !wire->failed) {
        struct pollfd waiting[2] = {{sending.left ? wire->sockets[to] : -1, POLLOUT, 0},
                                    {receiving.left ? wire->sockets[from] : -1, POLLIN, 0}};
        int ready = poll(waiting, 2, SILENCE_MILLISECONDS);
        if (ready == 0) fail(wire, "waiting for", receiving.left ? from : to, "nothing came for a minute");
        if (ready < 0 && errno != EINTR) fail(wire, "waiting for", receiving.left ? from : to, strerror(errno));
        if (ready <= 0) continue;
        if (waiting[0].revents) move_out(wire, &sending);
        if (waiting[1].revents) move_in(wire, &receiving);
    }
    if (from >= 0 && in_bytes >= DRAINED_BYTES) acknowledge(wire, from);
    if (from < 0 && out_bytes >= DRAINED_BYTES) drain(wire, to);
}

// In round k every rank signals the one 2^k above it and waits for the one 2^k below (dissemination barrier).
void wire_barrier(Wire *wire) {
    int n = wire->rank_count;
    for (int distance = 1; distance < n; distance *= 2) {
        char out = 0, in;
        wire_exchange(wire, (wire->rank + distance) % n, &out, 1, (wire->rank + n - distance) % n, &in, 1);
    }
}

void wire_tell(Wire *wire, void *data, size_t bytes) {
    if (wire->rank > 0) wire_exchange(wire, -1, NULL, 0, 0, data, bytes);
    for (int peer = 1; peer < wire->rank_count && wire->rank == 0; peer++)
        wire_exchange(wire, peer, data, bytes, -1, NULL, 0);
}

void wire_collect(Wire *wire, const void *mine, size_t bytes, void *all) {
    if (wire->rank > 0) {
        wire_exchange(wire, 0, mine, bytes, -1, NULL, 0);
        return;
    }
    memcpy(all, mine, bytes);
    for (int peer = 1; peer < wire->rank_count; peer++)
        wire_exchange(wire, -1, NULL, 0, peer, (char *)all + (size_t)peer * bytes, bytes);
}

// ---- netbench: collectives between real processes over TCP, timed and checked. One process per host, each with its
// rank and the same list of addresses; rank 0 prints. A rank's schedule is in schedule.c.

#define EXIT_USAGE 2
#define MOST_RANKS 256
#define WARM_UPS 2
#define FEWEST_REPEATS 5
#define QUIET_SECONDS 500e-6
#define QUIET_SECONDS_PER_RANK 100e-6
#define MOST_REPEATS 31             // sums grow by the rank count each time: 8^31 is still a float
#define CHECKED_FLOATS (1 << 20)    // of each result; larger ones are sampled
#define SUM_BYTES ((size_t)1 << 20) // buffers for the speed of adding

static const OptionSpec specs[] = {
    {"rank", OPTION_COUNT, "N", .help = "this process's place in the list of hosts, from 0"},
    {"hosts", OPTION_TEXT, "A,B,…", .help = "addresses of all ranks, the same for each"},
    {"port", OPTION_COUNT, "N", .help = "rank i listens on port N + i (default 29500)"},
    {"ops", OPTION_TEXT, "A,B,…", .help = "what to run (default: everything)"},
    {"from", OPTION_QUANTITY, "SIZE", .help = "smallest buffer (default 1 KiB)", .quantity = QUANTITY_BYTES},
    {"to", OPTION_QUANTITY, "SIZE", .help = "largest buffer (default 64 MiB)", .quantity = QUANTITY_BYTES},
    {"factor", OPTION_COUNT, "N", .help = "from one size to the next (default 4)"},
    {"seconds", OPTION_QUANTITY, "TIME", .help = "about how long to repeat each (default 1 s; 5 to 31 repeats)",
     .quantity = QUANTITY_TIME},
    {"one-clock", OPTION_FLAG,
     .help = "the hosts are one machine: count from the first rank's start to the last one's end"},
    {"csv", OPTION_FLAG, .help = "print rows of CSV instead of a table"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

typedef struct Bench {
    Arena *arena;
    const Options *options;
    const char **hosts;
    int host_count;
    bool wanted[BENCH_OP_COUNT];
    Wire wire;
    double adding; // bytes per second
} Bench;

typedef struct Buffers { // of one operation and size
    int64_t bytes;
    char *data, *arrivals;
} Buffers;

typedef struct Measured {
    double median, p10, p90; // seconds of the slowest rank
    int repeats;
    int64_t wrong;
} Measured;

// ---- Data that every rank can work out for every other: a mixed number as a float in [-1, 1).

static float value_of(int rank, int64_t index) {
    uint64_t mixed = ((uint64_t)rank << 40 ^ (uint64_t)index) + 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return (float)((double)((mixed ^ mixed >> 31) >> 40) * 0x1p-23 - 1);
}

static void fill(const Bench *bench, BenchOp op, const Buffers *buffers) {
    float *data = (float *)(void *)buffers->data;
    int rank = bench->wire.rank, n = bench->wire.rank_count;
    for (int64_t i = 0; i < buffers->bytes / 4; i++) data[i] = value_of(rank, i);
    if (op != BENCH_ALL_TO_ALL) return;
    int64_t start = piece_start(buffers->bytes, rank, n), mine = piece_start(buffers->bytes, rank + 1, n) - start;
    memset(buffers->data + buffers->bytes, 0, (size_t)(mine * n));
    memcpy(buffers->data + buffers->bytes + mine * rank, buffers->data + start, (size_t)mine); // does not travel
}

// Checks the value at an index of the result.
static bool is_right(const Bench *bench, BenchOp op, const Buffers *buffers, int64_t index, float found) {
    int n = bench->wire.rank_count;
    if (op == BENCH_ALL_TO_ALL) {
        int64_t start = piece_start(buffers->bytes, bench->wire.rank, n) / 4;
        int64_t mine = piece_start(buffers->bytes, bench->wire.rank + 1, n) / 4 - start;
        return found == value_of((int)(index / mine), start + index % mine);
    }
    if (op == BENCH_BROADCAST) return found == value_of(0, index);
    if (op == BENCH_PING_PONG) return found == value_of(bench->wire.rank > 1 ? bench->wire.rank : 0, index);
    double sum = 0;
    for (int rank = 0; rank < n; rank++) sum += (double)value_of(rank, index);
    return fabs((double)found - sum) < 1e-6 * n; // n roundings of sums up to n
}

static int64_t count_wrong(const Bench *bench, BenchOp op, const Buffers *buffers) {
    int64_t count = buffers->bytes / 4, wrong = 0;
    const float *result = (const float *)(const void *)buffers->data;
    if (op == BENCH_ALL_TO_ALL) {
        int n = bench->wire.rank_count;
        result += count;
        count =
            (piece_start(buffers->bytes, bench->wire.rank + 1, n) - piece_start(buffers->bytes, bench->wire.rank, n)) /
            4 * n;
    }
    int64_t stride = count <= CHECKED_FLOATS ? 1 : count / CHECKED_FLOATS | 1;
    for (int64_t i = 0; i < count; i += stride) wrong += !is_right(bench, op, buffers, i, result[i]);
    return wrong;
}

// ---- Running and timing.

static void add_floats(float *restrict sum, const float *restrict more, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] += more[i];
}

static void do_step(Wire *wire, const Buffers *buffers, const Step *step) {
    char *place = buffers->data + step->receive_at;
    wire_exchange(wire, step->to, buffers->data + step->send_at, (size_t)step->send_bytes, step->from,
                  step->add ? buffers->arrivals : place, (size_t)step->receive_bytes);
    if (step->add)
        add_floats((float *)(void *)place, (const float *)(const void *)buffers->arrivals, step->receive_bytes / 4);
}

typedef struct Span {
    double start, end;
} Span;

// Synchronised start. With a common clock, at an instant that rank 0 chooses and all sleep until: by then the
// agreement's traffic and CPU load are over.
static void begin_together(const Bench *bench, Wire *wire) {
    wire_barrier(wire);
    if (!option_flag(bench->options, "one-clock")) return;
    double start = wire_clock() + QUIET_SECONDS + QUIET_SECONDS_PER_RANK * wire->rank_count;
    wire_tell(wire, &start, sizeof start);
    double whole = floor(start);
    struct timespec until = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (start - whole))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static Span run_once(const Bench *bench, Wire *wire, const Buffers *buffers, const Schedule *schedule) {
    begin_together(bench, wire);
    Span span = {.start = wire_clock()};
    for (int s = 0; s < schedule->count; s++) do_step(wire, buffers, &schedule->items[s]);
    span.end = wire_clock();
    return span;
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double at_share(const double *sorted, int count, double share) {
    return sorted[(int)lround(share * (count - 1))];
}

static int choose_repeats(Bench *bench, double once) {
    double wanted = option_quantity(bench->options, "seconds", 1) / (once > 1e-9 ? once : 1e-9);
    int repeats = wanted > MOST_REPEATS ? MOST_REPEATS : wanted < FEWEST_REPEATS ? FEWEST_REPEATS : (int)wanted;
    wire_tell(&bench->wire, &repeats, sizeof repeats);
    return repeats;
}

// What a run of all ranks took. Clocks of different machines do not agree, so there each rank counts for itself.
static double time_of(const Bench *bench, BenchOp op, const Span *spans, int repeats) {
    double first = spans[0].start, last = spans[0].end, longest = last - first;
    if (op == BENCH_PING_PONG) return longest / 2; // one way
    for (int rank = 1; rank < bench->wire.rank_count; rank++) {
        const Span *span = &spans[rank * repeats];
        first = fmin(first, span->start);
        last = fmax(last, span->end);
        longest = fmax(longest, span->end - span->start);
    }
    return option_flag(bench->options, "one-clock") ? last - first : longest;
}

static void summarise(Bench *bench, BenchOp op, const Span *mine, int repeats, Measured *measured) {
    Span *all = ARENA_ARRAY(bench->arena, Span, bench->wire.rank_count * repeats);
    double times[MOST_REPEATS] = {0};
    wire_collect(&bench->wire, mine, (size_t)repeats * sizeof *mine, all);
    for (int r = 0; r < repeats && bench->wire.rank == 0; r++) times[r] = time_of(bench, op, all + r, repeats);
    qsort(times, (size_t)repeats, sizeof *times, by_size);
    measured->repeats = repeats;
    measured->median = at_share(times, repeats, 0.5);
    measured->p10 = at_share(times, repeats, 0.1);
    measured->p90 = at_share(times, repeats, 0.9);
}

static Measured measure(Bench *bench, BenchOp op, int64_t bytes) {
    Wire *wire = &bench->wire;
    Measured measured = {0};
    size_t room = (size_t)bytes + 4 * MOST_RANKS;
    Buffers buffers = {bytes, malloc(2 * room), malloc(room)};
    if (!buffers.data || !buffers.arrivals) wire->failed = "out of memory";
    Schedule schedule = schedule_create(bench->arena, op, wire->rank, wire->rank_count, bytes);
    Span mine[MOST_REPEATS];
    double once = 0;
    int64_t wrong = 0, *all_wrong = ARENA_ARRAY(bench->arena, int64_t, wire->rank_count);
    for (int i = 0; i < WARM_UPS && !wire->failed; i++) {
        fill(bench, op, &buffers);
        Span span = run_once(bench, wire, &buffers, &schedule);
        once = span.end - span.start;
        wrong += count_wrong(bench, op, &buffers);
    }
    int repeats = wire->failed ? 0 : choose_repeats(bench, once);
    for (int r = 0; r < repeats; r++) mine[r] = run_once(bench, wire, &buffers, &schedule);
    if (!wire->failed) {
        summarise(bench, op, mine, repeats, &measured);
        wire_collect(wire, &wrong, sizeof wrong, all_wrong);
        for (int rank = 0; rank < wire->rank_count; rank++) measured.wrong += all_wrong[rank];
    }
    free(buffers.data);
    free(buffers.arrivals);
    return measured;
}

// Bytes of floats one core adds per second, alone.
static double adding_speed(Arena *arena) {
    float *sum = arena_alloc(arena, SUM_BYTES), *more = arena_alloc(arena, SUM_BYTES);
    double seconds[MOST_REPEATS];
    for (int r = 0; r < MOST_REPEATS; r++) {
        double start = wire_clock();
        add_floats(sum, more, (int64_t)SUM_BYTES / 4);
        seconds[r] = wire_clock() - start;
        __asm__ volatile("" : : "r"(sum) : "memory"); // the sums are wanted
    }
    qsort(seconds, MOST_REPEATS, sizeof *seconds, by_size);
    return (double)SUM_BYTES / seconds[MOST_REPEATS / 2];
}

// ---- Printing, by rank 0.

static void print_head(Bench *bench) {
    if (option_flag(bench->options, "csv")) {
        printf("op,hosts,bytes,seconds,p10,p90,repeats,wrong,add_bytes_per_second\n");
        return;
    }
    printf("# %d hosts; one core adds %.3g GB/s of floats\n", bench->wire.rank_count, bench->adding / 1e9);
    printf("# %-20s %10s %10s %12s %10s %10s %9s %9s %8s %7s\n", "op", "size", "count", "time", "p10", "p90", "algbw",
           "busbw", "repeats", "#wrong");
    printf("# %-20s %10s %10s %12s %10s %10s %9s %9s\n", "", "(B)", "(floats)", "(us)", "(us)", "(us)", "(GB/s)",
           "(GB/s)");
}

static void print_row(const Bench *bench, BenchOp op, int64_t bytes, const Measured *measured) {
    if (option_flag(bench->options, "csv")) {
        printf("%s,%d,%lld,%.6g,%.6g,%.6g,%d,%lld,%.4g\n", bench_op_name(op), bench->wire.rank_count, (long long)bytes,
               measured->median, measured->p10, measured->p90, measured->repeats, (long long)measured->wrong,
               bench->adding);
        return;
    }
    double speed = (double)bytes / measured->median / 1e9;
    printf("  %-20s %10lld %10lld %12.1f %10.1f %10.1f %9.4f %9.4f %8d %7lld\n", bench_op_name(op), (long long)bytes,
           (long long)bytes / 4, 1e6 * measured->median, 1e6 * measured->p10, 1e6 * measured->p90, speed,
           speed * bench_bus_factor(op, bench->wire.rank_count), measured->repeats, (long long)measured->wrong);
}

// ---- The program.

static int split(Arena *arena, const char *text, const char **words, int room) {
    int count = 0;
    char *copy = arena_copy_text(arena, text), *next = NULL;
    for (char *word = strtok_r(copy, ",", &next); word && count < room; word = strtok_r(NULL, ",", &next))
        words[count++] = word;
    return count;
}

static void choose_ops(Bench *bench, Problems *problems) {
    const char *text = option_text(bench->options, "ops", NULL), *words[BENCH_OP_COUNT];
    int count = text ? split(bench->arena, text, words, BENCH_OP_COUNT) : 0;
    for (int i = 0; i < BENCH_OP_COUNT; i++) bench->wanted[i] = !text;
    for (int i = 0; i < count; i++) {
        BenchOp op;
        const char *names[BENCH_OP_COUNT];
        for (int k = 0; k < BENCH_OP_COUNT; k++) names[k] = bench_op_name((BenchOp)k);
        if (bench_op_from_name(words[i], &op)) {
            bench->wanted[op] = true;
            continue;
        }
        problem_add(problems, (Where){0}, "\"%s\" is nothing to run", words[i]);
        problem_hint_names(problems, words[i], names, BENCH_OP_COUNT);
    }
}

static void check_options(Bench *bench, Problems *problems) {
    bench->hosts = ARENA_ARRAY(bench->arena, const char *, MOST_RANKS);
    bench->host_count = split(bench->arena, option_text(bench->options, "hosts", ""), bench->hosts, MOST_RANKS);
    if (bench->host_count < 2) problem_add(problems, (Where){0}, "--hosts needs two addresses or more");
    if (!option_given(bench->options, "rank") || option_count(bench->options, "rank", 0) >= bench->host_count)
        problem_add(problems, (Where){0}, "--rank needs a place in the list of hosts, from 0");
    if (option_count(bench->options, "factor", 4) < 2) problem_add(problems, (Where){0}, "--factor must be 2 or more");
    if (option_count(bench->options, "port", 29500) + MOST_RANKS > 65535)
        problem_add(problems, (Where){0}, "--port is too high: rank i listens on port N + i");
    if (option_quantity(bench->options, "to", 1) > 0x1p32) problem_add(problems, (Where){0}, "--to is above 4 GiB");
    choose_ops(bench, problems);
}

static int run_all(Bench *bench) {
    int64_t least = (int64_t)option_quantity(bench->options, "from", 1024) / 4 * 4;
    int64_t most = (int64_t)option_quantity(bench->options, "to", 64 << 20), wrong = 0;
    int64_t factor = option_count(bench->options, "factor", 4);
    bool prints = bench->wire.rank == 0;
    if (prints) bench->adding = adding_speed(bench->arena);
    if (prints) print_head(bench);
    for (int op = 0; op < BENCH_OP_COUNT; op++)
        for (int64_t bytes = least > 4 ? least : 4; bytes <= most && bench->wanted[op]; bytes *= factor) {
            Measured measured = measure(bench, (BenchOp)op, bytes);
            if (bench->wire.failed) {
                fprintf(stderr, "netbench: %s\n", bench->wire.failed);
                return 1;
            }
            if (prints) print_row(bench, (BenchOp)op, bytes, &measured);
            if (prints) fflush(stdout);
            wrong += measured.wrong;
        }
    if (wrong > 0) fprintf(stderr, "netbench: %lld wrong numbers in the results\n", (long long)wrong);
    return wrong > 0;
}

static int run(Arena *arena, int argc, char **argv, Problems *problems) {
    Bench bench = {.arena = arena, .options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems)};
    if (option_help(bench.options)) {
        options_print_help(specs, SPEC_COUNT, "netbench --rank N --hosts A,B,… [--csv]",
                           "Times collectives between real processes over TCP. Start one per host; rank 0 prints.",
                           stdout);
        return 0;
    }
    options_refuse_positional(bench.options, 0, problems);
    check_options(&bench, problems);
    if (problem_count(problems) > 0) return EXIT_USAGE;
    bench.wire = wire_open(arena, (int)option_count(bench.options, "rank", 0), bench.hosts, bench.host_count,
                           (int)option_count(bench.options, "port", 29500), 20);
    if (bench.wire.failed) fprintf(stderr, "netbench: %s\n", bench.wire.failed);
    int code = bench.wire.failed ? 1 : run_all(&bench);
    wire_close(&bench.wire);
    return code;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1); // no timer slack: wake on time
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int code = run(arena, argc, argv, problems);
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
