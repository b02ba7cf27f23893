// Class of a family of measured runs: software tuned by its makers, or ordinary code.
#pragma once

#include <stdbool.h>

typedef struct FamilyClass {
    const char *family;
    bool tuned; // the benchmark of a vendor, of MLPerf or of a framework's own team
    const char *reason;
} FamilyClass;

const FamilyClass *family_class(int index); // NULL: no more
// A family that the table does not name is ordinary.
bool family_is_tuned(const char *family);
