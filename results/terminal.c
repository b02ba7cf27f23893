// What a terminal is given: colour, width and letters that its output has, and the line of progress.
#include "results/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "results/results.h"
#include "sim/base/text.h"
#include "sim/system/letters_out.h"
#include "sim/system/watch.h"

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

// ---- The progress line. The estimated time left is the mean time of this run's points, times the points left.

#define BAR_WIDTH 20
#define CLEAR_LINE "\r\033[K"
#define SECONDS_BETWEEN 0.1
#define SECONDS_BEFORE 0.5 // anything is shown

static bool silent;

void progress_quiet(void) { silent = true; }

static bool can_redraw(void) {
    const char *terminal = getenv("TERM");
    return !silent && terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

Progress progress_begin(int64_t total, int64_t before) {
    return (Progress){can_redraw(), total, before, watch_clock_seconds(), 0};
}

static void time_left(char *text, size_t room, double seconds) {
    long left = (long)(seconds + 0.5);
    if (left >= 3600)
        snprintf(text, room, "%ld:%02ld:%02ld", left / 3600, left / 60 % 60, left % 60);
    else
        snprintf(text, room, "%02ld:%02ld", left / 60, left % 60);
}

static void draw_bar(char bar[BAR_WIDTH + 1], double share) {
    int filled = (int)(BAR_WIDTH * share);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '#' : '-';
    bar[BAR_WIDTH] = '\0';
}

void progress_line(char *line, int room, int64_t total, int64_t before, int64_t done, int64_t failed,
                   double elapsed_s) {
    char bar[BAR_WIDTH + 1], left[32] = "--:--", count[64] = "";
    draw_bar(bar, total > 0 ? (double)done / (double)total : 1);
    double rate = elapsed_s > 0 ? (double)(done - before) / elapsed_s : 0;
    if (rate > 0) time_left(left, sizeof left, (double)(total - done) / rate);
    if (failed > 0) snprintf(count, sizeof count, "  %lld failed", (long long)failed);
    snprintf(line, (size_t)room, "[%s] %lld/%lld  %.3g points/s  ETA %s%s", bar, (long long)done, (long long)total,
             rate, left, count);
}

static int terminal_columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void redraw(const char *line) {
    letters_out_as_is(stderr, CLEAR_LINE);
    fputs(line, stderr);
    fflush(stderr);
}

void progress_show(Progress *progress, int64_t done, int64_t failed) {
    char line[160];
    double now = watch_clock_seconds();
    if (!progress->shown || now - progress->started_s < SECONDS_BEFORE) return;
    if (now - progress->drawn_s < SECONDS_BETWEEN) return;
    progress->drawn_s = now;
    int columns = terminal_columns(), room = columns < (int)sizeof line ? columns : (int)sizeof line;
    progress_line(line, room, progress->total, progress->before, done, failed, now - progress->started_s);
    redraw(line);
}

void progress_end(Progress *progress) {
    if (progress->shown && progress->drawn_s > 0) letters_out_as_is(stderr, CLEAR_LINE);
}

// ---- Of one simulation.

void progress_watch_line(char *line, int room, int width, const char *what, double share, double elapsed_s) {
    char bar[BAR_WIDTH + 1], left[32] = "--:--";
    draw_bar(bar, share);
    if (share > 0) time_left(left, sizeof left, elapsed_s * (1 - share) / share);
    int most = width > 0 && width <= room ? width : room; // one column less: the cursor stays on the line
    snprintf(line, (size_t)most, "[%s] %.0f %% of %s  %s left", bar, 100 * share, what, left);
}

void progress_of_watch(const char *what, double share) {
    // A script simulates many short pieces: what counts is how long the first of them is ago.
    static double began_s, started_s, drawn_s; // 0: nothing was, is under way, is on the screen
    static bool shown;
    char line[160];
    double now = watch_clock_seconds();
    if (share < 0) {
        if (drawn_s > 0) letters_out_as_is(stderr, CLEAR_LINE);
        started_s = drawn_s = 0;
        return;
    }
    if (started_s == 0) {
        started_s = now;
        if (began_s == 0) began_s = now;
        shown = can_redraw();
    }
    if (!shown || now - began_s < SECONDS_BEFORE || now - drawn_s < SECONDS_BETWEEN) return;
    drawn_s = now;
    progress_watch_line(line, sizeof line, terminal_columns(), what, share, now - started_s);
    redraw(line);
}

void progress_written(const char *path) {
    Arena *arena = arena_open();
    if (!silent && isatty(STDERR_FILENO)) fprintf(stderr, "%s is written\n", text_clean(arena, path, true));
    arena_close(arena);
}
