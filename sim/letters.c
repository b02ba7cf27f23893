// UTF-8 letter by letter (RFC 3629), and which letters a terminal obeys (ECMA-48; Unicode's bidirectional controls).
#include "sim/letters.h"

#include <string.h>

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

bool letter_commands_terminal(int32_t letter) {
    return letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || letter == 0x61c || letter == 0x2028 ||
           letter == 0x2029 || (letter >= 0x200e && letter <= 0x200f) || (letter >= 0x202a && letter <= 0x202e) ||
           (letter >= 0x2066 && letter <= 0x2069);
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
