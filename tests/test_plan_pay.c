// How a plan's machines are paid for: the same step at other prices, and terms that are paid for whole.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/cluster/cluster_money.h"
#include "models/workload/job/job_options.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/plan/plan_chance.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/cost.h"
#include "scenarios/study/job_life.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

// gpt2-355m for a day or so on 8 GPUs of two nodes that are rented out in several ways.
typedef struct Rented {
    Arena *arena;
    const NodeType *nodes[2];
    PlanFabric fabric;
    int gpus;
    double batch;
    RentSpec rents[4];
    const RentSpec *ways[4];
    PlanRequest request;
} Rented;

static void rented_open(Rented *r) {
    *r = (Rented){.arena = arena_open(), .gpus = 8, .batch = 64};
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    Problems *problems = problems_create(r->arena);
    r->nodes[0] = catalogue_node(catalogue, "crusoe-h100-ib.8x");
    r->nodes[1] = catalogue_node(catalogue, "dgx-h100");
    r->fabric = (PlanFabric){.link = catalogue_link(catalogue, "ib-ndr400"), .name = "ib-ndr400"};
    const Model *model = find_model(r->arena, "gpt2-355m", (Where){0}, problems);
    TrainingSpec training = job_usual(model, (GpuTypes){&(const Gpu *){node_gpu(catalogue, r->nodes[0], 0)}, 1});
    training.layout = (Layout){.tp = 1, .pp = 1};
    training.seq_len = 1024;
    training.tokens = 20e9;
    static const int terms[] = {TERMS_ON_DEMAND, TERMS_SPOT, TERMS_RESERVED_1_YEAR, TERMS_RESERVED_3_YEARS};
    for (int i = 0; i < 4; i++) {
        r->rents[i] = (RentSpec){.terms = terms[i]};
        r->ways[i] = &r->rents[i];
    }
    r->request = (PlanRequest){.catalogue = catalogue,
                               .training = training,
                               .nodes = r->nodes,
                               .node_count = 2,
                               .fabrics = &r->fabric,
                               .fabric_count = 1,
                               .gpus = &r->gpus,
                               .gpus_count = 1,
                               .batches = &r->batch,
                               .batch_count = 1,
                               .price_per_gpu_hour = -1,
                               .currency = "USD",
                               .rent = &r->rents[0],
                               .rents = r->ways,
                               .rent_count = 4};
}

// The price of the run is so many hours at the quote: those that it takes, or those of whole terms.
static double hours_times_quote(const Rented *r, const PlanRow *row) {
    PlanRequest alone = plan_for_row(&r->request, row);
    Quote quote = plan_quote(r->arena, &alone, row->node);
    double years = terms_years(quote.offers[0]->terms), days = row->point.days;
    if (years > 0) days = 365 * years * ceil(days / (365 * years));
    return quote.gpu_hour * r->gpus * 24 * days;
}

TEST(ways_to_pay_have_the_same_step_and_cost_hours_times_quote) {
    Rented r;
    rented_open(&r);
    Problems *problems = problems_create(r.arena);
    PlanResult result = plan_search(r.arena, &r.request, problems);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_INT(result.cluster_count, 2);
    EXPECT_INT(result.row_count, 7); // Crusoe sells its own on demand, on spot and for a year
    int ways[2] = {0};
    for (int i = 0; i < result.row_count; i++) {
        const PlanRow *row = &result.rows[i];
        int node = row->node == r.nodes[1];
        EXPECT(row->point.ran);
        ways[node] |= 1 << row->way;
        for (int k = 0; k < result.row_count; k++) {
            if (result.rows[k].node != row->node) continue;
            bool spot = r.rents[row->way].terms == TERMS_SPOT, other = r.rents[result.rows[k].way].terms == TERMS_SPOT;
            EXPECT(result.rows[k].point.step_p50_s == row->point.step_p50_s);
            if (spot != other) continue; // what is on spot is taken back
            EXPECT(result.rows[k].point.digest == row->point.digest);
            EXPECT(result.rows[k].point.days == row->point.days);
            EXPECT(result.rows[k].point.energy_kwh == row->point.energy_kwh);
        }
        EXPECT_NEAR((row->point.cost_per_run - row->storage_cost) / hours_times_quote(&r, row), 1, 1e-9);
        EXPECT_NEAR(row->point.term_days, 365 * terms_years((Terms)r.rents[row->way].terms), 1e-9);
    }
    EXPECT_INT(ways[0], 7);
    EXPECT_INT(ways[1], 15);
    EXPECT(result.count.simulated > 0);
    arena_close(r.arena);
}

TEST(a_way_to_pay_costs_beside_others_what_it_costs_alone) {
    Rented r;
    rented_open(&r);
    r.request.node_count = 1;
    PlanResult together = plan_search(r.arena, &r.request, problems_create(r.arena));
    for (int i = 0; i < together.row_count; i++) {
        PlanRequest alone = r.request;
        alone.rent = r.ways[together.rows[i].way];
        alone.rents = NULL;
        alone.rent_count = 0;
        PlanResult one = plan_search(r.arena, &alone, problems_create(r.arena));
        EXPECT_INT(one.row_count, 1);
        EXPECT(one.rows[0].point.cost_per_run == together.rows[i].point.cost_per_run);
        EXPECT(one.rows[0].point.digest == together.rows[i].point.digest);
        EXPECT(one.rows[0].point.unused_cost == together.rows[i].point.unused_cost);
        EXPECT_INT(one.count.simulated, together.count.simulated);
    }
    arena_close(r.arena);
}

TEST(a_term_is_billed_whole) {
    EXPECT_NEAR(bill_whole_terms(12.5, 0), 12.5, 0);
    EXPECT_NEAR(bill_whole_terms(12.5, 365), 365, 0);
    EXPECT_NEAR(bill_whole_terms(365, 365), 365, 0);
    EXPECT_NEAR(bill_whole_terms(366, 365), 730, 0);
    EXPECT_NEAR(bill_whole_terms(0, 30), 30, 0);
}

// Half a year's run may take up to twice as long before its reservation costs more.
TEST(a_reservation_costs_the_same_until_it_ends) {
    RecordPoint point = {.ran = true, .days = 200, .cost_per_run = 1e6};
    PlanSpread spread = {.term_days = 365, .faster = 0.8, .slower = 1.2};
    spread.step[FACTOR_SOFTWARE] = 1;
    for (double longer = 0.5; longer < 6; longer += 0.25) {
        double factors[FACTOR_COUNT] = {[FACTOR_START] = 0};
        factors[FACTOR_SOFTWARE] = log(longer) / (longer > 1 ? spread.slower : spread.faster);
        PlanOutcome outcome = plan_outcome(&spread, &point, factors);
        EXPECT_NEAR(outcome.days, 200 * longer, 1e-6);
        EXPECT_NEAR(outcome.cost, 1e6 * ceil(200 * longer / 365), 1e-3);
    }
}

#define JOB                                                                                                            \
    "plan --model gpt2-355m --tokens 20B --seq 1024 --global-batch 64 --node crusoe-h100-ib.8x --gpus 8 --tp 1 --pp "  \
    "1 "                                                                                                               \
    "--date 2026-11-21 -j 1 "

TEST(a_plan_says_what_of_a_reservation_is_not_used) {
    const Ended *ended = run_command(command_plan, JOB "--terms reserved_1y -v");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Paid      reserved for 1 year: 365 days, used or not; ");
    ended = run_command(command_plan, JOB "--terms spot,on_demand,reserved_3y -v");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Paid      spot: a node is taken back every ");
    EXPECT_CONTAINS(ended->out, "(assumed, as");
    EXPECT_CONTAINS(ended->out, "! crusoe-h100-ib.8x is not offered so, or not on that fabric: ");
}

// On two nodes either of which is taken back once in five days: days are lost, and the step stays.
TEST(what_is_taken_back_counts_where_failures_do) {
    Rented r;
    rented_open(&r);
    FaultsSpec faults = {.node_mtbf_s = 1e11, .spares_given = true};
    r.request.nodes = r.nodes + 1;
    r.request.node_count = 1;
    r.request.rent_count = 2;
    r.request.faults = &faults;
    r.request.spot_mtbf_s = 5 * 86400;
    r.request.training.tokens = 2e12;
    r.gpus = 16;
    PlanResult result = plan_search(r.arena, &r.request, problems_create(r.arena));
    EXPECT_INT(result.row_count, 2);
    const PlanRow *spot = &result.rows[result.rows[0].way == 1 ? 0 : 1],
                  *on_demand = &result.rows[spot->way == result.rows[0].way];
    EXPECT(spot->point.step_p50_s == on_demand->point.step_p50_s);
    // two in five days, each with half an hour of waiting and a new start of minutes
    double taken = 2 * spot->point.days / 5, each = (spot->point.days - on_demand->point.days) / taken * 86400;
    EXPECT(each > 1800 * 0.8);
    EXPECT(each < 1800 * 1.8);
    arena_close(r.arena);
}

// One unit of 62 GB/s at 52.08 USD an hour (storages.json), of which 16 GPUs of 256 pay their share; or a whole one
// that is asked for.
TEST(storage_for_checkpoints_is_in_the_cost_unless_somebody_else_pays) {
    Rented r;
    rented_open(&r);
    FaultsSpec faults = {.node_mtbf_s = 86400 * 300.0};
    BillSpec without = {.without = "storage"}, taxed = {.tax = 0.19};
    r.request.nodes = r.nodes + 1;
    r.request.node_count = 1;
    r.request.rent_count = 1;
    r.request.faults = &faults;
    r.gpus = 16;
    const PlanRow row = plan_search(r.arena, &r.request, problems_create(r.arena)).rows[0];
    const StorageType *unit = catalogue_storage(r.request.catalogue, "superpod-storage");
    EXPECT_NEAR(row.storage_cost, unit->unit_usd_per_hour * 16 / 256 * 24 * row.point.days, 1e-6);
    CheckpointSpec two = {.storage_units = 2};
    PlanRequest asked = r.request;
    asked.training.checkpoint = &two;
    const PlanRow whole = plan_search(r.arena, &asked, problems_create(r.arena)).rows[0];
    EXPECT_NEAR(whole.storage_cost, unit->unit_usd_per_hour * 2 * 24 * whole.point.days, 1e-6);
    r.request.bill = &without;
    const PlanRow machines = plan_search(r.arena, &r.request, problems_create(r.arena)).rows[0];
    EXPECT(machines.storage_cost == 0);
    EXPECT_NEAR(row.point.cost_per_run, machines.point.cost_per_run + row.storage_cost, 1e-6);
    r.request.bill = &taxed;
    const PlanRow all = plan_search(r.arena, &r.request, problems_create(r.arena)).rows[0];
    EXPECT_NEAR(all.point.cost_per_run, 1.19 * row.point.cost_per_run, 1e-6);
    arena_close(r.arena);
}

TEST(storage_that_is_too_slow_is_said) {
#define LARGE                                                                                                          \
    "plan --model llama-2-70b --tokens 100B --node dgx-h100 --fabric ib-ndr400 --gpus 512 --global-batch 1024 "
    const Ended *ended =
        run_command(command_plan, LARGE "--tp 8 --pp 8 --faults llama3-h100 --storage nfs-10gbe -j 1 -v");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "! The storage is slow for so many nodes: a checkpoint takes ");
    ended = run_command(command_plan, LARGE "--tp 8 --pp 8 --faults llama3-h100 -j 1 -v");
    EXPECT_CONTAINS(ended->out, "Storage   2 x superpod-storage for checkpoints: ");
    EXPECT(!strstr(ended->out, "! The storage is slow for so many nodes: a checkpoint takes "));
}

TEST(a_price_that_is_stated_stands_once_beside_ways_to_rent_others) {
    const Ended *ended = run_command(command_plan, JOB "--terms spot,on_demand --price crusoe-h100-ib.8x=2 --csv");
    EXPECT_INT(ended->code, 0);
    const char *row = strchr(ended->out, '\n') + 1;
    EXPECT(strchr(row, '\n')[1] == '\0');
}

TEST(ways_to_pay_that_are_none_are_refused) {
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"--terms on_demand,spotty", "--terms: there is no \"spotty\""},
        {"--terms spot,on_demand,spot", "--terms names spot twice"},
        {"--terms spot,,on_demand", "--terms: there is no \"\""},
        {"--provider ,", "--provider: no provider is called \"\""},
        {"--provider crusoe,nobody", "--provider: no provider is called \"nobody\""},
        {"--provider crusoe,lambda,Crusoe", "--provider names Crusoe twice"},
        {"--terms spot,on_demand --own", "--own buys the machines"},
        {"--spot-mtbf 30d", "--spot-mtbf is of no use while nothing is rented on spot"},
        {"--terms spot,on_demand --price 2", "a price is either stated (--price) or of the price book"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, JOB "%s", cases[i].arguments);
        const Ended *ended = run_command(command_plan, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, cases[i].says);
    }
}

#define ONE_NODE                                                                                                       \
    "$LOCKSTEP plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-h100 --gpus 8 --global-batch 64 -j 1 -q "      \
    "--date 2026-11-21 "

TEST(amounts_of_one_way_to_pay_are_in_its_currency_and_of_several_in_usd) {
    static char said[1 << 16];
    char line[512], path[] = "/tmp/lockstep-book-XXXXXX.csv";
    int book = mkstemps(path, 4);
    EXPECT(book >= 0);
    dprintf(book, "provider,node,gpus,on_demand,reserved_1y,currency,date,source,per_usd\n"
                  "bank,,,,,EUR,2026-11-01,a bank's page,0.9\nours,dgx-h100,8,18,12,EUR,2026-11,a quotation,\n");
    close(book);
    static const char *const ways[] = {"on_demand", "on_demand,reserved_1y"};
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, ONE_NODE "--price-book %s --terms %s", path, ways[i]);
        EXPECT_INT(test_shell(line, said, sizeof said), 0);
        EXPECT((strstr(said, "€") != NULL) == (i == 0) && (strstr(said, "$") != NULL) == (i == 1));
    }
    unlink(path);
}

TEST(a_price_that_is_said_of_a_node_is_not_looked_for_elsewhere) {
    static char said[1 << 17];
    static const char *const prices[] = {"", "--price 3", "--price dgx-h100=3", "--price dgx-a100=2,dgx-h100=3"};
    for (int i = 0; i < 4; i++) {
        char line[512];
        snprintf(line, sizeof line, ONE_NODE "%s --json", prices[i]);
        test_shell(line, said, sizeof said);
        EXPECT((strstr(said, "\"price of a GPU-hour\"") != NULL) == (i == 0));
        if (i == 0) EXPECT_CONTAINS(said, "nobody in the price book rents dgx-h100 by its name");
    }
}

// What is on spot is taken back where failures are not counted, too: no date is kept as surely as on demand.
TEST(spot_is_interrupted_whether_or_not_failures_are_counted) {
    Rented r;
    rented_open(&r);
    r.request.rent_count = 2;
    r.request.spot_mtbf_s = 86400 / 4.0;
    PlanResult result = plan_search(r.arena, &r.request, problems_create(r.arena));
    const PlanRow *first = &result.rows[0], *other = NULL;
    for (int i = 1; i < result.row_count && !other; i++)
        if (result.rows[i].node == first->node && result.rows[i].way != first->way) other = &result.rows[i];
    EXPECT(other != NULL);
    if (other) {
        const PlanRow *spot = first->way == 1 ? first : other, *demand = first->way == 1 ? other : first;
        EXPECT(spot->point.days > 1.02 * demand->point.days && spot->point.goodput < 0.98);
        EXPECT(!(demand->point.goodput > 0) && spot->spares_cost == 0);
    }
    arena_close(r.arena);
}

// Of rent R with half of it off: R (1 - 0.5), support and tax on what is left, each by its name and nothing else.
TEST(each_row_of_what_a_plan_costs_stands_by_its_name_and_they_sum_to_it) {
    const Ended *ended = run_wide(
        command_plan, "plan --model gpt2-124m --tokens 1B --node dgx-a100 --gpus 8 --global-batch 64 --price 2 "
                      "--discount 0.5 --support 0.1 --tax 0.2 --date 2026-11-21 -v");
    EXPECT_INT(ended->code, 0);
    const char *table = strstr(ended->out, "What the cost is made of, as planned");
    EXPECT(table != NULL);
    if (!table) return;
    double paid = (1 - 0.5) * (1 + 0.1) * (1 + 0.2);
    struct {
        const char *row;
        double share;
    } rows[] = {{"Rent of the machines", 1 / paid},
                {"Discount", -0.5 / paid},
                {"Support", 0.5 * 0.1 / paid},
                {"Tax", 0.5 * 1.1 * 0.2 / paid},
                {"The run", 1}};
    for (int i = 0; i < 5; i++) {
        const char *row = strstr(table, rows[i].row), *end = row ? strchr(row, '\n') : NULL;
        EXPECT(row != NULL);
        if (!row || !end) return;
        while (end[-1] != '%') end--;
        const char *share = end - 2;
        while (share[-1] != ' ') share--;
        EXPECT_NEAR(atof(share), 100 * rows[i].share, 0.06);
        table = end;
    }
    const char *other = strstr(ended->out, "\n   Other ");
    EXPECT(other == NULL || other > table);
}

// A number of the answer in JSON, by its path of keys.
static double answer_number_of(Arena *arena, int (*command)(int, char **), const char *line, const char *object,
                               const char *key) {
    Problems *problems = problems_create(arena);
    const char *out = run_command(command, line)->out;
    const Json *answer = json_read_text(arena, "answer", out, strlen(out), problems);
    const Json *within = answer && object ? json_get(answer, object) : answer;
    const Json *number = within ? json_get(within, key) : NULL;
    EXPECT(number != NULL);
    return number ? number->number : NAN;
}

// The same run of the same machines, asked as a plan, as a run and as days.
TEST(a_reserved_run_costs_the_same_in_plan_run_and_cost) {
    Arena *arena = arena_open();
    static const char rented[] = "--node azure-nd96isr-h100-v5 --terms reserved_1y --date 2026-11-21 --json";
    const char *job = arena_printf(arena,
                                   "--model gpt2-355m --tokens 20B --seq 1024 --global-batch 64 --gpus 8 --tp 1 "
                                   "--pp 1 --micro-batch 4 --zero 0 %s",
                                   rented);
    const char *plan = arena_printf(arena, "plan %s", job), *run = arena_printf(arena, "run %s", job);
    double days = answer_number_of(arena, command_plan, plan, NULL, "days");
    const char *cost = arena_printf(arena, "cost --nodes 1 --run %.17gd %s", days, rented);
    double whole = 8760 * answer_number_of(arena, command_cost, cost, "cost", "per_hour");
    EXPECT_NEAR(answer_number_of(arena, command_run, run, NULL, "days") / days, 1, 1e-9);
    EXPECT_NEAR(answer_number_of(arena, command_plan, plan, "cost", "amount") / whole, 1, 1e-9);
    EXPECT_NEAR(answer_number_of(arena, command_run, run, "cost", "amount") / whole, 1, 1e-9);
    EXPECT_NEAR(answer_number_of(arena, command_cost, cost, "cost", "per_run") / whole, 1, 1e-9);
    double unused = whole * (1 - days / 365);
    EXPECT_NEAR(answer_number_of(arena, command_run, run, "cost", "unused_cost") / unused, 1, 1e-9);
    EXPECT_NEAR(answer_number_of(arena, command_cost, cost, "cost", "unused_cost") / unused, 1, 1e-9);
    arena_close(arena);
}

// Longer than the undisturbed run's term: failures make it two.
TEST(days_that_failures_add_are_billed_in_whole_terms_too) {
    RecordPoint point = {
        .days = 300, .cost_per_hour = 2, .term_days = 365, .unused_cost = 48 * 65, .cost_per_run = 48 * 365 + 7};
    job_bill_days(&point, 400);
    EXPECT_NEAR(point.cost_per_run, 48 * 730 + 7, 1e-9);
    EXPECT_NEAR(point.unused_cost, 48 * 330, 1e-9);
    job_bill_days(&point, 300);
    EXPECT_NEAR(point.cost_per_run, 48 * 365 + 7, 1e-9);
}
