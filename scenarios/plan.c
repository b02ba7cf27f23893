#include "scenarios/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost.h"
#include "models/workload/lower.h"
#include "scenarios/job_life.h"
#include "sim/list.h"

const char *const plan_objective_names[PLAN_OBJECTIVE_COUNT] = {"cost", "time", "energy"};

#define MOST_TP 72 // GPUs of the largest NVLink domain
#define MOST_VPP 8
#define MOST_MICRO 16 // sequences: larger micro-batches give GEMMs nothing more

typedef struct Candidate {
    TrainingSpec training;
    double bound_s;
    int number; // in order of enumeration: breaks ties
} Candidate;

typedef struct CandidateList {
    Candidate *items;
    int count, room;
} CandidateList;

typedef struct Search {
    Arena *arena;
    const PlanRequest *request;
    PlanResult result;
} Search;

// ---- The bound.

static double list_seconds(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

typedef struct ChunkWork {
    double forward, backward;
} ChunkWork;

static ChunkWork chunk_work(const TrainingSpec *training, int first, int end, const Gpu *gpu) {
    ChunkWork work = {0};
    BlockCost cost = {0};
    const Model *model = training->model;
    for (int b = first; b < end; b++) {
        bool like_the_last = model->kind == MODEL_TRANSFORMER && b > first && b > 1 && b < model->block_count - 1;
        if (!like_the_last) cost = block_cost(model, b, training, training->micro_batch, gpu);
        work.forward += list_seconds(&cost.forward);
        work.backward += list_seconds(&cost.backward);
    }
    return work;
}

// Stage q works through all micro-batches; before its first, the first chunks of the stages before it must have run
// forward, and after its last backward they must run backward. Communication is left out, so this is never too high.
double plan_lower_bound(const TrainingSpec *training, int gpus, const Gpu *gpu) {
    int pp = training->layout.pp, vpp = training->layout.vpp, chunks = pp * vpp;
    Arena *arena = arena_open();
    int *first = ARENA_ARRAY(arena, int, chunks + 1);
    double bound = INFINITY;
    if (blocks_to_stages(training->model, chunks, first, training->where, problems_create(arena))) {
        double micro_batches = training->global_batch / (replicas_of_job(training, gpus) * training->micro_batch);
        double fill_and_drain = 0;
        bound = 0;
        for (int stage = 0; stage < pp; stage++) {
            double work = 0, first_chunk = 0;
            for (int v = 0; v < vpp; v++) {
                ChunkWork chunk = chunk_work(training, first[v * pp + stage], first[v * pp + stage + 1], gpu);
                work += chunk.forward + chunk.backward;
                if (v == 0) first_chunk = chunk.forward + chunk.backward;
            }
            bound = fmax(bound, micro_batches * work + fill_and_drain);
            fill_and_drain += first_chunk;
        }
    }
    arena_close(arena);
    return bound;
}

// ---- Candidates of one cluster.

static int domain_gpus(const NodeType *node) {
    int domain = node->gpu_count * (node->nvlink_domain_nodes > 1 ? node->nvlink_domain_nodes : 1);
    return domain < MOST_TP ? domain : MOST_TP;
}

static bool tp_possible(const PlanRequest *request, const NodeType *node, int gpus, int tp) {
    const Model *model = request->training.model;
    if (gpus % tp || tp > domain_gpus(node)) return false;
    if (request->training.layout.tp > 0) return tp == request->training.layout.tp;
    if (model->kind != MODEL_TRANSFORMER) return tp == 1;
    return (tp & (tp - 1)) == 0 && model->heads % tp == 0 && model->kv_heads % tp == 0;
}

static int layer_count(const Model *model) {
    return model->kind == MODEL_MLP ? model->block_count : model->block_count - 2;
}

static bool pp_possible(const PlanRequest *request, int left, int pp) {
    if (left % pp || pp > layer_count(request->training.model)) return false;
    return request->training.layout.pp > 0 ? pp == request->training.layout.pp : true;
}

static bool vpp_possible(const PlanRequest *request, int pp, int vpp, double micro_batches) {
    const Layout *layout = &request->training.layout;
    if (layout->vpp > 0 && vpp != layout->vpp) return false;
    if (schedule_splits_backward(request->training.schedule)) return vpp == 1; // they have chunks of their own
    if (vpp == 1) return true;
    return pp > 1 && layer_count(request->training.model) % (pp * vpp) == 0 && fmod(micro_batches, pp) == 0;
}

// Less recomputation is never slower, so the least that fits is taken; false when not even full recomputation fits.
static bool least_recompute(const PlanRequest *request, TrainingSpec *training, int gpus, const Gpu *gpu) {
    bool transformer = training->model->kind == MODEL_TRANSFORMER;
    Recompute least = request->recompute_fixed ? request->training.recompute : RECOMPUTE_NONE;
    Recompute most = request->recompute_fixed || !transformer ? least : RECOMPUTE_FULL;
    for (int recompute = (int)least; recompute <= (int)most; recompute++) {
        training->recompute = (Recompute)recompute;
        Memory memory = memory_of_job(training, gpus, gpu, NULL);
        if (memory.peak <= memory.capacity) return true;
    }
    return false;
}

static void add_candidate(Search *search, CandidateList *list, TrainingSpec training, int gpus, const Gpu *gpu) {
    search->result.candidates++;
    if (!least_recompute(search->request, &training, gpus, gpu)) {
        search->result.too_large++;
        return;
    }
    Candidate candidate = {training, plan_lower_bound(&training, gpus, gpu), list->count};
    LIST_PUSH(search->arena, list, candidate);
}

static void add_layout(Search *search, CandidateList *list, int gpus, int tp, int pp, const Gpu *gpu) {
    const PlanRequest *request = search->request;
    TrainingSpec training = request->training;
    int dp = gpus / (tp * pp);
    if (request->training.layout.dp > 0 && dp != request->training.layout.dp) return;
    if (fmod(training.global_batch, dp) != 0) return;
    double per_replica = training.global_batch / dp;
    training.layout.tp = tp;
    training.layout.pp = pp;
    training.layout.dp = dp;
    if (!request->zero_fixed) training.layout.zero = dp > 1 && training.optimizer == OPTIMIZER_ADAM;
    if (!request->sequence_parallel_fixed) training.layout.sequence_parallel = tp > 1;
    double most = training.model->kind == MODEL_TRANSFORMER && per_replica > MOST_MICRO ? MOST_MICRO : per_replica;
    for (double micro = 1; micro <= most; micro *= 2) {
        if (request->training.micro_batch > 0 && micro != 1) break;
        training.micro_batch = request->training.micro_batch > 0 ? request->training.micro_batch : micro;
        if (fmod(per_replica, training.micro_batch) != 0) continue;
        for (int vpp = 1; vpp <= MOST_VPP; vpp++) {
            if (!vpp_possible(request, pp, vpp, per_replica / training.micro_batch)) continue;
            training.layout.vpp = vpp;
            training.schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : request->training.schedule;
            add_candidate(search, list, training, gpus, gpu);
        }
    }
}

static int by_bound(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (x->bound_s != y->bound_s) return x->bound_s < y->bound_s ? -1 : 1;
    return x->number - y->number;
}

// ---- One cluster: the fastest layout.

static const Cluster *build_cluster(Search *search, const PlanRow *row, Problems *problems) {
    NodeGroup *group = ARENA_NEW(search->arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(search->arena, ClusterSpec);
    *group = (NodeGroup){.type = row->node, .gpus = row->gpus};
    bool infiniband = row->link && row->link->transport == TRANSPORT_INFINIBAND;
    *spec = (ClusterSpec){.groups = group,
                          .group_count = 1,
                          .link = row->link,
                          .faults = search->request->faults,
                          .fabric = FABRIC_FAT_TREE,
                          .rail_optimised = infiniband,
                          .oversubscription = 1,
                          .price_per_gpu_hour = search->request->price_per_gpu_hour,
                          .currency = search->request->currency};
    return cluster_create(search->arena, search->request->catalogue, spec, problems);
}

static void search_row(Search *search, PlanRow *row) {
    Problems *own = problems_create(search->arena);
    const Cluster *cluster = build_cluster(search, row, own);
    if (!cluster) {
        row->point.why_not = problem_at(own, 0)->text;
        return;
    }
    const Gpu *gpu = cluster->gpu_of[0];
    CandidateList list = {0};
    for (int tp = 1; tp <= row->gpus && tp <= MOST_TP; tp++) {
        if (!tp_possible(search->request, row->node, row->gpus, tp)) continue;
        for (int pp = 1; pp <= row->gpus / tp; pp++)
            if (pp_possible(search->request, row->gpus / tp, pp)) add_layout(search, &list, row->gpus, tp, pp, gpu);
    }
    if (list.count) qsort(list.items, (size_t)list.count, sizeof *list.items, by_bound);
    StudySpec study = {.catalogue = search->request->catalogue, .cluster = cluster->spec};
    for (int i = 0; i < list.count; i++) {
        if (!search->request->exhaustive && row->point.ran && list.items[i].bound_s >= row->point.step_p50_s) break;
        Arena *scratch = arena_open();
        RecordPoint point = simulate_training(scratch, cluster, &list.items[i].training, &study, own);
        bool better = point.ran && (!row->point.ran || point.step_p50_s < row->point.step_p50_s);
        arena_close(scratch);
        search->result.simulated++;
        if (!better) continue;
        row->point.ran = true; // its time is all that the search needs; the rest is simulated once more below
        row->point.step_p50_s = point.step_p50_s;
        row->training = list.items[i].training;
    }
    if (row->point.ran) row->point = simulate_training(search->arena, cluster, &row->training, &study, own);
    job_live(search->arena, study.catalogue, cluster, &row->training, study.seed, &row->point);
    if (!row->point.ran && !row->point.why_not)
        row->point.why_not = list.count ? "no layout runs" : "no layout fits in memory and divides the batch";
}

// ---- All clusters.

static double objective_of(const PlanRequest *request, const RecordPoint *point) {
    switch (request->objective) {
    case PLAN_TIME:
        return point->days;
    case PLAN_ENERGY:
        return point->energy_kwh;
    default:
        return isnan(point->cost_per_run) ? point->days : point->cost_per_run;
    }
}

static int misses(const PlanRow *row) { return !row->point.ran ? 3 : row->late + row->over_budget; }

// Plans that keep date and budget come first, the best by objective before the others; among those that are late the
// quickest is the nearest miss.
static bool comes_before(const PlanRequest *request, const PlanRow *a, const PlanRow *b) {
    if (misses(a) != misses(b)) return misses(a) < misses(b);
    if (!a->point.ran) return false;
    if (a->late) return a->point.days < b->point.days;
    return objective_of(request, &a->point) < objective_of(request, &b->point);
}

static void sort_rows(const PlanRequest *request, PlanRow *rows, int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && comes_before(request, &rows[k], &rows[k - 1]); k--) {
            PlanRow row = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = row;
        }
}

PlanResult plan_search(Arena *arena, const PlanRequest *request) {
    Search search = {.arena = arena, .request = request};
    int links = request->link_count > 0 ? request->link_count : 1;
    search.result.rows = ARENA_ARRAY(arena, PlanRow, request->node_count * links * request->gpus_count);
    for (int n = 0; n < request->node_count; n++)
        for (int l = 0; l < links; l++)
            for (int g = 0; g < request->gpus_count; g++) {
                PlanRow *row = &search.result.rows[search.result.row_count++];
                *row = (PlanRow){.node = request->nodes[n],
                                 .link = request->link_count > 0 ? request->links[l] : NULL,
                                 .gpus = request->gpus[g]};
                search_row(&search, row);
                row->late = row->point.ran && request->deadline_s > 0 && row->point.days * 86400 > request->deadline_s;
                row->over_budget = row->point.ran && request->budget > 0 && row->point.cost_per_run > request->budget;
            }
    sort_rows(request, search.result.rows, search.result.row_count);
    const PlanRow *first = search.result.rows;
    search.result.chosen = search.result.row_count > 0 && misses(first) == 0 ? 0 : -1;
    return search.result;
}
