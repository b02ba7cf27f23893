// Every answer in JSON is as results/schema.json says, whatever it answers and however it ends.
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "scenarios/study/study_options.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
#include "sim/system/file.h"
#include "tests/answer_walk.h"
#include "tests/child.h"
#include "tests/schema.h"
#include "tests/test.h"

#define SCHEMA "results/schema.json"

enum { DONE = 0, ANSWER_IS_NO = 3 };

static const char *text_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : "";
}

// ---- Walking.

#define MOST_KINDS 96

typedef struct Gathered { // answers by kind
    Arena *arena;
    Problems *problems;
    struct {
        const char *kind;
        SchemaSamples samples;
    } kinds[MOST_KINDS];
    int count;
} Gathered;

static void gather(Gathered *all, const Json *answer) {
    if (answer->kind == JSON_LIST) {
        for (int i = 0; i < answer->count; i++) gather(all, &answer->items[i]);
        return;
    }
    const char *kind = text_of(answer, "kind");
    int k = 0;
    while (k < all->count && strcmp(all->kinds[k].kind, kind) != 0) k++;
    CHECK(k < MOST_KINDS);
    if (k == all->count) all->kinds[all->count++].kind = kind;
    LIST_PUSH(all->arena, &all->kinds[k].samples, answer);
}

// ---- An answer says itself how it ended.

static bool is_false(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_BOOL && !value->boolean;
}

static bool none_ran(const Json *answer) {
    const Json *points = json_get(answer, "points");
    for (int i = 0; points && i < points->count; i++)
        if (!is_false(&points->items[i], "ran")) return false;
    return points && points->count > 0;
}

static double number_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static bool is_null(const Json *object, const char *key) {
    const Json *value = object ? json_get(object, key) : NULL;
    return value && value->kind == JSON_NULL;
}

static bool none_is_found(const Json *sizes) {
    for (int i = 0; i < sizes->count; i++)
        if (!is_null(&sizes->items[i], "gpus")) return false;
    return true;
}

// What exit status 3 stands for is written in the answer too.
static bool says_no(const Json *answer) {
    const char *kind = text_of(answer, "kind");
    if (answer->kind == JSON_LIST) {
        for (int i = 0; i < answer->count; i++)
            if (says_no(&answer->items[i])) return true;
        return false;
    }
    if (strcmp(kind, "explain") == 0) return json_get(answer, "lacks") && !is_null(answer, "lacks");
    if (strcmp(kind, "plan") == 0) return is_null(answer, "chosen");
    if (strcmp(kind, "goodput") == 0) return number_of(answer, "unfinished") == number_of(answer, "runs");
    const Json *unmet = json_get(answer, "unmet"), *sizes = json_get(answer, "answers");
    return none_ran(answer) || is_false(answer, "ran") || is_false(answer, "may_fit") || is_false(answer, "within") ||
           is_false(answer, "facility_is_enough") || is_false(answer, "right") || is_false(answer, "all_right") ||
           (sizes && sizes->count > 0 && none_is_found(sizes)) || (unmet && unmet->count > 0);
}

static void walk_line(Gathered *all, const char *folder, const WalkLine *line) {
    bool answers = line->status == DONE || line->status == ANSWER_IS_NO;
    int status = walk_shell(folder, "$LOCKSTEP %s --json 2>/dev/null", line->line);
    if (status != line->status) test_fail(__FILE__, __LINE__, "%s --json: exit %d", line->line, status);
    if (!answers) {
        if (walk_said[0])
            test_fail(__FILE__, __LINE__, "%s --json: exit %d, and %.100s", line->line, status, walk_said);
        return;
    }
    const Json *answer = json_read_text(all->arena, line->line, arena_copy_text(all->arena, walk_said),
                                        strlen(walk_said), all->problems);
    if (!answer) {
        test_fail(__FILE__, __LINE__, "%s --json: exit %d, %.100s", line->line, status, walk_said);
        return;
    }
    if (says_no(answer) != (status == ANSWER_IS_NO))
        test_fail(__FILE__, __LINE__, "%s --json: exit %d, and the answer says %s", line->line, status,
                  says_no(answer) ? "no" : "yes");
    gather(all, answer);
}

// Under sanitizers every second line: they take three times as long.
static Gathered *walk(Arena *arena, const char *folder) {
    Gathered *all = ARENA_NEW(arena, Gathered);
    all->arena = arena;
    all->problems = problems_create(arena);
    for (int i = 0; i < answer_case_count; i++)
        if (answer_cases[i].kind) walk_line(all, folder, &(WalkLine){DONE, answer_cases[i].line});
    for (int i = 0; i < answer_walk_count; i += HAS_ADDRESS_SANITIZER ? 2 : 1) walk_line(all, folder, &answer_walk[i]);
    return all;
}

// ---- The schema.

static const Json *read_schema(Arena *arena, Problems *problems) {
    const Json *schema = json_read_file(arena, SCHEMA, problems);
    EXPECT(schema != NULL);
    return schema;
}

static const SchemaSamples *samples_of(const Gathered *all, const char *kind) {
    static const SchemaSamples none = {0};
    for (int k = 0; k < all->count; k++)
        if (strcmp(all->kinds[k].kind, kind) == 0) return &all->kinds[k].samples;
    return &none;
}

// Any of the kinds, old and new.
static void write_answer(const Gathered *all, JsonWriter *json, const Json *kinds) {
    json_begin_object(json);
    json_key(json, "anyOf");
    json_begin_list(json);
    for (int d = 0; d < kinds->count + all->count; d++) {
        char reference[128];
        bool is_old = d < kinds->count;
        const char *kind = is_old ? kinds->items[d].key : all->kinds[d - kinds->count].kind;
        if (is_old ? !json_get(&kinds->items[d], "properties") : json_get(kinds, kind) != NULL)
            continue; // a part of some
        snprintf(reference, sizeof reference, "#/$defs/%s", kind);
        json_begin_object(json);
        json_text_member(json, "$ref", reference);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
}

static void write_kinds(const Gathered *all, JsonWriter *json, const Json *kinds) {
    json_begin_object(json);
    for (int d = 0; d < kinds->count; d++) {
        const Json *old = &kinds->items[d];
        json_key(json, old->key);
        if (strcmp(old->key, "answer") == 0)
            write_answer(all, json, kinds);
        else
            schema_write(all->arena, json, old, samples_of(all, old->key));
    }
    for (int k = 0; k < all->count; k++) {
        if (json_get(kinds, all->kinds[k].kind)) continue;
        json_key(json, all->kinds[k].kind);
        schema_write(all->arena, json, NULL, &all->kinds[k].samples);
    }
    json_end_object(json);
}

static void write_schema(const Gathered *all, const Json *schema) {
    OutputFile file;
    if (!file_create(all->arena, SCHEMA, &file, all->problems)) return;
    JsonWriter json = json_writer(file.stream, 1);
    json_begin_object(&json);
    for (int i = 0; i < schema->count; i++) {
        json_key(&json, schema->items[i].key);
        if (strcmp(schema->items[i].key, "$defs") == 0)
            write_kinds(all, &json, &schema->items[i]);
        else
            json_write_tree(&json, &schema->items[i]);
    }
    json_end_object(&json);
    fputc('\n', file.stream);
    EXPECT(file_commit(&file, all->problems));
}

// Every key that an answer has is in the published schema, and every key that the schema promises is in the answer. A
// new key: make schema, and say in results/schema.json what it is.
LONG_TEST(20, every_answer_is_as_its_schema_says) {
    char name[] = "/tmp/lockstep-schema-XXXXXX", why[1024];
    const char *folder = walk_open_whole(name);
    Arena *arena = arena_open();
    const Gathered *all = walk(arena, folder);
    const Json *schema = read_schema(arena, all->problems);
    if (schema && getenv("LOCKSTEP_SCHEMA")) {
        write_schema(all, schema);
        schema = read_schema(arena, all->problems);
    }
    const Json *kinds = schema ? json_get(schema, "$defs") : NULL;
    for (int k = 0; kinds && k < all->count; k++) {
        const Json *kind = json_get(kinds, all->kinds[k].kind);
        if (!kind) test_fail(__FILE__, __LINE__, "results/schema.json says nothing of %s", all->kinds[k].kind);
        for (int i = 0; kind && i < all->kinds[k].samples.count; i++)
            if (!schema_holds(schema, kind, all->kinds[k].samples.items[i], why, sizeof why))
                test_fail(__FILE__, __LINE__, "%s: %s (if that is meant: make schema)", all->kinds[k].kind, why);
    }
    for (int d = 0; kinds && d < kinds->count && !HAS_ADDRESS_SANITIZER; d++)
        if (json_get(&kinds->items[d], "properties") && samples_of(all, kinds->items[d].key)->count == 0)
            test_fail(__FILE__, __LINE__, "no line of the walk answers as %s", kinds->items[d].key);
    EXPECT(problem_count(all->problems) == 0);
    arena_close(arena);
    walk_close(folder);
}

// On a busy machine the signal may come before the simulation has begun: once more, later.
TEST(an_interrupted_answer_is_partial_and_as_its_schema_says) {
    char why[1024];
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *schema = read_schema(arena, problems);
    const Json *kind = schema ? json_get(json_get(schema, "$defs"), "goodput") : NULL;
    walk_said[0] = '\0';
    // Before the first piece of work is done and after the last there is no such answer: a later moment is tried.
    for (int tenths = 5; tenths <= 300 && !strstr(walk_said, "\"partial\""); tenths = tenths * 5 / 4 + 1) {
        snprintf(why, sizeof why,
                 "timeout --preserve-status -s INT %.1f $LOCKSTEP goodput --gpus 1024 --days 300d --runs 100000 "
                 "--event-limit 1e12 --json 2>/dev/null",
                 0.1 * tenths);
        int status = walk_shell("/tmp", "%s", why);
        if (strstr(walk_said, "\"partial\"")) EXPECT_INT(status, 130);
    }
    const Json *answer = json_read_text(arena, "goodput", walk_said, strlen(walk_said), problems);
    EXPECT(answer && json_get(answer, "partial"));
    if (answer && kind && !schema_holds(schema, kind, answer, why, sizeof why))
        test_fail(__FILE__, __LINE__, "%s", why);
    arena_close(arena);
}

// ---- The walk leaves nothing out.

// Names that --help of a command lists, a line each, in walk_said.
static int options_of(const char *command) {
    return walk_shell("/tmp", "$LOCKSTEP %s --help | grep -oE '^  (-[a-zA-Z], )?--[a-z0-9-]+' | sed 's/.*--//'",
                      command);
}

static bool begins_with(const char *line, const char *command) {
    size_t length = strlen(command);
    return strncmp(line, command, length) == 0 && (line[length] == ' ' || line[length] == '\0');
}

static bool names_option(const char *line, const char *option) {
    char word[64];
    snprintf(word, sizeof word, "--%s", option);
    for (const char *at = strstr(line, word); at; at = strstr(at + 1, word)) {
        char after = at[strlen(word)];
        if (at[-1] == ' ' && (after == ' ' || after == '=' || after == '\0')) return true;
    }
    return false;
}

// With this option; NULL: that answers at all.
static bool is_walked(const char *command, const char *option) {
    for (int i = 0; i < answer_walk_count; i++)
        if (begins_with(answer_walk[i].line, command) && (!option || names_option(answer_walk[i].line, option)) &&
            (option || answer_walk[i].status == DONE))
            return true;
    return false;
}

static bool is_exempt(const char *command) {
    for (int i = 0; i < answer_exempt_count; i++)
        if (strcmp(answer_exempt[i], command) == 0) return true;
    return false;
}

// What is said of a job or of its rent is walked where it makes a difference, not at every command that takes it;
// forms, limits and processes change no key.
static bool is_shared(Arena *arena, const char *option) {
    static const char *const others[] = {"output",
                                         "quiet",
                                         "json",
                                         "csv",
                                         "plain",
                                         "color",
                                         "last",
                                         "no-last",
                                         "help",
                                         "event-limit",
                                         "simulation-memory",
                                         "time-limit",
                                         "wall",
                                         "allow-read",
                                         "jobs",
                                         "threads",
                                         "processes",
                                         "plot",
                                         "plot-dir",
                                         "plot-format",
                                         "profile",
                                         "as",
                                         "verbose",
                                         "utilization",
                                         "model",
                                         "gpu",
                                         "image-size",
                                         "classes",
                                         "seed"};
    int count;
    const OptionSpec *rows = study_option_rows(arena, &count);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], option) == 0) return true;
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, option) == 0 || (rows[i].alias && strcmp(rows[i].alias, option) == 0)) return true;
    return false;
}

static void expect_options_walked(Arena *arena, const char *command) {
    EXPECT_INT(options_of(command), 0);
    char *options = arena_copy_text(arena, walk_said);
    for (char *at = strtok(options, "\n"); at; at = strtok(NULL, "\n"))
        if (!is_shared(arena, at) && !is_walked(command, at))
            test_fail(__FILE__, __LINE__, "no line of tests/answer_walk.c asks lockstep %s --%s", command, at);
}

TEST(the_walk_asks_every_command_with_each_of_its_own_options) {
    // Commands, and those below them as their help names them.
    static const char names[] =
        "for c in $($LOCKSTEP --help | sed -n '/^Commands:/,/^$/s/^  \\([a-z]*\\) .*/\\1/p'); do case $c in "
        "validate|calibrate) $LOCKSTEP $c --help | sed -n \"s/^  \\([a-z][a-z-]*\\)  .*/$c \\1/p\";; "
        "hw|model|job) $LOCKSTEP $c --help | head -n 1 | grep -oE '(hw|[|]|model|job) [a-z]+' | sed \"/ hw$/d; s/.* "
        "/$c /\";; "
        "explain) for s in '' ' collective' ' goodput' ' queue'; do echo \"$c$s\"; done;; *) echo $c;; esac; done";
    Arena *arena = arena_open();
    EXPECT_INT(walk_shell("/tmp", "%s", names), 0);
    char *commands[128];
    int count = 0;
    for (char *at = strtok(arena_copy_text(arena, walk_said), "\n"); at && count < 128; at = strtok(NULL, "\n"))
        commands[count++] = at;
    EXPECT(count > 35);
    for (int i = 0; i < count; i++) {
        if (is_exempt(commands[i])) continue;
        if (!is_walked(commands[i], NULL))
            test_fail(__FILE__, __LINE__, "no line of tests/answer_walk.c has an answer of lockstep %s", commands[i]);
        expect_options_walked(arena, commands[i]);
    }
    arena_close(arena);
}

// ---- The reader of schemas.

static bool holds_of(Arena *arena, const char *schema, const char *value) {
    char why[256];
    Problems *problems = problems_create(arena);
    const Json *root = json_read_text(arena, "schema", schema, strlen(schema), problems);
    const Json *json = json_read_text(arena, "value", value, strlen(value), problems);
    EXPECT(root && json);
    return root && json && schema_holds(root, root, json, why, sizeof why);
}

TEST(a_schema_refuses_what_it_does_not_say) {
    Arena *arena = arena_open();
    const char *schema =
        "{\"type\": \"object\", \"required\": [\"a\"], \"properties\": {\"a\": {\"type\": [\"number\", "
        "\"null\"]}, \"b\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/c\"}}, \"k\": {\"const\": "
        "\"x\"}, \"m\": {\"additionalProperties\": {\"type\": \"integer\"}}}, \"$defs\": {\"c\": {\"enum\": "
        "[1, \"two\"]}}}";
    EXPECT(holds_of(arena, schema, "{\"a\": 1.5, \"b\": [1, \"two\"], \"k\": \"x\", \"m\": {\"any\": 3}}"));
    EXPECT(holds_of(arena, schema, "{\"a\": null}"));
    EXPECT(!holds_of(arena, schema, "{\"b\": []}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": \"1\"}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"z\": 1}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"b\": [2]}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"k\": \"y\"}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"m\": {\"any\": 0.5}}"));
    EXPECT(!holds_of(arena, "{\"pattern\": \"a\"}", "\"a\""));
    EXPECT(holds_of(arena, "{\"type\": \"array\"}", "[]"));
    EXPECT(!holds_of(arena, "{\"type\": \"array\"}", "[1]"));
    EXPECT(!holds_of(arena, "{\"type\": \"object\"}", "{\"a\": 1}"));
    arena_close(arena);
}

TEST(the_program_prints_its_schemas) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char name[] = "/tmp";
    EXPECT_INT(walk_shell(name, "%s", "$LOCKSTEP schema | cmp - " SCHEMA " && echo same"), 0);
    EXPECT_TEXT(walk_said, "same\n");
    EXPECT_INT(walk_shell(name, "%s", "$LOCKSTEP schema plan"), 0);
    const Json *plan = json_read_text(arena, "plan", walk_said, strlen(walk_said), problems);
    const Json *keys = plan ? json_get(plan, "properties") : NULL;
    EXPECT(keys && json_get(keys, "step_time_s") && json_get(keys, "assumptions"));
    EXPECT_INT(walk_shell(name, "%s", "$LOCKSTEP schema --list | wc -l"), 0);
    EXPECT(atoi(walk_said) > 25);
    EXPECT_INT(walk_shell(name, "%s", "$LOCKSTEP schema paln 2>&1"), 2);
    EXPECT_CONTAINS(walk_said, "did you mean \"plan\"?");
    arena_close(arena);
}

// ---- The schema itself.

static bool is_listed(const Json *list, const char *text) {
    for (int i = 0; list && i < list->count; i++)
        if (list->items[i].kind == JSON_TEXT && strcmp(list->items[i].text, text) == 0) return true;
    return false;
}

// Of an object: what it promises it describes.
static void expect_sound(const Json *schema, const char *path) {
    const Json *properties = json_get(schema, "properties"), *required = json_get(schema, "required");
    const Json *others = json_get(schema, "additionalProperties"), *items = json_get(schema, "items");
    char below[512];
    for (int i = 0; required && i < required->count; i++)
        if (!properties || !json_get(properties, required->items[i].text))
            test_fail(__FILE__, __LINE__, "%s requires %s and does not say what it is", path, required->items[i].text);
    for (int i = 0; properties && i < properties->count; i++) {
        snprintf(below, sizeof below, "%.400s.%.100s", path, properties->items[i].key);
        if (properties->items[i].count == 0) test_fail(__FILE__, __LINE__, "%s may be anything", below);
        expect_sound(&properties->items[i], below);
    }
    if (others) expect_sound(others, path);
    if (items) expect_sound(items, path);
}

TEST(every_kind_of_answer_has_the_whole_envelope_in_the_schema) {
    static const char *const always[] = {"format", "format_version", "kind", "program", "command"};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *schema = read_schema(arena, problems), *kinds = schema ? json_get(schema, "$defs") : NULL;
    for (int d = 0; kinds && d < kinds->count; d++) {
        const Json *kind = &kinds->items[d], *properties = json_get(kind, "properties");
        const Json *named = properties ? json_get(properties, "kind") : NULL;
        expect_sound(kind, kind->key);
        if (!properties) continue;
        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
            if (!is_listed(json_get(kind, "required"), always[i]))
                test_fail(__FILE__, __LINE__, "%s does not promise %s", kind->key, always[i]);
        EXPECT_TEXT(named ? text_of(named, "const") : "", kind->key);
        if (!json_get(properties, "partial")) test_fail(__FILE__, __LINE__, "%s is never partial", kind->key);
    }
    EXPECT(kinds && problem_count(problems) == 0);
    arena_close(arena);
}
