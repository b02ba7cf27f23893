// An answer in JSON that somebody else wrote, behind a letter for who is asked about it: e, r, d for explain, report,
// diff; E and R of a run asks in full. Behind a it is a question in JSON. Refused with a place, or a question of which
// no option but the question's is left, whoever reads its words; no other file than the page is written, and none is
// read from elsewhere.
//     make fuzz FUZZERS=fuzz_answer
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explain/explain.h"
#include "sim/base/check.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "tests/fuzz/folder.h"

int lockstep_main_asked_again(int argc, char **argv);
#define main lockstep_main_asked_again
#include "main.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_BYTES 65536

// ---- What must hold.

static bool is_of_question(const OptionSpec *row) { return row->of == OF_QUESTION || row->of == OF_RUN; }

// As the command reads the line: `words` of a question, nothing typed.
static void check_line(Arena *arena, const char *command, const char *const *words, int count) {
    char **line = ARENA_ARRAY(arena, char *, count + 2);
    int row_count;
    line[0] = arena_copy_text(arena, command);
    for (int i = 0; i < count; i++) line[i + 1] = arena_copy_text(arena, words[i]);
    const char *first = count > 0 ? words[0] : NULL;
    const OptionSpec *rows = rows_asked_again(arena, command, first, &row_count);
    if (!rows) return; // nobody asks that again
    Options *options = options_parse(arena, rows, row_count, count + 1, line, problems_create(arena));
    for (int i = 0; i < row_count; i++) CHECK(is_of_question(&rows[i]) || !option_given(options, rows[i].name));
    static const char *const shared[] = {"output", "json", "csv", "plain", "quiet", "color"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        CHECK(!option_known(options, shared[i]) || !option_given(options, shared[i]));
}

// A file in another folder is no file to such a question.
static void check_reach(void) {
    static const char *const elsewhere[] = {"/etc/hostname", "/dev/zero", "/dev/stdin", "../.."};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        CHECK(!file_may_read(elsewhere[i]));
        CHECK(!file_peek(elsewhere[i]));
    }
}

// Other fuzzers' files may be there too, but no new one than the page.
static int files_but_the_page(void) {
    int count = 0;
    DIR *entries = opendir(fuzz_folder());
    CHECK(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += strcmp(entry->d_name, "page.html") != 0;
    closedir(entries);
    return count;
}

static void check_victim(void) {
    Arena *arena = arena_open();
    size_t bytes;
    const char *victim = file_read(arena, "victim", 100, &bytes, problems_create(arena));
    CHECK(victim && strcmp(victim, "kept") == 0);
    arena_close(arena);
}

// ---- Who asks.

static bool read_for_report(Arena *arena, Problems *problems) {
    const Json *answer;
    const LastQuestion *question = last_question_of_answer(arena, "x.json", "command", &(Typed){0}, &answer, problems);
    if (!question) return false;
    check_line(arena, question->command, question->words, question->count);
    check_reach();
    return true;
}

static bool read_for_explain(Arena *arena, Problems *problems) {
    char own[] = "explain", file[] = "x.json", *words[] = {own, file, NULL}, **argv = words;
    int argc = 2, row_count;
    const OptionSpec *rows = explain_option_rows(arena, &row_count);
    if (!explain_words_of_answer(arena, rows, row_count, &argc, &argv, problems)) return false;
    check_line(arena, "explain", (const char *const *)argv + 1, argc - 1);
    check_reach();
    return true;
}

static bool read_for_ask(Arena *arena, Problems *problems) {
    char program[] = "lockstep", own[] = "ask", file[] = "x.json", *words[] = {program, own, file, NULL},
         **argv = words;
    int argc = 3;
    if (!ask_in_json(arena, &argc, &argv, problems)) return false;
    CHECK(strcmp(argv[argc - 1], "--json") == 0);
    check_line(arena, argv[1], (const char *const *)argv + 2, argc - 3);
    check_reach();
    return true;
}

// A count of thousands is of a run that is right and long.
static bool is_quick(Arena *arena) {
    const Json *answer;
    const LastQuestion *question =
        last_question_of_answer(arena, "x.json", "command", &(Typed){0}, &answer, problems_create(arena));
    if (!question || strcmp(question->command, "run") != 0) return false;
    for (int i = 0; i < question->count; i++) {
        int digits = 0;
        for (const char *at = question->words[i]; *at; at++) {
            digits = isdigit((unsigned char)*at) ? digits + 1 : 0;
            if (digits > 3 || (digits && at[1] && strchr("eEkKMGTP", at[1]))) return false;
        }
    }
    return true;
}

static void ask(Arena *arena, const char *line) {
    char *words[16], *rest, *text = arena_copy_text(arena, line);
    int count = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words[count++] = word;
    words[count] = NULL;
    int nothing = open("/dev/null", O_WRONLY), kept = dup(STDOUT_FILENO);
    fflush(stdout);
    CHECK(nothing >= 0 && kept >= 0 && dup2(nothing, STDOUT_FILENO) >= 0);
    wall_keep_nothing();
    int code = run_command(count, words);
    fflush(stdout);
    CHECK(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(nothing);
    CHECK(code >= 0 && code <= 4);
}

static void ask_about(Arena *arena, char who) {
    Problems *problems = problems_create(arena);
    bool is_taken = who == 'a'                 ? read_for_ask(arena, problems)
                    : who == 'r' || who == 'R' ? read_for_report(arena, problems)
                                               : read_for_explain(arena, problems);
    CHECK(is_taken == (problem_count(problems) == 0));
    if (is_taken && isupper((unsigned char)who) && is_quick(arena))
        ask(arena, who == 'R' ? "lockstep report x.json -o page.html --time-limit 2s"
                              : "lockstep explain x.json --why-only --time-limit 2s");
    file_read_through(NULL, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < 2 || bytes > MOST_BYTES || !strchr("erdERa", data[0]) || !data[0]) return 0;
    int back = open(".", O_RDONLY | O_DIRECTORY);
    anchors_reader = anchors_read;
    question_rows = rows_asked_again;
    fuzz_file("victim", "kept", 4);
    fuzz_file("x.json", data + 1, bytes - 1);
    CHECK(back >= 0 && chdir(fuzz_folder()) == 0);
    int files = files_but_the_page();
    Arena *arena = arena_open();
    if (data[0] == 'd')
        ask(arena, "lockstep diff x.json x.json");
    else
        ask_about(arena, (char)data[0]);
    arena_close(arena);
    check_victim();
    CHECK(files_but_the_page() == files);
    CHECK(fchdir(back) == 0);
    close(back);
    return 0;
}
