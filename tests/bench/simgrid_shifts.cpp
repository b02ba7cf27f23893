// The uneven shifts of tests/bench/flows.c (shifts_on_fat_tree) in SimGrid's S4U, for the side by side: model CM02, no
// cross-traffic, no TCP gamma. It prints the simulated time and its seconds of CPU.
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

static const double rate = 50e9, latency = 1e-6;

struct FatTree {
    int down[3], up[3];
};

static int link_at(const FatTree &tree, int level, int host, int destination) {
    int first = 0, below = 1, choices = 1, hosts = tree.down[0] * tree.down[1] * tree.down[2];
    for (int l = 0; l < level; l++) {
        below *= tree.down[l];
        choices *= tree.up[l];
        first += hosts / (below / tree.down[l]) * choices;
    }
    int choice = destination % (choices * tree.up[level]);
    return 2 * (first + host / below * choices * tree.up[level] + choice);
}

static std::vector<int> route_of(const FatTree &tree, int from, int to) {
    std::vector<int> route;
    int up = 0, below = 1;
    for (; up < 3 && from / below != to / below; up++) {
        route.push_back(link_at(tree, up, from, to));
        below *= tree.down[up];
    }
    for (int level = up; level-- > 0;) route.push_back(link_at(tree, level, to, to) + 1);
    return route;
}

int main(int argc, char **argv) {
    s4u::Engine engine(&argc, argv);
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/crosstraffic:0");
    s4u::Engine::set_config("network/TCP-gamma:0");
    int hosts = argc > 1 ? atoi(argv[1]) : 256, shifts = argc > 2 ? atoi(argv[2]) : 256;
    FatTree tree = {{8, hosts / 32, 4}, {1, 2, hosts / 32}};
    s4u::NetZone *zone = s4u::create_full_zone("tree");
    std::vector<s4u::Host *> places;
    for (int h = 0; h < hosts; h++) places.push_back(zone->create_host("h" + std::to_string(h), 1e9)->seal());
    std::vector<s4u::Link *> links;
    int link_count = 2 * link_at(tree, 2, hosts - 1, hosts - 1) + 4;
    for (int l = 0; l < link_count; l++)
        links.push_back(
            zone->create_link("l" + std::to_string(l), l < 2 ? rate / 2 : rate)->set_latency(latency)->seal());
    for (int from = 0; from < hosts; from++)
        for (int to = 0; to < hosts; to++) {
            if (from == to) continue;
            std::vector<s4u::LinkInRoute> route;
            for (int l : route_of(tree, from, to)) route.emplace_back(links[l]);
            zone->add_route(places[from]->get_netpoint(), places[to]->get_netpoint(), nullptr, nullptr, route, false);
        }
    zone->seal();
    double cpu = 0;
    s4u::Actor::create("shifts", places[0], [&] {
        clock_t start = clock();
        for (int s = 0; s < shifts; s++) {
            std::vector<s4u::CommPtr> comms;
            for (int h = 0; h < hosts; h++) {
                double bytes = static_cast<double>(500000 + (7919L * h + 104729L * s) % 1000001);
                comms.push_back(s4u::Comm::sendto_async(places[h], places[(h + 1 + s % (hosts - 1)) % hosts],
                                                        static_cast<uint64_t>(bytes)));
            }
            s4u::Comm::wait_all(comms);
        }
        cpu = static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
    });
    engine.run();
    printf("{\"bench\":\"simgrid_shifts_%d_x_%d\",\"cpu_s\":%.3f,\"simulated_ms\":%.6f}\n", hosts, shifts, cpu,
           1e3 * s4u::Engine::get_clock());
    return 0;
}
