// Quotas of groups from user input, and preparation of jobs before they run: groups, elastic jobs, MIG slices.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/queue/queue_answer.h"

#define MOST_QUOTA 100000000

static const char *group_name(Arena *arena, const QueueStudy *study, int group) {
    if (study->trace) return study->trace->jobs->group_names[group];
    if (study->list) return study->list->user_names[group];
    return arena_printf(arena, "%d", group + 1); // drawn jobs: the k-th user
}

int queue_study_groups(const QueueStudy *study) {
    if (study->trace) return study->trace->jobs->group_count;
    return study->list ? study->list->user_count : study->demand.users;
}

static bool bad_quota(const QueueStudy *study, const char *text, const char *hint, Problems *problems) {
    problem_add(problems, study->where, "\"%.60s\" is no quota", text);
    problem_hint(problems, "%s", hint);
    return false;
}

static bool set_quota(Arena *arena, const QueueStudy *study, const char *said, int32_t *quotas, Problems *problems) {
    const char *colon = strrchr(said, ':');
    char *end;
    long gpus = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end || gpus < 1 || gpus > MOST_QUOTA)
        return bad_quota(study, said, "a group and its GPUs, such as research:128; *:32 is for all that are not named",
                         problems);
    const char *name = arena_printf(arena, "%.*s", (int)(colon - said), said);
    int groups = queue_study_groups(study);
    for (int i = 0; i < groups; i++)
        if (strcmp(group_name(arena, study, i), name) == 0) {
            quotas[i] = (int32_t)gpus;
            return true;
        }
    if (strcmp(name, "*") == 0) {
        for (int i = 0; i < groups; i++)
            if (quotas[i] == 0) quotas[i] = (int32_t)gpus;
        return true;
    }
    const char **names = ARENA_ARRAY(arena, const char *, groups);
    for (int i = 0; i < groups; i++) names[i] = group_name(arena, study, i);
    problem_add(problems, study->where, "no group is called \"%.40s\"", name);
    problem_hint_names(problems, name, names, groups);
    return false;
}

// A job that no quota lets start would wait for ever.
static bool quotas_suffice(Arena *arena, const QueueStudy *study, const int32_t *quotas, Problems *problems) {
    const QueueJobs *jobs = study->trace ? study->trace->jobs : study->list;
    for (int i = 0; jobs && i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        int group = study->trace ? job->group : job->user;
        if (job->gpus <= quotas[group]) continue;
        problem_add(problems, study->where, "a job of %s wants %d GPUs, and its quota is %d",
                    group_name(arena, study, group), job->gpus, quotas[group]);
        problem_hint(problems, "raise the quota: no job waits for ever");
        return false;
    }
    for (int i = 0; !jobs && i < study->demand.sizes.count; i++)
        for (int g = 0; g < queue_study_groups(study); g++) {
            if (study->demand.sizes.items[i].gpus <= quotas[g]) continue;
            problem_add(problems, study->where, "jobs may want %d GPUs, and the quota of %s is %d",
                        study->demand.sizes.items[i].gpus, group_name(arena, study, g), quotas[g]);
            problem_hint(problems, "raise the quota, or leave such jobs out with --sizes");
            return false;
        }
    return true;
}

bool queue_set_quotas(Arena *arena, QueueStudy *study, const char *text, Problems *problems) {
    int groups = queue_study_groups(study);
    int32_t *quotas = ARENA_ARRAY(arena, int32_t, groups);
    bool sound = true;
    for (const char *at = text; sound;) {
        size_t length = strcspn(at, ",");
        sound = set_quota(arena, study, arena_printf(arena, "%.*s", (int)length, at), quotas, problems);
        if (at[length] == '\0') break;
        at += length + 1;
    }
    for (int i = 0; i < groups; i++)
        if (quotas[i] == 0) quotas[i] = INT32_MAX;
    if (!sound || !quotas_suffice(arena, study, quotas, problems)) return false;
    study->spec.quotas = quotas;
    return true;
}

// ---- Jobs as the study has them.

const QueueJobs *queue_prepare(Arena *arena, const QueueStudy *study, const QueueJobs *jobs) {
    bool own_groups = study->spec.quotas && !study->trace;
    if (!(study->elastic > 0) && !study->mig && !own_groups) return jobs;
    QueueJobs *prepared = ARENA_NEW(arena, QueueJobs);
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, jobs->count);
    *prepared = *jobs;
    prepared->items = items;
    if (own_groups) prepared->group_count = queue_study_groups(study);
    for (int i = 0; i < jobs->count; i++) {
        items[i] = jobs->items[i];
        if (own_groups) items[i].group = items[i].user;
        if (study->mig) queue_share_by_mig(&items[i]);
        if (study->elastic > 0 && items[i].gpus > 1)
            items[i].least_gpus = (int32_t)fmax(1, ceil(study->elastic * items[i].gpus));
    }
    return prepared;
}

// ---- Weights: "age:1,share:2,size:0.5,priority:1".

bool queue_weights_from_text(const char *text, Where where, QueueWeights *weights, Problems *problems) {
    static const char *const names[] = {"age", "share", "size", "priority"};
    double *const values[] = {&weights->age, &weights->fair_share, &weights->size, &weights->priority};
    *weights = (QueueWeights){0};
    double sum = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ":");
        int factor = -1;
        char *end = NULL;
        for (int i = 0; i < 4; i++)
            if (strlen(names[i]) == length && strncmp(names[i], at, length) == 0) factor = i;
        double value = at[length] == ':' ? strtod(at + length + 1, &end) : -1;
        bool read = end && end != at + length + 1 && (*end == ',' || *end == '\0');
        if (factor < 0 || !read || !(value >= 0 && value <= 1e6)) break;
        *values[factor] = value;
        sum += value;
        if (*end == '\0' && sum > 0) return true;
        if (*end == '\0') break;
        at = end + 1;
    }
    problem_add(problems, where, "\"%.60s\" says no weights", text);
    problem_hint(problems, "of age, share, size and priority, such as age:1,share:2,size:0,priority:1; not all 0");
    return false;
}
