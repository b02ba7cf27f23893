// Reading nccl-tests: golden rows, every shape of line, and mistakes with their lines.
#include "calibrate/collectives/validation.h"
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

TEST(logs_of_all_years_and_launchers_are_read) {
    static const char *const texts[] = {
        "# bytes N type op time algbw busbw res time algbw busbw res\n8 2 float sum 12.0 0 0 0 11.0 0 0 0\n", // 2016
        "\xef\xbb\xbf" HEADER "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",
        HEADER "8 2 float sum -1 12.0 0 0 N/A 11.0 0 0 N/A\n", // -c 0
        "# size count type redop time algbw busbw\n8 2 float sum 12.0 0 0\n",
        " 0: # size count type redop root time algbw busbw #wrong\n 0:  8 2 float sum -1 12.0 0 0 0\n1: \n", // srun
        "[0] " HEADER "[0]   8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",                                      // MPICH
        "node-7: " HEADER "node-7: 8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",
        "[prterun-n1-77@1,0]<stdout>: " HEADER "[prterun-n1-77@1,0]<stdout>: 8 2 float sum -1 12.0 0 0 0 1 0 0 0\n",
        "[pod/a-0/main] " HEADER "[pod/a-0/main] 8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",
        ("2025-01-02T03:04:05.678Z stdout F # size count type redop root time algbw busbw #wrong\n"
         "2025-01-02T03:04:06.678Z stdout F 8 2 float sum -1 12.0 0 0 0\n"),
        "2025-01-02 03:04:05,1 " HEADER "2025-01-02 03:04:05,2 8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n",
        // NCCL_DEBUG=INFO breaks into a row.
        HEADER "8 2 float sum -1 n1:77:78 [0] NCCL INFO Channel 00\nn1:77:78 [0] NCCL INFO x\n"
               " 12.0 0.00 0.00 0 11.0 0 0 0\n",
        HEADER "8 2 float sum -1\nn1:77:78 [0] NCCL INFO x\n 12.0 0.00 0.00 N/A\n",
        "# Collective test starting: all_reduce_perf\n#  Rank  0 device  0 [0000:c1:00.0] AMD Instinct MI300X\n" HEADER
        "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const NcclLog *log = read_text(arena, texts[i], problems);
        if (!log) problems_print(problems, stdout);
        bool read = log && log->row_count == 1 && log->rows[0].bytes == 8 && fabs(log->rows[0].seconds - 12e-6) < 1e-12;
        if (!read) test_fail(__FILE__, __LINE__, "text %d is not read", (int)i);
        arena_close(arena);
    }
}

TEST(a_log_tells_the_version_of_nccl) {
    Arena *arena = arena_open();
    const char *row = "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n";
    const char *debug = arena_printf(arena, "n1:7:8 [0] NCCL INFO x\nNCCL version 2.20.5+cuda12.4\n" HEADER "%s", row);
    const char *tests =
        arena_printf(arena, "# nccl-tests version 2.17.2 nccl-headers=22902 nccl-library=22903\n" HEADER "%s", row);
    EXPECT_INT(read_text(arena, debug, problems_create(arena))->nccl_version, 22005);
    EXPECT_INT(read_text(arena, tests, problems_create(arena))->nccl_version, 22903);
    EXPECT_INT(read_text(arena, arena_printf(arena, HEADER "%s", row), problems_create(arena))->nccl_version, 0);
    arena_close(arena);
}

TEST(a_log_tells_how_many_launches_were_timed_together) {
    Arena *arena = arena_open();
    static const struct {
        const char *line;
        int iterations;
    } cases[] = {
        {"# nThread 8 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n", 20},
        {"# env: none; 8 threads x 1 GPU, 2 warm-ups + 5 timed iterations\n", 5},
        {"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = arena_printf(arena, "%s" HEADER "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n", cases[i].line);
        EXPECT_INT(read_text(arena, text, problems_create(arena))->iterations, cases[i].iterations);
    }
    arena_close(arena);
}

// ---- What a log says of its machine.
static const char *fact(const NcclLog *log, const char *column) {
    for (int i = 0; log && i < log->fact_count; i++)
        if (strcmp(log->facts[i].column, column) == 0) return log->facts[i].value;
    return "";
}

// A list of ranks on so many hosts, by as many processes on each, and further lines.
static const char *log_of(Arena *arena, int hosts, int processes, int gpus, const char *lines) {
    const char *text = "# Collective test starting: all_reduce_perf\n";
    for (int rank = 0; rank < hosts * processes * gpus; rank++)
        text =
            arena_printf(arena, "%s#  Rank %2d Group  0 Pid %d on  node-%d device  %d [0x1b] NVIDIA H100 80GB HBM3\n",
                         text, rank, 100 + rank / gpus, rank / (processes * gpus), rank % (processes * gpus));
    return arena_printf(arena, "%s%s" HEADER "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n", text, lines);
}

TEST(a_logs_list_of_ranks_tells_gpus_hosts_and_processes) {
    for (int hosts = 1; hosts <= 4; hosts *= 2)
        for (int processes = 1; processes <= 8; processes *= 2) {
            Arena *arena = arena_open();
            int gpus = 8 / processes;
            const NcclLog *log = read_text(arena, log_of(arena, hosts, processes, gpus, ""), problems_create(arena));
            EXPECT_INT(atoi(fact(log, "ranks")), 8 * hosts);
            EXPECT_INT(atoi(fact(log, "nodes")), hosts);
            EXPECT_INT(atoi(fact(log, "gpus_per_node")), 8);
            EXPECT_TEXT(fact(log, "gpu"), "NVIDIA H100 80GB HBM3");
            EXPECT_TEXT(fact(log, "transport"), hosts == 1 ? "none" : "");
            EXPECT_INT(log->gpus_per_process, gpus);
            arena_close(arena);
        }
}

TEST(nccls_own_lines_tell_nics_way_and_environment) {
#define INFO "node-0:77:78 [0] NCCL INFO "
    static const struct {
        const char *lines, *transport, *nics, *gigabits, *gdr, *intra_link, *environment;
    } cases[] = {
        {INFO "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>\n" INFO
              "NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 context=0x5\n" INFO "Using network IB\n" INFO
              "Channel 00/0 : 7[7] -> 8[0] [receive] via NET/IB/0/GDRDMA\n",
         "infiniband", "2", "400", "yes", "", ""},
        {INFO "NET/IB : Using [0]mlx5_bond_0:1/RoCE [RO]; OOB bond0:10.0.0.1<0>\n" INFO
              "GPU Direct RDMA Disabled for HCA 0 'mlx5_bond_0'\n",
         "roce", "1", "", "no", "", ""},
        {INFO "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:10.0.0.1<0>\n" INFO "Using network Socket\n", "tcp", "", "", "",
         "", ""},
        {INFO "NET/OFI Selected Provider is efa (found 4 nics)\n" INFO "Using network AWS Libfabric\n", "efa", "4", "",
         "", "", ""},
        {INFO "NET/OFI Selected provider is cxi, fabric is cxi (found 1 nics)\n", "slingshot", "1", "", "", "", ""},
        {INFO "NVLS multicast support is available on dev 0\n" INFO
              "NVLS multicast support is not available on dev 1\n",
         "", "", "", "", "nvswitch", ""},
        {INFO "NVLS multicast support is not available on dev 0\n", "", "", "", "", "", ""},
        {INFO "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n", "", "", "", "", "pcie-host", ""},
        {INFO "Channel 00 : 0[0] -> 1[1] via P2P/CUMEM\n" INFO "Channel 00 : 1[1] -> 2[2] via SHM/direct/direct\n", "",
         "", "", "", "", ""},
        {INFO "NCCL_ALGO set by environment to Ring.\n" INFO "NCCL_ALGO set by environment to Tree\n" INFO
              "NCCL_PROTO set by environment to Simple\n" INFO "NCCL_IB_HCA set by environment to mlx5\n",
         "", "", "", "", "", "NCCL_ALGO=Ring NCCL_PROTO=Simple"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        const NcclLog *log = read_text(arena, log_of(arena, 2, 8, 1, cases[i].lines), problems_create(arena));
        EXPECT(log && log->row_count == 1);
        EXPECT_TEXT(fact(log, "transport"), cases[i].transport);
        EXPECT_TEXT(fact(log, "nics_per_node"), cases[i].nics);
        EXPECT_TEXT(fact(log, "nic_gbps"), cases[i].gigabits);
        EXPECT_TEXT(fact(log, "gdr"), cases[i].gdr);
        EXPECT_TEXT(fact(log, "intra_link"), cases[i].intra_link);
        EXPECT_TEXT(fact(log, "algo_env"), cases[i].environment);
        arena_close(arena);
    }
}

TEST(a_repeated_table_of_one_operation_is_read_and_a_second_operation_is_refused_at_its_line) {
    static const char row[] = "8 2 float sum -1 12.0 0 0 0 11.0 0 0 0\n";
    Arena *arena = arena_open();
    const char *again = arena_printf(arena, "# op: all_reduce\n%s%s# Collective test starting: all_reduce_perf\n%s%s",
                                     HEADER, row, HEADER, row);
    const NcclLog *log = read_text(arena, again, problems_create(arena));
    EXPECT(log && log->row_count == 2);
    expect_problem(arena_printf(arena,
                                "# Collective test starting: all_reduce_perf\n%s%s# Collective test starting: "
                                "all_gather_perf\n%s%s",
                                HEADER, row, HEADER, row),
                   5, "here begins a table of all_gather_perf, and the one above is of all_reduce_perf");
    arena_close(arena);
}

TEST(what_is_no_log_says_where_and_why) {
    expect_problem(HEADER "8 2 float sum -1 n1:77:78 [0] NCCL INFO x\n16 4 float sum -1 12.0 0 0 0 11.0 0 0 0\n", 3,
                   "the row of size 8 breaks off before its times");
    expect_problem(HEADER "8 2 float sum -1\n", 3, "the row of size 8 breaks off before its times");
    expect_problem("\xff\xfe#\n", 1, "the file is in UTF-16");
    expect_problem("\x1f\x8b\x08", 1, "the file is compressed (gzip)");
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
