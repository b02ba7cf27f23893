// Commands of a script: lists, branches, loops, functions, here-documents.
#include "scenarios/import/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/shell_internal.h"
#include "sim/base/list.h"

typedef struct Reader {
    Shell *shell;
    const char *at, *end;
    const char *heredoc; // where the next here-document of this line begins; NULL: none is open
    const char *file;
    int line;
    bool live, fixed; // live: commands count; fixed: a text within a line, all of which stands there
} Reader;

typedef enum Truth { IS_FALSE, IS_TRUE, IS_UNKNOWN } Truth;

Shell *shell_create(Arena *arena, ShellHooks hooks) {
    Shell *shell = ARENA_NEW(arena, Shell);
    *shell = (Shell){.arena = arena, .hooks = hooks};
    return shell;
}

void shell_note(Shell *shell, int line, const char *format, ...) {
    if (shell->notes.count >= SHELL_NOTES) return;
    va_list arguments;
    va_start(arguments, format);
    ShellNote note = {{shell->file, line}, arena_vprintf(shell->arena, format, arguments)};
    va_end(arguments);
    for (int i = 0; i < shell->notes.count; i++)
        if (shell->notes.items[i].where.line == line && strcmp(shell->notes.items[i].text, note.text) == 0) return;
    LIST_PUSH(shell->arena, &shell->notes, note);
}

const ShellNote *shell_notes(const Shell *shell, int *count) {
    *count = shell->notes.count;
    return shell->notes.items;
}

// ---- Variables and files.

ShellVariable *shell_find(const Shell *shell, const char *name) {
    for (int hops = 0; hops < 4; hops++) {
        ShellVariable *found = NULL;
        for (int i = 0; i < shell->variables.count && !found; i++)
            if (strcmp(shell->variables.items[i].name, name) == 0) found = &shell->variables.items[i];
        if (!found || !found->refers) return found;
        name = found->refers;
    }
    return NULL;
}

static ShellVariable *variable_named(Shell *shell, const char *name, Where where) {
    ShellVariable *there = shell_find(shell, name);
    if (there || shell->variables.count >= SHELL_VARIABLES) return there;
    ShellVariable variable = {.name = arena_copy_text(shell->arena, name), .where = where};
    LIST_PUSH(shell->arena, &shell->variables, variable);
    return &shell->variables.items[shell->variables.count - 1];
}

void shell_set(Shell *shell, const char *name, const char *value, Where where, bool exported) {
    ShellVariable *variable = variable_named(shell, name, where);
    if (!variable) return;
    ShellWord word = {value, where.line};
    variable->words = (ShellWords){0};
    LIST_PUSH(shell->arena, &variable->words, word);
    variable->exported |= exported;
    variable->where = where;
}

// NAME[KEY]=VALUE: of a list by its number; a map's stand beside it as "NAME[KEY]".
void shell_set_element(Shell *shell, const char *name, const char *index, const char *close, const char *value,
                       Where where) {
    ShellVariable *variable = shell_find(shell, name);
    long long n = 0;
    bool numbered = variable && variable->is_list && variable->words.count &&
                    shell_arithmetic(shell, index, close, &n) && n >= 0 && n <= variable->words.count;
    ShellWord word = {value, where.line};
    if (numbered && n < variable->words.count)
        variable->words.items[n] = word;
    else if (numbered)
        LIST_PUSH(shell->arena, &variable->words, word);
    else
        shell_set(shell, shell_element(shell, name, index, close), value, where, false);
}

const ShellVariable *shell_variables(const Shell *shell, int *count) {
    *count = shell->variables.count;
    return shell->variables.items;
}

const char *shell_value(const Shell *shell, const char *name) {
    const ShellVariable *variable = shell_find(shell, name);
    return variable && variable->words.count ? variable->words.items[0].text : NULL;
}

static const char *plain_path(const char *path) { return strncmp(path, "./", 2) == 0 ? path + 2 : path; }

const char *shell_file(const Shell *shell, const char *path) {
    for (int i = shell->files.count - 1; i >= 0; i--)
        if (strcmp(plain_path(shell->files.items[i].path), plain_path(path)) == 0) return shell->files.items[i].text;
    return NULL;
}

// ---- Reading on.

static bool over(const Reader *r) { return r->at >= r->end || r->shell->steps > SHELL_STEPS; }

static void move_to(Reader *r, const char *to) {
    for (; r->at < to; r->at++)
        if (*r->at == '\n' && !r->fixed) r->line++;
}

static void end_line(Reader *r) { // at a line's end; here-documents stand behind it
    move_to(r, r->at + 1);
    if (r->heredoc) move_to(r, r->heredoc);
    r->heredoc = NULL;
}

static void skip_blanks(Reader *r) {
    while (!over(r)) {
        if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
            r->at++;
        else if (*r->at == '\\' && r->end - r->at > 1 && r->at[1] == '\n')
            move_to(r, r->at + 2);
        else if (*r->at == '\\' && r->end - r->at > 2 && r->at[1] == '\r' && r->at[2] == '\n')
            move_to(r, r->at + 3);
        else if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') r->at++;
        else
            return;
    }
}

static void skip_empty(Reader *r) {
    for (skip_blanks(r); !over(r) && (*r->at == '\n' || *r->at == ';'); skip_blanks(r)) {
        if (r->end - r->at > 1 && strncmp(r->at, ";;", 2) == 0) return; // of case
        if (*r->at == '\n')
            end_line(r);
        else
            r->at++;
    }
}

static const char *word_end(const Reader *r) {
    const char *at = r->at;
    while (at < r->end && !isspace((unsigned char)*at) && !strchr(";&|()", *at)) {
        if ((*at == '<' || *at == '>') && !(r->end - at > 1 && at[1] == '(')) break;
        if (*at == '\\' && r->end - at > 1 && at[1] == '\n') break;
        at = shell_after(at, r->end, 0);
    }
    return at;
}

static bool next_is(const Reader *r, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || strncmp(r->at, word, length) != 0) return false;
    return r->at + length == r->end || isspace((unsigned char)r->at[length]) || strchr(";()&|", r->at[length]);
}

static bool next_is_one_of(const Reader *r, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (next_is(r, words[i])) return true;
    return false;
}

static Truth run_list(Reader *r, const char *const *until);

static void run_text(Shell *shell, const char *file, const char *begin, const char *end, int line, bool fixed) {
    if (shell->depth >= SHELL_DEEPEST) {
        shell_note(shell, line, "this goes on within itself, and is not followed further");
        return;
    }
    const char *outer = shell->file;
    Reader r = {shell, begin, end, NULL, file, line, true, fixed};
    static const char *const none[] = {NULL};
    shell->depth++;
    shell->file = file;
    while (!over(&r)) {
        run_list(&r, none);
        if (!over(&r)) move_to(&r, r.at + 1); // a bracket that closes nothing
    }
    shell->file = outer;
    shell->depth--;
}

void shell_run(Shell *shell, const char *file, const char *text, size_t bytes) {
    run_text(shell, file, text, text + bytes, 1, false);
}

void shell_run_words(Shell *shell, const char *text, Where where) {
    run_text(shell, where.file, text, text + strlen(text), where.line, true);
}

const char *shell_joined(Shell *shell, const ShellWords *words, int from) {
    ShellText text = {0};
    for (int i = from; i < words->count; i++) {
        shell_put(shell, &text, " ", 1);
        shell_put(shell, &text, words->items[i].text, strlen(words->items[i].text));
    }
    return text.over ? "" : shell_letters(&text);
}

static void run_file(Shell *shell, const char *path, Where where) {
    size_t bytes = 0;
    if (!is_known(path)) return;
    const char *text = shell_file(shell, path);
    if (text) bytes = strlen(text);
    if (!text && shell->depth < SHELL_DEEPEST / 3) text = shell->hooks.read(shell->hooks.context, path, where, &bytes);
    if (text) run_text(shell, arena_copy_text(shell->arena, path), text, text + bytes, 1, false);
}

void shell_run_file(Shell *shell, const char *path, const ShellWords *arguments, Where where) {
    const ShellWords *outer = shell->arguments;
    shell->arguments = arguments;
    run_file(shell, path, where);
    shell->arguments = outer;
}

// ---- Conditions.

static Truth of_bool(bool truth) { return truth ? IS_TRUE : IS_FALSE; }
static Truth inverse(Truth truth) { return truth == IS_UNKNOWN ? IS_UNKNOWN : of_bool(truth == IS_FALSE); }

// A pattern with stars, as case and [[ have them.
static bool fits(const char *pattern, const char *text, int depth) {
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            if (depth > 8) return false;
            for (pattern++; *text; text++)
                if (fits(pattern, text, depth + 1)) return true;
            return fits(pattern, text, depth + 1);
        }
        if (!*text || (*pattern != '?' && *pattern != *text)) return false;
    }
    return !*text;
}

static Truth compare(const char *a, const char *sign, const char *b) {
    static const char *const signs[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    if (!is_known(a) || !is_known(b)) return IS_UNKNOWN;
    if (strcmp(sign, "==") == 0 || strcmp(sign, "=") == 0) return of_bool(fits(b, a, 0));
    if (strcmp(sign, "!=") == 0) return of_bool(!fits(b, a, 0));
    long long x = strtoll(a, NULL, 10), y = strtoll(b, NULL, 10);
    const bool holds[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    for (int i = 0; i < 6; i++)
        if (strcmp(sign, signs[i]) == 0) return of_bool(holds[i]);
    return IS_UNKNOWN;
}

static Truth one_test(const ShellWord *words, int count) {
    if (count > 0 && strcmp(words[0].text, "!") == 0) return inverse(one_test(words + 1, count - 1));
    if (count == 3) return compare(words[0].text, words[1].text, words[2].text);
    if (count == 1) return is_known(words[0].text) ? of_bool(*words[0].text) : IS_UNKNOWN;
    if (count == 2 && is_known(words[1].text)) {
        if (strcmp(words[0].text, "-z") == 0) return of_bool(!*words[1].text);
        if (strcmp(words[0].text, "-n") == 0) return of_bool(*words[1].text);
    }
    return count == 0 ? IS_FALSE : IS_UNKNOWN;
}

static Truth both(Truth a, Truth b) {
    if (a == IS_FALSE || b == IS_FALSE) return IS_FALSE;
    return a == IS_TRUE && b == IS_TRUE ? IS_TRUE : IS_UNKNOWN;
}

// "a == b && -n c": left to right.
static Truth tested(const ShellWords *words) {
    Truth all = IS_TRUE;
    bool any = false;
    int begin = 1, end = words->count;
    if (end > 1 && words->items[end - 1].text[0] == ']') end--;
    for (int i = begin; i <= end && end > begin; i++) {
        const char *word = i < end ? words->items[i].text : "&&";
        bool and = strcmp(word, "&&") == 0 || strcmp(word, "-a") == 0;
        bool or = strcmp(word, "||") == 0 || strcmp(word, "-o") == 0;
        if (!and&&! or) continue;
        Truth one = one_test(&words->items[begin], i - begin);
        all = any ? inverse(both(inverse(all), inverse(one))) : both(all, one);
        any = or ;
        begin = i + 1;
    }
    return all;
}

// "[[ … ]]": its words, && and || among them.
static Truth run_double_test(Reader *r) {
    ShellWords words = {0};
    ShellWord first = {"[[", r->line};
    LIST_PUSH(r->shell->arena, &words, first);
    bool outer = r->shell->unset_is_empty;
    r->shell->unset_is_empty = true;
    for (skip_blanks(r); !over(r); skip_blanks(r)) {
        if (*r->at == '\n') {
            end_line(r);
            continue;
        }
        bool is_sign = strchr("&|()<>;", *r->at) != NULL;
        const char *stop = is_sign ? r->at + (r->end - r->at > 1 && r->at[1] == *r->at ? 2 : 1) : word_end(r);
        if (stop == r->at) stop++;
        bool last = stop - r->at == 2 && strncmp(r->at, "]]", 2) == 0;
        ShellWord word = {is_sign   ? arena_printf(r->shell->arena, "%.*s", (int)(stop - r->at), r->at)
                          : r->live ? shell_expand_one(r->shell, r->at, stop, r->line)
                                    : "",
                          r->line};
        if (!is_sign || word.text[0] != '(') LIST_PUSH(r->shell->arena, &words, word);
        move_to(r, stop);
        if (last) break;
    }
    r->shell->unset_is_empty = outer;
    return tested(&words);
}

// ---- Assignments.

static const char *assignment_sign(const char *begin, const char *end) {
    const char *at = begin;
    if (at >= end || !(isalpha((unsigned char)*at) || *at == '_')) return NULL;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    if (at < end && *at == '[') {
        const char *close = memchr(at, ']', (size_t)(end - at));
        at = close ? close + 1 : at;
    }
    if (at < end && *at == '=') return at;
    return end - at > 1 && at[0] == '+' && at[1] == '=' ? at : NULL;
}

static void read_array(Reader *r, const char *name, ShellVariable *variable, bool adds) {
    ShellWords words = {0};
    if (variable && adds) words = variable->words;
    for (r->at++; !over(r);) {
        skip_empty(r);
        if (over(r) || *r->at == ')') break;
        const char *stop = word_end(r);
        if (stop == r->at) stop++;
        const char *close = *r->at == '[' ? memchr(r->at, ']', (size_t)(stop - r->at)) : NULL;
        if (close && stop - close > 1 && close[1] == '=' && variable && r->live)
            shell_set_element(r->shell, variable->name, r->at + 1, close,
                              shell_expand_one(r->shell, close + 2, stop, r->line), (Where){r->file, r->line});
        else
            shell_expand(r->shell, r->at, stop, r->line, true, &words);
        move_to(r, stop);
    }
    if (r->at < r->end) r->at++;
    variable = variable ? shell_find(r->shell, name) : NULL; // elements may have moved it
    if (!variable || !r->live) return;
    variable->words = words;
    variable->is_list = true;
}

// local -n NAME=OTHER: a name for another variable, which is there from now on.
static void refer(Shell *shell, const char *name, const char *other, Where where) {
    if (strcmp(name, other) == 0) return;
    if (!shell_find(shell, other)) variable_named(shell, other, where);
    ShellVariable *variable = NULL;
    for (int i = 0; i < shell->variables.count && !variable; i++)
        if (strcmp(shell->variables.items[i].name, name) == 0) variable = &shell->variables.items[i];
    if (!variable) variable = variable_named(shell, name, where);
    if (variable) variable->refers = arena_copy_text(shell->arena, other);
}

// At NAME=… or NAME+=…; behind it.
static void assign(Reader *r, const char *sign, bool exported, bool refers) {
    Shell *shell = r->shell;
    const char *name_end = sign;
    const char *bracket = memchr(r->at, '[', (size_t)(sign - r->at));
    if (bracket) name_end = bracket;
    const char *name = arena_printf(shell->arena, "%.*s", (int)(name_end - r->at), r->at);
    bool adds = *sign == '+';
    Where where = {r->file, r->line};
    r->at = sign + (adds ? 2 : 1);
    if (!over(r) && *r->at == '(') {
        ShellVariable *variable = r->live ? variable_named(shell, name, where) : NULL;
        read_array(r, name, variable, adds);
        variable = r->live ? shell_find(shell, name) : NULL;
        if (variable) variable->where = where, variable->exported |= exported;
        return;
    }
    const char *stop = word_end(r);
    if (r->live && bracket) {
        const char *close = memchr(bracket, ']', (size_t)(sign - bracket));
        const char *value = shell_expand_one(shell, r->at, stop, r->line);
        if (close && !adds) shell_set_element(shell, name, bracket + 1, close, value, where);
    } else if (r->live) {
        const char *value = shell_expand_one(shell, r->at, stop, r->line);
        const char *before = adds ? shell_value(shell, name) : NULL;
        if (before && strlen(before) + strlen(value) < SHELL_LONGEST && shell->bytes < SHELL_BYTES) {
            value = arena_printf(shell->arena, "%s%s", before, value);
            shell->bytes += strlen(value);
        }
        if (refers)
            refer(shell, name, value, where);
        else
            shell_set(shell, name, value, where, exported);
    }
    move_to(r, stop);
}

// ---- Simple commands.

typedef struct Simple {
    ShellWords words;
    const char *input, *source, *output; // a here-document, a file that is read, and one that is written
    bool appends, of_errors;             // of_errors: the redirection at hand is not of what is printed
    bool shows_test;                     // "[": what is not set is empty
} Simple;

static bool is_word(const Simple *simple, int i, const char *text) {
    return simple->words.count > i && strcmp(simple->words.items[i].text, text) == 0;
}

static void take_heredoc(Reader *r, Simple *simple) { // at the word behind "<<"
    const char *line = r->heredoc, *body;
    if (!line) {
        line = memchr(r->at, '\n', (size_t)(r->end - r->at));
        line = line ? line + 1 : r->end;
    }
    size_t length;
    bool quoted;
    r->heredoc = shell_heredoc(r->shell, r->at, r->end, line, &body, &length, &quoted);
    if (r->live)
        simple->input = quoted ? arena_printf(r->shell->arena, "%.*s", (int)length, body)
                               : shell_expand_body(r->shell, body, body + length, r->line);
    if (*r->at == '-') r->at++;
    skip_blanks(r);
    move_to(r, word_end(r));
}

static void take_redirection(Reader *r, Simple *simple) {
    bool writes = *r->at == '>';
    if (r->end - r->at > 2 && strncmp(r->at, "<<<", 3) == 0) {
        r->at += 3;
        skip_blanks(r);
        const char *stop = word_end(r);
        if (r->live)
            simple->input = arena_printf(r->shell->arena, "%s\n", shell_expand_one(r->shell, r->at, stop, r->line));
        move_to(r, stop > r->at ? stop : r->at + 1);
        return;
    }
    if (r->end - r->at > 1 && strncmp(r->at, "<<", 2) == 0) {
        r->at += 2;
        take_heredoc(r, simple);
        return;
    }
    bool other = simple->of_errors || (r->end - r->at > 1 && r->at[1] == '&'); // errors, or a descriptor
    bool twice = r->end - r->at > 1 && r->at[1] == '>';
    while (!over(r) && strchr("<>&|", *r->at)) r->at++;
    skip_blanks(r);
    const char *stop = word_end(r), *path = r->live && !other ? shell_expand_one(r->shell, r->at, stop, r->line) : NULL;
    if (path && writes) simple->output = path, simple->appends = twice;
    if (path && !writes) simple->source = path;
    move_to(r, stop);
}

static bool is_descriptor(const char *begin, const char *end, const Reader *r) {
    for (const char *at = begin; at < end; at++)
        if (!isdigit((unsigned char)*at)) return false;
    return end > begin && end < r->end && (*end == '<' || *end == '>');
}

static void run_function(Shell *shell, const ShellFunction *function, const ShellWords *words) {
    const ShellWords *outer = shell->arguments;
    ShellWords *own = ARENA_NEW(shell->arena, ShellWords);
    *own = (ShellWords){words->items + 1, words->count - 1, words->count - 1};
    shell->arguments = own;
    shell->within_functions++;
    run_text(shell, function->file, function->begin, function->end, function->line, false);
    shell->within_functions--;
    shell->leaves = LEAVES_NOTHING;
    shell->arguments = outer;
}

// What it reads: a here-document, a file beside the script, or what stands before "|"; NULL: not known.
static const char *input_of(Shell *shell, const Simple *simple, Where where) {
    size_t bytes = 0;
    const char *own = simple->source ? shell_file(shell, simple->source) : NULL;
    if (simple->input) return simple->input;
    if (own || !simple->source) return own ? own : shell->piped;
    return is_known(simple->source) ? shell->hooks.read(shell->hooks.context, simple->source, where, &bytes) : NULL;
}

static void keep_text(Shell *shell, const char *path, const char *text, bool appends, Where where) {
    size_t bytes = 0;
    if (!*path) return;
    const char *before = appends ? shell_file(shell, path) : NULL;
    if (appends && !before && is_known(path)) before = shell->hooks.read(shell->hooks.context, path, where, &bytes);
    if (before) {
        ShellText both = {0};
        shell_put(shell, &both, before, strlen(before));
        shell_put(shell, &both, text, strlen(text));
        text = shell_letters(&both);
    }
    ShellFile *file = NULL;
    for (int i = 0; i < shell->files.count && !file; i++)
        if (strcmp(plain_path(shell->files.items[i].path), plain_path(path)) == 0) file = &shell->files.items[i];
    if (!text || (!file && shell->files.count >= 64))
        shell_note(shell, where.line, "more is written to files than is followed");
    else if (file)
        file->text = text;
    else
        LIST_PUSH(shell->arena, &shell->files, ((ShellFile){path, text}));
}

static void keep_file(Shell *shell, const Simple *simple, const char *text, Where where) {
    if (simple->output) keep_text(shell, simple->output, text, simple->appends, where);
    bool appends = is_word(simple, 1, "-a") || is_word(simple, 1, "--append");
    for (int i = 1; i < simple->words.count && is_word(simple, 0, "tee"); i++)
        if (simple->words.items[i].text[0] != '-') keep_text(shell, simple->words.items[i].text, text, appends, where);
}

// read -r -d '' NAME <<EOT
static void read_into(Shell *shell, const Simple *simple, Where where) {
    const char *name = simple->words.items[simple->words.count - 1].text;
    size_t length = simple->input ? strlen(simple->input) : 0;
    while (length && simple->input[length - 1] == '\n') length--;
    if (simple->input && simple->words.count > 1)
        shell_set(shell, name, arena_printf(shell->arena, "%.*s", (int)length, simple->input), where, false);
}

static void shift(Shell *shell, const ShellWords *words) {
    int by = words->count > 1 ? atoi(words->items[1].text) : 1;
    if (!shell->arguments || by < 1 || by > shell->arguments->count) return;
    ShellWords *rest = ARENA_NEW(shell->arena, ShellWords);
    int left = shell->arguments->count - by;
    *rest = (ShellWords){shell->arguments->items + by, left, left};
    shell->arguments = rest;
}

// set -- A B
static void set_arguments(Shell *shell, const ShellWords *words) {
    ShellWords *own = ARENA_NEW(shell->arena, ShellWords);
    for (int i = 2; i < words->count; i++) LIST_PUSH(shell->arena, own, words->items[i]);
    shell->arguments = own;
}

// getopts LETTERS NAME: the next option of the arguments.
static Truth next_option(Shell *shell, const ShellWords *words, Where where) {
    const char *letters = words->items[1].text, *name = words->items[2].text, *at = shell_value(shell, "OPTIND");
    int index = at ? atoi(at) : 1;
    const ShellWords *given = shell->arguments;
    if (!given || index < 1 || index > given->count) return IS_FALSE;
    const char *word = given->items[index - 1].text;
    if (word[0] != '-' || !word[1] || word[1] == '-') return IS_FALSE;
    const char *letter = word[1] == ':' ? NULL : strchr(letters, word[1]);
    shell_set(shell, name, letter ? arena_printf(shell->arena, "%c", word[1]) : "?", where, false);
    if (letter && letter[1] == ':' && !word[2]) index++;
    if (letter && letter[1] == ':')
        shell_set(shell, "OPTARG",
                  word[2]                 ? word + 2
                  : index <= given->count ? given->items[index - 1].text
                                          : "",
                  where, false);
    shell_set(shell, "OPTIND", arena_printf(shell->arena, "%d", index + 1), where, false);
    return IS_TRUE;
}

// The shell's own commands. False: it is none of them.
static bool run_builtin(Shell *shell, const Simple *simple, Where where, Truth *truth) {
    const ShellWords *words = &simple->words;
    const char *first = words->items[0].text;
    *truth = IS_TRUE;
    if (strcmp(first, "[") == 0 || strcmp(first, "test") == 0) {
        *truth = tested(words);
    } else if (strcmp(first, "false") == 0) {
        *truth = IS_FALSE;
    } else if (strcmp(first, "read") == 0 || strcmp(first, "mapfile") == 0) {
        read_into(shell, simple, where);
        if (shell->unsure) *truth = IS_UNKNOWN;
    } else if ((strcmp(first, "source") == 0 || strcmp(first, ".") == 0) && words->count > 1) {
        run_file(shell, words->items[1].text, where);
    } else if (strcmp(first, "eval") == 0) {
        shell_run_words(shell, shell_joined(shell, words, 1), where);
    } else if (strcmp(first, "shift") == 0) {
        shift(shell, words);
    } else if (strcmp(first, "set") == 0) {
        if (is_word(simple, 1, "--")) set_arguments(shell, words);
    } else if (strcmp(first, "getopts") == 0) {
        *truth = words->count > 2 ? next_option(shell, words, where) : IS_FALSE;
    } else if (strcmp(first, "let") == 0) {
        long long value = 0;
        for (int i = 1; i < words->count; i++) {
            const char *text = words->items[i].text;
            *truth = shell_arithmetic(shell, text, text + strlen(text), &value) ? of_bool(value) : IS_UNKNOWN;
        }
    } else if (strcmp(first, "break") == 0) {
        if (shell->within_loops) shell->leaves = LEAVES_LOOP;
    } else if (strcmp(first, "continue") == 0) {
        if (shell->within_loops) shell->leaves = LEAVES_ROUND;
    } else if (strcmp(first, "return") == 0) {
        if (shell->within_functions) shell->leaves = LEAVES_FUNCTION;
    } else {
        return strcmp(first, "true") == 0 || strcmp(first, ":") == 0;
    }
    return true;
}

static Truth run_words(Reader *r, const Simple *simple, int line) {
    Shell *shell = r->shell;
    const ShellWords *words = &simple->words;
    Where where = {r->file, line};
    const char *input = words->count ? input_of(shell, simple, where) : NULL;
    shell->piped = NULL;
    if (words->count == 0) return IS_TRUE;
    const char *first = words->items[0].text;
    for (int i = shell->functions.count - 1; i >= 0; i--)
        if (strcmp(shell->functions.items[i].name, first) == 0) {
            run_function(shell, &shell->functions.items[i], words);
            shell->piped = NULL;
            return IS_TRUE;
        }
    const char *prints = shell_prints(shell, words, input, line);
    if (prints) keep_file(shell, simple, prints, where);
    Truth truth;
    if (!run_builtin(shell, simple, where, &truth)) {
        ShellCommand command = {words, input, where};
        shell->hooks.on_command(shell->hooks.context, shell, &command);
        bool answers = strcmp(first, "command") == 0 || strcmp(first, "which") == 0 || strcmp(first, "grep") == 0;
        truth = answers || shell->unsure ? IS_UNKNOWN : IS_TRUE;
    }
    shell->piped = prints; // whatever it ran printed is not what it prints
    return truth;
}

static bool is_declaration(const char *begin, const char *end) {
    static const char *const words[] = {"export", "declare", "local", "readonly", "typeset"};
    for (int i = 0; i < 5; i++)
        if (strlen(words[i]) == (size_t)(end - begin) && strncmp(begin, words[i], (size_t)(end - begin)) == 0)
            return true;
    return false;
}

static void define_function(Reader *r, const char *name) {
    static const char *const closes[] = {"}", NULL};
    skip_empty(r);
    if (over(r) || *r->at != '{') return;
    r->at++;
    ShellFunction function = {name, r->at, r->at, r->file, r->line};
    bool live = r->live;
    r->live = false;
    run_list(r, closes);
    r->live = live;
    function.end = r->at;
    if (!over(r)) r->at++;
    if (live && r->shell->functions.count < 200) LIST_PUSH(r->shell->arena, &r->shell->functions, function);
}

static void export_name(Reader *r, const char *name) {
    ShellVariable *variable = r->live ? shell_find(r->shell, name) : NULL;
    if (variable) variable->exported = true;
}

static Truth run_simple(Reader *r) {
    Shell *shell = r->shell;
    Simple simple = {0};
    bool declares = false, exports = false, any = false, refers = false;
    int line = r->line;
    bool outer = shell->unset_is_empty;
    if (next_is(r, "[") || next_is(r, "test")) shell->unset_is_empty = true;
    for (skip_blanks(r); !over(r) && !strchr("\n;&|)", *r->at); skip_blanks(r)) {
        if (*r->at == '<' || *r->at == '>') {
            if (!(r->end - r->at > 1 && r->at[1] == '(')) {
                take_redirection(r, &simple);
                simple.of_errors = false;
                continue;
            }
        }
        const char *stop = word_end(r);
        if (stop == r->at) { // "(" within words
            r->at++;
            continue;
        }
        if (is_descriptor(r->at, stop, r)) {
            simple.of_errors = *r->at != '1';
            r->at = stop;
            continue;
        }
        const char *sign = !any || declares ? assignment_sign(r->at, stop) : NULL;
        if (sign) {
            assign(r, sign, exports, refers);
            continue;
        }
        if (!any && is_declaration(r->at, stop)) {
            declares = any = true;
            exports = *r->at == 'e' || *r->at == 'd';
            r->at = stop;
            continue;
        }
        if (declares) {
            refers = refers || (stop - r->at == 2 && strncmp(r->at, "-n", 2) == 0);
            export_name(r, arena_printf(shell->arena, "%.*s", (int)(stop - r->at), r->at));
            move_to(r, stop);
            continue;
        }
        if (!any && stop < r->end && *stop == '(' && r->end - stop > 1 && stop[1] == ')') {
            const char *name = arena_printf(shell->arena, "%.*s", (int)(stop - r->at), r->at);
            r->at = stop + 2;
            define_function(r, name);
            return IS_TRUE;
        }
        any = true;
        if (r->live) shell_expand(shell, r->at, stop, r->line, true, &simple.words);
        move_to(r, stop);
    }
    Truth truth = r->live ? run_words(r, &simple, line) : IS_UNKNOWN;
    shell->unset_is_empty = outer;
    return truth;
}

// A command whose variables stand before it ("X=1 torchrun …") has them in its environment: they count as exported.
static void export_prefixes(Reader *r) {
    const char *at = r->at;
    Reader look = *r;
    bool any = false;
    for (skip_blanks(&look); !over(&look);) {
        const char *stop = word_end(&look), *sign = assignment_sign(look.at, stop);
        if (!sign) break;
        any = true;
        look.at = stop;
        if (look.at < look.end && *look.at == '(') return;
        while (!over(&look) && (*look.at == ' ' || *look.at == '\t')) look.at++;
    }
    if (!any || over(&look) || strchr("\n;&|)#", *look.at)) return;
    for (r->at = at; r->at < look.at;) {
        skip_blanks(r);
        if (r->at >= look.at) break;
        const char *stop = word_end(r), *sign = assignment_sign(r->at, stop);
        if (!sign) break;
        assign(r, sign, true, false);
    }
}

// ---- Compound commands.

static Truth run_if(Reader *r) {
    static const char *const then[] = {"then", NULL}, *const branch[] = {"elif", "else", "fi", NULL};
    bool live = r->live, taken = false;
    r->at += 2;
    for (bool more = true; more && !over(r);) {
        r->live = live && !taken;
        Truth truth = run_list(r, then);
        if (next_is(r, "then")) r->at += 4;
        r->live = live && !taken && truth == IS_TRUE;
        taken = taken || truth == IS_TRUE;
        if (live && truth == IS_UNKNOWN && !taken)
            shell_note(r->shell, r->line, "whether a branch is taken is not known; it is taken not to be");
        run_list(r, branch);
        more = next_is(r, "elif");
        if (more) r->at += 4;
    }
    if (next_is(r, "else")) {
        r->at += 4;
        r->live = live && !taken;
        run_list(r, branch);
    }
    if (next_is(r, "fi")) r->at += 2;
    r->live = live;
    return IS_TRUE;
}

typedef struct Mark { // where a loop's body begins
    const char *at, *heredoc;
    int line;
} Mark;

static Mark mark(const Reader *r) { return (Mark){r->at, r->heredoc, r->line}; }
static void go_back(Reader *r, Mark to) { r->at = to.at, r->heredoc = to.heredoc, r->line = to.line; }

// "do … done" once more, from `body` on. False: that was enough of it.
static bool run_body(Reader *r, Mark body, bool live) {
    static const char *const ends[] = {"done", NULL};
    go_back(r, body);
    r->live = live;
    r->shell->within_loops++;
    run_list(r, ends);
    r->shell->within_loops--;
    bool more = live && r->shell->leaves < LEAVES_LOOP;
    if (more && ++r->shell->rounds >= SHELL_ROUNDS) {
        shell_note(r->shell, body.line, "loops go round more often than is followed");
        more = false;
    }
    if (r->shell->leaves < LEAVES_FUNCTION) r->shell->leaves = LEAVES_NOTHING;
    r->live = live;
    return more;
}

static Mark at_body(Reader *r) {
    skip_empty(r);
    if (next_is(r, "do")) r->at += 2;
    return mark(r);
}

// for NAME in WORDS
static void run_for(Reader *r, bool live) {
    const char *stop = word_end(r);
    const char *name = arena_printf(r->shell->arena, "%.*s", (int)(stop - r->at), r->at);
    ShellWords words = {0};
    Where where = {r->file, r->line};
    move_to(r, stop);
    skip_blanks(r);
    if (next_is(r, "in")) {
        r->at += 2;
        for (skip_blanks(r); !over(r) && !strchr("\n;", *r->at); skip_blanks(r)) {
            stop = word_end(r);
            if (stop == r->at) stop++;
            if (live && !shell_count(r->shell, r->at, stop, &words))
                shell_expand(r->shell, r->at, stop, r->line, true, &words);
            move_to(r, stop);
        }
    } else if (r->shell->arguments) {
        words = *r->shell->arguments;
    }
    Mark body = at_body(r);
    bool more = true;
    for (int i = 0; i < words.count && live && more; i++) {
        shell_set(r->shell, name, words.items[i].text, where, false);
        more = run_body(r, body, true);
    }
    if (!live || words.count == 0) run_body(r, body, false);
}

// for ((A; B; C))
static void run_counted(Reader *r, bool live) {
    const char *parts[4] = {r->at + 2};
    int count = 1;
    const char *stop = parts[0];
    for (; stop < r->end && strncmp(stop, "))", 2) != 0 && *stop != '\n'; stop++)
        if (*stop == ';' && count < 3) parts[count++] = stop + 1;
    bool whole = count == 3;
    parts[3] = stop + 1;
    move_to(r, stop < r->end && *stop == ')' ? stop + 2 : stop);
    Mark body = at_body(r);
    long long value = 0;
    bool known = live && whole && shell_arithmetic(r->shell, parts[0], parts[1] - 1, &value), any = false;
    while (known && shell_arithmetic(r->shell, parts[1], parts[2] - 1, &value) && value) {
        any = true;
        if (!run_body(r, body, true)) break;
        known = shell_arithmetic(r->shell, parts[2], parts[3] - 1, &value);
    }
    if (!any) run_body(r, body, live && !known);
}

// while and until: as often as is known; once where it is not.
static void run_while(Reader *r, bool live, bool until) {
    static const char *const begins[] = {"do", NULL};
    bool endless = next_is(r, "true") || next_is(r, ":") || next_is(r, "false"), unsure = r->shell->unsure;
    Mark condition = mark(r);
    bool more = true;
    for (int round = 0; more; round++) {
        go_back(r, condition);
        r->live = live;
        r->shell->unsure = true;
        Truth truth = run_list(r, begins);
        r->shell->unsure = unsure;
        if (until) truth = inverse(truth);
        Mark body = at_body(r);
        bool runs = live && (truth == IS_TRUE || (truth == IS_UNKNOWN && round == 0));
        if (live && truth == IS_UNKNOWN && round == 0)
            shell_note(r->shell, condition.line, "how often is not known; this loop is gone through once");
        const ShellWords *given = r->shell->arguments;
        more = run_body(r, body, runs) && runs && truth == IS_TRUE;
        if (more && endless && r->shell->arguments == given) { // only arguments that are shifted away end it
            shell_note(r->shell, condition.line, "how often is not known; this loop is gone through no further");
            more = false;
        }
    }
}

static Truth run_loop(Reader *r) {
    bool is_for = next_is(r, "for") || next_is(r, "select"), until = next_is(r, "until"), live = r->live;
    r->at += next_is(r, "for") ? 3 : is_for ? 6 : 5;
    skip_blanks(r);
    if (!is_for)
        run_while(r, live, until);
    else if (r->end - r->at > 1 && strncmp(r->at, "((", 2) == 0)
        run_counted(r, live);
    else
        run_for(r, live);
    r->live = live;
    if (next_is(r, "done")) r->at += 4;
    return IS_TRUE;
}

static Truth run_case(Reader *r) {
    static const char *const ends[] = {";;", "esac", NULL};
    bool live = r->live, taken = false;
    r->at += 4;
    skip_blanks(r);
    const char *stop = word_end(r);
    bool outer = r->shell->unset_is_empty;
    r->shell->unset_is_empty = true;
    const char *subject = live ? shell_expand_one(r->shell, r->at, stop, r->line) : "";
    r->shell->unset_is_empty = outer;
    move_to(r, stop);
    skip_blanks(r);
    if (next_is(r, "in")) r->at += 2;
    for (skip_empty(r); !over(r) && !next_is(r, "esac"); skip_empty(r)) {
        bool hit = false;
        while (!over(r) && *r->at != ')') {
            stop = word_end(r);
            const char *pattern = r->live ? shell_expand_one(r->shell, r->at, stop, r->line) : "";
            hit = hit || (is_known(subject) && fits(pattern, subject, 0));
            move_to(r, stop > r->at ? stop : r->at + 1);
            skip_blanks(r);
        }
        if (!over(r)) r->at++;
        r->live = live && hit && !taken;
        taken = taken || hit;
        run_list(r, ends);
        r->live = live;
        if (r->end - r->at > 1 && strncmp(r->at, ";;", 2) == 0) r->at += 2;
    }
    if (next_is(r, "esac")) r->at += 4;
    return IS_TRUE;
}

static Truth run_group(Reader *r, const char *const *ends) {
    r->at++;
    Truth truth = run_list(r, ends);
    if (!over(r)) r->at++;
    return truth;
}

static Truth run_one(Reader *r) {
    static const char *const brace[] = {"}", NULL}, *const bracket[] = {")", NULL};
    static const char *const loops[] = {"for", "while", "until", "select", NULL};
    skip_blanks(r);
    r->shell->steps++;
    if (r->shell->leaves) r->live = false;
    if (next_is(r, "!")) {
        r->at++;
        return inverse(run_one(r));
    }
    if (++r->shell->depth > SHELL_DEEPEST) {
        r->shell->depth--;
        r->at = r->end;
        return IS_UNKNOWN;
    }
    Truth truth;
    bool is_simple = false;
    if (next_is(r, "if")) {
        truth = run_if(r);
    } else if (next_is_one_of(r, loops)) {
        truth = run_loop(r);
    } else if (next_is(r, "case")) {
        truth = run_case(r);
    } else if (next_is(r, "[[")) {
        r->at += 2;
        truth = run_double_test(r);
    } else if (r->end - r->at > 1 && strncmp(r->at, "((", 2) == 0) {
        const char *begin = r->at + 2, *stop = begin;
        while (stop < r->end && strncmp(stop, "))", 2) != 0 && *stop != '\n') stop++;
        long long value = 0;
        truth = r->live && shell_arithmetic(r->shell, begin, stop, &value) ? of_bool(value) : IS_UNKNOWN;
        r->at = stop < r->end && *stop == ')' ? stop + 2 : stop;
    } else if (next_is(r, "{")) {
        truth = run_group(r, brace);
    } else if (!over(r) && *r->at == '(') {
        truth = run_group(r, bracket);
    } else if (next_is(r, "function")) {
        r->at += 8;
        skip_blanks(r);
        const char *stop = word_end(r);
        const char *name = arena_printf(r->shell->arena, "%.*s", (int)(stop - r->at), r->at);
        r->at = stop;
        if (r->end - r->at > 1 && strncmp(r->at, "()", 2) == 0) r->at += 2;
        define_function(r, name);
        truth = IS_TRUE;
    } else {
        export_prefixes(r);
        truth = run_simple(r);
        is_simple = true;
    }
    if (!is_simple) r->shell->piped = NULL; // what several commands print is not followed
    r->shell->depth--;
    return truth;
}

// Until one of the words stands where a command would; the truth of the last one.
static Truth run_list(Reader *r, const char *const *until) {
    Truth last = IS_TRUE;
    bool live = r->live;
    for (skip_empty(r); !over(r); skip_empty(r)) {
        if (next_is_one_of(r, until) || (until[0] && strcmp(until[0], ";;") == 0 && strncmp(r->at, ";;", 2) == 0))
            break;
        if (*r->at == ')' || (*r->at == '}' && next_is(r, "}"))) break;
        const char *before = r->at;
        r->shell->piped = NULL;
        last = run_one(r);
        for (bool more = true; more && !over(r);) {
            skip_blanks(r);
            more = false;
            if (over(r) || (*r->at != '&' && *r->at != '|')) break;
            bool twice = r->end - r->at > 1 && r->at[1] == *r->at, and = *r->at == '&';
            if (!twice && and) { // in the background
                r->at++;
                break;
            }
            r->at += twice || (r->end - r->at > 1 && r->at[1] == '&') ? 2 : 1;
            if (twice) r->shell->piped = NULL;
            skip_empty(r);
            bool runs = !twice || (and? last != IS_FALSE : last == IS_FALSE);
            r->live = live && runs;
            Truth next = run_one(r);
            if (runs && twice) last = next;
            r->live = live;
            more = true;
        }
        if (!over(r) && until[0] && strcmp(until[0], ";;") == 0 && r->end - r->at > 1 && strncmp(r->at, ";;", 2) == 0)
            break;
        if (r->at == before) r->at++;
    }
    return last;
}

void shell_expand_words(Shell *shell, const char *begin, const char *end, int line, ShellWords *out) {
    Reader r = {shell, begin, end, NULL, shell->file, line, true, true};
    for (skip_blanks(&r); !over(&r); skip_blanks(&r)) {
        const char *stop = word_end(&r);
        if (stop == r.at) stop++;
        shell_expand(shell, r.at, stop, line, true, out);
        r.at = stop;
    }
}
