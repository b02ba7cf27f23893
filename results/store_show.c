// Showing a store: its studies as records, by the means that every record has.
#include "results/store_show.h"

#include "results/record_answer.h"
#include "sim/text.h"

enum { FAILED = 1, BAD_INPUT = 4 };

#define POINTS_SHOWN 40

static int count_ran(const Record *record) {
    int count = 0;
    for (int i = 0; i < record->point_count; i++) count += record->points[i].ran;
    return count;
}

static void print_record(Arena *arena, const Record *record, const Style *style, bool verbose, FILE *out) {
    Record shown = *record;
    bool all = verbose || style->plain || record->point_count <= POINTS_SHOWN;
    if (!all) shown.point_count = POINTS_SHOWN;
    record_write(out, &shown, RECORD_SCREEN, style, false);
    fprintf(out, "%s points, %s ran", text_count(arena, record->point_count, !style->plain),
            text_count(arena, count_ran(record), !style->plain));
    fprintf(out, all ? "\n" : "; %d are shown, -v shows all\n", POINTS_SHOWN);
}

static void print_records(Arena *arena, const Record *const *records, int count, StoreForm form, const Style *style,
                          bool verbose, FILE *out) {
    bool many = form == STORE_JSON && count != 1;
    if (many) fprintf(out, "[\n");
    for (int i = 0; i < count; i++) {
        if (i > 0) fprintf(out, many ? ",\n" : "\n");
        if (form == STORE_CSV) record_write(out, records[i], RECORD_CSV, style, true);
        if (form == STORE_JSON) record_write(out, records[i], RECORD_JSON, style, true);
        if (form == STORE_SCREEN) print_record(arena, records[i], style, verbose, out);
    }
    if (many) fprintf(out, "]\n");
}

int store_show(Arena *arena, const char *path, StoreForm form, const Style *style, bool verbose, FILE *out,
               Problems *problems) {
    StoreRefusal refusal;
    StoreCounts counts = {0};
    Store *store = store_open(arena, path, STORE_READ, problems, &refusal);
    if (!store) return refusal == STORE_NOT_SOUND ? BAD_INPUT : FAILED;
    int count = 0, before = problems_added(problems);
    const Record *const *records = store_records(store, &count);
    bool read = store_counts(store, &counts) && problems_added(problems) == before;
    store_close(store);
    if (!read) return BAD_INPUT;
    print_records(arena, records, count, form, style, verbose, out);
    return store_exit_code(&counts);
}
