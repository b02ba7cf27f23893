// The step as lines of letters, one for each rank: a column is a stretch of time, its letter what most of it went to.
#include <string.h>

#include "results/terminal.h"
#include "results/view.h"
#include "scenarios/trace/trace_answer.h"
#include "sim/base/text.h"

#define MOST_LINES 32 // ranks; all with -v
#define WIDEST 200
#define LEAST_WIDE 20

// A letter's colour is that of the cause that it stands for, where there is one.
static uint32_t color_of(const SpanKind *kind) {
    static const struct {
        char letter;
        const char *cause;
    } causes[] = {{'R', "recompute"}, {'O', "optimizer"}, {'t', "tp"},   {'c', "cp"},     {'e', "ep"},
                  {'d', "dp"},        {'.', "pp"},        {'m', "copy"}, {'h', "launch"}, {'l', "data"}};
    if (kind->letter == 'F') return 0x3b82c4;
    if (kind->letter == 'B') return 0x4fa36b;
    if (kind->letter == 'W') return 0x8fc27a;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].letter == kind->letter) return look_of_cause(causes[i].cause, 0).color;
    return 0x888888;
}

// Of the columns' stretch of time; bins at its ends count as far as they lie in it. -1: no time is told of.
static int kind_in(const SpanSet *set, const SpanLane *lane, SimTime start, SimTime end) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < set->kind_count; k++) {
        double spent = 0;
        for (int64_t b = start / lane->width; b < lane->bin_count && b * lane->width < end; b++) {
            SimTime from = b * lane->width > start ? b * lane->width : start;
            SimTime to = (b + 1) * lane->width < end ? (b + 1) * lane->width : end;
            spent += (double)lane->spent[b * set->kind_count + k] * (double)(to - from) / (double)lane->width;
        }
        if (spent <= most) continue;
        most = spent;
        best = k;
    }
    return best;
}

static void print_lane(FILE *out, const SpanSet *set, const SpanLane *lane, int columns, const Style *style) {
    int last = -1;
    for (int c = 0; c < columns; c++) {
        SimTime start = (SimTime)((double)set->end * c / columns),
                end = (SimTime)((double)set->end * (c + 1) / columns);
        int kind = kind_in(set, lane, start, end);
        if (kind != last) {
            terminal_reset(out, style);
            if (kind >= 0) terminal_color(out, style, color_of(&set->kinds[kind]));
        }
        fputc(kind >= 0 ? set->kinds[kind].letter : ' ', out);
        last = kind;
    }
    terminal_reset(out, style);
    fputs("|\n", out); // the step's end
}

// "F forward 31 %": of the time of all ranks.
static void print_legend(Arena *arena, FILE *out, const SpanSet *set, const Style *style) {
    double all = 0, *spent = ARENA_ARRAY(arena, double, set->kind_count);
    for (int p = 0; p < set->process_count; p++)
        for (int b = 0; b < set->lanes[p].bin_count; b++)
            for (int k = 0; k < set->kind_count; k++) spent[k] += (double)set->lanes[p].spent[b * set->kind_count + k];
    all = (double)set->end * set->process_count;
    for (int k = 0; k < set->kind_count; k++) {
        if (spent[k] == 0) continue;
        terminal_color(out, style, color_of(&set->kinds[k]));
        fprintf(out, "  %c", set->kinds[k].letter);
        terminal_reset(out, style);
        fprintf(out, "  %s, %.1f %%\n", set->kinds[k].name, 100 * spent[k] / all);
    }
}

void trace_print_lines(Arena *arena, FILE *out, const SpanSet *set, const TraceAnswer *answer) {
    const Style *style = &answer->style;
    int width = terminal_width_of(style), name_width = 0;
    int lines = answer->verbose || set->process_count <= MOST_LINES ? set->process_count : MOST_LINES;
    for (int p = 0; p < lines; p++) {
        int length = snprintf(NULL, 0, "rank %d", set->processes[p].id);
        if (length > name_width) name_width = length;
    }
    int columns = (width < WIDEST ? width : WIDEST) - name_width - 3;
    if (columns < LEAST_WIDE) columns = LEAST_WIDE;
    fprintf(out, "\nWhat each rank is at; a column is %s\n", text_time(arena, step_seconds(set->end) / columns));
    for (int p = 0; p < lines; p++) {
        fprintf(out, "%-*s  ", name_width, arena_printf(arena, "rank %d", set->processes[p].id));
        print_lane(out, set, &set->lanes[p], columns, style);
    }
    if (lines < set->process_count) fprintf(out, "and %d ranks more: -v\n", set->process_count - lines);
    print_legend(arena, out, set, style);
}
