// NCCL for the emulated GPU, loaded by lockstep-bench as the real one is. Ranks are streams of one process or processes
// that share a piece of memory; either way a group of calls of a rank first lays out what it sends, and is through when
// all ranks have laid out theirs and it has taken what is for it. So a rank that is missing holds up the others, and a
// count that ranks do not agree on is an error, as a hang would be with the real one.
#include <vector>

#include "tests/cuda/emulator.h"

#include <atomic>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_RANKS 16
#define MOST_CALLS 64 // of a rank in one group
#define DATA_BYTES ((size_t)1 << 20)
#define FLOAT_TYPE 7
#define SUM 0

enum { OK = 0, CUDA_ERROR = 1, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum Kind { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, SEND, RECEIVE };

struct Call {
    Kind kind;
    size_t count;  // floats
    int peer;      // or root
    size_t offset; // of what is sent, among the rank's data
    const float *send;
    float *receive;
};

struct Desk {                          // of one rank, seen by all
    std::atomic<long> laid_out, taken; // groups
    int count;
    Call calls[MOST_CALLS];
    float data[DATA_BYTES / sizeof(float)];
};

struct Room {
    std::atomic<int> joined;
    Desk desks[MOST_RANKS];
};

struct Communicator {
    Room *room;
    int rank, ranks, device;
    long groups;
};

struct UniqueId {
    char name[128];
};

static struct Pending {
    Communicator *communicator;
    cudaStream_t stream;
    std::vector<Call> calls;
} group[MOST_RANKS];
static int group_depth, group_ranks, group_error; // one call that fails fails its group

// ---- One group of one rank.

static size_t sent_by(const Call &call, int ranks) {
    if (call.kind == RECEIVE) return 0;
    return call.kind == REDUCE_SCATTER ? call.count * (size_t)ranks : call.count;
}

static bool lay_out(Communicator *self, std::vector<Call> &calls, long number) {
    for (int r = 0; r < self->ranks; r++)
        if (self->room->desks[r].taken < number - 1) return false; // somebody still looks at the last group's
    Desk *desk = &self->room->desks[self->rank];
    size_t offset = 0;
    for (Call &call : calls) {
        size_t count = sent_by(call, self->ranks);
        call.offset = offset;
        memcpy(desk->data + offset, call.send, count * sizeof(float));
        offset += count;
    }
    memcpy(desk->calls, calls.data(), calls.size() * sizeof(Call));
    desk->count = (int)calls.size();
    desk->laid_out = number;
    return true;
}

// What rank `from` sends to this one by its nth call to it.
static const float *sent_to(const Communicator *self, int from, int nth, size_t count) {
    const Desk *desk = &self->room->desks[from];
    for (int i = 0; i < desk->count; i++) {
        const Call *call = &desk->calls[i];
        if (call->kind != SEND || call->peer != self->rank || nth-- > 0) continue;
        return call->count == count ? desk->data + call->offset : NULL;
    }
    return NULL;
}

// Sums start at another rank for every element, as the pieces of a ring do.
static float sum_of(const Communicator *self, size_t which, size_t i) {
    float sum = 0;
    for (int r = 0; r < self->ranks; r++) {
        const Desk *desk = &self->room->desks[(r + (int)(i % 7)) % self->ranks];
        sum += desk->data[desk->calls[which].offset + i];
    }
    return sum;
}

static bool take(const Communicator *self, const Call &call, size_t which) {
    const Desk *desks = self->room->desks;
    for (int r = 0; r < self->ranks; r++) {
        const Call *other = &desks[r].calls[which];
        if (call.kind >= SEND) break;
        if (other->kind != call.kind || other->count != call.count || other->peer != call.peer) return false;
    }
    size_t count = call.count;
    switch (call.kind) {
    case ALL_REDUCE:
    case REDUCE:
        for (size_t i = 0; i < count && (call.kind == ALL_REDUCE || self->rank == call.peer); i++)
            call.receive[i] = sum_of(self, which, i);
        return true;
    case REDUCE_SCATTER:
        for (size_t i = 0; i < count; i++) call.receive[i] = sum_of(self, which, (size_t)self->rank * count + i);
        return true;
    case ALL_GATHER:
        for (int r = 0; r < self->ranks; r++)
            memcpy(call.receive + (size_t)r * count, desks[r].data + desks[r].calls[which].offset,
                   count * sizeof(float));
        return true;
    case BROADCAST:
        memcpy(call.receive, desks[call.peer].data + desks[call.peer].calls[which].offset, count * sizeof(float));
        return true;
    default:
        return true;
    }
}

static bool take_all(Communicator *self, const std::vector<Call> &calls, long number) {
    for (int r = 0; r < self->ranks; r++)
        if (self->room->desks[r].laid_out < number) return false;
    for (size_t i = 0; i < calls.size(); i++) {
        const Call &call = calls[i];
        int nth = 0;
        for (size_t j = 0; j < i; j++) nth += calls[j].kind == RECEIVE && calls[j].peer == call.peer;
        const float *from = call.kind == RECEIVE ? sent_to(self, call.peer, nth, call.count) : NULL;
        if (from) memcpy(call.receive, from, call.count * sizeof(float));
        if (call.kind == RECEIVE ? !from : !take(self, call, i))
            emulator_fault(cudaErrorLaunchFailure, "ranks do not agree on a collective, which would hang");
    }
    self->room->desks[self->rank].taken = number;
    return true;
}

static int enqueue(const Pending &pending) {
    Communicator *self = pending.communicator;
    auto calls = std::make_shared<std::vector<Call>>(pending.calls);
    auto is_out = std::make_shared<bool>(false);
    long number = ++self->groups;
    emulated_enqueue(pending.stream, [=] {
        if (!*is_out) *is_out = lay_out(self, *calls, number);
        return *is_out && take_all(self, *calls, number);
    });
    return OK;
}

// ---- Calls.

static bool is_on(const Communicator *self, const void *at, size_t count) {
    const Allocation *of = memory_find(at);
    return of && of->is_live && of->device == self->device &&
           (const char *)at + count * sizeof(float) <= of->begin + of->bytes;
}

// In place means: the piece that is a rank's own. Any other overlap is a mistake.
static bool may_overlap(const Communicator *self, const Call &call, size_t sent, size_t received) {
    const float *in_place = call.kind == ALL_GATHER ? call.receive + (size_t)self->rank * call.count : call.receive;
    const float *own = call.kind == REDUCE_SCATTER ? call.send + (size_t)self->rank * call.count : call.send;
    return own == in_place || call.send + sent <= call.receive || call.receive + received <= call.send;
}

static int try_call(const char *name, Communicator *self, cudaStream_t stream, const Call &call, int type) {
    if (emulator_begin_call(name)) return CUDA_ERROR;
    size_t sent = sent_by(call, self->ranks);
    size_t received = call.kind == SEND ? 0 : call.kind == ALL_GATHER ? call.count * (size_t)self->ranks : call.count;
    if (type != FLOAT_TYPE || call.peer < 0 || call.peer >= self->ranks) return INVALID_ARGUMENT;
    if (emulated_device_of(stream) != self->device) return INVALID_USAGE;
    bool is_read_only = call.kind == REDUCE && self->rank != call.peer;
    if (sent && !is_on(self, call.send, sent)) return INVALID_ARGUMENT;
    if (received && !is_read_only && !is_on(self, call.receive, received)) return INVALID_ARGUMENT;
    if (sent && received && !is_read_only && !may_overlap(self, call, sent, received)) return INVALID_USAGE;
    if (group_depth == 0) return enqueue({self, stream, {call}});
    Pending *own = NULL;
    for (int i = 0; i < group_ranks; i++)
        if (group[i].communicator == self) own = &group[i];
    if (!own) own = &group[group_ranks++], *own = {self, stream, {}};
    if (own->stream != stream || own->calls.size() == MOST_CALLS) return INVALID_USAGE;
    own->calls.push_back(call);
    return OK;
}

static int add_call(const char *name, Communicator *self, cudaStream_t stream, const Call &call, int type) {
    int error = try_call(name, self, stream, call, type);
    if (error && group_depth > 0) group_error = error;
    return error;
}

#define NAMED __attribute__((visibility("default")))
extern "C" {

NAMED const char *ncclGetErrorString(int error) {
    return error == CUDA_ERROR         ? "unhandled cuda error"
           : error == INVALID_ARGUMENT ? "invalid argument"
                                       : "invalid usage";
}
NAMED int ncclGetVersion(int *version) {
    *version = 22105;
    return OK;
}

NAMED int ncclGetUniqueId(UniqueId *id) {
    static int count;
    if (emulator_begin_call(__func__)) return CUDA_ERROR;
    memset(id, 0, sizeof *id);
    snprintf(id->name, sizeof id->name, "/lockstep-emulated-nccl-%d-%d", (int)getpid(), count++);
    int file = shm_open(id->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    int error = file < 0 || ftruncate(file, sizeof(Room)) != 0;
    if (file >= 0) close(file);
    return error ? CUDA_ERROR : OK;
}

NAMED int ncclCommInitRank(Communicator **made, int ranks, UniqueId id, int rank) {
    if (emulator_begin_call(__func__)) return CUDA_ERROR;
    if (ranks < 1 || ranks > MOST_RANKS || rank < 0 || rank >= ranks) return INVALID_ARGUMENT;
    int file = shm_open(id.name, O_RDWR, 0600), device = 0;
    if (file < 0) return CUDA_ERROR;
    Room *room = (Room *)mmap(NULL, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (room == MAP_FAILED) return CUDA_ERROR;
    room->joined++;
    while (room->joined < ranks) usleep(1000);
    if (rank == 0) shm_unlink(id.name);
    device = emulated_device_of(NULL);
    *made = new Communicator{room, rank, ranks, device, 0};
    return OK;
}

NAMED int ncclCommInitAll(Communicator **made, int ranks, const int *devices) {
    if (emulator_begin_call(__func__)) return CUDA_ERROR;
    if (ranks < 1 || ranks > MOST_RANKS) return INVALID_ARGUMENT;
    Room *room = (Room *)mmap(NULL, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return CUDA_ERROR;
    for (int r = 0; r < ranks; r++) made[r] = new Communicator{room, r, ranks, devices ? devices[r] : r, 0};
    return OK;
}

NAMED int ncclCommDestroy(Communicator *communicator) {
    delete communicator;
    return OK;
}

NAMED int ncclGroupStart() {
    if (emulator_begin_call(__func__)) return CUDA_ERROR;
    group_depth++;
    return OK;
}

NAMED int ncclGroupEnd() {
    if (group_depth == 0) return INVALID_USAGE;
    if (emulator_begin_call(__func__)) group_error = CUDA_ERROR;
    if (--group_depth > 0) return OK;
    int error = group_error;
    for (int i = 0; i < group_ranks && !error; i++) enqueue(group[i]);
    group_ranks = group_error = 0;
    return error;
}

NAMED int ncclAllReduce(const float *send, float *receive, size_t count, int type, int operation, Communicator *self,
                        cudaStream_t stream) {
    if (operation != SUM) return INVALID_ARGUMENT;
    return add_call(__func__, self, stream, {ALL_REDUCE, count, 0, 0, send, receive}, type);
}
NAMED int ncclAllGather(const float *send, float *receive, size_t count, int type, Communicator *self,
                        cudaStream_t stream) {
    return add_call(__func__, self, stream, {ALL_GATHER, count, 0, 0, send, receive}, type);
}
NAMED int ncclReduceScatter(const float *send, float *receive, size_t count, int type, int operation,
                            Communicator *self, cudaStream_t stream) {
    if (operation != SUM) return INVALID_ARGUMENT;
    return add_call(__func__, self, stream, {REDUCE_SCATTER, count, 0, 0, send, receive}, type);
}
NAMED int ncclBroadcast(const float *send, float *receive, size_t count, int type, int root, Communicator *self,
                        cudaStream_t stream) {
    return add_call(__func__, self, stream, {BROADCAST, count, root, 0, send, receive}, type);
}
NAMED int ncclReduce(const float *send, float *receive, size_t count, int type, int operation, int root,
                     Communicator *self, cudaStream_t stream) {
    if (operation != SUM) return INVALID_ARGUMENT;
    return add_call(__func__, self, stream, {REDUCE, count, root, 0, send, receive}, type);
}
NAMED int ncclSend(const float *send, size_t count, int type, int peer, Communicator *self, cudaStream_t stream) {
    return add_call(__func__, self, stream, {SEND, count, peer, 0, send, NULL}, type);
}
NAMED int ncclRecv(float *receive, size_t count, int type, int peer, Communicator *self, cudaStream_t stream) {
    return add_call(__func__, self, stream, {RECEIVE, count, peer, 0, NULL, receive}, type);
}
}
