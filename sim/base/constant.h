// A number inside the models that somebody fitted or assumed, with what it rests on. Each room of the models keeps its
// own in one table (*_constants.c), read by index; `lockstep constants` shows them all. What is true by definition or
// stands in a protocol's source is no such number and stays beside the code that uses it.
#pragma once

typedef enum ConstantKind {
    CONSTANT_FITTED,   // to measurements, through the models
    CONSTANT_MEASURED, // read off measurements
    CONSTANT_ASSUMED   // usual values and judgement: nothing was fitted
} ConstantKind;

typedef struct Constant {
    const char *name;
    const char *unit; // "": a pure number
    double value;
    double sigma; // relative, of one standard deviation: of the fit, else judgement
    ConstantKind kind;
    const char *source; // what it was fitted to or read off; why it is assumed so
    const char *basis;  // how much that is: machines, rows
} Constant;
