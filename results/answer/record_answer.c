#include "results/answer/record_answer.h"

#include <math.h>
#include <string.h>

#include "results/answer/as.h"
#include "results/view.h"
#include "sim/base/list.h"
#include "sim/base/name_index.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define FIRST_ROWS 6  // of a table, on the first screen
#define FIRST_NOTES 2 // likewise, of sentences next to the answer
#define FEW_ASSUMED 4 // named there
#define MOST_TOLD 40  // of old prices

// ---- In one sentence.

static const char *on_gpus(Arena *arena, const RecordPoint *point) {
    if (point->gpu_count < 1) return "";
    return point->gpu_count == 1 ? " on one GPU"
                                 : arena_printf(arena, " on %s GPUs", text_count(arena, point->gpu_count, true));
}

// "10.34 to 44.42 ms": a common unit is printed once.
static const char *time_range(Arena *arena, double low, double high) {
    const char *from = text_time(arena, low), *to = text_time(arena, high), *unit = strchr(from, ' ');
    bool shared = unit && strchr(to, ' ') && strcmp(unit, strchr(to, ' ')) == 0;
    return arena_printf(arena, "%.*s to %s", shared ? (int)(unit - from) : (int)strlen(from), from, to);
}

static const char *lead_of_point(const RecordTelling *telling, const RecordPoint *point, const char *title) {
    Arena *arena = telling->arena;
    if (!point->ran)
        return arena_printf(arena, "%s does not run: %s.", title, point->why_not ? point->why_not : "nobody says why");
    const char *fits = "a step takes", *range = "";
    if (!point_fits(point))
        fits = arena_printf(arena, "memory runs out with a chance of %s; if it fits, a step takes",
                            text_percent(arena, point->chance_to_run_out));
    if (point->step_p95_s > point->step_p5_s)
        range = arena_printf(arena, " (nine times in ten %s)", time_range(arena, point->step_p5_s, point->step_p95_s));
    const char *run =
        isfinite(point->days)
            ? arena_printf(arena, "; the run takes %s%s%s", text_days(arena, point->days),
                           isfinite(point->cost_per_run) ? " and costs " : "",
                           isfinite(point->cost_per_run) ? text_money(arena, point->cost_per_run, point->currency) : "")
            : "";
    return arena_printf(arena, "%s: %s %s%s%s%s.", title, fits, text_time(arena, point->step_p50_s), range,
                        on_gpus(arena, point), run);
}

static const char *lead_of_points(const RecordTelling *telling, const char *title) {
    Arena *arena = telling->arena;
    const Record *record = telling->record;
    const RecordPoint *best = NULL;
    int ran = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        double rate = point_rate(record, point);
        ran += point->ran;
        if (isfinite(rate) && point_fits(point) && (!best || rate > point_rate(record, best))) best = point;
    }
    const char *count = text_count(arena, record->point_count, true);
    const char *text = ran == record->point_count
                           ? arena_printf(arena, "%s: %s points", title, count)
                           : arena_printf(arena, "%s: %s points, of which %s run%s", title, count,
                                          ran ? text_count(arena, ran, true) : "none", ran == 1 ? "s" : "");
    const char *label = best ? point_label(arena, record, best, NULL) : "";
    if (!*label) return arena_printf(arena, "%s.", text);
    return arena_printf(arena, "%s; %s %s the most, at %s = %s.", text,
                        text_count(arena, point_rate(record, best), true), rate_unit(arena, record),
                        point_label_title(arena, record, NULL), label);
}

const char *record_lead(const RecordTelling *telling) {
    const Record *record = telling->record;
    const Recommendation *advice = record->recommendation;
    const char *title = record->title ? record->title : "lockstep";
    if (record->point_count == 1) return lead_of_point(telling, &record->points[0], title);
    if (record->point_count > 1) return lead_of_points(telling, title);
    if (!advice || !advice->chance) return arena_printf(telling->arena, "%s.", title);
    return arena_printf(telling->arena, advice->choice ? "%s: take %s, %s." : "%s: %sno size is recommended, %s.",
                        title, advice->choice ? advice->choice : "", advice->chance);
}

// ---- Tables of its own.

static AnswerUnit unit_of(RecordUnit unit) {
    static const AnswerUnit units[] = {[RECORD_TEXT] = AS_TEXT,
                                       [RECORD_COUNT] = AS_COUNT,
                                       [RECORD_SECONDS] = AS_SECONDS,
                                       [RECORD_SHARE] = AS_SHARE,
                                       [RECORD_NUMBER] = AS_NUMBER};
    return units[unit];
}

// Durations: three significant digits, in the unit of `like`; hours and days from an hour on.
static const char *span_text(Arena *arena, double seconds, double like) {
    static const TextUnit units[] = {{1, "s"}, {60, "min"}, {3600, "h"}, {86400, "d"}};
    int unit = 0;
    if (!isfinite(seconds)) return NULL;
    if (seconds != 0 && fabs(like) < 1) return text_time(arena, seconds);
    while (unit + 1 < COUNT_OF(units) && fabs(like) >= units[unit + 1].scale) unit++;
    double value = seconds / units[unit].scale;
    return arena_printf(arena, fabs(value) < 999.5 ? "%.3g %s" : "%.0f %s", value, units[unit].name);
}

// What follows a ± is in the unit of what comes before it.
static AnswerValue value_of(Arena *arena, const RecordColumn *column, const RecordCell *cell) {
    if (column->unit == RECORD_TEXT) return answer_of_text(cell->text);
    bool is_half = column->title && strncmp(column->title, "±", strlen("±")) == 0;
    double like = is_half && fabs(cell[-1].number) >= 1 ? cell[-1].number : cell->number;
    return answer_shown(unit_of(column->unit), cell->number,
                        column->unit == RECORD_SECONDS ? span_text(arena, cell->number, like) : NULL);
}

static void record_table(Answer *answer, Arena *arena, const RecordTable *table) {
    AnswerColumn *columns = ARENA_ARRAY(arena, AnswerColumn, table->column_count);
    for (int c = 0; c < table->column_count; c++)
        columns[c] = (AnswerColumn){table->columns[c].name, table->title ? table->columns[c].title : NULL,
                                    unit_of(table->columns[c].unit), c > 1 ? c : 0};
    const char *heading = table->title && *table->title ? table->title : NULL;
    answer_table(answer, table->name, heading, columns, table->column_count);
    if (table->note) answer_note(answer, "%s", table->note);
    for (int i = 0; i < table->row_count * table->column_count; i++)
        answer_cell(answer, value_of(arena, &table->columns[i % table->column_count], &table->cells[i]));
}

// Rows of the default output, including a heading of each table after the first. The rest is for -v, except the first
// rows of a table if a few fit.
#define ROOM 10
#define HEADING 3
#define FEW_ROWS 5

void record_tables(Answer *answer, Arena *arena, const RecordTable *tables, int count) {
    int room = ROOM;
    answer_open(answer, NULL, NULL);
    for (int i = 0; i < count; i++) {
        const RecordTable *table = &tables[i];
        int rows = table->row_count, heading = i ? HEADING : 0;
        bool fits = rows + heading <= room, begins = !fits && room - heading > FEW_ROWS;
        answer_detail(answer, fits || begins ? FOR_ALL : FOR_VERBOSE);
        record_table(answer, arena, table);
        if (begins) answer_first_rows(answer, i ? room - heading - 2 : ROOM);
        if (table->title && rows > 0) room = begins ? 0 : fits ? room - rows - heading : room;
    }
    answer_close(answer);
}

// ---- Comparison with published figures.

// "4,000 samples/s"
static const char *record_figure(Arena *arena, double value, const char *unit) {
    if (!isfinite(value)) return NULL;
    bool is_share = unit && strcmp(unit, "%") == 0;
    const char *figures = is_share ? text_figures(arena, value, 3) : text_count(arena, value, true);
    return unit && *unit ? arena_printf(arena, "%s %s", figures, unit) : figures;
}

// Beside a long table of points theirs is for -v.
static void say_published(const RecordTelling *telling) {
    const Record *record = telling->record;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < record->published_count; i++) {
        double error = 100 * (record->published[i].simulated / record->published[i].published - 1);
        least = fmin(least, error);
        most = fmax(most, error);
    }
    if (isfinite(least))
        answer_say(telling->answer, "Published", "%d figures stand against simulated ones: errors of %+.1f to %+.1f %%",
                   record->published_count, least, most);
    answer_detail(telling->answer, FOR_VERBOSE);
}

static void add_published(const RecordTelling *telling) {
    static const AnswerColumn columns[] = {
        {"name", "figure", AS_TEXT, 0},           {"unit", NULL, AS_TEXT, 0},
        {"published", "published", AS_NUMBER, 0}, {"simulated", "simulated", AS_NUMBER, 0},
        {"error", "error", AS_NUMBER, 0},         {"source", "source", AS_TEXT, 1},
    };
    const Record *record = telling->record;
    Arena *arena = telling->arena;
    answer_open(telling->answer, NULL, NULL);
    if (record->point_count > 1 && record->published_count > record->point_count) say_published(telling);
    answer_table(telling->answer, "published", "Published against simulated", columns, COUNT_OF(columns));
    for (int i = 0; i < record->published_count; i++) {
        const Published *figure = &record->published[i];
        double error = figure->simulated / figure->published - 1;
        ANSWER_ROW(
            telling->answer, figure->name, figure->unit,
            answer_shown(AS_NUMBER, figure->published, record_figure(arena, figure->published, figure->unit)),
            answer_shown(AS_NUMBER, figure->simulated, record_figure(arena, figure->simulated, figure->unit)),
            answer_shown(AS_NUMBER, error, isfinite(error) ? arena_printf(arena, "%+.1f %%", 100 * error) : NULL),
            figure->source);
    }
    if (record->published_count > 2 * FIRST_ROWS) answer_first_rows(telling->answer, 2 * FIRST_ROWS - 1);
    answer_close(telling->answer);
}

// ---- Beside the answer.

static const char *day_text(Arena *arena, Date day) {
    if (day.month == 0) return arena_printf(arena, "%d", day.year);
    if (day.day == 0) return arena_printf(arena, "%d-%02d", day.year, day.month);
    return arena_printf(arena, "%d-%02d-%02d", day.year, day.month, day.day);
}

const char *results_doubted_prices(Arena *arena, const DatedPrice *prices, int count) {
    NameIndex *names = name_index_create(arena, strcmp);
    const char *list = NULL;
    for (int i = 0; i < count; i++)
        if (prices[i].doubt && name_index_add(names, prices[i].name, i) < 0)
            list = list ? arena_printf(arena, "%s; %s", list, prices[i].doubt) : prices[i].doubt;
    return list;
}

const char *results_old_prices(Arena *arena, const DatedPrice *prices, int count, Date today) {
    NameIndex *names = name_index_create(arena, strcmp);
    const char *list = "";
    int old = 0;
    for (int i = 0; i < count && today.year > 0; i++) {
        Date date;
        if (name_index_add(names, prices[i].name, i) >= 0) continue;
        if (!prices[i].date || !date_parse(prices[i].date, &date) || !date_is_a_year_before(date, today)) continue;
        if (old++ < MOST_TOLD)
            list = arena_printf(arena, "%s%s%s (%s)", list, *list ? ", " : "", prices[i].name, prices[i].date);
    }
    if (old > MOST_TOLD) list = arena_printf(arena, "%s, and %d more", list, old - MOST_TOLD);
    return old ? arena_printf(arena, "Prices that may be more than a year older than %s: %s", day_text(arena, today),
                              list)
               : NULL;
}

const char *results_whole_terms(Arena *arena, double term_days, double cost, double unused, double days,
                                const char *currency) {
    if (!(term_days > 0) || !isfinite(cost)) return NULL;
    return arena_printf(arena, "Paid for whole terms of %s, used or not: %s; the run's own %s are %s of it",
                        text_days(arena, term_days), text_money(arena, cost, currency), text_days(arena, days),
                        text_money(arena, cost - unused, currency));
}

static const char *old_prices(const RecordTelling *telling) {
    struct {
        DatedPrice *items;
        int count, room;
    } all = {0};
    for (int i = 0; i < telling->record->point_count && telling->today.year > 0; i++)
        for (int k = 0; k < telling->record->points[i].price_count; k++)
            LIST_PUSH(telling->arena, &all, telling->record->points[i].prices[k]);
    return results_old_prices(telling->arena, all.items, all.count, telling->today);
}

void record_texts(Answer *answer, const char *key, const char *const *texts, int count) {
    answer_open_list(answer, key, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    for (int i = 0; i < count; i++) answer_text(answer, NULL, NULL, texts[i]);
    answer_close(answer);
}

void record_without_effect(Answer *answer, Arena *arena, const RecordPoint *points, int count) {
    int idle;
    const char *const *texts = without_effect(arena, points, count, &idle), *joined = "";
    if (idle == 0) return;
    record_texts(answer, "without_effect", texts, idle);
    for (int i = 0; i < idle; i++) joined = arena_printf(arena, "%s%s%s", joined, i ? "; " : "", texts[i]);
    answer_caution(answer, "%s.", joined);
}

// Of several points no one's figures.
static const char *whole_terms(const RecordTelling *telling, const RecordPoint *first) {
    if (telling->record->point_count > 1 && first->term_days > 0)
        return arena_printf(telling->arena, "Paid for whole terms of %s, used or not",
                            text_days(telling->arena, first->term_days));
    return results_whole_terms(telling->arena, first->term_days, if_ran(first, first->cost_per_run), first->unused_cost,
                               first->days, first->currency);
}

static void add_notes(const RecordTelling *telling) {
    const Record *record = telling->record;
    Answer *answer = telling->answer;
    const char *old = old_prices(telling);
    int few = FIRST_NOTES - (record->point_count > 1) - (old != NULL && record->point_count > 1);
    record_texts(answer, "notes", record->notes, record->note_count);
    answer_open(answer, NULL, NULL);
    const RecordPoint *first = record->points; // they are paid alike
    const char *doubted =
        record->point_count ? results_doubted_prices(telling->arena, first->prices, first->price_count) : NULL;
    record_without_effect(answer, telling->arena, record->points, record->point_count);
    const char *terms = record->point_count ? whole_terms(telling, first) : NULL;
    if (terms) answer_caution(answer, "%s", terms);
    if (doubted) answer_caution(answer, "%s", doubted);
    if (old) answer_caution(answer, "%s", old);
    if (few == 0) answer_detail(answer, FOR_VERBOSE);
    for (int i = 0; i < record->note_count; i++) {
        if (i == few) answer_detail(answer, FOR_VERBOSE);
        answer_caution(answer, "%s", record->notes[i]);
    }
    answer_close(answer);
}

// ---- What it rests on: the least certain first.

static const char *const kinds[] = {"assumed", "fitted", "datasheet", "measured", "stated"};

static int kind_rank(const Assumption *assumption) {
    for (int i = 0; i < COUNT_OF(kinds); i++)
        if (same_name(assumption->kind, kinds[i])) return i;
    return COUNT_OF(kinds);
}

static const char *text_of(Arena *arena, const Assumption *assumption) {
    bool is_time = assumption->unit && strcmp(assumption->unit, "s") == 0,
         is_whole = assumption->value == floor(assumption->value);
    if (!assumption->text && is_time) return quantity_text(arena, assumption->value, QUANTITY_TIME);
    const char *text = assumption->text ? assumption->text
                       : is_whole       ? text_count(arena, assumption->value, true)
                                        : text_figures(arena, assumption->value, 4);
    bool says_unit = !assumption->unit || !*assumption->unit || strstr(text, assumption->unit);
    return says_unit ? text : arena_printf(arena, "%s %s", text, assumption->unit);
}

static void add_assumed(const RecordTelling *telling) {
    Arena *arena = telling->arena;
    const char *text = "";
    int named = 0;
    for (int i = 0; i < telling->record->assumption_count && named < FEW_ASSUMED; i++) {
        const Assumption *assumption = &telling->record->assumptions[i];
        if (kind_rank(assumption) != 0) continue;
        text =
            arena_printf(arena, "%s%s%s %s", text, named++ ? "; " : "", assumption->name, text_of(arena, assumption));
    }
    int more = telling->record->assumption_count - named;
    if (named) answer_say(telling->answer, "Assumed", more ? "%s; and %d more" : "%s", text, more);
}

void record_assumptions(Answer *answer, Arena *arena, const Record *record) {
    static const AnswerColumn columns[] = {
        {"name", "assumption", AS_TEXT, 0},       {"value", "value", AS_NUMBER, 0}, {"unit", NULL, AS_TEXT, 0},
        {"source", "source", AS_TEXT, BELOW_ROW}, {"kind", "kind", AS_TEXT, 0},
    };
    answer_table(answer, "assumptions", NULL, columns, COUNT_OF(columns));
    for (int rank = 0; rank <= COUNT_OF(kinds); rank++)
        for (int i = 0; i < record->assumption_count; i++) {
            const Assumption *assumption = &record->assumptions[i];
            if (kind_rank(assumption) != rank) continue;
            const char *text = text_of(arena, assumption);
            ANSWER_ROW(answer, assumption->name,
                       isfinite(assumption->value) ? answer_shown(AS_NUMBER, assumption->value, text)
                                                   : answer_of_text(assumption->text),
                       assumption->unit, assumption->source, assumption->kind);
        }
}

// How long it took is no part of a page: one question has one page.
static void add_engine(const RecordTelling *telling, bool timed) {
    const Record *record = telling->record;
    double events = 0, seconds = 0;
    for (int i = 0; i < record->point_count; i++) {
        events += (double)record->points[i].event_count;
        seconds += record->points[i].simulate_seconds;
    }
    answer_say(telling->answer, NULL, "digest %016llx  seed %llu", (unsigned long long)record->digest,
               (unsigned long long)record->seed);
    if (timed && seconds > 0)
        answer_say(telling->answer, NULL, "%s events simulated in %s of CPU time",
                   text_count(telling->arena, events, true), text_time(telling->arena, seconds));
}

// ---- All of it.

static void add_objects(const RecordTelling *telling) {
    Answer *answer = telling->answer;
    answer_open_list(answer, "points", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    for (int i = 0; i < telling->record->point_count; i++) {
        answer_open(answer, NULL, NULL);
        record_point_members(telling, &telling->record->points[i]);
        answer_text(answer, "digest", NULL,
                    arena_printf(telling->arena, "%016llx", (unsigned long long)telling->record->points[i].digest));
        answer_close(answer);
    }
    answer_close(answer);
}

static void add_head(const RecordTelling *telling) {
    const Record *record = telling->record;
    Answer *answer = telling->answer;
    answer_title(answer, record->title);
    answer_text(answer, "scenario", NULL, record->scenario);
    answer_seed(answer, record->seed);
    answer_text(answer, "digest", NULL, arena_printf(telling->arena, "%016llx", (unsigned long long)record->digest));
    answer_say(answer, NULL, "%s", record_lead(telling));
}

static void add_recommendation(Answer *answer, const Recommendation *advice) {
    if (!advice) return;
    if (advice->weakest) answer_say(answer, "Weakest", "%s", advice->weakest);
    if (advice->measure) answer_say(answer, "Measure", "%s", advice->measure);
    answer_recommend(answer, advice);
}

static double shortest_step(const Record *record) {
    double shortest = INFINITY;
    for (int i = 0; i < record->point_count; i++) {
        double step = if_ran(&record->points[i], record->points[i].step_p50_s);
        if (step > 0) shortest = fmin(shortest, step);
    }
    return shortest;
}

RecordTelling record_telling(Arena *arena, Answer *answer, const Record *record, Date today) {
    RecordTelling telling = {.arena = arena, .answer = answer, .record = record, .today = today};
    if (record->point_count > 0) telling.varied = varied_parameters(arena, record, &telling.varied_count);
    if (record->point_count > 0) answer_currency(answer, record->points[0].currency);
    telling.shortest_s = shortest_step(record);
    return telling;
}

static void add_points(const RecordTelling *telling) {
    const Record *record = telling->record;
    if (record->point_count == 1) record_one_point(telling, &record->points[0]);
    if (record->point_count > 0) record_points(telling);
}

static void add_rest(const RecordTelling *telling) {
    const Record *record = telling->record;
    add_notes(telling);
    if (record->expects) record_texts(telling->answer, "unmet", record->unmet, record->unmet_count);
    add_recommendation(telling->answer, record->recommendation);
    add_assumed(telling);
}

static void add_ground(const RecordTelling *telling, bool timed) {
    answer_open(telling->answer, NULL, NULL); // what follows it is for all again
    answer_open_on_pages(telling->answer, "What it rests on", FOR_VERBOSE);
    record_assumptions(telling->answer, telling->arena, telling->record);
    add_engine(telling, timed);
    answer_close(telling->answer);
    answer_close(telling->answer);
}

void record_answer(Answer *answer, Arena *arena, const Record *record, Date today, bool objects) {
    RecordTelling telling = record_telling(arena, answer, record, today);
    add_head(&telling);
    add_points(&telling);
    if (objects) add_objects(&telling);
    record_tables(answer, arena, record->tables, record->table_count);
    add_published(&telling);
    add_rest(&telling);
    add_ground(&telling, true);
}

void record_found(const RecordTelling *telling) {
    add_points(telling);
    record_tables(telling->answer, telling->arena, telling->record->tables, telling->record->table_count);
    add_rest(telling);
}

void record_rests_on(const RecordTelling *telling) {
    answer_open_on_pages(telling->answer, "Held against what others measured", FOR_ALL);
    add_published(telling);
    answer_close(telling->answer);
    add_ground(telling, false);
}

// ---- In a form.

void record_write(FILE *out, const Record *record, AnswerForm form, const Style *style, bool verbose) {
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, NULL);
    bool objects = form == ANSWER_JSON || form == ANSWER_PLAIN || style->plain;
    record_answer(answer, arena, record, (Date){0}, objects);
    answer_give(arena, out, answer, form, style, verbose);
    arena_close(arena);
}
