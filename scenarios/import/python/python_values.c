// Values of Python: how they are shown, compared and computed, and what the language's own functions and methods give.
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

static void add_all(Python *p, Fields *to, const Value *from) {
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
        add_all(p, sum.fields, &a);
        if (b.kind == IS_LIST)
            add_all(p, sum.fields, &b);
        else
            python_set(p, sum.fields, NULL, not_known, 0);
        return sum;
    }
    if (a.kind == IS_DICT && *sign == '|') {
        Value both = python_new(p, IS_DICT);
        add_all(p, both.fields, &a);
        if (b.kind == IS_DICT) add_all(p, both.fields, &b);
        return both;
    }
    if (a.kind == IS_LIST && *sign == '*' && b.kind == IS_NUMBER) {
        Value many = python_new(p, IS_LIST);
        for (int i = 0; i < b.number && i < MOST_ITEMS && many.fields->count < MOST_ITEMS; i++)
            add_all(p, many.fields, &a);
        return many;
    }
    bool joins = (*sign == '+' || strcmp(sign, "/") == 0) && (a.kind == IS_TEXT || b.kind == IS_TEXT); // a path by "/"
    if (!joins) return not_known;
    return python_text(arena_printf(p->r->arena, "%.50000s%s%.50000s", python_shown(p, &a), *sign == '/' ? "/" : "",
                                    python_shown(p, &b)));
}

// ---- The language's own functions: of what they are given and, as methods, of what they are called on.

static const Value *first(const Call *call) {
    const Value *value = python_argument(call, 0, NULL);
    return value ? value : &not_known;
}

static const Value *second(const Call *call) { return python_argument(call, 1, "default"); }

static Value same(Python *p, const Call *call) { return (void)p, *first(call); }
static Value itself(Python *p, const Call *call) { return (void)p, *call->on; }
static Value true_here(Python *p, const Call *call) { return (void)p, (void)call, python_bool(true); }
static Value to_text(Python *p, const Call *call) { return python_text(python_shown(p, first(call))); }

static Value to_number(Python *p, const Call *call) {
    const Value *value = first(call);
    Value number = value->kind == IS_TEXT ? python_said(p, value->text) : *value;
    bool whole = strcmp(call->name, "int") == 0;
    if (number.kind != IS_NUMBER && number.kind != IS_BOOL) return not_known;
    return whole && number.number != floor(number.number) ? python_number(trunc(number.number))
           : number.text                                  ? number
                                                          : python_number(number.number);
}

static Value to_bool(Python *p, const Call *call) {
    int truth = python_truth(first(call));
    return (void)p, truth < 0 ? not_known : python_bool(truth);
}

static Value length(Python *p, const Call *call) {
    const Value *value = first(call);
    (void)p;
    if (value->kind == IS_TEXT && is_known(value->text)) return python_number((double)strlen(value->text));
    return value->kind == IS_LIST || value->kind == IS_DICT ? python_number(value->fields->count) : not_known;
}

// max(a, b), min([…]), sum(…), math.prod(…)
static Value reduced(Python *p, const Call *call) {
    const Fields *of = call->given.count == 1 && first(call)->kind == IS_LIST ? first(call)->fields : &call->given;
    const char *name = strrchr(call->name, '.') ? strrchr(call->name, '.') + 1 : call->name;
    double out = *name == 'p' ? 1 : 0;
    (void)p;
    for (int i = 0; i < of->count; i++) {
        const Value *value = &of->items[i].value;
        if (value->kind != IS_NUMBER && value->kind != IS_BOOL) return not_known;
        double x = value->number;
        if (i == 0 && *name == 'm') out = x;
        out = *name == 's' ? out + x : *name == 'p' ? out * x : name[1] == 'a' ? fmax(out, x) : fmin(out, x);
    }
    return of->count ? python_number(out) : not_known;
}

static Value rounded(Python *p, const Call *call) {
    const Value *value = first(call);
    double x = value->number;
    const char *name = strrchr(call->name, '.') ? strrchr(call->name, '.') + 1 : call->name;
    (void)p;
    if (value->kind != IS_NUMBER) return not_known;
    return python_number(strcmp(name, "ceil") == 0    ? ceil(x)
                         : strcmp(name, "floor") == 0 ? floor(x)
                         : strcmp(name, "abs") == 0   ? fabs(x)
                         : strcmp(name, "sqrt") == 0  ? sqrt(x)
                         : strcmp(name, "log2") == 0  ? log2(x)
                                                      : rint(x));
}

// list(…), dict(…), a.copy(), a | …: new ones with the same items.
static Value copied(Python *p, const Call *call) {
    const Value *of = call->on && call->on->fields ? call->on : first(call);
    bool is_dict = strcmp(call->name, "dict") == 0 || (of->kind == IS_DICT && call->on);
    if (of->fields && of->kind == IS_OBJECT && !is_dict) return *of;
    if (!of->fields && call->given.count && !is_dict) return not_known;
    Value new = python_new(p, is_dict ? IS_DICT : IS_LIST);
    for (int i = 0; of->fields && i < of->fields->count; i++) {
        const Field *field = &of->fields->items[i];
        bool keys = !is_dict && field->key;
        bool pair = is_dict && !field->key && field->value.kind == IS_LIST && field->value.fields->count == 2;
        if (pair)
            python_set(p, new.fields, python_shown(p, &field->value.fields->items[0].value),
                       field->value.fields->items[1].value, field->line);
        else
            python_set(p, new.fields, keys ? NULL : field->key, keys ? python_text(field->key) : field->value,
                       field->line);
    }
    for (int i = 0; is_dict && i < call->given.count; i++)
        if (call->given.items[i].key)
            python_set(p, new.fields, call->given.items[i].key, call->given.items[i].value, call->given.items[i].line);
    return new;
}

// isinstance(x, list), isinstance(x, (int, str))
static Value is_of(Python *p, const Call *call) {
    static const char *const names[] = {
        [IS_BOOL] = "bool", [IS_NUMBER] = "int float", [IS_TEXT] = "str", [IS_LIST] = "list tuple", [IS_DICT] = "dict"};
    const Value *of = first(call), *kinds = python_argument(call, 1, NULL);
    (void)p;
    if (of->kind < IS_BOOL || of->kind > IS_DICT || !kinds) return not_known;
    Fields one = {.items = &(Field){NULL, *kinds, 0}, .count = 1};
    const Fields *all = kinds->kind == IS_LIST ? kinds->fields : &one;
    bool is = false;
    for (int i = 0; i < all->count; i++)
        is = is || (all->items[i].value.kind == IS_NAMED && strstr(names[of->kind], all->items[i].value.text));
    return python_bool(is);
}

static Value range(Python *p, const Call *call) {
    const Value *a = first(call), *b = python_argument(call, 1, NULL), *c = python_argument(call, 2, NULL);
    double begin = b ? a->number : 0, end = b ? b->number : a->number, step = c ? c->number : 1;
    if (a->kind != IS_NUMBER || (b && b->kind != IS_NUMBER) || (c && c->kind != IS_NUMBER) || step == 0 ||
        fabs((end - begin) / step) > 256)
        return not_known;
    Value out = python_new(p, IS_LIST);
    for (double x = begin; step > 0 ? x < end : x > end; x += step)
        python_set(p, out.fields, NULL, python_number(x), 0);
    return out;
}

// zip(a, b), enumerate(a), d.items(): pairs.
static Value pairs(Python *p, const Call *call) {
    const Value *a = call->on && call->on->kind == IS_DICT ? call->on : first(call),
                *b = python_argument(call, 1, NULL);
    bool items = call->on && call->on->kind == IS_DICT, counts = strcmp(call->name, "enumerate") == 0;
    bool holds = a->kind == IS_LIST || a->kind == IS_DICT;
    if (!holds || (!items && !counts && !(b && b->kind == IS_LIST))) return not_known;
    Value out = python_new(p, IS_LIST);
    for (int i = 0; i < a->fields->count && (items || counts || i < b->fields->count); i++) {
        Value pair = python_new(p, IS_LIST), own = a->fields->items[i].value;
        python_set(p, pair.fields, NULL,
                   items    ? python_text(a->fields->items[i].key)
                   : counts ? python_number(i)
                            : own,
                   0);
        python_set(p, pair.fields, NULL, items || counts ? own : b->fields->items[i].value, 0);
        python_set(p, out.fields, NULL, pair, a->fields->items[i].line);
    }
    return out;
}

static Value keys(Python *p, const Call *call) {
    Value out = python_new(p, IS_LIST);
    bool of_keys = strstr(call->name, "keys");
    for (int i = 0; i < call->on->fields->count; i++)
        python_set(p, out.fields, NULL,
                   of_keys ? python_text(call->on->fields->items[i].key) : call->on->fields->items[i].value, 0);
    return out;
}

static Value joined_path(Python *p, const Call *call) {
    const char *path = "";
    for (int i = 0; i < call->given.count; i++) {
        const char *own = python_shown(p, &call->given.items[i].value);
        path = *own == '/' || !*path ? own : arena_printf(p->r->arena, "%.1000s/%.1000s", path, own);
    }
    return python_text(path);
}

Value python_path_part(Python *p, const char *path, bool folder) {
    const char *slash = strrchr(path, '/');
    if (!folder) return python_text(slash ? slash + 1 : path);
    return python_text(slash ? arena_printf(p->r->arena, "%.*s", (int)(slash - path), path) : ".");
}

static Value base_name(Python *p, const Call *call) {
    return python_path_part(p, python_shown(p, first(call)), strstr(call->name, "dirname"));
}

// Of pairs their first.
static int in_order(const void *a, const void *b) {
    const Value *x = &((const Field *)a)->value, *y = &((const Field *)b)->value;
    if (x->kind == IS_LIST && x->fields->count) x = &x->fields->items[0].value;
    if (y->kind == IS_LIST && y->fields->count) y = &y->fields->items[0].value;
    if (x->kind == IS_TEXT && y->kind == IS_TEXT) return strcmp(x->text, y->text);
    return (x->number > y->number) - (x->number < y->number);
}

// sorted(a), by itself and upwards
static Value sorted(Python *p, const Call *call) {
    Value out = call->given.count == 1 ? copied(p, call) : not_known;
    if (!is_known(python_shown(p, &out))) return not_known;
    if (out.kind == IS_LIST && out.fields->count)
        qsort(out.fields->items, (size_t)out.fields->count, sizeof *out.fields->items, in_order);
    return out;
}

// "a b".split(), shlex.split("a b")
static Value split(Python *p, const Call *call) {
    bool method = call->on && call->on->kind == IS_TEXT;
    const Value *of = method ? call->on : first(call), *by = method ? python_argument(call, 0, "sep") : NULL;
    const char *mark = by && by->kind == IS_TEXT && *by->text ? by->text : NULL;
    Value out = python_new(p, IS_LIST);
    if (of->kind != IS_TEXT) return not_known;
    for (const char *text = of->text; *text && ++p->steps < MOST_STEPS;) {
        if (!mark) text += strspn(text, " \t\r\n");
        if (!*text) break;
        char quote = !method && (*text == '"' || *text == '\'') ? *text : '\0';
        const char *close = quote ? strchr(text + 1, quote) : NULL,
                   *stop = mark ? strstr(text, mark) : text + strcspn(text, " \t\r\n");
        size_t length = close ? (size_t)(close - text - 1) : stop ? (size_t)(stop - text) : strlen(text);
        const char *word = arena_printf(p->r->arena, "%.*s", (int)length, text + (close != NULL));
        python_set(p, out.fields, NULL, python_text(word), call->line);
        text += length + 2 * (close != NULL);
        text += *text ? mark ? strlen(mark) : 1 : 0;
    }
    return out;
}

// " ".join(words), shlex.join(words)
static Value joined(Python *p, const Call *call) {
    const Value *of = first(call);
    const char *by = call->on && call->on->kind == IS_TEXT ? call->on->text : " ";
    ShellText out = {0};
    if (of->kind != IS_LIST) return not_known;
    for (int i = 0; i < of->fields->count; i++) {
        const char *own = python_shown(p, &of->fields->items[i].value);
        if (i) shell_put(reading_shell(p->r), &out, by, strlen(by));
        shell_put(reading_shell(p->r), &out, own, strlen(own));
    }
    const char *letters = of->fields->count ? shell_letters(&out) : "";
    return letters ? python_text(letters) : not_known;
}

static Value stripped(Python *p, const Call *call) {
    const char *text = call->on->text, *signs = first(call)->kind == IS_TEXT ? first(call)->text : " \t\r\n";
    size_t length = strlen(text);
    bool left = !strstr(call->name, "rstrip"), right = !strstr(call->name, "lstrip");
    if (left) length -= strspn(text, signs), text += strspn(text, signs);
    while (right && length > 0 && strchr(signs, text[length - 1])) length--;
    return python_text(arena_printf(p->r->arena, "%.*s", (int)length, text));
}

static Value cased(Python *p, const Call *call) {
    char *text = arena_copy_text(p->r->arena, call->on->text);
    bool lower = strstr(call->name, "lower");
    for (char *at = text; *at; at++) *at = (char)(lower ? tolower((unsigned char)*at) : toupper((unsigned char)*at));
    return python_text(text);
}

static Value replaced(Python *p, const Call *call) {
    const Value *from = first(call), *to = python_argument(call, 1, NULL);
    ShellText out = {0};
    if (from->kind != IS_TEXT || !*from->text || !to || to->kind != IS_TEXT) return not_known;
    for (const char *text = call->on->text;;) {
        const char *hit = strstr(text, from->text);
        size_t plain = hit ? (size_t)(hit - text) : strlen(text);
        shell_put(reading_shell(p->r), &out, text, plain);
        if (!hit || ++p->steps > MOST_STEPS) break;
        shell_put(reading_shell(p->r), &out, to->text, strlen(to->text));
        text = hit + strlen(from->text);
    }
    const char *letters = shell_letters(&out);
    return letters ? python_text(letters) : not_known;
}

static Value begins(Python *p, const Call *call) {
    const char *text = call->on->text, *with = first(call)->kind == IS_TEXT ? first(call)->text : NULL;
    size_t all = strlen(text), own = with ? strlen(with) : 0;
    (void)p;
    if (!with || !is_known(text) || !is_known(with)) return not_known;
    return python_bool(own <= all && strncmp(strstr(call->name, "ends") ? text + all - own : text, with, own) == 0);
}

static Value formatted(Python *p, const Call *call) {
    Call by = *call;
    if (strstr(call->name, "format_map") && first(call)->fields) by.given = *first(call)->fields;
    return fill(p, call->on->text, argument_of, &by);
}

static Value append(Python *p, const Call *call) {
    if (strstr(call->name, "append") || strstr(call->name, "insert"))
        python_set(p, call->on->fields, NULL,
                   call->given.count ? call->given.items[call->given.count - 1].value : not_known, call->line);
    else if (first(call)->fields)
        add_all(p, call->on->fields, first(call));
    return (Value){.kind = IS_NONE};
}

static Value updated(Python *p, const Call *call) {
    if (first(call)->kind == IS_DICT) add_all(p, call->on->fields, first(call));
    for (int i = 0; i < call->given.count; i++)
        if (call->given.items[i].key)
            python_set(p, call->on->fields, call->given.items[i].key, call->given.items[i].value, call->line);
    return (Value){.kind = IS_NONE};
}

// d.get("a", 1), getattr(a, "b", 1), d.setdefault("a", 1), d.pop("a")
static Value got(Python *p, const Call *call) {
    bool by_name = strcmp(call->name, "getattr") == 0;
    const Value *of = by_name ? first(call) : call->on, *key = by_name ? python_argument(call, 1, NULL) : first(call),
                *usual = python_argument(call, 1 + by_name, "default");
    Value none = {.kind = by_name ? IS_NOT_KNOWN : IS_NONE};
    if (key->kind != IS_TEXT || !is_known(key->text)) return not_known;
    const Field *field = of->fields ? python_found(of->fields, key->text) : NULL;
    if (field) return of->kind == IS_DICT ? python_taken(p, of->fields, field) : field->value;
    Value part = of->kind == IS_DICT ? not_known : python_attribute(p, of, key->text, NULL);
    if (part.kind != IS_NOT_KNOWN && part.kind != IS_OBJECT && (part.kind != IS_NAMED || by_name)) return part;
    if (of->kind == IS_DICT && strstr(call->name, "setdefault") && usual)
        python_set(p, of->fields, key->text, *usual, call->line);
    return usual ? *usual : of->kind == IS_DICT ? none : not_known;
}

static Value print(Python *p, const Call *call) {
    const Value *file = python_argument(call, -1, "file");
    const Field *path = file && file->kind == IS_OBJECT ? python_field(file->fields, "file path") : NULL;
    const char *text = "";
    if (!path && (file || !p->printed)) return (Value){.kind = IS_NONE};
    for (int i = 0; i < call->given.count; i++)
        if (!call->given.items[i].key)
            text = arena_printf(p->r->arena, "%s%s%s", text, i ? " " : "",
                                p->perhaps ? unknown : python_shown(p, &call->given.items[i].value));
    text = arena_printf(p->r->arena, "%s\n", text);
    if (path && is_known(python_shown(p, &path->value)))
        python_write(p, python_shown(p, &path->value), text, call->line);
    else if (!path && strlen(p->printed) < 4000)
        p->printed = arena_printf(p->r->arena, "%s%s", p->printed, text);
    return (Value){.kind = IS_NONE};
}

static Value set_by_name(Python *p, const Call *call) {
    const Value *of = first(call), *key = python_argument(call, 1, NULL), *value = python_argument(call, 2, NULL);
    if (key && value && key->kind == IS_TEXT && is_known(key->text))
        python_set_attribute(p, *of, key->text, *value, call->line);
    return (Value){.kind = IS_NONE};
}

static const char *of_environment(const Python *p, const char *name) {
    return p->r->shell ? shell_value(p->r->shell, name) : NULL;
}

// Of a machine as the scheduler or the environment has it.
static Value devices(Python *p, const Call *call) {
    const char *gpus = of_environment(p, "SLURM_GPUS_ON_NODE");
    double visible = visible_gpus(p->r);
    (void)call;
    return visible > 0 ? python_number(visible) : gpus && is_known(gpus) ? python_said(p, gpus) : not_known;
}

// torch.cuda.is_bf16_supported(): of whatever GPU unless an older one is named.
static Value has_bf16(Python *p, const Call *call) {
    static const char *const without[] = {"T4", "V100", "P100", "K80"};
    Where where;
    const char *gpu = p->r->machines.gpu ? p->r->machines.gpu : remarked_gpu(p->r, &where);
    bool is = true;
    (void)call;
    for (size_t i = 0; gpu && i < sizeof without / sizeof *without; i++) is = is && !strcasestr(gpu, without[i]);
    return python_bool(is);
}

// os.environ.get("N", 1), os.environ["N"]
static Value environment(Python *p, const Call *call) {
    const Value *name = first(call), *usual = second(call);
    const char *value = name->kind == IS_TEXT ? of_environment(p, name->text) : NULL;
    bool sets = strstr(call->name, "setdefault") && !value && usual && name->kind == IS_TEXT;
    if (sets) {
        Fields one = {0};
        python_set(p, &one, name->text, *usual, call->line);
        python_environment(p, &one);
    }
    if (value) return python_text(value);
    return usual ? *usual : not_known;
}

static Value environment_updated(Python *p, const Call *call) {
    if (first(call)->kind == IS_DICT) python_environment(p, first(call)->fields);
    python_environment(p, &call->given);
    return (Value){.kind = IS_NONE};
}

static Value environment_copied(Python *p, const Call *call) { return (void)call, python_new(p, IS_DICT); }

// field(default=…) of a dataclass
static Value field(Python *p, const Call *call) {
    const Value *usual = python_argument(call, -1, "default"), *made = python_argument(call, -1, "default_factory");
    if (usual) return *usual;
    if (made && made->kind == IS_FUNCTION) return python_run(p, made, &(Fields){0}, call->line);
    if (!made || made->kind != IS_CLASS) return not_known;
    Value out = python_object(p, NULL, made->fields->path);
    out.fields->outer = made->fields;
    return out;
}

static Value mark(Python *p, const Call *call) { return (void)call, python_object(p, NULL, NULL); }

static Value namespace(Python *p, const Call *call) {
    Value out = first(call)->kind == IS_DICT ? *first(call) : python_new(p, IS_DICT);
    for (int i = 0; i < call->given.count; i++)
        if (call->given.items[i].key)
            python_set(p, out.fields, call->given.items[i].key, call->given.items[i].value, call->line);
    return out;
}

Value python_of_tree(Python *p, const Json *tree, const char *path) {
    if (!tree || ++p->steps > MOST_STEPS) return not_known;
    if (tree->kind == JSON_NULL) return (Value){.kind = IS_NONE};
    if (tree->kind != JSON_LIST && tree->kind != JSON_OBJECT) return python_said(p, tree_text(p->r->arena, tree));
    Value out = python_new(p, tree->kind == JSON_OBJECT ? IS_DICT : IS_LIST);
    out.fields->path = path;
    for (int i = 0; i < tree->count; i++)
        python_set(
            p, out.fields, tree->kind == JSON_OBJECT ? tree->items[i].key : NULL,
            python_of_tree(p, &tree->items[i], python_below(p, path, tree->items[i].key ? tree->items[i].key : "")),
            tree->items[i].where.line);
    return out;
}

static void put_json(Python *p, ShellText *out, const Value *value, int depth) {
    Shell *shell = reading_shell(p->r);
    bool list = value->kind == IS_LIST, dict = value->kind == IS_DICT;
    const char *text = list || dict               ? list ? "[" : "{"
                       : value->kind == IS_NONE   ? "null"
                       : value->kind == IS_BOOL   ? value->number != 0 ? "true" : "false"
                       : value->kind == IS_NUMBER ? python_shown(p, value)
                                                  : arena_printf(p->r->arena, "\"%s\"", python_shown(p, value));
    shell_put(shell, out, text, strlen(text));
    if (!list && !dict) return;
    for (int i = 0; i < value->fields->count && depth < 12 && ++p->steps < MOST_STEPS; i++) {
        const char *key =
            arena_printf(p->r->arena, dict ? "%s\"%s\": " : "%s", i ? ", " : "", value->fields->items[i].key);
        shell_put(shell, out, key, strlen(key));
        put_json(p, out, &value->fields->items[i].value, depth + 1);
    }
    shell_put(shell, out, list ? "]" : "}", 1);
}

const char *python_json(Python *p, const Value *value) {
    ShellText out = {0};
    put_json(p, &out, value, 0);
    return shell_letters(&out) ? shell_letters(&out) : "";
}

// asdict(a), vars(a): what an instance has, and its class.
static Value fields_of(Python *p, const Call *call) {
    const Value *of = first(call);
    if (of->kind != IS_OBJECT || of->fields->is_options) return *of;
    Value out = python_new(p, IS_DICT);
    const Fields *chain[8];
    int count = 0;
    for (const Fields *one = of->fields; one && count < 8; one = one->outer) chain[count++] = one;
    while (count-- > 0)
        for (int i = 0; i < chain[count]->count; i++)
            if (chain[count]->items[i].value.kind != IS_FUNCTION)
                python_set(p, out.fields, chain[count]->items[i].key, chain[count]->items[i].value,
                           chain[count]->items[i].line);
    return out;
}

// textwrap.dedent(text)
static Value dedented(Python *p, const Call *call) {
    const char *text = first(call)->kind == IS_TEXT ? first(call)->text : NULL;
    size_t least = SIZE_MAX;
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t blanks = strspn(at, " \t");
        if (at[blanks] && at[blanks] != '\n' && blanks < least) least = blanks;
    }
    if (!text || least == SIZE_MAX) return *first(call);
    char *out = arena_copy_text(p->r->arena, text), *to = out;
    for (const char *at = text; *at;) {
        size_t blanks = strspn(at, " \t"), length = strcspn(at, "\n");
        size_t skip = blanks < least ? blanks : least;
        memmove(to, at + skip, length - skip);
        to += length - skip, at += length;
        if (*at) *to++ = *at++;
    }
    *to = '\0';
    return python_text(out);
}

typedef struct Known {
    const char *names; // whole ones, each between blanks; of methods without what stands before them
    Value (*give)(Python *p, const Call *call);
} Known;

// clang-format off
static const Known functions[] = {
    {" str shlex.quote ", to_text},
    {" int float ", to_number},
    {" bool ", to_bool},
    {" len ", length},
    {" max min sum math.prod ", reduced},
    {" math.ceil math.floor math.sqrt math.log2 abs round ", rounded},
    {" list tuple dict copy.copy ", copied},
    {" copy.deepcopy os.path.abspath os.path.realpath os.path.expanduser"
     " OmegaConf.to_container omegaconf.OmegaConf.to_container ", same},
    {" range ", range},
    {" sorted ", sorted},
    {" zip enumerate ", pairs},
    {" getattr ", got},
    {" print ", print},
    {" setattr ", set_by_name},
    {" isinstance ", is_of},
    {" vars dataclasses.asdict asdict ", fields_of},
    {" textwrap.dedent dedent ", dedented},
    {" torch.cuda.device_count ", devices},
    {" object ", mark},
    {" os.path.join Path pathlib.Path ", joined_path},
    {" os.path.basename os.path.dirname ", base_name},
    {" shlex.split ", split},
    {" shlex.join ", joined},
    {" os.environ.get os.getenv os.environ.setdefault ", environment},
    {" os.environ.update ", environment_updated},
    {" os.environ.copy ", environment_copied},
    {" field dataclasses.field Field pydantic.Field HfArg ", field},
    {" SimpleNamespace types.SimpleNamespace argparse.Namespace OmegaConf.create"
     " omegaconf.OmegaConf.create ml_collections.ConfigDict easydict.EasyDict EasyDict Box ", namespace},
    {" torch.cuda.is_available ", true_here},
    {" torch.cuda.is_bf16_supported is_bfloat16_supported is_torch_bf16_gpu_available unsloth.is_bfloat16_supported"
     " transformers.utils.is_torch_bf16_gpu_available ", has_bf16},
    {NULL, NULL}};
static const Known of_texts[] = {
    {" split ", split},
    {" join ", joined},
    {" strip lstrip rstrip ", stripped},
    {" lower upper ", cased},
    {" replace ", replaced},
    {" startswith endswith ", begins},
    {" format format_map ", formatted},
    {" as_posix resolve expanduser absolute encode decode ", itself},
    {NULL, NULL}};
static const Known of_lists[] = {
    {" append extend insert ", append},
    {" copy ", copied},
    {NULL, NULL}};
static const Known of_dicts[] = {
    {" get setdefault pop ", got},
    {" items ", pairs},
    {" keys values ", keys},
    {" update ", updated},
    {" copy ", copied},
    {NULL, NULL}};
static const Known of_objects[] = {
    {" get ", got},
    {NULL, NULL}};
// clang-format on

bool python_library(Python *p, const Call *call, Value *out) {
    static const Known *const tables[] = {[IS_TEXT] = of_texts,
                                          [IS_LIST] = of_lists,
                                          [IS_DICT] = of_dicts,
                                          [IS_OBJECT] = of_objects,
                                          [IS_NAMED] = functions};
    ValueKind kind = call->on ? call->on->kind : IS_NAMED;
    const char *dot = strrchr(call->name, '.'), *name = kind == IS_NAMED || !dot ? call->name : dot + 1;
    const char *word = arena_printf(p->r->arena, " %.80s ", name);
    bool of_file = kind == IS_OBJECT && python_field(call->on->fields, "file path"); // of the text that is in it
    for (const Known *row = of_file ? of_texts : kind <= IS_NAMED ? tables[kind] : NULL; row && row->names; row++) {
        if (!strstr(row->names, word)) continue;
        Value text = of_file ? python_text(python_contents(p, call->on, call->line)) : not_known;
        Call own = *call;
        if (of_file) own.on = &text;
        *out = of_file && !text.text ? not_known : row->give(p, &own);
        return true;
    }
    return false;
}
