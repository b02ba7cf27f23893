// Folding: actors that must do the same at the same time become one. Colours are refined over actors, channels and
// links until they no longer split (an equitable partition); the quotient then has exactly the times of the whole. If
// the watch stops it, the result is the whole system, unfolded, whose run stops too.
#pragma once

#include "sim/program.h"

typedef struct Folded {
    System system;           // the quotient: one actor per class, links merged where they carry the same
    const int32_t *class_of; // actor of the whole -> actor of the quotient
} Folded;

Folded fold_system(Arena *arena, const System *system);

// Only the classes, for callers that build a quotient of a similar system: items of a class are equal, and classes
// are numbered by their first items. Links that no plan uses have none.
typedef struct FoldClass {
    const int32_t *of;    // [item]
    const int32_t *first; // [class] an item of it
    int count;
} FoldClass;

typedef struct FoldClasses {
    FoldClass actors, channels, links;
} FoldClasses;

FoldClasses fold_classes(Arena *arena, const System *system);
// One actor per class, that joins classes of channels.
const Actor *fold_actors(Arena *arena, const System *system, const FoldClasses *classes);
// Counts the actors that join each channel.
void fold_count_members(Arena *arena, const System *folded, Channel *channels);

// The same system with links that always carry the same merged into the narrowest of them: same times, less to solve.
System merge_equal_links(Arena *arena, const System *system);

// ---- Sampling: many actors that differ only by chance are simulated by a few, as copies of a folded system. Where its
// actors meet those of other copies, the run asks for the delay of the slowest of those not simulated (run_jitter.c).

// Who meets in a channel of the folded system.
typedef struct Crowd {
    double ranks; // actors of the whole
    bool crosses; // of different copies; else each member represents an equal part of them
} Crowd;

// At most `most` copies, fewer where no crowd that crosses has as many ranks behind each member. Random times have
// `jitter` as their sigma. The copy of an actor is `actor + copy * folded->actor_count`.
System sample_system(Arena *arena, const System *folded, const Crowd *crowds, int most, double jitter);
