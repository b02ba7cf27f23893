// Options: what is read from a command line, and what is said about the rest.
#include "sim/base/options.h"
#include "tests/test.h"

static const char *const colours[] = {"red", "green"};
static const OptionSpec specs[] = {
    {"model", OPTION_TEXT, "NAME", .help = "which model", .letter = 'm'},
    {"micro-batch", OPTION_COUNT, "N", .help = "samples per forward", .alias = "micro-batch-size"},
    {"link", OPTION_QUANTITY, "SPEED", .help = "of the network", .quantity = QUANTITY_BANDWIDTH},
    {"colour", OPTION_CHOICE, NULL, .help = "of the plot", .choices = colours, .choice_count = 2},
    {"set", OPTION_TEXTS, "PATH=VALUE", .help = "another value"},
    {"json", OPTION_FLAG, NULL, .help = "print JSON"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

typedef struct Line {
    Arena *arena;
    Problems *problems;
    Options *options;
} Line;

// Words of one line, without quoting.
static Line read_line(const char *text) {
    Line line = {.arena = arena_open()};
    line.problems = problems_create(line.arena);
    char *copy = arena_copy_text(line.arena, text), *state = NULL;
    char **argv = ARENA_ARRAY(line.arena, char *, 32);
    int argc = 0;
    for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) argv[argc++] = word;
    line.options = options_parse(line.arena, specs, SPEC_COUNT, argc, argv, line.problems);
    return line;
}

static void expect_problem(const char *text, const char *problem, const char *hint) {
    Line line = read_line(text);
    EXPECT_INT(problem_count(line.problems), 1);
    if (problem_count(line.problems)) {
        EXPECT_TEXT(problem_at(line.problems, 0)->text, problem);
        EXPECT_CONTAINS(problem_at(line.problems, 0)->hint, hint);
    }
    arena_close(line.arena);
}

TEST(options_are_read_with_a_space_or_an_equals_sign) {
    Line line = read_line("cmd --model gpt2 --micro-batch=4 --link 25GB/s --colour=green --json");
    EXPECT_INT(problem_count(line.problems), 0);
    EXPECT_TEXT(option_text(line.options, "model", ""), "gpt2");
    EXPECT_INT(option_count(line.options, "micro-batch", 1), 4);
    EXPECT_NEAR(option_quantity(line.options, "link", 0), 25e9, 1e-12);
    EXPECT_INT(option_choice(line.options, "colour", 0), 1);
    EXPECT(option_flag(line.options, "json"));
    EXPECT(!option_help(line.options));
    arena_close(line.arena);
}

TEST(options_left_out_take_their_fallback) {
    Line line = read_line("cmd");
    EXPECT_INT(problem_count(line.problems), 0);
    EXPECT_TEXT(option_text(line.options, "model", "none"), "none");
    EXPECT_INT(option_count(line.options, "micro-batch", 7), 7);
    EXPECT_NEAR(option_quantity(line.options, "link", 3), 3, 0);
    EXPECT_INT(option_choice(line.options, "colour", -1), -1);
    EXPECT(!option_flag(line.options, "json"));
    EXPECT(!option_given(line.options, "model"));
    arena_close(line.arena);
}

TEST(an_alias_and_a_letter_name_the_same_option) {
    Line line = read_line("cmd --micro-batch-size 8 -m bert");
    EXPECT_INT(problem_count(line.problems), 0);
    EXPECT_INT(option_count(line.options, "micro-batch", 1), 8);
    EXPECT_TEXT(option_text(line.options, "model", ""), "bert");
    arena_close(line.arena);
    line = read_line("cmd -mbert");
    EXPECT_TEXT(option_text(line.options, "model", ""), "bert");
    arena_close(line.arena);
}

TEST(texts_are_kept_in_order) {
    Line line = read_line("cmd --set a=1 --set=b=2");
    int count = 0;
    const char *const *texts = option_texts(line.options, "set", &count);
    EXPECT_INT(count, 2);
    EXPECT_TEXT(texts[0], "a=1");
    EXPECT_TEXT(texts[1], "b=2");
    arena_close(line.arena);
}

TEST(what_is_no_option_is_positional_and_two_dashes_end_the_options) {
    Line line = read_line("cmd file.lua --json - -- --model");
    EXPECT_INT(problem_count(line.problems), 0);
    EXPECT_INT(option_positional_count(line.options), 3);
    EXPECT_TEXT(option_positional(line.options, 0), "file.lua");
    EXPECT_TEXT(option_positional(line.options, 1), "-");
    EXPECT_TEXT(option_positional(line.options, 2), "--model");
    options_refuse_positional(line.options, 1, line.problems);
    EXPECT_INT(problem_count(line.problems), 2);
    arena_close(line.arena);
}

TEST(options_that_are_wrong_are_sentences_with_a_remedy) {
    expect_problem("cmd --modle gpt2", "no option is called \"--modle\"", "did you mean \"--model\"?");
    expect_problem("cmd --frobnicate", "no option is called \"--frobnicate\"", "--help");
    expect_problem("cmd --mcro-batch=3", "no option is called \"--mcro-batch\"", "did you mean \"--micro-batch\"?");
    expect_problem("cmd -z", "no option is called \"-z\"", "--help");
    expect_problem("cmd --model", "--model needs a value", "--model NAME");
    expect_problem("cmd --model --json", "--model needs a value", "--model NAME");
    expect_problem("cmd --json=yes", "--json takes no value", "--json alone");
    expect_problem("cmd --colour gren", "--colour cannot be \"gren\"", "did you mean \"green\"?");
    expect_problem("cmd --model a --model b", "--model is given twice", "keep one");
}

TEST(a_value_that_cannot_be_read_names_its_option) {
    Line line = read_line("cmd --micro-batch four --link 25GB");
    EXPECT_INT(problem_count(line.problems), 2);
    EXPECT_CONTAINS(problem_at(line.problems, 0)->text, "--micro-batch: \"four\" is not");
    EXPECT_CONTAINS(problem_at(line.problems, 1)->text, "--link: \"25GB\" is not");
    EXPECT(problem_at(line.problems, 1)->hint != NULL);
    EXPECT_INT(option_count(line.options, "micro-batch", 5), 5);
    arena_close(line.arena);
}

TEST(help_lists_every_option_once_and_is_asked_for_in_two_ways) {
    char text[4096] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    options_print_help(specs, SPEC_COUNT, "cmd [options]", "Does things.", out);
    fclose(out);
    EXPECT_CONTAINS(text, "usage: cmd [options]\n\nDoes things.\n");
    EXPECT_CONTAINS(text, "\n  -m, --model NAME          which model\n");
    EXPECT_CONTAINS(text, "(also --micro-batch-size)");
    EXPECT_CONTAINS(text, "--colour red|green");
    Line line = read_line("cmd -h");
    EXPECT(option_help(line.options));
    arena_close(line.arena);
    line = read_line("cmd --help");
    EXPECT(option_help(line.options));
    arena_close(line.arena);
}
