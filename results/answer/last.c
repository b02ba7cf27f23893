#include "results/answer/last.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/answer/question.h"
#include "sim/base/text.h"
#include "sim/data/answer.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

#define FORMAT "lockstep-last"
#define FORMAT_VERSION 1
#define MOST_BYTES (1 << 16) // of a command line

static const char *const kept_commands[] = {"run",  "plan",  "sweep",   "memory", "collective",
                                            "cost", "power", "goodput", "queue"};
enum { KEPT = sizeof kept_commands / sizeof *kept_commands };

// Commands that take the last question of other commands: of which, and whether its name precedes its words.
static const struct {
    const char *command;
    const char *of[5];
    const char *unnamed; // of those
} followers[] = {
    {"report", {"run", "plan", "goodput", "queue"}, NULL},
    {"explain", {"run", "queue", "goodput", "collective"}, "run"},
    {"trace", {"run"}, "run"},
};
enum { FOLLOWERS = sizeof followers / sizeof *followers };

bool last_keeps(const char *command) { return name_is_among(kept_commands, KEPT, command); }

bool last_follows(const char *command) {
    for (int i = 0; i < FOLLOWERS; i++)
        if (strcmp(followers[i].command, command) == 0) return true;
    return last_keeps(command);
}

// ---- The file.

const char *last_folder(Arena *arena) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/') return arena_printf(arena, "%s/lockstep", state);
    return home && home[0] == '/' ? arena_printf(arena, "%s/.local/state/lockstep", home) : NULL;
}

static const Json *read_questions(Arena *arena) {
    const char *folder = last_folder(arena), *path = folder ? arena_printf(arena, "%s/last.json", folder) : NULL;
    struct stat about;
    if (!path || access(path, R_OK) != 0 || stat(path, &about) != 0) return NULL;
    if (!S_ISREG(about.st_mode) || about.st_uid != geteuid()) return NULL; // owned by another user
    const Json *file = json_read_loose(arena, NULL, path, (Where){0}, problems_create(arena));
    const Json *format = file && file->kind == JSON_OBJECT ? json_get(file, "format") : NULL;
    const Json *version = format ? json_get(file, "format_version") : NULL;
    bool ours = format && format->kind == JSON_TEXT && strcmp(format->text, FORMAT) == 0;
    bool known = version && version->kind == JSON_NUMBER && (int)version->number == FORMAT_VERSION;
    const Json *questions = ours && known ? json_get(file, "questions") : NULL;
    return questions && questions->kind == JSON_LIST ? questions : NULL;
}

static const char *text_of(const Json *object, const char *key) {
    const Json *value = object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
    return value && value->kind == JSON_TEXT ? value->text : "";
}

// Folders on the way, for this user alone.
static bool make_folders(Arena *arena, const char *folder) {
    char *path = arena_copy_text(arena, folder);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static const char *time_now(Arena *arena) {
    struct tm now;
    time_t seconds = time(NULL);
    char text[32];
    return gmtime_r(&seconds, &now) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &now)
               ? arena_copy_text(arena, text)
               : "";
}

static void write_question(JsonWriter *json, const LastQuestion *question) {
    json_begin_object(json);
    json_text_member(json, "command", question->command);
    json_key(json, "words");
    json_begin_list(json);
    for (int i = 0; i < question->count; i++) json_write_text(json, question->words[i]);
    json_end_list(json);
    json_text_member(json, "folder", question->folder);
    json_text_member(json, "time", question->time);
    json_end_object(json);
}

// The newest is last.
static bool write_questions(Arena *arena, const LastQuestion *question) {
    Problems *unsaid = problems_create(arena);
    const char *folder = last_folder(arena);
    OutputFile file;
    const Json *old = read_questions(arena);
    if (!folder || !make_folders(arena, folder)) return false;
    if (!file_create(arena, arena_printf(arena, "%s/last.json", folder), &file, unsaid)) return false;
    JsonWriter json = json_writer(file.stream, 1);
    json_begin_object(&json);
    json_text_member(&json, "format", FORMAT);
    json_integer_member(&json, "format_version", FORMAT_VERSION);
    json_key(&json, "questions");
    json_begin_list(&json);
    for (int i = 0; old && i < old->count; i++)
        if (strcmp(text_of(&old->items[i], "command"), question->command) != 0) json_write_tree(&json, &old->items[i]);
    write_question(&json, question);
    json_end_list(&json);
    json_end_object(&json);
    fputc('\n', file.stream);
    return file_commit(&file, unsaid);
}

// ---- Keeping.

static bool wants_to_keep(void) {
    const char *asked = getenv("LOCKSTEP_LAST");
    if (asked && strcmp(asked, "always") == 0) return true;
    return !(asked && strcmp(asked, "never") == 0) && isatty(STDERR_FILENO);
}

bool last_keep(int argc, char **argv) {
    char folder[PATH_MAX];
    size_t bytes = 0;
    if (argc < 1 || !last_keeps(argv[0]) || !wants_to_keep() || !getcwd(folder, sizeof folder)) return false;
    for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
    if (bytes > MOST_BYTES) return false;
    Arena *arena = arena_open();
    Names words = {0};
    for (int i = 1; i < argc; i++) LIST_PUSH(arena, &words, (const char *)argv[i]);
    bool kept = write_questions(arena, &(LastQuestion){argv[0], words.items, words.count, folder, time_now(arena)});
    arena_close(arena);
    return kept;
}

// ---- Asking again.

static int length_of(const char *const *words) {
    int count = 0;
    while (words[count]) count++;
    return count;
}

static const LastQuestion *question_of(Arena *arena, const Json *kept, const Typed *typed, Problems *problems) {
    const Json *words = json_get(kept, "words");
    int before = problems_added(problems);
    Names texts = {0};
    for (int i = 0; words && words->kind == JSON_LIST && i < words->count; i++)
        if (words->items[i].kind == JSON_TEXT) LIST_PUSH(arena, &texts, words->items[i].text);
    QuestionFile file = {.command = text_of(kept, "command"),
                         .words = texts.items,
                         .count = texts.count,
                         .typed = typed->words,
                         .typed_count = typed->count};
    Names asked = question_words(arena, &file, problems);
    if (problems_added(problems) > before) return NULL;
    LastQuestion *question = ARENA_NEW(arena, LastQuestion);
    *question = (LastQuestion){file.command, asked.items, asked.count, text_of(kept, "folder"), text_of(kept, "time")};
    return question;
}

// The newest question of a command; of several ("run", "plan", NULL) the newest of them. NULL after a problem. Of its
// words those that are the question's.
static const LastQuestion *last_question(Arena *arena, const char *const *commands, const Typed *typed,
                                         Problems *problems) {
    const Json *kept = read_questions(arena);
    for (int i = kept ? kept->count - 1 : -1; i >= 0; i--)
        if (name_is_among(commands, length_of(commands), text_of(&kept->items[i], "command")))
            return question_of(arena, &kept->items[i], typed, problems);
    const char *names = commands[0];
    for (int i = 1; commands[i]; i++)
        names = arena_printf(arena, "%s%s %s", names, commands[i + 1] ? "," : " or", commands[i]);
    problem_add(problems, (Where){0}, "--last: no question of lockstep %s is kept", names);
    problem_hint(problems, "ask one on a terminal first, or with LOCKSTEP_LAST=always");
    return NULL;
}

// A file relative to the question's folder keeps its path.
static const char *placed(Arena *arena, const LastQuestion *question, const char *word, bool elsewhere) {
    const char *path = arena_printf(arena, "%s/%s", question->folder, word);
    return elsewhere && word[0] != '-' && word[0] != '/' && word[0] && access(path, F_OK) == 0 ? path : word;
}

static void add_kept(Arena *arena, Names *words, const LastQuestion *question) {
    char folder[PATH_MAX];
    bool here = strcmp(question->folder, ".") == 0;
    bool elsewhere = !here && (!getcwd(folder, sizeof folder) || strcmp(folder, question->folder) != 0);
    for (int i = 0; i < question->count; i++)
        LIST_PUSH(arena, words, placed(arena, question, question->words[i], elsewhere));
}

const char *const *last_words(Arena *arena, const LastQuestion *question, const char *const *again, int again_count,
                              int *count) {
    QuestionFile file = {.command = question->command,
                         .words = question->words,
                         .count = question->count,
                         .typed = again,
                         .typed_count = again_count};
    Names words = {0}, typed = question_typed(arena, &file);
    add_kept(arena, &words, question);
    for (int i = 0; i < typed.count; i++) LIST_PUSH(arena, &words, typed.items[i]);
    *count = words.count;
    return words.items;
}

static int find_last(int argc, char *const *argv) {
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--last") == 0) return i;
    return 0;
}

static const char *as_typed(Arena *arena, const char *before, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        const char *word = letters_make_harmless(arena_copy_text(arena, words[i]), "");
        before = arena_printf(arena, word[strcspn(word, " '\"$*")] ? "%s '%s'" : "%s %s", before, word);
    }
    return before;
}

void last_print_words(Arena *arena, const char *const *words, int count) {
    fprintf(stderr, "%s\n", as_typed(arena, "", words, count));
}

void last_tell(Arena *arena, const char *const *words, int count, const LastQuestion *question) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], "-q") == 0 || strcmp(words[i], "--quiet") == 0) return;
    const char *time = letters_make_harmless(arena_copy_text(arena, question->time), "");
    text_say(stderr, as_typed(arena, arena_printf(arena, "! Asked again, of %s: lockstep", time), words, count));
}

// ---- Of an answer that was written to a file.

bool last_names_answer(const char *word) {
    size_t length = strlen(word);
    return word[0] != '-' && length > 5 && strcmp(word + length - 5, ".json") == 0;
}

static bool is_line(const Json *command) {
    if (!command || command->kind != JSON_LIST || command->count < 2) return false;
    for (int i = 0; i < command->count; i++)
        if (command->items[i].kind != JSON_TEXT) return false;
    return true;
}

static bool is_answer(const Json *file) {
    return file->kind == JSON_OBJECT && is_line(json_get(file, "command")) &&
           strcmp(text_of(file, "format"), ANSWER_FORMAT) == 0;
}

const LastQuestion *last_question_of_answer(Arena *arena, const char *path, const char *key, const Typed *typed,
                                            const Json **answer, Problems *problems) {
    const Json *read = json_read_file(arena, path, problems);
    int before = problems_added(problems);
    if (!read) return NULL;
    if (!is_answer(read)) {
        problem_add(problems, (Where){path, 0},
                    "this is no answer of lockstep: it does not say which command line it is of");
        problem_hint(problems, "lockstep run … --json -o %s writes one, and so do plan, queue, goodput and collective",
                     path);
        return NULL;
    }
    const Json *command = json_get(read, key);
    if (!is_line(command)) {
        problem_add(problems, (Where){path, 0}, "the plan in this file chose nothing: there is no job to explain");
        problem_hint(problems, "lockstep plan says why; with more time or money there may be one");
        return NULL;
    }
    Names words = {0};
    for (int i = 2; i < command->count; i++) LIST_PUSH(arena, &words, command->items[i].text);
    QuestionFile file = {.path = path,
                         .command = command->items[1].text,
                         .words = words.items,
                         .count = words.count,
                         .typed = typed->words,
                         .typed_count = typed->count};
    Names asked = question_words(arena, &file, problems);
    question_reads_near(arena, &file, problems);
    if (problems_added(problems) > before) return NULL;
    LastQuestion *question = ARENA_NEW(arena, LastQuestion);
    *question = (LastQuestion){file.command, asked.items, asked.count, ".", path};
    *answer = read;
    return question;
}

// "queue" of `explain queue --last`; NULL: the newest of all.
static const char *kind_asked(const char *const *of, int argc, char *const *argv) {
    for (int i = 0; of[i] && of[1] && argc > 2; i++)
        if (strcmp(argv[2], of[i]) == 0) return of[i];
    return NULL;
}

bool last_repeat(Arena *arena, int *argc, char ***argv, Problems *problems) {
    int at = find_last(*argc, *argv);
    if (at == 0 || !last_follows((*argv)[1])) return true;
    const char *const own[] = {(*argv)[1], NULL}, *const *of = own;
    const char *unnamed = (*argv)[1];
    for (int i = 0; i < FOLLOWERS; i++) {
        if (strcmp(followers[i].command, (*argv)[1]) != 0) continue;
        of = followers[i].of;
        unnamed = followers[i].unnamed;
    }
    const char *kind = kind_asked(of, *argc, *argv), *const only[] = {kind, NULL};
    const char **again = ARENA_ARRAY(arena, const char *, *argc);
    int count = 0;
    for (int i = kind ? 3 : 2; i < *argc; i++)
        if (i != at) again[count++] = (*argv)[i];
    const LastQuestion *question = last_question(arena, kind ? only : of, &(Typed){again, count}, problems);
    if (!question) return false;
    bool named = !unnamed || strcmp(question->command, unnamed) != 0;
    Names words = {0};
    LIST_PUSH(arena, &words, (const char *)(*argv)[1]);
    if (named) LIST_PUSH(arena, &words, question->command);
    add_kept(arena, &words, question);
    for (int i = 0; i < count; i++) LIST_PUSH(arena, &words, again[i]);
    last_tell(arena, words.items, words.count, question);

    char **line = ARENA_ARRAY(arena, char *, words.count + 2);
    line[0] = (*argv)[0];
    for (int i = 0; i < words.count; i++) line[i + 1] = arena_copy_text(arena, words.items[i]);
    *argv = line;
    *argc = words.count + 1;
    return true;
}
