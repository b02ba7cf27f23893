// One job has one answer at every door: what a plan chooses, the command line that it says, explain and report give the
// same step, memory and cost; and what explain advises gives, typed as a job's option, the step that it promised.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "sim/base/check.h"
#include "sim/base/options.h"
#include "sim/base/random.h"
#include "sim/data/json.h"
#include "tests/test.h"

#define ADVICES_TRIED 6 // of each job, evenly over all
#define MOST_LINE 4096

static char folder[64];

// The answer of a command line, or NULL where its exit code is not 0.
static const Json *answer_of(Arena *arena, const char *line) {
    static char said[1 << 14];
    char command[MOST_LINE], path[128];
    snprintf(path, sizeof path, "%s/answer.json", folder);
    snprintf(command, sizeof command, "$LOCKSTEP %s --json >%s", line, path);
    if (test_shell(command, said, sizeof said) != 0) {
        printf("%s\n%s", line, said);
        return NULL;
    }
    return json_read_file(arena, path, problems_create(arena));
}

static const Json *inside(const Json *object, const char *a, const char *b) {
    const Json *outer = object ? json_get(object, a) : NULL;
    return outer && b ? json_get(outer, b) : outer;
}

static double number_in(const Json *object, const char *a, const char *b) {
    const Json *value = inside(object, a, b);
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static const char *line_of(Arena *arena, const Json *words, int from) {
    const char *line = "";
    for (int i = from; words && i < words->count; i++)
        line = arena_printf(arena, "%s%s%s", line, *line ? " " : "", option_word_quoted(arena, words->items[i].text));
    return line;
}

// ---- Jobs.

static const char *pick(RandomStream *stream, const char *const *names, int count) {
    return names[random_below(stream, (uint64_t)count)];
}

static const char *draw_question(Arena *arena, int seed) {
    static const char *const models[] = {"gpt2-355m",  "llama-2-7b", "llama-2-13b", "mixtral-8x7b --seq 4096",
                                         "bert-large", "resnet-50"};
    static const char *const nodes[] = {"dgx-h100", "dgx-a100", "dgx-1-v100", "dgx-h100,dgx-a100",
                                        "azure-nd96isr-h100-v5"};
    static const char *const stacks[] = {
        "", "", "deepspeed", "megatron-deepspeed", "hf trainer", "fsdp", "nemo 24.07", "torchtitan", "megatron"};
    static const char *const more[] = {"", "--offload", "--terms spot,on_demand", "--objective time", "--price 2.5"};
    RandomStream stream = random_stream((uint64_t)seed, "questions with one answer", 0);
    const char *model = pick(&stream, models, COUNT_OF(models)), *node = pick(&stream, nodes, COUNT_OF(nodes));
    const char *stack = pick(&stream, stacks, COUNT_OF(stacks)), *also = pick(&stream, more, COUNT_OF(more));
    int gpus = 8 << random_below(&stream, 3), batch = 64 << random_below(&stream, 3);
    bool images = strcmp(model, "resnet-50") == 0;
    return arena_printf(arena, "--model %s --node %s --fabric %s --gpus %d --global-batch %d %s %s%s%s %s -j 1", model,
                        node, strstr(node, "azure") ? "ib-ndr400" : "ib-edr100", gpus, batch,
                        images ? "--samples 1M --epochs 2" : "--tokens 1B", *stack ? "--software '" : "", stack,
                        *stack ? "'" : "", also);
}

// ---- What explain advises, in options: "--micro-batch 2", "--tp-comm-overlap".

static const char *typed(Arena *arena, const char *change) {
    char name[64], value[64] = "true";
    int said = change ? sscanf(change, "--%63[a-z0-9-]%*1[ =]%63s", name, value) : 0;
    return said < 1 || strstr(change, " --") || strchr(change, '\'') ? NULL
                                                                     : arena_printf(arena, "'--%s=%s'", name, value);
}

// The option stands last; the one it takes the place of is not said.
static const char *with(Arena *arena, const Json *words, const char *option) {
    size_t length = strcspn(option + 1, "=");
    const char *line = "";
    for (int i = 2; i < words->count; i++) {
        const char *word = words->items[i].text;
        bool replaced = strlen(word) == length && strncmp(word, option + 1, length) == 0;
        if (replaced) i++;
        if (!replaced) line = arena_printf(arena, "%s %s", line, option_word_quoted(arena, word));
    }
    return arena_printf(arena, "%s %s", line, option);
}

static int check_advice(Arena *arena, const Json *words, const Json *explained, int seed) {
    const Json *settings = json_get(explained, "settings");
    int tried = 0;
    for (int n = 0; settings && n < ADVICES_TRIED && n < settings->count; n++) {
        const Json *advice = &settings->items[n * settings->count / ADVICES_TRIED % settings->count];
        const char *change = json_text(advice, "change", problems_create(arena)), *option = typed(arena, change);
        if (!option) continue;
        const Json *then = answer_of(arena, arena_printf(arena, "run%s", with(arena, words, option)));
        const Json *points = then ? json_get(then, "points") : NULL;
        double said = number_in(advice, "step_s", NULL);
        double is = points ? number_in(&points->items[0], "step_time_s", "p50") : NAN;
        if (!(fabs(is / said - 1) < 1e-9))
            test_fail(__FILE__, __LINE__, "seed %d: %s is said to give %.12g s and gives %.12g s: %s", seed, change,
                      said, is, line_of(arena, words, 1));
        tried++;
    }
    return tried;
}

// ---- The doors.

static void same(int seed, const char *what, double planned, double other) {
    if (planned == other || (isnan(planned) && isnan(other)) || fabs(other / planned - 1) < 1e-12) return;
    test_fail(__FILE__, __LINE__, "seed %d: %s is %.17g in the plan and %.17g", seed, what, planned, other);
}

static bool check_doors(Arena *arena, int seed, int *advices) {
    const char *question = draw_question(arena, seed);
    const Json *plan = answer_of(arena, arena_printf(arena, "plan %s", question));
    const Json *words = plan ? json_get(plan, "run_command") : NULL;
    if (!words) return false;
    const Json *run = answer_of(arena, line_of(arena, words, 1)), *points = run ? json_get(run, "points") : NULL;
    if (!points) {
        test_fail(__FILE__, __LINE__, "seed %d: %s", seed, line_of(arena, words, 1));
        return false;
    }
    const Json *point = &points->items[0];
    static const char *const percentiles[] = {"p5", "p50", "p95"};
    for (int p = 0; p < 3; p++)
        same(seed, percentiles[p], number_in(plan, "step_time_s", percentiles[p]),
             number_in(point, "step_time_s", percentiles[p]));
    same(seed, "memory", number_in(plan, "memory_bytes", "peak"), number_in(point, "memory_bytes", "peak"));
    if (isnan(number_in(plan, "goodput", NULL))) // without interruptions, which a run does not live through
        same(seed, "cost", number_in(plan, "cost", "amount"), number_in(point, "cost", "per_run"));
    const Json *explained = answer_of(arena, arena_printf(arena, "explain %s", line_of(arena, words, 2)));
    same(seed, "explain's step", number_in(plan, "step_time_s", "p50"), number_in(explained, "step_s", NULL));
    if (explained) *advices += check_advice(arena, words, explained, seed);
    return true;
}

// LOCKSTEP_ANSWERS=200 for the long form.
TEST(plan_run_and_explain_give_one_answer_and_advice_keeps_its_word) {
    const char *asked = getenv("LOCKSTEP_ANSWERS");
    int jobs = asked ? atoi(asked) : 4, ran = 0, advices = 0;
    snprintf(folder, sizeof folder, "/tmp/lockstep-one-XXXXXX");
    CHECK(mkdtemp(folder));
    for (int seed = 1; seed <= jobs; seed++) {
        Arena *arena = arena_open();
        ran += check_doors(arena, seed, &advices);
        arena_close(arena);
    }
    if (asked) printf("%d of %d questions have a plan; %d advices were typed\n", ran, jobs, advices);
    EXPECT(2 * ran >= jobs && advices >= 2 * ran);
    char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/answer.json", folder);
    remove(path);
    remove(folder);
}

// Rows stand in the order that was said, and each is the run that says its value itself: also where GPUs that vary are
// one node or several, and where nodes and networks bring rails with them.
TEST(a_run_varies_what_it_is_told_in_that_order) {
    static const struct {
        const char *said, *name, *values[3];
    } cases[] = {
        {"--node dgx-a100 --gpus 8 --global-batch 16", "tp", {"2", "1", "4"}},
        {"--node dgx-h100 --global-batch 64", "gpus", {"16", "8", "32"}},
        {"--node dgx-h100 --gpus 64 --global-batch 64", "fabric", {"ib-ndr400", "roce-400", "eth-100g"}},
        {"--gpus 32 --global-batch 64", "node", {"dgx-a100", "dgx-h100", "gb200-nvl72"}},
    };
    Arena *arena = arena_open();
    snprintf(folder, sizeof folder, "/tmp/lockstep-one-XXXXXX");
    CHECK(mkdtemp(folder));
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        const char *const *values = cases[c].values, *name = cases[c].name;
        const char *job = arena_printf(arena, "run --model gpt2-355m --micro-batch 1 %s", cases[c].said);
        const Json *all =
            answer_of(arena, arena_printf(arena, "%s --vary %s=%s,%s,%s", job, name, values[0], values[1], values[2]));
        const Json *points = json_get(all, "points");
        EXPECT(points && points->count == 3);
        for (int i = 0; points && i < points->count; i++) {
            const Json *one = answer_of(arena, arena_printf(arena, "%s --%s %s", job, name, values[i]));
            double alone = number_in(&json_get(one, "points")->items[0], "step_time_s", "p50");
            EXPECT(number_in(&points->items[i], "step_time_s", "p50") == alone);
        }
    }
    EXPECT(answer_of(arena, "run --model gpt2-355m --micro-batch 1 --node dgx-a100 --gpus 8 --vary tpp=2") == NULL);
    EXPECT(answer_of(arena, "run --model gpt2-355m --micro-batch 1 --node dgx-a100 --vary gpus=8,x") == NULL);
    remove(arena_printf(arena, "%s/answer.json", folder));
    remove(folder);
    arena_close(arena);
}

static double efficiency_on(Arena *arena, int gpus, double *samples_per_s) {
    const Json *run = answer_of(
        arena, arena_printf(arena, "run --model gpt2-124m --node dgx-a100 --gpus %d --micro-batch 2 --global-batch %d",
                            gpus, 16 * gpus));
    const Json *points = json_get(run, "points");
    *samples_per_s = number_in(&points->items[0], "samples_per_s", NULL);
    return number_in(&points->items[0], "scaling_efficiency", NULL);
}

// Of one GPU it is 100 %, also where gradients are accumulated; of several the ratio to just that run.
TEST(the_efficiency_of_one_gpu_is_100_percent) {
    Arena *arena = arena_open();
    double one, eight;
    snprintf(folder, sizeof folder, "/tmp/lockstep-one-XXXXXX");
    CHECK(mkdtemp(folder));
    EXPECT(efficiency_on(arena, 1, &one) == 1);
    EXPECT_NEAR(efficiency_on(arena, 8, &eight), eight / (8 * one), 1e-9);
    remove(arena_printf(arena, "%s/answer.json", folder));
    remove(folder);
    arena_close(arena);
}
