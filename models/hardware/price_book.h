// A user's own prices: a CSV file whose rows take precedence over the catalogue's.
#pragma once

#include "models/hardware/market.h"

// The catalogue with the rows of a book in front; `base` itself when `path` is NULL. NULL after problems, which name
// the row's line and its column. Columns, in any order, by their header words:
//     provider, date ("2026-04"), source             required in every row
//     node, or gpu                                   the node by its name, or any node with such GPUs
//     gpus                                           that the prices are for; left out: the node's, or 1
//     on_demand, reserved_1y, reserved_3y, spot, block   an hour of these GPUs; monthly: a month; empty: not offered
//     currency                                       left out or empty: USD
//     region, storage_per_gb_month, egress_per_gb, interruptions_per_month
//     per_usd                                        the user's exchange rate, in a row with a currency and no price
const Catalogue *catalogue_with_prices(Arena *arena, const Catalogue *base, const char *path, Problems *problems);
