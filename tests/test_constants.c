// Every fitted or assumed number of the models says where it is from and what that rests on.
#include <math.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "scenarios/questions/constants.h"
#include "sim/data/csv.h"
#include "sim/data/json.h"
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
    Problems *problems = problems_create(arena);
    for (int t = 0; t < CONSTANT_TABLE_COUNT; t++) {
        const ConstantTable *table = &constant_tables[t];
        const Ended *ended = run_command(command_constants, arena_printf(arena, "constants --json %s", table->name));
        const Json *json = json_read_text(arena, "constants", ended->out, strlen(ended->out), problems);
        const Json *rows = json_get(json, "constants");
        EXPECT_INT(rows->count, table->count);
        for (int i = 0; i < table->count && i < rows->count; i++) {
            EXPECT_TEXT(json_text(&rows->items[i], "name", problems), table->row(i).name);
            EXPECT_TEXT(json_text(&rows->items[i], "source", problems), table->row(i).source);
            EXPECT_TEXT(json_text(&rows->items[i], "basis", problems), table->row(i).basis);
        }
    }
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(a_table_of_constants_that_is_not_there_is_refused_with_those_that_are) {
    const Ended *ended = run_command(command_constants, "constants hardwear");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "hardware");
}

// "8 types of GPU, 917 rows" is what the measurements hold.
TEST(the_basis_of_what_was_fitted_to_products_is_as_large_as_it_says) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Csv *csv = csv_read_file(arena, "calibrate/measurements/gemm.csv", problems);
    EXPECT_INT(problem_count(problems), 0);
    int gpu = csv_column(csv, "gpu", problems), dtype = csv_column(csv, "dtype", problems), rows = 0, types = 0;
    const char *seen[64];
    for (int i = 0; i < csv->row_count; i++) {
        const char *name = csv_cell(csv, i, gpu);
        if (strcmp(csv_cell(csv, i, dtype), "fp32_simt") != 0 || strncmp(name, "AMD", 3) == 0) continue;
        int t = 0;
        while (t < types && strcmp(seen[t], name) != 0) t++;
        if (t == types) seen[types++] = name;
        rows++;
    }
    Constant loop = constant_tables[0].row(LOOP_CLOCKS);
    EXPECT_TEXT(loop.basis, arena_printf(arena, "%d types of GPU, %d rows", types, rows));
    arena_close(arena);
}
