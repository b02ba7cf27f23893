// Rank programs read from layers (ASTRA-sim 1, SimAI): the same as one written by hand; mistakes at their line.
#include <stdlib.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/test.h"

static char folder[] = "/tmp/lockstep-layers-XXXXXX";

static void write_text(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    fputs(text, file);
    fclose(file);
}

// What a program of 16 GPUs in two nodes answers, of layers or by hand.
static const char *answer(const char *what, const char *layers) {
    static char text[1 << 15], script[4096], line[512];
    snprintf(folder, sizeof folder, "/tmp/lockstep-layers-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(script, sizeof script,
             "local sim = require \"lockstep\"\nlocal function ranks(first, stride, count) local all = {} "
             "for i = 0, count - 1 do all[i + 1] = first + i * stride end return sim.group(all) end\n"
             "return sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = \"ib-hdr200\" }, %s }\n",
             what);
    write_text("p.lua", script);
    write_text("w.txt", layers);
    snprintf(line, sizeof line, "$LOCKSTEP run %s/p.lua --json 2>&1", folder);
    test_shell(line, text, sizeof text);
    snprintf(line, sizeof line, "rm -r %s", folder);
    EXPECT_INT(test_shell(line, script, sizeof script), 0);
    return text;
}

static double step_of(const char *text) {
    const char *at = strstr(text, "\"step_time_s\": {");
    at = at ? strstr(at, "\"p50\":") : NULL;
    if (!at) printf("%s\n", text);
    return at ? strtod(at + 6, NULL) : -1;
}

static double layers_step(const char *layers) { return step_of(answer("file = \"w.txt\"", layers)); }

static double hand_step(const char *rank) {
    static char what[4096];
    snprintf(what, sizeof what, "rank = function(r) %s end", rank);
    return step_of(answer(what, ""));
}

// Gradients of the last layer are exchanged behind the rest of the backward pass; the update waits for them.
TEST(layers_of_data_take_what_the_same_by_hand_takes) {
    double read = layers_step("DATA\n2\n"
                              "conv1\t-1\t1000000\tNONE\t0\t2000000\tNONE\t0\t3000000\tALLREDUCE\t2147483648\t50000\n"
                              "conv2\t-1\t1500000\tNONE\t0\t2500000\tNONE\t0\t3500000\tALLREDUCE\t268435456\t70000\n");
    double hand = hand_step(
        "local c = r:stream \"c\" r:compute { seconds = 2.5e-3 } r:compute { seconds = 3.5e-3 } r:record \"a\" "
        "c:wait \"a\" c:all_reduce { bytes = 2^28 } c:record \"b\" "
        "r:compute { seconds = 2.5e-3 } r:compute { seconds = 3e-3 } r:record \"d\" "
        "c:wait \"d\" c:all_reduce { bytes = 2^31 } c:record \"e\" "
        "r:compute { seconds = 2e-3 } r:wait \"b\" r:compute { seconds = 7e-5 } r:wait \"e\" "
        "r:compute { seconds = 5e-5 }");
    EXPECT(read > 15e-3); // the last exchange is longer than what it hides behind
    EXPECT_NEAR(read, hand, 1e-12);
}

// SimAI's: tensor groups of four, experts of two of the four replicas; an all-gather is counted by what comes out.
TEST(layers_of_transformers_meet_in_their_groups) {
    double read = layers_step(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 16 checkpoints: 0 "
        "checkpoint_initiates: 0 pp_comm 0\n2\n"
        "attention -1 100000 ALLGATHER 8388608 100000 REDUCESCATTER 8388608 100000 NONE 0 0\n"
        "experts -1 200000 ALLTOALL_EP 4194304 300000 ALLTOALL_EP 4194304 400000 ALLREDUCE_DP_EP 33554432 1000\n");
    double hand = hand_step(
        "local t, d = r.id % 4, r.id // 4 "
        "local tp, ep, de = ranks(r.id - t, 1, 4), ranks(t + 4 * (d - d % 2), 4, 2), ranks(t + 4 * (d % 2), 8, 2) "
        "local tpc, epc, dec = r:stream \"tp\", r:stream \"ep\", r:stream \"de\" local n = 0 "
        "local function meet(s, f) n = n + 1 local a, b = \"a\" .. n, \"b\" .. n r:record(a) s:wait(a) f(s) "
        "s:record(b) return b end "
        "r:compute { seconds = 1e-4 } "
        "r:wait(meet(tpc, function(s) s:all_gather { bytes = 2^23, group = tp } end)) "
        "r:compute { seconds = 2e-4 } "
        "r:wait(meet(epc, function(s) s:all_to_all { bytes = 2^22, group = ep } end)) "
        "r:compute { seconds = 4e-4 } "
        "local sent = meet(dec, function(s) s:all_reduce { bytes = 2^25, group = de } end) "
        "r:compute { seconds = 3e-4 } "
        "r:wait(meet(epc, function(s) s:all_to_all { bytes = 2^22, group = ep } end)) "
        "r:compute { seconds = 1e-4 } r:compute { seconds = 1e-4 } "
        "r:wait(meet(tpc, function(s) s:reduce_scatter { bytes = 2^23, group = tp } end)) "
        "r:wait(sent) r:compute { seconds = 1e-6 }");
    EXPECT(read > 1.2e-3);
    EXPECT_NEAR(read, hand, 1e-12);
}

// Of a model in one group, gradients of inputs travel while those of weights are computed; ASTRA-sim counts an
// all-gather by what a rank puts in.
TEST(layers_of_a_model_exchange_beside_gradients_of_weights) {
    double read = layers_step("MODEL\n1\nfc -1 1000 ALLGATHER 1048576 2000 ALLREDUCE 16777216 900000 NONE 0 0\n");
    double hand = hand_step("local c = r:stream \"c\" r:compute { seconds = 1e-6 } r:record \"a\" "
                            "c:wait \"a\" c:all_gather { bytes = 16 * 2^20 } c:record \"b\" r:wait \"b\" "
                            "r:compute { seconds = 2e-6 } r:record \"d\" c:wait \"d\" "
                            "c:all_reduce { bytes = 2^24 } r:compute { seconds = 9e-4 }");
    EXPECT(read > 9e-4);
    EXPECT_NEAR(read, hand, 1e-12);
}

// Forward again from the checkpoint before layer 2: layers 0 and 1 once more.
TEST(layers_are_computed_again_from_their_checkpoint) {
    static const char layers[] = "3\na -1 1000 NONE 0 0 NONE 0 0 NONE 0 0\nb -1 20000 NONE 0 0 NONE 0 0 NONE 0 0\n"
                                 "c -1 300000 NONE 0 0 NONE 0 0 NONE 0 0\n";
    char text[512];
    snprintf(text, sizeof text, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1\n%s", layers);
    EXPECT_NEAR(layers_step(text), 321e-6, 1e-12);
    snprintf(
        text, sizeof text,
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: 1 2\n%s",
        layers);
    EXPECT_NEAR(layers_step(text), 342e-6, 1e-12);
}

TEST(mistakes_in_layers_are_told_at_their_line) {
    static const struct {
        const char *layers, *says;
    } cases[] = {
        {"HYBRID_DLRM 3\n", "w.txt:1: error: layers that train as HYBRID_DLRM are not known"},
        {"HYBRID_DATA_MODEL\n0\n", "w.txt:1: error: this line does not say how many ranks share a model"},
        {"MODEL all_gpus: 8\n0\n", "w.txt:1: error: the file is of 8 GPUs, the cluster has 16"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 5\n", "w.txt:1: error: 16 GPUs are not divided by 5 x 1"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 3\n", "and then by 3"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: x\n", "model_parallel_NPU_group is no number"},
        {"DATA what: 3\n", "w.txt:1: error: \"what\" is not understood here"},
        {"DATA checkpoints: 2 0\n", "this list names fewer layers than it says"},
        {"DATA checkpoints: 1 4\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "there is no layer 4 for a checkpoint"},
        {"DATA\nx\n", "w.txt:2: error: the second line does not say how many layers"},
        {"DATA\n1\na -1 1 NONE 0\n", "w.txt:3: error: this line has 5 columns; a layer has 12"},
        {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_X 9 1\n", "\"ALLREDUCE_X\" is no collective that is known"},
        {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE lots 1\n", "\"lots\" is no number of bytes"},
        {"DATA\n1\na -1 soon NONE 0 1 NONE 0 1 NONE 0 1\n", "\"soon\" is no time"},
        {"DATA\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "the file says 2 layers and has 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = answer("file = \"w.txt\"", cases[i].layers);
        if (!strstr(text, cases[i].says)) printf("%s\n%s\n", cases[i].layers, text);
        EXPECT(strstr(text, cases[i].says) != NULL);
    }
}

// What is computed again and again from one checkpoint ends at the limit of the script's memory.
TEST(layers_that_would_be_computed_again_without_end_are_refused) {
    static char text[1 << 20];
    enum { LAYERS = 8000 };
    char *at =
        text +
        sprintf(text, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoint_initiates: %d", LAYERS);
    for (int i = 0; i < LAYERS; i++) at += sprintf(at, " %d", i);
    at += sprintf(at, "\n%d\n", LAYERS);
    for (int i = 0; i < LAYERS; i++) at += sprintf(at, "a -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n");
    EXPECT(strstr(answer("file = \"w.txt\"", text), "takes more than its 256 MiB of memory") != NULL);
}

TEST(layers_of_a_pipelines_stage_say_what_is_not_in_them) {
    const char *text = answer("file = \"w.txt\"", "HYBRID_TRANSFORMER model_parallel_NPU_group: 4 pp: 2\n1\n"
                                                  "a -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 1024 1\n");
    EXPECT(strstr(text, "says nothing of when 2 stages wait for each other") != NULL);
    EXPECT(step_of(text) > 1e-6);
}
