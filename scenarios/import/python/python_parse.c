// Python's text as a tree. What is no Python, or lies too deep, is a line that is not known; the next line is read as
// ever. Linear: each letter is looked at once or, where a line may be a match, twice.
#include <ctype.h>
#include <string.h>

#include "scenarios/import/python/python.h"

enum { DEEPEST = 100, MOST_LEVELS = 64, MOST_NODES = 300000 };

typedef enum TokenKind { T_END, T_NAME, T_NUMBER, T_TEXT, T_SIGN, T_LINE, T_INDENT, T_DEDENT, T_SHELL } TokenKind;

typedef struct Parser {
    Arena *arena;
    const char *at, *end;
    int line, brackets, depth, nodes;
    int indents[MOST_LEVELS], levels, closing; // blocks; how many of them end here
    bool begins;                               // a line
    TokenKind kind;                            // of the token that is next
    const char *begin;
    int length, token_line;
} Parser;

// ---- Tokens.

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static void give(Parser *p, TokenKind kind, const char *begin) {
    p->kind = kind, p->begin = begin, p->length = (int)(p->at - begin);
}

static void skip_to_line_end(Parser *p) {
    const char *line = memchr(p->at, '\n', (size_t)(p->end - p->at));
    p->at = line ? line : p->end;
}

// Between tokens; lines too where they do not count.
static void skip_blanks(Parser *p) {
    for (; p->at < p->end; p->at++) {
        bool joins = *p->at == '\\' && p->at + 1 < p->end && (p->at[1] == '\n' || p->at[1] == '\r');
        if (joins) p->at++;
        if (*p->at == '#') skip_to_line_end(p);
        if (p->at == p->end) return;
        if (*p->at == '\n' && !joins && p->brackets == 0) return;
        if (*p->at == '\n') p->line++;
        if (!isspace((unsigned char)*p->at) && *p->at != '\f') return;
    }
}

// At a line's beginning: true where a block begins or ends.
static bool indents(Parser *p) {
    int wide = 0;
    for (;;) {
        for (wide = 0; p->at < p->end && strchr(" \t\f", *p->at) && *p->at; p->at++) wide += *p->at == '\t' ? 8 : 1;
        if (p->at < p->end && *p->at == '#') skip_to_line_end(p);
        if (p->at < p->end && *p->at == '\r') p->at++;
        if (p->at == p->end || *p->at != '\n') break;
        p->at++, p->line++;
    }
    if (p->at == p->end) wide = 0;
    p->begins = false, p->token_line = p->line;
    int own = p->levels ? p->indents[p->levels - 1] : 0;
    if (wide > own && p->levels < MOST_LEVELS) {
        p->indents[p->levels++] = wide;
        give(p, T_INDENT, p->at);
        return true;
    }
    while (p->levels > 0 && wide < p->indents[p->levels - 1]) p->levels--, p->closing++;
    return false;
}

static void take_quoted(Parser *p) {
    char quote = *p->at;
    int quotes = p->end - p->at > 2 && p->at[1] == quote && p->at[2] == quote ? 3 : 1;
    for (p->at += quotes; p->at < p->end; p->at++) {
        if (quotes == 1 && *p->at == '\n') return;
        if (*p->at == '\n') p->line++;
        if (*p->at == '\\' && p->at + 1 < p->end) {
            p->line += *++p->at == '\n';
        } else if (*p->at == quote && (quotes == 1 || (p->end - p->at > 2 && p->at[1] == quote && p->at[2] == quote))) {
            p->at += quotes;
            return;
        }
    }
}

static void take_sign(Parser *p) {
    static const char *const signs[] = {"**=", "//=", ">>=", "<<=", "...", "**", "//", "==", "!=", "<=", ">=", "->",
                                        ":=",  "+=",  "-=",  "*=",  "/=",  "%=", "@=", "&=", "|=", "^=", "<<", ">>"};
    const char *begin = p->at++;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if ((size_t)(p->end - begin) < length || strncmp(begin, signs[i], length) != 0) continue;
        p->at = begin + length;
        break;
    }
    if (strchr("([{", *begin)) p->brackets++;
    if (strchr(")]}", *begin) && p->brackets) p->brackets--;
    give(p, T_SIGN, begin);
}

static void next(Parser *p) {
    bool first = p->begins && p->brackets == 0 && p->closing == 0;
    if (first && indents(p)) return;
    if (p->closing > 0) {
        p->closing--;
        give(p, T_DEDENT, p->at);
        return;
    }
    bool was_block = p->kind == T_INDENT || p->kind == T_DEDENT;
    skip_blanks(p);
    const char *begin = p->begin = p->at;
    p->token_line = p->line;
    if (p->at == p->end) {
        p->closing = p->levels, p->levels = 0;
        p->begins = false;
        give(p, p->closing ? T_DEDENT : T_END, p->at);
        p->closing -= p->closing > 0;
    } else if (*p->at == '\n') {
        p->at++, p->line++, p->begins = true;
        give(p, T_LINE, begin);
    } else if ((first || was_block) && (*p->at == '!' || *p->at == '%')) { // of a notebook
        do skip_to_line_end(p);
        while (p->at < p->end && p->at[-1] == '\\' && (p->line++, ++p->at));
        give(p, T_SHELL, begin);
    } else if (isdigit((unsigned char)*p->at) ||
               (*p->at == '.' && p->end - p->at > 1 && isdigit((unsigned char)p->at[1]))) {
        for (p->at++; p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '.' || *p->at == '_' ||
                                         (strchr("+-", *p->at) && strchr("eE", p->at[-1]) && begin[1] != 'x'));)
            p->at++;
        give(p, T_NUMBER, begin);
    } else if (is_letter(*p->at)) {
        while (p->at < p->end && is_letter(*p->at)) p->at++;
        size_t length = (size_t)(p->at - begin);
        bool quoted =
            length < 3 && p->at < p->end && (*p->at == '"' || *p->at == '\'') && strspn(begin, "rRbBuUfFtT") >= length;
        if (quoted) take_quoted(p);
        give(p, quoted ? T_TEXT : T_NAME, begin);
    } else if (*p->at == '"' || *p->at == '\'') {
        take_quoted(p);
        give(p, T_TEXT, begin);
    } else {
        take_sign(p);
    }
}

static bool is(const Parser *p, const char *word) {
    return (p->kind == T_SIGN || p->kind == T_NAME) && (size_t)p->length == strlen(word) &&
           strncmp(p->begin, word, (size_t)p->length) == 0;
}

static bool takes(Parser *p, const char *word) {
    bool does = is(p, word);
    if (does) next(p);
    return does;
}

static bool is_one_of(const Parser *p, const char *words) { // each between blanks
    char word[12] = " ";
    if ((p->kind != T_SIGN && p->kind != T_NAME) || p->length > 8) return false;
    memcpy(word + 1, p->begin, (size_t)p->length);
    memcpy(word + 1 + p->length, " ", 2);
    return strstr(words, word);
}

// ---- Values.

static Node *node(Parser *p, NodeKind kind, const char *text, Node *left, Node *right) {
    static Node full; // of a text that is longer than is read
    if (p->nodes == MOST_NODES) p->at = p->end;
    if (p->nodes >= MOST_NODES) return &full;
    p->nodes++;
    Node *new = ARENA_NEW(p->arena, Node);
    *new = (Node){kind, p->token_line, text, left, right, NULL, NULL, NULL};
    return new;
}

static char *token_text(Parser *p) { return arena_printf(p->arena, "%.*s", p->length, p->begin); }

static Node *value(Parser *p);
static Node *value_of(Parser *p, int power);

// Up to the sign that closes: values, name=value, *value, key: value, value for … in ….
static Node *items_to(Parser *p, const char *close, bool *comma);

// TARGET, … in
static Node *targets(Parser *p) {
    Node *all = node(p, NODE_LIST, "(", NULL, NULL), **last = &all->items;
    while (!is(p, "in") && (*last = value_of(p, 5)) != NULL) {
        last = &(*last)->next;
        if (!takes(p, ",")) break;
    }
    takes(p, "in");
    return all->items && !all->items->next ? all->items : all;
}

// for TARGET in VALUE if CONDITION …, behind what is made of each.
static Node *each(Parser *p, Node *of) {
    Node *all = node(p, NODE_EACH, NULL, of, NULL), **last = &all->items;
    while (is_one_of(p, " for async ")) {
        takes(p, "async");
        next(p);
        Node *loop = *last = node(p, NODE_FOR, NULL, NULL, NULL), **conditions = &loop->items;
        last = &loop->next;
        loop->left = targets(p), loop->right = value_of(p, 1);
        while (takes(p, "if")) {
            *conditions = value_of(p, 1);
            if (*conditions) conditions = &(*conditions)->next;
        }
    }
    return all;
}

static Node *element(Parser *p) {
    if (!is(p, "*") && !is(p, "**")) return value(p);
    char *sign = token_text(p);
    next(p);
    return node(p, NODE_SPREAD, sign, is_one_of(p, " , ) ") ? NULL : value(p), NULL);
}

static Node *item(Parser *p) {
    Node *first = is(p, ":") ? NULL : element(p);
    if (first && first->kind == NODE_NAME && is(p, "=")) {
        next(p);
        first = node(p, NODE_KEYWORD, first->text, value(p), NULL);
    } else if (is(p, ":")) {
        next(p);
        bool ends = is_one_of(p, " ] } , ) : ");
        first = node(p, NODE_PAIR, NULL, first, ends ? NULL : value(p));
        if (takes(p, ":") && !is_one_of(p, " ] } , ) ")) value(p); // a step
        if (first->right && takes(p, "="))
            first = node(p, NODE_KEYWORD, first->left ? first->left->text : NULL, value(p), NULL);
    }
    return first && is_one_of(p, " for async ") ? each(p, first) : first;
}

static Node *items_to(Parser *p, const char *close, bool *comma) {
    Node *items = NULL, **last = &items;
    while (p->kind != T_END && p->kind != T_LINE && !is(p, close)) {
        const char *before = p->begin;
        Node *one = item(p);
        if (one) *last = one, last = &one->next;
        if (takes(p, ",")) {
            if (comma) *comma = true;
        } else if (!is(p, close)) {
            if (p->kind == T_LINE || is_one_of(p, " ) ] } ")) break;
            if (p->begin == before) next(p);
        }
    }
    takes(p, close);
    return items;
}

// Between quotes, as it is meant.
static char *unquoted(Parser *p, bool *formats) {
    const char *at = p->begin, *end = p->begin + p->length;
    bool raw = false;
    for (; *at != '"' && *at != '\''; at++) raw |= strchr("rR", *at) != NULL, *formats |= strchr("fF", *at) != NULL;
    size_t quotes = end - at > 5 && at[1] == *at && at[2] == *at ? 3 : 1, whole = (size_t)(end - at);
    char quote = *at;
    at += quotes;
    if (whole >= 2 * quotes && end[-1] == quote) end -= quotes;
    if (end < at) end = at;
    if (end - at > LONGEST_TEXT) end = at + LONGEST_TEXT;
    char *text = arena_printf(p->arena, "%.*s", (int)(end - at), at), *to = text;
    for (const char *from = text; *from && !raw; from++) {
        static const char letters[] = "ntr0", meant[] = "\n\t\r ";
        const char *known = *from == '\\' && from[1] ? strchr(letters, from[1]) : NULL;
        if (known)
            from++, *to++ = meant[known - letters];
        else if (*from == '\\' && strchr("\\\"'\n", from[1]) && from[1])
            from += 1, *from == '\n' ? 0 : (*to++ = *from);
        else
            *to++ = *from;
    }
    if (!raw) *to = '\0';
    return text;
}

// Texts that stand side by side are one.
static Node *texts(Parser *p) {
    bool formats = false;
    Node *all = node(p, NODE_TEXT, NULL, NULL, NULL);
    char *text = unquoted(p, &formats);
    for (next(p); p->kind == T_TEXT && p->depth < DEEPEST; next(p)) {
        bool own = false;
        const char *more = unquoted(p, &own);
        if (own != formats) { // braces of one are not those of the other
            all->text = text, all->kind = formats ? NODE_FORMAT : NODE_TEXT;
            p->depth++;
            Node *rest = texts(p);
            p->depth--;
            return node(p, NODE_BINARY, "+", all, rest);
        }
        text = arena_printf(p->arena, "%.*s%s", LONGEST_TEXT, text, more);
    }
    all->text = text, all->kind = formats ? NODE_FORMAT : NODE_TEXT;
    return all;
}

static Node *atom(Parser *p) {
    static const char keywords[] = " if else elif for in is and or while def class return import from with try except "
                                   "finally raise assert del as global pass ";
    Node *out = NULL;
    bool comma = false;
    if (p->kind == T_TEXT) return texts(p);
    if (p->kind == T_NUMBER || (p->kind == T_NAME && !is_one_of(p, keywords))) {
        out = node(p, p->kind == T_NUMBER ? NODE_NUMBER : NODE_NAME, token_text(p), NULL, NULL);
        next(p);
        if (strcmp(out->text, "lambda") == 0) {
            out->kind = NODE_LAMBDA;
            Node **last = &out->items;
            while (!is(p, ":") && p->kind != T_LINE && p->kind != T_END && (*last = item(p)) != NULL) {
                if ((*last)->kind == NODE_PAIR) { // its colon was taken for another's
                    out->left = (*last)->right;
                    *last = (*last)->left;
                    return out;
                }
                last = &(*last)->next;
                if (!takes(p, ",")) break;
            }
            if (takes(p, ":")) out->left = value(p);
        }
    } else if (takes(p, "(")) {
        out = node(p, NODE_LIST, "(", NULL, NULL);
        out->items = items_to(p, ")", &comma);
        bool alone = out->items && !out->items->next && !comma;
        if (alone && out->items->kind != NODE_SPREAD && out->items->kind != NODE_KEYWORD) out = out->items;
    } else if (takes(p, "[")) {
        out = node(p, NODE_LIST, "[", NULL, NULL);
        out->items = items_to(p, "]", NULL);
        if (out->items && out->items->kind == NODE_EACH) out = out->items;
    } else if (takes(p, "{")) {
        out = node(p, NODE_DICT, NULL, NULL, NULL);
        out->items = items_to(p, "}", NULL);
        if (out->items && out->items->kind == NODE_EACH) return out->items;
        bool pairs = !out->items || out->items->kind == NODE_PAIR ||
                     (out->items->kind == NODE_SPREAD && out->items->text[1] == '*');
        if (!pairs) out->kind = NODE_LIST, out->text = "{";
    } else if (takes(p, "...")) {
        out = node(p, NODE_UNKNOWN, NULL, NULL, NULL);
    }
    return out;
}

static Node *postfix(Parser *p) {
    Node *out = atom(p);
    while (out && p->nodes < MOST_NODES) {
        if (takes(p, ".")) {
            if (p->kind != T_NAME) break;
            out = node(p, NODE_ATTRIBUTE, token_text(p), out, NULL);
            next(p);
        } else if (is(p, "(") || is(p, "[")) {
            bool calls = is(p, "(");
            out = node(p, calls ? NODE_CALL : NODE_ITEM, NULL, out, NULL);
            next(p);
            Node *items = items_to(p, calls ? ")" : "]", NULL);
            if (calls) {
                out->items = items;
            } else if (items && items->next) {
                out->right = node(p, NODE_LIST, "(", NULL, NULL);
                out->right->items = items;
            } else if ((out->right = items) != NULL && items->kind == NODE_PAIR) {
                items->kind = NODE_SLICE;
            }
        } else {
            break;
        }
    }
    return out;
}

// How tightly a sign between two values binds; 0: it is none.
static int power_of(const Parser *p) {
    static const char *const powers[] = {
        " or ",         " and ", "",    " in not is < > == != <= >= ", " | ", " ^ ", " & ", " << >> ", " + - ",
        " * / // % @ ", "",      " ** "};
    for (int i = 0; i < 12; i++)
        if (*powers[i] && is_one_of(p, powers[i])) return i + 1;
    return 0;
}

static Node *value_of(Parser *p, int power) {
    Node *left = NULL;
    if (p->depth >= DEEPEST) return NULL;
    p->depth++;
    if (is_one_of(p, " not - + ~ await ")) {
        const char *sign = token_text(p);
        next(p);
        left = node(p, NODE_UNARY, sign, value_of(p, *sign == 'n' ? 3 : 11), NULL);
    } else {
        left = postfix(p);
    }
    for (int own; left && (own = power_of(p)) >= power && own > 0;) {
        const char *sign = token_text(p);
        next(p);
        if (strcmp(sign, "is") == 0 && takes(p, "not")) sign = "is not";
        if (strcmp(sign, "not") == 0 && takes(p, "in")) sign = "not in";
        left = node(p, NODE_BINARY, sign, left, value_of(p, own == 12 ? 11 : own + 1));
    }
    p->depth--;
    return left;
}

static Node *value(Parser *p) {
    Node *first = value_of(p, 1);
    if (p->depth >= DEEPEST) return first;
    if (first && takes(p, "if")) {
        Node *choice = node(p, NODE_CHOICE, NULL, first, NULL);
        choice->items = value_of(p, 1);
        p->depth++;
        if (takes(p, "else")) choice->right = value(p);
        p->depth--;
        return choice;
    }
    if (first && takes(p, ":=")) return node(p, NODE_ASSIGN, "=", first, value(p));
    return first;
}

// ---- Statements.

static Node *statement(Parser *p);

static void end_line(Parser *p) { // whatever is left of it
    while (p->kind != T_LINE && p->kind != T_END && p->kind != T_DEDENT && p->kind != T_INDENT) next(p);
    if (p->kind == T_LINE) next(p);
}

// Behind a colon: what is indented, or what stands on the same line.
static Node *block(Parser *p) {
    Node *items = NULL, **last = &items;
    while (p->kind != T_LINE && p->kind != T_END && !is(p, ":")) next(p);
    takes(p, ":");
    if (p->kind != T_LINE) return p->depth < DEEPEST ? statement(p) : NULL;
    next(p);
    if (p->kind != T_INDENT) return NULL;
    next(p);
    p->depth++;
    while (p->kind != T_DEDENT && p->kind != T_END) {
        Node *one = p->depth < DEEPEST ? statement(p) : NULL;
        if (!one && p->depth >= DEEPEST) next(p);
        for (*last = one; *last;) last = &(*last)->next;
    }
    p->depth--;
    if (p->kind == T_DEDENT) next(p);
    return items;
}

static Node *values(Parser *p) { // a, b
    Node *first = element(p), *all = NULL;
    if (!first || !is(p, ",")) return first;
    all = node(p, NODE_LIST, "(", NULL, NULL);
    all->items = first;
    while (takes(p, ",") && p->kind != T_LINE && !is(p, "=") && (first->next = element(p)) != NULL) first = first->next;
    return all;
}

static const char *dotted(Parser *p) {
    const char *path = "";
    while (p->kind != T_LINE && p->kind != T_END && !is_one_of(p, " import as , ) ; ") && strlen(path) < 300) {
        path = arena_printf(p->arena, "%s%.*s", path, p->length, p->begin);
        next(p);
    }
    return path;
}

// import a.b as c, d; from .a import (b as c, d), *
static Node *import(Parser *p) {
    Node *all = node(p, NODE_IMPORT, NULL, NULL, NULL), **last = &all->items;
    const char *from = takes(p, "from") ? dotted(p) : NULL;
    takes(p, "import");
    takes(p, "(");
    while (p->kind == T_NAME || is(p, "*")) {
        const char *path = from ? token_text(p) : dotted(p);
        const char *name = path;
        if (from) next(p);
        if (takes(p, "as")) {
            name = token_text(p);
            next(p);
        }
        Node *one = *last = node(p, NODE_KEYWORD, name, node(p, NODE_NAME, path, NULL, NULL), NULL);
        one->right = from ? node(p, NODE_NAME, from, NULL, NULL) : NULL;
        last = &one->next;
        if (!takes(p, ",")) break;
    }
    return all;
}

static Node *definition(Parser *p, Node *decorators) {
    bool is_class = is(p, "class");
    next(p);
    if (p->kind != T_NAME) {
        end_line(p);
        return NULL;
    }
    Node *out = node(p, is_class ? NODE_CLASS : NODE_DEF, token_text(p), NULL, NULL);
    out->others = decorators;
    out->left = node(p, NODE_LIST, "(", NULL, NULL);
    next(p);
    if (takes(p, "[")) items_to(p, "]", NULL);
    if (takes(p, "(")) {
        p->depth++;
        out->left->items = items_to(p, ")", NULL);
        p->depth--;
    }
    out->items = block(p);
    return out;
}

static Node *condition(Parser *p) {
    Node *out = node(p, NODE_IF, NULL, value(p), NULL);
    out->items = block(p);
    if (is(p, "elif") || is(p, "else")) {
        bool again = is(p, "elif");
        next(p);
        p->depth++;
        out->others = again && p->depth < DEEPEST ? condition(p) : block(p);
        p->depth--;
    }
    return out;
}

// "a" | "b", _: what the subject is then compared with.
static Node *pattern(Parser *p, Node *subject, Node *of) {
    if (of && of->kind == NODE_BINARY && strcmp(of->text, "|") == 0)
        return node(p, NODE_BINARY, "or", pattern(p, subject, of->left), pattern(p, subject, of->right));
    if (of && of->kind == NODE_NAME && of->text[0] == '_') return node(p, NODE_NUMBER, "1", NULL, NULL);
    return node(p, NODE_BINARY, "==", subject, of);
}

// match VALUE: case …; NULL: it is a name that stands there, and nothing was read.
static Node *match(Parser *p) {
    Parser before = *p;
    next(p);
    Node *subject = value(p), *first = NULL, **last = &first;
    bool is_match = subject && takes(p, ":") && p->kind == T_LINE && (next(p), p->kind == T_INDENT);
    if (is_match) next(p);
    if (!is_match || !is(p, "case")) {
        *p = before;
        return NULL;
    }
    while (takes(p, "case")) {
        Node *one = *last = node(p, NODE_IF, NULL, NULL, NULL);
        one->left = pattern(p, subject, value_of(p, 1));
        one->items = block(p);
        last = &one->others;
    }
    if (p->kind == T_DEDENT) next(p);
    return first;
}

// with A as b, C: …: assignments, then what is indented.
static Node *with(Parser *p) {
    Node *out = node(p, NODE_BLOCK, NULL, NULL, NULL), **last = &out->items;
    takes(p, "("); // of several lines; its end is skipped with what stands before the colon
    do {
        Node *one = value(p);
        if (!one) break;
        if (takes(p, "as")) one = node(p, NODE_ASSIGN, "=", value_of(p, 11), one);
        *last = one;
        last = &one->next;
    } while (takes(p, ",") && p->kind != T_LINE);
    *last = block(p);
    return out;
}

static Node *simple(Parser *p) {
    if (is_one_of(p, " import from ")) return import(p);
    if (is_one_of(p, " return raise break continue yield ")) {
        bool leaves = is_one_of(p, " break continue "), yields = is(p, "yield");
        Node *out = node(p, leaves ? NODE_LEAVE : NODE_RETURN, token_text(p), NULL, NULL);
        next(p);
        if (yields && takes(p, "from")) out->text = "yield from";
        if (p->kind != T_LINE && !leaves) out->left = values(p);
        return out;
    }
    if (is_one_of(p, " pass global del assert ")) return NULL;
    Node *left = values(p), *out = NULL, **last = &out;
    if (!left) return NULL;
    if (takes(p, ":")) value(p); // its type
    while (is_one_of(p, " = += -= *= /= //= **= |= %= ")) {
        Node *one = *last = node(p, NODE_ASSIGN, token_text(p), left, NULL);
        next(p);
        left = values(p);
        last = &one->next;
    }
    if (!out) return left;
    for (Node *one = out; one; one = one->next) one->right = left; // a = b = value
    return out;
}

static Node *statement(Parser *p) {
    Node *decorators = NULL, *out = NULL;
    if (p->kind == T_INDENT) { // that no line before it opens
        out = node(p, NODE_BLOCK, "perhaps", NULL, NULL);
        next(p);
        Node **last = &out->items;
        p->depth++;
        while (p->kind != T_DEDENT && p->kind != T_END && p->depth < DEEPEST)
            for (*last = statement(p); *last;) last = &(*last)->next;
        p->depth--;
        while (p->kind != T_DEDENT && p->kind != T_END) next(p);
        if (p->kind == T_DEDENT) next(p);
        return out;
    }
    if (p->kind == T_SHELL) {
        out = node(p, NODE_SHELL, token_text(p), NULL, NULL);
        next(p);
        end_line(p);
        return out;
    }
    while (is(p, "@")) {
        next(p);
        Node *one = value(p);
        if (one) one->next = decorators, decorators = one;
        end_line(p);
    }
    takes(p, "async");
    if (is(p, "def") || is(p, "class")) return definition(p, decorators);
    if (is(p, "match") && (out = match(p)) != NULL) return out;
    if (takes(p, "if")) return condition(p);
    if (takes(p, "with")) return with(p);
    bool perhaps = is_one_of(p, " while except ");
    if (takes(p, "for")) {
        Node *left = targets(p);
        out = node(p, NODE_FOR, NULL, left, values(p));
    } else if (perhaps || is_one_of(p, " try else finally ")) {
        out = node(p, NODE_BLOCK, perhaps ? "perhaps" : NULL, NULL, NULL);
        next(p);
    }
    if (out) {
        out->items = block(p);
        return out;
    }
    out = simple(p);
    Node **last = &out;
    while (*last) last = &(*last)->next;
    if (takes(p, ";") && p->depth < DEEPEST && p->kind != T_LINE) {
        p->depth++;
        *last = statement(p);
        p->depth--;
        return out;
    }
    end_line(p);
    return out;
}

const Node *python_parse(Arena *arena, const char *text, size_t bytes, bool *whole) {
    Parser p = {.arena = arena, .at = text, .end = text + bytes, .line = 1, .begins = true};
    Node *all = node(&p, NODE_BLOCK, NULL, NULL, NULL), **last = &all->items;
    next(&p);
    while (p.kind != T_END) {
        const char *before = p.begin;
        TokenKind kind = p.kind;
        for (*last = statement(&p); *last;) last = &(*last)->next;
        if (p.begin == before && p.kind == kind && p.kind != T_END) next(&p);
    }
    *whole = p.nodes < MOST_NODES;
    return all;
}

const Node *python_parse_value(Arena *arena, const char *text, size_t bytes) {
    Parser p = {.arena = arena, .at = text, .end = text + bytes, .line = 1, .brackets = 1};
    next(&p);
    return value(&p);
}
