// Merges several stores into one.
#include "results/store/store_base.h"
#include "results/store/store_row.h"

static const char *row_values(Arena *arena, const char *table) {
    const char *values = arena_printf(arena, "(%s.seed", table);
    for (int t = 0; t < ROW_TEXTS; t++) values = arena_printf(arena, "%s, %s.%s", values, table, store_text_columns[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) values = arena_printf(arena, "%s, %s.%s", values, table, point_columns[c]);
    return arena_printf(arena, "%s)", values);
}

#define BOTH "main.point AS ours JOIN source.point AS theirs USING(key) WHERE "

static void report_conflicts(Store *store, const char *from, const char *differ) {
    sqlite3_stmt *select = store_prepare(store, arena_printf(store->arena,
                                                             "SELECT ours.parameters, ours.status, theirs.status, "
                                                             "ours.digest, theirs.digest FROM " BOTH "%s ORDER BY key",
                                                             differ));
    int step = SQLITE_DONE;
    while (select && (step = sqlite3_step(select)) == SQLITE_ROW) {
        problem_add(store->problems, (Where){from, 0}, "the point %s is %s with digest %s here, %s with %s before",
                    sqlite3_column_text(select, 0), sqlite3_column_text(select, 2), sqlite3_column_text(select, 4),
                    sqlite3_column_text(select, 1), sqlite3_column_text(select, 3));
        problem_hint(store->problems, "equal engines give equal results: one of the files was changed or is damaged");
    }
    if (select && step != SQLITE_DONE) store_fail(store, "cannot be read");
    sqlite3_finalize(select);
}

static bool take_points(Store *store, const char *from, StoreMerge *merge) {
    Arena *arena = store->arena;
    // A failed process is overridden by one with a result.
    const char *differ = arena_printf(arena, "ours.status <> 'failed' AND theirs.status <> 'failed' AND %s IS NOT %s",
                                      row_values(arena, "ours"), row_values(arena, "theirs"));
    int64_t conflicts = store_pragma(store, arena_printf(arena, "SELECT count(*) FROM " BOTH "%s", differ));
    if (conflicts != 0) {
        if (conflicts > 0) report_conflicts(store, from, differ); // fewer than none: it could not be read
        return false;
    }
    int64_t common = store_pragma(store, "SELECT count(*) FROM " BOTH "true");
    if (common < 0) return false;
    bool ok = store_begin(store) && store_execute(store,
                                                  "DELETE FROM main.point WHERE status = 'failed' AND "
                                                  "key IN (SELECT key FROM source.point WHERE status <> 'failed')",
                                                  "cannot be written");
    int64_t replaced = sqlite3_changes64(store->base);
    ok = ok && store_execute(store, "INSERT OR IGNORE INTO main.study SELECT * FROM source.study", "cannot be written");
    ok = ok && store_execute(store, "INSERT OR IGNORE INTO main.point SELECT * FROM source.point", "cannot be written");
    merge->added += sqlite3_changes64(store->base) - replaced;
    merge->replaced += replaced;
    merge->equal += common - replaced;
    return ok && store_seal_anew(store) && store_commit(store);
}

bool store_merge(Store *store, const char *from, StoreMerge *merge) {
    // Is it one? What its writer left uncommitted is of it, too.
    StoreMode mode = spool_exists(store->arena, from) ? STORE_WRITE : STORE_READ;
    store->refusal = STORE_NOT_SOUND; // conflicts, for one
    Store *source = store_open(store->arena, from, mode, store->problems, &merge->refusal);
    if (!source) return false;
    store_close(source);
    sqlite3_stmt *attach = store_prepare(store, "ATTACH DATABASE ? AS source");
    bool ok = store_bind_text(store, attach, 1, from) && store_finish(store, attach);
    sqlite3_finalize(attach);
    ok = ok && take_points(store, from, merge) && store_execute(store, "DETACH DATABASE source", "cannot be read");
    if (!ok) merge->refusal = store->refusal;
    return ok;
}
