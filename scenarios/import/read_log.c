// Logs: what trainers print of their settings when they start, and the commands that are seen there, whatever stands
// before each line (ranks, times, names of containers).
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/system/file.h"

enum {
    LONGEST_LABEL = 80,
    LONGEST_BLOCK = 1 << 18,
    DEEPEST_PAIRS = 8,
    FEWEST_YAML = 4,
    LONGEST_LINE = 4000,
    MOST_UNCLOSED = 50
};

static const char log_ends[] = "- end of arguments -"; // of Megatron-LM's

typedef struct Log {
    Reading *r;
    const char *file;
    double each, rounds, all; // of Hugging Face's batches: of a device, accumulated, in all
    double gpus;              // that launchers and meshes speak of
    int unclosed;             // objects that do not end
} Log;

static const char *const begins[] = {"- arguments -",
                                     "Config param ",
                                     "***** Running training *****",
                                     "DeepSpeedEngine configuration",
                                     "json = {",
                                     "Running with args",
                                     "Experiment configuration",
                                     "resolved config",
                                     "onfig:\n{",
                                     "onfig: {",
                                     "TrainingArguments(",
                                     "arameters TrainingArguments",
                                     "Namespace(",
                                     "Overriding: ",
                                     "+ torchrun ",
                                     "+ srun ",
                                     "+ deepspeed ",
                                     "+ accelerate launch",
                                     ":main] cmd = "};

bool is_log(const char *path, const char *text) {
    static const char *const others[] = {".sh", ".sbatch", ".slurm", ".bash", ".py",  ".pbs",  ".lsf",
                                         ".mk", ".qsub",   ".ipynb", ".yaml", ".yml", ".json", ".toml"};
    bool is = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (file_ends_in(path, others[i])) return false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !is; i++) is = strstr(text, begins[i]);
    return is && strncmp(text, "#!", 2) != 0 && !strstr(text, "\n#SBATCH");
}

// ---- What stands before each line.

// "[1,0]<stdout>:", "  0:", "2025-05-01T12:00:00.123Z", "trainer-1": its letters, or 0 where the line begins otherwise.
static size_t label_of(const char *line) {
    size_t length = strspn(line, " ");
    bool numbered = false;
    while (line[length] && !isspace((unsigned char)line[length]) && length < LONGEST_LABEL) {
        numbered = numbered || strchr("0123456789|]>)", line[length]);
        length++;
        if (line[length] == ':' && strchr("]>", line[length - 1])) return length + 1;
    }
    char last = length ? line[length - 1] : ' ';
    return numbered && (isdigit((unsigned char)last) || strchr(":|]>)Z", last)) ? length : 0;
}

static bool same_label(const char *a, const char *b) { // whatever their numbers are
    const char *a_end = a + label_of(a), *b_end = b + label_of(b);
    while (a < a_end && b < b_end) {
        bool digit = isdigit((unsigned char)*a);
        if (digit ? !isdigit((unsigned char)*b) : *a != *b) return false;
        a += digit ? strspn(a, "0123456789") : 1, b += digit ? strspn(b, "0123456789") : 1;
    }
    return a == a_end && b == b_end;
}

static const char *next_line(const char *at) { return at + strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'); }

// Without the label that most lines begin with; NULL: there is none.
static const char *without_label(Arena *arena, const char *text) {
    const char *label = text;
    int votes = 0, having = 0, lines = 0;
    for (const char *at = text; *at; at = next_line(at)) { // a majority's, if there is one
        if (votes == 0) label = at;
        votes += same_label(label, at) ? 1 : -1;
    }
    for (const char *at = text; *at; at = next_line(at)) lines++, having += same_label(label, at);
    if (!label_of(label) || 2 * having <= lines) return NULL;
    char *out = arena_copy_text(arena, text), *to = out;
    for (const char *at = text, *next; *at; at = next) {
        next = next_line(at);
        if (same_label(label, at)) at += label_of(at), at += *at == ' ';
        memmove(to, at, (size_t)(next - at));
        to += next - at;
    }
    *to = '\0';
    return out;
}

// ---- Settings.

static void say(Log *log, const char *name, const char *value, size_t length, int line) {
    while (length > 0 && strchr(" \t\r\n,", *value)) value++, length--;
    while (length > 0 && strchr(" \t\r\n,", value[length - 1])) length--;
    if (length > 1 && strchr("'\"", *value) && value[length - 1] == *value) value++, length -= 2;
    const char *text = arena_printf(log->r->arena, "%.*s", (int)length, value), *dot = strrchr(text, '.');
    bool is_enumerated = dot && isupper((unsigned char)*text) && isupper((unsigned char)dot[1]) && !strchr(text, ' ');
    if (is_enumerated) text = dot + 1; // DecoderBlockType.LLAMA2
    if (strcmp(name, "_name_or_path") == 0) name = "model_name_or_path";
    if (one_of(name, "world_size global_num_gpus") && atof(text) > 0)
        log->r->machines = (Machines){.gpus = atof(text), .where = {log->file, line}};
    if (*text) said_add(log->r->arena, &log->r->said, name, text, (Where){log->file, line}, BY_FILE);
}

static size_t name_length(const char *at) {
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.-", at[length]))) length++;
    return isalpha((unsigned char)*at) || *at == '_' ? length : 0;
}

// Up to one of the signs outside of brackets and quotes.
static const char *up_to(const char *at, const char *end, const char *signs) {
    char quote = '\0';
    for (int depth = 0; at < end && (quote || depth > 0 || !strchr(signs, *at)); at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (quote || strchr("'\"", *at))
            quote = !quote ? *at : *at == quote ? '\0' : quote;
        else
            depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
    }
    return at;
}

// "a": 1, 'b': {…}, c=2, d=D(…): of JSON and of what Python shows of dictionaries and objects.
static void take_pairs(Log *log, const char *at, const char *end, const char *above, int line, int depth) {
    while (at < end && depth < DEEPEST_PAIRS) {
        for (; at < end && strchr(" \t\r\n,", *at); at++) line += *at == '\n';
        const char *next = up_to(at, end, ","), *name = at + (at < end && strchr("'\"", *at));
        size_t length = name_length(name);
        const char *value = name + length + (name > at);
        value += strspn(value, " ");
        if (length > 0 && value < next && strchr(":=", *value)) {
            value += 1 + strspn(value + 1, " ");
            const char *open = value + name_length(value);
            const char *path = arena_printf(log->r->arena, "%.200s%.*s", above, (int)length, name);
            if (value < next && (*value == '{' || (open > value && *open == '(')))
                take_pairs(log, open + 1, up_to(open + 1, next, "})"), arena_printf(log->r->arena, "%s.", path), line,
                           depth + 1);
            else if (value < next)
                say(log, path, value, (size_t)(next - value), line);
        }
        for (; at < next; at++) line += *at == '\n';
    }
}

// Where an object begins whose settings count: at the end of the line, or behind the name of such a thing. NULL:
// nowhere.
static const char *opened(const char *at, size_t length) {
    static const char *const heads[] = {"Namespace(", "Arguments(",  "onfig(",  "args: {",
                                        "onfig: {",   "rguments: {", "onfig={", "arameters {"};
    while (length > 0 && isspace((unsigned char)at[length - 1])) length--;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *head = memmem(at, length, heads[i], strlen(heads[i]));
        if (head) return head + strlen(heads[i]) - 1;
    }
    return length > 0 && strchr("{(", at[length - 1]) ? at + length - 1 : NULL;
}

static bool is_yaml(const char *at) {
    const char *from = at + strspn(at, " ");
    size_t length = name_length(from);
    if (memmem(from, strcspn(from, "\n"), " = ", 3)) return false; // "Overriding: n_layer = 24"
    return (length > 0 && from[length] == ':' && strchr(" \n", from[length + 1])) || strncmp(from, "- ", 2) == 0;
}

// Lines that are YAML as a whole, of which there are many: their end; or NULL.
static const char *take_yaml(Log *log, const char *at, int line) {
    const char *end = at;
    int count = 0;
    for (; *end && is_yaml(end); end = next_line(end)) count++;
    if (count < FEWEST_YAML) return NULL;
    const char *text = arena_printf(log->r->arena, "%.*s", (int)(end - at), at);
    SaidList list = {0};
    Problems *aside = problems_create(log->r->arena);
    const Json *documents = yaml_read(log->r->arena, log->file, text, strlen(text), aside);
    if (documents && documents->count > 0) said_of_tree(log->r->arena, &list, &documents->items[0], BY_FILE, aside);
    for (int i = 0; i < list.count; i++)
        say(log, list.items[i].name, list.items[i].value, strlen(list.items[i].value),
            line + list.items[i].where.line - 1);
    return end;
}

// Behind the words the number; 0: they are not there.
static double number_behind(const char *line, const char *words) {
    const char *at = strstr(line, words);
    double number = 0;
    for (at = at ? at + strlen(words) : ""; isdigit((unsigned char)*at) || *at == ','; at++)
        if (*at != ',') number = 10 * number + (*at - '0');
    return number;
}

static void say_behind(Log *log, const char *text, int line) {
    static const char *const phrases[][2] = {{"nstantaneous batch size per device = ", "per_device_train_batch_size"},
                                             {"Gradient Accumulation steps = ", "gradient_accumulation_steps"},
                                             {"Mixed precision type: ", "mixed_precision"}, // accelerate's
                                             {"Num processes: ", "world_size"},
                                             {"MEMBER: 1/", "world_size"}, // Lightning's
                                             {"using world size: ", "world_size"},
                                             {"Num_devices: ", "world_size"}}; // MaxText's
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        const char *at = strstr(text, phrases[i][0]);
        if (at) at += strlen(phrases[i][0]), say(log, phrases[i][1], at, strcspn(at, ", "), line);
    }
    const char *hub = strstr(text, "models--"), *owner = hub ? strstr(hub + 8, "--") : NULL;
    if (owner && !said_find(&log->r->said, "model_name_or_path"))
        say(log, "model_name_or_path", owner + 2, strcspn(owner + 2, "/ "), line);
}

// "num_layers ........ 40", and "hidden_size ..... 4096......updated" of GPT-NeoX.
static void take_dots(Log *log, const char *text, int line) {
    const char *dots = strstr(text, " .."), *from = dots;
    while (from && from > text && !isspace((unsigned char)from[-1])) from--;
    if (!dots || name_length(from) != (size_t)(dots - from)) return;
    const char *value = dots + strspn(dots, " ."), *more = strstr(value, "...");
    const char *name = arena_printf(log->r->arena, "%.*s", (int)(dots - from), from);
    size_t length = more ? (size_t)(more - value) : strlen(value);
    if (*value == '{')
        take_pairs(log, value + 1, up_to(value + 1, value + length, "}"), arena_printf(log->r->arena, "%s.", name),
                   line, 1);
    else
        say(log, name, value, length, line);
}

// Of one line by itself: "Config param num_layers: 40", "Overriding: n_layer = 40", "n_layer = 40".
static void take_line(Log *log, const char *text, int line) {
    static const char *const heads[] = {"Config param ", "Overriding: ", ""};
    take_dots(log, text, line);
    say_behind(log, text, line);
    for (int i = 0; i < 3; i++) {
        const char *head = strstr(text, heads[i]), *name = head ? head + strlen(heads[i]) : "";
        size_t length = name_length(name), sign = length + strspn(name + length, " ");
        if (length == 0 || !name[sign] || !strchr(":=", name[sign])) continue;
        const char *value = name + sign + 1 + strspn(name + sign + 1, " ");
        if (i < 2 || (sign > length && !strchr(value, ' ')))
            say(log, arena_printf(log->r->arena, "%.*s", (int)length, name), value, strlen(value), line);
    }
    const char *mesh = strstr(text, "device mesh with");
    mesh = mesh ? strrchr(mesh, '[') : NULL;
    if (mesh) log->gpus = 1;
    for (char *end; mesh && *mesh && strchr("[, ", *mesh); mesh = end) log->gpus *= strtod(mesh + 1, &end);
    double each = number_behind(text, "nstantaneous batch size per device = "),
           rounds = number_behind(text, "Gradient Accumulation steps = "),
           all = number_behind(text, "distributed & accumulation) = "), ranks = number_behind(text, "num_local_procs=");
    if (each > 0) log->each = each;
    if (rounds > 0) log->rounds = rounds;
    if (all > 0) log->all = all;
    if (ranks > 0) log->gpus = number_behind(text, "nnodes=") * ranks;
}

// "+ torchrun …", as shells with -x have it, "cmd = …" of DeepSpeed's launcher.
static void take_log_command(Log *log, const char *text, int line) {
    const char *cmd = strstr(text, ":main] cmd = "), *command = cmd ? cmd + 13 : text + strspn(text, "+");
    if (command > text && (cmd || *command == ' '))
        shell_run_words(reading_shell(log->r), command, (Where){log->file, line});
}

// Behind an object whose settings count; NULL: none begins in this line, or it does not end.
static const char *take_block(Log *log, const char *at, const char *last, int line) {
    const char *open = log->unclosed < MOST_UNCLOSED ? opened(at, strcspn(at, "\n")) : NULL;
    if (!open) return NULL;
    const char *end = last - open > LONGEST_BLOCK ? open + LONGEST_BLOCK : last, *close = up_to(open + 1, end, "})");
    if (close == end) {
        log->unclosed++;
        return NULL;
    }
    take_pairs(log, open + 1, close, "", line, 0);
    return close;
}

// From a line on: behind what is read as one.
static const char *take_from(Log *log, const char *at, const char *last, int line) {
    const char *next = is_yaml(at) ? take_yaml(log, at, line) : NULL;
    if (next) return next;
    next = take_block(log, at, last, line);
    size_t length = strcspn(at, "\n");
    if (!next && length < LONGEST_LINE) {
        const char *whole = arena_printf(log->r->arena, "%.*s", (int)length, at);
        take_log_command(log, whole, line);
        take_line(log, whole, line);
    }
    return next_line(next ? next : at);
}

void read_log(Reading *r, const char *name, const char *text, size_t bytes) {
    Log log = {.r = r, .file = name};
    const char *bare = text;
    (void)bytes;
    for (int i = 0; i < 4 && bare; i++) bare = without_label(r->arena, text = bare);
    const char *last = text + strlen(text);
    int line = 1;
    for (const char *at = text, *next; *at; at = next) {
        if (memmem(at, strcspn(at, "\n"), log_ends, sizeof log_ends - 1)) break;
        next = take_from(&log, at, last, line);
        for (const char *passed = at; passed < next; passed++) line += *passed == '\n';
    }
    Machines said = r->machines;
    launch_choose(r);
    if (said.gpus <= 0) said.gpus = log.gpus;
    if (said.gpus <= 0 && log.each > 0 && log.rounds > 0) said.gpus = log.all / log.each / log.rounds;
    said.where = (Where){name, 1};
    if (said.gpus > 0) r->machines = said;
    r->lists_all = true;
}
