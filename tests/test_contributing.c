// The recipes of CONTRIBUTING.md work, and the workflow of the public forge runs what is there.
#include <limits.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/check.h"
#include "tests/test.h"

#define PAGE "CONTRIBUTING.md"

typedef struct Recipe {
    Arena *arena;
    char folder[64], program[PATH_MAX];
    const char *files; // written there, each with a space behind it
    int blocks, commands;
} Recipe;

static const char *page_text(Arena *arena, const char *path) {
    FILE *file = fopen(path, "r");
    size_t room = 1 << 18;
    char *text = arena_array(arena, room, 1);
    if (!file) test_fail(__FILE__, __LINE__, "%s is not there", path);
    if (file) text[fread(text, 1, room - 1, file)] = '\0';
    if (file) fclose(file);
    return text;
}

static void keep_file(Recipe *recipe, const char *name, const char *text) {
    FILE *file = fopen(arena_printf(recipe->arena, "%s/%s", recipe->folder, name), "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
    recipe->files = arena_printf(recipe->arena, "%s %s", recipe->files, name);
}

static void run_lines(Recipe *recipe, const char *text) {
    static char output[1 << 16];
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, "lockstep ", 9) != 0) continue;
        const char *command = arena_printf(recipe->arena, "cd %s && %s %.*s", recipe->folder, recipe->program,
                                           (int)strcspn(line, "\n") - 9, line + 9);
        int status = test_shell(command, output, sizeof output);
        if (status != 0) test_fail(__FILE__, __LINE__, "%s: exit %d: %.600s", command, status, output);
        recipe->commands++;
    }
}

// ```json profile.json: a file for the commands that follow. ```c FILE: lines of that file. ```: commands.
static void take_block(Recipe *recipe, const char *info, const char *text) {
    const char *name = strchr(info, ' ');
    recipe->blocks++;
    if (!*info)
        run_lines(recipe, text);
    else if (strncmp(info, "c ", 2) == 0)
        EXPECT_CONTAINS(page_text(recipe->arena, name + 1), text);
    else if (name)
        keep_file(recipe, name + 1, text);
    else
        test_fail(__FILE__, __LINE__, "%s: nothing is done with a block of \"%s\"", PAGE, info);
}

static void take_blocks(Recipe *recipe, const char *page) {
    for (const char *at = strstr(page, "```"), *end; at; at = strstr(end + 3, "```")) {
        const char *text = strchr(at, '\n');
        end = text ? strstr(text, "\n```") : NULL;
        CHECK(end);
        take_block(recipe, arena_printf(recipe->arena, "%.*s", (int)(text - at - 3), at + 3),
                   arena_printf(recipe->arena, "%.*s", (int)(end - text), text + 1));
        end++;
    }
}

static void remove_files(const Recipe *recipe) {
    char output[256];
    EXPECT_INT(test_shell(arena_printf(recipe->arena, "cd %s && rm -f%s", recipe->folder, recipe->files), output,
                          sizeof output),
               0);
    EXPECT_INT(rmdir(recipe->folder), 0);
}

TEST(the_recipes_of_the_contributing_page_run) {
    Recipe recipe = {.arena = arena_open(), .folder = "/tmp/lockstep-recipes-XXXXXX", .files = ""};
    CHECK(mkdtemp(recipe.folder) && realpath(getenv("LOCKSTEP"), recipe.program));
    take_blocks(&recipe, page_text(recipe.arena, PAGE));
    EXPECT(recipe.blocks >= 14);
    EXPECT(recipe.commands >= 10);
    remove_files(&recipe);
    arena_close(recipe.arena);
}

// `models/network/collectives/nccl.c`, but no `--algo`, `make lint` or `build/tests/run WORD`.
static bool is_path(const char *word, size_t length) {
    return memchr(word, '/', length) && !memchr(word, ' ', length) && !memchr(word, '*', length) && *word != '-' &&
           strncmp(word, "build/", 6) != 0;
}

// How many a line of the page names, between pairs of `.
static int check_names(Arena *arena, const char *line) {
    int named = 0;
    const char *open = strchr(line, '`'), *close;
    for (; open && (close = strchr(open + 1, '`')); open = strchr(close + 1, '`')) {
        size_t length = (size_t)(close - open - 1);
        if (!is_path(open + 1, length)) continue;
        const char *path = arena_printf(arena, "%.*s", (int)length, open + 1);
        if (access(path, F_OK) != 0) test_fail(__FILE__, __LINE__, "%s names %s, which is not there", PAGE, path);
        named++;
    }
    if (open) test_fail(__FILE__, __LINE__, "%s: code that goes on in the next line: %s", PAGE, line);
    return named;
}

TEST(every_file_that_the_contributing_page_names_is_there) {
    Arena *arena = arena_open();
    const char *at = page_text(arena, PAGE);
    int named = 0;
    for (bool block = false; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *line = arena_printf(arena, "%.*s", (int)strcspn(at, "\n"), at);
        bool fence = strncmp(line, "```", 3) == 0;
        if (!block && !fence) named += check_names(arena, line);
        block ^= fence;
    }
    EXPECT(named >= 30);
    arena_close(arena);
}

// "| what | `file` | `function` |": the table of where to look.
TEST(every_function_that_the_architecture_page_points_at_is_in_its_file) {
    Arena *arena = arena_open();
    int rows = 0;
    for (const char *at = page_text(arena, "ARCHITECTURE.md"); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char file[100], function[100];
        if (sscanf(at, "| %*[^|]| `%99[^`]` | `%99[^`]` |", file, function) != 2) continue;
        rows++;
        const char *defined = arena_printf(arena, " %s(", function), *table = arena_printf(arena, " %s[", function);
        const char *pointer = arena_printf(arena, "*%s(", function), *text = page_text(arena, file);
        if (!strstr(text, defined) && !strstr(text, table) && !strstr(text, pointer))
            test_fail("ARCHITECTURE.md", 0, "%s has no %s", file, function);
    }
    EXPECT(rows >= 20);
    arena_close(arena);
}

// Its steps name commands that are here; that it is YAML, the forge says.
TEST(the_workflow_of_the_forge_runs_what_is_there) {
    Arena *arena = arena_open();
    const char *text = page_text(arena, ".github/workflows/ci.yml");
    EXPECT_CONTAINS(text, "\n      image: debian:12\n");
    EXPECT_CONTAINS(text, "\n        run: .ci/run\n");
    EXPECT_INT(access(".ci/run", X_OK), 0);
    EXPECT(!strchr(text, '\t'));
    EXPECT_CONTAINS(page_text(arena, ".ci/run"), "sh .ci/packages");
    arena_close(arena);
}
