// lockstep memory: a job's memory on each GPU, and remedies if it does not fit.
#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/job.h"
#include "models/workload/job/training.h"
#include "results/answer/frame.h"
#include "results/answer/record_answer.h"

#define MOST_GPUS 1e7

static const OptionSpec memory_options[] = {
    {"gpu", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "GPU (lockstep hw list gpu)"},
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION,
     .help = "in its place the node that it is in (lockstep hw list node)"},
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs in all; tp x pp x dp when left out"},
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
    RecordPoint said;   // what of the settings has an effect
} MemoryJob;

// Without a global batch the pipeline is taken to be full: one micro-batch for each stage, from both ends with
// DualPipe.
static void fill_pipeline(TrainingSpec *training) {
    if (training->micro_batch == 0 && training->global_batch == 0) training->micro_batch = 1;
    if (training->global_batch == 0 && training->grad_accumulation == 0)
        training->grad_accumulation =
            training->layout.pp > 1 ? training->layout.pp * (training->schedule == SCHEDULE_DUALPIPE ? 2 : 1) : 1;
}

// Of a node whose GPUs differ, the first. With --gpu too, as elsewhere, that one stands in the node.
static const Gpu *gpu_of(Arena *arena, const Catalogue *catalogue, const Options *options, Problems *problems) {
    const char *gpu = option_text(options, "gpu", NULL), *name = option_text(options, "node", NULL);
    const NodeType *node = name ? node_from_text(arena, catalogue, name, gpu, (Where){NULL, 0}, problems) : NULL;
    if (name && !node) return NULL;
    return gpu ? find_gpu(arena, catalogue, gpu, (Where){NULL, 0}, problems) : node_gpu(catalogue, node, 0);
}

static bool read_job(Arena *arena, const Options *options, MemoryJob *job, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return false;
    const Model *model = model_from_options(arena, options, problems);
    job->gpu = gpu_of(arena, catalogue, options, problems);
    if (!model || !job->gpu) return false;

    JobSaid said = job_from_options(arena, options, catalogue, model, problems);
    job->training = job_make(arena, &said, (GpuTypes){&job->gpu, 1}, problems);
    Layout *layout = &job->training.layout;
    double gpus = (double)option_count(options, "gpus", 0), replicas = layout->dp > 0 ? layout->dp : 1;
    if (layout->pp == 0) layout->pp = gpus >= 1 && gpus <= MOST_GPUS ? (int)gpus : 1; // layers, one stage to a GPU
    double all = gpus > 0 ? gpus : layout->tp * (double)layout->pp * replicas;
    if (all > MOST_GPUS) {
        problem_add(problems, (Where){NULL, 0}, "%.0f GPUs are more than can be worked with", all);
        return problem_hint(problems, "at most 10 million");
    }
    fill_pipeline(&job->training);
    if (problem_count(problems)) return false;
    double micro_batch = micro_batch_assumed(&job->training, (int)all, job->gpu);
    if (micro_batch > 0) job->training.micro_batch = micro_batch;
    Resolved resolved;
    if (!problem_count(problems) &&
        job_possible(arena, &job->training, (int)all, (GpuTypes){&job->gpu, 1}, &resolved, problems))
        job->said.effects = job_effects(arena, &job->training, &resolved, &job->said.effect_count);
    job->gpus = (int)all;
    return problem_count(problems) == 0;
}

static void estimate(Arena *arena, MemoryJob *job) {
    job->dp = replicas_of_job(&job->training, job->gpus);
    job->memory = memory_of_job(&job->training, job->gpus, job->gpu, &job->stage);
    job->curve = memory_over_time(arena, &job->training, job->gpus, job->gpu, job->stage, &job->left_out);
    if (chance_to_run_out(&job->memory) > 1 - MEMORY_FITS)
        job->change = smallest_change_that_fits(arena, &job->training, job->gpus, job->gpu);
}

static bool job_fits(const MemoryJob *job) { return job->memory.peak <= job->memory.capacity; }

// ---- The answer.

typedef struct Telling {
    Answer *answer;
    Arena *arena;
    const MemoryJob *job;
} Telling;

static const char *bytes_text(const Telling *tell, double bytes) {
    return answer_value_text(tell->arena, tell->answer, answer_of(AS_BYTES, bytes));
}

static const char *verdict(const Telling *tell) {
    double chance = chance_to_run_out(&tell->job->memory);
    if (job_fits(tell->job) && chance >= 0.05)
        return arena_printf(tell->arena, "It fits, and runs out of memory all the same with %.0f %%.", 100 * chance);
    if (job_fits(tell->job)) return "It fits.";
    if (chance >= 0.95) return "It does not fit.";
    return arena_printf(tell->arena, "It may not fit: the chance is %.0f %%.", 100 * (1 - chance));
}

static void add_lead(const Telling *tell) {
    const Memory *memory = &tell->job->memory;
    double low, high;
    peak_range(memory, &low, &high);
    answer_say(tell->answer, NULL, "%s At its peak it needs %s of %s (nine jobs of ten: %s).", verdict(tell),
               bytes_text(tell, memory->peak), bytes_text(tell, memory->capacity),
               answer_range_text(tell->arena, tell->answer, AS_BYTES, low, high));
}

static void add_change(const Telling *tell) {
    bool fits = job_fits(tell->job);
    answer_bool(tell->answer, "fits", NULL, fits);
    answer_bool(tell->answer, "may_fit", NULL, may_fit(&tell->job->memory));
    answer_text(tell->answer, "smallest_change", "Change", tell->job->change);
    answer_note(tell->answer, "the smallest that makes it fit");
    if (!fits && !tell->job->change)
        answer_caution(tell->answer,
                       "Neither a smaller micro-batch nor recompute, zero, tp, pp or more GPUs make it fit.");
}

static void add_layout(const Telling *tell) {
    const Layout *layout = &tell->job->training.layout;
    Answer *answer = tell->answer;
    answer_open(answer, "layout", NULL);
    answer_number(answer, "tp", NULL, AS_WHOLE, layout->tp);
    answer_number(answer, "pp", NULL, AS_WHOLE, layout->pp);
    answer_number(answer, "vpp", NULL, AS_WHOLE, layout->vpp);
    answer_number(answer, "dp", NULL, AS_WHOLE, tell->job->dp);
    answer_number(answer, "zero", NULL, AS_WHOLE, layout->zero);
    answer_bool(answer, "sequence_parallel", NULL, layout->sequence_parallel);
    answer_close(answer);
}

static void add_settings(const Telling *tell) {
    const MemoryJob *job = tell->job;
    const TrainingSpec *training = &job->training;
    Answer *answer = tell->answer;
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_text(answer, "model", NULL, training->model->name);
    answer_text(answer, "gpu", NULL, job->gpu->name);
    answer_number(answer, "gpus", NULL, AS_WHOLE, job->gpus);
    add_layout(tell);
    answer_number(answer, "micro_batch", NULL, AS_NUMBER, micro_batch_of_job(training, job->dp));
    answer_number(answer, "micro_batches", NULL, AS_NUMBER, micro_batches_of_job(training, job->dp));
    if (counts_tokens(training->model)) answer_number(answer, "seq_len", NULL, AS_WHOLE, training->seq_len);
    answer_text(answer, "precision", NULL, precision_name(training->precision));
    answer_text(answer, "recompute", NULL, recompute_name(training->recompute));
    if (training->recompute_modules || training->recompute_keeps || recomputes_some_layers(training))
        answer_text(answer, "recomputed", NULL, recompute_text(tell->arena, training));
    answer_text(answer, "attention", NULL, attention_name(training->attention));
    answer_text(answer, "framework", NULL, framework_name(training->framework));
    answer_text(answer, "optimizer", NULL, optimizer_name(training->optimizer));
    answer_close(answer);
}

static void add_job(const Telling *tell) {
    const MemoryJob *job = tell->job;
    const TrainingSpec *training = &job->training;
    const Layout *layout = &training->layout;
    const char *schedule = "", *tokens = "";
    if (layout->pp > 1) schedule = arena_printf(tell->arena, ", schedule %s", schedule_name(training->schedule));
    if (counts_tokens(training->model))
        tokens = arena_printf(tell->arena, ", sequence %g, %s attention, recompute %s", training->seq_len,
                              attention_name(training->attention), recompute_text(tell->arena, training));
    answer_say(tell->answer, "Model", "%s, %s parameters", training->model->name,
               quantity_format(model_parameters(training->model), QUANTITY_COUNT, arena_alloc(tell->arena, 32), 32));
    const char *cp = layout->cp > 1 ? arena_printf(tell->arena, ", cp %d", layout->cp) : "",
               *ep = layout->ep > 1 ? arena_printf(tell->arena, ", ep %d", layout->ep) : "";
    answer_say(tell->answer, "Job", "%d x %s: tp %d, pp %d, vpp %d%s, dp %d%s, ZeRO %d%s", job->gpus, job->gpu->name,
               layout->tp, layout->pp, layout->vpp, cp, job->dp, ep, layout->zero,
               layout->sequence_parallel ? ", sequence parallel" : "");
    answer_say(tell->answer, "Settings", "micro-batch %g%s%s, %s%s, %s, %s", micro_batch_of_job(training, job->dp),
               schedule, tokens, precision_name(training->precision), training->mixed_precision ? " mixed" : "",
               optimizer_name(training->optimizer), framework_name(training->framework));
    add_settings(tell);
}

static const char *peak_moment(const Telling *tell) {
    const MemoryCurve *curve = &tell->job->curve;
    return memory_moment_text(tell->arena, tell->job->training.model, &curve->items[curve->peak]);
}

static void add_memory(const Telling *tell, bool over_time) {
    const MemoryJob *job = tell->job;
    const Memory *memory = &job->memory;
    Answer *answer = tell->answer;
    double low, high;
    peak_range(memory, &low, &high);
    answer_open(answer, "memory_bytes",
                job->training.layout.pp > 1
                    ? arena_printf(tell->arena, "Stage %d of %d is the fullest", job->stage, job->training.layout.pp)
                    : "Per GPU");
    answer_open(answer, "by_class", NULL);
    if (over_time) answer_detail(answer, FOR_VERBOSE);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        answer_number(answer, memory_class_names[i], memory_class_names[i], AS_BYTES, memory->bytes[i]);
    answer_close(answer);
    answer_number(answer, "peak", "peak", AS_BYTES, memory->peak);
    if (job->curve.count) answer_note(answer, "%s", peak_moment(tell));
    answer_number(answer, "reserved", NULL, AS_BYTES, reserved_bytes(memory));
    bool offloads = memory->host > 0 || memory->disk > 0;
    answer_number(answer, "host", offloads ? "in host memory" : NULL, AS_BYTES, memory->host);
    answer_number(answer, "disk", offloads ? "on disks" : NULL, AS_BYTES, memory->disk);
    answer_number(answer, "capacity", NULL, AS_BYTES, memory->capacity);
    answer_number(answer, "peak_low", NULL, AS_BYTES, low);
    answer_number(answer, "peak_high", NULL, AS_BYTES, high);
    answer_number(answer, "chance_to_run_out", NULL, AS_SHARE, chance_to_run_out(memory));
    answer_close(answer);
    answer_number(answer, "fullest_stage", NULL, AS_WHOLE, job->stage);
    if (job->curve.count) answer_text(answer, "peak_at", NULL, peak_moment(tell));
}

static bool comes_and_goes(const MemoryCurve *curve, int class) {
    for (int i = 1; i < curve->count; i++)
        if (curve->items[i].bytes[class] != curve->items[0].bytes[class]) return true;
    return class == MEMORY_ACTIVATIONS || class == MEMORY_WORKING;
}

static AnswerValue or_none(double bytes) { return answer_shown(AS_BYTES, bytes, bytes > 0 ? NULL : "-"); }

// Each pass at its peak; constant memory is above the table.
static void add_over_time(const Telling *tell) {
    enum { AT = 1, CLASSES, TOTAL = CLASSES + MEMORY_CLASS_COUNT, COLUMNS };
    const MemoryCurve *curve = &tell->job->curve;
    AnswerColumn *columns = ARENA_ARRAY(tell->arena, AnswerColumn, COLUMNS);
    double always = 0;
    columns[0] = (AnswerColumn){NULL, "", AS_WHOLE, 0};
    columns[AT] = (AnswerColumn){"at", "pass by pass", AS_TEXT, 0};
    columns[TOTAL] = (AnswerColumn){"total", "total", AS_BYTES, 0};
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        bool shown = comes_and_goes(curve, i);
        columns[CLASSES + i] =
            (AnswerColumn){memory_class_names[i], shown ? memory_class_names[i] : NULL, AS_BYTES, i + 1};
        if (!shown && curve->count) always += curve->items[0].bytes[i];
    }
    answer_table(
        tell->answer, "over_time",
        arena_printf(tell->arena, "%s are in use all the time, the rest comes and goes", bytes_text(tell, always)),
        columns, COLUMNS);
    for (int i = 0; i < curve->count; i++) {
        const MemoryMoment *moment = &curve->items[i];
        ANSWER_CELLS(tell->answer, answer_of(AS_WHOLE, i + 1),
                     memory_moment_text(tell->arena, tell->job->training.model, moment));
        for (int k = 0; k < MEMORY_CLASS_COUNT; k++) answer_cell(tell->answer, or_none(moment->bytes[k]));
        answer_cell(tell->answer, or_none(moment->total));
        if (i == curve->peak) answer_mark(tell->answer);
    }
    if (tell->job->left_out)
        answer_say(tell->answer, NULL, "%d further micro-batches repeat the pattern.", tell->job->left_out);
}

// ---- The question.

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_job(arena, memory_options, sizeof memory_options / sizeof *memory_options, count);
}

static int ask(Asking *asking) {
    option_require(asking->options, NULL, "model", "for example --model gpt2-124m", asking->problems);
    if (!option_given(asking->options, "node"))
        option_require(asking->options, NULL, "gpu", "for example --gpu A100, or --node dgx-a100", asking->problems);
    MemoryJob job = {.stage = 0};
    if (problem_count(asking->problems) || !read_job(asking->arena, asking->options, &job, asking->problems))
        return EXIT_BAD_INPUT;
    estimate(asking->arena, &job);
    const Telling tell = {asking->answer, asking->arena, &job};
    bool over_time = option_flag(asking->options, "over-time");
    answer_one_row(asking->answer);
    add_lead(&tell);
    record_without_effect(asking->answer, asking->arena, &job.said, 1);
    add_change(&tell);
    add_job(&tell);
    add_memory(&tell, over_time);
    if (over_time) add_over_time(&tell);
    return may_fit(&job.memory) ? EXIT_DONE : EXIT_NO;
}

static const Question memory = {
    .name = "memory",
    .usage = "lockstep memory --model NAME --gpu NAME|--node NAME [options]",
    .about = "What a training job needs of each GPU's memory, by class. Exit code 3: it does not fit.",
    .rows = rows,
    .ask = ask};

const OptionSpec *memory_option_rows(Arena *arena, int *count);
const OptionSpec *memory_option_rows(Arena *arena, int *count) { return frame_rows(arena, &memory, count); }

int command_memory(int argc, char **argv);
int command_memory(int argc, char **argv) { return frame_run(&memory, argc, argv); }
