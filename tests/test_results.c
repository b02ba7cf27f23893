#include "results/answer/record_answer.h"
#include "sim/data/json.h"
#include "tests/records.h"
#include "tests/test.h"

static const Style people = {.unicode = true, .width = 100};

// ---- What a writer writes, as text.

static char *form_of(Arena *arena, const Record *record, AnswerForm form, const Style *style, bool verbose) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    record_write(out, record, form, style, verbose);
    fclose(out);
    char *copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

static char *screen_of(Arena *arena, const Record *record, const Style *style, bool verbose) {
    return form_of(arena, record, ANSWER_SCREEN, style, verbose);
}

static char *csv_of(Arena *arena, const Record *record) { return form_of(arena, record, ANSWER_CSV, &people, true); }
static char *json_form(Arena *arena, const Record *record) {
    return form_of(arena, record, ANSWER_JSON, &people, true);
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
                "ResNet-50 on DGX A100: a step takes 125.0 ms (nine times in ten 122.5 to 128.8 ms) on 8 GPUs; the\n"
                "  run takes 1.95 h and costs $39.10.\n"
                "\n"
                "Throughput  16,384 images/s   2,048 per GPU\n"
                "Efficiency           80.0 %   of one GPU's throughput times the GPUs · 85.0 % of the step is compute\n"
                "MFU                  24.0 %   of dense peak · HFU 32.0 % · 74.9 TFLOP/s per GPU\n"
                "Memory          46.0/80 GiB   per GPU (57.5 %)\n"
                "Run                  1.95 h   450,410 steps\n"
                "Cost        $20.00 an hour · $14.6 k a month · $39.10 the run\n"
                "Energy      9.38 kWh · 4.80 kW on average at the wall\n"
                "GPUs        8 in 1 node\n"
                "Layout      DP 8 · micro-batch 256 · global batch 2,048\n"
                "Settings    precision bf16\n"
                "Why         Matrix multiplication 70 %, Memory-bound kernels 15 %, Gradient exchange 10 %, Data\n"
                "            loading 5 %\n"
                "\n"
                "Published against simulated\n"
                "figure            published        simulated   error  source\n"
                "throughput  20,000 images/s  19,000 images/s  -5.0 %  MLPerf 1.0\n"
                "\n"
                "! Kernel efficiency is a catalogue value, not measured on your machines.\n"
                "Assumed   attention kernel flash; and 2 more\n"
                "-v shows all\n");
    arena_close(arena);
}

TEST(several_points_print_a_table_and_why_one_did_not_run) {
    Arena *arena = arena_open();
    Style wide = {.unicode = true, .width = 160};
    const char *screen = screen_of(arena, record_of_scaling(arena), &wide, true);
    const char *const lines[] = {
        "Settings  precision bf16\n"
        "Scaling   from 1 GPU to 512 GPUs, 320 times the throughput: 62.5 % of linear\n"
        "Cheapest  1 GPU: $31.28, 12.5 h\n"
        "Fastest   512 GPUs: $50.05, 2.35 min\n",
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
    EXPECT_CONTAINS(screen, "ResNet-50 on DGX A100 does not run: needs 93.1 GiB of 80.0 GiB.\n\n"
                            "Fits with  recompute = \"full\" (61 GiB)\n"
                            "Memory     93.1/80 GiB   per GPU (116.4 %)\n");
    EXPECT(!strstr(screen, "a step takes"));
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
    EXPECT_CONTAINS(brief, "Assumed   the weakest 1 s; and 11 more\n");
    EXPECT(!strstr(brief, "a book"));
    EXPECT_CONTAINS(screen_of(arena, record, &people, true), "the weakest    1 s  assumed\n    a book\n");
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
    const char *one = screen_of(arena, record_of_one(arena), &plain, false);
    EXPECT_CONTAINS(one, "title\tResNet-50 on DGX A100\n");
    EXPECT_CONTAINS(one, "\nstep_time_s.p50\t0.125\n");
    EXPECT_CONTAINS(one, "\nnotes\tKernel efficiency is a catalogue value, not measured on your machines.\n");
    const char *many = screen_of(arena, record_of_scaling(arena), &plain, false);
    EXPECT_CONTAINS(many, "\npoints\nparameters.gpus\tparameters.precision\tran\tgpus\tnodes\t");
    EXPECT_CONTAINS(many, "\n512\tbf16\ttrue\t512\t64\t0.1568\t0.16\t0.1648\t819200\t0.625\t");
    EXPECT_CONTAINS(many, "\tneeds 93.1 GiB of 80.0 GiB\trecompute = \"full\" (61 GiB)\n");
    arena_close(arena);
}

TEST(what_is_unknown_is_never_printed_as_nan) {
    Arena *arena = arena_open();
    Style plain = {.plain = true};
    for (int count = 0; count <= 3; count++) {
        Record *record = record_of_unknowns(arena, count);
        EXPECT(!has_nan(screen_of(arena, record, &people, true)));
        EXPECT(!has_nan(screen_of(arena, record, &plain, true)));
        EXPECT(!has_nan(csv_of(arena, record)));
        EXPECT(!has_nan(json_form(arena, record)));
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
    const char *text = json_form(arena, record);
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
    EXPECT_TEXT(text_at(&json_get(json, "assumptions")->items[0], "value"), "flash");
    EXPECT_TEXT(text_at(&json_get(json, "assumptions")->items[2], "kind"), "datasheet");
    arena_close(arena);
}

TEST(a_kept_timeline_is_in_json_bar_by_bar) {
    Arena *arena = arena_open();
    const Record *record = record_of_pipeline(arena);
    const Timeline *timeline = record->points[0].timeline;
    const Json *bars = json_get(json_of(arena, record), "timeline");
    EXPECT(bars && bars->count == timeline->bar_count);
    for (int i = 0; bars && i < bars->count; i++) {
        EXPECT_TEXT(json_get(&bars->items[i], "row")->text, timeline->row_names[timeline->bars[i].row]);
        EXPECT(json_get(&bars->items[i], "end_s")->number == timeline->bars[i].end_s);
    }
    EXPECT(json_get(json_of(arena, record_of_one(arena)), "timeline") == NULL);
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
    const char *json = json_form(arena, record), *csv = csv_of(arena, record);
    slower.simulate_seconds = 77;
    record->points = &slower;
    EXPECT_TEXT(json_form(arena, record), json);
    EXPECT_TEXT(csv_of(arena, record), csv);
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
    const char *csv = csv_of(arena, record_of_scaling(arena));
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
    const char *csv = csv_of(arena, record);
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
