// The first line is a launch file's name, the rest are any bytes as that file: refused with a sentence, or a job in
// options; nothing of it is run.
//     make fuzz FUZZERS=fuzz_launch
#include <stdint.h>
#include <string.h>

#include "scenarios/import/import.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char name[64];
    size_t used = first_line(data, bytes, name, sizeof name);
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *text = arena_printf(arena, "%.*s", (int)(bytes - used), (const char *)data + used);
    const ImportAsked asked = {.node = "dgx-h100", .gpus = "16"};
    const Import *import = import_text(arena, name, text, strlen(text), &asked, problems);
    CHECK((import == NULL) == (problem_count(problems) > 0));
    arena_close(arena);
    return 0;
}
