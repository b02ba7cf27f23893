// For tests of sweeps: a folder of their own, command lines in it, and what stores hold.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHEAP "$LOCKSTEP sweep --model mlp-mnist --node dgx-a100 --fabric eth-100g --global-batch 840 "

extern char output[1 << 16]; // of the last command line

const char *folder(void); // "{DIR}" in command lines
void clear(void);         // makes it empty
int shell(const char *line);
const char *in_folder(const char *name);
void put_text(const char *name, const char *text);

int64_t ask(const char *path, const char *sql); // the first number of the answer, -1: none
// Changes a store by SQL and makes checksums and seal fit again, as nobody but a forger would.
void forge(const char *path, const char *sql);
bool same_store(const char *actual, const char *expected);
void expect_same_store(const char *actual, const char *expected);
