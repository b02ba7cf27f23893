// lockstep job: what may be said of a training job, from the tables that read it.
#include <math.h>
#include <string.h>

#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/commands.h"
#include "models/workload/job/software.h"
#include "models/workload/job/strategy_words.h"
#include "models/workload/model/model.h"
#include "sim/check.h"
#include "sim/envelope.h"

// ---- Fields.

static void print_field(const JobObjectType *type, const Field *field) {
    char wanted[2048];
    if (field->kind == FIELD_TABLE) return;
    field_describe(field, wanted, sizeof wanted);
    printf("%s.%s\n", type->name, field->name);
    if (field->flag) printf("  option    --%s", field->flag);
    if (field->flag && field->alias) printf(", --%s", field->alias);
    if (field->flag) printf("\n");
    if (field->varied) printf("  varied    --vary %s=…, vary = { %s = { … } }\n", field->varied, field->varied);
    printf("  may be    %s%s\n", wanted, field->list ? ", or a list of such" : "");
    if (field->fallback) printf("  else      %s\n", field->fallback);
    printf("  example   %s = %s\n", field->name, field->example);
    printf("  %s\n\n", field->help);
}

static void write_field(JsonWriter *json, const JobObjectType *type, const Field *field) {
    char wanted[2048];
    if (field->kind == FIELD_TABLE) return;
    field_describe(field, wanted, sizeof wanted);
    json_begin_object(json);
    write_text(json, "object", type->name);
    write_text(json, "field", field->name);
    write_text(json, "option", field->flag);
    write_text(json, "alias", field->alias);
    write_text(json, "varied_as", field->varied);
    write_text(json, "may_be", wanted);
    write_bool(json, "list", field->list);
    write_text(json, "default", field->fallback);
    write_text(json, "example", field->example);
    write_text(json, "help", field->help);
    json_end_object(json);
}

static JsonWriter json_start(const char *kind, const char *list) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, kind);
    json_key(&json, list);
    json_begin_list(&json);
    return json;
}

static int json_finish(JsonWriter *json) {
    json_end_list(json);
    json_end_object(json);
    printf("\n");
    return EXIT_DONE;
}

static int print_fields(bool as_json) {
    if (as_json) {
        JsonWriter json = json_start("job-fields", "fields");
        for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
            for (int i = 0; i < job_objects[o].field_count; i++)
                write_field(&json, &job_objects[o], &job_objects[o].fields[i]);
        return json_finish(&json);
    }
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) print_field(&job_objects[o], &job_objects[o].fields[i]);
    return EXIT_DONE;
}

// ---- Strategies.

static void write_strategy(JsonWriter *json, const StrategyWord *word) {
    json_begin_object(json);
    write_text(json, "from", word->from);
    write_text(json, "word", word->word);
    write_text(json, "strategy", strategy_names[word->strategy]);
    write_integer(json, "zero", word->zero);
    write_text(json, "offload_optimizer", offload_names[word->optimizer]);
    write_text(json, "offload_parameters", offload_names[word->parameters]);
    json_end_object(json);
}

static int print_strategies(bool as_json) {
    if (as_json) {
        JsonWriter json = json_start("job-strategies", "strategies");
        for (int i = 0; i < FOREIGN_STRATEGIES; i++) write_strategy(&json, &foreign_strategies[i]);
        return json_finish(&json);
    }
    for (int i = 0; i < FOREIGN_STRATEGIES; i++) {
        const StrategyWord *word = &foreign_strategies[i];
        printf("%-12s %-34s %s", word->from, word->word, strategy_names[word->strategy]);
        if (word->zero) printf(", zero = %d", word->zero);
        if (word->optimizer != OFFLOAD_GPU) printf(", offload.optimizer = %s", offload_names[word->optimizer]);
        if (word->parameters != OFFLOAD_GPU) printf(", offload.parameters = %s", offload_names[word->parameters]);
        printf("\n");
    }
    return EXIT_DONE;
}

// ---- Software.

static bool same_member(const Field *field, const TrainingSpec *a, const TrainingSpec *b) {
    static const size_t sizes[] = {[STORED_BY_HAND] = 0,
                                   [STORED_INT] = sizeof(int),
                                   [STORED_DOUBLE] = sizeof(double),
                                   [STORED_FLAG] = sizeof(bool),
                                   [STORED_UINT64] = sizeof(uint64_t)};
    return memcmp((const char *)a + field->at, (const char *)b + field->at, sizes[field->stored]) == 0;
}

// A decision of the stack: on the screen a line, in JSON an object.
typedef struct Decisions {
    Arena *arena;
    JsonWriter *json; // NULL: the screen
} Decisions;

static void decide(const Decisions *decisions, const char *name, const char *value, const char *where) {
    if (decisions->json) {
        json_begin_object(decisions->json);
        write_text(decisions->json, "name", name);
        write_text(decisions->json, "value", value);
        write_text(decisions->json, "where", where);
        json_end_object(decisions->json);
        return;
    }
    bool is_word =
        value[strspn(value, "0123456789.+-e")] != '\0' && strcmp(value, "true") != 0 && strcmp(value, "false") != 0;
    printf(is_word ? "  %s = \"%s\"%s%s\n" : "  %s = %s%s%s\n", name, value, where ? " " : "", where ? where : "");
}

static const char *member_text(Arena *arena, const Field *field, const TrainingSpec *spec) {
    const char *at = (const char *)spec + field->at;
    int whole = 0;
    double number = 0;
    bool flag = false;
    if (field->stored == STORED_INT) memcpy(&whole, at, sizeof whole);
    if (field->stored == STORED_DOUBLE) memcpy(&number, at, sizeof number);
    if (field->stored == STORED_FLAG) memcpy(&flag, at, sizeof flag);
    if (field->stored == STORED_FLAG) return flag ? "true" : "false";
    if (field->kind == FIELD_CHOICE) return field->names[whole];
    return arena_printf(arena, "%.6g", field->stored == STORED_INT ? whole : number);
}

// What the stack changes of the job that nothing is said of, for transformers.
static void print_settings(const Decisions *decisions, const Software *software) {
    Arena *arena = decisions->arena;
    const Model *model = find_model(arena, "gpt3-175b", (Where){0}, problems_create(arena));
    TrainingSpec usual = job_usual(model, (GpuTypes){0}), changed = usual;
    software_apply(software, &changed);
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (field->stored == STORED_BY_HAND || !field->flag || same_member(field, &usual, &changed)) continue;
            const char *inside = strchr(job_objects[o].name, '.');
            const char *name = inside ? arena_printf(arena, "%s.%s", inside + 1, field->name) : field->name;
            decide(decisions, name, member_text(arena, field, &changed), NULL);
        }
    if (software_does(software, SLICES_SEQUENCE))
        decide(decisions, "parallel.sequence_parallel", "true", "where tp is above 1");
    if (software_does(software, TUNES_IMAGES)) decide(decisions, "framework", "tuned", "for image networks");
    if (software_does(software, CHANNELS_LAST)) decide(decisions, "image_layout", "nhwc", "in 16 bits");
    if (software->images_per_core > 0)
        decide(decisions, "data.samples_per_second_per_worker", arena_printf(arena, "%g", software->images_per_core),
               "where images are read");
    if (software_does(software, PARAMETER_SERVERS)) decide(decisions, "backend", "mpi", ": parameter servers");
}

static void print_words(const char *before, const char *words) {
    if (!words || !words[0]) return;
    printf("%s\"", before);
    for (; *words; words++) printf("%.*s", *words == '|' ? 4 : 1, *words == '|' ? "\", \"" : words);
    printf("\"");
}

static void print_date(const char *before, double year) {
    if (year > 0) printf(", %s %d-%02d", before, (int)year, 1 + (int)((year - (int)year) * 12 + 0.5));
}

static void write_rule(JsonWriter *json, const SoftwareRule *rule) {
    json_begin_object(json);
    write_text(json, "words", rule->word);
    write_text(json, "with", rule->also);
    write_text(json, "without", rule->unless);
    write_number(json, "since_year", rule->since > 0 ? rule->since : NAN);
    write_number(json, "before_year", rule->until > 0 ? rule->until : NAN);
    write_text(json, "because", rule->because);
    json_end_object(json);
}

static int print_all_software(bool as_json) {
    const SoftwareRule *rule;
    if (as_json) {
        JsonWriter json = json_start("job-software", "rules");
        for (int i = 0; (rule = software_rule(i)) != NULL; i++) write_rule(&json, rule);
        return json_finish(&json);
    }
    printf("Each rule that fits changes a little of what those above it say.\n");
    for (int i = 0; (rule = software_rule(i)) != NULL; i++) {
        printf("%s", rule->word[0] ? "" : "all");
        print_words("", rule->word);
        print_words(" with ", rule->also);
        print_words(" without ", rule->unless);
        print_date("since", rule->since);
        print_date("before", rule->until);
        printf("\n  %s\n", rule->because);
    }
    return EXIT_DONE;
}

static int print_software(Arena *arena, const char *text, bool as_json, Problems *problems) {
    SoftwareQuery query = {.text = text, .gpu_year = SOFTWARE_GPU_YEAR};
    const Software *software = find_software(arena, &query, (Where){0}, problems);
    if (!software) return command_fails(problems, EXIT_BAD_INPUT);
    if (as_json) {
        JsonWriter json = json_start("job-software-words", "decisions");
        print_settings(&(Decisions){arena, &json}, software);
        json_end_list(&json);
        write_text(&json, "because", software->because);
        json_end_object(&json);
        printf("\n");
        return EXIT_DONE;
    }
    printf("%s\n  what is not said of a transformer is then:\n", software->because);
    print_settings(&(Decisions){arena, NULL}, software);
    return EXIT_DONE;
}

// ---- The command.

static const OptionSpec specs[] = {
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of text"},
};

static int job_command(Arena *arena, int argc, char **argv, Problems *problems) {
    static const char *const verbs[] = {"fields", "software", "strategies"};
    Options *options = options_parse(arena, specs, COUNT_OF(specs), argc, argv, problems);
    if (option_help(options)) {
        options_print_help(
            specs, COUNT_OF(specs), "lockstep job fields | software [WORDS] | strategies",
            "What may be said of a training job: its fields, as scripts and options spell them; software "
            "stacks and\nwhat each decides; strategies in the words of other frameworks.",
            stdout);
        return EXIT_DONE;
    }
    const char *verb = option_positional_count(options) ? option_positional(options, 0) : "fields";
    bool software = strcmp(verb, "software") == 0, words = software && option_positional_count(options) > 1;
    bool known = false;
    for (int i = 0; i < COUNT_OF(verbs); i++) known |= strcmp(verb, verbs[i]) == 0;
    if (!known) {
        problem_add(problems, (Where){0}, "lockstep job cannot \"%s\"", verb);
        problem_hint_names(problems, verb, verbs, COUNT_OF(verbs));
    }
    options_refuse_positional(options, words ? 2 : 1, problems);
    if (problem_count(problems)) return command_fails(problems, EXIT_USAGE);
    bool as_json = option_flag(options, "json");
    if (words) return print_software(arena, option_positional(options, 1), as_json, problems);
    if (software) return print_all_software(as_json);
    return strcmp(verb, "strategies") == 0 ? print_strategies(as_json) : print_fields(as_json);
}

int command_job(int argc, char **argv) {
    Arena *arena = arena_open();
    int exit_code = job_command(arena, argc, argv, problems_create(arena));
    arena_close(arena);
    return exit_code;
}
