// UTF-8 decoding, and detection of characters that control a terminal or are invisible.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
