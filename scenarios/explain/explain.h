// Explanation of a step's time: the critical path of its simulation, and the same job simulated again with one thing
// changed, for every resource of the machine and every switch of the job. Likewise of a long job's goodput, of a shared
// cluster's waits and of a collective.
#pragma once

#include "models/workload/step/step_chain.h"
#include "results/answer/frame.h"
#include "results/chart/chart.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/program/program.h"
#include "scenarios/queue/queue_study.h"
#include "scenarios/whatif/whatif_step.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"
#include "sim/data/question.h"

// What an operator of a layer takes, as the step has it, and its distance from the rates: forward, one micro-batch.
typedef struct RooflineRow {
    const char *name, *kind;
    double times;                 // on the GPU that is looked at, per micro-batch
    double flops, bytes;          // of one
    double seconds;               // of all
    double ridge;                 // FLOP/B above which the GPU computes rather than waits for memory
    double of_peak, of_bandwidth; // shares of the GPU's rates that one reaches
} RooflineRow;

typedef struct Explanation {
    const char *title;
    JobNow job; // as it is, and all that was tried of it
    const RooflineRow *roofline;
    int roofline_count;
    const StepOperator *operators; // the critical path within passes, by operator; most first
    int operator_count;
    const char *varied;   // by the study, and left alone: "gpus and fabric"; NULL: nothing
    double goodput, days; // with failures and checkpoints; NAN if the job has none
    WhatIfs life;         // the job's weeks with one thing of them changed, under the same failures
} Explanation;

typedef struct ExplainRequest {
    const StudySpec *study; // its variations are ignored
    bool only_why;          // no changes are tried
    int64_t pairs;          // of changes, simulated together at most
} ExplainRequest;

// NULL after problems. A job that lacks memory is explained as if there were enough (lacks); one that does not run for
// another reason has a chain of NULL, and point.why_not.
const Explanation *explain_study(Arena *arena, const ExplainRequest *request, Problems *problems);

// The study's job on its own machine, nothing varied.
const StudySpec *study_unvaried(Arena *arena, const StudySpec *study);

// ---- Rank programs: of their settings nothing is known, so resources alone are tried.
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

// The best pair compared with the best single change, if it adds something, and its third.
void explain_add_together(Answer *answer, Arena *arena, const JobNow *now);
void explain_add_together_table(Answer *answer, const JobNow *now);

// ---- Of a life, if the cluster has failure rates, or the job checkpoints.
void list_life(Arena *arena, Explanation *explanation);

// ---- The roofline.
void list_roofline(Arena *arena, Explanation *explanation);
// "convolution", "matrix product", …; "other" for time outside a block's operators.
const char *explain_operator_kind(const Explanation *explanation, const char *name);

// ---- explain_charts.c: the same operators under the roofs of their GPU, and how busy each kind of link is on each
// node that was simulated. NULL: there is nothing of the kind.
const Chart *explain_roofline_chart(Arena *arena, const Explanation *explanation);
void explain_roofline_bars(Arena *arena, const Explanation *explanation, Chart *chart); // for a terminal
const Chart *explain_links_chart(Arena *arena, const Explanation *explanation);

// ---- explain_step.c: the answer. In a report another answer has the step time.
typedef enum ExplainDetail { EXPLAIN_IN_REPORT, EXPLAIN_FOR_PEOPLE, EXPLAIN_WITH_CHAIN } ExplainDetail;
void explain_step_answer(Answer *answer, Arena *arena, const Explanation *explanation, ExplainDetail detail);

// ---- The command.

int command_explain(int argc, char **argv);

// Of argv[0] "goodput", "queue", "collective".
extern const Question explain_goodput_question, explain_queue_question, explain_collective_question;

// The answer for one policy of this study, at its one size, for a page that also shows another answer. A watch is
// open. NULL: beyond its limits, or no job waits.
const Answer *explain_queue_study(Arena *arena, const QueueStudy *study, int policy);

// ---- The job of an answer in JSON.

// Replaces the file (argv[1]) by the command line stored in it: of a run its words, of a plan the words of the plan
// it chose; of other commands also their name. Words after the file override those in it. `rows` are the options that
// explain has; other options of the run or plan are dropped, with a message on standard error. False after a problem.
bool explain_words_of_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                             Problems *problems);

// ---- The question about one step, of explain, check and trace: a script's job or rank program, or a job from options.

typedef struct StepQuestion {
    Arena *arena;
    Problems *problems;
    const char *verb; // "explain"
    const OptionSpec *own, *rows;
    int own_count, row_count; // `rows` are the command's own and those of a study
    const Options *options;
    int argc;
    char **argv;
    bool is_script;
} StepQuestion;

// What the frame reads; a script's own options are among the rows.
StepQuestion step_question_of(const Asking *asking, const char *verb);
// "--plot" without a value is read as "--plot=".
char **step_question_words(Arena *arena, int argc, char **argv);
// What is missing, or is for scripts alone.
void step_question_check(const char *command, bool is_script, const Options *options, Problems *usage);
bool step_question_raises_wall(const StepQuestion *question);
// The script's item of the requested number, and its request. NULL after problems of either kind.
const ScenarioItem *step_question_item(const StepQuestion *question, const Catalogue *catalogue,
                                       const ScenarioRequest **request, Problems *usage);
