// The forms of an answer: each file as_*.c walks the tree of sim/data/answer.h once.
#pragma once

#include "results/answer/answer.h"
#include "results/page/report.h"
#include "results/results.h"
#include "sim/data/answer.h"
#include "sim/data/json.h"

// For people: what is for all, but for what is spare where that is more than 24 lines; or with `verbose` all that has a
// title. Sentences are folded to the style's width.
void answer_as_text(Arena *arena, FILE *out, const Answer *answer, const Style *style, bool verbose);
void answer_as_json(FILE *out, const Answer *answer);
// A row for each row of its main table, or one of all facts. Columns "memory_bytes.peak" are members of members; lists
// of plain values are a cell with semicolons.
void answer_as_csv(Arena *arena, FILE *out, const Answer *answer);
// A line "key<TAB>value" for every fact, then every table with tabs.
void answer_as_plain(Arena *arena, FILE *out, const Answer *answer);
// Onto a page: all but what is for programs alone.
void answer_as_page(Arena *arena, Report *report, const Answer *answer);
// The same on a page that has another answer, under its last heading.
void answer_on_page(Arena *arena, Report *report, const Answer *answer);
// Any of those above; of a style that is plain the screen is text with tabs.
void answer_give(Arena *arena, FILE *out, const Answer *answer, AnswerForm form, const Style *style, bool verbose);
