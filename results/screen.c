// What results_print shows: the answer, why it is so, what it rests on.
#include "results/screen.h"

#include <math.h>
#include <string.h>

#include "results/terminal.h"
#include "results/view.h"
#include "sim/text.h"

#define LABEL_WIDTH 13
#define FEW_ASSUMPTIONS 8

const char *screen_join(const Screen *screen, const char *before, const char *next) {
    if (!*before || !*next) return *before ? before : next;
    return arena_printf(screen->arena, "%s · %s", before, next);
}

const char *screen_count(const Screen *screen, double count) {
    return text_count(screen->arena, count, !screen->style->plain);
}

void screen_heading(const Screen *screen, const char *text) {
    fputc('\n', screen->out);
    if (screen->style->plain) fputs("# ", screen->out);
    terminal_bold(screen->out, screen->style);
    fputs(text_clean(screen->arena, text, screen->style->unicode), screen->out);
    terminal_reset(screen->out, screen->style);
    fputc('\n', screen->out);
}

// Lines after the first stand under its text.
static void print_folded(FILE *out, const Style *style, const char *text, int indent) {
    int width = terminal_width_of(style) - indent;
    if (width < 20) width = 20;
    for (bool is_first = true; is_first || *text; is_first = false) {
        const char *next;
        int bytes = text_line(text, width, &next);
        fprintf(out, "%*s%.*s\n", is_first ? 0 : indent, "", bytes, text);
        text = next;
    }
}

void screen_text(const Screen *screen, const char *text) {
    print_folded(screen->out, screen->style, text_clean(screen->arena, text, screen->style->unicode), 0);
}

void screen_line(const Screen *screen, const char *label, const char *text) {
    if (!*text) return;
    text = text_clean(screen->arena, text, screen->style->unicode);
    if (screen->style->plain) {
        fprintf(screen->out, "%s\t%s\n", label, text);
        return;
    }
    fprintf(screen->out, "%-*s ", LABEL_WIDTH, label);
    print_folded(screen->out, screen->style, text, LABEL_WIDTH + 1);
}

// ---- The first line.

static void print_title(const Screen *screen) {
    const Record *record = screen->record;
    const char *title = text_clean(screen->arena, record->title ? record->title : "lockstep", screen->style->unicode);
    if (screen->style->plain) fputs("# ", screen->out);
    terminal_bold(screen->out, screen->style);
    fputs(title, screen->out);
    terminal_reset(screen->out, screen->style);
    if (record->scenario)
        fprintf(screen->out, "  (%s)", text_clean(screen->arena, record->scenario, screen->style->unicode));
    fputs("\n\n", screen->out);
}

// ---- Beside the answer.

static const char *figure_text(const Screen *screen, double value, const char *unit) {
    if (!isfinite(value)) return TEXT_UNKNOWN;
    bool is_share = unit && strcmp(unit, "%") == 0;
    const char *figures = is_share ? text_figures(screen->arena, value, 3) : screen_count(screen, value);
    return unit && *unit ? arena_printf(screen->arena, "%s %s", figures, unit) : figures;
}

static void print_published(const Screen *screen) {
    const Record *record = screen->record;
    if (record->published_count == 0) return;
    screen_heading(screen, "Published against simulated");
    Table *table = table_create(screen->arena);
    table_column(table, "figure", false);
    table_column(table, "published", true);
    table_column(table, "simulated", true);
    table_column(table, "error", true);
    table_column(table, "source", false);
    for (int i = 0; i < record->published_count; i++) {
        const Published *figure = &record->published[i];
        double error = 100 * (figure->simulated / figure->published - 1);
        table_cell(table, "%s", figure->name);
        table_cell(table, "%s", figure_text(screen, figure->published, figure->unit));
        table_cell(table, "%s", figure_text(screen, figure->simulated, figure->unit));
        table_cell(table, "%s", isfinite(error) ? arena_printf(screen->arena, "%+.1f %%", error) : TEXT_UNKNOWN);
        table_cell(table, "%s", figure->source ? figure->source : "");
        table_end_row(table);
    }
    table_print(table, screen->out, screen->style);
}

void screen_note(FILE *out, Arena *arena, const Style *style, const char *text) {
    text = text_clean(arena, text, style->unicode);
    fputs("! ", out);
    if (style->plain)
        fprintf(out, "%s\n", text);
    else
        print_folded(out, style, text, 2);
}

static void print_notes(const Screen *screen) {
    const Record *record = screen->record;
    if (record->note_count == 0) return;
    fputc('\n', screen->out);
    for (int i = 0; i < record->note_count; i++)
        screen_note(screen->out, screen->arena, screen->style, record->notes[i]);
}

// ---- What it rests on.

// The least certain kinds matter most.
static const char *const kinds[] = {"assumed", "fitted", "datasheet", "measured", "stated"};
#define KIND_COUNT ((int)(sizeof kinds / sizeof *kinds))

static int kind_rank(const Assumption *assumption) {
    for (int i = 0; i < KIND_COUNT; i++)
        if (same_name(assumption->kind, kinds[i])) return i;
    return KIND_COUNT;
}

static void add_assumption(const Screen *screen, Table *table, const Assumption *assumption) {
    const char *text = assumption->text ? assumption->text : text_figures(screen->arena, assumption->value, 4);
    table_cell(table, "%s", assumption->name);
    table_cell(table, "%s", text);
    table_cell(table, "%s", assumption->unit ? assumption->unit : "");
    table_cell(table, "%s", assumption->kind ? assumption->kind : "");
    table_cell(table, "%s", assumption->source ? assumption->source : "");
    table_end_row(table);
}

static void print_assumptions(const Screen *screen) {
    const Record *record = screen->record;
    if (record->assumption_count == 0) return;
    screen_heading(screen, "Assumptions");
    Table *table = table_create(screen->arena);
    table_column(table, "name", false);
    table_column(table, "value", true);
    table_column(table, "unit", false);
    table_column(table, "kind", false);
    table_column(table, "source", false);
    int room = screen->verbose || screen->style->plain ? record->assumption_count : FEW_ASSUMPTIONS, shown = 0;
    for (int rank = 0; rank <= KIND_COUNT; rank++)
        for (int i = 0; i < record->assumption_count && shown < room; i++)
            if (kind_rank(&record->assumptions[i]) == rank) {
                add_assumption(screen, table, &record->assumptions[i]);
                shown++;
            }
    table_print(table, screen->out, screen->style);
    int more = record->assumption_count - shown;
    if (more > 0) fprintf(screen->out, "and %d more that %s better known: -v\n", more, more == 1 ? "is" : "are");
}

static void print_digest(const Screen *screen) {
    const Record *record = screen->record;
    fprintf(screen->out, "\ndigest %016llx  seed %llu\n", (unsigned long long)record->digest,
            (unsigned long long)record->seed);
    if (!screen->verbose) return;
    double events = 0, seconds = 0;
    for (int i = 0; i < record->point_count; i++) {
        events += (double)record->points[i].event_count;
        seconds += record->points[i].simulate_seconds;
    }
    fprintf(screen->out, "%s events simulated in %s of CPU time\n", screen_count(screen, events),
            text_time(screen->arena, seconds));
}

void results_print(FILE *out, const Record *record, const Style *style, bool verbose) {
    Screen screen = {out, arena_open(), record, style, verbose, NULL, 0};
    screen.varied = varied_parameters(screen.arena, record, &screen.varied_count);
    print_title(&screen);
    if (record->point_count == 1)
        screen_one_point(&screen, &record->points[0]);
    else if (record->point_count > 1)
        screen_points(&screen);
    for (int i = 0; i < record->table_count; i++) screen_table(&screen, &record->tables[i]);
    print_published(&screen);
    print_notes(&screen);
    screen_old_prices(&screen);
    print_assumptions(&screen);
    if (record->recommendation) {
        fprintf(out, "\n");
        recommendation_print(record->recommendation, out);
    }
    print_digest(&screen);
    arena_close(screen.arena);
}
