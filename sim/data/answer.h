// The answer of a command: a tree of few kinds of node. Terminal, plain text, CSV, JSON and page are rendered from it
// (results/as_*.c); commands print nothing. A number gets its key, title and unit where it is computed, once.
//
// A node with a key appears in JSON, CSV and plain text; one with a title (a sentence, a table with a heading or
// titled columns) is displayed, if its level of detail is on. Texts are not copied: they must live as long as the
// answer's arena. Nodes keep the order in which they are added, in the section that was opened last.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "sim/data/record.h"

// How a value is formatted for display. JSON and CSV have the number itself, in the unit given here.
typedef enum AnswerUnit {
    AS_NOTHING, // an empty cell: no member in JSON
    AS_TEXT,    // a name or a sentence; NULL: unknown, null in JSON
    AS_BOOL,
    AS_COUNT,      // of things: "14,392"
    AS_MANY,       // three figures of them: "175 B"
    AS_WHOLE,      // as AS_COUNT without marks between thousands: an identifier, a size of a layout
    AS_NUMBER,     // three figures
    AS_SHARE,      // 0.312 is "31.2 %"
    AS_PERCENT,    // 0.312 is "31 %"
    AS_SECONDS,    // "142 ms", "26.7 days"
    AS_DAYS,       // "26.7 days", "5.2 h"
    AS_BYTES,      // "46.1 GiB"
    AS_BANDWIDTH,  // bytes a second: "25 GB/s"
    AS_FLOPS,      // "2.1 TFLOP"
    AS_FLOPS_RATE, // "312 TFLOP/s"
    AS_MONEY,      // in the answer's currency: "$1.43 M"
    AS_WATTS,      // "6.5 kW"
    AS_KWH,        // "412 MWh"
    AS_KILOGRAMS,  // "3.2 t"
    ANSWER_UNIT_COUNT,
    AS_ITS_COLUMN // of a cell: in the unit of its column
} AnswerUnit;

typedef struct AnswerValue {
    AnswerUnit unit;
    double number;    // NAN: unknown
    const char *text; // of AS_TEXT; of other units the text displayed in place of the number, or NULL
} AnswerValue;

AnswerValue answer_of(AnswerUnit unit, double number);
AnswerValue answer_of_text(const char *text);
AnswerValue answer_shown(AnswerUnit unit, double number, const char *text); // displayed as `text`
AnswerValue answer_of_whole(double count);
AnswerValue answer_of_number(double number);
AnswerValue answer_of_percent(double share); // a share as a number of percent
AnswerValue answer_of_nothing(void);         // an empty cell

// Where a node is shown: by default, with -v, on pages, or in JSON and CSV only.
typedef enum AnswerDetail { FOR_ALL, FOR_VERBOSE, FOR_PAGES, FOR_PROGRAMS } AnswerDetail;

typedef struct Answer Answer;
struct Chart; // results/chart/chart.h

Answer *answer_create(Arena *arena, const char *kind); // kind: of the envelope, "goodput"
void answer_rename(Answer *answer, const char *kind);
void answer_title(Answer *answer, const char *title);   // heads a page, "title" in JSON
void answer_format(Answer *answer, const char *format); // of a file that the program reads too: "lockstep-hardware"
void answer_currency(Answer *answer, const char *code); // of AS_MONEY; default USD
void answer_one_row(Answer *answer);                    // CSV is one row of all facts, not the first table

// ---- Parts. A section is an object in JSON; without a key its members are in the surrounding object.

void answer_open(Answer *answer, const char *key, const char *heading);
void answer_open_on_pages(Answer *answer, const char *heading, AnswerDetail inside); // heading on pages alone, no key
void answer_open_list(Answer *answer, const char *key, const char *heading);         // its sections have no keys
void answer_close(Answer *answer);
bool answer_is_closed(const Answer *answer);             // all that was opened
void answer_detail(Answer *answer, AnswerDetail detail); // of later nodes in this section

// ---- Facts.

void answer_fact(Answer *answer, const char *key, const char *title, AnswerValue value);
void answer_note(Answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // next to the last fact, below the last table; display only

void answer_text(Answer *answer, const char *key, const char *title, const char *text);
void answer_bool(Answer *answer, const char *key, const char *title, bool value);
void answer_number(Answer *answer, const char *key, const char *title, AnswerUnit unit, double number);

// A number with its range: an object of those that are finite in JSON.
typedef struct AnswerRange {
    double mean, p5, p50, p95;
} AnswerRange;
AnswerRange answer_range_of(const Summary *summary);
void answer_range(Answer *answer, const char *key, const char *title, AnswerUnit unit, AnswerRange range);
// Shows the median of it, not the mean.
void answer_median(Answer *answer, const char *key, const char *title, AnswerUnit unit, AnswerRange range);

// ---- Tables: a list of objects in JSON. A key "goodput.mean" is a member of a member there.

#define BELOW_ROW (-1) // in place of drop: the text is on lines of its own below the row
typedef struct AnswerColumn {
    const char *key;   // NULL: display only
    const char *title; // NULL: JSON and CSV only
    AnswerUnit unit;   // also sets the alignment; cells have their own unit
    int drop;          // where a screen is too narrow: columns of the highest go first; 0 never
} AnswerColumn;

#define COLUMNS(array) (array), (int)(sizeof(array) / sizeof *(array))
void answer_table(Answer *answer, const char *key, const char *heading, const AnswerColumn *columns, int count);
void answer_cell(Answer *answer, AnswerValue value);                    // of the last table, row by row
void answer_cells(Answer *answer, const AnswerValue *cells, int count); // several of a row
void answer_row(Answer *answer, const AnswerValue *cells, int count);   // as many as it has columns
// The cells of a row: texts, numbers in the units of their columns, and values with their own unit.
#define ANSWER_ROW(answer, ...) answer_row(answer, CELLS_OF(__VA_ARGS__))
#define ANSWER_CELLS(answer, ...) answer_cells(answer, CELLS_OF(__VA_ARGS__))
#ifdef __cppcheck__ // which fails at so many arguments
#define CELLS_OF(...) NULL, 0
#else
#define CELLS_OF(...) (const AnswerValue[]){CELLS(__VA_ARGS__)}, CELL_COUNT(__VA_ARGS__)
#endif
#define CELL_COUNT(...) (int)(sizeof((const AnswerValue[]){CELLS(__VA_ARGS__)}) / sizeof(AnswerValue))
#define CELL(x)                                                                                                        \
    _Generic((x), AnswerValue: answer_itself, char *: answer_of_text, const char *: answer_of_text,                    \
             default: answer_in_column)(x)
AnswerValue answer_itself(AnswerValue value);
AnswerValue answer_in_column(double number);
// clang-format off
#define CELLS(...) CELLS_CHOSEN(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(__VA_ARGS__)
#define CELLS_CHOSEN(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) CELLS_##count
#define CELLS_1(x) CELL(x)
#define CELLS_2(x, ...) CELL(x), CELLS_1(__VA_ARGS__)
#define CELLS_3(x, ...) CELL(x), CELLS_2(__VA_ARGS__)
#define CELLS_4(x, ...) CELL(x), CELLS_3(__VA_ARGS__)
#define CELLS_5(x, ...) CELL(x), CELLS_4(__VA_ARGS__)
#define CELLS_6(x, ...) CELL(x), CELLS_5(__VA_ARGS__)
#define CELLS_7(x, ...) CELL(x), CELLS_6(__VA_ARGS__)
#define CELLS_8(x, ...) CELL(x), CELLS_7(__VA_ARGS__)
#define CELLS_9(x, ...) CELL(x), CELLS_8(__VA_ARGS__)
#define CELLS_10(x, ...) CELL(x), CELLS_9(__VA_ARGS__)
#define CELLS_11(x, ...) CELL(x), CELLS_10(__VA_ARGS__)
#define CELLS_12(x, ...) CELL(x), CELLS_11(__VA_ARGS__)
#define CELLS_13(x, ...) CELL(x), CELLS_12(__VA_ARGS__)
#define CELLS_14(x, ...) CELL(x), CELLS_13(__VA_ARGS__)
#define CELLS_15(x, ...) CELL(x), CELLS_14(__VA_ARGS__)
#define CELLS_16(x, ...) CELL(x), CELLS_15(__VA_ARGS__)
// clang-format on
void answer_row_detail(Answer *answer, AnswerDetail detail); // of the row that has been filled last
void answer_main_called(Answer *answer, const char *key);    // CSV is of that table or list
void answer_main_last(Answer *answer);                       // CSV is of the last table, with a key or without
void answer_mark(Answer *answer);                            // highlights the row filled last
void answer_first_rows(Answer *answer, int count);           // limits the last table's rows by default; -v shows all

// ---- Words.

void answer_say(Answer *answer, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));               // behind a label, or with NULL a sentence by itself
void answer_verbatim(Answer *answer, const char *lines); // preformatted text with line ends, never wrapped
void answer_caution(Answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void answer_next(Answer *answer, const char *command, const char *what_for); // a line that can be typed verbatim
void answer_recommend(Answer *answer, const Recommendation *recommendation);
void answer_chart(Answer *answer, const char *name, const struct Chart *chart);
void answer_spare(Answer *answer); // the newest node is dropped first if the screen has no room; -v shows it
void answer_says(Answer *answer, const char *text); // alternative text of the last chart
void answer_seed(Answer *answer, uint64_t seed);    // above 2^53 its digits, for readers that keep numbers in doubles
void answer_digest(Answer *answer, uint64_t digest);

// ---- For the output formats.

typedef enum AnswerNodeKind {
    NODE_SECTION,
    NODE_LIST,
    NODE_FACT,
    NODE_TABLE,
    NODE_SENTENCE,
    NODE_VERBATIM,
    NODE_CAUTION,
    NODE_NEXT,
    NODE_CHART
} AnswerNodeKind;

typedef struct AnswerRowDetail {
    int row;
    AnswerDetail detail;
} AnswerRowDetail;

typedef struct AnswerTable {
    const AnswerColumn *columns;
    int column_count;
    LIST_OF(AnswerValue) cells;       // row by row
    int marked;                       // row, or -1
    LIST_OF(AnswerRowDetail) details; // of rows that are not for all, in their order
    int first_rows;                   // on the first screen; 0: all
} AnswerTable;

typedef struct AnswerNode AnswerNode;
struct AnswerNode {
    AnswerNodeKind kind;
    AnswerDetail detail, inside; // inside: of nodes added to a section
    const char *key, *title;     // title: also a heading, the label of a sentence
    AnswerValue value;           // of a fact; the words of a sentence, caution, next
    AnswerRange range;
    bool has_range, spare;
    const char *note;
    AnswerTable *table;
    const struct Chart *chart;
    AnswerNode *first, *last, *next, *parent;
};

const AnswerNode *answer_root(const Answer *answer);
const char *answer_format_name(const Answer *answer); // or NULL
const char *answer_kind(const Answer *answer);
const char *answer_heading(const Answer *answer);    // its title, or NULL
const AnswerNode *answer_main(const Answer *answer); // the table that is its CSV; NULL: one row
int answer_row_count(const AnswerTable *table);
// The table with those of its rows that are for them: FOR_VERBOSE has those for all, too.
const AnswerTable *answer_rows_for(Arena *arena, const AnswerTable *table, AnswerDetail most);
// The displayed text of a value; "–" where it is unknown.
const char *answer_value_text(Arena *arena, const Answer *answer, AnswerValue value);
const char *answer_range_text(Arena *arena, const Answer *answer, AnswerUnit unit, double low, double high);
bool answer_unit_is_number(AnswerUnit unit); // aligned to the right
// The range and note displayed next to a fact; "" where it has none.
const char *answer_beside(Arena *arena, const Answer *answer, const AnswerNode *fact);
bool answer_has_words(const AnswerNode *node); // the node has something to display; false for sections

// ---- The first members of every JSON answer, which identify its kind, the program and the command line: {"format":
// "lockstep-answer", "format_version": 2, "kind": "memory", "program": {…}, "command": […], …}. "partial": true
// follows if a signal ended the work and the answer covers what was done until then.
// `lockstep schema` prints the JSON Schema of each kind.

#define ANSWER_FORMAT "lockstep-answer"
enum { ANSWER_FORMAT_VERSION = 2 };

// Sets the process's command line, argv[0] the program; called by main.c. Not copied.
void envelope_command_line(int argc, char **argv);

// Further members of every answer, about the input file; NULL: none.
void envelope_tells(void (*write)(JsonWriter *json));

// The first members of an object that has just begun. `kind` NULL: the command's own name.
void envelope_write(JsonWriter *json, const char *kind);
// The same for an object whose format has a name of its own ("lockstep-hardware").
void envelope_write_format(JsonWriter *json, const char *format, const char *kind);
