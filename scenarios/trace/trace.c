#include "scenarios/trace/trace.h"

#include "models/workload/step/simulate.h"
#include "models/workload/step/step_trace.h"
#include "results/trace_metrics.h"
#include "scenarios/explain/explain.h"
#include "scenarios/program/program.h"
#include "sim/fold.h"
#include "sim/longest.h"
#include "sim/watch.h"

// ---- Recording.

static int gpu_in_node(const Cluster *cluster, int rank) {
    int node = network_node_of(cluster->network, rank), first = rank;
    while (first > 0 && network_node_of(cluster->network, first - 1) == node) first--;
    return rank - first;
}

static SpanSide side_of(const void *owner, const char *link, int rank) {
    const Cluster *cluster = owner;
    return trace_side_of(link, network_node_of(cluster->network, rank), gpu_in_node(cluster, rank));
}

// NULL after a problem.
static StepTrace *recorder(Arena *arena, const TraceRequest *request, const Cluster *cluster, Where where,
                           Problems *problems) {
    StepTraceRequest wanted = {.span_room = request->span_room,
                               .gpu_of = cluster->gpu_of,
                               .lanes = request->lanes,
                               .links = request->links,
                               .breakdown = request->breakdown,
                               .curve_ranks = request->curve_ranks,
                               .side_of = side_of,
                               .side_owner = cluster};
    if (request->ranks) {
        wanted.ranks = step_trace_ranks(arena, request->ranks, cluster->gpu_count, &wanted.rank_count, where, problems);
        if (!wanted.ranks) return NULL;
    }
    return step_trace_create(arena, &wanted);
}

// Where its ranks are.
static const SpanSet *placed(Arena *arena, const SpanSet *told, const Cluster *cluster, const char *title) {
    SpanSet *set = ARENA_NEW(arena, SpanSet);
    SpanProcess *processes = ARENA_ARRAY(arena, SpanProcess, told->process_count);
    *set = *told;
    set->title = title;
    for (int p = 0; p < told->process_count; p++) {
        processes[p] = told->processes[p];
        int rank = processes[p].id;
        processes[p].node = network_node_of(cluster->network, rank);
        processes[p].gpu = gpu_in_node(cluster, rank);
        processes[p].gpu_name = cluster->gpu_of[rank]->name;
        processes[p].memory_bytes = cluster->gpu_of[rank]->memory_bytes;
    }
    set->processes = processes;
    return set;
}

static const SpanSet *trace_job(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    const StudySpec *study = study_unvaried(arena, request->study);
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    StepTrace *trace = cluster ? recorder(arena, request, cluster, (Where){0}, problems) : NULL;
    if (!trace) return NULL;
    SimulationOptions options = {.runs = 1,
                                 .seed = study->seed,
                                 .unfolded = study->unfolded,
                                 .assume_fits = study->assume_fits,
                                 .step_sigma = study->noise,
                                 .keeps_system = request->links,
                                 .trace = trace};
    int before = problems_added(problems);
    SimulatedStep step = simulate_step(arena, cluster, &study->training, &options, problems);
    if (problems_added(problems) > before) return NULL;
    if (!step.spans) {
        *why_not = simulate_training(arena, cluster, &study->training, study, problems).why_not;
        return NULL;
    }
    return placed(arena, step.spans, cluster, study_title(arena, study));
}

static const SpanSet *trace_program(Arena *arena, const TraceRequest *request, Problems *problems) {
    const ProgramSpec *program = request->program;
    StepTrace *trace = recorder(arena, request, program->cluster, (Where){0}, problems);
    const System *system = trace ? program_system(arena, program, problems) : NULL;
    if (!system) return NULL;
    Folded folded = request->unfolded ? (Folded){merge_equal_links(arena, system), NULL} : fold_system(arena, system);
    if (step_trace_needs_whole(trace, folded.class_of)) folded = (Folded){merge_equal_links(arena, system), NULL};
    RunOptions options = {.seed = request->seed};
    step_trace_whole(trace, system);
    step_trace_begin(trace, NULL, &folded.system, folded.class_of, program->cluster->gpu_count, &options);
    RunResult result = run_system(arena, &folded.system, &options);
    if (result.stopped) {
        watch_tells(program->where, problems);
        return NULL;
    }
    if (result.beyond_clock) {
        problem_beyond_clock(problems, program->where, "this program", &folded.system);
        return NULL;
    }
    if (result.deadlocked_count) { // run says in which calls
        problem_add(problems, program->where, "its ranks wait for each other without end: there is no step to trace");
        problem_hint(problems, "lockstep run says who waits for whom");
        return NULL;
    }
    return placed(arena, step_trace_end(trace, &result), program->cluster,
                  program->title ? program->title : "Rank program");
}

const SpanSet *trace_step(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    *why_not = NULL;
    return request->study ? trace_job(arena, request, why_not, problems) : trace_program(arena, request, problems);
}
