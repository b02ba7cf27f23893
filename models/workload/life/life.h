// Simulation of a long training job on machines that fail: training, checkpoints, failures, repair, restarts, as
// events over days. Time is whole nanoseconds, and each is assigned to one cause: the causes sum to the whole.
// Failures arrive by the calendar from their own random streams, independent of the job, so that two ways of running
// it are compared under the same failures.
#pragma once

#include "models/hardware/hardware.h"
#include "models/workload/model/model.h"
#include "sim/base/statistics.h"
#include "sim/clock.h"

// ---- Checkpoints: the cost of one on real storage, and the optimal interval by theory.

typedef enum CheckpointMode {
    CHECKPOINT_SYNC,   // training waits until all is written
    CHECKPOINT_ASYNC,  // training waits for a copy in host memory, which is written behind its back
    CHECKPOINT_MEMORY, // the copy goes to a peer's memory, and to storage now and then
    CHECKPOINT_MODE_COUNT
} CheckpointMode;
extern const char *const checkpoint_mode_names[CHECKPOINT_MODE_COUNT];

// The user's settings of checkpoints.
typedef struct CheckpointSpec {
    CheckpointMode mode;
    double every_s;             // 0: the best after Daly
    const StorageType *storage; // NULL: the cluster's, or the default
    int storage_units;          // of it; 0: as many as the cluster needs (hardware.h)
} CheckpointSpec;

typedef struct CheckpointPlan {
    CheckpointMode mode;
    double every_s;         // of training, from the end of one to the start of the next; 0 never
    double storage_every_s; // MEMORY: at most so often to storage as well
    double stall_s;         // training is stopped
    double copy_s;          // MEMORY: after the stall, until a peer has it
    double write_s;         // ASYNC, MEMORY: after the stall, until storage has it
    double reload_s;        // from storage
    double memory_reload_s; // MEMORY: from a peer
} CheckpointPlan;

// Bytes of a training state that goes on bit by bit: weights, fp32 master weights and what the optimizer keeps.
double checkpoint_bytes(const Model *model, bool adam, bool mixed_precision);

// Costs of a state of `bytes`, spread evenly over nodes of this type. Storage is shared by all nodes or in each; a
// node's own link to it is a limit too. every_s and storage_every_s are left to the caller.
CheckpointPlan checkpoint_plan(CheckpointMode mode, double bytes, int nodes, const NodeType *node, const Gpu *gpu,
                               const StorageType *storage);

// Best interval for a blocking checkpoint of `write_s` at a mean time between failures of `mtbf_s`, in training time.
double young_interval(double write_s, double mtbf_s); // Young (1974)
double daly_interval(double write_s, double mtbf_s);  // Daly (2006), higher order
// Wall time of `work_s` with exponential failures, and restarts of restart_s that may fail, too (Daly, 2006).
double daly_wall_time(double work_s, double every_s, double write_s, double restart_s, double mtbf_s);

// ---- Storage that is too slow for the cluster.

// Least share of the time lost to checkpoints and to work repeated after a failure: of blocking ones at their best
// interval (Daly, 2006), 3/2 write / mtbf of asynchronous ones written as fast as storage allows (half a write and
// the one before it are lost), 0 of those in a peer's memory.
double checkpoint_least_loss(const CheckpointPlan *plan, double mtbf_s);

#define CHECKPOINT_LOSS_MUCH 0.05 // of the time: above, storage is reported as too slow

typedef struct StorageLack {
    double write_s, loss;    // of a checkpoint, as it is
    double bytes_per_second; // that storage takes now
    double needed;           // bytes per second for a loss of CHECKPOINT_LOSS_MUCH; 0: nothing lacks
    int units;               // of this storage, of which there are `has` now; 0: it is not shared
    int has;
    bool links_limit; // the nodes' own links to storage do not carry that much
} StorageLack;

// The shortfall of storage of `has` units for a state of `bytes` at this mean time between failures.
StorageLack storage_lack(const CheckpointPlan *plan, double bytes, int nodes, const NodeType *node,
                         const StorageType *unit, int has, double mtbf_s);
// "Checkpoints take 14 min at 40 GB/s: …; 200 GB/s (4 units) would …"; NULL without a shortfall.
const char *storage_lack_text(Arena *arena, const StorageLack *lack, const StorageType *unit);

// Uses of the job's time. Training is net of work lost later.
typedef enum LifeTime {
    LIFE_TRAINING,
    LIFE_CHECKPOINT, // training is stopped for it
    LIFE_REWORK,     // trained, then lost with the machine
    LIFE_DETECTION,  // stopped, not detected yet
    LIFE_WAITING,    // too few nodes
    LIFE_RESTART,    // processes, communicators, reading the checkpoint
    LIFE_SLOW,       // what a slow node takes from all the others
    LIFE_SHRUNK,     // what missing replicas would have done
    LIFE_FLAP,       // waiting for a link that comes back by itself
    LIFE_TIME_COUNT
} LifeTime;
extern const char *const life_time_names[LIFE_TIME_COUNT], *const life_time_titles[LIFE_TIME_COUNT];

// What stops the job: the catalogue's components, then events that are no component's.
enum {
    LIFE_RACK = FAULT_COMPONENT_COUNT, // all nodes of a rack at once
    LIFE_SPOT,                         // the provider takes nodes back
    LIFE_LONG_FLAP,                    // a flap longer than the timeout of collectives
    LIFE_UNPLANNED_COUNT,              // the ones from here on wait for a checkpoint
    LIFE_PLANNED = LIFE_UNPLANNED_COUNT,
    LIFE_SWAP,   // a slow node was found and is taken out
    LIFE_RESIZE, // an elastic job grows again
    LIFE_CAUSE_COUNT
};
const char *life_cause_name(int cause);
const char *life_cause_title(int cause);

// One kind of failure of a single node.
typedef struct LifeFault {
    double node_rate; // per second, mean of the fleet
    double sigma;     // relative uncertainty of the rate
    bool needs_repair, is_silent;
} LifeFault;

typedef struct LifeSpec {
    int nodes, spares;
    int nodes_per_replica, least_replicas; // elastic: runs on with that many replicas; 0: needs all nodes
    LifeFault faults[FAULT_COMPONENT_COUNT];
    double shape, age_s; // Weibull hazard of nodes of this age when the job starts, minimal repair; shape 1: no age
    double fleet_spread;
    double bad_share, bad_factor;
    int strikes; // a node that failed so often is exchanged for a good one; 0: only ever repaired
    double crash_detection_s, hang_detection_s, silent_detection_s, hang_share;
    double restart_s, restart_sigma, repair_s, repair_sigma;
    double planned_rate;                             // per second, of the job
    double rack_rate, rack_repair_s;                 // per second, of one rack
    int rack_nodes;                                  // 0: no racks
    double slow_rate, slow_factor, slow_detection_s; // per second, of one node
    double flap_rate, flap_stall_s;                  // per second, of the job
    double spot_rate, spot_notice_s, spot_wait_s;    // per second, of one node; wait: mean until another is given
    int spot_batch;                                  // nodes taken together; 0: 1
    CheckpointPlan checkpoint;
    double horizon_s; // the calendar ends here …
    double work_s;    // … or when that much undisturbed training is done; the other is 0
    double patience;  // the job is given up after this many times its work; 0: LIFE_GIVES_UP
} LifeSpec;

// What goodput and plan take for machines on spot: AWS gives two minutes' notice; that another is there after half an
// hour is assumed.
#define SPOT_NOTICE_S 120.0
#define SPOT_WAIT_S 1800.0

#define FAULTS_USUAL "llama3-h100" // the catalogue's rates unless the user names others

// The user's settings of failures; 0: the rates' values.
typedef struct FaultsSpec {
    const FaultRates *rates; // NULL: FAULTS_USUAL
    double node_mtbf_s, repair_s, restart_s;
    double spot_mtbf_s; // until the provider takes a node back; 0: it does not
    int spares;
    bool spares_given;
} FaultsSpec;

// One life.
typedef struct LifeRun {
    SimTime wall, spent[LIFE_TIME_COUNT]; // spent sums to wall
    int stops[LIFE_CAUSE_COUNT];
    SimTime lost[LIFE_CAUSE_COUNT]; // detection, waiting, restart and rework that each cause brought
    bool finished;                  // false: gave up at `patience` times the work
    int64_t events;
    uint64_t digest;
} LifeRun;

// Times the work, after which a life is cut and counts as that long: times of repair have a long tail. The same for all
// questions.
#define LIFE_GIVES_UP 4
double life_patience(const LifeSpec *spec); // times the work; default LIFE_GIVES_UP

LifeRun life_run(const LifeSpec *spec, uint64_t seed);

// One life in equal time spans, as a calendar: the use of each. Lost training is counted in the span where it was
// done. All spans together are the life's `spent`, to the tick.
typedef struct LifeStretch {
    SimTime spent[LIFE_TIME_COUNT];
    int stops; // unplanned, that began in it
} LifeStretch;

typedef struct LifeCalendar {
    int life;      // which of the lives that were lived it is
    SimTime width; // of a stretch; the last may be shorter
    LifeStretch *stretches;
    int count;
    LifeRun run;
} LifeCalendar;

#define LIFE_MOST_STRETCHES 60

// ---- Estimates before the simulation (life_study.c).
double life_events(const LifeSpec *spec); // estimated number in one life
// A sentence if so many lives would take long to simulate and certainly none of them makes any progress; NULL: to be
// simulated.
const char *life_goes_nowhere(Arena *arena, const LifeSpec *spec, int runs);

// Many lives. Shares are means over the runs of each one's share of its own time: they sum to 1, and that of training
// is the mean goodput. Of work to do, the median of days is the work over the median of goodput.
typedef struct LifeStudy {
    int runs, unfinished;
    Summary goodput, ettr, days, stops; // ettr: slow nodes and missing replicas count as training; stops: unplanned
    double mttf_s;                      // wall time of all runs per unplanned stop; 0 none
    double share[LIFE_TIME_COUNT];
    double stops_mean[LIFE_CAUSE_COUNT], lost_share[LIFE_CAUSE_COUNT];
    const double *run_days, *run_goodput; // [runs]
    int64_t events;
    bool stopped; // by the watch: the rest is of no use
    uint64_t digest;
} LifeStudy;

LifeStudy life_study(Arena *arena, const LifeSpec *spec, int runs, uint64_t seed);
// How many lives an answer takes unless the user says: 1000, and fewer, but no less than 200, where each is long.
int life_usual_runs(const LifeSpec *spec);
bool life_mostly_unfinished(const LifeStudy *study); // half of the runs or more: no median of their days is known
double life_chance_by(const LifeStudy *study, double by_s); // share of runs whose work is done by then

// The life whose goodput is the median of the study's, lived once more, in stretches of an hour, six hours, a day, a
// week, four weeks or a year: the shortest of which there are at most LIFE_MOST_STRETCHES.
LifeCalendar life_calendar(Arena *arena, const LifeSpec *spec, const LifeStudy *study, uint64_t seed);

// The interval with the least time lost, by simulation: the same failures for every interval, and a smooth curve
// through their costs, whatever the spec's own interval. At most life_length: then one checkpoint at the end is best,
// and none before.
double life_best_interval(const LifeSpec *spec, int runs, uint64_t seed);

double life_length(const LifeSpec *spec); // seconds of work, or of calendar

double life_unplanned_rate(const LifeSpec *spec); // per second, of the whole job

// A LifeSpec from a fleet's rates for a job on so many nodes of this type. Spares, checkpoints, spot, elasticity and
// length are left to the caller.
LifeSpec life_spec(Arena *arena, const FaultRates *rates, const NodeType *node, int nodes);
// The user's own mean time between failures of a node, all causes: the mix stays, and no fleet differs from it.
void life_set_node_mtbf(LifeSpec *spec, double node_mtbf_s);
int life_usual_spares(int nodes); // 5 % of the nodes: field advice is 5 to 10 %

// ---- Joint choice of spares, checkpoint interval and storage of a long job, by total cost and end date: spares and
// storage are rented, and both bring the end nearer.

typedef struct LifeWish {
    LifeSpec spec; // failures and the length; spares and checkpoint are chosen
    CheckpointMode mode;
    double storage_every_s; // CHECKPOINT_MEMORY
    double bytes;           // of a checkpoint
    const NodeType *node;
    const Gpu *gpu;
    const StorageType *const *storages; // single units, to choose among
    int storage_count;
    // What is not open.
    int storage_units; // 0: chosen
    int spares;        // -1: chosen
    double every_s;    // 0: chosen
    // What it costs and by when.
    double node_price;    // of a node for an hour, used or spare; above 0
    double storage_price; // of a unit for an hour, in currency per USD of the catalogue's price
    double by_s;          // the work's deadline in wall time; 0: none
    double confidence;    // chance to keep the date that is enough
    int runs;             // lives for each way in the answer
    uint64_t seed;
} LifeWish;

// One way to run the job.
typedef struct LifeWay {
    int spares;
    const StorageType *storage; // one unit
    int units;
    CheckpointPlan checkpoint;
    double price_per_hour; // nodes, spares and storage
    Summary goodput, days;
    // Of the whole work, or of a day's worth of training where a calendar was given. The mean is what is chosen by.
    double cost, cost_p5, cost_p50, cost_p95;
    double by_chance; // share of lives that keep the date; NAN: there is none
} LifeWay;

// A way that differs from the best in one thing.
typedef struct LifeOther {
    const char *what; // "no spares", "half the interval"
    LifeWay way;
} LifeOther;

typedef struct LifeChoice {
    LifeWay best;
    bool keeps_date; // with the confidence wished; true without a date
    const LifeOther *others;
    int other_count;
    LifeWay twice;      // the best way where machines fail twice as often
    LifeWay best_twice; // what would be best then
    int tried;
    bool stopped; // by the watch: the rest is of no use
} LifeChoice;

// The way of least mean cost among those that keep the date with the confidence wished; where none does, chance that
// lacks is weighed against cost. Found by descent in one choice at a time from the usual one, under the same failures
// for all ways; the best few are lived again in full. The same for the same wish and seed.
LifeChoice life_choose(Arena *arena, const LifeWish *wish);
// The same job lived in one given way: spares, units of a storage, and training between checkpoints.
LifeWay life_way(Arena *arena, const LifeWish *wish, int spares, const StorageType *storage, int units, double every_s);

// Scales all failures by a factor, but neither planned work nor machines taken back by a provider.
void life_scale_failures(LifeSpec *spec, double factor);
