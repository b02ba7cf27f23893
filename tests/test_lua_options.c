// Options that a script declares, and --set.
#include "tests/script.h"
#include "tests/test.h"

static const OptionSpec own[] = {{.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "seed"}};

// Arguments are split at spaces.
static Loaded load_with(const char *script, const char *arguments) {
    char text[256], *argv[16];
    int argc = 0;
    snprintf(text, sizeof text, "run s.lua %s", arguments);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    return load_script(script, &(ScenarioRequest){.argc = argc, .argv = argv, .own = own, .own_count = 1});
}

static const char declares[] = "local sim = require 'lockstep'\n"
                               "local opt = sim.options { gpus = { default = 8, min = 1, max = 512, help = 'GPUs' }, "
                               "node = { default = 'dgx-a100' },\n"
                               "  batch_size = { default = 32, values = { 16, 32, 64 } }, rate = { default = 0.5, max "
                               "= 1 }, fast = { default = false }, slow = { default = true } }\n"
                               "error(table.concat({ opt.gpus, math.type(opt.gpus), opt.node, opt.batch_size, "
                               "opt.rate, tostring(opt.fast), tostring(opt.slow) }, ' '), 0)\n";

static void expect_values(const char *arguments, const char *expected) {
    Loaded loaded = load_with(declares, arguments);
    EXPECT_CONTAINS(first_problem(&loaded), expected);
    unload(&loaded);
}

TEST(options_have_their_defaults_or_what_the_command_line_says) {
    expect_values("--seed 3", "8 integer dgx-a100 32 0.5 false true");
    expect_values("--gpus 64 --node=x --batch-size 16", "64 integer x 16 0.5 false true");
    expect_values("--fast --slow=false --rate 0.25 --gpus=0.5k", "500 integer dgx-a100 32 0.25 true false");
}

static void expect_usage(const char *script, const char *arguments, const char *expected) {
    Loaded loaded = load_with(script, arguments);
    EXPECT(!loaded.scenario);
    EXPECT_CONTAINS(first_problem(&loaded), expected);
    unload(&loaded);
}

static const char simulates[] = "local sim = require 'lockstep'\n"
                                "local opt = sim.options { gpus = { default = 8, min = 1, max = 512 }, size = { "
                                "default = 32, values = { 16, 32, 64 } } }\n"
                                "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, run = "
                                "sim.training { model = 'gpt2-124m', batch = { micro = 4 } } }\n";

TEST(mistakes_on_the_command_line_are_the_users_of_the_script) {
    expect_usage(simulates, "--gpsu 4", "no option is called \"--gpsu\" | did you mean \"--gpus\"?");
    expect_usage(simulates, "--gpus many", "--gpus cannot be \"many\"");
    expect_usage(simulates, "--gpus 1.5", "--gpus cannot be \"1.5\"");
    expect_usage(simulates, "--gpus 1000", "--gpus cannot be 1000; 1 to 512");
    expect_usage(simulates, "--gpus -1", "--gpus cannot be -1");
    expect_usage(simulates, "--size 17", "--size cannot be \"17\" | did you mean \"16\"?");
    expect_usage(simulates, "--gpus", "--gpus needs a value");
    expect_usage(simulates, "more.lua", "nothing is known to do with \"more.lua\"");
}

TEST(mistakes_in_the_declaration_are_the_scripts) {
    static const struct {
        const char *declaration, *problem;
    } cases[] = {
        {"{ gpus = 8 }", "2: option takes a table of fields, not a number"},
        {"{\n gpus = {\n help = 'x' } }", "3: option needs default"},
        {"{ gpus = { default = 8,\n min = 9 } }", "2: the default of --gpus, 8, is not in its own range"},
        {"{ seed = { default = 8 } }", "2: --seed is an option already"},
        {"{ ['a b'] = { default = 8 } }", "2: \"a b\" cannot be the name of an option"},
        {"{ a_b = { default = 8 }, ['a-b'] = { default = 8 } }", "2: --a-b is an option already"},
        {"{ 3 }", "2: sim.options takes options by name"},
        {"'x'", "2: sim.options takes a table, not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[256];
        snprintf(script, sizeof script, "local sim = require 'lockstep'\nsim.options(%s)", cases[i].declaration);
        Loaded loaded = load_with(script, "--seed 1");
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].problem);
        unload(&loaded);
    }
}

TEST(an_option_that_was_not_declared_is_a_mistake_in_the_script) {
    Loaded loaded = load_script(
        "local sim = require 'lockstep'\nlocal opt = sim.options { gpus = { default = 8 } }\nprint(opt.gups)", NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "3: the options of this scenario has no \"gups\" | did you mean \"gpus\"?");
    unload(&loaded);
}

// ---- --set.

static const char settable[] = "local sim = require 'lockstep'\n"
                               "local cluster = sim.cluster { node = 'dgx-a100', gpus = 8, fabric = 'ib-hdr200' }\n"
                               "local job = sim.training { model = 'gpt2-124m', batch = { micro = 4 } }\n"
                               "return sim.study { on = cluster, run = job, vary = { gpus = { 8, 16 } } }\n";

static Loaded load_setting(const char *set) {
    return load_script(settable, &(ScenarioRequest){.sets = (const char *[]){set}, .set_count = 1});
}

TEST(set_takes_the_place_of_what_the_script_says) {
    const char *sets[] = {"cluster.gpus=24", "training.batch.global=96", "training.parallel.tp=2",
                          "study.vary.gpus=8,32", "study.vary.precision=fp16,bf16"};
    Loaded loaded = load_script(settable, &(ScenarioRequest){.sets = sets, .set_count = 5});
    EXPECT_TEXT(first_problem(&loaded), "");
    const StudySpec *study = loaded.scenario ? loaded.scenario->items[0].study : NULL;
    EXPECT(study != NULL);
    if (study) {
        EXPECT_INT(study->cluster->groups[0].gpus, 24);
        EXPECT_NEAR(study->training.global_batch, 96, 0);
        EXPECT_NEAR(study->training.micro_batch, 4, 0);
        EXPECT_INT(study->training.layout.tp, 2);
        EXPECT_INT(study->vary_count, 2);
        EXPECT_TEXT(study->vary[0].texts[1], "32");
        EXPECT_TEXT(study->vary[1].texts[0], "fp16");
    }
    unload(&loaded);
}

TEST(mistakes_in_set_name_the_argument) {
    static const struct {
        const char *set, *problem;
    } cases[] = {
        {"gpus=3", "nothing is called gpus | did you mean cluster.gpus"},
        {"training.tp=3", "nothing is called training.tp | did you mean training.parallel.tp"},
        {"on.gpus=3", "nothing is called on.gpus | did you mean cluster.gpus"},
        {"cluster.gpsu=3", "nothing is called cluster.gpsu | did you mean cluster.gpus?"},
        {"cluster.gpus", "--set cluster.gpus says no path and value"},
        {"=3", "says no path and value"},
        {"cluster.gpus=0", "gpus of sim.cluster must be a whole count from 1 to 1000000, not \"0\""},
        {"cluster.gpus=", "\"\" cannot be gpus of sim.cluster"},
        {"training.batch=3", "batch of training must be a table"},
        {"resnet.depth=50", "this scenario makes nothing that has a resnet.depth"},
        {"study.vary.gpus=8,x", "\"x\" cannot be gpus of study.vary"},
        {"cluster.fabric=ib-x", "called \"ib-x\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Loaded loaded = load_setting(cases[i].set);
        EXPECT(!loaded.scenario);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].problem);
        unload(&loaded);
    }
}

// ---- The command.

TEST(usage_mistakes_exit_with_2) {
    char output[8192];
    EXPECT_INT(run_script_text(simulates, "--gpsu 4", output, sizeof output, NULL), 2);
    EXPECT_INT(run_script_text(simulates, "--json --csv", output, sizeof output, NULL), 2);
    EXPECT_INT(run_script_text(simulates, "--plot=pie", output, sizeof output, NULL), 2);
    EXPECT_INT(run_script_text(simulates, "--seed x", output, sizeof output, NULL), 2);
    EXPECT_INT(test_shell("$LOCKSTEP run", output, sizeof output), 2);
    EXPECT_CONTAINS(output, "which scenario?");
}

TEST(help_shows_the_options_of_the_script) {
    char output[16384] = "";
    EXPECT_INT(run_script_text(simulates, "--help", output, sizeof output, NULL), 0);
    EXPECT_CONTAINS(output, "usage: lockstep run FILE.lua");
    EXPECT_CONTAINS(output, "--gpus N");
    EXPECT_CONTAINS(output, "1 to 512");
}

TEST(results_go_whole_into_the_file_that_was_asked_for) {
    char output[16384] = "";
    bool wrote;
    EXPECT_INT(run_script_text(simulates, "-q -o {DIR}/out.json", output, sizeof output, &wrote), 0);
    EXPECT(wrote);
    EXPECT_TEXT(output, "");
    EXPECT_INT(run_script_text(simulates, "-q -o {DIR}/no/such/folder.json", output, sizeof output, &wrote), 2);
    EXPECT(!wrote);
    EXPECT_CONTAINS(output, "cannot be written");
    EXPECT_INT(run_script_text(simulates, "--json --wall=off", output, sizeof output, &wrote), 0);
    EXPECT_CONTAINS(output, "\"format_version\"");
    EXPECT_INT(run_script_text(simulates, "--csv -o /dev/full", output, sizeof output, &wrote), 1);
}

TEST(an_expectation_that_does_not_hold_exits_with_3) {
    char output[16384] = "", script[1024];
    snprintf(script, sizeof script,
             "local sim = require 'lockstep'\nlocal job = sim.training { model = 'gpt2-124m', batch = { micro = 4 } }\n"
             "job:expect { memory = '> 1 B' }\njob:expect { step_time = '< 1 ns' }\n"
             "return sim.study { on = sim.cluster { node = 'dgx-a100' }, run = job }\n");
    EXPECT_INT(run_script_text(script, "-q", output, sizeof output, NULL), 3);
    EXPECT_CONTAINS(output, "s.lua:4:");
}
