// Shared by the files that read measured training runs: a row's cells, and the run under construction.
#pragma once

#include <string.h>

#include "calibrate/training/training.h"
#include "models/workload/job/job.h"

typedef enum Column {
    ROW_ID,
    FAMILY,
    MODEL,
    MODEL_TYPE,
    MLP_ACT,
    GPU,
    INTRA_LINK,
    INTER_LINK,
    FRAMEWORK_NAME,
    SOFTWARE,
    COMPILED,
    PRECISION,
    RECOMPUTE,
    ATTENTION,
    OVERLAP,
    OPTIMIZER,
    METRIC_KIND,
    NOTES,
    SOURCE,
    PLACE,
    INFERRED,
    FIRST_NUMBER,
    PARAMETERS = FIRST_NUMBER,
    LAYERS,
    HIDDEN,
    HEADS,
    KV_HEADS,
    FFN,
    VOCAB,
    SEQ_LEN,
    EXPERTS,
    EXPERTS_PER_TOKEN,
    EXPERT_FFN,
    IMAGE_SIZE,
    GPU_MEMORY,
    GPU_POWER,
    GPUS,
    NODES,
    GPUS_PER_NODE,
    LINK_SPEED,
    NICS,
    NIC_SPEED,
    TP,
    PP,
    VP,
    CP,
    EP,
    ETP,
    DP,
    ZERO,
    SHARD_GROUP,
    SEQUENCE_PARALLEL,
    MICRO_BATCH,
    ACCUMULATION,
    GLOBAL_BATCH,
    ITER_TIME,
    TOKENS_PER_S,
    TOKENS_PER_S_GPU,
    SAMPLES_PER_S,
    SAMPLES_PER_S_GPU,
    MODEL_TFLOPS,
    HARDWARE_TFLOPS,
    TIME_TO_TRAIN,
    PEAK_MEMORY,
    COLUMN_COUNT
} Column;

#define HOST_CORES 64 // of every measured node

typedef struct Row {
    Arena *arena;
    const Catalogue *catalogue;
    Problems *problems;
    MeasuredRun *run;
    const char *text[COLUMN_COUNT];
    double number[COLUMN_COUNT]; // 0: empty, and for ZERO, EXPERTS and SEQUENCE_PARALLEL a stated 0 too
    JobSaid said;
    const Gpu *gpu;
    int gpu_count, gpus_per_node;
    Withheld withheld;
} Row;

static inline bool stated(const Row *row, Column column) { return row->text[column][0] != '\0'; }
bool says(const Row *row, Column column, const char *word); // whatever the case
static inline void assume(Row *row, Assumed what) { row->run->assumed |= 1u << what; }
// The first reason is kept.
void skip(Row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *column_word(Column column);

// Steps: each fills its part of the run or gives the reason for skipping the row.
void read_model(Row *row);
void read_gpu(Row *row);
void read_cluster(Row *row);
void read_software(Row *row);
void read_precision(Row *row);
void read_recompute(Row *row);
void read_layout(Row *row);
void read_batch(Row *row);
void make_job(Row *row); // from the results of the steps before
