// lockstep packets: what congestion does to a pattern of flows, by transport, routing and switch.
#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "results/answer/frame.h"
#include "scenarios/fields/fields.h"
#include "scenarios/packets/packets.h"
#include "sim/base/digest.h"
#include "sim/data/vary.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

#define VARIED_MOST 6
#define ROWS_MOST 1000

static const OptionSpec more_rows[] = {
    {"vary", OPTION_TEXTS, "OPTION=VALUES",
     .help = "a row for each of LO:HI:STEP, LO:HI:xFACTOR or A,B,C of an option above; may be repeated",
     .of = OF_QUESTION},
    THREADS_OPTION,
    WATCH_OPTIONS};

static const OptionSpec *rows(Arena *arena, int *count) {
    const ObjectType *type = object_type(OBJECT_PACKETS);
    OptionSpec *own = ARENA_ARRAY(arena, OptionSpec, type->field_count);
    int own_count = 0;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].flag) own[own_count++] = packets_option(arena, &type->fields[i]);
    return options_join(arena, own, own_count, more_rows, COUNT_OF(more_rows), count);
}

// The pattern stands by itself.
static bool read_value(const FieldReader *reader, const Options *options, const Field *field, Value *value) {
    const char *name = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    if (strcmp(field->name, "pattern") != 0 || !name)
        return field_from_option(reader, options, field, "packets", value);
    *value = (Value){.given = true, .written = true, .number = NAN};
    return field_from_text(reader, field, "packets", name, (Where){0}, value);
}

// ---- Many of them.
typedef struct Varied {
    const Field *field;
    Variation as_said;
    Value *values;
    int at;
} Varied;

static const Field *field_varied(const char *name) {
    const ObjectType *type = object_type(OBJECT_PACKETS);
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].flag && strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    return NULL;
}

static bool read_varied(const FieldReader *reader, const Options *options, const char *text, Varied *varied) {
    Variation *said = &varied->as_said;
    if (!vary_read(reader->arena, text, said, reader->problems)) return false;
    varied->field = field_varied(said->name);
    if (!varied->field) {
        problem_add(reader->problems, said->where, "packets has no option \"%.60s\"", said->name);
        return problem_hint(reader->problems, "for example --vary hosts=9,17,33");
    }
    if (option_given(options, varied->field->flag)) {
        problem_add(reader->problems, said->where, "--%s is given, and varied too", varied->field->flag);
        return problem_hint(reader->problems, "leave one of them out");
    }
    varied->values = ARENA_ARRAY(reader->arena, Value, said->count);
    for (int i = 0; i < said->count; i++) {
        varied->values[i] = (Value){.given = true, .written = true, .number = NAN};
        if (!field_from_text(reader, varied->field, "packets", said->texts[i], said->where, &varied->values[i]))
            return false;
    }
    return true;
}

// On to the next of the product; false: that was the last.
static bool step_on(Varied *varied, int count) {
    for (int v = count - 1; v >= 0; v--) {
        if (++varied[v].at < varied[v].as_said.count) return true;
        varied[v].at = 0;
    }
    return false;
}

static const char *row_name(Arena *arena, const Varied *varied, int count) {
    const char *name = "";
    for (int v = 0; v < count; v++)
        name = arena_printf(arena, "%s%s%s=%s", name, v ? " " : "", varied[v].field->flag,
                            varied[v].as_said.texts[varied[v].at]);
    return name;
}

static int answer_rows(Asking *asking, Value *values, Varied *varied, int count) {
    static const AnswerColumn columns[] = {
        {"varied", "with", AS_TEXT, 0},
        {"end_s", "all there", AS_SECONDS, 0},
        {"ideal_s", NULL, AS_SECONDS, 0},
        {"fct_mean_s", "a flow", AS_SECONDS, 0},
        {"fct_p99_s", "1 in 100", AS_SECONDS, 0},
        {"fairness", "fair", AS_NUMBER, 2},
        {"goodput_bytes_per_s", "payload", AS_BANDWIDTH, 1},
        {"queue_most_bytes", "longest queue", AS_BYTES, 0},
        {"queue_mean_bytes", "mean", AS_BYTES, 4},
        {"paused_s", "paused", AS_SECONDS, 3},
        {"marked", "marked", AS_COUNT, 3},
        {"dropped", "dropped", AS_COUNT, 3},
        {"trimmed", "trimmed", AS_COUNT, 3},
        {"resent", "sent again", AS_COUNT, 2},
        {"timeouts", "timeouts", AS_COUNT, 2},
    };
    uint64_t digest = DIGEST_START;
    answer_rename(asking->answer, "packets");
    answer_table(asking->answer, "rows", "Each with each", COLUMNS(columns));
    do {
        PacketsOutcome result;
        Arena *scratch = arena_open();
        for (int v = 0; v < count; v++)
            values[field_index(OBJECT_PACKETS, varied[v].field->name)] = varied[v].values[varied[v].at];
        const PacketsStudy *study =
            packets_study_create(scratch, &(PacketsSaid){.values = values, .seed = 1}, asking->problems);
        if (!study || !packets_study_run(scratch, study, &result, asking->problems)) {
            arena_close(scratch);
            return watch_status(EXIT_BAD_INPUT);
        }
        PacketsFigures f = packets_figures(scratch, study, &result.packets);
        ANSWER_ROW(asking->answer, row_name(asking->arena, varied, count), f.end, f.ideal, f.sent.mean_seconds,
                   f.sent.p99_seconds, f.fairness, f.goodput, f.sent.queue_most, f.sent.queue_mean,
                   f.sent.paused_seconds, (double)f.sent.marks, (double)f.sent.drops, (double)f.sent.trims,
                   (double)f.sent.resent, (double)f.sent.timeouts);
        digest = digest_u64(digest, result.packets.digest);
        arena_close(scratch);
    } while (step_on(varied, count));
    answer_digest(asking->answer, digest);
    return EXIT_DONE;
}

// Those that --vary names, read. -1 after problems.
static int read_all_varied(const FieldReader *reader, const Options *options, Varied *varied) {
    int count;
    double rows = 1;
    const char *const *texts = option_texts(options, "vary", &count);
    for (int v = 0; v < count && v < VARIED_MOST; v++) {
        if (!read_varied(reader, options, texts[v], &varied[v])) return -1;
        rows *= varied[v].as_said.count;
    }
    if (count <= VARIED_MOST && rows <= ROWS_MOST) return count;
    problem_add(reader->problems, (Where){0}, "--vary %d times for %.0f rows: %d and %d are the most", count, rows,
                VARIED_MOST, ROWS_MOST);
    problem_hint(reader->problems, "vary fewer at once");
    return -1;
}

static int ask(Asking *asking) {
    Problems *problems = asking->problems;
    const ObjectType *type = object_type(OBJECT_PACKETS);
    FieldReader reader = {.arena = asking->arena, .problems = problems};
    Value *values = ARENA_ARRAY(asking->arena, Value, type->field_count);
    PacketsOutcome result;
    if (option_positional_count(asking->options) == 0) {
        problem_add(problems, (Where){0}, "packets needs a pattern");
        problem_hint(problems, "incast, permutation or all_to_all; for example: lockstep packets incast");
    }
    for (int i = 0; i < type->field_count; i++) read_value(&reader, asking->options, &type->fields[i], &values[i]);
    Varied varied[VARIED_MOST] = {{0}};
    int varied_count = read_all_varied(&reader, asking->options, varied);
    if (problem_count(problems)) return EXIT_USAGE;
    if (varied_count > 0) return answer_rows(asking, values, varied, varied_count);
    const PacketsStudy *study =
        packets_study_create(asking->arena, &(PacketsSaid){.values = values, .seed = 1}, problems);
    if (!study || !packets_study_run(asking->arena, study, &result, problems)) return watch_status(EXIT_BAD_INPUT);
    packets_study_answer(asking->arena, asking->answer, study, &result);
    return EXIT_DONE;
}

static const Question packets = {
    .name = "packets",
    .usage =
        "lockstep packets incast|permutation|all_to_all [--transport NAME --hosts N --size BYTES --vary OPTION=VALUES]",
    .about = "Sends a pattern of flows as packets through queues, and says when they arrive and what waited, was\n"
             "marked, paused, trimmed, dropped and sent again. Switches are set as the transport is used to.\n"
             "sim.packets { … } of a script takes flows of your own too (docs/packets.md).\n"
             "Exit codes: 0 done, 2 usage, 4 beyond a limit, 130 interrupted.",
    .rows = rows,
    .positional = 1,
    .ask = ask};

const OptionSpec *packets_option_rows(Arena *arena, int *count);
const OptionSpec *packets_option_rows(Arena *arena, int *count) { return frame_rows(arena, &packets, count); }

int command_packets(int argc, char **argv);
int command_packets(int argc, char **argv) { return frame_run(&packets, argc, argv); }
