// Default price of machines without a stated one: the price book's list price, recorded as an assumption.
#include <math.h>
#include <string.h>

#include "models/workload/cluster/cluster_money.h"
#include "scenarios/study/study.h"

static bool has_price(Arena *arena, const StudySpec *study, const NodeGroup *group, const RentSpec *rent,
                      Quote *quote) {
    const Gpu *gpu = group->gpu ? group->gpu : node_gpu(study->catalogue, group->type, 0);
    *quote = rent_quote(arena, study->catalogue, group->type, gpu, rent, study->cluster->currency);
    return quote->count > 0;
}

// True if every group has a price; returns the first group's quote.
static bool all_have_prices(Arena *arena, const StudySpec *study, const RentSpec *rent, Quote *first) {
    for (int g = 0; g < study->cluster->group_count; g++) {
        Quote quote;
        if (!has_price(arena, study, &study->cluster->groups[g], rent, &quote)) return false;
        if (g == 0) *first = quote;
    }
    return true;
}

static const char *providers_of(Arena *arena, const Quote *quote) {
    const char *list = "", *newest = "", *oldest = "";
    for (int i = 0; i < quote->count; i++) {
        const Offer *offer = quote->offers[i];
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", offer->provider);
        if (strcmp(offer->date, newest) > 0) newest = offer->date;
        if (!*oldest || strcmp(offer->date, oldest) < 0) oldest = offer->date;
    }
    bool one_date = strcmp(oldest, newest) == 0;
    return arena_printf(arena, "%s, prices of %s%s%s", list, oldest, one_date ? "" : " to ", one_date ? "" : newest);
}

const StudySpec *study_with_list_price(Arena *arena, const StudySpec *study) {
    const ClusterSpec *cluster = study->cluster;
    Quote quote;
    if (cluster->own || cluster->price_per_gpu_hour >= 0 || (cluster->rent && cluster->rent->price_count > 0) ||
        all_have_prices(arena, study, cluster->rent, &quote))
        return study;
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = cluster->rent ? *cluster->rent : (RentSpec){.where = cluster->where, .terms = -1};
    rent->market = true;
    StudySpec *priced = ARENA_NEW(arena, StudySpec);
    *priced = *study;
    if (!all_have_prices(arena, study, rent, &quote)) {
        priced->price_assumed = "none";
        priced->price_source =
            arena_printf(arena, "the price book has no price on demand for %s; --price 2.49 says one",
                         cluster_gpus_text(arena, study->catalogue, cluster));
        return priced;
    }
    if (isnan(quote.gpu_hour) || rent->storage_bytes > 0 || rent->egress_bytes > 0) return study; // cluster_create says
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *spec = *cluster;
    spec->rent = rent;
    priced->cluster = spec;
    priced->price_assumed = arena_printf(arena, "%s %s", quote_text(arena, &quote), quote.currency);
    priced->price_source =
        arena_printf(arena, "the price book's %s on demand: %s; --price says another",
                     quote.count > 1 ? "median of list prices" : "list price", providers_of(arena, &quote));
    return priced;
}
