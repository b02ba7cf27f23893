// Bytes as the draws of a study: loaded, simulated, printed in every form and held to laws (tests/drawn_run.h).
//     make fuzz FUZZERS=fuzz_study
#include <stdint.h>

#include "tests/drawn_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    DrawnStudy study = draw_study_from(data, bytes);
    drawn_run(&study);
    return 0;
}
