// Any bytes read as a log of a trainer: none, or a time and sizes that can be worked with.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_trainer.c, then run it on tests/fuzz/corpus_trainer
#include <math.h>
#include <stdint.h>

#include "sim/base/check.h"
#include "sim/data/trainer_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool is_share(double share) { return share >= 0 && share <= 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    const TrainerLog *log = trainer_log_of_text(arena, "fuzz.log", (const char *)data, bytes);
    if (log) {
        double rounding = 1e-12 * log->seconds;
        CHECK(log->fast > 0 && log->fast <= log->seconds + rounding && log->seconds <= log->slow + rounding);
        CHECK(isfinite(log->slow) && isfinite(log->memory_bytes) && isfinite(log->tflops));
        CHECK(log->left_out < log->lines && is_share(log->warm_share) && is_share(log->stall_share));
        CHECK((log->memory_bytes > 0) == (log->memory_is != LOG_MEMORY_NONE));
    }
    arena_close(arena);
    return 0;
}
