// lockstep job: what may be said of a training job, from the tables that read it.
#include <string.h>

#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/commands.h"
#include "models/workload/job/software.h"
#include "models/workload/job/strategy_words.h"
#include "models/workload/model/model.h"
#include "sim/check.h"

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

static int print_fields(void) {
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) print_field(&job_objects[o], &job_objects[o].fields[i]);
    return EXIT_DONE;
}

// ---- Strategies.

static int print_strategies(void) {
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

static void print_member(const JobObjectType *type, const Field *field, const TrainingSpec *spec) {
    const char *at = (const char *)spec + field->at;
    int whole = 0;
    double number = 0;
    bool flag = false;
    const char *inside = strchr(type->name, '.');
    printf("  %s%s%s = ", inside ? inside + 1 : "", inside ? "." : "", field->name);
    if (field->stored == STORED_INT) memcpy(&whole, at, sizeof whole);
    if (field->stored == STORED_DOUBLE) memcpy(&number, at, sizeof number);
    if (field->stored == STORED_FLAG) memcpy(&flag, at, sizeof flag);
    if (field->stored == STORED_FLAG)
        printf("%s\n", flag ? "true" : "false");
    else if (field->kind == FIELD_CHOICE)
        printf("\"%s\"\n", field->names[whole]);
    else
        printf("%.6g\n", field->stored == STORED_INT ? whole : number);
}

// What the stack changes of the job that nothing is said of, for transformers.
static void print_settings(Arena *arena, const Software *software) {
    const Model *model = find_model(arena, "gpt3-175b", (Where){0}, problems_create(arena));
    TrainingSpec usual = job_usual(model, (GpuTypes){0}), changed = usual;
    software_apply(software, &changed);
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (field->stored == STORED_BY_HAND || !field->flag || same_member(field, &usual, &changed)) continue;
            print_member(&job_objects[o], field, &changed);
        }
    if (software_does(software, SLICES_SEQUENCE)) printf("  parallel.sequence_parallel = true where tp is above 1\n");
    if (software_does(software, TUNES_IMAGES)) printf("  framework = \"tuned\" for image networks\n");
    if (software_does(software, CHANNELS_LAST)) printf("  image_layout = \"nhwc\" in 16 bits\n");
    if (software->images_per_core > 0)
        printf("  data.samples_per_second_per_worker = %g where images are read\n", software->images_per_core);
    if (software_does(software, PARAMETER_SERVERS)) printf("  backend = \"mpi\": parameter servers\n");
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

static int print_all_software(void) {
    const SoftwareRule *rule;
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

static int print_software(Arena *arena, const char *text, Problems *problems) {
    SoftwareQuery query = {.text = text, .gpu_year = SOFTWARE_GPU_YEAR};
    const Software *software = find_software(arena, &query, (Where){0}, problems);
    if (!software) return command_fails(problems, EXIT_BAD_INPUT);
    printf("%s\n  what is not said of a transformer is then:\n", software->because);
    print_settings(arena, software);
    return EXIT_DONE;
}

// ---- The command.

static int job_command(Arena *arena, int argc, char **argv, Problems *problems) {
    static const char *const verbs[] = {"fields", "software", "strategies"};
    Options *options = options_parse(arena, NULL, 0, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(
            NULL, 0, "lockstep job fields | software [WORDS] | strategies",
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
    if (words) return print_software(arena, option_positional(options, 1), problems);
    if (software) return print_all_software();
    return strcmp(verb, "strategies") == 0 ? print_strategies() : print_fields();
}

int command_job(int argc, char **argv) {
    Arena *arena = arena_open();
    int exit_code = job_command(arena, argc, argv, problems_create(arena));
    arena_close(arena);
    return exit_code;
}
