// lockstep validate: the table of its kinds, each in a file of its own.
#include "calibrate/command_validate.h"

#include "results/answer/frame.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

static const FrameCommand kinds[] = {
    {"collectives", "nccl-tests logs against the network model", validate_collectives},
    {"training", "published training runs against simulated steps", validate_training},
    {"kernels", "measured GEMMs and other kernels against the cost functions", validate_kernels},
    {"first-contact", "a batch of new measurements, as a dated section to keep", validate_first_contact},
    {"queue", "waits and backlogs of published shared clusters, against their traces replayed", validate_queue},
    {"reliability", "how often jobs stop, against lives simulated from failure rates", validate_reliability},
    {"convergence", "data needed to reach a target by batch, against the critical batch", validate_convergence},
};

// Progress is shown, and an interrupt keeps the predictions so far.
int command_validate(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    watch_open(&(WatchLimits){0});
    int status = frame_choose(kinds, sizeof kinds / sizeof *kinds,
                              "Compares predictions with measurements and says how far off they are.", argc, argv);
    if (watch_tells_part((Where){0}, problems)) status = watch_status(status);
    watch_close();
    pieces_close();
    problems_print(problems, stderr);
    arena_close(arena);
    return status;
}
