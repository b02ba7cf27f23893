// A profiler's trace, plain or packed: the first byte says whether the rest is packed here, as one member or two, or
// taken as it is. Refused with a problem that names the file, or kernels with times; packed it says what it says plain.
//     make fuzz FUZZERS=fuzz_kineto
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "calibrate/gpu/command_calibrate.h"
#include "scenarios/explain/diff.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/data/kineto.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_BYTES (64 << 10)

static size_t pack_member(const uint8_t *data, size_t bytes, uint8_t *into, size_t room) {
    uint8_t *text = malloc(bytes + 1); // zlib takes no const
    CHECK(text);
    if (bytes) memcpy(text, data, bytes);
    z_stream zip = {.next_in = text, .avail_in = (unsigned)bytes, .next_out = into, .avail_out = (unsigned)room};
    CHECK(deflateInit2(&zip, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&zip, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&zip);
    free(text);
    return room - zip.avail_out;
}

static const char *packed_file(const uint8_t *data, size_t bytes, size_t first) {
    static uint8_t packed[2 * MOST_BYTES + 1024];
    size_t used = pack_member(data, first, packed, sizeof packed);
    if (first < bytes) used += pack_member(data + first, bytes - first, packed + used, sizeof packed - used);
    return fuzz_file("packed.gz", packed, used);
}

static void check_places(const Problems *problems, const char *path) {
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, path) == 0);
}

// The digest of what it imports, 0 where it is refused.
static uint64_t imported(Arena *arena, const char *path) {
    Import import = {.arena = arena, .path = path, .problems = problems_create(arena)};
    char *text = NULL;
    size_t length = 0;
    import.out = open_memstream(&text, &length);
    CHECK(import.out);
    bool ok = import_kineto(&import);
    fclose(import.out);
    CHECK(ok == (problem_count(import.problems) == 0) && (!ok || import.rows > 0));
    check_places(import.problems, path);
    uint64_t digest = ok ? digest_bytes(DIGEST_START, text, length) : 0;
    free(text);
    return digest;
}

// Seconds of a step, 0 where it is refused.
static double step_of(Arena *arena, const char *path) {
    Problems *problems = problems_create(arena);
    DiffSide side;
    bool ok = diff_side_of_trace(arena, path, &side, problems);
    CHECK(ok == (problem_count(problems) == 0) && (!ok || side.step_s > 0));
    check_places(problems, path);
    return ok ? side.step_s : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes == 0 || bytes > MOST_BYTES) return 0;
    Arena *arena = arena_open();
    const char *plain = fuzz_file("plain.json", data + 1, bytes - 1);
    uint64_t rows = imported(arena, plain);
    double step_s = step_of(arena, plain);
    bool is_trace = kineto_is_trace(plain);
    if (data[0] % 3) {
        const char *packed = packed_file(data + 1, bytes - 1, data[0] % 3 == 1 ? bytes - 1 : (bytes - 1) / 2);
        bool is_plain = bytes < 3 || data[1] != 0x1f || data[2] != 0x8b; // else it is unpacked only once
        CHECK(!is_plain || (imported(arena, packed) == rows && step_of(arena, packed) == step_s));
        CHECK(!is_plain || kineto_is_trace(packed) == is_trace);
    }
    arena_close(arena);
    return 0;
}
