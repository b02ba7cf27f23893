// CSV in one pass: cells are slices of a copy of the text.
#include "sim/data/csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

#define LARGEST_FILE_BYTES ((size_t)64 << 20)
#define BYTE_ORDER_MARK "\xef\xbb\xbf" // as spreadsheets write it

typedef LIST_OF(const char *) Cells;

typedef LIST_OF(int) Lines;

typedef struct Scan {
    char *at;
    int line;
    char separator;
    const char *stops; // what ends a cell
    bool row_ended;    // by the last cell
} Scan;

// Unquotes a quoted cell in place. NULL if its last quote is missing.
static char *scan_quoted(Scan *scan) {
    char *start = ++scan->at, *end = start;
    for (; *scan->at; scan->at++) {
        if (*scan->at == '"' && scan->at[1] != '"') break;
        if (*scan->at == '"') scan->at++;
        scan->line += *scan->at == '\n';
        *end++ = *scan->at;
    }
    if (*scan->at != '"') return NULL;
    scan->at++;
    *end = '\0';
    return start;
}

static char *scan_cell(Scan *scan) {
    char *start = scan->at;
    if (*start == '"') {
        start = scan_quoted(scan);
        if (!start) return NULL;
    } else {
        scan->at += strcspn(scan->at, scan->stops);
    }
    char after = *scan->at, *end = scan->at;
    if (after && !strchr(scan->stops, after)) return NULL;
    if (after == '\r' && scan->at[1] == '\n') scan->at++;
    scan->row_ended = after != scan->separator;
    scan->line += after == '\r' || after == '\n';
    if (after) scan->at++;
    *end = '\0';
    for (char *c = start; (c = strpbrk(c, "\t\r\n")) != NULL;) *c = ' '; // a note of several lines is of one
    return start;
}

// Adds the cells of the next row; returns how many, or -1 when a quote does not end where the cell does.
static int scan_row(Arena *arena, Scan *scan, Cells *cells) {
    int count = 0;
    do {
        const char *cell = scan_cell(scan);
        if (!cell) return -1;
        LIST_PUSH(arena, cells, cell);
        count++;
    } while (!scan->row_ended);
    return count;
}

// A header without a comma may have bars, as sacct -P writes it, or semicolons, as spreadsheets do where a comma is
// the decimal point.
static Scan scan_of(Arena *arena, const char *text) {
    size_t header = strcspn(text, "\r\n");
    Scan scan = {.at = arena_copy_text(arena, text), .line = 1, .separator = ',', .stops = ",\r\n"};
    if (memchr(text, ',', header)) return scan;
    if (memchr(text, '|', header))
        scan.separator = '|', scan.stops = "|\r\n";
    else if (memchr(text, ';', header))
        scan.separator = ';', scan.stops = ";\r\n";
    return scan;
}

const Csv *csv_read_text(Arena *arena, const char *name, const char *text, Problems *problems) {
    Csv *csv = ARENA_NEW(arena, Csv);
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) text += strlen(BYTE_ORDER_MARK);
    Scan scan = scan_of(arena, text);
    Cells header = {0}, cells = {0};
    Lines lines = {0};
    csv->file = name;
    csv->column_count = scan_row(arena, &scan, &header);
    csv->columns = header.items;
    bool is_sound = true;
    if (csv->column_count < 1 || (csv->column_count == 1 && !header.items[0][0])) {
        problem_add(problems, (Where){name, 1}, "the first line names no columns");
        return NULL;
    }
    for (int i = 0; i < csv->column_count; i++)
        is_sound = problem_unless_one_line(problems, (Where){name, 1}, "a column's name", csv->columns[i]) && is_sound;
    while (*scan.at) {
        int line = scan.line, before = cells.count;
        int count = scan_row(arena, &scan, &cells);
        if (count == 1 && !cells.items[before][0]) { // an empty line
            cells.count = before;
            continue;
        }
        for (int i = before; i < cells.count && count >= 0; i++)
            is_sound = problem_unless_one_line(problems, (Where){name, line},
                                               csv->columns[(i - before) % csv->column_count], cells.items[i]) &&
                       is_sound;
        if (count < 0) {
            problem_add(problems, (Where){name, line}, "a quoted cell does not end with its quote");
            return NULL;
        }
        if (count != csv->column_count) {
            problem_add(problems, (Where){name, line}, "%d cells, but the header names %d columns", count,
                        csv->column_count);
            cells.count = before;
            is_sound = false;
            continue;
        }
        LIST_PUSH(arena, &lines, line);
    }
    csv->row_count = lines.count;
    csv->cells = cells.items;
    csv->lines = lines.items;
    return is_sound ? csv : NULL;
}

const Csv *csv_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems) {
    size_t bytes;
    const char *text = gate_read_or_free(gate, arena, path, LARGEST_FILE_BYTES, &bytes, where, problems);
    if (!text) return NULL;
    path = gate_shown_path(gate, arena, path);
    if (strlen(text) != bytes) {
        problem_add(problems, (Where){path, 0}, "this is no text: it holds zero bytes");
        return NULL;
    }
    return csv_read_text(arena, path, text, problems);
}

const Csv *csv_read_file(Arena *arena, const char *path, Problems *problems) {
    return csv_read_gated(arena, NULL, path, (Where){0}, problems);
}

int csv_find(const Csv *csv, const char *word) {
    for (int i = 0; i < csv->column_count; i++)
        if (strcmp(csv->columns[i], word) == 0) return i;
    return -1;
}

int csv_column(const Csv *csv, const char *word, Problems *problems) {
    int found = csv_find(csv, word);
    if (found >= 0) return found;
    problem_add(problems, (Where){csv->file, 1}, "no column is called \"%s\"", word);
    problem_hint_names(problems, word, csv->columns, csv->column_count);
    return -1;
}

const char *csv_cell(const Csv *csv, int row, int column) {
    return csv->cells[(size_t)row * (size_t)csv->column_count + (size_t)column];
}

const char *csv_named(const Csv *csv, int row, const char *word) {
    int column = csv_find(csv, word);
    return column < 0 ? "" : csv_cell(csv, row, column);
}

Where csv_where(const Csv *csv, int row) { return (Where){csv->file, csv->lines[row]}; }

double csv_positive(const Csv *csv, int row, int column, Problems *problems) {
    const char *cell = csv_cell(csv, row, column);
    char *end;
    double value = strtod(cell, &end);
    if (end != cell && *end == '\0' && isfinite(value) && value > 0) return value;
    problem_add(problems, csv_where(csv, row), "%s is \"%s\", expected a number above zero", csv->columns[column],
                cell);
    return 0;
}

// ---- Writing.

CsvWriter csv_writer(FILE *out) { return (CsvWriter){.out = out}; }

static void begin_cell(CsvWriter *csv) {
    if (csv->in_row) fputc(',', csv->out);
    csv->in_row = true;
}

// With a unit it is one, too: "-3.5 %".
static bool is_number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) return false;
    return *end == '\0' || strcmp(end, "%") == 0 || strcmp(end, " %") == 0;
}

// The letters of other scripts that are as wide as these (U+FF0B and others) are read as these.
static bool is_formula(const char *text) {
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0) return true;
    return *text && strchr("=+-@", *text) && !is_number(text);
}

static void write_letter(FILE *out, const unsigned char *start, int bytes, int32_t letter) {
    if (letter == '\t' || letter == '\n' || letter == '\r')
        fputc(' ', out);
    else if (letter_commands_terminal(letter))
        fputc('?', out);
    else
        fprintf(out, "%s%.*s", letter == '"' ? "\"" : "", bytes, (const char *)start);
}

void csv_text(CsvWriter *csv, const char *text) {
    begin_cell(csv);
    if (!text) return;
    bool is_quoted = strpbrk(text, ",\"") != NULL;
    if (is_quoted) fputc('"', csv->out);
    if (is_formula(text)) fputc('\'', csv->out);
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        const unsigned char *start = next;
        int32_t letter = letter_next(&next);
        write_letter(csv->out, start, (int)(next - start), letter);
    }
    if (is_quoted) fputc('"', csv->out);
}

void csv_figures(CsvWriter *csv, const char *format, ...) {
    va_list arguments;
    begin_cell(csv);
    va_start(arguments, format);
    vfprintf(csv->out, format, arguments);
    va_end(arguments);
}

void csv_number(CsvWriter *csv, const char *format, double number) {
    if (isfinite(number))
        csv_figures(csv, format, number);
    else
        begin_cell(csv);
}

void csv_end_row(CsvWriter *csv) {
    fputc('\n', csv->out);
    csv->in_row = false;
}

void csv_titles(FILE *out, const char *titles) { fprintf(out, "%s\n", titles); }
