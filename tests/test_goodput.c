// What users reach of the life of a job: rates in the catalogue, the command, its mistakes, published figures.
#include "calibrate/command_validate.h"
#include "models/workload/life/life.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/goodput.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

#define DAY 86400.0

TEST(component_rates_of_llama_3_sum_to_its_stops) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const FaultRates *rates = catalogue_faults(catalogue, "llama3-h100");
    EXPECT(rates != NULL);
    LifeSpec spec = life_spec(arena, rates, catalogue_node(catalogue, "dgx-h100"), 2048);
    EXPECT_NEAR(54 * DAY * life_unplanned_rate(&spec), 419, 0.002);
    arena_close(arena);
}

TEST(a_node_rate_scales_the_mix_and_keeps_it) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const FaultRates *llama = catalogue_faults(catalogue, "llama3-h100"), *rsc = catalogue_faults(catalogue, "rsc-1");
    EXPECT_NEAR(1000 * DAY * fault_node_rate(rsc, 8, 8), 6.5, 1e-4);
    double scale = fault_node_rate(rsc, 8, 8) / fault_node_rate(llama, 8, 8);
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        EXPECT_NEAR(fault_component_rate(rsc, (FaultComponent)i, 8, 8),
                    scale * fault_component_rate(llama, (FaultComponent)i, 8, 8), 1e-12);
    // Half the GPUs, half of what GPUs fail; the host is one all the same.
    EXPECT_NEAR(fault_component_rate(rsc, FAULT_HBM, 4, 4), fault_component_rate(rsc, FAULT_HBM, 8, 8) / 2, 1e-12);
    EXPECT_NEAR(fault_component_rate(rsc, FAULT_HOST, 4, 4), fault_component_rate(rsc, FAULT_HOST, 8, 8), 1e-12);
    LifeSpec spec = life_spec(arena, llama, catalogue_node(catalogue, "dgx-h100"), 10);
    life_set_node_mtbf(&spec, 100 * DAY);
    spec.rack_rate = 0;
    EXPECT_NEAR(life_unplanned_rate(&spec), 0.1 / DAY, 1e-12);
    arena_close(arena);
}

// E[ETTR] of the RSC paper (arXiv 2410.21680): (1 - N r (u0 + dt/2)) / (1 + w/dt), good where little is lost.
TEST(effective_time_is_that_of_the_rsc_formula_where_little_is_lost) {
    Arena *arena = arena_open();
    LifeSpec spec = {.nodes = 128, .shape = 1, .bad_factor = 1, .restart_s = 300, .horizon_s = 60 * DAY};
    spec.faults[FAULT_SOFTWARE].node_rate = 6.5e-3 / DAY;
    spec.checkpoint = (CheckpointPlan){.every_s = 3600, .stall_s = 60};
    double formula = (1 - 128 * 6.5e-3 / DAY * (300 + 1800)) / (1 + 60.0 / 3600);
    EXPECT_NEAR(life_study(arena, &spec, 200, 1).ettr.mean, formula, 0.002);
    arena_close(arena);
}

static double number_at(const Json *json, const char *object, const char *key) {
    const Json *outer = object ? json_get(json, object) : json, *value = outer ? json_get(outer, key) : NULL;
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

TEST(goodput_answers_in_json_with_shares_that_sum_to_one) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended =
        run_command(command_goodput, "goodput --gpus 1024 --days 20 --runs 20 --checkpoint async --model llama-2-70b "
                                     "--storage lustre --spot-mtbf 100d --elastic 6:8 --json");
    EXPECT_INT(ended->code, 0);
    const Json *json = json_read_text(arena, "goodput", ended->out, strlen(ended->out), problems);
    EXPECT(json != NULL);
    const Json *time = json ? json_get(json, "time") : NULL;
    double sum = 0;
    for (int i = 0; time && i < time->count; i++) sum += time->items[i].number;
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT(number_at(json, "goodput", "p5") < number_at(json, "goodput", "p95"));
    EXPECT_NEAR(number_at(json, "time", "training"), number_at(json, "goodput", "mean"), 1e-9);
    EXPECT_NEAR(number_at(json, "checkpoint", "bytes"), 14 * 69e9, 0.01); // 2 + 4 + 8 bytes a parameter
    EXPECT(json_get(json, "assumptions")->count > 20);
    arena_close(arena);
}

// One run of many waits for months: the headline is the median, the causes are of the same runs as the mean beside
// them.
TEST(days_and_shares_of_work_are_of_one_base_and_the_headline_lies_in_its_range) {
    const char *line = "goodput --gpus 512 --work 23.51 --model llama-2-70b --spares 0";
    Arena *arena = arena_open();
    const Ended *ended = run_command(command_goodput, arena_printf(arena, "%s --json", line));
    const Json *json = json_read_text(arena, "goodput", ended->out, strlen(ended->out), problems_create(arena));
    const Json *time = json_get(json, "time");
    double sum = 0, median = number_at(json, "days", "p50");
    for (int i = 0; i < time->count; i++) sum += time->items[i].number;
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(number_at(json, "time", "training"), number_at(json, "goodput", "mean"), 1e-9);
    EXPECT_NEAR(median * number_at(json, "goodput", "p50"), 23.51, 1e-3);
    EXPECT(median > number_at(json, "days", "p5") && median < number_at(json, "days", "p95"));
    const char *said = arena_printf(arena, "done in %.1f days", median);
    EXPECT_CONTAINS(run_wide(command_goodput, line)->out, said);
    arena_close(arena);
}

TEST(best_and_goodput_say_the_same_of_the_same_way) {
    const char *line = "goodput --gpus 2048 --work 30 --by 33d --model llama-2-70b --spares 0 --checkpoint-every 20min "
                       "--storage-units 2";
    Arena *arena = arena_open();
    const Ended *ended = run_command(command_goodput, arena_printf(arena, "%s --json", line));
    const Json *plain = json_read_text(arena, "goodput", ended->out, strlen(ended->out), problems_create(arena));
    double mean = number_at(plain, "days", "mean"), chance = number_at(plain, NULL, "chance_by");
    double goodput = number_at(plain, "goodput", "p50"), median = number_at(plain, "days", "p50");
    ended = run_command(command_goodput, arena_printf(arena, "%s --best --json", line));
    const Json *best =
        json_get(json_read_text(arena, "best", ended->out, strlen(ended->out), problems_create(arena)), "best");
    EXPECT_SAME(number_at(best, "days", "mean"), mean);
    EXPECT_SAME(number_at(best, "days", "p50"), median);
    EXPECT_SAME(number_at(best, "goodput", "p50"), goodput);
    EXPECT_SAME(number_at(best, NULL, "chance_by"), chance);
    arena_close(arena);
}

// The same machines, work, spares, interval and storage: a plan's days and goodput are those that goodput says.
TEST(a_plan_and_goodput_say_the_same_of_the_same_job) {
    Arena *arena = arena_open();
    const Ended *ended = run_command(
        command_plan,
        "plan --model gpt2-1.5b --tokens 300B --global-batch 512 --node dgx-h100 --fabric ib-ndr400 --gpus "
        "128 --tp 1 --pp 1 --micro-batch 4 --price 2 --node-mtbf 30d --spares 0 --checkpoint-every 30min --json");
    const Json *plan = json_read_text(arena, "plan", ended->out, strlen(ended->out), problems_create(arena));
    double days = number_at(plan, NULL, "days"), goodput = number_at(plan, NULL, "goodput");
    ended = run_command(command_goodput,
                        arena_printf(arena,
                                     "goodput --gpus 128 --work %.6f --node-mtbf 30d --model gpt2-1.5b --spares 0 "
                                     "--json",
                                     days * goodput));
    const Json *plain = json_read_text(arena, "goodput", ended->out, strlen(ended->out), problems_create(arena));
    EXPECT_NEAR(number_at(plain, "days", "p50"), days, 1e-4);
    EXPECT_NEAR(number_at(plain, "goodput", "p50"), goodput, 1e-4);
    arena_close(arena);
}

// What is not done after four times its work has no days: neither the lead nor a plan names any.
TEST(work_that_most_runs_leave_undone_is_not_said_to_be_done) {
    const Ended *ended = run_command(command_goodput, "goodput --gpus 512 --work 10 --node-mtbf 2d --restart 1h "
                                                      "--spares 64 --repair 1h --runs 40");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "are not done in 40.0 days, 4 times as long");
}

TEST(the_same_command_prints_the_same_twice_and_another_seed_something_else) {
    const char *line = "goodput --gpus 256 --work 5 --runs 30 --seed 4";
    Arena *arena = arena_open();
    const char *first = arena_copy_text(arena, run_command(command_goodput, line)->out);
    EXPECT_CONTAINS(first, "Done after");
    EXPECT_TEXT(run_command(command_goodput, line)->out, first);
    EXPECT(strcmp(run_command(command_goodput, "goodput --gpus 256 --work 5 --runs 30 --seed 5")->out, first) != 0);
    arena_close(arena);
}

TEST(mistakes_in_goodput_are_sentences_with_a_remedy) {
    static const char *const cases[][2] = {
        {"goodput --gpus 8", "say --days or --work"},
        {"goodput --days 5", "--gpus is missing"},
        {"goodput --gpus 8 --days 5 --work 5", "give one of them"},
        {"goodput --gpus 8 --days 5 --rates lama3-h100", "did you mean \"llama3-h100\"?"},
        {"goodput --gpus 8 --days 5x", "is no time from a minute to 20 years"},
        {"goodput --gpus 64 --days 5 --elastic 2:3", "do not divide into 3 replicas"},
        {"goodput --gpus 64 --days 5 --elastic 3", "--elastic 12:16"},
        {"goodput --gpus 8 --days 5 --checkpoint-every never", "or best"},
        {"goodput --gpus 8 --days 5 --shape 9", "from 0.2 to 5"},
        {"goodput --gpus 8 --days 5 --node-mtbf 0", "for example --node-mtbf 300d"},
        {"goodput --gpus 9G --days 5", "200,000 nodes"},
        {"goodput --gpus 64 --days 5 --node 64", "lockstep hw list node"},
        {"goodput --gpu 512 --days 5 --gpus 8", "how many GPUs there are: --gpus 512"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Ended *ended = run_command(command_goodput, cases[i][0]);
        EXPECT_INT(ended->code, i < 3 ? 2 : 4); // the line itself; what it says
        EXPECT_CONTAINS(ended->err, cases[i][1]);
        EXPECT_TEXT(ended->out, "");
    }
    EXPECT_CONTAINS(run_command(command_goodput, "goodput --gpus 512 --work 30 --by soon")->err,
                    "hint: for example --by 33d, or --by 2027-02-01");
}

TEST(a_job_that_can_never_go_on_is_a_no) {
    const Ended *ended =
        run_command(command_goodput, "goodput --gpus 64 --work 30 --node-mtbf 5min --runs 3 --checkpoint-every 2h");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "had not finished");
}

TEST(published_reliability_is_met_within_a_tenth_where_the_rates_are_of_that_fleet) {
    Arena *arena = arena_open();
    const Ended *ended = run_asked(&validate_reliability_question, "reliability --runs 10 --json");
    EXPECT_INT(ended->code, 0);
    const Json *json = json_read_text(arena, "rows", ended->out, strlen(ended->out), problems_create(arena));
    const Json *rows = json_get(json, "rows");
    int met = 0;
    for (int i = 0; i < rows->count; i++) {
        const char *figure = json_get(&rows->items[i], "figure")->text;
        const char *relation = json_get(&rows->items[i], "relation")->text;
        if (strcmp(relation, "other fleet") == 0 || strcmp(relation, "same paper") == 0) continue;
        if (strcmp(figure, "rsc-mttf-1k") == 0) continue; // observed with user errors in it
        EXPECT(fabs(json_get(&rows->items[i], "error_pct")->number) < 10);
        met++;
    }
    EXPECT_INT(met, 4);
    arena_close(arena);
}

// ---- In scenarios and plans.

static const RecordPoint *point_of(Loaded *loaded, const char *cluster, const char *job) {
    char expression[512];
    snprintf(
        expression, sizeof expression,
        "sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 64, fabric = 'ib-hdr200', price = { gpu_hour = 2 "
        "}, %s }, run = sim.training { model = 'gpt2-355m', tokens = '300B', batch = { global = 512, micro = 8 }, "
        "%s } }",
        cluster, job);
    *loaded = load_returning(expression, NULL);
    EXPECT_TEXT(first_problem(loaded), "");
    const Record *record =
        loaded->scenario ? study_run(loaded->arena, loaded->scenario->items[0].study, loaded->problems) : NULL;
    return record ? &record->points[0] : NULL;
}

TEST(a_scenario_with_faults_takes_longer_costs_more_and_says_how_sure_it_is) {
    Loaded without, with, saved;
    const RecordPoint *plain = point_of(&without, "", "");
    const RecordPoint *failing = point_of(&with, "faults = { node_mtbf = '4 d', spares = 1, repair = '6 h' }",
                                          "checkpoint = { every = '30 min' }");
    const RecordPoint *kept = point_of(&saved, "", "checkpoint = { every = '1 min' }");
    EXPECT(plain && failing && kept);
    EXPECT(isnan(plain->goodput) && isnan(plain->days_p5));
    EXPECT(failing->goodput > 0.5 && failing->goodput < 0.99);
    EXPECT_NEAR(failing->days, plain->days / failing->goodput, 1e-6);
    EXPECT_NEAR(failing->cost_per_run / plain->cost_per_run, failing->days / plain->days, 1e-9);
    EXPECT(failing->days_p5 < failing->days && failing->days < failing->days_p95);
    EXPECT_SAME(failing->step_p50_s, plain->step_p50_s);
    // Nothing fails: the stall of a checkpoint each minute is all there is to lose.
    double stall = 14 * 354e6 / 62e9 + 0.0023;
    EXPECT_NEAR(kept->goodput, 60 / (60 + stall), 1e-3);
    unload(&without), unload(&with), unload(&saved);
}

TEST(a_plan_with_faults_prints_a_wider_range_of_days) {
    const char *line = "plan --model gpt2-355m --tokens 300B --global-batch 512 --node dgx-a100 --fabric ib-hdr200 "
                       "--gpus 64 --tp 1 --pp 1 --micro-batch 8 --price 2 --json";
    Arena *arena = arena_open();
    const char *plain = arena_copy_text(arena, run_command(command_plan, line)->out);
    EXPECT(strstr(plain, "goodput") == NULL);
    const Ended *ended = run_command(command_plan, arena_printf(arena, "%s --node-mtbf 30d --spares 1", line));
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\"goodput\": 0.");
    EXPECT_CONTAINS(ended->out, "\"days_p95\"");
    ended = run_command(command_plan, arena_printf(arena, "%s --spares 1", line));
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "--spares is of no use while nothing fails");
    arena_close(arena);
}

TEST(counts_of_stops_are_whole_and_sentences_have_no_gaps) {
    const Ended *ended = run_wide(command_goodput, "goodput --gpus 16384 --days 20 --checkpoint-size 5.67TB "
                                                   "--storage-units 1 --runs 41");
    const char *slow = strstr(ended->out, "! The storage is slow");
    EXPECT(slow && !memmem(slow, strcspn(slow, "\n"), "   ", 3));
    const char *stops = strstr(ended->out, "Stops");
    EXPECT(stops && !memchr(stops, '.', strcspn(stops, ";")));
    ended = run_wide(command_goodput, "goodput --gpus 512 --days 20 --runs 41");
    EXPECT_CONTAINS(ended->out, "90 %: 0 to 16;");
}

TEST(a_plan_says_the_interval_it_planned_and_prints_no_column_of_nothing) {
    const Ended *ended =
        run_wide(command_plan, "plan --model gpt2-355m --tokens 300B --global-batch 512 --node dgx-a100 "
                               "--fabric ib-hdr200 --gpus 64 --tp 1 --pp 1 --micro-batch 8 --price 2 "
                               "--node-mtbf 30d -v");
    EXPECT_CONTAINS(ended->out, "checkpoints stop training, one every ");
    EXPECT(strstr(ended->out, "chance then") == NULL && strstr(ended->out, "  chance\n") == NULL);
}

TEST(goodput_draws_the_life_of_its_median_as_a_calendar) {
    const Ended *ended = run_command(command_goodput, "goodput --gpus 1024 --days 5 --runs 20 --plot");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "of the median goodput");
    EXPECT_CONTAINS(ended->out, "from hour 114"); // stretches of six hours
    EXPECT(!strstr(run_command(command_goodput, "goodput --gpus 64 --days 5 --runs 20")->out, "median goodput"));
    ended = run_command(command_goodput, "goodput --gpus 64 --days 5 --runs 20 --plot --json");
    EXPECT_CONTAINS(ended->err, "--plot-dir DIR writes files");
    ended = run_command(command_goodput, "goodput --gpus 64 --work 5 --best --plot");
    EXPECT_CONTAINS(ended->err, "leave --best out");
}

TEST(an_interval_beyond_the_end_is_said_to_write_no_checkpoint) {
    const Ended *ended = run_command(command_goodput, "goodput --gpus 64 --days 30 --checkpoint-every 40d");
    EXPECT_CONTAINS(ended->out, "is longer than all that is looked at");
    ended = run_command(command_goodput, "goodput --gpus 1000 --days 30 --elastic 120:130");
    EXPECT_CONTAINS(ended->err, "for example --elastic 120:125");
    ended = run_command(command_goodput, "goodput --gpus 1000 --days 30 --elastic 120:125 --runs 4");
    EXPECT_INT(ended->code, 0);
}
