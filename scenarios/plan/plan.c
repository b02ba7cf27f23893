// All clusters of a plan, in one process or in many.
#include "scenarios/plan/plan.h"

#include <math.h>
#include <string.h>

#include "scenarios/sweep/crew.h"
#include "sim/check.h"

#define SLICES 8 // of the candidates of one row, when every one of them is simulated by several processes
#define WAIT_MS 1000

typedef struct Work {
    const PlanRequest *request;
    const PlanRow *rows;
    PlanFound *found; // [rows]
    int row_count, slices;
} Work;

static PlanFound do_item(const Work *work, int64_t item) {
    return plan_search_row(work->request, &work->rows[item / work->slices], (int)(item % work->slices), work->slices);
}

static void add_count(PlanCount *sum, const PlanCount *more) {
    sum->candidates += more->candidates;
    sum->too_large += more->too_large;
    sum->dominated += more->dominated;
    sum->simulated += more->simulated;
    sum->events += more->events;
}

// Slices may come in any order: the better one wins, of equals the first candidate.
static void join_found(PlanFound *into, const PlanFound *part) {
    PlanCount count = into->count;
    add_count(&count, &part->count);
    bool better = part->ran && (!into->ran || part->value < into->value ||
                                (part->value == into->value && part->number < into->number));
    if (better) *into = *part;
    into->count = count;
}

// ---- Many processes. What they answer holds pointers to what was there before they were forked.

static char *crew_item(void *context, Arena *arena, int64_t item, size_t *bytes) {
    PlanFound *answer = ARENA_NEW(arena, PlanFound);
    *answer = do_item(context, item);
    *bytes = sizeof *answer;
    return (char *)answer;
}

static void search_with_crew(Work *work, int jobs, Problems *problems) {
    int64_t items = (int64_t)work->row_count * work->slices, next = 0;
    Crew *crew = crew_open(jobs < items ? jobs : (int)items, crew_item, work);
    for (;;) {
        while (next < items && crew_has_idle(crew)) crew_give(crew, next++);
        if (crew_busy(crew) == 0) break;
        Arena *scratch = arena_open();
        CrewAnswer answer;
        if (crew_wait(crew, scratch, WAIT_MS, &answer)) {
            PlanFound part = {.ran = false};
            if (answer.bytes) {
                CHECK(answer.size == sizeof part);
                memcpy(&part, answer.bytes, sizeof part);
                join_found(&work->found[answer.item / work->slices], &part);
            } else {
                problem_add(problems, work->request->training.where, "a part of the search was lost: %s",
                            answer.reason);
                problem_hint(problems, "less memory is needed with fewer processes: -j 1");
            }
        }
        arena_close(scratch);
    }
    crew_close(crew);
}

static void search_all(Work *work, Problems *problems) {
    int jobs = work->request->jobs;
    int64_t items = (int64_t)work->row_count * work->slices;
    if (jobs > 1 && items > 1) {
        search_with_crew(work, jobs, problems);
        return;
    }
    for (int64_t item = 0; item < items; item++) {
        PlanFound part = do_item(work, item);
        join_found(&work->found[item / work->slices], &part);
    }
}

// ---- Rows.

// The fabric number l that a node is tried with: its own, or one of the list. One node uses none, and stands in the
// plan once; false: there is no such fabric.
static bool link_of_row(const PlanRequest *request, int n, int gpus, int l, const FabricLink **link) {
    const FabricLink *own = request->node_link ? request->node_link[n] : NULL;
    *link = own ? own : l < request->link_count ? request->links[l] : NULL;
    if (gpus <= request->nodes[n]->gpu_count) *link = NULL;
    return l == 0 || (*link != NULL && !own);
}

static int make_rows(Arena *arena, const PlanRequest *request, PlanRow **rows) {
    int links = request->link_count > 0 ? request->link_count : 1, count = 0;
    *rows = ARENA_ARRAY(arena, PlanRow, request->node_count * links * request->gpus_count * request->batch_count);
    for (int n = 0; n < request->node_count; n++)
        for (int l = 0; l < links; l++)
            for (int g = 0; g < request->gpus_count; g++)
                for (int b = 0; b < request->batch_count; b++) {
                    const FabricLink *link;
                    if (!link_of_row(request, n, request->gpus[g], l, &link)) continue;
                    PlanRow *row = &(*rows)[count++];
                    *row = (PlanRow){.node = request->nodes[n],
                                     .link = link,
                                     .gpus = request->gpus[g],
                                     .training = request->training};
                    row->training.global_batch = request->batches[b];
                }
    return count;
}

static const char *why_nothing_ran(Arena *arena, const PlanFound *found, const Problems *problems) {
    if (problem_count(problems)) return arena_copy_text(arena, problem_at(problems, 0)->text);
    if (found->count.candidates == 0) return "no layout divides the GPUs and the batch";
    return found->count.candidates == found->count.too_large ? "no layout fits in memory" : "no layout runs";
}

// The winner once more, in full.
static void finish_row(Arena *arena, const PlanRequest *request, const PlanFound *found, PlanRow *row) {
    Problems *own = problems_create(arena);
    const Cluster *cluster = plan_cluster(arena, request, row->node, row->link, row->gpus, NULL, own);
    if (cluster && found->ran) {
        row->training = found->training;
        plan_simulate_row(arena, request, cluster, row);
    } else {
        row->point.why_not = why_nothing_ran(arena, found, own);
    }
    plan_judge(request, row);
}

PlanResult plan_search(Arena *arena, const PlanRequest *request, Problems *problems) {
    PlanResult result = {.chosen = -1, .knee = -1};
    result.row_count = make_rows(arena, request, &result.rows);
    Work work = {.request = request,
                 .rows = result.rows,
                 .found = ARENA_ARRAY(arena, PlanFound, result.row_count),
                 .row_count = result.row_count,
                 .slices = request->exhaustive && request->jobs > 1 ? SLICES : 1};
    search_all(&work, problems);
    for (int i = 0; i < result.row_count; i++) {
        add_count(&result.count, &work.found[i].count);
        finish_row(arena, request, &work.found[i], &result.rows[i]);
    }
    plan_rank(request, &result);
    return result;
}
