// lockstep queue: jobs on a shared cluster; their waits under each policy, and the number of GPUs needed.
#include "scenarios/queue/command_queue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/answer/record_answer.h"
#include "sim/base/text.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- Options.

bool queue_add_policy(QueueStudy *study, const char *name, Where where, Problems *problems) {
    for (int i = 0; i < queue_policy_count; i++) {
        if (strcmp(name, queue_policy_names[i]) != 0) continue;
        for (int k = 0; k < study->policy_count; k++)
            if (study->policies[k] == &queue_policies[i]) return true;
        study->policies[study->policy_count++] = &queue_policies[i];
        return true;
    }
    problem_add(problems, where, "no policy is called \"%.40s\"", name);
    problem_hint_names(problems, name, queue_policy_names, queue_policy_count);
    return false;
}

bool queue_add_sizes(QueueStudy *study, const int *nodes, int count, Problems *problems) {
    int policies = study->policy_count;
    if (policies * count > QUEUE_MOST_POLICIES) {
        problem_add(problems, study->where, "%d policies at %d sizes are too many at once", policies, count);
        return problem_hint(problems, "at most %d together: name fewer with --policy", QUEUE_MOST_POLICIES);
    }
    for (int s = 0; s < count; s++)
        for (int p = 0; p < policies; p++) {
            study->policies[s * policies + p] = study->policies[p];
            study->nodes[s * policies + p] = nodes[s];
        }
    study->policy_count = policies * count;
    return true;
}

bool queue_policies_from_text(Arena *arena, const char *text, QueueStudy *study, Problems *problems) {
    bool sound = true;
    if (strcmp(text, "all") == 0) {
        for (int i = 0; i < queue_policy_count; i++) study->policies[study->policy_count++] = &queue_policies[i];
        return true;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        sound =
            queue_add_policy(study, arena_printf(arena, "%.*s", (int)length, text), study->where, problems) && sound;
        if (text[length] == '\0') return sound;
        text += length + 1;
    }
}

const LifeSpec *queue_faults(Arena *arena, const FaultsSpec *said, const FaultRates *rates, const NodeType *node) {
    LifeSpec *spec = ARENA_NEW(arena, LifeSpec);
    if (!rates) return NULL;
    *spec = life_spec(arena, rates, node, 1);
    if (said->node_mtbf_s > 0) life_set_node_mtbf(spec, said->node_mtbf_s);
    if (said->repair_s > 0) spec->repair_s = said->repair_s;
    return spec;
}

static int largest(const QueueJobs *jobs, int *row) {
    int most = 0;
    for (int i = 0; i < jobs->count; i++)
        if (jobs->items[i].gpus > most) most = jobs->items[i].gpus, *row = jobs->items[i].row;
    return most;
}

int queue_largest_job(const QueueStudy *study) {
    int most = 0, row;
    const QueueJobs *jobs = study->trace ? study->trace->jobs : study->list;
    if (jobs) return largest(jobs, &row);
    for (int i = 0; i < study->demand.sizes.count; i++)
        if (study->demand.sizes.items[i].gpus > most) most = study->demand.sizes.items[i].gpus;
    return most;
}

static bool set_rate(QueueStudy *study, Problems *problems) {
    QueueDemand *demand = &study->demand;
    if (study->load > 0) {
        if (study->find) {
            problem_add(problems, study->where, "a load is a share of the GPUs there are, and these are asked for");
            return problem_hint(problems, "say how many jobs come: %s",
                                study->where.file ? "per_hour = 20" : "--jobs-per-hour 20");
        }
        demand->per_second = 1;
        demand->per_second = study->load * study->spec.nodes * study->spec.gpus_per_node / demand_gpus(demand);
    }
    double years = demand->per_second > 0 ? demand->jobs / demand->per_second / (365 * 86400.0) : 0;
    if (years > 20) {
        problem_add(problems, study->where, "these jobs would come over %.3g years", years);
        return problem_hint(problems, "fewer jobs, or more of them in an hour");
    }
    if (demand->per_second > 0) return true;
    problem_add(problems, study->where, "how many jobs come?");
    const char *rate = study->where.file ? "per_hour = 20" : "--jobs-per-hour 20";
    if (study->find) return problem_hint(problems, "for example %s", rate);
    return problem_hint(problems, "for example %s or %s", study->where.file ? "load = 0.9" : "--load 0.9", rate);
}

bool queue_study_ready(QueueStudy *study, Problems *problems) {
    bool drawn = !study->trace && !study->list;
    int most = queue_largest_job(study);
    if (study->precision == 0) study->precision = QUEUE_USUAL_PRECISION;
    if (study->most_runs == 0) study->most_runs = QUEUE_USUAL_RUNS;
    if (study->policy_count == 0) queue_add_policy(study, study->find ? "easy" : "fifo", study->where, problems);
    bool resampled = study->find && study->trace && queue_trace_days(study->trace->jobs) >= 2;
    if (!drawn && !study->spec.faults && !resampled) study->seeds = 1; // nothing differs between seeds
    if (study->goal.chance == 0) study->goal.chance = QUEUE_USUAL_CHANCE;
    study->goal.cuts_beginning = drawn && !study->warm_up_said;
    if (!study->find && !queue_job_fits(&study->spec, most)) {
        problem_add(problems, study->where, "a job wants %d GPUs, and the cluster has %d", most,
                    study->spec.nodes * study->spec.gpus_per_node);
        return problem_hint(problems, "give the cluster at least as many, or leave the largest jobs out");
    }
    if (study->find && study->goal.most_nodes * (double)study->spec.gpus_per_node < most) {
        problem_add(problems, study->where, "a job wants %d GPUs, and no more than %.0f may be tried", most,
                    study->goal.most_nodes * (double)study->spec.gpus_per_node);
        return problem_hint(problems, "raise --most-gpus");
    }
    return !drawn || set_rate(study, problems);
}

// ---- Runs.

static void *size_of(const void *context, Arena *arena, int64_t policy) {
    const QueueStudy *study = context;
    const QueueJobs **jobs = ARENA_ARRAY(arena, const QueueJobs *, study->seeds);
    for (int s = 0; s < study->seeds; s++) jobs[s] = queue_study_jobs(arena, study, s);
    QueueSpec spec = queue_study_spec(study, (int)policy, 0);
    spec.keep_history = false;
    QueueSizing *sizing = ARENA_NEW(arena, QueueSizing);
    *sizing = queue_find_size(arena, &spec, jobs, study->seeds, &study->goal);
    return watch_stopped() ? NULL : sizing;
}

// The first seed represents all. For sizing, memory is checked for the largest number of nodes to try, which is
// expected to have few failure events.
static bool is_allowed(const QueueStudy *study, Problems *problems) {
    Arena *arena = arena_open();
    int jobs = queue_study_job_count(study);
    QueueSpec spec = queue_study_spec(study, 0, 0);
    const char *what = arena_printf(arena, "a queue of %s jobs", text_count(arena, jobs, true)),
               *remedy = "fewer jobs, or nodes";
    bool allowed = watch_allows(0, queue_memory(&spec, jobs), what, remedy, study->where, problems);
    if (allowed && !study->find)
        allowed = watch_allows(queue_events(&spec, queue_study_jobs(arena, study, 0)), 0, what,
                               "fewer jobs, or nodes that fail less often", study->where, problems);
    arena_close(arena);
    return allowed;
}

static const Record *sizes_of(Arena *arena, const QueueStudy *study, bool *found) {
    Pieces pieces = {.what = "the policies", .count = study->policy_count, .work = size_of, .context = study};
    void **answers = pieces_do(arena, &pieces);
    QueueSizing *sizes = ARENA_ARRAY(arena, QueueSizing, study->policy_count);
    if (watch_stopped()) return NULL;
    for (int p = 0; p < study->policy_count; p++) {
        sizes[p] = *(const QueueSizing *)answers[p];
        *found = *found && sizes[p].nodes > 0;
    }
    return sizing_record(arena, study, sizes);
}

const Record *queue_study_run(Arena *arena, const QueueStudy *study, const QueueStudy **simulated, bool *found,
                              Problems *problems) {
    *found = true;
    *simulated = study;
    bool allowed = is_allowed(study, problems);
    const Record *record = NULL;
    if (allowed) record = study->find ? sizes_of(arena, study, found) : queue_answers(arena, study, simulated);
    if (!record) watch_tells(study->where, problems);
    return record;
}

// One row for each job under each policy (first seed): arrival, start, end. False: stopped.
static bool queue_write_outcomes(FILE *out, const QueueStudy *study, Problems *problems) {
    csv_titles(out, "policy,row,user,gpus,submit_s,start_s,end_s,wait_s,work_s,stops");
    CsvWriter csv = csv_writer(out);
    for (int p = 0; p < study->policy_count && !watch_is_over(); p++) {
        Arena *arena = arena_open();
        const QueueJobs *jobs = queue_study_jobs(arena, study, 0);
        QueueSpec spec = queue_study_spec(study, p, 0);
        QueueRun run = queue_run(arena, &spec, jobs);
        for (int i = 0; i < jobs->count && !run.stopped; i++) {
            const QueueJob *job = &jobs->items[i];
            const QueueOutcome *outcome = &run.outcomes[i];
            csv_text(&csv, spec.policy->name);
            csv_figures(&csv, "%d,%d,%d,%.9f,%.9f,%.9f,%.9f,%.9f,%d", job->row + 1, job->user, job->gpus,
                        1e-9 * (double)job->arrival, 1e-9 * (double)outcome->start, 1e-9 * (double)outcome->end,
                        1e-9 * (double)(outcome->start - job->arrival), 1e-9 * (double)job->work, outcome->stops);
            csv_end_row(&csv);
        }
        arena_close(arena);
    }
    return !watch_is_over() || !watch_tells(study->where, problems);
}

static const char usage[] =
    "lockstep queue --gpus 512 --load 0.9 [--mix NAME | --trace FILE.csv] [--policy NAME,…] [--model NAME]";
static const char about[] =
    "Runs jobs on a shared cluster under several policies: how long they wait, how well GPUs are used, how fair it "
    "is.\n"
    "  lockstep queue --gpus 512 --mix gavel --load 0.9\n"
    "  lockstep queue --gpus 1024 --trace cluster_log.csv --policy easy,fair-share --node-mtbf 300d\n"
    "  lockstep queue --find-gpus --wait-p95 1h --mix gavel --jobs-per-hour 20\n\n"
    "With --model, a job's speed is the simulated step of that model on the nodes and leaf switches it was given.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 4 bad input or beyond a limit, 130 interrupted.";

static void answer_mixes(Asking *asking) {
    static const AnswerColumn columns[] = {{"name", "mix", AS_TEXT, 0},
                                           {"title", "what it is", AS_TEXT, 0},
                                           {"mean_gpus", "GPUs", AS_NUMBER, 0},
                                           {"mean_s", "in the mean", AS_SECONDS, 0},
                                           {"source", "source", AS_TEXT, BELOW_ROW},
                                           {"assumed", NULL, AS_TEXT, 0},
                                           {NULL, "assumed", AS_TEXT, BELOW_ROW}};
    answer_rename(asking->answer, "queue-mixes");
    answer_table(asking->answer, "mixes", NULL, COLUMNS(columns));
    for (int i = 0; i < queue_mix_count; i++) {
        const QueueMix *mix = &queue_mixes[i];
        Sizes sizes = mix_sizes(mix);
        Durations durations = mix_durations(mix);
        ANSWER_ROW(asking->answer, mix->name, mix->title, sizes_mean(&sizes), durations_mean(&durations), mix->source,
                   mix->assumed, arena_printf(asking->arena, "assumed: %s", mix->assumed));
    }
}

static bool write_outcomes(Arena *arena, const QueueStudy *study, const Options *options, Problems *problems) {
    const char *path = option_text(options, "outcomes", NULL);
    OutputFile file;
    if (!path || watch_is_over()) return true;
    if (!file_create(arena, path, &file, problems)) return false;
    if (!queue_write_outcomes(file.stream, study, problems)) {
        file_abandon(&file);
        return false;
    }
    return file_commit(&file, problems);
}

// Below the answer, or as files.
static bool draw(Asking *asking, const Record *record) {
    bool sound = true, wanted = frame_plots(asking);
    for (int i = 0; i < record->chart_count && wanted; i++) {
        Chart *chart = ARENA_NEW(asking->arena, Chart);
        *chart = (Chart){.kind = CHART_LINES, .lines = record->charts[i]};
        sound = frame_draw(asking, asking->answer, "queue", chart->lines.name, chart) && sound;
    }
    return sound;
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    bool found = true, find = option_flag(options, "find-gpus");
    if (option_flag(options, "mixes")) {
        answer_mixes(asking);
        return EXIT_DONE;
    }
    if (find &&
        (option_given(options, "outcomes") || option_flag(options, "plot") || option_given(options, "plot-dir"))) {
        problem_add(problems, (Where){0}, "--find-gpus tries many sizes, and --outcomes and --plot show one");
        problem_hint(problems, "run again with --gpus and the size that was found");
        return EXIT_USAGE;
    }
    QueueAnswer *answer = ARENA_NEW(asking->arena, QueueAnswer);
    QueueStudy *study = queue_study_from_options(asking->arena, options, problems);
    if (problem_count(problems)) return EXIT_BAD_INPUT;
    *answer = (QueueAnswer){study, NULL};
    answer->record = queue_study_run(asking->arena, study, &answer->study, &found, problems);
    if (!answer->record) return watch_status(EXIT_BAD_INPUT);
    asking->found = answer;
    record_answer(asking->answer, asking->arena, answer->record, (Date){0}, frame_wants_objects(asking));
    if (!write_outcomes(asking->arena, study, options, problems) || !draw(asking, answer->record))
        return watch_is_over() ? watch_status(EXIT_BAD_INPUT) : EXIT_FAILED;
    asking->part = watch_is_over(); // of the policies that were finished
    return found ? watch_status(EXIT_DONE) : EXIT_NO;
}

const Question queue_question = {
    .name = "queue", .usage = usage, .about = about, .rows = queue_option_rows, .processes = "processes", .ask = ask};

const OptionSpec *queue_question_rows(Arena *arena, int *count);
const OptionSpec *queue_question_rows(Arena *arena, int *count) { return frame_rows(arena, &queue_question, count); }

int command_queue(int argc, char **argv) { return frame_run(&queue_question, argc, argv); }
