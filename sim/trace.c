#include "sim/trace.h"

#include <stdio.h>

#include "sim/system/file.h"

static struct {
    OutputFile file; // stream NULL: none is open
    int64_t lines;
    int runs;
} trace;

bool trace_open(Arena *arena, const char *path, Problems *problems) {
    trace.lines = trace.runs = 0;
    if (!file_create(arena, path, &trace.file, problems)) return problem_is_fault(problems), false;
    fputs("run\ttime_s\tevent\tchannel\tactor\tmembers\tcause\tlabel\n", trace.file.stream);
    return true;
}

int trace_begin_run(void) { return trace.file.stream ? ++trace.runs : 0; }

// Labels are the script's.
static void write_label(const char *label) {
    for (; *label; label++) putc((unsigned char)*label < ' ' || *label == 0x7f ? '?' : *label, trace.file.stream);
}

void trace_event(int run, const TraceEvent *event) {
    if (trace.lines++ >= TRACE_LINES_MOST) return;
    fprintf(trace.file.stream, "%d\t%.12f\t%s\t", run, step_seconds(event->time), event->what);
    if (event->channel >= 0)
        fprintf(trace.file.stream, "%d\t%d\t%d\t%s\t", event->channel, event->actor, event->members, event->cause);
    else
        fputs("-\t-\t-\t-\t", trace.file.stream);
    write_label(event->label);
    putc('\n', trace.file.stream);
}

bool trace_close(Problems *problems) {
    if (!trace.file.stream) return true;
    if (trace.lines > TRACE_LINES_MOST)
        fprintf(trace.file.stream, "# and %lld events more\n", (long long)(trace.lines - TRACE_LINES_MOST));
    bool is_written = file_commit(&trace.file, problems);
    trace.file.stream = NULL;
    if (!is_written) problem_is_fault(problems);
    return is_written;
}

void trace_abandon(void) { file_abandon(&trace.file); }
