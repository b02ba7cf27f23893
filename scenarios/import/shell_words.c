// Words of a script: quotes, variables, arithmetic.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/shell_internal.h"
#include "sim/base/list.h"

static const char unknown_text[] = {NOT_KNOWN, '\0'};

// ---- Where things end.

static const char *after_pair(const char *at, const char *end, char open, char close, int depth) {
    int nested = 1;
    while (at < end && nested > 0) {
        if (*at == close) {
            nested--, at++;
        } else if (*at == open && open != close) {
            nested++, at++;
        } else {
            at = shell_after(at, end, depth + 1);
        }
    }
    return at;
}

static const char *after_double(const char *at, const char *end, int depth) {
    while (at < end && *at != '"') {
        bool nests = *at == '`' || (*at == '$' && at + 1 < end && (at[1] == '(' || at[1] == '{'));
        at = nests || *at == '\\' ? shell_after(at, end, depth + 1) : at + 1;
    }
    return at < end ? at + 1 : end;
}

static const char *after_letter(const char *at, const char *end, char letter, bool escapes) {
    while (at < end && *at != letter) at += escapes && *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

// "$(cat <<EOT" has a body in which anything may stand.
static const char *inner_heredoc(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    if (end - at < 6 || strncmp(at, "cat", 3) != 0) return NULL;
    for (at += 3; at < end && (*at == ' ' || *at == '\t');) at++;
    return end - at > 2 && at[0] == '<' && at[1] == '<' && at[2] != '<' ? at + 2 : NULL;
}

const char *shell_after(const char *at, const char *end, int depth) {
    if (at >= end || depth > SHELL_NESTED) return end;
    if (*at == '\\') return end - at > 1 ? at + 2 : end;
    if (*at == '\'') return after_letter(at + 1, end, '\'', false);
    if (*at == '`') return after_letter(at + 1, end, '`', true);
    if (*at == '"') return after_double(at + 1, end, depth);
    if ((*at == '<' || *at == '>') && end - at > 1 && at[1] == '(') return after_pair(at + 2, end, '(', ')', depth);
    if (*at != '$' || end - at < 2) return at + 1;
    if (at[1] == '\'') return after_letter(at + 2, end, '\'', true);
    if (at[1] == '"') return after_double(at + 2, end, depth);
    if (at[1] == '{') return after_pair(at + 2, end, '{', '}', depth);
    if (at[1] != '(') return at + 1;
    const char *word = inner_heredoc(at + 2, end), *body;
    size_t length;
    bool quoted;
    if (!word) return after_pair(at + 2, end, '(', ')', depth);
    const char *line = memchr(word, '\n', (size_t)(end - word));
    if (!line) return end;
    return after_letter(shell_heredoc(NULL, word, end, line + 1, &body, &length, &quoted), end, ')', false);
}

const char *shell_heredoc(Shell *shell, const char *at, const char *end, const char *from, const char **body,
                          size_t *length, bool *quoted) {
    (void)shell;
    char word[80] = "";
    size_t letters = 0;
    bool tabs = at < end && *at == '-';
    if (tabs) at++;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    *quoted = at < end && (*at == '\'' || *at == '"' || *at == '\\');
    for (; at < end && !strchr(" \t\n;|&<>)", *at) && letters + 1 < sizeof word; at++)
        if (!strchr("'\"\\", *at)) word[letters++] = *at;
    *body = from;
    for (const char *line = from; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *first = line;
        if (!stop) stop = end;
        while (tabs && first < stop && *first == '\t') first++;
        *length = (size_t)(line - from);
        if ((size_t)(stop - first) == letters && memcmp(first, word, letters) == 0) return stop < end ? stop + 1 : end;
        line = stop < end ? stop + 1 : end;
    }
    *length = (size_t)(end > from ? end - from : 0);
    return end;
}

// ---- Values.

typedef struct Expander {
    Shell *shell;
    ShellWords *out;
    bool split;
    int line, word_line;
    ShellText text; // of the field that grows
    bool any;       // there is a field, be it empty
} Expander;

void shell_put(Shell *shell, ShellText *text, const char *letters, size_t length) {
    text->over = text->over || text->length + length > SHELL_LONGEST || shell->bytes + length > SHELL_BYTES;
    if (text->over) return;
    if (text->length + length + 1 > text->room) {
        size_t room = 2 * (text->length + length) + 32;
        char *larger = arena_alloc(shell->arena, room);
        if (text->length) memcpy(larger, text->letters, text->length);
        text->letters = larger, text->room = room;
        shell->bytes += room / 2;
    }
    memcpy(text->letters + text->length, letters, length);
    text->length += length;
    text->letters[text->length] = '\0';
}

const char *shell_letters(const ShellText *text) { return text->over ? NULL : text->letters ? text->letters : ""; }

static void put(Expander *e, const char *text, size_t length) {
    bool before = e->text.over;
    shell_put(e->shell, &e->text, text, length);
    if (e->text.over && !before) shell_note(e->shell, e->line, "a value grows beyond all measure, and is not followed");
    e->any = true;
}

static const char *letters_of(const Expander *e) { return e->text.over ? unknown_text : shell_letters(&e->text); }

static void end_field(Expander *e) {
    if (!e->any) return;
    ShellWord word = {letters_of(e), e->word_line ? e->word_line : e->line};
    LIST_PUSH(e->shell->arena, e->out, word);
    e->text = (ShellText){0}, e->any = false, e->word_line = 0;
}

static void put_value(Expander *e, const char *text, int line, bool quoted) {
    if (line) e->word_line = line;
    if (quoted || !e->split) {
        put(e, text, strlen(text));
        return;
    }
    while (*text) {
        size_t blanks = strspn(text, " \t\n"), length = strcspn(text + blanks, " \t\n");
        if (blanks) end_field(e);
        if (line) e->word_line = line;
        if (length) put(e, text + blanks, length);
        text += blanks + length;
    }
}

// joins: "${A[*]}", one word of them all.
static void put_list(Expander *e, const ShellWords *words, bool quoted, bool joins) {
    for (int i = 0; i < words->count; i++) {
        if (i) {
            if (e->split && !(quoted && joins))
                end_field(e);
            else
                put(e, " ", 1);
        }
        put_value(e, words->items[i].text, words->items[i].line, quoted);
        if (quoted) e->any = true;
    }
}

// ---- Parameters.

static bool is_name_letter(char letter, bool first) {
    return letter == '_' || isalpha((unsigned char)letter) || (!first && isdigit((unsigned char)letter));
}

static const char *name_end(const char *at, const char *end) {
    if (at < end && is_name_letter(*at, true)) {
        while (at < end && is_name_letter(*at, false)) at++;
        return at;
    }
    if (at < end && isdigit((unsigned char)*at)) {
        while (at < end && isdigit((unsigned char)*at)) at++;
        return at;
    }
    return at < end && strchr("@*#?$!-", *at) ? at + 1 : at;
}

// Set by the shell or the scheduler to where the script was started, which is taken to be its own folder.
static bool is_own_folder(const char *name) { return one_of(name, "PWD SLURM_SUBMIT_DIR PBS_O_WORKDIR LSB_SUBCWD"); }

// NULL: not set in sight. Its line in *line.
static const char *value_of(Shell *shell, const char *name, int *line) {
    *line = 0;
    if (isdigit((unsigned char)*name)) {
        int n = atoi(name);
        if (n == 0) return shell->file ? shell->file : "";
        return shell->arguments && n > 0 && n <= shell->arguments->count ? shell->arguments->items[n - 1].text : NULL;
    }
    if (strcmp(name, "BASH_SOURCE") == 0) return shell->file;
    if (strcmp(name, "#") == 0) return arena_printf(shell->arena, "%d", shell->arguments ? shell->arguments->count : 0);
    if (strchr("?$!-", *name)) return unknown_text;
    const ShellVariable *variable = shell_find(shell, name);
    if (!variable) return is_own_folder(name) ? "." : NULL;
    if (variable->words.count == 0) return "";
    *line = variable->words.items[0].line;
    return variable->words.items[0].text;
}

static const char *unset(Shell *shell, const char *name) {
    if (isdigit((unsigned char)*name) || shell->unset_is_empty) return "";
    shell->not_known = name;
    return unknown_text;
}

static const char *replaced(Shell *shell, const char *text, const char *from, const char *to, bool all) {
    size_t length = strlen(from);
    bool letters = *from == '?' ? !from[1] : *from == '[' && strchr(from, ']') == from + length - 1; // one of many
    if (length == 0 || (strpbrk(from, "*?[") && !letters)) return *text ? unknown_text : text;
    Expander e = {.shell = shell};
    for (bool done = false; letters && *text; text++) {
        const char letter[] = {*text, '\0'};
        bool fits = !done && shell_fits(from, letter, 0);
        put(&e, fits ? to : letter, fits ? strlen(to) : 1);
        done = done || (fits && !all);
    }
    for (const char *at; (at = strstr(text, from)) != NULL;) {
        put(&e, text, (size_t)(at - text));
        put(&e, to, strlen(to));
        text = at + length;
        if (!all || e.text.over) break;
    }
    put(&e, text, strlen(text));
    return letters_of(&e);
}

// ${X#…}, ${X%…}: with a pattern that is a text, or one text beside a star.
static const char *stripped(Shell *shell, const char *text, const char *pattern, char side, bool longest) {
    size_t length = strlen(text), own = strlen(pattern);
    if (!strpbrk(pattern, "*?[")) {
        if (own > length) return text;
        bool fits = side == '#' ? strncmp(text, pattern, own) == 0 : strcmp(text + length - own, pattern) == 0;
        if (!fits) return text;
        return side == '#' ? text + own : arena_printf(shell->arena, "%.*s", (int)(length - own), text);
    }
    bool star_first = pattern[0] == '*', star_last = own > 0 && pattern[own - 1] == '*';
    const char *core = arena_printf(shell->arena, "%.*s", (int)(own - 1), pattern + (side == '#' && star_first));
    if (strpbrk(core, "*?[") || (side == '#' ? !star_first : !star_last) || !*core) return unknown_text;
    const char *found = strstr(text, core), *last = found;
    for (const char *next = found; next && (next = strstr(next + 1, core)) != NULL;) last = next;
    if (!found) return text;
    if (side == '#') return (longest ? last : found) + strlen(core);
    return arena_printf(shell->arena, "%.*s", (int)((longest ? found : last) - text), text);
}

static const char *sliced(Shell *shell, const char *text, const char *begin, const char *end) {
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    long long from = 0, count = SHELL_LONGEST, length = (long long)strlen(text);
    if (!shell_arithmetic(shell, begin, colon ? colon : end, &from)) return unknown_text;
    if (colon && !shell_arithmetic(shell, colon + 1, end, &count)) return unknown_text;
    if (from < 0) from += length;
    if (from < 0 || from > length) return "";
    if (count < 0) count = length - from + count;
    if (count < 0) return "";
    return arena_printf(shell->arena, "%.*s", (int)(count < length - from ? count : length - from), text + from);
}

static const char *cased(Shell *shell, const char *text, char how, bool all) {
    char *copy = arena_copy_text(shell->arena, text);
    for (char *at = copy; *at && (all || at == copy); at++)
        *at = (char)(how == ',' ? tolower((unsigned char)*at) : toupper((unsigned char)*at));
    return copy;
}

// Behind a name in braces: "" , ":-word", "-word", ":+word", "%word", "/a/b", ",,", ":1:2".
static const char *operated(Expander *e, const char *name, const char *value, const char *at, const char *end) {
    Shell *shell = e->shell;
    if (at == end) return value ? value : unset(shell, name);
    bool colon = *at == ':' && end - at > 1 && strchr("-=+?", at[1]);
    char how = colon ? at[1] : *at;
    const char *word = at + (colon ? 2 : 1);
    bool is_set = value && (!colon || *value);
    if (how == '-' || how == '=' || how == '?') {
        if (is_set) return value;
        if (how == '?') return unset(shell, name);
        const char *text = shell_expand_one(shell, word, end, e->line);
        if (how == '=') shell_set(shell, name, text, (Where){shell->file, e->line}, false);
        return text;
    }
    if (how == '+') return is_set ? shell_expand_one(shell, word, end, e->line) : "";
    if (!value) return unset(shell, name);
    bool twice = end - at > 1 && at[1] == *at;
    if (how == '#' || how == '%')
        return stripped(shell, value, shell_expand_one(shell, at + 1 + twice, end, e->line), how, twice);
    if (how == '@' && end - at == 2 && strchr("ULQ", at[1]))
        return at[1] == 'Q' ? value : cased(shell, value, at[1] == 'L' ? ',' : '^', true);
    if (how == ',' || how == '^') return cased(shell, value, how, twice);
    if (how == ':') return sliced(shell, value, at + 1, end);
    if (how != '/') return unknown_text;
    const char *slash = memchr(at + 1 + twice, '/', (size_t)(end - at - 1 - twice));
    const char *from = shell_expand_one(shell, at + 1 + twice, slash ? slash : end, e->line);
    return replaced(shell, value, from, slash ? shell_expand_one(shell, slash + 1, end, e->line) : "", twice);
}

const char *shell_element(Shell *shell, const char *name, const char *index, const char *close) {
    return arena_printf(shell->arena, "%.100s[%.200s]", name, shell_expand_one(shell, index, close, 0));
}

// NULL: not set in sight.
static const char *element_of(Expander *e, const char *name, const char *index, const char *close) {
    const ShellVariable *variable = shell_find(e->shell, name),
                        *of_map = shell_find(e->shell, shell_element(e->shell, name, index, close));
    long long n = 0;
    if (of_map && of_map->words.count) return of_map->words.items[0].text;
    if (strcmp(name, "BASH_SOURCE") == 0) return e->shell->file;
    if (!variable || !shell_arithmetic(e->shell, index, close, &n) || n >= variable->words.count ||
        n < -variable->words.count)
        return NULL;
    return variable->words.items[n < 0 ? n + variable->words.count : n].text;
}

static void put_element(Expander *e, const char *name, const char *index, const char *close, bool quoted) {
    const ShellVariable *variable = shell_find(e->shell, name);
    if (close - index == 1 && (*index == '@' || *index == '*')) {
        if (variable)
            put_list(e, &variable->words, quoted, *index == '*');
        else
            put_value(e, unset(e->shell, "an array"), 0, quoted);
        return;
    }
    const char *text = element_of(e, name, index, close);
    int line = 0;
    for (int i = 0; variable && text && i < variable->words.count; i++)
        if (variable->words.items[i].text == text) line = variable->words.items[i].line;
    put_value(e, text ? text : variable ? unknown_text : unset(e->shell, "an array"), line, quoted);
}

// ${A[@]@Q}: each so that a shell would read it as one word.
static void put_quoted(Expander *e, const ShellWords *words, bool quoted, bool joins) {
    ShellWords all = {0};
    for (int i = 0; i < words->count; i++) {
        const char *text = replaced(e->shell, words->items[i].text, "'", "'\\''", true);
        ShellWord word = {arena_printf(e->shell->arena, "'%s'", text), words->items[i].line};
        LIST_PUSH(e->shell->arena, &all, word);
    }
    put_list(e, &all, quoted, joins);
}

// ${A[@]:1:2}, ${@:2}: so many of them, from that one on; `first` is the number of the first.
static void put_part(Expander *e, const ShellWords *words, const char *at, const char *end, int first, bool quoted,
                     bool joins) {
    const char *colon = *at == ':' ? memchr(at + 1, ':', (size_t)(end - at - 1)) : NULL;
    long long from = 0, count = words ? words->count : 0;
    if (*at == '-' || (*at == ':' && end - at > 1 && strchr("-=+?", at[1]))) { // ${A[@]:-word}, ${A[@]+word}
        if (words && words->count)
            put_list(e, words, quoted, joins);
        else
            put_value(e, operated(e, "an array", NULL, at, end), 0, quoted);
    } else if (end - at == 2 && strncmp(at, "@Q", 2) == 0) {
        if (words) put_quoted(e, words, quoted, joins);
    } else if (*at == '+') {
        if (words && words->count) shell_expand(e->shell, at + 1, end, e->line, true, e->out);
    } else if (*at != ':' || !shell_arithmetic(e->shell, at + 1, colon ? colon : end, &from) ||
               (colon && !shell_arithmetic(e->shell, colon + 1, end, &count))) {
        put_value(e, unknown_text, 0, quoted);
    } else if (words && from >= first && from - first < words->count && count > 0) {
        long long left = words->count - (from - first);
        ShellWords part = {words->items + (from - first), (int)(count < left ? count : left), 0};
        put_list(e, &part, quoted, joins);
    }
}

// ${!A[@]}: the numbers of a list. A map's keys are not followed.
static void put_indexes(Expander *e, const ShellVariable *variable, bool quoted, bool joins) {
    ShellWords all = {0};
    for (int i = 0; variable && i < variable->words.count; i++) {
        ShellWord word = {arena_printf(e->shell->arena, "%d", i), e->line};
        LIST_PUSH(e->shell->arena, &all, word);
    }
    if (variable && variable->is_list)
        put_list(e, &all, quoted, joins);
    else
        put_value(e, unknown_text, 0, quoted);
}

static void put_braces(Expander *e, const char *at, const char *end, bool quoted) {
    Shell *shell = e->shell;
    bool counts = at < end && *at == '#' && end - at > 1;
    if (counts) at++;
    const char *stop = name_end(at, end);
    const char *name = arena_printf(shell->arena, "%.*s", (int)(stop - at), at);
    if (*at == '!' && end - at > 1) { // ${!NAME}: the variable that it names
        int line;
        stop = name_end(at + 1, end);
        if (end - stop == 3 && (strncmp(stop, "[@]", 3) == 0 || strncmp(stop, "[*]", 3) == 0)) {
            put_indexes(e, shell_find(shell, arena_printf(shell->arena, "%.*s", (int)(stop - at - 1), at + 1)), quoted,
                        stop[1] == '*');
            return;
        }
        const char *named = value_of(shell, arena_printf(shell->arena, "%.*s", (int)(stop - at - 1), at + 1), &line);
        const char *value = named && stop == end && is_known(named) ? value_of(shell, named, &line) : NULL;
        put_value(e, value ? value : unknown_text, 0, quoted);
        return;
    }
    if (stop == at) {
        put_value(e, unknown_text, 0, quoted);
        return;
    }
    const ShellVariable *variable = shell_find(shell, name);
    if (stop < end && *stop == '[') {
        const char *close = memchr(stop, ']', (size_t)(end - stop));
        if (!close) close = end;
        bool several = false; // words of one that is not known
        for (int i = 0; variable && i < variable->words.count; i++)
            several = several || strcmp(variable->words.items[i].text, unknown_text) == 0;
        if (counts)
            put_value(e,
                      several ? unknown_text : arena_printf(shell->arena, "%d", variable ? variable->words.count : 0),
                      0, quoted);
        else if (end - close < 2)
            put_element(e, name, stop + 1, close, quoted);
        else if (close - stop == 2 && strchr("@*", stop[1]))
            put_part(e, variable ? &variable->words : NULL, close + 1, end, 0, quoted, stop[1] == '*');
        else
            put_value(e, operated(e, name, element_of(e, name, stop + 1, close), close + 1, end), 0, quoted);
        return;
    }
    if ((*name == '@' || *name == '*') && stop == end) {
        if (shell->arguments) put_list(e, shell->arguments, quoted, *name == '*');
        return;
    }
    if ((*name == '@' || *name == '*') && *stop == ':') {
        put_part(e, shell->arguments, stop, end, 1, quoted, *name == '*');
        return;
    }
    int line;
    const char *value = value_of(shell, name, &line);
    if (counts)
        put_value(e, value ? arena_printf(shell->arena, "%zu", strlen(value)) : unset(shell, name), 0, quoted);
    else
        put_value(e, operated(e, name, value, stop, end), stop == end ? line : 0, quoted);
}

// What a command would print: a here-document, the folder in which the script stands, and what shell_prints.c knows.
static const char *printed_by(Expander *e, const char *begin, const char *end) {
    Shell *shell = e->shell;
    const char *word = inner_heredoc(begin, end);
    if (word) {
        const char *line = memchr(word, '\n', (size_t)(end - word)), *body;
        size_t length;
        bool quoted;
        if (!line) return "";
        shell_heredoc(shell, word, end, line + 1, &body, &length, &quoted);
        if (length && body[length - 1] == '\n') length--;
        return quoted ? arena_printf(shell->arena, "%.*s", (int)length, body)
                      : shell_expand_body(shell, body, body + length, e->line);
    }
    while (begin < end && isspace((unsigned char)*begin)) begin++;
    const char *text = arena_printf(shell->arena, "%.*s", (int)(end - begin > 200 ? 200 : end - begin), begin);
    static const char *const begins[] = {"dirname ", "cd ", "realpath ", "readlink "};
    bool of_script = strstr(text, "dirname") && (strstr(text, "$0") || strstr(text, "BASH_SOURCE"));
    for (int i = 0; i < 4 && of_script && !strstr(text, ".."); i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0) return ".";
    if (strcmp(text, "pwd") == 0) return ".";
    const char *known = shell_printed_within(shell, begin, end, e->line);
    if (known) return known;
    shell_note(shell, e->line, "what a command prints is not known: $(%.60s%s)", text, strlen(text) > 60 ? "…" : "");
    return unknown_text;
}

static const char *number_text(Shell *shell, const char *begin, const char *end) {
    long long value;
    return shell_arithmetic(shell, begin, end, &value) ? arena_printf(shell->arena, "%lld", value) : unknown_text;
}

// At a "$" or "`"; behind it.
static const char *put_parameter(Expander *e, const char *at, const char *end, bool quoted) {
    const char *after = shell_after(at, end, 0);
    if (*at == '`') {
        put_value(e, printed_by(e, at + 1, after > at + 1 ? after - 1 : after), 0, quoted);
        return after;
    }
    if (end - at > 2 && at[1] == '(' && at[2] == '(') {
        const char *stop = after - at > 4 ? after - 2 : at + 3;
        put_value(e, number_text(e->shell, at + 3, stop), 0, quoted);
        return after;
    }
    if (end - at > 1 && at[1] == '(') {
        put_value(e, printed_by(e, at + 2, after > at + 2 ? after - 1 : after), 0, quoted);
        return after;
    }
    if (end - at > 1 && at[1] == '{') {
        put_braces(e, at + 2, after > at + 2 ? after - 1 : after, quoted);
        return after;
    }
    const char *stop = at + 1;
    if (stop < end && isdigit((unsigned char)*stop))
        stop++;
    else
        stop = name_end(stop, end);
    if (stop == at + 1) {
        put(e, "$", 1);
        return stop;
    }
    put_braces(e, at + 1, stop, quoted);
    return stop;
}

// ---- Fields.

static void put_ansi(Expander *e, const char *at, const char *end) { // $'…': what is escaped is not shown
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
            if (*at == 'n' || *at == 't') put(e, " ", 1);
            continue;
        }
        put(e, at, 1);
    }
}

static const char *put_double(Expander *e, const char *at, const char *end) {
    const char *after = shell_after(at, end, 0), *stop = after > at + 1 ? after - 1 : after;
    bool empties = false; // "${A[@]}" of an empty array is no word
    for (at++; at < stop;) {
        if (*at == '\\' && at + 1 < stop && strchr("$`\"\\", at[1])) {
            put(e, at + 1, 1);
            at += 2;
        } else if (*at == '\\' && at + 1 < stop && at[1] == '\n') {
            at += 2;
        } else if (*at == '$' || *at == '`') {
            empties = empties || strncmp(at, "$@", 2) == 0 ||
                      strstr(arena_printf(e->shell->arena, "%.*s", (int)(stop - at > 80 ? 80 : stop - at), at), "[@]");
            at = put_parameter(e, at, stop, true);
        } else {
            const char *from = at;
            while (at < stop && *at != '\\' && *at != '$' && *at != '`') at++;
            if (at == from) at++;
            put(e, from, (size_t)(at - from));
        }
    }
    if (!empties) e->any = true;
    return after;
}

static void expand(Expander *e, const char *at, const char *end) {
    while (at < end) {
        if (*at == '\'') {
            const char *after = shell_after(at, end, 0);
            put(e, at + 1, after - at > 1 ? (size_t)(after - at - 2) : 0);
            e->any = true, at = after;
        } else if (*at == '"') {
            at = put_double(e, at, end);
        } else if (*at == '\\') {
            if (end - at > 1 && at[1] != '\n') put(e, at + 1, 1);
            at += 2;
        } else if (*at == '$' && end - at > 1 && at[1] == '\'') {
            const char *after = shell_after(at, end, 0);
            put_ansi(e, at + 2, after - 1);
            e->any = true, at = after;
        } else if (*at == '$' || *at == '`') {
            at = put_parameter(e, at, end, false);
        } else if ((*at == '<' || *at == '>') && end - at > 1 && at[1] == '(') {
            put(e, unknown_text, 1);
            at = shell_after(at, end, 0);
        } else {
            put(e, at++, 1);
        }
    }
    end_field(e);
}

static void expand_word(Shell *shell, const char *begin, const char *end, int line, bool split, ShellWords *out) {
    if (++shell->depth > SHELL_DEEPEST) {
        shell->depth--;
        return;
    }
    Expander e = {.shell = shell, .out = out, .split = split, .line = line};
    expand(&e, begin, end);
    shell->depth--;
}

// The first brace of a word that stands for several: "gpu{01..04}", "{a,b}.sh"; *close is where it ends. NULL: none.
static const char *brace_of(const char *begin, const char *end, const char **close) {
    for (const char *at = begin; at < end; at = shell_after(at, end, 0)) {
        if (*at != '{') continue;
        bool several = false;
        const char *stop = at + 1;
        for (int depth = 0; stop < end && (depth > 0 || *stop != '}'); stop++) {
            depth += *stop == '{' ? 1 : *stop == '}' ? -1 : 0;
            several = several || *stop == ',' || (*stop == '.' && stop + 1 < end && stop[1] == '.');
        }
        *close = stop;
        if (several && stop < end) return at;
    }
    return NULL;
}

void shell_expand(Shell *shell, const char *begin, const char *end, int line, bool split, ShellWords *out) {
    const char *close = NULL, *open = split ? brace_of(begin, end, &close) : NULL;
    char *rest;
    if (!open || shell->depth > SHELL_DEEPEST / 3) {
        expand_word(shell, begin, end, line, split, out);
        return;
    }
    const char *within = open + 1;
    long from = strtol(within, &rest, 10),
         to = rest > within && strncmp(rest, "..", 2) == 0 ? strtol(rest + 2, &rest, 10) : 0;
    bool counts = rest == close, padded = *within == '0' && close - within > 3;
    int wide = padded ? (int)(strchr(within, '.') - within) : 0;
    if (counts && labs(to - from) >= SHELL_ROUNDS) counts = false, within = close; // too many
    shell->depth++;
    for (long i = from; within < close && (counts ? i <= to : true); i++) {
        const char *stop = within;
        for (int depth = 0; stop < close && (depth > 0 || *stop != ','); stop++)
            depth += *stop == '{' ? 1 : *stop == '}' ? -1 : 0;
        const char *part = counts ? arena_printf(shell->arena, "%0*ld", wide, i)
                                  : arena_printf(shell->arena, "%.*s", (int)(stop - within), within);
        const char *word = arena_printf(shell->arena, "%.*s%s%.*s", (int)(open - begin), begin, part,
                                        (int)(end - close - 1), close + 1);
        if (out->count < SHELL_ROUNDS) shell_expand(shell, word, word + strlen(word), line, true, out);
        if (!counts) within = stop + 1;
    }
    shell->depth--;
}

const char *shell_expand_one(Shell *shell, const char *begin, const char *end, int line) {
    ShellWords words = {0};
    shell_expand(shell, begin, end, line, false, &words);
    return words.count ? words.items[0].text : "";
}

const char *shell_expand_body(Shell *shell, const char *begin, const char *end, int line) {
    ShellWords words = {0};
    Expander e = {.shell = shell, .out = &words, .line = line};
    for (const char *at = begin; at < end;) {
        if (*at == '\\' && end - at > 1 && strchr("$`\\", at[1])) {
            put(&e, at + 1, 1);
            at += 2;
        } else if (*at == '\\' && end - at > 1 && at[1] == '\n') {
            at += 2;
        } else if (*at == '$' || *at == '`') {
            at = put_parameter(&e, at, end, true);
        } else {
            put(&e, at++, 1);
        }
    }
    return letters_of(&e);
}

// ---- Arithmetic.

typedef struct Sum {
    Shell *shell;
    const char *at, *end;
    bool known;
    int depth;
} Sum;

static long long expression(Sum *sum, int level);

static bool takes(Sum *sum, const char *sign) {
    size_t length = strlen(sign);
    while (sum->at < sum->end && isspace((unsigned char)*sum->at)) sum->at++;
    if ((size_t)(sum->end - sum->at) < length || strncmp(sum->at, sign, length) != 0) return false;
    if (length == 1 && strchr("*&|", *sign) && sum->end - sum->at > 1 && sum->at[1] == *sign) return false;
    sum->at += length;
    return true;
}

static long long number_of(Sum *sum, const char *text) {
    char *stop;
    long long value = strtoll(text, &stop, 10);
    while (isspace((unsigned char)*stop)) stop++;
    if (*stop || !*text) sum->known = false;
    return value;
}

static long long applied(Sum *sum, const char *sign, long long a, long long b);

// NAME, NAME[INDEX], NAME = …, NAME += …, NAME++; `step` stood before it as ++ or --.
static long long of_variable(Sum *sum, int step) {
    static const char *const signs[] = {"+=", "-=", "*=", "/=", "%="};
    Shell *shell = sum->shell;
    const char *begin = sum->at;
    int line;
    sum->at = name_end(begin, sum->end);
    const char *name = arena_printf(shell->arena, "%.*s", (int)(sum->at - begin), begin);
    if (sum->at < sum->end && *sum->at == '[') {
        const char *close = memchr(sum->at, ']', (size_t)(sum->end - sum->at));
        if (!close) close = sum->end;
        const char *element = arena_printf(shell->arena, "${%.*s]}", (int)(close - begin), begin);
        sum->at = close < sum->end ? close + 1 : close;
        return number_of(sum, shell_expand_one(shell, element, element + strlen(element), 0));
    }
    const char *value = value_of(shell, name, &line), *before = sum->at;
    bool sets = takes(sum, "=") && !(sum->at < sum->end && *sum->at == '=');
    long long number = 0;
    if (!sets) sum->at = before;
    if (sets) {
        number = expression(sum, 0);
    } else {
        number = value ? number_of(sum, value) : 0;
        if (!value) sum->known = false;
        int sign = 0;
        while (sign < 5 && !takes(sum, signs[sign])) sign++;
        if (sign < 5) number = applied(sum, signs[sign], number, expression(sum, 0)), sets = true;
    }
    int after = sets || step ? 0 : takes(sum, "++") ? 1 : takes(sum, "--") ? -1 : 0;
    if (!sum->known) return 0;
    long long changed = applied(sum, "+", number, step + after);
    if (sets || step || after)
        shell_set(shell, name, sum->known ? arena_printf(shell->arena, "%lld", changed) : unknown_text,
                  (Where){shell->file, 0}, false);
    return after ? number : changed;
}

static long long operand(Sum *sum) {
    if (sum->depth++ > SHELL_NESTED) sum->known = false;
    if (!sum->known) return 0;
    if (takes(sum, "(")) {
        long long value = expression(sum, 0);
        if (!takes(sum, ")")) sum->known = false;
        return value;
    }
    int step = takes(sum, "++") ? 1 : takes(sum, "--") ? -1 : 0; // of a variable
    if (!step && takes(sum, "-")) return applied(sum, "-", 0, operand(sum));
    if (!step && takes(sum, "+")) return operand(sum);
    if (!step && takes(sum, "!")) return !operand(sum);
    while (sum->at < sum->end && isspace((unsigned char)*sum->at)) sum->at++;
    const char *begin = sum->at;
    if (begin < sum->end && (*begin == '$' || *begin == '"' || *begin == '`')) {
        sum->at = *begin == '$' && sum->end - begin > 1 && begin[1] != '{' && begin[1] != '('
                      ? name_end(begin + 1, sum->end)
                      : shell_after(begin, sum->end, 0);
        return number_of(sum, shell_expand_one(sum->shell, begin, sum->at, 0));
    }
    if (begin < sum->end && is_name_letter(*begin, true)) return of_variable(sum, step);
    while (sum->at < sum->end && isalnum((unsigned char)*sum->at)) sum->at++;
    return number_of(sum, arena_printf(sum->shell->arena, "%.*s", (int)(sum->at - begin), begin));
}

static long long power(Sum *sum, long long a, long long b) {
    long long value = 1;
    if (b < 0 || b > 62) sum->known = false;
    for (; b > 0 && sum->known; b--)
        if (__builtin_mul_overflow(value, a, &value)) sum->known = false;
    return sum->known ? value : 0;
}

static long long applied(Sum *sum, const char *sign, long long a, long long b) {
    long long value = 0;
    bool divides = *sign == '/' || *sign == '%';
    if (sign[0] == '*' && sign[1] == '*') return power(sum, a, b);
    if (divides && (b == 0 || b == -1)) {
        sum->known = sum->known && b == -1 && *sign == '%';
        return 0;
    }
    bool over = (*sign == '*' && __builtin_mul_overflow(a, b, &value)) ||
                (*sign == '+' && __builtin_add_overflow(a, b, &value)) ||
                (*sign == '-' && __builtin_sub_overflow(a, b, &value));
    if (over) sum->known = false;
    if (*sign == '/') return a / b;
    if (*sign == '%') return a % b;
    if (strcmp(sign, "==") == 0) return a == b;
    if (strcmp(sign, "!=") == 0) return a != b;
    if (strcmp(sign, "<=") == 0) return a <= b;
    if (strcmp(sign, ">=") == 0) return a >= b;
    if (strcmp(sign, "<") == 0) return a < b;
    if (strcmp(sign, ">") == 0) return a > b;
    if (strcmp(sign, "&&") == 0) return a && b;
    if (strcmp(sign, "||") == 0) return a || b;
    return value;
}

static long long expression(Sum *sum, int level) {
    static const char *const signs[][5] = {{"||"},     {"&&"},          {"==", "!="}, {"<=", ">=", "<", ">"},
                                           {"+", "-"}, {"*", "/", "%"}, {"**"}};
    enum { LEVELS = sizeof signs / sizeof *signs };
    if (level == LEVELS) return operand(sum);
    long long value = expression(sum, level + 1);
    for (bool more = true; more && sum->known;) {
        more = false;
        for (int i = 0; i < 5 && signs[level][i] && !more; i++) {
            if (!takes(sum, signs[level][i])) continue;
            value = applied(sum, signs[level][i], value, expression(sum, level + 1));
            more = true;
        }
    }
    return value;
}

bool shell_arithmetic(Shell *shell, const char *begin, const char *end, long long *value) {
    if (++shell->depth > SHELL_DEEPEST) {
        shell->depth--;
        return false;
    }
    Sum sum = {shell, begin, end, true, 0};
    *value = expression(&sum, 0);
    while (sum.at < sum.end && isspace((unsigned char)*sum.at)) sum.at++;
    shell->depth--;
    return sum.known && sum.at == sum.end;
}
