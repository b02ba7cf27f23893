// An answer is said once, and each form has all of it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "tests/test.h"

static const AnswerColumn columns[] = {
    {"name", "part", AS_TEXT, 0}, {"time.mean", "time", AS_SECONDS, 0}, {"time.p95", "at most", AS_SECONDS, 2},
    {"why", "why", AS_TEXT, 1},   {"seen", NULL, AS_BOOL, 0},
};

// A section in a section, a range, a list of words, a table with members of members and an empty cell.
static Answer *small_answer(Arena *arena) {
    Answer *answer = answer_create(arena, "small");
    answer_say(answer, NULL, "One sentence leads.");
    answer_number(answer, "gpus", "GPUs", AS_COUNT, 16384);
    answer_range(answer, "share", "Share", AS_SHARE, (AnswerRange){0.5, 0.25, NAN, 0.75});
    answer_note(answer, "of all");
    answer_open(answer, "memory_bytes", "Memory");
    answer_number(answer, "peak", "peak", AS_BYTES, 0x1p30);
    answer_open(answer, "by_class", NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_number(answer, "weights", "weights", AS_BYTES, 0x1p29);
    answer_close(answer);
    answer_close(answer);
    answer_open_list(answer, "notes", NULL);
    answer_text(answer, NULL, NULL, "a");
    answer_text(answer, NULL, NULL, "b");
    answer_close(answer);
    answer_table(answer, "parts", NULL, columns, 5);
    for (int i = 0; i < 2; i++) {
        answer_cell(answer, answer_of_text(i ? "all_gather" : "gemm"));
        answer_cell(answer, answer_of(AS_SECONDS, i ? 2.5e-3 : 1));
        answer_cell(answer, answer_of(i ? AS_NOTHING : AS_SECONDS, 2));
        answer_cell(answer, answer_of_text("because it is a long reason that takes much of a line"));
        answer_cell(answer, answer_of(AS_BOOL, i));
    }
    answer_mark(answer);
    answer_caution(answer, "Beware.");
    return answer;
}

typedef void Form(FILE *out, Arena *arena, const Answer *answer, int width);

static void json(FILE *out, Arena *arena, const Answer *answer, int width) {
    (void)arena, (void)width;
    answer_as_json(out, answer);
}

static void csv(FILE *out, Arena *arena, const Answer *answer, int width) {
    (void)width;
    answer_as_csv(arena, out, answer);
}

static void plain(FILE *out, Arena *arena, const Answer *answer, int width) {
    (void)width;
    answer_as_plain(arena, out, answer);
}

static void text(FILE *out, Arena *arena, const Answer *answer, int width) {
    Style style = {.unicode = true, .width = width};
    answer_as_text(arena, out, answer, &style, false);
}

static void verbose(FILE *out, Arena *arena, const Answer *answer, int width) {
    Style style = {.unicode = true, .width = width};
    answer_as_text(arena, out, answer, &style, true);
}

static const char *printed(Arena *arena, Form *form, const Answer *answer, int width) {
    char *room = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&room, &bytes);
    form(out, arena, answer, width);
    fclose(out);
    const char *copy = arena_copy_text(arena, room);
    free(room);
    return copy;
}

TEST(json_of_an_answer_has_its_sections_as_objects_and_its_tables_as_lists) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *said = printed(arena, json, small_answer(arena), 0);
    const Json *read = json_read_text(arena, "answer", said, strlen(said), problems);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_TEXT(json_text(read, "kind", problems), "small");
    EXPECT_NEAR(json_number(read, "gpus", problems), 16384, 0);
    EXPECT_NEAR(json_number(json_get(read, "share"), "p95", problems), 0.75, 0);
    EXPECT(!json_get(json_get(read, "share"), "p50")); // not known
    EXPECT_NEAR(json_number(json_get(json_get(read, "memory_bytes"), "by_class"), "weights", problems), 0x1p29, 0);
    EXPECT_INT(json_get(read, "notes")->count, 2);
    const Json *parts = json_get(read, "parts");
    EXPECT_INT(parts->count, 2);
    EXPECT_NEAR(json_number(json_get(&parts->items[0], "time"), "p95", problems), 2, 0);
    EXPECT(!json_get(json_get(&parts->items[1], "time"), "p95")); // an empty cell is no member
    EXPECT(json_get(&parts->items[1], "seen")->boolean);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(a_list_of_lists_is_one_in_json_and_no_cell) {
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_open_list(answer, "matrix", NULL);
    for (int a = 0; a < 2; a++) {
        answer_open_list(answer, NULL, NULL);
        for (int b = 0; b < 2; b++) answer_number(answer, NULL, NULL, AS_WHOLE, 10 * a + b);
        answer_close(answer);
    }
    answer_close(answer);
    Problems *problems = problems_create(arena);
    const char *said = printed(arena, json, answer, 0);
    const Json *matrix = json_get(json_read_text(arena, "answer", said, strlen(said), problems), "matrix");
    EXPECT(matrix && matrix->count == 2 && matrix->items[1].count == 2);
    EXPECT_NEAR(matrix->items[1].items[0].number, 10, 0);
    EXPECT(!strstr(printed(arena, plain, answer, 0), "matrix"));
    arena_close(arena);
}

TEST(csv_is_the_main_table_and_plain_text_all_of_an_answer) {
    Arena *arena = arena_open();
    EXPECT_TEXT(printed(arena, csv, small_answer(arena), 0),
                "name,time.mean,time.p95,why,seen\n"
                "gemm,1,2,because it is a long reason that takes much of a line,false\n"
                "all_gather,0.0025,,because it is a long reason that takes much of a line,true\n");
    EXPECT_TEXT(printed(arena, plain, small_answer(arena), 0),
                "gpus\t16384\nshare.mean\t0.5\nshare.p5\t0.25\nshare.p95\t0.75\nmemory_bytes.peak\t1073741824\n"
                "memory_bytes.by_class.weights\t536870912\nnotes\ta;b\n\nparts\n"
                "name\ttime.mean\ttime.p95\twhy\tseen\n"
                "gemm\t1\t2\tbecause it is a long reason that takes much of a line\tfalse\n"
                "all_gather\t0.0025\t\tbecause it is a long reason that takes much of a line\ttrue\n");
    Answer *facts = small_answer(arena);
    answer_one_row(facts);
    EXPECT_CONTAINS(printed(arena, csv, facts, 0), "gpus,share.mean,share.p5,share.p95,memory_bytes.peak");
    arena_close(arena);
}

TEST(a_screen_shows_what_is_for_all_and_verbose_the_rest) {
    Arena *arena = arena_open();
    const char *first = printed(arena, text, small_answer(arena), 100),
               *all = printed(arena, verbose, small_answer(arena), 100);
    EXPECT_CONTAINS(first, "One sentence leads.\n\nGPUs");
    EXPECT_CONTAINS(first, "50.0 %   90 %: 25.0 to 75.0 %; of all\n");
    EXPECT(!strstr(first, "weights") && strstr(first, "-v shows all"));
    EXPECT(strstr(all, "weights") && strstr(all, "512 MiB") && !strstr(all, "-v shows all"));
    EXPECT_CONTAINS(first, "✔  all_gather  2.5 ms");
    EXPECT_CONTAINS(first, "! Beware.\n");
    arena_close(arena);
}

TEST(a_table_may_have_its_first_rows_on_the_first_screen_and_all_of_them_elsewhere) {
    Arena *arena = arena_open();
    Answer *answer = small_answer(arena);
    answer_first_rows(answer, 1);
    const char *first = printed(arena, text, answer, 100);
    EXPECT(strstr(first, "gemm") && !strstr(first, "all_gather") && strstr(first, "\nand 1 more: -v\n"));
    EXPECT_CONTAINS(printed(arena, verbose, answer, 100), "all_gather");
    EXPECT_CONTAINS(printed(arena, json, answer, 0), "all_gather");
    answer_first_rows(answer, 2);
    EXPECT(!strstr(printed(arena, text, answer, 100), " more: -v"));
    arena_close(arena);
}

TEST(lines_in_a_form_that_people_know_are_not_folded_and_are_for_people_alone) {
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_verbatim(answer, "GPU0  X    NV12  SYS\n\n  GPU1\tNV12  X   SYS\n");
    for (int width = 10; width <= 80; width += 70)
        EXPECT_TEXT(printed(arena, text, answer, width), "GPU0  X    NV12  SYS\n\n  GPU1\tNV12  X   SYS\n");
    EXPECT(!strstr(printed(arena, json, answer, 80), "GPU0") && !strstr(printed(arena, plain, answer, 80), "GPU0"));
    arena_close(arena);
}

static int widest_line(const char *page) {
    int widest = 0, width = 0;
    for (; *page; page++) {
        width = *page == '\n' ? 0 : width + ((*page & 0xc0) != 0x80);
        if (width > widest) widest = width;
    }
    return widest;
}

TEST(a_narrow_screen_is_kept_by_folding_and_by_columns_in_their_order) {
    Arena *arena = arena_open();
    for (int width = 60; width <= 140; width++)
        EXPECT(widest_line(printed(arena, verbose, small_answer(arena), width)) <= width);
    EXPECT_CONTAINS(printed(arena, text, small_answer(arena), 80), "Not at this width: at most");
    EXPECT_CONTAINS(printed(arena, text, small_answer(arena), 60), "Not at this width: why, at most");
    EXPECT(!strstr(printed(arena, text, small_answer(arena), 100), "Not at this width"));
    arena_close(arena);
}

TEST(a_column_may_stand_below_its_row) {
    static const AnswerColumn records[] = {
        {"name", "name", AS_TEXT, 0}, {"source", "source", AS_TEXT, BELOW_ROW}, {"value", "value", AS_NUMBER, 0}};
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_table(answer, "records", NULL, records, 3);
    for (int i = 0; i < 2; i++) {
        ANSWER_ROW(answer, answer_of_text(i ? "launch" : "ramp"),
                   answer_of_text(i ? "" : "a log of kernels of some length"), answer_of(AS_NUMBER, 1.5));
    }
    EXPECT_TEXT(printed(arena, text, answer, 24), "name    value\n"
                                                  "ramp     1.50\n"
                                                  "    a log of kernels of\n"
                                                  "    some length\n"
                                                  "launch   1.50\n\n");
    EXPECT_CONTAINS(printed(arena, csv, answer, 0), "ramp,a log of kernels of some length,1.5\n");
    arena_close(arena);
}

TEST(columns_that_go_on_below_repeat_what_tells_the_rows_apart) {
    static const AnswerColumn five[] = {{"gpu", "GPU", AS_TEXT, 0},
                                        {"kind", "kind", AS_TEXT, 0},
                                        {"note", "note", AS_TEXT, 0},
                                        {"rows", "many rows", AS_COUNT, 0},
                                        {"error", "an error", AS_COUNT, 0}};
    static const char *const names[] = {"all", "own"};
    Arena *arena = arena_open();
    for (int apart = 0; apart < 2; apart++) { // by their second column or by their first
        Answer *answer = answer_create(arena, "small");
        answer_table(answer, "rows", NULL, five, 5);
        for (int i = 0; i < 2; i++)
            ANSWER_ROW(answer, answer_of_text(names[apart * i]), answer_of_text(i ? "gemm" : "cast"),
                       answer_of_text("same"), answer_of(AS_COUNT, i), answer_of(AS_COUNT, 7));
        EXPECT_TEXT(printed(arena, verbose, answer, 28), apart ? "GPU  kind  note  many rows\n"
                                                                 "all  cast  same          0\n"
                                                                 "own  gemm  same          1\n\n"
                                                                 "GPU  an error\n"
                                                                 "all         7\n"
                                                                 "own         7\n\n"
                                                               : "GPU  kind  note  many rows\n"
                                                                 "all  cast  same          0\n"
                                                                 "all  gemm  same          1\n\n"
                                                                 "GPU  kind  an error\n"
                                                                 "all  cast         7\n"
                                                                 "all  gemm         7\n\n");
    }
    arena_close(arena);
}

TEST(tables_of_a_list_have_its_sections_own_facts_before_their_rows) {
    static const AnswerColumn facts[] = {{"fact", "fact", AS_TEXT, 0}};
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_format(answer, "lockstep-parts");
    answer_open_list(answer, "parts", NULL);
    for (int i = 0; i < 2; i++) {
        answer_open(answer, NULL, NULL);
        answer_text(answer, "name", NULL, i ? "link" : "node");
        answer_open(answer, NULL, NULL);
        answer_text(answer, "title", NULL, "for its own object alone");
        answer_close(answer);
        answer_table(answer, "facts", NULL, facts, 1);
        answer_cell(answer, answer_of_text("rate"));
        answer_close(answer);
    }
    answer_close(answer);
    EXPECT_TEXT(printed(arena, csv, answer, 0), "parts.name,fact\nnode,rate\nlink,rate\n");
    EXPECT_CONTAINS(printed(arena, json, answer, 0), "\"format\": \"lockstep-parts\"");
    EXPECT_CONTAINS(printed(arena, json, answer, 0), "\"title\": \"for its own object alone\"");
    arena_close(arena);
}

TEST(people_read_three_figures_of_many_things_and_programs_all) {
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_number(answer, "parameters", "parameters", AS_MANY, 174598000000);
    EXPECT_CONTAINS(printed(arena, text, answer, 80), "175 B\n");
    EXPECT_CONTAINS(printed(arena, json, answer, 80), "174598000000");
    arena_close(arena);
}

TEST(a_figure_and_its_unit_are_not_parted_where_a_line_ends) {
    Arena *arena = arena_open();
    Answer *answer = answer_create(arena, "small");
    answer_say(answer, NULL, "Lost are 7.0 %%, then 6.1 %%, then 4.1 %%, and 30 s at the end of them all.");
    for (int width = 20; width <= 80; width++) {
        const char *page = printed(arena, text, answer, width);
        EXPECT(!strstr(page, "\n  %") && !strstr(page, "\n  s "));
    }
    arena_close(arena);
}
