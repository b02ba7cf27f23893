// Time of expert-parallel token exchanges. The table's rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/exchange.csv`.
#include "models/hardware/exchange.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"

// The concurrent parts of an exchange combine as a sharp maximum: DeepEP over 4 nodes goes from its SMs' rate to the
// network's within two steps of 4 SMs.
#define SHARPNESS 4.0
#define DEFAULT_SMS 20 // deep_ep.Buffer.num_sms

// clang-format off
const ExchangeKernel exchange_kernels[] = {
    {"ll", "combine", BLACKWELL, true, false, 12.20e-6, 0.0173e-6, 0.79, 52.8e-9, 0.0150e-9, 21.05e-9, 0.01668e-9, 0.662},
    {"ll", "dispatch", BLACKWELL, true, false, 7.99e-6, 0.0189e-6, 1.27, 2251.3e-9, 0.0139e-9, 32.90e-9, 0.05241e-9, 0.540},
    {"normal", "combine", BLACKWELL, true, false, 15.91e-6, 1.2373e-6, 18.43, 345.5e-9, 0.0190e-9, 27.31e-9, 0.01574e-9, 0.704},
    {"normal", "dispatch", BLACKWELL, true, false, 23.64e-6, 0.8922e-6, 8.28, 243.5e-9, 0.0027e-9, 60.19e-9, 0.01535e-9, 0.668},
    {"nvlinkonesided", "combine", BLACKWELL, true, false, 12.21e-6, 0.4249e-6, 2.79, 229.2e-9, 0.0095e-9, 42.62e-9, 0.01348e-9, 0.731},
    {"nvlinkonesided", "dispatch", BLACKWELL, true, false, 9.97e-6, 0.1943e-6, 2.46, 1333.7e-9, 0.0105e-9, 38.77e-9, 0.01613e-9, 0.723},
    {"nvlinktwosided", "combine", BLACKWELL, true, false, 7.41e-6, 0.0594e-6, 0.30, 10267.6e-9, 0.0105e-9, 57.30e-9, 0.05943e-9, 0.582},
    {"nvlinktwosided", "combine_low_precision", BLACKWELL, true, false, 7.58e-6, 0.0697e-6, 0.39, 18510.1e-9, 0.0103e-9, 502.70e-9, 0.02754e-9, 0.696},
    {"nvlinktwosided", "dispatch", BLACKWELL, true, false, 6.64e-6, 0.0679e-6, 0.51, 5538.4e-9, 0.0826e-9, 191.76e-9, 0.02529e-9, 0.653},
    {"nvlinktwosided", "prepare", BLACKWELL, true, false, 9.41e-6, 0.0867e-6, 2.79, 939.9e-9, 0.0103e-9, 3.94e-9, 0.02072e-9, 0.698},
    {"ll", "combine", HOPPER, true, false, 9.04e-6, 0.0046e-6, 1.52, 182.2e-9, 0.0090e-9, 30.92e-9, 0.00912e-9, 0.476},
    {"ll", "combine", HOPPER, true, true, 14.14e-6, 0.7276e-6, 3.82, 276.2e-9, 0.0100e-9, 47.52e-9, 0.01761e-9, 0.698},
    {"ll", "dispatch", HOPPER, true, false, 6.53e-6, 0.0110e-6, 1.05, 1971.2e-9, 0.0105e-9, 47.21e-9, 0.02595e-9, 0.559},
    {"ll", "dispatch", HOPPER, true, true, 11.56e-6, 4.4491e-6, 3.00, 227.7e-9, 0.0099e-9, 41.72e-9, 0.01544e-9, 0.698},
    {"normal", "combine", HOPPER, true, false, 17.28e-6, 0.3671e-6, 18.09, 44.4e-9, 0.0598e-9, 12.61e-9, 0.01166e-9, 0.687},
    {"normal", "combine", HOPPER, true, true, 15.10e-6, 0.3173e-6, 15.03, 2989.3e-9, 0.0107e-9, 56.28e-9, 0.04525e-9, 0.725},
    {"normal", "dispatch", HOPPER, true, false, 19.44e-6, 0.4420e-6, 11.91, 130.7e-9, 0.0148e-9, 39.40e-9, 0.01570e-9, 0.777},
    {"normal", "dispatch", HOPPER, true, true, 14.62e-6, 9.4714e-6, 8.29, 1307.0e-9, 0.0105e-9, 55.14e-9, 0.02511e-9, 0.847},
};
// clang-format on
const int exchange_kernel_count = (int)(sizeof exchange_kernels / sizeof *exchange_kernels);

// ---- Traffic of each mode, and its workers.

typedef struct Plan {
    double workers, peers;
    double copies;                    // of a token, those that stay with its rank among them
    double over_nvlink, over_network; // copies that travel so
} Plan;

double exchange_groups_met(double groups, double experts, double per_token) {
    double missed = 1, elsewhere = experts - experts / groups;
    for (int i = 0; i < (int)per_token && missed > 0; i++) missed *= fmax(0, elsewhere - i) / (experts - i);
    return groups * (1 - missed);
}

// DeepEP's normal kernels: a channel is one SM that sends and one that receives. A token goes once to each rank; over
// a network once to each node, where the rank that gets it passes it on.
static Plan plan_of_channels(const ExchangeShape *shape) {
    double ranks_met = exchange_groups_met(shape->ranks, shape->experts, shape->per_token);
    double nodes_met = exchange_groups_met(shape->nodes, shape->experts, shape->per_token);
    bool network = shape->nodes > 1;
    return (Plan){.workers = fmax(1, (shape->sms > 0 ? shape->sms : DEFAULT_SMS) / 2),
                  .peers = shape->ranks,
                  .copies = network ? nodes_met : ranks_met,
                  .over_nvlink = ranks_met * (1 - shape->nodes / shape->ranks),
                  .over_network = nodes_met * (1 - 1 / shape->nodes)};
}

// DeepEP's low-latency kernels: a message for each of a token's experts; an SM for each expert, or for the fewest that
// all SMs can hold.
static Plan plan_of_messages(const Gpu *gpu, const ExchangeShape *shape) {
    double each = ceil(shape->experts / gpu->sm_count), far = shape->per_token * (1 - 1 / shape->nodes);
    return (Plan){.workers = ceil(shape->experts / each),
                  .peers = shape->experts,
                  .copies = shape->per_token,
                  .over_nvlink = shape->per_token * (1 - 1 / shape->ranks) - far,
                  .over_network = far};
}

// TensorRT-LLM's kernels over NVLink: blocks on all SMs, a copy for each rank; balanced routing spreads a token's
// experts over as many ranks as there are.
static Plan plan_of_nvlink(const Gpu *gpu, const ExchangeShape *shape) {
    double copies = fmin(shape->per_token, shape->ranks);
    return (Plan){.workers = gpu->sm_count,
                  .peers = shape->ranks,
                  .copies = copies,
                  .over_nvlink = copies * (1 - 1 / shape->ranks)};
}

static Plan plan_of(const Gpu *gpu, const ExchangeShape *shape, const char *mode) {
    if (strcmp(mode, "normal") == 0) return plan_of_channels(shape);
    if (strcmp(mode, "ll") == 0) return plan_of_messages(gpu, shape);
    return plan_of_nvlink(gpu, shape);
}

// ---- What it takes.

static double seconds_over(double bytes, double bytes_per_second) {
    return bytes > 0 && bytes_per_second > 0 ? bytes / bytes_per_second : 0;
}

static double overlapped_seconds(double a, double b, double c) {
    double most = fmax(a, fmax(b, c));
    if (!(most > 0)) return 0;
    double sum = pow(a / most, SHARPNESS) + pow(b / most, SHARPNESS) + pow(c / most, SHARPNESS);
    return most * pow(sum, 1 / SHARPNESS);
}

static double token_seconds(const ExchangeKernel *kernel, double row) {
    return kernel->token_seconds + kernel->token_byte_seconds * row;
}

static double copy_seconds(const ExchangeKernel *kernel, double row) {
    return kernel->copy_seconds + kernel->copy_byte_seconds * row;
}

void exchange_worker_seconds(const ExchangeKernel *kernel, double row_bytes, double *token, double *copy) {
    *token = token_seconds(kernel, row_bytes) / (DEFAULT_SMS / 2.0);
    *copy = copy_seconds(kernel, row_bytes) / (DEFAULT_SMS / 2.0);
}

double exchange_seconds(const Gpu *gpu, const ExchangeShape *shape, const ExchangeKernel *kernel) {
    Plan plan = plan_of(gpu, shape, kernel->mode);
    double row = shape->hidden * shape->element_bytes, bytes = shape->tokens * row;
    double token = token_seconds(kernel, row) + plan.copies * copy_seconds(kernel, row);
    double nvlink = kernel->nvlink_share * gpu->nvlink_bytes_per_second;
    double network = hardware_constant(EXCHANGE_NIC_SHARE) * shape->nic_bytes_per_second;
    double peers = kernel->over_network ? log2(shape->nodes) : plan.peers;
    return kernel->start_seconds + kernel->peer_seconds * peers + kernel->fill * token +
           overlapped_seconds(shape->tokens / plan.workers * token, seconds_over(plan.over_nvlink * bytes, nvlink),
                              seconds_over(plan.over_network * bytes, network));
}

const ExchangeKernel *exchange_kernel_of(const Gpu *gpu, const char *mode, const char *phase, bool over_network) {
    const ExchangeKernel *best = NULL;
    int nearest = 0;
    for (int i = 0; i < exchange_kernel_count; i++) {
        const ExchangeKernel *row = &exchange_kernels[i];
        if (strcmp(row->mode, mode) != 0 || strcmp(row->phase, phase) != 0 || row->over_network != over_network)
            continue;
        int distance = gpu_generations_from(gpu, row->generation, row->of_servers);
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}
