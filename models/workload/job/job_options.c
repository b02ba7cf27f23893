// Options of a training job. Long spellings of Megatron-LM's are aliases.
#include "models/workload/job/job_options.h"

#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/recompute.h"
#include "models/workload/model/hf_config.h"
#include "models/workload/step/schedule.h"

#define MIB 1048576.0
#define LARGEST_IMAGE 8192     // pixels a side
#define LONGEST_SOUND 10000000 // samples

static const Where command_line = {NULL, 0};

// clang-format off
const OptionSpec model_options[] = {
    {"model", OPTION_TEXT, "NAME", .help = "model (lockstep model list), or the path of a Hugging Face config.json", .letter = 'm'},
    {"as", OPTION_TEXT, "TYPE", .help = "read the config.json as this model_type (llama)"},
    {"seq", OPTION_COUNT, "N", .help = "tokens per sequence", .alias = "seq-length"},
    {"image-size", OPTION_COUNT, "N", .help = "pixels along an image's side"},
    {"classes", OPTION_COUNT, "N", .help = "classes of an image classifier"},
};
const int model_option_count = sizeof model_options / sizeof *model_options;

const OptionSpec job_options[] = {
    {"profile", OPTION_TEXT, "FILE.json", .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"tp", OPTION_COUNT, "N", .help = "tensor parallelism", .alias = "tensor-model-parallel-size"},
    {"pp", OPTION_COUNT, "N", .help = "pipeline stages", .alias = "pipeline-model-parallel-size"},
    {"vpp", OPTION_COUNT, "N", .help = "virtual stages per pipeline rank", .alias = "virtual-pipeline-model-parallel-size"},
    {"dp", OPTION_COUNT, "N", .help = "replicas; 0 fills the GPUs", .alias = "data-parallel-size"},
    {"zero", OPTION_COUNT, "N", .help = "1 shards optimizer state, 2 gradients too, 3 weights too"},
    {"use-distributed-optimizer", OPTION_FLAG, NULL, .help = "the same as --zero 1"},
    {"cp", OPTION_COUNT, "N", .help = "context-parallel GPUs, which share each sequence", .alias = "context-parallel-size"},
    {"cp-exchange", OPTION_CHOICE, NULL, .help = "how they get each other's keys and values", .alias = "cp-comm-type",
     .choices = context_exchange_names, .choice_count = CONTEXT_COUNT},
    {"ep", OPTION_COUNT, "N", .help = "GPUs over which experts are spread", .alias = "expert-model-parallel-size"},
    {"expert-skew", OPTION_QUANTITY, "S", .quantity = QUANTITY_NUMBER, .help = "the k-th expert gets a share of tokens as k^-S; 0 (default): all alike"},
    {"expert-dirichlet", OPTION_QUANTITY, "A", .quantity = QUANTITY_NUMBER, .help = "shares of the experts are drawn, the less evenly the smaller A"},
    {"expert-seed", OPTION_COUNT, "N", .help = "of those draws (default 1)"},
    {"capacity-factor", OPTION_QUANTITY, "C", .quantity = QUANTITY_NUMBER, .help = "experts drop what exceeds C times an even share", .alias = "moe-expert-capacity-factor"},
    {"zero-shard", OPTION_COUNT, "N", .help = "ranks over which ZeRO shards (default: all of dp x cp)"},
    {"offload-optimizer", OPTION_CHOICE, NULL, .help = "where its state lies", .choices = offload_names, .choice_count = OFFLOAD_COUNT},
    {"offload-parameters", OPTION_CHOICE, NULL, .help = "where weights lie until they are needed", .choices = offload_names,
     .choice_count = OFFLOAD_COUNT},
    {"sequence-parallel", OPTION_FLAG, NULL, .help = "slice activations between tensor-parallel regions"},
    {"stage-layers", OPTION_TEXT, "N,N,…", .help = "layers of each pipeline chunk, in the model's order"},
    {"account-for-embedding-in-pipeline-split", OPTION_FLAG, NULL, .help = "the embedding counts as a layer of the first stage"},
    {"account-for-loss-in-pipeline-split", OPTION_FLAG, NULL, .help = "the head counts as a layer of the last stage"},
    {"micro-batch", OPTION_COUNT, "N", .help = "samples per forward of a replica", .alias = "micro-batch-size"},
    {"global-batch", OPTION_COUNT, "N", .help = "samples per optimizer step", .alias = "global-batch-size"},
    {"grad-accumulation", OPTION_COUNT, "N", .help = "forwards per optimizer step", .alias = "gradient-accumulation-steps"},
    {"precision", OPTION_TEXT, "NAME", .help = "fp32, tf32, fp16, bf16, fp8; 16 bits and less keep fp32 master weights"},
    {"fp16", OPTION_FLAG, NULL, .help = "the same as --precision fp16"},
    {"bf16", OPTION_FLAG, NULL, .help = "the same as --precision bf16"},
    {"recompute", OPTION_CHOICE, NULL, .help = "forward again in backward", .alias = "recompute-granularity",
     .choices = recompute_names, .choice_count = RECOMPUTE_COUNT},
    {"recompute-activations", OPTION_FLAG, NULL, .help = "the same as --recompute selective"},
    {"recompute-modules", OPTION_TEXT, "NAME,NAME,…",
     .help = "what selective recomputes: core_attn, layernorm, mla_up_proj, mlp, moe, moe_act, shared_experts"},
    {"recompute-num-layers", OPTION_COUNT, "N", .help = "recompute only the first N layers of each pipeline chunk"},
    {"attention", OPTION_CHOICE, NULL, .help = "attention kernels", .choices = attention_names, .choice_count = ATTENTION_COUNT},
    {"use-flash-attn", OPTION_FLAG, NULL, .help = "the same as --attention flash"},
    {"schedule", OPTION_CHOICE, NULL, .help = "pipeline schedule", .choices = schedule_names, .choice_count = SCHEDULE_COUNT},
    {"strategy", OPTION_CHOICE, NULL, .help = "how GPUs share the work", .choices = strategy_names, .choice_count = STRATEGY_COUNT},
    {"framework", OPTION_CHOICE, NULL, .help = "how kernels are run", .choices = framework_names, .choice_count = FRAMEWORK_COUNT},
    {"image-layout", OPTION_CHOICE, NULL, .help = "how images lie in memory; usual: as the framework has it",
     .choices = image_layout_names, .choice_count = IMAGE_LAYOUT_COUNT},
    {"lora-rank", OPTION_COUNT, "N", .help = "train adapters of this rank beside attention's products and nothing else"},
    {"lora-everywhere", OPTION_FLAG, NULL, .help = "adapters beside every product (PEFT's all-linear)"},
    {"nf4-weights", OPTION_FLAG, NULL, .help = "frozen weights lie in 4 bits (QLoRA)"},
    {"optimizer", OPTION_CHOICE, NULL, .help = "what updates the weights", .choices = optimizer_names, .choice_count = OPTIMIZER_COUNT},
};
// clang-format on
const int job_option_count = sizeof job_options / sizeof *job_options;

// A count that must also fit the fields of a model or layout.
static int small_count(const Options *options, const char *name, int fallback, Problems *problems) {
    int64_t count = option_count(options, name, fallback);
    if (count <= 100000000) return (int)count;
    problem_add(problems, command_line, "--%s %lld is more than can be worked with", name, (long long)count);
    problem_hint(problems, "at most 100 million");
    return fallback;
}

bool names_a_config(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

const Model *model_from_options(Arena *arena, const Options *options, Problems *problems) {
    const char *name = option_text(options, "model", NULL);
    if (!name) {
        int count = 0;
        const char *const *names = model_names(&count);
        problem_add(problems, command_line, "which model? --model is missing");
        problem_hint(problems, "for example --model %s; lockstep model list shows all %d", names[0], count);
        return NULL;
    }
    const char *as = option_text(options, "as", NULL);
    const Model *model = names_a_config(name) ? hf_model_read_file(arena, name, as, problems)
                                              : find_model(arena, name, command_line, problems);
    if (!model) return NULL;

    bool resized = option_given(options, "image-size") || option_given(options, "classes");
    if (!resized) return model;
    if (!takes_images(model)) {
        problem_add(problems, command_line, "%s takes no images: --image-size and --classes are of no use",
                    model->name);
        problem_hint(problems, "leave them out");
        return NULL;
    }
    int image_size = small_count(options, "image-size", model->image_size, problems);
    int classes = small_count(options, "classes", model->classes, problems);
    int least = least_image_size(model), most = model->dimensions == 1 ? LONGEST_SOUND : LARGEST_IMAGE;
    if (image_size < least || image_size > most || classes < 1 || classes > 10000000) {
        problem_add(problems, command_line, "%s cannot work with images of %d pixels a side in %d classes", model->name,
                    image_size, classes);
        problem_hint(problems, "%d to %d pixels, 1 to 10 million classes", least, most);
        return NULL;
    }
    return model_resized(arena, model, image_size, classes);
}

TrainingSpec training_defaults(const Model *model, const Gpu *gpu) {
    bool transformer = model->kind == MODEL_TRANSFORMER;
    Precision precision = !gpu || gpu_supports(gpu, BF16) ? BF16 : gpu_supports(gpu, FP16) ? FP16 : FP32;
    return (TrainingSpec){
        .model = model,
        .layout = {.tp = 1, .pp = 1, .vpp = 1},
        .schedule = SCHEDULE_1F1B,
        .seq_len = transformer ? model->max_positions : 1,
        .precision = precision,
        .mixed_precision = precision != FP32,
        .attention = !gpu || gpu->year >= 2020 ? ATTENTION_FLASH : ATTENTION_PLAIN,
        .framework = transformer ? FRAMEWORK_MEGATRON : FRAMEWORK_EAGER,
        .optimizer = transformer ? OPTIMIZER_ADAM : OPTIMIZER_SGD,
        .bucket_bytes = 25 * MIB,
        .overlap_grad_reduce = true,
    };
}

// ---- From options.

static void read_precision(const Options *options, TrainingSpec *training, Problems *problems) {
    static const char *const names[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "amp"};
    const char *name = option_text(options, "precision", NULL);
    bool fp16 = option_flag(options, "fp16"), bf16 = option_flag(options, "bf16");
    if (fp16 + bf16 + (name != NULL) > 1) {
        problem_add(problems, command_line, "the precision is said more than once");
        problem_hint(problems, "keep one of --precision, --fp16, --bf16");
    }
    if (fp16) training->precision = FP16;
    if (bf16) training->precision = BF16;
    if (name && !precision_from_name(name, &training->precision)) {
        problem_add(problems, command_line, "no precision is called \"%s\"", name);
        problem_hint_names(problems, name, names, (int)(sizeof names / sizeof *names));
    }
    training->mixed_precision = precision_bytes(training->precision) <= 2;
}

static void read_stages(Arena *arena, const Options *options, Layout *layout, Problems *problems) {
    const char *text = option_text(options, "stage-layers", NULL);
    layout->embedding_counts = option_flag(options, "account-for-embedding-in-pipeline-split");
    layout->head_counts = option_flag(options, "account-for-loss-in-pipeline-split");
    if (!text) return;
    int *layers = ARENA_ARRAY(arena, int, strlen(text) + 1), count = 0;
    const char *at = text;
    for (bool more = true; more; at++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || number < 0 || number > 100000 || (*end && *end != ',')) {
            problem_add(problems, command_line, "--stage-layers \"%s\" is no list of counts", text);
            problem_hint(problems, "for example --stage-layers 7,8,8,9");
            return;
        }
        layers[count++] = (int)number;
        more = *end == ',';
        at = end;
    }
    layout->stage_layers = layers;
    layout->stage_layers_count = count;
}

static void read_layout(const Options *options, Layout *layout, Problems *problems) {
    layout->tp = small_count(options, "tp", 1, problems);
    layout->pp = small_count(options, "pp", 1, problems);
    layout->vpp = small_count(options, "vpp", 1, problems);
    layout->dp = small_count(options, "dp", 0, problems);
    layout->zero = small_count(options, "zero", option_flag(options, "use-distributed-optimizer"), problems);
    layout->cp = small_count(options, "cp", 1, problems);
    layout->context = (ContextExchange)option_choice(options, "cp-exchange", CONTEXT_RING);
    layout->shard = small_count(options, "zero-shard", 0, problems);
    layout->ep = small_count(options, "ep", 1, problems);
    layout->sequence_parallel = option_flag(options, "sequence-parallel");
}

static void read_recompute(const Options *options, TrainingSpec *training, Problems *problems) {
    bool activations = option_flag(options, "recompute-activations");
    bool modules = option_given(options, "recompute-modules"), layers = option_given(options, "recompute-num-layers");
    int fallback = activations || modules ? RECOMPUTE_SELECTIVE : layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    if (modules)
        training->recompute_modules =
            recompute_modules_read(option_text(options, "recompute-modules", ""), command_line, problems);
    training->recompute_layers = small_count(options, "recompute-num-layers", 0, problems);
    training->recompute = (Recompute)option_choice(options, "recompute", fallback);
    if (activations && training->recompute != RECOMPUTE_SELECTIVE) {
        problem_add(problems, command_line, "--recompute-activations means selective, but --recompute says %s",
                    recompute_name(training->recompute));
        problem_hint(problems, "keep one of them");
    }
}

static void read_seq(const Options *options, TrainingSpec *training, Problems *problems) {
    if (!option_given(options, "seq")) return;
    if (training->model->kind != MODEL_TRANSFORMER) {
        problem_add(problems, command_line, "%s takes no sequences: --seq is of no use", training->model->name);
        problem_hint(problems, "leave it out");
        return;
    }
    training->seq_len = small_count(options, "seq", (int)training->seq_len, problems);
}

static Routing routing_from_options(const Options *options, Problems *problems) {
    Routing routing = {.kind = ROUTING_ZIPF};
    if (!option_given(options, "expert-dirichlet")) return routing;
    routing.kind = ROUTING_DIRICHLET;
    routing.concentration = option_quantity(options, "expert-dirichlet", 1);
    routing.seed = (uint64_t)option_count(options, "expert-seed", 1);
    if (routing.concentration > 0 && routing.concentration <= 1e6) return routing;
    problem_add(problems, command_line, "--expert-dirichlet %g is not possible", routing.concentration);
    problem_hint(problems, "above 0 and up to a million; 1: any shares are as likely");
    return (Routing){.kind = ROUTING_ZIPF};
}

TrainingSpec training_from_options(Arena *arena, const Options *options, const Model *model, const Gpu *gpu,
                                   Problems *problems) {
    TrainingSpec training = training_defaults(model, gpu);
    read_seq(options, &training, problems);
    read_precision(options, &training, problems);
    read_layout(options, &training.layout, problems);
    read_stages(arena, options, &training.layout, problems);
    read_recompute(options, &training, problems);
    training.micro_batch = small_count(options, "micro-batch", 0, problems);
    training.global_batch = small_count(options, "global-batch", 0, problems);
    training.grad_accumulation = small_count(options, "grad-accumulation", 0, problems);
    training.attention = option_flag(options, "use-flash-attn") ? ATTENTION_FLASH : training.attention;
    training.attention = (Attention)option_choice(options, "attention", (int)training.attention);
    training.schedule = training.layout.vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    training.schedule = (Schedule)option_choice(options, "schedule", (int)training.schedule);
    training.strategy = (Strategy)option_choice(options, "strategy", (int)training.strategy);
    bool spread = training.strategy == STRATEGY_LAYERS && !option_given(options, "pp");
    if (spread) training.layout.pp = 0; // over all GPUs
    training.expert_skew = option_quantity(options, "expert-skew", 0);
    training.offload_optimizer = (OffloadPlace)option_choice(options, "offload-optimizer", OFFLOAD_GPU);
    training.offload_parameters = (OffloadPlace)option_choice(options, "offload-parameters", OFFLOAD_GPU);
    training.routing = routing_from_options(options, problems);
    training.capacity_factor = option_quantity(options, "capacity-factor", 0);
    training.framework = (Framework)option_choice(options, "framework", (int)training.framework);
    training.image_layout = (ImageLayout)option_choice(options, "image-layout", IMAGE_LAYOUT_USUAL);
    training.lora_rank = small_count(options, "lora-rank", 0, problems);
    training.lora_everywhere = option_flag(options, "lora-everywhere");
    training.nf4_weights = option_flag(options, "nf4-weights");
    training.optimizer = (Optimizer)option_choice(options, "optimizer", (int)training.optimizer);
    return training;
}

// ---- What cannot go together.

static void check_ranges(const TrainingSpec *training, Problems *problems) {
    const Layout *layout = &training->layout;
    int fewest_stages = training->strategy == STRATEGY_LAYERS ? 0 : 1;
    if (layout->tp < 1 || layout->pp < fewest_stages || layout->vpp < 1) {
        problem_add(problems, training->where, "tp, pp and vpp must be at least 1");
        problem_hint(problems, "1 means: not used");
    }
    if (layout->zero < 0 || layout->zero > 3) {
        problem_add(problems, training->where, "there is no ZeRO stage %d", layout->zero);
        problem_hint(problems, "0 to 3");
    }
    if (training->model->kind == MODEL_TRANSFORMER && !(training->seq_len >= 1)) {
        problem_add(problems, training->where, "a sequence needs at least one token");
        problem_hint(problems, "for example seq = 2048");
    }
}

// What is frozen can be stored in fewer bits; what is trained cannot.
static void check_adapters(const TrainingSpec *training, Problems *problems) {
    if (training->lora_rank == 0 && (training->nf4_weights || training->lora_everywhere)) {
        problem_add(problems, training->where, "%s for adapters on frozen weights, but all weights are trained",
                    training->nf4_weights ? "4-bit weights are" : "lora_everywhere is");
        problem_hint(problems, "set lora_rank (--lora-rank), for example to 16");
    } else if (training->nf4_weights && precision_bytes(training->precision) != 2) {
        problem_add(problems, training->where, "4-bit weights are dequantised to 16 bits, not to %s",
                    precision_name(training->precision));
        problem_hint(problems, "use bf16 or fp16");
    } else if (training->nf4_weights && training->model->experts.count > 0) {
        problem_add(problems, training->where, "4-bit weights of experts are not known: their products are grouped");
        problem_hint(problems, "take a dense model, or leave nf4_weights out");
    }
}

static void check_encoder_decoder(const TrainingSpec *training, Problems *problems) {
    const char *what = training->layout.cp > 1                        ? "context parallelism"
                       : schedule_splits_backward(training->schedule) ? "a schedule that splits backward"
                       : training->lora_rank > 0                      ? "LoRA"
                       : training->recompute == RECOMPUTE_OPERATIONS  ? "recomputation by operation"
                                                                      : NULL;
    if (!what) return;
    problem_add(problems, training->where, "%s cannot be combined with %s, which has an encoder and a decoder", what,
                training->model->name);
    problem_hint(problems, "leave it out");
}

static void check_transformer(const TrainingSpec *training, Problems *problems) {
    const Model *model = training->model;
    int tp = training->layout.tp;
    if (training->expert_skew < 0 || training->expert_skew > 10 || training->capacity_factor < 0) {
        problem_add(problems, training->where, "an expert skew of %g with a capacity factor of %g is not possible",
                    training->expert_skew, training->capacity_factor);
        problem_hint(problems, "a skew from 0 to 10, a factor above 0");
    }
    check_adapters(training, problems);
    if (model->encoder_layers) check_encoder_decoder(training, problems);
    recompute_check(training, problems);
    if (model->heads % tp != 0) {
        problem_add(problems, training->where, "%d heads do not divide by tp %d", model->heads, tp);
        problem_hint(problems, "choose a tp that divides the heads");
    } else if (model->ffn % tp != 0) {
        problem_add(problems, training->where, "the FFN's width %d does not divide by tp %d", model->ffn, tp);
        problem_hint(problems, "choose a tp that divides it");
    }
    if (model->learned_positions && training->seq_len > model->max_positions) {
        problem_add(problems, training->where, "%s has positions for %d tokens, not %.0f", model->name,
                    model->max_positions, training->seq_len);
        problem_hint(problems, "seq at most %d", model->max_positions);
    }
    if (model->patch && training->seq_len != model->max_positions) {
        problem_add(problems, training->where, "%s cuts images of %d pixels into %d tokens, not %.0f", model->name,
                    model->image_size, model->max_positions, training->seq_len);
        problem_hint(problems, "leave seq out; the image's size decides");
    }
}

static void check_other(const TrainingSpec *training, Problems *problems) {
    if (training->layout.tp > 1 || training->layout.sequence_parallel) {
        problem_add(problems, training->where, "tensor and sequence parallelism are for transformers; %s is none",
                    training->model->name);
        problem_hint(problems, "use data parallelism (dp) or stages (pp)");
    }
    if (training->lora_rank > 0 || training->nf4_weights) {
        problem_add(problems, training->where, "LoRA's adapters are for transformers; %s is none",
                    training->model->name);
        problem_hint(problems, "leave lora_rank and nf4_weights out");
    }
    if (training->recompute != RECOMPUTE_NONE) {
        problem_add(problems, training->where, "recomputation is for transformers; %s is none", training->model->name);
        problem_hint(problems, "use a smaller micro-batch");
    }
}

static void check_pipeline(const TrainingSpec *training, Problems *problems) {
    const Layout *layout = &training->layout;
    Arena *arena = arena_open();
    Schedule schedule = training->strategy == STRATEGY_LAYERS ? SCHEDULE_GPIPE : training->schedule;
    // Without a batch the pipeline is taken to be full.
    int replicas = layout->dp > 0 ? layout->dp : 1, full = 2 * layout->pp;
    bool batch_said = training->global_batch > 0 || training->grad_accumulation > 0;
    double micro_batches = batch_said ? micro_batches_of_job(training, replicas) : full;
    Pipeline pipeline = pipeline_of(schedule, layout->pp, layout->vpp, (int)fmin(micro_batches, 1e5));
    if (layout->vpp > 1 && layout->pp <= 1) {
        problem_add(problems, training->where, "vpp %d interleaves a pipeline, but pp is 1", layout->vpp);
        problem_hint(problems, "set pp, or leave out vpp");
    } else if ((double)layout->pp * layout->vpp <= 1e5 && pipeline.chunks > 0 &&
               pipeline_possible(&pipeline, layout, training->where, problems)) {
        blocks_to_chunks(training, pipeline.chunks, ARENA_ARRAY(arena, int, pipeline.chunks + 1), problems);
    }
    arena_close(arena);
}

static void check_gpus(const TrainingSpec *training, int gpus, Problems *problems) {
    const Layout *layout = &training->layout;
    double replica = (double)layout->tp * layout->pp, all = replica * (layout->dp > 0 ? layout->dp : 1);
    if (gpus == 0 || layout->pp == 0) return;
    if (layout->dp > 0 && all != gpus) {
        problem_add(problems, training->where, "tp %d x pp %d x dp %d is %.0f GPUs, not %d", layout->tp, layout->pp,
                    layout->dp, all, gpus);
        problem_hint(problems, "leave out dp to fill the GPUs");
    } else if (layout->dp == 0 && fmod(gpus, replica) != 0) {
        problem_add(problems, training->where, "%d GPUs do not divide into replicas of tp %d x pp %d", gpus, layout->tp,
                    layout->pp);
        problem_hint(problems, "take a multiple of %.0f GPUs", replica);
    }
}

void training_check(const TrainingSpec *training, int gpus, const Gpu *gpu, Problems *problems) {
    int problems_before = problems_added(problems);
    check_ranges(training, problems);
    if (problems_added(problems) > problems_before) return;

    if (training->model->kind == MODEL_TRANSFORMER)
        check_transformer(training, problems);
    else
        check_other(training, problems);
    check_pipeline(training, problems);
    check_gpus(training, gpus, problems);
    if (gpu && !gpu_supports(gpu, training->precision)) {
        problem_add(problems, training->where, "%s cannot compute in %s", gpu->name,
                    precision_name(training->precision));
        problem_hint(problems, gpu_supports(gpu, FP16) ? "use fp16 or fp32" : "use fp32");
    }
}
