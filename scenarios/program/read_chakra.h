// Chakra execution traces (mlcommons/chakra, schema/protobuf/et_def.proto, 1.0; ASTRA-sim's input): one file per
// rank, PREFIX.0.et, PREFIX.1.et, …, each a graph of computations, transfers and collectives.
#pragma once

#include "scenarios/program/program.h"
#include "sim/data/json.h"

bool is_chakra(const char *path); // by its name: it ends in .et
// The file of a rank, where `path` is the file of one: the last number in its name is the rank. NULL: it has none.
const char *chakra_path(Arena *arena, const char *path, int rank);

typedef struct ChakraReader ChakraReader;

// Sets ranks, groups and labels of a program whose group 0 is all ranks. Communicators are named in the traces; their
// members are in a file {"NAME": [rank, …]}, as for ASTRA-sim.
ChakraReader *chakra_open(Arena *arena, ProgramSpec *program, Problems *problems);
bool chakra_read_groups(ChakraReader *reader, const Json *groups);
bool chakra_read_rank(ChakraReader *reader, const char *path, const char *data, size_t bytes, int rank);
void chakra_close(ChakraReader *reader);
