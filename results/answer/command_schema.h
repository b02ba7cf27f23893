// lockstep schema (scenarios and other programs read answers by it).
#ifndef LOCKSTEP_RESULTS_COMMAND_SCHEMA_H
#define LOCKSTEP_RESULTS_COMMAND_SCHEMA_H

int command_schema(int argc, char **argv);

#endif
