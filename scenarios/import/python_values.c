// Values of Python: texts, numbers, lists and dictionaries, what is computed of them, and what calls among them give.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/python.h"
#include "sim/base/list.h"

enum { FLOOR_SIGN = '\\' }; // Python's "//"

static const char unknown[] = {NOT_KNOWN, '\0'};

Name *python_name(Python *p, const char *begin, size_t length) {
    for (int i = 0; i < p->count; i++)
        if (strlen(p->names[i].name) == length && strncmp(p->names[i].name, begin, length) == 0) return &p->names[i];
    return NULL;
}

void python_skip(Python *p) {
    while (p->at < p->end && (isspace((unsigned char)*p->at) || *p->at == '#' || *p->at == '\\')) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n') p->at++;
        else {
            if (*p->at == '\n') p->line++;
            p->at++;
        }
    }
}

bool python_takes(Python *p, char sign) {
    python_skip(p);
    if (p->at >= p->end || *p->at != sign) return false;
    p->at++;
    return true;
}

void python_add(Python *p, ShellWords *out, const char *text) {
    ShellWord word = {text, p->line};
    if (out->count < MOST_WORDS) LIST_PUSH(p->r->arena, out, word);
}

// {NAME} within f"…".
static const char *formatted(Python *p, const char *text) {
    const char *out = "";
    while (*text && strlen(out) < 4000) {
        size_t plain = strcspn(text, "{");
        out = arena_printf(p->r->arena, "%s%.*s", out, (int)plain, text);
        text += plain;
        if (!*text) break;
        size_t length = strcspn(text + 1, "}:");
        Name *name = python_name(p, text + 1, length);
        out = arena_printf(p->r->arena, "%s%s", out,
                           name && name->words.count == 1 ? name->words.items[0].text : unknown);
        text += strcspn(text, "}");
        text += *text == '}';
    }
    return out;
}

const char *python_text(Python *p, bool format) {
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

void python_list(Python *p, ShellWords *out, char close) {
    while (p->at < p->end && !python_takes(p, close)) {
        bool is_list = false;
        const char *before = p->at;
        python_value(p, out, &is_list);
        python_takes(p, ',');
        if (p->at == before) p->at++;
    }
}

static void read_split(Python *p, ShellWords *words) {
    if (words->count != 1) return;
    const char *text = words->items[0].text;
    words->count = 0;
    for (size_t length; *(text += strspn(text, " \t\n")); text += length) {
        length = strcspn(text, " \t\n");
        python_add(p, words, arena_printf(p->r->arena, "%.*s", (int)length, text));
    }
}

// "key": value, … }: words "key=value".
static void read_pairs(Python *p, ShellWords *out) {
    while (p->at < p->end && !python_takes(p, '}')) {
        ShellWords key = {0}, value = {0};
        bool is_list = false;
        const char *before = p->at;
        python_value(p, &key, &is_list);
        if (python_takes(p, ':')) {
            python_skip(p);
            bool is_within = p->at < p->end && *p->at == '{';
            python_value(p, &value, &is_list);
            for (int i = 0; is_within && key.count == 1 && i < value.count; i++)
                python_add(p, out, arena_printf(p->r->arena, "%.100s.%.2000s", key.items[0].text, value.items[i].text));
            if (key.count == 1 && !is_within)
                python_add(p, out,
                           arena_printf(p->r->arena, "%.100s=%.2000s", key.items[0].text, python_commas(p, &value)));
        }
        python_takes(p, ',');
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
    python_list(p, &key, ']');
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
const Said *python_option(const Python *p, const char *word) {
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
    const Said *own = python_option(p, word);
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
    python_skip(p);
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
bool python_holds_pairs(const ShellWords *words) {
    for (int i = 0; i < words->count; i++) {
        size_t length = strcspn(words->items[i].text, "= ,/:");
        if (length == 0 || words->items[i].text[length] != '=') return false;
    }
    return words->count > 0;
}

static void add_within(Python *p, ShellWords *out, const char *key, const ShellWords *words) {
    for (int i = 0; i < words->count; i++)
        python_add(p, out, arena_printf(p->r->arena, "%.100s.%.2000s", key, words->items[i].text));
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
    while (p->at < p->end && !python_takes(p, ')')) {
        bool is_list = false;
        const char *before = p->at, *key = read_keyword(p);
        ShellWords value = {0};
        int own = p->line, count = given->count;
        bool spread = !key && p->end - p->at > 2 && strncmp(p->at, "**", 2) == 0;
        python_value(p, key || spread ? &value : given, &is_list);
        python_takes(p, ',');
        if (p->at == before) p->at++;
        for (int i = 0; spread && python_holds_pairs(&value) && i < value.count; i++) { // **{"a": 1}
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
        if (is_list && python_holds_pairs(&value))
            add_within(p, pairs, key, &value);
        else
            python_add(p, pairs, arena_printf(p->r->arena, "%s=%s", key, python_commas(p, &value)));
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
    const Name *returned = python_name(p, arena_printf(p->r->arena, "%.100s()", name), strlen(name) + 2);
    bool same = strcmp(name, "str") == 0 || strcmp(name, "int") == 0 || strcmp(name, "Path") == 0 ||
                strstr(name, "pathlib.Path") || strstr(name, "shlex.quote");
    bool options = given.count > 0; // flags(MODEL, TRAIN), of dictionaries of options
    for (int i = 0; i < given.count; i++)
        options = options && strncmp(given.items[i].text, "--", 2) == 0 && strchr(given.items[i].text, '=');
    if (p->before && starts_commands(name)) start_command(p, &given);
    if (p->before && strncmp(name, "os.exec", 7) == 0) become_command(p, &given);
    if (options) {
        for (int i = 0; i < given.count; i++) python_add(p, out, given.items[i].text);
        *is_list = true;
    } else if (strcmp(name, "object") == 0) { // a mark: an option without value
        python_add(p, out, "true");
    } else if (returned) {
        for (int i = 0; i < returned->words.count; i++) python_add(p, out, returned->words.items[i].text);
        *is_list |= returned->is_list;
    } else if (same && given.count == 1) {
        python_add(p, out, given.items[0].text);
    } else if (joins && given.count) {
        const char *text = given.items[given.count - 1].text;
        python_add(p, out, text);
    } else if (strstr(name, "shlex.split") || strcmp(name, "list") == 0) {
        read_split(p, &given);
        for (int i = 0; i < given.count; i++) python_add(p, out, given.items[i].text);
        *is_list = true;
    } else if (strcmp(name, "dict") == 0) {
        for (int i = 0; i < given.count; i++) python_add(p, out, given.items[i].text);
        for (int i = 0; i < pairs.count; i++) python_add(p, out, pairs.items[i].text);
        *is_list = true;
    } else if (strcasecmp(name, "field") == 0 || strstr(name, ".field")) { // of a dataclass
        const char *usual = NULL;
        for (int i = 0; i < pairs.count; i++)
            if (strncmp(pairs.items[i].text, "default=", 8) == 0) usual = pairs.items[i].text + 8;
        python_add(p, out, usual ? usual : unknown);
    } else if (strstr(name, "environ.get") || strstr(name, "getenv")) {
        python_add(p, out, from_environment(p, &given));
    } else if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0) {
        python_add(p, out, least_or_most(p, &given, name[1] == 'a'));
    } else {
        python_add(p, out, unknown);
    }
}

// Texts that stand side by side are one.
static void read_texts(Python *p, ShellWords *out) {
    char first = *p->at;
    p->at += first == 'f' || first == 'r';
    const char *text = python_text(p, first == 'f'), *behind = p->at;
    int line = p->line;
    for (python_skip(p); p->at < p->end && strlen(text) < 100000 && ++p->steps < 100000; python_skip(p)) {
        bool formats = *p->at == 'f' && p->end - p->at > 1;
        if (p->at[formats] != '"' && p->at[formats] != '\'') break;
        p->at += formats;
        text = arena_printf(p->r->arena, "%s%s", text, python_text(p, formats));
        behind = p->at, line = p->line;
    }
    p->at = behind, p->line = line;
    python_add(p, out, text);
}

static void read_number(Python *p, ShellWords *out) {
    const char *begin = p->at++;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '.' || *p->at == '_' ||
                              (*p->at == '-' && (p->at[-1] == 'e' || p->at[-1] == 'E'))))
        p->at++;
    python_add(p, out, arena_printf(p->r->arena, "%.*s", (int)(p->at - begin), begin));
}

// A name, an item of one, or a call.
static void read_named(Python *p, ShellWords *out, bool *is_list) {
    while (p->at < p->end && *p->at == '*') p->at++;
    const char *begin = p->at;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')) p->at++;
    size_t length = (size_t)(p->at - begin);
    const char *word = arena_printf(p->r->arena, "%.*s", (int)(length > 200 ? 200 : length), begin);
    Name *name = python_name(p, begin, length);
    char next = p->at < p->end ? *p->at : '\0';
    if (next == '(') {
        p->at++;
        call(p, word, out, is_list);
    } else if (next == '[' && strcmp(word, "os.environ") == 0) {
        ShellWords key = {0};
        p->at++;
        python_list(p, &key, ']');
        python_add(p, out, from_environment(p, &key));
    } else if (next == '[') {
        python_add(p, out, item_of(p, name));
    } else if (name) {
        for (int i = 0; i < name->words.count; i++) python_add(p, out, name->words.items[i].text);
        *is_list |= name->is_list;
    } else {
        python_add(p, out, known_word(p, word));
    }
}

static void read_atom(Python *p, ShellWords *out, bool *is_list) {
    python_skip(p);
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
        python_list(p, out, first == '[' ? ']' : ')');
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
        for (int i = 0; i < b->count; i++) python_add(p, a, b->items[i].text);
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

void python_value(Python *p, ShellWords *out, bool *is_list) {
    ShellWords own = {0};
    bool list = false;
    read_atom(p, &own, &list);
    for (;;) {
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\t')) p->at++;
        if (p->end - p->at > 7 && strncmp(p->at, ".split(", 7) == 0) {
            while (p->at < p->end && *p->at != ')') p->at++;
            python_takes(p, ')');
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
    for (int i = 0; i < own.count; i++) python_add(p, out, own.items[i].text);
    *is_list |= list;
}
