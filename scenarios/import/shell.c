// A script as it is written: lists, branches, loops, functions, here-documents.
#include "scenarios/import/shell.h"

#include <ctype.h>
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

void shell_run_text(Shell *shell, const char *file, const char *begin, const char *end, int line, bool fixed) {
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
    shell_run_text(shell, file, text, text + bytes, 1, false);
}

void shell_run_words(Shell *shell, const char *text, Where where) {
    shell_run_text(shell, where.file, text, text + strlen(text), where.line, true);
}

void shell_run_told(Shell *shell, const char *text, const ShellWords *arguments, Where where) {
    const ShellWords *outer = shell->arguments;
    shell->arguments = arguments;
    shell_run_words(shell, text, where);
    shell->arguments = outer;
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
    return shell_tested(r->shell, &words);
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
        ShellVariable *variable = r->live ? shell_variable_named(shell, name, where) : NULL;
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
            shell_refer(shell, name, value, where);
        else
            shell_set(shell, name, value, where, exported);
    }
    move_to(r, stop);
}

// ---- Simple commands.

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
    const char *stop = word_end(r);
    bool of_command = !writes && stop - r->at > 3 && strncmp(r->at, "<(", 2) == 0;
    if (of_command && r->live) simple->input = shell_printed_within(r->shell, r->at + 2, stop - 1, r->line);
    const char *path = r->live && !other && !of_command ? shell_expand_one(r->shell, r->at, stop, r->line) : NULL;
    if (writes && other && !simple->of_errors) simple->elsewhere = true;
    if (path && writes) simple->output = path, simple->appends = twice;
    if (path && !writes) simple->source = path;
    move_to(r, stop);
}

static bool is_descriptor(const char *begin, const char *end, const Reader *r) {
    for (const char *at = begin; at < end; at++)
        if (!isdigit((unsigned char)*at)) return false;
    return end > begin && end < r->end && (*end == '<' || *end == '>');
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
            const char *told = r->live ? shell_expand_one(shell, r->at, stop, r->line) : ""; // "$KEY=$VALUE"
            size_t name = strspn(told, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
            if (name && told[name] == '=')
                shell_set(shell, arena_printf(shell->arena, "%.*s", (int)name, told), told + name + 1,
                          (Where){r->file, r->line}, exports);
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
    simple.piped_on = !over(r) && *r->at == '|' && !(r->end - r->at > 1 && r->at[1] == '|');
    Truth truth = r->live ? shell_run_command(shell, &simple, (Where){r->file, line}) : IS_UNKNOWN;
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
        skip_blanks(&look);
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
            if (live) shell_expand(r->shell, r->at, stop, r->line, true, &words);
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
    while (known && (known = shell_arithmetic(r->shell, parts[1], parts[2] - 1, &value)) && value) {
        any = true;
        if (!run_body(r, body, true)) break;
        known = shell_arithmetic(r->shell, parts[2], parts[3] - 1, &value);
    }
    if (!any) run_body(r, body, live && !known);
}

// while read A B; do …; done < FILE: what it reads, which stands behind it; NULL: it does not, or that is not known.
static const char *lines_of(Reader *r, bool live) {
    Mark condition = mark(r);
    Simple simple = {.output = NULL};
    if (!live || !memmem(r->at, (size_t)(r->end - r->at > 60 ? 60 : r->end - r->at), "read ", 5)) return NULL;
    r->live = false;
    run_list(r, (const char *const[]){"do", NULL});
    run_body(r, at_body(r), false);
    r->live = live;
    if (next_is(r, "done")) r->at += 4;
    for (skip_blanks(r); !over(r) && *r->at == '<'; skip_blanks(r)) take_redirection(r, &simple);
    const char *lines = shell_input(r->shell, &simple, (Where){r->file, r->line});
    go_back(r, condition);
    r->live = live;
    return lines;
}

// while and until: as often as is known; once where it is not.
static void run_while(Reader *r, bool live, bool until) {
    static const char *const begins[] = {"do", NULL};
    bool endless = next_is(r, "true") || next_is(r, ":") || next_is(r, "false"), unsure = r->shell->unsure;
    Mark condition = mark(r);
    bool more = true;
    const char *outer = r->shell->lines, *lines = lines_of(r, live);
    if (lines) r->shell->lines = lines;
    for (int round = 0; more; round++) {
        go_back(r, condition);
        r->live = live;
        r->shell->unsure = true;
        Truth truth = run_list(r, begins);
        r->shell->unsure = unsure;
        if (until) truth = shell_inverse(truth);
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
    r->shell->lines = outer;
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
            hit = hit || (is_known(subject) && shell_fits(pattern, subject, 0));
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
        return shell_inverse(run_one(r));
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
        truth = r->live && shell_arithmetic(r->shell, begin, stop, &value) ? shell_truth(value) : IS_UNKNOWN;
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
