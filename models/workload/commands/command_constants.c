// lockstep constants: the numbers that the models rest on beside the catalogue, and what each of them rests on.
#include <stdio.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/network/constants.h"
#include "models/network/network_constants.h"
#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/commands.h"
#include "models/workload/commands/constant_tables.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/step/step_constants.h"
#include "sim/envelope.h"

static const OptionSpec specs[] = {
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of a table"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

static const char usage[] = "lockstep constants [TABLE] [--json]";
static const char about[] = "The fitted and assumed numbers inside the models, with their uncertainty (one standard "
                            "deviation; judgement\n"
                            "where nothing was fitted, or by hand), where they are from and what that rests on. Those "
                            "of single GPUs, nodes and networks: lockstep hw show NAME.";

static Constant hardware_row(int index) { return hardware_constants[index]; }
static Constant network_row(int index) { return network_constants[index]; }
static Constant cost_row(int index) { return cost_constants[index]; }
static Constant step_row(int index) { return step_constants[index]; }

// Of NCCL, in the units of its table; what no log has moved is as it was assumed.
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

static void print_table(const ConstantTable *table) {
    printf("%s: %s\n", table->name, table->title);
    for (int i = 0; i < table->count; i++) {
        const Constant made = table->row(i), *row = &made;
        char value[32], sigma[32];
        snprintf(value, sizeof value, "%.6g %s", row->value, row->unit);
        snprintf(sigma, sizeof sigma, "+-%.3g %%", 100 * row->sigma);
        printf("  %-76s %-14s %-9s %s\n      %s; %s\n", row->name, value, sigma, kind_names[row->kind], row->source,
               row->basis);
    }
}

static void write_table(JsonWriter *json, const ConstantTable *table) {
    for (int i = 0; i < table->count; i++) {
        const Constant made = table->row(i), *row = &made;
        json_begin_object(json);
        write_text(json, "table", table->name);
        write_text(json, "name", row->name);
        write_number(json, "value", row->value);
        write_text(json, "unit", row->unit);
        write_number(json, "relative_sigma", row->sigma);
        write_text(json, "kind", kind_names[row->kind]);
        write_text(json, "source", row->source);
        write_text(json, "basis", row->basis);
        json_end_object(json);
    }
}

// The tables from `first` to before `end`.
static void print_tables(int first, int end, bool as_json) {
    if (!as_json) {
        for (int t = first; t < end; t++) {
            if (t > first) printf("\n");
            print_table(&constant_tables[t]);
        }
        return;
    }
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "constants");
    json_key(&json, "constants");
    json_begin_list(&json);
    for (int t = first; t < end; t++) write_table(&json, &constant_tables[t]);
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static int run(const Options *options, Problems *problems) {
    options_refuse_positional(options, 1, problems);
    if (problem_count(problems) > 0) return command_fails(problems, EXIT_USAGE);
    const char *names[CONSTANT_TABLE_COUNT], *asked = NULL;
    if (option_positional_count(options) > 0) asked = option_positional(options, 0);
    int found = -1;
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) {
        names[t] = constant_tables[t].name;
        if (asked && strcmp(asked, names[t]) == 0) found = t;
    }
    if (asked && found < 0) {
        problem_add(problems, (Where){0}, "there is no table of constants called \"%s\"", asked);
        problem_hint_names(problems, asked, names, CONSTANT_TABLE_COUNT);
        return command_fails(problems, EXIT_USAGE);
    }
    print_tables(asked ? found : 0, asked ? found + 1 : CONSTANT_TABLE_COUNT, option_flag(options, "json"));
    return EXIT_DONE;
}

int command_constants(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    int code = EXIT_DONE;
    if (option_help(options))
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
    else
        code = run(options, problems);
    arena_close(arena);
    return code;
}
