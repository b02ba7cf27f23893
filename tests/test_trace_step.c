// Traces of a step: files that importers take, times that are those of the run, bounds that hold.
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/step/step_trace.h"
#include "results/trace_file.h"
#include "scenarios/explain/explain.h"
#include "scenarios/trace/trace.h"
#include "sim/system/file.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"
#include "tests/trace_check.h"

#define PIPELINE                                                                                                       \
    "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 32, fabric = 'ib-hdr200' }, "                       \
    "run = sim.training { model = 'gpt2-124m', parallel = { tp = 2, pp = 4 }, batch = { micro = 1, global = 64 } } }"
#define DATA_PARALLEL                                                                                                  \
    "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 8 }, "                                              \
    "run = sim.training { model = 'gpt2-124m', zero = 3, batch = { micro = 1, global = 32 } } }"
#define INTERLEAVED                                                                                                    \
    "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 8 }, "                                              \
    "run = sim.training { model = 'gpt2-124m', parallel = { pp = 4, vpp = 3 }, batch = { micro = 1, global = 32 } } }"

typedef struct Traced {
    Loaded loaded;
    Arena *arena;
    Problems *problems;
    const SpanSet *set;
} Traced;

static Traced trace_text(const char *expression, const char *ranks, int64_t room) {
    Traced traced = {.loaded = load_returning(expression, NULL), .arena = arena_open()};
    traced.problems = problems_create(traced.arena);
    if (!traced.loaded.scenario) test_fail(__FILE__, __LINE__, "%s", first_problem(&traced.loaded));
    const ScenarioItem *item = scenario_item(traced.loaded.scenario, 1);
    TraceRequest request = {.study = item->study,
                            .program = item->program,
                            .seed = 1,
                            .ranks = ranks,
                            .span_room = room,
                            .lanes = true,
                            .breakdown = true};
    const char *why_not;
    traced.set = trace_step(traced.arena, &request, &why_not, traced.problems);
    return traced;
}

static void end(Traced *traced) {
    arena_close(traced->arena);
    unload(&traced->loaded);
}

// Of the main stream by category, from the spans themselves.
static void expect_times_of_the_run(const SpanSet *set) {
    for (int p = 0; p < set->process_count; p++) {
        SimTime spent[CAUSE_COUNT + 1] = {0}, at = 0;
        int main = 0;
        while (set->tracks[main].process != p) main++;
        for (int64_t i = 0; i < set->span_count; i++) {
            const Span *span = &set->spans[i];
            if (span->track != main) continue;
            EXPECT_INT(span->start, at); // without a gap
            EXPECT(span->start <= span->begun && span->begun <= span->end);
            at = span->end;
            spent[span->category] += span->end - span->start;
        }
        for (int c = 0; c < CAUSE_COUNT; c++) EXPECT_INT(spent[c], set->processes[p].spent[c]);
        EXPECT(at <= set->end);
    }
}

TEST(times_by_cause_of_a_traced_rank_are_the_runs_to_the_tick) {
    static const char *const jobs[] = {PIPELINE, DATA_PARALLEL, INTERLEAVED};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        Traced traced = trace_text(jobs[i], NULL, 1000000);
        EXPECT(traced.set != NULL);
        EXPECT_INT(traced.set->left_out, 0);
        EXPECT_INT(traced.set->stride, 1);
        expect_times_of_the_run(traced.set);
        end(&traced);
    }
}

TEST(a_step_that_is_traced_takes_what_it_takes_untraced) {
    Traced traced = trace_text(PIPELINE, NULL, 1000000);
    ExplainRequest request = {.study = scenario_item(traced.loaded.scenario, 1)->study, .only_why = true};
    const Explanation *now = explain_study(traced.arena, &request, traced.problems);
    EXPECT_INT(traced.set->end, now->job.step.chain->end);
    end(&traced);
}

// One rank of a folded run and the same in a run of all ranks.
TEST(a_rank_does_the_same_whether_others_are_traced_or_not) {
    Traced one = trace_text(PIPELINE, "8", 1000000), all = trace_text(PIPELINE, "all", 1000000);
    EXPECT_INT(one.set->process_count, 1);
    EXPECT_INT(all.set->process_count, 32);
    int64_t at = 0;
    while (all.set->processes[all.set->tracks[all.set->spans[at].track].process].id != 8) at++;
    for (int64_t i = 0; i < one.set->span_count; i++) {
        const Span *alone = &one.set->spans[i], *among = &all.set->spans[at + i];
        EXPECT_INT(alone->start, among->start);
        EXPECT_INT(alone->end, among->end);
        EXPECT_INT(alone->name, among->name);
    }
    end(&one);
    end(&all);
}

static TraceBytes file_of(const SpanSet *set, double most) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    TraceBytes file = {0};
    if (!trace_write(arena, set, most, &file, problems))
        test_fail(__FILE__, __LINE__, "%s", problem_at(problems, 0)->text);
    arena_close(arena);
    return file;
}

static TraceSeen seen_in(Arena *arena, const TraceBytes *file) {
    return check_chrome_trace(arena, (const char *)file->bytes, file->count);
}

TEST(a_file_obeys_the_importers_rules_and_shows_all) {
    static const char *const jobs[] = {PIPELINE, DATA_PARALLEL, INTERLEAVED};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        Traced traced = trace_text(jobs[i], NULL, 1000000);
        TraceBytes file = file_of(traced.set, 1e9);
        TraceSeen seen = seen_in(traced.arena, &file);
        EXPECT_TEXT(seen.wrong ? seen.wrong : "", "");
        EXPECT_INT(seen.slices, traced.set->span_count + traced.set->pass_count);
        EXPECT_INT(seen.tracks, traced.set->track_count);
        EXPECT(seen.counters > 0);
        EXPECT(i == 1 || seen.arrows > 50); // stages send to each other
        EXPECT(seen.longest_ns <= traced.set->end / 1000);
        free(file.bytes);
        end(&traced);
    }
}

// Every rule of the checker fires on a file that breaks it.
TEST(a_file_that_breaks_a_rule_is_found_out) {
    static const struct {
        const char *from, *to, *wrong;
    } mutations[] = {
        {"\"dur\":", "\"dum\":", "an event lacks a number that it needs"},
        {"\"dur\":", "\"dur\":-", "a number is negative"},
        {"\"ph\":\"s\"", "\"ph\":\"f\",\"bp\":\"e\"", "an arrow has not two ends"},
        {"\"bp\":\"e\",", "", "an arrow ends at the next slice, not the one around"},
        {"\"name\":\"thread_name\"", "\"name\":\"nobody\"", "a thread has slices and no name"},
        {"\"dur\":", "\"dur\":1", "slices of a track overlap and do not nest"},
        {"\"ph\":\"C\"", "\"ph\":\"Q\"", "an event is of a kind that is not drawn"},
        {"\"cat\":\"transfer\"", "\"cat\":\"other\"", "the ends of an arrow have different names"},
    };
    Traced traced = trace_text(PIPELINE, NULL, 1000000);
    TraceBytes file = file_of(traced.set, 1e9);
    for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
        Arena *arena = arena_open();
        const char *text = arena_printf(arena, "%.*s", (int)file.count, (const char *)file.bytes);
        const char *at = strstr(text, mutations[i].from);
        const char *broken =
            arena_printf(arena, "%.*s%s%s", (int)(at - text), text, mutations[i].to, at + strlen(mutations[i].from));
        EXPECT_TEXT(check_chrome_trace(arena, text, file.count).wrong ? "wrong" : "", "");
        TraceSeen seen = check_chrome_trace(arena, broken, strlen(broken));
        EXPECT_TEXT(seen.wrong ? seen.wrong : "nothing", mutations[i].wrong);
        arena_close(arena);
    }
    free(file.bytes);
    end(&traced);
}

static void expect_cut(void) {
    Traced traced = trace_text(PIPELINE, NULL, 1000000);
    TraceBytes whole = file_of(traced.set, 1e9);
    TraceBytes cut = file_of(traced.set, (double)whole.count / 2);
    EXPECT(cut.count <= whole.count / 2);
    EXPECT(cut.stride > 1 && cut.left_out > 0);
    Arena *arena = arena_open();
    TraceSeen seen = seen_in(arena, &cut);
    EXPECT_TEXT(seen.wrong ? seen.wrong : "", "");
    EXPECT_INT(seen.slices, traced.set->span_count + traced.set->pass_count - cut.left_out);
    const char *sentence = trace_left_out(arena, traced.set, &cut);
    EXPECT_CONTAINS(sentence, "micro-batch");
    EXPECT(memmem(cut.bytes, cut.count, sentence, strlen(sentence)) != NULL);
    TraceBytes none;
    Problems *problems = problems_create(arena);
    EXPECT(!trace_write(arena, traced.set, 2000, &none, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "does not fit");
    EXPECT(trace_write(arena, traced.set,
                       atof(strstr(problem_at(problems, 0)->hint, "--size-limit ") + strlen("--size-limit ")) * 1e6,
                       &none, problems));
    free(none.bytes);
    arena_close(arena);
    free(whole.bytes);
    free(cut.bytes);
    end(&traced);
}

// The last to go.
static void expect_without_curves(void) {
    Traced traced = trace_text(PIPELINE, NULL, 1000000);
    TraceBytes file = file_of(traced.set, 1e9);
    while (!file.without_curves) {
        double less = (double)file.count * 0.99;
        free(file.bytes);
        file = file_of(traced.set, less);
    }
    TraceSeen seen = seen_in(traced.arena, &file);
    EXPECT_TEXT(seen.wrong ? seen.wrong : "", "");
    EXPECT(seen.counters > 0); // of links
    EXPECT_CONTAINS(trace_left_out(traced.arena, traced.set, &file), "curves of ranks are left out");
    free(file.bytes);
    end(&traced);
}

TEST(a_file_keeps_to_its_size_and_says_what_it_left_out) {
    expect_without_curves();
    expect_cut();
}

// Memory does not grow with the step: what does not fit is thinned while it is recorded.
TEST(recording_keeps_to_its_room) {
    Traced wide = trace_text(PIPELINE, "all", 1000000), narrow = trace_text(PIPELINE, "all", 3000);
    EXPECT(wide.set->span_count > 10000);
    EXPECT(narrow.set->span_count <= 3000 && narrow.set->pass_count <= 3000);
    EXPECT(narrow.set->stride > 1);
    EXPECT_INT(narrow.set->seen, wide.set->seen);
    EXPECT(narrow.set->span_count + narrow.set->left_out >= narrow.set->seen);
    EXPECT_INT(narrow.set->sum_count, wide.set->sum_count); // sums are of all
    for (int i = 0; i < wide.set->sum_count; i++) EXPECT_INT(narrow.set->sums[i].total, wide.set->sums[i].total);
    end(&wide);
    end(&narrow);
}

// Steps of a curve hold until the next: their area is what the run carried.
TEST(curves_of_links_hold_all_bytes_and_power_is_within_the_gpus) {
    Traced traced = trace_text(PIPELINE, NULL, 1000000);
    int links = 0, powers = 0, memories = 0;
    for (int i = 0; i < traced.set->counter_count; i++) {
        const SpanCounter *counter = &traced.set->counters[i];
        double area = 0;
        for (int k = 0; k + 1 < counter->count; k++) {
            EXPECT(counter->times[k] < counter->times[k + 1]);
            area += counter->values[k] * step_seconds(counter->times[k + 1] - counter->times[k]);
        }
        for (int k = 0; k < counter->count; k++) EXPECT(counter->values[k] >= 0);
        if (strcmp(counter->unit, "GB/s") == 0) {
            EXPECT(area > 0);
            links++;
        } else if (strcmp(counter->unit, "W") == 0) {
            for (int k = 0; k < counter->count; k++) EXPECT(counter->values[k] > 50 && counter->values[k] < 500);
            powers++;
        } else {
            memories++;
        }
    }
    EXPECT(links > 0);
    EXPECT_INT(powers, 4);
    EXPECT(memories >= 4 * 4);
    end(&traced);
}

// ---- Lines of letters, and what is resident.

TEST(lines_of_letters_have_all_time_of_the_main_stream) {
    static const char *const jobs[] = {PIPELINE, DATA_PARALLEL, INTERLEAVED};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        Traced traced = trace_text(jobs[i], NULL, 1000); // thinned, and yet all of it
        for (int p = 0; p < traced.set->process_count; p++) {
            const SpanLane *lane = &traced.set->lanes[p];
            SimTime told = 0, spent = 0;
            for (int b = 0; b < lane->bin_count; b++) {
                SimTime bin = 0;
                for (int k = 0; k < traced.set->kind_count; k++) bin += lane->spent[b * traced.set->kind_count + k];
                EXPECT(bin <= lane->width);
                told += bin;
            }
            for (int c = 0; c < CAUSE_COUNT; c++) spent += traced.set->processes[p].spent[c];
            EXPECT_INT(told, spent);
        }
        end(&traced);
    }
}

typedef struct Twin { // what is resident between two neighbouring moments
    bool compute, communication, memory, host;
} Twin;

static Twin resident_at(const SpanSet *set, int process, SimTime at) {
    Twin twin = {0};
    for (int64_t i = 0; i < set->span_count; i++) {
        const Span *span = &set->spans[i];
        if (set->tracks[span->track].process != process || span->end <= at || span->start > at) continue;
        bool main = span->track == 0 || set->tracks[span->track - 1].process != process;
        bool waits = strncmp(set->names[span->name], "wait: ", 6) == 0, transfer = span->transfer >= 0;
        Cause cause = (Cause)span->category;
        bool host = cause == CAUSE_LAUNCH || cause == CAUSE_DATA || cause == CAUSE_HOST || cause == CAUSE_OTHER;
        if (host)
            twin.host = twin.host || main;
        else if (cause == CAUSE_COPY)
            twin.memory = twin.memory || !waits;
        else if (waits || transfer)
            twin.communication =
                twin.communication || (waits ? cause == CAUSE_PP : cause != CAUSE_PP || main || span->begun <= at);
        else
            twin.compute = true;
    }
    return twin;
}

static int by_moment(const void *a, const void *b) {
    return (*(const SimTime *)a > *(const SimTime *)b) - (*(const SimTime *)a < *(const SimTime *)b);
}

// Moment by moment, looking at every span again.
static SpanBreakdown slow_breakdown(Arena *arena, const SpanSet *set, int process) {
    SimTime *moments = ARENA_ARRAY(arena, SimTime, 3 * set->span_count + 2);
    int count = 0;
    moments[count++] = 0;
    moments[count++] = set->end;
    for (int64_t i = 0; i < set->span_count; i++) {
        const Span *span = &set->spans[i];
        if (set->tracks[span->track].process != process) continue;
        moments[count++] = span->start;
        moments[count++] = span->begun;
        moments[count++] = span->end;
    }
    qsort(moments, (size_t)count, sizeof *moments, by_moment);
    SpanBreakdown sum = {0};
    for (int i = 0; i + 1 < count; i++) {
        SimTime time = moments[i + 1] - moments[i];
        if (time == 0) continue;
        Twin twin = resident_at(set, process, moments[i]);
        if (twin.compute) sum.compute += time;
        if (twin.communication) sum.communication += time;
        if (twin.compute && twin.communication) sum.overlap += time;
        if (twin.compute) continue;
        *(twin.communication ? &sum.exposed_communication
          : twin.memory      ? &sum.exposed_memory
          : twin.host        ? &sum.idle_host
                             : &sum.idle_other) += time;
    }
    return sum;
}

TEST(what_is_resident_sums_to_the_step_and_is_what_looking_at_every_moment_finds) {
    static const char *const jobs[] = {
        "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 16, fabric = 'ib-hdr200' }, "
        "run = sim.training { model = 'gpt2-124m', parallel = { pp = 4 }, batch = { micro = 4, global = 64 } } }",
        "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 4 }, "
        "run = sim.training { model = 'gpt2-124m', zero = 3, batch = { micro = 4, global = 16 } } }",
        "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 1 }, "
        "run = sim.training { model = 'gpt2-124m', batch = { micro = 4, global = 4 } } }",
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        Traced traced = trace_text(jobs[i], NULL, 1000000);
        for (int p = 0; p < traced.set->process_count; p++) {
            const SpanBreakdown *b = &traced.set->breakdowns[p];
            SimTime sum = b->compute + b->exposed_communication + b->exposed_memory + b->idle_host + b->idle_other;
            EXPECT_INT(sum, traced.set->end);
            EXPECT_INT(b->communication, b->overlap + b->exposed_communication);
            SpanBreakdown slow = slow_breakdown(traced.arena, traced.set, p);
            EXPECT(memcmp(&slow, b, sizeof slow) == 0);
            EXPECT(b->compute > 0 && (b->communication > 0) == (i != 2));
        }
        end(&traced);
    }
}

#define SMALL_JOB                                                                                                      \
    "trace --model gpt2-124m --node dgx-a100 --gpus 16 --fabric ib-hdr --pp 4 --micro-batch 4 --global-batch 64"

TEST(a_timeline_of_letters_is_as_wide_as_the_terminal) {
    static char said[65536];
    for (int width = 60; width <= 180; width += 60) {
        char line[400];
        snprintf(line, sizeof line, "COLUMNS=%d $LOCKSTEP " SMALL_JOB " --timeline", width);
        EXPECT_INT(test_shell(line, said, sizeof said), 0);
        int ranks = 0;
        for (char *at = strstr(said, "\nrank "); at; at = strstr(at + 1, "\nrank ")) {
            EXPECT_INT(strcspn(at + 1, "\n"), width);
            ranks++;
        }
        EXPECT_INT(ranks, 4);
        EXPECT_CONTAINS(said, "F  forward, ");
    }
}

TEST(each_table_is_printed_where_it_is_asked_for) {
    const Ended *ended = run_command(command_trace, SMALL_JOB " --breakdown");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "exposed communication");
    EXPECT(strstr(ended->out, "What takes longest") == NULL);
    EXPECT_CONTAINS(run_command(command_trace, SMALL_JOB " --breakdown --csv")->out, "rank,compute_s,");
    EXPECT_CONTAINS(run_command(command_trace, SMALL_JOB " --timeline --csv")->out, "rank,stream,operation,");
    EXPECT_CONTAINS(run_command(command_trace, SMALL_JOB " --timeline --top")->out, "What takes longest");
}

TEST(a_rank_program_is_traced_too) {
    Traced traced = trace_text("sim.program { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 4 }, "
                               "rank = function(r) r:compute { seconds = 1e-3 } "
                               "r:all_reduce { bytes = 64e6 } end }",
                               NULL, 1000);
    if (!traced.set) test_fail(__FILE__, __LINE__, "%s", problem_at(traced.problems, 0)->text);
    expect_times_of_the_run(traced.set);
    end(&traced);
}

TEST(the_last_run_can_be_traced) {
    static char said[65536];
    const char *line =
        "d=$(mktemp -d) && export XDG_STATE_HOME=$d LOCKSTEP_LAST=always && $LOCKSTEP run --model gpt2-124m "
        "--node dgx-a100 --gpus 8 --micro-batch 1 >$d/run && $LOCKSTEP trace --last --breakdown; rm -r $d";
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "exposed communication");
}

TEST(trace_says_what_is_wrong_with_a_command_line) {
    EXPECT_INT(
        run_command(command_trace, "trace --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 -o /dev/full")
            ->code,
        1);
    EXPECT_INT(
        run_command(
            command_trace,
            "trace --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --size-limit 1kB -o /dev/null.json")
            ->code,
        4);
    EXPECT_CONTAINS(run_command(command_trace, "trace")->err,
                    "lockstep trace FILE.lua, or lockstep trace --model NAME");
    EXPECT_CONTAINS(
        run_command(command_trace, "trace --model gpt2-124m --node dgx-h100 --gpus 8 --size-limit 1MB")->err,
        "--size-limit limits the timeline");
    EXPECT_CONTAINS(run_command(command_trace, "trace --model gpt2-124m --node dgx-h100 --gpus 8 -o step.gz")->err,
                    "end it in .json.gz");
    const char *job = "trace --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --ranks %s";
    static const char *const bad[] = {"8", "-1", "1,1", "1,", "x", "0,,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[200];
        snprintf(line, sizeof line, job, bad[i]);
        const Ended *ended = run_command(command_trace, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, "ranks of this job are 0 to 7");
    }
    EXPECT_INT(run_command(command_trace, "trace --model gpt3-175b --node dgx-h100 --gpus 8 --micro-batch 1")->code, 3);
}

TEST(what_is_put_on_a_simulated_step_is_said_where_its_spans_are_shown) {
#define JOB "--model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --global-batch 64"
    static char run[1 << 16], other[1 << 16];
    EXPECT_INT(test_shell("COLUMNS=200 $LOCKSTEP run " JOB, run, sizeof run), 0);
    char *takes = strstr(run, "a step takes ");
    EXPECT(takes != NULL);
    if (!takes) return;
    takes += strlen("a step takes ");
    takes[strcspn(takes, "(") - 1] = '\0'; // "145.2 ms"
    static const char *const doors[] = {"trace " JOB, "step run " JOB " --frames 1..2"};
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line, "COLUMNS=200 $LOCKSTEP %s | tr '\\n' ' '", doors[i]);
        EXPECT_INT(test_shell(line, other, sizeof other), 0);
        EXPECT_CONTAINS(other, "run expects ");
        EXPECT_CONTAINS(other, takes);
    }
    EXPECT_INT(test_shell("$LOCKSTEP trace " JOB " --software megatron", other, sizeof other), 0);
    EXPECT(!strstr(other, "run expects")); // nothing is put on tuned code
#undef JOB
}
