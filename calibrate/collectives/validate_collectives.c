// lockstep validate collectives: nccl-tests logs against predictions from a description of their clusters.
#include <stdio.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/command_validate.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4

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
    {"verbose", OPTION_FLAG, .help = "every log too", .letter = 'v'},
    {"csv", OPTION_FLAG, .help = "print the scores of every log as CSV"},
    {"json", OPTION_FLAG, .help = "print JSON instead of tables"},
    PIECES_OPTION,
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static const char usage[] =
    "lockstep validate collectives [LOG|DIR…] [--clusters clusters.csv] [--fit-on ops|scale|GLOB] "
    "[--cross family|machine] [--nested] [--rules] [--rows OUT.csv] [--json]";
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

static int validate(Validation *validation, const Options *options) {
    Arena *arena = validation->arena;
    bool json = option_flag(options, "json");
    const char *rows = option_text(options, "rows", NULL), *glob = option_text(options, "fit-on", NULL);
    read_logs(validation, options);
    if (problem_count(validation->problems)) return EXIT_INPUT;
    predict_all(validation);
    if (glob) fit_and_predict(validation, glob, json);
    if (problem_count(validation->problems)) return EXIT_INPUT;
    int crossed = option_choice(options, "cross", -1);
    if (crossed >= 0) cross(validation, crossed ? machine_word : family_word, cross_names[crossed], json);
    if (option_flag(options, "nested")) nested(validation, json || option_flag(options, "csv"));
    if (option_flag(options, "rules")) {
        weigh_rules(validation);
        return 0;
    }
    if (option_flag(options, "refit")) refit(validation);
    LogScore *scores = ARENA_ARRAY(arena, LogScore, validation->logs.count);
    for (int i = 0; i < validation->logs.count; i++) {
        const MeasuredCollective *measured = &validation->logs.items[i];
        scores[i] = (LogScore){measured, score_of(arena, measured, true), score_of(arena, measured, false)};
    }
    Board board = {arena, scores, validation->logs.count, glob != NULL};
    if (json)
        print_json(validation, &board);
    else if (option_flag(options, "csv"))
        print_csv(&board);
    else
        print_board(validation, &board, option_flag(options, "verbose"));
    if (!json && !option_flag(options, "csv") && crossed < 0 && !glob)
        printf("The shipped constants were fitted to the shipped logs; --cross family predicts each without its own "
               "logs.\n");
    return !rows || write_rows(validation, rows) ? 0 : 1;
}

int validate_collectives(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Validation validation = {.arena = arena, .problems = problems};
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    int code = EXIT_USAGE;
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        arena_close(arena);
        return 0;
    }
    if (option_given(options, "cross") && option_given(options, "fit-on"))
        problem_add(problems, (Where){0}, "--cross and --fit-on are two different questions; ask one at a time");
    static const char *const texts[] = {"rules", "refit"}, *const forms[] = {"json", "csv"};
    for (int i = 0; i < 4; i++)
        options_refuse_both(options, texts[i / 2], forms[i % 2], "it is printed as text alone", problems);
    pieces_open_from(options, "jobs", problems);
    if (!problem_count(problems)) code = validate(&validation, options);
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
