// What storage beside a cluster is billed at: rented for a rented or an owned cluster, bought with it, or somebody's.
#include "models/hardware/parts.h"
#include "models/workload/money/money.h"
#include "tests/script.h"
#include "tests/test.h"

typedef struct Bill {
    BillSpec rows;
    double storage_price; // above 0: bought
    const char *currency;
    bool owned;
} Bill;

static double per_hour(const Bill *bill, const StorageType *unit, double units) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = test_catalogue();
    const NodeType *type = catalogue_node(catalogue, "dgx-h100");
    NodeGroup group = {.type = type, .gpus = 2 * type->gpu_count};
    OwnSpec own = own_spec_usual(find_site(arena, catalogue, "colocation", (Where){0}, problems));
    own.storage_price = bill->storage_price;
    ClusterSpec spec = {.groups = &group,
                        .group_count = 1,
                        .link = catalogue_link(catalogue, "ib-ndr400"),
                        .fabric = FABRIC_FAT_TREE,
                        .rail_optimised = true,
                        .oversubscription = 1,
                        .price_per_gpu_hour = bill->owned ? -1 : 2,
                        .own = bill->owned ? &own : NULL,
                        .bill = &bill->rows,
                        .currency = bill->currency};
    const Cluster *cluster = cluster_create(arena, catalogue, &spec, problems);
    problems_print(problems, stdout);
    EXPECT(cluster != NULL);
    double cost = cluster ? storage_bill_per_hour(cluster, unit, units) : NAN;
    arena_close(arena);
    return cost;
}

// Support is a share of what is rented with the machines, so an owner's storage has none; tax is on all.
TEST(support_is_paid_on_storage_of_rented_clusters_and_tax_on_that_of_all) {
    StorageType unit = *catalogue_storage(test_catalogue(), "superpod-storage");
    unit.unit_usd_per_hour = 10;
    Bill bill = {.rows = {.support = 0.05, .tax = 0.20, .discount = 0.5}, .storage_price = NAN};
    EXPECT_NEAR(per_hour(&bill, &unit, 3), 3 * 10 * 1.05 * 1.20, 1e-12);
    bill.owned = true;
    EXPECT_NEAR(per_hour(&bill, &unit, 3), 3 * 10 * 1.20, 1e-12);
    bill.rows = (BillSpec){.support = 0.05};
    EXPECT_NEAR(per_hour(&bill, &unit, 3), 3 * 10, 1e-12);
    EXPECT_NEAR(per_hour(&bill, &unit, 6), 2 * per_hour(&bill, &unit, 3), 1e-12);
    bill.currency = "EUR";
    const Catalogue *catalogue = test_catalogue();
    EXPECT_NEAR(per_hour(&bill, &unit, 3), 3 * 10 * exchange_rate(catalogue, "USD", "EUR"), 1e-12);
}

TEST(storage_that_is_bought_left_out_or_without_a_price_costs_nothing_an_hour) {
    StorageType unit = *catalogue_storage(test_catalogue(), "superpod-storage");
    unit.unit_usd_per_hour = 10;
    Bill bought = {.storage_price = 1e6, .owned = true}, left_out = {.rows = {.without = "storage"}},
         priced = {.storage_price = NAN};
    EXPECT_NEAR(per_hour(&bought, &unit, 3), 0, 0);
    EXPECT_NEAR(per_hour(&left_out, &unit, 3), 0, 0);
    left_out.owned = true, left_out.storage_price = NAN;
    EXPECT_NEAR(per_hour(&left_out, &unit, 3), 0, 0);
    unit.unit_usd_per_hour = 0;
    EXPECT_NEAR(per_hour(&priced, &unit, 3), 0, 0);
}
