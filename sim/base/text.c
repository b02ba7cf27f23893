#include "sim/base/text.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- UTF-8 decoding (RFC 3629), and characters that control a terminal (ECMA-48; Unicode's bidirectional controls) or
// are invisible (Unicode's Default_Ignorable_Code_Point, except the variation selectors of letters and signs).

int32_t letter_next(const unsigned char **text) {
    const unsigned char *c = *text;
    *text = c + 1;
    if (c[0] < 0x80) return c[0];
    int more = c[0] >= 0xf0 && c[0] < 0xf5 ? 3 : c[0] >= 0xe0 && c[0] < 0xf0 ? 2 : c[0] >= 0xc2 && c[0] < 0xe0 ? 1 : 0;
    if (more == 0) return -1;
    int32_t letter = c[0] & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80) return -1;
        letter = letter << 6 | (c[i] & 0x3f);
    }
    bool is_overlong = (more == 2 && letter < 0x800) || (more == 3 && letter < 0x10000);
    bool is_surrogate = letter >= 0xd800 && letter <= 0xdfff;
    if (is_overlong || is_surrogate || letter > 0x10ffff) return -1;
    *text = c + 1 + more;
    return letter;
}

bool letter_is_control(int32_t letter) {
    return (letter >= 0 && letter < 0x20) || (letter >= 0x7f && letter < 0xa0) || letter == 0x2028 || letter == 0x2029;
}

bool letter_commands_terminal(int32_t letter) {
    static const struct {
        int32_t first, last;
    } unseen[] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180e, 0x180e},
                  {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfeff, 0xfeff},
                  {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}};
    if (letter >= ' ' && letter < 0x7f) return false;
    if (letter < 0 || letter_is_control(letter)) return true;
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (letter >= unseen[i].first && letter <= unseen[i].last) return true;
    return false;
}

char *letters_make_harmless(char *text, const char *kept) {
    char *end = text;
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        const unsigned char *start = next;
        int32_t letter = letter_next(&next);
        if (letter_commands_terminal(letter) && (letter < 0 || letter >= 0x80 || !strchr(kept, letter))) {
            *end++ = '?';
            continue;
        }
        memmove(end, start, (size_t)(next - start));
        end += next - start;
    }
    *end = '\0';
    return text;
}

// ---- Formatting of names and numbers for display.

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- Letters.

static const struct {
    int32_t letter;
    const char *ascii;
} spellings[] = {
    {0xa0, " "},    {0xa3, "GBP "}, {0xb1, "+-"},   {0xb5, "u"},    {0xb7, "|"},    {0xd7, "x"},     {0x2013, "-"},
    {0x2014, "-"},  {0x2018, "'"},  {0x2019, "'"},  {0x201c, "\""}, {0x201d, "\""}, {0x2026, "..."}, {0x20ac, "EUR "},
    {0x2192, "->"}, {0x2264, "<="}, {0x2265, ">="}, {0x2588, "#"},  {0x2714, "*"},  {0x2718, "x"},
};
#define LONGEST_SPELLING 4

static const char *spell_in_ascii(int32_t letter) {
    for (int i = 0; i < COUNT_OF(spellings); i++)
        if (spellings[i].letter == letter) return spellings[i].ascii;
    return "?";
}

const char *text_clean(Arena *arena, const char *text, bool unicode) {
    if (!text) return "";
    char *clean = arena_room(arena, LONGEST_SPELLING * strlen(text) + 1, 1), *end = clean;
    const unsigned char *next = (const unsigned char *)text;
    while (*next) {
        const unsigned char *start = next;
        if (*next >= ' ' && *next <= '~') {
            *end++ = (char)*next++;
            continue;
        }
        int32_t letter = letter_next(&next);
        if (letter == '\t' || letter == '\n' || letter == '\r') {
            *end++ = ' ';
        } else if (letter_commands_terminal(letter)) {
            *end++ = '?';
        } else if (letter < 0x80 || unicode) {
            memcpy(end, start, (size_t)(next - start));
            end += next - start;
        } else {
            const char *ascii = spell_in_ascii(letter);
            memcpy(end, ascii, strlen(ascii));
            end += strlen(ascii);
        }
    }
    *end = '\0';
    return clean;
}

// Letters that take no column or two: combining marks; East Asian and emoji blocks.
static int letter_width(int32_t letter) {
    if (letter < 0x300) return 1;
    if ((letter >= 0x300 && letter <= 0x36f) || (letter >= 0x200b && letter <= 0x200d) ||
        (letter >= 0xfe00 && letter <= 0xfe0f))
        return 0;
    bool is_wide = (letter >= 0x1100 && letter <= 0x115f) || (letter >= 0x2e80 && letter <= 0xa4cf) ||
                   (letter >= 0xac00 && letter <= 0xd7a3) || (letter >= 0xf900 && letter <= 0xfaff) ||
                   (letter >= 0xfe30 && letter <= 0xfe6f) || (letter >= 0xff00 && letter <= 0xff60) ||
                   (letter >= 0xffe0 && letter <= 0xffe6) || (letter >= 0x1f300 && letter <= 0x1faff) ||
                   (letter >= 0x20000 && letter <= 0x3fffd);
    return is_wide ? 2 : 1;
}

int text_width(const char *text) {
    int width = 0;
    for (const unsigned char *next = (const unsigned char *)text; *next;)
        width += *next < 0x80 ? (next++, 1) : letter_width(letter_next(&next));
    return width;
}

// Between a figure and its unit no line ends.
static bool keeps_together(const unsigned char *start, const unsigned char *space) {
    return space > start && isdigit(space[-1]) && (space[1] == '%' || isalpha(space[1]));
}

int text_line(const char *text, int width, const char **next) {
    const unsigned char *start = (const unsigned char *)text, *at = start, *line_end = NULL;
    int used = 0;
    while (*at && (used <= width || !line_end)) {
        if (*at == ' ' && !keeps_together(start, at)) line_end = at;
        used += letter_width(letter_next(&at));
    }
    if (used <= width || !line_end) line_end = at;
    *next = (const char *)line_end + strspn((const char *)line_end, " ");
    return (int)(line_end - start);
}

// ---- Figures.

// The last unit that the size reaches after rounding to four figures; the first row takes smaller sizes.
static TextUnit fitting_unit(const TextUnit *units, int count, double size) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (size / units[i].scale >= 0.99995) best = i;
    return units[best];
}

static const TextUnit time_units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
static const TextUnit byte_units[] = {{1, "B"},        {0x1p10, "KiB"}, {0x1p20, "MiB"},
                                      {0x1p30, "GiB"}, {0x1p40, "TiB"}, {0x1p50, "PiB"}};

TextUnit text_time_unit(double seconds) { return fitting_unit(time_units, COUNT_OF(time_units), fabs(seconds)); }

TextUnit text_byte_unit(double bytes) { return fitting_unit(byte_units, COUNT_OF(byte_units), fabs(bytes)); }

const char *text_figures(Arena *arena, double value, int figures) {
    if (!isfinite(value)) return TEXT_UNKNOWN;
    if (fabs(value) >= 1e15) return arena_printf(arena, "%.*g", figures, value);
    if (value == 0) return "0";
    double rounded = strtod(arena_printf(arena, "%.*e", figures - 1, value), NULL); // 9.996 to three is 10.0, not 10.00
    int decimals = figures - 1 - (int)floor(log10(fabs(rounded)));
    return arena_printf(arena, "%.*f", decimals < 0 ? 0 : decimals > 20 ? 20 : decimals, value);
}

static const char *in_units(Arena *arena, double value, const TextUnit *units, int count, int figures) {
    if (!isfinite(value)) return TEXT_UNKNOWN;
    TextUnit unit = fitting_unit(units, count, fabs(value));
    return arena_printf(arena, "%s %s", text_figures(arena, value / unit.scale, figures), unit.name);
}

const char *text_time(Arena *arena, double seconds) {
    if (seconds == 0) return "0 s";
    return in_units(arena, seconds, time_units, COUNT_OF(time_units), 4);
}

const char *text_percent(Arena *arena, double share) {
    if (!isfinite(share)) return TEXT_UNKNOWN;
    return arena_printf(arena, "%.1f %%", 100 * share);
}

static const char *without_end_zero(Arena *arena, const char *figures) {
    size_t length = strlen(figures);
    if (length > 2 && strcmp(figures + length - 2, ".0") == 0)
        return arena_printf(arena, "%.*s", (int)length - 2, figures);
    return figures;
}

const char *text_bytes(Arena *arena, double bytes) {
    if (!isfinite(bytes)) return TEXT_UNKNOWN;
    TextUnit unit = text_byte_unit(bytes);
    return arena_printf(arena, "%s %s", text_figures(arena, bytes / unit.scale, unit.scale == 1 ? 4 : 3), unit.name);
}

const char *text_bytes_of(Arena *arena, double bytes, double capacity) {
    if (!isfinite(bytes)) return TEXT_UNKNOWN;
    if (!(capacity > 0) || !isfinite(capacity)) return text_bytes(arena, bytes);
    TextUnit unit = text_byte_unit(capacity);
    return arena_printf(arena, "%s/%s %s", text_figures(arena, bytes / unit.scale, 3),
                        without_end_zero(arena, text_figures(arena, capacity / unit.scale, 3)), unit.name);
}

// 14392 as "14,392".
static const char *group_thousands(Arena *arena, const char *digits) {
    size_t length = strspn(digits, "0123456789"), at = 0;
    char *grouped = arena_alloc(arena, 2 * strlen(digits) + 1);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) grouped[at++] = ',';
        grouped[at++] = digits[i];
    }
    strcpy(grouped + at, digits + length);
    return grouped;
}

const char *text_count(Arena *arena, double count, bool grouped) {
    if (count < 0) return arena_printf(arena, "-%s", text_count(arena, -count, grouped));
    const char *figures = count == floor(count) && fabs(count) < 1000 ? arena_printf(arena, "%.0f", count)
                                                                      : text_figures(arena, count, 4);
    if (isfinite(count) && count >= 1000 && count < 1e15) figures = arena_printf(arena, "%.0f", count);
    return grouped ? group_thousands(arena, figures) : figures;
}

static const struct { const char *code, *sign; } currencies[] = {{"USD", "$"}, {"EUR", "€"}, {"GBP", "£"}};

static const char *amount_text(Arena *arena, double amount) {
    static const TextUnit units[] = {{1, ""}, {1e4, " k"}, {1e6, " M"}, {1e9, " B"}};
    bool rounds_up = amount >= 999.5e3 && amount < 1e6; // $1.00 M, not $1000 k
    TextUnit unit = fitting_unit(units, COUNT_OF(units), rounds_up ? 1e6 : amount);
    if (unit.scale == 1 && amount >= 999.995) return group_thousands(arena, arena_printf(arena, "%.0f", amount));
    if (unit.scale == 1) return arena_printf(arena, amount < 0.095 && amount > 0 ? "%.2g" : "%.2f", amount);
    if (unit.scale == 1e4) unit.scale = 1e3; // thousands from ten of them on
    return arena_printf(arena, "%s%s", text_figures(arena, amount / unit.scale, 3), unit.name);
}

const char *text_rate(Arena *arena, double value) {
    if (!(value >= 1e4) || !isfinite(value)) return text_count(arena, value, true);
    double unit = pow(10, floor(log10(value)) - 3);
    return text_count(arena, round(value / unit) * unit, true);
}

const char *text_money(Arena *arena, double amount, const char *currency) {
    if (!isfinite(amount)) return TEXT_UNKNOWN;
    const char *minus = amount < 0 ? "-" : "", *figures = amount_text(arena, fabs(amount));
    if (!currency) currency = "USD";
    for (int i = 0; i < COUNT_OF(currencies); i++)
        if (strcmp(currency, currencies[i].code) == 0)
            return arena_printf(arena, "%s%s%s", minus, currencies[i].sign, figures);
    return arena_printf(arena, "%s%s %s", minus, figures, currency);
}

const char *text_days(Arena *arena, double days) {
    if (!isfinite(days)) return TEXT_UNKNOWN;
    double size = fabs(days);
    if (size >= 1.995) return arena_printf(arena, "%s days", text_figures(arena, days, 3));
    if (size * 24 >= 0.995) return arena_printf(arena, "%s h", text_figures(arena, days * 24, 3));
    if (size * 1440 >= 0.995) return arena_printf(arena, "%s min", text_figures(arena, days * 1440, 3));
    if (size * 86400 >= 0.995) return arena_printf(arena, "%s s", text_figures(arena, days * 86400, 3));
    return text_time(arena, days * 86400);
}

const char *text_energy(Arena *arena, double kwh) {
    static const TextUnit units[] = {{1e-3, "Wh"}, {1, "kWh"}, {1e3, "MWh"}, {1e6, "GWh"}};
    return in_units(arena, kwh, units, COUNT_OF(units), 3);
}

const char *text_mass(Arena *arena, double kilograms) {
    static const TextUnit units[] = {{1e-3, "g"}, {1, "kg"}, {1e3, "t"}};
    return in_units(arena, kilograms, units, COUNT_OF(units), 3);
}

const char *text_power(Arena *arena, double watts) {
    static const TextUnit units[] = {{1, "W"}, {1e3, "kW"}, {1e6, "MW"}, {1e9, "GW"}};
    return in_units(arena, watts, units, COUNT_OF(units), 3);
}

const char *text_exact(Arena *arena, double value) {
    if (!isfinite(value)) return "";
    if (value == floor(value) && fabs(value) < 1e15) return arena_printf(arena, "%.0f", value + 0.0); // no "-0"
    char *text = NULL;
    for (int figures = 15; figures <= 17; figures++) {
        text = arena_printf(arena, "%.*g", figures, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

const char *text_listed(Arena *arena, const char *list, const char *next) {
    return *list ? arena_printf(arena, "%s, %s", list, next) : next;
}

const char *text_joined(Arena *arena, const char *before, const char *next) {
    if (!*before || !*next) return *before ? before : next;
    return arena_printf(arena, "%s · %s", before, next);
}

const char *text_lower_first(Arena *arena, const char *title) {
    char *copy = arena_copy_text(arena, title);
    if (copy[0] >= 'A' && copy[0] <= 'Z' && copy[1] >= 'a' && copy[1] <= 'z') copy[0] = (char)(copy[0] - 'A' + 'a');
    return copy;
}

void text_say(FILE *out, const char *text) {
    int file = out == stderr ? STDERR_FILENO : fileno(out); // what stands before it may have none
    int width = isatty(file) ? 80 : INT_MAX / 2, indent = 0;
    do {
        const char *next;
        int bytes = text_line(text, width - indent, &next);
        fprintf(out, "%*s%.*s\n", indent, "", bytes, text);
        text = next;
        indent = 4;
    } while (*text);
}
