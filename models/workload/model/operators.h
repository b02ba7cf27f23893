// A layer as a list: the operators of its forward pass in order, each with its products, bytes moved, parameters, and
// activations kept for backward. Parameters, FLOPs and activations are sums over such lists; a transformer's seconds
// are walks over them.
#pragma once

#include "models/workload/model/model.h"
#include "sim/base/check.h"

typedef enum OperatorKind {
    OPERATOR_GEMM,
    OPERATOR_CONVOLUTION,
    OPERATOR_ATTENTION,
    OPERATOR_RECURRENT,
    OPERATOR_NORM,
    OPERATOR_ELEMENTWISE,
    OPERATOR_LOOKUP,
    OPERATOR_LOSS,
    OPERATOR_CONTRAST,
    OPERATOR_KIND_COUNT
} OperatorKind;
extern const char *const operator_kind_names[OPERATOR_KIND_COUNT];

// Parameters: matrices that tensor parallelism splits, those of routed experts apart, and what every GPU has.
typedef struct LayerWeights {
    double split, routed, whole;
} LayerWeights;

// Tensors kept for backward; the bytes of an element depend on software.
typedef enum KeptAs {
    KEPT_NOT,
    KEPT_ELEMENTS,   // as activations are
    KEPT_INPUT,      // of a product: in 8 bits where the product casts it
    KEPT_NORMED,     // KEPT_INPUT, from a norm
    KEPT_MORE_CASTS, // KEPT_NORMED, again for each further product that reads it, where each casts for itself
    KEPT_CAST,       // cast for a product, in addition to what is kept for others
    KEPT_STREAM,     // the hidden states between layers
    KEPT_ROOT,       // of an RMS norm made of operators: in 32 bits, and the quotient, besides the input
    KEPT_HEAD_ROOT,  // the same of a head's queries and keys, without the input
    KEPT_MASK,       // of dropout
    KEPT_SCORES,     // softmax, its dropped-out copy and the mask, where attention is not flash
    KEPT_COMPOSED,   // of an activation made of operators, in addition to its input
    KEPT_GATE,       // of SwiGLU, where software keeps its activation apart
    KEPT_SORTED,     // tokens in the order of their experts, where that is not part of the exchange
    KEPT_LOGARITHMS, // of 32 bits
    KEPT_PIXELS,
    KEPT_PLACE_SCORES, // between places, where attention is not flash
    KEPT_PAIRS,        // one number of 32 bits for each sample of all GPUs
    KEPT_AS_COUNT
} KeptAs;

typedef struct Kept {
    KeptAs as;
    double elements;
} Kept;

// Parts of a layer that backward may compute again instead.
typedef enum LayerPart {
    PART_OTHER,
    PART_LATENT_UP,
    PART_CROSS, // attention to a source
    PART_MLP,
    PART_EXPERTS,
    PART_EXPERTS_DOWN, // reads what the experts' activation gives
    PART_SHARED_EXPERTS,
    LAYER_PART_COUNT
} LayerPart;

// Where what an operator works on passes between the GPUs that share a layer.
typedef enum Region {
    REGION_NONE,
    REGION_ENTERS,         // a product that tensor parallelism splits by columns; consecutive ones share their input
    REGION_ENTERS_WAITING, // the same, without overlap of the exchange
    REGION_ENTERS_SOURCE,  // the same, of a decoder's input from the source
    REGION_LEAVES,         // a product that is split by rows, or the sum after such products
    REGION_ROUTES,         // the choice of experts
    REGION_DISPATCHES,     // tokens go to the ranks of their experts,
    REGION_COMBINES        // and back
} Region;

// Software's passes over hidden states and its kernels are counted for half a layer, attention or MLP, at a time, on
// one operator of the half.
typedef enum HalfLayer { HALF_PASSES = 1, HALF_KERNELS_FORWARD = 2, HALF_KERNELS_BACKWARD = 4 } HalfLayer;

typedef struct Operator {
    const char *name; // as Megatron-Core, torchvision and profiles call it
    OperatorKind kind;
    double times;          // number of equal consecutive ones; 0: 1
    double batch, m, n, k; // a product: `batch` of m x k by k x n at once; attention: m queries, n keys; else 0
    double flops;          // of matrix products, forward
    double read, written;  // elements of tensors, weights counted in
    double fed;            // of `read`, the elements from the previous layer (networks of NetLayers)
    LayerWeights weights;  // of the model, not of one GPU
    // Of transformers:
    LayerPart part;
    Kept kept[3];
    Region region;
    unsigned half;   // of a layer: bits of HalfLayer
    bool in_16_bits; // where other products are in 8
    int adapters[2]; // LoRA's of this product: where attention alone has them, where every product has its own
} Operator;

#define OPERATORS_ROOM 512
typedef struct OperatorList {
    Operator items[OPERATORS_ROOM];
    int count;
} OperatorList;

// What of a block one GPU works on.
typedef struct Portion {
    double samples, tokens; // tokens of all its samples, after context parallelism
    double seq_len;         // keys that each query meets
    double source_len;      // tokens of the source that a decoder's layer looks at; 0 none
    double routed;          // tokens, with repeats, that its experts take in
    double tp, ep, etp;     // etp: of those tp, how many share each routed expert
    double share;           // of the tokens between tensor-parallel regions: 1/tp with sequence parallelism, else 1
} Portion;

// One sample on one GPU, as this block sees it: a decoder's layers work on the target.
Portion portion_of_sample(const Model *model, int block, double seq_len);

// Made in one place for each kind of model and layer: operators_transformer.c, operators.c
// (layers of each kind: a row there).
void block_operators(const Model *model, int block, const Portion *portion, OperatorList *operators);

// A product's FLOPs, reads and writes follow from its shape by default.
static inline void add_operator(OperatorList *operators, Operator added) {
    CHECK(operators->count < OPERATORS_ROOM);
    Operator *one = &operators->items[operators->count++];
    *one = added;
    double product = added.batch * added.m * added.n;
    if (added.times == 0) one->times = 1;
    if (added.flops == 0) one->flops = 2 * product * added.k;
    if (added.written == 0) one->written = product;
    if (added.read == 0) one->read = added.batch * added.k * (added.m + added.n);
}
double operator_flops(const OperatorList *operators);
LayerWeights operator_weights(const OperatorList *operators);
double all_weights(const OperatorList *operators);

// The kinds of layers that networks of images, sounds and sentences are made of: a row for each.

// The operator of a layer by itself, on `samples` samples.
Operator layer_operator(const NetLayer *layer, double samples);

// ---- A user-defined model: blocks of operators, each with its sizes per token (or per sample).

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
