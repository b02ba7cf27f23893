// Rank programs read from Chakra traces: the same as one written by hand; mistakes are told with node and file.
#include <stdlib.h>
#include <unistd.h>

#include "sim/data/wire.h"
#include "tests/chakra_files.h"
#include "tests/child.h"
#include "tests/test.h"

enum { METADATA = 1, LOAD, STORE, COMP, SEND, RECV, COLLECTIVE }; // et_def.proto
enum { ALL_REDUCE, REDUCE, ALL_GATHER };

static char folder[] = "/tmp/lockstep-chakra-XXXXXX";

static void write_file(const char *name, const void *data, size_t bytes) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    fwrite(data, 1, bytes, file);
    fclose(file);
}

static void write_rank(const ChakraFile *file, int rank) {
    char name[32];
    snprintf(name, sizeof name, "t.%d.et", rank);
    write_file(name, file->bytes, file->length);
}

static void begin(void) {
    snprintf(folder, sizeof folder, "/tmp/lockstep-chakra-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
}

// What a program of so many GPUs answers.
static const char *answer(int gpus, const char *what) {
    static char text[1 << 15], script[4096], line[512];
    snprintf(
        script, sizeof script,
        "local sim = require \"lockstep\"\nreturn sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = %d, "
        "fabric = \"ib-hdr200\" }, %s }\n",
        gpus, what);
    write_file("p.lua", script, strlen(script));
    snprintf(line, sizeof line, "$LOCKSTEP run %s/p.lua --json 2>&1", folder);
    test_shell(line, text, sizeof text);
    return text;
}

static void end(void) {
    char line[128], out[64];
    snprintf(line, sizeof line, "rm -r %s", folder);
    EXPECT_INT(test_shell(line, out, sizeof out), 0);
}

static double step_of(const char *text) {
    const char *at = strstr(text, "\"step_time_s\": {");
    at = at ? strstr(at, "\"p50\":") : NULL;
    if (!at) printf("%s\n", text);
    return at ? strtod(at + 6, NULL) : -1;
}

static void add_collective(ChakraFile *file, uint64_t id, uint64_t after, int type, uint64_t bytes, const char *group) {
    chakra_node(file, id, "reduce", COLLECTIVE);
    chakra_after(file, after);
    if (type) chakra_number(file, "comm_type", (uint64_t)type); // a 0 is not written
    chakra_number(file, "comm_size", bytes);
    if (group) chakra_text(file, "pg_name", group);
    chakra_end(file);
}

// Compute, a collective of all, one of a half, a message, a copy and an end that nothing takes.
TEST(a_trace_of_chakra_takes_what_the_same_by_hand_takes) {
    begin();
    for (int rank = 0; rank < 4; rank++) {
        ChakraFile file;
        chakra_begin(&file);
        chakra_node(&file, 10, "forward", COMP);
        chakra_takes(&file, 1000 + 500 * (uint64_t)rank);
        chakra_end(&file);
        add_collective(&file, 20, 10, ALL_REDUCE, 64 << 20, NULL);
        add_collective(&file, 21, 20, ALL_GATHER, 8 << 20, rank < 2 ? "first" : "7");
        chakra_node(&file, 30, "pass", rank % 2 ? RECV : SEND);
        chakra_after(&file, 21);
        chakra_number(&file, rank % 2 ? "comm_src" : "comm_dst", (uint64_t)(rank ^ 1));
        chakra_number(&file, "comm_size", 4 << 20);
        chakra_number(&file, "comm_tag", 5);
        chakra_end(&file);
        chakra_node(&file, 40, "matrices", COMP);
        chakra_after(&file, 30);
        chakra_number(&file, "num_ops", 2000000000000);
        chakra_number(&file, "tensor_size", 1 << 20);
        chakra_end(&file);
        chakra_node(&file, 50, "offload", STORE);
        chakra_after(&file, 40);
        chakra_number(&file, "tensor_size", 1 << 28);
        chakra_end(&file);
        chakra_node(&file, 60, "end", METADATA);
        chakra_after(&file, 50);
        chakra_end(&file);
        write_rank(&file, rank);
    }
    static const char groups[] = "{\"first\": [0, 1], \"7\": [2, 3]}";
    write_file("g.json", groups, sizeof groups - 1);
    double read = step_of(answer(4, "file = \"t.0.et\", communicators = \"g.json\", precision = \"bf16\""));
    double hand =
        step_of(answer(4, "precision = \"bf16\", rank = function(r) "
                          "r:compute { seconds = 1e-3 + 5e-4 * r.id } r:all_reduce { bytes = 64 * 2^20 } "
                          "local half = r.id < 2 and {0, 1} or {2, 3} "
                          "r:all_gather { bytes = 16 * 2^20, group = sim.group(half) } "
                          "if r.id % 2 == 0 then r:send { to = r.id + 1, bytes = 4 * 2^20, tag = 5 } "
                          "else r:recv { from = r.id - 1, tag = 5 } end "
                          "r:compute { flops = 2e12, bytes = 2^20 } r:copy { to = \"host\", bytes = 2^28 } end"));
    EXPECT(read > 0);
    EXPECT_NEAR(read, hand, 1e-12);
    end();
}

// Collectives of one communicator go in the order of the file; what does not depend on them runs beside them.
TEST(collectives_of_a_trace_meet_in_its_order_and_hide_behind_work) {
    begin();
    for (int rank = 0; rank < 2; rank++) {
        ChakraFile file;
        chakra_begin(&file);
        for (uint64_t layer = 0; layer < 3; layer++) {
            chakra_node(&file, 10 * layer + 1, "backward", COMP);
            chakra_takes(&file, 20000);
            if (layer > 0) chakra_after(&file, 10 * layer - 9);
            chakra_end(&file);
            add_collective(&file, 10 * layer + 2, 10 * layer + 1, ALL_REDUCE, 16 << 20, NULL);
        }
        write_rank(&file, rank);
    }
    double step = step_of(answer(2, "file = \"t.1.et\""));
    double alone = step_of(answer(2, "rank = function(r) r:all_reduce { bytes = 16 * 2^20 } end"));
    EXPECT_NEAR(step, 0.06 + alone, 1e-9);
    end();
}

TEST(mistakes_in_a_trace_are_told_with_its_file) {
    static const struct {
        int id, kind, after;
        const char *attribute, *what, *says;
    } cases[] = {
        {1, 9, 0, NULL, "", "node 1 (n) is of no kind that is known (9)"},
        {1, COMP, 5, NULL, "", "waits for a node 5, which the file lacks"},
        {1, COMP, 1, NULL, "", "node 1 (n) comes before itself"},
        {1, COLLECTIVE, 0, NULL, "", "does not say how many bytes it sends"},
        {1, COLLECTIVE, 0, "comm_type", "", "is no collective that is known"},
        {1, SEND, 0, "comm_dst", "", "does not say another rank of the 2 that there are"},
        {1, COLLECTIVE, 0, "pg_name", "", "communicator \"42\", and nothing says who is in it"},
        {1, COLLECTIVE, 0, "pg_name", "communicators = \"g.json\"", "g.json:1: error: this is no rank of the cluster"},
    };
    static const char groups[] = "{\"42\": [0, 2]}";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[128];
        ChakraFile file;
        begin();
        chakra_begin(&file);
        chakra_node(&file, (uint64_t)cases[i].id, "n", cases[i].kind);
        if (cases[i].after) chakra_after(&file, (uint64_t)cases[i].after);
        if (cases[i].attribute) chakra_number(&file, cases[i].attribute, 42);
        chakra_end(&file);
        write_rank(&file, 0);
        write_file("g.json", groups, sizeof groups - 1);
        snprintf(what, sizeof what, "file = \"t.0.et\", %s", cases[i].what);
        EXPECT_CONTAINS(answer(2, what), cases[i].says);
        end();
    }
    begin();
    EXPECT_CONTAINS(answer(2, "file = \"t.et\""), "does not say which rank it is of");
    write_file("t.0.et", "\x7fwhat is this", 13);
    EXPECT_CONTAINS(answer(2, "file = \"t.0.et\""), "this is no Chakra trace, or only the beginning of one");
    write_file("t.0.et", "\x1f\x8b", 2);
    EXPECT_CONTAINS(answer(2, "file = \"t.0.et\""), "this file is packed");
    end();
}

TEST(messages_of_traces_that_do_not_meet_are_told_by_their_nodes) {
    ChakraFile file;
    begin();
    for (int rank = 0; rank < 2; rank++) {
        chakra_begin(&file);
        chakra_node(&file, 1, rank ? "takes" : "gives", rank ? RECV : SEND);
        chakra_number(&file, rank ? "comm_src" : "comm_dst", (uint64_t)!rank);
        chakra_number(&file, "comm_size", rank ? 20 : 10);
        chakra_end(&file);
        write_rank(&file, rank);
    }
    const char *said = answer(2, "file = \"t.0.et\"");
    EXPECT_CONTAINS(said, "rank 1 expects 20 B from rank 0 with tag 0, which sends 10 B in \"gives\"");
    EXPECT(!strstr(said, "line 0"));
    end();
}

TEST(numbers_of_protocol_buffers_are_read_as_their_encoding_says) {
    static const char data[] = "\x08\x96\x01\x11\0\0\0\0\0\0\xf8\x3f\x1d\0\0\x20\x40\x20\x03\x2a\x01\x41";
    Wire wire = wire_of(data, sizeof data - 1);
    WireField field;
    EXPECT(wire_next(&wire, &field) && field.number == 1 && field.value == 150); // the page's own example
    EXPECT(wire_next(&wire, &field) && field.number == 2 && wire_double(field) == 1.5);
    EXPECT(wire_next(&wire, &field) && field.number == 3 && wire_float(field) == 2.5);
    EXPECT(wire_next(&wire, &field) && field.number == 4 && wire_zigzag(field) == -2);
    EXPECT(wire_next(&wire, &field) && field.number == 5 && field.bytes == 1 && *field.data == 'A');
    EXPECT(!wire_next(&wire, &field) && !wire.broken);
    for (size_t cut = 1; cut < sizeof data - 1; cut++) {
        wire = wire_of(data, cut);
        while (wire_next(&wire, &field)) {}
        bool between = cut == 3 || cut == 12 || cut == 17 || cut == 19;
        EXPECT(wire.broken == !between);
    }
    wire = wire_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11); // longer than 64 bits
    EXPECT(!wire_next(&wire, &field) && wire.broken);
}
