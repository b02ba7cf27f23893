// The trace of the engine's events: what is in it, how long it may be, and what becomes of one that cannot be written.
#include <string.h>
#include <unistd.h>

#include "sim/run.h"
#include "sim/trace.h"
#include "tests/test.h"

#define SHARED_BYTES 1e9

// Two actors, a transfer each over the same link, which begin together; then one for both, by which they meet.
static const System *two_actors(void) {
    static const LinkUse use = {0, 1};
    static const Plan plan = {.latency = 5, .bytes = SHARED_BYTES, .fairness = 1, .uses = &use, .use_count = 1};
    static const Channel channels[] = {{.plans = &plan, .plan_count = 1, .member_count = 1},
                                       {.plans = &plan, .plan_count = 1, .member_count = 1},
                                       {.plans = &plan, .plan_count = 1, .member_count = 2}};
    static const Op ops[] = {{.kind = OP_TRANSFER, .slot = 0, .label = 1},
                             {.kind = OP_TRANSFER, .slot = 1, .label = 2, .cause = 1}};
    static const Stream stream = {"main", ops, 2};
    static const Program program = {.streams = &stream, .stream_count = 1, .slot_count = 2};
    static const int32_t slots[2][2] = {{0, 2}, {1, 2}};
    static const Actor actors[] = {{.program = 0, .channels = slots[0], .slowness = 1},
                                   {.program = 0, .channels = slots[1], .slowness = 1}};
    static const Link link = {.name = "link", .bytes_per_second = 1e9};
    static const char *const causes[] = {"own", "common"};
    static const Label labels[] = {{.name = ""}, {.name = "one\nline"}, {.name = "both"}};
    static const System system = {.programs = &program,
                                  .program_count = 1,
                                  .actors = actors,
                                  .actor_count = 2,
                                  .channels = channels,
                                  .channel_count = 3,
                                  .links = &link,
                                  .link_count = 1,
                                  .causes = causes,
                                  .cause_count = 2,
                                  .labels = labels,
                                  .label_count = 3};
    return &system;
}

static char text[1 << 14];

static const char *written(const char *path) {
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[bytes] = '\0';
    return text;
}

TEST(a_trace_has_a_line_an_event_and_changes_no_time) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char path[] = "/tmp/lockstep-trace-XXXXXX";
    close(mkstemp(path));
    EXPECT(!system_check(arena, two_actors()));
    RunResult plain = run_system(arena, two_actors(), &(RunOptions){.all_meet = true});
    EXPECT(trace_open(arena, path, problems));
    RunResult traced = run_system(arena, two_actors(), &(RunOptions){.all_meet = true});
    EXPECT(trace_close(problems));
    EXPECT_SAME(traced.digest, plain.digest);
    EXPECT_SAME(traced.event_count, plain.event_count);
    const char *all = written(path);
    int lines = 0;
    for (const char *at = all; (at = strchr(at, '\n')); at++) lines++;
    EXPECT_INT(lines, 1 + traced.event_count);
    EXPECT_CONTAINS(all, "run\ttime_s\tevent\tchannel\tactor\tmembers\tcause\tlabel\n");
    EXPECT_CONTAINS(all, "\n1\t0.000000000005\tflow\t0\t0\t1\town\tone?line\n");
    EXPECT_CONTAINS(all, "\n1\t0.000000000005\tshare\t-\t-\t-\t-\t\n");
    EXPECT_CONTAINS(all, "\n1\t2.000000000005\tdone\t1\t1\t1\town\tone?line\n"); // half of the link each
    EXPECT_CONTAINS(all, "\n1\t3.000000000010\tdone\t2\t");
    EXPECT_CONTAINS(all, "\t2\tcommon\tboth\n");
    unlink(path);
    arena_close(arena);
}

TEST(a_trace_is_bounded_and_says_how_much_is_left_out) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char path[] = "/tmp/lockstep-trace-XXXXXX", last[64] = "";
    close(mkstemp(path));
    EXPECT(trace_open(arena, path, problems));
    for (int i = 0; i < TRACE_LINES_MOST + 5; i++)
        trace_event(1, &(TraceEvent){.what = "share", .channel = -1, .label = ""});
    EXPECT(trace_close(problems));
    FILE *file = fopen(path, "r");
    int lines = 0;
    while (file && fgets(last, sizeof last, file)) lines++;
    if (file) fclose(file);
    EXPECT_INT(lines, 2 + TRACE_LINES_MOST);
    EXPECT_TEXT(last, "# and 5 events more\n");
    unlink(path);
    arena_close(arena);
}

#define JOB "--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"

TEST(a_run_writes_the_trace_it_is_asked_for_or_says_why_not) {
    static char output[1 << 14];
    int status = test_shell("d=$(mktemp -d); $LOCKSTEP run scenarios/lessons/ddp_twin.lua --unfolded -q --trace-events "
                            "$d/t.tsv >$d/said && grep -c '\tdone\t' $d/t.tsv; rm -r $d",
                            output, sizeof output);
    EXPECT_INT(status, 0);
    EXPECT(strtol(output, NULL, 10) > 10);
    EXPECT_INT(test_shell("$LOCKSTEP run scenarios/lessons/ddp_twin.lua -q --trace-events /nowhere/t.tsv", output,
                          sizeof output),
               1);
    EXPECT_CONTAINS(output, "/nowhere/t.tsv: error: cannot be written: No such file");
    EXPECT_INT(
        test_shell("$LOCKSTEP run scenarios/lessons/ddp_twin.lua -q --trace-events /dev/full", output, sizeof output),
        1);
    EXPECT_CONTAINS(output, "/dev/full: error: cannot be written: No space left");
}

TEST(a_run_that_is_refused_leaves_the_files_that_it_was_to_write_as_they_were) {
    static const char *const refused[] = {
        "run bad.lua --trace-events %s",
        "run " JOB " --profile bad.json --trace-events %s",
        "run " JOB " --anchor bad.lua --trace-events %s",
        "run " JOB " --tp 3 --trace-events %s",
        "run bad.lua -o %s",
        "explain bad.lua -o %s",
        "trace bad.lua -o %s",
        "report run bad.lua -o %s",
        "sweep bad.lua -o %s",
        "queue --gpus 64 --trace bad.lua --outcomes %s",
        "queue --gpus 64 --load 0.5 --rates none-such --outcomes %s",
        "validate training bad.lua --rows %s",
        "calibrate fit bad.json -o %s",
    };
    static char output[1 << 14];
    char asked[256], line[1024];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int is_there = 0; is_there < 2; is_there++) {
            snprintf(asked, sizeof asked, refused[i], is_there ? "kept.txt" : "new.txt");
            snprintf(
                line, sizeof line,
                "p=$(realpath $LOCKSTEP); d=$(mktemp -d); cd $d && echo kept >kept.txt && echo '{' >bad.json && "
                "echo 'error(1)' >bad.lua; if $p %s >/dev/null 2>&1; then echo done; fi; cat kept.txt; ls; rm -r $d",
                asked);
            EXPECT_INT(test_shell(line, output, sizeof output), 0);
            if (strcmp(output, "kept\nbad.json\nbad.lua\nkept.txt\n") != 0)
                test_fail(__FILE__, __LINE__, "%s: %s", asked, output);
        }
}
