// The language's own functions, and of its libraries those that scripts compute with: of what they are given and, as
// methods, of what they are called on.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python/python.h"

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
    return python_format(p, call->on->text, &by);
}

static Value append(Python *p, const Call *call) {
    if (strstr(call->name, "append") || strstr(call->name, "insert"))
        python_set(p, call->on->fields, NULL,
                   call->given.count ? call->given.items[call->given.count - 1].value : not_known, call->line);
    else if (first(call)->fields)
        python_add_all(p, call->on->fields, first(call));
    return (Value){.kind = IS_NONE};
}

static Value updated(Python *p, const Call *call) {
    if (first(call)->kind == IS_DICT) python_add_all(p, call->on->fields, first(call));
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
                                python_shown(p, p->perhaps ? &not_known : &call->given.items[i].value));
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
