// Validation of the network model by parts: reading logs and clusters, fits, scores, and output.
//
// The cluster of a measured log comes from the columns of clusters.csv: catalogue GPUs in a node and on a network of
// the described kind. Missing properties get a stated default, recorded as an assumption.
#pragma once

#include <stdbool.h>

#include "models/network/network.h"
#include "models/network/network_constants.h"
#include "models/workload/cluster/cluster.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"
#include "sim/data/csv.h"
#include "sim/data/question.h"

// ---- Nccl-tests' output: its text, in which header words identify the columns, and its JSON; and the facts about the
// machine in either, from its list of ranks and from NCCL's own lines with NCCL_DEBUG=INFO.

// In the words and columns of clusters.csv.
typedef struct NcclFact {
    const char *column, *value;
} NcclFact;

typedef struct NameCount { // names, each once
    NameIndex *index;
    int count;
} NameCount;

typedef struct NcclFacts {
    Arena *arena;
    NameCount hosts, processes;
    int ranks, nics;
    double nic_gigabits;
    const char *gpu, *transport; // NULL: unspecified
    const char *environment;     // "NCCL_ALGO=Ring NCCL_PROTO=Simple"
    bool direct_memory, bounced; // messages from GPU memory to a NIC and back, or not
    bool peer_to_peer, staged;   // within a node
    bool in_switch_reduction;
} NcclFacts;

void nccl_facts_read(NcclFacts *facts, const char *line);

// ---- The log.

typedef struct NcclRow {
    int line;
    double bytes;   // nccl-tests' size
    double seconds; // out of place, or in place where that is all there is
} NcclRow;

typedef struct NcclLog {
    const char *path, *name; // the name is the file's, without folder and ending
    const char *op;          // as in the log, "" if missing
    NcclRow *rows;
    int row_count, zero_rows; // rows of size 0 are counted and left out
    int gpus_per_process;     // nccl-tests' -g if logged; 0 unknown
    int threads_per_process;  // nccl-tests' -t; 0 unknown
    int iterations;           // timed together; 0 unknown
    int nccl_version;         // as 22005; 0 unknown
    const NcclFact *facts;    // for missing cells of clusters.csv
    int fact_count;
} NcclLog;

// NULL after adding problems, each with file and line.
const NcclLog *nccl_log_read(Arena *arena, const char *path, Problems *problems);
const NcclLog *nccl_log_read_text(Arena *arena, const char *path, const char *text, size_t bytes, Problems *problems);

// What nccl-tests calls an operation: "alltoall", "sendrecv_perf", "all_reduce"; false for others.
bool nccl_op_from_name(const char *name, CollectiveOp *op);
const char *nccl_op_name(CollectiveOp op);
// The number after " -g " in a command line or note; 0 when there is none.
int gpus_per_process_in(const char *text);

typedef struct DescribedCluster {
    const char *family; // "Hopper nvswitch, infiniband": clusters with the same kind of hardware
    const char *op;     // as in the row
    const Cluster *cluster;
    int *ranks, rank_count;
    const char *algorithm;    // that the environment asked for, in the network's words; NULL free
    const Protocol *protocol; // likewise
    int gpus_per_process;     // that one process drove; 0 unknown
    int threads_per_process;  // that one process used, one for each GPU; 0: none
    const char *do_not_fit;   // why nothing can be learned from the log; "" it can
    int nccl_version;         // 22105 is 2.21.5; 0 not stated
    int ranks_per_gpu;        // usually 1; more take turns
    const char **assumptions;
    int assumption_count;
} DescribedCluster;

// NULL after problems (a column is missing, a cell unreadable, the parts do not fit).
const DescribedCluster *describe_cluster(Arena *arena, const Catalogue *catalogue, const Csv *clusters, int row,
                                         Problems *problems);

// ---- A measured log with the cluster it was measured on, for prediction with any constants.

#define LARGE_BYTES 65536.0      // below, latency decides; from here on, bandwidth
#define LENGTHY_BYTES 67108864.0 // and from here on bandwidth alone

typedef struct MeasuredCollective {
    const NcclLog *log;
    const DescribedCluster *cluster;
    CollectiveOp op;
    CollectivePrice *price;
    double *predicted;                              // [log->row_count] seconds
    bool *matters;                                  // [CONSTANT_COUNT] which constants its times depend on
    double small_spread, large_spread, long_spread; // of the logarithm, zero-shot
    const char *machine, *gpu;        // whose logs are left out together: by name, or by all that describes it
    const char *setup, *network_kind; // likewise with one NCCL; of the same network: equal, "" within one node
    bool fitted;                      // constants were fitted on this very log
    bool informed;                    // or on another log of the same setup
} MeasuredCollective;

typedef LIST_OF(MeasuredCollective) Measurements;

// ---- Fitting (fit_collectives.c). All fits are of logarithms of predicted over measured time, robust, with each
// constant's own prior spread around where it starts; `near` (or NULL) is where the search begins.
int constants_of_scope(ConstantScope scope, ConstantId *ids); // room for CONSTANT_COUNT

// Once, before the log is fitted, and again for other rules (NULL: all hold).
void find_what_matters(Arena *arena, MeasuredCollective *measured, const bool *without);

// Machines with a weight above 0 whose times depend on it.
int machines_that_tell(const Measurements *logs, const double *weights, ConstantId id);

// Takes the logs with a weight above 0; writes the constants of that scope from their start to their best; sigma (or
// NULL), in the order of constants_of_scope, takes standard errors of their logarithms. Returns the root mean square of
// the residuals in units of the noise.
double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, const NcclConstants *near, double *sigma);

// ---- The validation.

#define SHIPPED_FOLDER "calibrate/measurements/nccl"

typedef struct Skipped {
    const char *log, *reason;
} Skipped;

typedef struct Validation {
    Arena *arena;
    Problems *problems;
    Answer *answer;
    Measurements logs;
    LIST_OF(Skipped) skipped;
} Validation;

// A word that groups logs.
typedef const char *(*WordOf)(const MeasuredCollective *measured);
const char *family_word(const MeasuredCollective *measured);
const char *machine_word(const MeasuredCollective *measured);
const char *gpu_word(const MeasuredCollective *measured);
const char *op_word(const MeasuredCollective *measured);
const char *all_word(const MeasuredCollective *measured);

// ---- Reading (read_collectives.c).
void read_logs(Validation *validation, const Options *options);
bool spans_nodes(const DescribedCluster *cluster);

// ---- Predicting and fitting (predict_collectives.c).
void predict(MeasuredCollective *measured, const NcclConstants *constants); // NULL: shipped
// Each log that is not fitted on is predicted with constants fitted on its own machine, or with the shipped ones.
void fit_and_predict(Validation *validation, const char *what);
// Each group predicted with shared constants fitted without it, from their priors.
void cross(Validation *validation, WordOf word_of, const char *what);
// Marks the logs of machines that go otherwise without the rule, by the shipped constants; returns how many machines.
int find_touched(const Measurements *logs, RuleId rule, bool *touched);
// Likewise, only the groups with a chosen log (NULL: all), and without that rule (RULE_COUNT: with all).
// With `forgetting`, rules learned only from the logs left out are off, too. Returns the number of groups.
int leave_out(Validation *validation, WordOf word_of, const bool *chosen, RuleId without, bool forgetting);
// Fits the table of constants to all given logs, and predicts with it.
void refit(Validation *validation);

// ---- Scores (score_collectives.c).
typedef struct Score {
    int sizes, inside; // of them within the 90 % range
    double median, p90, share_inside;
} Score;

typedef struct LogScore {
    const MeasuredCollective *measured;
    Score large, small;
} LogScore;

// Over logs: how many have such sizes, the median and p90 of their medians, the median of their p90s.
typedef struct Summed {
    int logs;
    double median, p90_of_medians, median_of_p90s;
    double inside; // share of their sizes within the 90 % range, with equal weight per log
} Summed;

typedef struct Board {
    Arena *arena;
    const LogScore *scores;
    int count;
    bool only_informed; // by a fit on other logs of the same machine
} Board;

Score score_of(Arena *arena, const MeasuredCollective *measured, bool large);
Summed sum_up(const Board *board, const bool *chosen, bool large);
// Marks the logs of that word that count; returns how many.
int choose_word(const Board *board, WordOf word_of, const char *word, bool *chosen);
bool seen_before(const Board *board, WordOf word_of, int index);
// Why a log is likely to be as far off as it is.
const char *likely_reason(Arena *arena, const MeasuredCollective *measured);

// ---- Leaving out machines and types of GPU (score_collectives.c).
// How machines are predicted without their type of GPU, and without them; the latter predictions stay.
void nested(Validation *validation);
// What each rule is worth on machines left out.
void weigh_rules(Validation *validation);

// A table of errors by machine, and a row of it.
void collectives_open_machines(const Validation *validation, const char *key, const char *title);
void collectives_answer_machines(const Validation *validation, const char *title, const Measurements *logs);

// ---- Lockstep calibrate fit on logs of nccl-tests: a machine's collective times relative to the default, as a
// profile.

// Facts about the machine that the logs lack, or NULL and 0.
typedef struct LogMachine {
    const char *node, *gpu, *fabric;
    int nodes;
} LogMachine;

// Whether the file is nccl-tests' output, text or JSON.
bool is_nccl_log(const char *path);

// Fits to all logs at once, answers with the factors and their errors, and writes them as parts of a profile where
// --output is given: those inside a node with the GPU, those between nodes with the link. The exit status.
int fit_logs(Asking *asking, const Catalogue *catalogue, const char *const *paths, int count,
             const LogMachine *machine);
