// lockstep calibrate import: the table of formats.
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/import.h"
#include "results/answer/frame.h"
#include "sim/system/file.h"

static const char *const format_names[] = {"nccl-tests", "gemm-csv", "kineto", "nsys", "iperf3", "fio"};
static bool (*const readers[])(Import *import) = {import_nccl_tests, import_gemm_csv, import_kineto,
                                                  import_kineto,     import_iperf3,   import_fio};
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

// What is written has a form of its own.
static bool refuse_forms(const Asking *asking) {
    static const char *const forms[] = {"json", "csv", "plain"};
    int before = problems_added(asking->problems);
    for (int i = 0; i < 3; i++) {
        if (!option_flag(asking->options, forms[i])) continue;
        problem_add(asking->problems, (Where){0}, "--%s: what import writes are the JSON lines of lockstep-bench",
                    forms[i]);
        problem_hint(asking->problems, "leave it out; lockstep calibrate show FILE has a table of them");
        problem_is_usage(asking->problems);
    }
    return problems_added(asking->problems) > before;
}

// What is read goes to its file as it is read.
static int ask(Asking *asking) {
    OutputFile file;
    const Options *options = asking->options;
    if (option_positional_count(options) == 0 || !option_given(options, "from")) {
        problem_add(asking->problems, (Where){0}, "import needs a file and its format");
        problem_hint(asking->problems, "usage: %s", usage);
        return EXIT_USAGE;
    }
    if (refuse_forms(asking)) return EXIT_USAGE;
    if (!file_create(asking->arena, option_text(options, "output", "-"), &file, asking->problems)) return EXIT_FAILED;
    Import import = {.arena = asking->arena,
                     .path = option_positional(options, 0),
                     .gpu = option_text(options, "gpu", NULL),
                     .operation = option_text(options, "operation", NULL),
                     .out = file.stream,
                     .problems = asking->problems};
    if (!readers[option_choice(options, "from", 0)](&import)) {
        file_abandon(&file);
        return EXIT_BAD_INPUT;
    }
    asking->silent = true;
    return file_commit(&file, asking->problems) ? EXIT_DONE : EXIT_FAILED;
}

int calibrate_import(int argc, char **argv) {
    static const Question question = {.name = "calibrate-import",
                                      .usage = usage,
                                      .about = about,
                                      .own = specs,
                                      .own_count = SPEC_COUNT,
                                      .positional = 1,
                                      .ask = ask};
    return frame_run(&question, argc, argv);
}
