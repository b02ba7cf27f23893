// Power of a cluster: GPUs by activity, hosts, switches and optics; racks and breakers for the peak.
#include <math.h>

#include "models/workload/money/money.h"

ActivityMix activity_of_step(const double spent[CAUSE_COUNT]) {
    double seconds = 0;
    ActivityMix mix = {{0}};
    for (int c = 0; c < CAUSE_COUNT; c++) seconds += spent[c];
    if (!(seconds > 0)) return activity_idle;
    for (int c = 0; c < CAUSE_COUNT; c++) mix.share[activity_of_cause((Cause)c)] += spent[c] / seconds;
    return mix;
}

// GPUs of a node that are used; the first of them is `rank`.
static int gpus_of_node(const Cluster *cluster, int rank, int node) {
    int used = 0;
    while (rank + used < cluster->gpu_count && network_node_of(cluster->network, rank + used) == node) used++;
    return used;
}

static double machines_watts(const Cluster *cluster, const ActivityMix *mix) {
    double watts = 0, each = 0;
    for (int rank = 0; rank < cluster->gpu_count; rank++) {
        const Gpu *gpu = cluster->gpu_of[rank];
        if (rank == 0 || gpu != cluster->gpu_of[rank - 1]) each = gpu_mix_watts(gpu, mix);
        watts += each;
    }
    int rank = 0;
    for (int n = 0; n < cluster->node_count; n++) {
        const NodeType *type = cluster->node_of[n];
        int used = gpus_of_node(cluster, rank, n);
        const Gpu *gpu = cluster->gpu_of[rank];
        watts += host_mix_watts(type, gpu, mix);
        watts += (type->gpu_count - used) * gpu_activity_watts(gpu, ACTIVITY_OFF);
        rank += used;
    }
    return watts;
}

static double network_watts(const Cluster *cluster) {
    const FabricLink *link = cluster->spec->link;
    const FabricBill *bill = &cluster->money->fabric;
    if (!link) return 0;
    double ends = 2.0 * (double)(bill->node_cables + bill->switch_cables);
    return (double)bill->switches * link->switch_power_watts + ends * link->port_power_watts;
}

// As many nodes as a rack has power and room for.
static void set_racks(ClusterPower *power, const Cluster *cluster, const Site *site) {
    power->rack_watts = site->rack_watts;
    power->breaker_watts = breaker_watts(site);
    power->node_exceeds_breaker = power->node_peak_watts > power->breaker_watts;
    power->node_exceeds_rack = site->rack_watts > 0 && power->node_peak_watts > site->rack_watts;
    double by_power = site->rack_watts > 0 ? floor(site->rack_watts / power->node_peak_watts)
                                           : floor(power->breaker_watts / power->node_peak_watts);
    int units = cluster->node_of[0]->rack_units;
    if (site->rack_units > 0 && units > 0) by_power = fmin(by_power, floor((double)site->rack_units / units));
    power->nodes_per_rack = by_power < 1 ? 1 : by_power > cluster->node_count ? cluster->node_count : (int)by_power;
    int places = (cluster->node_count + power->nodes_per_rack - 1) / power->nodes_per_rack;
    power->racks = site->rack_watts > 0 ? places : 0;
    double per_place = ceil(power->nodes_per_rack * power->node_peak_watts / power->breaker_watts - 1e-9);
    power->breakers = places * site->feeds * (int)per_place;
}

ClusterPower cluster_power(const Cluster *cluster, const ActivityMix *mix) {
    ClusterPower power = {.node_watts = machines_watts(cluster, mix), .network_watts = network_watts(cluster)};
    double pue = cluster->spec->power_usage_effectiveness;
    power.idle_watts = machines_watts(cluster, &activity_idle) + power.network_watts;
    power.peak_watts = power.network_watts;
    for (int n = 0, rank = 0; n < cluster->node_count; rank += gpus_of_node(cluster, rank, n), n++) {
        double peak = node_peak_watts(cluster->node_of[n], cluster->gpu_of[rank]);
        power.peak_watts += peak;
        power.node_peak_watts = fmax(power.node_peak_watts, peak);
    }
    power.power_usage_effectiveness = pue > 0 ? pue : cluster->money->site->power_usage_effectiveness;
    set_racks(&power, cluster, cluster->money->site);
    return power;
}

double power_at_wall(const ClusterPower *power) {
    return (power->node_watts + power->network_watts) * power->power_usage_effectiveness;
}

double idle_power_at_wall(const ClusterPower *power) { return power->idle_watts * power->power_usage_effectiveness; }

double peak_power_at_wall(const ClusterPower *power) { return power->peak_watts * power->power_usage_effectiveness; }
