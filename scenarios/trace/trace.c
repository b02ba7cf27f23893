#include "scenarios/trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "models/workload/step/step_trace.h"
#include "scenarios/explain/explain.h"
#include "sim/base/text.h"
#include "sim/program.h"
#include "sim/system/watch.h"

// ---- Recording.

static int gpu_in_node(const Cluster *cluster, int rank) {
    int node = network_node_of(cluster->network, rank), first = rank;
    while (first > 0 && network_node_of(cluster->network, first - 1) == node) first--;
    return rank - first;
}

// Which side of a node's GPU a link is, by its name: "node0.gpu3.nvlink.out". SPAN_SIDES: none. NVLink: of links
// between the GPU and a switch, and of those straight to and from other GPUs.
static SpanSide side_of_gpu(const char *link, int node, int gpu) {
    static const struct {
        const char *name;
        SpanSide side;
    } own[] = {{"nvlink.out", SPAN_NVLINK_OUT},
               {"nvlink.in", SPAN_NVLINK_IN},
               {"pcie.out", SPAN_PCIE_OUT},
               {"pcie.in", SPAN_PCIE_IN}};
    int at_node, at_gpu, nic, length = 0;
    if (sscanf(link, "node%d.nic%d.%n", &at_node, &nic, &length) == 2 && length > 0)
        return at_node != node                     ? SPAN_SIDES
               : strcmp(link + length, "out") == 0 ? SPAN_NICS_OUT
               : strcmp(link + length, "in") == 0  ? SPAN_NICS_IN
                                                   : SPAN_SIDES;
    if (sscanf(link, "node%d.gpu%d.%n", &at_node, &at_gpu, &length) != 2 || length == 0 || at_node != node)
        return SPAN_SIDES;
    int other, ended = 0;
    if (sscanf(link + length, "nvlink.gpu%d%n", &other, &ended) == 1 && link[length + ended] == '\0')
        return at_gpu == gpu ? SPAN_NVLINK_OUT : other == gpu ? SPAN_NVLINK_IN : SPAN_SIDES;
    for (size_t i = 0; at_gpu == gpu && i < sizeof own / sizeof *own; i++)
        if (strcmp(link + length, own[i].name) == 0) return own[i].side;
    return SPAN_SIDES;
}

static SpanSide side_of(const void *owner, const char *link, int rank) {
    const Cluster *cluster = owner;
    return side_of_gpu(link, network_node_of(cluster->network, rank), gpu_in_node(cluster, rank));
}

// NULL after a problem.
static StepTrace *recorder(Arena *arena, const TraceRequest *request, const Cluster *cluster, Where where,
                           Problems *problems) {
    StepTraceRequest wanted = {.span_room = request->span_room,
                               .gpu_of = cluster->gpu_of,
                               .lanes = request->lanes,
                               .links = request->links,
                               .breakdown = request->breakdown,
                               .curve_ranks = request->curve_ranks,
                               .side_of = side_of,
                               .side_owner = cluster};
    if (request->ranks) {
        wanted.ranks = step_trace_ranks(arena, request->ranks, cluster->gpu_count, &wanted.rank_count, where, problems);
        if (!wanted.ranks) return NULL;
    }
    return step_trace_create(arena, &wanted);
}

static const SpanSet *titled(Arena *arena, const SpanSet *told, const char *title, const char *beside_end) {
    SpanSet *set = ARENA_NEW(arena, SpanSet);
    *set = *told;
    set->title = title;
    set->beside_end = beside_end;
    return set;
}

// What is put on the simulated step (simulate_step) has no place among its spans.
static const char *expected_of(Arena *arena, const SimulatedStep *step) {
    bool loses = step->loss > 1, anchored = step->anchored != 1;
    if (!loses && !anchored) return "";
    return arena_printf(arena, " as simulated; run expects %s, with what %s", text_time(arena, step->step_p50_s),
                        anchored ? "anchors tell" : "untuned code loses");
}

// Simulates a job's step with the options' callbacks: spans or its load. False after problems, and if the job does
// not run: then *why_not is the reason.
static bool trace_simulate(Arena *arena, const Cluster *cluster, const StudySpec *study, SimulationOptions options,
                           SimulatedStep *step, const char **why_not, Problems *problems) {
    int before = problems_added(problems);
    options.runs = 1;
    options.seed = study->seed;
    options.unfolded = study->unfolded;
    options.assume_fits = study->assume_fits;
    options.step_sigma = study->noise;
    *step = simulate_step(arena, cluster, &study->training, &options, problems);
    if (problems_added(problems) > before) return false;
    if (!step->spans && !step->load)
        *why_not = simulate_training(arena, cluster, &study->training, study, problems).why_not;
    return step->spans || step->load;
}

static const SpanSet *trace_job(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    const StudySpec *study = study_unvaried(arena, request->study);
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    StepTrace *trace = cluster ? recorder(arena, request, cluster, (Where){0}, problems) : NULL;
    if (!trace) return NULL;
    SimulationOptions options = {.chain = request->chain, .keeps_system = request->links, .trace = trace};
    SimulatedStep step;
    if (!trace_simulate(arena, cluster, study, options, &step, why_not, problems)) return NULL;
    return titled(arena, step.spans, study_title(arena, study), expected_of(arena, &step));
}

static const SpanSet *trace_program(Arena *arena, const TraceRequest *request, Problems *problems) {
    const ProgramSpec *program = request->program;
    StepTrace *trace = recorder(arena, request, program->cluster, (Where){0}, problems);
    const System *system = trace ? program_system(arena, program, problems) : NULL;
    if (!system) return NULL;
    Folded folded = program->as_packets ? (Folded){*system, NULL}
                    : request->unfolded ? (Folded){merge_equal_links(arena, system), NULL}
                                        : fold_system(arena, system);
    if (step_trace_needs_whole(trace, folded.class_of)) folded = (Folded){merge_equal_links(arena, system), NULL};
    RunOptions options = {.seed = request->seed};
    if (program->as_packets) options.carrier = program_carrier(arena, program, system, problems);
    if (program->as_packets && !options.carrier) return NULL;
    step_trace_whole(trace, system);
    step_trace_begin(trace, NULL, &folded.system, folded.class_of, program->cluster->gpu_count, &options);
    RunResult result = run_system(arena, &folded.system, &options);
    if (result.stopped) {
        watch_tells(program->where, problems);
        return NULL;
    }
    if (result.beyond_clock) {
        problem_beyond_clock(problems, program->where, "this program", &folded.system);
        return NULL;
    }
    if (result.deadlocked_count) { // run reports the calls
        problem_add(problems, program->where, "its ranks wait for each other without end: there is no step to trace");
        return problem_hint(problems, "lockstep run says who waits for whom"), NULL;
    }
    return titled(arena, step_trace_end(trace, &result), program->title ? program->title : "Rank program", "");
}

const SpanSet *trace_step(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems) {
    *why_not = NULL;
    return request->study ? trace_job(arena, request, why_not, problems) : trace_program(arena, request, problems);
}

// ---- The GPUs' draw follows their kernels at once; hosts, switches, fans and cooling follow slowly and are taken at
// their mean. Smoothing by batteries and capacitors of power supplies is not modelled.

#define HELD_UP 0.02      // seconds that power supplies hold up without their line (ITIC curve, 2000; assumed)
#define RAMP_OVER 0.1     // seconds over which a ramp is counted
#define PARTS 4096        // of the step
#define TONES 1024        // harmonics of the step that are looked at
#define TONE_MATTERS 0.01 // of the mean load (assumed)

// Areas of a grid swing against each other and single plants against the rest (Kundur, Power System Stability and
// Control, 1994, chapter 12), shafts of large turbines twist (chapter 15); eyes see lamps flicker in between
// (IEC 61000-4-15, most at 8.8 Hz).
typedef struct Band {
    const char *name, *title;
    double from_hz, to_hz;
    bool swings; // the grid by itself, hardly damped
} Band;
static const Band bands[] = {
    {"slow", "power plants follow", 0, 0.1, false},          {"inter-area", "areas of the grid swing", 0.1, 0.8, true},
    {"local", "single plants swing", 0.8, 2, true},          {"flicker", "lamps flicker", 2, 10, false},
    {"torsional", "shafts of turbines twist", 10, 50, true},
};
enum { BANDS = sizeof bands / sizeof *bands };

typedef struct Tone {
    double hertz, watts; // the strongest of the band; NAN: the step has none there
} Tone;

typedef struct SiteLoad {
    Arena *arena;
    const StepLoad *gpus;
    double per_gpu_watt; // at the wall for each watt of GPUs in the mean
    double mean, idle;   // watts at the wall
    double means[PARTS]; // of the GPUs
    Tone tones[BANDS];
} SiteLoad;

static const char *watts(const SiteLoad *load, double power) { return text_power(load->arena, power); }

// What a swing of the GPUs is at the wall: cooling stays at its mean.
static double at_wall(const SiteLoad *load, double gpus, double gpu_mean) { return load->mean + gpus - gpu_mean; }

static void find_tones(SiteLoad *load) {
    for (int b = 0; b < BANDS; b++) load->tones[b] = (Tone){NAN, NAN};
    for (int times = 1; times <= TONES; times++) {
        double hertz = times / load->gpus->seconds, amplitude = load_tone(load->means, PARTS, times);
        for (int b = 0; b < BANDS; b++)
            if (hertz >= bands[b].from_hz && hertz < bands[b].to_hz && !(amplitude <= load->tones[b].watts))
                load->tones[b] = (Tone){hertz, amplitude};
    }
}

static void measure(SiteLoad *load, const Cluster *cluster, const SimulatedStep *step) {
    ActivityMix mix = activity_of_step(step->spent);
    ClusterPower power = cluster_power(cluster, &mix);
    load->mean = power_at_wall(&power);
    load->idle = idle_power_at_wall(&power);
    load->per_gpu_watt = power.power_usage_effectiveness;
    load->gpus = step_load_stretched(load->arena, step->load, step->step_p50_s / step->load->seconds);
    load_means(load->gpus, 0, PARTS, load->means);
    find_tones(load);
}

// ---- Told.

static void add_lead(Answer *answer, const SiteLoad *load, const LoadSwing *swing) {
    double least = at_wall(load, swing->least, swing->mean), most = at_wall(load, swing->most, swing->mean);
    answer_say(answer, NULL, "The site draws %s in the mean, and %s to %s within each step of %s.",
               watts(load, load->mean), watts(load, least), watts(load, most),
               text_time(load->arena, load->gpus->seconds));
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "step_time_s", NULL, AS_SECONDS, load->gpus->seconds);
    answer_number(answer, "mean_watts", NULL, AS_WATTS, load->mean);
    answer_number(answer, "least_watts", NULL, AS_WATTS, least);
    answer_number(answer, "most_watts", NULL, AS_WATTS, most);
    answer_number(answer, "idle_watts", NULL, AS_WATTS, load->idle);
    answer_number(answer, "ramp_watts_per_second", NULL, AS_WATTS, swing->ramp);
    answer_detail(answer, FOR_ALL);
    answer_say(answer, "Swing", "%s, %.0f %% of the mean; it changes by up to %s within %g s",
               watts(load, swing->most - swing->least), 100 * (swing->most - swing->least) / load->mean,
               watts(load, swing->ramp * RAMP_OVER), RAMP_OVER);
    answer_say(answer, "Stop", "when the job stops, all GPUs at once, the load falls by %s",
               watts(load, load->mean - load->idle));
}

static void add_smoothing(Answer *answer, const SiteLoad *load) {
    static const AnswerColumn columns[] = {{"change", "what", AS_TEXT, 0},
                                           {"swing_watts", "swing", AS_WATTS, 0},
                                           {"mean_watts", "mean", AS_WATTS, 0},
                                           {"ramp_watts_per_second", "ramp per s", AS_WATTS, 1},
                                           {"energy", "energy", AS_SHARE, 0}};
    answer_table(answer, "smoothing", "What smooths it", COLUMNS(columns));
    double first = NAN;
    for (int f = 0; f < LOAD_FLOORS; f++) {
        LoadSwing swing = load_swing(load->gpus, f, HELD_UP, RAMP_OVER);
        if (f == 0) first = swing.mean;
        double mean = load->mean + load->per_gpu_watt * (swing.mean - first), more = mean / load->mean - 1;
        const char *what =
            f == 0 ? "as it is"
                   : arena_printf(load->arena, "GPUs never below %.0f %% of their limit", 100 * load_floors[f]);
        ANSWER_ROW(answer, what, swing.most - swing.least, mean, swing.ramp,
                   f == 0 ? answer_shown(AS_SHARE, 0, "")
                          : answer_shown(AS_SHARE, more, arena_printf(load->arena, "+%.1f %%", 100 * more)));
    }
    LoadStore store = load_store(load->means, PARTS, load->gpus->seconds);
    ANSWER_ROW(answer, "a store that holds it at the mean", 0.0, load->mean, 0.0, answer_shown(AS_SHARE, 0, ""));
    answer_note(answer, "The store: up to %s, %s (%s of the mean load).", watts(load, store.watts),
                text_energy(load->arena, store.joules / 3.6e6), text_time(load->arena, store.joules / load->mean));
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "store_watts", NULL, AS_WATTS, store.watts);
    answer_number(answer, "store_kwh", NULL, AS_KWH, store.joules / 3.6e6);
    answer_detail(answer, FOR_ALL);
}

static void add_tones(Answer *answer, const SiteLoad *load) {
    static const AnswerColumn columns[] = {{"band", NULL, AS_TEXT, 0},
                                           {NULL, "band", AS_TEXT, 0},
                                           {"what", "where", AS_TEXT, 1},
                                           {"hertz", "strongest at", AS_NUMBER, 0},
                                           {"amplitude_watts", "amplitude", AS_WATTS, 0},
                                           {"share", "of the mean", AS_SHARE, 0}};
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "tones", "At which frequencies", COLUMNS(columns));
    for (int b = 0; b < BANDS; b++) {
        const Tone *tone = &load->tones[b];
        bool has = isfinite(tone->watts);
        ANSWER_ROW(answer, bands[b].name, arena_printf(load->arena, "%g to %g Hz", bands[b].from_hz, bands[b].to_hz),
                   bands[b].title,
                   answer_shown(AS_NUMBER, tone->hertz, has ? arena_printf(load->arena, "%.3g Hz", tone->hertz) : "-"),
                   answer_shown(AS_WATTS, tone->watts, has ? watts(load, tone->watts) : "-"),
                   answer_shown(AS_SHARE, tone->watts / load->mean,
                                has ? arena_printf(load->arena, "%.1f %%", 100 * tone->watts / load->mean) : "-"));
    }
    answer_detail(answer, FOR_ALL);
    for (int b = 0; b < BANDS; b++)
        if (bands[b].swings && load->tones[b].watts > TONE_MATTERS * load->mean)
            answer_caution(
                answer,
                "%s at %.3g Hz lies where %s: a step of another length moves it, a floor or a store takes it away.",
                watts(load, load->tones[b].watts), load->tones[b].hertz, bands[b].title);
    answer_detail(answer, FOR_VERBOSE);
    double last = TONES / load->gpus->seconds;
    if (last < bands[BANDS - 1].to_hz) answer_caution(answer, "Looked at up to %.3g Hz, %d times a step.", last, TONES);
    answer_detail(answer, FOR_ALL);
}

static void add_chart(Answer *answer, const SiteLoad *load) {
    enum { SHOWN = 512 };
    Arena *arena = load->arena;
    double *x = ARENA_ARRAY(arena, double, SHOWN), *y = ARENA_ARRAY(arena, double, SHOWN), mean = 0;
    for (int p = 0; p < PARTS; p++) mean += load->means[p] / PARTS;
    load_means(load->gpus, 0, SHOWN, y);
    for (int i = 0; i < SHOWN; i++) {
        x[i] = load->gpus->seconds * i / SHOWN;
        y[i] = at_wall(load, y[i], mean) / 1e3;
    }
    RecordCurve *curve = ARENA_NEW(arena, RecordCurve);
    Chart *chart = ARENA_NEW(arena, Chart);
    *curve = (RecordCurve){.name = "", .x = x, .y = y, .count = SHOWN, .style = CURVE_STEPS};
    *chart = (Chart){.kind = CHART_LINES,
                     .lines = {.name = "load",
                               .title = "Load of the site over a step",
                               .x_title = "time in the step (s)",
                               .y_title = "kW",
                               .curves = curve,
                               .curve_count = 1,
                               .y_max = NAN}};
    answer_chart(answer, "load", chart);
}

bool trace_load_answer(Answer *answer, Arena *arena, const TraceRequest *request, const char **why_not,
                       Problems *problems) {
    *why_not = NULL;
    const StudySpec *study = study_unvaried(arena, request->study);
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    if (!cluster) return false;
    SimulatedStep step;
    if (!trace_simulate(arena, cluster, study, (SimulationOptions){.load = true}, &step, why_not, problems))
        return false;
    SiteLoad load = {.arena = arena};
    measure(&load, cluster, &step);
    LoadSwing swing = load_swing(load.gpus, 0, HELD_UP, RAMP_OVER);
    answer_title(answer, study_title(arena, study));
    answer_open(answer, "load", NULL);
    add_lead(answer, &load, &swing);
    add_smoothing(answer, &load);
    add_tones(answer, &load);
    add_chart(answer, &load);
    answer_close(answer);
    answer_say(answer, "Assumed",
               "GPUs draw by what they do (lockstep hw show), the rest at its mean; power supplies hold up %s",
               text_time(arena, HELD_UP));
    return true;
}
