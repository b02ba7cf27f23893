// What explain queue tells: which rule to change first and what the mean wait then becomes, how it is now and why, what
// else would help, what would not. In sentences, then in tables.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain_cells.h"
#include "scenarios/explain/explain_queue_internal.h"
#include "sim/text.h"

#define FEW 3
#define LOOSE 0.5 // of the mean wait: half of its 90 % range

static const char *wait_text(Arena *arena, double seconds) { return text_days(arena, seconds / 86400); }

double queue_gain_share(const QueueFound *all, const QueueTrial *trial) {
    return all->now.mean_s > 0 ? trial->gain_s / all->now.mean_s : 0;
}

static bool is_drawn(const QueueStudy *study) { return !study->trace && !study->list; }

// ---- Figures of a change.

// "18.3 h less (90 % range 9.76 h to 26.7 h)".
static const char *less_text(Arena *arena, const QueueTrial *trial) {
    const char *less = arena_printf(arena, "%s less", wait_text(arena, trial->gain_s));
    if (isnan(trial->half_s)) return less;
    return arena_printf(arena, "%s (90 %% range %s to %s)", less, wait_text(arena, trial->gain_s - trial->half_s),
                        wait_text(arena, trial->gain_s + trial->half_s));
}

static const char *with_option(Arena *arena, const QueueTrial *trial) {
    return *trial->option ? arena_printf(arena, "%s (%s)", trial->title, trial->option) : trial->title;
}

static const QueueTrial *first_of(const QueueFound *all, bool is_machine) {
    for (int i = 0; i < all->trials.count; i++)
        if (all->trials.items[i].is_machine == is_machine && all->trials.items[i].verdict == QUEUE_HELPS)
            return &all->trials.items[i];
    return NULL;
}

// Of a Student's t: never quite sure.
static const char *chance_text(Arena *arena, double chance) {
    return chance > 0.999 ? "above 99.9 %" : text_percent(arena, chance);
}

static const QueueTrial *tenth_more(const QueueFound *all) {
    for (int i = 0; i < all->trials.count; i++)
        if (strcmp(all->trials.items[i].name, "gpus") == 0 && all->trials.items[i].verdict == QUEUE_HELPS)
            return &all->trials.items[i];
    return first_of(all, true);
}

// What helps surely where something that is not simulated is given: that jobs can run on fewer GPUs.
static const QueueTrial *helps_where(const QueueFound *all) {
    for (int i = 0; i < all->trials.count; i++)
        if (all->trials.items[i].verdict == QUEUE_IF) return &all->trials.items[i];
    return NULL;
}

static QueueAdvice advice_of(const QueueFound *all) {
    const QueueTrial *first = first_of(all, false), *machine = tenth_more(all);
    QueueAdvice advice = {0};
    if (first) {
        advice.title = first->title;
        advice.option = first->option;
        advice.becomes = wait_text(all->arena, first->waited.mean_s);
        advice.less = less_text(all->arena, first);
        if (!isnan(first->chance)) advice.chance = chance_text(all->arena, first->chance);
    }
    const QueueTrial *where = helps_where(all);
    if (where) {
        advice.where = where->given;
        advice.where_becomes = wait_text(all->arena, where->waited.mean_s);
        advice.where_less = arena_printf(all->arena, "%s, %s", where->option, less_text(all->arena, where));
    }
    if (machine) {
        advice.larger = *machine->option ? machine->option : machine->title;
        advice.larger_becomes = wait_text(all->arena, machine->waited.mean_s);
        advice.larger_less = less_text(all->arena, machine);
    }
    return advice;
}

// ---- In words: what to change.

static const char *makes_it(Arena *arena, const QueueTrial *trial) {
    return arena_printf(arena, "%s makes it %s, %s", trial->title, wait_text(arena, trial->waited.mean_s),
                        less_text(arena, trial));
}

// "If jobs can run on half their GPUs: --elastic 0.5 makes it 2.32 min, 45.4 min less (90 % range 2.03 min to 1.48 h)."
static const char *where_text(const QueueFound *all) {
    const QueueTrial *where = helps_where(all);
    if (!where) return "";
    return arena_printf(all->arena, " If %s, %s makes it %s, %s.", where->given, where->option,
                        wait_text(all->arena, where->waited.mean_s), less_text(all->arena, where));
}

static void say_none(const QueueFound *all, Words *words) {
    const QueueTrial *machine = tenth_more(all);
    const char *more = machine ? arena_printf(all->arena, " %s.", makes_it(all->arena, machine)) : "";
    if (machine) more = arena_printf(all->arena, " With more machines: %s", more + 1);
    say(all->arena, words,
        arena_printf(all->arena,
                     "Change no rule of the scheduler: none that was tried surely shortens the mean wait of %s without "
                     "lengthening that of the last twentieth.%s%s",
                     wait_text(all->arena, all->now.mean_s), where_text(all), more));
}

static void say_first(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const QueueTrial *first = first_of(all, false);
    if (!first) {
        say_none(all, words);
        return;
    }
    const char *chance = isnan(first->chance) ? ""
                                              : arena_printf(arena, ", and less at all with a chance of %s",
                                                             chance_text(arena, first->chance));
    const char *now = wait_text(arena, all->now.p95_s);
    const char *last = first->waited.p95_s > 0
                           ? arena_printf(arena, "One job in twenty then waits longer than %s, now %s.",
                                          wait_text(arena, first->waited.p95_s), now)
                           : arena_printf(arena,
                                          "Fewer than one job in twenty then wait at all, and now one in twenty "
                                          "waits longer than %s.",
                                          now);
    say(arena, words,
        arena_printf(arena, "Change first: %s. The mean wait becomes %s instead of %s: %s%s. %s",
                     with_option(arena, first), wait_text(arena, first->waited.mean_s),
                     wait_text(arena, all->now.mean_s), less_text(arena, first), chance, last));
}

static void say_others(const QueueFound *all, bool machines, const char *how, Words *words) {
    const char *list = "";
    for (int i = 0, told = 0; i < all->trials.count && told < FEW; i++) {
        const QueueTrial *trial = &all->trials.items[i];
        if (trial->is_machine != machines || trial->verdict != QUEUE_HELPS) continue;
        if (!machines && trial == first_of(all, false)) continue;
        list = arena_printf(all->arena, "%s%s%s", list, *list ? "; " : "", makes_it(all->arena, trial));
        told++;
    }
    if (*list) say(all->arena, words, arena_printf(all->arena, "%s: %s.", how, list));
}

// What gains more than what is advised, at the cost of those who wait longest or of what is not simulated.
static void say_more(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const QueueTrial *first = first_of(all, false);
    for (int i = 0; i < all->trials.count && &all->trials.items[i] != first; i++) {
        const QueueTrial *trial = &all->trials.items[i];
        if (trial->verdict != QUEUE_HARMS && trial->verdict != QUEUE_BUT) continue;
        const char *but = trial->but
                              ? trial->but
                              : arena_printf(arena, "one job in twenty would wait longer than %s, now %s",
                                             wait_text(arena, trial->waited.p95_s), wait_text(arena, all->now.p95_s));
        say(arena, words, arena_printf(arena, "Not advised: %s, but %s.", makes_it(arena, trial), but));
    }
}

static void say_perhaps(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const char *list = "";
    for (int i = 0; i < all->trials.count; i++) {
        const QueueTrial *trial = &all->trials.items[i];
        if (trial->verdict != QUEUE_MAYBE) continue;
        list = arena_printf(arena, "%s%s%s makes it %s with a chance of %s that it is less at all", list,
                            *list ? "; " : "", trial->title, wait_text(arena, trial->waited.mean_s),
                            text_percent(arena, trial->chance));
    }
    const char *more = all->study->trace || all->study->list ? "" : " More --seeds or --jobs tell.";
    if (*list) say(arena, words, arena_printf(arena, "Perhaps: %s.%s", list, more));
}

static const struct {
    QueueVerdict verdict;
    const char *says;
} useless[] = {
    {QUEUE_SAME, "No wait differs at all, as nothing of these jobs asks for it"},
    {QUEUE_CHANCE, "No difference beyond chance"},
    {QUEUE_LITTLE, "Less than half a percent of the wait"},
    {QUEUE_WORSE, "A longer wait than now"},
};

// Grouped by reason.
static void say_useless(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const char *text = "";
    for (size_t u = 0; u < sizeof useless / sizeof *useless; u++) {
        const char *list = "";
        for (int i = 0; i < all->trials.count; i++)
            if (all->trials.items[i].verdict == useless[u].verdict)
                list = listed(arena, list, all->trials.items[i].title);
        if (*list) text = arena_printf(arena, "%s %s: %s.", text, useless[u].says, list);
    }
    if (*text) say(arena, words, arena_printf(arena, "What does not help.%s", text));
}

// ---- In words: how it is now.

static void say_wait(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const Waited *now = &all->now;
    const char *range = isnan(all->half_s) ? ""
                                           : arena_printf(arena, " (90 %% range %s to %s)",
                                                          wait_text(arena, fmax(0, now->mean_s - all->half_s)),
                                                          wait_text(arena, now->mean_s + all->half_s));
    say(arena, words,
        arena_printf(arena,
                     "Under %s a job waits %s in the mean%s on %s GPUs; %s of them start at once, and one in twenty "
                     "waits longer than %s.",
                     all->study->policies[0]->name, wait_text(arena, now->mean_s), range,
                     text_count(arena, (double)all->study->spec.nodes * all->study->spec.gpus_per_node, true),
                     text_percent(arena, 1 - now->waited_share), wait_text(arena, now->p95_s)));
    if (is_drawn(all->study) && all->half_s > LOOSE * now->mean_s)
        say(arena, words, "That is too loose to plan on: four times the --seeds or --jobs would halve the range.");
}

static void say_load(const QueueFound *all, Words *words) {
    const Waited *now = &all->now;
    double half = isnan(all->in_use_half) ? 0 : all->in_use_half;
    bool falls_behind = is_drawn(all->study) && now->waited_share > 0.5 && now->in_use + half + 0.01 < now->load;
    const char *grows =
        now->load > 1  ? ": more than it has, so that the queue grows for as long as they come"
        : falls_behind ? arena_printf(all->arena, ", and %s cannot keep up: the wait grows with the length of the run",
                                      all->study->policies[0]->name)
                       : "";
    say(all->arena, words,
        arena_printf(all->arena, "The jobs ask for %s of the GPUs' time%s; GPUs are in use %s of it.",
                     text_percent(all->arena, now->load), grows, text_percent(all->arena, now->in_use)));
}

static int largest_cause(const double *causes, unsigned taken) {
    int largest = -1;
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
        if (!(taken >> c & 1) && causes[c] > 0 && (largest < 0 || causes[c] > causes[largest])) largest = c;
    return largest;
}

static void say_causes(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    const char *list = "";
    unsigned taken = 0;
    for (int cause; (cause = largest_cause(all->now.causes_s, taken)) >= 0; taken |= 1U << cause)
        list = arena_printf(arena, "%s%s (%s of the wait)", *list ? arena_printf(arena, "%s; ", list) : "",
                            queue_wait_cause_titles[cause],
                            text_percent(arena, all->now.causes_s[cause] / all->now.mean_s));
    say(arena, words, arena_printf(arena, "Jobs wait because %s.", list));
}

static double class_wait(const Waited *waited, int class) {
    double sum = 0;
    for (int k = 0; k < QUEUE_WAIT_CAUSE_COUNT; k++) sum += waited->class_s[class][k];
    return waited->class_jobs[class] > 0 ? sum / waited->class_jobs[class] : 0;
}

// "8, a node" is 8 GPUs.
static const char *class_text(Arena *arena, const QueueClass *class) {
    if (class->parts) return "a part of a GPU";
    if (class->most == 1) return "1 GPU";
    return arena_printf(arena, "%.*s GPUs", (int)strcspn(class->name, ","), class->name);
}

static void say_class(const QueueFound *all, Words *words) {
    Arena *arena = all->arena;
    int longest = 0, kinds = 0;
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
        kinds += all->now.class_jobs[c] > 0;
        if (class_wait(&all->now, c) > class_wait(&all->now, longest)) longest = c;
    }
    if (kinds < 2) return;
    const double *causes = all->now.class_s[longest];
    double wait = class_wait(&all->now, longest), jobs = all->now.class_jobs[longest];
    int cause = largest_cause(causes, 0);
    say(arena, words,
        arena_printf(arena, "Jobs on %s wait longest, %s in the mean, %s of it because %s.",
                     class_text(arena, &all->classes[longest]), wait_text(arena, wait),
                     text_percent(arena, causes[cause] / (wait * jobs)), queue_wait_cause_titles[cause]));
}

static Words sentences(const QueueFound *all, int *changes_from) {
    Words words = {0};
    if (all->now.mean_s > 0) say_first(all, &words);
    say_wait(all, &words);
    *changes_from = words.count;
    if (all->now.mean_s == 0) return words;
    say_load(all, &words);
    say_causes(all, &words);
    say_class(all, &words);
    *changes_from = words.count;
    say_others(all, false, "Instead of that, each alone", &words);
    if (first_of(all, false) && helps_where(all)) say(all->arena, &words, where_text(all) + 1);
    say_others(all, true, "Another cluster under the same rules, each alone", &words);
    say_more(all, &words);
    say_perhaps(all, &words);
    say_useless(all, &words);
    return words;
}

// ---- As tables.

static const RecordColumn cause_columns[] = {{"cause", NULL, RECORD_TEXT},
                                             {"title", "jobs wait since", RECORD_TEXT},
                                             {"seconds", "mean job", RECORD_SECONDS},
                                             {"share", "share", RECORD_SHARE}};

static RecordTable causes_table(const QueueFound *all) {
    Cells cells = {0};
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
        if (all->now.causes_s[c] <= 0) continue;
        text_cell(all->arena, &cells, queue_wait_cause_names[c]);
        text_cell(all->arena, &cells, queue_wait_cause_titles[c]);
        number_cell(all->arena, &cells, all->now.causes_s[c]);
        number_cell(all->arena, &cells, all->now.causes_s[c] / all->now.mean_s);
    }
    return table_of("waits", "Why jobs wait (sums to the mean wait)", COLUMNS(cause_columns), &cells);
}

static const char *const cause_heads[QUEUE_WAIT_CAUSE_COUNT] = {"quota",     "first in line", "reserved", "scattered",
                                                                "in repair", "too few free",  "saving"};

// A column for each cause that there is.
static RecordTable classes_table(const QueueFound *all) {
    Arena *arena = all->arena;
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, 3 + QUEUE_WAIT_CAUSE_COUNT);
    int causes[QUEUE_WAIT_CAUSE_COUNT], count = 0;
    Cells cells = {0};
    columns[0] = (RecordColumn){"gpus", "GPUs", RECORD_TEXT};
    columns[1] = (RecordColumn){"jobs", "jobs", RECORD_COUNT};
    columns[2] = (RecordColumn){"wait_mean_s", "mean wait", RECORD_SECONDS};
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
        const char *name = arena_printf(arena, "%s_share", queue_wait_cause_names[c]);
        const char *head = all->now.causes_s[c] > 0 ? cause_heads[c] : NULL;
        columns[3 + count] = (RecordColumn){name, head, RECORD_SHARE};
        causes[count++] = c;
    }
    for (int class = 0; class < QUEUE_CLASS_COUNT; class ++) {
        double jobs = all->now.class_jobs[class], wait = class_wait(&all->now, class);
        if (jobs == 0) continue;
        text_cell(arena, &cells, all->classes[class].name);
        number_cell(arena, &cells, jobs / all->study->seeds);
        number_cell(arena, &cells, wait);
        for (int i = 0; i < count; i++)
            number_cell(arena, &cells, wait > 0 ? all->now.class_s[class][causes[i]] / (wait * jobs) : 0);
    }
    return table_of("waits_by_size", "By GPUs of the job, share of their wait by cause", columns, 3 + count, &cells);
}

static const char *const verdict_names[QUEUE_VERDICT_COUNT] = {
    [QUEUE_HELPS] = "helps",       [QUEUE_IF] = "helps, if",  [QUEUE_BUT] = "not advised",
    [QUEUE_HARMS] = "not advised", [QUEUE_MAYBE] = "perhaps", [QUEUE_CHANCE] = "by chance",
    [QUEUE_LITTLE] = "too little", [QUEUE_SAME] = "the same", [QUEUE_WORSE] = "worse"};

static const RecordColumn trial_columns[] = {
    {"name", NULL, RECORD_TEXT},           {"title", NULL, RECORD_TEXT},
    {"option", NULL, RECORD_TEXT},         {"change", "change", RECORD_TEXT},
    {"verdict", "verdict", RECORD_TEXT},   {"wait_mean_s", "mean wait", RECORD_SECONDS},
    {"gain_s", "less by", RECORD_SECONDS}, {"half_s", "± 90 %", RECORD_SECONDS},
    {"gain_share", NULL, RECORD_SHARE},    {"chance", "chance", RECORD_SHARE},
    {"wait_p95_s", "p95", RECORD_SECONDS}, {"wait_max_s", NULL, RECORD_SECONDS},
    {"in_use", "in use", RECORD_SHARE},    {"goodput", NULL, RECORD_SHARE}};

static void trial_cells(const QueueFound *all, Cells *cells, const QueueTrial *trial) {
    const char *texts[] = {trial->name, trial->title, trial->option, *trial->option ? trial->option : trial->title,
                           verdict_names[trial->verdict]};
    const double numbers[] = {trial->waited.mean_s,         trial->gain_s,        trial->half_s,
                              queue_gain_share(all, trial), trial->chance,        trial->waited.p95_s,
                              trial->waited.max_s,          trial->waited.in_use, trial->waited.goodput};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) text_cell(all->arena, cells, texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) number_cell(all->arena, cells, numbers[i]);
}

static RecordTable trials_table(const QueueFound *all, bool machines, const char *name, const char *title) {
    Cells cells = {0};
    for (int i = 0; i < all->trials.count; i++)
        if (all->trials.items[i].is_machine == machines) trial_cells(all, &cells, &all->trials.items[i]);
    return table_of(name, title, COLUMNS(trial_columns), &cells);
}

enum { TABLES = 4 };

static const Record *record_of(const QueueFound *all, int *changes_from) {
    const QueueStudy *study = all->study;
    Arena *arena = all->arena;
    Words words = sentences(all, changes_from);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, TABLES);
    tables[0] = causes_table(all);
    tables[1] = classes_table(all);
    tables[2] = trials_table(
        all, false, "settings",
        "Other rules, each alone, same jobs: mean wait, chance that it is less; one in twenty waits beyond p95");
    tables[3] = trials_table(
        all, true, "machines",
        "Other clusters, each alone, same jobs: mean wait, chance that it is less; one in twenty waits beyond p95");
    const char *jobs = text_count(arena, queue_study_job_count(study), true);
    const char *of = study->trace        ? " of a trace"
                     : study->seeds == 1 ? " drawn once"
                                         : arena_printf(arena, " drawn %d times", study->seeds);
    Record *record = ARENA_NEW(arena, Record);
    *record = (Record){
        .title = arena_printf(arena, "%s jobs%s on %d nodes of %s", jobs, of, study->spec.nodes, study->node_name),
        .scenario = "lockstep explain queue",
        .notes = words.items,
        .note_count = words.count,
        .tables = tables,
        .table_count = TABLES};
    return record;
}

QueueExplained queue_told(const QueueFound *all) {
    QueueExplained told = {.policy = all->study->policies[0]->name, .wait = wait_text(all->arena, all->now.mean_s)};
    told.record = record_of(all, &told.changes_from);
    told.advice = advice_of(all);
    return told;
}
