// lockstep validate: a table of kinds, each in a file of its own.
#include "calibrate/command_validate.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/problem.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

#define EXIT_USAGE 2

typedef struct Kind {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} Kind;

static const Kind kinds[] = {
    {"collectives", "nccl-tests logs against the network model", validate_collectives},
    {"training", "published training runs against simulated steps", validate_training},
    {"kernels", "measured GEMMs and other kernels against the cost functions", validate_kernels},
    {"first-contact", "a batch of new measurements, as a dated section to keep", validate_first_contact},
    {"queue", "waits and backlogs of published shared clusters, against their traces replayed", validate_queue},
    {"reliability", "how often jobs stop, against lives simulated from failure rates", validate_reliability},
    {"convergence", "data needed to reach a target by batch, against the critical batch", validate_convergence},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void print_help(FILE *out) {
    fprintf(out, "usage: lockstep validate KIND …\nCompares predictions with measurements and says how far off they "
                 "are.\n\n");
    for (int i = 0; i < KIND_COUNT; i++) fprintf(out, "  %-14s %s\n", kinds[i].name, kinds[i].help);
    fprintf(out, "\nlockstep validate KIND --help says more.\n");
}

// Progress is shown, and an interrupt leaves what was predicted until then.
static int watched(const Kind *kind, int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    watch_open(&(WatchLimits){0});
    int status = kind->run(argc, argv);
    if (watch_tells_part((Where){0}, problems)) status = watch_status(status);
    watch_close();
    pieces_close();
    problems_print(problems, stderr);
    arena_close(arena);
    return status;
}

int command_validate(int argc, char **argv) {
    const char *names[KIND_COUNT];
    for (int i = 0; i < KIND_COUNT; i++) {
        names[i] = kinds[i].name;
        if (argc > 1 && strcmp(argv[1], names[i]) == 0) return watched(&kinds[i], argc - 1, argv + 1);
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return 0;
    }
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *near = nearest_name(argv[1], names, KIND_COUNT);
    fprintf(stderr, "error: validate has no kind \"%s\"\n", argv[1]);
    if (near)
        fprintf(stderr, "  hint: did you mean \"%s\"?\n", near);
    else
        fprintf(stderr, "  hint: lockstep validate --help lists them\n");
    return EXIT_USAGE;
}
