// A store that somebody damaged. The first byte says how: 0, the rest is the whole file; 1, the rest is SQL that was
// run on a sound store; 2, bytes were changed in one: three for a place and one for what stands there, again and again.
// Then it is shown, and merged into another or written to: refused with problems, or done; never a crash, never a point
// that cannot be read back.
//     make fuzz FUZZERS=fuzz_store
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/record_answer.h"
#include "results/store/store.h"
#include "sim/base/check.h"
#include "sim/system/file.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_SQL_STEPS 20000

typedef struct Whole { // a sound store, as a file
    char *bytes;
    size_t count;
} Whole;

static StoreRow row_of(Arena *arena, int number) {
    const NamedValue seconds[] = {{"gemm", NULL, 0.25}, {"idle", NULL, 0.5}};
    RecordPoint point = {.ran = number != 2,
                         .why_not = number == 2 ? "needs 93.1 GiB of 80.0 GiB" : NULL,
                         .gpu_count = 8 << number,
                         .node_count = 1 << number,
                         .step_p5_s = 0.7,
                         .step_p50_s = 0.75,
                         .step_p95_s = 0.8,
                         .mfu = 0.4,
                         .currency = "USD",
                         .exposed = seconds,
                         .exposed_count = 2,
                         .digest = 17};
    StoreRow row = store_row(arena, &point, NULL, 0);
    row.texts[ROW_KEY] = arena_printf(arena, "%032d", number);
    row.texts[ROW_STUDY] = "study";
    row.texts[ROW_PARAMETERS] = arena_printf(arena, "{\"gpus\": %d}", 8 << number);
    row.seed = 1;
    return row;
}

static const StoreStudy study = {"study", "0123456789ab", "A study", "study.lua", "samples", "[\"gpus\"]"};

static bool put_rows(Store *store, Arena *arena, int first, int count) {
    bool ok = store_put_study(store, &study);
    for (int i = first; i < first + count && ok; i++) {
        StoreRow row = row_of(arena, i);
        if (!store_has(store, row.texts[ROW_KEY])) ok = store_put(store, &row);
    }
    return ok && store_commit(store);
}

static const Whole *sound_store(void) {
    static Whole whole;
    if (whole.bytes) return &whole;
    Arena *arena = arena_open();
    StoreRefusal refusal;
    Problems *problems = problems_create(arena);
    const char *path = arena_printf(arena, "%s/sound.db", fuzz_folder());
    Store *store = store_open(arena, path, STORE_WRITE, problems, &refusal);
    CHECK(store && put_rows(store, arena, 0, 5));
    store_close(store);
    const char *file = file_read(arena, path, 1 << 20, &whole.count, problems);
    whole.bytes = malloc(whole.count);
    CHECK(file && whole.bytes);
    memcpy(whole.bytes, file, whole.count);
    arena_close(arena);
    return &whole;
}

static int stop_sql(void *unused) {
    (void)unused;
    return 1;
}

// What can reach other files stays closed.
static int allow(void *unused, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)unused, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static void damage_by_sql(const char *path, const uint8_t *data, size_t bytes) {
    sqlite3 *base;
    char *sql = malloc(bytes + 1);
    CHECK(sql && sqlite3_open(path, &base) == SQLITE_OK);
    memcpy(sql, data, bytes);
    sql[bytes] = '\0';
    sqlite3_limit(base, SQLITE_LIMIT_LENGTH, 100000);
    sqlite3_progress_handler(base, MOST_SQL_STEPS, stop_sql, NULL);
    sqlite3_set_authorizer(base, allow, NULL);
    sqlite3_exec(base, sql, NULL, NULL, NULL);
    sqlite3_close(base);
    free(sql);
}

static const char *damaged_store(const uint8_t *data, size_t bytes) {
    const Whole *sound = sound_store();
    int how = data[0] % 3;
    fuzz_folder_empty();
    if (how == 0) return fuzz_file("store.db", data + 1, bytes - 1);
    if (how == 1) {
        const char *path = fuzz_file("store.db", sound->bytes, sound->count);
        damage_by_sql(path, data + 1, bytes - 1);
        return path;
    }
    char *changed = malloc(sound->count);
    CHECK(changed);
    memcpy(changed, sound->bytes, sound->count);
    for (size_t i = 1; i + 4 <= bytes; i += 4)
        changed[((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % sound->count] = (char)data[i + 3];
    const char *path = fuzz_file("store.db", changed, sound->count);
    free(changed);
    return path;
}

static void show(const char *path, AnswerForm form) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Style style = {.plain = form == ANSWER_SCREEN};
    StoreRefusal refusal;
    StoreCounts counts = {0};
    TextStream text = text_stream_open();
    int count = 0;
    Store *store = store_open(arena, path, STORE_READ, problems, &refusal);
    const Record *const *records = store ? store_records(store, &count) : NULL;
    CHECK(records || problem_count(problems));
    if (records && store_counts(store, &counts)) CHECK(store_exit_code(&counts) <= 4);
    for (int i = 0; records && i < count; i++) record_write(text.stream, records[i], form, &style, true);
    text_stream_close(arena, &text);
    if (store) store_close(store);
    arena_close(arena);
}

// Rows that were put in and committed are there afterwards.
static void write_more(const char *path) {
    Arena *arena = arena_open();
    StoreRefusal refusal;
    Problems *problems = problems_create(arena);
    Store *store = store_open(arena, path, STORE_WRITE, problems, &refusal);
    CHECK(!store == (problem_count(problems) > 0));
    if (store) {
        bool put = put_rows(store, arena, 0, 8);
        CHECK(put == (problem_count(problems) == 0));
        for (int i = 0; i < 8 && put; i++) CHECK(store_has(store, arena_printf(arena, "%032d", i)));
        store_close(store);
    }
    arena_close(arena);
}

static void merge(const char *path) {
    Arena *arena = arena_open();
    StoreRefusal refusal;
    Problems *problems = problems_create(arena);
    StoreMerge merged = {0};
    Store *store =
        store_open(arena, arena_printf(arena, "%s/merged.db", fuzz_folder()), STORE_WRITE, problems, &refusal);
    CHECK(store && put_rows(store, arena, 3, 3));
    bool done = store_merge(store, path, &merged);
    CHECK(done == (problem_count(problems) == 0));
    store_close(store);
    arena_close(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes == 0) return 0;
    const char *path = damaged_store(data, bytes);
    show(path, (AnswerForm)(bytes % 4));
    if (bytes % 2) {
        merge(path);
    } else {
        write_more(path);
        show(path, ANSWER_CSV);
    }
    return 0;
}
