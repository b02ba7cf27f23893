// Showing a store: its studies as records, by the means that every record has.
#include "results/store/store_show.h"

#include "results/answer/record_answer.h"

enum { FAILED = 1, BAD_INPUT = 4 };

static void print_records(const Record *const *records, int count, AnswerForm form, const Style *style, bool verbose,
                          FILE *out) {
    bool many = form == ANSWER_JSON && count != 1;
    if (many) fprintf(out, "[\n");
    for (int i = 0; i < count; i++) {
        if (i > 0) fprintf(out, many ? ",\n" : "\n");
        record_write(out, records[i], form, style, verbose);
    }
    if (many) fprintf(out, "]\n");
}

int store_show(Arena *arena, const char *path, AnswerForm form, const Style *style, bool verbose, FILE *out,
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
    print_records(records, count, form, style, verbose, out);
    return store_exit_code(&counts);
}
