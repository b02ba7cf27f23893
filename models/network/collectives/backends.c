// Capabilities of NCCL, Gloo and MPI, after PyTorch's table of back ends.
#include <string.h>

#include "models/network/network.h"

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
