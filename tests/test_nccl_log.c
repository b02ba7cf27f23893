// Reading nccl-tests: golden rows, every shape of line, and mistakes with their lines.
#include "calibrate/collectives/nccl_log.h"
#include "tests/test.h"

#define HEADER                                                                                                         \
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"                                   \
    "# (B) (elements) (us) (GB/s) (GB/s)\n"

static const NcclLog *read_text(Arena *arena, const char *text, Problems *problems) {
    return nccl_log_read_text(arena, "logs/some.txt", text, strlen(text), problems);
}

// The one problem of a text.
static void expect_problem(const char *text, int line, const char *part) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(!read_text(arena, text, problems));
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_TEXT(problem_at(problems, 0)->where.file, "logs/some.txt");
    EXPECT_INT(problem_at(problems, 0)->where.line, line);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, part);
    arena_close(arena);
}

TEST(a_published_log_is_read_row_by_row) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const NcclLog *log = nccl_log_read(arena, "calibrate/measurements/nccl/occl_h800sxm_8gpu_reduce.txt", problems);
    EXPECT(log != NULL);
    if (log) {
        EXPECT_TEXT(log->name, "occl_h800sxm_8gpu_reduce");
        EXPECT_TEXT(log->op, "reduce");
        EXPECT_INT(log->row_count, 27);
        EXPECT_INT(log->threads_per_process, 8);
        EXPECT_INT(log->rows[0].line, 14);
        EXPECT_NEAR(log->rows[0].bytes, 64, 0);
        EXPECT_NEAR(log->rows[0].seconds, 48.46e-6, 1e-12);
    }
    arena_close(arena);
}

TEST(cells_left_blank_halves_left_out_and_launchers_prefixes_are_understood) {
    static const char *const texts[] = {
        HEADER "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",
        HEADER "8 2 float none 12.0 0 0 0 11.0 0 0 0\n",
        HEADER "8 2 float sum -1 12.0 0 0 N/A\n",
        ("[1,0]<stdout>:# size count type redop root time algbw busbw error time algbw busbw error\r\n"
         "[1,0]<stdout>: 8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\r\n"),
        "{\"results\": [{\"size\": 8, \"out_of_place\": {\"time\": 12.0}}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const NcclLog *log = read_text(arena, texts[i], problems);
        EXPECT(log && log->row_count == 1 && log->rows[0].bytes == 8);
        if (log) EXPECT_NEAR(log->rows[0].seconds, 12e-6, 1e-12);
        arena_close(arena);
    }
}

TEST(what_is_no_log_says_where_and_why) {
    expect_problem(HEADER "8 2 float sum -1 12.0\n", 3, "a row has 6 cells");
    expect_problem(HEADER "\n8 2 float sum -1 soon 0 0 0 later 0 0 0\n", 4, "\"soon\" is no time");
    expect_problem(HEADER "8 2 float sum -1 -3 0 0 0 -3 0 0 0\n", 3, "the time of size 8 is -3 us");
    expect_problem("8 2 float sum -1 12.0 0 0 0\n", 1, "before any header");
    expect_problem("hello\n", 0, "no log of nccl-tests");
    expect_problem("{\"results\": [\n{\"size\": 8}]}", 2, "neither \"out_of_place\" nor \"in_place\"");
}

TEST(names_of_operations_are_those_of_nccl_tests) {
    CollectiveOp op;
    EXPECT(nccl_op_from_name("alltoall_perf", &op) && op == COLLECTIVE_ALL_TO_ALL);
    EXPECT(nccl_op_from_name("Reduce-Scatter", &op) && op == COLLECTIVE_REDUCE_SCATTER);
    EXPECT(!nccl_op_from_name("incast(fork)", &op));
}
