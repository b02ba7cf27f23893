// What a file says, as a flat list: a name as it stands there, its value, the file and the line. All readers of formats
// end in such lists; which of them matter is a matter of tables (software.h).
#pragma once

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/list.h"
#include "sim/base/problem.h"
#include "sim/data/json.h"

// Whose word counts: later ones beat earlier ones.
// BY_PROGRAM: a program gives it a value that is not known; told where nobody else says it.
typedef enum SaidBy { BY_MACHINES, BY_ENVIRONMENT, BY_FILE, BY_COMMAND, BY_RULE, BY_PROGRAM } SaidBy;

typedef struct Said {
    const char *name;  // "--num-layers", "zero_optimization.stage", "NCCL_DEBUG"
    const char *value; // "true" where it is a flag; it may hold NOT_KNOWN
    Where where;
    SaidBy by;
} Said;

typedef LIST_OF(Said) SaidList;

enum { MOST_SAID = 20000 }; // of one file, and of all: more is no configuration

// False: there are too many.
bool said_add(Arena *arena, SaidList *list, const char *name, const char *value, Where where, SaidBy by);
// Where a line has the name as a whole word, of so many letters; of a path ("a.b") its last component will do. NULL: it
// has not.
const char *said_in_line(const char *line, const char *name, size_t *length);
const Said *said_find(const SaidList *list, const char *name);
const char *said_value(const SaidList *list, const char *name); // or NULL

// "--num-layers" and "num_layers" are one name; components of a path stand between dots.
bool same_word(const char *a, const char *b);
// Whether a row's spelling ("lr", "optim.lr", "callbacks.*", "a|b") means the name: whole components from its end, or
// with ".*" all that stands below such a one.
// How much of the name is meant, in letters; 0: it is another.
size_t spelling_length(const char *spelling, const char *name);
bool spelling_means(const char *spelling, const char *name);
bool one_of(const char *word, const char *list);      // of those with blanks between, to the letter
bool same_one_of(const char *word, const char *list); // as same_word has it
bool is_known(const char *text);                      // it holds no NOT_KNOWN
bool says_yes(const char *text);                      // true, True, yes, on, 1, or nothing at all

// A tree of a format as such a list: members are components of a name, lists of plain values one text with commas.
// False after a problem: too much of it.
bool said_of_tree(Arena *arena, SaidList *list, const Json *tree, SaidBy by, Problems *problems);
// A member of an object, in any of the trees here (json_get wants those of sim/data/json.h).
const Json *tree_get(const Json *object, const char *key);
const Json *tree_at(const Json *tree, const char *path); // "spec.template.spec"; NULL where there is none
const char *tree_text(Arena *arena, const Json *value);  // of a plain value as it is written; NULL of others
bool tree_is_list_of_plain(const Json *value);

// ---- TOML by a small reader of our own, and what refers to other settings.

// False after a problem: a line that is no TOML.
bool toml_read(Arena *arena, SaidList *list, const char *name, const char *text, size_t bytes, SaidBy by,
               Problems *problems);
// "${a.b}" and "${.sibling}" as OmegaConf reads them, in place; what leads nowhere or in a circle is not known.
void said_resolve(Arena *arena, SaidList *list);
