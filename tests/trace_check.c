#include "tests/trace_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/data/json.h"

// ---- Slices.

static int by_track_then_time(const void *a, const void *b) {
    const CheckedSlice *one = a, *other = b;
    if (one->pid != other->pid) return one->pid < other->pid ? -1 : 1;
    if (one->tid != other->tid) return one->tid < other->tid ? -1 : 1;
    if (one->start != other->start) return one->start < other->start ? -1 : 1;
    return (one->order > other->order) - (one->order < other->order);
}

#define DEPTH 512

const char *check_nesting(CheckedSlice *slices, int count) {
    int64_t ends[DEPTH];
    int depth = 0;
    qsort(slices, (size_t)count, sizeof *slices, by_track_then_time);
    for (int i = 0; i < count; i++) {
        const CheckedSlice *slice = &slices[i];
        bool same = i > 0 && slice[-1].pid == slice->pid && slice[-1].tid == slice->tid;
        if (!same) depth = 0;
        while (depth > 0 && ends[depth - 1] <= slice->start) depth--;
        if (depth > 0 && slice->end > ends[depth - 1]) return "slices of a track overlap and do not nest";
        if (depth == DEPTH) return "slices are nested too deep";
        ends[depth++] = slice->end;
    }
    return NULL;
}

// ---- Chrome's JSON.

typedef struct ArrowEnd {
    int64_t id, pid, tid, at;
    bool end;
} ArrowEnd;

typedef struct ChromeCheck {
    const char *wrong;
    CheckedSlice *slices;
    ArrowEnd *arrows;
    int64_t *named; // pid, tid of threads with a name
    int slice_count, arrow_count, named_count;
    TraceSeen seen;
} ChromeCheck;

static bool fails(ChromeCheck *check, const char *why) {
    if (!check->wrong) check->wrong = why;
    return false;
}

static bool whole(ChromeCheck *check, const Json *event, const char *key, double scale, int64_t *value) {
    const Json *member = json_get(event, key);
    if (!member || member->kind != JSON_NUMBER) return fails(check, "an event lacks a number that it needs");
    double exact = member->number * scale;
    if (!(exact >= 0)) return fails(check, "a number is negative");
    *value = llround(exact);
    return fabs(exact - (double)*value) < 0.02 || fails(check, "a time is no whole nanosecond");
}

static bool text_is(const Json *event, const char *key, const char *text) {
    const Json *member = json_get(event, key);
    return member && member->kind == JSON_TEXT && (!text || strcmp(member->text, text) == 0);
}

static bool look_at_slice(ChromeCheck *check, const Json *event) {
    CheckedSlice slice = {.order = check->slice_count};
    int64_t duration;
    if (!whole(check, event, "pid", 1, &slice.pid) || !whole(check, event, "tid", 1, &slice.tid)) return false;
    if (!whole(check, event, "ts", 1000, &slice.start) || !whole(check, event, "dur", 1000, &duration)) return false;
    if (slice.tid == 0) return fails(check, "a thread is called 0");
    if (!text_is(event, "name", NULL) || !text_is(event, "cat", NULL)) return fails(check, "a slice has no name");
    slice.end = slice.start + duration;
    if (slice.end > check->seen.longest_ns) check->seen.longest_ns = slice.end;
    check->slices[check->slice_count++] = slice;
    return true;
}

static bool look_at_arrow(ChromeCheck *check, const Json *event, bool end) {
    ArrowEnd arrow = {.end = end};
    if (!whole(check, event, "pid", 1, &arrow.pid) || !whole(check, event, "tid", 1, &arrow.tid)) return false;
    if (!whole(check, event, "ts", 1000, &arrow.at) || !whole(check, event, "id", 1, &arrow.id)) return false;
    if (!text_is(event, "name", "transfer") || !text_is(event, "cat", "transfer"))
        return fails(check, "the ends of an arrow have different names");
    if (end && !text_is(event, "bp", "e")) return fails(check, "an arrow ends at the next slice, not the one around");
    check->arrows[check->arrow_count++] = arrow;
    return true;
}

static bool look_at_counter(ChromeCheck *check, const Json *event) {
    int64_t pid, at;
    const Json *arguments = json_get(event, "args");
    if (!whole(check, event, "pid", 1, &pid) || !whole(check, event, "ts", 1000, &at)) return false;
    if (!arguments || arguments->count != 1 || arguments->items[0].kind != JSON_NUMBER)
        return fails(check, "a counter has no value");
    check->seen.counters++;
    return true;
}

static bool look_at_name(ChromeCheck *check, const Json *event) {
    int64_t pid, tid;
    if (!json_get(event, "args")) return fails(check, "a name is missing");
    if (!text_is(event, "name", "thread_name")) return true;
    if (!whole(check, event, "pid", 1, &pid) || !whole(check, event, "tid", 1, &tid)) return false;
    check->named[2 * check->named_count] = pid;
    check->named[2 * check->named_count++ + 1] = tid;
    return true;
}

static bool look_at(ChromeCheck *check, const Json *event) {
    const Json *phase = json_get(event, "ph");
    if (!phase || phase->kind != JSON_TEXT) return fails(check, "an event has no kind");
    switch (phase->text[0]) {
    case 'X':
        return look_at_slice(check, event);
    case 's':
    case 'f':
        return look_at_arrow(check, event, phase->text[0] == 'f');
    case 'C':
        return look_at_counter(check, event);
    case 'M':
        return look_at_name(check, event);
    default:
        return fails(check, "an event is of a kind that is not drawn");
    }
}

static bool is_in_a_slice(const ChromeCheck *check, const ArrowEnd *arrow) {
    for (int i = 0; i < check->slice_count; i++) {
        const CheckedSlice *slice = &check->slices[i];
        if (slice->pid == arrow->pid && slice->tid == arrow->tid && slice->start <= arrow->at && arrow->at < slice->end)
            return true;
    }
    return false;
}

static int by_id(const void *a, const void *b) {
    const ArrowEnd *one = a, *other = b;
    if (one->id != other->id) return one->id < other->id ? -1 : 1;
    return one->end - other->end;
}

static void look_at_arrows(ChromeCheck *check) {
    qsort(check->arrows, (size_t)check->arrow_count, sizeof *check->arrows, by_id);
    for (int i = 0; i < check->arrow_count; i += 2) {
        const ArrowEnd *from = &check->arrows[i], *to = from + 1;
        if (i + 1 == check->arrow_count || from->id != to->id || from->end || !to->end)
            fails(check, "an arrow has not two ends");
        else if (to->at < from->at)
            fails(check, "an arrow goes back in time");
        else if (!is_in_a_slice(check, from) || !is_in_a_slice(check, to))
            fails(check, "an arrow's end lies in no slice");
    }
    check->seen.arrows = check->arrow_count / 2;
}

static void look_at_tracks(ChromeCheck *check) {
    for (int i = 0; i < check->slice_count; i++) {
        const CheckedSlice *slice = &check->slices[i];
        bool named = i > 0 && slice[-1].pid == slice->pid && slice[-1].tid == slice->tid;
        for (int t = 0; t < check->named_count && !named; t++)
            named = check->named[2 * t] == slice->pid && check->named[2 * t + 1] == slice->tid;
        if (!named) fails(check, "a thread has slices and no name");
    }
    check->seen.tracks = check->named_count;
}

TraceSeen check_chrome_trace(Arena *arena, const char *text, size_t bytes) {
    if (bytes < 2 || memcmp(text, "{\"", 2) != 0) return (TraceSeen){.wrong = "it does not begin as JSON traces do"};
    Problems *problems = problems_create(arena);
    const Json *file = json_read_text(arena, "trace", text, bytes, problems);
    const Json *events = file ? json_get(file, "traceEvents") : NULL;
    if (!events || events->kind != JSON_LIST) return (TraceSeen){.wrong = "it is no JSON, or has no events"};
    ChromeCheck check = {.slices = ARENA_ARRAY(arena, CheckedSlice, events->count),
                         .arrows = ARENA_ARRAY(arena, ArrowEnd, events->count),
                         .named = ARENA_ARRAY(arena, int64_t, 2 * events->count)};
    for (int i = 0; i < events->count; i++)
        if (!look_at(&check, &events->items[i])) break;
    const char *crossed = check_nesting(check.slices, check.slice_count);
    if (crossed) fails(&check, crossed);
    look_at_arrows(&check);
    look_at_tracks(&check);
    check.seen.wrong = check.wrong;
    check.seen.slices = check.slice_count;
    return check.seen;
}
