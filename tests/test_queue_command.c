// lockstep queue as people and programs use it: its screen, JSON and CSV, mistakes, sizes, scenarios.
#include <math.h>
#include <unistd.h>

#include "scenarios/queue/command_queue.h"
#include "sim/data/csv.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

static const Json *json_of(Arena *arena, const char *line) {
    Problems *problems = problems_create(arena);
    const Ended *ended = run_command(command_queue, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    problems_print(problems, stdout);
    EXPECT(json != NULL);
    return json;
}

TEST(the_screen_shows_policies_side_by_side) {
    const char *line =
        "queue --gpus 16 --node dgx-a100 --sizes 1:0.5,8:0.5 --durations fixed:1h --load 0.8 --jobs 500 --warm-up 0.1 "
        "--policy fifo,easy --seeds 1 -v";
    const char *const says[] = {
        "500 jobs on 16 GPUs (2 x dgx-a100-80gb).\n\n",
        "policy  wait mean  ± 90 %     p50     p95     max   waited  slowdown  in use",
        "fifo        7.1 h  3.51 h  6.98 h    13 h  14.7 h  100.0 %      8.10  78.7 %",
        "easy       1.23 h  0.37 h  1.03 h  3.25 h  4.88 h   80.0 %      2.23  80.1 %",
        "Waiting time (p95) by GPUs of the job\npolicy   1 GPU  8, a node\nfifo    12.9 h       13 h\n"
        "easy    2.31 h      3.6 h\n",
        "Against fifo, on the same jobs\npolicy  wait mean  ± 90 %      p95  ± 90 %  in use  ± 90 %\n"
        "easy      -5.86 h  3.57 h  -5.79 h  3.14 h   2.4 %   6.3 %  shorter wait\n",
        "! a job is as fast wherever it runs: --model NAME simulates its step on what it gets\n",
        "--warm-up 0.24 leaves them out\n",
        "! the mean wait under fifo is 7.10 ± 3.51 h (90 %): to within 5 % it takes about 49,000 jobs a run\n",
        "mean_gpus        4.500 GPUs  assumed\n    as asked\n",
    };
    const Ended *ended = run_wide(command_queue, line);
    EXPECT_INT(ended->code, 0);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) EXPECT_CONTAINS(ended->out, says[i]);
}

TEST(json_has_a_row_for_each_policy_and_class) {
    Arena *arena = arena_open();
    const Json *json = json_of(arena, "queue --gpus 64 --load 0.9 --jobs 800 --seeds 2 --warm-up 0.1 --json");
    const Json *policies = json_get(json, "policies"), *classes = json_get(json, "classes");
    EXPECT(policies && policies->count == 8 && classes && classes->count >= 8 * 3);
    for (int i = 0; policies && i < policies->count; i++) {
        const Json *row = &policies->items[i];
        double p50 = json_get(row, "wait_p50_s")->number, p95 = json_get(row, "wait_p95_s")->number;
        double used = json_get(row, "utilisation")->number, goodput = json_get(row, "goodput")->number;
        EXPECT(p50 <= p95 && p95 <= json_get(row, "wait_max_s")->number);
        EXPECT(used > 0.5 && used <= 1 && goodput <= used + 1e-9);
        EXPECT(json_get(row, "fairness")->number <= 1);
        double jobs = 0;
        for (int c = 0; c < classes->count; c++)
            if (strcmp(json_get(&classes->items[c], "policy")->text, json_get(row, "policy")->text) == 0)
                jobs += json_get(&classes->items[c], "jobs")->number;
        EXPECT_NEAR(jobs, json_get(row, "jobs")->number, 1e-12);
        EXPECT_NEAR(jobs, 720, 1e-12); // less the warm-up
    }
    EXPECT(json_get(json, "digest") && json_get(json, "assumptions")->count > 5);
    arena_close(arena);
}

TEST(the_same_seed_gives_the_same_answer_and_another_another) {
    static const char line[] = "queue --gpus 64 --load 0.9 --jobs 500 --node-mtbf 20d --policy easy --seeds 2 --json";
    Arena *arena = arena_open();
    const char *first = arena_copy_text(arena, run_command(command_queue, line)->out);
    EXPECT_TEXT(run_command(command_queue, line)->out, first);
    EXPECT(strcmp(run_command(command_queue, arena_printf(arena, "%s --seed 2", line))->out, first) != 0);
    arena_close(arena);
}

TEST(a_trace_runs_and_says_what_it_left_out) {
    const Ended *ended = run_command(
        command_queue, "queue --gpus 16 --node dgx-a100 --trace tests/data/traces/helios.csv --policy fifo --plain");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "2 jobs of a trace on 16 GPUs");
    EXPECT_CONTAINS(ended->out, "1 rows of the trace ask for no GPU and are left out");
    EXPECT_CONTAINS(ended->out, "1 rows of the trace never ran and are left out");
    EXPECT_CONTAINS(ended->out, "the scheduler knows how long each job runs");
}

TEST(outcomes_of_every_job_can_be_written) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char path[64];
    snprintf(path, sizeof path, "/tmp/lockstep-queue-%d.csv", (int)getpid());
    const Ended *ended = run_command(command_queue, arena_printf(arena,
                                                                 "queue --gpus 16 --node dgx-a100 --trace "
                                                                 "tests/data/traces/own.csv --policy fifo,easy "
                                                                 "--csv --outcomes %s",
                                                                 path));
    EXPECT_INT(ended->code, 0);
    const Csv *table = csv_read_text(arena, "out", ended->out, problems), *rows = csv_read_file(arena, path, problems);
    EXPECT(table && table->row_count == 2 && rows && rows->row_count == 8);
    // FIFO: 8 GPUs for an hour from 0; 16 wait for them; then 1 and 4.
    EXPECT_TEXT(csv_cell(rows, 1, csv_column(rows, "start_s", problems)), "3600.000000000");
    EXPECT_TEXT(csv_cell(rows, 2, csv_column(rows, "start_s", problems)), "5400.000000000");
    // EASY: the job of one GPU is back in time.
    EXPECT_TEXT(csv_cell(rows, 6, csv_column(rows, "start_s", problems)), "60.000000000");
    EXPECT_TEXT(csv_cell(rows, 6, csv_column(rows, "wait_s", problems)), "0.000000000");
    EXPECT_INT(problem_count(problems), 0);
    remove(path);
    arena_close(arena);
}

TEST(the_number_of_gpus_for_a_waiting_time_is_found) {
    Arena *arena = arena_open();
    static const char line[] = "queue --find-gpus --wait-p95 30min --sizes 1:0.8,8:0.2 --durations exponential:1h "
                               "--jobs-per-hour 30 --jobs 2000 --seeds 3 --policy fifo,easy --json";
    const Json *json = json_of(arena, line), *answers = json_get(json, "answers"), *sizes = json_get(json, "sizes");
    EXPECT(answers && answers->count == 2 && sizes);
    double gpus[2];
    for (int p = 0; answers && p < 2; p++) {
        gpus[p] = json_get(&answers->items[p], "mean_gpus")->number; // three runs tell no chance of 90 %
        EXPECT(json_get(&answers->items[p], "gpus")->number == gpus[p]);
        EXPECT(json_get(&answers->items[p], "sure_gpus")->number >= gpus[p]);
    }
    EXPECT(gpus[1] <= gpus[0] && gpus[1] > 72); // more than the work that comes; backfill needs no more than FIFO
    for (int i = 0; sizes && i < sizes->count; i++) {
        const Json *row = &sizes->items[i];
        double of = gpus[strcmp(json_get(row, "policy")->text, "easy") == 0];
        if (json_get(row, "gpus")->number == of) EXPECT(json_get(row, "wait_s")->number <= 1800);
        if (json_get(row, "gpus")->number == of - 8) EXPECT(json_get(row, "wait_s")->number > 1800);
    }
    const Ended *none = run_command(command_queue, arena_printf(arena, "%s --most-gpus 64", line));
    EXPECT_INT(none->code, 3);
    EXPECT_CONTAINS(none->out, "\"gpus\": null");
    arena_close(arena);
}

TEST(mixes_are_listed_with_their_sources) {
    const Ended *ended = run_command(command_queue, "queue --mixes");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "SenseTime's four clusters");
    EXPECT_CONTAINS(ended->out, " 3.72 ");
    EXPECT_CONTAINS(ended->out, "Narayanan et al., OSDI 2020");
}

TEST(mistakes_are_sentences_with_a_remedy) {
    static const struct {
        const char *line;
        int code;
        const char *says, *hint;
    } cases[] = {
        {"queue --load 0.9", 2, "how many GPUs? --gpus is missing", "--gpus 512"},
        {"queue --gpus 512", 4, "how many jobs come?", "--load 0.9"},
        {"queue --gpus 512 --load 0.9 --jobs-per-hour 3", 2, "--load and --jobs-per-hour say the same", "give one"},
        {"queue --gpus 512 --load 0.9 --policy fifo,eazy", 4, "no policy is called \"eazy\"", "did you mean \"easy\"?"},
        {"queue --gpus 512 --load 0.9 --mix filly", 4, "no mix of jobs is called \"filly\"",
         "did you mean \"philly\"?"},
        {"queue --gpus 8 --load 0.9 --sizes 64", 4, "a job wants 64 GPUs, and the cluster has 8", "as many"},
        {"queue --gpus 64 --load 0.9 --sizes 1:0.7,8:0.2", 4, "sum to 0.9", "1:0.7,8:0.3"},
        {"queue --gpus 64 --load 0.9 --sizes 0:1", 4, "\"0:1\" says no sizes of jobs", "1:0.7"},
        {"queue --gpus 64 --load 0.9 --durations weibull:1h", 4, "says no durations", "lognormal:10min:2h"},
        {"queue --gpus 64 --load 0.9 --durations lognormal:2h:1h", 4, "says no durations", "MEDIAN:MEAN"},
        {"queue --gpus 64 --load 0.9 --burstiness -1", 4, "--burstiness cannot be -1", "from 0"},
        {"queue --gpus 64 --load 0.9 --estimate-error 1e9", 4, "--estimate-error cannot be 1e9", "from 0 to 1000"},
        {"queue --gpus 64 --load 0.9 --repair 1h", 4, "--repair is of no use while nothing fails", "--rates"},
        {"queue --gpus 64 --load 0.9 --wait-p95 1h", 4, "of no use without --find-gpus", "--find-gpus"},
        {"queue --find-gpus --jobs-per-hour 3", 4, "--find-gpus needs a goal", "--wait-p95 1h"},
        {"queue --find-gpus --wait-p95 1h", 4, "how many jobs come?", "example --jobs-per-hour 20"},
        {"queue --find-gpus --wait-p95 1h --wait-p50 1s --jobs-per-hour 3", 4, "two goals", "--wait-p95"},
        {"queue --find-gpus --wait-p95 1h --load 0.5", 4, "a load is a share of the GPUs there are", "--jobs-per-hour"},
        {"queue --find-gpus --gpus 8 --wait-p95 1h --jobs-per-hour 3", 2, "--find-gpus asks for what --gpus says", ""},
        {"queue --gpus 64 --trace nosuch.csv", 4, "nosuch.csv", ""},
        {"queue --gpus 64 --trace tests/data/traces/own.csv --mix philly", 4, "--mix is about drawn jobs", "leave one"},
        {"queue --gpus 8 --trace tests/data/traces/own.csv", 4, "a job wants 16 GPUs", "leave the largest"},
        {"queue --gpus 64 --load 0.9 --node dgx-h10", 4, "dgx-h10", ""},
        {"queue --gpus 64 --load 0.9 --model gpt9", 4, "gpt9", ""},
        {"queue --gpus 64 --jobs-per-hour 1e-6 --jobs 2000000", 4, "these jobs would come over 2.28e+08 years",
         "fewer"},
        {"queue --gpus 64 --load 0.9 --polcy fifo", 2, "polcy", "--policy"},
        {"queue --gpus 64 --load 0.9 extra", 2, "extra", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Ended *ended = run_command(command_queue, cases[i].line);
        if (ended->code != cases[i].code || *ended->out)
            test_fail(__FILE__, __LINE__, "%s: exit %d\n%s", cases[i].line, ended->code, ended->err);
        EXPECT_CONTAINS(ended->err, "error: ");
        EXPECT_CONTAINS(ended->err, cases[i].says);
        EXPECT_CONTAINS(ended->err, cases[i].hint);
    }
}

TEST(what_lies_just_beyond_its_limits_is_refused_with_them) {
    static const struct {
        const char *words, *limits;
    } cases[] = {
        {"--load 0.9 --urgent-share 1.01", "from 0 to 1"},
        {"--load 0.9 --warm-up 0.91", "from 0 to 0.9"},
        {"--load 0.9 --within 1.01", "from 0.0001 to 1"},
        {"--load 101", "from 1e-6 to 100"},
        {"--load 0.9 --elastic 1.01", "from 0.001 to 1"},
        {"--load 0.9 --scaling 1.01", "from 0.01 to 1"},
        {"--load 0.9 --depth 1001", "from 1 to 1000"},
        {"--load 0.9 --burstiness 10001", "from 0 to 10000"},
        {"--load 0.9 --users 0", "from 1 to"},
        {"--load 0.9 --oversubscription 1001", "from 0.1 to"},
        {"--load 0.9 --estimate-error 1001", "from 0 to 1000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        snprintf(line, sizeof line, "queue --gpus 64 %s", cases[i].words);
        const Ended *ended = run_command(command_queue, line);
        if ((ended->code != 2 && ended->code != 4) || *ended->out || !strstr(ended->err, cases[i].limits))
            test_fail(__FILE__, __LINE__, "%s: exit %d\n%s", line, ended->code, ended->err);
    }
}

TEST(a_full_disk_is_an_error_and_exit_1) {
    static char output[4096];
    int status =
        test_shell("$LOCKSTEP queue --gpus 16 --load 0.5 --jobs 50 --policy fifo > /dev/full", output, sizeof output);
    EXPECT_INT(status, 1);
    EXPECT_CONTAINS(output, "error: ");
    status = test_shell("$LOCKSTEP queue --gpus 16 --load 0.5 --jobs 50 --policy fifo --outcomes /nonexistent/x.csv",
                        output, sizeof output);
    EXPECT_INT(status, 1);
    EXPECT_CONTAINS(output, "/nonexistent/x.csv");
}

// ---- In scenarios.

static const char cluster_text[] = "sim.cluster { node = \"dgx-a100\", gpus = 32, fabric = \"ib-hdr200\" }";

TEST(a_scenario_gives_the_answer_of_the_command) {
    Arena *arena = arena_open();
    static char output[1 << 16];
    bool wrote;
    const char *script = arena_printf(
        arena,
        "local sim = require \"lockstep\"\nreturn sim.queue { on = %s, policy = { \"fifo\", \"easy\" }, seeds = 2,\n"
        "  demand = { count = 400, load = 0.9, sizes = \"1:0.6,8:0.4\", durations = \"exponential:1h\" } }\n",
        cluster_text);
    EXPECT_INT(run_script_text(script, "--json --wall=off", output, sizeof output, &wrote), 0);
    Problems *problems = problems_create(arena);
    const Json *said = json_read_text(arena, "out", output, strlen(output), problems);
    const Json *asked =
        json_of(arena, "queue --gpus 32 --node dgx-a100 --fabric ib-hdr200 --policy fifo,easy --seeds 2 "
                       "--jobs 400 --load 0.9 --sizes 1:0.6,8:0.4 --durations exponential:1h --json");
    EXPECT_TEXT(json_get(said, "digest")->text, json_get(asked, "digest")->text);
    arena_close(arena);
}

TEST(a_list_of_jobs_runs_as_written) {
    Arena *arena = arena_open();
    static char output[1 << 16];
    bool wrote;
    const char *script =
        arena_printf(arena,
                     "local sim = require \"lockstep\"\nreturn sim.queue { on = %s, policy = \"fifo\", "
                     "jobs = { { gpus = 32, duration = \"1 h\", user = \"ada\" }, { gpus = 8, duration "
                     "= \"1 h\", submit = \"30 min\", user = \"ben\" } } }\n",
                     cluster_text);
    EXPECT_INT(run_script_text(script, "--json --wall=off", output, sizeof output, &wrote), 0);
    EXPECT_CONTAINS(output, "\"wait_max_s\": 1800");
    EXPECT_CONTAINS(output, "\"makespan_s\": 7200");
    arena_close(arena);
}

TEST(what_a_queue_lacks_is_said_at_its_line) {
    static const struct {
        const char *fields, *says;
    } cases[] = {
        {"", "sim.queue takes its jobs from one of demand, jobs and trace"},
        {"demand = { load = 1 }, trace = \"x.csv\"", "from one of demand, jobs and trace"},
        {"demand = { load = 0.5, per_hour = 3 }", "load and per_hour say the same"},
        {"demand = {}", "how many jobs come?"},
        {"demand = { load = 0.5, sizes = \"x\" }", "says no sizes of jobs"},
        {"trace = \"../x.csv\"", "is no file in the scenario's folder"},
        {"demand = { per_hour = 5 }, goal = {}", "a goal says how long jobs may wait"},
        {"jobs = { { gpus = 64, duration = \"5 s\" } }", "a job wants 64 GPUs, and the cluster has 32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expression[512];
        snprintf(expression, sizeof expression, "sim.queue { on = %s, %s }", cluster_text, cases[i].fields);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT(!loaded.scenario);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].says);
        EXPECT_CONTAINS(first_problem(&loaded), " | ");
        unload(&loaded);
    }
}

TEST(curves_are_drawn_in_the_terminal_and_as_files) {
    static char output[1 << 16];
    char line[512], folder[64];
    EXPECT_INT(test_shell("$LOCKSTEP queue --gpus 16 --load 0.9 --jobs 300 --policy fifo,easy --plot --color never",
                          output, sizeof output),
               0);
    EXPECT_CONTAINS(output, "GPUs in use, first of 5 draws (tables have all)\nfifo ");
    EXPECT_CONTAINS(output, "how long jobs wait, first of 5 draws (tables have all)\n");
    if (test_shell("gnuplot --version", output, sizeof output) != 0) return;
    snprintf(folder, sizeof folder, "/tmp/lockstep-plots-%d", (int)getpid());
    snprintf(
        line, sizeof line,
        "mkdir %s && $LOCKSTEP queue --gpus 16 --load 0.9 --jobs 300 --policy fifo --plot-dir %s --plot-format svg "
        "-o /dev/null && head -c 5 %s/queue-waiting.svg && ls %s && rm -r %s",
        folder, folder, folder, folder, folder);
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "<?xmlqueue-queue.svg\nqueue-utilisation.svg\nqueue-waiting.svg\n");
}

TEST(every_command_line_of_the_manual_runs) { EXPECT_INT(test_page("docs/queue.md", "Assumed"), 6); }
