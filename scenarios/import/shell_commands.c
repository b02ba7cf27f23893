// What a script's commands do within the reader: variables, files that are written, tests, functions, the shell's own
// commands.
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/shell_internal.h"
#include "sim/base/list.h"

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

ShellVariable *shell_variable_named(Shell *shell, const char *name, Where where) {
    ShellVariable *there = shell_find(shell, name);
    if (there || shell->variables.count >= SHELL_VARIABLES) return there;
    ShellVariable variable = {.name = arena_copy_text(shell->arena, name), .where = where};
    LIST_PUSH(shell->arena, &shell->variables, variable);
    return &shell->variables.items[shell->variables.count - 1];
}

void shell_set(Shell *shell, const char *name, const char *value, Where where, bool exported) {
    ShellVariable *variable = shell_variable_named(shell, name, where);
    if (!variable) return;
    ShellWord word = {value, where.line};
    variable->words = (ShellWords){0};
    LIST_PUSH(shell->arena, &variable->words, word);
    variable->exported |= exported || shell->exports_all;
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

// local -n NAME=OTHER: a name for another variable, which is there from now on.
void shell_refer(Shell *shell, const char *name, const char *other, Where where) {
    if (strcmp(name, other) == 0) return;
    if (!shell_find(shell, other)) shell_variable_named(shell, other, where);
    ShellVariable *variable = NULL;
    for (int i = 0; i < shell->variables.count && !variable; i++)
        if (strcmp(shell->variables.items[i].name, name) == 0) variable = &shell->variables.items[i];
    if (!variable) variable = shell_variable_named(shell, name, where);
    if (variable) variable->refers = arena_copy_text(shell->arena, other);
}

// ---- Other files.

const char *shell_joined(Shell *shell, const ShellWords *words, int from) {
    ShellText text = {0};
    for (int i = from; i < words->count; i++) {
        if (i > from) shell_put(shell, &text, " ", 1);
        shell_put(shell, &text, words->items[i].text, strlen(words->items[i].text));
    }
    return text.over ? "" : shell_letters(&text);
}

static void run_file(Shell *shell, const char *path, Where where) {
    size_t bytes = 0;
    const char *text = shell_file(shell, path); // be its name not wholly known
    if (text) bytes = strlen(text);
    if (!text && is_known(path) && shell->depth < SHELL_DEEPEST / 3)
        text = shell->hooks.read(shell->hooks.context, path, where, &bytes);
    if (text) shell_run_text(shell, arena_copy_text(shell->arena, path), text, text + bytes, 1, false);
}

void shell_run_file(Shell *shell, const char *path, const ShellWords *arguments, Where where) {
    const ShellWords *outer = shell->arguments;
    shell->arguments = arguments;
    run_file(shell, path, where);
    shell->arguments = outer;
}

// ---- Conditions.

Truth shell_truth(bool truth) { return truth ? IS_TRUE : IS_FALSE; }
Truth shell_inverse(Truth truth) { return truth == IS_UNKNOWN ? IS_UNKNOWN : shell_truth(truth == IS_FALSE); }

// A pattern with stars, as case and [[ have them.
// "[a-z_]", "[^,]": whether the letter is of it; *set ends at the bracket that closes it.
static bool set_has(const char **set, char letter) {
    const char *at = *set + 1;
    bool negates = *at == '^' || *at == '!', has = false;
    for (at += negates; *at && (*at != ']' || at == *set + 1 + negates); at++) {
        bool range = at[1] == '-' && at[2] && at[2] != ']';
        has = has || (range ? letter >= *at && letter <= at[2] : letter == *at);
        at += range ? 2 : 0;
    }
    *set = *at ? at : at - 1;
    return has != negates;
}

bool shell_fits(const char *pattern, const char *text, int depth) {
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            if (depth > 8) return false;
            for (pattern++; *text; text++)
                if (shell_fits(pattern, text, depth + 1)) return true;
            return shell_fits(pattern, text, depth + 1);
        }
        bool set = *pattern == '[' && pattern[1] && strchr(pattern + 2, ']');
        if (!*text || (set ? !set_has(&pattern, *text) : *pattern != '?' && *pattern != *text)) return false;
    }
    return !*text;
}

static Truth compare(const char *a, const char *sign, const char *b) {
    static const char *const signs[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    if (!is_known(a) || !is_known(b)) return IS_UNKNOWN;
    if (strcmp(sign, "==") == 0 || strcmp(sign, "=") == 0) return shell_truth(shell_fits(b, a, 0));
    if (strcmp(sign, "!=") == 0) return shell_truth(!shell_fits(b, a, 0));
    long long x = strtoll(a, NULL, 10), y = strtoll(b, NULL, 10);
    const bool holds[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    for (int i = 0; i < 6; i++)
        if (strcmp(sign, signs[i]) == 0) return shell_truth(holds[i]);
    return IS_UNKNOWN;
}

// -f FILE: one that lies beside the script is there; of one elsewhere it is not known.
static Truth is_there(Shell *shell, const ShellWord *path) {
    size_t bytes = 0;
    if (!is_known(path->text) || !*path->text) return IS_UNKNOWN;
    bool there = shell_file(shell, path->text) ||
                 shell->hooks.read(shell->hooks.context, path->text, (Where){shell->file, path->line}, &bytes);
    return there ? IS_TRUE : *path->text == '/' || *path->text == '~' ? IS_UNKNOWN : IS_FALSE;
}

static Truth one_test(Shell *shell, const ShellWord *words, int count) {
    if (count > 0 && strcmp(words[0].text, "!") == 0) return shell_inverse(one_test(shell, words + 1, count - 1));
    if (count == 3) return compare(words[0].text, words[1].text, words[2].text);
    if (count == 1) return is_known(words[0].text) ? shell_truth(*words[0].text) : IS_UNKNOWN;
    if (count == 2 && is_known(words[1].text)) {
        if (strcmp(words[0].text, "-z") == 0) return shell_truth(!*words[1].text);
        if (strcmp(words[0].text, "-n") == 0) return shell_truth(*words[1].text);
        static const char files[] = "-f -e -r -s -x ";
        if (strlen(words[0].text) == 2 && strstr(files, words[0].text)) return is_there(shell, &words[1]);
    }
    return count == 0 ? IS_FALSE : IS_UNKNOWN;
}

static Truth both(Truth a, Truth b) {
    if (a == IS_FALSE || b == IS_FALSE) return IS_FALSE;
    return a == IS_TRUE && b == IS_TRUE ? IS_TRUE : IS_UNKNOWN;
}

// "a == b && -n c": left to right.
Truth shell_tested(Shell *shell, const ShellWords *words) {
    Truth all = IS_TRUE;
    bool any = false;
    int begin = 1, end = words->count;
    if (end > 1 && words->items[end - 1].text[0] == ']') end--;
    for (int i = begin; i <= end && end > begin; i++) {
        const char *word = i < end ? words->items[i].text : "&&";
        bool and = strcmp(word, "&&") == 0 || strcmp(word, "-a") == 0;
        bool or = strcmp(word, "||") == 0 || strcmp(word, "-o") == 0;
        if (!and&&! or) continue;
        Truth one = one_test(shell, &words->items[begin], i - begin);
        all = any ? shell_inverse(both(shell_inverse(all), shell_inverse(one))) : both(all, one);
        any = or ;
        begin = i + 1;
    }
    return all;
}

// ---- Simple commands.

static bool is_word(const Simple *simple, int i, const char *text) {
    return simple->words.count > i && strcmp(simple->words.items[i].text, text) == 0;
}

static void run_function(Shell *shell, const ShellFunction *function, const ShellWords *words) {
    const ShellWords *outer = shell->arguments;
    ShellWords *own = ARENA_NEW(shell->arena, ShellWords);
    if (words->count > 0) *own = (ShellWords){words->items + 1, words->count - 1, words->count - 1};
    shell->arguments = own;
    shell->within_functions++;
    shell_run_text(shell, function->file, function->begin, function->end, function->line, false);
    shell->within_functions--;
    shell->leaves = LEAVES_NOTHING;
    shell->arguments = outer;
}

const ShellFunction *shell_function(const Shell *shell, const char *name) {
    for (int i = shell->functions.count - 1; i >= 0; i--)
        if (strcmp(shell->functions.items[i].name, name) == 0) return &shell->functions.items[i];
    return NULL;
}

// A shell of its own: what it sets is forgotten.
const char *shell_function_prints(Shell *shell, const ShellFunction *function, const ShellWords *words) {
    Captured own = {0}, *outer = shell->captured;
    size_t bytes = (size_t)shell->variables.count * sizeof *shell->variables.items;
    if (shell->bytes + bytes > SHELL_BYTES || ++shell->steps > SHELL_STEPS) return NULL;
    shell->bytes += bytes;
    ShellVariable *before = ARENA_ARRAY(shell->arena, ShellVariable, shell->variables.count);
    int count = shell->variables.count, notes = shell->notes.count;
    if (count) memcpy(before, shell->variables.items, bytes);
    const char *piped = shell->piped;
    shell->piped = NULL;
    shell->captured = &own;
    run_function(shell, function, words);
    shell->captured = outer;
    shell->piped = piped;
    if (count) memcpy(shell->variables.items, before, bytes);
    shell->variables.count = count;
    if (own.unsure) shell->notes.count = notes; // it is told as a whole
    const char *text = shell_letters(&own.text);
    return own.unsure ? NULL : text;
}

// What a command prints goes to whom a substitution takes it from, unless a pipe or a file does.
static void capture(Shell *shell, const Simple *simple, const char *prints) {
    Captured *to = shell->captured;
    if (!to) return;
    to->before = to->text.length;
    if (simple->output || simple->elsewhere) return;
    if (prints)
        shell_put(shell, &to->text, prints, strlen(prints));
    else
        to->unsure = true;
}

const char *shell_input(Shell *shell, const Simple *simple, Where where) {
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

void shell_keep(Shell *shell, const char *path, const char *text, Where where) {
    keep_text(shell, path, text, false, where);
}

static void keep_file(Shell *shell, const Simple *simple, const char *text, Where where) {
    if (simple->output) keep_text(shell, simple->output, text, simple->appends, where);
    bool appends = is_word(simple, 1, "-a") || is_word(simple, 1, "--append");
    for (int i = 1; i < simple->words.count && is_word(simple, 0, "tee"); i++)
        if (simple->words.items[i].text[0] != '-') keep_text(shell, simple->words.items[i].text, text, appends, where);
}

// read -ra NAME, mapfile -t NAME: a list of words, or of lines.
static void read_list(Shell *shell, const char *name, const char *input, const char *end, const char *marks,
                      Where where) {
    ShellWords list = {0};
    for (const char *at = input; at < end;) {
        size_t length = strcspn(at, marks);
        if (at + length > end) length = (size_t)(end - at);
        ShellWord word = {arena_printf(shell->arena, "%.*s", (int)length, at), where.line};
        if (length || !strchr(marks, ' ')) LIST_PUSH(shell->arena, &list, word);
        at += length + 1;
    }
    shell_set(shell, name, "", where, false);
    ShellVariable *variable = shell_find(shell, name);
    if (variable) variable->words = list, variable->is_list = true;
}

static bool is_mapfile(const char *name) { return strcmp(name, "mapfile") == 0 || strcmp(name, "readarray") == 0; }

// read -r -d '' NAME <<EOT, read -r A B < <(…), IFS=, read -r A B <<<"…": words of a line, the last name has the rest.
static void read_into(Shell *shell, const Simple *simple, const char *input, Where where) {
    const ShellWords *words = &simple->words;
    int first = 1;
    bool lines = is_mapfile(words->items[0].text), whole = lines, list = lines;
    for (; first < words->count && words->items[first].text[0] == '-'; first++) {
        list = list || strchr(words->items[first].text, 'a');
        if (strchr(words->items[first].text, 'd')) whole = true, first++;
    }
    if (!input || first >= words->count) return;
    const char *own = shell_value(shell, "IFS"), *marks = own ? own : " \t", *end = input + strlen(input);
    if (!whole) end = input + strcspn(input, "\n");
    while (end > input && end[-1] == '\n') end--;
    if (list && is_known(input)) {
        read_list(shell, words->items[words->count - 1].text, input, end, lines ? "\n" : marks, where);
        return;
    }
    for (int i = whole ? words->count - 1 : first; i < words->count; i++) {
        if (!own) input += strspn(input, marks);
        const char *stop = i + 1 < words->count ? input + strcspn(input, marks) : end;
        if (stop > end || input > end) stop = input = end;
        shell_set(shell, words->items[i].text, arena_printf(shell->arena, "%.*s", (int)(stop - input), input), where,
                  false);
        input = stop + (stop < end);
    }
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
static bool run_builtin(Shell *shell, const Simple *simple, const char *input, Where where, Truth *truth) {
    const ShellWords *words = &simple->words;
    const char *first = words->items[0].text;
    *truth = IS_TRUE;
    if (strcmp(first, "[") == 0 || strcmp(first, "test") == 0) {
        *truth = shell_tested(shell, words);
    } else if (strcmp(first, "false") == 0) {
        *truth = IS_FALSE;
    } else if (strcmp(first, "read") == 0 || is_mapfile(first)) {
        bool of_lines = !input && shell->lines;
        if (of_lines) *truth = shell_truth(*shell->lines), input = shell->lines;
        read_into(shell, simple, input, where);
        if (of_lines) shell->lines += strcspn(shell->lines, "\n"), shell->lines += *shell->lines == '\n';
        if (shell->unsure && !of_lines) *truth = IS_UNKNOWN;
    } else if ((strcmp(first, "source") == 0 || strcmp(first, ".") == 0) && words->count > 1) {
        run_file(shell, words->items[1].text, where);
    } else if (strcmp(first, "eval") == 0) {
        shell_run_words(shell, shell_joined(shell, words, 1), where);
    } else if (strcmp(first, "shift") == 0) {
        shift(shell, words);
    } else if (strcmp(first, "set") == 0) {
        if (is_word(simple, 1, "--")) set_arguments(shell, words);
        bool on = is_word(simple, 1, "-o"), off = is_word(simple, 1, "+o"), named = is_word(simple, 2, "allexport");
        if (is_word(simple, 1, "-a") || (on && named)) shell->exports_all = true;
        if (is_word(simple, 1, "+a") || (off && named)) shell->exports_all = false;
    } else if (strcmp(first, "getopts") == 0) {
        *truth = words->count > 2 ? next_option(shell, words, where) : IS_FALSE;
    } else if (strcmp(first, "let") == 0) {
        long long value = 0;
        for (int i = 1; i < words->count; i++) {
            const char *text = words->items[i].text;
            *truth = shell_arithmetic(shell, text, text + strlen(text), &value) ? shell_truth(value) : IS_UNKNOWN;
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

Truth shell_run_command(Shell *shell, const Simple *simple, Where where) {
    const ShellWords *words = &simple->words;
    const char *input = words->count ? shell_input(shell, simple, where) : NULL;
    if (shell->piped && shell->captured) {
        shell->captured->text.length = shell->captured->before;
        if (shell->captured->text.letters) shell->captured->text.letters[shell->captured->before] = '\0';
    }
    shell->piped = NULL;
    if (words->count == 0) return IS_TRUE;
    const char *first = words->items[0].text;
    const ShellFunction *function = shell_function(shell, first);
    bool takes = simple->piped_on || (simple->output && !simple->elsewhere); // somebody takes what is printed
    const char *told = function && takes && !shell->captured ? shell_function_prints(shell, function, words) : NULL;
    if (told && simple->output) keep_file(shell, simple, told, where);
    if (told && simple->piped_on) { // a shell of its own, in which nothing is started
        shell->piped = simple->output ? NULL : told;
        return IS_TRUE;
    }
    if (function) {
        run_function(shell, function, words);
        shell->piped = NULL;
        return IS_TRUE;
    }
    const char *prints = shell_prints(shell, words, input, where.line);
    if (prints) keep_file(shell, simple, prints, where);
    Truth truth;
    if (!run_builtin(shell, simple, input, where, &truth)) {
        ShellCommand command = {words, input, where};
        capture(shell, simple, prints);
        if (!shell->captured) shell->hooks.on_command(shell->hooks.context, shell, &command);
        bool answers = strcmp(first, "command") == 0 || strcmp(first, "which") == 0 || strcmp(first, "grep") == 0;
        truth = answers || shell->unsure ? IS_UNKNOWN : IS_TRUE;
    }
    shell->piped = prints; // whatever it ran printed is not what it prints
    return truth;
}
