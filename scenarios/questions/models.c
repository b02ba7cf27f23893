// lockstep model, params, flops: the model library, parameters, FLOPs; and each layer's forward operators, on one
// sample and one GPU.
#include "models/workload/model/model.h"

#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/model/model_internal.h"
#include "results/answer/frame.h"

// ---- A model's operators.

#define ELEMENT_BYTES 2 // of weights and activations, as in mixed precision

// With flash attention, fused kernels and a stream of 16 bits; other software keeps more.
static double kept_bytes(const Operator *one) {
    static const double bytes[KEPT_AS_COUNT] = {
        [KEPT_ELEMENTS] = ELEMENT_BYTES,
        [KEPT_INPUT] = ELEMENT_BYTES,
        [KEPT_NORMED] = ELEMENT_BYTES,
        [KEPT_STREAM] = ELEMENT_BYTES,
        [KEPT_SORTED] = ELEMENT_BYTES,
        [KEPT_PIXELS] = ELEMENT_BYTES,
        [KEPT_MASK] = 1,
        [KEPT_LOGARITHMS] = 4,
    };
    double kept = 0;
    for (int i = 0; i < 3; i++) kept += one->kept[i].elements * bytes[one->kept[i].as];
    return kept;
}

static double moved_bytes(const Operator *one) { return ELEMENT_BYTES * (one->read + one->written); }

static double parameters_of(const Operator *one) {
    return one->weights.split + one->weights.routed + one->weights.whole;
}

static const char *product_text(Arena *arena, const Operator *one) {
    if (!(one->k > 0)) return "";
    const char *times = one->batch > 1 ? arena_printf(arena, "%.0f of ", one->batch) : "";
    return arena_printf(arena, "%s%.0f x %.0f x %.0f", times, one->m, one->n, one->k);
}

static AnswerValue or_none(AnswerUnit unit, double value) { return answer_shown(unit, value, value > 0 ? NULL : "-"); }

static void fill_row(const Asking *asking, const Operator *one) {
    AnswerUnit size = one->k > 0 ? AS_WHOLE : AS_NOTHING;
    ANSWER_ROW(asking->answer, one->name, operator_kind_names[one->kind], answer_of(AS_WHOLE, one->times),
               answer_of(size, one->batch), answer_of(size, one->m), answer_of(size, one->n), answer_of(size, one->k),
               product_text(asking->arena, one), or_none(AS_FLOPS, one->flops), or_none(AS_BYTES, moved_bytes(one)),
               or_none(AS_MANY, parameters_of(one)), or_none(AS_BYTES, kept_bytes(one)));
}

// ---- Blocks, equal ones once.

static int count_alike(const Model *model, int block) { // 0: listed before
    int count = 1;
    for (int other = 1; other < model->block_count; other++) {
        if (other == block || !layers_alike(model, block, other)) continue;
        if (other < block) return 0;
        count++;
    }
    return count;
}

static void add_block(const Asking *asking, const char *name, int count, const OperatorList *operators) {
    static const AnswerColumn columns[] = {
        {"name", "operator", AS_TEXT, 0},
        {"kind", "kind", AS_TEXT, 2},
        {"times", NULL, AS_WHOLE, 0},
        {"batch", NULL, AS_WHOLE, 0},
        {"m", NULL, AS_WHOLE, 0},
        {"n", NULL, AS_WHOLE, 0},
        {"k", NULL, AS_WHOLE, 0},
        {NULL, "m x n x k", AS_TEXT, 0},
        {"flops", "FLOP", AS_FLOPS, 0},
        {"bytes", "read+write", AS_BYTES, 3},
        {"parameters", "holds", AS_MANY, 1},
        {"kept_bytes", "kept", AS_BYTES, 0},
    };
    Answer *answer = asking->answer;
    answer_open(answer, NULL, count > 1 ? arena_printf(asking->arena, "%s, and %d alike", name, count - 1) : name);
    answer_text(answer, "name", NULL, name);
    answer_number(answer, "blocks", NULL, AS_WHOLE, count);
    answer_table(answer, "operators", NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < operators->count; i++) fill_row(asking, &operators->items[i]);
    answer_close(answer);
}

// Each block's forward operators for one sample of seq_len tokens.
static void add_operators(const Asking *asking, const Model *model, double seq_len) {
    answer_open_list(asking->answer, "operators", NULL);
    for (int block = 0; block < model->block_count; block++) {
        int count = count_alike(model, block);
        if (count == 0) continue;
        OperatorList operators;
        Portion portion = portion_of_sample(model, block, seq_len);
        block_operators(model, block, &portion, &operators);
        add_block(asking, block_name(asking->arena, model, block), count, &operators);
    }
    answer_close(asking->answer);
    answer_say(asking->answer, NULL,
               "Forward of one sample%s. An element has %d bytes; attention is flash, and kept is what backward needs.",
               counts_tokens(model) ? arena_printf(asking->arena, " of %.0f tokens", seq_len) : "", ELEMENT_BYTES);
}

// ---- The commands.

#define MOST_TOKENS 100000000.0

// Tokens of a sequence, as asked or as the model has them; 1 of other models.
static double asked_tokens(const Model *model, const Options *options) {
    const char *source;
    double usual = counts_tokens(model) ? usual_tokens(model, &source) : 1;
    return fmin(fmax((double)option_count(options, "seq", (int64_t)usual), 1), MOST_TOKENS);
}

static const char *many(const Asking *asking, double count) {
    return answer_value_text(asking->arena, asking->answer, answer_of(AS_MANY, count));
}

// ---- What a model is.

static const char *image_shape(Arena *arena, const Model *model) {
    int size = model->image_size;
    const char *classes = model->classes > 1 ? arena_printf(arena, ", %d classes", model->classes) : "";
    if (model->dimensions == 3)
        return arena_printf(arena, "%d blocks, volumes %d wide%s", model->block_count, size, classes);
    if (model->dimensions == 1)
        return arena_printf(arena, "%d blocks, %d %s%s", model->block_count, size,
                            model->of_words ? "subwords" : "samples of sound", classes);
    return arena_printf(arena, "%d blocks, %d x %d pixels%s", model->block_count, size, size, classes);
}

static const char *shape(Arena *arena, const Model *model) {
    if (model->patch)
        return arena_printf(arena, "%d layers, hidden %d, %d heads, %d x %d pixels in patches of %d, %d classes",
                            model->layers, model->hidden, model->heads, model->image_size, model->image_size,
                            model->patch, model->classes);
    if (names_parts(model))
        return arena_printf(arena, "%d layers, hidden %d, %d heads, vocabulary %d", model->layers, model->hidden,
                            model->heads, model->vocab);
    if (convolves(model)) return image_shape(arena, model);
    if (model->written) return arena_printf(arena, "%d blocks of operators", model->block_count);
    return arena_printf(arena, "%d linear layers, %d inputs", model->block_count, model->widths[0]);
}

static void add_transformer(Answer *answer, const Model *model) {
    const struct {
        const char *key;
        int value;
    } sizes[] = {{"layers", model->layers},     {"hidden", model->hidden},
                 {"heads", model->heads},       {"kv_heads", model->kv_heads},
                 {"head_dim", model->head_dim}, {"ffn", model->ffn},
                 {"vocab", model->vocab},       {"max_positions", model->max_positions}};
    for (int i = 0; i < COUNT_OF(sizes); i++) answer_number(answer, sizes[i].key, NULL, AS_WHOLE, sizes[i].value);
    if (model->experts.count) {
        answer_number(answer, "experts", NULL, AS_WHOLE, model->experts.count);
        answer_number(answer, "experts_per_token", NULL, AS_WHOLE, model->experts.per_token);
        answer_number(answer, "expert_ffn", NULL, AS_WHOLE, model->experts.ffn);
        answer_number(answer, "shared_ffn", NULL, AS_WHOLE, model->experts.shared_ffn);
        answer_number(answer, "active_parameters", NULL, AS_COUNT, floor(model_active_parameters(model)));
    }
    answer_bool(answer, "gated_mlp", NULL, model->gated_mlp);
    answer_bool(answer, "tied_embedding", NULL, model->tied_embedding);
    answer_bool(answer, "causal", NULL, model->causal);
    answer_bool(answer, "rms_norm", NULL, model->rms_norm);
}

static void add_model(Answer *answer, const Model *model) {
    answer_text(answer, "name", NULL, model->name);
    answer_text(answer, "family", NULL, model->family);
    answer_text(answer, "kind", NULL, model_kind_name(model));
    answer_text(answer, "source", "Source", model->source);
    if (names_parts(model)) add_transformer(answer, model);
    if (takes_images(model)) {
        answer_number(answer, "image_size", NULL, AS_WHOLE, model->image_size);
        answer_number(answer, "classes", NULL, AS_WHOLE, model->classes);
    }
    if (model->width_count > 0) {
        answer_open_list(answer, "widths", NULL);
        for (int i = 0; i < model->width_count; i++) answer_number(answer, NULL, NULL, AS_WHOLE, model->widths[i]);
        answer_close(answer);
    }
    answer_number(answer, "parameters", NULL, AS_COUNT, floor(model_parameters(model)));
}

// ---- Its parameters.

static void add_layers(Answer *answer, const Model *model) { // dense ones, and those with experts
    int count[2] = {0}, last[2] = {0};
    for (int block = 1; block <= model->layers; block++) {
        bool mixed = has_experts(model, block);
        count[mixed]++;
        last[mixed] = block;
    }
    for (int mixed = 0; mixed < 2; mixed++) {
        if (!count[mixed]) continue;
        answer_number(answer, NULL, mixed ? "each with experts" : "each layer", AS_COUNT,
                      block_parameters(model, last[mixed]));
        answer_note(answer, "x %d", count[mixed]);
    }
}

// Displayed parameters by part, for models whose parts have names.
static void add_parts(const Asking *asking, const Model *model) {
    Answer *answer = asking->answer;
    const ExpertShape *experts = &model->experts;
    answer_number(answer, NULL, "Parameters", AS_COUNT, model_parameters(model));
    answer_note(answer, "%s", many(asking, model_parameters(model)));
    if (!names_parts(model)) return;
    answer_number(answer, NULL, "embedding", AS_COUNT, block_parameters(model, 0));
    add_layers(answer, model);
    answer_number(answer, NULL, "head", AS_COUNT, block_parameters(model, model->block_count - 1));
    if (model->tied_embedding) answer_note(answer, "its table is the embedding's");
    if (!model->tied_embedding && model->extra_heads)
        answer_note(answer, "with the layer that predicts a further token");
    if (experts->count == 0) return;
    answer_number(answer, NULL, "Active", AS_COUNT, model_active_parameters(model));
    answer_note(answer, "%s: %d of %d experts%s", many(asking, model_active_parameters(model)), experts->per_token,
                experts->count, experts->shared_ffn ? ", and the shared ones" : "");
}

// ---- lockstep model

static int list_models(Asking *asking) {
    static const AnswerColumn columns[] = {
        {NULL, "model", AS_TEXT, 0}, {NULL, "parameters", AS_MANY, 0}, {NULL, "shape", AS_TEXT, 0}};
    Answer *answer = asking->answer;
    int count = 0;
    const char *const *names = model_names(&count);
    const Model **models = ARENA_ARRAY(asking->arena, const Model *, count);
    answer_open_list(answer, "models", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    for (int i = 0; i < count; i++) {
        models[i] = find_model(asking->arena, names[i], (Where){NULL, 0}, asking->problems);
        answer_open(answer, NULL, NULL);
        add_model(answer, models[i]);
        answer_close(answer);
    }
    answer_close(answer);
    answer_table(answer, NULL, NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < count; i++) {
        ANSWER_ROW(answer, models[i]->name, answer_of(AS_MANY, model_parameters(models[i])),
                   shape(asking->arena, models[i]));
    }
    answer_rename(answer, "model-list");
    return EXIT_DONE;
}

static int show_model(Asking *asking, const Model *model) {
    Answer *answer = asking->answer;
    answer_rename(answer, "model-show");
    answer_say(answer, NULL, "%s: %s.", model->name, shape(asking->arena, model));
    answer_open(answer, "model", NULL);
    add_model(answer, model);
    answer_close(answer);
    add_parts(asking, model);
    if (option_flag(asking->options, "operators")) add_operators(asking, model, asked_tokens(model, asking->options));
    return EXIT_DONE;
}

static const OptionSpec model_options[] = {
    {"as", OPTION_TEXT, "TYPE", .help = "read the config.json as this model_type (llama)"},
    {"operators", OPTION_FLAG, NULL, .help = "show what each layer runs, multiplies, moves, holds and keeps"},
    {"seq", OPTION_COUNT, "N", .help = "tokens per sequence, for --operators", .in_1024 = true},
};

static int ask_model(Asking *asking) {
    static const char *const verbs[] = {"list", "show"};
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    const char *verb = option_positional_count(options) ? option_positional(options, 0) : "list";
    bool show = strcmp(verb, "show") == 0;
    if (!show && strcmp(verb, "list") != 0) {
        problem_add(problems, (Where){NULL, 0}, "lockstep model cannot \"%s\"", verb);
        problem_hint_names(problems, verb, verbs, 2);
    } else if (show && (option_positional_count(options) < 2 || !*option_positional(options, 1))) {
        problem_add(problems, (Where){NULL, 0}, "which model is to be shown?");
        problem_hint(problems, "for example lockstep model show resnet-50");
    }
    options_refuse_positional(options, show ? 2 : 1, problems);
    if (problem_count(problems)) return EXIT_USAGE;
    if (!show) return list_models(asking);

    const char *name = option_positional(options, 1);
    const Model *model = names_a_config(name)
                             ? hf_model_read_file(asking->arena, name, option_text(options, "as", NULL), problems)
                             : find_model(asking->arena, name, (Where){NULL, 0}, problems);
    return model ? show_model(asking, model) : EXIT_BAD_INPUT;
}

static const Question question_model = {.name = "model",
                                        .usage = "lockstep model list | show NAME|config.json [--operators] [--json]",
                                        .about = "The models that are built in, with the source of their shapes.",
                                        .own = model_options,
                                        .own_count = COUNT_OF(model_options),
                                        .positional = 2,
                                        .ask = ask_model};

int command_model(int argc, char **argv);
int command_model(int argc, char **argv) { return frame_run(&question_model, argc, argv); }

// ---- lockstep params, lockstep flops

static const OptionSpec count_options[] = {
    {"seq", OPTION_COUNT, "N", .help = "tokens per sequence, 4k being 4096", .of = OF_QUESTION, .alias = "seq-length",
     .in_1024 = true},
    {"tokens", OPTION_COUNT, "N", .help = "tokens to train on, for the whole run's FLOPs", .of = OF_QUESTION},
    {"samples", OPTION_COUNT, "N", .help = "samples to train on, for the whole run's FLOPs", .of = OF_QUESTION},
};

static const OptionSpec *count_rows(Arena *arena, int *count) {
    return options_with_model(arena, count_options, COUNT_OF(count_options), count);
}

// The model that both ask of, or NULL; *status then.
static const Model *model_asked(Asking *asking, int *status) {
    const Model *model = model_from_options(asking->arena, asking->options, asking->problems);
    *status = option_given(asking->options, "model") ? EXIT_BAD_INPUT : EXIT_USAGE;
    return problem_count(asking->problems) ? NULL : model;
}

// A file's name may be one that a shell reads otherwise.
static void suggest(const Asking *asking, const char *command, const char *more, const char *what_for) {
    const char *name = option_text(asking->options, "model", "");
    if (!names_a_config(name))
        answer_next(asking->answer, arena_printf(asking->arena, "lockstep %s --model %s%s", command, name, more),
                    what_for);
}

static int ask_params(Asking *asking) {
    static const AnswerColumn columns[] = {{"name", "block", AS_TEXT, 0}, {"parameters", "parameters", AS_COUNT, 0}};
    Answer *answer = asking->answer;
    int status;
    const Model *model = model_asked(asking, &status);
    if (!model) return status;
    answer_say(answer, NULL, "%s has %s parameters.", model->name, many(asking, model_parameters(model)));
    answer_text(answer, "model", NULL, model->name);
    answer_number(answer, "parameters", NULL, AS_COUNT, floor(model_parameters(model)));
    answer_number(answer, "embedding_parameters", NULL, AS_COUNT, floor(model_embedding_parameters(model)));
    add_parts(asking, model);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "blocks", NULL, columns, COUNT_OF(columns));
    for (int block = 0; block < model->block_count; block++) {
        ANSWER_ROW(answer, block_name(asking->arena, model, block),
                   answer_of(AS_COUNT, floor(block_parameters(model, block))));
    }
    answer_close(answer);
    suggest(asking, "flops", "", "what it multiplies");
    return EXIT_DONE;
}

static const Question question_params = {.name = "params",
                                         .usage = "lockstep params --model NAME [--json]",
                                         .about = "How many parameters a model has, and where.",
                                         .rows = count_rows,
                                         .ask = ask_params};

int command_params(int argc, char **argv);
int command_params(int argc, char **argv) { return frame_run(&question_params, argc, argv); }

static double samples_of_run(const Model *model, const Options *options, double seq_len) {
    double tokens = (double)option_count(options, "tokens", 0), samples = (double)option_count(options, "samples", 0);
    return tokens > 0 && counts_tokens(model) ? tokens / seq_len : samples;
}

static const char *sample_text(Arena *arena, const Model *model, double seq_len) {
    int size = model->image_size;
    if (counts_tokens(model)) return arena_printf(arena, "a sequence of %.0f tokens", seq_len);
    if (model->of_words) return arena_printf(arena, "a sentence of %d subwords", size);
    if (takes_images(model) && model->dimensions == 1) return arena_printf(arena, "a sound of %d samples", size);
    return takes_images(model) ? arena_printf(arena, "an image of %d x %d", size, size) : "a sample";
}

static int ask_flops(Asking *asking) {
    Answer *answer = asking->answer;
    int status;
    const Model *model = model_asked(asking, &status);
    if (!model) return status;
    double seq_len = floor(asked_tokens(model, asking->options));
    double forward = model_forward_flops_per_sample(model, seq_len), training = model_flops_per_sample(model, seq_len);
    double run = training * samples_of_run(model, asking->options, seq_len);
    answer_say(answer, NULL, "%s takes %s to train on %s.", model->name,
               answer_value_text(asking->arena, answer, answer_of(AS_FLOPS, training)),
               sample_text(asking->arena, model, seq_len));
    answer_text(answer, "model", NULL, model->name);
    if (counts_tokens(model)) answer_number(answer, "seq_len", NULL, AS_WHOLE, seq_len);
    if (takes_images(model)) answer_number(answer, "image_size", NULL, AS_WHOLE, model->image_size);
    answer_number(answer, "forward_flops_per_sample", "Forward", AS_FLOPS, forward);
    answer_number(answer, "training_flops_per_sample", "Training", AS_FLOPS, training);
    answer_note(answer, "backward is twice forward; nothing recomputed");
    if (counts_tokens(model)) {
        answer_number(answer, "training_flops_per_token", "per token", AS_FLOPS, training / seq_len);
        answer_note(answer, "%.2f per parameter", training / seq_len / model_parameters(model));
    }
    if (run > 0) answer_number(answer, "run_flops", "Whole run", AS_FLOPS, run);
    suggest(asking, "memory", " --gpu H100", "what it needs of a GPU's memory");
    return EXIT_DONE;
}

static const Question question_flops = {
    .name = "flops",
    .usage = "lockstep flops --model NAME [--seq N] [--tokens N] [--json]",
    .about = "The matrix multiplications of a model: the FLOPs that MFU is counted with.",
    .rows = count_rows,
    .ask = ask_flops};

int command_flops(int argc, char **argv);
int command_flops(int argc, char **argv) { return frame_run(&question_flops, argc, argv); }

const OptionSpec *flops_option_rows(Arena *arena, int *count);
const OptionSpec *flops_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question_flops, count); }
