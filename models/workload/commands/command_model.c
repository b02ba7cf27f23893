// lockstep model, params, flops: what models there are, what they hold, what they multiply.
#include "models/workload/commands/commands.h"
#include "models/workload/model/hf_config.h"

#include <string.h>

#include "models/workload/commands/command_internal.h"
#include "sim/envelope.h"

static void write_transformer_fields(JsonWriter *json, const Model *model) {
    write_integer(json, "layers", model->layers);
    write_integer(json, "hidden", model->hidden);
    write_integer(json, "heads", model->heads);
    write_integer(json, "kv_heads", model->kv_heads);
    write_integer(json, "head_dim", model->head_dim);
    write_integer(json, "ffn", model->ffn);
    write_integer(json, "vocab", model->vocab);
    write_integer(json, "max_positions", model->max_positions);
    if (model->experts.count) {
        write_integer(json, "experts", model->experts.count);
        write_integer(json, "experts_per_token", model->experts.per_token);
        write_integer(json, "expert_ffn", model->experts.ffn);
        write_integer(json, "shared_ffn", model->experts.shared_ffn);
        write_integer(json, "active_parameters", (int64_t)model_active_parameters(model));
    }
    write_bool(json, "gated_mlp", model->gated_mlp);
    write_bool(json, "tied_embedding", model->tied_embedding);
    write_bool(json, "causal", model->causal);
    write_bool(json, "rms_norm", model->rms_norm);
}

void write_model(JsonWriter *json, const Model *model) {
    json_begin_object(json);
    write_text(json, "name", model->name);
    write_text(json, "family", model->family);
    write_text(json, "kind", model_kind_name(model));
    write_text(json, "source", model->source);
    if (names_parts(model)) write_transformer_fields(json, model);
    if (takes_images(model)) {
        write_integer(json, "image_size", model->image_size);
        write_integer(json, "classes", model->classes);
    }
    if (model->width_count > 0) {
        json_key(json, "widths");
        json_begin_list(json);
        for (int i = 0; i < model->width_count; i++) json_write_integer(json, model->widths[i]);
        json_end_list(json);
    }
    write_integer(json, "parameters", (int64_t)model_parameters(model));
    json_end_object(json);
}

static void json_start(JsonWriter *json, const char *kind) {
    *json = json_writer(stdout, 2);
    json_begin_object(json);
    envelope_write(json, kind);
}

static void json_finish(JsonWriter *json) {
    json_end_object(json);
    printf("\n");
}

static const char *human(double value, QuantityKind kind, char text[32]) {
    return quantity_format(value, kind, text, 32);
}

// ---- lockstep model

static void print_image_shape(const Model *model) {
    int size = model->image_size;
    if (model->dimensions == 3)
        printf("%d blocks, volumes %d wide", model->block_count, size);
    else if (model->dimensions == 1)
        printf("%d blocks, %d %s", model->block_count, size, model->of_words ? "subwords" : "samples of sound");
    else
        printf("%d blocks, %d x %d pixels", model->block_count, size, size);
    if (model->classes > 1) printf(", %d classes", model->classes);
}

static void print_shape(const Model *model) {
    if (model->patch)
        printf("%d layers, hidden %d, %d heads, %d x %d pixels in patches of %d, %d classes", model->layers,
               model->hidden, model->heads, model->image_size, model->image_size, model->patch, model->classes);
    else if (names_parts(model))
        printf("%d layers, hidden %d, %d heads, vocabulary %d", model->layers, model->hidden, model->heads,
               model->vocab);
    else if (convolves(model))
        print_image_shape(model);
    else if (model->written)
        printf("%d blocks of operators", model->block_count);
    else
        printf("%d linear layers, %d inputs", model->block_count, model->widths[0]);
}

static int list_models(Arena *arena, bool as_json, Problems *problems) {
    int count = 0;
    const char *const *names = model_names(&count);
    JsonWriter json;
    if (as_json) {
        json_start(&json, "model-list");
        json_key(&json, "models");
        json_begin_list(&json);
    }
    for (int i = 0; i < count; i++) {
        const Model *model = find_model(arena, names[i], (Where){NULL, 0}, problems);
        char text[32];
        if (as_json) {
            write_model(&json, model);
        } else {
            printf("%-26s  %9s  ", model->name, human(model_parameters(model), QUANTITY_COUNT, text));
            print_shape(model);
            printf("\n");
        }
    }
    if (as_json) {
        json_end_list(&json);
        json_finish(&json);
    }
    return EXIT_DONE;
}

static void print_layers(const Model *model) { // dense ones, and those with experts
    int dense = 0, mixed = 0, last_dense = 0, last_mixed = 0;
    for (int block = 1; block <= model->layers; block++) {
        bool mixture = has_experts(model, block);
        *(mixture ? &mixed : &dense) += 1;
        *(mixture ? &last_mixed : &last_dense) = block;
    }
    if (dense) printf("  each layer  %15.0f x %d\n", block_parameters(model, last_dense), dense);
    if (mixed) printf("  with experts%15.0f x %d\n", block_parameters(model, last_mixed), mixed);
}

static void print_active(const Model *model) {
    char text[32];
    const ExpertShape *experts = &model->experts;
    if (experts->count == 0) return;
    printf("Active      %.0f (%s): %d of %d experts%s\n", model_active_parameters(model),
           human(model_active_parameters(model), QUANTITY_COUNT, text), experts->per_token, experts->count,
           experts->shared_ffn ? ", and the shared ones" : "");
}

static void print_parameters(const Model *model) {
    char text[32];
    printf("Parameters  %.0f (%s)\n", model_parameters(model), human(model_parameters(model), QUANTITY_COUNT, text));
    if (!names_parts(model)) return;
    printf("  embedding   %15.0f\n", block_parameters(model, 0));
    print_layers(model);
    printf("  head        %15.0f%s\n", block_parameters(model, model->block_count - 1),
           model->tied_embedding ? "  (its table is the embedding's)"
           : model->extra_heads  ? "  (with the layer that predicts a further token)"
                                 : "");
    print_active(model);
}

#define MOST_TOKENS 100000000.0

// Tokens of a sequence, as asked or as the model has them; 1 of other models.
static double asked_tokens(const Model *model, const Options *options) {
    const char *source;
    double usual = counts_tokens(model) ? usual_tokens(model, &source) : 1;
    return fmin(fmax((double)option_count(options, "seq", (int64_t)usual), 1), MOST_TOKENS);
}

static int show_model(Arena *arena, const Model *model, const Options *options) {
    bool operators = option_flag(options, "operators");
    if (option_flag(options, "json")) {
        JsonWriter json;
        json_start(&json, "model-show");
        json_key(&json, "model");
        write_model(&json, model);
        if (operators) write_operators(&json, arena, model, asked_tokens(model, options));
        json_finish(&json);
        return EXIT_DONE;
    }
    printf("%s: ", model->name);
    print_shape(model);
    printf("\nSource      %s\n", model->source);
    print_parameters(model);
    if (operators) print_operators(arena, model, asked_tokens(model, options));
    return EXIT_DONE;
}

static const OptionSpec list_options[] = {
    {"json", OPTION_FLAG, NULL, .help = "print JSON"},
    {"as", OPTION_TEXT, "TYPE", .help = "read the config.json as this model_type (llama)"},
    {"operators", OPTION_FLAG, NULL, .help = "show what each layer runs, multiplies, moves, holds and keeps"},
    {"seq", OPTION_COUNT, "N", .help = "tokens per sequence, for --operators"},
};
#define LIST_OPTION_COUNT ((int)(sizeof list_options / sizeof *list_options))

static int model_command(Arena *arena, int argc, char **argv, Problems *problems) {
    Options *options = options_parse(arena, list_options, LIST_OPTION_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(list_options, LIST_OPTION_COUNT,
                           "lockstep model list | show NAME|config.json [--operators] [--json]",
                           "The models that are built in, with the source of their shapes.", stdout);
        return EXIT_DONE;
    }
    static const char *const verbs[] = {"list", "show"};
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
    if (problem_count(problems)) return command_fails(problems, EXIT_USAGE);
    if (!show) return list_models(arena, option_flag(options, "json"), problems);

    const char *name = option_positional(options, 1);
    const Model *model = names_a_config(name)
                             ? hf_model_read_file(arena, name, option_text(options, "as", NULL), problems)
                             : find_model(arena, name, (Where){NULL, 0}, problems);
    return model ? show_model(arena, model, options) : command_fails(problems, EXIT_BAD_INPUT);
}

int command_model(int argc, char **argv) {
    Arena *arena = arena_open();
    int exit_code = model_command(arena, argc, argv, problems_create(arena));
    arena_close(arena);
    return exit_code;
}

// ---- lockstep params, lockstep flops

static const OptionSpec count_options[] = {
    {"seq", OPTION_COUNT, "N", .help = "tokens per sequence", .alias = "seq-length"},
    {"tokens", OPTION_COUNT, "N", .help = "tokens to train on, for the whole run's FLOPs"},
    {"samples", OPTION_COUNT, "N", .help = "samples to train on, for the whole run's FLOPs"},
    {"json", OPTION_FLAG, NULL, .help = "print JSON"},
};

typedef int CountCommand(const Model *model, const Options *options);

static int run_count(int argc, char **argv, const char *usage, const char *about, CountCommand *run) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int spec_count = 0, exit_code;
    const OptionSpec *specs = options_with_model(arena, count_options, COUNT_OF(count_options), &spec_count);
    Options *options = options_parse(arena, specs, spec_count, argc, argv, problems);
    options_refuse_positional(options, 0, problems);

    if (option_help(options)) {
        options_print_help(specs, spec_count, usage, about, stdout);
        exit_code = EXIT_DONE;
    } else if (problem_count(problems) || !option_given(options, "model")) {
        if (!problem_count(problems)) model_from_options(arena, options, problems);
        exit_code = command_fails(problems, EXIT_USAGE);
    } else {
        const Model *model = model_from_options(arena, options, problems);
        exit_code = problem_count(problems) ? command_fails(problems, EXIT_BAD_INPUT) : run(model, options);
    }
    arena_close(arena);
    return exit_code;
}

static int params_run(const Model *model, const Options *options) {
    if (!option_flag(options, "json")) {
        printf("%s\n", model->name);
        print_parameters(model);
        return EXIT_DONE;
    }
    JsonWriter json;
    json_start(&json, "params");
    write_text(&json, "model", model->name);
    write_integer(&json, "parameters", (int64_t)model_parameters(model));
    write_integer(&json, "embedding_parameters", (int64_t)model_embedding_parameters(model));
    Arena *arena = arena_open();
    json_key(&json, "blocks");
    json_begin_list(&json);
    for (int block = 0; block < model->block_count; block++) {
        json_begin_object(&json);
        write_text(&json, "name", block_name(arena, model, block));
        write_integer(&json, "parameters", (int64_t)block_parameters(model, block));
        json_end_object(&json);
    }
    json_end_list(&json);
    json_finish(&json);
    arena_close(arena);
    return EXIT_DONE;
}

int command_params(int argc, char **argv) {
    return run_count(argc, argv, "lockstep params --model NAME [--json]", "How many parameters a model has, and where.",
                     params_run);
}

static double samples_of_run(const Model *model, const Options *options, double seq_len) {
    double tokens = (double)option_count(options, "tokens", 0), samples = (double)option_count(options, "samples", 0);
    return tokens > 0 && counts_tokens(model) ? tokens / seq_len : samples;
}

static int flops_run(const Model *model, const Options *options) {
    bool tokens = counts_tokens(model);
    int seq_len = (int)asked_tokens(model, options);
    double forward = model_forward_flops_per_sample(model, seq_len), training = model_flops_per_sample(model, seq_len);
    double run_flops = training * samples_of_run(model, options, seq_len);
    char text[32];

    if (option_flag(options, "json")) {
        JsonWriter json;
        json_start(&json, "flops");
        write_text(&json, "model", model->name);
        if (tokens) write_integer(&json, "seq_len", seq_len);
        if (takes_images(model)) write_integer(&json, "image_size", model->image_size);
        write_number(&json, "forward_flops_per_sample", forward);
        write_number(&json, "training_flops_per_sample", training);
        if (tokens) write_number(&json, "training_flops_per_token", training / seq_len);
        if (run_flops > 0) write_number(&json, "run_flops", run_flops);
        json_finish(&json);
        return EXIT_DONE;
    }
    printf("%s", model->name);
    if (tokens) printf(", sequences of %d tokens", seq_len);
    if (model->of_words)
        printf(", sentences of %d subwords", model->image_size);
    else if (takes_images(model) && model->dimensions == 1)
        printf(", sounds of %d samples", model->image_size);
    else if (takes_images(model))
        printf(", images of %d x %d", model->image_size, model->image_size);
    printf("\nForward     %s per sample\n", human(forward, QUANTITY_FLOPS, text));
    printf("Training    %s per sample (backward is twice forward; nothing recomputed)\n",
           human(training, QUANTITY_FLOPS, text));
    if (tokens) {
        double per_token = training / seq_len;
        printf("            %s per token", human(per_token, QUANTITY_FLOPS, text));
        printf(", %.2f per parameter\n", per_token / model_parameters(model));
    }
    if (run_flops > 0) printf("Whole run   %s\n", human(run_flops, QUANTITY_FLOPS, text));
    return EXIT_DONE;
}

int command_flops(int argc, char **argv) {
    return run_count(argc, argv, "lockstep flops --model NAME [--seq N] [--tokens N] [--json]",
                     "The matrix multiplications of a model: the FLOPs that MFU is counted with.", flops_run);
}
