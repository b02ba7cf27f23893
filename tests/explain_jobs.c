#include "tests/explain_jobs.h"

#include "sim/base/random.h"

void job_on(Job *job, Arena *arena, const Catalogue *catalogue, const char *node, const char *link, int gpus,
            const char *model) {
    *job = (Job){.arena = arena, .problems = problems_create(arena)};
    job->group = (NodeGroup){.type = catalogue_node(catalogue, node), .gpus = gpus};
    job->cluster = (ClusterSpec){.groups = &job->group,
                                 .group_count = 1,
                                 .link = catalogue_link(catalogue, link),
                                 .rail_optimised = true,
                                 .oversubscription = 1,
                                 .price_per_gpu_hour = 2};
    job->said = (JobSaid){.model = find_model(arena, model, (Where){NULL, 0}, job->problems)};
    job->study = (StudySpec){.title = model,
                             .scenario = "test",
                             .catalogue = catalogue,
                             .cluster = &job->cluster,
                             .said = &job->said,
                             .seed = 1};
}

void job_made(Job *job) {
    GpuTypes gpus = cluster_gpu_types(job->arena, job->study.catalogue, &job->cluster);
    job->study.training = job_make(job->arena, &job->said, gpus, job->problems);
}

void draw_job(Job *job, Arena *arena, const Catalogue *catalogue, uint64_t seed) {
    static const char *const models[] = {"gpt2-124m", "gpt2-355m", "llama-3.2-1b", "bert-large", "llama-2-7b"};
    static const char *const nodes[][2] = {{"dgx-a100-80gb", "ib-hdr200"},
                                           {"dgx-h100", "ib-ndr400"},
                                           {"p3.16xlarge", "eth-25g"},
                                           {"dgx-a100", "eth-100g"}};
    RandomStream draw = random_stream(seed, "jobs to advise", 0);
    uint64_t machine = random_below(&draw, 4);
    int gpus = 8 << random_below(&draw, 2);
    job_on(job, arena, catalogue, nodes[machine][0], nodes[machine][1], gpus, models[random_below(&draw, 5)]);
    int tp = 1 << random_below(&draw, 3), pp = 1 << random_below(&draw, 2);
    job_say_number(arena, &job->said, JOB_PARALLEL, "tp", tp);
    job_say_number(arena, &job->said, JOB_PARALLEL, "pp", pp);
    job_say_number(arena, &job->said, JOB_BATCH, "micro", 1 << random_below(&draw, 3));
    job_say_number(arena, &job->said, JOB_BATCH, "global", 8 * gpus);
    job_say_number(arena, &job->said, JOB_TRAINING, "zero", (double)random_below(&draw, 2));
    job_made(job);
}
