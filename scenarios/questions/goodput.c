// lockstep goodput: the share of a long job's time that is training, and the causes of the rest.
#include "scenarios/questions/goodput.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/job/job.h"
#include "results/answer/frame.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

#define MOST_NODES 200000
#define MOST_RUNS 100000
#define ASSUMED_WRITE_S 30 // of a checkpoint that nothing is known of

static const Where command_line = {NULL, 0};

#define SPAN(name_, help_)                                                                                             \
    { name_, OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .help = help_, .quantity = QUANTITY_TIME, .usual = "12h" }
// clang-format off
#define FEWEST_LIVES 20 // needed for an answer after an interrupt

const OptionSpec goodput_rows[] = {
    {"gpus", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "GPUs of the job"},
    {"node", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "type of node (lockstep hw list node), or a file that shows one; default dgx-h100"},
    NODE_FILE_GPU,
    {"days", OPTION_TEXT, "DAYS", .of = OF_QUESTION, .help = "how long the calendar runs: 54, 12h"},
    {"work", OPTION_TEXT, "DAYS", .of = OF_QUESTION, .help = "undisturbed training that the job needs, instead of --days: when is it done?"},
    {"rates", OPTION_TEXT, "NAME", .of = OF_QUESTION, .alias = "faults", .help = "whose failure rates (lockstep hw list faults); default llama3-h100"},
    {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts and rates of your own"},
    SPAN("node-mtbf", "your own mean time between failures of a node, all causes; the mix stays"),
    {"fleet-spread", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "sd of the log of rates between fleets; 0: the rates are your fleet's", .quantity = QUANTITY_NUMBER},
    {"shape", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "Weibull shape of failures; below 1 new machines fail more", .quantity = QUANTITY_NUMBER},
    SPAN("age", "of the machines when the job starts (with --shape)"),
    {"bad-share", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "share of bad nodes", .quantity = QUANTITY_NUMBER},
    {"strikes", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "failures after which a node is exchanged; default never"},
    {"spares", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "spare nodes, which stand by to take the place of one that fails; default 5 %"},
    SPAN("repair", "mean time until a node is back"),
    SPAN("restart", "of the job, without reading the checkpoint"),
    SPAN("detect", "until a crash is seen"),
    SPAN("hang-timeout", "until a job that hangs is given up"),
    {"rack-nodes", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "nodes that fail together with their rack; 0 none"},
    SPAN("rack-mtbf", "mean time between failures of a whole rack"),
    {"checkpoint", OPTION_CHOICE, .of = OF_QUESTION, .help = "how checkpoints are written; default sync", .choices = checkpoint_mode_names, .choice_count = CHECKPOINT_MODE_COUNT},
    {"checkpoint-every", OPTION_TEXT, "TIME|best", .of = OF_QUESTION, .help = "training between checkpoints; default 30min; best: by simulation"},
    SPAN("storage-every", "with --checkpoint memory: between copies to storage; default 3h"),
    {"model", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "whose state a checkpoint holds (lockstep model list)"},
    {"checkpoint-size", OPTION_QUANTITY, "BYTES", .of = OF_QUESTION, .help = "of a checkpoint, instead of --model", .quantity = QUANTITY_BYTES},
    {"storage", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "where checkpoints go (lockstep hw list storage); default superpod-storage"},
    {"storage-units", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "of it side by side; default as many as it is sized for, one where nobody says"},
    SPAN("checkpoint-stall", "training stands still for one; when left out: from its size"),
    SPAN("spot-mtbf", "mean time until the provider takes a node back"),
    SPAN("spot-notice", "between notice and end; default 2min"),
    SPAN("spot-wait", "mean time until another node is given; default 30min"),
    {"spot-batch", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "nodes taken together; default 1"},
    {"elastic", OPTION_TEXT, "MIN:MAX", .of = OF_QUESTION, .help = "replicas: runs on with MIN to MAX of them"},
    {"by", OPTION_TEXT, "TIME|DAY", .of = OF_QUESTION, .help = "by when --work is to be done: 33d of calendar, or the end of 2027-02-01, counted from --date; the chance is told"},
    {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "from which a day of --by is counted (default: today)"},
    {"best", OPTION_FLAG, .of = OF_QUESTION, .help = "spares, interval and storage chosen together, by what the work then costs"},
    {"confidence", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION, .help = "with --best and --by: chance to keep the date that is enough; default 80%", .quantity = QUANTITY_NUMBER},
    {"price", OPTION_QUANTITY, "MONEY", .of = OF_QUESTION, .help = "with --best: of a GPU for an hour, in USD; when left out: the catalogue's", .quantity = QUANTITY_NUMBER},
    {"runs", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "simulated runs; default 1000, and fewer, but no less than 200, where each is long"},
    {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of all chance; default 1"},
    PIECES_OPTION,
    {"plot", OPTION_FLAG, .of = OF_QUESTION, .help = "the run of the median goodput as a calendar: what each day or week was spent on"},
    PLOT_FILE_OPTIONS,
    WATCH_OPTIONS,
};
// clang-format on
const int goodput_row_count = (int)(sizeof goodput_rows / sizeof *goodput_rows);

static const char usage[] =
    "lockstep goodput --gpus 16384 --node dgx-h100 --days 54 [--model NAME --storage NAME] [--checkpoint-every TIME]";
static const char about[] =
    "Simulates the weeks of a training job many times over: failures by component, bad nodes, racks, slow nodes,\n"
    "link flaps, spot nodes; checkpoints, detection, spare nodes, repair, restart. Prints the share of the time that\n"
    "is training with a 90 % range, and what the rest goes to. --best chooses spares, interval and storage together,\n"
    "by what the work then costs, and says what each of them is worth.\n"
    "Exit codes: 0 done, 2 usage, 3 the job never gets done, 4 bad input or beyond a limit, 130 interrupted.";

static void complain(Problems *problems, const char *what, const char *hint) {
    problem_add(problems, command_line, "%s", what);
    problem_hint(problems, "%s", hint);
}

// ---- How long, on what.

// A plain number is days.
static double read_days(const Options *options, const char *name, Problems *problems) {
    const char *text = option_text(options, name, NULL), *why;
    double value = 0;
    if (!text) return 0;
    bool plain = quantity_parse(text, QUANTITY_NUMBER, &value, &why);
    if (plain) value *= 86400;
    if (!plain && !quantity_parse(text, QUANTITY_TIME, &value, &why)) value = 0;
    if (value >= 60 && value <= 20 * 365 * 86400.0) return value;
    problem_add(problems, command_line, "--%s \"%s\" is no time from a minute to 20 years", name, text);
    problem_hint(problems, "for example --%s 54, or --%s 12h", name, name);
    return 60;
}

static void read_length(GoodputAsked *asked, const Options *options, Problems *problems) {
    asked->spec.horizon_s = read_days(options, "days", problems);
    asked->spec.work_s = read_days(options, "work", problems);
    bool has_days = option_given(options, "days"), has_work = option_given(options, "work");
    if (has_days != has_work) return;
    complain(problems,
             has_days ? "--days and --work say the same; give one of them" : "for how long? say --days or --work",
             "--days 54 looks at 54 days of calendar; --work 30 asks when 30 days of training are done");
    problem_is_usage(problems);
}

static void read_machines(GoodputAsked *asked, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(asked->arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return;
    asked->node = node_from_options(asked->arena, catalogue, options, "dgx-h100", problems);
    asked->rates =
        find_faults(asked->arena, catalogue, option_text(options, "rates", FAULTS_USUAL), command_line, problems);
    int64_t gpus = option_count(options, "gpus", 0);
    if (option_require(options, "how many GPUs?", "gpus", "for example --gpus 1024", problems) && gpus == 0)
        complain(problems, "--gpus 0: there is no job without a GPU", "for example --gpus 1024");
    if (!asked->node || !asked->rates || gpus <= 0) return;
    int64_t nodes = (gpus + asked->node->gpu_count - 1) / asked->node->gpu_count;
    if (nodes > MOST_NODES) {
        complain(problems, "these are more than 200,000 nodes", "fewer GPUs, or nodes that hold more of them");
        return;
    }
    double horizon = asked->spec.horizon_s, work = asked->spec.work_s;
    asked->gpus = (int)gpus;
    asked->spec = life_spec(asked->arena, asked->rates, asked->node, (int)nodes);
    asked->spec.horizon_s = horizon, asked->spec.work_s = work;
}

// ---- What fails.

typedef struct Override {
    const char *option;
    size_t offset, sigma; // sigma: set to 0 with it; 0 none
    double least, most;
} Override;

#define AT(member_) offsetof(LifeSpec, member_)
static const Override overrides[] = {
    {"fleet-spread", AT(fleet_spread), 0, 0, 2},
    {"shape", AT(shape), 0, 0.2, 5},
    {"age", AT(age_s), 0, 0, 1e9},
    {"bad-share", AT(bad_share), 0, 0, 1},
    {"repair", AT(repair_s), AT(repair_sigma), 0, 1e9},
    {"restart", AT(restart_s), AT(restart_sigma), 0, 1e7},
    {"detect", AT(crash_detection_s), 0, 0, 1e7},
    {"hang-timeout", AT(hang_detection_s), 0, 0, 1e7},
    {"spot-notice", AT(spot_notice_s), 0, 0, 1e6},
    {"spot-wait", AT(spot_wait_s), 0, 0, 1e8},
};

static void read_overrides(GoodputAsked *asked, const Options *options, Problems *problems) {
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        const Override *row = &overrides[i];
        if (!option_given(options, row->option)) continue;
        double value = option_within(options, row->option, row->least, row->least, row->most, problems);
        memcpy((char *)&asked->spec + row->offset, &value, sizeof value);
        if (row->sigma) memset((char *)&asked->spec + row->sigma, 0, sizeof(double));
    }
}

static int read_whole(const Options *options, const char *name, int64_t fallback, int64_t most, Problems *problems) {
    int64_t count = option_count(options, name, fallback);
    if (count <= most) return (int)count;
    problem_add(problems, command_line, "--%s %lld is too many", name, (long long)count);
    problem_hint(problems, "at most %lld", (long long)most);
    return (int)fallback;
}

static double read_mtbf(const Options *options, const char *name, Problems *problems) {
    if (!option_given(options, name)) return 0;
    double mtbf = option_quantity(options, name, 1);
    if (mtbf >= 1) return mtbf;
    problem_add(problems, command_line, "--%s is below a second", name);
    problem_hint(problems, "for example --%s 300d", name);
    return 0;
}

static void read_elastic(GoodputAsked *asked, const char *text, Problems *problems) {
    int least = 0, most = 0, end = 0, nodes = asked->spec.nodes;
    bool read = sscanf(text, "%d:%d%n", &least, &most, &end) == 2 && text[end] == '\0';
    if (!read || least < 1 || most < least) {
        complain(problems, "--elastic takes the fewest and the most replicas", "for example --elastic 12:16");
    } else if (nodes % most != 0) {
        problem_add(problems, command_line, "%d nodes do not divide into %d replicas", nodes, most);
        int fits = most < nodes ? most : nodes;
        while (nodes % fits != 0) fits--;
        problem_hint(problems, "each replica has whole nodes of its own: for example --elastic %d:%d",
                     least < fits ? least : fits, fits);
    } else {
        asked->spec.least_replicas = least;
        asked->spec.nodes_per_replica = nodes / most;
    }
}

static void read_faults(GoodputAsked *asked, const Options *options, Problems *problems) {
    LifeSpec *spec = &asked->spec;
    spec->spot_notice_s = SPOT_NOTICE_S, spec->spot_wait_s = SPOT_WAIT_S;
    read_overrides(asked, options, problems);
    double node_mtbf = read_mtbf(options, "node-mtbf", problems), rack_mtbf = read_mtbf(options, "rack-mtbf", problems);
    double spot_mtbf = read_mtbf(options, "spot-mtbf", problems);
    asked->own_mtbf = node_mtbf > 0;
    if (node_mtbf > 0) life_set_node_mtbf(spec, node_mtbf);
    if (rack_mtbf > 0) spec->rack_rate = 1 / rack_mtbf;
    if (spot_mtbf > 0) spec->spot_rate = 1 / spot_mtbf;
    if (option_given(options, "fleet-spread")) spec->fleet_spread = option_quantity(options, "fleet-spread", 0);
    asked->spares_given = option_given(options, "spares");
    spec->spares = read_whole(options, "spares", life_usual_spares(spec->nodes), MOST_NODES, problems);
    spec->strikes = read_whole(options, "strikes", 0, 1000000, problems);
    spec->rack_nodes = read_whole(options, "rack-nodes", spec->rack_nodes, MOST_NODES, problems);
    spec->spot_batch = read_whole(options, "spot-batch", 1, spec->nodes, problems);
    const char *elastic = option_text(options, "elastic", NULL);
    if (elastic) read_elastic(asked, elastic, problems);
}

// ---- Checkpoints.

CheckpointPlan goodput_assumed_checkpoint(CheckpointMode mode) {
    CheckpointPlan plan = {.mode = mode, .stall_s = mode == CHECKPOINT_SYNC ? ASSUMED_WRITE_S : 1};
    plan.reload_s = ASSUMED_WRITE_S;
    if (mode != CHECKPOINT_SYNC) plan.write_s = ASSUMED_WRITE_S;
    if (mode == CHECKPOINT_MEMORY) plan.copy_s = plan.memory_reload_s = 1;
    return plan;
}

static void read_costs(GoodputAsked *asked, const Options *options, const Catalogue *catalogue, Problems *problems) {
    CheckpointMode mode = (CheckpointMode)option_choice(options, "checkpoint", CHECKPOINT_SYNC);
    asked->model = option_text(options, "model", NULL);
    asked->bytes = option_quantity(options, "checkpoint-size", 0);
    const Model *model = asked->model ? model_named(asked->arena, asked->model, NULL, problems) : NULL;
    if (model && asked->bytes <= 0) asked->bytes = checkpoint_bytes(model, counts_tokens(model), true);
    const StorageType *storage =
        find_storage(asked->arena, catalogue, option_text(options, "storage", STORAGE_USUAL), command_line, problems);
    if (!storage) return;
    int64_t units = option_count(options, "storage-units", 0);
    bool has_units = option_given(options, "storage-units");
    if (has_units && !storage_takes_units(storage, units, command_line, problems)) return;
    if (asked->bytes > 0) {
        const Gpu *gpu = node_gpu(catalogue, asked->node, 0);
        asked->storage = storage;
        asked->storage_units = units > 0 ? (int)units : storage_usual_units(storage, asked->gpus);
        asked->gpu = gpu;
        asked->held = storage_of_units(asked->arena, storage, asked->storage_units, asked->gpus);
        asked->spec.checkpoint = checkpoint_plan(mode, asked->bytes, asked->spec.nodes, asked->node, gpu, asked->held);
    } else {
        asked->spec.checkpoint = goodput_assumed_checkpoint(mode);
    }
    if (option_given(options, "checkpoint-stall"))
        asked->spec.checkpoint.stall_s = option_quantity(options, "checkpoint-stall", 0);
}

static void read_checkpoint(GoodputAsked *asked, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(asked->arena, option_text(options, "profile", NULL), problems);
    if (!catalogue) return;
    read_costs(asked, options, catalogue, problems);
    asked->spec.checkpoint.storage_every_s = option_quantity(options, "storage-every", 3 * 3600);
    const char *every = option_text(options, "checkpoint-every", "30min");
    char why[QUANTITY_WHY];
    asked->interval_found = strcmp(every, "best") == 0;
    double *every_s = &asked->spec.checkpoint.every_s;
    if (asked->interval_found ||
        (quantity_read("checkpoint-every", every, QUANTITY_TIME, "30min", every_s, why) && *every_s >= 1))
        return;
    if (quantity_unit_missing("checkpoint-every", every, QUANTITY_TIME, "30min", why, sizeof why)) {
        problem_add(problems, command_line, "--checkpoint-every: %s", why);
        problem_hint(problems, "for example --checkpoint-every 30min, or best");
        return;
    }
    problem_add(problems, command_line, "--checkpoint-every \"%s\" is no time of a second or more", every);
    problem_hint(problems, "for example 30min, or best");
}

// A time from now on, or the end of a day.
static void read_by(GoodputAsked *asked, const Options *options, Problems *problems) {
    char why[QUANTITY_WHY];
    const char *text = option_text(options, "by", NULL);
    Date today = date_or_today(option_text(options, "date", NULL), problems);
    if (!text) return;
    if (!deadline_parse(text, today, &asked->by_s, why)) {
        problem_add(problems, command_line, "--by: %s", why);
        problem_hint(problems, "for example --by 33d, or --by 2027-02-01 for the end of that day");
        asked->by_s = 1;
    } else if (asked->by_s <= 0) {
        problem_add(problems, command_line, "--by %s leaves no time", text);
        problem_hint(problems, "for example --by 33d");
        asked->by_s = 1;
    } else if (strchr(text, '-')) {
        asked->by_day = text;
    }
}

const char *goodput_by_text(const GoodputAsked *asked) {
    const char *time = quantity_text(asked->arena, asked->by_s, QUANTITY_TIME);
    return asked->by_day ? arena_printf(asked->arena, "%s (%s)", asked->by_day, time) : time;
}

static void read_date(GoodputAsked *asked, const Options *options, Problems *problems) {
    read_by(asked, options, problems);
    asked->confidence = option_quantity(options, "confidence", 0.8);
    asked->price_given = option_given(options, "price");
    bool best = option_flag(options, "best");
    if (option_given(options, "by") && !(asked->by_s > 0 && asked->spec.work_s > 0))
        complain(problems, "--by asks when work is done, and there is none to do", "say how much: --work 30d --by 40d");
    if (!(asked->confidence > 0 && asked->confidence < 1))
        complain(problems, "--confidence is a share between 0 and 1", "for example --confidence 90%");
    if (option_given(options, "confidence") && !(best && asked->by_s > 0))
        complain(problems, "--confidence is that with which a date is kept", "add --best and --by 40d");
    if (best && (option_flag(options, "plot") || option_given(options, "plot-dir")))
        complain(problems, "--plot draws one way to live, and --best tries many",
                 "leave --best out, and say what it chose: --spares, --checkpoint-every");
    if (asked->price_given && !best && !asked->weighs_money)
        complain(problems, "--price weighs what --best chooses", "add --best");
    if (asked->price_given && !best && asked->weighs_money && !(option_quantity(options, "price", 0) > 0))
        complain(problems, "--price must be above 0", "of a GPU for an hour, in USD: --price 2.49");
}

void goodput_ask(GoodputAsked *asked, const Options *options, Problems *problems) {
    read_length(asked, options, problems);
    read_machines(asked, options, problems);
    asked->runs = read_whole(options, "runs", 1, MOST_RUNS, problems);
    asked->seed = option_seed(options, "seed", 1);
    if (asked->runs < 1) complain(problems, "--runs 0 tells nothing", "for example --runs 1000");
    if (asked->gpus == 0) return;
    read_faults(asked, options, problems);
    read_checkpoint(asked, options, problems);
    read_date(asked, options, problems);
    if (!option_given(options, "runs")) asked->runs = life_usual_runs(&asked->spec);
}

const char *goodput_nowhere(const GoodputAsked *asked) {
    LifeSpec spec = asked->spec;
    if (asked->interval_found) spec.checkpoint.every_s = 1;
    return life_goes_nowhere(asked->arena, &spec, asked->runs);
}

void goodput_find_interval(GoodputAsked *asked) {
    if (!asked->interval_found) return;
    asked->best_s = life_best_interval(&asked->spec, GOODPUT_BEST_RUNS, asked->seed);
    asked->spec.checkpoint.every_s = asked->best_s;
}

static bool is_allowed(const GoodputAsked *asked, Problems *problems) {
    const char *what = arena_printf(asked->arena, "%d runs of this job", asked->runs);
    return watch_allows(life_events(&asked->spec) * asked->runs, 0, what, "fewer --runs, or a shorter time",
                        command_line, problems);
}

static int answer_lives(Asking *asking, GoodputAsked *asked) {
    Problems *problems = asking->problems;
    const char *nowhere = goodput_nowhere(asked);
    if (nowhere) {
        goodput_answer_nothing(asking->answer, asked, nowhere);
        return EXIT_NO;
    }
    goodput_find_interval(asked);
    bool allowed = !watch_tells(command_line, problems) && is_allowed(asked, problems);
    LifeStudy study = {0};
    if (allowed) study = life_study(asked->arena, &asked->spec, asked->runs, asked->seed);
    asking->part = study.runs >= FEWEST_LIVES && watch_tells_part(command_line, problems);
    if (!allowed || (!asking->part && watch_tells(command_line, problems))) return watch_status(EXIT_BAD_INPUT);
    goodput_answer(asking->answer, asked, &study);
    if (asking->part) return watch_status(EXIT_DONE);
    if (!goodput_draw(asking, asked, &study)) return problems_have_fault(problems) ? EXIT_FAILED : EXIT_BAD_INPUT;
    return study.unfinished == study.runs ? EXIT_NO : EXIT_DONE;
}

static int answer_best(Asking *asking, const GoodputAsked *asked) {
    Problems *problems = asking->problems;
    const Options *options = asking->options;
    const Catalogue *catalogue = catalogue_with_profile(asked->arena, option_text(options, "profile", NULL), problems);
    LifeWish wish = goodput_best_wish(asked, catalogue, options, problems);
    if (problem_count(problems)) return EXIT_BAD_INPUT;
    const char *what = arena_printf(asked->arena, "%d runs of this job", wish.runs);
    LifeChoice choice = {0};
    bool allowed = watch_allows(life_events(&asked->spec) * wish.runs, 0, what, "fewer --runs, or a shorter time",
                                command_line, problems);
    if (allowed) choice = life_choose(asked->arena, &wish);
    if (!allowed || watch_tells(command_line, problems)) return watch_status(EXIT_BAD_INPUT);
    goodput_best_answer(asking->answer, asked, catalogue, &wish, &choice);
    return choice.keeps_date && isfinite(choice.best.cost) ? EXIT_DONE : EXIT_NO;
}

static int ask(Asking *asking) {
    GoodputAsked asked = {.arena = asking->arena};
    goodput_ask(&asked, asking->options, asking->problems);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    return option_flag(asking->options, "best") ? answer_best(asking, &asked) : answer_lives(asking, &asked);
}

static const OptionSpec *rows(Arena *arena, int *count) {
    (void)arena;
    *count = goodput_row_count;
    return goodput_rows;
}

static const Question goodput = {
    .name = "goodput", .usage = usage, .about = about, .rows = rows, .processes = "jobs", .ask = ask};

const OptionSpec *goodput_option_rows(Arena *arena, int *count);
const OptionSpec *goodput_option_rows(Arena *arena, int *count) { return frame_rows(arena, &goodput, count); }

int command_goodput(int argc, char **argv) { return frame_run(&goodput, argc, argv); }
