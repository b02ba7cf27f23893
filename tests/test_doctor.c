// What doctor says is here is what is here.
#include <string.h>

#include "tests/test.h"

static char said[1 << 14];

TEST(doctor_finds_what_is_there_and_says_how_to_get_the_rest) {
    static const char made[] =
        "dir=$(mktemp -d) && mkdir $dir/bin $dir/bin/cuda $dir/path && cp $LOCKSTEP $dir/bin/lockstep && touch "
        "$dir/path/gnuplot $dir/bin/cuda/lockstep-bench && chmod +x $dir/path/gnuplot $dir/bin/cuda/lockstep-bench && "
        "cd $dir && HOME=$dir PATH=$dir/path $dir/bin/lockstep doctor --csv; PATH=/usr/bin:/bin; rm -r $dir";
    EXPECT_INT(test_shell(made, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "\ngnuplot,yes,");
    EXPECT_CONTAINS(said, "\nlockstep-bench,yes,"); // as make cuda leaves it
    EXPECT_CONTAINS(said, "\nlockstep-mpi,no,");
    EXPECT_CONTAINS(said, "\nmeasurements,no,");
    EXPECT_CONTAINS(said, "make mpi");
    EXPECT_INT(test_shell("HOME= XDG_STATE_HOME= PATH=/nowhere $LOCKSTEP doctor --csv", said, sizeof said), 0);
    EXPECT_CONTAINS(said, "\ngnuplot,no,");
    EXPECT_CONTAINS(said, "\nstate,no,");
}
