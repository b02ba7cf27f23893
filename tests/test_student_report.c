// The rows of a university report on four desktop GPUs: how near any step of a fixed part and a part for each image can
// come to them (docs/student-cluster.md). No simulator is asked.
#include <math.h>

#include "tests/test.h"

// Seconds at batches 64, 128 and 256.
static const double one_gpu[] = {274.44, 210.58, 180.45}, two_gpus[] = {236.74, 131.51, 80.25};
static const double four_gpus[] = {1500.00, 1059.38, 547.88};

// Of a / B + b through the outer rows, at the middle one.
static double middle_from_ends(const double *seconds) { return (seconds[0] + 2 * seconds[2]) / 3 / seconds[1] - 1; }

// Small-exhaustive: a and b by the values at the outer batches.
static double least_worst_error(const double *seconds) {
    double least = INFINITY;
    for (int i = -300; i <= 300; i++) {
        for (int k = -300; k <= 300; k++) {
            double first = 1 + 1e-3 * i, last = 1 + 1e-3 * k;
            double middle = (first * seconds[0] + 2 * last * seconds[2]) / 3 / seconds[1];
            least = fmin(least, fmax(fabs(middle - 1), fmax(fabs(first - 1), fabs(last - 1))));
        }
    }
    return least;
}

TEST(inside_one_pc_a_step_is_a_fixed_part_and_a_part_for_each_image) {
    EXPECT(fabs(middle_from_ends(one_gpu)) < 0.007);
    EXPECT(fabs(middle_from_ends(two_gpus)) < 0.007);
    EXPECT(least_worst_error(one_gpu) < 0.005 && least_worst_error(two_gpus) < 0.005);
}

TEST(over_the_lan_no_such_step_comes_within_10_percent_of_all_three_rows) {
    EXPECT_NEAR(middle_from_ends(four_gpus), -0.183, 0.01);
    EXPECT(least_worst_error(four_gpus) > 0.10);
}
