// The job of a measured run: its model, software, precision, layout and batch.
#include <math.h>
#include <stdlib.h>

#include "calibrate/training/read_training_internal.h"
#include "calibrate/training/sample_lengths.h"

// ---- The model.

// What a framework's benchmarks mean by a name: the first form of a network, or one of its own.
typedef struct OwnModel {
    const char *framework, *model, *name_here;
} OwnModel;
static const OwnModel own_models[] = {
    {"mxnet", "alexnet", "alexnet-mxnet"}, // 203 MB of weights, not 244
    {"tf_cnn_benchmarks", "resnet-50", "resnet-50-v1"},
    {"tf_cnn_benchmarks", "resnet-101", "resnet-101-v1"},
    {"tf_cnn_benchmarks", "resnet-152", "resnet-152-v1"},
};

// "ResNet-50 v1.5" is the library's resnet-50; "resnet50d" is another network. "vit_base_patch16_224" ends in the size
// of its images, which has a column.
static const char *library_name(const Row *row) {
    char *name = arena_copy_text(row->arena, row->text[MODEL]);
    char *version = strcasestr(name, " v1"), *size_in_name = strrchr(name, '_');
    if (version) *version = '\0';
    if (size_in_name && stated(row, IMAGE_SIZE) && strtod(size_in_name + 1, NULL) == row->number[IMAGE_SIZE])
        *size_in_name = '\0';
    for (size_t i = 0; i < sizeof own_models / sizeof *own_models; i++)
        if (says(row, FRAMEWORK_NAME, own_models[i].framework) && strcasecmp(name, own_models[i].model) == 0)
            return own_models[i].name_here;
    return name;
}

// What a table leaves out of what its models need, or a framework does that is not counted.
typedef struct Unsaid {
    const char *model, *framework, *what;
} Unsaid;
static const Unsaid unsaid[] = {
    {"v-net", "", "the size of its volumes and the depth of the network are not published"},
    {"ssd300-resnet50", "tensorflow",
     "TensorFlow's is SSD320 with a pyramid, its boxes matched on a host whose speed is not published"},
    {"gnmt", "tensorflow", "TensorFlow's layers are loops of its graph, of which kernels and pace are not known"},
};

static void refuse_unsaid(Row *row) {
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        if (says(row, MODEL, unsaid[i].model) && says(row, FRAMEWORK_NAME, unsaid[i].framework))
            skip(row, "%s: %s", row->text[MODEL], unsaid[i].what);
}

// TensorFlow pads all images of COCO to one size, 832 x 1344: as many pixels as 907 x 1233 of the library's 3:4.
typedef struct OwnSize {
    const char *framework, *model;
    int image_size;
} OwnSize;
static const OwnSize own_sizes[] = {{"tensorflow", "mask r-cnn", 907}};

// All replicas wait for the one with the longest sample.
static int padded_size(const Row *row, const SampleLengths *lengths) {
    double samples = row->number[GLOBAL_BATCH] > 0 ? row->number[GLOBAL_BATCH] : 1;
    return (int)longest_of(lengths, samples);
}

static int usual_size(const Row *row, const Model *model) {
    const SampleLengths *lengths = sample_lengths(row->text[MODEL]);
    if (lengths) return padded_size(row, lengths);
    for (size_t i = 0; i < sizeof own_sizes / sizeof *own_sizes; i++)
        if (says(row, FRAMEWORK_NAME, own_sizes[i].framework) && says(row, MODEL, own_sizes[i].model))
            return own_sizes[i].image_size;
    return model->image_size;
}

static const Model *image_model_of(Row *row) {
    refuse_unsaid(row);
    if (row->run->skipped) return NULL;
    Problems *ignored = problems_create(row->arena);
    const Model *model = find_model(row->arena, library_name(row), row->run->where, ignored);
    if (!model || !takes_images(model)) {
        skip(row, "the model library has no \"%s\"", row->text[MODEL]);
        return NULL;
    }
    bool lengths_known = sample_lengths(row->text[MODEL]) != NULL;
    if (!stated(row, IMAGE_SIZE)) assume(row, lengths_known ? ASSUMED_LENGTHS : ASSUMED_IMAGE_SIZE);
    int size = stated(row, IMAGE_SIZE) ? (int)row->number[IMAGE_SIZE] : usual_size(row, model);
    if (size < least_image_size(model)) {
        skip(row, "images of %d pixels are too small for %s", size, model->name);
        return NULL;
    }
    return size == model->image_size ? model : model_resized(row->arena, model, size, 0);
}

// A mixture of experts that the library knows, whose configuration tells what the columns do not: latents, shared
// experts, dense layers. A row of fewer layers is that model cut short. NULL: go by the columns.
static const Model *known_mixture(Row *row) {
    static const struct { const char *word, *model; } names[] = {{"deepseekv2", "deepseek-v2"}};
    const char *name = row->text[MODEL];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (says(row, MODEL, names[i].word)) name = names[i].model;
    const Model *published = find_model(row->arena, name, row->run->where, problems_create(row->arena));
    if (!published || published->experts.count != (int)row->number[EXPERTS] ||
        published->hidden != (int)row->number[HIDDEN])
        return NULL;
    Model *model = ARENA_NEW(row->arena, Model);
    *model = *published;
    model->name = row->text[MODEL];
    model->layers = (int)row->number[LAYERS];
    model->block_count = model->layers + 2;
    return model;
}

static void add_experts(Row *row, Model *model) {
    model->biases = model->learned_positions = false;
    model->experts = (ExpertShape){
        .count = (int)row->number[EXPERTS],
        .per_token = (int)row->number[EXPERTS_PER_TOKEN],
        .ffn = stated(row, EXPERT_FFN) ? (int)row->number[EXPERT_FFN] : model->ffn,
        .every = 1,
    };
    if (model->experts.per_token == 0) skip(row, "%s is not published", column_word(EXPERTS_PER_TOKEN));
}

static const Model *transformer_of(Row *row) {
    static const Column needed[] = {LAYERS, HIDDEN, SEQ_LEN};
    for (int i = 0; i < 3; i++)
        if (!stated(row, needed[i])) skip(row, "%s is not published", column_word(needed[i]));
    if (row->run->skipped) return NULL;
    bool mixture = row->number[EXPERTS] > 1;
    const Model *known = mixture ? known_mixture(row) : NULL;
    if (mixture) assume(row, ASSUMED_EXPERTS);
    if (known) return known;

    bool encoder = says(row, MODEL_TYPE, "encoder"), llama = says(row, MLP_ACT, "swiglu");
    bool rotary = llama || says(row, MLP_ACT, "squared");
    int hidden = (int)row->number[HIDDEN], head_size = usual_head_size(hidden);
    TransformerShape shape = {
        .name = row->text[MODEL],
        .layers = (int)row->number[LAYERS],
        .hidden = hidden,
        .heads = (int)row->number[HEADS],
        .kv_heads = (int)row->number[KV_HEADS],
        .ffn = (int)row->number[FFN],
        .vocab = (int)row->number[VOCAB],
        .max_positions = (int)row->number[SEQ_LEN],
        .gated_mlp = llama,
        .untied_embedding = rotary,
        .causal = !encoder,
        .rms_norm = rotary,
    };
    if (!shape.heads) {
        shape.heads = hidden % head_size == 0 ? hidden / head_size : 1;
        assume(row, ASSUMED_HEADS);
    }
    if (!shape.vocab) {
        shape.vocab = encoder ? 30522 : 51200;
        assume(row, ASSUMED_VOCABULARY);
    }
    // Published shapes whose width is not heads times head size (GPT-3 2.7B style) have their own head size.
    if (shape.hidden % shape.heads != 0) shape.head_dim = (shape.hidden + shape.heads - 1) / shape.heads;
    Problems *mistakes = problems_create(row->arena);
    Model *model = (Model *)model_transformer(row->arena, &shape, row->run->where, mistakes);
    if (!model) {
        skip(row, "%s", problem_at(mistakes, 0)->text);
        return NULL;
    }
    if (mixture) add_experts(row, model);
    if (encoder && says(row, MODEL, "squad")) model->head_share = 0; // two numbers per position, no vocabulary
    return model;
}

void read_model(Row *row) {
    TrainingSpec *training = &row->run->training;
    static const char *const kinds[] = {"cnn", "vit", "diffusion", "tts", "rnn_seq2seq"};
    bool image = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) image |= says(row, MODEL_TYPE, kinds[i]);
    training->model = image ? image_model_of(row) : transformer_of(row);
    training->seq_len = image && !row->run->skipped ? training->model->max_positions : row->number[SEQ_LEN];
}

// ---- Software.

// Ranks are 8 to 64: what adapters cost hardly depends on them.
#define USUAL_LORA_RANK 16

static bool tells_version(const Row *row) {
    return strpbrk(row->text[SOFTWARE], "0123456789") || strpbrk(row->text[FRAMEWORK_NAME], "0123456789");
}

// Steps of images and short texts leave little time to prepare the next batch and to issue its kernels, and
// publications say little of who does so. MLPerf's submissions are tuned and described; decoders' steps are long.
#define GPUS_OF_A_BUSY_HOST 4
static void assume_host(Row *row, bool causal, bool mlperf) {
    if (causal || mlperf) return;
    if (!tells_version(row)) assume(row, ASSUMED_VERSION);
    int used = row->gpu_count < row->gpus_per_node ? row->gpu_count : row->gpus_per_node;
    if (used < GPUS_OF_A_BUSY_HOST || says(row, NOTES, "synthetic")) return;
    bool images = takes_images(row->run->training.model) && !says(row, MODEL_TYPE, "tts");
    assume(row, images ? ASSUMED_HOST : ASSUMED_TEXT_HOST);
}

// MLPerf's detectors have their kernels tuned as its classifiers have.
static bool unlike_classifiers(const Row *row) {
    bool tuned = says(row, METRIC_KIND, "mlperf");
    return (says(row, MODEL_TYPE, "cnn_") && !tuned) || says(row, MODEL_TYPE, "diffusion");
}

static bool loops(const Model *model) {
    for (int i = 0; i < model->conv_count; i++)
        if (model->conv[i].in_turn) return true;
    return false;
}

void read_software(Row *row) {
    TrainingSpec *training = &row->run->training;
    if (says(row, METRIC_KIND, "lora") || says(row, MODEL, "lora")) training->lora_rank = USUAL_LORA_RANK;
    bool causal = training->model->kind == MODEL_TRANSFORMER && training->model->causal;
    bool mlperf = says(row, METRIC_KIND, "mlperf"); // whose decoders run NeMo on NVIDIA's GPUs
    bool examples = says(row, SOURCE, "DeepLearningExamples") && !causal;
    const char *text = arena_printf(
        row->arena, "%s | %s | %s | %s%s%s", row->text[FRAMEWORK_NAME], row->text[SOFTWARE], row->text[PRECISION],
        !mlperf  ? ""
        : causal ? "nemo"
                 : "mlperf",
        strcmp(row->text[COMPILED], "1") == 0 ? " compiled" : "", examples ? " README of DeepLearningExamples" : "");
    const SoftwareFacts *software = software_facts(text, row->gpu->year);
    row->run->software = software;
    training->lora_everywhere = software->lora_everywhere;
    if (says(row, NOTES, "cpu_offload=1")) training->offload_optimizer = training->offload_parameters = OFFLOAD_HOST;
    assume(row, software->word[0] ? ASSUMED_SOFTWARE : ASSUMED_FRAMEWORK);
    assume_host(row, causal, mlperf);
    if (unlike_classifiers(row)) assume(row, ASSUMED_LAYERS);
    if (loops(training->model)) assume(row, ASSUMED_LOOP);
    bool cnn = training->model->kind == MODEL_CNN;
    training->framework = cnn && software->tuned_images ? FRAMEWORK_TUNED : software->framework;
    training->reduce_cycle_seconds = software->reduce_cycle_seconds;
    bool flat = training->model->dimensions != 1; // sounds have no such layout
    if (software->nhwc_16_bits && flat && precision_bytes(training->precision) <= 2)
        training->image_layout = IMAGE_LAYOUT_NHWC;
    if (strcasestr(text, "nhwc")) training->image_layout = IMAGE_LAYOUT_NHWC;
    if (strcasestr(text, "nchw")) training->image_layout = IMAGE_LAYOUT_NCHW;
    if (cnn && software->images_per_core > 0 && !says(row, NOTES, "synthetic")) {
        training->samples_per_second_per_worker = software->images_per_core;
        training->loader_workers = HOST_CORES; // as many as the host has
    }
    training->attention = software->attention;
    if (says(row, ATTENTION, "flash") && software->attention == ATTENTION_PLAIN)
        training->attention = says(row, ATTENTION, "flash-2") ? ATTENTION_FLASH_2 : ATTENTION_FLASH;
    training->overlap_grad_reduce = software->overlap_grad_reduce || says(row, OVERLAP, "overlap-grad-reduce");
    training->fp32_grad_reduce = software->fp32_grad_reduce;
    training->half_weights = software->half_weights;
    training->composed_gelu = software->composed_gelu && says(row, MODEL, "gpt");
    training->recompute_stops_early = software->recompute_stops_early;
    training->tp_overlap = software->tp_overlap || says(row, OVERLAP, "tp-comm-overlap");
    training->tp_waits = software->tp_waits;
    training->scatter_gather = software->scatter_gather;
    training->fused_dispatch = software->fused_dispatch;
    training->cuda_graphs = software->cuda_graphs;
    training->fused_loss = software->fused_loss;
    training->backend = BACKEND_NCCL;
    training->overlap_param_gather = software->overlap_param_gather || says(row, OVERLAP, "overlap-param-gather");
    training->bucket_bytes = 25.0 * 1048576;
    if (software->bucket_parameters > 0)
        training->bucket_bytes = software->bucket_parameters * (software->fp32_grad_reduce ? 4 : 2);
    bool encoder = training->model->kind == MODEL_TRANSFORMER && !training->model->causal && !training->model->patch;
    if (encoder && software->whole_head) ((Model *)training->model)->head_share = 1;
    bool server = software->parameter_server || says(row, OVERLAP, "parameter_server") || says(row, OVERLAP, "grpc") ||
                  says(row, OVERLAP, "no NCCL");
    if (server && row->gpu_count > 1) {
        training->backend = BACKEND_MPI;
        assume(row, ASSUMED_SERVERS);
    }
}

static void take_16_bits(Row *row) {
    row->run->training.precision = FP16;
    assume(row, ASSUMED_PRECISION);
}

// Mixed precision that is asked for and does not seem to happen: what ran is then not known.
static bool doubts_16_bits(const Row *row) {
    bool half = strcasestr(row->text[PRECISION], "16") != NULL;
    return half && says(row, MODEL, "waveglow") && says(row, FAMILY, "lambda");
}

// Its 32-bit convolutions on vector units are 11 to 29 columns wide: measured steps would take 1.5 times the peak of a
// V100 as products, so cuDNN does some by Fourier transforms.
static bool may_transform(const Row *row) {
    return says(row, MODEL, "jasper") && strcasestr(row->text[PRECISION], "32") && row->gpu->peak_flops[TF32] == 0;
}

void read_precision(Row *row) {
    TrainingSpec *training = &row->run->training;
    const char *text = row->text[PRECISION];
    bool tensor_cores = row->gpu->peak_flops[TF32] > 0;
    training->mixed_precision = true;
    training->nf4_weights = strcasestr(text, "nf4") != NULL;
    if (!text[0] && says(row, MODEL_TYPE, "diffusion") && says(row, METRIC_KIND, "mlperf"))
        take_16_bits(row);
    else if (!text[0])
        skip(row, "the precision is not published");
    else if (doubts_16_bits(row))
        skip(row, "its times in 16 and 32 bits agree within 2 %% on twelve types of GPU: what ran in 16 is not known");
    else if (may_transform(row))
        skip(row, "which of its wide convolutions cuDNN does by Fourier transforms in 32 bits is not known");
    else if (strcasestr(text, "fp8"))
        training->precision = FP8;
    else if (strcasestr(text, "bf16"))
        training->precision = BF16;
    else if (strcasestr(text, "fp16"))
        training->precision = FP16;
    else if (strcasestr(text, "tf32")) // "fp32/tf32": what PyTorch picks on that GPU
        training->precision = tensor_cores ? TF32 : FP32;
    else if (strcasestr(text, "fp32"))
        training->precision = FP32;
    else
        skip(row, "precision \"%s\" is not known", text);
    bool true_16_bits = strcasestr(text, "-true") != NULL; // Lightning's word: weights and the optimizer's state too
    if (training->precision == FP32 || training->precision == TF32 || true_16_bits) training->mixed_precision = false;
    if (!row->run->skipped && row->gpu->peak_flops[training->precision] == 0)
        skip(row, "%s has no %s units", row->gpu->name, precision_name(training->precision));
}

void read_recompute(Row *row) {
    TrainingSpec *training = &row->run->training;
    bool transformer = training->model->kind == MODEL_TRANSFORMER;
    row->run->recompute_open = transformer && !stated(row, RECOMPUTE);
    if (row->run->recompute_open) assume(row, ASSUMED_RECOMPUTE);
    if (row->run->recompute_open && row->run->software->recipes_keep_activations) row->run->recompute_open = false;
    if (strcasecmp(row->text[RECOMPUTE], "full") == 0)
        training->recompute = RECOMPUTE_FULL;
    else if (strcasecmp(row->text[RECOMPUTE], "selective") == 0)
        training->recompute = RECOMPUTE_SELECTIVE;
    else if (says(row, RECOMPUTE, "per-op") || says(row, RECOMPUTE, "torchtitan"))
        training->recompute = RECOMPUTE_OPERATIONS;
    else if (says(row, RECOMPUTE, "selective"))
        training->recompute = RECOMPUTE_SELECTIVE;
    else if (says(row, RECOMPUTE, "minimal"))
        training->recompute = RECOMPUTE_NONE; // keeps every product, recomputes what stands between
    else if (stated(row, RECOMPUTE) && strcasecmp(row->text[RECOMPUTE], "none") != 0)
        skip(row, "recomputation \"%s\" is not modelled yet", row->text[RECOMPUTE]);
}

// ---- Layout and batch.

static int at_least_one(double value) { return value > 1 ? (int)value : 1; }

// Where layers do not divide among the chunks and two more would, embedding and head count as one each (126 layers of
// Llama 3 405B, 94 of Qwen3 235B, 70 of BLOOM).
static void spread_layers(const Row *row, Layout *layout) {
    const Model *model = row->run->training.model;
    int chunks = layout->pp * layout->vpp;
    if (model->kind != MODEL_TRANSFORMER || model->extra_heads || model->layers % chunks == 0) return;
    layout->embedding_counts = layout->head_counts = (model->layers + 2) % chunks == 0;
}

void read_layout(Row *row) {
    TrainingSpec *training = &row->run->training;
    Layout *layout = &training->layout;
    layout->tp = at_least_one(row->number[TP]);
    layout->pp = at_least_one(row->number[PP]);
    layout->vpp = layout->pp > 1 ? at_least_one(row->number[VP]) : 1;
    layout->dp = (int)row->number[DP];
    layout->zero = (int)row->number[ZERO];
    if (!stated(row, ZERO) && row->run->software->shards_optimizer) {
        layout->zero = 1;
        assume(row, ASSUMED_SHARD_GROUP);
    }
    layout->sequence_parallel = row->number[SEQUENCE_PARALLEL] > 0;
    if (layout->tp > 1 && !stated(row, SEQUENCE_PARALLEL)) {
        layout->sequence_parallel = row->run->software->sequence_parallel;
        assume(row, ASSUMED_SEQUENCE_PARALLEL);
    }
    row->run->interleaving_open = layout->pp > 1 && !stated(row, VP) && row->run->software->interleaves;
    if (row->run->interleaving_open) assume(row, ASSUMED_INTERLEAVING);
    layout->cp = at_least_one(row->number[CP]);
    layout->ep = at_least_one(row->number[EP]);
    int data_ranks = row->gpu_count / (layout->tp * layout->pp);
    if (stated(row, SHARD_GROUP) && row->number[SHARD_GROUP] < data_ranks)
        layout->shard = (int)row->number[SHARD_GROUP];
    spread_layers(row, layout);
    training->schedule = layout->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    if (layout->zero) training->accumulation_bytes = row->run->software->sharded_accumulation_bytes;
    training->strategy = row->gpu_count == 1 ? STRATEGY_SINGLE : STRATEGY_DDP;
    bool by_adam = says(row, MODEL_TYPE, "diffusion") || training->model->dimensions == 1;
    training->optimizer = (training->model->kind == MODEL_CNN && !by_adam) || says(row, OPTIMIZER, "sgd")
                              ? OPTIMIZER_SGD
                              : OPTIMIZER_ADAM;
    if (says(row, METRIC_KIND, "forward+backward")) training->optimizer = OPTIMIZER_NONE;
}

void read_batch(Row *row) {
    TrainingSpec *training = &row->run->training;
    const Layout *layout = &training->layout;
    double accumulation = row->number[ACCUMULATION];
    int dp = layout->dp > 0 ? layout->dp : row->gpu_count / (layout->tp * layout->cp * layout->pp);
    training->micro_batch = row->number[MICRO_BATCH];
    training->global_batch = row->number[GLOBAL_BATCH];
    bool whole_step = training->global_batch == 0 && accumulation > 1; // see the README of the measurements
    if (whole_step && training->micro_batch > 0) {
        training->global_batch = training->micro_batch * dp;
        training->micro_batch /= accumulation;
    }
    bool one_micro_batch = layout->pp == 1 || accumulation > 0; // a pipeline of one micro-batch is nobody's
    if (training->global_batch == 0 && training->micro_batch > 0 && one_micro_batch)
        training->global_batch = training->micro_batch * dp * (accumulation > 0 ? accumulation : 1);
    if (training->global_batch == 0 && training->model->kind == MODEL_CNN) {
        training->micro_batch = precision_bytes(training->precision) <= 2 ? 256 : 128;
        training->global_batch = training->micro_batch * dp;
        assume(row, ASSUMED_IMAGE_BATCH);
    }
    if (training->global_batch == 0) {
        skip(row, "the batch is not published");
        return;
    }
    double each = training->global_batch / dp; // as logged; a configuration that says more is another machine's
    if (layout->tp == 1 && layout->pp == 1 && dp > 1 && each < training->micro_batch) {
        training->micro_batch = each;
        assume(row, ASSUMED_MICRO_BATCH);
    }
    row->run->micro_batch_open = training->micro_batch == 0;
    if (row->run->micro_batch_open) assume(row, ASSUMED_MICRO_BATCH);
}
