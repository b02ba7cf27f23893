// Functions of the model families that model.c dispatches to.
#pragma once

#include "models/workload/model/model.h"
#include "models/workload/model/operators.h"
#include "sim/base/list.h"

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

// Encoders of BERT's kind predict the masked positions only: 20 of 128, 80 of 512 (Devlin et al. 2018, appendix).
#define MASKED_SHARE 0.15625

// BERT's head has a dense layer before the logits.
static inline bool has_dense_head(const Model *model) {
    return !model->causal && !model->patch && !model->encoder_layers;
}

// "transformer:layers=48,hidden=6656,heads=52". NULL after problems.
bool model_is_spelt(const char *name);
const Model *spelt_model(Arena *arena, const char *name, Where where, Problems *problems);

// ---- Construction of image networks: a growing list of layers, and the shape of its current output.

typedef struct ImageBuilder {
    Arena *arena;
    LIST_OF(NetLayer) layers;
    int channels, size; // of the newest output
    int dimensions;     // of later layers (NetLayer); 0: 2
    double regions;     // 0: 1
    Learning learning;
    bool fixed_norms; // in place of batch norms
    bool smooth;      // activations: GELU, SiLU
    bool deformable;  // 3x3 convolutions of residual blocks take in places that they choose (Dai et al. 2017)
    int block;
} ImageBuilder;

ImageBuilder image_builder(Arena *arena, int image_size);

// What has come out so far, for branches that begin from it.
typedef struct Feature {
    int channels, size;
} Feature;
static inline Feature feature_now(const ImageBuilder *builder) { return (Feature){builder->channels, builder->size}; }
static inline void look_back(ImageBuilder *builder, Feature feature) {
    builder->channels = feature.channels;
    builder->size = feature.size;
}

// The input is the newest output, or the one set by look_back. Pointers hold until the next layer is added.
// "Same" padding, batch norm and an activation, as in most networks.
NetLayer *image_conv(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride);
// Without padding.
NetLayer *image_conv_valid(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride);
// Depthwise: one filter per channel.
NetLayer *image_conv_depthwise(ImageBuilder *builder, const char *name, int kernel, int stride);
// With a bias and nothing else.
NetLayer *image_conv_plain(ImageBuilder *builder, const char *name, int out_channels, int kernel, int stride);
// Transposed, with a bias: the image grows by this factor.
NetLayer *image_conv_up(ImageBuilder *builder, const char *name, int out_channels, int kernel, int times);
// A layer without weights for products: a norm, a copy, a pooling by `kernel` (0: none).
NetLayer *image_elements(ImageBuilder *builder, const char *name, int pool_kernel, int stride);
NetLayer *image_linear(ImageBuilder *builder, const char *name, int in, int out);
// Element-wise passes over the output, forward and backward, with their numbers of kernels; and dropout.
NetLayer *image_passes(ImageBuilder *builder, const char *name, int channels, double forward, double backward,
                       int forward_kernels, int backward_kernels);
void image_dropout(ImageBuilder *builder);
// Words or letters looked up in a table.
NetLayer *image_lookup(ImageBuilder *builder, const char *name, int entries, int width);
// The same product at every place.
NetLayer *image_product(ImageBuilder *builder, const char *name, int in, int out, bool bias);
// The logits of a vocabulary at every place, and their loss.
void image_logits(ImageBuilder *builder, int in, int entries);
// Recurrent along time (LSTM), of that width.
NetLayer *image_recurrent(ImageBuilder *builder, const char *name, int hidden);
// Attention between the positions of the last output, of which the newest channels are the values.
void image_attention(ImageBuilder *builder, PlaceAttention attention);
// Contrastive: each sample against all samples.
void image_contrast(ImageBuilder *builder, const char *name);
// A separate norm, of each sample over its channels or positions.
NetLayer *image_layer_norm(ImageBuilder *builder);
// What follows works on all that branches have put side by side.
void image_concatenated(ImageBuilder *builder, int channels);
void image_next_block(ImageBuilder *builder);
// Average pooling over the image, then classes.
void image_classifier(ImageBuilder *builder, int classes);

int image_halved(int size, int stride); // with "same" padding

// A network of the library: how it is built for images of a size. `variant` is a row of
// the file's own table, or of that of residual networks.
typedef void BuildImageModel(ImageBuilder *builder, int variant, int classes);
typedef struct ImageModel {
    const char *name, *family, *source;
    int image_size; // usual
    int least_size; // below it nothing is left of an image
    BuildImageModel *build;
    int variant;
} ImageModel;

BuildImageModel build_resnet, build_regnet, build_convnet, build_inception_v3, build_inception_v4, build_xception,
    build_mobilenet, build_efficientnet, build_efficientnet_v2, build_densenet, build_unet, build_unet_industrial,
    build_unet_3d, build_nnunet, build_vnet, build_convnext, build_swin, build_ssd, build_ssd_vgg, build_retinanet,
    build_detr, build_segmenter, build_swin_v2, build_rcnn, build_diffusion, build_clip, build_waveglow, build_speech,
    build_gnmt, build_tacotron;

// The parts of a ResNet (classifiers.c), for networks that look at what its stages give.
void resnet_stem(ImageBuilder *builder, int variant);
void resnet_stage(ImageBuilder *builder, int variant, int stage, int stride);

// Rows of the table of residual networks (classifiers.c).
enum {
    RESNET_34 = 1,
    RESNET_50 = 2,
    RESNET_101 = 3,
    RESNEXT_50 = 8,
    RESNEXT_101_32X4D = 9,
    RESNEXT_101 = 10, // 32x8d
    RESNEXT_101_64X4D = 17,
    RESNET_ROW = 31 // the bits of such a row
};

// An R-CNN is the row of its ResNet, and bits of what looks at that: a pyramid of its stages, or one of them; and
// heads.
enum {
    NECK_C4 = 32,
    NECK_DC5 = 64,
    HEAD_PROPOSALS = 128,
    HEAD_BOXES = 256,
    HEAD_MASKS = 512,
    HEAD_JOINTS = 1024,
    HEAD_STUFF = 2048,
    HEAD_CASCADE = 4096, // of boxes
    HEAD_NORMS = 8192,   // and in the backbone; boxes then begin with four convolutions
    HEAD_DEFORMS = 16384 // the backbone's 3x3 convolutions since the second stage
};
#define FASTER (HEAD_PROPOSALS | HEAD_BOXES)
#define MASKED (FASTER | HEAD_MASKS)

// The list of all, in image_models.c.
extern const int image_model_count;
const char *image_model_name(int index);
const Model *image_model(Arena *arena, int index, int image_size, int classes); // 0: usual
int image_model_index(const char *name);                                        // -1: none
