// Python as far as programs and launchers of training use it: a tree of what stands there (python_parse.c), its values
// (python_values.c), one evaluator (python_run.c), the language's own functions (python_library.c), and what calls say
// of a training (python_calls.c). Nothing is executed: what is not known by the text alone is a value that is not
// known, and so is all that follows from it.
#pragma once

#include "scenarios/import/reading.h"
#include "sim/base/list.h"

typedef enum NodeKind {
    NODE_UNKNOWN,
    NODE_NAME,
    NODE_NUMBER,
    NODE_TEXT,
    NODE_FORMAT,    // f"…" and lines of a notebook's shell: its text, with braces
    NODE_ATTRIBUTE, // left.text
    NODE_ITEM,      // left[right]
    NODE_SLICE,     // left:right
    NODE_CALL,      // left(items)
    NODE_KEYWORD,   // text=left; of parameters left may be NULL
    NODE_SPREAD,    // text: "*" or "**"
    NODE_LIST,      // items; of a tuple text is "("
    NODE_DICT,      // items are NODE_PAIR or NODE_SPREAD
    NODE_PAIR,      // left: right
    NODE_BINARY,    // left text right
    NODE_UNARY,     // text left
    NODE_CHOICE,    // left if items else right
    NODE_LAMBDA,    // items are parameters, left is its value
    NODE_EACH,      // left of items, which are NODE_FOR
    NODE_SHELL,     // a line of a notebook's shell
    NODE_ASSIGN,    // left text right: "=", "+=", …
    NODE_IF,        // left, items, others
    NODE_FOR,       // for left in right: items; of NODE_EACH items are conditions
    NODE_BLOCK,     // items, certainly (with, try) or, with text, perhaps (while, except)
    NODE_DEF,       // text, parameters in left's items, items, decorators in others
    NODE_CLASS,
    NODE_RETURN,
    NODE_LEAVE, // break and continue, as text says
    NODE_IMPORT // items: NODE_KEYWORD, text its name here, left its whole path as NODE_NAME; "*" is all
} NodeKind;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    int line;
    const char *text;
    Node *left, *right, *items, *others, *next;
};

const Node *python_parse(Arena *arena, const char *text, size_t bytes, bool *whole); // items of a NODE_BLOCK
const Node *python_parse_value(Arena *arena, const char *text, size_t bytes);

typedef enum ValueKind {
    IS_NOT_KNOWN,
    IS_NONE,
    IS_BOOL,
    IS_NUMBER,
    IS_TEXT,
    IS_LIST,
    IS_DICT,
    IS_OBJECT,   // what a call of something elsewhere gave, a part of that, an instance of a class, a module
    IS_FUNCTION, // with a self where it is bound
    IS_CLASS,
    IS_NAMED // something elsewhere: "torch.bfloat16"
} ValueKind;

typedef struct Fields Fields;
typedef struct Value {
    ValueKind kind;
    double number;
    const char *text; // of a text, of a number as it is written, of a name
    Fields *fields;   // of a list, a dictionary, an object, a class; of a function where it stands
    const Node *node; // of a function
    Fields *self;     // of a bound function; of a method its class
    Fields *owner;    // of a bound function: its class
    int how;          // of a function: PYTHON_PROPERTY, PYTHON_ALONE
} Value;
enum { PYTHON_PROPERTY = 1, PYTHON_ALONE, PYTHON_OF_CLASS }; // read like a field; without a self; its class is that

typedef struct Field {
    const char *key; // NULL in lists
    Value value;
    int line;
} Field;

struct Fields { // also names of a module, a class or a function
    Field *items;
    int count, room;
    Fields *outer;       // what is looked up there next: of an instance its class, of a class its base
    const char *file;    // of a module
    const char *made_by; // the call that gave it, of an instance the base elsewhere; or NULL
    const char *path;    // below the object at its root; what is set there is told. NULL: it is not
    bool is_class, is_data, is_made, is_options; // is_made: of the class, that something is
};

typedef struct Call {
    const char *name; // as it stands there, where it was imported in whole: "torch.distributed.fsdp.FSDP"
    const Value *on;  // of a method: its object, or NULL
    Fields given;     // without keys those without names
    int line;
} Call;

enum { MOST_ITEMS = 2000, MOST_TOLD = 2000, MOST_STEPS = 200000, LONGEST_TEXT = 100000 };

typedef enum Flow { GOES_ON, NEXT_ROUND, LEAVES_LOOP, RETURNS } Flow;

typedef struct Python {
    Reading *r;
    const char *file;
    const SaidList *arguments; // what the command line tells it; or NULL
    bool configures;           // its names are its options, as nanoGPT's configurator.py has it
    bool ends;                 // the last pass: of functions that nobody in sight calls
    Flow flow;
    int steps, depth, frames, within, perhaps; // perhaps: within how many conditions whose truth is not known
    SaidList options;                          // of its command line, as add_argument has them, with what they are
    SaidList told, idly;                       // by calls and attributes; by functions that nobody in sight calls
    SaidList unsure;                           // the same with values that are not known
    int places;                                // of its command line that options without a name took
    int calls;                                 // of those that make a training
    Fields *scope;                             // whose lines are run
    Fields *self, *owner;                      // of the method that is run, and its class
    Value *returned;                           // by the function that is run
    Value config;                              // of @hydra.main
    const char *printed;                       // NULL: nobody asks
    int certain;                               // perhaps, where it began
    LIST_OF(Value) functions;                  // that were seen, and
    LIST_OF(const Node *) called;              // of these the ones that were run
    LIST_OF(Fields *) instances;               // of its classes
    LIST_OF(Fields *) modules;                 // that were read, the program last
    LIST_OF(Fields *) classes;                 // whose fields are settings
    LIST_OF(Fields *) lists;                   // that have names, which may be commands
} Python;

// ---- Values.
static const Value not_known = {IS_NOT_KNOWN, 0, NULL, NULL, NULL, NULL, NULL, 0};
Value python_text(const char *text);
Value python_number(double number);
Value python_bool(bool is);
Value python_new(Python *p, ValueKind kind);
Value python_object(Python *p, const char *made_by, const char *path);
Value python_said(Python *p, const char *text);             // of a command line: a number, a truth, a text
Field *python_field(const Fields *fields, const char *key); // or NULL
Field *python_found(const Fields *fields, const char *key); // the same, or further out
void python_set(Python *p, Fields *fields, const char *key, Value value, int line);
void python_add_all(Python *p, Fields *to, const Value *from); // fields of another
int python_truth(const Value *value);                          // 1, 0; -1: it is not known
bool python_equal(const Value *a, const Value *b, bool *known);
const char *python_shown(Python *p, const Value *value);             // of lists with commas; NOT_KNOWN stands in it
void python_words(Python *p, const Value *value, ShellWords *out);   // those of a list, "a.b=c" of a dictionary's pairs
Value python_of_tree(Python *p, const Json *tree, const char *path); // of a configuration, below that path
const char *python_below(Python *p, const char *path, const char *name);
Value python_taken(Python *p, const Fields *of, const Field *field);        // its value, which the program itself uses
void python_write(Python *p, const char *path, const char *text, int line); // behind what it holds
const char *python_contents(Python *p, const Value *value, int line);       // of a text or a file; or NULL
Value python_path_part(Python *p, const char *path, bool folder);           // or its name
Value python_filled(Python *p, const char *text, const Call *call);         // a template
const char *python_json(Python *p, const Value *value);
Value python_compute(Python *p, const char *sign, Value a, Value b);
Value python_formatted(Python *p, const char *text);                // f"…"
Value python_format(Python *p, const char *text, const Call *call); // "…".format(…), by what the call is given

// ---- The evaluator.
Value python_value(Python *p, const Node *node);
void python_tell_class(Python *p, Fields *class);
Value python_run(Python *p, const Value *function, const Fields *given, int line);
void python_set_attribute(Python *p, Value of, const char *name, Value value, int line);
Value python_attribute(Python *p, const Value *of, const char *name, const Node *at);
Fields *python_program(Python *p, const char *file, const char *text, size_t bytes); // its names

// ---- Calls of what is not in its text.
Value python_call(Python *p, Call *call);
const Value *python_argument(const Call *call, int place, const char *key); // NULL: it is not given
// Functions and methods of the language and its library; false: it is none of these.
bool python_library(Python *p, const Call *call, Value *out);
void python_tell(Python *p, const char *section, const char *name, const Value *value, int line);
bool python_makes(const char *call);                          // a training, or a part of its configuration
Value python_words_given(Python *p, bool others);             // sys.argv
void python_environment(Python *p, const Fields *pairs);      // what a program is given
const Said *python_option(const Python *p, const char *name); // of its command line; or NULL
Value python_option_value(Python *p, const Said *said);
