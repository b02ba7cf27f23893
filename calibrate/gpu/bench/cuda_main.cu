// Main program of lockstep-bench: one process over all GPUs, or one of many processes that rendezvous through a file.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <string.h>

int main(int argc, char **argv) {
    static Device device;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--rendezvous") == 0) return nccl_meet_command(argc, argv);
    return bench_command(&cuda_layer, &device, argc, argv);
}
