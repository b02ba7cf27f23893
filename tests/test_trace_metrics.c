// A step as OpenMetrics text: the format's rules, and values that are the run's.
#include <stdlib.h>
#include <string.h>

#include "results/trace_metrics.h"
#include "scenarios/explain/explain.h"
#include "scenarios/trace/command_trace.h"
#include "scenarios/trace/trace.h"
#include "sim/file.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"
#include "tests/traced.h"

// The first sample of the name whose labels have the text; NAN: there is none.
static double sample(const char *text, const char *name, const char *label) {
    size_t length = strlen(name);
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (strncmp(at, name, length) != 0 || (at[length] != '{' && at[length] != ' ')) continue;
        size_t line = strcspn(at, "\n");
        const char *found = memmem(at, line, label, strlen(label)), *value = memrchr(at, ' ', line);
        if (found) return atof(value + 1);
    }
    return NAN;
}

// ---- The format (OpenMetrics 1.0.0).

static const char *broken_rule(const char *text) {
    char families[100][80], type[20] = "", family[80] = "";
    int count = 0;
    bool has_help = false, has_sample = true;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        if (at[length] != '\n') return "the last line is not ended";
        if (length == 0) return "an empty line";
        if (strncmp(at, "# EOF\n", 6) == 0)
            return at[6] ? "something follows # EOF" : has_sample ? NULL : "a family is empty";
        char name[80], rest[80];
        if (sscanf(at, "# TYPE %79s %19s", name, type) == 2) {
            if (!has_sample) return "a family is empty";
            for (int i = 0; i < count; i++)
                if (strcmp(families[i], name) == 0) return "a family comes twice";
            snprintf(families[count++], sizeof families[0], "%s", name);
            snprintf(family, sizeof family, "%s", name);
            has_help = has_sample = false;
        } else if (sscanf(at, "# UNIT %79s %79s", name, rest) == 2) {
            size_t tail = strlen(rest);
            if (has_help || strcmp(family, name) != 0) return "a unit is not between type and help";
            if (strlen(name) <= tail || strcmp(name + strlen(name) - tail, rest) != 0)
                return "a name does not end in its unit";
        } else if (sscanf(at, "# HELP %79s", name) == 1) {
            if (has_help || has_sample || strcmp(family, name) != 0) return "a help has no family";
            has_help = true;
        } else {
            size_t bytes = strcspn(at, "{ ");
            const char *suffix = strcmp(type, "counter") == 0 ? "_total" : strcmp(type, "info") == 0 ? "_info" : "";
            snprintf(name, sizeof name, "%.*s", (int)bytes, at);
            snprintf(rest, sizeof rest, "%.70s%s", family, suffix);
            if (strcmp(name, rest) != 0) return "a sample is not of its family";
            const char *value = memrchr(at, ' ', length);
            char *after;
            strtod(value + 1, &after);
            if (after != at + length) return "a value is no number";
            has_sample = true;
        }
        at += length + 1;
    }
    return "# EOF is missing";
}

TEST(a_scrape_obeys_the_rules_of_openmetrics) {
    const char *const programs[] = {TRACED_PIPELINE, TRACED_ALL_REDUCE};
    for (int i = 0; i < 2; i++) {
        Traced scraped = traced_open(programs[i], NULL, false, 0);
        const char *wrong = broken_rule(scraped.metrics);
        EXPECT_TEXT(wrong ? wrong : "", "");
        traced_close(&scraped);
    }
}

TEST(a_scrape_that_breaks_a_rule_is_found_out) {
    static const struct {
        const char *from, *to, *wrong;
    } mutations[] = {
        {"# EOF\n", "", "# EOF is missing"},
        {"# UNIT lockstep_step_seconds seconds", "# UNIT lockstep_step_seconds hours",
         "a name does not end in its unit"},
        {"# TYPE DCGM_FI_DEV_FB_FREE gauge", "# TYPE DCGM_FI_DEV_FB_USED gauge", "a family comes twice"},
        {"_bytes_total{", "_bytes{", "a sample is not of its family"},
        {"\"} 1\n", "\"} one\n", "a value is no number"},
        {"\n# HELP", "\n\n# HELP", "an empty line"},
    };
    Traced scraped = traced_open(TRACED_PIPELINE, NULL, false, 0);
    for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
        const char *at = strstr(scraped.metrics, mutations[i].from);
        EXPECT(at != NULL);
        if (!at) continue;
        const char *broken = arena_printf(scraped.arena, "%.*s%s%s", (int)(at - scraped.metrics), scraped.metrics,
                                          mutations[i].to, at + strlen(mutations[i].from));
        const char *wrong = broken_rule(broken);
        EXPECT_TEXT(wrong ? wrong : "nothing", mutations[i].wrong);
    }
    traced_close(&scraped);
}

// ---- What links carry.

static double bytes_of(const SpanSet *set, const char *name) {
    for (int l = 0; l < set->link_count; l++)
        if (strcmp(set->links[l].name, name) == 0) return set->links[l].bytes;
    return NAN;
}

// Twin: curves add up what happens on the links of the system that ran; here it is each plan's count.
static void expect_links_as_curves(const SpanSet *set) {
    int seen = 0;
    for (int c = 0; c < set->counter_count; c++) {
        const SpanCounter *counter = &set->counters[c];
        double bytes = 0;
        if (counter->quantity != SPAN_TRAFFIC) continue;
        for (int i = 0; i + 1 < counter->count; i++)
            bytes += 1e9 * counter->values[i] * step_seconds(counter->times[i + 1] - counter->times[i]);
        EXPECT_NEAR(bytes_of(set, counter->name), bytes, bytes * 1e-6);
        seen++;
    }
    EXPECT(seen > 0);
}

TEST(links_carry_the_same_folded_and_not) {
    Traced folded = traced_open(TRACED_PIPELINE, NULL, false, 0), whole = traced_open(TRACED_PIPELINE, NULL, true, 0);
    expect_links_as_curves(folded.set);
    expect_links_as_curves(whole.set);
    EXPECT(folded.set->link_count > 50);
    EXPECT_INT(folded.set->link_count, whole.set->link_count);
    for (int l = 0; l < folded.set->link_count; l++) {
        EXPECT_TEXT(folded.set->links[l].name, whole.set->links[l].name);
        EXPECT_NEAR(folded.set->links[l].bytes, whole.set->links[l].bytes, whole.set->links[l].bytes * 1e-9);
    }
    EXPECT_TEXT(folded.metrics, whole.metrics);
    traced_close(&folded);
    traced_close(&whole);
}

// A ring sends 2 (n - 1) / n of what is reduced over each GPU's link.
TEST(nvlink_bytes_of_an_all_reduce_are_the_rings) {
    Traced scraped = traced_open(TRACED_ALL_REDUCE, "0,1,2,3", false, 0);
    double seconds = sample(scraped.metrics, "lockstep_step_seconds", "");
    for (int rank = 0; rank < 4; rank++) {
        const char *label = arena_printf(scraped.arena, "rank=\"%d\"", rank);
        double sent = sample(scraped.metrics, "DCGM_FI_PROF_NVLINK_TX_BYTES", label) * seconds;
        EXPECT_NEAR(sent, 2.0 * 3 / 4 * 64e6, 1);
        EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_PROF_NVLINK_RX_BYTES", label) * seconds, sent, 1);
        EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_PROF_PCIE_TX_BYTES", label), 0, 0);
    }
    EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_DEV_GPU_UTIL", "rank=\"0\""), 100, 1e-9);
    EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_PROF_SM_ACTIVE", "rank=\"0\""), 1e-3 / seconds, 1e-12);
    traced_close(&scraped);
}

// ---- What GPUs are at.

TEST(a_scrapes_values_are_the_steps) {
    Traced scraped = traced_open(TRACED_PIPELINE, NULL, false, 0);
    const SpanSet *set = scraped.set;
    double seconds = step_seconds(set->end);
    EXPECT_SAME(sample(scraped.metrics, "lockstep_step_seconds", ""), seconds);
    for (int p = 0; p < set->process_count; p++) {
        const char *label = arena_printf(scraped.arena, "rank=\"%d\"", set->processes[p].id);
        const SpanBreakdown *b = &set->breakdowns[p];
        EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_DEV_GPU_UTIL", label),
                    100 * (1 - step_seconds(b->idle_host + b->idle_other) / seconds), 1e-9);
        EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_DEV_FB_USED", label) +
                        sample(scraped.metrics, "DCGM_FI_DEV_FB_FREE", label),
                    set->processes[p].memory_bytes / 1048576, 1e-6);
        double watts = sample(scraped.metrics, "DCGM_FI_DEV_POWER_USAGE", label);
        EXPECT(watts > 50 && watts < 400);
        EXPECT_NEAR(sample(scraped.metrics, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", label), 1000 * watts * seconds,
                    1e-6);
        EXPECT_CONTAINS(scraped.metrics,
                        arena_printf(scraped.arena, "Hostname=\"node%d\",%s", set->processes[p].id / 8, label));
    }
    traced_close(&scraped);
}

TEST(a_scrape_goes_to_the_screen_or_to_a_file) {
    static char said[1 << 16];
    const char *line =
        "d=$(mktemp -d) && j='--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8' && "
        "$LOCKSTEP trace $j --prometheus >$d/a && $LOCKSTEP trace $j -o $d/b.prom && cmp $d/a $d/b.prom && "
        "tail -n 1 $d/a; rm -r $d";
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_TEXT(said, "# EOF\n");
    const Ended *ended =
        run_command(command_trace, "trace --model gpt2-124m --node dgx-a100 --gpus 8 --prometheus --top");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--top and OpenMetrics text exclude each other");
}
