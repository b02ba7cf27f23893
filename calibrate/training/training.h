// Validation against measured training runs: a run's prediction, by the same simulation as `lockstep run` with a search
// over unpublished settings; scores; what runs left out show; the answer.
#pragma once

#include <stdbool.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/software.h"
#include "models/workload/step/simulate.h"
#include "sim/base/list.h"
#include "sim/data/answer.h"

// ---- Measured training runs: rows of CSV files with the header of calibrate/measurements/training/README.md, each as
// a cluster and a job to predict, or with the reason why no prediction is made; and what publications leave out, with
// its default and the uncertainty that it adds.

// Settings that a row may lack. Each is displayed with its default, and widens the printed range.
typedef enum Assumed {
    ASSUMED_FRAMEWORK,
    ASSUMED_HEADS,
    ASSUMED_VOCABULARY,
    ASSUMED_MICRO_BATCH,
    ASSUMED_INTERLEAVING,
    ASSUMED_RECOMPUTE,
    ASSUMED_SEQUENCE_PARALLEL,
    ASSUMED_GPU_LINKS,
    ASSUMED_NICS,
    ASSUMED_OLD_NIC,
    ASSUMED_SHARD_GROUP,
    ASSUMED_SERVERS,
    ASSUMED_GPU_NAME,
    ASSUMED_IMAGE_SIZE,
    ASSUMED_IMAGE_BATCH,
    ASSUMED_EXPERTS,
    ASSUMED_PRECISION,
    ASSUMED_8_BITS,
    ASSUMED_LAYERS,    // unlike those that constants were fitted on
    ASSUMED_VERSION,   // of the framework
    ASSUMED_HOST,      // that several GPUs share, of images
    ASSUMED_TEXT_HOST, // of short texts and sounds
    ASSUMED_LENGTHS,   // of recordings and sentences
    ASSUMED_PAGES,     // of documents that see only themselves
    ASSUMED_LOOP,      // in Python, whose pace is the host's
    ASSUMED_MEMORY,    // the estimate does not fit the card, yet the run is published
    ASSUMED_COUNT
} Assumed;

typedef struct AssumedFact {
    const char *name; // "micro-batch"
    const char *text; // its default
    double sigma;     // relative 1-sigma that it adds to a step
} AssumedFact;

extern const AssumedFact assumed_facts[ASSUMED_COUNT];

// Head size where heads are not published, from the tables of GPT-2, GPT-3 and Megatron.
int usual_head_size(int hidden);

// Tokens of a page of the web, of which texts to learn from are made.
#define PAGE_TOKENS 1128.0

// How long the recordings and sentences are that speech and translation models learn from. Tables of throughput leave
// it out; the data sets are public.

// What a model is fed, in the model's own unit of size (samples of sound, subwords).
typedef struct SampleLengths {
    const char *model;        // the name in a table contains it
    double least, mean, most; // of the data set; all equal where each sample is cut or padded to that
    double counted;           // units of throughput in a mean sample; 0: samples are counted
    const char *source;
} SampleLengths;

const SampleLengths *sample_lengths(const char *model); // NULL: not such a model

// The longest of `samples` samples, to which a batch is padded: of lengths between least and most with a power
// distribution of their mean, F(x) = ((x - least) / (most - least))^a.
double longest_of(const SampleLengths *lengths, double samples);

// ---- A run.

// What a figure of peak memory counts.
typedef enum MemoryCount {
    MEMORY_NOT_SAID,  // predicted as what the device holds
    MEMORY_ALLOCATED, // tensors alone
    MEMORY_RESERVED,  // what the framework's allocator took from the driver for them
    MEMORY_OF_DEVICE, // that, the context and what other libraries took: nvidia-smi, NVML
} MemoryCount;

typedef struct MeasuredRun {
    Where where;
    const char *row_id, *family;
    const char *skipped;          // why there is no prediction, or NULL
    const char *unread;           // words of its configuration that change nothing here, or NULL
    const char *rule;             // derivation of the measured step from the publication
    const char *unmeasured;       // why nothing can be compared though there is a prediction, or NULL
    double measured_step_s;       // 0: not published
    double measured_memory_bytes; // 0: not published
    MemoryCount memory_count;
    const Model *largest_model; // at the size of the largest batch, whose peak is published; NULL: all equal
    double longest_seq_len;     // the same of texts; 0
    double pool_share;          // of the GPU's memory, taken for a pool when the framework starts; 0: as needed
    bool sizes_vary;            // from batch to batch, in PyTorch's allocator
    const ClusterSpec *cluster;
    TrainingSpec training;
    bool micro_batch_open, interleaving_open, recompute_open; // not published: to be tried
    const Software *software;
    const char *const *cells; // of the row, by Column
    bool software_splits;     // layers, by tensor or pipeline: in this row or another of its family and framework
    unsigned assumed;         // bit 1 << Assumed for each thing that the row leaves open
} MeasuredRun;

// Information withheld from the reader, to measure its worth.
typedef struct Withheld {
    bool framework_name;
    SoftwareRules rules; // of software
} Withheld;

typedef LIST_OF(MeasuredRun) MeasuredRuns;

// Adds the rows of a file. False after problems with the file as a whole. A cell that cannot be read is a problem too,
// which costs its row and no other.
bool measured_runs_read(Arena *arena, const Catalogue *catalogue, const char *path, MeasuredRuns *runs,
                        Problems *problems);
// The same row read again, knowing less.
MeasuredRun measured_run_again(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run,
                               const Withheld *withheld);
// The same from a text under a name.
bool measured_runs_read_text(Arena *arena, const Catalogue *catalogue, const char *name, const char *text,
                             MeasuredRuns *runs, Problems *problems);

typedef struct PredictedRun {
    const MeasuredRun *run;
    const char *skipped;            // why there is no prediction, or NULL
    double step_s;                  // predicted
    double low_s, high_s;           // 90 % interval
    double sigma;                   // relative, model and assumptions together
    double loss, loss_sigma;        // what untuned code takes over tuned, of its log (simulate.h)
    double memory_bytes;            // of the fullest rank, as the row counts it
    double memory_low, memory_high; // 90 % interval
    double spent[CAUSE_COUNT];      // seconds of a step
    TrainingSpec training;          // with open settings chosen
    unsigned assumed;
    double seconds_to_predict; // of this machine's time
} PredictedRun;

PredictedRun predict_run(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run);

// FLOPs per step of all GPUs, with recomputation: the factor of the utilisation predictor.
double run_flops(const MeasuredRun *run, const TrainingSpec *training);

// ---- Scores of predicted runs by family, compared with the simplest predictor: one utilisation number.

// Of the peak memory, where it is published: |predicted / measured - 1| and exp(mean log ratio) - 1.
typedef struct MemoryScore {
    int rows;
    double mean, median, bias;
    double inside; // share of measured peaks within the printed 90 % range
} MemoryScore;

typedef struct FamilyScore {
    const char *name;
    int rows, covered;
    double mean, median, p90; // of |predicted / measured - 1|
    double bias;              // exp(mean log ratio) - 1
    double naive;             // mean error of one utilisation number per GPU and precision, fitted on these very rows
    double rank_order;        // Spearman of predicted and measured; NAN when rows or layouts are too few
    double inside;            // share of measured steps within the printed 90 % interval
    double width;             // median of that interval's high over low
    double interval_score;    // mean on the log of time (Gneiting and Raftery, 2007): the less the better
    MemoryScore memory;
} FamilyScore;

typedef struct Scores {
    FamilyScore *families; // in order of name
    int family_count;
    FamilyScore all;            // pooled over rows
    FamilyScore mean_of_means;  // macro average over the families with a covered row; of memory `rows` counts families
    double median_memory_error; // over families with measured memory, of their means; NAN when none has
    const int *worst;           // covered rows, worst first
    int worst_count;
} Scores;

// factors[i] (or NULL: 1) multiplies the prediction of row i.
Scores score_runs(Arena *arena, const PredictedRun *runs, int count, const double *factors);

// ---- Cross-validation by family: factors on the times of a step by cause are fitted on all other families and applied
// to the one left out. It measures how far the shared constants generalise to unseen runs.

typedef struct FittedFactor {
    const char *name;    // "compute on Hopper"
    double value, sigma; // of the fit on all families; sigma relative
    int rows;
} FittedFactor;

typedef struct CrossFit {
    const double *factors; // [runs] predicted with the others' factors over predicted as shipped
    const FittedFactor *fitted;
    int fitted_count;
} CrossFit;

CrossFit cross_fit(Arena *arena, const PredictedRun *runs, int count);
// The factor of each row left out, fitted on all others.
void cross_factors(Arena *arena, const PredictedRun *runs, int count, const bool *left_out, double *out);

// ---- Class of a family of measured runs: software tuned by its makers (the benchmark of a vendor, of MLPerf or of a
// framework's own team), or ordinary code, as calibrate/measurements/families.csv says with the reason of each.

bool family_is_known(const char *family);
// A family that the table does not name is ordinary.
bool family_is_tuned(const char *family);

// ---- The catalogue as if no training run of a type of GPU had been published: datasheet and kernel numbers stay,
// those derived from training runs are taken from similar GPUs.

// A copy in which such numbers of these GPUs are each the mean of those of other GPUs of its generation, else of the
// next generations, else of all.
const Catalogue *catalogue_untrained(Arena *arena, const Catalogue *catalogue, const Gpu *const *gpus, int count);

// ---- The nested hold-out: rows are left out with everything learned from them alone. Software rules that only rows
// left out need are withheld, and factors by cause are fitted on the others.

typedef enum NestedQuestion {
    NESTED_FAMILY,
    NESTED_GPU,       // a type of GPU: its datasheet and its kernels' timings stay
    NESTED_FRAMEWORK, // the name is withheld of all rows; the others' rules stay
    NESTED_SCALE,     // the largest number of GPUs of each family
    NESTED_YEAR,      // the newest year of software
    NESTED_ORDINARY,  // all ordinary code (families.csv), judged by tuned software
    NESTED_UNSAID,    // the same with the names of their frameworks withheld
    NESTED_TUNED,     // the reverse: all tuned code
    NESTED_THIRDS,    // a third of ordinary families, drawn, then the second and the last; drawn three times
    NESTED_THIRDS_AGAIN,
    NESTED_THIRDS_LAST,
    NESTED_COUNT
} NestedQuestion;

extern const char *const nested_questions[NESTED_COUNT];

typedef struct NestedAnswer {
    const PredictedRun *runs;  // [count] those left out; the others are skipped
    const double *factors;     // [count]
    int folds, rules_withheld; // rules: over all folds
    Scores scores;
} NestedAnswer;

NestedAnswer nested_answer(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count,
                           NestedQuestion question);

// What a rule of software is worth: all rows without it.
typedef struct RuleWorth {
    int rows, families; // that need it
    int better, worse;  // families that are predicted better, worse, with it, by more than 0.3 points
    double mean;        // of families: error without it less error with it
    double elsewhere;   // the same without the family that it helps most
} RuleWorth;
RuleWorth rule_worth(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count, int rule);

// ---- A planner needs predictions for choices. Regret: among measured layouts of one model, batch, cluster and
// software, how much longer the one predicted fastest takes than the one measured fastest.

#define REGRET_LEAST_LAYOUTS 3

typedef struct Regret {
    int groups, rows;
    double mean;         // over groups, of measured chosen / measured best - 1
    double middling;     // the same of the median layout
    double worst;        // group
    int chosen, fastest; // rows of the worst group
} Regret;

// factors as in score_runs. All zero without a group.
Regret regret_of(Arena *arena, const PredictedRun *runs, int count, const double *factors);

// ---- Validation of the ranges: their coverage of measured runs, their width, and the losses of untuned code,
// refitted.

// Of rows left out, one vote a family.
typedef struct RangeScore {
    int rows, families;
    double bias;                                            // median of log(measured / predicted)
    double inside, above;                                   // shares; the rest is below
    double width;                                           // median of high / low
    double score;                                           // mean interval score of 90 % on the log of time
    double constant_inside, constant_width, constant_score; // of the one range that fits these very rows
} RangeScore;

// What is measured over what tuned code is predicted to take.
typedef struct OwnCode {
    int families;
    double loss, sigma; // as the constants of step_constants.h
} OwnCode;

// Those with wanted[i] and a prediction.
RangeScore range_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted);
// Fitted to them. Rows of tuned code, of which nothing follows, are left out.
OwnCode own_code_fit(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted);
// The same rows with that in place of the constants.
RangeScore own_code_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted, const OwnCode *own);
// Which half of the families a name belongs to, by hash.
bool in_first_half(const char *family);

// ---- Measured runs, published or the user's own, as anchors (models/workload/step/simulate.h) for other runs.

Anchor step_of(const PredictedRun *run); // one that is predicted

// A factor for each run from its related anchors, 1 without any; intervals become narrower.
double *anchor_on(Arena *arena, PredictedRun *runs, int count, const Anchors *anchors);

// The same with anchors from among the runs: of each family, GPU, precision, software, model and micro-batch the run
// on the fewest GPUs and in the simplest layout, which is then skipped. Families do not affect each other.
double *anchor_within(Arena *arena, PredictedRun *runs, int count);

// From files with the columns of calibrate/measurements/training/README.md; problems for a run that cannot be one.
Anchors *anchors_read(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                      Problems *problems);

// ---- The answer of validate training, as a tree.

typedef struct TrainingBoard {
    Arena *arena;
    const Catalogue *catalogue;
    const PredictedRun *runs;
    int count;
    const double *factors; // NULL: none
} TrainingBoard;

// The scoreboard by family, rows, skipped rows and assumptions.
void training_answer(Answer *answer, const TrainingBoard *board);
void training_answer_factors(Answer *answer, const CrossFit *cross);
void training_answer_nested(Answer *answer, const TrainingBoard *board);
void training_answer_rules(Answer *answer, const TrainingBoard *board);

// Every row to a file, whole or not at all; skipped ones too. Times in seconds, memory in bytes; seconds_to_predict is
// this machine's CPU time.
#define ROW_COLUMNS                                                                                                    \
    "row_id,family,status,reason,measured_step_s,predicted_step_s,error_pct,measured_mem_bytes,predicted_mem_bytes,"   \
    "seconds_to_predict"
bool training_rows_write(const char *path, const TrainingBoard *board, Problems *problems);
