#include "tests/chakra_files.h"

#include <string.h>

static size_t put_number(unsigned char *at, uint64_t value) {
    size_t length = 0;
    for (; value >= 0x80; value >>= 7) at[length++] = (unsigned char)(value | 0x80);
    at[length++] = (unsigned char)value;
    return length;
}

static size_t put_field(unsigned char *at, int number, uint64_t value) {
    size_t length = put_number(at, (uint64_t)number << 3);
    return length + put_number(at + length, value);
}

static size_t put_bytes(unsigned char *at, int number, const void *data, size_t bytes) {
    size_t length = put_number(at, (uint64_t)number << 3 | 2);
    length += put_number(at + length, bytes);
    memcpy(at + length, data, bytes);
    return length + bytes;
}

static void put_message(ChakraFile *file, const void *data, size_t bytes) {
    file->length += put_number(file->bytes + file->length, bytes);
    memcpy(file->bytes + file->length, data, bytes);
    file->length += bytes;
}

void chakra_begin(ChakraFile *file) {
    unsigned char metadata[32];
    file->length = 0;
    put_message(file, metadata, put_bytes(metadata, 1, "0.0.4", 5));
}

void chakra_node(ChakraFile *file, uint64_t id, const char *name, int kind) {
    file->node_length = put_field(file->node, 1, id);
    file->node_length += put_bytes(file->node + file->node_length, 2, name, strlen(name));
    file->node_length += put_field(file->node + file->node_length, 3, (uint64_t)kind);
}

// Packed, as proto3 writes them.
void chakra_after(ChakraFile *file, uint64_t id) {
    unsigned char packed[16];
    file->node_length += put_bytes(file->node + file->node_length, 5, packed, put_number(packed, id));
}

void chakra_takes(ChakraFile *file, uint64_t microseconds) {
    file->node_length += put_field(file->node + file->node_length, 7, microseconds);
}

void chakra_number(ChakraFile *file, const char *name, uint64_t value) {
    unsigned char attribute[64];
    size_t length = put_bytes(attribute, 1, name, strlen(name));
    length += put_field(attribute + length, 13, value);
    file->node_length += put_bytes(file->node + file->node_length, 10, attribute, length);
}

void chakra_text(ChakraFile *file, const char *name, const char *value) {
    unsigned char attribute[64];
    size_t length = put_bytes(attribute, 1, name, strlen(name));
    length += put_bytes(attribute + length, 29, value, strlen(value));
    file->node_length += put_bytes(file->node + file->node_length, 10, attribute, length);
}

void chakra_end(ChakraFile *file) { put_message(file, file->node, file->node_length); }
