// Line by line, so that what is shown is what moved.
#include "tests/golden.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define DIFFERENCES_SHOWN 5

GoldenText *golden_open(void) {
    GoldenText *text = calloc(1, sizeof *text);
    if (text) text->out = open_memstream(&text->bytes, &text->length);
    if (!text || !text->out) abort();
    return text;
}

static void text_close(GoldenText *text) {
    if (text->out) fclose(text->out);
    free(text->bytes);
    free(text);
}

char *golden_read(const char *path) {
    GoldenText *text = golden_open();
    FILE *file = fopen(path, "r");
    for (int c; file && (c = getc(file)) != EOF;) putc(c, text->out);
    if (file) fclose(file);
    fflush(text->out);
    char *all = strdup(text->bytes);
    text_close(text);
    return all;
}

static const char *next_line(const char *at, int *length) {
    *length = (int)strcspn(at, "\n");
    return at + *length + (at[*length] == '\n');
}

static void count_differences(const char *name, const char *now, const char *kept) {
    int different = 0, lines = 0;
    while (*now || *kept) {
        int now_length, kept_length;
        const char *now_line = now, *kept_line = kept;
        now = next_line(now, &now_length);
        kept = next_line(kept, &kept_length);
        lines++;
        if (now_length == kept_length && strncmp(now_line, kept_line, (size_t)now_length) == 0) continue;
        if (different++ < DIFFERENCES_SHOWN)
            printf("  kept %.*s\n  now  %.*s\n", kept_length, kept_line, now_length, now_line);
    }
    if (different)
        test_fail(__FILE__, __LINE__, "%s: %d of %d lines moved; if that is meant: make golden, and say why", name,
                  different, lines);
}

bool golden_goes_on(const char *name, const GoldenText *text) {
    if (!getenv("LOCKSTEP_UNTIL_FAILURE") || getenv("LOCKSTEP_GOLDEN")) return true;
    char path[128];
    snprintf(path, sizeof path, "%s%s", GOLDEN, name);
    fflush(text->out);
    char *kept = golden_read(path);
    bool same = strncmp(kept, text->bytes, text->length) == 0;
    free(kept);
    return same;
}

void golden_compare(const char *name, GoldenText *text) {
    char path[128];
    snprintf(path, sizeof path, "%s%s", GOLDEN, name);
    fflush(text->out);
    if (getenv("LOCKSTEP_GOLDEN")) {
        FILE *file = fopen(path, "w");
        EXPECT(file && fputs(text->bytes, file) >= 0 && fclose(file) == 0);
    } else {
        char *kept = golden_read(path);
        count_differences(name, text->bytes, kept);
        free(kept);
    }
    text_close(text);
}
