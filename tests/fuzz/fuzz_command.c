// A command line, its words in the first line of the input; what follows is a file that the word "@" names, also inside
// a word ("eth-10g:@"). "%" is a small scenario. The program runs as a function: an exit code that is documented, and
// no number printed that is none. Commands that measure, fork or write to files the user names are left out, and so is
// what only takes long.
//     make fuzz FUZZERS=fuzz_command
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "tests/fuzz/folder.h"

int lockstep_main(int argc, char **argv);
#define main lockstep_main
#include "main.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_WORDS 48

// ---- Words.

static const char scenario[] =
    "local sim = require \"lockstep\"\n"
    "local cluster = sim.cluster { node = \"r750-a100x2\", gpus = 4, fabric = "
    "sim.fat_tree { link = \"ib-hdr200\" } }\n"
    "local job = sim.training { model = \"gpt2-124m\", seq_len = 128, batch = { micro = 1 }, "
    "parallel = { tp = 1 } }\n"
    "return sim.study { on = cluster, run = job }\n";

// Commands that need more than a moment, other processes, or files of their own.
static bool is_left_out(int count, char **words) {
    static const char *const long_ones[] = {"calibrate", "validate", "merge", "sweep", "plan"};
    static const char *const options[] = {"--out",    "--plot", "--jobs",    "--data-dir",
                                          "--trials", "--emit", "--measure", "--trace"};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
        if (count > 1 && strcmp(words[1], long_ones[i]) == 0 && strcmp(words[count - 1], "--help") != 0) return true;
    for (int w = 1; w < count; w++) {
        if (words[w][0] == '-' && words[w][1] != '-' && strpbrk(words[w], "oj")) return true;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strncmp(words[w], options[i], strlen(options[i])) == 0) return true;
    }
    return false;
}

// A count of thousands is of a run that is right and long. Names of parts have digits too: "mixtral-8x7b".
static bool is_large(const char *word) {
    bool is_number = isdigit((unsigned char)*word) || strchr(word, '=');
    int digits = 0;
    for (; *word; word++) {
        if (isdigit((unsigned char)*word) && ++digits > 3) return true;
        if (isdigit((unsigned char)*word) && is_number && word[1] && strchr("eEkKMGTBPx", word[1])) return true;
        if (!isdigit((unsigned char)*word)) digits = 0;
    }
    return false;
}

static char *word_of(Arena *arena, char *word, const char *file) {
    if (strcmp(word, "%") == 0) return arena_printf(arena, "%s/scenario.lua", fuzz_folder());
    char *at = strchr(word, '@');
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - word), word, file, at + 1) : word;
}

// ---- What it prints.

static void check_printed(int file) {
    off_t length = lseek(file, 0, SEEK_END);
    char *text = malloc((size_t)length + 1);
    CHECK(text && pread(file, text, (size_t)length, 0) == length);
    text[length] = '\0';
    for (const char *at = text; (at = strstr(at, "nan")) != NULL; at++)
        CHECK((at > text && isalnum((unsigned char)at[-1])) || isalnum((unsigned char)at[3]));
    free(text);
}

static int run_quietly(int count, char **words) {
    static int printed = -1;
    if (printed < 0) printed = memfd_create("printed", 0);
    CHECK(printed >= 0 && ftruncate(printed, 0) == 0 && lseek(printed, 0, SEEK_SET) == 0);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    CHECK(kept >= 0 && dup2(printed, STDOUT_FILENO) >= 0);
    int code = run_command(count, words); // without what a process does once: its wall would have no way back
    fflush(stdout);
    CHECK(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    check_printed(printed);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static bool is_ready;
    if (!is_ready) fuzz_file("scenario.lua", scenario, sizeof scenario - 1);
    anchors_reader = anchors_read;
    is_ready = true;
    Arena *arena = arena_open();
    char line[2048], own_name[] = "lockstep", *words[MOST_WORDS + 1] = {own_name}, *rest;
    size_t used = first_line(data, bytes, line, sizeof line);
    const char *file = fuzz_file("file", data + used, bytes - used);
    int count = 1;
    bool large = false;
    for (char *word = strtok_r(line, " ", &rest); word && count < MOST_WORDS; word = strtok_r(NULL, " ", &rest)) {
        large = large || is_large(word);
        words[count++] = word_of(arena, word, file);
    }
    if (!large && !is_left_out(count, words)) {
        int code = run_quietly(count, words);
        CHECK(code >= 0 && code <= 4);
    }
    arena_close(arena);
    return 0;
}
