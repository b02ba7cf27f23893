// Quantities: what is read, what is refused and why, and the way back.
#include "sim/base/quantity.h"
#include "sim/base/random.h"
#include "tests/test.h"

static double parsed(const char *text, QuantityKind kind) {
    double value = NAN;
    const char *why = "";
    return quantity_parse(text, kind, &value, &why) ? value : NAN;
}

// The reason for refusing, or "(read)".
static const char *refusal(const char *text, QuantityKind kind) {
    double value = 12345;
    const char *why = NULL;
    if (quantity_parse(text, kind, &value, &why)) return "(read)";
    EXPECT_SAME(value, 12345);       // left as it was
    EXPECT(why && strchr(why, '"')); // an example is always given
    return why;
}

static const char *formatted(double value, QuantityKind kind) {
    static char text[64];
    return quantity_format(value, kind, text, sizeof text);
}

typedef struct Reading {
    const char *text;
    QuantityKind kind;
    double value;
} Reading;

TEST(quantities_are_read_into_si_units) {
    static const Reading readings[] = {
        {"0.35", QUANTITY_NUMBER, 0.35},
        {"-1e9", QUANTITY_NUMBER, -1e9},
        {"1E+3", QUANTITY_NUMBER, 1000},
        {"40 %", QUANTITY_NUMBER, 0.4},
        {"40%", QUANTITY_NUMBER, 0.4},

        {"512", QUANTITY_COUNT, 512},
        {"2T", QUANTITY_COUNT, 2e12},
        {"1.5M", QUANTITY_COUNT, 1.5e6},
        {"300B", QUANTITY_COUNT, 300e9},
        {"70.6e9", QUANTITY_COUNT, 70600000000},
        {"70.6 B", QUANTITY_COUNT, 70600000000},
        {"128Ki", QUANTITY_COUNT, 131072},
        {"4K", QUANTITY_COUNT, 4000},
        {"0", QUANTITY_COUNT, 0},
        {"9e15", QUANTITY_COUNT, 9e15},

        {"4096", QUANTITY_BYTES, 4096},
        {"4096 B", QUANTITY_BYTES, 4096},
        {"80 GiB", QUANTITY_BYTES, 80 * 0x1p30},
        {"80GiB", QUANTITY_BYTES, 80 * 0x1p30},
        {"25 MB", QUANTITY_BYTES, 25e6},
        {"1 kB", QUANTITY_BYTES, 1000},
        {"1 KB", QUANTITY_BYTES, 1000},
        {"1 KiB", QUANTITY_BYTES, 1024},
        {"3 EiB", QUANTITY_BYTES, 3 * 0x1p60},
        {"2 Gbytes", QUANTITY_BYTES, 2e9},

        {"400 Gb/s", QUANTITY_BANDWIDTH, 50e9},
        {"400Gbps", QUANTITY_BANDWIDTH, 50e9},
        {"400 Gbit/s", QUANTITY_BANDWIDTH, 50e9},
        {"25 GB/s", QUANTITY_BANDWIDTH, 25e9},
        {"25GB/s", QUANTITY_BANDWIDTH, 25e9},
        {"25 GBps", QUANTITY_BANDWIDTH, 25e9},
        {"25 GiB/s", QUANTITY_BANDWIDTH, 25 * 0x1p30},
        {"8 Kib/s", QUANTITY_BANDWIDTH, 1024},
        {"3.35 TB/s", QUANTITY_BANDWIDTH, 3.35e12},
        {"0", QUANTITY_BANDWIDTH, 0},

        {"5 ps", QUANTITY_TIME, 5e-12},
        {"5 ns", QUANTITY_TIME, 5e-9},
        {"25 us", QUANTITY_TIME, 25e-6},
        {"25 \xc2\xb5s", QUANTITY_TIME, 25e-6},
        {"25\xce\xbcs", QUANTITY_TIME, 25e-6},
        {"3ms", QUANTITY_TIME, 3e-3},
        {"0", QUANTITY_TIME, 0},
        {"1.5s", QUANTITY_TIME, 1.5},
        {"30 min", QUANTITY_TIME, 1800},
        {"6 h", QUANTITY_TIME, 21600},
        {"54 d", QUANTITY_TIME, 54 * 86400.0},
        {"54 days", QUANTITY_TIME, 54 * 86400.0},
        {"1 day", QUANTITY_TIME, 86400},
        {"2 weeks", QUANTITY_TIME, 14 * 86400.0},
        {"1 week", QUANTITY_TIME, 7 * 86400.0},
        {"5 y", QUANTITY_TIME, 5 * 8760 * 3600.0},
        {"1 year", QUANTITY_TIME, 8760 * 3600.0},

        {"2e12", QUANTITY_FLOPS, 2e12},
        {"312 TFLOP", QUANTITY_FLOPS, 312e12},
        {"38 YFLOP", QUANTITY_FLOPS, 38e24},
        {"312 TFLOP/s", QUANTITY_FLOPS_RATE, 312e12},
        {"19.5 TFLOPS", QUANTITY_FLOPS_RATE, 19.5e12},
        {"700 W", QUANTITY_POWER, 700},
        {"6.5 kW", QUANTITY_POWER, 6500},
        {"3 kWh", QUANTITY_ENERGY, 3 * 3.6e6},
        {"12 MJ", QUANTITY_ENERGY, 12e6},
        {"1410 MHz", QUANTITY_FREQUENCY, 1.41e9},
        {" \t1 s ", QUANTITY_TIME, 1},
        {"2E", QUANTITY_BYTES, NAN}, // exa what?
        {"2EB", QUANTITY_BYTES, 2e18},
    };
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        double value = parsed(readings[i].text, readings[i].kind);
        bool same =
            isnan(readings[i].value) ? isnan(value) : fabs(value - readings[i].value) <= 4e-16 * readings[i].value;
        if (readings[i].value < 0) same = value == readings[i].value;
        if (!same) test_fail(__FILE__, __LINE__, "\"%s\" is read as %.17g", readings[i].text, value);
    }
}

TEST(what_is_no_number_is_refused_by_every_kind) {
    static const char *const texts[] = {
        "",      " ",     "x",      "-",         "+5",    "++5",   "inf", "infinity", "nan",      "NaN",    "-inf",
        "0x10",  "0x1p4", ".5",     "5.",        "1,000", "1_000", "1 2", "1e",       "1e+",      "--1",    "5 5 s",
        "5 s s", "5\n",   "5 \xff", "5 bananas", "1e999", "one",   "5;",  "5/s/s",    "\xc2\xb5", "5 \xc2",
    };
    for (int kind = 0; kind < QUANTITY_KIND_COUNT; kind++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (strcmp(refusal(texts[i], (QuantityKind)kind), "(read)") == 0)
                test_fail(__FILE__, __LINE__, "\"%s\" was read as kind %d", texts[i], kind);
        EXPECT(strcmp(refusal(NULL, (QuantityKind)kind), "(read)") != 0);
    }
}

TEST(bits_and_bytes_are_never_guessed) {
    EXPECT_CONTAINS(refusal("80 Gib", QUANTITY_BYTES), "b means bits");
    EXPECT_CONTAINS(refusal("80 Gbit", QUANTITY_BYTES), "b means bits");
    EXPECT_CONTAINS(refusal("80 gb", QUANTITY_BYTES), "expected an amount of data");
    EXPECT_CONTAINS(refusal("400 G", QUANTITY_BANDWIDTH), "bits or bytes?");
    EXPECT_CONTAINS(refusal("400G", QUANTITY_BANDWIDTH), "bits or bytes?");
    EXPECT_CONTAINS(refusal("400 Gps", QUANTITY_BANDWIDTH), "bits or bytes?");
    EXPECT_CONTAINS(refusal("400 Gi/s", QUANTITY_BANDWIDTH), "bits or bytes?");
    EXPECT_CONTAINS(refusal("25 GB", QUANTITY_BANDWIDTH), "a bandwidth is per second");
    EXPECT_CONTAINS(refusal("400 Gb", QUANTITY_BANDWIDTH), "a bandwidth is per second");
}

TEST(thousands_and_1024s_are_never_guessed) {
    EXPECT_CONTAINS(refusal("80G", QUANTITY_BYTES), "powers of 1000");
    EXPECT_CONTAINS(refusal("80 Gi", QUANTITY_BYTES), "powers of 1024");
}

TEST(amounts_and_rates_are_told_apart) {
    EXPECT_CONTAINS(refusal("312 TFLOPS", QUANTITY_FLOPS), "a rate, not an amount");
    EXPECT_CONTAINS(refusal("312 TFLOP/s", QUANTITY_FLOPS), "a rate, not an amount");
    EXPECT_CONTAINS(refusal("312 TFLOPs", QUANTITY_FLOPS_RATE), "a rate or an amount?");
    EXPECT_CONTAINS(refusal("25 GB/s", QUANTITY_BYTES), "expected an amount of data");
    EXPECT_CONTAINS(refusal("3 kWh", QUANTITY_POWER), "expected a power");
    EXPECT_CONTAINS(refusal("3 kW", QUANTITY_ENERGY), "expected an energy");
    EXPECT_CONTAINS(refusal("5 m", QUANTITY_TIME), "minutes or months?");
}

TEST(counts_are_whole_and_exact) {
    EXPECT_CONTAINS(refusal("1.5", QUANTITY_COUNT), "a count is whole");
    EXPECT_CONTAINS(refusal("1.0000001M", QUANTITY_COUNT), "a count is whole");
    EXPECT_CONTAINS(refusal("0.1", QUANTITY_COUNT), "a count is whole");
    EXPECT_CONTAINS(refusal("1e-20", QUANTITY_COUNT), "a count is whole");
    EXPECT_CONTAINS(refusal("9.1e15", QUANTITY_COUNT), "up to 9e15");
    EXPECT_CONTAINS(refusal("1e400", QUANTITY_COUNT), "up to 9e15");
    EXPECT_CONTAINS(refusal("40 %", QUANTITY_COUNT), "expected a whole count");

    // Every tenth of a billion comes out whole to the last digit, whatever the product's rounding.
    int wrong = 0;
    for (int tenths = 1; tenths <= 20000; tenths++) {
        char text[32];
        snprintf(text, sizeof text, "%d.%dB", tenths / 10, tenths % 10);
        wrong += parsed(text, QUANTITY_COUNT) != (double)tenths * 100000000;
    }
    EXPECT_INT(wrong, 0);
}

TEST(only_plain_numbers_may_be_negative) {
    EXPECT_SAME(parsed("-0.5", QUANTITY_NUMBER), -0.5);
    for (int kind = QUANTITY_COUNT; kind < QUANTITY_KIND_COUNT; kind++) {
        EXPECT_CONTAINS(refusal("-5", (QuantityKind)kind), "cannot be negative");
        EXPECT_CONTAINS(refusal("-0", (QuantityKind)kind), "cannot be negative");
    }
}

TEST(what_overflows_is_refused) {
    EXPECT_CONTAINS(refusal("1e308 EiB", QUANTITY_BYTES), "too large");
    EXPECT_CONTAINS(refusal("1e309", QUANTITY_NUMBER), "too large");
    EXPECT_CONTAINS(refusal("1e305 y", QUANTITY_TIME), "too large");
}

TEST(quantities_print_with_three_figures_and_a_fitting_prefix) {
    EXPECT_TEXT(formatted(76.3 * 0x1p30, QUANTITY_BYTES), "76.3 GiB");
    EXPECT_TEXT(formatted(512, QUANTITY_BYTES), "512 B");
    EXPECT_TEXT(formatted(1023.7 * 1024, QUANTITY_BYTES), "1 MiB");
    EXPECT_TEXT(formatted(1000 * 1024, QUANTITY_BYTES), "1000 KiB");
    EXPECT_TEXT(formatted(25e9, QUANTITY_BANDWIDTH), "25 GB/s");
    EXPECT_TEXT(formatted(999.9e9, QUANTITY_BANDWIDTH), "1 TB/s");
    EXPECT_TEXT(formatted(1.42, QUANTITY_TIME), "1.42 s");
    EXPECT_TEXT(formatted(25e-6, QUANTITY_TIME), "25 us");
    EXPECT_TEXT(formatted(0.9999, QUANTITY_TIME), "1 s");
    EXPECT_TEXT(formatted(90, QUANTITY_TIME), "90 s");
    EXPECT_TEXT(formatted(150, QUANTITY_TIME), "2.5 min");
    EXPECT_TEXT(formatted(26.7 * 86400, QUANTITY_TIME), "26.7 days");
    EXPECT_TEXT(formatted(0, QUANTITY_TIME), "0 ps");
    EXPECT_TEXT(formatted(-0.25, QUANTITY_TIME), "-250 ms");
    EXPECT_TEXT(formatted(70.6e9, QUANTITY_COUNT), "70.6 B");
    EXPECT_TEXT(formatted(8192, QUANTITY_COUNT), "8192");
    EXPECT_TEXT(formatted(16384, QUANTITY_COUNT), "16384");
    EXPECT_TEXT(formatted(9e15, QUANTITY_COUNT), "9000 T");
    EXPECT_TEXT(formatted(312e12, QUANTITY_FLOPS), "312 TFLOP");
    EXPECT_TEXT(formatted(19.5e12, QUANTITY_FLOPS_RATE), "19.5 TFLOP/s");
    EXPECT_TEXT(formatted(6500, QUANTITY_POWER), "6.5 kW");
    EXPECT_TEXT(formatted(3 * 3.6e6, QUANTITY_ENERGY), "3 kWh");
    EXPECT_TEXT(formatted(1.41e9, QUANTITY_FREQUENCY), "1.41 GHz");
    EXPECT_TEXT(formatted(0.35, QUANTITY_NUMBER), "0.35");
    EXPECT_TEXT(formatted(-12.3456, QUANTITY_NUMBER), "-12.3");
    EXPECT_TEXT(formatted(100, QUANTITY_NUMBER), "100");
    EXPECT_TEXT(formatted(NAN, QUANTITY_TIME), "nan ps");
    EXPECT_TEXT(formatted(INFINITY, QUANTITY_TIME), "inf years");
}

TEST(a_short_buffer_is_never_overrun) {
    char text[6] = "#####";
    quantity_format(26.7 * 86400, QUANTITY_TIME, text, 5);
    EXPECT_TEXT(text, "26.7");
    char one = '#';
    quantity_format(1, QUANTITY_TIME, &one, 1);
    EXPECT_INT(one, 0);
}

TEST(what_is_printed_reads_back_within_one_percent) {
    RandomStream random = random_stream(1, "quantity test", 0);
    for (int kind = 0; kind < QUANTITY_KIND_COUNT; kind++) {
        for (int i = 0; i < 20000; i++) {
            double value =
                pow(10, kind == QUANTITY_COUNT ? 15.95 * random_uniform(&random) : 60 * random_uniform(&random) - 20);
            if (kind == QUANTITY_COUNT) value = round(value);
            const char *text = formatted(value, (QuantityKind)kind);
            double back = parsed(text, (QuantityKind)kind);
            if (!(fabs(back - value) <= 0.01 * value))
                test_fail(__FILE__, __LINE__, "%.17g of kind %d prints \"%s\" and reads back %.17g", value, kind, text,
                          back);
        }
    }
}

TEST(every_kind_describes_itself_with_an_example_that_it_reads) {
    EXPECT_TEXT(quantity_describe(QUANTITY_BANDWIDTH), "a bandwidth such as \"400 Gb/s\"");
    for (int kind = 0; kind < QUANTITY_KIND_COUNT; kind++) {
        char example[64] = "";
        EXPECT_INT(sscanf(quantity_describe((QuantityKind)kind), "%*[^\"]\"%63[^\"]", example), 1);
        EXPECT(isfinite(parsed(example, (QuantityKind)kind)));
    }
}
