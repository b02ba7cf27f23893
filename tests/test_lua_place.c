// Finding the line of a field in the source of a script.
#include "scenarios/lua/lua_read.h"
#include "tests/test.h"

static const char source[] = "local sim = require 'lockstep' -- sim.cluster { node = 1 }\n"             // 1
                             "--[[ cluster { node = 2,\n ]] local cluster = sim.cluster {\n"            // 2, 3
                             "  name = \"} not the end { \", other = [==[ ]] } ]==],\n"                 // 4
                             "  nested = { node = 3, { node = 4 } }, call = f(a, { node = 5 }),\n"      // 5
                             "  f = function() local node = 6 if x then return { node = 7 } end end,\n" // 6
                             "  node =\n"                                                               // 7
                             "    'dgx', [\"text key\"] = 8; [1 + 2] = 9,\n"                            // 8
                             "  same == 3, list = { 1, x = 2, 3,\n"                                     // 9
                             "     { node = 'inner' } },\n"                                             // 10
                             "}\n";                                                                     // 11

TEST(a_key_is_found_at_its_own_depth_only) {
    Place table = place_of_call(source, 3, "cluster");
    EXPECT_INT(table.line, 3);
    EXPECT_INT(place_of_key(table, "name").line, 4);
    EXPECT_INT(place_of_key(table, "other").line, 4);
    EXPECT_INT(place_of_key(table, "nested").line, 5);
    EXPECT_INT(place_of_key(table, "node").line, 8); // where its value is
    EXPECT_INT(place_of_key(table, "text key").line, 8);
    EXPECT(place_of_key(table, "same").at == NULL);
    EXPECT(place_of_key(table, "x").at == NULL);
    EXPECT_INT(place_of_key(table, "nothing").line, 3);
}

TEST(items_of_lists_and_fields_inside_them_are_found) {
    Place rest = place_inside(place_of_key(place_of_call(source, 3, "cluster"), "list"));
    EXPECT_INT(place_of_next_item(&rest).line, 9);
    EXPECT_INT(place_of_next_item(&rest).line, 9);
    Place third = place_of_next_item(&rest);
    EXPECT_INT(third.line, 10);
    EXPECT_INT(place_of_key(place_inside(third), "node").line, 10);
    EXPECT(place_of_next_item(&rest).at == NULL);
    EXPECT(place_of_next_item(&rest).at == NULL);
}

TEST(a_call_that_is_not_there_keeps_the_line_it_was_asked_for) {
    EXPECT(place_of_call(source, 3, "study").at == NULL);
    EXPECT_INT(place_of_call(source, 3, "study").line, 3);
    EXPECT(place_of_call(source, 99, "cluster").at == NULL);
    EXPECT(place_of_call(NULL, 3, "cluster").at == NULL);
    EXPECT(place_of_key((Place){NULL, 7}, "x").at == NULL);
    EXPECT_INT(place_of_key((Place){NULL, 7}, "x").line, 7);
}

TEST(sources_that_end_in_the_middle_do_not_run_over) {
    for (size_t length = 0; length < sizeof source; length++) {
        char *cut = malloc(length + 1);
        memcpy(cut, source, length);
        cut[length] = '\0';
        Place table = place_of_call(cut, 3, "cluster");
        place_of_key(table, "nothing");
        Place rest = place_inside(place_of_key(table, "list"));
        for (int i = 0; i < 6; i++) place_of_next_item(&rest);
        free(cut);
    }
    EXPECT(true);
}
