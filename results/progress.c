// The progress line. The estimated time left is the mean time of this run's points, times the points left.
#include "results/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/text.h"
#include "sim/system/letters_out.h"
#include "sim/system/watch.h"

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

void progress_show(Progress *progress, int64_t done, int64_t failed) {
    char line[160];
    double now = watch_clock_seconds();
    if (!progress->shown || now - progress->started_s < SECONDS_BEFORE) return;
    if (now - progress->drawn_s < SECONDS_BETWEEN) return;
    progress->drawn_s = now;
    int columns = terminal_columns(), room = columns < (int)sizeof line ? columns : (int)sizeof line;
    progress_line(line, room, progress->total, progress->before, done, failed, now - progress->started_s);
    letters_out_as_is(stderr, CLEAR_LINE);
    fputs(line, stderr);
    fflush(stderr);
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
    letters_out_as_is(stderr, CLEAR_LINE);
    fputs(line, stderr);
    fflush(stderr);
}

void progress_written(const char *path) {
    Arena *arena = arena_open();
    if (!silent && isatty(STDERR_FILENO)) fprintf(stderr, "%s is written\n", text_clean(arena, path, true));
    arena_close(arena);
}
