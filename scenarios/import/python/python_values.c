// Values of Python: how they are shown, filled into texts, compared and computed.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python/python.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

static const char unknown[] = {NOT_KNOWN, '\0'};

Value python_text(const char *text) { return (Value){.kind = IS_TEXT, .text = text}; }
Value python_number(double number) {
    return (Value){.kind = isfinite(number) ? IS_NUMBER : IS_NOT_KNOWN, .number = number};
}
Value python_bool(bool is) { return (Value){.kind = IS_BOOL, .number = is}; }

Value python_new(Python *p, ValueKind kind) { return (Value){.kind = kind, .fields = ARENA_NEW(p->r->arena, Fields)}; }

Value python_object(Python *p, const char *made_by, const char *path) {
    Value value = python_new(p, IS_OBJECT);
    value.fields->made_by = made_by, value.fields->path = path;
    return value;
}

// As a command line, a variable or a default says it.
Value python_said(Python *p, const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (!is_known(text)) return not_known;
    if (*text && !*end && isfinite(number)) return (Value){.kind = IS_NUMBER, .number = number, .text = text};
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) return python_bool(tolower(*text) == 't');
    if (strcmp(text, "None") == 0) return (Value){.kind = IS_NONE};
    return python_text(arena_copy_text(p->r->arena, text));
}

Field *python_field(const Fields *fields, const char *key) {
    for (int i = fields ? fields->count - 1 : -1; i >= 0; i--)
        if (fields->items[i].key && strcmp(fields->items[i].key, key) == 0) return &fields->items[i];
    return NULL;
}

Field *python_found(const Fields *fields, const char *key) {
    Field *found = NULL;
    for (int out = 0; fields && !found && out < 40; out++, fields = fields->outer) found = python_field(fields, key);
    return found;
}

void python_set(Python *p, Fields *fields, const char *key, Value value, int line) {
    Field *there = key ? python_field(fields, key) : NULL, new = {key, value, line};
    if (there)
        *there = new;
    else if (fields->count < MOST_ITEMS)
        LIST_PUSH(p->r->arena, fields, new);
}

int python_truth(const Value *value) {
    ValueKind kind = value->kind;
    if (kind == IS_BOOL || kind == IS_NUMBER) return value->number != 0;
    if (kind == IS_TEXT) return *value->text != NOT_KNOWN || value->text[1] ? *value->text != '\0' : -1;
    if (kind == IS_LIST || kind == IS_DICT) return value->fields->count > 0;
    return kind == IS_NONE ? 0 : kind == IS_FUNCTION || kind == IS_CLASS ? 1 : -1;
}

// ---- As text.

// Of "torch.bfloat16", "ShardingStrategy.FULL_SHARD".
static const char *shown_name(const char *path) {
    const char *dot = strrchr(path, '.'), *owner = dot;
    if (strcmp(path, "sys.executable") == 0) return "python";
    while (owner && owner > path && owner[-1] != '.') owner--;
    bool names = dot && (isupper((unsigned char)*owner) || strncmp(path, "torch.", 6) == 0 || strstr(dot, "float"));
    return names && (isupper((unsigned char)*owner) || owner == path || strstr(dot, "float")) ? dot + 1 : unknown;
}

const char *python_shown(Python *p, const Value *value) {
    ShellWords words = {0};
    const char *text = "";
    if (value->kind == IS_NONE) return "None";
    if (value->kind == IS_BOOL) return value->number != 0 ? "True" : "False";
    if (value->kind == IS_NUMBER) return value->text ? value->text : text_exact(p->r->arena, value->number);
    if (value->kind == IS_TEXT) return value->text;
    if (value->kind == IS_NAMED) return shown_name(value->text);
    if (value->kind != IS_LIST && value->kind != IS_DICT) return unknown;
    python_words(p, value, &words);
    for (int i = 0; i < words.count && i < 64; i++)
        text = arena_printf(p->r->arena, "%.2000s%s%.400s", text, i ? "," : "", words.items[i].text);
    return text;
}

static void add_words(Python *p, const Value *value, const char *above, int depth, ShellWords *out) {
    for (int i = 0; i < value->fields->count && out->count < MOST_ITEMS; i++) {
        const Field *field = &value->fields->items[i];
        const char *text = field->key;
        bool goes_on = field->value.kind == IS_DICT && field->value.fields->count && depth < 8;
        if (text) text = arena_printf(p->r->arena, "%.200s%.100s%s", above, text, goes_on ? "." : "=");
        if (goes_on) {
            add_words(p, &field->value, text ? text : "", depth + 1, out);
            continue;
        }
        const char *own = depth < 8 ? python_shown(p, &field->value) : unknown;
        ShellWord word = {text ? arena_printf(p->r->arena, "%s%.2000s", text, own) : own, field->line};
        LIST_PUSH(p->r->arena, out, word);
    }
}

void python_words(Python *p, const Value *value, ShellWords *out) {
    ShellWord word = {NULL, 0};
    if (p->within > 8) return; // a list that holds itself
    p->within++;
    if (value->kind == IS_LIST || value->kind == IS_DICT) {
        add_words(p, value, "", 0, out);
    } else {
        word.text = python_shown(p, value);
        LIST_PUSH(p->r->arena, out, word);
    }
    p->within--;
}

// By what stands behind a colon or a percent sign: "02d", ".3f".
static const char *by_format(Python *p, const Value *value, const char *how, size_t length) {
    char kind = length ? how[length - 1] : 's', *end;
    int wide = length ? (int)strtol(how + (*how == '.'), &end, 10) : 0;
    if (value->kind == IS_NUMBER && kind == 'd' && wide >= 0 && wide < 20)
        return arena_printf(p->r->arena, *how == '0' ? "%0*.0f" : "%*.0f", wide, value->number);
    if (value->kind == IS_NUMBER && kind == 'f' && *how == '.' && wide >= 0 && wide < 20)
        return arena_printf(p->r->arena, "%.*f", wide, value->number);
    return python_shown(p, value);
}

// Up to the brace that closes, or to what stands there of brackets' outside.
static size_t up_to(const char *text, const char *signs) {
    int depth = 0;
    size_t at = 0;
    for (; text[at] && (depth > 0 || !strchr(signs, text[at])); at++)
        depth += strchr("([{", text[at]) ? 1 : strchr(")]}", text[at]) ? -1 : 0;
    return at;
}

typedef Value Filled(Python *p, const void *by, const char *text, size_t length, int place);

// What stands in braces, by what it is filled with.
static Value fill(Python *p, const char *text, Filled *with, const void *by) {
    ShellText out = {0};
    Shell *shell = reading_shell(p->r);
    for (int place = 0; *text; place++) {
        size_t plain = strcspn(text, "{}");
        p->steps += 1 + (int)(plain / 64);
        shell_put(shell, &out, text, plain);
        text += plain;
        if (!*text) break;
        if (text[0] == text[1] || *text == '}') {
            shell_put(shell, &out, text, 1);
            text += text[0] == text[1] ? 2 : 1, place--;
            continue;
        }
        size_t whole = up_to(text + 1, "}"), name = up_to(text + 1, ":!}");
        const char *behind = text + 1 + name;
        if (name > 0 && text[name] == '=') name--;
        Value value = p->steps < MOST_STEPS ? with(p, by, text + 1, name, place) : not_known;
        const char *shown =
            by_format(p, &value, behind + 1, *behind == ':' ? whole - (size_t)(behind - text - 1) - 1 : 0);
        shell_put(shell, &out, shown, strlen(shown));
        text += 1 + whole;
        text += *text == '}';
    }
    const char *letters = shell_letters(&out);
    return letters ? python_text(letters) : not_known;
}

static Value computed(Python *p, const void *by, const char *text, size_t length, int place) {
    (void)by, (void)place;
    return python_value(p, python_parse_value(p->r->arena, text, length));
}

Value python_formatted(Python *p, const char *text) { return fill(p, text, computed, NULL); }

// A text, or that of a file that was opened; NULL: it is not known.
const char *python_contents(Python *p, const Value *value, int line) {
    const Field *file = value->kind == IS_OBJECT ? python_field(value->fields, "file path") : NULL;
    const char *path = file ? python_shown(p, &file->value) : NULL, *shown;
    size_t bytes = 0;
    if (value->kind == IS_TEXT) return value->text;
    return path && is_known(path) ? reading_near(p->r, path, (Where){p->file, line}, &bytes, &shown) : NULL;
}

// "$name ${name}" of string.Template, "{{ name }}" of Jinja. Names that nobody gives stay, as shells want them.
Value python_filled(Python *p, const char *text, const Call *call) {
    ShellText out = {0};
    Shell *shell = reading_shell(p->r);
    const Value *all = python_argument(call, 0, NULL);
    if (strstr(text, "{%")) return not_known;
    for (const char *next; *text && ++p->steps < MOST_STEPS; text = next) {
        bool jinja = text[0] == '{' && text[1] == '{', braced = jinja || (text[0] == '$' && text[1] == '{');
        const char *name = text + 1 + braced;
        if (jinja) name += strspn(name, " ");
        size_t length = 0;
        while (isalnum((unsigned char)name[length]) || name[length] == '_') length++;
        const char *end = name + length, *key = arena_printf(p->r->arena, "%.*s", (int)length, name);
        if (jinja) end += strspn(end, " ");
        const Value *value = python_argument(call, -1, key);
        const Field *field = all && all->kind == IS_DICT ? python_field(all->fields, key) : NULL;
        bool names = (jinja || *text == '$') && length > 0 && (!braced || *end == '}') && (value || field);
        const char *shown = names ? python_shown(p, value ? value : &field->value) : text;
        next = names ? end + braced + jinja : text + 1 + (text[0] == '$' && text[1] == '$');
        shell_put(shell, &out, shown, names ? strlen(shown) : 1);
    }
    return shell_letters(&out) ? python_text(shell_letters(&out)) : not_known;
}

// "{}", "{0}", "{name}", "{a.nodes}", "{a[nodes]}"
static Value argument_of(Python *p, const void *by, const char *text, size_t length, int place) {
    const char *whole = arena_printf(p->r->arena, "%.*s", (int)length, text), *at = whole + strcspn(whole, ".[");
    const char *key = arena_printf(p->r->arena, "%.*s", (int)(at - whole), whole);
    const Value *found = python_argument(by, isdigit((unsigned char)*key) ? atoi(key) : *key ? -1 : place, key);
    Value value = found ? *found : not_known;
    for (; *at; at += *at == ']') {
        size_t own = strcspn(++at, ".[]");
        value = python_attribute(p, &value, arena_printf(p->r->arena, "%.*s", (int)own, at), NULL);
        at += own;
    }
    return value;
}

Value python_format(Python *p, const char *text, const Call *call) { return fill(p, text, argument_of, call); }

// "%s-%d" % (a, b), "%(x)s" % {…}
static Value by_percents(Python *p, const char *text, const Value *with) {
    const char *out = "";
    for (int place = 0; *text && strlen(out) < LONGEST_TEXT && ++p->steps < MOST_STEPS;) {
        size_t plain = strcspn(text, "%");
        out = arena_printf(p->r->arena, "%s%.*s", out, (int)plain, text);
        text += plain;
        if (!*text) break;
        size_t name = text[1] == '(' ? strcspn(text, ")") : 0,
               how = 1 + name + strspn(text + 1 + name, "0123456789.-+ l");
        const Field *field =
            name ? python_field(with->fields, arena_printf(p->r->arena, "%.*s", (int)name - 2, text + 2))
            : with->kind == IS_LIST && place < with->fields->count ? &with->fields->items[place]
                                                                   : NULL;
        const Value *value = field ? &field->value : with->kind == IS_LIST || place > 0 ? &not_known : with;
        bool plainly = text[how] == '%';
        const char *shown = plainly ? "%" : by_format(p, value, text + 1 + name, how - name);
        out = arena_printf(p->r->arena, "%s%s", out, shown);
        place += !plainly;
        text += how + (text[how] != '\0');
    }
    return python_text(out);
}

// ---- Computed.

bool python_equal(const Value *a, const Value *b, bool *known) {
    ValueKind x = a->kind, y = b->kind;
    bool numbers = (x == IS_NUMBER || x == IS_BOOL) && (y == IS_NUMBER || y == IS_BOOL);
    bool texts = (x == IS_TEXT || x == IS_NAMED) && x == y;
    *known = x != IS_NOT_KNOWN && y != IS_NOT_KNOWN && (x != IS_NAMED || y <= IS_NONE || x == y) &&
             (y != IS_NAMED || x == y) && !(x == IS_OBJECT && (a->fields->made_by || a->fields->path)) &&
             !(y == IS_OBJECT && (b->fields->made_by || b->fields->path));
    if (texts) *known = is_known(a->text) && is_known(b->text);
    if ((x == IS_TEXT && y == IS_NUMBER) || (x == IS_NUMBER && y == IS_TEXT)) // the command line has no types
        return a->text && b->text && strcmp(a->text, b->text) == 0;
    if (numbers) return a->number == b->number;
    if (texts) return strcmp(a->text, b->text) == 0;
    return x == y && a->fields == b->fields;
}

static Value contains(Python *p, const Value *in, const Value *what) {
    const char *text = python_shown(p, what);
    bool known = is_known(text), is = false, sure = known;
    if (in->kind == IS_TEXT) return known && is_known(in->text) ? python_bool(strstr(in->text, text)) : not_known;
    if (in->kind == IS_OBJECT && in->fields->is_options) return python_bool(python_option(p, text));
    if ((in->kind != IS_LIST && in->kind != IS_DICT) || !known) return not_known;
    for (int i = 0; i < in->fields->count && !is; i++) {
        bool sure_here = true;
        is = in->kind == IS_DICT ? strcmp(in->fields->items[i].key, text) == 0
                                 : python_equal(&in->fields->items[i].value, what, &sure_here);
        sure = sure && sure_here;
    }
    return is || sure ? python_bool(is) : not_known;
}

void python_add_all(Python *p, Fields *to, const Value *from) {
    for (int i = 0; from->fields && i < from->fields->count && ++p->steps < MOST_STEPS; i++)
        python_set(p, to, from->fields->items[i].key, from->fields->items[i].value, from->fields->items[i].line);
}

static Value of_numbers(const char *sign, double a, double b) {
    bool divides = strchr("/%", *sign) != NULL;
    if (divides && b == 0) return not_known;
    if (strcmp(sign, "//") == 0) return python_number(floor(a / b));
    if (strcmp(sign, "**") == 0) return python_number(pow(a, b));
    switch (*sign) {
    case '+':
        return python_number(a + b);
    case '-':
        return python_number(a - b);
    case '*':
        return python_number(a * b);
    case '/':
        return python_number(a / b);
    case '%':
        return python_number(a - b * floor(a / b));
    case '<':
        return sign[1] == '<' ? python_number(ldexp(a, (int)fmin(b, 2000))) : python_bool(sign[1] ? a <= b : a < b);
    case '>':
        return sign[1] == '>' ? python_number(floor(ldexp(a, -(int)fmin(b, 2000))))
                              : python_bool(sign[1] ? a >= b : a > b);
    default:
        return not_known;
    }
}

Value python_compute(Python *p, const char *sign, Value a, Value b) {
    bool known = true, negates = strcmp(sign, "!=") == 0 || strcmp(sign, "is not") == 0 || strcmp(sign, "not in") == 0;
    if (strcmp(sign, "in") == 0 || strcmp(sign, "not in") == 0) {
        Value is = contains(p, &b, &a);
        return is.kind == IS_BOOL ? python_bool((is.number != 0) != negates) : is;
    }
    if (strcmp(sign, "==") == 0 || strncmp(sign, "is", 2) == 0 || negates) {
        bool is = python_equal(&a, &b, &known) && (*sign != 'i' || a.kind == b.kind); // 1 == True, but is not
        return known ? python_bool(is != negates) : not_known;
    }
    bool numbers = (a.kind == IS_NUMBER || a.kind == IS_BOOL) && (b.kind == IS_NUMBER || b.kind == IS_BOOL);
    if (numbers) return of_numbers(sign, a.number, b.number);
    if (a.kind == IS_TEXT && *sign == '%') return by_percents(p, a.text, &b);
    if (a.kind == IS_LIST && *sign == '+') {
        Value sum = python_new(p, IS_LIST);
        python_add_all(p, sum.fields, &a);
        if (b.kind == IS_LIST)
            python_add_all(p, sum.fields, &b);
        else
            python_set(p, sum.fields, NULL, not_known, 0);
        return sum;
    }
    if (a.kind == IS_DICT && *sign == '|') {
        Value both = python_new(p, IS_DICT);
        python_add_all(p, both.fields, &a);
        if (b.kind == IS_DICT) python_add_all(p, both.fields, &b);
        return both;
    }
    if (a.kind == IS_LIST && *sign == '*' && b.kind == IS_NUMBER) {
        Value many = python_new(p, IS_LIST);
        for (int i = 0; i < b.number && i < MOST_ITEMS && many.fields->count < MOST_ITEMS; i++)
            python_add_all(p, many.fields, &a);
        return many;
    }
    bool joins = (*sign == '+' || strcmp(sign, "/") == 0) && (a.kind == IS_TEXT || b.kind == IS_TEXT); // a path by "/"
    if (!joins) return not_known;
    return python_text(arena_printf(p->r->arena, "%.50000s%s%.50000s", python_shown(p, &a), *sign == '/' ? "/" : "",
                                    python_shown(p, &b)));
}
