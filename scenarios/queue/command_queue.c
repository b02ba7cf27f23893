// lockstep queue: jobs on a shared cluster; their waits under each policy, and the number of GPUs needed.
#include "scenarios/queue/command_queue.h"

#include <stdio.h>

#include "results/answer/record_answer.h"
#include "results/chart/chart.h"
#include "scenarios/queue/queue_options.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

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

static void answer_mixes(Asking *asking) {
    static const AnswerColumn columns[] = {{"name", "mix", AS_TEXT, 0},
                                           {"title", "what it is", AS_TEXT, 0},
                                           {"mean_gpus", "GPUs", AS_NUMBER, 0},
                                           {"mean_s", "in the mean", AS_SECONDS, 0},
                                           {"source", "source", AS_TEXT, BELOW_ROW},
                                           {"assumed", NULL, AS_TEXT, 0},
                                           {NULL, "assumed", AS_TEXT, BELOW_ROW}};
    answer_rename(asking->answer, "queue-mixes");
    answer_table(asking->answer, "mixes", NULL, COLUMNS(columns));
    for (int i = 0; i < queue_mix_count; i++) {
        const QueueMix *mix = &queue_mixes[i];
        Sizes sizes = mix_sizes(mix);
        Durations durations = mix_durations(mix);
        ANSWER_ROW(asking->answer, mix->name, mix->title, sizes_mean(&sizes), durations_mean(&durations), mix->source,
                   mix->assumed, arena_printf(asking->arena, "assumed: %s", mix->assumed));
    }
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

// Below the answer, or as files.
static bool draw(Asking *asking, const Record *record) {
    bool sound = true, wanted = frame_plots(asking);
    for (int i = 0; i < record->chart_count && wanted; i++) {
        Chart *chart = ARENA_NEW(asking->arena, Chart);
        *chart = (Chart){.kind = CHART_LINES, .lines = record->charts[i]};
        sound = frame_draw(asking, asking->answer, "queue", chart->lines.name, chart) && sound;
    }
    return sound;
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    bool found = true, find = option_flag(options, "find-gpus");
    if (option_flag(options, "mixes")) {
        answer_mixes(asking);
        return EXIT_DONE;
    }
    if (find &&
        (option_given(options, "outcomes") || option_flag(options, "plot") || option_given(options, "plot-dir"))) {
        problem_add(problems, (Where){0}, "--find-gpus tries many sizes, and --outcomes and --plot show one");
        problem_hint(problems, "run again with --gpus and the size that was found");
        return EXIT_USAGE;
    }
    QueueAnswer *answer = ARENA_NEW(asking->arena, QueueAnswer);
    QueueStudy *study = queue_study_from_options(asking->arena, options, problems);
    if (problem_count(problems)) return EXIT_BAD_INPUT;
    *answer = (QueueAnswer){study, NULL};
    answer->record = queue_study_run_lengthened(asking->arena, study, &answer->study, &found, problems);
    if (!answer->record) return watch_status(EXIT_BAD_INPUT);
    asking->found = answer;
    record_answer(asking->answer, asking->arena, answer->record, (Date){0}, frame_wants_objects(asking));
    if (!write_outcomes(asking->arena, study, options, problems) || !draw(asking, answer->record))
        return watch_is_over() ? watch_status(EXIT_BAD_INPUT) : EXIT_FAILED;
    asking->part = watch_is_over(); // of the policies that were finished
    return found ? watch_status(EXIT_DONE) : EXIT_NO;
}

const Question queue_question = {
    .name = "queue", .usage = usage, .about = about, .rows = queue_option_rows, .processes = "processes", .ask = ask};

const OptionSpec *queue_question_rows(Arena *arena, int *count);
const OptionSpec *queue_question_rows(Arena *arena, int *count) { return frame_rows(arena, &queue_question, count); }

int command_queue(int argc, char **argv) { return frame_run(&queue_question, argc, argv); }
