// Import of Kineto traces (sim/data/kineto.h).
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/command_calibrate.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "sim/data/kineto.h"
#include "sim/system/file.h"

// ---- State of an import.

typedef struct KernelSum {
    char *name;
    const char *category;
    double count, microseconds, least, most;
} KernelSum;

typedef LIST_OF(KernelSum) KernelSums;

#define MOST_INPUTS 3
#define MOST_DIMS 3

// The arguments of an event.
typedef struct EventArguments {
    int64_t id;
    int input, dim_count[MOST_INPUTS]; // inputs so far
    double dims[MOST_INPUTS][MOST_DIMS];
    char type[32]; // of the first input
    char collective[32], collective_type[16], ranks[KINETO_NAME];
    double in_count, out_count, group;
} EventArguments;

typedef struct Product {
    const char *type; // in our words
    double batch, m, n, k;
} Product;

typedef struct Launched { // a product of the model, once
    int64_t id;
    int product;
    float microseconds;
} Launched;

// Of one size: kernels wait for the ranks that come later, so that the shortest of them is the exchange itself.
typedef struct Exchange {
    const char *operation, *type;
    double bytes, count, least;
    int ranks;
} Exchange;

typedef struct Trace {
    Arena *arena;
    KernelSums sums;
    bool for_shapes;
    char gpu[64];
    const KinetoEvent *event; // the event at its end, and its arguments
    EventArguments said;
    LIST_OF(Product) products;
    LIST_OF(Launched) launched;
    LIST_OF(Exchange) exchanges;
    int *slots; // launched by id: one more than its place, 0 free
    int slot_count;
    NameIndex *sum_names, *product_names, *exchange_names; // to places in those lists
} Trace;

// ---- Imports measurements other than times from a Kineto trace: matrix products, with shapes from PyTorch's operators
// and times from their kernels, and collectives within a node.

// ---- Products: operators by the names of PyTorch's.

static const char *type_here(const char *type) {
    static const char *const words[][2] = {
        {"c10::BFloat16", "bf16"}, {"c10::Half", "fp16"}, {"c10::Float8_e4m3fn", "fp8"}, {"c10::Float8_e5m2", "fp8"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(type, words[i][0]) == 0) return words[i][1];
    return NULL; // 32 bits may be FP32 or TF32: the operator does not show it
}

static bool product_of(const Trace *trace, Product *product) {
    static const struct {
        const char *name;
        int first, dims; // place of the first factor, dimensions of each
    } operators[] = {{"aten::mm", 0, 2},
                     {"aten::addmm", 1, 2},
                     {"aten::_scaled_mm", 0, 2},
                     {"aten::bmm", 0, 3},
                     {"aten::baddbmm", 1, 3}};
    const EventArguments *said = &trace->said;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        int first = operators[i].first, dims = operators[i].dims;
        if (strcmp(trace->event->name, operators[i].name) != 0) continue;
        const double *a = said->dims[first], *b = said->dims[first + 1];
        if (said->dim_count[first] != dims || said->dim_count[first + 1] != dims) return false;
        *product = (Product){type_here(said->type), dims == 3 ? a[0] : 1, a[dims - 2], b[dims - 1], a[dims - 1]};
        bool whole = product->batch >= 1 && product->m >= 1 && product->n >= 1 && product->k >= 1;
        return product->type && whole && a[dims - 1] == b[dims - 2];
    }
    return false;
}

static int place_of_product(Trace *trace, const Product *product) {
    char key[160];
    snprintf(key, sizeof key, "%s %.17g %.17g %.17g %.17g", product->type, product->batch, product->m, product->n,
             product->k);
    int before = name_index_find(trace->product_names, key);
    if (before >= 0) return before;
    name_index_add(trace->product_names, arena_copy_text(trace->arena, key), trace->products.count);
    LIST_PUSH(trace->arena, &trace->products, *product);
    return trace->products.count - 1;
}

static int *slot_of(Trace *trace, int64_t id) {
    uint64_t hash = (uint64_t)id * 0x9e3779b97f4a7c15u;
    for (int at = (int)(hash % (uint64_t)trace->slot_count);; at = (at + 1) % trace->slot_count) {
        int *slot = &trace->slots[at];
        if (*slot == 0 || trace->launched.items[*slot - 1].id == id) return slot;
    }
}

static void make_room(Trace *trace) {
    if (2 * (trace->launched.count + 1) <= trace->slot_count) return;
    trace->slot_count = trace->slot_count ? 2 * trace->slot_count : 1024;
    trace->slots = ARENA_ARRAY(trace->arena, int, trace->slot_count);
    for (int i = 0; i < trace->launched.count; i++) *slot_of(trace, trace->launched.items[i].id) = i + 1;
}

static void trace_keep_shape(Trace *trace) {
    Product product;
    if (strcmp(trace->event->category, "cpu_op") != 0 || trace->said.id <= 0 || !product_of(trace, &product)) return;
    make_room(trace);
    int *slot = slot_of(trace, trace->said.id);
    if (*slot) return; // an id is of one operator
    Launched launched = {trace->said.id, place_of_product(trace, &product), 0};
    LIST_PUSH(trace->arena, &trace->launched, launched);
    *slot = trace->launched.count;
}

static void trace_add_to_product(Trace *trace) {
    if (trace->said.id <= 0 || trace->slot_count == 0 || strcmp(trace->event->category, "kernel") != 0) return;
    int *slot = slot_of(trace, trace->said.id);
    if (*slot) trace->launched.items[*slot - 1].microseconds += (float)trace->event->duration_us;
}

// ---- Collectives of consecutive ranks: those of one node, as far as a trace shows.

static bool follow_each_other(const char *ranks, int count) {
    char *end;
    long first = strtol(ranks + strspn(ranks, "[ "), &end, 10), last = first;
    for (int i = 1; i < count; i++) {
        if (*end != ',') return false;
        last = strtol(end + 1, &end, 10);
        if (last != first + i) return false;
    }
    return *end == ']' && first % count == 0;
}

static bool exchange_of(const Trace *trace, Exchange *exchange) {
    static const char *const words[][2] = {{"allreduce", "all_reduce"},
                                           {"_allgather_base", "all_gather"},
                                           {"allgather", "all_gather"},
                                           {"_reduce_scatter_base", "reduce_scatter"},
                                           {"reduce_scatter", "reduce_scatter"},
                                           {"all_to_all", "alltoall"},
                                           {"broadcast", "broadcast"}};
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"BFloat16", 2}, {"Half", 2}, {"Float", 4}, {"Double", 8}, {"Byte", 1}, {"Char", 1}, {"Long", 8}};
    const EventArguments *said = &trace->said;
    double width = 0;
    *exchange = (Exchange){.ranks = said->group >= 2 && said->group <= 64 ? (int)said->group : 0, .least = INFINITY};
    for (size_t i = 0; i < sizeof words / sizeof *words && !exchange->operation; i++)
        if (strncmp(said->collective, words[i][0], strlen(words[i][0])) == 0) exchange->operation = words[i][1];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(said->collective_type, types[i].name) == 0) width = types[i].bytes;
    exchange->type = said->collective_type;
    exchange->bytes = width * fmax(said->in_count, said->out_count); // nccl-tests' sizes are of whole arrays
    return exchange->operation && exchange->ranks > 0 && exchange->bytes > 0 &&
           follow_each_other(said->ranks, exchange->ranks);
}

static void trace_add_exchange(Trace *trace) {
    Exchange exchange, *sum = NULL;
    if (!trace->said.collective[0] || !exchange_of(trace, &exchange)) return;
    char key[96];
    snprintf(key, sizeof key, "%s %d %.17g", exchange.operation, exchange.ranks, exchange.bytes);
    int before = name_index_find(trace->exchange_names, key);
    if (before >= 0) sum = &trace->exchanges.items[before];
    if (!sum) {
        name_index_add(trace->exchange_names, arena_copy_text(trace->arena, key), trace->exchanges.count);
        exchange.type = arena_copy_text(trace->arena, exchange.type);
        LIST_PUSH(trace->arena, &trace->exchanges, exchange);
        sum = &trace->exchanges.items[trace->exchanges.count - 1];
    }
    sum->count++;
    sum->least = fmin(sum->least, trace->event->duration_us);
}

// ---- Rows.

static void write_fields(JsonWriter *json, const char *const (*fields)[2], int count) {
    for (int f = 0; f < count; f++) json_key(json, fields[f][0]), json_write_text(json, fields[f][1]);
}

static void end_row(Import *import, JsonWriter *json) {
    json_end_object(json);
    fputc('\n', import->out);
    import->rows++;
}

static int by_product(const void *a, const void *b) {
    const Launched *x = a, *y = b;
    return x->product != y->product ? x->product - y->product : (x->id > y->id) - (x->id < y->id);
}

// The median of a product's times; those of the first steps, which search for kernels, are far longer.
static void trace_write_products(Import *import, Trace *trace) {
    double *seconds = ARENA_ARRAY(import->arena, double, trace->launched.count + 1);
    if (trace->launched.count)
        qsort(trace->launched.items, (size_t)trace->launched.count, sizeof *trace->launched.items, by_product);
    for (int p = 0, next = 0; p < trace->products.count; p++) {
        const Product *product = &trace->products.items[p];
        int count = 0;
        for (; next < trace->launched.count && trace->launched.items[next].product == p; next++)
            if (trace->launched.items[next].microseconds > 0)
                seconds[count++] = (double)trace->launched.items[next].microseconds / 1e6;
        if (count == 0) continue;
        JsonWriter json = json_writer(import->out, 0);
        const char *const fields[][2] = {{"record", "case"},     {"section", "gemm"},     {"operation", "gemm"},
                                         {"status", "measured"}, {"type", product->type}, {"variant", "trace"}};
        json_begin_object(&json);
        write_fields(&json, fields, 6);
        json_key(&json, "batch"), json_write_number(&json, product->batch);
        json_key(&json, "m"), json_write_number(&json, product->m);
        json_key(&json, "n"), json_write_number(&json, product->n);
        json_key(&json, "k"), json_write_number(&json, product->k);
        json_key(&json, "count"), json_write_number(&json, count);
        json_key(&json, "seconds"), json_write_number(&json, quantile(import->arena, seconds, count, 0.5));
        end_row(import, &json);
    }
}

static void trace_write_exchanges(Import *import, const Trace *trace) {
    for (int i = 0; i < trace->exchanges.count; i++) {
        const Exchange *exchange = &trace->exchanges.items[i];
        if (!(exchange->least > 0)) continue;
        JsonWriter json = json_writer(import->out, 0);
        const char *const fields[][2] = {
            {"record", "case"},     {"section", "nccl"},      {"operation", exchange->operation},
            {"status", "measured"}, {"type", exchange->type}, {"variant", "nccl, many processes"}};
        json_begin_object(&json);
        write_fields(&json, fields, 6);
        json_key(&json, "bytes"), json_write_number(&json, exchange->bytes);
        json_key(&json, "ranks"), json_write_number(&json, exchange->ranks);
        json_key(&json, "count"), json_write_number(&json, exchange->count);
        json_key(&json, "seconds"), json_write_number(&json, exchange->least / 1e6);
        end_row(import, &json);
    }
}

// ---- Import of Kineto traces (sim/data/kineto.h), which may be gigabytes: memory holds a row for each kind of kernel,
// and 24 bytes for each matrix product whose shape was recorded (record_shapes=True).
//
// A product is an operator of PyTorch and its kernels, which have the same "External id". Operators may follow
// their kernels in the file, so it is read twice: for the shapes, then for the times.

static KernelSum *sum_of(Trace *trace) {
    char both[KINETO_NAME + 40];
    snprintf(both, sizeof both, "%s\t%s", trace->event->category, trace->event->name);
    int before = name_index_find(trace->sum_names, both);
    if (before >= 0) return &trace->sums.items[before];
    KernelSum fresh = {.name = arena_copy_text(trace->arena, trace->event->name),
                       .category = arena_copy_text(trace->arena, trace->event->category),
                       .least = INFINITY};
    name_index_add(trace->sum_names, arena_copy_text(trace->arena, both), trace->sums.count);
    LIST_PUSH(trace->arena, &trace->sums, fresh);
    return &trace->sums.items[trace->sums.count - 1];
}

// ---- What the reader calls.

static void on_event(void *context) { ((Trace *)context)->said = (EventArguments){.id = 0}; }

static void on_event_end(void *context, const KinetoEvent *event) {
    Trace *trace = context;
    trace->event = event;
    if (trace->for_shapes) {
        trace_keep_shape(trace);
        return;
    }
    if (!kineto_is_on_gpu(event) || !(event->duration_us >= 0)) return;
    KernelSum *sum = sum_of(trace);
    sum->count++;
    sum->microseconds += event->duration_us;
    sum->least = fmin(sum->least, event->duration_us);
    sum->most = fmax(sum->most, event->duration_us);
    trace_add_to_product(trace);
    trace_add_exchange(trace);
}

static void on_list_end(void *context, const char *key, int depth) {
    Trace *trace = context;
    if (depth == 1 && strcmp(key, "Input Dims") == 0) trace->said.input++;
}

static void on_words(void *context, const char *key, int depth, const unsigned char *text, size_t length) {
    EventArguments *said = &((Trace *)context)->said;
    const struct {
        const char *key;
        char *place;
        size_t room;
    } places[] = {{"Collective name", said->collective, sizeof said->collective},
                  {"dtype", said->collective_type, sizeof said->collective_type},
                  {"Process Group Ranks", said->ranks, sizeof said->ranks}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (depth == 0 && strcmp(key, places[i].key) == 0) kineto_keep(places[i].place, places[i].room, text, length);
    // of an operator's factors; the bias precedes them and has their type
    if (depth == 1 && !said->type[0] && strcmp(key, "Input type") == 0)
        kineto_keep(said->type, sizeof said->type, text, length);
}

static void on_device_name(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    if (!trace->gpu[0]) kineto_keep(trace->gpu, sizeof trace->gpu, text, length);
}

static void on_number(void *context, const char *key, int depth, double value) {
    EventArguments *said = &((Trace *)context)->said;
    if (strcmp(key, "External id") == 0 && value > 0 && value < 9e15) said->id = (int64_t)value;
    if (strcmp(key, "In msg nelems") == 0) said->in_count = value;
    if (strcmp(key, "Out msg nelems") == 0) said->out_count = value;
    if (strcmp(key, "Group size") == 0) said->group = value;
    bool dimension = depth == 2 && strcmp(key, "Input Dims") == 0 && said->input < MOST_INPUTS;
    if (!dimension) return;
    int *count = &said->dim_count[said->input];
    if (*count < MOST_DIMS) said->dims[said->input][*count] = value;
    (*count)++;
}

static const KinetoReader reader = {.begin_event = on_event,
                                    .argument_number = on_number,
                                    .argument_text = on_words,
                                    .argument_list_end = on_list_end,
                                    .end_event = on_event_end,
                                    .device_name = on_device_name};

// ---- The rows, most time first.

static int by_time(const void *a, const void *b) {
    const KernelSum *x = a, *y = b;
    if (x->microseconds != y->microseconds) return x->microseconds < y->microseconds ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void write_sums(Import *import, KernelSums *sums) {
    qsort(sums->items, (size_t)sums->count, sizeof *sums->items, by_time);
    for (int i = 0; i < sums->count; i++) {
        const KernelSum *sum = &sums->items[i];
        JsonWriter json = json_writer(import->out, 0);
        json_begin_object(&json);
        static const char *const fixed[][2] = {{"record", "case"}, {"section", "trace"}, {"status", "measured"}};
        for (int f = 0; f < 3; f++) json_key(&json, fixed[f][0]), json_write_text(&json, fixed[f][1]);
        json_key(&json, "operation"), json_write_text(&json, sum->category);
        json_key(&json, "variant"), json_write_text(&json, sum->name);
        json_key(&json, "count"), json_write_number(&json, sum->count);
        json_key(&json, "seconds"), json_write_number(&json, sum->microseconds / sum->count / 1e6);
        json_key(&json, "least_seconds"), json_write_number(&json, sum->least / 1e6);
        json_key(&json, "most_seconds"), json_write_number(&json, sum->most / 1e6);
        json_key(&json, "total_seconds"), json_write_number(&json, sum->microseconds / 1e6);
        json_end_object(&json);
        fputc('\n', import->out);
        import->rows++;
    }
}

bool import_kineto(Import *import) {
    bool nsys = nsys_is_export(import->path);
    FILE *file = nsys ? NULL : file_open_stream(import->path, import->problems);
    if (!nsys && !file) return false;
    Trace *trace = ARENA_NEW(import->arena, Trace);
    *trace = (Trace){.arena = import->arena,
                     .sum_names = name_index_create(import->arena, strcmp),
                     .product_names = name_index_create(import->arena, strcmp),
                     .exchange_names = name_index_create(import->arena, strcmp)};
    trace->for_shapes =
        file && fseek(file, 0, SEEK_SET) == 0; // a pipe is read once, without shapes, which nsys has not
    bool ok = !trace->for_shapes ||
              (kineto_read(file, import->path, &reader, trace, import->problems) && fseek(file, 0, SEEK_SET) == 0);
    trace->for_shapes = false;
    ok = ok && (nsys ? nsys_read(import->path, &reader, trace, import->problems)
                     : kineto_read(file, import->path, &reader, trace, import->problems));
    if (file) fclose(file);
    if (!ok) return false;
    if (trace->sums.count == 0) {
        problem_add(import->problems, (Where){import->path, 0}, "no kernel is in this trace");
        return problem_hint(import->problems, nsys ? "profile with nsys profile --trace=cuda,nvtx"
                                                   : "profile with ProfilerActivity.CUDA and export_chrome_trace");
    }
    if (!import->gpu && trace->gpu[0]) import->gpu = trace->gpu;
    import_header(import, nsys ? "Nsight Systems export" : "Kineto trace");
    write_sums(import, &trace->sums);
    trace_write_products(import, trace);
    trace_write_exchanges(import, trace);
    return true;
}
