// lockstep job: lists the fields of a training job, from their tables.
#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/job/software.h"
#include "models/workload/model/model.h"
#include "results/answer/frame.h"

// ---- Fields.

static void add_field(const Asking *asking, const JobObjectType *type, const Field *field) {
    Arena *arena = asking->arena;
    char wanted[2048];
    if (field->kind == FIELD_TABLE) return;
    field_describe(field, wanted, sizeof wanted);
    const char *option = "", *usual = "", *varied = "";
    if (field->flag) option = arena_printf(arena, field->alias ? "--%s, --%s" : "--%s", field->flag, field->alias);
    if (field->fallback) usual = arena_printf(arena, "; else %s", field->fallback);
    if (field->varied) varied = arena_printf(arena, "; varied as %s", field->varied);
    ANSWER_ROW(asking->answer, arena_printf(arena, "%s.%s", type->name, field->name), option, field->help,
               arena_printf(arena, "may be %s%s%s%s", wanted, field->list ? ", or a list of such" : "", usual, varied),
               arena_printf(arena, "example: %s = %s", field->name, field->example), type->name, field->name,
               field->flag, field->alias, field->varied, arena_copy_text(arena, wanted),
               answer_of(AS_BOOL, field->list), field->fallback, field->example, field->help);
}

static int answer_fields(Asking *asking) {
    static const AnswerColumn columns[] = {
        {NULL, "field", AS_TEXT, 0},          {NULL, "option", AS_TEXT, 0},          {NULL, "help", AS_TEXT, BELOW_ROW},
        {NULL, "may be", AS_TEXT, BELOW_ROW}, {NULL, "example", AS_TEXT, BELOW_ROW}, {"object", NULL, AS_TEXT, 0},
        {"field", NULL, AS_TEXT, 0},          {"option", NULL, AS_TEXT, 0},          {"alias", NULL, AS_TEXT, 0},
        {"varied_as", NULL, AS_TEXT, 0},      {"may_be", NULL, AS_TEXT, 0},          {"list", NULL, AS_BOOL, 0},
        {"default", NULL, AS_TEXT, 0},        {"example", NULL, AS_TEXT, 0},         {"help", NULL, AS_TEXT, 0},
    };
    answer_rename(asking->answer, "job-fields");
    answer_table(asking->answer, "fields", NULL, columns, COUNT_OF(columns));
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++)
            add_field(asking, &job_objects[o], &job_objects[o].fields[i]);
    return EXIT_DONE;
}

// ---- Strategies.

static const char *strategy_text(Arena *arena, const StrategyWord *word) {
    const char *text = strategy_names[word->strategy];
    if (word->zero) text = arena_printf(arena, "%s, zero = %d", text, word->zero);
    if (word->optimizer != OFFLOAD_GPU)
        text = arena_printf(arena, "%s, offload.optimizer = %s", text, offload_names[word->optimizer]);
    if (word->parameters != OFFLOAD_GPU)
        text = arena_printf(arena, "%s, offload.parameters = %s", text, offload_names[word->parameters]);
    return text;
}

static int answer_strategies(Asking *asking) {
    static const AnswerColumn columns[] = {
        {"from", "from", AS_TEXT, 0},
        {"word", "word", AS_TEXT, 0},
        {"strategy", NULL, AS_TEXT, 0},
        {"zero", NULL, AS_WHOLE, 0},
        {"offload_optimizer", NULL, AS_TEXT, 0},
        {"offload_parameters", NULL, AS_TEXT, 0},
        {NULL, "strategy", AS_TEXT, 0},
    };
    answer_rename(asking->answer, "job-strategies");
    answer_table(asking->answer, "strategies", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < FOREIGN_STRATEGIES; i++) {
        const StrategyWord *word = &foreign_strategies[i];
        ANSWER_ROW(asking->answer, word->from, word->word, strategy_names[word->strategy],
                   answer_of(AS_WHOLE, word->zero), offload_names[word->optimizer], offload_names[word->parameters],
                   strategy_text(asking->arena, word));
    }
    return EXIT_DONE;
}

// ---- Software: properties of one stack.

static bool same_member(const Field *field, const TrainingSpec *a, const TrainingSpec *b) {
    static const size_t sizes[] = {[STORED_BY_HAND] = 0,
                                   [STORED_INT] = sizeof(int),
                                   [STORED_DOUBLE] = sizeof(double),
                                   [STORED_FLAG] = sizeof(bool),
                                   [STORED_UINT64] = sizeof(uint64_t)};
    return memcmp((const char *)a + field->at, (const char *)b + field->at, sizes[field->stored]) == 0;
}

static void decide(const Asking *asking, const char *name, const char *value, const char *where) {
    ANSWER_ROW(asking->answer, name, value, where, where ? where : "");
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

// Settings of the default job that the stack changes, for transformers.
static void add_decisions(const Asking *asking, const Software *software) {
    Arena *arena = asking->arena;
    const Model *model = find_model(arena, "gpt3-175b", (Where){0}, problems_create(arena));
    TrainingSpec usual = job_usual(model, (GpuTypes){0}), changed = usual;
    software_apply(software, &changed);
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (field->stored == STORED_BY_HAND || !field->flag || same_member(field, &usual, &changed)) continue;
            const char *inside = strchr(job_objects[o].name, '.');
            const char *name = inside ? arena_printf(arena, "%s.%s", inside + 1, field->name) : field->name;
            decide(asking, name, member_text(arena, field, &changed), NULL);
        }
    if (software_does(software, SLICES_SEQUENCE))
        decide(asking, "parallel.sequence_parallel", "true", "where tp is above 1");
    if (software_does(software, TUNES_IMAGES)) decide(asking, "framework", "tuned", "for image networks");
    if (software_does(software, CHANNELS_LAST)) decide(asking, "image_layout", "nhwc", "in 16 bits");
    if (software->images_per_core > 0)
        decide(asking, "data.samples_per_second_per_worker", arena_printf(arena, "%g", software->images_per_core),
               "where images are read");
    if (software_does(software, PARAMETER_SERVERS)) decide(asking, "backend", "mpi", ": parameter servers");
}

static int answer_software(Asking *asking, const char *text) {
    static const AnswerColumn columns[] = {{"name", "not said of a transformer", AS_TEXT, 0},
                                           {"value", "it is", AS_TEXT, 0},
                                           {"where", NULL, AS_TEXT, 0},
                                           {NULL, "", AS_TEXT, 0}};
    SoftwareQuery query = {.text = text, .gpu_year = SOFTWARE_GPU_YEAR};
    const Software *software = find_software(asking->arena, &query, (Where){0}, asking->problems);
    if (!software) return EXIT_BAD_INPUT;
    answer_rename(asking->answer, "job-software-words");
    answer_say(asking->answer, NULL, "%s.", software->because);
    answer_text(asking->answer, "because", NULL, software->because);
    answer_table(asking->answer, "decisions", NULL, columns, COUNT_OF(columns));
    add_decisions(asking, software);
    return EXIT_DONE;
}

// ---- Software: the rules.

// "a", "b"
static const char *quoted(Arena *arena, const char *before, const char *words) {
    if (!words || !words[0]) return "";
    const char *text = arena_printf(arena, "%s\"", before);
    for (; *words; words++)
        text = *words == '|' ? arena_printf(arena, "%s\", \"", text) : arena_printf(arena, "%s%c", text, *words);
    return arena_printf(arena, "%s\"", text);
}

static const char *month(Arena *arena, const char *before, double year) {
    int whole = (int)year;
    return year > 0 ? arena_printf(arena, ", %s %d-%02d", before, whole, 1 + (int)((year - whole) * 12 + 0.5)) : "";
}

static const char *condition(Arena *arena, const SoftwareRule *rule) {
    return arena_printf(arena, "%s%s%s%s%s", rule->word[0] ? quoted(arena, "", rule->word) : "all",
                        quoted(arena, " with ", rule->also), quoted(arena, " without ", rule->unless),
                        month(arena, "since", rule->since), month(arena, "before", rule->until));
}

static int answer_rules(Asking *asking) {
    static const AnswerColumn columns[] = {{NULL, "", AS_WHOLE, 0},
                                           {NULL, "named", AS_TEXT, 0},
                                           {"words", NULL, AS_TEXT, 0},
                                           {"with", NULL, AS_TEXT, 0},
                                           {"without", NULL, AS_TEXT, 0},
                                           {"since_year", NULL, AS_NUMBER, 0},
                                           {"before_year", NULL, AS_NUMBER, 0},
                                           {"because", "because", AS_TEXT, BELOW_ROW}};
    Arena *arena = asking->arena;
    const SoftwareRule *rule;
    answer_rename(asking->answer, "job-software");
    answer_say(asking->answer, NULL, "Each rule that fits changes a little of what those above it say.");
    answer_table(asking->answer, "rules", NULL, columns, COUNT_OF(columns));
    for (int i = 0; (rule = software_rule(i)) != NULL; i++) {
        ANSWER_ROW(asking->answer, answer_of(AS_WHOLE, i + 1), condition(arena, rule), rule->word, rule->also,
                   rule->unless, answer_of(AS_NUMBER, rule->since > 0 ? rule->since : NAN),
                   answer_of(AS_NUMBER, rule->until > 0 ? rule->until : NAN), rule->because);
    }
    return EXIT_DONE;
}

// ---- The question.

static int ask(Asking *asking) {
    static const char *const verbs[] = {"fields", "software", "strategies"};
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    const char *verb = option_positional_count(options) ? option_positional(options, 0) : "fields";
    bool software = strcmp(verb, "software") == 0, words = software && option_positional_count(options) > 1;
    bool known = false;
    for (int i = 0; i < COUNT_OF(verbs); i++) known |= strcmp(verb, verbs[i]) == 0;
    if (!known) {
        problem_add(problems, (Where){0}, "lockstep job cannot \"%s\"", verb);
        problem_hint_names(problems, verb, verbs, COUNT_OF(verbs));
    }
    options_refuse_positional(options, words ? 2 : 1, problems);
    if (problem_count(problems)) return EXIT_USAGE;
    if (words) return answer_software(asking, option_positional(options, 1));
    if (software) return answer_rules(asking);
    return strcmp(verb, "strategies") == 0 ? answer_strategies(asking) : answer_fields(asking);
}

static const Question job = {
    .name = "job",
    .usage = "lockstep job fields | software [WORDS] | strategies",
    .about = "What may be said of a training job: its fields, as scripts and options spell them; software stacks and\n"
             "what each decides; strategies in the words of other frameworks.",
    .positional = 2,
    .ask = ask};

int command_job(int argc, char **argv);
int command_job(int argc, char **argv) { return frame_run(&job, argc, argv); }
