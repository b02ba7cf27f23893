// The answer for several simulated configurations: a row each, with the varied parameters and the results.
#include <math.h>
#include <string.h>

#include "results/answer/record_answer.h"
#include "results/view.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define SMALLEST_SHARE 0.005 // of a step in some point, to be worth a column
#define FIRST_ROWS 10        // on the first screen

static bool is_varied(const RecordTelling *telling, const char *name) {
    for (int i = 0; i < telling->varied_count; i++)
        if (same_name(telling->varied[i], name)) return true;
    return false;
}

static bool all_numbers(const Record *record, const char *name) {
    for (int i = 0; i < record->point_count; i++) {
        const RecordParameter *parameter = point_parameter(&record->points[i], name);
        if (parameter && !isfinite(parameter->number)) return false;
    }
    return true;
}

// ---- Tables: columns are made for the record, then cells row by row.

typedef LIST_OF(AnswerColumn) Columns;

static void column(const RecordTelling *telling, Columns *columns, const char *key, const char *title, AnswerUnit unit,
                   int drop) {
    LIST_PUSH(telling->arena, columns, ((AnswerColumn){key, title, unit, drop}));
}

static const char *axis_title(const char *name) { return is_gpu_axis(name) ? "GPUs" : name; }

// The columns of the varied parameters; "point" where nothing varies.
static void key_columns(const RecordTelling *telling, Columns *columns) {
    for (int i = 0; i < telling->varied_count; i++)
        column(telling, columns, NULL, axis_title(telling->varied[i]),
               all_numbers(telling->record, telling->varied[i]) ? AS_NUMBER : AS_TEXT, 0);
    if (telling->varied_count == 0) column(telling, columns, NULL, "point", AS_WHOLE, 0);
}

static AnswerValue parameter_cell(const RecordPoint *point, const char *name) {
    const RecordParameter *parameter = point_parameter(point, name);
    return answer_of_text(parameter && parameter->text ? parameter->text : "");
}

static void key_cells(const RecordTelling *telling, int index) {
    for (int i = 0; i < telling->varied_count; i++)
        answer_cell(telling->answer, parameter_cell(&telling->record->points[index], telling->varied[i]));
    if (telling->varied_count == 0) answer_cell(telling->answer, answer_of(AS_WHOLE, index + 1));
}

// ---- The table of all points, which is its CSV too: every number with a CSV column, and the displayed columns
// between them. A column whose cells are all unknown has no title.

typedef AnswerValue CellOf(const RecordTelling *telling, const RecordPoint *point);

// All in the unit that suits the shortest, so that the eye can compare.
static AnswerValue step_cell(const RecordTelling *telling, const RecordPoint *point) {
    double step = if_ran(point, point->step_p50_s);
    if (!isfinite(step) || !isfinite(telling->shortest_s)) return answer_of(AS_SECONDS, NAN);
    TextUnit unit = text_time_unit(telling->shortest_s);
    return answer_shown(
        AS_SECONDS, step,
        arena_printf(telling->arena, "%s %s", text_figures(telling->arena, step / unit.scale, 4), unit.name));
}

static AnswerValue range_cell(const RecordTelling *telling, const RecordPoint *point) {
    double below = if_ran(point, 1 - point->step_p5_s / point->step_p50_s);
    double above = if_ran(point, point->step_p95_s / point->step_p50_s - 1);
    if (!(above + below > 0)) return answer_of(AS_TEXT, NAN);
    int decimals = above < 0.1;
    return answer_of_text(
        arena_printf(telling->arena, "-%.*f … +%.*f %%", decimals, 100 * below, decimals, 100 * above));
}

static AnswerValue share_cell(const RecordPoint *point, double share) {
    share = if_ran(point, share);
    return answer_of(AS_SHARE, share > 0 ? share : NAN);
}

static bool is_overhead(const RecordPoint *point, int index, double least) {
    return !look_of_cause(point->exposed[index].name, index).is_work && point->exposed[index].value > least;
}

// The two largest causes that are not work, largest first.
static AnswerValue overhead_cell(const RecordTelling *telling, const RecordPoint *point) {
    double whole = sum_of_values(point->exposed, point->exposed_count), least = SMALLEST_SHARE * whole;
    int first = -1, second = -1;
    for (int i = 0; i < point->exposed_count && point->ran && whole > 0; i++) {
        if (!is_overhead(point, i, least)) continue;
        if (first < 0 || point->exposed[i].value > point->exposed[first].value) {
            second = first;
            first = i;
        } else if (second < 0 || point->exposed[i].value > point->exposed[second].value) {
            second = i;
        }
    }
    const char *text = "";
    for (int n = 0; n < 2; n++) {
        int i = n ? second : first;
        if (i >= 0)
            text = arena_printf(telling->arena, "%s%s%s %.0f %%", text, n ? ", " : "",
                                brief_cause(point->exposed[i].name), 100 * point->exposed[i].value / whole);
    }
    return answer_of_text(*text ? text : NULL);
}

static AnswerValue memory_cell(const RecordTelling *telling, const RecordPoint *point) {
    double peak = point->memory_peak_bytes;
    const char *mark = point_fits(point) ? "" : MAY_NOT_FIT;
    if (!(peak > 0)) return answer_of(AS_BYTES, peak);
    return answer_shown(
        AS_BYTES, peak,
        arena_printf(telling->arena, "%s%s", text_bytes_of(telling->arena, peak, point->memory_capacity_bytes), mark));
}

static AnswerValue one_gpu_cell(const RecordTelling *telling, const RecordPoint *point) {
    (void)telling;
    return share_cell(point, point->efficiency_vs_one_gpu);
}

// The displayed form of a column of point_columns; NULL: the number itself, where it is above 0.
typedef struct PeopleColumn {
    const char *key, *title; // title "": the unit of the throughput
    AnswerUnit unit;
    int drop;
    CellOf *cell;
    const char *unless_varied; // hidden if this parameter varies, which has its own column
    double above;              // shown if a point's number is above
} PeopleColumn;

static const PeopleColumn people_columns[] = {
    {"gpus", "GPUs", AS_COUNT, 0, NULL, "gpus", 0},
    {"nodes", "nodes", AS_COUNT, 12, NULL, "nodes", 0},
    {"step_p50_s", "step time", AS_SECONDS, 0, step_cell, NULL, 0},
    {"step_p95_s", NULL, AS_SECONDS, 0, NULL, NULL, 0},
    {"samples_per_s", "", AS_COUNT, 0, NULL, NULL, 0},
    {"tokens_per_s", "", AS_COUNT, 0, NULL, NULL, 0},
    {"scaling_efficiency", "vs 1 GPU", AS_SHARE, 3, one_gpu_cell, NULL, 0},
    {"efficiency_vs_ideal", "vs ideal", AS_SHARE, 11, NULL, NULL, 0},
    {"mfu", "MFU", AS_SHARE, 4, NULL, NULL, 0},
    {"memory_peak_bytes", "mem/GPU", AS_BYTES, 2, memory_cell, NULL, 0},
    {"cost_per_hour", "cost/h", AS_MONEY, 8, NULL, NULL, 0},
    {"cost_per_month", "cost/month", AS_MONEY, 13, NULL, NULL, 0},
    {"cost_per_run", "cost/run", AS_MONEY, 1, NULL, NULL, 0},
    {"days", "run takes", AS_DAYS, 1, NULL, NULL, 0},
    {"energy_kwh", "energy", AS_KWH, 7, NULL, NULL, 0},
    {"tp", "TP", AS_WHOLE, 6, NULL, "tp", 1},
    {"pp", "PP", AS_WHOLE, 6, NULL, "pp", 1},
    {"vpp", "VP", AS_WHOLE, 6, NULL, "vpp", 1},
    {"cp", "CP", AS_WHOLE, 6, NULL, "cp", 1},
    {"ep", "EP", AS_WHOLE, 6, NULL, "ep", 1},
};

static const PeopleColumn *people_column(const char *key) {
    for (int i = 0; i < COUNT_OF(people_columns); i++)
        if (strcmp(people_columns[i].key, key) == 0) return &people_columns[i];
    return NULL;
}

static bool is_known_above(const RecordTelling *telling, int column, double least) {
    for (int i = 0; i < telling->record->point_count; i++)
        if (point_number(&telling->record->points[i], column) > least) return true;
    return false;
}

static bool counts_tokens(const RecordTelling *telling) {
    return strcmp(rate_unit(telling->arena, telling->record), "tokens/s") == 0;
}

// Energy is of interest where a limit to power is what varies.
static const char *people_title(const RecordTelling *telling, const PeopleColumn *people, int index) {
    if (!people || !people->title || !is_known_above(telling, index, people->above)) return NULL;
    if (people->unless_varied && is_varied(telling, people->unless_varied)) return NULL;
    if (strcmp(people->key, "energy_kwh") == 0 && !is_varied(telling, "power_cap")) return NULL;
    if (strcmp(people->key, "samples_per_s") == 0 && counts_tokens(telling)) return NULL;
    return *people->title ? people->title : rate_unit(telling->arena, telling->record);
}

// ---- Names met in any point, in the order first met.

static bool is_fixed_column(const char *name) {
    for (int i = 0; i < POINT_COLUMNS; i++)
        if (strcmp(point_columns[i], name) == 0) return true;
    return false;
}

static double named_value(const NamedValue *values, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0) return values[i].value;
    return NAN;
}

typedef struct Layout {
    Names parameters, causes, classes;
} Layout;

static Layout find_names(const RecordTelling *telling) {
    Layout layout = {0};
    for (int i = 0; i < telling->record->point_count; i++) {
        const RecordPoint *point = &telling->record->points[i];
        for (int k = 0; k < point->parameter_count; k++)
            if (!is_fixed_column(point->parameters[k].name))
                names_add(telling->arena, &layout.parameters, point->parameters[k].name);
        for (int k = 0; k < point->exposed_count; k++)
            names_add(telling->arena, &layout.causes, point->exposed[k].name);
        for (int k = 0; k < point->memory_count; k++) names_add(telling->arena, &layout.classes, point->memory[k].name);
    }
    return layout;
}

static void all_columns(const RecordTelling *telling, const Layout *layout, Columns *columns) {
    Arena *arena = telling->arena;
    for (int i = 0; i < layout->parameters.count; i++)
        column(telling, columns, layout->parameters.items[i], NULL, AS_TEXT, 0);
    for (int i = 0; i < POINT_COLUMNS; i++) {
        const PeopleColumn *people = people_column(point_columns[i]);
        column(telling, columns, point_columns[i], people_title(telling, people, i), people ? people->unit : AS_NUMBER,
               people ? people->drop : 0);
        if (strcmp(point_columns[i], "step_p95_s") == 0) column(telling, columns, NULL, "90 % range", AS_NUMBER, 5);
        if (strcmp(point_columns[i], "hfu") == 0) column(telling, columns, NULL, "overheads", AS_TEXT, 10);
    }
    for (int i = 0; i < layout->causes.count; i++)
        column(telling, columns, arena_printf(arena, "exposed_%s_s", layout->causes.items[i]), NULL, AS_SECONDS, 0);
    for (int i = 0; i < layout->classes.count; i++)
        column(telling, columns, arena_printf(arena, "memory_%s_bytes", layout->classes.items[i]), NULL, AS_BYTES, 0);
    static const char *const last[] = {"currency", "why_not", "smallest_change", "digest"};
    for (int i = 0; i < COUNT_OF(last); i++) column(telling, columns, last[i], NULL, AS_TEXT, 0);
}

static AnswerValue number_cell(const RecordTelling *telling, const RecordPoint *point, int index) {
    const PeopleColumn *people = people_column(point_columns[index]);
    double number = point_number(point, index);
    AnswerValue value =
        people && people->cell ? people->cell(telling, point) : answer_of(people ? people->unit : AS_NUMBER, number);
    value.number = number; // the displayed value may be known of fewer points
    if (people && !value.text && !(number > 0)) value.text = TEXT_UNKNOWN;
    return value;
}

static void all_cells(const RecordTelling *telling, const Layout *layout, const RecordPoint *point) {
    Answer *answer = telling->answer;
    for (int i = 0; i < layout->parameters.count; i++)
        answer_cell(answer, parameter_cell(point, layout->parameters.items[i]));
    for (int i = 0; i < POINT_COLUMNS; i++) {
        answer_cell(answer, number_cell(telling, point, i));
        if (strcmp(point_columns[i], "step_p95_s") == 0) answer_cell(answer, range_cell(telling, point));
        if (strcmp(point_columns[i], "hfu") == 0) answer_cell(answer, overhead_cell(telling, point));
    }
    for (int i = 0; i < layout->causes.count; i++)
        answer_cell(answer, answer_of(AS_SECONDS, if_ran(point, named_value(point->exposed, point->exposed_count,
                                                                            layout->causes.items[i]))));
    for (int i = 0; i < layout->classes.count; i++)
        answer_cell(answer,
                    answer_of(AS_BYTES, named_value(point->memory, point->memory_count, layout->classes.items[i])));
    ANSWER_CELLS(answer, point->currency, point->ran ? "" : point->why_not, point->ran ? "" : point->smallest_change,
                 arena_printf(telling->arena, "%016llx", (unsigned long long)point->digest));
}

// The varied parameters come first in the displayed table, and again under their own names in CSV. With one point the
// table is for CSV alone.
static void add_table(const RecordTelling *telling) {
    Layout layout = find_names(telling);
    Columns columns = {0};
    if (telling->record->point_count == 1) answer_detail(telling->answer, FOR_PROGRAMS);
    key_columns(telling, &columns);
    all_columns(telling, &layout, &columns);
    answer_table(telling->answer, NULL, NULL, columns.items, columns.count);
    answer_main_last(telling->answer);
    for (int i = 0; i < telling->record->point_count; i++)
        if (!point_fits(&telling->record->points[i])) {
            answer_note(telling->answer, MAY_NOT_FIT_NOTE);
            break;
        }
    for (int i = 0; i < telling->record->point_count; i++) {
        key_cells(telling, i);
        all_cells(telling, &layout, &telling->record->points[i]);
    }
    if (telling->record->point_count > FIRST_ROWS + 2) answer_first_rows(telling->answer, FIRST_ROWS);
}

// ---- Tables of the parts of each point: the step's time by cause, the memory by class.

typedef struct Parts {
    const NamedValue *values;
    int count;
    double whole;
} Parts;

typedef Parts PartsOf(const RecordPoint *point);

static Parts time_parts(const RecordPoint *point) {
    return (Parts){point->exposed, point->ran ? point->exposed_count : 0,
                   sum_of_values(point->exposed, point->exposed_count)};
}

static Parts memory_parts(const RecordPoint *point) {
    return (Parts){point->memory, point->memory_count, sum_of_values(point->memory, point->memory_count)};
}

static Names names_worth_a_column(const RecordTelling *telling, PartsOf *parts_of) {
    Names names = {0};
    for (int i = 0; i < telling->record->point_count; i++) {
        Parts parts = parts_of(&telling->record->points[i]);
        for (int k = 0; k < parts.count; k++)
            if (parts.whole > 0 && parts.values[k].value >= SMALLEST_SHARE * parts.whole)
                names_add(telling->arena, &names, parts.values[k].name);
    }
    return names;
}

static void add_parts(const RecordTelling *telling, const char *heading, PartsOf *parts_of, bool are_causes) {
    Names names = names_worth_a_column(telling, parts_of);
    Columns columns = {0};
    if (names.count == 0) return;
    key_columns(telling, &columns);
    for (int k = 0; k < names.count; k++)
        column(telling, &columns, NULL, are_causes ? brief_cause(names.items[k]) : names.items[k],
               are_causes ? AS_SHARE : AS_BYTES, 0);
    answer_table(telling->answer, NULL, heading, columns.items, columns.count);
    for (int i = 0; i < telling->record->point_count; i++) {
        Parts parts = parts_of(&telling->record->points[i]);
        if (parts.count == 0) continue;
        key_cells(telling, i);
        for (int k = 0; k < names.count; k++) {
            double value = named_value(parts.values, parts.count, names.items[k]);
            answer_cell(telling->answer,
                        answer_of(are_causes ? AS_SHARE : AS_BYTES, are_causes ? value / parts.whole : value));
        }
    }
}

// ---- Around the table.

static const char *name_of_point(const RecordTelling *telling, const RecordPoint *point) {
    const char *others = point_label(telling->arena, telling->record, point, "gpus");
    const char *gpus = is_varied(telling, "gpus") ? arena_printf(telling->arena, "%d GPU%s", point->gpu_count,
                                                                 point->gpu_count == 1 ? "" : "s")
                                                  : "";
    const char *name = text_joined(telling->arena, gpus, others);
    return *name ? name : arena_printf(telling->arena, "point %d", (int)(point - telling->record->points) + 1);
}

const char *record_settings(const RecordTelling *telling, const RecordPoint *point) {
    const char *text = "";
    for (int i = 0; i < point->parameter_count; i++)
        if (!is_varied(telling, point->parameters[i].name) && !is_gpu_axis(point->parameters[i].name))
            text = text_joined(telling->arena, text,
                               arena_printf(telling->arena, "%s %s", point->parameters[i].name,
                                            point->parameters[i].text ? point->parameters[i].text : ""));
    return text;
}

static double replica_batch(const RecordPoint *point) { return point->dp > 0 ? point->global_batch / point->dp : 0; }

// What more GPUs give, where GPUs are all that varies.
static void add_scaling(const RecordTelling *telling) {
    const Record *record = telling->record;
    const RecordPoint *least = NULL, *most = NULL;
    if (!is_varied(telling, "gpus") || *point_label_title(telling->arena, record, "gpus")) return;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!isfinite(point_rate(record, point)) || point->gpu_count <= 0) continue;
        if (!least || point->gpu_count < least->gpu_count) least = point;
        if (!most || point->gpu_count > most->gpu_count) most = point;
    }
    if (!least || least->gpu_count == most->gpu_count) return;
    double growth = point_rate(record, most) / point_rate(record, least);
    double linear = (double)most->gpu_count / least->gpu_count;
    bool shares_batch = replica_batch(least) != replica_batch(most) && isfinite(most->efficiency_vs_one_gpu);
    answer_say(telling->answer, "Scaling", "from %s to %s, %s times the throughput: %s of linear%s",
               name_of_point(telling, least), name_of_point(telling, most), text_figures(telling->arena, growth, 3),
               text_percent(telling->arena, growth / linear),
               shares_batch ? " for one batch in all; \"vs 1 GPU\" is against one GPU with that row's batch per GPU"
                            : "");
}

static const char *price_and_time(const RecordTelling *telling, const RecordPoint *point) {
    return arena_printf(telling->arena, "%s: %s, %s", name_of_point(telling, point),
                        text_money(telling->arena, point->cost_per_run, point->currency),
                        text_days(telling->arena, point->days));
}

static void add_best(const RecordTelling *telling) {
    const Record *record = telling->record;
    const RecordPoint *cheapest = NULL, *fastest = NULL;
    int known = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!(if_ran(point, point->cost_per_run) > 0) || !(point->days > 0) || !point_fits(point)) continue;
        known++;
        if (!cheapest || point->cost_per_run < cheapest->cost_per_run) cheapest = point;
        if (!fastest || point->days < fastest->days) fastest = point;
    }
    if (known < 2) return;
    answer_say(telling->answer, "Cheapest", "%s", price_and_time(telling, cheapest));
    answer_say(telling->answer, "Fastest", "%s",
               cheapest == fastest ? "the cheapest" : price_and_time(telling, fastest));
}

#define FAILURES_SHOWN 3 // on the first screen

static void add_failures(const RecordTelling *telling) {
    Answer *answer = telling->answer;
    answer_open(answer, NULL, NULL);
    int failed = 0;
    for (int i = 0; i < telling->record->point_count; i++) {
        const RecordPoint *point = &telling->record->points[i];
        if (point->ran) continue;
        if (failed++ == FAILURES_SHOWN) answer_detail(answer, FOR_VERBOSE);
        answer_say(answer, "Does not run", "%s: %s%s%s", name_of_point(telling, point),
                   point->why_not ? point->why_not : "no reason was recorded",
                   point->smallest_change ? "; what would: " : "",
                   point->smallest_change ? point->smallest_change : "");
    }
    answer_close(answer);
}

void record_points(const RecordTelling *telling) {
    Answer *answer = telling->answer;
    if (telling->record->point_count == 1) {
        answer_open(answer, NULL, NULL);
        add_table(telling);
        answer_close(answer);
        return;
    }
    const char *settings = record_settings(telling, &telling->record->points[0]);
    if (*settings) answer_say(answer, "Settings", "%s", settings);
    add_scaling(telling);
    add_best(telling);
    add_table(telling);
    add_failures(telling);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_parts(telling, "Where the step goes (exposed time, share of the step)", time_parts, true);
    add_parts(telling, "Memory of the fullest GPU", memory_parts, false);
    answer_close(answer);
}
