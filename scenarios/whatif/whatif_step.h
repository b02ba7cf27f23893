// A training step and all what-ifs of it: its settings, its machine, its faults; alone and combined.
#pragma once

#include "models/workload/step/simulate.h"
#include "scenarios/study/study.h"
#include "scenarios/whatif/whatif.h"

typedef struct StepThen { // for the global batch that the job has now
    double memory_bytes;  // peak of the fullest GPU
    double chance_to_run_out;
    double spent[CAUSE_COUNT]; // seconds, mean over ranks
    double anchored;           // see RecordPoint
    uint64_t digest;
    // Of a resource: its gain when a tenth faster, and with an infinite rate; NAN: not computed.
    double tenth_s, limit_s;
} StepThen;

#define TOGETHER_MOST 3

// Several moves at once, simulated as one.
typedef struct Combination {
    const Move *parts[TOGETHER_MOST]; // of a pair the part that saves more alone is first; then the third
    int count;
    double adds_s[TOGETHER_MOST]; // the first alone, then what each adds to those before; NAN: it does not run alone
    WhatIf whole;
} Combination;

typedef LIST_OF(Combination) CombinationList;

typedef struct JobNow {
    const StudySpec *study;
    const Cluster *cluster;
    RecordPoint point;  // as it is
    SimulatedStep step; // the same, with its chain
    const char *lacks;  // memory: "needs 177.8 GiB of 79.6 GiB", and all else is as if it were there; NULL: it is
    bool must_fit;      // it is not certain to fit, and a tried change is: no other is advised
    MoveList moves;     // all possible changes, also those without effect alone
    WhatIfs tried;
    // By gain, most first: those that fit and whose last part adds something. At most one of three.
    CombinationList together;
    const WhatIf *fitting;      // what makes it fit in memory, when that is not sure; NULL: it is, or nothing helps
    const WhatIf *first, *next; // settings or faults to change first, and the next best: those that gain, change
                                // nothing else and likely fit; NULL: none does
    double better_chance;       // that their order holds
} JobNow;

// Tries all possible changes of a job that ran, alone and in at most `pairs` pairs; and finds the first to make.
void whatif_try_step(Arena *arena, JobNow *now, int64_t pairs);
bool step_is_free(const Move *move); // the user's to make, and the same training
// As certain to fit as a plan requires (MEMORY_FITS).
bool fits_surely(double chance_to_run_out);
// The same; of a job that is less sure itself, no less so than that.
bool fits_no_worse(const JobNow *now, const WhatIf *whatif);
// The point with one resource faster by a factor. For tests too.
RecordPoint simulate_quicker(Arena *arena, const StudySpec *study, const Resource *resource, double factor,
                             Problems *problems);

// ---- A study with something changed.
typedef struct Variant {
    const Catalogue *catalogue;
    ClusterSpec cluster;
    const Cluster *built; // of that; NULL: it is not yet
    JobSaid said;
} Variant;

Variant variant_of(const JobNow *now);
// Of an impossible variant, why_not is the reason.
RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems);
// Weighs a point's results, for the present global batch.
void weigh_step(Arena *arena, const JobNow *now, const RecordPoint *point, WhatIf *whatif);

// ---- Moves of a job (whatif_moves.c): settings in the order of the table, then fewer GPUs, then faults.
MoveList list_moves(Arena *arena, const JobNow *now);
// Replicas follow changed degrees; the global batch stays, with the number of micro-batches that it needs.
void make_move(Arena *arena, const JobNow *now, const Move *move, Variant *variant);

// ---- Together (whatif_together.c): the most promising pairs of moves by their effects alone, at most so many, and a
// third on top of the best pair, or of a faster one that lacks memory.
#define WHATIF_PAIRS 80
int64_t together_affordable(int64_t most, int64_t events); // pairs, of steps with that many events
CombinationList try_together_with(Arena *arena, const JobNow *now, int64_t most);
// Changes that make a job fit together, where none alone does or at less cost. NULL: there are none.
const Combination *fitting_together(const JobNow *now);
// Not two values of one field, nor one without effect unless with a third.
bool moves_go_together(const Move *one, const Move *other);
// All of them made, in their order.
RecordPoint simulate_moves(Arena *arena, const JobNow *now, const Move *const *moves, int count, Problems *problems);

// ---- Texts (whatif_step.c): the first change, the new step time, and the reason.
typedef struct Lead {
    const char *label, *value, *note; // "Change first", "vpp = 2", "a step takes 54.46 s instead of 55.84 s: …"
} Lead;
bool step_lead(Arena *arena, const JobNow *now, Lead *lead); // false: nothing was tried
const char *step_first(Arena *arena, const JobNow *now);     // the same as sentences; it has a first
// Changes that give far more together than the best alone, and fit; NULL: there are none.
const Combination *step_leading(const JobNow *now);
// Others that save nearly as much, and are surer to fit; NULL: there are none. And what saves most alone.
const char *step_surer(Arena *arena, const JobNow *now, const Combination *some);
const char *step_best_alone(Arena *arena, const JobNow *now);
// " Why: …." of a change that ran, by the time it removes; or "".
const char *step_reason(Arena *arena, const JobNow *now, const WhatIf *whatif);
// "14.61 s instead of 15.08 s: 3.1 % less (90 % range …), 287,080 tokens/s instead of 278,102, $1.05 less per …"
const char *step_becomes(Arena *arena, const JobNow *now, const WhatIf *whatif);
// "; memory then runs out with a chance of 4.3 % instead of 1.5 %"; "" where it surely fits before and after, and the
// chance does not rise by more than a point.
const char *step_risk(Arena *arena, const JobNow *now, const WhatIf *whatif);
