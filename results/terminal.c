// Colours and blocks on a terminal. Colours are the nearest of the 256 that nearly every terminal has.
#include "results/terminal.h"

#include <math.h>
#include <stdlib.h>

#include "sim/system/letters_out.h"

static int cube_step(int level) { return level < 48 ? 0 : level < 115 ? 1 : (level - 35) / 40; }

static int distance(int r, int g, int b, uint32_t color) {
    int dr = r - (int)(color >> 16 & 0xff), dg = g - (int)(color >> 8 & 0xff), db = b - (int)(color & 0xff);
    return dr * dr + dg * dg + db * db;
}

// xterm's palette: a 6 x 6 x 6 cube from 16 on, 24 greys from 232 on.
static int nearest_of_256(uint32_t color) {
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int r = cube_step((int)(color >> 16 & 0xff)), g = cube_step((int)(color >> 8 & 0xff)),
        b = cube_step((int)(color & 0xff));
    int mean = (int)((color >> 16 & 0xff) + (color >> 8 & 0xff) + (color & 0xff)) / 3;
    int gray = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10, gray_level = 8 + 10 * gray;
    bool gray_is_nearer =
        distance(gray_level, gray_level, gray_level, color) < distance(levels[r], levels[g], levels[b], color);
    return gray_is_nearer ? 232 + gray : 16 + 36 * r + 6 * g + b;
}

void terminal_color(FILE *out, const Style *style, uint32_t color) {
    char command[32];
    if (!style->color) return;
    snprintf(command, sizeof command, "\033[38;5;%dm", nearest_of_256(color));
    letters_out_as_is(out, command);
}

void terminal_colors(FILE *out, const Style *style, uint32_t color, uint32_t background) {
    char command[32];
    if (!style->color) return;
    snprintf(command, sizeof command, "\033[38;5;%d;48;5;%dm", nearest_of_256(color), nearest_of_256(background));
    letters_out_as_is(out, command);
}

void terminal_bold(FILE *out, const Style *style) {
    if (style->color) letters_out_as_is(out, "\033[1m");
}

void terminal_reset(FILE *out, const Style *style) {
    if (style->color) letters_out_as_is(out, "\033[0m");
}

int terminal_width_of(const Style *style) { return style->width > 0 ? style->width : 100; }

void terminal_bar(FILE *out, const Style *style, double columns, uint32_t color) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(columns > 0)) return;
    int parts = (int)lround(columns * 8);
    terminal_color(out, style, color);
    int whole = style->unicode ? parts / 8 : (parts + 4) / 8;
    for (int i = 0; i < whole; i++) fputs(style->unicode ? "█" : "#", out);
    if (style->unicode) fputs(eighths[parts % 8], out);
    terminal_reset(out, style);
}

void terminal_take(FILE *out) { letters_out_as_is(out, "\033[?1049h\033[?25l"); }
void terminal_clear(FILE *out) { letters_out_as_is(out, "\033[H\033[J"); }

void terminal_give_back(FILE *out) {
    letters_out_as_is(out, "\033[?25h\033[?1049l");
    fflush(out);
}
