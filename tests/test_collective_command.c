// lockstep collective: nccl-tests' table, and how the command ends.
#include "scenarios/questions/collective_asked.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

static const Ended *collective(const char *line) { return run_command(command_collective, line); }

TEST(collective_prints_the_columns_of_nccl_tests_and_what_decides_each_row) {
    const Ended *ended =
        collective("collective all_reduce --node dgx-h100 --nodes 2 --fabric ib-ndr400 -b 8 -e 8G -f 16");
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    EXPECT_CONTAINS(ended->out, "# all_reduce over nccl on 16 GPUs of 2 nodes, simulated\n");
    EXPECT_CONTAINS(ended->out, "size        count     type  redop  root       time    algbw    busbw");
    EXPECT_CONTAINS(ended->out, "latency\n");
    EXPECT_CONTAINS(ended->out, "nvls_tree");
}

// nccl-tests: busbw = algbw x 2(n-1)/n for all_reduce, (n-1)/n for all_gather, 1 for broadcast.
TEST(collective_turns_algorithm_bandwidth_into_bus_bandwidth_as_nccl_tests_does) {
    static const struct {
        const char *line;
        double factor;
    } cases[] = {{"collective all_reduce --node dgx-a100 --sizes 64M --json", 1.75},
                 {"collective all_gather --node dgx-a100 --sizes 64M --json", 0.875},
                 {"collective alltoall --node dgx-a100 --sizes 64M --json", 0.875},
                 {"collective broadcast --node dgx-a100 --sizes 64M --json", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        const Ended *ended = collective(cases[i].line);
        const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
        const Json *results = json ? json_get(json, "results") : NULL;
        EXPECT(results && results->count == 1);
        if (results) {
            double algbw = json_number(&results->items[0], "algbw_gb_per_s", problems);
            EXPECT_NEAR(json_number(&results->items[0], "busbw_gb_per_s", problems), cases[i].factor * algbw, 1e-9);
            double us = json_number(&results->items[0], "time_us", problems);
            EXPECT_NEAR(algbw, 67108864 / us / 1000, 1e-9);
        }
        arena_close(arena);
    }
}

TEST(collective_does_every_operation_that_a_back_end_has) {
    static const char *const ops[] = {"send",       "recv",    "send_recv",      "broadcast",
                                      "all_reduce", "reduce",  "reduce_scatter", "all_gather",
                                      "gather",     "scatter", "all_to_all",     "barrier"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char line[128];
        snprintf(line, sizeof line, "collective %s --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M --csv",
                 ops[i]);
        const Ended *ended = collective(line);
        EXPECT_INT(ended->code, 0);
        EXPECT_CONTAINS(ended->out, "size,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol,channels,"
                                    "limited_by,time_us_p5,time_us_p95\n");
    }
    EXPECT_INT(collective("collective gather --node dgx-a100 --backend gloo --cpu --sizes 1M")->code, 0);
    EXPECT_INT(collective("collective gather --node dgx-a100 --backend gloo --sizes 1M")->code, 4);
}

TEST(collective_obeys_algorithm_protocol_and_version) {
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-a100 --sizes 1G --algo tree --proto LL128 --csv")->out,
                    ",tree,LL128,");
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-h100 --sizes 1G --csv")->out, ",nvls,");
    EXPECT(!strstr(collective("collective all_reduce --node dgx-h100 --sizes 1G --version 2.16 --csv")->out, ",nvls,"));
}

// As nccl-tests has it.
TEST(letters_of_sizes_may_be_small) {
    static const char *const asked[] = {"-b 64k -e 1m -f 4", "--sizes 64K:1M:4", "--sizes 64k:1m:4"};
    Arena *arena = arena_open();
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        const Ended *ended =
            collective(arena_printf(arena, "collective all_reduce --node dgx-a100 --csv %s", asked[i]));
        EXPECT_INT(ended->code, 0);
        if (first) EXPECT_TEXT(ended->out, first);
        first = arena_copy_text(arena, ended->out);
        EXPECT_CONTAINS(first, "1048576,");
    }
    arena_close(arena);
}

TEST(collective_says_what_is_missing_or_wrong) {
    const Ended *ended = collective("collective");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "collective needs an operation");
    EXPECT_CONTAINS(ended->err, "collective needs a node");
    EXPECT_CONTAINS(collective("collective all_reduc --node dgx-a100")->err, "did you mean \"all_reduce\"?");
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-a100 --sizes 1K:x")->err, "FIRST:LAST:FACTOR");
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-a100 -b 8 -e 4")->err, "no list of at most");
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-a100 --version x")->err, "no version of NCCL");
    ended = collective("collective all_reduce --node dgx-a100 --nodes 2");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "no fabric joins them");
    EXPECT_INT(collective("collective all_reduce --node dgx-a1000")->code, 4);
}

// Fabric and node are said as to lockstep topo.
TEST(collective_takes_any_fabric_and_pictures_of_nodes) {
    const Ended *ended = collective("collective all_reduce --node dgx-h100 --nodes 8 --sizes 1G --csv --fabric "
                                    "ib-ndr400:leaf_spine:nodes_per_leaf=2:oversubscription=8");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, ",leaf0.up,");
    ended = collective("collective all_reduce --node tests/data/topo/h100_x4_pairs_4nic_pod.txt --gpu H100-SXM5-80GB "
                       "--sizes 1G");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "on 4 GPUs of 1 node");
    ended = collective("collective all_reduce --node dgx-h100 --nodes 2 --fabric ib-ndr400:dragnfly");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "did you mean \"dragonfly\"?");
}

// ---- Ranges.
static double json_of(const char *line, const char *key) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended = collective(line);
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    double value = json ? json_number(&json_get(json, "results")->items[0], key, problems) : -1;
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
    return value;
}

TEST(a_collective_has_a_range_that_is_wider_the_less_is_said) {
    const char *open_line = "collective all_reduce --node dgx-a100 --sizes 1K --json";
    const char *said_line =
        "collective all_reduce --node dgx-a100 --sizes 1K --json --version 2.16 --gpus-per-process 1";
    double low = json_of(open_line, "time_us_p5"), middle = json_of(open_line, "time_us"),
           high = json_of(open_line, "time_us_p95");
    EXPECT(low < middle && middle < high);
    EXPECT_NEAR(low * high, middle * middle, 1e-6); // as far down as up, in factors
    EXPECT(json_of(said_line, "time_us_p95") / json_of(said_line, "time_us_p5") < high / low);
    EXPECT_CONTAINS(collective("collective all_reduce --node dgx-a100 --sizes 1K -v")->out, "time p95");
}

TEST(collective_message_by_message_prints_the_same_table_and_refuses_what_it_cannot_do) {
    const Ended *ended =
        collective("collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --fidelity flow "
                   "--algo hierarchical --sizes 64M");
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    EXPECT_CONTAINS(ended->out, "on 16 GPUs of 2 nodes, simulated message by message\n");
    EXPECT_CONTAINS(ended->out, "hierarchical");
    ended = collective("collective all_reduce --node dgx-h100 --fidelity flow --algo nvls --sizes 64M");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "all_reduce by \"nvls\" is not known message by message");
    EXPECT_CONTAINS(ended->err, "or use fidelity fluid");
    ended = collective("collective all_reduce --node dgx-h100 --algo bruck --fidelity fluid --sizes 64M");
    EXPECT_CONTAINS(ended->err, "--algo bruck is simulated message by message only");
    EXPECT(ended->code != 0);
    ended = collective("collective all_reduce --node dgx-h100 --algo rabenseifner --sizes 64M"); // says its fidelity
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "simulated message by message\n");
    EXPECT(collective("collective all_reduce --node dgx-h100 --uneven 4 --sizes 64M")->code != 0);
}

TEST(collective_makes_an_uneven_all_to_all_slower_by_what_its_busiest_rank_gets) {
    for (int flow = 0; flow < 2; flow++) {
        double seconds[2];
        for (int uneven = 0; uneven < 2; uneven++) {
            char line[192];
            snprintf(
                line, sizeof line,
                "collective all_to_all --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 8G --csv --fidelity %s%s",
                flow ? "flow" : "fluid", uneven ? " --uneven 4" : "");
            const char *row = strchr(collective(line)->out, '\n');
            EXPECT(row && sscanf(row, "\n%*[^,],%lf", &seconds[uneven]) == 1);
        }
        // Rank 0 gets 4 parts of 19 of what each sends, instead of 1 of 16.
        EXPECT_NEAR(seconds[1] / seconds[0], 4.0 / 19 * 16, 0.03);
    }
}

TEST(a_tolerance_is_said_where_messages_are_many_and_refused_where_there_are_none) {
    const char *many = "collective all_to_all --node dgx-a100 --nodes 9 --fabric ib-hdr200 --sizes 1M --uneven 2 "
                       "--fidelity flow --tolerance 0.1%";
    const Ended *ended = collective(many);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Links are shared to within 0.1 % of their rates");
    ended = collective("collective all_to_all --node dgx-a100 --sizes 1M --uneven 2 --fidelity flow --tolerance 0.1%");
    EXPECT_INT(ended->code, 0);
    EXPECT(!strstr(ended->out, "within"));
    ended = collective("collective all_to_all --node dgx-a100 --sizes 1M --fidelity flow --tolerance 2%");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "from 0 to 1 %");
    ended = collective("collective all_to_all --node dgx-a100 --sizes 1M --tolerance 0.1%");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "add --fidelity flow");
}

// Ten times the line rate carries no byte faster where the host's processor moves them all.
TEST(where_sockets_decide_no_card_is_named_as_the_limit) {
    static const char *const fabrics[] = {"eth-25g", "eth-100g"};
    for (int i = 0; i < 2; i++) {
        char line[160];
        snprintf(line, sizeof line, "collective all_reduce --node dgx-a100 --nodes 4 --fabric %s --sizes 1G",
                 fabrics[i]);
        const Ended *ended = run_command(command_collective, line);
        EXPECT_INT(ended->code, 0);
        EXPECT_CONTAINS(ended->out, "host sockets");
        EXPECT(!strstr(ended->out, "nic0.out"));
    }
    EXPECT(!strstr(
        run_command(command_collective, "collective all_reduce --node dgx-a100 --nodes 4 --fabric ib-hdr200 --sizes 1G")
            ->out,
        "host sockets"));
}
