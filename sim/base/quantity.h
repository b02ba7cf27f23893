// Parsing and printing of quantities with units: "400 Gb/s", "80 GiB", "25 us", "2T", "0.35".
// Bits are written b or bit, bytes B; k M G T P E are powers of 1000, Ki Mi Gi Ti Pi powers of 1024.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef enum QuantityKind {
    QUANTITY_NUMBER,     // plain number: "0.35", "1e9", "40 %" (0.4)
    QUANTITY_COUNT,      // a whole number of things: "2T", "1.5M", "300B" (B = billion here), "512"
    QUANTITY_BYTES,      // in bytes: "80 GiB", "25 MB", "4096 B"; a plain number is bytes
    QUANTITY_BANDWIDTH,  // in bytes per second: "400 Gb/s", "400Gbps", "25 GB/s", "10 Gbit/s"; of plain numbers 0 alone
    QUANTITY_TIME,       // in seconds: "25 us", "30 min", "6 h", "54 d", "2 weeks"; of plain numbers 0 alone
    QUANTITY_FLOPS,      // in FLOP: "2e12", "312 TFLOP"; a plain number is FLOP
    QUANTITY_FLOPS_RATE, // in FLOP per second: "312 TFLOP/s", "19.5 TFLOPS"
    QUANTITY_POWER,      // in watts: "700 W", "6.5 kW"
    QUANTITY_ENERGY,     // in joules: "3 kWh", "12 MJ"
    QUANTITY_FREQUENCY,  // in hertz: "1410 MHz"
    QUANTITY_KIND_COUNT
} QuantityKind;

// Reads a whole text as a quantity of that kind into SI units (see above). On failure returns false and *why
// points to a static sentence with the expected format and an example (never NULL then).
// Refuses NaN, infinity, overflow, unknown units, trailing text, and ambiguous units: "GB" for a bandwidth ("25 GB"),
// "400G" as a bandwidth (bits or bytes?).
// Signs: negative numbers parse for QUANTITY_NUMBER only.
bool quantity_parse(const char *text, QuantityKind kind, double *value, const char **why);

// Whether a plain number has two likely readings ("30" as a time: days or seconds? "25" as an amount of data: MiB or
// bytes?): then `out` is a sentence with both. 0 is not ambiguous, nor is a number whose name has its unit
// ("seconds", "sample_bytes"). `usual`: an example in the usual unit of this value ("30 d"), the first reading; NULL:
// the usual unit of the kind.
bool quantity_unit_missing(const char *name, const char *text, QuantityKind kind, const char *usual, char *out,
                           size_t out_bytes);

// quantity_parse for what users write under a name, by that rule. On failure `why` is a sentence of up to 200 bytes.
#define QUANTITY_WHY 200
bool quantity_read(const char *name, const char *text, QuantityKind kind, const char *usual, double *value,
                   char why[QUANTITY_WHY]);
double quantity_of_length(const char *text, double count); // of tokens: "4k", read as 4,000, is 4 x 1,024

// Human text in `out` (always terminated): three significant figures by default and a fitting prefix.
// BYTES print binary ("76.3 GiB"), BANDWIDTH decimal bytes ("25 GB/s"), TIME "1.42 s", "25 us", "26.7 days",
// COUNT "70.6 B" for 70.6e9 things.  Returns out.
char *quantity_format(double value, QuantityKind kind, char *out, size_t out_bytes);
const char *quantity_text(Arena *arena, double value, QuantityKind kind); // the same in an arena

// What the kind is called and an example, for help and hints: "a bandwidth such as \"400 Gb/s\"".
const char *quantity_describe(QuantityKind kind);

// A parameter's number: the shortest text that reads back equal, whole numbers without 'e'.
const char *quantity_exact(Arena *arena, double number);

// ---- Seeds of random draws: 64-bit integers, parsed and printed the same way everywhere, never through a double.
#define SEED_RANGE "a whole number from 0 to 18446744073709551615"

// Digits and nothing else, up to 2^64 - 1: "7", "007". False for all else.
bool digits_read(const char *text, uint64_t *number);
// Such digits, or a count as it is written elsewhere ("7.0", "1e3", "2k"; up to 9e15, where each is exact). False: it
// is no seed, and *seed stays.
bool seed_read(const char *text, uint64_t *seed);

// ---- Calendar dates: "2026", "2026-04", "2026-04-17". A year or month alone means the whole year or month.
typedef struct Date {
    int year, month, day; // month and day 0: unspecified
} Date;

// False when the text is no day, month or year from 1900 to 2199.
bool date_parse(const char *text, Date *date);
// Of the first day that the date may mean, counted from 1970-01-01.
int64_t date_first_day(Date date);
// Of the last day that the date may mean: 2027-03 is the 31st of March.
int64_t date_last_day(Date date);
// Seconds from the beginning of `today` to a deadline: a time with its unit ("30d") or a day or month, to its end
// ("2027-02-01", "2027-03"). False with a sentence in `why` when it is neither, or over already.
bool deadline_parse(const char *text, Date today, double *seconds, char why[QUANTITY_WHY]);
// Whether some day that `date` may mean lies more than a year before `today`.
bool date_is_a_year_before(Date date, Date today);
// The date of --date; NULL: today by this machine's clock, in UTC. Meant for dates that are only displayed; an answer
// whose results depend on the date states it. Adds a problem for an invalid date.
Date date_or_today(const char *text, Problems *problems);

// ---- A fitted or assumed number of the models, with its source. Each folder of the models keeps its numbers in one
// table (*_constants.c), read by index; `lockstep constants` lists them all. Numbers that are definitions or come from
// a protocol's source are not listed; they stay next to the code that uses them.
typedef enum ConstantKind {
    CONSTANT_FITTED,   // to measurements, through the models
    CONSTANT_MEASURED, // read off measurements
    CONSTANT_ASSUMED   // usual values and judgement: nothing was fitted
} ConstantKind;

typedef struct Constant {
    const char *name;
    const char *unit; // "": a pure number
    double value;
    double sigma; // relative, of one standard deviation: of the fit, else judgement
    ConstantKind kind;
    const char *source; // the data it was fitted to or read from; or why it is assumed
    const char *basis;  // amount of that data: machines, rows
} Constant;
