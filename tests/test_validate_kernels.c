// lockstep validate kernels: rows made from the cost functions themselves, so that every error is known.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "calibrate/gpu/measured.h"
#include "sim/json.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

// A table of GEMMs on an A100, the k-th measured (1 + errors[k]) times as slow as predicted.
static void write_table(const char *path, const double *errors, int count) {
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "A100-SXM4-80GB");
    FILE *file = fopen(path, "w");
    fprintf(file, "gpu,dtype,op,batch,M,N,K,latency_ms\n");
    for (int i = 0; i < count; i++) {
        Measured row = {.kind = MEASURED_GEMM,
                        .gemm = {.precision = FP16, .batch = 1, .m = 512 + 128 * i, .n = 1024, .k = 2048}};
        fprintf(file, "A100-SXM4-80GB,fp16,linear,1,%d,1024,2048,%.12g\n", 512 + 128 * i,
                1e3 * measured_prediction(gpu, &row) / (1 + errors[i]));
    }
    fprintf(file, "A100-SXM4-80GB,bf16,gemm_best_shape,1,2048,2048,2048,0.1\nVoodoo2,fp32,linear,1,64,64,64,1\n");
    fclose(file);
}

static const Ended *validate(const char *path, const char *more) {
    static char line[512];
    snprintf(line, sizeof line, "validate kernels %s%s%s", path, more[0] ? " " : "", more);
    return run_command(command_validate, line);
}

static int lines_of(const char *path, char *last, size_t bytes) {
    FILE *file = fopen(path, "r");
    int count = 0;
    while (file && fgets(last, (int)bytes, file)) count++;
    if (file) fclose(file);
    return count;
}

TEST(kernels_are_scored_by_gpu_and_operation) {
    char folder[] = "/tmp/lockstep-test-XXXXXX", table[64], rows[64], more[128], last[256];
    EXPECT(mkdtemp(folder));
    snprintf(table, sizeof table, "%s/gemm.csv", folder), snprintf(rows, sizeof rows, "%s/rows.csv", folder);
    const double errors[] = {0, 0.1, -0.1, 0.2, 0.3};
    write_table(table, errors, 5);
    const Ended *ended = validate(table, "");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "A100-SXM4-80GB       gemm fp16                   5         5    14.0 %    10.0 %    "
                                "26.0 %    30.0 %   +10.0 %\n");
    EXPECT_CONTAINS(ended->out, "left out 1: the best of a search is no sample of shapes\n");
    EXPECT_CONTAINS(ended->out, "left out 1: its GPU is not in the catalogue\n");
    snprintf(more, sizeof more, "--json --rows %s", rows);
    ended = validate(table, more);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\"operation\": \"gemm bf16\",\n      \"rows\": 1,\n      \"predicted\": 0\n");
    EXPECT_INT(lines_of(rows, last, sizeof last), 8);
    EXPECT_CONTAINS(last, ",8,Voodoo2,gemm fp32,64 x 64 x 64,skipped,its GPU is not in the catalogue,1000,,\n");
    unlink(table), unlink(rows), rmdir(folder);
}

TEST(kernels_held_out_are_predicted_from_the_other_half) {
    char folder[] = "/tmp/lockstep-test-XXXXXX", table[64];
    EXPECT(mkdtemp(folder));
    snprintf(table, sizeof table, "%s/gemm.csv", folder);
    const double none[40] = {0};
    write_table(table, none, 40);
    const Ended *ended = validate(table, "--held-out --seed 3");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "A100-SXM4-80GB       gemm fp16                  40        40         -     0.");
    EXPECT_CONTAINS(ended->out, "each half of the shapes predicted from a fit to the other");
    EXPECT_INT(validate(table, "--held-out --rows x.csv")->code, 2);
    unlink(table), rmdir(folder);
}

TEST(validate_kernels_refuses_what_it_cannot_read) {
    EXPECT_INT(validate("/nowhere.csv", "")->code, 4);
    EXPECT_CONTAINS(validate("README.md", "")->err, "README.md");
    EXPECT_INT(validate("--seed x", "")->code, 2);
    const Ended *ended = validate("", "");
    EXPECT_INT(ended->code, 0); // the shipped table
    EXPECT_CONTAINS(ended->out, "H800-SXM             gemm fp8");
}
