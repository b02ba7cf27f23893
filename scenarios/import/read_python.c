// A launcher written in Python, as far as it is plain: names set to texts, numbers and lists, lists that grow by += and
// append or extend, str(), f"…", os.path.join, "…".split(). Nothing else of it is read, and nothing is run.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/list.h"

enum { MOST_NAMES = 400, MOST_WORDS = 2000, DEEPEST = 12 };

typedef struct Name {
    const char *name;
    ShellWords words;
    bool is_list;
} Name;

typedef struct Python {
    Reading *r;
    const char *at, *end;
    int line, depth, steps;
    Name names[MOST_NAMES];
    int count;
} Python;

static const char unknown[] = {NOT_KNOWN, '\0'};

static Name *name_of(Python *p, const char *begin, size_t length) {
    for (int i = 0; i < p->count; i++)
        if (strlen(p->names[i].name) == length && strncmp(p->names[i].name, begin, length) == 0) return &p->names[i];
    return NULL;
}

static void skip(Python *p) {
    while (p->at < p->end && (isspace((unsigned char)*p->at) || *p->at == '#' || *p->at == '\\')) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n') p->at++;
        else {
            if (*p->at == '\n') p->line++;
            p->at++;
        }
    }
}

static bool takes(Python *p, char sign) {
    skip(p);
    if (p->at >= p->end || *p->at != sign) return false;
    p->at++;
    return true;
}

static void add(Python *p, ShellWords *out, const char *text) {
    ShellWord word = {text, p->line};
    if (out->count < MOST_WORDS) LIST_PUSH(p->r->arena, out, word);
}

static void read_value(Python *p, ShellWords *out, bool *is_list);

// {NAME} within f"…".
static const char *formatted(Python *p, const char *text) {
    const char *out = "";
    while (*text && strlen(out) < 4000) {
        size_t plain = strcspn(text, "{");
        out = arena_printf(p->r->arena, "%s%.*s", out, (int)plain, text);
        text += plain;
        if (!*text) break;
        size_t length = strcspn(text + 1, "}:");
        Name *name = name_of(p, text + 1, length);
        out = arena_printf(p->r->arena, "%s%s", out,
                           name && name->words.count == 1 ? name->words.items[0].text : unknown);
        text += strcspn(text, "}");
        text += *text == '}';
    }
    return out;
}

static const char *read_text(Python *p, bool format) {
    char quote = *p->at, three[4] = {quote, quote, quote, 0};
    bool is_long = p->end - p->at >= 3 && strncmp(p->at, three, 3) == 0;
    p->at += is_long ? 3 : 1;
    const char *begin = p->at;
    while (p->at < p->end &&
           !(is_long ? p->end - p->at >= 3 && strncmp(p->at, three, 3) == 0 : *p->at == quote || *p->at == '\n')) {
        if (*p->at == '\n') p->line++;
        p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
    }
    const char *text = arena_printf(p->r->arena, "%.*s", (int)(p->at - begin > 100000 ? 100000 : p->at - begin), begin);
    p->at += is_long ? 3 : 1;
    if (p->at > p->end) p->at = p->end;
    return format ? formatted(p, text) : text;
}

static void read_list(Python *p, ShellWords *out, char close) {
    while (p->at < p->end && !takes(p, close)) {
        bool is_list = false;
        const char *before = p->at;
        read_value(p, out, &is_list);
        takes(p, ',');
        if (p->at == before) p->at++;
    }
}

static void read_split(Python *p, ShellWords *words) {
    if (words->count != 1) return;
    const char *text = words->items[0].text;
    words->count = 0;
    for (size_t length; *(text += strspn(text, " \t\n")); text += length) {
        length = strcspn(text, " \t\n");
        add(p, words, arena_printf(p->r->arena, "%.*s", (int)length, text));
    }
}

static void call(Python *p, const char *name, ShellWords *out, bool *is_list) {
    ShellWords given = {0};
    read_list(p, &given, ')');
    bool joins = strstr(name, "path.join");
    if ((strcmp(name, "str") == 0 || strcmp(name, "int") == 0 || strstr(name, "shlex.quote")) && given.count == 1) {
        add(p, out, given.items[0].text);
    } else if (joins && given.count) {
        const char *text = given.items[given.count - 1].text;
        add(p, out, text);
    } else if (strstr(name, "shlex.split") || strcmp(name, "list") == 0) {
        read_split(p, &given);
        for (int i = 0; i < given.count; i++) add(p, out, given.items[i].text);
        *is_list = true;
    } else if ((strstr(name, "environ.get") || strstr(name, "getenv")) && given.count == 2) {
        add(p, out, given.items[1].text);
    } else {
        add(p, out, unknown);
    }
}

static void read_atom(Python *p, ShellWords *out, bool *is_list) {
    skip(p);
    if (p->at >= p->end || ++p->depth > DEEPEST || ++p->steps > 100000) {
        p->depth -= p->depth > DEEPEST;
        p->at = p->at < p->end ? p->at + 1 : p->end;
        return;
    }
    char first = *p->at;
    bool format = (first == 'f' || first == 'r') && p->end - p->at > 1 && (p->at[1] == '"' || p->at[1] == '\'');
    if (format || first == '"' || first == '\'') {
        p->at += format;
        const char *text = read_text(p, format && first == 'f');
        for (skip(p); p->at < p->end && (*p->at == '"' || *p->at == '\''); skip(p))
            text = arena_printf(p->r->arena, "%s%s", text, read_text(p, false));
        add(p, out, text);
    } else if (first == '[' || first == '(') {
        p->at++;
        read_list(p, out, first == '[' ? ']' : ')');
        *is_list = first == '[' || *is_list;
    } else if (isdigit((unsigned char)first) || first == '-') {
        const char *begin = p->at++;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '.' || *p->at == '_')) p->at++;
        add(p, out, arena_printf(p->r->arena, "%.*s", (int)(p->at - begin), begin));
    } else if (isalpha((unsigned char)first) || first == '_' || first == '*') {
        while (p->at < p->end && *p->at == '*') p->at++;
        const char *begin = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')) p->at++;
        size_t length = (size_t)(p->at - begin);
        const char *word = arena_printf(p->r->arena, "%.*s", (int)(length > 200 ? 200 : length), begin);
        Name *name = name_of(p, begin, length);
        if (p->at < p->end && *p->at == '(') {
            p->at++;
            call(p, word, out, is_list);
        } else if (name) {
            for (int i = 0; i < name->words.count; i++) add(p, out, name->words.items[i].text);
            *is_list |= name->is_list;
        } else {
            add(p, out, unknown);
        }
    } else {
        p->at++;
    }
    p->depth--;
}

static void apply(Python *p, char sign, ShellWords *a, const ShellWords *b, bool is_list) {
    char *end_a, *end_b;
    if (is_list && sign == '+') {
        for (int i = 0; i < b->count; i++) add(p, a, b->items[i].text);
        return;
    }
    if (a->count != 1 || b->count != 1) return;
    double x = strtod(a->items[0].text, &end_a), y = strtod(b->items[0].text, &end_b);
    if (*end_a || *end_b)
        a->items[0].text =
            sign == '+' ? arena_printf(p->r->arena, "%.50000s%.50000s", a->items[0].text, b->items[0].text) : unknown;
    else
        a->items[0].text = arena_printf(p->r->arena, "%.10g",
                                        sign == '+'             ? x + y
                                        : sign == '*'           ? x * y
                                        : sign == '/' && y != 0 ? x / y
                                                                : x - y);
}

static void read_value(Python *p, ShellWords *out, bool *is_list) {
    ShellWords own = {0};
    bool list = false;
    read_atom(p, &own, &list);
    for (;;) {
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->end - p->at > 7 && strncmp(p->at, ".split(", 7) == 0) {
            while (p->at < p->end && *p->at != ')') p->at++;
            takes(p, ')');
            read_split(p, &own);
            list = true;
            continue;
        }
        if (p->at >= p->end || !strchr("+*/-", *p->at) || (p->end - p->at > 1 && p->at[1] == '=')) break;
        char sign = *p->at++;
        if (sign == '/' && p->at < p->end && *p->at == '/') p->at++;
        ShellWords next = {0};
        bool next_list = false;
        read_atom(p, &next, &next_list);
        apply(p, sign, &own, &next, list || next_list);
        list |= next_list;
    }
    for (int i = 0; i < own.count; i++) add(p, out, own.items[i].text);
    *is_list |= list;
}

static void assign(Python *p, const char *name, size_t length, const ShellWords *words, bool is_list, bool adds) {
    Name *there = name_of(p, name, length);
    if (!there && p->count < MOST_NAMES) {
        there = &p->names[p->count++];
        there->name = arena_printf(p->r->arena, "%.*s", (int)length, name);
        there->words = (ShellWords){0};
    }
    if (!there) return;
    if (!adds) there->words = (ShellWords){0};
    for (int i = 0; i < words->count; i++)
        if (there->words.count < MOST_WORDS) LIST_PUSH(p->r->arena, &there->words, words->items[i]);
    there->is_list = is_list || (adds && there->is_list);
}

// NAME = …, A, B = …, NAME += …, NAME.append(…), NAME.extend(…) at the beginning of a line.
static void read_statement(Python *p) {
    const char *names[8];
    size_t lengths[8];
    int count = 0;
    while (count < 8) {
        names[count] = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
        lengths[count] = (size_t)(p->at - names[count]);
        if (!lengths[count++]) return;
        while (p->at < p->end && *p->at == ' ') p->at++;
        if (p->at >= p->end || *p->at != ',') break;
        p->at++;
        while (p->at < p->end && *p->at == ' ') p->at++;
    }
    bool adds = p->end - p->at > 1 && p->at[0] == '+' && p->at[1] == '=', method = false;
    static const char *const methods[] = {".append(", ".extend("};
    for (int i = 0; i < 2; i++)
        if (p->end - p->at > 8 && strncmp(p->at, methods[i], 8) == 0) method = true;
    if (!adds && !method && !(p->end - p->at > 1 && p->at[0] == '=' && p->at[1] != '=')) return;
    p->at += method ? 8 : adds ? 2 : 1;
    for (int i = 0; i < count; i++) {
        ShellWords words = {0};
        bool is_list = false;
        read_value(p, &words, &is_list);
        assign(p, names[i], lengths[i], &words, is_list, adds || method);
        if (i + 1 < count && !takes(p, ',')) break;
    }
}

void read_python(Reading *r, const char *file, const char *text, size_t bytes) {
    Python *p = ARENA_NEW(r->arena, Python);
    *p = (Python){.r = r, .at = text, .end = text + bytes, .line = 1};
    while (p->at < p->end && p->steps < 100000) {
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->at < p->end && (isalpha((unsigned char)*p->at) || *p->at == '_')) read_statement(p);
        if (p->at < p->end && (*p->at == '"' || *p->at == '\'')) read_text(p, false);
        const char *line = p->at < p->end ? memchr(p->at, '\n', (size_t)(p->end - p->at)) : NULL;
        if (!line) break;
        p->at = line + 1;
        p->line++;
    }
    for (int i = 0; i < p->count; i++)
        if (p->names[i].is_list && p->names[i].words.count > 2)
            launch_words(r, &p->names[i].words, (Where){file, p->names[i].words.items[0].line});
}
