// The gate for files that a scenario names: what is inside comes through, what is outside does not even show whether it
// is there.
#include "sim/system/gate.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/system/file.h"
#include "tests/test.h"

// own/: the scenario s.lua, in.txt, deep/in.txt, a FIFO and links; other/: out.txt; allowed/: open.txt
typedef struct Place {
    char path[64];
    Arena *arena;
    Problems *problems;
    uint64_t digest;
} Place;

static void shell_in(const Place *place, const char *line) {
    char output[512];
    const char *whole = arena_printf(place->arena, "cd %s && %s", place->path, line);
    if (test_shell(whole, output, sizeof output) != 0) test_fail(__FILE__, __LINE__, "%s says %s", whole, output);
}

static Place place_open(void) {
    Place place = {"/tmp/lockstep-gate-XXXXXX", arena_open(), NULL, DIGEST_START};
    EXPECT(mkdtemp(place.path) != NULL);
    place.problems = problems_create(place.arena);
    shell_in(&place, "mkdir -p own/deep other allowed && echo 'return 1' > own/s.lua && echo inside > own/in.txt && "
                     "echo deep > own/deep/in.txt && echo secret > other/out.txt && echo open > allowed/open.txt && "
                     "mkfifo own/fifo other/fifo && ln -s deep/in.txt own/near && ln -s ../other/out.txt own/far && "
                     "ln -s ../other/missing own/nowhere && ln -s ../other own/folder && ln -s loop own/loop && "
                     "ln -s $PWD/own/in.txt own/round && ln -s allowed shown && ln -s ../allowed/open.txt own/lent");
    return place;
}

static void place_close(Place *place) {
    char output[256];
    EXPECT_INT(test_shell(arena_printf(place->arena, "rm -rf %s", place->path), output, sizeof output), 0);
    arena_close(place->arena);
}

static const char *inside(const Place *place, const char *name) {
    return arena_printf(place->arena, "%s/%s", place->path, name);
}

static ReadGate *gate_of(Place *place, const char *allowed) {
    const char *folder = allowed ? inside(place, allowed) : NULL;
    return gate_create(place->arena, inside(place, "own/s.lua"), &folder, allowed != NULL, &place->digest,
                       place->problems);
}

// What is read, or the sentence that refuses.
static const char *answer(Place *place, const ReadGate *gate, const char *path) {
    size_t bytes = 0;
    Problems *own = problems_create(place->arena);
    const char *text = gate_read(gate, path, 1000, &bytes, (Where){"s.lua", 1}, own);
    return text ? text : problem_at(own, 0)->text;
}

TEST(files_beside_a_scenario_and_below_come_through_the_gate) {
    Place place = place_open();
    const ReadGate *gate = gate_of(&place, NULL);
    EXPECT_TEXT(answer(&place, gate, "in.txt"), "inside\n");
    EXPECT_TEXT(answer(&place, gate, "./deep//in.txt"), "deep\n");
    EXPECT_TEXT(answer(&place, gate, "deep/../in.txt"), "inside\n");
    EXPECT_TEXT(answer(&place, gate, "../own/in.txt"), "inside\n");
    EXPECT_TEXT(answer(&place, gate, inside(&place, "own/in.txt")), "inside\n");
    EXPECT_TEXT(answer(&place, gate, "near"), "deep\n");
    EXPECT_TEXT(answer(&place, gate, "round"), "inside\n");
    place_close(&place);
}

TEST(what_lies_outside_is_refused_in_the_same_words_whether_or_not_it_is_there) {
    Place place = place_open();
    const ReadGate *gate = gate_of(&place, NULL);
    const char *const paths[] = {
        "../other/out.txt",
        "../other/fifo",
        "far",
        "nowhere",
        "folder/out.txt",
        "folder/fifo",
        "../other/",
        "../other/../own/in.txt",
        "../../etc/passwd",
        "folder/../own/in.txt",
        "..",
        "../own/../other/out.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "/proc/self/cwd/in.txt",
        "../shown/open.txt",
        "lent",
    };
    const char *before[sizeof paths / sizeof *paths];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        before[i] = answer(&place, gate, paths[i]);
        EXPECT_TEXT(before[i], arena_printf(place.arena, "\"%s\" is no file in the scenario's folder", paths[i]));
    }
    shell_in(&place, "rm -r other allowed shown && echo now > nothing");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) EXPECT_TEXT(answer(&place, gate, paths[i]), before[i]);
    EXPECT_TEXT(answer(&place, gate, "missing"), "\"missing\" is no file in the scenario's folder");
    EXPECT_TEXT(answer(&place, gate, "loop"), "\"loop\" is no file in the scenario's folder");
    EXPECT_TEXT(answer(&place, gate, ""), "\"\" cannot be read: a scenario reads regular files, no folders or pipes");
    place_close(&place);
}

TEST(a_folder_that_the_user_allows_is_open_by_every_name_of_it) {
    Place place = place_open();
    const ReadGate *gate = gate_of(&place, "shown/"); // a link to the folder
    EXPECT_TEXT(answer(&place, gate, inside(&place, "shown/open.txt")), "open\n");
    EXPECT_TEXT(answer(&place, gate, inside(&place, "allowed/open.txt")), "open\n");
    EXPECT_TEXT(answer(&place, gate, "../allowed/open.txt"), "open\n");
    EXPECT_TEXT(answer(&place, gate, "lent"), "open\n");
    EXPECT_TEXT(answer(&place, gate, "in.txt"), "inside\n");
    EXPECT_TEXT(answer(&place, gate, "../other/out.txt"),
                "\"../other/out.txt\" is no file in the scenario's folder or in one of --allow-read");
    EXPECT_TEXT(answer(&place, gate, inside(&place, "allowed/../other/out.txt")),
                arena_printf(place.arena, "\"%.60s\" is no file in the scenario's folder or in one of --allow-read",
                             inside(&place, "allowed/../other/out.txt")));
    EXPECT_INT(problem_count(place.problems), 0);
    gate_of(&place, "own/in.txt");
    EXPECT_CONTAINS(problem_at(place.problems, 0)->text, "is no folder");
    place_close(&place);
}

TEST(pipes_folders_and_devices_are_neither_read_nor_waited_for) {
    Place place = place_open();
    const ReadGate *gate = gate_of(&place, NULL);
    EXPECT_TEXT(answer(&place, gate, "fifo"),
                "\"fifo\" cannot be read: a scenario reads regular files, no folders or pipes");
    EXPECT_CONTAINS(answer(&place, gate, "deep"), "no folders or pipes");
    const char *devices = "/dev";
    gate = gate_create(place.arena, inside(&place, "own/s.lua"), &devices, 1, NULL, place.problems);
    EXPECT_CONTAINS(answer(&place, gate, "/dev/zero"), "no folders or pipes");
    place_close(&place);
}

TEST(a_file_above_the_size_limit_is_refused) {
    Place place = place_open();
    shell_in(&place, "head -c 1001 /dev/zero > own/large");
    EXPECT_CONTAINS(answer(&place, gate_of(&place, NULL), "large"), "is larger than");
    place_close(&place);
}

TEST(a_scenario_from_a_pipe_has_no_folder_to_read_from) {
    Place place = place_open();
    const char *const scenarios[] = {"own/fifo", "/dev/stdin", "/proc/self/cmdline"};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const char *path = scenarios[i][0] == '/' ? scenarios[i] : inside(&place, scenarios[i]);
        const ReadGate *gate = gate_create(place.arena, path, NULL, 0, NULL, place.problems);
        EXPECT_CONTAINS(answer(&place, gate, "in.txt"), "is no file in the scenario's folder");
        EXPECT_CONTAINS(answer(&place, gate, "/dev/shm"), "is no file in the scenario's folder");
    }
    place_close(&place);
}

TEST(what_is_read_counts_in_the_digest) {
    Place place = place_open();
    const ReadGate *gate = gate_of(&place, NULL);
    answer(&place, gate, "missing");
    EXPECT_SAME(place.digest, DIGEST_START);
    answer(&place, gate, "in.txt");
    EXPECT_SAME(place.digest, digest_bytes(DIGEST_START, "inside\n", 7));
    place_close(&place);
}

TEST(a_user_may_name_what_the_shell_has_opened_but_no_folders_devices_or_pipes_with_a_name) {
    Place place = place_open();
    size_t bytes;
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], "piped\n", 6) == 6 && close(ends[1]) == 0);
    EXPECT_TEXT(file_read(place.arena, arena_printf(place.arena, "/dev/fd/%d", ends[0]), 1000, &bytes, place.problems),
                "piped\n");
    close(ends[0]);
    static const char *const refused[][2] = {{"own", "is a folder, not a file"},
                                             {"own/fifo", "is a pipe with a name, not a file"}};
    for (int i = 0; i < 2; i++) {
        EXPECT(!file_read(place.arena, inside(&place, refused[i][0]), 1000, &bytes, place.problems));
        EXPECT_TEXT(problem_at(place.problems, i)->text, refused[i][1]);
    }
    EXPECT(!file_read(place.arena, "/dev/zero", 1000, &bytes, place.problems));
    EXPECT_TEXT(problem_at(place.problems, 2)->text, "is a device, not a file");
    place_close(&place);
}

// ---- By the program: every way in which a scenario names a file.

static const char *run(Place *place, const char *script, const char *options, int *status) {
    char *output = arena_alloc(place->arena, 16384);
    const char *path = inside(place, "own/t.lua");
    OutputFile file;
    EXPECT(file_create(place->arena, path, &file, place->problems));
    fprintf(file.stream,
            "local sim = require 'lockstep'\nlocal cluster, fabric = { node = 'dgx-a100', gpus = 16 }, 'ib-ndr400'\n"
            "%s\ncluster.fabric = fabric\n"
            "return sim.study { on = sim.cluster(cluster), run = sim.training { model = 'gpt2-small', seq_len = 128, "
            "batch = { micro = 1 } } }\n",
            script);
    EXPECT(file_commit(&file, place->problems));
    *status = test_shell(arena_printf(place->arena, "ulimit -t 20; $LOCKSTEP run -q %s %s >/dev/null", path, options),
                         output, 16384);
    return output;
}

// ---- Projects of launch scripts.

static ReadGate *gate_of_project(Place *place, const char *script) {
    const char *path = inside(place, script);
    ReadGate *gate = gate_create(place->arena, path, NULL, 0, &place->digest, place->problems);
    gate_widen(gate, gate_project(place->arena, path));
    return gate;
}

TEST(a_launch_script_reads_what_its_repository_holds_and_nothing_beyond_or_hidden) {
    Place place = place_open();
    shell_in(&place, "mkdir -p repo/.git repo/scripts/deep repo/configs && echo run > repo/scripts/deep/x.sh && "
                     "echo yes > repo/configs/a.yaml && echo hidden > repo/.env && echo hidden > repo/.git/config && "
                     "ln -s ../../other/out.txt repo/configs/far && ln -s ../.env repo/configs/near");
    EXPECT(!gate_project(place.arena, inside(&place, "own/s.lua")));
    const ReadGate *gate = gate_of_project(&place, "repo/scripts/deep/x.sh");
    EXPECT_INT(gate_widen(gate_create(place.arena, inside(&place, "repo/scripts/deep/x.sh"), NULL, 0, &place.digest,
                                      place.problems),
                          gate_project(place.arena, inside(&place, "repo/scripts/deep/x.sh"))),
               2);
    EXPECT_TEXT(answer(&place, gate, "../../configs/a.yaml"), "yes\n");
    EXPECT_TEXT(answer(&place, gate, inside(&place, "repo/configs/a.yaml")), "yes\n");
    static const char *const closed[] = {"../../.env",
                                         "../../.git/config",
                                         "../../configs/near",
                                         "../../configs/far",
                                         "../../../other/out.txt",
                                         "../../../other/missing",
                                         "../../configs/none",
                                         "/etc/passwd"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        EXPECT_CONTAINS(answer(&place, gate, closed[i]), "is no file in the scenario's folder");
    const ReadGate *plain =
        gate_create(place.arena, inside(&place, "repo/scripts/deep/x.sh"), NULL, 0, &place.digest, place.problems);
    EXPECT_CONTAINS(answer(&place, plain, "../../configs/a.yaml"), "is no file in the scenario's folder");
    place_close(&place);
}

TEST(a_git_folder_of_somebody_else_opens_nothing_up) {
    Place place = place_open();
    shell_in(&place, "mkdir -p repo/scripts elsewhere && echo run > repo/scripts/x.sh && ln -s ../elsewhere repo/.git");
    EXPECT(!gate_project(place.arena, inside(&place, "repo/scripts/x.sh"))); // a link is nobody's
    shell_in(&place, "rm repo/.git && mkdir repo/.git");
    EXPECT_TEXT(gate_project(place.arena, inside(&place, "repo/scripts/x.sh")), inside(&place, "repo"));
    if (geteuid() == 0) {
        EXPECT(chown(inside(&place, "repo/.git"), 12345, 12345) == 0);
        EXPECT(!gate_project(place.arena, inside(&place, "repo/scripts/x.sh")));
    }
    place_close(&place);
}

TEST(every_field_that_names_a_file_goes_through_the_gate) {
    static const struct {
        const char *before, *after;
    } ways[] = {
        {"fabric = 'ib-ndr400:", "'"},
        {"fabric = 'ib-ndr400:./", ":oversubscription=2'"},
        {"sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, file = '", "' }"},
        {"sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, file = 't.0.et', communicators = '", "' }"},
        {"sim.model.hf '", "'"},
        {"sim.node { gpu = 'A100', file = '", "' }"},
        {"sim.queue { on = sim.cluster { node = 'dgx-a100' }, trace = '", "' }"},
    };
    static const char *const names[] = {"../other/x.json", "/proc/self/x.json", "far.json", "fifo.json",
                                        "missing.json"};
    Place place = place_open();
    shell_in(&place, "echo '{\"kind\":\"hunter2\"}' > other/x.json && ln -s ../other/x.json own/far.json && "
                     "mkfifo own/fifo.json");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            int status;
            const char *said =
                run(&place, arena_printf(place.arena, "%s%s%s", ways[w].before, names[n], ways[w].after), "", &status);
            bool refused = strstr(said, "is no file in the scenario's folder") || strstr(said, "reads regular files");
            if (status != 4 || !refused || strstr(said, "hunter2") || !strstr(said, "t.lua:"))
                test_fail(__FILE__, __LINE__, "%s%s: %d %s", ways[w].before, names[n], status, said);
        }
    int status;
    const char *trace = "sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, file = '../other/t.0.et' }";
    EXPECT_CONTAINS(run(&place, trace, "", &status), "is no file in the scenario's folder");
    place_close(&place);
}

TEST(allow_read_opens_a_folder_to_a_scenario_and_set_any_file) {
    Place place = place_open();
    int status;
    const char *graph = "{ \"kind\": \"graph\", \"links\": [ { \"from\": \"a\", \"to\": \"b\", \"bandwidth\": \"400 "
                        "Gb/s\" } ], \"nodes\": [ \"a\", \"b\" ] }";
    shell_in(&place, arena_printf(place.arena, "echo '%s' > allowed/g.json && cp allowed/g.json own/", graph));
    EXPECT_TEXT(run(&place, "fabric = 'ib-ndr400:g.json'", "", &status), "");
    EXPECT_INT(status, 0);
    const char *said = run(&place, "fabric = 'ib-ndr400:../allowed/g.json'", "", &status);
    EXPECT_CONTAINS(said, "hint: save it beside the scenario and give its name, or allow its folder: --allow-read DIR");
    EXPECT_INT(status, 4);
    const char *allow =
        arena_printf(place.arena, "--allow-read %s/other --allow-read %s/allowed", place.path, place.path);
    EXPECT_TEXT(run(&place, "fabric = 'ib-ndr400:../allowed/g.json'", allow, &status), "");
    EXPECT_INT(status, 0);
    const char *set = arena_printf(place.arena, "--set cluster.fabric=ib-ndr400:%s/allowed/g.json", place.path);
    EXPECT_TEXT(run(&place, "", set, &status), "");
    EXPECT_INT(status, 0);
    EXPECT_CONTAINS(run(&place, "", "--allow-read /no/such", &status), "--allow-read /no/such is no folder");
    EXPECT_INT(status, 4);
    run(&place, "fabric = 'ib-ndr400:../allowed/g.json'", allow, &status);
    char output[4096];
    const char *line =
        arena_printf(place.arena, "$LOCKSTEP sweep -q -j 1 %s/own/t.lua -o %s/t.db", place.path, place.path);
    EXPECT_INT(test_shell(line, output, sizeof output), 4);
    EXPECT_INT(test_shell(arena_printf(place.arena, "%s %s", line, allow), output, sizeof output), 0);
    place_close(&place);
}
