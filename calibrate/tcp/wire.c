#include "calibrate/tcp/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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
