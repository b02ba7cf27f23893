// What a few commands print, where it follows from their words and from texts that are known: echo, printf, cat, sed's
// replacements, envsubst, expr, wc -l, seq, basename, head, tail, cut,
// lines and fields of sed and awk; and how many machines the scheduler gave. Nothing is run.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/shell_internal.h"
#include "sim/base/list.h"

enum { MOST_LINES = 1000 };

static const char *text_of_file(Shell *shell, const char *path, int line) {
    size_t bytes = 0;
    const char *own = shell_file(shell, path);
    if (own) return own;
    return *path ? shell->hooks.read(shell->hooks.context, path, (Where){shell->file, line}, &bytes) : NULL;
}

static const char *word_at(const ShellWords *words, int i) { return i < words->count ? words->items[i].text : ""; }

// ---- Commands: NULL where what one prints is not known.

static const char *print_echo(Shell *shell, const ShellWords *words) {
    ShellText text = {0};
    bool ends_line = true, escapes = false;
    int first = 1;
    for (; first < words->count; first++) {
        const char *option = words->items[first].text;
        if (option[0] != '-' || !option[1] || option[1 + strspn(option + 1, "neE")]) break;
        ends_line = ends_line && !strchr(option, 'n');
        escapes = escapes || strchr(option, 'e');
    }
    for (int i = first; i < words->count; i++) {
        if (escapes && strchr(words->items[i].text, '\\')) return NULL;
        if (i > first) shell_put(shell, &text, " ", 1);
        shell_put(shell, &text, words->items[i].text, strlen(words->items[i].text));
    }
    if (ends_line) shell_put(shell, &text, "\n", 1);
    return shell_letters(&text);
}

// printf FORMAT WORDS, of %s, %d, %% and ends of lines; again for words that are left.
static const char *print_format(Shell *shell, const ShellWords *words) {
    ShellText text = {0};
    int next = 2 + (strcmp(word_at(words, 1), "--") == 0);
    const char *format = word_at(words, next - 1);
    bool takes = strstr(format, "%s") || strstr(format, "%d");
    do {
        for (const char *at = format; *at; at++) {
            bool letter = (*at == '%' && strchr("sd%", at[1])) || (*at == '\\' && strchr("nt\\", at[1]));
            const char *word = letter && *at == '%' && at[1] != '%' ? word_at(words, next++) : NULL;
            if ((*at == '%' || *at == '\\') && (!letter || !at[1])) return NULL;
            if (word)
                shell_put(shell, &text, word, strlen(word));
            else
                shell_put(shell, &text,
                          letter && *at == '\\' ? at[1] == 'n'   ? "\n"
                                                  : at[1] == 't' ? "\t"
                                                                 : "\\"
                                                : at,
                          1);
            at += letter;
        }
    } while (takes && next < words->count);
    return shell_letters(&text);
}

static const char *print_files(Shell *shell, const ShellWords *words, const char *input, int line) {
    ShellText text = {0};
    if (words->count == 1 || (words->count == 2 && strcmp(word_at(words, 1), "-") == 0)) return input;
    for (int i = 1; i < words->count; i++) {
        const char *file = text_of_file(shell, words->items[i].text, line);
        if (words->items[i].text[0] == '-' || !file) return NULL;
        if (words->count == 2) return file;
        shell_put(shell, &text, file, strlen(file));
    }
    return shell_letters(&text);
}

// Whether a text has "$NAME" or "${NAME}" in it.
static bool names_variable(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strchr(at, '$')) != NULL;) {
        at += 1 + (at[1] == '{');
        if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_') return true;
    }
    return false;
}

// $NAME and ${NAME}, of those in `only` alone where that is said; what is not set is empty.
static const char *print_substituted(Shell *shell, const char *input, const char *only) {
    ShellText text = {0};
    while (input && *input) {
        size_t plain = strcspn(input, "$");
        shell_put(shell, &text, input, plain);
        input += plain;
        if (!*input) break;
        bool braced = input[1] == '{';
        const char *begin = input + 1 + braced, *end = begin;
        while (isalnum((unsigned char)*end) || *end == '_') end++;
        if (end == begin || isdigit((unsigned char)*begin) || (braced && *end != '}')) {
            shell_put(shell, &text, input++, 1);
            continue;
        }
        const char *name = arena_printf(shell->arena, "%.*s", (int)(end - begin), begin);
        if (only && !names_variable(only, name)) {
            shell_put(shell, &text, input++, 1);
            continue;
        }
        const char *value = shell_value(shell, name);
        if (value) shell_put(shell, &text, value, strlen(value));
        input = end + braced;
    }
    return input ? shell_letters(&text) : NULL;
}

// s/FROM/TO/ and s/FROM/TO/g, FROM being a text.
static const char *edited(Shell *shell, const char *script, const char *input) {
    char mark = script[0] == 's' ? script[1] : '\0';
    if (!mark) return NULL;
    const char *from = script + 2, *to = strchr(from, mark), *end = to ? strchr(to + 1, mark) : NULL;
    if (!end || to == from || (end[1] && strcmp(end + 1, "g") != 0)) return NULL;
    size_t length = (size_t)(to - from);
    for (const char *at = from; at < to; at++)
        if (strchr("*[]^$\\", *at)) return NULL;
    for (const char *at = to + 1; at < end; at++)
        if (strchr("&\\", *at)) return NULL;
    ShellText text = {0};
    for (bool fresh = true; *input;) {
        bool fits = (fresh || end[1] == 'g') && strncmp(input, from, length) == 0;
        if (fits) {
            shell_put(shell, &text, to + 1, (size_t)(end - to - 1));
            input += length, fresh = false;
        } else {
            fresh = fresh || *input == '\n';
            shell_put(shell, &text, input++, 1);
        }
    }
    return shell_letters(&text);
}

static const char *print_edited(Shell *shell, const ShellWords *words, const char *input, int line) {
    const char *scripts[16], *file = NULL;
    int count = 0;
    for (int i = 1; i < words->count; i++) {
        const char *word = words->items[i].text;
        if (strcmp(word, "-e") == 0 && i + 1 < words->count && count < 16)
            scripts[count++] = words->items[++i].text;
        else if (word[0] == '-')
            return NULL; // in place, extended
        else if (!count)
            scripts[count++] = word;
        else
            file = word;
    }
    if (file) input = text_of_file(shell, file, line);
    for (int i = 0; i < count && input; i++) input = edited(shell, scripts[i], input);
    return count ? input : NULL;
}

static const char *print_sum(Shell *shell, const ShellWords *words) {
    const char *joined = shell_joined(shell, words, 1);
    long long sum = 0;
    return shell_arithmetic(shell, joined, joined + strlen(joined), &sum) ? arena_printf(shell->arena, "%lld\n", sum)
                                                                          : NULL;
}

// wc -l, wc -w, wc -c, grep -c . of a file or of what comes in.
static const char *print_count(Shell *shell, const ShellWords *words, const char *input, int line) {
    bool of_words = strcmp(word_at(words, 1), "-w") == 0, filled = strcmp(word_at(words, 0), "grep") == 0;
    const char *ends = of_words ? " \t\n" : "\n", *file = word_at(words, 2 + filled);
    int count = 0;
    if (*file) input = text_of_file(shell, file, line);
    bool of_letters = strcmp(word_at(words, 1), "-c") == 0 && !filled;
    if (input && of_letters) return arena_printf(shell->arena, "%zu\n", strlen(input));
    for (size_t length; input && *input; input += length + (input[length] != '\0')) {
        length = strcspn(input, ends);
        count += length > 0 || !(of_words || filled);
    }
    return input ? arena_printf(shell->arena, "%d\n", count) : NULL;
}

// bc of what comes in, awk 'BEGIN {print 3 * 4}': whole numbers.
static const char *print_computed(Shell *shell, const char *text) {
    long long value = 0;
    size_t length = text ? strlen(text) : 0;
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    return length && shell_arithmetic(shell, text, text + length, &value) ? arena_printf(shell->arena, "%lld\n", value)
                                                                          : NULL;
}

// jq -r .a.b FILE, yq '.a.b' FILE
static const char *print_member(Shell *shell, const ShellWords *words, const char *input, int line) {
    const char *path = NULL;
    for (int i = 1; i < words->count; i++) {
        const char *word = word_at(words, i);
        if (*word == '-' || (!path && strcmp(word, "eval") == 0)) continue;
        if (path) input = text_of_file(shell, word, line);
        if (!path) path = word;
    }
    if (!input || !path || *path != '.' || strpbrk(path, " []|()")) return NULL;
    const Json *tree = yaml_read(shell->arena, "", input, strlen(input), problems_create(shell->arena));
    const char *text = tree && tree->count ? tree_text(shell->arena, tree_at(&tree->items[0], path + 1)) : NULL;
    return text ? arena_printf(shell->arena, "%s\n", text) : NULL;
}

// python3 -c TEXT, python3 - of what comes in.
static const char *print_python(Shell *shell, const ShellWords *words, const char *input) {
    const char *text = strcmp(word_at(words, 1), "-c") == 0                       ? word_at(words, 2)
                       : words->count == 1 || strcmp(word_at(words, 1), "-") == 0 ? input
                                                                                  : NULL;
    return text && shell->hooks.python ? shell->hooks.python(shell->hooks.context, text) : NULL;
}

static const char *print_numbers(Shell *shell, const ShellWords *words) {
    ShellText text = {0};
    long first = words->count > 2 ? atol(word_at(words, 1)) : 1, last = atol(word_at(words, words->count - 1)),
         step = words->count > 3 ? atol(word_at(words, 2)) : 1;
    if (words->count < 2 || step <= 0) return NULL;
    bool more = first <= last;
    for (int lines = 0; more; lines++) {
        if (lines >= MOST_LINES) return NULL;
        const char *number = arena_printf(shell->arena, "%ld\n", first);
        shell_put(shell, &text, number, strlen(number));
        more = !__builtin_add_overflow(first, step, &first) && first <= last;
    }
    return shell_letters(&text);
}

static const char *print_base(Shell *shell, const ShellWords *words) {
    const char *path = word_at(words, 1), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *ending = word_at(words, 2);
    size_t length = strlen(name), own = strlen(ending);
    bool ends = own && length > own && strcmp(name + length - own, ending) == 0;
    return arena_printf(shell->arena, "%.*s\n", (int)(ends ? length - own : length), name);
}

// head -n 3, tail -1, tail -n +2, of a file or of what comes in.
static const char *print_end(Shell *shell, const ShellWords *words, const char *input, int line) {
    bool tail = strcmp(word_at(words, 0), "tail") == 0;
    const char *option = word_at(words, 1), *number = option + 1;
    bool said = *option == '-', apart = strcmp(option, "-n") == 0;
    if (said) number = apart ? word_at(words, 2) : option[1] == 'n' ? option + 2 : option + 1;
    bool onward = tail && said && *number == '+';
    number += onward;
    if (said && (!*number || number[strspn(number, "0123456789")])) return NULL; // bytes
    const char *file = word_at(words, said ? 2 + apart : 1);
    if (*file) input = text_of_file(shell, file, line);
    int wanted = said ? atoi(number) : 10, count = 0;
    if (!input) return NULL;
    for (const char *at = input; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n')) count++;
    int from = !tail ? 0 : onward ? wanted - 1 : count - wanted, to = tail ? count : wanted;
    const char *begin = input, *end;
    for (int i = 0; i < from && *begin; i++) begin += strcspn(begin, "\n") + (begin[strcspn(begin, "\n")] == '\n');
    end = begin;
    for (int i = from < 0 ? 0 : from; i < to && *end; i++)
        end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
    return arena_printf(shell->arena, "%.*s", (int)(end - begin), begin);
}

enum { FIELD_COUNT = -1 }; // awk's NF

// The field of each line, counted from 1; by blanks where `mark` is 0. Of line `only` alone, where that is one.
static const char *fields(Shell *shell, const char *input, char mark, long field, long only) {
    ShellText text = {0};
    const char blanks[] = {mark ? mark : ' ', mark ? '\0' : '\t', '\0'};
    long number = 1;
    for (size_t length; *input; input += length + (input[length] == '\n'), number++) {
        length = strcspn(input, "\n");
        if (only > 0 && number != only) continue;
        const char *at = input, *end = input + length, *stop = end;
        int count = 0;
        for (const char *word = input; field == FIELD_COUNT && word < end; count++) {
            if (!mark && (word += strspn(word, blanks)) >= end) break;
            word += strcspn(word, blanks);
            word += word < end;
        }
        if (field == FIELD_COUNT) at = arena_printf(shell->arena, "%d", count), stop = at + strlen(at);
        for (long i = 1; field > 0; i++) {
            if (!mark) at += strspn(at, blanks);
            stop = at + strcspn(at, blanks);
            if (at > end) at = end;
            if (stop > end) stop = end;
            if (i == field || stop == end) {
                if (i < field) at = stop;
                break;
            }
            at = stop + 1;
        }
        shell_put(shell, &text, at, (size_t)(stop - at));
        shell_put(shell, &text, "\n", 1);
    }
    return shell_letters(&text);
}

// sed -n 3p, awk 'NR==3', awk -F, 'NR==3 {print $2}', cut -d, -f2: of lines and fields that are numbers.
static const char *print_fields(Shell *shell, const ShellWords *words, const char *input, int line) {
    const char *first = word_at(words, 0), *file = NULL, *script = NULL;
    bool awk = strcmp(first, "awk") == 0, cut = strcmp(first, "cut") == 0;
    char mark = cut ? '\t' : '\0';
    for (int i = 1; i < words->count; i++) {
        const char *word = word_at(words, i), letter = word[0] == '-' ? word[1] : '\0';
        bool takes = (cut && (letter == 'd' || letter == 'f')) || (awk && letter == 'F');
        const char *value = takes ? word[2] ? word + 2 : word_at(words, ++i) : NULL;
        if (letter && !takes && !(letter == 'n' && !word[2] && !cut)) return NULL;
        if (takes && letter != 'f' && (!*value || value[1])) return NULL;
        if (takes && letter != 'f') mark = *value;
        if (takes && letter == 'f') script = value;
        if (!letter && !script && !cut)
            script = word;
        else if (!letter)
            file = word;
    }
    if (file) input = text_of_file(shell, file, line);
    const char *computes = awk && script && strncmp(script, "BEGIN", 5) == 0 ? strstr(script, "print ") : NULL;
    if (computes)
        return print_computed(shell,
                              arena_printf(shell->arena, "%.*s", (int)strcspn(computes + 6, "};"), computes + 6));
    if (!script || !input) return NULL;
    long only = 0, field = 0;
    char *at = arena_copy_text(shell->arena, script + strspn(script, " "));
    if (awk && strncmp(at, "NR==", 4) == 0) only = strtol(at + 4, &at, 10);
    if (awk && strncmp(at += strspn(at, " "), "{", 1) == 0) {
        at += 1 + strspn(at + 1, " ");
        bool prints = strncmp(at, "print", 5) == 0;
        at += prints ? 5 + strspn(at + 5, " ") : 0;
        if (prints && *at == '$') field = strtol(at + 1, &at, 10);
        if (prints && strncmp(at, "NF", 2) == 0) field = FIELD_COUNT, at += 2;
        at += strspn(at, "; ");
        if (!prints || *at++ != '}') return NULL;
    }
    if (!awk) *(cut ? &field : &only) = strtol(at, &at, 10);
    if (!awk && !cut && *at++ != 'p') return NULL;
    return *at || (!only && !field) ? NULL : fields(shell, input, mark, field, only);
}

// A letter of tr's, or 0: more than one.
static char one_letter(const char *set) {
    if (strcmp(set, "\\n") == 0) return '\n';
    if (strcmp(set, "\\t") == 0) return '\t';
    return set[0] && !set[1] ? set[0] : '\0';
}

// tr A B, tr -d A, tr -cd A, of one letter.
static const char *print_translated(Shell *shell, const ShellWords *words, const char *input) {
    bool keeps = strcmp(word_at(words, 1), "-cd") == 0 || strcmp(word_at(words, 1), "-dc") == 0,
         deletes = keeps || strcmp(word_at(words, 1), "-d") == 0;
    char from = one_letter(word_at(words, 1 + deletes)), to = deletes ? '\0' : one_letter(word_at(words, 2));
    if (!input || !from || (!deletes && !to) || words->count != 3) return NULL;
    char *text = arena_copy_text(shell->arena, input), *at = text;
    for (const char *letter = input; *letter; letter++)
        if (!deletes || (*letter == from) == keeps) *at++ = *letter == from && !deletes ? to : *letter;
    *at = '\0';
    return text;
}

// grep -v '^#', grep -v '^$': lines that do not begin so, that are not empty.
static const char *print_others(Shell *shell, const ShellWords *words, const char *input, int line) {
    const char *pattern = word_at(words, 2);
    ShellText text = {0};
    if (strcmp(word_at(words, 1), "-v") != 0 || *pattern != '^' || strpbrk(pattern + 1, "^[]*.\\|(")) return NULL;
    if (words->count > 3) input = text_of_file(shell, word_at(words, 3), line);
    bool empty = strcmp(pattern, "^$") == 0;
    size_t wanted = strlen(pattern + 1);
    for (size_t length; input && *input; input += length) {
        length = strcspn(input, "\n");
        bool begins = empty ? length == 0 : length >= wanted && memcmp(input, pattern + 1, wanted) == 0;
        length += input[length] == '\n';
        if (!begins) shell_put(shell, &text, input, length);
    }
    return input ? shell_letters(&text) : NULL;
}

// grep -o: what fits, a line each, of a text or of numbers.
static const char *print_found(Shell *shell, const ShellWords *words, const char *input) {
    const char *pattern = word_at(words, words->count - 1);
    bool numbers = strncmp(pattern, "[0-9]", 5) == 0 && strlen(pattern) <= 7;
    ShellText text = {0};
    if (!input || words->count != 3 || !*pattern || (!numbers && strpbrk(pattern, "[]^$*.\\|(+?"))) return NULL;
    for (const char *at = input; *at;) {
        size_t length = numbers                                      ? strspn(at, "0123456789")
                        : strncmp(at, pattern, strlen(pattern)) == 0 ? strlen(pattern)
                                                                     : 0;
        shell_put(shell, &text, at, length);
        if (length) shell_put(shell, &text, "\n", 1);
        at += length ? length : 1;
    }
    return shell_letters(&text);
}

// xargs alone: all in one line.
static const char *print_joined(Shell *shell, const char *input) {
    char *text = input ? arena_copy_text(shell->arena, input) : NULL;
    for (char *at = text; at && *at; at++)
        if (*at == '\n') *at = ' ';
    return text;
}

const char *shell_prints(Shell *shell, const ShellWords *words, const char *input, int line) {
    const char *first = word_at(words, 0);
    for (int i = 0; i < words->count; i++)
        if (!is_known(words->items[i].text) && !one_of(first, "echo sed cat printf")) return NULL;
    if (strcmp(first, "echo") == 0) return print_echo(shell, words);
    if (strcmp(first, "printf") == 0 && strcmp(word_at(words, 1), "-v") != 0) return print_format(shell, words);
    if (strcmp(first, "cat") == 0) return print_files(shell, words, input, line);
    if (strcmp(first, "envsubst") == 0)
        return print_substituted(shell, input, words->count > 1 ? words->items[1].text : NULL);
    bool lines = strcmp(first, "sed") == 0 && strcmp(word_at(words, 1), "-n") == 0;
    if (lines || one_of(first, "awk cut")) return print_fields(shell, words, input, line);
    if (strcmp(first, "sed") == 0) return print_edited(shell, words, input, line);
    if (strcmp(first, "expr") == 0) return print_sum(shell, words);
    bool counts = strcmp(word_at(words, 1), "-c") == 0 && strcmp(word_at(words, 2), ".") == 0;
    if (strcmp(first, "wc") == 0 || (strcmp(first, "grep") == 0 && counts))
        return print_count(shell, words, input, line);
    if (strcmp(first, "bc") == 0) return print_computed(shell, input);
    if (strcmp(first, "jq") == 0 || strcmp(first, "yq") == 0) return print_member(shell, words, input, line);
    if (strncmp(first, "python", 6) == 0) return print_python(shell, words, input);
    if (strcmp(first, "seq") == 0) return print_numbers(shell, words);
    if (strcmp(first, "basename") == 0) return print_base(shell, words);
    if (strcmp(first, "head") == 0 || strcmp(first, "tail") == 0) return print_end(shell, words, input, line);
    if (strcmp(first, "tr") == 0) return print_translated(shell, words, input);
    if (strcmp(first, "grep") == 0 && one_of(word_at(words, 1), "-o -oE")) return print_found(shell, words, input);
    if (strcmp(first, "grep") == 0) return print_others(shell, words, input, line);
    if (strcmp(first, "xargs") == 0 && words->count == 1) return print_joined(shell, input);
    if (strcmp(first, "tee") == 0) return input;
    return NULL;
}

// ---- Within $(…).

// How many machines or GPUs the scheduler gave, by the habits with which scripts ask for it; or NULL.
static const char *counted(Shell *shell, const char *text) {
    static const struct {
        const char *word, *variable;
    } habits[] = {{"nvidia-smi", "SLURM_GPUS_ON_NODE"},
                  {"scontrol", "SLURM_NNODES"},
                  {"SKYPILOT_NODE_IPS", "SKYPILOT_NUM_NODES"},
                  {"PBS_NODEFILE", "PBS_NUM_NODES"},
                  {"LSB_DJOB_HOSTFILE", "LSB_NODES"}};
    if (!strstr(text, "wc -l")) return NULL;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strstr(text, habits[i].word)) return shell_value(shell, habits[i].variable);
    return NULL;
}

static const char *without_last_line(Shell *shell, const char *text) { // ends of lines at the end are taken off
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') length--;
    return arena_printf(shell->arena, "%.*s", (int)length, text);
}

const char *shell_printed_within(Shell *shell, const char *begin, const char *end, int line) {
    const char *text = arena_printf(shell->arena, "%.*s", (int)(end - begin > 2000 ? 2000 : end - begin), begin);
    const char *count = counted(shell, text), *input = NULL;
    if (count) return count;
    size_t name = strcspn(text, " \t\n");
    const ShellFunction *function = shell_function(shell, arena_printf(shell->arena, "%.*s", (int)name, text));
    if (function) {
        ShellWords words = {0};
        shell_expand_words(shell, begin, end, line, &words);
        const char *printed = shell_function_prints(shell, function, &words);
        return printed ? without_last_line(shell, printed) : NULL;
    }
    const char *quiet = strstr(text, "2>/dev/null"), *other = strstr(text, "||");
    if (other) { // what else it prints
        const char *printed = shell_printed_within(shell, begin, begin + (other - text), line);
        return printed ? printed : shell_printed_within(shell, begin + (other - text) + 2, end, line);
    }
    bool runs_python = strncmp(text, "python", 6) == 0;
    if (quiet && !quiet[11 + strspn(quiet + 11, " ")]) end = begin + (quiet - text);
    if (end - begin > 2000 ||
        (!runs_python && strpbrk(arena_printf(shell->arena, "%.*s", (int)(end - begin), begin), ";&`>\n")))
        return NULL;
    while (begin < end && isspace((unsigned char)*begin)) begin++;
    if (*text == '<')
        return text_of_file(shell, shell_expand_one(shell, begin + 1 + strspn(begin + 1, " "), end, line), line);
    for (const char *at = begin; at <= end;) {
        const char *stop = at;
        while (stop < end && *stop != '|') stop = shell_after(stop, end, 0);
        ShellWords words = {0}, own = {0};
        shell_expand_words(shell, at, stop, line, &words);
        for (int i = 0; i < words.count; i++) {
            bool redirects = strcmp(words.items[i].text, "<") == 0;
            if (redirects && i + 1 < words.count) input = text_of_file(shell, words.items[++i].text, line);
            if (!redirects) LIST_PUSH(shell->arena, &own, words.items[i]);
        }
        input = shell_prints(shell, &own, input, line);
        if (!input) return NULL;
        at = stop + 1;
    }
    return without_last_line(shell, input);
}
