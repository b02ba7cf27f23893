// A scenario: a Lua script that defines simulations. Loading it runs the script and returns checked studies and
// programs, which no longer depend on Lua.
#pragma once

#include "scenarios/lua/lua_host.h"
#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/base/options.h"

typedef struct ScenarioRequest {
    const char *file;
    const char *const *sets; // "path=value", from --set
    int set_count;
    int argc; // the whole command line, for options declared by sim.options
    char **argv;
    const OptionSpec *own; // options that are the command's, not the script's
    int own_count;
    LuaLimits limits;
    const char *const *allowed; // folders besides its own in which it may name files: --allow-read
    int allowed_count;
    uint64_t seed;
    bool unfolded, want_timeline;
    bool help_only; // only to learn the script's options: programs are not recorded
} ScenarioRequest;

typedef struct ScenarioItem { // one of the five is set
    const StudySpec *study;
    const struct QueueStudy *queue;
    const struct PacketsStudy *packets;
    const ProgramSpec *program;
    const Record *report;
} ScenarioItem;

typedef struct Scenario {
    const ScenarioItem *items;
    int item_count;
    const OptionSpec *options; // what the script declared
    int option_count;
    uint64_t digest; // of the script and all files it read
    bool used_seed;  // another seed may give other items
} Scenario;

// Mistakes in the script and in --set go to `problems`, mistakes with the script's own options to `usage`. NULL when
// there were any; with help_only never NULL, and problems may be left unread.
const Scenario *scenario_load(Arena *arena, const Catalogue *catalogue, const ScenarioRequest *request,
                              Problems *problems, Problems *usage);
