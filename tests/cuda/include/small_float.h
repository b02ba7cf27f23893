// Numbers of 16 and 8 bits for the emulated GPU: rounded to nearest, ties to even, by one pair of functions.
#pragma once

struct SmallFormat {
    int exponent_bits, mantissa_bits;
    bool is_finite; // FP8's E4M3: no infinities, a NaN of all ones, and what is too large becomes the largest
};
constexpr SmallFormat half_format = {5, 10, false}, bfloat16_format = {8, 7, false}, e4m3_format = {4, 3, true};

unsigned small_from_float(SmallFormat format, float value);
float float_from_small(SmallFormat format, unsigned bits);
