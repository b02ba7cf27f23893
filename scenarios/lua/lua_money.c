// sim.cluster's price, own, grid, pue and power_cap; and sim.cost, which computes the resulting bill.
#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster_money.h"
#include "models/workload/money/money.h"
#include "scenarios/lua/lua_script.h"

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

bool read_money(Script *script, ClusterSpec *spec, const Object *cluster) {
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
