// What was written, as part of an answer.
#ifndef LOCKSTEP_SCENARIOS_EXPORT_ANSWER_H
#define LOCKSTEP_SCENARIOS_EXPORT_ANSWER_H

#include "scenarios/export/export.h"
#include "sim/data/answer.h"

#define EXPORT_FOLDER "lockstep-export"

// brief: a sentence on the screen, the table for programs.
void export_answer(Arena *arena, Answer *answer, const char *folder, const ExportFiles *files, bool brief);

#endif
