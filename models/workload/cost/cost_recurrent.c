// Cost of a recurrent layer (LSTM) as cuDNN runs it: inputs are multiplied for all steps at once; then each step
// multiplies the previous step's output, followed by a gate kernel. Backward the same in reverse, and weight
// gradients are products over all steps again. Custom loops run kernel by kernel.
#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_layers.h"

#define GATES 4.0
// Passes over one step's hidden state. Forward: both products' gates, bias, old and new cell, output, gates kept;
// backward: gates kept, old and new cell, gradients of output and cell, gradients of the gates.
#define STEP_FORWARD 15.0
#define STEP_BACKWARD 14.0
#define STEP_KERNELS 2

// The same product `times` times, one after the other.
static void sequential_gemms(const Work *work, Pass *pass, double times, double m, double n, double k) {
    Pass one = {.count = 0};
    pass_gemm(work, &one, CAUSE_GEMM, work->precision, 1, m, n, k);
    pass_now(pass)->seconds[CAUSE_GEMM] += times * pass_now(&one)->seconds[CAUSE_GEMM];
}

static void sequential_gates(const Work *work, Pass *pass, double times, double elements, double passes) {
    double seconds = memory_seconds(work->gpu, passes * elements * work->element_bytes);
    pass_now(pass)->seconds[CAUSE_MEMORY] += times * seconds;
}

void recurrent_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double rows = work->samples, in = layer->in_channels, hidden = layer->out_channels, steps = layer->out_size;
    double gates = GATES * hidden;
    Pass *weights = weights_of(work, backward);

    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, rows * steps, gates, in);
    sequential_gemms(work, forward, steps, rows, gates, hidden);
    sequential_gates(work, forward, steps, rows * hidden, STEP_FORWARD);
    pass_kernels(forward, 1 + STEP_KERNELS * steps);

    sequential_gemms(work, backward, steps, rows, hidden, gates);
    sequential_gates(work, backward, steps, rows * hidden, STEP_BACKWARD);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, rows * steps, in, gates);
    pass_kernels(backward, 1 + STEP_KERNELS * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, in, rows * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, hidden, rows * steps);
    pass_kernels(weights, 3);
    elements_cost(work, layer, one, forward, backward);
}

// ---- A loop in Python over the places along time.

// What the host takes for a kernel of such a loop beyond issuing it as usual: the modules and views around operations
// that do next to nothing, forward; a node of the graph for each of them, backward.
#define ADDED_UP 3.0 // passes: a step's gradients of weights are added to those of the steps after it

static void sequential_bytes(const Work *work, Pass *pass, double times, double bytes) {
    double seconds = memory_seconds(work->gpu, bytes * work->traits->traffic);
    pass_now(pass)->seconds[CAUSE_MEMORY] += times * seconds;
}

static void sequential_kernels(Pass *pass, double kernels) {
    pass_kernels(pass, kernels);
    pass->host_seconds += kernels * cost_constant(LOOP_HOST_SECONDS);
}

static double rows_of_place(const Work *work, const NetLayer *layer) {
    return work->samples * (layer->regions > 0 ? layer->regions : 1);
}

void sequential_product(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double in = one->k, out = one->n, bias = layer->bias, steps = layer->out_size, rows = rows_of_place(work, layer);
    sequential_gemms(work, forward, steps, rows, out, in);
    sequential_kernels(forward, steps);
    sequential_gemms(work, backward, steps, rows, in, out);
    sequential_gemms(work, backward, steps, out, in, rows);
    sequential_bytes(work, backward, steps, work->element_bytes * (ADDED_UP * in * out + bias * rows * out));
    sequential_kernels(backward, steps * (3 + 2 * bias));
}

void sequential_elements(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    (void)one;
    double steps = layer->out_size, elements = rows_of_place(work, layer) * layer->out_channels;
    for (int direction = FORWARD; direction <= BACKWARD; direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        sequential_bytes(work, pass, steps, layer->passes[direction] * elements * work->element_bytes);
        sequential_kernels(pass, steps * (1 + layer->kernels[direction]));
    }
}
