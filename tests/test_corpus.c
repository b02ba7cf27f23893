// Every file of the fuzzers' corpora, through the same code, in every build. The laws are CHECKs in the fuzzers.
#include <dirent.h>

#include "sim/file.h"
#include "tests/test.h"

#define LLVMFuzzerTestOneInput fuzz_import
#include "tests/fuzz/fuzz_import.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_json
#include "tests/fuzz/fuzz_json.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_lua
#include "tests/fuzz/fuzz_lua.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_nccl
#include "tests/fuzz/fuzz_nccl.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_quantity
#include "tests/fuzz/fuzz_quantity.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_topo
#include "tests/fuzz/fuzz_topo.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_topo_xml
#include "tests/fuzz/fuzz_topo_xml.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_trace
#include "tests/fuzz/fuzz_trace.c"
#undef LLVMFuzzerTestOneInput

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// Runs the fuzzer's code on every file of a folder; returns how many there were.
static int replay(const char *folder, int (*run)(const uint8_t *, size_t)) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        const char *path = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
        const char *data = file_read(arena, path, 1 << 20, &bytes, problems);
        if (data) run((const uint8_t *)data, bytes);
        free(entries[i]);
    }
    free(entries);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
    return count;
}

TEST(the_import_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_import", fuzz_import) >= 8); }
TEST(the_json_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_json", fuzz_json) >= 8); }
TEST(the_lua_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_lua", fuzz_lua) >= 8); }
TEST(the_quantity_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_quantity", fuzz_quantity) >= 8); }
TEST(the_topo_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_topo", fuzz_topo) >= 8); }
TEST(the_topo_xml_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_topo_xml", fuzz_topo_xml) >= 8); }
TEST(the_nccl_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_nccl", fuzz_nccl) >= 8); }
TEST(the_trace_corpus_keeps_its_laws) { EXPECT(replay("tests/fuzz/corpus_trace", fuzz_trace) >= 8); }
