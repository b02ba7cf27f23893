// Functions of the model families that model.c dispatches to.
#pragma once

#include "models/workload/model/model.h"
#include "models/workload/model/operators.h"

// The width of all query heads together, and of keys (or values).
static inline double query_width(const Model *model) { return (double)model->heads * model->head_dim; }
static inline double key_width(const Model *model) { return (double)model->kv_heads * model->head_dim; }

static inline double value_width(const Model *model) {
    return model->latent.key_rank ? (double)model->heads * model->latent.value_dim : query_width(model);
}

// Weights of the layers that predict further tokens, with what joins each to the model.
LayerWeights extra_head_weights(const Model *model);
// Heads and widths on one GPU; keys that are fewer than the GPUs are held by several.
double query_width_per_gpu(const Model *model, double tp);
double key_width_per_gpu(const Model *model, double tp);
double qkv_width_per_gpu(const Model *model, double tp); // of both keys and values
bool layers_alike(const Model *model, int a, int b);     // layers that hold and multiply the same

typedef void MakeOperators(const Model *model, int block, const Portion *portion, OperatorList *operators);
MakeOperators transformer_operators, image_operators, written_operators;

const Model *transformer_named(Arena *arena, int index); // of the library below
const char *transformer_name(int index);
extern const int transformer_count;

const Model *library_model(Arena *arena, const char *name); // by name or alias; NULL: none

extern const int expert_model_count; // the library's mixtures of experts
const char *expert_model_name(int index);
const Model *expert_model(Arena *arena, int index);

extern const int vision_transformer_count; // the library's image transformers
const char *vision_transformer_name(int index);
const Model *vision_transformer(Arena *arena, int index, int image_size, int classes); // 0: usual
int vision_transformer_index(const char *name);                                        // -1: none

bool is_lstm(const Model *model); // one of model_lstm's
const Model *lstm_resized(Arena *arena, const Model *model, int words, int vocab);

double layer_parameters(const NetLayer *layer); // with its norm
double layer_macs(const NetLayer *layer);       // multiply-adds of one image
double kernel_taps(const NetLayer *layer);      // places of its kernel
double taps_forward(const NetLayer *layer);     // products that each output has of each channel
double taps_backward(const NetLayer *layer);    // the same of the input, for its gradient
double places_in(const NetLayer *layer);        // pixels of one image
double places_out(const NetLayer *layer);
double attention_keys(const NetLayer *layer); // that each place meets

extern const int encoder_decoder_count; // the library's models with an encoder and a decoder
const char *encoder_decoder_name(int index);
const Model *encoder_decoder(Arena *arena, int index);
// Whether this block works on the target: a decoder's layer, or the head.
static inline bool on_target(const Model *model, int block) {
    return model->encoder_layers > 0 && block > model->encoder_layers;
}
static inline bool looks_at_source(const Model *model, int block) {
    return on_target(model, block) && block < model->block_count - 1;
}

// BERT's head has a dense layer before the logits.
static inline bool has_dense_head(const Model *model) {
    return !model->causal && !model->patch && !model->encoder_layers;
}

// "transformer:layers=48,hidden=6656,heads=52" (model_text.c). NULL after problems.
bool model_is_spelt(const char *name);
const Model *spelt_model(Arena *arena, const char *name, Where where, Problems *problems);
