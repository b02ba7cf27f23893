// What a command says without -v fits a small terminal.
#include <string.h>

#include "tests/answer_walk.h"
#include "tests/test.h"

#define MOST_LINES 24
#define MOST_COLUMNS 80

// Of commands whose answer is a tree (sim/data/question.h).
static const char *const commands[] = {"memory", "flops",     "params",   "model", "job",   "constants",
                                       "hw",     "goodput",   "explain",  "cost",  "power", "collective",
                                       "topo",   "plan",      "run",      "queue", "diff",  "packets",
                                       "lesson", "calibrate", "validate", "trace", "step",  "doctor"};
static const char *const lists[] = {
    "model list", "--operators",        "job fields",        "job software", "job strategies",
    "hw list",    "hw fields",          "--offers",          "collective",   "topo",
    "--mixes",    "lesson list",        "lesson sheet",      "lesson words", "--rules",
    "--refit",    "calibrate recovery", "packets/all_to_all"}; // as long as they are
static const char *const asks_more[] = {"--plot", "-v", "--verbose", "$DIR", "--measured"};

static bool has_one(const char *line, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strstr(line, words[i])) return true;
    return false;
}

static bool is_walked(const char *line) {
    if (has_one(line, lists, sizeof lists / sizeof *lists)) return false;
    if (has_one(line, asks_more, sizeof asks_more / sizeof *asks_more)) return false;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t length = strlen(commands[i]);
        if (strncmp(line, commands[i], length) == 0 && strchr(" ", line[length])) return true;
    }
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

TEST(quiet_answers_name_no_next_command) {
    static const char *const asked[] = {"flops --model gpt2-124m",
                                        "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4",
                                        "explain --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4"};
    static char text[20000], quiet[20000];
    char command[200];
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        snprintf(command, sizeof command, "$LOCKSTEP %s", asked[i]);
        EXPECT_INT(test_shell(command, text, sizeof text), 0);
        EXPECT_CONTAINS(text, strncmp(asked[i], "run", 3) == 0 ? "-v" : "\nNext "); // whose next question is of --last
        strcat(command, " -q");
        EXPECT_INT(test_shell(command, quiet, sizeof quiet), 0);
        EXPECT(strlen(quiet) > 200 && strncmp(text, quiet, 200) == 0);
        EXPECT(!strstr(quiet, "\nNext "));
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
