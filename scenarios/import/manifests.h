// What files of jobs share: Kubernetes' and SkyPilot's (manifests.c), and others' (tasks.c).
#pragma once

#include "scenarios/import/reading.h"
#include "sim/base/list.h"

const char *text_at(Reading *r, const Json *tree, const char *path); // of a plain value; NULL: there is none
double number_at(Reading *r, const Json *tree, const char *path, double fallback);
void note(Reading *r, const char *name, const char *value, const Json *at); // for the lists
void reserve(Reading *r, double nodes, double per_node, const char *gpu, const Json *at);
void take_command(Reading *r, const Json *container); // "command" and "args"
// torchrun takes both from the environment there.
void default_ranks(Reading *r, double nodes, double per_node, const Json *job);

// "nvidia:A100:80GB:8", "H100:8", "A100-80GB": the model, and how many where that is said.
const char *gpu_of_text(Reading *r, const char *text, double *count);
bool is_task(const char *text);
bool read_task(Reading *r, const char *file, const char *text, const Json *documents); // false: it is none of these
