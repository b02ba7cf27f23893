// Colours and blocks on a terminal.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "results/results.h"

// Nothing is written unless the style has colour.
void terminal_color(FILE *out, const Style *style, uint32_t color);                       // of letters
void terminal_colors(FILE *out, const Style *style, uint32_t color, uint32_t background); // of letters and behind them
void terminal_bold(FILE *out, const Style *style);
void terminal_reset(FILE *out, const Style *style);
// The alternate screen: entered, cleared for a new frame, and left.
void terminal_take(FILE *out);
void terminal_clear(FILE *out);
void terminal_give_back(FILE *out);
int terminal_width_of(const Style *style);

// A bar of `columns` columns; in Unicode it ends in eighths.
void terminal_bar(FILE *out, const Style *style, double columns, uint32_t color);

// ---- One line of progress on standard error, only on a terminal: "[####----] 41/128  12 points/s  ETA 00:38".
typedef struct Progress {
    bool shown;
    int64_t total, before; // points in all, and done before this run
    double started_s, drawn_s;
} Progress;

void progress_quiet(void); // nothing is shown from here on, of points and of the watch
Progress progress_begin(int64_t total, int64_t before);
// Ten times a second at most and not in the first half of one; within the terminal's width.
void progress_show(Progress *progress, int64_t done, int64_t failed);
void progress_end(Progress *progress); // clears the line

// The line itself: for tests. `elapsed_s` is the time this run has taken.
void progress_line(char *line, int room, int64_t total, int64_t before, int64_t done, int64_t failed, double elapsed_s);

// The same for one simulation, as the watch shows it (sim/system/watch.h): "[####----] 41 % of the lives of the job
// 00:38". Nothing for the first half of a second of all of them; a share below 0 clears the line.
void progress_of_watch(const char *what, double share);
void progress_watch_line(char *line, int room, int width, const char *what, double share, double elapsed_s);

// "PATH is written", on a terminal: for files whose names the user did not choose.
void progress_written(const char *path);
