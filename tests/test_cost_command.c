// lockstep cost and lockstep power as people type them, and the same fields in scenarios.
#include "scenarios/commands/command_run.h"
#include "scenarios/questions/cost.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

#define TODAY " --date 2026-11-21"

// ---- Screens.

TEST(the_upgrade_of_the_students_is_forty_one_thousand_rupees_on_the_screen) {
    const Ended *ended = run_command(
        command_cost, "cost --node rtx3060-workstation --nodes 3 --fabric eth-5g --own --site office --currency INR "
                      "--node-price 0 --switch-price 17000 --nic-price 8000 --cable-price 0 --interest 0 --residual 0"
                      " --maintenance 0 -v" TODAY);
    static const char *const lines[] = {
        "\nCluster   3 x rtx3060-workstation, 3 GPUs, eth-5g, fat tree\n",
        "\nRate      1 USD = 96.0853 INR on 2026-09-29\n",
        "\nCapital   41.0 k INR, 13.7 k INR a GPU; of its yearly cost 0.00 INR is interest\n",
        "\npart      count        each      in all     a year\n"
        "NICs          3   8,000 INR  24.0 k INR  6,000 INR\n"
        "Switches      1  17.0 k INR  17.0 k INR  4,250 INR\n",
        "\nNICs                  0.68 INR   0.23 INR a GPU, 5.3 %\n"
        "Switches              0.49 INR   0.16 INR a GPU, 3.8 %\n"
        "Electricity          10.42 INR   3.47 INR a GPU, 80.8 %\n"
        "Hours without a job   1.30 INR   0.43 INR a GPU, 10.1 %\n",
        "\non average    1.08 kW   PUE 1.00\nat most       1.53 kW\n",
        "\n! Prices that may be more than a year older than 2026-11-21: office (2025)\n"};
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    EXPECT(strncmp(ended->out, "An hour in which a job runs costs 12.88 INR, 4.29 INR a GPU; a month 7,525 INR,", 79) ==
           0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) EXPECT_CONTAINS(ended->out, lines[i]);
}

TEST(owning_is_set_beside_every_price_for_such_gpus) {
    const Ended *ended =
        run_command(command_cost, "cost --node dgx-h100 --nodes 16 --fabric ib-ndr400 --own --years 4" TODAY);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "16 x dgx-h100, 128 GPUs, ib-ndr400, rail-optimised fat tree\n");
    EXPECT_CONTAINS(ended->out, "owning cheaper     paid back in\n");
    EXPECT_CONTAINS(ended->out, "\nreserved_3y  azure-h100-3y "); // on other machines, but the same GPUs
    EXPECT(!strstr(ended->out, "\naws-p5 "));
    ended = run_command(command_cost, "cost --node dgx-h100 --nodes 16 --fabric ib-ndr400 --own --years 4 -v" TODAY);
    EXPECT_CONTAINS(ended->out, "Nodes with their GPUs     16   $350 k");
    EXPECT_CONTAINS(ended->out, "\naws-p5 ");
    EXPECT_CONTAINS(ended->out, "\nazure-h100-3y ");
    EXPECT(!strstr(ended->out, "runpod-h200"));
}

TEST(rent_reserved_is_said_to_be_paid_for_its_term) {
    const Ended *ended =
        run_command(command_cost, "cost --node azure-nd96isr-h100-v5 --nodes 8 --terms reserved_3y --run 30d" TODAY);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "30.0 days $9.20 M.");
    EXPECT_CONTAINS(ended->out, "! Paid for whole terms of 1095 days, used or not: $9.20 M; the run's own\n"
                                "  30.0 days are $252 k of it\n");
    ended = run_command(command_cost, "cost --node azure-nd96isr-h100-v5 --nodes 8 --terms reserved_3y" TODAY);
    EXPECT_CONTAINS(ended->out, "! Paid for the whole term, used or not: $9.20 M in all\n");
    ended = run_command(command_cost, "cost --node aws-p5.48xlarge --nodes 64 --terms spot" TODAY);
    EXPECT_CONTAINS(ended->out, "! Spot: one of these machines is taken away every 2.47 days\n");
    EXPECT_CONTAINS(ended->out, "lockstep goodput --gpus 512 --node aws-p5.48xlarge --days 30");
}

TEST(only_prices_of_more_than_a_year_before_the_date_are_pointed_out) {
    const Ended *ended = run_command(command_cost, "cost --node aws-p5.48xlarge --date 2025-12-31");
    EXPECT(!strstr(ended->out, "Prices that may be") || !strstr(ended->out, "aws-p5 (2026)"));
    ended = run_command(command_cost, "cost --node aws-p5.48xlarge --date 2027-06-01");
    EXPECT_CONTAINS(ended->out, "more than a year older than 2027-06-01:");
    EXPECT_CONTAINS(ended->out, "aws-p5 (2026)");
}

TEST(json_of_cost_has_what_the_screen_has) {
    const Ended *ended =
        run_command(command_cost, "cost --node dgx-h100 --nodes 128 --fabric ib-ndr400 --own --run 10d --json");
    EXPECT_INT(ended->code, 0);
    static const char *const keys[] = {"\"format_version\": 2", "\"switches\": 48",     "\"cables\": 2048",
                                       "\"per_gpu_hour\": ",    "\"per_run\": ",        "\"lines_per_hour\"",
                                       "\"capital\": ",         "\"name\": \"cables\"", "\"break_even_utilisation\": ",
                                       "\"payback_months\": ",  "\"date\": \"2024\"",   "\"carbon_kg_per_hour\": "};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) EXPECT_CONTAINS(ended->out, keys[i]);
    EXPECT(!strstr(ended->out, ": nan"));
}

TEST(power_counts_racks_and_says_no_to_a_room_that_is_too_small) {
    const Ended *ended =
        run_command(command_power, "power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --facility 200kW");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "\nRacks            4   of 40.8 kW with 4 nodes each\n");
    EXPECT_CONTAINS(ended->out, "\nBreakers        16   60 A at 415 V three-phase, 34.5 kW all day each; on two\n");
    EXPECT_CONTAINS(ended->out, "200 kW is not\n  enough by 25.2 kW; about 14 of these nodes fit.\n");
    EXPECT_CONTAINS(ended->out, "lockstep power --node dgx-h100 --nodes 14 --fabric ib-ndr400");
    ended = run_command(command_power,
                        "power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --facility 200kW --power-cap 500W");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "limited to 500 W");
    EXPECT_CONTAINS(ended->out, "in hand.\n");
    ended = run_command(command_power, "power --node dgx-h100 --nodes 16 --fabric ib-ndr400 --facility 200kW --json");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "\"facility_is_enough\": false");
    EXPECT_CONTAINS(ended->out, "\"racks\": 4");
}

TEST(the_next_command_that_a_bill_names_runs) {
    static const char *const lines[] = {
        "cost --node dgx-h100 --nodes 2",
        "cost --node dgx-h100 --own",
        "cost --node dgx-h100 --price 2",
        "cost --node aws-p5.48xlarge --terms spot",
        "cost --a=\"--node dgx-a100\" --b=\"--node dgx-h100\" --both=\"--gpus 8 --price 2 --model gpt2-124m --tokens "
        "1B "
        "--micro-batch 1 --seq 1024\"",
        "power --node dgx-h100",
        "power --node dgx-h100 --nodes 4 --fabric ib-ndr400 --facility 50kW",
    };
    static char output[1 << 14], line[1 << 15];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(line, sizeof line,
                 "COLUMNS=400 $LOCKSTEP %s | sed -n 's/^Next *//; s/   .*//; /^lockstep /p' | head -1", lines[i]);
        EXPECT_INT(test_shell(line, output, sizeof output), 0);
        EXPECT(strncmp(output, "lockstep ", 9) == 0);
        output[strcspn(output, "\n")] = '\0';
        snprintf(line, sizeof line, "$LOCKSTEP %s >/dev/null", output + strlen("lockstep "));
        if (test_shell(line, output, sizeof output) != 0) test_fail(__FILE__, __LINE__, "%s: %s", line, output);
    }
}

// ---- Mistakes.

TEST(mistakes_on_the_line_of_cost_end_with_a_remedy) {
    static const struct {
        const char *line, *error, *hint;
        int code;
    } cases[] = {
        {"--node nosuch", "no node is called \"nosuch\"", "hw list node", 4},
        {"", "--node is missing", "--node dgx-h100", 2},
        {"--node hgx-h20-8", "no price on demand for hgx-h20-8", "--own", 4},
        {"--node dgx-h100 --years 3", "--years is of machines that are bought", "--own", 4},
        {"--node dgx-h100 --own --years 0", "--years cannot be 0", "from 0.1 to 50", 4},
        {"--node dgx-h100 --own --interest 2", "--interest cannot be 2", "from 0 to 1", 4},
        {"--node dgx-h100 --own --residual 1.5", "--residual cannot be 1.5", "from 0 to 1", 4},
        {"--node dgx-h100 --own --utilisation 0", "--utilisation cannot be 0", "from 0.001 to 1", 4},
        {"--node dgx-h100 --own --node-price=-5", "--node-price", "", 4},
        {"--node dgx-h100 --own --node-price abc", "--node-price: \"abc\" is no price of a node", "240k", 4},
        {"--node dgx-h100 --own --node-price dgx-h200=3", "no such node is asked for", "leave it out", 4},
        {"--node dgx-h100 --own --node-price 3,4", "two prices are given for every node", "dgx-h100=", 4},
        {"--node dgx-h100 --own --site nosuch", "no site is called \"nosuch\"", "hw list site", 4},
        {"--node dgx-h100 --own --currency XYZ", "no rate is known from USD to \"XYZ\"", "hw list currency", 4},
        {"--node dgx-b200 --own", "no list has what dgx-b200 costs to buy", "--node-price 400k", 4},
        {"--node aws-p5.48xlarge --book nosuch", "no price is called \"nosuch\"", "hw list price", 4},
        {"--node aws-p5.48xlarge --book vast-4090", "is of RTX4090, and aws-p5.48xlarge has H100", "such GPUs", 4},
        {"--node dgx-h100 --provider runpod --storage 1TB", "runpod-h100 does not say what storage costs", "leave", 4},
        {"--node dgx-h100 --price 2 --egress 1TB", "a price that is stated does not say what egress", "leave", 4},
        {"--node aws-p5.48xlarge --provider nosuch", "--provider: no provider is called \"nosuch\"", "hw list price",
         4},
        {"--node aws-p5.48xlarge --terms weekly", "--terms cannot be \"weekly\"", "reserved_1y", 2},
        {"--node aws-p5.48xlarge --price 2 --terms spot", "either stated (--price) or of the price book", "leave", 4},
        {"--node aws-p5.48xlarge --currency XYZ", "no rate is known from USD to \"XYZ\"", "hw list currency", 4},
        {"--node aws-p5.48xlarge --grid mars", "no grid is called \"mars\"", "hw list grid", 4},
        {"--node aws-p5.48xlarge --power-cap 900W", "a power limit of 900 W", "from 175 W to its 700 W", 4},
        {"--node aws-p5.48xlarge --date someday", "--date \"someday\" is no day", "2026-11-21", 2},
        {"--node aws-p5.48xlarge --nodes 0", "1 to 1,000,000 GPUs", "--nodes 16", 4},
        {"--node aws-p5.48xlarge --nodes 2 --gpus 9", "--nodes and --gpus", "leave one out", 2},
        {"--node aws-p5.48xlarge --pue 0.5", "--pue cannot be 0.5", "from 1 to 5", 4},
        {"--node aws-p5.48xlarge --mix matrix=2", "the shares of --mix", "waiting=0.05", 4},
        {"--node aws-p5.48xlarge --mix dancing=1", "the shares of --mix", "waiting=0.05", 4},
        {"--node aws-p5.48xlarge extra", "nothing is known to do with \"extra\"", "--help", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "cost%s%s", cases[i].line[0] ? " " : "", cases[i].line);
        const Ended *ended = run_command(command_cost, line);
        EXPECT_INT(ended->code, cases[i].code);
        EXPECT_CONTAINS(ended->err, cases[i].error);
        EXPECT_CONTAINS(ended->err, cases[i].hint);
        EXPECT_TEXT(ended->out, "");
    }
}

TEST(mistakes_in_price_and_own_of_a_scenario_stand_at_their_line) {
    static const struct {
        const char *fields, *error;
    } cases[] = {
        {"price = { book = \"nosuch\" }", "no price is called \"nosuch\""},
        {"price = { book = \"aws-p5\", gpu_hour = 2 }", "either stated (gpu_hour) or of the price book (book)"},
        {"price = { terms = \"spot\", provider = \"lambda\" }", "no price of dgx-h100, spot at lambda"},
        {"price = { terms = \"weekly\" }", "terms"},
        {"own = { site = \"nosuch\" }", "no site is called \"nosuch\""},
        {"own = { currency = \"EUR\" }, price = { gpu_hour = 2, currency = \"USD\" }", "in \"EUR\" and price in"},
        {"own = { years = 0 }", "years"},
        {"own = { node_price = -1 }", "node_price"},
        {"own = { currency = \"XYZ\" }", "no rate is known"},
        {"grid = \"mars\"", "no grid is called \"mars\""},
        {"power_cap = \"900 W\"", "a power limit of 900 W is none that"},
        {"power_cap = \"fast\"", "power_cap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[1024], output[8192];
        snprintf(
            script, sizeof script,
            "local sim = require \"lockstep\"\n"
            "return sim.study { run = sim.training { model = \"gpt2\", batch = { micro = 1 } }, on = sim.cluster {\n"
            "  node = \"dgx-h100\",\n  %s } }\n",
            cases[i].fields);
        EXPECT_INT(run_script_text(script, "", output, sizeof output, NULL), 4);
        EXPECT_CONTAINS(output, cases[i].error);
        EXPECT_CONTAINS(output, "s.lua:");
        EXPECT_CONTAINS(output, "hint:");
    }
}

// ---- Laws of simulated jobs, said in the language of scenarios.

static const char law_start[] = "local sim = require \"lockstep\"\n"
                                "local job = sim.training { model = \"gpt3-1.3b\", tokens = \"10B\", batch = { micro = "
                                "2 }, precision = \"bf16\" }\n"
                                "local function on(fields) fields.node, fields.gpus = \"dgx-h100\", 8\n"
                                "  return sim.simulate { on = sim.cluster(fields), run = job } end\n";

static void expect_law(const char *law) {
    char script[4096], output[8192];
    snprintf(script, sizeof script,
             "%s%s\nreturn sim.report { title = \"holds\", rows = { { name = \"law\", published = 1, simulated = 1, "
             "source = \"s\" } } }\n",
             law_start, law);
    EXPECT_INT(run_script_text(script, "", output, sizeof output, NULL), 0);
    EXPECT_CONTAINS(output, "holds");
}

TEST(a_power_limit_slows_a_step_down_and_one_at_the_tdp_does_not) {
    expect_law("local before = on {}\n"
               "assert(on { power_cap = \"700 W\" }.step_time == before.step_time)\n"
               "for _, watts in ipairs { 600, 500, 400, 300, 200 } do\n"
               "  local point = on { power_cap = watts }\n"
               "  assert(point.step_time > before.step_time and point.power < before.power, watts)\n"
               "  before = point\n"
               "end\n");
}

TEST(more_pue_costs_more_and_emits_more) {
    expect_law("local own = { site = \"enterprise\" }\n"
               "local good, bad = on { pue = 1.1, own = own }, on { pue = 1.6, own = own }\n"
               "assert(bad.cost_per_run > good.cost_per_run and bad.energy > good.energy)\n"
               "assert(math.abs(bad.carbon / good.carbon - 1.6 / 1.1) < 1e-9)\n"
               "local france = on { grid = \"france\" }\n"
               "assert(france.carbon < on { grid = \"poland\" }.carbon and france.step_time == good.step_time)\n");
}

TEST(a_scenario_pays_what_sim_cost_says) {
    expect_law("local point = on { price = { provider = \"runpod\" } }\n"
               "assert(math.abs(point.cost_per_hour - 8 * 3.49) < 1e-9)\n"
               "local cost = sim.cost { on = sim.cluster { node = \"dgx-h100\", price = { provider = \"runpod\" } }, "
               "time = \"10 h\" }\n"
               "assert(math.abs(cost.per_run - 80 * 3.49) < 1e-9 and cost.currency == \"USD\")\n"
               "local own = sim.cost { on = sim.cluster { node = \"dgx-h100\", own = {} } }\n"
               "assert(own.capital == own.bought.nodes.amount and own.bought.nodes.count == 1)\n");
}

TEST(a_scenario_states_a_price_for_each_type_of_node) {
    expect_law("local both = { { node = \"dgx-h100\", gpus = 8 }, { node = \"dgx-a100\", gpus = 16 } }\n"
               "local function hour(money)\n"
               "  money.nodes, money.fabric = both, \"ib-hdr200\"\n"
               "  return sim.cost { on = sim.cluster(money) }\n"
               "end\n"
               "local rent = hour { price = { nodes = \"dgx-h100=2.5,dgx-a100=1.25\" } }\n"
               "assert(math.abs(rent.per_hour - (8 * 2.5 + 16 * 1.25)) < 1e-9)\n"
               "local rest = hour { price = { gpu_hour = 3, nodes = \"dgx-a100=1\" } }\n"
               "assert(math.abs(rest.per_hour - (8 * 3 + 16)) < 1e-9)\n"
               "local own = hour { own = { node_price = 1000, node_prices = \"dgx-h100=300k\" } }\n"
               "assert(own.bought.nodes.amount == 300000 + 2 * 1000)\n");
}

// ---- The manual page.

TEST(every_command_line_of_the_money_page_runs) { EXPECT(test_page("docs/money.md", "\n") >= 8); }
