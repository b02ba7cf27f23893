#include "models/workload/cluster/pair_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/system/file.h"

#define FILE_LIMIT (64 << 20)
#define RANKS_MOST 4096

typedef struct Numbers {
    double *items;
    int count, room;
} Numbers;

// The numbers of a line. False after a problem.
static bool read_line(Arena *arena, char *line, Where where, Numbers *numbers, Problems *problems) {
    char *comment = strchr(line, '#'), *rest;
    if (comment) *comment = '\0';
    for (char *word = strtok_r(line, " \t\r,;", &rest); word; word = strtok_r(NULL, " \t\r,;", &rest)) {
        char *end;
        double bytes = strtod(word, &end);
        if (*end || end == word || !(bytes >= 0) || bytes > 1e15) {
            problem_add(problems, where, "\"%.40s\" is no number of bytes", word);
            problem_hint(problems, "whole numbers from 0, with blanks or commas between them");
            return false;
        }
        LIST_PUSH(arena, numbers, bytes);
    }
    return true;
}

static bool is_row(const Numbers *row, int ranks, Where where, Problems *problems) {
    if (row->count == ranks) return true;
    problem_add(problems, where, "this row has %d numbers, and there are %d ranks", row->count, ranks);
    problem_hint(problems, "a number for each receiver, its own among them");
    return false;
}

static const double *finish(Arena *arena, Numbers *all, const char *file, int ranks, Problems *problems) {
    int rows = all->count / ranks;
    if (rows == 1)
        for (int i = ranks; i < ranks * ranks; i++) LIST_PUSH(arena, all, all->items[i - ranks]);
    else if (rows != ranks) {
        problem_add(problems, (Where){file, 0}, "the matrix has %d rows, and there are %d ranks", rows, ranks);
        problem_hint(problems, "a row for each sender, or one row for all");
        return NULL;
    }
    if (pair_matrix_mean(all->items, ranks) > 0) return all->items;
    problem_add(problems, (Where){file, 0}, "nobody sends anything");
    return NULL;
}

const double *pair_matrix_read(Arena *arena, const char *file, int ranks, Problems *problems) {
    size_t bytes;
    char *text = file_read(arena, file, FILE_LIMIT, &bytes, problems);
    Numbers all = {0};
    if (!text) return NULL;
    if (ranks > RANKS_MOST) {
        problem_add(problems, (Where){file, 0}, "a matrix of %d ranks is too much; %d are the most", ranks, RANKS_MOST);
        return NULL;
    }
    for (int number = 1; text; number++) {
        char *line = strsep(&text, "\n");
        Numbers row = {0};
        Where where = {file, number};
        if (!read_line(arena, line, where, &row, problems)) return NULL;
        if (row.count == 0) continue;
        if (!is_row(&row, ranks, where, problems)) return NULL;
        for (int i = 0; i < row.count; i++) LIST_PUSH(arena, &all, row.items[i]);
    }
    return finish(arena, &all, file, ranks, problems);
}

double pair_matrix_mean(const double *pairs, int ranks) {
    double sum = 0;
    for (int i = 0; i < ranks * ranks; i++) sum += pairs[i];
    return sum / ranks;
}
