// The job of a measured run: its model, software, precision, layout and batch.
#include <math.h>
#include <stdlib.h>

#include "calibrate/training/read_training_internal.h"
#include "calibrate/training/training.h"
#include "models/workload/job/training.h"
#include "sim/base/check.h"

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

// A zoo's table of proposals alone names no backbone; the entry that a row stands for does ("R-50-C4", "R_50_C4").
static bool is_of_one_stage(const Row *row, const char *name) {
    bool told = says(row, PLACE, "r-50-c4") || says(row, PLACE, "r_50_c4");
    return told && says(row, MODEL_TYPE, "cnn_det") && !strcasestr(name, "c4");
}

// "ResNet-50 v1.5" is the library's resnet-50; "resnet50d" is another network. "vit_base_patch16_224" ends in the size
// of its images, which has a column.
static const char *library_name(const Row *row) {
    char *name = arena_copy_text(row->arena, row->text[MODEL]);
    if (is_of_one_stage(row, name)) return arena_printf(row->arena, "%s R50-C4", name);
    char *version = strcasestr(name, " v1"), *size_in_name = strrchr(name, '_');
    if (version) *version = '\0';
    if (size_in_name && stated(row, IMAGE_SIZE) && strtod(size_in_name + 1, NULL) == row->number[IMAGE_SIZE])
        *size_in_name = '\0';
    for (size_t i = 0; i < sizeof own_models / sizeof *own_models; i++)
        if (says(row, FRAMEWORK_NAME, own_models[i].framework) && strcasecmp(name, own_models[i].model) == 0)
            return own_models[i].name_here;
    return name;
}

// Missing inputs of models in a table, or uncounted work of a framework.
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

// What detectors take of COCO's images, which are 4:3, in whole steps of a backbone's strides.
#define DETECTOR_SHORT 800.0
#define DETECTOR_LONG 1088.0

// All replicas wait for the one with the longest sample.
static int padded_size(const Row *row, const SampleLengths *lengths) {
    double samples = row->number[GLOBAL_BATCH] > 0 ? row->number[GLOBAL_BATCH] : 1;
    return (int)longest_of(lengths, samples);
}

// "images 800 x 1216": as a size of the library's 3:4 with as many pixels. 0: unspecified.
static int size_in_notes(const Row *row) {
    static const char words[] = "detector: images ";
    const char *said = strstr(row->text[NOTES], words), *by = said ? strstr(said, " x ") : NULL;
    double pixels = by ? atof(said + strlen(words)) * atof(by + strlen(" x ")) : 0;
    return (int)lround(sqrt(pixels * DETECTOR_SHORT / DETECTOR_LONG));
}

static int stated_size(const Row *row) {
    int noted = size_in_notes(row);
    return noted > 0 ? noted : (int)row->number[IMAGE_SIZE];
}

static int usual_size(const Row *row, const Model *model) {
    const SampleLengths *lengths = sample_lengths(row->text[MODEL]);
    if (lengths) return padded_size(row, lengths);
    for (size_t i = 0; i < sizeof own_sizes / sizeof *own_sizes; i++)
        if (says(row, FRAMEWORK_NAME, own_sizes[i].framework) && says(row, MODEL, own_sizes[i].model))
            return own_sizes[i].image_size;
    return model->image_size;
}

static Model *copy_of(Arena *arena, const Model *model) {
    Model *copy = ARENA_NEW(arena, Model);
    *copy = *model;
    return copy;
}

// Detectors take images of COCO with a short side of 800 pixels and a long one of up to 1,333, which a backbone's
// strides pad to 1,344: usually they are 3:4. Batches grouped by shape are padded to at most 800 x 1344; others mix
// wide and tall images and are padded to 1344 x 1344. As 3:4 sizes of the library with as many pixels.
#define LARGEST_OF_GROUPED 898
#define LARGEST_OF_MIXED 1164
static const char *const grouping[] = {"detectron", "mmdet", "maskrcnn", "simpledet"};

// What holds more than gradients need. F.batch_norm keeps what goes in, fixed statistics or not (mmdetection's
// norm_eval). Caffe2's Detectron frees no blob, of frozen stages neither, and its last norm of a block does not work in
// place (detectron/modeling/ResNet.py, bottleneck_transformation). Flashlight's ReLU does not work in place.
typedef enum Holds { HOLDS_LITTLE, HOLDS_BEFORE_NORMS, HOLDS_BLOBS, HOLDS_ALL } Holds;
static Holds holds_of(const Row *row) {
    if (says(row, FRAMEWORK_NAME, "mmdet")) return HOLDS_BEFORE_NORMS;
    if (says(row, FRAMEWORK_NAME, "flashlight")) return HOLDS_ALL;
    return says(row, FRAMEWORK_NAME, "caffe2") ? HOLDS_BLOBS : HOLDS_LITTLE;
}

static const Model *model_that_holds(Row *row, const Model *model, Holds holds) {
    if (holds == HOLDS_LITTLE) return model;
    Model *held = copy_of(row->arena, model);
    NetLayer *layers = ARENA_ARRAY(row->arena, NetLayer, held->net_layer_count);
    for (int i = 0; i < held->net_layer_count; i++) {
        NetLayer *layer = &layers[i];
        *layer = held->net_layers[i];
        layer->norm_keeps = layer->fixed_norm && (holds != HOLDS_BLOBS || layer->residual_add);
        layer->smooth |= holds == HOLDS_ALL;
        if (holds == HOLDS_BLOBS && layer->learning == LEARNS_NEVER) layer->learning = LEARNS;
    }
    held->net_layers = layers;
    return held;
}

static bool framework_among(const Row *row, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (says(row, FRAMEWORK_NAME, words[i])) return true;
    return false;
}

static void note_largest_images(Row *row, const Model *model, int size) {
    bool one_size = says(row, MODEL, "ssd") || says(row, MODEL, "yolo") || says(row, FRAMEWORK_NAME, "tensorflow");
    bool varied = says(row, MODEL_TYPE, "cnn_det") && !stated(row, IMAGE_SIZE) && !one_size && model->image_size >= 800;
    bool alike = says(row, SOURCE, "deeplearningexamples") || // made of maskrcnn-benchmark
                 framework_among(row, grouping, sizeof grouping / sizeof *grouping) || row->number[MICRO_BATCH] <= 1;
    Holds holds = holds_of(row);
    if (!varied && (holds == HOLDS_LITTLE || model->patch)) return;
    row->run->sizes_vary = varied && says(row, FRAMEWORK_NAME, "pytorch");
    if (varied) size = alike ? LARGEST_OF_GROUPED : LARGEST_OF_MIXED;
    row->run->largest_model = model_that_holds(row, model_resized(row->arena, model, size, 0), holds);
}

// A detector that begins with random weights learns its norms and all of its backbone (torchvision's without
// weights_backbone). A count of parameters that has just these norms more says so.
static const Model *model_as_counted(Row *row, const Model *model) {
    Model *whole = copy_of(row->arena, model);
    NetLayer *layers = ARENA_ARRAY(row->arena, NetLayer, whole->net_layer_count);
    for (int i = 0; i < whole->net_layer_count; i++) {
        layers[i] = model->net_layers[i];
        layers[i].batch_norm |= layers[i].fixed_norm;
        layers[i].fixed_norm = false;
        layers[i].learning = LEARNS;
    }
    whole->net_layers = layers;
    double counted = row->number[PARAMETERS];
    bool plain = fabs(model_parameters(model) - counted) < 1, learns = fabs(model_parameters(whole) - counted) < 1;
    return learns && !plain ? whole : model;
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
    int size = stated(row, IMAGE_SIZE) ? stated_size(row) : usual_size(row, model);
    if (size < least_image_size(model)) {
        skip(row, "images of %d pixels are too small for %s", size, model->name);
        return NULL;
    }
    note_largest_images(row, model, size);
    return model_as_counted(row, size == model->image_size ? model : model_resized(row->arena, model, size, 0));
}

// Adapters belong to the training, not to the model.
static const char *name_of_model(const Row *row) {
    static const struct { const char *word, *model; } names[] = {{"deepseekv2", "deepseek-v2"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (says(row, MODEL, names[i].word)) return names[i].model;
    const char *name = row->text[MODEL], *end = strcasestr(name, "-lora");
    return end && !end[strlen("-lora")] ? arena_printf(row->arena, "%.*s", (int)(end - name), name) : name;
}

static bool agrees(const Row *row, Column column, int published) {
    return !stated(row, column) || (int)row->number[column] == published;
}

// A decoder of the model library, whose configuration has what the columns lack: the width of heads, norms of queries
// and keys, latents, shared experts, dense layers. A row of fewer layers is that model truncated. NULL: use the
// columns.
static const Model *known_decoder(Row *row) {
    const Model *published = find_model(row->arena, name_of_model(row), row->run->where, problems_create(row->arena));
    if (!published || !published->rms_norm || published->encoder_layers > 0 || published->written ||
        published->experts.count != (int)row->number[EXPERTS] || published->hidden != (int)row->number[HIDDEN])
        return NULL;
    bool same = agrees(row, HEADS, published->heads) && agrees(row, KV_HEADS, published->kv_heads) &&
                agrees(row, VOCAB, published->vocab);
    if (published->experts.count == 0 && (!same || !agrees(row, FFN, published->ffn))) return NULL;
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

// "heads are 128 wide": no column has it. 0: unspecified.
static int wide_heads(const Row *row) {
    static const char words[] = "heads are ";
    const char *said = strcasestr(row->text[NOTES], words), *wide = said ? strstr(said, " wide") : NULL;
    int width = wide ? atoi(said + strlen(words)) : 0;
    return width > 0 && width <= 1024 ? width : 0;
}

static const Model *transformer_of(Row *row) {
    static const Column needed[] = {LAYERS, HIDDEN, SEQ_LEN};
    for (int i = 0; i < 3; i++)
        if (!stated(row, needed[i])) skip(row, "%s is not published", column_word(needed[i]));
    if (row->run->skipped) return NULL;
    bool mixture = row->number[EXPERTS] > 1;
    const Model *known = known_decoder(row);
    if (mixture) assume(row, ASSUMED_EXPERTS);
    if (known) return known;

    bool encoder = says(row, MODEL_TYPE, "encoder"), llama = says(row, MLP_ACT, "glu"); // SwiGLU, GEGLU
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
    shape.head_dim = wide_heads(row);
    // Published shapes whose width is not heads times head size (GPT-3 2.7B style) have their own head size.
    if (shape.head_dim == 0 && shape.hidden % shape.heads != 0)
        shape.head_dim = (shape.hidden + shape.heads - 1) / shape.heads;
    Problems *mistakes = problems_create(row->arena);
    const Model *plain = model_transformer(row->arena, &shape, row->run->where, mistakes);
    if (!plain) {
        skip(row, "%s", problem_at(mistakes, 0)->text);
        return NULL;
    }
    Model *model = copy_of(row->arena, plain);
    if (mixture) add_experts(row, model);
    return model;
}

// An encoder-decoder, which the columns cannot describe: one of the library's, with the row's depth and width.
static const Model *pair_of(Row *row) {
    const Model *model = find_model(row->arena, row->text[MODEL], row->run->where, problems_create(row->arena));
    if (!model || model->encoder_layers == 0) {
        skip(row, "the model library has no \"%s\"", row->text[MODEL]);
        return NULL;
    }
    if (!stated(row, SEQ_LEN)) skip(row, "%s is not published", column_word(SEQ_LEN));
    bool fits = row->number[LAYERS] == model->encoder_layers || row->number[LAYERS] == model->layers;
    if ((stated(row, LAYERS) && !fits) || (stated(row, HIDDEN) && row->number[HIDDEN] != model->hidden))
        skip(row, "the row's %s is another than the library's", row->text[MODEL]);
    return row->run->skipped ? NULL : model;
}

// NVIDIA's loader LDDL, in its examples of BERT for PyTorch and PaddlePaddle, draws a batch from one bin of lengths and
// pads it to the bin: more than half of 512 positions would be padding of Wikipedia's documents (Krell et al. 2021), so
// 256 and half a bin of 64 are worked on. Of 128 positions nearly all are filled.
#define BINNED_LENGTH 288.0

static double length_worked_on(Row *row) {
    bool binned = says(row, SOURCE, "DeepLearningExamples") && says(row, MODEL, "bert") && !says(row, MODEL, "squad") &&
                  (says(row, FRAMEWORK_NAME, "pytorch") || says(row, FRAMEWORK_NAME, "paddle"));
    if (!binned || row->number[SEQ_LEN] < 512) return row->number[SEQ_LEN];
    assume(row, ASSUMED_LENGTHS);
    return BINNED_LENGTH;
}

void read_model(Row *row) {
    static const char *const kinds[] = {"cnn", "vit", "diffusion", "tts", "rnn_seq2seq"};
    bool image = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) image |= says(row, MODEL_TYPE, kinds[i]);
    bool pair = says(row, MODEL_TYPE, "encdec");
    const Model *model = image ? image_model_of(row) : pair ? pair_of(row) : transformer_of(row);
    row->said = (JobSaid){.where = row->run->where, .model = model};
    row->run->training.model = model;
    if (model && !image) job_say_number(row->arena, &row->said, JOB_TRAINING, "seq_len", length_worked_on(row));
    const char *longest = strcasestr(row->text[NOTES], "longest batch (");
    if (longest && !image) row->run->longest_seq_len = strtod(strchr(longest, '(') + 1, NULL);
}

// ---- Software.

// Ranks are 8 to 64: the adapters' cost hardly depends on them.
#define USUAL_LORA_RANK 16

static bool has_version(const Row *row) {
    return strpbrk(row->text[SOFTWARE], "0123456789") || strpbrk(row->text[FRAMEWORK_NAME], "0123456789");
}

// Steps of images and short texts leave little time to prepare the next batch and to issue its kernels, and
// publications rarely describe the host. MLPerf's submissions are tuned and described; decoders' steps are long.
#define GPUS_OF_A_BUSY_HOST 4
static void assume_host(Row *row, bool causal, bool mlperf) {
    if (causal || mlperf) return;
    if (!has_version(row)) assume(row, ASSUMED_VERSION);
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
    for (int i = 0; i < model->net_layer_count; i++)
        if (model->net_layers[i].sequential) return true;
    return false;
}

// The publication's description of its software, for the table of stacks.
static const char *software_text(const Row *row, bool causal) {
    bool mlperf = says(row, METRIC_KIND, "mlperf"); // whose decoders run NeMo on NVIDIA's GPUs
    bool examples = says(row, SOURCE, "DeepLearningExamples") && !causal;
    bool timm = says(row, SOURCE, "pytorch-image-models results");
    return arena_printf(
        row->arena, "%s | %s | %s | %s%s%s%s%s", row->text[FRAMEWORK_NAME], row->text[SOFTWARE], row->text[PRECISION],
        !mlperf  ? ""
        : causal ? "nemo of mlperf"
                 : "mlperf",
        strcmp(row->text[COMPILED], "1") == 0 ? " compiled" : "", says(row, OPTIMIZER, "fused") ? " fused" : "",
        examples ? " README of DeepLearningExamples" : "", timm ? " timm benchmark" : "");
}

static void say_name(Row *row, const char *field, const char *name) {
    job_say_name(row->arena, &row->said, JOB_TRAINING, field, name);
}
static void say_number(Row *row, JobObject object, const char *field, double number) {
    job_say_number(row->arena, &row->said, object, field, number);
}
static void say_flag(Row *row, JobObject object, const char *field, bool flag) {
    job_say_flag(row->arena, &row->said, object, field, flag);
}

// Where no word is known: as usual for the date, the model and its layout.
static void say_software(Row *row, const char *text) {
    SoftwareQuery query = {.text = text,
                           .gpu_year = row->gpu->year,
                           .model = row->said.model,
                           .splits_layers = row->run->software_splits,
                           .name_withheld = row->withheld.framework_name,
                           .withheld = row->withheld.rules};
    const Software *software = software_of(row->arena, &query);
    row->run->software = row->said.software = software;
    if (!software->word[0]) assume(row, ASSUMED_FRAMEWORK);
}

// The row's attention kind overrides the software's.
static void say_attention(Row *row) {
    static const struct {
        const char *word;
        Attention kind;
    } kinds[] = {
        {"flash-2", ATTENTION_FLASH_2}, {"flash v2", ATTENTION_FLASH_2}, {"flash-3", ATTENTION_FLASH_3},
        {"flash-4", ATTENTION_FLASH_4}, {"cudnn", ATTENTION_FLASH},      {"xformers", ATTENTION_FLASH_1},
        {"plain", ATTENTION_PLAIN},     {"eager", ATTENTION_PLAIN},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (says(row, ATTENTION, kinds[i].word)) {
            say_name(row, "attention", attention_name(kinds[i].kind));
            return;
        }
    if (says(row, ATTENTION, "flash") && row->run->software->attention == ATTENTION_PLAIN)
        say_name(row, "attention", "flash");
}

// Documents of a sequence that see only themselves.
static void say_documents(Row *row) {
    if (!says(row, ATTENTION, "document mask") || !(length_worked_on(row) > PAGE_TOKENS)) return;
    job_say_number(row->arena, &row->said, JOB_TRAINING, "pack_length", PAGE_TOKENS);
    assume(row, ASSUMED_PAGES);
}

static void say_overlap(Row *row) {
    if (says(row, OVERLAP, "overlap-grad-reduce")) say_flag(row, JOB_OVERLAP, "grad_reduce", true);
    if (says(row, OVERLAP, "deepep") || says(row, OVERLAP, "hybridep"))
        say_flag(row, JOB_TRAINING, "fused_dispatch", true);
    if (says(row, OVERLAP, "fp8 FSDP all-gather")) say_flag(row, JOB_TRAINING, "zero_quantized_weights", true);
    if (says(row, OVERLAP, "tp-comm-overlap") || says(row, OVERLAP, "asyncTP")) say_flag(row, JOB_OVERLAP, "tp", true);
    if (says(row, OVERLAP, "overlap-param-gather")) say_flag(row, JOB_OVERLAP, "param_gather", true);
}

static void say_servers(Row *row) {
    bool server = software_does(row->run->software, PARAMETER_SERVERS) || says(row, OVERLAP, "parameter_server") ||
                  says(row, OVERLAP, "grpc") || says(row, OVERLAP, "no NCCL");
    if (!server) return;
    bool several = row->gpu_count > 1;
    say_name(row, "backend", several ? "mpi" : "nccl");
    if (several) assume(row, ASSUMED_SERVERS);
}

// The layout in the row's notes, if any, overrides the software's.
static const char *layout_text(const Row *row, const char *text) {
    const char *noted = strcasestr(row->text[NOTES], "memory format ");
    return noted ? arena_printf(row->arena, "%.18s", noted) : text;
}

static void say_images(Row *row, const char *software_text) {
    const Software *software = row->run->software;
    const char *text = layout_text(row, software_text);
    if (strcasestr(text, "nhwc")) say_name(row, "image_layout", "nhwc");
    if (strcasestr(text, "nchw")) say_name(row, "image_layout", "nchw");
    bool decodes = convolves(row->said.model) && software_does(software, HOST_DECODES);
    if (!decodes || says(row, NOTES, "synthetic")) return;
    say_number(row, JOB_DATA, "samples_per_second_per_worker", software->images_per_core);
    say_number(row, JOB_DATA, "workers", HOST_CORES); // as many as the host has
}

// The adapters' place, if the row states it.
static void say_adapters(Row *row) {
    bool everywhere = says(row, NOTES, "on all linear layers"), attention = says(row, NOTES, "on q, k, v and o");
    if (everywhere || attention) say_flag(row, JOB_TRAINING, "lora_everywhere", everywhere);
}

void read_software(Row *row) {
    const Model *model = row->said.model;
    bool causal = model->causal;
    const char *text = software_text(row, causal);
    if (says(row, METRIC_KIND, "lora") || says(row, MODEL, "lora"))
        say_number(row, JOB_TRAINING, "lora_rank", USUAL_LORA_RANK);
    if (says(row, NOTES, "embedding and head trained too")) say_flag(row, JOB_TRAINING, "lora_embeddings", true);
    say_software(row, text);
    say_adapters(row);
    bool kernels = says(row, NOTES, "liger") || says(row, NOTES, "fused kernels");
    if (kernels && (says(row, NOTES, "rmsnorm") || says(row, NOTES, "norm, rope")))
        say_flag(row, JOB_TRAINING, "fused_norms", true);
    if (says(row, NOTES, "cpu_offload=1")) {
        job_say_name(row->arena, &row->said, JOB_OFFLOAD, "optimizer", "host");
        job_say_name(row->arena, &row->said, JOB_OFFLOAD, "parameters", "host");
    }
    if (says(row, OPTIMIZER, "fused")) say_flag(row, JOB_TRAINING, "fused_optimizer", true);
    if (says(row, OPTIMIZER, "offload")) job_say_name(row->arena, &row->said, JOB_OFFLOAD, "optimizer", "host");
    bool away = says(row, NOTES, "activations offloaded") || says(row, NOTES, "activations moved to host");
    if (away && says(row, RECOMPUTE, "full")) job_say_name(row->arena, &row->said, JOB_OFFLOAD, "activations", "host");
    assume_host(row, causal, says(row, METRIC_KIND, "mlperf"));
    if (unlike_classifiers(row)) assume(row, ASSUMED_LAYERS);
    if (loops(model)) assume(row, ASSUMED_LOOP);
    say_attention(row);
    say_documents(row);
    say_images(row, text);
    say_overlap(row);
    say_servers(row);
}

// MLPerf's diffusion was trained in 16 bits, its language models on Blackwell in 8 or less.
static bool mlperf_usual(const Row *row) {
    if (!says(row, METRIC_KIND, "mlperf")) return false;
    bool decoder = row->said.model->causal && row->gpu->generation == BLACKWELL;
    return says(row, MODEL_TYPE, "diffusion") || decoder;
}

static void take_usual(Row *row) {
    bool diffusion = says(row, MODEL_TYPE, "diffusion");
    say_name(row, "precision", diffusion ? "fp16" : "fp8");
    assume(row, diffusion ? ASSUMED_PRECISION : ASSUMED_8_BITS);
}

// Mixed precision that was requested but apparently not used: the real precision is unknown.
static bool doubts_16_bits(const Row *row) {
    bool half = strcasestr(row->text[PRECISION], "16") != NULL;
    return half && says(row, MODEL, "waveglow") && says(row, FAMILY, "lambda");
}

// Its 32-bit convolutions on vector units are 11 to 29 columns wide: measured steps would take 1.5 times the peak of a
// V100 as products, so cuDNN does some by Fourier transforms.
static bool may_transform(const Row *row) {
    return says(row, MODEL, "jasper") && strcasestr(row->text[PRECISION], "32") && row->gpu->peak_flops[TF32] == 0;
}

static const char *precision_in(const Row *row, const char *text) {
    static const char *const words[] = {"fp8", "bf16", "fp16"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i])) return words[i];
    if (strcasestr(text, "nvfp4") || strcasestr(text, "mxfp4")) return "fp4";
    // "fp32/tf32": PyTorch's choice on that GPU
    if (strcasestr(text, "tf32")) return row->gpu->peak_flops[TF32] > 0 ? "tf32" : "fp32";
    return strcasestr(text, "fp32") ? "fp32" : NULL;
}

// Words of publications: "CS" is current scaling, "MX" micro-scaling; the default is delayed.
static void say_fp8_recipe(Row *row, const char *text) {
    static const struct {
        const char *word, *recipe;
    } words[] = {{"mx", "mxfp8"},     {"rowwise", "rowwise"},       {"block", "blockwise"}, {"finer", "mxfp8"},
                 {"sc", "blockwise"}, {"tensorwise", "tensorwise"}, {"cs", "tensorwise"}};
    for (size_t i = 0; strcasestr(text, "fp8") && i < sizeof words / sizeof *words; i++) {
        if (!strcasestr(text, words[i].word)) continue;
        say_name(row, "fp8_recipe", words[i].recipe);
        return;
    }
}

static void check_units(Row *row) {
    Precision precision;
    CHECK(precision_from_name(job_value(&row->said, JOB_TRAINING, "precision")->text, &precision));
    if (row->gpu->peak_flops[precision] == 0)
        skip(row, "%s has no %s units", row->gpu->name, precision_name(precision));
}

void read_precision(Row *row) {
    const char *text = row->text[PRECISION], *name = precision_in(row, text);
    bool nf4 = strcasestr(text, "nf4") != NULL, gptq = strcasestr(text, "gptq") != NULL;
    if (nf4) say_flag(row, JOB_TRAINING, "nf4_weights", true);
    if (gptq) say_flag(row, JOB_TRAINING, "gptq_weights", true);
    if (nf4 || gptq) say_flag(row, JOB_TRAINING, "half_weights", true); // the type of their products
    if (!text[0] && mlperf_usual(row))
        take_usual(row);
    else if (!text[0])
        skip(row, "the precision is not published");
    else if (doubts_16_bits(row))
        skip(row, "its times in 16 and 32 bits agree within 2 %% on twelve types of GPU: what ran in 16 is not known");
    else if (may_transform(row))
        skip(row, "which of its wide convolutions cuDNN does by Fourier transforms in 32 bits is not known");
    else if (name)
        say_name(row, "precision", name);
    else
        skip(row, "precision \"%s\" is not known", text);
    say_fp8_recipe(row, text);
    // Lightning's "-true": weights and the optimizer's state too
    if (strcasestr(text, "-true")) say_flag(row, JOB_TRAINING, "mixed_precision", false);
    if (!row->run->skipped) check_units(row);
}

// Publications' words for recomputation. Of several words the first row counts.
typedef struct RecomputeWord {
    const char *word, *recompute;
    unsigned keeps;
} RecomputeWord;
#define KEEPS(output_) (1u << KEEPS_##output_)
#define KEEPS_PRODUCTS (KEEPS(QKV) | KEEPS(PROJ) | KEEPS(MLP_UP) | KEEPS(MLP_DOWN))
static const RecomputeWord recompute_words[] = {
    {"minimal_flash", "operations", KEEPS_PRODUCTS | KEEPS(CORE_ATTN)}, // MaxText's policies
    {"minimal", "operations", KEEPS_PRODUCTS},
    {"saves matrix products only", "operations", KEEPS_PRODUCTS},
    {"qkv and attention output projections and the MLP output", "operations",
     KEEPS(QKV) | KEEPS(PROJ) | KEEPS(MLP_DOWN)},
    {"qkv and attention output projections", "operations", KEEPS(QKV) | KEEPS(PROJ)},
    {"qkv and output projections", "operations", KEEPS(QKV) | KEEPS(PROJ)},
    {"-op", "operations", 0}, // torchtitan: "selective-per-op", "selective-op"
    {"torchtitan", "operations", 0},
    {"selective", "selective", 0},
    {"full", "full", 0},
};

// "selective (norm, act)": Megatron-Core's modules.
typedef struct ModuleWord {
    const char *word;
    RecomputeModule module;
} ModuleWord;
static const ModuleWord module_words[] = {{"norm", MODULE_LAYERNORM}, {"act", MODULE_MOE_ACT}};

static int module_called(const char *word, size_t length) {
    for (int m = 0; m < RECOMPUTE_MODULE_COUNT; m++)
        if (strlen(recompute_module_names[m]) == length && strncmp(word, recompute_module_names[m], length) == 0)
            return m;
    for (size_t i = 0; i < sizeof module_words / sizeof *module_words; i++)
        if (strlen(module_words[i].word) == length && strncmp(word, module_words[i].word, length) == 0)
            return (int)module_words[i].module;
    return -1;
}

static void say_modules(Row *row) {
    const char *at = strchr(row->text[RECOMPUTE], '(');
    unsigned modules = 0;
    for (at = at ? at + 1 : ""; *at && *at != ')'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ", )");
        int module = module_called(at, length);
        if (module < 0) skip(row, "recomputation of \"%.*s\" is not known", (int)length, at);
        if (module >= 0) modules |= 1u << module;
        at += length;
    }
    job_say_names(row->arena, &row->said, JOB_TRAINING, "recompute_modules", modules);
}

// "full on 10 of 80 layers"; torchtitan's "selective-layer" is every second.
static bool say_some_layers(Row *row) {
    int layers = 0, all = 0;
    if (sscanf(row->text[RECOMPUTE], "full on %d of %d layers", &layers, &all) == 2) {
        int ranks = row->number[PP] > 1 ? (int)row->number[PP] : 1;
        say_number(row, JOB_TRAINING, "recompute_layers", ceil((double)layers / ranks));
    } else if (strcasecmp(row->text[RECOMPUTE], "selective-layer") == 0) {
        say_number(row, JOB_TRAINING, "recompute_every", 2);
    } else {
        return false;
    }
    say_name(row, "recompute", "full");
    return true;
}

static void say_recompute(Row *row) {
    if (!stated(row, RECOMPUTE) || strcasecmp(row->text[RECOMPUTE], "none") == 0 || say_some_layers(row)) return;
    for (size_t i = 0; i < sizeof recompute_words / sizeof *recompute_words; i++) {
        const RecomputeWord *known = &recompute_words[i];
        if (!says(row, RECOMPUTE, known->word)) continue;
        say_name(row, "recompute", known->recompute);
        job_say_names(row->arena, &row->said, JOB_TRAINING, "recompute_keeps", known->keeps);
        if (strcmp(known->recompute, "selective") == 0) say_modules(row);
        return;
    }
    skip(row, "recomputation \"%s\" is not known", row->text[RECOMPUTE]);
}

void read_recompute(Row *row) {
    bool open = names_parts(row->said.model) && !stated(row, RECOMPUTE);
    if (open) assume(row, ASSUMED_RECOMPUTE);
    row->run->recompute_open = open && !software_does(row->run->software, KEEPS_ACTIVATIONS);
    say_recompute(row);
}

// ---- Layout and batch.

static int at_least_one(double value) { return value > 1 ? (int)value : 1; }

// Where layers do not divide among the chunks and two more would, embedding and head count as one each (126 layers of
// Llama 3 405B, 94 of Qwen3 235B, 70 of BLOOM).
static void spread_layers(Row *row, int chunks) {
    const Model *model = row->said.model;
    if (!counts_tokens(model) || model->extra_heads || model->layers % chunks == 0) return;
    bool both = (model->layers + 2) % chunks == 0;
    say_flag(row, JOB_PARALLEL, "embedding_counts", both);
    say_flag(row, JOB_PARALLEL, "head_counts", both);
}

static void say_parallel(Row *row, const char *field, double number) { say_number(row, JOB_PARALLEL, field, number); }

static void say_sharding(Row *row, int data_ranks) {
    if (stated(row, ZERO)) say_number(row, JOB_TRAINING, "zero", row->number[ZERO]);
    if (!stated(row, ZERO) && software_does(row->run->software, SHARDS_OPTIMIZER)) assume(row, ASSUMED_SHARD_GROUP);
    if (stated(row, SHARD_GROUP) && row->number[SHARD_GROUP] < data_ranks)
        say_parallel(row, "shard", row->number[SHARD_GROUP]);
}

// Fused exchanges by name. Otherwise: recipes with them do not split experts by tensor parallelism, and no run can
// whose experts are spread over more ranks than data parallelism has.
static void say_experts(Row *row, int data_ranks) {
    bool fused = says(row, OVERLAP, "deepep") || says(row, OVERLAP, "hybridep");
    int tp = at_least_one(row->number[TP]), ep = at_least_one(row->number[EP]);
    if (fused) say_flag(row, JOB_TRAINING, "fused_dispatch", true);
    if (tp == 1 || ep == 1) return;
    bool whole = stated(row, ETP) ? row->number[ETP] == 1 : fused || data_ranks % ep;
    if (stated(row, ETP) || whole) say_number(row, JOB_PARALLEL, "etp", whole ? 1 : row->number[ETP]);
    if (whole) say_flag(row, JOB_PARALLEL, "sequence_parallel", true);
}

// "CPU AdamW (offloaded)", "cpu_offload_optimizer=1": its state alone; weights are gathered from the GPUs.
static void say_optimizer_alone_offloaded(Row *row) {
    bool offloaded = says(row, OPTIMIZER, "offload") || says(row, NOTES, "cpu_offload_optimizer=1");
    if (offloaded) job_say_name(row->arena, &row->said, JOB_OFFLOAD, "optimizer", "host");
}

// Liger's fused linear cross entropy takes the tokens in as many parts as make a part's logits as large as the hidden
// states (liger_kernel/ops/fused_linear_cross_entropy.py); prime-rl's logarithms of probabilities come part by part too
// where it learns from rewards (trainer/models/layers/lm_head.py).
static void say_loss(Row *row) {
    const Model *model = row->said.model;
    bool entropy = says(row, NOTES, "cross entropy") || says(row, NOTES, "cross-entropy");
    bool fused = (entropy && (says(row, NOTES, "liger") || says(row, NOTES, "fused kernels for"))) ||
                 (says(row, FRAMEWORK_NAME, "fused kernels") && says(row, FRAMEWORK_NAME, "cross entropy"));
    bool in_parts = (says(row, NOTES, "liger") && says(row, NOTES, "cross entropy")) ||
                    says(row, NOTES, "fused linear cross") ||
                    (says(row, FRAMEWORK_NAME, "prime-rl") && says(row, NOTES, "policy-gradient"));
    if (!(fused || in_parts) || !counts_tokens(model) || model->vocab <= model->hidden) return;
    say_flag(row, JOB_TRAINING, "fused_loss", true);
    if (in_parts) say_number(row, JOB_TRAINING, "loss_chunks", ceil((double)model->vocab / model->hidden));
}

// Encoders have classes for tasks of GLUE and two numbers a position for SQuAD (Devlin et al., 2019, 4.1 and 4.2); of
// decoders the row states it (ds3lab-megatron-8v100 and similar ones).
static void say_head(Row *row) {
    static const char *const tasks[] = {"classification head", "squad", "glue", "mnli", "sst-2"};
    static const Column told[] = {MODEL, NOTES, INFERRED};
    const Model *model = row->said.model;
    if (!counts_tokens(model) || model->patch) return;
    size_t count = !model->causal && model->encoder_layers == 0 ? sizeof tasks / sizeof *tasks : 1;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < sizeof told / sizeof *told; c++)
            if (says(row, told[c], tasks[i])) {
                say_flag(row, JOB_TRAINING, "classifies", true);
                return;
            }
}

// A name that no library's optimizer has; those of matrices come compiled.
static bool has_own_optimizer(const Row *row) {
    static const char *const known[] = {"adam", "sgd",  "adafactor", "momentum", "lamb", "lars",
                                        "muon", "soap", "shampoo",   "rmsprop",  "lion"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (says(row, OPTIMIZER, known[i])) return false;
    return row->text[OPTIMIZER][0] != 0;
}

static void say_optimizer(Row *row) {
    say_optimizer_alone_offloaded(row);
    if (says(row, OVERLAP, "optimizer in backward")) say_flag(row, JOB_TRAINING, "optimizer_in_backward", true);
    say_loss(row);
    say_head(row);
    const Model *model = row->said.model;
    bool by_adam = says(row, MODEL_TYPE, "diffusion") || model->dimensions == 1;
    bool sgd = (convolves(model) && !by_adam) || says(row, OPTIMIZER, "sgd");
    bool eight = says(row, OPTIMIZER, "8-bit") || says(row, OPTIMIZER, "8bit");
    bool steps = !says(row, METRIC_KIND, "forward+backward") && !says(row, NOTES, "no optimizer step");
    say_name(row, "optimizer",
             !steps                              ? "none"
             : sgd                               ? "sgd"
             : eight                             ? "adam-8bit"
             : says(row, OPTIMIZER, "adafactor") ? "adafactor"
             : has_own_optimizer(row)            ? "own"
                                                 : "adam");
}

void read_layout(Row *row) {
    int tp = at_least_one(row->number[TP]), pp = at_least_one(row->number[PP]);
    bool interleaved = says(row, METRIC_KIND, "interleaved") || says(row, OVERLAP, "interleaved");
    bool two_stages = interleaved && !(row->number[VP] > 1); // per rank: the default of PyTorch's schedules
    int vpp = pp == 1 ? 1 : two_stages ? 2 : at_least_one(row->number[VP]);
    say_parallel(row, "tp", tp);
    say_parallel(row, "pp", pp);
    say_parallel(row, "vpp", vpp);
    if (row->number[DP] > 0) say_parallel(row, "dp", row->number[DP]);
    say_parallel(row, "cp", at_least_one(row->number[CP]));
    say_parallel(row, "ep", at_least_one(row->number[EP]));
    say_sharding(row, row->gpu_count / (tp * pp));
    if (stated(row, SEQUENCE_PARALLEL))
        say_flag(row, JOB_PARALLEL, "sequence_parallel", row->number[SEQUENCE_PARALLEL] > 0);
    else if (tp > 1)
        assume(row, ASSUMED_SEQUENCE_PARALLEL);
    say_experts(row, row->gpu_count / (tp * pp));
    row->run->interleaving_open =
        pp > 1 && !stated(row, VP) && !two_stages && software_does(row->run->software, INTERLEAVES);
    if (row->run->interleaving_open) assume(row, ASSUMED_INTERLEAVING);
    spread_layers(row, pp * vpp);
    say_name(row, "strategy", row->gpu_count == 1 ? "single" : "ddp");
    say_optimizer(row);
}

typedef struct Batch {
    double micro, global;
} Batch;

// The log counts; a larger configuration is another machine's.
static void trust_log(Row *row, Batch *batch, int dp) {
    double each = batch->global / dp;
    bool plain = at_least_one(row->number[TP]) == 1 && at_least_one(row->number[PP]) == 1;
    if (!plain || dp <= 1 || each >= batch->micro) return;
    batch->micro = each;
    assume(row, ASSUMED_MICRO_BATCH);
}

void read_batch(Row *row) {
    int tp = at_least_one(row->number[TP]), pp = at_least_one(row->number[PP]), cp = at_least_one(row->number[CP]);
    int dp = row->number[DP] > 0 ? (int)row->number[DP] : row->gpu_count / (tp * cp * pp);
    double accumulation = row->number[ACCUMULATION];
    Batch batch = {row->number[MICRO_BATCH], row->number[GLOBAL_BATCH]};
    bool whole_step = batch.global == 0 && accumulation > 1; // see the README of the measurements
    if (whole_step && batch.micro > 0) {
        batch.global = batch.micro * dp;
        batch.micro /= accumulation;
    }
    bool one_micro_batch = pp == 1 || accumulation > 0; // a pipeline has more than one micro-batch
    if (batch.global == 0 && batch.micro > 0 && one_micro_batch)
        batch.global = batch.micro * dp * (accumulation > 0 ? accumulation : 1);
    if (batch.global == 0 && convolves(row->said.model)) {
        batch.micro = precision_bytes(row->run->training.precision) <= 2 ? 256 : 128;
        batch.global = batch.micro * dp;
        assume(row, ASSUMED_IMAGE_BATCH);
    }
    if (batch.global == 0) {
        skip(row, "the batch is not published");
        return;
    }
    trust_log(row, &batch, dp);
    say_number(row, JOB_BATCH, "global", batch.global);
    if (batch.micro > 0) say_number(row, JOB_BATCH, "micro", batch.micro);
    row->run->micro_batch_open = batch.micro == 0;
    if (row->run->micro_batch_open) assume(row, ASSUMED_MICRO_BATCH);
}

// ---- The job.

void make_job(Row *row) {
    Problems *problems = problems_create(row->arena);
    row->run->training = job_make(row->arena, &row->said, (GpuTypes){&row->gpu, 1}, problems);
    if (problem_count(problems)) skip(row, "%s", problem_at(problems, 0)->text);
}
