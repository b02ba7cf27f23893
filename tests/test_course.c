// The course: every problem is solved by the change that it names, and by none of the wrong ones.
#include <dirent.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "scenarios/lua/scenario.h"
#include "sim/system/file.h"
#include "tests/script.h"
#include "tests/test.h"

typedef struct Ids {
    Arena *arena;
    const char *items[200], *names[200];
    int count;
} Ids;

static void take_ids(lua_State *L, void *context) {
    Ids *ids = context;
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1) && ids->count < 200; i++) {
        lua_rawgeti(L, -1, i);
        ids->items[ids->count] = course_text(L, "id");
        ids->names[ids->count++] = course_text(L, "name");
        lua_pop(L, 1);
    }
}

// What is not as a problem says.
static void take_wrongs(lua_State *L, void *context) {
    (void)context;
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        EXPECT_TEXT(lua_tostring(L, -1), "");
        lua_pop(L, 1);
    }
}

static Ids ids_of(Arena *arena, Course *course) {
    Ids ids = {.arena = arena};
    CourseCall call = {"list", {NULL}, take_ids, &ids};
    EXPECT(course_call(course, &call));
    return ids;
}

LONG_TEST(20, every_problem_is_solved_by_its_solution_and_by_no_wrong_guess_or_change) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Course *course = course_open(arena, test_catalogue(), problems);
    EXPECT(course != NULL);
    Ids ids = {0};
    if (course) ids = ids_of(arena, course);
    if (course) course_close(course);
    EXPECT(ids.count > 0);
    for (int i = 0; i < ids.count; i++) {
        Arena *own = arena_open();
        Problems *raised = problems_create(own);
        Course *asked = course_open(own, test_catalogue(), raised);
        CourseCall call = {"prove", {ids.items[i], "60"}, take_wrongs, NULL};
        if (!asked || !course_call(asked, &call)) EXPECT_TEXT(ids.names[i], "no error");
        problems_print(raised, stdout);
        if (asked) course_close(asked);
        arena_close(own);
    }
    arena_close(arena);
}

typedef struct Paths {
    const char *page;
    int with_path;
} Paths;

static void take_paths(lua_State *L, void *context) {
    Paths *paths = context;
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        const char *path = course_text(L, "paths"), *week = strstr(path, "six weeks: week ");
        paths->with_path += *path != '\0';
        const char *row = strstr(paths->page, "| week | together");
        for (int n = week ? atoi(week + strlen("six weeks: week ")) + 1 : 0; row && n > 0; n--)
            row = strchr(row, '\n') ? strchr(row, '\n') + 1 : NULL;
        EXPECT(row != NULL);
        const char *end = row ? strchr(row, '\n') : NULL, *id = row ? strstr(row, course_text(L, "id")) : NULL;
        if (week && !(id && end && id < end)) EXPECT_TEXT(course_text(L, "id"), "in its week's row of docs/course.md");
        lua_pop(L, 1);
    }
}

TEST(paths_through_the_course_are_those_of_its_page) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Course *course = course_open(arena, test_catalogue(), problems);
    size_t bytes = 0;
    Paths paths = {.page = file_read(arena, "docs/course.md", 1 << 20, &bytes, problems)};
    CourseCall call = {"list", {NULL}, take_paths, &paths};
    EXPECT(paths.page && course_call(course, &call));
    EXPECT_INT(paths.with_path, 38);
    course_close(course);
    arena_close(arena);
}

TEST(every_file_of_the_course_is_a_problem_of_it) {
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    Ids ids = ids_of(arena, course);
    course_close(course);
    DIR *folder = opendir("scenarios/lessons/course");
    int files = 0;
    EXPECT(folder != NULL);
    for (struct dirent *entry; folder && (entry = readdir(folder));) files += strstr(entry->d_name, ".lua") != NULL;
    if (folder) closedir(folder);
    EXPECT_INT(files, ids.count + 1); // and course.lua
    arena_close(arena);
}

// ---- A student's file.

typedef struct Told {
    const char *problem, *why, *text, *code;
    bool right;
} Told;

static void take_told(CourseTable *table, void *context) {
    *(Told *)context = (Told){course_text(table, "problem"), course_text(table, "why"), course_text(table, "text"),
                              course_text(table, "code"), course_truth(table, "right")};
}

static Told ask(Course *course, const char *function, const char *first, const char *second) {
    Told told = {0};
    CourseCall call = {function, {first, second}, take_told, &told};
    EXPECT(course_call(course, &call));
    return told;
}

// The text with the first `old` in it replaced.
static const char *with(Arena *arena, const char *text, const char *old, const char *new) {
    const char *at = strstr(text, old);
    EXPECT(at != NULL);
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) : text;
}

TEST(of_a_students_file_only_plain_values_of_its_table_count) {
    static const struct {
        const char *old, *new, *problem;
    } cases[] = {
        {"guess = nil", "guess = nil", "guess first"},
        {"guess = nil", "guess = \"many\"", "the guess is a number, in %"},
        {"guess = nil", "guess = 5, speed = 3", "no plain value"},
        {"guess = nil", "guess = (function() return 5 end)()", "no plain value"},
        {"kib = ", "kib = true, --", "kib is a number here"},
        {"guess = nil,", "guess = 5,\n  speed = 3,", "the table has no \"speed\""},
        {"guess = nil,", "guess = 5,\n  guess = 6,", "stands twice"},
        {"guess = nil,", "guess = 5,\n  kib 64,", "cannot be read"},
        {"r:all_reduce { bytes", "r:all_reduce { bytes = 1 } --", "below the table is not as it was"},
        {"local set = {", "local set = { --", "table of settings is gone"},
        {"-- Problem 2.2", "-- Problem 9.9", "no file of the course"},
        {"seed 1:", "seed 99999999999999999999:", "no file of the course"},
    };
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    const char *text = ask(course, "start", "half_speed", "1").text;
    EXPECT(text != NULL);
    for (size_t i = 0; text && i < sizeof cases / sizeof *cases; i++) {
        Told told = ask(course, "check", with(arena, text, cases[i].old, cases[i].new), NULL);
        EXPECT(!told.right);
        EXPECT_CONTAINS(told.problem ? told.problem : "", cases[i].problem);
    }
    course_close(course);
    arena_close(arena);
}

TEST(a_goal_that_is_reached_by_changing_the_question_does_not_count) {
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    const char *text = with(arena, ask(course, "start", "ring_factor", "1").text, "guess = nil", "guess = 40");
    Told fewer = ask(course, "check", with(arena, text, "mib = ", "mib = 1 --"), NULL);
    EXPECT(!fewer.right && !fewer.code);
    EXPECT_CONTAINS(fewer.why, "mib is part of the question");
    Told quicker = ask(course, "check", with(arena, text, "ib-edr100", "ib-hdr200"), NULL);
    EXPECT(quicker.right && quicker.code);
    EXPECT_CONTAINS(ask(course, "check", text, NULL).why, "Nothing has been changed yet");
    const char *slow = with(arena, ask(course, "start", "slow_one", "1").text, "guess = nil", "guess = 30");
    Told bought = ask(course, "check", with(arena, slow, "machines = 8", "machines = 16"), NULL);
    EXPECT(!bought.right && !bought.code);
    EXPECT_CONTAINS(bought.why, "machines is a whole number from 1 to 8 here");
    course_close(course);
    arena_close(arena);
}

TEST(a_change_that_does_not_fit_or_is_no_choice_solves_nothing_and_says_so) {
    static const struct {
        const char *problem, *old, *new, *said;
    } cases[] = {
        {"2.4", "pcie-8gpu-a100", "dgx-h100", "\"dgx-h100\" is no node here"},
        {"2.7", "\"none\"", "\"even\"", "\"even\" is no receives_first here"},
        {"3.2", "accumulation = 1", "accumulation = 100000", "from 1 to 64"},
        {"4.2", "1f1b", "zb-v", "\"zb-v\" is no schedule here"},
        {"4.2", "batches = 8", "batches = 33", "30.2 %. At most 30.0 % are asked for"},
        {"4.3", "pieces = 1", "pieces = 3", "3 is no pieces here"},
        {"5.1", "micro = 1", "micro = 16", "memory runs out with a chance of 46 %"},
        {"5.5", "lora_rank = 0", "lora_rank = 16", "memory runs out with a chance of 86 %"},
        {"8.2", "recompute = \"full\"", "recompute = \"none\"", "memory runs out with a chance of 90 %"},
        {"8.2", "recompute = \"full\"", "recompute = \"selective\"", "memory runs out with a chance of 47 %"},
    };
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = ask(course, "start", cases[i].problem, "1").text;
        const char *guess = strstr(text, "one of done") ? "guess = \"done\"" : "guess = 20";
        text = with(arena, with(arena, text, "guess = nil", guess), cases[i].old, cases[i].new);
        Told told = ask(course, "check", text, NULL);
        EXPECT(!told.right && !told.code);
        EXPECT_CONTAINS(told.problem ? told.problem : told.why ? told.why : "", cases[i].said);
    }
    course_close(course);
    arena_close(arena);
}

TEST(every_machine_of_eight_a100_may_be_chosen_where_one_is_asked_for) {
    static char said[1 << 12];
    static const char each[] =
        "$LOCKSTEP hw list node | grep ' 8 x A100' | while read name rest; do echo; grep -q "
        "\"\\\"$name\\\"\" scenarios/lessons/course/nvlink_or_pcie.lua || echo $name; done | sort -u";
    EXPECT_INT(test_shell(each, said, sizeof said), 0);
    EXPECT_TEXT(said, "\n");
}

TEST(what_does_not_run_is_told_of_the_students_own_file_with_what_may_be_meant) {
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    const char *text = with(arena, ask(course, "start", "2.1", "1").text, "guess = nil", "guess = 40");
    text = with(arena, text, "ib-edr100", "ib-hdr20");
    static const char told[] = ": no fabric is called \"ib-hdr20\"; did you mean \"ib-hdr200\"?";
    EXPECT_CONTAINS(ask(course, "check", text, "try.lua").why, arena_printf(arena, "try.lua:22%s", told));
    course_close(course);
    course = course_open(arena, test_catalogue(), problems_create(arena));
    text = with(arena, text, "local set = {", "-- a note\n-- and another\nlocal set = {");
    EXPECT_CONTAINS(ask(course, "check", text, "own.lua").why, arena_printf(arena, "own.lua:24%s", told));
    course_close(course);
    arena_close(arena);
}

TEST(a_guess_may_be_said_in_other_units_and_what_cannot_be_meant_is_asked_again) {
    static const struct {
        const char *problem, *guess, *stands, *said; // what stands in the file then, or why it does not
    } cases[] = {
        {"2.1", "48", "guess = 48,", NULL},
        {"2.1", "0.048 s", "guess = 48.0,", NULL},
        {"2.1", "-3 ms", NULL, "below 0"},
        {"2.1", "1e9", NULL, "off by a factor of a thousand or more: is it in ms?"},
        {"2.1", "48 GiB", NULL, "a number, in ms"},
        {"2.1", "4,8", NULL, "a number, in ms"},
        {"2.4", "14x", "guess = 14,", NULL},
        {"2.4", "14.3\303\227", "guess = 14.3,", NULL},
        {"2.4", "14 times", "guess = 14,", NULL},
        {"1.1", "164 %", NULL, "100 % at most"},
        {"3.2", "0.92", NULL, "is 0.92 a share, 92 %, or is it 0.92 %?"},
        {"3.2", "0.92 %", "guess = 0.92,", NULL},
        {"2.7", "Deadlock", "guess = \"deadlock\",", NULL},
        {"3.4", "22 GB", "guess = 20.489", NULL},
    };
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Told told = ask(course, "guess", ask(course, "start", cases[i].problem, "1").text, cases[i].guess);
        EXPECT((told.text != NULL) == (cases[i].stands != NULL));
        EXPECT_CONTAINS(told.text ? told.text : "", cases[i].stands ? cases[i].stands : "");
        EXPECT_CONTAINS(told.problem ? told.problem : "", cases[i].said ? cases[i].said : "");
    }
    course_close(course);
    arena_close(arena);
}

TEST(a_code_is_its_students_whatever_its_file_is_called) {
    static char said[1 << 13];
    static const char write[] =
        "DIR=$(mktemp -d); $LOCKSTEP lesson start 2.1 --in $DIR >$DIR/told; "
        "sed 's/guess = nil/guess = 48/; s/ib-edr100/ib-hdr200/' $DIR/ring_factor.lua >$DIR/solved.lua; "
        "$LOCKSTEP lesson check $DIR/solved.lua --code $DIR/ana.code >$DIR/told; "
        "cp $DIR/ana.code \"$DIR/Ana Smith_1234_ana.code\"; "
        "sed 's/by=\"ana\"/by=\"bob\"/' $DIR/ana.code >$DIR/bob.code; "
        "sed 's/ by=\"ana\"//' $DIR/ana.code >$DIR/before.code; "
        "for file in 'Ana Smith_1234_ana.code' bob.code before.code ring_factor.lua; do "
        "$LOCKSTEP lesson grade \"$DIR/$file\" 2>&1; done; : >$DIR/none.code; "
        "$LOCKSTEP lesson grade $DIR/ana.code $DIR/none.code $DIR/Ana*.code; rm -r $DIR";
    EXPECT_INT(test_shell(write, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "ana      2.1");
    EXPECT_CONTAINS(said, "1 of 1 lines are solved");
    EXPECT_CONTAINS(said, "bob      2.1");
    EXPECT_CONTAINS(said, "this line is not as it was written\n");
    EXPECT_CONTAINS(said, "not as it was written, or its file was renamed");
    EXPECT_CONTAINS(said, "ring_factor.lua is no code file");
    EXPECT_CONTAINS(said, "none.code is no code file"); // and the others are graded
    EXPECT_CONTAINS(said, "ana.code already, and counts once\n");
    EXPECT_CONTAINS(said, "1 of 2 lines are solved");
}

TEST(what_comes_next_of_a_students_file_has_its_numbers) {
    static char said[1 << 13];
    static const char asked[] =
        "DIR=$(mktemp -d); L=$(realpath $LOCKSTEP); cd $DIR; for file in 2.1 3.2; do $L lesson start $file --seed 2; "
        "done >told; "
        "$L lesson guess ring_factor.lua 40; $L lesson hint ring_factor.lua 3; "
        "$L lesson guess accumulate.lua 92; sed -i 's/accumulation = 1,/accumulation = 16,/' accumulate.lua; "
        "$L lesson check accumulate.lua; echo >text; $L lesson hint text 2>&1; "
        "$L lesson start 2.1 2>&1; rm -r $DIR";
    EXPECT_INT(test_shell(asked, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "lockstep lesson hint ring_factor.lua ");
    EXPECT_CONTAINS(said, "2 x 512 MiB / 12.5 GB/s"); // 256 MiB are the first student's
    EXPECT_CONTAINS(said, "lockstep lesson start 3.3 --seed 2 ");
    EXPECT_CONTAINS(said, "this is no file of the course");
    EXPECT_CONTAINS(said, "another seed's numbers, and stays as it is");
    EXPECT_CONTAINS(said, "--in DIR");
}

// The share of the exchange is what is guessed, and tokens a second what is asked for.
TEST(a_check_shows_the_figures_by_which_it_judges) {
    static char said[1 << 12];
    static const char asked[] = "DIR=$(mktemp -d); L=$(realpath $LOCKSTEP); cd $DIR; $L lesson start 3.2 >told; $L "
                                "lesson guess accumulate.lua 92% >told; "
                                "sed -i 's/accumulation = 1,/accumulation = 16,/' accumulate.lua; "
                                "$L lesson check accumulate.lua; rm -r $DIR";
    EXPECT_INT(test_shell(asked, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "tokens a second ");
    EXPECT_CONTAINS(said, "  data parallel ");
}

TEST(students_have_numbers_of_their_own_and_the_same_each_time) {
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    int differ = 0;
    for (int seed = 1; seed <= 20; seed++) {
        const char *text = ask(course, "start", "ring_factor", arena_printf(arena, "%d", seed)).text;
        const char *again = ask(course, "start", "2.1", arena_printf(arena, "%d", seed)).text;
        const char *other = ask(course, "start", "2.1", arena_printf(arena, "%d", seed + 1)).text;
        EXPECT_TEXT(text, again);
        differ += strcmp(strchr(text, '\n'), strchr(other, '\n')) != 0; // behind the line that says the seed
    }
    EXPECT(differ >= 10);
    course_close(course);
    arena_close(arena);
}

LONG_TEST(3, every_problem_is_asked_on_one_small_screen) {
    static char said[1 << 12];
    static const char each[] =
        "DIR=$(mktemp -d); $LOCKSTEP lesson list --plain | grep -oE '^[1-8]\\.[0-9]+' | while read id; do "
        "$LOCKSTEP lesson start $id --in $DIR >$DIR/screen || echo $id fails; "
        "awk -v id=$id 'length > 80 { wide = 1 } END { if (NR > 24 || wide) print id, NR }' $DIR/screen; "
        "done; ls $DIR | grep -c 'lua$'; rm -r $DIR";
    EXPECT_INT(test_shell(each, said, sizeof said), 0);
    Arena *arena = arena_open();
    Course *course = course_open(arena, test_catalogue(), problems_create(arena));
    EXPECT_TEXT(said, arena_printf(arena, "%d\n", ids_of(arena, course).count));
    course_close(course);
    arena_close(arena);
}

// Colours are the page's; names, which stand beside the program's own in a problem, are not.
TEST(the_page_has_the_programs_names_of_causes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    size_t bytes = 0;
    const char *page = file_read(arena, "web/drawing.js", 1 << 20, &bytes, problems);
    EXPECT(page != NULL);
    for (int cause = 0; page && cause < CAUSE_COUNT; cause++) {
        const char *quote = strchr(cause_names[cause], '-') ? "\"" : "";
        EXPECT_CONTAINS(
            page, arena_printf(arena, "%s%s%s: [\"%s\", ", quote, cause_names[cause], quote, cause_titles[cause]));
    }
    arena_close(arena);
}

TEST(a_sheet_says_whose_numbers_it_has) {
    char said[40000];
    EXPECT_INT(test_shell("$LOCKSTEP lesson sheet --track 2 --seed 7 --json", said, sizeof said), 0);
    EXPECT_CONTAINS(said, "\"title\": \"The course, numbers of seed 7\"");
}
