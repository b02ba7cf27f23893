// Steps: bounds from below, what links carry, ranks that are alike, work done twice.
#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/step/simulate.h"
#include "tests/laws_internal.h"
#include "tests/test.h"

// ---- Contention.

// Sharing never makes a transfer quicker. And it costs no more than the bytes of all transfers take on their links, one
// link after the other: while a transfer on the longest way through the step is held back, one of its links carries
// others' bytes at its full rate, and each byte goes over a link once.
Verdict law_contention(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)seed;
    Answer answer = law_answer_of(study, "", (AnswerOptions){.second = true});
    Verdict verdict = LAW_SILENT;
    if (answer.ran) {
        double step_s = answer.step_s * (1 + law_forgery);
        verdict = at_most(answer.alone_s, answer.step_s, "step without contention", finding);
        if (verdict == LAW_HOLDS)
            verdict = at_most(step_s, answer.alone_s + answer.busy_s, "step with contention", finding);
    }
    law_answer_close(&answer);
    return verdict;
}

// ---- From below.

static double slowest_flops(const Cluster *cluster, Precision precision) {
    double flops = 0;
    for (int r = 0; r < cluster->gpu_count; r++) flops += gpu_peak(cluster->gpu_of[r], precision);
    return flops;
}

// Its arithmetic, less what masks and Winograd's convolutions save (simulate.h), at the peak of all GPUs together;
// what every optimizer step writes anew at the rate of memory; each link's bytes at its rate.
Verdict law_bounds(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)seed;
    Answer answer = law_answer_of(study, "", (AnswerOptions){.unfolded = true});
    Verdict verdict = LAW_SILENT;
    if (answer.ran) {
        const TrainingSpec *training = answer.lowered->training;
        double step_s = answer.step_s / (1 + law_forgery);
        double flops = least_flops_per_sample(training, answer.cluster) * answer.lowered->resolved.global_batch;
        verdict = at_most(flops / slowest_flops(answer.cluster, training->precision), step_s, "arithmetic", finding);
        const Gpu *gpu = answer.cluster->gpu_of[0];
        double state = answer.memory.bytes[MEMORY_OPTIMIZER];
        bool one_type = answer.cluster->spec->group_count == 1;
        if (verdict == LAW_HOLDS && one_type && state > 4 * gpu->l2_bytes && training->optimizer != OPTIMIZER_NONE)
            verdict = at_most(state / gpu->memory_bytes_per_second, step_s, "optimizer's state", finding);
        for (int l = 0; l < answer.system.link_count && verdict == LAW_HOLDS; l++)
            verdict = at_most(answer.run.link_bytes[l] / answer.system.links[l].bytes_per_second, step_s,
                              answer.system.links[l].name, finding);
    }
    law_answer_close(&answer);
    return verdict;
}

// ---- Bytes.

// Joins of every plan of every channel, over all actors and streams.
static double *count_joins(const System *system, Arena *arena, int **first) {
    int *at = ARENA_ARRAY(arena, int, system->channel_count + 1);
    for (int c = 0; c < system->channel_count; c++) at[c + 1] = at[c] + system->channels[c].plan_count;
    double *joins = ARENA_ARRAY(arena, double, at[system->channel_count] + 1);
    for (int a = 0; a < system->actor_count; a++) {
        const Program *program = &system->programs[system->actors[a].program];
        for (int s = 0; s < program->stream_count; s++) {
            OpWalk walk = {.program = program, .stream = &program->streams[s]};
            for (Op op; walk_ops(&walk, &op);)
                if (op.kind == OP_TRANSFER) joins[at[system->actors[a].channels[op.slot]] + op.id]++;
        }
    }
    *first = at;
    return joins;
}

// What the ranks' programs send over a link is what it carried.
Verdict law_bytes(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)seed;
    Answer answer = law_answer_of(study, "", (AnswerOptions){.unfolded = true});
    Verdict verdict = LAW_SILENT;
    if (answer.ran && answer.cluster->gpu_count <= 32) {
        const System *system = &answer.system;
        int *first;
        double *joins = count_joins(system, answer.arena, &first);
        double *sent = ARENA_ARRAY(answer.arena, double, system->link_count + 1);
        for (int c = 0; c < system->channel_count; c++)
            for (int p = 0; p < system->channels[c].plan_count; p++) {
                const Plan *plan = &system->channels[c].plans[p];
                double times = joins[first[c] + p] / system->channels[c].member_count;
                for (int u = 0; u < plan->use_count; u++)
                    sent[plan->uses[u].link] += times * plan->bytes * plan->uses[u].weight;
            }
        verdict = LAW_HOLDS;
        for (int l = 0; l < system->link_count && verdict == LAW_HOLDS; l++) {
            double carried = answer.run.link_bytes[l] * (1 + law_forgery);
            if (fabs(carried - sent[l]) <= 1e-6 * sent[l]) continue;
            finding->excess = fabs(carried - sent[l]) / sent[l];
            snprintf(finding->why, sizeof finding->why, "%s carried %.12g bytes, %.12g were sent",
                     system->links[l].name, carried, sent[l]);
            verdict = LAW_BROKEN;
        }
    }
    law_answer_close(&answer);
    return verdict;
}

// ---- Ranks that are alike.

static Verdict same_step(Answer *one, Answer *other, const char *what, Finding *finding) {
    if (!one->ran || !other->ran) return LAW_SILENT;
    if (one->step_s == other->step_s) return LAW_HOLDS;
    finding->excess = fabs(other->step_s / one->step_s - 1);
    snprintf(finding->why, sizeof finding->why, "%s: %.12g s and %.12g s", what, one->step_s, other->step_s);
    return LAW_BROKEN;
}

// The same nodes written as two groups of whole nodes. An NVLink domain of several nodes is within one group: two are
// two racks.
static bool split_groups(const Answer *answer, uint64_t seed, DrawnStudy *study) {
    const ClusterSpec *spec = answer->cluster->spec;
    int gpus = answer->cluster->gpu_count, each = spec->groups[0].type->gpu_count;
    if (spec->groups[0].type->nvlink_domain_nodes > 1) return false;
    if (spec->group_count > 1 || gpus < 2 * each || gpus % each) return false;
    int first = each * (1 + (int)(seed / 2 % (uint64_t)(gpus / each - 1)));
    const char *node = drawn_value(study, "cluster.node"), *gpu = drawn_value(study, "cluster.gpu"),
               *pcie = drawn_value(study, "cluster.pcie");
    char text[3][64] = {"", "", ""};
    if (!node) return false;
    snprintf(text[0], sizeof text[0], "%s", node);
    if (gpu) snprintf(text[1], sizeof text[1], "%s", gpu);
    if (pcie) snprintf(text[2], sizeof text[2], "%s", pcie);
    drawn_set(study, "cluster.node", NULL);
    drawn_set(study, "cluster.gpus", NULL);
    drawn_set(study, "cluster.gpu", NULL);
    drawn_set(study, "cluster.pcie", NULL);
    static const char *const nodes[] = {"cluster.nodes.1.node", "cluster.nodes.2.node"};
    static const char *const counts[] = {"cluster.nodes.1.gpus", "cluster.nodes.2.gpus"};
    static const char *const gpus_of[] = {"cluster.nodes.1.gpu", "cluster.nodes.2.gpu"};
    static const char *const pcies[] = {"cluster.nodes.1.pcie", "cluster.nodes.2.pcie"};
    for (int g = 0; g < 2; g++) {
        drawn_set(study, nodes[g], text[0]);
        drawn_set_count(study, counts[g], g ? gpus - first : first);
        if (gpu) drawn_set(study, gpus_of[g], text[1]);
        if (pcie) drawn_set(study, pcies[g], text[2]);
    }
    return true;
}

// Ranks that do the same may be simulated as one, and nodes that are the same may change places in the list.
Verdict law_alike(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    Answer folded = law_answer_of(study, "", (AnswerOptions){0});
    Verdict verdict = LAW_SILENT;
    DrawnStudy groups = *study;
    if (folded.ran && seed % 2) {
        Answer whole = law_answer_of(study, "", (AnswerOptions){.unfolded = true, .second = true});
        verdict = same_step(&folded, &whole, "folded and unfolded", finding);
        law_answer_close(&whole);
    } else if (folded.ran && split_groups(&folded, seed, &groups)) {
        Answer split = law_answer_of(&groups, "", (AnswerOptions){.second = true});
        verdict = same_step(&folded, &split, "one group of nodes and two", finding);
        law_answer_close(&split);
    }
    law_answer_close(&folded);
    return verdict;
}

// ---- Twice.

// Twice the micro-batches take at most twice the time, and no less than once, contention aside. Of pipelines that
// reduce gradients after every pass it says nothing: with more micro-batches passes of both kinds take turns for
// longer, in which a reduction holds the next pass's up.
Verdict law_twice(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    (void)seed;
    DrawnStudy with = *study;
    Answer once = law_answer_of(&with, "", (AnswerOptions){0});
    Verdict verdict = LAW_SILENT;
    if (once.ran) {
        const Resolved *r = &once.lowered->resolved;
        drawn_set(&with, "training.batch.global", NULL);
        drawn_set_count(&with, "training.batch.micro", (int)r->micro_batch);
        drawn_set_count(&with, "training.batch.accumulation", 2 * r->micro_batches);
        Answer twice = law_answer_of(&with, "", (AnswerOptions){.second = true});
        bool in_turns = r->pp > 1 && once.lowered->training->layout.zero >= 2;
        if (twice.ran && !in_turns && r->micro_batch == floor(r->micro_batch)) {
            snprintf(finding->sets, sizeof finding->sets,
                     "training.batch.accumulation = %d, then %d, of micro-batches of %g", r->micro_batches,
                     2 * r->micro_batches, r->micro_batch);
            verdict = at_most(twice.alone_s, 2 * once.alone_s, "twice the micro-batches", finding);
            if (verdict == LAW_HOLDS) verdict = at_most(once.alone_s, twice.alone_s, "half the micro-batches", finding);
        }
        law_answer_close(&twice);
    }
    law_answer_close(&once);
    return verdict;
}
