#include "results/trace_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "results/trace_buffer.h"
#include "sim/check.h"
#include "sim/text.h"

// ---- Bytes.

static void make_room(TraceBuffer *buffer, size_t count) {
    size_t room = buffer->room ? buffer->room : 65536;
    while (room < buffer->count + count) room *= 2;
    if (room == buffer->room) return;
    unsigned char *wider = realloc(buffer->bytes, room);
    if (!wider) out_of_memory(room);
    buffer->bytes = wider;
    buffer->room = room;
}

void buffer_add(TraceBuffer *buffer, const void *bytes, size_t count) {
    if (buffer->full || count > buffer->most - buffer->count) {
        buffer->full = true;
        return;
    }
    make_room(buffer, count);
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

void buffer_text(TraceBuffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

void buffer_integer(TraceBuffer *buffer, int64_t number) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) *--at = '-';
    buffer_add(buffer, at, (size_t)(digits + sizeof digits - at));
}

void buffer_close(TraceBuffer *buffer) { free(buffer->bytes); }

// ---- Forms.

static const struct {
    const char *ending;
    int bytes_per_span; // the least that one takes
    void (*write)(Arena *arena, TraceBuffer *out, const SpanSet *set, const TraceCut *cut);
} forms[TRACE_FORMS] = {
    [TRACE_CHROME] = {".json", 100, chrome_write},
    [TRACE_PERFETTO] = {".pftrace", 50, perfetto_write},
};

static bool ends_in(const char *path, size_t bytes, const char *ending) {
    size_t length = strlen(ending);
    return bytes > length && strncmp(path + bytes - length, ending, length) == 0;
}

bool trace_form_of(const char *path, TraceForm *form, bool *zipped) {
    size_t bytes = strlen(path);
    *zipped = ends_in(path, bytes, ".gz");
    if (*zipped) bytes -= 3;
    for (int f = 0; f < TRACE_FORMS; f++) {
        if (!ends_in(path, bytes, forms[f].ending)) continue;
        *form = (TraceForm)f;
        return true;
    }
    return false;
}

int64_t trace_span_room(TraceForm form, double bytes) {
    double room = bytes / forms[form].bytes_per_span;
    return room < 1000 ? 1000 : room > 1e7 ? 10000000 : (int64_t)room;
}

// ---- What goes in.

static int by_meeting(const void *a, const void *b) {
    const Span *one = *(const Span *const *)a, *other = *(const Span *const *)b;
    if (one->meeting != other->meeting) return one->meeting < other->meeting ? -1 : 1;
    return (one->flow > other->flow) - (one->flow < other->flow);
}

const TraceArrow *trace_arrows(Arena *arena, const SpanSet *set, const TraceCut *cut, int64_t *count) {
    const Span **ends = ARENA_ARRAY(arena, const Span *, set->span_count);
    int64_t end_count = 0;
    for (int64_t i = 0; i < set->span_count; i++) {
        const Span *span = &set->spans[i];
        // A slice that lasts no nanosecond after both came holds no end of an arrow.
        bool shows = trace_ns(span->begun) < trace_ns(span->end);
        if (span->flow != SPAN_FLOW_NONE && span_is_in(span, cut) && shows) ends[end_count++] = span;
    }
    qsort(ends, (size_t)end_count, sizeof *ends, by_meeting);
    TraceArrow *arrows = ARENA_ARRAY(arena, TraceArrow, end_count / 2 + 1);
    *count = 0;
    for (int64_t i = 0; i + 1 < end_count; i++) {
        const Span *from = ends[i], *to = ends[i + 1];
        if (from->meeting != to->meeting || from->flow != SPAN_FLOW_OUT || to->flow != SPAN_FLOW_IN) continue;
        arrows[(*count)++] = (TraceArrow){from, to};
        i++;
    }
    return arrows;
}

static int64_t left_out_by(const SpanSet *set, int32_t stride) {
    const TraceCut cut = {.stride = stride};
    int64_t left_out = set->left_out;
    for (int64_t i = 0; i < set->span_count; i++) left_out += !span_is_in(&set->spans[i], &cut);
    return left_out;
}

const char *trace_left_out(Arena *arena, const SpanSet *set, const TraceBytes *file) {
    const char *curves = file->without_curves ? "curves of ranks are left out" : NULL;
    if (file->left_out == 0) return curves;
    const char *gone = text_count(arena, (double)file->left_out, true),
               *all = text_count(arena, (double)set->seen, true);
    const char *after = curves ? arena_printf(arena, "; %s", curves) : "";
    if (file->stride == 1) return arena_printf(arena, "the last %s of %s operations are left out%s", gone, all, after);
    return arena_printf(arena,
                        "operations within passes are those of every %d%s micro-batch: %s of %s are left out; passes "
                        "and what is outside them are all there%s",
                        file->stride, file->stride == 2 ? "nd" : "th", gone, all, after);
}

// False: it is larger.
static bool write_within(const SpanSet *set, TraceForm form, double most, TraceBytes *file) {
    Arena *scratch = arena_open();
    TraceBuffer out = {.most = most < 1e15 ? (size_t)most : (size_t)1e15};
    file->left_out = left_out_by(set, file->stride);
    const TraceCut cut = {file->stride, file->without_curves, file->left_out, trace_left_out(scratch, set, file)};
    forms[form].write(scratch, &out, set, &cut);
    arena_close(scratch);
    file->bytes = out.bytes;
    file->count = out.count;
    if (out.full) buffer_close(&out);
    return !out.full;
}

bool trace_write(Arena *arena, const SpanSet *set, TraceForm form, double most, TraceBytes *file, Problems *problems) {
    CHECK(most >= 0);
    *file = (TraceBytes){.stride = set->stride};
    if (write_within(set, form, most, file)) return true;
    while (file->stride < set->micro_batches && file->stride <= INT32_MAX / 2) {
        file->stride *= 2;
        if (write_within(set, form, most, file)) return true;
    }
    file->without_curves = true;
    if (write_within(set, form, most, file)) return true;
    problem_add(problems, (Where){0}, "a trace of %d ranks does not fit in %s, even with operations of one micro-batch",
                set->process_count, text_bytes(arena, most));
    write_within(set, form, INFINITY, file);
    problem_hint(problems, "fewer --ranks, or --size-limit %.0fMB", ceil((double)file->count / 1e6));
    free(file->bytes);
    return false;
}

void trace_zip(TraceBytes *file) {
    z_stream stream = {0};
    // 15 + 16: the largest window, and gzip's header, in which deflate writes no time.
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) out_of_memory(file->count);
    size_t room = deflateBound(&stream, file->count);
    unsigned char *zipped = memory_or_end(room);
    size_t in = 0, out = 0;
    int status = Z_OK;
    while (status == Z_OK) { // its counts are narrower than ours
        size_t piece = file->count - in < (1U << 30) ? file->count - in : 1U << 30;
        size_t left = room - out < (1U << 30) ? room - out : 1U << 30;
        stream.next_in = file->bytes + in;
        stream.avail_in = (uInt)piece;
        stream.next_out = zipped + out;
        stream.avail_out = (uInt)left;
        status = deflate(&stream, in + piece == file->count ? Z_FINISH : Z_NO_FLUSH);
        in += piece - stream.avail_in;
        out += left - stream.avail_out;
    }
    CHECK(status == Z_STREAM_END);
    deflateEnd(&stream);
    free(file->bytes);
    file->bytes = zipped;
    file->count = out;
}
