#include "scenarios/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "models/workload/step/step_trace.h"
#include "scenarios/explain/explain.h"
#include "scenarios/program/program.h"
#include "sim/base/text.h"
#include "sim/fold.h"
#include "sim/longest.h"
#include "sim/system/watch.h"

// ---- Recording.

static int gpu_in_node(const Cluster *cluster, int rank) {
    int node = network_node_of(cluster->network, rank), first = rank;
    while (first > 0 && network_node_of(cluster->network, first - 1) == node) first--;
    return rank - first;
}

// Which side of a node's GPU a link is, by its name: "node0.gpu3.nvlink.out". SPAN_SIDES: none. NVLink: of links
// between the GPU and a switch, and of those straight to and from other GPUs.
static SpanSide side_of_gpu(const char *link, int node, int gpu) {
    static const struct {
        const char *name;
        SpanSide side;
    } own[] = {{"nvlink.out", SPAN_NVLINK_OUT},
               {"nvlink.in", SPAN_NVLINK_IN},
               {"pcie.out", SPAN_PCIE_OUT},
               {"pcie.in", SPAN_PCIE_IN}};
    int at_node, at_gpu, nic, length = 0;
    if (sscanf(link, "node%d.nic%d.%n", &at_node, &nic, &length) == 2 && length > 0)
        return at_node != node                     ? SPAN_SIDES
               : strcmp(link + length, "out") == 0 ? SPAN_NICS_OUT
               : strcmp(link + length, "in") == 0  ? SPAN_NICS_IN
                                                   : SPAN_SIDES;
    if (sscanf(link, "node%d.gpu%d.%n", &at_node, &at_gpu, &length) != 2 || length == 0 || at_node != node)
        return SPAN_SIDES;
    int other, ended = 0;
    if (sscanf(link + length, "nvlink.gpu%d%n", &other, &ended) == 1 && link[length + ended] == '\0')
        return at_gpu == gpu ? SPAN_NVLINK_OUT : other == gpu ? SPAN_NVLINK_IN : SPAN_SIDES;
    for (size_t i = 0; at_gpu == gpu && i < sizeof own / sizeof *own; i++)
        if (strcmp(link + length, own[i].name) == 0) return own[i].side;
    return SPAN_SIDES;
}

static SpanSide side_of(const void *owner, const char *link, int rank) {
    const Cluster *cluster = owner;
    return side_of_gpu(link, network_node_of(cluster->network, rank), gpu_in_node(cluster, rank));
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

static const SpanSet *titled(Arena *arena, const SpanSet *told, const char *title, const char *beside_end) {
    SpanSet *set = ARENA_NEW(arena, SpanSet);
    *set = *told;
    set->title = title;
    set->beside_end = beside_end;
    return set;
}

// What is put on the simulated step (simulate_step) has no place among its spans.
static const char *expected_of(Arena *arena, const SimulatedStep *step) {
    bool loses = step->loss > 1, anchored = step->anchored != 1;
    if (!loses && !anchored) return "";
    return arena_printf(arena, " as simulated; run expects %s, with what %s", text_time(arena, step->step_p50_s),
                        anchored ? "anchors tell" : "untuned code loses");
}

bool trace_simulate(Arena *arena, const Cluster *cluster, const StudySpec *study, SimulationOptions options,
                    SimulatedStep *step, const char **why_not, Problems *problems) {
    int before = problems_added(problems);
    options.runs = 1;
    options.seed = study->seed;
    options.unfolded = study->unfolded;
    options.assume_fits = study->assume_fits;
    options.step_sigma = study->noise;
    *step = simulate_step(arena, cluster, &study->training, &options, problems);
    if (problems_added(problems) > before) return false;
    if (!step->spans && !step->load)
        *why_not = simulate_training(arena, cluster, &study->training, study, problems).why_not;
    return step->spans || step->load;
}

static const SpanSet *trace_job(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    const StudySpec *study = study_unvaried(arena, request->study);
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    StepTrace *trace = cluster ? recorder(arena, request, cluster, (Where){0}, problems) : NULL;
    if (!trace) return NULL;
    SimulationOptions options = {.chain = request->chain, .keeps_system = request->links, .trace = trace};
    SimulatedStep step;
    if (!trace_simulate(arena, cluster, study, options, &step, why_not, problems)) return NULL;
    return titled(arena, step.spans, study_title(arena, study), expected_of(arena, &step));
}

static const SpanSet *trace_program(Arena *arena, const TraceRequest *request, Problems *problems) {
    const ProgramSpec *program = request->program;
    StepTrace *trace = recorder(arena, request, program->cluster, (Where){0}, problems);
    const System *system = trace ? program_system(arena, program, problems) : NULL;
    if (!system) return NULL;
    Folded folded = program->as_packets ? (Folded){*system, NULL}
                    : request->unfolded ? (Folded){merge_equal_links(arena, system), NULL}
                                        : fold_system(arena, system);
    if (step_trace_needs_whole(trace, folded.class_of)) folded = (Folded){merge_equal_links(arena, system), NULL};
    RunOptions options = {.seed = request->seed};
    if (program->as_packets) options.carrier = program_carrier(arena, program, system, problems);
    if (program->as_packets && !options.carrier) return NULL;
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
    if (result.deadlocked_count) { // run reports the calls
        problem_add(problems, program->where, "its ranks wait for each other without end: there is no step to trace");
        problem_hint(problems, "lockstep run says who waits for whom");
        return NULL;
    }
    return titled(arena, step_trace_end(trace, &result), program->title ? program->title : "Rank program", "");
}

const SpanSet *trace_step(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    *why_not = NULL;
    return request->study ? trace_job(arena, request, why_not, problems) : trace_program(arena, request, problems);
}
