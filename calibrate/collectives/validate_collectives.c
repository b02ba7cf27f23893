// lockstep validate collectives: nccl-tests logs against predictions from a description of their clusters. The answer
// has scores by group, machine and log, the worst with their likely reason, and the assumptions.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/command_validate.h"
#include "results/answer/frame.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- The answer of validate collectives: scores by group, machine and log, the worst with their likely reason, and
// the assumptions.

// ---- Groups of logs. From 64 KiB and below.

static void add_summed(Answer *answer, const Summed *summed) {
    bool known = summed->logs > 0;
    ANSWER_CELLS(answer, answer_of_whole(summed->logs), answer_of_percent(known ? summed->median : NAN),
                 answer_of_percent(known ? summed->p90_of_medians : NAN),
                 answer_of_percent(known ? summed->median_of_p90s : NAN),
                 answer_of_percent(known ? summed->inside : NAN));
}

static void add_groups(const Validation *validation, const Board *board, const char *key, const char *by,
                       WordOf word_of) {
    static const AnswerColumn columns[] = {{"name", "from 64 KiB, and below", AS_TEXT, 0},
                                           {NULL, "logs", AS_WHOLE, 0},
                                           {"from_64_kib.logs", NULL, AS_WHOLE, 0},
                                           {"from_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                           {"from_64_kib.p90_over_logs_pct", "p90", AS_NUMBER, 0},
                                           {"from_64_kib.median_of_p90_pct", "m.p90", AS_NUMBER, 3},
                                           {"from_64_kib.inside_range_pct", "range", AS_NUMBER, 1},
                                           {"below_64_kib.logs", NULL, AS_WHOLE, 0},
                                           {"below_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                           {"below_64_kib.p90_over_logs_pct", "p90", AS_NUMBER, 0},
                                           {"below_64_kib.median_of_p90_pct", "m.p90", AS_NUMBER, 3},
                                           {"below_64_kib.inside_range_pct", "range", AS_NUMBER, 2}};
    Answer *answer = validation->answer;
    bool *chosen = ARENA_ARRAY(board->arena, bool, board->count);
    answer_table(answer, key, by, COLUMNS(columns));
    for (int i = 0; i < board->count; i++) {
        const char *word = word_of(board->scores[i].measured);
        int logs = seen_before(board, word_of, i) ? 0 : choose_word(board, word_of, word, chosen);
        if (!logs) continue;
        Summed large = sum_up(board, chosen, true), small = sum_up(board, chosen, false);
        ANSWER_CELLS(answer, word, answer_of_whole(logs));
        add_summed(answer, &large);
        add_summed(answer, &small);
    }
}

// Many logs of one machine are no more than one machine; inside a node others count than between nodes.
static void add_machine_votes(const Validation *validation) {
    static const char *const titles[] = {"inside a node", "between nodes", "all"};
    collectives_open_machines(validation, "machine_votes", "one vote per machine");
    for (int t = 0; t < 3; t++) {
        Measurements chosen = {.items = ARENA_ARRAY(validation->arena, MeasuredCollective, validation->logs.count)};
        for (int i = 0; i < validation->logs.count; i++)
            if (t == 2 || spans_nodes(validation->logs.items[i].cluster) == (t == 1))
                chosen.items[chosen.count++] = validation->logs.items[i];
        collectives_answer_machines(validation, titles[t], &chosen);
    }
}

// ---- Logs.

static void add_score(Answer *answer, const Score *score) {
    bool known = score->sizes > 0;
    ANSWER_CELLS(answer, answer_of_whole(score->sizes), answer_of_percent(known ? score->median : NAN),
                 answer_of_percent(known ? score->p90 : NAN));
}

static void add_logs(Answer *answer, const Board *board) {
    static const AnswerColumn columns[] = {{"log", "log: from 64 KiB, and below", AS_TEXT, 0},
                                           {"op", "op", AS_TEXT, 0},
                                           {"family", NULL, AS_TEXT, 0},
                                           {"constants", NULL, AS_TEXT, 0},
                                           {"from_64_kib.sizes", "sizes", AS_WHOLE, 0},
                                           {"from_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                           {"from_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                           {"below_64_kib.sizes", "sizes", AS_WHOLE, 0},
                                           {"below_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                           {"below_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                           {NULL, "constants", AS_TEXT, 0},
                                           {"assumptions", NULL, AS_TEXT, 0}};
    answer_table(answer, "logs", NULL, COLUMNS(columns));
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        const MeasuredCollective *of = score->measured;
        const char *fitted = of->fitted ? "fitted on this log" : of->informed ? "fitted on this machine" : "";
        ANSWER_CELLS(answer, of->log->name, of->cluster->op, of->cluster->family, *fitted ? fitted : "shipped");
        add_score(answer, &score->large);
        add_score(answer, &score->small);
        answer_cell(answer, answer_of_text(fitted));
        const char *assumed = "";
        for (int a = 0; a < of->cluster->assumption_count; a++)
            assumed = arena_printf(board->arena, "%s%s%s", assumed, *assumed ? "; " : "", of->cluster->assumptions[a]);
        answer_cell(answer, answer_of_text(assumed));
    }
    answer_main_called(answer, "logs");
}

static void add_assumptions(const Validation *validation) {
    static const AnswerColumn columns[] = {{"text", "Assumed where clusters.csv says nothing", AS_TEXT, 0},
                                           {"logs", "logs", AS_WHOLE, 0}};
    const Measurements *logs = &validation->logs;
    answer_table(validation->answer, "assumed", NULL, COLUMNS(columns));
    for (int i = 0; i < logs->count; i++)
        for (int a = 0; a < logs->items[i].cluster->assumption_count; a++) {
            const char *words = logs->items[i].cluster->assumptions[a];
            bool seen = false;
            int sharing = 0;
            for (int j = 0; j < logs->count; j++)
                for (int b = 0; b < logs->items[j].cluster->assumption_count; b++) {
                    if (strcmp(logs->items[j].cluster->assumptions[b], words) != 0) continue;
                    sharing++;
                    seen = seen || j < i;
                }
            if (!seen) ANSWER_ROW(validation->answer, words, sharing);
        }
}

static void add_skipped(const Validation *validation) {
    static const AnswerColumn columns[] = {{"log", "skipped", AS_TEXT, 0}, {"reason", "why", AS_TEXT, 0}};
    answer_table(validation->answer, "skipped", NULL, COLUMNS(columns));
    for (int i = 0; i < validation->skipped.count; i++)
        ANSWER_ROW(validation->answer, validation->skipped.items[i].log, validation->skipped.items[i].reason);
}

static int next_worst(const Board *board, const bool *shown) {
    int worst = -1;
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        if (shown[i] || !score->large.sizes || (board->only_informed && !score->measured->informed)) continue;
        if (worst < 0 || score->large.median > board->scores[worst].large.median) worst = i;
    }
    return worst;
}

static void add_worst(Answer *answer, const Board *board) {
    static const AnswerColumn columns[] = {{"log", "worst from 64 KiB", AS_TEXT, 0},
                                           {"median_error_pct", "median %", AS_NUMBER, 0},
                                           {"reason", "likely reason", AS_TEXT, BELOW_ROW}};
    bool *shown = ARENA_ARRAY(board->arena, bool, board->count);
    answer_table(answer, "worst", NULL, COLUMNS(columns));
    for (int i = 0; i < 10; i++) {
        int worst = next_worst(board, shown);
        if (worst < 0) break;
        const LogScore *score = &board->scores[worst];
        shown[worst] = true;
        ANSWER_ROW(answer, score->measured->log->name, answer_of_percent(true ? score->large.median : NAN),
                   likely_reason(board->arena, score->measured));
    }
}

static void collectives_answer(const Validation *validation, const Board *board) {
    Answer *answer = validation->answer;
    add_groups(validation, board, "all", NULL, all_word);
    add_machine_votes(validation);
    answer_say(answer, NULL, "%d of %d logs are predicted.", validation->logs.count,
               validation->logs.count + validation->skipped.count);
    answer_number(answer, "logs_predicted", NULL, AS_WHOLE, validation->logs.count);
    answer_number(answer, "logs_given", NULL, AS_WHOLE, validation->logs.count + validation->skipped.count);
    add_skipped(validation);
    answer_first_rows(answer, 2);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(
        answer, NULL,
        "Median and p90 are over logs, of each log's median |predicted / measured - 1|; m.p90 is the median of "
        "the logs' p90s; range is the share of sizes inside the 90 %% range that the description leaves (90 when "
        "it is honest).");
    add_groups(validation, board, "families", "By family", family_word);
    add_groups(validation, board, "operations", "By operation", op_word);
    add_groups(validation, board, "gpu_types", "By type of GPU", gpu_word);
    add_worst(answer, board);
    add_assumptions(validation);
    add_logs(answer, board);
    answer_close(answer);
}

// ---- The sizes as a file.

static bool collectives_rows_write(const Validation *validation, const char *path) {
    OutputFile file;
    if (!file_create(validation->arena, path, &file, validation->problems)) return false;
    csv_titles(file.stream, "log,op,size,measured_us,predicted_us,error_pct");
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < validation->logs.count; i++) {
        const MeasuredCollective *measured = &validation->logs.items[i];
        for (int r = 0; r < measured->log->row_count; r++) {
            const NcclRow *row = &measured->log->rows[r];
            csv_text(&csv, measured->log->name);
            csv_text(&csv, measured->cluster->op);
            csv_figures(&csv, "%.0f,%.6g,%.6g,%.4g", row->bytes, 1e6 * row->seconds, 1e6 * measured->predicted[r],
                        100 * (measured->predicted[r] / row->seconds - 1));
            csv_end_row(&csv);
        }
    }
    return file_commit(&file, validation->problems);
}

// ---- lockstep validate collectives: nccl-tests logs against predictions from a description of their clusters.

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

const Question validate_collectives_question = {.name = "validate-collectives",
                                                .usage = usage,
                                                .about = about,
                                                .own = specs,
                                                .own_count = sizeof specs / sizeof *specs,
                                                .processes = "jobs",
                                                .positional = INT_MAX,
                                                .ask = ask};
