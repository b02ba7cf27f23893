// lockstep validate first-contact: each batch is met once by a version, and what it said stays.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/version.h"
#include "sim/system/file.h"
#include "tests/test.h"

// A folder for each test, since they run at once.
#define SETUP(dir)                                                                                                     \
    "rm -rf build/" dir " && mkdir -p build/" dir "/batch-9/training build/" dir "/batch-9/nccl && "                   \
    "head -20 calibrate/measurements/training/training_llm_dgxc.csv >build/" dir "/batch-9/training/a.csv && "         \
    "cp calibrate/measurements/nccl/h100_1x8_all_reduce.txt calibrate/measurements/nccl/clusters.csv "                 \
    "build/" dir "/batch-9/nccl && echo '# First contact' >build/" dir "/page.md"
#define CONTACT(dir) "$LOCKSTEP validate first-contact build/" dir "/"

TEST(a_batch_is_met_once_by_a_version_and_what_was_said_stays) {
    static char text[1 << 16];
    EXPECT_INT(test_shell(SETUP("contact"), text, sizeof text), 0);
    EXPECT_INT(test_shell(CONTACT("contact") "batch-9/ --date 2026-11-23", text, sizeof text), 0);
    EXPECT_CONTAINS(text, "## batch-9, by version ");
    EXPECT_CONTAINS(text, "Predicted on 2026-11-23, before anything was learned from it.");
    EXPECT_CONTAINS(text, "nvidia-dgxc-benchmarking");
    EXPECT_CONTAINS(text, "all logs");
    EXPECT(!strstr(text, "worst rows"));
    EXPECT_INT(test_shell(CONTACT("contact") "batch-9 --append build/contact/page.md", text, sizeof text), 0);
    EXPECT_INT(test_shell("cat build/contact/page.md", text, sizeof text), 0);
    EXPECT(strncmp(text, "# First contact\n", 16) == 0);
    EXPECT_CONTAINS(text, program_version());
    EXPECT_INT(test_shell(CONTACT("contact") "batch-9 --append build/contact/page.md", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "has met batch-9 before");
    EXPECT_INT(test_shell("rm -r build/contact/batch-9/nccl && " CONTACT("contact") "batch-9", text, sizeof text), 0);
    EXPECT(!strstr(text, "all logs"));
}

TEST(a_first_contact_with_nothing_is_refused) {
    static char text[1 << 16];
    EXPECT_INT(test_shell(SETUP("contact0") " && rm -r build/contact0/batch-9/*", text, sizeof text), 0);
    EXPECT_INT(test_shell(CONTACT("contact0") "batch-9", text, sizeof text), 4);
    EXPECT_CONTAINS(text, "there is no training/*.csv and no nccl/*.txt in it");
    EXPECT_INT(test_shell("$LOCKSTEP validate first-contact", text, sizeof text), 2);
    EXPECT_INT(test_shell(CONTACT("contact0") "batch-9 --date 2026-11", text, sizeof text), 4);
    EXPECT_INT(test_shell(CONTACT("contact0") "batch-9 --append build/contact0/none.md", text, sizeof text), 4);
    EXPECT_INT(test_shell("rm -rf build/contact0", text, sizeof text), 0);
}
