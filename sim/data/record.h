// The record of a run: results as values, from which tables, files and plots are made. It has no notion of models:
// causes, memory classes and parameters are names with numbers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/data/recommendation.h"

typedef struct NamedValue {
    const char *name;  // JSON key: "gemm", "weights"
    const char *title; // on screen: "Matrix multiplication"
    double value;      // seconds, bytes, … depending on the list
} NamedValue;

typedef struct RecordParameter { // what the study varied, or a fixed setting worth a column
    const char *name;            // "gpus"
    const char *text;            // "8", "ib-ndr400"
    double number;               // for axes; NAN when it is no number
} RecordParameter;

typedef struct Assumption {
    const char *name, *unit, *source, *kind; // kind: measured, fitted, datasheet, assumed
    const char *text;                        // "0.745", "flash"
    double value;                            // NAN when it is no number
} Assumption;

// A price used by an answer. Old prices are pointed out.
typedef struct DatedPrice {
    const char *name, *title;
    const char *date;   // "2026-04"
    const char *source; // or NULL
    const char *kind;   // measured, fitted, datasheet, assumed; stated
    const char *doubt;  // stated, and far from what is usual: a sentence
} DatedPrice;

// A published figure and its simulated counterpart.
typedef struct Published {
    const char *name; // "step time", "total time"
    const char *unit; // "s"
    double published, simulated;
    const char *source;
} Published;

// One bar of a timeline. Rows are drawn from top to bottom in order of `row`.
typedef struct TimelineBar {
    int row;
    double start_s, end_s;
    const char *cause; // chooses the colour: "forward", "backward", "dp", …
    const char *name;  // "F3"
    double share;      // of its time that it is really at that; 0: all of it
    double below;      // share of its time that is another bar's, drawn below it
    bool is_part;      // that other bar: the bar above it has more details
    int lane, lanes;   // the row is divided vertically: index and count; 0, 0: the whole row
} TimelineBar;

typedef struct Timeline {
    const char *const *row_names;
    int row_count;
    const TimelineBar *bars;
    int bar_count;
    double idle_share;      // idle share of computing streams: the bubble
    bool has_transfer_rows; // with a row of transfers under each row of passes
} Timeline;

// What went as packets between nodes while a step or a collective ran.
typedef struct PacketsCarried {
    int64_t messages;                 // that left a node
    double bytes, bytes_there;        // their payload, and what of it arrived
    double mean_seconds, p99_seconds; // of such a message, from where its first packet may be sent
    int64_t packets, hops, resent, timeouts, marks, drops, trims, lost;
    double queue_most, queue_mean, paused_seconds;
    const char *hottest; // cable, and how much of the time it is busy
    double hottest_share;
    uint64_t digest;
} PacketsCarried;

// A setting that was made: without effect where the job lacks what it needs ("pp is 1"); NULL: it has one.
typedef struct Effect {
    const char *name, *lacks;
} Effect;

// One simulated configuration. Times in seconds, sizes in bytes, money in `currency`.
typedef struct RecordPoint {
    const RecordParameter *parameters;
    int parameter_count;
    const Effect *effects; // of settings that need something of the job
    int effect_count;
    bool counts_done;            // its FLOPs are those done: all that MFU usually counts would be above the peak
    bool ran;                    // false: memory did not fit or the layout was impossible; see why_not
    bool beyond_limits;          // it may run with other limits
    const char *why_not;         // "needs 93.1 GiB of 80.0 GiB"
    const char *smallest_change; // "recompute = \"full\" (61 GiB)", or NULL
    int gpu_count, node_count;
    const char *nodes, *fabric; // "4 × rtx3060-workstation"; "eth-1g (1 Gb/s Ethernet)", NULL: one node
    double step_p5_s, step_p50_s, step_p95_s;
    double samples_per_s, tokens_per_s; // 0: does not apply
    double efficiency_vs_one_gpu;       // throughput / (gpus x throughput of one GPU); NAN unknown
    double anchored;                    // factor that measured steps put on this one; 1 without
    double efficiency_sigma; // of its log: of traffic alone, for what one GPU shares with it cancels; 0 of one GPU
    // The same job on the smallest number of GPUs that holds it, each replica with the same batch: the baseline of
    // more GPUs. 0: unknown, or it needs all of them.
    int baseline_gpus;
    double baseline_samples_per_s;
    double efficiency_vs_ideal; // time of pure compute / step time
    double mfu, hfu;            // of dense peak; NAN unknown
    double flops_per_step;      // model FLOPs of the whole step
    double memory_peak_bytes, memory_capacity_bytes;
    double chance_to_run_out;   // of memory
    bool known_to_fit;          // whatever that chance is: it was said to have run
    const char *memory_peak_at; // "backward of micro-batch 1 at the head", or NULL
    const NamedValue *memory;   // by class, of the fullest rank
    int memory_count;
    const NamedValue *exposed; // by cause, seconds, mean over ranks; sums to the step time
    int exposed_count;
    double cost_per_hour, cost_per_month, cost_per_run, cost_per_step; // NAN unknown
    // Reserved machines are paid for whole terms: their length, 0 by the hour, and what of cost_per_run is paid unused.
    double term_days, unused_cost;
    const char *currency;
    const char
        *price_of_gpu_hour; // where it is a median of providers: "5.22 (2.95 to 12.29 at 10 providers)"; else NULL
    double cost_per_hour_least, cost_per_hour_most; // at the cheapest of these providers and the dearest
    const NamedValue *cost_lines;                   // what an hour's cost is made of
    int cost_line_count;
    const DatedPrice *prices;
    int price_count;
    // Of an owned cluster compared with the rent its user gave; NAN without. Utilisation, months may be infinite.
    double rent_per_hour, break_even_utilisation, payback_months;
    double capital;           // of an owned cluster: what buying it takes; 0 of a rented one
    double days;              // of the whole run; NAN when no length was given
    double days_p5, days_p95; // with failures and checkpoints counted in; else NAN
    double goodput; // share of the time that is training, median of the lives as `days`; NAN when nothing fails
    // With failures and checkpoints: the run without them, the effect of chance and the fleet's rates alone on its
    // days (1 sigma), and the share of all its time in checkpoints. Else 0.
    double days_undisturbed, days_of_chance, checkpoint_share;
    double steps;                   // of the whole run; NAN
    double energy_kwh, power_watts; // of the run (or NAN); average at the wall
    double peak_watts, carbon_kg;   // the most it can draw at the wall; of the run's electricity
    int tp, pp, vpp, dp, cp, ep, zero;
    double micro_batch, global_batch;
    const Timeline *timeline;      // or NULL
    const PacketsCarried *packets; // NULL: at another fidelity
    uint64_t digest;
    int64_t event_count;
    double simulate_seconds; // CPU time it took
} RecordPoint;

// Results that are no points: rows of a kind of their own.
typedef enum RecordUnit {
    RECORD_TEXT,
    RECORD_COUNT, // of things
    RECORD_SECONDS,
    RECORD_SHARE, // 0.31 is 31 %
    RECORD_NUMBER
} RecordUnit;

typedef struct RecordColumn {
    const char *name;  // JSON key, CSV title: "wait_p95_s"
    const char *title; // on screen: "wait p95"; NULL: not shown there
    RecordUnit unit;
} RecordColumn;

typedef struct RecordCell {
    const char *text; // TEXT
    double number;    // else; NAN unknown
} RecordCell;

typedef struct RecordTable {
    const char *name, *title; // JSON key; heading, NULL: not on screen
    const RecordColumn *columns;
    int column_count;
    const RecordCell *cells; // row by row
    int row_count;
    const char *note; // displayed below the table: what its columns mean; or NULL
} RecordTable;

// Lines and points over two axes.
typedef enum CurveStyle {
    CURVE_LINE,
    CURVE_POINTS,      // without a line
    CURVE_LINE_POINTS, // a line through its points
    CURVE_GUIDE,       // a broken line, to hold others against
    CURVE_STEPS        // as wide as y holds
} CurveStyle;

typedef struct RecordCurve {
    const char *name; // "": none, in no legend
    const double *x, *y;
    int count;
    CurveStyle style;
    bool is_faint, is_marked;     // smaller, and without labels; highlighted
    const char *const *labels;    // of each point, or NULL
    const double *x_low, *x_high; // 5th and 95th percentiles, or NULL; 0 or NAN: unknown
    const double *y_low, *y_high;
    uint32_t color; // 0: chosen by index
} RecordCurve;

typedef struct RecordChart {
    const char *name, *title; // name: "utilisation", for file names
    const char *x_title, *y_title;
    const RecordCurve *curves;
    int curve_count;
    bool log_x, log_y, ticks_at_points; // of x
    double y_min, y_max;                // of an axis that is not logarithmic; y_max NAN: as far as the curves go
    double x_limit, y_limit;            // a line across; 0: none
    const char *x_limit_title, *y_limit_title;
    const struct RecordChart *below; // of the same x
} RecordChart;

typedef struct Record {
    const char *title;       // "ResNet-50 on DGX A100"
    const char *scenario;    // file name
    const char *sample_name; // "images", "sequences", "samples"
    const char *x_name;      // the parameter that varies along the x axis, NULL when one point
    const RecordPoint *points;
    int point_count;
    const RecordTable *tables;
    int table_count;
    const RecordChart *charts;
    int chart_count;
    const Assumption *assumptions;
    int assumption_count;
    const Published *published;
    int published_count;
    const char *const *notes; // sentences displayed next to the answer
    int note_count;
    bool expects;             // the scenario states expectations; then
    const char *const *unmet; // what does not, a sentence each
    int unmet_count;
    const Recommendation *recommendation; // the answer's last words; NULL: it gives none
    const char *const *plots;             // asked for: "scaling", "breakdown", "gantt"
    int plot_count;
    uint64_t seed;
    uint64_t digest; // over all points
} Record;
