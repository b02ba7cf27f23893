// lockstep hw: what it prints and how it ends.
#include "models/hardware/command_hw.h"
#include "tests/command.h"
#include "tests/test.h"

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
    const Ended *ended = hw("hw show H100");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "GPU H100-SXM5-80GB\n");
    EXPECT_CONTAINS(ended->out, "3350 GB/s");
    EXPECT_CONTAINS(ended->out, "datasheet");
    EXPECT_CONTAINS(ended->out, "fitted");
    EXPECT_CONTAINS(ended->out, "] lockstep calibrate fit on GEMMs");
    EXPECT_CONTAINS(ended->out, "33600 USD");
    EXPECT_CONTAINS(ended->out, "matrix rates of this GPU's own are those of fp32, fp16, fp8;");
    EXPECT_CONTAINS(hw("hw show RTX4080")->out, "no matrix rate was measured on this GPU");
    ended = hw("hw show dgx-a100");
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
