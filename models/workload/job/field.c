// Checks one value against one field: numbers with ranges and units, names from lists and from the catalogue.
#include "models/workload/job/field.h"

#include <math.h>
#include <string.h>

#include "models/workload/model/model.h"
#include "sim/base/check.h"
#include "sim/base/options.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

#define LONGEST_TEXT 4096

const char *const handle_kind_names[HANDLE_KIND_COUNT] = {
    [HANDLE_PART] = "sim.hw",         [HANDLE_FABRIC] = "a fabric",       [HANDLE_CLUSTER] = "sim.cluster",
    [HANDLE_MODEL] = "sim.model",     [HANDLE_TRAINING] = "sim.training", [HANDLE_STUDY] = "sim.study",
    [HANDLE_PROGRAM] = "sim.program", [HANDLE_REPORT] = "sim.report",     [HANDLE_GROUP] = "sim.group",
    [HANDLE_RANK] = "a rank",         [HANDLE_STREAM] = "a stream",       [HANDLE_QUEUE] = "sim.queue",
    [HANDLE_PACKETS] = "sim.packets",
};

// ---- What a value may be.

static const char *number_noun(QuantityKind kind) {
    switch (kind) {
    case QUANTITY_COUNT:
        return "a whole count";
    case QUANTITY_BYTES:
        return "an amount of data";
    case QUANTITY_TIME:
        return "a time";
    case QUANTITY_FLOPS:
        return "an amount of arithmetic";
    case QUANTITY_BANDWIDTH:
        return "a bandwidth";
    case QUANTITY_NUMBER:
    case QUANTITY_FLOPS_RATE:
    case QUANTITY_POWER:
    case QUANTITY_ENERGY:
    case QUANTITY_FREQUENCY:
    case QUANTITY_KIND_COUNT:
        break;
    }
    return "a number";
}

static void format_end(double number, QuantityKind kind, char *out, size_t out_bytes) {
    bool is_plain = kind == QUANTITY_COUNT || kind == QUANTITY_NUMBER;
    if (number == 0 || (is_plain && fabs(number) >= 1e-3 && fabs(number) < 1e12))
        snprintf(out, out_bytes, "%.12g", number);
    else
        quantity_format(number, kind, out, out_bytes);
}

static void describe_quantity(const Field *field, char *out, size_t out_bytes) {
    char least[32], most[32], word[64] = "";
    format_end(field->least, field->quantity, least, sizeof least);
    format_end(field->most, field->quantity, most, sizeof most);
    if (field->word) snprintf(word, sizeof word, " or \"%s\"", field->word);
    const char *noun = number_noun(field->quantity);
    if (field->least == 0 && field->most == 0)
        snprintf(out, out_bytes, "%s%s", noun, word);
    else if (field->least == ABOVE_ZERO)
        snprintf(out, out_bytes, "%s above 0 and up to %s%s", noun, most, word);
    else
        snprintf(out, out_bytes, "%s from %s to %s%s", noun, least, most, word);
}

static void describe_choice(const Field *field, char *out, size_t out_bytes) {
    size_t length = (size_t)snprintf(out, out_bytes, "one of ");
    for (int i = 0; i < field->name_count && length < out_bytes; i++)
        length += (size_t)snprintf(out + length, out_bytes - length, "%s\"%s\"", i ? ", " : "", field->names[i]);
}

void field_describe(const Field *field, char *out, size_t out_bytes) {
    static const char *const parts[FIELD_PART_COUNT] = {"a GPU", "a type of node", "a link", "a storage"};
    switch (field->kind) {
    case FIELD_QUANTITY:
        describe_quantity(field, out, out_bytes);
        return;
    case FIELD_SEED:
        snprintf(out, out_bytes, "a seed: %s", SEED_RANGE);
        return;
    case FIELD_CHOICE:
        describe_choice(field, out, out_bytes);
        return;
    case FIELD_FLAG:
        snprintf(out, out_bytes, "true or false");
        return;
    case FIELD_TEXT:
        snprintf(out, out_bytes, "a text");
        return;
    case FIELD_SCALAR:
        snprintf(out, out_bytes, "a number, a text, true or false");
        return;
    case FIELD_BOUND:
        snprintf(out, out_bytes, "a bound: < or > and %s", number_noun(field->quantity));
        return;
    case FIELD_FUNCTION:
        snprintf(out, out_bytes, "a function");
        return;
    case FIELD_TABLE:
        snprintf(out, out_bytes, "a table of fields");
        return;
    case FIELD_VALUE: {
        const char *made = handle_kind_names[field->handle];
        snprintf(out, out_bytes, "%s%s%s", made, field->named ? " or its name" : "", strchr(made, '.') ? " { … }" : "");
        if (field->named) snprintf(out, out_bytes, "a name, or %s", made);
        return;
    }
    case FIELD_PART:
        snprintf(out, out_bytes, "%s of the catalogue%s", parts[field->part],
                 field->handle == HANDLE_FABRIC ? ", or a fabric such as sim.fat_tree { … }" : "");
        return;
    }
}

// The example is a Lua literal: as words of a command line it has no quotes, and a list has commas alone.
static const char *example_in_words(Arena *arena, const char *example) {
    char *words = arena_copy_text(arena, example), *to = words;
    bool is_list = *example == '{';
    for (const char *from = example; *from; from++)
        if (!strchr(is_list ? "\"{} " : "\"", *from)) *to++ = *from;
    *to = '\0';
    return words;
}

// A value that is right, said as it would be where the wrong one was: "--zero 4", "--set training.zero=4",
// "--vary zero=4", "--measured 8,zero=4=2s", a cell of a table, a script.
static void hint_example(const FieldReader *reader, const Field *field, Where where) {
    const char *said = where.file ? where.file : "", *words = example_in_words(reader->arena, field->example);
    bool is_setting = strncmp(said, "--set ", 6) == 0 || strncmp(said, "--vary ", 7) == 0;
    const char *quoted = option_word_quoted(reader->arena, words), *ending = strrchr(said, '.');
    if (strncmp(said, "--measured ", 11) == 0)
        problem_hint(reader->problems, "for example %s=%s", field->name, words);
    else if (is_setting)
        problem_hint(reader->problems, "for example %.*s=%s", (int)strcspn(said, "="), said, quoted);
    else if (option_begins(said))
        problem_hint(reader->problems, "for example %.*s %s", (int)strcspn(said, " ="), said, quoted);
    else if (ending && strcasecmp(ending, ".csv") == 0)
        problem_hint(reader->problems, "for example %s", words);
    else
        problem_hint(reader->problems, "for example: %s = %s", field->name, field->example);
}

void field_refuse(const FieldReader *reader, const Field *field, const char *called, Where where, const char *found) {
    char wanted[512];
    field_describe(field, wanted, sizeof wanted);
    problem_add(reader->problems, where, "%s of %s must be %s, not %.80s", field->name, called, wanted, found);
    hint_example(reader, field, where);
}

static bool refuse_because(const FieldReader *reader, const Field *field, const char *called, Where where,
                           const char *text, const char *why) {
    problem_add(reader->problems, where, "\"%.60s\" cannot be %s of %s: %s", text, field->name, called, why);
    hint_example(reader, field, where);
    return false;
}

// ---- Quantities.

static bool in_range(const Field *field, double number) {
    if (!isfinite(number)) return false;
    if (field->quantity == QUANTITY_COUNT && number != floor(number)) return false;
    if (field->least == 0 && field->most == 0) return true;
    return number >= field->least && number <= field->most;
}

static const char *number_shown(const FieldReader *reader, double number) {
    if (isnan(number)) return "nan"; // whose sign differs between machines
    return arena_printf(reader->arena, "%.14g", number);
}

// The example, without quotes and side: it is in the unit that is usual of the field. NULL when it has none.
static const char *usual_value(const Field *field, char out[32]) {
    const char *example = field->example ? field->example : "";
    example += strspn(example, "\"<> ");
    snprintf(out, 32, "%.*s", (int)strcspn(example, "\""), example);
    return out[0] >= '0' && out[0] <= '9' ? out : NULL;
}

static bool refuse_without_unit(const FieldReader *reader, const Field *field, const char *called, const char *text,
                                Where where) {
    char usual[32], why[QUANTITY_WHY];
    if (!quantity_unit_missing(field->name, text, field->quantity, usual_value(field, usual), why, sizeof why))
        return false;
    problem_add(reader->problems, where, "%s of %s: %s", field->name, called, why);
    hint_example(reader, field, where);
    return true;
}

bool field_from_number(const FieldReader *reader, const Field *field, const char *called, double number, Where where,
                       Value *value) {
    value->number = number;
    if (!in_range(field, number)) {
        field_refuse(reader, field, called, where, number_shown(reader, number));
        return false;
    }
    bool is_bare =
        field->quantity == QUANTITY_TIME || field->quantity == QUANTITY_BANDWIDTH || field->quantity == QUANTITY_BYTES;
    // (Fields of operations, which are read by the million, have their units in their names.)
    if (is_bare && !reader->brief && refuse_without_unit(reader, field, called, number_shown(reader, number), where))
        return false;
    if (!reader->brief) value->text = number_shown(reader, number);
    return true;
}

static bool quantity_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                               Where where, Value *value) {
    char usual[32], why[QUANTITY_WHY];
    value->text = text;
    value->number = NAN;
    if (field->word && strcmp(text, field->word) == 0) return true;
    if (refuse_without_unit(reader, field, called, text, where)) return false;
    if (!quantity_read(field->name, text, field->quantity, usual_value(field, usual), &value->number, why))
        return refuse_because(reader, field, called, where, text, why);
    if (field->in_1024) value->number = quantity_of_length(text, value->number);
    if (in_range(field, value->number)) return true;
    field_refuse(reader, field, called, where, reader->brief ? text : arena_printf(reader->arena, "\"%.60s\"", text));
    return false;
}

static bool bound_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                            Where where, Value *value) {
    const char *rest = text + strspn(text, " ");
    value->flag = *rest == '<';
    if (*rest != '<' && *rest != '>')
        return refuse_because(reader, field, called, where, text, "a side is missing: begin with < or >");
    rest += 1 + (rest[1] == '=');
    char usual[32], why[QUANTITY_WHY];
    if (refuse_without_unit(reader, field, called, rest, where)) return false;
    if (!quantity_read(field->name, rest, field->quantity, usual_value(field, usual), &value->number, why))
        return refuse_because(reader, field, called, where, text, why);
    return true;
}

// ---- Seeds.

bool field_from_seed(const FieldReader *reader, uint64_t seed, Value *value) {
    value->seed = seed;
    value->text = arena_printf(reader->arena, "%llu", (unsigned long long)seed);
    return true;
}

static bool seed_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                           Where where, Value *value) {
    uint64_t seed;
    if (seed_read(text, &seed)) return field_from_seed(reader, seed, value);
    field_refuse(reader, field, called, where, arena_printf(reader->arena, "\"%.60s\"", text));
    return false;
}

// ---- Names.

static bool choice_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                             Where where, Value *value) {
    for (int i = 0; i < field->name_count; i++) {
        if (strcmp(field->names[i], text) != 0) continue;
        value->choice = i;
        value->text = field->names[i];
        return true;
    }
    problem_add(reader->problems, where, "%s of %s cannot be \"%.60s\"", field->name, called, text);
    problem_hint_names(reader->problems, text, field->names, field->name_count);
    return false;
}

static bool part_from_text(const FieldReader *reader, const Field *field, const char *text, Where where, Value *value) {
    Arena *arena = reader->arena;
    const Catalogue *parts = reader->catalogue;
    value->text = arena_copy_text(arena, text);
    value->handle_kind = HANDLE_PART;
    switch (field->part) {
    case FIELD_GPU:
        value->handle = find_gpu(arena, parts, text, where, reader->problems);
        break;
    case FIELD_NODE:
        value->handle = find_node(arena, parts, text, where, reader->problems);
        break;
    case FIELD_LINK:
        value->handle = find_link(arena, parts, text, where, reader->problems);
        break;
    case FIELD_STORAGE:
        value->handle = find_storage(arena, parts, text, where, reader->problems);
        break;
    case FIELD_PART_COUNT:
        CHECK(false);
    }
    return value->handle != NULL;
}

static bool named_field_from_text(const FieldReader *reader, const Field *field, const char *text, Where where,
                                  Value *value) {
    value->handle_kind = field->handle;
    value->text = reader->brief ? text : arena_copy_text(reader->arena, text);
    if (field->handle == HANDLE_STREAM) return true;
    CHECK(field->handle == HANDLE_MODEL);
    value->handle = find_model(reader->arena, text, where, reader->problems);
    return value->handle != NULL;
}

// Names end on terminals and in files: no letters that command a terminal.
const char *field_text_problem(const char *text, size_t length) {
    if (length > LONGEST_TEXT) return "it is longer than 4096 bytes";
    if (strlen(text) < length) return "it holds a zero byte";
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        int32_t letter = letter_next(&next);
        if (letter < 0) return "it is no UTF-8";
        if (letter_commands_terminal(letter)) return "it holds a control character";
    }
    return NULL;
}

bool field_from_bytes(const FieldReader *reader, const Field *field, const char *called, const char *text,
                      size_t length, Where where, Value *value) {
    const char *why = field_text_problem(text, length);
    if (why) {
        problem_add(reader->problems, where, "this text cannot be %s of %s: %s", field->name, called, why);
        hint_example(reader, field, where);
        return false;
    }
    value->text = reader->brief ? text : arena_copy_text(reader->arena, text);
    return true;
}

bool field_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text, Where where,
                     Value *value) {
    switch (field->kind) {
    case FIELD_QUANTITY:
        return quantity_from_text(reader, field, called, text, where, value);
    case FIELD_SEED:
        return seed_from_text(reader, field, called, text, where, value);
    case FIELD_BOUND:
        return bound_from_text(reader, field, called, text, where, value);
    case FIELD_CHOICE:
        return choice_from_text(reader, field, called, text, where, value);
    case FIELD_PART:
        return part_from_text(reader, field, text, where, value);
    case FIELD_TEXT:
    case FIELD_SCALAR:
        return field_from_bytes(reader, field, called, text, strlen(text), where, value);
    case FIELD_FLAG:
        value->flag = strcmp(text, "true") == 0;
        if (value->flag || strcmp(text, "false") == 0) return true;
        break;
    case FIELD_VALUE:
        if (field->named) return named_field_from_text(reader, field, text, where, value);
        break;
    case FIELD_TABLE:
    case FIELD_FUNCTION:
        break;
    }
    field_refuse(reader, field, called, where, reader->brief ? text : arena_printf(reader->arena, "\"%.60s\"", text));
    return false;
}

bool field_list_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                          Where where, Value *value) {
    int count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    Value *items = ARENA_ARRAY(reader->arena, Value, count);
    bool sound = true;
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        const char *one = arena_printf(reader->arena, "%.*s", (int)length, text);
        sound = field_from_text(reader, field, called, one, where, &items[i]) && sound;
        items[i].given = items[i].written = true;
        items[i].where = where;
        text += length + (text[length] == ',');
    }
    *value = (Value){.given = true, .written = true, .where = where, .items = items, .count = count};
    return sound;
}

// The fallback is a Lua literal: quotes go. (Operations have no quoted ones; they are read by the million.)
void field_from_fallback(const FieldReader *reader, const Field *field, Value *value) {
    const char *text = field->fallback;
    if (text[0] == '"') text = arena_printf(reader->arena, "%.*s", (int)strlen(text) - 2, text + 1);
    *value = (Value){.given = true, .number = NAN};
    CHECK(field_from_text(reader, field, field->name, text, (Where){0}, value));
}
