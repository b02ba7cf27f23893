// The roofline of a step's operators (Williams, Waterman and Patterson, 2009): arithmetic intensity of each, and its
// distance from the GPU's rates; and the charts of it and of links. Forward of one micro-batch on one GPU, in the
// seconds that the step has for each; launches and waiting between them are in the step, not here.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "scenarios/explain/explain.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

typedef LIST_OF(RooflineRow) RooflineList;

// Operators of the same name and size in equal layers are one row.
static void add_row(Arena *arena, RooflineList *list, const RooflineRow *row) {
    for (int i = 0; i < list->count; i++) {
        RooflineRow *known = &list->items[i];
        if (strcmp(known->name, row->name) != 0 || known->flops != row->flops || known->bytes != row->bytes) continue;
        known->times += row->times;
        known->seconds += row->seconds;
        return;
    }
    LIST_PUSH(arena, list, *row);
}

static void add_block(Arena *arena, const Explanation *now, int block, RooflineList *list) {
    const TrainingSpec *training = now->job.step.lowered->training;
    const Gpu *gpu = now->job.cluster->gpu_of[0];
    int count;
    const OperatorWork *work =
        block_operator_work(arena, block, training, now->job.step.lowered->resolved.micro_batch, gpu, &count);
    for (int i = 0; i < count; i++) {
        const OperatorWork *one = &work[i];
        double peak = gpu_peak(gpu, one->precision), each = one->seconds / one->times;
        RooflineRow row = {.name = one->name,
                           .kind = one->kind,
                           .times = one->times,
                           .flops = one->flops,
                           .bytes = one->bytes,
                           .seconds = one->seconds,
                           .ridge = peak / gpu->memory_bytes_per_second,
                           .of_peak = each > 0 ? one->flops / each / peak : 0,
                           .of_bandwidth = each > 0 ? one->bytes / each / gpu->memory_bytes_per_second : 0};
        if (one->bytes > 0 || one->flops > 0) add_row(arena, list, &row);
    }
}

// Of the blocks that one GPU of the first stage holds; the head is the last stage's.
void list_roofline(Arena *arena, Explanation *now) {
    const Resolved *r = &now->job.step.lowered->resolved;
    RooflineList list = {0};
    int chunks = r->pipeline.chunks, blocks = r->first_block[chunks];
    for (int block = 0; block < blocks; block++) add_block(arena, now, block, &list);
    now->roofline = list.items;
    now->roofline_count = list.count;
}

// ---- Kinds of operators, in words.

// The common name of a kind of operator.
static const char *kind_title(const char *kind) {
    static const char *const titles[][2] = {{"gemm", "matrix product"},
                                            {"norm", "normalization"},
                                            {"elementwise", "element-wise"},
                                            {"lookup", "embedding"},
                                            {"contrast", "loss"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], kind) == 0) return titles[i][1];
    return kind;
}

const char *explain_operator_kind(const Explanation *now, const char *name) {
    for (int i = 0; i < now->roofline_count; i++)
        if (strcmp(now->roofline[i].name, name) == 0) return kind_title(now->roofline[i].kind);
    return "other";
}

// ---- Charts.

// ---- The roofline: memory bandwidth, up to the GPU's peak rate (Williams, Waterman and Patterson, 2009).

#define ROOF_POINTS 3
#define ROOM_ABOVE 1.8  // the roof
#define ROOM_BESIDE 1.6 // the outermost operators
#define TERA 1e12

#define MOST_NAMES 8 // in a legend; of more operators their kinds are named

static bool is_point(const RooflineRow *row) { return row->flops > 0 && row->bytes > 0 && row->seconds > 0; }

typedef struct Points {
    double *x, *y;
} Points;

static Points points_of(Arena *arena, RecordCurve *curve, const char *name, int most) {
    Points points = {ARENA_ARRAY(arena, double, most), ARENA_ARRAY(arena, double, most)};
    *curve = (RecordCurve){.name = name, .x = points.x, .y = points.y, .style = CURVE_POINTS};
    return points;
}

// Operators that compute, each a point after the roof, under its own name or with those of its kind.
static int add_points(Arena *arena, const Explanation *now, RecordCurve *curves) {
    int count = 0, points = 0;
    for (int i = 0; i < now->roofline_count; i++) points += is_point(&now->roofline[i]);
    Points *places = ARENA_ARRAY(arena, Points, points);
    for (int i = 0; i < now->roofline_count; i++) {
        const RooflineRow *row = &now->roofline[i];
        if (!is_point(row)) continue;
        const char *name = points > MOST_NAMES ? explain_operator_kind(now, row->name) : row->name;
        int at = 0;
        while (at < count && (points <= MOST_NAMES || strcmp(curves[at].name, name) != 0)) at++;
        if (at == count) places[count] = points_of(arena, &curves[count], name, points);
        count += at == count;
        int next = curves[at].count++;
        places[at].x[next] = row->flops / row->bytes;
        places[at].y[next] = row->flops * row->times / row->seconds / TERA;
    }
    return count;
}

// From the leftmost operator or a sixteenth of the ridge to the rightmost or four times the ridge.
static RecordCurve roof_of(Arena *arena, const RecordCurve *points, int count, double peak, double bandwidth) {
    double ridge = peak / bandwidth, least = ridge / 16, most = 4 * ridge;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < points[i].count; k++) {
            least = fmin(least, points[i].x[k] / ROOM_BESIDE);
            most = fmax(most, points[i].x[k] * ROOM_BESIDE);
        }
    double *x = ARENA_ARRAY(arena, double, ROOF_POINTS), *y = ARENA_ARRAY(arena, double, ROOF_POINTS);
    x[0] = least, x[1] = ridge, x[2] = most;
    for (int i = 0; i < ROOF_POINTS; i++) y[i] = fmin(peak, x[i] * bandwidth) / TERA;
    return (RecordCurve){.name = "roof", .x = x, .y = y, .count = ROOF_POINTS};
}

const Chart *explain_roofline_chart(Arena *arena, const Explanation *now) {
    RecordCurve *curves = ARENA_ARRAY(arena, RecordCurve, now->roofline_count + 1);
    int count = add_points(arena, now, curves + 1);
    if (count == 0) return NULL;
    const Gpu *gpu = now->job.cluster->gpu_of[0];
    double peak = gpu_peak(gpu, now->job.step.lowered->training->precision), bandwidth = gpu->memory_bytes_per_second;
    curves[0] = roof_of(arena, curves + 1, count, peak, bandwidth);
    Chart *chart = ARENA_NEW(arena, Chart);
    *chart = (Chart){
        .kind = CHART_LINES,
        .lines = {.name = "roofline",
                  .title = arena_printf(arena, "Roofline: operators of a layer on %s (%s TFLOP/s, %s TB/s)", gpu->name,
                                        text_figures(arena, peak / TERA, 3), text_figures(arena, bandwidth / TERA, 3)),
                  .x_title = "FLOP per byte of memory traffic",
                  .y_title = "TFLOP/s",
                  .curves = curves,
                  .curve_count = count + 1,
                  .log_x = true,
                  .log_y = true,
                  .y_max = ROOM_ABOVE * peak / TERA}};
    return chart;
}

// A bar for each operator: how much of the roof over it it reaches.
void explain_roofline_bars(Arena *arena, const Explanation *now, Chart *chart) {
    StackRow *rows = ARENA_ARRAY(arena, StackRow, now->roofline_count);
    int count = 0;
    for (int i = 0; i < now->roofline_count; i++) {
        const RooflineRow *row = &now->roofline[i];
        if (!(row->flops > 0) || !(row->bytes > 0)) continue;
        bool computes = row->flops / row->bytes > row->ridge;
        double share = computes ? row->of_peak : row->of_bandwidth;
        NamedValue *part = ARENA_NEW(arena, NamedValue);
        *part = (NamedValue){computes ? "peak" : "bandwidth",
                             computes ? "under the flat roof: of the peak" : "under the slope: of memory bandwidth",
                             100 * share};
        rows[count++] = (StackRow){row->name,
                                   arena_printf(arena, "%s at %s FLOP/B", text_percent(arena, share),
                                                text_figures(arena, row->flops / row->bytes, 3)),
                                   part, 1};
    }
    stack_chart(arena, rows, count, chart);
    chart->bars.title = "Roofline: how much of its roof each operator reaches";
    chart->bars.x_title = "% of the roof";
    chart->bars.x_max = 100;
}

// ---- Links. "node24.gpu0.nvlink.out" is of node 24, and of the kind "gpu nvlink out"; others are left out.

#define MOST_COLUMNS 64

typedef LIST_OF(const char *) Kinds;

typedef struct Place {
    int node, kind;
    double busy;
} Place;

typedef LIST_OF(Place) Places;

static const char *kind_of(Arena *arena, const char *name) {
    char *kind = arena_copy_text(arena, name), *to = kind;
    for (const char *at = name; *at; at++)
        if (!isdigit((unsigned char)*at)) *to++ = *at == '.' ? ' ' : *at;
    *to = '\0';
    return kind;
}

static int kind_number(Arena *arena, Kinds *kinds, const char *name) {
    for (int i = 0; i < kinds->count; i++)
        if (strcmp(kinds->items[i], name) == 0) return i;
    LIST_PUSH(arena, kinds, name);
    return kinds->count - 1;
}

static Places places_of(Arena *arena, const StepChain *chain, Kinds *kinds) {
    Places places = {0};
    for (int i = 0; i < chain->link_count; i++) {
        const char *name = chain->links[i].name, *dot = strchr(name, '.');
        if (strncmp(name, "node", 4) != 0 || !isdigit((unsigned char)name[4]) || !dot) continue;
        Place place = {(int)strtol(name + 4, NULL, 10), kind_number(arena, kinds, kind_of(arena, dot + 1)),
                       chain->links[i].busy};
        LIST_PUSH(arena, &places, place);
    }
    return places;
}

static int by_node(const void *a, const void *b) {
    const Place *one = a, *other = b;
    return one->node != other->node ? (one->node > other->node) - (one->node < other->node)
                                    : (one->kind > other->kind) - (one->kind < other->kind);
}

static int nodes_of(const Places *places) { // sorted by node
    int count = 0;
    for (int i = 0; i < places->count; i++) count += i == 0 || places->items[i].node != places->items[i - 1].node;
    return count;
}

static const char *column_name(Arena *arena, int from, int to) {
    return from == to ? arena_printf(arena, "%d", from) : arena_printf(arena, "%d–%d", from, to);
}

// Of several nodes in a column, and of several links of a kind, the busiest.
static void fill(Arena *arena, const HeatChart *chart, double *values, const char **columns, const Places *places,
                 int per_column) {
    int number = -1, first = 0;
    for (int i = 0; i < places->count; i++) {
        const Place *place = &places->items[i];
        bool is_new = i == 0 || place->node != places->items[i - 1].node;
        number += is_new;
        int column = number / per_column;
        if (is_new && number % per_column == 0) first = place->node;
        columns[column] = column_name(arena, first, place->node);
        double *value = &values[place->kind * chart->column_count + column];
        *value = isfinite(*value) ? fmax(*value, place->busy) : place->busy;
    }
}

const Chart *explain_links_chart(Arena *arena, const Explanation *now) {
    if (!now->job.step.chain) return NULL;
    Kinds kinds = {0};
    Places places = places_of(arena, now->job.step.chain, &kinds);
    if (places.count == 0) return NULL;
    qsort(places.items, (size_t)places.count, sizeof *places.items, by_node);
    int nodes = nodes_of(&places), per_column = (nodes + MOST_COLUMNS - 1) / MOST_COLUMNS;
    Chart *chart = ARENA_NEW(arena, Chart);
    HeatChart *heat = &chart->heat;
    chart->kind = CHART_HEAT;
    heat->column_count = (nodes + per_column - 1) / per_column;
    double *values = ARENA_ARRAY(arena, double, heat->column_count *kinds.count);
    const char **columns = ARENA_ARRAY(arena, const char *, heat->column_count);
    for (int i = 0; i < heat->column_count * kinds.count; i++) values[i] = NAN;
    fill(arena, heat, values, columns, &places, per_column);
    heat->title = "How busy links are: share of the step that their bytes take of them";
    heat->column_title = "node";
    heat->rows = kinds.items;
    heat->row_count = kinds.count;
    heat->columns = columns;
    heat->values = values;
    return chart;
}
