// Headings and notes of tables that commands print themselves.
#include "results/screen.h"

#include "results/terminal.h"
#include "sim/text.h"

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

void screen_note(FILE *out, Arena *arena, const Style *style, const char *text) {
    text = text_clean(arena, text, style->unicode);
    fputs("! ", out);
    if (style->plain)
        fprintf(out, "%s\n", text);
    else
        print_folded(out, style, text, 2);
}

void results_print_old_prices(FILE *out, const DatedPrice *prices, int count, const Style *style) {
    Arena *arena = arena_open();
    const char *text = results_old_prices(arena, prices, count, style->today);
    if (text) screen_note(out, arena, style, text);
    arena_close(arena);
}
