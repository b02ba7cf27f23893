// Traces of jobs: what is read of each kind, and what is said of what cannot be read.
#include "models/workload/queue/queue.h"

#include <unistd.h>

#include "scenarios/queue/command_queue.h"
#include "tests/command.h"
#include "tests/golden.h"
#include "tests/script.h"
#include "tests/test.h"

#define SECOND TICKS_PER_SECOND_LIFE

static const QueueTrace *sample(Arena *arena, const char *name) {
    Problems *problems = problems_create(arena);
    const QueueTrace *trace = queue_read_trace(arena, arena_printf(arena, "tests/data/traces/%s.csv", name), problems);
    problems_print(problems, stdout);
    EXPECT(trace != NULL);
    return trace;
}

static void expect_job(const QueueTrace *trace, int index, double arrival_s, int gpus, double work_s,
                       double estimate_s) {
    const QueueJob *job = &trace->jobs->items[index];
    EXPECT_INT(job->arrival, llround(arrival_s * 1e9));
    EXPECT_INT(job->gpus, gpus);
    EXPECT_INT(job->work, llround(work_s * 1e9));
    EXPECT_INT(job->estimate, llround(estimate_s * 1e9));
}

TEST(a_trace_in_our_own_words_is_read) {
    Arena *arena = arena_open();
    const QueueTrace *trace = sample(arena, "own");
    EXPECT_INT(trace->jobs->count, 4);
    EXPECT_INT(trace->jobs->user_count, 3);
    expect_job(trace, 0, 0, 8, 3600, 7200);
    expect_job(trace, 1, 30, 16, 1800, 3600); // by arrival, whatever the order of rows
    expect_job(trace, 2, 60, 1, 600, 600);
    expect_job(trace, 3, 90.5, 4, 1, 600); // of 0 s: a part of one
    EXPECT_INT(trace->jobs->items[1].row, 2);
    EXPECT_INT(trace->jobs->items[0].user, trace->jobs->items[1].user);
    EXPECT_INT(trace->jobs->items[2].priority, 1);
    EXPECT(trace->has_estimates);
    arena_close(arena);
}

TEST(the_columns_of_published_traces_are_read) {
    Arena *arena = arena_open();
    const QueueTrace *helios = sample(arena, "helios"), *acme = sample(arena, "acme"),
                     *philly = sample(arena, "philly");
    EXPECT_INT(helios->jobs->count, 2);
    EXPECT_INT(helios->without_gpus, 1);
    EXPECT_INT(helios->never_ran, 1);
    expect_job(helios, 0, 0, 16, 3600, 3600);
    expect_job(helios, 1, 5, 1, 600, 600);
    EXPECT(!helios->has_estimates);
    EXPECT_INT(acme->jobs->count, 2);
    expect_job(acme, 0, 0, 8, 600, 600);
    expect_job(acme, 1, 60, 32, 7200, 7200); // duration from start and end, other time zones
    EXPECT_INT(philly->jobs->count, 2);
    EXPECT_INT(philly->never_ran, 1);
    expect_job(philly, 0, 0, 1, 86400, 86400);
    expect_job(philly, 1, 60, 4, 3600, 3600);
    arena_close(arena);
}

TEST(times_are_seconds_since_1970) {
    double seconds;
    EXPECT(trace_time("1970-01-01 00:00:00", &seconds) && seconds == 0);
    EXPECT(trace_time("2020-02-29T12:00:00", &seconds) && seconds == 1582977600);
    EXPECT(trace_time("2020/03/01 00:00:00.25", &seconds) && seconds == 1583020800.25);
    EXPECT(trace_time("2000-01-01 00:00:00+08:00", &seconds) && seconds == 946684800 - 8 * 3600);
    EXPECT(trace_time("2000-01-01 00:00:00-0330", &seconds) && seconds == 946684800 + 3.5 * 3600);
    static const char *const wrong[] = {"",
                                        "12",
                                        "2000-01-01",
                                        "2000-13-01 00:00:00",
                                        "2000-01-01 24:00:00",
                                        "2000-01-01 00:00:00x",
                                        "2000-01-01 00:00:00+99:00",
                                        "20000-01-01 00:00:00"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) EXPECT(!trace_time(wrong[i], &seconds));
}

TEST(what_is_wrong_with_a_trace_is_said_with_its_line) {
    static const struct {
        const char *text, *place, *says;
    } cases[] = {
        {"submit_s,gpus,duration_s\n0,1,60\n5,two,60\n", "t.csv:3",
         "gpus is \"two\", expected a number of 0 or more, and below 1e9"},
        {"submit_s,gpus,duration_s\n0,1.5,60\n", "t.csv:2", "expected whole GPUs"},
        {"submit_s,gpus,duration_s\n0,1,-60\n", "t.csv:2", "duration_s is \"-60\""},
        {"submit_s,gpus,duration_s\n0,1,nan\n0,1,inf\n", "t.csv:3", "duration_s is \"inf\""},
        {"submit_time,gpu_num,duration\nyesterday,1,5\n", "t.csv:2", "expected seconds, or a time such as 2020-04-01"},
        {"submit_s,gpus,start_s,end_s\n0,1,10,5\n", "t.csv:2", "the job ends before it starts"},
        {"submit_s,gpus,duration_s,priority\n0,1,1,high\n", "t.csv:2", "priority is \"high\""},
        {"submit_s,gpus,duration_s\n0,1\n", "t.csv:2", "2 cells, but the header names 3 columns"},
        {"submit_s,gpus\n0,1\n", "t.csv:1", "the trace has no column duration_s"},
        {"gpus,duration_s\n0,1\n", "t.csv:1", "the trace has no column submit_s"},
        {"submit_s,duration_s\n0,1\n", "t.csv:1", "the trace has no column gpus"},
        {"submit_s,gpus,duration_s\n0,0,5\n", "t.csv", "the trace has no job that ran on GPUs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        char *text = NULL;
        size_t bytes;
        EXPECT(queue_trace_from_text(arena, "t.csv", cases[i].text, problems) == NULL);
        FILE *out = open_memstream(&text, &bytes);
        problems_print(problems, out);
        fclose(out);
        EXPECT_CONTAINS(text, arena_printf(arena, "%s: error: ", cases[i].place));
        EXPECT_CONTAINS(text, cases[i].says);
        free(text);
        arena_close(arena);
    }
}

// Every row of a sound trace with one letter changed: read or refused, and the cluster still runs it.
TEST(a_trace_with_any_letter_changed_is_read_or_refused) {
    static const char sound[] = "user,submit_s,gpus,duration_s\nada,0,8,36\nben,2020-04-01 00:02:39,1,6\n";
    static const char letters[] = "0,9-.:x\n\"";
    int read = 0;
    for (size_t at = 0; sound[at]; at++)
        for (size_t l = 0; letters[l]; l++) {
            Arena *arena = arena_open();
            Problems *problems = problems_create(arena);
            char *text = arena_copy_text(arena, sound);
            text[at] = letters[l];
            const QueueTrace *trace = queue_trace_from_text(arena, "t.csv", text, problems);
            EXPECT((trace != NULL) == (problem_count(problems) == 0));
            read += trace != NULL;
            arena_close(arena);
        }
    EXPECT(read > 50);
}

// ---- Slurm.

TEST(what_sacct_writes_is_read) {
    Arena *arena = arena_open();
    const QueueTrace *trace = sample(arena, "sacct");
    const QueueJobs *jobs = trace->jobs;
    EXPECT_INT(jobs->count, 3);
    EXPECT_INT(trace->steps, 1);
    EXPECT_INT(trace->never_ran, 1);
    EXPECT_INT(trace->without_gpus, 1);
    expect_job(trace, 0, 0, 8, 3600, 7200);
    expect_job(trace, 1, 30, 2, 600, 86400);
    expect_job(trace, 2, 60, 1, 1800, 1800);
    EXPECT_INT(jobs->items[2].share, QUEUE_WHOLE_SHARE / 7 * 2);
    EXPECT_INT(jobs->group_count, 2);
    EXPECT_TEXT(jobs->group_names[jobs->items[0].group], "vision");
    EXPECT_TEXT(jobs->user_names[jobs->items[1].user], "bob");
    EXPECT(trace->has_waits && trace->shares == 1);
    EXPECT_NEAR(trace->waits_s[jobs->items[0].row], 300, 1e-9);
    EXPECT_NEAR(trace->waits_s[jobs->items[2].row], 10, 1e-9);
    arena_close(arena);
}

TEST(a_script_says_quotas_weights_shares_and_elastic_jobs) {
    static const char cluster[] = "on = sim.cluster { node = \"dgx-h100\", gpus = 8 }, policy = \"multifactor\", ";
    static const char jobs[] =
        "jobs = { { gpus = 4, duration = \"1 h\", user = \"ada\" }, { gpus = 4, duration = \"1 h\", user = \"ada\" }, "
        "{ gpus = 1, share = 0.5, duration = \"1 h\", user = \"ben\" } }";
    static const struct {
        const char *rules, *says; // longest wait, or the mistake
    } cases[] = {{"", "\"wait_max_s\": 0"},
                 {"quota = \"ada:4\", weights = \"age:1,share:2\", ", "\"wait_max_s\": 3600"},
                 {"elastic = 0.5, scaling = 0.8, ", "\"elastic\""},
                 {"quota = \"eve:4\", ", "no group is called"},
                 {"weights = \"luck:4\", ", "says no weights"}};
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        bool wrote;
        const char *script = arena_printf(arena, "local sim = require \"lockstep\"\nreturn sim.queue { %s%s%s }\n",
                                          cluster, cases[i].rules, jobs);
        int code = run_script_text(script, "--json --wall=off", output, sizeof output, &wrote);
        EXPECT_INT(code, i < 3 ? 0 : 4);
        EXPECT_CONTAINS(output, cases[i].says);
        arena_close(arena);
    }
}

TEST(slurm_says_lengths_of_time_in_six_ways) {
    const struct {
        const char *text;
        double seconds; // -1: it is none
    } rows[] = {{"1-02:03:04", 93784}, {"02:03:04", 7384}, {"03:04", 184}, {"90", 5400},
                {"2-03", 183600},      {"1-02:03", 93780}, {"", -1},       {"1-", -1},
                {"a:b", -1},           {"1:2:3:4", -1},    {"1--2", -1},   {"-5", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double seconds = -1;
        bool read = slurm_seconds(rows[i].text, &seconds);
        EXPECT_INT(read, rows[i].seconds >= 0);
        if (read) EXPECT_NEAR(seconds, rows[i].seconds, 1e-9);
    }
}

TEST(slurm_names_gpus_by_number_by_type_and_by_slice) {
    const struct {
        const char *text;
        double gpus; // -1: it cannot be read
    } rows[] = {{"cpu=4,gres/gpu=8,node=1", 8},
                {"gres/gpu:a100=4,gres/gpu:h100=2", 6},
                {"gres/gpu=4,gres/gpu:a100=4", 4},
                {"cpu=4,gres/gpumem=80G", 0},
                {"", 0},
                {"gres/gpu:1g.10gb=3", 3.0 / 7},
                {"gres/gpu=x", -1},
                {"gres/gpu=-1", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double gpus = -1;
        bool read = slurm_gpus(rows[i].text, &gpus);
        EXPECT_INT(read, rows[i].gpus >= 0);
        if (read) EXPECT_NEAR(gpus, rows[i].gpus, 1e-12);
    }
}

TEST(fractions_above_one_and_bad_resources_are_errors_with_their_line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    EXPECT(!queue_trace_from_text(arena, "t.csv", "submit_s,gpus,duration_s\n0,0.5,10\n1,1.5,10\n", problems));
    EXPECT(
        !queue_trace_from_text(arena, "s.txt", "JobID|Submit|Start|End|AllocTRES\n1|0|0|5|gres/gpu=many\n", problems));
    EXPECT_INT(problem_count(problems), 2);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "gpus is \"1.5\", expected whole GPUs, or a part of one");
    EXPECT_INT(problem_at(problems, 0)->where.line, 3);
    EXPECT_CONTAINS(problem_at(problems, 1)->text, "AllocTRES is \"gres/gpu=many\", expected resources");
    arena_close(arena);
}

TEST(a_trace_of_several_groups_runs_within_their_quotas) {
    const Ended *ended = run_command(
        command_queue, "queue --gpus 16 --trace tests/data/traces/sacct.csv --policy fifo,multifactor --quota "
                       "vision:8,*:4 --plain");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "\nmeasured\ngpus\tsource\tjobs\twait_mean_s");
    EXPECT_CONTAINS(ended->out, "quotas\t12\tGPUs\tof 2 of 2 groups together, as asked\tassumed");
    ended = run_command(command_queue, "queue --gpus 16 --trace tests/data/traces/sacct.csv --quota vision:4");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "a job of vision wants 8 GPUs, and its quota is 4");
    ended = run_command(command_queue, "queue --gpus 16 --trace tests/data/traces/sacct.csv --quota visoin:8");
    EXPECT_CONTAINS(ended->err, "no group is called \"visoin\"");
    ended = run_command(command_queue, "queue --gpus 16 --load 0.5 --mig");
    EXPECT_CONTAINS(ended->err, "drawn jobs ask for whole GPUs");
    ended = run_command(command_queue, "queue --gpus 16 --load 0.5 --weights age:1,luck:2");
    EXPECT_CONTAINS(ended->err, "\"age:1,luck:2\" says no weights");
}

// ---- Cells at the ends of what may stand there, each in a trace of its own, kept with what becomes of the job.

typedef struct Cell {
    const char *columns, *row; // "%s" is where the values go
    const char *values[40];
} Cell;

static const Cell cells[] = {
    {"submit_s,gpus,duration_s",
     "0,%s,60",
     {"0", "0.4", "0.5", "0.001", "1", "1.5", "2", "1000000", "1000001", "1e9", "-1", "x", "", "1x", "None", "nan"}},
    {"submit_s,gpus,duration_s",
     "0,1,%s",
     {"0", "0.2", "1", "1.5", "999999999", "1e9", "1000000001", "-1", "-0.5", "", "None", "1:00", "x"}},
    {"submit,start,end,gpus",
     "%s,1",
     {"0,0,0", "0,0,1", "0,5,5", "0,5,4", "9,5,6", "5,5,6", "0,1,1000000000", "0,1,1000000001", "0,1,1000000002",
      "0,,5", "0,5,", "0,5,None", "0,Unknown,Unknown", "4294967294,4294967295,4294967295",
      "4294967295,4294967295,4294967296", "0,x,5", "0,5,x", "x,5,6"}},
    {"submit,gpus,duration",
     "2020-01-01 00:00:00,1,60\n%s,1,60",
     {"2020-01-01 00:00:01",
      "2020-01-01T00:00:00.25",
      "2020/01/01 00:00:00",
      "2020-01-01 23:59:59",
      "2020-01-01 24:00:00",
      "2020-01-01 00:60:00",
      "2020-01-01 00:00:60",
      "2020-01-01 00:00:61",
      "2020-02-29 00:00:00",
      "2021-03-01 00:00:00",
      "2020-03-01 00:00:00",
      "2020-12-31 00:00:00",
      "2020-13-01 00:00:00",
      "2020-00-01 00:00:00",
      "2020-01-32 00:00:00",
      "2020-01-00 00:00:00",
      "2020-01-31 00:00:00",
      "1970-01-01 00:00:00",
      "1969-12-31 00:00:00",
      "2100-03-01 00:00:00",
      "2105-01-01 00:00:00",
      "2200-12-31 00:00:00",
      "2201-01-01 00:00:00",
      "2020-01-01 00:00:00Z",
      "2020-01-02T00:00:00+14:00",
      "2020-01-02 00:00:00+14:01",
      "2020-01-02 00:00:00-05:30",
      "2020-01-02 00:00:00+15",
      "2020-01-02 00:00:00+0159",
      "2020-01-02 00:00:00+0160",
      "2020-01-02 00:00:00+1",
      "2020-01-02 00:00",
      "2020-01-02 00:00:00 UTC",
      "2020-1-02 00:00:00",
      "20200102",
      "1577836801"}},
    {"submit_s,gpus,duration_s,time_limit",
     "0,1,60,%s",
     {"0",     "0.5",     "1",     "90",       "1e9",        "1000000001", "UNLIMITED",      "Partition_Limit",
      "",      "04",      "03:04", "02:03:04", "1-02:03:04", "1-02:03",    "1-02",           "1-",
      "1-1-1", "1:2:3:4", "4:",    ":4",       "x",          "-5",         "11574-01:46:40", "11574-01:46:41",
      "NaT"}},
    {"submit_s,gpus,duration_s,priority",
     "0,1,60,%s",
     {"0", "1", "0.5", "1e9", "4294967295", "4294967296", "-1", "", "x"}},
    {"submit_s,start_s,gpus,duration_s,queue_s",
     "10,%s",
     {"10,1,60,", "11,1,60,", "9,1,60,", ",1,60,", "15,1,60,3", ",1,60,0", ",1,60,x", ",1,60,1e9", "x,1,60,"}},
    {"JobID,Submit,Start,End,AllocTRES,ReqTRES",
     "1,0,1,5,\"%s\"",
     {"gres/gpu=8\",\"",
      "\",\"gres/gpu=4",
      "gres/gpu=8\",\"gres/gpu=4",
      "cpu=4\",\"",
      "gres/gpu:a100=2\",\"",
      "gres/gpu=2,gres/gpu:a100=2\",\"",
      "gres/gpu=2,gres/gpu:2g.20gb=2\",\"",
      "gres/gpu=1,gres/gpu:1g.5gb=1\",\"",
      "gres/gpu:7g.80gb=1\",\"",
      "gres/gpu:8g.80gb=1\",\"",
      "gres/gpu:0g.80gb=1\",\"",
      "gres/gpu:1gpu=1\",\"",
      "gres/gpu=0\",\"",
      "gres/gpu=-1\",\"",
      "gres/gpu=1000000\",\"",
      "gres/gpu=1000001\",\"",
      "gres/gpu=x\",\"",
      "gres/gpu\",\"",
      "gres/gpumem=4\",\"",
      "cpu=64,gres/gpu=8,node=1\",\"",
      "\",\""}},
    {"JobID,Submit,Start,End,AllocTRES", "%s,0,1,5,gres/gpu=1", {"1", "1.0", "1.batch", "1_2", "1+1"}},
    {"job_id,submit_s,gpus,duration_s,user,vc", "%s", {"1.0,0,1,60,a,b", "1,0,1,60,,b\n2,1,1,60,a,b\n3,2,1,60,a,c"}},
    {"submit_s,gpus,duration_s,group", "0,1,60,%s", {"a", "a\n5,2,60,b\n3,4,60,a"}},
    {"%s",
     "0,1,2,3",
     {"submit_s,gpus,duration_s,x", "Submit_Time,GPU_NUM,Run_Time,x", "submitted_time,num_gpus,start,end",
      "submit,start,end,x", "submit,gpus,start,x", "submit,gpus,x,end", "gpus,duration_s,x,y",
      "submit,reqtres,start,end"}},
};

static void keep_trace(const char *path, FILE *out) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const QueueTrace *trace = queue_read_trace(arena, path, problems);
    fprintf(out, ": %d problems", problem_count(problems));
    if (trace) fprintf(out, ", %d %d %d, %.10g s", trace->without_gpus, trace->never_ran, trace->steps, trace->span_s);
    for (int i = 0; trace && i < trace->jobs->count; i++) {
        const QueueJob *job = &trace->jobs->items[i];
        double wait_s = trace->waits_s[job->row];
        fprintf(out, "; %.10g %d/%d %.10g %.10g user %d group %d priority %d", (double)job->arrival / 1e9, job->gpus,
                job->share, (double)job->work / 1e9, (double)job->estimate / 1e9, job->user, job->group, job->priority);
        if (!isnan(wait_s)) fprintf(out, " wait %.10g", wait_s);
    }
    fprintf(out, "\n");
    arena_close(arena);
}

// `into` is `format` with a value for its "%s".
static void fill(char *into, size_t bytes, const char *format, const char *value) {
    const char *at = strstr(format, "%s");
    int before = (int)(at ? at - format : (long)strlen(format));
    snprintf(into, bytes, "%.*s%s%s", before, format, at ? value : "", at ? at + 2 : "");
}

TEST(cells_at_the_ends_of_what_a_trace_may_say_are_read_as_they_were) {
    char path[] = "/tmp/lockstep-trace-XXXXXX";
    int file = mkstemp(path);
    EXPECT(file >= 0);
    GoldenText *text = golden_open();
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
        for (int v = 0; v < 40 && cells[c].values[v]; v++) {
            char columns[200], row[200];
            fill(columns, sizeof columns, cells[c].columns, cells[c].values[v]);
            fill(row, sizeof row, cells[c].row, cells[c].values[v]);
            FILE *out = fopen(path, "w");
            EXPECT(out && fprintf(out, "%s\n%s\n", columns, row) > 0 && fclose(out) == 0);
            for (char *at = row; (at = strchr(at, '\n')) != NULL;) *at = '|';
            fprintf(text->out, "%s: %s", columns, row);
            keep_trace(path, text->out);
        }
    golden_compare("traces.txt", text);
    close(file);
    unlink(path);
}

// ---- Sizes and durations in words.

TEST(sizes_and_durations_at_the_ends_of_what_may_be_said_are_read_as_they_were) {
    static const char *const sizes[] = {"1:1",     "1:0",     "1:1e9",  "1:1e10",    "1:-1",      "0:1", "1:1,2:3",
                                        "1:1,1:1", "2:1,1:1", "1:1,",   "1",         "1:",        ":1",  "1:x",
                                        "x:1",     "1.5:1",   "8:1e-9", "1000000:1", "1000001:1", "",    "1:1,2:1,4:2"},
                             *const durations[] = {"fixed:1s",        "fixed:0s",        "fixed:1",
                                                   "fixed:1e9s",      "fixed:2e9s",      "exponential:1h",
                                                   "exponential:0s",  "lognormal:1h:1h", "lognormal:1h:2h",
                                                   "lognormal:2h:1h", "lognormal:1h",    "fixed:1h:1h",
                                                   "even:1h",         "fixed",           "",
                                                   "fixed:",          "exponential:1ns", "lognormal:1s:1000d"};
    Arena *arena = arena_open();
    GoldenText *text = golden_open();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Problems *problems = problems_create(arena);
        Sizes read = {0};
        bool is_read = sizes_from_text(sizes[i], (Where){0}, &read, problems);
        fprintf(text->out, "%s: %d problems, %.10g GPUs of %d\n", sizes[i], problem_count(problems),
                is_read ? sizes_mean(&read) : 0, is_read ? read.count : 0);
    }
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        Problems *problems = problems_create(arena);
        Durations read = {0};
        bool is_read = durations_from_text(durations[i], (Where){0}, &read, problems);
        fprintf(text->out, "%s: %d problems, kind %d, %.10g s, median %.10g s, sigma %.10g\n", durations[i],
                problem_count(problems), is_read ? (int)read.kind : -1, is_read ? durations_mean(&read) : 0,
                is_read ? read.median_s : 0, is_read ? read.sigma : 0);
    }
    golden_compare("queue_words.txt", text);
    arena_close(arena);
}
