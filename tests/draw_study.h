// Studies drawn at random, or as a fuzzer's bytes have it: a list of settings, which is what can be changed one by one,
// shrunk and printed, and a Lua text made from it. Most of them simulate; the others are refused with a sentence.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DRAWN_SETTINGS 64

// "training.zero" = "1", "cluster.node" = "\"dgx-a100\"": paths as --set has them, and numbers where a list of tables
// has its items ("cluster.nodes.2.gpus", "fabric.links.1.from", "study.published.1.mfu"); values are Lua's literals.
// "expect.memory" is of job:expect. One of "fabric", "single_switch", "fat_tree", "rail_fat_tree" is the cluster's
// fabric where it has fields, one of "transformer", "resnet", "mlp", "lstm" the job's model.
typedef struct DrawnSetting {
    const char *path;
    char value[64];
} DrawnSetting;

typedef struct DrawnStudy {
    DrawnSetting settings[DRAWN_SETTINGS];
    int count;
    uint64_t seed;
} DrawnStudy;

DrawnStudy draw_study(uint64_t seed);
// Each draw takes a byte or two; when they are used up, all draws are the plainest. Seed 0.
DrawnStudy draw_study_from(const uint8_t *bytes, size_t count);

// Puts a value in place or adds it; NULL takes it away. The path is kept as a pointer.
void drawn_set(DrawnStudy *study, const char *path, const char *value);
const char *drawn_value(const DrawnStudy *study, const char *path); // NULL: not set
void drawn_write(const DrawnStudy *study, FILE *out);               // a scenario
