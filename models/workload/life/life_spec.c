// Derives a job's LifeSpec on given nodes from a fleet's published rates.
#include "models/workload/life/life.h"

static double sigma_of(const FaultRates *rates, const char *name) {
    const Fact *fact = fact_find(rates->facts, rates->fact_count, name);
    return fact ? fact->sigma : 0;
}

static double per_second(double mtbf_s) { return mtbf_s > 0 ? 1 / mtbf_s : 0; }

static void set_faults(Arena *arena, LifeSpec *spec, const FaultRates *rates, const NodeType *node) {
    double gpus = node->gpu_count, nics = node->nic_count > 0 ? node->nic_count : gpus;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        const FaultComponentInfo *info = &fault_components[i];
        spec->faults[i] = (LifeFault){.node_rate = fault_component_rate(rates, (FaultComponent)i, gpus, nics),
                                      .sigma = sigma_of(rates, arena_printf(arena, "%s_mtbf", info->name)),
                                      .needs_repair = info->needs_repair,
                                      .is_silent = i == FAULT_SILENT};
    }
}

LifeSpec life_spec(Arena *arena, const FaultRates *rates, const NodeType *node, int nodes) {
    double nics = node->nic_count > 0 ? node->nic_count : node->gpu_count;
    LifeSpec spec = {.nodes = nodes,
                     .shape = rates->shape,
                     .fleet_spread = rates->fleet_spread,
                     .bad_share = rates->bad_share,
                     .bad_factor = rates->bad_factor,
                     .crash_detection_s = rates->crash_detection_seconds,
                     .hang_detection_s = rates->hang_detection_seconds,
                     .silent_detection_s = rates->silent_detection_seconds,
                     .hang_share = rates->hang_share,
                     .restart_s = rates->restart_seconds,
                     .restart_sigma = sigma_of(rates, "restart"),
                     .repair_s = rates->repair_seconds,
                     .repair_sigma = sigma_of(rates, "repair"),
                     .planned_rate = per_second(rates->planned_node_seconds) * nodes,
                     .rack_nodes = rates->rack_nodes,
                     .rack_rate = per_second(rates->rack_mtbf_seconds),
                     .rack_repair_s = rates->rack_repair_seconds,
                     .slow_rate = per_second(rates->slow_mtbf_seconds),
                     .slow_factor = rates->slow_factor,
                     .slow_detection_s = rates->slow_detection_seconds,
                     .flap_rate = per_second(rates->flap_mtbf_seconds) * nics * nodes,
                     .flap_stall_s = rates->flap_stall_seconds};
    set_faults(arena, &spec, rates, node);
    return spec;
}

void life_set_node_mtbf(LifeSpec *spec, double node_mtbf_s) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += spec->faults[i].node_rate;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        spec->faults[i].node_rate /= sum * node_mtbf_s;
        spec->faults[i].sigma = 0;
    }
    spec->fleet_spread = 0;
}

double life_patience(const LifeSpec *spec) { return spec->patience > 0 ? spec->patience : LIFE_GIVES_UP; }

int life_usual_spares(int nodes) { return (nodes + 19) / 20; }
