// What a command says without -v fits a small terminal.
#include <string.h>

#include "tests/answer_walk.h"
#include "tests/test.h"

#define MOST_LINES 24
#define MOST_COLUMNS 80

// Of commands whose answer is a tree (sim/question.h).
static const char *const commands[] = {"memory"};

static bool is_of(const char *line, const char *command) {
    size_t length = strlen(command);
    return strncmp(line, command, length) == 0 && (line[length] == ' ' || line[length] == '\0');
}

static bool is_walked(const char *line) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is_of(line, commands[i]))
            return !strstr(line, "$DIR") && !strstr(line, "--plot") && !strstr(line, " -v") &&
                   !strstr(line, "--verbose");
    return false;
}

static void measure(const char *text, int *lines, int *widest) {
    int width = 0;
    *lines = *widest = 0;
    for (; *text; text++) {
        if (*text == '\n') ++*lines;
        width = *text == '\n' ? 0 : width + ((*text & 0xc0) != 0x80);
        if (width > *widest) *widest = width;
    }
}

TEST(a_first_screen_has_24_lines_of_80_columns) {
    static char text[200000];
    char command[1024];
    for (int i = 0; i < answer_walk_count; i++) {
        const WalkLine *line = &answer_walk[i];
        if ((line->status != 0 && line->status != 3) || !is_walked(line->line)) continue;
        snprintf(command, sizeof command, "LOCKSTEP_LAST=never $LOCKSTEP %s </dev/null", line->line);
        EXPECT_INT(test_shell(command, text, sizeof text), line->status);
        int lines, widest;
        measure(text, &lines, &widest);
        if (lines > MOST_LINES || widest > MOST_COLUMNS) printf("%s: %d lines of %d\n", line->line, lines, widest);
        EXPECT(lines <= MOST_LINES && widest <= MOST_COLUMNS);
    }
}
