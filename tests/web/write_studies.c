// Writes drawn studies (tests/draw_study.h) as scenarios into a folder: write_studies FOLDER FROM COUNT.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check.h"
#include "tests/draw_study.h"

int main(int argc, char **argv) {
    CHECK(argc == 4);
    uint64_t from = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = from; seed < from + count; seed++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/drawn-%" PRIu64 ".lua", argv[1], seed);
        FILE *out = fopen(path, "w");
        CHECK(out);
        DrawnStudy study = draw_study(seed);
        drawn_write(&study, out);
        CHECK(fclose(out) == 0);
    }
    return 0;
}
