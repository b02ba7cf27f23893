// lockstep validate: the table of its kinds, each in a file of its own.
#include "calibrate/command_validate.h"

#include "results/answer/frame.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

static const FrameCommand kinds[] = {
    {"collectives", "nccl-tests logs against the network model", .question = &validate_collectives_question},
    {"training", "published training runs against simulated steps", .question = &validate_training_question},
    {"kernels", "measured GEMMs and other kernels against the cost functions", .question = &validate_kernels_question},
    {"first-contact", "a batch of new measurements, as a dated section to keep",
     .question = &validate_first_contact_question},
    {"queue", "waits and backlogs of published shared clusters, against their traces replayed",
     .question = &validate_queue_question},
    {"reliability", "how often jobs stop, against lives simulated from failure rates",
     .question = &validate_reliability_question},
    {"convergence", "data needed to reach a target by batch, against the critical batch",
     .question = &validate_convergence_question},
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
