#include <stdio.h>
#include <string.h>

#include "results/answer/question.h"
#include "sim/base/embed.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/base/text.h"
#include "sim/data/json.h"

// Commands that answer in JSON and write no files. For those without rows (main.c) a question has words only.
static const char *const commands[] = {"run",     "plan",  "explain", "check",     "memory",  "collective",
                                       "goodput", "cost",  "power",   "queue",     "flops",   "params",
                                       "hw",      "model", "job",     "constants", "packets", "step"};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char usage[] = "lockstep ask FILE.json [options of that command]";
static const char about[] =
    "Asks what a JSON file asks (- is standard input) and answers in JSON: a door for programs and agents.\n\n"
    "  echo '{\"ask\": \"run\", \"model\": \"gpt3-175b\", \"node\": \"dgx-a100\", \"gpus\": [512, 1024], \"tp\": 8,\n"
    "         \"pp\": 16, \"micro_batch\": 1, \"global_batch\": 1536}' | lockstep ask -\n\n"
    "\"ask\" is the command, \"words\" a list of what belongs to no option, \"set\" an object with values of a "
    "scenario;\n"
    "every other key is an option (lockstep schema ask describes all), and a list is what --vary takes. Walls, limits\n"
    "and where the answer goes are typed behind the file, never read from it.";

// ---- A value as words.

typedef struct Asking {
    Arena *arena;
    const OptionSpec *rows;
    int row_count;
    Names words;
    Problems *problems;
} Asking;

static void add(Asking *asking, const char *word) { LIST_PUSH(asking->arena, &asking->words, word); }

#define MOST_EXACT 9007199254740991.0 // the next may stand for a neighbour

static bool is_plain(const Json *value) {
    return value->kind == JSON_TEXT || value->kind == JSON_NUMBER || value->kind == JSON_BOOL;
}

static const char *plain_text(Arena *arena, const Json *value) {
    if (value->kind == JSON_TEXT) return value->text;
    return value->kind == JSON_NUMBER ? text_exact(arena, value->number) : value->boolean ? "true" : "false";
}

static void refuse(Asking *asking, const Json *value, const char *wanted) {
    problem_add(asking->problems, value->where, "\"%s\" is to be %s", value->key ? value->key : "a value", wanted);
    problem_is_usage(asking->problems);
}

static bool are_plain(const Json *list) {
    for (int i = 0; i < list->count; i++)
        if (!is_plain(&list->items[i])) return false;
    return list->count > 0;
}

// The option of that name; NULL: the command has none, and will report it.
static const OptionSpec *row_called(const Asking *asking, const char *name) {
    const char *attached;
    return option_row_of(asking->rows, asking->row_count, arena_printf(asking->arena, "--%s", name), &attached);
}

static void add_list(Asking *asking, const OptionSpec *row, const char *name, const Json *list) {
    Arena *arena = asking->arena;
    const char *joined = "";
    bool repeats = row && row->kind == OPTION_TEXTS, varies = row_called(asking, "vary") != NULL;
    if (!are_plain(list)) {
        refuse(asking, list, "a list of texts, numbers or flags");
        return;
    }
    for (int i = 0; i < list->count; i++) {
        const char *text = plain_text(arena, &list->items[i]);
        if (repeats) add(asking, arena_printf(arena, "--%s=%s", name, text));
        joined = arena_printf(arena, "%s%s%s", joined, i ? "," : "", text);
    }
    if (repeats) return;
    add(asking, arena_printf(arena, varies ? "--vary=%s=%s" : "--%s=%s", name, joined));
}

static void add_option(Asking *asking, const Json *value) {
    Arena *arena = asking->arena;
    char *name = arena_copy_text(arena, value->key);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = '-';
    if (!*name || name[strcspn(name, "= \t\"'")]) {
        problem_add(asking->problems, value->where, "\"%.100s\" is no option's name", value->key);
        problem_is_usage(asking->problems);
        return;
    }
    const OptionSpec *row = row_called(asking, name);
    bool is_flag = row && row->kind == OPTION_FLAG;
    if (row && row->kind == OPTION_SEED && value->kind == JSON_NUMBER && value->number > MOST_EXACT) {
        refuse(asking, value, "a text above 2^53, which a number of JSON need not keep");
        return;
    }
    if (is_flag && value->kind != JSON_BOOL)
        refuse(asking, value, "true or false");
    else if (is_flag && value->boolean)
        add(asking, arena_printf(arena, "--%s", name));
    else if (!is_flag && value->kind == JSON_LIST)
        add_list(asking, row, name, value);
    else if (!is_flag && is_plain(value))
        add(asking, arena_printf(arena, "--%s=%s", name, plain_text(arena, value)));
    else if (!is_flag)
        refuse(asking, value, "a text, a number, a flag or a list of them");
}

static void add_set(Asking *asking, const Json *set) {
    bool is_object = set->kind == JSON_OBJECT;
    for (int i = 0; is_object && i < set->count; i++) {
        const Json *value = &set->items[i];
        if (is_plain(value))
            add(asking, arena_printf(asking->arena, "--set=%s=%s", value->key, plain_text(asking->arena, value)));
        else
            refuse(asking, value, "a text, a number or a flag");
    }
    if (!is_object) refuse(asking, set, "an object: {\"training.steps\": 3}");
}

static void add_words(Asking *asking, const Json *list) {
    bool is_list = list->kind == JSON_LIST;
    for (int i = 0; is_list && i < list->count; i++) {
        const char *word = list->items[i].kind == JSON_TEXT ? list->items[i].text : "-";
        if (option_begins(word) || !*word || strcmp(word, "-") == 0) is_list = false;
        if (is_list) add(asking, word);
    }
    if (!is_list) refuse(asking, list, "a list of texts that are no options");
}

// ---- The question.

static void refuse_command(const Json *file, const Json *name, Problems *problems) {
    if (!name || name->kind != JSON_TEXT) {
        problem_add(problems, name ? name->where : file->where, "which command? \"ask\" does not say it");
        problem_hint(problems, "{\"ask\": \"run\", \"model\": …}; lockstep schema ask describes questions");
    } else {
        problem_add(problems, name->where, "\"%.100s\" is no question", name->text);
        problem_hint_names(problems, name->text, commands, COMMANDS);
    }
    problem_is_usage(problems);
}

// "explain queue" is a command and its first word.
static const char *command_of(Asking *asking, const Json *file) {
    const Json *name = json_get(file, "ask");
    if (!name || name->kind != JSON_TEXT) return refuse_command(file, name, asking->problems), NULL;
    char *command = arena_copy_text(asking->arena, name->text), *space = strchr(command, ' ');
    if (space) *space++ = '\0';
    if (!name_is_among(commands, COMMANDS, command) || (space && option_begins(space)))
        return refuse_command(file, name, asking->problems), NULL;
    if (question_rows) asking->rows = question_rows(asking->arena, command, space, &asking->row_count);
    if (space) add(asking, space);
    return command;
}

static const char *read_question(Asking *asking, const Json *file) {
    if (file->kind != JSON_OBJECT) {
        problem_add(asking->problems, file->where, "a question is an object: {\"ask\": \"run\", \"model\": …}");
        problem_is_usage(asking->problems);
        return NULL;
    }
    const char *command = command_of(asking, file);
    for (int i = 0; command && i < file->count; i++) {
        const Json *value = &file->items[i];
        if (strcmp(value->key, "ask") == 0 || value->kind == JSON_NULL) continue;
        if (strcmp(value->key, "words") == 0) {
            add_words(asking, value);
        } else if (!asking->rows) {
            problem_add(asking->problems, value->where, "%s takes \"words\" alone, and no \"%.100s\"", command,
                        value->key);
            problem_is_usage(asking->problems);
        } else if (strcmp(value->key, "set") == 0) {
            add_set(asking, value);
        } else {
            add_option(asking, value);
        }
    }
    return command;
}

static bool is_form(const char *word) {
    static const char *const forms[] = {"--json", "--csv", "--plain"};
    return name_is_among(forms, 3, word);
}

bool ask_in_json(Arena *arena, int *argc, char ***argv, Problems *problems) {
    char **line = *argv;
    if (*argc < 3 || strcmp(line[1], "ask") != 0 || (option_begins(line[2]) && strcmp(line[2], "-") != 0)) return true;
    bool is_input = strcmp(line[2], "-") == 0, has_form = false;
    int before = problems_added(problems);
    Asking asking = {.arena = arena, .problems = problems};
    const Json *file = json_read_file(arena, is_input ? "/dev/stdin" : line[2], problems);
    const char *command = file ? read_question(&asking, file) : NULL;
    if (!command || problems_added(problems) > before) return false;
    QuestionFile question = {.path = line[2],
                             .command = command,
                             .words = asking.words.items,
                             .count = asking.words.count,
                             .typed = (const char *const *)line + 3,
                             .typed_count = *argc - 3};
    Names words = question_words(arena, &question, problems), typed = question_typed(arena, &question), all = {0};
    question_reads_near(arena, &question, problems);
    if (problems_added(problems) > before) return false;
    LIST_PUSH(arena, &all, (const char *)line[0]);
    LIST_PUSH(arena, &all, command);
    for (int i = 0; i < words.count; i++) LIST_PUSH(arena, &all, words.items[i]);
    for (int i = 0; i < typed.count; i++) {
        has_form = has_form || is_form(typed.items[i]);
        LIST_PUSH(arena, &all, typed.items[i]);
    }
    if (!has_form) LIST_PUSH(arena, &all, "--json");
    *argc = all.count;
    char **out = ARENA_ARRAY(arena, char *, all.count + 1);
    for (int i = 0; i < all.count; i++) out[i] = arena_copy_text(arena, all.items[i]);
    *argv = out;
    return true;
}

int command_ask(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, NULL, 0, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(NULL, 0, usage, about, stdout);
    } else if (problem_count(problems) == 0) {
        problem_add(problems, (Where){0}, "which question? A file in JSON is missing, or - for standard input");
        problem_hint(problems, "lockstep ask --help has an example");
    }
    int status = problem_count(problems) ? 2 : 0;
    problems_print(problems, stderr);
    arena_close(arena);
    return status;
}

// ---- The schema.

static void write_texts(JsonWriter *json, const char *key, const char *const *texts, int count) {
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < count; i++) json_write_text(json, texts[i]);
    json_end_list(json);
}

static void write_option(JsonWriter *json, Arena *arena, const OptionSpec *row) {
    static const char *const flag[] = {"boolean"}, *const text[] = {"string", "number", "boolean", "array"};
    char *name = arena_copy_text(arena, row->name);
    for (char *at = name; *at; at++)
        if (*at == '-') *at = '_';
    json_key(json, name);
    json_begin_object(json);
    if (row->kind == OPTION_FLAG)
        write_texts(json, "type", flag, 1);
    else
        write_texts(json, "type", text, 4);
    json_text_member(json, "description",
                     row->metavar ? arena_printf(arena, "%s: %s", row->metavar, row->help) : row->help);
    if (row->kind == OPTION_CHOICE && row->choice_count) write_texts(json, "examples", row->choices, row->choice_count);
    json_end_object(json);
}

static void write_question(JsonWriter *json, Arena *arena, int which) {
    const char *name = commands[which];
    int count = 0;
    bool takes_script = false;
    const OptionSpec *rows = question_rows(arena, name, NULL, &count);
    json_key(json, name);
    json_begin_object(json);
    json_text_member(json, "type", "object");
    json_key(json, "properties");
    json_begin_object(json);
    json_key(json, "ask");
    json_begin_object(json);
    json_text_member(json, "pattern", arena_printf(arena, "^%s( |$)", name));
    json_end_object(json);
    json_key(json, "words");
    json_begin_object(json);
    json_text_member(json, "type", "array");
    json_end_object(json);
    for (int i = 0; rows && i < count; i++) {
        bool is_set = strcmp(rows[i].name, "set") == 0;
        takes_script = takes_script || is_set;
        if (rows[i].of == OF_QUESTION && !is_set) write_option(json, arena, &rows[i]);
    }
    if (takes_script) {
        json_key(json, "set");
        json_begin_object(json);
        json_text_member(json, "type", "object");
        json_end_object(json);
    }
    json_end_object(json);
    write_texts(json, "required", (const char *const[]){"ask"}, 1);
    json_key(json, "additionalProperties");
    json_write_bool(json, takes_script); // whose own options they are
    json_end_object(json);
}

static void write_questions(Arena *arena, JsonWriter *json) {
    json_begin_object(json);
    json_text_member(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text_member(json, "title", "A question of lockstep ask");
    json_key(json, "oneOf");
    json_begin_list(json);
    for (int i = 0; i < COMMANDS; i++) {
        json_begin_object(json);
        json_text_member(json, "$ref", arena_printf(arena, "#/$defs/%s", commands[i]));
        json_end_object(json);
    }
    json_end_list(json);
    json_key(json, "$defs");
    json_begin_object(json);
    for (int i = 0; i < COMMANDS; i++) write_question(json, arena, i);
    json_end_object(json);
    json_end_object(json);
}

// ---- lockstep schema: the JSON Schema (draft 2020-12) of --json answers.

EMBED(lockstep_schema_json, "results/schema.json");

static const char schema_usage[] = "lockstep schema [KIND]";
static const char schema_about[] =
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

static void no_kind(Arena *arena, const Json *kinds, const char *name, Problems *problems) {
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
    if (name && strcmp(name, "ask") == 0) {
        JsonWriter json = json_writer(stdout, 2);
        write_questions(arena, &json);
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
            no_kind(arena, kinds, name, problems);
    }
}

int command_schema(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, specs, SPECS, argc, argv, problems);
    options_refuse_positional(options, 1, problems);
    if (option_help(options))
        options_print_help(specs, SPECS, schema_usage, schema_about, stdout);
    else if (problem_count(problems) == 0)
        print(arena, options, problems);
    int status = problem_count(problems) ? 2 : 0;
    problems_print(problems, stderr);
    arena_close(arena);
    return status;
}
