// Formatting of names and numbers for display, the same in tables, charts and the terminal; unknown: a dash.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/arena.h"

#define TEXT_UNKNOWN "–"

// One line that is safe to print: control characters and bad UTF-8 become '?' (tabs and line ends a space);
// without `unicode` the signs that we use get ASCII spellings and all else outside ASCII becomes '?'.
const char *text_clean(Arena *arena, const char *text, bool unicode);
const char *text_listed(Arena *arena, const char *list, const char *next);   // "A, B"; of an empty list "B"
const char *text_joined(Arena *arena, const char *before, const char *next); // "A · B"; of an empty one the other
const char *text_lower_first(Arena *arena, const char *title);               // "Data parallel" within a sentence
int text_width(const char *text);                                            // columns in a terminal, of clean text

// Folding: the bytes of clean text that fit in a line so wide, up to a space but at least a word; *next: the line
// after. A figure and its unit stay together.
int text_line(const char *text, int width, const char **next);
// A line of clean text; folded to 80 columns where `out` is a terminal, so that no word is cut there.
void text_say(FILE *out, const char *text);

// A unit that suits a largest value: values are divided by `scale` and called `name`.
typedef struct TextUnit {
    double scale;
    const char *name;
} TextUnit;

TextUnit text_time_unit(double seconds);
TextUnit text_byte_unit(double bytes);

const char *text_time(Arena *arena, double seconds);                       // "142.3 ms"
const char *text_percent(Arena *arena, double share);                      // 0.312 is "31.2 %"
const char *text_bytes(Arena *arena, double bytes);                        // "46.1 GiB"
const char *text_bytes_of(Arena *arena, double bytes, double capacity);    // "46.1/80 GiB"
const char *text_count(Arena *arena, double count, bool grouped);          // "14,392"; four figures below 1000
const char *text_rate(Arena *arena, double value);                         // four figures, grouped: "16,900,000"
const char *text_money(Arena *arena, double amount, const char *currency); // "$1.43 M", "3,120 CHF"
const char *text_days(Arena *arena, double days);                          // "26.7 days", "5.2 h"
const char *text_energy(Arena *arena, double kwh);                         // "412 MWh"
const char *text_mass(Arena *arena, double kilograms);                     // "3.2 t"
const char *text_power(Arena *arena, double watts);                        // "6.5 kW"
const char *text_figures(Arena *arena, double value,
                         int figures);              // significant figures, never an exponent below 1e15
const char *text_exact(Arena *arena, double value); // shortest that reads back equal; "" for NaN and infinity

// ---- UTF-8 decoding, and detection of characters that control a terminal or are invisible.

// The code point at *text, which moves past it; -1 and one byte on when it is no valid UTF-8.
int32_t letter_next(const unsigned char **text);

// C0 with ESC, line break and tab, DEL, C1, whose U+009B is ESC and '[' in one, and Unicode's line breaks: forbidden
// in names and notes, and refused by readers of data.
bool letter_is_control(int32_t letter);

// These, and signs that turn the writing direction or take no room. A byte that is no UTF-8 (-1) is one of them: in
// other encodings it is C1.
bool letter_commands_terminal(int32_t letter);

// Each such letter becomes one '?', in place. `kept`: ASCII controls that stay, for example "\n\t".
char *letters_make_harmless(char *text, const char *kept);
