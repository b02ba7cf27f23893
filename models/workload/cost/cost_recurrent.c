// A recurrent layer (LSTM) as cuDNN runs it: what comes in is multiplied for all steps at once; then each step
// multiplies what the step before gave, and a kernel of gates follows. Backward the same in reverse, and the gradients
// of weights are products over all steps again.
#include "models/workload/cost/cost_internal.h"

#define GATES 4.0
// Passes over one step's hidden state. Forward: both products' gates, bias, old and new cell, output, gates kept;
// backward: gates kept, old and new cell, gradients of output and cell, gradients of the gates.
#define STEP_FORWARD 15.0
#define STEP_BACKWARD 14.0
#define STEP_KERNELS 2

// The same product so many times, one after the other.
static void gemms_in_turn(const Work *work, Pass *pass, double times, double m, double n, double k) {
    Pass one = {.count = 0};
    pass_gemm(work, &one, CAUSE_GEMM, work->precision, 1, m, n, k);
    pass_now(pass)->seconds[CAUSE_GEMM] += times * pass_now(&one)->seconds[CAUSE_GEMM];
}

static void gates_in_turn(const Work *work, Pass *pass, double times, double elements, double passes) {
    double seconds = memory_seconds(work->gpu, passes * elements * work->element_bytes);
    pass_now(pass)->seconds[CAUSE_MEMORY] += times * seconds;
}

void recurrent_cost(const Work *work, const ConvLayer *layer, Pass *forward, Pass *backward) {
    double rows = work->samples, in = layer->in_channels, hidden = layer->out_channels, steps = layer->out_size;
    double gates = GATES * hidden;
    Pass *weights = weights_of(work, backward);

    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, rows * steps, gates, in);
    gemms_in_turn(work, forward, steps, rows, gates, hidden);
    gates_in_turn(work, forward, steps, rows * hidden, STEP_FORWARD);
    pass_kernels(forward, 1 + STEP_KERNELS * steps);

    gemms_in_turn(work, backward, steps, rows, hidden, gates);
    gates_in_turn(work, backward, steps, rows * hidden, STEP_BACKWARD);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, rows * steps, in, gates);
    pass_kernels(backward, 1 + STEP_KERNELS * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, in, rows * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, hidden, rows * steps);
    pass_kernels(weights, 3);
}
