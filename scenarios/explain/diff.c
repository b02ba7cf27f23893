// Parts of a difference. Causes that one side does not separate are one part of both sides.
#include "scenarios/explain/diff.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "results/answer/frame.h"
#include "results/answer/record_answer.h"
#include "scenarios/explain/explain.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_options.h"
#include "sim/base/list.h"
#include "sim/data/kineto.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

#define ALL_CAUSES ((UINT32_C(1) << CAUSE_COUNT) - 1)

DiffSide diff_side_named(const char *name) {
    return (DiffSide){.name = name,
                      .step_s = NAN,
                      .samples = NAN,
                      .memory_bytes = NAN,
                      .cost_per_step = NAN,
                      .power_watts = NAN,
                      .joules_per_step = NAN,
                      .days = NAN,
                      .cost_per_run = NAN,
                      .energy_kwh = NAN,
                      .carbon_kg = NAN,
                      .currency = "",
                      .published_step_s = NAN};
}

void diff_close_side(Arena *arena, DiffSide *side) {
    double sum = 0;
    uint32_t known = 0;
    for (int i = 0; i < side->cause_count; i++) {
        sum += side->causes[i].seconds;
        known |= side->causes[i].covers;
    }
    double rest = side->step_s - sum;
    if (side->cause_count > 0 && fabs(rest) <= 1e-9 * side->step_s) return;
    uint32_t unknown = ALL_CAUSES & ~known;
    DiffCause *causes = ARENA_ARRAY(arena, DiffCause, side->cause_count + 1);
    for (int i = 0; i < side->cause_count; i++) causes[i] = side->causes[i];
    causes[side->cause_count++] =
        (DiffCause){"not_told_apart", unknown ? "Not told apart" : "Of no cause that was told", rest, unknown};
    side->causes = causes;
}

#define LEAST_STEP_S 1e-15
#define LARGEST_FIGURE 1e30

static bool is_workable(double value) { return isnan(value) || fabs(value) <= LARGEST_FIGURE; }

static bool refuse_figure(const char *what, double value, Where where, Problems *problems) {
    problem_add(problems, where, "%.80s is %g here, which cannot be compared with anything", what, value);
    return problem_hint(problems, "seconds, bytes, watts and money are bare numbers; steps take %g s or more",
                        LEAST_STEP_S);
}

bool diff_check_side(DiffSide *side, Where where, Problems *problems) {
    const struct {
        const char *what;
        double value;
    } figures[] = {{"the step's time", side->step_s},
                   {"its number of samples", side->samples},
                   {"the peak of memory", side->memory_bytes},
                   {"what a step costs", side->cost_per_step},
                   {"power", side->power_watts},
                   {"a step's energy", side->joules_per_step},
                   {"the number of days", side->days},
                   {"what the run costs", side->cost_per_run},
                   {"the run's energy", side->energy_kwh},
                   {"the run's carbon", side->carbon_kg}};
    if (side->step_s < LEAST_STEP_S) return refuse_figure(figures[0].what, side->step_s, where, problems);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!is_workable(figures[i].value)) return refuse_figure(figures[i].what, figures[i].value, where, problems);
    for (int i = 0; i < side->cause_count; i++)
        if (!is_workable(side->causes[i].seconds))
            return refuse_figure(side->causes[i].title, side->causes[i].seconds, where, problems);
    for (int i = 0; i < side->memory_count; i++)
        if (!is_workable(side->memory[i].value))
            return refuse_figure(side->memory[i].title, side->memory[i].value, where, problems);
    if (!(side->samples > 0)) side->samples = NAN;
    return true;
}

// ---- Parts of the time.

// Joins causes that are one part on either side: the group of each, a bit for each cause.
static void group_causes(const DiffSide *side, uint32_t groups[CAUSE_COUNT]) {
    for (int i = 0; i < side->cause_count; i++) {
        uint32_t together = 0, covers = side->causes[i].covers;
        for (int c = 0; c < CAUSE_COUNT; c++)
            if (covers >> c & 1) together |= groups[c];
        for (int c = 0; c < CAUSE_COUNT; c++)
            if (together >> c & 1) groups[c] = together;
    }
}

static double seconds_in(const DiffSide *side, uint32_t group) {
    double sum = 0;
    for (int i = 0; i < side->cause_count; i++)
        if (side->causes[i].covers & group) sum += side->causes[i].seconds;
    return sum;
}

// As the side calls it that has just this stretch.
static DiffPart part_of_group(const DiffSide *a, const DiffSide *b, uint32_t group) {
    DiffPart part = {"not_told_apart", "Not told apart", seconds_in(a, group), seconds_in(b, group), group};
    const DiffSide *sides[] = {a, b};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sides[s]->cause_count; i++)
            if (sides[s]->causes[i].covers == group)
                part.name = sides[s]->causes[i].name, part.title = sides[s]->causes[i].title;
    return part;
}

typedef LIST_OF(DiffPart) PartList;

// What has a name that this program does not know, of one side or of both.
static void add_unknown(Arena *arena, const DiffSide *side, bool is_b, PartList *list) {
    for (int i = 0; i < side->cause_count; i++) {
        const DiffCause *cause = &side->causes[i];
        if (cause->covers) continue;
        int at = 0;
        while (at < list->count && (list->items[at].covers || strcmp(list->items[at].name, cause->name) != 0)) at++;
        if (at == list->count) LIST_PUSH(arena, list, ((DiffPart){cause->name, cause->title, 0, 0, 0}));
        *(is_b ? &list->items[at].b : &list->items[at].a) += cause->seconds;
    }
}

static PartList time_parts(Arena *arena, const DiffSide *a, const DiffSide *b) {
    PartList list = {0};
    uint32_t groups[CAUSE_COUNT];
    for (int c = 0; c < CAUSE_COUNT; c++) groups[c] = UINT32_C(1) << c;
    group_causes(a, groups);
    group_causes(b, groups);
    for (int c = 0; c < CAUSE_COUNT; c++)
        if ((groups[c] & ((UINT32_C(1) << c) - 1)) == 0) LIST_PUSH(arena, &list, part_of_group(a, b, groups[c]));
    add_unknown(arena, a, false, &list);
    add_unknown(arena, b, true, &list);
    return list;
}

// ---- Parts of the memory.

static double value_named(const NamedValue *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].value;
    return NAN;
}

// A part missing on one side counts as 0 there, since parts sum to the whole. A side without parts cannot be compared
// by parts.
static PartList memory_parts(Arena *arena, const DiffSide *a, const DiffSide *b) {
    PartList list = {0};
    if (a->memory_count == 0 || b->memory_count == 0) return list;
    for (int i = 0; i < a->memory_count; i++) {
        double other = value_named(b->memory, b->memory_count, a->memory[i].name);
        LIST_PUSH(arena, &list,
                  ((DiffPart){a->memory[i].name, a->memory[i].title, a->memory[i].value, isnan(other) ? 0 : other, 0}));
    }
    for (int i = 0; i < b->memory_count; i++)
        if (isnan(value_named(a->memory, a->memory_count, b->memory[i].name)))
            LIST_PUSH(arena, &list, ((DiffPart){b->memory[i].name, b->memory[i].title, 0, b->memory[i].value, 0}));
    return list;
}

DiffRates diff_rates(double step_a, double per_step_a, double step_b, double per_step_b) {
    double rate_a = per_step_a / step_a, rate_b = per_step_b / step_b;
    return (DiffRates){(rate_a + rate_b) / 2, (rate_b - rate_a) * (step_a + step_b) / 2};
}

// ---- Settings of answers that cannot be simulated again: those that differ.

typedef LIST_OF(DiffSetting) SettingList;

static const char *setting_named(const DiffSide *side, const char *name) {
    for (int i = 0; i < side->setting_count; i++)
        if (strcmp(side->settings[i].name, name) == 0) return side->settings[i].text;
    return NULL;
}

#define NOT_SAID "not said"

// "H100-SXM5-80GB launch_time" beside "A100-SXM4-80GB launch_time" on the other side: a number of another part, which
// differs with the part's name.
static bool is_of_another_part(const DiffSide *other, const char *name) {
    const char *what = strchr(name, ' ');
    for (int i = 0; what && i < other->setting_count; i++) {
        const char *same = strchr(other->settings[i].name, ' ');
        if (same && strcmp(same, what) == 0) return true;
    }
    return false;
}

static void compare_settings(Arena *arena, Diff *diff) {
    const DiffSide *a = diff->a, *b = diff->b;
    SettingList list = {0};
    bool both = a->is_answer && b->is_answer;
    for (int i = 0; i < a->setting_count; i++) {
        const DiffText *said = &a->settings[i];
        const char *other = setting_named(b, said->name);
        if (!other && is_of_another_part(b, said->name)) continue;
        if (other ? strcmp(said->text, other) != 0 : both)
            LIST_PUSH(arena, &list, ((DiffSetting){said->name, said->text, other ? other : NOT_SAID, NAN}));
    }
    for (int i = 0; both && i < b->setting_count; i++)
        if (!setting_named(a, b->settings[i].name) && !is_of_another_part(a, b->settings[i].name))
            LIST_PUSH(arena, &list, ((DiffSetting){b->settings[i].name, NOT_SAID, b->settings[i].text, NAN}));
    diff->settings = list.items;
    diff->setting_count = list.count;
}

Diff diff_sides(Arena *arena, const DiffSide *a, const DiffSide *b, Problems *problems) {
    Diff diff = {.a = a, .b = b};
    PartList time = time_parts(arena, a, b), memory = memory_parts(arena, a, b);
    diff.time = time.items;
    diff.time_count = time.count;
    diff.memory = memory.items;
    diff.memory_count = memory.count;
    if (a->study && b->study)
        attribute_settings(arena, &diff, problems);
    else
        compare_settings(arena, &diff);
    return diff;
}

// ---- The command.

// clang-format off
static const OptionSpec own_options[] = {
    {"a", OPTION_TEXT, "OPTIONS", .may_be_empty = true, .help = "the first as a job's options in one word: --a=\"--model gpt2-124m --node …\""},
    {"b", OPTION_TEXT, "OPTIONS", .may_be_empty = true, .help = "the second"},
    {"set-a", OPTION_TEXTS, "PATH=VALUE", .help = "put a value in place of the first script's; may be repeated"},
    {"set-b", OPTION_TEXTS, "PATH=VALUE", .help = "of the second's; with one script it is both"},
    {"row-a", OPTION_TEXT, "N|NAME", .help = "which row of a CSV file (by number from 1 or by what its first column says; default 1), which point of an answer, a plan or a sweep's store"},
    {"row-b", OPTION_TEXT, "N|NAME", .help = "of the second's; with one file it is both"},
    {"study-a", OPTION_COUNT, "N", .help = "which of the first script's jobs and programs, counted from 1 (default 1)"},
    {"study-b", OPTION_COUNT, "N", .help = "of the second's"},
    {"brief", OPTION_FLAG, .help = "on the screen only the sentences"},
    PRICE_BOOK_OPTION,
    {"profile", OPTION_TEXT, "FILE.json", .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"seed", OPTION_SEED, "N", .help = "of all random draws (default 1)"},
    {"allow-read", OPTION_TEXTS, "DIR", .help = "scripts may name files in this folder, besides their own; may be repeated"},
    WATCH_OPTIONS,
    WALL_OPTION,
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static const char usage_line[] = "lockstep diff A B [OPTIONS]";
static const char about[] =
    "Sets two answers beside each other: where time, memory, money and energy differ, in parts that sum to the whole;\n"
    "and of two jobs that can be simulated, which changed setting makes how much, whatever the order of changing.\n"
    "A and B are scenarios (.lua), answers of lockstep run or plan (.json), points of a sweep (.db), rows of CSV "
    "(.csv:\n"
    "lockstep's own, or measured runs), Kineto traces of torch.profiler (.json, .json.gz), or options (--a, --b).\n\n"
    "  lockstep diff before.json after.json\n"
    "  lockstep diff my.lua --set-b training.parallel.tp=4\n"
    "  lockstep diff my.lua measured.csv --row-b 3\n"
    "  lockstep diff plans.json --row-a 1 --row-b 2\n"
    "  lockstep diff sweep.db --row-a 4 --row-b 9\n"
    "  lockstep diff my.lua trace.json\n"
    "  lockstep diff --a=\"--model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4\" \\\n"
    "                --b=\"--model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --tp 2\"\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Command {
    Arena *arena;
    Problems *problems;
    const Options *options;
    const Catalogue *catalogue;
} Command;

// ---- Sides.

// The file of a side: with one script it is both. NULL: given by options.
static const char *file_of(const Command *command, int side) {
    if (option_given(command->options, side ? "b" : "a")) return NULL;
    int count = option_positional_count(command->options), at = side;
    if (side && option_given(command->options, "a")) at = 0;
    return option_positional(command->options, at < count ? at : count - 1);
}

// Words are split at spaces.
static const StudySpec *study_of_text(Command *command, const char *text) {
    LIST_OF(char *) words = {0};
    LIST_PUSH(command->arena, &words, arena_copy_text(command->arena, "diff"));
    char *rest = arena_copy_text(command->arena, text), *next = NULL;
    for (char *word = strtok_r(rest, " ", &next); word; word = strtok_r(NULL, " ", &next))
        LIST_PUSH(command->arena, &words, word);
    int count;
    static const OptionSpec seed[] = {{"seed", OPTION_SEED, "N", .help = ""}, {"unfolded", OPTION_FLAG, .help = ""}};
    const OptionSpec *rows = options_with_study(command->arena, seed, 2, &count);
    const Options *options = options_parse(command->arena, rows, count, words.count, words.items, command->problems);
    options_refuse_positional(options, 0, command->problems);
    if (problem_count(command->problems)) return NULL;
    return study_from_options(command->arena, options, command->catalogue, "options", command->problems);
}

// Simulates a study without its variations.
static bool side_of_study(Command *command, const StudySpec *study, const char *name, DiffSide *side) {
    if (!study) return false;
    StudySpec *plain = ARENA_NEW(command->arena, StudySpec);
    *plain = *study;
    plain->vary_count = 0;
    plain->want_timeline = false;
    return diff_side_of_study(command->arena, plain, name, side, command->problems);
}

// A script's job without its variations, or a rank program.
static bool side_of_script(Command *command, const char *path, int side, DiffSide *into) {
    const Options *options = command->options;
    char word[] = "diff", *words[] = {word, NULL};
    ScenarioRequest request = {.file = path, .argc = 1, .argv = words, .seed = option_seed(options, "seed", 1)};
    request.sets = option_texts(options, side ? "set-b" : "set-a", &request.set_count);
    request.allowed = option_texts(options, "allow-read", &request.allowed_count);
    int before = problems_added(command->problems);
    const Scenario *scenario =
        scenario_load(command->arena, command->catalogue, &request, command->problems, command->problems);
    if (!scenario) return false;
    int64_t number = option_count(options, side ? "study-b" : "study-a", 1);
    const ScenarioItem *item = scenario_item(scenario, number);
    if (!item) {
        problem_add(command->problems, (Where){path, 0}, "there is no training job or rank program number %lld in it",
                    (long long)number);
        return problem_hint(command->problems, "the script returns sim.study and sim.program; they are counted from 1");
    }
    const char *title = item->study            ? study_title(command->arena, item->study)
                        : item->program->title ? item->program->title
                                               : "Rank program",
               *name = arena_printf(command->arena, "%s (%s)", title, path);
    if (item->study) return side_of_study(command, item->study, name, into);
    RecordPoint point = simulate_program_once(command->arena, item->program, &request, command->problems);
    if (problems_added(command->problems) > before) return false;
    return diff_side_of_point(command->arena, &point, name, item->program->where, into, command->problems);
}

// 0: none is given; -1 after a problem.
static int row_number(const char *text, const char *path, Problems *problems) {
    if (!text) return 0;
    char *end;
    long number = strtol(text, &end, 10);
    if (*text && !*end && number >= 1 && number < 100000000) return (int)number;
    problem_add(problems, (Where){path, 0}, "\"%s\" is no number of a point", text);
    problem_hint(problems, "points of answers and of sweeps are counted from 1");
    return -1;
}

static bool refuse_packed(Command *command, const char *path) {
    FILE *file = file_open_stream(path, command->problems);
    if (!file) return false;
    fclose(file);
    problem_add(command->problems, (Where){path, 0}, "this is no trace of torch.profiler");
    return problem_hint(command->problems, "only traces are read packed; an answer of lockstep, gunzip first");
}

static bool read_side(Command *command, int side, DiffSide *into) {
    const char *name = side ? "B" : "A", *path = file_of(command, side);
    const Options *options = command->options;
    if (!path)
        return side_of_study(command, study_of_text(command, option_text(options, side ? "b" : "a", "")), name, into);
    if (file_ends_in(path, ".lua")) return side_of_script(command, path, side, into);
    const char *row = option_text(options, side ? "row-b" : "row-a", NULL);
    if (file_ends_in(path, ".csv"))
        return diff_side_of_csv(command->arena, path, row ? row : "1", into, command->problems);
    bool is_packed = file_ends_in(path, ".json.gz");
    if ((is_packed || file_ends_in(path, ".json")) && kineto_is_trace(path))
        return diff_side_of_trace(command->arena, path, into, command->problems);
    if (file_ends_in(path, ".sqlite") || nsys_is_export(path))
        return diff_side_of_trace(command->arena, path, into, command->problems);
    if (is_packed) return refuse_packed(command, path);
    int number = row_number(row, path, command->problems);
    if (number < 0) return false;
    return (file_ends_in(path, ".db") ? diff_side_of_store : diff_side_of_json)(command->arena, path, number, into,
                                                                                command->problems);
}

static bool raise_wall(const Command *command) {
    WallRules rules = {0};
    const Options *options = command->options;
    bool any_script = false;
    for (int i = 0; i < option_positional_count(options); i++) {
        const char *path = option_positional(options, i);
        bool is_script = file_ends_in(path, ".lua");
        any_script = any_script || is_script;
        if (is_script)
            wall_allow_script(command->arena, &rules, path);
        else
            wall_allow(command->arena, &rules, WALL_READ, path);
    }
    if (!any_script) return true;
    wall_allow_texts(command->arena, &rules, options, "allow-read");
    for (int side = 0; side < 2; side++) {
        wall_allow_settings(command->arena, &rules, options, side ? "set-b" : "set-a");
    }
    if (option_known(options, "output"))
        wall_allow_output(command->arena, &rules, WALL_REPLACE, option_text(options, "output", "-"));
    return wall_raise(command->arena, &rules, wall_mode_said(options), command->problems);
}

// ---- The answer.

static void add_answer(Answer *answer, Arena *arena, const Diff *diff, bool brief) {
    static const char *const orders[] = {"none", "all", "possible", "listed"};
    Record record = diff_record(arena, diff);
    answer_text(answer, "a", "A", diff->a->name);
    answer_text(answer, "b", "B", diff->b->name);
    answer_number(answer, "a_step_s", NULL, AS_SECONDS, diff->a->step_s);
    answer_number(answer, "b_step_s", NULL, AS_SECONDS, diff->b->step_s);
    answer_number(answer, "difference_s", NULL, AS_SECONDS, diff->b->step_s - diff->a->step_s);
    answer_number(answer, "a_measured_s", NULL, AS_SECONDS, diff->a->published_step_s);
    answer_number(answer, "b_measured_s", NULL, AS_SECONDS, diff->b->published_step_s);
    answer_text(answer, "a_version", NULL, diff->a->version);
    answer_text(answer, "b_version", NULL, diff->b->version);
    answer_text(answer, "orders", NULL, orders[diff->order]);
    record_texts(answer, "sentences", record.notes, record.note_count);
    for (int i = 0; i < record.note_count; i++) answer_say(answer, NULL, "%s", record.notes[i]);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, record.table_count);
    for (int i = 0; i < record.table_count; i++) {
        tables[i] = record.tables[i];
        if (brief) tables[i].title = NULL;
    }
    record_tables(answer, arena, tables, record.table_count);
    answer_main_called(answer, "time");
}

// ---- The command.

static void check_usage(const Command *command, Problems *usage) {
    const Options *options = command->options;
    int files = option_positional_count(options), said = option_given(options, "a") + option_given(options, "b"), sets;
    option_texts(options, "set-b", &sets);
    sets += option_given(options, "study-a") || option_given(options, "study-b");
    bool one_file = files == 1 && said == 0,
         is_script = one_file && file_ends_in(option_positional(options, 0), ".lua"),
         two_rows = option_given(options, "row-a") || option_given(options, "row-b");
    if (files + said != 2 && !(one_file && (is_script ? sets > 0 : two_rows))) {
        problem_add(usage, (Where){0}, "diff takes two answers, and there %s %d", files + said == 1 ? "is" : "are",
                    files + said);
        problem_hint(usage, "lockstep diff A.json B.json, FILE.lua --set-b PATH=VALUE, or FILE.csv --row-b N");
    }
    for (int i = 0; i < files; i++) {
        const char *path = option_positional(options, i);
        static const char *const endings[] = {".lua", ".json", ".json.gz", ".csv", ".db", ".sqlite"};
        bool is_known = false;
        for (int e = 0; e < 6; e++) is_known = is_known || file_ends_in(path, endings[e]);
        if (is_known) continue;
        problem_add(usage, (Where){0}, "what \"%s\" is its name does not say", path);
        problem_hint(usage,
                     "a scenario ends in .lua, an answer or a trace in .json, a trace in .json.gz too, rows in "
                     ".csv, a sweep's store in .db, an export of Nsight Systems in .sqlite; what else is gzipped, "
                     "gunzip first");
    }
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Command command = {asking->arena, asking->problems, options, NULL};
    check_usage(&command, asking->problems);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    command.catalogue = catalogue_with_options(asking->arena, options, asking->problems);
    if (!command.catalogue) return EXIT_BAD_INPUT;
    if (!raise_wall(&command)) return EXIT_FAILED;
    DiffSide a, b;
    if (!read_side(&command, 0, &a) || !read_side(&command, 1, &b)) return watch_status(EXIT_BAD_INPUT);
    Diff diff = diff_sides(asking->arena, &a, &b, asking->problems);
    if (problem_count(asking->problems)) return watch_status(EXIT_BAD_INPUT);
    add_answer(asking->answer, asking->arena, &diff, option_flag(options, "brief"));
    return EXIT_DONE;
}

static const Question question_diff = {.name = "diff",
                                       .usage = usage_line,
                                       .about = about,
                                       .own = own_options,
                                       .own_count = OWN_OPTIONS,
                                       .positional = INT_MAX,
                                       .ask = ask};

int command_diff(int argc, char **argv) { return frame_run(&question_diff, argc, argv); }
