// The written files, as part of an answer.
#pragma once

#include "scenarios/export/export.h"
#include "sim/data/question.h"

// The kinds of --export into the folder of --into, and the answer says so; `said`: the job's options. brief: a sentence
// on the screen, the table for programs. The exit status, after problems where it is not EXIT_DONE.
int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief);
