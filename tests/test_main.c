// The table of commands: what stands before any of them.
#include "tests/test.h"

static char said[1 << 14];

static int lockstep(const char *arguments) {
    char line[256];
    snprintf(line, sizeof line, "$LOCKSTEP %s", arguments);
    return test_shell(line, said, sizeof said);
}

TEST(a_misspelt_command_is_refused_with_the_nearest) {
    EXPECT_INT(lockstep("rnu x.lua"), 2);
    EXPECT_CONTAINS(said, "did you mean \"run\"?");
    EXPECT_INT(lockstep("zzzzzzzz"), 2);
    EXPECT_CONTAINS(said, "lockstep --help lists them");
}

TEST(help_lists_every_command) {
    static const char *const words[] = {"--help", "-h", "help"};
    for (int i = 0; i < 3; i++) {
        EXPECT_INT(lockstep(words[i]), 0);
        EXPECT_CONTAINS(said, "validate");
        EXPECT_CONTAINS(said, "Exit codes");
    }
    EXPECT_INT(lockstep(""), 2); // a question without words
    EXPECT_CONTAINS(said, "Commands:");
}

TEST(the_version_is_one_line) {
    EXPECT_INT(lockstep("--version"), 0);
    EXPECT(strncmp(said, "lockstep ", 9) == 0 && strchr(said, '\n') == strrchr(said, '\n'));
}
