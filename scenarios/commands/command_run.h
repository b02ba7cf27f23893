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
int command_run_shown(int argc, char **argv, RunShow *show, void *context);

#endif
