// Every fitted or assumed number of the models says where it is from and what that rests on.
#include <math.h>
#include <string.h>

#include "models/workload/commands/commands.h"
#include "models/workload/commands/constant_tables.h"
#include "sim/json.h"
#include "tests/command.h"
#include "tests/test.h"

static bool says(const char *text) { return text && text[0] != '\0'; }

static bool is_complete(const Constant *row) {
    return says(row->name) && row->unit && isfinite(row->value) && row->sigma > 0 && says(row->source) &&
           says(row->basis);
}

TEST(every_constant_has_a_name_an_uncertainty_a_source_and_a_basis) {
    Constant bare = {.name = "a", .unit = "s", .value = 1, .sigma = 0.1, .source = "a log"};
    EXPECT(!is_complete(&bare));
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) {
        EXPECT(constant_tables[t].count > 0);
        for (int i = 0; i < constant_tables[t].count; i++) {
            Constant row = constant_tables[t].row(i);
            if (!is_complete(&row)) printf("table %s, row %d: %s\n", constant_tables[t].name, i, row.name);
            EXPECT(is_complete(&row));
            for (int j = 0; j < i; j++) EXPECT(strcmp(row.name, constant_tables[t].row(j).name) != 0);
        }
    }
}

TEST(constants_shows_every_row_of_every_table) {
    Arena *arena = arena_open();
    const char *text = arena_copy_text(arena, run_command(command_constants, "constants")->out);
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++)
        for (int i = 0; i < constant_tables[t].count; i++) {
            EXPECT_CONTAINS(text, constant_tables[t].row(i).name);
            EXPECT_CONTAINS(text, constant_tables[t].row(i).source);
            EXPECT_CONTAINS(text, constant_tables[t].row(i).basis);
        }
    Problems *problems = problems_create(arena);
    const Ended *ended = run_command(command_constants, "constants --json hardware");
    const Json *json = json_read_text(arena, "constants", ended->out, strlen(ended->out), problems);
    EXPECT_INT(json_get(json, "constants")->count, constant_tables[0].count);
    arena_close(arena);
}

TEST(a_table_of_constants_that_is_not_there_is_refused_with_those_that_are) {
    const Ended *ended = run_command(command_constants, "constants hardwear");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "hardware");
}
