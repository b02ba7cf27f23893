// sim.cluster's price, own, grid, pue and power_cap.
#include <math.h>
#include <string.h>

#include "models/workload/money.h"
#include "scenarios/lua_script.h"

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
    spec->rent = rent;
    spec->price_per_gpu_hour = object_number(price, "gpu_hour", -1);
    spec->currency = object_text(price, "currency");
    return sound;
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
    spec->own = own;
    const char *currency = object_text(object, "currency");
    bool two = currency && spec->currency && strcmp(currency, spec->currency) != 0;
    if (two) {
        problem_add(script->problems, object_value(object, "currency")->where, "own is in \"%s\" and price in \"%s\"",
                    currency, spec->currency);
        problem_hint(script->problems, "give both in one currency; rates: lockstep hw list currency");
    }
    if (currency) spec->currency = currency;
    return own->site && !two;
}

bool read_money(Script *script, ClusterSpec *spec, const Object *cluster) {
    bool sound = read_price(script, spec, object_table(cluster, "price"));
    sound = read_own(script, spec, object_table(cluster, "own")) && sound;
    const Value *grid = object_value(cluster, "grid");
    spec->grid = find_grid(script->arena, script->catalogue, grid->text, grid->written ? grid->where : cluster->where,
                           script->problems);
    spec->power_usage_effectiveness = object_number(cluster, "pue", 0);
    spec->power_cap_watts = object_number(cluster, "power_cap", 0);
    return sound && spec->grid;
}
