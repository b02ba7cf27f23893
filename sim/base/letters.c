// UTF-8 decoding (RFC 3629), and characters that control a terminal (ECMA-48; Unicode's bidirectional controls) or
// are invisible (Unicode's Default_Ignorable_Code_Point, except the variation selectors of letters and signs).
#include "sim/base/letters.h"

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
