#include "scenarios/import/said.h"

#include <ctype.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/text.h"

bool said_add(Arena *arena, SaidList *list, const char *name, const char *value, Where where, SaidBy by) {
    if (list->count >= MOST_SAID) return false;
    Said said = {name, value ? value : "true", where, by};
    LIST_PUSH(arena, list, said);
    return true;
}

// ---- Names.

static char plain_letter(char letter) { return letter == '-' ? '_' : (char)tolower((unsigned char)letter); }

static const char *without_dashes(const char *name) {
    const char *bare = name + strspn(name, "-+~");
    return *bare ? bare : name;
}

static bool same_letters(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length != b_length) return false;
    for (size_t i = 0; i < a_length; i++)
        if (plain_letter(a[i]) != plain_letter(b[i])) return false;
    return true;
}

bool same_word(const char *a, const char *b) {
    a = without_dashes(a), b = without_dashes(b);
    return same_letters(a, strlen(a), b, strlen(b));
}

static bool ends_path(const char *spelling, size_t length, const char *name) {
    size_t whole = strlen(name);
    if (whole < length) return false;
    const char *tail = name + whole - length;
    return (tail == name || tail[-1] == '.') && same_letters(spelling, length, tail, length);
}

static bool stands_above(const char *spelling, size_t length, const char *name) {
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (strlen(at) > length && at[length] == '.' && same_letters(spelling, length, at, length)) return true;
    return ends_path(spelling, length, name);
}

size_t spelling_length(const char *spelling, const char *name) {
    size_t most = 0;
    name = without_dashes(name);
    while (*spelling) {
        size_t length = strcspn(spelling, "|"), meant = 0;
        bool above = length > 2 && spelling[length - 1] == '*' && spelling[length - 2] == '.';
        bool begins = !above && length > 2 && spelling[length - 1] == '*';
        if (above && stands_above(spelling, length - 2, name)) meant = 1;
        if (begins && strlen(name) >= length && same_letters(spelling, length - 1, name, length - 1)) meant = 1;
        if (!above && ends_path(spelling, length, name)) meant = length + 1;
        if (meant > most) most = meant;
        spelling += length + (spelling[length] == '|');
    }
    return most;
}

bool spelling_means(const char *spelling, const char *name) { return spelling_length(spelling, name) > 0; }

static bool is_name_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

// The last of that name, dashes and case aside; or the last whose name ends in ".name". NULL: none.
// the name there is no part of another
static bool said_whole(const char *text, const char *at, size_t length) {
    return (at == text || !is_name_letter(at[-1])) && !is_name_letter(at[length]);
}

const char *said_in_line(const char *line, const char *name, size_t *length) {
    const char *end = line + strcspn(line, "\n");
    for (;; name = strchr(name, '.') + 1) {
        *length = strlen(name);
        for (const char *at = line; at + *length <= end; at++)
            if (strncmp(at, name, *length) == 0 && said_whole(line, at, *length)) return at;
        if (!strchr(name, '.')) return NULL;
    }
}

const Said *said_find(const SaidList *list, const char *name) {
    for (int i = list->count - 1; i >= 0; i--)
        if (spelling_means(name, list->items[i].name)) return &list->items[i];
    return NULL;
}

bool one_of(const char *word, const char *list) {
    size_t length = strlen(word);
    for (const char *at = list; length && (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

bool same_one_of(const char *word, const char *list) {
    word = without_dashes(word);
    for (size_t length; *list; list += length + (list[length] != '\0')) {
        length = strcspn(list, " ");
        if (same_letters(word, strlen(word), list, length)) return true;
    }
    return false;
}

const char *said_value(const SaidList *list, const char *name) {
    const Said *said = said_find(list, name);
    return said ? said->value : NULL;
}

bool is_known(const char *text) { return !strchr(text, NOT_KNOWN); }

bool says_yes(const char *text) { return same_one_of(text, "true yes on 1 y"); }

// ---- Trees.

const Json *tree_get(const Json *object, const char *key) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (int i = object->count - 1; i >= 0; i--)
        if (object->items[i].key && strcmp(object->items[i].key, key) == 0) return &object->items[i];
    return NULL;
}

const Json *tree_at(const Json *tree, const char *path) {
    char key[80];
    while (tree && *path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof key) return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        tree = tree_get(tree, key);
        path += length + (path[length] == '.');
    }
    return tree;
}

static bool is_plain(const Json *value) { return value->kind != JSON_LIST && value->kind != JSON_OBJECT; }

bool tree_is_list_of_plain(const Json *value) {
    if (!value || value->kind != JSON_LIST) return false;
    for (int i = 0; i < value->count; i++)
        if (!is_plain(&value->items[i])) return false;
    return true;
}

const char *tree_text(Arena *arena, const Json *value) {
    if (!value || !is_plain(value)) return NULL;
    if (value->text) return value->text;
    if (value->kind == JSON_NULL) return "null";
    if (value->kind == JSON_BOOL) return value->boolean ? "true" : "false";
    return text_exact(arena, value->number);
}

enum { DEEPEST = 24, LONGEST_LIST = 64 };

static const char *joined(Arena *arena, const Json *list) {
    const char *text = "";
    for (int i = 0; i < list->count && i < LONGEST_LIST; i++)
        text = arena_printf(arena, "%s%s%.200s", text, i ? "," : "", tree_text(arena, &list->items[i]));
    return text;
}

typedef struct Walk {
    Arena *arena;
    SaidList *list;
    SaidBy by;
    int visited; // aliases of aliases are few nodes and endless walks
} Walk;

static bool add_tree(Walk *walk, const Json *tree, const char *name, int depth) {
    if (++walk->visited > 4 * MOST_SAID) return false;
    bool list = tree_is_list_of_plain(tree);
    if (list || is_plain(tree)) {
        const char *value = list ? joined(walk->arena, tree) : tree_text(walk->arena, tree);
        return said_add(walk->arena, walk->list, name, value, tree->where, walk->by);
    }
    for (int i = 0; i < tree->count; i++) {
        const Json *item = &tree->items[i];
        const char *own = item->key && tree->kind == JSON_OBJECT ? item->key : arena_printf(walk->arena, "%d", i);
        const char *whole = *name ? arena_printf(walk->arena, "%s.%.120s", name, own) : own;
        if (depth == DEEPEST || !add_tree(walk, item, whole, depth + 1)) return false;
    }
    return true;
}

bool said_of_tree(Arena *arena, SaidList *list, const Json *tree, SaidBy by, Problems *problems) {
    Walk walk = {arena, list, by, 0};
    if (add_tree(&walk, tree, "", 0)) return true;
    problem_add(problems, tree->where,
                "this says more than %d things, or lies more than %d deep: no configuration does", MOST_SAID, DEEPEST);
    return problem_hint(problems, "aliases of aliases grow like this; leave out what the job does not need");
}

// ---- References to other settings.

enum { ROUNDS = 6, LONGEST = 4096 };
static const char unknown[] = {NOT_KNOWN, '\0'};

static const char *value_of(Arena *arena, const SaidList *list, const Said *said, const char *name) {
    const char *dot = strrchr(said->name, '.');
    if (*name == '.') name = dot ? arena_printf(arena, "%.*s%s", (int)(dot - said->name), said->name, name) : name + 1;
    for (int i = list->count - 1; i >= 0; i--)
        if (same_word(list->items[i].name, name)) return list->items[i].value;
    return NULL;
}

static bool resolve(Arena *arena, const SaidList *list, Said *said) {
    size_t letters = strlen(said->value);
    if (letters > 2 && said->value[0] == '<' && strcspn(said->value, ">") == letters - 1) {
        const char *other = value_of(arena, list, said, arena_printf(arena, "%.*s", (int)letters - 2, said->value + 1));
        if (other) said->value = other;
        return other && *other == '<';
    }
    const char *open = strstr(said->value, "${"), *close = open ? strchr(open, '}') : NULL;
    if (!close) return false;
    const char *name = arena_printf(arena, "%.*s", (int)(close - open - 2), open + 2);
    const char *value = value_of(arena, list, said, name);
    if (!value || value == said->value || strlen(value) + strlen(said->value) > LONGEST) value = unknown;
    said->value = arena_printf(arena, "%.*s%s%s", (int)(open - said->value), said->value, value, close + 1);
    return true;
}

void said_resolve(Arena *arena, SaidList *list) {
    for (int i = 0; i < list->count; i++)
        for (int round = 0; round < ROUNDS && resolve(arena, list, &list->items[i]);) round++;
}
