// Python as far as it is plain: names set to texts, numbers, lists and dictionaries, lists that grow by += and append
// or extend, str(), f"…", os.path.join, "…".split(); what the calls that make a training are given (Trainer(…),
// TrainingArguments(…), a recipe, an estimator), attributes that are set, and defaults of options. Nothing else of it
// is read, and nothing is run.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python.h"
#include "sim/base/list.h"

enum { FLOOR_SIGN = '\\' }; // Python's "//"

static const char unknown[] = {NOT_KNOWN, '\0'};

static Name *name_of(Python *p, const char *begin, size_t length) {
    for (int i = 0; i < p->count; i++)
        if (strlen(p->names[i].name) == length && strncmp(p->names[i].name, begin, length) == 0) return &p->names[i];
    return NULL;
}

static void skip(Python *p) {
    while (p->at < p->end && (isspace((unsigned char)*p->at) || *p->at == '#' || *p->at == '\\')) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n') p->at++;
        else {
            if (*p->at == '\n') p->line++;
            p->at++;
        }
    }
}

static bool takes(Python *p, char sign) {
    skip(p);
    if (p->at >= p->end || *p->at != sign) return false;
    p->at++;
    return true;
}

static void add(Python *p, ShellWords *out, const char *text) {
    ShellWord word = {text, p->line};
    if (out->count < MOST_WORDS) LIST_PUSH(p->r->arena, out, word);
}

static void read_value(Python *p, ShellWords *out, bool *is_list);

// {NAME} within f"…".
static const char *formatted(Python *p, const char *text) {
    const char *out = "";
    while (*text && strlen(out) < 4000) {
        size_t plain = strcspn(text, "{");
        out = arena_printf(p->r->arena, "%s%.*s", out, (int)plain, text);
        text += plain;
        if (!*text) break;
        size_t length = strcspn(text + 1, "}:");
        Name *name = name_of(p, text + 1, length);
        out = arena_printf(p->r->arena, "%s%s", out,
                           name && name->words.count == 1 ? name->words.items[0].text : unknown);
        text += strcspn(text, "}");
        text += *text == '}';
    }
    return out;
}

static const char *read_text(Python *p, bool format) {
    char quote = *p->at, three[4] = {quote, quote, quote, 0};
    bool is_long = p->end - p->at >= 3 && strncmp(p->at, three, 3) == 0;
    p->at += is_long ? 3 : 1;
    const char *begin = p->at;
    while (p->at < p->end &&
           !(is_long ? p->end - p->at >= 3 && strncmp(p->at, three, 3) == 0 : *p->at == quote || *p->at == '\n')) {
        if (*p->at == '\n') p->line++;
        p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
    }
    const char *text = arena_printf(p->r->arena, "%.*s", (int)(p->at - begin > 100000 ? 100000 : p->at - begin), begin);
    p->at += is_long ? 3 : 1;
    if (p->at > p->end) p->at = p->end;
    return format ? formatted(p, text) : text;
}

static void read_list(Python *p, ShellWords *out, char close) {
    while (p->at < p->end && !takes(p, close)) {
        bool is_list = false;
        const char *before = p->at;
        read_value(p, out, &is_list);
        takes(p, ',');
        if (p->at == before) p->at++;
    }
}

static void read_split(Python *p, ShellWords *words) {
    if (words->count != 1) return;
    const char *text = words->items[0].text;
    words->count = 0;
    for (size_t length; *(text += strspn(text, " \t\n")); text += length) {
        length = strcspn(text, " \t\n");
        add(p, words, arena_printf(p->r->arena, "%.*s", (int)length, text));
    }
}

// "key": value, … }: words "key=value".
static void read_pairs(Python *p, ShellWords *out) {
    while (p->at < p->end && !takes(p, '}')) {
        ShellWords key = {0}, value = {0};
        bool is_list = false;
        const char *before = p->at;
        read_value(p, &key, &is_list);
        if (takes(p, ':')) {
            skip(p);
            bool is_within = p->at < p->end && *p->at == '{';
            read_value(p, &value, &is_list);
            for (int i = 0; is_within && key.count == 1 && i < value.count; i++)
                add(p, out, arena_printf(p->r->arena, "%.100s.%.2000s", key.items[0].text, value.items[i].text));
            if (key.count == 1 && !is_within)
                add(p, out, arena_printf(p->r->arena, "%.100s=%.2000s", key.items[0].text, python_commas(p, &value)));
        }
        takes(p, ',');
        if (p->at == before) p->at++;
    }
}

// What some call is told, where its function's parameter has it: config["batch"].
static const char *told_setting(const Python *p, const char *key) {
    for (int i = p->before ? p->before->count - 1 : -1; i >= 0; i--)
        if (same_word(p->before->items[i].name, key)) return p->before->items[i].value;
    return unknown;
}

// NAME["key"] of a dictionary.
static const char *item_of(Python *p, const Name *name) {
    ShellWords key = {0};
    p->at++;
    read_list(p, &key, ']');
    if (key.count == 1 && !name) return told_setting(p, key.items[0].text);
    if (!name || key.count != 1) return unknown;
    for (int i = name->words.count - 1; i >= 0; i--) {
        const char *text = name->words.items[i].text, *equals = strchr(text, '=');
        if (equals && strlen(key.items[0].text) == (size_t)(equals - text) &&
            strncmp(text, key.items[0].text, (size_t)(equals - text)) == 0)
            return equals + 1;
    }
    char *end;
    long index = strtol(key.items[0].text, &end, 10);
    return !*end && index >= 0 && index < name->words.count ? name->words.items[index].text : unknown;
}

// "a.micro_batch" of an option that the program has; NULL: it has none of that name.
static const Said *option_of(const Python *p, const char *word) {
    const char *dot = strchr(word, '.');
    if (!dot || strchr(dot + 1, '.') || strncmp(word, "torch.", 6) == 0 || strncmp(word, "self.", 5) == 0) return NULL;
    if (!said_find(&p->options, dot + 1)) return NULL;
    const Said *said = p->arguments ? said_find(p->arguments, dot + 1) : NULL;
    return said ? said : said_find(&p->options, dot + 1);
}

// A word that is no name of a variable: a constant, a type of torch, what the command line or a default says.
static const char *known_word(Python *p, const char *word) {
    static const char *const constants[] = {"True", "False", "None"};
    static const char *const holders[] = {"args.", "opt.", "opts.", "FLAGS.", "cfg.", "config.", "hparams."};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(word, constants[i]) == 0) return constants[i];
    const char *dot = strrchr(word, '.'), *owner = dot; // ShardingStrategy.FULL_SHARD, DType.bfloat16
    while (owner && owner > word && owner[-1] != '.') owner--;
    if (dot && isupper((unsigned char)*owner) && islower((unsigned char)dot[-1]))
        return arena_copy_text(p->r->arena, dot + 1);
    if (strncmp(word, "torch.", 6) == 0 && !strchr(word + 6, '.')) return arena_copy_text(p->r->arena, word + 6);
    if (strcmp(word, "sys.executable") == 0) return "python";
    const Said *own = option_of(p, word);
    if (own) {
        said_add(p->r->arena, &p->r->used, own->name, own->value, own->where, own->by);
        return own->value;
    }
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
        const char *option = word + strlen(holders[i]);
        if (strncmp(word, holders[i], strlen(holders[i])) != 0) continue;
        const Said *said = p->arguments ? said_find(p->arguments, option) : NULL;
        for (int k = p->told.count - 1; k >= 0 && !said; k--)
            if (same_word(p->told.items[k].name, option)) said = &p->told.items[k];
        if (said) {
            said_add(p->r->arena, &p->r->used, said->name, said->value, said->where, said->by);
            return said->value;
        }
    }
    return unknown;
}

// ---- Calls.

// At NAME= of an argument, but not NAME==; behind it then.
static const char *read_keyword(Python *p) {
    skip(p);
    const char *begin = p->at, *at = begin;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    const char *stop = at;
    while (at < p->end && *at == ' ') at++;
    if (at == begin || stop == begin || isdigit((unsigned char)*begin) || p->end - at < 2 || at[0] != '=' ||
        at[1] == '=')
        return NULL;
    p->at = at + 1;
    return arena_printf(p->r->arena, "%.*s", (int)(stop - begin > 100 ? 100 : stop - begin), begin);
}

// run.Config(llm.PreTrainingDataModule, …) is a call of its first argument.
static bool call_is_of(const char *name, const char *word) {
    size_t length = strlen(name), own = strlen(word);
    return length > own && name[length - own - 1] == '.' && strcmp(name + length - own, word) == 0;
}

static const char *named_first(Python *p, const char *name) {
    const char *begin = p->at;
    while (begin < p->end && isspace((unsigned char)*begin)) begin++;
    const char *at = begin;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    bool dotted = memchr(begin, '.', (size_t)(at - begin)) && isalpha((unsigned char)*begin);
    bool is_class = isupper((unsigned char)*begin);
    if (!(dotted || is_class) || at >= p->end || (*at != ',' && *at != ')')) return name;
    return arena_printf(p->r->arena, "%.*s", (int)(at - begin > 200 ? 200 : at - begin), begin);
}

// Words "a=b" alone, as dict() and {…} are read.
static bool holds_pairs(const ShellWords *words) {
    for (int i = 0; i < words->count; i++) {
        size_t length = strcspn(words->items[i].text, "= ,/:");
        if (length == 0 || words->items[i].text[length] != '=') return false;
    }
    return words->count > 0;
}

static void add_within(Python *p, ShellWords *out, const char *key, const ShellWords *words) {
    for (int i = 0; i < words->count; i++)
        add(p, out, arena_printf(p->r->arena, "%.100s.%.2000s", key, words->items[i].text));
}

// f(4, nodes=16), a function of the file: what its parameters are, where it is read again.
static void note_passed(Python *p, const char *name, const char *key, const char *value) {
    if (!p->first && !strchr(name, '.') && p->passed.count < MOST_TOLD && is_known(value))
        said_add(p->r->arena, &p->passed, arena_printf(p->r->arena, "%.100s.%s", name, key), value, (Where){p->file, 0},
                 BY_FILE);
}

// Of a call's arguments those without a name; those with one are told or are the words of dict().
static void read_arguments(Python *p, const char *name, ShellWords *given, ShellWords *pairs) {
    const char *fallback = NULL;
    int line = p->line, place = 0;
    if (call_is_of(name, "Config") || call_is_of(name, "Partial")) name = named_first(p, name); // NeMo-Run's
    python_call_begins(p, name, line);
    while (p->at < p->end && !takes(p, ')')) {
        bool is_list = false;
        const char *before = p->at, *key = read_keyword(p);
        ShellWords value = {0};
        int own = p->line, count = given->count;
        bool spread = !key && p->end - p->at > 2 && strncmp(p->at, "**", 2) == 0;
        read_value(p, key || spread ? &value : given, &is_list);
        takes(p, ',');
        if (p->at == before) p->at++;
        for (int i = 0; spread && holds_pairs(&value) && i < value.count; i++) { // **{"a": 1}
            size_t length = strcspn(value.items[i].text, "=");
            ShellWord word = {value.items[i].text + length + 1, value.items[i].line};
            ShellWords one = {&word, 1, 1};
            python_argument(p, name, arena_printf(p->r->arena, "%.*s", (int)length, value.items[i].text), &one, own);
        }
        if (!key && given->count == count + 1)
            note_passed(p, name, arena_printf(p->r->arena, "#%d", place), given->items[count].text);
        place++;
        if (!key) continue;
        if (value.count == 1 && !is_list) note_passed(p, name, key, value.items[0].text);
        python_argument(p, name, key, &value, own);
        bool flags = strcmp(key, "action") == 0 && strncmp(python_commas(p, &value), "store_", 6) == 0;
        if (strcmp(key, "default") == 0 || (flags && !fallback)) fallback = python_commas(p, &value);
        if (is_list && holds_pairs(&value))
            add_within(p, pairs, key, &value);
        else
            add(p, pairs, arena_printf(p->r->arena, "%s=%s", key, python_commas(p, &value)));
    }
    python_call_ends(p, name, given, fallback, line);
}

static const char *least_or_most(Python *p, const ShellWords *given, bool most) {
    const char *best = NULL;
    for (int i = 0; i < given->count; i++) {
        char *end;
        double number = strtod(given->items[i].text, &end);
        if (*end || end == given->items[i].text) return unknown;
        if (!best || (most ? number > atof(best) : number < atof(best))) best = given->items[i].text;
    }
    return best ? arena_copy_text(p->r->arena, best) : unknown;
}

// Of the environment: what the scheduler or the script set there; or what is said for where nobody did.
static const char *from_environment(Python *p, const ShellWords *given) {
    const char *value = given->count && p->r->shell ? shell_value(p->r->shell, given->items[0].text) : NULL;
    return value ? value : given->count == 2 ? given->items[1].text : unknown;
}

// os.system(…), subprocess.run(…), get_ipython().system(…) of a notebook.
static bool starts_commands(const char *name) {
    static const char *const names[] = {"os.system",
                                        "system",
                                        "subprocess.run",
                                        "subprocess.call",
                                        "subprocess.check_call",
                                        "subprocess.check_output",
                                        "subprocess.Popen"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void start_command(Python *p, const ShellWords *given) {
    Where where = {p->file, p->line};
    if (given->count == 1 && strchr(given->items[0].text, ' '))
        shell_run_words(reading_shell(p->r), formatted(p, given->items[0].text), where);
    else if (given->count > 2)
        launch_words(p->r, given, where);
}

// os.execvp(FILE, WORDS)
static void become_command(Python *p, const ShellWords *given) {
    ShellWords rest = {given->items + 1, given->count - 1, given->count - 1};
    if (given->count > 1) start_command(p, &rest);
}

static void call(Python *p, const char *name, ShellWords *out, bool *is_list) {
    ShellWords given = {0}, pairs = {0};
    read_arguments(p, name, &given, &pairs);
    bool joins = strstr(name, "path.join");
    const Name *returned = name_of(p, arena_printf(p->r->arena, "%.100s()", name), strlen(name) + 2);
    bool same = strcmp(name, "str") == 0 || strcmp(name, "int") == 0 || strcmp(name, "Path") == 0 ||
                strstr(name, "pathlib.Path") || strstr(name, "shlex.quote");
    bool options = given.count > 0; // flags(MODEL, TRAIN), of dictionaries of options
    for (int i = 0; i < given.count; i++)
        options = options && strncmp(given.items[i].text, "--", 2) == 0 && strchr(given.items[i].text, '=');
    if (p->before && starts_commands(name)) start_command(p, &given);
    if (p->before && strncmp(name, "os.exec", 7) == 0) become_command(p, &given);
    if (options) {
        for (int i = 0; i < given.count; i++) add(p, out, given.items[i].text);
        *is_list = true;
    } else if (strcmp(name, "object") == 0) { // a mark: an option without value
        add(p, out, "true");
    } else if (returned) {
        for (int i = 0; i < returned->words.count; i++) add(p, out, returned->words.items[i].text);
        *is_list |= returned->is_list;
    } else if (same && given.count == 1) {
        add(p, out, given.items[0].text);
    } else if (joins && given.count) {
        const char *text = given.items[given.count - 1].text;
        add(p, out, text);
    } else if (strstr(name, "shlex.split") || strcmp(name, "list") == 0) {
        read_split(p, &given);
        for (int i = 0; i < given.count; i++) add(p, out, given.items[i].text);
        *is_list = true;
    } else if (strcmp(name, "dict") == 0) {
        for (int i = 0; i < given.count; i++) add(p, out, given.items[i].text);
        for (int i = 0; i < pairs.count; i++) add(p, out, pairs.items[i].text);
        *is_list = true;
    } else if (strcasecmp(name, "field") == 0 || strstr(name, ".field")) { // of a dataclass
        const char *usual = NULL;
        for (int i = 0; i < pairs.count; i++)
            if (strncmp(pairs.items[i].text, "default=", 8) == 0) usual = pairs.items[i].text + 8;
        add(p, out, usual ? usual : unknown);
    } else if (strstr(name, "environ.get") || strstr(name, "getenv")) {
        add(p, out, from_environment(p, &given));
    } else if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0) {
        add(p, out, least_or_most(p, &given, name[1] == 'a'));
    } else {
        add(p, out, unknown);
    }
}

// Texts that stand side by side are one.
static void read_texts(Python *p, ShellWords *out) {
    char first = *p->at;
    p->at += first == 'f' || first == 'r';
    const char *text = read_text(p, first == 'f'), *behind = p->at;
    int line = p->line;
    for (skip(p); p->at < p->end && strlen(text) < 100000 && ++p->steps < 100000; skip(p)) {
        bool formats = *p->at == 'f' && p->end - p->at > 1;
        if (p->at[formats] != '"' && p->at[formats] != '\'') break;
        p->at += formats;
        text = arena_printf(p->r->arena, "%s%s", text, read_text(p, formats));
        behind = p->at, line = p->line;
    }
    p->at = behind, p->line = line;
    add(p, out, text);
}

static void read_number(Python *p, ShellWords *out) {
    const char *begin = p->at++;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '.' || *p->at == '_' ||
                              (*p->at == '-' && (p->at[-1] == 'e' || p->at[-1] == 'E'))))
        p->at++;
    add(p, out, arena_printf(p->r->arena, "%.*s", (int)(p->at - begin), begin));
}

// A name, an item of one, or a call.
static void read_named(Python *p, ShellWords *out, bool *is_list) {
    while (p->at < p->end && *p->at == '*') p->at++;
    const char *begin = p->at;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')) p->at++;
    size_t length = (size_t)(p->at - begin);
    const char *word = arena_printf(p->r->arena, "%.*s", (int)(length > 200 ? 200 : length), begin);
    Name *name = name_of(p, begin, length);
    char next = p->at < p->end ? *p->at : '\0';
    if (next == '(') {
        p->at++;
        call(p, word, out, is_list);
    } else if (next == '[' && strcmp(word, "os.environ") == 0) {
        ShellWords key = {0};
        p->at++;
        read_list(p, &key, ']');
        add(p, out, from_environment(p, &key));
    } else if (next == '[') {
        add(p, out, item_of(p, name));
    } else if (name) {
        for (int i = 0; i < name->words.count; i++) add(p, out, name->words.items[i].text);
        *is_list |= name->is_list;
    } else {
        add(p, out, known_word(p, word));
    }
}

static void read_atom(Python *p, ShellWords *out, bool *is_list) {
    skip(p);
    if (p->at >= p->end || ++p->depth > DEEPEST || ++p->steps > 100000) {
        p->depth -= p->depth > DEEPEST;
        p->at = p->at < p->end ? p->at + 1 : p->end;
        return;
    }
    char first = *p->at;
    bool format = (first == 'f' || first == 'r') && p->end - p->at > 1 && (p->at[1] == '"' || p->at[1] == '\'');
    if (format || first == '"' || first == '\'') {
        read_texts(p, out);
    } else if (first == '[' || first == '(') {
        p->at++;
        read_list(p, out, first == '[' ? ']' : ')');
        *is_list = first == '[' || *is_list;
    } else if (isdigit((unsigned char)first) || first == '-') {
        read_number(p, out);
    } else if (isalpha((unsigned char)first) || first == '_' || first == '*') {
        read_named(p, out, is_list);
    } else if (first == '{') {
        p->at++;
        read_pairs(p, out);
        *is_list = true;
    } else {
        p->at++;
    }
    p->depth--;
}

static void apply(Python *p, char sign, ShellWords *a, const ShellWords *b, bool is_list) {
    char *end_a, *end_b;
    if (is_list && sign == '+') {
        for (int i = 0; i < b->count; i++) add(p, a, b->items[i].text);
        return;
    }
    if (a->count != 1 || b->count != 1) return;
    double x = strtod(a->items[0].text, &end_a), y = strtod(b->items[0].text, &end_b);
    if (*end_a || *end_b)
        a->items[0].text =
            sign == '+' ? arena_printf(p->r->arena, "%.50000s%.50000s", a->items[0].text, b->items[0].text) : unknown;
    else
        a->items[0].text = arena_printf(p->r->arena, "%.10g",
                                        sign == '+'                    ? x + y
                                        : sign == '*'                  ? x * y
                                        : sign == '/' && y != 0        ? x / y
                                        : sign == FLOOR_SIGN && y != 0 ? floor(x / y)
                                                                       : x - y);
}

static void read_value(Python *p, ShellWords *out, bool *is_list) {
    ShellWords own = {0};
    bool list = false;
    read_atom(p, &own, &list);
    for (;;) {
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->end - p->at > 7 && strncmp(p->at, ".split(", 7) == 0) {
            while (p->at < p->end && *p->at != ')') p->at++;
            takes(p, ')');
            read_split(p, &own);
            list = true;
            continue;
        }
        const char *next_line = p->at + (p->at < p->end && *p->at == '\n');
        while (next_line < p->end && (*next_line == ' ' || *next_line == '\t')) next_line++;
        bool goes_on = p->at < p->end && *p->at == '\n' && p->end - next_line > 1 && *next_line == '.' &&
                       isalpha((unsigned char)next_line[1]);
        if (goes_on) p->at = next_line, p->line++;
        if (p->end - p->at > 1 && *p->at == '.' && isalpha((unsigned char)p->at[1])) { // a method of what a call gave
            const char *begin = ++p->at;
            while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')) p->at++;
            const char *method =
                arena_printf(p->r->arena, "%.*s", (int)(p->at - begin > 100 ? 100 : p->at - begin), begin);
            ShellWords aside = {0};
            if (p->at < p->end && *p->at == '(') {
                p->at++;
                call(p, method, &aside, &list);
            }
            continue;
        }
        if (p->at >= p->end || !strchr("+*/-", *p->at) || (p->end - p->at > 1 && p->at[1] == '=')) break;
        char sign = *p->at++;
        if (sign == '/' && p->at < p->end && *p->at == '/') p->at++, sign = FLOOR_SIGN;
        ShellWords next = {0};
        bool next_list = false;
        read_atom(p, &next, &next_list);
        apply(p, sign, &own, &next, list || next_list);
        list |= next_list;
    }
    for (int i = 0; i < own.count; i++) add(p, out, own.items[i].text);
    *is_list |= list;
}

static void assign(Python *p, const char *name, size_t length, const ShellWords *words, bool is_list, bool adds) {
    Name *there = name_of(p, name, length);
    if (!there && p->count < MOST_NAMES) {
        there = &p->names[p->count++];
        there->name = arena_printf(p->r->arena, "%.*s", (int)length, name);
        there->words = (ShellWords){0};
    }
    if (!there) return;
    const Said *own = p->configures && !adds ? said_find(p->arguments, there->name) : NULL;
    if (!adds) there->words = (ShellWords){0};
    if (own) {
        add(p, &there->words, own->value);
        return;
    }
    for (int i = 0; i < words->count; i++)
        if (there->words.count < MOST_WORDS) LIST_PUSH(p->r->arena, &there->words, words->items[i]);
    there->is_list = is_list || (adds && there->is_list);
}

// What the parameter of the function that begins was passed, by its name or its place; or NULL.
static const char *passed_to(const Python *p, const char *name, size_t length, int place) {
    int own = p->function ? (int)strcspn(p->function, "(") : 0;
    const char *by_name =
        arena_printf(p->r->arena, "%.*s.%.*s", own, p->function ? p->function : "", (int)length, name);
    const char *by_place = arena_printf(p->r->arena, "%.*s.#%d", own, p->function ? p->function : "", place);
    const char *passed = said_value(&p->first->passed, by_name);
    return passed ? passed : said_value(&p->first->passed, by_place);
}

// def f(nodes: int = 4, *, tp=8): names with what they are unless told.
static void read_parameters(Python *p) {
    while (p->at < p->end && *p->at != '(' && *p->at != '\n') p->at++;
    if (!takes(p, '(')) return;
    for (int place = 0; p->at < p->end && !takes(p, ')'); place++) {
        skip(p);
        const char *begin = p->at, *before = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
        size_t length = (size_t)(p->at - begin);
        while (p->at < p->end && !strchr("=,)", *p->at)) {
            if (*p->at == '\n') p->line++;
            p->at++;
        }
        if (p->at < p->end && *p->at == '=' && length) {
            ShellWords words = {0};
            bool is_list = false;
            p->at++;
            read_value(p, &words, &is_list);
            assign(p, begin, length, &words, is_list, false);
        }
        const char *passed = length && p->first ? passed_to(p, begin, length, place) : NULL;
        if (passed) {
            ShellWord word = {passed, p->line};
            ShellWords words = {&word, 1, 1};
            assign(p, begin, length, &words, false, false);
        }
        takes(p, ',');
        if (p->at == before) p->at++;
    }
}

// "b" of a.b(…), which is all that is known of what is plugged in.
static const char *name_of_call(const Python *p, const char *from) {
    while (from < p->end && *from == ' ') from++;
    const char *begin = from, *at = from;
    for (; at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'); at++)
        if (*at == '.') begin = at + 1;
    return arena_printf(p->r->arena, "%.*s", (int)(at - begin > 100 ? 100 : at - begin), begin);
}

// ---- Short names of parts: s = recipe.trainer.strategy.

static const char *path_of_alias(const Python *p, const char *name, size_t length) {
    for (int i = p->alias_count - 1; i >= 0; i--)
        if (strlen(p->aliases[i].name) == length && strncmp(p->aliases[i].name, name, length) == 0)
            return p->aliases[i].path;
    return NULL;
}

// At what stands behind "NAME =".
static void read_alias(Python *p, const char *name, size_t length) {
    const char *begin = p->at + strspn(p->at, " "), *at = begin;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    const char *stop = at, *dot = memchr(begin, '.', (size_t)(at - begin));
    while (at < p->end && (*at == ' ' || *at == '\r')) at++;
    bool alone = at == p->end || *at == '\n' || *at == '#' || *at == ';';
    if (!dot || !alone || !isalpha((unsigned char)*begin) || p->alias_count == MOST_ALIASES) return;
    const char *root = path_of_alias(p, begin, (size_t)(dot - begin));
    const char *rest = arena_printf(p->r->arena, "%.*s", (int)(stop - dot - 1), dot + 1);
    p->aliases[p->alias_count++] = (PythonAlias){arena_printf(p->r->arena, "%.*s", (int)length, name),
                                                 root ? arena_printf(p->r->arena, "%.200s.%.200s", root, rest) : rest};
}

// NAME.a.b = value, os.environ["NAME"] = value, NAME["key"] = value: behind the name. False: it is none of these.
static bool read_place(Python *p, const char *name, size_t length) {
    const char *at = p->at, *begin = at;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    bool of_environment = (size_t)(at - name) == 10 && strncmp(name, "os.environ", 10) == 0;
    const char *path = arena_printf(p->r->arena, "%.*s", (int)(at - begin > 200 ? 200 : at - begin), begin);
    ShellWords key = {0}, value = {0};
    bool is_list = false;
    int before = p->line;
    if (at < p->end && *at == '[') {
        p->at = at + 1;
        read_list(p, &key, ']');
        at = p->at;
    }
    while (at < p->end && *at == ' ') at++;
    if (p->end - at < 2 || at[0] != '=' || at[1] == '=' || (!*path && !key.count)) {
        p->line = before;
        return false;
    }
    int line = p->line;
    const char *from = p->at = at + 1;
    read_value(p, &value, &is_list);
    const char *text = python_commas(p, &value);
    if (key.count == 1) {
        ShellWords pair = {0};
        add(p, &pair, arena_printf(p->r->arena, "%.100s=%.2000s", key.items[0].text, text));
        if (of_environment)
            python_environment(p, &pair);
        else if (!*path)
            assign(p, name, length, &pair, true, true);
    } else if (strcmp(path, ".env_vars") == 0) {
        python_environment(p, &value);
    } else if (length != 4 || strncmp(name, "self", length) != 0) {
        bool plugs = !is_known(text) && spelling_means("plugins", path + 1);
        const char *alias = path_of_alias(p, name, length);
        python_tell(p, "", alias ? arena_printf(p->r->arena, "%.200s%s", alias, path) : path + 1,
                    plugs ? name_of_call(p, from) : text, line);
    }
    return true;
}

// return (…), def f(…): true where that is all of the line.
static bool read_keyword_line(Python *p) {
    static const char *const before[] = {"return ", "yield ", "await ", "with ", "def ", "async def "};
    for (int i = 0; i < 6; i++) {
        size_t length = strlen(before[i]);
        if ((size_t)(p->end - p->at) <= length || strncmp(p->at, before[i], length) != 0) continue;
        p->at += length;
        if (i > 3) {
            const char *begin = p->at;
            while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
            p->function = arena_printf(p->r->arena, "%.*s()", (int)(p->at - begin > 90 ? 90 : p->at - begin), begin);
            read_parameters(p);
            return true;
        }
        bool gives_list = i == 0 && p->function && p->at < p->end && (*p->at == '[' || isalpha((unsigned char)*p->at));
        if (gives_list || (p->at < p->end && *p->at == '(')) {
            ShellWords value = {0};
            bool is_list = false;
            read_value(p, &value, &is_list);
            if (gives_list && is_list) assign(p, p->function, strlen(p->function), &value, true, false);
            return true;
        }
    }
    return false;
}

enum { MOST_TARGETS = 8 };
typedef struct Targets { // A, B = …
    const char *names[MOST_TARGETS];
    size_t lengths[MOST_TARGETS];
    int count;
} Targets;

static bool read_targets(Python *p, Targets *targets) {
    while (targets->count < MOST_TARGETS) {
        const char *begin = targets->names[targets->count] = p->at;
        while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
        targets->lengths[targets->count++] = (size_t)(p->at - begin);
        if (p->at == begin) return false;
        while (p->at < p->end && *p->at == ' ') p->at++;
        if (p->at >= p->end || *p->at != ',') break;
        p->at++;
        while (p->at < p->end && *p->at == ' ') p->at++;
    }
    if (targets->count == 1 && p->at < p->end && *p->at == ':') // NAME: TYPE = …
        while (p->at < p->end && !strchr("=\n(", *p->at)) p->at++;
    return true;
}

// NAME.a = …, NAME["key"] = …, or a call alone.
static void read_place_or_call(Python *p, const Targets *targets) {
    bool is_call = false, is_list = false;
    const char *at = p->at;
    if (targets->count > 1 || at >= p->end || !strchr(".[(", *at)) return;
    if (*at != '(' && read_place(p, targets->names[0], targets->lengths[0])) return;
    ShellWords aside = {0};
    p->at = targets->names[0];
    for (at = p->at; at < p->end && *at != '\n' && !is_call; at++) is_call = *at == '(';
    if (is_call) read_value(p, &aside, &is_list);
}

// NAME = …, A, B = …, NAME += …, NAME.append(…), NAME.extend(…) at the beginning of a line.
static void read_statement(Python *p) {
    static const char *const methods[] = {".append(", ".extend("};
    Targets targets = {.count = 0};
    if (read_keyword_line(p) || !read_targets(p, &targets)) return;
    size_t left = (size_t)(p->end - p->at);
    bool adds = left > 1 && p->at[0] == '+' && p->at[1] == '=', method = false;
    for (int i = 0; i < 2; i++) method = method || (left > 8 && strncmp(p->at, methods[i], 8) == 0);
    if (!adds && !method && !(left > 1 && p->at[0] == '=' && p->at[1] != '=')) {
        read_place_or_call(p, &targets);
        return;
    }
    p->at += method ? 8 : adds ? 2 : 1;
    if (!adds && !method && targets.count == 1) read_alias(p, targets.names[0], targets.lengths[0]);
    for (int i = 0; i < targets.count; i++) {
        const char *name = targets.names[i];
        size_t length = targets.lengths[i];
        ShellWords words = {0};
        bool is_list = false;
        int line = p->line;
        read_value(p, &words, &is_list);
        if (p->in_dataclass && !adds && !method)
            python_tell(p, "", arena_printf(p->r->arena, "%.*s", (int)length, name), python_commas(p, &words), line);
        assign(p, name, length, &words, is_list, adds || method);
        if (p->at >= p->end || *p->at != ',') break; // the next line is another statement's
        p->at++;
    }
}

// Of "a.ckpt:", "not a.ckpt:", "a.parallel == 'ddp':" about an option of the program's. False: it is none of these.
static bool knows_condition(const Python *p, const char *at, bool *holds) {
    bool negates = p->end - at > 4 && strncmp(at, "not ", 4) == 0;
    if (negates) at += 4;
    const char *begin = at;
    while (at < p->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.')) at++;
    const Said *said =
        option_of(p, arena_printf(p->r->arena, "%.*s", (int)(at - begin > 100 ? 100 : at - begin), begin));
    if (!said || !is_known(said->value)) return false;
    while (at < p->end && *at == ' ') at++;
    if (at < p->end && *at == ':') {
        static const char *const no[] = {"None", "False", "false", "0", ""};
        bool none = false;
        for (size_t i = 0; i < sizeof no / sizeof *no; i++) none = none || strcmp(said->value, no[i]) == 0;
        *holds = none == negates;
        return true;
    }
    bool equal = p->end - at > 3 && strncmp(at, "==", 2) == 0, differs = p->end - at > 3 && strncmp(at, "!=", 2) == 0;
    if (!equal && !differs) return false;
    at += 2;
    while (at < p->end && *at == ' ') at++;
    char quote = at < p->end ? *at : '\0';
    const char *close = quote == '"' || quote == '\'' ? memchr(at + 1, quote, (size_t)(p->end - at - 1)) : NULL;
    if (!close || close + 1 >= p->end || close[1] != ':') return false;
    bool same =
        strlen(said->value) == (size_t)(close - at - 1) && strncmp(said->value, at + 1, (size_t)(close - at - 1)) == 0;
    *holds = (same == equal) != negates;
    return true;
}

// Whether the line that begins stands behind an "if", other than that of a program's own name; what is known of it by
// the program's options holds or does not. True: the line is within one that does not hold.
static bool note_condition(Python *p) {
    static const char *const words[] = {"if ", "if(", "elif ", "else:", "elif("};
    int indent = 0;
    const char *at = p->at;
    for (; at < p->end && (*at == ' ' || *at == '\t'); at++) indent++;
    if (at >= p->end || *at == '\n' || *at == '#') return false;
    if (p->skipped >= 0 && indent > p->skipped) return true;
    p->skipped = -1;
    size_t left = (size_t)(p->end - at);
    bool asks = false, begins = left > 11 && strncmp(at, "if __name__", 11) == 0, holds = false;
    for (int i = 0; i < 5 && !begins; i++)
        asks = asks || (left > strlen(words[i]) && strncmp(at, words[i], strlen(words[i])) == 0);
    if (p->condition >= indent) p->condition = -1;
    bool is_else = asks && strncmp(at, "else:", 5) == 0;
    bool known = asks && (is_else ? p->last_if == indent : at[0] == 'i' && knows_condition(p, at + 3, &holds));
    if (known && is_else) holds = !p->last_holds;
    if (p->last_if >= indent) p->last_if = -1;
    if (known && !is_else) p->last_if = indent, p->last_holds = holds;
    if (known && !holds) p->skipped = indent;
    if (asks && !known && p->condition < 0) p->condition = indent;
    return false;
}

static Python *read_once(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments,
                         const Python *before) {
    Python *p = ARENA_NEW(r->arena, Python);
    *p = (Python){.r = r,
                  .at = text,
                  .end = text + bytes,
                  .line = 1,
                  .file = file,
                  .arguments = arguments,
                  .condition = -1,
                  .skipped = -1,
                  .last_if = -1,
                  .first = before,
                  .before = before ? &before->told : NULL};
    for (int i = 0; before && i < before->options.count; i++)
        LIST_PUSH(r->arena, &p->options, before->options.items[i]);
    p->configures = arguments && memmem(text, bytes, "configurator.py", 15);
    while (p->at < p->end && p->steps < 100000) {
        bool skips = note_condition(p);
        bool opens = *p->at == '@' && p->end - p->at > 10 && strncmp(p->at, "@dataclass", 10) == 0;
        if (opens || (isalpha((unsigned char)*p->at) && strncmp(p->at, "class ", 6) != 0)) p->in_dataclass = opens;
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->end - p->at > 5 && strncmp(p->at, "@app.", 5) == 0) p->at++; // Modal's
        if (!skips && p->at < p->end && (isalpha((unsigned char)*p->at) || *p->at == '_')) read_statement(p);
        if (p->at < p->end && (*p->at == '"' || *p->at == '\'')) read_text(p, false);
        const char *line = p->at < p->end ? memchr(p->at, '\n', (size_t)(p->end - p->at)) : NULL;
        if (!line) break;
        p->at = line + 1;
        p->line++;
    }
    return p;
}

// Twice: functions stand before what calls them, and take settings from what is told to them there.
static Python *read_all(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    const Python *first = read_once(r, file, text, bytes, arguments, NULL);
    return read_once(r, file, text, bytes, arguments, first);
}

static bool of_executor(const Said *told) { return strncmp(told->name, "executor.", 9) == 0; }

// What is told to whom it asks for machines: submitit's executor, NeMo-Run's.
static void say_executor(Reading *r, const Python *p) {
    for (int i = 0; i < p->told.count; i++)
        if (of_executor(&p->told.items[i]))
            said_add(r->arena, &r->machine, p->told.items[i].name + 9, p->told.items[i].value, p->told.items[i].where,
                     BY_MACHINES);
}

static void say_told(Reading *r, const Python *p) {
    for (int i = 0; i < p->unsure.count; i++)
        if (!said_find(&p->told, p->unsure.items[i].name)) LIST_PUSH(r->arena, &r->said, p->unsure.items[i]);
    for (int i = 0; i < p->told.count; i++) {
        const Said *told = &p->told.items[i];
        if (of_executor(told)) continue;
        said_add(r->arena, &r->said, told->name, told->value, told->where, BY_FILE);
        if (same_word(told->name, "deepspeed") && strstr(told->value, ".json"))
            reading_config(r, told->value, told->where);
    }
}

// WIDTH = 1536: constants of a program, as weak as what it says by itself.
static void say_constants(Reading *r, const Python *p) {
    for (int i = 0; i < p->count; i++) {
        const Name *name = &p->names[i];
        bool capital = name->name[strspn(name->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
        const char *value = name->words.count == 1 ? name->words.items[0].text : "";
        if (!capital || !isdigit((unsigned char)*value) || value[strspn(value, "0123456789")]) continue;
        char *lower = arena_copy_text(r->arena, name->name);
        for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
        said_add(r->arena, &r->said, lower, value, (Where){p->file, name->words.items[0].line}, BY_PROGRAM);
    }
}

static void say_pairs(Reading *r, const Python *p, const Name *name) {
    for (int i = 0; i < name->words.count; i++) {
        const char *text = name->words.items[i].text, *equals = strchr(text, '=');
        const char *key = arena_printf(r->arena, "%.100s.%.*s", name->name, (int)(equals - text), text);
        said_add(r->arena, &r->said, key, equals + 1, (Where){p->file, name->words.items[i].line}, BY_FILE);
    }
}

static void say_names(Reading *r, Python *p, bool only_known) {
    for (int i = 0; i < p->count; i++) {
        const char *value = python_commas(p, &p->names[i].words);
        if (!only_known && p->names[i].is_list && holds_pairs(&p->names[i].words)) {
            say_pairs(r, p, &p->names[i]);
            continue;
        }
        if (strcmp(p->names[i].name, "_base_") == 0) continue;
        if (p->names[i].words.count && (!only_known || is_known(value)))
            said_add(r->arena, &r->said, p->names[i].name, value, (Where){p->file, p->names[i].words.items[0].line},
                     BY_FILE);
    }
}

// OpenMMLab's: _base_ = ['../_base_/models/mask-rcnn_r50_fpn.py', …] are read first; of what does not lie beside the
// name says the model.
static void read_bases(Reading *r, Python *p, const char *file) {
    const Name *bases = name_of(p, "_base_", 6);
    for (int i = 0; bases && i < bases->words.count && r->bases < READING_BASES; i++) {
        const ShellWord *word = &bases->words.items[i];
        Where where = {file, word->line};
        r->bases++;
        bool read = is_known(word->text) && !strstr(word->text, "::") &&
                    reading_config(r, reading_path_from(r, file, word->text), where);
        r->bases--;
        if (!read && strstr(word->text, "models/")) said_add(r->arena, &r->said, "_base_", word->text, where, BY_FILE);
    }
}

void read_python_settings(Reading *r, const char *file, const char *text, size_t bytes) {
    Python *p = read_all(r, file, text, bytes, NULL);
    read_bases(r, p, file);
    say_names(r, p, false);
}

void read_python_program(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    Python *p = read_all(r, file, text, bytes, arguments);
    say_told(r, p);
    say_executor(r, p);
    if (p->configures)
        say_names(r, p, true);
    else
        say_constants(r, p);
}

void read_python(Reading *r, const char *file, const char *text, size_t bytes) {
    const Python *p = read_all(r, file, text, bytes, NULL);
    say_executor(r, p);
    for (int i = 0; i < p->count; i++)
        if (p->names[i].is_list && p->names[i].words.count > 2)
            launch_words(r, &p->names[i].words, (Where){file, p->names[i].words.items[0].line});
    if (r->launches.count || !p->calls) return;
    say_told(r, p);
    ShellWords *itself = ARENA_NEW(r->arena, ShellWords);
    ShellWord word = {file, 1};
    LIST_PUSH(r->arena, itself, word);
    launch_words(r, itself, (Where){file, 1});
}
