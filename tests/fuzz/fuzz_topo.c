// Any bytes as output of nvidia-smi topo -m: refused with a sentence, or a matrix that has two equal sides.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_topo.c, then run it on tests/fuzz/corpus_topo
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/network/interior.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = arena_alloc(arena, bytes + 1);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    const NodeInterior *interior = interior_from_matrix(arena, "f", text, problems);
    CHECK((interior == NULL) == (problem_count(problems) > 0));
    for (int a = 0; interior && a < interior_parts(interior); a++)
        for (int b = 0; b < interior_parts(interior); b++) {
            int parts = interior_parts(interior), cell = interior->cells[a * parts + b];
            CHECK(cell == interior->cells[b * parts + a]);
            CHECK((cell == CELL_SELF) == (a == b));
        }
    if (interior) CHECK(interior_socket_count(interior) >= 1 && interior_socket_count(interior) <= 8);
    arena_close(arena);
    return 0;
}
