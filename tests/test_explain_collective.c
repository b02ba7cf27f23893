// Explaining a collective: its parts sum, and what it says of other sizes, ways and machines is what they print.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explain/explain.h"
#include "scenarios/questions/collective_asked.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

#define FOUR "--node dgx-h100 --nodes 4 --fabric ib-ndr"

static const Json *answer_to(Arena *arena, int (*command)(int, char **), const char *line) {
    const Ended *ended = run_command(command, line);
    EXPECT_INT(ended->code, 0);
    Problems *problems = problems_create(arena);
    const Json *answer = json_read_text(arena, "answer", ended->out, strlen(ended->out), problems);
    EXPECT_INT(problem_count(problems), 0);
    return answer;
}

static const Json *row_of_collective(Arena *arena, const char *options) {
    const char *line = arena_printf(arena, "collective all_reduce %s --json", options);
    return json_get(answer_to(arena, command_collective, line), "results")->items;
}

static double number(const Json *object, const char *key) { return json_get(object, key)->number; }
static const char *text(const Json *object, const char *key) { return json_get(object, key)->text; }

static const Json *explained(Arena *arena, const char *options) {
    return answer_to(arena, command_explain, arena_printf(arena, "explain collective all_reduce %s --json", options));
}

TEST(latency_and_bytes_of_an_explained_collective_sum_to_its_time) {
    static const char *const sizes[] = {"8", "64K", "16M", "1G"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Arena *arena = arena_open();
        const char *options = arena_printf(arena, FOUR " --sizes %s", sizes[i]);
        const Json *time = json_get(explained(arena, options), "time");
        double sum = number(&time->items[0], "seconds") + number(&time->items[1], "seconds");
        EXPECT_NEAR(1e6 * sum, number(row_of_collective(arena, options), "time_us"), 1e-12);
        arena_close(arena);
    }
}

TEST(other_ways_of_an_explained_collective_are_what_they_print_when_asked_for) {
    Arena *arena = arena_open();
    const Json *ways = json_get(explained(arena, FOUR " --sizes 64M"), "ways");
    EXPECT(ways->count >= 5);
    for (int i = 0; i < ways->count; i++) {
        char algorithm[32], protocol[32];
        EXPECT_INT(sscanf(text(&ways->items[i], "done_by"), "%31s %31s", algorithm, protocol), 2);
        const Json *row = row_of_collective(
            arena, arena_printf(arena, FOUR " --sizes 64M --algo %s --proto %s", algorithm, protocol));
        EXPECT_NEAR(1e6 * number(&ways->items[i], "seconds"), number(row, "time_us"), 1e-12);
        if (i > 0) EXPECT(number(&ways->items[i], "gain_s") <= number(&ways->items[i - 1], "gain_s"));
    }
    arena_close(arena);
}

// A hundredth beside each size named, the table has the ways named.
TEST(the_choice_changes_at_the_sizes_that_explain_names) {
    Arena *arena = arena_open();
    const Json *choices = json_get(explained(arena, FOUR " --sizes 64M"), "choices");
    EXPECT(choices->count >= 3);
    for (int i = 1; i < choices->count; i++)
        for (int side = 0; side < 2; side++) {
            double bytes = number(&choices->items[i], "from_bytes") * (side ? 1 : 0.98);
            const Json *row = row_of_collective(arena, arena_printf(arena, FOUR " --sizes %.0f", floor(bytes)));
            EXPECT_TEXT(arena_printf(arena, "%s %s", text(row, "algorithm"), text(row, "protocol")),
                        text(&choices->items[i - 1 + side], "done_by"));
        }
    arena_close(arena);
}

static const Json *machine_called(const Json *answer, const char *name) {
    const Json *machines = json_get(answer, "machines");
    for (int i = 0; i < machines->count; i++)
        if (strcmp(text(&machines->items[i], "name"), name) == 0) return &machines->items[i];
    return NULL;
}

// The twin is a profile written by hand: NVLink of an H100 is 450 GB/s one way.
TEST(twice_the_nvlink_of_a_collective_is_a_profile_that_doubles_it) {
    Arena *arena = arena_open();
    char path[] = "/tmp/lockstep-explain-collective-XXXXXX.json";
    int file = mkstemps(path, 5);
    FILE *out = fdopen(file, "w");
    fprintf(
        out,
        "{\"format\": \"lockstep-hardware\", \"format_version\": 1, \"sources\": {\"test\": \"a test\"}, "
        "\"gpus\": [{\"name\": \"H100-SXM5-80GB\", \"like\": \"H100-SXM5-80GB\", \"from\": [\"assumed\", \"test\"], "
        "\"nvlink_bandwidth\": \"900 GB/s\", \"nvlink_link_bandwidth\": \"50 GB/s\"}]}\n");
    fclose(out);
    const Json *twice = machine_called(explained(arena, "--node dgx-h100 --sizes 256M"), "nvlink");
    const Json *row = row_of_collective(arena, arena_printf(arena, "--node dgx-h100 --sizes 256M --profile %s", path));
    unlink(path);
    EXPECT(number(twice, "gain_s") > 0);
    EXPECT_NEAR(1e6 * number(twice, "seconds"), number(row, "time_us"), 1e-12);
    arena_close(arena);
}

TEST(tiers_of_a_fabric_that_hold_a_collective_back_are_what_one_switch_would_save) {
    Arena *arena = arena_open();
    const Json *answer = explained(arena, "--node dgx-h100 --nodes 64 --fabric ib-ndr:leaf_spine:oversubscription=16 "
                                          "--sizes 1G");
    EXPECT(number(machine_called(answer, "tiers"), "gain_s") > 0);
    answer = explained(arena, "--node dgx-h100 --nodes 64 --fabric ib-ndr --sizes 1G");
    EXPECT(number(machine_called(answer, "tiers"), "gain_s") == 0);
    arena_close(arena);
}

TEST(a_collective_is_explained_at_one_size) {
    const Ended *ended = run_command(command_explain, "explain collective all_reduce --node dgx-h100 --sizes 8:8G:2");
    EXPECT_INT(ended->code, 2);
    EXPECT(strstr(ended->err, "one size") && strstr(ended->err, "--sizes 64M"));
    EXPECT_INT(run_command(command_explain, "explain collective all_reduce --node dgx-h100")->code, 2);
    EXPECT_INT(run_command(command_explain, "explain collective all_reduce --node no-such --sizes 1M")->code, 4);
    ended = run_command(command_explain, "explain collective all_reduce --node dgx-h100 --sizes 1K");
    EXPECT_CONTAINS(ended->out, " % latency; ");
    ended = run_command(command_explain, "explain collective all_reduce --node dgx-h100 --sizes 1M --algo bruck");
    EXPECT_INT(ended->code, 2);
    EXPECT_INT(run_command(command_explain, "explain collective barrier --node dgx-h100")->code, 0);
    EXPECT_INT(
        run_command(command_explain, "explain collective all_reduce --node dgx-h100 --sizes 1M --algo pat")->code, 4);
}
