// The arena: zeroed, aligned, apart from each other, and an end with a sentence when memory runs out.
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/random.h"
#include "tests/child.h"
#include "tests/test.h"

TEST(pieces_are_zeroed_aligned_and_do_not_overlap) {
    enum { PIECES = 2000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    RandomStream random = random_stream(1, "arena test", 0);
    Arena *arena = arena_open();

    int dirty = 0, crooked = 0, changed = 0;
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)random_below(&random, i % 100 == 0 ? 300000 : 500);
        pieces[i] = arena_alloc(arena, sizes[i]);
        crooked += (uintptr_t)pieces[i] % _Alignof(max_align_t) != 0;
        for (size_t j = 0; j < sizes[i]; j++) dirty += pieces[i][j] != 0;
        memset(pieces[i], i % 251 + 1, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t j = 0; j < sizes[i]; j++) changed += pieces[i][j] != i % 251 + 1;
    EXPECT_INT(dirty, 0);
    EXPECT_INT(crooked, 0);
    EXPECT_INT(changed, 0);
    arena_close(arena);
}

TEST(a_size_of_zero_gives_a_pointer_of_its_own) {
    Arena *arena = arena_open();
    char *a = arena_alloc(arena, 0), *b = arena_alloc(arena, 0);
    EXPECT(a && b && a != b);
    EXPECT(arena_array(arena, 0, 8) != NULL);
    EXPECT(arena_array(arena, 8, 0) != NULL);
    arena_close(arena);
}

TEST(a_large_piece_leaves_the_room_of_the_open_block_in_use) {
    Arena *arena = arena_open();
    char *before = arena_alloc(arena, 16);
    char *large = arena_alloc(arena, (size_t)10 << 20);
    char *after = arena_alloc(arena, 16);
    EXPECT(after == before + 16);
    EXPECT(large > after || large + ((size_t)10 << 20) <= before);
    arena_close(arena);
}

TEST(bytes_used_counts_what_was_handed_out) {
    Arena *arena = arena_open();
    EXPECT_INT(arena_bytes_used(arena), 0);
    arena_alloc(arena, 160);
    EXPECT_INT(arena_bytes_used(arena), 160);
    arena_array(arena, 1000, 1600);
    EXPECT_INT(arena_bytes_used(arena), 160 + 1600000);
    size_t before = arena_bytes_used(arena);
    arena_alloc(arena, 1);
    EXPECT(arena_bytes_used(arena) >= before + 1 && arena_bytes_used(arena) <= before + 64);
    arena_close(arena);
}

TEST(texts_are_copied_and_formatted_at_any_length) {
    Arena *arena = arena_open();
    char original[] = "H100";
    char *copy = arena_copy_text(arena, original);
    original[0] = 'A';
    EXPECT_TEXT(copy, "H100");
    EXPECT(arena_copy_text(arena, NULL) == NULL);
    EXPECT_TEXT(arena_printf(arena, "%d GPUs of %s", 8, copy), "8 GPUs of H100");
    char *wide = arena_printf(arena, "%200000d", 7);
    EXPECT_INT(strlen(wide), 200000);
    EXPECT(wide[199999] == '7' && wide[0] == ' ');
    arena_close(arena);
}

TEST(closing_nothing_is_allowed) {
    arena_close(NULL);
    arena_close(arena_open());
}

static Arena *doomed; // reachable when the child ends, so that nothing counts as leaked

static void ask_for_an_array_that_overflows(void) {
    doomed = arena_open();
    arena_array(doomed, SIZE_MAX / 2, 4);
}

static void ask_for_more_than_any_pointer_reaches(void) {
    doomed = arena_open();
    arena_alloc(doomed, SIZE_MAX - 3);
}

static void ask_for_more_than_there_is(void) {
    doomed = arena_open();
    arena_alloc(doomed, (size_t)1 << 60);
}

TEST(out_of_memory_ends_the_program_with_a_sentence_and_exit_1) {
    char said[512];
    EXPECT_INT(run_in_child(ask_for_an_array_that_overflows, said, sizeof said), 1);
    EXPECT_CONTAINS(said, "lockstep: out of memory");
    EXPECT_INT(run_in_child(ask_for_more_than_any_pointer_reaches, said, sizeof said), 1);
    EXPECT_CONTAINS(said, "lockstep: out of memory");
    if (HAS_ADDRESS_SANITIZER) return; // its calloc ends the program before ours can
    EXPECT_INT(run_in_child(ask_for_more_than_there_is, said, sizeof said), 1);
    EXPECT_CONTAINS(said, "lockstep: out of memory: no room for 11529215046068");
}
