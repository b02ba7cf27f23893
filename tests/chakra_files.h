// Chakra traces written for tests: messages of protocol buffers, field by field.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct ChakraFile {
    unsigned char bytes[1 << 14], node[1 << 12];
    size_t length, node_length;
} ChakraFile;

void chakra_begin(ChakraFile *file); // with the message that stands before the nodes
// A node; then what it says of itself; then its end.
void chakra_node(ChakraFile *file, uint64_t id, const char *name, int kind);
void chakra_after(ChakraFile *file, uint64_t id);
void chakra_takes(ChakraFile *file, uint64_t microseconds);
void chakra_number(ChakraFile *file, const char *name, uint64_t value); // an attribute, as uint64
void chakra_text(ChakraFile *file, const char *name, const char *value);
void chakra_end(ChakraFile *file);
