// Where an option stands, what stands behind it, and another value in its place: a literal, or where a variable stands
// there the literal that is assigned to it. Options that only go with another come and go with it.

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

typedef struct Changing {
    Arena *arena;
    Problems *problems;
    const char *path, *text;
    const Json *imported;
    const ImportSoftware *software;
    bool is_shell; // it holds commands
    struct {
        struct MovedLines {
            int behind, by;
        } * items;
        int count, room;
    } moved; // lines of the file, by what was changed before
} Changing;

bool change_is_none(const char *value) {
    return !*value || strcmp(value, "none") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0 ||
           strcmp(value, "1") == 0;
}

static bool is_name_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

// ---- What the file was found to say.

static int line_of(const Json *item) {
    const Json *line = json_get(item, "line");
    return line && line->kind == JSON_NUMBER ? (int)line->number : 0;
}

static const char *text_of(const Json *item, const char *key) {
    const Json *value = json_get(item, key);
    return value && value->kind == JSON_TEXT ? value->text : "";
}

static bool is_here(const Changing *c, const Json *item) { return strcmp(text_of(item, "file"), c->path) == 0; }

static bool is_flag(const Json *item) { return strcmp(text_of(item, "value"), "true") == 0; }

// The option that says it; the last counts. NULL: none does.
static const Json *said_as(const Json *imported, const char *key) {
    const Json *taken = json_get(imported, "taken"), *said = NULL;
    for (int i = 0; taken && i < taken->count; i++)
        if (strcmp(text_of(&taken->items[i], "why"), key) == 0) said = &taken->items[i];
    return said;
}

static double number_as(const Json *imported, const char *key, double fallback) {
    const Json *words = json_get(imported, "words");
    for (int i = 0; words && i + 1 < words->count; i += 2)
        if (strcmp(words->items[i].text, key) == 0) return atof(words->items[i + 1].text);
    return fallback;
}

static const ImportWord *word_as(const ImportWord *words, int count, const char *option) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i].option, option) == 0) return &words[i];
    return NULL;
}

// ---- The text.

static int lines_in(const char *at, const char *end) {
    int lines = 0;
    for (; at < end; at++) lines += *at == '\n';
    return lines;
}

// The text with `length` letters at `at` replaced.
static void put(Changing *c, const char *at, size_t length, const char *other) {
    int by = lines_in(other, other + strlen(other)) - lines_in(at, at + length);
    struct MovedLines moved = {1 + lines_in(c->text, at), by};
    if (by) LIST_PUSH(c->arena, &c->moved, moved);
    c->text = arena_printf(c->arena, "%.*s%s%s", (int)(at - c->text), c->text, other, at + length);
}

static const char *line_with(const Changing *c, const Json *item) {
    int line = line_of(item);
    const char *at = c->text;
    for (int i = 0; i < c->moved.count; i++)
        if (line > c->moved.items[i].behind) line += c->moved.items[i].by;
    if (line <= 0) return NULL;
    for (; line > 1 && at; line--) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    return at;
}

// "nodes" was "-N 8" or "-N8", too.
static const char *find_letter(const char *line, const char *name, size_t *length) {
    static const char *const letters[][2] = {
        {"nodes", "-N"}, {"ntasks", "-n"}, {"gpus", "-G"}, {"mpi_ranks", "-np"}, {"mpi_ranks", "-n"}};
    const char *end = line + strcspn(line, "\n");
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        *length = strlen(letters[i][1]);
        for (const char *at = line; strcmp(letters[i][0], name) == 0 && at + *length < end; at++)
            if (strncmp(at, letters[i][1], *length) == 0 && (at == line || isblank((unsigned char)at[-1])) &&
                strchr(" =0123456789$", at[*length]))
                return at;
    }
    return NULL;
}

static const char *find_option(const Changing *c, const Json *item, size_t *length) {
    const char *name = text_of(item, "name"), *line = line_with(c, item);
    const char *at = line ? said_in_line(line, name, length) : NULL;
    return at || !line ? at : find_letter(line, name, length);
}

// Up to where the value of an option begins that ends at `at`, quotes and lines that go on aside.
static const char *behind(const Changing *c, const char *at) {
    for (;; at++) {
        if (c->is_shell && at[0] == '\\' && at[1] == '\n') at++;
        if (!*at || !strchr(c->is_shell ? " \t=:\"'\n" : " \t=:\"'", *at)) return at;
    }
}

// How many letters of the text are that value, whole; values of a list stand apart by commas or blanks.
static size_t length_of(const char *text, const char *value) {
    const char *at = text;
    for (; *value; value++) {
        if (*value == ',' && isblank((unsigned char)*at))
            at += strspn(at, " \t");
        else if (*at++ != *value)
            return 0;
    }
    return is_name_letter(*at) || *at == '.' ? 0 : (size_t)(at - text);
}

// ---- Another value.

typedef enum Found { CHANGED, NOT_THERE, COMPUTED, SEVERAL } Found;

static Found change_at(Changing *c, const char *at, const char *old, const char *new, int depth);

static bool is_in_comment(const Changing *c, const char *at) {
    while (at > c->text && at[-1] != '\n') at--;
    return at[strspn(at, " \t")] == '#';
}

// "VAR=4", "A=1 VAR=${VAR:-4}; B=2", "export VAR=4": where such an assignment has the value in it, once in the file; or
// the only one has another variable.
static Found change_variable(Changing *c, const char *variable, size_t length, const char *old, const char *new,
                             int depth) {
    const char *found = NULL, *value = NULL, *name = arena_printf(c->arena, "%.*s=", (int)length, variable);
    int count = 0, assigned = 0;
    bool done = false;
    for (const char *at = c->text; (at = strstr(at, name)); at += length) {
        if ((at > c->text && !strchr(" \t\n;", at[-1])) || is_in_comment(c, at)) continue;
        value = at + length + 1, assigned++;
        const char *end = value + strcspn(value, " \t\n;#");
        for (const char *v = value; v < end; v++) {
            if (v != value && !strchr("\"'-:=", v[-1])) continue;
            size_t letters = length_of(v, old), others = length_of(v, new);
            if (letters && strchr("\"'}; \t\n#", v[letters])) found = v, count++;
            if (others && strchr("\"'}; \t\n#", v[others])) done = true;
        }
    }
    if (count > 1) return SEVERAL;
    if (count == 1) put(c, found, length_of(found, old), new);
    if (count == 1 || done) return CHANGED;
    value = assigned == 1 ? value + strspn(value, "\"'") : NULL;
    return value && *value == '$' && depth < 4 ? change_at(c, value, old, new, depth + 1) : COMPUTED;
}

// The value that begins there, `old` as it was read.
static Found change_at(Changing *c, const char *at, const char *old, const char *new, int depth) {
    size_t length = length_of(at, old);
    if (length) put(c, at, length, new);
    if (length || length_of(at, new)) return CHANGED;
    if (*at != '$') return NOT_THERE;
    bool braces = at[1] == '{';
    const char *variable = at + 1 + braces;
    size_t letters = strspn(variable, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const char *stop = variable + letters;
    if (braces && strncmp(stop, ":-", 2) == 0 && length_of(stop + 2, old)) {
        put(c, stop + 2, length_of(stop + 2, old), new);
        return CHANGED;
    }
    if (letters == 0 || (braces && *stop != '}' && strncmp(stop, ":-", 2) != 0)) return COMPUTED;
    return change_variable(c, variable, letters, old, new, depth);
}

static bool refuse(Changing *c, const Json *item, const char *name, const char *why) {
    problem_add(c->problems, (Where){c->path, item ? line_of(item) : 0}, "%s cannot be changed: %s", name, why);
    return problem_hint(c->problems, "change it by hand");
}

// What stands behind the name.
static Found change_behind(Changing *c, const Json *item, const char *new) {
    size_t length;
    const char *at = find_option(c, item, &length);
    return at ? change_at(c, behind(c, at + length), text_of(item, "value"), new, 0) : NOT_THERE;
}

static bool change_value(Changing *c, const Json *item, const char *new) {
    size_t length;
    const char *at = find_option(c, item, &length), *name = text_of(item, "name");
    if (!at) return refuse(c, item, name, "it is not found as it stands");
    const char *value = behind(c, at + length);
    if (*value == '$' && value[1] != '(')
        name = arena_printf(c->arena, "%.*s", (int)(strcspn(value, " \t\n\"':}") + (value[1] == '{')), value);
    switch (change_behind(c, item, new)) {
    case CHANGED:
        return true;
    case NOT_THERE:
        return refuse(c, item, text_of(item, "name"), "its value does not stand behind it");
    case SEVERAL:
        return refuse(c, item, name, "its value stands in several places");
    case COMPUTED:
        break;
    }
    return refuse(c, item, name, "its value is computed, or set elsewhere");
}

// ---- Options that come and go.

// A pair alone on its line: "key: value" of YAML, "key = value" of TOML.
static bool remove_line(Changing *c, const Json *item) {
    const char *name = text_of(item, "name"), *dot = strrchr(name, '.'), *line = line_with(c, item);
    const char *key = dot ? dot + 1 : name, *at = line ? line + strspn(line, " ") : "";
    size_t length = strlen(key);
    if (strncmp(at, key, length) != 0 || !strchr(":= ", at[length]))
        return refuse(c, item, name, "it would have to go");
    size_t whole = strcspn(line, "\n");
    put(c, line, whole + (line[whole] == '\n'), "");
    return true;
}

// Behind the value, with the quote that closes it; NULL: it does not stand there.
static const char *value_end(const Changing *c, const Json *item, const char *end) {
    const char *value = behind(c, end);
    bool quoted = strchr("\"'", value[-1]) != NULL;
    size_t length = length_of(value, text_of(item, "value"));
    if (!length && is_flag(item)) return end;
    if (!length && *value == '$') length = strcspn(value, " \t\n\"')");
    return length ? value + length + (quoted && value[length] == value[-1]) : NULL;
}

// "--name" alone between quotes, or with its value "--name=4": with these.
static bool is_between_quotes(const Changing *c, const char *at, const char *end) {
    return at > c->text && strchr("\"'", at[-1]) && *end == at[-1];
}

// Where nothing else stands on its line, the line goes too, and what held it to the line before.
static bool remove_option(Changing *c, const Json *item) {
    size_t length;
    if (!c->is_shell) return remove_line(c, item);
    const char *at = find_option(c, item, &length), *end = at ? value_end(c, item, at + length) : NULL;
    if (!at) return refuse(c, item, text_of(item, "name"), "it would have to go");
    if (!end) return refuse(c, item, text_of(item, "name"), "its value does not stand behind it");
    bool alone = is_between_quotes(c, at, at + length), whole = !alone && is_between_quotes(c, at, end);
    at -= alone || whole;
    end += whole || (alone && end == at + 1 + length);
    bool closes = strchr("\"'", *end) != NULL; // a text of several
    end += strspn(end, " \t");
    const char *begin = at;
    while (begin > c->text && isblank((unsigned char)begin[-1])) begin--;
    bool first = begin > c->text && begin[-1] == '\n', goes_on = end[0] == '\\' && end[1] == '\n';
    bool held = first && begin - 1 > c->text && begin[-2] == '\\';
    if (first && goes_on) {
        at = begin, end += 2;
    } else if (first && *end == '\n' && held) {
        at = begin - 2;
        while (at > c->text && isblank((unsigned char)at[-1])) at--;
    } else if (first && *end == '\n') {
        at = begin, end++;
    } else if (closes || *end == '\n' || *end == ')') {
        at = begin; // no blanks before what ends it
    }
    put(c, at, (size_t)(end - at), "");
    return true;
}

// "a b" of arguments, where a configuration has "a,b".
static const char *listed(const Changing *c, const char *key, const char *value) {
    char *copy = arena_copy_text(c->arena, value);
    for (char *at = copy; strcmp(key, "recompute-modules") == 0 && *at; at++)
        if (*at == ',') *at = ' ';
    return copy;
}

// As the options of this file have it: dashes within, or lines below.
static bool has_dashes(const Changing *c) {
    const Json *taken = json_get(c->imported, "taken");
    bool lines = false;
    for (int i = 0; taken && i < taken->count; i++) {
        const char *name = text_of(&taken->items[i], "name");
        if (strncmp(name, "--", 2) != 0 || !import_option(c->software, name)) continue;
        if (strchr(name + 2, '-')) return true;
        lines = lines || strchr(name, '_');
    }
    return !lines;
}

// Before an option at `at`: on a line of its own where that one begins its line.
static void put_before(Changing *c, const char *at, const char *option) {
    const char *begin = at, *end = at + strcspn(at, "\n");
    while (begin > c->text && isblank((unsigned char)begin[-1])) begin--;
    bool first = begin > c->text && begin[-1] == '\n';
    bool held = end[-1] == '\\' || (first && begin - 1 > c->text && begin[-2] == '\\');
    put(c, at, 0,
        first ? arena_printf(c->arena, "%s%s\n%.*s", option, held ? " \\" : "", (int)(at - begin), begin)
              : arena_printf(c->arena, "%s ", option));
}

// Before the first option that is taken of the training.
static bool add_option(Changing *c, const ImportWord *word) {
    const Json *taken = json_get(c->imported, "taken");
    ImportSpelling spelling = import_spell(c->arena, c->software->tables[0], word->option, word->value, "");
    if (!spelling.name) return true; // it may follow from the rest: the file is read again
    for (int i = 0; c->is_shell && taken && i < taken->count; i++) {
        const Json *item = &taken->items[i];
        const char *name = text_of(item, "name");
        size_t length;
        const char *at = is_here(c, item) && import_option(c->software, name) ? find_option(c, item, &length) : NULL;
        bool pair = strchr(spelling.name, '.') != NULL; // "section.name=value"
        if (!at || (pair ? *name == '-' || at[length] != '=' : strncmp(name, "--", 2) != 0)) continue;
        char *option = arena_printf(c->arena, pair ? "%s=%s" : "--%s", spelling.name, spelling.value);
        for (char *o = option; !pair && has_dashes(c) && *o; o++)
            if (*o == '_') *o = '-';
        bool flag = pair || strcmp(spelling.value, "true") == 0;
        bool quoted = is_between_quotes(c, at, at + length) && at > c->text + 1 && at[-2] != '='; // of an array
        put_before(c, at - quoted,
                   flag ? option : arena_printf(c->arena, "%s %s", option, listed(c, word->option, spelling.value)));
        return true;
    }
    problem_add(c->problems, (Where){c->path, 0}, "it does not say %s", spelling.name);
    return problem_hint(c->problems, "add %s with the value %s by hand", spelling.name, spelling.value);
}

// ---- What goes with what.

// Options that are only said where another has one of these values (NULL: any that is not none), between blanks; and
// what is then asked for, by software that has it. Megatron refuses to start otherwise.
typedef struct Companion {
    const char *option, *values, *with, *asked;
} Companion;
static const Companion companions[] = {
    {"recompute", " full ", "recompute_method", "uniform"},
    {"recompute", " full ", "recompute-num-layers", "1"},
    {"recompute", " selective ", "recompute-modules", NULL},
    {"fp8", NULL, "fp8-recipe", NULL},
    {"zero", " 1 2 3 ", "overlap-param-gather", NULL},
    {"overlap-grad-reduce", NULL, "overlap-param-gather", NULL},
    {"tp", NULL, "sequence-parallel", NULL},
    {"tp", NULL, "tp-comm-overlap", NULL},
    {"sequence-parallel", NULL, "tp-comm-overlap", NULL},
    {"pp", NULL, "vpp", NULL},
    {"pp", NULL, "layers_per_virtual_stage", NULL},
    {"cp", NULL, "cp-exchange", NULL},
};
enum { COMPANIONS = sizeof companions / sizeof *companions };

static bool holds(const Companion *companion, const char *value) {
    char word[64];
    snprintf(word, sizeof word, " %.40s ", value);
    return companion->values ? strstr(companion->values, word) != NULL : !change_is_none(value);
}

bool change_goes_with(const char *option, const ImportWord *words, int count) {
    for (int k = 0; k < COMPANIONS; k++) {
        const ImportWord *word = word_as(words, count, companions[k].option);
        bool precision = strcmp(companions[k].option, "fp8") == 0 && word_as(words, count, "precision");
        if (strcmp(companions[k].with, option) == 0 && (precision || (word && !holds(&companions[k], word->value))))
            return true;
    }
    return false;
}

// The next option of the file, in whatever list, that its software takes for that word; from *at on.
static const Json *next_as(const Changing *c, const char *key, int *at) {
    static const char *const lists[] = {"taken", "without_effect", "not_understood"};
    int before = 0;
    for (int l = 0; l < 3; l++) {
        const Json *list = json_get(c->imported, lists[l]);
        for (int i = *at > before ? *at - before : 0; list && i < list->count; i++) {
            const ImportOption *row = import_option(c->software, text_of(&list->items[i], "name"));
            if (!row || row->effect != TAKEN || strcmp(row->to, key) != 0 || !is_here(c, &list->items[i])) continue;
            *at = before + i + 1;
            return &list->items[i];
        }
        before += list ? list->count : 0;
    }
    return NULL;
}

static bool change_companions(Changing *c, const ImportWord *word, const ImportWord *words, int count) {
    for (int k = 0; k < COMPANIONS; k++) {
        const Companion *companion = &companions[k];
        if (strcmp(companion->option, word->option) != 0 || word_as(words, count, companion->with)) continue;
        int at = 0;
        bool goes = !holds(companion, word->value);
        const Json *item = next_as(c, companion->with, &at);
        for (; item && goes; item = next_as(c, companion->with, &at))
            if (!remove_option(c, item)) return false;
        ImportWord asked = {companion->with, companion->asked};
        if (!goes && companion->asked && !item && !add_option(c, &asked)) return false;
    }
    return true;
}

// ---- Words.

static bool change(Changing *c, const ImportWord *word) {
    const Json *taken = json_get(c->imported, "taken"), *said = said_as(c->imported, word->option);
    if (said && !is_here(c, said))
        return refuse(c, NULL, text_of(said, "name"),
                      arena_printf(c->arena, "%s:%d says it", text_of(said, "file"), line_of(said)));
    bool goes = !*word->value; // as its software has no value for that
    const char *new = said && !goes ? import_say_as(c->arena, c->software, text_of(said, "name"), word->value) : NULL;
    if (new &&is_flag(said) && strcmp(new, "true") == 0) return true;
    bool argument = said && *text_of(said, "name") == '-';
    if (new && !is_flag(said)) return change_value(c, said, argument ? listed(c, word->option, new) : new);
    for (int i = 0; said && i < taken->count; i++) {
        const Json *item = &taken->items[i];
        if (strcmp(text_of(item, "why"), word->option) == 0 && is_here(c, item) && !remove_option(c, item))
            return false;
    }
    return change_is_none(word->value) || add_option(c, word);
}

// Counts of machines and of all ranks, which grow with the GPUs; those of one machine stay.
static bool scales(const Json *item) {
    const char *why = text_of(item, "why"), *name = text_of(item, "name"), *dot = strrchr(name, '.');
    return one_of(why, "nodes gpus") ||
           (strcmp(why, "machines") == 0 &&
            same_one_of(dot ? dot + 1 : name,
                        "nodes nnodes num_nodes num_machines ntasks num_processes world_size gpus mpi_ranks"));
}

// The number that it then has, "h100:64" being one; NULL: none that is whole.
static const char *scaled(Arena *arena, const Json *item, double by) {
    const char *value = text_of(item, "value"), *colon = strrchr(value, ':');
    const char *digits = colon ? colon + 1 : value;
    double number = by * atof(digits);
    bool whole = number >= 1 && number == floor(number) && *digits && !digits[strspn(digits, "0123456789")];
    if (!whole || (colon && isdigit((unsigned char)*value))) return NULL; // "1:8", of an elastic job
    return arena_printf(arena, "%.*s%.0f", (int)(digits - value), value, number);
}

// Where they stand in plain sight; those that follow from others are looked at once the file is read again.
static bool change_gpus(Changing *c, const char *gpus) {
    double by = atof(gpus) / fmax(1, number_as(c->imported, "gpus", 1));
    const Json *taken = json_get(c->imported, "taken");
    for (int i = 0; taken && i < taken->count; i++) {
        const Json *item = &taken->items[i];
        if (!scales(item)) continue;
        const char *new = scaled(c->arena, item, by), *name = text_of(item, "name");
        if (!new)
            return refuse(c, item, name,
                          arena_printf(c->arena, "with %s GPUs in place of %.0f, %s becomes no whole number", gpus,
                                       number_as(c->imported, "gpus", 1), text_of(item, "value")));
        if (!is_here(c, item))
            return refuse(c, NULL, name, arena_printf(c->arena, "%s:%d says it", text_of(item, "file"), line_of(item)));
        if (change_behind(c, item, new) == SEVERAL) return refuse(c, item, name, "its value stands in several places");
    }
    return true;
}

const char *change_not_scaled(Arena *arena, const Json *before, const Json *after, double by) {
    const Json *old = json_get(before, "taken"), *now = json_get(after, "taken");
    for (int i = 0, k = 0; old && now && i < old->count; i++) {
        if (!scales(&old->items[i])) continue;
        while (k < now->count && !scales(&now->items[k])) k++;
        const char *name = text_of(&old->items[i], "name"), *wanted = scaled(arena, &old->items[i], by);
        const char *value = k < now->count ? text_of(&now->items[k], "value") : "nothing";
        if (!wanted || strcmp(value, wanted) != 0)
            return arena_printf(arena, "%s stays %s: its value is computed, or set elsewhere", name, value);
        k++;
    }
    return NULL;
}

typedef LIST_OF(ImportWord) Words;

// Megatron has 8 bits beside a precision, and layers of a virtual stage instead of their number.
static Words in_words_of(Changing *c, const ImportWord *words, int count) {
    Words list = {0};
    const Json *precision = said_as(c->imported, "precision"), *eight = said_as(c->imported, "fp8"),
               *layers = said_as(c->imported, "layers_per_virtual_stage");
    bool beside = import_takes(c->software, "fp8") &&
                  !(precision && import_say_as(c->arena, c->software, text_of(precision, "name"), "fp8"));
    double stages = 1;
    for (int i = 0; i < count; i++) {
        ImportWord word = words[i];
        bool of_stages = strcmp(word.option, "pp") == 0 || strcmp(word.option, "vpp") == 0;
        if (of_stages) stages *= number_as(c->imported, word.option, 1) / fmax(1, atof(word.value));
        if (layers && strcmp(word.option, "vpp") == 0) continue;
        if (strcmp(word.option, "precision") == 0 && beside) {
            bool wants = strcmp(word.value, "fp8") == 0;
            if (wants || eight) LIST_PUSH(c->arena, &list, ((ImportWord){"fp8", wants ? "true" : "false"}));
            if (wants && precision) continue;
            if (wants) word.value = "bf16";
        }
        LIST_PUSH(c->arena, &list, word);
    }
    const ImportWord *pp = word_as(words, count, "pp"), *vpp = word_as(words, count, "vpp");
    double each = layers ? atof(text_of(layers, "value")) * stages : 0;
    bool one = (pp && change_is_none(pp->value)) || (vpp && change_is_none(vpp->value));
    const char *value = one ? "" : arena_printf(c->arena, "%.10g", each);
    if (layers && (one || stages != 1)) LIST_PUSH(c->arena, &list, ((ImportWord){"layers_per_virtual_stage", value}));
    return list;
}

const char *change_text(Arena *arena, const char *path, const Json *imported, const ImportWord *words, int count,
                        Problems *problems) {
    size_t bytes = 0;
    const char *text = file_read(arena, path, LARGEST_FILE, &bytes, problems), *kind = text_of(imported, "kind");
    Changing c = {.arena = arena,
                  .problems = problems,
                  .path = path,
                  .text = text,
                  .imported = imported,
                  .software = import_software_called(text_of(imported, "software")),
                  .is_shell = strcmp(kind, "shell") == 0 || strcmp(kind, "manifest") == 0};
    if (!text || !c.software) return NULL;
    bool python =
        file_ends_in(path, ".py") || (strncmp(text, "#!", 2) == 0 && memmem(text, strcspn(text, "\n"), "python", 6));
    c.is_shell = c.is_shell && !python;
    Words own = in_words_of(&c, words, count);
    for (int i = 0; i < own.count; i++) {
        const ImportWord *word = &own.items[i];
        bool gpus = strcmp(word->option, "gpus") == 0;
        if (gpus ? !change_gpus(&c, word->value)
                 : !change(&c, word) || !change_companions(&c, word, own.items, own.count))
            return NULL;
    }
    return c.text;
}
