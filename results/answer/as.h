// Output formats of an answer: each file as_*.c walks the tree of sim/data/answer.h once.
#pragma once

#include "results/answer/answer.h"
#include "results/page/report.h"
#include "results/results.h"
#include "sim/data/answer.h"
#include "sim/data/json.h"

// The terminal's text: the default detail, without spare nodes if it has more than 24 lines; or with `verbose` every
// node with a title. Wrapped to the style's width.
void answer_as_text(Arena *arena, FILE *out, const Answer *answer, const Style *style, bool verbose);
void answer_as_json(FILE *out, const Answer *answer);
// One row for each row of the answer's main table, or one row of all facts. Columns "memory_bytes.peak" are nested
// members; lists of plain values are one cell, separated by semicolons.
void answer_as_csv(Arena *arena, FILE *out, const Answer *answer);
// A line "key<TAB>value" for every fact, then every table, tab-separated.
void answer_as_plain(Arena *arena, FILE *out, const Answer *answer);
// As an HTML page: all nodes except those for JSON and CSV only.
void answer_as_page(Arena *arena, Report *report, const Answer *answer);
// On a page that has another answer, under its last heading.
void answer_on_page(Arena *arena, Report *report, const Answer *answer);
// In any of these formats; in plain style the screen's is tab-separated text.
void answer_give(Arena *arena, FILE *out, const Answer *answer, AnswerForm form, const Style *style, bool verbose);
