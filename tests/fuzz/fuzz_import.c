// The first byte says of which program; the rest are any bytes as its file: refused with a problem that names the file,
// or rows, each a JSON object of its own, which the reader of measurements then takes or refuses.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_import.c, then run it on tests/fuzz/corpus_import
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit.h"
#include "sim/base/check.h"
#include "sim/data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool (*const importers[])(Import *import) = {import_nccl_tests, import_gemm_csv, import_kineto, import_iperf3,
                                                    import_fio};
enum { IMPORTERS = sizeof importers / sizeof *importers };

// A file in memory, and the path by which it can be opened.
static int file_of(Arena *arena, const void *data, size_t bytes, const char **path) {
    int descriptor = memfd_create("fuzz", 0);
    CHECK(descriptor >= 0 && write(descriptor, data, bytes) == (ssize_t)bytes);
    *path = arena_printf(arena, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

static void check_import_problems(const Problems *problems, const char *path) {
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, path) == 0);
}

static void read_measurements(Arena *arena, const void *data, size_t bytes) {
    static const Catalogue *catalogue;
    static Arena *kept; // for all inputs: it takes longer to read than they do
    Problems *problems = problems_create(arena);
    const char *path;
    if (!kept) kept = arena_open();
    if (!catalogue) catalogue = catalogue_builtin(kept);
    int descriptor = file_of(arena, data, bytes, &path);
    const MeasuredFile *file = measured_read(arena, catalogue, path, "H100", problems);
    CHECK((file != NULL) == (problem_count(problems) == 0));
    check_import_problems(problems, path);
    for (int i = 0; file && i < file->count; i++) {
        double predicted = measured_prediction(file->gpu, &file->rows[i]);
        CHECK(file->rows[i].seconds > 0 && predicted >= 0);
    }
    close(descriptor);
}

static void check_json_lines(Arena *arena, char *text) {
    for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        Problems *problems = problems_create(arena);
        CHECK(json_read_text(arena, "rows", line, strlen(line), problems) && problem_count(problems) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = NULL;
    size_t text_bytes = 0;
    if (bytes == 0) {
        arena_close(arena);
        return 0;
    }
    if (data[0] % (IMPORTERS + 1) == IMPORTERS) {
        read_measurements(arena, data + 1, bytes - 1);
        arena_close(arena);
        return 0;
    }
    Import import = {.arena = arena, .problems = problems, .operation = bytes % 2 ? "all_reduce" : NULL};
    int descriptor = file_of(arena, data + 1, bytes - 1, &import.path);
    import.out = open_memstream(&text, &text_bytes);
    CHECK(import.out);
    bool ok = importers[data[0] % (IMPORTERS + 1)](&import);
    fclose(import.out);
    CHECK(ok == (problem_count(problems) == 0) && (!ok || import.rows > 0));
    check_import_problems(problems, import.path);
    if (ok) {
        read_measurements(arena, text, text_bytes);
        check_json_lines(arena, text);
    }
    free(text);
    close(descriptor);
    arena_close(arena);
    return 0;
}
