// Explanation of a rank program: its critical path by the script's lines, and the gain of a faster network or
// machine. Its script is run again for each resource, on a catalogue in which that resource is faster.
#include <math.h>

#include "scenarios/explain/explain.h"
#include "sim/base/list.h"
#include "sim/fold.h"
#include "sim/system/watch.h"

static StudySpec study_of(const ProgramSpec *program, const ScenarioRequest *request) {
    return (StudySpec){.where = program->where,
                       .title = program->title ? program->title : "Rank program",
                       .scenario = program->scenario,
                       .catalogue = program->catalogue,
                       .cluster = program->cluster_spec,
                       .seed = request->seed,
                       .unfolded = request->unfolded};
}

static RecordPoint simulate(Arena *arena, const ProgramSpec *program, const System *system, const StudySpec *study,
                            Problems *problems) {
    return simulate_program(arena, program, system, study, problems);
}

RecordPoint simulate_program_once(Arena *arena, const ProgramSpec *program, const ScenarioRequest *request,
                                  Problems *problems) {
    StudySpec study = study_of(program, request);
    const System *system = program_system(arena, program, problems);
    if (!system) return (RecordPoint){.why_not = "its messages do not meet"};
    return simulate(arena, program, system, &study, problems);
}

static void keep_path(Arena *arena, Explanation *now, const ProgramSpec *program, const System *system,
                      Problems *problems) {
    Folded folded = program->as_packets        ? (Folded){*system, NULL}
                    : now->job.study->unfolded ? (Folded){merge_equal_links(arena, system), NULL}
                                               : fold_system(arena, system);
    Arena *scratch = arena_open();
    RunOptions options = {.seed = now->job.study->seed, .chain = true};
    if (program->as_packets) options.carrier = program_carrier(scratch, program, system, problems);
    RunResult result = run_system(scratch, &folded.system, &options);
    if (!result.stopped)
        now->job.step.chain =
            step_chain(arena, NULL, &folded.system, folded.class_of, now->job.cluster->gpu_count, &result);
    arena_close(scratch);
}

// The number-th study or program of a script; NULL: there are fewer.
const ScenarioItem *scenario_item(const Scenario *scenario, int64_t number) {
    for (int i = 0; i < scenario->item_count; i++)
        if ((scenario->items[i].study || scenario->items[i].program) && --number == 0) return &scenario->items[i];
    return NULL;
}

// Seconds of the step on a machine with one resource faster by a factor; NAN: it does not run there.
static double step_on(const Explanation *now, const ProgramSource *source, const Resource *resource, double factor) {
    Arena *scratch = arena_open();
    Problems *problems = problems_create(scratch);
    const Catalogue *quicker = catalogue_quicker(scratch, now->job.study->catalogue, resource, factor);
    const Scenario *scenario = scenario_load(scratch, quicker, source->request, problems, problems);
    const ScenarioItem *item = scenario ? scenario_item(scenario, source->number) : NULL;
    const System *system = item && item->program ? program_system(scratch, item->program, problems) : NULL;
    double seconds = NAN;
    if (system) {
        StudySpec study = study_of(item->program, source->request);
        RecordPoint point = simulate(scratch, item->program, system, &study, problems);
        if (point.ran) seconds = point.step_p50_s;
    }
    arena_close(scratch);
    return seconds;
}

static void try_resources(Arena *arena, Explanation *now, const ProgramSource *source) {
    double step = now->job.point.step_p50_s;
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count, WATCH_NO_LIMIT);
    for (int r = 0; r < resource_count && !watch_is_over(); r++) {
        const NodeType *node = now->job.study->cluster->groups->type;
        if (!part_can_be_quicker(PART_GPU, node_gpu(now->job.study->catalogue, node, 0), &resources[r], 2)) continue;
        double twice = step_on(now, source, &resources[r], 2);
        watch_goes_on(1);
        if (isnan(twice)) continue;
        StepThen *then = ARENA_NEW(arena, StepThen);
        *then = (StepThen){.memory_bytes = NAN, .tenth_s = NAN, .limit_s = NAN};
        if (twice < step) then->tenth_s = step - step_on(now, source, &resources[r], 1.1);
        if (twice < step) then->limit_s = step - step_on(now, source, &resources[r], 1e6);
        const Move *move = move_of_resource(arena, &resources[r]);
        LIST_PUSH(arena, &now->job.tried,
                  ((WhatIf){.move = move,
                            .title = move->title,
                            .ran = true,
                            .then = twice,
                            .gain = {step - twice, NAN, NAN, NAN, NAN},
                            .cost = NAN,
                            .step = then}));
    }
    watch_end(&piece);
    whatif_rank(&now->job.tried);
}

const Explanation *explain_program(Arena *arena, const ProgramSpec *program, const ProgramSource *source, bool only_why,
                                   Problems *problems) {
    int before = problems_added(problems);
    Explanation *now = ARENA_NEW(arena, Explanation);
    StudySpec *study = ARENA_NEW(arena, StudySpec);
    *study = study_of(program, source->request);
    *now = (Explanation){.job = {.study = study, .cluster = program->cluster, .better_chance = NAN},
                         .goodput = NAN,
                         .title = study->title};
    const System *system = program_system(arena, program, problems);
    if (!system) return NULL;
    now->job.point = simulate(arena, program, system, study, problems);
    if (problems_added(problems) > before) return NULL;
    if (!now->job.point.ran) return now;
    keep_path(arena, now, program, system, problems);
    if (now->job.step.chain && !only_why) try_resources(arena, now, source);
    return now;
}
