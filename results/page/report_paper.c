// SVG primitives: text, lines, bars, axes. Colours are classes; CSS defines their light and dark values.
#include <math.h>
#include <string.h>

#include "results/page/report_page.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

// ---- Colours.

#define LIGHT_PAPER 0xffffffu
#define DARK_PAPER 0x171b21u
#define GRAPHICS_CONTRAST 3.0 // WCAG 2.1, 1.4.11: of graphical objects

// Of a channel of sRGB (IEC 61966-2-1).
static double linear_light(uint32_t channel) {
    double share = channel / 255.0;
    return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

// Relative luminance, WCAG 2.
static double luminance(uint32_t color) {
    return 0.2126 * linear_light(color >> 16 & 0xff) + 0.7152 * linear_light(color >> 8 & 0xff) +
           0.0722 * linear_light(color & 0xff);
}

double color_contrast(uint32_t a, uint32_t b) {
    double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
    return one > other ? one / other : other / one;
}

static uint32_t mix(uint32_t color, uint32_t with, double share) {
    uint32_t mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double from = color >> shift & 0xff, to = with >> shift & 0xff;
        mixed |= (uint32_t)lround(from + (to - from) * share) << shift;
    }
    return mixed;
}

// The colour, moved towards black or white until it can be seen on this paper.
static uint32_t visible_on(uint32_t color, uint32_t paper) {
    uint32_t away = luminance(paper) > 0.5 ? 0x000000u : 0xffffffu, moved = color;
    for (int step = 1; step <= 20 && color_contrast(moved, paper) < GRAPHICS_CONTRAST; step++)
        moved = mix(color, away, step / 20.0);
    return moved;
}

static uint32_t ink_on(uint32_t fill) {
    return color_contrast(fill, 0x000000u) > color_contrast(fill, 0xffffffu) ? 0x000000u : 0xffffffu;
}

int palette_place(Palette *palette, uint32_t color) {
    for (int i = 0; i < palette->colors.count; i++)
        if (palette->colors.items[i] == color) return i;
    LIST_PUSH(palette->arena, &palette->colors, color);
    return palette->colors.count - 1;
}

// A pale fill keeps its hue and gets an edge that shows where it ends.
static void write_colors(FILE *out, const Palette *palette, uint32_t paper) {
    bool is_dark = luminance(paper) < 0.5;
    for (int i = 0; i < palette->colors.count; i++) {
        uint32_t color = palette->colors.items[i], seen = visible_on(color, paper), fill = is_dark ? seen : color;
        fprintf(out, ".f%d{fill:#%06x;stroke:#%06x}.s%d{stroke:#%06x}.t%d{fill:#%06x}\n", i, (unsigned)fill,
                (unsigned)seen, i, (unsigned)seen, i, (unsigned)ink_on(fill));
        // Where bars are narrow there is no room for an edge.
        if (fill != seen) fprintf(out, ".dense .f%d,.zooms .key .f%d{fill:#%06x}\n", i, i, (unsigned)seen);
        if (ink_on(fill) != ink_on(seen)) fprintf(out, ".dense .t%d{fill:#%06x}\n", i, (unsigned)ink_on(seen));
    }
}

void palette_write(FILE *out, const Palette *palette) {
    write_colors(out, palette, LIGHT_PAPER);
    fprintf(out, "@media screen and (prefers-color-scheme:dark){\n");
    write_colors(out, palette, DARK_PAPER);
    fprintf(out, "}\n");
}

// ---- Text.

void html_text(FILE *out, Arena *arena, const char *text) {
    const char *clean = text_clean(arena, text, true);
    for (const char *at = clean; *at; at++) {
        if (*at == ' ' && at[1] == '%') { // which no line begins with
            fputs("&#160;", out);
            continue;
        }
        switch (*at) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*at, out);
        }
    }
}

double paper_text_width(const char *text) { return PAPER_LETTER * text_width(text); }

static const char *const anchor_classes[] = {"", " m", " e"};

void paper_text(const Paper *paper, double x, double y, Anchor anchor, const char *style, const char *text) {
    if (!text || !*text) return;
    fprintf(paper->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s%s\">", x, y, style, anchor_classes[anchor]);
    html_text(paper->out, paper->arena, text);
    fputs("</text>", paper->out);
}

// So much of the text as fits before an ellipsis; words are not kept whole.
static const char *cut(Arena *arena, const char *text, double room) {
    text = text_clean(arena, text, true);
    if (paper_text_width(text) <= room) return text;
    size_t bytes = strlen(text);
    char *shorter = arena_copy_text(arena, text);
    while (bytes > 0 && paper_text_width(shorter) + PAPER_LETTER > room) {
        do bytes--;
        while (bytes > 0 && ((unsigned char)shorter[bytes] & 0xc0) == 0x80);
        shorter[bytes] = '\0';
    }
    return arena_printf(arena, "%s…", shorter);
}

void paper_text_in(const Paper *paper, double x, double y, double room, Anchor anchor, const char *style,
                   const char *text) {
    const char *shown = cut(paper->arena, text, room);
    if (strcmp(shown, text_clean(paper->arena, text, true)) == 0) {
        paper_text(paper, x, y, anchor, style, text);
        return;
    }
    fputs("<g><title>", paper->out);
    html_text(paper->out, paper->arena, text);
    fputs("</title>", paper->out);
    paper_text(paper, x, y, anchor, style, shown);
    fputs("</g>", paper->out);
}

// ---- Shapes.

void paper_open(const Paper *paper, const char *label) {
    fprintf(paper->out, "<svg class=\"%s\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"",
            paper->narrow ? "narrow" : "wide", paper->width, ceil(paper->height));
    html_text(paper->out, paper->arena, label);
    fputs("\">\n", paper->out);
}

void paper_close(const Paper *paper) { fputs("</svg>\n", paper->out); }

void paper_line(const Paper *paper, double x1, double y1, double x2, double y2, const char *style) {
    fprintf(paper->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>", style, x1, y1, x2, y2);
}

void paper_bar(const Paper *paper, double x, double y, double width, double height, int color, int series,
               const char *title) {
    fprintf(paper->out, "<rect class=\"f%d\" data-s=\"%d\" x=\"%.2f\" width=\"%.2f\" height=\"%g\"", color, series, x,
            fmax(0, width), height);
    if (y != 0) fprintf(paper->out, " y=\"%.1f\"", y);
    if (!title || !*title) {
        fputs("/>", paper->out);
        return;
    }
    fputs("><title>", paper->out);
    html_text(paper->out, paper->arena, title);
    fputs("</title></rect>", paper->out);
}

// ---- Axes.

static double place(double value, double from, double to, bool is_log) {
    if (is_log) return log(value / from) / log(to / from);
    return to > from ? (value - from) / (to - from) : 0;
}

double frame_x(const Frame *frame, double x) {
    return frame->left + frame->width * place(x, frame->x_from, frame->x_to, frame->log_x);
}

double frame_y(const Frame *frame, double y) {
    return frame->top + frame->height * (1 - place(y, frame->y_from, frame->y_to, frame->log_y));
}

double nice_step(double span, int most) {
    if (!(span > 0) || most < 1) return 1;
    double power = pow(10, floor(log10(span / most)));
    static const double steps[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (span / (steps[i] * power) <= most + 1e-9) return steps[i] * power;
    return 10 * power;
}

static const char *tick_text(Arena *arena, double value) {
    static const TextUnit units[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
    int best = 0;
    for (int i = 1; i < 6; i++)
        if (fabs(value) >= units[i].scale * 0.99999 && fabs(value) >= 10000) best = i;
    return arena_printf(arena, "%.4g%s", value / units[best].scale + 0.0, units[best].name); // no "-0"
}

typedef struct Ticks {
    double items[32];
    int count;
} Ticks;

static void add_tick(Ticks *ticks, double value) {
    if (ticks->count < 32) ticks->items[ticks->count++] = value;
}

// Steps of a linear axis; of a logarithmic one powers of ten, with 2 and 5 between where there are few.
static Ticks ticks_between(double from, double to, bool is_log, int most) {
    Ticks ticks = {.count = 0};
    if (!is_log) {
        double step = nice_step(to - from, most);
        for (double n = ceil(from / step - 1e-9); n * step <= to + 1e-9 * (to - from) && ticks.count < 32; n++)
            add_tick(&ticks, n * step + 0.0);
        return ticks;
    }
    double decades = log10(to / from);
    int skip = (int)ceil(decades / most);
    for (int power = (int)floor(log10(from)); power <= (int)ceil(log10(to)); power++)
        for (int i = 0; i < 3; i++) {
            static const double within[] = {1, 2, 5};
            double value = within[i] * pow(10, power);
            bool is_shown = i == 0 ? skip <= 1 || power % skip == 0 : decades * 3 <= most;
            if (is_shown && value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9)) add_tick(&ticks, value);
        }
    return ticks;
}

void frame_draw_y(const Paper *paper, const Frame *frame, const char *title) {
    Ticks ticks = ticks_between(frame->y_from, frame->y_to, frame->log_y, frame->height < 150 ? 4 : 6);
    for (int i = 0; i < ticks.count; i++) {
        double y = frame_y(frame, ticks.items[i]);
        paper_line(paper, frame->left, y, frame->left + frame->width, y, "grid");
        paper_text(paper, frame->left - 8, y + 4.5, ANCHOR_END, "tick", tick_text(paper->arena, ticks.items[i]));
    }
    paper_text(paper, 0, frame->top - 12, ANCHOR_START, "axis", title);
}

void frame_draw_x(const Paper *paper, const Frame *frame, const char *title) {
    double bottom = frame->top + frame->height;
    Ticks ticks = ticks_between(frame->x_from, frame->x_to, frame->log_x, (int)fmax(2, frame->width / 80));
    for (int i = 0; i < ticks.count; i++) {
        double x = frame_x(frame, ticks.items[i]);
        paper_line(paper, x, bottom, x, bottom + 5, "rule");
        paper_text(paper, x, bottom + 20, ANCHOR_MIDDLE, "tick", tick_text(paper->arena, ticks.items[i]));
    }
    paper_line(paper, frame->left, bottom, frame->left + frame->width, bottom, "rule");
    paper_text(paper, frame->left + frame->width, bottom + 40, ANCHOR_END, "axis", title);
}
