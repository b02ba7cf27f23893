// Bytes from every rank to every other, read from a text file: a row of numbers for each sender, with a number for
// each receiver; or one row for all senders. Blanks or commas between numbers; # begins a comment.
#pragma once

#include "sim/base/problem.h"

// [from * ranks + to] bytes. NULL after problems.
const double *pair_matrix_read(Arena *arena, const char *file, int ranks, Problems *problems);
// Bytes sent per rank, on average; including those to itself.
double pair_matrix_mean(const double *pairs, int ranks);
