// lockstep power: what a cluster draws by what its GPUs do, the racks and breakers it needs, its energy and carbon, and
// what a power limit would change.
#include <math.h>
#include <stdio.h>

#include "results/results.h"
#include "scenarios/commands/cluster_options.h"
#include "scenarios/commands/command_cost.h"
#include "sim/envelope.h"
#include "sim/json.h"
#include "sim/text.h"

enum { DONE = 0, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

static const OptionSpec own_options[] = {
    {"facility", OPTION_QUANTITY, "POWER", .of = OF_QUESTION,
     .help = "what the room can give at the wall; exit 3 when it is not enough", .quantity = QUANTITY_POWER},
};

static const char usage[] = "lockstep power --node NAME [--nodes N] [--fabric NAME] [OPTIONS]";
static const char about[] =
    "Power of a cluster: average by what its GPUs do, idle, and at most; racks and breakers; energy and carbon of a\n"
    "year; and what a limit on each GPU takes from the clock of matrix kernels.\n\n"
    "  lockstep power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --grid france\n"
    "  lockstep power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --power-cap 500W --facility 200kW";

typedef struct PowerAnswer {
    Arena *arena;
    const Cluster *cluster;
    ActivityMix mix;
    ClusterPower power;
    ClusterBill bill;
    double facility_watts; // 0: not said
    int nodes_that_fit;
} PowerAnswer;

static const char *watts(const PowerAnswer *answer, double power) { return text_power(answer->arena, power); }

// The GPU without the limit: what the limit is compared with.
static const Gpu *uncapped_gpu(const PowerAnswer *answer) {
    return node_gpu(answer->cluster->money->catalogue, answer->cluster->node_of[0], 0);
}

// ---- The screen.

static void print_activities(const PowerAnswer *answer, const Style *style) {
    const Gpu *gpu = answer->cluster->gpu_of[0];
    Table *table = table_create(answer->arena);
    printf("\nA %s draws at most %s%s\n", gpu->name, watts(answer, gpu->power_watts),
           gpu->cap_watts > 0 ? arena_printf(answer->arena, ", limited to %s", watts(answer, gpu->cap_watts)) : "");
    table_column(table, "while it does", false);
    table_column(table, "of the time", true);
    table_column(table, "it draws", true);
    for (int a = 0; a < ACTIVITY_COUNT; a++) {
        table_cell(table, "%s", activity_names[a]);
        table_cell(table, "%s", text_percent(answer->arena, answer->mix.share[a]));
        table_cell(table, "%s", watts(answer, gpu_activity_watts(gpu, (Activity)a)));
        table_end_row(table);
    }
    table_print(table, stdout, style);
}

static void print_sums(const PowerAnswer *answer, const Style *style) {
    const ClusterPower *power = &answer->power;
    double pue = power->power_usage_effectiveness;
    const struct {
        const char *what;
        double machines;
    } rows[] = {{"while a job runs", power->node_watts + power->network_watts},
                {"without a job", power->idle_watts},
                {"at most", power->peak_watts}};
    Table *table = table_create(answer->arena);
    printf("\n");
    table_column(table, "cluster", false);
    table_column(table, "machines", true);
    table_column(table, "at the wall", true);
    table_column(table, "per node, machines", true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_cell(table, "%s", rows[i].what);
        table_cell(table, "%s", watts(answer, rows[i].machines));
        table_cell(table, "%s", watts(answer, rows[i].machines * pue));
        table_cell(table, "%s", watts(answer, rows[i].machines / answer->cluster->node_count));
        table_end_row(table);
    }
    table_print(table, stdout, style);
    printf("PUE %.2f; switches and optics draw %s of it all the time\n", pue, watts(answer, power->network_watts));
}

static void print_room(const PowerAnswer *answer) {
    const ClusterPower *power = &answer->power;
    const Site *site = answer->cluster->money->site;
    printf("\nRoom        site %s", site->name);
    if (power->racks > 0)
        printf(": %d rack%s of %s with %d node%s each", power->racks, power->racks == 1 ? "" : "s",
               watts(answer, power->rack_watts), power->nodes_per_rack, power->nodes_per_rack == 1 ? "" : "s");
    printf("\n            %d breaker%s of %g A at %g V%s", power->breakers, power->breakers == 1 ? "" : "s",
           site->breaker_amperes, site->breaker_volts, site->breaker_phases == 3 ? " three-phase" : "");
    printf(", %s all day each\n", watts(answer, power->breaker_watts));
    if (site->feeds == 2) printf("            on two feeds that can each carry all\n");
    if (power->node_exceeds_rack)
        printf("! a node draws up to %s: more than such a rack may\n", watts(answer, power->node_peak_watts));
    if (power->node_exceeds_breaker)
        printf("! a node draws up to %s: more than such a breaker carries all day\n",
               watts(answer, power->node_peak_watts));
}

static void print_year(const PowerAnswer *answer) {
    const Grid *grid = answer->cluster->money->grid;
    double kwh = answer->bill.wall_watts / 1000 * HOURS_PER_YEAR;
    printf("A year      of such work: %s and %s CO2e\n            on the grid of %s (%g g per kWh, %s)\n",
           text_energy(answer->arena, kwh), text_mass(answer->arena, answer->bill.carbon_kg_per_hour * HOURS_PER_YEAR),
           grid->title, grid->carbon_grams_per_kwh, grid->date);
}

static void print_limits(const PowerAnswer *answer, const Style *style) {
    const Gpu *gpu = uncapped_gpu(answer);
    Table *table = table_create(answer->arena);
    printf("\nA limit on each GPU: memory-bound kernels keep their speed\n"
           "(lockstep run --set cluster.power_cap=… simulates a job)\n");
    table_column(table, "limit", true);
    table_column(table, "of TDP", true);
    table_column(table, "clock of matrix kernels", true);
    table_column(table, "work per joule", true);
    double asked = answer->cluster->spec->power_cap_watts;
    for (int step = asked > 0 ? -1 : 0; step < 6; step++) {
        double limit = step < 0 ? asked : gpu->power_watts * (1 - 0.1 * step);
        double clock = gpu_clock_share(gpu, limit);
        double draw = fmin(limit, gpu_activity_watts(gpu, ACTIVITY_MATRIX));
        table_cell(table, "%s", watts(answer, limit));
        table_cell(table, "%s", text_percent(answer->arena, limit / gpu->power_watts));
        table_cell(table, "%s", text_percent(answer->arena, clock));
        table_cell(table, "%+.0f %%", 100 * (clock / draw * gpu_activity_watts(gpu, ACTIVITY_MATRIX) - 1));
        table_end_row(table);
    }
    table_print(table, stdout, style);
}

static bool facility_is_enough(const PowerAnswer *answer) {
    return answer->facility_watts <= 0 || peak_power_at_wall(&answer->power) <= answer->facility_watts;
}

static void print_facility(const PowerAnswer *answer) {
    if (answer->facility_watts <= 0) return;
    printf("\nFacility    %s at the wall: ", watts(answer, answer->facility_watts));
    if (facility_is_enough(answer))
        printf("enough, %s in hand\n", watts(answer, answer->facility_watts - peak_power_at_wall(&answer->power)));
    else
        printf("not enough by %s; about %d of these nodes fit\n",
               watts(answer, peak_power_at_wall(&answer->power) - answer->facility_watts), answer->nodes_that_fit);
}

static void print_screen(const PowerAnswer *answer, const Style *style) {
    const Cluster *cluster = answer->cluster;
    printf("Cluster     %d x %s, %d GPU%s", cluster->node_count, cluster->node_of[0]->name, cluster->gpu_count,
           cluster->gpu_count == 1 ? "" : "s");
    printf("%s%s\n", cluster->node_count > 1 ? ", " : "", cluster->node_count > 1 ? cluster->spec->link->name : "");
    print_activities(answer, style);
    print_sums(answer, style);
    print_room(answer);
    print_year(answer);
    print_facility(answer);
    print_limits(answer, style);
}

// ---- JSON.

static void number(JsonWriter *json, const char *key, double value) {
    json_key(json, key);
    json_write_number(json, value);
}

static void print_json(const PowerAnswer *answer) {
    const ClusterPower *power = &answer->power;
    const Gpu *gpu = answer->cluster->gpu_of[0];
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "power");
    number(&json, "nodes", answer->cluster->node_count);
    number(&json, "gpus", answer->cluster->gpu_count);
    number(&json, "power_watts", power_at_wall(power));
    number(&json, "idle_watts", idle_power_at_wall(power));
    number(&json, "peak_watts", peak_power_at_wall(power));
    number(&json, "machine_watts", power->node_watts);
    number(&json, "network_watts", power->network_watts);
    number(&json, "pue", power->power_usage_effectiveness);
    json_key(&json, "gpu_watts");
    json_begin_object(&json);
    for (int a = 0; a < ACTIVITY_COUNT; a++) number(&json, activity_names[a], gpu_activity_watts(gpu, (Activity)a));
    json_end_object(&json);
    number(&json, "clock_share", gpu->cap_watts > 0 ? gpu_clock_share(uncapped_gpu(answer), gpu->cap_watts) : 1);
    number(&json, "racks", power->racks);
    number(&json, "breakers", power->breakers);
    number(&json, "energy_kwh_per_year", power_at_wall(power) / 1000 * HOURS_PER_YEAR);
    number(&json, "carbon_kg_per_year", answer->bill.carbon_kg_per_hour * HOURS_PER_YEAR);
    if (answer->facility_watts > 0) {
        json_key(&json, "facility_is_enough");
        json_write_bool(&json, facility_is_enough(answer));
        number(&json, "nodes_that_fit", answer->nodes_that_fit);
    }
    json_end_object(&json);
    printf("\n");
}

// ---- The command.

static void ask(PowerAnswer *answer, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(answer->arena, option_text(options, "profile", NULL), problems);
    options_refuse_positional(options, 0, problems);
    answer->mix = mix_from_options(options, problems);
    answer->facility_watts = option_quantity(options, "facility", 0);
    if (catalogue) answer->cluster = cluster_from_options(answer->arena, catalogue, options, false, problems);
    if (!answer->cluster) return;
    answer->power = cluster_power(answer->cluster, &answer->mix);
    answer->bill = cluster_bill(answer->arena, answer->cluster, &answer->mix);
    double per_node = peak_power_at_wall(&answer->power) / answer->cluster->node_count;
    answer->nodes_that_fit = (int)fmin(answer->cluster->node_count, floor(answer->facility_watts / per_node));
}

const OptionSpec *power_option_rows(Arena *arena, int *count);
const OptionSpec *power_option_rows(Arena *arena, int *count) {
    return options_join(arena, cluster_options, cluster_option_count, own_options, 1, count);
}

int command_power(int argc, char **argv) {
    PowerAnswer answer = {.arena = arena_open()};
    Problems *problems = problems_create(answer.arena);
    int count, end = DONE;
    const OptionSpec *specs = power_option_rows(answer.arena, &count);
    Options *options = options_parse(answer.arena, specs, count, argc, argv, problems);
    Style style = style_for(stdout, "auto", option_flag(options, "plain"));
    style.today = date_or_today(option_text(options, "date", NULL), problems);
    if (option_help(options)) {
        options_print_help(specs, count, usage, about, stdout);
    } else if (problem_count(problems)) {
        end = BAD_USAGE;
    } else {
        ask(&answer, options, problems);
        end = problem_count(problems) ? BAD_INPUT : facility_is_enough(&answer) ? DONE : ANSWER_IS_NO;
        if (end != BAD_INPUT && option_flag(options, "json"))
            print_json(&answer);
        else if (end != BAD_INPUT)
            print_screen(&answer, &style);
    }
    problems_print(problems, stderr);
    end = problems_status(problems, end);
    arena_close(answer.arena);
    return end;
}
