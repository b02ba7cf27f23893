// Names that models are published under, on a hub or in a library's configurations: what of them is in the library
// here.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "sim/system/file.h"

// As the library would write it: "llama3_1_8b" and "llama31_8b" are llama3.1-8b.
static const Model *spelt_like(Arena *arena, const char *name) {
    const Model *model = library_model(arena, name);
    for (const char *at = name; *at && !model; at++) {
        const char *next = at + (at[1] == '_' || at[1] == '-' ? 2 : 1);
        if (!isdigit((unsigned char)at[0]) || !isdigit((unsigned char)*next)) continue;
        model = library_model(arena, arena_printf(arena, "%.*s.%s", (int)(at + 1 - name), name, next));
    }
    return model;
}

double billions_said(const char *name) {
    for (const char *at = name; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '.'))) continue;
        char *end;
        double number = strtod(at, &end);
        if ((*end == 'b' || *end == 'B') && !isalnum((unsigned char)end[1])) return number;
        at = end - 1;
    }
    return 0;
}

// "gpt-neox-3.6b" is not the library's gpt-neox of 20 billions. Names of experts' models say those that a token meets.
static bool is_as_large(const Model *model, const char *said) {
    double billions = billions_said(said);
    return billions <= 0 || model->experts.count > 0 || fabs(log(model_parameters(model) / (1e9 * billions))) < log(2);
}

// "meta-llama/Meta-Llama-3-8B-Instruct": without its owner, and without what stands before or behind the name.
const Model *model_published(Arena *arena, const char *said) {
    static const char *const endings[] = {".nemo", ".gguf", ".safetensors", ".pt", ".pth", ".bin", ".git"};
    const char *slash = strrchr(said, '/');
    const char *begin = slash && slash[1] ? slash + 1 : said;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (file_ends_in(begin, endings[i]))
            begin = arena_printf(arena, "%.*s", (int)(strlen(begin) - strlen(endings[i])), begin);
    for (int front = 0; front < 3 && *begin; front++) {
        char *name = arena_printf(arena, "%.100s", begin);
        while (*name) {
            const Model *model = spelt_like(arena, name);
            if (model && (billions_said(name) > 0 || is_as_large(model, said))) return model;
            char *cut = strrchr(name, '-');
            char *underline = strrchr(name, '_');
            if (!cut || (underline && underline > cut)) cut = underline;
            if (!cut) break;
            *cut = '\0';
            if (!strpbrk(name, "0123456789-")) break;
        }
        begin += strcspn(begin, "-_");
        begin += *begin != '\0';
    }
    return NULL;
}
