// The rules of Perfetto's importer for its own form (trace_processor/importers/proto/track_event_tokenizer.cc,
// track_event_event_importer.h; importers/common/slice_tracker.cc, flow_tracker.cc).
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trace_check.h"

#define MOST_IIDS 4096 // of one kind, in these tests
#define MOST_TRACKS 4096
#define DEPTH 512

// ---- Protobuf.

typedef struct Message {
    const unsigned char *at, *end;
} Message;

typedef struct Field {
    int number, wire;
    uint64_t value;
    Message inside; // of bytes behind their length
} Field;

typedef enum Reading { READ_FIELD, READ_END, READ_BROKEN } Reading;

static bool read_varint(Message *message, uint64_t *value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (message->at == message->end) return false;
        *value |= (uint64_t)(*message->at & 0x7f) << shift;
        if (!(*message->at++ & 0x80)) return true;
    }
    return false;
}

static Reading read_field(Message *message, Field *field) {
    uint64_t key;
    if (message->at == message->end) return READ_END;
    if (!read_varint(message, &key) || key >> 3 == 0) return READ_BROKEN;
    *field = (Field){.number = (int)(key >> 3), .wire = (int)(key & 7)};
    size_t left = (size_t)(message->end - message->at);
    switch (field->wire) {
    case 0:
        return read_varint(message, &field->value) ? READ_FIELD : READ_BROKEN;
    case 1:
        if (left < 8) return READ_BROKEN;
        for (int i = 0; i < 8; i++) field->value |= (uint64_t)*message->at++ << (8 * i);
        return READ_FIELD;
    case 2:
        if (!read_varint(message, &field->value)) return READ_BROKEN;
        if (field->value > (uint64_t)(message->end - message->at)) return READ_BROKEN;
        field->inside = (Message){message->at, message->at + field->value};
        message->at += field->value;
        return READ_FIELD;
    default:
        return READ_BROKEN;
    }
}

// The first field of that number.
static bool find(Message message, int number, Field *field) {
    while (read_field(&message, field) == READ_FIELD)
        if (field->number == number) return true;
    return false;
}

// ---- What the importer holds.

typedef enum TrackKind { TRACK_UNKNOWN, TRACK_OF_SLICES, TRACK_OF_COUNTER } TrackKind;

typedef struct Moment { // an event, for the stacks
    uint64_t at, track, flow, flow_end;
    int type, order;
} Moment;

typedef struct PerfettoCheck {
    const char *wrong;
    TraceSeen seen;
    TrackKind tracks[MOST_TRACKS];
    bool known[32][MOST_IIDS]; // [field of InternedData][iid]
    bool cleared;
    Moment *moments;
    int moment_count;
} PerfettoCheck;

static bool fails(PerfettoCheck *check, const char *why) {
    if (!check->wrong) check->wrong = why;
    return false;
}

static bool is_known(const PerfettoCheck *check, int kind, uint64_t iid) {
    return iid > 0 && iid < MOST_IIDS && check->known[kind][iid];
}

static bool look_at_names(PerfettoCheck *check, Message names) {
    Field name, iid;
    Reading reading;
    while ((reading = read_field(&names, &name)) == READ_FIELD) {
        if (name.number >= 32 || name.wire != 2 || !find(name.inside, 1, &iid) || iid.value == 0 ||
            iid.value >= MOST_IIDS)
            return fails(check, "a name has no number");
        check->known[name.number][iid.value] = true;
    }
    return reading == READ_END || fails(check, "a message is broken off");
}

static bool look_at_descriptor(PerfettoCheck *check, Message descriptor) {
    Field uuid, parent, process, pid, counter;
    if (!find(descriptor, 1, &uuid) || uuid.value >= MOST_TRACKS) return fails(check, "a track has no uuid");
    if (check->tracks[uuid.value]) return fails(check, "a track is described twice");
    if (find(descriptor, 5, &parent) && (uuid.value == 0 || !check->tracks[parent.value % MOST_TRACKS]))
        return fails(check, "a track's parent is not known");
    if (find(descriptor, 3, &process) && (!find(process.inside, 1, &pid) || pid.value == 0))
        return fails(check, "a process has no pid");
    check->tracks[uuid.value] = find(descriptor, 8, &counter) ? TRACK_OF_COUNTER : TRACK_OF_SLICES;
    check->seen.tracks += parent.number == 5 && check->tracks[uuid.value] == TRACK_OF_SLICES;
    return true;
}

static bool look_at_argument(PerfettoCheck *check, Message argument) {
    Field name, text;
    if (!find(argument, 10, &name) && (!find(argument, 1, &name) || !is_known(check, 3, name.value)))
        return fails(check, "a name is used before it is said");
    if (find(argument, 17, &text) && !is_known(check, 29, text.value))
        return fails(check, "a name is used before it is said");
    return true;
}

static bool look_at_counter(PerfettoCheck *check, Message event, uint64_t track) {
    Field value;
    if (check->tracks[track] != TRACK_OF_COUNTER) return fails(check, "a value on a track that is no counter");
    if (!find(event, 30, &value) && !find(event, 44, &value)) return fails(check, "a counter has no value");
    check->seen.counters++;
    return true;
}

static bool look_at_event(PerfettoCheck *check, Message event, uint64_t at) {
    Field field, type, track;
    Moment moment = {.at = at, .order = check->moment_count};
    if (!find(event, 9, &type) || type.value < 1 || type.value > 4) return fails(check, "an event has no type");
    if (!find(event, 11, &track) || track.value >= MOST_TRACKS || !check->tracks[track.value])
        return fails(check, "an event's track is not known");
    if (type.value == 4) return look_at_counter(check, event, track.value);
    if (check->tracks[track.value] != TRACK_OF_SLICES) return fails(check, "a slice on a counter's track");
    if (type.value != 2 && !find(event, 23, &field) && !find(event, 10, &field))
        return fails(check, "a slice has no name");
    Reading reading;
    Message rest = event;
    while ((reading = read_field(&rest, &field)) == READ_FIELD) {
        if (field.number == 10 && !is_known(check, 2, field.value)) fails(check, "a name is used before it is said");
        if (field.number == 3 && !is_known(check, 1, field.value)) fails(check, "a name is used before it is said");
        if (field.number == 4 && !look_at_argument(check, field.inside)) return false;
        if (field.number == 47) moment.flow = field.value;
        if (field.number == 48) moment.flow_end = field.value;
    }
    if (reading == READ_BROKEN) return fails(check, "a message is broken off");
    moment.type = (int)type.value;
    moment.track = track.value;
    check->moments[check->moment_count++] = moment;
    return !check->wrong;
}

static bool look_at_packet(PerfettoCheck *check, Message packet) {
    Field sequence, flags = {0}, inside, at;
    bool numbered = find(packet, 10, &sequence) && sequence.value > 0;
    uint64_t flag = find(packet, 13, &flags) ? flags.value : 0;
    bool names = find(packet, 12, &inside);
    if ((names || flag || find(packet, 11, &inside)) && !numbered)
        return fails(check, "a packet belongs to no sequence");
    if (flag & 1) {
        memset(check->known, 0, sizeof check->known);
        check->cleared = true;
    }
    if ((flag & 2) && !check->cleared) return fails(check, "names are needed before any are said");
    if (find(packet, 12, &inside) && !look_at_names(check, inside.inside)) return false;
    if (find(packet, 60, &inside) && !look_at_descriptor(check, inside.inside)) return false;
    if (!find(packet, 11, &inside)) return true;
    if (!find(packet, 8, &at) || at.value > INT64_MAX) return fails(check, "an event has no time, or a negative one");
    return look_at_event(check, inside.inside, at.value);
}

// ---- Stacks and arrows, by time; of equal times as they stand in the file.

static int by_track_and_time(const void *a, const void *b) {
    const Moment *one = a, *other = b;
    if (one->track != other->track) return one->track < other->track ? -1 : 1;
    if (one->at != other->at) return one->at < other->at ? -1 : 1;
    return one->order - other->order;
}

static int by_time(const void *a, const void *b) {
    const Moment *one = a, *other = b;
    if (one->at != other->at) return one->at < other->at ? -1 : 1;
    return one->order - other->order;
}

static void look_at_stacks(PerfettoCheck *check) {
    qsort(check->moments, (size_t)check->moment_count, sizeof *check->moments, by_track_and_time);
    int depth = 0;
    for (int i = 0; i < check->moment_count; i++) {
        const Moment *moment = &check->moments[i];
        if (i > 0 && moment[-1].track != moment->track && depth > 0) fails(check, "a slice does not end");
        if (i > 0 && moment[-1].track != moment->track) depth = 0;
        depth += moment->type == 1 ? 1 : moment->type == 2 ? -1 : 0;
        check->seen.slices += moment->type == 1;
        if (depth < 0) fails(check, "a slice ends that has not begun");
        if (depth < 0) return;
        if (depth > DEPTH) fails(check, "slices are nested too deep");
        if (moment->flow_end && depth == 0) fails(check, "an arrow's end lies in no slice");
        if (moment->type == 2 && (int64_t)moment->at > check->seen.longest_ns)
            check->seen.longest_ns = (int64_t)moment->at;
    }
    if (depth > 0) fails(check, "a slice does not end");
}

static void look_at_flows(Arena *arena, PerfettoCheck *check) {
    qsort(check->moments, (size_t)check->moment_count, sizeof *check->moments, by_time);
    uint64_t *open = ARENA_ARRAY(arena, uint64_t, check->moment_count);
    int count = 0;
    for (int i = 0; i < check->moment_count; i++) {
        const Moment *moment = &check->moments[i];
        uint64_t id = moment->flow ? moment->flow : moment->flow_end;
        if (!id) continue;
        int k = 0;
        while (k < count && open[k] != id) k++;
        if (moment->flow && k < count) fails(check, "an arrow begins twice");
        if (moment->flow) open[count++] = id;
        if (!moment->flow && k == count) fails(check, "an arrow ends that has not begun");
        if (!moment->flow && k < count) {
            open[k] = open[--count];
            check->seen.arrows++;
        }
    }
    if (count) fails(check, "an arrow does not end");
}

TraceSeen check_perfetto_trace(Arena *arena, const unsigned char *bytes, size_t count) {
    PerfettoCheck *check = ARENA_NEW(arena, PerfettoCheck);
    check->moments = ARENA_ARRAY(arena, Moment, count / 8 + 1);
    Message file = {bytes, bytes + count};
    Field packet;
    Reading reading;
    while ((reading = read_field(&file, &packet)) == READ_FIELD) {
        if (packet.number != 1 || packet.wire != 2) fails(check, "there is something between packets");
        if (check->wrong || !look_at_packet(check, packet.inside)) break;
    }
    if (reading == READ_BROKEN) fails(check, "a message is broken off");
    if (!check->wrong) look_at_stacks(check);
    if (!check->wrong) look_at_flows(arena, check);
    check->seen.wrong = check->wrong;
    return check->seen;
}
