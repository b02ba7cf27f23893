// The command `lockstep run`.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_RUN_H
#define LOCKSTEP_SCENARIOS_COMMAND_RUN_H

#include "results/results.h"
#include "scenarios/study/study.h"

int command_run(int argc, char **argv);

// For commands that show the same answer in another way, instead of the screen, the file and the plots.
typedef struct RunAnswer {
    Arena *arena;
    const Record *const *records;
    const StudySpec *const *studies; // what each record is of; NULL: of something else
    int record_count;
    const char *output; // where it goes, as -o says; NULL: not said
    const char *date;   // as --date says; NULL: not said
} RunAnswer;

typedef bool RunShow(void *context, const RunAnswer *answer, Problems *problems); // false after a problem
// With `list_price`, machines of which nobody said a price cost what the price book lists (study_with_list_price).
int command_run_shown(int argc, char **argv, bool list_price, RunShow *show, void *context);

#endif
