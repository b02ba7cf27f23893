// What a store holds, for people and for other programs.
#ifndef LOCKSTEP_RESULTS_STORE_SHOW_H
#define LOCKSTEP_RESULTS_STORE_SHOW_H

#include "results/answer/answer.h"
#include "results/store/store.h"

// The exit code: that of its points (results/store/store.h); 1 and 4 with problems. What is to be known of it goes to
// stderr.
int store_show(Arena *arena, const char *path, AnswerForm form, const Style *style, bool verbose, FILE *out,
               Problems *problems);

#endif
