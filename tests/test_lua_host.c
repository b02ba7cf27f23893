// The sandbox: what scripts cannot reach, limits that nothing swallows, and runs that are always the same.
#include "tests/script.h"
#include "tests/test.h"

#define LIMITS(...) (&(ScenarioRequest){.limits = {__VA_ARGS__}})

static Loaded load_file(const char *path) {
    Loaded loaded = {.arena = arena_open()};
    ScenarioRequest request = {.file = path, .seed = 1};
    loaded.problems = problems_create(loaded.arena);
    loaded.usage = problems_create(loaded.arena);
    loaded.scenario = scenario_load(loaded.arena, test_catalogue(), &request, loaded.problems, loaded.usage);
    return loaded;
}

TEST(a_script_cannot_reach_outside_or_differ_from_run_to_run) { // each try is in the script
    Loaded loaded = load_file("tests/lua/safety.lua");
    EXPECT_CONTAINS(first_problem(&loaded), "the script returns a string"); // it got to its end
    unload(&loaded);
}

TEST(endless_loops_stop_also_inside_pcall_and_coroutines) {
    static const char *const loops[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "local function f() return f() end f()",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do pcall(coroutine.wrap(function() while true do pcall(function() while true do end end) end end)) "
        "end",
        "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "xpcall(error, function() while true do end end)",
        "xpcall(error, function() error() end) while true do end",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() "
        "return t[1] end) end",
        "local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
        "for _ in pairs(setmetatable({}, {__pairs = function() while true do end end})) do end",
        "table.sort({3, 2, 1}, function() while true do end end)",
        "string.gsub(('a'):rep(100), 'a', function() while true do end end)",
        "load(function() while true do end end)",
        "require('lockstep').program{on = require('lockstep').cluster{node = 'dgx-a100'}, rank = function() while true "
        "do end end}",
    };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        Loaded loaded = load_script(loops[i], LIMITS(.steps = 2000000));
        EXPECT(!loaded.scenario);
        if (!strstr(first_problem(&loaded), "more than 2000000 steps"))
            test_fail(__FILE__, __LINE__, "%s gives \"%s\"", loops[i], first_problem(&loaded));
        unload(&loaded);
    }
}

TEST(a_loop_that_overran_is_reported_where_it_was) {
    Loaded loaded =
        load_script("local x = 0\n\nwhile true do pcall(function()\n  while true do x = x + 1 end\nend) end\n",
                    LIMITS(.steps = 100000));
    EXPECT_CONTAINS(first_problem(&loaded), "4: the script runs on and on");
    EXPECT_CONTAINS(first_problem(&loaded), "--step-limit");
    unload(&loaded);
}

TEST(memory_is_limited_and_the_message_names_the_limit) {
    static const char *const hogs[] = {
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local s = ('x'):rep(1 << 30)",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} for i = 1, 1e7 do t[i] = coroutine.create(function() end) end",
        "table.concat(setmetatable({}, {__len = function() return 1 << 40 end}))",
        "string.format('%99999s', 'x')",
        "(('x'):rep(10000000)):gsub('x', ('y'):rep(1000))",
        "local sim = require 'lockstep' while true do sim.cluster { node = 'dgx-a100' } end",
        "local sim = require 'lockstep' while true do sim.group { 1, 2, 3 } end",
        "local sim = require 'lockstep' while true do sim.model.get 'gpt2-124m' end",
        "local sim = require 'lockstep' sim.program { on = sim.cluster { node = 'dgx-a100' }, rank = function(r) while "
        "true do r:compute { seconds = 1 } end end }",
        "local sim = require 'lockstep' sim.program { on = sim.cluster { node = 'dgx-a100' }, rank = function(r) while "
        "true do r:record 'x' end end }",
    };
    for (size_t i = 0; i < sizeof hogs / sizeof *hogs; i++) {
        Loaded loaded = load_script(hogs[i], LIMITS(.memory_bytes = 8 << 20, .steps = 30000000));
        const char *problem = first_problem(&loaded);
        bool said = strstr(problem, "more than its 8 MiB") || strstr(problem, "stack overflow") ||
                    strstr(problem, "too large") || strstr(problem, "invalid conversion") ||
                    strstr(problem, "invalid value (nil) at index 1");
        EXPECT(!loaded.scenario);
        if (!said) test_fail(__FILE__, __LINE__, "%s gives \"%s\"", hogs[i], problem);
        unload(&loaded);
    }
}

TEST(a_memory_limit_too_small_for_an_empty_script_is_an_error_like_any_other) {
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 3 / 2 + 100) {
        Loaded loaded = load_script("return 1", LIMITS(.memory_bytes = bytes));
        EXPECT(!loaded.scenario);
        EXPECT_INT(problem_count(loaded.problems), 1);
        unload(&loaded);
    }
}

TEST(what_no_hook_can_interrupt_ends_with_4_and_writes_nothing) {
    static const char *const blow_ups[] = {
        "string.find(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30))",
        "local function f(...) return f(1, ...) end f()", // copies all its arguments in each step
    };
    for (size_t i = 0; i < sizeof blow_ups / sizeof *blow_ups; i++) {
        char output[1024] = "";
        bool wrote;
        EXPECT_INT(run_script_text(blow_ups[i], "--cpu-limit 0.2s -o {DIR}/out.json", output, sizeof output, &wrote),
                   4);
        EXPECT(!wrote);
        EXPECT_CONTAINS(output, "s.lua: error: the script takes more than its 0.2 s of processor time");
        EXPECT_CONTAINS(output, "\n  hint: ");
    }
}

TEST(binary_scripts_are_refused) {
    Loaded loaded = load_script("\033LuaT", NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "binary chunk");
    unload(&loaded);
}

TEST(mistakes_in_lua_are_reported_with_their_line) {
    static const struct {
        const char *script, *problem;
    } cases[] = {
        {"local x = \n", "2: unexpected symbol near <eof>"},
        {"x = = 3", "1: unexpected symbol near '='"},
        {"\n\nlocal t = nil\nprint(t.x)", "4: attempt to index a nil value (local 't')"},
        {"\nerror 'no'", "2: no"},
        {"error {}", "0: the script raised a table that nobody caught"},
        {"error()", "0: the script raised a nil that nobody caught"},
        {"error('plain', 0)", "0: plain"},
        {"local sim = require 'lockstep'\nsim.clustr {}", "2: sim has no \"clustr\" | did you mean \"cluster\"?"},
        {"local sim = require 'lockstep'\nsim.model.resnt {}",
         "2: sim.model has no \"resnt\" | did you mean \"resnet\"?"},
        {"local sim = require 'lockstep'\nsim.cluster(3)", "2: sim.cluster takes a table of fields, not a number"},
        {"local sim = require 'lockstep'\nsim.cluster { node = 'dgx-a100', price = { nodes = '2.5' } }",
         "2: \"2.5\" does not say which node costs that | write dgx-h100=2.49,dgx-h200=3.10, or for all nodes "
         "gpu_hour"},
        {"local sim = require 'lockstep'\nsim.cluster { node = 'dgx-a100', price = { nodes = 'dgx-h100=2.5' } }",
         "2: a price is given of dgx-h100, and no such node is asked for"},
        {"local sim = require 'lockstep'\nsim.cluster { node = 'dgx-a100', own = { node_prices = 'dgx-a100=much' } }",
         "2: node_prices: \"much\" is no price of a node"},
        {"local sim = require 'lockstep'\nsim.hw(3)", "2: sim.hw takes the name of a part, not a number"},
        {"local sim = require 'lockstep'\nsim.hw 'A1OO'", "2: no hardware is called \"A1OO\" | did you mean"},
        {"local sim = require 'lockstep'\nsim.range(1, 0)", "2: this counts up"},
        {"local sim = require 'lockstep'\nsim.range(1, 1e9)", "2: the list would have more than 10000 numbers"},
        {"local sim = require 'lockstep'\nsim.geometric(0, 8, 2)", "2: this grows from"},
        {"local sim = require 'lockstep'\nsim.geometric(1, 0/0)", "2: the last number is not a number to count with"},
        {"local sim = require 'lockstep'\nsim.linear(0, 1, 1)", "2: this takes at least 2 numbers"},
        {"local sim = require 'lockstep'\nsim.cluster { node = 'dgx-a100' }.gpsu()",
         "2: sim.cluster has no \"gpsu\" | did you mean \"gpus\"?"},
        {"local sim = require 'lockstep'\nsim.cluster { node = 'dgx-a100' }.gpus = 3",
         "2: sim.cluster cannot be changed"},
        {"local sim = require 'lockstep'\nsim.training { model = 'gpt2-124m' }.expect {}",
         "2: expect belongs to a sim.training"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Loaded loaded = load_script(cases[i].script, NULL);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].problem);
        unload(&loaded);
    }
}

TEST(tables_in_circles_do_not_hang) {
    Loaded loaded = load_script("local sim = require 'lockstep'\nlocal t = {} t.t, t[1], t.node, t.vary, t.published, "
                                "t.nodes = t, t, t, t, { t, t }, t\n"
                                "sim.cluster(t) sim.study(t) sim.training(t) sim.options(t) sim.program(t)\nreturn t",
                                NULL);
    EXPECT(!loaded.scenario);
    unload(&loaded);
}

TEST(modules_are_found_beside_the_script_only) {
    Loaded loaded = load_file("tests/lua/uses_module.lua");
    EXPECT_TEXT(first_problem(&loaded), "");
    EXPECT(loaded.scenario && loaded.scenario->item_count == 1);
    unload(&loaded);
}

TEST(modules_that_require_each_other_are_an_error) {
    Loaded loaded = load_file("tests/lua/circle_a.lua");
    EXPECT_CONTAINS(first_problem(&loaded), "requires itself");
    unload(&loaded);
}

TEST(random_numbers_of_a_script_follow_the_seed) {
    const char *script = "local a = {} for i = 1, 5 do a[i] = math.random(1000) end error(table.concat(a, ' '), 0)";
    Loaded first = load_script(script, &(ScenarioRequest){.seed = 7}),
           same = load_script(script, &(ScenarioRequest){.seed = 7});
    Loaded other = load_script(script, &(ScenarioRequest){.seed = 8});
    EXPECT_TEXT(first_problem(&first), first_problem(&same));
    EXPECT(strcmp(first_problem(&first), first_problem(&other)) != 0);
    unload(&first);
    unload(&same);
    unload(&other);
}

TEST(a_script_that_is_not_there_is_an_error) {
    Loaded loaded = load_file("tests/lua/no_such_file.lua");
    EXPECT(!loaded.scenario);
    EXPECT_CONTAINS(first_problem(&loaded), "cannot be read");
    unload(&loaded);
}
