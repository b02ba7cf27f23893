// Fabrics read from what clusters have: Slurm's topology.conf and what ibnetdiscover prints.
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/collective_asked.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

static FabricShown shown(Arena *arena, const char *text, Problems *problems) {
    FabricFile file = {.path = "f.conf", .text = arena_copy_text(arena, text)};
    return fabric_file_read(arena, &file, problems);
}

static const char *complaint(Arena *arena, const char *text) {
    Problems *problems = problems_create(arena);
    FabricShown fabric = shown(arena, text, problems);
    if (fabric.shape || problem_count(problems) == 0) return "nothing";
    const Problem *problem = problem_at(problems, 0);
    return arena_printf(arena, "%d: %s", problem->where.line, problem->text);
}

typedef struct Listed {
    Arena *arena;
    const char *text;
    int most;
} Listed;

static bool list(void *context, const char *name) {
    Listed *listed = context;
    listed->text = arena_printf(listed->arena, "%s%s ", listed->text, name);
    return --listed->most > 0;
}

static const char *names_of(Arena *arena, const char *text) {
    Listed listed = {arena, "", 20};
    const char *why;
    bool done = hostlist_walk(text, list, &listed, &why);
    return done ? listed.text : why ? why : arena_printf(arena, "%s…", listed.text);
}

TEST(lists_of_hosts_are_read_as_slurm_writes_them) {
    Arena *arena = arena_open();
    EXPECT_TEXT(names_of(arena, "a"), "a ");
    EXPECT_TEXT(names_of(arena, "n[8-11,099-100]x,login"), "n8x n9x n10x n11x n099x n100x login ");
    EXPECT_TEXT(names_of(arena, "r[1-2]n[0,3]"), "r1n0 r1n3 r2n0 r2n3 ");
    EXPECT_CONTAINS(names_of(arena, "n[0-99999999999]"), "n18 n19 …");
    EXPECT_CONTAINS(names_of(arena, "n[1-2"), "no ]");
    EXPECT_CONTAINS(names_of(arena, "n[]"), "holds no numbers");
    EXPECT_CONTAINS(names_of(arena, "n[1-]"), "holds no numbers and ranges");
    EXPECT_CONTAINS(names_of(arena, "n[5-3]"), "ends before it begins");
    EXPECT_CONTAINS(names_of(arena, "a,,b"), "empty");
    char *longest = arena_alloc(arena, 10001);
    memset(longest, 'n', 10000);
    EXPECT_CONTAINS(names_of(arena, longest), "more than 255 letters");
    arena_close(arena);
}

TEST(an_even_topology_of_slurm_is_a_fat_tree_and_another_is_drawn) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const FabricShape *even = shown(arena,
                                    "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=c Nodes=n9\n"
                                    "SwitchName=top Switches=a,b,c\n",
                                    problems)
                                  .shape;
    EXPECT(even && even->kind == FABRIC_FAT_TREE);
    EXPECT_INT(even->nodes_per_leaf, 4);
    EXPECT_INT(even->places, 9);
    const FabricShape *drawn = shown(arena,
                                     "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[5-8]\nSwitchName=c Nodes=n9\n"
                                     "SwitchName=top Switches=a,b,c\n",
                                     problems)
                                   .shape;
    EXPECT(drawn && drawn->kind == FABRIC_GRAPH);
    EXPECT_INT(drawn->graph->switch_count, 4);
    EXPECT_INT(drawn->graph->node_count, 7);
    EXPECT_NEAR(drawn->graph->cables[1].node_rates, 4, 1e-12);
    const FabricShape *blocks =
        shown(arena, "BlockName=a Nodes=n[1-18]\nBlockName=b Nodes=n[19-36]\nBlockSizes=18,36\n", problems).shape;
    EXPECT(blocks && blocks->kind == FABRIC_FAT_TREE);
    EXPECT_INT(blocks->nodes_per_leaf, 18);
    EXPECT_INT(blocks->nodes_per_pod, 36);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

#define INFRA                                                                                                          \
    "devices:\n- {name: h, components: [{name: gpu, choice: xpu}, {name: nic, choice: nic}]}\n"                        \
    "instances:\n- {name: a, device: h, count: 2}\n"

TEST(mistakes_in_files_of_fabrics_are_told_at_their_line) {
    static const struct {
        const char *text, *complaint;
    } rows[] = {
        {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "1: switch \"a\" is above itself"},
        {"SwitchName=a Nodes=n1 Switches=a\n", "1: switch \"a\" is above itself"},
        {"SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n2\n", "2: node \"n2\" is under \"a\" already"},
        {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "2: \"a\" stands on line 1 already"},
        {"SwitchName=a Nodes=n1\nSwitchName=top Switches=a,b\n", "2: there is no switch \"b\""},
        {"SwitchName=a Nodes=n[1-2\n", "1: Nodes=n[1-2: a [ has no ]"},
        {"SwitchName=a\n", "1: \"a\" has neither Nodes= nor Switches="},
        {"SwitchName=a Nodes=n1\nNodes=n2\n", "2: these nodes belong to no switch"},
        {"# two\nSwitchName=a Nods=n1\n", "2: topology.conf has no \"Nods\""},
        {"SwitchName=a Nodes=n[0-99999999]\n", "1: the file names more than 200000 nodes"},
        {"RingName=a Nodes=n[0-9]\n", "1: rings of nodes are not read"},
        {"BlockName=a Nodes=n[0-9]\nBlockName=b Nodes=n[10-12]\nBlockName=c Nodes=n[13-20]\n",
         "0: its blocks have different"},
        {"BlockName=a Nodes=n1\nBlockSizes=4,6\n", "2: BlockSizes=4,6 is no list of sizes"},
        {"SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Nodes=\n", "3: Nodes=: a name is empty"},
        {"SwitchName=\x1b[2J Nodes=n[1\n", "1: Nodes=n[1"},
        {INFRA "- {name: b, device: x}\nedges: []\n", "5: an instance of no device"},
        {INFRA "edges:\n- {ep1: {instance: a, component: nic}}\n", "6: an end of this edge names no component"},
        {INFRA "edges:\n- {ep1: {instance: 'a[0:9]', component: nic}, ep2: {instance: a, component: nic}}\n",
         "6: an end of this edge names no component"},
        {INFRA "edges:\n- {ep1: {instance: a, component: nic}, ep2: {instance: 'a[0]', component: nic}}\n",
         "6: 2 ends and 1 are no pairs"},
        {INFRA "edges:\n- {ep1: {instance: a, component: nic}, ep2: {instance: a, component: nic}, scheme: ring}\n",
         "6: it joins hosts without a switch"},
        {INFRA "edges: []\n", "says of no node on which switch"},
        {"hello\n", "0: this shows no fabric that is known"},
        {"", "0: this shows no fabric that is known"},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_CONTAINS(complaint(arena, rows[i].text), rows[i].complaint);
    arena_close(arena);
}

#define LEAF "Switch\t40 \"S-1\"\t# \"leaf\" enhanced port 0 lid 1 lmc 0\n"

// Adapters that nobody named are all "localhost HCA-1".
TEST(hosts_that_names_do_not_tell_apart_are_refused) {
    static char text[8192] = LEAF;
    Arena *arena = arena_open();
    for (int i = 2; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%d]\t\"H-%d\"[1](2) # \"localhost HCA-1\" 4xNDR\n",
                 i, i);
    EXPECT_CONTAINS(complaint(arena, text), "host \"localhost\" would have more than 32 NICs");
    arena_close(arena);
}

TEST(mistakes_in_what_ibnetdiscover_prints_are_told_at_their_line) {
    static const struct {
        const char *text, *complaint;
    } rows[] = {
        {LEAF "[1]\t\"H-2\"[1](2) # \"n1 mlx5_0\" lid 3\n", "2: this port does not say its width and speed"},
        {LEAF "[1]\n", "2: this port does not say what hangs on it"},
        {LEAF "[1] \"H-2\"[x]\n", "2: this port does not say what hangs on it"},
        {LEAF, "0: no adapter of it hangs on a switch"},
        {LEAF "[1]\t\"S-2\"[1] # \"spine\" lid 3 4xNDR\n", "0: no adapter of it hangs on a switch"},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_CONTAINS(complaint(arena, rows[i].text), rows[i].complaint);
    arena_close(arena);
}

// One end of each cable is enough, and both ends are one cable.
TEST(cables_count_once_whichever_ends_are_listed) {
    static const char *const ends[] = {
        LEAF "[1]\t\"H-2\"[1](2) # \"n1 mlx5_0\" lid 3 4xNDR\n[2]\t\"S-9\"[7] # \"top\" lid 3 4xNDR\n",
        LEAF "[1]\t\"H-2\"[1](2) # \"n1 mlx5_0\" lid 3 4xNDR\n[2]\t\"S-9\"[7] # \"top\" lid 3 4xNDR\n\n"
             "Switch 4 \"S-9\" # \"top\"\n[7] \"S-1\"[2] # \"leaf\" lid 1 4xNDR\n\nCa 1 \"H-2\" # \"n1 mlx5_0\"\n"
             "[1](2) \"S-1\"[1] # lid 3 lmc 0 \"leaf\" lid 1 4xNDR\n"};
    Arena *arena = arena_open();
    for (int i = 0; i < 2; i++) {
        Problems *problems = problems_create(arena);
        FabricShown fabric = shown(arena, ends[i], problems);
        EXPECT(fabric.shape != NULL);
        EXPECT_TEXT(fabric.rate_word, "ib-ndr400");
        EXPECT_INT(fabric.shape->graph->node_count, 1);
        EXPECT_INT(fabric.shape->graph->cable_count, 1);
        EXPECT_NEAR(fabric.shape->graph->cables[0].bytes_per_second, 50e9, 1e-12);
        EXPECT_TEXT(fabric.shape->graph->switch_names[0], "leaf S-1");
    }
    arena_close(arena);
}

static const Ended *collective(const char *fabric) {
    char line[256];
    snprintf(line, sizeof line, "collective all_to_all --node dgx-a100 --nodes 8 --sizes 64M --csv --fabric %s",
             fabric);
    return run_command(command_collective, line);
}

TEST(what_a_file_does_not_say_of_a_fabric_is_asked_for) {
    const Ended *ended = collective("tests/data/fabrics/slurm_even.conf");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "slurm_even.conf does not say how fast its links are");
    EXPECT_CONTAINS(ended->err, "--fabric ib-ndr400:tests/data/fabrics/slurm_even.conf");
    EXPECT_CONTAINS(ended->err,
                    "note: tests/data/fabrics/slurm_even.conf does not say how fast its switches are joined");
    ended = collective("ib-ndr400:tests/data/fabrics/ibnetdiscover.txt");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "has ib-hdr200 (InfiniBand HDR, 200 Gb/s), and not ib-ndr400");
    ended = collective("ib-hdr200:tests/data/fabrics/slurm_even.conf:oversubscription=0");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "\"oversubscription=0\" behind a file");
    ended = collective("tests/data/fabrics/ibnetdiscover.txt:oversubscription=2");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "it says how its switches are joined");
    ended = run_command(command_collective, "collective all_to_all --node dgx-a100 --nodes 9 --sizes 64M --fabric "
                                            "ib-hdr200:tests/data/fabrics/slurm_even.conf");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "the fabric has places for 8 nodes, and the cluster has 9");
}

TEST(a_fabric_from_a_file_is_the_same_as_one_said_by_kind) {
    Arena *arena = arena_open();
    const char *drawn = arena_copy_text(arena, collective("ib-ndr400:tests/data/fabrics/leaf_spine.json")->out);
    EXPECT_TEXT(collective("ib-ndr400:tests/data/fabrics/infragraph.yaml")->out, drawn);
    const char *file =
        arena_copy_text(arena, collective("ib-hdr200:tests/data/fabrics/slurm_even.conf:oversubscription=2")->out);
    const char *said = arena_copy_text(
        arena, collective("ib-hdr200:fat_tree:nodes_per_leaf=2:nodes_per_pod=4:oversubscription=2")->out);
    EXPECT_TEXT(file, said);
    EXPECT_CONTAINS(collective("tests/data/fabrics/ibnetdiscover.txt")->out, "leaf");
    arena_close(arena);
}

// A store does not go on with another fabric because the file's name is the same.
TEST(a_sweep_knows_its_fabric_by_what_its_file_says) {
    static char out[1 << 14], text[4096];
    char folder[] = "/tmp/lockstep-fabric-XXXXXX";
    EXPECT(mkdtemp(folder) != NULL);
    static const char sweep[] = "$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --fabric "
                                "ib-hdr200:t.conf:oversubscription=4 --micro-batch 1 "
                                "--vary gpus=16 -j 1 -o s.db 2>&1";
    snprintf(text, sizeof text,
             "LOCKSTEP=$(realpath $LOCKSTEP); cd %s; echo 'SwitchName=a Nodes=n[1-4]' > t.conf; %s; %s; echo "
             "'SwitchName=b Nodes=n[5-8]' >> t.conf; echo 'SwitchName=t Switches=a,b' >> t.conf; %s; rm -r %s",
             folder, sweep, sweep, sweep, folder);
    test_shell(text, out, sizeof out);
    EXPECT_CONTAINS(out, "1 of 1 points, 1 simulated now");
    EXPECT_CONTAINS(out, "1 of 1 points, 0 simulated now");
    const char *last = strstr(out, "0 simulated now");
    EXPECT(last && (strstr(last, "1 simulated now") || strstr(last, "error")));
}

// Each fabric of a plan is a row, and a cluster that it has no places for a row with the reason.
TEST(a_plan_takes_the_fabrics_and_nodes_that_files_show) {
    static const char job[] = "plan --model gpt2-124m --tokens 1B --global-batch 64 --tp 1 --pp 1 -j 1";
    char line[1024];
    snprintf(line, sizeof line, "%s --node dgx-a100 --gpus 16,128 --fabric ib-hdr200,ib-hdr200:%s -v", job,
             "tests/data/fabrics/slurm_even.conf:oversubscription=2");
    const Ended *ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "the fabric has places for 8 nodes, and the cluster has 16");
    EXPECT_CONTAINS(ended->out, "ib-hdr200:tests/data/fabrics/slurm_even.conf:oversubscription=2");
    snprintf(line, sizeof line, "%s --gpus 4 --node shared/topo.txt", job);
    EXPECT_CONTAINS(run_command(command_plan, line)->err, "cannot be read");
    snprintf(line, sizeof line, "%s --gpus 8 --node dgx-a100 --gpu H100", job);
    EXPECT_CONTAINS(run_command(command_plan, line)->err, "--node is no file");
}

// Every question about machines reads a node's file, with the GPU that the hint asks for.
TEST(a_nodes_file_is_read_at_every_door) {
    static const char *const doors[] = {
        "cost --gpus 8",
        "power --gpus 8",
        "goodput --gpus 8 --days 1",
        "queue --gpus 8 --load 0.5 --jobs 200",
        "topo",
        "collective all_reduce --sizes 1M",
        "plan --model gpt2-124m --gpus 8 --tokens 1B --global-batch 64 --tp 1 --pp 1",
    };
    static char out[1 << 14];
    char line[512];
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        static const char node[] = "--node tests/fuzz/corpus_topo/v100_sxm2_x8_1nic_hybridmesh.txt";
        snprintf(line, sizeof line, "$LOCKSTEP %s %s 2>&1", doors[i], node);
        EXPECT_INT(test_shell(line, out, sizeof out), 4);
        EXPECT_CONTAINS(out, "does not say which GPUs these are");
        snprintf(line, sizeof line, "$LOCKSTEP %s %s --gpu V100-SXM2-16GB 2>&1", doors[i], node);
        EXPECT_INT(test_shell(line, out, sizeof out), 0);
        snprintf(line, sizeof line, "$LOCKSTEP %s --node dgx-h100 --gpu V100-SXM2-16GB 2>&1", doors[i]);
        test_shell(line, out, sizeof out);
        EXPECT_CONTAINS(out, "--node is no file");
    }
}
