#include "sim/data/wire.h"

#include <string.h>

Wire wire_of(const char *data, size_t bytes) { return (Wire){data, bytes ? data + bytes : data, false}; }

static bool broken(Wire *wire) {
    wire->broken = true;
    return false;
}

bool wire_number(Wire *wire, uint64_t *number) {
    *number = 0;
    if (wire->broken || wire->at == wire->end) return false;
    for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        unsigned char byte = (unsigned char)*wire->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return broken(wire);
}

static bool take_fixed(Wire *wire, size_t bytes, uint64_t *value) {
    if ((size_t)(wire->end - wire->at) < bytes) return broken(wire);
    for (size_t i = 0; i < bytes; i++) *value |= (uint64_t)(unsigned char)wire->at[i] << 8 * i;
    wire->at += bytes;
    return true;
}

bool wire_message(Wire *wire, WireField *message) {
    uint64_t bytes;
    *message = (WireField){.kind = WIRE_BYTES};
    if (!wire_number(wire, &bytes)) return false;
    if (bytes > (uint64_t)(wire->end - wire->at)) return broken(wire);
    message->data = wire->at;
    message->bytes = (size_t)bytes;
    wire->at += bytes;
    return true;
}

bool wire_next(Wire *wire, WireField *field) {
    enum { VARINT, I64, LEN, GROUP, GROUP_END, I32 };
    uint64_t key;
    *field = (WireField){0};
    if (!wire_number(wire, &key)) return false;
    uint32_t number = key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0;
    bool taken = false;
    switch (key & 7) {
    case VARINT:
        taken = wire_number(wire, &field->value);
        break;
    case I64:
        field->kind = WIRE_FIXED64, taken = take_fixed(wire, 8, &field->value);
        break;
    case LEN:
        taken = wire_message(wire, field);
        break;
    case I32:
        field->kind = WIRE_FIXED32, taken = take_fixed(wire, 4, &field->value);
        break;
    default:
        break;
    }
    field->number = number;
    return (taken && number > 0) || broken(wire);
}

int64_t wire_zigzag(WireField field) { return (int64_t)(field.value >> 1) ^ -(int64_t)(field.value & 1); }

double wire_double(WireField field) {
    double number = 0;
    memcpy(&number, &field.value, sizeof number);
    return number;
}

double wire_float(WireField field) {
    uint32_t bits = (uint32_t)field.value;
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}
