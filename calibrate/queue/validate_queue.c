// lockstep validate queue: compares published figures of shared clusters with replays of their traces.
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/queue/replay_queue.h"
#include "results/answer/frame.h"
#include "sim/system/pieces.h"
#include "sim/system/shipped.h"

#define SHIPPED SHIPPED_MEASUREMENTS "/queue"
#define REPETITIONS 40

static const OptionSpec specs[] = {
    {"repetitions", OPTION_COUNT, "N", .help = "months drawn for each virtual cluster; default 40"},
    PIECES_OPTION,
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static AnswerValue figure(Arena *arena, const QueueCheck *check, double value) {
    bool is_share = strcmp(check->unit, "share") == 0;
    return answer_shown(AS_NUMBER, value,
                        arena_printf(arena, is_share ? "%.1f %%" : "%.4g", is_share ? 100 * value : value));
}

// Remarks common to a trace's rows, printed once.
static void add_remarks(Answer *answer, const QueueChecks *checks) {
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        if (i > 0 && strcmp(check->trace, checks->items[i - 1].trace) == 0) continue;
        answer_say(answer, check->trace, "assumed: %s. Where not: %s", check->assumed, check->why);
    }
}

static void fill(Answer *answer, const QueueChecks *checks) {
    static const AnswerColumn columns[] = {{"trace", "trace", AS_TEXT, 0},
                                           {"figure", "figure", AS_TEXT, 0},
                                           {"unit", NULL, AS_TEXT, 0},
                                           {NULL, "unit", AS_TEXT, 2},
                                           {"published", "published", AS_NUMBER, 0},
                                           {"simulated", "simulated", AS_NUMBER, 0},
                                           {"low", "from", AS_NUMBER, 1},
                                           {"high", "to (90 %)", AS_NUMBER, 1},
                                           {"holds", "holds", AS_BOOL, 0},
                                           {"assumed", NULL, AS_TEXT, 0},
                                           {"why_not", NULL, AS_TEXT, 0}};
    Arena *arena = checks->arena;
    int holds = 0;
    answer_table(answer, "rows", "Published clusters, and their traces replayed", COLUMNS(columns));
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        ANSWER_ROW(answer, check->trace, check->what, check->unit, strcmp(check->unit, "share") == 0 ? "" : check->unit,
                   figure(arena, check, check->published), figure(arena, check, check->simulated),
                   figure(arena, check, check->low), figure(arena, check, check->high), queue_check_holds(check),
                   check->assumed, check->why);
        holds += queue_check_holds(check);
    }
    answer_say(answer, NULL,
               "%d of %d figures hold: they lie in the simulated range, or within 25 %% of the published one.", holds,
               checks->count);
    add_remarks(answer, checks);
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    QueueChecks checks = {.arena = asking->arena,
                          .problems = asking->problems,
                          .repetitions =
                              option_count_within(options, "repetitions", REPETITIONS, 2, 10000, asking->problems),
                          .folder = option_positional_count(options) ? option_positional(options, 0)
                                                                     : shipped_file(asking->arena, SHIPPED)};
    if (problem_count(asking->problems)) return EXIT_USAGE;
    queue_replay_all(&checks);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    fill(asking->answer, &checks);
    return EXIT_DONE;
}

int validate_queue(int argc, char **argv) {
    static const Question question = {
        .name = "validate-queue",
        .usage = "lockstep validate queue [FOLDER] [--repetitions N]",
        .about = "Waits, backlogs and use of shared clusters as their operators published them, beside replays of\n"
                 "their traces. Without a folder: " SHIPPED ", whose README.md names the sources.",
        .own = specs,
        .own_count = SPEC_COUNT,
        .processes = "jobs",
        .positional = 1,
        .ask = ask};
    return frame_run(&question, argc, argv);
}
