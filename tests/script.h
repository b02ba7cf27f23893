// For tests of scenarios: load a script from a text, or run lockstep on it.
#pragma once

#include "scenarios/lua/scenario.h"

typedef struct Loaded {
    Arena *arena;
    Problems *problems, *usage;
    const Scenario *scenario; // NULL after problems
} Loaded;

// The script stands in a file of its own while it is loaded. `request` gives what differs from the defaults, or NULL.
Loaded load_script(const char *text, const ScenarioRequest *request);
// The same for a text that makes one study or program: "return" and what stands before it are added.
Loaded load_returning(const char *expression, const ScenarioRequest *request);
void unload(Loaded *loaded);

// The first problem (of the script, else of the command line) as "LINE: TEXT | HINT"; "" when there is none.
const char *first_problem(const Loaded *loaded);
bool any_problem_contains(const Loaded *loaded, const char *part);

// lockstep run SCRIPT ARGUMENTS, in a folder of its own; "{DIR}" in the arguments stands for that folder. Gives the
// exit status; whether the folder holds anything else but the script afterwards lands in *wrote.
int run_script_text(const char *text, const char *arguments, char *output, size_t output_bytes, bool *wrote);

const Catalogue *test_catalogue(void);
