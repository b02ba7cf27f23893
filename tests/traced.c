#include "tests/traced.h"

#include "scenarios/explain/explain.h"
#include "scenarios/trace/trace.h"
#include "tests/test.h"

Traced traced_open(const char *expression, const char *ranks, bool unfolded, int curve_ranks) {
    Traced traced = {.loaded = load_returning(expression, NULL), .arena = arena_open()};
    if (!traced.loaded.scenario) test_fail(__FILE__, __LINE__, "%s", first_problem(&traced.loaded));
    const ScenarioItem *item = scenario_item(traced.loaded.scenario, 1);
    StudySpec study = {0};
    if (item->study) study = *item->study;
    study.unfolded = unfolded;
    TraceRequest request = {.study = item->study ? &study : NULL,
                            .program = item->program,
                            .seed = 1,
                            .unfolded = unfolded,
                            .ranks = ranks,
                            .span_room = 1000000,
                            .breakdown = true,
                            .links = true,
                            .curve_ranks = curve_ranks};
    const char *why_not;
    traced.set = trace_step(traced.arena, &request, &why_not, problems_create(traced.arena));
    EXPECT(traced.set != NULL);
    return traced;
}

void traced_close(Traced *traced) {
    arena_close(traced->arena);
    unload(&traced->loaded);
}
