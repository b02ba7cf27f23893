#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/chart/chart.h"
#include "tests/records.h"
#include "tests/test.h"

// ---- A folder of its own for each test.

typedef struct Folder {
    char path[64];
} Folder;

static Folder folder_open(void) {
    Folder folder = {"/tmp/lockstep-plot-XXXXXX"};
    EXPECT(mkdtemp(folder.path) != NULL);
    return folder;
}

static int files_in(const Folder *folder) {
    int count = 0;
    DIR *list = opendir(folder->path);
    for (struct dirent *entry; list && (entry = readdir(list));) count += entry->d_name[0] != '.';
    if (list) closedir(list);
    return count;
}

static void folder_close(const Folder *folder) {
    DIR *list = opendir(folder->path);
    char path[512];
    for (struct dirent *entry; list && (entry = readdir(list));) {
        snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (list) closedir(list);
    rmdir(folder->path);
}

static bool starts_with(const char *path, const char *signature, size_t bytes) {
    char start[16] = {0};
    FILE *file = fopen(path, "rb");
    bool is_read = file && fread(start, 1, bytes, file) == bytes;
    if (file) fclose(file);
    return is_read && memcmp(start, signature, bytes) == 0;
}

static bool have_gnuplot(void) {
    char output[256];
    return test_shell("gnuplot --version", output, sizeof output) == 0;
}

// While it is open, no program is found.
static char *hide_programs(void) {
    char *before = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", "/nonexistent", 1);
    return before;
}

static void show_programs(char *before) {
    if (before) setenv("PATH", before, 1);
    free(before);
}

static const Record *record_for(Arena *arena, const char *kind) {
    return strcmp(kind, "gantt") == 0 ? record_of_pipeline(arena) : record_of_scaling(arena);
}

// ---- Files.

TEST(every_kind_of_plot_is_written_as_png_and_svg) {
    if (!have_gnuplot()) return;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Folder folder = folder_open();
    for (int i = 0; i < plot_kind_count; i++) {
        const Record *record = record_for(arena, plot_kinds[i]);
        const char *png = arena_printf(arena, "%s/%s.png", folder.path, plot_kinds[i]);
        const char *svg = arena_printf(arena, "%s/%s.svg", folder.path, plot_kinds[i]);
        EXPECT(plot_to_file(arena, record, plot_kinds[i], png, problems));
        EXPECT(plot_to_file(arena, record, plot_kinds[i], svg, problems));
        EXPECT(starts_with(png, "\x89PNG\r\n\x1a\n", 8));
        EXPECT(starts_with(svg, "<?xml", 5));
    }
    problems_print(problems, stdout);
    EXPECT_INT(files_in(&folder), 2 * plot_kind_count);
    folder_close(&folder);
    arena_close(arena);
}

TEST(a_plot_of_one_point_is_drawn_too) {
    if (!have_gnuplot()) return;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Folder folder = folder_open();
    const char *const kinds[] = {"scaling", "breakdown", "memory"};
    for (int i = 0; i < 3; i++)
        EXPECT(plot_to_file(arena, record_of_one(arena), kinds[i], arena_printf(arena, "%s/%d.svg", folder.path, i),
                            problems));
    EXPECT_INT(problem_count(problems), 0);
    folder_close(&folder);
    arena_close(arena);
}

TEST(the_same_plot_has_the_same_bytes) {
    if (!have_gnuplot()) return;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Folder folder = folder_open();
    char command[512], output[256];
    for (int i = 0; i < 2; i++)
        EXPECT(plot_to_file(arena, record_of_scaling(arena), "scaling",
                            arena_printf(arena, "%s/%d.svg", folder.path, i), problems));
    snprintf(command, sizeof command, "cmp %s/0.svg %s/1.svg", folder.path, folder.path);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    folder_close(&folder);
    arena_close(arena);
}

TEST(a_plot_that_cannot_be_written_is_a_problem_and_leaves_nothing) {
    if (!have_gnuplot()) return;
    Arena *arena = arena_open();
    Folder folder = folder_open();
    char link_path[128];
    snprintf(link_path, sizeof link_path, "%s/full.svg", folder.path);
    EXPECT_SAME(symlink("/dev/full", link_path), 0);
    const char *const paths[] = {"/nonexistent/x.png", link_path};
    for (int i = 0; i < 2; i++) {
        Problems *problems = problems_create(arena);
        EXPECT(!plot_to_file(arena, record_of_scaling(arena), "scaling", paths[i], problems));
        EXPECT_INT(problem_count(problems), 1);
        EXPECT_CONTAINS(problem_at(problems, 0)->text, "cannot be written");
    }
    EXPECT_INT(files_in(&folder), 1);
    folder_close(&folder);
    arena_close(arena);
}

TEST(an_unknown_kind_or_ending_says_what_there_is) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(!plot_to_file(arena, record_of_one(arena), "scalling", "/tmp/x.png", problems));
    EXPECT(!plot_to_file(arena, record_of_one(arena), "scaling", "/tmp/x.jpg", problems));
    EXPECT(!plot_to_file(arena, record_of_one(arena), "gantt", "/tmp/x.svg", problems));
    EXPECT_INT(problem_count(problems), 3);
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "did you mean \"scaling\"?");
    EXPECT_CONTAINS(problem_at(problems, 1)->text, ".png or .svg");
    EXPECT_CONTAINS(problem_at(problems, 2)->text, "no timeline");
    arena_close(arena);
}

TEST(without_gnuplot_a_file_plot_says_how_to_get_it) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Folder folder = folder_open();
    char *before = hide_programs();
    EXPECT(!plot_to_file(arena, record_of_scaling(arena), "scaling", arena_printf(arena, "%s/x.png", folder.path),
                         problems));
    show_programs(before);
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "gnuplot is not installed");
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "apt-get install gnuplot-nox");
    EXPECT_INT(files_in(&folder), 0);
    folder_close(&folder);
    arena_close(arena);
}

TEST(hostile_text_is_drawn_and_not_run) {
    if (!have_gnuplot()) return;
    Arena *arena = arena_open();
    Folder folder = folder_open();
    const char *touch = arena_printf(arena, "touch %s/touched", folder.path);
    const char *const texts[] = {
        arena_printf(arena, "`%s`", touch),
        arena_printf(arena, "$(%s)", touch),
        arena_printf(arena, "'; system('%s'); '", touch),
        arena_printf(arena, "\"; system(\"%s\"); \"", touch),
        arena_printf(arena, "a\nsystem('%s')\n! %s\n", touch, touch),
        arena_printf(arena, "END_OF_BARS\nsystem('%s')", touch),
        "back\\slash at the end \\",
        "@macro @Bars @TitleFont",
        "%s %n %d %%",
        "<svg onload=\"x\"> & </text>",
        "\xff\xfe",
        "",
        "''''",
        "数 é _a^2 {/Symbol}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int kind = 0; kind < plot_kind_count; kind++) {
            Record *record =
                strcmp(plot_kinds[kind], "gantt") == 0 ? record_of_pipeline(arena) : record_of_scaling(arena);
            RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, record->point_count);
            const char *const row_names[] = {texts[i], texts[i], texts[i], texts[i]};
            for (int k = 0; k < record->point_count; k++) {
                RecordParameter *parameters = ARENA_ARRAY(arena, RecordParameter, 1);
                parameters[0] = (RecordParameter){texts[i], arena_printf(arena, "%s%d", texts[i], k), NAN};
                NamedValue *part = ARENA_NEW(arena, NamedValue);
                *part = (NamedValue){texts[i], texts[i], 1};
                points[k] = record->points[k];
                points[k].parameters = parameters;
                points[k].parameter_count = 1;
                points[k].exposed = points[k].memory = part;
                points[k].exposed_count = points[k].memory_count = 1;
                if (!points[k].timeline) continue;
                Timeline *timeline = ARENA_NEW(arena, Timeline);
                TimelineBar *bar = ARENA_NEW(arena, TimelineBar);
                *bar = (TimelineBar){.row = 0, .start_s = 0, .end_s = 1, .cause = texts[i], .name = texts[i]};
                *timeline =
                    (Timeline){.row_names = row_names, .row_count = 4, .bars = bar, .bar_count = 1, .idle_share = NAN};
                points[k].timeline = timeline;
            }
            record->points = points;
            record->title = record->sample_name = record->x_name = texts[i];
            Problems *problems = problems_create(arena);
            EXPECT(
                plot_to_file(arena, record, plot_kinds[kind], arena_printf(arena, "%s/x.svg", folder.path), problems));
            problems_print(problems, stdout);
        }
    EXPECT_INT(files_in(&folder), 1); // the plot, and nothing that was touched
    folder_close(&folder);
    arena_close(arena);
}

// ---- The terminal.

static char *shown(Arena *arena, const Record *record, const char *kind, const Style *style) {
    char *text = NULL;
    size_t bytes = 0;
    Problems *problems = problems_create(arena);
    FILE *out = open_memstream(&text, &bytes);
    Chart chart = {0};
    EXPECT(plot_chart(arena, record, kind, &chart, problems));
    chart_to_terminal(arena, &chart, out, style);
    fclose(out);
    problems_print(problems, stdout);
    char *copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

TEST(a_breakdown_in_the_terminal_is_stacked_letters) {
    Arena *arena = arena_open();
    Style style = {.width = 60};
    EXPECT_TEXT(shown(arena, record_of_scaling(arena), "breakdown", &style),
                "ResNet-50 on DGX A100: where the step goes\n"
                "1    MMMMMMMMM80 %MMMMMMMMMMEEEED  100.0 ms\n"
                "8    MMMMMMMMM76 %MMMMMMMMMEEEEEGDD  105.0 ms\n"
                "64   MMMMMMMMMM70 %MMMMMMMMMMMEEEEEGGGDD  125.0 ms\n"
                "512  MMMMMMMMMM55 %MMMMMMMMMMME15 %EGGGG25 %GGGGDD  160.0 ms\n"
                "0 to 160.0: exposed time in a step, mean over ranks (ms)\n"
                "M Matrix multiplication   E Memory-bound kernels\n"
                "G Gradient exchange   D Data loading\n");
    arena_close(arena);
}

TEST(a_pipeline_in_the_terminal_shows_micro_batches_and_idle_time) {
    Arena *arena = arena_open();
    Style style = {.width = 100};
    const char *plot = shown(arena, record_of_pipeline(arena), "gantt", &style);
    EXPECT_CONTAINS(plot, "idle 27.3 %");
    EXPECT_CONTAINS(plot, "stage 3");
    EXPECT_CONTAINS(plot, "B0B");
    EXPECT_CONTAINS(plot, "F forward   B backward");
    arena_close(arena);
}

TEST(terminal_plots_keep_to_the_width) {
    Arena *arena = arena_open();
    for (int width = 40; width <= 140; width += 25)
        for (int kind = 0; kind < plot_kind_count; kind++) {
            Style style = {.width = width};
            char *plot = shown(arena, record_for(arena, plot_kinds[kind]), plot_kinds[kind], &style);
            for (char *line = strtok(plot, "\n"); line; line = strtok(NULL, "\n"))
                if ((int)strlen(line) > width)
                    test_fail(__FILE__, __LINE__, "%s is too wide at %d: %s", plot_kinds[kind], width, line);
        }
    arena_close(arena);
}

TEST(the_terminal_shows_scaling_with_its_figures) {
    Arena *arena = arena_open();
    Style style = {.unicode = true, .width = 100};
    const char *plot = shown(arena, record_of_scaling(arena), "scaling", &style);
    EXPECT_CONTAINS(plot, "512   819,200    62.5  ████");
    EXPECT_CONTAINS(plot, "GPUs; images/s; vs 1 GPU (%)");
    arena_close(arena);
}

// ---- --plot alone.

static char said[1 << 16];

static int lockstep(const char *arguments) {
    char line[512];
    snprintf(line, sizeof line, "$LOCKSTEP %s 2>&1", arguments);
    return test_shell(line, said, sizeof said);
}

#define JOB "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4 --global-batch 64 "

TEST(plot_alone_draws_what_shows_most_or_says_that_nothing_can_be_drawn) {
    Arena *arena = arena_open();
    const char *kinds[4];
    EXPECT_INT(plot_kinds_for(record_of_one(arena), kinds, 4), 2); // without a timeline
    EXPECT_INT(plot_kinds_for(record_of_pipeline(arena), kinds, 4), 3);
    EXPECT_INT(plot_kinds_for(record_of_scaling(arena), kinds, 4), 2);
    EXPECT_TEXT(kinds[0], "scaling");
    EXPECT_INT(plot_kinds_for(record_of_scaling(arena), kinds, 1), 1);
    EXPECT_INT(lockstep(JOB "--plot"), 0);
    EXPECT_CONTAINS(said, "gpt2-124m on 8 × A100-SXM4-80GB: where the step goes");
    EXPECT_CONTAINS(said, "memory of the fullest GPU");
    arena_close(arena);
}

TEST(cost_against_time_of_one_point_says_what_to_vary) {
    EXPECT_INT(lockstep(JOB "--plot=pareto"), 1);
    EXPECT_CONTAINS(said, "there is no cost against time to draw");
    EXPECT_CONTAINS(said, "vary something");
}
