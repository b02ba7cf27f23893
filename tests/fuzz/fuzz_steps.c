// Any text as the Lua of --steps, an algorithm that somebody wrote: refused with reasons, or steps of 1, 2, 4 and 5
// ranks that fit each other.
//     make fuzz FUZZERS=fuzz_steps
#include <stdint.h>
#include <string.h>

#include "scenarios/lua/scenario.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const int sizes[] = {1, 2, 4, 5};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StepReader *reader = lua_steps_open(arena, fuzz_file("steps.lua", data, bytes), WALL_OFF, problems);
    CHECK(!reader == (problem_count(problems) > 0));
    for (size_t i = 0; reader && i < sizeof sizes / sizeof *sizes; i++) {
        const WrittenSteps *steps = lua_steps_read(reader, arena, sizes[i], 2, 4096);
        CHECK(!steps == (problem_count(problems) > 0));
        if (!steps) break;
        CHECK(!steps_check(arena, steps, sizes[i]));
    }
    if (reader) lua_steps_close(reader);
    arena_close(arena);
    return 0;
}
