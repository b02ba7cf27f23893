// Nothing above physics is ever given as an answer, and sound jobs are never taken for such.
#include "models/hardware/kernel.h"
#include "models/hardware/parts.h"
#include "models/workload/job/job.h"
#include "models/workload/model/model.h"
#include "models/workload/step/simulate.h"
#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/child.h"
#include "tests/script.h"
#include "tests/test.h"

// ---- Forged claims.

static const double spent[2] = {0.6, 0.4};

static StepClaim sound_claim(void) {
    return (StepClaim){.seconds = 1,
                       .least_seconds = 0.9,
                       .most_seconds = 1.2,
                       .spent = spent,
                       .spent_count = 2,
                       .flops = 9e14,
                       .peak_flops = 1e15,
                       .wire_seconds = 1,
                       .wire = "nic0",
                       .weight_bytes = 2e9,
                       .memory_bytes = 3e9};
}

static void expect_refused(const StepClaim *claim, const char *part) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(!is_plausible(claim, (Where){0}, problems));
    EXPECT(problems_have_fault(problems));
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "above physics");
    EXPECT_CONTAINS(problem_at(problems, 0)->text, part);
    arena_close(arena);
}

TEST(a_claim_within_its_bounds_is_plausible) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StepClaim claim = sound_claim();
    EXPECT(is_plausible(&claim, (Where){0}, problems));
    EXPECT(!problems_have_fault(problems));
    arena_close(arena);
}

TEST(a_step_shorter_than_its_flops_at_peak_is_above_physics) {
    StepClaim claim = sound_claim();
    claim.flops = 1.1e15;
    expect_refused(&claim, "1.1e+15 FLOP take 1.1 s at the GPUs' peak");
}

TEST(bytes_faster_than_their_wire_are_above_physics) {
    StepClaim claim = sound_claim();
    claim.wire_seconds = 1.25;
    expect_refused(&claim, "the bytes over nic0 take 1.25 s");
}

TEST(memory_below_its_weights_is_above_physics) {
    StepClaim claim = sound_claim();
    claim.memory_bytes = 1e9;
    expect_refused(&claim, "its weights alone are 2e+09 bytes");
}

TEST(what_is_no_amount_is_above_physics) {
    static const double bad[2] = {NAN, 0.4}, negative[2] = {-0.4, 1}, large[2] = {0.5, 1.5};
    const double no_times[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++) {
        StepClaim claim = sound_claim();
        claim.seconds = no_times[i];
        expect_refused(&claim, "a step would take");
    }
    const double *parts[] = {bad, negative, large};
    for (int i = 0; i < 3; i++) {
        StepClaim claim = sound_claim();
        claim.spent = parts[i];
        expect_refused(&claim, "would go to one part of it");
    }
    StepClaim outside = sound_claim();
    outside.least_seconds = 1.1;
    expect_refused(&outside, "in a range");
}

// ---- Jobs drawn at random from all that there is.

static const void *any_part(RandomStream *stream, const Catalogue *catalogue, PartKind kind) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    CHECK(count > 0);
    return part_at(kind, parts, (int)random_below(stream, (uint64_t)count));
}

static int one_of(RandomStream *stream, const int *numbers, int count) {
    return numbers[random_below(stream, (uint64_t)count)];
}
#define ONE_OF(...) one_of(&stream, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

typedef struct Drawn {
    int ran, refused_by_layout, above;
    double most_mfu;
} Drawn;

// As MFU is usually counted, and by what is done where that is above the peak.
static double claimed_mfu(const TrainingSpec *training, const Cluster *cluster, const SimulatedStep *step) {
    double most = peak_flops_of(cluster, training->precision) * step->step_p50_s;
    double batch = step->lowered->resolved.global_batch, flops = training_flops_per_sample(training) * batch;
    return (flops > most ? least_flops_per_sample(step->lowered->training, cluster) * batch : flops) / most;
}

static void draw_job(Drawn *drawn, const Catalogue *catalogue, uint64_t number) {
    Arena *arena = arena_open();
    RandomStream stream = random_stream(20260101, "plausible", number);
    int model_count;
    const char *const *models = model_names(&model_count);
    Problems *problems = problems_create(arena);
    NodeGroup group = {.type = any_part(&stream, catalogue, PART_NODE)};
    int per_node = group.type->gpu_count;
    group.gpus = random_below(&stream, 3) ? per_node * ONE_OF(1, 1, 2, 4) : 1;
    if (group.gpus > 64) group.gpus = 64;
    ClusterSpec spec = {.groups = &group,
                        .group_count = 1,
                        .link = any_part(&stream, catalogue, PART_FABRIC),
                        .fabric = FABRIC_FAT_TREE,
                        .oversubscription = ONE_OF(1, 1, 4),
                        .price_per_gpu_hour = -1};
    const Cluster *cluster = cluster_create(arena, catalogue, &spec, problems);
    const Model *model = find_model(arena, models[random_below(&stream, (uint64_t)model_count)], (Where){0}, problems);
    if (cluster && model) {
        TrainingSpec training = job_usual(model, (GpuTypes){&(const Gpu *){cluster->gpu_of[0]}, 1});
        int micro = ONE_OF(1, 1, 2, 8, 32, 256);
        static const Precision all[] = {FP64, FP32, TF32, FP16, BF16, FP8};
        Precision asked = all[random_below(&stream, 6)];
        if (gpu_supports(cluster->gpu_of[0], asked)) training.precision = asked;
        training.mixed_precision = training.precision == FP16 || training.precision == BF16;
        training.micro_batch = micro;
        training.grad_accumulation = ONE_OF(1, 2, 8);
        training.layout.tp = ONE_OF(1, 1, 2, 8);
        training.layout.pp = ONE_OF(1, 1, 2, 4);
        training.layout.cp = counts_tokens(model) ? ONE_OF(1, 1, 1, 2) : 1;
        training.layout.ep = model->experts.count > 0 ? ONE_OF(1, 2, 8) : 1;
        training.layout.zero = training.layout.pp > 1 ? ONE_OF(0, 1) : ONE_OF(0, 1, 2, 3);
        training.framework = (Framework)random_below(&stream, FRAMEWORK_COUNT);
        training.recompute = (Recompute)ONE_OF(RECOMPUTE_NONE, RECOMPUTE_NONE, RECOMPUTE_FULL);
        training.attention = (Attention)random_below(&stream, ATTENTION_COUNT);
        if (counts_tokens(model) && random_below(&stream, 4) == 0) training.seq_len *= ONE_OF(2, 16, 64);
        if (counts_tokens(model) && random_below(&stream, 8) == 0) training.lora_rank = 16;
        if (training.lora_rank && random_below(&stream, 2)) training.nf4_weights = true;
        if (training.layout.ep > 1 && random_below(&stream, 3) == 0) training.capacity_factor = 0.5;
        if (random_below(&stream, 8) == 0) training.jitter = 0.1;
        SimulatedStep step =
            simulate_step(arena, cluster, &training, &(SimulationOptions){.assume_fits = true}, problems);
        drawn->ran += step.ran;
        drawn->above += problems_have_fault(problems);
        drawn->refused_by_layout += !step.ran;
        if (step.ran) {
            double share = claimed_mfu(&training, cluster, &step);
            if (share > 1)
                test_fail(__FILE__, __LINE__, "job %llu: %s on %s, %s: MFU %g", (unsigned long long)number, model->name,
                          group.type->name, precision_name(training.precision), share);
            if (share > drawn->most_mfu) drawn->most_mfu = share;
        }
        if (problems_have_fault(problems))
            test_fail(__FILE__, __LINE__, "job %llu: %s on %d GPUs of %s, %s: %s", (unsigned long long)number,
                      model->name, group.gpus, group.type->name, precision_name(training.precision),
                      problem_at(problems, problem_count(problems) - 1)->text);
    }
    arena_close(arena);
}

// LOCKSTEP_BOUNDARIES=N: 20,000 / N of them.
TEST(no_job_drawn_from_the_catalogue_is_above_physics) {
    Drawn drawn = {0};
    const char *asked = getenv("LOCKSTEP_BOUNDARIES");
    int jobs = asked && atoi(asked) > 0 ? 20000 / atoi(asked) : 2000;
    for (int i = 0; i < jobs; i++) draw_job(&drawn, test_catalogue(), (uint64_t)i);
    EXPECT(drawn.ran > jobs / 8); // FlashAttention-3 and -4 have GPUs of their own
    EXPECT_INT(drawn.above, 0);
    if (jobs > 1000) printf("%d of %d jobs ran, the highest MFU is %.3g\n", drawn.ran, jobs, drawn.most_mfu);
}

// Where TF32 is no faster than the vector units cuDNN may take those, and Winograd's convolutions with them.
TEST(convolutions_in_tf32_on_vector_units_are_within_physics) {
    char said[2048];
    EXPECT_INT(test_shell("$LOCKSTEP run --model vgg-16-bn --node rtx3060x2-workstation --gpus 1 --precision tf32 "
                          "--micro-batch 32 --global-batch 512 --framework tuned 2>&1",
                          said, sizeof said),
               0);
    EXPECT(!strstr(said, "above physics"));
}
