// lockstep lesson: the course. Problems and their solutions are checked in scenarios/lessons/course; this file reads
// command lines and files, and prints.
#include "scenarios/questions/lesson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "results/answer/frame.h"
#include "scenarios/lua/scenario.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define LARGEST_FILE ((size_t)1 << 20)
#define ARGUMENTS_MOST 64
#define TAG_BYTES 6

static const OptionSpec own_options[] = {
    {"seed", OPTION_COUNT, "N", .of = OF_QUESTION,
     .help = "start, sheet, and hint of a number: the numbers of one student (default 1)"},
    {"in", OPTION_TEXT, "DIR", .of = OF_FORM,
     .help = "start: the folder where the file is written (default: this one)"},
    {"code", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "check: what is solved is added to this file, for grade"},
    {"track", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "list, sheet: of one track alone"},
    {"answers", OPTION_FLAG, .of = OF_QUESTION, .help = "sheet: with what is right, for the one who teaches"},
    WALL_OPTION,
};

static const char usage[] =
    "lockstep lesson list | start N | guess FILE VALUE | check FILE | hint N|FILE [1-3] | grade FILE… "
    "| sheet | words [WORD] [OPTIONS]";
static const char about[] =
    "The course: problems of one idea each (docs/course.md). start writes a scenario; guess first, then change it and\n"
    "have it checked. Three hints: concept, principle, answer. words explains the field's; sheet prints problems;\n"
    "lockstep report lesson sheet -o sheet.html makes a page of it.\n\n"
    "  lockstep lesson start 2.1\n"
    "  lockstep lesson guess ring_factor.lua \"80 ms\"\n"
    "  lockstep lesson check ring_factor.lua --code ana.code\n"
    "  lockstep lesson grade ana.code";

typedef struct CodeLine {
    const char *file, *line;
} CodeLine;
typedef LIST_OF(CodeLine) CodeLines;

typedef struct Lesson {
    Arena *arena;
    Answer *answer;
    const Options *options;
    Problems *problems;
    Course *course;
    const char *file;       // that the student named, or will have
    const char *write;      // the text to be written there, or NULL
    const char *code;       // a line for the student's code, or NULL
    const char *student;    // whose code is graded
    bool altered;           // the line that is graded was edited
    const char *note;       // explains it then
    CodeLines seen;         // that were graded so far
    const char *before;     // where the line that is graded was handed in already, or NULL
    int graded, right;      // lines so far
    bool refused, is_wrong; // a problem was reported; the answer is no
} Lesson;

// ---- What a call gave, as an answer.

static bool is_refused(CourseTable *table, Lesson *lesson) {
    const char *text = course_text(table, "problem"), *hint = course_text(table, "hint");
    if (!text) return false;
    double line = course_number(table, "line");
    problem_add(lesson->problems, (Where){lesson->file, line > 0 ? (int)line : 0}, "%s", text);
    if (hint) problem_hint(lesson->problems, "%s", hint);
    lesson->refused = true;
    return true;
}

static void for_programs(CourseTable *table, Lesson *lesson, const char *key) {
    const char *text = course_text(table, key);
    answer_detail(lesson->answer, FOR_PROGRAMS);
    if (text) answer_text(lesson->answer, key, NULL, text);
    answer_detail(lesson->answer, FOR_ALL);
}

static void say(CourseTable *table, Lesson *lesson, const char *key, const char *label) {
    const char *text = course_text(table, key);
    if (text) answer_say(lesson->answer, label, "%s", text);
    for_programs(table, lesson, key);
}

static void add_title(CourseTable *table, Lesson *lesson, const char *verdict) {
    answer_say(lesson->answer, NULL, "%s %s%s", course_text(table, "id"), course_text(table, "title"), verdict);
    for_programs(table, lesson, "id");
    for_programs(table, lesson, "title");
}

static void take_list(CourseTable *table, void *context) {
    static const AnswerColumn columns[] = {{"id", "no.", AS_TEXT, 0},
                                           {"title", "problem", AS_TEXT, 0},
                                           {"name", "file", AS_TEXT, 0},
                                           {"track", NULL, AS_TEXT, 0},
                                           {"paths", NULL, AS_TEXT, 0}};
    Lesson *lesson = context;
    const char *track = "", *tracks = NULL;
    if (is_refused(table, lesson)) return;
    answer_table(lesson->answer, "problems", NULL, columns, COUNT_OF(columns));
    for (int i = 1; i <= course_items(table); i++) {
        course_enter_item(table, i);
        const char *id = course_text(table, "id"), *now = course_text(table, "track"),
                   *name = course_text(table, "name");
        ANSWER_ROW(lesson->answer, id, course_text(table, "title"), name, now, course_text(table, "paths"));
        if (strcmp(track, now) != 0)
            tracks = arena_printf(lesson->arena, "%s%s%.*s %s", tracks ? tracks : "", tracks ? "; " : "",
                                  (int)strcspn(id, "."), id, now);
        track = now;
        course_leave(table);
    }
    answer_say(lesson->answer, "Tracks", "%s", tracks);
    answer_next(lesson->answer, "lockstep lesson start 2.1", "writes a problem's file, and asks");
}

static void add_settings(CourseTable *table, Lesson *lesson) {
    static const AnswerColumn columns[] = {{"name", "setting", AS_TEXT, 0},
                                           {"value", "is", AS_TEXT, 0},
                                           {"free", "yours", AS_BOOL, 0},
                                           {"help", "what", AS_TEXT, 0},
                                           {"may_be", NULL, AS_TEXT, 0}};
    answer_table(lesson->answer, "settings", NULL, columns, COUNT_OF(columns));
    course_enter(table, "settings");
    for (int i = 1; i <= course_items(table); i++) {
        course_enter_item(table, i);
        bool free_to_change = course_truth(table, "free");
        ANSWER_ROW(lesson->answer, course_text(table, "name"), course_text(table, "value"),
                   answer_shown(AS_BOOL, free_to_change, free_to_change ? "yes" : ""), course_text(table, "help"),
                   course_text(table, "may_be"));
        course_leave(table);
    }
    course_leave(table);
}

static void take_start(CourseTable *table, void *context) {
    Lesson *lesson = context;
    if (is_refused(table, lesson)) return;
    const char *folder = option_text(lesson->options, "in", NULL);
    lesson->file = course_text(table, "file");
    if (folder) lesson->file = arena_printf(lesson->arena, "%s/%s", folder, lesson->file);
    lesson->write = course_text(table, "text");
    add_title(table, lesson, "");
    say(table, lesson, "question", NULL);
    say(table, lesson, "ask", "Guess");
    say(table, lesson, "task", "Then");
    add_settings(table, lesson);
    static const char *const more[] = {"track", "name", "guess_help", "guess_unit", "guess_may_be", "file", "text"};
    for (int i = 0; i < COUNT_OF(more); i++) for_programs(table, lesson, more[i]);
    answer_say(lesson->answer, "Written", "%s: a scenario, for lockstep run and explain too; change what is yours",
               lesson->file);
    answer_next(lesson->answer, arena_printf(lesson->arena, "lockstep lesson guess %s VALUE", lesson->file),
                course_text(table, "guess_help"));
}

static void add_guess(CourseTable *table, Lesson *lesson, const char *right, const char *why) {
    bool is_right = course_truth(table, right);
    answer_say(lesson->answer, "Guess", "%s; the simulation says %s: %s", course_text(table, "guess"),
               course_text(table, "truth"), is_right ? "right" : "not near enough");
    answer_detail(lesson->answer, FOR_PROGRAMS);
    answer_bool(lesson->answer, "guess_right", NULL, is_right);
    answer_detail(lesson->answer, FOR_ALL);
    for_programs(table, lesson, "guess");
    for_programs(table, lesson, "truth");
    say(table, lesson, why, "Why");
}

static void add_hint(Lesson *lesson) {
    answer_next(lesson->answer, arena_printf(lesson->arena, "lockstep lesson hint %s", lesson->file),
                "the concept; 2 the principle, 3 the answer");
}

static void take_guess(CourseTable *table, void *context) {
    Lesson *lesson = context;
    if (is_refused(table, lesson)) return;
    lesson->write = course_text(table, "text");
    add_title(table, lesson, "");
    add_guess(table, lesson, "right", "why");
    say(table, lesson, "task", "Now");
    answer_next(lesson->answer, arena_printf(lesson->arena, "lockstep lesson check %s", lesson->file),
                "when its table is changed");
    add_hint(lesson);
}

static AnswerUnit unit_of(const char *name) {
    static const struct {
        const char *name;
        AnswerUnit unit;
    } units[] = {{"time", AS_SECONDS}, {"bytes", AS_BYTES}, {"share", AS_SHARE}, {"days", AS_DAYS},
                 {"money", AS_MONEY},  {"kwh", AS_KWH},     {"count", AS_COUNT}};
    for (int i = 0; i < COUNT_OF(units); i++)
        if (strcmp(units[i].name, name) == 0) return units[i].unit;
    return AS_NUMBER;
}

static void add_figures(CourseTable *table, Lesson *lesson) {
    static const AnswerColumn columns[] = {{"figure", "figure", AS_TEXT, 0},
                                           {"as_asked", "as asked", AS_NUMBER, 0},
                                           {"changed", "changed", AS_NUMBER, 0},
                                           {"unit", NULL, AS_TEXT, 0}};
    answer_table(lesson->answer, "figures", NULL, columns, COUNT_OF(columns));
    course_enter(table, "figures");
    for (int i = 1; i <= course_items(table); i++) {
        course_enter_item(table, i);
        const char *kind = course_text(table, "unit");
        AnswerUnit unit = unit_of(kind);
        ANSWER_ROW(lesson->answer, course_text(table, "title"), answer_of(unit, course_number(table, "old")),
                   answer_of(unit, course_number(table, "new")), kind);
        if (course_truth(table, "more")) answer_row_detail(lesson->answer, FOR_VERBOSE);
        course_leave(table);
    }
    course_leave(table);
}

// What is to be learned of it, once it is solved.
static void add_lesson(CourseTable *table, Lesson *lesson) {
    say(table, lesson, "notice", "Notice");
    say(table, lesson, "formula", "Formula");
    say(table, lesson, "measured", "Measured");
}

static void take_check(CourseTable *table, void *context) {
    Lesson *lesson = context;
    if (is_refused(table, lesson)) return;
    bool right = course_truth(table, "right");
    lesson->is_wrong = !right;
    lesson->code = course_text(table, "code");
    add_title(table, lesson, right ? ": solved." : ": not solved.");
    answer_detail(lesson->answer, FOR_PROGRAMS);
    answer_bool(lesson->answer, "right", NULL, right);
    answer_detail(lesson->answer, FOR_ALL);
    say(table, lesson, "why", NULL);
    add_figures(table, lesson);
    add_guess(table, lesson, "guess_right", "guess_why");
    add_lesson(table, lesson);
    for_programs(table, lesson, "code");
    for_programs(table, lesson, "next");
    const char *next = course_text(table, "next");
    int seed = (int)course_number(table, "seed");
    if (!right) {
        add_hint(lesson);
        answer_next(lesson->answer, arena_printf(lesson->arena, "lockstep explain %s", lesson->file),
                    "what it takes its time for");
    } else if (next) {
        const char *numbers = seed == 1 ? "" : arena_printf(lesson->arena, " --seed %d", seed);
        answer_next(lesson->answer, arena_printf(lesson->arena, "lockstep lesson start %s%s", next, numbers),
                    "the next problem");
    }
}

static void take_hint(CourseTable *table, void *context) {
    Lesson *lesson = context;
    if (is_refused(table, lesson)) return;
    add_title(table, lesson, "");
    say(table, lesson, "hint", course_text(table, "kind"));
}

static void add_sheet_answers(CourseTable *table, Lesson *lesson) {
    if (!course_text(table, "answer")) {
        answer_say(lesson->answer, "My guess", "____________________");
        answer_say(lesson->answer, "My change", "____________________");
        return;
    }
    say(table, lesson, "answer", "Right guess");
    say(table, lesson, "solution", "Right change");
    add_lesson(table, lesson);
}

static const char *seed_text(const Lesson *lesson) {
    return arena_printf(lesson->arena, "%lld", (long long)option_count(lesson->options, "seed", 1));
}

static void take_sheet(CourseTable *table, void *context) {
    Lesson *lesson = context;
    if (is_refused(table, lesson)) return;
    answer_title(lesson->answer, arena_printf(lesson->arena, "The course, numbers of seed %s", seed_text(lesson)));
    answer_open_list(lesson->answer, "problems", NULL);
    for (int i = 1; i <= course_items(table); i++) {
        course_enter_item(table, i);
        answer_open(lesson->answer, NULL,
                    arena_printf(lesson->arena, "%s %s", course_text(table, "id"), course_text(table, "title")));
        for_programs(table, lesson, "id");
        for_programs(table, lesson, "title");
        for_programs(table, lesson, "track");
        say(table, lesson, "question", NULL);
        say(table, lesson, "ask", arena_printf(lesson->arena, "Guess (%s)", course_text(table, "guess_help")));
        for_programs(table, lesson, "guess_help");
        say(table, lesson, "task", "Task");
        add_settings(table, lesson);
        add_sheet_answers(table, lesson);
        answer_close(lesson->answer);
        course_leave(table);
    }
    answer_close(lesson->answer);
}

// ---- A code: a line of solved problems and who solved them, and a tag that detects typing errors. It does not prove
// the author.

#define BY " by=\""

static const char *tag_of(Arena *arena, const char *student, const char *line) {
    static const char salt[] = "lockstep course 1";
    const char *text = arena_printf(arena, "%s\n%s\n%s", salt, student, line);
    unsigned char digest[SHA256_BYTES];
    sha256(text, strlen(text), digest);
    char *tag = arena_printf(arena, "%*s", 2 * TAG_BYTES, "");
    for (int i = 0; i < TAG_BYTES; i++) snprintf(tag + 2 * (size_t)i, 3, "%02x", digest[i]);
    return tag;
}

// "out/ana.code" is Ana's.
static const char *student_of(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    char *student = arena_printf(arena, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
    for (char *at = student; *at; at++)
        if (*at == '"' || (unsigned char)*at < ' ') *at = '_';
    return student;
}

static bool write_text(Lesson *lesson, const char *path, const char *text) {
    OutputFile file;
    if (!file_create(lesson->arena, path, &file, lesson->problems)) return false;
    fputs(text, file.stream);
    return file_commit(&file, lesson->problems);
}

static void take_grade(CourseTable *table, void *context) {
    Lesson *lesson = context;
    bool right = course_truth(table, "right") && !lesson->altered;
    lesson->graded += !lesson->before;
    lesson->right += right && !lesson->before;
    const char *note = lesson->altered ? lesson->note : lesson->before ? lesson->before : course_text(table, "note");
    ANSWER_ROW(
        lesson->answer, lesson->student, course_text(table, "id"), course_text(table, "title"),
        answer_of(AS_WHOLE, course_number(table, "seed")), answer_shown(AS_BOOL, right, right ? "yes" : "no"),
        answer_shown(AS_BOOL, course_truth(table, "guess_right"), course_truth(table, "guess_right") ? "yes" : "no"),
        course_text(table, "guess"), course_text(table, "truth"), note ? note : "");
}

static bool call(Lesson *lesson, const char *function, const char *first, const char *second, const char *third,
                 CourseTake *take) {
    CourseCall asked = {function, {first, second, third}, take, lesson};
    return course_call(lesson->course, &asked) && !lesson->refused;
}

// A line without a name is of a program that had it in the file's name alone.
static void grade_line(Lesson *lesson, const char *file, char *line) {
    char *tag = strrchr(line, ' '), *by = NULL;
    if (tag) *tag++ = '\0';
    for (char *at = line; (at = strstr(at, BY)); at++) by = at;
    char *end = by ? strchr(by + strlen(BY), '"') : NULL;
    lesson->student = file;
    if (end) {
        *by = *end = '\0';
        lesson->student = by + strlen(BY);
    }
    lesson->altered = !tag || strcmp(tag, tag_of(lesson->arena, lesson->student, line)) != 0;
    lesson->note =
        end ? "this line is not as it was written" : "this line is not as it was written, or its file was renamed";
    call(lesson, "grade", line, NULL, NULL, take_grade);
}

// Whether any line of it is one of a code.
static bool is_code(const char *text) {
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t digits = strspn(line, "0123456789.");
        if (digits > 0 && strncmp(line + digits, " seed=", strlen(" seed=")) == 0) return true;
    }
    return false;
}

// ---- Questions.

typedef struct Ask {
    const char *word, *kind;
    int least, most; // arguments behind the word
    bool (*ask)(Lesson *lesson, const char *const *arguments, int count);
} Ask;

static const char *track_text(const Lesson *lesson) {
    return option_given(lesson->options, "track")
               ? arena_printf(lesson->arena, "%lld", (long long)option_count(lesson->options, "track", 0))
               : NULL;
}

static bool ask_list(Lesson *lesson, const char *const *arguments, int count) {
    (void)arguments, (void)count;
    return call(lesson, "list", track_text(lesson), NULL, NULL, take_list);
}

static bool ask_start(Lesson *lesson, const char *const *arguments, int count) {
    (void)count;
    if (!call(lesson, "start", arguments[0], seed_text(lesson), NULL, take_start)) return false;
    FILE *there = file_peek(lesson->file);
    if (!there) return write_text(lesson, lesson->file, lesson->write);
    fclose(there);
    size_t bytes = 0;
    const char *stands = file_read(lesson->arena, lesson->file, LARGEST_FILE, &bytes, lesson->problems);
    if (!stands || strcmp(stands, lesson->write) == 0) return stands != NULL;
    problem_add(lesson->problems, (Where){lesson->file, 0},
                "the file is there already with other lines or another seed's numbers, and stays as it is");
    return problem_hint(lesson->problems, "go on with it, or begin anew in another folder: --in DIR");
}

static const char *read_given(Lesson *lesson, const char *path) {
    size_t bytes = 0;
    lesson->file = path;
    const char *text = file_read(lesson->arena, path, LARGEST_FILE, &bytes, lesson->problems);
    if (text && strlen(text) < bytes) {
        problem_add(lesson->problems, (Where){path, 0}, "the file holds a NUL, which no text has");
        return problem_hint(lesson->problems, "lockstep lesson start writes files of the course"), NULL;
    }
    return text;
}

static bool raise_wall(const Lesson *lesson, const char *output) {
    WallRules rules = {0};
    if (output) wall_allow_output(lesson->arena, &rules, WALL_REPLACE, output);
    return wall_raise(lesson->arena, &rules, wall_mode_said(lesson->options), lesson->problems);
}

static bool ask_guess(Lesson *lesson, const char *const *arguments, int count) {
    (void)count;
    const char *text = read_given(lesson, arguments[0]);
    return text && raise_wall(lesson, arguments[0]) &&
           call(lesson, "guess", text, arguments[1], arguments[0], take_guess) &&
           write_text(lesson, arguments[0], lesson->write);
}

static bool ask_check(Lesson *lesson, const char *const *arguments, int count) {
    (void)count;
    const char *code = option_text(lesson->options, "code", NULL), *before = "";
    const char *text = read_given(lesson, arguments[0]);
    FILE *there = text && code ? file_peek(code) : NULL;
    if (there) {
        fclose(there);
        before = read_given(lesson, code);
        lesson->file = arguments[0];
    }
    if (!text || !before || !raise_wall(lesson, code) || !call(lesson, "check", text, arguments[0], NULL, take_check))
        return false;
    if (!code || !lesson->code) return true;
    const char *student = student_of(lesson->arena, code);
    const char *line = arena_printf(lesson->arena, "%s" BY "%s\" %s\n", lesson->code, student,
                                    tag_of(lesson->arena, student, lesson->code));
    answer_say(lesson->answer, "Code", "a line in %s", code);
    return strstr(before, line) || write_text(lesson, code, arena_printf(lesson->arena, "%s%s", before, line));
}

// Of a problem, or of a student's file, with its numbers.
static bool ask_hint(Lesson *lesson, const char *const *arguments, int count) {
    const char *number = count > 1 ? arguments[1] : "1", *of = arguments[0];
    FILE *there = file_peek(of);
    if (there) {
        fclose(there);
        if (!(of = read_given(lesson, of))) return false;
    }
    if (strlen(number) == 1 && *number >= '1' && *number <= '3')
        return call(lesson, "hint", of, number, seed_text(lesson), take_hint);
    problem_add(lesson->problems, (Where){0}, "there is no hint \"%.20s\"", number);
    return problem_hint(lesson->problems, "1 is the concept, 2 the principle, 3 the answer");
}

// Where a line was handed in before, of whichever file: it counts once. NULL where it was not.
static const char *handed_in_before(Lesson *lesson, const char *file, const char *line) {
    for (int i = 0; i < lesson->seen.count; i++)
        if (strcmp(lesson->seen.items[i].line, line) == 0)
            return arena_printf(lesson->arena, "this line stands in %s already, and counts once",
                                lesson->seen.items[i].file);
    CodeLine seen = {file, arena_copy_text(lesson->arena, line)};
    LIST_PUSH(lesson->arena, &lesson->seen, seen);
    return NULL;
}

// A file that is no code is told in its row: one of them keeps nobody else from being graded.
static void grade_file(Lesson *lesson, const char *file, const char *text) {
    const char *student = student_of(lesson->arena, file);
    char *rest = arena_copy_text(lesson->arena, text), *state = NULL;
    if (!is_code(text)) {
        lesson->graded++;
        ANSWER_ROW(lesson->answer, student, "", "", answer_of_nothing(), answer_shown(AS_BOOL, false, "no"),
                   answer_of_nothing(), "", "",
                   arena_printf(lesson->arena, "%s is no code file: no line of it is one of a code", file));
        return;
    }
    for (char *line = strtok_r(rest, "\r\n", &state); line; line = strtok_r(NULL, "\r\n", &state)) {
        lesson->before = handed_in_before(lesson, file, line);
        grade_line(lesson, student, line);
    }
}

static bool ask_grade(Lesson *lesson, const char *const *arguments, int count) {
    static const AnswerColumn columns[] = {
        {"student", "student", AS_TEXT, 0}, {"id", "no.", AS_TEXT, 0},          {"title", "problem", AS_TEXT, 3},
        {"seed", "seed", AS_WHOLE, 0},      {"right", "solved", AS_BOOL, 0},    {"guess_right", "guessed", AS_BOOL, 0},
        {"guess", "guess", AS_TEXT, 2},     {"truth", "simulated", AS_TEXT, 2}, {"note", "note", AS_TEXT, BELOW_ROW},
    };
    const char *texts[ARGUMENTS_MOST] = {0};
    for (int i = 0; i < count; i++)
        if (!(texts[i] = read_given(lesson, arguments[i]))) return false;
    if (!raise_wall(lesson, NULL)) return false;
    answer_table(lesson->answer, "lines", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < count; i++) grade_file(lesson, arguments[i], texts[i]);
    lesson->is_wrong = lesson->right < lesson->graded;
    answer_detail(lesson->answer, FOR_PROGRAMS);
    answer_bool(lesson->answer, "all_right", NULL, !lesson->is_wrong);
    answer_detail(lesson->answer, FOR_ALL);
    answer_say(lesson->answer, NULL, "%d of %d lines are solved. Each was simulated again here.", lesson->right,
               lesson->graded);
    return problem_count(lesson->problems) == 0;
}

static bool ask_sheet(Lesson *lesson, const char *const *arguments, int count) {
    (void)arguments, (void)count;
    return call(lesson, "sheet", track_text(lesson), seed_text(lesson),
                option_flag(lesson->options, "answers") ? "answers" : NULL, take_sheet);
}

// ---- The glossary.

typedef struct Met { // where each word is met first
    Lesson *lesson;
    const char **ids;
} Met;

static void take_words(CourseTable *table, void *context) {
    const Met *met = context;
    if (is_refused(table, met->lesson)) return;
    for (int i = 1; i <= course_items(table); i++) {
        course_enter_item(table, i);
        const char *said = course_text(table, "words");
        for (int w = 0; w < lesson_word_count; w++)
            if (!met->ids[w] && lesson_says(said, lesson_words[w].term)) met->ids[w] = course_text(table, "id");
        course_leave(table);
    }
}

static bool ask_words(Lesson *lesson, const char *const *arguments, int count) {
    static const AnswerColumn columns[] = {
        {"word", "word", AS_TEXT, 0}, {"met", "met in", AS_TEXT, 0}, {"what", "what it is", AS_TEXT, 0}};
    const char **ids = ARENA_ARRAY(lesson->arena, const char *, lesson_word_count);
    const char **names = ARENA_ARRAY(lesson->arena, const char *, lesson_word_count);
    const char *wanted = count > 0 ? arguments[0] : NULL;
    bool found = false;
    CourseCall asked = {"list", {NULL, NULL, NULL}, take_words, &(Met){lesson, ids}};
    if (!course_call(lesson->course, &asked) || lesson->refused) return false;
    answer_table(lesson->answer, "words", NULL, columns, COUNT_OF(columns));
    for (int w = 0; w < lesson_word_count; w++) {
        names[w] = lesson_words[w].term;
        if (wanted && strcasecmp(wanted, names[w]) != 0) continue;
        found = true;
        ANSWER_ROW(lesson->answer, names[w], ids[w], lesson_words[w].what);
    }
    if (found) return true;
    problem_add(lesson->problems, (Where){0}, "the course has no word \"%.40s\"", wanted);
    problem_hint_names(lesson->problems, wanted, names, lesson_word_count);
    return false;
}

static const Ask asks[] = {
    {"list", "lesson-list", 0, 0, ask_list},    {"start", "lesson", 1, 1, ask_start},
    {"guess", "lesson-guess", 2, 2, ask_guess}, {"check", "lesson-check", 1, 1, ask_check},
    {"hint", "lesson-hint", 1, 2, ask_hint},    {"grade", "lesson-grade", 1, ARGUMENTS_MOST, ask_grade},
    {"sheet", "lesson-sheet", 0, 0, ask_sheet}, {"words", "lesson-words", 0, 1, ask_words},
};

static const Ask *asked(const Options *options, Problems *problems) {
    const char *names[COUNT_OF(asks)], *word = option_positional_count(options) ? option_positional(options, 0) : NULL;
    for (int i = 0; i < COUNT_OF(asks); i++) {
        names[i] = asks[i].word;
        if (!word || strcmp(word, asks[i].word) != 0) continue;
        int count = option_positional_count(options) - 1;
        if (count >= asks[i].least && count <= asks[i].most) return &asks[i];
        problem_add(problems, (Where){0}, "lesson %s takes another number of words behind it than %d", word, count);
        problem_hint(problems, "%s", usage);
        problem_is_usage(problems);
        return NULL;
    }
    if (word) {
        problem_add(problems, (Where){0}, "lesson knows no \"%.40s\"", word);
        problem_hint_names(problems, word, names, COUNT_OF(asks));
    } else {
        problem_add(problems, (Where){0}, "lesson needs a word");
        problem_hint(problems, "for example: lockstep lesson list");
    }
    problem_is_usage(problems);
    return NULL;
}

static int ask(Asking *asking) {
    const Ask *question = asked(asking->options, asking->problems);
    if (!question) return EXIT_BAD_INPUT;
    Lesson lesson = {
        .arena = asking->arena, .answer = asking->answer, .options = asking->options, .problems = asking->problems};
    const char *arguments[ARGUMENTS_MOST];
    int count = option_positional_count(asking->options) - 1;
    for (int i = 0; i < count; i++) arguments[i] = option_positional(asking->options, i + 1);
    answer_rename(asking->answer, question->kind);
    lesson.course = course_open(asking->arena, catalogue_builtin(asking->arena), asking->problems);
    if (!lesson.course) return EXIT_BAD_INPUT;
    bool good = question->ask(&lesson, arguments, count);
    course_close(lesson.course);
    return !good ? EXIT_BAD_INPUT : lesson.is_wrong ? EXIT_NO : EXIT_DONE;
}

const Question lesson_question = {.name = "lesson",
                                  .help = "the course: guess, change, see why",
                                  .usage = usage,
                                  .about = about,
                                  .own = own_options,
                                  .own_count = COUNT_OF(own_options),
                                  .positional = ARGUMENTS_MOST,
                                  .ask = ask};

int command_lesson(int argc, char **argv);
int command_lesson(int argc, char **argv) { return frame_run(&lesson_question, argc, argv); }
