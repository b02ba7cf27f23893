// lockstep validate collectives: nccl-tests logs against predictions from a description of their clusters.
#include <limits.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/command_validate.h"
#include "results/answer/frame.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

static const char *const cross_names[] = {"family", "machine"};

static const OptionSpec specs[] = {
    {"clusters", OPTION_TEXT, "FILE.csv", .help = "what each log was measured on (see " SHIPPED_FOLDER "/README.md)"},
    {"fit-on", OPTION_TEXT, "ops|scale|GLOB",
     .help = "fit each machine on its all_reduce logs (ops), on one node and the fewest GPUs of several (scale), or on "
             "logs whose names match; predict its others"},
    {"cross", OPTION_CHOICE,
     .help = "leave each family of hardware (or machine) out of the fit of the shared constants, and predict it",
     .choices = cross_names, .choice_count = 2},
    {"nested", OPTION_FLAG,
     .help = "leave each type of GPU, then each machine, out with all that was learned from it; one vote per machine"},
    {"rules", OPTION_FLAG, .help = "switch each special rule off in turn: what it is worth on machines left out"},
    {"op", OPTION_TEXTS, "NAME", .help = "only logs of that operation; may be given again"},
    {"family", OPTION_TEXTS, "WORD", .help = "only logs whose family has the word in it; may be given again"},
    {"refit", OPTION_FLAG, .help = "fit the shared constants to all logs, from their priors, and print them"},
    {"rows", OPTION_TEXT, "OUT.csv", .help = "every size of every log: log,op,size,measured_us,predicted_us,error_pct"},
    PIECES_OPTION,
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static const char usage[] =
    "lockstep validate collectives [LOG|DIR…] [--clusters clusters.csv] [--fit-on ops|scale|GLOB] "
    "[--cross family|machine] [--nested] [--rules] [--rows OUT.csv]";
static const char about[] =
    "Compares nccl-tests logs (text or JSON) with what the network model predicts from a description of each cluster.\n"
    "A folder stands for its *.txt, with its clusters.csv when that is all that is named; without logs: those that\n"
    "come with the program. What clusters.csv leaves out is taken from the log: nccl-tests' list of\n"
    "ranks, and NCCL's lines where NCCL_DEBUG=INFO was set. Errors are |predicted / measured - 1|; the shipped "
    "constants were\n"
    "fitted to the shipped logs, so only --cross says how machines never seen are predicted.";

// Up to an interrupt: logs behind it are as if they had not been given.
static void predict_all(Validation *validation) {
    WatchPiece piece;
    int done = 0;
    watch_begin(&piece, "the logs", validation->logs.count, WATCH_NO_LIMIT);
    for (; done < validation->logs.count; done++) {
        predict(&validation->logs.items[done], NULL);
        if (!watch_goes_on(1)) break;
    }
    watch_end(&piece);
    validation->logs.count = done;
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    Validation validation = {.arena = arena, .problems = asking->problems, .answer = asking->answer};
    const char *rows = option_text(options, "rows", NULL), *glob = option_text(options, "fit-on", NULL);
    int crossed = option_choice(options, "cross", -1);
    if (crossed >= 0 && glob) {
        problem_add(asking->problems, (Where){0},
                    "--cross and --fit-on are two different questions; ask one at a time");
        return EXIT_USAGE;
    }
    read_logs(&validation, options);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    predict_all(&validation);
    if (glob) fit_and_predict(&validation, glob);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    if (crossed >= 0) cross(&validation, crossed ? machine_word : family_word, cross_names[crossed]);
    if (option_flag(options, "rules")) {
        weigh_rules(&validation);
        return EXIT_DONE;
    }
    if (option_flag(options, "nested")) nested(&validation);
    if (option_flag(options, "refit")) refit(&validation);
    LogScore *scores = ARENA_ARRAY(arena, LogScore, validation.logs.count);
    for (int i = 0; i < validation.logs.count; i++) {
        const MeasuredCollective *measured = &validation.logs.items[i];
        scores[i] = (LogScore){measured, score_of(arena, measured, true), score_of(arena, measured, false)};
    }
    collectives_answer(&validation, &(Board){arena, scores, validation.logs.count, glob != NULL});
    if (crossed < 0 && !glob)
        answer_say(
            asking->answer, NULL,
            "The shipped constants were fitted to the shipped logs; --cross family predicts each without its own.");
    return !rows || collectives_rows_write(&validation, rows) ? EXIT_DONE : EXIT_FAILED;
}

const Question collectives_question = {.name = "validate-collectives",
                                       .usage = usage,
                                       .about = about,
                                       .own = specs,
                                       .own_count = SPEC_COUNT,
                                       .processes = "jobs",
                                       .positional = INT_MAX,
                                       .ask = ask};

int validate_collectives(int argc, char **argv) { return frame_run(&collectives_question, argc, argv); }
