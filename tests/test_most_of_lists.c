// Limits of what may be asked for, from both sides: the last that is allowed, and one more; and what is offered
// instead.
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/cost.h"
#include "scenarios/queue/command_queue.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

// The model is missing, so that nothing is planned; all that is wrong is said.
static const char *said_of_ways(int providers, const char *terms) {
    char line[4096];
    int length =
        snprintf(line, sizeof line, "plan --model nobody --node dgx-h100 --gpus 8 --terms %s --provider ", terms);
    const Catalogue *catalogue = test_catalogue();
    for (int i = 0, found = 0; i < catalogue->offer_count && found < providers; i++) {
        bool before = false;
        for (int k = 0; k < i && !before; k++)
            before = strcmp(catalogue->offers[k].provider, catalogue->offers[i].provider) == 0;
        if (before || strchr(catalogue->offers[i].provider, ' ')) continue;
        length += snprintf(line + length, sizeof line - (size_t)length, "%s%s", found ? "," : "",
                           catalogue->offers[i].provider);
        found++;
        if (found == providers) return run_command(command_plan, line)->err;
    }
    return NULL;
}

TEST(as_many_ways_to_rent_as_may_be_tried_are_taken_and_one_provider_more_is_refused) {
    static const char four[] = "on_demand,spot,reserved_1y,reserved_3y";
    const char *said = said_of_ways(16, four);
    EXPECT(said && strstr(said, "no model is called") && !strstr(said, "ways to rent"));
    EXPECT_CONTAINS(said_of_ways(17, four), "make 68 ways to rent, more than 64");
}

TEST(a_job_larger_than_the_largest_cluster_to_try_is_refused_with_both_sizes) {
    static const char rest[] =
        "--node dgx-a100 --durations fixed:1h --jobs-per-hour 1 --jobs 200 --find-gpus --wait-p95 2h --most-gpus 16";
    char line[256];
    snprintf(line, sizeof line, "queue --sizes 24:1 %s", rest);
    const Ended *ended = run_command(command_queue, line);
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "a job wants 24 GPUs, and no more than 16 may be tried");
    snprintf(line, sizeof line, "queue --sizes 16:1 %s", rest);
    EXPECT(!strstr(run_command(command_queue, line)->err, "may be tried"));
}

// What the price book has for such a node in place of what was asked, and nothing for other GPUs.
TEST(a_price_that_is_missing_is_refused_with_those_of_the_same_machines) {
    char line[512];
    const Catalogue *catalogue = test_catalogue();
    const NodeType *node = catalogue_node(catalogue, "aws-p5.48xlarge");
    snprintf(line, sizeof line, "cost --node %s --gpus 8 --terms reserved_3y", node->name);
    const char *said = run_command(command_cost, line)->err, *hint = strstr(said, "hint: it has ");
    EXPECT_CONTAINS(said, "the price book has no");
    EXPECT(hint != NULL);
    int own = 0;
    for (int i = 0; hint && i < catalogue->offer_count; i++) {
        const Offer *offer = &catalogue->offers[i];
        char name[128];
        snprintf(name, sizeof name, " %s (", offer->name);
        bool is_for = offer_is_for(offer, node, node_gpu(catalogue, node, 0)) && strcmp(offer->provider, "aws") == 0;
        EXPECT_INT(strstr(hint, name) != NULL, is_for);
        own += is_for;
    }
    EXPECT(own > 1 && own < catalogue->offer_count / 2);
}

// One machine on a network that its provider has not is a mistake; of several, each goes on its own where it must.
TEST(a_providers_machine_goes_on_its_providers_network) {
    static const char rest[] =
        "--gpus 16 --model gpt2-124m --tokens 1e9 --global-batch 64 -j 1 --fabric ib-ndr400 --plain";
    char line[256];
    snprintf(line, sizeof line, "plan --node aws-p5.48xlarge %s", rest);
    const Ended *ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "aws-p5.48xlarge has no ib-ndr400: aws puts it on efa-100");
    snprintf(line, sizeof line, "plan --node aws-p5.48xlarge,dgx-h100 --price 2 %s", rest);
    ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "efa-100");
    EXPECT_CONTAINS(ended->out, "ib-ndr400");
}
