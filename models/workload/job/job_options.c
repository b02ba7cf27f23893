// Command-line options of a training job, from the table of its fields. Megatron-LM's long names are aliases.
#include "models/workload/job/job.h"

#include <string.h>

#include "models/workload/model/model.h"

#define LARGEST_IMAGE 8192     // pixels a side
#define LONGEST_SOUND 10000000 // samples

static const Where command_line = {NULL, 0};

// clang-format off
static const OptionSpec model_options[] = {
    {"model", OPTION_TEXT, "NAME", .of = OF_QUESTION, .help = "model (lockstep model list), or the path of a Hugging Face config.json", .letter = 'm'},
    {"as", OPTION_TEXT, "TYPE", .of = OF_QUESTION, .help = "read the config.json as this model_type (llama)"},
    {"image-size", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "pixels along an image's side"},
    {"classes", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "classes of an image classifier"},
};

static const OptionSpec profile_option = PROFILE_OPTION;

// Options that set a fixed value of a field.
typedef struct ShortForm {
    const char *flag, *field, *value, *help;
} ShortForm;

static const ShortForm short_forms[] = {
    {"fp16", "precision", "fp16", "the same as --precision fp16"},
    {"bf16", "precision", "bf16", "the same as --precision bf16"},
    {"use-distributed-optimizer", "zero", "1", "the same as --zero 1"},
    {"recompute-activations", "recompute", "selective", "the same as --recompute selective"},
    {"use-flash-attn", "attention", "flash", "the same as --attention flash"},
};
// clang-format on

// ---- Rows.

static const char *metavar_of(Arena *arena, const Field *field) {
    static const char *const by_quantity[QUANTITY_KIND_COUNT] = {
        [QUANTITY_COUNT] = "N", [QUANTITY_BYTES] = "BYTES", [QUANTITY_TIME] = "TIME", [QUANTITY_BANDWIDTH] = "RATE"};
    if (field->kind == FIELD_PART) return "NAME";
    if (field->kind == FIELD_TEXT) return "TEXT";
    if (field->kind == FIELD_SEED) return "N";
    if (field->kind == FIELD_QUANTITY) {
        const char *word = by_quantity[field->quantity] ? by_quantity[field->quantity] : "X";
        return field->list ? arena_printf(arena, "%s,%s,…", word, word) : word;
    }
    if (field->name_count > 10) return field->list ? "NAME,…" : "NAME";
    const char *all = field->names[0];
    for (int i = 1; i < field->name_count; i++) all = arena_printf(arena, "%s|%s", all, field->names[i]);
    return field->list ? arena_printf(arena, "%s,…", all) : all;
}

// A flag that is on by default is switched off: --overlap-grad-reduce=false.
OptionSpec field_option(Arena *arena, const Field *field) {
    OptionSpec row = {
        .name = field->flag, .alias = field->alias, .others = field->others, .of = OF_QUESTION, .help = field->help};
    row.kind = field->kind == FIELD_FLAG ? OPTION_SWITCH : OPTION_TEXT;
    if (row.kind == OPTION_TEXT) row.metavar = metavar_of(arena, field);
    if (field->kind == FIELD_CHOICE) {
        row.choices = field->names;
        row.choice_count = field->name_count;
    }
    return row;
}

static const OptionSpec *job_rows(Arena *arena, int *count) {
    int room = (int)(sizeof short_forms / sizeof *short_forms) + 1;
    for (int o = 0; o < JOB_OBJECT_COUNT; o++) room += job_objects[o].field_count;
    OptionSpec *rows = ARENA_ARRAY(arena, OptionSpec, room);
    *count = 0;
    rows[(*count)++] = profile_option;
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++)
            if (job_objects[o].fields[i].flag) rows[(*count)++] = field_option(arena, &job_objects[o].fields[i]);
    for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
        rows[(*count)++] = (OptionSpec){
            .name = short_forms[i].flag, .kind = OPTION_FLAG, .of = OF_QUESTION, .help = short_forms[i].help};
    return rows;
}

const OptionSpec *options_with_model(Arena *arena, const OptionSpec *own, int own_count, int *count) {
    return options_join(arena, model_options, COUNT_OF(model_options), own, own_count, count);
}

const OptionSpec *options_with_job(Arena *arena, const OptionSpec *own, int own_count, int *count) {
    int job_count;
    const OptionSpec *job = job_rows(arena, &job_count);
    const OptionSpec *first = options_with_model(arena, own, own_count, count);
    return options_join(arena, first, *count, job, job_count, count);
}

// ---- The model.

// A count that must also fit the fields of a model.
static int small_count(const Options *options, const char *name, int fallback, Problems *problems) {
    int64_t count = option_count(options, name, fallback);
    if (count <= 100000000) return (int)count;
    problem_add(problems, command_line, "--%s %lld is more than can be worked with", name, (long long)count);
    problem_hint(problems, "at most 100 million");
    return fallback;
}

bool names_a_config(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

const Model *model_named(Arena *arena, const char *name, const char *as, Problems *problems) {
    return names_a_config(name) ? hf_model_read_file(arena, name, as, problems)
                                : find_model(arena, name, command_line, problems);
}

const Model *model_from_options(Arena *arena, const Options *options, Problems *problems) {
    const char *name = option_text(options, "model", NULL);
    if (!name) {
        int count = 0;
        const char *const *names = model_names(&count);
        option_require(options, "which model?", "model",
                       arena_printf(arena, "for example --model %s; lockstep model list shows all %d", names[0], count),
                       problems);
        return NULL;
    }
    const char *as = option_text(options, "as", NULL);
    const Model *model = model_named(arena, name, as, problems);
    if (!model) return NULL;

    bool resized = option_given(options, "image-size") || option_given(options, "classes");
    if (!resized) return model;
    if (!takes_images(model)) {
        problem_add(problems, command_line, "%s takes no images: --image-size and --classes are of no use",
                    model->name);
        problem_hint(problems, "leave them out");
        return NULL;
    }
    int image_size = small_count(options, "image-size", model->image_size, problems);
    int classes = small_count(options, "classes", model->classes, problems);
    int least = least_image_size(model), most = model->dimensions == 1 ? LONGEST_SOUND : LARGEST_IMAGE;
    if (image_size < least || image_size > most || classes < 1 || classes > 10000000) {
        problem_add(problems, command_line, "%s cannot work with images of %d pixels a side in %d classes", model->name,
                    image_size, classes);
        problem_hint(problems, "%d to %d pixels, 1 to 10 million classes", least, most);
        return NULL;
    }
    return model_resized(arena, model, image_size, classes);
}

// ---- The job.

typedef struct OptionReader {
    FieldReader field;
    const Options *options;
    JobSaid *said;
} OptionReader;

static bool value_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                            const char *written, Value *value) {
    Where where = {written, 0};
    *value = (Value){.given = true, .written = true, .where = where, .number = NAN};
    return field->list ? field_list_from_text(reader, field, called, text, where, value)
                       : field_from_text(reader, field, called, text, where, value);
}

static const char *option_as_written(Arena *arena, const Field *field, const char *text) {
    return arena_printf(arena, "--%s %s", field->flag, text);
}

bool field_from_option(const FieldReader *reader, const Options *options, const Field *field, const char *called,
                       Value *value) {
    *value = (Value){.number = NAN};
    const char *text = field->flag ? option_written(reader->arena, options, field->flag) : NULL;
    if (text) return value_from_text(reader, field, called, text, option_as_written(reader->arena, field, text), value);
    if (field->fallback) field_from_fallback(reader, field, value);
    return true;
}

// An invalid value leaves the field as it was; the problem has been reported.
static void say_text(OptionReader *r, JobObject object, const Field *field, const char *text, const char *written) {
    Value value;
    if (value_from_text(&r->field, field, job_objects[object].name, text, written, &value))
        *r->said = job_said_with(r->field.arena, r->said, object, field, &value);
}

static void read_field(OptionReader *r, JobObject object, const Field *field) {
    if (!field->flag || !option_given(r->options, field->flag)) return;
    const char *text = option_written(r->field.arena, r->options, field->flag);
    say_text(r, object, field, text, option_as_written(r->field.arena, field, text));
}

static void read_short_form(OptionReader *r, const ShortForm *form) {
    if (!option_flag(r->options, form->flag)) return;
    const Field *field = &job_objects[JOB_TRAINING].fields[job_field_index(JOB_TRAINING, form->field)];
    const Value *before = job_value(r->said, JOB_TRAINING, form->field);
    if (before && strcmp(before->text, form->value) != 0) {
        problem_add(r->field.problems, command_line, "%s is said twice: %s, and --%s means %s", form->field,
                    before->where.file, form->flag, form->value);
        problem_hint(r->field.problems, "keep one of them");
        return;
    }
    say_text(r, JOB_TRAINING, field, form->value, arena_printf(r->field.arena, "--%s", form->flag));
}

JobSaid job_from_options(Arena *arena, const Options *options, const Catalogue *catalogue, const Model *model,
                         Problems *problems) {
    JobSaid said = {.model = model};
    OptionReader r = {{.arena = arena, .problems = problems, .catalogue = catalogue}, options, &said};
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) read_field(&r, (JobObject)o, &job_objects[o].fields[i]);
    for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++) read_short_form(&r, &short_forms[i]);
    return said;
}
