// Models from first principles: layers, parameters and FLOPs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"
#include "sim/data/json.h"

typedef enum ModelKind { MODEL_TRANSFORMER, MODEL_CNN, MODEL_MLP, MODEL_OPERATORS } ModelKind;

typedef enum LayerKind {
    LAYER_CONVOLUTION,
    LAYER_LINEAR,    // in_channels x out_channels, the same at every place
    LAYER_ELEMENTS,  // no product: a pooling, a norm, an activation or a copy of the input
    LAYER_ATTENTION, // between places; the layer before gives queries, keys and values
    LAYER_RECURRENT, // LSTM: steps along time, each of which needs the one before
    LAYER_CONTRAST,  // two embeddings of each sample, held against those of all samples on all GPUs
    LAYER_KIND_COUNT
} LayerKind;

// What of a layer learns.
typedef enum Learning {
    LEARNS,
    LEARNS_NOT,  // its weights are fixed; gradients pass through it
    LEARNS_NEVER // nor does anything before it: it has no backward at all
} Learning;

typedef struct ConvShape {
    int kernel, stride, groups;
    int kernel_wide; // where the kernel is not as wide as high; 0: it is
    bool dilated;    // its taps lie apart
    bool transposed; // backwards: the image grows
} ConvShape;

typedef struct PlaceAttention {
    int heads;
    int window; // places along the side of a square within which they meet
    int keys;   // or of all positions to this number of keys; 0: within windows
} PlaceAttention;

// One layer of a network of images, volumes, sounds or sentences with what follows it. Sizes are of one sample.
typedef struct NetLayer {
    const char *name;
    LayerKind kind;
    int block; // which block (below) it belongs to
    int in_channels, out_channels;
    int in_size, out_size; // along each dimension: height = width
    int dimensions;        // 1: sounds; 3: volumes; 0: 2, images
    double regions;        // number of these squares per image (boxes; a wide image); 0: 1
    bool sequential;       // its places along time one after the other, by kernels that the host issues for each
    bool shared;           // its weights are an earlier layer's
    Learning learning;
    // What one kind has.
    ConvShape conv;
    PlaceAttention attention;
    int pool_kernel; // of a layer of elements; 0: it does not pool
    // What follows.
    bool batch_norm, relu, residual_add; // relu: or another activation
    bool layer_norm, bias, scaled;       // scaled: by a learned factor for each channel
    bool max_pool_after;                 // 3x3 stride 2, on this layer's output
    bool copied;                         // branches are copied to lie side by side
    int squeeze;                         // channels are weighted by a network of this width (SE); 0 none
    bool fixed_norm;                     // a norm of fixed statistics: a scale and a shift for each channel
    bool instance_norm;                  // the layer norm is of each channel: autocast leaves it in 16 bits
    bool smooth;                         // its activation keeps its input; of a ReLU the output is enough
    bool norm_keeps;                     // what went into that, as for a norm whose scale learns
    double tensors;                      // of 32 bits, each as large as its output, that its passes keep
    double passes[2];                    // over its output, beyond all the above; forward, backward
    int kernels[2];                      // that do them
    double table;                        // parameters looked up, added or multiplied by, beyond the above
    int kernels_per_image;               // work on single images too small to count but for its launches
} NetLayer;

// Layers whose MLP is a choice of experts. Layer i of 0 … is one when i >= first_dense and every-th: (i + 1) % every =
// 0.
typedef struct ExpertShape {
    int count, per_token, ffn; // count 0: none
    int shared_ffn;            // width of the experts that every token passes, together; 0 none
    int first_dense, every;
    bool shared_gate; // the shared experts' sum is scaled by a learned gate (Qwen2)
    bool biases;      // each expert's products have biases (gpt-oss)
} ExpertShape;

// Queries, keys and values from low-rank latents (MLA; DeepSeek-V2, 2024). key_rank 0: none.
typedef struct LatentShape {
    int query_rank; // 0: queries straight from the hidden state
    int key_rank, plain_dim, rotary_dim, value_dim;
} LatentShape;

typedef struct Model {
    const char *name, *family;
    const char *source; // where its shape is published
    ModelKind kind;
    // Blocks are what a pipeline or layer-wise split may not cut: transformer: embedding, each layer, head;
    // CNN: stem, each residual block, classifier; MLP: each linear layer.
    int block_count;
    // Transformer
    int layers, hidden, heads, kv_heads, head_dim, ffn, vocab, max_positions;
    bool gated_mlp, tied_embedding, learned_positions, biases, causal, rms_norm;
    bool query_biases,
        query_norms; // on queries, keys and values (Qwen2); a norm of each head's queries and keys (Qwen3)
    ExpertShape experts;
    LatentShape latent;
    int extra_heads;   // layers that predict tokens further on, each with an own layer (MTP; DeepSeek-V3, 2024)
    double head_share; // share of positions that get logits: 1, or an encoder's masked 20 of 128
    // Encoder and decoder (T5): that many of the layers read the source, the others write the target and attend to
    // the encoder's output; target tokens for each token of the source. 0: one stack of layers.
    int encoder_layers;
    double target_share;
    // Image patches with sides of this many pixels are the tokens (ViT); 0: tokens are words. The vocabulary is the
    // classes, with logits for only one token of each image.
    int patch;
    // CNN, and ViT
    int image_size, classes;
    int dimensions;             // of the input; 0: 2
    bool of_words;              // its size is the subwords of a sentence, not samples of sound
    const NetLayer *net_layers; // and of MLPs
    int net_layer_count;
    // MLP: widths[0] inputs … widths[width_count-1] outputs
    const int *widths;
    int width_count;
    const struct WrittenModel *written; // of operators (operators.h); NULL: of the shapes above
} Model;

// The built-in library: transformers (transformer.c), image networks (image_models.c), mlp-mnist. Known by name or
// alias.
const char *const *model_names(int *count);
// Also by the name on a hub, with its owner ("meta-llama/Llama-3.1-8B"). NULL after "no model is called …" with
// did-you-mean. Image size and sequence length are set by the training.
const Model *find_model(Arena *arena, const char *name, Where where, Problems *problems);

// Of a published name: "Meta-Llama-3-8B-Instruct" without what stands before or behind the library's name, of the size
// that it says; what is trained on from another model has the other's shape. NULL: none.
const Model *model_published(Arena *arena, const char *said);
double billions_said(const char *name); // of parameters: 8 of "granite-3.0-8b-base"; 0: it does not say

typedef struct TransformerShape { // what a user writes for a model of his own; 0 = default (ffn 4 x hidden, kv_heads =
                                  // heads, …)
    const char *name;
    int layers, hidden, heads, kv_heads, head_dim, ffn, vocab, max_positions;
    bool gated_mlp, untied_embedding, causal, rms_norm, query_norms;
    ExpertShape experts; // ffn 0: as the MLP's, every 0: each layer
    LatentShape latent;  // widths 0: DeepSeek-V3's; then kv_heads and head_dim follow
    int extra_heads;
} TransformerShape;
// Adds problems when sizes are missing, negative, or do not divide.
const Model *model_transformer(Arena *arena, const TransformerShape *shape, Where where, Problems *problems);
const char *model_size_name(int index); // of "transformer:layers=32,…"; NULL behind the last
// That size of a transformer as it would be written there; NULL: it has none, or is no transformer.
const char *model_size_text(Arena *arena, const Model *model, int index);
const Model *model_resnet(Arena *arena, int depth, int image_size, int classes, Where where, Problems *problems);
const Model *model_mlp(Arena *arena, const char *name, const int *widths, int width_count, Where where,
                       Problems *problems);
typedef struct LstmShape {
    int layers, hidden, vocab, words; // words of a sentence
} LstmShape;
const Model *model_lstm(Arena *arena, const char *name, LstmShape shape);
// The same network for images of another size or another number of classes; 0: as it is. Only of models that take
// images.
const Model *model_resized(Arena *arena, const Model *model, int image_size, int classes);

// Default tokens of a sequence: what the model was trained at, where that is known and shorter than its longest; and
// the source of the number (model.c).
int usual_tokens(const Model *model, const char **source);

// What its kind decides.
const char *model_kind_name(const Model *model); // "transformer", …
const char *sample_name(const Model *model);     // of many: "sequences", "images", "samples"
bool counts_tokens(const Model *model);          // samples are sequences of tokens, of the job's length
bool convolves(const Model *model);              // made of layers for images, volumes or sounds
bool takes_images(const Model *model);           // or sounds or volumes
bool splits_products(const Model *model);        // among tensor-parallel GPUs
bool names_parts(const Model *model);            // attention, MLP, experts: recomputation and LoRA choose among them
// A pipeline spreads layers; the blocks before them (embedding, stem) and after them (head, classifier) go with its
// ends.
int first_layer(const Model *model);
int layers_to_spread(const Model *model);
bool ends_stand_alone(const Model *model); // an end of a pipeline may do without layers
const char *block_name(Arena *arena, const Model *model, int block);
// Bytes of one sample's input, and of the model's output; element: bytes of an activation.
double sample_bytes(const Model *model, double seq_len);
double answer_bytes(const Model *model, double seq_len, double element);

double sample_values(const Model *model); // numbers that one of them comes as
int least_image_size(const Model *model); // below it nothing is left of an image

double model_parameters(const Model *model);           // all
double model_active_parameters(const Model *model);    // that one token meets: of routed experts only those chosen
bool has_experts(const Model *model, int block);       // whether this block's MLP is a choice of experts
double model_embedding_parameters(const Model *model); // token and position tables (tied head counted once)
double block_parameters(const Model *model, int block);

// Model FLOPs of forward and backward of one sample (sequence of seq_len tokens, image, or vector), the number MFU is
// counted with: matrix multiplications only, backward twice forward, no recompute, attention over the full square
// as Megatron counts it (F = 72 B s l h^2 (1 + s/6h + V/12lh); Narayanan et al. 2021).
double model_flops_per_sample(const Model *model, int seq_len);
double model_forward_flops_per_sample(const Model *model, int seq_len);
double block_forward_flops(const Model *model, int block, double seq_len);

// ---- Models from the config.json of the Hugging Face hub (hf_config.c).

// A key that is absent or null has the value of that model_type's class. as: read it as this model_type, or NULL for
// the file's own. NULL after problems, which name the key.
const Model *hf_model_read_file(Arena *arena, const char *path, const char *as, Problems *problems);
// Of a path that a scenario names, at `where`.
const Model *hf_model_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
const Model *hf_model_from_json(Arena *arena, const Json *json, const char *as, Problems *problems);
