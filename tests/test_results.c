#include "results/results.h"
#include "sim/json.h"
#include "tests/records.h"
#include "tests/test.h"

static const Style people = {.unicode = true, .width = 100};

// ---- What a writer writes, as text.

static char *written(Arena *arena, const Record *record, void (*write)(FILE *out, const Record *record)) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    write(out, record);
    fclose(out);
    char *copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

static char *screen_of(Arena *arena, const Record *record, const Style *style, bool verbose) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    results_print(out, record, style, verbose);
    fclose(out);
    char *copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

static bool has_nan(const char *text) { return strstr(text, "nan") || strstr(text, "inf") || strstr(text, "NaN"); }

// All that can be unknown is.
static Record *record_of_unknowns(Arena *arena, int point_count) {
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, point_count);
    for (int i = 0; i < point_count; i++)
        points[i] = (RecordPoint){
            .ran = true,
            .step_p5_s = NAN,
            .step_p50_s = NAN,
            .step_p95_s = NAN,
            .samples_per_s = NAN,
            .tokens_per_s = INFINITY,
            .efficiency_vs_one_gpu = NAN,
            .efficiency_vs_ideal = NAN,
            .mfu = NAN,
            .hfu = NAN,
            .flops_per_step = NAN,
            .memory_peak_bytes = NAN,
            .memory_capacity_bytes = NAN,
            .cost_per_hour = NAN,
            .cost_per_month = NAN,
            .cost_per_run = NAN,
            .cost_per_step = NAN,
            .days = NAN,
            .steps = NAN,
            .energy_kwh = NAN,
            .power_watts = NAN,
            .micro_batch = NAN,
            .global_batch = NAN,
        };
    static const NamedValue parts[] = {{"gemm", NULL, NAN}, {"dp", NULL, 0.1}};
    static const Published published[] = {{"step time", "s", NAN, NAN, NULL}, {"cost", NULL, 0, 1, NULL}};
    static const Assumption assumptions[] = {{"guess", NULL, NULL, NULL, NULL, NAN}};
    for (int i = 0; i < point_count; i++) {
        points[i].exposed = points[i].memory = parts;
        points[i].exposed_count = points[i].memory_count = 2;
    }
    Record *record = ARENA_NEW(arena, Record);
    *record = (Record){.points = points,
                       .point_count = point_count,
                       .published = published,
                       .published_count = 2,
                       .assumptions = assumptions,
                       .assumption_count = 1};
    return record;
}

// ---- The screen.

TEST(one_point_prints_its_answer_its_causes_and_its_assumptions) {
    Arena *arena = arena_open();
    EXPECT_TEXT(screen_of(arena, record_of_one(arena), &people, false),
                "ResNet-50 on DGX A100  (resnet.lua)\n"
                "\n"
                "Step time     125.0 ms (90 % range 122.5 ms to 128.8 ms)\n"
                "Throughput    16,384 images/s · 2,048 per GPU\n"
                "Efficiency    80.0 % of one GPU's throughput times the GPUs · 85.0 % of the step is compute\n"
                "MFU           24.0 % of dense peak · HFU 32.0 % · 74.9 TFLOP/s per GPU\n"
                "Memory        46.0/80 GiB per GPU (57.5 %)\n"
                "Run           1.95 h · 450,410 steps\n"
                "Cost          $20.00 an hour · $14.6 k a month · $39.10 the run\n"
                "Energy        9.38 kWh · 4.80 kW on average at the wall\n"
                "GPUs          8 in 1 node\n"
                "Layout        DP 8 · micro-batch 256 · global batch 2,048\n"
                "Settings      precision bf16\n"
                "\n"
                "Where the step goes (exposed time, mean over ranks)\n"
                "Matrix multiplication   70.0 %   87.50 ms  ████████████████████████████████████████\n"
                "Memory-bound kernels    15.0 %   18.75 ms  ████████▋\n"
                "Gradient exchange       10.0 %   12.50 ms  █████▊\n"
                "Data loading             5.0 %   6.250 ms  ██▉\n"
                "\n"
                "Memory of the fullest GPU (share of its capacity)\n"
                "Weights        5.0 %   4.00 GiB  ████████▉\n"
                "Gradients      5.0 %   4.00 GiB  ████████▉\n"
                "Optimizer     20.0 %   16.0 GiB  ███████████████████████████████████▌\n"
                "Activations   22.5 %   18.0 GiB  ████████████████████████████████████████\n"
                "Buffers        2.5 %   2.00 GiB  ████▌\n"
                "Reserve        2.5 %   2.00 GiB  ████▌\n"
                "\n"
                "Published against simulated\n"
                "figure            published        simulated   error  source\n"
                "throughput  20,000 images/s  19,000 images/s  -5.0 %  MLPerf 1.0\n"
                "\n"
                "! Kernel efficiency is a catalogue value, not measured on your machines.\n"
                "\n"
                "Assumptions\n"
                "name              value  unit  kind       source\n"
                "attention kernel  flash        assumed    default since 2023\n"
                "gemm efficiency   0.745        fitted     NVIDIA A100 whitepaper\n"
                "NVLink              300  GB/s  datasheet  NVIDIA A100 datasheet\n"
                "\n"
                "digest fedcba9876543210  seed 1\n");
    arena_close(arena);
}

TEST(several_points_print_a_table_and_why_one_did_not_run) {
    Arena *arena = arena_open();
    Style wide = {.unicode = true, .width = 160};
    const char *screen = screen_of(arena, record_of_scaling(arena), &wide, false);
    const char *const lines[] = {
        "Settings      precision bf16\n"
        "Scaling       from 1 GPU to 512 GPUs, 320 times the throughput: 62.5 % of linear\n"
        "Cheapest      1 GPU: $31.28, 12.5 h\n"
        "Fastest       512 GPUs: $50.05, 2.35 min\n",
        "GPUs  nodes  step time     90 % range  images/s  vs 1 GPU  vs ideal     MFU  overheads              mem/GPU",
        "\n   1      1   100.0 ms  -2.0 … +3.0 %     2,560   100.0 %    95.0 %  30.0 %  data 5 %           46.0/80 GiB "
        "   "
        "$2.50",
        "\n 512     64   160.0 ms  -2.0 … +3.0 %   819,200    62.5 %    70.0 %  18.8 %  DP 25 %, data 5 %  46.0/80 GiB "
        "  "
        "$1,280",
        "\n1024    128          –              –         –         –         –       –  –                  93.1/80 GiB",
        "Does not run  1024 GPUs: needs 93.1 GiB of 80.0 GiB; what would: recompute = \"full\" (61 GiB)\n",
        "Where the step goes (exposed time, share of the step)\n"
        "GPUs    GEMM  memory   data      DP\n"
        "   1  80.0 %  15.0 %  5.0 %   0.0 %\n"
        "   8  76.0 %  15.0 %  5.0 %   4.0 %\n"
        "  64  70.0 %  15.0 %  5.0 %  10.0 %\n"
        " 512  55.0 %  15.0 %  5.0 %  25.0 %\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) EXPECT_CONTAINS(screen, lines[i]);
    arena_close(arena);
}

TEST(a_point_that_did_not_run_says_why_and_what_would) {
    Arena *arena = arena_open();
    Record *record = record_of_scaling(arena);
    record->points += 4;
    record->point_count = 1;
    const char *screen = screen_of(arena, record, &people, false);
    EXPECT_CONTAINS(screen,
                    "\nDoes not run  needs 93.1 GiB of 80.0 GiB\nWhat would    recompute = \"full\" (61 GiB)\n");
    EXPECT_CONTAINS(screen, "Memory        93.1/80 GiB per GPU (116.4 %)\n");
    EXPECT(!strstr(screen, "Step time"));
    arena_close(arena);
}

TEST(few_assumptions_are_shown_unless_verbose) {
    Arena *arena = arena_open();
    Record *record = record_of_one(arena);
    Assumption many[12];
    for (int i = 0; i < 12; i++) many[i] = (Assumption){"x", "s", "a book", i == 11 ? "assumed" : "measured", "1", 1};
    many[11].name = "the weakest";
    record->assumptions = many;
    record->assumption_count = 12;
    const char *brief = screen_of(arena, record, &people, false);
    EXPECT_CONTAINS(brief, "the weakest");
    EXPECT_CONTAINS(brief, "and 4 more that are better known: -v\n");
    EXPECT(!strstr(screen_of(arena, record, &people, true), "more that are"));
    arena_close(arena);
}

TEST(the_screen_keeps_to_its_width_and_alphabet) {
    Arena *arena = arena_open();
    Style ascii = {.width = 70};
    Record *records[] = {record_of_one(arena), record_of_scaling(arena)};
    for (int i = 0; i < 2; i++) {
        char *screen = screen_of(arena, records[i], &ascii, true);
        for (const char *c = screen; *c; c++) EXPECT((unsigned char)*c < 0x80);
        for (char *line = strtok(screen, "\n"); line; line = strtok(NULL, "\n"))
            if (strlen(line) > 70) test_fail(__FILE__, __LINE__, "too wide: %s", line);
    }
    arena_close(arena);
}

TEST(colours_come_only_when_asked_for_and_change_no_letter) {
    Arena *arena = arena_open();
    Style colored = people;
    colored.color = true;
    const char *plain = screen_of(arena, record_of_one(arena), &people, true);
    char *painted = screen_of(arena, record_of_one(arena), &colored, true), *end = painted;
    EXPECT(!strchr(plain, '\033'));
    EXPECT(strchr(painted, '\033') != NULL);
    for (char *c = painted; *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            *end++ = *c;
    }
    *end = '\0';
    EXPECT_TEXT(painted, plain);
    arena_close(arena);
}

TEST(plain_output_is_lines_of_tab_separated_cells) {
    Arena *arena = arena_open();
    Style plain = {.plain = true, .unicode = true};
    const char *screen = screen_of(arena, record_of_scaling(arena), &plain, false);
    EXPECT_CONTAINS(screen, "GPUs\tnodes\tstep time\t");
    EXPECT_CONTAINS(screen, "\n512\t64\t160.0 ms\t-2.0 … +3.0 %\t819200\t62.5 %\t");
    EXPECT_CONTAINS(screen, "\tneeds 93.1 GiB of 80.0 GiB\trecompute = \"full\" (61 GiB)\n");
    arena_close(arena);
}

TEST(what_is_unknown_is_never_printed_as_nan) {
    Arena *arena = arena_open();
    Style plain = {.plain = true};
    for (int count = 0; count <= 3; count++) {
        Record *record = record_of_unknowns(arena, count);
        EXPECT(!has_nan(screen_of(arena, record, &people, true)));
        EXPECT(!has_nan(screen_of(arena, record, &plain, true)));
        EXPECT(!has_nan(written(arena, record, results_write_csv)));
        EXPECT(!has_nan(written(arena, record, results_write_json)));
    }
    arena_close(arena);
}

TEST(user_text_cannot_command_the_terminal) {
    Arena *arena = arena_open();
    static const char *const notes[] = {"\033]0;owned\007 note\nsecond line"};
    Record *record = record_of_one(arena);
    record->title = "\033[2Jtitle";
    record->scenario = "a\033[31mb.lua";
    record->notes = notes;
    EXPECT(!strchr(screen_of(arena, record, &people, true), '\033'));
    arena_close(arena);
}

// ---- JSON.

static const Json *json_of(Arena *arena, const Record *record) {
    const char *text = written(arena, record, results_write_json);
    Problems *problems = problems_create(arena);
    const Json *json = json_read_text(arena, "record", text, strlen(text), problems);
    problems_print(problems, stdout);
    EXPECT_INT(problem_count(problems), 0);
    return json;
}

static double number_at(const Json *json, const char *object, const char *key) {
    const Json *inner = object ? json_get(json, object) : json;
    const Json *value = inner ? json_get(inner, key) : NULL;
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static const char *text_at(const Json *json, const char *key) {
    const Json *value = json ? json_get(json, key) : NULL;
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

TEST(json_of_one_point_has_the_keys_of_the_interface_at_the_top) {
    Arena *arena = arena_open();
    const Json *json = json_of(arena, record_of_one(arena));
    if (!json) return;
    const char *const keys[] = {"format_version",
                                "title",
                                "scenario",
                                "seed",
                                "step_time_s",
                                "samples_per_s",
                                "mfu",
                                "hfu",
                                "scaling_efficiency",
                                "memory_bytes",
                                "exposed_s",
                                "cost",
                                "days",
                                "energy_kwh",
                                "layout",
                                "assumptions",
                                "digest",
                                "points",
                                "published",
                                "notes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_get(json, keys[i])) test_fail(__FILE__, __LINE__, "no key \"%s\"", keys[i]);
    EXPECT_NEAR(number_at(json, NULL, "format_version"), 2, 0);
    EXPECT_NEAR(number_at(json, "step_time_s", "p50"), 0.125, 0);
    EXPECT_NEAR(number_at(json, "step_time_s", "p5"), 0.1225, 1e-15);
    EXPECT_NEAR(number_at(json, NULL, "samples_per_s"), 16384, 0);
    EXPECT_NEAR(number_at(json, "memory_bytes", "capacity"), 80 * 0x1p30, 0);
    EXPECT_NEAR(number_at(json_get(json, "memory_bytes"), "by_class", "weights"), 4 * 0x1p30, 0);
    EXPECT_NEAR(number_at(json, "exposed_s", "dp"), 0.0125, 1e-15);
    EXPECT_NEAR(number_at(json, "cost", "per_hour"), 20, 0);
    EXPECT_TEXT(text_at(json_get(json, "cost"), "currency"), "USD");
    EXPECT_NEAR(number_at(json, "layout", "dp"), 8, 0);
    EXPECT_NEAR(number_at(json, "parameters", "gpus"), 8, 0);
    EXPECT_TEXT(text_at(json_get(json, "parameters"), "precision"), "bf16");
    EXPECT_TEXT(text_at(json, "digest"), "fedcba9876543210");
    EXPECT(!json_get(json, "tokens_per_s"));
    EXPECT_INT(json_get(json, "points")->count, 1);
    EXPECT_TEXT(text_at(&json_get(json, "points")->items[0], "digest"), "0123456789abcdef");
    EXPECT_INT(json_get(json, "assumptions")->count, 3);
    EXPECT_TEXT(text_at(&json_get(json, "assumptions")->items[2], "value"), "flash");
    EXPECT_TEXT(text_at(&json_get(json, "assumptions")->items[1], "kind"), "datasheet");
    arena_close(arena);
}

TEST(json_of_several_points_lists_them_with_null_for_what_did_not_run) {
    Arena *arena = arena_open();
    const Json *json = json_of(arena, record_of_scaling(arena));
    if (!json) return;
    const Json *points = json_get(json, "points");
    EXPECT_INT(points->count, 5);
    EXPECT(!json_get(json, "step_time_s"));
    const Json *failed = &points->items[4];
    EXPECT(json_get(failed, "ran")->kind == JSON_BOOL && !json_get(failed, "ran")->boolean);
    EXPECT_TEXT(text_at(failed, "why_not"), "needs 93.1 GiB of 80.0 GiB");
    EXPECT(json_get(json_get(failed, "step_time_s"), "p50")->kind == JSON_NULL);
    EXPECT(json_get(failed, "mfu")->kind == JSON_NULL);
    arena_close(arena);
}

TEST(json_survives_any_text_and_repeated_names) {
    Arena *arena = arena_open();
    const NamedValue twice[] = {{"dp", NULL, 1}, {"dp", NULL, 2}};
    const RecordParameter same[] = {{"tp", "1", 1}, {"tp", "2", 2}};
    Record *record = record_of_one(arena);
    RecordPoint point = record->points[0];
    point.exposed = twice;
    point.exposed_count = 2;
    point.parameters = same;
    record->points = &point;
    record->title = "\"quoted\" \\ \n\t\x01 \xff é";
    record->seed = UINT64_MAX;
    const Json *json = json_of(arena, record);
    EXPECT(json != NULL);
    EXPECT_NEAR(number_at(json, "exposed_s", "dp"), 1, 0);
    EXPECT_TEXT(text_at(json, "seed"), "18446744073709551615");
    arena_close(arena);
}

TEST(how_long_we_took_is_in_no_file) {
    Arena *arena = arena_open();
    Record *record = record_of_one(arena);
    RecordPoint slower = record->points[0];
    const char *json = written(arena, record, results_write_json), *csv = written(arena, record, results_write_csv);
    slower.simulate_seconds = 77;
    record->points = &slower;
    EXPECT_TEXT(written(arena, record, results_write_json), json);
    EXPECT_TEXT(written(arena, record, results_write_csv), csv);
    arena_close(arena);
}

// ---- CSV.

static int count_commas_outside_quotes(const char *line) {
    bool is_quoted = false;
    int commas = 0;
    for (; *line && (is_quoted || *line != '\n'); line++) {
        if (*line == '"') is_quoted = !is_quoted;
        if (*line == ',' && !is_quoted) commas++;
    }
    return commas;
}

TEST(csv_has_a_row_a_point_and_quotes_what_needs_it) {
    Arena *arena = arena_open();
    const char *csv = written(arena, record_of_scaling(arena), results_write_csv);
    int rows = 0, columns = count_commas_outside_quotes(csv);
    for (const char *line = csv; *line; line = strchr(line, '\n') + 1, rows++)
        EXPECT_INT(count_commas_outside_quotes(line), columns);
    EXPECT_INT(rows, 6);
    EXPECT_CONTAINS(csv, "precision,gpus,nodes,step_p5_s,step_p50_s,step_p95_s,samples_per_s,tokens_per_s,");
    EXPECT_CONTAINS(csv, ",exposed_gemm_s,exposed_memory-bound_s,exposed_dp_s,");
    EXPECT_CONTAINS(csv, "\nbf16,64,8,0.1225,0.125,0.12875,131072,,0.8,");
    EXPECT_CONTAINS(csv, ",needs 93.1 GiB of 80.0 GiB,\"recompute = \"\"full\"\" (61 GiB)\",0123456789abcdef\n");
    arena_close(arena);
}

TEST(csv_quotes_commas_and_has_a_line_a_row) {
    Arena *arena = arena_open();
    const RecordParameter parameters[] = {{"name, with \"quotes\"", "a\nb", NAN}};
    Record *record = record_of_one(arena);
    RecordPoint point = record->points[0];
    point.parameters = parameters;
    point.parameter_count = 1;
    record->points = &point;
    const char *csv = written(arena, record, results_write_csv);
    EXPECT_SAME(strncmp(csv, "\"name, with \"\"quotes\"\"\",gpus,", 29), 0);
    EXPECT_CONTAINS(csv, "\na b,8,1,");
    arena_close(arena);
}

// ---- Style.

TEST(colour_is_for_terminals_unless_asked_for) {
    FILE *file = tmpfile();
    EXPECT(!style_for(file, NULL, false).color);
    EXPECT(!style_for(file, "auto", false).color);
    EXPECT(style_for(file, "always", false).color);
    EXPECT(!style_for(file, "always", true).color);
    EXPECT(!style_for(file, "never", false).color);
    EXPECT(style_for(file, NULL, true).plain);
    fclose(file);
}

TEST(the_locale_decides_about_unicode) {
    char *before = getenv("LC_ALL") ? strdup(getenv("LC_ALL")) : NULL;
    setenv("LC_ALL", "C", 1);
    EXPECT(!style_for(stdout, NULL, false).unicode);
    setenv("LC_ALL", "en_US.UTF-8", 1);
    EXPECT(style_for(stdout, NULL, false).unicode);
    setenv("LC_ALL", "C.utf8", 1);
    EXPECT(style_for(stdout, NULL, false).unicode);
    unsetenv("LC_ALL");
    if (before) setenv("LC_ALL", before, 1);
    free(before);
}
