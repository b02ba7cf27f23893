// Style of the output: colour, width and character set of its destination.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "results/results.h"
#include "results/terminal.h"
#include "sim/system/letters_out.h"

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static const char *preferred = "auto";

void style_prefer(const char *color_mode) { preferred = color_mode; }

// https://no-color.org: set and not empty.
static bool wants_color(FILE *out, const char *mode) {
    if (!mode || strcmp(mode, "auto") == 0) mode = preferred;
    if (strcmp(mode, "always") == 0) return true;
    if (strcmp(mode, "never") == 0) return false;
    const char *terminal = getenv("TERM");
    return isatty(letters_out_descriptor(out)) && !is_set("NO_COLOR") && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

// The first of these that is set decides, as in POSIX.
static bool locale_is_utf8(void) {
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        if (!is_set(names[i])) continue;
        const char *locale = getenv(names[i]);
        return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

static int terminal_width(FILE *out) {
    struct winsize size;
    int descriptor = letters_out_descriptor(out);
    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    int columns = is_set("COLUMNS") ? atoi(getenv("COLUMNS")) : 0;
    return columns >= 40 && columns <= 1000 ? columns : 0;
}

Style style_for(FILE *out, const char *color_mode, bool plain) {
    return (Style){
        .color = !plain && wants_color(out, color_mode),
        .plain = plain,
        .unicode = locale_is_utf8(),
        .width = terminal_width(out),
    };
}

// ---- Colours and blocks. Colours are the nearest of the 256 that nearly every terminal has.

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
