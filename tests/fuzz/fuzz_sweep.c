// A sweep of a small job: the first line is a --vary (none when empty), the rest the file of --list (none when empty).
// Refused with problems, or points that have keys of their own and rows that say how they went.
//     make fuzz FUZZERS=fuzz_sweep
#include <stdint.h>
#include <string.h>

#include "scenarios/sweep/sweep.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_POINTS 3     // that are simulated
#define MOST_GPUS_HERE 64 // of a point that is

static bool is_small(const Sweep *sweep) {
    for (int p = 0; p < sweep->parameter_count; p++)
        for (int i = 0; i < sweep->parameters[p].values.count; i++)
            if (sweep->parameters[p].values.numbers[i] > MOST_GPUS_HERE) return false;
    return true;
}

static void check_points(Arena *arena, Sweep *sweep) {
    const char *first = NULL;
    CHECK(sweep->point_count > 0);
    for (int64_t point = 0; point < sweep->point_count && point < MOST_POINTS; point++) {
        StoreRow row = sweep_point(sweep, arena, point);
        const char *key = sweep_key(sweep, arena, point);
        CHECK(row.texts[ROW_KEY] && strcmp(row.texts[ROW_KEY], key) == 0 && row.texts[ROW_STATUS]);
        if (!first) first = key;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char job[] = "sweep --model mlp-mnist --node dgx-a100 --fabric eth-1g --gpus 8 --global-batch 840";
    char vary[] = "--vary", list[] = "--list", line[256], path[128], *words[20];
    int count = 0, status = 0;
    size_t used = first_line(data, bytes, line, sizeof line);
    for (char *word = strtok(job, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    if (*line) {
        words[count++] = vary;
        words[count++] = line;
    }
    if (bytes > used) {
        snprintf(path, sizeof path, "%s", fuzz_file("list.csv", data + used, bytes - used));
        words[count++] = list;
        words[count++] = path;
    }
    Arena *arena = arena_open();
    Sweep *sweep = sweep_of_command_line(arena, count, words, &status);
    CHECK(sweep || status == 2 || status == 4);
    if (sweep && is_small(sweep)) check_points(arena, sweep);
    arena_close(arena);
    return 0;
}
