// A language model of recurrent layers: words looked up, layers of LSTM with dropout before each, logits at every word.
#include "models/workload/model/image_layers.h"
#include "models/workload/model/model_internal.h"

const Model *model_lstm(Arena *arena, const char *name, LstmShape shape) {
    ImageBuilder builder = image_builder(arena, shape.words);
    builder.dimensions = 1;
    image_lookup(&builder, "words", shape.vocab, shape.hidden);
    for (int i = 0; i < shape.layers; i++) {
        image_next_block(&builder);
        image_dropout(&builder);
        image_recurrent(&builder, "lstm", shape.hidden);
    }
    image_next_block(&builder);
    image_logits(&builder, shape.hidden, shape.vocab);
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = name ? arena_copy_text(arena, name) : "lstm",
        .family = "lstm",
        .source = "as given",
        .kind = MODEL_CNN,
        .block_count = builder.block + 1,
        .layers = shape.layers,
        .hidden = shape.hidden,
        .image_size = shape.words,
        .classes = shape.vocab,
        .dimensions = 1,
        .of_words = true,
        .net_layers = builder.layers.items,
        .net_layer_count = builder.layers.count,
    };
    return model;
}

bool is_lstm(const Model *model) { return model->of_words && model->layers > 0; }

const Model *lstm_resized(Arena *arena, const Model *model, int words, int vocab) {
    return model_lstm(arena, model->name, (LstmShape){model->layers, model->hidden, vocab, words});
}
