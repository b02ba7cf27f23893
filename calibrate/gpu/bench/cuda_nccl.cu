// NCCL's collectives: over all GPUs of the machine from one process, or over many processes with a GPU each that
// rendezvous through a file. NCCL is loaded at run time, so a build needs neither its headers nor its library.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<nccl.h>)
#include <nccl.h>
static_assert(ncclFloat32 == 7 && ncclSum == 0 && sizeof(ncclUniqueId) == 128, "NCCL's numbers have changed");
#endif
#endif

#define FLOAT_TYPE 7
#define SUM_OPERATION 0
#define SEED_RANK 200

// ---- NCCL's calls, as its header has them.

typedef struct UniqueId {
    char bytes[128];
} UniqueId;
typedef void *Communicator;

static struct {
    void *handle;
    const char *(*error)(int);
    int (*version)(int *);
    int (*unique_id)(UniqueId *);
    int (*init_all)(Communicator *, int, const int *);
    int (*init_rank)(Communicator *, int, UniqueId, int);
    int (*destroy)(Communicator);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*all_reduce)(const void *, void *, size_t, int, int, Communicator, cudaStream_t);
    int (*all_gather)(const void *, void *, size_t, int, Communicator, cudaStream_t);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, Communicator, cudaStream_t);
    int (*broadcast)(const void *, void *, size_t, int, int, Communicator, cudaStream_t);
    int (*reduce)(const void *, void *, size_t, int, int, int, Communicator, cudaStream_t);
    int (*send)(const void *, size_t, int, int, Communicator, cudaStream_t);
    int (*receive)(void *, size_t, int, int, Communicator, cudaStream_t);
} nccl;

static const struct {
    void *place;
    const char *name;
} calls[] = {{&nccl.error, "ncclGetErrorString"},
             {&nccl.version, "ncclGetVersion"},
             {&nccl.unique_id, "ncclGetUniqueId"},
             {&nccl.init_all, "ncclCommInitAll"},
             {&nccl.init_rank, "ncclCommInitRank"},
             {&nccl.destroy, "ncclCommDestroy"},
             {&nccl.group_start, "ncclGroupStart"},
             {&nccl.group_end, "ncclGroupEnd"},
             {&nccl.all_reduce, "ncclAllReduce"},
             {&nccl.all_gather, "ncclAllGather"},
             {&nccl.reduce_scatter, "ncclReduceScatter"},
             {&nccl.broadcast, "ncclBroadcast"},
             {&nccl.reduce, "ncclReduce"},
             {&nccl.send, "ncclSend"},
             {&nccl.receive, "ncclRecv"}};

static bool load_nccl(void) {
    if (nccl.handle) return true;
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    if (!library) return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(library, calls[i].name);
        if (!found) return false;
        memcpy(calls[i].place, &found, sizeof found);
    }
    nccl.handle = library;
    return true;
}

bool nccl_describe(char *text, size_t text_bytes) {
    int version = 0;
    if (!load_nccl() || nccl.version(&version) != 0) return false;
    snprintf(text, text_bytes, "NCCL %d.%d.%d", version / 10000, version % 10000 / 100, version % 100);
    return true;
}

#define NCCL_TRY(fault, call)                                                                                          \
    do {                                                                                                               \
        int nccl_error_ = (call);                                                                                      \
        if (nccl_error_ != 0) return bench_fail(fault, __FILE__, __LINE__, "%s: %s", #call, nccl.error(nccl_error_));  \
    } while (0)

// ---- One rank's part of an operation. `bytes` is what nccl-tests calls the size: of the whole, so that a gather
// gives each rank's share of it.

static size_t share_of(size_t count, int ranks) { return count / (size_t)ranks; }

static BenchStatus one_rank(const BenchCase *of, Communicator communicator, cudaStream_t stream, int rank, int ranks,
                            const float *in, float *out, BenchFault *fault) {
    size_t count = (size_t)of->bytes / sizeof(float), share = share_of(count, ranks);
    if (strcmp(of->operation, "all_reduce") == 0)
        NCCL_TRY(fault, nccl.all_reduce(in, out, count, FLOAT_TYPE, SUM_OPERATION, communicator, stream));
    else if (strcmp(of->operation, "all_gather") == 0)
        NCCL_TRY(fault, nccl.all_gather(in, out, share, FLOAT_TYPE, communicator, stream));
    else if (strcmp(of->operation, "reduce_scatter") == 0)
        NCCL_TRY(fault, nccl.reduce_scatter(in, out, share, FLOAT_TYPE, SUM_OPERATION, communicator, stream));
    else if (strcmp(of->operation, "broadcast") == 0)
        NCCL_TRY(fault, nccl.broadcast(in, out, count, FLOAT_TYPE, 0, communicator, stream));
    else if (strcmp(of->operation, "reduce") == 0)
        NCCL_TRY(fault, nccl.reduce(in, out, count, FLOAT_TYPE, SUM_OPERATION, 0, communicator, stream));
    else if (strcmp(of->operation, "sendrecv") == 0) {
        NCCL_TRY(fault, nccl.send(in, count, FLOAT_TYPE, (rank + 1) % ranks, communicator, stream));
        NCCL_TRY(fault, nccl.receive(out, count, FLOAT_TYPE, (rank + ranks - 1) % ranks, communicator, stream));
    } else {
        for (int peer = 0; peer < ranks; peer++) {
            NCCL_TRY(fault, nccl.send(in + peer * share, share, FLOAT_TYPE, peer, communicator, stream));
            NCCL_TRY(fault, nccl.receive(out + peer * share, share, FLOAT_TYPE, peer, communicator, stream));
        }
    }
    return BENCH_DONE;
}

// The calls of ranks first … end - 1 as one group, which is ended even when one of them fails: a group that is left
// open would keep every later collective from starting.
typedef struct Part {
    Communicator communicator;
    cudaStream_t stream;
    const float *in;
    float *out;
} Part;

static BenchStatus one_group(const BenchCase *of, const Part *parts, int first, int end, int ranks, BenchFault *fault) {
    BenchStatus status = BENCH_DONE;
    NCCL_TRY(fault, nccl.group_start());
    for (int r = first; r < end && !status; r++) {
        const Part *part = &parts[r - first];
        status = one_rank(of, part->communicator, part->stream, r, ranks, part->in, part->out, fault);
    }
    int ended = nccl.group_end();
    if (status) return status;
    NCCL_TRY(fault, ended);
    return BENCH_DONE;
}

// How many floats of a rank's result to look at, and what element i of it must be.
static size_t result_count(const BenchCase *of, int rank, int ranks) {
    size_t count = (size_t)of->bytes / sizeof(float), share = share_of(count, ranks);
    if (strcmp(of->operation, "reduce") == 0 && rank != 0) return 0;
    if (strcmp(of->operation, "reduce_scatter") == 0) return share;
    if (strcmp(of->operation, "all_gather") == 0 || strcmp(of->operation, "alltoall") == 0) return share * ranks;
    return count;
}

static double expected(const BenchCase *of, int rank, int ranks, size_t i) {
    size_t share = share_of((size_t)of->bytes / sizeof(float), ranks);
    double sum = 0;
    if (strcmp(of->operation, "broadcast") == 0) return random_element(SEED_RANK, i);
    if (strcmp(of->operation, "sendrecv") == 0) return random_element(SEED_RANK + (rank + ranks - 1) % ranks, i);
    if (strcmp(of->operation, "all_gather") == 0) return random_element(SEED_RANK + (unsigned)(i / share), i % share);
    if (strcmp(of->operation, "alltoall") == 0)
        return random_element(SEED_RANK + (unsigned)(i / share), (size_t)rank * share + i % share);
    size_t at = strcmp(of->operation, "reduce_scatter") == 0 ? (size_t)rank * share + i : i;
    for (int r = 0; r < ranks; r++) sum += random_element(SEED_RANK + r, at);
    return sum;
}

#define WINDOW 1024

static BenchStatus check_rank(const BenchCase *of, int rank, int ranks, const float *out, ErrorSum *sum,
                              BenchFault *fault) {
    double got[WINDOW];
    size_t count = result_count(of, rank, ranks), window = count < WINDOW ? count : WINDOW;
    for (int w = 0; w < 8 && window > 0; w++) {
        size_t first = (count - window) * (size_t)w / 7;
        TRY(device_fetch(out, FLOAT32, first, window, got, fault));
        for (size_t i = 0; i < window; i++) error_add(sum, got[i], expected(of, rank, ranks, first + i));
    }
    return BENCH_DONE;
}

// ---- The family: all GPUs from one process.

static struct {
    Part parts[MOST_GPUS];
    bool started;
} group;

static BenchStatus start_all(Device *device, BenchFault *fault) {
    if (group.started) return BENCH_DONE;
    if (!load_nccl()) return bench_skip(fault, "no libnccl.so.2 is installed");
    for (int i = 0; i < device->machine.gpu_count; i++) {
        CUDA_TRY(fault, cudaSetDevice(i));
        if (!group.parts[i].stream)
            CUDA_TRY(fault, cudaStreamCreateWithFlags(&group.parts[i].stream, cudaStreamNonBlocking));
    }
    CUDA_TRY(fault, cudaSetDevice(0));
    Communicator communicators[MOST_GPUS];
    NCCL_TRY(fault, nccl.init_all(communicators, device->machine.gpu_count, NULL));
    for (int i = 0; i < device->machine.gpu_count; i++) group.parts[i].communicator = communicators[i];
    group.started = true; // for the life of the section's process
    return BENCH_DONE;
}

// In place, as NCCL means it: a rank's own piece lies where the whole has it.
static void lay_in_place(const BenchCase *of, int rank, int ranks, float *whole, Part *part) {
    size_t own = (size_t)rank * share_of((size_t)of->bytes / sizeof(float), ranks);
    part->in = strcmp(of->operation, "all_gather") == 0 ? whole + own : whole;
    part->out = strcmp(of->operation, "reduce_scatter") == 0 ? whole + own : whole;
}

static BenchStatus prepare_part(Device *device, const BenchCase *of, int rank, BenchFault *fault) {
    Part *part = &group.parts[rank];
    int ranks = device->machine.gpu_count;
    size_t bytes = (size_t)of->bytes, count = bytes / sizeof(float);
    bool is_gather = strcmp(of->operation, "all_gather") == 0;
    float *whole, *result;
    TRY(device_allocate(device, bytes + 16, (void **)&whole, fault));
    Device there = *device; // fills run in the stream of the GPU that holds the buffer
    there.stream = part->stream;
    part->in = whole;
    if (strstr(of->variant, "in place")) {
        lay_in_place(of, rank, ranks, whole, part);
        TRY(device_spoil(&there, whole, bytes, fault));
    } else {
        TRY(device_allocate(device, bytes + 16, (void **)&result, fault));
        TRY(device_spoil(&there, result, bytes, fault));
        part->out = result;
    }
    TRY(device_fill(&there, (void *)part->in, FLOAT32, is_gather ? share_of(count, ranks) : count, SEED_RANK + rank,
                    fault));
    CUDA_TRY(fault, cudaStreamSynchronize(part->stream));
    return BENCH_DONE;
}

static BenchStatus nccl_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    (void)sets;
    TRY(start_all(device, fault));
    for (int i = 0; i < device->machine.gpu_count; i++) {
        CUDA_TRY(fault, cudaSetDevice(i));
        TRY(prepare_part(device, of, i, fault));
    }
    CUDA_TRY(fault, cudaSetDevice(0));
    return BENCH_DONE;
}

static BenchStatus nccl_launch(Device *device, int count, BenchFault *fault) {
    int ranks = device->machine.gpu_count;
    for (int i = 0; i < count; i++) TRY(one_group(&device->of, group.parts, 0, ranks, ranks, fault));
    return BENCH_DONE;
}

static BenchStatus nccl_check(Device *device, BenchCheck *check, BenchFault *fault) {
    int ranks = device->machine.gpu_count;
    ErrorSum sum = {0, 0};
    for (int r = 0; r < ranks; r++) TRY(check_rank(&device->of, r, ranks, group.parts[r].out, &sum, fault));
    check->error = error_relative(&sum);
    check->tolerance = 1e-6;
    return BENCH_DONE;
}

static void nccl_finish(Device *device) {
    for (int i = 0; i < device->machine.gpu_count; i++) {
        cudaSetDevice(i);
        cudaDeviceSynchronize();
    }
    cudaSetDevice(0);
}

const Family nccl_family = {nccl_prepare, NULL, nccl_launch, nccl_check, nccl_finish};

// ---- Many processes. All of them run the same cases with the same counts, so that none waits for a collective that
// another does not call; counts follow from the size alone.

#define MEET_SECONDS 120.0
#define MEET_BUDGET_SECONDS 600 // for everything; then each rank ends, whatever NCCL does
#define MEET_SAMPLES 9

typedef struct Meeting {
    const char *file, *output;
    int rank, ranks, gpu, local; // gpu: as asked for, or -1; local: among the processes of this machine
    int64_t most_bytes;
    Communicator communicator;
    cudaStream_t stream;
    cudaEvent_t events[2];
    float *in, *out;
} Meeting;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// Rank 0 puts NCCL's address into the file, whole or not at all; the others wait for it.
static BenchStatus exchange_id(const Meeting *meeting, UniqueId *id, BenchFault *fault) {
    char temporary[1024];
    if (meeting->rank == 0) {
        if (access(meeting->file, F_OK) == 0)
            return bench_fail(fault, __FILE__, __LINE__, "%s is there already, from an earlier run: remove it",
                              meeting->file);
        NCCL_TRY(fault, nccl.unique_id(id));
        snprintf(temporary, sizeof temporary, "%s.new", meeting->file);
        FILE *out = fopen(temporary, "wb");
        bool written = out && fwrite(id, sizeof *id, 1, out) == 1;
        if (out) written = fclose(out) == 0 && written;
        if (!written || rename(temporary, meeting->file) != 0)
            return bench_fail(fault, __FILE__, __LINE__, "%s cannot be written", meeting->file);
        return BENCH_DONE;
    }
    for (double begin = now(); now() - begin < MEET_SECONDS; usleep(100000)) {
        FILE *in = fopen(meeting->file, "rb");
        bool is_read = in && fread(id, sizeof *id, 1, in) == 1;
        if (in) fclose(in);
        if (is_read) return BENCH_DONE;
    }
    return bench_fail(fault, __FILE__, __LINE__, "rank 0 did not write %s within %.0f s", meeting->file, MEET_SECONDS);
}

static BenchStatus open_meeting(Meeting *meeting, BenchFault *fault) {
    UniqueId id;
    int gpus = 0;
    if (!load_nccl()) return bench_fail(fault, __FILE__, __LINE__, "no libnccl.so.2 is installed");
    CUDA_TRY(fault, cudaGetDeviceCount(&gpus));
    // A launcher that gives each process one GPU numbers that 0, whatever the process's number on its machine.
    CUDA_TRY(fault, cudaSetDevice(meeting->gpu >= 0 ? meeting->gpu : meeting->local % gpus));
    TRY(exchange_id(meeting, &id, fault));
    NCCL_TRY(fault, nccl.init_rank(&meeting->communicator, meeting->ranks, id, meeting->rank));
    CUDA_TRY(fault, cudaStreamCreateWithFlags(&meeting->stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) CUDA_TRY(fault, cudaEventCreate(&meeting->events[i]));
    CUDA_TRY(fault, cudaMalloc((void **)&meeting->in, (size_t)meeting->most_bytes + 16));
    CUDA_TRY(fault, cudaMalloc((void **)&meeting->out, (size_t)meeting->most_bytes + 16));
    return BENCH_DONE;
}

static BenchStatus repeat_meeting(const Meeting *meeting, const BenchCase *of, int count, double *seconds,
                                  BenchFault *fault) {
    float milliseconds = 0;
    CUDA_TRY(fault, cudaEventRecord(meeting->events[0], meeting->stream));
    Part own = {meeting->communicator, meeting->stream, meeting->in, meeting->out};
    for (int i = 0; i < count; i++) TRY(one_group(of, &own, meeting->rank, meeting->rank + 1, meeting->ranks, fault));
    CUDA_TRY(fault, cudaEventRecord(meeting->events[1], meeting->stream));
    CUDA_TRY(fault, cudaEventSynchronize(meeting->events[1]));
    CUDA_TRY(fault, cudaEventElapsedTime(&milliseconds, meeting->events[0], meeting->events[1]));
    *seconds = 1e-3 * milliseconds / count;
    return BENCH_DONE;
}

static BenchStatus measure_meeting(const Meeting *meeting, const BenchCase *of, BenchResult *result) {
    BenchFault *fault = &result->fault;
    Device device = {};
    ErrorSum sum = {0, 0};
    double samples[MEET_SAMPLES];
    device.stream = meeting->stream;
    result->iterations = of->bytes <= ((int64_t)1 << 20) ? 50 : of->bytes <= ((int64_t)64 << 20) ? 10 : 3;
    TRY(device_fill(&device, meeting->in, FLOAT32, (size_t)of->bytes / sizeof(float), SEED_RANK + meeting->rank,
                    fault));
    TRY(device_spoil(&device, meeting->out, (size_t)of->bytes, fault));
    TRY(repeat_meeting(meeting, of, 1, &samples[0], fault));
    TRY(check_rank(of, meeting->rank, meeting->ranks, meeting->out, &sum, fault));
    result->check.error = error_relative(&sum);
    result->check.tolerance = 1e-6;
    TRY(repeat_meeting(meeting, of, 3, &samples[0], fault));
    for (int i = 0; i < MEET_SAMPLES; i++) TRY(repeat_meeting(meeting, of, result->iterations, &samples[i], fault));
    result->time = bench_spread(samples, MEET_SAMPLES);
    // A wrong result is reported only here: a rank that stopped earlier would leave the others waiting.
    if (!(result->check.error <= result->check.tolerance))
        return bench_fail(fault, __FILE__, __LINE__, "wrong result: error %.3g", result->check.error);
    return BENCH_DONE;
}

static int number_from(int argc, char **argv, const char *option, const char *const *variables, int fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0) return atoi(argv[i + 1]);
    for (; *variables; variables++)
        if (getenv(*variables)) return atoi(getenv(*variables));
    return fallback;
}

static const char *text_from(int argc, char **argv, const char *option) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0) return argv[i + 1];
    return NULL;
}

static const char *const operations[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                         "broadcast",  "reduce",     "sendrecv"};

// A rank that failed on its own leaves the others waiting in NCCL, and nothing there ends by itself.
static void time_is_up(int signal) {
    static const char text[] =
        "error: the time is up: a rank failed or hangs; what was measured until now is written\n";
    (void)signal;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(1);
    _exit(1);
}

static BenchTally measure_cases(const Meeting *meeting, FILE *out) {
    BenchTally tally = {0, 0, 0};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (int64_t bytes = 8; bytes <= meeting->most_bytes; bytes *= 4) {
            BenchCase of = {};
            BenchResult result = {};
            of.section = BENCH_NCCL, of.operation = operations[i], of.type = "fp32", of.variant = "nccl many processes";
            of.bytes = bytes, of.ranks = meeting->ranks, of.clock = BENCH_EVENTS;
            if (share_of((size_t)bytes / sizeof(float), meeting->ranks) == 0) continue;
            result.status = measure_meeting(meeting, &of, &result);
            result.sets = 1;
            tally.measured += result.status == BENCH_DONE, tally.failed += result.status == BENCH_FAILED;
            if (out) bench_write_case(out, &of, &result);
            if (out) fflush(out);
            if (out)
                fprintf(stderr, "%s %lld bytes: %.1f us\n", of.operation, (long long)bytes, 1e6 * result.time.median);
            if (result.status == BENCH_FAILED) fprintf(stderr, "rank %d: %s\n", meeting->rank, result.fault.text);
        }
    return tally;
}

static int usage_of_meeting(void) {
    fprintf(stderr,
            "usage: lockstep-bench --rendezvous FILE [--rank R --ranks N] [--gpu G] [--most-bytes BYTES] "
            "[--budget SECONDS] [-o FILE]\n"
            "  One process for each GPU, all with the same FILE on a shared disk that must not exist yet; R and "
            "N come from\n"
            "  mpirun or srun when they started it. Rank 0 writes the measurements. After --budget (600 s) every "
            "rank ends.\n");
    return 2;
}

int nccl_meet_command(int argc, char **argv) {
    static const char *const none[] = {NULL};
    static const char *const ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
    static const char *const local[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL};
    Meeting meeting = {};
    BenchFault fault = {""};
    const char *most = text_from(argc, argv, "--most-bytes");
    meeting.file = text_from(argc, argv, "--rendezvous");
    meeting.output = text_from(argc, argv, "-o");
    meeting.ranks = number_from(argc, argv, "--ranks", ranks, 0);
    meeting.rank = number_from(argc, argv, "--rank", rank, -1);
    meeting.gpu = number_from(argc, argv, "--gpu", none, -1);
    meeting.local = number_from(argc, argv, "--gpu", local, meeting.rank);
    meeting.most_bytes = most ? atoll(most) : (int64_t)1 << 30;
    int budget = number_from(argc, argv, "--budget", none, 0);
    if (!meeting.file || meeting.ranks < 2 || meeting.rank < 0 || meeting.rank >= meeting.ranks ||
        meeting.most_bytes < 8)
        return usage_of_meeting();
    signal(SIGALRM, time_is_up);
    alarm((unsigned)(budget > 0 ? budget : MEET_BUDGET_SECONDS));
    if (open_meeting(&meeting, &fault)) {
        fprintf(stderr, "error: rank %d: %s\n", meeting.rank, fault.text);
        return 1;
    }
    FILE *out = meeting.rank > 0 ? NULL : meeting.output ? fopen(meeting.output, "w") : stdout;
    if (meeting.rank == 0 && !out) {
        fprintf(stderr, "error: %s cannot be written\n", meeting.output);
        out = stdout; // the others are waiting: measure on
    }
    if (out) {
        BenchMachine machine = {};
        BenchSettings settings = {};
        cudaDeviceProp properties;
        memset(&properties, 0, sizeof properties);
        if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess)
            snprintf(machine.gpu, sizeof machine.gpu, "%.90s", properties.name);
        machine.gpu_count = meeting.ranks;
        machine.capability = 10 * properties.major + properties.minor;
        machine.multiprocessors = properties.multiProcessorCount;
        machine.memory_bytes = (int64_t)properties.totalGlobalMem;
        machine.l2_bytes = properties.l2CacheSize;
        nccl_describe(machine.versions, sizeof machine.versions);
        bench_write_header(out, &machine, &settings, "lockstep-bench --rendezvous");
    }
    double begin = now();
    BenchTally tally = measure_cases(&meeting, out);
    if (out) bench_write_end(out, &tally, now() - begin);
    if (out && fflush(out) != 0) return 1;
    cudaDeviceSynchronize();
    nccl.destroy(meeting.communicator);
    if (meeting.rank == 0) unlink(meeting.file);
    return tally.failed > 0 || tally.measured == 0;
}
