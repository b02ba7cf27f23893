// Lists of hosts as Slurm writes them: "gpu[001-016,020],login2", several brackets in a name, leading zeros kept.
#pragma once

#include <stdbool.h>

// Called with each name in turn; false: enough. The name is gone afterwards.
typedef bool HostVisit(void *context, const char *name);

// False: the list is invalid, with the reason in *why, or `visit` stopped the walk, with *why NULL.
bool hostlist_walk(const char *list, HostVisit *visit, void *context, const char **why);
