// The line of progress. The time left is what the points of this run took, times those that are left.
#include "results/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 20
#define SECONDS_BETWEEN 0.1

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Progress progress_begin(int64_t total, int64_t before, bool quiet) {
    const char *terminal = getenv("TERM");
    bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
    return (Progress){!quiet && !dumb && isatty(STDERR_FILENO), total, before, now_s(), 0};
}

static void time_left(char *text, size_t room, double seconds) {
    long left = (long)(seconds + 0.5);
    if (left >= 3600)
        snprintf(text, room, "%ld:%02ld:%02ld", left / 3600, left / 60 % 60, left % 60);
    else
        snprintf(text, room, "%02ld:%02ld", left / 60, left % 60);
}

void progress_line(char *line, int room, int64_t total, int64_t before, int64_t done, int64_t failed,
                   double elapsed_s) {
    char bar[BAR_WIDTH + 1], left[32] = "--:--", count[64] = "";
    int filled = total > 0 ? (int)(BAR_WIDTH * done / total) : BAR_WIDTH;
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '#' : '-';
    bar[BAR_WIDTH] = '\0';
    double rate = elapsed_s > 0 ? (double)(done - before) / elapsed_s : 0;
    if (rate > 0) time_left(left, sizeof left, (double)(total - done) / rate);
    if (failed > 0) snprintf(count, sizeof count, "  %lld failed", (long long)failed);
    snprintf(line, (size_t)room, "[%s] %lld/%lld  %.3g points/s  ETA %s%s", bar, (long long)done, (long long)total,
             rate, left, count);
}

void progress_show(Progress *progress, int64_t done, int64_t failed) {
    char line[160];
    double now = now_s();
    if (!progress->shown || now - progress->drawn_s < SECONDS_BETWEEN) return;
    progress->drawn_s = now;
    progress_line(line, sizeof line, progress->total, progress->before, done, failed, now - progress->started_s);
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_end(Progress *progress) {
    if (progress->shown && progress->drawn_s > 0) fprintf(stderr, "\r\033[K");
}
