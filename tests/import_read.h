// What tests of imports share (test_import.c).
#pragma once

#include "scenarios/import/import.h"

// NULL after problems.
const Import *read_or_null(Arena *arena, const char *name, const char *text, const ImportAsked *asked,
                           Problems *problems);
const Import *read_as(Arena *arena, const char *name, const char *text, const ImportAsked *asked); // that has none
const char *word(const Import *import, const char *option); // its value, or "(not said)"
// Of a file that is refused: the first reason.
const char *import_problem(Arena *arena, const char *name, const char *text, const ImportAsked *asked);
bool lists(const ImportLines *lines, const char *name);
#define MEGATRON_SIZES "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --bf16"
