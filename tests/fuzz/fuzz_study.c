// Bytes as the draws of a study: loaded, simulated, printed in every form and held to laws (tests/drawn_run.h).
//     make fuzz FUZZERS=fuzz_study
#include <stdint.h>
#include <string.h>

#include "tests/drawn_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

// A fuzzer looks for what reaches most, and large jobs do; a tenth of a second shows as much of them.
#define MOST_EVENTS 5e4

// Weeks of failures and saves take most of the time, and a fuzzer would go after them.
static void drop_long_lives(DrawnStudy *study) {
    for (int i = study->count; i-- > 0;) {
        const char *path = study->settings[i].path;
        if (strstr(path, ".faults.") || strstr(path, ".checkpoint.")) drawn_set(study, path, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    DrawnStudy study = draw_study_from(data, bytes);
    if (bytes % 32 != 0) drop_long_lives(&study);
    drawn_run(&study, bytes % 4 == 0, MOST_EVENTS);
    return 0;
}
