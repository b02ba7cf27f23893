// lockstep queue: jobs on a shared cluster; how long they wait under which policy, and how many GPUs they need.
#include "scenarios/queue/command_queue.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/record_answer.h"
#include "results/chart/chart.h"
#include "scenarios/queue/queue_options.h"
#include "sim/data/envelope.h"
#include "sim/system/file.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

static const char usage[] =
    "lockstep queue --gpus 512 --load 0.9 [--mix NAME | --trace FILE.csv] [--policy NAME,…] [--model NAME]";
static const char about[] =
    "Runs jobs on a shared cluster under several policies: how long they wait, how well GPUs are used, how fair it "
    "is.\n"
    "  lockstep queue --gpus 512 --mix gavel --load 0.9\n"
    "  lockstep queue --gpus 1024 --trace cluster_log.csv --policy easy,fair-share --node-mtbf 300d\n"
    "  lockstep queue --find-gpus --wait-p95 1h --mix gavel --jobs-per-hour 20\n\n"
    "With --model, a job's speed is the simulated step of that model on the nodes and leaf switches it was given.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 4 bad input or beyond a limit, 130 interrupted.";

static int show_problems(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return problems_status(problems, status);
}

static void print_mix(FILE *out, const QueueMix *mix, double gpus, double seconds) {
    fprintf(out, "%s: %s\n  %.3g GPUs and %.4g s in the mean\n  source   %s\n  assumed  %s\n", mix->name, mix->title,
            gpus, seconds, mix->source, mix->assumed);
}

static void mix_object(JsonWriter *json, const QueueMix *mix, double gpus, double seconds) {
    json_begin_object(json);
    json_text_member(json, "name", mix->name);
    json_text_member(json, "title", mix->title);
    json_number_member(json, "mean_gpus", gpus);
    json_number_member(json, "mean_s", seconds);
    json_text_member(json, "source", mix->source);
    json_text_member(json, "assumed", mix->assumed);
    json_end_object(json);
}

static void print_mixes(FILE *out, bool as_json) {
    JsonWriter json = json_writer(out, 2);
    if (as_json) {
        json_begin_object(&json);
        envelope_write(&json, "queue-mixes");
        json_key(&json, "mixes");
        json_begin_list(&json);
    }
    for (int i = 0; i < queue_mix_count; i++) {
        Sizes sizes = mix_sizes(&queue_mixes[i]);
        Durations durations = mix_durations(&queue_mixes[i]);
        if (as_json)
            mix_object(&json, &queue_mixes[i], sizes_mean(&sizes), durations_mean(&durations));
        else
            print_mix(out, &queue_mixes[i], sizes_mean(&sizes), durations_mean(&durations));
    }
    if (!as_json) return;
    json_end_list(&json);
    json_end_object(&json);
    fputc('\n', out);
}

static int show_mixes(Arena *arena, const Options *options, Problems *problems) {
    OutputFile file;
    const char *hint = "the mixes are text or JSON";
    options_refuse_both(options, "mixes", "csv", hint, problems);
    options_refuse_both(options, "mixes", "plain", hint, problems);
    if (problem_count(problems)) return show_problems(problems, BAD_USAGE);
    const char *path = option_text(options, "output", "-");
    if (file_create(arena, path, &file, problems)) {
        print_mixes(file.stream, option_flag(options, "json"));
        file_commit(&file, problems);
    }
    return problem_count(problems) ? show_problems(problems, FAILED) : DONE;
}

static void write_record(FILE *out, const Record *record, const Options *options, const Style *style) {
    if (option_flag(options, "json"))
        record_write(out, record, ANSWER_JSON, style, true);
    else if (option_flag(options, "csv"))
        record_write(out, record, ANSWER_CSV, style, true);
    else
        record_write(out, record, ANSWER_SCREEN, style, option_flag(options, "verbose"));
}

static bool write_answer(Arena *arena, const Record *record, const Options *options, Problems *problems) {
    static const char *const modes[] = {"auto", "always", "never"};
    const char *path = option_text(options, "output", "-");
    bool to_screen = strcmp(path, "-") == 0;
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    Style style = style_for(file.stream, to_screen ? modes[option_choice(options, "color", 0)] : "never",
                            option_flag(options, "plain"));
    write_record(file.stream, record, options, &style);
    return file_commit(&file, problems);
}

static bool write_outcomes(Arena *arena, const QueueStudy *study, const Options *options, Problems *problems) {
    const char *path = option_text(options, "outcomes", NULL);
    OutputFile file;
    if (!path || watch_is_over()) return true;
    if (!file_create(arena, path, &file, problems)) return false;
    if (!queue_write_outcomes(file.stream, study, problems)) {
        file_abandon(&file);
        return false;
    }
    return file_commit(&file, problems);
}

static bool draw(Arena *arena, const Record *record, const Options *options, Problems *problems) {
    static const char *const formats[] = {"png", "svg"};
    const char *folder = option_text(options, "plot-dir", NULL);
    bool data = option_flag(options, "json") || option_flag(options, "csv"), sound = true;
    Style style = style_for(stdout, "auto", option_flag(options, "plain"));
    if (option_flag(options, "plot") && !folder && data)
        fprintf(stderr, "warning: --plot draws on the screen, which holds data here: --plot-dir DIR writes files\n");
    for (int i = 0; i < record->chart_count; i++) {
        const Chart chart = {.kind = CHART_LINES, .lines = record->charts[i]};
        if (folder) {
            const char *path = arena_printf(arena, "%s/queue-%s.%s", folder, chart.lines.name,
                                            formats[option_choice(options, "plot-format", 0)]);
            sound = chart_to_file(arena, &chart, path, problems) && sound;
        } else if (option_flag(options, "plot") && !data) {
            printf("\n");
            chart_to_terminal(arena, &chart, stdout, &style);
        }
    }
    return sound;
}

static int check_usage(const Options *options, Problems *problems) {
    bool find = option_flag(options, "find-gpus");
    if (find &&
        (option_given(options, "outcomes") || option_flag(options, "plot") || option_given(options, "plot-dir"))) {
        problem_add(problems, (Where){0}, "--find-gpus tries many sizes, and --outcomes and --plot show one");
        problem_hint(problems, "run again with --gpus and the size that was found");
    }
    return problem_count(problems);
}

typedef struct Showing {
    QueueShow *show; // or NULL
    void *context;
} Showing;

static bool tell(Arena *arena, const QueueAnswer *answer, const Options *options, const Showing *showing,
                 Problems *problems) {
    if (showing->show) return showing->show(showing->context, arena, answer, problems);
    return write_answer(arena, answer->record, options, problems) && draw(arena, answer->record, options, problems);
}

static int run(Arena *arena, const Options *options, const Showing *showing, Problems *problems) {
    bool found = true;
    if (option_flag(options, "mixes")) return show_mixes(arena, options, problems);
    QueueStudy *study = queue_study_from_options(arena, options, problems);
    pieces_open_from(options, "processes", problems);
    if (problem_count(problems)) return show_problems(problems, BAD_INPUT);
    watch_open_from(options, option_quantity(options, "time-limit", WATCH_USUAL_SECONDS));
    QueueAnswer answer = {study, NULL};
    answer.record = queue_study_run_lengthened(arena, study, &answer.study, &found, problems);
    if (!answer.record) return show_problems(problems, watch_status(BAD_INPUT));
    bool written = write_outcomes(arena, study, options, problems) && tell(arena, &answer, options, showing, problems);
    if (!written) return show_problems(problems, watch_is_over() ? watch_status(BAD_INPUT) : FAILED);
    return found ? watch_status(DONE) : ANSWER_IS_NO;
}

int command_queue(int argc, char **argv) { return command_queue_shown(argc, argv, NULL, NULL); }

int command_queue_shown(int argc, char **argv, QueueShow *show, void *context) {
    Showing showing = {show, context};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int count, status = DONE;
    const OptionSpec *rows = queue_option_rows(arena, &count);
    Options *options = options_parse(arena, rows, count, argc, argv, problems);
    answer_choose_form(options);
    if (option_help(options))
        options_print_help(rows, count, usage, about, stdout);
    else if (problem_count(problems) || check_usage(options, problems))
        status = show_problems(problems, BAD_USAGE);
    else
        status = run(arena, options, &showing, problems);
    pieces_close();
    watch_close();
    arena_close(arena);
    return status;
}
