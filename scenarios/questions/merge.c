// lockstep merge OUT.db IN.db…: merges the stores of a sweep's shards.
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/frame.h"
#include "results/store/store.h"
#include "sim/system/file.h"

static void add_answer(Answer *answer, const char *path, const StoreMerge *old, const StoreMerge *merge) {
    answer_text(answer, "store", NULL, path);
    answer_number(answer, "points", NULL, AS_COUNT, (double)(old->added + merge->added));
    answer_number(answer, "new", NULL, AS_COUNT, (double)merge->added);
    answer_number(answer, "met_again", NULL, AS_COUNT, (double)merge->equal);
    answer_number(answer, "replaced", NULL, AS_COUNT, (double)merge->replaced);
    answer_say(answer, NULL, "%s: %lld points, %lld of them new.", path, old->added + merge->added, merge->added);
    if (merge->equal) answer_say(answer, NULL, "%lld met more than once with equal results.", merge->equal);
    if (merge->replaced) answer_say(answer, NULL, "%lld failed in one file but not in another.", merge->replaced);
}

static bool merge_all(Store *store, const Options *asked, StoreMerge *merge) {
    for (int i = 1; i < option_positional_count(asked); i++)
        if (!store_merge(store, option_positional(asked, i), merge)) return false;
    return true;
}

// Into a file of another name, which takes its place when all is in: OUT is never half merged.
static int ask(Asking *asking) {
    static const char *const endings[] = {"", "-journal", "-spool", "-lock"};
    if (option_positional_count(asking->options) < 2) {
        problem_add(asking->problems, (Where){0}, "which stores?");
        problem_hint(asking->problems, "lockstep merge OUT.db IN.db…");
        return EXIT_USAGE;
    }
    const char *path = option_positional(asking->options, 0),
               *temporary = arena_printf(asking->arena, "%s.merging", path);
    StoreMerge merge = {0}, old = {0};
    StoreRefusal refusal = STORE_REFUSED_BY_SYSTEM;
    unlink(temporary);
    Store *store = store_open(asking->arena, temporary, STORE_WRITE, asking->problems, &refusal);
    if (!store) return EXIT_FAILED;
    for (int b = 0; b < (int)(sizeof endings / sizeof *endings); b++)
        temporary_add(arena_printf(asking->arena, "%s%s", temporary, endings[b]));
    bool kept = access(path, F_OK) != 0 || store_merge(store, path, &old);
    bool merged = kept && merge_all(store, asking->options, &merge);
    if (!merged) refusal = kept ? merge.refusal : old.refusal;
    store_close(store);
    if (merged && rename(temporary, path) != 0) {
        problem_add(asking->problems, (Where){path, 0}, "%s", strerror(errno));
        merged = false;
    }
    if (!merged) unlink(temporary);
    for (int b = 0; b < (int)(sizeof endings / sizeof *endings); b++)
        temporary_drop(arena_printf(asking->arena, "%s%s", temporary, endings[b]));
    if (!merged) return refusal == STORE_NOT_SOUND ? EXIT_BAD_INPUT : EXIT_FAILED;
    add_answer(asking->answer, path, &old, &merge);
    return EXIT_DONE;
}

static const Question question_merge = {
    .name = "merge",
    .usage = "lockstep merge OUT.db IN.db… [options]",
    .about = "Joins the stores of a sweep's shards. OUT keeps what it has. A point met twice must have equal results;\n"
             "otherwise nothing is written (exit code 4).",
    .positional = INT_MAX,
    .ask = ask};

int command_merge(int argc, char **argv);
int command_merge(int argc, char **argv) { return frame_run(&question_merge, argc, argv); }
