// Tables of options and the list of software as the files of software/ say them (software.options has the grammar).
// Each is read through once; a row's names and values stay in the text, which is copied.

#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/check.h"
#include "sim/base/embed.h"
#include "sim/base/list.h"

typedef struct Table {
    const char *name;
    LIST_OF(ImportOption) rows;
} Table;

typedef struct NamedValues {
    const char *name, *values;
} NamedValues;

typedef struct TableNames { // of one software, until all tables are known
    const char *names;
    Where where;
} TableNames;

typedef struct Tables {
    Arena *arena;
    Problems *problems;
    Where where;
    LIST_OF(Table) tables;
    LIST_OF(ImportSoftware) software;
    LIST_OF(TableNames) named;
    LIST_OF(NamedValues) values;
} Tables;

static void bad(Tables *t, const char *why, const char *word) {
    problem_add(t->problems, t->where, "%s: \"%.60s\"", why, word);
}

// "a  b c" as "a|b|c", in its place; bars and commas that stand there already are one with the spaces round them.
static char *joined(char *words, char by) {
    char *to = words, *from = words;
    while (*from) {
        size_t length = strcspn(from, " ");
        bool bar = length == 1 && *from == by;
        if (!bar && length > 0) {
            if (to != words) *to++ = by;
            memmove(to, from, length);
            to += length;
        }
        from += length + (from[length] == ' ');
    }
    *to = '\0';
    return words;
}

// "their:ours their:ours", or "@NAME".
static const char *values_of(Tables *t, char *words) {
    const char *values = joined(words, ',');
    if (*values != '@') {
        for (const char *at = values; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
            if (!memchr(at, ':', strcspn(at, ","))) bad(t, "a value without a colon", at);
        return values;
    }
    for (int i = 0; i < t->values.count; i++)
        if (strcmp(t->values.items[i].name, values + 1) == 0) return t->values.items[i].values;
    bad(t, "no values are called so, above this", values);
    return NULL;
}

static const Table *table_called(const Tables *t, const char *name, size_t length) {
    for (int i = 0; i < t->tables.count; i++)
        if (strlen(t->tables.items[i].name) == length && strncmp(t->tables.items[i].name, name, length) == 0)
            return &t->tables.items[i];
    return NULL;
}

static const ImportOption *table_named(const Tables *t, const char *name, size_t length) {
    const Table *table = table_called(t, name, length);
    return table ? table->rows.items : NULL;
}

// ---- Rows, by their first word.

// "WORD: names = values"
static void add_row(Tables *t, OptionEffect effect, char *rest) {
    char *colon = strstr(rest, ": "), *equals = colon ? strstr(colon, " = ") : NULL;
    if (!colon || t->tables.count == 0) {
        bad(t, colon ? "a row without a table" : "a row without names", rest);
        return;
    }
    *colon = '\0';
    ImportOption row = {NULL, effect, rest, NULL};
    if (equals) {
        *equals = '\0';
        row.how = values_of(t, equals + 3);
        if (!row.how) return;
    }
    row.spelling = joined(colon + 2, '|');
    if (!*row.spelling) bad(t, "a row without names", rest);
    LIST_PUSH(t->arena, &t->tables.items[t->tables.count - 1].rows, row);
}

static void on_taken(Tables *t, char *rest) { add_row(t, TAKEN, rest); }
static void on_open(Tables *t, char *rest) { add_row(t, OPEN, rest); }
static void on_idle(Tables *t, char *rest) { add_row(t, IDLE, rest); }

static void on_table(Tables *t, char *rest) { // NOLINT(readability-non-const-parameter): of one kind with others
    Table table = {.name = rest};
    if (table_called(t, rest, strlen(rest))) bad(t, "a table is called so already", rest);
    LIST_PUSH(t->arena, &t->tables, table);
}

static void on_values(Tables *t, char *rest) {
    char *colon = strstr(rest, ": ");
    if (!colon) {
        bad(t, "values without a name", rest);
        return;
    }
    *colon = '\0';
    NamedValues named = {rest, values_of(t, colon + 2)};
    LIST_PUSH(t->arena, &t->values, named);
}

static void on_software(Tables *t, char *rest) { // NOLINT(readability-non-const-parameter)
    ImportSoftware software = {.title = rest, .marks = "", .unsaid = ""};
    LIST_PUSH(t->arena, &t->software, software);
    LIST_PUSH(t->arena, &t->named, ((TableNames){"", t->where}));
}

static ImportSoftware *newest(Tables *t) { return &t->software.items[t->software.count - 1]; }

static void on_stack(Tables *t, char *rest) { newest(t)->stack = rest; } // NOLINT(readability-non-const-parameter)
static void on_marks(Tables *t, char *rest) { newest(t)->marks = rest; } // NOLINT(readability-non-const-parameter)
static void on_package(Tables *t, char *rest) { newest(t)->packages = joined(rest, '|'); }
static void on_tables(Tables *t, char *rest) { t->named.items[t->named.count - 1].names = joined(rest, '|'); }
static void on_unsaid(Tables *t, char *rest) { newest(t)->unsaid = joined(rest, ','); }

static void on_rule(Tables *t, char *rest) {
    newest(t)->rule = settle_rule(rest);
    if (!newest(t)->rule) bad(t, "settle_rules.c has no such rule", rest);
}

static const struct {
    const char *word;
    void (*add)(Tables *t, char *rest);
    bool of_software; // said of the software above it
} words[] = {{"taken", on_taken, false},  {"open", on_open, false},     {"idle", on_idle, false},
             {"table", on_table, false},  {"values", on_values, false}, {"software", on_software, false},
             {"stack", on_stack, true},   {"marks", on_marks, true},    {"tables", on_tables, true},
             {"unsaid", on_unsaid, true}, {"rule", on_rule, true},      {"package", on_package, true}};

static void read_row(Tables *t, char *row) {
    row += strspn(row, " ");
    size_t length = strcspn(row, " ");
    char *rest = row + length + strspn(row + length, " ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && strncmp(words[i].word, row, length) == 0) {
            if (!*rest || (words[i].of_software && t->software.count == 0))
                bad(t, "a row that says nothing, or of nothing", row);
            else
                words[i].add(t, rest);
            return;
        }
    bad(t, "no row begins so", row);
}

// A row ends where another begins: lines within it, of comments too, become spaces.
static void end_row(Tables *t, char *row, char *end) {
    while (end > row && end[-1] == ' ') end--;
    *end = '\0';
    if (end > row) read_row(t, row);
}

static void read_text(Tables *t, const ImportFile *file) {
    char *text = arena_copy_text(t->arena, file->text), *row = text, *at = text;
    t->where = (Where){file->name, 1};
    for (int line = 1; *at; line++) {
        char *end = at + strcspn(at, "\n");
        if (*at == '#') memset(at, ' ', (size_t)(end - at));
        if (*at != ' ' && at < end && at > text) {
            end_row(t, row, at - 1);
            row = at;
            t->where.line = line;
        }
        at = end;
        if (*at) *at++ = ' ';
    }
    end_row(t, row, at);
}

// ---- All of it.

static void find_tables(Tables *t, ImportSoftware *software, const TableNames *named) {
    enum { MOST = 8 };
    const ImportOption **tables = ARENA_ARRAY(t->arena, const ImportOption *, MOST + 1);
    int count = 0;
    t->where = named->where;
    for (const char *at = named->names; *at && count < MOST; count++) {
        size_t length = strcspn(at, "|");
        tables[count] = table_named(t, at, length);
        if (!tables[count]) {
            bad(t, "no table is called so", at);
            break;
        }
        at += length + (at[length] == '|');
        if (*at && count + 1 == MOST) bad(t, "a software has more tables than are looked at", at);
    }
    if (count == 0) bad(t, "a software without tables", software->title);
    software->tables = tables;
}

static const ImportOption *needed_table(Tables *t, const char *name) {
    const ImportOption *table = table_named(t, name, strlen(name));
    if (!table) bad(t, "a table is missing", name);
    return table;
}

const ImportTables *import_tables_of(Arena *arena, const ImportFile *files, int count, Problems *problems) {
    Tables t = {.arena = arena, .problems = problems};
    ImportTables *all = ARENA_NEW(arena, ImportTables);
    for (int i = 0; i < count; i++) read_text(&t, &files[i]);
    for (int i = 0; i < t.tables.count; i++) LIST_PUSH(arena, &t.tables.items[i].rows, (ImportOption){0});
    for (int i = 0; i < t.software.count; i++) find_tables(&t, &t.software.items[i], &t.named.items[i]);
    all->software = t.software.items;
    all->software_count = t.software.count;
    all->environment = needed_table(&t, "environment");
    all->machines = needed_table(&t, "machines");
    return all;
}

// In the order in which they are read: named values stand above the rows that name them.
// clang-format off
#define FILES(ROW) \
    ROW(any) ROW(software) ROW(megatron) ROW(nemo) ROW(deepspeed) ROW(huggingface) ROW(tuning) ROW(lightning) \
    ROW(torchtitan) ROW(mosaic) ROW(olmo) ROW(maxtext) ROW(nano) ROW(others) ROW(vision) ROW(own)
// clang-format on
#define EMBED_FILE(name_) EMBED(software_##name_, "scenarios/import/software/" #name_ ".options");
FILES(EMBED_FILE)
#define FILE_ROW(name_) {#name_ ".options", software_##name_},
static const ImportFile files[] = {FILES(FILE_ROW)};

const ImportTables *import_tables(void) {
    static const ImportTables *tables; // of the program, not of an import: for as long as it runs
    if (!tables) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        tables = import_tables_of(arena, files, sizeof files / sizeof *files, problems);
        problems_print(problems, stderr);
        CHECK(problem_count(problems) == 0);
    }
    return tables;
}

const ImportSoftware *import_software_called(const char *title) {
    const ImportTables *all = import_tables();
    for (int s = 0; s < all->software_count; s++)
        if (strcmp(all->software[s].title, title) == 0) return &all->software[s];
    return NULL;
}

const ImportOption *import_option(const ImportSoftware *software, const char *name) {
    const ImportOption *best = NULL;
    size_t most = 0;
    for (int t = 0; software->tables[t]; t++)
        for (const ImportOption *row = software->tables[t]; row->spelling; row++) {
            size_t length = spelling_length(row->spelling, name);
            if (length > most) most = length, best = row;
        }
    return best;
}

bool import_takes(const ImportSoftware *software, const char *to) {
    for (int t = 0; software->tables[t]; t++)
        for (const ImportOption *row = software->tables[t]; row->spelling; row++)
            if (row->effect == TAKEN && strcmp(row->to, to) == 0) return true;
    return false;
}

const char *import_colon(const char *value, size_t length) {
    const char *colon = value + length;
    while (colon > value && *colon != ':') colon--;
    return colon;
}

// ---- The other way.

static const char *first_spelling(Arena *arena, const char *spelling) {
    return arena_printf(arena, "%.*s", (int)strcspn(spelling, "|"), spelling);
}

// What `how` makes the value of; NULL: nothing.
static const char *said_for(Arena *arena, const char *how, const char *value) {
    if (!how || (strlen(how) > 4 && strcmp(how + strlen(how) - 4, ",*:*") == 0)) return value;
    for (const char *at = how; *at;) {
        size_t length = strcspn(at, ",");
        const char *colon = import_colon(at, length);
        if (strlen(value) == length - (size_t)(colon - at) - 1 && strncmp(colon + 1, value, strlen(value)) == 0) {
            const char *said = arena_printf(arena, "%.*s", (int)(colon - at), at);
            return strcmp(said, "yes") == 0 ? "true" : strcmp(said, "no") == 0 ? "false" : said;
        }
        at += length + (at[length] == ',');
    }
    return NULL;
}

const char *import_say_as(Arena *arena, const ImportSoftware *software, const char *name, const char *value) {
    const ImportOption *row = import_option(software, name);
    return row && row->effect == TAKEN ? said_for(arena, row->how, value) : NULL;
}

ImportSpelling import_spell(Arena *arena, const ImportOption *table, const char *to, const char *value,
                            const char *avoid) {
    for (const ImportOption *row = table; row->spelling; row++) {
        if (row->effect != TAKEN || strcmp(row->to, to) != 0) continue;
        const char *name = first_spelling(arena, row->spelling), *said = said_for(arena, row->how, value);
        if (said && !strstr(avoid, name)) return (ImportSpelling){name, said};
    }
    return (ImportSpelling){NULL, NULL};
}
