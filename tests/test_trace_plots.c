// Curves over a step: their sums are those of the run, however coarse they are.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "scenarios/trace/trace.h"
#include "sim/system/file.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"
#include "tests/traced.h"

#define MESH                                                                                                           \
    "sim.study { on = sim.cluster { node = 'mi300x-8', gpus = 8 }, "                                                   \
    "run = sim.training { model = 'gpt2-124m', zero = 3, batch = { micro = 1, global = 32 } } }"

static int column_of(const RecordTable *table, const char *name) {
    for (int c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, name) == 0) return c;
    return -1;
}

// Over a process' rows of the table, times their width in seconds; NAN: it has no such column.
static double integral(const RecordTable *table, int process, int bins, const char *name) {
    int column = column_of(table, name);
    double sum = 0;
    if (column < 0) return NAN;
    for (int b = 0; b < bins; b++) {
        const RecordCell *row = &table->cells[(process * bins + b) * table->column_count];
        sum += row[column].number * (row[2].number - row[1].number);
    }
    return sum;
}

static double most(const RecordTable *table, int process, int bins, const char *name) {
    double most = 0;
    for (int b = 0; b < bins; b++)
        most = fmax(most, table->cells[(process * bins + b) * table->column_count + column_of(table, name)].number);
    return most;
}

static void expect_share(double found, double expected) { EXPECT_NEAR(found, expected, fabs(expected) * 1e-9 + 1e-15); }

static const int coarseness[] = {1, 7, 86, PLOT_BINS, 1000};

TEST(utilisation_over_time_sums_to_the_breakdown) {
    static const char *const jobs[] = {TRACED_PIPELINE, MESH, TRACED_ALL_REDUCE};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        Traced plotted = traced_open(jobs[j], NULL, false, PLOT_RANKS);
        for (size_t n = 0; n < sizeof coarseness / sizeof *coarseness; n++) {
            int bins = coarseness[n];
            const RecordTable *table = trace_plot_table(plotted.arena, plotted.set, PLOT_UTILISATION, bins);
            for (int p = 0; p < plotted.set->process_count && p < PLOT_RANKS; p++) {
                const SpanBreakdown *b = &plotted.set->breakdowns[p];
                expect_share(integral(table, p, bins, "computation_share"), step_seconds(b->compute));
                expect_share(integral(table, p, bins, "communication_share"), step_seconds(b->communication));
                expect_share(integral(table, p, bins, "any_kernel_share"),
                             step_seconds(b->compute + b->exposed_communication + b->exposed_memory));
                EXPECT(most(table, p, bins, "any_kernel_share") <= 1 + 1e-9);
            }
        }
        traced_close(&plotted);
    }
}

// 1 ms of computation, then a collective: what a coarse curve has in each of its bins is known.
TEST(utilisation_of_a_program_is_where_its_calls_are) {
    Traced plotted = traced_open(TRACED_ALL_REDUCE, NULL, false, PLOT_RANKS);
    const RecordTable *table = trace_plot_table(plotted.arena, plotted.set, PLOT_UTILISATION, 8);
    int computes = column_of(table, "computation_share"), talks = column_of(table, "communication_share");
    for (int b = 0; b < 8; b++) {
        const RecordCell *row = &table->cells[b * table->column_count];
        double share = fmin(1, fmax(0, (1e-3 - row[1].number) / (row[2].number - row[1].number)));
        // Slices of 1/512 of the step lie across the border.
        EXPECT_NEAR(row[computes].number, share, 8.0 / 512);
        EXPECT_NEAR(row[talks].number, 1 - share, 8.0 / 512);
    }
    traced_close(&plotted);
}

// Bytes over all links of a GPU whose names begin or end so, as the counters of a file have them.
static double bytes_of_counters(const SpanSet *set, const char *begin, const char *end) {
    double bytes = 0;
    for (int c = 0; c < set->counter_count; c++) {
        const SpanCounter *counter = &set->counters[c];
        if (counter->quantity != SPAN_TRAFFIC || strncmp(counter->name, begin, strlen(begin)) != 0) continue;
        if (!file_ends_in(counter->name, end)) continue;
        for (int i = 0; i + 1 < counter->count; i++)
            bytes += 1e9 * counter->values[i] * step_seconds(counter->times[i + 1] - counter->times[i]);
    }
    return bytes;
}

// Twin: a file's counters add up what happens on each link of the system that ran, here it is a GPU's side.
TEST(traffic_over_time_sums_to_the_bytes_of_links) {
    static const struct {
        const char *job, *begin, *end, *column;
        int alike; // links that are one in the counters
    } sides[] = {
        {TRACED_PIPELINE, "node0.gpu0.", "nvlink.out", "nvlink_sent_bytes_per_second", 1},
        {TRACED_PIPELINE, "node0.nic", "out", "nics_sent_bytes_per_second", 1},
        {TRACED_PIPELINE, "node0.nic", "in", "nics_received_bytes_per_second", 1},
        {MESH, "node0.gpu0.", "nvlink.gpu1", "nvlink_sent_bytes_per_second", 7},
        {TRACED_ALL_REDUCE, "node0.gpu0.", "nvlink.out", "nvlink_sent_bytes_per_second", 1},
    };
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        Traced plotted = traced_open(sides[s].job, "0", true, PLOT_RANKS);
        const RecordTable *table = trace_plot_table(plotted.arena, plotted.set, PLOT_LINKS, PLOT_BINS);
        double bytes = sides[s].alike * bytes_of_counters(plotted.set, sides[s].begin, sides[s].end);
        EXPECT(bytes > 0);
        EXPECT_NEAR(integral(table, 0, PLOT_BINS, sides[s].column), bytes, bytes * 1e-6);
        traced_close(&plotted);
    }
}

// A ring sends 2 (n - 1) / n of what is reduced over each GPU's link.
TEST(nvlink_bytes_of_an_all_reduce_are_the_rings) {
    Traced plotted = traced_open(TRACED_ALL_REDUCE, "0,1,2,3", false, PLOT_RANKS);
    const RecordTable *table = trace_plot_table(plotted.arena, plotted.set, PLOT_LINKS, PLOT_BINS);
    for (int p = 0; p < 4; p++) {
        EXPECT_NEAR(integral(table, p, PLOT_BINS, "nvlink_sent_bytes_per_second"), 2.0 * 3 / 4 * 64e6, 1);
        EXPECT_NEAR(integral(table, p, PLOT_BINS, "nvlink_received_bytes_per_second"), 2.0 * 3 / 4 * 64e6, 1);
    }
    traced_close(&plotted);
}

TEST(traffic_over_time_is_the_same_folded_and_not) {
    Traced folded = traced_open(TRACED_PIPELINE, NULL, false, PLOT_RANKS),
           whole = traced_open(TRACED_PIPELINE, NULL, true, PLOT_RANKS);
    const RecordTable *one = trace_plot_table(folded.arena, folded.set, PLOT_LINKS, PLOT_BINS),
                      *other = trace_plot_table(whole.arena, whole.set, PLOT_LINKS, PLOT_BINS);
    EXPECT_INT(one->column_count, other->column_count);
    EXPECT_INT(one->row_count, other->row_count);
    for (int i = 0; i < one->row_count * one->column_count; i++) {
        double value = one->cells[i].number, twin = other->cells[i].number;
        if (isnan(value) != isnan(twin) || fabs(value - twin) > 1e-6 * fabs(twin) + 1) {
            test_fail(__FILE__, __LINE__, "cell %d: %.17g folded, %.17g not", i, value, twin);
            break;
        }
    }
    traced_close(&folded);
    traced_close(&whole);
}

static double energy_joules(const SpanSet *set, int process) {
    double joules = 0;
    for (int c = 0; c < set->counter_count; c++) {
        const SpanCounter *counter = &set->counters[c];
        if (counter->process != process || counter->quantity != SPAN_POWER) continue;
        for (int i = 0; i < counter->count; i++) {
            SimTime until = i + 1 < counter->count ? counter->times[i + 1] : set->end;
            joules += counter->values[i] * step_seconds(until - counter->times[i]);
        }
    }
    return joules;
}

// Bytes of the fullest moment: a process' curves of memory have the same moments.
static double memory_at_peak(const SpanSet *set, int process) {
    double peak = 0;
    for (int i = 0;; i++) {
        double sum = 0;
        bool more = false;
        for (int c = 0; c < set->counter_count; c++) {
            const SpanCounter *counter = &set->counters[c];
            if (counter->process != process || counter->quantity != SPAN_MEMORY || i >= counter->count) continue;
            more = true;
            sum += counter->values[i];
        }
        if (!more) return peak;
        peak = fmax(peak, sum);
    }
}

TEST(memory_and_power_over_time_have_the_peak_and_the_energy_of_the_counters) {
    Traced plotted = traced_open(TRACED_PIPELINE, NULL, false, PLOT_RANKS);
    for (size_t n = 0; n < sizeof coarseness / sizeof *coarseness; n++) {
        int bins = coarseness[n];
        const RecordTable *memory = trace_plot_table(plotted.arena, plotted.set, PLOT_MEMORY, bins),
                          *power = trace_plot_table(plotted.arena, plotted.set, PLOT_POWER, bins);
        for (int p = 0; p < plotted.set->process_count; p++) {
            expect_share(most(memory, p, bins, "in_all_bytes"), memory_at_peak(plotted.set, p));
            expect_share(integral(power, p, bins, "gpu_power_w"), energy_joules(plotted.set, p));
        }
    }
    traced_close(&plotted);
    plotted = traced_open(TRACED_ALL_REDUCE, NULL, false, PLOT_RANKS);
    EXPECT(trace_plot_table(plotted.arena, plotted.set, PLOT_MEMORY, PLOT_BINS) == NULL);
    traced_close(&plotted);
}

// 256 samples of a GPU, in micro-batches of 64. Workers decode 100 a second each: alone, or before storage has them.
static void expect_loader(int workers, const char *storage, bool waits) {
    char job[512];
    snprintf(job, sizeof job,
             "sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, run = sim.training { model = 'resnet-50', "
             "batch = { micro = 64, global = 2048 }, data = { sample_bytes = '110 kB', workers = %d, "
             "samples_per_second_per_worker = 100 %s } } }",
             workers, storage);
    Traced plotted = traced_open(job, NULL, false, PLOT_RANKS);
    const int bins = PLOT_BINS;
    const RecordTable *table = trace_plot_table(plotted.arena, plotted.set, PLOT_LOADER, bins);
    EXPECT(table != NULL);
    if (!table) return;
    double step = step_seconds(plotted.set->end), decoding = 256.0 / (workers * 100);
    int left = column_of(table, "left_of_this_step_samples"),
        ready = column_of(table, "ready_for_the_next_step_samples");
    int missing = column_of(table, "waited_for_samples"), waited = 0;
    for (int b = 0; b < bins; b++) {
        const RecordCell *row = &table->cells[b * table->column_count], *next = row + table->column_count;
        if (b + 1 < bins) EXPECT(next[left].number <= row[left].number && next[ready].number >= row[ready].number);
        waited += row[missing].number > 0;
    }
    const RecordCell *last = &table->cells[(bins - 1) * table->column_count];
    EXPECT_NEAR(last[left].number, 0, 1e-9);
    EXPECT(last[ready].number > 256 * (1 - 2.0 / 128));
    double stall = step_seconds(plotted.set->processes[0].spent[CAUSE_DATA]);
    EXPECT(fabs((double)waited * step / bins - stall) <= 3 * step / bins);
    EXPECT(waits == (stall > 0.1 * step));
    // Storage that is quick enough: what is ready rises as it is decoded, then stays.
    if (!*storage)
        EXPECT_NEAR(integral(table, 0, bins, "ready_for_the_next_step_samples"), 256 * (step - decoding / 2),
                    256 * step / 64);
    traced_close(&plotted);
}

TEST(the_loaders_queue_rises_as_samples_are_read_and_decoded_and_falls_by_micro_batches) {
    expect_loader(8, "", true);
    expect_loader(16, "", false);
    expect_loader(16, ", storage = 'nfs-1gbe'", true);
}

TEST(a_job_without_a_loader_is_told_how_to_have_one) {
    static char said[1 << 14];
    EXPECT_INT(test_shell("$LOCKSTEP trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4 --plot=loader",
                          said, sizeof said),
               0);
    EXPECT_CONTAINS(said, "nothing to plot for loader: none of these ranks has a loader");
    EXPECT_CONTAINS(said, "--samples-per-worker N");
    EXPECT_INT(test_shell("$LOCKSTEP run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 4 --plot=loader",
                          said, sizeof said),
               2);
    EXPECT_CONTAINS(said, "lockstep trace --plot=loader draws it");
}

TEST(a_step_without_time_has_no_curves) {
    Traced plotted = traced_open("sim.program { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 4 }, "
                                 "rank = function(r) r:compute { seconds = 0 } end }",
                                 NULL, false, PLOT_RANKS);
    for (int plot = 0; plot < TRACE_PLOTS; plot++)
        EXPECT(trace_plot_table(plotted.arena, plotted.set, (TracePlot)plot, PLOT_BINS) == NULL);
    traced_close(&plotted);
}

#define JOB "trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"

TEST(trace_draws_the_plots_that_are_named) {
    const Ended *ended = run_command(command_trace, JOB " --plot");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "what its GPU has resident");
    EXPECT_CONTAINS(ended->out, "% of time up to 100");
    EXPECT(strstr(ended->out, "GB/s") == NULL && strstr(ended->out, "What takes longest") == NULL);
    ended = run_command(command_trace, JOB " --plot=links,memory,power --top");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "What takes longest");
    EXPECT_CONTAINS(ended->out, "traffic on NVLink of its GPU");
    EXPECT_CONTAINS(ended->out, "GiB up to");
    EXPECT_CONTAINS(ended->out, "W up to");
    EXPECT(strstr(ended->out, "% of time") == NULL);
    ended = run_command(command_trace, JOB " --plot=links,disk");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "trace has no plot called \"disk\"");
    EXPECT_CONTAINS(ended->err, "utilisation, links, memory, power");
    ended = run_command(command_trace, JOB " --plot --json");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->err, "--plot-dir DIR writes files");
    ended = run_command(command_trace, JOB " --plot=power --ranks all --unfolded");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "rank 7");
}

TEST(trace_writes_plots_as_pictures_and_their_numbers_as_csv) {
    static char said[1 << 16];
    if (test_shell("gnuplot --version", said, sizeof said) != 0) return;
    const char *line = "d=$(mktemp -d) && $LOCKSTEP " JOB " --plot=utilisation,links,memory,power --plot-dir $d "
                       "--plot-format svg >/dev/null && ls $d && grep -c '<svg' $d/trace-power-rank0.svg && "
                       "wc -l <$d/trace-links.csv && head -n 1 $d/trace-utilisation.csv; rm -r $d";
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_TEXT(said, "trace-links-nvlink-rank0.svg\ntrace-links.csv\ntrace-memory-rank0.svg\ntrace-memory.csv\n"
                      "trace-power-rank0.svg\ntrace-power.csv\ntrace-utilisation-rank0.svg\ntrace-utilisation.csv\n1\n"
                      "257\nrank,start_s,end_s,any_kernel_share,computation_share,communication_share\n");
}
