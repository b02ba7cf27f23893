// A fabric drawn by the user or read from a file: switches, cables, and the switch of each node or of each NIC.
// Routes have the least latency, then the fewest switches; at every switch traffic is spread evenly over all cables
// that such routes take (ECMP).
#include <math.h>

#include "models/network/topology.h"
#include "sim/base/check.h"

#define SWITCH_LIMIT 256
#define FAR INT64_MAX
#define HOP_LIMIT 200
#define COST_OF_A_PICOSECOND 1024 // and 1 for each cable, so that equal times are decided by hops

typedef struct Way {
    int32_t link, to;
} Way;

typedef struct Drawing {
    int switches;
    const int *switch_of_nic;
    int nics;
    int64_t *cost;  // [to * switches + from]
    Way *ways;      // cables out of a switch, in the order written
    int *first_way; // [switches + 1]
    const int64_t *cable_cost;
} Drawing;

static const Drawing *drawing_of(const Network *network) { return network->laid; }

// ---- Costs.
int64_t graph_cable_cost(const FabricShape *fabric, const GraphCable *cable) {
    double seconds = cable->latency_seconds + fabric->switch_latency_seconds;
    return llround(seconds * 1e12) * COST_OF_A_PICOSECOND + 1;
}

static void list_ways(Arena *arena, const FabricGraph *graph, Drawing *drawing) {
    drawing->ways = ARENA_ARRAY(arena, Way, 2 * graph->cable_count);
    drawing->first_way = ARENA_ARRAY(arena, int, graph->switch_count + 1);
    int count = 0;
    for (int s = 0; s < graph->switch_count; s++) {
        drawing->first_way[s] = count;
        for (int i = 0; i < graph->cable_count; i++) {
            const GraphCable *cable = &graph->cables[i];
            if (cable->from == s) drawing->ways[count++] = (Way){2 * i, cable->to};
            if (cable->to == s) drawing->ways[count++] = (Way){2 * i + 1, cable->from};
        }
    }
    drawing->first_way[graph->switch_count] = count;
}

// Dijkstra without a heap: drawn graphs are small. Cables cost the same both ways.
static void find_costs(const Drawing *drawing, int to, int64_t *cost) {
    bool done[SWITCH_LIMIT] = {false};
    for (int s = 0; s < drawing->switches; s++) cost[s] = FAR;
    cost[to] = 0;
    for (;;) {
        int nearest = -1;
        for (int s = 0; s < drawing->switches; s++)
            if (!done[s] && cost[s] < FAR && (nearest < 0 || cost[s] < cost[nearest])) nearest = s;
        if (nearest < 0) return;
        done[nearest] = true;
        for (int w = drawing->first_way[nearest]; w < drawing->first_way[nearest + 1]; w++) {
            int64_t over = cost[nearest] + drawing->cable_cost[drawing->ways[w].link / 2];
            if (over < cost[drawing->ways[w].to]) cost[drawing->ways[w].to] = over;
        }
    }
}

static Drawing *draw(Arena *arena, const FabricShape *fabric) {
    const FabricGraph *graph = fabric->graph;
    Drawing *drawing = ARENA_NEW(arena, Drawing);
    int64_t *cable_cost = ARENA_ARRAY(arena, int64_t, graph->cable_count);
    drawing->switches = graph->switch_count;
    drawing->switch_of_nic = graph->switch_of_nic;
    drawing->nics = graph->nics;
    for (int i = 0; i < graph->cable_count; i++) cable_cost[i] = graph_cable_cost(fabric, &graph->cables[i]);
    drawing->cable_cost = cable_cost;
    list_ways(arena, graph, drawing);
    drawing->cost = ARENA_ARRAY(arena, int64_t, graph->switch_count * graph->switch_count);
    for (int s = 0; s < graph->switch_count; s++) find_costs(drawing, s, &drawing->cost[s * graph->switch_count]);
    return drawing;
}

// ---- What cannot be built.
static bool check_parts(const NetworkSpec *spec, Where where, Problems *problems) {
    const FabricGraph *graph = spec->fabric.graph;
    int before = problems_added(problems);
    if (!graph || graph->switch_count < 1 || graph->switch_count > SWITCH_LIMIT)
        return problem_add(problems, where, "a graph has 1 to %d switches, not %d", SWITCH_LIMIT,
                           graph ? graph->switch_count : 0);
    if (graph->node_count < spec->node_count) {
        problem_add(problems, where, "the graph has places for %d nodes, and the cluster has %d", graph->node_count,
                    spec->node_count);
        problem_hint(problems, "take fewer GPUs; in a drawing each entry of nodes is one switch, or { switch = \"…\", "
                               "count = … }");
    }
    for (int i = 0; i < graph->cable_count; i++) {
        const GraphCable *cable = &graph->cables[i];
        if (!(cable->bytes_per_second > 0 || cable->node_rates > 0) || !(cable->latency_seconds >= 0))
            problem_add(problems, where, "the link from \"%s\" to \"%s\" needs a bandwidth above 0",
                        graph->switch_names[cable->from], graph->switch_names[cable->to]);
        if (cable->from == cable->to)
            problem_add(problems, where, "a link joins switch \"%s\" to itself", graph->switch_names[cable->from]);
    }
    return problems_added(problems) == before;
}

static void check_reach(const NetworkSpec *spec, const Drawing *drawing, Where where, Problems *problems) {
    const FabricGraph *graph = spec->fabric.graph;
    int first = graph->switch_of_nic[0];
    bool told[SWITCH_LIMIT] = {false};
    for (int n = 1; n < spec->node_count * graph->nics; n++) {
        int other = graph->switch_of_nic[n];
        int64_t cost = drawing->cost[first * drawing->switches + other];
        if (told[other] || (cost < FAR && cost % COST_OF_A_PICOSECOND <= HOP_LIMIT / 2)) continue;
        told[other] = true;
        if (cost < FAR) {
            problem_add(problems, where, "switch \"%s\" is more than %d links away from \"%s\"",
                        graph->switch_names[other], HOP_LIMIT / 2, graph->switch_names[first]);
            continue;
        }
        problem_add(problems, where, "the nodes on switch \"%s\" cannot reach those on \"%s\"",
                    graph->switch_names[other], graph->switch_names[first]);
        problem_hint(problems, "add links = { { from = \"%s\", to = \"%s\", bandwidth = … } } or a way through others",
                     graph->switch_names[first], graph->switch_names[other]);
    }
}

static void graph_check(const NetworkSpec *spec, Where where, Problems *problems) {
    if (!check_parts(spec, where, problems)) return;
    Arena *scratch = arena_open();
    check_reach(spec, draw(scratch, &spec->fabric), where, problems);
    arena_close(scratch);
}

// ---- Laying and routing.
static void graph_lay(Arena *arena, Network *network) {
    const FabricGraph *graph = network->fabric.graph;
    network->laid = draw(arena, &network->fabric);
    fabric_make_room(arena, network, graph->switch_count, 1, graph->cable_count);
    for (int s = 0; s < graph->switch_count; s++)
        fabric_set_name(network, s, arena_copy_text(arena, graph->switch_names[s]));
    for (int i = 0; i < graph->cable_count; i++) {
        const GraphCable *cable = &graph->cables[i];
        const char *from = network->switch_names[cable->from], *to = network->switch_names[cable->to];
        double rate = fabric_line_rate(network, cable->bytes_per_second);
        if (cable->node_rates > 0) rate = cable->node_rates * fabric_rate_above(network, 1, 1);
        fabric_set_pair(network, i, rate, arena_printf(arena, "link%d.%s.%s", i, from, to),
                        arena_printf(arena, "link%d.%s.%s", i, to, from), from, to);
    }
}

static int graph_leaf(const Network *network, int node, int nic) {
    const Drawing *drawing = drawing_of(network);
    return drawing->switch_of_nic[node * drawing->nics + nic % drawing->nics];
}

static int64_t graph_cost(const Network *network, int from, int to) {
    const Drawing *drawing = drawing_of(network);
    int64_t cost = drawing->cost[to * drawing->switches + from];
    CHECK(cost < FAR);
    return cost;
}

static int graph_switches(const Network *network, int from, int to) {
    return 1 + (int)(graph_cost(network, from, to) % COST_OF_A_PICOSECOND);
}

static double graph_line_seconds(const Network *network, int from, int to) {
    int64_t cost = graph_cost(network, from, to);
    int64_t picoseconds = cost / COST_OF_A_PICOSECOND;
    double seconds = (double)picoseconds * 1e-12;
    return fmax(0, seconds - (double)(cost % COST_OF_A_PICOSECOND) * network->fabric.switch_latency_seconds);
}

static bool on_the_way(const Drawing *drawing, const int64_t *cost, int from, const Way *way) {
    return cost[way->to] < FAR && cost[way->to] + drawing->cable_cost[way->link / 2] == cost[from];
}

// From the farthest switch that has traffic to the nearest, each hands on all it has got.
static void graph_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    const Drawing *drawing = drawing_of(network);
    const int64_t *cost = &drawing->cost[to * drawing->switches];
    double waiting[SWITCH_LIMIT] = {0};
    waiting[from] = share;
    for (int at = from; at != to;) {
        int ways = 0;
        for (int w = drawing->first_way[at]; w < drawing->first_way[at + 1]; w++)
            ways += on_the_way(drawing, cost, at, &drawing->ways[w]);
        CHECK(ways > 0);
        if (!crossing->spread) ways = 1;
        double part = waiting[at] / ways;
        for (int w = drawing->first_way[at]; w < drawing->first_way[at + 1] && ways > 0; w++) {
            if (!on_the_way(drawing, cost, at, &drawing->ways[w])) continue;
            cross_link(crossing, network, drawing->ways[w].link, part);
            waiting[drawing->ways[w].to] += part;
            ways--;
        }
        waiting[at] = 0;
        at = to;
        for (int s = 0; s < drawing->switches; s++)
            if (s != to && waiting[s] > 0 && (at == to || cost[s] > cost[at])) at = s;
    }
}

const FabricRow graph_row = {.name = "graph",
                             .check = graph_check,
                             .lay = graph_lay,
                             .leaf = graph_leaf,
                             .switches = graph_switches,
                             .cross = graph_cross,
                             .line_seconds = graph_line_seconds};
