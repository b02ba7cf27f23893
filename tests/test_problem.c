// Problems: what the user sees, to the letter.
#include "models/workload/model/model.h"
#include "sim/base/problem.h"
#include "tests/test.h"

static const char *const gpus[] = {"A100", "B200", "H100", "H200"};

// What problems_print writes.
static const char *printed(Arena *arena, const Problems *problems) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    problems_print(problems, out);
    fclose(out);
    const char *copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

TEST(a_problem_prints_place_text_and_hint) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    problem_add(problems, (Where){"pretrain.lua", 4}, "no GPU is called \"%s\"", "H10O");
    problem_hint_names(problems, "H10O", gpus, 4);
    problem_add(problems, (Where){"pretrain.lua", 0}, "is empty");
    problem_add(problems, (Where){NULL, 0}, "no GPU is called \"%s\"", "Voodoo");
    problem_hint_names(problems, "Voodoo", gpus, 4);
    EXPECT_TEXT(printed(arena, problems), "pretrain.lua:4: error: no GPU is called \"H10O\"\n"
                                          "  hint: did you mean \"H100\"?\n"
                                          "pretrain.lua: error: is empty\n"
                                          "error: no GPU is called \"Voodoo\"\n"
                                          "  hint: known: A100, B200, H100, H200\n");
    EXPECT_INT(problem_count(problems), 3);
    EXPECT_TEXT(problem_at(problems, 0)->hint, "did you mean \"H100\"?");
    EXPECT(problem_at(problems, 1)->hint == NULL);
    arena_close(arena);
}

TEST(no_problems_print_nothing) {
    Arena *arena = arena_open();
    EXPECT_TEXT(printed(arena, problems_create(arena)), "");
    arena_close(arena);
}

TEST(the_same_text_at_the_same_place_is_kept_once) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char file[] = "a.lua";
    problem_add(problems, (Where){"a.lua", 1}, "twice");
    problem_add(problems, (Where){file, 1}, "twice");
    problem_hint(problems, "this hint belongs to a problem that was not kept");
    EXPECT_INT(problem_count(problems), 1);
    EXPECT(problem_at(problems, 0)->hint == NULL);
    problem_add(problems, (Where){"a.lua", 2}, "twice");
    problem_add(problems, (Where){"b.lua", 1}, "twice");
    problem_add(problems, (Where){NULL, 1}, "twice");
    problem_add(problems, (Where){"a.lua", 1}, "thrice");
    EXPECT_INT(problem_count(problems), 5);
    EXPECT_INT(problems_added(problems), 6);
    arena_close(arena);
}

// "Has anything gone wrong since?" must not be answered with no because it went wrong in the same way before.
TEST(the_same_mistake_is_refused_again) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const int widths[] = {0, 4};
    for (int i = 0; i < 3; i++) EXPECT(!model_mlp(arena, "mine", widths, 2, (Where){"a.lua", 1}, problems));
    EXPECT_INT(problem_count(problems), 1);
    for (int i = 0; i < 60; i++) problem_add(problems, (Where){"many.lua", i}, "too many to be kept");
    EXPECT_INT(problems_added(problems), 63);
    arena_close(arena);
}

TEST(fifty_problems_are_kept_and_the_rest_counted) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    for (int i = 0; i < 53; i++) {
        problem_add(problems, (Where){"a.lua", i + 1}, "wrong");
        if (i >= 49) problem_hint(problems, "hint %d", i);
    }
    EXPECT_INT(problem_count(problems), 50);
    EXPECT_TEXT(problem_at(problems, 49)->hint, "hint 49");
    EXPECT_CONTAINS(printed(arena, problems),
                    "a.lua:50: error: wrong\n  hint: hint 49\nerror: and 3 more like these\n");
    arena_close(arena);
}

TEST(two_hints_share_the_line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    problem_hint(problems, "a hint without a problem is dropped");
    problem_add(problems, (Where){NULL, 0}, "wrong");
    problem_hint(problems, "try this");
    problem_hint(problems, "or that");
    EXPECT_TEXT(printed(arena, problems), "error: wrong\n  hint: try this; or that\n");
    arena_close(arena);
}

TEST(user_text_cannot_break_the_line_or_command_the_terminal) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    problem_add(problems, (Where){"a\nb", 1}, "no GPU is called \"%s\"", "\x1b[2JH100\nerror: \xc3\xa9");
    EXPECT_TEXT(printed(arena, problems), "a?b:1: error: no GPU is called \"?[2JH100?error: \xc3\xa9\"\n");
    arena_close(arena);
}

TEST(no_names_give_no_hint) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    problem_add(problems, (Where){NULL, 0}, "wrong");
    problem_hint_names(problems, "x", NULL, 0);
    EXPECT(problem_at(problems, 0)->hint == NULL);
    arena_close(arena);
}

TEST(the_nearest_name_forgives_slips_of_the_finger) {
    static const char *const keys[] = {"micro_batch", "global_batch", "sequence_length", "tensor_parallel", "gpus"};
    EXPECT_TEXT(nearest_name("H10O", gpus, 4), "H100");  // a letter replaced
    EXPECT_TEXT(nearest_name("h-200", gpus, 4), "H200"); // case and hyphen
    EXPECT_TEXT(nearest_name("H1000", gpus, 4), "H100"); // one too many
    EXPECT_TEXT(nearest_name("B20", gpus, 4), "B200");   // one too few
    EXPECT_TEXT(nearest_name("1H00", gpus, 4), "H100");  // neighbours swapped: one edit, not two
    EXPECT_TEXT(nearest_name("microbatch", keys, 5), "micro_batch");
    EXPECT_TEXT(nearest_name("Sequence Lenght", keys, 5), "sequence_length");
    EXPECT_TEXT(nearest_name("tensor_paralel", keys, 5), "tensor_parallel");
    EXPECT_TEXT(nearest_name("gpu", keys, 5), "gpus");
}

static const char *hint_for(Arena *arena, const char *given, const char *const *names, int count) {
    Problems *problems = problems_create(arena);
    problem_add(problems, (Where){NULL, 0}, "wrong");
    problem_hint_near(problems, given, names, count);
    return problem_at(problems, 0)->hint;
}

TEST(a_name_that_begins_others_means_one_of_them) {
    static const char *const names[] = {"eth-10g", "eth-100g", "ethernet-1g", "ethernet-10g", "batch", "batch-size"};
    Arena *arena = arena_open();
    EXPECT_TEXT(hint_for(arena, "eth-100", names, 6), "did you mean \"eth-100g\"?"); // eth-10g is one edit off as well
    EXPECT_TEXT(hint_for(arena, "ethernet", names, 6), "did you mean \"ethernet-1g\" or \"ethernet-10g\"?");
    EXPECT_TEXT(hint_for(arena, "bat", names, 6), "did you mean \"batch\"?"); // which begins the other
    EXPECT_TEXT(nearest_name("eth-100", names, 6), "eth-100g");
    EXPECT(hint_for(arena, "Voodoo", names, 6) == NULL);
    arena_close(arena);
}

TEST(half_of_the_letters_are_no_slip_of_the_finger) {
    static const char *const names[] = {"etp", "gpus"};
    EXPECT(nearest_name("step", names, 2) == NULL);
    EXPECT(nearest_name("time", names, 2) == NULL);
}

TEST(nothing_is_nearest_when_nothing_is_near) {
    static const char *const short_names[] = {"a", "b", ""};
    char endless[200];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const char *const long_names[] = {endless};
    EXPECT(nearest_name("MI300X", gpus, 4) == NULL);
    EXPECT(nearest_name("", gpus, 4) == NULL);
    EXPECT(nearest_name(NULL, gpus, 4) == NULL);
    EXPECT(nearest_name("c", short_names, 3) == NULL);
    EXPECT(nearest_name(endless, gpus, 4) == NULL);
    EXPECT(nearest_name("xxxx", long_names, 1) == NULL);
    EXPECT(nearest_name("H100", gpus, 0) == NULL);
}

TEST(of_two_equally_near_names_the_first_is_taken) {
    static const char *const names[] = {"H200", "H100"};
    EXPECT_TEXT(nearest_name("H300", names, 2), "H200");
    EXPECT_TEXT(nearest_name("h100", names, 2), "H100");
}
