// lockstep calibrate import: a table of formats.
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/import.h"
#include "sim/system/file.h"

static const char *const format_names[] = {"nccl-tests", "gemm-csv", "kineto", "iperf3", "fio"};
static bool (*const readers[])(Import *import) = {import_nccl_tests, import_gemm_csv, import_kineto, import_iperf3,
                                                  import_fio};
enum { FORMAT_COUNT = sizeof format_names / sizeof *format_names };

static const OptionSpec specs[] = {
    {.name = "from",
     .kind = OPTION_CHOICE,
     .choices = format_names,
     .choice_count = FORMAT_COUNT,
     .help = "which program's file it is"},
    {.name = "output",
     .kind = OPTION_TEXT,
     .metavar = "FILE",
     .letter = 'o',
     .help = "where the JSON lines go (default: standard output)"},
    {.name = "gpu",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "the GPU that was measured; of a table, whose rows to take"},
    {.name = "operation",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "the collective, where neither text nor file name says it (nccl-tests)"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))
static const char usage[] = "lockstep calibrate import --from FORMAT FILE [-o MEASUREMENTS.json]";
static const char about[] = "Writes measurements of other programs as the JSON lines that lockstep-bench writes.";

int calibrate_import(Arena *arena, int argc, char **argv, Problems *problems) {
    OutputFile file;
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    options_refuse_positional(options, 1, problems);
    if (problem_count(problems) == 0 && (option_positional_count(options) == 0 || !option_given(options, "from"))) {
        problem_add(problems, (Where){0}, "import needs a file and its format");
        problem_hint(problems, "usage: %s", usage);
    }
    if (problem_count(problems) > 0) return 2;
    if (!file_create(arena, option_text(options, "output", "-"), &file, problems)) return 1;
    Import import = {.arena = arena,
                     .path = option_positional(options, 0),
                     .gpu = option_text(options, "gpu", NULL),
                     .operation = option_text(options, "operation", NULL),
                     .out = file.stream,
                     .problems = problems};
    if (!readers[option_choice(options, "from", 0)](&import)) {
        file_abandon(&file);
        return 4;
    }
    return file_commit(&file, problems) ? 0 : 1;
}
