// Prices, currencies, grids and sites: values derived from a row, and checks of a row.
#include "models/hardware/market.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/date.h"

const char *const terms_names[TERMS_COUNT] = {"on_demand", "reserved_1y", "reserved_3y", "spot", "monthly", "block"};
const char *const terms_titles[TERMS_COUNT] = {"on demand", "reserved for 1 year", "reserved for 3 years",
                                               "spot",      "by the month",        "block of days"};

double terms_years(Terms terms) {
    static const double years[TERMS_COUNT] = {
        [TERMS_RESERVED_1_YEAR] = 1, [TERMS_RESERVED_3_YEARS] = 3, [TERMS_MONTHLY] = 1.0 / 12};
    return years[terms];
}

bool terms_are_paid_unused(Terms terms) { return terms_years(terms) > 0; }

double offer_gpu_hour(const Offer *offer) {
    double per_hour = offer->price_per_hour > 0 ? offer->price_per_hour : offer->price_per_month / HOURS_PER_MONTH;
    return per_hour / offer->gpus;
}

bool offer_is_for(const Offer *offer, const NodeType *node, const Gpu *gpu) {
    if (offer->gpu) return same_part_name(offer->gpu, gpu->name);
    for (int i = 0; i < offer->node_count; i++)
        if (same_part_name(offer->nodes[i], node->name)) return true;
    return false;
}

bool offer_is_comparable(const Catalogue *catalogue, const Offer *offer, const NodeType *node, const Gpu *gpu) {
    if (offer_is_for(offer, node, gpu)) return true;
    for (int i = 0; i < offer->node_count; i++) {
        const NodeType *other = catalogue_node(catalogue, offer->nodes[i]);
        if (other && strcmp(node_gpu(catalogue, other, 0)->name, gpu->name) == 0) return true;
    }
    return false;
}

// A share q is taken away within a month, so the hazard is -ln(1 - q) over a month's hours.
double offer_interruptions_per_hour(const Offer *offer) {
    return offer->interruptions_per_month > 0 ? -log1p(-fmin(offer->interruptions_per_month, 0.999)) / HOURS_PER_MONTH
                                              : 0;
}

double breaker_watts(const Site *site) {
    double phases = site->breaker_phases == 3 ? sqrt(3) : 1;
    return BREAKER_SHARE * phases * site->breaker_volts * site->breaker_amperes;
}

static double units_per_usd(const Catalogue *catalogue, const char *name) {
    if (same_part_name(name, "USD")) return 1;
    const Currency *currency = part_find(catalogue, PART_CURRENCY, name);
    return currency ? currency->per_usd : 0;
}

double exchange_rate(const Catalogue *catalogue, const char *from, const char *to) {
    if (strcmp(from, to) == 0) return 1;
    double from_units = units_per_usd(catalogue, from), to_units = units_per_usd(catalogue, to);
    return from_units > 0 ? to_units / from_units : 0;
}

// ---- Required fields of a row.

void date_finish(const char *date, PartKind kind, const char *name, Where where, Problems *problems) {
    Date read;
    if (date && date_parse(date, &read)) return;
    problem_add(problems, where, "\"%s\" is no date of %s \"%s\"", date ? date : "", part_tables[kind].said, name);
    problem_hint(problems, "write the year, perhaps with month and day: \"2026-04\"");
}

// Nodes and GPUs by their names, however they were called.
static void find_machines(Arena *arena, const Catalogue *catalogue, Offer *offer, Where where, Problems *problems) {
    const char **names = ARENA_ARRAY(arena, const char *, offer->node_count);
    for (int i = 0; i < offer->node_count; i++) {
        const NodeType *node = find_node(arena, catalogue, offer->nodes[i], where, problems);
        names[i] = node ? node->name : offer->nodes[i];
    }
    offer->nodes = names;
    const Gpu *gpu = offer->gpu ? find_gpu(arena, catalogue, offer->gpu, where, problems) : NULL;
    if (gpu) offer->gpu = gpu->name;
}

void offer_finish(Arena *arena, const Catalogue *catalogue, Offer *offer, Where where, Problems *problems) {
    date_finish(offer->date, PART_PRICE, offer->name, where, problems);
    if ((offer->price_per_hour > 0) == (offer->price_per_month > 0)) {
        problem_add(problems, where, "price \"%s\" needs either price_per_hour or price_per_month", offer->name);
        problem_hint(problems, "and \"gpus\", for how many GPUs that is");
    }
    if ((offer->node_count > 0) == (offer->gpu != NULL)) {
        problem_add(problems, where, "price \"%s\" is either of nodes or of a gpu", offer->name);
        problem_hint(problems, "\"nodes\": [\"aws-p5.48xlarge\"], or \"gpu\": \"H100-SXM5-80GB\" for any machine");
    }
    find_machines(arena, catalogue, offer, where, problems);
    if (offer->currency && !units_per_usd(catalogue, offer->currency)) {
        problem_add(problems, where, "price \"%s\" is in \"%s\", whose rate nobody says", offer->name, offer->currency);
        problem_hint(problems, "add it to \"currencies\": { \"name\": \"EUR\", \"date\": …, \"per_usd\": … }");
    }
}

// ---- By name.

const Offer *find_offer(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_PRICE, name, where, problems);
}

const Grid *find_grid(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_GRID, name, where, problems);
}

const Site *find_site(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_SITE, name, where, problems);
}
