// Programs that equal actors share: that is what folding goes by.
#ifndef LOCKSTEP_SIM_PROGRAM_BOOK_H
#define LOCKSTEP_SIM_PROGRAM_BOOK_H

#include "sim/program.h"

typedef struct ProgramBook ProgramBook;
ProgramBook *program_book_create(Arena *arena);
// The number of a program that does just this; a copy is made where there is none.
int32_t program_book_keep(ProgramBook *book, const Program *program);
const Program *program_book_programs(const ProgramBook *book, int *count);

#endif
