// lockstep validate training: published runs, simulated and compared, by family.
#include <limits.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/training/training.h"
#include "results/answer/frame.h"
#include "sim/base/list.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

#define FOLDER SHIPPED_MEASUREMENTS "/training/"

static const char *const shipped[] = {
    FOLDER "training_cnn_dle.csv",
    FOLDER "training_dlperf.csv",
    FOLDER "training_fsdp_mosaic.csv",
    FOLDER "training_lambda.csv",
    FOLDER "training_llm_dgxc.csv",
    FOLDER "training_llm_fsdp.csv",
    FOLDER "training_llm_libai.csv",
    FOLDER "training_llm_megatron.csv",
    FOLDER "training_llm_misc.csv",
    FOLDER "training_llm_nvidia.csv",
    FOLDER "training_llm_vtrain.csv",
    FOLDER "training_mlperf.csv",
    FOLDER "training_neusight.csv",
    FOLDER "training_scaling_misc.csv",
    FOLDER "training_single_gpu.csv",
    FOLDER "batch-2/training_cnn_dle.csv",
    FOLDER "batch-2/training_dlperf.csv",
    FOLDER "batch-2/training_fresh_detectron2.csv",
    FOLDER "batch-2/training_fresh_dgxc.csv",
    FOLDER "batch-2/training_fresh_flagperf.csv",
    FOLDER "batch-2/training_fresh_misc.csv",
    FOLDER "batch-2/training_fresh_moe.csv",
    FOLDER "batch-2/training_fresh_nemo.csv",
    FOLDER "batch-2/training_fresh_qwen_finetune.csv",
    FOLDER "batch-2/training_fresh_yafsdp.csv",
    FOLDER "batch-2/training_llm_fsdp.csv",
    FOLDER "batch-2/training_llm_misc.csv",
    FOLDER "batch-2/training_llm_nvidia.csv",
    FOLDER "batch-3/training_fs3_detection.csv",
    FOLDER "batch-3/training_fs3_dsautotune.csv",
    FOLDER "batch-3/training_fs3_fmsacc.csv",
    FOLDER "batch-3/training_fs3_gpt2.csv",
    FOLDER "batch-3/training_fs3_jaxtoolbox.csv",
    FOLDER "batch-3/training_fs3_mlperf60.csv",
    FOLDER "batch-3/training_fs3_paddleperf.csv",
    FOLDER "batch-3/training_fs3_primerl.csv",
    FOLDER "batch-3/training_fs3_rorqual.csv",
    FOLDER "batch-3/training_fs4_cnnbench.csv",
    FOLDER "batch-3/training_fs4_csc.csv",
    FOLDER "batch-3/training_fs4_ds3lab.csv",
    FOLDER "batch-3/training_fs4_gpt2users.csv",
    FOLDER "batch-3/training_fs4_hfdocs.csv",
    FOLDER "batch-3/training_fs4_lightningfl.csv",
    FOLDER "batch-3/training_fs4_llmusers.csv",
    FOLDER "batch-3/training_fs4_nnunet.csv",
    FOLDER "batch-3/training_fs4_peft.csv",
    FOLDER "batch-3/training_fs4_raysgd.csv",
    FOLDER "batch-3/training_fs4_servergear.csv",
    FOLDER "batch-3/training_fs4_smallvision.csv",
    FOLDER "batch-3/training_fs4_tinyllama.csv",
    FOLDER "batch-3/training_fs4_torchusers.csv",
    FOLDER "own/training_h100_steps.csv",
    FOLDER "own/training_h100_zoo.csv",
};
#define SHIPPED_COUNT ((int)(sizeof shipped / sizeof *shipped))

static const OptionSpec specs[] = {
    {"family", OPTION_TEXT, "NAME", .help = "only families whose name contains it"},
    {"anchored", OPTION_FLAG,
     .help = "correct the kernels of a family's model and micro-batch by its run on the fewest GPUs; score the others"},
    {"anchor", OPTION_TEXTS, "FILE.csv",
     .help = "correct the kernels of runs like these: same GPU, precision, software and model"},
    {"cross", OPTION_FLAG,
     .help = "fit factors on the times by cause to all families but one, and score that one; for each"},
    {"nested", OPTION_FLAG,
     .help = "leave out families, types of GPU, framework names, scales and years with all that only they told"},
    {"rules", OPTION_FLAG, .help = "what each rule of software is worth: all rows without it"},
    {"profile", OPTION_TEXT, "FILE.json",
     .help = "parts measured, as lockstep calibrate fit writes them, in place of the catalogue's"},
    {"rows", OPTION_TEXT, "OUT.csv", .help = "every row, skipped ones with the reason: " ROW_COLUMNS},
    PIECES_OPTION,
};

static const char usage[] =
    "lockstep validate training [FILE.csv|DIR…] [--family NAME] [--anchored | --anchor FILE.csv… | "
    "--cross | --nested | --rules] [--rows OUT.csv]";
static const char about[] =
    "Simulates published training runs, those that come with the program unless files or folders are named, and\n"
    "compares step times.\n"
    "No constant belongs to a row or a model; those shared by a type of GPU or of software were set with these rows "
    "in\n"
    "sight. --cross says how far they carry over to families that a fit has not seen.";

// ---- Reading and predicting.

static bool wanted(const MeasuredRun *run, const char *family) {
    return !family || strcasestr(run->family, family) != NULL;
}

static int keep_family(MeasuredRuns *runs, const char *family) {
    int kept = 0;
    for (int i = 0; i < runs->count; i++)
        if (wanted(&runs->items[i], family)) runs->items[kept++] = runs->items[i];
    runs->count = kept;
    return kept;
}

typedef struct Rows {
    const Catalogue *catalogue;
    const MeasuredRuns *runs;
} Rows;

static void *predict_row(const void *context, Arena *arena, int64_t row) {
    const Rows *rows = context;
    const MeasuredRun *run = &rows->runs->items[row];
    PredictedRun *predicted = ARENA_NEW(arena, PredictedRun);
    double start = watch_cpu_seconds();
    *predicted = predict_run(arena, rows->catalogue, run);
    predicted->seconds_to_predict = watch_cpu_seconds() - start;
    if (!predicted->skipped) predicted->skipped = run->unmeasured;
    if (watch_is_over()) predicted->skipped = "interrupted";
    return predicted;
}

static PredictedRun *predict_all(Arena *arena, const Catalogue *catalogue, const MeasuredRuns *runs) {
    Rows rows = {catalogue, runs};
    Pieces pieces = {.what = "the rows", .count = runs->count, .work = predict_row, .context = &rows};
    void **answers = pieces_do(arena, &pieces);
    PredictedRun *predicted = ARENA_ARRAY(arena, PredictedRun, runs->count);
    for (int i = 0; i < runs->count; i++) {
        predicted[i] = (PredictedRun){.run = &runs->items[i], .skipped = "interrupted before its turn"};
        if (answers[i]) predicted[i] = *(const PredictedRun *)answers[i];
    }
    return predicted;
}

// ---- Anchoring.

static const Anchors *read_anchors(Arena *arena, const Catalogue *catalogue, const Options *options,
                                   Problems *problems) {
    int files = 0;
    const char *const *paths = option_texts(options, "anchor", &files);
    return anchors_read(arena, catalogue, paths, files, problems);
}

// ---- The command.

// Those that are named, a folder's *.csv, or the ones that come with the program.
static Names asked_files(Arena *arena, const Options *options, Problems *problems) {
    Names files = {0};
    int named = option_positional_count(options);
    for (int i = 0; i < named; i++) paths_add(arena, option_positional(options, i), ".csv", &files, problems);
    for (int i = 0; i < SHIPPED_COUNT && named == 0; i++) LIST_PUSH(arena, &files, shipped_file(arena, shipped[i]));
    return files;
}

static bool read_runs(Asking *asking, const Catalogue *catalogue, MeasuredRuns *runs) {
    Names files = asked_files(asking->arena, asking->options, asking->problems);
    bool readable = problem_count(asking->problems) == 0; // a bad cell costs its row only, and is reported at the end
    for (int i = 0; i < files.count; i++)
        readable &= measured_runs_read(asking->arena, catalogue, files.items[i], runs, asking->problems);
    const char *family = option_text(asking->options, "family", NULL);
    if (!readable || keep_family(runs, family) > 0) return readable;
    problem_add(asking->problems, (Where){0}, "no family's name contains \"%s\"", family ? family : "");
    return problem_hint(asking->problems, "without --family the table names them all");
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    bool anchored = option_flag(options, "anchored"), given = option_given(options, "anchor");
    bool nested = option_flag(options, "nested"), rules = option_flag(options, "rules");
    bool cross = option_flag(options, "cross");
    if (cross + anchored + given + nested + rules > 1) {
        problem_add(asking->problems, (Where){0},
                    "--cross, --nested, --rules, --anchored and --anchor are different questions");
        return EXIT_USAGE;
    }
    const Catalogue *catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), asking->problems);
    MeasuredRuns runs = {.count = 0};
    if (!catalogue || !read_runs(asking, catalogue, &runs)) return EXIT_BAD_INPUT;
    int before = problems_added(asking->problems);
    const Anchors *anchors = given ? read_anchors(arena, catalogue, options, asking->problems) : NULL;
    if (problems_added(asking->problems) > before) return EXIT_BAD_INPUT; // before the others are predicted

    PredictedRun *predicted = predict_all(arena, catalogue, &runs);
    CrossFit fit = cross ? cross_fit(arena, predicted, runs.count) : (CrossFit){.fitted_count = 0};
    TrainingBoard board = {.arena = arena, .catalogue = catalogue, .runs = predicted, .count = runs.count};
    board.factors = cross      ? fit.factors
                    : anchored ? anchor_within(arena, predicted, runs.count)
                    : given    ? anchor_on(arena, predicted, runs.count, anchors)
                               : NULL;
    const char *out = option_text(options, "rows", NULL);
    if (out && !training_rows_write(out, &board, asking->problems)) return EXIT_FAILED;
    if (nested)
        training_answer_nested(asking->answer, &board);
    else if (rules)
        training_answer_rules(asking->answer, &board);
    else
        training_answer(asking->answer, &board);
    if (cross) training_answer_factors(asking->answer, &fit);
    return EXIT_DONE;
}

const Question validate_training_question = {.name = "validate-training",
                                             .usage = usage,
                                             .about = about,
                                             .own = specs,
                                             .own_count = sizeof specs / sizeof *specs,
                                             .processes = "jobs",
                                             .positional = INT_MAX,
                                             .ask = ask};
