// lockstep schema, by which scenarios and other programs read answers.
#pragma once

int command_schema(int argc, char **argv);
