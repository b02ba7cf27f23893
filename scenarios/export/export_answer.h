// The written files, as part of an answer.
#pragma once

#include "scenarios/export/export.h"
#include "sim/data/question.h"

// Writes the kinds of --export into the folder of --into, and reports them in the answer; `said`: the job's options.
// brief: a sentence on the screen, the table in JSON. Returns the exit status, after problems if not EXIT_DONE.
int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief);
