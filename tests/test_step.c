// Runs event by event: what a collective's ranks hold, rates, the critical path, a circle of waits, the keys, the
// drawing.
#include <expat.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/program/program.h"
#include "scenarios/step/step_film.h"
#include "sim/system/file.h"
#include "tests/networks.h"
#include "tests/script.h"
#include "tests/test.h"

#define MIB 1048576.0

static const Film *film_on(Arena *arena, const Network *network, const CollectiveRequest *request) {
    const char *why = "", *remedy;
    Problems *problems = problems_create(arena);
    const FlowPlan *plan = flow_plan(arena, network, request, &why, &remedy);
    return plan ? film_of_collective(arena, plan, request, network, "test", problems) : NULL;
}

static CollectiveRequest request_of(Arena *arena, const Network *network, CollectiveOp op, const char *algorithm,
                                    int per_node) {
    return (CollectiveRequest){.op = op,
                               .ranks = first_ranks(arena, network, 2, per_node),
                               .rank_count = 2 * per_node,
                               .bytes = 8 * MIB,
                               .algorithm = algorithm,
                               .shift = op == COLLECTIVE_SEND_RECV};
}

static void expect_promised(Arena *arena, const Film *film, const char *name) {
    const FilmState *states = film_states(arena, film, film->frame_count - 1);
    int wanted = 0;
    for (int row = 0; row < film->row_count; row++)
        for (int chunk = 0; chunk < film->chunk_count; chunk++) {
            uint64_t promised = film->promised[row * film->chunk_count + chunk];
            wanted += promised != 0;
            if (promised && states[row].holds[chunk] != promised)
                test_fail(__FILE__, __LINE__, "%s: row %d lacks of chunk %d", name, row, chunk);
        }
    EXPECT(wanted > 0);
}

TEST(every_collective_ends_with_what_it_promises_and_takes_the_time_of_its_messages) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
    int compared = 0;
    for (int op = 0; op < COLLECTIVE_OP_COUNT; op++) {
        const char *names[16];
        int count = algorithm_names((CollectiveOp)op, names, 16);
        for (int i = 0; i < count; i++)
            for (int per_node = 1; per_node <= 4; per_node *= 2) {
                CollectiveRequest request = request_of(arena, network, (CollectiveOp)op, names[i], per_node);
                const char *why, *remedy;
                const FlowPlan *plan = flow_plan(arena, network, &request, &why, &remedy);
                if (!plan) continue; // not of so many ranks
                const Film *film = film_on(arena, network, &request);
                EXPECT(film != NULL);
                if (!film) continue;
                compared++;
                FlowSystem flows = flow_system(arena, plan);
                EXPECT_NEAR(step_seconds(film->end), flow_run(arena, plan, &flows, false).seconds, 1e-12);
                expect_promised(arena, film, names[i]);
            }
    }
    EXPECT(compared > 30);
    arena_close(arena);
}

// What flows from frame to frame sums to the bytes of each message.
TEST(rates_of_a_congested_exchange_sum_to_its_bytes) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 2, fat_tree(200, 1, 4, false));
    CollectiveRequest request = request_of(arena, network, COLLECTIVE_ALL_TO_ALL, NULL, 4);
    double pairs[64];
    for (int i = 0; i < 64; i++) pairs[i] = MIB * (1 + i % 5);
    request.pair_bytes = pairs;
    const Film *film = film_on(arena, network, &request);
    double *moved = ARENA_ARRAY(arena, double, film->bars.count);
    bool changes = false;
    for (int f = 0; f + 1 < film->frame_count; f++) {
        const double *rates = film_rates(arena, film, f), *before = f ? film_rates(arena, film, f - 1) : rates;
        for (int i = 0; i < film->bars.count; i++) {
            moved[i] += rates[i] * step_seconds(film->frames[f + 1].time - film->frames[f].time);
            changes = changes || (before[i] > 0 && rates[i] > 1.1 * before[i]);
        }
    }
    EXPECT(changes);
    for (int i = 0; i < film->bars.count; i++)
        if (film->bars.items[i].leads) EXPECT_NEAR(moved[i], film->bars.items[i].plan->bytes, 1e-6);
    arena_close(arena);
}

// Time that no bar of the path covers.
static SimTime left_open(const Film *film) {
    SimTime open = 0;
    for (int f = 0; f + 1 < film->frame_count; f++) {
        bool covered = false;
        SimTime now = film->frames[f].time;
        for (int i = 0; i < film->bars.count; i++) {
            const FilmBar *bar = &film->bars.items[i];
            SimTime from = bar->kind == FILM_TRANSFER ? bar->begun : bar->start;
            covered = covered || (bar->is_critical && from <= now && now < bar->end);
        }
        if (!covered) open += film->frames[f + 1].time - now;
    }
    return open;
}

TEST(the_critical_path_leads_from_the_start_to_the_end) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
    static const char *const algorithms[] = {"ring", "tree", "halving_doubling"};
    for (int i = 0; i < 3; i++) {
        CollectiveRequest request = request_of(arena, network, COLLECTIVE_ALL_REDUCE, algorithms[i], 4);
        EXPECT_INT(left_open(film_on(arena, network, &request)), 0);
    }
    Loaded loaded =
        load_returning("sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 4 }, rank = function(r) "
                       "if r.id > 0 then r:recv { from = r.id - 1 } end r:compute { flops = 1e12, bytes = 1e6 } "
                       "if r.id < 3 then r:send { to = r.id + 1, bytes = \"16 MiB\" } end end }",
                       NULL);
    const Film *film = film_of_program(loaded.arena, loaded.scenario->items[0].program, 1, loaded.problems);
    int critical = 0;
    for (int i = 0; film && i < film->bars.count; i++)
        critical += film->bars.items[i].is_critical && film->bars.items[i].kind == FILM_WORK;
    EXPECT_INT(film ? left_open(film) : -1, 0);
    EXPECT_INT(critical, 4); // it goes through all of a chain
    unload(&loaded);
    arena_close(arena);
}

// Bars and spans as the run's own chain has them.
TEST(what_is_marked_is_the_path_that_the_run_kept) {
    Loaded loaded = load_returning(
        "sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 4 }, rank = function(r) for i = 1, 5 do "
        "r:compute { flops = 1e11 * (1 + (r.id * 3 + i * i) % 5), bytes = 1e6 } r:all_reduce { bytes = \"4 MiB\" } "
        "r:compute { flops = 1e11, bytes = 1e6 } "
        "if r.id % 2 == 0 then r:send { to = r.id + 1, bytes = \"1 MiB\" } else r:recv { from = r.id - 1 } end "
        "end end }",
        NULL);
    const ProgramSpec *program = loaded.scenario->items[0].program;
    const Film *film = film_of_program(loaded.arena, program, 1, loaded.problems);
    const System *system = program_system(loaded.arena, program, loaded.problems);
    RunResult run = run_system(loaded.arena, system, &(RunOptions){.seed = 1, .chain = true});
    int marked = 0, pieces = 0;
    for (int i = 0; i < film->bars.count; i++) marked += film->bars.items[i].is_critical;
    for (int64_t p = 0; p < run.chain_count; p++) {
        const ChainPiece *piece = &run.chain[p];
        int found = 0;
        for (int i = 0; i < film->bars.count; i++) {
            const FilmBar *bar = &film->bars.items[i];
            found += bar->is_critical && bar->row == piece->actor && bar->track == piece->stream &&
                     bar->end == piece->end && (bar->kind == FILM_TRANSFER ? bar->begun : bar->start) == piece->start;
        }
        if (piece->start == piece->end) continue;
        EXPECT_INT(found, 1);
        pieces++;
    }
    EXPECT(pieces > 15);
    EXPECT_INT(marked, pieces);
    unload(&loaded);
}

TEST(what_is_marked_of_a_job_takes_the_whole_step) {
    Loaded loaded = load_returning(
        "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 8 }, run = sim.training { model = "
        "'gpt2-124m', parallel = { tp = 2, pp = 4 }, batch = { micro = 1, global = 8 } } }",
        NULL);
    TraceRequest request = {
        .study = loaded.scenario->items[0].study, .ranks = "all", .span_room = 1000000, .chain = true};
    const char *why_not;
    const SpanSet *set = trace_step(loaded.arena, &request, &why_not, loaded.problems);
    SimTime sum = 0;
    for (int64_t i = 0; i < set->span_count; i++)
        if (set->spans[i].critical) sum += set->spans[i].end - set->spans[i].begun;
    EXPECT_INT(sum, set->end);
    EXPECT_INT(left_open(film_of_spans(loaded.arena, set, loaded.problems)), 0);
    unload(&loaded);
}

TEST(a_deadlock_closes_its_circle_when_the_last_of_it_comes) {
    Loaded loaded =
        load_returning("sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 4 }, rank = function(r) "
                       "r:compute { flops = 1e12 * (1 + r.id), bytes = 1e6 } "
                       "r:send { to = (r.id + 1) % 4, bytes = \"16 MiB\" } r:recv { from = (r.id + 3) % 4 } "
                       "end }",
                       NULL);
    const Film *film = film_of_program(loaded.arena, loaded.scenario->items[0].program, 1, loaded.problems);
    EXPECT(film && film->stands_still);
    if (!film) return;
    int last = film->frame_count - 1;
    for (int f = 0; f < last; f++) EXPECT(film_circle(loaded.arena, film, f) == NULL);
    EXPECT_TEXT(film_circle(loaded.arena, film, last), "rank 0 → rank 1 → rank 2 → rank 3 → rank 0");
    const FilmState *states = film_states(loaded.arena, film, last);
    for (int row = 0; row < 4; row++) {
        EXPECT_INT(states[row].waits_count, 1);
        EXPECT_INT(states[row].waits_count ? states[row].waits_for[0] : -1, (row + 1) % 4);
    }
    unload(&loaded);
}

TEST(a_call_that_nobody_answers_is_told_before_it_runs) {
    Loaded loaded =
        load_returning("sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 3 }, rank = function(r) "
                       "if r.id == 0 then r:all_reduce { bytes = \"1 MiB\" } r:all_reduce { bytes = \"1 MiB\" } "
                       "else r:all_reduce { bytes = \"1 MiB\" } end end }",
                       NULL);
    if (loaded.scenario) EXPECT(!film_of_program(loaded.arena, loaded.scenario->items[0].program, 1, loaded.problems));
    EXPECT(any_problem_contains(&loaded, "which ranks 1 and 2 never call"));
    unload(&loaded);
}

TEST(who_waits_for_one_of_a_circle_is_not_of_it) {
    Loaded loaded =
        load_returning("sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 3 }, rank = function(r) "
                       "if r.id == 2 then r:recv { from = 0 } else r:send { to = 1 - r.id, bytes = \"1 MiB\" } "
                       "r:recv { from = 1 - r.id } end "
                       "if r.id == 0 then r:send { to = 2, bytes = \"1 MiB\" } end end }",
                       NULL);
    const Film *film = film_of_program(loaded.arena, loaded.scenario->items[0].program, 1, loaded.problems);
    EXPECT(film && film->stands_still);
    if (!film) return;
    int last = film->frame_count - 1;
    EXPECT_TEXT(film_circle(loaded.arena, film, last), "rank 0 → rank 1 → rank 0");
    const FilmState *states = film_states(loaded.arena, film, last);
    EXPECT_TEXT(film_waits(loaded.arena, film, states, 3), "rank 0 for rank 1; rank 1 for rank 0; rank 2 for rank 0");
    unload(&loaded);
}

TEST(keys_lead_forward_back_and_to_a_number) {
    Film film = {.frame_count = 20};
    int typed = 0;
    EXPECT_INT(film_key(&film, 3, ' ', &typed), 4);
    EXPECT_INT(film_key(&film, 3, 'b', &typed), 2);
    EXPECT_INT(film_key(&film, 0, 'b', &typed), 0);
    EXPECT_INT(film_key(&film, 19, ' ', &typed), 19);
    EXPECT_INT(film_key(&film, 5, 'G', &typed), 19);
    EXPECT_INT(film_key(&film, 5, 'g', &typed), 0);
    EXPECT_INT(film_key(&film, 5, '1', &typed), 5);
    EXPECT_INT(film_key(&film, 5, '2', &typed), 5);
    EXPECT_INT(film_key(&film, 5, 'g', &typed), 11);
    EXPECT_INT(film_key(&film, 5, '7', &typed), 5);
    EXPECT_INT(film_key(&film, 5, ' ', &typed), 12);
    EXPECT_INT(film_key(&film, 5, 'x', &typed), 5);
    EXPECT_INT(film_key(&film, 5, 'q', &typed), -1);
}

// The program on a terminal of its own, with these keys typed one after another, each when a frame stands there.
static int walked(const char *const *argv, const char *const *keys, char *said, size_t room) {
    int master, status = 0;
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    fflush(NULL);
    pid_t child = forkpty(&master, NULL, NULL, &size);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    size_t length = 0;
    ssize_t got;
    const char *seen = said;
    *said = '\0';
    while (length + 1 < room && (got = read(master, said + length, room - 1 - length)) > 0) {
        length += (size_t)got;
        said[length] = '\0';
        const char *shown = strstr(seen, "q ends");
        if (!shown || !*keys) continue;
        seen = shown + 1;
        if (write(master, *keys, strlen(*keys)) < 0) break;
        keys++;
    }
    close(master);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

TEST(on_a_terminal_one_walks_by_keys_and_it_is_left_as_it_was) {
    static char said[200000];
    static const char *const keys[] = {" ", "\033[C", "b", "q", NULL};
    const char *argv[] = {getenv("LOCKSTEP"), "step",   "collective", "all_reduce",  "--node",
                          "dgx-a100",         "--gpus", "4",          "--algo=ring", NULL};
    EXPECT_INT(walked(argv, keys, said, sizeof said), 0);
    const char *at = said;
    static const char *const frames[] = {"Frame 1 of 14", "Frame 2 of 14", "Frame 3 of 14", "Frame 2 of 14",
                                         "\033[?1049l"};
    for (size_t i = 0; at && i < sizeof frames / sizeof *frames; i++) {
        at = strstr(at, frames[i]);
        if (!at) test_fail(__FILE__, __LINE__, "%s does not follow", frames[i]);
    }
}

TEST(a_frame_is_what_its_table_says_whichever_way_one_comes) {
    char one[8000], again[8000], all[60000];
    const char *line = "$LOCKSTEP step run --model gpt2-124m --node dgx-a100 --gpus 4 --pp 4 --micro-batch 1 "
                       "--global-batch 4 ";
    char asked[400];
    snprintf(asked, sizeof asked, "%s --frames 26", line);
    EXPECT_INT(test_shell(asked, one, sizeof one), 0);
    EXPECT_CONTAINS(one, "stage 0 waits for stage 1: receive gradients");
    EXPECT_CONTAINS(one, "stage 3 # forward of micro-batch 2");
    snprintf(asked, sizeof asked, "%s --at 8.9ms", line);
    EXPECT_INT(test_shell(asked, again, sizeof again), 0);
    EXPECT_TEXT(again, one);
    snprintf(asked, sizeof asked, "%s --csv", line);
    EXPECT_INT(test_shell(asked, all, sizeof all), 0);
    EXPECT_CONTAINS(all, "stage 0: forward of micro-batch 1");
}

TEST(a_frame_is_drawn_on_the_narrowest_terminal) {
    static const char *const asked[] = {
        "collective all_reduce --node dgx-a100 --gpus 4 --frames 3",
        "collective all_to_all --node dgx-a100 --gpus 8 --at 10us",
        "run --model gpt2-124m --node dgx-a100 --gpus 4 --pp 4 --micro-batch 1 --global-batch 4 --frames 26"};
    static const int columns[] = {1, 5, 12};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) {
            char line[400], said[20000];
            snprintf(line, sizeof line, "COLUMNS=%d $LOCKSTEP step %s", columns[c], asked[i]);
            EXPECT_INT(test_shell(line, said, sizeof said), 0);
            EXPECT_CONTAINS(said, "\nBegins ");
        }
}

TEST(what_cannot_be_done_says_so_by_its_status) {
    static const struct {
        const char *line, *says;
    } lines[] = {
        {"collective all_to_all --node dgx-a100 --gpus 64 --fabric ib-hdr200 --svg /tmp/lockstep-no.svg", "a slide"},
        {"collective all_reduce --node rtx3060-workstation --nodes 4 --fabric eth-1g --sizes 9e14 --algo ring",
         "longer than 106 days"},
        {"collective all_reduce --node dgx-a100 --gpus 128 --fabric ib-hdr200", "64 are the most"}};
    char said[4000], line[400];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(line, sizeof line, "$LOCKSTEP step %s 2>&1", lines[i].line);
        EXPECT_INT(test_shell(line, said, sizeof said), 4);
        EXPECT_CONTAINS(said, lines[i].says);
    }
    static const char late[] = "$LOCKSTEP step collective all_reduce --node dgx-a100 --gpus 4 --algo=ring --at 1h 2>&1";
    EXPECT_INT(test_shell(late, said, sizeof said), 2);
    EXPECT_CONTAINS(said, "--at is beyond the end, which comes after 490 us");
    EXPECT_INT(test_shell("$LOCKSTEP step 2>&1", said, sizeof said), 2);
    EXPECT_CONTAINS(said, "lockstep step run FILE.lua, or lockstep step run --model NAME");
}

// ---- Drawings.

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

static char *drawn(Arena *arena, const Film *film) {
    TextStream text = text_stream_open();
    Problems *problems = problems_create(arena);
    EXPECT(film_svg(arena, text.stream, film, problems));
    return text_stream_close(arena, &text);
}

static void expect_sound(const char *svg) {
    XML_Parser parser = XML_ParserCreate("UTF-8");
    EXPECT(XML_Parse(parser, svg, (int)strlen(svg), 1) == XML_STATUS_OK);
    XML_ParserFree(parser);
    EXPECT(!strstr(svg, "<script"));
    EXPECT_INT(count_of(svg, "http"), 1); // its name space: nothing is fetched
    EXPECT_CONTAINS(svg, "prefers-reduced-motion");
}

TEST(a_drawing_moves_every_chunk_and_needs_nothing_else) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .ranks = first_ranks(arena, network, 1, 4),
                                 .rank_count = 4,
                                 .bytes = 8 * MIB,
                                 .algorithm = "ring"};
    const Film *film = film_on(arena, network, &request);
    const char *svg = drawn(arena, film);
    expect_sound(svg);
    EXPECT_INT(count_of(svg, "class=\"m m"), 24); // 2 (n - 1) steps of n chunks
    EXPECT_INT(count_of(svg, "<g class=\"a"), 24);
    EXPECT_CONTAINS(svg, ".m{opacity:0;fill:none;"); // the figure below a message can be read
    arena_close(arena);
}

TEST(a_drawing_of_a_program_has_its_bars_and_its_deadlock) {
    Loaded loaded =
        load_returning("sim.program { title = \"A & <B>\", on = sim.cluster { node = \"dgx-a100\", gpus = 2 }, "
                       "rank = function(r) r:compute { flops = 1e12, bytes = 1e6, name = \"F\" } "
                       "r:send { to = 1 - r.id, bytes = \"1 MiB\" } r:recv { from = 1 - r.id } end }",
                       NULL);
    const Film *film = film_of_program(loaded.arena, loaded.scenario->items[0].program, 1, loaded.problems);
    const char *svg = film ? drawn(loaded.arena, film) : "";
    expect_sound(svg);
    EXPECT_CONTAINS(svg, "A &amp; &lt;B&gt;");
    EXPECT_CONTAINS(svg, "rank 0 → rank 1 → rank 0");
    EXPECT_CONTAINS(svg, ">Compute</text>");      // what the colour of F stands for
    EXPECT(!strstr(svg, ">Sends and receives<")); // none was through
    unload(&loaded);
}
