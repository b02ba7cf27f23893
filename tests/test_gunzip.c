// Packed or not, what is read is what was written: in pieces of every size, members one after another, cut and damaged.
#include "sim/data/kineto.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/test.h"

static size_t pack(unsigned char *text, size_t bytes, unsigned char *into, size_t room) {
    z_stream zip = {.next_in = text, .avail_in = (unsigned)bytes, .next_out = into, .avail_out = (unsigned)room};
    CHECK(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&zip, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&zip);
    return room - zip.avail_out;
}

// What is read in pieces of so many bytes; whether it was broken.
static size_t unpack(const unsigned char *packed, size_t bytes, unsigned char *into, size_t room, size_t piece,
                     bool *is_broken) {
    FILE *file = tmpfile();
    CHECK(file && fwrite(packed, 1, bytes, file) == bytes);
    rewind(file);
    Gunzip *gunzip = gunzip_open(file);
    size_t length = 0, more;
    while (length < room &&
           (more = gunzip_read(gunzip, into + length, piece < room - length ? piece : room - length)) > 0)
        length += more;
    Arena *arena = arena_open();
    *is_broken = !gunzip_is_whole(gunzip, "packed.gz", problems_create(arena));
    arena_close(arena);
    gunzip_close(gunzip);
    fclose(file);
    return length;
}

enum { ROOM = 1 << 18 };
static unsigned char text[ROOM], packed[2 * ROOM], back[ROOM + 1];

TEST(what_was_packed_comes_back_in_pieces_of_any_size) {
    FOR_SEEDS (seed, 1, 30) {
        RandomStream draw = random_stream(seed, "gunzip", 0);
        size_t bytes = (size_t)random_below(&draw, ROOM), first = bytes ? (size_t)random_below(&draw, bytes) : 0;
        for (size_t i = 0; i < bytes; i++) text[i] = (unsigned char)random_below(&draw, seed % 2 ? 256 : 4);
        size_t length = pack(text, first, packed, sizeof packed); // two members
        length += pack(text + first, bytes - first, packed + length, sizeof packed - length);
        bool is_broken;
        size_t piece = 1 + (size_t)random_below(&draw, 70000);
        EXPECT_INT(unpack(packed, length, back, sizeof back, piece, &is_broken), bytes);
        EXPECT(!is_broken && memcmp(text, back, bytes) == 0);
        // Cut anywhere within the last member it is broken, and what came before is right.
        size_t whole = pack(text, bytes, packed, sizeof packed), cut = 2 + (size_t)random_below(&draw, whole - 2);
        size_t got = unpack(packed, cut, back, sizeof back, piece, &is_broken);
        EXPECT(is_broken && got <= bytes && memcmp(text, back, got) == 0);
        packed[whole - 5] ^= 1; // its check sum
        unpack(packed, whole, back, sizeof back, piece, &is_broken);
        EXPECT(is_broken);
    }
}

TEST(what_is_not_packed_comes_as_it_is) {
    FOR_SEEDS (seed, 1, 30) {
        RandomStream draw = random_stream(seed, "plain", 0);
        size_t bytes = (size_t)random_below(&draw, seed % 3 ? ROOM : 3);
        for (size_t i = 0; i < bytes; i++) text[i] = (unsigned char)('a' + random_below(&draw, 26));
        bool is_broken;
        EXPECT_INT(unpack(text, bytes, back, sizeof back, 1 + (size_t)random_below(&draw, 70000), &is_broken), bytes);
        EXPECT(!is_broken && memcmp(text, back, bytes) == 0);
    }
}

// ---- What unpacks to too much.

// Reads so many zero bytes, packed, to their end; how many came.
static double unpack_zeros(double bytes, const char *path, Problems *problems) {
    static unsigned char room[1 << 20];
    FILE *file = tmpfile();
    CHECK(file);
    gzFile zip = gzdopen(dup(fileno(file)), "wb1");
    memset(room, 0, sizeof room);
    for (double left = bytes; left > 0; left -= sizeof room) gzwrite(zip, room, sizeof room);
    gzclose(zip);
    rewind(file);
    Gunzip *gunzip = gunzip_open(file);
    double length = 0;
    for (size_t more; (more = gunzip_read(gunzip, room, sizeof room)) > 0;) length += (double)more;
    gunzip_is_whole(gunzip, path, problems);
    gunzip_close(gunzip);
    fclose(file);
    return length;
}

TEST(what_unpacks_to_too_much_is_refused) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT_NEAR(unpack_zeros(GUNZIP_RATIO_FROM, "a.gz", problems), GUNZIP_RATIO_FROM, 0);
    EXPECT_INT(problem_count(problems), 0);
    double read = unpack_zeros(3 * GUNZIP_RATIO_FROM, "a.gz", problems);
    EXPECT(read < GUNZIP_RATIO_FROM + (2 << 20));
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_TEXT(problem_at(problems, 0)->text, "unpacks to more than 200 times its size, and no measurement does");
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "gzip -dk");
    arena_close(arena);
}
