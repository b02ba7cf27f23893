// What a store holds, for people and for other programs.
#ifndef LOCKSTEP_RESULTS_STORE_SHOW_H
#define LOCKSTEP_RESULTS_STORE_SHOW_H

#include "results/results.h"
#include "results/store.h"

typedef enum StoreForm { STORE_SCREEN, STORE_CSV, STORE_JSON } StoreForm;

// The exit code: that of its points (results/store.h); 1 and 4 with problems. What is to be known of it goes to stderr.
int store_show(Arena *arena, const char *path, StoreForm form, const Style *style, bool verbose, FILE *out,
               Problems *problems);

#endif
