// What layers cost and hold under every software, kept: of each model of the library under each framework a few drawn
// jobs, with all that changes kernels or memory. Tests of the field's formulas say what is right; this says what moved.
#include <string.h>

#include "models/workload/job/training.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "tests/child.h"
#include "tests/golden.h"
#include "tests/jobs.h"
#include "tests/test.h"

#define DRAWN 4 // jobs of each model and framework

static bool one_in(RandomStream *stream, int n) { return random_below(stream, (uint64_t)n) == 0; }

static int one_of(RandomStream *stream, int count) { return (int)random_below(stream, (uint64_t)count); }

// What few jobs have.
static void draw_rarer(TrainingSpec *job, RandomStream *stream) {
    bool *switches[] = {&job->tp_overlap,
                        &job->zero_quantized_weights,
                        &job->fused_optimizer,
                        &job->scatter_gather,
                        &job->optimizer_in_backward,
                        &job->overlap_param_gather,
                        &job->module_hooks,
                        &job->own_code};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) *switches[i] = one_in(stream, 8);
    if (job->lora_rank) job->lora_embeddings = one_in(stream, 3);
    if (job->lora_rank && one_in(stream, 2)) *(one_in(stream, 2) ? &job->nf4_weights : &job->gptq_weights) = true;
    if (one_in(stream, 6)) job->offload_optimizer = (OffloadPlace)one_of(stream, OFFLOAD_COUNT);
    if (job->layout.zero == 3 && one_in(stream, 4))
        job->offload_parameters = (OffloadPlace)one_of(stream, OFFLOAD_COUNT);
    if (job->recompute == RECOMPUTE_FULL && one_in(stream, 3)) job->offload_activations = OFFLOAD_HOST;
    if (one_in(stream, 4)) job->layout.pp = 2 << one_of(stream, 2);
    if (job->layout.pp > 1) job->schedule = (Schedule)one_of(stream, SCHEDULE_COUNT);
    if (job->schedule == SCHEDULE_INTERLEAVED || job->schedule == SCHEDULE_ZB_V) job->layout.vpp = 2;
    if (job->layout.pp > 1) job->grad_accumulation *= job->layout.pp;
    if (one_in(stream, 4)) job->layout.shard = 1 + one_of(stream, 2);
    if (one_in(stream, 6)) job->cpu_seconds_per_kernel = 9e-6;
    if (one_in(stream, 6)) job->prefetch = one_of(stream, 4) - 1;
    if (one_in(stream, 6)) job->recompute_layers = 1 + one_of(stream, 3);
}

static TrainingSpec draw_job(const Model *model, Framework framework, const Gpu *gpu, RandomStream *stream) {
    static const Precision precisions[] = {BF16, FP16, FP32, TF32, FP8};
    TrainingSpec job = {.model = model, .layout = {.tp = 1, .pp = 1, .vpp = 1}, .framework = framework};
    bool is_text = counts_tokens(model);
    job.seq_len = is_text ? 512 << one_of(stream, 2) : model->patch ? model->max_positions : 0;
    do job.precision = precisions[one_of(stream, 5)];
    while (!gpu_supports(gpu, job.precision));
    job.mixed_precision = one_in(stream, job.precision == FP32 || job.precision == TF32 ? 4 : 2);
    job.micro_batch = 1 + one_of(stream, 4);
    job.grad_accumulation = 1 + one_of(stream, 3);
    job.optimizer = (Optimizer)one_of(stream, OPTIMIZER_COUNT);
    job.attention = (Attention)one_of(stream, ATTENTION_COUNT);
    job.recompute = (Recompute)one_of(stream, is_text ? RECOMPUTE_COUNT : 1);
    job.recompute_every = one_in(stream, 4) ? 1 + one_of(stream, 2) : 0;
    job.recompute_stops_early = one_in(stream, 2);
    if (job.recompute == RECOMPUTE_OPERATIONS && one_in(stream, 2)) job.recompute_keeps = 1 + random_below(stream, 31);
    if (job.recompute == RECOMPUTE_SELECTIVE && one_in(stream, 2)) job.recompute_modules = 1 + random_below(stream, 15);
    if (is_text && model->heads % 4 == 0 && one_in(stream, 2)) {
        job.layout.tp = 2 << one_of(stream, 2);
        job.layout.sequence_parallel = one_in(stream, 2);
    }
    if (is_text && one_in(stream, 4)) job.layout.cp = 2, job.layout.context = (ContextExchange)one_of(stream, 3);
    if (model->experts.count % 4 == 0 && model->experts.count > 0) {
        job.layout.ep = 1 << one_of(stream, 3);
        job.layout.etp = one_of(stream, 2);
    }
    job.layout.zero = one_of(stream, 4);
    job.fp8_recipe = (Fp8Recipe)one_of(stream, FP8_RECIPE_COUNT);
    job.image_layout = (ImageLayout)one_of(stream, IMAGE_LAYOUT_COUNT);
    if (is_text && one_in(stream, 5))
        job.lora_rank = one_in(stream, 3) ? 1 : 8, job.lora_everywhere = one_in(stream, 2);
    bool *switches[] = {&job.half_weights,  &job.whole_head,  &job.tuned_products, &job.fused_norms,
                        &job.composed_gelu, &job.fused_loss,  &job.tp_waits,       &job.gathers_logits,
                        &job.expert_loop,   &job.cuda_graphs, &job.fused_dispatch, &job.fp32_grad_reduce};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) *switches[i] = one_in(stream, 5);
    if (one_in(stream, 6)) job.loss_chunks = 1 << one_of(stream, 3);
    if (one_in(stream, 3)) job.expert_skew = 0.5;
    if (one_in(stream, 4)) job.capacity_factor = one_in(stream, 2) ? 0.8 : 1.25;
    if (one_in(stream, 6)) job.accumulation_bytes = one_in(stream, 2) ? 1 : 6;
    draw_rarer(&job, stream);
    return job;
}

// Six digits of sums, as in other texts here, and ten of what is in the digest: a byte more of a gigabyte is seen.
typedef struct Sums {
    double forward, backward, kept, working, peak;
    int kernels;
    uint64_t all;
} Sums;

static double counted(Sums *sums, double value) {
    char text[32];
    snprintf(text, sizeof text, isnan(value) ? "unknown" : "%.10g", value);
    sums->all = digest_bytes(sums->all, text, strlen(text));
    return value;
}

static double count_list(Sums *sums, const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) {
        seconds += counted(sums, list->items[i].seconds);
        counted(sums, list->items[i].bytes);
        counted(sums, list->items[i].cause);
    }
    return seconds;
}

static void count_step(Sums *sums, const TrainingSpec *job, const Gpu *gpu) {
    Arena *arena = arena_open();
    OperatorTimes times = {0};
    RoutedShares routed = routed_shares(job);
    const double figures[] = {optimizer_seconds(job, 1e9, gpu),
                              host_seconds_per_step(job, gpu),
                              optimizer_state_bytes(job),
                              trained_share(job),
                              gradient_bytes(job),
                              weight_bytes(job),
                              stored_weight_bytes(job, 1),
                              gathered_weight_bytes(job, 1),
                              training_flops_per_sample(job),
                              routed.fullest,
                              routed.kept,
                              sends_slices(job),
                              blocks_ahead(job),
                              block_matmul_flops(job->model, 1, job, job->micro_batch)};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) counted(sums, figures[i]);
    block_operator_times(arena, 1, job, job->micro_batch, gpu, &times);
    for (int i = 0; i < times.count; i++)
        for (int cell = 0; cell < PASS_WAYS * CAUSE_COUNT; cell++)
            counted(sums, times.items[i].seconds[cell / CAUSE_COUNT][cell % CAUSE_COUNT]);
    arena_close(arena);
}

static void count_memory(Sums *sums, const TrainingSpec *job, const Gpu *gpu) {
    const Layout *layout = &job->layout;
    int ranks = layout->tp * (layout->cp > 1 ? layout->cp : 1) * layout->pp * 4, stage = 0;
    double low, high;
    Memory memory = memory_of_job(job, ranks, gpu, &stage);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) counted(sums, memory.bytes[i]);
    peak_range(&memory, &low, &high);
    const double figures[] = {memory.peak,
                              memory.host,
                              memory.disk,
                              memory.late,
                              memory.outside,
                              stage,
                              low,
                              high,
                              reserved_bytes(&memory),
                              reserved_bytes_varied(&memory),
                              chance_to_run_out(&memory)};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) counted(sums, figures[i]);
    if (isfinite(memory.peak)) sums->peak += memory.peak;
}

static void count_job(Sums *sums, const TrainingSpec *job, const Gpu *gpu) {
    const Model *model = job->model;
    for (int block = 0; block < model->block_count; block++) {
        if (block > 1 && same_block(job, block - 1, block)) continue;
        BlockCost cost = block_cost(model, block, job, job->micro_batch, gpu);
        sums->forward += count_list(sums, &cost.forward);
        sums->backward += count_list(sums, &cost.backward);
        count_list(sums, &cost.backward_input);
        count_list(sums, &cost.backward_weight);
        sums->kernels += cost.kernels_forward + cost.kernels_backward;
        sums->kept += counted(sums, cost.activation_bytes);
        sums->working += counted(sums, cost.working_bytes);
        counted(sums, cost.late_bytes);
        counted(sums, cost.output_bytes);
    }
    count_step(sums, job, gpu);
    count_memory(sums, job, gpu);
}

LONG_TEST(2, layers_cost_and_hold_under_every_software_what_they_did) {
    if (HAS_ADDRESS_SANITIZER) return;
    static const char *const gpus[] = {"A100", "H100", "V100", "B200"};
    Bench bench = bench_open();
    GoldenText *text = golden_open();
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        RandomStream stream = random_stream(1, names[i], 0);
        Sums sums = {.all = DIGEST_START};
        for (int n = 0; n < DRAWN * FRAMEWORK_COUNT; n++) {
            const Gpu *gpu = bench_gpu(&bench, gpus[(i + n / FRAMEWORK_COUNT) % 4]);
            TrainingSpec job = draw_job(bench_model(&bench, names[i]), (Framework)(n % FRAMEWORK_COUNT), gpu, &stream);
            count_job(&sums, &job, gpu);
        }
        fprintf(text->out, "%s: %.6g s, %.6g s, %d kernels, %.6g B kept, %.6g B at work, %.6g B, %016llx\n", names[i],
                sums.forward, sums.backward, sums.kernels, sums.kept, sums.working, sums.peak,
                (unsigned long long)sums.all);
    }
    EXPECT(count > 50);
    golden_compare("costs.txt", text);
    arena_close(bench.arena);
}
