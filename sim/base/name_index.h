// Index from names to numbers, in logarithmic time whatever the names: they come from untrusted files, which could
// choose names that collide in a hash table.
#pragma once

#include "sim/base/list.h"

typedef struct NameIndex NameIndex;
// Below, at or above 0, as strcmp; names that compare as 0 are equal.
typedef int NameOrder(const char *a, const char *b);

NameIndex *name_index_create(Arena *arena, NameOrder *order);  // strcmp, for letter by letter
int name_index_find(const NameIndex *index, const char *name); // -1: there is no such name
// The number that the name had before stays and is returned; -1: it is new, and has `number` (0 or more) from now on.
// Names are not copied.
int name_index_add(NameIndex *index, const char *name, int number);
void name_index_set(NameIndex *index, const char *name, int number); // whatever it had before

// A few names in the order in which they were first met.
typedef LIST_OF(const char *) Names;

void names_add(Arena *arena, Names *names, const char *name); // nothing where it is among them; it is not copied
