// lockstep calibrate: a table of its own commands.
#include "calibrate/gpu/command_calibrate.h"

#include <stdio.h>
#include <string.h>

#include "calibrate/gpu/bench/bench.h"

#define EXIT_USAGE 2

static int calibrate_run(Arena *arena, int argc, char **argv, Problems *problems) {
    (void)arena, (void)problems;
    return bench_command(NULL, NULL, argc, argv);
}

static const struct {
    const char *name, *help;
    int (*run)(Arena *arena, int argc, char **argv, Problems *problems);
} commands[] = {
    {"run", "measures this machine's GPUs by lockstep-bench; --dry-run: what, and for how long", calibrate_run},
    {"import", "measurements of other programs as JSON lines", calibrate_import},
    {"fit", "from measurements to a profile with uncertainties", calibrate_fit},
    {"show", "measured against predicted, as text and as a plot", calibrate_show},
    {"recovery", "fits made-up measurements: do the intervals hold the truth?", calibrate_recovery},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *out) {
    fprintf(out, "usage: lockstep calibrate COMMAND …\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\nOn a machine with GPUs: make cuda, then lockstep calibrate run -o measured.json, then\n"
                 "lockstep calibrate fit measured.json -o profile.json. docs/calibrate.md tells the whole way.\n");
}

static int run(Arena *arena, int argc, char **argv, Problems *problems) {
    const char *names[COMMAND_COUNT];
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(arena, argc - 1, argv + 1, problems);
        names[i] = commands[i].name;
    }
    problem_add(problems, (Where){0}, argc < 2 ? "calibrate what?%s" : "calibrate has no command \"%s\"",
                argc < 2 ? "" : argv[1]);
    problem_hint_names(problems, argc < 2 ? "" : argv[1], names, COMMAND_COUNT);
    return EXIT_USAGE;
}

int command_calibrate(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "network") == 0) return command_calibrate_network(argc - 1, argv + 1);
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int code = run(arena, argc, argv, problems);
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
