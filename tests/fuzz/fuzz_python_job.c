// Any bytes read as a launch file ending in .py: refused with a sentence, or a job in options; nothing of it is run.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_python_job.c, then run it on
//     tests/fuzz/corpus_python_job
#include <stdint.h>
#include <string.h>

#include "scenarios/import/import.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *text = arena_printf(arena, "%.*s", (int)bytes, (const char *)data);
    const ImportAsked asked = {.node = "dgx-h100", .gpus = "16"};
    const Import *import = import_text(arena, "input.py", text, strlen(text), &asked, problems);
    CHECK((import == NULL) == (problem_count(problems) > 0));
    arena_close(arena);
    return 0;
}
