// sim.hw, the fabrics, and sim.cluster with its price, own, grid, pue and power_cap; and sim.cost, which computes the
// resulting bill.
#include <math.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "scenarios/lua/lua_script.h"
#include "sim/base/list.h"

// ---- Money.

// The types of node that a cluster has.
static const NodeType **types_of(const Script *script, const ClusterSpec *spec) {
    const NodeType **types = ARENA_ARRAY(script->arena, const NodeType *, spec->group_count + 1);
    for (int g = 0; g < spec->group_count; g++) types[g] = spec->groups[g].type;
    return types;
}

static bool read_rents_of_nodes(const Script *script, const ClusterSpec *spec, const Object *price, RentSpec *rent) {
    if (!object_has(price, "nodes")) return true;
    int before = problem_count(script->problems);
    Where where = object_value(price, "nodes")->where;
    rent->where = where;
    if (rents_of_nodes(script->arena, script->catalogue, object_text(price, "nodes"), where, rent, script->problems))
        rent_concerns(rent, types_of(script, spec), spec->group_count, script->problems);
    rent->where = price->where;
    return problem_count(script->problems) == before;
}

static bool read_prices_of_own_nodes(const Script *script, const ClusterSpec *spec, const Object *object,
                                     OwnSpec *own) {
    if (!object_has(object, "node_prices")) return true;
    int before = problem_count(script->problems);
    Where where = object_value(object, "node_prices")->where;
    own->where = where;
    if (prices_of_own_nodes(script->arena, script->catalogue, object_text(object, "node_prices"), where, own,
                            script->problems))
        own_concerns(own, types_of(script, spec), spec->group_count, script->problems);
    own->where = object->where;
    return problem_count(script->problems) == before;
}

static bool read_price(const Script *script, ClusterSpec *spec, const Object *price) {
    if (!price) return true;
    static const char *const of_the_book[] = {"book", "provider", "region", "terms"};
    bool sound = true;
    for (size_t i = 0; i < sizeof of_the_book / sizeof *of_the_book; i++) {
        if (!object_has(price, of_the_book[i]) || !object_has(price, "gpu_hour")) continue;
        problem_add(script->problems, object_value(price, of_the_book[i])->where,
                    "a price is either stated (gpu_hour) or of the price book (%s)", of_the_book[i]);
        problem_hint(script->problems, "leave out one of them");
        sound = false;
    }
    RentSpec *rent = ARENA_NEW(script->arena, RentSpec);
    *rent = (RentSpec){.where = price->where,
                       .provider = object_text(price, "provider"),
                       .region = object_text(price, "region"),
                       .terms = object_has(price, "terms") ? object_value(price, "terms")->choice : -1,
                       .storage_bytes = object_number(price, "storage", 0),
                       .egress_bytes = object_number(price, "egress", 0)};
    const char *book = object_text(price, "book");
    if (book) {
        rent->offer =
            find_offer(script->arena, script->catalogue, book, object_value(price, "book")->where, script->problems);
        sound = sound && rent->offer;
    }
    sound = read_rents_of_nodes(script, spec, price, rent) && sound;
    spec->rent = rent;
    spec->price_per_gpu_hour = object_number(price, "gpu_hour", -1);
    spec->currency = object_text(price, "currency");
    return sound;
}

static const char *const bill_names[] = {"discount", "support", "tax", "without"};

// Refuses a setting that is given in both price and own.
static bool bill_is_said_once(const Script *script, const Object *price, const Object *own) {
    bool once = true;
    for (size_t i = 2; i < sizeof bill_names / sizeof *bill_names && price && own; i++) {
        if (!object_has(price, bill_names[i]) || !object_has(own, bill_names[i])) continue;
        problem_add(script->problems, object_value(own, bill_names[i])->where, "%s stands in price and in own",
                    bill_names[i]);
        problem_hint(script->problems, "keep one of them: it holds for the whole bill");
        once = false;
    }
    return once;
}

// Whether the object has any of them, from the index `first` on.
static bool says_bill(const Object *object, size_t first) {
    for (size_t i = first; i < sizeof bill_names / sizeof *bill_names && object; i++)
        if (object_has(object, bill_names[i])) return true;
    return false;
}

static void read_bill(const Script *script, ClusterSpec *spec, const Object *price, const Object *own) {
    bool by_price = says_bill(price, 0), by_own = says_bill(own, 2);
    if (!by_price && !by_own) return;
    const Object *tax = by_own && object_has(own, "tax") ? own : price;
    const Object *without = by_own && object_has(own, "without") ? own : price;
    BillSpec *bill = ARENA_NEW(script->arena, BillSpec);
    *bill = (BillSpec){.where = by_price ? price->where : own->where,
                       .tax = tax ? object_number(tax, "tax", 0) : 0,
                       .without = without ? object_text(without, "without") : NULL};
    if (price) {
        bill->discount = object_number(price, "discount", 0);
        bill->support = object_number(price, "support", 0);
    }
    spec->bill = bill;
}

static bool read_own(const Script *script, ClusterSpec *spec, const Object *object) {
    if (!object) return true;
    const Value *site = object_value(object, "site");
    OwnSpec *own = ARENA_NEW(script->arena, OwnSpec);
    *own = (OwnSpec){.where = object->where,
                     .site = find_site(script->arena, script->catalogue, site->text,
                                       site->written ? site->where : object->where, script->problems),
                     .years = object_number(object, "years", OWN_YEARS),
                     .interest = object_number(object, "interest", OWN_INTEREST),
                     .residual_share = object_number(object, "residual", NAN),
                     .utilisation = object_number(object, "utilisation", OWN_UTILISATION),
                     .node_price = object_number(object, "node_price", NAN),
                     .switch_price = object_number(object, "switch_price", NAN),
                     .nic_price = object_number(object, "nic_price", NAN),
                     .cable_price = object_number(object, "cable_price", NAN),
                     .storage_price = object_number(object, "storage_price", NAN),
                     .electricity_per_kwh = object_number(object, "electricity", NAN),
                     .colocation_per_kw_month = object_number(object, "colocation", NAN),
                     .staff_per_year = object_number(object, "staff", NAN),
                     .maintenance_share = object_number(object, "maintenance", NAN)};
    bool sound = read_prices_of_own_nodes(script, spec, object, own);
    spec->own = own;
    const char *currency = object_text(object, "currency");
    bool two = currency && spec->currency && strcmp(currency, spec->currency) != 0;
    if (two) {
        problem_add(script->problems, object_value(object, "currency")->where, "own is in \"%s\" and price in \"%s\"",
                    currency, spec->currency);
        problem_hint(script->problems, "give both in one currency; rates: lockstep hw list currency");
    }
    if (currency) spec->currency = currency;
    return own->site && !two && sound;
}

// What a cluster costs, draws and emits: its fields price, own, grid, pue, power_cap. False after a problem.
static bool read_money(Script *script, ClusterSpec *spec, const Object *cluster) {
    bool sound = read_price(script, spec, object_table(cluster, "price"));
    sound = read_own(script, spec, object_table(cluster, "own")) && sound;
    sound = bill_is_said_once(script, object_table(cluster, "price"), object_table(cluster, "own")) && sound;
    read_bill(script, spec, object_table(cluster, "price"), object_table(cluster, "own"));
    const Value *grid = object_value(cluster, "grid");
    spec->grid = find_grid(script->arena, script->catalogue, grid->text, grid->written ? grid->where : cluster->where,
                           script->problems);
    spec->power_usage_effectiveness = object_number(cluster, "pue", 0);
    spec->power_cap_watts = object_number(cluster, "power_cap", 0);
    return sound && spec->grid;
}

// ---- sim.cost { on = cluster, time = "30 d" }

static void set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void push_bought(lua_State *L, const OwnCost *own) {
    lua_createtable(L, 0, own->capital_count);
    for (int i = 0; i < own->capital_count; i++) {
        const CapitalLine *line = &own->capital[i];
        lua_createtable(L, 0, 3);
        set_number(L, "count", line->count);
        set_number(L, "each", line->unit_price);
        set_number(L, "amount", line->amount);
        lua_setfield(L, -2, line->name);
    }
    lua_setfield(L, -2, "bought");
    set_number(L, "capital", own->capital_amount);
}

static void push_cost(lua_State *L, const Cluster *cluster, double hours) {
    Arena *scratch = arena_open();
    ClusterBill bill = cluster_bill(scratch, cluster, &activity_usual);
    lua_createtable(L, 0, 12);
    lua_pushstring(L, bill.currency);
    lua_setfield(L, -2, "currency");
    set_number(L, "per_hour", bill.per_hour);
    set_number(L, "per_month", bill.per_month);
    if (hours > 0) set_number(L, "per_run", bill_of_run(&bill, hours));
    set_number(L, "power", bill.wall_watts);
    set_number(L, "peak_power", bill.peak_wall_watts);
    set_number(L, "carbon_per_hour", bill.carbon_kg_per_hour);
    lua_createtable(L, 0, bill.line_count);
    for (int i = 0; i < bill.line_count; i++) set_number(L, bill.lines[i].name, bill.lines[i].value);
    lua_setfield(L, -2, "lines");
    if (bill.owned) {
        ClusterPower power = cluster_power(cluster, &activity_usual);
        OwnCost own = own_cost(cluster, &power);
        push_bought(L, &own);
    }
    arena_close(scratch);
}

static int sim_cost(lua_State *L) {
    Script *script = script_of(L);
    stop_when_only_help_is_wanted(L);
    Object object = read_call(L, 1, OBJECT_COST);
    const Cluster *cluster = NULL;
    if (object.sound)
        cluster = cluster_create(script->arena, script->catalogue, handle_value(&object, "on"), script->problems);
    lua_host_check_memory(L);
    if (!cluster) return lua_host_fail(L, NULL, "this has no cost");
    push_cost(L, cluster, object_number(&object, "time", 0) / 3600);
    return 1;
}

const luaL_Reg money_functions[] = {{"cost", sim_cost}, {NULL, NULL}};

// ---- Machines.

// ---- sim.hw "NAME": a part of any kind.

typedef LIST_OF(const char *) NameList;

static NameList part_names(Arena *arena, const Catalogue *parts) {
    NameList names = {0};
    for (int i = 0; i < parts->node_count; i++) LIST_PUSH(arena, &names, parts->nodes[i].name);
    for (int i = 0; i < parts->gpu_count; i++) LIST_PUSH(arena, &names, parts->gpus[i].name);
    for (int i = 0; i < parts->link_count; i++) LIST_PUSH(arena, &names, parts->links[i].name);
    for (int i = 0; i < parts->storage_count; i++) LIST_PUSH(arena, &names, parts->storages[i].name);
    return names;
}

static HardwarePart find_part(const Script *script, const char *name, Where where) {
    const Catalogue *parts = script->catalogue;
    const NodeType *node = catalogue_node(parts, name);
    if (node) return (HardwarePart){FIELD_NODE, node->name, node};
    const Gpu *gpu = catalogue_gpu(parts, name);
    if (!gpu && strchr(name, ':')) gpu = find_gpu(script->arena, parts, name, where, script->problems); // a MIG slice
    if (gpu) return (HardwarePart){FIELD_GPU, gpu->name, gpu};
    const FabricLink *link = catalogue_link(parts, name);
    if (link) return (HardwarePart){FIELD_LINK, link->name, link};
    const StorageType *storage = catalogue_storage(parts, name);
    if (storage) return (HardwarePart){FIELD_STORAGE, storage->name, storage};
    return (HardwarePart){0};
}

static int sim_hw(lua_State *L) {
    const Script *script = script_of(L);
    Where where = lua_host_where(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING)
        return lua_host_fail(L, "for example: sim.hw \"dgx-a100\"", "sim.hw takes the name of a part, not a %s",
                             luaL_typename(L, 1));
    const char *name = lua_tostring(L, 1);
    int before = problems_added(script->problems);
    HardwarePart *part = ARENA_NEW(script->arena, HardwarePart);
    *part = find_part(script, name, where);
    if (!part->part && problems_added(script->problems) == before) {
        NameList names = part_names(script->arena, script->catalogue);
        problem_add(script->problems, where, "no hardware is called \"%.60s\"", name);
        if (!problem_hint_near(script->problems, name, names.items, names.count))
            problem_hint(script->problems, "see: lockstep hw list");
    }
    lua_host_check_memory(L);
    handle_push(L, HANDLE_PART, part->part ? part : NULL, where);
    return 1;
}

// ---- Fabrics.

static int make_fabric(lua_State *L, ObjectId id, FabricKind kind, bool rail_optimised) {
    Object object = read_call(L, 1, id);
    FabricChoice *fabric = NULL;
    if (object.sound) {
        fabric = ARENA_NEW(script_of(L)->arena, FabricChoice);
        *fabric = (FabricChoice){kind, handle_value(&object, "link"), 1, 0, rail_optimised, NULL};
    }
    if (fabric && kind == FABRIC_FAT_TREE) {
        fabric->oversubscription = object_number(&object, "oversubscription", 1);
        fabric->nodes_per_leaf = object_int(&object, "nodes_per_leaf", 0);
    }
    handle_push(L, HANDLE_FABRIC, fabric, object.where);
    return 1;
}

// Every given number is passed by its name; the fabric's kind decides which are valid.
static const FabricShape *fabric_layout(Script *script, const Object *object) {
    FabricMaker *maker =
        fabric_maker(script->arena, (FabricWord)object_value(object, "kind")->choice, object->where, script->problems);
    for (int i = 0; i < fabric_field_count; i++) {
        const Value *value = object_value(object, fabric_fields[i].name);
        if (value->given) fabric_set(maker, fabric_fields[i].name, value->number, value->where);
    }
    const Value *dims = object_value(object, "dims"), *links = object_value(object, "links"),
                *nodes = object_value(object, "nodes");
    int sizes[3] = {0};
    for (int i = 0; i < dims->count && i < 3; i++) sizes[i] = (int)dims->items[i].number;
    if (dims->given) fabric_set_dims(maker, sizes, dims->count, dims->where);
    for (int i = 0; i < links->count; i++) {
        const Object *link = links->items[i].table;
        fabric_add_cable(maker, object_text(link, "from"), object_text(link, "to"), object_number(link, "bandwidth", 0),
                         object_number(link, "latency", 0), links->items[i].where);
    }
    for (int i = 0; i < nodes->count; i++)
        fabric_add_nodes(maker, object_text(nodes->items[i].table, "switch"),
                         object_int(nodes->items[i].table, "count", 1), nodes->items[i].where);
    return fabric_finish(maker);
}

static FabricChoice *fabric_from_table(Script *script, const Object *object) {
    FabricChoice *fabric = ARENA_NEW(script->arena, FabricChoice);
    const FabricShape *layout = fabric_layout(script, object);
    *fabric = (FabricChoice){.link = handle_value(object, "link"), .layout = layout};
    return layout ? fabric : NULL;
}

static int sim_fabric(lua_State *L) {
    Object object = read_call(L, 1, OBJECT_FABRIC);
    handle_push(L, HANDLE_FABRIC, object.sound ? fabric_from_table(script_of(L), &object) : NULL, object.where);
    return 1;
}

static int sim_single_switch(lua_State *L) { return make_fabric(L, OBJECT_SINGLE_SWITCH, FABRIC_SINGLE_SWITCH, false); }
static int sim_fat_tree(lua_State *L) { return make_fabric(L, OBJECT_FAT_TREE, FABRIC_FAT_TREE, false); }
static int sim_rail_fat_tree(lua_State *L) { return make_fabric(L, OBJECT_RAIL_FAT_TREE, FABRIC_FAT_TREE, true); }

// ---- sim.node: a file in the scenario's folder.
static int sim_node(lua_State *L) {
    Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_NODE);
    const NodeType *type = NULL;
    if (object.sound) {
        const Gpu *gpu = object_has(&object, "gpu") ? handle_value(&object, "gpu") : NULL;
        const NodeType *like = object_has(&object, "like") ? handle_value(&object, "like") : NULL;
        type = node_from_file(script->arena, script->catalogue, script->host->gate, object_text(&object, "file"),
                              gpu ? gpu->name : NULL, like ? like->name : NULL, object_value(&object, "file")->where,
                              script->problems);
    }
    HardwarePart *part = ARENA_NEW(script->arena, HardwarePart);
    if (type && object_has(&object, "peer_to_peer")) {
        NodeType *changed = ARENA_NEW(script->arena, NodeType);
        *changed = *type;
        changed->peer_to_peer = object_flag(&object, "peer_to_peer", true);
        type = changed;
    }
    if (type) *part = (HardwarePart){FIELD_NODE, type->name, type};
    handle_push(L, HANDLE_PART, type ? part : NULL, object.where);
    return 1;
}

// ---- sim.cluster.

static bool set_fabric(Script *script, ClusterSpec *spec, const Object *object) {
    const Value *fabric = object_value(object, "fabric");
    spec->fabric = FABRIC_SINGLE_SWITCH;
    spec->oversubscription = 1;
    if (!fabric->given) return true;
    if (!fabric->table && fabric->handle_kind != HANDLE_FABRIC) {
        spec->link = fabric->handle;
        return true;
    }
    const FabricChoice *choice = fabric->table ? fabric_from_table(script, fabric->table) : fabric->handle;
    if (!choice) return false;
    spec->layout = choice->layout;
    spec->link = choice->link;
    spec->fabric = choice->kind;
    spec->oversubscription = choice->oversubscription;
    spec->nodes_per_leaf = choice->nodes_per_leaf;
    spec->rail_optimised = choice->rail_optimised;
    return true;
}

static NodeGroup node_group(const Object *object, Where where) {
    NodeGroup group = {.where = where, .type = handle_value(object, "node"), .gpu = handle_value(object, "gpu")};
    group.gpus = object_int(object, "gpus", group.type->gpu_count);
    group.pcie_bytes_per_second = object_number(object, "pcie", 0);
    return group;
}

static bool set_groups(lua_State *L, ClusterSpec *spec, const Object *object) {
    const Script *script = script_of(L);
    const Value *nodes = object_value(object, "nodes");
    bool mixed = nodes->count > 0, single = object_has(object, "node");
    if (mixed == single) {
        problem_add(script->problems, object->where,
                    mixed ? "sim.cluster takes either node or nodes, not both"
                          : "sim.cluster needs node, the type of its nodes");
        return problem_hint(script->problems,
                            mixed ? "put all nodes into the list" : "for example: node = \"dgx-a100\", gpus = 64");
    }
    if (mixed && (object_has(object, "gpus") || object_has(object, "gpu"))) {
        const char *field = object_has(object, "gpus") ? "gpus" : "gpu";
        problem_add(script->problems, object_value(object, field)->where, "each entry of nodes has its own %s", field);
        return problem_hint(script->problems, "nodes = { { node = \"…\", %s = … }, … }", field);
    }
    int count = mixed ? nodes->count : 1;
    NodeGroup *groups = ARENA_ARRAY(script->arena, NodeGroup, count);
    for (int i = 0; i < count; i++)
        groups[i] = mixed
                        ? node_group(nodes->items[i].table, nodes->items[i].where)
                        : node_group(object, single && object_has(object, "gpus") ? object_value(object, "gpus")->where
                                                                                  : object->where);
    spec->groups = groups;
    spec->group_count = count;
    return cluster_is_of_a_size(spec, script->problems);
}

// One factor a node: those that a list leaves out would be at full speed, and those too many nowhere.
static void set_link_speed(Arena *arena, ClusterSpec *spec, const Object *object, Problems *problems) {
    const Value *speed = object_value(object, "link_speed");
    if (!speed->count) return;
    double nodes = 0;
    for (int g = 0; g < spec->group_count; g++) {
        const NodeType *type = spec->groups[g].type;
        if (type) nodes += ceil((double)spec->groups[g].gpus / type->gpu_count);
    }
    if (nodes > 0 && speed->count > 1 && speed->count != nodes) {
        problem_add(problems, speed->where, "link_speed has %d factors, and the cluster has %.0f node%s", speed->count,
                    nodes, nodes == 1 ? "" : "s");
        problem_hint(problems, "one for each node, in their order: 1 is the full speed of its links");
        return;
    }
    double *factors = ARENA_ARRAY(arena, double, speed->count);
    for (int i = 0; i < speed->count; i++) factors[i] = speed->items[i].number;
    spec->link_speed = factors;
    spec->link_speed_count = speed->count;
}

static bool set_faults(const Script *script, ClusterSpec *spec, const Object *object) {
    const Object *said = object_table(object, "faults");
    if (!said) return true;
    FaultsSpec *faults = ARENA_NEW(script->arena, FaultsSpec);
    *faults = (FaultsSpec){.node_mtbf_s = object_number(said, "node_mtbf", 0),
                           .repair_s = object_number(said, "repair", 0),
                           .restart_s = object_number(said, "restart", 0),
                           .spares = object_int(said, "spares", 0),
                           .spares_given = object_has(said, "spares")};
    faults->rates = find_faults(script->arena, script->catalogue, object_text(said, "rates"),
                                object_value(said, "rates")->given ? object_value(said, "rates")->where : said->where,
                                script->problems);
    spec->faults = faults;
    return faults->rates != NULL;
}

static bool set_storage(Script *script, ClusterSpec *spec, const Object *said) {
    spec->storage = handle_value(said, "storage");
    if (!object_has(said, "storage_units")) return true;
    Where where = object_value(said, "storage_units")->where;
    spec->storage_units = object_int(said, "storage_units", 0);
    if (spec->storage) return storage_takes_units(spec->storage, spec->storage_units, where, script->problems);
    problem_add(script->problems, where, "storage_units of no storage");
    return problem_hint(script->problems, "say which: storage = \"superpod-storage\"");
}

static int sim_cluster(lua_State *L) {
    Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_CLUSTER);
    ClusterSpec *spec = ARENA_NEW(script->arena, ClusterSpec);
    *spec = (ClusterSpec){.where = object.where, .price_per_gpu_hour = -1};
    bool sound = object.sound && set_groups(L, spec, &object);
    if (sound) {
        sound = set_fabric(script, spec, &object) && set_faults(script, spec, &object);
        set_link_speed(script->arena, spec, &object, script->problems);
        spec->nics = object_int(&object, "nics", 0);
        sound = set_storage(script, spec, &object) && sound;
        sound = read_money(script, spec, &object) && sound;
    }
    handle_push(L, HANDLE_CLUSTER, sound ? spec : NULL, object.where);
    return 1;
}

const luaL_Reg cluster_functions[] = {{"hw", sim_hw},
                                      {"single_switch", sim_single_switch},
                                      {"fat_tree", sim_fat_tree},
                                      {"rail_fat_tree", sim_rail_fat_tree},
                                      {"fabric", sim_fabric},
                                      {"node", sim_node},
                                      {"cluster", sim_cluster},
                                      {NULL, NULL}};
