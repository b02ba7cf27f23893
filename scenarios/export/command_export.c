// lockstep export: a job as launch scripts of other software.
#include <math.h>

#include "results/answer/frame.h"
#include "scenarios/export/export_answer.h"
#include "scenarios/study/study_options.h"
#include "sim/system/watch.h"

static const char *lost_text(Arena *arena, const ExportWords *lost) {
    const char *text = "";
    for (int i = 0; i < lost->count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i ? ", " : "", lost->items[i].key, lost->items[i].value);
    return text;
}

static const char *memory_text(Arena *arena, const RecordPoint *point) {
    return arena_printf(arena, "needs %.1f of %.1f GiB", point->memory_peak_bytes / (1 << 30),
                        point->memory_capacity_bytes / (1 << 30));
}

static bool lacks_memory(const RecordPoint *point) { return point->memory_peak_bytes > point->memory_capacity_bytes; }

static void report_lost(Arena *arena, Answer *answer, const ExportFile *file) {
    char step[32];
    if (lacks_memory(&file->point))
        answer_caution(answer, "%s %s: it will not run", file->name, memory_text(arena, &file->point));
    if (file->beside.count)
        answer_caution(answer, "%s has no word for %s, of the machines and the data: type it beside the file",
                       file->name, lost_text(arena, &file->beside));
    if (file->again.ran) quantity_format(file->again.step_p50_s, QUANTITY_TIME, step, sizeof step);
    const char *as_it_stands = file->again.ran ? arena_printf(arena, "; as it stands a step takes %s", step) : "";
    if (file->again.ran && lacks_memory(&file->again))
        as_it_stands = arena_printf(arena, "; as it stands it %s and does not run", memory_text(arena, &file->again));
    if (file->lost.count)
        answer_caution(answer, "%s does not say %s: set it by hand%s", file->name, lost_text(arena, &file->lost),
                       as_it_stands);
    else if (file->again.ran)
        answer_caution(answer, "%s does not say all of the job%s", file->name, as_it_stands);
}

static void report_files(Arena *arena, Answer *answer, const char *folder, const ExportFiles *files, bool brief) {
    static const AnswerColumn columns[] = {{"path", NULL, AS_TEXT, 0},
                                           {NULL, "file", AS_TEXT, 0},
                                           {"software", "for", AS_TEXT, 0},
                                           {"step_s", "a step", AS_SECONDS, 0},
                                           {"step_p5_s", NULL, AS_SECONDS, 0},
                                           {"step_p95_s", NULL, AS_SECONDS, 0},
                                           {NULL, "nine times in ten", AS_TEXT, 1},
                                           {"not_said", NULL, AS_TEXT, 0}};
    answer_detail(answer, FOR_ALL);
    if (brief) {
        const char *names = "";
        for (int i = 0; i < files->count; i++)
            names = arena_printf(arena, "%s%s%s/%s", names, i ? ", " : "", folder, files->items[i].name);
        answer_say(answer, "Written", "%s", names);
    } else {
        answer_say(answer, NULL, "%d file%s written into %s.", files->count, files->count == 1 ? "" : "s", folder);
    }
    answer_open(answer, NULL, NULL);
    if (brief) answer_detail(answer, FOR_PROGRAMS);
    answer_table(answer, "files", NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < files->count; i++) {
        const ExportFile *file = &files->items[i];
        const RecordPoint *point = &file->point;
        ANSWER_ROW(answer, arena_printf(arena, "%s/%s", folder, file->name), file->name, file->software,
                   answer_of(AS_SECONDS, point->step_p50_s), answer_of(AS_SECONDS, point->step_p5_s),
                   answer_of(AS_SECONDS, point->step_p95_s),
                   isfinite(point->step_p50_s)
                       ? answer_range_text(arena, answer, AS_SECONDS, point->step_p5_s, point->step_p95_s)
                       : "says no step",
                   lost_text(arena, &file->lost));
    }
    answer_close(answer);
    for (int i = 0; i < files->count; i++) report_lost(arena, answer, &files->items[i]);
}

int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief) {
    const char *folder = option_text(asking->options, "into", "lockstep-export");
    ExportFiles files = {0};
    if (!export_job(asking->arena, study, said, option_text(asking->options, "export", ""), &files, asking->problems))
        return watch_status(EXIT_BAD_INPUT);
    if (!export_write(asking->arena, folder, &files, asking->problems)) return EXIT_FAILED;
    report_files(asking->arena, asking->answer, folder, &files, brief);
    return EXIT_DONE;
}

static const OptionSpec own_options[] = {
    EXPORT_OPTIONS, PRICE_BOOK_OPTION, PROFILE_OPTION, SEED_OPTION, UNFOLDED_OPTION, WATCH_OPTIONS,
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    if (!option_given(asking->options, "model")) {
        problem_add(asking->problems, (Where){0}, "which job?");
        problem_hint(asking->problems,
                     "lockstep export my.sbatch --export torchtitan, or --model NAME --node NAME --gpus N");
    } else if (!option_given(asking->options, "export")) {
        problem_add(asking->problems, (Where){0}, "in which form?");
        problem_hint(asking->problems, "--export %s", export_kinds_text(arena));
    }
    if (problem_count(asking->problems)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, asking->options, asking->problems);
    const StudySpec *study =
        catalogue ? study_from_options(arena, asking->options, catalogue, "lockstep export", asking->problems) : NULL;
    if (!study) return EXIT_BAD_INPUT;
    return export_asked(asking, study, asking->options, false);
}

static const Question question_export = {
    .name = "export",
    .usage = "lockstep export SCRIPT|CONFIG --export KINDS [--into DIR] [options of a job]\n"
             "       lockstep export --model NAME --node NAME --gpus N --export KINDS [--into DIR] [options of a job]",
    .about =
        "Writes the scripts that run a job: for Megatron-LM, NeMo, torchtitan, DeepSpeed or accelerate, started by\n"
        "torchrun, Slurm, Kubernetes or SkyPilot. Each is read in again, and what it cannot say is told. Nothing is "
        "written "
        "over.\n\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit.",
    .rows = rows,
    .ask = ask};

const OptionSpec *export_option_rows(Arena *arena, int *count);
const OptionSpec *export_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question_export, count); }

int command_export(int argc, char **argv);
int command_export(int argc, char **argv) { return frame_run(&question_export, argc, argv); }
