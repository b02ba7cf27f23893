// lockstep packets: what congestion does to a pattern of flows, by transport, routing and switch.
#include <math.h>
#include <string.h>

#include "models/workload/job/job_options.h"
#include "results/answer/frame.h"
#include "scenarios/fields/fields.h"
#include "scenarios/packets/packets_study.h"
#include "sim/system/watch.h"

static const OptionSpec watch_rows[] = {WATCH_OPTIONS};

static const OptionSpec *rows(Arena *arena, int *count) {
    const ObjectType *type = object_type(OBJECT_PACKETS);
    OptionSpec *own = ARENA_ARRAY(arena, OptionSpec, type->field_count);
    int own_count = 0;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].flag) own[own_count++] = packets_option(arena, &type->fields[i]);
    return options_join(arena, own, own_count, watch_rows, COUNT_OF(watch_rows), count);
}

// The pattern stands by itself.
static bool read_value(const FieldReader *reader, const Options *options, const Field *field, Value *value) {
    const char *name = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    if (strcmp(field->name, "pattern") != 0 || !name)
        return field_from_option(reader, options, field, "packets", value);
    *value = (Value){.given = true, .written = true, .number = NAN};
    return field_from_text(reader, field, "packets", name, (Where){0}, value);
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
    if (problem_count(problems)) return EXIT_USAGE;
    const PacketsStudy *study =
        packets_study_create(asking->arena, &(PacketsSaid){.values = values, .seed = 1}, problems);
    if (!study || !packets_study_run(asking->arena, study, &result, problems)) return watch_status(EXIT_BAD_INPUT);
    packets_study_answer(asking->arena, asking->answer, study, &result);
    return EXIT_DONE;
}

static const Question packets = {
    .name = "packets",
    .usage = "lockstep packets incast|permutation|all_to_all [--transport NAME --hosts N --size BYTES]",
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
