// A gnuplot that is not as it should be: it hangs, dies, prints something else, reads nothing.
#include <sys/stat.h>
#include <unistd.h>

#include "results/results.h"
#include "sim/system/process.h"
#include "tests/records.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

// Draws with a gnuplot of our own making; gives the first problem, "" when there is none.
static const char *draw_with(Arena *arena, const char *script) {
    char path[4096];
    const char *before = arena_copy_text(arena, getenv("PATH"));
    Problems *problems = problems_create(arena);
    clear();
    mkdir(in_folder("bin"), 0777);
    put_text("bin/gnuplot", script);
    chmod(in_folder("bin/gnuplot"), 0755);
    snprintf(path, sizeof path, "%s:%s", in_folder("bin"), before);
    setenv("PATH", path, 1);
    bool drawn = plot_to_file(arena, record_of_scaling(arena), "scaling", in_folder("x.png"), problems);
    setenv("PATH", before, 1);
    EXPECT(drawn == (problem_count(problems) == 0));
    EXPECT(drawn == (access(in_folder("x.png"), F_OK) == 0));
    EXPECT_INT(shell("ls {DIR} | grep -c tmp"), 1);
    const Problem *problem = drawn ? NULL : problem_at(problems, 0);
    return problem ? arena_printf(arena, "%s | %s", problem->text, problem->hint ? problem->hint : "") : "";
}

TEST(a_gnuplot_that_hangs_is_ended_with_what_it_started) {
    Arena *arena = arena_open();
    other_program_patience_s = 0.3;
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\nsleep 1234 & echo $! > \"$(dirname $0)/child\"; wait\n"),
                    "gnuplot did nothing for 0.3 s, or worked for 600 s, and was ended | ");
    EXPECT(shell("kill -0 $(cat {DIR}/bin/child) 2> /dev/null && ! grep -q Z /proc/$(cat {DIR}/bin/child)/stat") != 0);
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n'; exec sleep 1234\n"),
                    "did nothing for 0.3 s");
    // One that does something is waited for, beyond what one that does nothing gets.
    other_program_patience_s = 3;
    EXPECT_TEXT(
        draw_with(arena, "#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do printf '\\211PNG\\r\\n\\032\\n'; sleep 0.5; done\n"),
        "");
    other_program_patience_s = 30;
    other_program_most_s = 0.2;
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\nwhile :; do :; done\n"), "or worked for 0.2 s, and was ended");
    other_program_most_s = 600;
    clear();
    arena_close(arena);
}

TEST(a_gnuplot_that_dies_or_draws_nothing_is_a_sentence) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\nkill -SEGV $$\n"),
                    "gnuplot could not draw the plot: it gave no reason");
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\necho 'no terminal called that' >&2; exit 3\n"),
                    "no terminal called that");
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\necho garbage\n"), "gnuplot ended well but drew no image");
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\n"), "gnuplot ended well but drew no image");
    EXPECT_CONTAINS(draw_with(arena, "#!/bin/sh\nexec <&- >&-\n"), "gnuplot ended well but drew no image");
    EXPECT_CONTAINS(draw_with(arena, "\177ELF is no program"), "gnuplot could not be started");
    clear();
    arena_close(arena);
}
