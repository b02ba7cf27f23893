// Where an option stands, what stands behind it, and another value in its place: a literal, or where a variable stands
// there the literal that is assigned to it.
#include "scenarios/import/change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/system/file.h"

typedef struct Changing {
    Arena *arena;
    Problems *problems;
    const char *path, *text;
    const ImportSoftware *software;
    bool is_shell;
} Changing;

bool change_is_none(const char *value) {
    return strcmp(value, "none") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0 ||
           strcmp(value, "1") == 0;
}

static bool is_name_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

static const char *line_at(const char *text, int line) {
    for (; line > 1 && text; line--) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    return text;
}

// The text with `length` letters at `at` replaced.
static void put(Changing *c, const char *at, size_t length, const char *other) {
    c->text = arena_printf(c->arena, "%.*s%s%s", (int)(at - c->text), c->text, other, at + length);
}

// The name within a line, whole; of a path ("parallelism.tensor_parallel_degree") the last component will do.
static const char *find_name(const char *line, const char *name, size_t *length) {
    const char *end = line + strcspn(line, "\n");
    for (;;) {
        *length = strlen(name);
        for (const char *at = line; at + *length <= end; at++)
            if (strncmp(at, name, *length) == 0 && (at == line || !is_name_letter(at[-1])) &&
                !is_name_letter(at[*length]))
                return at;
        if (!strchr(name, '.')) return NULL;
        name = strchr(name, '.') + 1;
    }
}

static int line_of(const Json *item) {
    const Json *line = json_get(item, "line");
    return line && line->kind == JSON_NUMBER ? (int)line->number : 0;
}

static const char *text_of(const Json *item, const char *key) {
    const Json *value = json_get(item, key);
    return value && value->kind == JSON_TEXT ? value->text : "";
}

static bool refuse(Changing *c, int line, const char *name, const char *why) {
    problem_add(c->problems, (Where){c->path, line}, "%s cannot be changed: %s", name, why);
    problem_hint(c->problems, "change it by hand");
    return false;
}

// "VAR=4", "A=1 VAR=${VAR:-4}; B=2", "export VAR=4": where such an assignment has the value in it, once in the file.
static bool change_variable(Changing *c, const char *variable, size_t length, const char *old, const char *new,
                            int line) {
    const char *found = NULL;
    int count = 0;
    for (const char *at = c->text; (at = strstr(at, arena_printf(c->arena, "%.*s=", (int)length, variable)));
         at += length) {
        if (at > c->text && !strchr(" \t\n;", at[-1])) continue;
        const char *value = at + length + 1, *end = value + strcspn(value, " \t\n;#");
        for (const char *v = value; v + strlen(old) <= end; v++) {
            bool begins = v == value || strchr("\"'-:=", v[-1]), ends = strchr("\"'}; \t\n#", v[strlen(old)]) != NULL;
            if (begins && ends && strncmp(v, old, strlen(old)) == 0) found = v, count++;
        }
    }
    const char *name = arena_printf(c->arena, "$%.*s", (int)length, variable);
    if (count != 1)
        return refuse(c, line, name,
                      count ? "its value stands in several places" : "its value is computed, or set elsewhere");
    put(c, found, strlen(old), new);
    return true;
}

// What stands behind the name, up to where the value ends.
static bool change_value(Changing *c, const Json *item, const char *new) {
    const char *name = text_of(item, "name"), *old = text_of(item, "value"), *line = line_at(c->text, line_of(item));
    size_t length;
    const char *at = line ? find_name(line, name, &length) : NULL;
    if (!at) return refuse(c, line_of(item), name, "it is not found as it stands");
    const char *value = at + length;
    value += strspn(value, " \t=:\"'");
    if (strncmp(value, old, strlen(old)) == 0 && !is_name_letter(value[strlen(old)])) {
        put(c, value, strlen(old), new);
        return true;
    }
    if (*value != '$') return refuse(c, line_of(item), name, "its value does not stand behind it");
    const char *variable = value + 1 + (value[1] == '{');
    size_t letters = strspn(variable, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const char *fallback = variable + letters;
    if (value[1] == '{' && strncmp(fallback, ":-", 2) == 0 && strncmp(fallback + 2, old, strlen(old)) == 0) {
        put(c, fallback + 2, strlen(old), new);
        return true;
    }
    if (letters == 0 || value[1] == '(') return refuse(c, line_of(item), name, "its value is computed");
    return change_variable(c, variable, letters, old, new, line_of(item));
}

static bool remove_option(Changing *c, const Json *item) {
    const char *name = text_of(item, "name"), *old = text_of(item, "value"), *line = line_at(c->text, line_of(item));
    size_t length;
    const char *at = line ? find_name(line, name, &length) : NULL;
    if (!at || !c->is_shell) return refuse(c, line_of(item), name, "it would have to go");
    const char *end = at + length, *value = end + strspn(end, " =\"'");
    if (strncmp(value, old, strlen(old)) == 0 && strcmp(old, "true") != 0) {
        end = value + strlen(old);
        end += *end == '"' || *end == '\'';
    } else if (*value == '$') {
        end = value + strcspn(value, " \n)");
    }
    end += strspn(end, " ");
    const char *begin = at;
    while (begin > line && (begin[-1] == ' ' || begin[-1] == '\t')) begin--;
    if (begin == line && *end == '\n') at = line, end++; // nothing else stands there
    put(c, at, (size_t)(end - at), "");
    return true;
}

// Behind the first option that is taken of the training.
static bool add_option(Changing *c, const Json *taken, const ImportWord *word) {
    ImportSpelling spelling = import_spell(c->arena, c->software->tables[0], word->option, word->value, "");
    if (!spelling.name) return true; // it may follow from the rest: the file is read again
    for (int i = 0; c->is_shell && taken && i < taken->count; i++) {
        const Json *item = &taken->items[i];
        const char *name = text_of(item, "name"), *line = line_at(c->text, line_of(item));
        size_t length;
        if (strncmp(name, "--", 2) != 0 || !import_option(c->software, name) ||
            strcmp(text_of(item, "file"), c->path) != 0)
            continue;
        const char *at = line ? find_name(line, name, &length) : NULL;
        if (!at) continue;
        char *option = arena_printf(c->arena, "--%s", spelling.name);
        for (char *o = option + 2; *o && strchr(name + 2, '-'); o++)
            if (*o == '_') *o = '-';
        bool flag = strcmp(spelling.value, "true") == 0;
        bool whole = strcmp(spelling.name, "recompute_granularity") == 0 && strcmp(spelling.value, "full") == 0;
        put(c, at, 0,
            arena_printf(c->arena, "%s%s%s%s ", option, flag ? "" : " ", flag ? "" : spelling.value,
                         whole ? " --recompute-method uniform --recompute-num-layers 1"
                               : "")); // Megatron asks for both
        return true;
    }
    problem_add(c->problems, (Where){c->path, 0}, "it does not say %s", spelling.name);
    problem_hint(c->problems, "add %s with the value %s by hand", spelling.name, spelling.value);
    return false;
}

static bool change(Changing *c, const Json *taken, const ImportWord *word) {
    const Json *said = NULL; // the last counts
    for (int i = 0; taken && i < taken->count; i++)
        if (strcmp(text_of(&taken->items[i], "why"), word->option) == 0) said = &taken->items[i];
    if (said && strcmp(text_of(said, "file"), c->path) != 0)
        return refuse(c, 0, text_of(said, "name"),
                      arena_printf(c->arena, "%s:%d says it", text_of(said, "file"), line_of(said)));
    const char *new = said ? import_say_as(c->arena, c->software, text_of(said, "name"), word->value) : NULL;
    bool flag = said && strcmp(text_of(said, "value"), "true") == 0;
    if (new &&flag && strcmp(new, "true") == 0) return true;
    if (new && !flag) return change_value(c, said, new);
    if (said && !remove_option(c, said)) return false;
    return change_is_none(word->value) || add_option(c, taken, word);
}

const char *change_text(Arena *arena, const char *path, const Json *imported, const ImportWord *words, int count,
                        Problems *problems) {
    size_t bytes = 0;
    const char *kind = text_of(imported, "kind"), *text = file_read(arena, path, LARGEST_FILE, &bytes, problems);
    const ImportSoftware *software = import_software_called(text_of(imported, "software"));
    Changing c = {arena, problems, path, text, software, strcmp(kind, "shell") == 0};
    if (!text || !c.software) return NULL;
    for (int i = 0; i < count; i++)
        if (!change(&c, json_get(imported, "taken"), &words[i])) return NULL;
    return c.text;
}
