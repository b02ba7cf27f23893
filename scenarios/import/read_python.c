// Python as far as it is plain: names set to texts, numbers, lists and dictionaries, lists that grow by += and append
// or extend, str(), f"…", os.path.join, "…".split(); what the calls that make a training are given (Trainer(…),
// TrainingArguments(…), a recipe, an estimator), attributes that are set, and defaults of options. Nothing else of it
// is read, and nothing is run.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python.h"
#include "sim/base/list.h"

static void assign(Python *p, const char *name, size_t length, const ShellWords *words, bool is_list, bool adds) {
    Name *there = python_name(p, name, length);
    if (!there && p->count < MOST_NAMES) {
        there = &p->names[p->count++];
        there->name = arena_printf(p->r->arena, "%.*s", (int)length, name);
        there->words = (ShellWords){0};
    }
    if (!there) return;
    const Said *own = p->configures && !adds ? said_find(p->arguments, there->name) : NULL;
    if (!adds) there->words = (ShellWords){0};
    if (own) {
        python_add(p, &there->words, own->value);
        return;
    }
    for (int i = 0; i < words->count; i++)
        if (there->words.count < MOST_WORDS) LIST_PUSH(p->r->arena, &there->words, words->items[i]);
    there->is_list = is_list || (adds && there->is_list);
}

// What the parameter of the function that begins was passed, by its name or its place; or NULL.
static const char *passed_to(const Python *p, const char *name, size_t length, int place) {
    int own = p->function ? (int)strcspn(p->function, "(") : 0;
    const char *by_name =
        arena_printf(p->r->arena, "%.*s.%.*s", own, p->function ? p->function : "", (int)length, name);
    const char *by_place = arena_printf(p->r->arena, "%.*s.#%d", own, p->function ? p->function : "", place);
    const char *passed = said_value(&p->first->passed, by_name);
    return passed ? passed : said_value(&p->first->passed, by_place);
}

// def f(nodes: int = 4, *, tp=8): names with what they are unless told.
static void read_parameters(Python *p) {
    while (p->at < p->end && *p->at != '(' && *p->at != '\n') p->at++;
    if (!python_takes(p, '(')) return;
    for (int place = 0; p->at < p->end && !python_takes(p, ')'); place++) {
        python_skip(p);
        const char *begin = p->at, *before = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
        size_t length = (size_t)(p->at - begin);
        while (p->at < p->end && !strchr("=,)", *p->at)) {
            if (*p->at == '\n') p->line++;
            p->at++;
        }
        if (p->at < p->end && *p->at == '=' && length) {
            ShellWords words = {0};
            bool is_list = false;
            p->at++;
            python_value(p, &words, &is_list);
            assign(p, begin, length, &words, is_list, false);
        }
        const char *passed = length && p->first ? passed_to(p, begin, length, place) : NULL;
        if (passed) {
            ShellWord word = {passed, p->line};
            ShellWords words = {&word, 1, 1};
            assign(p, begin, length, &words, false, false);
        }
        python_takes(p, ',');
        if (p->at == before) p->at++;
    }
}

// "b" of a.b(…), which is all that is known of what is plugged in.
static const char *name_of_call(const Python *p, const char *from) {
    while (from < p->end && *from == ' ') from++;
    const char *begin = from, *at = from;
    for (; at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'); at++)
        if (*at == '.') begin = at + 1;
    return arena_printf(p->r->arena, "%.*s", (int)(at - begin > 100 ? 100 : at - begin), begin);
}

// ---- Short names of parts: s = recipe.trainer.strategy.

static const char *path_of_alias(const Python *p, const char *name, size_t length) {
    for (int i = p->alias_count - 1; i >= 0; i--)
        if (strlen(p->aliases[i].name) == length && strncmp(p->aliases[i].name, name, length) == 0)
            return p->aliases[i].path;
    return NULL;
}

// At what stands behind "NAME =".
static void read_alias(Python *p, const char *name, size_t length) {
    const char *begin = p->at + strspn(p->at, " "), *at = begin;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    const char *stop = at, *dot = memchr(begin, '.', (size_t)(at - begin));
    while (at < p->end && (*at == ' ' || *at == '\r')) at++;
    bool alone = at == p->end || *at == '\n' || *at == '#' || *at == ';';
    if (!dot || !alone || !isalpha((unsigned char)*begin) || p->alias_count == MOST_ALIASES) return;
    const char *root = path_of_alias(p, begin, (size_t)(dot - begin));
    const char *rest = arena_printf(p->r->arena, "%.*s", (int)(stop - dot - 1), dot + 1);
    p->aliases[p->alias_count++] = (PythonAlias){arena_printf(p->r->arena, "%.*s", (int)length, name),
                                                 root ? arena_printf(p->r->arena, "%.200s.%.200s", root, rest) : rest};
}

// NAME.a.b = value, os.environ["NAME"] = value, NAME["key"] = value: behind the name. False: it is none of these.
static bool read_place(Python *p, const char *name, size_t length) {
    const char *at = p->at, *begin = at;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    bool of_environment = (size_t)(at - name) == 10 && strncmp(name, "os.environ", 10) == 0;
    const char *path = arena_printf(p->r->arena, "%.*s", (int)(at - begin > 200 ? 200 : at - begin), begin);
    ShellWords key = {0}, value = {0};
    bool is_list = false;
    int before = p->line;
    if (at < p->end && *at == '[') {
        p->at = at + 1;
        python_list(p, &key, ']');
        at = p->at;
    }
    while (at < p->end && *at == ' ') at++;
    if (p->end - at < 2 || at[0] != '=' || at[1] == '=' || (!*path && !key.count)) {
        p->line = before;
        return false;
    }
    int line = p->line;
    const char *from = p->at = at + 1;
    python_value(p, &value, &is_list);
    const char *text = python_commas(p, &value);
    if (key.count == 1) {
        ShellWords pair = {0};
        python_add(p, &pair, arena_printf(p->r->arena, "%.100s=%.2000s", key.items[0].text, text));
        if (of_environment)
            python_environment(p, &pair);
        else if (!*path)
            assign(p, name, length, &pair, true, true);
    } else if (strcmp(path, ".env_vars") == 0) {
        python_environment(p, &value);
    } else if (length != 4 || strncmp(name, "self", length) != 0) {
        bool plugs = !is_known(text) && spelling_means("plugins", path + 1);
        const char *alias = path_of_alias(p, name, length);
        python_tell(p, "", alias ? arena_printf(p->r->arena, "%.200s%s", alias, path) : path + 1,
                    plugs ? name_of_call(p, from) : text, line);
    }
    return true;
}

// return (…), def f(…): true where that is all of the line.
static bool read_keyword_line(Python *p) {
    static const char *const before[] = {"return ", "yield ", "await ", "with ", "def ", "async def "};
    for (int i = 0; i < 6; i++) {
        size_t length = strlen(before[i]);
        if ((size_t)(p->end - p->at) <= length || strncmp(p->at, before[i], length) != 0) continue;
        p->at += length;
        if (i > 3) {
            const char *begin = p->at;
            while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
            p->function = arena_printf(p->r->arena, "%.*s()", (int)(p->at - begin > 90 ? 90 : p->at - begin), begin);
            read_parameters(p);
            return true;
        }
        bool gives_list = i == 0 && p->function && p->at < p->end && (*p->at == '[' || isalpha((unsigned char)*p->at));
        if (gives_list || (p->at < p->end && *p->at == '(')) {
            ShellWords value = {0};
            bool is_list = false;
            python_value(p, &value, &is_list);
            if (gives_list && is_list) assign(p, p->function, strlen(p->function), &value, true, false);
            return true;
        }
    }
    return false;
}

enum { MOST_TARGETS = 8 };
typedef struct Targets { // A, B = …
    const char *names[MOST_TARGETS];
    size_t lengths[MOST_TARGETS];
    int count;
} Targets;

static bool read_targets(Python *p, Targets *targets) {
    while (targets->count < MOST_TARGETS) {
        const char *begin = targets->names[targets->count] = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
        targets->lengths[targets->count++] = (size_t)(p->at - begin);
        if (p->at == begin) return false;
        while (p->at < p->end && *p->at == ' ') p->at++;
        if (p->at >= p->end || *p->at != ',') break;
        p->at++;
        while (p->at < p->end && *p->at == ' ') p->at++;
    }
    if (targets->count == 1 && p->at < p->end && *p->at == ':') // NAME: TYPE = …
        while (p->at < p->end && !strchr("=\n(", *p->at)) p->at++;
    return true;
}

// NAME.a = …, NAME["key"] = …, or a call alone.
static void read_place_or_call(Python *p, const Targets *targets) {
    bool is_call = false, is_list = false;
    const char *at = p->at;
    if (targets->count > 1 || at >= p->end || !strchr(".[(", *at)) return;
    if (*at != '(' && read_place(p, targets->names[0], targets->lengths[0])) return;
    ShellWords aside = {0};
    p->at = targets->names[0];
    for (at = p->at; at < p->end && *at != '\n' && !is_call; at++) is_call = *at == '(';
    if (is_call) python_value(p, &aside, &is_list);
}

// NAME = …, A, B = …, NAME += …, NAME.append(…), NAME.extend(…) at the beginning of a line.
static void read_statement(Python *p) {
    static const char *const methods[] = {".append(", ".extend("};
    Targets targets = {.count = 0};
    if (read_keyword_line(p) || !read_targets(p, &targets)) return;
    size_t left = (size_t)(p->end - p->at);
    bool adds = left > 1 && p->at[0] == '+' && p->at[1] == '=', method = false;
    for (int i = 0; i < 2; i++) method = method || (left > 8 && strncmp(p->at, methods[i], 8) == 0);
    if (!adds && !method && !(left > 1 && p->at[0] == '=' && p->at[1] != '=')) {
        read_place_or_call(p, &targets);
        return;
    }
    p->at += method ? 8 : adds ? 2 : 1;
    if (!adds && !method && targets.count == 1) read_alias(p, targets.names[0], targets.lengths[0]);
    for (int i = 0; i < targets.count; i++) {
        const char *name = targets.names[i];
        size_t length = targets.lengths[i];
        ShellWords words = {0};
        bool is_list = false;
        int line = p->line;
        python_value(p, &words, &is_list);
        if (p->in_dataclass && !adds && !method)
            python_tell(p, "", arena_printf(p->r->arena, "%.*s", (int)length, name), python_commas(p, &words), line);
        assign(p, name, length, &words, is_list, adds || method);
        if (p->at >= p->end || *p->at != ',') break; // the next line is another statement's
        p->at++;
    }
}

// Of "a.ckpt:", "not a.ckpt:", "a.parallel == 'ddp':" about an option of the program's. False: it is none of these.
static bool knows_condition(const Python *p, const char *at, bool *holds) {
    bool negates = p->end - at > 4 && strncmp(at, "not ", 4) == 0;
    if (negates) at += 4;
    const char *begin = at;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    const Said *said =
        python_option(p, arena_printf(p->r->arena, "%.*s", (int)(at - begin > 100 ? 100 : at - begin), begin));
    if (!said || !is_known(said->value)) return false;
    while (at < p->end && *at == ' ') at++;
    if (at < p->end && *at == ':') {
        static const char *const no[] = {"None", "False", "false", "0", ""};
        bool none = false;
        for (size_t i = 0; i < sizeof no / sizeof *no; i++) none = none || strcmp(said->value, no[i]) == 0;
        *holds = none == negates;
        return true;
    }
    bool equal = p->end - at > 3 && strncmp(at, "==", 2) == 0, differs = p->end - at > 3 && strncmp(at, "!=", 2) == 0;
    if (!equal && !differs) return false;
    at += 2;
    while (at < p->end && *at == ' ') at++;
    char quote = at < p->end ? *at : '\0';
    const char *close = quote == '"' || quote == '\'' ? memchr(at + 1, quote, (size_t)(p->end - at - 1)) : NULL;
    if (!close || close + 1 >= p->end || close[1] != ':') return false;
    bool same =
        strlen(said->value) == (size_t)(close - at - 1) && strncmp(said->value, at + 1, (size_t)(close - at - 1)) == 0;
    *holds = (same == equal) != negates;
    return true;
}

// Whether the line that begins stands behind an "if", other than that of a program's own name; what is known of it by
// the program's options holds or does not. True: the line is within one that does not hold.
static bool note_condition(Python *p) {
    static const char *const words[] = {"if ", "if(", "elif ", "else:", "elif("};
    int indent = 0;
    const char *at = p->at;
    for (; at < p->end && (*at == ' ' || *at == '\t'); at++) indent++;
    if (at >= p->end || *at == '\n' || *at == '#') return false;
    if (p->skipped >= 0 && indent > p->skipped) return true;
    p->skipped = -1;
    size_t left = (size_t)(p->end - at);
    bool asks = false, begins = left > 11 && strncmp(at, "if __name__", 11) == 0, holds = false;
    for (int i = 0; i < 5 && !begins; i++)
        asks = asks || (left > strlen(words[i]) && strncmp(at, words[i], strlen(words[i])) == 0);
    if (p->condition >= indent) p->condition = -1;
    bool is_else = asks && strncmp(at, "else:", 5) == 0;
    bool known = asks && (is_else ? p->last_if == indent : at[0] == 'i' && knows_condition(p, at + 3, &holds));
    if (known && is_else) holds = !p->last_holds;
    if (p->last_if >= indent) p->last_if = -1;
    if (known && !is_else) p->last_if = indent, p->last_holds = holds;
    if (known && !holds) p->skipped = indent;
    if (asks && !known && p->condition < 0) p->condition = indent;
    return false;
}

static Python *read_once(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments,
                         const Python *before) {
    Python *p = ARENA_NEW(r->arena, Python);
    *p = (Python){.r = r,
                  .at = text,
                  .end = text + bytes,
                  .line = 1,
                  .file = file,
                  .arguments = arguments,
                  .condition = -1,
                  .skipped = -1,
                  .last_if = -1,
                  .first = before,
                  .before = before ? &before->told : NULL};
    for (int i = 0; before && i < before->options.count; i++)
        LIST_PUSH(r->arena, &p->options, before->options.items[i]);
    p->configures = arguments && memmem(text, bytes, "configurator.py", 15);
    while (p->at < p->end && p->steps < 100000) {
        bool skips = note_condition(p);
        bool opens = *p->at == '@' && p->end - p->at > 10 && strncmp(p->at, "@dataclass", 10) == 0;
        if (opens || (isalpha((unsigned char)*p->at) && strncmp(p->at, "class ", 6) != 0)) p->in_dataclass = opens;
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->end - p->at > 5 && strncmp(p->at, "@app.", 5) == 0) p->at++; // Modal's
        if (!skips && p->at < p->end && (isalpha((unsigned char)*p->at) || *p->at == '_')) read_statement(p);
        if (p->at < p->end && (*p->at == '"' || *p->at == '\'')) python_text(p, false);
        const char *line = p->at < p->end ? memchr(p->at, '\n', (size_t)(p->end - p->at)) : NULL;
        if (!line) break;
        p->at = line + 1;
        p->line++;
    }
    return p;
}

// Twice: functions stand before what calls them, and take settings from what is told to them there.
static Python *read_all(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    const Python *first = read_once(r, file, text, bytes, arguments, NULL);
    return read_once(r, file, text, bytes, arguments, first);
}

static bool of_executor(const Said *told) { return strncmp(told->name, "executor.", 9) == 0; }

// What is told to whom it asks for machines: submitit's executor, NeMo-Run's.
static void say_executor(Reading *r, const Python *p) {
    for (int i = 0; i < p->told.count; i++)
        if (of_executor(&p->told.items[i]))
            said_add(r->arena, &r->machine, p->told.items[i].name + 9, p->told.items[i].value, p->told.items[i].where,
                     BY_MACHINES);
}

static void say_told(Reading *r, const Python *p) {
    for (int i = 0; i < p->unsure.count; i++)
        if (!said_find(&p->told, p->unsure.items[i].name)) LIST_PUSH(r->arena, &r->said, p->unsure.items[i]);
    for (int i = 0; i < p->told.count; i++) {
        const Said *told = &p->told.items[i];
        if (of_executor(told)) continue;
        said_add(r->arena, &r->said, told->name, told->value, told->where, BY_FILE);
        if (same_word(told->name, "deepspeed") && strstr(told->value, ".json"))
            reading_config(r, told->value, told->where);
    }
}

// WIDTH = 1536: constants of a program, as weak as what it says by itself.
static void say_constants(Reading *r, const Python *p) {
    for (int i = 0; i < p->count; i++) {
        const Name *name = &p->names[i];
        bool capital = name->name[strspn(name->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
        const char *value = name->words.count == 1 ? name->words.items[0].text : "";
        if (!capital || !isdigit((unsigned char)*value) || value[strspn(value, "0123456789")]) continue;
        char *lower = arena_copy_text(r->arena, name->name);
        for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
        said_add(r->arena, &r->said, lower, value, (Where){p->file, name->words.items[0].line}, BY_PROGRAM);
    }
}

static void say_pairs(Reading *r, const Python *p, const Name *name) {
    for (int i = 0; i < name->words.count; i++) {
        const char *text = name->words.items[i].text, *equals = strchr(text, '=');
        const char *key = arena_printf(r->arena, "%.100s.%.*s", name->name, (int)(equals - text), text);
        said_add(r->arena, &r->said, key, equals + 1, (Where){p->file, name->words.items[i].line}, BY_FILE);
    }
}

static void say_names(Reading *r, Python *p, bool only_known) {
    for (int i = 0; i < p->count; i++) {
        const char *value = python_commas(p, &p->names[i].words);
        if (!only_known && p->names[i].is_list && python_holds_pairs(&p->names[i].words)) {
            say_pairs(r, p, &p->names[i]);
            continue;
        }
        if (strcmp(p->names[i].name, "_base_") == 0) continue;
        if (p->names[i].words.count && (!only_known || is_known(value)))
            said_add(r->arena, &r->said, p->names[i].name, value, (Where){p->file, p->names[i].words.items[0].line},
                     BY_FILE);
    }
}

// OpenMMLab's: _base_ = ['../_base_/models/mask-rcnn_r50_fpn.py', …] are read first; of what does not lie beside the
// name says the model.
static void read_bases(Reading *r, Python *p, const char *file) {
    const Name *bases = python_name(p, "_base_", 6);
    for (int i = 0; bases && i < bases->words.count && r->bases < READING_BASES; i++) {
        const ShellWord *word = &bases->words.items[i];
        Where where = {file, word->line};
        r->bases++;
        bool read = is_known(word->text) && !strstr(word->text, "::") &&
                    reading_config(r, reading_path_from(r, file, word->text), where);
        r->bases--;
        if (!read && strstr(word->text, "models/")) said_add(r->arena, &r->said, "_base_", word->text, where, BY_FILE);
    }
}

void read_python_settings(Reading *r, const char *file, const char *text, size_t bytes) {
    Python *p = read_all(r, file, text, bytes, NULL);
    read_bases(r, p, file);
    say_names(r, p, false);
}

void read_python_program(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    Python *p = read_all(r, file, text, bytes, arguments);
    say_told(r, p);
    say_executor(r, p);
    if (p->configures)
        say_names(r, p, true);
    else
        say_constants(r, p);
}

void read_python(Reading *r, const char *file, const char *text, size_t bytes) {
    const Python *p = read_all(r, file, text, bytes, NULL);
    say_executor(r, p);
    for (int i = 0; i < p->count; i++)
        if (p->names[i].is_list && p->names[i].words.count > 2)
            launch_words(r, &p->names[i].words, (Where){file, p->names[i].words.items[0].line});
    if (r->launches.count || !p->calls) return;
    say_told(r, p);
    ShellWords *itself = ARENA_NEW(r->arena, ShellWords);
    ShellWord word = {file, 1};
    LIST_PUSH(r->arena, itself, word);
    launch_words(r, itself, (Where){file, 1});
}
