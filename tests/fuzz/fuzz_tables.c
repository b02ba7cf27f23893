// The first byte says which reader; the rest are any bytes as its file: a price book, a config.json, a curve of steps,
// a table of GEMMs, of collectives over TCP, of clusters, of published reliability. Refused with problems that name the
// file, or what can be worked with: a price, a model with parameters, steps, groups.
//     make fuzz FUZZERS=fuzz_tables
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/market.h"
#include "models/workload/model/model.h"
#include "scenarios/plan/plan.h"
#include "sim/base/check.h"
#include "sim/data/csv.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool take_price_book(Arena *arena, const char *path, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_prices(arena, kept_catalogue(), path, problems);
    if (!catalogue) return false;
    const NodeType *node = catalogue_node(catalogue, "dgx-h100");
    for (int terms = 0; terms < TERMS_COUNT; terms++) {
        PriceWish wish = {.terms = (Terms)terms};
        Quote quote = quote_find(arena, catalogue, node, node_gpu(catalogue, node, 0), &wish, NULL);
        CHECK(quote.count == 0 || isnan(quote.gpu_hour) ||
              (quote.least <= quote.gpu_hour && quote.gpu_hour <= quote.most));
        quote_common_providers(arena, catalogue, &node, 1, &wish, &(int){0});
    }
    for (int i = 0; i < catalogue->offer_count; i++)
        CHECK(catalogue->offers[i].gpus > 0 && catalogue->offers[i].provider);
    return true;
}

static bool take_config(Arena *arena, const char *path, Problems *problems) {
    const Model *model = hf_model_read_file(arena, path, NULL, problems);
    if (!model) return false;
    CHECK(model->layers > 0 && model_parameters(model) > 0);
    return true;
}

static bool take_steps(Arena *arena, const char *path, Problems *problems) {
    int before = problems_added(problems);
    BatchLaw law = batch_law_read(arena, path, problems);
    if (problems_added(problems) > before) return false;
    for (int i = 0; i < law.point_count; i++) CHECK(batch_law_steps(&law, law.points[i].batch) > 0);
    return law.point_count > 0;
}

static bool take_gemms(Arena *arena, const char *path, Problems *problems) {
    const GemmData *data = gemm_data_read(arena, kept_catalogue(), path, problems);
    for (int g = 0; data && g < data->group_count; g++) CHECK(data->groups[g].gpu && data->groups[g].count > 0);
    return data;
}

static bool take_clusters(Arena *arena, const char *path, Problems *problems) {
    const Csv *csv = csv_read_file(arena, path, problems);
    for (int row = 0; csv && row < csv->row_count && row < 4; row++)
        describe_cluster(arena, kept_catalogue(), csv, row, problems);
    return csv && problem_count(problems) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static bool (*const takes[])(Arena *, const char *, Problems *) = {take_price_book, take_config, take_steps,
                                                                       take_gemms, take_clusters};
    if (bytes == 0) return 0;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *path = fuzz_file("table", data + 1, bytes - 1);
    bool taken = takes[data[0] % (sizeof takes / sizeof *takes)](arena, path, problems);
    CHECK(taken == (problem_count(problems) == 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(problem_at(problems, i)->where.file);
    arena_close(arena);
    return 0;
}
