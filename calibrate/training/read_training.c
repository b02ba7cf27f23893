#include "calibrate/training/training.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/read_training_internal.h"
#include "models/workload/job/training.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

// ---- Defaults for unpublished settings, with the uncertainty they add.

// clang-format off
const AssumedFact assumed_facts[ASSUMED_COUNT] = {
    [ASSUMED_FRAMEWORK] = {"framework", "not known: as usual for its date, model and layout (in the model's sigma)", 0},
    [ASSUMED_HEADS] = {"heads", "head size 64 up to hidden 1024, 96 below 4096, else 128 (GPT-3 and Megatron tables)",
                       0.03},
    [ASSUMED_VOCABULARY] = {"vocabulary", "51,200, an encoder's 30,522", 0.03},
    [ASSUMED_MICRO_BATCH] = {"micro-batch", "the fastest of 1, 2, 4, 8, 16 whose memory fits", 0.06},
    [ASSUMED_INTERLEAVING] = {"virtual stages", "the fastest of those that divide the layers", 0.06},
    [ASSUMED_RECOMPUTE] = {"recomputation", "the fastest of none, selective, full whose memory fits", 0.08},
    [ASSUMED_SEQUENCE_PARALLEL] = {"sequence parallel", "as usual for the framework", 0.02},
    [ASSUMED_GPU_LINKS] = {"GPU links", "NVLink switch for SXM since Ampere, cube mesh for V100 and P100, else PCIe",
                           0.03},
    [ASSUMED_NICS] = {"network", "one NIC per GPU: 200 Gb/s before Hopper, 400 Gb/s since", 0.05},
    [ASSUMED_OLD_NIC] = {"network", "one NIC of 100 Gb/s for a node of before Ampere", 0.15},
    [ASSUMED_SHARD_GROUP] = {"ZeRO group", "optimizer state sharded over all replicas", 0.04},
    [ASSUMED_SERVERS] = {"parameter servers", "gradients summed in host memory, as an all-reduce of MPI does", 0.12},
    [ASSUMED_GPU_NAME] = {"GPU name", "the nearest catalogue entry that the name contains", 0.03},
    [ASSUMED_LAYERS] = {"layers", "volumes, boxes and diffusion cost what classifiers' layers of their size do", 0.10},
    [ASSUMED_VERSION] = {"version", "not published: kernels as usual for the framework", 0.06},
    [ASSUMED_HOST] = {"host", "one host keeps up with the four or more GPUs that it feeds images and issues to", 0.08},
    [ASSUMED_TEXT_HOST] = {"host", "one host keeps up with the four or more GPUs that it feeds texts or sounds", 0.15},
    [ASSUMED_8_BITS] = {"precision", "8 bits, as MLPerf's language models on Blackwell that tell it", 0.2},
    [ASSUMED_PRECISION] = {"precision", "16 bits, as all that tell it", 0.05},
    [ASSUMED_IMAGE_SIZE] = {"image size", "as usual for the model (224 pixels; 8,000 samples of sound)", 0.05},
    [ASSUMED_IMAGE_BATCH] = {"batch of images", "256 on each GPU in 16 bits, 128 in 32; throughput follows", 0.05},
    [ASSUMED_EXPERTS] = {"experts", "tokens sorted by kernels of their own and exchanged by NCCL, nothing beside it; even routing",
                         0.2},
    [ASSUMED_LENGTHS] = {"lengths", "of recordings and sentences: as their data set has them, batches padded to the longest", 0.1},
    [ASSUMED_PAGES] = {"documents", "1,128 tokens, as OpenWebText's (9,035,582,198 in 8,013,769 pages, nanoGPT's README)", 0.2},
    [ASSUMED_LOOP] = {"host of a loop", "a loop in Python takes 22 us for each kernel, on whatever host", 0.25},
    [ASSUMED_MEMORY] = {"memory", "the estimate exceeds the card; predicted all the same", 0.05},
};
// clang-format on

int usual_head_size(int hidden) { return hidden <= 1024 ? 64 : hidden < 4096 ? 96 : 128; }

// ---- Sample lengths.

#define LIBRISPEECH_HZ 16000.0
#define LJSPEECH_HZ 22050.0
#define LJSPEECH_HOP 256.0
#define LJSPEECH_MEAN (6.57 * LJSPEECH_HZ) // 13,100 recordings of 23:55:17 in all

// Sentences of up to 50 subwords, as even over 1 to 50: batches are drawn from buckets ten wide, so they are padded to
// 30 on average, and hold 25.5 on the longer side and, between English and German, three and a half less on the other.
#define SENTENCE_PADDED 30.0
#define SENTENCE_COUNTED 47.5

static const SampleLengths known_lengths[] = {
    {"jasper", 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 0,
     "LibriSpeech's recordings of at most 16.7 s, padded to it"},
    {"quartznet", 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 0,
     "LibriSpeech's recordings of at most 16.7 s, padded to it"},
    {"tacotron", 1.11 * LJSPEECH_HZ, LJSPEECH_MEAN, 10.10 * LJSPEECH_HZ, LJSPEECH_MEAN / LJSPEECH_HOP,
     "LJSpeech's recordings"},
    {"gnmt", SENTENCE_PADDED, SENTENCE_PADDED, SENTENCE_PADDED, SENTENCE_COUNTED,
     "WMT16's English and German sentences of at most 50 subwords in buckets of ten"},
};

const SampleLengths *sample_lengths(const char *model) {
    for (size_t i = 0; i < sizeof known_lengths / sizeof *known_lengths; i++)
        if (strcasestr(model, known_lengths[i].model)) return &known_lengths[i];
    return NULL;
}

double longest_of(const SampleLengths *of, double samples) {
    double range = of->most - of->least;
    if (range <= 0) return of->most;
    double mean = (of->mean - of->least) / range, power = mean / (1 - mean);
    return of->least + range * samples * power / (samples * power + 1);
}

// ---- Words in a row's configuration columns that the reader does not understand: those neither known nor equal to a
// default.

#define LONGEST_TOLD 4096

typedef struct KnownWord {
    Column column;
    const char *word;
} KnownWord;

// Read by read_training_job.c, or no different from what software does by itself.
static const KnownWord known_words[] = {
    {ATTENTION, "flash"},
    {ATTENTION, "sdpa"},
    {ATTENTION, "document mask"},
    {OVERLAP, "overlap-grad-reduce"},
    {OVERLAP, "overlap-param-gather"},
    {OVERLAP, "tp-comm-overlap"},
    {OVERLAP, "asynctp"},
    {OVERLAP, "interleaved"},
    {OVERLAP, "optimizer in backward"},
    {OVERLAP, "deepep"},
    {OVERLAP, "hybridep"},
    {OVERLAP, "a2a"}, // what experts' tokens are exchanged by unless a kernel is named
    {OVERLAP, "parameter_server"},
    {OVERLAP, "parameter servers"},
    {OVERLAP, "grpc"},
    {OVERLAP, "replicated"},
    {OPTIMIZER, "sgd"},
    {OPTIMIZER, "adamw"},
    {OPTIMIZER, "adam"},
    {OPTIMIZER, "adamw 8-bit"},
    {OPTIMIZER, "adafactor"},
    {OPTIMIZER, "cpu adamw (offloaded)"},
    {OPTIMIZER, "fused adamw"}, // PyTorch's kernel of several tensors
    {COMPILED, "0"},
    {COMPILED, "1"},
};

// A word within a longer text is known with brackets around it, and with a version.
static bool has_word(const char *text, size_t length, const char *word, size_t word_length) {
    for (size_t at = 0; at + word_length <= length; at++)
        if (strncasecmp(text + at, word, word_length) == 0) return true;
    return false;
}

static bool is_known(Column column, const char *text, size_t length) {
    for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++) {
        const KnownWord *known = &known_words[i];
        size_t word = strlen(known->word);
        if (known->column != column || length < word) continue;
        bool whole = column == OPTIMIZER || column == COMPILED;
        if (whole ? length == word && strncasecmp(text, known->word, word) == 0
                  : has_word(text, length, known->word, word))
            return true;
    }
    return false;
}

static void add_unread(Row *row, Column column, const char *text, size_t length) {
    const char *before = row->run->unread;
    if (before && strlen(before) > LONGEST_TOLD) return;
    row->run->unread = arena_printf(row->arena, "%s%s%s \"%.*s\"", before ? before : "", before ? ", " : "",
                                    column_word(column), (int)length, text);
}

// Brackets hold a word together: "distributed_replicated (grpc, colocated parameter servers)".
static size_t piece_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || !strchr(",;+", text[length])); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

// "cpu_offload=1; strategy=full_shard": settings among the notes.
static const char *const known_settings[] = {"cpu_offload=", "cpu_offload_optimizer=", "sharding=", "strategy=",
                                             "seqsel="}; // sharding and the measured quantity have columns too

static bool is_setting(const char *text, size_t length) {
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return name > 0 && name + 1 < length && text[name] == '=';
}

static void note_settings(Row *row) {
    for (const char *at = row->text[NOTES]; *at; at += strspn(at, " ;,")) {
        size_t length = strcspn(at, " ;,");
        bool known = false;
        for (size_t i = 0; i < sizeof known_settings / sizeof *known_settings; i++)
            known = known || strncmp(at, known_settings[i], strlen(known_settings[i])) == 0;
        if (is_setting(at, length) && !known) add_unread(row, NOTES, at, length);
        at += length;
    }
}

static void note_unread_cells(Row *row) {
    static const Column configured[] = {ATTENTION, OVERLAP, OPTIMIZER, COMPILED};
    for (size_t c = 0; c < sizeof configured / sizeof *configured; c++)
        for (const char *at = row->text[configured[c]] + strspn(row->text[configured[c]], " "); *at;) {
            size_t length = piece_length(at), shown = length;
            while (shown > 0 && at[shown - 1] == ' ') shown--;
            if (!is_known(configured[c], at, shown)) add_unread(row, configured[c], at, shown);
            at += length;
            at += strspn(at, ",;+ ");
        }
    note_settings(row);
}

// ---- One row at a time: cells, then model, GPU, node and network, layout, batch, software, and the measured step.
// Each step either fills its part of the run or says why the row is skipped; the first reason stands.

typedef struct ColumnRule {
    const char *word;
    bool required; // else a file without it is read as if its cells were empty
    bool whole;    // a number of things
    bool may_be_zero;
} ColumnRule;

static const ColumnRule columns[COLUMN_COUNT] = {
    [ROW_ID] = {.word = "row_id", .required = true},
    [FAMILY] = {.word = "family", .required = true},
    [MODEL] = {.word = "model", .required = true},
    [MODEL_TYPE] = {.word = "model_type"},
    [MLP_ACT] = {.word = "mlp_act"},
    [GPU] = {.word = "gpu", .required = true},
    [INTRA_LINK] = {.word = "intra_link"},
    [INTER_LINK] = {.word = "inter_link"},
    [FRAMEWORK_NAME] = {.word = "framework"},
    [SOFTWARE] = {.word = "software"},
    [COMPILED] = {.word = "compiled"},
    [PRECISION] = {.word = "precision"},
    [RECOMPUTE] = {.word = "recompute"},
    [ATTENTION] = {.word = "attn_impl"},
    [OVERLAP] = {.word = "overlap"},
    [OPTIMIZER] = {.word = "optimizer"},
    [METRIC_KIND] = {.word = "metric_kind"},
    [NOTES] = {.word = "notes"},
    [SOURCE] = {.word = "source"},
    [PLACE] = {.word = "source_loc"},
    [INFERRED] = {.word = "inferred"},
    [PARAMETERS] = {.word = "n_params"},
    [LAYERS] = {.word = "layers", .whole = true},
    [HIDDEN] = {.word = "hidden", .whole = true},
    [HEADS] = {.word = "heads", .whole = true},
    [KV_HEADS] = {.word = "kv_heads", .whole = true},
    [FFN] = {.word = "ffn", .whole = true},
    [VOCAB] = {.word = "vocab", .whole = true},
    [SEQ_LEN] = {.word = "seq_len", .whole = true},
    [EXPERTS] = {.word = "n_experts", .whole = true, .may_be_zero = true},
    [EXPERTS_PER_TOKEN] = {.word = "moe_top_k", .whole = true},
    [EXPERT_FFN] = {.word = "moe_ffn", .whole = true},
    [IMAGE_SIZE] = {.word = "image_size", .whole = true},
    [GPU_MEMORY] = {.word = "gpu_mem_bytes"},
    [GPU_POWER] = {.word = "gpu_power_w"},
    [GPUS] = {.word = "n_gpus", .required = true, .whole = true},
    [NODES] = {.word = "n_nodes", .whole = true},
    [GPUS_PER_NODE] = {.word = "gpus_per_node", .whole = true},
    [LINK_SPEED] = {.word = "intra_GBs_per_gpu_dir"},
    [NICS] = {.word = "nics_per_node", .whole = true},
    [NIC_SPEED] = {.word = "nic_GBs"},
    [TP] = {.word = "tp", .whole = true},
    [PP] = {.word = "pp", .whole = true},
    [VP] = {.word = "vp", .whole = true},
    [CP] = {.word = "cp", .whole = true},
    [EP] = {.word = "ep", .whole = true},
    [ETP] = {.word = "etp", .whole = true},
    [DP] = {.word = "dp", .whole = true},
    [ZERO] = {.word = "zero_stage", .whole = true, .may_be_zero = true},
    [SHARD_GROUP] = {.word = "shard_group", .whole = true},
    [SEQUENCE_PARALLEL] = {.word = "seq_parallel", .whole = true, .may_be_zero = true},
    [MICRO_BATCH] = {.word = "micro_batch", .whole = true},
    [ACCUMULATION] = {.word = "grad_accum", .whole = true},
    [GLOBAL_BATCH] = {.word = "global_batch", .whole = true},
    [ITER_TIME] = {.word = "iter_time_s"},
    [TOKENS_PER_S] = {.word = "tokens_per_s"},
    [TOKENS_PER_S_GPU] = {.word = "tokens_per_s_gpu"},
    [SAMPLES_PER_S] = {.word = "samples_per_s"},
    [SAMPLES_PER_S_GPU] = {.word = "samples_per_s_gpu"},
    [MODEL_TFLOPS] = {.word = "model_tflops_gpu"},
    [HARDWARE_TFLOPS] = {.word = "hw_tflops_gpu"},
    [TIME_TO_TRAIN] = {.word = "time_to_train_s"},
    [PEAK_MEMORY] = {.word = "peak_mem_bytes"},
};
#define LARGEST_COUNT 1e9

bool says(const Row *row, Column column, const char *word) { return strcasestr(row->text[column], word) != NULL; }

void skip(Row *row, const char *format, ...) {
    if (row->run->skipped) return;
    va_list arguments;
    va_start(arguments, format);
    row->run->skipped = arena_vprintf(row->arena, format, arguments);
    va_end(arguments);
}

const char *column_word(Column column) { return columns[column].word; }

// ---- Cells.

static bool readable(const ColumnRule *rule, double value, const char *cell, const char *end) {
    if (end == cell || *end || !isfinite(value)) return false;
    if (rule->whole && (value != floor(value) || value > LARGEST_COUNT)) return false;
    return rule->may_be_zero ? value >= 0 : value > 0;
}

static void read_number(Row *row, Column column) {
    const char *cell = row->text[column];
    if (!cell[0]) return;
    char *end;
    double value = strtod(cell, &end);
    if (readable(&columns[column], value, cell, end)) {
        row->number[column] = value;
        return;
    }
    const char *expected = columns[column].whole ? "a whole number" : "a number";
    const char *sign = columns[column].may_be_zero ? "not below zero" : "above zero";
    problem_add(row->problems, row->run->where, "%s is \"%s\", expected %s %s", columns[column].word, cell, expected,
                sign);
    skip(row, "%s is \"%s\", expected %s %s", columns[column].word, cell, expected, sign);
}

// By a publication's own words, else by what the program that prints the figure asks its library for. The first column
// that has a word decides, of its words the first.
typedef struct MemoryWord {
    const char *word;
    MemoryCount counts;
} MemoryWord;
static const MemoryWord memory_words[] = {
    {"allocated memory", MEMORY_ALLOCATED},
    {"memory allocated", MEMORY_ALLOCATED},
    {"peak allocated", MEMORY_ALLOCATED},
    {"memory_allocated", MEMORY_ALLOCATED},
    {"cached maximum", MEMORY_RESERVED},
    {"memory cached", MEMORY_RESERVED},
    {"reserved memory", MEMORY_RESERVED},
    {"memory reserved", MEMORY_RESERVED},
    {"peak reserved", MEMORY_RESERVED},
    {"memory_reserved", MEMORY_RESERVED},
    {"pool of the allocator", MEMORY_RESERVED},
    {"nvidia-smi", MEMORY_OF_DEVICE},
    {"nvml", MEMORY_OF_DEVICE},
    {"whole card", MEMORY_OF_DEVICE},
};
static const Column memory_columns[] = {METRIC_KIND, NOTES, INFERRED};

// PyTorch's max_memory_allocated: Detectron2 (utils/events.py), maskrcnn-benchmark (engine/trainer.py), mmcv since its
// logger has it, LitGPT's scripts, the last line of train_gpt.py of GPT-2 speed runs. max_memory_reserved:
// torchtitan (components/metrics.py), prime-rl (trainer/sft/train.py), Unsloth's notebooks.
static const struct {
    Column column;
    MemoryWord known;
} memory_programs[] = {
    {FRAMEWORK_NAME, {"detectron2", MEMORY_ALLOCATED}}, {FRAMEWORK_NAME, {"maskrcnn", MEMORY_ALLOCATED}},
    {FRAMEWORK_NAME, {"mmdet", MEMORY_ALLOCATED}},      {FRAMEWORK_NAME, {"mmseg", MEMORY_ALLOCATED}},
    {FRAMEWORK_NAME, {"litgpt", MEMORY_ALLOCATED}},     {SOURCE, {"nanogpt", MEMORY_ALLOCATED}},
    {FRAMEWORK_NAME, {"torchtitan", MEMORY_RESERVED}},  {FRAMEWORK_NAME, {"prime-rl", MEMORY_RESERVED}},
    {FRAMEWORK_NAME, {"unsloth", MEMORY_RESERVED}},
};

static MemoryCount memory_count_of(const Row *row) {
    for (size_t c = 0; c < sizeof memory_columns / sizeof *memory_columns; c++)
        for (size_t i = 0; i < sizeof memory_words / sizeof *memory_words; i++)
            if (says(row, memory_columns[c], memory_words[i].word)) return memory_words[i].counts;
    bool before = says(row, SOFTWARE, "pytorch 0."); // which counted cached memory
    for (size_t i = 0; i < sizeof memory_programs / sizeof *memory_programs && !before; i++)
        if (says(row, memory_programs[i].column, memory_programs[i].known.word)) return memory_programs[i].known.counts;
    return MEMORY_NOT_SAID;
}

// TensorFlow takes all of the GPU's memory (tf.config, set_memory_growth is off), JAX three quarters
// (XLA_PYTHON_CLIENT_MEM_FRACTION): that is what one sees from outside.
static double pool_share_of(const Row *row) {
    if (row->run->memory_count == MEMORY_ALLOCATED) return 0;
    if (says(row, FRAMEWORK_NAME, "tensorflow")) return 1;
    return says(row, FRAMEWORK_NAME, "jax") || says(row, FRAMEWORK_NAME, "maxtext") ? 0.75 : 0;
}

static void read_cells(Row *row) {
    for (int c = FIRST_NUMBER; c < COLUMN_COUNT; c++) read_number(row, (Column)c);
    row->run->row_id = row->text[ROW_ID];
    row->run->family = row->text[FAMILY];
    row->run->measured_memory_bytes = row->number[PEAK_MEMORY];
    row->run->memory_count = memory_count_of(row);
    row->run->pool_share = pool_share_of(row);
}

// ---- What the simulator does not model yet.

// Models that are known but not predicted; and model kinds whose tables leave out the length of a sample, of which
// only rows with a data set are read.
typedef struct UnsaidKind {
    const char *type, *reason;
} UnsaidKind;
static const UnsaidKind unsaid_models[] = {
    {"fastpitch", "its letters are aligned with sounds by the host, whose pace is not known"},
    {"hifi-gan", "counted in columns its throughput needs more than GPUs can do: what it counts is not published"},
};
static const UnsaidKind unsaid[] = {
    {"rnn_seq2seq", "how long the sentences of a batch are, and with padding, is not published"},
    {"cnn_asr", "how long the recordings of a batch are, and with padding, is not published"},
    {"tts", "how long the recordings of a batch are, and with padding, is not published"},
};

// Of recordings it takes segments of one length, whose samples its throughput counts.
static bool learns_segments(const Row *row) { return says(row, MODEL, "waveglow"); }

static void refuse_kinds(Row *row) {
    static const char *const kinds[] = {"decoder", "encoder", "cnn", "cnn_seg",     "cnn_det", "cnn_asr", "diffusion",
                                        "vit",     "moe",     "tts", "rnn_seq2seq", "encdec",  ""};
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known |= strcasecmp(row->text[MODEL_TYPE], kinds[i]) == 0;
    for (size_t i = 0; i < sizeof unsaid_models / sizeof *unsaid_models; i++)
        if (says(row, MODEL, unsaid_models[i].type)) skip(row, "%s", unsaid_models[i].reason);
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        if (says(row, MODEL_TYPE, unsaid[i].type) && !learns_segments(row) && !sample_lengths(row->text[MODEL]))
            skip(row, "%s", unsaid[i].reason);
    if (!known) skip(row, "models of type \"%s\" are not modelled yet", row->text[MODEL_TYPE]);
    if (says(row, NOTES, "cpu_offload=True")) skip(row, "offloading is not modelled yet");
}

// ---- The measured step.

static double hardware_flops(const TrainingSpec *training) {
    return model_flops_per_sample(training->model, (int)training->seq_len) + recomputed_flops_per_sample(training);
}

// Megatron-Core since 2025 counts the half of attention that is not masked (training.py,
// num_floating_point_operations), which is what twice as many samples of half the length have.
static double counted_flops(const Row *row, const TrainingSpec *training) {
    bool half = says(row, FRAMEWORK_NAME, "megatron-core") && strtod(row->text[SOFTWARE], NULL) >= 2025;
    int length = (int)training->seq_len;
    return half ? 2 * model_flops_per_sample(training->model, length / 2)
                : model_flops_per_sample(training->model, length);
}

static void set_measured(Row *row, double seconds, const char *rule) {
    if (row->run->measured_step_s > 0 || !(seconds > 0) || !isfinite(seconds)) return;
    row->run->measured_step_s = seconds;
    row->run->rule = rule;
}

// Throughput in MLPerf's logs is of the whole cluster or of one GPU: of the whole where one GPU's would give the run
// less than one epoch. Images of OpenImages' and COCO's training sets (MLPerf Training rules).
typedef struct Epoch {
    const char *model;
    double samples;
} Epoch;
static const Epoch epochs[] = {{"retinanet", 1170301}, {"ssd300", 117266}};

static bool logged_by_gpu(const Row *row) {
    double seen = row->number[SAMPLES_PER_S] * row->number[TIME_TO_TRAIN];
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++)
        if (says(row, MODEL, epochs[i].model) && seen > 0 && seen < epochs[i].samples) return true;
    return false;
}

// Throughput of spectra counts columns, of sentences subwords: without what a batch is padded with.
static void measure_by_length(Row *row) {
    const SampleLengths *lengths = sample_lengths(row->text[MODEL]);
    if (!lengths || lengths->counted == 0) return;
    double units = row->run->training.global_batch * lengths->counted;
    set_measured(row, units / row->number[SAMPLES_PER_S], "counted in the batch / samples_per_s");
    set_measured(row, units / row->number[TOKENS_PER_S], "counted in the batch / tokens_per_s");
}

static void add_length_rule(Row *row) {
    const SampleLengths *lengths = sample_lengths(row->text[MODEL]);
    if (!lengths || row->run->measured_step_s == 0) return;
    const Model *model = row->run->training.model;
    row->run->rule = arena_printf(row->arena, "%s; %s: %d %s", row->run->rule, lengths->source, model->image_size,
                                  model->of_words ? "subwords" : "samples of sound");
}

// An epoch's seconds over its iterations hold those of its validation too, a third of a step's work each.
#define VALIDATION_SHARE (1.0 / 3)

static void leave_out_validation(Row *row) {
    const char *noted = strstr(row->text[NOTES], "the epoch also holds ");
    const char *steps = strstr(row->text[INFERRED], " iterations per epoch");
    if (!noted || !steps || row->run->measured_step_s == 0) return;
    while (steps > row->text[INFERRED] && isdigit((unsigned char)steps[-1])) steps--;
    double validations = strtod(noted + strlen("the epoch also holds "), NULL), iterations = strtod(steps, NULL);
    if (validations > 0 && iterations > 0) row->run->measured_step_s /= 1 + VALIDATION_SHARE * validations / iterations;
}

static void read_measured(Row *row) {
    const TrainingSpec *training = &row->run->training;
    double samples = training->global_batch, tokens = samples * training->seq_len, gpus = row->gpu_count;
    const double *number = row->number;
    if (logged_by_gpu(row)) set_measured(row, samples / (number[SAMPLES_PER_S] * gpus), "logged for each GPU");

    if (learns_segments(row))
        set_measured(row, samples * training->model->image_size / number[SAMPLES_PER_S],
                     "samples of sound / samples_per_s");
    measure_by_length(row);
    set_measured(row, number[ITER_TIME], "iter_time_s");
    set_measured(row, samples / number[SAMPLES_PER_S], "global batch / samples_per_s");
    set_measured(row, samples / (number[SAMPLES_PER_S_GPU] * gpus), "global batch / (samples_per_s_gpu x GPUs)");
    set_measured(row, tokens / number[TOKENS_PER_S], "tokens of a batch / tokens_per_s");
    set_measured(row, tokens / (number[TOKENS_PER_S_GPU] * gpus), "tokens of a batch / (tokens_per_s_gpu x GPUs)");
    if (row->run->measured_step_s == 0 && samples > 0) {
        double model = samples * counted_flops(row, training);
        set_measured(row, model / (number[MODEL_TFLOPS] * 1e12 * gpus), "model FLOPs / (model_tflops_gpu x GPUs)");
        double hardware = samples * hardware_flops(training);
        set_measured(row, hardware / (number[HARDWARE_TFLOPS] * 1e12 * gpus),
                     "FLOPs with recomputation / (hw_tflops_gpu x GPUs)");
    }
    add_length_rule(row);
    leave_out_validation(row);
    if (row->run->measured_step_s == 0) row->run->unmeasured = "neither a step time nor a throughput is published";
}

// ---- A row, a file.

typedef void Step(Row *row);
static Step *const steps[] = {refuse_kinds,   read_model,  read_gpu, read_cluster, read_precision, read_software,
                              read_recompute, read_layout, make_job, read_batch,   make_job,       read_measured};

static void read_row(Arena *arena, const Catalogue *catalogue, MeasuredRun *run, const Withheld *withheld,
                     Problems *problems) {
    Row row = {.arena = arena, .catalogue = catalogue, .problems = problems, .run = run, .withheld = *withheld};
    for (int c = 0; c < COLUMN_COUNT; c++) row.text[c] = run->cells[c];
    read_cells(&row);
    note_unread_cells(&row);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !run->skipped; i++) steps[i](&row);
}

MeasuredRun measured_run_again(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run,
                               const Withheld *withheld) {
    MeasuredRun again = {.where = run->where,
                         .rule = "",
                         .cells = run->cells,
                         .software_splits = run->software_splits,
                         .training.where = run->where};
    read_row(arena, catalogue, &again, withheld, problems_create(arena));
    return again;
}

static bool find_columns(const Csv *csv, int *places, Problems *problems) {
    int before = problems_added(problems);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        places[c] = csv_find(csv, columns[c].word);
        if (places[c] < 0 && columns[c].required) csv_column(csv, columns[c].word, problems);
    }
    return problems_added(problems) == before;
}

static bool above_one(const MeasuredRun *run, Column column) { return strtod(run->cells[column], NULL) > 1; }

static const char *software_in(Arena *arena, const MeasuredRun *run) {
    return arena_printf(arena, "%s\t%s", run->cells[FAMILY], run->cells[FRAMEWORK_NAME]);
}

// The software of a family with which some run splits a model, in whatever file, can split it in the others.
static void share_what_splits(Arena *arena, const Catalogue *catalogue, MeasuredRuns *runs) {
    NameIndex *splits = name_index_create(arena, strcmp);
    for (int i = 0; i < runs->count; i++)
        if (above_one(&runs->items[i], TP) || above_one(&runs->items[i], PP))
            name_index_add(splits, software_in(arena, &runs->items[i]), i);
    for (int i = 0; i < runs->count; i++) {
        MeasuredRun *run = &runs->items[i];
        if (run->software_splits || name_index_find(splits, software_in(arena, run)) < 0) continue;
        run->software_splits = true;
        *run = measured_run_again(arena, catalogue, run, &(Withheld){.rules = 0});
    }
}

static bool read_csv(Arena *arena, const Catalogue *catalogue, const Csv *csv, MeasuredRuns *runs, Problems *problems) {
    int places[COLUMN_COUNT];
    if (!csv || !find_columns(csv, places, problems)) return false;
    for (int i = 0; i < csv->row_count; i++) {
        MeasuredRun run = {.where = csv_where(csv, i), .rule = ""};
        run.training.where = run.where;
        const char **cells = ARENA_ARRAY(arena, const char *, COLUMN_COUNT);
        for (int c = 0; c < COLUMN_COUNT; c++) cells[c] = places[c] < 0 ? "" : csv_cell(csv, i, places[c]);
        run.cells = cells;
        read_row(arena, catalogue, &run, &(Withheld){.rules = 0}, problems);
        LIST_PUSH(arena, runs, run);
    }
    share_what_splits(arena, catalogue, runs);
    return true;
}

bool measured_runs_read(Arena *arena, const Catalogue *catalogue, const char *path, MeasuredRuns *runs,
                        Problems *problems) {
    return read_csv(arena, catalogue, csv_read_file(arena, path, problems), runs, problems);
}

bool measured_runs_read_text(Arena *arena, const Catalogue *catalogue, const char *name, const char *text,
                             MeasuredRuns *runs, Problems *problems) {
    return read_csv(arena, catalogue, csv_read_text(arena, name, text, problems), runs, problems);
}
