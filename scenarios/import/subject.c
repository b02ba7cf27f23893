// Where a command line names a launch file: the file is read by a process of its own, behind the wall and within limits
// of time and memory, which can start nothing and read nothing but its folder and its project's; what it found comes
// back as JSON.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/workload/job/job.h"
#include "results/answer/answer.h"
#include "scenarios/import/import.h"
#include "scenarios/import/reading.h"
#include "sim/base/text.h"
#include "sim/data/answer.h"
#include "sim/data/trainer_log.h"
#include "sim/system/file.h"
#include "sim/system/gate.h"
#include "sim/system/letters_out.h"
#include "sim/system/wall.h"

enum { MOST_SECONDS = 5, LARGEST_REPLY = 16 << 20, LARGEST_OTHER = 64 << 20, FULL = 7 };
#define MOST_MEMORY ((size_t)256 << 20)

static const Json *imported; // what was read, for the answer's own words
static const char *imported_file;
static ImportAsked imported_asked;
static bool shows_all;

// ---- The process that reads.

static void write_lines(JsonWriter *json, const char *key, const ImportLines *lines) {
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < lines->count; i++) {
        const ImportLine *line = &lines->items[i];
        json_begin_object(json);
        json_text_member(json, "name", line->name);
        if (line->value) json_text_member(json, "value", line->value);
        if (line->why) json_text_member(json, "why", line->why);
        if (line->where.file) json_text_member(json, "file", line->where.file);
        if (line->where.line) json_integer_member(json, "line", line->where.line);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_job(JsonWriter *json, const ImportLines *job) {
    json_key(json, "job");
    json_begin_object(json);
    for (int i = 0; i < job->count; i++) {
        bool again = false;
        for (int k = i + 1; k < job->count; k++) again = again || strcmp(job->items[k].name, job->items[i].name) == 0;
        if (again) continue;
        const char *value = job->items[i].value;
        char *end;
        double number = strtod(value, &end);
        json_key(json, job->items[i].name);
        if (*value && !*end)
            json_write_number(json, number);
        else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            json_write_bool(json, *value == 't');
        else
            json_write_text(json, value);
    }
    json_end_object(json);
}

static void write_import(JsonWriter *json, const Import *import) {
    json_text_member(json, "kind", import->kind);
    json_text_member(json, "software", import->software);
    write_job(json, &import->job);
    write_lines(json, "taken", &import->taken);
    write_lines(json, "without_effect", &import->idle);
    write_lines(json, "not_understood", &import->open);
    write_lines(json, "missing", &import->missing);
    json_key(json, "words");
    json_begin_list(json);
    for (int i = 0; i < import->words.count; i++) {
        json_write_text(json, import->words.items[i].option);
        json_write_text(json, import->words.items[i].value);
    }
    json_end_list(json);
}

static void write_problems(JsonWriter *json, const Problems *problems) {
    json_key(json, "problems");
    json_begin_list(json);
    for (int i = 0; i < problem_count(problems); i++) {
        const Problem *problem = problem_at(problems, i);
        json_begin_object(json);
        json_text_member(json, "text", problem->text);
        if (problem->hint) json_text_member(json, "hint", problem->hint);
        if (problem->where.file) json_text_member(json, "file", problem->where.file);
        json_integer_member(json, "line", problem->where.line);
        json_end_object(json);
    }
    json_end_list(json);
    json_bool_member(json, "usage", problems_status(problems, 4) == 2);
}

static void on_full(void *context) {
    (void)context;
    _exit(FULL);
}

static _Noreturn void read_apart(const char *path, const char *text, const ImportAsked *asked, int out) {
    struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS + 1};
    setrlimit(RLIMIT_CPU, &seconds);
    signal(SIGXCPU, SIG_DFL);
    arenas_limit((ArenaLimit){arenas_bytes_used() + MOST_MEMORY, on_full, NULL});
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena), *aside = problems_create(arena);
    const char *slash = strrchr(path, '/'), *project = gate_project(arena, path);
    WallRules rules = {0};
    wall_allow(arena, &rules, WALL_READ, slash ? arena_printf(arena, "%.*s", (int)(slash - path + 1), path) : ".");
    if (project) wall_allow(arena, &rules, WALL_READ, project);
    wall_raise(arena, &rules, WALL_SILENT, aside);
    const Import *import = text ? import_read_as(arena, path, text, strlen(text), asked, problems)
                                : import_read(arena, path, asked, problems);
    FILE *stream = letters_out_open(out);
    if (!stream) _exit(1);
    JsonWriter json = json_writer(stream, 0);
    json_begin_object(&json);
    if (import) write_import(&json, import);
    write_problems(&json, problems);
    json_end_object(&json);
    _exit(fflush(stream) == 0 ? 0 : 1);
}

// ---- The process that asks.

// text: in place of the file's; or NULL.
static const Json *reply_of(Arena *arena, const char *path, const char *text, const ImportAsked *asked,
                            Problems *problems) {
    int ends[2];
    if (pipe(ends) != 0) {
        problem_add(problems, (Where){path, 0}, "no pipe: %s", strerror(errno));
        problem_is_fault(problems);
        return NULL;
    }
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        read_apart(path, text, asked, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        problem_add(problems, (Where){path, 0}, "no process to read it: %s", strerror(errno));
        problem_is_fault(problems);
        return NULL;
    }
    size_t bytes = 0;
    int status = 0;
    char *reply = file_read_open(arena, ends[0], path, LARGEST_REPLY, &bytes, problems);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && reply)
        return json_read_text(arena, path, reply, bytes, problems);
    bool full = WIFEXITED(status) && WEXITSTATUS(status) == FULL,
         late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    problem_add(problems, (Where){path, 0},
                full   ? "reading it takes more than 256 MiB"
                : late ? "reading it takes more than 5 seconds"
                       : "it could not be read");
    return problem_hint(problems, "no launch script needs that; say the job in options instead"), NULL;
}

static const char *text_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

static int line_of(const Json *object) {
    const Json *value = json_get(object, "line");
    return value && value->kind == JSON_NUMBER ? (int)value->number : 0;
}

static bool take_problems(const Json *reply, Problems *problems) {
    const Json *list = json_get(reply, "problems"), *usage = json_get(reply, "usage");
    for (int i = 0; list && i < list->count; i++) {
        const Json *problem = &list->items[i];
        problem_add(problems, (Where){text_of(problem, "file"), line_of(problem)}, "%s", text_of(problem, "text"));
        if (text_of(problem, "hint")) problem_hint(problems, "%s", text_of(problem, "hint"));
        if (usage && usage->boolean) problem_is_usage(problems);
    }
    return list && list->count == 0;
}

// ---- The command line.

typedef struct Rows {
    const OptionSpec *items;
    int count;
} Rows;

typedef enum Named { NAMES_NO_FILE, NAMES_OTHER_FILE, NAMES_SUBJECT } Named;

static Named named_by(const char *path, bool is_said) {
    struct stat info;
    char head[1 << 16];
    if (file_ends_in(path, ".lua") || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NAMES_NO_FILE;
    FILE *file = file_peek(path);
    if (!file) return NAMES_NO_FILE;
    head[fread(head, 1, sizeof head - 1, file)] = '\0';
    fclose(file);
    if (strstr(head, "\"lockstep-")) return NAMES_NO_FILE; // an answer, a profile
    return is_said || import_kind_of(path, head) < IMPORT_KINDS ? NAMES_SUBJECT : NAMES_OTHER_FILE;
}

// The place of the first word that names such a file, or 0; *from: of --from and its value.
static int find_file(Rows rows, int argc, char *const *argv, Named named, int *from) {
    int found = 0;
    *from = 0;
    for (int i = 2; i < argc && !*from && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--from") == 0) *from = i;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *attached;
        if (i == *from && *from) {
            i++;
        } else if (option_begins(argv[i])) {
            const OptionSpec *row = option_row_of(rows.items, rows.count, argv[i], &attached);
            if (row && !attached && option_takes_value(row)) i++;
        } else if (!found && named_by(argv[i], *from > 0) == named) {
            found = i;
        }
    }
    return found;
}

static const char *typed(Rows rows, int argc, char *const *argv, const char *name) {
    for (int i = 2; i < argc; i++) {
        const char *attached;
        const OptionSpec *row =
            option_begins(argv[i]) ? option_row_of(rows.items, rows.count, argv[i], &attached) : NULL;
        if (row && strcmp(row->name, name) == 0)
            return attached ? attached : i + 1 < argc && option_takes_value(row) ? argv[i + 1] : "";
    }
    return NULL;
}

static void take_typed(Arena *arena, Rows rows, int argc, char *const *argv, ImportAsked *asked) {
    ImportWord *words = ARENA_ARRAY(arena, ImportWord, argc);
    for (int i = 2; i < argc; i++) {
        const char *attached;
        const OptionSpec *row =
            option_begins(argv[i]) ? option_row_of(rows.items, rows.count, argv[i], &attached) : NULL;
        if (row) words[asked->typed_count++] = (ImportWord){row->name, typed(rows, argc, argv, row->name)};
    }
    asked->typed = words;
}

static bool has_row(Rows rows, const char *name) {
    for (int i = 0; i < rows.count; i++)
        if (strcmp(rows.items[i].name, name) == 0) return true;
    return false;
}

static void add_words(Arena *arena, OptionWords *line, const Json *words, Rows rows, int argc, char *const *argv) {
    for (int i = 0; words && i + 1 < words->count; i += 2) {
        const char *name = words->items[i].text, *value = words->items[i + 1].text;
        bool counts = strcmp(name, "gpus") == 0 && !has_row(rows, "gpus");
        bool said =
            typed(rows, argc, argv, name) ||
            (strcmp(name, "precision") == 0 && (typed(rows, argc, argv, "fp16") || typed(rows, argc, argv, "bf16")));
        if (said || counts || !has_row(rows, name)) continue;
        option_words_add(arena, line, arena_printf(arena, "--%s=%s", name, value));
    }
}

static void write_in_answer(JsonWriter *json) {
    static const char *const keys[] = {"kind", "software", "taken", "without_effect", "not_understood", "missing"};
    const Json *job = json_get(imported, "job");
    if (job) {
        json_key(json, "job");
        json_write_tree(json, job);
    }
    json_key(json, "import");
    json_begin_object(json);
    json_text_member(json, "subject", imported_file);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_get(imported, keys[i])) {
            json_key(json, keys[i]);
            json_write_tree(json, json_get(imported, keys[i]));
        }
    json_end_object(json);
}

// ---- On the screen.

static int count_of(const char *key) {
    const Json *list = json_get(imported, key);
    return list ? list->count : 0;
}

static const char *first_of(Arena *arena, const char *key) {
    int count = count_of(key);
    const char *name = count ? text_of(&json_get(imported, key)->items[0], "name") : "";
    return count > 1 ? arena_printf(arena, "%s and %d more", name, count - 1) : name;
}

static const char *place_of(Arena *arena, const Json *item) {
    const char *file = text_of(item, "file");
    if (!file || !line_of(item)) return "";
    bool own = strcmp(file, imported_file) == 0;
    return arena_printf(arena, own ? "%.0s%d" : "%s:%d", file, line_of(item));
}

static void add_list(Arena *arena, Answer *said, const char *key, const char *heading) {
    static const AnswerColumn columns[] = {
        {NULL, "said", AS_TEXT, 0}, {NULL, "is", AS_TEXT, 2}, {NULL, "line", AS_NUMBER, 1}};
    const Json *list = json_get(imported, key);
    if (!list || list->count == 0) return;
    answer_table(said, NULL, heading, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < list->count; i++) {
        const Json *item = &list->items[i];
        const char *name = text_of(item, "name"), *value = text_of(item, "value"), *why = text_of(item, "why");
        ANSWER_ROW(said, value ? arena_printf(arena, "%s = %s", name, value) : name, why ? why : "",
                   place_of(arena, item));
    }
}

// What became of the file, below an answer.
static void print_on_screen(FILE *out) {
    Arena *arena = arena_open();
    Answer *said = answer_create(arena, "import");
    Style style = style_for(out, NULL, false);
    const char *open = first_of(arena, "missing"), *unknown = first_of(arena, "not_understood");
    const char *slash = strrchr(imported_file, '/');
    answer_say(said, "Read", "%s (%s): %d taken, %d without effect%s%s%s%s", slash ? slash + 1 : imported_file,
               text_of(imported, "software"), count_of("taken"), count_of("without_effect"),
               *open ? "; left open: " : "", open, *unknown ? "; range wider for " : "", unknown);
    static const struct {
        const char *key, *heading;
    } lists[] = {{"taken", "Taken"},
                 {"without_effect", "Without effect on time and memory"},
                 {"not_understood", "Not understood, and would matter: the range is wider"},
                 {"missing", "Left open"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && shows_all; i++)
        add_list(arena, said, lists[i].key, lists[i].heading);
    answer_as_text(arena, out, said, &style, shows_all);
    arena_close(arena);
}

// ---- In its place.

// Where no scenario may stand, which looks at its file itself.
static bool names_no_job(Arena *arena, Rows rows, int argc, char *const *argv, Problems *problems) {
    int from, at = find_file(rows, argc, argv, NAMES_OTHER_FILE, &from);
    size_t bytes = 0;
    const char *text = at ? file_read(arena, argv[at], LARGEST_OTHER, &bytes, problems) : NULL;
    return text && file_says_no_job(arena, argv[at], text, bytes, problems);
}

bool import_subject(Arena *arena, int *argc, char ***argv, const OptionSpec *rows, int row_count, Problems *problems) {
    int shared, all, from, at;
    const OptionSpec *forms = answer_option_rows(arena, &shared);
    Rows known = {rows, row_count};
    Rows both = {options_join(arena, rows, row_count, forms, shared, &all), all};
    if (!has_row(known, "model")) return true;
    at = find_file(both, *argc, *argv, NAMES_SUBJECT, &from);
    if (!at) return has_row(known, "set") || !names_no_job(arena, both, *argc, *argv, problems);
    ImportAsked asked = {.kind = from && from + 1 < *argc ? (*argv)[from + 1] : NULL,
                         .node = typed(known, *argc, *argv, "node"),
                         .gpus = typed(known, *argc, *argv, "gpus"),
                         .model = typed(known, *argc, *argv, "model"),
                         .no_machines = !has_row(known, "node") || typed(known, *argc, *argv, "gpu")};
    take_typed(arena, known, *argc, *argv, &asked);
    bool is_kind = !asked.kind;
    for (int i = 0; i < IMPORT_KINDS; i++) is_kind = is_kind || strcmp(asked.kind, import_kinds[i]) == 0;
    if (!is_kind) {
        problem_add(problems, (Where){0}, "--from %s is no kind of file that is read", asked.kind);
        problem_hint_names(problems, asked.kind, import_kinds, IMPORT_KINDS);
        problem_is_usage(problems);
        return false;
    }
    const Json *reply = reply_of(arena, (*argv)[at], NULL, &asked, problems);
    if (!reply || !take_problems(reply, problems)) return false;
    OptionWords line = {0};
    option_words_add(arena, &line, (*argv)[0]);
    option_words_add(arena, &line, (*argv)[1]);
    for (int i = 2; i < *argc; i++) {
        if (i == at) add_words(arena, &line, json_get(reply, "words"), known, *argc, *argv);
        shows_all = shows_all || strcmp((*argv)[i], "-v") == 0 || strcmp((*argv)[i], "--verbose") == 0;
        if (i != at && !(from && (i == from || i == from + 1))) option_words_add(arena, &line, (*argv)[i]);
    }
    imported = reply;
    imported_asked = asked;
    imported_file = (*argv)[at];
    envelope_tells(write_in_answer);
    answer_tells(print_on_screen);
    answer_shares_screen(2 * 80); // as usual
    char **words = ARENA_ARRAY(arena, char *, line.count + 1);
    for (int i = 0; i < line.count; i++) words[i] = arena_copy_text(arena, line.items[i]);
    *argv = words;
    *argc = line.count;
    return true;
}

// ---- The same file, changed.

const char *import_subject_file(void) { return imported_file; }

static const char *word_in(const Json *words, const char *option) {
    for (int i = 0; words && i + 1 < words->count; i += 2)
        if (strcmp(words->items[i].text, option) == 0) return words->items[i + 1].text;
    return NULL;
}

// As the file says it, whatever number of GPUs was typed; as it was read where it says none.
static const Json *as_it_stands(Arena *arena, ImportAsked *asked) {
    *asked = imported_asked;
    if (!asked->gpus) return imported;
    asked->gpus = NULL;
    const Json *reply = reply_of(arena, imported_file, NULL, asked, problems_create(arena));
    if (reply && take_problems(reply, problems_create(arena))) return reply;
    *asked = imported_asked;
    return imported;
}

// What a field is where nobody says it: a literal of Lua.
static bool is_fallback(Arena *arena, const char *option, const char *value) {
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            if (!field->flag || !field->fallback || strcmp(field->flag, option) != 0) continue;
            return strcmp(field->fallback, value) == 0 ||
                   strcmp(field->fallback, arena_printf(arena, "\"%s\"", value)) == 0;
        }
    return false;
}

static bool word_of(const ImportWord *words, int count, const char *option) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i].option, option) == 0) return true;
    return false;
}

static bool must_stay(const char *option, const ImportWord *words, int count) {
    static const char *const others[] = {"unread-options", "tokens", "software"};
    for (int i = 0; i < 3; i++)
        if (strcmp(others[i], option) == 0) return false;
    return !word_of(words, count, option);
}

// Positions of a shape follow the length where one variable says both.
static bool is_same_but_longer(Arena *arena, const char *from, const char *to) {
    static const char mark[] = ",max_positions=";
    const char *const both[] = {from, to};
    const char *rest[2];
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(both[i], mark);
        if (!at) return false;
        const char *end = at + sizeof mark - 1;
        rest[i] = arena_printf(arena, "%.*s%s", (int)(at - both[i]), both[i], end + strspn(end, "0123456789"));
    }
    return strcmp(rest[0], rest[1]) == 0;
}

static bool refuse_beside(const char *option, const char *from, const char *to, Problems *problems) {
    problem_add(problems, (Where){imported_file, 0}, "--%s would change with it, from %s to %s", option,
                from ? from : "nothing", to ? to : "nothing");
    return problem_hint(
        problems, "a variable says both, or one follows from the other: say --%s too, or change it by hand", option);
}

// It is read again in place of the file: what was to change has changed, and nothing else.
static bool says_as_wanted(Arena *arena, const char *text, const Json *stands, const ImportAsked *asked,
                           const ImportWord *words, int count, Problems *problems) {
    const Json *reply = reply_of(arena, imported_file, text, asked, problems);
    if (!reply || !take_problems(reply, problems)) return false;
    const Json *now = json_get(reply, "words"), *before = json_get(stands, "words");
    for (int i = 0; i < count; i++) {
        const char *said = word_in(now, words[i].option), *old = word_in(before, words[i].option);
        double by = strcmp(words[i].option, "gpus") == 0 && old ? atof(words[i].value) / atof(old) : 1;
        const char *stays = by != 1 ? change_not_scaled(arena, stands, reply, by) : NULL;
        bool is =
            change_is_none(words[i].value) ? !said || change_is_none(said) : said && strcmp(said, words[i].value) == 0;
        if (is && !stays) continue;
        problem_add(problems, (Where){imported_file, 0}, "--%s %s cannot be said there: %s", words[i].option,
                    words[i].value, stays ? stays : arena_printf(arena, "it would be %s", said ? said : "nothing"));
        return problem_hint(problems, "change it by hand, or write a new script: --export megatron");
    }
    for (int i = 0; before && i + 1 < before->count; i += 2) {
        const char *option = before->items[i].text, *old = before->items[i + 1].text, *said = word_in(now, option);
        bool longer = said && strcmp(option, "model") == 0 && word_of(words, count, "seq") &&
                      is_same_but_longer(arena, old, said);
        bool goes = (!said || change_is_none(said)) && change_goes_with(option, words, count);
        if (must_stay(option, words, count) && !longer && !goes && !(said && strcmp(said, old) == 0))
            return refuse_beside(option, old, said, problems);
    }
    for (int i = 0; now && i + 1 < now->count; i += 2) {
        const char *option = now->items[i].text, *said = now->items[i + 1].text;
        if (must_stay(option, words, count) && !word_in(before, option) && !is_fallback(arena, option, said))
            return refuse_beside(option, NULL, said, problems);
    }
    return true;
}

const char *import_change(Arena *arena, const ImportWord *words, int count, Problems *problems) {
    LIST_OF(ImportWord) differ = {0};
    ImportAsked asked;
    const Json *stands = as_it_stands(arena, &asked), *said = json_get(stands, "words");
    for (int i = 0; i < count; i++) {
        const char *old = word_in(said, words[i].option);
        if (old ? strcmp(old, words[i].value) == 0 : change_is_none(words[i].value)) continue;
        LIST_PUSH(arena, &differ, words[i]);
    }
    if (differ.count == 0) {
        problem_add(problems, (Where){imported_file, 0}, "nothing is to be changed");
        return problem_hint(problems, "say options that differ from it: --tp 4 --micro-batch 2"), NULL;
    }
    const char *text = change_text(arena, imported_file, stands, differ.items, differ.count, problems);
    return text && says_as_wanted(arena, text, stands, &asked, differ.items, differ.count, problems) ? text : NULL;
}
