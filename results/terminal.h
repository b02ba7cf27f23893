// Colours and blocks on a terminal.
#pragma once

#include <stdint.h>

#include "results/results.h"

// Nothing is written unless the style has colour.
void terminal_color(FILE *out, const Style *style, uint32_t color);                       // of letters
void terminal_colors(FILE *out, const Style *style, uint32_t color, uint32_t background); // of letters and behind them
void terminal_bold(FILE *out, const Style *style);
void terminal_reset(FILE *out, const Style *style);
// The alternate screen: entered, cleared for a new frame, and left.
void terminal_take(FILE *out);
void terminal_clear(FILE *out);
void terminal_give_back(FILE *out);
int terminal_width_of(const Style *style);

// A bar of `columns` columns; in Unicode it ends in eighths.
void terminal_bar(FILE *out, const Style *style, double columns, uint32_t color);
