// The measuring program's own machinery, against a device that is made up: it has a clock of its own, known times, and
// fails, crashes and hangs when told to.
#include <signal.h>
#include <unistd.h>

#include "calibrate/gpu/bench/bench.h"
#include "calibrate/gpu/command_calibrate.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

typedef struct Fake {
    double now, elapsed, each; // seconds; each: of one iteration
    double issue;              // of handing one over
    int launched, sets, slow_every;
    double error;         // what the check finds
    const char *fails_at; // operations
    const char *crashes_at;
    const char *hangs_at;
    const char *loses_at; // fails, and so does all that comes after it in the same process
    bool is_lost, never_opens;
    const char *operation;
    int open_prepared; // prepared and not finished
} Fake;

static bool is_at(const Fake *fake, const char *operation) {
    return operation && strcmp(fake->operation, operation) == 0;
}

static BenchStatus fake_open(void *device, BenchMachine *machine, BenchFault *fault) {
    (void)fault;
    if (((Fake *)device)->never_opens) sleep(60);
    *machine = bench_supposed_machine();
    return BENCH_DONE;
}
static void fake_close(void *device) { (void)device; }
static BenchStatus fake_prepare(void *device, const BenchCase *of, int *sets, BenchFault *fault) {
    Fake *fake = device;
    fake->operation = of->operation;
    fake->open_prepared++;
    if (fake->sets > 0) *sets = fake->sets;
    fake->is_lost |= is_at(fake, fake->loses_at);
    if (fake->is_lost) return bench_fail(fault, "fake.cu", 34, "cudaFake: an illegal memory access");
    if (is_at(fake, fake->fails_at)) return bench_fail(fault, "fake.cu", 12, "cudaFake: no such thing");
    return BENCH_DONE;
}
static BenchStatus fake_begin(void *device, int count, BenchFault *fault) {
    (void)device, (void)count, (void)fault;
    return BENCH_DONE;
}
static BenchStatus fake_launch(void *device, int count, BenchFault *fault) {
    Fake *fake = device;
    (void)fault;
    if (is_at(fake, fake->crashes_at)) raise(SIGKILL);
    if (is_at(fake, fake->hangs_at)) sleep(60);
    fake->launched++;
    bool is_slow = fake->slow_every > 0 && fake->launched % fake->slow_every == 0;
    fake->elapsed = count * fake->each * (is_slow ? 10 : 1);
    fake->now += count * fake->issue;
    return BENCH_DONE;
}
static BenchStatus fake_record(void *device, int event, BenchFault *fault) {
    (void)device, (void)event, (void)fault;
    return BENCH_DONE;
}
static BenchStatus fake_elapsed(void *device, double *seconds, BenchFault *fault) {
    Fake *fake = device;
    (void)fault;
    fake->now += fake->elapsed;
    *seconds = fake->elapsed;
    return BENCH_DONE;
}
static BenchStatus fake_wait(void *device, BenchFault *fault) {
    Fake *fake = device;
    (void)fault;
    fake->now += fake->elapsed;
    return BENCH_DONE;
}
static BenchStatus fake_check(void *device, BenchCheck *check, BenchFault *fault) {
    Fake *fake = device;
    (void)fault;
    *check = (BenchCheck){fake->error, 1e-3};
    return BENCH_DONE;
}
static void fake_finish(void *device) { ((Fake *)device)->open_prepared--; }
static void fake_sensors(void *device, BenchSensors *sensors) {
    (void)device;
    *sensors = (BenchSensors){.sm_mhz = 1980, .watts = 650, .throttle = 4};
}
static double fake_seconds(void *device) {
    Fake *fake = device;
    return fake->now += 1e-9;
}

static bool fake_is_lost(void *device) { return ((Fake *)device)->is_lost; }

static const BenchLayer fake_layer = {fake_open,    fake_close,   fake_prepare, fake_begin, fake_launch,
                                      fake_record,  fake_elapsed, fake_wait,    fake_check, fake_finish,
                                      fake_sensors, fake_seconds, fake_is_lost};

static const BenchRules rules = {
    .seconds = 0.1, .sample_seconds = 1e-3, .warm_up_seconds = 0.01, .least_samples = 5, .most_samples = 64};

TEST(a_spread_is_told_by_ranks_and_outliers_are_counted_not_dropped) {
    double values[] = {5, 1, 2, 3, 4, 100};
    BenchSpread spread = bench_spread(values, 6);
    EXPECT_NEAR(spread.median, 3.5, 1e-15);
    EXPECT_NEAR(spread.least, 1, 1e-15);
    EXPECT_NEAR(spread.low, 1.5, 1e-15);
    EXPECT_NEAR(spread.sigma, 1.4826 * 1.5, 1e-12); // distances 2.5 1.5 0.5 0.5 1.5 96.5
    EXPECT_INT(spread.outliers, 1);
    EXPECT_INT(spread.count, 6);
}

TEST(the_time_of_one_iteration_is_measured_whatever_the_sample_holds) {
    static const double times[] = {2e-6, 3e-4, 5e-2};
    for (int i = 0; i < 3; i++) {
        Fake fake = {.each = times[i], .sets = 7, .issue = 1e-7};
        BenchCase of = {.operation = "gemm", .type = "", .variant = "", .flops = 1e9};
        BenchResult result;
        bench_measure(&fake_layer, &fake, &of, &rules, &result);
        EXPECT_INT(result.status, BENCH_DONE);
        EXPECT_NEAR(result.time.median, times[i], 1e-9);
        EXPECT_INT(result.iterations % 7, 0); // whole rounds through the buffers
        EXPECT_INT(fake.open_prepared, 0);
        EXPECT_NEAR(result.sensors.sm_mhz, 1980, 1e-12);
        EXPECT_INT(result.sensors.throttle, 4);
    }
}

TEST(the_issue_clock_counts_the_host_and_not_the_device) {
    Fake fake = {.each = 1e-3, .issue = 4e-6};
    BenchCase of = {.operation = "launch", .type = "", .variant = "", .clock = BENCH_ISSUE};
    BenchResult result;
    bench_measure(&fake_layer, &fake, &of, &rules, &result);
    EXPECT_NEAR(result.time.median, 4e-6, 0.01);
    of.clock = BENCH_WALL;
    bench_measure(&fake_layer, &fake, &of, &rules, &result);
    EXPECT_NEAR(result.time.median, 1e-3 + 4e-6, 0.01);
}

TEST(a_slow_repeat_moves_the_median_by_nothing) {
    Fake fake = {.each = 1e-4, .slow_every = 9};
    BenchCase of = {.operation = "gemm", .type = "", .variant = ""};
    BenchResult result;
    bench_measure(&fake_layer, &fake, &of, &rules, &result);
    EXPECT_NEAR(result.time.median, 1e-4, 1e-9);
    EXPECT(result.time.outliers > 0);
}

TEST(a_wrong_result_is_never_reported_as_measured) {
    static const double errors[] = {0.1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        Fake fake = {.each = 1e-4, .error = errors[i]};
        BenchCase of = {.operation = "gemm", .type = "", .variant = ""};
        BenchResult result;
        bench_measure(&fake_layer, &fake, &of, &rules, &result);
        EXPECT_INT(result.status, BENCH_FAILED);
        EXPECT_CONTAINS(result.fault.text, "wrong result");
        EXPECT_INT(fake.open_prepared, 0);
    }
}

// ---- The plan.

TEST(a_plan_keeps_to_its_time_and_names_no_case_twice) {
    for (int quick = 0; quick < 2; quick++) {
        BenchSettings settings = {.quick = quick, .budget_seconds = quick ? 100 : 540};
        BenchMachine machine = bench_supposed_machine();
        machine.gpu_count = 8;
        BenchPlan plan = bench_plan_open(&settings, &machine);
        double expected = 0, budget = 0;
        int pairs[8][8] = {{0}}, twice = 0;
        for (int s = 0; s < BENCH_SECTION_COUNT; s++) {
            expected += bench_section_expected(&settings, &plan, (BenchSection)s);
            budget += bench_section_budget(&settings, &plan, (BenchSection)s);
            EXPECT((plan.first[s + 1] > plan.first[s]) == !(quick && s == BENCH_SUSTAINED));
        }
        EXPECT(expected <= settings.budget_seconds + 1e-9);
        EXPECT_NEAR(budget, settings.budget_seconds, 1e-9);
        for (int i = 0; i < plan.count; i++) {
            char name[160], other[160];
            bench_case_name(&plan.cases[i], name, sizeof name);
            if (strcmp(plan.cases[i].operation, "peer_copy") == 0) pairs[plan.cases[i].from][plan.cases[i].to] = 1;
            for (int j = 0; j < i && i < 700; j++) {
                if (plan.cases[i].section != plan.cases[j].section) continue;
                bench_case_name(&plan.cases[j], other, sizeof other);
                twice += strcmp(name, other) == 0 && plan.cases[i].clock == plan.cases[j].clock;
            }
        }
        EXPECT_INT(twice, 0);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) EXPECT_INT(pairs[a][b], a != b);
        bench_plan_close(&plan);
    }
}

TEST(a_gpu_without_units_for_a_type_is_not_asked_for_it) {
    BenchSettings settings = {.budget_seconds = 540};
    BenchMachine machine = bench_supposed_machine();
    machine.capability = 75;
    BenchPlan plan = bench_plan_open(&settings, &machine);
    for (int i = plan.first[BENCH_GEMM]; i < plan.first[BENCH_GEMM + 1]; i++)
        EXPECT(strcmp(plan.cases[i].type, "bf16") != 0 && strcmp(plan.cases[i].type, "fp8") != 0);
    EXPECT_INT(plan.first[BENCH_NCCL], plan.first[BENCH_NCCL + 1]); // one GPU
    bench_plan_close(&plan);
}

// ---- Running it all: what one case does to itself must not reach the others.

typedef struct Rows {
    int measured, failed, skipped, all;
    char failed_text[4][512];
    int failed_texts;
} Rows;

static Rows read_rows(Arena *arena, FILE *stream) {
    Rows rows = {0};
    char line[8192];
    rewind(stream);
    while (fgets(line, sizeof line, stream)) {
        Problems *problems = problems_create(arena);
        const Json *row = json_read_text(arena, "rows", line, strlen(line), problems);
        EXPECT(row);
        if (!row || strcmp(json_text(row, "record", problems), "case") != 0) continue;
        const char *status = json_text(row, "status", problems);
        rows.all++;
        rows.measured += strcmp(status, "measured") == 0;
        rows.skipped += strcmp(status, "skipped") == 0;
        if (strcmp(status, "failed") == 0) {
            if (rows.failed_texts < 4)
                snprintf(rows.failed_text[rows.failed_texts++], 512, "%s", json_text(row, "reason", problems));
            rows.failed++;
        }
    }
    return rows;
}

static Rows run_fake(Arena *arena, Fake *fake, const char *only, double budget, BenchTally *tally, int *planned) {
    BenchSettings settings = {.quick = true, .budget_seconds = budget, .only = only, .grace_seconds = 0.3};
    BenchMachine machine = bench_supposed_machine();
    BenchPlan plan = bench_plan_open(&settings, &machine);
    FILE *out = tmpfile();
    *planned = plan.count;
    *tally = bench_run(&fake_layer, fake, &settings, &plan, out, NULL);
    Rows rows = read_rows(arena, out);
    fclose(out);
    bench_plan_close(&plan);
    return rows;
}

TEST(every_planned_case_gets_a_row) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4};
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, NULL, 100, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT_INT(rows.measured, planned);
    EXPECT_INT(tally.measured, planned);
    arena_close(arena);
}

TEST(a_case_that_fails_costs_itself_only) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .fails_at = "layernorm"};
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, "memory,kernels", 100, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT(rows.failed > 0 && rows.failed < planned / 4);
    EXPECT_INT(rows.measured, planned - rows.failed);
    EXPECT_TEXT(rows.failed_text[0], "fake.cu:12: cudaFake: no such thing");
    arena_close(arena);
}

TEST(a_device_that_is_lost_is_opened_anew_and_the_next_case_is_not_to_blame) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .loses_at = "row_sum"};
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, "kernels", 100, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT_INT(rows.failed, 3); // row_sum itself
    EXPECT_INT(rows.measured, planned - 3);
    EXPECT_CONTAINS(rows.failed_text[0], "an illegal memory access");
    arena_close(arena);
}

TEST(a_driver_that_does_not_answer_is_not_waited_for) {
    Fake fake = {.never_opens = true};
    BenchSettings settings = {.grace_seconds = 0.2};
    BenchMachine machine;
    BenchFault fault;
    EXPECT_INT(bench_probe(&fake_layer, &fake, &settings, &machine, &fault), BENCH_FAILED);
    EXPECT_CONTAINS(fault.text, "did not answer");
    fake.never_opens = false;
    EXPECT_INT(bench_probe(&fake_layer, &fake, &settings, &machine, &fault), BENCH_DONE);
    EXPECT_INT(machine.capability, 90);
}

TEST(a_process_that_dies_costs_one_case_and_another_goes_on_after_it) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .crashes_at = "row_sum"};
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, "kernels", 100, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT_INT(rows.failed, tally.failed);
    EXPECT_INT(rows.failed, 3); // row_sum at three sizes in the quick plan
    EXPECT_INT(rows.measured, planned - 3);
    EXPECT_CONTAINS(rows.failed_text[0], "signal 9");
    arena_close(arena);
}

TEST(a_case_that_never_ends_is_ended_and_costs_itself_only) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .hangs_at = "copy"}; // at four sizes in the quick plan
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, "memory", 100, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT_INT(rows.failed, 4);
    EXPECT_CONTAINS(rows.failed_text[0], "did not end");
    EXPECT_INT(rows.measured, planned - 4);
    arena_close(arena);
}

TEST(a_budget_that_runs_out_skips_the_rest_and_says_so) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .hangs_at = "launch"};
    BenchTally tally;
    int planned;
    Rows rows = run_fake(arena, &fake, "launch,memory", 0.6, &tally, &planned);
    EXPECT_INT(rows.all, planned);
    EXPECT(rows.failed > 0 && rows.failed <= 6);
    EXPECT(rows.skipped > 0);
    EXPECT_INT(rows.measured + rows.failed + rows.skipped, planned);
    arena_close(arena);
}

// Hangs in every section: without an end of everything each of them would take its own grace.
// A soak that was cut short would say that load takes nothing from the clock.
TEST(a_soak_is_whole_or_not_at_all) {
    Arena *arena = arena_open();
    for (int has_time = 0; has_time < 2; has_time++) {
        Fake fake = {.each = 1e-3};
        BenchSettings settings = {.budget_seconds = has_time ? 60 : 6, .only = "sustained", .grace_seconds = 0.3};
        BenchMachine machine = bench_supposed_machine();
        BenchPlan plan = bench_plan_open(&settings, &machine);
        FILE *out = tmpfile();
        bench_run(&fake_layer, &fake, &settings, &plan, out, NULL);
        Rows rows = read_rows(arena, out);
        EXPECT_INT(rows.all, 2);
        EXPECT_INT(rows.measured, 1 + has_time);
        EXPECT_INT(rows.skipped, 1 - has_time);
        fclose(out);
        bench_plan_close(&plan);
    }
    arena_close(arena);
}

TEST(a_device_that_hangs_again_and_again_is_given_up_at_the_end_of_everything) {
    Arena *arena = arena_open();
    Fake fake = {.each = 1e-4, .hangs_at = "copy"};
    BenchSettings settings = {.quick = true, .budget_seconds = 0.5, .only = "memory,launch", .grace_seconds = 0.1};
    BenchMachine machine = bench_supposed_machine();
    BenchPlan plan = bench_plan_open(&settings, &machine);
    FILE *out = tmpfile();
    BenchTally tally = bench_run(&fake_layer, &fake, &settings, &plan, out, NULL);
    Rows rows = read_rows(arena, out);
    EXPECT_INT(rows.all, plan.count); // each case has its row, and the file its end
    EXPECT_INT(tally.measured + tally.skipped + tally.failed, plan.count);
    EXPECT(rows.failed > 0 && rows.skipped > 0);
    fclose(out);
    bench_plan_close(&plan);
    arena_close(arena);
}

// ---- The command.

TEST(calibrate_run_prints_its_plan_without_a_gpu) {
    const Ended *ended = run_command(command_calibrate, "calibrate run --dry-run");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "gemm");
    EXPECT_CONTAINS(ended->out, "virtual");
    EXPECT_CONTAINS(ended->out, "480"); // s at most, and what is expected
    ended = run_command(command_calibrate, "calibrate run --dry-run --quick --only gemm,memory");
    EXPECT_INT(ended->code, 0);
    EXPECT(!strstr(ended->out, "interference"));
    ended = run_command(command_calibrate, "calibrate run --only gem");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "no section is called \"gem\"");
    ended = run_command(command_calibrate, "calibrate run --budget x");
    EXPECT_INT(ended->code, 2);
}

// What measures is another program; one that says how it was called stands in for it. A copy of lockstep, so that no
// program built beside the real one is found.
TEST(calibrate_run_leaves_measuring_to_lockstep_bench) {
    char said[1024];
    const char *const lines =
        "d=$(mktemp -d) && cp $LOCKSTEP $d/lockstep && cd $d && mkdir bin cuda;"
        "PATH=/usr/bin:/bin ./lockstep calibrate run -o x.json 2>&1; echo \"code $?\";"
        "printf '#!/bin/sh\\necho \"path: $*\"; exit 7\\n' >bin/lockstep-bench; chmod +x bin/lockstep-bench;"
        "PATH=$d/bin:/usr/bin:/bin ./lockstep calibrate run --quick -o x.json; echo \"code $?\";"
        "sed s/path/beside/ bin/lockstep-bench >cuda/lockstep-bench; chmod +x cuda/lockstep-bench;"
        "PATH=$d/bin:/usr/bin:/bin ./lockstep calibrate run --only gemm; echo \"code $?\";"
        "./lockstep calibrate run --only gem 2>&1; echo \"code $?\"; ls; cd /; rm -r $d";
    EXPECT_INT(test_shell(lines, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "error: lockstep-bench, which measures, is neither beside this program nor on the PATH\n"
                          "  hint: make cuda builds it where nvcc is found; --dry-run prints the plan here\ncode 1\n");
    EXPECT_CONTAINS(said, "path: --quick -o x.json\ncode 7\n");
    EXPECT_CONTAINS(said, "beside: --only gemm\ncode 7\n");
    EXPECT_CONTAINS(said, "error: no section is called \"gem\"\n"); // and nobody else is asked
    EXPECT_CONTAINS(said, "code 2\nbin\ncuda\nlockstep\n");
}
