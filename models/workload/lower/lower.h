// Lowering: a training job on a cluster becomes a System of actors (one per GPU), programs and channels.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/layout.h"
#include "sim/fold.h"
#include "sim/program.h"

typedef struct Lowered {
    const System *system; // actor = rank
    Resolved resolved;
    const TrainingSpec *training; // with the resolved layout and batch
    double traffic_seconds;       // seconds per byte of a rank's uncontended data-parallel traffic
    int first_forward_label, first_backward_label, label_per_kind; // label ids: forward k, backward k
    Memory memory;                                                 // of the fullest rank
    int fullest_stage;
} Lowered;

// NULL after problems. The system holds one optimizer step; data for the next step loads meanwhile.
const Lowered *lower_training(Arena *arena, const Cluster *cluster, const TrainingSpec *training, Problems *problems);

// What steps on one cluster have in common: which ranks do the same, by layout.
typedef struct StepBook StepBook;
StepBook *step_book_create(Arena *arena, const Cluster *cluster);

// The same folded, without making the whole of it where the book (or NULL) knows the layout, or finds out: then
// Lowered.system is NULL.
const Lowered *lower_folded(Arena *arena, const Cluster *cluster, const TrainingSpec *training, StepBook *book,
                            Folded *folded, Problems *problems);
// The same, its programs without micro-batches in the middle of a long step where they may repeat: then *is_shorter,
// and the run must add them (RunOptions.adds_left_out).
const Lowered *lower_shortened(Arena *arena, const Cluster *cluster, const TrainingSpec *training, StepBook *book,
                               Folded *folded, bool *is_shorter, Problems *problems);

// The cause of a rank's final wait for the slowest: the group that joins the ranks. NULL: of no job.
Cause step_rest_cause(const Lowered *lowered);
