// Peaks of memory that were published: what each counts, how far predictions are from them, and what software holds
// that no formula of a layer knows.
#include <math.h>

#include "calibrate/training/training.h"
#include "tests/test.h"

#define ROW_HEADER                                                                                                     \
    "row_id,family,model,model_type,layers,hidden,heads,mlp_act,vocab,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,"       \
    "framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s,peak_mem_bytes,optimizer," \
    "metric_kind,notes,inferred,source\n"
// A small LLaMA on one GPU, `what` from zero_stage to the end.
#define SMALL(id, family, framework, what)                                                                             \
    id "," family ",LLaMA,decoder,16,2048,16,swiglu,32000,2048,A100-SXM4-80GB,1,1,8," framework ",1,1,1," what "\n"

static double square(double x) { return x * x; }

typedef struct Reading {
    Arena *arena;
    const Catalogue *catalogue;
    MeasuredRuns runs;
    PredictedRun *predicted;
} Reading;

static Reading read_text(const char *text) {
    Reading r = {.arena = arena_open()};
    r.catalogue = catalogue_builtin(r.arena);
    Problems *problems = problems_create(r.arena);
    EXPECT(measured_runs_read_text(r.arena, r.catalogue, "runs.csv", text, &r.runs, problems));
    EXPECT_INT(problem_count(problems), 0);
    r.predicted = ARENA_ARRAY(r.arena, PredictedRun, r.runs.count);
    for (int i = 0; i < r.runs.count; i++) {
        r.predicted[i] = predict_run(r.arena, r.catalogue, &r.runs.items[i]);
        EXPECT(r.predicted[i].skipped == NULL);
    }
    return r;
}

// nvidia-smi shows the context and unused room of the allocator, which a count of tensors does not have.
TEST(a_published_peak_is_compared_with_what_its_words_say_it_counts) {
#define ROW(framework, metric, notes, inferred, source)                                                                \
    SMALL("a", "f", framework, "0,1,1,bf16,none,1,3e10,adamw," metric "," notes "," inferred "," source)
    Reading r = read_text(ROW_HEADER ROW("PyTorch", "step time; peak allocated bytes of torch", "X MiB by nvidia-smi",
                                         "", "") ROW("PyTorch", "step time", "peak is reserved memory", "", "")
                              ROW("PyTorch", "step time", "", "memory is nvidia-smi MiB", "")
                                  ROW("PyTorch", "step time", "", "", "") ROW("torchtitan", "step time", "", "", "")
                                      ROW("PyTorch", "step time", "", "", "github:someone/nanogpt-speedrun"));
    static const MemoryCount counts[] = {MEMORY_ALLOCATED, MEMORY_RESERVED, MEMORY_OF_DEVICE,
                                         MEMORY_NOT_SAID,  MEMORY_RESERVED, MEMORY_ALLOCATED};
    for (int i = 0; i < 6; i++) EXPECT_INT(r.runs.items[i].memory_count, counts[i]);
    EXPECT(r.predicted[0].memory_bytes < r.predicted[1].memory_bytes);
    EXPECT(r.predicted[1].memory_bytes < r.predicted[2].memory_bytes);
    EXPECT_NEAR(r.predicted[3].memory_bytes, r.predicted[2].memory_bytes, 1e-12); // not said: as of the device, but the
    EXPECT_NEAR(r.predicted[3].memory_low, r.predicted[0].memory_low, 1e-12);     // range begins with that of tensors
    EXPECT_NEAR(r.predicted[3].memory_high, r.predicted[2].memory_high, 1e-12);
    arena_close(r.arena);
#undef ROW
}

// As large as what the program needs or not: the usual pool is the whole GPU's, or three quarters of it.
TEST(frameworks_that_take_a_pool_show_it) {
#define ROW(framework) SMALL("a", "f", framework, "0,1,1,bf16,none,1,3e10,adamw,,,,")
    Reading r = read_text(ROW_HEADER ROW("TensorFlow") ROW("JAX") ROW("PyTorch"));
    double capacity = r.runs.items[0].cluster->groups[0].gpu->memory_bytes;
    EXPECT_NEAR(r.predicted[0].memory_bytes, capacity, 1e-12);
    EXPECT_NEAR(r.predicted[1].memory_bytes, 0.75 * capacity, 1e-12);
    EXPECT(r.predicted[2].memory_bytes < 0.75 * capacity);
    arena_close(r.arena);
#undef ROW
}

// Something that it does not say saved what is missing.
TEST(a_published_run_had_room) {
    Reading r = read_text(ROW_HEADER SMALL("a", "f", "PyTorch", "0,64,64,bf16,none,1,7e10,adamw,,,,"));
    EXPECT_NEAR(r.predicted[0].memory_bytes, r.runs.items[0].cluster->groups[0].gpu->memory_bytes, 1e-12);
    EXPECT(r.predicted[0].assumed & (1u << ASSUMED_MEMORY));
    arena_close(r.arena);
}

// One vote a family, however many rows it has.
TEST(errors_of_memory_are_means_over_families) {
#define ROW(family, bytes) SMALL("a", family, "PyTorch", "0,1,1,bf16,none,1," bytes ",adamw,,,,")
    Reading r = read_text(ROW_HEADER ROW("f", "1e10") ROW("f", "1e10") ROW("f", "1e10") ROW("g", "1e12") ROW("h", ""));
    Scores scores = score_runs(r.arena, r.predicted, r.runs.count, NULL);
    double predicted = r.predicted[0].memory_bytes, f = predicted / 1e10 - 1, g = 1 - predicted / 1e12;
    const MemoryScore *mean = &scores.mean_of_means.memory;
    EXPECT_INT(mean->rows, 2);
    EXPECT_NEAR(mean->mean, (fabs(f) + g) / 2, 1e-9);
    EXPECT_NEAR(mean->bias, (f - g) / 2, 1e-9);
    EXPECT_NEAR(scores.median_memory_error, (fabs(f) + g) / 2, 1e-9);
    EXPECT_NEAR(scores.families[1].memory.inside, 0, 0); // a hundred times as much
    arena_close(r.arena);
#undef ROW
}

// ---- What a row says.

TEST(fused_losses_and_places_of_adapters_are_read_from_notes) {
#define ROW(framework, model, notes)                                                                                   \
    "a,f," model ",decoder,16,2048,16,swiglu,32000,2048,A100-SXM4-80GB,1,1,8," framework                               \
    ",1,1,1,0,1,1,bf16-true,none,1,3e10,adamw,step time,\"" notes "\",,\n"
    Reading r = read_text(ROW_HEADER ROW("HF Trainer", "LLaMA", "fused kernels for RMSNorm, RoPE, cross-entropy")
                              ROW("HF Trainer", "LLaMA", "Liger fused linear cross-entropy")
                                  ROW("prime-rl trainer (PyTorch FSDP2)", "LLaMA", "policy-gradient loss")
                                      ROW("HF Trainer", "LLaMA-LoRA", "LoRA rank 16 on q, k, v and o")
                                          ROW("HF Trainer", "LLaMA-LoRA", "LoRA rank 16 on all linear layers")
                                              ROW("HF Trainer", "LLaMA", "holds the longest batch (4096)"));
    const TrainingSpec *training[6];
    for (int i = 0; i < 6; i++) training[i] = &r.runs.items[i].training;
    EXPECT(training[0]->fused_loss && training[0]->fused_norms && training[0]->loss_chunks == 0);
    EXPECT(training[1]->fused_loss && training[1]->loss_chunks == 16);
    EXPECT(training[2]->loss_chunks == 16);
    EXPECT(!training[3]->lora_everywhere && training[4]->lora_everywhere);
    EXPECT_NEAR(r.runs.items[5].longest_seq_len, 4096, 0); // of which is the peak, not the time
    EXPECT(r.predicted[5].memory_bytes > 1.2 * r.predicted[3].memory_bytes);
    arena_close(r.arena);
#undef ROW
}

// What is asked of a model decides about its head: classes need neither logits nor a table of words for them.
TEST(who_classifies_has_no_logits) {
#define ROW(model, type, act, notes)                                                                                   \
    "a,f," model "," type ",12,768,12," act ",30522,512,A100-SXM4-80GB,1,1,8,HF Trainer"                               \
    ",1,1,1,0,32,32,bf16-true,none,1,3e10,adamw,step time,\"" notes "\",,\n"
    Reading r =
        read_text(ROW_HEADER ROW("BERT", "encoder", "gelu", "") ROW("BERT SST-2", "encoder", "gelu", "")
                      ROW("LLaMA", "decoder", "swiglu", "") ROW("LLaMA", "decoder", "swiglu", "classification head")
                          ROW("LLaMA", "decoder", "swiglu", "finetuned on SQuAD"));
    for (int i = 0; i < 5; i++) EXPECT(r.runs.items[i].training.classifies == (i == 1 || i == 3));
    for (int i = 0; i < 4; i += 2) {
        const PredictedRun *words = &r.predicted[i], *classes = &r.predicted[i + 1];
        EXPECT(!classes->skipped && classes->step_s < words->step_s && classes->memory_bytes < words->memory_bytes);
    }
    const Model *words = r.runs.items[2].training.model, *classes = r.runs.items[3].training.model;
    EXPECT_NEAR(model_parameters(words) - model_parameters(classes), 30522.0 * 768, 1e-12);
    arena_close(r.arena);
#undef ROW
}

TEST(optimizers_of_less_state_are_read_by_their_names) {
#define ROW(name) SMALL("a", "f", "PyTorch", "0,1,1,fp32,none,1,3e10," name ",,,,")
    Reading r = read_text(ROW_HEADER ROW("AdamW 8-bit") ROW("Adafactor") ROW("fused AdamW") ROW("sgd"));
    static const Optimizer optimizers[] = {OPTIMIZER_ADAM_8BIT, OPTIMIZER_ADAFACTOR, OPTIMIZER_ADAM, OPTIMIZER_SGD};
    for (int i = 0; i < 4; i++) EXPECT_INT(r.runs.items[i].training.optimizer, optimizers[i]);
    for (int i = 0; i < 3; i++) EXPECT(r.runs.items[i].unread == NULL);
    arena_close(r.arena);
#undef ROW
}

// A zoo's entry names the backbone that its model's name lacks; a count of parameters that has the 53,120 of
// ResNet-50's norms more tells that they learn, and all of the backbone with them; a note tells the size of images.
// What a row says of none of these it leaves as usual.
TEST(a_detectors_row_tells_its_backbone_its_norms_and_its_images) {
#define HEADER                                                                                                         \
    "row_id,family,source_loc,model,model_type,n_params,image_size,gpu,n_gpus,n_nodes,gpus_per_node,framework,tp,pp,"  \
    "dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s,peak_mem_bytes,optimizer,metric_kind,"     \
    "notes\n"
#define ROW(place, model, parameters, notes)                                                                           \
    "a,f," place "," model ",cnn_det," parameters ",800,V100-SXM2-32GB,1,1,8,PyTorch Detectron2,1,1,1,0,2,2,fp32,"     \
    "none,1,3e9,sgd,train time; peak allocated memory," notes "\n"
    Reading r = read_text(HEADER ROW("line 1 (rpn_R_50_C4_1x)", "RPN", "", "")                  //
                          ROW("RPN: R-50-C4 RPN 1x", "RPN", "", "")                             //
                          ROW("line 2 (rpn_R_50_FPN_1x)", "RPN", "", "")                        //
                          ROW("line 3 (faster_rcnn_R_50_C4_1x)", "Faster R-CNN R50-C4", "", "") //
                          ROW("", "Faster R-CNN R50-FPN", "41755286", "")                       //
                          ROW("", "Faster R-CNN R50-FPN", "41808406", "")                       //
                          ROW("", "Faster R-CNN R50-FPN", "41900000", "")                       //
                          ROW("", "Faster R-CNN R50-FPN", "", "detector: images 800 x 1216; 7 boxes"));
    EXPECT_TEXT(r.runs.items[0].training.model->name, "rpn-resnet-50-c4");
    EXPECT_TEXT(r.runs.items[1].training.model->name, "rpn-resnet-50-c4");
    EXPECT_TEXT(r.runs.items[2].training.model->name, "rpn-resnet-50");
    EXPECT_TEXT(r.runs.items[3].training.model->name, "faster-rcnn-resnet-50-c4");
    const PredictedRun *usual = &r.predicted[4], *learns = &r.predicted[5], *other = &r.predicted[6];
    EXPECT_NEAR(model_parameters(r.runs.items[5].training.model), 41808406, 0);
    EXPECT(learns->step_s > 1.05 * usual->step_s && learns->memory_bytes > 1.5 * usual->memory_bytes);
    EXPECT_NEAR(other->step_s, usual->step_s, 1e-12);
    EXPECT_INT(r.runs.items[4].training.model->image_size, 800);
    EXPECT_NEAR(square(r.runs.items[7].training.model->image_size) * 1.36, 800 * 1216, 0.01);
    arena_close(r.arena);
#undef ROW
#undef HEADER
}

// Images of 800 x 1067 in the mean: of batches grouped by shape the largest is padded to 800 x 1344, of others to
// 1344 x 1344. One size for all has no largest.
TEST(a_detectors_peak_is_that_of_its_largest_batch) {
#define ROW(framework, type, batch)                                                                                    \
    "a,f,RetinaNet-ResNet-50," type ",,,,,,,V100-SXM2-32GB,1,1,8," framework ",1,1,1,0," batch "," batch               \
    ",fp32,none,1,3e9,sgd,train time; peak allocated memory,,,\n"
    Reading r = read_text(ROW_HEADER ROW("PyTorch Detectron2", "cnn_det", "2") ROW("PyTorch (NGC)", "cnn_det", "2")
                              ROW("PyTorch (mmdetection)", "cnn_det", "2") ROW("Detectron (Caffe2)", "cnn_det", "2")
                                  ROW("PyTorch (NGC)", "cnn_det", "1"));
    static const double pixels[] = {1344.0 * 800, 1344.0 * 1344, 1344.0 * 800, 1344.0 * 800, 1344.0 * 800};
    for (int i = 0; i < 5; i++) {
        const Model *largest = r.runs.items[i].largest_model;
        EXPECT(largest && r.runs.items[i].training.model->image_size == 800);
        EXPECT_NEAR(largest->image_size * (double)largest->image_size * 4 / 3, pixels[i], 0.01);
    }
    // Fixed norms keep nothing, or what goes in; nothing is freed, of frozen stages neither.
    double grouped = r.predicted[0].memory_bytes;
    EXPECT(r.predicted[1].memory_bytes > 1.4 * grouped);
    EXPECT(r.predicted[2].memory_bytes > 1.2 * grouped && r.predicted[3].memory_bytes > 1.2 * grouped);
    EXPECT_NEAR(r.predicted[0].step_s, r.predicted[2].step_s, 1e-12); // the usual batch decides the time
    arena_close(r.arena);
#undef ROW
}
