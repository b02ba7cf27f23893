// Prices like with like: a median over providers with its spread, one provider for all, machines on their own networks.
#include "models/hardware/market.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/cost.h"
#include "tests/command.h"
#include "tests/test.h"

static Quote quote_of(Arena *arena, const Catalogue *catalogue, const char *name, const PriceWish *wish) {
    const NodeType *node = catalogue_node(catalogue, name);
    return quote_find(arena, catalogue, node, node_gpu(catalogue, node, 0), wish, NULL);
}

// ---- Formula and twin.

TEST(a_quote_is_the_median_of_one_price_of_each_provider_and_tells_their_spread) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const PriceWish on_demand = {.terms = TERMS_ON_DEMAND};
    Quote quote = quote_of(arena, catalogue, "dgx-h100", &on_demand);
    EXPECT(quote.count >= 9 && !quote.is_own);
    double logs = 0, squares = 0;
    int below = 0, above = 0;
    for (int i = 0; i < quote.count; i++) {
        double price = offer_gpu_hour(quote.offers[i]);
        for (int k = 0; k < i; k++) EXPECT(!same_part_name(quote.offers[i]->provider, quote.offers[k]->provider));
        EXPECT(!quote.offers[i]->is_survey && price >= quote.least && price <= quote.most);
        below += price <= quote.gpu_hour;
        above += price >= quote.gpu_hour;
        logs += log(price) / quote.count;
    }
    for (int i = 0; i < quote.count; i++) squares += pow(log(offer_gpu_hour(quote.offers[i])) - logs, 2);
    EXPECT(2 * below >= quote.count && 2 * above >= quote.count);
    EXPECT_NEAR(quote.log_sigma, sqrt(squares / (quote.count - 1)), 1e-12);
    EXPECT_TEXT(quote_text(arena, &quote), "5.22 (2.95 to 12.29 at 10 providers)");
    arena_close(arena);
}

TEST(a_providers_own_machine_costs_what_that_provider_asks_today) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const PriceWish on_demand = {.terms = TERMS_ON_DEMAND};
    Quote quote = quote_of(arena, catalogue, "aws-p5.48xlarge", &on_demand);
    EXPECT(quote.is_own && quote.count == 1);
    EXPECT_TEXT(quote.offers[0]->name, "aws-p5"); // not that before the cut of 2025
    EXPECT_NEAR(quote.gpu_hour, 6.88, 1e-12);
    EXPECT_NEAR(quote.log_sigma, 0, 0);
    arena_close(arena);
}

// ---- Like with like.

// DGX H100 stood at Lambda's price and DGX H200 at RunPod's, so that the newer GPU was the cheaper.
TEST(two_gpus_are_compared_over_the_providers_that_have_both) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const NodeType *nodes[] = {catalogue_node(catalogue, "dgx-h100"), catalogue_node(catalogue, "dgx-h200")};
    PriceWish wish = {.terms = TERMS_ON_DEMAND};
    wish.among = quote_common_providers(arena, catalogue, nodes, 2, &wish, &wish.among_count);
    EXPECT(wish.among_count >= 5);
    Quote h100 = quote_of(arena, catalogue, "dgx-h100", &wish), h200 = quote_of(arena, catalogue, "dgx-h200", &wish);
    EXPECT_INT(h100.count, wish.among_count);
    EXPECT_INT(h200.count, wish.among_count);
    for (int i = 0; i < h100.count; i++) {
        bool there = false;
        for (int k = 0; k < h200.count; k++)
            there = there || same_part_name(h100.offers[i]->provider, h200.offers[k]->provider);
        EXPECT(there);
    }
    EXPECT(h200.gpu_hour > h100.gpu_hour);
    arena_close(arena);
}

TEST(the_provider_asked_for_is_taken_for_every_node_or_refused) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const PriceWish runpod = {.provider = "runpod", .terms = TERMS_ON_DEMAND};
    EXPECT_TEXT(quote_of(arena, catalogue, "dgx-h100", &runpod).offers[0]->name, "runpod-h100");
    EXPECT_TEXT(quote_of(arena, catalogue, "dgx-h200", &runpod).offers[0]->name, "runpod-h200");
    const PriceWish nobody = {.provider = "vast", .terms = TERMS_ON_DEMAND};
    EXPECT_INT(quote_of(arena, catalogue, "dgx-h100", &nobody).count, 0);
    arena_close(arena);
}

// ---- Networks.

TEST(every_machine_of_a_provider_goes_on_a_network_of_the_catalogue) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    int providers_nodes = 0;
    for (int n = 0; n < catalogue->node_count; n++) {
        const NodeType *node = &catalogue->nodes[n];
        providers_nodes += node->provider != NULL;
        EXPECT(!node->provider == (node->fabric_count == 0));
        for (int f = 0; f < node->fabric_count; f++) {
            const FabricLink *link = catalogue_link(catalogue, node->fabrics[f]);
            EXPECT(link && node_takes_link(catalogue, node, link));
            if (!link) printf("  %s: %s\n", node->name, node->fabrics[f]);
            EXPECT(link && link->line_bytes_per_second <= 1.01 * node->nic_bytes_per_second);
        }
    }
    EXPECT(providers_nodes >= 50);
    arena_close(arena);
}

TEST(a_machine_of_aws_is_not_on_infiniband_and_one_of_google_not_either) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const FabricLink *infiniband = catalogue_link(catalogue, "ib-ndr400"), *wire = catalogue_link(catalogue, "eth-25g");
    EXPECT(!node_takes_link(catalogue, catalogue_node(catalogue, "aws-p5.48xlarge"), infiniband));
    EXPECT(!node_takes_link(catalogue, catalogue_node(catalogue, "gcp-a3-megagpu-8g"), infiniband));
    EXPECT(node_takes_link(catalogue, catalogue_node(catalogue, "azure-nd96isr-h100-v5"), infiniband));
    EXPECT(node_takes_link(catalogue, catalogue_node(catalogue, "dgx-h100"), infiniband));
    EXPECT(node_takes_link(catalogue, catalogue_node(catalogue, "aws-p5.48xlarge"), wire)); // the plain network it has
    arena_close(arena);
}

// ---- At the doors.

TEST(impossible_pairs_of_provider_node_and_network_are_refused_with_what_there_is) {
    static const struct {
        const char *line, *error, *hint;
    } cases[] = {
        {"--node aws-p5.48xlarge --nodes 2 --fabric ib-ndr400",
         "aws-p5.48xlarge has no ib-ndr400: aws puts it on efa-100", "take that"},
        {"--node gcp-a3-megagpu-8g --nodes 2 --fabric ib-ndr400", "gcp puts it on tcpxo-200", "take that"},
        {"--node dgx-h100 --nodes 2 --fabric ib-ndr400 --provider aws",
         "aws rents H100-SXM5-80GB as aws-p5.48xlarge on efa-100, not on ib-ndr400", "--node aws-p5.48xlarge"},
        {"--node aws-p5.48xlarge --provider gcp", "is a machine of aws, and the provider asked for is gcp",
         "--node gcp-"},
        {"--node dgx-h100 --provider vast", "no price of dgx-h100, on demand at vast", "it has"},
        {"--node dgx-h100 --price dgx-h200=3", "a price is given of dgx-h200", "leave it out"},
        {"--node dgx-h100 --price 0", "\"0\" is no price of a GPU-hour", "such as 2.49"},
        {"--node dgx-h100 --price 2,3", "two prices are given for every node", "dgx-h100=2.49"},
        {"--node dgx-h100 --price dgx-h100=2,dgx-h100=3", "given twice", "keep one"},
        {"--node dgx-h100 --price 2 --terms spot", "either stated", "leave out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "cost %s", cases[i].line);
        const Ended *ended = run_command(command_cost, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, cases[i].error);
        EXPECT_CONTAINS(ended->err, cases[i].hint);
    }
}

TEST(a_price_of_one_node_or_of_all_is_what_the_machines_cost) {
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --price dgx-h100=2.5 --json")->out,
                    "\"per_gpu_hour\": 2.5,");
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --price 3,dgx-h100=2.5 --json")->out,
                    "\"per_gpu_hour\": 2.5,");
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --price 3 --json")->out, "\"per_gpu_hour\": 3,");
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --provider runpod")->out, "runpod");
}

// DGX H100 and DGX H200 side by side in a plan: the same providers for both, and the range on the screen.
TEST(a_plan_names_the_range_of_its_prices_and_compares_the_same_providers) {
    const Ended *ended = run_command(command_plan, "plan --model gpt2-355m --tokens 1B --global-batch 64 --gpus 8 "
                                                   "--node dgx-h100,dgx-h200 -j 1 -v --micro-batch 4 --zero 1");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "! dgx-h100: 6.88 (2.95 to 12.29 at 7 providers) USD a GPU-hour");
    EXPECT_CONTAINS(ended->out, "! dgx-h200: 7.91 (3.50 to 12.25 at 7 providers) USD a GPU-hour");
    ended = run_command(command_plan, "plan --model gpt2-355m --tokens 1B --global-batch 64 --gpus 8 --provider runpod "
                                      "--node dgx-h100,dgx-h200 -j 1 -v --micro-batch 4 --zero 1");
    EXPECT_INT(ended->code, 0);
    EXPECT(!strstr(ended->out, "providers)"));
    ended = run_command(command_plan, "plan --model gpt2-355m --tokens 1B --global-batch 64 --gpus 16 -j 1 "
                                      "--node aws-p5.48xlarge --fabric ib-ndr400");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "aws-p5.48xlarge has no ib-ndr400: aws puts it on efa-100");
}

TEST(a_run_whose_price_is_a_median_says_from_what_to_what_it_costs) {
    const char *line = "run --model gpt2-124m --tokens 1B --global-batch 64 --seq 1024 --node dgx-h100 --gpus 8 ";
    char words[256];
    snprintf(words, sizeof words, "%s--terms on_demand", line);
    EXPECT_CONTAINS(run_command(command_run, words)->out, "5.22 (2.95 to 12.29 at 10 providers) USD a GPU-hour");
    snprintf(words, sizeof words, "%s--terms on_demand --json", line);
    EXPECT_CONTAINS(run_command(command_run, words)->out, "\"per_hour_most\": 98.32,");
    snprintf(words, sizeof words, "%s--provider runpod --json", line);
    EXPECT(!strstr(run_command(command_run, words)->out, "per_hour_most"));
    snprintf(words, sizeof words, "%s--json", line); // nobody's machine, and nobody asked
    EXPECT_CONTAINS(run_command(command_run, words)->out, "\"per_hour_most\": 98.32,");
}

// MI300X and H100: two providers have both, and the gap of the prices is theirs.
TEST(two_providers_that_have_both_are_enough_and_what_is_said_of_them_is_so) {
    const Ended *ended = run_command(command_plan, "plan --model gpt2-355m --tokens 1B --global-batch 64 --gpus 8 "
                                                   "--node mi300x-8,dgx-h100 -j 1 -v --micro-batch 4 --zero 1");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "! mi300x-8: 2.92 (");
    EXPECT_CONTAINS(ended->out, "! dgx-h100: 3.70 (");
    EXPECT_CONTAINS(ended->out, "2 providers with all these machines");
    EXPECT(!strstr(ended->out, "at 10 providers"));
}

TEST(a_providers_machine_is_paid_whole_and_two_of_them_cost_the_same_however_many_gpus_run) {
    EXPECT_CONTAINS(run_command(command_cost, "cost --node aws-p5.48xlarge --gpus 12 --json")->out,
                    "\"per_hour\": 110.08,");
    const Ended *ended = run_command(command_cost, "cost --node aws-p5.48xlarge --gpus 12");
    EXPECT_CONTAINS(ended->out, "12 GPUs of the 16 that are rented");
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --gpus 12 --price 2 --json")->out,
                    "\"per_hour\": 24,");
}

TEST(a_region_without_prices_is_refused_and_no_other_machine_stands_for_one_offered_elsewhere) {
    const Ended *ended = run_command(command_cost, "cost --node dgx-h100 --nodes 4 --region mars");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "no price is of a region called \"mars\"");
    EXPECT_CONTAINS(ended->err, "us-east-1");
    ended = run_command(command_cost, "cost --node aws-p5.48xlarge --nodes 4 --region us-west1");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "no price of aws-p5.48xlarge, on demand in us-west1");
    EXPECT_INT(run_command(command_cost, "cost --node aws-p5.48xlarge --nodes 4 --region us-east-1")->code, 0);
}

TEST(owning_is_set_against_the_rent_that_was_named) {
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --nodes 4 --own --price 2.49")->out,
                    "renting at $2.49: owning is cheaper from ");
    EXPECT(!strstr(run_command(command_cost, "cost --node dgx-h100 --nodes 4 --own")->out, "Against"));
}

TEST(owning_or_renting_says_which_machine_no_list_has_a_purchase_price_of) {
    const char *line = "plan --model gpt2-355m --tokens 1B --global-batch 64 --gpus 8 --node mi300x-8 -j 1 "
                       "--micro-batch 4 --zero 1 --own-or-rent";
    char priced[256];
    snprintf(priced, sizeof priced, "%s --node-price mi300x-8=250k", line);
    EXPECT_CONTAINS(run_command(command_plan, line)->out, "mi300x-8 only rented");
    EXPECT(!strstr(run_command(command_plan, priced)->out, "only rented"));
}
