// lockstep validate queue: what operators of shared clusters published, beside their traces replayed.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/queue/replay_queue.h"
#include "sim/base/options.h"
#include "sim/data/envelope.h"
#include "sim/data/json.h"
#include "sim/system/pieces.h"

enum { DONE = 0, BAD_USAGE = 2, BAD_INPUT = 4 };

#define SHIPPED "calibrate/measurements/queue"
#define REPETITIONS 40

static const OptionSpec specs[] = {
    {"repetitions", OPTION_COUNT, "N", .help = "months drawn for each virtual cluster; default 40"},
    {"json", OPTION_FLAG, .help = "print JSON instead of a table"},
    PIECES_OPTION,
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static void print_figure(const QueueCheck *check, double value) {
    if (strcmp(check->unit, "share") == 0)
        printf(" %9.1f%%", 100 * value);
    else
        printf(" %10.4g", value);
}

// What the rows have in common is said once for each trace.
static void print_remarks(const QueueChecks *checks) {
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        if (i > 0 && strcmp(check->trace, checks->items[i - 1].trace) == 0) continue;
        printf("\n%s\n  assumed   %s\n  where not %s\n", check->trace, check->assumed, check->why);
    }
}

static void print_table(const QueueChecks *checks) {
    int holds = 0;
    printf("%-13s %-40s %-5s %10s %10s %10s %10s  %s\n", "trace", "figure", "unit", "published", "simulated", "from",
           "to (90 %)", "holds");
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        printf("%-13s %-40s %-5s", check->trace, check->what, strcmp(check->unit, "share") == 0 ? "" : check->unit);
        print_figure(check, check->published);
        print_figure(check, check->simulated);
        print_figure(check, check->low);
        print_figure(check, check->high);
        printf("  %s\n", queue_check_holds(check) ? "yes" : "no");
        holds += queue_check_holds(check);
    }
    printf("\n%d of %d figures hold: they lie in the simulated range, or within 25 %% of the published one.\n", holds,
           checks->count);
    print_remarks(checks);
}

static void print_json(const QueueChecks *checks) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "validate-queue");
    json_key(&json, "rows");
    json_begin_list(&json);
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        json_begin_object(&json);
        json_text_member(&json, "trace", check->trace);
        json_text_member(&json, "figure", check->what);
        json_text_member(&json, "unit", check->unit);
        json_number_member(&json, "published", check->published);
        json_number_member(&json, "simulated", check->simulated);
        json_number_member(&json, "low", check->low);
        json_number_member(&json, "high", check->high);
        json_key(&json, "holds");
        json_write_bool(&json, queue_check_holds(check));
        json_text_member(&json, "assumed", check->assumed);
        json_text_member(&json, "why_not", check->why);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static int run(QueueChecks *checks, int argc, char **argv) {
    Options *options = options_parse(checks->arena, specs, SPEC_COUNT, argc, argv, checks->problems);
    if (option_help(options)) {
        options_print_help(
            specs, SPEC_COUNT, "lockstep validate queue [FOLDER] [--repetitions N] [--json]",
            "Waits, backlogs and use of shared clusters as their operators published them, beside replays of\n"
            "their traces. Without a folder: " SHIPPED ", whose README.md names the sources.",
            stdout);
        return DONE;
    }
    options_refuse_positional(options, 1, checks->problems);
    int64_t repetitions = option_count(options, "repetitions", REPETITIONS);
    if (repetitions < 2 || repetitions > 10000) {
        problem_add(checks->problems, (Where){0}, "--repetitions is from 2 to 10,000");
        problem_hint(checks->problems, "for example --repetitions 100");
    }
    pieces_open_from(options, "jobs", checks->problems);
    if (problem_count(checks->problems)) return BAD_USAGE;
    checks->repetitions = (int)repetitions;
    checks->folder = option_positional_count(options) ? option_positional(options, 0) : SHIPPED;
    queue_replay_all(checks);
    if (problem_count(checks->problems)) return BAD_INPUT;
    if (option_flag(options, "json"))
        print_json(checks);
    else
        print_table(checks);
    return DONE;
}

int validate_queue(int argc, char **argv) {
    QueueChecks checks = {.arena = arena_open()};
    checks.problems = problems_create(checks.arena);
    int code = run(&checks, argc, argv);
    problems_print(checks.problems, stderr);
    arena_close(checks.arena);
    return code;
}
