// lockstep lesson: the course in a terminal, and its sheets on pages.
#ifndef LOCKSTEP_SCENARIOS_LESSON_H
#define LOCKSTEP_SCENARIOS_LESSON_H

#include "sim/data/question.h"

extern const Question lesson_question;

#endif
