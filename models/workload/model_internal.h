// What the files of one model family share with model.c, which asks the right one.
#ifndef LOCKSTEP_WORKLOAD_MODEL_INTERNAL_H
#define LOCKSTEP_WORKLOAD_MODEL_INTERNAL_H

#include "models/workload/model.h"

// The width of all query heads together, and of keys (or values).
static inline double query_width(const Model *model) { return (double)model->heads * model->head_dim; }
static inline double key_width(const Model *model) { return (double)model->kv_heads * model->head_dim; }

double transformer_block_parameters(const Model *model, int block);
double transformer_forward_flops(const Model *model, double seq_len);
const Model *transformer_named(Arena *arena, int index); // of the library below
const char *transformer_name(int index);
extern const int transformer_count;

double conv_parameters(const ConvLayer *layer); // with its batch norm
double conv_macs(const ConvLayer *layer);       // multiply-adds of one image
bool convnet_known(const char *name);           // "vgg-16", "alexnet"
const Model *convnet_build(Arena *arena, const char *name, int image_size, int classes);
bool resnet_depth(const char *name, int *depth); // "resnet-50"

#endif
