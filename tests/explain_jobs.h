// Jobs whose changes are tried: small ones said in options of a test, and drawn ones.
#pragma once

#include "scenarios/study/study.h"

typedef struct Job {
    Arena *arena;
    Problems *problems;
    ClusterSpec cluster;
    NodeGroup group;
    JobSaid said;
    StudySpec study;
} Job;

// On so many GPUs of such nodes, at 2 an hour each; nothing else is said of the job yet.
void job_on(Job *job, Arena *arena, const Catalogue *catalogue, const char *node, const char *link, int gpus,
            const char *model);
void job_made(Job *job); // of what was said
// 8 or 16 GPUs of four kinds of machine, five models, some tp, pp, micro-batch and zero.
void draw_job(Job *job, Arena *arena, const Catalogue *catalogue, uint64_t seed);
