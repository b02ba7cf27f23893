// A record as an answer (sim/data/answer.h): of one configuration or of many, with its own tables, published figures,
// and assumptions.
#pragma once

#include "results/answer/answer.h"
#include "results/page/report.h"
#include "sim/data/answer.h"

typedef struct RecordTelling {
    Arena *arena;
    Answer *answer;
    const Record *record;
    Date today;          // prices of more than a year before are pointed out; year 0: none are
    const char **varied; // names of the parameters that differ between points
    int varied_count;
    double shortest_s; // step of any point; INFINITY: none is known
} RecordTelling;

// The answer for `record`. `objects`: with objects of all points, for JSON and plain text.
void record_answer(Answer *answer, Arena *arena, const Record *record, Date today, bool objects);

// Its parts: the context, the leading sentence, the results, and the assumptions with published figures.
RecordTelling record_telling(Arena *arena, Answer *answer, const Record *record, Date today);
const char *record_lead(const RecordTelling *telling);
void record_found(const RecordTelling *telling);
void record_rests_on(const RecordTelling *telling);
void packets_counted_members(Answer *answer, const PacketsCarried *packets);       // of those queues, marks and losses
void packets_carried_members(Answer *answer, const PacketsCarried *packets);       // what went as packets
void record_point_members(const RecordTelling *telling, const RecordPoint *point); // everything but its digest
void record_one_point(const RecordTelling *telling, const RecordPoint *point);
void record_points(const RecordTelling *telling);
const char *record_settings(const RecordTelling *telling, const RecordPoint *point); // parameters that do not vary

// "12.3 % gemm, 4 % data parallel": the largest first, as far as they matter.
const char *record_largest(Arena *arena, const NamedValue *values, int count, int most);

void record_write(FILE *out, const Record *record, AnswerForm form, const Style *style, bool verbose);

// Contents of a page (as_page.c): the answer, its explanation, charts, and assumptions.
typedef struct RecordPage {
    const Record *record;
    Date today;
    const char *first, *first_value, *first_note; // the first figure of the page; NULL: none
    const Answer *explained;                      // what to change first, and why; or NULL
} RecordPage;
void record_on_page(Arena *arena, Report *report, const RecordPage *page);

// For answers of another shape: tables, as many rows as a first screen has room for, and a list for programs.
void record_tables(Answer *answer, Arena *arena, const RecordTable *tables, int count);
void record_assumptions(Answer *answer, Arena *arena, const Record *record); // the least certain first
void record_texts(Answer *answer, const char *key, const char *const *texts, int count);
// Settings that have no effect at any of the points, as a list for programs and in one sentence; nothing where all
// have.
void record_without_effect(Answer *answer, Arena *arena, const RecordPoint *points, int count);
