// Every file of the fuzzers' corpora, through the same code, in every build. The laws are CHECKs in the fuzzers.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "sim/file.h"
#include "tests/test.h"

typedef int Fuzzer(const uint8_t *data, size_t bytes);
// tests/fuzz
Fuzzer fuzz_anchor, fuzz_command, fuzz_diff, fuzz_fabric, fuzz_import, fuzz_json, fuzz_lua, fuzz_matrix, fuzz_nccl,
    fuzz_parts, fuzz_quantity, fuzz_steps, fuzz_store, fuzz_study, fuzz_sweep, fuzz_topo, fuzz_topo_xml, fuzz_trace;

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// What commands say about bad input is no news here.
static int silence(int stream) {
    fflush(NULL);
    int kept = dup(stream), nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, stream);
    close(nothing);
    return kept;
}

static void give_voice(int stream, int kept) {
    fflush(NULL);
    dup2(kept, stream);
    close(kept);
}

// Runs the fuzzer's code on every file of its folder; returns how many there were.
static int replay(const char *name, Fuzzer *run) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    struct dirent **entries = NULL;
    const char *folder = arena_printf(arena, "tests/fuzz/corpus_%s", name);
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        const char *path = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
        const char *data = file_read(arena, path, 1 << 20, &bytes, problems);
        int kept = silence(STDERR_FILENO);
        if (data) run((const uint8_t *)data, bytes);
        give_voice(STDERR_FILENO, kept);
        free(entries[i]);
    }
    free(entries);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
    return count;
}

#define REPLAY(name_)                                                                                                  \
    TEST(the_##name_##_corpus_keeps_its_laws) { EXPECT(replay(#name_, fuzz_##name_) >= 8); }

REPLAY(anchor)
REPLAY(command)
REPLAY(diff)
REPLAY(fabric)
REPLAY(import)
REPLAY(json)
REPLAY(lua)
REPLAY(matrix)
REPLAY(nccl)
REPLAY(parts)
REPLAY(quantity)
REPLAY(steps)
REPLAY(store)
REPLAY(study)
REPLAY(sweep)
REPLAY(topo)
REPLAY(topo_xml)
REPLAY(trace)
