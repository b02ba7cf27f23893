// A fitted or assumed number of the models, with its source. Each folder of the models keeps its numbers in one table
// (*_constants.c), read by index; `lockstep constants` lists them all. Numbers that are definitions or come from a
// protocol's source are not listed; they stay next to the code that uses them.
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
    const char *source; // the data it was fitted to or read from; or why it is assumed
    const char *basis;  // amount of that data: machines, rows
} Constant;
