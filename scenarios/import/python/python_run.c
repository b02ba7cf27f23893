// The evaluator of Python: what names hold, which branch is taken, what functions of the text give. Of a condition
// whose truth is not known both branches are read, and what they disagree on is not known; a loop over what is known
// goes round as often, any other once.
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python/python.h"
#include "sim/base/list.h"

enum { DEEPEST = 200, MOST_ROUNDS = 256, MOST_MODULES = 24 };

static void run(Python *p, const Node *block);

// ---- Names and what is below them.

// The name of a call as it stands there: of an import its whole path, of a call's result ".method" without the dot.
static const char *dotted(Python *p, const Node *node) {
    if (node->kind == NODE_NAME) {
        const Field *field = python_found(p->scope, node->text);
        return field && field->value.kind == IS_NAMED ? field->value.text : node->text;
    }
    if (node->kind != NODE_ATTRIBUTE) return "";
    const char *above = dotted(p, node->left);
    return *above ? arena_printf(p->r->arena, "%.300s.%.100s", above, node->text) : node->text;
}

const char *python_below(Python *p, const char *path, const char *name) {
    return path && *path ? arena_printf(p->r->arena, "%.200s.%.100s", path, name) : name;
}

// Of a configuration that was loaded the program itself hands it on.
Value python_taken(Python *p, const Fields *of, const Field *field) {
    bool plain = field->value.kind != IS_DICT && field->value.kind != IS_LIST;
    if (plain)
        said_add(p->r->arena, &p->r->used, python_below(p, of->path, field->key), NULL, (Where){p->file, field->line},
                 BY_FILE);
    return field->value;
}

// args.x of the program's options, whoever passed them on.
static bool takes_option(Python *p, const Value *of, const char *name, const Node *at, Value *out) {
    static const char holders[] = " args opt opts FLAGS cfg config hparams flags params conf cli_args ";
    const char *root = at && at->left && at->left->kind == NODE_NAME ? at->left->text : "";
    bool holds = *root && strlen(root) < 20 && strstr(holders, arena_printf(p->r->arena, " %s ", root));
    bool options = of->kind == IS_OBJECT && of->fields->is_options;
    const Said *said = options || of->kind == IS_NOT_KNOWN || holds ? python_option(p, name) : NULL;
    if (!said && (holds || options) && p->arguments) said = said_find(p->arguments, name);
    for (int i = p->told.count - 1; i >= 0 && !said && holds; i--)
        if (same_word(p->told.items[i].name, name)) said = &p->told.items[i];
    if (said) *out = python_option_value(p, said);
    return said;
}

Value python_attribute(Python *p, const Value *of, const char *name, const Node *at) {
    bool has = of->kind == IS_OBJECT || of->kind == IS_CLASS || of->kind == IS_DICT;
    Field *field = has ? python_found(of->fields, name) : NULL;
    Value out = not_known;
    bool asks_fields = strcmp(name, "__dict__") == 0;
    if (asks_fields && of->kind == IS_OBJECT) return (Value){.kind = IS_DICT, .fields = of->fields};
    if (asks_fields) return *of;
    if (field) {
        Value value = field->value;
        bool method = value.kind == IS_FUNCTION && value.self && !value.owner &&
                      (of->kind == IS_OBJECT || value.how == PYTHON_OF_CLASS);
        if (method) value.owner = value.self, value.self = of->fields;
        if (method && value.how == PYTHON_PROPERTY) return python_run(p, &value, &(Fields){0}, field->line);
        bool settings = of->kind == IS_DICT || (of->kind != IS_NAMED && of->fields->path && !of->fields->made_by);
        bool of_class = settings && of->kind != IS_DICT && !of->fields->is_data &&
                        !(of->fields->outer && of->fields->outer->is_data);
        if (of_class && value.kind != IS_FUNCTION)
            python_tell(p, NULL, name, &value, field->line); // class CFG: batch = 8
        return settings ? python_taken(p, of->fields, field) : value;
    }
    if (takes_option(p, of, name, at, &out)) return out;
    if (of->kind == IS_NAMED && strcmp(of->text, "sys") == 0 && strcmp(name, "argv") == 0)
        return python_words_given(p, false);
    if (of->kind == IS_NAMED) return (Value){.kind = IS_NAMED, .text = python_below(p, of->text, name)};
    if (of->kind == IS_OBJECT && of->fields->file) return (Value){.kind = IS_NAMED, .text = name};
    if (of->kind == IS_TEXT && one_of(name, "parent name")) // of a path
        return python_path_part(p, of->text, strcmp(name, "parent") == 0);
    if (of->kind != IS_OBJECT && of->kind != IS_NOT_KNOWN) return not_known;
    out = python_object(
        p, NULL,
        of->kind == IS_OBJECT && !of->fields->path ? NULL : python_below(p, of->fields ? of->fields->path : "", name));
    if (of->kind == IS_OBJECT) python_set(p, of->fields, name, out, 0);
    return out;
}

static Value item_of(Python *p, const Value *of, const Value *key) {
    const char *text = python_shown(p, key);
    if (!is_known(text)) return not_known;
    if (of->kind == IS_NAMED && strcmp(of->text, "os.environ") == 0) {
        Call call = {.name = "os.environ"};
        Value out = not_known;
        python_set(p, &call.given, NULL, *key, 0);
        call.name = "os.environ.get";
        return python_library(p, &call, &out), out;
    }
    int place = key->kind == IS_NUMBER ? (int)key->number : 0;
    if (of->kind == IS_NAMED && key->kind == IS_TEXT)
        return (Value){.kind = IS_NAMED, .text = python_below(p, of->text, text)};
    if (of->kind == IS_LIST && key->kind == IS_NUMBER) {
        place += place < 0 ? of->fields->count : 0;
        return place >= 0 && place < of->fields->count ? of->fields->items[place].value : not_known;
    }
    if (of->kind == IS_DICT || of->kind == IS_OBJECT || of->kind == IS_CLASS) {
        const Field *field = python_field(of->fields, text);
        if (field) return of->kind == IS_DICT ? python_taken(p, of->fields, field) : field->value;
    }
    if (of->kind == IS_OBJECT && key->kind == IS_TEXT) return python_attribute(p, of, text, NULL);
    for (int i = p->told.count - 1; i >= 0 && of->kind == IS_NOT_KNOWN; i--) // of what some call is told
        if (same_word(p->told.items[i].name, text)) return python_said(p, p->told.items[i].value);
    return not_known;
}

static Value slice_of(Python *p, const Value *of, const Node *slice) {
    Value from = slice->left ? python_value(p, slice->left) : python_number(0),
          to = slice->right ? python_value(p, slice->right) : python_number(MOST_ITEMS);
    bool of_text = of->kind == IS_TEXT && is_known(of->text);
    if ((of->kind != IS_LIST && !of_text) || from.kind != IS_NUMBER || to.kind != IS_NUMBER) return not_known;
    int count = of_text ? (int)strlen(of->text) : of->fields->count,
        first = (int)from.number + (from.number < 0 ? count : 0), last = (int)to.number + (to.number < 0 ? count : 0);
    first = first < 0 ? 0 : first, last = last > count ? count : last;
    if (of_text)
        return python_text(arena_printf(p->r->arena, "%.*s", last > first ? last - first : 0,
                                        of->text + (first < count ? first : count)));
    Value out = python_new(p, IS_LIST);
    for (int i = first; i < last; i++)
        python_set(p, out.fields, NULL, of->fields->items[i].value, of->fields->items[i].line);
    return out;
}

// ---- Setting.

static void note_list(Python *p, Fields *list) {
    for (int i = p->lists.count - 1; i >= 0; i--)
        if (p->lists.items[i] == list) return;
    if (p->lists.count < MOST_ITEMS) LIST_PUSH(p->r->arena, &p->lists, list);
}

static void set_name(Python *p, const char *name, Value value, int line) {
    const Field *there = python_field(p->scope, name);
    const Said *own = p->configures && p->scope->file && p->arguments ? said_find(p->arguments, name) : NULL;
    bool known = false;
    if (own) value = python_said(p, own->value);
    if (value.kind == IS_LIST) note_list(p, value.fields);
    bool differs =
        there && there->value.kind != IS_NOT_KNOWN && !(python_equal(&there->value, &value, &known) && known);
    if (p->perhaps > p->certain && differs &&
        (value.kind == IS_NUMBER || value.kind == IS_TEXT || value.kind == IS_BOOL))
        value = not_known;
    python_set(p, p->scope, name, value, line);
}

void python_set_attribute(Python *p, Value of, const char *name, Value value, int line) {
    const char *path = of.fields ? of.fields->path : of.kind == IS_NOT_KNOWN ? "" : NULL;
    if (of.kind == IS_NAMED) path = strchr(of.text, '.') ? strchr(of.text, '.') + 1 : "";
    if (of.fields && of.kind != IS_LIST) python_set(p, of.fields, name, value, line);
    bool aside = of.fields && of.fields->made_by && path && !*path && !python_makes(of.fields->made_by); // a model, say
    if (strcmp(name, "env_vars") == 0 && value.kind == IS_DICT)
        python_environment(p, value.fields);
    else if (path && of.kind != IS_DICT)
        python_tell(p, aside ? NULL : "", python_below(p, path, name), &value, line);
}

static void set(Python *p, const Node *target, Value value);

static void set_item(Python *p, const Node *target, Value value) {
    Value of = python_value(p, target->left), key = python_value(p, target->right);
    const char *text = python_shown(p, &key);
    Fields one = {0};
    python_set(p, &one, text, value, target->line);
    if (of.kind == IS_NAMED && strcmp(of.text, "os.environ") == 0) python_environment(p, &one);
    if (of.kind == IS_LIST && key.kind == IS_NUMBER && key.number >= 0 && key.number < of.fields->count)
        of.fields->items[(int)key.number].value = value;
    else if (of.fields && of.kind != IS_LIST)
        python_set(p, of.fields, text, value, target->line);
}

static void set_all(Python *p, const Node *target, Value value) {
    int place = 0, count = value.kind == IS_LIST ? value.fields->count : 0;
    for (const Node *one = target->items; one; one = one->next, place++)
        set(p, one, place < count ? value.fields->items[place].value : not_known);
}

static void set(Python *p, const Node *target, Value value) {
    if (!target) return;
    if (target->kind == NODE_NAME) set_name(p, target->text, value, target->line);
    if (target->kind == NODE_ATTRIBUTE)
        python_set_attribute(p, python_value(p, target->left), target->text, value, target->line);
    if (target->kind == NODE_ITEM) set_item(p, target, value);
    if (target->kind == NODE_LIST) set_all(p, target, value);
}

// ---- Functions and classes.

static bool was_called(const Python *p, const Node *node) {
    for (int i = p->called.count - 1; i >= 0; i--)
        if (p->called.items[i] == node) return true;
    return false;
}

// What parameters are given, by place and by name; else what they are by themselves.
static void bind(Python *p, const Value *function, const Fields *given, Fields *scope, int line) {
    int place = 0;
    const Node *parameters = function->node->kind == NODE_LAMBDA ? function->node->items : function->node->left->items;
    bool bound = function->owner && function->how != PYTHON_ALONE;
    for (const Node *one = parameters; one; one = one->next) {
        const Node *name = one->kind == NODE_PAIR || one->kind == NODE_SPREAD ? one->left : one;
        if (!name || !name->text) continue;
        Value value = not_known;
        bool found = bound, pairs = one->kind == NODE_SPREAD && one->text[1];
        if (bound) value = (Value){.kind = function->self->is_class ? IS_CLASS : IS_OBJECT, .fields = function->self};
        if (one->kind == NODE_SPREAD) value = python_new(p, pairs ? IS_DICT : IS_LIST), found = true;
        for (int i = 0, seen = 0; i < given->count && !bound; i++) {
            const Field *field = &given->items[i];
            bool rest = pairs ? field->key && !python_field(scope, field->key) : !field->key && seen >= place;
            bool own = field->key ? strcmp(field->key, name->text) == 0 : seen == place;
            seen += !field->key;
            if (one->kind == NODE_SPREAD && rest) python_set(p, value.fields, field->key, field->value, field->line);
            if (one->kind != NODE_SPREAD && own && !found) value = field->value, found = true;
        }
        const Said *said = found ? NULL : python_option(p, name->text); // click's
        if (said)
            value = python_option_value(p, said);
        else if (!found && one->kind == NODE_KEYWORD)
            value = python_value(p, one->left);
        else if (!found && function->node->others && p->config.kind == IS_DICT)
            value = p->config;
        place += one->kind == NODE_SPREAD ? MOST_ITEMS : !bound; // behind *a there are names alone
        bound = false;
        python_set(p, scope, name->text, value, line);
    }
}

Value python_run(Python *p, const Value *function, const Fields *given, int line) {
    const Node *node = function->node;
    Value returned = not_known, *outer_returned = p->returned;
    Fields *outer = p->scope, *outer_self = p->self, *outer_owner = p->owner;
    const char *file = p->file;
    int certain = p->certain;
    if (p->depth > DEEPEST / 2 || p->frames > 12) return not_known;
    if (!was_called(p, node)) LIST_PUSH(p->r->arena, &p->called, node);
    Fields *scope = ARENA_NEW(p->r->arena, Fields);
    scope->outer = function->fields;
    p->frames++, p->depth++;
    p->scope = function->fields;
    for (const Fields *out = function->fields; out; out = out->outer)
        if (out->file) p->file = out->file;
    bind(p, function, given, scope, line);
    p->scope = scope, p->self = function->self, p->owner = function->owner;
    p->returned = &returned, p->certain = p->perhaps;
    if (node->kind == NODE_LAMBDA)
        returned = python_value(p, node->left);
    else
        run(p, node->items);
    p->flow = GOES_ON;
    p->scope = outer, p->self = outer_self, p->owner = outer_owner;
    p->returned = outer_returned, p->file = file, p->certain = certain;
    p->frames--, p->depth--;
    return returned;
}

// Fields of a dataclass, its base's first, are settings once something is made of it.
void python_tell_class(Python *p, Fields *class) {
    if (!class->is_data) return;
    class->is_made = true;
    if (class->outer) python_tell_class(p, class->outer);
    for (int i = 0; i < class->count; i++)
        if (class->items[i].value.kind != IS_FUNCTION)
            python_tell(p, "", class->items[i].key, &class->items[i].value, class->items[i].line);
}

// An instance: its class's fields by place and by name, or what its __init__ makes of what it is given.
static Value instance(Python *p, const Value *class, Call *call) {
    Value out = python_object(p, class->fields->made_by, class->fields->path);
    Field *made = python_found(class->fields, "__init__"), *after = python_found(class->fields, "__post_init__");
    out.fields->outer = class->fields;
    if (p->instances.count < MOST_ITEMS) LIST_PUSH(p->r->arena, &p->instances, out.fields);
    python_tell_class(p, class->fields);
    if (class->fields->made_by) { // of something elsewhere
        call->name = class->fields->made_by;
        python_call(p, call);
    }
    if (made && made->value.kind == IS_FUNCTION) {
        Value init = made->value;
        init.owner = init.self, init.self = out.fields;
        python_run(p, &init, &call->given, call->line);
    } else {
        for (int i = 0; i < call->given.count; i++) {
            const Field *field = &call->given.items[i];
            const char *key = field->key ? field->key : i < class->fields->count ? class->fields->items[i].key : NULL;
            if (!key) continue;
            python_set(p, out.fields, key, field->value, field->line);
            if (class->fields->path) python_tell(p, "", key, &field->value, field->line);
        }
    }
    if (after && after->value.kind == IS_FUNCTION) {
        Value init = after->value;
        init.owner = init.self, init.self = out.fields;
        python_run(p, &init, &(Fields){0}, call->line);
    }
    return out;
}

static void add_given(Python *p, Fields *given, const Node *one) {
    bool spread = one->kind == NODE_SPREAD, named = one->kind == NODE_KEYWORD;
    Value value = python_value(p, spread || named ? one->left : one);
    if (!spread) {
        Field field = {named ? one->text : NULL, value, one->line};
        if (given->count < MOST_ITEMS) LIST_PUSH(p->r->arena, given, field);
        return;
    }
    bool pairs = one->text[1] == '*';
    for (int i = 0; value.fields && i < value.fields->count && given->count < MOST_ITEMS && ++p->steps < MOST_STEPS;
         i++) {
        Field field = value.fields->items[i];
        if (!pairs) field.key = NULL;
        if (!pairs || field.key) LIST_PUSH(p->r->arena, given, field);
    }
}

static Value call_of(Python *p, const Node *node) {
    bool method = node->left->kind == NODE_ATTRIBUTE;
    Call call = {.name = dotted(p, node->left), .line = node->line};
    Value on = not_known, callee, out = not_known;
    const Node *root = method ? node->left->left : NULL;
    bool super =
        root && root->kind == NODE_CALL && root->left->kind == NODE_NAME && strcmp(root->left->text, "super") == 0;
    if (super) { // of the class of the method that is run
        Field *field = p->owner ? python_found(p->owner->outer, node->left->text) : NULL;
        callee = field ? field->value : not_known;
        if (callee.kind == IS_FUNCTION) callee.owner = callee.self, callee.self = p->self;
    } else if (method) {
        on = python_value(p, root);
        call.on = on.kind == IS_NAMED ? NULL : &on;
        bool builtin = on.kind == IS_TEXT || on.kind == IS_LIST || on.kind == IS_DICT;
        callee = builtin ? not_known : python_attribute(p, &on, node->left->text, node->left);
        if (on.kind == IS_DICT && python_field(on.fields, node->left->text))
            callee = python_field(on.fields, node->left->text)->value;
    } else {
        callee = python_value(p, node->left);
    }
    if (callee.kind == IS_NAMED) call.name = callee.text;
    for (const Node *one = node->items; one; one = one->next) add_given(p, &call.given, one);
    if (method && on.kind == IS_FUNCTION) callee = on; // f.remote(a), of Ray and Modal
    if (callee.kind == IS_FUNCTION) return python_run(p, &callee, &call.given, node->line);
    if (callee.kind == IS_CLASS) return instance(p, &callee, &call);
    if (!super && python_library(p, &call, &out)) return out;
    return super ? not_known : python_call(p, &call);
}

// ---- Values.

static Value each_of(Python *p, const Node *node, const Node *loop, Value out) {
    if (!loop) {
        if (node->left->kind == NODE_PAIR) {
            Value key = python_value(p, node->left->left), own = python_value(p, node->left->right);
            python_set(p, out.fields, python_shown(p, &key), own, node->line);
        } else {
            python_set(p, out.fields, NULL, python_value(p, node->left), node->line);
        }
        return out;
    }
    Value in = python_value(p, loop->right);
    if (!in.fields || (in.kind != IS_LIST && in.kind != IS_DICT)) return not_known;
    for (int i = 0; i < in.fields->count && i < MOST_ROUNDS; i++) {
        int truth = 1;
        set(p, loop->left, in.kind == IS_DICT ? python_text(in.fields->items[i].key) : in.fields->items[i].value);
        for (const Node *one = loop->items; one && truth == 1; one = one->next) {
            Value holds = python_value(p, one);
            truth = python_truth(&holds);
        }
        if (truth != 0 && each_of(p, node, loop->next, out).kind == IS_NOT_KNOWN) return not_known;
    }
    return out;
}

static Value binary(Python *p, const Node *node) {
    Value left = python_value(p, node->left);
    bool either = strcmp(node->text, "or") == 0, both = strcmp(node->text, "and") == 0;
    if (!either && !both) return python_compute(p, node->text, left, python_value(p, node->right));
    int truth = python_truth(&left);
    if (truth >= 0) return truth == either ? left : python_value(p, node->right);
    Value right = python_value(p, node->right);
    int other = python_truth(&right);
    return other == either ? right : not_known;
}

static Value unary(Python *p, const Node *node) {
    Value value = python_value(p, node->left);
    int truth = python_truth(&value);
    if (strcmp(node->text, "not") == 0) return truth < 0 ? not_known : python_bool(!truth);
    if (strcmp(node->text, "-") == 0) return value.kind == IS_NUMBER ? python_number(-value.number) : not_known;
    return value;
}

static Value choice(Python *p, const Node *node) {
    Value holds = python_value(p, node->items), left, right;
    int truth = python_truth(&holds);
    bool known = false;
    if (truth >= 0) return python_value(p, truth ? node->left : node->right);
    p->perhaps++;
    left = python_value(p, node->left), right = python_value(p, node->right);
    p->perhaps--;
    return python_equal(&left, &right, &known) && known ? left : not_known;
}

static Value list_of(Python *p, const Node *node) {
    Value out = python_new(p, IS_LIST);
    for (const Node *one = node->items; one; one = one->next) {
        add_given(p, out.fields, one);
    }
    return out;
}

static Value dict_of(Python *p, const Node *node) {
    Value out = python_new(p, IS_DICT);
    for (const Node *one = node->items; one; one = one->next) {
        if (one->kind == NODE_SPREAD) {
            Value more = python_value(p, one->left);
            for (int i = 0; more.kind == IS_DICT && i < more.fields->count && ++p->steps < MOST_STEPS; i++)
                python_set(p, out.fields, more.fields->items[i].key, more.fields->items[i].value,
                           more.fields->items[i].line);
            continue;
        }
        Value key = python_value(p, one->left), value = python_value(p, one->right);
        python_set(p, out.fields, python_shown(p, &key), value, one->line);
    }
    return out;
}

static Value number_of(Python *p, const Node *node) {
    char plain[64], *to = plain, *end;
    for (const char *from = node->text; *from && to < plain + 63; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    double number = strtod(plain, &end);
    return *end || end == plain
               ? not_known
               : (Value){.kind = IS_NUMBER, .number = number, .text = arena_copy_text(p->r->arena, plain)};
}

static Value name_of(Python *p, const Node *node) {
    const Field *field = python_found(p->scope, node->text);
    if (field) return field->value;
    if (strcmp(node->text, "True") == 0 || strcmp(node->text, "False") == 0) return python_bool(node->text[0] == 'T');
    if (strcmp(node->text, "None") == 0) return (Value){.kind = IS_NONE};
    return (Value){.kind = IS_NAMED, .text = node->text};
}

static Value text_of(Python *p, const Node *node) { return (void)p, python_text(node->text); }
static Value format_of(Python *p, const Node *node) { return python_formatted(p, node->text); }
static Value nothing_of(Python *p, const Node *node) { return (void)p, (void)node, not_known; }

static Value lambda_of(Python *p, const Node *node) {
    Value function = {.kind = IS_FUNCTION, .node = node, .fields = p->scope};
    if (p->functions.count < MOST_ITEMS) LIST_PUSH(p->r->arena, &p->functions, function);
    return function;
}

static Value all_of(Python *p, const Node *node) {
    bool pairs = node->left && node->left->kind == NODE_PAIR;
    return each_of(p, node, node->items, python_new(p, pairs ? IS_DICT : IS_LIST));
}

static Value attribute_of(Python *p, const Node *node) {
    Value of = python_value(p, node->left);
    return python_attribute(p, &of, node->text, node);
}

static Value part_of(Python *p, const Node *node) {
    Value of = python_value(p, node->left);
    if (node->right && node->right->kind == NODE_SLICE) return slice_of(p, &of, node->right);
    Value key = python_value(p, node->right);
    return item_of(p, &of, &key);
}

// ---- Statements.

static Value choose(Python *p, const Node *node) {
    Value holds = python_value(p, node->left);
    int truth = python_truth(&holds);
    p->perhaps += truth < 0;
    if (truth != 0) run(p, node->items);
    if (truth <= 0) run(p, node->others);
    p->perhaps -= truth < 0;
    return not_known;
}

static Value loop(Python *p, const Node *node) {
    Value in = python_value(p, node->right);
    bool known = (in.kind == IS_LIST || in.kind == IS_DICT) && in.fields->count <= MOST_ROUNDS;
    for (int i = 0; i < (known ? in.fields->count : 1) && p->flow < LEAVES_LOOP && p->steps < MOST_STEPS; i++) {
        set(p, node->left,
            !known               ? not_known
            : in.kind == IS_DICT ? python_text(in.fields->items[i].key)
                                 : in.fields->items[i].value);
        run(p, node->items);
        if (p->flow == NEXT_ROUND) p->flow = GOES_ON;
    }
    if (p->flow == LEAVES_LOOP) p->flow = GOES_ON;
    return not_known;
}

static Value define(Python *p, const Node *node) {
    Value function = {.kind = IS_FUNCTION, .node = node, .fields = p->scope};
    if (p->scope->is_class) function.self = p->scope, function.fields = p->scope->outer;
    for (const Node *one = node->others; one; one = one->next) {
        const char *name = dotted(p, one->kind == NODE_CALL ? one->left : one);
        if (strcmp(name, "property") == 0 || strstr(name, "cached_property")) function.how = PYTHON_PROPERTY;
        if (strcmp(name, "staticmethod") == 0) function.how = PYTHON_ALONE;
        if (strcmp(name, "classmethod") == 0) function.how = PYTHON_OF_CLASS;
        python_value(p, one);
    }
    if (p->functions.count < MOST_ITEMS) LIST_PUSH(p->r->arena, &p->functions, function);
    python_set(p, p->scope, node->text, function, node->line);
    return function;
}

static Value define_class(Python *p, const Node *node) {
    Value class = python_new(p, IS_CLASS);
    Fields *own = class.fields, *outer = p->scope;
    bool is_data = false, has_methods = false;
    own->is_class = true, own->outer = outer;
    for (const Node *one = node->others; one; one = one->next)
        is_data = is_data || strstr(dotted(p, one->kind == NODE_CALL ? one->left : one), "dataclass");
    p->scope = own;
    run(p, node->items);
    p->scope = outer;
    own->outer = NULL;
    for (const Node *one = node->left->items; one; one = one->next) {
        Value base = one->kind == NODE_KEYWORD ? not_known : python_value(p, one);
        if (base.kind == IS_CLASS && base.fields != own) own->outer = base.fields, own->made_by = base.fields->made_by;
        if (base.kind == IS_NAMED && strcmp(base.text, "object") != 0) own->made_by = base.text;
    }
    for (int i = 0; i < own->count; i++) has_methods = has_methods || own->items[i].value.kind == IS_FUNCTION;
    if (is_data || !has_methods) own->path = "";
    own->is_data = is_data || (own->outer && own->outer->is_data);
    if (own->is_data && p->classes.count < MOST_ITEMS) LIST_PUSH(p->r->arena, &p->classes, own);
    python_set(p, outer, node->text, class, node->line);
    return class;
}

// A module of its own that lies beside; or NULL.
static Fields *module_called(Python *p, const char *name, int line) {
    const char *dots = name + strspn(name, "."), *up = "", *shown, *text = NULL;
    size_t bytes = 0;
    if (strlen(name) > 200 || dots[strspn(dots, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] ||
        strstr(dots, ".."))
        return NULL;
    for (const char *dot = name + 1; dot < dots; dot++) up = arena_printf(p->r->arena, "%s../", up);
    char *path = arena_printf(p->r->arena, "%s%s", up, dots);
    for (char *at = path + strlen(up); *at; at++)
        if (*at == '.') *at = '/';
    const char *const ends[] = {".py", "/__init__.py"};
    for (int i = 0; i < 2 && !text && p->modules.count < MOST_MODULES && (*dots || i); i++)
        text = reading_file(p->r, reading_path_from(p->r, p->file, arena_printf(p->r->arena, "%s%s", path, ends[i])),
                            (Where){p->file, line}, &bytes, &shown);
    for (int i = 0; text && i < p->modules.count; i++)
        if (strcmp(p->modules.items[i]->file, shown) == 0) return p->modules.items[i];
    if (!text) return NULL;
    Fields *outer = p->scope;
    const char *file = p->file;
    int perhaps = p->perhaps, certain = p->certain;
    bool configures = p->configures;
    p->configures = false;
    Fields *module = python_program(p, shown, text, bytes);
    p->scope = outer, p->file = file, p->perhaps = perhaps, p->certain = certain, p->configures = configures;
    return module;
}

static Value import(Python *p, const Node *node) {
    for (const Node *one = node->items; one; one = one->next) {
        const char *path = one->left->text, *from = one->right ? one->right->text : NULL, *dot = strchr(path, '.');
        Fields *module = module_called(p, from ? from : path, node->line);
        if (!module)
            said_add(p->r->arena, &p->r->imports, from ? from : path, NULL, (Where){p->file, node->line}, BY_FILE);
        Value value = {.kind = IS_NAMED, .text = from ? python_below(p, from + strspn(from, "."), path) : path};
        bool whole = from || strcmp(one->text, path) != 0;
        if (from && strcmp(path, "*") == 0) {
            for (int i = 0; module && i < module->count; i++)
                if (module->items[i].key[0] != '_')
                    python_set(p, p->scope, module->items[i].key, module->items[i].value, node->line);
            continue;
        }
        const Field *field = from && module ? python_field(module, path) : NULL;
        Fields *part =
            from && !field
                ? module_called(p, arena_printf(p->r->arena, from[strspn(from, ".")] ? "%s.%s" : "%s%s", from, path),
                                node->line)
                : NULL;
        if (field)
            value = field->value;
        else if (part || (module && !from && (whole || !dot)))
            value = (Value){.kind = IS_OBJECT, .fields = part ? part : module};
        if (whole || !dot)
            python_set(p, p->scope, one->text, value, node->line);
        else // import a.b: its root
            python_set(p, p->scope, arena_printf(p->r->arena, "%.*s", (int)(dot - path), path),
                       (Value){.kind = IS_NAMED, .text = arena_printf(p->r->arena, "%.*s", (int)(dot - path), path)},
                       node->line);
    }
    return not_known;
}

static Value assign(Python *p, const Node *node) {
    if (node->text[0] == '=') {
        Value value = python_value(p, node->right);
        set(p, node->left, value);
        return value;
    }
    Value left = python_value(p, node->left), right = python_value(p, node->right);
    const char *sign = arena_printf(p->r->arena, "%.*s", (int)strlen(node->text) - 1, node->text);
    if (left.kind == IS_LIST && *sign == '+')
        for (int i = 0;
             right.kind == IS_LIST && left.fields != right.fields && i < right.fields->count && ++p->steps < MOST_STEPS;
             i++)
            python_set(p, left.fields, NULL, right.fields->items[i].value, right.fields->items[i].line);
    else
        set(p, node->left, python_compute(p, sign, left, right));
    return not_known;
}

static Value give_back(Python *p, const Node *node) {
    Value value = node->left ? python_value(p, node->left) : (Value){.kind = IS_NONE};
    bool perhaps = p->perhaps > p->certain, raises = strcmp(node->text, "raise") == 0;
    if (*node->text == 'y') { // of what it gives one by one, a list
        if (p->returned && p->returned->kind != IS_LIST) *p->returned = python_new(p, IS_LIST);
        for (int i = 0; p->returned && node->text[5] && value.kind == IS_LIST && i < value.fields->count; i++)
            python_set(p, p->returned->fields, NULL, value.fields->items[i].value, node->line);
        if (p->returned && !node->text[5]) python_set(p, p->returned->fields, NULL, value, node->line);
        return not_known;
    }
    if (p->returned && !raises && (!perhaps || p->returned->kind == IS_NOT_KNOWN)) *p->returned = value;
    if (!perhaps) p->flow = RETURNS;
    return not_known;
}

static Value leave(Python *p, const Node *node) {
    if (p->perhaps == p->certain) p->flow = *node->text == 'b' ? LEAVES_LOOP : NEXT_ROUND;
    return not_known;
}

static Value block_of(Python *p, const Node *node) {
    p->perhaps += node->text != NULL;
    run(p, node->items);
    p->perhaps -= node->text != NULL;
    return not_known;
}

static Value shell_of(Python *p, const Node *node) {
    Call call = {.name = "system", .line = node->line};
    python_set(p, &call.given, NULL, python_text(node->text), node->line);
    return python_call(p, &call);
}

Value python_value(Python *p, const Node *node) {
    static Value (*const values[])(Python * p, const Node *node) = {
        [NODE_UNKNOWN] = nothing_of, [NODE_NAME] = name_of,       [NODE_NUMBER] = number_of,
        [NODE_TEXT] = text_of,       [NODE_FORMAT] = format_of,   [NODE_ATTRIBUTE] = attribute_of,
        [NODE_ITEM] = part_of,       [NODE_SLICE] = nothing_of,   [NODE_CALL] = call_of,
        [NODE_KEYWORD] = nothing_of, [NODE_SPREAD] = nothing_of,  [NODE_LIST] = list_of,
        [NODE_DICT] = dict_of,       [NODE_PAIR] = nothing_of,    [NODE_BINARY] = binary,
        [NODE_UNARY] = unary,        [NODE_CHOICE] = choice,      [NODE_LAMBDA] = lambda_of,
        [NODE_EACH] = all_of,        [NODE_SHELL] = shell_of,     [NODE_ASSIGN] = assign,
        [NODE_IF] = choose,          [NODE_FOR] = loop,           [NODE_BLOCK] = block_of,
        [NODE_DEF] = define,         [NODE_CLASS] = define_class, [NODE_RETURN] = give_back,
        [NODE_LEAVE] = leave,        [NODE_IMPORT] = import};
    if (!node || p->depth >= DEEPEST) return not_known;
    if (++p->steps >= MOST_STEPS) {
        not_read(p->r, "a program of Python goes on beyond what is followed", (Where){p->file, node->line});
        return not_known;
    }
    p->depth++;
    Value value = values[node->kind](p, node);
    p->depth--;
    return value;
}

static void run(Python *p, const Node *block) {
    for (; block && p->flow == GOES_ON && p->steps < MOST_STEPS; block = block->next) python_value(p, block);
}

Fields *python_program(Python *p, const char *file, const char *text, size_t bytes) {
    bool whole = false;
    Fields *scope = ARENA_NEW(p->r->arena, Fields);
    const Node *tree = python_parse(p->r->arena, text, bytes, &whole);
    if (!whole) not_read(p->r, "a program of Python is longer than is read", (Where){file, 1});
    scope->file = p->file = file;
    const char *slash = strrchr(file, '/');
    python_set(p, scope, "__file__", python_text(slash ? slash + 1 : file), 1);
    python_set(p, scope, "__name__", python_text(p->modules.count ? "module" : "__main__"), 1);
    LIST_PUSH(p->r->arena, &p->modules, scope);
    p->scope = scope, p->certain = p->perhaps;
    run(p, tree->items);
    p->flow = GOES_ON;
    return p->scope = scope;
}
