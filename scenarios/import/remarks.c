// The GPU that comments name where nothing else does: "# DGX A100, 8 x A100-SXM4-80GB each", "# p4d.24xlarge".
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "scenarios/import/settle.h"
#include "sim/base/text.h"

enum { BYTES_READ = 64 << 10, LONGEST_WORD = 40 }; // of each file

typedef struct Remark {
    const char *gpu; // as it is written, with its memory; NULL: none was found
    size_t core;     // letters that name its type
    Where where;
    bool contradicted; // by another type
} Remark;

static size_t core_length(const char *name) { return strcspn(name, "-_"); }

static bool is_gpu(const Catalogue *catalogue, const char *word) {
    size_t core = core_length(word);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const char *name = catalogue->gpus[i].name;
        if (core_length(name) == core && strncasecmp(name, word, core) == 0 && strcspn(word, "0123456789") < core)
            return true;
    }
    return false;
}

// "8xA100s," is A100.
static const char *bare_word(Reading *r, const char *at, size_t length) {
    size_t digits = strspn(at, "0123456789");
    if (digits > 0 && digits + 1 < length && at[digits] == 'x') at += digits + 1, length -= digits + 1;
    while (length > 0 && strchr(".-_", at[length - 1])) length--;
    if (length > 1 && at[length - 1] == 's' && isdigit((unsigned char)at[length - 2])) length--;
    return arena_printf(r->arena, "%.*s", (int)(length < LONGEST_WORD ? length : LONGEST_WORD), at);
}

static bool is_memory(const char *word) {
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && (strcasecmp(word + digits, "GB") == 0 || strcasecmp(word + digits, "G") == 0);
}

static void take(Remark *remark, const char *gpu, Where where) {
    size_t core = core_length(gpu);
    if (!remark->gpu)
        *remark = (Remark){gpu, core, where, false};
    else if (core != remark->core || strncasecmp(gpu, remark->gpu, core) != 0)
        remark->contradicted = true;
}

// "RTX 3090" is one word, and so is "A100 80GB". Names of two letters are those of much else.
static void read_comment(Reading *r, const Catalogue *catalogue, const char *at, const char *end, Where where,
                         Remark *remark) {
    const char *gpu = NULL, *series = "";
    while (at < end) {
        size_t length = 0;
        while (at + length < end && (isalnum((unsigned char)at[length]) || strchr(".-_", at[length]))) length++;
        if (length == 0) {
            at++;
            continue;
        }
        const char *word = bare_word(r, at, length), *whole = arena_printf(r->arena, "%s%s", series, word);
        at += length;
        if (gpu && is_memory(word)) gpu = arena_printf(r->arena, "%s-%s", gpu, word);
        if (gpu) take(remark, gpu, where);
        gpu = NULL;
        if (strlen(whole) > 2 && is_gpu(catalogue, whole))
            gpu = whole;
        else if (node_of_instance(r, word))
            take(remark, word, where);
        series = strcasecmp(word, "RTX") == 0 || strcasecmp(word, "GTX") == 0 ? word : "";
    }
    if (gpu) take(remark, gpu, where);
}

static void read_comments(Reading *r, const Catalogue *catalogue, const char *file, const char *text, Remark *remark) {
    int line = 1;
    for (const char *at = text; *at && at - text < BYTES_READ; line++) {
        const char *end = at + strcspn(at, "\n");
        bool opens = at == text && strncmp(at, "\"\"\"", 3) == 0; // of a program in Python the first line
        for (const char *mark = at; mark < end; mark++)
            if (opens || (*mark == '#' && mark[1] != '!' && (mark == at || isblank((unsigned char)mark[-1])))) {
                read_comment(r, catalogue, mark + 1, end, (Where){file, line}, remark);
                break;
            }
        at = end + (*end == '\n');
    }
}

const char *remarked_gpu(Reading *r, Where *where) {
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    for (int i = 0; i < r->texts.count; i++) {
        Remark remark = {0};
        read_comments(r, catalogue, r->texts.items[i].file, r->texts.items[i].text, &remark);
        if (!remark.gpu) continue;
        *where = remark.where;
        return remark.contradicted ? NULL : remark.gpu;
    }
    return NULL;
}
