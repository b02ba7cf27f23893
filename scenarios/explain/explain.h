// Why a step takes what it takes, and what would help: the critical path of its simulation, and the same job simulated
// again with one thing changed, for every resource of the machine and every switch of the job.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_H

#include "models/hardware/quicker.h"
#include "models/workload/step/simulate.h"
#include "models/workload/step/step_chain.h"
#include "models/workload/step/step_operators.h"
#include "results/chart/chart.h"
#include "scenarios/explain/explain_cells.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/data/answer.h"

typedef enum ChangeKind {
    CHANGE_RESOURCE, // of the machine: "network twice as fast"
    CHANGE_SETTING,  // of the job or the cluster: "tp = 4"
    CHANGE_FAULT,    // something broken is mended: "no straggler"
    CHANGE_KIND_COUNT
} ChangeKind;
extern const char *const change_kind_names[CHANGE_KIND_COUNT];

// One thing changed, all else as it was, and the same global batch.
typedef struct Change {
    ChangeKind kind;
    const char *name;  // "network", "tp", "straggler"
    const char *value; // "x 2", "4", "none"
    const char *title; // "network (NICs and fabric) twice as fast", "tp 4"
    const char *note;  // what else it changes, or NULL: "numbers are rounded otherwise"
    bool ran;
    const char *why_not;            // it did not
    double step_s;                  // for the global batch that the job has now
    double gain_s;                  // so much quicker than now; below 0: slower
    double gain_low_s, gain_high_s; // 90 % range of the gain, by cause
    double step_cost;               // NAN: nobody knows a price
    double memory_bytes;            // peak of the fullest GPU
    double chance_to_run_out;       // of memory
    double spent[CAUSE_COUNT];      // seconds, mean over ranks
    uint64_t digest;
    double tenth_s, limit_s; // RESOURCE: what it gains a tenth quicker, and without any end to its rate; NAN: not asked
    const Resource *resource; // RESOURCE
    const struct Move *move;  // SETTING, FAULT: what is put in its place (explain_moves.h)
} Change;

#define TOGETHER_MOST 3

// Several changes at once, simulated as one.
typedef struct Combination {
    const struct Move *parts[TOGETHER_MOST]; // of a pair that which saves more alone stands first; then the third
    int count;
    double adds_s[TOGETHER_MOST]; // the first alone, then what each adds to those before; NAN: it does not run alone
    Change whole;
} Combination;

typedef struct CombinationList {
    Combination *items;
    int count, room;
} CombinationList;

// What an operator of a layer takes at most and at least, as the kernel models have it: forward, one micro-batch.
typedef struct RooflineRow {
    const char *name, *kind;
    double times;                 // on the GPU that is looked at, per micro-batch
    double flops, bytes;          // of one
    double seconds;               // of all
    double ridge;                 // FLOP/B above which the GPU computes rather than waits for memory
    double of_peak, of_bandwidth; // shares of the GPU's rates that one reaches
} RooflineRow;

// The job's weeks with one thing of its life changed, under the same failures.
typedef struct LifeChange {
    const char *name, *title;
    double goodput, days; // share of the time that is training; of the whole run, NAN without a length
} LifeChange;

typedef struct Explanation {
    const char *title;
    const StudySpec *study;
    const Cluster *cluster;
    RecordPoint point;     // as it is
    SimulatedStep step;    // the same, with its chain
    const Change *changes; // those that ran by gain, quickest first; then those that did not
    int change_count, ran_count;
    const struct Move *moves; // all that could be turned or mended, also what says nothing alone
    int move_count;
    CombinationList together; // by gain, most first: those that fit and whose last part adds something. At most one
                              // of three
    const RooflineRow *roofline;
    int roofline_count;
    const StepOperator *operators; // the critical path within passes, by operator; most first
    int operator_count;
    const Change *fitting;      // what makes it fit in memory, when that is not sure; NULL: it is, or nothing helps
    const Change *first, *next; // settings or faults to change first, and the next best: those that gain, change
                                // nothing else and likely fit; NULL: none does
    double better_chance;       // that their order holds
    bool must_fit;              // it is not sure to fit, and something that was tried is: nothing else is advised
    const char *lacks;      // memory: "needs 177.8 GiB of 79.6 GiB", and all else is as if it were there; NULL: it is
    const char *varied;     // by the study, and left alone: "gpus and fabric"; NULL: nothing
    double goodput, days;   // with failures and checkpoints counted in; NAN where the job says nothing of them
    const LifeChange *life; // what changes the goodput, most first
    int life_count;
} Explanation;

typedef struct ExplainRequest {
    const StudySpec *study; // what it varies is left alone
    bool only_why;          // no changes are tried
    int64_t pairs;          // of changes, simulated together at most
} ExplainRequest;

// NULL after problems. A job that lacks memory is explained as if there were enough (lacks); one that does not run for
// another reason has a chain of NULL, and point.why_not.
const Explanation *explain_study(Arena *arena, const ExplainRequest *request, Problems *problems);

// The study's job on its own machine, nothing varied.
const StudySpec *study_unvaried(Arena *arena, const StudySpec *study);

// ---- Rank programs (explain_program.c): of their settings nothing is known, so resources alone are tried.
typedef struct ProgramSource { // where it can be had again
    const ScenarioRequest *request;
    int64_t number; // as scenario_item has it
} ProgramSource;

const Explanation *explain_program(Arena *arena, const ProgramSpec *program, const ProgramSource *source, bool only_why,
                                   Problems *problems);
// All steps of the program, simulated once. What goes wrong is a problem.
RecordPoint simulate_program_once(Arena *arena, const ProgramSpec *program, const ScenarioRequest *request,
                                  Problems *problems);
// The number-th study or program of a script, from 1; NULL: there are fewer.
const ScenarioItem *scenario_item(const Scenario *scenario, int64_t number);

#define EXPLAIN_MATTERS 0.005 // of the step: what gains less is said not to help

// ---- Changes (explain_changes.c).
typedef struct ChangeList {
    Change *items;
    int count, room;
} ChangeList;

// All that could be changed of a job that ran, tried.
ChangeList try_changes(Arena *arena, const Explanation *now);
// What is said of a resource twice as quick, and nothing of what came of it.
Change change_of_resource(Arena *arena, const Resource *resource);
// As sure to fit as a plan asks for (MEMORY_FITS).
bool explain_fits(double chance_to_run_out);
// The same; of a job that is less sure itself, no less so than that.
bool fits_no_worse(const Explanation *now, const Change *change);
// Those that ran by gain, most first; equal ones stay in the order in which they were tried.
void sort_changes(ChangeList *list);
// One resource so many times quicker: the point that comes of it. For tests too.
RecordPoint simulate_quicker(Arena *arena, const StudySpec *study, const Resource *resource, double factor,
                             Problems *problems);

// ---- explain_together.c: the pairs of moves that promise most by what each does alone, so many at most, and a third
// on top of the best pair, or of a quicker one that lacks the room.
#define EXPLAIN_PAIRS 80
CombinationList try_together_with(Arena *arena, const Explanation *now, int64_t most);
// Changes that make a job fit together, where none alone does or at less cost. NULL: there are none.
const Combination *fitting_together(const Explanation *now);
// explain_together_words.c: the best pair beside the best single change, where it adds something, and its third.
void explain_add_together(Answer *answer, Arena *arena, const Explanation *now);
void explain_add_together_table(Answer *answer, const Explanation *now);

// ---- explain_life.c: where the cluster says how it fails, or the job how it is saved.
void list_life(Arena *arena, Explanation *explanation);

// ---- explain_roofline.c
void list_roofline(Arena *arena, Explanation *explanation);
// "convolution", "matrix product", …; "other" of what is no operator of a block.
const char *explain_operator_kind(const Explanation *explanation, const char *name);

// ---- explain_charts.c: the same operators under the roofs of their GPU, and how busy each kind of link is on each
// node that was simulated. NULL: there is nothing of the kind.
const Chart *explain_roofline_chart(Arena *arena, const Explanation *explanation);
void explain_roofline_bars(Arena *arena, const Explanation *explanation, Chart *chart); // for a terminal
const Chart *explain_links_chart(Arena *arena, const Explanation *explanation);

// ---- explain_lead.c: what to change first, what the step becomes, and why.
typedef struct Lead {
    const char *label, *value, *note; // "Change first", "vpp = 2", "a step takes 54.46 s instead of 55.84 s: …"
} Lead;
bool explain_lead(Arena *arena, const Explanation *explanation, Lead *lead); // false: nothing was tried
const char *explain_first(Arena *arena, const Explanation *explanation);     // the same as sentences; it has a first
// Two changes that give far more together than the best alone, and fit; NULL: there are none.
const Combination *explain_leading_pair(const Explanation *explanation);
const char *explain_first_pair(Arena *arena, const Explanation *explanation, const Combination *pair);
// Another pair that saves nearly as much, and is surer to fit; NULL: there is none. And what saves most alone.
const char *explain_surer_pair(Arena *arena, const Explanation *explanation, const Combination *pair);
const char *explain_best_alone(Arena *arena, const Explanation *explanation);
// " Why: …." of a change that ran, by what it takes away; or "".
const char *explain_reason(Arena *arena, const Explanation *explanation, const Change *change);
// "14.61 s instead of 15.08 s: 3.1 % less (90 % range …), 287,080 tokens/s instead of 278,102, $1.05 less per …"
const char *explain_becomes(Arena *arena, const Explanation *explanation, const Change *change);
// "memory then runs out with a chance of 4.3 % instead of 1.5 %"; "" where it surely fits before and after, and the
// chance does not rise by more than a point.
const char *explain_risk(Arena *arena, const Explanation *explanation, const Change *change);
// ", $1.05 less per thousand steps"; "" without a price.
const char *explain_money(Arena *arena, const Explanation *explanation, const Change *change);

// ---- explain_step.c: what is answered of it. Without `with_step` another answer has said what the step takes.
void explain_step_answer(Answer *answer, Arena *arena, const Explanation *explanation, bool with_step);

#endif
