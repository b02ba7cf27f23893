// The course: every problem is solved by the change that it names, and by none of the wrong ones.
#include <dirent.h>
#include <string.h>

#include "scenarios/lua/lua_course.h"
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
