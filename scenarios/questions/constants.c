// lockstep constants: the constants of the models outside the catalogue, with their sources.
#include "scenarios/questions/constants.h"

#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/network/network_constants.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/step/step_constants.h"
#include "results/answer/frame.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static Constant hardware_row(int index) { return hardware_constants[index]; }
static Constant network_row(int index) { return network_constants[index]; }
static Constant cost_row(int index) { return cost_constants[index]; }
static Constant step_row(int index) { return step_constants[index]; }

// Of NCCL, in the units of its table; constants that no log has moved are assumed.
static Constant collectives_row(int index) {
    const ConstantRow *row = &constant_rows[index];
    bool is_fitted = row->scope == SCOPE_SHARED && (row->value != row->prior || row->uncertainty != row->prior_spread);
    return (Constant){
        .name = row->name,
        .unit = row->unit,
        .value = row->value,
        .sigma = row->uncertainty,
        .kind = is_fitted ? CONSTANT_FITTED : CONSTANT_ASSUMED,
        .source = is_fitted ? "validate collectives --refit" : row->source,
        .basis = is_fitted ? "one fit to all logs of calibrate/measurements/nccl; how many bear on it is not counted"
                           : "nothing measured"};
}

// The factors of single platforms are 1 unless a user fits them, so they are left out.
const ConstantTable constant_tables[CONSTANT_TABLE_COUNT] = {
    {"hardware", "kernels, clocks and power", HARDWARE_CONSTANT_COUNT, hardware_row},
    {"network", "links, back ends on host memory, and how sure collectives are", NETWORK_CONSTANT_COUNT, network_row},
    {"collectives", "NCCL", PLATFORM_FLOOR, collectives_row},
    {"cost", "what blocks cost: software, attention, convolutions, memory held", COST_CONSTANT_COUNT, cost_row},
    {"step", "a training step, and how sure it is", STEP_CONSTANT_COUNT, step_row},
};

static const char *const kind_names[] = {
    [CONSTANT_FITTED] = "fitted", [CONSTANT_MEASURED] = "measured", [CONSTANT_ASSUMED] = "assumed"};

// ---- The answer.

// How many there are, and how many of them are of this kind.
static int count_kind(const ConstantTable *table, ConstantKind kind) {
    int count = 0;
    for (int i = 0; i < table->count; i++) count += table->row(i).kind == kind;
    return count;
}

static void add_summary(Answer *answer) {
    static const AnswerColumn columns[] = {{NULL, "table", AS_TEXT, 0},
                                           {NULL, "fitted", AS_COUNT, 0},
                                           {NULL, "measured", AS_COUNT, 0},
                                           {NULL, "assumed", AS_COUNT, 0},
                                           {NULL, "what it is of", AS_TEXT, 0}};
    int all = 0;
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) all += constant_tables[t].count;
    answer_say(answer, NULL, "The models rest on %d numbers beside the catalogue.", all);
    answer_table(answer, NULL, NULL, columns, COUNT_OF(columns));
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) {
        ANSWER_ROW(answer, constant_tables[t].name,
                   answer_of(AS_COUNT, count_kind(&constant_tables[t], CONSTANT_FITTED)),
                   answer_of(AS_COUNT, count_kind(&constant_tables[t], CONSTANT_MEASURED)),
                   answer_of(AS_COUNT, count_kind(&constant_tables[t], CONSTANT_ASSUMED)), constant_tables[t].title);
    }
    answer_next(answer, "lockstep constants step", "one table, with what each number rests on");
}

static void add_constant(const Asking *asking, const ConstantTable *table, const Constant *row) {
    Answer *answer = asking->answer;
    const char *value = arena_printf(asking->arena, "%.6g %s", row->value, row->unit);
    ANSWER_ROW(answer, table->name, answer_shown(AS_NUMBER, row->value, value), row->unit,
               answer_shown(AS_SHARE, row->sigma, arena_printf(asking->arena, "%.3g %%", 100 * row->sigma)),
               kind_names[row->kind], row->name, row->source, row->basis);
}

// The tables from `first` to before `end`.
static void add_constants(const Asking *asking, int first, int end) {
    static const AnswerColumn columns[] = {{"table", NULL, AS_TEXT, 0},
                                           {"value", "value", AS_NUMBER, 0},
                                           {"unit", NULL, AS_TEXT, 0},
                                           {"relative_sigma", "sd", AS_SHARE, 0},
                                           {"kind", "kind", AS_TEXT, 0},
                                           {"name", "of", AS_TEXT, 0},
                                           {"source", "source", AS_TEXT, BELOW_ROW},
                                           {"basis", "basis", AS_TEXT, BELOW_ROW}};
    answer_open(asking->answer, NULL, NULL);
    if (end - first > 1) answer_detail(asking->answer, FOR_VERBOSE);
    answer_table(asking->answer, "constants", NULL, columns, COUNT_OF(columns));
    for (int t = first; t < end; t++)
        for (int i = 0; i < constant_tables[t].count; i++) {
            const Constant row = constant_tables[t].row(i);
            add_constant(asking, &constant_tables[t], &row);
        }
    answer_close(asking->answer);
}

// ---- The question.

static int ask(Asking *asking) {
    const char *names[CONSTANT_TABLE_COUNT], *asked = NULL;
    if (option_positional_count(asking->options) > 0) asked = option_positional(asking->options, 0);
    int found = -1;
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) {
        names[t] = constant_tables[t].name;
        if (asked && strcmp(asked, names[t]) == 0) found = t;
    }
    if (asked && found < 0) {
        problem_add(asking->problems, (Where){0}, "there is no table of constants called \"%s\"", asked);
        problem_hint_names(asking->problems, asked, names, CONSTANT_TABLE_COUNT);
        return EXIT_USAGE;
    }
    if (asked)
        answer_say(asking->answer, NULL, "%s: %s.", asked, constant_tables[found].title);
    else
        add_summary(asking->answer);
    add_constants(asking, asked ? found : 0, asked ? found + 1 : CONSTANT_TABLE_COUNT);
    return EXIT_DONE;
}

static const Question constants = {
    .name = "constants",
    .usage = "lockstep constants [TABLE] [--json]",
    .about =
        "The fitted and assumed numbers inside the models, with their uncertainty (one standard deviation; judgement\n"
        "where nothing was fitted, or by hand), where they are from and what that rests on. Those "
        "of single GPUs, nodes and networks: lockstep hw show NAME.",
    .positional = 1,
    .ask = ask};

int command_constants(int argc, char **argv) { return frame_run(&constants, argc, argv); }
