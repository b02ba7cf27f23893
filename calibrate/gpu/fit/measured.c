// Reads measurements: one JSON object per line, then what each of them measures.
#include "calibrate/gpu/fit/measured.h"

#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "sim/base/list.h"
#include "sim/base/name_index.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

#define LARGEST_FILE_BYTES ((size_t)64 << 20)
#define MOST_SIZE 1e15   // of any number of a case: beyond it is nonsense
#define POWER_CAPPED 0x4 // NVML's reason for a lower clock

// A row of the file.
typedef struct Row {
    BenchCase of;
    double seconds, noise, watts, mhz, throttle;
    int line;
} Row;

typedef struct Rows {
    Row *items;
    int count, room;
} Rows;

typedef struct MeasuredList {
    Measured *items;
    int count, room;
} MeasuredList;

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

// ---- Collectives: on a node of the catalogue that has this GPU, or several in one rack's NVLink.

static const NodeType *node_or_rack(const Catalogue *catalogue, const Gpu *gpu, int ranks) {
    const NodeType *node = node_with_gpus(catalogue, gpu, ranks), *part = node_with_gpus(catalogue, gpu, 1);
    bool rack = !node && part && ranks <= part->gpu_count * part->nvlink_domain_nodes;
    return rack ? part : node;
}

const CollectivePrice *measured_price(Arena *arena, const Catalogue *catalogue, const Gpu *gpu, const char *operation,
                                      int ranks, int gpus_per_process) {
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
    problem_hint(problems, "--gpu NAME says which GPU was measured");
    return false;
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
