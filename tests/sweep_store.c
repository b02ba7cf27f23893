// What tests of sweeps share.
#include "tests/sweep_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include "results/store/store_base.h"
#include "tests/test.h"

char output[1 << 16];

// A folder of this test's own, "{DIR}" in its command lines.
const char *folder(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/lockstep-sweep-%d", (int)getpid());
    mkdir(path, 0777);
    return path;
}

void clear(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder());
    test_shell(line, output, sizeof output);
    folder();
}

static const char *expanded(const char *line) {
    static char text[4096];
    size_t length = 0;
    for (; *line && length + 80 < sizeof text; line++)
        if (strncmp(line, "{DIR}", 5) == 0) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", folder());
            line += 4;
        } else {
            text[length++] = *line;
        }
    text[length] = '\0';
    return text;
}

int shell(const char *line) { return test_shell(expanded(line), output, sizeof output); }

const char *in_folder(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder(), name);
    return path;
}

void put_text(const char *name, const char *text) {
    FILE *file = fopen(in_folder(name), "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

// All that a store holds, as text: equal stores give equal texts. The caller frees it.
static char *dump(const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    static const char *const queries[] = {"PRAGMA integrity_check", "SELECT sql FROM sqlite_schema ORDER BY name",
                                          "SELECT * FROM study", "SELECT * FROM point"};
    sqlite3 *base = NULL;
    if (sqlite3_open_v2(path, &base, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) fprintf(out, "cannot be opened");
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        sqlite3_stmt *select = NULL;
        sqlite3_prepare_v2(base, queries[q], -1, &select, NULL);
        while (select && sqlite3_step(select) == SQLITE_ROW) {
            for (int c = 0; c < sqlite3_column_count(select); c++) {
                const char *cell = (const char *)sqlite3_column_text(select, c);
                fprintf(out, "|%s", cell ? cell : "NULL");
            }
            fputc('\n', out);
        }
        sqlite3_finalize(select);
    }
    sqlite3_close(base);
    fclose(out);
    return text;
}

bool same_store(const char *actual, const char *expected) {
    char *a = dump(actual), *b = dump(expected);
    bool same = strncmp(a, "|ok\n", 4) == 0 && strcmp(a, b) == 0;
    free(a);
    free(b);
    return same;
}

void expect_same_store(const char *actual, const char *expected) {
    char *a = dump(actual), *b = dump(expected);
    EXPECT(strncmp(a, "|ok\n", 4) == 0);
    if (strcmp(a, b) != 0) test_fail(__FILE__, __LINE__, "%s differs from %s:\n%.800s\n%.800s", actual, expected, a, b);
    free(a);
    free(b);
}

int64_t ask(const char *path, const char *sql) {
    sqlite3 *base = NULL;
    sqlite3_stmt *select = NULL;
    int64_t answer = -1;
    sqlite3_open_v2(path, &base, SQLITE_OPEN_READWRITE, NULL);
    if (sqlite3_prepare_v2(base, sql, -1, &select, NULL) == SQLITE_OK) {
        int step = sqlite3_step(select);
        if (step == SQLITE_ROW) answer = sqlite3_column_int64(select, 0);
    }
    sqlite3_finalize(select);
    sqlite3_close(base);
    return answer;
}

void forge(const char *path, const char *sql) {
    Arena *arena = arena_open();
    Seal seal = {.studies = 1};
    sqlite3 *base = NULL;
    sqlite3_stmt *select = NULL, *update = NULL;
    sqlite3_open_v2(path, &base, SQLITE_OPEN_READWRITE, NULL);
    EXPECT_INT(sqlite3_exec(base, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_prepare_v2(base, "SELECT id, engine, title, scenario, sample_name, parameters FROM study", -1, &select,
                       NULL);
    if (sqlite3_step(select) == SQLITE_ROW) {
        const char *texts[6];
        for (int t = 0; t < 6; t++) texts[t] = store_text_at(arena, select, t);
        StoreStudy study = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]};
        seal.checksums = store_study_checksum(&study);
    }
    sqlite3_finalize(select);
    sqlite3_exec(base, arena_printf(arena, "UPDATE study SET checksum = %lld", (long long)seal.checksums), NULL, NULL,
                 NULL);
    sqlite3_prepare_v2(base, "SELECT * FROM point", -1, &select, NULL);
    sqlite3_prepare_v2(base, "UPDATE point SET checksum = ? WHERE key = ?", -1, &update, NULL);
    while (sqlite3_step(select) == SQLITE_ROW) {
        StoreRow row = store_row_at(arena, select);
        uint64_t checksum = store_row_checksum(&row);
        seal.points++;
        seal.checksums ^= checksum;
        EXPECT_INT(sqlite3_bind_int64(update, 1, (int64_t)checksum), SQLITE_OK);
        EXPECT_INT(sqlite3_bind_text(update, 2, row.texts[ROW_KEY], -1, SQLITE_STATIC), SQLITE_OK);
        EXPECT_INT(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
    }
    sqlite3_finalize(select);
    sqlite3_finalize(update);
    sqlite3_exec(base,
                 arena_printf(arena, "UPDATE seal SET points = %lld, checksums = %lld", (long long)seal.points,
                              (long long)seal.checksums),
                 NULL, NULL, NULL);
    sqlite3_close(base);
    arena_close(arena);
}
