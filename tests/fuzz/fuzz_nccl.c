// Any bytes read as a log of nccl-tests: refused with a problem that names the file, or rows with sizes and times.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_nccl.c, then run it on tests/fuzz/corpus_nccl
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = arena_alloc(arena, bytes + 1);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    const NcclLog *log = nccl_log_read_text(arena, "fuzz.txt", text, bytes, problems);
    CHECK((log != NULL) == (problem_count(problems) == 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(problem_at(problems, i)->where.file);
    for (int i = 0; log && i < log->row_count; i++) {
        CHECK(log->rows[i].bytes > 0 && isfinite(log->rows[i].bytes));
        CHECK(log->rows[i].seconds > 0 && isfinite(log->rows[i].seconds));
    }
    arena_close(arena);
    return 0;
}
