// Makefiles as far as they are plain: variables, rules and their commands, of the target that "make" alone would make
// and of those it needs. The commands are a script; nothing is run, and what functions of make would give is not known.
// justfiles are the same in other signs: recipes, with {{…}} in them.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/system/file.h"

enum { MOST_VARIABLES = 400, MOST_RULES = 400, DEEPEST_RULES = 8, DEEPEST_VALUES = 12, DEEPEST_CONDITIONS = 8 };

typedef struct Variable {
    const char *name, *value, *file;
    int line;
    bool exported, final; // final: expanded where it was set (:=)
} Variable;

typedef struct Rule {
    const char *target, *needs, *commands; // commands: a line each
    int line;
    bool done;
} Rule;

typedef struct Condition { // of ifeq and its like
    bool holds, was;       // this branch, or one before it
} Condition;

typedef struct Make {
    Reading *r;
    const char *file;
    Variable variables[MOST_VARIABLES];
    Rule rules[MOST_RULES];
    int variable_count, rule_count, depth;
    bool exports_all, just; // just: a justfile
    Condition condition[DEEPEST_CONDITIONS];
    int conditions;
} Make;

static const char unknown[] = {NOT_KNOWN, '\0'};

bool is_makefile(const char *path) {
    const char *slash = strrchr(path, '/');
    return one_of(slash ? slash + 1 : path, "Makefile makefile GNUmakefile justfile Justfile .justfile") ||
           file_ends_in(path, ".mk") || file_ends_in(path, ".just");
}

static Variable *variable_named(Make *m, const char *name) {
    for (int i = 0; i < m->variable_count; i++)
        if (strcmp(m->variables[i].name, name) == 0) return &m->variables[i];
    return NULL;
}

static const char *expand(Make *m, const char *text, const Rule *rule);

static const char *value_of(Make *m, const Variable *variable, const Rule *rule) {
    return variable->final ? variable->value : expand(m, variable->value, rule);
}

// Behind an open bracket, up to the one that closes it.
static size_t within_brackets(const char *open) {
    char close = *open == '(' ? ')' : '}';
    int nested = 1;
    const char *at = open + 1;
    for (; *at; at++) {
        nested += *at == *open;
        nested -= *at == close;
        if (nested == 0) break;
    }
    return (size_t)(at - open - 1);
}

// words, firstword, lastword, strip and word of a list; NULL: another function.
static const char *called(Make *m, const char *text, const Rule *rule) {
    static const char *const functions[] = {"words ", "firstword ", "lastword ", "strip ", "word "};
    int which = 0, count = 0;
    while (which < 5 && strncmp(text, functions[which], strlen(functions[which])) != 0) which++;
    if (which == 5) return NULL;
    const char *list = expand(m, text + strlen(functions[which]), rule), *last = "";
    const char *comma = which == 4 ? strchr(list, ',') : NULL;
    int wanted = which == 1 ? 1 : comma ? atoi(list) : 0;
    if (which == 3) return list + strspn(list, " \t");
    for (const char *at = comma ? comma + 1 : list; *(at += strspn(at, " \t"));) {
        size_t length = strcspn(at, " \t");
        last = arena_printf(m->r->arena, "%.*s", (int)length, at);
        if (++count == wanted) return last;
        at += length;
    }
    return which == 0 ? arena_printf(m->r->arena, "%d", count) : which == 2 ? last : "";
}

// $(shell COMMAND), `COMMAND`: what it would print, where that is known.
static const char *printed(Make *m, const char *command) {
    const char *text = arena_printf(m->r->arena, "$(%s)", command);
    ShellWords words = {0};
    shell_expand_words(reading_shell(m->r), text, text + strlen(text), 0, &words);
    return shell_joined(reading_shell(m->r), &words, 0);
}

// $(if CONDITION,THEN,ELSE), $(or A,B)
static const char *chosen(Make *m, const char *text, const Rule *rule) {
    bool either = *text == 'o';
    const char *parts[3] = {"", "", ""};
    int count = 0;
    for (const char *at = text + 3; count < 3; count++) {
        size_t length = 0;
        for (int depth = 0; at[length] && (depth > 0 || at[length] != ','); length++)
            depth += strchr("({", at[length]) ? 1 : strchr(")}", at[length]) ? -1 : 0;
        parts[count] = expand(m, arena_printf(m->r->arena, "%.*s", (int)length, at), rule);
        at += length + (at[length] == ',');
    }
    if (either) return *parts[0] ? parts[0] : *parts[1] ? parts[1] : parts[2];
    return is_known(parts[0]) ? *parts[0] ? parts[1] : parts[2] : unknown;
}

static const char *said_by(Make *m, const char *name, const Rule *rule) {
    const Variable *variable = variable_named(m, name);
    if (variable) return value_of(m, variable, rule);
    if (strcmp(name, "$") == 0) return "$";
    if (strcmp(name, "CURDIR") == 0) return ".";
    if (strcmp(name, "MAKE") == 0) return "make";
    if (rule && strcmp(name, "@") == 0) return rule->target;
    if (rule && strcmp(name, "^") == 0)
        return arena_printf(m->r->arena, "%.*s", (int)strcspn(rule->needs, "|"), rule->needs);
    if (rule && strcmp(name, "<") == 0)
        return arena_printf(m->r->arena, "%.*s", (int)strcspn(rule->needs, " \t"), rule->needs);
    if (strncmp(name, "shell ", 6) == 0) return printed(m, expand(m, name + 6, rule));
    if (strncmp(name, "if ", 3) == 0 || strncmp(name, "or ", 3) == 0) return chosen(m, name, rule);
    const char *value = called(m, name, rule);
    return value ? value : strpbrk(name, " ,:") ? unknown : "";
}

// $(NAME), ${NAME}, $N, $$, and of a rule $@, $< and $^.
static const char *expand(Make *m, const char *text, const Rule *rule) {
    ShellText out = {0};
    Shell *shell = reading_shell(m->r);
    if (++m->depth > DEEPEST_VALUES) text = unknown;
    while (*text) {
        size_t plain = strcspn(text, "$");
        shell_put(shell, &out, text, plain);
        text += plain;
        if (!*text || !*++text) break;
        bool braced = *text == '(' || *text == '{';
        size_t length = braced ? within_brackets(text) : 1;
        const char *value = said_by(m, arena_printf(m->r->arena, "%.*s", (int)length, text + braced), rule);
        shell_put(shell, &out, value, strlen(value));
        text += braced ? length + 1 + (text[length + 1] != '\0') : 1;
    }
    m->depth--;
    const char *letters = shell_letters(&out);
    return letters ? letters : unknown;
}

static const char *expression(Make *m, const char *text);

// env('X'), env_var_or_default("X", "d"); up to the bracket that closes.
static const char *of_environment(Make *m, const char *at, const char *end) {
    const char *quote = strpbrk(at, "'\""), *behind = quote && quote < end ? strpbrk(quote + 1, "'\"") : NULL;
    if (strncmp(at, "env", 3) != 0 || !behind) return unknown;
    const char *usual = expression(m, arena_printf(m->r->arena, "%.*s", (int)(end - behind - 1), behind + 1));
    return arena_printf(m->r->arena, "${%.*s%s%s}", (int)(behind - quote - 1), quote + 1, *usual ? ":-" : "", usual);
}

// Of just: "a/" + b, env('X', 'd'); what is none of its variables is a recipe's own, which the shell knows.
static const char *expression(Make *m, const char *text) {
    const char *out = "";
    for (const char *at = text; *at; at += *at != '\0') {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
        const char *part = *at == '/' ? "/" : "", *close = strchr("'\"`", *at) ? strchr(at + 1, *at) : NULL;
        const char *name = arena_printf(m->r->arena, "%.*s", (int)length, at), *end = strchr(at, ')');
        const Variable *variable = length ? variable_named(m, name) : NULL;
        bool calls = length && at[length] == '(' && end;
        if (close) {
            part = arena_printf(m->r->arena, "%.*s", (int)(close - at - 1), at + 1);
            if (*at == '`') part = printed(m, part);
            at = close;
        } else if (length) {
            part = variable                  ? variable->value
                   : strcmp(name, "if") == 0 ? unknown
                   : calls                   ? of_environment(m, at, end)
                                             : arena_printf(m->r->arena, "${%s}", name);
            at = calls ? end : at + length - 1;
        }
        out = arena_printf(m->r->arena, "%s%s", out, part);
    }
    return out;
}

static const char *with_expressions(Make *m, const char *text) {
    const char *out = "";
    for (const char *open, *close; (open = strstr(text, "{{")) && (close = strstr(open, "}}")); text = close + 2)
        out = arena_printf(m->r->arena, "%s%.*s%s", out, (int)(open - text), text,
                           expression(m, arena_printf(m->r->arena, "%.*s", (int)(close - open - 2), open + 2)));
    return arena_printf(m->r->arena, "%s%s", out, text);
}

// ---- Lines.

static const char *trimmed(Make *m, const char *begin, const char *end) {
    while (begin < end && isspace((unsigned char)*begin)) begin++;
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    return arena_printf(m->r->arena, "%.*s", (int)(end - begin), begin);
}

// NAME = VALUE, := ?= +=; false: it is none.
static bool take_variable(Make *m, const char *text, int line, bool exported) {
    const char *equals = strchr(text, '='), *colon = strchr(text, ':');
    if (!equals || (colon && colon + 1 < equals && colon[1] != ':')) return false;
    const char *end = equals;
    while (end > text && strchr(":?+!", end[-1])) end--;
    const char *name = trimmed(m, text, end), *value = trimmed(m, equals + 1, equals + strlen(equals));
    if (!*name || strpbrk(name, " \t$")) return false;
    Variable *there = variable_named(m, name);
    if (there && *end == '?') return true;
    if (!there && m->variable_count == MOST_VARIABLES) return true;
    if (there && *end == '+') value = arena_printf(m->r->arena, "%s %s", there->value, value);
    if (*end == ':') value = expand(m, value, NULL); // at once: $$ is a $ from here on
    if (!there) there = &m->variables[m->variable_count++];
    *there = (Variable){name, value, m->file, line, exported || (there->name && there->exported), *end == ':'};
    return true;
}

static void take_export(Make *m, const char *names, int line) {
    m->exports_all = m->exports_all || !*names;
    if (take_variable(m, names, line, true)) return;
    for (size_t length; *(names += strspn(names, " \t")); names += length) {
        length = strcspn(names, " \t");
        Variable *variable = variable_named(m, arena_printf(m->r->arena, "%.*s", (int)length, names));
        if (variable) variable->exported = true;
    }
}

// TARGET: NEEDS ; its commands follow, behind a tab each.
static void take_rule(Make *m, const char *text, int line) {
    const char *colon = strchr(text, ':');
    if (!colon || m->rule_count == MOST_RULES) return;
    const char *needs = expand(m, colon + 1 + (colon[1] == ':'), NULL);
    m->rules[m->rule_count++] =
        (Rule){expand(m, trimmed(m, text, colon), NULL), trimmed(m, needs, needs + strlen(needs)), "", line, false};
}

static void add_command(Make *m, const char *text) {
    if (m->rule_count == 0) return;
    Rule *rule = &m->rules[m->rule_count - 1];
    text += strspn(text, "\t @-+");
    if (strlen(rule->commands) + strlen(text) < (size_t)LARGEST_FILE)
        rule->commands = arena_printf(m->r->arena, "%s%s\n", rule->commands, text);
}

// What stands behind ifeq: (A,B), "A" "B", 'A' 'B'.
static bool are_equal(Make *m, const char *text) {
    bool bracket = *text == '(';
    char quote = bracket ? ',' : *text;
    const char *begin = text + 1, *end = *text ? strchr(begin, quote) : NULL;
    if (!end) return true;
    const char *first = trimmed(m, begin, end), *rest = end + 1 + (bracket ? 0 : strcspn(end + 1, "\"'") + 1);
    const char *last = bracket ? strrchr(rest, ')') : strpbrk(rest, "\"'");
    if (!last) return true;
    first = expand(m, first, NULL);
    return strcmp(first, expand(m, trimmed(m, rest, last), NULL)) == 0;
}

static bool holds(Make *m, const char *text) {
    bool negates = strncmp(text, "ifn", 3) == 0, defined = strstr(text, "def") == text + 2 + negates;
    const char *rest = text + strcspn(text, " \t(\"'");
    rest += strspn(rest, " \t");
    const Variable *variable = defined ? variable_named(m, trimmed(m, rest, rest + strlen(rest))) : NULL;
    bool is = defined ? (variable && *variable->value) : are_equal(m, rest);
    return is != negates;
}

// ifeq, else, endif. False: the line is none of these.
static bool take_condition(Make *m, const char *text) {
    bool begins = strncmp(text, "ifeq", 4) == 0 || strncmp(text, "ifneq", 5) == 0 || strncmp(text, "ifdef", 5) == 0 ||
                  strncmp(text, "ifndef", 6) == 0;
    Condition *now = m->conditions > 0 ? &m->condition[m->conditions - 1] : NULL;
    if (begins && m->conditions < DEEPEST_CONDITIONS) {
        bool outer = !now || now->holds, is = outer && holds(m, text);
        m->condition[m->conditions++] = (Condition){is, is || !outer};
    } else if (strncmp(text, "else", 4) == 0 && now) {
        const char *again = text + 4 + strspn(text + 4, " \t");
        now->holds = !now->was && (strncmp(again, "if", 2) != 0 || holds(m, again));
        now->was = now->was || now->holds;
    } else if (strncmp(text, "endif", 5) == 0) {
        m->conditions -= now != NULL;
    } else {
        return false;
    }
    return true;
}

// NAME gpus="8" *rest: needs (other "4")
static void take_recipe(Make *m, const char *text, const char *colon, int line) {
    const char *own = "", *needs = "";
    size_t length = strcspn(text, " :");
    for (const char *at = text + length; (at += strspn(at, " *+$")) < colon; at += strcspn(at, " :")) {
        size_t name = strcspn(at, " =:");
        const char *usual = at[name] == '=' ? at + name + 1 : "''";
        own = arena_printf(m->r->arena, "%s%.*s=%.*s; ", own, (int)name, at, (int)strcspn(usual, " :"), usual);
    }
    for (const char *at = colon + 1; *(at += strspn(at, " ()&")); at += strcspn(at, " ()&"))
        if (!strchr("'\"", *at)) needs = arena_printf(m->r->arena, "%s %.*s", needs, (int)strcspn(at, " ()&"), at);
    if (m->rule_count < MOST_RULES)
        m->rules[m->rule_count++] = (Rule){trimmed(m, text, text + length), needs, own, line, false};
}

static void take_line_of_just(Make *m, const char *text, int line) {
    Rule *rule = m->rule_count > 0 ? &m->rules[m->rule_count - 1] : NULL;
    bool exported = strncmp(text, "export ", 7) == 0;
    if (rule && isblank((unsigned char)*text)) {
        text += strspn(text, " \t");
        rule->done = rule->done || (strncmp(text, "#!", 2) == 0 && !strstr(text, "sh")); // of another language
        add_command(m, text);
        return;
    }
    text += exported ? 7 : *text == '@';
    const char *sets = strstr(text, ":="), *colon = strchr(text, ':');
    if (!isalpha((unsigned char)*text) && *text != '_') return;
    if (strncmp(text, "set ", 4) == 0 || strncmp(text, "alias ", 6) == 0 || !colon) return;
    const char *value = sets == colon ? expression(m, trimmed(m, colon + 2, text + strlen(text))) : NULL;
    if (value && m->variable_count < MOST_VARIABLES)
        m->variables[m->variable_count++] = (Variable){trimmed(m, text, colon), value, m->file, line, exported, true};
    else if (!value)
        take_recipe(m, text, colon, line);
}

static void take_lines(Make *m, const char *text);

// include cluster.mk other.mk; -include and sinclude: where they lie in sight.
static void include(Make *m, const char *names, int line) {
    const char *outer = m->file, *text;
    size_t bytes = 0;
    names = expand(m, names, NULL);
    for (size_t length; *(names += strspn(names, " \t")) && m->depth < DEEPEST_VALUES; names += length) {
        length = strcspn(names, " \t");
        const char *name = arena_printf(m->r->arena, "%.*s", (int)length, names);
        text = reading_near(m->r, name, (Where){outer, line}, &bytes, &m->file);
        m->depth++;
        if (text) take_lines(m, text);
        m->depth--, m->file = outer;
    }
}

static void take_line(Make *m, const char *text, int line) {
    static const char *const beside[] = {"define", "endef", "override "};
    const char *word = text + strspn(text, " ");
    if (*text != '\t' && take_condition(m, word)) return;
    if (m->conditions > 0 && !m->condition[m->conditions - 1].holds) return;
    if (*text == '\t') {
        add_command(m, text);
        return;
    }
    const char *comment = strchr(text, '#');
    text = trimmed(m, text, comment ? comment : text + strlen(text));
    if (!*text) return;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (strncmp(text, beside[i], strlen(beside[i])) == 0) return;
    const char *included = strstr(text, "include ");
    if (included && included <= text + 1) {
        include(m, included + 8, line);
        return;
    }
    if (strncmp(text, "export", 6) == 0 && (!text[6] || isspace((unsigned char)text[6])))
        take_export(m, text + 6 + strspn(text + 6, " \t"), line);
    else if (!take_variable(m, text, line, false))
        take_rule(m, text, line);
}

// Lines that end in "\" go on.
static void take_lines(Make *m, const char *text) {
    for (int line = 1; *text;) {
        const char *whole = "";
        int first = line;
        for (bool more = true; more && *text; line++) {
            size_t length = strcspn(text, "\n"), own = length;
            more = own && text[own - 1] == '\\';
            if (strlen(whole) < (1 << 16))
                whole = arena_printf(m->r->arena, "%s%.*s%s", whole, (int)(own - more), text, more ? " " : "");
            text += length + (text[length] == '\n');
        }
        if (m->just)
            take_line_of_just(m, whole, first);
        else
            take_line(m, whole, first);
    }
}

// ---- What "make" would do.

static void make_target(Make *m, const char *target, int depth) {
    for (int i = 0; i < m->rule_count; i++) {
        Rule *rule = &m->rules[i];
        if (strcmp(rule->target, target) != 0 || rule->done || depth > DEEPEST_RULES) continue;
        rule->done = true;
        for (const char *at = rule->needs; *(at += strspn(at, " \t"));) {
            size_t length = strcspn(at, " \t");
            make_target(m, arena_printf(m->r->arena, "%.*s", (int)length, at), depth + 1);
            at += length;
        }
        const char *commands = m->just ? with_expressions(m, rule->commands) : expand(m, rule->commands, rule);
        if (*commands) shell_run_words(reading_shell(m->r), commands, (Where){m->file, rule->line});
    }
}

void read_make(Reading *r, const char *file, const char *text, size_t bytes) {
    Make *m = ARENA_NEW(r->arena, Make);
    *m = (Make){.r = r, .file = file, .just = strcasestr(file, "just") != NULL};
    (void)bytes;
    take_lines(m, text);
    for (int i = 0; i < m->variable_count; i++) {
        const Variable *variable = &m->variables[i];
        if (variable->exported || m->exports_all)
            shell_set(reading_shell(r), variable->name, value_of(m, variable, NULL),
                      (Where){variable->file, variable->line}, true);
    }
    const Variable *said = variable_named(m, ".DEFAULT_GOAL");
    const char *goal = said ? said->value : NULL;
    for (int i = 0; i < m->rule_count && !goal; i++)
        if (m->rules[i].target[0] != '.') goal = m->rules[i].target;
    if (goal) make_target(m, goal, 0);
    for (int i = 0; i < m->rule_count && r->launches.count == 0; i++) // one that only helps: the first that trains
        make_target(m, m->rules[i].target, 0);
}
