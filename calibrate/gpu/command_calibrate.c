// lockstep calibrate: the table of its subcommands.
#include "calibrate/gpu/command_calibrate.h"

#include "calibrate/gpu/bench/bench.h"
#include "results/answer/frame.h"

static int calibrate_run(int argc, char **argv) { return bench_command(NULL, NULL, argc, argv); }

static const FrameCommand commands[] = {
    {"run", "measures this machine's GPUs by lockstep-bench; --dry-run: what, and for how long", calibrate_run},
    {"import", "measurements of other programs as JSON lines", calibrate_import},
    {"fit", "from measurements to a profile with uncertainties", calibrate_fit},
    {"show", "measured against predicted, as text and as a plot", calibrate_show},
    {"recovery", "fits made-up measurements: do the intervals hold the truth?", calibrate_recovery},
    {"network", "collectives of real TCP against their simulation (make netbox)", calibrate_network},
};

int command_calibrate(int argc, char **argv) {
    return frame_choose(commands, sizeof commands / sizeof *commands,
                        "On a machine with GPUs: make cuda, then lockstep calibrate run -o measured.json, then\n"
                        "lockstep calibrate fit measured.json -o profile.json. docs/calibrate.md tells the whole way.",
                        argc, argv);
}
