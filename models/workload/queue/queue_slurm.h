// Parsers of Slurm's accounting output (sacct --parsable2): trackable resources, durations, job steps.
// https://slurm.schedmd.com/sacct.html, https://slurm.schedmd.com/tres.html
#pragma once

#include <stdbool.h>

// GPUs of "billing=64,cpu=64,gres/gpu=8,mem=512G,node=1"; if only types are listed, their sum: "gres/gpu:h100=8". A
// MIG device, "gres/gpu:2g.20gb=1", is that many sevenths of a GPU. 0: none. False: a number cannot be read.
bool slurm_gpus(const char *tres, double *gpus);
// "1-02:03:04", "02:03:04", "03:04", "90": days, hours, minutes, seconds; one number alone is minutes, as in Slurm.
bool slurm_seconds(const char *text, double *seconds);
// "123.batch", "123.0": a job step, whose row repeats its job's.
bool slurm_is_step(const char *job_id);
