// A type of GPU without what training runs told of it.
#include <math.h>

#include "calibrate/training/training.h"
#include "tests/test.h"

TEST(what_training_runs_told_of_a_gpu_becomes_what_its_neighbours_have) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *b200 = catalogue_gpu(catalogue, "B200"), *b300 = catalogue_gpu(catalogue, "B300");
    EXPECT(b200 && b300);
    const Gpu *both[] = {b200, b300};
    const Catalogue *without = catalogue_untrained(arena, catalogue, both, 2);
    const Gpu *b200_now = catalogue_gpu(without, b200->name);
    EXPECT(b200_now != b200);
    EXPECT_NEAR(b200_now->training_clock, catalogue_gpu(without, b300->name)->training_clock,
                1e-12); // of the same others
    EXPECT(b200_now->training_clock > 0.5 && b200_now->training_clock <= 1);
    EXPECT_NEAR(b200_now->memory_efficiency, b200->memory_efficiency, 0); // measured kernels and datasheets stay
    EXPECT_NEAR(b200_now->peak_flops[BF16], b200->peak_flops[BF16], 0);
    const Gpu *h100 = catalogue_gpu(catalogue, "H100-SXM5-80GB");
    EXPECT_NEAR(catalogue_gpu(without, "H100-SXM5-80GB")->training_clock, h100->training_clock, 0);

    // One of a generation takes the others of it.
    const Gpu *alone[] = {h100};
    const Gpu *h100_now = catalogue_gpu(catalogue_untrained(arena, catalogue, alone, 1), "H100-SXM5-80GB");
    double least = INFINITY, most = 0;
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        if (gpu->generation != h100->generation || gpu == h100) continue;
        least = fmin(least, gpu->training_clock);
        most = fmax(most, gpu->training_clock);
    }
    EXPECT(h100_now->training_clock >= least && h100_now->training_clock <= most);
    arena_close(arena);
}
