// One offer per provider, their median and spread; and the networks of a provider's machines.
#include "models/hardware/market.h"
#include "sim/base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/quantity.h"
#include "sim/base/statistics.h"

#define ENOUGH_PROVIDERS 3 // for a median without old prices

typedef LIST_OF(const Offer *) Offers;

// ---- Which offers are meant.

// The set of providers that PriceWish.among allows; NULL: all.
static const NameIndex *providers_of(Arena *arena, const PriceWish *wish) {
    NameIndex *among = wish->among ? name_index_create(arena, part_name_order) : NULL;
    for (int i = 0; i < wish->among_count; i++) name_index_add(among, wish->among[i], i);
    return among;
}

static bool fits_wish(const Offer *offer, const PriceWish *wish, const NameIndex *among) {
    if (offer->terms != wish->terms) return false;
    if (wish->provider && !same_part_name(wish->provider, offer->provider)) return false;
    if (wish->machine_of && !offer->is_own_book && !same_part_name(wish->machine_of, offer->provider)) return false;
    if (wish->region && offer->region && !same_part_name(wish->region, offer->region)) return false;
    return !among || name_index_find(among, offer->provider) >= 0;
}

static bool is_of_node(const Offer *offer, const NodeType *node) {
    for (int i = 0; i < offer->node_count; i++)
        if (same_part_name(offer->nodes[i], node->name)) return true;
    return false;
}

static Offers offers_of_node(Arena *arena, const Catalogue *catalogue, const NodeType *node, const PriceWish *wish) {
    Offers list = {0};
    const NameIndex *among = providers_of(arena, wish);
    for (int i = 0; i < catalogue->offer_count; i++)
        if (is_of_node(&catalogue->offers[i], node) && fits_wish(&catalogue->offers[i], wish, among))
            LIST_PUSH(arena, &list, &catalogue->offers[i]);
    return list;
}

static Offers offers_of_gpu(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu,
                            const PriceWish *wish, bool surveys) {
    Offers list = {0};
    const NameIndex *among = providers_of(arena, wish);
    for (int i = 0; i < catalogue->offer_count; i++) {
        const Offer *offer = &catalogue->offers[i];
        if (offer->is_survey == surveys && fits_wish(offer, wish, among) &&
            offer_is_comparable(catalogue, offer, node, gpu))
            LIST_PUSH(arena, &list, offer);
    }
    return list;
}

static bool is_in_own_book(const Offers *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->is_own_book) return true;
    return false;
}

// The rows of the user's own book alone, if it has any.
static Offers own_book_first(Arena *arena, const Offers *all) {
    if (!is_in_own_book(all)) return *all;
    Offers list = {0};
    for (int i = 0; i < all->count; i++)
        if (all->items[i]->is_own_book) LIST_PUSH(arena, &list, all->items[i]);
    return list;
}

// The node's own offers, then those for its GPUs, then surveys; but the user's book for its GPUs takes precedence
// over the catalogue's offers of the node.
static Offers offers_meant(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu,
                           const PriceWish *wish, bool *is_own) {
    Offers own = offers_of_node(arena, catalogue, node, wish);
    Offers others = offers_of_gpu(arena, catalogue, node, gpu, wish, false);
    bool book_knows_better = !is_in_own_book(&own) && is_in_own_book(&others);
    PriceWish anywhere = *wish;
    anywhere.region = NULL;
    // Another machine with such GPUs does not stand for one that is offered in another region only.
    bool elsewhere = wish->region && own.count == 0 && offers_of_node(arena, catalogue, node, &anywhere).count > 0;
    *is_own = own.count > 0 || book_knows_better;
    if ((own.count > 0 || elsewhere) && !book_knows_better) return own_book_first(arena, &own);
    return others.count > 0 ? own_book_first(arena, &others) : offers_of_gpu(arena, catalogue, node, gpu, wish, true);
}

// ---- One of each provider.

static Date day_of(const Offer *offer) {
    Date date = {0};
    date_parse(offer->date, &date);
    return date;
}

static bool is_newer(const Offer *a, const Offer *b) { return date_first_day(day_of(a)) > date_first_day(day_of(b)); }

// A machine of the same size first, then the newest offer; of two equal ones the first of the book.
static bool speaks_before(const Offer *a, const Offer *b, const NodeType *node) {
    bool a_fits = a->gpus == node->gpu_count, b_fits = b->gpus == node->gpu_count;
    return a_fits != b_fits ? a_fits : is_newer(a, b);
}

static Offers one_each(Arena *arena, const Offers *all, const NodeType *node) {
    Offers list = {0};
    NameIndex *providers = name_index_create(arena, part_name_order);
    for (int i = 0; i < all->count; i++) {
        int at = name_index_add(providers, all->items[i]->provider, list.count);
        if (at < 0)
            LIST_PUSH(arena, &list, all->items[i]);
        else if (speaks_before(all->items[i], list.items[at], node))
            list.items[at] = all->items[i];
    }
    return list;
}

static Offers recent(Arena *arena, const Offers *all) {
    Offers list = {0};
    const Offer *newest = all->count ? all->items[0] : NULL;
    for (int i = 1; i < all->count; i++)
        if (is_newer(all->items[i], newest)) newest = all->items[i];
    for (int i = 0; i < all->count; i++)
        if (!date_is_a_year_before(day_of(all->items[i]), day_of(newest))) LIST_PUSH(arena, &list, all->items[i]);
    return list;
}

static Offers speaking(Arena *arena, const Offers *all, const NodeType *node) {
    Offers newer = recent(arena, all), list = one_each(arena, &newer, node);
    return list.count >= ENOUGH_PROVIDERS ? list : one_each(arena, all, node);
}

// ---- The quote.

static double in_currency(const Catalogue *catalogue, const Offer *offer, const char *currency) {
    double rate = exchange_rate(catalogue, offer->currency, currency);
    return rate > 0 ? rate * offer_gpu_hour(offer) : NAN;
}

typedef struct Priced {
    const Offer *offer;
    double price;
    int place;
} Priced;

static int by_price(const void *a, const void *b) {
    const Priced *x = a, *y = b;
    if (x->price != y->price && !isnan(x->price) && !isnan(y->price)) return x->price < y->price ? -1 : 1;
    if (isnan(x->price) != isnan(y->price)) return isnan(x->price) ? 1 : -1;
    return x->place - y->place;
}

static void sort_by_price(Arena *arena, const Catalogue *catalogue, Offers *list, const char *currency,
                          double *prices) {
    Priced *priced = ARENA_ARRAY(arena, Priced, list->count);
    for (int i = 0; i < list->count; i++)
        priced[i] = (Priced){list->items[i], in_currency(catalogue, list->items[i], currency), i};
    qsort(priced, (size_t)list->count, sizeof *priced, by_price);
    for (int i = 0; i < list->count; i++) {
        list->items[i] = priced[i].offer;
        prices[i] = priced[i].price;
    }
}

static double log_spread(const double *prices, int count) {
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++) mean += log(prices[i]) / count;
    for (int i = 0; i < count; i++) squares += (log(prices[i]) - mean) * (log(prices[i]) - mean);
    return count > 1 ? sqrt(squares / (count - 1)) : 0;
}

static Quote quote_of(Arena *arena, const Catalogue *catalogue, Offers *list, const char *currency) {
    Quote quote = {.offers = list->items, .count = list->count, .currency = currency ? currency : "USD"};
    if (!currency && list->count == 1) quote.currency = list->items[0]->currency;
    double *prices = ARENA_ARRAY(arena, double, list->count);
    sort_by_price(arena, catalogue, list, quote.currency, prices);
    if (list->count == 0) return quote;
    for (int i = 0; i < list->count; i++) {
        if (!isnan(prices[i])) continue;
        quote.gpu_hour = quote.least = quote.most = NAN;
        return quote;
    }
    quote.gpu_hour = list->count == 1 ? prices[0] : quantile(arena, prices, list->count, 0.5);
    quote.least = prices[0];
    quote.most = prices[list->count - 1];
    quote.log_sigma = log_spread(prices, list->count);
    return quote;
}

Quote quote_find(Arena *arena, const Catalogue *catalogue, const NodeType *node, const Gpu *gpu, const PriceWish *wish,
                 const char *currency) {
    bool is_own;
    Offers all = offers_meant(arena, catalogue, node, gpu, wish, &is_own);
    Offers list = speaking(arena, &all, node);
    Quote quote = quote_of(arena, catalogue, &list, currency);
    quote.is_own = is_own;
    return quote;
}

static const NameIndex *providers_quoted(Arena *arena, const Quote *quote) {
    NameIndex *providers = name_index_create(arena, part_name_order);
    for (int i = 0; i < quote->count; i++) name_index_add(providers, quote->offers[i]->provider, i);
    return providers;
}

const char *const *quote_common_providers(Arena *arena, const Catalogue *catalogue, const NodeType *const *nodes,
                                          int node_count, const PriceWish *wish, int *count) {
    LIST_OF(const char *) common = {0};
    bool first = true;
    for (int n = 0; n < node_count; n++) {
        if (nodes[n]->provider) continue;
        Quote quote = quote_find(arena, catalogue, nodes[n], node_gpu(catalogue, nodes[n], 0), wish, NULL);
        for (int i = 0; first && i < quote.count; i++) LIST_PUSH(arena, &common, quote.offers[i]->provider);
        int kept = 0;
        const NameIndex *quoted = providers_quoted(arena, &quote);
        for (int i = 0; i < common.count; i++)
            if (name_index_find(quoted, common.items[i]) >= 0) common.items[kept++] = common.items[i];
        common.count = kept;
        first = false;
    }
    *count = common.count;
    return common.count ? common.items : NULL;
}

typedef struct Mean {
    double sum;
    int count;
} Mean;

static void add_interruptions(Mean *mean, const Offer *offer) {
    if (offer->terms != TERMS_SPOT || !(offer->interruptions_per_month > 0)) return;
    mean->sum += offer_interruptions_per_hour(offer);
    mean->count++;
}

double quote_interruptions_per_hour(const Quote *quote) {
    Mean mean = {0};
    for (int i = 0; i < quote->count; i++) add_interruptions(&mean, quote->offers[i]);
    return mean.count ? mean.sum / mean.count : 0;
}

double book_interruptions_per_hour(const Catalogue *catalogue) {
    Mean mean = {0};
    for (int i = 0; i < catalogue->offer_count; i++) add_interruptions(&mean, &catalogue->offers[i]);
    return mean.count ? mean.sum / mean.count : 0;
}

const char *quote_text(Arena *arena, const Quote *quote) {
    if (quote->count == 1) return arena_printf(arena, "%.2f", quote->gpu_hour);
    return arena_printf(arena, "%.2f (%.2f to %.2f at %d providers)", quote->gpu_hour, quote->least, quote->most,
                        quote->count);
}

// ---- A provider's machines, and the networks they are on.

const NodeType *provider_node(const Catalogue *catalogue, const char *provider, const Gpu *gpu, int gpu_count) {
    const NodeType *found = NULL;
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *node = &catalogue->nodes[i];
        if (!node->provider || !same_part_name(node->provider, provider)) continue;
        if (strcmp(node_gpu(catalogue, node, 0)->name, gpu->name) != 0) continue;
        if (!found || (node->gpu_count == gpu_count && found->gpu_count != gpu_count)) found = node;
    }
    return found;
}

// By its name, whatever its rate; or a user-defined link with the same properties.
static bool is_such_a_link(const FabricLink *link, const FabricLink *other) {
    if (strcmp(link->name, other->name) == 0) return true;
    double ratio = link->line_bytes_per_second / other->line_bytes_per_second;
    return link->transport == other->transport && ratio > 0.99 && ratio < 1.01;
}

bool node_takes_link(const Catalogue *catalogue, const NodeType *node, const FabricLink *link) {
    bool plain = link->transport == TRANSPORT_TCP;
    if (node->fabric_count == 0) return true;
    if (plain && link->line_bytes_per_second <= 1.05 * node->nic_bytes_per_second * node->nic_count) return true;
    for (int i = 0; i < node->fabric_count; i++) {
        const FabricLink *own = catalogue_link(catalogue, node->fabrics[i]);
        if (own && is_such_a_link(link, own)) return true;
    }
    return false;
}

const FabricLink *node_usual_link(const Catalogue *catalogue, const NodeType *node) {
    if (node->fabric_count > 0) return catalogue_link(catalogue, node->fabrics[0]);
    const FabricLink *best = catalogue_link(catalogue, "eth-1g");
    for (int i = 0; i < catalogue->link_count; i++) {
        const FabricLink *link = &catalogue->links[i];
        if (link->switch_price_usd <= 0 || link->line_bytes_per_second > 1.01 * node->nic_bytes_per_second) continue;
        bool faster = link->line_bytes_per_second > best->line_bytes_per_second;
        bool as_fast = link->line_bytes_per_second >= best->line_bytes_per_second;
        bool first_infiniband = link->transport == TRANSPORT_INFINIBAND && best->transport != TRANSPORT_INFINIBAND;
        if (faster || (as_fast && first_infiniband)) best = link;
    }
    return best;
}

bool node_needs_link(const NodeType *node, int gpus) {
    int nodes = (gpus + node->gpu_count - 1) / node->gpu_count;
    return nodes > 1 && nodes > node->nvlink_domain_nodes;
}

const char *node_fabrics(Arena *arena, const NodeType *node) {
    const char *list = node->fabric_count ? node->fabrics[0] : "any fabric";
    for (int i = 1; i < node->fabric_count; i++)
        list = arena_printf(arena, "%s%s%s", list, i + 1 < node->fabric_count ? ", " : " or ", node->fabrics[i]);
    return list;
}
