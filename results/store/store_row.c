// Rows of the store: from a point, to a point, and as bytes between processes.
#include "results/store/store_base.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

static bool is_kept(const char *name, const char *const *keep, int keep_count) {
    for (int i = 0; i < keep_count; i++)
        if (strcmp(keep[i], name) == 0) return true;
    return keep_count == 0;
}

static const char *values_json(Arena *arena, const NamedValue *values, int count) {
    if (count == 0) return NULL;
    TextStream text = text_stream_open();
    JsonWriter json = json_writer(text.stream, 0);
    json_begin_object(&json);
    for (int i = 0; i < count; i++) {
        json_key(&json, values[i].name);
        json_write_number(&json, values[i].value);
    }
    json_end_object(&json);
    return text_stream_close(arena, &text);
}

StoreRow store_row(Arena *arena, const RecordPoint *point, const char *const *keep, int keep_count) {
    StoreRow row = {0};
    for (int c = 0; c < POINT_COLUMNS; c++)
        row.numbers[c] = is_kept(point_columns[c], keep, keep_count) ? point_number(point, c) : NAN;
    row.texts[ROW_STATUS] = point->ran ? "ok" : "impossible";
    row.texts[ROW_REASON] = point->ran ? NULL : point->why_not;
    row.texts[ROW_CHANGE] = point->ran ? NULL : point->smallest_change;
    row.texts[ROW_CURRENCY] = point->currency;
    row.texts[ROW_DIGEST] = arena_printf(arena, "%016llx", (unsigned long long)point->digest);
    if (keep_count > 0) return row;
    row.texts[ROW_EXPOSED] = values_json(arena, point->exposed, point->ran ? point->exposed_count : 0);
    row.texts[ROW_MEMORY] = values_json(arena, point->memory, point->memory_count);
    return row;
}

// ---- Bytes: the seed, the numbers, then each text with its terminator, after a byte that is 0 if there is none.

char *store_row_pack(Arena *arena, const StoreRow *row, size_t *bytes) {
    *bytes = sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) *bytes += 2 + (row->texts[t] ? strlen(row->texts[t]) : 0);
    char *packed = arena_alloc(arena, *bytes), *at = packed;
    memcpy(at, &row->seed, sizeof row->seed);
    memcpy(at + sizeof row->seed, row->numbers, sizeof row->numbers);
    at += sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) {
        const char *text = row->texts[t] ? row->texts[t] : "";
        *at++ = row->texts[t] ? 1 : 0;
        memcpy(at, text, strlen(text) + 1);
        at += strlen(text) + 1;
    }
    return packed;
}

bool store_row_unpack(Arena *arena, const char *packed, size_t bytes, StoreRow *row) {
    const char *at = packed, *end = packed + bytes;
    *row = (StoreRow){0};
    if (bytes < sizeof row->seed + sizeof row->numbers) return false;
    memcpy(&row->seed, at, sizeof row->seed);
    memcpy(row->numbers, at + sizeof row->seed, sizeof row->numbers);
    at += sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) {
        if (end - at < 2 || !memchr(at + 1, '\0', (size_t)(end - at - 1))) return false;
        if (*at) row->texts[t] = arena_copy_text(arena, at + 1);
        at += 2 + strlen(at + 1);
    }
    return at == end;
}

// ---- Validity: what a row must satisfy before it is read as a point.

static bool is_object(Arena *arena, const char *text) {
    const Json *json = json_read_text(arena, "", text, strlen(text), problems_create(arena));
    return json && json->kind == JSON_OBJECT;
}

bool store_row_is_sound(Arena *arena, const StoreRow *row) {
    static const char *const statuses[] = {"ok", "impossible", "failed"};
    const char *status = row->texts[ROW_STATUS];
    bool known = false;
    for (size_t s = 0; status && s < sizeof statuses / sizeof *statuses; s++)
        known = known || strcmp(status, statuses[s]) == 0;
    for (int c = 0; c < POINT_COLUMNS; c++) known = known && point_takes_number(c, row->numbers[c]);
    return known && row->texts[ROW_KEY] && row->texts[ROW_STUDY] && row->texts[ROW_PARAMETERS] &&
           is_object(arena, row->texts[ROW_PARAMETERS]) &&
           (!row->texts[ROW_EXPOSED] || is_object(arena, row->texts[ROW_EXPOSED])) &&
           (!row->texts[ROW_MEMORY] || is_object(arena, row->texts[ROW_MEMORY]));
}

// ---- Back to a point.

static const NamedValue *values_from(Arena *arena, const char *text, int *count, Problems *problems) {
    *count = 0;
    const Json *json = text ? json_read_text(arena, "the store", text, strlen(text), problems) : NULL;
    if (!json) return NULL;
    NamedValue *values = ARENA_ARRAY(arena, NamedValue, json->count);
    for (int i = 0; i < json->count; i++) {
        double value = json->items[i].kind == JSON_NUMBER ? json->items[i].number : NAN;
        values[i] = (NamedValue){json->items[i].key, json->items[i].key, value};
    }
    *count = json->count;
    return values;
}

static void set_parameters(Arena *arena, RecordPoint *point, const char *text, Problems *problems) {
    const Json *json = json_read_text(arena, "the store", text, strlen(text), problems);
    if (!json) return;
    RecordParameter *list = ARENA_ARRAY(arena, RecordParameter, json->count);
    for (int i = 0; i < json->count; i++) {
        const Json *item = &json->items[i];
        bool is_number = item->kind == JSON_NUMBER;
        const char *written = is_number ? quantity_exact(arena, item->number) : item->text ? item->text : "?";
        list[i] = (RecordParameter){item->key, written, is_number ? item->number : NAN};
    }
    point->parameters = list;
    point->parameter_count = json->count;
}

RecordPoint store_row_point(Arena *arena, const StoreRow *row, Problems *problems) {
    RecordPoint point = {.ran = strcmp(row->texts[ROW_STATUS], "ok") == 0,
                         .why_not = row->texts[ROW_REASON],
                         .smallest_change = row->texts[ROW_CHANGE],
                         .currency = row->texts[ROW_CURRENCY]};
    for (int c = 0; c < POINT_COLUMNS; c++) point_set_number(&point, c, row->numbers[c]);
    set_parameters(arena, &point, row->texts[ROW_PARAMETERS], problems);
    point.exposed = values_from(arena, row->texts[ROW_EXPOSED], &point.exposed_count, problems);
    point.memory = values_from(arena, row->texts[ROW_MEMORY], &point.memory_count, problems);
    if (row->texts[ROW_DIGEST]) point.digest = strtoull(row->texts[ROW_DIGEST], NULL, 16);
    return point;
}

// ---- The spool: a length, a digest, and a packed row each.

#define LARGEST_SPOOL ((size_t)1 << 30)

typedef struct Head {
    uint64_t bytes, digest;
} Head;

static const char *path_of(Arena *arena, const char *store) { return arena_printf(arena, "%s-spool", store); }

bool spool_exists(Arena *arena, const char *store) { return access(path_of(arena, store), F_OK) == 0; }

bool spool_open(Arena *arena, const char *store, Spool *spool) {
    spool->path = path_of(arena, store);
    spool->file = open(spool->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return spool->file >= 0;
}

bool spool_add(Spool *spool, const StoreRow *row) {
    Arena *scratch = arena_open();
    size_t bytes;
    const char *packed = store_row_pack(scratch, row, &bytes);
    Head head = {bytes, digest_bytes(DIGEST_START, packed, bytes)};
    char *whole = arena_alloc(scratch, sizeof head + bytes);
    memcpy(whole, &head, sizeof head);
    memcpy(whole + sizeof head, packed, bytes);
    ssize_t written = write(spool->file, whole, sizeof head + bytes);
    if (written >= 0 && written != (ssize_t)(sizeof head + bytes)) errno = ENOSPC;
    arena_close(scratch);
    return written == (ssize_t)(sizeof head + bytes);
}

const StoreRow *spool_rows(Arena *arena, const Spool *spool, int *count, Problems *problems) {
    struct {
        StoreRow *items;
        int count, room;
    } rows = {0};
    size_t size = 0;
    const char *at = file_read(arena, spool->path, LARGEST_SPOOL, &size, problems), *end = at + size;
    Head head;
    while (at && (size_t)(end - at) > sizeof head) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        if (head.bytes > (size_t)(end - at) || digest_bytes(DIGEST_START, at, head.bytes) != head.digest) break;
        StoreRow row;
        if (!store_row_unpack(arena, at, head.bytes, &row) || !store_row_is_sound(arena, &row)) break;
        LIST_PUSH(arena, &rows, row);
        at += head.bytes;
    }
    *count = rows.count;
    return rows.items;
}

bool spool_empty(Spool *spool) { return ftruncate(spool->file, 0) == 0; }

void spool_remove(Spool *spool) {
    if (spool->file < 0) return;
    unlink(spool->path);
    close(spool->file);
    spool->file = -1;
}
