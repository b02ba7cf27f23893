// lockstep schema: the JSON Schema (draft 2020-12) of --json answers.
#include "results/answer/command_schema.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/ask.h"
#include "sim/base/embed.h"
#include "sim/base/options.h"
#include "sim/data/json.h"

enum { DONE = 0, BAD_USAGE = 2 };

EMBED(lockstep_schema_json, "results/schema.json");

static const char usage[] = "lockstep schema [KIND]";
static const char about[] =
    "The JSON Schema (draft 2020-12) of what commands print with --json: of all kinds of answers, or of one\n"
    "(the key \"kind\" of an answer says which it is). --list names them.\n"
    "ask: that of questions (lockstep ask).\n\n"
    "  lockstep schema > lockstep.schema.json\n"
    "  lockstep schema plan";

static const OptionSpec specs[] = {
    {"list", OPTION_FLAG, .help = "the names of all kinds, a line each"},
};
enum { SPECS = sizeof specs / sizeof *specs };

static const Json *all_kinds(Arena *arena, Problems *problems) {
    const Json *schema = json_read_text(arena, "results/schema.json", lockstep_schema_json,
                                        (size_t)(lockstep_schema_json_end - lockstep_schema_json), problems);
    return schema ? json_get(schema, "$defs") : NULL;
}

static bool is_kind(const Json *definition) { return json_get(definition, "properties") != NULL; }

static void print_names(const Json *kinds) {
    for (int i = 0; i < kinds->count; i++)
        if (is_kind(&kinds->items[i])) printf("%s\n", kinds->items[i].key);
}

// A schema by itself: definitions of kinds point at nothing outside.
static void print_kind(const Json *kind) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    json_text_member(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    for (int i = 0; i < kind->count; i++) {
        json_key(&json, kind->items[i].key);
        json_write_tree(&json, &kind->items[i]);
    }
    json_end_object(&json);
    printf("\n");
}

static void refuse(Arena *arena, const Json *kinds, const char *name, Problems *problems) {
    const char **names = ARENA_ARRAY(arena, const char *, kinds->count + 1);
    int count = 0;
    for (int i = 0; i < kinds->count; i++)
        if (is_kind(&kinds->items[i])) names[count++] = kinds->items[i].key;
    problem_add(problems, (Where){0}, "no answer is of the kind \"%s\"", name);
    problem_hint_names(problems, name, names, count);
}

static void print(Arena *arena, const Options *options, Problems *problems) {
    const char *name = option_positional_count(options) ? option_positional(options, 0) : NULL;
    const Json *kinds = all_kinds(arena, problems);
    if (!kinds) return;
    if (name && strcmp(name, ASK_SCHEMA) == 0) {
        JsonWriter json = json_writer(stdout, 2);
        ask_write_schema(arena, &json);
        printf("\n");
    } else if (option_flag(options, "list")) {
        print_names(kinds);
    } else if (!name) {
        fputs(lockstep_schema_json, stdout);
    } else {
        const Json *kind = json_get(kinds, name);
        if (kind && is_kind(kind))
            print_kind(kind);
        else
            refuse(arena, kinds, name, problems);
    }
}

int command_schema(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, specs, SPECS, argc, argv, problems);
    options_refuse_positional(options, 1, problems);
    if (option_help(options))
        options_print_help(specs, SPECS, usage, about, stdout);
    else if (problem_count(problems) == 0)
        print(arena, options, problems);
    int status = problem_count(problems) ? BAD_USAGE : DONE;
    problems_print(problems, stderr);
    arena_close(arena);
    return status;
}
