#include "models/workload/lower/reduction.h"

#include "models/workload/cost/cost.h"

int reductions_of(const TrainingSpec *training, DataRanks ranks, double parameters, double experts,
                  Reduction reductions[REDUCTIONS_MOST]) {
    double bytes = exchanged_bytes(parameters, gradient_bytes(training));
    double expert_bytes = exchanged_bytes(experts, gradient_bytes(training));
    CollectiveOp of_experts = ranks.shard > 1 ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    int count = 0;
    if (expert_bytes > 0 && ranks.experts > 1)
        reductions[count++] = (Reduction){DATA_EXPERTS, of_experts, expert_bytes};
    if (bytes == 0) return count;
    if (ranks.shard > 1) reductions[count++] = (Reduction){DATA_SHARD, COLLECTIVE_REDUCE_SCATTER, bytes};
    if (ranks.reduce > ranks.shard)
        reductions[count++] = (Reduction){DATA_REPLICAS, COLLECTIVE_ALL_REDUCE, ceil(bytes / ranks.shard)};
    return count;
}

bool bucket_is_full(const TrainingSpec *training, double parameters, double experts) {
    return (parameters + experts) * gradient_bytes(training) >= training->bucket_bytes;
}
