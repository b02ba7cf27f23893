// TOML 1.0, as far as configurations go, in one pass: tables, arrays of tables, dotted and quoted keys, strings of all
// four kinds, numbers, truths, dates as texts, arrays, inline tables. What is said goes straight to the flat list.
#include <string.h>

#include "scenarios/import/said.h"

enum { DEEPEST = 16 };

typedef struct TomlReader {
    Arena *arena;
    SaidList *list;
    SaidBy by;
    Problems *problems;
    const char *name, *at, *end, *table;
    int line, tables;
} TomlReader;

static bool fail(TomlReader *r, const char *what, const char *hint) {
    problem_add(r->problems, (Where){r->name, r->line}, "this is no TOML: %s", what);
    return problem_hint(r->problems, "%s", hint);
}

static char here(const TomlReader *r) { return r->at < r->end ? *r->at : '\0'; }

static bool begins(const TomlReader *r, const char *word) {
    size_t length = strlen(word);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
}

static void skip_blanks(TomlReader *r) {
    while (here(r) == ' ' || here(r) == '\t' || here(r) == '\r') r->at++;
    if (here(r) == '#')
        while (r->at < r->end && *r->at != '\n') r->at++;
}

static void skip_lines(TomlReader *r) {
    for (skip_blanks(r); here(r) == '\n'; skip_blanks(r)) r->at++, r->line++;
}

// A string in one or three quotes; escapes of double ones that stand for a letter are that letter.
static bool read_string(TomlReader *r, const char **text) {
    char quote = here(r), three[4] = {quote, quote, quote, '\0'};
    bool is_long = begins(r, three);
    r->at += is_long ? 3 : 1;
    const char *begin = r->at;
    while (r->at < r->end && !(is_long ? begins(r, three) : *r->at == quote)) {
        if (*r->at == '\n' && !is_long) return fail(r, "a string does not end on its line", "close it with its quote");
        if (*r->at == '\n') r->line++;
        r->at += quote == '"' && *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    }
    if (r->at >= r->end) return fail(r, "a string has no end", "close it with its quote");
    char *out = arena_alloc(r->arena, (size_t)(r->at - begin) + 1), *to = out;
    for (const char *from = begin; from < r->at; from++) {
        if (quote == '"' && *from == '\\' && from + 1 < r->at) from++;
        *to++ = *from;
    }
    r->at += is_long ? 3 : 1;
    *text = out;
    return true;
}

static bool is_bare(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-';
}

// "a.b", "a".'b c': joined by dots behind `before`.
static bool read_key(TomlReader *r, const char *before, const char **key) {
    *key = before;
    for (int depth = 0; depth < DEEPEST; depth++) {
        const char *part = "";
        skip_blanks(r);
        if (here(r) == '"' || here(r) == '\'') {
            if (!read_string(r, &part)) return false;
        } else {
            const char *begin = r->at;
            while (is_bare(here(r))) r->at++;
            if (r->at == begin) return fail(r, "a key is missing", "write: name = value");
            part = arena_printf(r->arena, "%.*s", (int)(r->at - begin), begin);
        }
        *key = **key ? arena_printf(r->arena, "%.400s.%.120s", *key, part) : part;
        skip_blanks(r);
        if (here(r) != '.') return true;
        r->at++;
    }
    return fail(r, "a key has too many parts", "16 at most");
}

static bool read_value(TomlReader *r, const char *key, int depth, const char **text);

// An array of plain values is one text; tables within it are said by themselves.
static bool read_array(TomlReader *r, const char *key, int depth, const char **text) {
    *text = "";
    r->at++;
    for (int i = 0;; i++) {
        const char *item = NULL;
        skip_lines(r);
        if (here(r) == ']') break;
        if (!read_value(r, arena_printf(r->arena, "%.400s.%d", key, i), depth + 1, &item)) return false;
        if (item && strlen(*text) < 1000) *text = arena_printf(r->arena, "%s%s%.200s", *text, i ? "," : "", item);
        skip_lines(r);
        if (here(r) == ',')
            r->at++;
        else if (here(r) != ']')
            return fail(r, "an array has no end", "close it with ]");
    }
    r->at++;
    return true;
}

static bool read_pair(TomlReader *r, const char *before, int depth);

static bool read_inline_table(TomlReader *r, const char *key, int depth) {
    r->at++;
    for (skip_lines(r); here(r) != '}'; skip_lines(r)) {
        if (!read_pair(r, key, depth + 1)) return false;
        skip_lines(r);
        if (here(r) == ',')
            r->at++;
        else if (here(r) != '}')
            return fail(r, "a table in braces has no end", "close it with }");
    }
    r->at++;
    return true;
}

// NULL in *text: a table, whose members are said.
static bool read_value(TomlReader *r, const char *key, int depth, const char **text) {
    *text = NULL;
    if (depth > DEEPEST) return fail(r, "values lie too deep within each other", "16 deep at most");
    skip_blanks(r);
    if (here(r) == '"' || here(r) == '\'') return read_string(r, text);
    if (here(r) == '[') return read_array(r, key, depth, text);
    if (here(r) == '{') return read_inline_table(r, key, depth);
    const char *begin = r->at;
    while (r->at < r->end && !strchr(",]}#\n\r", *r->at)) r->at++;
    const char *last = r->at;
    while (last > begin && (last[-1] == ' ' || last[-1] == '\t')) last--;
    if (last == begin) return fail(r, "a value is missing", "write: name = value");
    char *out = arena_alloc(r->arena, (size_t)(last - begin) + 1), *to = out;
    bool number = *begin == '+' || *begin == '-' || (*begin >= '0' && *begin <= '9');
    for (const char *from = begin; from < last; from++)
        if (!number || *from != '_') *to++ = *from;
    *text = out;
    return true;
}

static bool read_pair(TomlReader *r, const char *before, int depth) {
    const char *key, *text;
    int line = r->line;
    if (!read_key(r, before, &key)) return false;
    if (here(r) != '=') return fail(r, "a key has no value", "write: name = value");
    r->at++;
    if (!read_value(r, key, depth, &text)) return false;
    if (!text || said_add(r->arena, r->list, key, text, (Where){r->name, line}, r->by)) return true;
    return fail(r, "it says too much", "no configuration says so much");
}

static bool read_header(TomlReader *r) {
    bool is_list = begins(r, "[[");
    r->at += is_list ? 2 : 1;
    if (!read_key(r, "", &r->table)) return false;
    if (!begins(r, is_list ? "]]" : "]")) return fail(r, "the head of a table has no end", "close it with ]");
    r->at += is_list ? 2 : 1;
    if (is_list) r->table = arena_printf(r->arena, "%s.%d", r->table, r->tables++);
    return true;
}

bool toml_read(Arena *arena, SaidList *list, const char *name, const char *text, size_t bytes, SaidBy by,
               Problems *problems) {
    TomlReader r = {arena, list, by, problems, name, text, text + bytes, "", 1, 0};
    for (skip_lines(&r); r.at < r.end; skip_lines(&r)) {
        bool sound = here(&r) == '[' ? read_header(&r) : read_pair(&r, r.table, 0);
        if (!sound) return false;
        skip_blanks(&r);
        if (r.at < r.end && here(&r) != '\n') return fail(&r, "something stands behind a value", "one to a line");
    }
    return true;
}
