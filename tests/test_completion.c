// What a shell offers at TAB is what the commands take.
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static char said[1 << 16];

static int offered(const char *words) {
    char line[1 << 17];
    snprintf(line, sizeof line, "$LOCKSTEP completion words %s", words);
    return test_shell(line, said, sizeof said);
}

static int line_count(void) {
    int lines = 0;
    for (const char *at = said; *at; at++) lines += *at == '\n';
    return lines;
}

TEST(every_command_is_offered_with_every_option_of_its_help) {
    static char commands[1 << 16];
    EXPECT_INT(offered("''"), 0);
    snprintf(commands, sizeof commands, "%s", said);
    int seen = 0;
    for (char *name = strtok(commands, "\n"); name; name = strtok(NULL, "\n"), seen++) {
        char line[1 << 17];
        snprintf(line, sizeof line,
                 "$LOCKSTEP %s --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | sed 's/.*--//' | sort -u | wc -l", name);
        EXPECT_INT(test_shell(line, said, sizeof said), 0);
        int rows = atoi(said) - (strstr("validate calibrate completion", name) ? 0 : 1); // --help itself
        snprintf(line, sizeof line, "%s --", name);
        EXPECT_INT(offered(line), 0);
        if (line_count() != rows)
            test_fail(__FILE__, __LINE__, "%s: %d options offered, %d in its help", name, line_count(), rows);
    }
    EXPECT(seen > 15);
}

TEST(values_and_names_are_offered_where_they_belong) {
    EXPECT_INT(offered("run --zero-sh"), 0);
    EXPECT(strcmp(said, "--zero-shard\n") == 0);
    EXPECT_INT(offered("plan --schedule 1"), 0);
    EXPECT(strcmp(said, "1f1b\n") == 0);
    EXPECT_INT(offered("memory --model llama-2-7"), 0);
    EXPECT(strcmp(said, "llama-2-7b\nllama-2-70b\n") == 0 || strcmp(said, "llama-2-70b\nllama-2-7b\n") == 0);
    EXPECT_INT(offered("plan --node dgx-h1"), 0);
    EXPECT_CONTAINS(said, "dgx-h100\n");
    EXPECT_INT(offered("hw sh"), 0);
    EXPECT(strcmp(said, "show\n") == 0);
    EXPECT_INT(offered("hw show H10"), 0);
    EXPECT_CONTAINS(said, "H100");
    EXPECT_INT(offered("validate training --f"), 0);
    EXPECT_CONTAINS(said, "--family\n");
    EXPECT_INT(offered("nothing-like-it --"), 0);
    EXPECT(said[0] == '\0');
}

// Each of a command's actions is one that it knows.
TEST(every_action_that_is_offered_is_taken) {
    static const char *const commands[] = {"hw", "model", "job", "validate", "calibrate", "completion", "lesson"};
    static char actions[1 << 16];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[1 << 17];
        snprintf(line, sizeof line, "%s ''", commands[i]);
        EXPECT_INT(offered(line), 0);
        EXPECT(line_count() > 1);
        snprintf(actions, sizeof actions, "%s", said);
        for (char *at = strtok(actions, "\n"); at; at = strtok(NULL, "\n")) {
            snprintf(line, sizeof line, "$LOCKSTEP %s %s%s 2>&1", commands[i], at,
                     strcmp(commands[i], "completion") == 0 ? "" : " --help");
            EXPECT_INT(test_shell(line, said, sizeof said), 0);
        }
    }
}

TEST(bash_completes_a_line_by_the_script) {
    EXPECT_INT(test_shell("bash -c 'lockstep() { $LOCKSTEP \"$@\"; }; eval \"$($LOCKSTEP completion bash)\"; "
                          "COMP_WORDS=(lockstep pl); COMP_CWORD=1; _lockstep; echo \"${COMPREPLY[@]}\"'",
                          said, sizeof said),
               0);
    EXPECT(strcmp(said, "plan\n") == 0);
    EXPECT_INT(test_shell("$LOCKSTEP completion tcsh", said, sizeof said), 2);
    EXPECT_CONTAINS(said, "bash|zsh|fish");
}
