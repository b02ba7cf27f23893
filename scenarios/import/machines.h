// What reserves and names machines, for launch.c.
#pragma once

#include "scenarios/import/reading.h"

// By a launcher's own options.
typedef void MachinesOf(Reading *r, const Launch *launch);
MachinesOf machines_of_torchrun, machines_of_deepspeed, machines_of_accelerate, machines_of_composer,
    machines_of_colossalai, machines_of_llamafactory, machines_of_axolotl, machines_of_trl, machines_of_ranks;
void machines_of_scheduler(Reading *r); // sbatch and srun: what they reserve
void machines_of_tasks(Reading *r);     // a task a GPU, where nobody else starts ranks

void read_slurm(Reading *r, const ShellWords *words, int begin, int end, SaidList *list, Where where, SaidBy by);
void read_directives(Reading *r, const char *file, const char *text); // #SBATCH, #PBS
void set_slurm(Reading *r);                                           // the variables that the scheduler sets
// Of "a,b,c", up to one of the letters.
int items_of(const char *text, const char *until);
