// Reading measured runs, what stands in for what they leave open, and the scoreboard over all of them.
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "calibrate/training/training.h"
#include "models/workload/job/training.h"
#include "tests/command.h"
#include "tests/test.h"

#define HEADER                                                                                                         \
    "row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,framework,tp,"  \
    "pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s,samples_per_s\n"

typedef struct Reading {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    MeasuredRuns runs;
    bool sound;
} Reading;

static Reading read_text(const char *text) {
    Reading reading = {.arena = arena_open()};
    reading.problems = problems_create(reading.arena);
    reading.catalogue = catalogue_builtin(reading.arena);
    reading.sound =
        measured_runs_read_text(reading.arena, reading.catalogue, "runs.csv", text, &reading.runs, reading.problems);
    return reading;
}

TEST(a_measured_run_becomes_a_job_on_a_cluster) {
    Reading r = read_text(HEADER "a,f,GPT,decoder,24,2048,16,51200,2048,A100-SXM4-80GB,16,2,8,Megatron-LM,2,2,4,1,2,"
                                 "32,fp16,full,1.5,\n");
    EXPECT(r.sound);
    EXPECT_INT(problem_count(r.problems), 0);
    EXPECT_INT(r.runs.count, 1);
    const MeasuredRun *run = &r.runs.items[0];
    EXPECT(run->skipped == NULL);
    EXPECT_NEAR(run->measured_step_s, 1.5, 0);
    EXPECT_INT(run->training.layout.tp * 100 + run->training.layout.pp * 10 + run->training.layout.dp, 224);
    EXPECT_INT(run->training.recompute, RECOMPUTE_FULL);
    EXPECT_INT(run->training.attention, ATTENTION_FLASH_2); // of no date: Megatron as three years after Ampere
    EXPECT(run->interleaving_open && !run->micro_batch_open && !run->recompute_open);
    EXPECT(run->assumed & (1u << ASSUMED_NICS));
    arena_close(r.arena);
}

TEST(software_unknown_by_name_splits_in_all_files_what_it_splits_in_one) {
#define ROW(layout)                                                                                                    \
    "a,f,GPT,decoder,24,2048,16,51200,2048,A100-SXM4-80GB,8,1,8,something," layout ",1,8,bf16,none,1.5,\n"
    Reading r = read_text(HEADER ROW("1,1,8,0"));
    EXPECT_INT(r.runs.items[0].software->framework, FRAMEWORK_EAGER);
    EXPECT(measured_runs_read_text(r.arena, r.catalogue, "more.csv", HEADER ROW("2,1,4,0"), &r.runs, r.problems));
#undef ROW
    EXPECT_INT(problem_count(r.problems), 0);
    for (int i = 0; i < 2; i++) EXPECT_INT(r.runs.items[i].software->framework, FRAMEWORK_MEGATRON);
    arena_close(r.arena);
}

static const NodeType *node_of_row(const Reading *reading, int row) {
    return reading->runs.items[row].cluster->groups[0].type;
}

// One V100 in each of 64 machines is not eight in each of eight; half a cube mesh has four, and of one node that a row
// uses in part the whole mesh stands there.
TEST(gpus_of_a_node_are_as_many_as_the_row_says) {
#define ROW(nodes, gpus, each)                                                                                         \
    "a,f,GPT,decoder,24,2048,16,51200,2048,V100-SXM2-32GB," gpus "," nodes "," each ",Megatron-LM,1,1," gpus           \
    ",0,1," gpus ",fp16,none,1.5,\n"
    Reading r = read_text(HEADER ROW("64", "64", "1") ROW("2", "8", "4") ROW("2", "4", "2") ROW("8", "64", "8")
                              ROW("1", "4", "4"));
    static const struct {
        int gpus;
        GpuLinkKind links;
    } expected[] = {{1, GPU_LINK_NONE},
                    {4, GPU_LINK_CUBE_MESH},
                    {2, GPU_LINK_MESH},
                    {8, GPU_LINK_CUBE_MESH},
                    {8, GPU_LINK_CUBE_MESH}};
    for (int i = 0; i < 5; i++) {
        EXPECT(r.runs.items[i].skipped == NULL);
        EXPECT_INT(node_of_row(&r, i)->gpu_count, expected[i].gpus);
        EXPECT_INT(node_of_row(&r, i)->gpu_links, expected[i].links);
        EXPECT((r.runs.items[i].assumed >> ASSUMED_OLD_NIC & 1) == (i < 4));
        EXPECT(predict_run(r.arena, r.catalogue, &r.runs.items[i]).step_s > 0);
    }
    arena_close(r.arena);
#undef ROW
}

// Encoder and decoder by name, whose layers a row counts together or apart; four bits by the names of their formats.
TEST(pairs_and_four_bits_are_read_by_their_names) {
    Reading r = read_text(
        HEADER "a,f,T5-v1.1-small,encdec,8,512,6,32128,512,A100-SXM4-80GB,8,1,8,JAX/T5X,1,1,8,0,8,64,bf16,,0.3,\n"
               "b,f,T5-base,encdec,24,768,12,32128,512,A100-SXM4-80GB,1,1,1,PyTorch,1,1,1,0,8,8,bf16,none,0.3,\n"
               "c,f,T5-base,encdec,24,768,12,32128,,A100-SXM4-80GB,1,1,1,PyTorch,1,1,1,0,8,8,bf16,none,0.3,\n"
               "d,f,T5-base,encdec,24,1024,12,32128,512,A100-SXM4-80GB,1,1,1,PyTorch,1,1,1,0,8,8,bf16,none,0.3,\n"
               "e,f,GPT,decoder,24,2048,16,51200,2048,GB300,4,1,4,NeMo,1,1,4,0,1,4,NVFP4,none,0.3,\n");
    EXPECT_INT(r.runs.items[0].training.model->encoder_layers, 8);
    EXPECT_INT(r.runs.items[1].training.model->encoder_layers, 12);
    EXPECT_CONTAINS(r.runs.items[2].skipped, "seq_len is not published");
    EXPECT_CONTAINS(r.runs.items[3].skipped, "another than the library's");
    EXPECT(r.runs.items[0].skipped == NULL && r.runs.items[1].skipped == NULL && r.runs.items[4].skipped == NULL);
    EXPECT_INT(r.runs.items[4].training.precision, FP4);
    arena_close(r.arena);
}

TEST(an_optimizer_that_no_library_has_is_ones_own) {
#define ROW "x,f,GPT,decoder,24,2048,16,51200,2048,H100-SXM5-80GB,8,1,8,PyTorch FSDP,1,1,8,3,2,16,bf16,none,1.5,"
    static const Optimizer meant[] = {OPTIMIZER_OWN, OPTIMIZER_ADAM, OPTIMIZER_ADAM, OPTIMIZER_ADAM_8BIT,
                                      OPTIMIZER_ADAM};
    Reading r = read_text("row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,"
                          "gpus_per_node,framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,"
                          "iter_time_s,optimizer\n" ROW "some-star-mk4\n" ROW "fused AdamW\n" ROW "Muon\n" ROW
                          "AdamW 8-bit\n" ROW "\n");
    EXPECT(r.sound);
    for (int i = 0; i < 5; i++) EXPECT_INT(r.runs.items[i].training.optimizer, meant[i]);
    arena_close(r.arena);
#undef ROW
}

TEST(a_throughput_is_a_step_time) {
    Reading r = read_text(HEADER "a,f,ResNet-50,cnn,,,,,,V100-SXM2-16GB,4,1,4,NGC MXNet,1,1,4,0,64,256,fp16,none,,"
                                 "1024\n");
    EXPECT(r.runs.items[0].skipped == NULL);
    EXPECT_NEAR(r.runs.items[0].measured_step_s, 256.0 / 1024, 1e-15);
    arena_close(r.arena);
}

// Throughput of spectra counts columns, of which a mean recording has 566; the batch is padded to its longest.
TEST(recordings_and_sentences_are_as_long_as_their_data_set_says) {
    Reading r =
        read_text(HEADER "a,f,Tacotron2,tts,,,,,,V100-SXM2-16GB,2,1,2,PyTorch,1,1,2,0,48,96,fp32,none,0.004,24000\n"
                         "b,f,QuartzNet,cnn_asr,,,,,,V100-SXM2-16GB,1,1,1,PyTorch,1,1,1,0,48,48,fp32,none,,60\n"
                         "c,f,Jasper-10x5,cnn_asr,,,,,,V100-SXM2-16GB,1,1,1,PyTorch,1,1,1,0,48,48,fp32,none,,60\n"
                         "d,f,GNMT-v2,rnn_seq2seq,,,,,,V100-SXM2-16GB,1,1,1,TensorFlow,1,1,1,0,48,48,fp32,none,1,\n"
                         "e,f,FastPitch,tts,,,,,,V100-SXM2-16GB,1,1,1,PyTorch,1,1,1,0,48,48,fp32,none,1,\n");
    const MeasuredRun *run = r.runs.items;
    EXPECT(!run[0].skipped && !run[1].skipped);
    EXPECT_NEAR(run[0].measured_step_s, 96 * 6.57 * 22050 / 256 / 24000, 1e-12);
    EXPECT(run[0].training.model->image_size > 9.9 * 22050 && run[0].training.model->image_size < 10.1 * 22050);
    EXPECT((run[0].assumed & (1u << ASSUMED_LENGTHS)) && (run[0].assumed & (1u << ASSUMED_LOOP)));
    EXPECT_NEAR(run[1].measured_step_s, 48.0 / 60, 1e-12);
    EXPECT_INT(run[1].training.model->image_size, 267200);
    EXPECT(strstr(run[2].skipped, "Fourier") && strstr(run[3].skipped, "loops of its graph"));
    EXPECT(strstr(run[4].skipped, "aligned with sounds by the host"));
    arena_close(r.arena);
}

// A limit below the card's, weights in the host's memory, and memory as the allocator counts it.
TEST(power_limits_offloading_and_the_kind_of_memory_are_read) {
#define ROW ",f,GPT,decoder,24,2048,16,51200,2048,A100-SXM4-80GB,8,1,8,Megatron-LM,1,1,8,3,2,16,bf16,full,1.5,,"
    Reading r =
        read_text("row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,"
                  "gpus_per_node,framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,"
                  "iter_time_s,samples_per_s,gpu_power_w,notes,metric_kind,peak_mem_bytes\n"
                  "a" ROW "300,cpu_offload=1,,4e10\nb" ROW "400,,max allocated memory,4e10\nc" ROW "400,,,4e10\n");
    EXPECT(r.sound);
    EXPECT_INT(r.runs.count, 3);
    PredictedRun runs[3];
    for (int i = 0; i < 3; i++) runs[i] = predict_run(r.arena, r.catalogue, &r.runs.items[i]);
    EXPECT_NEAR(r.runs.items[0].cluster->power_cap_watts, 300, 0);
    EXPECT_NEAR(r.runs.items[1].cluster->power_cap_watts, 0, 0);
    EXPECT_INT(r.runs.items[0].training.offload_parameters, OFFLOAD_HOST);
    EXPECT(runs[0].step_s > runs[2].step_s);
    EXPECT_NEAR(runs[1].step_s, runs[2].step_s, 0);
    // Context and one group of ranks, and a tenth of what comes and goes, which is less than all.
    double beside = runs[2].memory_bytes - runs[1].memory_bytes - 1.25 * 1073741824;
    EXPECT(beside > 0 && beside < 0.1 * runs[1].memory_bytes);
    arena_close(r.arena);
}

// MLPerf's logs: 8 GPUs that had seen half of the data by the end at the throughput as logged must have logged one
// GPU's.
// Some layers, parts by Megatron's names, JAX's policies; and what a row says beside what is known is told.
TEST(what_is_recomputed_overlapped_or_not_read_is_as_the_row_says) {
#define CONFIGURED(recompute_, overlap_, notes_)                                                                       \
    "x,f,GPT,decoder,24,2048,16,51200,2048,H100-SXM5-80GB,8,1,8,Megatron-Core,1,1,8,1,2,16,bf16," recompute_           \
    ",1.5,," overlap_ "," notes_ "\n"
    Reading r = read_text(
        "row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,"
        "gpus_per_node,framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,"
        "iter_time_s,samples_per_s,overlap,notes\n" CONFIGURED("full on 10 of 24 layers", "asyncTP", "")
            CONFIGURED("\"selective (norm, mlp)\"", "", "cpu_offload=0") CONFIGURED("selective-layer", "", "magic=1")
                CONFIGURED("minimal remat", "\"tp-comm-overlap, levitation\"", "")
                    CONFIGURED("every other Tuesday", "", ""));
    const MeasuredRun *runs = r.runs.items;
    EXPECT_INT(runs[0].training.recompute_layers, 10);
    EXPECT_INT(runs[0].training.recompute, RECOMPUTE_FULL);
    EXPECT(runs[0].training.tp_overlap && !runs[0].unread);
    EXPECT_SAME(runs[1].training.recompute_modules, 1u << MODULE_LAYERNORM | 1u << MODULE_MLP);
    EXPECT(!runs[1].unread);
    EXPECT_INT(runs[2].training.recompute_every, 2);
    EXPECT_CONTAINS(runs[2].unread, "\"magic=1\"");
    EXPECT_INT(runs[3].training.recompute, RECOMPUTE_OPERATIONS);
    EXPECT(!(runs[3].training.recompute_keeps >> KEEPS_CORE_ATTN & 1) &&
           runs[3].training.recompute_keeps >> KEEPS_PROJ & 1);
    EXPECT_CONTAINS(runs[3].unread, "overlap \"levitation\"");
    EXPECT_CONTAINS(runs[4].skipped, "is not known");
    arena_close(r.arena);
#undef CONFIGURED
}

TEST(a_throughput_too_small_for_one_epoch_is_that_of_one_gpu) {
    static const struct {
        const char *images_per_s;
        double step_s;
    } rows[] = {{"300", 256.0 / 2400}, {"2400", 256.0 / 2400}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "row_id,family,model,model_type,gpu,n_gpus,framework,micro_batch,global_batch,precision,image_size,"
                 "samples_per_s,time_to_train_s,metric_kind\n"
                 "a,f,RetinaNet (ResNeXt50_32x4d),cnn_det,H100-SXM5-80GB,8,NGC PyTorch,32,256,fp16-amp,800,%s,2100,"
                 "MLPerf\n",
                 rows[i].images_per_s);
        Reading r = read_text(text);
        EXPECT(r.runs.items[0].skipped == NULL);
        EXPECT_NEAR(r.runs.items[0].measured_step_s, rows[i].step_s, 1e-12);
        arena_close(r.arena);
    }
}

// Eight replicas of 16 cannot have been trained in micro-batches of 32, whatever a configuration says.
TEST(a_logged_global_batch_overrules_a_larger_micro_batch) {
    Reading r = read_text(HEADER "a,f,ResNet-50,cnn,,,,,,V100-SXM2-16GB,8,1,8,NGC MXNet,1,1,8,0,32,128,fp16,none,1,\n");
    EXPECT(r.runs.items[0].skipped == NULL);
    EXPECT_NEAR(r.runs.items[0].training.micro_batch, 16, 0);
    EXPECT(r.runs.items[0].assumed & (1u << ASSUMED_MICRO_BATCH));
    EXPECT(r.runs.items[0].assumed & (1u << ASSUMED_HOST));
    arena_close(r.arena);
}

TEST(rows_that_cannot_be_predicted_say_why) {
    static const struct {
        const char *row, *reason;
    } rows[] = {
        {"a,f,GPT,decoder,24,2048,16,51200,2048,A900,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "no GPU is called \"A900\""},
        {"a,f,GPT,decoder,24,,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "hidden is not published"},
        {"a,f,GPT,decoder,24,2048,16,51200,2048,V100,1,1,1,x,1,1,1,0,2,2,bf16,none,1,", "has no bf16 units"},
        {"a,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,,,fp16,none,1,", "the batch is not published"},
        {"a,f,Seq2seq,rnn_seq2seq,,,,,,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "how long the sentences"},
        {"a,f,V-Net,cnn_seg,,,,,,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "the size of its volumes"},
        {"a,f,Net,gnn,,,,,,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "models of type \"gnn\""},
        {"a,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,fast,", "iter_time_s is \"fast\""},
        {"a,f,GPT,decoder,24.5,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "expected a whole number"},
        {"a,f,GPT,decoder,24,2048,16,51200,2048,A100,-1,1,1,x,1,1,1,0,2,2,fp16,none,1,", "above zero"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text, HEADER "%s\n", rows[i].row);
        Reading r = read_text(text);
        EXPECT_INT(r.runs.count, 1);
        EXPECT_CONTAINS(r.runs.items[0].skipped, rows[i].reason);
        if (i >= 7) { // a cell that cannot be read is the file's mistake too
            EXPECT_INT(problem_count(r.problems), 1);
            EXPECT_INT(problem_at(r.problems, 0)->where.line, 2);
        }
        arena_close(r.arena);
    }
}

TEST(a_file_without_the_needed_columns_is_refused) {
    Reading r = read_text("row_id,family,model\na,b,c\n");
    EXPECT(!r.sound);
    EXPECT_INT(r.runs.count, 0);
    EXPECT(problem_count(r.problems) > 0);
    EXPECT_CONTAINS(problem_at(r.problems, 0)->text, "gpu");
    arena_close(r.arena);
}

TEST(software_facts_go_by_framework_version_and_date) {
    static const struct {
        const char *text;
        int year;
        Attention attention;
        Framework framework;
    } rows[] = {
        {"Megatron-LM | 2021-04", 2020, ATTENTION_PLAIN, FRAMEWORK_MEGATRON},
        {"Megatron-LM", 2020, ATTENTION_FLASH_2, FRAMEWORK_MEGATRON},
        {"Megatron-LM", 2022, ATTENTION_FLASH, FRAMEWORK_MEGATRON},
        {"NeMo/Megatron-Core | NeMo24.03.01", 2022, ATTENTION_FLASH_2, FRAMEWORK_MEGATRON},
        {"NeMo/Megatron-Core | NeMo 24.07", 2022, ATTENTION_FLASH, FRAMEWORK_MEGATRON},
        {"Composer + PyTorch FSDP", 2022, ATTENTION_FLASH_1, FRAMEWORK_FUSED},
        {"torchtitan FSDP2 | 1 compiled", 2022, ATTENTION_FLASH_2, FRAMEWORK_GRAPH},
        {"torchtitan FSDP2", 2022, ATTENTION_FLASH_2, FRAMEWORK_EAGER},
        {"NGC TensorFlow 1.x w/XLA", 2017, ATTENTION_PLAIN, FRAMEWORK_TENSORFLOW},
        {"OneFlow", 2017, ATTENTION_PLAIN, FRAMEWORK_OPERATORS},
        {"OneFlow-GPT | 2021-05", 2017, ATTENTION_PLAIN, FRAMEWORK_TUNED},
        {"MXNet", 2017, ATTENTION_PLAIN, FRAMEWORK_OPERATORS},
        {"NGC MXNet", 2017, ATTENTION_PLAIN, FRAMEWORK_TUNED},
        {"NGC TensorFlow 1.x", 2017, ATTENTION_PLAIN, FRAMEWORK_COMPOSED},
        {"compiled", 2022, ATTENTION_FLASH_2, FRAMEWORK_GRAPH},
        {"something of their own", 2017, ATTENTION_PLAIN, FRAMEWORK_EAGER},
        {"PyTorch 1.7.1 compiled from source", 2017, ATTENTION_PLAIN, FRAMEWORK_EAGER}, // itself, not the model
        {"nemoo, ajax, mxnetting", 2017, ATTENTION_PLAIN, FRAMEWORK_EAGER},             // parts of other words
        {"HF model, Trainer | 2022", 2020, ATTENTION_PLAIN, FRAMEWORK_EAGER},
        {"something of their own", 2022, ATTENTION_FLASH_2, FRAMEWORK_EAGER},
        {"something of their own of 2021", 2022, ATTENTION_PLAIN, FRAMEWORK_EAGER},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Software *facts = software_of(arena, &(SoftwareQuery){.text = rows[i].text, .gpu_year = rows[i].year});
        EXPECT_INT(facts->attention, rows[i].attention);
        EXPECT_INT(facts->framework, rows[i].framework);
        EXPECT(facts->because && facts->because[0]);
    }
    SoftwareQuery own = {.text = "prime-rl trainer (PyTorch FSDP2)", .gpu_year = 2022};
    EXPECT(!software_does(software_of(arena, &own), COMPOSES_MODULES)); // a trainer is not Hugging Face's for its name
    const char *unknown = "something of their own";
    SoftwareQuery split = {.text = unknown, .gpu_year = 2022, .splits_layers = true};
    EXPECT_INT(software_of(arena, &split)->framework, FRAMEWORK_MEGATRON);
    EXPECT_TEXT(software_of(arena, &split)->word, ""); // assumed, not known
    split.gpu_year = 2024;
    EXPECT(software_does(software_of(arena, &split), OVERLAPS_GRADIENTS));
    EXPECT(!software_does(software_of(arena, &split), REDUCES_IN_FP32)); // Megatron-Core's alone
    SoftwareQuery named = {.text = "NeMo 24.07", .gpu_year = 2022}, withheld = named;
    withheld.name_withheld = true;
    EXPECT_INT(software_of(arena, &named)->framework, FRAMEWORK_MEGATRON);
    EXPECT_INT(software_of(arena, &withheld)->framework, FRAMEWORK_EAGER);
    arena_close(arena);
    for (int i = 0; i < ASSUMED_COUNT; i++) EXPECT(assumed_facts[i].name && assumed_facts[i].sigma >= 0);
}

TEST(the_date_of_software_is_read_from_dates_containers_and_versions) {
    static const struct {
        const char *text;
        double year;
    } rows[] = {
        {"torchtitan 9dec (2024-12-23)", 2024 + 11 / 12.0},
        {"25.09 NeMo Container", 2025 + 8 / 12.0},
        {"NeMo24.03.01", 2024 + 2 / 12.0},
        {"2020-2021 versions in report", 2020},
        {"PyTorch 2.2.1", 2023.2 + 2 / 3.6},
        {"PyTorch 1.13", 2018.9 + 13 / 3.4},
        {"NCCL 2.12.10, driver 550.54.15, f2024a1", 0},
        {"PyTorch (NGC) | 1.8.0a0+52ea372", 2018.9 + 8 / 3.4},
        {"PyTorch (Hugging Face Transformers) PyTorch 2.11.0+cu130", 2023.2 + 11 / 3.6},
        {"PyTorch, cuda 12.2, nccl_version 2.18.5", 0},
        {"cuDNN 8.9.7, NCCL 2.21.05", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_NEAR(software_year(rows[i].text), rows[i].year, 1e-9);
}

#define IMAGE_COLUMNS                                                                                                  \
    "row_id,family,source,model,model_type,image_size,gpu,n_gpus,framework,micro_batch,precision,iter_time_s,notes\n"
TEST(what_was_timed_without_an_optimizer_is_predicted_without) {
#define TIMED(notes) "a,f,x,vgg16,cnn,224,GTX 1080,1,Torch7,16,fp32,1," notes "\n"
    Reading r = read_text(IMAGE_COLUMNS TIMED("") TIMED("forward and backward only; no optimizer step"));
#undef TIMED
    EXPECT_INT(r.runs.items[0].training.optimizer, OPTIMIZER_SGD);
    EXPECT_INT(r.runs.items[1].training.optimizer, OPTIMIZER_NONE);
    arena_close(r.arena);
}

TEST(image_networks_are_what_the_row_means_by_their_name) {
    static const struct {
        const char *row, *model;
        double micro_batch, decoded_per_core, cycle;
        ImageLayout layout;
    } rows[] = {
        {"a,f,x,vit_base_patch16_384,vit,384,RTX 3090,1,timm / PyTorch nhwc,64,fp16-amp,1,", "vit-base-patch16", 64, 0,
         0, IMAGE_LAYOUT_NHWC},
        {"a,f,x,ResNet-50,cnn,224,P100,1,TensorFlow tf_cnn_benchmarks,64,fp32,1,synthetic", "resnet-50-v1", 64, 0, 0,
         IMAGE_LAYOUT_USUAL},
        {"a,f,x,ResNet-50 v1.5,cnn,224,V100 16GB,1,TensorFlow 2.x,64,fp32,1,real", "resnet-50", 64, 120, 0,
         IMAGE_LAYOUT_USUAL},
        {"a,f,x,AlexNet,cnn,224,K80,1,MXNet dist_device_sync (parameter server),512,fp32,1,", "alexnet-mxnet", 512, 0,
         0, IMAGE_LAYOUT_USUAL},
        {"a,f,x,ResNet-50,cnn,224,V100 16GB,1,PyTorch,64,fp16-amp,1,memory format NHWC: faster than NCHW", "resnet-50",
         64, 0, 0, IMAGE_LAYOUT_NHWC},
        {"a,f,x,ResNet-50,cnn,224,V100 16GB,1,PyTorch,64,fp16-amp,1,memory format NCHW: slower than NHWC", "resnet-50",
         64, 0, 0, IMAGE_LAYOUT_NCHW},
        {"a,f,NVIDIA/DeepLearningExamples,ResNet-50 v1.5,cnn,,V100 16GB,1,PyTorch,,fp16-amp,1,", "resnet-50", 256, 0, 0,
         IMAGE_LAYOUT_NHWC},
        {"a,f,NVIDIA/DeepLearningExamples,ResNet-50 v1.5,cnn,,V100 16GB,1,MxNet,,fp32,1,", "resnet-50", 128, 0, 5e-3,
         IMAGE_LAYOUT_USUAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text, IMAGE_COLUMNS "%s\n", rows[i].row);
        Reading r = read_text(text);
        const MeasuredRun *run = &r.runs.items[0];
        EXPECT(run->skipped == NULL);
        EXPECT_TEXT(run->training.model->name, rows[i].model);
        EXPECT_NEAR(run->training.micro_batch, rows[i].micro_batch, 0);
        EXPECT_NEAR(run->training.samples_per_second_per_worker, rows[i].decoded_per_core, 0);
        EXPECT_NEAR(run->training.reduce_cycle_seconds, rows[i].cycle, 0);
        EXPECT_INT(run->training.image_layout, rows[i].layout);
        arena_close(r.arena);
    }
}

TEST(documents_under_a_mask_are_as_long_as_pages) {
#define MASKED(length, attention)                                                                                      \
    "x,f,GPT,decoder,24,2048,16,51200," length ",H100-SXM5-80GB,8,1,8,PyTorch DDP,8,1,8,bf16," attention ",1.5\n"
    Reading r =
        read_text("row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,"
                  "gpus_per_node,framework,dp,micro_batch,global_batch,precision,attn_impl,iter_time_s\n" MASKED(
                      "32768", "\"flash-2, document mask\"") MASKED("512", "\"flash-2, document mask\"")
                      MASKED("32768", "flash-2"));
    EXPECT_NEAR(r.runs.items[0].training.pack_length, PAGE_TOKENS, 0);
    EXPECT(r.runs.items[0].assumed & (1u << ASSUMED_PAGES));
    for (int i = 1; i < 3; i++) {
        EXPECT_NEAR(r.runs.items[i].training.pack_length, 0, 0);
        EXPECT(!(r.runs.items[i].assumed & (1u << ASSUMED_PAGES)));
    }
    arena_close(r.arena);
#undef MASKED
}

TEST(an_epochs_validation_is_no_part_of_its_steps) {
    Reading r =
        read_text("row_id,family,source,model,model_type,image_size,gpu,n_gpus,framework,micro_batch,precision,"
                  "iter_time_s,inferred,notes\n"
                  "a,f,x,ResNet-50,cnn,224,V100 16GB,1,PyTorch,64,fp32,1.1,250 iterations per epoch (default),"
                  "the epoch also holds 75 validation iterations\n"
                  "b,f,x,ResNet-50,cnn,224,V100 16GB,1,PyTorch,64,fp32,1.1,250 iterations per epoch (default),\n");
    EXPECT_NEAR(r.runs.items[0].measured_step_s, 1, 1e-9);
    EXPECT_NEAR(r.runs.items[1].measured_step_s, 1.1, 1e-9);
    arena_close(r.arena);
}

// ---- Scores, on made-up predictions.

static PredictedRun made_up(const MeasuredRun *like, MeasuredRun *run, const char *family, double measured,
                            double predicted) {
    *run = *like;
    run->family = family;
    run->measured_step_s = measured;
    return (PredictedRun){.run = run,
                          .step_s = predicted,
                          .low_s = 0.9 * predicted,
                          .high_s = 1.1 * predicted,
                          .spent = {[CAUSE_GEMM] = predicted},
                          .training = run->training};
}

TEST(scores_are_what_their_names_say) {
    Reading r = read_text(HEADER "a,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,\n");
    const MeasuredRun *like = &r.runs.items[0];
    static const double measured[] = {1, 1, 1, 1, 4}, predicted[] = {1.2, 0.8, 1.05, 1, 4};
    static const char *const families[] = {"one", "one", "one", "one", "two"};
    MeasuredRun runs[5];
    PredictedRun made[5];
    for (int i = 0; i < 5; i++) made[i] = made_up(like, &runs[i], families[i], measured[i], predicted[i]);
    Scores scores = score_runs(r.arena, made, 5, NULL);
    EXPECT_INT(scores.family_count, 2);
    EXPECT_NEAR(scores.families[0].mean, (0.2 + 0.2 + 0.05 + 0) / 4, 1e-12);
    EXPECT_NEAR(scores.families[0].inside, 0.5, 1e-12);
    EXPECT_NEAR(scores.families[0].bias, pow(1.2 * 0.8 * 1.05, 0.25) - 1, 1e-12);
    EXPECT_NEAR(scores.families[0].naive, 0, 1e-12); // one job on one GPU: the number fits
    EXPECT_NEAR(scores.families[1].naive, 0.75, 1e-12);
    EXPECT_NEAR(scores.mean_of_means.mean, scores.families[0].mean / 2, 1e-12);
    EXPECT_NEAR(fabs(predicted[scores.worst[0]] - 1), 0.2, 1e-12);
    arena_close(r.arena);
}

// What families share is learned from the others; a family alone has nobody to learn from.
TEST(leaving_a_family_out_uses_only_the_others) {
    Reading r = read_text(HEADER "a,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,\n");
    const MeasuredRun *like = &r.runs.items[0];
    MeasuredRun runs[40];
    PredictedRun made[40];
    for (int i = 0; i < 40; i++) made[i] = made_up(like, &runs[i], i < 20 ? "one" : "two", i < 20 ? 1.2 : 1.1, 1);
    CrossFit both = cross_fit(r.arena, made, 40), alone = cross_fit(r.arena, made, 20);
    EXPECT_INT(both.fitted_count, 1);
    EXPECT_NEAR(both.factors[0], 1.1, 0.02);  // from "two", less what the prior pulls
    EXPECT_NEAR(both.factors[39], 1.2, 0.04); // from "one"
    EXPECT_NEAR(alone.factors[0], 1, 1e-6);
    EXPECT(both.fitted[0].value > 1.1 && both.fitted[0].value < 1.2);
    arena_close(r.arena);
}

// Two families that only Composer's rule tells apart from what is usual, and one of Megatron.
TEST(what_only_rows_left_out_told_is_withheld_of_them) {
    Reading r =
        read_text(HEADER "a,one,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,Composer,1,1,1,0,2,2,fp16,none,1,\n"
                         "b,two,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,Megatron-LM,1,1,1,0,2,2,fp16,none,1,\n"
                         "c,three,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,Megatron-LM,1,1,1,0,2,2,fp16,none,1,\n");
    PredictedRun runs[3];
    for (int i = 0; i < 3; i++) runs[i] = predict_run(r.arena, r.catalogue, &r.runs.items[i]);
    EXPECT_TEXT(runs[0].run->software->word, "composer");
    NestedAnswer family = nested_answer(r.arena, r.catalogue, runs, 3, NESTED_FAMILY);
    EXPECT_INT(family.folds, 3);
    EXPECT_INT(family.scores.all.covered, 3);
    EXPECT_TEXT(family.runs[0].run->software->word, ""); // nobody else told of Composer
    EXPECT(family.runs[0].assumed & (1u << ASSUMED_FRAMEWORK));
    EXPECT_NEAR(family.runs[0].run->measured_step_s, 1, 0);
    EXPECT_TEXT(family.runs[1].run->software->word, "megatron"); // the third did
    NestedAnswer nameless = nested_answer(r.arena, r.catalogue, runs, 3, NESTED_FRAMEWORK);
    for (int i = 0; i < 3; i++) EXPECT_TEXT(nameless.runs[i].run->software->word, "");
    EXPECT_INT(nested_answer(r.arena, r.catalogue, runs, 3, NESTED_SCALE).scores.all.covered, 0);
    for (int i = 0; software_rule(i); i++) {
        RuleWorth worth = rule_worth(r.arena, r.catalogue, runs, 3, i);
        bool composer = strcmp(software_rule(i)->word, "composer") == 0;
        if (composer) EXPECT_INT(worth.families * 10 + worth.rows, 11);
        EXPECT(worth.better + worth.worse <= worth.families);
    }
    arena_close(r.arena);
}

// Four layouts of one question and one of another: the choice costs what it takes longer than the best.
TEST(regret_is_what_the_chosen_layout_takes_beyond_the_best) {
    Reading r = read_text(HEADER "a,f,GPT,decoder,24,2048,16,51200,2048,A100,8,1,8,x,1,1,8,0,1,64,fp16,none,1.0,\n"
                                 "b,f,GPT,decoder,24,2048,16,51200,2048,A100,8,1,8,x,2,1,4,0,1,64,fp16,none,1.2,\n"
                                 "c,f,GPT,decoder,24,2048,16,51200,2048,A100,8,1,8,x,4,1,2,0,1,64,fp16,none,1.4,\n"
                                 "d,f,GPT,decoder,24,2048,16,51200,2048,A100,8,1,8,x,4,1,2,0,1,64,fp16,none,1.5,\n"
                                 "e,f,GPT,decoder,24,2048,16,51200,2048,A100,8,1,8,x,8,1,1,0,1,32,fp16,none,0.1,\n");
    PredictedRun runs[5];
    for (int i = 0; i < 5; i++) runs[i] = predict_run(r.arena, r.catalogue, &r.runs.items[i]);
    for (int i = 0; i < 5; i++) runs[i].step_s = 1;
    runs[1].step_s = 0.9;
    Regret regret = regret_of(r.arena, runs, 5, NULL);
    EXPECT_INT(regret.groups, 1);
    EXPECT_INT(regret.rows, 3); // the fourth has the third's layout, the fifth another batch
    EXPECT_NEAR(regret.mean, 0.2, 1e-12);
    EXPECT_NEAR(regret.middling, 0.2, 1e-12);
    EXPECT_INT(regret.chosen, 1);
    EXPECT_INT(regret.fastest, 0);
    double factors[5] = {0.8, 1, 1, 1, 1};
    EXPECT_NEAR(regret_of(r.arena, runs, 5, factors).mean, 0, 1e-12);
    EXPECT_INT(regret_of(r.arena, runs, 2, NULL).groups, 0);
    arena_close(r.arena);
}

// ---- The command.

TEST(validate_training_answers_and_refuses) {
    const Ended *ended = run_asked(&validate_training_question, "training --family torchtitan");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "torchtitan");
    EXPECT_CONTAINS(ended->out, "mean of families");
    ended = run_asked(&validate_training_question, "training --family torchtitan --csv");
    EXPECT_CONTAINS(ended->out, "row_id,family,measured_s,predicted_s");
    ended = run_asked(&validate_training_question, "training --family torchtitan --json");
    EXPECT_CONTAINS(ended->out, "\"format_version\": 2");
    ended = run_asked(&validate_training_question, "training --family nobody");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "no family's name contains \"nobody\"");
    EXPECT_INT(run_asked(&validate_training_question, "training --cross --anchored")->code, 2);
    EXPECT_INT(run_asked(&validate_training_question, "training --nested --rules")->code, 2);
    ended = run_asked(&validate_training_question, "training --nested --family nemo-2");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "framework names withheld");
    ended = run_asked(&validate_training_question, "training --rules --family nemo-25");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Megatron-Core: ");
    EXPECT_INT(run_asked(&validate_training_question, "training absent.csv")->code, 4);
    EXPECT_INT(run_asked(&validate_training_question, "training --nonsense")->code, 2);
    EXPECT_INT(run_command(command_validate, "validate")->code, 2);
    EXPECT_CONTAINS(run_command(command_validate, "validate trainings")->err, "did you mean");
}

// What other programs read: every row of the input, predicted also where nothing was measured, a bad one with its
// reason.
TEST(validate_training_writes_every_row) {
    char folder[] = "/tmp/lockstep-rows-XXXXXX", in[64], out[64], line[160];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(in, sizeof in, "%s/in.csv", folder);
    snprintf(out, sizeof out, "%s/out.csv", folder);
    FILE *file = fopen(in, "w");
    fputs(HEADER "timed,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,1,\n"
                 "blind,f,GPT,decoder,24,2048,16,51200,2048,A100,1,1,1,x,1,1,1,0,2,2,fp16,none,,\n"
                 "bad,f,GPT,decoder,24,2048,16,51200,2048,A900,1,1,1,x,1,1,1,0,2,2,fp16,none,1,\n",
          file);
    fclose(file);
    snprintf(line, sizeof line, "training %s --rows %s", in, out);
    EXPECT_INT(run_asked(&validate_training_question, line)->code, 0);
    char text[4096] = "";
    file = fopen(out, "r");
    EXPECT(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    EXPECT_CONTAINS(text, "row_id,family,status,reason,measured_step_s,predicted_step_s,error_pct,measured_mem_bytes,"
                          "predicted_mem_bytes,seconds_to_predict\n");
    EXPECT_CONTAINS(text, "\ntimed,f,ok,iter_time_s,1,");
    EXPECT_CONTAINS(text, "\nblind,f,ok,neither a step time nor a throughput is published,,0.");
    EXPECT_CONTAINS(text, "\nbad,f,skipped,\"no GPU is called \"\"A900\"\"");
    snprintf(line, sizeof line, "training %s --rows %s/absent/out.csv", in, folder);
    EXPECT_INT(run_asked(&validate_training_question, line)->code, 1);
    EXPECT(remove(in) == 0 && remove(out) == 0 && rmdir(folder) == 0);
}

// A ratchet: what was reached, plus one point of error. To be tightened when a model gets better. The two files whose
// pipelines of hundreds of micro-batches take most of the time are left to `make` users; a family of theirs stands in.
#define FOLDER "calibrate/measurements/training/training_"
#define MOST_MEAN_PERCENT 9.4
#define LEAST_FAMILIES 25
#define LEAST_ROWS 1480
LONG_TEST(2, the_scoreboard_does_not_get_worse) {
    const Ended *ended = run_asked(
        &validate_training_question,
        "training " FOLDER "cnn_dle.csv " FOLDER "dlperf.csv " FOLDER "fsdp_mosaic.csv " FOLDER "lambda.csv " FOLDER
        "llm_dgxc.csv " FOLDER "llm_fsdp.csv " FOLDER "llm_nvidia.csv " FOLDER "llm_vtrain.csv " FOLDER
        "mlperf.csv " FOLDER "neusight.csv " FOLDER "scaling_misc.csv " FOLDER "single_gpu.csv");
    const char *line = strstr(ended->out, "mean of families  ");
    int covered = 0, rows = 0;
    double mean = NAN;
    EXPECT(line && sscanf(line + strlen("mean of families"), "%d %lf", &covered, &mean) == 2);
    EXPECT(covered >= LEAST_FAMILIES);
    EXPECT(mean <= MOST_MEAN_PERCENT);
    EXPECT(sscanf(ended->out, "%d of %d rows", &covered, &rows) == 2);
    EXPECT(covered >= LEAST_ROWS);
    EXPECT_INT(run_asked(&validate_training_question, "training --family korthikanti")->code, 0);
}
