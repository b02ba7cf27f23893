// lockstep validate kernels: rows made from the cost functions themselves, so that every error is known.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit.h"
#include "sim/data/json.h"
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
    EXPECT_CONTAINS(ended->out, "A100-SXM4-80GB  gemm fp16     5          5    14.0    10.0  26.0  30.0  10.0\n");
    EXPECT_CONTAINS(ended->out, "       1  the best of a search is no sample of shapes\n");
    EXPECT_CONTAINS(ended->out, "       1  its GPU is not in the catalogue\n");
    snprintf(more, sizeof more, "--json --rows %s", rows);
    ended = validate(table, more);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\"operation\": \"gemm bf16\",\n      \"rows\": 1,\n      \"predicted\": 0\n");
    EXPECT_INT(lines_of(rows, last, sizeof last), 8);
    EXPECT_CONTAINS(last, ",8,Voodoo2,gemm fp32,64 x 64 x 64,skipped,its GPU is not in the catalogue,1000,,,,\n");
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
    EXPECT_CONTAINS(ended->out, "A100-SXM4-80GB  gemm fp16    40         40   0.");
    EXPECT_CONTAINS(ended->out, "each half of the shapes predicted from a fit");
    EXPECT_INT(validate(table, "--held-out --rows x.csv")->code, 2);
    unlink(table), rmdir(folder);
}

TEST(validate_kernels_refuses_what_it_cannot_read) {
    EXPECT_INT(validate("/nowhere.csv", "")->code, 4);
    EXPECT_CONTAINS(validate("README.md", "")->err, "README.md");
    EXPECT_INT(validate("--seed x", "")->code, 2);
    const Ended *ended = validate("", "");
    EXPECT_INT(ended->code, 0); // the shipped table
    EXPECT_CONTAINS(ended->out, "H100-SXM5-80GB  gemm fp32");
}

// ---- Tables that are known by their columns.

static const Ended *validate_text(const char *path, const char *text, const char *more) {
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return validate(path, more);
}

TEST(every_kind_of_kernel_table_is_known_by_its_columns) {
    static const struct {
        const char *file, *line;
    } kinds[] = {{"gemm", "all  gemm bf16  from 1 ms "},
                 {"attention", "all  gqa bf16   from 1 ms "},
                 {"experts", "all  experts bf16       below 0.1 ms"},
                 {"ops", "all  cast_fp8_dynamic per_tensor  0.1 to 1 ms "},
                 {"exchange", "all  normal combine "}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[96];
        snprintf(path, sizeof path, "calibrate/measurements/kernels/%s.csv", kinds[i].file);
        const Ended *ended = validate(path, "");
        EXPECT_INT(ended->code, 0);
        EXPECT_CONTAINS(ended->out, kinds[i].line);
    }
}

// Of two campaigns the one with many rows counts no more than the other.
TEST(a_campaign_has_one_vote_however_many_rows_it_has) {
    char path[] = "/tmp/lockstep-test-XXXXXX", text[2048];
    close(mkstemp(path));
    double seconds = launches_in_a_graph(catalogue_gpu(test_catalogue(), "A100-SXM4-80GB"), 1) +
                     gemm_seconds(catalogue_gpu(test_catalogue(), "A100-SXM4-80GB"),
                                  &(Gemm){.precision = BF16, .batch = 1, .m = 8192, .n = 8192, .k = 8192});
    int length = snprintf(text, sizeof text, "gpu,dtype,framework,weights,m,n,k,latency_us\n");
    for (int i = 0; i < 4; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "A100-SXM4-80GB,bf16,%s,random,8192,8192,8192,%.12g\n", i ? "often" : "once",
                           1e6 * seconds / (i ? 1 : 1.2));
    const Ended *ended = validate_text(path, text, "");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "all  gemm bf16  from 1 ms     4          4    10.0    10.0  10.0  20.0  ");
    EXPECT_CONTAINS(validate(path, "--json")->out, "\"votes\": 2");
    EXPECT_INT(validate(path, "--held-out")->code, 4);
    EXPECT_CONTAINS(validate(path, "--held-out")->err, "--held-out fits GEMMs with the columns of ");
    unlink(path);
}

TEST(a_product_in_8_bits_has_the_cast_of_its_input) {
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
    double elements = 8192.0 * 8192, kernel = 1.7e-6;
    double given = cast_seconds(gpu, &cast_by_given_scale, 8192, elements);
    EXPECT_NEAR(given - kernel, cold_memory_seconds(gpu, 3 * elements) + 8192 * 0.4e-9, 1e-4);
    // In a loop an input of 32 MiB stays in the L2 of an L40S, 96 MB in one part.
    const Gpu *graphics = catalogue_gpu(test_catalogue(), "L40S");
    EXPECT(cast_seconds(graphics, &cast_by_given_scale, 1, 1 << 24) <
           0.5 * cold_memory_seconds(graphics, 3.0 * (1 << 24)));
    EXPECT(cast_seconds(gpu, &cast_by_row, 8192, elements) > given);
    EXPECT(cast_seconds(gpu, &cast_by_tensor, 8192, elements) > 2 * given);
    // Next to nothing to cast: an elementary kernel ends sooner than the smallest product (H100: 1.4 and 2.8 us).
    EXPECT_NEAR(cast_seconds(gpu, &cast_by_given_scale, 1, 32), kernel, 0.01);
    EXPECT(cast_seconds(gpu, &cast_by_given_scale, 1, 32) < launches_in_a_graph(gpu, 1));
    // A scale that has to be found takes four kernels more, and each of them longer on Blackwell's servers, not its
    // cards.
    EXPECT_NEAR(cast_seconds(gpu, &cast_by_tensor, 1, 32), 5 * kernel, 0.01);
    const Gpu *server = catalogue_gpu(test_catalogue(), "B200-SXM-180GB");
    const Gpu *card = catalogue_gpu(test_catalogue(), "RTX-PRO-6000-Server");
    EXPECT_NEAR(cast_seconds(server, &cast_by_tensor, 1, 32), 5 * 2.1e-6, 0.01);
    EXPECT_NEAR(cast_seconds(card, &cast_by_tensor, 1, 32), 5 * kernel, 0.01);
    char path[] = "/tmp/lockstep-test-XXXXXX";
    close(mkstemp(path));
    const Ended *ended = validate_text(path,
                                       "gpu,dtype,framework,weights,m,n,k,latency_us\n"
                                       "H100,bf16,trtllm,random,1024,1024,1024,1\n"
                                       "H100,fp8_tensor,trtllm,random,1024,1024,1024,1\n",
                                       "--json");
    EXPECT_INT(ended->code, 0);
    unlink(path);
}

static double bias_of(const char *json, const char *operation) {
    const char *at = strstr(json, operation), *bias = at ? strstr(at, "\"bias_pct\": ") : NULL;
    return bias ? atof(bias + strlen("\"bias_pct\": ")) : NAN;
}

// One tile of 65,536 products leaves 131 of 132 SMs idle. cuBLAS splits it; libraries whose scales are finer than one
// of a tensor do not, and take twice as long.
TEST(a_long_product_of_one_tile_is_split_where_one_scale_serves_all_of_it) {
    char path[] = "/tmp/lockstep-test-XXXXXX";
    close(mkstemp(path));
    const Ended *ended = validate_text(path,
                                       "gpu,dtype,framework,weights,m,n,k,latency_us\n"
                                       "H100,fp8_tensor,trtllm,random,64,64,65536,20\n"
                                       "H100,fp8_block,trtllm,random,64,64,65536,20\n"
                                       "H100,fp8_token,vllm,constant,64,64,65536,20\n",
                                       "--json");
    EXPECT_INT(ended->code, 0);
    double split = 1 + bias_of(ended->out, "gemm fp8_tensor") / 100;
    EXPECT(1 + bias_of(ended->out, "gemm fp8_block") / 100 > 1.8 * split);
    EXPECT(1 + bias_of(ended->out, "gemm fp8_token") / 100 > 1.8 * split);
    unlink(path);
}

TEST(what_prepares_an_exchange_and_what_crosses_a_network_is_predicted) {
    char path[] = "/tmp/lockstep-test-XXXXXX";
    static const char header[] = "gpu,library,mode,phase,payload,nodes,ranks,tokens_per_rank,hidden,experts,topk,sms,"
                                 "latency_us\n";
    char text[1024];
    close(mkstemp(path));
    snprintf(text, sizeof text, "%s%s", header,
             "GB200,trtllm,nvlinktwosided,prepare,bf16,8,32,4096,7168,256,8,,40\n"
             "H100,deepep,normal,dispatch,fp8,4,32,4096,7168,256,8,24,1791\n"
             "H100,deepep,nosuch,dispatch,fp8,1,8,4096,7168,256,8,24,100\n"
             "H100,deepep,normal,dispatch,fp3,1,8,4096,7168,256,8,24,100\n"
             "H100,deepep,normal,dispatch,fp8,1,1,4096,7168,256,8,24,100\n"
             "H100,deepep,normal,dispatch,fp8,1,8,4096,7168,4,8,24,100\n"
             "P4,deepep,normal,dispatch,fp8,4,32,4096,7168,256,8,24,1791\n");
    const Ended *ended = validate_text(path, text, "--json");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\"operation\": \"nvlinktwosided prepare\",\n      \"length\": \"below 0.1 ms\",\n"
                                "      \"rows\": 1,\n      \"predicted\": 1");
    EXPECT_CONTAINS(ended->out, "\"operation\": \"normal dispatch\",\n      \"length\": \"from 1 ms\",\n"
                                "      \"rows\": 2,\n      \"predicted\": 1");
    EXPECT_CONTAINS(ended->out, "nothing is known of such a kernel");
    EXPECT_CONTAINS(ended->out, "nothing is known of what travels");
    EXPECT_CONTAINS(ended->out, "no ranks to exchange tokens with");
    EXPECT_CONTAINS(ended->out, "a token has more experts than there are");
    EXPECT_CONTAINS(ended->out, "the network between the nodes is not told");
    unlink(path);
}

TEST(kernel_tables_say_what_cannot_be_predicted) {
    char path[] = "/tmp/lockstep-test-XXXXXX";
    close(mkstemp(path));
    const Ended *ended =
        validate_text(path,
                      "gpu,family,dtype,kernel,batch,seq,heads,kv_heads,qk_dim,v_dim,causal,window,latency_us\n"
                      "A100-SXM4-80GB,gqa,bf16,paged,1,4096,8,8,128,128,yes,128,100\n"
                      "Voodoo2,gqa,bf16,fa2,1,4096,8,8,128,128,yes,0,100\n",
                      "");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "       1  nothing is known of such a kernel\n");
    EXPECT_CONTAINS(ended->out, "       1  its GPU is not in the catalogue\n");
    ended = validate_text(path, "gpu,dtype,m,n,k,latency_us\nH100,fp3,1,1,1,5\nA100-SXM4-80GB,fp8_token,1,1,1,5\n", "");
    EXPECT_CONTAINS(ended->out, "no products are in \"fp3\"");
    EXPECT_CONTAINS(ended->out, "A100-SXM4-80GB has no fp8 units");
    ended = validate_text(path, "gpu,dtype,m,n,k,latency_us\nH100,bf16,0,1,1,5\n", "");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, ":2: error: ");
    unlink(path);
}
