// Cost of a layer by the kind of its operator, shared by the files of those kinds.
#pragma once

#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/operators.h"

// Seconds, kernels and collectives of a layer, whose operator this is, added to both passes.
typedef void LayerCost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward);

// Norms, activations and what else follows a layer are counted in.
LayerCost linear_cost, convolution_cost, place_attention_cost, recurrent_cost, contrast_cost, elements_cost;
// Place by place, in a loop of the program's own (cost_recurrent.c).
LayerCost sequential_product, sequential_elements;

// How images lie in memory, and what kernels over them take that ask for these bytes (cost_elements.c).
bool channels_last(const Work *work);
bool on_tensor_cores(const Work *work); // its products: not in FP32 and FP64
double image_kernel_seconds(const Gpu *gpu, double memory_seconds, double bytes);
bool before_volta(const Gpu *gpu);

// The gradient of a network's input is not needed.
static inline bool is_first_layer(const Work *work, const NetLayer *layer) { return layer == work->model->net_layers; }
static inline int direction_count(const NetLayer *layer) { return layer->learning == LEARNS_NEVER ? 1 : 2; }
