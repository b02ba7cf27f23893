// Failure kinds, and a node's failure rate as the sum of its parts' rates.
#include "models/hardware/parts.h"

const FaultComponentInfo fault_components[FAULT_COMPONENT_COUNT] = {
    [FAULT_GPU] = {"gpu", "faulty GPU", FAULT_PER_GPU, true},
    [FAULT_HBM] = {"hbm", "GPU memory (HBM)", FAULT_PER_GPU, true},
    [FAULT_SRAM] = {"sram", "GPU SRAM", FAULT_PER_GPU, true},
    [FAULT_GPU_PROCESSOR] = {"gpu_processor", "GPU system processor", FAULT_PER_GPU, true},
    [FAULT_THERMAL] = {"thermal", "GPU thermal interface, sensor", FAULT_PER_GPU, true},
    [FAULT_NVLINK] = {"nvlink", "NVLink or NVSwitch", FAULT_PER_GPU, true},
    [FAULT_NIC] = {"nic", "NIC", FAULT_PER_NIC, true},
    [FAULT_CABLE] = {"cable", "network cable, optic, switch", FAULT_PER_NIC, true},
    [FAULT_HOST] = {"host", "host", FAULT_PER_NODE, true},
    [FAULT_STORAGE] = {"storage", "storage", FAULT_PER_NODE, true},
    [FAULT_SOFTWARE] = {"software", "software", FAULT_PER_NODE, false},
    [FAULT_SILENT] = {"silent_corruption", "silent data corruption", FAULT_PER_GPU, true},
};

static double parts_in_node(FaultComponent component, double gpus, double nics) {
    switch (fault_components[component].unit) {
    case FAULT_PER_GPU:
        return gpus;
    case FAULT_PER_NIC:
        return nics;
    case FAULT_PER_NODE:
        break;
    }
    return 1;
}

static double stated_rate(const FaultRates *rates, FaultComponent component, double gpus, double nics) {
    double mtbf = rates->mtbf_seconds[component];
    return mtbf > 0 ? parts_in_node(component, gpus, nics) / mtbf : 0;
}

static double stated_sum(const FaultRates *rates, double gpus, double nics) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += stated_rate(rates, (FaultComponent)i, gpus, nics);
    return sum;
}

// node_mtbf was counted on nodes of the fleet, one NIC a GPU; other nodes scale by their parts.
double fault_component_rate(const FaultRates *rates, FaultComponent component, double gpus, double nics) {
    double rate = stated_rate(rates, component, gpus, nics);
    if (rates->node_mtbf_seconds <= 0) return rate;
    double sum = stated_sum(rates, rates->gpus_per_node, rates->gpus_per_node);
    return rate / (sum * rates->node_mtbf_seconds);
}

double fault_node_rate(const FaultRates *rates, double gpus, double nics) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += fault_component_rate(rates, (FaultComponent)i, gpus, nics);
    return sum;
}

void faults_finish(const FaultRates *rates, Where where, Problems *problems) {
    if (stated_sum(rates, rates->gpus_per_node, rates->gpus_per_node) <= 0) {
        problem_add(problems, where, "fault rates \"%s\" name no component that fails", rates->name);
        problem_hint(problems, "state at least one, such as gpu_mtbf, or start with \"like\": \"llama3-h100\"");
    }
    if (rates->slow_mtbf_seconds > 0 && (rates->slow_factor <= 1 || rates->slow_detection_seconds <= 0)) {
        problem_add(problems, where, "fault rates \"%s\" have slow_mtbf but lack slow_factor or slow_detection",
                    rates->name);
        problem_hint(problems, "such as \"slow_factor\": 1.2, \"slow_detection\": \"12 h\"");
    }
    if (rates->rack_mtbf_seconds > 0 && (rates->rack_nodes <= 0 || rates->rack_repair_seconds <= 0)) {
        problem_add(problems, where, "fault rates \"%s\" have rack_mtbf but lack rack_nodes or rack_repair",
                    rates->name);
        problem_hint(problems, "such as \"rack_nodes\": 4, \"rack_repair\": \"2 h\"");
    }
    if (rates->flap_mtbf_seconds > 0 && rates->flap_stall_seconds <= 0) {
        problem_add(problems, where, "fault rates \"%s\" have flap_mtbf but no flap_stall", rates->name);
        problem_hint(problems, "such as \"flap_stall\": \"10 s\"");
    }
}
