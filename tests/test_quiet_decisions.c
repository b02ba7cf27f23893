// Nothing decides quietly: what has two readings, what is given twice and what would have no effect is an error at
// every door, with what was probably meant.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/software.h"
#include "sim/base/arena.h"
#include "sim/base/quantity.h"
#include "tests/script.h"
#include "tests/test.h"

#define PRINTED 32768
static char printed[PRINTED];

static int run(const char *arguments) {
    char command[2048];
    snprintf(command, sizeof command, "$LOCKSTEP %s", arguments);
    return test_shell(command, printed, sizeof printed);
}

typedef struct Said {
    const char *arguments;
    int status; // -1: whichever
    const char *says;
} Said;

static void all_say(const Said *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int status = run(rows[i].arguments);
        bool right = (rows[i].status < 0 || status == rows[i].status) && strstr(printed, rows[i].says);
        if (!right)
            test_fail(__FILE__, __LINE__, "lockstep %s ends with %d and lacks \"%s\":\n%s", rows[i].arguments, status,
                      rows[i].says, printed);
    }
}
#define ALL_SAY(rows) all_say(rows, sizeof rows / sizeof *rows)

// ---- Bare numbers.

#define PLAN "plan --model gpt2-124m --node dgx-a100 --gpus 8 --tokens 1B "
#define QUEUE "queue --gpus 64 --load 0.5 --jobs 50 "
#define GOODPUT "goodput --gpus 64 --days 3 --runs 3 "
#define RUN "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 "

TEST(a_time_without_a_unit_is_refused_with_both_readings_in_options) {
    static const Said rows[] = {
        {PLAN "--by 30", 2, "--by: 30 has no unit: days (\"30d\") or seconds (\"30s\")?"},
        {PLAN "--checkpoint-every 1", 2, "1 has no unit: minutes (\"1min\") or seconds (\"1s\")?"},
        {PLAN "--node-mtbf 300", 2, "300 has no unit: days (\"300d\") or seconds (\"300s\")?"},
        {GOODPUT "--checkpoint-every 1", -1, "1 has no unit: minutes (\"1min\") or seconds (\"1s\")?"},
        {GOODPUT "--repair=6", 2, "6 has no unit: hours (\"6h\") or seconds (\"6s\")?"},
        {QUEUE "--half-life 7", 2, "7 has no unit: hours (\"7h\") or seconds (\"7s\")?"},
        {QUEUE "--durations fixed:1", 4, "times with their units"},
        {"cost --node dgx-h100 --gpus 8 --run 30", 2, "30 has no unit: days (\"30d\") or seconds (\"30s\")?"},
        {"packets incast --latency 500", 2, "500 has no unit: nanoseconds (\"500ns\") or seconds (\"500s\")?"},
        {RUN "--cpu-per-kernel 20", -1, "20 has no unit: microseconds (\"20us\") or seconds (\"20s\")?"},
        {RUN "--horovod-cycle 5", -1, "5 has no unit: milliseconds (\"5ms\") or seconds (\"5s\")?"},
        {RUN "--time-limit 5", 2, "5 has no unit: minutes (\"5min\") or seconds (\"5s\")?"},
        {"sweep --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --vary cpu_per_step=1,2 -o /dev/null", 4,
         "1 has no unit: milliseconds (\"1ms\") or seconds (\"1s\")?"},
    };
    ALL_SAY(rows);
}

TEST(zero_needs_no_unit_and_days_are_counted_where_the_name_says_so) {
    EXPECT_INT(run(RUN "--cpu-per-step 0"), 0);
    EXPECT_INT(run(GOODPUT "--detect 0"), 0);
    EXPECT_INT(run("goodput --gpus 64 --days 3 --runs 3 --checkpoint-every 90s"), 0);
}

TEST(data_and_bandwidth_without_a_unit_are_refused_with_both_readings) {
    static const Said rows[] = {
        {RUN "--bucket 25", -1, "25 has no unit: mebibytes (\"25MiB\") or bytes (\"25B\")?"},
        {RUN "--horovod-fusion 64", -1, "64 has no unit: mebibytes (\"64MiB\") or bytes (\"64B\")?"},
        {GOODPUT "--checkpoint-size 100", 2, "100 has no unit: gigabytes (\"100GB\") or bytes (\"100B\")?"},
        {"cost --node aws-p5.48xlarge --gpus 8 --storage 100", 2,
         "100 has no unit: terabytes (\"100TB\") or bytes (\"100B\")?"},
        {"packets incast --size 100", 2, "100 has no unit: kilobytes (\"100kB\") or bytes (\"100B\")?"},
        {"packets incast --payload 1500", 2, "1500 has no unit: kilobytes (\"1500kB\") or bytes (\"1500B\")?"},
        {"packets incast --buffer 4", 2, "4 has no unit: megabytes (\"4MB\") or bytes (\"4B\")?"},
        {RUN "--fabric eth-25g:lan:uplink=10", 4, "10 has no unit: gigabits per second"},
    };
    ALL_SAY(rows);
    EXPECT_INT(run(RUN "--bucket 25MiB"), 0);
    EXPECT_INT(run(RUN "--sample-bytes 1000"), 0); // the name says the unit
}

TEST(scripts_and_settings_know_the_same_rule) {
    static const struct {
        const char *expression, *says;
    } rows[] = {
        {"sim.training { model = 'gpt2-124m', batch = { micro = 1 }, cpu_per_step = 2 }",
         "cpu_per_step of training: 2 has no unit: milliseconds (\"2ms\") or seconds (\"2s\")?"},
        {"sim.training { model = 'gpt2-124m', batch = { micro = 1 }, cpu_per_step = '2' }", "2 has no unit"},
        {"sim.training { model = 'gpt2-124m', batch = { micro = 1 }, bucket = 25 }", "25 has no unit: mebibytes"},
        {"sim.training { model = 'gpt2-124m', batch = { micro = 1 }, checkpoint = { every = 30 } }",
         "every of training.checkpoint: 30 has no unit: minutes (\"30min\") or seconds (\"30s\")?"},
        {"sim.cluster { node = 'dgx-a100', gpus = 8, faults = { node_mtbf = 20000 } }",
         "20000 has no unit: hours (\"20000h\") or seconds (\"20000s\")?"},
        {"sim.cluster { node = 'dgx-a100', gpus = 8, pcie = 16 }", "16 has no unit: gigabits per second"},
        {"sim.training { model = 'gpt2-124m', batch = { micro = 1 } }:expect { step_time = '< 2' }",
         "step_time of job:expect: 2 has no unit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Loaded loaded = load_returning(rows[i].expression, NULL);
        EXPECT(!loaded.scenario);
        EXPECT_CONTAINS(first_problem(&loaded), rows[i].says);
        EXPECT_CONTAINS(first_problem(&loaded), " | for example: ");
        unload(&loaded);
    }
    static const char study[] = "local sim = require \"lockstep\"\n"
                                "return sim.study { on = sim.cluster { node = \"dgx-a100\", gpus = 8 },\n"
                                "  run = sim.training { model = \"gpt2-124m\", batch = { micro = 1 }, tokens = 1e9,\n"
                                "    checkpoint = { every = \"1 h\" } } }\n";
    EXPECT_INT(run_script_text(study, "--set training.checkpoint.every=30", printed, sizeof printed, NULL), 4);
    EXPECT_CONTAINS(printed, "30 has no unit: minutes (\"30min\") or seconds (\"30s\")?");
    EXPECT_INT(run_script_text(study, "--set training.checkpoint.every=30min", printed, sizeof printed, NULL), 0);
}

// ---- Dates.

static double days_until(const char *text, const char *today) {
    Date from;
    double seconds = -86400;
    char why[QUANTITY_WHY] = "";
    EXPECT(date_parse(today, &from));
    return deadline_parse(text, from, &seconds, why) ? seconds / 86400 : -1;
}

TEST(a_deadline_is_a_time_or_the_end_of_a_day_or_month) {
    EXPECT_NEAR(days_until("2026-11-23", "2026-11-23"), 1, 0); // today, to its end
    EXPECT_NEAR(days_until("2027-02-01", "2026-11-23"), 71, 0);
    EXPECT_NEAR(days_until("2027-02", "2027-02-28"), 1, 0);
    EXPECT_NEAR(days_until("2028-02", "2028-02-01"), 29, 0); // a leap year
    EXPECT_NEAR(days_until("2027-03", "2027-01-01"), 90, 0); // the end of March
    EXPECT_NEAR(days_until("2027-12", "2027-12-31"), 1, 0);
    EXPECT_NEAR(days_until("30d", "2026-11-23"), 30, 0);
    EXPECT_NEAR(days_until("2 weeks", "2026-11-23"), 14, 0);
    static const char *const none[] = {"2026-11-22", "2026-10", "2027-13", "2027-02-30", "2027-2-1", "30", "soon", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) EXPECT_NEAR(days_until(none[i], "2026-11-23"), -1, 0);
}

TEST(a_plan_by_a_day_says_from_which_day_it_counts) {
    EXPECT_INT(run(PLAN "--by 2027-02 --date 2027-01-30 -v"), 0);
    EXPECT_CONTAINS(printed, "the end of 2027-02: 30 days from 2027-01-30\n");
    EXPECT_INT(run(PLAN "--by 30d --date 2027-01-30 --csv"), 0);
    char by_time[PRINTED];
    snprintf(by_time, sizeof by_time, "%s", printed);
    EXPECT_INT(run(PLAN "--by 2027-02 --date 2027-01-30 --csv"), 0);
    EXPECT_TEXT(printed, by_time);
    static const Said rows[] = {
        {PLAN "--by 2026-11-01 --date 2026-11-23", 2, "2026-11-01 is over: today is 2026-11-23"},
        {PLAN "--by 2027-02-30", 2, "2027-02-30 is no day of the calendar"},
        {PLAN "--by 0", 2, "--by 0 leaves no time"},
        {PLAN "--by march", 2, "expected a time"},
    };
    ALL_SAY(rows);
}

// ---- The line itself, and what it names.

TEST(what_is_missing_on_the_line_ends_with_2_and_what_cannot_be_with_4_at_every_command) {
    static const Said rows[] = {
        {"memory --gpu A100", 2, "--model is missing"},
        {"flops", 2, "--model is missing"},
        {"params", 2, "--model is missing"},
        {"plan --model gpt2-124m --node dgx-a100", 2, "--gpus is missing"},
        {"run --model gpt2-124m --gpus 8", 2, "--node is missing"},
        {"run --model gpt2-124m --node dgx-a100", 2, "--gpus is missing"},
        {"run --node dgx-a100 --gpus 8", 2, ""},
        {"goodput --days 3", 2, "--gpus is missing"},
        {"goodput --gpus 64", 2, "for how long?"},
        {"goodput --gpus 64 --days 3 --work 3", 2, "say the same"},
        {"queue --load 0.5", 2, "--gpus is missing"},
        {"queue --gpus 64 --load 0.5 --jobs-per-hour 3", 2, "say the same"},
        {"cost", 2, "--node is missing"},
        {"power", 2, "--node is missing"},
        {"cost --node dgx-h100 --gpus 8 --nodes 1", 2, "say the same"},
        {"collective", 2, "collective needs an operation"},
        {"topo", 2, "topo needs a node"},
        {"packets", 2, "packets needs a pattern"},
        {"lesson", 2, "lesson needs a word"},
        {"hw show", 2, "hw show needs a name"},
        {"model show", 2, "which model"},
        {"sweep", 2, "what is to be simulated?"},
        {"merge", 2, "which stores?"},
        {"memory --model gpt2-124m --gpu H10O", 4, "did you mean \"H100\"?"},
        {"goodput --gpus 64 --days 3 --node dgx-h10O", 4, "dgx-h100"},
        {"plan --model gpt2-124n --node dgx-a100 --gpus 8 --tokens 1B", 4, "gpt2-124m"},
        {"cost --node nosuch", 4, "no node is called"},
        {"run nosuch.lua", 4, "cannot be read"},
    };
    ALL_SAY(rows);
}

TEST(nothing_is_called_by_an_empty_name) {
    static const Said rows[] = {
        {"memory --model gpt2-124m --gpu ''", 2, "--gpu is empty"},
        {"memory --model= --gpu A100", 2, "--model is empty"},
        {"goodput --gpus '' --days 3", 2, "--gpus is empty"},
        {"hw show ''", 2, "hw show needs a name"},
        {"model show ''", 2, "which model"},
    };
    ALL_SAY(rows);
    Loaded loaded = load_returning("sim.cluster { node = '', gpus = 8 }", NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "the name of a node is empty");
    unload(&loaded);
}

TEST(no_gpus_are_not_missing_gpus) {
    static const Said rows[] = {
        {"goodput --gpus 0 --days 3", 4, "--gpus 0: there is no job without a GPU"},
        {"queue --gpus 0 --load 0.5", 4, "--gpus cannot be \"0\""},
        {"run --model gpt2-124m --node dgx-a100 --gpus 0", 4, "--gpus 0 is no number of GPUs"},
        {"plan --model gpt2-124m --node dgx-a100 --gpus 0 --tokens 1B", 4, "--gpus 0 is no number of GPUs"},
        {"collective all_reduce --node dgx-a100 --gpus 0", 4, "0 GPUs"},
    };
    ALL_SAY(rows);
}

TEST(limits_are_said_in_the_units_of_the_option) {
    static const Said rows[] = {
        {GOODPUT "--restart 200d", 4, "--restart cannot be 200 days"},
        {GOODPUT "--shape 9", 4, "from 0.2 to 5"},
        {QUEUE "--half-life 1ms", 4, "--half-life cannot be 1 ms"},
        {QUEUE "--burstiness -1", 4, "--burstiness cannot be -1"},
        {"memory --model gpt2-124m --gpu A100 --global-batch 0", 4, "from 1 to 1 T"},
    };
    ALL_SAY(rows);
}

TEST(expectations_that_do_not_hold_are_said_in_units_and_never_as_nan) {
    static const char study[] =
        "local sim = require \"lockstep\"\n"
        "local job = sim.training { model = \"gpt2-124m\", batch = { micro = %d } }\n"
        "job:expect { memory = \"< 1 GiB\", mfu = \"> 0.99\", step_time = \"< 1 us\", days = \"< 3\" }\n"
        "return sim.study { on = sim.cluster { node = \"dgx-a100\", gpus = 8 }, run = job }\n";
    char text[1024];
    snprintf(text, sizeof text, study, 1);
    EXPECT_INT(run_script_text(text, "", printed, sizeof printed, NULL), 3);
    EXPECT_CONTAINS(printed, "expected memory < 1 GiB, got ");
    EXPECT_CONTAINS(printed, "expected step_time < 1 us, got ");
    EXPECT_CONTAINS(printed, "expected days < 3, but with 8 GPUs there is none: say tokens, or samples and epochs");
    EXPECT(!strstr(printed, "nan"));
    snprintf(text, sizeof text, study, 100000);
    EXPECT_INT(run_script_text(text, "", printed, sizeof printed, NULL), 3);
    EXPECT_CONTAINS(printed, "expected mfu > 0.99, but with 8 GPUs it does not run: needs ");
    EXPECT(!strstr(printed, "got nan"));
}

// ---- Given twice, or of the wrong size.

TEST(an_algorithm_that_does_not_run_there_is_an_error_that_names_what_would) {
    static const Said rows[] = {
        {"collective all_reduce --node dgx-a100 --sizes 1M --algo nvls", 4,
         "nvls does not run all_reduce on these 8 GPUs; nccl would run ring"},
        {"collective all_gather --node dgx-a100 --sizes 1M --algo pat", 4, "pat does not run all_gather"},
        {"collective all_reduce --node dgx-h100 --nodes 2 --fabric ib-ndr400 --sizes 64M --algo nvls", 4,
         "leave --algo out, or ask for --algo nvls_tree"},
        {"collective all_reduce --node dgx-h100 --sizes 1M --algo nvls --proto LL", 4,
         "nvls of all_reduce has no protocol LL on these 8 GPUs; nccl would run Simple"},
    };
    ALL_SAY(rows);
    EXPECT_INT(run("collective all_reduce --node dgx-h100 --sizes 1M --algo nvls"), 0);
    EXPECT_INT(run("collective all_reduce --node dgx-a100 --sizes 1M --algo tree --proto LL128"), 0);
}

TEST(factors_of_links_are_as_many_as_nodes) {
    Loaded loaded = load_returning("sim.cluster { node = 'dgx-a100', gpus = 16, fabric = 'ib-hdr200', "
                                   "link_speed = { 1, 1, 0.5 } }",
                                   NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "link_speed has 3 factors, and the cluster has 2 nodes");
    unload(&loaded);
}

TEST(a_run_has_one_length_and_epochs_are_of_samples) {
    static const Said rows[] = {
        {RUN "--tokens 1B --samples 1M", 4, "tokens and samples both say how long the run is"},
        {RUN "--tokens 1B --epochs 3", 4, "tokens and epochs both say how long the run is"},
        {RUN "--tokens 1B --samples 1M --epochs 3", 4, "tokens and samples x epochs both say how long the run is"},
        {PLAN "--samples 1M", 4, "tokens and samples both say"},
        {RUN "--epochs 3", 4, "epochs are passes over samples, and samples is not said"},
        {RUN "--tokens 1B --tokens 2B", 2, "--tokens is given twice"},
        {RUN "--global-batch 64 --global-batch-size 32", 2, "--global-batch is given twice"},
        {RUN "--zero 2 --use-distributed-optimizer", 4, "zero is said twice"},
    };
    ALL_SAY(rows);
    EXPECT_INT(run(RUN "--samples 1M --epochs 3"), 0); // one wish
    EXPECT_INT(run(RUN "--tokens 1B --epochs 1"), 0);  // all of it once
    Loaded loaded = load_returning(
        "sim.training { model = 'gpt2-124m', batch = { micro = 1 }, tokens = 1e9, samples = 1e6 }", NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "tokens and samples both say how long the run is");
    unload(&loaded);
}

TEST(a_torus_that_has_another_number_of_places_says_so) {
    EXPECT_INT(
        run("run --model gpt2-124m --node dgx-a100 --gpus 104 --micro-batch 1 --fabric ib-hdr200:torus:dims=3x4"), 4);
    EXPECT_CONTAINS(printed, "the torus has room for 12 nodes, not for 13");
}

// ---- Without effect.

TEST(what_a_model_cannot_be_given_is_refused) {
    static const Said rows[] = {
        {"memory --model resnet-50 --gpu A100 --micro-batch 32 --loss-chunks 8", 4, "loss_chunks"},
        {"run --model resnet-50 --node dgx-a100 --gpus 8 --micro-batch 32 --seq 512", 4, "takes no sequences"},
        {RUN "--vpp 2", 4, "vpp 2 interleaves pipeline stages, but pp is 1"},
        {RUN "--image-size 224", 4, "takes no images"},
    };
    ALL_SAY(rows);
}

TEST(software_is_known_by_whole_words) {
    static const Said rows[] = {
        {RUN "--software nemoo", 4, "did you mean \"nemo\"?"},
        {RUN "--software supertorchtitan", 4, "no software is known"},
        {"job software megatronic", 4, "no software is known"},
    };
    ALL_SAY(rows);
    static const char *const known[] = {"'nemo 24.07'", "nemo24.07", "huggingface", "'Hugging Face'",
                                        "kempnerforge", "paxml",     "fsdp2",       "megatron-deepspeed"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char command[128];
        snprintf(command, sizeof command, "job software %s", known[i]);
        if (run(command) != 0) test_fail(__FILE__, __LINE__, "%s: %s", known[i], printed);
    }
}

TEST(software_is_any_word_that_its_list_has_and_of_today_where_no_date_is_told) {
    Arena *arena = arena_open();
    for (int i = 0; i < software_rule_count(); i++) {
        const char *words = software_rule(i)->also || software_rule(i)->until > 0 ? "" : software_rule(i)->word;
        for (const char *word = words; *word; word += strcspn(word, "|") + (word[strcspn(word, "|")] == '|')) {
            char command[128];
            snprintf(command, sizeof command, "job software '%.*s'", (int)strcspn(word, "|"), word);
            if (run(command) != 0) test_fail(__FILE__, __LINE__, "%s: %s", command, printed);
        }
    }
    EXPECT_INT(run("job software 24.07"), 0);
    const Model *model = find_model(arena, "gpt2-124m", (Where){0}, problems_create(arena));
    SoftwareQuery today = {.text = "hf trainer", .gpu_year = 2020, .model = model};
    EXPECT(find_software(arena, &today, (Where){0}, problems_create(arena))->attention != ATTENTION_PLAIN);
    SoftwareQuery then = {.text = "hf trainer 2022-05", .gpu_year = 2020, .model = model};
    EXPECT_INT(find_software(arena, &then, (Where){0}, problems_create(arena))->attention, ATTENTION_PLAIN);
    arena_close(arena);
}

TEST(what_is_said_is_taken_as_it_is_meant_or_asked_back) {
    static const Said rows[] = {
        {"run --model gpt2-124m --node h100 --gpus 8 --micro-batch 1", 4, "nodes with such GPUs: dgx-h100, "},
        {"run --model gpt2-124m --node nowhere --gpus 8 --micro-batch 1", 4, "no node is called"},
        {RUN "--attention flash3", 4, "A100-SXM4-80GB has no flash3"},
        {"run --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --attention flash4", 4, "has no flash4"},
        {"run --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --precision fp8 --fp8-recipe mxfp8", 4,
         "use --fp8-recipe blockwise"},
        {"run --model gpt2-124m --node dgx-b200 --gpus 8 --micro-batch 1 --precision fp8 --fp8-recipe mxfp8", 0, ""},
        {"run --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --precision fp4", 4, "--precision fp8"},
        {"run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --precision fp8", 4, "--precision bf16"},
        {"run --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --attention flash3", 0, "a step takes"},
        {"explain --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --date 2026-01-01", 2,
         "no option is called \"--date\""},
        {"trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --date 2026-01-01", 2,
         "no option is called \"--date\""},
        {"run --model gpt2-124m --node rtx4090-workstation --gpus 4 --micro-batch 1", 0, "over eth-1g"},
        {"plan --model gpt2-124m --node rtx4090-workstation --gpus 4 --tokens 1B --global-batch 64 --tp 1 --pp 1", 0,
         "eth-1g between nodes: --fabric"},
        {"cost --node rtx4090-workstation --gpus 4", 0, "eth-1g"},
        {"run --model gpt2-124m --node dgx-a100 --gpus 16 --micro-batch 1", 0, "over ib-hdr200"},
        {"goodput --gpus 64 --days 2 --runs 5 --model tests/data/hf/llama-3-8b.json", 0, "Goodput"},
    };
    ALL_SAY(rows);
    static char said[1 << 16];
    EXPECT_INT(run(RUN "--seq 1k --software nemo --attention flash2 --json"), 0);
    snprintf(said, sizeof said, "%s", printed);
    EXPECT_CONTAINS(said, "\"value\": \"1024 tokens\"");
    const char *list = strstr(said, "\"assumptions\"");
    static const char *const stated[] = {"sequence", "attention", "software"};
    for (int i = 0; i < 3 && list; i++) {
        char name[64];
        snprintf(name, sizeof name, "\"name\": \"%s\"", stated[i]);
        const char *at = strstr(list, name), *kind = at ? strstr(at, "\"kind\": ") : NULL;
        EXPECT(kind && strncmp(kind, "\"kind\": \"stated\"", 16) == 0);
    }
}

// ---- Whatever a newcomer types.

// A number as printf has it: "1e+09", "nan", "inf", outside of quotes.
static bool has_raw_number(const char *line) {
    bool quoted = false;
    for (const char *at = line; *at && *at != '\n'; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        bool exponent =
            at > line && at[-1] >= '0' && at[-1] <= '9' && (strncmp(at, "e+", 2) == 0 || strncmp(at, "e-0", 3) == 0);
        bool word_begins = at == line || at[-1] == ' ' || at[-1] == '-';
        bool none = word_begins && (strncmp(at, "nan", 3) == 0 || strncmp(at, "inf", 3) == 0) &&
                    (at[3] == ' ' || at[3] == '\n' || at[3] == '%' || at[3] == ',');
        if (exponent || none) return true;
    }
    return false;
}

static void lines_are_fit_to_read(const char *arguments) {
    const char *errors[64];
    int count = 0;
    for (const char *line = printed; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        bool error = strncmp(line, "error: ", 7) == 0 || strncmp(line, "--", 2) == 0;
        if (!error && strncmp(line, "  hint: ", 8) != 0) continue;
        if (has_raw_number(line)) test_fail(__FILE__, __LINE__, "lockstep %s says %.160s", arguments, line);
        size_t length = strcspn(line, "\n");
        for (int i = 0; error && i < count; i++)
            if (strncmp(errors[i], line, length + 1) == 0)
                test_fail(__FILE__, __LINE__, "lockstep %s says twice %.160s", arguments, line);
        if (error && count < 64) errors[count++] = line;
    }
}

TEST(lines_that_newcomers_type_end_with_one_sentence_each_and_a_remedy) {
    static const Said rows[] = {
        {"rum x.lua", 2, "did you mean \"run\"?"},
        {"memery", 2, "did you mean \"memory\"?"},
        {"hw lst", 2, "did you mean \"list\"?"},
        {"hw list nod", 2, "did you mean \"node\"?"},
        {"hw show h10o", 4, "did you mean \"H100\"?"},
        {"hw check", 2, "needs a file"},
        {"model lst", 2, "did you mean \"list\"?"},
        {"model show gpt2-125m", 4, "did you mean"},
        {"model show", 2, "which model"},
        {"job feilds", 2, "did you mean \"fields\"?"},
        {"job software", -1, ""},
        {"job strategies", -1, ""},
        {"constants foo", 2, "known: "},
        {"validate trianing", 2, "did you mean \"training\"?"},
        {"validate", 2, ""},
        {"validate training nosuch.csv", 4, "nosuch.csv"},
        {"calibrate shw", 2, "did you mean \"show\"?"},
        {"calibrate fit nosuch.json", -1, "error: "},
        {"calibrate", 2, ""},
        {"completion bsh", 2, ""},
        {"memory --modle=gpt2 --gpu A100", 2, "did you mean \"--model\"?"},
        {"memory --model gpt2 --gpu A100 --micro-bach 4", 2, "did you mean \"--micro-batch\"?"},
        {"memory --model gpt2 --gpu A100 --precision bf61", 4, "did you mean \"bf16\"?"},
        {"memory --model gpt2 --gpu A100 --zero 4", 4, "from 0 to 3"},
        {"memory --model gpt2 --gpu A100 --tp two", 4, "\"two\""},
        {"memory --model gpt2 A100", 2, "A100"},
        {"flops --model lama-2-7b", 4, "did you mean \"llama-2-7b\"?"},
        {"flops --model gpt2 --seq -1", -1, "error: "},
        {"flops --model nosuch/config.json", 4, "cannot be read"},
        {"params --model ''", 2, "--model is empty"},
        {"params gpt2", 2, "error: "},
        {"params --model gpt2 --classes 10", 4, "takes no images"},
        {"topo --node dgx-h10", 4, "did you mean"},
        {"topo dgx-h100", -1, "error: "},
        {"topo --node dgx-h100 --fabric ib-ndr4000", -1, "error: "},
        {"collective all_redcue --node dgx-h100", 2, "did you mean \"all_reduce\"?"},
        {"collective all_reduce --node dgx-h100 --sizes 1x", 2, "--sizes"},
        {"collective all_reduce --node dgx-h100 --nodes 0", 4, "GPUs"},
        {"goodput --gpus 64 --days -3", 4, "--days"},
        {"goodput --gpus 64 --days 3 --rates lama3", 4, "error: "},
        {"goodput --gpus 1e30 --days 3", 2, "--gpus"},
        {"cost --node dgx-h100 --gpus 8 --run 1", 2, "has no unit"},
        {"cost --node dgx-h100 --gpus many", 2, "\"many\" is not"},
        {"cost --nodes 2", 2, "--node is missing"},
        {"power --node dgx-h100 --power-cap 10kW", 4, "power limit"},
        {"power --node dgx-h100 --grid mars", 4, "no grid is called"},
        {"power --nod dgx-h100", 2, "did you mean \"--node\"?"},
        {QUEUE "--policy fair", 4, "fair"},
        {QUEUE "--mix galve", 4, "did you mean \"gavel\"?"},
        {QUEUE "--load 0", -1, "error: "},
        {"plan --model gpt2 --node dgx-a100 --gpus 8:4 --tokens 1B", 4, "goes down"},
        {"plan --model gpt2 --node dgx-a100 --gpus 8 --tokens 1B --objective cheap", 2, "--objective cannot be"},
        {"plan --model gpt2 --node dgx-a100 --gpus 8 --tokens 1B --budget lots", 2, "--budget"},
        {"run --node dgx-a100 --gpus 8", 2, "--model is missing"},
        {RUN "--fabric ib-ndr40", 4, "did you mean \"ib-ndr400\"?"},
        {RUN "--tp 3", 4, "error: "},
        {"run nosuch.lua", 4, "cannot be read"},
        {"sweep --model gpt2 --node dgx-a100 --gpus 8 --vary tpp=1,2 -o /dev/null", 4, "tp"},
        {"sweep --vary gpus=8", 2, "--model is missing"},
        {"sweep --model gpt2 --node dgx-a100 --gpus 8 --vary gpus -o /dev/null", 4, "names no values"},
        {"merge out.db", 2, "which stores?"},
        {"merge /nosuch/out.db nosuch.db", -1, "error: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        all_say(&rows[i], 1);
        lines_are_fit_to_read(rows[i].arguments);
    }
}
