// Reports: one file that needs nothing else, in which nothing of a user's is markup.
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "results/answer/record_answer.h"
#include "results/page/report.h"
#include "results/page/report_page.h"
#include "sim/base/digest.h"
#include "sim/base/text.h"
#include "sim/system/file.h"
#include "tests/records.h"
#include "tests/test.h"

static char *page_of(Arena *arena, const Report *report) {
    TextStream text = text_stream_open();
    report_write(text.stream, report);
    return text_stream_close(arena, &text);
}

static char *page_of_record(Arena *arena, const Record *record) {
    Report *report = report_create(arena, record->title, "lockstep report run x.lua", NULL);
    record_on_page(arena, report, &(RecordPage){.record = record});
    return page_of(arena, report);
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) count++;
    return count;
}

// The text between the first `open` and the next `close`, in *bytes.
static const char *between(const char *page, const char *open, const char *close, size_t *bytes) {
    const char *start = strstr(page, open);
    *bytes = 0;
    if (!start) return "";
    start += strlen(open);
    const char *end = strstr(start, close);
    *bytes = end ? (size_t)(end - start) : 0;
    return start;
}

static bool is_xml(const char *text, size_t bytes) {
    XML_Parser parser = XML_ParserCreate("UTF-8");
    bool well = XML_Parse(parser, text, (int)bytes, 1) == XML_STATUS_OK;
    XML_ParserFree(parser);
    return well;
}

// How many drawings there are; each must be well-formed by itself.
static int well_formed_drawings(const char *page) {
    int count = 0;
    for (const char *at = page; (at = strstr(at, "<svg class=\"")); count++) {
        const char *end = strstr(at, "</svg>");
        EXPECT(end != NULL);
        if (!end || !is_xml(at, (size_t)(end + 6 - at))) {
            test_fail(__FILE__, __LINE__, "drawing %d is no XML: %.300s", count, at);
            break;
        }
        at = end;
    }
    return count;
}

TEST(every_chart_of_a_report_is_well_formed_and_has_its_numbers_behind_it) {
    Arena *arena = arena_open();
    const Record *records[] = {record_of_one(arena), record_of_scaling(arena), record_of_pipeline(arena)};
    for (int i = 0; i < 3; i++) {
        const char *page = page_of_record(arena, records[i]);
        int figures = count_of(page, "<figure");
        EXPECT(figures >= 2);
        EXPECT_INT(count_of(page, "<svg class=\"wide\""), figures);
        EXPECT_INT(count_of(page, "<svg class=\"narrow\""), figures);
        EXPECT(well_formed_drawings(page) >= 2 * figures);
        EXPECT_INT(count_of(page, "<summary>The numbers</summary>"), figures);
        EXPECT(!strstr(page, "nan") && !strstr(page, "inf\""));
    }
    arena_close(arena);
}

TEST(a_report_names_its_style_and_script_by_their_hashes_and_allows_nothing_else) {
    Arena *arena = arena_open();
    const char *page = page_of_record(arena, record_of_scaling(arena));
    static const char *const tags[] = {"style", "script"};
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        char hash[SHA256_BASE64_ROOM];
        const char *text =
            between(page, arena_printf(arena, "<%s>", tags[i]), arena_printf(arena, "</%s>", tags[i]), &bytes);
        EXPECT(bytes > 1000);
        sha256_base64(text, bytes, hash);
        EXPECT_CONTAINS(page, arena_printf(arena, "%s-src 'sha256-%s'", tags[i], hash));
        EXPECT_INT(count_of(page, arena_printf(arena, "<%s", tags[i])), 1);
    }
    EXPECT_CONTAINS(page, "default-src 'none'");
    EXPECT(!strstr(page, " style=") && !strstr(page, "unsafe-inline"));
    EXPECT(!strstr(page, "src=\"") && !strstr(page, "href=\"http"));
    arena_close(arena);
}

// What a scenario may bring in: a title, names, notes, sources, texts of settings.
static const char hostile[] =
    "</title></style></script><script>alert(1)</script>\" onload=\"alert(2)\x01\xff&lt;'\xe2\x80\xae";

TEST(nothing_of_a_users_is_markup_in_a_report) {
    Arena *arena = arena_open();
    Record *record = record_of_pipeline(arena);
    RecordPoint *point = ARENA_NEW(arena, RecordPoint);
    *point = record->points[0];
    NamedValue *parts = ARENA_ARRAY(arena, NamedValue, 2);
    parts[0] = (NamedValue){hostile, hostile, 3};
    parts[1] = (NamedValue){hostile, NULL, 5};
    point->exposed = point->memory = point->cost_lines = parts;
    point->exposed_count = point->memory_count = point->cost_line_count = 2;
    point->memory_peak_at = point->currency = hostile;
    Timeline *timeline = ARENA_NEW(arena, Timeline);
    static const char *const rows[] = {hostile};
    static const TimelineBar bars[] = {{.row = 0, .start_s = 0, .end_s = 1, .cause = hostile, .name = hostile}};
    *timeline = (Timeline){.row_names = rows, .row_count = 1, .bars = bars, .bar_count = 1, .idle_share = 0.1};
    point->timeline = timeline;
    static const char *const notes[] = {hostile};
    static const Assumption assumptions[] = {{hostile, hostile, hostile, hostile, hostile, NAN}};
    record->points = point;
    record->title = record->scenario = record->sample_name = hostile;
    record->notes = notes;
    record->note_count = 1;
    record->assumptions = assumptions;
    record->assumption_count = 1;
    Report *report = report_create(arena, hostile, hostile, hostile);
    report_lead(report, hostile);
    record_on_page(arena, report, &(RecordPage){.record = record});
    report_code(report, hostile);
    const char *page = page_of(arena, report);
    EXPECT(!strstr(page, "<script>alert") && !strstr(page, "\" onload"));
    EXPECT_INT(count_of(page, "<script"), 1);
    EXPECT_INT(count_of(page, "</style>"), 1);
    EXPECT_INT(count_of(page, "</title></style>"), 0);
    EXPECT(!strchr(page, '\x01') && !strstr(page, "\xff") && !strstr(page, "\xe2\x80\xae"));
    EXPECT(well_formed_drawings(page) >= 6);
    arena_close(arena);
}

TEST(a_report_has_the_same_bytes_each_time) {
    Arena *arena = arena_open();
    const char *one = page_of_record(arena, record_of_scaling(arena));
    EXPECT(strcmp(one, page_of_record(arena, record_of_scaling(arena))) == 0);
    EXPECT(!strstr(one, "written on"));
    arena_close(arena);
}

// ---- Charts.

TEST(contrast_of_colours_is_that_of_wcag) {
    EXPECT_NEAR(color_contrast(0x000000, 0xffffff), 21, 1e-12);
    EXPECT_NEAR(color_contrast(0x777777, 0xffffff), 4.478, 1e-3); // the well-known grey that just fails AA
    EXPECT_NEAR(color_contrast(0xffffff, 0x777777), color_contrast(0x777777, 0xffffff), 1e-12);
}

// What is drawn and what is written on it can be seen on both papers: 3 and 4.5 to 1 (WCAG 2.1, 1.4.11 and 1.4.3).
TEST(colours_of_a_report_can_be_seen_in_light_and_dark) {
    Arena *arena = arena_open();
    Palette palette = {.arena = arena};
    for (uint32_t color = 0; color <= 0xffffff; color += 0x070d13) palette_place(&palette, color);
    TextStream text = text_stream_open();
    palette_write(text.stream, &palette);
    const char *style = text_stream_close(arena, &text);
    unsigned paper = 0xffffff;
    for (const char *at = style; (at = strstr(at, ".f")); at++) {
        unsigned fill = 0, edge = 0, ink = 0;
        if (at > strstr(style, "@media")) paper = 0x171b21;
        if (at > style && at[-1] == ' ') { // of narrow bars, that have no edge
            const char *rule = strchr(at, '{');
            EXPECT_INT(sscanf(rule, "{fill:#%x}", &fill), 1);
            EXPECT(color_contrast(fill, paper) >= 3 - 1e-9);
            at = rule;
            continue;
        }
        EXPECT_INT(sscanf(at, ".f%*d{fill:#%x;stroke:#%x}", &fill, &edge), 2);
        const char *letters = strstr(at, ".t");
        EXPECT(letters && sscanf(letters, ".t%*d{fill:#%x}", &ink) == 1);
        EXPECT(color_contrast(edge, paper) >= 3 - 1e-9);
        EXPECT(color_contrast(ink, fill) >= 4.5);
    }
    EXPECT(paper == 0x171b21);
    arena_close(arena);
}

TEST(steps_of_an_axis_are_1_2_or_5_times_a_power_of_ten) {
    EXPECT_NEAR(nice_step(10, 5), 2, 1e-12);
    EXPECT_NEAR(nice_step(0.9, 6), 0.2, 1e-12);
    EXPECT_NEAR(nice_step(7200, 8), 1000, 1e-9);
    for (double span = 1e-9; span < 1e12; span *= 1.7) EXPECT(span / nice_step(span, 7) <= 7 + 1e-9);
}

TEST(a_front_holds_what_no_other_beats) {
    ParetoPoint points[] = {{.x = 1, .y = 9}, {.x = 2, .y = 5}, {.x = 3, .y = 5}, {.x = 4, .y = 2}, {.x = 2, .y = 5}};
    pareto_front(points, 5);
    EXPECT(points[0].on_front && points[1].on_front && !points[2].on_front && points[3].on_front && points[4].on_front);
}

TEST(a_point_alone_has_no_cost_against_time) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Chart chart;
    EXPECT(!pareto_chart(arena, record_of_one(arena), &chart, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "one point alone has both");
    arena_close(arena);
}

// Points that lie apart are named beside them, those that crowd by letters with a key; ranges are drawn where known.
TEST(points_that_crowd_have_letters_and_a_key) {
    Arena *arena = arena_open();
    for (int crowd = 0; crowd <= 1; crowd++) {
        ParetoPoint points[12];
        for (int i = 0; i < 12; i++)
            points[i] = (ParetoPoint){.x = 10 + (crowd ? 0.02 : 4) * i,
                                      .y = 50 - (crowd ? 0.02 : 4) * i,
                                      .label = arena_printf(arena, "cluster %d", i),
                                      .on_front = true,
                                      .x_low = crowd ? 0 : NAN,
                                      .y_low = i == 11 ? 3 : NAN,
                                      .y_high = i == 11 ? 60 : NAN};
        Chart chart;
        pareto_lines(arena, points, 12, &chart);
        chart.lines.title = "cost";
        chart.lines.x_title = "days";
        chart.lines.y_title = "USD";
        chart.lines.x_limit = 80;
        chart.lines.x_limit_title = "date: 80 days";
        Report *report = report_create(arena, "t", "c", NULL);
        report_section(report, "s");
        report_chart(report, &chart, "says");
        const char *page = page_of(arena, report);
        // At its point and in the key, on both papers; what lies apart has room for names on the wide one.
        EXPECT_INT(count_of(page, ">A</text>"), crowd ? 4 : 2);
        EXPECT_INT(count_of(page, ">cluster 3</text>") > 0, 1);
        EXPECT_INT(count_of(page, "date: 80 days</text>"), 2);
        EXPECT_INT(count_of(page, "class=\"line range"), 2);
    }
    arena_close(arena);
}

static double time_at(const BarChart *chart, int row, int legend) {
    double sum = 0;
    for (int i = 0; i < chart->bar_count; i++)
        if (chart->bars[i].row == row && chart->bars[i].legend == legend)
            sum += (chart->bars[i].to - chart->bars[i].from) * bar_share(&chart->bars[i]);
    return sum;
}

// Two rows of passes that differ, a third of transfers in two lanes; no share is one that a float holds exactly.
TEST(a_long_timeline_keeps_its_ends_and_its_sums_and_says_so) {
    Arena *arena = arena_open();
    enum { EACH = 4000 };
    static ChartBar bars[4 * EACH];
    static const char *const rows[] = {"a", "b", "b transfers"};
    static const ChartLegend legend[] = {{"one", 0x112233}, {"other", 0x445566}, {"tp", 0x778899}, {"dp", 0xaabbcc}};
    for (int i = 0; i < EACH; i++) {
        bars[i] = (ChartBar){.row = 0, .from = i, .to = i + 0.3, .legend = i % 2};
        bars[EACH + i] = (ChartBar){.row = 1, .from = i, .to = i + 0.7, .legend = i % 3 == 0};
        for (int lane = 0; lane < 2; lane++)
            bars[(2 + lane) * EACH + i] = (ChartBar){.row = 2,
                                                     .from = i,
                                                     .to = i + 1,
                                                     .legend = 2 + lane,
                                                     .low = 0.5 * lane,
                                                     .high = 0.5 * lane + (lane ? 0.05 : 0.15),
                                                     .full = 0.5};
    }
    BarChart chart = {.rows = rows,
                      .row_count = 3,
                      .bars = bars,
                      .bar_count = 4 * EACH,
                      .legend = legend,
                      .legend_count = 4,
                      .x_max = EACH,
                      .x_unit = "ms",
                      .is_dense = true};
    const char *left_out;
    const BarChart *thin = thinned_bars(arena, &chart, &left_out);
    EXPECT(thin->bar_count < 8000);
    int single = 0;
    for (int i = 0; i < thin->bar_count; i++) single += !thin->bars[i].is_bin;
    EXPECT(single > 3000 && single <= 4008); // those that the edges cut in two count twice
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 4; k++) EXPECT_NEAR(time_at(thin, row, k), time_at(&chart, row, k), 1e-6);
    for (int i = 0; i < thin->bar_count; i++)
        if (thin->bars[i].is_bin && thin->bars[i].row == 2)
            EXPECT(thin->bars[i].low >= (thin->bars[i].legend == 3 ? 0.5 : 0) && thin->bars[i].high <= 1);
    EXPECT_CONTAINS(left_out, " Of its 16,000 bars those of the first and the last ");
    EXPECT_CONTAINS(left_out, " ms are drawn one by one");
    chart.bar_count = 8000;
    EXPECT(thinned_bars(arena, &chart, &left_out) == &chart && !*left_out);
    arena_close(arena);
}

// ---- The command.

static char said[1 << 16];

static int lockstep(const char *arguments) {
    char line[512];
    snprintf(line, sizeof line, "$LOCKSTEP %s", arguments);
    return test_shell(line, said, sizeof said);
}

TEST(a_report_of_a_job_answers_and_says_how_to_make_it_again) {
    EXPECT_INT(lockstep("report run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4 --global-batch 64 "
                        "-o /tmp/lockstep-report-job.html && tail -c 60000 /tmp/lockstep-report-job.html"),
               0);
    EXPECT_CONTAINS(said, "lockstep report run --model gpt2-124m --node dgx-a100 --gpus 8");
    EXPECT_CONTAINS(said, "A step in time");
    unlink("/tmp/lockstep-report-job.html");
}

TEST(a_report_of_a_plan_ends_in_advice_and_says_what_else_may_be_set) {
    EXPECT_INT(lockstep("report plan --model llama-3-8b --tokens 20G --global-batch 256 --node dgx-h100 --fabric "
                        "ib-ndr400 --gpus 64 --by 30d --budget 200k --price 2.49 --faults llama3-h100 -j 1 -o "
                        "/tmp/lockstep-report-plan.html && sed 's/<[^>]*>/ /g' /tmp/lockstep-report-plan.html | "
                        "grep -iE 'Recommended|how surely|weakest|measure first|Spares and|If date|Storage:'"),
               0);
    EXPECT_CONTAINS(said, "Recommended");
    EXPECT_CONTAINS(said, "64 GPUs of dgx-h100 ib-ndr400");
    EXPECT_CONTAINS(said, "weakest assumption");
    EXPECT_CONTAINS(said, "Spares and checkpoints");
    EXPECT_CONTAINS(said, "Storage: 1 x superpod-storage for checkpoints, the share of 64 of the 256 GPUs");
    EXPECT_CONTAINS(said, "If date, budget, prices or failures were others");
    unlink("/tmp/lockstep-report-plan.html");
}

TEST(what_moves_a_plan_most_stands_first) {
    EXPECT_INT(
        lockstep("report plan --model llama-2-7b --node dgx-a100 --gpus 64 --tokens 100B --global-batch 512 --by 60d "
                 "--faults llama3-h100 -j 1 -o /tmp/lockstep-report-swings.html && tr '\\n' ' ' "
                 "</tmp/lockstep-report-swings.html | sed 's/.*<caption>[^/]*How far one thing moves//; "
                 "s,</table>.*,,' | grep -o 'row\">[^<]*'"),
        0);
    const char *kernels = strstr(said, "kernels"), *fabric = strstr(said, "fabric");
    EXPECT(kernels && fabric && kernels < fabric);
    unlink("/tmp/lockstep-report-swings.html");
}

// The number behind `key` of a JSON answer, of its first time.
static double number_of(const char *answer, const char *key) {
    const char *at = strstr(answer, key);
    EXPECT(at != NULL);
    return at ? atof(at + strlen(key)) : NAN;
}

#define SMALL                                                                                                          \
    "--model llama-3-8b --tokens 200G --global-batch 256 --node dgx-h100 --fabric ib-ndr400 --gpus 64,128 "            \
    "--faults llama3-h100 --date 2026-11-21 -j 1 "
#define MISSES SMALL "--by 15d --budget 36k "

// Of a plan as text, one tag's content a word: what a reader finds on it.
static const char *plan_page(const char *options, const char *name) {
    static char page[1 << 20];
    char command[1024];
    snprintf(command, sizeof command,
             "$LOCKSTEP report plan " SMALL "%s -o /tmp/lockstep-report-%s.html >/tmp/lockstep-report-%s.txt; "
             "sed 's/<svg.*//; s/<[^>]*>/|/g; s/&#160;/ /g' /tmp/lockstep-report-%s.html; "
             "rm -f /tmp/lockstep-report-%s.html /tmp/lockstep-report-%s.txt",
             options, name, name, name, name, name);
    test_shell(command, page, sizeof page);
    return page;
}

// One cost and one length of a plan; the median of the draws is another figure, said once and named.
TEST(a_plan_has_one_cost_on_its_page_and_the_median_has_a_name) {
    static char answer[1 << 18];
    Arena *arena = arena_open();
    test_shell("$LOCKSTEP plan " MISSES "--json", answer, sizeof answer);
    const char *page = plan_page("--by 15d --budget 36k", "one-cost");
    double cost = number_of(answer, "\"amount\": ");
    double median = number_of(strstr(strstr(answer, "\"cost_range\": "), "\"p50\""), "\"p50\": ");
    const char *planned = text_money(arena, cost, "USD"), *middle = text_money(arena, median, "USD");
    EXPECT(strcmp(planned, middle) != 0);
    EXPECT_CONTAINS(page, arena_printf(arena, "and costs||%s|", planned));
    EXPECT_CONTAINS(page, "What the cost is made of, as planned");
    EXPECT_INT(count_of(page, middle), 1);
    EXPECT_CONTAINS(page, arena_printf(arena, "whose median is "));
    EXPECT_CONTAINS(page, "8,192 drawn futures");
    arena_close(arena);
}

TEST(a_plans_page_sets_its_chance_beside_what_was_asked_and_says_what_would_do) {
    const char *page = plan_page("--by 15d --budget 36k", "asked");
    EXPECT_CONTAINS(page, "No plan keeps date and budget with 80 %");
    EXPECT_CONTAINS(page, "asked for: 80 %");
    EXPECT_CONTAINS(page, "Change: with a budget of $");
    EXPECT_CONTAINS(page, "What would be enough");
    EXPECT_CONTAINS(page, "Change: little is to be gained by how it runs");
    EXPECT_CONTAINS(page, "Measure: ");
    EXPECT(!strstr(page, "$0.00"));
    page = plan_page("--by 15d --budget 36k --confidence 90%", "asked-90");
    EXPECT_CONTAINS(page, "asked for: 90 %");
    EXPECT(!strstr(page, "asked for: 80 %"));
    page = plan_page("--framework megatron --by 15d --budget 80k --spares 4", "kept");
    EXPECT_CONTAINS(page, "the cheapest that keeps date and budget, with ");
    EXPECT_CONTAINS(page, "Change: 0 spare nodes instead of 4: saves $");
    EXPECT_CONTAINS(page, "; the chance to keep date and budget goes from ");
    EXPECT_CONTAINS(page, "All at once: 0 spare nodes instead of 4, ");
    EXPECT_CONTAINS(page, "How little would still be enough");
}

TEST(a_plan_of_1024_gpus_is_a_page_that_a_mail_takes) {
    EXPECT_INT(
        lockstep("report plan --model llama-2-70b --tokens 1T --node dgx-h100 --fabric ib-ndr400 --gpus 1024 --by "
                 "30d --budget 3M --faults llama3-h100 --date 2026-11-21 -j 1 -o "
                 "/tmp/lockstep-report-1024.html >/dev/null; wc -c </tmp/lockstep-report-1024.html"),
        0);
    EXPECT(atof(said) > 5e4 && atof(said) < 3e6);
    unlink("/tmp/lockstep-report-1024.html");
}

TEST(a_report_of_a_jobs_weeks_tells_them_week_by_week_and_what_would_help) {
    EXPECT_INT(lockstep("report goodput --gpus 1024 --work 30 --runs 20 --date 2026-11-21 -o "
                        "/tmp/lockstep-report-weeks.html && sed 's/<[^>]*>/ /g' /tmp/lockstep-report-weeks.html | grep "
                        "-E 'Day by day|Done after|Change first|work done twice|half as many failures|day 2|Writ'"),
               0);
    EXPECT_CONTAINS(said, "Day by day");
    EXPECT_CONTAINS(said, "Done after");
    EXPECT_CONTAINS(said, "work done twice");
    EXPECT_CONTAINS(said, "half as many failures");
    EXPECT_CONTAINS(said, "day 2");
    unlink("/tmp/lockstep-report-weeks.html");
}

// The first figure that a reader meets, and what goodput prints of the same job and of the change that is advised.
TEST(a_page_of_goodput_leads_with_the_figures_that_goodput_prints) {
    static const char job[] = "--gpus 1024 --days 20 --model llama-2-70b";
    Arena *arena = arena_open();
    EXPECT_INT(lockstep(arena_printf(arena, "goodput %s", job)), 0);
    const char *at = strstr(said, "\nGoodput ");
    double now = at ? strtod(at + 9, NULL) : 0;
    EXPECT_INT(lockstep(arena_printf(arena, "goodput %s --checkpoint async --checkpoint-every 60s", job)), 0);
    at = strstr(said, "\nGoodput ");
    double then = at ? strtod(at + 9, NULL) : 0;
    EXPECT_INT(lockstep(arena_printf(
                   arena,
                   "report goodput %s -o /tmp/lockstep-report-lead.html && head -c 60000 "
                   "/tmp/lockstep-report-lead.html | sed 's/<[^>]*>/ /g;s/&#160;/ /g' | grep -E 'Change first|→|mean "
                   "of'",
                   job)),
               0);
    EXPECT(now > 0 && then > now);
    EXPECT_CONTAINS(said,
                    "(--checkpoint async --checkpoint-every 60s). Goodput, the share of all time that is training");
    EXPECT_CONTAINS(said, arena_printf(arena, "becomes %.1f %% instead of %.1f %%", then, now));
    EXPECT_CONTAINS(said, arena_printf(arena, "%.1f %% → %.1f %%", now, then));
    unlink("/tmp/lockstep-report-lead.html");
    arena_close(arena);
}

// What a page says first of a queue is what explain says of the same jobs; with --find-gpus, how many to take.
TEST(a_page_of_a_queue_leads_with_what_explain_says_or_with_the_size) {
    static const char job[] = "--gpus 64 --mix gavel --load 0.9 --jobs 2000 --policy fifo";
    Arena *arena = arena_open();
    EXPECT_INT(lockstep(arena_printf(arena, "explain queue %s | grep -m 1 'Change first'", job)), 0);
    const char *lead = arena_copy_text(arena, strstr(said, "Change first") ? strstr(said, "Change first") : "none");
    EXPECT_INT(
        lockstep(arena_printf(arena,
                              "report queue %s -o /tmp/lockstep-report-wait.html && head -c 20000 "
                              "/tmp/lockstep-report-wait.html | sed 's/<[^>]*>/ /g;s/&#160;/ /g' | grep 'Change first'",
                              job)),
        0);
    EXPECT_CONTAINS(said, arena_printf(arena, "%.*s", (int)strcspn(lead, "\n"), lead));
    unlink("/tmp/lockstep-report-wait.html");
    EXPECT_INT(lockstep("report queue --find-gpus --wait-p95 1h --mix gavel --jobs-per-hour 2 --jobs 1000 -o "
                        "/tmp/lockstep-report-size.html && head -c 20000 /tmp/lockstep-report-size.html | sed "
                        "'s/<[^>]*>/ /g;s/&#160;/ /g' | grep -E 'Take|recommended'"),
               0);
    EXPECT_CONTAINS(said, " of the waits are within 60 min with a chance of ");
    unlink("/tmp/lockstep-report-size.html");
    arena_close(arena);
}

// 200 jobs that never meet and one that waits 50 s: 249 ms in the mean.
TEST(a_page_of_a_queue_tells_of_waits_below_a_second_too) {
    const char *jobs = "/tmp/lockstep-report-short.csv";
    FILE *file = fopen(jobs, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs("user,group,submit_s,gpus,duration_s\n", file);
    for (int i = 0; i < 200; i++) {
        fprintf(file, "u,g,%d,64,100\n", 1000 * i);
        if (i == 50) fputs("u,g,50050,64,10\n", file);
    }
    fclose(file);
    EXPECT_INT(lockstep("report queue --gpus 64 --trace /tmp/lockstep-report-short.csv --policy fifo -o "
                        "/tmp/lockstep-report-short.html && sed 's/<[^>]*>/ /g;s/&#160;/ /g' "
                        "/tmp/lockstep-report-short.html | grep -E 'Mean wait|Other rules'"),
               0);
    EXPECT_CONTAINS(said, "248.8 ms"); // 50 s of 201 jobs
    EXPECT_CONTAINS(said, "Other rules, each alone, same jobs");
    unlink(jobs);
    unlink("/tmp/lockstep-report-short.html");
}

TEST(a_report_of_a_queue_names_who_waits_least_and_draws_its_use_over_time) {
    EXPECT_INT(lockstep("report queue --gpus 64 --mix gavel --load 0.9 --jobs 400 --policy fifo,easy --seeds 2 -o "
                        "/tmp/lockstep-report-queue.html && sed 's/<[^>]*>/ /g' /tmp/lockstep-report-queue.html | grep "
                        "-E 'the longest is that of|Mean wait by policy|GPUs in use|lockstep report queue'"),
               0);
    EXPECT_CONTAINS(said, "That is the shortest wait of 2 policies; the longest is that of fifo");
    EXPECT_CONTAINS(said, "Mean wait by policy");
    EXPECT_CONTAINS(said, ": GPUs in use");
    EXPECT_CONTAINS(said, "lockstep report queue --gpus 64");
    unlink("/tmp/lockstep-report-queue.html");
}

TEST(shares_are_the_denser_the_greater_and_points_are_drawn_on_both_axes) {
    Arena *arena = arena_open();
    static const char *const rows[] = {"nic out", hostile}, *const columns[] = {"0", "8", "16"};
    static const double values[] = {0.1, 0.2, NAN, 0, 0.4, 0.4};
    const Chart heat = {.kind = CHART_HEAT, .heat = {"Links", "node", rows, columns, 2, 3, values}};
    static const double x[] = {1, 100, 1000}, y[] = {2, 200, 200};
    const RecordCurve curves[] = {{.name = hostile, .x = x, .y = y, .count = 3, .style = CURVE_POINTS},
                                  {.name = "roof", .x = x, .y = y, .count = 3}};
    const Chart roof = {.kind = CHART_LINES,
                        .lines = {.name = "roofline",
                                  .title = "Roofline",
                                  .x_title = "FLOP/B",
                                  .y_title = "TFLOP/s",
                                  .curves = curves,
                                  .curve_count = 2,
                                  .log_x = true,
                                  .log_y = true,
                                  .y_max = NAN}};
    Report *report = report_create(arena, "x", "lockstep", NULL);
    report_chart(report, &heat, "");
    report_chart(report, &roof, "");
    const char *page = page_of(arena, report);
    EXPECT_INT(well_formed_drawings(page), 4 + 2); // and the keys of the legend
    EXPECT_INT(count_of(page, "fill-opacity=\"0.050\""), 2);
    EXPECT_INT(count_of(page, "fill-opacity=\"0.400\""), 4);
    EXPECT_INT(count_of(page, "fill-opacity=\"0.225\""), 2);
    EXPECT(!strstr(page, "<script>alert") && !strstr(page, "nan"));
    arena_close(arena);
}

TEST(a_report_of_nothing_or_to_nowhere_is_refused) {
    EXPECT_INT(lockstep("report"), 2);
    EXPECT_CONTAINS(said, "lockstep report run FILE.lua -o page.html");
    EXPECT_INT(lockstep("report sweep"), 2);
    EXPECT_CONTAINS(said, "a report is of run, plan, goodput, queue or lesson");
    EXPECT_INT(lockstep("report goodput --gpus 64 --days 3 --date someday -o /tmp/lockstep-report-no.html"), 2);
    EXPECT_INT(lockstep("report queue --gpus 64 --load 0.5 --json -o /tmp/lockstep-report-no.html"), 2);
    EXPECT_INT(lockstep("report run no-such.lua"), 4);
    EXPECT_INT(lockstep("report plan"), 2);
    EXPECT_CONTAINS(said, "--model is missing");
    EXPECT_INT(lockstep("report run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 -o "
                        "/no/such/folder/x.html"),
               1);
}

TEST(help_of_a_report_says_whose_options_it_takes) {
    EXPECT_INT(lockstep("report --help"), 0);
    EXPECT_CONTAINS(said, "lockstep report plan --help");
    EXPECT_INT(lockstep("report plan --help"), 0);
    EXPECT_CONTAINS(said, "--by");
}
