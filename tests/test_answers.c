// One set of manners: every command answers in every form, to the screen and to a file, and its JSON says what it is.
// A command of `lockstep --help` that has no line here fails.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/answer.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"
#include "sim/data/json.h"
#include "sim/system/file.h"
#include "tests/answer_walk.h"
#include "tests/test.h"

static const char *text_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : "";
}

static void expect_envelope(const Json *answer, const char *kind, const char *line) {
    const Json *program = json_get(answer, "program"), *command = json_get(answer, "command");
    const Json *version = json_get(answer, "format_version");
    bool of_parts = strcmp(kind, "hw-list") == 0 || strcmp(kind, "hw-show") == 0; // which hw check reads
    EXPECT_TEXT(text_of(answer, "format"), of_parts ? "lockstep-hardware" : "lockstep-answer");
    EXPECT_TEXT(text_of(answer, "kind"), kind);
    EXPECT(version && version->number == (of_parts ? 1 : 2));
    EXPECT(program && strcmp(text_of(program, "name"), "lockstep") == 0 && text_of(program, "version")[0]);
    EXPECT(command && command->count > 1 && strcmp(command->items[0].text, "lockstep") == 0);
    size_t first = strcspn(line, " ");
    EXPECT(command && strncmp(command->items[1].text, line, first) == 0);
}

TEST(every_command_answers_as_json_that_says_what_it_is) {
    char name[] = "/tmp/lockstep-answers-json-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        int status = walk_shell(folder, "$LOCKSTEP %s --json 2>/dev/null", answer_cases[i].line);
        const Json *answer =
            status == 0 ? json_read_text(arena, answer_cases[i].line, walk_said, strlen(walk_said), problems) : NULL;
        if (answer_cases[i].kind && !answer)
            test_fail(__FILE__, __LINE__, "%s --json: exit %d", answer_cases[i].line, status);
        if (answer)
            expect_envelope(answer->kind == JSON_LIST ? &answer->items[0] : answer, answer_cases[i].kind,
                            answer_cases[i].line);
        if (!answer_cases[i].kind && status != 2)
            test_fail(__FILE__, __LINE__, "%s --json: exit %d", answer_cases[i].line, status);
        arena_close(arena);
    }
    walk_close(folder);
}

// Numbers stand in columns that have names; every row has every column (csv_read_text sees to that).
TEST(every_command_answers_as_csv) {
    char name[] = "/tmp/lockstep-answers-csv-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        if (!answer_cases[i].kind) continue;
        Arena *arena = arena_open();
        int status = walk_shell(folder, "$LOCKSTEP %s --csv 2>/dev/null", answer_cases[i].line);
        char *second = strstr(walk_said, "\n\n"); // a record may have tables of its own below
        if (second) second[1] = '\0';
        const Csv *csv = csv_read_text(arena, answer_cases[i].line, walk_said, problems_create(arena));
        if (status != 0 || !csv || csv->row_count < 1)
            test_fail(__FILE__, __LINE__, "%s --csv: exit %d, %.200s", answer_cases[i].line, status, walk_said);
        for (int c = 0; csv && c < csv->column_count; c++) EXPECT(csv->columns[c][0] != '\0');
        arena_close(arena);
    }
    walk_close(folder);
}

TEST(every_command_answers_as_plain_text_without_colours) {
    char name[] = "/tmp/lockstep-answers-plain-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        if (!answer_cases[i].kind) continue;
        int status = walk_shell(folder, "$LOCKSTEP %s --plain --color always 2>/dev/null", answer_cases[i].line);
        if (status != 0 || !walk_said[0] || strchr(walk_said, '\033'))
            test_fail(__FILE__, __LINE__, "%s --plain: exit %d, %.200s", answer_cases[i].line, status, walk_said);
    }
    walk_close(folder);
}

// The command that has an -o of its own writes something else there.
static bool has_an_output(const AnswerCase *one) {
    return one->kind && !strstr(one->line, "calibrate fit") && !strstr(one->line, "calibrate show");
}

// The same bytes as on the screen.
TEST(every_command_writes_its_answer_to_a_file) {
    static char printed[WALK_SAID];
    char name[] = "/tmp/lockstep-answers-file-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        if (!has_an_output(&answer_cases[i])) continue;
        EXPECT_INT(walk_shell(folder, "$LOCKSTEP %s --plain -q -o $DIR/answer.txt 2>/dev/null", answer_cases[i].line),
                   0);
        if (walk_said[0]) test_fail(__FILE__, __LINE__, "%s -q -o FILE prints %.200s", answer_cases[i].line, walk_said);
        EXPECT_INT(walk_shell(folder, "%s", "cat $DIR/answer.txt"), 0);
        snprintf(printed, sizeof printed, "%s", walk_said);
        bool prints = strncmp(answer_cases[i].line, "merge", 5) != 0; // of points that are merged again
        EXPECT_INT(walk_shell(folder, "$LOCKSTEP %s --plain 2>/dev/null", answer_cases[i].line), 0);
        if (prints && strcmp(walk_said, printed) != 0)
            test_fail(__FILE__, __LINE__, "%s: -o writes %.200s\nnot %.200s", answer_cases[i].line, printed, walk_said);
    }
    walk_close(folder);
}

// Of every command that says its answer in JSON and whose -o is the answer's.
TEST(the_ending_of_a_file_chooses_the_form) {
    char name[] = "/tmp/lockstep-answers-ending-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        const AnswerCase *one = &answer_cases[i];
        if (!has_an_output(one)) continue;
        EXPECT_INT(
            walk_shell(folder, "$LOCKSTEP %s -o $DIR/e.json >$DIR/said 2>&1 && head -c 1 $DIR/e.json", one->line), 0);
        if (strcmp(walk_said, "{") != 0) test_fail(__FILE__, __LINE__, "%s -o e.json writes %s", one->line, walk_said);
    }
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/a.json && head -c 1 $DIR/a.json"), 0);
    EXPECT_TEXT(walk_said, "{");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/a.csv && head -c 6 $DIR/a.csv"), 0);
    EXPECT_TEXT(walk_said, "nodes,");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --json -o $DIR/b.csv && head -c 1 $DIR/b.csv"),
               0);
    EXPECT_TEXT(walk_said, "{");
    walk_close(folder);
}

TEST(an_answer_is_written_whole_or_not_at_all) {
    char name[] = "/tmp/lockstep-answers-whole-XXXXXX";
    const char *folder = walk_open(name);
    EXPECT_INT(walk_shell(folder, "%s", "echo old >$DIR/a.csv; $LOCKSTEP power --node dgx-h1000 -o $DIR/a.csv 2>&1"),
               4);
    EXPECT_CONTAINS(walk_said, "dgx-h1000");
    EXPECT_INT(walk_shell(folder, "%s", "cat $DIR/a.csv; ls $DIR | grep -c tmp"), 1);
    EXPECT_TEXT(walk_said, "old\n0\n");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/no/a.csv 2>&1"), 2);
    EXPECT_CONTAINS(walk_said, "its folder does not exist");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv -o /dev/full 2>&1"), 1);
    EXPECT_CONTAINS(walk_said, "cannot be written");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o /dev/full 2>&1"), 1);
    EXPECT_CONTAINS(walk_said, "cannot be written");
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv 2>&1 >/dev/full"), 1);
    EXPECT_CONTAINS(walk_said, "standard output cannot be written");
    walk_close(folder);
}

TEST(an_answer_has_one_form) {
    char name[] = "/tmp/lockstep-answers-form-XXXXXX";
    const char *folder = walk_open(name);
    for (int i = 0; i < answer_case_count; i++) {
        if (!answer_cases[i].kind) continue;
        int status = walk_shell(folder, "$LOCKSTEP %s --csv --json 2>&1", answer_cases[i].line);
        if (status != 2)
            test_fail(__FILE__, __LINE__, "%s --csv --json: exit %d, %.200s", answer_cases[i].line, status, walk_said);
    }
    EXPECT_INT(walk_shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv --plain 2>&1"), 2);
    EXPECT_CONTAINS(walk_said, "an answer has one form");
    walk_close(folder);
}

TEST(text_is_not_written_into_what_is_called_a_picture_or_a_page) {
    char name[] = "/tmp/lockstep-answers-form-XXXXXX";
    const char *folder = walk_open(name);
    static const char *const endings[] = {"png", "svg", "html", "pdf"};
    for (int i = 0; i < 4; i++) {
        EXPECT_INT(walk_shell(folder, "$LOCKSTEP power --node dgx-h100 -o $DIR/x.%s 2>&1", endings[i]), 2);
        EXPECT_CONTAINS(walk_said, "the answer is text or data");
    }
    EXPECT_INT(walk_shell(folder, "%s", "ls $DIR | grep ^x"), 1);
    EXPECT_TEXT(walk_said, "");
    walk_close(folder);
}

// Two walls: the file is made before the wall round a script stands, and takes its name after.
TEST(an_answer_of_a_walled_command_reaches_its_file) {
    char name[] = "/tmp/lockstep-answers-wall-XXXXXX";
    const char *folder = walk_open(name);
    EXPECT_INT(walk_shell(folder, "%s",
                          "echo 'return function() return {} end' >$DIR/s.lua; $LOCKSTEP collective all_reduce --steps "
                          "$DIR/s.lua --node dgx-a100 --sizes 1M -o $DIR/sub.json; head -c 1 $DIR/sub.json"),
               0);
    EXPECT_TEXT(walk_said, "{");
    walk_close(folder);
}

TEST(every_command_of_the_help_is_held_to_its_manners) {
    char names[4096], name[] = "/tmp";
    EXPECT_INT(walk_shell(name, "%s", "$LOCKSTEP --help | sed -n '/^Commands:/,/^$/s/^  \\([a-z]*\\) .*/\\1/p'"), 0);
    snprintf(names, sizeof names, "%.4000s", walk_said);
    int seen = 0;
    for (char *at = strtok(names, "\n"); at; at = strtok(NULL, "\n"), seen++) {
        bool found = false;
        for (int i = 0; i < answer_case_count; i++)
            found = found || (strncmp(answer_cases[i].line, at, strlen(at)) == 0 &&
                              strchr(" ", answer_cases[i].line[strlen(at)]) != NULL);
        for (int i = 0; i < answer_exempt_count; i++) found = found || strcmp(answer_exempt[i], at) == 0;
        if (!found) test_fail(__FILE__, __LINE__, "no line of tests/test_answers.c asks lockstep %s", at);
    }
    EXPECT(seen >= 20);
}
