// What a scenario makes the program hold is limited, what it says commands no terminal, and nothing that it can see
// depends on addresses or on the collector.
#include "sim/base/text.h"
#include "tests/script.h"
#include "tests/test.h"

#define LIMITS(...) (&(ScenarioRequest){.limits = {__VA_ARGS__}})

TEST(weak_tables_and_finalizers_are_refused_with_a_sentence) {
    static const struct {
        const char *script, *problem;
    } cases[] = {
        {"setmetatable({}, { __mode = 'k' })",
         "1: scenarios have no weak tables: what they hold depends on the collector "
         "| leave __mode out"},
        {"setmetatable({}, { __gc = print })", "1: scenarios have no finalizers | leave __gc out"},
        {"setmetatable({}, { __gc = false })", "1: scenarios have no finalizers | leave __gc out"},
        {"local m = {} local t = setmetatable({}, m) m.__mode = 'v'\nfor i = 1, 1e6 do local x = { i } end",
         "2: scenarios have no weak tables"},
        {"local m = {} local t = setmetatable({}, m) m.__mode = 'v'\n"
         "coroutine.wrap(function() for i = 1, 1e6 do local x = { i } end end)()",
         "2: scenarios have no weak tables"},
        {"local m = {} local t = setmetatable({}, m) rawset(m, '__mode', 'v')\n"
         "pcall(function() while true do local x = {} end end)",
         "2: scenarios have no weak tables"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Loaded loaded = load_script(cases[i].script, NULL);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].problem);
        unload(&loaded);
    }
    Loaded loaded = load_returning("(function() local m = {} setmetatable({}, m) m.__mode = 'v' "
                                   "return sim.study { on = cluster, run = job } end)()",
                                   NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "0: scenarios have no weak tables");
    unload(&loaded);
}

TEST(ordinary_metatables_work_as_they_did) {
    Loaded loaded =
        load_script("local base = { name = function(self) return self.n end } base.__index = base\n"
                    "local class = setmetatable({}, { __index = base }) class.__index = class\n"
                    "local made = {}\n"
                    "for i = 1, 20000 do made[i] = setmetatable({ n = i }, class) end\n"
                    "local junk = 0 for i = 1, 200000 do junk = junk + #{ i, { i } } end\n"
                    "for i = 1, 20000 do assert(made[i]:name() == i and getmetatable(made[i]) == class) end\n"
                    "error('all ' .. junk, 0)",
                    LIMITS(.memory_bytes = 16 << 20));
    EXPECT_CONTAINS(first_problem(&loaded), "0: all 400000"); // garbage of 30 MB has been collected meanwhile
    unload(&loaded);
}

TEST(keys_that_pairs_gives_are_right_when_memory_is_short) {
    for (int ballast = 20; ballast < 60; ballast += 4) {
        char script[1024];
        snprintf(script, sizeof script,
                 "local keep = {} for i = 1, %d do keep[i] = ('b'):rep(100000) .. i end\n"
                 "local t = {} for i = 1, 2000 do t[('k%%d_'):format(i) .. ('z'):rep(500)] = i end\n"
                 "local n, last = 0, ''\n"
                 "for k in pairs(t) do assert(k:find '^k%%d+_z+$' and last < k, k) last = k n = n + 1 end\n"
                 "error('keys ' .. n, 0)",
                 ballast);
        Loaded loaded = load_script(script, LIMITS(.memory_bytes = 6 << 20));
        bool right =
            strstr(first_problem(&loaded), "keys 2000") || strstr(first_problem(&loaded), "more than its 6 MiB");
        if (!right) test_fail(__FILE__, __LINE__, "with %d: %s", ballast, first_problem(&loaded));
        unload(&loaded);
    }
}

TEST(a_script_does_not_live_on_after_the_memory_limit) {
    Loaded loaded =
        load_script("local ok = pcall(function() local t = {} while true do t[#t + 1] = ('x'):rep(1000) end end)\n"
                    "error('went on', 0)",
                    LIMITS(.memory_bytes = 4 << 20));
    EXPECT_CONTAINS(first_problem(&loaded), "the script needs more than its 4 MiB of memory");
    unload(&loaded);
}

// A cluster of a million is folded from parts: 16 MiB hold it, and 8 are refused before it is built.
TEST(one_call_that_holds_too_much_is_refused_and_what_is_in_the_limit_is_not) {
    char output[2048];
    bool wrote;
    const char *script = "local sim = require 'lockstep'\n"
                         "sim.cost { on = sim.cluster { node = 'dgx-a100', gpus = 1000000, fabric = 'ib-ndr400' } }\n";
    EXPECT_INT(run_script_text(script, "--memory-limit 8MiB -o {DIR}/out.json", output, sizeof output, &wrote), 4);
    EXPECT(!wrote);
    EXPECT_CONTAINS(output, "s.lua:2: error: the script needs more than its 8 MiB of memory\n  hint: ");
    EXPECT_CONTAINS(output, "--memory-limit");
    EXPECT_INT(run_script_text(script, "--memory-limit 16MiB -o {DIR}/out.json", output, sizeof output, &wrote), 4);
    EXPECT_CONTAINS(output, "the script returns nothing");
}

TEST(a_simulation_that_holds_too_much_ends_with_1_and_a_sentence) {
    static const char *const ways[] = {"return study", "sim.simulate(study)", "pcall(sim.simulate, study)"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char output[2048], script[512];
        snprintf(script, sizeof script,
                 "local sim = require 'lockstep'\n"
                 "local study = sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 4096, fabric = 'ib-ndr400' }, "
                 "run = sim.training { model = 'gpt2-small', batch = { micro = 1 } } }\n%s",
                 ways[i]);
        EXPECT_INT(run_script_text(script, "--simulation-memory 2MiB", output, sizeof output, NULL), 4);
        EXPECT_CONTAINS(output, "error: this simulation takes more than 2 MiB of memory\n  hint: ");
    }
}

TEST(factors_of_a_clusters_links_take_memory_by_those_written) {
    Loaded loaded = load_returning("sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 32, fabric = 'ib-ndr400', "
                                   "link_speed = { 0.5 } }, run = job }",
                                   LIMITS(.memory_bytes = 1 << 20));
    EXPECT_TEXT(first_problem(&loaded), "");
    const ClusterSpec *spec = loaded.scenario->items[0].study->cluster;
    EXPECT_INT(spec->link_speed_count, 1);
    const Cluster *cluster = cluster_create(loaded.arena, test_catalogue(), spec, loaded.problems);
    EXPECT(cluster && cluster->node_count == 4);
    unload(&loaded);
}

TEST(the_first_unknown_fields_of_the_alphabet_are_reported_and_the_rest_counted) {
    Loaded loaded =
        load_script("local t = { model = 'gpt2-124m' } for i = 1, 300 do t[('x%03d'):format(301 - i)] = i end\n"
                    "t['batch\\0'] = 1\nrequire('lockstep').training(t)",
                    NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "3: training has no field \"batch\"");
    EXPECT_TEXT(problem_at(loaded.problems, 1)->text, "training has no field \"x001\"");
    EXPECT_TEXT(problem_at(loaded.problems, 19)->text, "training has no field \"x019\"");
    EXPECT_TEXT(problem_at(loaded.problems, 20)->text, "and 281 more fields that training does not have");
    unload(&loaded);
}

TEST(names_are_suggested_for_the_first_mistakes_only) {
    Loaded loaded = load_script("local sim, with = require 'lockstep', 0\n"
                                "for i = 1, 1000 do\n"
                                "  local _, text = pcall(function() return sim.clustr end)\n"
                                "  if text:find('did you mean', 1, true) then with = with + 1 end\n"
                                "end\nerror('suggested ' .. with, 0)",
                                NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "suggested 50");
    unload(&loaded);
}

TEST(coroutines_that_end_soon_count_as_steps) {
    Loaded loaded = load_script("while true do coroutine.wrap(function() end)() end", LIMITS(.steps = 1000000));
    EXPECT_CONTAINS(first_problem(&loaded), "more than 1000000 steps");
    unload(&loaded);
}

TEST(texts_with_controls_or_without_utf8_are_no_names) {
    static const char *const texts[] = {"\\u{9b}x", "\\x9b", "\\u{202e}", "\\u{2066}", "\\xff", "a\\0b", "\\x1b[31m"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char script[128];
        snprintf(script, sizeof script, "sim.study { title = \"%s\", on = cluster, run = job }", texts[i]);
        Loaded loaded = load_returning(script, NULL);
        EXPECT_CONTAINS(first_problem(&loaded), "this text cannot be title of sim.study");
        unload(&loaded);
    }
    Loaded loaded = load_returning("sim.study { title = 'ResNet – 训练 é', on = cluster, run = job }", NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    unload(&loaded);
}

TEST(letters_that_command_a_terminal_become_question_marks) {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"plain é – 训 😀", "plain é – 训 😀"},
        {"\x1b[31m\x07\x7f", "?[31m??"},
        {"\xc2\x9b"
         "31m\xc2\x85",
         "?31m?"},
        {"\x9b"
         "31m \xff \xc3",
         "?31m ? ?"},
        {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c.", "????."},
        {"a\nb\tc\r", "a\nb\tc?"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        EXPECT_TEXT(letters_make_harmless(text, "\n\t"), cases[i].shown);
    }
}
