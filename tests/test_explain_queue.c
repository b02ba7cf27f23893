// Why jobs wait: causes sum to each wait to the tick, agree with what is worked out from starts and ends, and what
// explain says of other rules is what lockstep queue prints under them.
#include <math.h>
#include <string.h>

#include "models/workload/queue/queue.h"
#include "scenarios/explain/explain.h"
#include "scenarios/queue/command_queue.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/golden.h"
#include "tests/test.h"

#define SECOND TICKS_PER_SECOND_LIFE
#define MOST_JOBS 60

static int below(RandomStream *random, int bound) { return (int)random_below(random, (uint64_t)bound); }

static const QueuePolicy *policy_called(const char *name) {
    for (int i = 0; i < queue_policy_count; i++)
        if (strcmp(queue_policies[i].name, name) == 0) return &queue_policies[i];
    return NULL;
}

// ---- Drawn clusters.

static const QueueJobs *drawn_jobs(Arena *arena, RandomStream *random, const QueueSpec *spec, bool elastic) {
    int count = 5 + below(random, MOST_JOBS - 5), most = spec->nodes * spec->gpus_per_node;
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, count);
    for (int i = 0; i < count; i++) {
        SimTime work = (1 + below(random, 300)) * SECOND / 7;
        int gpus = 1 + below(random, below(random, 2) ? most : (most + 3) / 4);
        items[i] = (QueueJob){.arrival = below(random, 400) * SECOND / 3, .work = work, .gpus = gpus, .row = i};
        items[i].estimate = below(random, 2) ? work : 2 * work;
        items[i].user = items[i].group = below(random, 3);
        items[i].priority = below(random, 2);
        if (elastic) items[i].least_gpus = (gpus + 1) / 2;
    }
    QueueJobs *jobs = ARENA_NEW(arena, QueueJobs);
    *jobs = *queue_jobs_sorted(arena, items, count, 3, NULL);
    jobs->group_count = 3;
    return jobs;
}

static SimTime waited(const QueueJobs *jobs, const QueueRun *run, int job) {
    return run->outcomes[job].start - jobs->items[job].arrival;
}

static SimTime of_cause(const QueueRun *run, int job, QueueWaitCause cause) {
    return run->waits[(size_t)job * QUEUE_WAIT_CAUSE_COUNT + cause];
}

TEST(causes_of_waiting_sum_to_each_wait_to_the_tick_and_change_nothing) {
    SimTime seen[QUEUE_WAIT_CAUSE_COUNT] = {0};
    FOR_SEEDS (seed, 1, 1000) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "waits", 0);
        QueueSpec spec = {.nodes = 1 + below(&random, 6), .gpus_per_node = 1 + below(&random, 4), .seed = seed};
        LifeSpec faults = {.nodes = 1, .repair_s = 40, .crash_detection_s = 3, .shape = 1, .bad_factor = 1};
        faults.faults[0] = (LifeFault){.node_rate = 1 / 500.0, .needs_repair = true};
        spec.policy = &queue_policies[below(&random, queue_policy_count)];
        spec.placement = (QueuePlacement)below(&random, QUEUE_PLACEMENT_COUNT);
        spec.checkpoint_s = below(&random, 2) * 4;
        if (below(&random, 2)) spec.faults = &faults, spec.restart_s = 2, spec.checkpoint_every_s = 5;
        int32_t quota = 1 + spec.nodes * spec.gpus_per_node, quotas[3] = {quota, quota, quota};
        const QueueJobs *jobs = drawn_jobs(arena, &random, &spec, below(&random, 4) == 0);
        for (int i = 0; i < jobs->count; i++)
            if (i == 0 || jobs->items[i].gpus > quotas[1]) quotas[1] = jobs->items[i].gpus;
        quotas[0] = quotas[2] = quotas[1];
        if (below(&random, 2)) spec.quotas = quotas;
        QueueRun without = queue_run(arena, &spec, jobs);
        spec.keep_waits = true;
        QueueRun run = queue_run(arena, &spec, jobs);
        EXPECT(run.digest == without.digest && !without.waits);
        for (int i = 0; i < jobs->count; i++) {
            SimTime sum = 0;
            for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
                EXPECT(of_cause(&run, i, (QueueWaitCause)c) >= 0);
                sum += of_cause(&run, i, (QueueWaitCause)c);
                seen[c] += of_cause(&run, i, (QueueWaitCause)c);
            }
            if (sum != waited(jobs, &run, i))
                test_fail(__FILE__, __LINE__, "seed %d, %s: job %d waits %lld ticks, its causes %lld", (int)seed,
                          spec.policy->name, i, (long long)waited(jobs, &run, i), (long long)sum);
        }
        arena_close(arena);
    }
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
        if (seen[c] == 0) test_fail(__FILE__, __LINE__, "nobody waited: %s", queue_wait_cause_names[c]);
}

// ---- Clusters with all that can be said of them at once, kept: what comes of each job and what is told of all.

static uint64_t figure(uint64_t digest, double value) {
    char text[32];
    snprintf(text, sizeof text, isnan(value) ? "unknown" : "%.10g", value);
    return digest_bytes(digest, text, strlen(text));
}

static uint64_t waits(uint64_t digest, const QueueWaits *waits) {
    const Summary *const summaries[] = {&waits->wait_s, &waits->slowdown};
    digest = figure(digest, waits->jobs);
    for (int i = 0; i < 2 && waits->jobs > 0; i++) {
        digest = figure(figure(digest, summaries[i]->mean), summaries[i]->p50);
        digest = figure(figure(digest, summaries[i]->p5), summaries[i]->p95);
    }
    return digest;
}

static uint64_t digest_run(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run) {
    const double figures[] = {run->utilisation,
                              run->goodput,
                              run->stranded,
                              run->down,
                              run->fragmentation,
                              run->waiting_mean,
                              run->node_failures,
                              run->failure_stops,
                              run->preemptions,
                              run->given_up,
                              run->crossing_share,
                              run->mean_slowdown,
                              run->first,
                              queue_events(spec, jobs),
                              queue_memory(spec, jobs->count)};
    uint64_t digest = DIGEST_START;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) digest = figure(digest, figures[i]);
    for (int i = 0; i < run->history_count; i++) {
        digest = figure(digest, (double)run->history[i].time);
        digest = figure(figure(digest, run->history[i].busy_gpus), run->history[i].waiting_jobs);
    }
    for (int i = 0; i < jobs->count * QUEUE_WAIT_CAUSE_COUNT; i++) digest = figure(digest, (double)run->waits[i]);
    QueueMeasures measures = queue_measure(arena, spec, jobs, run);
    digest = waits(digest, &measures.all);
    for (int i = 0; i < QUEUE_CLASS_COUNT; i++) digest = waits(digest, &measures.by_class[i]);
    return figure(figure(figure(digest, measures.waited_share), measures.fairness), measures.makespan_s);
}

static QueueSpec wild(RandomStream *random, LifeSpec *faults, int32_t quotas[3]) {
    QueueSpec spec = {.nodes = 1 + below(random, 9), .gpus_per_node = 1 << below(random, 4), .seed = 1};
    spec.nodes_per_leaf = below(random, 4);
    spec.policy = &queue_policies[below(random, queue_policy_count)];
    spec.placement = (QueuePlacement)below(random, QUEUE_PLACEMENT_COUNT);
    spec.weights = (QueueWeights){below(random, 3), below(random, 3), below(random, 3), below(random, 3)};
    spec.depth = below(random, 4);
    spec.scaling = below(random, 2) ? 0.5 : 0;
    spec.half_life_s = below(random, 2) ? 100 : 0;
    spec.warm_up = below(random, 2) ? 0.2 : 0;
    spec.checkpoint_s = below(random, 2) * 4;
    *faults = (LifeSpec){.nodes = 1, .repair_s = 40, .crash_detection_s = 3, .shape = 1, .bad_factor = 1};
    faults->hang_share = 0.2, faults->hang_detection_s = 20, faults->silent_detection_s = 60;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        faults->faults[i] = (LifeFault){.node_rate = below(random, 2) / 2000.0, .needs_repair = below(random, 2)};
    if (below(random, 2)) spec.faults = faults, spec.restart_s = 2, spec.checkpoint_every_s = below(random, 3) * 5;
    for (int i = 0; i < 3; i++) quotas[i] = spec.nodes * spec.gpus_per_node;
    if (below(random, 2)) spec.quotas = quotas;
    spec.keep_waits = spec.keep_history = true;
    return spec;
}

static QueueJobs with_parts(Arena *arena, RandomStream *random, const QueueJobs *jobs, const QueueSpec *spec) {
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, jobs->count);
    bool parts = below(random, 3) == 0, mig = below(random, 2);
    for (int i = 0; i < jobs->count; i++) {
        items[i] = jobs->items[i];
        if (items[i].gpus > spec->nodes * spec->gpus_per_node) items[i].gpus = 1;
        if (!parts || items[i].gpus > 1 || below(random, 2)) continue;
        items[i].share = 1 + below(random, QUEUE_WHOLE_SHARE - 1);
        items[i].least_gpus = 0;
        if (mig) queue_share_by_mig(&items[i]);
    }
    QueueJobs all = *jobs;
    all.items = items;
    return all;
}

TEST(clusters_with_everything_at_once_run_as_they_did) {
    GoldenText *text = golden_open();
    FOR_SEEDS (seed, 1, 400) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "wild cluster", 0);
        LifeSpec faults;
        int32_t quotas[3];
        QueueSpec spec = wild(&random, &faults, quotas);
        const QueueJobs *drawn = drawn_jobs(arena, &random, &spec, below(&random, 3) == 0);
        QueueJobs jobs = with_parts(arena, &random, drawn, &spec);
        QueueRun run = queue_run(arena, &spec, &jobs);
        fprintf(text->out, "cluster %d, %s: %.6g in use, %d jobs, %lld events, %016llx %016llx\n", (int)seed,
                spec.policy->name, run.utilisation, jobs.count, (long long)run.events, (unsigned long long)run.digest,
                (unsigned long long)digest_run(arena, &spec, &jobs, &run));
        arena_close(arena);
    }
    golden_compare("queues.txt", text);
}

// The twin knows starts and ends alone: where any GPUs will do, a job waits for GPUs while fewer are free than it asks.
static SimTime too_few_free(const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run, int job) {
    SimTime sum = 0, at = jobs->items[job].arrival;
    while (at < run->outcomes[job].start) {
        SimTime next = run->outcomes[job].start;
        int busy = 0;
        for (int i = 0; i < jobs->count; i++) {
            const QueueOutcome *other = &run->outcomes[i];
            if (other->start <= at && at < other->end) busy += jobs->items[i].gpus;
            if (other->start > at && other->start < next) next = other->start;
            if (other->end > at && other->end < next) next = other->end;
        }
        if (spec->nodes * spec->gpus_per_node - busy < jobs->items[job].gpus) sum += next - at;
        at = next;
    }
    return sum;
}

TEST(waiting_for_gpus_is_what_starts_and_ends_of_all_jobs_say) {
    static const char *const names[] = {"fifo", "first-fit", "easy", "conservative", "fair-share"};
    FOR_SEEDS (seed, 1, 200) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "waits of twins", 0);
        QueueSpec spec = {.nodes = 1 + below(&random, 5), .gpus_per_node = 1 + below(&random, 4), .keep_waits = true};
        spec.policy = policy_called(names[below(&random, 5)]);
        spec.placement = QUEUE_SCATTER;
        const QueueJobs *jobs = drawn_jobs(arena, &random, &spec, false);
        QueueRun run = queue_run(arena, &spec, jobs);
        bool in_line = strcmp(spec.policy->name, "fifo") == 0;
        for (int i = 0; i < jobs->count; i++) {
            SimTime full = too_few_free(&spec, jobs, &run, i);
            EXPECT_INT(of_cause(&run, i, QUEUE_WAIT_FULL), full);
            EXPECT_INT(of_cause(&run, i, in_line ? QUEUE_WAIT_LINE : QUEUE_WAIT_RESERVED),
                       waited(jobs, &run, i) - full);
        }
        arena_close(arena);
    }
}

// ---- Worked by hand, on two nodes of four GPUs.

static QueueJob asks(int arrival_s, int seconds, int gpus) {
    return (QueueJob){
        .arrival = arrival_s * SECOND, .work = seconds * SECOND, .estimate = seconds * SECOND, .gpus = gpus};
}

static SimTime wait_of_last(QueueJob *items, int count, const char *policy, const int32_t *quotas,
                            QueueWaitCause cause) {
    Arena *arena = arena_open();
    QueueSpec spec = {.nodes = 2, .gpus_per_node = 4, .quotas = quotas, .keep_waits = true};
    QueueJobs jobs = {.items = items, .count = count, .user_count = 1, .group_count = 1};
    spec.policy = policy_called(policy);
    QueueRun run = queue_run(arena, &spec, &jobs);
    SimTime seconds = of_cause(&run, count - 1, cause) / SECOND;
    arena_close(arena);
    return seconds;
}

TEST(each_cause_of_waiting_is_told_where_it_is_the_cause) {
    QueueJob full[] = {asks(0, 100, 8), asks(10, 5, 1)};
    EXPECT_INT(wait_of_last(full, 2, "easy", NULL, QUEUE_WAIT_FULL), 90);
    QueueJob scattered[] = {asks(0, 100, 3), asks(0, 100, 3), asks(10, 5, 2)}; // one is free of each node
    EXPECT_INT(wait_of_last(scattered, 3, "easy", NULL, QUEUE_WAIT_SCATTERED), 90);
    QueueJob line[] = {asks(0, 100, 4), asks(10, 50, 8), asks(20, 30, 4)};
    EXPECT_INT(wait_of_last(line, 3, "fifo", NULL, QUEUE_WAIT_LINE), 80); // then the second runs
    EXPECT_INT(wait_of_last(line, 3, "fifo", NULL, QUEUE_WAIT_FULL), 50);
    QueueJob reserved[] = {asks(0, 100, 4), asks(10, 50, 8), asks(20, 90, 4)}; // would end after 100 s
    EXPECT_INT(wait_of_last(reserved, 3, "easy", NULL, QUEUE_WAIT_RESERVED), 80);
    QueueJob held[] = {asks(0, 100, 4), asks(10, 5, 2)};
    EXPECT_INT(wait_of_last(held, 2, "easy", (int32_t[]){5}, QUEUE_WAIT_QUOTA), 90);
}

// ---- The command.

static const Json *answer_to(Arena *arena, int (*command)(int, char **), const char *line) {
    const Ended *ended = run_command(command, line);
    EXPECT_INT(ended->code, 0);
    Problems *problems = problems_create(arena);
    const Json *answer = json_read_text(arena, "answer", ended->out, strlen(ended->out), problems);
    EXPECT_INT(problem_count(problems), 0);
    return answer;
}

static double number(const Json *object, const char *key) { return json_get(object, key)->number; }

static const Json *row_called(const Json *rows, const char *name) {
    for (int i = 0; i < rows->count; i++)
        if (strcmp(json_get(&rows->items[i], "name")->text, name) == 0) return &rows->items[i];
    return NULL;
}

#define JOBS "--mix gavel --jobs 800 --seeds 3 --warm-up 0.1 --jobs-per-hour 8 --node-mtbf 200d --estimate-error 2"

TEST(other_rules_in_an_explained_queue_are_what_lockstep_queue_prints_under_them) {
    static const struct {
        const char *table, *name, *options;
    } twins[] = {
        {"settings", "policy-fifo", "--gpus 80 --policy fifo"},
        {"settings", "placement-scatter", "--gpus 80 --policy easy --placement scatter"},
        {"settings", "checkpoint-every", "--gpus 80 --policy easy --checkpoint-every 1h"},
        {"settings", "elastic", "--gpus 80 --policy easy --elastic 0.5"},
        {"machines", "gpus", "--gpus 88 --policy easy"},
    };
    Arena *arena = arena_open();
    const Json *answer = answer_to(arena, command_explain, "explain queue --gpus 80 " JOBS " --json");
    const Json *now = answer_to(arena, command_queue, "queue --gpus 80 --policy easy " JOBS " --json");
    double wait = number(json_get(now, "policies")->items, "wait_mean_s"), sum = 0;
    const Json *causes = json_get(answer, "waits");
    for (int i = 0; i < causes->count; i++) sum += number(&causes->items[i], "seconds");
    EXPECT(wait > 0);
    EXPECT_NEAR(sum, wait, 1e-12);
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        const Json *row = row_called(json_get(answer, twins[i].table), twins[i].name);
        const Json *twin =
            answer_to(arena, command_queue, arena_printf(arena, "queue %s " JOBS " --json", twins[i].options));
        EXPECT_NEAR(number(row, "wait_mean_s"), number(json_get(twin, "policies")->items, "wait_mean_s"), 1e-12);
        EXPECT_NEAR(number(row, "wait_p95_s"), number(json_get(twin, "policies")->items, "wait_p95_s"), 1e-12);
        EXPECT_NEAR(number(row, "gain_s"), wait - number(row, "wait_mean_s"), 1e-9);
    }
    arena_close(arena);
}

TEST(an_explained_queue_says_in_words_what_its_tables_have) {
    const Ended *ended = run_command(command_explain, "explain queue --gpus 64 --load 0.9 --jobs 2000 --policy fifo");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "under fifo on 64 GPUs");
    EXPECT_CONTAINS(ended->out, "they would fit, and nobody may pass");
    EXPECT_CONTAINS(ended->out, "Change first: the policy ");
    EXPECT_CONTAINS(ended->out, "--gpus 64,72 --jobs 2000 ");
}

// "Change first: … (OPTION). …": asked by itself it has the wait that was promised, to the digit.
TEST(the_advised_rule_run_as_its_own_command_gives_the_wait_that_was_promised) {
    static const char *const lines[] = {
        "--gpus 64 --load 0.9 --jobs 2000 --policy fifo", "--gpus 64 --load 0.85 --jobs 3000 --seeds 1 --policy fifo",
        "--gpus 80 --load 0.8 --jobs 1500 --seeds 4 --policy first-fit --placement spread"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Arena *arena = arena_open();
        const Json *answer =
            answer_to(arena, command_explain, arena_printf(arena, "explain queue %s --json", lines[i]));
        const Json *settings = json_get(answer, "settings"), *first = NULL;
        for (int k = 0; k < settings->count && !first; k++)
            if (strcmp(json_get(&settings->items[k], "verdict")->text, "helps") == 0) first = &settings->items[k];
        EXPECT(first != NULL);
        if (!first) continue;
        const char *option = json_get(first, "option")->text;
        EXPECT_TEXT(json_get(json_get(answer, "change_first"), "option")->text, option);
        EXPECT_NEAR(number(json_get(answer, "change_first"), "wait_mean_s"), number(first, "wait_mean_s"), 0);
        const char *name = arena_printf(arena, " %.*s ", (int)strcspn(option, " "), option);
        const char *at = strstr(lines[i], name), *rest = at ? at + strlen(name) : "";
        const char *base =
            at ? arena_printf(arena, "%.*s%s", (int)(at - lines[i]), lines[i], rest + strcspn(rest, " ")) : lines[i];
        const Json *twin = answer_to(arena, command_queue, arena_printf(arena, "queue %s %s --json", base, option));
        EXPECT_NEAR(number(json_get(twin, "policies")->items, "wait_mean_s"), number(first, "wait_mean_s"), 1e-12);
        arena_close(arena);
    }
}

TEST(a_chance_is_that_of_students_t_and_agrees_with_its_range) {
    Arena *arena = arena_open();
    const Json *answer = answer_to(arena, command_explain,
                                   "explain queue --gpus 64 --load 0.9 --jobs 2000 --seeds 5 --policy easy --json");
    const char *const tables[] = {"settings", "machines"};
    for (int t = 0; t < 2; t++) {
        const Json *rows = json_get(answer, tables[t]);
        for (int i = 0; i < rows->count; i++) {
            double gain = number(&rows->items[i], "gain_s"), half = number(&rows->items[i], "half_s"),
                   chance = number(&rows->items[i], "chance");
            EXPECT(chance >= 0 && chance <= 1);
            EXPECT((chance > 0.9499) == (gain > half * 0.9999) || half == 0); // the range ends where 5 % are left
            EXPECT((chance < 0.0501) == (gain < -half * 0.9999) || half == 0);
        }
    }
    EXPECT_NEAR(student_below(2.132, 4), 0.95, 1e-4); // tables of Student's t
    EXPECT_NEAR(student_below(0, 9), 0.5, 1e-12);
    arena_close(arena);
}

TEST(where_no_rule_helps_the_words_say_so_and_what_more_gpus_give) {
    Arena *arena = arena_open();
#define ASKED "explain queue --gpus 640 --mix gavel --jobs-per-hour 20"
    const Json *answer = answer_to(arena, command_explain, ASKED " --json");
    EXPECT_INT(json_get(json_get(answer, "change_first"), "option")->kind, JSON_NULL);
    const Json *settings = json_get(answer, "settings");
    for (int i = 0; i < settings->count; i++)
        EXPECT(strcmp(json_get(&settings->items[i], "verdict")->text, "helps") != 0);
    const char *said = run_command(command_explain, ASKED)->out;
    EXPECT_CONTAINS(said, "Change no rule of the scheduler: ");
    EXPECT_CONTAINS(said, "\nIf         jobs can run on half their GPUs: --elastic 0.5 makes it ");
    EXPECT_CONTAINS(said, "--gpus 704 ");
    arena_close(arena);
#undef ASKED
}

static int times(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

// Each refusal says what to do instead.
TEST(a_queue_is_explained_under_one_policy_at_one_size) {
    const Ended *ended = run_command(command_explain, "explain queue --gpus 64,128 --load 0.9 --policy all");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "explain takes one policy, not \"all\"");
    EXPECT_CONTAINS(ended->err, "explain takes one number of GPUs, not \"64,128\"");
    EXPECT_INT(times(ended->err, "hint: "), times(ended->err, "error: "));
    ended = run_command(command_explain, "explain queue --find-gpus --wait-p95 1h");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--find-gpus is for lockstep queue");
    EXPECT_INT(times(ended->err, "hint: "), times(ended->err, "error: "));
    ended = run_command(command_explain, "explain queue --gpus 64");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "how many jobs come?");
}
