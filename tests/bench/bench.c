// make bench: speed as JSON lines, ratios against a twin in the same run wherever a machine is noisy.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/training.h"
#include "models/workload/lower/lower.h"
#include "models/workload/queue/queue.h"
#include "scenarios/study/study.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "sim/event.h"
#include "sim/fold.h"
#include "sim/packet/packet.h"
#include "sim/run.h"
#include "tests/bench/flows.h"
#include "tests/bench/plan.h"

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double wall_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- The bare twin: a 4-ary heap of entries of the same size, no names, no cancelling.
typedef struct BareEntry {
    SimTime time;
    uint64_t order;
    int32_t item, unused;
} BareEntry;

typedef struct BareHeap {
    BareEntry *heap;
    int32_t count;
    uint64_t scheduled;
} BareHeap;

static inline bool bare_before(const BareEntry *a, const BareEntry *b) {
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static __attribute__((noinline)) void bare_push(BareHeap *h, SimTime time, int32_t item) {
    BareEntry entry = {time, h->scheduled++, item, 0};
    int32_t at = h->count++;
    while (at > 0) {
        int32_t parent = (at - 1) >> 2;
        if (!bare_before(&entry, &h->heap[parent])) break;
        h->heap[at] = h->heap[parent];
        at = parent;
    }
    h->heap[at] = entry;
}

static __attribute__((noinline)) BareEntry bare_pop(BareHeap *h) {
    BareEntry top = h->heap[0], entry = h->heap[--h->count];
    int32_t at = 0;
    for (;;) {
        int32_t first = 4 * at + 1;
        if (first >= h->count) break;
        int32_t end = first + 4 < h->count ? first + 4 : h->count, least = first;
        for (int32_t child = first + 1; child < end; child++)
            if (bare_before(&h->heap[child], &h->heap[least])) least = child;
        if (!bare_before(&h->heap[least], &entry)) break;
        h->heap[at] = h->heap[least];
        at = least;
    }
    h->heap[at] = entry;
    return top;
}

// Hold model (Jones 1986): take the earliest, schedule another at an exponential distance, so many stay pending.
static SimTime *increments(int count) {
    SimTime *list = malloc((size_t)count * sizeof *list);
    RandomStream random = random_stream(1, "hold", 0);
    for (int i = 0; i < count; i++) list[i] = 1 + (SimTime)random_exponential(&random, 1e6);
    return list;
}

static double hold_ours(int pending, int turns, const SimTime *steps, int step_mask) {
    Arena *arena = arena_open();
    EventQueue *queue = event_queue_create(arena, pending + 1);
    Event event = {0};
    for (int i = 0; i < pending; i++) event_schedule(queue, steps[i & step_mask], 0, i);
    double start = now_s();
    for (int i = 0; i < turns; i++) {
        event_next(queue, &event);
        event_schedule(queue, event.time + steps[i & step_mask], 0, event.item);
    }
    double time = now_s() - start;
    arena_close(arena);
    return time / turns;
}

static double hold_bare(int pending, int turns, const SimTime *steps, int step_mask) {
    BareHeap heap = {malloc(((size_t)pending + 1) * sizeof(BareEntry)), 0, 0};
    for (int i = 0; i < pending; i++) bare_push(&heap, steps[i & step_mask], i);
    double start = now_s();
    for (int i = 0; i < turns; i++) {
        BareEntry event = bare_pop(&heap);
        bare_push(&heap, event.time + steps[i & step_mask], event.item);
    }
    double time = now_s() - start;
    free(heap.heap);
    return time / turns;
}

static void bench_events(void) {
    enum { STEPS = 1 << 16, ROUNDS = 7 };
    SimTime *steps = increments(STEPS);
    const int pendings[] = {1000, 100000, 1000000};
    for (int p = 0; p < 3; p++) {
        Arena *arena = arena_open();
        double ours[ROUNDS], bare[ROUNDS], ratio[ROUNDS];
        int turns = 2000000;
        for (int r = 0; r < ROUNDS; r++) {
            ours[r] = hold_ours(pendings[p], turns, steps, STEPS - 1);
            bare[r] = hold_bare(pendings[p], turns, steps, STEPS - 1);
            ratio[r] = ours[r] / bare[r];
        }
        printf("{\"bench\":\"event_queue_hold\",\"pending\":%d,\"ns\":%.1f,\"bare_heap_ns\":%.1f,\"ratio\":%.2f,"
               "\"target_ratio\":1.3}\n",
               pendings[p], 1e9 * quantile(arena, ours, ROUNDS, 0.5), 1e9 * quantile(arena, bare, ROUNDS, 0.5),
               quantile(arena, ratio, ROUNDS, 0.5));
        arena_close(arena);
    }
    free(steps);
}

// ---- GPT-3 175B on 1,024 A100: tp 8, pp 16, dp 8, 192 micro-batches.
static ClusterSpec gpt3_cluster(const Catalogue *catalogue, const NodeGroup *group) {
    return (ClusterSpec){.groups = group,
                         .group_count = 1,
                         .link = catalogue_link(catalogue, "ib-hdr200"),
                         .fabric = FABRIC_FAT_TREE,
                         .rail_optimised = true,
                         .oversubscription = 1,
                         .price_per_gpu_hour = -1};
}

static TrainingSpec gpt3_training(Arena *arena, Problems *problems) {
    return (TrainingSpec){.model = find_model(arena, "gpt3-175b", (Where){0}, problems),
                          .layout = {.tp = 8, .pp = 16, .vpp = 1},
                          .schedule = SCHEDULE_1F1B,
                          .seq_len = 2048,
                          .global_batch = 1536,
                          .micro_batch = 1,
                          .precision = FP16,
                          .mixed_precision = true,
                          .recompute = RECOMPUTE_FULL,
                          .framework = FRAMEWORK_MEGATRON,
                          .optimizer = OPTIMIZER_ADAM,
                          .bucket_bytes = 25 << 20};
}

// Rank by rank, what repeats added as a multiple, beside its twin that goes through all of it.
static void bench_periods(void) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = catalogue_builtin(arena);
    NodeGroup group = {.type = catalogue_node(catalogue, "dgx-a100"), .gpus = 1024};
    ClusterSpec spec = gpt3_cluster(catalogue, &group);
    TrainingSpec training = gpt3_training(arena, problems);
    const Cluster *cluster = cluster_create(arena, catalogue, &spec, problems);
    const Lowered *lowered = lower_training(arena, cluster, &training, problems);
    System system = merge_equal_links(arena, lowered->system);
    double start = now_s();
    RunResult quick = run_system(arena, &system, &(RunOptions){0});
    double middle = now_s();
    RunResult slow = run_system(arena, &system, &(RunOptions){.all_periods = true});
    double end = now_s();
    printf("{\"bench\":\"gpt3_175b_1024_a100_periods\",\"cpu_s\":%.3f,\"all_periods_cpu_s\":%.3f,\"ratio\":%.1f,"
           "\"target_ratio\":5,\"events\":%lld,\"added\":%lld,\"same_digest\":%s}\n",
           middle - start, end - middle, (end - middle) / (middle - start), (long long)quick.event_count,
           (long long)quick.added_count, quick.digest == slow.digest ? "true" : "false");
    arena_close(arena);
}

static void bench_gpt3(bool unfolded) {
    enum { ROUNDS = 5 };
    double times[ROUNDS];
    RecordPoint point = {0};
    Arena *result_arena = arena_open();
    for (int r = 0; r < ROUNDS; r++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const Catalogue *catalogue = catalogue_builtin(arena);
        double start = now_s();
        NodeGroup group = {.type = catalogue_node(catalogue, "dgx-a100"), .gpus = 1024};
        ClusterSpec spec = gpt3_cluster(catalogue, &group);
        const Cluster *cluster = cluster_create(arena, catalogue, &spec, problems);
        TrainingSpec training = gpt3_training(arena, problems);
        StudySpec study = {.catalogue = catalogue, .cluster = &spec, .training = training, .unfolded = unfolded};
        if (cluster) point = simulate_training(arena, cluster, &training, &study, problems);
        problems_print(problems, stderr);
        times[r] = now_s() - start;
        if (point.why_not) fprintf(stderr, "%s\n", arena_copy_text(result_arena, point.why_not));
        arena_close(arena);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\":\"gpt3_175b_1024_a100_%s\",\"cpu_s\":%.3f,\"target_s\":%g,\"step_time_s\":%.3f,\"mfu\":%.3f,"
           "\"events\":%lld,\"max_rss_mib\":%ld,\"digest\":\"%016llx\"}\n",
           unfolded ? "unfolded" : "folded", quantile(result_arena, times, ROUNDS, 0.5), unfolded ? 0.25 : 0.01,
           point.step_p50_s, point.mfu, (long long)point.event_count, usage.ru_maxrss / 1024,
           (unsigned long long)point.digest);
    arena_close(result_arena);
}

// ---- What a user asks, in processes of their own.
#define GPT3                                                                                                           \
    "--model gpt3-175b --node dgx-a100 --fabric ib-hdr200:rail_fat_tree --gpus 1024 --tp 8 --pp 16 --schedule 1f1b "   \
    "--micro-batch 1 --global-batch 1536 --recompute full"

typedef struct Asked {
    const char *name, *words;
    double target_s;
} Asked;

static const Asked asked[] = {
    {"version", "--version", 0.005},
    {"demo_scaling_efficiency", "run scenarios/examples/scaling_efficiency.lua --plot", 0.01},
    {"explain_gpt3_175b_1024_a100", "explain " GPT3, 0.3},
    {"jitter_gpt3_175b_1024_a100", "run " GPT3 " --jitter 0.05", 0.4},
    {"jitter_by_class_gpt3_175b_1024_a100", "run " GPT3 " --jitter 0.05 --jitter-by class", 0.1},
    {"flow_gpt3_175b_1024_a100", "run " GPT3 " --fidelity flow", 4},
    {"hw_list", "hw list", 0.003},
};

static double children_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)usage.ru_stime.tv_usec;
}

static void bench_asked(const Asked *one) {
    const char *program = getenv("LOCKSTEP") ? getenv("LOCKSTEP") : "build/lockstep";
    enum { ROUNDS = 5 };
    double times[ROUNDS];
    Arena *arena = arena_open();
    const char *line = arena_printf(arena, "exec %s %s > /dev/null", program, one->words);
    for (int r = 0; r < ROUNDS; r++) {
        double before = children_s();
        if (system(line) != 0) {
            fprintf(stderr, "could not run: %s\n", line);
            arena_close(arena);
            return;
        }
        times[r] = children_s() - before;
    }
    printf("{\"bench\":\"%s\",\"cpu_s\":%.3f,\"target_s\":%g}\n", one->name, quantile(arena, times, ROUNDS, 0.5),
           one->target_s);
    arena_close(arena);
}

// ---- The flow engine: SimGrid 3.32 gives the same times in 8.7 s, 12.0 s and 80 s of CPU.
static double even_bytes(int i, int j) { return (void)i, (void)j, 1e6; }

static double uneven_bytes(int i, int j) { return (double)(500000 + (7919L * i + 104729L * j) % 1000001); }

static void print_flows(const char *name, const System *system, double start, double target_s, bool folded) {
    Arena *arena = arena_open();
    RunOptions options = {0};
    System small = folded ? fold_system(arena, system).system : *system;
    RunResult result = run_system(arena, &small, &options);
    printf("{\"bench\":\"%s_%s\",\"cpu_s\":%.3f,\"target_s\":%g,\"simulated_ms\":%.6f,\"actors\":%d,\"channels\":%d,"
           "\"events\":%lld}\n",
           name, folded ? "folded" : "unfolded", now_s() - start, target_s, 1e3 * step_seconds(result.end),
           small.actor_count, small.channel_count, (long long)result.event_count);
    arena_close(arena);
}

static void bench_flows(void) {
    const FatTree tree_256 = {{8, 8, 4}, {1, 8, 8}}, tree_128 = {{8, 4, 4}, {1, 8, 4}};
    for (int folded = 1; folded >= 0; folded--) {
        for (int shape = 0; shape < 3; shape++) {
            Arena *arena = arena_open();
            double start = now_s();
            System system = shape == 0   ? ring_on_star(arena, 1024, 1e9)
                            : shape == 1 ? all_to_all_on_fat_tree(arena, &tree_256, even_bytes, true)
                                         : all_to_all_on_fat_tree(arena, &tree_128, uneven_bytes, true);
            const char *const names[] = {"ring_1024", "all_to_all_256", "all_to_all_128_uneven"};
            const double targets[] = {1, 0.5, 1};
            print_flows(names[shape], &system, start, targets[shape], folded);
            arena_close(arena);
        }
    }
}

// Beside SimGrid where it is installed: both give the same simulated time.
static double simgrid_shifts_s(int hosts, int shifts) {
    const char *program = getenv("SIMGRID_SHIFTS");
    char line[512], text[512];
    double cpu_s = NAN;
    if (!program) return NAN;
    snprintf(line, sizeof line, "%s %d %d 2> /dev/null", program, hosts, shifts);
    FILE *answer = popen(line, "r"); // NOLINT(cert-env33-c)
    if (!answer) return NAN;
    while (fgets(text, sizeof text, answer)) {
        const char *found = strstr(text, "\"cpu_s\":");
        if (found) cpu_s = strtod(found + strlen("\"cpu_s\":"), NULL);
    }
    pclose(answer);
    return cpu_s;
}

static void bench_shifts(void) {
    const int hosts[] = {256, 1024}, shifts[] = {256, 64};
    for (int i = 0; i < 2; i++) {
        Arena *arena = arena_open();
        const FatTree tree = {{8, hosts[i] / 32, 4}, {1, 2, hosts[i] / 32}};
        System system = shifts_on_fat_tree(arena, &tree, shifts[i], uneven_bytes, 0.5);
        double start = now_s(); // SimGrid's clock starts when its platform stands, too
        RunResult result = run_system(arena, &system, &(RunOptions){0});
        double time = now_s() - start, simgrid = simgrid_shifts_s(hosts[i], shifts[i]);
        printf("{\"bench\":\"shifts_%d_x_%d\",\"cpu_s\":%.3f,\"simulated_ms\":%.6f,\"flows\":%d", hosts[i], shifts[i],
               time, 1e3 * step_seconds(result.end), hosts[i] * shifts[i]);
        if (simgrid > 0) printf(",\"simgrid_cpu_s\":%.3f,\"ratio\":%.1f,\"target_ratio\":15", simgrid, simgrid / time);
        puts("}");
        arena_close(arena);
    }
}

// ---- A shared cluster: 100,000 jobs of Gavel's mix on 1,000 nodes of 8 GPUs, 5 % more than they can do.
static void bench_queue(const char *only) {
    Arena *arena = arena_open();
    QueueDemand demand = {.jobs = 100000, .burstiness = 1, .users = 100, .urgent_share = 0.1, .estimate_error = 2};
    demand.sizes = mix_sizes(&queue_mixes[0]);
    demand.durations = mix_durations(&queue_mixes[0]);
    demand.seed = 1;
    demand.per_second = 1;
    demand.per_second = 1.05 * 8000 / demand_gpus(&demand);
    const QueueJobs *jobs = queue_draw(arena, &demand);
    for (int i = 0; i < queue_policy_count; i++) {
        QueueSpec spec = {.nodes = 1000, .gpus_per_node = 8, .nodes_per_leaf = 32, .policy = &queue_policies[i]};
        if (*only && !strstr("queues", only) && strcmp(only, spec.policy->name) != 0) continue;
        Arena *scratch = arena_open();
        double start = now_s();
        QueueRun run = queue_run(scratch, &spec, jobs);
        printf("{\"bench\":\"queue_100000_jobs_1000_nodes\",\"policy\":\"%s\",\"cpu_s\":%.3f,\"target_s\":10,"
               "\"utilisation\":%.3f,\"waiting_mean\":%.1f,\"events\":%lld,\"mib\":%zu}\n",
               spec.policy->name, now_s() - start, run.utilisation, run.waiting_mean, (long long)run.events,
               arena_bytes_used(scratch) >> 20);
        arena_close(scratch);
    }
    arena_close(arena);
}

// ---- Four GPUs at three quarters: waiting times against Erlang's formula.
static void bench_erlang_c(void) {
    enum { SEEDS = 40 };
    double start = now_s(), sum = 0, squares = 0, formula = 0.50943396226415094; // C(4, 3) / (4 - 3)
    for (int s = 1; s <= SEEDS; s++) {
        Arena *arena = arena_open();
        QueueDemand demand = {.jobs = 100000, .per_second = 3, .burstiness = 1, .users = 1, .seed = (uint64_t)s};
        demand.sizes = (Sizes){.items = {{1, 1}}, .count = 1};
        demand.durations = (Durations){.kind = DURATION_EXPONENTIAL, .mean_s = 1};
        QueueSpec spec = {.nodes = 4, .gpus_per_node = 1, .policy = &queue_policies[0], .warm_up = 0.02};
        const QueueJobs *jobs = queue_draw(arena, &demand);
        QueueRun run = queue_run(arena, &spec, jobs);
        double wait = queue_measure(arena, &spec, jobs, &run).all.wait_s.mean;
        sum += wait, squares += wait * wait;
        arena_close(arena);
    }
    double mean = sum / SEEDS, error = sqrt((squares - SEEDS * mean * mean) / (SEEDS - 1) / SEEDS);
    printf("{\"bench\":\"queue_erlang_c\",\"jobs\":%d,\"cpu_s\":%.3f,\"wait_s\":%.5f,\"formula_s\":%.5f,"
           "\"error_pct\":%.2f,\"standard_error_pct\":%.2f,\"target_pct\":2}\n",
           SEEDS * 100000, now_s() - start, mean, formula, 100 * (mean / formula - 1), 100 * error / formula);
}

// 2 MB from each of 1,024 hosts to another, on 32 leaves under 32 spines, a way a packet.
static void bench_packets(bool full, int threads) {
    enum { WIDE = 32, HOSTS = WIDE * WIDE };
    Arena *arena = arena_open();
    PacketCable *cables = ARENA_ARRAY(arena, PacketCable, 2 * HOSTS);
    PacketFlow *flows = ARENA_ARRAY(arena, PacketFlow, HOSTS);
    for (int h = 0; h < HOSTS; h++) {
        cables[h] = (PacketCable){h, HOSTS + h / WIDE, 12.5e9, 1e-6, 0, 0, 0};
        cables[HOSTS + h] = (PacketCable){HOSTS + h / WIDE, HOSTS + WIDE + h % WIDE, 12.5e9, 1e-6, 0, 0, 0};
        flows[h] = (PacketFlow){.from = h, .to = (37 * h + 161) % HOSTS, .bytes = 2000000};
    }
    PacketNetwork network = {HOSTS, 2 * WIDE, cables, 2 * HOSTS, .payload_bytes = 4096, .header_bytes = 64};
    network.control_bytes = 64;
    network.transport = packet_transports[full ? PACKET_DCTCP : PACKET_WINDOW].usual;
    network.transport.window_packets = full ? 40 : 1000;
    network.switches = (PacketSwitch){.routing = PACKET_SPRAY};
    if (full)
        network.switches = (PacketSwitch){.routing = PACKET_SPRAY,
                                          .buffer_bytes = 16e6,
                                          .alpha = 1,
                                          .mark_from_bytes = 200e3,
                                          .mark_to_bytes = 200e3,
                                          .mark_most = 1,
                                          .pause_bytes = 200e3};
    network.threads = threads;
    const char *wrong = NULL;
    double start = now_s(), by_the_wall = wall_s();
    PacketResult result = packet_run(arena, &network, flows, HOSTS, SIM_TIME_NEVER, &wrong);
    double seconds = now_s() - start;
    printf("{\"bench\":\"packets_permutation\",\"hosts\":%d,\"pfc_ecn_buffers\":%s,\"threads\":%d,\"cpu_s\":%.3f,"
           "\"wall_s\":%.3f,\"end_us\":%.1f,\"million_hops_per_cpu_s\":%.2f,\"target\":%d,\"digest\":\"%016llx\"}\n",
           HOSTS, full ? "true" : "false", threads, seconds, wall_s() - by_the_wall, 1e6 * step_seconds(result.end),
           (double)result.hops / seconds / 1e6, full ? 10 : 20, (unsigned long long)result.digest);
    arena_close(arena);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!*only || strstr("events", only)) bench_events();
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!*only || strstr("asked", only) || strcmp(only, asked[i].name) == 0) bench_asked(&asked[i]);
    if (!*only || strstr("folded", only)) bench_gpt3(false);
    if (!*only || strstr("unfolded", only)) bench_gpt3(true);
    if (!*only || strstr("periods", only)) bench_periods();
    if (!*only || strstr("flows", only)) bench_flows();
    if (!*only || strstr("shifts", only)) bench_shifts();
    for (int threads = 1; threads <= 2 && (!*only || strstr("packets", only)); threads++) {
        bench_packets(false, threads);
        bench_packets(true, threads);
    }
    bench_queue(only);
    if (!*only || strstr("queues", only)) bench_erlang_c();
    if (!*only || strstr("plan", only)) bench_plan();
    return 0;
}
