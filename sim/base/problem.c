// Problems are kept in the order found, without duplicates, and printed together.
#include "sim/base/problem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

#define MOST_KEPT 50
#define LONGEST_NAME 63

struct Problems {
    Arena *arena;
    Problem kept[MOST_KEPT];
    int kept_count, more_count, added_count;
    bool have_fault, have_usage;
    Problem *newest; // takes the hints; NULL when the newest problem was not kept
};

Problems *problems_create(Arena *arena) {
    Problems *problems = ARENA_NEW(arena, Problems);
    problems->arena = arena;
    return problems;
}

// User text may hold anything; one problem stays on one line and commands no terminal.
static const char *one_line(char *text) { return letters_make_harmless(text, ""); }

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_known(const Problems *problems, Where where, const char *text) {
    for (int i = 0; i < problems->kept_count; i++) {
        const Problem *kept = &problems->kept[i];
        if (same_text(kept->text, text) && same_text(kept->where.file, where.file) && kept->where.line == where.line)
            return true;
    }
    return false;
}

static void keep(Problems *problems, Where where, const char *text) {
    problems->newest = &problems->kept[problems->kept_count++];
    problems->newest->where = (Where){arena_copy_text(problems->arena, where.file), where.line};
    problems->newest->text = arena_copy_text(problems->arena, text);
}

// In memory of its own: a script may make a million problems, of which fifty are kept.
bool problem_add(Problems *problems, Where where, const char *format, ...) {
    Arena *scratch = arena_open();
    va_list arguments;
    va_start(arguments, format);
    const char *text = one_line(arena_vprintf(scratch, format, arguments));
    va_end(arguments);

    problems->newest = NULL;
    problems->added_count++;
    if (where.file) where.file = one_line(arena_copy_text(scratch, where.file));
    bool known = is_known(problems, where, text);
    if (!known && problems->kept_count == MOST_KEPT)
        problems->more_count++;
    else if (!known)
        keep(problems, where, text);
    arena_close(scratch);
    return false;
}

void problem_is_fault(Problems *problems) { problems->have_fault = true; }
bool problems_have_fault(const Problems *problems) { return problems->have_fault; }

void problem_is_usage(Problems *problems) { problems->have_usage = true; }

int problems_status(const Problems *problems, int status) {
    enum { USAGE = 2, BAD_INPUT = 4 };
    return status == BAD_INPUT && problems->have_usage ? USAGE : status;
}

bool problem_hint(Problems *problems, const char *format, ...) {
    if (!problems->newest) return false;
    va_list arguments;
    va_start(arguments, format);
    const char *hint = one_line(arena_vprintf(problems->arena, format, arguments));
    va_end(arguments);

    const char *earlier = problems->newest->hint;
    problems->newest->hint = earlier ? arena_printf(problems->arena, "%s; %s", earlier, hint) : hint;
    return false;
}

bool problem_unless_one_line(Problems *problems, Where where, const char *what, const char *text) {
    for (const unsigned char *next = (const unsigned char *)text; next && *next;) {
        int32_t letter = letter_next(&next);
        if (!letter_is_control(letter)) continue;
        problem_add(problems, where, "%s holds the control character U+%04X", what, (unsigned)letter);
        problem_hint(problems, "names and notes are of one line, and only of letters that are shown: take it out");
        return false;
    }
    return true;
}

bool problem_takes_hints(const Problems *problems) { return problems->newest != NULL; }

// ---- Names that are near.

// The letters that count, in lower case; -1 when the name is too long to be compared.
static int fold_name(const char *name, char folded[LONGEST_NAME + 1]) {
    int length = 0;
    for (; *name; name++) {
        if (*name == '-' || *name == '_' || *name == ' ') continue;
        if (length == LONGEST_NAME) return -1;
        folded[length++] = (char)tolower((unsigned char)*name);
    }
    folded[length] = '\0';
    return length;
}

static int least(int a, int b) { return a < b ? a : b; }

// Edits that turn a into b: insert, delete, replace, or swap two neighbours (Damerau, 1964; Levenshtein, 1966).
static int edit_distance(const char *a, int a_length, const char *b, int b_length) {
    int edits[LONGEST_NAME + 1][LONGEST_NAME + 1];
    for (int i = 0; i <= a_length; i++) {
        for (int j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                edits[i][j] = i + j;
                continue;
            }
            int best = least(edits[i - 1][j], edits[i][j - 1]) + 1;
            best = least(best, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, edits[i - 2][j - 2] + 1);
            edits[i][j] = best;
        }
    }
    return edits[a_length][b_length];
}

#define SHORTEST_BEGINNING 3

static bool begins(const char *whole, int whole_length, const char *start, int length) {
    return length <= whole_length && memcmp(whole, start, (size_t)length) == 0;
}

// Of the names that the given one begins those that no other of them begins, so that "micro" is micro-batch, not
// micro-batch-size too.
static int names_begun(const char *given, const char *const *names, int name_count, const char **begun) {
    char wanted[LONGEST_NAME + 1], offered[LONGEST_NAME + 1], other[LONGEST_NAME + 1];
    int length = given ? fold_name(given, wanted) : -1, count = 0;
    for (int i = 0; i < name_count && length >= SHORTEST_BEGINNING; i++) {
        int offered_length = fold_name(names[i], offered);
        if (offered_length < 0 || !begins(offered, offered_length, wanted, length)) continue;
        bool is_first = true;
        for (int j = 0; j < name_count && is_first; j++) {
            int other_length = fold_name(names[j], other);
            bool shorter = other_length < offered_length || (other_length == offered_length && j < i);
            is_first = !(other_length >= length && shorter && begins(other, other_length, wanted, length) &&
                         begins(offered, offered_length, other, other_length));
        }
        if (is_first) begun[count++] = names[i];
    }
    return count;
}

// What the given name begins is nearer than any slip of the finger.
const char *nearest_name(const char *given, const char *const *names, int name_count) {
    char wanted[LONGEST_NAME + 1], offered[LONGEST_NAME + 1];
    int wanted_length = given ? fold_name(given, wanted) : -1;
    if (wanted_length < 0) return NULL;

    const char *nearest = NULL, *begun = NULL;
    int nearest_distance = 2 + wanted_length / 4; // one more than is near enough
    int fewest = LONGEST_NAME + 1;
    for (int i = 0; i < name_count; i++) {
        int offered_length = fold_name(names[i], offered);
        if (offered_length < 0) continue;
        bool is_begun = wanted_length >= SHORTEST_BEGINNING && begins(offered, offered_length, wanted, wanted_length);
        if (is_begun && offered_length < fewest) {
            begun = names[i];
            fewest = offered_length;
        }
        if (abs(offered_length - wanted_length) >= nearest_distance) continue; // a lower bound of the distance
        int distance = edit_distance(wanted, wanted_length, offered, offered_length);
        int longer = wanted_length > offered_length ? wanted_length : offered_length;
        bool alike = distance < wanted_length && distance < offered_length &&
                     2 * distance < longer + (offered_length == wanted_length);
        if (alike && distance < nearest_distance) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    bool is_nearer = begun && (!nearest || fewest - wanted_length <= nearest_distance); // letters to add
    return is_nearer ? begun : nearest;
}

// ---- Hints of names.

// "A, B, C", or with quotes and a last word: ""A", "B" or "C"".
static const char *list_names(Arena *arena, const char *const *names, int name_count, const char *quote,
                              const char *last) {
    const char *list = "";
    for (int i = 0; i < name_count; i++) {
        const char *joint = i == 0 ? "" : i == name_count - 1 ? last : ", ";
        list = arena_printf(arena, "%s%s%s%s%s", list, joint, quote, names[i], quote);
    }
    return list;
}

#define FAMILY_LISTED 8
#define SHORT 3 // letters of a name, of which none may be wrong but the last

static bool is_number(const char *text) { return text[strspn(text, "0123456789.")] == '\0'; }

bool problem_hint_near(Problems *problems, const char *given, const char *const *names, int name_count) {
    if (!problem_takes_hints(problems)) return true;
    Arena *arena = problems->arena;
    const char **family = ARENA_ARRAY(arena, const char *, name_count + 1), *near = NULL;
    int count = names_begun(given, names, name_count, family);
    if (count <= 1) near = nearest_name(given, names, name_count);
    if (near && is_number(given) && !is_number(near)) near = NULL;     // no name misspelt
    if (near && strlen(near) <= SHORT && *near != *given) near = NULL; // "cpu" is not "gpu"
    if (near) count = 0;
    if (count > FAMILY_LISTED)
        problem_hint(problems, "names that begin so: %s, …", list_names(arena, family, FAMILY_LISTED, "", ", "));
    else if (count > 0)
        problem_hint(problems, "did you mean %s?", list_names(arena, family, count, "\"", " or "));
    else if (near)
        problem_hint(problems, "did you mean \"%s\"?", near);
    return count > 0 || near;
}

void problem_hint_names(Problems *problems, const char *given, const char *const *names, int name_count) {
    if (name_count == 0 || problem_hint_near(problems, given, names, name_count)) return;
    problem_hint(problems, "known: %s", list_names(problems->arena, names, name_count, "", ", "));
}

int problem_count(const Problems *problems) { return problems->kept_count; }

int problems_added(const Problems *problems) { return problems->added_count; }

const Problem *problem_at(const Problems *problems, int index) { return &problems->kept[index]; }

void problems_print(const Problems *problems, FILE *out) {
    Arena *scratch = arena_open();
    for (int i = 0; i < problems->kept_count; i++) {
        const Problem *problem = &problems->kept[i];
        const char *place = problem->where.file ? arena_printf(scratch, "%s: ", problem->where.file) : "";
        if (problem->where.file && problem->where.line > 0)
            place = arena_printf(scratch, "%s:%d: ", problem->where.file, problem->where.line);
        text_say(out, arena_printf(scratch, "%serror: %s", place, problem->text));
        if (problem->hint) text_say(out, arena_printf(scratch, "  hint: %s", problem->hint));
    }
    if (problems->more_count) fprintf(out, "error: and %d more like these\n", problems->more_count);
    arena_close(scratch);
}

bool name_is_among(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}
