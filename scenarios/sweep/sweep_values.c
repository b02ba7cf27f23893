// The values of a varied parameter, from --vary and from lists.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/store_row.h"
#include "scenarios/sweep/sweep.h"
#include "sim/csv.h"
#include "sim/list.h"

#define MOST_VALUES 1000000

typedef struct Values {
    struct {
        const char **items;
        int count, room;
    } texts;
    struct {
        double *items;
        int count, room;
    } numbers;
} Values;

// A number is written the shortest way, so that 8, 8.0 and 0x8 are one point.
static void push_value(Arena *arena, Values *values, const char *text) {
    char *end;
    double number = strtod(text, &end);
    bool is_number = *text && *end == '\0' && isfinite(number);
    if (is_number) text = parameter_text(arena, number);
    if (!is_number) number = NAN;
    LIST_PUSH(arena, &values->texts, text);
    LIST_PUSH(arena, &values->numbers, number);
}

static void push_number(Arena *arena, Values *values, double number) {
    const char *text = parameter_text(arena, number);
    LIST_PUSH(arena, &values->texts, text);
    LIST_PUSH(arena, &values->numbers, number);
}

static bool read_number(const char **text, double *number) {
    char *end;
    *number = strtod(*text, &end);
    if (end == *text || !isfinite(*number) || (*end != ':' && *end != '\0')) return false;
    *text = *end ? end + 1 : end;
    return true;
}

// "lo:hi:step", "lo:hi:xfactor"; with `geometric` the last is a factor anyway. *too_many: so many values that they are
// not listed.
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

static void read_commas(Arena *arena, const char *text, Values *values) {
    for (;;) {
        size_t length = strcspn(text, ",");
        push_value(arena, values, arena_printf(arena, "%.*s", (int)length, text));
        if (text[length] == '\0') return;
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

bool sweep_read_vary(Arena *arena, const char *written, Variation *vary, Problems *problems) {
    static const char geometric[] = "geometric:";
    Where where = {arena_printf(arena, "--vary %s", written), 0};
    const char *equals = strchr(written, '=');
    Values values = {0};
    double too_many = 0;
    bool good = equals && equals > written && equals[1];
    const char *text = good ? equals + 1 : "";
    bool is_geometric = strncmp(text, geometric, sizeof geometric - 1) == 0;
    if (is_geometric) text += sizeof geometric - 1;
    if (good && strchr(text, ':'))
        good = read_range(arena, text, is_geometric, &values, &too_many);
    else if (good)
        read_commas(arena, text, &values);
    for (int i = 0; i < values.texts.count; i++) good = good && *values.texts.items[i];
    if (too_many > 0) {
        problem_add(problems, where, "this names %.15g values, and a name has at most %d", too_many, MOST_VALUES);
        problem_hint(problems, "take larger steps, or multiply: gpus=1:1000000:x2");
        return false;
    }
    if (!good) {
        problem_add(problems, where, "this names no values");
        problem_hint(problems, "gpus=8:64:8 steps by 8, gpus=8:1024:x2 doubles (as does geometric:8:1024:2), "
                               "fabric=ib-ndr400,eth-100g lists");
        return false;
    }
    const char *name = arena_printf(arena, "%.*s", (int)(equals - written), written);
    *vary =
        (Variation){with_underscores(arena, name), where, values.texts.items, values.numbers.items, values.texts.count};
    return true;
}

const Variation *sweep_read_list(Arena *arena, const char *path, int *count, Problems *problems) {
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    *count = csv->column_count;
    if (csv->row_count == 0) {
        problem_add(problems, (Where){path, 0}, "the list has no points");
        problem_hint(problems, "a line of names, then a line of values for each point");
        return NULL;
    }
    Variation *columns = ARENA_ARRAY(arena, Variation, *count);
    for (int c = 0; c < *count; c++) {
        Values values = {0};
        for (int r = 0; r < csv->row_count; r++) push_value(arena, &values, csv_cell(csv, r, c));
        columns[c] = (Variation){with_underscores(arena, csv->columns[c]),
                                 {path, 1},
                                 values.texts.items,
                                 values.numbers.items,
                                 csv->row_count};
    }
    return columns;
}
