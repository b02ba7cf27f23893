// Perfetto's own form: a protobuf of packets, one for every beginning and end of a slice. Names, categories and the
// names of arguments are said once, by number, in the first packet. (perfetto/protos/perfetto/trace: trace_packet,
// track_event, track_descriptor, interned_data; docs/reference/synthetic-track-event.)
#include <math.h>
#include <string.h>

#include "results/trace_buffer.h"
#include "sim/check.h"
#include "sim/envelope.h"

// ---- Protobuf: fields by number, with varints, eight bytes, or bytes behind their length.

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_varint(TraceBuffer *out, uint64_t number) {
    unsigned char bytes[10];
    size_t count = 0;
    for (; number >= 0x80; number >>= 7) bytes[count++] = (unsigned char)(number | 0x80);
    bytes[count++] = (unsigned char)number;
    buffer_add(out, bytes, count);
}

static void put_key(TraceBuffer *out, int field, int wire) { put_varint(out, (uint64_t)field << 3 | (uint64_t)wire); }

static void put_number(TraceBuffer *out, int field, uint64_t number) {
    put_key(out, field, WIRE_VARINT);
    put_varint(out, number);
}

static void put_fixed64(TraceBuffer *out, int field, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
    put_key(out, field, WIRE_FIXED64);
    buffer_add(out, bytes, sizeof bytes);
}

static void put_double(TraceBuffer *out, int field, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_fixed64(out, field, bits);
}

static void put_text(TraceBuffer *out, int field, const char *text) {
    size_t length = strlen(text);
    put_key(out, field, WIRE_BYTES);
    put_varint(out, length);
    buffer_add(out, text, length);
}

// And it is empty again.
static void put_message(TraceBuffer *out, int field, TraceBuffer *message) {
    put_key(out, field, WIRE_BYTES);
    put_varint(out, message->count);
    buffer_add(out, message->bytes, message->count);
    message->count = 0;
}

// ---- Fields and words of Perfetto's messages.

enum { TRACE_PACKET = 1 };
enum { // TracePacket
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60,
    PACKET_FIRST = 87
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 }; // the names said so far: forgotten, used
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_ARGUMENTS = 3, INTERNED_TEXTS = 29 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { // TrackDescriptor
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDERING = 11,
    TRACK_RANK = 12,
    TRACK_MERGE = 15,
    TRACK_PROCESS_ORDERING = 19
};
enum { ORDER_EXPLICIT = 3, PROCESSES_EXPLICIT = 1, MERGE_NONE = 2 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, UNIT_BYTES = 3 };
enum { // TrackEvent
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_TEXT = 23,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { // DebugAnnotation
    ARGUMENT_IID = 1,
    ARGUMENT_NUMBER = 3,
    ARGUMENT_DOUBLE = 5,
    ARGUMENT_TEXT = 6,
    ARGUMENT_NAME = 10,
    ARGUMENT_MEMBERS = 11,
    ARGUMENT_TEXT_IID = 17
};

typedef enum Argument {
    ARGUMENT_NONE, // numbers of names begin at 1
    MICRO_BATCH,
    CHUNK,
    PAYLOAD,
    MEMBERS,
    LATENCY,
    LINK,
    WAITED,
    ARGUMENT_KINDS
} Argument;

static const char *const argument_names[ARGUMENT_KINDS] = {
    "", "micro_batch", "chunk", "bytes", "members", "latency_ns", "link", "waited_ns",
};

typedef struct Perfetto {
    Arena *arena;
    TraceBuffer *out;
    TraceBuffer packet, event, argument; // that are being made
    const SpanSet *set;
    const TraceCut *cut;
    const int64_t *flow_of; // [span] the arrow that begins or ends there; 0: none
    const int32_t *link_of; // [transfer] the number of its link's name; 0: none
} Perfetto;

#define SEQUENCE 1 // of packets: there is one writer

// Numbers of tracks: processes, the network's and this page's after them, then streams, then counters.
static uint64_t process_uuid(const SpanSet *set, int process) {
    return (uint64_t)(process < 0 ? set->process_count : process) + 1;
}
static uint64_t about_uuid(const SpanSet *set) { return (uint64_t)set->process_count + 2; }
static uint64_t track_uuid(const SpanSet *set, int track) { return (uint64_t)(set->process_count + track) + 3; }
static uint64_t counter_uuid(const SpanSet *set, int counter) {
    return track_uuid(set, set->track_count) + (uint64_t)counter;
}

// ---- Packets.

static void end_packet(Perfetto *file, int flags) {
    put_number(&file->packet, PACKET_SEQUENCE, SEQUENCE);
    if (flags) put_number(&file->packet, PACKET_FLAGS, (uint64_t)flags);
    put_message(file->out, TRACE_PACKET, &file->packet);
}

static void end_event(Perfetto *file, int64_t ns) {
    put_number(&file->packet, PACKET_TIMESTAMP, (uint64_t)ns);
    put_message(&file->packet, PACKET_EVENT, &file->event);
    end_packet(file, FLAG_NEEDED);
}

static void end_descriptor(Perfetto *file) {
    put_message(&file->packet, PACKET_DESCRIPTOR, &file->event);
    end_packet(file, 0);
}

// ---- Names.

static void intern(Perfetto *file, int kind, int iid, const char *text) {
    put_number(&file->argument, INTERNED_IID, (uint64_t)iid);
    put_text(&file->argument, INTERNED_TEXT, text);
    put_message(&file->event, kind, &file->argument);
}

// Links of transfers, each name once; they are few beside the transfers.
static void intern_links(Perfetto *file) {
    const SpanSet *set = file->set;
    int32_t *link_of = ARENA_ARRAY(file->arena, int32_t, set->transfer_count);
    const char **known = ARENA_ARRAY(file->arena, const char *, set->transfer_count);
    int count = 0;
    for (int32_t i = 0; i < set->transfer_count; i++) {
        const char *link = set->transfers[i].link;
        if (!link || !*link) continue;
        int k = count > 0 && i > 0 && link_of[i - 1] > 0 && known[link_of[i - 1] - 1] == link ? link_of[i - 1] - 1 : 0;
        while (k < count && known[k] != link && strcmp(known[k], link) != 0) k++;
        if (k == count) {
            known[count++] = link;
            intern(file, INTERNED_TEXTS, count, link);
        }
        link_of[i] = k + 1;
    }
    file->link_of = link_of;
}

static void write_names(Perfetto *file) {
    const SpanSet *set = file->set;
    for (int i = 0; i < set->category_count; i++) intern(file, INTERNED_CATEGORIES, i + 1, set->categories[i]);
    for (int i = 0; i < set->name_count; i++) intern(file, INTERNED_NAMES, i + 1, set->names[i]);
    for (int i = 1; i < ARGUMENT_KINDS; i++) intern(file, INTERNED_ARGUMENTS, i, argument_names[i]);
    intern_links(file);
    put_message(&file->packet, PACKET_INTERNED, &file->event);
    put_number(&file->packet, PACKET_FIRST, 1);
    end_packet(file, FLAG_CLEARED);
}

// ---- Tracks: processes in their order, in them streams and then curves.

static void describe_process(Perfetto *file, uint64_t uuid, int64_t pid, const char *name, int order) {
    put_number(&file->argument, PROCESS_PID, (uint64_t)pid);
    put_text(&file->argument, PROCESS_NAME, name);
    put_number(&file->event, TRACK_UUID, uuid);
    put_message(&file->event, TRACK_PROCESS, &file->argument);
    put_number(&file->event, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
    put_number(&file->event, TRACK_RANK, (uint64_t)order);
    end_descriptor(file);
}

static void describe_track(Perfetto *file, uint64_t uuid, uint64_t parent, const char *name, int order) {
    put_number(&file->event, TRACK_UUID, uuid);
    put_number(&file->event, TRACK_PARENT, parent);
    put_text(&file->event, TRACK_NAME, name);
    put_number(&file->event, TRACK_RANK, (uint64_t)order);
    put_number(&file->event, TRACK_MERGE, MERGE_NONE);
}

static void describe_counter(Perfetto *file, int number) {
    const SpanCounter *counter = &file->set->counters[number];
    describe_track(file, counter_uuid(file->set, number), process_uuid(file->set, counter->process), counter->name,
                   file->set->track_count + number);
    if (strcmp(counter->unit, "bytes") == 0)
        put_number(&file->argument, COUNTER_UNIT, UNIT_BYTES);
    else
        put_text(&file->argument, COUNTER_UNIT_NAME, counter->unit);
    put_message(&file->event, TRACK_COUNTER, &file->argument);
    end_descriptor(file);
}

static void describe_all(Perfetto *file) {
    const SpanSet *set = file->set;
    put_number(&file->event, TRACK_UUID, 0);
    put_number(&file->event, TRACK_PROCESS_ORDERING, PROCESSES_EXPLICIT);
    end_descriptor(file);
    for (int p = 0; p < set->process_count; p++)
        describe_process(file, process_uuid(set, p), (int64_t)set->processes[p].id + 1, set->processes[p].name, p);
    describe_process(file, process_uuid(set, -1), trace_network_pid(set), "links", set->process_count);
    describe_track(file, about_uuid(set), process_uuid(set, -1), "about this trace", 0);
    end_descriptor(file);
    for (int t = 0; t < set->track_count; t++) {
        describe_track(file, track_uuid(set, t), process_uuid(set, set->tracks[t].process), set->tracks[t].name, t);
        end_descriptor(file);
    }
    for (int c = 0; c < set->counter_count; c++)
        if (counter_is_in(&set->counters[c], file->cut)) describe_counter(file, c);
}

// ---- What the file is, as arguments of one instant.

static void about_text(Perfetto *file, const char *name, const char *text) {
    put_text(&file->argument, ARGUMENT_NAME, name);
    put_text(&file->argument, ARGUMENT_TEXT, text);
    put_message(&file->event, EVENT_ARGUMENT, &file->argument);
}

static void about_double(Perfetto *file, const char *name, double number) {
    put_text(&file->argument, ARGUMENT_NAME, name);
    put_double(&file->argument, ARGUMENT_DOUBLE, number);
    put_message(&file->event, EVENT_ARGUMENT, &file->argument);
}

static void about_exposed(Perfetto *file, const SpanProcess *process) {
    TraceBuffer member = {.most = SIZE_MAX};
    put_text(&file->argument, ARGUMENT_NAME, arena_printf(file->arena, "exposed_s of rank %d", process->id));
    for (int c = 0; c < file->set->category_count; c++) {
        if (process->spent[c] <= 0) continue;
        put_text(&member, ARGUMENT_NAME, file->set->categories[c]);
        put_double(&member, ARGUMENT_DOUBLE, step_seconds(process->spent[c]));
        put_message(&file->argument, ARGUMENT_MEMBERS, &member);
    }
    put_message(&file->event, EVENT_ARGUMENT, &file->argument);
    buffer_close(&member);
}

static void write_about(Perfetto *file) {
    const SpanSet *set = file->set;
    int words;
    const char *const *command = envelope_words(&words), *line = "lockstep";
    for (int i = 0; i < words; i++) line = arena_printf(file->arena, "%s %s", line, command[i]);
    put_number(&file->event, EVENT_TYPE, TYPE_INSTANT);
    put_number(&file->event, EVENT_TRACK, about_uuid(set));
    put_text(&file->event, EVENT_NAME_TEXT, set->title);
    about_text(file, "command", line);
    about_double(file, "step_s", step_seconds(set->end));
    about_double(file, "operations", (double)set->seen);
    about_double(file, "operations_left_out", (double)file->cut->left_out);
    about_double(file, "every_nth_micro_batch", file->cut->stride);
    if (file->cut->sentence) about_text(file, "left_out", file->cut->sentence);
    for (int p = 0; p < set->process_count; p++) about_exposed(file, &set->processes[p]);
    end_event(file, 0);
}

// ---- What ranks do.

static void put_argument(Perfetto *file, Argument name, int field, uint64_t number) {
    put_number(&file->argument, ARGUMENT_IID, (uint64_t)name);
    put_number(&file->argument, field, number);
    put_message(&file->event, EVENT_ARGUMENT, &file->argument);
}

static void put_arguments(Perfetto *file, const Span *span) {
    if (span->micro_batch >= 0) {
        put_argument(file, MICRO_BATCH, ARGUMENT_NUMBER, (uint64_t)span->micro_batch + 1);
        put_argument(file, CHUNK, ARGUMENT_NUMBER, (uint64_t)span->chunk);
    }
    if (span->transfer < 0) return;
    const SpanTransfer *transfer = &file->set->transfers[span->transfer];
    put_argument(file, PAYLOAD, ARGUMENT_NUMBER, (uint64_t)llround(transfer->bytes));
    put_argument(file, MEMBERS, ARGUMENT_NUMBER, (uint64_t)transfer->members);
    put_argument(file, LATENCY, ARGUMENT_NUMBER, (uint64_t)trace_ns(transfer->latency));
    put_argument(file, WAITED, ARGUMENT_NUMBER, (uint64_t)(trace_ns(span->begun) - trace_ns(span->start)));
    if (file->link_of[span->transfer])
        put_argument(file, LINK, ARGUMENT_TEXT_IID, (uint64_t)file->link_of[span->transfer]);
}

static void begin_slice(Perfetto *file, const Span *span, int64_t flow) {
    put_number(&file->event, EVENT_TYPE, TYPE_BEGIN);
    put_number(&file->event, EVENT_TRACK, track_uuid(file->set, span->track));
    put_number(&file->event, EVENT_NAME, (uint64_t)span->name + 1);
    put_number(&file->event, EVENT_CATEGORY, (uint64_t)span->category + 1);
    put_arguments(file, span);
    if (flow) put_fixed64(&file->event, EVENT_FLOW, (uint64_t)flow);
    end_event(file, trace_ns(span->start));
}

static void end_slice(Perfetto *file, const Span *span) {
    put_number(&file->event, EVENT_TYPE, TYPE_END);
    put_number(&file->event, EVENT_TRACK, track_uuid(file->set, span->track));
    end_event(file, trace_ns(span->end));
}

// Its end is an instant in the receiver's slice, in its last nanosecond: Perfetto takes ends in order of time, and the
// receiver's slice may begin before the sender's.
static void end_flow(Perfetto *file, const Span *span, int64_t flow) {
    put_number(&file->event, EVENT_TYPE, TYPE_INSTANT);
    put_number(&file->event, EVENT_TRACK, track_uuid(file->set, span->track));
    put_text(&file->event, EVENT_NAME_TEXT, "received");
    put_fixed64(&file->event, EVENT_FLOW_END, (uint64_t)flow);
    end_event(file, trace_ns(span->end) - 1);
}

static void write_leaf(Perfetto *file, int64_t number) {
    const Span *span = &file->set->spans[number];
    int64_t flow = file->flow_of[number];
    begin_slice(file, span, span->flow == SPAN_FLOW_OUT ? flow : 0);
    if (flow && span->flow == SPAN_FLOW_IN) end_flow(file, span, flow);
    end_slice(file, span);
}

// Passes and what lies in them by time: an end stands before the beginning of the same nanosecond.
static void write_slices(Perfetto *file) {
    const SpanSet *set = file->set;
    int64_t pass = 0;
    const Span *open = NULL;
    for (int64_t i = 0; !file->out->full; i++) {
        const Span *span = i < set->span_count ? &set->spans[i] : NULL;
        for (; pass < set->pass_count; pass++) {
            const Span *next = &set->passes[pass];
            if (span && (next->track > span->track || (next->track == span->track && next->start > span->start))) break;
            if (open) end_slice(file, open);
            open = next;
            begin_slice(file, open, 0);
        }
        if (open && (!span || span->track != open->track || span->start >= open->end)) {
            end_slice(file, open);
            open = NULL;
        }
        if (!span) break;
        if (span_is_in(span, file->cut)) write_leaf(file, i);
    }
}

static void find_flows(Perfetto *file) {
    int64_t count, *flow_of = ARENA_ARRAY(file->arena, int64_t, file->set->span_count);
    const TraceArrow *arrows = trace_arrows(file->arena, file->set, file->cut, &count);
    for (int64_t i = 0; i < count; i++) {
        if (trace_ns(arrows[i].from->start) >= trace_ns(arrows[i].to->end) - 1) continue; // one nanosecond: no order
        flow_of[arrows[i].from - file->set->spans] = arrows[i].from->meeting;
        flow_of[arrows[i].to - file->set->spans] = arrows[i].to->meeting;
    }
    file->flow_of = flow_of;
}

static void write_curve(Perfetto *file, int number) {
    const SpanCounter *counter = &file->set->counters[number];
    for (int i = 0; i < counter->count && !file->out->full; i++) {
        if (!point_is_in(counter, i)) continue;
        put_number(&file->event, EVENT_TYPE, TYPE_COUNTER);
        put_number(&file->event, EVENT_TRACK, counter_uuid(file->set, number));
        put_double(&file->event, EVENT_DOUBLE, counter->values[i]);
        end_event(file, trace_ns(counter->times[i]));
    }
}

void perfetto_write(Arena *arena, TraceBuffer *out, const SpanSet *set, const TraceCut *cut) {
    Perfetto file = {.arena = arena, .out = out, .set = set, .cut = cut};
    file.packet.most = file.event.most = file.argument.most = SIZE_MAX;
    write_names(&file);
    describe_all(&file);
    write_about(&file);
    find_flows(&file);
    write_slices(&file);
    for (int c = 0; c < set->counter_count; c++)
        if (counter_is_in(&set->counters[c], cut)) write_curve(&file, c);
    buffer_close(&file.packet);
    buffer_close(&file.event);
    buffer_close(&file.argument);
}
