#include "results/results.h"
#include "sim/base/text.h"
#include "tests/test.h"

static const Style people = {.unicode = true, .width = 60};

static char *printed(const Table *table, const Style *style) {
    static char text[4096];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    table_print(table, out, style);
    fclose(out);
    return text;
}

static Table *gpu_table(Arena *arena) {
    Table *table = table_create(arena);
    table_column(table, "GPU", false);
    table_column(table, "step", true);
    table_cell(table, "A100");
    table_cell(table, "%.1f ms", 142.31);
    table_end_row(table);
    table_cell(table, "H100 – µ");
    table_cell(table, "71.0 ms");
    table_end_row(table);
    return table;
}

TEST(columns_are_measured_in_letters_and_numbers_stand_right) {
    Arena *arena = arena_open();
    EXPECT_TEXT(printed(gpu_table(arena), &people), "GPU           step\n"
                                                    "A100      142.3 ms\n"
                                                    "H100 – µ   71.0 ms\n");
    arena_close(arena);
}

TEST(without_unicode_a_table_is_ascii_and_still_aligned) {
    Arena *arena = arena_open();
    Style ascii = {.width = 60};
    EXPECT_TEXT(printed(gpu_table(arena), &ascii), "GPU           step\n"
                                                   "A100      142.3 ms\n"
                                                   "H100 - u   71.0 ms\n");
    arena_close(arena);
}

TEST(a_plain_table_has_tabs_and_a_tab_in_a_cell_becomes_a_space) {
    Arena *arena = arena_open();
    Style plain = {.plain = true, .unicode = true};
    Table *table = gpu_table(arena);
    table_cell(table, "a\tb\nc");
    table_cell(table, "1 s");
    table_end_row(table);
    EXPECT_TEXT(printed(table, &plain), "GPU\tstep\nA100\t142.3 ms\nH100 – µ\t71.0 ms\na b c\t1 s\n");
    arena_close(arena);
}

TEST(a_long_last_text_is_folded_under_itself) {
    Arena *arena = arena_open();
    Style narrow = {.unicode = true, .width = 40};
    Table *table = table_create(arena);
    table_column(table, "name", false);
    table_column(table, "source", false);
    table_cell(table, "NVLink");
    table_cell(table, "the datasheet of the maker, page twelve, and our own measurement");
    table_end_row(table);
    table_cell(table, "none");
    table_cell(table, "%s", "");
    table_end_row(table);
    EXPECT_TEXT(printed(table, &narrow), "name    source\n"
                                         "NVLink  the datasheet of the maker, page\n"
                                         "        twelve, and our own measurement\n"
                                         "none\n");
    arena_close(arena);
}

TEST(a_table_too_wide_goes_on_below_with_its_keys) {
    Arena *arena = arena_open();
    Style narrow = {.unicode = true, .width = 24};
    Table *table = table_create(arena);
    table_column(table, "GPUs", true);
    table_column(table, "step time", true);
    table_column(table, "images/s", true);
    table_column(table, "mem", true);
    table_keys(table, 1);
    table_cell(table, "8");
    table_cell(table, "142 ms");
    table_cell(table, "14,392");
    table_cell(table, "46 GiB");
    table_end_row(table);
    EXPECT_TEXT(printed(table, &narrow), "GPUs  step time\n"
                                         "   8     142 ms\n"
                                         "\n"
                                         "GPUs  images/s     mem\n"
                                         "   8    14,392  46 GiB\n");
    arena_close(arena);
}

TEST(a_table_fits_any_width) {
    Arena *arena = arena_open();
    for (int width = 1; width < 80; width++) {
        Style style = {.unicode = true, .width = width};
        EXPECT_CONTAINS(printed(gpu_table(arena), &style), "142.3 ms");
    }
    arena_close(arena);
}

TEST(text_that_would_command_a_terminal_is_made_harmless) {
    Arena *arena = arena_open();
    EXPECT_TEXT(text_clean(arena, "a\033[2Jb\x07", true), "a?[2Jb?");
    EXPECT_TEXT(text_clean(arena, "bad \xff\xc3. \xed\xa0\x80", true), "bad ??. ???");
    EXPECT_TEXT(text_clean(arena,
                           "\xe2\x80\xae"
                           "evil",
                           true),
                "?evil");
    EXPECT_TEXT(text_clean(arena, "± 5 % · 数", false), "+- 5 % | ?");
    EXPECT_TEXT(text_clean(arena, NULL, true), "");
    EXPECT_INT(text_width("数é–"), 4);
    arena_close(arena);
}

TEST(figures_are_written_for_people) {
    Arena *arena = arena_open();
    EXPECT_TEXT(text_time(arena, 0.14231), "142.3 ms");
    EXPECT_TEXT(text_time(arena, 0.99999), "1.000 s");
    EXPECT_TEXT(text_time(arena, 2.5e-5), "25.00 us");
    EXPECT_TEXT(text_time(arena, 0), "0 s");
    EXPECT_TEXT(text_time(arena, NAN), "–");
    EXPECT_TEXT(text_bytes(arena, 46.1 * 0x1p30), "46.1 GiB");
    EXPECT_TEXT(text_bytes(arena, 512), "512.0 B");
    EXPECT_TEXT(text_bytes_of(arena, 46.06 * 0x1p30, 80 * 0x1p30), "46.1/80 GiB");
    EXPECT_TEXT(text_count(arena, 14392, true), "14,392");
    EXPECT_TEXT(text_count(arena, 1234567.8, true), "1,234,568");
    EXPECT_TEXT(text_count(arena, 1234567.8, false), "1234568");
    EXPECT_TEXT(text_count(arena, 999.96, true), "1,000");
    EXPECT_TEXT(text_count(arena, 8, true), "8");
    EXPECT_TEXT(text_money(arena, 32.77, "USD"), "$32.77");
    EXPECT_TEXT(text_money(arena, 1430000, "USD"), "$1.43 M");
    EXPECT_TEXT(text_money(arena, 999600, "USD"), "$1.00 M");
    EXPECT_TEXT(text_money(arena, 999400, "USD"), "$999 k");
    EXPECT_TEXT(text_money(arena, 3120, "CHF"), "3,120 CHF");
    EXPECT_TEXT(text_money(arena, 23910, "EUR"), "€23.9 k");
    EXPECT_TEXT(text_money(arena, NAN, "USD"), "–");
    EXPECT_TEXT(text_days(arena, 26.72), "26.7 days");
    EXPECT_TEXT(text_days(arena, 0.5), "12.0 h");
    EXPECT_TEXT(text_energy(arena, 412000), "412 MWh");
    EXPECT_TEXT(text_percent(arena, 0.3124), "31.2 %");
    arena_close(arena);
}

TEST(exact_numbers_read_back_equal) {
    Arena *arena = arena_open();
    const double numbers[] = {
        0.1, 1.0 / 3, 0.30000000000000004, 5e-324, 1.7976931348623157e308, 1e15, 123456789012345678.0, -0.0, 8};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        EXPECT(strtod(text_exact(arena, numbers[i]), NULL) == numbers[i]);
    EXPECT_TEXT(text_exact(arena, 8), "8");
    EXPECT_TEXT(text_exact(arena, 0.1), "0.1");
    EXPECT_TEXT(text_exact(arena, NAN), "");
    EXPECT_TEXT(text_exact(arena, INFINITY), "");
    arena_close(arena);
}
