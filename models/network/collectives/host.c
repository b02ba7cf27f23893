// Back ends: what NCCL, Gloo and MPI can do, and the collectives of those two on host memory.
#include <math.h>
#include <string.h>

#include "models/network/collectives/candidates.h"
#include "models/network/network_constants.h"

// ---- Capabilities of NCCL, Gloo and MPI, after PyTorch's table of back ends.

static const char *const names[BACKEND_COUNT] = {"nccl", "gloo", "mpi"};

const char *backend_name(Backend backend) { return names[backend]; }

bool backend_from_name(const char *name, Backend *backend) {
    for (int i = 0; i < BACKEND_COUNT; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *backend = (Backend)i;
        return true;
    }
    return false;
}

typedef enum Support { NEVER, ALWAYS, IF_CUDA_AWARE } Support;

typedef struct Row {
    Support nccl_gpu, gloo_cpu, gloo_gpu, mpi_cpu, mpi_gpu; // NCCL has no CPU tensors at all
    const char *no_nccl_cpu, *no_gloo_cpu, *no_gloo_gpu, *no_mpi_cpu, *no_mpi_gpu;
} Row;

#define REASONS(op)                                                                                                    \
    "nccl cannot " op " CPU tensors; move them to the GPU, or use gloo",                                               \
        "gloo cannot " op " CPU tensors; use nccl with GPU tensors", "gloo cannot " op " GPU tensors; use nccl",       \
        "mpi cannot " op "; use nccl with GPU tensors",                                                                \
        "mpi can " op " GPU tensors only if it was built CUDA-aware; use nccl, or a CUDA-aware MPI"

//                                              nccl    gloo            mpi
//                                              GPU     CPU     GPU     CPU     GPU
static const Row rows[COLLECTIVE_OP_COUNT] = {
    [COLLECTIVE_SEND_RECV] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("send or receive")},
    [COLLECTIVE_BROADCAST] = {ALWAYS, ALWAYS, ALWAYS, ALWAYS, IF_CUDA_AWARE, REASONS("broadcast")},
    [COLLECTIVE_ALL_REDUCE] = {ALWAYS, ALWAYS, ALWAYS, ALWAYS, IF_CUDA_AWARE, REASONS("all_reduce")},
    [COLLECTIVE_REDUCE] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("reduce")},
    [COLLECTIVE_ALL_GATHER] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("all_gather")},
    [COLLECTIVE_GATHER] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("gather")},
    // The published table has no scatter for nccl; NCCL has it since it can send and receive (2.7).
    [COLLECTIVE_SCATTER] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("scatter")},
    [COLLECTIVE_REDUCE_SCATTER] = {ALWAYS, NEVER, NEVER, NEVER, NEVER, REASONS("reduce_scatter")},
    [COLLECTIVE_ALL_TO_ALL] = {ALWAYS, NEVER, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("all_to_all")},
    [COLLECTIVE_BARRIER] = {ALWAYS, ALWAYS, NEVER, ALWAYS, IF_CUDA_AWARE, REASONS("barrier on")},
};

static bool answer(Support support, bool cuda_aware, const char *reason, const char **why) {
    bool yes = support == ALWAYS || (support == IF_CUDA_AWARE && cuda_aware);
    *why = yes ? "" : reason;
    return yes;
}

bool backend_supports(Backend backend, CollectiveOp op, bool on_gpu, bool cuda_aware_mpi, const char **why) {
    const Row *row = &rows[op];
    if (backend == BACKEND_NCCL) return answer(on_gpu ? row->nccl_gpu : NEVER, false, row->no_nccl_cpu, why);
    if (backend == BACKEND_GLOO && on_gpu) return answer(row->gloo_gpu, false, row->no_gloo_gpu, why);
    if (backend == BACKEND_GLOO) return answer(row->gloo_cpu, false, row->no_gloo_cpu, why);
    if (on_gpu && row->mpi_gpu == IF_CUDA_AWARE) return answer(row->mpi_gpu, cuda_aware_mpi, row->no_mpi_gpu, why);
    return answer(on_gpu ? row->mpi_gpu : row->mpi_cpu, false, row->no_mpi_cpu, why);
}

// ---- Gloo and MPI: collectives on host memory. GPU tensors are copied there and back.

#define MPI_SHORT_BYTES 16384.0
#define MPI_MIDDLE_BYTES 262144.0 // 64 to 127 ranks: recursive doubling up to here (Open MPI's fixed rules)

HostConstants host_constants(Backend backend) {
    NetworkConstantId first = backend == BACKEND_GLOO ? GLOO_MESSAGE_TIME : MPI_MESSAGE_TIME;
    return (HostConstants){.software_seconds = network_constant(first),
                           .local_seconds = network_constant(first + 1),
                           .process_bytes_per_second = network_constant(first + 2),
                           .local_copies = network_constant(first + 3)};
}

int log2_up(int number) {
    int power = 0;
    while (1 << power < number) power++;
    return power;
}

static double step_inside(const HostConstants *constants) { return constants->local_seconds; }
static double step_between(const HostConstants *constants, const Group *group) {
    return constants->software_seconds + group->network_seconds;
}

static double steps(const HostConstants *constants, const Group *group, int inside, int between) {
    return inside * step_inside(constants) + between * step_between(constants, group);
}

static Candidate ring(const HostConstants *constants, const Group *group, int turns) {
    int n = group->rank_count, between = group->block_count > 1 ? group->block_count - 1 : 0;
    double bytes = turns * (n - 1.0) / n;
    return (Candidate){.algorithm = "ring",
                       .inside = bytes,
                       .between = bytes,
                       .latency = steps(constants, group, turns * (n - 1 - between), turns * between)};
}

// Every rank exchanges the whole buffer log2(n) times.
static Candidate recursive_doubling(const HostConstants *constants, const Group *group) {
    int inside = log2_up(group->most), between = log2_up(group->block_count);
    return (Candidate){.algorithm = "recursive_doubling",
                       .inside = inside,
                       .between = (double)between * group->most,
                       .latency = steps(constants, group, inside, between)};
}

// Reduce-scatter by halving, then all-gather by doubling (Rabenseifner, 2004): ring bytes in 2 log2(n) steps.
static Candidate halving_doubling(const HostConstants *constants, const Group *group) {
    int n = group->rank_count, m = group->block_count;
    return (Candidate){.algorithm = "rabenseifner",
                       .inside = 2 * (n - 1.0) / n,
                       .between = 2 * (m - 1.0) / m,
                       .latency = steps(constants, group, 2 * log2_up(group->most), 2 * log2_up(m))};
}

static Candidate binomial(const HostConstants *constants, const Group *group) {
    int inside = log2_up(group->most), between = log2_up(group->block_count);
    return (Candidate){.algorithm = "binomial",
                       .inside = inside,
                       .between = between,
                       .latency = steps(constants, group, inside, between)};
}

static Candidate direct(const HostConstants *constants, const Group *group) {
    bool remote = group->block_count > 1;
    return (Candidate){.algorithm = "direct",
                       .inside = 1,
                       .between = 1,
                       .latency = steps(constants, group, !remote, remote) +
                                  (group->rank_count - 2) * constants->local_seconds};
}

static Candidate all_reduce(Backend backend, const HostConstants *constants, const Group *group, double bytes) {
    bool middle = group->rank_count >= 64 && group->rank_count < 128;
    if (backend == BACKEND_GLOO) return ring(constants, group, 2);
    if (bytes < (middle ? MPI_MIDDLE_BYTES : MPI_SHORT_BYTES)) return recursive_doubling(constants, group);
    return halving_doubling(constants, group);
}

int host_candidates(const Group *group, Backend backend, CollectiveOp op, double bytes, Candidate *candidates) {
    const HostConstants values = host_constants(backend), *constants = &values;
    Candidate *candidate = &candidates[0];
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_BARRIER:
        *candidate = all_reduce(backend, constants, group, bytes);
        break;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        *candidate = ring(constants, group, 1);
        break;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        *candidate = binomial(constants, group);
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_OP_COUNT:
        *candidate = direct(constants, group);
        break;
    }
    candidate->protocol = PROTOCOL_COUNT;
    candidate->channels = 1;
    candidate->inside_limit = constants->process_bytes_per_second;
    candidate->between_limit = constants->process_bytes_per_second * (backend == BACKEND_GLOO ? 1 : group->least);
    return 1;
}
