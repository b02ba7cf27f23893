// Launch scripts as they lie on disks (tests/data/scripts), each with the job that it means: every key of that job,
// every option in the list where it belongs, every contradiction refused, and nothing of a hostile one run.
#include <dirent.h>
#include <regex.h>
#include <string.h>

#include "scenarios/import/said.h"
#include "sim/base/text.h"
#include "sim/data/json.h"
#include "tests/test.h"

#define CASES "tests/data/scripts"

typedef struct Case {
    Arena *arena;
    const char *name, *output;
    const Json *answer; // NULL: it is no JSON
    int status;
} Case;

static void point(const Case *c, bool met, const char *kind, const char *what, const char *got) {
    if (!met) test_fail(c->name, 0, "%s: %s; got %s (exit %d)", kind, what, got, c->status);
}

// ---- The job.

static bool same_letters_and_digits(const char *part, const char *whole) {
    const char *plain[] = {part, whole};
    char letters[2][200];
    for (int i = 0; i < 2; i++) {
        size_t length = 0;
        for (const char *at = plain[i]; *at && length < 199; at++)
            if (strchr("-_. /", *at) == NULL) letters[i][length++] = *at;
        letters[i][length] = '\0';
    }
    return strcasestr(letters[1], letters[0]) != NULL;
}

static bool is_value(Arena *arena, const char *key, const Json *got, const Json *want) {
    bool any = false;
    for (int i = 0; want->kind == JSON_LIST && i < want->count; i++)
        any = any || is_value(arena, key, got, &want->items[i]);
    if (want->kind == JSON_LIST || !got) return any;
    const char *have = tree_text(arena, got), *text = tree_text(arena, want);
    bool named = strcmp(key, "gpu") == 0 || strcmp(key, "model") == 0;
    return have && text && (named ? same_letters_and_digits(text, have) : strcasecmp(have, text) == 0);
}

// In `job`, then in `layout`, then least deep in the rest but the import.
static const Json *find_key(const Json *tree, const char *key, int depth) {
    const Json *found = depth == 0 ? tree_get(tree, key) : NULL;
    for (int i = 0; !found && depth > 0 && i < tree->count; i++)
        if (!tree->items[i].key || strcmp(tree->items[i].key, "import") != 0)
            found = find_key(&tree->items[i], key, depth - 1);
    return found;
}

static const Json *find_value(const Json *answer, const char *key) {
    const Json *found = tree_get(tree_get(answer, "job"), key);
    if (!found) found = tree_get(tree_get(answer, "layout"), key);
    for (int depth = 0; answer && !found && depth < 8; depth++) found = find_key(answer, key, depth);
    return found;
}

// ---- The lists.

// The option is the row's name, a component or several of it, or a word of its value.
static bool is_row(const char *option, const Json *row) {
    const char *name = tree_text(NULL, tree_get(row, "name")), *value = tree_text(NULL, tree_get(row, "value"));
    if (!name) return false;
    bool is = spelling_means(option, name) || spelling_means(name, option);
    char above[200];
    snprintf(above, sizeof above, "%s.*", option);
    return is || spelling_means(above, name) || (value && same_word(option, value));
}

static bool lists_one(const Case *c, const char *list, const char *option) {
    const Json *rows = tree_get(tree_get(c->answer, "import"), list);
    option += strspn(option, "-");
    char own[120];
    snprintf(own, sizeof own, "%.*s", (int)strcspn(option, "=: "), option);
    for (int i = 0; rows && i < rows->count; i++)
        if (is_row(own, &rows->items[i])) return true;
    return false;
}

static const char *where_listed(const Case *c, const char *option) {
    static const char *const lists[] = {"taken", "without_effect", "not_understood"};
    for (int i = 0; i < 3; i++)
        if (lists_one(c, lists[i], option)) return lists[i];
    return "no list";
}

// ---- A case.

static bool matches(const char *pattern, const char *text) {
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0) return false;
    bool is = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return is;
}

static void score(const Case *c, const Json *want) {
    const Json *job = tree_get(want, "job"), *idle = tree_get(want, "without_effect"),
               *matter = tree_get(want, "matters"), *says = tree_get(want, "says");
    if (tree_get(want, "error")) point(c, c->status == 2 || c->status == 4, "refused", "exit 2 or 4", c->output);
    for (int i = 0; says && i < says->count; i++)
        point(c, matches(says->items[i].text, c->output), "says", says->items[i].text, c->output);
    if (job) point(c, c->answer != NULL, "answers", "JSON", c->output);
    for (int i = 0; c->answer && job && i < job->count; i++) {
        const char *key = job->items[i].key;
        const Json *got = find_value(c->answer, key);
        point(c, is_value(c->arena, key, got, &job->items[i]), key, tree_text(c->arena, &job->items[i]),
              got ? tree_text(c->arena, got) : "nothing");
    }
    for (int i = 0; c->answer && idle && i < idle->count; i++)
        point(c, lists_one(c, "without_effect", idle->items[i].text), "without effect", idle->items[i].text,
              where_listed(c, idle->items[i].text));
    for (int i = 0; c->answer && matter && i < matter->count; i++) {
        const char *option = matter->items[i].text;
        point(c, lists_one(c, "taken", option) || lists_one(c, "not_understood", option), "matters", option,
              where_listed(c, option));
    }
}

static void hash_of(const char *folder, char *sum, size_t bytes) {
    char command[400];
    snprintf(command, sizeof command, "cd %s && find . | sort && find . -type f | sort | xargs cat | cksum", folder);
    EXPECT_INT(test_shell(command, sum, bytes), 0);
}

// As one asks who stands in its folder; a hostile one has its time and leaves all as it was.
static void try_case(const char *folder) {
    static char output[1 << 20], before[1 << 14], after[1 << 14];
    char command[1200], path[300];
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    snprintf(path, sizeof path, "%s/expected.json", folder);
    const Json *want = json_read_loose(arena, NULL, path, (Where){0}, problems);
    const char *ask = tree_text(arena, tree_get(want, "ask"));
    if (!ask) {
        test_fail(folder, 0, "its expected.json has no \"ask\"");
        arena_close(arena);
        return;
    }
    bool hostile = tree_get(want, "hostile") != NULL;
    if (hostile) hash_of(folder, before, sizeof before);
    snprintf(command, sizeof command, "program=$(realpath $LOCKSTEP) && cd %s && timeout 60 \"$program\" run %s --json",
             folder, ask);
    Case c = {.arena = arena, .name = folder, .output = output};
    c.status = test_shell(command, output, sizeof output);
    c.answer = *output == '{' ? json_read_text(arena, folder, output, strlen(output), problems) : NULL;
    score(&c, want);
    if (hostile) {
        hash_of(folder, after, sizeof after);
        EXPECT_TEXT(after, before);
        point(&c, c.status < 124, "ends", "by itself", "a signal, or the end of its time");
        point(&c, !strchr(output, '\033'), "prints", "no escape sequence of the file", "one");
    }
    arena_close(arena);
}

static int is_case(const struct dirent *entry) { return entry->d_name[0] != '.'; }

LONG_TEST(6, launch_scripts_of_disks_are_read_as_the_jobs_that_they_mean) {
    struct dirent **entries;
    int count = scandir(CASES, &entries, is_case, alphasort);
    EXPECT(count > 0);
    for (int i = 0; i < count; i++) {
        char folder[280];
        snprintf(folder, sizeof folder, CASES "/%s", entries[i]->d_name);
        try_case(folder);
        free(entries[i]);
    }
    if (count > 0) free(entries);
}
