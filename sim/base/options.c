// Commands have few options, so rows are found by linear search.
#include "sim/base/options.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/quantity.h"

typedef LIST_OF(const char *) TextList;

typedef struct OptionValue {
    bool given;
    const char *text;
    double number;
    uint64_t seed;
    int choice;
    TextList texts;
} OptionValue;

struct Options {
    const OptionSpec *specs; // the command's own first
    int spec_count, own_count;
    OptionValue *values; // one per row
    TextList positional;
    bool help;
};

// What is being read: where we are in argv.
typedef struct Reader {
    Arena *arena;
    Options *options;
    int argc, next;
    char **argv;
    Problems *problems;
} Reader;

static const Where command_line = {NULL, 0};

static bool is_called(const OptionSpec *spec, const char *name, size_t length) {
    return (strlen(spec->name) == length && memcmp(spec->name, name, length) == 0) ||
           (spec->alias && strlen(spec->alias) == length && memcmp(spec->alias, name, length) == 0);
}

static int find_row(const Options *options, const char *name, size_t length) {
    for (int i = 0; i < options->spec_count; i++)
        if (is_called(&options->specs[i], name, length)) return i;
    return -1;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool option_begins(const char *word) { return word[0] == '-' && (word[1] == '-' || is_letter(word[1])); }

const OptionSpec *option_row_of(const OptionSpec *rows, int count, const char *word, const char **attached) {
    *attached = NULL;
    if (!option_begins(word)) return NULL;
    bool is_long = word[1] == '-';
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    for (int i = 0; i < count; i++) {
        if (is_long ? !is_called(&rows[i], name, length) : rows[i].letter != word[1]) continue;
        if (is_long)
            *attached = equals ? equals + 1 : NULL;
        else if (*name)
            *attached = name; // -oFILE; letters are not bundled
        return &rows[i];
    }
    return NULL;
}

bool option_takes_value(const OptionSpec *row) { return row->kind != OPTION_FLAG && row->kind != OPTION_SWITCH; }

// A value of the option that was meant would be refused by itself. A file is none: "study.lua", "jobs/train".
static bool may_be_value(const char *word) {
    const char *dot = strrchr(word, '.');
    bool has_ending = dot && dot > word && dot[1] && strspn(dot + 1, LETTERS) == strlen(dot + 1);
    return !option_begins(word) && !strchr(word, '/') && !has_ending;
}

static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at && *at && length; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == length && memcmp(at, name, length) == 0) return true;
    return false;
}

// A program's own words are known to those who come from it.
static const OptionSpec *called_elsewhere(const Options *options, const char *name) {
    for (int i = 0; i < options->spec_count; i++)
        if (is_listed(options->specs[i].others, name)) return &options->specs[i];
    return NULL;
}

static OptionOwners *owners_of;

void options_look_elsewhere(OptionOwners *owners) { owners_of = owners; }

// An option of another command is no misspelling.
static bool complain_of_another(Reader *reader, const char *given, const char *name) {
    const OptionSpec *row = NULL;
    const char *owners = owners_of ? owners_of(reader->arena, name, &row) : NULL;
    if (!owners) return false;
    bool is_one = strcspn(owners, ",") == strlen(owners);
    problem_add(reader->problems, command_line, "no option is called \"%s\" here", given);
    if (is_one)
        problem_hint(reader->problems, "lockstep %s has it: %s", owners, row->help);
    else
        problem_hint(reader->problems, "lockstep %s have it, and here it has no meaning: leave it out", owners);
    bool takes_next = option_takes_value(row) && reader->next < reader->argc;
    if (takes_next && may_be_value(reader->argv[reader->next])) reader->next++;
    return true;
}

// Who misspells a name seldom misses its first letter: "--budget" is no "--bucket" and "--nodes" no "--modes".
static bool begins_alike(const char *name, const char *near) {
    bool is_swapped = name[0] == near[1] && name[1] == near[0];
    return name[0] == near[0] || is_swapped || strcmp(name, near + 1) == 0 || strcmp(name + 1, near) == 0;
}

static void complain_unknown(Reader *reader, const char *given, const char *name, bool has_value) {
    const Options *options = reader->options;
    const char **known = ARENA_ARRAY(reader->arena, const char *, 2 * options->spec_count + 1);
    int known_count = 0;
    for (int i = 0; i < options->spec_count; i++) {
        const OptionSpec *spec = &options->specs[i];
        known[known_count++] = arena_printf(reader->arena, "--%s", spec->name);
        if (spec->alias) known[known_count++] = arena_printf(reader->arena, "--%s", spec->alias);
    }
    const char *wanted = arena_printf(reader->arena, "--%s", name), *near = nearest_name(wanted, known, known_count);
    const OptionSpec *elsewhere = called_elsewhere(options, name);
    if (!elsewhere && complain_of_another(reader, given, name)) return;
    problem_add(reader->problems, command_line, "no option is called \"%s\"", given);
    if (elsewhere)
        problem_hint(reader->problems, "here it is --%s: %s", elsewhere->name, elsewhere->help);
    else if (near && !begins_alike(name, near + 2))
        problem_hint(reader->problems, "--help lists them all");
    else if (!problem_hint_near(reader->problems, wanted, known, known_count))
        problem_hint(reader->problems, "--help lists them all");
    int row = near ? find_row(options, near + 2, strlen(near + 2)) : -1;
    bool wants_value = !has_value && (row < 0 || option_takes_value(&options->specs[row]));
    if (wants_value && reader->next < reader->argc && may_be_value(reader->argv[reader->next])) reader->next++;
}

// ---- Rows of all commands.

static struct {
    const OptionSpec *rows;
    int count;
    OptionsRead *read;
} shared;

void options_share(const OptionSpec *rows, int count, OptionsRead *read) {
    shared.rows = rows;
    shared.count = count;
    shared.read = read;
}

static bool stands_among(const OptionSpec *row, const OptionSpec *specs, int count) {
    for (int i = 0; i < count; i++) {
        bool same = strcmp(specs[i].name, row->name) == 0 || (row->letter && specs[i].letter == row->letter);
        if (same || (specs[i].alias && strcmp(specs[i].alias, row->name) == 0)) return true;
    }
    return false;
}

// The next shared row from `i` on that the command does not have itself.
static const OptionSpec *next_shared(int *i, const OptionSpec *specs, int count) {
    while (*i < shared.count)
        if (!stands_among(&shared.rows[(*i)++], specs, count)) return &shared.rows[*i - 1];
    return NULL;
}

static const OptionSpec *with_shared(Arena *arena, const OptionSpec *specs, int count, int *all) {
    OptionSpec *rows = ARENA_ARRAY(arena, OptionSpec, count + shared.count + 1);
    const OptionSpec *row;
    for (int i = 0; i < count; i++) rows[i] = specs[i];
    *all = count;
    for (int i = 0; (row = next_shared(&i, specs, count)) != NULL;) rows[(*all)++] = *row;
    return rows;
}

// ---- Values.

// "400,000" and "$400k" as they are typed: without commas and currency. NULL: that is not what is wrong with it.
static const char *bare_number(Arena *arena, const char *text, QuantityKind kind, const char *usual) {
    static const char *const currencies[] = {"$", "\u20ac", "\u00a3"};
    char *bare = arena_copy_text(arena, text), *to = bare, why[QUANTITY_WHY];
    double number;
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++)
        if (strncmp(text, currencies[i], strlen(currencies[i])) == 0) text += strlen(currencies[i]);
    for (const char *from = text; *from; from++)
        if (*from != ',' || strspn(from + 1, "0123456789") != 3) *to++ = *from;
    *to = '\0';
    return quantity_read("", bare, kind, usual, &number, why) ? bare : NULL;
}

// What the row is usually said as; NULL: as others of its kind.
static const char *usual_of(const OptionSpec *spec, QuantityKind kind) {
    bool is_money = spec->metavar && strcmp(spec->metavar, "MONEY") == 0,
         is_ratio = spec->metavar && strcmp(spec->metavar, "N") == 0;
    if (spec->usual) return spec->usual;
    if (kind == QUANTITY_COUNT) return is_money ? "2M" : NULL;
    return kind != QUANTITY_NUMBER ? NULL : is_money ? "2.49" : is_ratio ? "2" : NULL;
}

static const char *first_quoted(Arena *arena, const char *text) {
    const char *quoted = strchr(text, '"') + 1;
    return arena_printf(arena, "%.*s", (int)strcspn(quoted, "\""), quoted);
}

static const char *example_of(Arena *arena, const OptionSpec *spec, QuantityKind kind) {
    const char *usual = usual_of(spec, kind);
    return usual ? usual : first_quoted(arena, quantity_describe(kind));
}

// "64,128" is two numbers where several are thought of; "400,000" and "1,024" are one. Commas of groups of three.
static bool may_be_list(const char *text) {
    size_t first = strcspn(text, ","), length = strlen(text);
    bool is_round = length > 2 && strcmp(text + length - 2, "00") == 0;
    return first > 1 && first < length && strspn(text, "0123456789,") == length && !is_round;
}

static void refuse_number(const Reader *reader, const OptionSpec *spec, const char *text, QuantityKind kind,
                          const char *why) {
    Arena *arena = reader->arena;
    const char *bare = bare_number(arena, text, kind, spec->usual), *what = quantity_describe(kind);
    const char *usual = usual_of(spec, kind);
    if (usual && !strstr(why, what))
        what = arena_printf(arena, "%.*s\"%s\"", (int)strcspn(what, "\""), what, usual);
    else if (usual)
        why = what = arena_printf(arena, "%.*s\"%s\"", (int)strcspn(what, "\""), what, usual);
    problem_add(reader->problems, command_line, "--%s: \"%s\" is not %s", spec->name, text, what);
    if (kind == QUANTITY_COUNT && may_be_list(text)) {
        problem_hint(reader->problems, "one number here: --%s %.*s; several are points of lockstep sweep --vary %s=%s",
                     spec->name, (int)strcspn(text, ","), text, spec->name, text);
        return;
    }
    const char *word = option_word_quoted(arena, bare ? bare : example_of(arena, spec, kind));
    if (!bare && !strstr(why, what))
        problem_hint(reader->problems, "%s", why);
    else
        problem_hint(reader->problems, bare ? "write --%s %s" : "for example --%s %s", spec->name, word);
}

static void read_number(const Reader *reader, const OptionSpec *spec, OptionValue *value, const char *text) {
    QuantityKind kind = spec->kind == OPTION_COUNT ? QUANTITY_COUNT : spec->quantity;
    char why[QUANTITY_WHY];
    double number = 0;
    if (quantity_unit_missing(spec->name, text, kind, spec->usual, why, sizeof why)) {
        problem_add(reader->problems, command_line, "--%s: %s", spec->name, why);
        problem_hint(reader->problems, "for example --%s %s", spec->name, first_quoted(reader->arena, why));
        return;
    }
    if (!quantity_read(spec->name, text, kind, spec->usual, &number, why)) {
        refuse_number(reader, spec, text, kind, why);
        return;
    }
    if (spec->kind == OPTION_COUNT && !(number >= 0 && number <= 9e15)) {
        problem_add(reader->problems, command_line, "--%s: %s is not a count that can be worked with", spec->name,
                    text);
        problem_hint(reader->problems, "0 to 9e15");
        return;
    }
    if (spec->is_limit && (number == 0 || (kind == QUANTITY_BYTES && number < 1))) {
        problem_add(reader->problems, command_line, "--%s: %s would allow nothing", spec->name, text);
        problem_hint(reader->problems, "leave it out for the usual limit, or give a large one");
        return;
    }
    value->number = spec->in_1024 ? quantity_of_length(text, number) : number;
    value->given = true;
}

static void read_seed(const Reader *reader, const OptionSpec *spec, OptionValue *value, const char *text) {
    value->given = seed_read(text, &value->seed);
    if (value->given) return;
    problem_add(reader->problems, command_line, "--%s: \"%s\" is no seed", spec->name, text);
    problem_hint(reader->problems, "%s", SEED_RANGE);
}

static void read_choice(const Reader *reader, const OptionSpec *spec, OptionValue *value, const char *text) {
    for (int i = 0; i < spec->choice_count; i++) {
        if (strcmp(spec->choices[i], text) != 0) continue;
        value->choice = i;
        value->given = true;
        return;
    }
    problem_add(reader->problems, command_line, "--%s cannot be \"%s\"", spec->name, text);
    problem_hint_names(reader->problems, text, spec->choices, spec->choice_count);
}

// An empty name would be looked up, and nothing is called so: it is a value that was forgotten, or a variable of a
// shell that is not set.
static bool refuse_empty(const Reader *reader, const OptionSpec *spec, const char *text) {
    if (!text || *text || spec->may_be_empty) return false;
    problem_add(reader->problems, command_line, "--%s is empty", spec->name);
    problem_hint(reader->problems, "write --%s %s, or leave it out", spec->name,
                 spec->metavar ? spec->metavar : "VALUE");
    return true;
}

static void read_value(const Reader *reader, int row, const char *text) {
    const OptionSpec *spec = &reader->options->specs[row];
    OptionValue *value = &reader->options->values[row];

    if (refuse_empty(reader, spec, text)) return;

    if (value->given && spec->kind != OPTION_TEXTS && spec->kind != OPTION_FLAG) {
        problem_add(reader->problems, command_line, "--%s is given twice", spec->name);
        problem_hint(reader->problems, "keep one of them");
        return;
    }
    switch (spec->kind) {
    case OPTION_FLAG:
        value->given = true;
        break;
    case OPTION_SWITCH:
        value->text = text ? text : "true";
        value->given = true;
        break;
    case OPTION_TEXT:
        value->text = text;
        value->given = true;
        break;
    case OPTION_TEXTS:
        LIST_PUSH(reader->arena, &value->texts, text);
        value->given = true;
        break;
    case OPTION_COUNT:
    case OPTION_QUANTITY:
        read_number(reader, spec, value, text);
        break;
    case OPTION_SEED:
        read_seed(reader, spec, value, text);
        break;
    case OPTION_CHOICE:
        read_choice(reader, spec, value, text);
        break;
    }
}

// The argument after an option is its value unless it looks like the next option.
static const char *take_next(Reader *reader) {
    if (reader->next == reader->argc || strncmp(reader->argv[reader->next], "--", 2) == 0) return NULL;
    return reader->argv[reader->next++];
}

static void read_option(Reader *reader, int row, const char *attached) {
    const OptionSpec *spec = &reader->options->specs[row];
    if (spec->kind == OPTION_FLAG) {
        if (attached) {
            problem_add(reader->problems, command_line, "--%s takes no value", spec->name);
            problem_hint(reader->problems, "write --%s alone", spec->name);
        } else {
            read_value(reader, row, NULL);
        }
        return;
    }
    if (spec->kind == OPTION_SWITCH) {
        read_value(reader, row, attached);
        return;
    }
    const char *text = attached ? attached : take_next(reader);
    if (!text) {
        const char *metavar = spec->metavar ? spec->metavar : "VALUE";
        problem_add(reader->problems, command_line, "--%s needs a value", spec->name);
        problem_hint(reader->problems, "write --%s %s", spec->name, metavar);
        return;
    }
    read_value(reader, row, text);
}

static void read_word(Reader *reader, const char *word) {
    const char *attached, *name = word + (word[1] == '-' ? 2 : 1);
    const OptionSpec *row = option_row_of(reader->options->specs, reader->options->spec_count, word, &attached);
    if (row)
        read_option(reader, (int)(row - reader->options->specs), attached);
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        reader->options->help = true;
    else if (word[1] != '-')
        complain_unknown(reader, word, name, false);
    else {
        const char *bare = arena_printf(reader->arena, "%.*s", (int)strcspn(name, "="), name);
        complain_unknown(reader, arena_printf(reader->arena, "--%s", bare), bare, strchr(name, '=') != NULL);
    }
}

Options *options_parse(Arena *arena, const OptionSpec *specs, int spec_count, int argc, char **argv,
                       Problems *problems) {
    Options *options = ARENA_NEW(arena, Options);
    options->specs = with_shared(arena, specs, spec_count, &options->spec_count);
    options->own_count = spec_count;
    options->values = ARENA_ARRAY(arena, OptionValue, options->spec_count + 1);
    Reader reader = {arena, options, argc, 1, argv, problems};

    bool ended = false;
    while (reader.next < argc) {
        const char *argument = argv[reader.next++];
        if (ended || !option_begins(argument))
            LIST_PUSH(arena, &options->positional, argument); // "-" and "-3" too
        else if (strcmp(argument, "--") == 0)
            ended = true;
        else
            read_word(&reader, argument);
    }
    if (shared.read) shared.read(options, problems);
    return options;
}

// ---- Asking.

static const OptionValue *value_of(const Options *options, const char *name, OptionKind kind) {
    int row = find_row(options, name, strlen(name));
    CHECK(row >= 0 && options->specs[row].kind == kind);
    return &options->values[row];
}

bool option_help(const Options *options) { return options->help; }

bool option_given(const Options *options, const char *name) {
    int row = find_row(options, name, strlen(name));
    CHECK(row >= 0);
    return options->values[row].given;
}

bool option_known(const Options *options, const char *name) { return find_row(options, name, strlen(name)) >= 0; }

bool option_shared(const Options *options, const char *name) {
    return find_row(options, name, strlen(name)) >= options->own_count;
}

bool option_flag(const Options *options, const char *name) { return value_of(options, name, OPTION_FLAG)->given; }

const char *option_text(const Options *options, const char *name, const char *fallback) {
    const OptionValue *value = value_of(options, name, OPTION_TEXT);
    return value->given ? value->text : fallback;
}

const char *const *option_texts(const Options *options, const char *name, int *count) {
    const OptionValue *value = value_of(options, name, OPTION_TEXTS);
    *count = value->texts.count;
    return value->texts.items;
}

int64_t option_count(const Options *options, const char *name, int64_t fallback) {
    const OptionValue *value = value_of(options, name, OPTION_COUNT);
    return value->given ? (int64_t)value->number : fallback;
}

uint64_t option_seed(const Options *options, const char *name, uint64_t fallback) {
    const OptionValue *value = value_of(options, name, OPTION_SEED);
    return value->given ? value->seed : fallback;
}

double option_quantity(const Options *options, const char *name, double fallback) {
    const OptionValue *value = value_of(options, name, OPTION_QUANTITY);
    return value->given ? value->number : fallback;
}

double option_within(const Options *options, const char *name, double fallback, double least, double most,
                     Problems *problems) {
    double number = option_quantity(options, name, fallback);
    if (!option_given(options, name) || (number >= least && number <= most)) return number;
    QuantityKind kind = options->specs[find_row(options, name, strlen(name))].quantity;
    char written[40], low[40], high[40];
    problem_add(problems, command_line, "--%s cannot be %s", name,
                quantity_format(number, kind, written, sizeof written));
    problem_hint(problems, "from %s to %s", least == 0 ? "0" : quantity_format(least, kind, low, sizeof low),
                 quantity_format(most, kind, high, sizeof high));
    return fallback;
}

int option_count_within(const Options *options, const char *name, int fallback, int least, int most,
                        Problems *problems) {
    int64_t count = option_count(options, name, fallback);
    if (!option_given(options, name) || (count >= least && count <= most)) return (int)count;
    problem_add(problems, command_line, "--%s cannot be %lld", name, (long long)count);
    problem_hint(problems, "from %d to %d", least, most);
    return fallback;
}

const char *option_written(Arena *arena, const Options *options, const char *name) {
    int row = find_row(options, name, strlen(name));
    CHECK(row >= 0 && options->specs[row].kind != OPTION_TEXTS);
    const OptionValue *value = &options->values[row];
    if (!value->given) return NULL;
    switch (options->specs[row].kind) {
    case OPTION_COUNT:
    case OPTION_QUANTITY:
        return arena_printf(arena, "%.17g", value->number);
    case OPTION_SEED:
        return arena_printf(arena, "%llu", (unsigned long long)value->seed);
    case OPTION_CHOICE:
        return options->specs[row].choices[value->choice];
    case OPTION_FLAG:
        return "yes";
    case OPTION_SWITCH:
    case OPTION_TEXT:
    case OPTION_TEXTS:
        break;
    }
    return value->text;
}

int option_choice(const Options *options, const char *name, int fallback) {
    const OptionValue *value = value_of(options, name, OPTION_CHOICE);
    return value->given ? value->choice : fallback;
}

// ---- Words of a command line as part of another.

void option_words_add(Arena *arena, OptionWords *line, const char *word) { LIST_PUSH(arena, line, word); }

// Number of words of an option: its value is part of the same word, or the next one.
static int words_of_option(const OptionWords *words, int at, const OptionSpec *row) {
    bool glued = strchr(words->items[at], '=') != NULL, is_last = at + 1 == words->count;
    if (glued || is_last || (row && !option_takes_value(row))) return 1;
    return option_begins(words->items[at + 1]) ? 1 : 2;
}

void option_words_keep(Arena *arena, const OptionSpec *rows, int row_count, const OptionWords *words,
                       const char *const *without, int without_count, OptionWords *line, OptionWords *left_out) {
    for (int i = 0; i < words->count;) {
        const char *attached;
        const OptionSpec *row = option_row_of(rows, row_count, words->items[i], &attached);
        int count = option_begins(words->items[i]) ? words_of_option(words, i, row) : 1;
        bool stays = row && !name_is_among(without, without_count, row->name);
        for (int w = 0; w < count && stays; w++) LIST_PUSH(arena, line, words->items[i + w]);
        if (!row && left_out) LIST_PUSH(arena, left_out, words->items[i]);
        i += count;
    }
}

const char *option_word_quoted(Arena *arena, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
    if (*word && word[strspn(word, plain)] == '\0') return word;
    const char *text = "'";
    for (; *word; word++)
        text = *word == '\'' ? arena_printf(arena, "%s'\\''", text) : arena_printf(arena, "%s%c", text, *word);
    return arena_printf(arena, "%s'", text);
}

int option_positional_count(const Options *options) { return options->positional.count; }

const char *option_positional(const Options *options, int index) {
    CHECK(index >= 0 && index < options->positional.count);
    return options->positional.items[index];
}

void options_refuse_positional(const Options *options, int allowed, Problems *problems) {
    for (int i = allowed; i < options->positional.count; i++) {
        problem_add(problems, command_line, "nothing is known to do with \"%s\"", options->positional.items[i]);
        problem_hint(problems, "options begin with --; --help lists them");
    }
}

bool option_require(const Options *options, const char *question, const char *name, const char *hint,
                    Problems *problems) {
    if (option_given(options, name)) return true;
    problem_add(problems, command_line, "%s%s--%s is missing", question ? question : "", question ? " " : "", name);
    problem_hint(problems, "%s", hint);
    problem_is_usage(problems);
    return false;
}

void options_refuse_both(const Options *options, const char *first, const char *second, const char *hint,
                         Problems *problems) {
    if (!option_given(options, first) || !option_given(options, second)) return;
    problem_add(problems, command_line, "--%s and --%s are both given", first, second);
    problem_hint(problems, "%s", hint);
    problem_is_usage(problems);
}

OptionSpec *options_without(Arena *arena, const OptionSpec *rows, int row_count, const char *const *names, int count,
                            int *left) {
    OptionSpec *kept = ARENA_ARRAY(arena, OptionSpec, row_count);
    *left = 0;
    for (int i = 0; i < row_count; i++)
        if (!name_is_among(names, count, rows[i].name)) kept[(*left)++] = rows[i];
    return kept;
}

const OptionSpec *options_join(Arena *arena, const OptionSpec *first, int first_count, const OptionSpec *second,
                               int second_count, int *count) {
    OptionSpec *joined = ARENA_ARRAY(arena, OptionSpec, first_count + second_count);
    for (int i = 0; i < first_count; i++) joined[i] = first[i];
    for (int i = 0; i < second_count; i++) joined[first_count + i] = second[i];
    *count = first_count + second_count;
    return joined;
}

// ---- Help.

#define HELP_COLUMN 28

static int print_names(const OptionSpec *spec, FILE *out) {
    int width = fprintf(out, "  ");
    if (spec->letter) width += fprintf(out, "-%c, ", spec->letter);
    width += fprintf(out, "--%s", spec->name);
    if (spec->metavar) {
        width += fprintf(out, " %s", spec->metavar);
    } else if (spec->kind == OPTION_SWITCH) {
        width += fprintf(out, "[=true|false]");
    } else if (spec->kind == OPTION_CHOICE) {
        for (int i = 0; i < spec->choice_count; i++) width += fprintf(out, "%c%s", i ? '|' : ' ', spec->choices[i]);
    }
    return width;
}

static void print_row(const OptionSpec *spec, FILE *out) {
    int width = print_names(spec, out);
    if (width > HELP_COLUMN - 2) { // two blanks at least
        fprintf(out, "\n");
        width = 0;
    }
    fprintf(out, "%*s%s", HELP_COLUMN - width, "", spec->help);
    if (spec->alias) fprintf(out, " (also --%s)", spec->alias);
    fprintf(out, "\n");
}

static struct { const char *option, *start; } offered;

void options_offer(const char *option, const char *start) {
    offered.option = option;
    offered.start = start;
}

bool options_offering(void) { return offered.start; }

static void offer(const char *dashes, const char *word, FILE *out) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", dashes, word);
    if (strncmp(whole, offered.start, strlen(offered.start)) == 0) fprintf(out, "%s\n", whole);
}

static void offer_row(const OptionSpec *spec, FILE *out) {
    if (!offered.option) {
        offer("--", spec->name, out);
    } else if (strcmp(spec->name, offered.option) == 0 || (spec->alias && strcmp(spec->alias, offered.option) == 0)) {
        for (int i = 0; i < spec->choice_count; i++) offer("", spec->choices[i], out);
    }
}

void options_print_help(const OptionSpec *specs, int spec_count, const char *usage, const char *about, FILE *out) {
    const OptionSpec *row;
    for (int i = 0; options_offering() && i < spec_count; i++) offer_row(&specs[i], out);
    for (int i = 0; options_offering() && (row = next_shared(&i, specs, spec_count)) != NULL;) offer_row(row, out);
    if (options_offering()) return;
    fprintf(out, "usage: %s\n\n%s\n\n", usage, about);
    for (int i = 0; i < spec_count; i++) print_row(&specs[i], out);
    for (int i = 0; (row = next_shared(&i, specs, spec_count)) != NULL;) print_row(row, out);
    fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, "-h, --help", "this text");
}
