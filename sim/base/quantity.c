#include "sim/base/quantity.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/check.h"

// ---- Parsing and printing of quantities with units. A unit is a row of `units`, a printed unit a row of `printed`.

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0
#define WEEK (7 * DAY)
#define YEAR (365 * DAY) // 8760 h, as failure rates are quoted

#define LARGEST_COUNT 9e15 // below 2^53: every whole number up to here is exact

#define NEGATIVE "this cannot be negative: write something like "
#define SUCH(what, example)                                                                                            \
    { "expected " what " such as \"" example "\"", NEGATIVE "\"" example "\"" }
static const struct {
    const char *expected, *negative;
} refusals[QUANTITY_KIND_COUNT] = {
    [QUANTITY_NUMBER] = SUCH("a number", "0.35"),
    [QUANTITY_COUNT] = SUCH("a whole count", "512\" or \"1.5M"),
    [QUANTITY_BYTES] = SUCH("an amount of data", "80 GiB"),
    [QUANTITY_BANDWIDTH] = SUCH("a bandwidth", "400 Gb/s"),
    [QUANTITY_TIME] = SUCH("a time", "25 us"),
    [QUANTITY_FLOPS] = SUCH("an amount of arithmetic", "312 TFLOP"),
    [QUANTITY_FLOPS_RATE] = SUCH("a rate of arithmetic", "312 TFLOP/s"),
    [QUANTITY_POWER] = SUCH("a power", "700 W"),
    [QUANTITY_ENERGY] = SUCH("an energy", "3 kWh"),
    [QUANTITY_FREQUENCY] = SUCH("a frequency", "1410 MHz"),
};

static const char too_big[] = "this is too large to be a number: write something like \"1e15\"";
static const char not_whole[] = "a count is whole, such as \"512\" or \"1.5M\"";
static const char count_too_big[] = "a count goes up to 9e15: write something like \"15T\"";

// ---- Reading.

enum { BARE = 1, DECIMAL = 2, BINARY = 4, ANY = BARE | DECIMAL | BINARY }; // the prefixes a unit goes with

typedef struct Prefix {
    const char *name;
    int group;
    double factor;
} Prefix;

static const Prefix prefixes[] = {
    {"", BARE, 1},          {"k", DECIMAL, 1e3},    {"K", DECIMAL, 1e3},    {"M", DECIMAL, 1e6},
    {"G", DECIMAL, 1e9},    {"T", DECIMAL, 1e12},   {"P", DECIMAL, 1e15},   {"E", DECIMAL, 1e18},
    {"Z", DECIMAL, 1e21},   {"Y", DECIMAL, 1e24},   {"Ki", BINARY, 0x1p10}, {"Mi", BINARY, 0x1p20},
    {"Gi", BINARY, 0x1p30}, {"Ti", BINARY, 0x1p40}, {"Pi", BINARY, 0x1p50}, {"Ei", BINARY, 0x1p60},
};

typedef struct Unit {
    QuantityKind kind;
    const char *name; // after the prefix
    int prefixes;
    double factor;       // to the SI unit
    const char *refused; // why this common spelling is rejected here
} Unit;

#define WHICH_GIGA "the unit is missing: write \"80 GB\" (powers of 1000) or \"80 GiB\" (powers of 1024)"
#define BITS_NOT_BYTES "b means bits: write B for bytes, as in \"80 GiB\""
#define BITS_OR_BYTES "bits or bytes? write \"400 Gb/s\" for bits or \"50 GB/s\" for bytes"
#define PER_SECOND "a bandwidth is per second: write \"400 Gb/s\" for bits or \"50 GB/s\" for bytes"
#define NOT_A_RATE "this is a rate, not an amount: write \"312 TFLOP\""
#define RATE_OR_AMOUNT "a rate or an amount? write \"312 TFLOP/s\" for a rate"
#define WHICH_TIME "the unit is missing: write \"30 d\" for days, \"30 s\" for seconds"
#define MINUTES_OR_MONTHS "minutes or months? write \"5 min\" for minutes or \"150 days\" for months"

static const Unit units[] = {
    {QUANTITY_NUMBER, "", BARE, 1, NULL},
    {QUANTITY_NUMBER, "%", BARE, 0.01, NULL},

    {QUANTITY_COUNT, "", ANY, 1, NULL},
    {QUANTITY_COUNT, "B", BARE, 1e9, NULL},

    {QUANTITY_BYTES, "", BARE, 1, NULL},
    {QUANTITY_BYTES, "B", ANY, 1, NULL},
    {QUANTITY_BYTES, "byte", ANY, 1, NULL},
    {QUANTITY_BYTES, "bytes", ANY, 1, NULL},
    {QUANTITY_BYTES, "", DECIMAL | BINARY, 0, WHICH_GIGA},
    {QUANTITY_BYTES, "b", ANY, 0, BITS_NOT_BYTES},
    {QUANTITY_BYTES, "bit", ANY, 0, BITS_NOT_BYTES},
    {QUANTITY_BYTES, "bits", ANY, 0, BITS_NOT_BYTES},

    {QUANTITY_BANDWIDTH, "b/s", ANY, 0.125, NULL},
    {QUANTITY_BANDWIDTH, "bps", ANY, 0.125, NULL},
    {QUANTITY_BANDWIDTH, "bit/s", ANY, 0.125, NULL},
    {QUANTITY_BANDWIDTH, "bits/s", ANY, 0.125, NULL},
    {QUANTITY_BANDWIDTH, "B/s", ANY, 1, NULL},
    {QUANTITY_BANDWIDTH, "Bps", ANY, 1, NULL},
    {QUANTITY_BANDWIDTH, "byte/s", ANY, 1, NULL},
    {QUANTITY_BANDWIDTH, "bytes/s", ANY, 1, NULL},
    {QUANTITY_BANDWIDTH, "", ANY, 0, BITS_OR_BYTES},
    {QUANTITY_BANDWIDTH, "/s", ANY, 0, BITS_OR_BYTES},
    {QUANTITY_BANDWIDTH, "ps", ANY, 0, BITS_OR_BYTES},
    {QUANTITY_BANDWIDTH, "b", ANY, 0, PER_SECOND},
    {QUANTITY_BANDWIDTH, "bit", ANY, 0, PER_SECOND},
    {QUANTITY_BANDWIDTH, "bits", ANY, 0, PER_SECOND},
    {QUANTITY_BANDWIDTH, "B", ANY, 0, PER_SECOND},
    {QUANTITY_BANDWIDTH, "byte", ANY, 0, PER_SECOND},
    {QUANTITY_BANDWIDTH, "bytes", ANY, 0, PER_SECOND},

    {QUANTITY_TIME, "", BARE, 0, WHICH_TIME},
    {QUANTITY_TIME, "ps", BARE, 1e-12, NULL},
    {QUANTITY_TIME, "ns", BARE, 1e-9, NULL},
    {QUANTITY_TIME, "us", BARE, 1e-6, NULL},
    {QUANTITY_TIME, "\u00b5s", BARE, 1e-6, NULL}, // micro sign
    {QUANTITY_TIME, "\u03bcs", BARE, 1e-6, NULL}, // Greek mu, which looks the same
    {QUANTITY_TIME, "ms", BARE, 1e-3, NULL},
    {QUANTITY_TIME, "s", BARE, 1, NULL},
    {QUANTITY_TIME, "sec", BARE, 1, NULL},
    {QUANTITY_TIME, "second", BARE, 1, NULL},
    {QUANTITY_TIME, "seconds", BARE, 1, NULL},
    {QUANTITY_TIME, "min", BARE, MINUTE, NULL},
    {QUANTITY_TIME, "minute", BARE, MINUTE, NULL},
    {QUANTITY_TIME, "minutes", BARE, MINUTE, NULL},
    {QUANTITY_TIME, "h", BARE, HOUR, NULL},
    {QUANTITY_TIME, "hour", BARE, HOUR, NULL},
    {QUANTITY_TIME, "hours", BARE, HOUR, NULL},
    {QUANTITY_TIME, "d", BARE, DAY, NULL},
    {QUANTITY_TIME, "day", BARE, DAY, NULL},
    {QUANTITY_TIME, "days", BARE, DAY, NULL},
    {QUANTITY_TIME, "week", BARE, WEEK, NULL},
    {QUANTITY_TIME, "weeks", BARE, WEEK, NULL},
    {QUANTITY_TIME, "y", BARE, YEAR, NULL},
    {QUANTITY_TIME, "year", BARE, YEAR, NULL},
    {QUANTITY_TIME, "years", BARE, YEAR, NULL},
    {QUANTITY_TIME, "m", BARE, 0, MINUTES_OR_MONTHS},

    {QUANTITY_FLOPS, "", BARE, 1, NULL},
    {QUANTITY_FLOPS, "FLOP", BARE | DECIMAL, 1, NULL},
    {QUANTITY_FLOPS, "FLOPs", BARE | DECIMAL, 1, NULL},
    {QUANTITY_FLOPS, "FLOPS", BARE | DECIMAL, 0, NOT_A_RATE},
    {QUANTITY_FLOPS, "FLOP/s", BARE | DECIMAL, 0, NOT_A_RATE},
    {QUANTITY_FLOPS, "FLOPs/s", BARE | DECIMAL, 0, NOT_A_RATE},

    {QUANTITY_FLOPS_RATE, "", BARE, 1, NULL},
    {QUANTITY_FLOPS_RATE, "FLOP/s", BARE | DECIMAL, 1, NULL},
    {QUANTITY_FLOPS_RATE, "FLOPs/s", BARE | DECIMAL, 1, NULL},
    {QUANTITY_FLOPS_RATE, "FLOPS", BARE | DECIMAL, 1, NULL},
    {QUANTITY_FLOPS_RATE, "FLOP", BARE | DECIMAL, 0, RATE_OR_AMOUNT},
    {QUANTITY_FLOPS_RATE, "FLOPs", BARE | DECIMAL, 0, RATE_OR_AMOUNT},

    {QUANTITY_POWER, "", BARE, 1, NULL},
    {QUANTITY_POWER, "W", BARE | DECIMAL, 1, NULL},

    {QUANTITY_ENERGY, "", BARE, 1, NULL},
    {QUANTITY_ENERGY, "J", BARE | DECIMAL, 1, NULL},
    {QUANTITY_ENERGY, "Wh", BARE | DECIMAL, HOUR, NULL},

    {QUANTITY_FREQUENCY, "", BARE, 1, NULL},
    {QUANTITY_FREQUENCY, "Hz", BARE | DECIMAL, 1, NULL},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *skip_spaces(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

static const char *skip_digits(const char *at) {
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

// [-] digits [. digits] [e [+-] digits]; an e without digits belongs to the unit. NULL when there is no number.
static const char *number_end(const char *text) {
    const char *whole = *text == '-' ? text + 1 : text;
    const char *end = skip_digits(whole);
    if (end == whole) return NULL;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = skip_digits(fraction);
        if (end == fraction) return NULL;
    }
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (skip_digits(exponent) > exponent) end = skip_digits(exponent);
    }
    return end;
}

static bool is_unit(const char *text, size_t length, const char *prefix, const char *name) {
    size_t prefix_length = strlen(prefix);
    return length == prefix_length + strlen(name) && strncmp(text, prefix, prefix_length) == 0 &&
           strncmp(text + prefix_length, name, length - prefix_length) == 0;
}

// The factor of a unit text such as "Gb/s"; 0 and a reason when it is not one of this kind.
static double unit_factor(const char *text, size_t length, QuantityKind kind, const char **why) {
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].kind != kind) continue;
        for (size_t j = 0; j < COUNT_OF(prefixes); j++) {
            if (!(units[i].prefixes & prefixes[j].group)) continue;
            if (!is_unit(text, length, prefixes[j].name, units[i].name)) continue;
            *why = units[i].refused;
            return units[i].refused ? 0 : units[i].factor * prefixes[j].factor;
        }
    }
    *why = refusals[kind].expected;
    return 0;
}

// "70.6B" is 70.6 * 1e9; rounding may miss the intended integer by a few ulps.
static const char *settle_count(double *value) {
    double whole = round(*value);
    if (fabs(*value - whole) > 4 * DBL_EPSILON * whole) return not_whole;
    if (whole > LARGEST_COUNT) return count_too_big;
    *value = whole;
    return NULL;
}

// The reason it cannot be read, or NULL.
static const char *parse(const char *text, QuantityKind kind, double *value) {
    if (!text) return refusals[kind].expected;
    const char *number = skip_spaces(text);
    const char *number_stop = number_end(number);
    if (!number_stop) return refusals[kind].expected;
    if (*number == '-' && kind != QUANTITY_NUMBER) return refusals[kind].negative;

    const char *unit = skip_spaces(number_stop);
    size_t unit_length = strcspn(unit, " \t");
    if (*skip_spaces(unit + unit_length)) return refusals[kind].expected;
    const char *why;
    double figure = strtod(number, NULL); // which reads "0x10" too, but no unit starts with x
    double factor = unit_factor(unit, unit_length, kind, &why);
    bool is_nothing = figure == 0 && unit_length == 0; // in any unit
    if (why && !is_nothing) return why;

    double result = is_nothing ? 0 : figure * factor;
    if (!isfinite(result)) return kind == QUANTITY_COUNT ? count_too_big : too_big;
    if (kind == QUANTITY_COUNT && (why = settle_count(&result))) return why;
    *value = result;
    return NULL;
}

bool quantity_parse(const char *text, QuantityKind kind, double *value, const char **why) {
    CHECK(kind >= 0 && kind < QUANTITY_KIND_COUNT);
    const char *problem = parse(text, kind, value);
    if (problem) *why = problem;
    return !problem;
}

// ---- A unit that is missing.

typedef struct Reading {
    const char *unit, *said; // of a number: "30d", days
} Reading;

// The unit of `usual` first, then the base unit, which other programs take a plain number for.
static const Reading readings_of_time[] = {{"ms", "milliseconds"}, {"ns", "nanoseconds"}, {"us", "microseconds"},
                                           {"min", "minutes"},     {"h", "hours"},        {"d", "days"},
                                           {"y", "years"}};
static const Reading readings_of_bytes[] = {{"GB", "gigabytes"}, {"kB", "kilobytes"},  {"MB", "megabytes"},
                                            {"TB", "terabytes"}, {"KiB", "kibibytes"}, {"MiB", "mebibytes"},
                                            {"GiB", "gibibytes"}};
static const Reading seconds_reading = {"s", "seconds"}, bytes_reading = {"B", "bytes"};

// That of the usual value, "500 kB", or the first.
static Reading usual_reading(const char *usual, const Reading *readings, size_t count) {
    const char *unit = usual ? skip_spaces(number_end(skip_spaces(usual))) : "";
    if (strcmp(unit, "B") == 0) unit = "kB";
    for (size_t i = 0; i < count; i++)
        if (strcmp(readings[i].unit, unit) == 0) return readings[i];
    return readings[0];
}

// Two units between which a plain number would leave the choice. False: the kind has one reading.
static bool two_readings(QuantityKind kind, const char *usual, Reading *first, Reading *second) {
    switch (kind) {
    case QUANTITY_TIME:
        *first = usual_reading(usual ? usual : "1d", readings_of_time, COUNT_OF(readings_of_time));
        *second = seconds_reading;
        return true;
    case QUANTITY_BANDWIDTH:
        *first = (Reading){"Gb/s", "gigabits per second"};
        *second = (Reading){"GB/s", "gigabytes per second"};
        return true;
    case QUANTITY_BYTES:
        *first = usual_reading(usual, readings_of_bytes, COUNT_OF(readings_of_bytes));
        *second = bytes_reading;
        return true;
    case QUANTITY_POWER: // of a GPU in watts, of a room in kilowatts
        *first = (Reading){"kW", "kilowatts"};
        *second = (Reading){"W", "watts"};
        return usual && strstr(usual, "kW");
    case QUANTITY_NUMBER:
    case QUANTITY_COUNT:
    case QUANTITY_FLOPS:
    case QUANTITY_FLOPS_RATE:
    case QUANTITY_ENERGY:
    case QUANTITY_FREQUENCY:
    case QUANTITY_KIND_COUNT:
        break;
    }
    return false;
}

static bool name_says_unit(const char *name, QuantityKind kind) {
    return (kind == QUANTITY_TIME && strstr(name, "seconds")) || (kind == QUANTITY_BYTES && strstr(name, "bytes"));
}

bool quantity_unit_missing(const char *name, const char *text, QuantityKind kind, const char *usual, char *out,
                           size_t out_bytes) {
    Reading first, second;
    double figure;
    if (!text || name_says_unit(name, kind) || !two_readings(kind, usual, &first, &second)) return false;
    if (parse(text, QUANTITY_NUMBER, &figure) || figure <= 0 || strchr(text, '%')) return false;
    const char *number = skip_spaces(text);
    int length = (int)(number_end(number) - number);
    snprintf(out, out_bytes, "%.*s has no unit: %s (\"%.*s%s\") or %s (\"%.*s%s\")?", length, number, first.said,
             length, number, first.unit, second.said, length, number, second.unit);
    return true;
}

bool quantity_read(const char *name, const char *text, QuantityKind kind, const char *usual, double *value,
                   char why[QUANTITY_WHY]) {
    if (quantity_unit_missing(name, text, kind, usual, why, QUANTITY_WHY)) return false;
    if (name_says_unit(name, kind) && !parse(text, QUANTITY_NUMBER, value) && *value >= 0) return true;
    const char *problem = parse(text, kind, value);
    if (problem == refusals[kind].negative && usual)
        snprintf(why, QUANTITY_WHY, NEGATIVE "\"%s\"", usual);
    else if (problem)
        snprintf(why, QUANTITY_WHY, "%s", problem);
    return !problem;
}

double quantity_of_length(const char *text, double count) {
    size_t length = strlen(text);
    bool in_1024 = length > 0 && (text[length - 1] == 'k' || text[length - 1] == 'K');
    return in_1024 ? count * 1024.0 / 1000 : count;
}

const char *quantity_describe(QuantityKind kind) {
    CHECK(kind >= 0 && kind < QUANTITY_KIND_COUNT);
    return refusals[kind].expected + strlen("expected ");
}

// ---- Printing.

typedef struct Printed {
    QuantityKind kind;
    double from; // the smallest value printed so
    double unit;
    const char *name;
} Printed;

// Within a kind from small to large; the first row also takes smaller values.
static const Printed printed[] = {
    {QUANTITY_NUMBER, 0, 1, ""},

    {QUANTITY_COUNT, 0, 1, ""},
    {QUANTITY_COUNT, 1e5, 1e3, " k"},
    {QUANTITY_COUNT, 1e6, 1e6, " M"},
    {QUANTITY_COUNT, 1e9, 1e9, " B"},
    {QUANTITY_COUNT, 1e12, 1e12, " T"},

    {QUANTITY_BYTES, 0, 1, " B"},
    {QUANTITY_BYTES, 0x1p10, 0x1p10, " KiB"},
    {QUANTITY_BYTES, 0x1p20, 0x1p20, " MiB"},
    {QUANTITY_BYTES, 0x1p30, 0x1p30, " GiB"},
    {QUANTITY_BYTES, 0x1p40, 0x1p40, " TiB"},
    {QUANTITY_BYTES, 0x1p50, 0x1p50, " PiB"},
    {QUANTITY_BYTES, 0x1p60, 0x1p60, " EiB"},

    {QUANTITY_BANDWIDTH, 0, 1, " B/s"},
    {QUANTITY_BANDWIDTH, 1e3, 1e3, " kB/s"},
    {QUANTITY_BANDWIDTH, 1e6, 1e6, " MB/s"},
    {QUANTITY_BANDWIDTH, 1e9, 1e9, " GB/s"},
    {QUANTITY_BANDWIDTH, 1e12, 1e12, " TB/s"},
    {QUANTITY_BANDWIDTH, 1e15, 1e15, " PB/s"},
    {QUANTITY_BANDWIDTH, 1e18, 1e18, " EB/s"},

    {QUANTITY_TIME, 0, 1e-12, " ps"},
    {QUANTITY_TIME, 1e-9, 1e-9, " ns"},
    {QUANTITY_TIME, 1e-6, 1e-6, " us"},
    {QUANTITY_TIME, 1e-3, 1e-3, " ms"},
    {QUANTITY_TIME, 1, 1, " s"},
    {QUANTITY_TIME, 2 * MINUTE, MINUTE, " min"},
    {QUANTITY_TIME, 2 * HOUR, HOUR, " h"},
    {QUANTITY_TIME, 2 * DAY, DAY, " days"},
    {QUANTITY_TIME, 2 * YEAR, YEAR, " years"},

    {QUANTITY_FLOPS, 0, 1, " FLOP"},
    {QUANTITY_FLOPS, 1e3, 1e3, " kFLOP"},
    {QUANTITY_FLOPS, 1e6, 1e6, " MFLOP"},
    {QUANTITY_FLOPS, 1e9, 1e9, " GFLOP"},
    {QUANTITY_FLOPS, 1e12, 1e12, " TFLOP"},
    {QUANTITY_FLOPS, 1e15, 1e15, " PFLOP"},
    {QUANTITY_FLOPS, 1e18, 1e18, " EFLOP"},
    {QUANTITY_FLOPS, 1e21, 1e21, " ZFLOP"},
    {QUANTITY_FLOPS, 1e24, 1e24, " YFLOP"},

    {QUANTITY_FLOPS_RATE, 0, 1, " FLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e3, 1e3, " kFLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e6, 1e6, " MFLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e9, 1e9, " GFLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e12, 1e12, " TFLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e15, 1e15, " PFLOP/s"},
    {QUANTITY_FLOPS_RATE, 1e18, 1e18, " EFLOP/s"},

    {QUANTITY_POWER, 0, 1, " W"},
    {QUANTITY_POWER, 1e3, 1e3, " kW"},
    {QUANTITY_POWER, 1e6, 1e6, " MW"},
    {QUANTITY_POWER, 1e9, 1e9, " GW"},

    {QUANTITY_ENERGY, 0, 1, " J"},
    {QUANTITY_ENERGY, 1e3, 1e3, " kJ"},
    {QUANTITY_ENERGY, 1e3 * HOUR, 1e3 * HOUR, " kWh"},
    {QUANTITY_ENERGY, 1e6 * HOUR, 1e6 * HOUR, " MWh"},
    {QUANTITY_ENERGY, 1e9 * HOUR, 1e9 * HOUR, " GWh"},

    {QUANTITY_FREQUENCY, 0, 1, " Hz"},
    {QUANTITY_FREQUENCY, 1e3, 1e3, " kHz"},
    {QUANTITY_FREQUENCY, 1e6, 1e6, " MHz"},
    {QUANTITY_FREQUENCY, 1e9, 1e9, " GHz"},
};

// The largest unit whose three figures do not start below `from`: 999.9 ms is printed as 1 s.
static const Printed *fitting_unit(double size, QuantityKind kind) {
    const Printed *best = NULL;
    for (size_t i = 0; i < COUNT_OF(printed); i++) {
        bool fits = size >= printed[i].from || size / printed[i].from >= 0.9995;
        if (printed[i].kind == kind && (!best || fits)) best = &printed[i];
    }
    return best;
}

// Drops "+" and leading zeros of the exponent: "1e+09" becomes "1e9".
static void tidy_exponent(char *number) {
    char *from = strchr(number, 'e'), *to = from;
    if (!from) return;
    *to++ = *from++;
    if (*from == '-') *to++ = '-';
    from += *from == '-' || *from == '+';
    while (*from == '0') from++;
    memmove(to, from, strlen(from) + 1);
}

// Three significant figures; whole numbers below a million keep all of theirs.
static void format_figures(double figures, char *out, size_t out_bytes) {
    bool is_plain = figures == 0 || (figures >= 1 && figures < 999999.5);
    if (!is_plain) {
        snprintf(out, out_bytes, "%.3g", figures);
        tidy_exponent(out);
        return;
    }
    int decimals = figures == 0 || figures >= 99.95 ? 0 : figures >= 9.995 ? 1 : 2;
    snprintf(out, out_bytes, "%.*f", decimals, figures);
    if (decimals == 0) return;
    size_t length = strlen(out);
    while (out[length - 1] == '0') out[--length] = '\0';
    if (out[length - 1] == '.') out[--length] = '\0';
}

char *quantity_format(double value, QuantityKind kind, char *out, size_t out_bytes) {
    CHECK(kind >= 0 && kind < QUANTITY_KIND_COUNT);
    double size = fabs(value);
    const Printed *unit = fitting_unit(size, kind);
    char figures[64];
    format_figures(size / unit->unit, figures, sizeof figures);
    snprintf(out, out_bytes, "%s%s%s", value < 0 ? "-" : "", figures, unit->name);
    return out;
}

const char *quantity_text(Arena *arena, double value, QuantityKind kind) {
    return quantity_format(value, kind, arena_alloc(arena, 64), 64);
}

const char *quantity_exact(Arena *arena, double number) {
    for (int figures = 1; figures <= 17; figures++) {
        const char *text = arena_printf(arena, "%.*g", figures, number);
        if (strtod(text, NULL) == number && !strchr(text, 'e')) return text;
    }
    return arena_printf(arena, "%.17g", number);
}

// ---- Integers above 2^53 are not all representable as doubles.

bool digits_read(const char *text, uint64_t *number) {
    uint64_t read = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (read > (UINT64_MAX - digit) / 10) return false;
        read = 10 * read + digit;
    }
    if (at == text || *at) return false;
    *number = read;
    return true;
}

bool seed_read(const char *text, uint64_t *seed) {
    const char *why;
    double count;
    if (digits_read(text, seed)) return true;
    if (!quantity_parse(text, QUANTITY_COUNT, &count, &why)) return false;
    *seed = (uint64_t)count;
    return true;
}

// ---- Calendar days. The count of days is Howard Hinnant's days_from_civil (proleptic Gregorian calendar).

static bool leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year));
}

static int read_digits(const char **text, int count) {
    int number = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9') return -1;
        number = 10 * number + (**text - '0');
    }
    return number;
}

bool date_parse(const char *text, Date *date) {
    *date = (Date){.year = read_digits(&text, 4)};
    if (date->year < 1900 || date->year > 2199) return false;
    if (*text == '\0') return true;
    if (*text++ != '-') return false;
    date->month = read_digits(&text, 2);
    if (date->month < 1 || date->month > 12) return false;
    if (*text == '\0') return true;
    if (*text++ != '-') return false;
    date->day = read_digits(&text, 2);
    return *text == '\0' && date->day >= 1 && date->day <= days_in_month(date->year, date->month);
}

int64_t date_first_day(Date date) {
    int month = date.month > 0 ? date.month : 1, day = date.day > 0 ? date.day : 1;
    int64_t year = date.year - (month <= 2);
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

int64_t date_last_day(Date date) {
    if (date.month == 0) date.month = 12;
    if (date.day == 0) date.day = days_in_month(date.year, date.month);
    return date_first_day(date);
}

bool deadline_parse(const char *text, Date today, double *seconds, char why[QUANTITY_WHY]) {
    Date date;
    bool looks_like_a_day = strlen(text) >= 6 && strspn(text, "0123456789") == 4 && text[4] == '-';
    if (!looks_like_a_day) return quantity_read("by", text, QUANTITY_TIME, "30d", seconds, why);
    if (!date_parse(text, &date)) {
        snprintf(why, QUANTITY_WHY, "%.20s is no day of the calendar: write \"2027-02-28\", or \"2027-02\" for its end",
                 text);
        return false;
    }
    int64_t days = date_last_day(date) + 1 - date_first_day(today);
    if (days <= 0) {
        snprintf(why, QUANTITY_WHY, "%.20s is over: today is %04d-%02d-%02d (--date says another day)", text,
                 today.year, today.month > 0 ? today.month : 1, today.day > 0 ? today.day : 1);
        return false;
    }
    *seconds = (double)days * 86400;
    return true;
}

bool date_is_a_year_before(Date date, Date today) {
    Date birthday = {today.year - 1, today.month > 0 ? today.month : 1, today.day > 0 ? today.day : 1};
    return date_first_day(date) < date_first_day(birthday);
}

Date date_or_today(const char *text, Problems *problems) {
    Date date;
    if (text && date_parse(text, &date)) return date;
    if (text) {
        problem_add(problems, (Where){0}, "--date \"%.40s\" is no day", text);
        problem_hint(problems, "for example --date 2026-11-21");
    }
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    return (Date){day.tm_year + 1900, day.tm_mon + 1, day.tm_mday};
}
