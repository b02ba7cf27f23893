// Internals of reports: their blocks, and the drawing area of charts.
#pragma once

#include "results/page/report.h"
#include "sim/base/list.h"

typedef enum BlockKind {
    BLOCK_SECTION,
    BLOCK_TEXT,
    BLOCK_CAUTION,
    BLOCK_CODE,
    BLOCK_FACT,
    BLOCK_TABLE,
    BLOCK_CHART
} BlockKind;

typedef struct Block {
    BlockKind kind;
    const char *text;          // heading, sentence, label of a fact; alternative text of a chart
    const char *value, *range; // of a fact
    const ReportTable *table;  // of a table or behind a chart
    bool is_open;              // of a table
    const Chart *chart;
} Block;

struct Report {
    Arena *arena;
    const char *title, *command, *date, *lead;
    LIST_OF(Block) blocks;
};

// ---- Colours. A chart's colour is a class of the page's style, with light and dark values.
typedef struct Palette {
    Arena *arena;
    LIST_OF(uint32_t) colors;
} Palette;

int palette_place(Palette *palette, uint32_t color); // n: classes "fn" (fill), "sn" (stroke), "tn" (text on the fill)
void palette_write(FILE *out, const Palette *palette);
double color_contrast(uint32_t a, uint32_t b); // WCAG 2: 1 to 21

// ---- Text between tags and in attributes: nothing in it is markup, no letter in it turns or hides others.
void html_text(FILE *out, Arena *arena, const char *text);

// ---- Paper: one drawing of a chart, wide or narrow. Units are CSS pixels; letters keep their size on both.
#define PAPER_WIDE 860.0
#define PAPER_NARROW 350.0
#define PAPER_LETTER 7.5 // a letter of 13 pixels is about so wide

typedef struct Paper {
    FILE *out;
    Arena *arena;
    Palette *palette;
    double width, height;
    bool narrow;
    int number; // of the chart, for names within the page
} Paper;

typedef struct Frame { // where data is drawn, and how it gets there
    double left, top, width, height;
    double x_from, x_to, y_from, y_to; // in data
    bool log_x, log_y;
} Frame;

typedef enum Anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } Anchor;

void paper_open(const Paper *paper, const char *label);
void paper_close(const Paper *paper);
void paper_text(const Paper *paper, double x, double y, Anchor anchor, const char *style, const char *text);
void paper_text_in(const Paper *paper, double x, double y, double room, Anchor anchor, const char *style,
                   const char *text); // cut with an ellipsis where it is wider than the room; whole in its title
void paper_line(const Paper *paper, double x1, double y1, double x2, double y2, const char *style);
// A rectangle of colour number `color`, of series `series`, with a title to hover.
void paper_bar(const Paper *paper, double x, double y, double width, double height, int color, int series,
               const char *title);
double paper_text_width(const char *text);

double frame_x(const Frame *frame, double x);
double frame_y(const Frame *frame, double y);
void frame_draw_y(const Paper *paper, const Frame *frame, const char *title); // lines across, figures at the left
void frame_draw_x(const Paper *paper, const Frame *frame, const char *title); // ticks and figures below
double nice_step(double span, int most);                                      // 1, 2 or 5 times a power of ten

// Limits bars to what a page can hold: every second, third, … row, and a text about the rows left out, or "".
const BarChart *thinned_bars(Arena *arena, const BarChart *chart, const char **what_is_left_out);
void draw_bars(Paper *paper, const BarChart *chart, const char *label);
void draw_lines(Paper *paper, const RecordChart *chart, const char *label);
void draw_heat(Paper *paper, const HeatChart *chart, const char *label);

// The tables behind charts.
const ReportTable *table_of_bars(Arena *arena, const BarChart *chart);
const ReportTable *table_of_lines(Arena *arena, const RecordChart *chart);
const ReportTable *table_of_heat(Arena *arena, const HeatChart *chart);

extern const char report_css[], report_js[]; // page.css and page.js, zero-terminated
