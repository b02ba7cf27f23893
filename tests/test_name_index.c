// The index of names against a plain list, and parts of a file found as by looking at each.
#include "sim/base/list.h"

#include "models/hardware/parts.h"
#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/script.h"
#include "tests/test.h"

#define MOST_NAMES 400

static int place_in(const char *const *names, int count, const char *name) {
    int place = 0;
    while (place < count && strcmp(names[place], name) != 0) place++;
    return place < count ? place : -1;
}

TEST(the_index_of_names_agrees_with_a_plain_list) {
    FOR_SEEDS (seed, 1, 40) {
        Arena *arena = arena_open();
        RandomStream draw = random_stream(seed, "names", 0);
        NameIndex *index = name_index_create(arena, strcmp);
        const char *names[MOST_NAMES];
        int count = 0, range = 1 + (int)random_below(&draw, 2 * MOST_NAMES);
        for (int i = 0; i < MOST_NAMES; i++) {
            // rising, falling, or in any order
            int number = seed % 3 == 0 ? i : seed % 3 == 1 ? MOST_NAMES - i : (int)random_below(&draw, (uint64_t)range);
            const char *name = arena_printf(arena, "name %d", number);
            int known = place_in(names, count, name);
            EXPECT_INT(name_index_find(index, name), known);
            EXPECT_INT(name_index_add(index, name, count), known);
            if (known < 0) names[count++] = name;
        }
        for (int i = 0; i < count; i++) EXPECT_INT(name_index_find(index, names[i]), i);
        name_index_set(index, names[0], 77);
        EXPECT_INT(name_index_find(index, names[0]), 77);
        EXPECT_INT(name_index_find(index, "nobody"), -1);
        arena_close(arena);
    }
}

// ---- Parts: the last that has the name, else the last that has the alias.

#define PARTS 12
#define LETTERS 6 // of names and aliases, few enough to meet

static const char *drawn_name(Arena *arena, RandomStream *draw) {
    static const char *const spellings[] = {"part-%d", "Part %d", "NVIDIA part_%d", "PART%d"};
    return arena_printf(arena, spellings[random_below(draw, 4)], (int)random_below(draw, LETTERS));
}

static int place_by_looking(const FaultRates *parts, int count, const char *name) {
    for (int i = count - 1; i >= 0; i--)
        if (same_part_name(parts[i].name, name)) return i;
    for (int i = count - 1; i >= 0; i--)
        for (int j = 0; j < parts[i].alias_count; j++)
            if (same_part_name(parts[i].aliases[j], name)) return i;
    return -1;
}

TEST(parts_are_found_as_by_looking_at_each) {
    FOR_SEEDS (seed, 1, 200) {
        Arena *arena = arena_open();
        RandomStream draw = random_stream(seed, "parts", 0);
        PartIndex *index = part_index_create(arena, PART_FAULTS);
        FaultRates parts[PARTS];
        int count = 0;
        for (int i = 0; i < PARTS; i++) {
            const char **aliases = ARENA_ARRAY(arena, const char *, 2);
            for (int j = 0; j < 2; j++) aliases[j] = drawn_name(arena, &draw);
            FaultRates part = {
                .name = drawn_name(arena, &draw), .aliases = aliases, .alias_count = (int)random_below(&draw, 3)};
            int place = part_index_place(index, part.name);
            if (place < 0) place = count++;
            parts[place] = part;
            part_index_note(index, &parts[place], place);
            for (int asked = 0; asked < LETTERS; asked++) {
                const char *name = arena_printf(arena, "part %d", asked);
                EXPECT_INT(part_index_find(index, parts, name), place_by_looking(parts, count, name));
            }
        }
        arena_close(arena);
    }
}

TEST(gpus_of_the_catalogue_are_found_by_all_that_they_are_called) {
    const Catalogue *catalogue = test_catalogue();
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        EXPECT(catalogue_gpu(catalogue, gpu->name) == gpu);
        for (int j = 0; j < gpu->alias_count; j++) EXPECT(catalogue_gpu(catalogue, gpu->aliases[j]));
    }
    EXPECT_TEXT(catalogue_gpu(catalogue, "V100 32GB PCIe")->name, "V100-PCIE-32GB");
    EXPECT(!catalogue_gpu(catalogue, "H10O"));
}
