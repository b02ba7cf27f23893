// Any text as a scenario: refused with reasons that name a line of it, or loaded, and the same when loaded again.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_lua.c, then run it on tests/fuzz/corpus_lua
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenarios/lua/scenario.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_RANKS 256

static uint64_t digest_text(uint64_t digest, const char *text) {
    return text ? digest_bytes(digest, text, strlen(text)) : digest;
}

static uint64_t check_problems(const Problems *problems, int line_count) {
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < problem_count(problems); i++) {
        const Problem *problem = problem_at(problems, i);
        CHECK(*problem->text && problem->where.line >= 0 && problem->where.line <= line_count);
        digest =
            digest_u64(digest_text(digest_text(digest, problem->text), problem->hint), (uint64_t)problem->where.line);
    }
    return digest;
}

static void check_program(Arena *arena, const ProgramSpec *program, Problems *problems) {
    if (program->cluster->gpu_count > MOST_RANKS) return;
    const System *system = program_system(arena, program, problems);
    CHECK(!system == (problem_count(problems) > 0));
    CHECK(!system || !system_check(arena, system));
}

// One load; a digest of all that was said about it.
static uint64_t load(const char *path, const Catalogue *catalogue, int line_count) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena), *usage = problems_create(arena);
    ScenarioRequest request = {
        .file = path, .seed = 1, .limits = {.memory_bytes = 32 << 20, .steps = 50000, .cpu_seconds = 8}};
    const Scenario *scenario = scenario_load(arena, catalogue, &request, problems, usage);
    CHECK(!scenario == (problem_count(problems) > 0));
    for (int i = 0; scenario && i < scenario->item_count; i++)
        if (scenario->items[i].program && problem_count(problems) == 0)
            check_program(arena, scenario->items[i].program, problems);
    uint64_t digest = check_problems(problems, line_count);
    arena_close(arena);
    return digest;
}

static bool contains(const uint8_t *data, size_t bytes, const char *word) {
    return bytes && memmem(data, bytes, word, strlen(word)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static Arena *kept;
    static const Catalogue *catalogue;
    static int file;
    static char path[32];
    if (!kept) {
        kept = arena_open();
        catalogue = catalogue_builtin(kept);
        file = memfd_create("scenario.lua", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (contains(data, bytes, "simulate") || contains(data, bytes, "fit")) return 0; // as long as they please
    if (contains(data, bytes, "print")) return 0;                                    // fills the screen
    CHECK(ftruncate(file, 0) == 0 && pwrite(file, data, bytes, 0) == (ssize_t)bytes);
    int line_count = 1;
    for (size_t i = 0; i < bytes; i++) line_count += data[i] == '\n' || data[i] == '\r';
    CHECK(load(path, catalogue, line_count) == load(path, catalogue, line_count));
    return 0;
}
