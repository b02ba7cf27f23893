// Plots through gnuplot. It reads a script and writes an image, both through unnamed files: no path and no user text
// reaches a shell or a gnuplot command. The image is copied to its place once gnuplot has succeeded.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/chart/chart.h"
#include "results/terminal.h"
#include "results/view.h"
#include "sim/base/text.h"
#include "sim/system/file.h"
#include "sim/system/process.h"

#define PNG_SCALE 1.6 // sharp on dense screens and in print
#define MISSING_REMEDY "install it with: apt-get install gnuplot-nox"

// ---- Running gnuplot.

typedef enum Outcome { GNUPLOT_DREW, GNUPLOT_MISSING, GNUPLOT_FAILED } Outcome;

// Reads from the start what another process wrote.
static void reread(FILE *stream) {
    clearerr(stream);
    rewind(stream);
}

// gnuplot repeats the command before its error message: the last line is the reason.
static void add_gnuplot_problem(Arena *arena, FILE *complaints, Problems *problems) {
    char line[1024];
    const char *reason = "it gave no reason";
    reread(complaints);
    while (fgets(line, sizeof line, complaints)) {
        const char *start = line + strspn(line, " \n");
        if (*start) reason = text_clean(arena, start, true);
    }
    problem_add(problems, (Where){NULL, 0}, "gnuplot could not draw the plot: %s", reason);
}

static Outcome run_gnuplot(Arena *arena, FILE *script, FILE *image, FILE *complaints, Problems *problems) {
    char name[] = "gnuplot", without_start_files[] = "-d";
    char *const arguments[] = {name, without_start_files, NULL};
    rewind(script);
    switch (other_program_run(arguments, fileno(script), fileno(image), fileno(complaints))) {
    case OTHER_ENDED_WELL:
        reread(image);
        return GNUPLOT_DREW;
    case OTHER_ENDED_BADLY:
        add_gnuplot_problem(arena, complaints, problems);
        return GNUPLOT_FAILED;
    case OTHER_MISSING:
        return GNUPLOT_MISSING;
    case OTHER_STUCK:
        problem_add(problems, (Where){NULL, 0}, "gnuplot did nothing for %g s, or worked for %g s, and was ended",
                    other_program_patience_s, other_program_most_s);
        problem_hint(problems, "does `echo plot x | gnuplot -d` end? --json or --csv give the numbers without it");
        return GNUPLOT_FAILED;
    case OTHER_NOT_STARTED:
        break;
    }
    problem_add(problems, (Where){NULL, 0}, "gnuplot could not be started: %s", strerror(errno));
    return GNUPLOT_FAILED;
}

// ---- Charts by kind.

typedef bool ChartOf(Arena *arena, const Record *record, Chart *chart, Problems *problems);
const char *const plot_kinds[] = {"scaling", "breakdown", "gantt", "memory", "pareto"};
static ChartOf *const charts_of[] = {scaling_chart, breakdown_chart, gantt_chart, memory_chart, pareto_chart};
const int plot_kind_count = (int)(sizeof plot_kinds / sizeof *plot_kinds);

bool plot_chart(Arena *arena, const Record *record, const char *kind, Chart *chart, Problems *problems) {
    for (int i = 0; i < plot_kind_count; i++)
        if (same_name(kind, plot_kinds[i])) return charts_of[i](arena, record, chart, problems);
    problem_add(problems, (Where){record->scenario, 0}, "there is no plot called \"%s\"", kind);
    problem_hint_names(problems, kind, plot_kinds, plot_kind_count);
    return false;
}

// Those that the record can fill: how its points differ, else what its one step is made of.
int plot_kinds_for(const Record *record, const char **kinds, int room) {
    static const char *const of_many[] = {"scaling", "breakdown"}, *const of_one[] = {"breakdown", "gantt", "memory"};
    const char *const *wanted = record->point_count > 1 ? of_many : of_one;
    int wanted_count = record->point_count > 1 ? 2 : 3, count = 0;
    Arena *scratch = arena_open();
    for (int i = 0; i < wanted_count && count < room; i++) {
        Chart chart = {0};
        if (plot_chart(scratch, record, wanted[i], &chart, problems_create(scratch))) kinds[count++] = wanted[i];
    }
    arena_close(scratch);
    return count;
}

// ---- To a file.

typedef enum Format { FORMAT_NONE, FORMAT_PNG, FORMAT_SVG } Format;

static Format format_of(const char *path) {
    size_t length = strlen(path);
    if (length > 4 && same_name(path + length - 4, ".png")) return FORMAT_PNG;
    if (length > 4 && same_name(path + length - 4, ".svg")) return FORMAT_SVG;
    return FORMAT_NONE;
}

static void write_file_script(Arena *arena, FILE *script, const Chart *chart, Format format) {
    Canvas canvas = canvas_of(chart);
    if (format == FORMAT_SVG)
        fprintf(script,
                "set terminal svg noenhanced size %d,%d font 'Helvetica,14' background '#ffffff'\nTitleFont = ',18'\n",
                canvas.width, canvas.height);
    else
        fprintf(script,
                "set terminal pngcairo noenhanced size %d,%d font 'sans,10.5' fontscale %g linewidth %g background "
                "'#ffffff'\nTitleFont = ',13.5'\n",
                (int)(canvas.width * PNG_SCALE), (int)(canvas.height * PNG_SCALE), PNG_SCALE, PNG_SCALE);
    write_plot_script(arena, script, chart);
}

static bool looks_like(Format format, const char *start, size_t bytes) {
    if (format == FORMAT_PNG) return bytes >= 8 && memcmp(start, "\x89PNG\r\n\x1a\n", 8) == 0;
    return bytes >= 5 && memcmp(start, "<?xml", 5) == 0;
}

// Write errors stay with the stream; committing finds them.
static bool copy_image(FILE *image, Format format, FILE *out, Problems *problems) {
    char piece[1 << 14];
    bool is_first = true;
    for (size_t bytes; (bytes = fread(piece, 1, sizeof piece, image)) > 0; is_first = false) {
        if (is_first && !looks_like(format, piece, bytes)) break;
        fwrite(piece, 1, bytes, out);
    }
    if (is_first || ferror(image))
        return problem_add(problems, (Where){NULL, 0}, "gnuplot ended well but drew no image");
    return true;
}

static bool save_image(Arena *arena, FILE *image, Format format, const char *path, Problems *problems) {
    OutputFile file;
    if (!file_create_bytes(arena, path, &file, problems)) return false;
    if (!copy_image(image, format, file.stream, problems)) {
        file_abandon(&file);
        return false;
    }
    if (!file_commit(&file, problems)) return false;
    progress_written(path);
    return true;
}

// A file in memory, which needs no writable folder: a scenario's sandbox permits it. It can never be executed.
static FILE *open_memory(void) {
    const unsigned no_program = 8; // MFD_NOEXEC_SEAL, unknown to older kernels and headers
    int file = memfd_create("plot", MFD_CLOEXEC | no_program);
    if (file < 0) file = memfd_create("plot", MFD_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "w+b");
}

// The unnamed files of one drawing; the system removes them.
typedef struct Desk {
    FILE *script, *image, *complaints;
} Desk;

static bool desk_open(Desk *desk, Problems *problems) {
    *desk = (Desk){open_memory(), open_memory(), open_memory()};
    if (desk->script && desk->image && desk->complaints) return true;
    return problem_add(problems, (Where){NULL, 0}, "no temporary file for the plot can be made: %s", strerror(errno));
}

static void desk_close(Desk *desk) {
    if (desk->script) fclose(desk->script);
    if (desk->image) fclose(desk->image);
    if (desk->complaints) fclose(desk->complaints);
}

static bool draw_to_file(Arena *arena, const Chart *chart, Format format, Desk *desk, const char *path,
                         Problems *problems) {
    write_file_script(arena, desk->script, chart, format);
    if (fflush(desk->script) != 0)
        return problem_add(problems, (Where){NULL, 0}, "the plot's temporary file cannot be written: %s",
                           strerror(errno));
    Outcome outcome = run_gnuplot(arena, desk->script, desk->image, desk->complaints, problems);
    if (outcome == GNUPLOT_MISSING) {
        problem_add(problems, (Where){NULL, 0}, "%s cannot be drawn: the program gnuplot is not installed", path);
        problem_hint(problems, MISSING_REMEDY);
    }
    return outcome == GNUPLOT_DREW && save_image(arena, desk->image, format, path, problems);
}

bool chart_to_file(Arena *arena, const Chart *chart, const char *path, Problems *problems) {
    Format format = format_of(path);
    Desk desk;
    if (format == FORMAT_NONE)
        return problem_add(problems, (Where){path, 0}, "a plot is written as .png or .svg, by the ending of its name");
    bool is_done = desk_open(&desk, problems) && draw_to_file(arena, chart, format, &desk, path, problems);
    desk_close(&desk);
    return is_done;
}

bool plot_to_file(Arena *arena, const Record *record, const char *kind, const char *path, Problems *problems) {
    Chart chart = {0};
    return plot_chart(arena, record, kind, &chart, problems) && chart_to_file(arena, &chart, path, problems);
}
