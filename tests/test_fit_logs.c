// Logs of nccl-tests become factors of a profile, which every command takes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/gpu/command_calibrate.h"
#include "models/network/network_constants.h"
#include "scenarios/questions/collective_asked.h"
#include "tests/command.h"
#include "tests/test.h"

// Files of this process alone: tests run at once.
static const char *path_of(const char *ending) {
    static char paths[2][64];
    char *path = paths[ending[1] == 'j'];
    snprintf(path, sizeof paths[0], "build/fit-log-%d%s", (int)getpid(), ending);
    return path;
}
#define LOG path_of(".txt")
#define PROFILE path_of(".json")

static const char *with_profile(void) {
    static char text[96];
    snprintf(text, sizeof text, "--profile %s", PROFILE);
    return text;
}

// nccl-tests' text of what `collective` with those options says, each time as many times as long.
static void write_log(const char *options, const char *head, double slower) {
    char line[512];
    snprintf(line, sizeof line, "collective all_reduce %s --sizes 1K:1G:4 --csv", options);
    const Ended *ended = run_command(command_collective, line);
    EXPECT_INT(ended->code, 0);
    FILE *file = fopen(LOG, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fprintf(file, "# nThread 1 nGpus 1\n# op: all_reduce\n%s", head);
    fprintf(file, "#  size  count  type  redop  root  time  algbw  busbw #wrong\n");
    char *text = strdup(ended->out), *save;
    for (char *row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
        double bytes, us;
        if (sscanf(row, "%lf,%lf", &bytes, &us) != 2) continue;
        fprintf(file, "%.0f %.0f float sum -1 %.4f 1.0 1.0 0\n", bytes, bytes / 4, slower * us);
    }
    free(text);
    fclose(file);
}

static double time_of(const char *options, const char *size, const char *more) {
    char line[512];
    snprintf(line, sizeof line, "collective all_reduce %s --sizes %s --csv %s", options, size, more);
    const Ended *ended = run_command(command_collective, line);
    double us = 0;
    EXPECT_INT(ended->code, 0);
    const char *row = strchr(ended->out, '\n');
    EXPECT(row && sscanf(row + 1, "%*[^,],%lf", &us) == 1);
    return us;
}

static const Ended *fit(const char *more) {
    char line[512];
    snprintf(line, sizeof line, "calibrate fit %s -o %s %s", LOG, PROFILE, more);
    return run_command(command_calibrate, line);
}

TEST(a_node_that_is_slower_throughout_is_found_so_and_collective_takes_it) {
    write_log("--node dgx-h100", "", 1.3);
    EXPECT(is_nccl_log(LOG));
    const Ended *ended = fit("--node dgx-h100 --csv");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "factor,value,sigma_pct\nstart of a collective,1.");
    for (int i = 0; i < 3; i++) {
        const char *size = (const char *[]){"4K", "16M", "1G"}[i];
        double before = time_of("--node dgx-h100", size, ""), after = time_of("--node dgx-h100", size, with_profile());
        EXPECT(after > 1.2 * before && after < 1.4 * before);
    }
    double other = time_of("--node dgx-a100", "1G", ""), same = time_of("--node dgx-a100", "1G", with_profile());
    EXPECT_NEAR(other, same, 0);
    remove(LOG), remove(PROFILE);
}

TEST(what_was_measured_between_nodes_is_the_links) {
    write_log("--node dgx-h100 --nodes 2 --fabric ib-ndr400", "", 1.3);
    const Ended *ended = fit("--node dgx-h100 --nodes 2");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "nothing says over which network");
    EXPECT_INT(fit("--node dgx-h100 --nodes 2 --fabric ib-ndr400")->code, 0);
    static const char two[] = "--node dgx-h100 --nodes 2 --fabric ib-ndr400";
    for (int i = 0; i < 2; i++) {
        const char *size = (const char *[]){"4K", "1G"}[i];
        double before = time_of(two, size, ""), after = time_of(two, size, with_profile());
        EXPECT(after > 1.2 * before && after < 1.4 * before);
    }
    // a switch of another kind keeps its own
    static const char roce[] = "--node dgx-h100 --nodes 2 --fabric roce-400";
    double before = time_of(roce, "1G", ""), after = time_of(roce, "1G", with_profile());
    EXPECT(after < 1.29 * before);
    remove(LOG), remove(PROFILE);
}

TEST(a_log_that_does_not_say_its_machine_is_asked_about) {
    write_log("--node dgx-h100", "", 1);
    const Ended *ended = fit("");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "does not say what it was measured on");
    EXPECT_CONTAINS(ended->err, "--node NAME");
    EXPECT_INT(fit("--node no-such-node")->code, 4);
    EXPECT(!is_nccl_log("calibrate/measurements/gemm.csv") && !is_nccl_log("no-such-file"));
    remove(LOG), remove(PROFILE);
}

TEST(a_list_of_ranks_says_the_machine) {
    char head[2048] = "", *at = head;
    for (int i = 0; i < 8; i++)
        at += sprintf(at, "#  Rank  %d Group  0 Pid  %d on node-1 device  %d [0x1b] NVIDIA H100 80GB HBM3\n", i,
                      100 + i, i);
    write_log("--node dgx-h100", head, 0.9);
    EXPECT_INT(fit("")->code, 0);
    remove(LOG), remove(PROFILE);
}
