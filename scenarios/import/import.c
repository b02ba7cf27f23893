// One import: the kind of file, what is said in it, what its software's table makes of that, and the three lists.
#include "scenarios/import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/list.h"
#include "sim/base/name_index.h"
#include "sim/system/file.h"

// ---- What is heard.

// 110_000_000, as Python and TOML write it.
static const char *without_marks(Arena *arena, const char *value) {
    if (!strchr(value, '_') || value[strspn(value, "0123456789_.")]) return value;
    char *copy = arena_copy_text(arena, value), *to = copy;
    for (const char *from = value; *from; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    return copy;
}

void hear(Reading *r, const char *key, const char *value, Where where) {
    Heard new = {key, without_marks(r->arena, value), where};
    for (int i = 0; i < r->heard.count; i++)
        if (strcmp(r->heard.items[i].key, key) == 0) {
            r->heard.items[i] = new;
            return;
        }
    LIST_PUSH(r->arena, &r->heard, new);
}

const Heard *heard(const Reading *r, const char *key) {
    for (int i = 0; i < r->heard.count; i++)
        if (strcmp(r->heard.items[i].key, key) == 0 && r->heard.items[i].value) return &r->heard.items[i];
    return NULL;
}

void unhear(Reading *r, const char *key) {
    for (int i = 0; i < r->heard.count; i++)
        if (strcmp(r->heard.items[i].key, key) == 0) r->heard.items[i].value = NULL;
}

const char *heard_text(const Reading *r, const char *key) {
    const Heard *h = heard(r, key);
    return h ? h->value : NULL;
}

double heard_number(const Reading *r, const char *key, double fallback) {
    const char *text = heard_text(r, key);
    char *end;
    double number = text ? strtod(text, &end) : fallback;
    return text && end != text && !*end ? number : fallback;
}

void list_line(Reading *r, ImportLines *lines, const char *name, const char *value, const char *why, Where where) {
    if (lines->count >= 2000) return;
    ImportLine line = {name, value, why, where};
    LIST_PUSH(r->arena, lines, line);
}

void not_read(Reading *r, const char *why, Where where) {
    const ImportLines *lines = &r->import->missing;
    for (int i = 0; i < lines->count; i++)
        if (lines->items[i].why == why) return;
    list_line(r, &r->import->missing, "not read", NULL, why, where);
}

// ---- Other files.

enum { MOST_FILES = 40 };

static void keep_text(Reading *r, const char *file, const char *text) {
    ReadText read = {file, text};
    LIST_PUSH(r->arena, &r->texts, read);
}

static const char *read_file(Reading *r, const char *path, bool climbs, Where where, size_t *bytes,
                             const char **shown) {
    if (r->shell) {
        const char *own = shell_file(r->shell, path);
        if (own) {
            *bytes = strlen(own);
            *shown = arena_copy_text(r->arena, path);
            return own;
        }
    }
    if (!r->gate || !is_known(path) || strlen(path) > 400) return NULL;
    if (r->files >= MOST_FILES) {
        not_read(r, "more than 40 files are named", where);
        return NULL;
    }
    const char *up = path, *text = NULL;
    for (int above = 0; !text && above <= (climbs ? r->above : 0); above++) {
        if (above) up = arena_printf(r->arena, "../%s", up);
        text = gate_read(r->gate, up, LARGEST_FILE, bytes, where, problems_create(r->arena));
    }
    *shown = text ? gate_shown_path(r->gate, r->arena, up) : path;
    if (!text) return NULL;
    r->files++;
    keep_text(r, *shown, text);
    return text;
}

const char *reading_file(Reading *r, const char *path, Where where, size_t *bytes, const char **shown) {
    return read_file(r, path, *path != '/', where, bytes, shown);
}

// "scripts/ds.json" in scripts/train.sh, which is started from the folder above: "ds.json"; NULL: it is no such path.
static const char *below_own_folder(const Reading *r, const char *path) {
    const char *slash = strrchr(r->file, '/');
    if (strncmp(path, "./", 2) == 0) path += 2;
    for (const char *begin = slash; begin && begin > r->file;) {
        while (begin > r->file && begin[-1] != '/') begin--;
        size_t length = (size_t)(slash - begin) + 1;
        if (strncmp(path, begin, length) == 0 && path[length]) return path + length;
        begin -= begin > r->file;
    }
    return NULL;
}

const char *reading_near_in(Reading *r, const char *path, int folders, Where where, size_t *bytes, const char **shown) {
    enum { DEEPEST = 6 }; // folders that are tried
    const char *text = reading_file(r, path, where, bytes, shown);
    const char *rest = strrchr(path, NOT_KNOWN) ? strrchr(path, NOT_KNOWN) : path;
    int left = 0;
    const char *own = !text ? below_own_folder(r, path) : NULL;
    if (own) text = reading_file(r, own, where, bytes, shown);
    bool within = !text && r->folder && *path != '/' && is_known(r->folder) && strlen(r->folder) < 200;
    if (within) text = reading_file(r, arena_printf(r->arena, "%s/%s", r->folder, path), where, bytes, shown);
    if (*path != '/' && *path != '~' && is_known(path) && !strstr(path, "..")) return text;
    for (const char *at = rest; *at; at++) left += *at == '/';
    for (; !text && left > folders && (rest = strchr(rest, '/')) != NULL; left--)
        if (*++rest && left <= DEEPEST + 1) text = read_file(r, rest, strchr(rest, '/'), where, bytes, shown);
    return text;
}

const char *reading_near(Reading *r, const char *path, Where where, size_t *bytes, const char **shown) {
    return reading_near_in(r, path, 0, where, bytes, shown);
}

const char *reading_path_from(Reading *r, const char *file, const char *path) {
    const char *slash = strrchr(file, '/');
    char *folder = arena_printf(r->arena, "%.*s", slash ? (int)(slash - file) : 0, file);
    for (;; path += 3) {
        while (strncmp(path, "./", 2) == 0) path += 2;
        if (strncmp(path, "../", 3) != 0 || !*folder) break;
        char *last = strrchr(folder, '/');
        *(last ? last : folder) = '\0';
    }
    return *folder ? arena_printf(r->arena, "%s/%s", folder, path) : path;
}

// Of Hydra's "defaults" those before or behind _self_, which are files of parts: "trainer: ddp", as the command line
// chooses them.
static void read_parts(Reading *r, const char *shown, const Json *defaults, bool behind) {
    const char *outer = r->below;
    bool passed = false;
    for (int i = 0; defaults && defaults->kind == JSON_LIST && i < defaults->count && r->bases < READING_BASES; i++) {
        const Json *item = &defaults->items[i],
                   *pair = item->kind == JSON_OBJECT && item->count ? &item->items[0] : NULL;
        const char *name = tree_text(r->arena, pair ? pair : item), *group = pair ? pair->key : NULL;
        if (name && strcmp(name, "_self_") == 0) passed = true;
        if (!name || passed != behind || strcmp(name, "_self_") == 0) continue;
        if (group && strrchr(group, ' ')) group = strrchr(group, ' ') + 1; // "override /trainer"
        if (group && *group == '/') group++;
        const Said *chosen = group && r->choices ? said_find(r->choices, group) : NULL;
        if (chosen) name = chosen->value, said_add(r->arena, &r->groups, chosen->name, name, chosen->where, chosen->by);
        const char *file = arena_printf(r->arena, "%.100s%s%.200s%s", group ? group : "", group ? "/" : "", name,
                                        strchr(name, '.') ? "" : ".yaml");
        char *part =
            arena_printf(r->arena, "%s%s%.100s", outer ? outer : "", outer && group ? "." : "", group ? group : "");
        for (char *at = part; *at; at++)
            if (*at == '/') *at = '.';
        r->below = part, r->bases++;
        reading_config(r, reading_path_from(r, shown, file), item->where);
        r->below = outer, r->bases--;
    }
}

static void reading_config_text(Reading *r, const char *shown, const char *text, size_t bytes) {
    SaidList list = {0};
    const char *dot = strrchr(shown, '.'), *below = strstr(text, "@package _global_") ? NULL : r->below;
    const Json *defaults = NULL;
    if (dot && strcmp(dot, ".toml") == 0) {
        toml_read(r->arena, &list, shown, text, bytes, BY_FILE, r->problems);
    } else if (dot && strcmp(dot, ".py") == 0) {
        read_python_settings(r, shown, text, bytes);
    } else {
        const char *first = text + strspn(text, " \t\r\n");
        const Json *tree = *first == '{' ? json_or_yaml_read(r->arena, shown, text, bytes, r->problems) : NULL;
        const Json *documents = tree || *first == '{' ? NULL : yaml_read(r->arena, shown, text, bytes, r->problems);
        if (documents && documents->count > 0) tree = &documents->items[documents->count - 1];
        const char *base = tree ? tree_text(r->arena, tree_get(tree, "_BASE_")) : NULL; // detectron2's
        if (base && r->bases < READING_BASES) {
            r->bases++;
            reading_config(r, reading_path_from(r, shown, base), tree->where);
            r->bases--;
        }
        defaults = tree_get(tree, "defaults");
        bool orders = false; // without a word the file beats its parts
        for (int i = 0; defaults && i < defaults->count; i++) {
            const char *item = tree_text(r->arena, &defaults->items[i]);
            orders = orders || (item && strcmp(item, "_self_") == 0);
        }
        read_parts(r, shown, defaults, false);
        if (!orders) defaults = NULL;
        if (tree) said_of_tree(r->arena, &list, tree, BY_FILE, r->problems);
    }
    said_resolve(r->arena, &list);
    const Said *launch = said_find(&list, "accelerate_config"); // TRL's; it says less than what names it
    if (launch && r->bases++ < READING_BASES) reading_config(r, launch->value, launch->where);
    for (int i = 0; i < list.count; i++) {
        if (strncmp(list.items[i].name, "defaults.", 9) == 0) continue;
        const char *name = list.items[i].name;
        if (below && *below) name = arena_printf(r->arena, "%s.%s", below, name);
        said_add(r->arena, &r->said, name, list.items[i].value, list.items[i].where, list.items[i].by);
        bool names = same_word(list.items[i].name, "deepspeed") ||
                     same_word(list.items[i].name, "deepspeed_config.deepspeed_config_file");
        if (names && strstr(list.items[i].value, ".json")) reading_config(r, list.items[i].value, list.items[i].where);
        if (same_word(list.items[i].name, "hostfile")) read_hostfile(r, list.items[i].value, list.items[i].where);
    }
    read_parts(r, shown, defaults, true);
}

bool reading_config(Reading *r, const char *path, Where where) {
    size_t bytes = 0;
    const char *shown, *text = reading_near(r, path, where, &bytes, &shown);
    if (!text) return false;
    list_line(r, &r->import->taken, "file", shown, "what it says", where);
    reading_config_text(r, shown, text, bytes);
    return true;
}

// ---- Options of the software.

static bool is_nothing(const char *value) { return !*value || one_of(value, "auto null none None ~ default ???"); }

static bool is_off(const char *value) {
    char *end;
    bool zero = strtod(value, &end) == 0 && end != value && !*end;
    return zero || is_nothing(value);
}

// NULL: there is no such value in `how`. "": it says nothing.
static const char *converted(Arena *arena, const char *how, const char *value) {
    size_t letters = strlen(value);
    if (letters > 2 && value[0] == '[' && value[letters - 1] == ']' && !strchr(value, ',')) // a list of one
        value = arena_printf(arena, "%.*s", (int)letters - 2, value + 1);
    if (!how) return is_nothing(value) ? "" : value;
    if (strncmp(how, "yes:", 4) == 0 && !strchr(how, ',')) return says_yes(value) ? how + 4 : "";
    if (strncmp(how, "no:", 3) == 0 && !strchr(how, ',')) return says_yes(value) || is_nothing(value) ? "" : how + 3;
    const char *bare = strrchr(value, '.') && strstr(value, "Strategy") ? strrchr(value, '.') + 1 : value;
    bool known = false;
    for (const char *at = how; *at;) {
        size_t length = strcspn(at, ",");
        const char *colon = import_colon(at, length);
        const char *key = arena_printf(arena, "%.*s", (int)(colon - at), at);
        if (strcmp(key, "*") == 0) return is_nothing(value) ? "" : value; // any other
        if (same_word(key, bare) || (strcmp(key, "yes") == 0 && says_yes(bare)) ||
            (strcmp(key, "true") == 0 && says_yes(bare)))
            return arena_printf(arena, "%.*s", (int)(length - (size_t)(colon - at) - 1), colon + 1);
        known = true;
        at += length + (at[length] == ',');
    }
    if (is_nothing(value) || strcmp(value, "false") == 0 || strcmp(value, "False") == 0) return "";
    return known ? NULL : value;
}

// Of a row's value, whether it is one that changes nothing.
static bool is_usual(Arena *arena, const char *how, const char *value) {
    bool off = same_word(value, "false");
    return how && converted(arena, how, value) && (!off || strstr(how, "false:"));
}

// Words that name what stands beside the step in whatever software.
static bool is_beside(const char *name) {
    static const char words[] =
        " lr blr log logs logging logger wandb tensorboard tb eval evals val valid validation seed tokenizer warmup "
        "save "
        "saves load output dir path paths folder dropout beta1 beta2 betas eps epsilon decay scheduler momentum port "
        "addr address endpoint rdzv timeout epochs epoch description print printer name hub push monitor job restarts "
        "token file index std clip report project entity prompt text column metrics metric iters temperature data "
        "dataset time resume split shuffle wd gamma tracking recording goodput frequency freq version exp rng comet "
        "mlflow aim swanlab telemetry notify email progress tqdm verbose quiet interval visualize samples generate "
        "generation checkpoint checkpoints ckpt cosine annealing out display tag tags notes patience plot "
        "workdir ";
    bool beside = false;
    for (size_t length; *name; name += length + (name[length] != '\0')) {
        char word[24];
        length = strcspn(name, "-_.");
        if (length == 8 && strncasecmp(name, "parallel", length) == 0) return false; // of the data, say
        snprintf(word, sizeof word, " %.*s ", (int)length, name);
        beside = beside || (length > 0 && strcasestr(words, word));
    }
    return beside;
}

// What no answer repeats, though a script or a file of variables says it: "--hub_token", "WANDB_API_KEY".
static bool is_secret(const char *name) {
    static const char *const words[] = {"token", "secret", "password", "passwd", "credential", "credentials", "apikey"};
    for (size_t length; *name; name += length + (name[length] != '\0')) {
        length = strcspn(name, "-_.");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i]) == length && strncasecmp(name, words[i], length) == 0) return true;
        if (strncasecmp(name, "api_key", 7) == 0 || strncasecmp(name, "access_key", 10) == 0) return true;
    }
    return false;
}

static const char *shown_value(Reading *r, const char *value) {
    char *copy = arena_printf(r->arena, "%.400s", value);
    for (char *at = copy; *at; at++)
        if (*at == NOT_KNOWN) *at = '?';
    return copy;
}

// $NAME, ${NAME}, $(NAME) somewhere in what was read.
static bool script_uses(const Reading *r, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < r->texts.count; i++)
        for (const char *at = r->texts.items[i].text; (at = strchr(at, '$')) != NULL;) {
            at += 1 + (at[1] == '{' || at[1] == '(');
            if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_') return true;
        }
    return false;
}

static bool was_read(const Reading *r, const char *path) {
    bool read = false;
    for (int i = 0; strchr(path, '.') && i < r->texts.count; i++)
        read = read || strcmp(r->texts.items[i].file, path) == 0;
    return read || (strchr(path, '.') && r->shell && shell_file(r->shell, path));
}

static bool ends_in_one_of(const char *path, const char *endings) {
    const char *dot = strrchr(path, '.');
    return dot && one_of(dot, endings);
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// A configuration of DeepSpeed or accelerate that is named, and lies nowhere in sight.
static bool is_absent_config(const Reading *r, const Said *said) {
    bool of_accelerate = r->program && strncmp(r->program, "accelerate ", 11) == 0;
    if (r->lists_all) return false; // it is printed
    bool names = same_one_of(said->name, "deepspeed deepspeed_config deepspeed_config_file ds_config") ||
                 (of_accelerate && same_word(said->name, "config_file"));
    if (!names || !is_known(said->value)) return false;
    if (!ends_in_one_of(said->value, ".json .yaml .yml") || (r->shell && shell_file(r->shell, said->value)))
        return false;
    for (int i = 0; i < r->texts.count; i++)
        if (strcmp(file_name(r->texts.items[i].file), file_name(said->value)) == 0) return false;
    return true;
}

// The first row that means the name; or NULL.
static const ImportOption *row_of(const ImportOption *table, const char *name) {
    while (table->spelling && !spelling_means(table->spelling, name)) table++;
    return table->spelling ? table : NULL;
}

// "--trainer.precision" of a program whose own options have no sections: it refuses to start.
static bool is_foreign(const ImportSoftware *software, const Said *said) {
    if (said->by != BY_COMMAND || strncmp(said->name, "--", 2) != 0 || !strchr(said->name, '.')) return false;
    for (const ImportOption *row = software->tables[0]; row && row->spelling; row++) // its own
        if (strchr(row->spelling, '.')) return false;
    for (int t = 1; software->tables[t - 1] && software->tables[t];
         t++) // those of its kin; the last is what all call alike
        if (software->tables[t + 1] && row_of(software->tables[t], said->name)) return false;
    return true;
}

// What a program makes of a setting and says by another name is not what the setting says.
static bool is_made_of(const Reading *r, const Said *said, const char *to) {
    const ImportLines *taken = &r->import->taken;
    const char *own = said->name + strspn(said->name, "-");
    if (!said_find(&r->used, own)) return false;
    for (int i = taken->count - 1; i >= 0; i--) {
        const ImportLine *line = &taken->items[i];
        const char *name = line->name + strspn(line->name, "-");
        if (line->why && strcmp(line->why, to) == 0)
            return !spelling_means(name, own) && !spelling_means(own, name) && line->where.file &&
                   file_ends_in(line->where.file, ".py");
    }
    return false;
}

// Of a program that prints all settings it has, most of which are as they are by themselves.
static bool is_unset(const ImportOption *row, const Said *said) {
    if (!row) return !is_beside(said->name);
    return (row->effect == OPEN || !row->how) && row->effect != IDLE &&
           (is_off(said->value) || same_word(said->value, "false"));
}

static void take_option(Reading *r, const ImportSoftware *software, const Said *said, const ImportOption *table) {
    bool foreign = !table && is_foreign(software, said);
    const ImportOption *row = table ? row_of(table, said->name) : foreign ? NULL : import_option(software, said->name);
    if (r->lists_all && said->by == BY_FILE && is_unset(row, said)) return;
    const char *value = is_secret(said->name) ? "(not shown)" : shown_value(r, said->value);
    if (said->by == BY_PROGRAM && !(row && row->effect == TAKEN && !heard(r, row->to))) {
        bool beside = row ? row->effect == IDLE : !table && is_beside(said->name);
        if (beside && !is_known(said->value))
            list_line(r, &r->import->idle, said->name, value, "by its name beside the step", said->where);
        return;
    }
    if (is_absent_config(r, said) && !(row && row->effect == TAKEN)) {
        list_line(r, &r->import->open, said->name, value, "its file is not beside: what it says is not known",
                  said->where);
        return;
    }
    if (row && row->effect == TAKEN) {
        const char *taken = converted(r->arena, row->how, said->value);
        if (!taken || !is_known(taken)) {
            list_line(r, &r->import->open, said->name, value,
                      taken ? "its value is not known without running something" : "this value is not understood",
                      said->where);
        } else {
            if (is_made_of(r, said, row->to)) {
                list_line(r, &r->import->taken, said->name, value, "where the program uses it", said->where);
                return;
            }
            bool lasts = strcmp(row->to, "steps") == 0 || strcmp(row->to, "samples") == 0;
            if (*taken) hear(r, row->to, taken, said->where);
            list_line(r, lasts ? &r->import->idle : &r->import->taken, said->name, value,
                      lasts    ? "how long it trains: a step is the same"
                      : *taken ? row->to
                               : "as is assumed",
                      said->where);
        }
    } else if (row && row->effect == OPEN && is_usual(r->arena, row->how, said->value)) {
        ImportLines *lines = is_off(said->value) ? &r->import->idle : &r->import->taken;
        list_line(r, lines, said->name, value, "as is assumed", said->where);
    } else if (row) {
        list_line(r, row->effect == OPEN ? &r->import->open : &r->import->idle, said->name, value, row->to,
                  said->where);
    } else if (table && script_uses(r, said->name)) {
        list_line(r, &r->import->idle, said->name, value, "where the script uses it", said->where);
    } else if (was_read(r, said->value)) {
        list_line(r, &r->import->taken, said->name, value, "what it says", said->where);
    } else if (is_nothing(said->value) || (!table && !foreign && is_beside(said->name))) {
        list_line(r, &r->import->idle, said->name, value, "by its name beside the step", said->where);
    } else if (said_find(&r->used, said->name + strspn(said->name, "-"))) {
        list_line(r, &r->import->taken, said->name, value, "where the program uses it", said->where);
    } else {
        list_line(r, &r->import->open, said->name, value, "not known here", said->where);
    }
}

// ---- Which software.

// "a|b": the text of a program imports one of these, or what is below it.
static bool imports(const Reading *r, const char *packages) {
    for (int i = 0; i < r->imports.count; i++) {
        const char *name = r->imports.items[i].name;
        for (const char *at = packages; *at; at += strcspn(at, "|"), at += *at == '|') {
            size_t length = strcspn(at, "|");
            if (strncmp(name, at, length) == 0 && (name[length] == '\0' || name[length] == '.')) return true;
        }
    }
    return false;
}

static bool is_marked(const Reading *r, const char *mark) {
    if (strncmp(mark, "import ", 7) == 0) return imports(r, mark + 7);
    if (*mark == '@') return r->program && strcasestr(r->program, mark + 1);
    for (size_t length; *mark; mark += length + (mark[length] == '+')) {
        length = strcspn(mark, "+");
        if (!said_find(&r->said, arena_printf(r->arena, "%.*s", (int)length, mark))) return false;
    }
    return true;
}

// A program in sight that trains by itself is not of software that it does not import, whatever its options are called.
static bool is_another(const Reading *r, const ImportSoftware *software) {
    return software->packages && imports(r, "torch|jax|tensorflow") && !imports(r, software->packages);
}

static const ImportSoftware *which_software(const Reading *r) {
    const ImportTables *all = import_tables();
    for (int s = 0; s < all->software_count; s++)
        for (const char *at = all->software[s].marks; *at && !is_another(r, &all->software[s]);) {
            size_t length = strcspn(at, "|"), bare = length;
            while (bare > 0 && at[bare - 1] == ' ') bare--;
            if (is_marked(r, arena_printf(r->arena, "%.*s", (int)bare, at))) return &all->software[s];
            at += length + (at[length] == '|');
            at += strspn(at, " ");
        }
    return &all->software[all->software_count - 1];
}

// ---- Kinds.

static bool has_one_of(const char *text, const char *words) { // with blanks between
    for (size_t length; *words; words += length + (words[length] != '\0')) {
        length = strcspn(words, " ");
        if (memmem(text, strlen(text), words, length)) return true;
    }
    return false;
}

static bool has_line_with(const char *text, const char *begin) {
    size_t length = strlen(begin);
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, begin, length) == 0) return true;
    return false;
}

static bool is_manifest(const char *path, const char *text) {
    if (file_ends_in(path, ".ipynb") || strncmp(text, "#!", 2) == 0) return false; // a script that writes one
    return (has_line_with(text, "apiVersion:") && has_line_with(text, "kind:")) ||
           (has_line_with(text, "resources:") && has_line_with(text, "run:")) || is_task(text) ||
           (*text == '{' && strstr(text, "\"apiVersion\"") && strstr(text, "\"kind\""));
}

static bool is_toml(const char *path, const char *text) {
    (void)text;
    return file_ends_in(path, ".toml");
}

// JSON is many things: by the words of those who start jobs.
static bool is_config(const char *path, const char *text) {
    static const char words[] =
        "\"zero_optimization\" \"train_micro_batch_size \"train_batch_size \"gradient_accumulation \"fp16\" \"bf16\" "
        "\"per_device_train_batch_size \"trainer\" \"parallelism\" \"global_batch_size \"micro_batch_size";
    return ends_in_one_of(path, ".yaml .yml") || (file_ends_in(path, ".json") && has_one_of(text, words));
}

static bool is_script(const char *path, const char *text) {
    return ends_in_one_of(path, ".sh .sbatch .slurm .bash .py .pbs .lsf .qsub .ipynb") || is_makefile(path) ||
           strncmp(text, "#!", 2) == 0 || has_one_of(text, "#SBATCH #PBS #BSUB #flux: #COBALT #PJM #OAR");
}

static void read_script(Reading *r, const char *name, const char *text, size_t bytes) {
    bool python = strncmp(text, "#!", 2) == 0 && memmem(text, strcspn(text, "\n"), "python", 6);
    if (file_ends_in(name, ".ipynb"))
        read_notebook(r, name, text, bytes);
    else if (python || file_ends_in(name, ".py"))
        read_python(r, name, text, bytes);
    else if (is_makefile(name))
        read_make(r, name, text, bytes);
    else
        read_shell(r, name, text, bytes);
    launch_choose(r);
}

bool reading_jobs(Reading *r, const char *name, const char *text, size_t bytes, Problems *problems) {
    const Json *documents = yaml_read(r->arena, name, text, bytes, problems);
    if (!documents) return false;
    bool sky = has_line_with(text, "run:"), kubernetes = has_line_with(text, "apiVersion:") || *text == '{';
    if (sky || kubernetes || !read_task(r, name, text, documents)) read_manifest(r, name, documents);
    return true;
}

static void read_manifests(Reading *r, const char *name, const char *text, size_t bytes) {
    if (reading_jobs(r, name, text, bytes, r->problems)) launch_choose(r);
}

static void read_toml(Reading *r, const char *name, const char *text, size_t bytes) {
    toml_read(r->arena, &r->said, name, text, bytes, BY_FILE, r->problems);
}

// The first that knows it is taken.
static const struct {
    bool (*is)(const char *path, const char *text);
    void (*read)(Reading *r, const char *name, const char *text, size_t bytes);
} readers[] = {[IMPORT_LOG] = {is_log, read_log},
               [IMPORT_TOML] = {is_toml, read_toml},
               [IMPORT_MANIFEST] = {is_manifest, read_manifests},
               [IMPORT_CONFIG] = {is_config, reading_config_text},
               [IMPORT_SHELL] = {is_script, read_script}};

const char *const import_kinds[IMPORT_KINDS] = {"log", "toml", "manifest", "config", "shell"};

int import_kind_of(const char *path, const char *text) {
    text += strspn(text, " \t\r\n");
    for (int i = 0; i < IMPORT_KINDS; i++)
        if (readers[i].is(path, text)) return i;
    return IMPORT_KINDS;
}

static void take_machine(Reading *r, const Said *said) {
    const ImportOption *row = row_of(import_tables()->machines, said->name);
    bool usual = row && row->how && converted(r->arena, row->how, said->value);
    ImportLines *lines = row && row->effect == TAKEN            ? &r->import->taken
                         : row && row->effect == OPEN && !usual ? &r->import->open
                                                                : &r->import->idle;
    const char *why = !row ? "of the scheduler or the launcher" : usual ? "as is assumed" : row->to;
    list_line(r, lines, said->name, shown_value(r, said->value), why, said->where);
}

// Else an interface is where ranks find each other.
static bool sockets_carry(const Reading *r) {
    const char *off = said_value(&r->environment, "NCCL_IB_DISABLE"), *net = said_value(&r->environment, "NCCL_NET");
    return (off && says_yes(off)) || (net && same_word(net, "Socket"));
}

// ---- Where options stand: an option that comes out of a variable of many lines in the one of these that names it.

typedef struct Place {
    int line, next, last; // of the same name; -1: none. last: of the first of a name
    bool comment;
} Place;

typedef struct Places {
    NameIndex *first; // by name
    LIST_OF(Place) all;
} Places;

static size_t option_letters(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (text[length] && strchr("_-.", text[length]))) length++;
    return length;
}

static void add_place(Arena *arena, Places *places, const char *name, int line, bool comment) {
    int number = places->all.count, first = name_index_add(places->first, name, number);
    LIST_PUSH(arena, &places->all, ((Place){line, -1, number, comment}));
    if (first < 0) return;
    Place *head = &places->all.items[first];
    places->all.items[head->last].next = number;
    head->last = number;
}

static Places places_in(Arena *arena, const char *text) {
    Places places = {.first = name_index_create(arena, strcmp)};
    bool comment = text[strspn(text, " \t")] == '#';
    int line = 1;
    for (const char *at = text; *at;) {
        size_t length = option_letters(at);
        if (*at == '-') add_place(arena, &places, arena_printf(arena, "%.*s", (int)length, at), line, comment);
        if (*at == '\n') line++, comment = at[1 + strspn(at + 1, " \t")] == '#';
        at += length ? length : 1;
    }
    return places;
}

// The first from where the variable begins, else of the file.
static int line_named(const Places *places, int begin, const char *name) {
    int before = 0;
    for (int i = name_index_find(places->first, name); i >= 0; i = places->all.items[i].next) {
        const Place *place = &places->all.items[i];
        if (place->comment && place->line != begin) continue;
        if (place->line >= begin) return place->line;
        if (!before) before = place->line;
    }
    return before ? before : begin;
}

static void place_all(Reading *r, SaidList *list) {
    Places *known = ARENA_ARRAY(r->arena, Places, r->texts.count + 1);
    for (int i = 0; i < list->count; i++) {
        Said *said = &list->items[i];
        if (said->by != BY_COMMAND || said->name[0] != '-' || said->where.line <= 0) continue;
        for (int t = 0; t < r->texts.count; t++)
            if (said->where.file && strcmp(r->texts.items[t].file, said->where.file) == 0) {
                if (!known[t].first) known[t] = places_in(r->arena, r->texts.items[t].text);
                said->where.line = line_named(&known[t], said->where.line, said->name);
                break;
            }
    }
}

static void take_all(Reading *r, const ImportSoftware *software) {
    place_all(r, &r->said);
    place_all(r, &r->machine);
    for (int by = BY_MACHINES; by <= BY_PROGRAM; by++)
        for (int i = 0; i < r->said.count; i++)
            if ((int)r->said.items[i].by == by) take_option(r, software, &r->said.items[i], NULL);
    for (int i = 0; i < r->environment.count; i++) {
        const Said *said = &r->environment.items[i];
        if (same_word(said->name, "NCCL_SOCKET_IFNAME") && !sockets_carry(r))
            list_line(r, &r->import->idle, said->name, shown_value(r, said->value), "NICs carry the traffic",
                      said->where);
        else
            take_option(r, software, said, import_tables()->environment);
    }
    for (int i = 0; i < r->machine.count; i++)
        if (strcmp(r->machine.items[i].name, "by_srun") != 0) take_machine(r, &r->machine.items[i]);
}

static const Import *finish(Reading *r, int kind) {
    const ImportSoftware *software = which_software(r);
    r->import->kind = import_kinds[kind];
    r->import->software = software->title;
    take_all(r, software);
    if (r->said.count == 0 && r->launches.count == 0 && problem_count(r->problems) == 0) {
        problem_add(r->problems, (Where){r->file, 0},
                    "nothing in it starts a training, as far as can be known without running it");
        problem_hint(r->problems, "what is read: lockstep run --help, and docs/import.md");
    }
    if (problem_count(r->problems) == 0) settle(r, software);
    return problem_count(r->problems) ? NULL : r->import;
}

// What we wrote says in a comment which machines it was written for: "# lockstep --node dgx-h100 --fabric ib-ndr400".
static void hear_own_words(Reading *r, const char *text) {
    static const char *const options[] = {"node", "fabric"};
    static const char head[] = "# lockstep --node ";
    const char *at = strncmp(text, head, sizeof head - 1) == 0 ? text : strstr(text, "\n# lockstep --node ");
    if (!at) return;
    at += *at == '\n';
    const char *line = arena_printf(r->arena, "%.*s ", (int)strcspn(at, "\r\n"), at);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *option = strstr(line, arena_printf(r->arena, " --%s ", options[i]));
        if (!option) continue;
        option += strlen(options[i]) + 4;
        const char *value = arena_printf(r->arena, "%.*s", (int)fmin(strcspn(option, " "), 60), option);
        if (value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:")]) continue;
        hear(r, options[i], value, (Where){r->file, 1});
        list_line(r, &r->import->taken, arena_printf(r->arena, "# --%s", options[i]), value, options[i],
                  (Where){r->file, 1});
    }
    if (!r->asked->node && heard(r, "node")) {
        ImportAsked *asked = ARENA_NEW(r->arena, ImportAsked);
        *asked = *r->asked;
        asked->node = heard_text(r, "node");
        r->asked = asked;
    }
}

static const Import *read_through(Arena *arena, const char *path, const char *text, size_t bytes,
                                  const ImportAsked *asked, const ReadGate *gate, int above, Problems *problems) {
    Reading r = {.arena = arena,
                 .problems = problems,
                 .asked = asked,
                 .gate = gate,
                 .above = above,
                 .import = ARENA_NEW(arena, Import),
                 .file = path};
    int kind = import_kind_of(path, text);
    for (int i = 0; asked->kind && i < IMPORT_KINDS; i++)
        if (strcmp(asked->kind, import_kinds[i]) == 0) kind = i;
    if (strlen(text) != bytes || kind == IMPORT_KINDS) {
        problem_add(problems, (Where){path, 0}, "this is no script and no configuration");
        return problem_hint(problems, "--from KIND says which it is: log, toml, manifest, config, shell"), NULL;
    }
    hear_own_words(&r, text);
    keep_text(&r, path, text);
    readers[kind].read(&r, path, text, bytes);
    return problem_count(problems) ? NULL : finish(&r, kind);
}

const Import *import_text(Arena *arena, const char *name, const char *text, size_t bytes, const ImportAsked *asked,
                          Problems *problems) {
    return read_through(arena, name, text, bytes, asked, NULL, 0, problems);
}

const Import *import_read_as(Arena *arena, const char *path, const char *text, size_t bytes, const ImportAsked *asked,
                             Problems *problems) {
    uint64_t digest = 0;
    ReadGate *gate = gate_create(arena, path, NULL, 0, &digest, problems);
    int above = gate_widen(gate, gate_project(arena, path));
    return read_through(arena, path, text, bytes, asked, gate, above, problems);
}

const Import *import_read(Arena *arena, const char *path, const ImportAsked *asked, Problems *problems) {
    size_t bytes = 0;
    const char *text = file_read(arena, path, LARGEST_FILE, &bytes, problems);
    return text ? import_read_as(arena, path, text, bytes, asked, problems) : NULL;
}
