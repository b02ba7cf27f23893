// lockstep merge OUT.db IN.db…: one store from those of a sweep's shards.
#include "results/command_merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/store.h"
#include "sim/envelope.h"
#include "sim/options.h"
#include "sim/temporaries.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, BAD_INPUT = 4 };

static const OptionSpec merge_options[] = {
    {"quiet", OPTION_FLAG, .letter = 'q', .help = "nothing on the screen"},
    {"json", OPTION_FLAG, .help = "how many points met, as JSON"},
};
enum { MERGE_OPTIONS = sizeof merge_options / sizeof *merge_options };

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return status;
}

static bool merge_all(Store *store, const Options *options, StoreMerge *merge) {
    for (int i = 1; i < option_positional_count(options); i++)
        if (!store_merge(store, option_positional(options, i), merge)) return false;
    return true;
}

static void print_json(const char *path, const StoreMerge *old, const StoreMerge *merge) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "merge");
    json_text_member(&json, "store", path);
    json_integer_member(&json, "points", old->added + merge->added);
    json_integer_member(&json, "new", merge->added);
    json_integer_member(&json, "met_again", merge->equal);
    json_integer_member(&json, "replaced", merge->replaced);
    json_end_object(&json);
    printf("\n");
}

// Into a file of another name, which takes its place when all is in: OUT is never half merged.
static int run_merge(Arena *arena, const Options *options, Problems *problems) {
    static const char *const beside[] = {"", "-journal", "-spool", "-lock"};
    const char *path = option_positional(options, 0), *temporary = arena_printf(arena, "%s.merging", path);
    StoreMerge merge = {0}, old = {0};
    StoreRefusal refusal = STORE_REFUSED_BY_SYSTEM;
    unlink(temporary);
    Store *store = store_open(arena, temporary, STORE_WRITE, problems, &refusal);
    if (!store) return fail(problems, FAILED);
    for (int b = 0; b < (int)(sizeof beside / sizeof *beside); b++)
        temporary_add(arena_printf(arena, "%s%s", temporary, beside[b]));
    bool kept = access(path, F_OK) != 0 || store_merge(store, path, &old);
    bool merged = kept && merge_all(store, options, &merge);
    if (!merged) refusal = kept ? merge.refusal : old.refusal;
    store_close(store);
    if (merged && rename(temporary, path) != 0) {
        problem_add(problems, (Where){path, 0}, "%s", strerror(errno));
        merged = false;
    }
    if (!merged) unlink(temporary);
    for (int b = 0; b < (int)(sizeof beside / sizeof *beside); b++)
        temporary_drop(arena_printf(arena, "%s%s", temporary, beside[b]));
    if (!merged) return fail(problems, refusal == STORE_NOT_SOUND ? BAD_INPUT : FAILED);
    if (option_flag(options, "json")) print_json(path, &old, &merge);
    if (option_flag(options, "json") || option_flag(options, "quiet")) return DONE;
    printf("%s: %lld points, %lld of them new", path, old.added + merge.added, merge.added);
    if (merge.equal) printf(", %lld met more than once with equal results", merge.equal);
    if (merge.replaced) printf(", %lld failed in one file but not in another", merge.replaced);
    printf("\n");
    return DONE;
}

int command_merge(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Options *options = options_parse(arena, merge_options, MERGE_OPTIONS, argc, argv, problems);
    int status = DONE;
    if (option_positional_count(options) < 2 && !option_help(options)) {
        problem_add(problems, (Where){0}, "which stores?");
        problem_hint(problems, "lockstep merge OUT.db IN.db…");
    }
    if (option_help(options))
        options_print_help(merge_options, MERGE_OPTIONS, "lockstep merge OUT.db IN.db… [options]",
                           "Joins the stores of a sweep's shards. OUT keeps what it has. A point met twice must have "
                           "equal results;\notherwise nothing is written (exit code 4).",
                           stdout);
    else
        status = problem_count(problems) ? fail(problems, BAD_USAGE) : run_merge(arena, options, problems);
    arena_close(arena);
    return status;
}
