// A launch file with some of its options changed, byte for byte the same otherwise.
#pragma once

#include "scenarios/import/import.h"
#include "sim/data/json.h"

bool change_is_none(const char *value); // what is not said at all: "none", "false", "0", "1" of a degree
// Whether an option goes because one of these does that it only goes with.
bool change_goes_with(const char *option, const ImportWord *words, int count);
// Of counts of machines that were to become so many times as many, the first that is not, with why; NULL: all are.
const char *change_not_scaled(Arena *arena, const Json *before, const Json *after, double by);
// `imported`: what the file was found to say (subject.c). NULL after problems.
const char *change_text(Arena *arena, const char *path, const Json *imported, const ImportWord *words, int count,
                        Problems *problems);
