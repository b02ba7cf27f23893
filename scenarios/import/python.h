// What the files share that read Python: read_python.c (statements), python_values.c and python_calls.c
// (what calls say).
#pragma once

#include "scenarios/import/reading.h"

enum { MOST_NAMES = 400, MOST_WORDS = 2000, DEEPEST = 12, MOST_TOLD = 2000, MOST_ALIASES = 60 };

typedef struct Name {
    const char *name;
    ShellWords words;
    bool is_list;
} Name;

typedef struct PythonAlias { // s = recipe.trainer.strategy: s.x is trainer.strategy.x
    const char *name, *path;
} PythonAlias;

typedef struct Python Python;
struct Python {
    Reading *r;
    const char *at, *end;
    int line, depth, steps;
    Name names[MOST_NAMES];
    int count;
    PythonAlias aliases[MOST_ALIASES];
    int alias_count;
    const char *file;
    const SaidList *arguments; // what the command line tells it; or NULL
    bool in_dataclass;         // its fields are settings
    bool configures;           // its names are its options, as nanoGPT's configurator.py has it
    SaidList options;          // of its command line, as add_argument has them, with what they are
    SaidList told;             // by calls and attributes
    SaidList unsure;           // the same with values that are not known
    const SaidList *before;    // what was told when it was read a first time; NULL: that is now
    SaidList passed;           // to functions of the file: "f.name", "f.#0"
    const Python *first;       // what was found when it was read a first time, which knows what functions are passed
    int calls;                 // of those that make a training
    int condition;             // how far the "if" is indented in which the line stands; -1: in none
    const char *function;      // "name()" of the one whose lines are read, or NULL
    int skipped;               // the same of one that does not hold; -1: none
    int last_if;               // how far the last "if" was indented whose truth is known; -1: none
    bool last_holds;
};

// ---- Values.
Name *python_name(Python *p, const char *begin, size_t length); // NULL: it is not set
void python_skip(Python *p);                                    // blanks, comments, within brackets lines
bool python_takes(Python *p, char sign);                        // after blanks: the sign is passed
void python_add(Python *p, ShellWords *out, const char *text);
const char *python_text(Python *p, bool format);              // between quotes; f"…" has its names' values
void python_list(Python *p, ShellWords *out, char close);     // up to the bracket
const Said *python_option(const Python *p, const char *word); // "args.x", which it has; or NULL
bool python_holds_pairs(const ShellWords *words);             // words "a=b" alone, as dict() gives
void python_value(Python *p, ShellWords *out, bool *is_list); // added to *out; what is not known as NOT_KNOWN

// ---- What is told.
const char *python_commas(Python *p, const ShellWords *words); // one text of them
void python_tell(Python *p, const char *section, const char *name, const char *value, int line);
void python_environment(Python *p, const ShellWords *words); // what a program is given: "NAME=value"
// A call begins; one of its arguments has a name; it ended, with these arguments that have none.
void python_call_begins(Python *p, const char *name, int line);
void python_argument(Python *p, const char *name, const char *key, const ShellWords *value, int line);
void python_call_ends(Python *p, const char *name, const ShellWords *given, const char *fallback, int line);
