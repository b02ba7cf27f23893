// lockstep memory: what a job needs of each GPU, and what to change when it does not fit.
#include "models/workload/commands/commands.h"

#include "models/workload/commands/command_internal.h"
#include "models/workload/cost/cost.h"
#include "models/workload/cost/memory_time.h"
#include "models/workload/job/recompute.h"
#include "sim/envelope.h"

#define MOST_GPUS 1e7

static const OptionSpec memory_options[] = {
    {"gpu", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "GPU (lockstep hw list gpu)"},
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs in all; tp x pp x dp when left out"},
    {"json", OPTION_FLAG, NULL, .of = OF_FORM, .help = "print JSON"},
    {"over-time", OPTION_FLAG, NULL, .of = OF_QUESTION, .help = "pass by pass, with the moment when most is in use"},
};

typedef struct MemoryJob {
    TrainingSpec training;
    const Gpu *gpu;
    int gpus, dp, stage;
    Memory memory;
    const char *change; // that makes it fit, or NULL
    MemoryCurve curve;  // of the fullest stage
    int left_out;       // micro-batches that the curve leaves out
} MemoryJob;

// Without a global batch the pipeline is taken to be full: one micro-batch for each stage, from both ends with
// DualPipe.
static void fill_pipeline(TrainingSpec *training) {
    if (training->micro_batch == 0 && training->global_batch == 0) training->micro_batch = 1;
    if (training->global_batch == 0 && training->grad_accumulation == 0)
        training->grad_accumulation =
            training->layout.pp > 1 ? training->layout.pp * (training->schedule == SCHEDULE_DUALPIPE ? 2 : 1) : 1;
}

static bool read_job(Arena *arena, const Options *options, MemoryJob *job, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return false;
    const Model *model = model_from_options(arena, options, problems);
    job->gpu = find_gpu(arena, catalogue, option_text(options, "gpu", ""), (Where){NULL, 0}, problems);
    if (!model || !job->gpu) return false;

    JobSaid said = job_from_options(arena, options, catalogue, model, problems);
    job->training = job_make(arena, &said, (GpuTypes){&job->gpu, 1}, problems);
    Layout *layout = &job->training.layout;
    double gpus = (double)option_count(options, "gpus", 0), replicas = layout->dp > 0 ? layout->dp : 1;
    if (layout->pp == 0) layout->pp = gpus >= 1 && gpus <= MOST_GPUS ? (int)gpus : 1; // layers, one stage to a GPU
    double all = gpus > 0 ? gpus : layout->tp * (double)layout->pp * replicas;
    if (all > MOST_GPUS) {
        problem_add(problems, (Where){NULL, 0}, "%.0f GPUs are more than can be worked with", all);
        problem_hint(problems, "at most 10 million");
        return false;
    }
    fill_pipeline(&job->training);
    Resolved resolved;
    if (!problem_count(problems))
        job_possible(arena, &job->training, (int)all, (GpuTypes){&job->gpu, 1}, &resolved, problems);
    job->gpus = (int)all;
    return problem_count(problems) == 0;
}

static void estimate(Arena *arena, MemoryJob *job) {
    job->dp = replicas_of_job(&job->training, job->gpus);
    job->memory = memory_of_job(&job->training, job->gpus, job->gpu, &job->stage);
    job->curve = memory_over_time(arena, &job->training, job->gpus, job->gpu, job->stage, &job->left_out);
    if (job->memory.peak > job->memory.capacity)
        job->change = smallest_change_that_fits(arena, &job->training, job->gpus, job->gpu);
}

static bool job_fits(const MemoryJob *job) { return job->memory.peak <= job->memory.capacity; }

#define MOMENTS_SHOWN 48

static void print_bytes(double bytes) {
    char text[32];
    printf(" %11s", bytes > 0 ? quantity_format(bytes, QUANTITY_BYTES, text, sizeof text) : "-");
}

static bool comes_and_goes(const MemoryCurve *curve, int class) {
    for (int i = 1; i < curve->count; i++)
        if (curve->items[i].bytes[class] != curve->items[0].bytes[class]) return true;
    return class == MEMORY_ACTIVATIONS || class == MEMORY_WORKING;
}

// One line for each pass at its highest point.
static void print_over_time(Arena *arena, const MemoryJob *job) {
    const MemoryCurve *curve = &job->curve;
    bool weights = comes_and_goes(curve, MEMORY_WEIGHTS), gradients = comes_and_goes(curve, MEMORY_GRADIENTS);
    double always = 0;
    for (int i = 0; i < MEMORY_CLASS_COUNT && curve->count; i++)
        if (!comes_and_goes(curve, i)) always += curve->items[0].bytes[i];
    printf("All the time"), print_bytes(always), printf(". On top of it, pass by pass:\n\n");
    printf("  %4s  %-54s", "", "");
    if (weights) printf(" %11s", "weights");
    if (gradients) printf(" %11s", "gradients");
    printf(" %11s %11s %11s\n", "activations", "working", "total");
    for (int i = 0; i < curve->count; i++) {
        const MemoryMoment *moment = &curve->items[i];
        bool shown = i < MOMENTS_SHOWN || i == curve->peak || i == curve->count - 1;
        if (i == MOMENTS_SHOWN && curve->count > MOMENTS_SHOWN + 1) printf("     …\n");
        if (!shown) continue;
        printf("%s %4d  %-54s", i == curve->peak ? ">" : " ", i + 1,
               memory_moment_text(arena, job->training.model, moment));
        if (weights) print_bytes(moment->bytes[MEMORY_WEIGHTS]);
        if (gradients) print_bytes(moment->bytes[MEMORY_GRADIENTS]);
        print_bytes(moment->bytes[MEMORY_ACTIVATIONS]);
        print_bytes(moment->bytes[MEMORY_WORKING]);
        print_bytes(moment->total);
        printf("\n");
    }
    if (job->left_out) printf("  %d further micro-batches repeat the pattern.\n", job->left_out);
    printf("\n");
}

static void print_job(Arena *arena, const MemoryJob *job, bool over_time) {
    const TrainingSpec *training = &job->training;
    const Layout *layout = &training->layout;
    char parameters[32], peak[32], capacity[32];
    double low, high;
    quantity_format(model_parameters(training->model), QUANTITY_COUNT, parameters, sizeof parameters);
    quantity_format(job->memory.peak, QUANTITY_BYTES, peak, sizeof peak);
    quantity_format(job->memory.capacity, QUANTITY_BYTES, capacity, sizeof capacity);

    printf("Model   %s, %s parameters\n", training->model->name, parameters);
    printf("Job     %d x %s: tp %d, pp %d, vpp %d, dp %d, ZeRO %d%s\n", job->gpus, job->gpu->name, layout->tp,
           layout->pp, layout->vpp, job->dp, layout->zero, layout->sequence_parallel ? ", sequence parallel" : "");
    printf("        micro-batch %g", micro_batch_of_job(training, job->dp));
    if (layout->pp > 1) printf(", schedule %s", schedule_name(training->schedule));
    if (counts_tokens(training->model))
        printf(", sequence %g, %s attention, recompute %s", training->seq_len, attention_name(training->attention),
               recompute_text(arena, training));
    printf(", %s%s, %s, %s\n\n", precision_name(training->precision), training->mixed_precision ? " mixed" : "",
           optimizer_name(training->optimizer), framework_name(training->framework));

    if (layout->pp > 1) printf("Stage %d of %d is the fullest:\n", job->stage, layout->pp);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        char bytes[32];
        quantity_format(job->memory.bytes[i], QUANTITY_BYTES, bytes, sizeof bytes);
        printf("  %-12s %10s\n", memory_class_names[i], bytes);
    }
    printf("  %-12s %10s of %s\n", "peak", peak, capacity);
    peak_range(&job->memory, &low, &high);
    quantity_format(low, QUANTITY_BYTES, peak, sizeof peak);
    quantity_format(high, QUANTITY_BYTES, capacity, sizeof capacity);
    printf("  %-12s %10s to %s\n", "90 % range", peak, capacity);
    if (job->curve.count) {
        const MemoryMoment *highest = &job->curve.items[job->curve.peak];
        printf("  %-12s %10s\n", "reached in", memory_moment_text(arena, training->model, highest));
    }
    printf("\n");
    if (over_time) print_over_time(arena, job);
    if (job->memory.host > 0 || job->memory.disk > 0) {
        quantity_format(job->memory.host, QUANTITY_BYTES, peak, sizeof peak);
        quantity_format(job->memory.disk, QUANTITY_BYTES, capacity, sizeof capacity);
        printf("Offloaded, per GPU: %s to host memory, %s to disks.\n", peak, capacity);
    }
    double chance = 100 * chance_to_run_out(&job->memory);
    const char *may = chance < 95 ? "It may not fit" : "It does not fit";
    if (job_fits(job) && chance < 5)
        printf("It fits.\n");
    else if (job_fits(job))
        printf("It fits. The chance that it runs out of memory all the same: %.0f %%.\n", chance);
    else if (job->change)
        printf("%s: the chance is %.0f %%. Smallest change that does: %s\n", may, 100 - chance, job->change);
    else if (chance < 95)
        printf("%s: the chance is %.0f %%; neither a smaller micro-batch nor recompute, zero, tp or pp is sure to.\n",
               may, 100 - chance);
    else
        printf("It does not fit, and neither a smaller micro-batch nor recompute, zero, tp or pp on these GPUs makes "
               "it.\n");
}

static void write_over_time(Arena *arena, JsonWriter *json, const MemoryJob *job) {
    json_key(json, "over_time");
    json_begin_list(json);
    for (int i = 0; i < job->curve.count; i++) {
        const MemoryMoment *moment = &job->curve.items[i];
        json_begin_object(json);
        write_text(json, "at", memory_moment_text(arena, job->training.model, moment));
        for (int k = 0; k < MEMORY_CLASS_COUNT; k++) write_number(json, memory_class_names[k], moment->bytes[k]);
        write_number(json, "total", moment->total);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_layout(JsonWriter *json, const MemoryJob *job) {
    const Layout *layout = &job->training.layout;
    json_key(json, "layout");
    json_begin_object(json);
    write_integer(json, "tp", layout->tp);
    write_integer(json, "pp", layout->pp);
    write_integer(json, "vpp", layout->vpp);
    write_integer(json, "dp", job->dp);
    write_integer(json, "zero", layout->zero);
    json_key(json, "sequence_parallel");
    json_write_bool(json, layout->sequence_parallel);
    json_end_object(json);
}

static void write_job(Arena *arena, const MemoryJob *job, bool over_time) {
    const TrainingSpec *training = &job->training;
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "memory");
    write_text(&json, "model", training->model->name);
    write_text(&json, "gpu", job->gpu->name);
    write_integer(&json, "gpus", job->gpus);
    write_layout(&json, job);
    write_number(&json, "micro_batch", micro_batch_of_job(training, job->dp));
    write_number(&json, "micro_batches", micro_batches_of_job(training, job->dp));
    if (counts_tokens(training->model)) write_number(&json, "seq_len", training->seq_len);
    write_text(&json, "precision", precision_name(training->precision));
    write_text(&json, "recompute", recompute_name(training->recompute));
    if (training->recompute_modules || training->recompute_keeps || recomputes_some_layers(training))
        write_text(&json, "recomputed", recompute_text(arena, training));
    write_text(&json, "attention", attention_name(training->attention));
    write_text(&json, "framework", framework_name(training->framework));
    write_text(&json, "optimizer", optimizer_name(training->optimizer));

    json_key(&json, "memory_bytes");
    json_begin_object(&json);
    write_number(&json, "peak", job->memory.peak);
    double low, high;
    peak_range(&job->memory, &low, &high);
    write_number(&json, "peak_low", low);
    write_number(&json, "peak_high", high);
    write_number(&json, "chance_to_run_out", chance_to_run_out(&job->memory));
    write_number(&json, "reserved", reserved_bytes(&job->memory));
    write_number(&json, "capacity", job->memory.capacity);
    write_number(&json, "host", job->memory.host);
    write_number(&json, "disk", job->memory.disk);
    json_key(&json, "by_class");
    json_begin_object(&json);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) write_number(&json, memory_class_names[i], job->memory.bytes[i]);
    json_end_object(&json);
    json_end_object(&json);

    write_integer(&json, "fullest_stage", job->stage);
    if (job->curve.count)
        write_text(&json, "peak_at", memory_moment_text(arena, training->model, &job->curve.items[job->curve.peak]));
    if (over_time) write_over_time(arena, &json, job);
    json_key(&json, "fits");
    json_write_bool(&json, job_fits(job));
    json_bool_member(&json, "may_fit", may_fit(&job->memory));
    write_text(&json, "smallest_change", job->change);
    json_end_object(&json);
    printf("\n");
}

const OptionSpec *memory_option_rows(Arena *arena, int *count);
const OptionSpec *memory_option_rows(Arena *arena, int *count) {
    return options_with_job(arena, memory_options, 4, count);
}

static int memory_command(Arena *arena, int argc, char **argv, Problems *problems) {
    int spec_count = 0;
    const OptionSpec *specs = memory_option_rows(arena, &spec_count);
    Options *options = options_parse(arena, specs, spec_count, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, spec_count, "lockstep memory --model NAME --gpu NAME [options]",
                           "What a training job needs of each GPU's memory, by class. Exit code 3: it does not fit.",
                           stdout);
        return EXIT_DONE;
    }
    options_refuse_positional(options, 0, problems);
    option_require(options, NULL, "model", "for example --model gpt2-124m", problems);
    option_require(options, NULL, "gpu", "for example --gpu A100", problems);
    if (problem_count(problems)) return command_fails(problems, EXIT_USAGE);

    MemoryJob job = {.stage = 0};
    if (!read_job(arena, options, &job, problems)) return command_fails(problems, EXIT_BAD_INPUT);
    estimate(arena, &job);
    bool over_time = option_flag(options, "over-time");
    if (option_flag(options, "json"))
        write_job(arena, &job, over_time);
    else
        print_job(arena, &job, over_time);
    return may_fit(&job.memory) ? EXIT_DONE : EXIT_NO;
}

int command_memory(int argc, char **argv) {
    Arena *arena = arena_open();
    int exit_code = memory_command(arena, argc, argv, problems_create(arena));
    arena_close(arena);
    return exit_code;
}
