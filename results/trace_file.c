// Chrome's trace events as JSON: nested complete events ("X"), names of processes and threads, arrows ("s", "f") and
// counters ("C"). Names are those of kinds, so that a viewer that colours by name colours by kind; the micro-batch is
// an argument. ("Trace Event Format", Duca and Sinclair, 2016; the subset that Perfetto imports:
// perfetto/src/trace_processor/importers/json.)
#include "results/trace_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/data/answer.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

#define BYTES_PER_SPAN 100 // the least that one takes

// ---- Bytes that grow up to a limit.

typedef struct TraceBuffer {
    unsigned char *bytes;
    size_t count, room, most;
    bool full; // what came then is lost
} TraceBuffer;

static void make_room(TraceBuffer *buffer, size_t count) {
    size_t room = buffer->room ? buffer->room : 65536;
    while (room < buffer->count + count) room *= 2;
    if (room == buffer->room) return;
    unsigned char *wider = realloc(buffer->bytes, room);
    if (!wider) out_of_memory(room);
    buffer->bytes = wider;
    buffer->room = room;
}

static void buffer_add(TraceBuffer *buffer, const void *bytes, size_t count) {
    if (buffer->full || count > buffer->most - buffer->count) {
        buffer->full = true;
        return;
    }
    make_room(buffer, count);
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static void buffer_text(TraceBuffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

static void buffer_integer(TraceBuffer *buffer, int64_t number) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) *--at = '-';
    buffer_add(buffer, at, (size_t)(digits + sizeof digits - at));
}

bool trace_is_named(const char *path, bool *zipped) {
    *zipped = file_ends_in(path, ".gz");
    return file_ends_in(path, ".json") || file_ends_in(path, ".json.gz");
}

int64_t trace_span_room(double bytes) {
    double room = bytes / BYTES_PER_SPAN;
    return room < 1000 ? 1000 : room > 1e7 ? 10000000 : (int64_t)room;
}

// ---- What goes in.

typedef struct TraceCut {
    int32_t stride;
    bool without_curves; // of ranks: power and memory
    int64_t left_out;    // all spans that the file has not; counted before it is written
    const char *sentence;
} TraceCut;

static bool span_is_in(const Span *span, const TraceCut *cut) {
    return span->micro_batch < 0 || span->micro_batch % cut->stride == 0;
}

static bool counter_is_in(const SpanCounter *counter, const TraceCut *cut) {
    return counter->process < 0 || !cut->without_curves;
}
// Unchanged values are omitted.
static bool point_is_in(const SpanCounter *counter, int i) {
    return i == 0 || i == counter->count - 1 || counter->values[i] != counter->values[i - 1];
}

static int64_t trace_ns(SimTime time) { return time / 1000; }
// The process id of the network's counters, after all ranks.
static int64_t trace_network_pid(const SpanSet *set) {
    return set->process_count ? (int64_t)set->processes[set->process_count - 1].id + 2 : 1;
}

// Ends of a transfer that files have both, in order of meetings: where the arrow starts and where it ends.
typedef struct TraceArrow {
    const Span *from, *to;
} TraceArrow;

static int by_meeting(const void *a, const void *b) {
    const Span *one = *(const Span *const *)a, *other = *(const Span *const *)b;
    if (one->meeting != other->meeting) return one->meeting < other->meeting ? -1 : 1;
    return (one->flow > other->flow) - (one->flow < other->flow);
}

static const TraceArrow *trace_arrows(Arena *arena, const SpanSet *set, const TraceCut *cut, int64_t *count) {
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

// ---- Events.

typedef struct Chrome {
    Arena *arena;
    TraceBuffer *out;
    const SpanSet *set;
    const TraceCut *cut;
    const char **names, **categories; // quoted
    const char **thread_of;           // [track] "pid":1,"tid":2
    const char **transfers;           // [transfer] its arguments, made on first use
    bool later;                       // not the first event
} Chrome;

static const char *quoted(Arena *arena, const char *text) {
    TextStream stream = text_stream_open();
    JsonWriter json = json_writer(stream.stream, 0);
    json_write_text(&json, text);
    return text_stream_close(arena, &stream);
}

static const char *number_text(Arena *arena, double number) {
    TextStream stream = text_stream_open();
    JsonWriter json = json_writer(stream.stream, 0);
    json_write_number(&json, number);
    return text_stream_close(arena, &stream);
}

// Microseconds with three digits after the point: exact nanoseconds.
static void write_time(TraceBuffer *out, int64_t ns) {
    char fraction[5] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10), '\0'};
    buffer_integer(out, ns / 1000);
    buffer_add(out, fraction, 4);
}

static void begin_event(Chrome *chrome, const char *phase) {
    buffer_text(chrome->out, chrome->later ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    buffer_text(chrome->out, phase);
    buffer_text(chrome->out, "\",");
    chrome->later = true;
}

// ---- Who is shown.

static void name_process(Chrome *chrome, int64_t pid, const char *name, int order) {
    TraceBuffer *out = chrome->out;
    begin_event(chrome, "M");
    buffer_text(out, arena_printf(chrome->arena, "\"name\":\"process_name\",\"pid\":%lld,\"args\":{\"name\":%s}}",
                                  (long long)pid, quoted(chrome->arena, name)));
    begin_event(chrome, "M");
    buffer_text(out, arena_printf(chrome->arena,
                                  "\"name\":\"process_sort_index\",\"pid\":%lld,\"args\":{\"sort_index\":%d}}",
                                  (long long)pid, order));
}

static void name_all(Chrome *chrome) {
    const SpanSet *set = chrome->set;
    for (int p = 0; p < set->process_count; p++)
        name_process(chrome, (int64_t)set->processes[p].id + 1, set->processes[p].name, p);
    name_process(chrome, trace_network_pid(set), "links", set->process_count);
    for (int t = 0, order = 0; t < set->track_count; t++) {
        order = t > 0 && set->tracks[t].process == set->tracks[t - 1].process ? order + 1 : 0;
        chrome->thread_of[t] = arena_printf(chrome->arena, "\"pid\":%lld,\"tid\":%d",
                                            (long long)set->processes[set->tracks[t].process].id + 1, order + 1);
        begin_event(chrome, "M");
        buffer_text(chrome->out, arena_printf(chrome->arena, "\"name\":\"thread_name\",%s,\"args\":{\"name\":%s}}",
                                              chrome->thread_of[t], quoted(chrome->arena, set->tracks[t].name)));
        begin_event(chrome, "M");
        buffer_text(chrome->out,
                    arena_printf(chrome->arena, "\"name\":\"thread_sort_index\",%s,\"args\":{\"sort_index\":%d}}",
                                 chrome->thread_of[t], order));
    }
}

// ---- What they do.

// ,"bytes":…,"members":…,"latency_us":…,"link":…
static const char *transfer_arguments(Chrome *chrome, int32_t number) {
    if (chrome->transfers[number]) return chrome->transfers[number];
    const SpanTransfer *transfer = &chrome->set->transfers[number];
    const char *link = transfer->link ? transfer->link : "";
    const char *text = arena_printf(chrome->arena, ",\"bytes\":%s,\"members\":%d,\"latency_us\":%s",
                                    number_text(chrome->arena, transfer->bytes), transfer->members,
                                    number_text(chrome->arena, (double)transfer->latency / 1e6));
    if (*link) text = arena_printf(chrome->arena, "%s,\"link\":%s", text, quoted(chrome->arena, link));
    return chrome->transfers[number] = text;
}

static void write_arguments(Chrome *chrome, const Span *span) {
    TraceBuffer *out = chrome->out;
    const char *before = ",\"args\":{";
    if (span->micro_batch >= 0) {
        buffer_text(out, before);
        buffer_text(out, "\"micro_batch\":");
        buffer_integer(out, span->micro_batch + 1);
        buffer_text(out, ",\"chunk\":");
        buffer_integer(out, span->chunk);
        before = ",";
    }
    if (span->transfer >= 0) {
        buffer_text(out, before);
        buffer_text(out, transfer_arguments(chrome, span->transfer) + 1);
        buffer_text(out, ",\"waited_us\":");
        write_time(out, trace_ns(span->begun) - trace_ns(span->start));
        before = ",";
    }
    if (before[1] == '\0') buffer_text(out, "}");
}

static void write_span(Chrome *chrome, const Span *span) {
    TraceBuffer *out = chrome->out;
    int64_t start = trace_ns(span->start);
    begin_event(chrome, "X");
    buffer_text(out, "\"name\":");
    buffer_text(out, chrome->names[span->name]);
    buffer_text(out, ",\"cat\":");
    buffer_text(out, chrome->categories[span->category]);
    buffer_text(out, ",");
    buffer_text(out, chrome->thread_of[span->track]);
    buffer_text(out, ",\"ts\":");
    write_time(out, start);
    buffer_text(out, ",\"dur\":");
    write_time(out, trace_ns(span->end) - start);
    write_arguments(chrome, span);
    buffer_text(out, "}");
}

// From when both have come to the receiver's last nanosecond: both lie within their slices.
static void write_arrows(Chrome *chrome) {
    int64_t count;
    const TraceArrow *arrows = trace_arrows(chrome->arena, chrome->set, chrome->cut, &count);
    TraceBuffer *out = chrome->out;
    for (int64_t i = 0; i < count && !out->full; i++) {
        for (int end = 0; end < 2; end++) {
            const Span *span = end ? arrows[i].to : arrows[i].from;
            begin_event(chrome, end ? "f" : "s");
            buffer_text(out, end ? "\"bp\":\"e\",\"id\":" : "\"id\":");
            buffer_integer(out, span->meeting);
            buffer_text(out, ",\"name\":\"transfer\",\"cat\":\"transfer\",");
            buffer_text(out, chrome->thread_of[span->track]);
            buffer_text(out, ",\"ts\":");
            write_time(out, end ? trace_ns(span->end) - 1 : trace_ns(span->begun));
            buffer_text(out, "}");
        }
    }
}

static void write_counter(Chrome *chrome, const SpanCounter *counter) {
    TraceBuffer *out = chrome->out;
    int64_t pid = counter->process < 0 ? trace_network_pid(chrome->set)
                                       : (int64_t)chrome->set->processes[counter->process].id + 1;
    const char *name = quoted(chrome->arena, counter->name), *unit = quoted(chrome->arena, counter->unit);
    for (int i = 0; i < counter->count && !out->full; i++) {
        if (!point_is_in(counter, i)) continue;
        begin_event(chrome, "C");
        buffer_text(out, "\"name\":");
        buffer_text(out, name);
        buffer_text(out, ",\"pid\":");
        buffer_integer(out, pid);
        buffer_text(out, ",\"ts\":");
        write_time(out, trace_ns(counter->times[i]));
        buffer_text(out, ",\"args\":{");
        buffer_text(out, unit);
        buffer_text(out, ":");
        buffer_text(out, number_text(chrome->arena, counter->values[i]));
        buffer_text(out, "}}");
    }
}

// ---- The file.

static void write_exposed(JsonWriter *json, const SpanSet *set) {
    json_key(json, "exposed_s");
    json_begin_list(json);
    for (int p = 0; p < set->process_count; p++) {
        json_begin_object(json);
        json_integer_member(json, "rank", set->processes[p].id);
        for (int c = 0; c < set->category_count; c++)
            if (set->processes[p].spent[c] > 0)
                json_number_member(json, set->categories[c], step_seconds(set->processes[p].spent[c]));
        json_end_object(json);
    }
    json_end_list(json);
}

static const char *metadata_text(Chrome *chrome) {
    const SpanSet *set = chrome->set;
    TextStream text = text_stream_open();
    JsonWriter json = json_writer(text.stream, 0);
    json_begin_object(&json);
    envelope_write(&json, NULL);
    json_text_member(&json, "title", set->title);
    json_number_member(&json, "step_s", step_seconds(set->end));
    json_integer_member(&json, "operations", set->seen);
    json_integer_member(&json, "operations_left_out", chrome->cut->left_out);
    json_integer_member(&json, "every_nth_micro_batch", chrome->cut->stride);
    json_text_member(&json, "left_out", chrome->cut->sentence);
    write_exposed(&json, set);
    json_end_object(&json);
    return text_stream_close(chrome->arena, &text);
}

static void write_events(Arena *arena, TraceBuffer *out, const SpanSet *set, const TraceCut *cut) {
    Chrome chrome = {.arena = arena,
                     .out = out,
                     .set = set,
                     .cut = cut,
                     .names = ARENA_ARRAY(arena, const char *, set->name_count),
                     .categories = ARENA_ARRAY(arena, const char *, set->category_count),
                     .thread_of = ARENA_ARRAY(arena, const char *, set->track_count),
                     .transfers = ARENA_ARRAY(arena, const char *, set->transfer_count)};
    for (int i = 0; i < set->name_count; i++) chrome.names[i] = quoted(arena, set->names[i]);
    for (int i = 0; i < set->category_count; i++) chrome.categories[i] = quoted(arena, set->categories[i]);
    buffer_text(out, "{\"displayTimeUnit\":\"ns\",\"metadata\":");
    buffer_text(out, metadata_text(&chrome));
    buffer_text(out, ",\"traceEvents\":[");
    name_all(&chrome);
    // Passes before what lies in them: of equal times the first is the parent.
    for (int64_t i = 0; i < set->pass_count && !out->full; i++) write_span(&chrome, &set->passes[i]);
    for (int64_t i = 0; i < set->span_count && !out->full; i++)
        if (span_is_in(&set->spans[i], cut)) write_span(&chrome, &set->spans[i]);
    write_arrows(&chrome);
    for (int i = 0; i < set->counter_count; i++)
        if (counter_is_in(&set->counters[i], cut)) write_counter(&chrome, &set->counters[i]);
    buffer_text(out, "\n]}\n");
}

// ---- As much as there is room for.

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
static bool write_within(const SpanSet *set, double most, TraceBytes *file) {
    Arena *scratch = arena_open();
    TraceBuffer out = {.most = most < 1e15 ? (size_t)most : (size_t)1e15};
    file->left_out = left_out_by(set, file->stride);
    const TraceCut cut = {file->stride, file->without_curves, file->left_out, trace_left_out(scratch, set, file)};
    write_events(scratch, &out, set, &cut);
    arena_close(scratch);
    file->bytes = out.bytes;
    file->count = out.count;
    if (out.full) free(out.bytes);
    return !out.full;
}

bool trace_write(Arena *arena, const SpanSet *set, double most, TraceBytes *file, Problems *problems) {
    CHECK(most >= 0);
    *file = (TraceBytes){.stride = set->stride};
    if (write_within(set, most, file)) return true;
    while (file->stride < set->micro_batches && file->stride <= INT32_MAX / 2) {
        file->stride *= 2;
        if (write_within(set, most, file)) return true;
    }
    file->without_curves = true;
    if (write_within(set, most, file)) return true;
    problem_add(problems, (Where){0}, "a trace of %d ranks does not fit in %s, even with operations of one micro-batch",
                set->process_count, text_bytes(arena, most));
    write_within(set, INFINITY, file);
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
