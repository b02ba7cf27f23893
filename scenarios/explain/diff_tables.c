// Sentences and tables of a difference.
#include <math.h>
#include <string.h>

#include "scenarios/explain/diff.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/data/answer.h"

// ---- Words.

static const char *signed_time(Arena *arena, double seconds) {
    return arena_printf(arena, "%s%s", seconds > 0 ? "+" : "", text_time(arena, seconds));
}

static double size_of(const DiffPart *part) { return fabs(part->b - part->a); }

#define WORTH_TELLING 1e-3 // of the largest part
#define LEAST_SHARE 1e-9   // of the step: below are ticks of rounded means over ranks

static const char *largest_parts(Arena *arena, const Diff *diff) {
    const char *list = "";
    double least = LEAST_SHARE * diff->a->step_s;
    bool *told = ARENA_ARRAY(arena, bool, diff->time_count);
    for (int n = 0; n < 3; n++) {
        int largest = -1;
        for (int i = 0; i < diff->time_count; i++)
            if (!told[i] && (largest < 0 || size_of(&diff->time[i]) > size_of(&diff->time[largest]))) largest = i;
        if (largest < 0 || size_of(&diff->time[largest]) <= least) break;
        told[largest] = true;
        const DiffPart *part = &diff->time[largest];
        if (n == 0) least = fmax(least, WORTH_TELLING * size_of(part));
        list =
            arena_printf(arena, "%s%s%s %s", list, n ? ", " : "", part->title, signed_time(arena, part->b - part->a));
    }
    return list;
}

// Amounts in two currencies are not compared: neither answer knows the rate between them.
static bool same_currency(const Diff *diff) {
    const char *a = diff->a->currency, *b = diff->b->currency;
    return !*a || !*b || strcmp(a, b) == 0;
}

typedef LIST_OF(const char *) Notes;

static void note(Arena *arena, Notes *notes, const char *text) { LIST_PUSH(arena, notes, text); }

// "1.1 s, 320 ms less than A's 1.42 s (-22.5 %)"
static const char *against(Arena *arena, double a, double b) {
    return arena_printf(arena, "%s, %s %s than A's %s (%s)", text_time(arena, b), text_time(arena, fabs(b - a)),
                        b > a ? "more" : "less", text_time(arena, a), text_percent(arena, (b - a) / a));
}

static void note_steps(Arena *arena, const Diff *diff, Notes *notes) {
    const DiffSide *a = diff->a, *b = diff->b;
    if (a->step_s == b->step_s)
        note(arena, notes, arena_printf(arena, "A step takes %s in both.", text_time(arena, a->step_s)));
    else
        note(arena, notes, arena_printf(arena, "A step of B takes %s.", against(arena, a->step_s, b->step_s)));
    if (isfinite(a->samples) && isfinite(b->samples) && a->samples != b->samples)
        note(arena, notes,
             arena_printf(arena, "Their steps are of %s and %s samples: %s and %s a sample.",
                          text_count(arena, a->samples, true), text_count(arena, b->samples, true),
                          text_time(arena, a->step_s / a->samples), text_time(arena, b->step_s / b->samples)));
}

// What was measured of the very jobs.
static void note_published(Arena *arena, const Diff *diff, Notes *notes) {
    const DiffSide *a = diff->a, *b = diff->b;
    bool both = isfinite(a->published_step_s) && isfinite(b->published_step_s);
    if (both) {
        bool same = strcmp(a->published_source, b->published_source) == 0;
        note(arena, notes,
             arena_printf(arena, "Measured: %s; %s%s%s.", against(arena, a->published_step_s, b->published_step_s),
                          a->published_source, same ? "" : " and ", same ? "" : b->published_source));
        return;
    }
    const DiffSide *sides[] = {a, b};
    for (int s = 0; s < 2; s++)
        if (isfinite(sides[s]->published_step_s))
            note(arena, notes,
                 arena_printf(arena, "Measured of %s alone: %s; %s.", s ? "B" : "A",
                              text_time(arena, sides[s]->published_step_s), sides[s]->published_source));
}

static const char *causes_in(Arena *arena, const DiffSide *side, uint32_t covers, int *count) {
    const char *list = "";
    *count = 0;
    for (int i = 0; i < side->cause_count; i++) {
        const DiffCause *cause = &side->causes[i];
        if (cause->seconds == 0 || !(cause->covers & covers)) continue;
        list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", cause->title);
        ++*count;
    }
    return list;
}

static bool has_as_one_part(const DiffSide *side, uint32_t covers) {
    for (int i = 0; i < side->cause_count; i++)
        if (side->causes[i].covers == covers) return true;
    return false;
}

static void note_merged_causes(Arena *arena, const Diff *diff, Notes *notes) {
    for (int i = 0; i < diff->time_count; i++) {
        const DiffPart *part = &diff->time[i];
        bool is_one_cause = (part->covers & (part->covers - 1)) == 0;
        if (is_one_cause || (part->a == 0 && part->b == 0)) continue;
        bool a = has_as_one_part(diff->a, part->covers), b = has_as_one_part(diff->b, part->covers);
        int count;
        const char *list = causes_in(arena, a ? diff->b : diff->a, part->covers, &count);
        if (a && b)
            note(arena, notes, arena_printf(arena, "%s: of which cause, neither side tells.", part->title));
        else if (count > 1)
            note(arena, notes,
                 arena_printf(arena, "%s: %s does not tell these apart, so they stand as one part: %s.", part->title,
                              a ? "A" : "B", list));
    }
}

// What the program itself may have changed between two answers.
static void note_versions(Arena *arena, const Diff *diff, Notes *notes) {
    const DiffSide *a = diff->a, *b = diff->b;
    if (!a->version || !b->version) return;
    bool same_settings = diff->setting_count == 0 && a->step_s != b->step_s;
    if (strcmp(a->version, b->version) != 0) {
        note(arena, notes,
             arena_printf(arena,
                          "A was simulated by lockstep %s, B by lockstep %s: what the program changed is in the "
                          "difference.",
                          a->version, b->version));
        if (same_settings && a->is_answer && b->is_answer)
            note(arena, notes, "No setting that they tell differs: all of it is the program's, or of files it read.");
        return;
    }
    bool same_command = a->command && b->command && strcmp(a->command, b->command) == 0;
    if (same_command && same_settings)
        note(arena, notes,
             arena_printf(arena,
                          "Both answer the same command, by lockstep %s, and no setting differs: files that it "
                          "read changed between them, or the build of the program.",
                          a->version));
}

static const char *const order_words[] = {
    [DIFF_NOT_ATTRIBUTED] = "No setting has a part: no order of changing them runs all the way.",
    [DIFF_ALL_ORDERS] = "A setting's part is the mean over all orders of changing them (Shapley), each step simulated.",
    [DIFF_POSSIBLE_ORDERS] = "A setting's part is the mean over the orders of changing them whose every step runs.",
    [DIFF_LISTED_ORDER] = "Settings are changed one after the other as listed: they are too many for all orders.",
};

static Notes notes_of(Arena *arena, const Diff *diff) {
    Notes notes = {0};
    note_steps(arena, diff, &notes);
    note_published(arena, diff, &notes);
    const char *parts = diff->time_count > 1 ? largest_parts(arena, diff) : "";
    if (*parts) note(arena, &notes, arena_printf(arena, "Most of it: %s.", parts));
    note_merged_causes(arena, diff, &notes);
    if (!same_currency(diff))
        note(arena, &notes,
             arena_printf(arena, "Money is not compared: A's is in %s, B's in %s.", diff->a->currency,
                          diff->b->currency));
    note_versions(arena, diff, &notes);
    bool simulated = diff->a->study && diff->b->study && diff->setting_count > 0;
    if (simulated) note(arena, &notes, order_words[diff->order]);
    return notes;
}

// ---- Tables.

typedef LIST_OF(RecordCell) Cells;

static void text_cell(Arena *arena, Cells *cells, const char *text) {
    LIST_PUSH(arena, cells, ((RecordCell){.text = text, .number = NAN}));
}

static void number_cell(Arena *arena, Cells *cells, double number) {
    LIST_PUSH(arena, cells, ((RecordCell){.number = number}));
}

static const RecordColumn time_columns[] = {
    {"cause", "time", RECORD_TEXT},         {"a_s", "A", RECORD_SECONDS},
    {"b_s", "B", RECORD_SECONDS},           {"difference_s", "B - A", RECORD_SECONDS},
    {"share", "of A's step", RECORD_SHARE},
};

static Cells time_cells(Arena *arena, const Diff *diff) {
    Cells cells = {0};
    for (int i = 0; i <= diff->time_count; i++) {
        bool is_sum = i == diff->time_count;
        double a = is_sum ? diff->a->step_s : diff->time[i].a, b = is_sum ? diff->b->step_s : diff->time[i].b;
        if (!is_sum && a == 0 && b == 0) continue;
        text_cell(arena, &cells, is_sum ? "Step" : diff->time[i].title);
        number_cell(arena, &cells, a);
        number_cell(arena, &cells, b);
        number_cell(arena, &cells, b - a);
        number_cell(arena, &cells, (b - a) / diff->a->step_s);
    }
    return cells;
}

static const char *currency_of(const Diff *diff) {
    if (*diff->a->currency) return diff->a->currency;
    return *diff->b->currency ? diff->b->currency : "of a currency";
}

typedef struct MoneyTable {
    const RecordColumn *columns;
    int column_count;
    Cells cells;
} MoneyTable;

static void money_row(Arena *arena, MoneyTable *table, const char *what, double money, double joules) {
    text_cell(arena, &table->cells, what);
    for (int c = 1; c < table->column_count; c++)
        number_cell(arena, &table->cells, table->columns[c].name[0] == 'm' ? money : joules / 1000);
}

// Each part's seconds at the mean of both rates, then the effect of the rates: the columns sum to the difference. A
// column needs figures of both sides.
static MoneyTable money_table(Arena *arena, const Diff *diff) {
    const DiffSide *a = diff->a, *b = diff->b;
    DiffRates money = diff_rates(a->step_s, a->cost_per_step, b->step_s, b->cost_per_step),
              energy = diff_rates(a->step_s, a->joules_per_step, b->step_s, b->joules_per_step);
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, 3);
    MoneyTable table = {columns, 0, {0}};
    columns[table.column_count++] = (RecordColumn){"cause", "what a step takes", RECORD_TEXT};
    if (!isnan(money.per_second) && same_currency(diff))
        columns[table.column_count++] =
            (RecordColumn){"money", arena_printf(arena, "money, %s", currency_of(diff)), RECORD_NUMBER};
    if (!isnan(energy.per_second))
        columns[table.column_count++] = (RecordColumn){"energy_kj", "energy, kJ", RECORD_NUMBER};
    if (table.column_count == 1 || a->step_s == b->step_s) return table;
    for (int i = 0; i < diff->time_count; i++) {
        double apart = diff->time[i].b - diff->time[i].a;
        if (fabs(apart) > LEAST_SHARE * a->step_s)
            money_row(arena, &table, diff->time[i].title, apart * money.per_second, apart * energy.per_second);
    }
    money_row(arena, &table, "A second costs or draws otherwise", money.of_rate, energy.of_rate);
    money_row(arena, &table, "Step", b->cost_per_step - a->cost_per_step, b->joules_per_step - a->joules_per_step);
    return table;
}

static const RecordColumn setting_columns[] = {
    {"setting", "setting", RECORD_TEXT},
    {"a", "A", RECORD_TEXT},
    {"b", "B", RECORD_TEXT},
    {"seconds", "makes of B - A", RECORD_SECONDS},
};

// "5.22 USD": without what stands in parentheses, so that both sides have room.
static const char *short_text(Arena *arena, const char *text) {
    const char *open = text ? strstr(text, " (") : NULL, *close = open ? strchr(open, ')') : NULL;
    return close ? arena_printf(arena, "%.*s%s", (int)(open - text), text, close + 1) : text;
}

static Cells setting_cells(Arena *arena, const Diff *diff) {
    Cells cells = {0};
    for (int i = 0; i < diff->setting_count; i++) {
        text_cell(arena, &cells, diff->settings[i].name);
        text_cell(arena, &cells, short_text(arena, diff->settings[i].a));
        text_cell(arena, &cells, short_text(arena, diff->settings[i].b));
        number_cell(arena, &cells, diff->settings[i].seconds);
    }
    return cells;
}

static const RecordColumn other_columns[] = {
    {"what", "", RECORD_TEXT}, {"unit", "unit", RECORD_TEXT},          {"a", "A", RECORD_NUMBER},
    {"b", "B", RECORD_NUMBER}, {"difference", "B - A", RECORD_NUMBER},
};

static void other_row(Arena *arena, Cells *cells, const char *what, const char *unit, double a, double b) {
    if (isnan(a) && isnan(b)) return;
    text_cell(arena, cells, what);
    text_cell(arena, cells, unit);
    number_cell(arena, cells, a);
    number_cell(arena, cells, b);
    number_cell(arena, cells, b - a);
}

#define GIB 1073741824.0

static Cells other_cells(Arena *arena, const Diff *diff) {
    Cells cells = {0};
    const DiffSide *a = diff->a, *b = diff->b;
    const char *currency = currency_of(diff);
    for (int i = 0; i < diff->memory_count; i++)
        if (diff->memory[i].a != 0 || diff->memory[i].b != 0)
            other_row(arena, &cells, arena_printf(arena, "memory: %s", diff->memory[i].title), "GiB",
                      diff->memory[i].a / GIB, diff->memory[i].b / GIB);
    other_row(arena, &cells, "memory at its peak", "GiB", a->memory_bytes / GIB, b->memory_bytes / GIB);
    if (same_currency(diff))
        other_row(arena, &cells, "money", arena_printf(arena, "%s a step", currency), a->cost_per_step,
                  b->cost_per_step);
    other_row(arena, &cells, "power at the wall", "kW", a->power_watts / 1000, b->power_watts / 1000);
    other_row(arena, &cells, "energy", "kJ a step", a->joules_per_step / 1000, b->joules_per_step / 1000);
    other_row(arena, &cells, "time of the run", "days", a->days, b->days);
    if (same_currency(diff)) other_row(arena, &cells, "money of the run", currency, a->cost_per_run, b->cost_per_run);
    other_row(arena, &cells, "energy of the run", "kWh", a->energy_kwh, b->energy_kwh);
    other_row(arena, &cells, "carbon of the run", "kg", a->carbon_kg, b->carbon_kg);
    return cells;
}

static RecordTable table_of(const char *name, const char *title, const RecordColumn *columns, int column_count,
                            Cells cells) {
    return (RecordTable){.name = name,
                         .title = title,
                         .columns = columns,
                         .column_count = column_count,
                         .cells = cells.items,
                         .row_count = cells.count / column_count};
}
enum { TABLES = 4 };

Record diff_record(Arena *arena, const Diff *diff) {
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, TABLES);
    tables[1] = table_of("time", "Where the time differs (mean over ranks; sums to the step)", COLUMNS(time_columns),
                         time_cells(arena, diff));
    tables[0] = table_of("settings", "Settings that differ", COLUMNS(setting_columns), setting_cells(arena, diff));
    MoneyTable money = money_table(arena, diff);
    tables[2] = table_of("money", "Money and energy of the difference: seconds at the mean of both rates",
                         money.columns, money.column_count, money.cells);
    tables[3] = table_of("other", "Memory, money, energy", COLUMNS(other_columns), other_cells(arena, diff));
    Notes notes = notes_of(arena, diff);
    return (Record){.title = "Difference",
                    .tables = tables,
                    .table_count = TABLES,
                    .notes = notes.items,
                    .note_count = notes.count};
}
