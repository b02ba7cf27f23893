// lockstep power: a cluster's power by its GPUs' activity, its racks and breakers, its energy and carbon, and the
// effect of a power limit.
#include <math.h>

#include "results/answer/frame.h"
#include "scenarios/questions/cluster_options.h"
#include "scenarios/questions/cost.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define USUAL_LIMIT 0.7 // of the TDP: reported if no limit is given

static const OptionSpec own_options[] = {
    {"facility", OPTION_QUANTITY, "POWER", .of = OF_QUESTION,
     .help = "what the room can give at the wall; exit 3 when it is not enough", .quantity = QUANTITY_POWER,
     .usual = "800 kW"},
};

static const char usage[] = "lockstep power --node NAME [--nodes N] [--fabric NAME] [OPTIONS]";
static const char about[] =
    "Power of a cluster: average by what its GPUs do, idle, and at most; racks and breakers; energy and carbon of a\n"
    "year; and what a limit on each GPU takes from the clock of matrix kernels.\n\n"
    "  lockstep power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --grid france\n"
    "  lockstep power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --power-cap 500W --facility 200kW";

typedef struct PowerFound {
    Arena *arena;
    const Cluster *cluster;
    ActivityMix mix;
    ClusterPower power;
    ClusterBill bill;
    double facility_watts; // 0: unspecified
    const char *asked;     // the command line's options, but how many nodes
    int nodes_that_fit;
} PowerFound;

static const char *watts(const PowerFound *found, double power) { return text_power(found->arena, power); }

// The GPU without the limit, for comparison.
static const Gpu *uncapped_gpu(const PowerFound *found) {
    return node_gpu(found->cluster->money->catalogue, found->cluster->node_of[0], 0);
}

static bool facility_is_enough(const PowerFound *found) {
    return found->facility_watts <= 0 || peak_power_at_wall(&found->power) <= found->facility_watts;
}

// ---- The cluster.

static void add_lead(Answer *answer, const PowerFound *found) {
    double peak = peak_power_at_wall(&found->power), room = found->facility_watts;
    const char *fits = "";
    if (room > 0 && facility_is_enough(found))
        fits = arena_printf(found->arena, " %s is enough, %s in hand.", watts(found, room), watts(found, room - peak));
    else if (room > 0)
        fits = arena_printf(found->arena, " %s is not enough by %s; about %d of these nodes fit.", watts(found, room),
                            watts(found, peak - room), found->nodes_that_fit);
    answer_say(answer, NULL, "At the wall it draws %s while a job runs, %s at most.%s",
               watts(found, power_at_wall(&found->power)), watts(found, peak), fits);
}

static void add_cluster(Answer *answer, const PowerFound *found) {
    const Cluster *cluster = found->cluster;
    const Gpu *gpu = cluster->gpu_of[0];
    const char *limit =
        gpu->cap_watts > 0 ? arena_printf(found->arena, ", limited to %s", watts(found, gpu->cap_watts)) : "";
    const char *network = cluster_network_text(found->arena, cluster->spec);
    answer_say(answer, "Cluster", "%d x %s, %d GPU%s%s%s; a %s draws at most %s%s", cluster->node_count,
               cluster->node_of[0]->name, cluster->gpu_count, cluster->gpu_count == 1 ? "" : "s", *network ? ", " : "",
               network, gpu->name, watts(found, gpu->power_watts), limit);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "nodes", NULL, AS_WHOLE, cluster->node_count);
    answer_number(answer, "gpus", NULL, AS_WHOLE, cluster->gpu_count);
    answer_number(answer, "power_watts", NULL, AS_WATTS, power_at_wall(&found->power));
    answer_number(answer, "idle_watts", NULL, AS_WATTS, idle_power_at_wall(&found->power));
    answer_number(answer, "peak_watts", NULL, AS_WATTS, peak_power_at_wall(&found->power));
    answer_number(answer, "machine_watts", NULL, AS_WATTS, found->power.node_watts);
    answer_number(answer, "clock_share", NULL, AS_SHARE,
                  gpu->cap_watts > 0 ? gpu_clock_share(uncapped_gpu(found), gpu->cap_watts) : 1);
    if (found->facility_watts > 0) {
        answer_bool(answer, "facility_is_enough", NULL, facility_is_enough(found));
        answer_number(answer, "nodes_that_fit", NULL, AS_WHOLE, found->nodes_that_fit);
    }
    answer_close(answer);
}

static void add_activities(Answer *answer, const PowerFound *found) {
    answer_open(answer, "gpu_watts", "A GPU while it does");
    answer_detail(answer, FOR_VERBOSE);
    const Gpu *gpu = found->cluster->gpu_of[0];
    for (int a = 0; a < ACTIVITY_COUNT; a++) {
        answer_number(answer, activity_names[a], activity_names[a], AS_WATTS, gpu_activity_watts(gpu, (Activity)a));
        answer_note(answer, "%s of the time%s", text_percent(found->arena, found->mix.share[a]),
                    a == ACTIVITY_MATRIX && gpu_is_throttled(gpu) ? "; its power limit lowers its clock" : "");
    }
    answer_close(answer);
}

static void add_sums(Answer *answer, const PowerFound *found) {
    static const AnswerColumn columns[] = {{NULL, "cluster", AS_TEXT, 0},
                                           {NULL, "machines", AS_WATTS, 0},
                                           {NULL, "at the wall", AS_WATTS, 0},
                                           {NULL, "per node, machines", AS_WATTS, 0}};
    const ClusterPower *power = &found->power;
    const struct {
        const char *what;
        double machines;
    } rows[] = {{"while a job runs", power->node_watts + power->network_watts},
                {"without a job", power->idle_watts},
                {"at most", power->peak_watts}};
    answer_table(answer, NULL, NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < COUNT_OF(rows); i++) {
        ANSWER_CELLS(answer, rows[i].what, answer_of(AS_WATTS, rows[i].machines),
                     answer_of(AS_WATTS, rows[i].machines * power->power_usage_effectiveness),
                     answer_of(AS_WATTS, rows[i].machines / found->cluster->node_count));
    }
}

// ---- The room and the year.

static void add_room(Answer *answer, const PowerFound *found) {
    const ClusterPower *power = &found->power;
    const Site *site = found->cluster->money->site;
    answer_number(answer, "racks", power->racks > 0 ? "Racks" : NULL, AS_COUNT, power->racks);
    answer_note(answer, "of %s with %d node%s each", watts(found, power->rack_watts), power->nodes_per_rack,
                power->nodes_per_rack == 1 ? "" : "s");
    answer_number(answer, "breakers", "Breakers", AS_COUNT, power->breakers);
    answer_note(answer, "%g A at %g V%s, %s all day each%s", site->breaker_amperes, site->breaker_volts,
                site->breaker_phases == 3 ? " three-phase" : "", watts(found, power->breaker_watts),
                site->feeds == 2 ? "; on two feeds that can each carry all" : "");
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_number(answer, "network_watts", "Network", AS_WATTS, power->network_watts);
    answer_note(answer, "switches and optics, all the time");
    answer_number(answer, "pue", "PUE", AS_NUMBER, power->power_usage_effectiveness);
    answer_note(answer, "watts at the wall for each of the machines, on site %s", site->name);
    answer_close(answer);
}

static void add_year(Answer *answer, const PowerFound *found) {
    const Grid *grid = found->cluster->money->grid;
    answer_number(answer, "energy_kwh_per_year", "A year", AS_KWH,
                  power_at_wall(&found->power) / 1000 * HOURS_PER_YEAR);
    answer_note(answer, "of such work");
    answer_number(answer, "carbon_kg_per_year", "CO2e", AS_KILOGRAMS, found->bill.carbon_kg_per_hour * HOURS_PER_YEAR);
    answer_note(answer, "%s: %g g per kWh, %s", grid->title, grid->carbon_grams_per_kwh, grid->date);
}

static void add_doubts(Answer *answer, const PowerFound *found) {
    const char *draws = watts(found, found->power.node_peak_watts);
    if (found->power.node_exceeds_rack)
        answer_caution(answer, "A node draws up to %s: more than such a rack may", draws);
    if (found->power.node_exceeds_breaker)
        answer_caution(answer, "A node draws up to %s: more than such a breaker carries all day", draws);
}

// ---- A limit.

typedef struct Limit {
    double watts, clock, more_per_joule; // clock: share that matrix kernels keep
} Limit;

static Limit limit_of(const Gpu *gpu, double watts) {
    double matrix = gpu_activity_watts(gpu, ACTIVITY_MATRIX), clock = gpu_clock_share(gpu, watts);
    return (Limit){watts, clock, clock / fmin(watts, matrix) * matrix - 1};
}

static void add_limits(Answer *answer, const PowerFound *found) {
    static const AnswerColumn columns[] = {{NULL, "limit", AS_WATTS, 0},
                                           {NULL, "of TDP", AS_SHARE, 0},
                                           {NULL, "clock of matrix kernels", AS_SHARE, 0},
                                           {NULL, "work per joule", AS_PERCENT, 0}};
    const Gpu *gpu = uncapped_gpu(found);
    double asked = found->cluster->spec->power_cap_watts;
    Limit told = limit_of(gpu, asked > 0 ? asked : USUAL_LIMIT * gpu->power_watts);
    answer_say(answer, "Limit",
               "%s a GPU leaves %s of the clock of matrix kernels and all of memory-bound ones, with %+.0f %% work per "
               "joule.",
               watts(found, told.watts), text_percent(found->arena, told.clock), 100 * told.more_per_joule);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, NULL, "A limit on each GPU", columns, COUNT_OF(columns));
    for (int step = asked > 0 ? -1 : 0; step < 6; step++) {
        Limit limit = limit_of(gpu, step < 0 ? asked : gpu->power_watts * (1 - 0.1 * step));
        ANSWER_CELLS(answer, answer_of(AS_WATTS, limit.watts), answer_of(AS_SHARE, limit.watts / gpu->power_watts),
                     answer_of(AS_SHARE, limit.clock),
                     answer_shown(AS_PERCENT, limit.more_per_joule,
                                  arena_printf(found->arena, "%+.0f %%", 100 * limit.more_per_joule)));
    }
    answer_close(answer);
}

static void add_next(Answer *answer, const PowerFound *found) {
    const Cluster *cluster = found->cluster;
    const Gpu *gpu = cluster->gpu_of[0];
    if (!facility_is_enough(found) && found->nodes_that_fit > 0)
        answer_next(answer,
                    arena_printf(found->arena, "lockstep power%s --nodes %d", found->asked, found->nodes_that_fit),
                    "those that fit");
    else
        answer_next(answer, arena_printf(found->arena, "lockstep hw show %s -v", gpu->name),
                    "where its watts are from");
}

static void power_answer(Answer *answer, const PowerFound *found) {
    answer_one_row(answer);
    add_lead(answer, found);
    add_cluster(answer, found);
    add_sums(answer, found);
    add_room(answer, found);
    add_year(answer, found);
    add_limits(answer, found);
    add_activities(answer, found);
    add_doubts(answer, found);
    add_next(answer, found);
}

// ---- The question.

static void find(PowerFound *found, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_with_profile(found->arena, option_text(options, "profile", NULL), problems);
    day_from_options(options, problems);
    found->mix = mix_from_options(options, problems);
    found->facility_watts = option_quantity(options, "facility", 0);
    if (catalogue) found->cluster = cluster_from_options(found->arena, catalogue, options, false, problems);
    if (!found->cluster) return;
    found->power = cluster_power(found->cluster, &found->mix);
    found->bill = cluster_bill(found->arena, found->cluster, &found->mix);
    double per_node = peak_power_at_wall(&found->power) / found->cluster->node_count;
    found->nodes_that_fit = (int)fmin(found->cluster->node_count, floor(found->facility_watts / per_node));
}

// " --node dgx-h100 --facility 1.2MW": the question without its number of nodes.
static const char *as_asked(const Asking *asking) {
    static const char *const counted[] = {"nodes", "gpus"};
    OptionWords words = {0}, kept = {0};
    const char *text = "";
    for (int i = 1; i < asking->argc; i++) option_words_add(asking->arena, &words, asking->argv[i]);
    option_words_keep(asking->arena, asking->rows, asking->row_count, &words, counted, 2, &kept, NULL);
    for (int i = 0; i < kept.count; i++)
        text = arena_printf(asking->arena, "%s %s", text, option_word_quoted(asking->arena, kept.items[i]));
    return text;
}

static int ask(Asking *asking) {
    PowerFound found = {.arena = asking->arena, .asked = as_asked(asking)};
    find(&found, asking->options, asking->problems);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    power_answer(asking->answer, &found);
    return facility_is_enough(&found) ? EXIT_DONE : EXIT_NO;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_join(arena, cluster_options, cluster_option_count, own_options, 1, count);
}

static const Question power = {.name = "power", .usage = usage, .about = about, .rows = rows, .ask = ask};

const OptionSpec *power_option_rows(Arena *arena, int *count);
const OptionSpec *power_option_rows(Arena *arena, int *count) { return frame_rows(arena, &power, count); }

int command_power(int argc, char **argv) { return frame_run(&power, argc, argv); }
