// A user-defined model: blocks of operators, each with its sizes per token (or per sample).
#pragma once

#include "models/workload/model/operators.h"

typedef enum WrittenKind {
    WRITTEN_GEMM,
    WRITTEN_ATTENTION,
    WRITTEN_NORM, // with the sum and the dropout next to it in a layer
    WRITTEN_ELEMENTWISE,
    WRITTEN_LOOKUP,
    WRITTEN_DISPATCH, // tokens to the ranks of their experts, and
    WRITTEN_COMBINE,  // back: operators between these work on routed tokens, with weights for each expert
    WRITTEN_LOSS,
    WRITTEN_KIND_COUNT
} WrittenKind;
extern const char *const written_kind_names[WRITTEN_KIND_COUNT];

// Tensor-parallel split of a product's weights: by columns each GPU has a part of the output, and all later operators
// work on such parts, until rows are summed over the GPUs.
typedef enum TensorSplit { SPLIT_NOT, SPLIT_COLUMNS, SPLIT_ROWS, TENSOR_SPLIT_COUNT } TensorSplit;
extern const char *const tensor_split_names[TENSOR_SPLIT_COUNT];

typedef struct WrittenOperator { // sizes that its kind has; others are 0
    Where where;
    WrittenKind kind;
    const char *name; // NULL: its kind's
    int n, k;         // GEMM: k numbers become n
    int rows, width;  // width: numbers of a token
    int heads, kv_heads, head_dim;
    bool causal, bias, gated; // gated: reads two of its width
    TensorSplit split;
    double passes[2]; // ELEMENTWISE: tensors of its width read and written, forward and backward; 0: usual
    double kept;      // numbers of a token kept for backward; below 0: usual
    // Worked out by model_written:
    bool routed;  // between dispatch and combine
    bool in_part; // works on a GPU's part of the width
    bool enters;  // is the first to read whole input and give a part
    KeptAs input; // of a product: the operator before it may keep that already
} WrittenOperator;

typedef struct WrittenBlock {
    Where where;
    const char *name;
    int times; // number of consecutive repeats
    WrittenOperator *operators;
    int count;
} WrittenBlock;

typedef struct WrittenModel {
    const char *name;
    bool tokens; // samples are sequences
    int max_positions;
    int experts, per_token;
    WrittenBlock *blocks;
    int count;
    // Worked out:
    const int *block_of; // for each of the model's blocks
    bool ends;           // the first begins with a lookup, the last ends with a loss: layers are what lies between
    bool splits;         // tensor parallelism has something to split
} WrittenModel;

// NULL after problems. `written` stays with the model.
const Model *model_written(Arena *arena, WrittenModel *written, Where where, Problems *problems);
const WrittenBlock *written_block(const Model *model, int block);
bool written_has_experts(const Model *model, int block);
// What tp GPUs cannot share out evenly; NULL: all divides.
const WrittenOperator *written_undivided(const Model *model, int tp);
const char *written_name(const WrittenOperator *one);
// Numbers that an operator reads and gives for each token, whole.
double written_in(const WrittenOperator *one);
double written_out(const WrittenOperator *one);
