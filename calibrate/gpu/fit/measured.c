#include "calibrate/gpu/fit/fit.h"

#include <math.h>
#include <string.h>

#include "models/network/network_constants.h"
#include "models/workload/cluster/cluster.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

// ---- Measurements without a constant, sorted by the model that a step uses instead.

// The first row that fits is it; a NULL fits all.
static const struct {
    BenchSection section;
    const char *operation, *variant; // of the variant: a part of it
    const char *what, *why;
    bool is_link;
} untaken_rows[] = {
    {BENCH_GEMM, NULL, NULL, "GEMMs of odd rows", "matrix units want rows of 16 bytes; frameworks pad what is odd",
     false},
    {BENCH_SUSTAINED, NULL, NULL, "GEMM and copy", "what a soak leaves is held against them", false},
    {BENCH_TRANSFER, "peer_copy", "both ways", "peer copies both ways", "GPUs of a step exchange by NCCL's kernels",
     true},
    {BENCH_TRANSFER, "peer_copy", NULL, "peer copies", "GPUs of a step exchange by NCCL's kernels", true},
    {BENCH_TRANSFER, "transfer", "pageable", "pageable copies", "loaders and offload of a step pin their memory",
     false},
    {BENCH_MEMORY, "strided", NULL, "strided streams", "kernels of a step use the sectors that they read", false},
    {BENCH_LAUNCH, "launch", "and wait", "launch and wait", "a step waits for its stream, not for each kernel", false},
    {BENCH_LAUNCH, NULL, "issue", "issue of other commands", "issue times grow with that of an empty kernel", false},
    {BENCH_INTERFERENCE, NULL, "alone", "GEMMs alone", "what ran beside them is held against them", false},
    {BENCH_INTERFERENCE, NULL, NULL, "GEMMs beside others", "interference is that of a ring of 16 blocks", false},
    {BENCH_VIRTUAL, NULL, NULL, "virtual, many blocks", "they tell of the memory behind all channels", false},
    {BENCH_NCCL, NULL, NULL, "NCCL of unknown nodes", "lockstep validate collectives --fit-on takes their logs", false},
};
#define UNTAKEN_ROWS ((int)(sizeof untaken_rows / sizeof *untaken_rows))

static bool fits(int row, const BenchCase *of) {
    return untaken_rows[row].section == of->section &&
           (!untaken_rows[row].operation || strcmp(untaken_rows[row].operation, of->operation) == 0) &&
           (!untaken_rows[row].variant || strstr(of->variant, untaken_rows[row].variant));
}

static Untaken *place_of(UntakenList *list, const char *what, const char *why, bool is_link) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].what, what) == 0) return &list->items[i];
    CHECK(list->count < MOST_UNTAKEN);
    list->items[list->count] = (Untaken){.what = what, .why = why, .is_link = is_link};
    return &list->items[list->count++];
}

static void untaken_note(UntakenList *list, const BenchCase *of, double seconds) {
    int row = 0;
    while (row < UNTAKEN_ROWS && !fits(row, of)) row++;
    Untaken *untaken = row < UNTAKEN_ROWS
                           ? place_of(list, untaken_rows[row].what, untaken_rows[row].why, untaken_rows[row].is_link)
                           : place_of(list, "others", "no cost function says anything of them", false);
    double bytes = of->moved_bytes > 0 ? of->moved_bytes : (double)of->bytes;
    if (untaken->count++ == 0 || seconds < untaken->least_seconds) untaken->least_seconds = seconds;
    if (bytes / seconds > untaken->most_rate) untaken->most_rate = bytes / seconds;
}

// ---- Prediction of a measurement by the simulator's cost functions.

#define ATTENTION_KERNELS 3
#define SLOT_BYTES 65536.0 // of a connection among virtual ranks (cuda_virtual.cu); LL fills half of it with flags

BlockChannel block_channel_usual(void) {
    return (BlockChannel){
        .start_seconds = 8e-6, .step_seconds = {1e-6, 2e-6}, .reduce_rate = {15e9, 30e9}, .copy_rate = {20e9, 40e9}};
}

// Every rank takes a slot's worth of each of n pieces a turn: one step that sends, n - 1 that add up, n - 1 that pass
// on, and one of them is without a neighbour on one side.
static double ring_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double turns = ceil(bytes / (slot * ranks)), piece = bytes / ranks;
    return turns * (2 * ranks - 1) * channel->step_seconds[protocol] +
           piece * ((ranks - 1) / channel->reduce_rate[protocol] + ranks / channel->copy_rate[protocol]);
}

// A rank sends to and receives from each other in turn, after it has copied its own piece.
static double pairs_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double piece = bytes / ranks, turns = ceil(piece / slot), steps = 1 + 2 * (ranks - 1);
    return steps * (turns * channel->step_seconds[protocol] + piece / channel->copy_rate[protocol]);
}

// Up and down a binary tree, chunk after chunk; the first chunk has the whole depth before it.
static double tree_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double chunks = ceil(bytes / slot), depth = floor(log2(ranks)), children = ranks > 2 ? 2 : 1;
    double all = bytes + depth * fmin(slot, bytes);
    return 2 * (chunks + depth) * channel->step_seconds[protocol] +
           all * (children / channel->reduce_rate[protocol] + 1 / channel->copy_rate[protocol]);
}

static double channel_seconds(const BlockChannel *channel, const Measured *row) {
    int protocol = row->is_ll ? CHANNEL_LL : CHANNEL_SIMPLE;
    double slot = row->is_ll ? SLOT_BYTES / 2 : SLOT_BYTES, seconds = channel->start_seconds;
    if (row->algorithm == CHANNEL_RING) seconds += ring_seconds(channel, protocol, slot, row->bytes, row->ranks);
    if (row->algorithm == CHANNEL_TREE) seconds += tree_seconds(channel, protocol, slot, row->bytes, row->ranks);
    if (row->algorithm == CHANNEL_PAIRS) seconds += pairs_seconds(channel, protocol, slot, row->bytes, row->ranks);
    return seconds;
}

static double attention_seconds(const Gpu *gpu, const Gemm *shape) {
    Gemm values = {.precision = shape->precision,
                   .batch = shape->batch,
                   .m = shape->m,
                   .n = shape->k,
                   .k = shape->n,
                   .is_untransposed = true};
    double scores = (double)shape->batch * (double)shape->m * (double)shape->n * precision_bytes(shape->precision);
    return ATTENTION_KERNELS * gpu->launch_seconds + gemm_seconds(gpu, shape) + gemm_seconds(gpu, &values) +
           memory_seconds(gpu, 2 * scores);
}

static double collective_seconds(const Gpu *gpu, const Measured *row) {
    NcclConstants constants = nccl_constants_shipped();
    const double factors[NODE_FACTORS] = {gpu->collectives.floor, gpu->collectives.hop, gpu->collectives.fill,
                                          gpu->collectives.rate};
    for (int i = 0; i < NODE_FACTORS; i++) constants.values[measured_factors[i]] *= factors[i];
    return collective_price_seconds(row->price, row->bytes, &constants);
}

static double gpu_prediction(const Gpu *gpu, const Measured *row) {
    switch (row->kind) {
    case MEASURED_GEMM:
        return gpu->launch_seconds + gemm_seconds(gpu, &row->gemm);
    case MEASURED_BYTES:
        return gpu->launch_seconds +
               (row->cold ? cold_memory_seconds(gpu, row->bytes) : memory_seconds(gpu, row->bytes));
    case MEASURED_LAUNCH:
        return gpu->launch_seconds;
    case MEASURED_GRAPH:
        return gpu->graph_launch_share * gpu->launch_seconds;
    case MEASURED_ATTENTION:
        return attention_seconds(gpu, &row->gemm);
    case MEASURED_ISSUE:
        return gpu->issue_seconds;
    case MEASURED_COPY:
        return gpu->copy_seconds + row->bytes / (gpu->host_link_efficiency * row->raw_rate);
    case MEASURED_BESIDE:
        return row->alone_seconds * (1 + gpu->interference);
    case MEASURED_SUSTAINED:
        return row->alone_seconds / gpu->training_clock;
    case MEASURED_POWER:
        return gpu_activity_watts(gpu, row->of_memory ? ACTIVITY_MEMORY : ACTIVITY_MATRIX);
    case MEASURED_COLLECTIVE:
    case MEASURED_CHANNEL:
    case MEASURED_KINDS:
        break;
    }
    return collective_seconds(gpu, row);
}

void measured_suppose_alone(const Gpu *gpu, Measured *row) {
    if (row->kind != MEASURED_BESIDE && row->kind != MEASURED_SUSTAINED) return;
    row->alone_seconds = gpu->launch_seconds + gemm_seconds(gpu, &row->gemm);
}

double constants_prediction(const Constants *constants, const Measured *row) {
    return row->kind == MEASURED_CHANNEL ? channel_seconds(&constants->channel, row)
                                         : gpu_prediction(&constants->gpu, row);
}

double measured_prediction(const Gpu *gpu, const Measured *row) {
    BlockChannel channel = block_channel_usual();
    return row->kind == MEASURED_CHANNEL ? channel_seconds(&channel, row) : gpu_prediction(gpu, row);
}

#define LARGE_SHARE 0.8 // of the time of a GEMM that its arithmetic alone would take, at the fitted rate
#define LARGE_SECONDS 2e-4

#define LARGE_L2S 20.0

Measured measured_power(const Measured *of, double watts) {
    Measured power = *of;
    power.kind = MEASURED_POWER;
    power.of_memory = of->kind == MEASURED_BYTES;
    power.operation = power.of_memory ? "power of streams" : "power of gemm";
    power.seconds = watts, power.noise = 0;
    return power;
}

bool measured_is_large(const Gpu *gpu, const Measured *row) {
    const Gemm *gemm = &row->gemm;
    if (row->kind == MEASURED_BYTES)
        return row->bytes > LARGE_L2S * gpu->l2_bytes && cold_memory_seconds(gpu, row->bytes) > LARGE_SECONDS;
    if (row->kind != MEASURED_GEMM) return false;
    double rate = gpu->gemm_efficiency[gemm->precision] * gpu->sustained * gpu->peak_flops[gemm->precision];
    double arithmetic = gemm_flops(gemm) / rate;
    return arithmetic > LARGE_SECONDS && arithmetic > LARGE_SHARE * gemm_seconds(gpu, gemm);
}

const char *measured_name(Arena *arena, const Measured *row) {
    const Gemm *gemm = &row->gemm;
    const char *batch = gemm->batch > 1 ? arena_printf(arena, "%lld x ", (long long)gemm->batch) : "";
    switch (row->kind) {
    case MEASURED_GEMM:
    case MEASURED_ATTENTION:
    case MEASURED_BESIDE:
    case MEASURED_SUSTAINED:
        return arena_printf(arena, "%s %s%lld x %lld x %lld", row->operation, batch, (long long)gemm->m,
                            (long long)gemm->n, (long long)gemm->k);
    case MEASURED_BYTES:
    case MEASURED_COPY:
        return arena_printf(arena, "%s %.4g bytes", row->operation, row->bytes);
    case MEASURED_COLLECTIVE:
    case MEASURED_CHANNEL:
        if (row->kind == MEASURED_CHANNEL && row->algorithm == CHANNEL_START) return row->operation;
        return arena_printf(arena, "%s %.4g bytes, %d ranks", row->operation, row->bytes, row->ranks);
    case MEASURED_POWER:
        if (row->of_memory) return arena_printf(arena, "%s of %.4g bytes", row->operation, row->bytes);
        return arena_printf(arena, "%s %s%lld x %lld x %lld", row->operation, batch, (long long)gemm->m,
                            (long long)gemm->n, (long long)gemm->k);
    case MEASURED_LAUNCH:
    case MEASURED_GRAPH:
    case MEASURED_ISSUE:
    case MEASURED_KINDS:
        break;
    }
    return row->operation;
}

// ---- Reads measurements: one JSON object per line, then what each of them measures.

#define LARGEST_FILE_BYTES ((size_t)64 << 20)
#define MOST_SIZE 1e15   // of any number of a case: beyond it is nonsense
#define POWER_CAPPED 0x4 // NVML's reason for a lower clock

// A row of the file.
typedef struct Row {
    BenchCase of;
    double seconds, noise, watts, mhz, throttle;
    int line;
} Row;

typedef LIST_OF(Row) Rows;

typedef LIST_OF(Measured) MeasuredList;

bool measured_is_json(const char *path) {
    FILE *file = file_peek(path);
    int first = file ? fgetc(file) : EOF;
    if (file) fclose(file);
    return first == '{';
}

static double number_or(const Json *object, const char *key, double fallback) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_NUMBER ? value->number : fallback;
}

// A positive integer of plausible size; else 0, for unspecified.
static int64_t size_of(const Json *object, const char *key) {
    double value = number_or(object, key, 0);
    return value >= 1 && value <= MOST_SIZE ? (int64_t)value : 0;
}

static const char *text_or(const Json *object, const char *key, const char *fallback) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : fallback;
}

// ---- Collectives: on a node of the catalogue that has this GPU, or several in one rack's NVLink.

static const NodeType *node_or_rack(const Catalogue *catalogue, const Gpu *gpu, int ranks) {
    const NodeType *node = node_with_gpus(catalogue, gpu, ranks), *part = node_with_gpus(catalogue, gpu, 1);
    bool rack = !node && part && ranks <= part->gpu_count * part->nvlink_domain_nodes;
    return rack ? part : node;
}

// NCCL's price among the GPUs of a node with this GPU, or of a rack whose nodes share NVLink; NULL if the catalogue
// has none with that many.
static const CollectivePrice *measured_price(Arena *arena, const Catalogue *catalogue, const Gpu *gpu,
                                             const char *operation, int ranks, int gpus_per_process) {
    CollectiveOp op;
    const NodeType *node = ranks > 1 && ranks <= 64 ? node_or_rack(catalogue, gpu, ranks) : NULL;
    if (!node || !collective_op_from_name(strcmp(operation, "alltoall") == 0   ? "all_to_all"
                                          : strcmp(operation, "sendrecv") == 0 ? "send_recv"
                                                                               : operation,
                                          &op))
        return NULL;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = node, .gpus = ranks};
    *spec = (ClusterSpec){.groups = group, .group_count = 1, .price_per_gpu_hour = -1};
    const Cluster *cluster = cluster_create(arena, catalogue, spec, problems_create(arena));
    if (!cluster) return NULL;
    int *all = ARENA_ARRAY(arena, int, ranks);
    for (int i = 0; i < ranks; i++) all[i] = i;
    CollectiveRequest request = {.op = op,
                                 .backend = BACKEND_NCCL,
                                 .ranks = all,
                                 .rank_count = ranks,
                                 .bytes = 1,
                                 .shift = op == COLLECTIVE_SEND_RECV,
                                 .gpus_per_process = gpus_per_process};
    return collective_price_create(arena, cluster->network, &request);
}

// ---- Cases.

static void describe(Arena *arena, Measured *row, MeasuredKind kind, const char *first, const char *second) {
    row->kind = kind;
    row->operation = *second ? arena_printf(arena, "%s %s", first, second) : first;
}

static bool take_shape(const BenchCase *of, Measured *row) {
    row->gemm.batch = of->batch > 0 ? of->batch : 1;
    row->gemm.m = of->m, row->gemm.n = of->n, row->gemm.k = of->k;
    return precision_from_name(of->type, &row->gemm.precision) && of->m > 0 && of->n > 0 && of->k > 0;
}

// Rows of odd length run other kernels on matrix units, of which the simulator knows nothing.
static bool take_gemm(Arena *arena, const BenchCase *of, Measured *row) {
    describe(arena, row, MEASURED_GEMM, of->operation, of->type);
    row->gemm.is_untransposed = strcmp(of->variant, "untransposed") == 0;
    return take_shape(of, row) && (row->gemm.precision == FP32 || (of->n % 2 == 0 && of->k % 2 == 0));
}

static bool take_launch(Arena *arena, const BenchCase *of, Measured *row) {
    if (strcmp(of->operation, "launch") != 0) return false;
    if (strcmp(of->variant, "stream") == 0)
        describe(arena, row, MEASURED_LAUNCH, "launch", "");
    else if (strcmp(of->variant, "graph") == 0)
        describe(arena, row, MEASURED_GRAPH, "launch in a graph", "");
    else if (strcmp(of->variant, "issue") == 0)
        describe(arena, row, MEASURED_ISSUE, "issue", "");
    else if (strcmp(of->variant, "cooperative") == 0)
        describe(arena, row, MEASURED_CHANNEL, "cooperative launch", "");
    else
        return false;
    return true;
}

// Rings and trees of one block for each rank measure a channel; with more blocks they measure the memory behind all.
static bool take_channel(Arena *arena, const BenchCase *of, Measured *row) {
    static const char *const words[] = {[CHANNEL_RING] = "ring", [CHANNEL_TREE] = "tree", [CHANNEL_PAIRS] = "pairs"};
    row->bytes = (double)of->bytes, row->ranks = of->ranks;
    row->is_ll = strstr(of->variant, "ll") != NULL;
    describe(arena, row, MEASURED_CHANNEL, "virtual", of->variant);
    for (int a = CHANNEL_RING; a <= CHANNEL_PAIRS; a++)
        if (strncmp(of->variant, words[a], strlen(words[a])) == 0) row->algorithm = (ChannelAlgorithm)a;
    row->watched = row->algorithm == CHANNEL_TREE; // its time follows from the constants of the others
    return of->blocks == 1 && of->ranks > 1 && of->bytes > 0 && row->algorithm != CHANNEL_START;
}

static bool take_collective(Arena *arena, const Catalogue *catalogue, const Gpu *gpu, const BenchCase *of,
                            Measured *row) {
    int per_process = strstr(of->variant, "many processes") ? 1 : of->ranks;
    row->bytes = (double)of->bytes, row->ranks = of->ranks;
    describe(arena, row, MEASURED_COLLECTIVE, "nccl", of->operation);
    row->price = measured_price(arena, catalogue, gpu, of->operation, of->ranks, per_process);
    return of->bytes > 0 && row->price;
}

bool measured_from_case(Arena *arena, const Catalogue *catalogue, const Gpu *gpu, const BenchCase *of, Measured *row) {
    *row = (Measured){.operation = ""};
    switch (of->section) {
    case BENCH_GEMM:
        return take_gemm(arena, of, row);
    case BENCH_MEMORY: // strided copies move whole sectors for a part of them, which no kernel of training does
    case BENCH_KERNELS:
        describe(arena, row, MEASURED_BYTES, of->operation, of->type);
        row->bytes = of->moved_bytes;
        row->cold = of->section == BENCH_KERNELS; // its launches take turns on several sets of data
        return row->bytes > 0 && strcmp(of->operation, "strided") != 0;
    case BENCH_LAUNCH:
        return take_launch(arena, of, row);
    case BENCH_TRANSFER:
        describe(arena, row, MEASURED_COPY, "copy", of->variant);
        row->bytes = (double)of->bytes;
        row->raw_rate = pcie_bytes_per_second(gpu->pcie_generation, gpu->pcie_lanes);
        return strcmp(of->operation, "transfer") == 0 && strstr(of->variant, "pinned") && of->bytes > 0;
    case BENCH_ATTENTION:
        describe(arena, row, MEASURED_ATTENTION, "attention", of->type);
        return take_shape(of, row);
    case BENCH_NCCL:
        return take_collective(arena, catalogue, gpu, of, row);
    case BENCH_VIRTUAL:
        return take_channel(arena, of, row);
    case BENCH_INTERFERENCE:
        describe(arena, row, MEASURED_BESIDE, "gemm beside a ring,", of->type);
        return strstr(of->variant, "ring of 16") && take_shape(of, row);
    case BENCH_SUSTAINED:
        describe(arena, row, MEASURED_SUSTAINED, "gemm and copy after a soak,", of->type);
        return strstr(of->variant, "after a soak") && take_shape(of, row);
    case BENCH_SECTION_COUNT:
        break;
    }
    return false;
}

// ---- Lines.

static BenchSection section_of(const char *name) {
    for (int s = 0; s < BENCH_SECTION_COUNT; s++)
        if (strcmp(bench_section_name((BenchSection)s), name) == 0) return (BenchSection)s;
    return BENCH_SECTION_COUNT;
}

static BenchCase read_case(const Json *json) {
    double moved = number_or(json, "moved_bytes", 0);
    int64_t ranks = size_of(json, "ranks"), blocks = size_of(json, "blocks");
    return (BenchCase){.section = section_of(text_or(json, "section", "")),
                       .operation = text_or(json, "operation", ""),
                       .type = text_or(json, "type", ""),
                       .variant = text_or(json, "variant", ""),
                       .batch = size_of(json, "batch"),
                       .m = size_of(json, "m"),
                       .n = size_of(json, "n"),
                       .k = size_of(json, "k"),
                       .bytes = size_of(json, "bytes"),
                       .ranks = ranks < 1 << 20 ? (int)ranks : 0,
                       .blocks = blocks < 1 << 20 ? (int)blocks : 0,
                       .moved_bytes = moved > 0 && moved <= MOST_SIZE ? moved : 0};
}

static void read_row(Arena *arena, const Json *json, int line, MeasuredFile *file, Rows *rows, Problems *problems) {
    const char *status = text_or(json, "status", "");
    Row row = {.of = read_case(json), .line = line, .seconds = number_or(json, "seconds", 0)};
    if (strcmp(status, "measured") != 0) {
        if (strcmp(status, "failed") == 0)
            file->failed++;
        else
            file->skipped++;
        return;
    }
    if (!(row.seconds > 0)) {
        problem_add(problems, (Where){file->path, line}, "a measured case has no seconds above zero");
        return;
    }
    row.noise = number_or(json, "sigma_seconds", 0) / row.seconds;
    row.watts = number_or(json, "watts", 0);
    row.mhz = number_or(json, "sm_mhz", 0);
    row.throttle = number_or(json, "throttle", 0);
    LIST_PUSH(arena, rows, row);
}

static void read_header(const Json *json, MeasuredFile *file) {
    file->gpu_name = text_or(json, "gpu", "");
    file->date = text_or(json, "date", "");
    file->driver = text_or(json, "driver", "");
    file->is_import = json_get(json, "imported_from") != NULL;
    file->max_mhz = number_or(json, "max_sm_mhz", 0);
    double generation = number_or(json, "pcie_generation", 0), lanes = number_or(json, "pcie_lanes", 0);
    if (generation >= 1 && generation <= 6 && lanes >= 1 && lanes <= 32)
        file->pcie_rate = pcie_bytes_per_second((int)generation, (int)lanes);
}

static void read_lines(Arena *arena, char *text, MeasuredFile *file, Rows *rows, Problems *problems) {
    int line = 0;
    Problems *own = problems_create(arena);
    for (char *next, *at = text; at && *at; at = next) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = '\0';
        line++;
        if (!at[strspn(at, " \t\r")]) continue;
        const Json *json = json_read_text(arena, file->path, at, strlen(at), own);
        if (!json && !next) { // a program that was killed leaves half a line
            file->skipped++;
            return;
        }
        if (!json || !json_texts_are_names(json, own)) {
            problem_add(problems, (Where){file->path, line}, "%s", problem_at(own, 0)->text);
            return; // what follows would be as broken
        }
        const char *record = text_or(json, "record", "");
        if (strcmp(record, "header") == 0) read_header(json, file);
        if (strcmp(record, "case") == 0) read_row(arena, json, line, file, rows, problems);
    }
}

// ---- From rows to measurements.

// Types that the GPU has no units for would have no cost: they come from a wrong name of the GPU.
static bool is_supported(const MeasuredFile *file, const Measured *row, Problems *problems) {
    bool has_type = row->kind == MEASURED_GEMM || row->kind == MEASURED_ATTENTION;
    if (!has_type || gpu_supports(file->gpu, row->gemm.precision)) return true;
    problem_add(problems, (Where){file->path, row->line}, "%s has no %s units", file->gpu->name,
                precision_name(row->gemm.precision));
    return problem_hint(problems, "--gpu NAME says which GPU was measured");
}

// Key of the same GEMM without concurrent or preceding work, which is earlier in the file.
static const char *gemm_key(Arena *arena, const BenchCase *of) {
    return arena_printf(arena, "%d %lld %lld %lld %s", (int)of->section, (long long)of->m, (long long)of->n,
                        (long long)of->k, of->type);
}

static bool is_alone(const BenchCase *of) {
    return (of->section == BENCH_INTERFERENCE && strcmp(of->variant, "alone") == 0) ||
           (of->section == BENCH_SUSTAINED && strcmp(of->variant, "in short runs") == 0);
}

static NameIndex *gemms_alone(Arena *arena, const Rows *rows) {
    NameIndex *alone = name_index_create(arena, strcmp);
    for (int i = 0; i < rows->count; i++)
        if (is_alone(&rows->items[i].of)) name_index_add(alone, gemm_key(arena, &rows->items[i].of), i);
    return alone;
}

static double alone_seconds(Arena *arena, const Rows *rows, const NameIndex *alone, const Row *row) {
    int found = name_index_find(alone, gemm_key(arena, &row->of));
    return found < 0 ? 0 : rows->items[found].seconds;
}

static void note_clock(MeasuredFile *file, const Row *row, double *clocks) {
    if (row->mhz <= 0) return;
    clocks[file->large_count++] = row->mhz;
    file->capped_count += ((unsigned long long)fmin(fmax(row->throttle, 0), 1e15) & POWER_CAPPED) != 0;
}

static void take_rows(Arena *arena, const Catalogue *catalogue, const Rows *rows, MeasuredFile *file,
                      Problems *problems) {
    MeasuredList list = {0};
    const NameIndex *alone = gemms_alone(arena, rows);
    double *clocks = ARENA_ARRAY(arena, double, rows->count + 1);
    for (int i = 0; i < rows->count; i++) {
        const Row *row = &rows->items[i];
        Measured taken;
        bool is_told = measured_from_case(arena, catalogue, file->gpu, &row->of, &taken);
        taken.seconds = row->seconds, taken.noise = row->noise, taken.line = row->line;
        if (is_told && taken.kind == MEASURED_COPY && file->pcie_rate > 0) taken.raw_rate = file->pcie_rate;
        if (is_told && taken.kind == MEASURED_BESIDE)
            is_told = (taken.alone_seconds = alone_seconds(arena, rows, alone, row)) > 0 &&
                      taken.seconds > taken.alone_seconds;
        if (is_told && taken.kind == MEASURED_SUSTAINED) {
            is_told = (taken.alone_seconds = alone_seconds(arena, rows, alone, row)) > 0;
            taken.seconds = fmax(taken.seconds, 1.001 * taken.alone_seconds); // no load makes a GPU faster
        }
        if (!is_told) {
            file->other++;
            untaken_note(&file->untaken, &row->of, row->seconds);
            continue;
        }
        if (!is_supported(file, &taken, problems)) continue;
        LIST_PUSH(arena, &list, taken);
        if (!measured_is_large(file->gpu, &taken)) continue;
        if (taken.kind == MEASURED_GEMM) note_clock(file, row, clocks);
        Measured power = measured_power(&taken, row->watts);
        if (row->watts > 0) LIST_PUSH(arena, &list, power);
    }
    if (file->large_count > 0) file->large_mhz = quantile(arena, clocks, file->large_count, 0.5);
    file->rows = list.items, file->count = list.count;
}

const MeasuredFile *measured_read(Arena *arena, const Catalogue *catalogue, const char *path, const char *gpu_name,
                                  Problems *problems) {
    size_t bytes;
    char *text = file_read(arena, path, LARGEST_FILE_BYTES, &bytes, problems);
    return text ? measured_read_text(arena, catalogue, path, text, gpu_name, problems) : NULL;
}

const MeasuredFile *measured_read_text(Arena *arena, const Catalogue *catalogue, const char *path, char *text,
                                       const char *gpu_name, Problems *problems) {
    int before = problems_added(problems);
    MeasuredFile *file = ARENA_NEW(arena, MeasuredFile);
    Rows rows = {0};
    *file = (MeasuredFile){.path = path, .gpu_name = "", .date = "", .driver = ""};
    read_lines(arena, text, file, &rows, problems);
    if (problems_added(problems) > before) return NULL;
    file->gpu = catalogue_gpu(catalogue, gpu_name ? gpu_name : file->gpu_name);
    if (!file->gpu) {
        problem_add(problems, (Where){path, 0}, "no GPU is called \"%s\"", gpu_name ? gpu_name : file->gpu_name);
        problem_hint(problems, "--gpu NAME says which GPU was measured; lockstep hw list gpu knows their names");
        return NULL;
    }
    take_rows(arena, catalogue, &rows, file, problems);
    return problems_added(problems) > before ? NULL : file;
}
