#include "sim/data/vary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/data/csv.h"

#define MOST_VALUES 1000000

typedef struct Values {
    LIST_OF(const char *) texts;
    LIST_OF(double) numbers;
} Values;

static void push_number(Arena *arena, Values *values, double number) {
    const char *text = quantity_exact(arena, number);
    LIST_PUSH(arena, &values->texts, text);
    LIST_PUSH(arena, &values->numbers, number);
}

// A double keeps whole numbers up to 2^53; the text keeps all.
static void push_whole(Arena *arena, Values *values, uint64_t whole) {
    LIST_PUSH(arena, &values->texts, arena_printf(arena, "%llu", (unsigned long long)whole));
    LIST_PUSH(arena, &values->numbers, (double)whole);
}

// A number is written the shortest way, so that 8, 8.0 and 0x8 are one point.
static void push_value(Arena *arena, Values *values, const char *text) {
    char *end;
    uint64_t whole;
    double number = strtod(text, &end);
    if (digits_read(text, &whole)) {
        push_whole(arena, values, whole);
    } else if (*text && *end == '\0' && isfinite(number)) {
        push_number(arena, values, number);
    } else {
        LIST_PUSH(arena, &values->texts, text);
        LIST_PUSH(arena, &values->numbers, NAN);
    }
}

static bool read_number(const char **text, double *number) {
    char *end;
    *number = strtod(*text, &end);
    if (end == *text || !isfinite(*number) || (*end != ':' && *end != '\0')) return false;
    *text = *end ? end + 1 : end;
    return true;
}

static bool push_seed(Arena *arena, Values *values, const char *text) {
    uint64_t seed;
    if (!seed_read(text, &seed)) return false;
    push_whole(arena, values, seed);
    return true;
}

// The texts between colons; *count: how many there are, though only the first three are kept.
static void split_range(Arena *arena, const char *text, const char *parts[3], int *count) {
    for (*count = 0;; text++) {
        size_t length = strcspn(text, ":");
        if (*count < 3) parts[*count] = arena_printf(arena, "%.*s", (int)length, text);
        ++*count;
        text += length;
        if (*text == '\0') return;
    }
}

// "lo:hi:step", "lo:hi:xfactor" of whole numbers, which stay exact whatever their size; of seeds "lo:hi" too. False: it
// is none, and nothing is pushed.
static bool read_whole_range(Arena *arena, const char *text, bool geometric, bool of_seeds, Values *values,
                             double *too_many) {
    const char *parts[3] = {"", "", "1"};
    uint64_t low, high, step;
    int count;
    split_range(arena, text, parts, &count);
    if (parts[2][0] == 'x') {
        geometric = true;
        parts[2]++;
    }
    if (count > 3 || (count == 2 && !of_seeds) || !seed_read(parts[0], &low) || !seed_read(parts[1], &high) ||
        !seed_read(parts[2], &step))
        return false;
    if (low > high || step == 0 || (geometric && (low == 0 || step == 1))) return false;
    if (!geometric && (high - low) / step >= MOST_VALUES) {
        *too_many = floor((double)(high - low) / (double)step) + 1;
        return false;
    }
    for (uint64_t at = low;; at = geometric ? at * step : at + step) {
        push_whole(arena, values, at);
        if (geometric ? at > high / step : step > high - at) return true;
    }
}

// "lo:hi:step", "lo:hi:xfactor"; with `geometric` the last is always a factor. *too_many: the number of values, if
// too many to list.
static bool read_range(Arena *arena, const char *text, bool geometric, Values *values, double *too_many) {
    double low, high, step;
    if (!read_number(&text, &low) || !read_number(&text, &high)) return false;
    if (*text == 'x') {
        geometric = true;
        text++;
    }
    if (!read_number(&text, &step) || *text || low > high) return false;
    if (geometric ? low <= 0 || step <= 1 : step <= 0) return false;
    double steps = geometric ? log(high / low) / log(step) : (high - low) / step;
    if (!(steps < MOST_VALUES)) {
        *too_many = floor(steps) + 1;
        return false;
    }
    int count = (int)floor(steps + 1e-9) + 1; // the end belongs to it, whatever 0.1 is in binary
    for (int i = 0; i < count; i++) {
        double value = geometric ? low * pow(step, i) : low + i * step;
        push_number(arena, values, fabs(value) < 1e15 ? nearbyint(value * 1e9) / 1e9 : value);
    }
    return true;
}

static bool is_seed(const char *name) { return strcmp(name, VARIED_SEED) == 0; }

// False: a value is empty, or none of that name.
static bool read_commas(Arena *arena, const char *text, bool of_seeds, Values *values) {
    for (;;) {
        size_t length = strcspn(text, ",");
        const char *one = arena_printf(arena, "%.*s", (int)length, text);
        if (!*one || (of_seeds && !push_seed(arena, values, one))) return false;
        if (!of_seeds) push_value(arena, values, one);
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

static const char *with_underscores(Arena *arena, const char *name) {
    char *copy = arena_copy_text(arena, name);
    if (strchr(copy, '.')) return copy; // a path
    for (char *c = copy; *c; c++)
        if (*c == '-') *c = '_';
    return copy;
}

// ---- Values that are named twice: one point.

typedef struct Row {
    const char *text;
    int index;
} Row;

static int by_text(const void *a, const void *b) {
    const Row *one = a, *other = b;
    int order = strcmp(one->text, other->text);
    return order ? order : one->index - other->index;
}

static const char *row_text(Arena *arena, const Variation *columns, int count, int row) {
    const char *text = columns[0].texts[row];
    for (int c = 1; c < count; c++) text = arena_printf(arena, "%s\n%s", text, columns[c].texts[row]);
    return text;
}

static void keep_rows(Arena *arena, Variation *column, const bool *repeated) {
    Values kept = {0};
    for (int r = 0; r < column->count; r++) {
        if (repeated[r]) continue;
        LIST_PUSH(arena, &kept.texts, column->texts[r]);
        LIST_PUSH(arena, &kept.numbers, column->numbers[r]);
    }
    column->texts = kept.texts.items;
    column->numbers = kept.numbers.items;
    column->count = kept.texts.count;
}

// Of equal rows only the first is kept.
static void drop_repeats(Arena *arena, Variation *columns, int count) {
    int rows = columns[0].count, dropped = 0;
    Row *sorted = ARENA_ARRAY(arena, Row, rows);
    bool *repeated = ARENA_ARRAY(arena, bool, rows);
    for (int r = 0; r < rows; r++) sorted[r] = (Row){row_text(arena, columns, count, r), r};
    qsort(sorted, (size_t)rows, sizeof *sorted, by_text);
    for (int r = 1; r < rows; r++) {
        repeated[sorted[r].index] = strcmp(sorted[r - 1].text, sorted[r].text) == 0;
        dropped += repeated[sorted[r].index];
    }
    for (int c = 0; dropped > 0 && c < count; c++) keep_rows(arena, &columns[c], repeated);
}

// ---- Options and files.

static void refuse_vary(Where where, bool of_seeds, double too_many, Problems *problems) {
    if (too_many > 0) {
        problem_add(problems, where, "this names %.15g values, and a name has at most %d", too_many, MOST_VALUES);
        problem_hint(problems, "take larger steps, or multiply: gpus=1:1000000:x2");
    } else if (of_seeds) {
        problem_add(problems, where, "this names no seeds");
        problem_hint(problems, "a seed is " SEED_RANGE ": seed=1:10, seed=1:99:2, seed=7,42");
    } else {
        problem_add(problems, where, "this names no values");
        problem_hint(problems, "gpus=8:64:8 steps by 8, gpus=8:1024:x2 doubles (as does geometric:8:1024:2), "
                               "fabric=ib-ndr400,eth-100g lists, and so do values with units: size=1MB,2MB,4MB");
    }
}

bool vary_read(Arena *arena, const char *written, Variation *vary, Problems *problems) {
    static const char geometric[] = "geometric:";
    Where where = {arena_printf(arena, "--vary %s", written), 0};
    size_t length = strcspn(written, "=");
    const char *name = with_underscores(arena, arena_printf(arena, "%.*s", (int)length, written));
    const char *text = written + length + (written[length] == '=');
    bool is_geometric = strncmp(text, geometric, sizeof geometric - 1) == 0, of_seeds = is_seed(name), good = false;
    Values values = {0};
    double too_many = 0;
    if (is_geometric) text += sizeof geometric - 1;
    if (length > 0 && strchr(text, ':'))
        good = read_whole_range(arena, text, is_geometric, of_seeds, &values, &too_many) ||
               (!of_seeds && too_many == 0 && read_range(arena, text, is_geometric, &values, &too_many));
    else if (length > 0)
        good = read_commas(arena, text, of_seeds, &values);
    if (!good) {
        refuse_vary(where, of_seeds, too_many, problems);
        return false;
    }
    *vary = (Variation){name, where, values.texts.items, values.numbers.items, values.texts.count};
    drop_repeats(arena, vary, 1);
    return true;
}

static bool push_cell(Arena *arena, Values *values, bool of_seeds, const char *cell, Where where, Problems *problems) {
    if (!of_seeds)
        push_value(arena, values, cell);
    else if (!push_seed(arena, values, cell)) {
        problem_add(problems, where, "\"%.60s\" is no seed", cell);
        return problem_hint(problems, "a seed is " SEED_RANGE);
    }
    return true;
}

const Variation *vary_list(Arena *arena, const char *path, int *count, Problems *problems) {
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    *count = csv->column_count;
    if (csv->row_count == 0) {
        problem_add(problems, (Where){path, 0}, "the list has no points");
        problem_hint(problems, "a line of names, then a line of values for each point");
        return NULL;
    }
    Variation *columns = ARENA_ARRAY(arena, Variation, *count);
    bool sound = true;
    for (int c = 0; c < *count; c++) {
        const char *name = with_underscores(arena, csv->columns[c]);
        Values values = {0};
        for (int r = 0; r < csv->row_count; r++)
            sound = push_cell(arena, &values, is_seed(name), csv_cell(csv, r, c), csv_where(csv, r), problems) && sound;
        columns[c] = (Variation){name, {path, 1}, values.texts.items, values.numbers.items, csv->row_count};
    }
    if (sound) drop_repeats(arena, columns, *count);
    return sound ? columns : NULL;
}
