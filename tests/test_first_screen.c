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
        if (i == 0) EXPECT_CONTAINS(text, "\nNext ");
        strcat(command, " -q");
        EXPECT_INT(test_shell(command, quiet, sizeof quiet), 0);
        EXPECT(strlen(quiet) > 50 && strncmp(text, quiet, 50) == 0);
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

// Notes on standard error stand on the same screen; a terminal folds them.
static int lines_on_a_screen(const char *text) {
    int lines = 0;
    for (const char *line = text; *line;) {
        int width = 0;
        for (; *line && *line != '\n'; line++) width += (*line & 0xc0) != 0x80;
        lines += width > MOST_COLUMNS ? (width + MOST_COLUMNS - 1) / MOST_COLUMNS : 1;
        line += *line == '\n';
    }
    return lines;
}

TEST(what_is_spare_makes_room_on_a_first_screen) {
    static const char *const asked[] = {
        "explain --model stable-diffusion-1.5 --node dgx-b200 --gpus 8 --micro-batch 8",
        "explain --model llama-3-70b --node dgx-h100 --gpus 64 --tp 8 --pp 4 --global-batch 64 --micro-batch 1",
        "explain --model mixtral-8x7b --node dgx-h100 --gpus 64 --tp 4 --ep 8 --global-batch 256 --micro-batch 1",
        "explain scenarios/examples/launch/megatron.sbatch",
        "explain --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4 --fp16 --measured 8=70ms",
        "goodput --gpus 512 --work 20 --by 22d --model llama-2-7b --best"};
    static char text[40000], all[40000];
    char command[400];
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        snprintf(command, sizeof command, "LOCKSTEP_LAST=never $LOCKSTEP %s 2>&1 </dev/null", asked[i]);
        test_shell(command, text, sizeof text);
        int lines = lines_on_a_screen(text);
        if (lines > MOST_LINES) printf("%s: %d lines\n", asked[i], lines);
        EXPECT(lines > 5 && lines <= MOST_LINES);
        EXPECT_CONTAINS(text, "-v shows all");
    }
    snprintf(command, sizeof command, "LOCKSTEP_LAST=never $LOCKSTEP %s -v 2>&1 </dev/null", asked[2]);
    test_shell(command, all, sizeof all);
    EXPECT_CONTAINS(all, "\nMoney ");
}

TEST(scaling_with_one_batch_in_all_says_what_its_column_is_against) {
    static char said[16384];
    const char *job = "$LOCKSTEP run --model gpt2-1.5b --node dgx-h100 --vary gpus=1,8 --zero 1 --micro-batch 4 ";
    char command[256];
    snprintf(command, sizeof command, "%s --global-batch 512 | tr -s '\\n ' ' '", job);
    EXPECT_INT(test_shell(command, said, sizeof said), 0);
    EXPECT_CONTAINS(said,
                    "of linear for one batch in all; \"vs 1 GPU\" is against one GPU with that row's batch per GPU");
    snprintf(command, sizeof command, "%s | tr -s '\\n ' ' '", job);
    EXPECT_INT(test_shell(command, said, sizeof said), 0);
    EXPECT(strstr(said, "of linear") && !strstr(said, "one batch in all"));
}
