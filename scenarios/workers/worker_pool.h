// A crew: processes that do numbered pieces of work and answer with bytes. One that dies costs its piece, not the rest.
#ifndef LOCKSTEP_SCENARIOS_CREW_H
#define LOCKSTEP_SCENARIOS_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/problem.h"

// In the worker: does piece `item`; the answer lives in the arena, which is gone afterwards.
typedef char *CrewWork(void *context, Arena *arena, int64_t item, size_t *bytes);

typedef struct CrewAnswer {
    int64_t item;
    char *bytes; // of the arena given to crew_wait; NULL: the worker ended
    size_t size;
    const char *reason; // why it ended: "signal 11 (Segmentation fault)", with what it said last
    bool killed;        // by SIGKILL: not the work's doing, most likely
} CrewAnswer;

typedef struct Crew Crew;

// Forks `size` workers, which see the context as it is now. They take no notice of SIGINT, SIGTERM and SIGUSR1, and end
// with this process however it ends. NULL after a problem; where the system allows fewer, they are fewer.
Crew *crew_open(int size, CrewWork *work, void *context, Problems *problems);
void crew_close(Crew *crew); // ends workers, whatever they do

bool crew_has_idle(const Crew *crew); // neither idle nor busy ones: nobody is left
int crew_busy(const Crew *crew);
void crew_give(Crew *crew, int64_t item); // to an idle worker
// The next answer; false when none came in this time, or a signal did.
bool crew_wait(Crew *crew, Arena *arena, int timeout_ms, CrewAnswer *answer);

// Whoever does the work: a crew of this machine, or ranks of an MPI job.
typedef struct Hands {
    void *who;
    bool (*has_idle)(void *who);
    int (*busy)(void *who);
    void (*give)(void *who, int64_t item);
    bool (*wait)(void *who, Arena *arena, int timeout_ms, CrewAnswer *answer);
} Hands;

Hands hands_of_crew(Crew *crew);

#endif
