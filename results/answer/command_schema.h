// lockstep schema (scenarios and other programs read answers by it).
#pragma once

int command_schema(int argc, char **argv);
