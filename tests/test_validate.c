// The scoreboard over the shipped logs: golden limits, fits, and how the
// command ends.
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "models/network/network_constants.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/networks.h"
#include "tests/test.h"

static const Ended *validate(const char *line) { return run_command(command_validate, line); }

static int last_board(const char *command, double *large, double *large_p90, double *small) {
    char plain[512];
    snprintf(plain, sizeof plain, "%s --plain", command);
    const char *line = strstr(validate(plain)->out, "\nall logs");
    int logs = 0;
    EXPECT(line != NULL);
    if (line) sscanf(line, " all logs %d %lf %lf %*f %*f %*d %lf", &logs, large, large_p90, small);
    return logs;
}

TEST(the_shipped_logs_are_predicted_within_what_was_reached) {
    double large = INFINITY, p90 = INFINITY, small = INFINITY;
    EXPECT_INT(last_board("validate collectives", &large, &p90, &small), 307);
    const Ended *ended = validate("validate collectives");
    EXPECT_INT(ended->code, 0);
    EXPECT(large < 10.5 && p90 < 35 && small < 13.5);
    EXPECT_CONTAINS(ended->out, "307 of 308 logs are predicted");
    // One vote per machine, and apart what needs no network.
    const char *votes = strstr(ended->out, "one vote per machine"),
               *inside = votes ? strstr(votes, "\ninside a node") : NULL;
    int machines = 0;
    EXPECT(inside && sscanf(inside, " inside a node %d %lf %*f %*f %lf", &machines, &large, &small) == 3);
    EXPECT(machines > 20 && large < 8.5 && small < 13);
    ended = validate("validate collectives -v");
    EXPECT_CONTAINS(ended->out, "nccl_version not stated");
    EXPECT_CONTAINS(ended->out, "worst from 64 KiB");
    EXPECT_CONTAINS(ended->out, "Hopper");
}

#define LOGS "calibrate/measurements/nccl/"
#define CLUSTERS " --clusters " LOGS "clusters.csv"

TEST(a_fit_on_all_reduce_brings_a_machines_other_operations_nearer) {
    double before = 0, after = INFINITY, p90, small;
    last_board("validate collectives " LOGS "v100_roce_2node_1gpu_all_gather.txt" CLUSTERS, &before, &p90, &small);
    static const char fitted[] = "validate collectives " LOGS "v100_roce_2node_1gpu_all_gather.txt " LOGS
                                 "v100_roce_2node_1gpu_all_reduce.txt --fit-on ops" CLUSTERS;
    EXPECT_CONTAINS(validate(fitted)->out, "Fitted on 1 logs of the machine of v100_roce_2node_1gpu_all_gather");
    EXPECT_INT(last_board(fitted, &after, &p90, &small), 1);
    EXPECT(after < 15 && after < before / 2);
}

// One host of the shipped logs carries payloads beyond half a gigabyte at less
// than half the rate of shorter ones.
TEST(a_step_in_a_machines_rate_is_found_in_one_operation_and_holds_for_others) {
    double large = INFINITY;
    const Ended *ended = validate("validate collectives " LOGS "a100pcie_ib_nogdr_2gpu_all_reduce.txt " LOGS
                                  "a100pcie_ib_nogdr_2gpu_reduce.txt --fit-on ops" CLUSTERS);
    EXPECT_CONTAINS(ended->out, "524 MB on");
    const char *line = strstr(ended->out, "\nall logs"); // none has sizes below 64 KiB
    EXPECT(line && sscanf(line, " all logs %*d %lf", &large) == 1 && large < 10);
    ended = validate("validate collectives " LOGS "a100pcie_ib_gdr_2gpu_all_reduce.txt " LOGS
                     "a100pcie_ib_gdr_2gpu_reduce.txt --fit-on ops" CLUSTERS);
    EXPECT(strstr(ended->out, "MB on") == NULL); // RDMA has none
}

// clusters.csv says of ABCI's logs nothing of the launch, and has logs of
// several of its nodes.
TEST(a_machine_measured_on_several_nodes_had_a_process_per_gpu_on_one_of_them_too) {
    static const char inside[] = "validate collectives " LOGS "abci2_a100_008gpu_broadcast_intra.txt -v" CLUSTERS;
    double large, p90, small = INFINITY;
    last_board(inside, &large, &p90, &small);
    const Ended *ended = validate(inside);
    EXPECT_CONTAINS(ended->out, "launch not stated: a process for each GPU, as on several nodes");
    EXPECT(small < 25); // eight launches by one process are more than twice what
                        // was measured
    ended = validate("validate collectives " LOGS "a100sxm80_nvswitch_8gpu_all_reduce.txt -v" CLUSTERS);
    EXPECT_CONTAINS(ended->out, "launch not stated: one process for all GPUs of the node");
}

// Threads in one process launch side by side, which the note of a description
// may say; `sys` takes RDMA across sockets.
static const Ended *validate_described(const char *log, const char *cells) {
    char path[] = "/tmp/lockstep-clusters-XXXXXX", line[256];
    FILE *file = fdopen(mkstemp(path), "w");
    fprintf(file,
            "log,op,gpu,gpus_per_node,nodes,ranks,intra_link,nvlink_gen,pcie_gen,"
            "nics_per_node,nic_gbps,"
            "transport,gdr,nic_distance,note\n%s,all_reduce,%s\n",
            log, cells);
    fclose(file);
    snprintf(line, sizeof line, "validate collectives -v " LOGS "%s.txt --clusters %s", log, path);
    const Ended *ended = validate(line);
    unlink(path);
    return ended;
}

TEST(a_description_tells_of_threads_and_of_how_far_the_nics_are) {
    const char *log = "a100sxm80_nvswitch_8gpu_all_reduce";
    const char *node = "A100-SXM4-80GB,8,1,8,nvswitch,3,4,,,none,,,";
    Arena *arena = arena_open();
    EXPECT_CONTAINS(validate_described(log, node)->out, "launch not stated");
    const Ended *ended = validate_described(log, arena_printf(arena, "%sa thread for each GPU", node));
    EXPECT(strstr(ended->out, "launch not stated") == NULL);
    const char *pair = "A100-PCIe-40GB,1,2,2,none,0,4,1,200,infiniband,yes,";
    double error[2] = {0}; // by what lies between: a host bridge, the link between sockets
    for (int far = 0; far < 2; far++) {
        ended = validate_described("a100pcie_ib_gdr_2gpu_all_reduce",
                                   arena_printf(arena, "%s%s,", pair, far ? "sys" : "phb"));
        const char *line = strstr(ended->out, "\nall logs"); // none has sizes below 64 KiB
        EXPECT(line && sscanf(line, " all logs %*d %lf", &error[far]) == 1);
    }
    EXPECT(error[0] < 15 && error[1] > 60); // it moves 12 GB/s, and across sockets would move half
    arena_close(arena);
}

// What a log says itself needs no row, and a row's cells go before it.
TEST(a_log_with_its_list_of_ranks_needs_no_description) {
    char path[] = "/tmp/lockstep-log-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fprintf(file, "# Collective test starting: all_gather_perf\n# size count "
                  "type redop root time algbw busbw #wrong\n");
    for (int rank = 0; rank < 16; rank++)
        fprintf(file,
                "#  Rank %d Group 0 Pid %d on n%d device %d [0x1b] NVIDIA "
                "A100-SXM4-80GB\n",
                rank, 100 + rank, rank / 8, rank % 8);
    fprintf(file, "n0:7:8 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB "
                  "[1]mlx5_1:1/IB ; OOB e:1<0>\n"
                  "n0:7:8 [0] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/IB "
                  "provider=Mlx5 speed=200000 context=0x5\n"
                  "1073741824 1 float none -1 21000 0 0 0\n");
    fclose(file);
    char line[128];
    snprintf(line, sizeof line, "validate collectives %s -v", path);
    const Ended *ended = validate(line);
    double large = INFINITY, p90, unused;
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Ampere nvswitch, infiniband");
    EXPECT_CONTAINS(ended->out, "intra_link not stated: nvswitch");
    EXPECT(!strstr(ended->out, "nics_per_node not stated") && !strstr(ended->out, "launch not stated"));
    const char *board = strstr(ended->out, "\nall logs"); // 15/16 of a gibibyte over two NICs of 25 GB/s
    EXPECT(board && sscanf(board, " all logs %*d %lf %lf %lf", &large, &p90, &unused) == 3 && large < 10);
    unlink(path);
}

TEST(leaving_a_family_out_gives_it_constants_from_the_others) {
    const Ended *ended = validate("validate collectives --family nvlink-bridge "
                                  "--family cube-mesh --cross family");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "left out in turn");
}

TEST(leaving_machines_out_gives_each_of_them_one_vote) {
    const Ended *ended = validate("validate collectives --family nvlink-bridge "
                                  "--family cube-mesh --nested");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "machine left out");
    EXPECT_CONTAINS(ended->out,
                    "its type of GPU         4 "); // two V100 of five logs
                                                   // each have one vote each
    EXPECT_CONTAINS(ended->out, "and 1 more: -v");
}

TEST(validate_ends_with_a_sentence_when_it_cannot) {
    EXPECT_INT(validate("validate")->code, 2);
    EXPECT_CONTAINS(validate("validate collectivs")->err, "did you mean \"collectives\"?");
    const Ended *bare = validate("validate collectives " LOGS "h100_1x8_all_reduce.txt");
    EXPECT_INT(bare->code, 4);
    EXPECT_CONTAINS(bare->err, "the log does not say what it was measured on");
    EXPECT_CONTAINS(bare->err, "keep nccl-tests' list of ranks");
    const Ended *ended = validate("validate collectives nothing_there.txt --clusters "
                                  "calibrate/measurements/nccl/clusters.csv");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "nothing_there.txt");
    EXPECT_INT(validate("validate collectives --fit-on nothing*")->code, 4);
    EXPECT_INT(validate("validate collectives --cross family --fit-on ops")->code, 2);
}

TEST(validate_speaks_json_and_csv) {
    const Ended *ended = validate("validate collectives --family nvlink-bridge --json");
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    EXPECT(json && json_number(json, "logs_predicted", problems) == 1);
    EXPECT_CONTAINS(validate("validate collectives --family nvlink-bridge --csv")->out,
                    "nvbridge_nv4_2gpu_all_reduce,all_reduce,Ampere nvlink-bridge,shipped,4,");
    arena_close(arena);
}

TEST(every_constant_has_a_value_a_prior_and_a_source) {
    for (int i = 0; i < CONSTANT_COUNT; i++) {
        const ConstantRow *row = &constant_rows[i];
        EXPECT(row->name && row->unit && row->source && row->value > 0 && row->prior > 0 && row->scale > 0);
        EXPECT((row->prior_spread > 0) == (row->scope != SCOPE_FIXED));
        // A value far from what is known without the logs would say that the model
        // lacks something.
        double spread = row->prior_spread > 0 ? row->prior_spread : 1;
        if (fabs(log(row->value / row->prior)) > 3.5 * spread)
            test_fail(__FILE__, __LINE__, "%s: %g against a prior of %g", row->name, row->value, row->prior);
    }
}

static CollectivePlan plan_with(Arena *arena, const Network *network, CollectiveRequest request, int nodes, int each) {
    request.ranks = first_ranks(arena, network, nodes, each);
    request.rank_count = nodes * each;
    return collective_plan(arena, network, &request);
}

TEST(pat_takes_a_step_for_each_doubling_and_came_with_nccl_2_23) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 64, infiniband(400));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_GATHER, .bytes = 4096, .algorithm = "pat", .nccl_version = 22300};
    double seconds[3];
    for (int i = 0; i < 3; i++) {
        CollectivePlan plan = plan_with(arena, network, request, 16 << i, 1);
        EXPECT_TEXT(plan.algorithm, "pat");
        seconds[i] = plan.alone_seconds;
    }
    EXPECT_NEAR(seconds[2] - seconds[1], seconds[1] - seconds[0], 0.02);
    request.nccl_version = 22200;
    EXPECT_TEXT(plan_with(arena, network, request, 16, 1).algorithm, "ring");
    arena_close(arena);
}

TEST(switches_that_reduce_get_the_payload_once_however_many_nodes_there_are) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 32, infiniband(400));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 1e9, .algorithm = "collnet"};
    for (int nodes = 4; nodes <= 32; nodes *= 2) {
        CollectivePlan plan = plan_with(arena, network, request, nodes, 8);
        EXPECT_TEXT(plan.algorithm, "collnet");
        EXPECT_NEAR(weight_of_kind(network, &plan, 1, ".nic", ".out"),
                    1 / constant_rows[TRANSPORT_RATE + NET_INFINIBAND].value, 1e-6);
    }
    arena_close(arena);
}

// 16 channels of 512 KiB pass seven GPUs over NVLink and all NICs of a node for
// each further node.
TEST(a_broadcasts_chain_takes_a_chunk_inside_a_node_and_a_slower_one_between_nodes) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 8, infiniband(200));
    CollectiveRequest request = {.op = COLLECTIVE_BROADCAST, .protocol = &(Protocol){PROTOCOL_SIMPLE}, .bytes = 16e9};
    double four = plan_with(arena, network, request, 4, 8).alone_seconds;
    double more = plan_with(arena, network, request, 8, 8).alone_seconds - four; // the wires take the same
    double chunks = constant_rows[CHAIN_FILL].value * 16 * 524288.0;
    double inside = 4 * 7 * chunks / (300e9 * network_constant(NVLINK_SHARE)), between = 4 * chunks / (8 * 25e9);
    EXPECT(more > inside + between);       // and hops on top
    EXPECT(more < 2 * (inside + between)); // not all at the pace of the NICs
    arena_close(arena);
}

TEST(nvls_needs_nccl_2_17_and_its_tree_2_18) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 2, infiniband(400));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 4e9, .nccl_version = 21600};
    EXPECT(strcmp(plan_with(arena, network, request, 1, 8).algorithm, "nvls") != 0);
    request.nccl_version = 21700;
    EXPECT_TEXT(plan_with(arena, network, request, 1, 8).algorithm, "nvls");
    request.algorithm = "nvls_tree";
    EXPECT(strcmp(plan_with(arena, network, request, 2, 8).algorithm, "nvls_tree") != 0);
    request.nccl_version = 21800;
    EXPECT_TEXT(plan_with(arena, network, request, 2, 8).algorithm, "nvls_tree");
    arena_close(arena);
}

TEST(one_process_for_all_gpus_costs_a_launch_each_and_hides_at_large_sizes) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    CollectiveRequest request = {.op = COLLECTIVE_BROADCAST, .bytes = 8, .gpus_per_process = 8};
    double launches = 8e-6 * constant_rows[PROCESS_LAUNCH_TIME].value;
    double together = plan_with(arena, network, request, 1, 8).alone_seconds;
    request.gpus_per_process = 1;
    double apart = plan_with(arena, network, request, 1, 8).alone_seconds;
    EXPECT_NEAR(together, pow(pow(apart, 4) + pow(launches, 4), 0.25), 1e-9);
    request.bytes = 1e9;
    apart = plan_with(arena, network, request, 1, 8).alone_seconds;
    request.gpus_per_process = 8;
    EXPECT_NEAR(plan_with(arena, network, request, 1, 8).alone_seconds, apart, 1e-3);
    arena_close(arena);
}

TEST(ranks_that_share_a_gpu_wait_for_each_others_slices) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE, .bytes = 8};
    double alone = plan_with(arena, network, request, 2, 1).alone_seconds;
    request.ranks_per_gpu = 2;
    EXPECT_NEAR(plan_with(arena, network, request, 2, 1).alone_seconds - alone, 4e-3, 1e-9);
    arena_close(arena);
}
