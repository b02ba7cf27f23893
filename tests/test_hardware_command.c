// lockstep hw: what it prints and how it ends.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/hardware/parts.h"
#include "tests/command.h"
#include "tests/test.h"

int command_hw(int argc, char **argv);

static const Ended *hw(const char *line) { return run_command(command_hw, line); }

TEST(hw_list_shows_each_kind_of_part) {
    const Ended *ended = hw("hw list");
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    EXPECT_CONTAINS(ended->out, "H100-SXM5-80GB");
    EXPECT_CONTAINS(ended->out, "dgx-h100");
    EXPECT_CONTAINS(ended->out, "ib-ndr400");
    EXPECT_CONTAINS(ended->out, "nfs-1gbe");
    ended = hw("hw list fabric");
    EXPECT_CONTAINS(ended->out, "ib-ndr400");
    EXPECT(!strstr(ended->out, "dgx-h100"));
    EXPECT_INT(hw("hw list nodes")->code, 0);
    ended = hw("hw list storage --json");
    EXPECT_CONTAINS(ended->out, "\"format_version\": 1");
    EXPECT_CONTAINS(ended->out, "\"part\": \"storage\"");
}

TEST(hw_show_tells_value_unit_kind_and_source) {
    const Ended *ended = hw("hw show H100 -v");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "GPU H100-SXM5-80GB\n");
    EXPECT_CONTAINS(ended->out, "3350 GB/s");
    EXPECT_CONTAINS(ended->out, "datasheet");
    EXPECT_CONTAINS(ended->out, "fitted");
    EXPECT_CONTAINS(ended->out, "lockstep calibrate fit on GEMMs");
    EXPECT_CONTAINS(ended->out, "33600 USD");
    EXPECT_CONTAINS(ended->out, "Matrix rates of this GPU's own are those of fp32, tf32, fp16, bf16, fp8;");
    EXPECT_CONTAINS(hw("hw show RTX4080")->out, "No matrix rate was measured on this GPU");
    ended = hw("hw show dgx-a100 -v");
    EXPECT_CONTAINS(ended->out, "node dgx-a100-80gb");
    EXPECT_CONTAINS(ended->out, "launch list price");
    ended = hw("hw show t4"); // a GPU and the cloud instance with one
    EXPECT_CONTAINS(ended->out, "GPU T4");
    EXPECT_CONTAINS(ended->out, "node azure-nc4as-t4-v3");
    ended = hw("hw show --json A30:1g.6gb");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\"name\": \"A30:1g.6gb\"");
    EXPECT_CONTAINS(ended->out, "\"unit\": \"B/s\"");
}

TEST(hw_errors_end_with_their_code_and_a_remedy) {
    const Ended *ended = hw("hw show H10O");
    EXPECT_INT(ended->code, 4);
    EXPECT_TEXT(ended->out, "");
    EXPECT_TEXT(ended->err,
                "error: no GPU, node, fabric, storage, set of fault rates or price is called \"H10O\"\n  hint: "
                "did you mean \"H100\"?\n");
    ended = hw("hw show A100:9g.9gb");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "no MIG profile \"9g.9gb\"");
    ended = hw("hw list gpuz");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "did you mean \"gpu\"?");
    EXPECT_INT(hw("hw shw H100")->code, 2);
    EXPECT_INT(hw("hw show")->code, 2);
    EXPECT_INT(hw("hw show a b")->code, 2);
    EXPECT_INT(hw("hw --jsn")->code, 2);
    EXPECT_INT(hw("hw check /nowhere.json")->code, 4);
    EXPECT_INT(hw("hw check models/hardware/catalogue")->code, 4);
    EXPECT_INT(hw("hw list --profile /nowhere.json")->code, 4);
    EXPECT_INT(hw("hw --help")->code, 0);
}

TEST(hw_check_reads_the_catalogue_s_own_files) {
    EXPECT_INT(hw("hw check models/hardware/catalogue/gpus.json")->code, 0);
    EXPECT_INT(hw("hw check models/hardware/catalogue/nodes.json")->code, 0);
    EXPECT_INT(hw("hw check models/hardware/catalogue/links.json")->code, 0);
    const Ended *ended = hw("hw check models/hardware/catalogue/storages.json");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "sound");
}

// ---- What is shown is a file of parts.

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static bool same_facts(const Fact *a, const Fact *b) {
    return same_text(a->unit, b->unit) && same_text(a->source, b->source) && a->kind == b->kind &&
           !(a->value < b->value) && !(a->value > b->value) && fabs(a->sigma - b->sigma) < 1e-15;
}

static bool same_fields(const PartField *field, const char *a, const char *b) {
    const char *at = a + field->offset, *other = b + field->offset;
    int count = field->type == PART_FIELD_NAMES ? *(const int *)(a + field->count_offset) : 0;
    switch (field->type) {
    case PART_FIELD_TEXT:
        return same_text(*(const char *const *)at, *(const char *const *)other);
    case PART_FIELD_NAMES:
        for (int i = 0; i < count; i++)
            if (!same_text((*(const char *const *const *)at)[i], (*(const char *const *const *)other)[i])) return false;
        return count == *(const int *)(b + field->count_offset);
    case PART_FIELD_BOOL:
        return *(const bool *)at == *(const bool *)other;
    case PART_FIELD_YEAR:
    case PART_FIELD_CHOICE:
    case PART_FIELD_INT:
        return *(const int *)at == *(const int *)other;
    case PART_FIELD_NUMBER:
        break;
    }
    return memcmp(at, other, sizeof(double)) == 0;
}

static void expect_same_part(PartKind kind, const void *a, const void *b) {
    int facts, others, aliases, other_aliases;
    const Fact *fact = part_facts(kind, a, &facts), *other = part_facts(kind, b, &others);
    const char *const *alias = part_aliases(kind, a, &aliases), *const *again = part_aliases(kind, b, &other_aliases);
    bool same = facts == others && aliases == other_aliases && same_text(part_name(a), part_name(b));
    for (int i = 0; same && i < aliases; i++) same = same_text(alias[i], again[i]);
    for (int i = 0; same && i < facts; i++) {
        const Fact *found = fact_find(other, others, fact[i].name);
        same = found && same_facts(&fact[i], found);
    }
    for (int i = 0; same && i < part_tables[kind].field_count; i++) {
        same = same_fields(&part_tables[kind].fields[i], a, b);
        if (!same) printf("  %s\n", part_tables[kind].fields[i].key);
    }
    if (!same) test_fail(__FILE__, __LINE__, "%s %s reads back as another", part_tables[kind].said, part_name(a));
}

// The whole catalogue is printed, read as a user's file, and must be what it was: GPUs, nodes, links, storages, fault
// rates, currencies, offers, grids, sites.
TEST(the_catalogue_that_hw_prints_is_a_file_that_hw_check_reads) {
    char path[] = "/tmp/lockstep-hw-round-XXXXXX", line[256], said[512];
    int descriptor = mkstemp(path);
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(descriptor >= 0);
    snprintf(line, sizeof line, "$LOCKSTEP hw list --json >%s && $LOCKSTEP hw check %s", path, path);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    const Catalogue *built = catalogue_builtin(arena), *read = catalogue_with_file(arena, built, path, problems);
    problems_print(problems, stderr);
    EXPECT(read != NULL);
    for (int kind = 0; read && kind < PART_KIND_COUNT; kind++) {
        int count, again;
        const void *parts = catalogue_parts(built, (PartKind)kind, &count);
        const void *others = catalogue_parts(read, (PartKind)kind, &again);
        EXPECT(count > 0);
        EXPECT_INT(again, count);
        for (int i = 0; i < count && i < again; i++)
            expect_same_part((PartKind)kind, part_at((PartKind)kind, parts, i), part_at((PartKind)kind, others, i));
    }
    arena_close(arena);
    close(descriptor);
    unlink(path);
}

TEST(a_part_that_is_shown_can_be_brought_back) {
    static const char *const names[] = {"H100", "dgx-a100",   "ib-ndr400", "superpod-storage", "llama3-h100", "aws-p5",
                                        "EUR",  "colocation", "t4",        "A30:1g.6gb"};
    char path[] = "/tmp/lockstep-hw-part-XXXXXX", line[256], said[512];
    int descriptor = mkstemp(path);
    EXPECT(descriptor >= 0);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        snprintf(line, sizeof line, "$LOCKSTEP hw show %s --json >%s && $LOCKSTEP hw check %s 2>&1", names[i], path,
                 path);
        int status = test_shell(line, said, sizeof said);
        if (status != 0)
            test_fail(__FILE__, __LINE__, "hw show %s --json: hw check ends with %d: %s", names[i], status, said);
    }
    // What only the program prints is not a user's to write.
    snprintf(line, sizeof line,
             "echo '{\"format\": \"lockstep-hardware\", \"format_version\": 1, \"parts\": []}' >%s; $LOCKSTEP hw check "
             "%s 2>&1",
             path, path);
    EXPECT_INT(test_shell(line, said, sizeof said), 4);
    EXPECT_CONTAINS(said, "parts");
    close(descriptor);
    unlink(path);
}
