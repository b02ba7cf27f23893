#include "sim/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/letters_out.h"

static struct {
    FILE *out;
    const char *path;
    int64_t lines;
    int runs;
} trace;

static bool fail(Problems *problems) {
    problem_add(problems, (Where){trace.path, 0}, "the trace of events cannot be written: %s", strerror(errno));
    problem_is_fault(problems);
    return false;
}

bool trace_open(const char *path, Problems *problems) {
    trace.path = path;
    trace.lines = trace.runs = 0;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    trace.out = descriptor < 0 ? NULL : letters_out_open(descriptor);
    if (!trace.out && descriptor >= 0) close(descriptor);
    if (!trace.out) return fail(problems);
    fputs("run\ttime_s\tevent\tchannel\tactor\tmembers\tcause\tlabel\n", trace.out);
    return true;
}

int trace_begin_run(void) { return trace.out ? ++trace.runs : 0; }

// Labels are the script's.
static void write_label(const char *label) {
    for (; *label; label++) putc((unsigned char)*label < ' ' || *label == 0x7f ? '?' : *label, trace.out);
}

void trace_event(int run, const TraceEvent *event) {
    if (trace.lines++ >= TRACE_LINES_MOST) return;
    fprintf(trace.out, "%d\t%.12f\t%s\t", run, step_seconds(event->time), event->what);
    if (event->channel >= 0)
        fprintf(trace.out, "%d\t%d\t%d\t%s\t", event->channel, event->actor, event->members, event->cause);
    else
        fputs("-\t-\t-\t-\t", trace.out);
    write_label(event->label);
    putc('\n', trace.out);
}

bool trace_close(Problems *problems) {
    if (!trace.out) return true;
    if (trace.lines > TRACE_LINES_MOST)
        fprintf(trace.out, "# and %lld events more\n", (long long)(trace.lines - TRACE_LINES_MOST));
    bool failed = ferror(trace.out);
    failed = fclose(trace.out) != 0 || failed;
    trace.out = NULL;
    return !failed || fail(problems);
}
