// Parser of the protocol buffers wire format (protobuf.dev/programming-guides/encoding): a sequence of fields, each a
// number and a value. Nothing is copied; truncated fields or unknown wire types fail.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum WireKind { WIRE_NUMBER, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 } WireKind;

typedef struct WireField {
    uint32_t number;
    WireKind kind;
    uint64_t value;   // of a number or of the bits of a fixed one
    const char *data; // of bytes: a text, a message, packed numbers
    size_t bytes;
} WireField;

typedef struct Wire {
    const char *at, *end;
    bool broken;
} Wire;

Wire wire_of(const char *data, size_t bytes);
bool wire_next(Wire *wire, WireField *field);      // false at the end, and once broken
bool wire_message(Wire *wire, WireField *message); // behind its length alone, as in a stream of messages
bool wire_number(Wire *wire, uint64_t *number);    // of packed numbers
int64_t wire_zigzag(WireField field);              // of sint32 and sint64
double wire_double(WireField field);
double wire_float(WireField field);
