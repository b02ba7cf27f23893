// Line numbers of a script's fields. Lua gives the line of a call only; this finds the lines inside its table by
// scanning the source, so that a message points at the field itself. Fields not found keep the call's line.
#pragma once

typedef struct Place {
    const char *at; // in the source; NULL: not found, `line` is the nearest that is known
    int line;
} Place;

// Just inside the brace of `word { …` or `word({ …`, the first one that begins at the line or soon after it.
Place place_of_call(const char *source, int line, const char *word);
// The value of `key = …` in the table that the place is inside of.
Place place_of_key(Place table, const char *key);
// The next value without a key; afterwards *rest is the rest of the table.
Place place_of_next_item(Place *rest);
// From a value that is a table constructor to just inside its brace.
Place place_inside(Place value);
