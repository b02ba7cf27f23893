// Imports measurements other than times from a Kineto trace: matrix products, with shapes from PyTorch's operators
// and times from their kernels, and collectives within a node.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/import_kineto.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"

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

void trace_keep_shape(Trace *trace) {
    Product product;
    if (strcmp(trace->event->category, "cpu_op") != 0 || trace->said.id <= 0 || !product_of(trace, &product)) return;
    make_room(trace);
    int *slot = slot_of(trace, trace->said.id);
    if (*slot) return; // an id is of one operator
    Launched launched = {trace->said.id, place_of_product(trace, &product), 0};
    LIST_PUSH(trace->arena, &trace->launched, launched);
    *slot = trace->launched.count;
}

void trace_add_to_product(Trace *trace) {
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

void trace_add_exchange(Trace *trace) {
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
void trace_write_products(Import *import, Trace *trace) {
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

void trace_write_exchanges(Import *import, const Trace *trace) {
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
