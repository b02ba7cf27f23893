// lockstep export: a job as scripts that run.
#include "results/answer/frame.h"
#include "scenarios/export/export_answer.h"
#include "scenarios/study/study_options.h"
#include "sim/system/watch.h"

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
