// Any bytes as a trace of jobs: refused with a sentence that has a place, or jobs by arrival that a cluster can run.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_trace.c, then run it on tests/fuzz/corpus_trace
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/queue/queue.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

// Small enough to be run at once.
static bool is_small(const QueueJobs *jobs) {
    for (int i = 0; i < jobs->count; i++)
        if (jobs->items[i].gpus > 64 || jobs->items[i].arrival > SIM_TIME_NEVER / 8) return false;
    return jobs->count <= 200;
}

static void run_all(Arena *arena, const QueueJobs *jobs) {
    for (int p = 0; p < queue_policy_count; p++) {
        QueueSpec spec = {.nodes = 8, .gpus_per_node = 8, .policy = &queue_policies[p], .depth = 4};
        QueueRun run = queue_run(arena, &spec, jobs);
        for (int i = 0; i < jobs->count; i++) {
            CHECK(run.outcomes[i].start >= jobs->items[i].arrival);
            CHECK(run.too_long || run.outcomes[i].end >= run.outcomes[i].start + jobs->items[i].work);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = arena_alloc(arena, bytes + 1);
    memcpy(text, bytes ? (const char *)data : "", bytes);
    text[bytes] = '\0';
    const QueueTrace *trace = queue_trace_from_text(arena, "f", text, problems);
    CHECK((trace == NULL) == (problem_count(problems) > 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(problem_at(problems, i)->where.file);
    const QueueJobs *jobs = trace ? trace->jobs : NULL;
    for (int i = 0; jobs && i < jobs->count; i++) {
        CHECK(jobs->items[i].gpus > 0 && jobs->items[i].work > 0 && jobs->items[i].estimate > 0);
        CHECK(jobs->items[i].user >= 0 && jobs->items[i].user < jobs->user_count);
        CHECK(i == 0 ? jobs->items[i].arrival == 0 : jobs->items[i].arrival >= jobs->items[i - 1].arrival);
    }
    if (jobs && is_small(jobs)) run_all(arena, jobs);
    arena_close(arena);
    return 0;
}
