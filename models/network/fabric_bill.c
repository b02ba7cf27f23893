// Counts switches and cables. The simulation knows a leaf or a spine by its bandwidth; here each becomes as many real
// switches as its ports need. If all ports fit into one switch there is one, whatever the fabric's kind.
#include "models/network/fabric_bill.h"

#include <math.h>

#include "models/network/fabrics.h"
#include "sim/base/check.h"

static int64_t divided_up(double ports, double per_switch) { return (int64_t)ceil(ports / per_switch - 1e-9); }

static int64_t nic_ports(const Network *network) {
    int64_t ports = 0;
    for (int n = 0; n < network->node_count; n++) ports += layout_of(network, &network->nodes[n])->shape->nic_count;
    return ports;
}

// Leaves and spines, and where leaves are more than a spine has ports for, one tier more (Clos, 1953).
static void add_clos(FabricBill *bill, double ports, double oversubscription, double radix) {
    if (ports <= radix) {
        bill->switches += 1;
        return;
    }
    double down = floor(radix * oversubscription / (1 + oversubscription));
    int64_t leaves = divided_up(ports, fmax(down, 1)), up = divided_up(ports, oversubscription);
    bill->switches += leaves + divided_up((double)up, radix);
    bill->switch_cables += up;
    if ((double)leaves <= radix) return;
    bill->switches += divided_up((double)up, floor(radix / 2));
    bill->switch_cables += up;
}

// A leaf of its own for each rail of a pod of nodes: several share a switch where they are small.
static int64_t leaf_switches(double units, double ports_per_unit, double radix) {
    if (ports_per_unit > radix) return (int64_t)units * divided_up(ports_per_unit, radix);
    return divided_up(units, floor(radix / ports_per_unit));
}

static double leaf_share(const Network *network) {
    const FabricShape *fabric = &network->fabric;
    if (fabric->uplink_bytes_per_second <= 0) return 1 / fabric->oversubscription;
    double nics = (double)fabric->nodes_per_leaf * network->rails;
    return fabric->uplink_bytes_per_second / fabric->nic_bytes_per_second / nics;
}

static void add_tree(FabricBill *bill, const Network *network, double radix) {
    const FabricShape *fabric = &network->fabric;
    double share = leaf_share(network), nodes = fmin(fabric->nodes_per_leaf, network->node_count);
    double unit_ports = nodes * (fabric->rail_optimised ? 1 : network->rails);
    bool one_leaf_is_one_switch = unit_ports * (1 + share) <= radix;
    if (fabric->nodes_per_leaf < 1 || (!one_leaf_is_one_switch && fabric->nodes_per_pod < 1)) {
        add_clos(bill, (double)bill->ports, 1 / share, radix);
        return;
    }
    double units = ceil((double)network->node_count / fabric->nodes_per_leaf);
    if (fabric->rail_optimised) units *= network->rails;
    double up = ceil((double)bill->ports * share);
    bill->switches += leaf_switches(units, unit_ports * (1 + share), radix);
    bill->switch_cables += (int64_t)up;
    if (fabric->nodes_per_pod > 0) {
        double pods = ceil((double)network->node_count / fabric->nodes_per_pod);
        double above = pods > 1 ? ceil(up / or_one(fabric->pod_oversubscription)) : 0;
        bill->switches += (int64_t)pods * divided_up((up + above) / pods, radix);
        bill->switch_cables += (int64_t)above;
        up = above;
    }
    bill->switches += divided_up(up, radix);
}

// Dragonflies, tori and graphs as they are drawn: a switch is a switch, more than one where its ports are too many.
static void add_drawn(FabricBill *bill, const Network *network, double radix) {
    double rate = fabric_line_rate(network, network->fabric.nic_bytes_per_second);
    double ports = (double)bill->ports;
    for (int pair = 0; pair < network->fabric_link_count / 2; pair++) {
        const Link *link = &network->fabric_links[2 * pair];
        int64_t cables = divided_up(link->bytes_per_second, rate);
        bill->switch_cables += cables;
        ports += 2.0 * (double)cables;
    }
    int64_t needed = divided_up(ports, radix);
    bill->switches += needed > network->switch_count ? needed : network->switch_count;
}

FabricBill fabric_bill(const Network *network, int ports_per_switch) {
    CHECK(ports_per_switch > 0);
    FabricBill bill = {0};
    if (network->node_count < 2) return bill;
    const FabricShape *fabric = &network->fabric;
    bill.ports = nic_ports(network);
    if (bill.ports == 0) return bill;
    // A port of a plane is a part of a NIC's, and a switch has as many more of them.
    double planes = network->planes > 0 ? network->planes : 1, radix = ports_per_switch * planes;
    bill.node_cables = bill.ports;
    bool drawn = fabric->kind == FABRIC_DRAGONFLY || fabric->kind == FABRIC_DRAGONFLY_PLUS ||
                 fabric->kind == FABRIC_TORUS || fabric->kind == FABRIC_GRAPH;
    if (fabric->kind == FABRIC_RAIL_ONLY)
        bill.switches = leaf_switches(network->rails, network->node_count, radix);
    else if (fabric->kind == FABRIC_FAT_TREE && (double)bill.ports > radix)
        add_tree(&bill, network, radix);
    else if (drawn)
        add_drawn(&bill, network, radix);
    else
        add_clos(&bill, (double)bill.ports, 1, radix);
    bill.node_cables *= (int64_t)planes;
    bill.switch_cables *= (int64_t)planes;
    bill.switches *= (int64_t)planes;
    return bill;
}
